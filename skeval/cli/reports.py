"""Commands that write a report: `report` and `demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skeval.cli.inputs import TrainHoldoutSynthetic, check_of_one_table, check_paths, read_tables
from skeval.cli.options import OUTPUT, Header, SchemaFile, Seed, Sensitive, Tables, Target, app, say
from skeval.cli.scores import check_failures
from skeval.files import check_output


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
    seed: Seed = 0,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.report import ENDINGS

    check_paths(output, ENDINGS, "report", [*tables, schema])
    read, known = read_tables(tables, schema, header=header)
    check_of_one_table(known, target=target, sensitive=sensitive)
    _write_report(
        read,
        output,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=columns,
        target=target,
        sensitive=sensitive,
        schema=known,
        random_state=seed,
    )


@app.command()
def demo(
    output: Annotated[Path, typer.Option(*OUTPUT, help="Where to write.")] = Path(
        "skeval-demo.pdf"
    ),
    rows: Annotated[int, typer.Option(help="Number of flights to use.", min=100)] = 20_000,
    seed: Seed = 0,
) -> None:
    """Write a report of real flights, half of them held out, and a copula fitted on the rest."""
    from sklearn.model_selection import train_test_split

    from skeval.datasets import load_flights
    from skeval.generators import GaussianCopula
    from skeval.report import ENDINGS

    check_output(output, ENDINGS, owner="report")
    flights = load_flights(rows, random_state=seed)
    train, holdout = train_test_split(flights, test_size=0.5, random_state=seed)
    synthetic = GaussianCopula().fit(train).sample(len(train), random_state=seed)
    say(
        f"{len(train):,} real flights as train, {len(holdout):,} held out, "
        f"{len(synthetic):,} synthetic ones from a Gaussian copula."
    )
    _write_report((train, holdout, synthetic), output, random_state=seed)


def _write_report(tables: TrainHoldoutSynthetic, output: Path, **settings: Any) -> None:
    from skeval.report import report as write_report
    from skeval.verdict import summary

    result = write_report(*tables, output, **settings)
    say(summary(result))
    say(f"Report: {output}")
    check_failures(result)
