"""Positions of the training rows that the strongest attacks identify."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.core.needs import unmet
from skeval.exceptions import MissingInputError, NotRememberedError, TableError
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.members import BLEND, STRONGEST, blend_scores, scores_by_attack
from skeval.steps.neighbors import nearest

_MAX_SCORED = 10_000  # rows of each table that attacks with a classifier score
_GONE = (
    "the rows at risk are available only while the fitted suite and the synthetic table are in "
    "memory, and only until the suite is fitted again. Keep both, or evaluate again."
)
_SEVERAL = (
    "rows at risk are available for one table in memory. Evaluate that table with a separate suite."
)


class RowsAtRisk:
    """Finds the rows at risk. Stores weak references instead of the real and synthetic rows."""

    def __init__(self, real: Context, synthetic: Any) -> None:
        self._real = weakref.ref(real)
        self._release: Any = lambda: None
        with suppress(TypeError):  # paths, which are strings, do not support weak references
            self._release = weakref.ref(synthetic)

    def __call__(self, n: int) -> pd.DataFrame:
        """Compute the scores and return the first n rows."""
        real, release = self._real(), self._release()
        if real is None or release is None:
            raise NotRememberedError(_GONE)
        if type(real) is not Context:
            raise TableError(_SEVERAL)
        if "holdout" not in real:
            raise MissingInputError(
                unmet("holdout", "at_risk").reason, "SuiteResult.at_risk", "holdout"
            )
        return rows_at_risk(real.with_synthetic(release, lenient=True)).head(n)


def rows_at_risk(context: Context, max_scored: int = _MAX_SCORED) -> pd.DataFrame:
    """Return all training rows, most exposed first, each with its most successful attack."""
    if nothing_to_measure(context, "gower"):
        raise TableError("rows at risk: no column of this table can be evaluated.")
    scored, _ = scores_by_attack(context, STRONGEST, max_scored)
    if not scored:
        raise TableError("rows at risk: train or holdout have too few rows for any attack.")
    if len(scored) > 1:
        scored[BLEND] = blend_scores(list(scored.values()))
    sizes = context.n_rows("train"), context.n_rows("holdout")
    shares, of_strangers = (np.full((len(scored), n), np.inf) for n in sizes)
    margins = np.full(shares.shape, np.nan)
    for k, one in enumerate(scored.values()):
        n_strangers = max(1, one.others.size)
        # the added 1 counts the row itself; a holdout row is already one of the others
        shares[k, one.member_rows] = (1.0 + _n_above(one.others, one.members)) / n_strangers
        of_strangers[k, one.other_rows] = _n_above(one.others, one.others) / n_strangers
        spread = max(float(one.others.std()), np.finfo(float).tiny)
        margins[k, one.member_rows] = (one.members - one.others.max()) / spread
    surest, every = np.argmin(shares, axis=0), np.arange(sizes[0])
    p_values = _against_strangers(shares, of_strangers)
    order = np.lexsort((every, -np.nan_to_num(margins[surest, every]), p_values))
    frame = pd.DataFrame(
        {
            "position": context.places("train"),
            "attack": np.array(list(scored), dtype=object)[surest],
            "margin": margins[surest, every],
            "copied": nearest(context, "train", "synthetic")[0][:, 0] <= 0.0,
            "p_value": p_values,
            "expected_false": sizes[0] * p_values,
        }
    )
    return frame.iloc[order].reset_index(drop=True)


def _against_strangers(shares: np.ndarray, of_strangers: np.ndarray) -> np.ndarray:
    """Return the fraction of holdout rows that are at least as exposed as each row."""
    # Attacks with a classifier score a sample of the rows. Rows are therefore compared with holdout
    # rows that the same attacks scored.
    p_values = np.ones(shares.shape[1])
    by, by_strangers = (np.isfinite(each).T for each in (shares, of_strangers))
    for scored_by in np.unique(by, axis=0):
        own, strangers = (np.all(each == scored_by, axis=1) for each in (by, by_strangers))
        least = np.sort(of_strangers[:, strangers].min(axis=0))
        n_alike = np.searchsorted(least, shares[:, own].min(axis=0), side="right")
        p_values[own] = (1.0 + n_alike) / (1.0 + least.size)
    return p_values


def _n_above(others: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return for each score the number of holdout rows with at least this score."""
    n_below: np.ndarray = np.searchsorted(np.sort(others), scores, side="left")
    return others.size - n_below
