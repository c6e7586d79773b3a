"""The command that compares saved scores: `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skeval.cli.application import app
from skeval.cli.options import OUTPUT
from skeval.cli.terminal import add_folded, plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place

if TYPE_CHECKING:
    from rich.table import Table

    from skeval.results.comparison import Comparison

_MIN_VALUE, _MAX_VALUE = 7, 9  # characters of a value column. Longer table names are wrapped.
NOTHING = "\N{EN DASH}"
_ENDINGS = (".html", ".htm", ".pdf", ".json")


@app.command()
def compare(
    scores: Annotated[
        list[Path],
        typer.Argument(
            help="Scores saved by `evaluate -o scores.json`, one file for each table, oldest first."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="Save the comparison as HTML, PDF or JSON.")
    ] = None,
) -> None:
    """Compare several synthetic tables and recommend one.

    Scores are also compared with the scores before them, so that a significant decline from one
    release to the next is reported.

    The exit code is 0 even if no table is recommended or a score declines.
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
    show(_table(comparison))
    say(comparison.sentence)
    say(_describe_falls(comparison))
    if output is not None:
        say(f"Saved: {output}")


def _table(comparison: Comparison) -> Table:
    """Return one row per metric with its values, the score of unseen rows and the best tables."""
    table = plain_table("metric")
    for name in comparison:
        add_folded(table, escape(name), _MIN_VALUE, _MAX_VALUE, "right")
    table.add_column("unseen", no_wrap=True, justify="right")
    add_folded(table, "ahead", len("distinguishable"))
    for metric, row in comparison.frame().iterrows():
        name = str(metric)
        values = [_value(comparison, one, name) for one in comparison]
        unseen = _unseen(comparison, name, row["baseline"])
        ahead = row["ahead"] or comparison.describe_tie(name)
        table.add_row(escape(name), *values, unseen, escape(ahead))
    return table


def _value(comparison: Comparison, table: str, metric: str) -> str:
    from skeval.reporting.document.score_table import shown_value

    result = comparison[table].get(metric)
    return NOTHING if result is None else shown_value(result, result.value)


def _unseen(comparison: Comparison, metric: str, baseline: float) -> str:
    from skeval.reporting.document.score_table import shown_value

    first = next(one[metric] for one in comparison.values() if metric in one)
    return shown_value(first, baseline)


def _describe_falls(comparison: Comparison) -> str:
    falls = [
        f"{row.metric} (from {_value(comparison, row.first, row.metric)} in {row.first} to "
        f"{_value(comparison, row.second, row.metric)} in {row.second})"
        for row in comparison.falls().itertuples()
    ]
    if not falls:
        return "No metric is shown to be worse than in the result before it."
    return f"Worse than in the result before it, by more than noise: {'; '.join(falls)}."
