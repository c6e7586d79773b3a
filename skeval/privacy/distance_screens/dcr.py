"""Distance to the closest record: are synthetic rows closer to train than they should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy.stats import norm

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.parameters import Columns, Count, Seed, Space
from skeval.result import Result, undefined
from skeval.stats.proximity import closer_share, permutation_variance, share_standard_error
from skeval.steps.neighbors import gower_engine, is_gower, nearest, pooled_masses, rows_of
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags


class DCROverfittingProtection(Metric):
    """Protection from overfitting: 1 where rows fall to train by chance only, 0 where all do.

    For each synthetic row, the nearest train row and the nearest holdout row are found. A
    generator that has learnt the population and not its training rows makes rows that are as often
    closer to one as to the other. The value falls with the share of synthetic rows that are closer
    to train.

    Parameters
    ----------
    ties : {"pool", "half", "holdout"}, default="pool"
        What equal distances count as: divided over all nearest real rows, which alone is right
        where the tables are of unequal size; half closer to train; or as closer to the holdout, as
        SDMetrics has it, which flatters discrete tables.
    scale : {"common", "reference"}, default="common"
        Whether numeric ranges are those of train and holdout together, or of each on its own, as
        SDMetrics has it, which puts the two distances on different scales.
    num_rows_subsample : int or None, default=None
        If given, so many rows of each table are drawn, `num_iterations` times, and the shares
        averaged.
    num_iterations : int, default=1
        Number of draws; more than one needs `num_rows_subsample`.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the draws.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`, or
        ``scale="reference"`` is asked for in another space than "gower".

    Notes
    -----
    ``min(1, (1 - p) / (1 - pi))`` with p the share closer to train and ``pi = n_T / (n_T + n_H)``
    its expectation if the synthetic table does not depend on which real rows were train; ``2 (1 -
    p)`` at equal sizes. A score of 0.5 thus means that 75% of the rows are closer to train.
    ``details["closer_to_training"]`` and ``details["closer_to_holdout"]`` are the two shares of
    the SDMetrics breakdown. The standard error counts real rows, not synthetic ones: many
    synthetic rows around one real row are one piece of evidence. The p-value is one-sided: given
    the synthetic rows and the pool of N real ones, all choices of which were train are equally
    likely if none was learnt. The share then has variance
    ``pi (1 - pi) N / (N - 1) (sum_j a_j^2 - 1 / N)``, a_j the share of synthetic rows whose nearest
    real row is j, ties divided evenly; ``scale="reference"`` has no such null,
    and no interval. The baseline is the mean score under independence, below 1 because the score is
    clipped there. A share clearly below `pi` is
    no extra protection, rather mode collapse or shift. This is a distance screen: it can raise an
    alarm and cannot clear a release; it does not see leaks of a few outliers.

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

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout"}),
        greater_is_better=True,
        bounds=(0.0, 1.0),
        evidence="screen",
    )

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
    ) -> None:
        self.ties = ties
        self.scale = scale
        self.num_rows_subsample = num_rows_subsample
        self.num_iterations = num_iterations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_contrast(self)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        columns = column_key(context.schema, self.columns)
        share, pi = train_share(self, context, columns), expected_share(self, context)
        p = share.value
        details = share_details(self, context, columns, share)
        if not share.masses:
            return Result(_protection(p, pi), details=details)
        half, null = share.half_width(), share.null_standard_error
        return Result(
            _protection(p, pi),
            interval=(_protection(p + half, pi), _protection(p - half, pi)),
            p_value=share.p_value,
            baseline=1.0 - null / ((1.0 - pi) * np.sqrt(2.0 * np.pi)),
            details=details,
        )


def _protection(p: float, pi: float) -> float:
    return float(np.clip((1.0 - p) / (1.0 - pi), 0.0, 1.0))


class Iterated(Protocol):
    """A metric that averages over draws of rows."""

    num_rows_subsample: int | None
    num_iterations: int
    random_state: int


class Contrasting(Iterated, Protocol):
    """A metric that counts the synthetic rows closer to train than to the holdout."""

    ties: str
    scale: str
    space: Any


def check_iterations(metric: Iterated) -> None:
    """Raise if iterations are asked for that would all be the same."""
    if metric.num_iterations > 1 and metric.num_rows_subsample is None:
        raise InvalidParameterError(
            f"{type(metric).__name__}: num_iterations={metric.num_iterations} repeats one "
            "computation; give num_rows_subsample, or leave num_iterations at 1."
        )


def check_contrast(metric: Contrasting) -> None:
    """Raise if parameters do not go together."""
    check_iterations(metric)
    if metric.scale == "reference" and not is_gower(metric.space):
        raise InvalidParameterError(
            f"{type(metric).__name__}: scale='reference' is defined in space='gower' only."
        )


def iteration_seeds(metric: Iterated) -> Iterator[int]:
    """Yield the seed of each draw."""
    for iteration in range(metric.num_iterations):
        yield metric.random_state + iteration


def train_share(metric: Contrasting, context: Context, columns: Any) -> TrainShare:
    """Return the share of synthetic rows closer to train, seen in some columns."""
    draws = [_drawn_share(metric, context, columns, seed) for seed in iteration_seeds(metric)]
    return TrainShare(
        of_draws=tuple(share for share, _ in draws),
        masses=tuple(masses for _, masses in draws if masses is not None),
        n_train=_n_drawn(context, "train", metric.num_rows_subsample),
    )


def _drawn_share(
    metric: Contrasting, context: Context, columns: Any, seed: int
) -> tuple[float, np.ndarray | None]:
    n_rows = metric.num_rows_subsample
    if metric.ties == "pool" and metric.scale == "common" and is_gower(metric.space):
        # the masses say all: no need of the distances to each table
        masses = pooled_masses(context, n_rows, columns, seed)
        return share_of_mass(masses, _n_drawn(context, "train", n_rows)), masses
    near = closeness(context, n_rows, metric.scale, metric.space, columns, seed)
    return near.share(metric.ties), near.masses


def expected_share(metric: Iterated, context: Context) -> float:
    """Return the share of rows closer to train if train was drawn at random from the real rows."""
    n_train, n_holdout = (
        _n_drawn(context, role, metric.num_rows_subsample) for role in ("train", "holdout")
    )
    return n_train / (n_train + n_holdout)


def share_details(
    metric: Contrasting, context: Context, columns: Any, share: TrainShare
) -> dict[str, Any]:
    """Return what is to be said of a share: its complement, its ties, its errors."""
    settings = (metric.num_rows_subsample, metric.scale, metric.space, columns)
    near = [closeness(context, *settings, seed) for seed in iteration_seeds(metric)]
    shares = share.of_draws
    details = {
        "closer_to_training": share.value,
        "closer_to_holdout": 1.0 - share.value,
        "expected": expected_share(metric, context),
        "ties": float(np.mean([np.mean(d.to_train == d.to_holdout) for d in near])),
        "between_iterations": float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0,
    }
    return details | (errors_of(share) if share.masses else {})


def errors_of(share: TrainShare) -> dict[str, float]:
    """Return z and both standard errors of a share that has a null."""
    return {
        "z": share.z,
        "standard_error": share.standard_error,
        "null_standard_error": share.null_standard_error,
    }


@dataclass(frozen=True)
class Closeness:
    """Distances of synthetic rows to both real tables, and on which real rows their mass falls."""

    to_train: np.ndarray
    to_holdout: np.ndarray
    n_train: int
    masses: np.ndarray | None

    def share(self, ties: str) -> float:
        """Return the share of rows closer to train."""
        if ties == "pool" and self.masses is not None:
            return share_of_mass(self.masses, self.n_train)
        what_a_tie_counts = 0.0 if ties == "holdout" else 0.5
        return closer_share(self.to_train, self.to_holdout, ties=what_a_tie_counts)


def _n_drawn(context: Context, role: str, n_rows: int | None) -> int:
    return context.n_rows(role) if n_rows is None else min(context.n_rows(role), n_rows)


@shared
def closeness(
    context: Context, n_rows: int | None, scale: str, space: Any, columns: Any, seed: int
) -> Closeness:
    """Return how close the synthetic rows are to train and to holdout."""
    search = nearest if scale == "common" else nearest_on_own_scale
    common: dict[str, Any] = {"space": space, "columns": columns, "seed": seed}
    (to_train, at_train), (to_holdout, at_holdout) = (
        search(context, "synthetic", role, n_query=n_rows, n_reference=n_rows, **common)
        for role in ("train", "holdout")
    )
    d, e = to_train[:, 0], to_holdout[:, 0]
    n_train, n_holdout = (_n_drawn(context, role, n_rows) for role in ("train", "holdout"))
    masses = None
    if scale == "common" and is_gower(space):
        masses = pooled_masses(context, n_rows, columns, seed)
    elif scale == "common":  # distances of matrices hardly tie, but for copies
        on_train = np.where(d < e, 1.0, np.where(d == e, 0.5, 0.0)) / d.size
        on_holdout = 1.0 / d.size - on_train
        masses = np.concatenate(
            [
                np.bincount(at_train[:, 0], weights=on_train, minlength=n_train),
                np.bincount(at_holdout[:, 0], weights=on_holdout, minlength=n_holdout),
            ]
        )
    return Closeness(d, e, n_train, masses)


def nearest_on_own_scale(
    context: Context,
    query: str,
    reference: str,
    *,
    n_query: int | None,
    n_reference: int | None,
    seed: int,
    space: Any,
    columns: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Return nearest rows where the numeric ranges are those of the reference rows alone."""
    engine = gower_engine(context, columns)
    rows = rows_of(context, reference, space, columns, n_reference, seed)
    queries = rows_of(context, query, space, columns, n_query, seed)
    found: tuple[np.ndarray, np.ndarray] = (
        engine.set_params(ranges=None).fit(rows).kneighbors(queries, 1)
    )
    return found


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

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.distance_screens.dcr import TrainShare
    >>> share = TrainShare((0.75,), (np.array([0.5, 0.25, 0.25, 0.0]),), n_train=2)
    >>> round(share.z, 2), round(share.p_value, 2)
    (1.22, 0.11)
    """

    of_draws: tuple[float, ...]
    masses: tuple[np.ndarray, ...]
    n_train: int

    @property
    def value(self) -> float:
        """The mean over the draws."""
        return float(np.mean(self.of_draws))

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
        """One-sided p-value of the normal approximation; 1 where all labels give the same."""
        return 1.0 if np.isnan(self.z) else float(norm.sf(self.z))

    def half_width(self, n_shares: int = 1) -> float:
        """Return the half width of the 95% interval, or of one of several simultaneous ones.

        Near 0 and 1 the standard error vanishes: there the rule of three holds, on the real rows
        that were met.
        """
        tail = 0.05 / n_shares
        met = float(np.mean([(a**2).sum() for a in self.masses]))
        return max(float(norm.isf(tail / 2.0)) * self.standard_error, -float(np.log(tail)) * met)


def share_of_mass(masses: np.ndarray, n_train: int) -> float:
    """Return the mass on train; being a sum of many 1/n, it is rounded to keep "all" at 1."""
    return round(float(masses[:n_train].sum()), 12)
