"""The error of the AUC of rows and of the same rows with shuffled columns."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.roc import area_and_error
from skeval.steps.relations import area_of_shuffled, shuffle_columns_apart


def test_shuffled_rows_consist_of_the_cells_of_the_rows():
    rows = np.arange(30.0).reshape(10, 3)
    shuffled, sources = shuffle_columns_apart(rows, np.random.default_rng(0))
    assert (np.sort(shuffled, axis=0) == rows).all()
    assert (shuffled == 3.0 * sources + [0.0, 1.0, 2.0]).all()


@pytest.mark.parametrize("additive", [0.0, 0.5])
def test_the_error_is_smaller_because_shuffled_rows_have_the_same_cells(additive):
    """A score that is a sum over columns has the same mean in rows and in shuffled rows."""
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        rows = 0.8 * rng.normal(size=(200, 1)) + 0.6 * rng.normal(size=(200, 3))
        shuffled, sources = shuffle_columns_apart(rows, rng)
        scores, others = (
            each[:, 0] * each[:, 1] + additive * each.sum(axis=1) for each in (rows, shuffled)
        )
        area, error = area_of_shuffled(np.array([[scores, others]]), sources)
        independent, too_large = area_and_error(scores, others)
        assert area == independent
        found.append((area, error**2, too_large**2))
    areas, squares, too_large = np.array(found).T
    assert squares.mean() == pytest.approx(areas.var(), rel=0.2)
    assert too_large.mean() > 1.15 * areas.var()


def test_a_single_row_has_no_error():
    area, error = area_of_shuffled(np.array([[[2.0], [1.0]]]), np.array([[0, 0]]))
    assert area == 1.0
    assert np.isnan(error)
