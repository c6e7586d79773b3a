"""The commands that write a report: `report` and `demo`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skeval.cli.application import app
from skeval.cli.options import OUTPUT, PRESETS, Given, Seed, Tables, with_given
from skeval.cli.terminal import say
from skeval.exceptions import InvalidParameterError
from skeval.tables.place import Place
from skeval.utils.files import check_output
from skeval.utils.progress import show_progress

if TYPE_CHECKING:
    from skeval.results.comparison import Comparison
    from skeval.results.policy import Policy
    from skeval.results.release import Release
    from skeval.results.suite_result import SuiteResult
    from skeval.suites.report import Limits
    from skeval.suites.report import Tables as TablesOfReport
    from skeval.suites.suite import MetricSuite
    from skeval.tables.csv_dialect import Dialect
    from skeval.tables.relational_schema import RelationalSchema


@app.command()
@with_given
def report(
    given: Given,
    tables: Tables,
    output: Annotated[Path, typer.Option(*OUTPUT, help="PDF or HTML file.")] = Path("report.pdf"),
    n_max_train: Annotated[
        int | None, typer.Option(help="Maximum number of training rows.", min=1)
    ] = None,
    n_max_test: Annotated[
        int | None, typer.Option(help="Maximum number of holdout rows.", min=1)
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Number of first columns to use, or their names: A,B.")
    ] = None,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    short: Annotated[
        bool, typer.Option("--short", help="Include only page 1, all numbers and the provenance.")
    ] = False,
    suite: Annotated[str | None, typer.Option(help=PRESETS)] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Metrics to evaluate instead, by class or by name in scores: A,B."),
    ] = None,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.cli import gate, inputs
    from skeval.results.rendering import ENDINGS
    from skeval.suites.report import PRESET, Limits, check_tables, write_report
    from skeval.tables.relational_schema import RelationalSchema

    read_of = [*tables, given.schema, given.policy, given.release]
    inputs.check_paths(output, ENDINGS, "report", read_of)
    inputs.check_apart([output, given.junit], read_of)
    release = gate.release_of(given)
    dialect = inputs.dialect_of(given.sep, given.encoding, given.decimal)
    policy = gate.policy_of(given, release)
    if metrics is not None and suite is not None:
        raise InvalidParameterError("--metrics replaces --suite. Pass only one of them.")
    limits, chosen = Limits(n_max_train, n_max_test, given.seed), _parse_columns(columns)
    suite_for = partial(_make_suite, metrics, suite or PRESET, given, release, chosen, limits)
    is_one_table = not any(path.is_folder for path in tables)
    # report errors before the tables are read
    if metrics is not None or (policy is not None and is_one_table):
        gate.check_policy(policy, suite_for(None))
    read, known = _read_tables(tables, given, dialect, n_max_train)
    relations = known if isinstance(known, RelationalSchema) else None
    measured = suite_for(relations).set_params(n_jobs=given.jobs, max_memory=given.max_bytes)
    named = (suite or PRESET) if metrics is None else measured
    check_tables(named, read, relations, limits, chosen)
    result = write_report(
        read,
        output,
        measured,
        schema=known,
        columns=chosen,
        limits=limits,
        release=release,
        date=given.date,
        progress="lines",
        title=title,
        short=short,
        hashes=given.hashes,
    )
    _conclude(result, output, policy, given.junit)


@app.command()
def demo(
    output: Annotated[Path, typer.Option(*OUTPUT, help="Where to write.")] = Path(
        "skeval-demo.pdf"
    ),
    rows: Annotated[int, typer.Option(help="Number of flights to use.", min=100)] = 10_000,
    seed: Seed = 0,
) -> None:
    """Evaluate a Gaussian copula on real flight data and write a report."""
    from sklearn.model_selection import train_test_split

    from skeval.datasets import load_flights
    from skeval.generators import GaussianCopula
    from skeval.results.rendering import ENDINGS
    from skeval.suites.report import report as write_report

    check_output(output, ENDINGS, owner="report")
    with show_progress("lines") as tick:
        tick("made")
        flights = load_flights(rows, random_state=seed)
        train, holdout = train_test_split(flights, test_size=0.5, random_state=seed)
        synthetic = GaussianCopula().fit(train).sample(len(train), random_state=seed)
    say(
        f"{len(train):,} real flights for training, {len(holdout):,} as holdout, "
        f"{len(synthetic):,} synthetic flights from a Gaussian copula."
    )
    result = write_report(train, holdout, synthetic, output, random_state=seed, progress="lines")
    _conclude(result, output)


def _read_tables(
    places: list[Place], given: Given, dialect: Dialect, n_max_train: int | None
) -> tuple[TablesOfReport, Any]:
    """Read the tables. If there are more than three, those after the holdout are candidates."""
    from skeval.cli import inputs
    from skeval.suites.report import Tables as TablesOfReport
    from skeval.tables.door import ReadTable

    (train, holdout, synthetic), known = inputs.read_given(places[:3], given, dialect)
    inputs.say_that_it_takes_long(train, n_max_train)
    files = inputs.files_by_role(places)
    real = ReadTable(train, files.get("train"))
    held = None if holdout is None else ReadTable(holdout, files.get("holdout"))
    if len(places) <= 3:
        return TablesOfReport(real, held, ReadTable(synthetic, files.get("synthetic"))), known
    several = inputs.read_candidates(
        places[2:], synthetic, known, header=given.header, dialect=dialect
    )
    candidates = {name: ReadTable(rows, files.get(name)) for name, rows in several.items()}
    return TablesOfReport(real, held, candidates), known


def _parse_columns(given: str | None) -> int | list[str] | None:
    """Return the number of columns, or their names, from an option."""
    if given is None or not given.strip().isdigit():
        return given and [name.strip() for name in given.split(",")]  # type: ignore[return-value]
    if int(given) < 1:
        raise InvalidParameterError(f"--columns must be at least 1, or names, got {given}.")
    return int(given)


def _make_suite(
    metrics: str | None,
    preset: str,
    given: Given,
    release: Release | None,
    columns: int | list[str] | None,
    limits: Limits,
    relations: RelationalSchema | None,
) -> MetricSuite:
    """Return the suite of these metrics, or the suite of a preset for a report."""
    from skeval.cli.suites import check_columns_are_used, preset_settings, suite_of_options
    from skeval.suites.report import suite_of_report

    if metrics is not None:
        return suite_of_options(metrics, preset, given, release=release)
    settings = preset_settings(given, release)
    settings["random_state"] = given.seed
    suite = suite_of_report(preset, relations, columns, limits, **settings)
    check_columns_are_used(suite, preset, given)
    return suite


def _conclude(
    result: SuiteResult | Comparison,
    output: Path,
    policy: Policy | None = None,
    junit: Path | None = None,
) -> None:
    """Print the findings and apply the policy."""
    from skeval.cli.gate import enforce, write_junit
    from skeval.cli.inputs import say_kinds
    from skeval.results.comparison import Comparison

    results = dict(result) if isinstance(result, Comparison) else {"": result}
    write_junit(policy, results, junit)
    say_kinds(next(iter(results.values())))
    say(result.sentence if isinstance(result, Comparison) else result.summary())
    say(f"Report: {output}")
    enforce(policy, results)
