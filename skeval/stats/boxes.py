"""Boxes around rows, a tolerance wide in every column, and what lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from skeval.stats.disclosure import joint_classes

__all__ = ["BoxScale", "any_within", "box_points", "lists_within"]

_SLACK = 1e-9  # of the unit that tolerances are in: bounds belong to the box
_APART = 2.0  # between rows that differ in a category; boxes have a radius of 1
_BEYOND = 2.0  # ranges beyond the real values at which numbers are cut: more than any tolerance
_FAR = 1e4  # more than the logarithm of any number
_MISSING, _OTHER = 2, 3  # states of a number beside its sign


@dataclass(frozen=True)
class BoxScale:
    """What a tolerance is a share of, column by column.

    Attributes
    ----------
    low, span : ndarray of shape (n_numbers,)
        Least real value and range of each column of numbers; where the range is 0, values agree or
        not.
    relative : ndarray of bool of shape (n_numbers,)
        Whether the tolerance is a share of the number at the centre of a box, and not of the range.
    tolerance : float
        In [0, 1], below 1 where it is relative.
    """

    low: np.ndarray
    span: np.ndarray
    relative: np.ndarray
    tolerance: float

    def coordinates(self, numbers: np.ndarray, *, centre: bool) -> np.ndarray:
        """Return numbers on the scale where boxes have radius 1; 0 where missing.

        With t at most a share of `tol` off s, ``log(t / s)`` lies between ``log(1 - tol)`` and
        ``log(1 + tol)``: the centre of a relative box is shifted to the middle between the two.
        """
        found = np.zeros(numbers.shape)
        for j, values in enumerate(numbers.T):
            present = ~np.isnan(values)
            if self.relative[j]:
                up, down = np.log1p(self.tolerance), np.log1p(-self.tolerance)
                present &= values != 0.0
                logs = np.minimum(np.log(np.abs(values[present])), _FAR)
                shift = (up + down) / 2.0 if centre else 0.0
                found[present, j] = (logs + shift) / ((up - down) / 2.0 + _SLACK)
            elif self.span[j] > 0.0:
                shares = (values[present] - self.low[j]) / self.span[j]
                shares = np.clip(shares, -_BEYOND, 1.0 + _BEYOND)
                found[present, j] = shares / (self.tolerance + _SLACK)
        return found

    def states(self, numbers: np.ndarray) -> np.ndarray:
        """Return what two numbers must share whatever the tolerance: sign, value, missing."""
        constant = np.where(numbers == self.low, 0, _OTHER)
        of_range = np.where(self.span > 0.0, 0, constant)
        with np.errstate(invalid="ignore"):
            signs = np.sign(numbers)
        found = np.where(self.relative, np.where(np.isnan(signs), 0, signs), of_range)
        return np.where(np.isnan(numbers), _MISSING, found).astype(np.int64)


def box_points(
    tables: Sequence[tuple[np.ndarray, np.ndarray]], centres: Sequence[bool], scale: BoxScale
) -> list[np.ndarray]:
    """Return rows as points of which two match if no coordinate differs by more than 1.

    Parameters
    ----------
    tables : sequence of (numbers, codes)
        Of shape (n, n_numbers) and (n, n_codes) each; missing is nan, or a code of its own.
    centres : sequence of bool
        Whether the rows of each table are the centres of boxes, or what is looked for in them.
    scale : BoxScale
        The tolerances.

    Returns
    -------
    list of ndarray of shape (n, 1 + n_numbers)
        The first coordinate is the number of the combination of codes, far from that of others.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.boxes import BoxScale, any_within, box_points
    >>> scale = BoxScale(np.zeros(1), np.ones(1), np.array([True]), tolerance=0.01)
    >>> no_codes = np.empty((2, 0), dtype=np.int64)
    >>> synthetic, train = np.array([[100.9], [101.5]]), np.array([[100.0], [50.0]])
    >>> s, t = box_points([(synthetic, no_codes), (train, no_codes)], [True, False], scale)
    >>> any_within(s, t)
    array([ True, False])
    """
    agree = np.concatenate(
        [np.column_stack([codes, scale.states(numbers)]) for numbers, codes in tables]
    )
    groups = np.split(
        joint_classes(agree).astype(np.float64),
        np.cumsum([len(numbers) for numbers, _ in tables])[:-1],
    )
    return [
        np.column_stack([_APART * group, scale.coordinates(numbers, centre=centre)])
        for group, (numbers, _), centre in zip(groups, tables, centres, strict=True)
    ]


def any_within(queries: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return for each query whether a point differs by at most 1 in every coordinate.

    Parameters
    ----------
    queries, points : ndarray of shape (n, n_coordinates), (m, n_coordinates)
        Finite.

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    tree = _tree(pd.DataFrame(points).drop_duplicates().to_numpy())
    # a point that is found is proof enough, and is found sooner if it need not be the nearest
    distances, _ = tree.query(queries, p=np.inf, eps=1.0, distance_upper_bound=1.0)
    found: np.ndarray = distances <= 1.0
    distances, _ = tree.query(queries[~found], p=np.inf, distance_upper_bound=1.0)
    found[~found] = distances <= 1.0
    return found


def lists_within(queries: np.ndarray, points: np.ndarray, longest: int) -> np.ndarray:
    """Return the positions of the nearest points that differ by at most 1 in every coordinate.

    Parameters
    ----------
    queries, points : ndarray of shape (n, n_coordinates), (m, n_coordinates)
        Finite; the points distinct and in an order that depends on their values alone, since which
        of equally near points are cut off follows from it.
    longest : int
        The greatest number of positions.

    Returns
    -------
    ndarray of shape (n, longest)
        -1 where there are no more.
    """
    k = list(range(1, longest + 1))
    distances, positions = _tree(points).query(queries, k, p=np.inf, distance_upper_bound=1.0)
    return np.where(distances <= 1.0, positions, -1)


def _tree(points: np.ndarray) -> cKDTree:
    # a balanced tree would look for the median of long runs of equal numbers
    return cKDTree(points, balanced_tree=False)
