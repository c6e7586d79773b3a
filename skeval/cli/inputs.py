"""Read the tables, folders and schemas that the commands receive."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.cli.options import Given
from skeval.cli.terminal import say
from skeval.exceptions import InvalidParameterError
from skeval.scale.tables import LargeTable, infer_kinds
from skeval.tables.csv_dialect import PLAIN, Dialect
from skeval.tables.door import read_file
from skeval.tables.file_endings import ENDINGS
from skeval.tables.place import Place
from skeval.tables.reasons import ColumnReason, column_reasons
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.relational_sources import read_json
from skeval.tables.schema import Kind, TableSchema, is_column_entry
from skeval.tables.sources import TableSource, is_large
from skeval.utils.files import check_output
from skeval.utils.progress import show_progress

if TYPE_CHECKING:
    from skeval.results.suite_result import SuiteResult

_LARGE = (
    "note: the tables are large or are split into parts. They are read column by column, and "
    "metrics that cannot be computed in parts use a sample."
)
_LONG = 100_000  # training rows for which a report needs minutes
_CURES = (
    "Run skeval schema to write the column types to a file that you can edit, or pass "
    "--accept-doubts to treat integers with 3 to 12 distinct values as categories."
)
_MAX_DOUBTS = 5  # further doubts are counted, not listed
# data frames or RelationalData; the holdout may be None
TrainHoldoutSynthetic = tuple[Any, Any, Any]


def check_paths(
    output: Path, endings: tuple[str, ...], owner: str, inputs: Iterable[Path | Place | None]
) -> None:
    """Refuse an output that cannot be written, or is one of the inputs, before the work."""
    check_apart([output], inputs)
    check_output(output, endings, owner=owner)


def check_apart(outputs: Iterable[Path | None], inputs: Iterable[Path | Place | None]) -> None:
    """Refuse files to write that are files to read, lie among those, or are one another."""
    written = [path for path in outputs if path is not None]
    named = (one.path if isinstance(one, Place) else one for one in inputs)
    read = [path for path in named if path is not None]
    for i, output in enumerate(written):
        if twice := [path for path in written[:i] if _is_same(output, path)]:
            raise InvalidParameterError(
                f"two outputs are the same file: {output} and {twice[0]}. Choose another file."
            )
        for path in read:
            if found := _read_there(output, path):
                raise InvalidParameterError(
                    f"the output {output} would overwrite the input {found}. Choose another file."
                )
            if path.is_dir() and _joins(output, path):
                raise InvalidParameterError(
                    f"the output {output} is in the input folder {path} and would be read as one "
                    "of its tables. Choose a file in another folder."
                )


def _read_there(output: Path, path: Path) -> Path | None:
    """Return the input file that an output file would overwrite, or None."""
    within = path.rglob("*") if path.is_dir() else [path]
    return next((one for one in within if not one.is_dir() and _is_same(output, one)), None)


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two paths are the same file, or will be after writing."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))


def _joins(output: Path, folder: Path) -> bool:
    """Return whether a file would be read with a folder once it is written."""
    place = Path(os.path.realpath(output))
    if not place.is_relative_to(os.path.realpath(folder)):
        return False
    kinds = {suffix.lower() for suffix in place.suffixes[-2:]}
    return is_large(folder) or not kinds.isdisjoint((*ENDINGS, ".json"))


def dialect_of(sep: str | None, encoding: str | None, decimal: str | None) -> Dialect:
    """Return the format of CSV files that the options specify."""
    return Dialect({"tab": "\t", "\\t": "\t"}.get(sep or "", sep), encoding, decimal)


def read_given(
    paths: list[Place], given: Given, dialect: Dialect
) -> tuple[TrainHoldoutSynthetic, Any]:
    """Read the tables, and refuse options that do not fit them."""
    tables, known = _read_tables(paths, given, dialect)
    columns = ("sensitive", "groups", "duration", "event")
    named = {name: getattr(given, name) for name in columns}
    check_of_one_table(known, target=given.target, known=given.known, **named)
    check_column_options(tables[0], **named)
    for column in given.known_columns or ():
        check_column_options(tables[0], known=column)
    return tables, known


def _read_tables(
    paths: list[Place], given: Given, dialect: Dialect
) -> tuple[TrainHoldoutSynthetic, Any]:
    """Return the tables of two or three files or folders, and their schema."""
    if len(paths) not in {2, 3}:
        raise InvalidParameterError(
            f"expected two or three files, TRAIN [HOLDOUT] SYNTHETIC, got {len(paths)}."
        )
    with show_progress("lines") as tick:
        tick("read")
        return _read_files_or_folders(paths, given, dialect)


def _read_files_or_folders(
    paths: list[Place], given: Given, dialect: Dialect
) -> tuple[TrainHoldoutSynthetic, Any]:
    schema, header = given.schema, given.header
    folders = [path.path for path in paths if path.path is not None and path.is_folder]
    if not any(_holds_tables(path) for path in paths):
        roles = ("train", "holdout", "synthetic") if len(paths) == 3 else ("train", "synthetic")
        train, *further = (
            read_file(path, role, header=header, dialect=dialect)
            for path, role in zip(paths, roles, strict=True)
        )
        known = read_kinds(given)
        check_columns(train, given)
        if any(isinstance(table, TableSource) for table in (train, *further)):
            say(_LARGE)
    elif files := [str(path) for path in paths if not path.is_folder]:
        raise InvalidParameterError(
            f"expected folders throughout, or files throughout; {', '.join(files)}: no folder."
        )
    else:
        check_no_kinds(given)
        train = RelationalData.from_folder(folders[0], schema, header=header, dialect=dialect)
        known = train.schema
        further = [
            RelationalData.from_folder(path, known, header=header, dialect=dialect)
            for path in folders[1:]
        ]
        say(f"note: {known}.")
    return (train, further[0] if len(further) == 2 else None, further[-1]), known


def read_candidates(
    paths: list[Place], first: Any, known: Any, *, header: bool, dialect: Dialect = PLAIN
) -> dict[str, Any]:
    """Return synthetic tables by the names of their files, of which the first is read already."""
    names = candidate_names(paths)
    tables = [first]
    for path in paths[1:]:
        if path.path is not None and _holds_tables(path):
            several = RelationalData.from_folder(path.path, known, header=header, dialect=dialect)
            tables.append(several)
        else:
            tables.append(read_file(path, "synthetic", header=header, dialect=dialect))
    return dict(zip(names, tables, strict=True))


def say_that_it_takes_long(train: Any, n_max_train: int | None) -> None:
    """Tell users of large tables how to limit the number of rows."""
    is_table = not isinstance(train, RelationalData)
    n_rows = (train.n_rows if isinstance(train, TableSource) else len(train)) if is_table else 0
    if n_rows > _LONG and n_max_train is None:
        say(
            f"note: the training data have {n_rows:,} rows, so the report needs minutes. To use a "
            "sample instead, pass --n-max-train 20000 --n-max-test 20000."
        )


def candidate_names(paths: list[Place]) -> list[str]:
    """Return the names of files without their endings, or complete paths if names repeat."""
    stems = [path.stem for path in paths]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in paths]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidParameterError(f"the same synthetic table twice: {', '.join(twice)}.")
    return names


def _holds_tables(place: Place) -> bool:
    return place.path is not None and place.path.is_dir() and not is_large(place.path)


def kinds_of(train: Any, known: Any) -> dict[str, ColumnReason]:
    """Return kinds, reasons and doubts of the columns of a table, or of several."""
    if isinstance(train, TableSource):
        return column_reasons(LargeTable(train), infer_kinds(train, known))
    if not isinstance(known, RelationalSchema):
        return column_reasons(train, TableSchema.infer(train, known))
    return {
        f"{name}.{column}": reason
        for name, table in train.items()
        for column, reason in column_reasons(
            table, TableSchema.infer(table, known.tables[name])
        ).items()
    }


def say_kinds(result: SuiteResult) -> None:
    """Print how many columns have each type, and which types are uncertain."""
    if result.provenance is None:
        return
    columns = result.provenance.columns
    counts = ", ".join(f"{n} {kind}" for kind, n in Counter(c.kind for c in columns).most_common())
    doubts = [
        f"{f'{one.table}.' if one.table else ''}{one.column} is {one.kind} ({one.doubt})"
        for one in columns
        if one.doubt
    ]
    more = f"; and {len(doubts) - _MAX_DOUBTS} more" if len(doubts) > _MAX_DOUBTS else ""
    said = "; ".join(doubts[:_MAX_DOUBTS]) + more
    doubt = f" In doubt: {said}. {_CURES}" if doubts else ""
    say(f"note: columns: {counts}.{doubt}")


def files_by_role(paths: list[Place]) -> dict[str, Place]:
    """Return the files of the tables by role, or nothing for folders and databases."""
    roles = ["train", "synthetic"] if len(paths) == 2 else ["train", "holdout", "synthetic"]
    if len(paths) > 3:
        roles = ["train", "holdout", *candidate_names(paths[2:])]
    if any(path.is_folder for path in paths):
        return {}
    return {role: path for role, path in zip(roles, paths, strict=True) if path.path is not None}


def check_of_one_table(schema: Any, /, **columns: str | None) -> None:
    """Refuse options that name a column if there are several tables."""
    if isinstance(schema, RelationalSchema) and (named := [n for n, c in columns.items() if c]):
        raise InvalidParameterError(
            f"--{' and --'.join(named)} cannot be used with folders, because these options apply "
            "to a single table. Pass the files of that table, or use "
            "skeval.relational.RelationalTSTR in Python."
        )


def check_column_options(train: Any, /, **columns: str | None) -> None:
    """Refuse options that name a column that is not in the training data."""
    table = train.names if isinstance(train, TableSource) else train
    names = [] if isinstance(train, RelationalData) else [str(name) for name in table]
    for option, name in columns.items():
        if names and name is not None and name not in names:
            raise InvalidParameterError(
                f"{name!r} ({option}) is not a column of the training data."
            )


def read_schema(path: Path | None) -> Any:
    """Return the content of a JSON schema: column types by name, or the metadata of SDV."""
    if path is None:
        return None
    content = read_json(path)
    parts = [content.get(part) for part in ("columns", "tables")] if type(content) is dict else []
    described = any(isinstance(part, dict | list) and not is_column_entry(part) for part in parts)
    return TableSchema.from_sdv(content) if described else content


def read_kinds(given: Given) -> Any:
    """Return the column types that the options specify for one table.

    The types of --categorical and --numeric override the types of the schema file.
    """
    known, listed = read_schema(given.schema), listed_kinds(given)
    if not listed and not given.accept_doubts:
        return known
    schema = TableSchema.known(known)
    return replace(schema, kinds={**schema.kinds, **listed}, accept=given.accept_doubts)


def listed_kinds(given: Given) -> dict[str, Kind]:
    """Return the kinds that --categorical and --numeric name."""
    categorical, numeric = (
        [name.strip() for name in names.split(",") if name.strip()] if names else []
        for names in (given.categorical, given.numeric)
    )
    if both := sorted(set(categorical) & set(numeric)):
        raise InvalidParameterError(
            f"--categorical and --numeric both name {', '.join(both)}. Remove it from one of them."
        )
    kinds: dict[str, Kind] = dict.fromkeys(categorical, "categorical")
    return kinds | dict.fromkeys(numeric, "continuous")


def check_columns(train: Any, given: Given) -> None:
    """Refuse column types for columns that are not in the training data."""
    names = set(train.names if isinstance(train, TableSource) else map(str, train.columns))
    if unknown := sorted(listed_kinds(given).keys() - names):
        raise InvalidParameterError(
            f"--categorical and --numeric name {', '.join(unknown)}, not in the training data. "
            f"Its columns are: {', '.join(sorted(names))}."
        )


def check_no_kinds(given: Given) -> None:
    """Refuse options for column types if there are several tables."""
    options = {
        "--accept-doubts": given.accept_doubts,
        "--categorical": given.categorical,
        "--numeric": given.numeric,
    }
    if named := [option for option, value in options.items() if value]:
        raise InvalidParameterError(
            f"{' and '.join(named)} cannot be used with a folder. Pass the file of one table, or "
            "specify the column types with --schema FILE."
        )
