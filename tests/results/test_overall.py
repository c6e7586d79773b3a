"""One number per aspect: what counts, what does not and why, and that nothing is bought back."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.base import clone

from skeval import MetricSuite, MetricTags, OverallScore, Result, SuiteResult, make_suite
from skeval.datasets import make_census, make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.fidelity import KSComplement, TVComplement
from skeval.privacy import DCROverfittingProtection, ExactMatchShare
from skeval.results.overall import bounded_score, calibrated_score, include_verdict, weighted_mean
from tests.snapshots import raises, warns

INF = float("inf")
ASPECTS = ["fidelity", "utility", "privacy", "validity"]
MEANS = ("arithmetic", "geometric", "min")
UNIT = st.floats(0.0, 1.0)
NUMBER = st.floats(-1e6, 1e6)


def tags(aspect="fidelity", up=True, bounds=(0.0, 1.0)):
    evidence = "screen" if aspect == "privacy" else None
    return MetricTags(aspect, greater_is_better=up, bounds=bounds, evidence=evidence)


def a(value, baseline=None, aspect="fidelity", up=True, bounds=(0.0, 1.0), **details):
    return Result(
        value, baseline=baseline, details=details, metric="M", tags=tags(aspect, up, bounds)
    )


ALL = SuiteResult(
    {
        "half": a(0.45, 0.9),
        "beyond": a(0.99, 0.9),
        "distance": a(0.04, 0.01, up=False, bounds=(0.0, INF)),
        "trained": a(0.6, 0.8, "utility"),
        "risk": a(0.75, 0.5, "privacy", up=False),
        "valid": a(1.0, 1.0, "validity"),
    }
)


def test_aspects_by_hand():
    expected = {"fidelity": (0.5 + 1 + 0.25) / 3, "utility": 0.75, "privacy": 0.5, "validity": 1}
    actual = OverallScore().score(ALL)
    assert actual.index.tolist() == ASPECTS
    assert actual.to_dict() == pytest.approx(expected)
    assert OverallScore(mean="geometric").score(ALL)["fidelity"] == pytest.approx(0.5)
    assert OverallScore(mean="min").score(ALL)["fidelity"] == 0.25


def test_what_a_aspect_rests_on():
    actual = OverallScore().aspects(ALL)
    assert actual["n_used"].tolist() == [3, 1, 1, 1]
    assert actual["n_beyond"].tolist() == [1, 0, 0, 0]
    assert actual["n_skipped"].tolist() == [0, 0, 0, 0]
    assert actual["worst"].tolist() == ["distance", "trained", "risk", "valid"]


def test_the_frame_says_how_each_was_scored():
    frame = OverallScore().frame(ALL).set_index("metric")
    assert frame["score"].to_dict() == pytest.approx(
        {"half": 0.5, "beyond": 1, "distance": 0.25, "trained": 0.75, "risk": 0.5, "valid": 1}
    )
    assert frame.loc[["half", "distance"], "scale"].tolist() == ["baseline", "ratio"]
    assert frame.index[frame["beyond"]].tolist() == ["beyond"]
    assert (frame["skipped"] == "").all()
    assert (frame["weight"] == 1.0).all()


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Result(0.5), "no tags"),
        (a(0.5, 0.5, up=None), "neither high nor low"),
        (a(0.5, bounds=(0.0, INF)), "it has no baseline"),
        (a(-3.0, -2.0, bounds=(-INF, 0.0)), "its scale"),
        (Result(float("nan"), error="needs a key", tags=tags()), "needs a key"),
        (
            Result(float("nan"), warnings=(DegenerateInputWarning("one row."),), tags=tags()),
            "not defined: one row.",
        ),
        (Result(float("nan"), tags=tags()), "not defined"),
    ],
)
def test_what_cannot_count_is_skipped_and_says_why(result, why, calibrated):
    scorer = OverallScore(calibrated=calibrated)
    (row,) = scorer.frame({"metric": result}).itertuples()
    assert why in row.skipped
    assert np.isnan(row.score)
    assert (row.scale, row.beyond) == ("", False)
    assert scorer.score({"metric": result}).isna().all()  # nothing counts, nothing is skipped
    beside = scorer.aspects({"metric": result, "good": a(1.0, 1.0)}).loc["fidelity"]
    assert beside["score"] == 1.0
    assert beside["n_skipped"] == (result.tags is not None)


def test_fresh_rows_at_the_worst_value_calibrate_nothing():
    row = OverallScore().frame({"k": a(1.0, 1.0, bounds=(1.0, INF))}).iloc[0]
    assert row["skipped"] == "the baseline is the worst value already"


def test_by_the_bounds_of_the_scale():
    actual = OverallScore(calibrated=False).frame(ALL).set_index("metric")
    assert actual.loc["half", "score"] == 0.45
    assert actual.loc["risk", "score"] == 0.25
    assert actual.loc["risk", "baseline"] == 0.5  # is shown all the same
    assert actual.loc["distance", "skipped"] != ""
    assert not actual["beyond"].any()
    assert set(actual["scale"]) == {"bounds", ""}


def test_a_bounded_metric_without_a_baseline_counts_by_its_bounds_and_this_is_said():
    result = {"alone": a(0.6), "half": a(0.45, 0.9)}
    with warns(MetricWarning):
        assert OverallScore().score(result)["fidelity"] == pytest.approx(0.55)
    assert OverallScore(calibrated=False).score({"alone": a(0.6)})["fidelity"] == 0.6
    assert OverallScore({"alone": 0}).score(result)["fidelity"] == 0.5  # nothing to say of it


def test_the_value_at_the_size_of_the_baseline_is_scored():
    at_size = a(0.45, 0.9, at_baseline_size={"n_rows": 9, "value": 0.72})
    actual = OverallScore().frame({"x": at_size}).iloc[0]
    assert (actual["value"], actual["score"]) == (0.72, pytest.approx(0.8))
    assert OverallScore(calibrated=False).frame({"x": at_size}).iloc[0]["score"] == 0.45
    for nothing in (float("nan"), None):
        lacking = a(0.45, 0.9, at_baseline_size={"n_rows": 9, "value": nothing})
        reason = OverallScore().frame({"x": lacking}).iloc[0]["skipped"]
        assert reason == "not defined at the size of its baseline"


def test_weights_count_within_their_aspect():
    one = OverallScore({"half": 3, "utility/trained": 5}).score(ALL)
    assert one["fidelity"] == pytest.approx((3 * 0.5 + 1 + 0.25) / 5)
    assert one.drop("fidelity").equals(OverallScore().score(ALL).drop("fidelity"))
    without = OverallScore({"distance": 0, "risk": 0.0})
    assert without.score(ALL)["fidelity"] == 0.75
    assert np.isnan(without.score(ALL)["privacy"])
    row = without.frame(ALL).set_index("metric").loc["risk"]
    assert (row["skipped"], row["score"]) == ("its weight is 0", 0.5)
    assert OverallScore({"distance": 0}, mean="min").score(ALL)["fidelity"] == 0.5


def test_names_with_a_slash_are_names_first():
    result = {"fidelity/x": a(0.0, 1.0), "x": a(1.0, 1.0), "shapes/y": a(1.0, 1.0)}
    actual = OverallScore({"fidelity/x": 0, "fidelity/shapes/y": 2}).frame(result)
    assert actual["weight"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("key", ["no_such", "privacy/half", "half/"])
def test_weights_of_what_is_not_there(key):
    with raises(InvalidParameterError):
        OverallScore({key: 1.0}).score(ALL)


def test_a_metric_is_weighed_once():
    with raises(InvalidParameterError):
        OverallScore({"fidelity/half": 1.0, "half": 2.0}).score(ALL)


@pytest.mark.parametrize(
    "parameters",
    [
        {"weights": {"half": -1.0}},
        {"weights": {"half": float("nan")}},
        {"weights": {"half": INF}},
        {"weights": {"half": True}},
        {"weights": {1: 1.0}},
        {"weights": ["half"]},
        {"mean": "harmonic"},
        {"calibrated": 1},
    ],
)
def test_parameters_outside_their_sets(parameters):
    with raises(InvalidParameterError):
        OverallScore(**parameters).score(ALL)


def test_only_the_results_of_a_suite_are_scored():
    with raises(InvalidParameterError):
        OverallScore().score(ALL["half"])
    assert OverallScore().score({}).isna().all()
    assert OverallScore().frame({}).empty


def test_it_is_an_estimator():
    scorer = OverallScore({"half": 2}, mean="min")
    again = clone(scorer)
    assert again.get_params() == {"weights": {"half": 2}, "mean": "min", "calibrated": True}
    assert repr(again) == "OverallScore(mean='min', weights={'half': 2})"
    assert again.set_params(mean="geometric").score(ALL)["fidelity"] > scorer.score(ALL)["fidelity"]


def test_one_number_only_where_it_is_asked_for():
    scorer = OverallScore()
    scores = scorer.score(ALL)[["fidelity", "utility", "privacy"]]
    assert scorer.across(ALL) == scores.min() == 0.5
    assert scorer.across(ALL, mean="arithmetic") == pytest.approx(scores.mean())
    assert scorer.across(ALL, mean="geometric") == pytest.approx(scores.prod() ** (1 / 3))
    assert scorer.across(ALL, aspects=["validity"]) == 1.0


def test_no_number_where_a_aspect_is_missing():
    lacking = {name: result for name, result in ALL.items() if name != "trained"}
    for mean in MEANS:
        with warns(MetricWarning):
            assert np.isnan(OverallScore().across(lacking, mean=mean))
    assert OverallScore().across(lacking, aspects=("fidelity", "privacy")) == 0.5


@pytest.mark.parametrize("aspects", [[], "fidelity", ["speed"], ["privacy", "privacy"]])
def test_no_such_aspects(aspects):
    with raises(InvalidParameterError):
        OverallScore().across(ALL, aspects=aspects)


def test_no_such_mean():
    with raises(InvalidParameterError):
        OverallScore().across(ALL, mean="median")


@pytest.mark.slow
def test_fidelity_buys_back_a_copy_in_an_arithmetic_mean_only():
    train, holdout, fresh = (make_mixed(200, random_state=seed) for seed in range(3))
    metrics = [
        ("ks", KSComplement()),
        ("tv", TVComplement()),
        ("dcr", DCROverfittingProtection()),
        ("matches", ExactMatchShare()),
    ]
    suite = MetricSuite(metrics).fit(train, holdout)
    copied, sampled = suite.evaluate(train), suite.evaluate(fresh)
    scorer, two = OverallScore(), ("fidelity", "privacy")
    assert scorer.score(copied)[list(two)].tolist() == [1.0, 0.0]
    assert scorer.aspects(copied).loc["fidelity", "n_beyond"] == 2
    assert (scorer.score(sampled)[list(two)] > 0.95).all()
    actual = {mean: scorer.across(copied, aspects=two, mean=mean) for mean in MEANS}
    assert actual == {"arithmetic": 0.5, "geometric": 0.0, "min": 0.0}
    poor = fresh.assign(age=fresh["age"] + 100)  # no copy, but a column is wrong
    worse = suite.evaluate(poor)
    assert scorer.across(worse, aspects=two) > scorer.across(copied, aspects=two)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("with_holdout", [True, False])
def test_it_scores_the_report_live_and_from_json(with_holdout, tmp_path):
    train, holdout, fresh = (make_mixed(150, random_state=seed) for seed in range(3))
    suite = make_suite("report").fit(train, holdout if with_holdout else None)
    result = suite.evaluate(fresh)
    frame = OverallScore().frame(result)
    assert set(frame.loc[frame["skipped"] == "", "scale"]) <= {"baseline", "ratio", "bounds"}
    assert frame["score"].dropna().between(0.0, 1.0).all()
    again = SuiteResult.from_json(_saved(result, tmp_path))
    pd.testing.assert_frame_equal(OverallScore().frame(again), frame)
    assert json.dumps(OverallScore().score(result).to_dict())


def _saved(result, folder):
    result.to_json(folder / "result.json")
    return folder / "result.json"


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(UNIT, st.floats(0.01, 1.0)), min_size=1, max_size=6), st.data())
def test_a_better_metric_never_lowers_a_aspect(pairs, data):
    results = {f"m{i}": a(value, baseline) for i, (value, baseline) in enumerate(pairs)}
    chosen = data.draw(st.sampled_from(sorted(results)))
    better = results[chosen].value + (1.0 - results[chosen].value) * data.draw(UNIT)
    for mean in MEANS:
        scorer = OverallScore(mean=mean)
        before = scorer.score(results)["fidelity"]
        after = scorer.score({**results, chosen: a(better, results[chosen].baseline)})["fidelity"]
        assert 0.0 <= before <= after + 1e-12
        assert after <= 1.0


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5), st.permutations(range(5)))
def test_fresh_rows_score_1_in_any_order(baselines, order):
    results = {f"m{i}": a(baseline, baseline) for i, baseline in enumerate(baselines)}
    shuffled = {f"m{i}": results[f"m{i}"] for i in order if f"m{i}" in results}
    for mean in MEANS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert OverallScore(mean=mean).score(shuffled)["fidelity"] == 1.0


@pytest.mark.parametrize(
    ("value", "bounds", "up", "score"),
    [
        (0.25, (0, 1), True, 0.25),
        (0.25, (0, 1), False, 0.75),
        (-0.5, (-1, 2), False, 5 / 6),
        (10.0, (0, 100), True, 0.1),
        (1.5, (0, 1), True, 1.0),  # bounds that are not kept
        (1.5, (0, 1), False, 0.0),
    ],
)
def test_bounded_by_hand(value, bounds, up, score):
    assert bounded_score(value, bounds, greater_is_better=up) == (pytest.approx(score), "")


@pytest.mark.parametrize("bounds", [(0, INF), (-INF, 1), (-INF, INF), (1, 1)])
@pytest.mark.parametrize("up", [True, False])
def test_without_bounds_there_is_no_score(bounds, up):
    score, reason = bounded_score(0.5, bounds, greater_is_better=up)
    assert math.isnan(score)
    assert "not bounded" in reason


@pytest.mark.parametrize(
    ("value", "baseline", "bounds", "up", "score", "scale"),
    [
        (0.45, 0.9, (0, 1), True, 0.5, "baseline"),
        (0.95, 0.9, (0, 1), True, 1.0, "baseline"),
        (0.0, 0.9, (0, 1), True, 0.0, "baseline"),
        (0.75, 0.5, (0, 1), False, 0.5, "baseline"),  # a classifier that guesses is the best
        (0.18, 0.5, (0, 1), False, 1.0, "baseline"),  # and no better where it is fooled by copies
        (0.5, 0.0, (-1, 1), False, 0.5, "baseline"),
        (0.57, 1.14, (0, INF), True, 0.5, "baseline"),  # a ratio of distances: the worst is 0
        (INF, 1.0, (0, INF), True, 1.0, "baseline"),
        (5.0, 3.0, (1, INF), True, 1.0, "baseline"),
        (0.04, 0.01, (0, INF), False, 0.25, "ratio"),
        (0.0, 0.01, (0, INF), False, 1.0, "ratio"),
        (INF, 0.01, (0, INF), False, 0.0, "ratio"),
    ],
)
def test_calibrated_by_hand(value, baseline, bounds, up, score, scale):
    scored = calibrated_score(value, baseline, bounds, greater_is_better=up)
    assert scored == (pytest.approx(score), scale, "")


@pytest.mark.parametrize(
    ("baseline", "bounds", "up", "why"),
    [
        (0.0, (0, 1), True, "worst value already"),
        (1.0, (0, 1), False, "worst value already"),
        (1.0, (1, INF), True, "worst value already"),
        (0.0, (0, INF), False, "the baseline is 0"),
        (0.1, (-INF, INF), False, "scale has no zero"),
        (0.1, (-1, INF), False, "scale has no zero"),
        (-3.0, (-INF, 0), True, "scale has no zero"),
        (INF, (0, INF), True, "infinite"),
    ],
)
def test_what_cannot_be_calibrated_says_why(baseline, bounds, up, why):
    score, scale, reason = calibrated_score(0.3, baseline, bounds, greater_is_better=up)
    assert math.isnan(score)
    assert scale == ""
    assert why in reason


@settings(deadline=None)
@given(UNIT, UNIT, st.floats(0.01, 0.99), st.booleans())
def test_fresh_rows_score_1_the_worst_value_0_and_better_is_never_less(a, b, baseline, up):
    def score(value):
        scored, _, reason = calibrated_score(value, baseline, (0.0, 1.0), greater_is_better=up)
        assert not reason
        return scored

    assert score(baseline) == 1.0
    assert score(0.0 if up else 1.0) == 0.0
    low, high = sorted((a, b))
    assert 0.0 <= score(low if up else high) <= score(high if up else low) <= 1.0


@settings(deadline=None)
@given(UNIT, st.floats(0.01, 0.99), NUMBER, st.floats(1e-3, 1e3), st.booleans())
def test_neither_unit_nor_direction_matters(value, baseline, shift, unit, up):
    expected, *_ = calibrated_score(value, baseline, (0.0, 1.0), greater_is_better=up)
    moved = [shift + unit * x for x in (value, baseline, 0.0, 1.0)]
    scored, *_ = calibrated_score(moved[0], moved[1], tuple(moved[2:]), greater_is_better=up)
    turned, *_ = calibrated_score(-value, -baseline, (-1.0, 0.0), greater_is_better=not up)
    assert scored == pytest.approx(expected, abs=1e-4)
    assert turned == pytest.approx(expected)


@settings(deadline=None)
@given(st.floats(0.0, 1e6), st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_ratios_have_no_unit(value, baseline, unit):
    expected, *_ = calibrated_score(value, baseline, (0.0, INF), greater_is_better=False)
    scored, *_ = calibrated_score(
        unit * value, unit * baseline, (0.0, INF), greater_is_better=False
    )
    assert scored == pytest.approx(expected)
    assert 0.0 <= scored <= 1.0


@pytest.mark.parametrize(
    ("mean", "expected"), [("arithmetic", 0.7), ("geometric", 0.1**0.3), ("min", 0.1)]
)
def test_weighted_means_by_hand(mean, expected):
    scored = weighted_mean(np.array([1.0, 0.1]), np.array([7.0, 3.0]), mean)
    assert scored == pytest.approx(expected + (0.03 if mean == "arithmetic" else 0.0))


def test_one_zero_is_the_geometric_mean():
    scores, weights = np.array([1.0, 0.0]), np.array([1e9, 1e-9])
    assert weighted_mean(scores, weights, "geometric") == 0.0
    assert weighted_mean(scores, weights, "arithmetic") == pytest.approx(1.0)


@pytest.mark.parametrize("mean", MEANS)
def test_the_mean_of_nothing(mean):
    assert math.isnan(weighted_mean(np.array([]), np.array([]), mean))


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.tuples(UNIT, st.floats(1e-3, 1e3)), min_size=1, max_size=8), st.data())
def test_means_are_in_order_and_ignore_the_order_and_the_unit_of_weights(pairs, data):
    scores, weights = np.array(pairs).T
    arithmetic, geometric, least = (weighted_mean(scores, weights, mean) for mean in MEANS)
    assert least <= geometric <= arithmetic * (1 + 1e-12) + 1e-300
    assert arithmetic <= scores.max()
    order = np.array(data.draw(st.permutations(range(len(pairs)))))
    for mean in MEANS:
        shuffled = weighted_mean(scores[order], 1e-200 * weights[order], mean)
        assert shuffled == pytest.approx(weighted_mean(scores, weights, mean))


def test_a_found_leak_never_ranks_above_none():
    tags = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")

    def score(value, p_value):
        tested = Result(value, p_value=p_value, baseline=0.1, tags=tags)
        blind = [Result(0.1, p_value=0.9, baseline=0.1, tags=tags) for _ in range(5)]
        return OverallScore().score(SuiteResult({"a": tested, **dict(enumerate(blind))}))["privacy"]

    leak, none, fresh = score(0.2, 0.001), score(0.9, 0.2), score(0.1, 0.5)
    assert leak == pytest.approx((5 + (1.0 - 0.2) / 0.9) / 12)
    assert leak < 0.5 < none < fresh == 1.0
    assert include_verdict(0.7, {}) == 0.7


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")  # of one attack on outliers
def test_fresh_rows_score_one_but_for_noise():
    rows = make_census(30_000)
    scores, n_draws, n_alarms = [], 20, 0
    for seed in range(n_draws):
        drawn = rows.sample(1500, random_state=seed)
        train, holdout, fresh = drawn[:500], drawn[500:1000], drawn[1000:]
        result = make_suite("report", random_state=seed).fit(train, holdout).evaluate(fresh)
        if result.verdict().alarm:  # in 5% of the draws, which then have a low score
            n_alarms += 1
        else:
            scores.append(OverallScore().score(result)[["fidelity", "privacy"]])
    assert n_alarms <= binom.isf(0.05, n_draws, 0.05)
    assert (np.mean(scores, axis=0) > 0.98).all()
    assert (np.min(scores, axis=0) > 0.95).all()
