"""The command that prints and saves scores: `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from skeval.cli.catalogue import suite_of_names
from skeval.cli.gate import check_policy, enforce, policy_of, write_junit
from skeval.cli.inputs import (
    check_apart,
    check_paths,
    dialect_of,
    files_by_role,
    read_given,
    say_kinds,
)
from skeval.cli.options import OUTPUT, Given, Tables, app, debugging, say, with_given
from skeval.cli.saved import suite_of_file
from skeval.cli.tables import show, table_of
from skeval.exceptions import InvalidParameterError, Sentence
from skeval.files import replacing
from skeval.formatting import shown_interval
from skeval.policy import Policy
from skeval.progress import shown
from skeval.result import Result
from skeval.suite_result import SuiteResult
from skeval.tables.reading import read_table
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
@with_given
def evaluate(
    given: Given,
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
    saved: Annotated[
        Path | None,
        typer.Option(help="What MetricSuite.save wrote, for TRAIN and HOLDOUT: give SYNTHETIC."),
    ] = None,
    rows: Annotated[
        bool,
        typer.Option("--rows", help="--saved holds rows: a pickle, which runs code; your own."),
    ] = False,
) -> None:
    """Print the scores of a synthetic table, and save them."""
    read = [*tables, given.schema, given.policy, saved]
    if output is not None:
        check_paths(output, tuple(_WRITERS), "scores", read)
    check_apart([output, given.junit], read)
    gate, dialect = policy_of(given), dialect_of(given.sep, given.encoding, given.decimal)
    if saved is not None:
        loaded = suite_of_file(saved, tables, given, metrics, rows=rows)
        check_policy(gate, loaded)
        on_error = "raise" if debugging() else "warn"
        loaded.set_params(timeout=timeout, on_error=on_error, n_jobs=given.jobs)
        synthetic = read_table(tables[0], header=given.header, dialect=dialect)
        with shown("lines") as tick:
            result = loaded.evaluate(synthetic, progress=tick("measured"), date=given.date)
        _conclude(result, {"synthetic": tables[0]}, output, gate, given)
        return
    if rows:
        raise InvalidParameterError("--rows needs --saved, the suite that holds them.")
    made = partial(_suite, metrics, suite, given)
    if not any(path.is_dir() for path in tables):  # of folders, the suite depends on their keys
        check_policy(gate, made())
    (train, holdout, synthetic), known = read_given(tables, given, dialect)
    measured = made(known if isinstance(known, RelationalSchema) else None)
    on_error = "raise" if debugging() else "warn"
    check_policy(gate, measured)
    measured.set_params(
        timeout=timeout, on_error=on_error, n_jobs=given.jobs, max_memory=given.max_bytes
    )
    with shown("lines") as tick:
        progress = tick("measured")
        measured.fit(train, holdout, schema=known)
        result = measured.evaluate(synthetic, progress=progress, date=given.date)
    _conclude(result, files_by_role(tables), output, gate, given)


def _conclude(
    result: SuiteResult,
    files: Mapping[str, Path],
    output: Path | None,
    gate: Policy | None,
    given: Given,
) -> None:
    """Save and print scores, and hold them to the policy."""
    if result.provenance is not None:
        known_by = result.provenance.with_files(files)
        result.provenance = known_by if given.hashes else known_by.without_hashes()
    if output is not None:  # before they are printed: whatever goes wrong there, they are kept
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
    write_junit(gate, {"": result}, given.junit)
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


def _suite(
    metrics: str | None, preset: str, given: Given, relations: RelationalSchema | None = None
) -> MetricSuite:
    from skeval.ready_suites import make_suite

    target, sensitive, seed = given.target, given.sensitive, given.seed
    if metrics is not None:
        return suite_of_names(metrics, target=target, sensitive=sensitive, seed=seed)
    return make_suite(
        preset, target=target, sensitive=sensitive, random_state=seed, n_jobs=-1, schema=relations
    )


def print_scores(result: SuiteResult) -> None:
    """Print the tables of scores and of tests of privacy, properties, and what was left out."""
    from skeval.reporting.scores import parted, reason

    scores, tests = parted(result)
    if scores:
        _show_scores(scores)
    if tests:
        _show_tests(tests)
    for name, why in ((name, reason(one)) for name, one in tests.items()):
        if why:
            Console(soft_wrap=True).print(f"{name}: {why}", markup=False)
    if any("/" in name for name in result):
        table = table_of("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        show(table)
    for name, each in result.items():
        if each.error:
            why = each.error.shell if isinstance(each.error, Sentence) else each.error
            Console(soft_wrap=True).print(f"{name} left out: {why}", markup=False)


def _show_scores(results: Mapping[str, Result]) -> None:
    from skeval.reporting.scores import DIFFERENCE, INTERVAL, shown_difference

    table = table_of("metric", "value", INTERVAL, "baseline", DIFFERENCE.lower(), "best")
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        table.add_row(escape(name), *numbers, shown_difference(one), _best(one))
    show(table)


def _show_tests(results: Mapping[str, Result]) -> None:
    from skeval.reporting.scores import INTERVAL, numbers_tested

    heads = "tested", "against", "p-value", "score", INTERVAL, "baseline", "best", "evidence"
    table = table_of("metric", *heads)
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        kind = one.tags.evidence or "" if one.tags is not None else ""
        compared = *numbers_tested(one), _p_value(one.p_value)
        table.add_row(escape(name), *compared, *numbers, _best(one), kind)
    show(table)


def _best(result: Result) -> str:
    return result.tags.direction.split()[0] if result.tags is not None else ""


def _or_empty(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4g}"


def _p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return "<1e-16" if value < 1e-16 else f"{value:.2g}"
