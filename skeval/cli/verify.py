"""The command that checks of which files saved scores are: `verify`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from skeval.cli.application import app
from skeval.cli.options import Scores
from skeval.cli.terminal import plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.tables.places import Place


@app.command()
def verify(
    scores: Scores,
    files: Annotated[
        list[Place],
        typer.Argument(
            parser=Place.from_path, help="Files as `evaluate` reads them, in any order."
        ),
    ],
) -> None:
    """Check that scores are of these files; exit code 1 if one of them is none of the inputs."""
    from skeval.cli.scores import read_results
    from skeval.results.verification import DIFFERENT
    from skeval.results.verification import verify as verify_tables
    from skeval.tables.reading import check_exists
    from skeval.utils.versions import installed_versions

    provenance = read_results(scores).provenance
    if provenance is None:
        raise InvalidParameterError(f"{scores} says nothing of where its scores come from.")
    for place in files:
        if place.path is not None:
            check_exists(place.path)
    frame = verify_tables(provenance, files)
    table = plain_table("file", "input", "found", texts=3)
    for row in frame.itertuples(index=False):
        table.add_row(*map(escape, row))
    show(table)
    say(f"{scores.name}: evaluated by skeval {provenance.version} on {provenance.date}.")
    here = installed_versions()
    then = {"skeval": provenance.version, **provenance.packages}
    if changed := [
        f"{n} {v}, here {here.get(n, 'none')}" for n, v in then.items() if v != here.get(n)
    ]:
        say(f"note: evaluated with other versions: {'; '.join(changed)}.")
    if unknown := frame.loc[frame["found"] == DIFFERENT, "given"].tolist():
        say(f"skeval: not among the inputs of {scores}: {', '.join(unknown)}.")
        raise typer.Exit(1)
