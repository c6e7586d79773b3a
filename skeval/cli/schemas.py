"""Commands that write files to edit: `schema` for column types, and `init-release`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from skeval.cli.application import app
from skeval.cli.options import (
    OUTPUT,
    AcceptDoubts,
    Categorical,
    Decimal,
    Encoding,
    Given,
    Header,
    Numeric,
    SchemaFile,
    Sep,
)
from skeval.cli.terminal import plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place
from skeval.utils.files import check_output, replacing
from skeval.utils.formatting import names_in_words

if TYPE_CHECKING:
    from skeval.tables.reasons import ColumnReason


@app.command(name="schema")
def write_schema(
    train: Annotated[
        Place,
        typer.Argument(parser=Place.from_path, help="A file or folder as `evaluate` reads it."),
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="JSON file to edit, and to pass as --schema.")
    ] = None,
    schema: SchemaFile = None,
    accept_doubts: AcceptDoubts = False,
    categorical: Categorical = None,
    numeric: Numeric = None,
    header: Header = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Print the inferred type of each column and why. Types that may be wrong are marked."""
    from skeval.cli.inputs import (
        check_columns,
        check_no_kinds,
        check_paths,
        dialect_of,
        kinds_of,
        read_kinds,
    )
    from skeval.tables.reading import read_table
    from skeval.tables.relational_data import RelationalData

    if output is not None:
        check_paths(output, (".json",), "schema", [train, schema])
    dialect = dialect_of(sep, encoding, decimal)
    stated = Given(
        schema=schema, accept_doubts=accept_doubts, categorical=categorical, numeric=numeric
    )
    content: dict[str, Any]
    rows = None
    if train.path is not None and train.is_folder:
        check_no_kinds(stated)
        data = RelationalData.from_folder(train.path, schema, header=header, dialect=dialect)
        known, kinds = data.schema, kinds_of(data, data.schema)
        content = known.to_dict()
        say(f"note: {known}.")
    else:
        rows = read_table(train, header=header, dialect=dialect)
        check_columns(rows, stated)
        kinds = kinds_of(rows, read_kinds(stated))
        content = {name: reason.column_entry for name, reason in kinds.items()}
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
    table = plain_table("column", "why", "doubt", "kind", "proposed", texts=3)
    for name, reason in kinds.items():
        proposed = reason.proposed or ""
        table.add_row(escape(name), reason.why, reason.doubt, reason.kind, proposed)
    show(table)
    if untested := _skipped_columns(rows, kinds):
        say(
            f"note: no test examines {names_in_words(untested)}, because these cells are neither "
            "text nor integers. Specify another type in the schema, or drop the columns."
        )
    if output is not None:
        say(f"Saved: {output}. Edit it, and pass it: --schema {output}")


def _skipped_columns(rows: Any, kinds: Mapping[str, ColumnReason]) -> list[str]:
    """Return the columns that tests skip and that are not compared as identifiers."""
    from skeval.steps.identifiers import is_identifier

    ids = [name for name, reason in kinds.items() if reason.kind == "id"]
    return [] if rows is None else [name for name in ids if not is_identifier(rows[name], "id")]


@app.command(name="init-release")
def init_release(
    output: Annotated[Path, typer.Option(*OUTPUT, help="TOML file to edit, for --release.")] = Path(
        "release.toml"
    ),
) -> None:
    """Write a template that describes a release: its recipient, purpose and thresholds."""
    check_output(output, (".toml",), owner="release")
    if output.exists():
        raise InvalidParameterError(
            f"{output} already exists and may have been edited. Choose another file, or remove it."
        )
    template = files("skeval.cli").joinpath("release.toml").read_text(encoding="utf-8")
    with replacing(output) as temporary:
        temporary.write_text(template, encoding="utf-8")
    say(f"Saved: {output}. Edit it, and pass it: --release {output}")
