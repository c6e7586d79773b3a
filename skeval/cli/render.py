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
    output: Annotated[Path, typer.Option(*OUTPUT, help="PDF or HTML file.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    short: Annotated[
        bool, typer.Option("--short", help="Include only page 1, all numbers and the provenance.")
    ] = False,
) -> None:
    """Write a report from saved scores or an existing PDF report, without the tables.

    The title and other settings of a PDF report are kept unless options override them.
    """
    from skeval.cli.inputs import check_paths
    from skeval.cli.scores import read_saved, read_settings
    from skeval.results.rendering import ENDINGS

    check_paths(output, ENDINGS, "report", [scores])
    result = read_saved(scores)
    write = result.to_html if output.suffix.lower() in ENDINGS[1:] else result.to_pdf
    settings = read_settings(scores) | ({"title": title} if title else {})
    write(output, **settings | ({"short": True} if short else {}))
    say(f"Report: {output}")
