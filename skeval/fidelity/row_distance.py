"""Base class of distances between two tables as samples of vectors, with a permutation test."""

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

_LARGEST = 1e150  # squares of larger numbers overflow


@declared
class RowDistance(Metric):
    """Base of the distances between training and synthetic rows as vectors.

    Subclasses define `_distances`, and `_scale` if the distance has a scale. The value and its
    baseline use the scale of the training and synthetic data. :meth:`score` does not compute the
    baseline.

    Parameters
    ----------
    space : "euclidean" or transformer, default="euclidean"
        Conversion of rows to vectors. "euclidean" standardizes numbers and datetimes by the
        training data and assigns a distance of 1 to different categories. A transformer returns the
        vectors for a table.
    random_state : int, default=0
        Seed of the samples and other random draws.
    """

    _: KW_ONLY
    space: MatrixSpace = "euclidean"
    random_state: Seed = 0
    _fewest: ClassVar[int] = 1  # minimum number of rows of a sample

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the value for the actual labels, the values for permuted labels, and details."""
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
            return undefined_result("some values are so large that their distances are infinite.")
        if min(len(train), len(synthetic)) < self._fewest:
            return undefined_result(f"both tables must have at least {self._fewest} rows.")
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
        if n_fresh < self._fewest:  # if there is a holdout, a warning states why it is not used
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
        """Add a test, if the distance has one."""
        return result


@declared
class PermutedDistance(RowDistance):
    """Base of the distances over all pairs of rows, with a permutation test.

    The test uses the scale of the pooled samples that it permutes. It is valid because this scale
    does not change with the labels. :meth:`score` does not compute the test.

    Parameters
    ----------
    n_permutations : int, default=199
        Number of permutations for the p-value. If 0, no p-value is computed.
    max_rows : int or None, default=2500
        Maximum number of rows per table. If a table has more rows, a random sample is used. The
        computation time grows with the square of the number of rows.
    random_state : int, default=0
        Seed of the samples and permutations.
    """

    _: KW_ONLY
    n_permutations: Annotated[int, Interval(0)] = 199
    max_rows: Annotated[int, Interval(2)] | None = 2500

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        return row_matrices(context, self.space, self.max_rows, self.random_state)

    def _with_test(self, rows: dict[str, np.ndarray], result: Result) -> Result:
        """Add the permutation test, with the holdout if there is one."""
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
    """Return a random sample of the rows of each table as vectors, by role."""
    # Features that are constant over all rows are dropped, because they only add dimensions. The
    # others are sorted by name, so that random directions do not depend on the order of the
    # columns, and are centered by the training data.
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    with np.errstate(invalid="ignore"):  # columns without values cannot be standardized
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
    if not isinstance(space, str):  # the features of a transformer may not have names
        return np.arange(n_features)
    order: np.ndarray = np.argsort(preprocessor(context, OfTrain(space)).get_feature_names_out())
    return order
