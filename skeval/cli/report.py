"""The commands that write a report: `report` and `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skeval.cli.application import app
from skeval.cli.options import OUTPUT, PRESETS, Given, Seed, Tables, with_given
from skeval.cli.terminal import say
from skeval.exceptions import InvalidParameterError
from skeval.tables.places import Place
from skeval.utils.files import check_output
from skeval.utils.progress import show_progress

if TYPE_CHECKING:
    from skeval.cli.inputs import TrainHoldoutSynthetic
    from skeval.results.policy import Policy
    from skeval.results.release import Release
    from skeval.suites.suite import MetricSuite
    from skeval.tables.reading import Dialect


@app.command()
@with_given
def report(
    given: Given,
    tables: Tables,
    output: Annotated[Path, typer.Option(*OUTPUT, help="A PDF, or an HTML page.")] = Path(
        "report.pdf"
    ),
    n_max_train: Annotated[
        int | None, typer.Option(help="Greatest number of rows of train.", min=1)
    ] = None,
    n_max_test: Annotated[
        int | None, typer.Option(help="Greatest number of rows of the holdout.", min=1)
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Look at the first columns, this many, or at these: A,B.")
    ] = None,
    title: Annotated[str, typer.Option(help="Of the report.")] = "",
    short: Annotated[
        bool,
        typer.Option("--short", help="Decision, scores, columns to mend, provenance, sign-off."),
    ] = False,
    suite: Annotated[str | None, typer.Option(help=PRESETS)] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="These metrics instead, by their names in `list` or in scores: A,B."),
    ] = None,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.cli import gate, inputs
    from skeval.cli.suites import made_suite
    from skeval.results.rendering import ENDINGS

    read_of = [*tables, given.schema, given.policy, given.release]
    inputs.check_paths(output, ENDINGS, "report", read_of)
    inputs.check_apart([output, given.junit], read_of)
    release = gate.release_of(given)
    dialect = inputs.dialect_of(given.sep, given.encoding, given.decimal)
    policy = gate.policy_of(given, release)
    if metrics is not None and suite is not None:
        raise InvalidParameterError("--metrics chooses what --suite would; give one of them.")
    measured = suite if metrics is None else made_suite(metrics, "report", given, release=release)
    gate.check_policy(policy, _suite_of(tables, given, measured, release) if policy else None)
    read, known = _read(tables, given, dialect, n_max_train)
    _write_report(
        read,
        output,
        policy,
        given.junit,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=_columns(columns),
        title=title,
        short=short,
        suite=measured,
        schema=known,
        files=inputs.files_by_role(tables),
        release=release,
        **_settings(given),
    )


@app.command()
def demo(
    output: Annotated[Path, typer.Option(*OUTPUT, help="Where to write.")] = Path(
        "skeval-demo.pdf"
    ),
    rows: Annotated[int, typer.Option(help="Number of flights to use.", min=100)] = 10_000,
    seed: Seed = 0,
) -> None:
    """Write a report of real flights, half of them held out, and a copula fitted on the rest."""
    from sklearn.model_selection import train_test_split

    from skeval.datasets import load_flights
    from skeval.generators import GaussianCopula
    from skeval.results.rendering import ENDINGS

    check_output(output, ENDINGS, owner="report")
    with show_progress("lines") as tick:
        tick("made")
        flights = load_flights(rows, random_state=seed)
        train, holdout = train_test_split(flights, test_size=0.5, random_state=seed)
        synthetic = GaussianCopula().fit(train).sample(len(train), random_state=seed)
    say(
        f"{len(train):,} real flights as train, {len(holdout):,} held out, "
        f"{len(synthetic):,} synthetic ones from a Gaussian copula."
    )
    _write_report((train, holdout, synthetic), output, random_state=seed)


def _settings(given: Given) -> dict[str, Any]:
    """Return what a report takes of the options that several commands share, by its names."""
    same = ("target", "sensitive", "groups", "duration", "event", "date", "hashes")
    return {name: getattr(given, name) for name in same} | {
        "known": given.known_columns,
        "random_state": given.seed,
        "n_jobs": given.jobs,
        "max_memory": given.max_bytes,
    }


def _read(
    tables: list[Place], given: Given, dialect: Dialect, n_max_train: int | None
) -> tuple[TrainHoldoutSynthetic, Any]:
    """Read the tables; from four on, all behind the holdout are candidates."""
    from skeval.cli import inputs

    read, known = inputs.read_given(tables[:3], given, dialect)
    inputs.say_long(read[0], n_max_train)
    if len(tables) > 3:
        several = inputs.read_candidates(
            tables[2:], read[2], known, header=given.header, dialect=dialect
        )
        read = (*read[:2], several)
    return read, known


def _columns(given: str | None) -> int | list[str] | None:
    """Return the number of columns, or their names, that an option gives."""
    if given is None or not given.strip().isdigit():
        return given and [name.strip() for name in given.split(",")]  # type: ignore[return-value]
    if int(given) < 1:
        raise InvalidParameterError(f"--columns must be at least 1, or names, got {given}.")
    return int(given)


def _suite_of(
    tables: list[Place], given: Given, measured: MetricSuite | str | None, release: Release | None
) -> MetricSuite | None:
    """Return the suite of a report of one table; that of several is not known before they are."""
    from skeval.cli.suites import preset_settings
    from skeval.suites.ready import make_suite

    if measured is not None and not isinstance(measured, str):
        return measured
    if any(path.is_folder for path in tables):
        return None
    settings = preset_settings(given, release)
    return make_suite(measured or "report", **settings, random_state=given.seed)


def _write_report(
    tables: TrainHoldoutSynthetic,
    output: Path,
    policy: Policy | None = None,
    junit: Path | None = None,
    **settings: Any,
) -> None:
    from skeval.cli.gate import enforce, write_junit
    from skeval.cli.inputs import say_kinds
    from skeval.results.comparison import Comparison
    from skeval.results.summary import summary
    from skeval.suites.report import report as write_report

    result = write_report(*tables, output, progress="lines", **settings)
    results = dict(result) if isinstance(result, Comparison) else {"": result}
    write_junit(policy, results, junit)
    say_kinds(next(iter(results.values())))
    say(result.sentence if isinstance(result, Comparison) else summary(result))
    say(f"Report: {output}")
    enforce(policy, results)
