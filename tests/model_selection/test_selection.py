"""Choices between several scores."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite, OverallScore
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import KSComplement
from skeval.generators import GeneratorAdapter, RandomForestImputation
from skeval.model_selection import (
    best_subject_to,
    facet_table,
    hypervolume,
    knee,
    make_generator_scorer,
    pareto_front,
)
from skeval.privacy import ExactMatchShare

SCORES = {
    "mean_test_privacy": np.array([0.9, 0.85, 0.3, np.nan]),
    "mean_test_utility": np.array([0.6, 0.7, 0.95, 0.99]),
    "mean_test_risk": np.array([-0.05, -0.2, -0.6, -0.0]),
}


def test_best_subject_to():
    assert best_subject_to("privacy", at_least=0.8, maximise="utility")(SCORES) == 1
    assert best_subject_to("privacy", at_least=0.2, maximise="utility")(SCORES) == 2
    assert best_subject_to("risk", at_most=0.1, maximise="utility")(SCORES) == 3
    assert best_subject_to("risk", at_most=0.3, maximise="privacy")(SCORES) == 0
    with pytest.warns(MetricWarning, match=r"the nearest has privacy 0\.9"):
        assert best_subject_to("privacy", at_least=0.99, maximise="utility")(SCORES) == 0
    assert repr(best_subject_to("a", at_most=0.1, maximise="b")) == (
        "best_subject_to('a', at_most=0.1, maximise='b')"
    )


def test_best_subject_to_refuses():
    with pytest.raises(InvalidParameterError, match="one of at_least and at_most"):
        best_subject_to("a", maximise="b")
    with pytest.raises(InvalidParameterError, match="there are privacy, utility, risk"):
        best_subject_to("a", at_least=1, maximise="utility")(SCORES)
    nothing = {name: np.full(2, np.nan) for name in SCORES}
    with pytest.raises(InvalidParameterError, match="no candidate has both"):
        best_subject_to("privacy", at_least=1, maximise="utility")(nothing)


def test_best_subject_to_in_a_search():
    suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    search = GridSearchCV(
        GeneratorAdapter(RandomForestImputation(n_estimators=5)),
        {"generator__p": [0.0, 0.5, 1.0]},
        scoring=make_generator_scorer(suite),
        refit=best_subject_to("matches", at_most=0.02, maximise="ks"),
        cv=2,
    ).fit(make_mixed(200))
    assert search.best_params_["generator__p"] > 0.0
    assert hasattr(search, "best_estimator_")


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
    assert knee(holed.assign(privacy=np.nan)) is None


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
    with pytest.raises(InvalidParameterError, match="no column cost"):
        pareto_front(table, ["cost"])
