"""The pair of columns whose relation is lost most, as two small tables of percentages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from skeval.reporting.document.details import mapping_at, number_at, texts_at
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import as_float

_MAX_ROWS, _MAX_COLUMNS = 6, 5
_MIN_CELLS = 4  # with at least 10 training rows, for a table to show anything
_N_OUTSIDE = 2  # the last two places of an axis: missing, and outside of the training data
_DASH = "\N{EN DASH}"
_ENDS = re.compile(f"{_DASH}| to ")  # between the two ends of a bin
_MIN_LOST, _MAX_KEPT = 0.1, 0.05  # associations of a relation that is lost completely


@dataclass(frozen=True)
class Axis:
    """The categories or the bins of a column, and the places of each in the joint table."""

    column: str
    labels: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]
    is_categorical: bool


@dataclass(frozen=True)
class PairLoss:
    """A pair of columns in real and in synthetic rows; a cell of few rows is None."""

    rows: Axis
    columns: Axis
    real: tuple[tuple[float | None, ...], ...]
    synthetic: tuple[tuple[float | None, ...], ...]
    is_of_row: bool  # percentages of the rows with the category of the row, not of all rows
    invented: tuple[tuple[bool, ...], ...] = ()  # cells that no real row fills
    invented_share: float = 0.0
    real_association: float = math.nan
    synthetic_association: float = math.nan
    table: str = ""  # of several

    @property
    def gap(self) -> float:
        """By how much the association is weaker in synthetic rows."""
        gap = self.real_association - self.synthetic_association
        return -math.inf if math.isnan(gap) else gap

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
        """Whether the columns are associated in real rows, and not in synthetic ones."""
        return self.real_association >= _MIN_LOST and self.synthetic_association <= _MAX_KEPT


def find_loss(results: SuiteResult) -> PairLoss | None:
    """Return the pair whose association is lost most, or else the least similar one."""
    associations = _matrices(results, "PhikMatrixDifference", ("train", "synthetic"))
    similarities = _matrices(results, "SimilarityScore", ("ceiling", "matrix"))
    losses = [
        loss
        for result in results.values()
        for pair in _pairs(result)
        if (loss := _read_pair(pair, result.details))
    ]
    for known, least in ((associations, _MIN_LOST), (similarities, -math.inf)):
        gaps = {i: known[key][0] - known[key][1] for i, key in _keys(losses) if key in known}
        if gaps and gaps[worst := max(gaps, key=lambda i: gaps[i])] > least:
            loss = losses[worst]
            ends = associations.get(frozenset(loss.names), (math.nan, math.nan))
            return replace(loss, real_association=ends[0], synthetic_association=ends[1])
    return None


def _keys(losses: Sequence[PairLoss]) -> Iterator[tuple[int, frozenset[str]]]:
    yield from ((i, frozenset(loss.names)) for i, loss in enumerate(losses))


def _matrices(
    results: SuiteResult, metric: str, keys: tuple[str, str]
) -> dict[frozenset[str], tuple[float, float]]:
    """Return two numbers for each pair of columns, of the first result of a metric."""
    for result in results.values():
        if result.metric != metric or result.error:
            continue
        names = texts_at(result.details, "names")
        try:
            first, second = (np.asarray(result.details[key], dtype=float) for key in keys)
        except (KeyError, TypeError, ValueError):
            continue
        if first.shape == second.shape == (len(names), len(names)):
            return {
                frozenset((names[i], names[j])): (float(first[i, j]), float(second[i, j]))
                for i in range(len(names))
                for j in range(i)
            }
    return {}


def _pairs(result: Result) -> Iterator[Mapping[str, Any]]:
    pairs = result.details.get("pairs")
    if isinstance(pairs, list | tuple):
        yield from (pair for pair in pairs if isinstance(pair, Mapping))


def _read_pair(pair: Mapping[str, Any], details: Mapping[str, Any]) -> PairLoss | None:
    """Return the pair with at most six rows and six columns; None if nothing can be shown."""
    names, axes = texts_at(pair, "columns"), pair.get("axes")
    try:
        tables = {
            role: np.asarray(mapping_at(pair, "shares")[role], dtype=float)
            for role in ("train", "synthetic")
        }
    except (KeyError, TypeError, ValueError):
        return None
    if len(names) != 2 or not isinstance(axes, list | tuple) or len(axes) != 2:
        return None
    if len({table.shape for table in tables.values()}) != 1 or tables["train"].ndim != 2:
        return None
    first, second = (_read_axis(name, axis) for name, axis in zip(names, axes, strict=True))
    is_turned = len(first.labels) < len(second.labels)  # the longer axis runs down the page
    if is_turned:
        first, second = second, first
        tables = {role: table.T for role, table in tables.items()}
    rows = _shorten(first, tables["train"].sum(axis=1), _MAX_ROWS)
    columns = _shorten(second, tables["train"].sum(axis=0), _MAX_COLUMNS)
    shares = {role: _sum_places(table, rows, columns) for role, table in tables.items()}
    if np.count_nonzero(shares["train"]) < _MIN_CELLS:
        return None
    is_known = np.maximum(shares["train"], shares["synthetic"]) > 0.0
    rows, columns = _keep(rows, is_known.any(axis=1)), _keep(columns, is_known.any(axis=0))
    shares = {role: _sum_places(table, rows, columns) for role, table in tables.items()}
    totals = {role: _row_totals(rows, role, details) for role in shares}
    is_of_row = all(total is not None for total in totals.values())
    real, synthetic = (
        _to_cells(shares[role], totals[role] if is_of_row else None) for role in shares
    )
    invented = _invented_cells(pair, rows, columns, is_turned=is_turned)
    share = number_at(pair, "invented", "share")
    share = 0.0 if math.isnan(share) else share
    return PairLoss(rows, columns, real, synthetic, is_of_row, invented, share)


def _invented_cells(
    pair: Mapping[str, Any], rows: Axis, columns: Axis, *, is_turned: bool
) -> tuple[tuple[bool, ...], ...]:
    """Return which shown cells consist of cells that synthetic rows fill and no real row does."""
    known = mapping_at(pair, "invented").get("cells")
    cells = (
        {tuple(cell) for cell in known} if isinstance(known, list | tuple | np.ndarray) else set()
    )
    if is_turned:
        cells = {cell[::-1] for cell in cells}
    return tuple(
        tuple(all((i, j) in cells for i in down for j in across) for across in columns.places)
        for down in rows.places
    )


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
        return [_join_labels(*map(_format, pair)) for pair in ends]
    return [f"\u2265{_format(edge)}" for edge in edges[:-1]]


def _join_labels(first: str, last: str) -> str:
    """Return the label of neighboring bins, of which ranges of whole numbers name both ends."""
    low, high = _ENDS.split(first)[0], _ENDS.split(last)[-1]
    if high.startswith("\u2265") or low == high:
        return first
    between = " to " if "\N{MINUS SIGN}" in low + high else _DASH
    return f"{low}{between}{high}"


def _format(value: float) -> str:
    text = f"{value:,.0f}" if abs(value) >= 10 or value % 1.0 == 0 else f"{value:.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


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


def _row_totals(rows: Axis, role: str, details: Mapping[str, Any]) -> list[float] | None:
    """Return the share of each category of the rows, as its own distribution states it."""
    own = mapping_at(details, "marginals", rows.column)
    labels, shares = texts_at(own, "labels"), mapping_at(own, "shares").get(role)
    if not rows.is_categorical or not isinstance(shares, list | tuple | np.ndarray):
        return None
    known = {label: as_float(share) for label, share in zip(labels, shares, strict=False)}
    totals = [known.get(label, 0.0) for label in rows.labels]
    return totals if all(total > 0 for total in totals) else None


def _to_cells(
    shares: np.ndarray, totals: Sequence[float] | None
) -> tuple[tuple[float | None, ...], ...]:
    scaled = shares if totals is None else shares / np.asarray(totals)[:, None]
    cells = np.where(shares > 0.0, np.minimum(scaled, 1.0), np.nan)
    return tuple(
        tuple(None if math.isnan(cell) else float(cell) for cell in row) for row in cells.tolist()
    )
