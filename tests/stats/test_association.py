from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.contingency import association

from skeval.stats.association import cramers_v


@pytest.mark.parametrize(
    ("table", "plain", "corrected"),
    [
        ([[30, 10], [10, 30]], 0.5, None),
        ([[20, 5, 5], [5, 20, 5], [5, 5, 20]], 0.5, 0.482451),
        ([[10, 0], [0, 10]], 1.0, 1.0),
        ([[5, 5], [5, 5]], 0.0, 0.0),
    ],
)
def test_known_values(table, plain, corrected):
    table = np.array(table)
    assert cramers_v(table, bias_correction=False) == pytest.approx(plain, abs=1e-9)
    assert cramers_v(table, bias_correction=False) == pytest.approx(
        association(table, "cramer", correction=False)
    )
    if corrected is not None:
        assert cramers_v(table) == pytest.approx(corrected, abs=1e-6)


def test_halves_of_iris(iris_halves):
    import pandas as pd

    values = []
    for half in iris_halves:
        edges = np.linspace(iris_halves[0]["pl"].min(), iris_halves[0]["pl"].max(), 11)[1:-1]
        values.append(pd.crosstab(np.digitize(half["pl"], edges), half["target"]).to_numpy())
    found = [cramers_v(table, bias_correction=False) for table in values]
    np.testing.assert_allclose(found, [0.905170, 0.933504], atol=1e-6)
    np.testing.assert_allclose([cramers_v(t) for t in values], [0.854975, 0.885733], atol=1e-6)


def test_empty_levels_do_not_count():
    table = np.array([[30, 0, 10], [0, 0, 0], [10, 0, 30]])
    assert cramers_v(table) == cramers_v(table[np.ix_([0, 2], [0, 2])])


def test_one_level_is_no_association():
    assert np.isnan(cramers_v(np.array([[3, 4]])))
    assert np.isnan(cramers_v(np.array([[1, 0], [0, 0]])))


def test_corrected_value_is_zero_in_the_mean_of_independent_columns():
    rng = np.random.default_rng(0)
    tables = [np.bincount(rng.integers(0, 25, 100), minlength=25).reshape(5, 5) for _ in range(200)]
    assert np.mean([cramers_v(t) for t in tables]) < 0.5 * np.mean(
        [cramers_v(t, bias_correction=False) for t in tables]
    )
