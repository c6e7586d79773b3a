"""The command that prints and saves scores: `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape

from skeval.cli.catalogue import suite_of_names
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
    check_named,
    check_of_one_table,
    check_paths,
    dialect_of,
    files_by_role,
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
    debugging,
    say,
)
from skeval.cli.tables import show, table_of
from skeval.cli.words import in_words
from skeval.files import replacing
from skeval.progress import shown
from skeval.result import SuiteResult
from skeval.tables.relational_schema import RelationalSchema

if TYPE_CHECKING:
    from skeval.suite import MetricSuite

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
    metrics: Annotated[
        str | None,
        typer.Option(help="These metrics instead, by their names in `list` or in scores: A,B."),
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that each metric may take.", min=0.0)
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
    """Print the scores of a synthetic table, and save them."""
    if output is not None:
        check_paths(output, tuple(_WRITERS), "scores", [*tables, schema, policy])
    gate, dialect = policy_of(fail_on, require, policy, junit), dialect_of(sep, encoding, decimal)

    def made(relations: RelationalSchema | None = None) -> MetricSuite:
        if metrics is not None:
            return suite_of_names(metrics, target=target, sensitive=sensitive, seed=seed)
        return _preset(suite, relations, target=target, sensitive=sensitive, seed=seed)

    if not any(path.is_dir() for path in tables):  # of folders, the suite depends on their keys
        check_policy(gate, made())
    (train, holdout, synthetic), known = read_tables(tables, schema, header=header, dialect=dialect)
    check_of_one_table(known, target=target, sensitive=sensitive)
    check_named(train, sensitive=sensitive)
    measured = made(known if isinstance(known, RelationalSchema) else None)
    on_error = "raise" if debugging() else "warn"
    check_policy(gate, measured)
    measured.set_params(timeout=timeout, on_error=on_error, n_jobs=jobs)
    with shown("lines") as tick:
        progress = tick("measured")
        measured.fit(train, holdout, schema=known)
        result = measured.evaluate(synthetic, progress=progress, date=date)
    if result.provenance is not None:
        known_by = result.provenance.with_files(files_by_role(tables))
        result.provenance = known_by if hashes else known_by.without_hashes()
    if output is not None:  # before they are printed: whatever goes wrong there, they are kept
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
    write_junit(gate, {"": result}, junit)
    print_scores(result)
    say_kinds(result)
    _say_verdict(result, output)
    enforce(gate, {"": result})


def _say_verdict(result: SuiteResult, output: Path | None) -> None:
    from skeval.verdict import summary

    if sentence := summary(result):
        say(sentence)
    if output is not None:
        say(f"Saved: {output}")


def _preset(
    name: str,
    relations: RelationalSchema | None,
    *,
    target: str | None,
    sensitive: str | None,
    seed: int,
) -> MetricSuite:
    from skeval.suite import make_suite

    return make_suite(
        name,
        target=target,
        sensitive=sensitive,
        random_state=seed,
        n_jobs=-1,
        schema=relations,
    )


def print_scores(result: SuiteResult) -> None:
    """Print the table of scores, properties, and what was left out."""
    table = table_of("metric", "value", "interval", "baseline", "p-value", "best", "evidence")
    for row in result.frame().query("error == ''").itertuples():
        interval = "" if pd.isna(row.low) else f"{row.low:.4g} to {row.high:.4g}"
        numbers = f"{row.value:.4g}", interval, _or_empty(row.baseline), _p_value(row.p_value)
        table.add_row(escape(row.metric), *numbers, row.direction.split()[0], row.evidence)
    show(table)
    if any("/" in name for name in result):
        table = table_of("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        show(table)
    for name, each in result.items():
        if each.error:
            text = in_words(f"{name} left out: {each.error}")
            Console(soft_wrap=True).print(text, markup=False)


def _or_empty(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.4g}"


def _p_value(value: float) -> str:
    if pd.isna(value):
        return ""
    return "<1e-16" if value < 1e-16 else f"{value:.2g}"
