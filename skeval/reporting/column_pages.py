"""All that is known of one column in one place: marginals, scores, pairs, flaws and attacks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from skeval.reporting.filling import aspect_of, every_pair, univariate
from skeval.reporting.flaws import Flaw, worst_columns
from skeval.reporting.layout import Folded, Grid, Item, Listed, Number, Part, Words
from skeval.reporting.old_displays.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.scores import entries, matrix_of, names_of, number_of, numbers_of
from skeval.reporting.tips import names_of_bars
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL, TEST_LEVEL
from skeval.utils.formatting import format_count, number, percent, title_of

_MAX_PAIRS = 8  # of a column
_MAX_BARS = 40
_MATRICES = ("matrix", "ceiling", "train", "synthetic")
_FINE = "No metric found a fault with it."
_NO_FAULT = "no fault found"


def column_pages(results: Mapping[str, Result], columns: Any) -> tuple[Folded, ...]:
    """Return what is known of each column, to be unfolded on a web page."""
    figures = [*univariate(results, columns)[0], *every_pair(results, columns)]
    flawed: dict[str, list[Flaw]] = {}
    for found in worst_columns(SuiteResult(results)).values():
        flawed.setdefault(found[0].column, []).extend(found)
    return tuple(
        _page(name, results, flawed.get(name, []), [one for one in figures if _is_of(one, name)])
        for name in _columns(results)
    )


def _columns(results: Mapping[str, Result]) -> list[str]:
    """Return the columns that a metric of the table scored, those of the matrix first."""
    named: dict[str, None] = {}
    for result in results.values():
        if aspect_of(result) in ("fidelity", "diagnostic"):
            named |= dict.fromkeys(names_of(result.details))
    for result in results.values():
        if aspect_of(result) in ("fidelity", "diagnostic"):
            named |= dict.fromkeys(numbers_of(result.details, "columns"))
    return list(named)


def _is_of(item: Item, column: str) -> bool:
    display = item.display
    if isinstance(display, MarginalDisplay):
        return display.name == column
    return isinstance(display, PairDisplay) and column in display.columns


def _page(
    name: str, results: Mapping[str, Result], flaws: list[Flaw], figures: list[Item]
) -> Folded:
    said = tuple(dict.fromkeys(map(_sentence, flaws)))
    tables = (_scores(name, results), _pairs(name, results), _attacks(name, results))
    marginals = [one.display for one in figures if isinstance(one.display, MarginalDisplay)]
    shares = map(_shares, marginals)
    wrong: Part = Listed("What is wrong", said) if said else Words(_FINE)
    parts = (wrong, *(table for table in (*tables, *shares) if table.rows))
    return Folded(
        name, format_count(len(said), "fault") if said else _NO_FAULT, parts, tuple(figures)
    )


def _sentence(flaw: Flaw) -> str:
    return f"{flaw.text[:1].upper()}{flaw.text[1:]}. {flaw.cure}".strip()


def _scores(name: str, results: Mapping[str, Result]) -> Grid:
    """Return the scores of a column by all metrics."""
    rows = []
    for metric, result in results.items():
        scores = numbers_of(result.details, "columns")
        if name in scores and aspect_of(result) in ("fidelity", "diagnostic"):
            fresh = numbers_of(result.details, "baseline_columns").get(name, math.nan)
            title = title_of(result.metric) if result.metric else metric
            rows.append((title, _number(scores[name]), _number(fresh)))
    heads = ("Metric", "Score", "Fresh real rows")
    return Grid(heads, tuple(rows), (0.6, 0.2, 0.2), numbers=(1, 2), title="Scores")


def _number(value: float) -> Number:
    return Number(number(value), value)


def _pairs(name: str, results: Mapping[str, Result]) -> Grid:
    """Return the pairs of a column that agree least compared with the best that they could."""
    known: dict[str, dict[str, float]] = {}
    for result in results.values():
        names = names_of(result.details)
        if name not in names:
            continue
        for key in _MATRICES:
            matrix = matrix_of(result.details, key, len(names))
            if matrix is not None:
                for other, value in zip(names, matrix[names.index(name)], strict=True):
                    known.setdefault(other, {})[key] = float(value)
    known.pop(name, None)
    rows = tuple(
        (other, *(_number(known[other].get(key, math.nan)) for key in _MATRICES))
        for other in sorted(known, key=lambda other: -_gap(known[other]))[:_MAX_PAIRS]
    )
    heads = ("With", "Agrees", "At best", "Associated in train", "in synthetic")
    widths = (0.36, 0.16, 0.16, 0.16, 0.16)
    title = "Pairs that agree least" if len(known) > _MAX_PAIRS else "Pairs"
    return Grid(heads, rows, widths, numbers=(1, 2, 3, 4), title=title)


def _gap(known: Mapping[str, float]) -> float:
    """Return by how much a pair falls short, in agreement or in association."""
    values = [known.get(key, math.nan) for key in ("ceiling", "matrix", "train", "synthetic")]
    gaps = np.array([values[0] - values[1], abs(values[2] - values[3])])
    return float(np.nanmax(gaps)) if np.isfinite(gaps).any() else -math.inf


def _attacks(name: str, results: Mapping[str, Result]) -> Grid:
    """Return what attacks achieved by a column, or of it."""
    rows, alarms = list[tuple[str, ...]](), list[tuple[int, int]]()
    for attack, what, train, holdout, p_value, alarm in _attempts(name, results):
        alarms += [(len(rows), 4)] * alarm
        rows.append((attack, what, train, holdout, _number(p_value)))
    heads = ("Attack", "What it found", "Train", "Holdout", "p-value")
    widths = (0.26, 0.3, 0.15, 0.15, 0.14)
    numbers = (2, 3, 4)
    return Grid(heads, tuple(rows), widths, numbers, title="Attacks", alarms=tuple(alarms))


def _attempts(
    name: str, results: Mapping[str, Result]
) -> Iterator[tuple[str, str, str, str, float, bool]]:
    """Yield each attack that names a column: what it found, of train and of the holdout."""
    for attack, given in _named_attacks(results):
        p_adjusted = number_of(given.get("p_adjusted"))
        if given.get("secret") == name:
            rates = [percent(_rate(given, kind)) for kind in ("attack", "control")]
            what = "rows whose value is inferred"
            yield attack, what, rates[0], rates[1], p_adjusted, p_adjusted <= ALARM_LEVEL
        if name in entries(given, "columns"):
            one = numbers_of(given, "columns", name)
            n, train, holdout, p_value = (
                one.get(key, math.nan) for key in ("n", "train", "holdout", "p_value")
            )
            what = f"rows singled out in {n:,.0f} tries"
            alarm = p_adjusted <= ALARM_LEVEL and p_value <= TEST_LEVEL
            yield attack, what, f"{train:,.0f}", f"{holdout:,.0f}", p_value, alarm


def _named_attacks(results: Mapping[str, Result]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for result in results.values():
        if aspect_of(result) == "privacy":
            for name, attack in entries(result.details, "attacks").items():
                yield name, entries(attack)
            for secret, attack in entries(result.details, "secrets").items():
                yield f"inference of {secret}", {**entries(attack), "secret": secret}


def _rate(attack: Mapping[str, Any], kind: str) -> float:
    counts = numbers_of(attack, kind)
    n = counts.get("n", math.nan)
    return counts.get("n_success", math.nan) / n if n else math.nan


def _shares(display: MarginalDisplay) -> Grid:
    """Return the numbers that the figure of a column draws."""
    names, roles = names_of_bars(display.bars), list(display.shares)
    rows = tuple(
        (names[i], *(Number(percent(float(s[i])), float(s[i])) for s in display.shares.values()))
        for i in display.shown[:_MAX_BARS]
    )
    widths = (0.4, *[0.6 / max(1, len(roles))] * len(roles))
    numbers = tuple(range(1, len(roles) + 1))
    return Grid(("Value", *roles), rows, widths, numbers=numbers, title="Shares of rows")
