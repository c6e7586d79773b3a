"""The best by one score among those that are good enough by another."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import KSComplement
from skeval.generators import GeneratorAdapter, RandomForestImputation
from skeval.model_selection import best_subject_to, make_generator_scorer
from skeval.privacy import ExactMatchShare
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
    """Without the scorer only the scores are known, and nonnegative scores are rarely negated."""
    with warns(MetricWarning):
        ruled(of_names("held", at_most=0.5, maximise="aim"), [0.9, 0.3], [0.6, 0.95])
    with pytest.warns(MetricWarning) as told:
        ruled(of_names("held", at_least=0.4, maximise="aim"), [-0.5, -0.6], [0.6, 0.7])
    assert "at_least assumes that the scores of held are not negated" in str(told[0].message)
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
