from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from skeval.stats.runs import alternation_p_value


def test_the_chance_of_runs_is_that_of_all_orders_of_the_labels():
    observed = np.array([1.0, 4.0, 6.0]), np.array([0.0, 2.0, 3.0, 5.0, 7.0])

    def n_runs(places):
        labels = np.isin(np.arange(8), places)
        return 1 + np.count_nonzero(np.diff(labels))

    orders = [n_runs(places) for places in combinations(range(8), 3)]
    assert n_runs(observed[0]) == 7
    expected = np.mean(np.array(orders) >= 7)
    assert alternation_p_value(*observed) == pytest.approx(expected)


def test_values_of_both_samples_and_empty_samples_tell_nothing():
    values = np.arange(5.0)
    assert alternation_p_value(values, values) == 1.0
    assert alternation_p_value(values, np.empty(0)) == 1.0


@pytest.mark.slow
def test_the_level_is_kept_by_independent_samples():
    rng = np.random.default_rng(0)
    p_values = [alternation_p_value(*rng.normal(size=(2, 200))) for _ in range(1000)]
    assert np.mean(np.array(p_values) <= 0.05) < 0.067  # 2.5 standard errors above the level
