"""Precision and recall by nested supports around a centre."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.notices import pooled_notices
from skeval.fidelity.precision_recall import TwoSided
from skeval.results.result import Result
from skeval.stats.manifolds import is_within
from skeval.steps.balls import distance_blocks, n_drawn, radii
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.columns import ROLES
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import nearest, reference_index, rows_of
from skeval.steps.samples import sample_size
from skeval.steps.vectors import vectors
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count

LISTED, MAX_LENGTH = 5, 64  # nearest synthetic rows that are looked through before all are
_CENTRES: dict[str, Callable[..., np.ndarray]] = {"mean": np.mean, "median": np.median}


@declared
class AlphaPrecisionBetaRecall(TwoSided):
    """Harmonic mean of alpha-precision and beta-recall: 0 if a side is lost; 1 is hardly reached.

    The typical part of a table is the share a of its rows that are nearest to its centre, for all a
    from 0 to 1. Alpha-precision asks if the typical part of train holds a share a of the synthetic
    rows: fewer if rows are far out, more if the generator keeps to the centre. Beta-recall asks if
    the typical part of the synthetic table holds neighbours for a share of the train rows.

    Parameters
    ----------
    k : int, default=1
        A synthetic row covers a train row if it is no farther than the k-th nearest other train
        row.
    center : {"mean", "median"}, default="mean"
        The centre of a table, of each column.
    space : "gower", "euclidean" or transformer, default="gower"
        In which neighbours are looked for: the mean over columns of capped differences, or
        Euclidean distance of a matrix. Centres need a mean: for "gower" they, and the distances
        to them, are those of "euclidean".
    strict : bool, default=False
        Whether a synthetic row that is just as far as that neighbour counts as too far.

    See Also
    --------
    ImprovedPrecisionRecall : Supports as unions of balls.
    DensityCoverage : Balls around train rows only.

    Notes
    -----
    ``P(a)`` is the share of synthetic rows that are no farther from the centre of train than the
    a-quantile of the train rows, ``R(b)`` the share of train rows that are covered by a synthetic
    row no farther from the centre of its table than the b-quantile there. With
    ``1 - 2 (integral from 0 to 1 of |P(a) - a|)``, `alpha_precision` in ``details``, and the same
    of R, `beta_recall`, the integrals being exact, the value is their harmonic mean, of our
    choosing. Any synthetic row that is near enough may cover a train row, not only the nearest one;
    the authors' code looks at the nearest alone. Their embedding of rows into a ball is left to a
    transformer; their third number is :class:`~skeval.privacy.Authenticity`.

    Fresh rows score neither 1 nor anything fixed: about 0.96 and 0.68 for 500 rows of ten columns.
    Read both against ``details["holdout"]``. Copies of train do not score 1 either.

    References
    ----------
    A. M. Alaa et al., "How faithful is your synthetic data? Sample-level metrics for evaluating and
    auditing generative models", ICML 2022, arXiv:2102.08921.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import AlphaPrecisionBetaRecall
    >>> train = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    >>> metric = AlphaPrecisionBetaRecall(space="euclidean").fit(train)
    >>> result = metric.evaluate(pd.DataFrame({"x": [0.1, 0.2, 2.9, 10.0]}))
    >>> result.details["beta_recall"]
    0.625
    """

    _parts = ("alpha_precision", "beta_recall")

    k: Count = 1
    center: Literal["mean", "median"] = "mean"
    _: KW_ONLY
    strict: bool = False

    def _measure(self, context: Context) -> dict[str, Any]:
        settings = self._settings(context)
        train, synthetic = _norms(context, "train", self.center, *settings)
        precision = integrated_agreement(levels_among(synthetic, train))
        standing = lowest_levels(context, self.k, self.center, self.strict, *settings)
        return {
            "alpha_precision": precision,
            "beta_recall": integrated_agreement(standing),
            "covered": float(np.isfinite(standing).mean()),
        }

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if not is_gower(self.space) or np.isnan(result.value):
            return result
        pooled = pooled_notices(context, "euclidean")  # distances are Gower's, centres are vectors
        return replace(result, warnings=(*result.warnings, *pooled))

    def _summary(self, result: Result) -> str:
        return (
            "From the centre outwards, synthetic rows fill the typical parts of train at "
            f"{percent(result.details['alpha_precision'])}, and stand for train rows at "
            f"{percent(result.details['beta_recall'])}."
        )


@shared
def _norms(
    context: Context,
    centred_on: str,
    center: str,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far train and synthetic rows are from the centre of one of the two tables."""
    rows = {role: vectors(context, role, space, columns, max_rows, seed) for role in ROLES}
    centre = _CENTRES[center](rows[centred_on], axis=0)
    train, synthetic = (np.sqrt(((rows[role] - centre) ** 2).sum(axis=1)) for role in rows)
    # rows that are equally far but for rounding are equally far
    unit = max(float(train.max()), float(synthetic.max())) or 1.0
    return np.round(train / unit, 12), np.round(synthetic / unit, 12)


@shared
def lowest_levels(
    context: Context,
    k: int,
    center: str,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the least level of the synthetic rows that stand for each train row.

    Infinite where none does.
    """
    settings = (space, columns, max_rows, seed)
    levels = rank_levels(_norms(context, "synthetic", center, *settings)[1])
    radius = radii(context, "train", k, *settings)
    distances, rows = nearest(
        context,
        "train",
        "synthetic",
        k=min(LISTED, n_drawn(context, "synthetic", max_rows)),
        space=space,
        columns=columns,
        n_query=max_rows,
        n_reference=max_rows,
        seed=seed,
    )
    lowest, is_full = _lowest_levels(distances, rows, radius, levels, strict)
    more = np.flatnonzero(is_full)
    if more.size:
        size = sample_size(context, "synthetic", max_rows)
        index = reference_index(context, "synthetic", space, columns, size, seed if size else 0)
        queries = rows_of(
            context, "train", space, columns, sample_size(context, "train", max_rows), seed
        )
        listed = index.kneighbors(queries[more], min(MAX_LENGTH, levels.size))
        lowest[more], is_full = _lowest_levels(*listed, radius[more], levels, strict)
        more = more[is_full]
    if more.size:
        lowest[more] = _lowest_of_all(context, more, radius[more], levels, strict, *settings)
    return lowest


def _lowest_levels(
    distances: np.ndarray, rows: np.ndarray, radius: np.ndarray, levels: np.ndarray, strict: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least level of the rows listed in each ball, and where more may be inside."""
    inside = is_within(distances, radius[:, None], strict)
    lowest = np.where(inside, levels[rows], np.inf).min(axis=1)
    return lowest, inside[:, -1] & (rows.shape[1] < levels.size)


def _lowest_of_all(
    context: Context,
    positions: np.ndarray,
    radius: np.ndarray,
    levels: np.ndarray,
    strict: bool,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the least level in the balls of some train rows, which many synthetic rows are in."""
    train, synthetic = (
        rows_of(context, role, space, columns, sample_size(context, role, max_rows), seed)
        for role in ROLES
    )
    # of equal rows one is enough, and where there are many in a ball, most are equal
    queries, which = _distinct(train[positions], radius)
    ball = np.full(len(queries), np.nan)
    ball[which] = radius
    rows, places = _distinct(synthetic, levels)
    level = np.full(len(rows), np.nan)
    level[places] = levels
    least = np.empty(len(queries))
    for block, distances in distance_blocks(context, queries, rows, space, columns):
        if is_gower(space):  # as the neighbour engine has them
            width = synthetic.shape[1] * 2.0**32
            distances = np.round(distances * width) / width
        inside = is_within(distances, ball[block, None], strict)
        least[block] = np.where(inside, level, np.inf).min(axis=1)
    lowest: np.ndarray = least[which]
    return lowest


def _distinct(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that differ, by themselves or by their label, and which one each row is."""
    marked = np.nan_to_num(np.column_stack([rows, labels]), nan=-np.inf)
    _, first, which = np.unique(marked, axis=0, return_index=True, return_inverse=True)
    return rows[first], which.ravel()


def integrated_agreement(levels: np.ndarray) -> float:
    """Return 1 less twice the area between a distribution of levels and the diagonal."""
    steps = np.sort(levels[levels <= 1.0])
    share = np.arange(steps.size + 1) / levels.size
    ends = np.concatenate([[0.0], steps, [1.0]])
    low, high = ends[:-1] - share, ends[1:] - share
    # the integral of |a - c| is (a - c) |a - c| / 2
    area = (high * np.abs(high) - low * np.abs(low)).sum() / 2.0
    return float(np.clip(1.0 - 2.0 * area, 0.0, 1.0))


def levels_among(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Get the least level whose quantile of the reference reaches each value; infinite if none."""
    # Quantiles are interpolated linearly.
    ordered = np.sort(reference)
    at = np.searchsorted(ordered, values, side="left")
    after = np.minimum(at, ordered.size - 1)
    before = np.maximum(at - 1, 0)
    width = ordered[after] - ordered[before]
    part = np.divide(values - ordered[before], width, out=np.zeros(values.shape), where=width > 0)
    levels = (before + part) / max(1, ordered.size - 1)
    return np.where(at == 0, 0.0, np.where(at == ordered.size, np.inf, levels))


def rank_levels(values: np.ndarray) -> np.ndarray:
    """Return the share of the values that are at most each of them."""
    return np.searchsorted(np.sort(values), values, side="right") / values.size
