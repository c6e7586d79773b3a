"""The distribution of each column in each table, as bins or categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.reporting.document.details import mapping_at, number_at, texts_at
from skeval.reporting.document.shares import Shares
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import as_float

_MISSING, _OTHERS = "missing", " others"
_ROLES = ("train", "synthetic", "holdout")
_DAY, _YEAR = 86_400.0, 31_557_600.0  # seconds


@dataclass(frozen=True)
class Distribution:
    """A column: bins from one end to another, or categories, and the values next to them."""

    column: str
    ends: tuple[str, str] | None  # None for categories
    labels: tuple[str, ...]  # one per category
    shares: Shares
    extra_labels: tuple[str, ...]  # single numbers or pooled categories, missing and new values
    extra: Shares
    similarity: float = math.nan
    unseen: float = math.nan


def find_distributions(results: SuiteResult) -> tuple[Distribution, ...]:
    """Return all columns of the first result that has their distributions."""
    for result in results.values():
        if result.error or (result.tags is not None and "text" in result.tags.needs):
            continue
        marginals = mapping_at(result.details, "marginals")
        known = [_read(column, one, result) for column, one in marginals.items()]
        if found := [one for one in known if one is not None]:
            return tuple(found)
    return ()


def _read(column: str, marginal: Any, result: Result) -> Distribution | None:
    shares = mapping_at(marginal, "shares")
    try:
        tables = {role: np.asarray(shares[role], dtype=float) for role in _ROLES if role in shares}
        given = mapping_at(marginal).get("edges")
        edges = [] if given is None else list(map(as_float, given))
    except (TypeError, ValueError):
        return None
    labels = texts_at(marginal, "labels")
    outside = "outside" if edges else "new"
    names = (*([""] * (len(edges) - 1) if edges else ()), *labels, _MISSING, outside)
    if "train" not in tables or "synthetic" not in tables:
        return None
    if any(table.shape != (len(names),) for table in tables.values()):
        return None
    has_others = not edges and bool(labels) and labels[-1].endswith(_OTHERS)
    n_own = len(edges) - 1 if edges else len(labels) - has_others
    is_shown = np.max(list(tables.values()), axis=0) > 0.0
    extra = [i for i in range(n_own, len(names)) if is_shown[i]]
    return Distribution(
        column,
        ends_of_axis(marginal) if edges else None,
        () if edges else labels[:n_own],
        _pick(tables, range(n_own)),
        tuple(names[i] for i in extra),
        _pick(tables, extra),
        number_at(result.details, "columns", column),
        number_at(result.details, "baseline_columns", column),
    )


def _pick(tables: Mapping[str, np.ndarray], places: Sequence[int]) -> Shares:
    picked = {role: tuple(table[list(places)].tolist()) for role, table in tables.items()}
    return Shares(picked["train"], picked["synthetic"], picked.get("holdout", ()))


def ends_of_axis(axis: Any) -> tuple[str, str] | None:
    """Return the two ends of an axis of numbers, or its first and its last category."""
    labels, given = texts_at(axis, "labels"), mapping_at(axis).get("edges")
    try:
        edges = [] if given is None else list(map(as_float, given))
    except (TypeError, ValueError):
        return None
    if len(edges) > 1:
        is_date = str(mapping_at(axis).get("kind")) == "datetime"
        return _label_ends(edges[0], edges[-1], is_date=is_date)
    return (labels[0], labels[-1]) if labels else None


def _label_ends(low: float, high: float, *, is_date: bool) -> tuple[str, str]:
    if is_date:
        n_letters = 16 if high - low < 3 * _DAY else 10 if high - low < 3 * _YEAR else 7
        first, last = (str(np.datetime64(int(end), "s"))[:n_letters] for end in (low, high))
        return first.replace("T", " "), last.replace("T", " ")
    if low % 1.0 == 0.5 and high % 1.0 == 0.5:  # bins of whole numbers
        low, high = low + 0.5, high - 0.5
    return format_end(low), format_end(high)


def format_end(value: float) -> str:
    """Return an end of an axis in three digits, and never with an exponent."""
    if abs(value) >= 100.0:
        text = f"{value:,.0f}"
    else:
        text = np.format_float_positional(value, precision=3, fractional=False, trim="-")
    return text.replace("-", "\N{MINUS SIGN}")
