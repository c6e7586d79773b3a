"""The command that compares saved scores: `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skeval.cli.application import app
from skeval.cli.options import OUTPUT
from skeval.cli.terminal import plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place
from skeval.utils.formatting import number

if TYPE_CHECKING:
    from skeval.results.comparison import Comparison

_ENDINGS = (".html", ".htm", ".pdf", ".json")


@app.command()
def compare(
    scores: Annotated[
        list[Path],
        typer.Argument(
            help="What `evaluate -o scores.json` saved of each table; of releases in their order."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="Write a page, a PDF or JSON of it.")
    ] = None,
) -> None:
    """Say which of several synthetic tables to take, and which differences are only chance.

    The scores are also compared with the scores before them, so that a fall from one release to the
    next is reported if noise does not explain it.

    The exit code is 0 if no table is recommended or a score fell: that is an answer.
    """
    from skeval.cli.inputs import candidate_names, check_paths
    from skeval.cli.scores import read_results
    from skeval.results.comparison import compare as compare_results

    if len(scores) < 2:
        raise InvalidParameterError(f"expected scores of two tables or more, got {len(scores)}.")
    if output is not None:
        check_paths(output, _ENDINGS, "comparison", scores)
    results = list(map(read_results, scores))
    names = candidate_names([Place(path) for path in scores])
    comparison = compare_results(dict(zip(names, results, strict=True)))
    if output is not None:
        if (ending := output.suffix.lower()) == ".json":
            comparison.to_json(output)
        else:
            (comparison.to_pdf if ending == ".pdf" else comparison.to_html)(output)
    table = plain_table("metric", *map(escape, comparison), "baseline", "ahead", "told apart")
    for name, row in comparison.frame().iterrows():
        values = [number(row[one]) for one in comparison]
        table.add_row(
            escape(str(name)),
            *values,
            number(row["baseline"]),
            escape(row["ahead"]),
            escape(comparison.describe_tie(str(name))),
        )
    show(table)
    say(comparison.sentence)
    say(_describe_falls(comparison))
    if output is not None:
        say(f"Saved: {output}")


def _describe_falls(comparison: Comparison) -> str:
    falls = [
        f"{row.metric} (from {number(comparison[row.first][row.metric].value)} in {row.first} to "
        f"{number(comparison[row.second][row.metric].value)} in {row.second})"
        for row in comparison.falls().itertuples()
    ]
    if not falls:
        return "No metric is shown to be worse than in the result before it."
    return f"Worse than in the result before it, by more than noise: {'; '.join(falls)}."
