"""Results for other tools: a section of a model card, flat numbers for trackers."""

from __future__ import annotations

import math
import re

from skeval.reporting.scores import (
    DIFFERENCE,
    INTERVAL,
    READ_BASELINE,
    READ_TESTS,
    TEST_HEADS,
    numbers_tested,
    parted,
    shown_difference,
)
from skeval.reporting.style import evidence, finding
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.summary import summary
from skeval.results.verdict import is_shifted
from skeval.utils.formatting import as_float, number, shown_interval

_MAX_LENGTH = 240  # characters of a name; MLflow takes 250
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\- /]")
_FIELDS = ("baseline", "low", "high", "diff_low", "diff_high", "observed", "expected", "p_value")
_SCORE_HEADS = ("Metric", "Value", INTERVAL, "Baseline", DIFFERENCE, "Good", "Aspect", "Finding")
_TEST_HEADS = (*TEST_HEADS, "Finding")


def markdown(suite_result: SuiteResult, *, level: int = 2, title: str = "Evaluation") -> str:
    """Return a section of Markdown; see :meth:`skeval.SuiteResult.to_markdown`."""
    alarms, shifted = suite_result.verdict().alarms, is_shifted(suite_result.notices)
    scores, tests = parted(suite_result)
    sizes = ", ".join(f"{n:,} rows of {role}" for role, n in suite_result.sizes.items())
    left_out = [f"- {_text(n)}: {_text(r.error)}" for n, r in suite_result.items() if r.error]
    provenance = suite_result.provenance
    made = "" if provenance is None else f"skeval {provenance.version}, {provenance.date}"
    blocks = (
        f"{'#' * level} {_text(title)}",
        _text(summary(suite_result)),
        _table(_SCORE_HEADS, [_score(n, r, finding(r)) for n, r in scores.items()]),
        _table(
            _TEST_HEADS,
            [_test(n, r, finding(r, n in alarms, shifted), n in alarms) for n, r in tests.items()],
        ),
        "\n".join(["Left out:", "", *left_out]) if left_out else "",
        _text(f"{READ_BASELINE} {READ_TESTS}" if tests else READ_BASELINE),
        _text("; ".join(filter(None, [sizes, made]))),
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def flat_metrics(suite_result: SuiteResult, *, prefix: str = "") -> dict[str, float]:
    """Return finite numbers by legal names; see :meth:`skeval.SuiteResult.to_metrics`."""
    found = suite_result.verdict()
    flat = {
        "verdict.alarm": float(found.alarm),
        "verdict.copies": float(found.copies),
        "verdict.n_tests": float(found.n_tests),
        "verdict.n_facts": float(len(found.facts)),
    }
    for name, result in suite_result.items():
        row = result.row()
        flat |= {name: result.value, **{f"{name}.{field}": row[field] for field in _FIELDS}}
    metrics: dict[str, float] = {}
    for name, value in flat.items():
        if math.isfinite(as_float(value)):
            metrics[_unlike(_legal(prefix + name), metrics)] = float(value)
    return metrics


def _legal(name: str) -> str:
    """Return a name that trackers take: of plain letters, a path that cannot be shorter."""
    parts = (part.strip() for part in _ILLEGAL.sub("_", name).split("/"))
    return "/".join(part for part in parts if part.strip("."))[:_MAX_LENGTH].rstrip("/ ") or "_"


def _unlike(name: str, taken: dict[str, float]) -> str:
    """Return a name that is none of those taken; trackers may not tell upper from lower case."""
    lower, number_, unique = {one.lower() for one in taken}, 1, name
    while unique.lower() in lower:
        number_ += 1
        unique = f"{name}_{number_}"
    return unique


def _table(heads: tuple[str, ...], rows: list[str]) -> str:
    return "\n".join([_line(heads), _line(["---"] * len(heads)), *rows]) if rows else ""


def _score(name: str, result: Result, said: str) -> str:
    cells = (
        shown_interval(result.interval),
        number(result.baseline),
        shown_difference(result),
        result.tags.direction if result.tags is not None else "",
        evidence(result),
        said,
    )
    return _line([_text(name), number(result.value), *map(_text, cells)])


def _test(name: str, result: Result, said: str, alarm: bool) -> str:
    observed, against = numbers_tested(result)
    cells = (
        against,
        number(result.value),
        shown_interval(result.interval),
        number(result.baseline),
        result.tags.direction if result.tags is not None else "",
        evidence(result),
        said,
    )
    return _line([_text(name), f"**{observed}**" if alarm else observed, *map(_text, cells)])


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Return text that Markdown shows as it is: names of columns may hold anything."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(text.split()))
