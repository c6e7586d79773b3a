"""The command on the kinds of columns: `schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from skeval.cli.inputs import check_paths, dialect_of, kinds_of, read_schema
from skeval.cli.options import OUTPUT, Decimal, Encoding, Header, SchemaFile, Sep, app, say
from skeval.cli.tables import show, table_of
from skeval.files import replacing
from skeval.tables.reading import read_table
from skeval.tables.relational_data import RelationalData


@app.command(name="schema")
def write_schema(
    train: Annotated[Path, typer.Argument(help="A CSV or Parquet file, or a folder of them.")],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="JSON to edit, and to pass as --schema.")
    ] = None,
    schema: SchemaFile = None,
    header: Header = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Print the kind of each column, why it is, and where another one may be meant."""
    if output is not None:
        check_paths(output, (".json",), "schema", [train, schema])
    dialect = dialect_of(sep, encoding, decimal)
    if train.is_dir():
        data = RelationalData.from_folder(train, schema, header=header, dialect=dialect)
        known, kinds = data.schema, kinds_of(data, data.schema)
        content = known.to_dict()
        say(f"note: {known}.")
    else:
        kinds = kinds_of(read_table(train, header=header, dialect=dialect), read_schema(schema))
        content = {name: reason.kind for name, reason in kinds.items()}
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
    table = table_of("column", "why", "doubt", "kind", texts=3)
    for name, reason in kinds.items():
        table.add_row(escape(name), reason.why, reason.doubt, reason.kind)
    show(table)
    if output is not None:
        say(f"Saved: {output}. Edit it, and pass it: --schema {output}")
