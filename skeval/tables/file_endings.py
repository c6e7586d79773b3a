"""How the names of files end, by the kind of table that they contain."""

from __future__ import annotations

PARQUET = (".parquet", ".pq")
WORKBOOKS = (".xlsx", ".xlsm")
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
TEXTS, LINES, ARROW = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".feather", ".arrow")
ENDINGS = (*TEXTS, *PARQUET, *LINES, *ARROW, *WORKBOOKS)  # of files of one table
PACKINGS = (".gz", ".bz2", ".xz", ".zip")
