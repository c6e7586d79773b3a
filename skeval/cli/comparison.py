"""The command that sets saved scores of several synthetic tables side by side: `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from skeval.cli.inputs import candidate_names, check_paths
from skeval.cli.options import OUTPUT, app, say
from skeval.cli.saved import read_results
from skeval.cli.tables import show, table_of
from skeval.exceptions import InvalidParameterError
from skeval.formatting import number

_ENDINGS = (".html", ".htm", ".pdf", ".json")


@app.command()
def compare(
    scores: Annotated[
        list[Path], typer.Argument(help="What `evaluate -o scores.json` saved, of each table.")
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="Write a page, a PDF or JSON of it.")
    ] = None,
) -> None:
    """Say which of several synthetic tables to take, and which cannot be told apart.

    The exit code is 0 where none is recommended, as where results are of other real tables: that
    is an answer.
    """
    from skeval.comparison import compare as compare_results

    if len(scores) < 2:
        raise InvalidParameterError(f"expected scores of two tables or more, got {len(scores)}.")
    if output is not None:
        check_paths(output, _ENDINGS, "comparison", scores)
    results = list(map(read_results, scores))
    comparison = compare_results(dict(zip(candidate_names(scores), results, strict=True)))
    if output is not None:
        if (ending := output.suffix.lower()) == ".json":
            comparison.to_json(output)
        else:
            (comparison.to_pdf if ending == ".pdf" else comparison.to_html)(output)
    table = table_of("metric", *map(escape, comparison), "baseline", "ahead", "told apart")
    for name, row in comparison.frame().iterrows():
        values = [number(row[one]) for one in comparison]
        table.add_row(
            escape(str(name)),
            *values,
            number(row["baseline"]),
            escape(row["ahead"]),
            escape(comparison.told(str(name))),
        )
    show(table)
    say(comparison.sentence)
    if output is not None:
        say(f"Saved: {output}")
