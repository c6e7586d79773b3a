"""What the commands read: tables, folders of them, and their schema."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from skeval.cli.options import say
from skeval.exceptions import InvalidParameterError
from skeval.files import check_output
from skeval.tables.reading import read_table
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.relational_sources import read_json
from skeval.tables.schema import TableSchema

TrainHoldoutSynthetic = tuple[Any, Any, Any]  # frames, or RelationalData; the second may be None


def check_paths(
    output: Path, endings: tuple[str, ...], owner: str, inputs: Iterable[Path | None]
) -> None:
    """Refuse an output that cannot be written, or is one of the inputs, before the work."""
    for path in inputs:
        if path is not None and path.exists() and output.exists() and output.samefile(path):
            raise InvalidParameterError(
                f"the output {output} is the input {path}, which it would destroy; name another."
            )
    check_output(output, endings, owner=owner)


def read_tables(
    paths: list[Path], schema: Path | None, *, header: bool
) -> tuple[TrainHoldoutSynthetic, Any]:
    """Return the tables of two or three files, or folders, and what is known of their schema."""
    if len(paths) not in {2, 3}:
        raise InvalidParameterError(
            f"expected two or three files, TRAIN [HOLDOUT] SYNTHETIC, got {len(paths)}."
        )
    first, *others = paths
    if not any(path.is_dir() for path in paths):
        train, *further = (read_table(path, header=header) for path in paths)
        known = _read_schema(schema)
    elif files := [str(path) for path in paths if not path.is_dir()]:
        raise InvalidParameterError(
            f"expected folders throughout, or files throughout; {', '.join(files)}: no folder."
        )
    else:
        train = RelationalData.from_folder(first, schema, header=header)
        known = train.schema
        further = [RelationalData.from_folder(path, known, header=header) for path in others]
        say(f"note: {known}.")
    return (train, further[0] if len(further) == 2 else None, further[-1]), known


def check_of_one_table(known: Any, **columns: str | None) -> None:
    """Refuse what names a column where there are several tables."""
    if isinstance(known, RelationalSchema) and (named := [n for n, c in columns.items() if c]):
        raise InvalidParameterError(
            f"--{' and --'.join(named)} cannot be used with folders: utility is of one table. "
            "Give the files of that table, or use skeval.relational.RelationalTSTR in Python."
        )


def _read_schema(path: Path | None) -> Any:
    if path is None:
        return None
    content = read_json(path)
    described = isinstance(content, dict) and any(
        isinstance(content.get(part), dict | list) for part in ("columns", "tables")
    )
    return TableSchema.from_sdv(content) if described else content
