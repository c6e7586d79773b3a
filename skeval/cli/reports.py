"""Commands that write a report: `report` and `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skeval.cli.gate import (
    FailOn,
    JUnit,
    PolicyFile,
    Require,
    check_policy,
    enforce,
    policy_of,
    write_junit,
)
from skeval.cli.inputs import (
    TrainHoldoutSynthetic,
    check_named,
    check_of_one_table,
    check_paths,
    dialect_of,
    files_by_role,
    read_candidates,
    read_tables,
    say_kinds,
)
from skeval.cli.options import (
    OUTPUT,
    DateOption,
    Decimal,
    Encoding,
    Hashes,
    Header,
    Jobs,
    SchemaFile,
    Seed,
    Sensitive,
    Sep,
    Tables,
    Target,
    app,
    say,
)
from skeval.files import check_output
from skeval.policy import Policy
from skeval.progress import shown

if TYPE_CHECKING:
    from skeval.suite import MetricSuite


@app.command()
def report(
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
    target: Target = None,
    sensitive: Sensitive = None,
    schema: SchemaFile = None,
    header: Header = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    fail_on: FailOn = None,
    require: Require = None,
    policy: PolicyFile = None,
    junit: JUnit = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    date: DateOption = None,
    hashes: Hashes = True,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.report import ENDINGS

    check_paths(output, ENDINGS, "report", [*tables, schema, policy])
    gate, dialect = policy_of(fail_on, require, policy, junit), dialect_of(sep, encoding, decimal)
    if gate is not None:
        check_policy(gate, _suite_of(tables, target, sensitive, seed))
    # from four tables on, all behind the holdout are candidates
    read, known = read_tables(tables[:3], schema, header=header, dialect=dialect)
    check_of_one_table(known, target=target, sensitive=sensitive)
    check_named(read[0], sensitive=sensitive)
    if len(tables) > 3:
        read = (
            *read[:2],
            read_candidates(tables[2:], read[2], known, header=header, dialect=dialect),
        )
    _write_report(
        read,
        output,
        gate,
        junit,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=columns,
        target=target,
        sensitive=sensitive,
        schema=known,
        random_state=seed,
        n_jobs=jobs,
        date=date,
        files=files_by_role(tables),
        hashes=hashes,
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
    from skeval.report import ENDINGS

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


def _suite_of(
    tables: list[Path], target: str | None, sensitive: str | None, seed: int
) -> MetricSuite | None:
    """Return the suite of a report of one table; that of several is not known before they are."""
    from skeval.suite import make_suite

    if any(path.is_dir() for path in tables):
        return None
    return make_suite("report", target=target, sensitive=sensitive, random_state=seed)


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
