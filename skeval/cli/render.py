"""The command that draws saved scores: `render`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skeval.cli.application import app
from skeval.cli.options import OUTPUT, Scores
from skeval.cli.terminal import say


@app.command()
def render(
    scores: Scores,
    output: Annotated[Path, typer.Option(*OUTPUT, help="A PDF, or an HTML page.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="Of the report.")] = "",
    short: Annotated[
        bool, typer.Option("--short", help="Only the first page, all numbers and the provenance.")
    ] = False,
) -> None:
    """Write the report of saved scores: no table is needed."""
    from skeval.cli.inputs import check_paths
    from skeval.cli.scores import read_comparison, read_results
    from skeval.results.rendering import ENDINGS
    from skeval.tables.reading import check_exists

    check_paths(output, ENDINGS, "report", [scores])
    check_exists(scores)
    result = read_comparison(scores) or read_results(scores)
    write = result.to_html if output.suffix.lower() in ENDINGS[1:] else result.to_pdf
    write(output, title=title, short=short)
    say(f"Report: {output}")
