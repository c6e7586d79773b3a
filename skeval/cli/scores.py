"""Commands that print and save scores: `evaluate` and `compare`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skeval.cli.inputs import check_of_one_table, check_paths, read_tables
from skeval.cli.options import OUTPUT, Header, SchemaFile, Seed, Sensitive, Tables, Target, app, say
from skeval.exceptions import InvalidParameterError, MetricFailedWarning, TableError
from skeval.files import replacing
from skeval.result import SuiteResult
from skeval.tables.reading import check_exists
from skeval.tables.relational_schema import RelationalSchema

_WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".txt": lambda result: f"{result!r}\n",
    ".csv": lambda result: result.frame().to_csv(index=False),
    ".json": lambda result: result.to_json(),
}
_PRESETS = "report, fidelity, utility, privacy, screens, attacks, syneval, quality or diagnostic."


@app.command()
def evaluate(
    tables: Tables,
    output: Annotated[
        Path | None,
        typer.Option(
            *OUTPUT, help="Save the table: .txt, .csv or .json (.json keeps all details)."
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help=_PRESETS)] = "report",
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that each metric may take.", min=0.0)
    ] = None,
    target: Target = None,
    sensitive: Sensitive = None,
    schema: SchemaFile = None,
    header: Header = False,
    seed: Seed = 0,
) -> None:
    """Print the scores of a synthetic table, and save them."""
    from skeval.suite import make_suite
    from skeval.verdict import summary

    if output is not None:
        check_paths(output, tuple(_WRITERS), "scores", [*tables, schema])
    (train, holdout, synthetic), known = read_tables(tables, schema, header=header)
    check_of_one_table(known, target=target, sensitive=sensitive)
    metrics = make_suite(
        suite,
        target=target,
        sensitive=sensitive,
        random_state=seed,
        n_jobs=-1,
        schema=known if isinstance(known, RelationalSchema) else None,
    )
    metrics.set_params(timeout=timeout)
    result = metrics.fit(train, holdout, schema=known).evaluate(synthetic)
    if output is not None:  # before they are printed: whatever goes wrong there, they are kept
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
    print_scores(result)
    if sentence := summary(result):
        say(sentence)
    if output is not None:
        say(f"Saved: {output}")
    check_failures(result)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="What `evaluate -o scores.json` saved.")],
    second: Annotated[Path, typer.Argument(help="The same of another synthetic table.")],
) -> None:
    """Set the scores of two synthetic tables side by side."""
    frame = _read_results(first).compare(_read_results(second))
    names = {"this": escape(first.stem), "other": escape(second.stem), "": ""}
    table = Table("metric", names["this"], names["other"], "difference", "better")
    for row in frame.itertuples():
        table.add_row(escape(str(row.Index)), *(f"{x:.4g}" for x in row[1:4]), names[row.better])
    Console().print(table)


def check_failures(result: SuiteResult) -> None:
    """End with exit code 1 where metrics failed: others may stand, what was asked for does not."""
    failed = [
        name
        for name, each in result.items()
        if any(isinstance(warning, MetricFailedWarning) for warning in each.warnings)
    ]
    if failed:
        say(f"skeval: {len(failed)} of {len(result)} metrics failed: {', '.join(failed)}.")
        raise typer.Exit(1)


def _read_results(path: Path) -> SuiteResult:
    check_exists(path)
    try:
        return SuiteResult.from_json(path)
    except InvalidParameterError as error:
        raise TableError(
            f"{path} holds no scores; save them with: skeval evaluate ... -o scores.json."
        ) from error


def print_scores(result: SuiteResult) -> None:
    """Print the table of scores, properties, and what was left out."""
    table = Table("metric", "value", "interval", "baseline", "best", "evidence")
    for row in result.frame().query("error == ''").itertuples():
        interval = "" if pd.isna(row.low) else f"{row.low:.4g} to {row.high:.4g}"
        numbers = f"{row.value:.4g}", interval, _or_empty(row.baseline)
        table.add_row(escape(row.metric), *numbers, row.direction.split()[0], row.evidence)
    Console().print(table)
    if any("/" in name for name in result):
        table = Table("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        Console().print(table)
    for name, each in result.items():
        if each.error:
            Console(soft_wrap=True).print(f"{name} left out: {each.error}", markup=False)


def _or_empty(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.4g}"
