"""Means, tests and ranks over folds."""

import numpy as np
import pytest

from skeval.stats.folds import corrected_t_test, fold_mean


def test_the_error_is_that_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, 0.4, 0.5])
    found = fold_mean(values, 0.25)
    assert found["standard_error"] == pytest.approx(np.sqrt((0.2 + 0.25) * values.var(ddof=1)))


def test_equal_candidates_are_equal():
    assert corrected_t_test(np.zeros(5), 0.25) == 1.0
    assert corrected_t_test(np.full(5, 0.1), 0.25) < 1e-6
    assert corrected_t_test(np.array([0.3]), 0.25) == 1.0
