"""Accumulated minimum distances, which one metric of privacy and one of fidelity read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.parameters import Interval, Legal
from skeval.result import Result
from skeval.stats import accumulation as stats
from skeval.stats.relabelling import labels_test
from skeval.steps.neighbors import is_gower, nearest
from skeval.steps.relabelled import relabellings
from skeval.steps.samples import column_key, nothing_to_measure

_N_PERMUTATIONS = 200
_LARGEST_THRESHOLD = 0.999  # of those found: at 1 there is nothing to the right
_TERMS = {"privacy_area": stats.privacy_terms, "resemblance": stats.resemblance_terms}


def _are_thresholds(value: object) -> bool:
    if isinstance(value, str):
        return value == "loo-median"
    given = value if isinstance(value, list | tuple) else [value]
    return len(given) > 0 and all(map(Interval(0, 1, "neither").accepts, given))


Thresholds = Annotated[
    float | list[float] | str,
    Legal("a float in (0, 1), a non-empty list of such or 'loo-median'", _are_thresholds, 1.0),
]


class Accumulating(Protocol):
    """A metric that reads an accumulation curve."""

    threshold: Any
    direction: str
    scale: str
    space: Any
    columns: Any
    random_state: int


def check_scale(metric: Accumulating) -> None:
    """Raise if distances are to be divided by a largest one in a space that has none."""
    if metric.scale == "max" and not is_gower(metric.space):
        raise InvalidParameterError(
            f"{type(metric).__name__}: scale='max' divides by the largest distance possible, which "
            "space='gower' alone has; take scale='observed'."
        )


def cannot_accumulate(metric: Accumulating, context: Context) -> str:
    """Say why there are no distances or no threshold; empty if there are."""
    if nothing_to_measure(context, metric.space):
        return "no column of this table can be measured."
    if metric.threshold == "loo-median":
        if context.n_rows("train") < 2:
            return "train needs two rows for threshold='loo-median'."
        if loo_median(context, metric.space, column_key(context.schema, metric.columns)) == 0:
            return (
                "at least half of the train rows have a duplicate in train, so that "
                "threshold='loo-median' is 0. Name a threshold, or remove the duplicates."
            )
    return ""


@dataclass(frozen=True)
class Areas:
    """Both areas of one curve by name, at each threshold; of each direction at the first."""

    at: Mapping[str, np.ndarray]
    directions: Mapping[str, Mapping[str, float]]
    curve: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Accumulation:
    """What accumulates between train and the synthetic table, and the holdout in its place.

    Attributes
    ----------
    thresholds : ndarray
        In units of the largest distance.
    radius : float
        The first threshold as a distance.
    synthetic : Areas
    holdout : Areas or None
    matched : Areas
        Those of the synthetic table at the size of the holdout's.
    n_matched : int or None
        That size, where it is another.
    uncertainty : dict
        Standard error and interval, by area.
    """

    thresholds: np.ndarray
    radius: float
    synthetic: Areas
    holdout: Areas | None
    matched: Areas
    n_matched: int | None
    uncertainty: Mapping[str, tuple[float, tuple[float, float] | None]]

    def result(self, area: str, *, p_value: float | None = None, **details: Any) -> Result:
        """Return the result of one of the two areas, with these details and those of the curve."""
        error, interval = self.uncertainty[area]
        curves = {"synthetic": self.synthetic.curve}
        details |= {
            "threshold": float(self.thresholds[0]),
            "thresholds": self.thresholds,
            **self.synthetic.at,
            "directions": self.synthetic.directions[area],
            "standard_error": error,
        }
        if self.holdout is not None:
            details["holdout"] = self.holdout.at
            curves["holdout"] = self.holdout.curve
        if self.n_matched is not None:
            value = float(self.matched.at[area][0])
            details["at_baseline_size"] = {"n_rows": self.n_matched, "value": value}
            curves["synthetic at baseline size"] = self.matched.curve
        few = f"fewer than {stats.FEW} synthetic rows: no interval."
        return Result(
            float(self.synthetic.at[area][0]),
            interval=interval,
            p_value=p_value,
            baseline=None if self.holdout is None else float(self.holdout.at[area][0]),
            # without the synthetic curve there is nothing to draw
            details={**details, "curve": curves if self.synthetic.curve else {}},
            warnings=() if interval is not None else (DegenerateInputWarning(few),),
        )


def accumulated(metric: Accumulating, context: Context) -> Accumulation:
    """Return what the metrics of the curve share; computed once for equal parameters."""
    given = metric.threshold
    threshold = tuple(given) if isinstance(given, list) else given
    columns = column_key(context.schema, metric.columns)
    settings = (metric.direction, metric.scale, metric.space, columns, metric.random_state)
    return accumulation(context, threshold, *settings)


def nearness_p_value(metric: Accumulating, context: Context, radius: float) -> float | None:
    """Test whether train rows lie nearer to the synthetic table than holdout rows do.

    Parameters
    ----------
    metric : Accumulating
        Whose space and seed are taken.
    context : Context
        The tables.
    radius : float
        Distances beyond it count as equal to it.

    Returns
    -------
    float or None
        Share of the random choices of which real rows were train that bring them so near in the
        mean; None without a holdout.
    """
    if "holdout" not in context:
        return None
    found = [
        nearest(context, role, "synthetic", space=metric.space, columns=metric.columns)[0][:, 0]
        for role in ("train", "holdout")
    ]
    terms = np.maximum(0.0, radius - np.concatenate(found))
    labels = relabellings(context, _N_PERMUTATIONS, metric.random_state)
    return labels_test(lambda chosen: terms @ chosen / found[0].size, labels).p_value


@dataclass(frozen=True)
class Pairs:
    """Distances to the nearest row by direction; of train rows also the second, and which it is."""

    distances: Mapping[str, np.ndarray]
    second: np.ndarray | None = None
    rows: np.ndarray | None = None

    @property
    def largest(self) -> float:
        """The largest distance to a nearest row."""
        return max(float(distances.max()) for distances in self.distances.values())


@shared
def loo_median(context: Context, space: Any, columns: Any) -> float:
    """Return the median distance of a train row to its nearest other train row."""
    distances, _ = nearest(context, "train", "train", space=space, columns=columns)
    return float(np.median(distances))


@shared
def accumulation(
    context: Context,
    threshold: Any,
    direction: str,
    scale: str,
    space: Any,
    columns: Any,
    seed: int,
) -> Accumulation:
    """Return areas and curves of the synthetic table and of the holdout in its place."""
    common: dict[str, Any] = {"space": space, "columns": columns, "seed": seed}
    pairs = _pairs(context, "synthetic", direction, None, **common)
    largest = pairs.largest if scale == "observed" else 1.0
    thresholds = _thresholds(context, threshold, largest, space, columns)
    synthetic = _areas(pairs, largest, thresholds)
    holdout, matched, n_matched = None, synthetic, None
    n_synthetic = context.n_rows("synthetic")
    if "holdout" in context:
        n_rows = min(n_synthetic, context.n_rows("holdout"))
        fresh = _pairs(context, "holdout", direction, n_rows, **common)
        holdout = _areas(fresh, largest, thresholds)
        if n_rows < n_synthetic and direction != "synthetic":
            fewer = _pairs(context, "synthetic", direction, n_rows, **common)
            matched, n_matched = _areas(fewer, largest, thresholds), n_rows
    uncertainty = {
        area: _uncertainty(pairs, largest, float(thresholds[0]), terms, n_synthetic)
        for area, terms in _TERMS.items()
    }
    radius = float(thresholds[0]) * largest
    return Accumulation(thresholds, radius, synthetic, holdout, matched, n_matched, uncertainty)


def _thresholds(
    context: Context, threshold: Any, largest: float, space: Any, columns: Any
) -> np.ndarray:
    if not isinstance(threshold, str):
        return np.atleast_1d(np.asarray(threshold, dtype=float))
    if largest == 0:  # then any threshold gives the same areas
        return np.array([_LARGEST_THRESHOLD])
    return np.array([min(loo_median(context, space, columns) / largest, _LARGEST_THRESHOLD)])


def _pairs(context: Context, role: str, direction: str, n_rows: int | None, **common: Any) -> Pairs:
    """Return the distances between train and a table, of which train rows meet `n_rows` at most.

    Only the distances of train rows depend on the size of the other table.
    """
    distances: dict[str, np.ndarray] = {}
    if direction != "real":
        distances["synthetic"] = nearest(context, role, "train", **common)[0][:, 0]
    if direction == "synthetic":
        return Pairs(distances)
    k = min(2, context.n_rows(role) if n_rows is None else n_rows)
    found, at = nearest(context, "train", role, k=k, n_reference=n_rows, **common)
    return Pairs({**distances, "real": found[:, 0]}, found[:, -1], at[:, 0])


def _areas(pairs: Pairs, largest: float, thresholds: np.ndarray) -> Areas:
    """Return the areas at each threshold, the mean over the directions, and the curve."""
    scaled = {name: stats.scaled_distances(d, largest) for name, d in pairs.distances.items()}
    found = {
        area: np.array([[terms(x, t).mean() for t in thresholds] for x in scaled.values()])
        for area, terms in _TERMS.items()
    }
    return Areas(
        {area: values.mean(axis=0) for area, values in found.items()},
        {
            area: dict(zip(scaled, values[:, 0].tolist(), strict=True))
            for area, values in found.items()
        },
        stats.accumulation_curve(list(scaled.values())),
    )


def _uncertainty(
    pairs: Pairs, largest: float, threshold: float, terms: Any, n_synthetic: int
) -> tuple[float, tuple[float, float] | None]:
    """Return the standard error over the synthetic rows, and the interval; none of a few rows."""
    if n_synthetic < stats.FEW:
        return float("nan"), None
    parts = {
        name: terms(stats.scaled_distances(distances, largest), threshold)
        for name, distances in pairs.distances.items()
    }
    changes = np.zeros(n_synthetic)
    if "synthetic" in parts:
        changes += stats.removed_terms(parts["synthetic"])
    if pairs.second is not None and pairs.rows is not None:
        second = terms(stats.scaled_distances(pairs.second, largest), threshold)
        changes += stats.moved_terms(parts["real"], second, pairs.rows, n_synthetic)
    error = stats.jackknife_error(changes / len(parts))
    return error, stats.area_interval(list(parts.values()), error)
