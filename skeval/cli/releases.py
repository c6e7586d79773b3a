"""The command that evaluates several releases of one table as one attacker sees them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from skeval.cli.options import (
    OUTPUT,
    PRESETS,
    Given,
    app,
    debugging,
    plain_table,
    say,
    show,
    with_given,
)
from skeval.exceptions import InvalidParameterError
from skeval.tables.places import Place
from skeval.utils.execution import shown
from skeval.utils.formatting import number

if TYPE_CHECKING:
    from skeval.results.result import Result
    from skeval.results.several import SeveralReleases

_ENDINGS = (".html", ".htm", ".pdf", ".csv", ".json")


@app.command()
@with_given
def releases(
    given: Given,
    tables: Annotated[
        list[Place],
        typer.Argument(
            parser=Place.of,
            metavar="TRAIN HOLDOUT RELEASE RELEASE...",
            help="Files as `evaluate` reads them; from the third on, releases of TRAIN.",
        ),
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="Write a page, a PDF, a CSV or a JSON of it.")
    ] = None,
    suite: Annotated[str, typer.Option(help=PRESETS)] = "privacy",
    metrics: Annotated[
        str | None,
        typer.Option(help="These metrics instead, by their names in `list` or in scores: A,B."),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(help="Claims of differential privacy, one a release in their order: 1,0.5."),
    ] = None,
) -> None:
    """Say what several releases of one table give away together, and each alone.

    Rules and thresholds are those of all releases together.
    """
    from skeval.cli.gate import check_policy, enforce, policy_of, release_of, write_junit
    from skeval.cli.inputs import check_apart, check_paths, dialect_of, read_candidates, read_given
    from skeval.cli.suites import made_suite
    from skeval.suites.releases import several_releases

    names = _names(tables)
    inputs = [*tables, given.schema, given.policy, given.release]
    if output is not None:
        check_paths(output, _ENDINGS, "page", inputs)
    check_apart([output, given.junit], inputs)
    claims = _claims(epsilons, names)
    gate = policy_of(given, stated := release_of(given))
    measured = made_suite(metrics, suite, given, release=stated)
    check_policy(gate, measured)
    dialect = dialect_of(given.sep, given.encoding, given.decimal)
    (train, holdout, first), known = read_given(tables[:3], given, dialect)
    several = read_candidates(tables[2:], first, known, header=given.header, dialect=dialect)
    on_error = "raise" if debugging() else "warn"
    measured.set_params(n_jobs=given.jobs, max_memory=given.max_bytes, on_error=on_error)
    with shown("lines") as tick:
        tick("measured")
        found = several_releases(
            measured.fit(train, holdout, schema=known),
            several,
            epsilons=claims,
            date=given.date,
            release=stated,
        )
    _name_inputs(found, tables, given)
    _conclude(found, output)
    write_junit(gate, {"": found.together}, given.junit)
    enforce(gate, {"": found.together})


def _names(tables: list[Place]) -> list[str]:
    """Return the names of the releases, and refuse what are too few files or folders."""
    from skeval.cli.inputs import candidate_names

    if len(tables) < 4:
        raise InvalidParameterError(
            f"expected four files or more, TRAIN HOLDOUT RELEASE RELEASE, got {len(tables)}. A "
            "single release is measured by skeval evaluate."
        )
    if folders := [place for place in tables if place.is_folder]:
        raise InvalidParameterError(
            f"releases are of one table each, got the folder {folders[0]}. Give files."
        )
    return candidate_names(tables[2:])


def _claims(given: str | None, names: list[str]) -> dict[str, float] | None:
    if given is None:
        return None
    try:
        claims = [float(part) for part in given.split(",")]
    except ValueError:
        claims = []
    if len(claims) != len(names):
        raise InvalidParameterError(
            f"--epsilons needs {len(names)} numbers, one a release in their order, got {given!r}."
        )
    return dict(zip(names, claims, strict=True))


def _name_inputs(found: SeveralReleases, tables: list[Place], given: Given) -> None:
    """Name train and holdout by their files; without hashes if they are not wanted."""
    from skeval.cli.inputs import files_by_role

    files = files_by_role(tables[:3])
    files.pop("synthetic", None)  # the rows of all releases are no file
    for results in found.all_results.values():
        if results.provenance is not None:
            known_by = results.provenance.with_files(files)
            results.provenance = known_by if given.hashes else known_by.without_hashes()


def _conclude(found: SeveralReleases, output: Path | None) -> None:
    """Save, and print p-values of tests and values of the rest, of each release and of all."""
    if output is not None:
        _write(found, output)
    table = plain_table("metric", *map(escape, found.all_results))
    for name in found.together:
        table.add_row(escape(name), *(_cell(one[name]) for one in found.all_results.values()))
    show(table)
    say(found.sentence)
    if output is not None:
        say(f"Saved: {output}")


def _write(found: SeveralReleases, output: Path) -> None:
    ending = output.suffix.lower()
    if ending == ".csv":
        found.frame().to_csv(output)
    elif ending == ".json":
        found.to_json(output)
    else:
        (found.to_pdf if ending == ".pdf" else found.to_html)(output)


def _cell(result: Result) -> str:
    if result.error:
        return ""
    return number(result.value) if result.p_value is None else f"p {number(result.p_value)}"
