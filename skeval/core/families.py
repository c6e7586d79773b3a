"""Base classes of metrics that compare rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats.epsilon_bounds import Matched, privacy_of_matches
from skeval.steps.column_choice import column_key
from skeval.steps.distance_accumulation import (
    _LARGEST_THRESHOLD,
    MAX_FEW_ROWS,
    TERMS,
    _are_thresholds,
    accumulation_curve,
    area_interval,
    areas,
    jackknife_error,
    loo_median,
    moved_terms,
    removed_terms,
    scaled_distances,
)
from skeval.steps.encoded_rows import is_gower
from skeval.steps.leak_advice import advice_on_leak, exposed_columns
from skeval.steps.neighbors import nearest
from skeval.utils.parameters import (
    Columns,
    Count,
    Interval,
    JobCount,
    Legal,
    NonNegative,
    Scaling,
    Seed,
    Space,
)

ColumnKey = tuple[str, ...] | None


@declared
class RelabelledTest(Metric):
    """Base class of metrics whose p-value is based on random relabelings of the real rows.

    Parameters
    ----------
    n_permutations : int, default=1999
        Number of random relabelings of the real rows for the p-value. Fewer are used if many of
        them reach the observed value, and none if the p-value is known exactly.
    random_state : int, default=0
        Seed of the relabelings.
    """

    _: KW_ONLY
    n_permutations: Count = 1999
    random_state: Seed = 0


@declared
class ClaimTested(Metric):
    """Base class of metrics whose matches with train and holdout rows bound epsilon.

    Parameters
    ----------
    claimed_epsilon : float, optional
        Epsilon that the generator claims, for adding or removing one record. The summary then
        states whether the matches contradict the claim. ``details["verdict"]`` is "violation" if
        they do, "loose" if the lower bound of epsilon is below half of the claim, and "consistent"
        otherwise.
    delta : float, default=0.0
        Delta of the claim and of the bounds in ``details["epsilon"]``, in [0, 1).
    """

    _: KW_ONLY
    claimed_epsilon: NonNegative | None = None
    delta: Annotated[float, Interval(0, 1, "left")] = 0.0

    def _privacy(self, matched: Matched) -> dict[str, Any]:
        """Return what the matches imply for epsilon, for the details."""
        return privacy_of_matches(matched, self.claimed_epsilon, self.delta)


@declared
class RowMetric(Metric):
    """Base class of metrics that compare rows in some columns.

    A subclass implements ``_measure(context, columns)``, which returns the value for ``score``, and
    ``_with_evidence(context, columns, result)``, which adds the interval, the p-value, the baseline
    and the details for ``evaluate``. Columns have the form of
    :func:`~skeval.steps.column_choice.column_key`.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns in which rows are compared. By default all columns except IDs and texts. An int
        selects the first *n* of them, and a list selects columns by name.
    """

    _: KW_ONLY
    columns: Columns = None

    def _compute(self, context: Context) -> float | Result:
        in_own_space = not isinstance(getattr(self, "space", "gower"), str)
        if not context.schema.measured and not in_own_space:
            return undefined_result("no column of this table can be evaluated.")
        return self._measure(context, column_key(context.schema, self.columns))

    def _measure(self, context: Context, columns: ColumnKey) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _measure.")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if not np.isnan(result.value):
            columns = column_key(context.schema, self.columns)
            result = self._with_evidence(context, columns, result)
        return super()._in_relation(context, result)

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.columns))

    def _leak_columns(self, context: Context) -> list[str]:
        if "holdout" not in context:
            return []
        return exposed_columns(context, column_key(context.schema, self.columns))

    def _with_evidence(self, context: Context, columns: ColumnKey, result: Result) -> Result:
        return result


@declared
class NeighborMetric(RowMetric):
    """Base class of metrics that search for the nearest rows in a space.

    Parameters
    ----------
    space : "gower", "euclidean" or transformer, default="gower"
        Distance between rows. "gower" is the mean over the columns of a difference scaled to
        [0, 1]. In the other spaces, each row is encoded as a vector of numbers, and the distance is
        Euclidean.
    columns : None, int or list of str, default=None
        Columns to use in space "gower". By default all columns. An int selects the first *n* of
        them, and a list selects columns by name.
    random_state : int, default=0
        Seed of samples, relabelings, and resamples for an interval.
    n_jobs : int, optional
        Number of threads, as in joblib. The results do not depend on it.
    """

    _: KW_ONLY
    space: Space = "gower"
    random_state: Seed = 0
    n_jobs: JobCount | None = None

    @property
    def _scaling(self) -> Scaling:
        """Scaling of the metric. A custom space may create many numbers per row."""
        return "neighbours" if is_gower(self.space) else "sampled"

    def _distances(
        self, context: Context, query: str, reference: str, columns: ColumnKey, **samples: Any
    ) -> np.ndarray:
        """Return the distance of each query row, or of a sample, to its nearest reference row."""
        settings = {"space": self.space, "columns": columns, **samples}
        return nearest(context, query, reference, **settings)[0][:, 0]


Thresholds = Annotated[
    float | list[float] | str,
    Legal("a float in (0, 1), a non-empty list of such or 'loo-median'", _are_thresholds, 1.0),
]


def pooled_areas(values: np.ndarray, distances: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return areas over the points of both directions together, each point counted once."""
    n_points = [len(one) for one in distances.values()]
    return np.asarray(np.average(values, axis=0, weights=n_points))


@declared
class AccumulationMetric(NeighborMetric):
    """Base class of the two areas of the accumulation curve, below and above a threshold.

    Parameters
    ----------
    threshold : float, list of float or "loo-median", default=0.2
        Largest distance that counts as close, in (0, 1), as a fraction of the maximum distance. If
        a list is passed, its first element determines the value, and ``details`` contains the areas
        for all elements. "loo-median" is the median distance between training rows and their
        nearest other training row.
    direction : {"symmetric", "synthetic", "real"}, default="symmetric"
        Whether to measure the distance of each synthetic row to the training rows ("synthetic"), of
        each training row to the synthetic rows ("real"), or to average both areas.
    scale : {"max", "observed"}, default="max"
        Divisor of the distances: the largest possible distance, which only the space "gower" has
        (it is 1), or the largest observed distance between training and synthetic rows. With
        "observed", a single distant row makes all other rows appear close.
    space : "gower", "euclidean" or transformer, default="gower"
        Distance between rows. "gower" is the mean over the columns of a difference scaled to
        [0, 1]. In the other spaces, each row is encoded as a vector of numbers, and the distance is
        Euclidean. Spaces other than "gower" require ``scale="observed"``.
    """

    area: ClassVar[str]
    in_other_spaces: ClassVar = {"scale": "observed"}

    threshold: Thresholds = 0.2
    direction: Literal["symmetric", "synthetic", "real"] = "symmetric"
    scale: Literal["max", "observed"] = "max"

    def _prepare(self, context: Context) -> None:
        if self.scale == "max" and not is_gower(self.space):
            raise InvalidParameterError(
                f"{type(self).__name__}: scale='max' divides by the largest possible distance, "
                "which only space='gower' has. Use scale='observed'."
            )

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if self.threshold == "loo-median":
            if context.n_rows("train") < 2:
                return undefined_result("train needs two rows for threshold='loo-median'.")
            if loo_median(context, self.space, columns) == 0:
                return undefined_result(
                    "at least half of the training rows have a duplicate in the training data, so "
                    "threshold='loo-median' is 0. Specify a threshold, or remove the duplicates."
                )
        distances = self._by_direction(context, "synthetic", columns)
        largest, thresholds = self._scale_of(context, distances, columns)
        return float(areas(distances, largest, thresholds)[self.area].mean(axis=0)[0])

    def _by_direction(
        self, context: Context, role: str, columns: Any, n_rows: int | None = None
    ) -> dict[str, np.ndarray]:
        """Return the distances between train and a table in both directions."""
        distances = {}
        if self.direction != "real":
            distances["synthetic"] = self._distances(context, role, "train", columns)
        if self.direction != "synthetic":
            # only the distances of training rows depend on the size of the table, hence `n_rows`
            distances["real"] = self._from_train(context, role, columns, n_rows)[0][:, 0]
        return distances

    def _from_train(
        self, context: Context, role: str, columns: Any, n_rows: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        k = min(2, context.n_rows(role) if n_rows is None else n_rows)
        settings = {"space": self.space, "columns": columns, "seed": self.random_state}
        return nearest(context, "train", role, k=k, n_reference=n_rows, **settings)

    def _scale_of(
        self, context: Context, distances: Mapping[str, np.ndarray], columns: Any
    ) -> tuple[float, np.ndarray]:
        """Return the largest distance, and the thresholds in units of it."""
        observed = self.scale == "observed"
        largest = max(float(d.max()) for d in distances.values()) if observed else 1.0
        if not isinstance(self.threshold, str):
            return largest, np.atleast_1d(np.asarray(self.threshold, dtype=float))
        if largest == 0:  # any threshold gives the same areas
            return largest, np.array([_LARGEST_THRESHOLD])
        median = loo_median(context, self.space, columns)
        return largest, np.array([min(median / largest, _LARGEST_THRESHOLD)])

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        distances = self._by_direction(context, "synthetic", columns)
        largest, thresholds = self._scale_of(context, distances, columns)
        of_area = areas(distances, largest, thresholds)
        by_direction = of_area[self.area][:, 0].tolist()
        error, interval = self._uncertainty(context, distances, largest, thresholds[0], columns)
        curves = {"synthetic": accumulation_curve(distances, largest)}
        details: dict[str, Any] = {
            "threshold": float(thresholds[0]),
            "thresholds": thresholds,
            **{area: values.mean(axis=0) for area, values in of_area.items()},
            "directions": dict(zip(distances, by_direction, strict=True)),
            "standard_error": error,
            "pooled": {area: pooled_areas(values, distances) for area, values in of_area.items()},
        }
        baseline, n_synthetic = None, context.n_rows("synthetic")
        if "holdout" in context:
            n_rows = min(n_synthetic, context.n_rows("holdout"))
            fresh = self._by_direction(context, "holdout", columns, n_rows)
            of_fresh = areas(fresh, largest, thresholds)
            details["holdout"] = {area: values.mean(axis=0) for area, values in of_fresh.items()}
            baseline = float(details["holdout"][self.area][0])
            curves["holdout"] = accumulation_curve(fresh, largest)
            if n_rows < n_synthetic and self.direction != "synthetic":
                fewer = self._by_direction(context, "synthetic", columns, n_rows)
                value = float(areas(fewer, largest, thresholds)[self.area].mean(axis=0)[0])
                details["at_baseline_size"] = {"n_rows": n_rows, "value": value}
                curves["synthetic at baseline size"] = accumulation_curve(fewer, largest)
        # without the synthetic curve there is nothing to plot
        details["curve"] = curves if curves["synthetic"] else {}
        result = replace(result, interval=interval, baseline=baseline, details=details)
        if interval is not None:
            return result
        few = DegenerateInputWarning(
            f"no interval, because there are fewer than {MAX_FEW_ROWS} synthetic rows."
        )
        return replace(result, warnings=(*result.warnings, few))

    def _uncertainty(
        self,
        context: Context,
        distances: Mapping[str, np.ndarray],
        largest: float,
        threshold: float,
        columns: Any,
    ) -> tuple[float, tuple[float, float] | None]:
        """Return the standard error over the synthetic rows and the interval, if possible."""
        n_synthetic, terms = context.n_rows("synthetic"), TERMS[self.area]
        if n_synthetic < MAX_FEW_ROWS:
            return float("nan"), None
        scaled = {name: scaled_distances(d, largest) for name, d in distances.items()}
        parts = {name: terms(d, threshold) for name, d in scaled.items()}
        changes = np.zeros(n_synthetic)
        if "synthetic" in parts:
            changes += removed_terms(parts["synthetic"])
        if "real" in parts:
            two, at = self._from_train(context, "synthetic", columns)
            second = terms(scaled_distances(two[:, -1], largest), threshold)
            changes += moved_terms(parts["real"], second, at[:, 0], n_synthetic)
        error = jackknife_error(changes / len(parts))
        return error, area_interval(list(parts.values()), error)
