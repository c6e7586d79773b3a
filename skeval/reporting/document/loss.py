"""The pair of columns whose relation is lost most, as two small tables of percentages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from skeval.reporting.document.details import mapping_at, numbers_at, texts_at
from skeval.reporting.document.distributions import format_end
from skeval.reporting.document.pairs import PairMap, find_pairs
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import as_float

_MAX_ROWS, _MAX_COLUMNS = 6, 5
_MIN_CELLS = 4  # with at least 10 training rows, for a table to show anything
_DASH = "\N{EN DASH}"
_ENDS = re.compile(f"{_DASH}| to ")  # between the two ends of a bin
_MIN_LOST, _MAX_KEPT = 0.1, 0.05  # associations of a relation that is lost completely
_MIN_SHORTFALL = 0.02  # minimum difference to the similarity of two samples of one population


@dataclass(frozen=True)
class Axis:
    """The categories or the bins of a column, and the places of each in the joint table."""

    column: str
    labels: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    is_categorical: bool


@dataclass(frozen=True)
class PairLoss:
    """A pair of columns in real and in synthetic rows. A cell of few rows is None."""

    pair: PairMap
    rows: Axis
    columns: Axis
    real: tuple[tuple[float | None, ...], ...]
    synthetic: tuple[tuple[float | None, ...], ...]
    is_of_row: bool  # percentages of the rows with the category of the row, not of all rows
    invented: tuple[tuple[bool, ...], ...]  # cells that no real row fills
    table: str = ""  # of several

    @property
    def gap(self) -> float:
        """By how much the association is weaker in synthetic rows."""
        return _gap_or_lowest(self.pair.real_association - self.pair.synthetic_association)

    @property
    def shortfall(self) -> float:
        """By how much the pair is less similar than in two samples of one population."""
        return _gap_or_lowest(self.pair.ceiling - self.pair.similarity)

    @property
    def is_weaker(self) -> bool:
        """Whether the association is clearly weaker and the pair is less similar."""
        return self.gap > _MIN_LOST and self.shortfall > _MIN_SHORTFALL

    @property
    def names(self) -> tuple[str, str]:
        """The two columns."""
        return self.columns.column, self.rows.column

    @property
    def largest_invention(self) -> tuple[str, str, float] | None:
        """The row, the column and the synthetic share of the largest cell that is invented."""
        cells = [
            (share, row, column)
            for row, shares, flags in zip(
                self.rows.labels, self.synthetic, self.invented, strict=True
            )
            for column, share, is_invented in zip(self.columns.labels, shares, flags, strict=True)
            if is_invented and share is not None
        ]
        share, row, column = max(cells, default=(0.0, "", ""))
        return (row, column, share) if cells else None

    @property
    def is_lost(self) -> bool:
        """Whether the columns are associated in real rows but not in synthetic rows."""
        is_kept = self.pair.synthetic_association > _MAX_KEPT
        return self.pair.real_association >= _MIN_LOST and not is_kept


def find_loss(results: SuiteResult) -> PairLoss | None:
    """Return the pair whose association is lost most, or else the least similar one."""
    losses = [loss for pair in find_pairs(results) if (loss := _read_loss(pair, results))]
    weaker = [loss for loss in losses if loss.is_weaker]
    if weaker:
        return max(weaker, key=lambda loss: loss.gap)
    least = max(losses, key=lambda loss: loss.shortfall, default=None)
    return least if least is not None and least.shortfall > -math.inf else None


def _gap_or_lowest(gap: float) -> float:
    return -math.inf if math.isnan(gap) else gap


def _read_loss(pair: PairMap, results: SuiteResult) -> PairLoss | None:
    """Return the pair with at most six rows and six columns; None if nothing can be shown."""
    if len(pair.axes) != 2:
        return None
    tables = {"train": pair.shares, "synthetic": pair.synthetic_shares}
    first, second = map(_read_axis, pair.columns, pair.axes)
    cells = set(pair.invented)
    if len(first.labels) < len(second.labels):  # the longer axis runs down the page
        first, second = second, first
        tables = {role: table.T for role, table in tables.items()}
        cells = {(i, j) for j, i in cells}
    rows = _shorten(first, tables["train"].sum(axis=1), _MAX_ROWS)
    columns = _shorten(second, tables["train"].sum(axis=0), _MAX_COLUMNS)
    shares = {role: _sum_places(table, rows, columns) for role, table in tables.items()}
    if min(len(rows.labels), len(columns.labels)) < 2:  # for example if all names are pooled
        return None
    if np.count_nonzero(shares["train"]) < _MIN_CELLS:
        return None
    is_known = np.maximum(shares["train"], shares["synthetic"]) > 0.0
    rows, columns = _keep(rows, is_known.any(axis=1)), _keep(columns, is_known.any(axis=0))
    shares = {role: _sum_places(table, rows, columns) for role, table in tables.items()}
    totals = {role: _row_totals(rows, role, results) for role in shares}
    is_of_row = all(total is not None for total in totals.values())
    real, synthetic = (
        _to_cells(shares[role], totals[role] if is_of_row else None) for role in shares
    )
    # a shown cell is invented if all cells that it consists of are
    invented = tuple(
        tuple(all((i, j) in cells for i in down for j in across) for across in columns.places)
        for down in rows.places
    )
    return PairLoss(pair, rows, columns, real, synthetic, is_of_row, invented)


def _read_axis(column: str, axis: Any) -> Axis:
    """Return the categories, or the bins and after them the values that many rows have."""
    labels, edges = texts_at(axis, "labels"), mapping_at(axis).get("edges")
    is_binned = isinstance(edges, list | tuple | np.ndarray) and len(edges) > 1
    if is_binned:
        is_date = str(mapping_at(axis).get("kind")) == "datetime"
        labels = (*_label_bins(list(map(as_float, edges or ())), is_date), *labels)
    return Axis(column, labels, tuple((i,) for i in range(len(labels))), not is_binned)


def _label_bins(edges: Sequence[float], is_date: bool) -> list[str]:
    if is_date:
        return [str(np.datetime64(int(edge), "s"))[:10] for edge in edges[:-1]]
    if all(edge % 1.0 == 0.5 for edge in edges):  # bins of whole numbers
        ends = [(low + 0.5, high - 0.5) for low, high in pairwise(edges)]
        return [_join_labels(*map(format_end, pair)) for pair in ends]
    return [f"\u2265{format_end(edge)}" for edge in edges[:-1]]


def _join_labels(first: str, last: str) -> str:
    """Return the label of neighboring bins, of which ranges of whole numbers name both ends."""
    low, high = _ENDS.split(first)[0], _ENDS.split(last)[-1]
    if high.startswith("\u2265") or low == high:
        return first
    between = " to " if "\N{MINUS SIGN}" in low + high else _DASH
    return f"{low}{between}{high}"


def _shorten(axis: Axis, shares: np.ndarray, most: int) -> Axis:
    """Return the most frequent categories, or neighboring bins joined."""
    n = len(axis.labels)
    if n <= most:
        return axis
    if axis.is_categorical:
        pooled = axis.labels[-1].endswith("others")
        known = range(n - 1 if pooled else n)
        kept = sorted(sorted(known, key=lambda i: -shares[i])[:most])
        labels = tuple(axis.labels[i] for i in kept)
        return Axis(axis.column, labels, tuple((i,) for i in kept), True)
    parts = [tuple(map(int, part)) for part in np.array_split(np.arange(n), most)]
    labels = tuple(_join_labels(axis.labels[part[0]], axis.labels[part[-1]]) for part in parts)
    return Axis(axis.column, labels, tuple(parts), False)


def _keep(axis: Axis, is_kept: np.ndarray) -> Axis:
    """Return the axis without places that have too few rows in both tables."""
    kept = np.flatnonzero(is_kept).tolist()
    labels, places = tuple(axis.labels[i] for i in kept), tuple(axis.places[i] for i in kept)
    return replace(axis, labels=labels, places=places)


def _sum_places(table: np.ndarray, rows: Axis, columns: Axis) -> np.ndarray:
    return np.array(
        [[table[np.ix_(down, across)].sum() for across in columns.places] for down in rows.places]
    )


def _row_totals(rows: Axis, role: str, results: SuiteResult) -> list[float] | None:
    """Return the share of each category of the rows, as its own distribution states it."""
    if not rows.is_categorical:
        return None
    for result in results.values():
        own = mapping_at(result.details, "marginals", rows.column)
        labels, shares = texts_at(own, "labels"), numbers_at(own, "shares", role)
        known = dict(zip(labels, shares, strict=False))
        if shares:
            totals = [known.get(label, 0.0) for label in rows.labels]
            return totals if all(total > 0 for total in totals) else None
    return None


def _to_cells(
    shares: np.ndarray, totals: Sequence[float] | None
) -> tuple[tuple[float | None, ...], ...]:
    scaled = shares if totals is None else shares / np.asarray(totals)[:, None]
    cells = np.where(shares > 0.0, np.minimum(scaled, 1.0), np.nan)
    return tuple(
        tuple(None if math.isnan(cell) else float(cell) for cell in row) for row in cells.tolist()
    )
