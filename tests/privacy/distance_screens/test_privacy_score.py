from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, hypergeom
from sklearn.preprocessing import FunctionTransformer

from skeval import TablePreprocessor
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import NNDistanceDistributions
from skeval.privacy import PrivacyScore
from skeval.privacy.distance_screens.proximity_ratios import (
    null_clipped_mean,
    proximity,
    proximity_bootstrap,
    proximity_covariance,
)
from skeval.stats.distributions import common_histograms
from skeval.stats.percentiles import ratios
from tests.snapshots import warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def normal_tables(seed, n, leak=0.0, columns=3):
    rng = np.random.default_rng(seed)
    train, holdout, synthetic = rng.normal(size=(3, n, columns))
    copied = rng.random(n) < leak
    synthetic[copied] = train[copied]
    return [
        pd.DataFrame(rows, columns=list("abcdef")[:columns]) for rows in (train, holdout, synthetic)
    ]


def evaluate(metric, tables):
    train, holdout, synthetic = tables
    return metric.fit(train, holdout).evaluate(synthetic)


def test_one_row_has_no_neighbours():
    with warns(DegenerateInputWarning):
        assert np.isnan(NNDistanceDistributions().fit(TRAIN).score(SYNTHETIC.iloc[:1]))
    with warns(DegenerateInputWarning):
        assert np.isnan(PrivacyScore().fit(TRAIN.iloc[:1], HOLDOUT).score(SYNTHETIC))


def test_histograms():
    samples = {"a": np.array([0.0, 0.1, 0.2, np.inf]), "b": np.array([0.05, 0.3])}
    found = common_histograms(samples, aligned=0.1)
    assert np.isclose(found["edges"], 0.1).any()
    under = np.asarray(found["edges"][1:]) <= 0.1 + 1e-12
    assert found["shares"]["a"][under].sum() == 0.5
    assert found["shares"]["a"][-1] == 0.25
    assert all(shares.sum() == pytest.approx(1.0) for shares in found["shares"].values())
    flat = common_histograms({"a": np.zeros(3)})
    assert flat["shares"]["a"][0] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        "euclidean",
        TablePreprocessor(),
        FunctionTransformer(
            lambda f: f[["age", "visits"]] + f["joined"].astype("int64").to_numpy()[:, None] / 1e12
        ),
    ],
)
def test_other_spaces(space):
    for metric in (PrivacyScore(space=space), NNDistanceDistributions(space=space)):
        fresh = evaluate(metric, (TRAIN, HOLDOUT, SYNTHETIC))
        assert np.isfinite(fresh.value)
    assert evaluate(PrivacyScore(space="euclidean"), (TRAIN, HOLDOUT, TRAIN)).value < 15


@pytest.mark.parametrize("aligned", [1e-9, 0.01, 0.1, 0.12, 0.3, 0.9, 5.0])
@pytest.mark.parametrize(("n_rows", "n_bars"), [(15, 4), (100, 10), (10_000, 40)])
def test_histograms_have_few_bars_for_few_rows(aligned, n_rows, n_bars):
    values = np.linspace(0, 1, n_rows)
    found = common_histograms({"a": values, "b": np.tile(values, 3)}, aligned=aligned)
    assert len(found["edges"]) - 1 <= 2 * n_bars + 1
    assert (np.diff(found["edges"]) > 0).all()
    assert np.isclose(found["edges"], aligned, rtol=1e-9, atol=0).any() == (aligned < 1)
    assert len(common_histograms({"a": values})["edges"]) - 1 == n_bars


def test_columns_can_be_chosen_in_the_default_space():
    tables = normal_tables(0, 100)
    alone = [table[["a"]] for table in tables]
    chosen = evaluate(PrivacyScore(columns=["a"]), tables)
    assert chosen.value == evaluate(PrivacyScore(), alone).value


@pytest.mark.parametrize("se", ["bootstrap", "delta"])
def test_a_copy_and_a_fresh_table(se):
    copy = evaluate(PrivacyScore(se=se), (TRAIN, HOLDOUT, TRAIN))
    assert copy.value == pytest.approx(100 * copy.details["p_real"])
    assert copy.details["risk"] == pytest.approx(1 - copy.details["p_real"])
    assert copy.interval[1] < 20
    fresh = evaluate(PrivacyScore(se=se), (TRAIN, HOLDOUT, SYNTHETIC))
    assert fresh.interval[1] == 100
    assert 85 < fresh.baseline < 100
    assert fresh.details["risk"] < 0.1


@pytest.mark.slow
def test_scores_fall_with_the_leak():
    scores, risks = [], []
    for leak in (0.0, 0.1, 0.3, 0.6, 1.0):
        result = evaluate(PrivacyScore(), normal_tables(0, 400, leak))
        scores.append(result.value)
        risks.append(result.details["risk"])
        expected = leak * (1 - result.details["p_real"])
        assert result.details["risk"] == pytest.approx(expected, abs=0.06)
    assert scores == sorted(scores, reverse=True)
    assert risks == sorted(risks)


def test_risk_confidence_lowers_the_risk():
    tables = normal_tables(1, 400, leak=0.1)
    plain, cautious, very = (
        evaluate(PrivacyScore(risk_confidence=c), tables).details["risk"] for c in (None, 1.0, 3.0)
    )
    p = evaluate(PrivacyScore(), tables).details
    n_risk = p["p_synthetic"] * 400
    assert cautious == pytest.approx(max(0, (n_risk - np.sqrt(n_risk)) / 400 - p["p_real"]))
    assert plain > cautious > very >= 0


def test_rescaled_score_spans_the_scale():
    assert evaluate(PrivacyScore(rescale=True), (TRAIN, HOLDOUT, TRAIN)).value < 1
    assert evaluate(PrivacyScore(rescale=True), (TRAIN, HOLDOUT, HOLDOUT)).value == 100


def test_nothing_in_the_tail():
    far = SYNTHETIC.assign(age=10_000, visits=9_999, income=1e9)
    result = evaluate(PrivacyScore(), (TRAIN, HOLDOUT, far))
    assert result.details["p_synthetic"] == 0
    assert result.value == 100 == result.interval[1]
    assert result.interval[0] < 100 or result.details["p_real"] > 0.05
    text = result.to_json()
    assert json.loads(text)["details"]["ratio"] == "inf"


def test_duplicates_have_a_base_of_zero():
    doubled = pd.concat([TRAIN, TRAIN], ignore_index=True)
    for space in ("gower", "euclidean"):
        with warns(DegenerateInputWarning):
            assert np.isnan(evaluate(PrivacyScore(space=space), (doubled, HOLDOUT, TRAIN)).value)
    some = pd.concat([TRAIN, TRAIN.iloc[:20]], ignore_index=True)
    with warns(DegenerateInputWarning):
        result = evaluate(PrivacyScore(), (some, HOLDOUT, SYNTHETIC))
    assert result.details["zero_base"] == pytest.approx(40 / 220)
    assert result.interval[1] == 100


def test_a_handful_of_rows_has_no_interval():
    with warns(DegenerateInputWarning):
        result = evaluate(PrivacyScore(), (TRAIN, HOLDOUT, SYNTHETIC.iloc[:3]))
    assert result.interval is None


@pytest.mark.slow
def test_split_mode_needs_no_holdout():
    result = PrivacyScore(n_splits=3).fit(TRAIN).evaluate(SYNTHETIC)
    assert result.details["mode"] == "split"
    assert result.details["n_rows"] == 100
    copy = PrivacyScore().fit(TRAIN).score(TRAIN)
    assert copy < 40 < result.value
    chosen = PrivacyScore(mode="split").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert chosen.details["mode"] == "split"


def test_sizes_are_matched():
    many = pd.concat([SYNTHETIC] + [make_mixed(200, random_state=s) for s in (10, 11, 12)])
    matched = evaluate(PrivacyScore(), (TRAIN, HOLDOUT, many))
    unmatched = evaluate(PrivacyScore(match_size=False), (TRAIN, HOLDOUT, many))
    assert unmatched.details["p_synthetic"] > 2 * matched.details["p_synthetic"]


@pytest.mark.calibration
@pytest.mark.parametrize("se", ["bootstrap", "delta"])
def test_intervals_cover_under_the_null(se):
    """A fresh table's true score is 100, so that the upper limit is 100 in 97.5% of seeds, or more by clipping."""
    limits = [
        evaluate(PrivacyScore(se=se, n_bootstrap=200), normal_tables(seed, 300)).interval[1]
        for seed in range(200)
    ]
    held = np.mean(np.array(limits) == 100)
    assert 0.94 <= held <= 1.0


@pytest.mark.slow
def test_baseline_is_the_mean_score_of_a_fresh_table():
    results = [evaluate(PrivacyScore(se="delta"), normal_tables(seed, 500)) for seed in range(100)]
    assert np.mean([r.value for r in results]) == pytest.approx(
        np.mean([r.baseline for r in results]), abs=1.5
    )
    assert np.mean([r.baseline for r in results]) == pytest.approx(94.8, abs=2.0)


# ------------------------------------------------------------------------------------- the shares


TSPR = np.array([0.05, 0.2, 0.3, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6])
TTPR = np.array([0.25, 0.5, 0.6, 0.8, 1, 1.1, 1.2, 1.3, 1.4, 2])


def test_ratios_of_zero():
    found = ratios(np.array([0.0, 1.0, 0.0, 3.0]), np.array([0.0, 0.0, 2.0, 2.0]))
    assert found.tolist() == [1.0, np.inf, 0.0, 1.5]


def test_proximity_by_hand():
    tail = proximity(TSPR, TTPR, 0.1)
    assert (tail.threshold, tail.p_synthetic, tail.p_real, tail.ratio) == (0.25, 0.2, 0.1, 0.5)


def test_proximity_of_the_toy_table():
    nn = {
        "SR": np.array([0, 0.2, 1, 4]),
        "HR": np.array([2, 1, 2, 2]),
        "loo": np.array([1, 1, 3, 5]),
    }
    np.testing.assert_allclose(ratios(nn["SR"], nn["loo"]), [0, 0.2, 1 / 3, 0.8])
    np.testing.assert_allclose(ratios(nn["HR"], nn["loo"]), [2, 1, 2 / 3, 0.4])


def test_no_synthetic_ratio_in_the_tail():
    assert proximity(TSPR + 5, TTPR, 0.1).ratio == np.inf


def resampled_shares(tspr, ttpr, q, n_bootstrap, rng):
    """Resample rows the plain way."""
    shares = []
    for _ in range(n_bootstrap):
        rows = rng.integers(0, ttpr.size, ttpr.size)
        tail = proximity(tspr[rows], ttpr[rows], q)
        shares.append((tail.p_synthetic, tail.p_real))
    return np.array(shares).T


@pytest.mark.parametrize("digits", [1, 8])
def test_bootstrap_is_resampling_of_rows(digits):
    rng = np.random.default_rng(0)
    tspr, ttpr = rng.exponential(size=(2, 60)).round(digits)
    fast = proximity_bootstrap(tspr, ttpr, 0.1, 50, np.random.default_rng(1))
    plain = resampled_shares(tspr, ttpr, 0.1, 50, np.random.default_rng(1))
    np.testing.assert_allclose(fast, plain, atol=1e-12)


def leaky_ratios(rng, n, leak):
    """Return ratios of n train rows to a synthetic table that copies each with probability `leak`."""
    train, holdout, synthetic = rng.normal(size=(3, n, 2))
    copied = rng.random(n) < leak
    synthetic[copied] = train[copied]
    nearest = [
        np.partition(np.abs(train[:, None] - other).sum(axis=2), 1, axis=1)
        for other in (synthetic, holdout, train)
    ]
    base = nearest[2][:, 1]
    return (
        ratios(nearest[0][:, 0], base),
        ratios(nearest[1][:, 0], base),
        ratios(nearest[1][:, 1], base),
    )


@cache
def simulated(leak):
    """Return ratios of 150 independent tables at one leak."""
    return [leaky_ratios(np.random.default_rng([7, i]), 200, leak) for i in range(150)]


@pytest.mark.slow
@pytest.mark.parametrize("leak", [0, 0.1, 0.3])
def test_standard_errors_are_those_of_independent_tables(leak):
    shares = [proximity(tspr, ttpr, 0.1).p_synthetic for tspr, ttpr, _ in simulated(leak)]
    linearised = [proximity_covariance(tspr, ttpr, 0.1) ** 0.5 for tspr, ttpr, _ in simulated(leak)]
    replicates = [
        proximity_bootstrap(tspr, ttpr, 0.1, 100, np.random.default_rng(i))[0].std(ddof=1)
        for i, (tspr, ttpr, _) in enumerate(simulated(leak))
    ]
    truth = np.std(shares, ddof=1)
    assert 0.85 * truth < np.mean(linearised) < 1.35 * truth
    assert 0.85 * truth < np.mean(replicates) < 1.35 * truth


@pytest.mark.slow
def test_mean_score_of_a_fresh_table():
    scores, predicted = [], []
    for tspr, ttpr, second in simulated(0):
        tail = proximity(tspr, ttpr, 0.1)
        scores.append(min(1.0, tail.ratio))
        both = np.clip(2 * np.mean(second <= tail.threshold), tail.p_real**2, tail.p_real)
        predicted.append(null_clipped_mean(tail.p_real, both, tspr.size))
    assert np.mean(predicted) == pytest.approx(np.mean(scores), abs=0.02)


# ------------------------------------------------------------------- train rows against holdout rows


def close_by_brute_force(tables, q):
    """Return which real rows are close to a synthetic one, train first."""
    train, holdout, synthetic = (table.to_numpy() for table in tables)
    real = np.vstack([train, holdout])
    span = np.ptp(real, axis=0)
    within = np.minimum(1, np.abs(real[:, None] - real) / span).mean(axis=2)
    np.fill_diagonal(within, np.inf)
    first, second = np.sort(within, axis=1)[:, :2].T
    to_synthetic = np.minimum(1, np.abs(real[:, None] - synthetic) / span).mean(axis=2).min(axis=1)
    threshold = np.quantile(first / second, q, method="inverted_cdf")
    return to_synthetic / first <= threshold


@pytest.mark.parametrize("n_holdout", [80, 50])
@pytest.mark.parametrize("q", [0.1, 0.3])
def test_the_p_value_is_that_of_close_rows_by_brute_force(n_holdout, q):
    train, holdout, synthetic = normal_tables(3, 80, leak=0.2)
    tables = train, holdout[:n_holdout], synthetic
    result = evaluate(PrivacyScore(q, n_bootstrap=10), tables)
    is_close = close_by_brute_force(tables, q)
    k, n = int(is_close[:80].sum()), is_close.size
    assert result.contrast.observed == k / 80
    assert result.contrast.expected == (is_close.sum() - k) / n_holdout
    # all choices of train rows are equally likely
    p_value = hypergeom.sf(k - 1, n, is_close.sum(), 80)
    assert result.p_value == pytest.approx(p_value)
    assert result.p_value < 0.05


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_duplicates_are_not_nearer_than_duplicates():
    tables = (make_mixed(60, random_state=seed)[["plan", "member"]] for seed in range(3))
    result = evaluate(PrivacyScore(n_bootstrap=10), tuple(tables))
    assert result.details["threshold"] == 1.0
    assert (result.contrast.observed, result.contrast.expected) == (0.0, 0.0)
    assert result.p_value == 1.0


def test_half_of_train_is_no_holdout_to_test_with():
    result = evaluate(PrivacyScore(mode="split", n_splits=2), (TRAIN, HOLDOUT, SYNTHETIC))
    assert result.p_value is None
    assert result.contrast is None


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", [(150, 150, 150), (150, 60, 300)])
def test_the_p_value_keeps_its_level(sizes):
    p_values = []
    for seed in range(150):
        rng = np.random.default_rng([seed, *sizes])
        tables = [pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc")) for n in sizes]
        p_values.append(evaluate(PrivacyScore(n_bootstrap=10), tables).p_value)
    for level in (0.01, 0.05, 0.2):
        most = binom.isf(0.001, len(p_values), level)
        assert np.sum(np.array(p_values) <= level) <= most
    assert np.mean(np.array(p_values) <= 0.2) > 0.08  # nor is it void
