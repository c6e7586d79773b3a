"""Histograms that a report may show: no bar or axis stands for a few persons.

Numeric axes end at rounded quantiles, not at the extremes; categories that fewer than `min_count`
rows of train have are pooled. Bars, joint cells, "others", missing and unseen included, that hold
fewer than `min_count` rows of train or holdout are blank: 0, so that the shares of real tables
need not sum to 1. The synthetic table is no person's data and is shown in full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.preprocessing import category_codes, numbers

__all__ = ["marginal", "pair"]

_ROLES = ("train", "holdout", "synthetic")
_MAX_BARS = 15
_MANY_WHOLE = 10_000  # whole numbers over a wider span are drawn as any numbers
_TAIL = 0.005
# beyond these, bins overflow; dates are seconds, and pandas counts nanoseconds in 64 bits
_LARGEST, _SMALLEST, _LATEST = 1e307, 1e-300, 9.2e9


@dataclass(frozen=True)
class Axis:
    """How one column is drawn: numbers between `edges` or bars `labels`; then missing, unseen."""

    kind: str
    labels: tuple[str, ...]
    edges: np.ndarray | None = None
    shown: np.ndarray | None = None

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the bar of each value of a one-column frame."""
        n_bars = len(self.labels) if self.edges is None else len(self.edges) - 1
        if self.edges is not None:
            values = numbers(frame).ravel()
            bars = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, n_bars - 1)
        else:
            values = category_codes(frame).ravel()
            lookup = np.asarray(self.shown)
            known = np.where(np.isnan(values) | (values >= len(lookup)), len(lookup), values)
            bars = np.append(lookup, n_bars + 1)[known.astype(np.int64)]
        return np.where(np.isnan(values), n_bars, bars).astype(np.int64)

    @property
    def n_bars(self) -> int:
        """Number of bars, missing and unseen included."""
        return (len(self.labels) if self.edges is None else len(self.edges) - 1) + 2

    def to_dict(self) -> dict[str, Any]:
        """Return what a display needs."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "edges": None if self.edges is None else self.edges.tolist(),
        }


@shared
def axis(context: Context, column: str, n_bins: int, min_count: int) -> Axis:
    """Return the axis of a column, learnt from train."""
    frame, kind = context.train[[column]], context.schema.kinds[column]
    if isinstance(frame[column].dtype, pd.CategoricalDtype):
        return _bars(frame, kind, min_count)
    values = numbers(frame).ravel()
    limit = _LATEST if kind == "datetime" else _LARGEST
    values = np.clip(values[np.isfinite(values)], -limit, limit)
    return Axis(kind, (), edges=_edges(values, n_bins, min_count, limit))


def _bars(frame: pd.DataFrame, kind: str, min_count: int) -> Axis:
    levels = list(frame.iloc[:, 0].cat.categories)
    codes = category_codes(frame).ravel()
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=len(levels))
    order = np.argsort(-counts, kind="stable")
    kept = [int(i) for i in order[:_MAX_BARS] if counts[i] >= min_count]
    pooled = int((counts > 0).sum()) - len(kept)
    labels = [levels[i] for i in kept] + ([f"{pooled} others"] if pooled else [])
    shown = np.full(len(levels), len(kept), dtype=np.int64)
    shown[kept] = np.arange(len(kept))
    shown[counts == 0] = len(labels) + 1  # holdout may have levels that train has not
    return Axis(kind, tuple(labels), shown=shown)


def _edges(values: np.ndarray, n_bins: int, min_count: int, limit: float) -> np.ndarray:
    """Return equal bins between ends that no single value determines."""
    if values.size < max(2, 2 * min_count):
        return np.linspace(*_enclosing_powers(values, limit), n_bins + 1)
    tail = min(0.5, max(_TAIL, min_count / values.size))
    low, high = np.quantile(values, [tail, 1.0 - tail])
    whole = _edges_of_whole_numbers(values, n_bins, float(low), float(high))
    return np.linspace(*_rounded(low, high, limit), n_bins + 1) if whole is None else whole


def _enclosing_powers(values: np.ndarray, limit: float) -> tuple[float, float]:
    """Return powers of ten around so few values that their quantiles would be someone's."""
    greatest = max(float(np.abs(values).max(initial=0.0)), _SMALLEST)
    high = min(10.0 ** np.ceil(np.log10(greatest)), limit) if values.any() else 1.0
    return (-high if (values < 0).any() else 0.0), high


def _rounded(low: float, high: float, limit: float) -> tuple[float, float]:
    """Return the ends moved outwards to even multiples of the second digit of their distance."""
    size = max(abs(low), abs(high), _SMALLEST)
    finest = max(size * 1e-12, _SMALLEST)  # finer steps are lost in the ends' own digits
    span = high - low if high > low else 0.1 * size if size > _SMALLEST else 10.0
    step = 2.0 * 10.0 ** (np.floor(np.log10(max(span, finest))) - 1.0)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    if high <= low:
        low, high = low - step, high + step
    return max(float(low), -limit), min(float(high), limit)


def _edges_of_whole_numbers(
    values: np.ndarray, n_bins: int, low: float, high: float
) -> np.ndarray | None:
    """Return bars that hold equally many whole numbers each; None if the values are not such."""
    distinct = np.unique(values)
    if distinct.size < 2 or not np.array_equal(distinct, np.round(distinct)):
        return None
    low, high = np.floor(low), np.ceil(high)
    width = float(np.diff(distinct).min())
    if distinct.size > n_bins:  # else some bars would hold one number more than others
        width = np.ceil((high - low + 1.0) / n_bins)
        low = np.floor(low / width) * width
    n_bars = np.ceil((high - low + 1.0) / width)
    if not 2.0 <= n_bars <= 2 * n_bins or high - low > _MANY_WHOLE:
        return None
    # an edge lies half a number below the first, or half a bar where every number has its own
    start = low - (width if distinct.size <= n_bins else 1.0) / 2.0
    return np.asarray(start + width * np.arange(int(n_bars) + 1))


@shared
def bars(context: Context, role: str, column: str, n_bins: int, min_count: int) -> np.ndarray:
    """Return the bar of each row."""
    return axis(context, column, n_bins, min_count).codes(context[role][[column]])


def marginal(
    context: Context, column: str, *, n_bins: int | None = None, min_count: int = 10
) -> dict[str, Any]:
    """Return one column's axis and the shares of each role's rows over its bars.

    Bars of fewer than `min_count` train or holdout rows are blank. There are 30 bars, fewer where
    train has few rows.
    """
    if n_bins is None:
        n_bins = int(np.clip(context.n_rows("train") // (3 * min_count), 5, 30))
    ax = axis(context, column, n_bins, min_count)
    return {
        **ax.to_dict(),
        "shares": {
            role: _shares(
                bars(context, role, column, n_bins, min_count), ax.n_bars, _least(role, min_count)
            )
            for role in _ROLES
            if role in context
        },
    }


def pair(
    context: Context, first: str, second: str, *, n_bins: int | None = None, min_count: int = 10
) -> dict[str, Any]:
    """Return two columns' axes and the joint shares of train and synthetic.

    Joint cells of fewer than `min_count` rows are blank, in both tables alike, so that what is
    drawn compares. There are 12 x 12 cells, fewer where train has few rows.
    """
    if n_bins is None:
        n_bins = int(np.clip((context.n_rows("train") / (3 * min_count)) ** 0.5, 3, 12))
    axes = [axis(context, column, n_bins, min_count) for column in (first, second)]
    shape = (axes[0].n_bars, axes[1].n_bars)
    shares = {}
    for role in ("train", "synthetic"):
        i, j = (bars(context, role, column, n_bins, min_count) for column in (first, second))
        cells = i * shape[1] + j
        shares[role] = _shares(cells, shape[0] * shape[1], min_count).reshape(shape)
    return {"columns": [first, second], "axes": [ax.to_dict() for ax in axes], "shares": shares}


def _least(role: str, min_count: int) -> int:
    """Return how many rows a bar must hold to be shown."""
    return 0 if role == "synthetic" else min_count


def _shares(codes: np.ndarray, n_bars: int, least: int) -> np.ndarray:
    counts = np.bincount(codes, minlength=n_bars)
    return np.where(counts < least, 0, counts) / max(1, len(codes))
