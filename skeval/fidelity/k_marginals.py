"""Similarity of the joint distributions of sets of k columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import (
    exact_mean,
    expected_total_variation,
    hypergeometric_deviation,
    joint_counts,
    number_of_cells,
    total_variation,
)
from skeval.steps.column_choice import chosen_columns
from skeval.steps.column_sets import SubsetTables, subset_tables
from skeval.steps.columns import ROLES
from skeval.steps.pairs import Binning, joint_tables, pair_similarities
from skeval.steps.samples import drawn_subsets
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import (
    BinCount,
    Columns,
    Count,
    GroupSize,
    Legal,
    Positive,
    Seed,
    Strategy,
    is_text,
)

GroupColumn = Annotated[str, Legal("the name of a categorical or boolean column", is_text, 0)]


class Marginals(NamedTuple):
    """Scores of all sets of columns, as arrays of shape (n_subsets,)."""

    subsets: list[list[str]]
    similarity: np.ndarray
    ceiling: np.ndarray
    floor: np.ndarray
    occupied: np.ndarray
    counts: np.ndarray
    times: np.ndarray


@declared
class KMarginalSimilarity(Metric):
    """Mean similarity of the joint distributions of sets of k columns.

    For each set of k columns, for example all pairs, the metric counts the rows of both tables in
    the joint cells. The similarity is one minus the total variation distance, that is, one minus
    the fraction of synthetic rows that would have to move to another cell. The value is the mean
    over the sets. It ranges from 0 (no cell is shared) to `scale` (equal fractions in all cells).
    Higher is better.

    Parameters
    ----------
    k : int, default=2
        Number of columns per set. If a table has fewer columns, all columns form a single set.
    n_subsets : "all" or int, default="all"
        All sets of k columns, or the maximum number of distinct sets that are drawn at random. For
        example, 30 columns have 435 pairs and 4,060 sets of three.
    n_bins : int, default=10
        Number of bins of numerical and datetime columns. The 50 most frequent categories of a
        column have separate cells.
    scale : float, default=1.0
        Value of equal tables. NIST uses a scale of 1000.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or bins with equal fractions of the training rows. If a value occurs in
        at least a fraction of ``1 / n_bins`` of the training rows, it has a separate bin. The
        strategies that end with "-plain" have no such bins, see
        :class:`~skeval.tables.Discretizer`.
    group_by : str or None, default=None
        Categorical or boolean column. The other columns are also compared separately for each of
        its categories, because the whole table may be similar although no region or year is.
    min_count : int, default=10
        Minimum number of training rows of a group. Smaller groups have no score.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    random_state : int, default=0
        Seed of the sets of columns, if they are drawn, and of the independent rows of the floor.

    Raises
    ------
    InvalidParameterError
        At fit, if `group_by` is not a categorical or boolean column.

    Warnings
    --------
    Random differences grow with k, so even new real data can have a low score. Compare it with
    ``details["ceiling"]`` and ``details["floor"]``.

    See Also
    --------
    SimilarityMatrix : Columns and pairs in one matrix.
    RangeQueryError : Random conditions on a few columns.

    Notes
    -----
    The value is ``scale * mean over sets of (1 - sum_c |p_c - q_c| / 2)`` over the joint cells c.
    Missing and unseen values have separate cells. The number of cells grows with k, so random
    differences grow as well. For example, random halves of the iris table score 0.87, 0.65 and 0.45
    for k = 1, 2, 3. Therefore ``details`` contains references. ``ceiling`` is the exact expected
    score if the rows of both tables are pooled and divided again at random. ``floor`` is the score
    of rows with independent columns and the marginal distributions of the training data.
    ``calibrated`` is the position of the value between the floor (0) and the ceiling (1), without
    clipping. If it is above 1, the synthetic data are closer to the training data than real data
    are expected to be, which indicates copying. It is nan if ceiling and floor differ by at most
    ``scale * sqrt(1/n + 1/m)``, because random errors can cause this difference. ``occupied_cells``
    is the mean number of joint cells that either table uses.

    ``equivalent_subsample_fraction`` is the fraction of the training rows that, as a random sample,
    would have the same score with respect to all training rows. A real sample with the size of the
    training data corresponds to about one third of the training rows, because it does not contain
    these rows. A larger fraction is closer than real data are expected to be. ``columns`` contains
    the mean score of the sets that contain each column.

    References
    ----------
    C. Task, K. Bhagat, G. Howarth, "SDNist v2: deidentified data report tool", NIST (2023),
    doi:10.18434/mds2-2943. C. M. Bowen, J. Snoke, "Comparative study of differentially private
    synthetic data algorithms from the NIST PSCR differential privacy synthetic data challenge",
    Journal of Privacy and Confidentiality 11 (2021), doi:10.29012/jpc.748.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KMarginalSimilarity
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq"), "c": list("uvuv")})
    >>> synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq"), "c": list("uvvu")})
    >>> round(KMarginalSimilarity(scale=1000.0).fit(train).score(synthetic), 1)
    833.3
    """

    tags = replace(COLUMN_TAGS, bounds=(0.0, float("inf")))

    _halved = True  # intervals: skeval/core/intervals.py

    k: Count = 2
    n_subsets: Literal["all"] | Count = "all"
    n_bins: BinCount = 10
    scale: Positive = 1.0
    _: KW_ONLY
    strategy: Strategy = "uniform"
    group_by: GroupColumn | None = None
    min_count: GroupSize = 10
    columns: Columns = None
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        nominal = context.schema.columns("categorical", "boolean")
        if self.group_by is not None and self.group_by not in nominal:
            raise InvalidParameterError(
                f"KMarginalSimilarity: group_by must be a categorical or boolean column, among "
                f"{', '.join(nominal)}; got {self.group_by!r}."
            )

    def _names(self, context: Context) -> tuple[str, ...]:
        """Return the sorted columns, so that their order in the table is ignored."""
        return tuple(sorted(chosen_columns(context.schema, self.columns)))

    def _compute(self, context: Context) -> Result:
        names = self._names(context)
        if not names:
            return undefined_result("no column of this table can be measured.")
        settings = (self.k, self.n_subsets, Binning(self.n_bins, self.strategy), self.random_state)
        compared = marginals(context, names, *settings)
        value, ceiling, floor = map(exact_mean, compared[1:4])
        inverse_size = sum(1.0 / context.n_rows(role) for role in ROLES)
        groups = {}
        if self.group_by is not None:
            scores = _by_level(context, names, self.group_by, self.min_count, settings)
            groups["groups"] = {level: self.scale * score for level, score in scores.items()}
        text = f"fewer than {self.k} columns can be measured. Only sets of {len(names)} are "
        return Result(
            self.scale * value,
            details={
                **_of_subsets(compared, self.scale),
                "occupied_cells": exact_mean(compared.occupied),
                "ceiling": self.scale * ceiling,
                "floor": self.scale * floor,
                "calibrated": (value - floor) / (ceiling - floor)
                if abs(ceiling - floor) > np.sqrt(inverse_size)
                else math.nan,
                "equivalent_subsample_fraction": equivalent_fraction(
                    1.0 - value, compared.counts, compared.times
                ),
                **groups,
            },
            warnings=(DegenerateInputWarning(f"{text}compared."),) if len(names) < self.k else (),
            tags=replace(self.tags, bounds=(0.0, float(self.scale))),
        )

    def _value_alone(self, context: Context) -> float:
        names = self._names(context)
        if len(names) < 2 or not _all_pairs(self.k, self.n_subsets):
            return super()._value_alone(context)
        binning = Binning(self.n_bins, self.strategy)
        return self.scale * exact_mean(pair_similarities(context, names, binning))

    def _summary(self, result: Result) -> str:
        details, worst = result.details, result.details["worst_subset"]
        return (
            f"The joint distributions of {details['n_subsets']:,} sets of {details['k']} columns "
            f"have a similarity of {number(result.value)}. The ceiling (two samples of the same "
            f"population) is {number(details['ceiling'])}, and the floor (independent columns) is "
            f"{number(details['floor'])}. A random sample of "
            f"{percent(details['equivalent_subsample_fraction'])} of the training rows would have "
            f"the same score. The least similar set is {', '.join(worst['columns'])} "
            f"({number(worst['value'])})."
        )


def _of_subsets(compared: Marginals, scale: float) -> dict[str, Any]:
    """Return the mean score of the sets that contain each column, and the worst set."""
    scores = (scale * compared.similarity).tolist()
    by_column: dict[str, list[float]] = {}
    for subset, score in zip(compared.subsets, scores, strict=True):
        for name in subset:
            by_column.setdefault(name, []).append(score)
    worst = int(compared.similarity.argmin())
    return {
        "columns": {name: exact_mean(values) for name, values in by_column.items()},
        "worst_subset": {"columns": compared.subsets[worst], "value": scores[worst]},
        "k": len(compared.subsets[0]),
        "n_subsets": len(compared.subsets),
    }


def _by_level(
    context: Context,
    names: tuple[str, ...],
    column: str,
    min_count: int,
    settings: tuple[int, str | int, Binning, int],
) -> dict[str, float]:
    """Return the similarity of the other columns for each frequent category of a column."""
    others = tuple(name for name in names if name != column)
    train, synthetic = (context.column(role, column).value_counts() for role in ROLES)
    scores = {}
    for code, level in enumerate(context.levels[column]):
        if others and train.get(level, 0) >= min_count:
            scores[level] = 0.0
            if synthetic.get(level, 0) > 0:
                compared = marginals(context, others, *settings, (column, code))
                scores[level] = exact_mean(compared.similarity)
    return scores


@shared
def marginals(
    context: Context,
    names: tuple[str, ...],
    k: int,
    n_subsets: str | int,
    binning: Binning,
    seed: int,
    group: tuple[str, int] | None = None,
) -> Marginals:
    """Compare training and synthetic rows (all, or of one category) on sets of k columns."""
    drawn, rng = None, np.random.default_rng(seed)
    if not (_all_pairs(k, n_subsets) and len(names) > 1 and group is None):
        k, limit = min(k, len(names)), None if n_subsets == "all" else int(n_subsets)
        # the sets must not depend on the order of the columns
        drawn = drawn_subsets(sorted(names), k, limit, seed)
    columns, margins, n_rows, tables = _tables(context, names, drawn, binning, group)
    subsets, scores, used = [], [], []
    for subset, p, q in tables:
        train, counts = ([of[name] for name in subset] for of in (columns, margins))
        subsets.append(subset)
        scores.append(
            (
                1.0 - total_variation(p, q),
                1.0 - expected_total_variation(p, q),
                1.0 - independent_distance(train, counts, p, n_rows, rng),
                np.count_nonzero(p + q),
            )
        )
        used.append(p[p > 0])
    distinct, times = np.unique(np.concatenate(used), return_counts=True)
    similarity, ceiling, floor, occupied = np.array(scores).T
    times_each = times / len(subsets)
    return Marginals(subsets, similarity, ceiling, floor, occupied, distinct, times_each)


def _all_pairs(k: int, n_subsets: str | int) -> bool:
    return k == 2 and n_subsets == "all"


def _tables(
    context: Context,
    names: tuple[str, ...],
    drawn: list[list[str]] | None,
    binning: Binning,
    group: tuple[str, int] | None,
) -> SubsetTables:
    """Return the counts of the drawn sets of columns, or of all pairs."""
    if drawn is not None:
        return subset_tables(context, names, drawn, binning, group)
    single = joint_tables(context, "train", names, binning).single
    margins = dict(zip(names, single, strict=True))
    # all joint cells are counted, so the rows themselves are not required
    nothing = dict.fromkeys(names, np.empty(0, dtype=np.int64))
    n_rows = context.n_rows("synthetic")
    return SubsetTables(nothing, margins, n_rows, _pairs(context, names, binning))


def _pairs(
    context: Context, names: tuple[str, ...], binning: Binning
) -> Iterator[tuple[list[str], np.ndarray, np.ndarray]]:
    """Yield all pairs of columns with their counts, which are shared with other metrics."""
    train, synthetic = (joint_tables(context, role, names, binning) for role in ROLES)
    for (i, j, p), (_, _, q) in zip(train.pairs(), synthetic.pairs(), strict=True):
        yield [names[i], names[j]], p.ravel(), q.ravel()


def independent_distance(
    codes: Sequence[np.ndarray],
    margins: Sequence[np.ndarray],
    counts: np.ndarray,
    n_rows: int,
    rng: np.random.Generator,
) -> float:
    """Return the distance between a table and random rows with independent columns."""
    n_cells = [margin.size for margin in margins]
    shares = [margin / margin.sum() for margin in margins]
    if counts.size != number_of_cells(n_cells):  # too many joint cells for an array
        drawn = [rng.choice(share.size, n_rows, p=share) for share in shares]
        return total_variation(*joint_counts(codes, drawn, n_cells))
    joint = np.ones(1)
    for share in shares:
        joint = np.multiply.outer(joint, share).ravel()
    return total_variation(counts, rng.multinomial(n_rows, joint / joint.sum()))


def expected_subsample_distance(counts: np.ndarray, times: np.ndarray, n_drawn: int) -> float:
    """Return the expected total variation between a sample of rows and all rows."""
    n = round(float(counts @ times))
    deviation = hypergeometric_deviation(counts, n_drawn, n - n_drawn)
    return float((deviation * times).sum() / (2.0 * n_drawn))


def equivalent_fraction(distance: float, counts: np.ndarray, times: np.ndarray) -> float:
    """Return the fraction of the rows that, as a sample, has this expected distance to all rows."""
    n = round(float(counts @ times))
    low, high = 0, n  # the distance decreases with the number of rows and is 0 for n
    while high - low > 1:
        middle = (low + high) // 2
        if expected_subsample_distance(counts, times, middle) > distance:
            low = middle
        else:
            high = middle
    if expected_subsample_distance(counts, times, 1) < distance:
        return 0.0
    nearer = [s for s in (low, high) if s > 0]
    gaps = [abs(expected_subsample_distance(counts, times, s) - distance) for s in nearer]
    return nearer[int(np.argmin(gaps))] / n
