from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning
from skeval.fidelity import HellingerDistance, JensenShannonDistance, KLDivergence, TVComplement
from skeval.fidelity import divergences as d
from skeval.fidelity.divergences import hellinger_distance
from tests.counting import CountingContext

P, Q = pd.DataFrame({"c": list("aaaaabbbcc")}), pd.DataFrame({"c": list("aaaabbbbcc")})


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (JensenShannonDistance(), 0.0958432),
        (JensenShannonDistance(base=np.e), 0.0797947),
        (HellingerDistance(), 0.0798514),
        (KLDivergence(smoothing=0.0), 0.0252672),
    ],
)
def test_published_values(metric, value):
    result = metric.fit(P).evaluate(Q)
    assert result.value == pytest.approx(value, abs=1e-7)
    if isinstance(metric, KLDivergence):
        assert result.details["similarity"] == pytest.approx(1 / (1 + value))
        assert result.details["direction"] == "KL(train || synthetic)"
    else:
        assert result.details["similarity"] == pytest.approx(1 - value, abs=1e-7)


@pytest.mark.parametrize("metric", [JensenShannonDistance(), HellingerDistance()])
def test_ends_of_the_scale(metric):
    table = make_mixed()
    assert metric.fit(table).score(table) == 0.0
    assert metric.fit(P).score(pd.DataFrame({"c": ["z"] * 7})) == 1.0
    assert metric.fit(P).score(pd.DataFrame({"c": ["z"]})) == 1.0


def test_missing_and_unseen_values_have_cells():
    half = pd.DataFrame({"c": ["a"] * 5 + [None] * 5})
    for metric in (JensenShannonDistance(), HellingerDistance(), KLDivergence()):
        whole = metric.fit(pd.DataFrame({"c": ["a"] * 10})).score(half)
        unseen = metric.fit(pd.DataFrame({"c": ["a"] * 10})).score(half.fillna("new"))
        assert whole == pytest.approx(unseen)
        assert whole > 0.1


def test_missed_cells_weigh_most_in_the_divergence():
    train, synthetic = pd.DataFrame({"c": list("ab")}), pd.DataFrame({"c": list("aa")})
    assert KLDivergence(smoothing=0.0).fit(train).score(synthetic) == np.inf
    assert KLDivergence().fit(train).score(synthetic) == pytest.approx(
        0.5 * np.log(0.5) + 0.5 * np.log(0.5 / 1e-5), abs=1e-3
    )
    assert KLDivergence(smoothing=0.0).fit(synthetic).score(train) == pytest.approx(np.log(2))


def test_bins_are_those_of_train():
    train, shifted = (
        pd.DataFrame({"x": np.arange(100.0)}),
        pd.DataFrame({"x": np.arange(100.0) + 10}),
    )
    for strategy in ("uniform", "quantile"):
        metric = HellingerDistance(n_bins=10, strategy=strategy)
        expected = hellinger_distance(np.array([10] * 10), np.array([0, *[10] * 8, 20]))
        assert metric.fit(train).score(shifted) == pytest.approx(expected)


def test_cells_are_shared_with_the_total_variation():
    context = CountingContext.of(make_mixed()).with_synthetic(make_mixed(random_state=1))
    TVComplement(n_bins=10).fit_context(context.real).evaluate_context(context)
    n_known = CountingContext.runs.total()
    result = HellingerDistance().fit_context(context.real).evaluate_context(context)
    assert CountingContext.runs.total() == n_known > 0
    assert set(result.details["columns"]) == set(context.schema.measured)


def saying(kind, *distances):
    """Return a metric that finds these distances, one column after the other."""
    found = iter(distances)

    class Saying(kind):
        def _divergence(self, train, synthetic):
            return next(found)

    return Saying()


def test_a_column_without_a_score_is_in_no_mean():
    context = Context.of(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]}))
    metric = saying(HellingerDistance, 0.2, np.nan, 0.4)
    result = metric.fit_context(context).evaluate(context.train)
    assert (result.value, result.details["similarity"]) == pytest.approx((0.3, 0.7))
    assert result.details["n_used"] == 2

    metric = saying(KLDivergence, 1.0, float("nan"), 3.0)
    result = metric.fit_context(context).evaluate(context.train)
    assert result.value == 2.0
    assert result.details["similarity"] == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert np.isnan(result.details["similarities"]["b"])


def test_no_column_has_no_similarity():
    numbers, keys = (
        pd.DataFrame({"a": [1.0, 2.0]}),
        pd.DataFrame({"k": [f"k{i}" for i in range(30)]}),
    )
    for table in (numbers, keys):
        with pytest.warns(MetricWarning):
            result = saying(HellingerDistance, np.nan).fit(table).evaluate(table)
        assert np.isnan(result.details["similarity"])


COUNTS = arrays(np.int64, 5, elements=st.integers(0, 40)).filter(lambda c: c.sum() > 0)
COUNTS_P, COUNTS_Q = np.array([5, 3, 2]), np.array([4, 4, 2])


def test_published_values_of_divergences():
    assert d.jensen_shannon_distance(COUNTS_P, COUNTS_Q) == pytest.approx(0.0958432, abs=1e-7)
    assert d.jensen_shannon_distance(COUNTS_P, COUNTS_Q) ** 2 == pytest.approx(0.0091859, abs=1e-7)
    assert d.jensen_shannon_distance(COUNTS_P, COUNTS_Q, np.e) == pytest.approx(0.0797947, abs=1e-7)
    assert d.hellinger_distance(COUNTS_P, COUNTS_Q) == pytest.approx(0.0798514, abs=1e-7)
    assert d.kl_divergence(COUNTS_P, COUNTS_Q) == pytest.approx(0.0252672, abs=1e-7)


@given(COUNTS, COUNTS)
@settings(deadline=None)
@pytest.mark.slow
def test_parity_with_scipy(p, q):
    expected = np.nan_to_num(jensenshannon(p, q, base=2))
    assert d.jensen_shannon_distance(p, q) == pytest.approx(expected, abs=1e-7)
    smoothed = [(c / c.sum() + 0.01)[(p + q) > 0] for c in (p, q)]
    assert d.kl_divergence(p, q, 0.01) == pytest.approx(entropy(*smoothed), abs=1e-12)
    used = (p + q) > 0
    assert d.kl_divergence(p, q) == pytest.approx(entropy(p[used], q[used]), abs=1e-12)


@pytest.mark.slow
@given(COUNTS, COUNTS, COUNTS)
@settings(deadline=None)
def test_both_distances_are_metrics(p, q, r):
    for distance in (d.jensen_shannon_distance, d.hellinger_distance):
        assert 0.0 <= distance(p, q) <= 1.0
        assert distance(p, q) == pytest.approx(distance(q, p), abs=1e-12)
        assert distance(p, 3 * p) == 0.0
        assert distance(p, q) <= distance(p, r) + distance(r, q) + 1e-7


def test_disjoint_and_empty_tables():
    p, q, none = np.array([3, 0]), np.array([0, 9]), np.array([0, 0])
    assert d.jensen_shannon_distance(p, q) == d.hellinger_distance(p, q) == 1.0
    assert d.jensen_shannon_distance(p, none) == d.hellinger_distance(none, p) == 1.0
    assert d.jensen_shannon_distance(p, q, np.e) == pytest.approx(np.sqrt(np.log(2)))
    assert d.kl_divergence(p, q) == np.inf
    assert 10 < d.kl_divergence(p, q, 1e-5) < 12
    for measure in (d.jensen_shannon_distance, d.hellinger_distance, d.kl_divergence):
        assert np.isnan(measure(none, none))
