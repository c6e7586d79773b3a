"""The native phi_k: published values, parity with the reference package, and its invariances."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from numpy.typing import ArrayLike
from phik.binning import bin_data
from phik.phik import phik_from_hist2d, phik_from_rebinned_df
from scipy.optimize import brentq
from scipy.stats import chi2_contingency, multivariate_normal
from sklearn.datasets import load_iris

from skeval import Metric
from skeval.fidelity import CramersVDifference, PhikMatrixDifference
from skeval.fidelity import phik as phik_module
from skeval.fidelity.phik import normal_cells, phik
from skeval.stats.association import SideBySide

KNOWN = [
    ([[10, 0], [0, 10]], 0.986281, 0.987688),
    ([[30, 10], [10, 30]], 0.666677, 0.678802),
    ([[20, 5, 5], [5, 20, 5], [5, 5, 20]], 0.813852, 0.826913),
    ([[40, 10, 0], [10, 30, 20]], 0.413605, 0.419509),
]
IRIS = {
    ("sl", "sw"): 0.5683,
    ("sl", "pl"): 0.7934,
    ("sl", "pw"): 0.7299,
    ("sl", "t"): 0.7534,
    ("sw", "pl"): 0.5128,
    ("sw", "pw"): 0.7237,
    ("sw", "t"): 0.6079,
    ("pl", "pw"): 0.7785,
    ("pl", "t"): 0.9945,
    ("pw", "t"): 0.9515,
}

tables = st.tuples(st.integers(2, 6), st.integers(2, 6)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 50))
)


def phik_of_package(table: ArrayLike, *, noise_correction: bool = True) -> float:
    """Return the coefficient of the phik package for the rows and columns that are used."""
    counts = np.asarray(table)
    used = counts > 0
    counts = counts[used.any(axis=1)][:, used.any(axis=0)]
    return float(phik_from_hist2d(counts, noise_correction)) if min(counts.shape) > 1 else np.nan


def random_table(rng: np.random.Generator) -> np.ndarray:
    """Draw a table of up to 8 x 8 levels whose dependence ranges from none to nearly all."""
    n_rows, n_columns = rng.integers(2, 9, 2)
    diagonal = np.eye(n_rows, n_columns, dtype=np.int64) * rng.choice([0, 5, 20, 300])
    # at least one count everywhere, as the reference counts empty rows among the levels
    noise = rng.poisson(rng.choice([5, 20]), (n_rows, n_columns))
    return np.asarray(noise + 1 + diagonal)


def binned_iris() -> pd.DataFrame:
    X, y = load_iris(return_X_y=True)
    raw = pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"]).assign(t=y.astype(str))
    return bin_data(raw, ["sl", "sw", "pl", "pw"], bins=10)


@pytest.mark.parametrize(("table", "corrected", "plain"), KNOWN)
def test_known_values(table: list[list[int]], corrected: float, plain: float) -> None:
    assert phik(table) == pytest.approx(corrected, abs=5e-6)
    assert phik(table, noise_correction=False) == pytest.approx(plain, abs=5e-6)


@pytest.mark.parametrize("noise_correction", [True, False])
def test_independence_is_zero(noise_correction: bool) -> None:
    table = np.outer([10, 20, 30], [1, 2])
    assert phik(table, noise_correction=noise_correction) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("n", [3, 4, 7])
def test_one_level_for_each_other_is_one(n: int) -> None:
    assert phik(np.diag(np.arange(20, 20 + n))) == pytest.approx(1.0, abs=1e-9)


def test_determined_by_few_rows() -> None:
    assert phik([[1, 0, 0], [0, 1, 1]]) == pytest.approx(1.0)
    assert phik([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]]) == pytest.approx(1.0)
    # two rows say nothing: Yates' correction takes all of their chi-square
    assert phik([[1, 0], [0, 1]]) == 0.0


def test_iris() -> None:
    binned = binned_iris()
    found = {pair: phik(pd.crosstab(binned[pair[0]], binned[pair[1]])) for pair in IRIS}
    assert found == pytest.approx(IRIS, abs=1e-3)


def test_iris_matrix_of_the_reference() -> None:
    binned = binned_iris()
    # the reference changes the frame it is given
    reference = phik_from_rebinned_df(binned.copy(), njobs=1)
    for a, b in IRIS:
        assert phik(pd.crosstab(binned[a], binned[b])) == pytest.approx(
            reference.loc[a, b], abs=1e-5
        )


@pytest.mark.parametrize("noise_correction", [True, False])
def test_parity_with_the_reference(noise_correction: bool) -> None:
    rng = np.random.default_rng(0)
    drawn = [random_table(rng) for _ in range(40)]
    ours = [phik(table, noise_correction=noise_correction) for table in drawn]
    reference = [phik_of_package(table, noise_correction=noise_correction) for table in drawn]
    assert_allclose(ours, reference, atol=1e-5)
    assert max(ours) > 0.9
    assert min(ours) < 0.1


@pytest.mark.parametrize("shape", [(2, 2), (2, 9), (10, 10), (13, 40)])
def test_interpolation_between_the_tabulated_angles(shape: tuple[int, int]) -> None:
    independent = normal_cells(0.0, *shape)

    def g(rho: float) -> float:
        return float(((normal_cells(rho, *shape) - independent) ** 2 / independent).sum())

    curve = phik_module.angle_curve(*shape)
    for share in (0.001, 0.05, 0.3, 0.77, 0.99, 0.9999):
        root = brentq(lambda rho, share=share: g(rho) / g(1.0) - share, 0.0, 1.0, xtol=1e-12)
        assert float(np.sin(curve(np.sqrt(share)))) == pytest.approx(root, abs=2e-6)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.77, 0.999])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(2, 2), (3, 4), (5, 6)])
def test_cells_of_the_normal(rho: float, n_rows: int, n_columns: int) -> None:
    x, y = (np.linspace(-5, 5, n + 1) for n in (n_rows, n_columns))
    corners = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    law = multivariate_normal(cov=[[1, rho], [rho, 1]])
    below = law.cdf(corners)
    expected = np.diff(np.diff(below, axis=0), axis=1)
    assert_allclose(normal_cells(rho, n_rows, n_columns), expected, atol=1e-7)


def test_cells_at_the_ends() -> None:
    comonotone = normal_cells(1.0, 4, 4)
    assert_allclose(comonotone, np.diag(np.diag(comonotone)), atol=1e-15)
    apart = normal_cells(0.0, 4, 6)
    assert_allclose(apart, np.outer(apart.sum(axis=1), apart.sum(axis=0)) / apart.sum(), atol=1e-15)
    assert apart.sum() == pytest.approx(1.0, abs=2e-6)


def test_yates_correction_is_that_of_scipy() -> None:
    for table in ([[30, 10], [10, 30]], [[3, 3], [3, 4]], [[1, 9], [8, 2]]):
        counts = np.array(table, dtype=float)
        chi_square = SideBySide(counts).chi_square(yates=True).item()
        assert chi_square == pytest.approx(chi2_contingency(counts)[0])


@given(tables, st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_order_of_levels_does_not_matter(table: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shuffled = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
    assert_allclose(phik(shuffled), phik(table), atol=1e-6)
    assert_allclose(phik(table.T), phik(table), atol=1e-6)


@given(tables)
@pytest.mark.slow
def test_bounds_and_noise(table: np.ndarray) -> None:
    value = phik(table)
    used = table > 0
    if min(used.any(axis=1).sum(), used.any(axis=0).sum()) < 2:
        assert np.isnan(value)
    else:
        assert 0.0 <= value <= 1.0
        assert value <= phik(table, noise_correction=False) + 1e-9


def test_more_rows_of_one_dependence_change_little_without_noise_correction() -> None:
    table = np.array([[20, 5, 5], [5, 20, 5], [5, 5, 20]])
    plain = phik(table, noise_correction=False)
    assert phik(50 * table, noise_correction=False) == pytest.approx(plain)
    assert phik(50 * table) == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize("rho", [0.1, 0.6, 0.95])
@pytest.mark.parametrize("shape", [(2, 2), (5, 5), (10, 10)])
def test_correlation_of_a_normal_is_recovered(rho: float, shape: tuple[int, int]) -> None:
    table = 1e9 * normal_cells(rho, *shape)
    assert phik(table, noise_correction=False) == pytest.approx(rho, abs=3e-4)


def test_empty_rows_and_columns_are_dropped() -> None:
    padded = np.zeros((5, 4), dtype=int)
    padded[np.ix_([0, 3], [1, 2])] = [[30, 10], [10, 30]]
    assert phik_of_package(padded) == pytest.approx(phik(padded), abs=1e-5)
    assert phik(padded) == phik([[30, 10], [10, 30]])


@pytest.mark.parametrize(
    "table",
    [[[5]], [[1, 2, 3]], [[0, 0], [3, 4]], np.zeros((3, 3)), np.zeros((0, 4)), np.zeros((2, 0))],
)
def test_too_few_levels(table: ArrayLike) -> None:
    assert np.isnan(phik(table))
    assert np.isnan(phik_of_package(table))


def test_input_is_left_alone() -> None:
    table = np.array([[30.0, 10.0], [10.0, 30.0]])
    before = table.copy()
    phik(table)
    assert_allclose(table, before, atol=0)


@pytest.mark.slow
def test_thousands_of_levels_are_affordable() -> None:
    rng = np.random.default_rng(0)
    table = rng.multinomial(100_000, np.full(25_000, 1 / 25_000)).reshape(5, 5000)
    table[0, ::2] += 5
    phik_module.angle_curve.cache_clear()
    tracemalloc.start()
    begin = time.process_time()
    value = phik(table)
    seconds = time.process_time() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.0 < value < 1.0
    assert peak < 50e6
    assert seconds < 20.0  # about 1 s, the limit is only against an explosion


def test_curves_are_kept_and_shared_by_the_transposed() -> None:
    phik_module.angle_curve.cache_clear()
    table = np.array([[20, 5, 5], [5, 5, 20]])
    for same in (table, table.T, 2 * table):
        phik(same)
    info = phik_module.angle_curve.cache_info()
    assert (info.misses, info.hits) == (1, 2)


def test_numbers_of_few_values_have_a_cell_each() -> None:
    rng = np.random.default_rng(0)
    few = rng.choice([0.0, 1.0, 2.0, 50.0], 200)
    table = pd.DataFrame({"few": few, "plan": np.where(few + rng.normal(size=200) > 1, "a", "b")})
    found = PhikMatrixDifference().fit(table).evaluate(table).details["train"][0, 1]
    each = pd.crosstab(table["few"], table["plan"]).to_numpy()
    evenly = pd.crosstab(pd.cut(table["few"], 10), table["plan"]).to_numpy()
    assert_allclose(found, phik_of_package(each), atol=1e-4)
    assert abs(found - phik_of_package(evenly)) > 0.01


def without_the_greatest(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["amount"] < table["amount"].max()]


@pytest.fixture(scope="module")
def with_an_extreme_row() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    x[0] = 2.0 * x[:, 0].max(), 0.0  # alone in the last bins of its column
    return pd.DataFrame(
        {"amount": x[:, 0], "other": x[:, 1], "plan": np.where(x[:, 1] > 0, "a", "b")}
    )


@pytest.mark.parametrize("metric", [PhikMatrixDifference(), CramersVDifference()])
def test_a_bin_that_one_row_uses_does_not_change_all_pairs(
    metric: Metric, with_an_extreme_row: pd.DataFrame
) -> None:
    rows = with_an_extreme_row
    value = metric.fit(rows).score(without_the_greatest(rows))
    assert value < 0.002  # with an own shape, 0.08 and 0.01


def test_both_backends_use_the_bins_of_the_training_data(with_an_extreme_row: pd.DataFrame) -> None:
    rows = with_an_extreme_row
    fast, package = (
        PhikMatrixDifference(backend=backend).fit(rows).evaluate(without_the_greatest(rows))
        for backend in ("fast", "phik")
    )
    assert_allclose(fast.details["synthetic"], package.details["synthetic"], atol=1e-5)
