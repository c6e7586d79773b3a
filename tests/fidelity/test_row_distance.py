"""Discrepancy, energy and sliced Wasserstein distance of tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, InvalidValueWarning
from skeval.fidelity import EnergyDistance, MaximumMeanDiscrepancy, SlicedWassersteinDistance
from skeval.fidelity.row_distance import row_matrices
from tests.calibrations import LEVEL, rate_of
from tests.snapshots import raises, warns

RAW = FunctionTransformer()
NAMES = ["a", "b", "c"]
KINDS = [MaximumMeanDiscrepancy, EnergyDistance, SlicedWassersteinDistance]
TESTS = [MaximumMeanDiscrepancy, EnergyDistance]


def frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=NAMES[: rows.shape[1]])


@pytest.fixture(scope="module")
def gaussians() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    return frame(rng.normal(size=(200, 3))), frame(rng.normal(0.5, 1.0, size=(200, 3)))


def without_permutations(kind):
    return kind() if kind is SlicedWassersteinDistance else kind(n_permutations=0)


def test_reference_values_of_the_discrepancy(gaussians):
    train, synthetic = gaussians
    result = MaximumMeanDiscrepancy(space=RAW).fit(train).evaluate(synthetic)
    assert result.value == result.details["unbiased"] == result.details["clipped"]
    assert result.value == pytest.approx(0.0594625, abs=1e-6)
    assert result.details["biased"] == pytest.approx(0.0634342, abs=1e-6)
    assert result.details["gamma"] == pytest.approx(0.105775, abs=1e-6)
    assert result.p_value == 0.005
    assert result.interval is None
    biased = MaximumMeanDiscrepancy(unbiased=False, space=RAW).fit(train).score(synthetic)
    assert biased == result.details["biased"]


def test_reference_values_of_the_energy(gaussians):
    train, synthetic = gaussians
    result = EnergyDistance(space=RAW).fit(train).evaluate(synthetic)
    assert result.value == pytest.approx(0.2836642, abs=1e-6)
    assert result.p_value == 0.005
    assert 0.0 < result.details["normalized"] < 1.0


def test_reference_values_of_the_slices(gaussians):
    train, synthetic = gaussians
    fitted = {
        (p, s): SlicedWassersteinDistance(1000, p, s, space=RAW).fit(train)
        for p, s in [(2, "mean"), (1, "mean"), (2, "max")]
    }
    values = {key: metric.score(synthetic) for key, metric in fitted.items()}
    assert values[2, "mean"] == pytest.approx(0.5206, rel=0.03)
    assert values[1, "mean"] == pytest.approx(0.4485, rel=0.03)
    assert values[2, "max"] == pytest.approx(0.874, rel=0.03)
    details = fitted[2, "mean"].evaluate(synthetic).details
    assert details["times_sqrt_features"] == pytest.approx(3**0.5 * details["mean"])
    assert details["max"] == values[2, "max"]


@pytest.mark.slow
def test_projection_error_is_the_spread_over_seeds(gaussians):
    train, synthetic = gaussians
    results = [
        SlicedWassersteinDistance(50, space=RAW, random_state=seed).fit(train).evaluate(synthetic)
        for seed in range(60)
    ]
    spread = np.std([result.value for result in results])
    errors = [result.details["projection_error"] for result in results]
    assert np.mean(errors) == pytest.approx(spread, rel=0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_best_and_noise_makes_it_worse(kind):
    rng = np.random.default_rng(1)
    train, fresh = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
    metric = without_permutations(kind).fit(train)
    noise = pd.DataFrame({name: rng.permutation(fresh[name]) for name in fresh})
    noise["income"] += 1e5
    noise["city"] = "nowhere"
    copied = metric.score(train)
    values = [
        metric.score(pd.concat([noise[:n_noise], fresh[n_noise:]], ignore_index=True))
        for n_noise in (0, 75, 150, 300)
    ]
    assert copied < values[0]
    assert values == sorted(values)
    if kind is MaximumMeanDiscrepancy:
        assert copied < 0.0
    else:
        assert copied == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_and_columns_means_nothing(kind):
    train, synthetic = make_mixed(80, random_state=0), make_mixed(70, random_state=1)
    value = without_permutations(kind).fit(train).score(synthetic)
    rows = without_permutations(kind).fit(train[::-1]).score(synthetic.sample(frac=1.0))
    columns = without_permutations(kind).fit(train[train.columns[::-1]]).score(synthetic)
    assert rows == pytest.approx(value, abs=1e-9)
    assert columns == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_dead_features_do_not_count(kind, gaussians):
    train, synthetic = gaussians
    metric = without_permutations(kind)
    value = metric.fit(train).score(synthetic)
    wider = metric.fit(train.assign(same=1.0)).score(synthetic.assign(same=1.0))
    assert wider == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", TESTS)
def test_p_value_is_that_of_the_holdout(kind):
    # the synthetic rows are like train and unlike the holdout
    rng = np.random.default_rng(0)
    train, holdout = frame(rng.normal(size=(80, 2))), frame(rng.normal(2, 1, size=(80, 2)))
    synthetic = frame(rng.normal(size=(80, 2)))
    alone = kind().fit(train).evaluate(synthetic)
    beside = kind().fit(train, holdout).evaluate(synthetic)
    assert alone.value == pytest.approx(beside.value, rel=0.2)  # the scale is that of train
    assert (alone.details["p_value_rows"], beside.details["p_value_rows"]) == ("train", "holdout")
    assert alone.p_value > 0.05
    assert beside.p_value == 0.005
    assert kind(n_permutations=0).fit(train).evaluate(synthetic).p_value is None


@pytest.mark.parametrize("kind", KINDS)
def test_baseline_is_the_holdout_in_the_synthetic_place(kind):
    train, holdout = make_mixed(60, random_state=0), make_mixed(40, random_state=1)
    synthetic = make_mixed(60, random_state=2)
    metric = without_permutations(kind)
    result = metric.fit(train, holdout).evaluate(synthetic)
    assert result.details["at_baseline_size"]["n_rows"] == 40
    equal = metric.fit(train, holdout).evaluate(synthetic[:40])
    assert "at_baseline_size" not in equal.details
    if kind is EnergyDistance:  # no scale of its own
        assert result.baseline == equal.baseline
        assert result.baseline == pytest.approx(metric.fit(train).score(holdout), rel=1e-6)
        assert result.details["at_baseline_size"]["value"] != result.value


@pytest.mark.slow
def test_gamma():
    train, synthetic = make_mixed(60, random_state=0), make_mixed(60, random_state=2)
    other = synthetic.assign(income=9e6)
    gammas = {
        rule: [
            MaximumMeanDiscrepancy(gamma=rule, n_permutations=0)
            .fit(train)
            .evaluate(table)
            .details["gamma"]
            for table in (synthetic, other)
        ]
        for rule in ("median", "train_median", 0.2)
    }
    assert gammas["median"][0] != gammas["median"][1]
    assert gammas["train_median"][0] == pytest.approx(gammas["train_median"][1])
    assert gammas[0.2] == [0.2, 0.2]


def test_laplacian_and_random_features(gaussians):
    train, synthetic = gaussians
    for kernel in ("rbf", "laplacian"):
        settings = {"kernel": kernel, "space": RAW, "n_permutations": 19}
        exact = MaximumMeanDiscrepancy(**settings).fit(train).evaluate(synthetic)
        near = MaximumMeanDiscrepancy(n_components=2000, **settings).fit(train).evaluate(synthetic)
        assert near.value == pytest.approx(exact.value, rel=0.15)
        assert exact.p_value == near.p_value == 0.05


def test_random_features_look_at_all_rows(gaussians):
    train, synthetic = gaussians
    capped = MaximumMeanDiscrepancy(max_rows=50).fit(train).evaluate(synthetic)
    assert capped.details["n_rows"] == {"train": 50, "synthetic": 50}
    linear = MaximumMeanDiscrepancy(max_rows=50, n_components=20).fit(train).evaluate(synthetic)
    assert linear.details["n_rows"] == {"train": 200, "synthetic": 200}


def test_one_synthetic_row(gaussians):
    train, synthetic = gaussians
    with warns(DegenerateInputWarning):
        result = MaximumMeanDiscrepancy().fit(train).evaluate(synthetic[:1])
    assert np.isnan(result.value)
    biased = MaximumMeanDiscrepancy(unbiased=False).fit(train).evaluate(synthetic[:1])
    assert np.isfinite(biased.value)
    assert np.isnan(biased.details["unbiased"])
    assert EnergyDistance().fit(train).score(synthetic[:1]) > 0.0
    assert SlicedWassersteinDistance().fit(train).score(synthetic[:1]) > 0.0


def test_one_holdout_row_gives_no_unbiased_test(gaussians):
    train, synthetic = gaussians
    with warns(DegenerateInputWarning):
        result = MaximumMeanDiscrepancy().fit(train, synthetic[:1]).evaluate(synthetic[1:])
    assert result.details["p_value_rows"] == "train"
    assert result.baseline is None


@pytest.mark.parametrize("kind", KINDS)
def test_constant_tables_are_alike(kind):
    table = pd.DataFrame({"x": [3.0] * 8, "c": ["u"] * 8})
    result = kind().fit(table).evaluate(table[:5])
    assert result.value == 0.0
    assert result.p_value == (None if kind is SlicedWassersteinDistance else 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_are_seen(kind):
    table = make_mixed(60, random_state=0)
    emptied = table.assign(age=np.nan)
    metric = without_permutations(kind)
    with warns(DegenerateInputWarning):
        assert metric.fit(table).score(emptied) > 0.05
    with warns(DegenerateInputWarning):
        alike = metric.fit(emptied, schema={"age": "continuous"}).score(emptied)
    assert alike == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_infinities_count_as_missing(kind):
    table = frame(np.random.default_rng(0).normal(size=(40, 2)))
    metric = without_permutations(kind).fit(table)
    infinite, missing = table.copy(), table.copy()
    infinite.loc[:9, "a"], missing.loc[:9, "a"] = np.inf, np.nan
    with warns(InvalidValueWarning):
        value = metric.score(infinite)
    # the order of rows, in which sums round, goes by what cells hold: infinity is not missing there
    assert value == pytest.approx(metric.score(missing), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_measure(kind):
    table = pd.DataFrame({"t": [f"some text of the row {i}" for i in range(20)]})
    metric = kind().fit(table, schema={"t": "text"})
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(table))


@pytest.mark.parametrize("kind", KINDS)
def test_values_beyond_all_measure(kind):
    table = frame(np.random.default_rng(0).normal(size=(40, 2)))
    with warns(DegenerateInputWarning):
        assert np.isnan(kind().fit(table).score(table * 1e200))


@pytest.mark.parametrize("kind", KINDS)
def test_gower_is_refused_in_one_sentence(kind):
    with raises(InvalidParameterError):
        kind(space="gower").fit(make_mixed(10))


def test_wrong_gammas_are_refused():
    for gamma in (0.0, -1.0, "mean", None, float("inf")):
        with raises(InvalidParameterError):
            MaximumMeanDiscrepancy(gamma=gamma).fit(make_mixed(10))


def test_rows_are_encoded_and_sampled_once_for_all():
    train, synthetic = make_mixed(50, random_state=0), make_mixed(50, random_state=1)
    context = Context.of(train).with_synthetic(synthetic)
    first, second = (row_matrices(context, "euclidean", 20, 0) for _ in range(2))
    assert first is second
    assert {role: len(rows) for role, rows in first.items()} == {"train": 20, "synthetic": 20}
    assert first["train"].mean(axis=0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.calibration
@pytest.mark.parametrize("kind", TESTS)
def test_p_values_of_fresh_rows_have_their_size(kind):
    def rejects(seed):
        train, holdout, synthetic = (make_mixed(40, random_state=3 * seed + i) for i in range(3))
        return kind(random_state=seed).fit(train, holdout).evaluate(synthetic).p_value <= 0.05

    found = rate_of(map(rejects, range(200)), LEVEL)
    assert found.holds, found
