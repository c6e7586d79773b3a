"""Distance to the closest record: are synthetic rows closer to train than they should be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.stats import norm

from skeval._aggregate import undefined
from skeval._parameters import Columns, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.privacy.distances import SPACE
from skeval.result import Result
from skeval.stats import proximity as stats
from skeval.steps import (
    column_key,
    gower_engine,
    is_gower,
    nearest,
    nothing_to_measure,
    pooled_masses,
    rows_of,
)
from skeval.tags import MetricTags

__all__ = ["DCROverfittingProtection"]

_Z = float(norm.ppf(0.975))


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
    _legal = {
        "ties": Options(("pool", "half", "holdout")),
        "scale": Options(("common", "reference")),
        "num_rows_subsample": Nullable(Interval(int, 1, None)),
        "num_iterations": Interval(int, 1, None),
        "space": SPACE,
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        ties: str = "pool",
        scale: str = "common",
        *,
        num_rows_subsample: int | None = None,
        num_iterations: int = 1,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.ties = ties
        self.scale = scale
        self.num_rows_subsample = num_rows_subsample
        self.num_iterations = num_iterations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_iterations(self)
        if self.scale == "reference" and not is_gower(self.space):
            raise InvalidParameterError(
                "DCROverfittingProtection: scale='reference' is defined in space='gower' only."
            )

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        columns = column_key(context.schema, self.columns)
        draws = [
            closeness(context, self.num_rows_subsample, self.scale, self.space, columns, seed)
            for seed in iteration_seeds(self)
        ]
        shares = [d.share(self.ties) for d in draws]
        p, pi = float(np.mean(shares)), draws[0].expected
        details = {
            "closer_to_training": p,
            "closer_to_holdout": 1.0 - p,
            "expected": pi,
            "ties": float(np.mean([np.mean(d.to_train == d.to_holdout) for d in draws])),
            "between_iterations": float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0,
        }
        masses = [d.masses for d in draws if d.masses is not None]
        if not masses:  # each table on its own scale: no exchange of labels, no null
            return Result(_protection(p, pi), details=details)
        return _with_evidence(p, pi, masses, draws[0].n_train, details)


def _with_evidence(
    p: float, pi: float, masses: list[np.ndarray], n_train: int, details: dict[str, Any]
) -> Result:
    spread = float(np.mean([stats.share_standard_error(a, n_train) for a in masses]))
    # near 0 and 1 the standard error vanishes: the rule of three on the real rows that were met
    half = max(_Z * spread, 3.0 * float(np.mean([(a**2).sum() for a in masses])))
    null = float(np.mean([stats.permutation_variance(a, n_train) ** 0.5 for a in masses]))
    excess = float(np.mean([a[:n_train].sum() for a in masses])) - pi
    z = excess / null if null > 0 else float("nan")
    return Result(
        _protection(p, pi),
        interval=(_protection(p + half, pi), _protection(p - half, pi)),
        p_value=float(norm.sf(z)) if null > 0 else None,
        baseline=1.0 - null / ((1.0 - pi) * np.sqrt(2.0 * np.pi)),
        details={**details, "z": z, "standard_error": spread, "null_standard_error": null},
    )


def _protection(p: float, pi: float) -> float:
    return float(np.clip((1.0 - p) / (1.0 - pi), 0.0, 1.0))


class Iterated(Protocol):
    """A metric that averages over draws of rows."""

    num_rows_subsample: int | None
    num_iterations: int
    random_state: int


def check_iterations(metric: Iterated) -> None:
    """Raise if iterations are asked for that would all be the same."""
    if metric.num_iterations > 1 and metric.num_rows_subsample is None:
        raise InvalidParameterError(
            f"{type(metric).__name__}: num_iterations={metric.num_iterations} repeats one "
            "computation; give num_rows_subsample, or leave num_iterations at 1."
        )


def iteration_seeds(metric: Iterated) -> Iterator[int]:
    """Yield the seed of each draw."""
    for iteration in range(metric.num_iterations):
        yield metric.random_state + iteration


@dataclass(frozen=True)
class Closeness:
    """Distances of synthetic rows to both real tables, and on which real rows their mass falls."""

    to_train: np.ndarray
    to_holdout: np.ndarray
    n_train: int
    n_holdout: int
    masses: np.ndarray | None

    @property
    def expected(self) -> float:
        """Share of rows closer to train if train was drawn at random from the real rows."""
        return self.n_train / (self.n_train + self.n_holdout)

    def share(self, ties: str) -> float:
        """Return the share of rows closer to train."""
        if ties == "pool" and self.masses is not None:
            # the masses are sums of 1/n: rounding keeps "all" at exactly 1
            return round(float(self.masses[: self.n_train].sum()), 12)
        what_a_tie_counts = 0.0 if ties == "holdout" else 0.5
        return stats.closer_share(self.to_train, self.to_holdout, ties=what_a_tie_counts)


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
    n_train, n_holdout = (
        context.n_rows(role) if n_rows is None else min(context.n_rows(role), n_rows)
        for role in ("train", "holdout")
    )
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
    return Closeness(d, e, n_train, n_holdout, masses)


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
