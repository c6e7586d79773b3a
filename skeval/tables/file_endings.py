"""File name endings of the supported table formats."""

from __future__ import annotations

PARQUET = (".parquet", ".pq")
WORKBOOKS = (".xlsx", ".xlsm")
DATABASES = (".sqlite", ".sqlite3", ".db", ".duckdb")
TEXTS, LINES, ARROW = (".csv", ".tsv"), (".jsonl", ".ndjson"), (".feather", ".arrow")
ENDINGS = (*TEXTS, *PARQUET, *LINES, *ARROW, *WORKBOOKS)  # endings of files with one table
PACKINGS = (".gz", ".bz2", ".xz", ".zip")
