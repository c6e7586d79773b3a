"""Whether the numbers of results keep what the contract promises of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.exceptions import SkevalError
from skeval.results.result import Result
from skeval.utils.formatting import as_float


class CheckFailedError(SkevalError, AssertionError):
    """A metric breaks a promise of the contract."""


def demand(kept: bool, promise: str) -> None:
    """Raise unless the promise is kept."""
    if not kept:
        raise CheckFailedError(promise)


def demand_the_same_bits(first: Result, second: Result, what: str) -> None:
    """Raise where a number of two results differs, be it in its last bit."""
    for name, (before, after) in _numbers_of(first, second).items():
        one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
        equal = np.array_equal(one, other, equal_nan=True)
        demand(equal, f"the {name} depends on {what}: {before}, then {after}.")


def _numbers_of(first: Result, second: Result) -> dict[str, tuple[Any, Any]]:
    """Return the numbers of two results side by side, those that their tests compared included."""
    demand(
        (first.contrast is None) == (second.contrast is None), "one of two results has a contrast."
    )
    names = ("value", "interval", "p_value", "baseline", "difference")
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in names}
    if first.contrast is not None and second.contrast is not None:
        for name in ("observed", "expected", "least_p", "n_tests"):
            numbers = getattr(first.contrast, name), getattr(second.contrast, name)
            pairs[f"{name} number of the contrast"] = numbers
    return pairs


def check_tests_exist_by_size(metric: Metric, tables: Any, shared: Any) -> None:
    """Whether a metric of privacy has a p-value hangs on sizes and parameters, not on the rows.

    A family of tests that some leave by what the rows hold does not keep its level.
    """
    train, _, synthetic = tables
    if metric.tags.aspect != "privacy" or not isinstance(train, pd.DataFrame):
        return
    tested = {
        name: not math.isnan(as_float(shared.evaluate(rows).p_value))
        for name, rows in {"fresh": synthetic, **_of_one_size(train, len(synthetic))}.items()
    }
    without = ", ".join(name for name, has_one in tested.items() if not has_one)
    demand(len(set(tested.values())) == 1, f"there is a p-value, but none of rows: {without}.")


def _of_one_size(train: pd.DataFrame, n_rows: int) -> dict[str, pd.DataFrame]:
    """Return tables of a number of rows: copied, the same, shuffled by column, without a value."""
    rng = np.random.default_rng(0)
    copied = train.iloc[np.arange(n_rows) % len(train)].reset_index(drop=True)
    shuffled = {name: copied[name].take(rng.permutation(n_rows)).array for name in copied}
    return {
        "copied": copied,
        "constant": train.iloc[np.zeros(n_rows, dtype=np.int64)].reset_index(drop=True),
        "shuffled": pd.DataFrame(shuffled),
        "missing": pd.DataFrame({name: np.full(n_rows, None, dtype=object) for name in copied}),
    }
