"""Distance to the closest record: are synthetic rows closer to train than they should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError, UnequalSizesWarning
from skeval.formatting import percent
from skeval.neighbor_metric import NeighborMetric
from skeval.parameters import Columns, Count, JobCount, Seed, Space
from skeval.result import Result
from skeval.stats.relabelling import block_sizes, least_p_value, sequential_test, shuffled
from skeval.steps.contrasts import name_of_test, set_against
from skeval.steps.neighbors import gower_engine, is_gower, nearest, pooled_masses, rows_of
from skeval.tags import CONTRAST_TAGS
from skeval.verdict import Contrast

_FEWEST_MASSES = 100  # real rows, as many alike as these are, of which the sum is normal
_N_PERMUTATIONS, _BLOCK = 9999, 1000
_LABELS = 2**21  # held at once
_UNEQUAL, _UNEQUAL_AS_PUBLISHED = 10, 2  # times as many rows, beyond which sizes are warned of
CLOSER = "synthetic rows closer to train than to the holdout"


class TrainShareScreen(NeighborMetric):
    """Base of the screens of the fraction of synthetic rows that are closer to train."""

    def __init__(
        self,
        ties: Literal["pool", "half", "holdout"] = "pool",
        scale: Literal["common", "reference"] = "common",
        *,
        num_rows_subsample: Count | None = None,
        num_iterations: Count = 1,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
        n_jobs: JobCount | None = None,
    ) -> None:
        self.ties = ties
        self.scale = scale
        self.num_rows_subsample = num_rows_subsample
        self.num_iterations = num_iterations
        super().__init__(space, columns, random_state, n_jobs)

    def _prepare(self, context: Context) -> None:
        check_iterations(type(self).__name__, self.num_iterations, self.num_rows_subsample)
        if self.scale == "reference" and not is_gower(self.space):
            raise InvalidParameterError(
                f"{type(self).__name__}: scale='reference' is defined in space='gower' only."
            )

    def _compute(self, context: Context) -> float | Result:
        found = super()._compute(context)
        if not (notices := self._size_notices(context)):
            return found
        result = found if isinstance(found, Result) else Result(found)
        return replace(result, warnings=(*result.warnings, *notices))

    def _size_notices(self, context: Context) -> tuple[UnequalSizesWarning, ...]:
        n_train, expected = self._n_train_and_expected(context)
        n_holdout = round(n_train / expected) - n_train
        allows = self._allows_for_sizes()
        most = _UNEQUAL if allows else _UNEQUAL_AS_PUBLISHED
        if max(n_train, n_holdout) <= most * min(n_train, n_holdout):
            return ()
        which = (
            "The value allows for that, but the test finds less than at equal sizes: hold out more."
            if allows
            else "The published value does not allow for that: compare equal numbers, "
            f"num_rows_subsample={min(n_train, n_holdout)}, or take the defaults."
        )
        text = (
            f"train has {n_train:,} rows and the holdout {n_holdout:,}: by chance "
            f"{percent(expected)} of the synthetic rows are closer to train. {which}"
        )
        return (UnequalSizesWarning(text),)

    def _allows_for_sizes(self) -> bool:
        """Tell whether the value is right at unequal sizes."""
        return self.ties == "pool" and self.scale == "common"

    def _n_train_and_expected(self, context: Context) -> tuple[int, float]:
        """Return the train rows of a draw, and their share of its real rows: that is chance."""
        sizes = [context.n_rows(role) for role in ("train", "holdout")]
        if self.num_rows_subsample is not None:
            sizes = [min(size, self.num_rows_subsample) for size in sizes]
        return sizes[0], sizes[0] / sum(sizes)

    def _shares(self, context: Context, columns: Any) -> list[float]:
        """Return the fraction of rows closer to train in each draw, as seen in some columns."""
        if self.ties == "pool" and self.scale == "common":
            n_train, _ = self._n_train_and_expected(context)
            # a sum of many 1/n is rounded, to keep "all" at 1
            return [round(float(a[:n_train].sum()), 12) for a in self._masses(context, columns)]
        weight = 0.0 if self.ties == "holdout" else 0.5
        return [closer_share(*sides, ties=weight) for sides in self._sides(context, columns)]

    def _masses(self, context: Context, columns: Any) -> Iterator[np.ndarray]:
        """Yield, by draw, which share of the synthetic rows each real row is the nearest of."""
        n = self.num_rows_subsample
        for seed in self._seeds():
            if is_gower(self.space):
                yield pooled_masses(context, n, columns, seed)[0]
            else:
                yield masses_of_tables(context, n, self.space, columns, seed)

    def _sides(self, context: Context, columns: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield, by draw, which synthetic rows are closer to train, and which are as close."""
        n = self.num_rows_subsample
        for seed in self._seeds():
            if is_gower(self.space) and self.scale == "common":
                of_train = pooled_masses(context, n, columns, seed)[1]
                yield of_train == 1.0, (of_train > 0.0) & (of_train < 1.0)
                continue
            sample = {"n_query": n, "n_reference": n, "seed": seed}
            to_train, to_holdout = (
                self._distances(context, "synthetic", role, columns, **sample)
                if self.scale == "common"
                else nearest_on_own_scale(context, role, n, columns, seed)
                for role in ("train", "holdout")
            )
            yield to_train < to_holdout, to_train == to_holdout

    def _seeds(self) -> range:
        return range(self.random_state, self.random_state + self.num_iterations)

    def _train_share(self, context: Context, columns: Any) -> TrainShare:
        """Return the fraction with its null: there is none where scales differ."""
        masses = self._masses(context, columns) if self.scale == "common" else ()
        n_train, _ = self._n_train_and_expected(context)
        seeds = (self.num_rows_subsample, self.num_iterations, self.random_state)
        name = name_of_test("closer", self.space, columns, *(seeds if seeds[0] else ()))
        return TrainShare(tuple(self._shares(context, columns)), tuple(masses), n_train, name)

    def _share_details(self, context: Context, columns: Any, share: TrainShare) -> dict[str, Any]:
        """Return what is said of a share: its complement, its ties, its errors."""
        ties = [np.mean(tied) for _, tied in self._sides(context, columns)]
        several = len(share.of_draws) > 1
        return {
            "closer_to_training": share.value,
            "closer_to_holdout": 1.0 - share.value,
            "expected": self._n_train_and_expected(context)[1],
            "ties": float(np.mean(ties)),
            "between_iterations": float(np.std(share.of_draws, ddof=1)) if several else 0.0,
            **share.errors(),
        }


class DCROverfittingProtection(TrainShareScreen):
    r"""Protection from overfitting: 1 where rows fall to train by chance only, 0 where all do.

    For each synthetic row, the nearest train row and the nearest holdout row are found. A
    generator that has learned the population and not its training rows makes rows that are as
    often closer to one as to the other. The value falls with the share of synthetic rows that are
    closer to train.

    Parameters
    ----------
    ties : {"pool", "half", "holdout"}, default="pool"
        What equal distances count as: divided over all nearest real rows, which alone is right
        where the tables are of unequal size; half closer to train; or as closer to the holdout, as
        SDMetrics has it, which flatters discrete tables.
    scale : {"common", "reference"}, default="common"
        Whether numeric ranges are those of train and holdout together, or of each on its own, as
        SDMetrics has it, which puts the two distances on different scales.
    chance : {"sizes", "half"}, default="sizes"
        The share of rows closer to train that has the score 1: what the sizes of the tables give by
        chance, or one half at any sizes, as SDMetrics has it. With ``ties="holdout"`` and
        ``scale="reference"`` the score is theirs.
    num_rows_subsample : int or None, default=None
        If given, this many rows of each table are drawn, `num_iterations` times, and the shares
        averaged.
    num_iterations : int, default=1
        Number of draws; more than one needs `num_rows_subsample`.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        Columns to use (in space "gower"): all, the first *n*, or a list of names.
    random_state : int, default=0
        Seed of the draws.
    n_jobs : int, optional
        Number of threads, as in joblib; the numbers do not depend on it.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`, or
        ``scale="reference"`` is asked for in another space than "gower".

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release; it does not see
    leaks of a few outliers.

    See Also
    --------
    DCRShare : The share itself, over several groups of columns.
    DCRPercentile : How near the nearest synthetic rows come.
    HoldoutDistanceRatio : Median distances to train, synthetic over holdout.

    Notes
    -----
    With p the share of synthetic rows that are closer to train, and its expectation if the
    synthetic table does not depend on which real rows were train,

    .. math:: \pi = \frac{n_T}{n_T + n_H}, \qquad
        \mathrm{score} = \min\left(1, \frac{1 - p}{1 - \pi}\right)

    which is ``2 (1 - p)`` at equal sizes: a score of 0.5 means that 75% of the rows are closer to
    train. With ``chance="half"`` it is ``min(1, 2 (1 - p))`` at any sizes, the mean of that over
    several draws, as published; three times as many train as holdout rows have a score of 0.5 by
    chance then. Where one table has more than twice as many rows as the other, and a published
    option does not allow for it, and beyond ten times in any case,
    :class:`~skeval.exceptions.UnequalSizesWarning` is given. A share clearly below ``pi`` is no
    extra protection, rather mode collapse or shift.

    The p-value is one-sided: given the synthetic rows and the pool of N real ones, all choices of
    which were train are equally likely if none was learned. The share then has the variance

    .. math:: \pi (1 - \pi) \frac{N}{N - 1} \left(\sum_j a_j^2 - \frac{1}{N}\right)

    with :math:`a_j` the share of synthetic rows whose nearest real row is j, ties divided evenly.
    The baseline is the mean score under this null, below 1 where the score is clipped there. The
    standard error counts real rows, not synthetic ones: many synthetic rows around one real row are
    one piece of evidence. The p-value is that of a normal share, but where :math:`\sum_j a_j^2`
    exceeds 0.01, since most synthetic rows lie next to few real ones, the share is held against
    random choices. ``scale="reference"`` has neither null nor interval.

    ``details["closer_to_training"]`` and ``details["closer_to_holdout"]`` are the two shares of the
    SDMetrics breakdown.

    References
    ----------
    M. Platzer, T. Reutterer, "Holdout-based empirical assessment of mixed-type synthetic data",
    Frontiers in Big Data 4 (2021), doi:10.3389/fdata.2021.679939. Published under this name by
    SDMetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DCROverfittingProtection
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> DCROverfittingProtection().fit(train, holdout).score(train)
    0.0
    """

    tags = replace(CONTRAST_TAGS, greater_is_better=True, headline=3)

    def __init__(
        self,
        ties: Literal["pool", "half", "holdout"] = "pool",
        scale: Literal["common", "reference"] = "common",
        *,
        chance: Literal["sizes", "half"] = "sizes",
        num_rows_subsample: Count | None = None,
        num_iterations: Count = 1,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
        n_jobs: JobCount | None = None,
    ) -> None:
        super().__init__(
            ties,
            scale,
            num_rows_subsample=num_rows_subsample,
            num_iterations=num_iterations,
            space=space,
            columns=columns,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.chance = chance

    def _allows_for_sizes(self) -> bool:
        return super()._allows_for_sizes() and self.chance == "sizes"

    def _measure(self, context: Context, columns: Any) -> float:
        shares = self._shares(context, columns)
        if self.chance == "half":
            return float(np.mean([protection(p, 0.5) for p in shares]))
        return protection(float(np.mean(shares)), self._n_train_and_expected(context)[1])

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        share = self._train_share(context, columns)
        details = self._share_details(context, columns, share)
        if not share.masses:
            return replace(result, details=details)
        p, pi, half = share.value, details["expected"], share.half_width()
        full = 0.5 if self.chance == "half" else pi  # the share of the score 1
        return replace(
            result,
            interval=(protection(p + half, full), protection(p - half, full)),
            p_value=share.p_value,
            baseline=mean_protection(pi, share.null_standard_error, full),
            contrast=share.contrast,
            details=details,
        )

    def _summary(self, result: Result) -> str:
        p = percent(result.details["closer_to_training"])
        return set_against(f"{p} of synthetic rows are closer to train than to the holdout", result)


def protection(p: float, full: float) -> float:
    """Return by how much a share falls short of 1, relative to that of `full` score; at most 1."""
    return min(1.0, max(0.0, (1.0 - p) / (1.0 - full)))


def mean_protection(p: float, spread: float, full: float) -> float:
    """Return the mean protection of normal shares of mean `p` and standard deviation `spread`.

    Examples
    --------
    >>> from skeval.privacy.distance_screens.dcr import mean_protection
    >>> round(mean_protection(0.5, 0.05, 0.5), 4), round(mean_protection(0.75, 0.01, 0.5), 4)
    (0.9601, 0.5)
    """
    excess, noise = (full - p) / (1.0 - full), spread / (1.0 - full)
    if noise == 0.0:
        return protection(p, full)
    clipped = excess * norm.cdf(excess / noise) + noise * norm.pdf(excess / noise)
    return float(1.0 + excess - clipped)


def check_iterations(metric: str, num_iterations: int, num_rows_subsample: int | None) -> None:
    """Raise if iterations are asked for that would all be the same."""
    if num_iterations > 1 and num_rows_subsample is None:
        raise InvalidParameterError(
            f"{metric}: num_iterations={num_iterations} repeats one computation; give "
            "num_rows_subsample, or leave num_iterations at 1."
        )


@shared
def masses_of_tables(
    context: Context, n_rows: int | None, space: Any, columns: Any, seed: int
) -> np.ndarray:
    """Return which share of the synthetic rows each real row is the nearest of, train first.

    Distances of matrices hardly tie, but for copies: a tie of the two tables is halved.
    """
    settings = {"space": space, "columns": columns, "n_query": n_rows, "n_reference": n_rows}
    searches = [
        nearest(context, "synthetic", role, seed=seed, **settings) for role in ("train", "holdout")
    ]
    d, e = (distances[:, 0] for distances, _ in searches)
    on_train = np.where(d < e, 1.0, np.where(d == e, 0.5, 0.0)) / d.size
    parts = []
    weights = {"train": on_train, "holdout": 1.0 / d.size - on_train}
    for (role, weight), (_, at) in zip(weights.items(), searches, strict=True):
        n = min(context.n_rows(role), n_rows or context.n_rows(role))
        parts.append(np.bincount(at[:, 0], weights=weight, minlength=n))
    return np.concatenate(parts)


@shared
def nearest_on_own_scale(
    context: Context, role: str, n_rows: int | None, columns: Any, seed: int
) -> np.ndarray:
    """Return distances of synthetic rows where numeric ranges are those of the role alone."""
    rows, queries = (
        rows_of(context, one, "gower", columns, n_rows, seed) for one in (role, "synthetic")
    )
    engine = gower_engine(context, columns).set_params(ranges=None).fit(rows)
    return np.asarray(engine.kneighbors(queries, 1)[0][:, 0])


@dataclass(frozen=True)
class TrainShare:
    """The share of synthetic rows closer to train, over one or several draws of the rows.

    Parameters
    ----------
    of_draws : tuple of float
        The share in each draw.
    masses : tuple of ndarray of shape (n_train + n_holdout,)
        By draw, the share of the synthetic rows whose nearest real row is this one, train first;
        empty where labels cannot be exchanged, so that there is no null.
    n_train : int
        Number of train rows in a draw.
    name : str, default=""
        Of the test.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr import TrainShare
    >>> share = TrainShare((0.75,), (np.array([0.5, 0.25, 0.25, 0.0]),), n_train=2)
    >>> round(share.z, 2), round(share.p_value, 1)
    (1.22, 0.3)
    """

    of_draws: tuple[float, ...]
    masses: tuple[np.ndarray, ...]
    n_train: int
    name: str = ""

    @property
    def value(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.of_draws))

    @property
    def contrast(self) -> Contrast:
        """The share that is tested, ties divided evenly, and its expectation over relabellings."""
        on_train = [float(a[: self.n_train].sum()) for a in self.masses]
        expected = [self.n_train / a.size for a in self.masses]
        # sums of many 1/n are rounded
        return Contrast(
            CLOSER,
            round(float(np.mean(on_train)), 12),
            float(np.mean(expected)),
            tests=(self.name,) if self.name else (),
            least_p=self.least_p,
        )

    @property
    def least_p(self) -> float:
        """The least p-value of a share of train rows, whichever real rows are the nearest."""
        n_real = min(a.size for a in self.masses)
        return least_p_value(self.n_train, n_real - self.n_train)

    @property
    def standard_error(self) -> float:
        """Standard error, each table being a sample; draws of the same rows do not lower it."""
        return float(np.mean([share_standard_error(a, self.n_train) for a in self.masses]))

    @property
    def null_standard_error(self) -> float:
        """Standard deviation over all relabellings of the real rows."""
        variances = [permutation_variance(a, self.n_train) for a in self.masses]
        return float(np.mean(np.sqrt(variances)))

    @property
    def z(self) -> float:
        """Excess over the expected share in standard errors; nan where all labels give the same."""
        null = self.null_standard_error
        excess = [float(a[: self.n_train].sum()) - self.n_train / a.size for a in self.masses]
        return float(np.mean(excess)) / null if null > 0 else float("nan")

    @property
    def p_value(self) -> float:
        """One-sided p-value, of the normal approximation; 1 where all labels give the same.

        Where the synthetic rows lie next to few real ones, it is that of random relabellings.
        """
        if np.isnan(self.z):
            return 1.0
        if min(1.0 / float(a @ a) for a in self.masses) >= _FEWEST_MASSES:
            return max(float(norm.sf(self.z)), self.least_p)  # no sum of few masses is normal
        p_values = [relabelled_p_value(a, self.n_train) for a in self.masses]
        # draws depend on each other in an unknown way: twice the mean holds whatever it is
        return p_values[0] if len(p_values) == 1 else min(1.0, 2.0 * float(np.mean(p_values)))

    def errors(self) -> dict[str, float]:
        """Return z and both standard errors; nothing without a null."""
        if not self.masses:
            return {}
        return {
            "z": self.z,
            "standard_error": self.standard_error,
            "null_standard_error": self.null_standard_error,
        }

    def half_width(self, n_shares: int = 1) -> float:
        """Return the half width of the 95% interval, or of one of several simultaneous ones.

        Near 0 and 1 the standard error vanishes: there the rule of three holds, on the real rows
        that were met.
        """
        tail = 0.05 / n_shares
        met = float(np.mean([(a**2).sum() for a in self.masses]))
        return max(float(norm.isf(tail / 2.0)) * self.standard_error, -float(np.log(tail)) * met)


def closer_share(closer: np.ndarray, tied: np.ndarray, *, ties: float) -> float:
    """Return the share of rows closer to train than to holdout; `ties` is what a tie counts.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr import closer_share
    >>> to_train, to_holdout = np.array([0, 0.2, 1, 11]), np.array([2, 0.8, 1, 8])
    >>> closer_share(to_train < to_holdout, to_train == to_holdout, ties=0.5)
    0.625
    """
    return float(np.mean(closer) + ties * np.mean(tied))


def permutation_variance(masses: np.ndarray, n_train: int) -> float:
    """Return the variance of the share of mass on train, over all relabellings of the real rows.

    Parameters
    ----------
    masses : ndarray of shape (n_train + n_holdout,)
        Share of the synthetic rows whose nearest real row is this one; they sum to 1.
    n_train : int
        How many of the real rows are labelled train.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr import permutation_variance
    >>> round(permutation_variance(np.array([0.5, 0.25, 0.25, 0.0]), n_train=2), 7)
    0.0416667
    """
    n = masses.size
    if n < 2:
        return 0.0
    pi = n_train / n
    return float(pi * (1 - pi) * n / (n - 1) * max(0.0, (masses**2).sum() - 1.0 / n))


def share_standard_error(masses: np.ndarray, n_train: int) -> float:
    """Return the standard error of the share of mass on train, each table being a sample.

    Parameters
    ----------
    masses : ndarray of shape (n_train + n_holdout,)
        Share of the synthetic rows whose nearest real row is this one, those of train first.
    n_train : int
        Number of train rows.

    Notes
    -----
    ``SE^2 = (1 - p)^2 n_T s_T^2 + p^2 n_H s_H^2``, s^2 the variances of the masses within each
    table. More synthetic rows do not make it vanish: the evidence is limited by the real rows.
    """
    train, holdout = masses[:n_train], masses[n_train:]
    p = float(train.sum())
    # the variance of a single row's mass cannot be seen: its square bounds it
    spread = [
        part.size * part.var(ddof=1) if part.size > 1 else float(part.sum() ** 2)
        for part in (train, holdout)
    ]
    return float(np.sqrt((1.0 - p) ** 2 * spread[0] + p**2 * spread[1]))


def relabelled_p_value(masses: np.ndarray, n_train: int) -> float:
    """Return how often random choices of who is train give train so large a share, one-sided.

    Parameters
    ----------
    masses : ndarray of shape (n_train + n_holdout,)
        The share of the synthetic rows whose nearest real row is this one, train first.
    n_train : int
        Number of train rows.

    Examples
    --------
    A generator that draws one row and repeats it is next to a train row in one case of five.

    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr import relabelled_p_value
    >>> masses = np.zeros(500)
    >>> masses[0] = 1.0
    >>> round(relabelled_p_value(masses, 100), 1)
    0.2
    """
    rng, labels = np.random.default_rng(0), np.arange(masses.size) < n_train
    ordered = np.sort(masses)  # the order of the rows must not matter
    width = max(1, _LABELS // masses.size)

    def shares(n: int) -> np.ndarray:
        parts = [ordered @ shuffled(labels, m, rng) for m in block_sizes(n, width)]
        return np.concatenate(parts)

    observed = float(masses[:n_train].sum())
    return sequential_test(observed, map(shares, block_sizes(_N_PERMUTATIONS, _BLOCK))).p_value
