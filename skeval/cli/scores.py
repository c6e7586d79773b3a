"""Print scores in a terminal, and read files that contain scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape

from skeval.cli.gate import enforce, write_junit
from skeval.cli.inputs import say_kinds
from skeval.cli.options import Given, with_options
from skeval.cli.terminal import plain_table, say, show, show_block, show_text
from skeval.exceptions import InvalidParameterError
from skeval.reporting.document.numbers import score
from skeval.reporting.document.score_table import score_table
from skeval.reporting.plain_text import headline_sentences
from skeval.results.attached_report import restore_settings
from skeval.results.comparison import Comparison
from skeval.results.policy import Policy
from skeval.results.rendering import rendering
from skeval.results.suite_result import SuiteResult
from skeval.tables.place import Place
from skeval.tables.reading import check_exists
from skeval.utils.files import replacing
from skeval.utils.spreadsheets import csv_of

WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".txt": lambda result: f"{result!r}\n",
    ".csv": lambda result: csv_of(result.frame()),
    ".json": lambda result: result.to_json(),
}


def is_report(path: Path) -> bool:
    """Return whether a file is a PDF report, by its ending."""
    return path.suffix.lower() == ".pdf"


def read_results(path: Path) -> SuiteResult:
    """Read scores that `evaluate` saved, or the scores of a PDF report."""
    check_exists(path)
    return SuiteResult.from_pdf(path) if is_report(path) else SuiteResult.from_json(path)


def read_saved(path: Path) -> SuiteResult | Comparison:
    """Read scores of one table, or a comparison of several."""
    check_exists(path)
    try:
        return Comparison.from_pdf(path) if is_report(path) else Comparison.from_json(path)
    except InvalidParameterError:
        return read_results(path)


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a PDF report, or an empty dictionary for other files."""
    return restore_settings(path, rendering().read_pdf(path).settings) if is_report(path) else {}


def conclude(
    result: SuiteResult,
    files: Mapping[str, Place],
    output: Path | None,
    gate: Policy | None,
    given: Given,
    *,
    is_wide: bool = False,
) -> None:
    """Save and print scores, and apply the policy."""
    if result.provenance is not None:
        known_by = result.provenance.with_files(files)
        result.provenance = known_by if given.hashes else known_by.without_hashes()
    if output is not None:  # saved first, so that scores are kept if printing fails
        with replacing(output) as temporary:
            temporary.write_text(WRITERS[output.suffix.lower()](result), encoding="utf-8")
    write_junit(gate, {"": result}, given.junit)
    print_scores(result, is_wide=is_wide)
    say_kinds(result)
    _say_saved(output)
    enforce(gate, {"": result})


def _say_saved(output: Path | None) -> None:
    if output is not None:
        say(f"Saved: {output}")


def print_scores(result: SuiteResult, *, is_wide: bool = False) -> None:
    """Print the findings, the table of scores, the properties and the skipped metrics."""
    headline, deck = headline_sentences(result)
    show_text(headline, style="bold")
    show_text(deck)
    show_block(score_table(result, is_wide=is_wide))
    if any("/" in name for name in result):
        table = plain_table("property", "score", "unseen", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), *map(score, scores), str(n_used))
        show(table)
    skipped: dict[str, list[str]] = {}
    for name, each in result.items():
        if each.error:
            skipped.setdefault(with_options(each.error), []).append(name)
    for why, names in skipped.items():
        show_text(f"{', '.join(names)} skipped: {why}")
