"""Histograms that a report may show: no bar or axis stands for a few persons.

Numeric axes end at rounded quantiles, not at the extremes; categories that fewer than `min_count`
real rows have are pooled.
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
_TAIL = 0.005


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
    return Axis(kind, (), edges=_rounded_edges(values[np.isfinite(values)], n_bins, min_count))


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


def _rounded_edges(values: np.ndarray, n_bins: int, min_count: int) -> np.ndarray:
    """Return equal bins between the tail quantiles, rounded outwards to three digits."""
    if values.size == 0:
        return np.array([0.0, 1.0])
    tail = min(0.5, max(_TAIL, min_count / values.size))
    low, high = np.quantile(values, [tail, 1.0 - tail])
    step = 10.0 ** (np.floor(np.log10(high - low)) - 2.0) if high > low else _unit(float(low))
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step
    if high <= low:
        low, high = low - step, high + step
    distinct = np.unique(values)
    if distinct.size <= n_bins and np.all(distinct == np.round(distinct)) and distinct.size > 1:
        width = float(np.diff(distinct).min())
        bins = round((high - low) / width) + 1
        if bins <= 2 * n_bins:  # whole numbers: one bar each
            return low - width / 2.0 + width * np.arange(bins + 1)
    return np.linspace(low, high, n_bins + 1)


def _unit(value: float) -> float:
    return float(10.0 ** (np.floor(np.log10(abs(value))) - 2.0)) if value else 1.0


@shared
def bars(context: Context, role: str, column: str, n_bins: int, min_count: int) -> np.ndarray:
    """Return the bar of each row."""
    return axis(context, column, n_bins, min_count).codes(context[role][[column]])


def marginal(
    context: Context, column: str, *, n_bins: int = 30, min_count: int = 10
) -> dict[str, Any]:
    """Return one column's axis and the shares of each role's rows over its bars."""
    ax = axis(context, column, n_bins, min_count)
    return {
        **ax.to_dict(),
        "shares": {
            role: _shares(bars(context, role, column, n_bins, min_count), ax.n_bars)
            for role in _ROLES
            if role in context
        },
    }


def pair(
    context: Context, first: str, second: str, *, n_bins: int = 12, min_count: int = 10
) -> dict[str, Any]:
    """Return two columns' axes and the joint shares of train and synthetic."""
    axes = [axis(context, column, n_bins, min_count) for column in (first, second)]
    shape = (axes[0].n_bars, axes[1].n_bars)
    shares = {}
    for role in ("train", "synthetic"):
        i, j = (bars(context, role, column, n_bins, min_count) for column in (first, second))
        shares[role] = _shares(i * shape[1] + j, shape[0] * shape[1]).reshape(shape)
    return {"columns": [first, second], "axes": [ax.to_dict() for ax in axes], "shares": shares}


def _shares(codes: np.ndarray, n_bars: int) -> np.ndarray:
    return np.bincount(codes, minlength=n_bars) / max(1, len(codes))
