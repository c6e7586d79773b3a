"""Tables as matrices for tests of two samples, and what such a test says of the tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.result import Result, undefined
from skeval.stats.pairwise import permutation_p_value
from skeval.steps.neighbors import preprocessor, rows_of
from skeval.steps.samples import nothing_to_measure, sample_positions

_LARGEST = 1e150  # squares of larger numbers are infinite
# of two samples and a number of permutations: values, the actual labels first, and details
Statistic = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, dict[str, Any]]]


@dataclass(frozen=True)
class Sampling:
    """Which rows are looked at, as what, and with how many permutations."""

    space: Any
    max_rows: int | None
    seed: int
    n_permutations: int = 0


def matrices(context: Context, how: Sampling) -> dict[str, np.ndarray] | Result:
    """Return the rows of each table by role, or the result that says why there are none."""
    if nothing_to_measure(context, how.space):
        return undefined("no column of this table can be measured.")
    rows = _matrices(context, how.space, how.max_rows, how.seed)
    if rows["train"].shape[1] == 0:
        return undefined("no column of this table can be measured.")
    if any(np.abs(part).max() > _LARGEST for part in rows.values()):
        return undefined("some values are so large that distances to them are infinite.")
    return rows


@shared
def _matrices(
    context: Context, space: Any, max_rows: int | None, seed: int
) -> dict[str, np.ndarray]:
    """Return a seeded sample of each table's rows in a space, by role.

    Features that are the same in all rows are left out, since they add nothing but dimensions. The
    others stand in the order of their names, so that random directions do not depend on the order
    of columns, and have a mean of 0 in train.
    """
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    with np.errstate(invalid="ignore"):  # a column without any value has no mean to standardise by
        rows = {role: rows_of(context, role, space, None, max_rows, seed) for role in roles}
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
    order: np.ndarray = np.argsort(preprocessor(context, space).get_feature_names_out())
    return order


def fresh_rows(rows: dict[str, np.ndarray], seed: int) -> np.ndarray | None:
    """Return holdout rows for the synthetic place, no more than those; None without a holdout."""
    if "holdout" not in rows:
        return None
    holdout = rows["holdout"]
    return holdout[sample_positions(len(holdout), len(rows["synthetic"]), seed)]


def two_sample_result(
    context: Context,
    how: Sampling,
    calibrated: Callable[[np.ndarray, np.ndarray, np.ndarray], Statistic],
    fewest: int = 1,
) -> Result:
    """Return a statistic of train and synthetic, its baseline, and its permutation test.

    Parameters
    ----------
    context : Context
        The tables.
    how : Sampling
        The rows and the permutations.
    calibrated : callable
        Takes two samples and train, and returns the statistic on their scale. The value and its
        baseline share the scale of train and synthetic. The test has that of the two samples that
        it permutes, pooled: a scale that does not change with the labels is what makes it valid.
    fewest : int, default=1
        Rows that a sample needs.

    Returns
    -------
    Result
    """
    rows = matrices(context, how)
    if isinstance(rows, Result):
        return rows
    train, synthetic = rows["train"], rows["synthetic"]
    if min(len(train), len(synthetic)) < fewest:
        return undefined(f"train and synthetic need {fewest} rows each.")
    against = "holdout" if len(rows.get("holdout", ())) >= fewest else "train"
    statistic, n_permutations = calibrated(train, synthetic, train), how.n_permutations
    values, details = statistic(train, synthetic, n_permutations if against == "train" else 0)
    tested = values
    if against == "holdout" and n_permutations:
        holdout = rows["holdout"]
        tested, _ = calibrated(holdout, synthetic, train)(holdout, synthetic, n_permutations)
    baseline, fresh = None, fresh_rows(rows, how.seed)
    if fresh is not None and len(fresh) >= fewest:
        baseline = float(statistic(train, fresh, 0)[0][0])
        if len(fresh) < len(synthetic):
            some = synthetic[sample_positions(len(synthetic), len(fresh), how.seed)]
            alike = float(statistic(train, some, 0)[0][0])
            details["at_baseline_size"] = {"n_rows": len(fresh), "value": alike}
    return Result(
        float(values[0]),
        p_value=permutation_p_value(tested),
        baseline=baseline,
        details={
            **details,
            "p_value_rows": against,
            "n_rows": {role: len(part) for role, part in rows.items()},
            "n_features": train.shape[1],
        },
    )
