from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats.contingency import association
from sklearn.metrics import (
    adjusted_mutual_info_score,
    homogeneity_completeness_v_measure,
    mutual_info_score,
    normalized_mutual_info_score,
)

from skeval.stats.association import SideBySide, cramers_v

SQUARE = np.array([[20, 5, 5], [5, 20, 5], [5, 5, 20]])
TWO = np.array([[30, 10], [10, 30]])


def mutual_information(table):
    return SideBySide(table).mutual_information.item()


def theils_u(table):
    return tuple(SideBySide(table).theils_u().ravel().tolist())


def normalized_mutual_information(table, **settings):
    return SideBySide(table).normalized_information(**settings).item()


def labels_of(table):
    """Return the two columns of which a table counts the pairs."""
    rows, columns = np.nonzero(table)
    return np.repeat(rows, table[rows, columns]), np.repeat(columns, table[rows, columns])


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 8, (4, k)) + np.eye(4, k, dtype=int) + 1 for k in (2, 3, 6)]


@pytest.mark.parametrize(
    ("table", "bias_correction", "expected"),
    [
        ([[30, 10], [10, 30]], False, 0.5),  # Yates' correction would give 0.475
        (SQUARE, False, 0.5),
        (SQUARE, True, 0.482451),
        ([[25, 25], [25, 25]], False, 0.0),
        ([[50, 0], [0, 50]], False, 1.0),
        ([[50, 0], [0, 50]], True, 1.0),
    ],
)
def test_known_values(table, bias_correction, expected):
    assert cramers_v(np.array(table), bias_correction=bias_correction) == pytest.approx(
        expected, abs=1e-6
    )


def test_halves_of_iris(iris_halves):
    tables = []
    for half in iris_halves:
        edges = np.linspace(iris_halves[0]["pl"].min(), iris_halves[0]["pl"].max(), 11)[1:-1]
        tables.append(pd.crosstab(np.digitize(half["pl"], edges), half["target"]).to_numpy())
    plain = [cramers_v(table, bias_correction=False) for table in tables]
    np.testing.assert_allclose(plain, [0.905170, 0.933504], atol=1e-6)
    np.testing.assert_allclose([cramers_v(t) for t in tables], [0.854975, 0.885733], atol=1e-6)


def test_v_of_scipy(tables):
    for table in tables:
        ours = cramers_v(table, bias_correction=False)
        assert ours == pytest.approx(association(table, method="cramer", correction=False))


def test_correction_by_hand():
    """Bergsma, written out: 0 in the mean of independent columns, where the plain V is not."""
    n, r, k = SQUARE.sum(), 3, 3
    phi2 = max(0.0, 45 / n - (r - 1) * (k - 1) / (n - 1))
    corrected = np.sqrt(phi2 / (r - (r - 1) ** 2 / (n - 1) - 1))
    assert cramers_v(SQUARE) == pytest.approx(corrected)
    rng = np.random.default_rng(0)
    free = [np.histogram2d(*rng.random((2, 60)), bins=6)[0] for _ in range(100)]
    assert np.mean([cramers_v(table) for table in free]) < 0.1
    assert np.mean([cramers_v(table, bias_correction=False) for table in free]) > 0.25


def test_empty_rows_and_columns_are_dropped():
    padded = np.pad(SQUARE, 1)
    assert cramers_v(padded) == cramers_v(SQUARE)
    assert mutual_information(padded) == pytest.approx(mutual_information(SQUARE))
    assert theils_u(padded) == pytest.approx(theils_u(SQUARE))
    for correction in ("miller-madow", "exact", None):
        ours = [normalized_mutual_information(t, correction=correction) for t in (padded, SQUARE)]
        assert ours[0] == pytest.approx(ours[1])


@pytest.mark.parametrize("table", [[[5, 5], [0, 0]], [[0, 0], [0, 0]], [[1, 0], [0, 0]]])
def test_undefined_where_a_column_is_constant(table):
    table = np.array(table)
    assert np.isnan(cramers_v(table))
    assert np.isnan(cramers_v(table, bias_correction=False))
    assert np.isnan(normalized_mutual_information(table))
    assert np.isnan(theils_u(table)[0])


def test_a_constant_column_tells_nothing_of_the_other():
    of_rows, of_columns = theils_u(np.array([[5, 5]]))
    assert np.isnan(of_rows)
    assert of_columns == 0.0


def test_correction_needs_rows():
    assert np.isnan(cramers_v(np.eye(2, dtype=int)))


def test_information_of_scikit_learn(tables):
    for table in tables:
        x, y = labels_of(table)
        assert mutual_information(table) == pytest.approx(mutual_info_score(x, y))
        for average in ("arithmetic", "geometric", "min", "max"):
            plain = normalized_mutual_info_score(x, y, average_method=average)
            adjusted = adjusted_mutual_info_score(x, y, average_method=average)
            ours = {
                correction: normalized_mutual_information(
                    table, average=average, correction=correction
                )
                for correction in (None, "exact")
            }
            assert ours[None] == pytest.approx(plain)
            assert ours["exact"] == pytest.approx(max(0.0, adjusted), abs=1e-9)
        homogeneity, completeness, _ = homogeneity_completeness_v_measure(x, y)
        assert theils_u(table) == pytest.approx((homogeneity, completeness))


def test_information_by_hand():
    assert mutual_information(TWO) == pytest.approx(0.130812, abs=1e-6)
    assert normalized_mutual_information(TWO, correction=None) == pytest.approx(0.188722, abs=1e-6)
    adjusted = normalized_mutual_information(TWO, correction="exact")
    assert adjusted == pytest.approx(0.181197, abs=1e-6)
    by_hand = (0.130812 - 1 / 160) / (np.log(2) - 1 / 160)
    assert normalized_mutual_information(TWO) == pytest.approx(by_hand, abs=1e-5)


def test_theils_u_by_hand():
    x, y = list("aaaabbcc"), list("ppqqpprr")
    table = pd.crosstab(pd.Series(x), pd.Series(y)).to_numpy()
    assert mutual_information(table) == pytest.approx(0.693147, abs=1e-6)
    assert theils_u(table) == pytest.approx((2 / 3, 2 / 3))


def test_theils_u_is_not_symmetric():
    """A postcode tells the town, the town does not tell the postcode."""
    towns, postcodes = np.repeat([0, 1], 20), np.arange(40) // 5
    table = np.zeros((2, 8), dtype=int)
    np.add.at(table, (towns, postcodes), 1)
    assert theils_u(table) == pytest.approx((1.0, 1 / 3))


def test_corrections_take_off_chance():
    """Independent columns: the plain measure grows with the cells, the corrected ones stay low."""
    rng = np.random.default_rng(0)
    free = [np.histogram2d(*rng.random((2, 100)), bins=8)[0].astype(int) for _ in range(60)]
    mean = {
        correction: np.mean([normalized_mutual_information(t, correction=correction) for t in free])
        for correction in (None, "miller-madow", "exact")
    }
    assert mean[None] > 0.1
    assert mean["miller-madow"] < mean[None] / 4
    assert mean["exact"] < mean[None] / 4


def test_tables_side_by_side_are_measured_one_by_one(tables):
    beside, starts = np.hstack(tables), np.array([0, 2, 5])
    for correction in (True, False):
        alone = [cramers_v(table, bias_correction=correction) for table in tables]
        together = SideBySide(beside, starts).cramers_v(bias_correction=correction)
        np.testing.assert_allclose(together, alone, rtol=1e-12)
    np.testing.assert_allclose(
        SideBySide(beside, starts).theils_u().T, [theils_u(table) for table in tables]
    )
    for correction in ("miller-madow", "exact", None):
        alone = [normalized_mutual_information(table, correction=correction) for table in tables]
        together = SideBySide(beside, starts).normalized_information(correction=correction)
        np.testing.assert_allclose(together, alone, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 30))
)
def test_bounds_and_symmetry(table):
    measures = [
        cramers_v(table),
        cramers_v(table, bias_correction=False),
        normalized_mutual_information(table),
        normalized_mutual_information(table, correction=None),
        normalized_mutual_information(table, average="min", correction="exact"),
    ]
    turned = [
        cramers_v(table.T),
        cramers_v(table.T, bias_correction=False),
        normalized_mutual_information(table.T),
        normalized_mutual_information(table.T, correction=None),
        normalized_mutual_information(table.T, average="min", correction="exact"),
    ]
    np.testing.assert_allclose(measures, turned, atol=1e-9)
    np.testing.assert_allclose(theils_u(table), theils_u(table.T)[::-1], atol=1e-9)
    for value in (*measures, *theils_u(table)):
        assert np.isnan(value) or 0.0 <= value <= 1.0
