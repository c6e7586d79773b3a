"""Scores in a terminal: what is printed of a result, and read of files that hold one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from skeval.cli.gate import enforce, write_junit
from skeval.cli.inputs import say_kinds
from skeval.cli.options import Given, with_options
from skeval.cli.terminal import plain_table, say, show
from skeval.exceptions import InvalidParameterError
from skeval.reporting.result_sentence import judged, label_of
from skeval.reporting.scores import (
    DIFFERENCE,
    INTERVAL,
    numbers_tested,
    parted,
    reason,
    shown_difference,
)
from skeval.results.comparison import Comparison
from skeval.results.policy import Policy
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.summary import summary
from skeval.results.verdict import is_shifted
from skeval.tables.place import Place
from skeval.tables.reading import check_exists
from skeval.utils.files import replacing
from skeval.utils.formatting import shown_interval
from skeval.utils.spreadsheets import csv_of

WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".txt": lambda result: f"{result!r}\n",
    ".csv": lambda result: csv_of(result.frame()),
    ".json": lambda result: result.to_json(),
}


def read_results(path: Path) -> SuiteResult:
    """Read scores that `evaluate` saved."""
    check_exists(path)
    return SuiteResult.from_json(path)


def read_comparison(path: Path) -> Comparison | None:
    """Return what `compare -o comparison.json` saved; None where a file holds other scores."""
    try:
        return Comparison.from_json(path)
    except InvalidParameterError:
        return None


def conclude(
    result: SuiteResult,
    files: Mapping[str, Place],
    output: Path | None,
    gate: Policy | None,
    given: Given,
) -> None:
    """Save and print scores, and hold them to the policy."""
    if result.provenance is not None:
        known_by = result.provenance.with_files(files)
        result.provenance = known_by if given.hashes else known_by.without_hashes()
    if output is not None:  # saved first, so that scores are kept if printing fails
        with replacing(output) as temporary:
            temporary.write_text(WRITERS[output.suffix.lower()](result), encoding="utf-8")
    write_junit(gate, {"": result}, given.junit)
    print_scores(result)
    say_kinds(result)
    _say_verdict(result, output)
    enforce(gate, {"": result})


def _say_verdict(result: SuiteResult, output: Path | None) -> None:
    if sentence := summary(result):
        say(sentence)
    if output is not None:
        say(f"Saved: {output}")


def print_scores(result: SuiteResult) -> None:
    """Print the tables of scores and of tests of privacy, properties, and what was left out."""
    scores, tests = parted(result)
    verdicts = _verdicts(result)
    if scores:
        _show_scores(scores, verdicts)
    if tests:
        _show_tests(tests, verdicts)
    for name, why in ((name, reason(one)) for name, one in tests.items()):
        if why:
            Console(soft_wrap=True).print(f"{name}: {why}", markup=False)
    if any("/" in name for name in result):
        table = plain_table("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        show(table)
    left_out: dict[str, list[str]] = {}
    for name, each in result.items():
        if each.error:
            left_out.setdefault(with_options(each.error), []).append(name)
    for why, names in left_out.items():
        Console(soft_wrap=True).print(f"{', '.join(names)} left out: {why}", markup=False)


INKS = {"alarm": "bold red", "copies": "bold red", "doubt": "yellow", "calm": "none"}


def _verdicts(result: SuiteResult) -> dict[str, str]:
    """Return in a few words what is made of each metric; a terminal shows it in colour too."""
    verdict, shifted = result.verdict(), is_shifted(result.notices)
    words = {name: judged(one, verdict, name, shifted) for name, one in result.items()}
    return {name: f"[{INKS[label_of(said)]}]{said}[/]" for name, said in words.items() if said}


def _show_scores(results: Mapping[str, Result], verdicts: Mapping[str, str]) -> None:
    heads = "value", INTERVAL, "baseline", DIFFERENCE.lower(), "best", "verdict"
    table = plain_table("metric", *heads)
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        said = verdicts.get(name, "")
        table.add_row(escape(name), *numbers, shown_difference(one), _best(one), said)
    show(table)


def _show_tests(results: Mapping[str, Result], verdicts: Mapping[str, str]) -> None:
    heads = (
        "tested",
        "against",
        "p-value",
        "score",
        INTERVAL,
        "baseline",
        "best",
        "evidence",
        "verdict",
    )
    table = plain_table("metric", *heads)
    for name, one in results.items():
        numbers = f"{one.value:.4g}", shown_interval(one.interval), _or_empty(one.baseline)
        kind = one.tags.evidence or "" if one.tags is not None else ""
        compared = *numbers_tested(one), _p_value(one.p_value)
        said = verdicts.get(name, "")
        table.add_row(escape(name), *compared, *numbers, _best(one), kind, said)
    show(table)


def _best(result: Result) -> str:
    return result.tags.direction.split()[0] if result.tags is not None else ""


def _or_empty(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4g}"


def _p_value(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return "<1e-16" if value < 1e-16 else f"{value:.2g}"
