"""Reading of one table from a workbook or a database, which may contain several tables.

Such a file may come from an untrusted source. Therefore, formulas and macros of workbooks are not
executed, database files are opened read-only, and files that do not fit in memory after
decompression raise an error.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.exceptions import MetricWarning, TableError
from skeval.tables.file_endings import WORKBOOKS
from skeval.tables.gathered_cells import MAX_CELLS, check_size, gather_cells
from skeval.tables.place import Place
from skeval.utils.dependencies import import_optional

if TYPE_CHECKING:
    import pandas as pd

MAX_UNPACKED = 2**29  # maximum decompressed size of a workbook in bytes
_MAX_ROWS = 2**20  # maximum number of rows of an Excel sheet
_MAX_EMPTY = 100  # maximum number of empty rows above a table
MAX_BYTES = 2**29  # maximum size of the texts and blobs of a table that is read as Python objects
_FETCHED = 8  # number of rows to fetch at a time, because a cell may have 16 MiB
_MAX_CELL_LENGTH = 2**24  # maximum size of a cell in a database file in bytes
MAX_STEPS, _AT_ONCE = 2**32, 2**20  # SQLite steps per table or view, about a hundred per cell
_MAX_NAMED = 10  # maximum number of tables or sheets in a message
_NO_VALUES = frozenset(
    ("", "#N/A", "#DIV/0!", "#REF!", "#NAME?", "#NULL!", "#NUM!", "#VALUE!", "#SPILL!", "#CALC!")
)
_BY_SQLITE, _BY_DUCKDB = b"SQLite format 3\x00", b"DUCK"
# An untrusted file must not read other files or load code.
_CLOSED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}


def chosen_part(part: str, names: Sequence[str], kind: str) -> str:
    """Return the name of the specified sheet or table, or of the only one."""
    listed = ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
    if part:
        if part in names:
            return part
        raise ValueError(f"there is no such {kind}. The available {kind}s are: {listed or 'none'}.")
    if len(names) == 1:
        return names[0]
    if not names:
        raise ValueError(f"there is no {kind} with cells.")
    raise ValueError(
        f"there are {len(names)} {kind}s ({listed}). Append # and the name of one to the path."
    )


def read_part(place: Place) -> pd.DataFrame:
    """Read a sheet of a workbook, or a table or query of a database."""
    if place.path is None:
        return _of_url(place)
    if place.path.suffix.lower() in WORKBOOKS:
        return _of_workbook(place.path, place.part)
    with place.path.open("rb") as file:
        head = file.read(16)
    if head == _BY_SQLITE:
        return _of_sqlite(place.path, place)
    if head[8:12] == _BY_DUCKDB:
        return _of_duckdb(place.path, place)
    raise ValueError("the file is not a database of SQLite or DuckDB.")


def _of_workbook(path: Path, part: str) -> pd.DataFrame:
    openpyxl = import_optional(
        f"{path}, an Excel workbook,", "openpyxl", 'pip install "skeval[excel]"'
    )
    has_formulas = _check_workbook(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl warns about styles and forms, which are not read
        try:
            options = {"read_only": True, "keep_links": False}
            with closing(openpyxl.load_workbook(path, data_only=True, **options)) as book:
                sheets = {s.title: s for s in book.worksheets if _is_filled(s)}
                name = chosen_part(part, list(sheets), "sheet")
                cells = _cells_of(sheets[name])
            formulas = cells[:0]
            if has_formulas and cells.isna().any(axis=None):
                with closing(openpyxl.load_workbook(path, **options)) as book:
                    formulas = _cells_of(book[name])
        except (KeyError, IndexError, AttributeError, TypeError, SyntaxError) as error:
            # openpyxl raises these errors for broken workbooks, and SyntaxError for broken XML.
            raise ValueError(
                f"the file is not a valid workbook ({type(error).__name__})."
            ) from None
    if unsaved := _without_values(cells, formulas):
        warnings.warn(
            MetricWarning(
                f"{path} contains formulas without a saved value in {', '.join(unsaved)}. These "
                "cells are treated as missing. Open the file in a spreadsheet program and save it."
            ),
            stacklevel=5,
        )
    return _table_of(cells)


def _check_workbook(path: Path) -> bool:
    """Return whether a workbook has formulas, or raise an error if it is not valid or too large."""
    if not zipfile.is_zipfile(path):
        raise ValueError(
            "the file is not an Excel workbook, or it has a password. Save it as .xlsx without a "
            "password."
        )
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > MAX_UNPACKED:
            raise ValueError(
                f"the decompressed size of {size / 2**20:,.0f} MiB is more than "
                f"{MAX_UNPACKED >> 20} MiB. Write the table as Parquet."
            )
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(_has_formula(archive, name) for name in sheets)


def _has_formula(archive: zipfile.ZipFile, name: str) -> bool:
    """Return whether a sheet has formulas. It is read in pieces, because it may be very large."""
    end = b""
    with archive.open(name) as file:
        while piece := file.read(2**20):
            if re.search(rb"<(?:\w+:)?f[ >/]", end + piece):
                return True
            end = piece[-32:]
    return False


def _is_filled(sheet: Any) -> bool:
    """Return whether the first rows of a sheet have a nonempty cell."""
    return any(cell is not None for row in islice(_rows_of(sheet), _MAX_EMPTY) for cell in row)


def _rows_of(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a sheet, without trusting the size that the sheet specifies."""
    sheet.reset_dimensions()
    n_cells = 0
    for n_rows, row in enumerate(sheet.iter_rows(values_only=True)):
        n_cells += len(row)
        if n_rows >= _MAX_ROWS or n_cells > MAX_CELLS:
            check_size(MAX_CELLS, 2)
        yield row


def _cells_of(sheet: Any) -> pd.DataFrame:
    """Return the cells of nonempty rows by the numbers of row and column."""
    # pandas.read_excel has no size limit, because it extends all rows to the last used column.
    import pandas as pd

    rows: dict[int, tuple[Any, ...]] = {}
    width = 0
    for number, row in enumerate(_rows_of(sheet)):
        if any(cell is not None for cell in row):
            width = max(width, len(row))
            check_size(len(rows) + 1, width)
            rows[number] = row
    columns = dict(enumerate(zip_longest(*rows.values())))
    return pd.DataFrame(columns, index=[*rows], dtype=object)


def _table_of(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a sheet as a table, with names from the first row and without empty columns."""
    import pandas as pd

    names, rows = _names_of(cells), cells.iloc[1:]
    rows = rows.mask(rows.isin(_NO_VALUES), None)
    nameless = [place for place in rows if place not in names and rows[place].notna().any()]
    if nameless and nameless != [0]:  # the first column may be a saved index
        raise ValueError(
            f"the first row does not name {len(nameless)} of the columns with cells. Write all "
            "names in the first row, without a title above them."
        )
    kept = sorted([*names, *nameless])
    table = pd.DataFrame({place: rows[place].tolist() for place in kept})
    return table.set_axis([names.get(place) for place in kept], axis="columns")


def _names_of(cells: pd.DataFrame) -> dict[int, str]:
    return {place: str(name) for place, name in cells.iloc[0].dropna().items()}


def _without_values(cells: pd.DataFrame, formulas: pd.DataFrame) -> list[str]:
    """Return the names of columns with formulas whose values were not saved."""
    names = _names_of(cells)
    unsaved = formulas.map(_is_formula) & cells.reindex_like(formulas).isna()
    places = unsaved.columns[unsaved.any()]
    return [names.get(place, f"column {place + 1}") for place in places]


def _is_formula(cell: Any) -> bool:
    return str(getattr(cell, "text", cell)).startswith("=")


def _of_sqlite(path: Path, place: Place) -> pd.DataFrame:
    import sqlite3

    try:
        with _uri_of_sqlite(path) as uri, closing(sqlite3.connect(uri, uri=True)) as base:
            base.text_factory = lambda cell: cell.decode("utf-8", "replace")
            base.execute("PRAGMA query_only=ON")
            base.execute("PRAGMA trusted_schema=OFF")  # views cannot call functions of this process
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_CELL_LENGTH)
            if not place.is_query:  # a view in the file may be an infinite query
                steps = iter(range(MAX_STEPS // _AT_ONCE))
                base.set_progress_handler(lambda: next(steps, None) is None, _AT_ONCE)
            known = (
                "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"
            )
            return _query_database(
                base.cursor(), place, known, is_table=lambda kind: kind == "table"
            )
    except sqlite3.Error as error:
        ended = str(error) == "interrupted"
        what = "the query is too slow. Write the table as Parquet" if ended else str(error)
        raise ValueError(f"{what}.") from None


@contextmanager
def _uri_of_sqlite(path: Path) -> Iterator[str]:
    """Yield a URI that reads all committed rows and adds no file to the folder of the database."""
    # SQLite creates two files next to a database with a write-ahead log, unless the URI
    # specifies that the database is immutable. An immutable database is read without its log.
    path = path.resolve()
    log, index, journal = (Path(f"{path}{ending}") for ending in ("-wal", "-shm", "-journal"))
    has_log = log.exists() and log.stat().st_size > 0
    if has_log and not index.exists():  # SQLite may add files to the folder of a copy
        with tempfile.TemporaryDirectory(prefix="skeval-") as folder:
            copy = Path(folder, path.name)
            shutil.copyfile(path, copy)
            shutil.copyfile(log, f"{copy}-wal")
            yield f"{copy.as_uri()}?mode=ro"
    elif has_log or journal.exists():
        yield f"{path.as_uri()}?mode=ro"
    else:
        yield f"{path.as_uri()}?mode=ro&immutable=1"


def _of_duckdb(path: Path, place: Place) -> pd.DataFrame:
    duckdb = import_optional(
        f"{path}, a DuckDB database,", "duckdb", 'pip install "skeval[duckdb]"'
    )
    try:
        with closing(duckdb.connect(str(path), read_only=True, config=_CLOSED)) as base:
            known = (
                "SELECT table_name, table_type FROM information_schema.tables "
                "WHERE table_schema = 'main' ORDER BY ALL"
            )
            return _query_database(
                base.cursor(), place, known, is_table=lambda kind: kind == "BASE TABLE"
            )
    except duckdb.Error as error:
        # Messages of these errors quote only the query. Other messages may quote a cell.
        kinds = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)
        text = f": {str(error).splitlines()[0]}" if isinstance(error, kinds) else ""
        raise ValueError(f"{type(error).__name__}{text}.") from None


def _query_database(
    cursor: Any, place: Place, known: str, is_table: Callable[[str], bool]
) -> pd.DataFrame:
    """Return the result of a query, or the only table, or the table with the specified name."""
    query = place.part
    if not place.is_query:
        kinds = dict(cursor.execute(known).fetchall())
        names = sorted(name for name, kind in kinds.items() if place.part or is_table(kind))
        name = chosen_part(place.part, names, "table")
        query = 'SELECT * FROM "{}"'.format(name.replace('"', '""'))
    cursor.execute(query)
    return _fetch_table([column[0] for column in cursor.description], cursor)


def _fetch_table(names: Sequence[Any], cursor: Any) -> pd.DataFrame:
    """Return the rows of a query as a table."""
    import pandas as pd

    cells = gather_cells(enumerate(row) for row in _fetch_rows(cursor))
    table = pd.DataFrame(cells or {place: [] for place in range(len(names))})
    return table.set_axis(list(map(str, names)), axis="columns")


def _fetch_rows(cursor: Any) -> Iterator[Any]:
    n_bytes = 0
    while rows := cursor.fetchmany(_FETCHED):
        for row in rows:
            n_bytes += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
        if n_bytes > MAX_BYTES:
            raise ValueError(
                f"the texts of the table have more than {MAX_BYTES >> 20} MiB. Write the table as "
                "Parquet, which is read in parts."
            )
        yield from rows


def _of_url(place: Place) -> pd.DataFrame:
    sa = import_optional(str(place), "sqlalchemy", 'pip install "skeval[sql]"')
    try:
        engine = sa.create_engine(place.url, poolclass=sa.pool.NullPool)
    except ImportError as error:
        raise TableError(
            f"{place} requires its driver, the package {error.name}. Install it: "
            f"pip install {error.name}."
        ) from None
    except (sa.exc.SQLAlchemyError, ValueError):  # the message may quote the URL
        raise ValueError(
            "the URL must have the form DIALECT://USER@HOST/DATABASE#TABLE. Write # and @ in a "
            "password as %23 and %40."
        ) from None
    options = {"stream_results": True, "postgresql_readonly": True}
    try:  # the transaction is never committed
        with engine.connect().execution_options(**options) as connection:
            result = _result(sa, connection, place)
            return _fetch_table(list(result.keys()), result)
    except sa.exc.SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise ValueError(
            f"the database raised {type(cause).__name__}. Check the URL and the query."
        ) from None


def _result(sa: Any, connection: Any, place: Place) -> Any:
    """Return the result of a query, or all rows of a table."""
    if place.is_query:  # executed unchanged, so a colon or percent sign is not a parameter
        return connection.exec_driver_sql(place.part, execution_options={"no_parameters": True})
    inspector = sa.inspect(connection)
    views = inspector.get_view_names() if place.part else []
    name = chosen_part(place.part, sorted([*inspector.get_table_names(), *views]), "table")
    return connection.execute(sa.select(sa.text("*")).select_from(sa.table(name)))
