"""The base of distances between two tables as samples of vectors, with a permutation test."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.results.result import Result, undefined_result
from skeval.stats.pair_sums import permutation_p_value
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.encoded_rows import OfTrain, preprocessor
from skeval.steps.neighbors import rows_of
from skeval.steps.samples import sample_positions
from skeval.utils.parameters import Interval, MatrixSpace, Seed

_LARGEST = 1e150  # squares of larger numbers are infinite


@declared
class RowDistance(Metric):
    """Base of the distances of train and synthetic rows as vectors, which chance alone makes.

    Authors write `_distances`, and `_scale` if the distance has one. The value and its baseline
    share the scale of train and synthetic. :meth:`score` does not pay for the baseline.

    Parameters
    ----------
    space : "euclidean" or transformer, default="euclidean"
        How rows become vectors: numbers and dates standardised by train, a change of category at
        distance 1; or what a transformer makes of the table.
    random_state : int, default=0
        Seed of samples, and of what else is drawn.
    """

    _: KW_ONLY
    space: MatrixSpace = "euclidean"
    random_state: Seed = 0
    _fewest: ClassVar[int] = 1  # rows that a sample needs

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the values under the actual labels, then under permuted ones, and details."""
        raise NotImplementedError(f"{type(self).__name__} must define _distances(...).")

    def _scale(self, x: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
        """Return the scale on which two samples are compared."""
        return 1.0

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        return row_matrices(context, self.space, None, self.random_state)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        rows = self._rows(context)
        train, synthetic = rows["train"], rows["synthetic"]
        if train.shape[1] == 0:
            return undefined_result("no column of this table can be measured.")
        if any(np.abs(part).max() > _LARGEST for part in rows.values()):
            return undefined_result("some values are so large that distances to them are infinite.")
        if min(len(train), len(synthetic)) < self._fewest:
            return undefined_result(f"train and synthetic need {self._fewest} rows each.")
        scale = self._scale(train, synthetic, train)
        values, details = self._distances(train, synthetic, scale, 0)
        details["n_rows"] = {role: len(part) for role, part in rows.items()}
        return Result(float(values[0]), details={**details, "n_features": train.shape[1]})

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return super()._in_relation(context, result)
        rows = self._rows(context)
        result = self._with_test(rows, result)
        train, synthetic, holdout = rows["train"], rows["synthetic"], rows.get("holdout", ())
        n_fresh = min(len(holdout), len(synthetic))
        if n_fresh < self._fewest:  # where there is a holdout, a warning says why it is of no use
            return super()._in_relation(context, result)
        scale, details = self._scale(train, synthetic, train), dict(result.details)
        fresh = rows["holdout"][sample_positions(len(holdout), n_fresh, self.random_state)]
        if n_fresh < len(synthetic):
            some = synthetic[sample_positions(len(synthetic), n_fresh, self.random_state)]
            value = float(self._distances(train, some, scale, 0)[0][0])
            details["at_baseline_size"] = {"n_rows": n_fresh, "value": value}
        baseline = float(self._distances(train, fresh, scale, 0)[0][0])
        return replace(result, baseline=baseline, details=details)

    def _with_test(self, rows: dict[str, np.ndarray], result: Result) -> Result:
        """Add a test, where the distance has one."""
        return result


@declared
class PermutedDistance(RowDistance):
    """Base of the distances of all pairs of rows, with a permutation test of equal distributions.

    The test has the scale of the two samples that it permutes, pooled: a scale that does not change
    with the labels is what makes it valid. :meth:`score` does not pay for the test.

    Parameters
    ----------
    n_permutations : int, default=199
        Number of permutations for the p-value; 0 for none.
    max_rows : int or None, default=2500
        Rows of each table that are looked at, a seeded sample: the cost grows with the square.
    random_state : int, default=0
        Seed of samples and permutations.
    """

    _: KW_ONLY
    n_permutations: Annotated[int, Interval(0)] = 199
    max_rows: Annotated[int, Interval(2)] | None = 2500

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        return row_matrices(context, self.space, self.max_rows, self.random_state)

    def _with_test(self, rows: dict[str, np.ndarray], result: Result) -> Result:
        """Add the permutation test: against the holdout, which the generator has not seen."""
        if not self.n_permutations:
            return result
        against = "holdout" if len(rows.get("holdout", ())) >= self._fewest else "train"
        real, synthetic = rows[against], rows["synthetic"]
        scale = self._scale(real, synthetic, rows["train"])
        values, _ = self._distances(real, synthetic, scale, self.n_permutations)
        details = {**result.details, "p_value_rows": against}
        return replace(result, p_value=permutation_p_value(values), details=details)


@shared
def row_matrices(
    context: Context, space: Any, max_rows: int | None, seed: int
) -> dict[str, np.ndarray]:
    """Return a seeded sample of each table's rows in a space, by role."""
    # Features that are the same in all rows are left out, since they add nothing but
    # dimensions. The others are sorted by name, so that random directions do not depend on
    # the order of columns, and have a mean of 0 in train.
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    with np.errstate(invalid="ignore"):  # a column without any value has no mean to standardise by
        rows = {
            role: rows_of(context, role, OfTrain(space), None, max_rows, seed) for role in roles
        }
    low = np.min([part.min(axis=0) for part in rows.values()], axis=0)
    high = np.max([part.max(axis=0) for part in rows.values()], axis=0)
    order = _by_name(context, space, low.size)
    varying = order[(high > low)[order]]
    kept = varying if varying.size else order[:1]
    center = rows["train"][:, kept].mean(axis=0)
    return {role: part[:, kept] - center for role, part in rows.items()}


def _by_name(context: Context, space: Any, n_features: int) -> np.ndarray:
    if not isinstance(space, str):  # what a transformer's features are called is its own affair
        return np.arange(n_features)
    order: np.ndarray = np.argsort(preprocessor(context, OfTrain(space)).get_feature_names_out())
    return order
