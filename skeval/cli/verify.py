"""The command `verify`, which checks reports for changes and compares scores with files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skeval.cli.application import app
from skeval.cli.options import Scores
from skeval.cli.terminal import plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place

if TYPE_CHECKING:
    from skeval.results.provenance import Provenance


@app.command()
def verify(
    scores: Scores,
    files: Annotated[
        list[Place] | None,
        typer.Argument(
            parser=Place.from_path,
            help="Files as `evaluate` reads them, in any order. Not required for a PDF report.",
        ),
    ] = None,
) -> None:
    """Check that a PDF report was not changed, and that scores were computed from the given files.

    The exit code is 1 if the report was changed, or if one of the files is not among the inputs.
    """
    from skeval.cli.scores import is_report

    if is_report(scores):
        _check_report(scores)
    elif not files:
        raise InvalidParameterError(
            f"{scores} contains no hash of its scores, so the files of the tables are required. "
            f"Pass them: skeval verify {scores} FILE ..."
        )
    if files:
        _check_files(scores, files)


def _check_report(path: Path) -> None:
    """Print whether a report was changed, and which of the two checks shows it."""
    from skeval.results.attached_report import check_report

    found = check_report(path)
    if not found.is_hash_right:
        say(
            f"skeval: {path} was changed, because the hash of the attached results differs from "
            "the hash that the report states. The second check, which renders the report again, "
            "was skipped."
        )
    elif found.is_same is None:
        say(
            f"{path}: the hash of the attached results is the hash that the report states. The "
            "bytes were not compared, because the report was written with other versions: "
            f"{'; '.join(found.other_versions)}."
        )
    elif found.is_same:
        say(
            f"{path}: the hash of the attached results is the hash that the report states, and the "
            "report was written again from these results with the same bytes."
        )
    else:
        say(
            f"skeval: {path} was changed, because a report rendered from the attached results has "
            "different bytes. The hash of the results is the hash that the report states."
        )
    if found.is_changed:
        raise typer.Exit(1)


def _check_files(scores: Path, files: list[Place]) -> None:
    """Print which inputs of the scores the files are."""
    from skeval.results.verification import DIFFERENT
    from skeval.results.verification import verify as verify_tables
    from skeval.tables.reading import check_exists

    provenance = _read_provenance(scores)
    for place in files:
        if place.path is not None:
            check_exists(place.path)
    frame = verify_tables(provenance, files)
    table = plain_table("file", "input", "found", texts=3)
    for row in frame.itertuples(index=False):
        table.add_row(*map(escape, row))
    show(table)
    _say_versions(scores, provenance)
    if unknown := frame.loc[frame["found"] == DIFFERENT, "given"].tolist():
        say(f"skeval: not among the inputs of {scores}: {', '.join(unknown)}.")
        raise typer.Exit(1)


def _read_provenance(scores: Path) -> Provenance:
    from skeval.cli.scores import read_results

    provenance = read_results(scores).provenance
    if provenance is None:
        raise InvalidParameterError(
            f"{scores} contains no information about its input files, so files cannot be checked."
        )
    return provenance


def _say_versions(scores: Path, provenance: Provenance) -> None:
    from skeval.utils.versions import installed_versions

    say(f"{scores.name}: evaluated by skeval {provenance.version} on {provenance.date}.")
    here = installed_versions()
    then = {"skeval": provenance.version, **provenance.packages}
    if changed := [
        f"{n} {v}, here {here.get(n, 'none')}" for n, v in then.items() if v != here.get(n)
    ]:
        say(f"note: evaluated with other versions: {'; '.join(changed)}.")
