"""What is wrong with each column, over all metrics of a suite: which ones to mend first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.reporting.scores import entries, matrix_of, names_of, number_of, numbers_of
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL, TEST_LEVEL, is_shifted
from skeval.utils.formatting import as_float, format_mean_count, number, percent, title_of

# by how much a score falls short before it is spoken of: of fresh real rows, and of the best value
_BEHIND_FRESH, _BEHIND_BEST = 0.02, 0.05
_PAIR, _ASSOCIATION = 0.05, 0.1
_VOLATILE = 0.3  # instead, for scores that a few values decide
# how what is wrong may be mended
_SHAPE = "Transform it before the fit, such as by quantiles, or pool its rarest categories."
_TOO_NEAR = "Round it or pool its rarest categories, and fit with more regularisation."
_RELATION = "Model both together."
_MADE_UP = "The generator made it up: model both together."
_EXPOSED = "Coarsen it, pool categories of fewer than ten rows, or drop it."


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong with a column."""

    table: str
    column: str
    weight: float
    text: str
    cure: str = ""

    @property
    def place(self) -> str:
        """The column, after its table where there are several."""
        return f"{self.table}.{self.column}" if self.table else self.column


def flaws(results: SuiteResult) -> list[Flaw]:
    """Return all that is wrong with columns."""
    actual: list[Flaw] = []
    shifted = is_shifted(results.notices)
    for name, result in results.items():
        tags = result.tags
        if tags is None or result.error or "relational" in tags.needs:
            continue
        if tags.aspect in ("fidelity", "diagnostic"):
            title = title_of(result.metric or name)
            actual += [*_of_scores(title, result), *_of_pairs(result)]
            actual += _of_associations(title, result)
        elif tags.aspect == "privacy" and not shifted:
            actual += _of_attacks(result)
    return actual


def worst_columns(results: SuiteResult) -> dict[str, list[Flaw]]:
    """Return the flaws by column, the column and the flaw that weigh most first.

    The heaviest of several metrics counts fully, and the others a tenth each: many say the same.
    """
    by_place: dict[str, list[Flaw]] = {}
    for flaw in sorted(flaws(results), key=lambda flaw: -flaw.weight):
        by_place.setdefault(flaw.place, []).append(flaw)

    def weight(place: str) -> float:
        first, *others = (flaw.weight for flaw in by_place[place])
        return first + 0.1 * sum(others)

    return {place: by_place[place] for place in sorted(by_place, key=lambda p: (-weight(p), p))}


def _of_scores(title: str, result: Result) -> Iterator[Flaw]:
    fresh, p_values = (numbers_of(result.details, k) for k in ("baseline_columns", "p_values"))
    tags = result.tags
    if tags is None or tags.sign == 0:
        return
    best = max(tags.bounds) if tags.sign > 0 else min(tags.bounds)
    for column, score in numbers_of(result.details, "columns").items():
        expected = fresh.get(column, math.nan)
        known = not math.isnan(expected)
        if known and p_values.get(column, math.nan) > TEST_LEVEL:
            continue
        behind = tags.sign * ((expected if known else best) - score)
        behind /= max(1.0, abs(score), abs(expected) if known else 1.0)
        most = _BEHIND_FRESH if known else _BEHIND_BEST
        if behind > (_VOLATILE if tags.volatile else most):
            beside = (
                f", fresh real rows {number(expected)}" if known else f", at best {number(best)}"
            )
            text = f"{title} {number(score)}{beside}"
            yield Flaw(result.table, column, min(behind, 1.0), text, _SHAPE)
        elif known and tags.aspect == "fidelity" and behind < -_BEHIND_BEST:
            text = (
                f"{title} {number(score)}, closer to train than fresh real rows: {number(expected)}"
            )
            yield Flaw(result.table, column, min(-behind, 1.0), text, _TOO_NEAR)


def _of_pairs(result: Result) -> Iterator[Flaw]:
    """Yield the pair of each column that agrees least beyond what its columns do by themselves."""
    names = names_of(result.details)
    matrix, ceiling = (matrix_of(result.details, k, len(names)) for k in ("matrix", "ceiling"))
    if matrix is None or ceiling is None:
        return
    gaps = ceiling - matrix
    own = np.clip(np.nan_to_num(np.diag(gaps)), 0.0, None)
    beyond = gaps - np.add.outer(own, own)
    np.fill_diagonal(beyond, np.nan)
    for i, j in _largest(beyond, _PAIR):
        values = (number(each[i, j]) for each in (matrix, ceiling))
        text = "its pair with {} agrees at {}, at best {}".format(names[j], *values)
        # of a pair, the column that is in more such pairs comes first
        weight = 0.5 * float(beyond[i, j]) + float(np.nanmean(np.clip(beyond[i], 0.0, None)))
        yield Flaw(result.table, names[i], min(weight, 1.0), text, _RELATION)


def _of_associations(title: str, result: Result) -> Iterator[Flaw]:
    low, high = result.difference or (math.nan, math.nan)
    if low <= 0.0 <= high:
        return  # without a difference to fresh rows, that of a pair is chance
    names = names_of(result.details)
    train, synthetic, gaps = (
        matrix_of(result.details, key, len(names)) for key in ("train", "synthetic", "difference")
    )
    if train is None or synthetic is None or gaps is None:
        return
    change = np.abs(gaps)
    np.fill_diagonal(change, np.nan)
    for i, j in _largest(change, _ASSOCIATION):
        values = (number(each[i, j]) for each in (train, synthetic))
        text = "association with {} ({}): train {}, synthetic {}".format(names[j], title, *values)
        cure = _RELATION if abs(synthetic[i, j]) < abs(train[i, j]) else _MADE_UP
        yield Flaw(result.table, names[i], 0.5 * float(change[i, j]), text, cure)


def _largest(matrix: np.ndarray, least: float) -> Iterator[tuple[int, int]]:
    for i, row in enumerate(matrix):
        if np.isfinite(row).any() and row[j := int(np.nanargmax(row))] > least:
            yield i, j


def _of_attacks(result: Result) -> Iterator[Flaw]:
    """Yield the columns by which attacks single out train rows, or which they infer."""
    for attack, p_value in attacks_of(result):
        if not p_value <= ALARM_LEVEL:
            continue
        rates = [_rate(attack, kind) for kind in ("attack", "control")]
        secret = attack.get("secret")
        if isinstance(secret, str) and not math.isnan(sum(rates)):
            text = "inferred of {} of train rows, of {} of holdout rows".format(
                *map(percent, rates)
            )
            risk = 1.0 + number_of(attack.get("residual_risk"))
            yield Flaw(result.table, secret, risk, text, _EXPOSED)
        for column in entries(attack, "columns"):
            one = numbers_of(attack, "columns", column)
            p_of_column, n, own, other = (
                one.get(key, math.nan) for key in ("p_value", "n", "train", "holdout")
            )
            if p_of_column <= TEST_LEVEL and not math.isnan(n + own + other):
                rows = (
                    f"{format_mean_count(own)} train rows, {format_mean_count(other)} holdout rows"
                )
                text = f"its values single out {rows} in {max(1.0, n):,.0f} tries"
                weight = 1.0 + max(0.0, own - other) / max(1.0, n)
                yield Flaw(result.table, column, weight, text, _EXPOSED)


def attacks_of(result: Result) -> Iterator[tuple[Mapping[str, Any], float]]:
    """Yield the attacks in a result: what it says of each, and its p-value."""
    if entries(result.details, "control"):
        yield {**result.details, "secret": None}, as_float(result.p_value)
        return
    attacks = entries(result.details, "attacks")
    if not attacks:
        secrets = entries(result.details, "secrets")
        attacks = {name: {**entries(one), "secret": name} for name, one in secrets.items()}
    for one in attacks.values():
        attack = entries(one)
        yield attack, number_of(attack.get("p_adjusted"))


def _rate(attack: Mapping[str, Any], kind: str) -> float:
    """Return the share of tries that succeed; nan where it is not known."""
    counts = numbers_of(attack, kind)
    n, n_success = counts.get("n", math.nan), counts.get("n_success", math.nan)
    return n_success / n if n else math.nan
