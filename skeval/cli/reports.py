"""Commands that write a report: `report` and `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skeval.cli.gate import check_policy, enforce, policy_of, write_junit
from skeval.cli.inputs import (
    TrainHoldoutSynthetic,
    check_apart,
    check_paths,
    dialect_of,
    files_by_role,
    read_candidates,
    read_given,
    say_kinds,
    say_long,
)
from skeval.cli.options import OUTPUT, Given, Seed, Tables, app, say, with_given
from skeval.files import check_output
from skeval.policy import Policy
from skeval.progress import shown

if TYPE_CHECKING:
    from skeval.suite import MetricSuite


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
        int | None, typer.Option(help="Look at the first columns, this many.", min=1)
    ] = None,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.rendering import ENDINGS

    inputs = [*tables, given.schema, given.policy]
    check_paths(output, ENDINGS, "report", inputs)
    check_apart([output, given.junit], inputs)
    gate, dialect = policy_of(given), dialect_of(given.sep, given.encoding, given.decimal)
    if gate is not None:
        check_policy(gate, _suite_of(tables, given))
    # from four tables on, all behind the holdout are candidates
    read, known = read_given(tables[:3], given, dialect)
    say_long(read[0], n_max_train)
    if len(tables) > 3:
        several = read_candidates(tables[2:], read[2], known, header=given.header, dialect=dialect)
        read = (*read[:2], several)
    _write_report(
        read,
        output,
        gate,
        given.junit,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=columns,
        target=given.target,
        sensitive=given.sensitive,
        schema=known,
        random_state=given.seed,
        n_jobs=given.jobs,
        date=given.date,
        files=files_by_role(tables),
        hashes=given.hashes,
        max_memory=given.max_bytes,
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
    from skeval.rendering import ENDINGS

    check_output(output, ENDINGS, owner="report")
    with shown("lines") as tick:
        tick("made")
        flights = load_flights(rows, random_state=seed)
        train, holdout = train_test_split(flights, test_size=0.5, random_state=seed)
        synthetic = GaussianCopula().fit(train).sample(len(train), random_state=seed)
    say(
        f"{len(train):,} real flights as train, {len(holdout):,} held out, "
        f"{len(synthetic):,} synthetic ones from a Gaussian copula."
    )
    _write_report((train, holdout, synthetic), output, random_state=seed)


def _suite_of(tables: list[Path], given: Given) -> MetricSuite | None:
    """Return the suite of a report of one table; that of several is not known before they are."""
    from skeval.ready_suites import make_suite

    if any(path.is_dir() for path in tables):
        return None
    return make_suite(
        "report", target=given.target, sensitive=given.sensitive, random_state=given.seed
    )


def _write_report(
    tables: TrainHoldoutSynthetic,
    output: Path,
    gate: Policy | None = None,
    junit: Path | None = None,
    **settings: Any,
) -> None:
    from skeval.comparison import Comparison
    from skeval.report import report as write_report
    from skeval.verdict import summary

    result = write_report(*tables, output, progress="lines", **settings)
    results = dict(result) if isinstance(result, Comparison) else {"": result}
    write_junit(gate, results, junit)
    say_kinds(next(iter(results.values())))
    say(result.sentence if isinstance(result, Comparison) else summary(result))
    say(f"Report: {output}")
    enforce(gate, results)
