"""Choices between several scores."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite, OverallScore, Result, SuiteResult
from skeval.core.tags import MetricTags
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import KSComplement
from skeval.generators import GeneratorAdapter, RandomForestImputation
from skeval.model_selection import (
    best_subject_to,
    facet_intervals,
    facet_table,
    hypervolume,
    knee,
    make_generator_scorer,
    pareto_front,
)
from skeval.privacy import DCRShare, ExactMatchShare
from tests.snapshots import raises, warns

SCORES = {
    "mean_test_privacy": np.array([0.9, 0.85, 0.3, np.nan]),
    "mean_test_utility": np.array([0.6, 0.7, 0.95, 0.99]),
    "mean_test_risk": np.array([-0.05, -0.2, -0.6, -0.0]),
}


NAMES = ["privacy", "utility", "risk", "held", "aim", "a", "b"]


def of_names(constraint, **settings):
    return best_subject_to(constraint, scoring=NAMES, **settings)


def test_best_subject_to():
    assert of_names("privacy", at_least=0.8, maximise="utility")(SCORES) == 1
    assert of_names("privacy", at_least=0.2, maximise="utility")(SCORES) == 2
    assert of_names("risk", at_most=0.1, maximise="utility")(SCORES) == 3
    assert of_names("risk", at_most=0.3, maximise="privacy")(SCORES) == 0
    with warns(MetricWarning):
        assert of_names("privacy", at_least=0.99, maximise="utility")(SCORES) == 0
    assert repr(of_names("a", at_most=0.1, maximise="b")) == (
        "best_subject_to('a', at_most=0.1, maximise='b')"
    )


def test_best_subject_to_refuses():
    with raises(InvalidParameterError):
        of_names("a", maximise="b")
    with raises(InvalidParameterError):
        of_names("a", at_least=1, maximise="utility")(SCORES)
    with pytest.raises(TypeError, match="scoring"):
        best_subject_to("privacy", at_least=1, maximise="utility")
    with raises(InvalidParameterError):
        of_names("fidelity", at_least=1, maximise="utility")
    nothing = {name: np.full(2, np.nan) for name in SCORES}
    with raises(InvalidParameterError):
        of_names("privacy", at_least=1, maximise="utility")(nothing)


def ruled(rule, held, aim):
    return rule({"mean_test_held": held, "mean_test_aim": aim})


NEGATIVE = of_names("held", at_least=-1.0, maximise="aim")
RISK = of_names("held", at_most=1.0, maximise="aim")
SCORE = of_names("held", at_least=0.5, maximise="aim")


@pytest.mark.parametrize("bound", [np.nan, np.inf, "0.5", True])
def test_bounds_are_finite_numbers(bound):
    with raises(InvalidParameterError):
        of_names("held", at_least=bound, maximise="aim")


def test_the_nearest_is_told_as_published():
    with warns(MetricWarning):
        assert ruled(NEGATIVE, [-6.0, -5.0], [0.6, 0.7]) == 1
    with warns(MetricWarning):
        assert ruled(RISK, [-6.0, -5.0], [0.6, 0.7]) == 1

    below = of_names("held", at_most=-1.0, maximise="aim")
    with warns(MetricWarning):
        assert ruled(below, [0.0, -1.0], [0.6, 0.7]) == 0


def test_infinite_scores_are_scores():
    with warns(MetricWarning):
        assert ruled(RISK, [np.nan, -np.inf, -np.inf], [0.9, 0.5, 0.7]) == 1
    assert ruled(RISK, [-2.0, -0.5], [0.5, -np.inf]) == 1
    assert ruled(SCORE, [np.inf, 0.6], [0.1, 0.2]) == 1


def test_bounds_on_the_other_side_are_told_of():
    """Of a search one knows scores only: those of 0 and more are hardly negated."""
    with warns(MetricWarning):
        ruled(of_names("held", at_most=0.5, maximise="aim"), [0.9, 0.3], [0.6, 0.95])
    with pytest.warns(MetricWarning) as told:
        ruled(of_names("held", at_least=0.4, maximise="aim"), [-0.5, -0.6], [0.6, 0.7])
    assert "look as if they were negated, and at_least takes them to be as published" in str(
        told[0].message
    )
    assert ruled(of_names("held", at_most=0.0, maximise="aim"), [0.0, 0.0], [1.0, 2.0]) == 1


PAIR = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])


@pytest.mark.parametrize(
    ("bound", "chosen"),
    [({"at_most": 0.2}, 1), ({"at_least": 0.2}, 2), ({"at_least": 0.7}, 0), ({"at_most": 0.0}, 3)],
)
def test_scoring_knows_what_is_negated(bound, chosen):
    scores = {"mean_test_ks": [0.6, 0.8, 0.9, 0.5], "mean_test_matches": [-0.9, -0.1, -0.5, -0.0]}
    rule = best_subject_to("matches", **bound, maximise="ks", scoring=make_generator_scorer(PAIR))
    assert rule(scores) == chosen


def test_scoring_of_higher_is_better():
    rule = best_subject_to(
        "ks", at_most=0.7, maximise="matches", scoring=make_generator_scorer(PAIR)
    )
    scores = {"mean_test_ks": [0.6, 0.8, 0.65], "mean_test_matches": [-0.9, -0.1, -0.5]}
    assert rule(scores) == 2
    with warns(MetricWarning):
        rule({"mean_test_ks": [0.9, 0.8], "mean_test_matches": [-0.9, -0.1]})


def test_scoring_is_checked_before_the_search():
    scoring = make_generator_scorer(PAIR)
    with raises(InvalidParameterError):
        best_subject_to("attack", at_most=0.5, maximise="ks", scoring=scoring)
    with raises(InvalidParameterError):
        best_subject_to("matches", at_most=0.5, maximise="ks", scoring="ks")


@pytest.mark.slow
def test_best_subject_to_in_a_search():
    scorer = make_generator_scorer(PAIR)
    search = GridSearchCV(
        GeneratorAdapter(RandomForestImputation(n_estimators=5)),
        {"generator__p": [0.0, 0.5, 1.0]},
        scoring=scorer,
        refit=best_subject_to("matches", at_most=0.02, maximise="ks", scoring=scorer),
        cv=2,
    ).fit(make_mixed(200))
    assert search.best_params_["generator__p"] > 0.0
    assert hasattr(search, "best_estimator_")
    assert search.refit.feasible_
    kept = search.cv_results_["mean_test_matches"] >= -0.02
    assert search.cv_results_["keeps_bound"].tolist() == kept.tolist()
    assert not kept.all()


def test_an_infeasible_bound_is_marked():
    rule = of_names("privacy", at_least=0.99, maximise="utility")
    scores = dict(SCORES)
    with warns(MetricWarning):
        rule(scores)
    assert not rule.feasible_
    assert not scores["keeps_bound"].any()
    strict = of_names("privacy", at_least=0.99, maximise="utility", infeasible="raise")
    with raises(InvalidParameterError):
        strict(scores)
    with raises(InvalidParameterError):
        of_names("privacy", at_least=0.99, maximise="utility", infeasible="ignore")


FRONT = pd.DataFrame(
    {"fidelity": [0.9, 0.7, 0.6], "utility": [0.9, 0.7, 0.7], "privacy": [0.3, 0.8, 0.7]},
    index=["A", "B", "C"],
)


def test_the_front_and_volume_by_hand():
    assert pareto_front(FRONT).to_dict() == {"A": True, "B": True, "C": False}
    assert hypervolume(FRONT[:2], ["fidelity", "privacy"]) == pytest.approx(0.62)
    assert hypervolume(FRONT, ["fidelity", "privacy"]) == pytest.approx(0.62)
    assert hypervolume(FRONT, ["fidelity", "privacy"], reference=[0.65, 0.5]) == (
        pytest.approx(0.05 * 0.3)
    )
    assert hypervolume(FRONT, ["privacy"]) == 0.8


def test_equal_points_both_stay():
    twice = pd.DataFrame({"x": [1.0, 1.0, 0.5], "y": [1.0, 1.0, 1.0]})
    assert pareto_front(twice, ["x", "y"]).tolist() == [True, True, False]


def test_differences_within_chance_dominate_nothing():
    half = 0.2
    close = pareto_front(FRONT, low=FRONT - half, high=FRONT + half)
    assert close.all()
    sure = pareto_front(FRONT, low=FRONT - 0.01, high=FRONT + 0.01)
    assert sure.to_dict() == {"A": True, "B": True, "C": False}


def test_missing_scores_are_on_no_front():
    holed = FRONT.copy()
    holed.loc["A", "privacy"] = np.nan
    assert pareto_front(holed).to_dict() == {"A": False, "B": True, "C": False}
    assert hypervolume(holed) == pytest.approx(0.7 * 0.7 * 0.8)
    assert knee(holed) == "B"


def test_facets_without_any_score_are_told_of():
    gone = FRONT.assign(privacy=np.nan, utility=np.nan)
    with warns(MetricWarning):
        assert not pareto_front(gone).any()
    with warns(MetricWarning):
        assert hypervolume(gone) == 0.0
    with warns(MetricWarning):
        assert knee(gone) is None
    holed = pd.DataFrame({"x": [1.0, np.nan], "y": [np.nan, 1.0]})
    with warns(MetricWarning):
        assert not pareto_front(holed, ["x", "y"]).any()
    assert pareto_front(FRONT[:0]).empty  # of none nothing is missing


def test_intervals_go_by_the_labels():
    low, high = FRONT - 0.01, FRONT + 0.01
    sure = pareto_front(FRONT, low=low, high=high)
    shuffled = ["C", "A", "B"]
    assert pareto_front(FRONT, low=low.loc[shuffled], high=high.loc[shuffled]).equals(sure)
    more = pd.concat([low, low.set_axis(["D", "E", "F"])])
    assert pareto_front(FRONT, low=more, high=high).equals(sure)


def test_the_score_stands_for_a_missing_end():
    low, high = FRONT - 0.01, FRONT + 0.01
    low["fidelity"] = high["fidelity"] = np.nan
    assert pareto_front(FRONT, low=low, high=high).to_dict() == {"A": True, "B": True, "C": False}
    wide = FRONT - 0.5, FRONT + 0.5
    for end in wide:
        end["fidelity"] = np.nan
    # by fidelity alone B is better than C for sure
    assert pareto_front(FRONT, low=wide[0], high=wide[1]).tolist() == [True, True, False]


TWICE = FRONT.set_axis(["A", "A", "B"])


@pytest.mark.parametrize(
    "call",
    [
        lambda: pareto_front(FRONT, low=FRONT),
        lambda: pareto_front(FRONT, low=FRONT[:2], high=FRONT),
        lambda: pareto_front(FRONT, low=FRONT, high=FRONT[["utility"]]),
        lambda: pareto_front(FRONT, low=FRONT + 1, high=FRONT),
        lambda: pareto_front(FRONT, low=[1], high=[2]),
        lambda: pareto_front(TWICE, low=FRONT, high=FRONT),
        lambda: pareto_front(FRONT, "utility"),
        lambda: pareto_front(FRONT, []),
        lambda: hypervolume(FRONT, []),
        lambda: knee(FRONT, "utility"),
        lambda: hypervolume(FRONT, ["utility"] * 2),
        lambda: knee(FRONT.assign(utility="x")),
        lambda: knee(FRONT.to_dict()),
        lambda: knee(FRONT.assign(utility=np.inf)),
        lambda: hypervolume(FRONT.assign(utility=np.inf)),
        lambda: hypervolume(FRONT, reference=[0, 0]),
        lambda: hypervolume(FRONT, reference=np.nan),
        lambda: facet_table({}),
        lambda: facet_intervals(SuiteResult({"a": Result(1.0)})),
    ],
)
def test_refusals_in_one_sentence(call):
    with raises(InvalidParameterError):
        call()


def test_equal_labels_in_equal_order_match():
    close = pareto_front(TWICE, low=TWICE - 0.2, high=TWICE + 0.2)
    assert close.tolist() == [True] * 3
    assert pareto_front(FRONT, FRONT.columns).equals(pareto_front(FRONT))


@pytest.mark.parametrize("d", [2, 3, 4])
def test_volume_is_that_of_counted_cells(d):
    """On a grid the volume is the number of cells below a point."""
    rng = np.random.default_rng(d)
    points = rng.integers(0, 6, (7, d))
    cells = itertools.product(range(6), repeat=d)
    count = sum(
        any(all(c < p for c, p in zip(cell, point, strict=True)) for point in points)
        for cell in cells
    )
    names = list("wxyz")[:d]
    assert hypervolume(pd.DataFrame(points, columns=names), names) == pytest.approx(count)


def test_the_knee_gives_up_least():
    scores = pd.DataFrame({"u": [0.95, 0.9, 0.2, 0.1], "p": [0.1, 0.7, 0.8, 0.75]}, list("abcd"))
    assert knee(scores, ["u", "p"]) == "b"
    assert knee(100 * scores, ["u", "p"]) == "b"


def test_facets_of_candidates():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    suite.fit(train, holdout)
    results = {"copy": suite.evaluate(train), "fresh": suite.evaluate(make_mixed(random_state=2))}
    table = facet_table(results, OverallScore(mean="min"))
    assert table.loc["copy", ["fidelity", "privacy"]].tolist() == [1.0, 0.0]
    assert pareto_front(table, ["fidelity", "privacy"]).tolist() == [True, True]
    with raises(InvalidParameterError):
        pareto_front(table, ["cost"])


HIGH = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))
LOW = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, 1.0))
LEAK = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="attack")


def candidate(value=0.6, half=0.1):
    return SuiteResult(
        {
            "high": Result(value, interval=(value - half, value + half), baseline=0.8, tags=HIGH),
            "low": Result(0.4, interval=(0.3, 0.5), baseline=0.2, tags=LOW),
            "exact": Result(0.5, baseline=1.0, tags=HIGH),
            "leak": Result(0.5, baseline=0.5, tags=LEAK),
            "undefined": Result(np.nan, tags=HIGH),
        }
    )


def test_intervals_of_facets_by_hand():
    results = {"a": candidate(), "b": candidate(0.2, 0.05)}
    low, high = facet_intervals(results)
    worse = np.mean([0.5 / 0.8, 0.5 / 0.8, 0.5])
    better = np.mean([0.7 / 0.8, 0.7 / 0.8, 0.5])
    assert low.loc["a", "fidelity"] == pytest.approx(worse)
    assert high.loc["a", "fidelity"] == pytest.approx(better)
    assert low["privacy"].isna().all()  # no metric of it has an interval
    assert high["utility"].isna().all()
    table = facet_table(results)
    assert list(table.columns) == list(low.columns) == list(high.columns)
    assert (low.fillna(table) <= table).to_numpy()[:, [0, 2]].all()
    facets = ["fidelity", "privacy"]
    assert pareto_front(table, facets, low=low, high=high).to_dict() == {"a": True, "b": False}
    results["b"] = candidate(0.5, 0.05)
    low, high = facet_intervals(results)
    assert pareto_front(facet_table(results), facets).to_dict() == {"a": True, "b": False}
    assert pareto_front(facet_table(results), facets, low=low, high=high).all()


def test_intervals_of_facets_go_by_mean_weights_and_size():
    low, high = facet_intervals({"a": candidate()}, OverallScore(mean="min"))
    assert (low.loc["a", "fidelity"], high.loc["a", "fidelity"]) == (0.5, 0.5)
    weights = {"exact": 0.0, "low": 0.0}
    low, high = facet_intervals({"a": candidate()}, OverallScore(weights))
    assert high.loc["a", "fidelity"] == pytest.approx(0.7 / 0.8)
    sized = Result(
        0.6,
        interval=(0.5, 0.7),
        baseline=0.8,
        tags=HIGH,
        details={"at_baseline_size": {"n_rows": 5, "value": 0.4}},
    )
    low, high = facet_intervals({"a": SuiteResult({"sized": sized})})
    assert low.loc["a", "fidelity"] == pytest.approx(0.3 / 0.8)
    assert high.loc["a", "fidelity"] == pytest.approx(0.5 / 0.8)
    assert sized.details["at_baseline_size"]["value"] == 0.4


def test_intervals_of_facets_know_odd_ends():
    odd = Result(0.6, interval=(np.nan, np.inf), baseline=0.8, tags=HIGH)
    low, high = facet_intervals({"a": SuiteResult({"odd": odd})})
    assert low.loc["a", "fidelity"] == pytest.approx(0.6 / 0.8)
    assert high.loc["a", "fidelity"] == 1.0


def test_intervals_of_facets_of_a_suite():
    train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    suite = MetricSuite([("ks", KSComplement()), ("share", DCRShare())]).fit(train, holdout)
    results = {name: suite.evaluate(make_mixed(random_state=name)) for name in (2, 3, 4)}
    results["copy"] = suite.evaluate(train)
    table, (low, high) = facet_table(results), facet_intervals(results)
    assert (low["privacy"] < high["privacy"]).all()
    alone = pareto_front(table, ["privacy"])
    sure = pareto_front(table, ["privacy"], low=low, high=high)
    assert sure.to_dict() == {2: True, 3: True, 4: True, "copy": False}
    assert alone.sum() < sure.sum()


@pytest.mark.slow
def test_intervals_of_facets_hold_under_any_dependence():
    """Means of three shares, independent and of the same rows."""
    from skeval.stats.intervals import wilson

    truth, n = np.array([0.3, 0.5, 0.6]), 200
    rng = np.random.default_rng(0)
    for shared in (False, True):
        hits = 0
        for _ in range(400):
            draws = rng.random((n, 1)) if shared else rng.random((n, 3))
            counts = (np.broadcast_to(draws, (n, 3)) < truth).sum(axis=0)
            metrics = {
                str(i): Result(k / n, interval=wilson(int(k), n), tags=HIGH)
                for i, k in enumerate(counts)
            }
            low, high = facet_intervals({"a": SuiteResult(metrics)})
            hits += low.loc["a", "fidelity"] <= truth.mean() <= high.loc["a", "fidelity"]
        assert hits / 400 >= (0.93 if shared else 0.99)
