"""Comparison of generators: ranks, ties, constraints, failures and stored results."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from skeval import MetricSuite, Policy
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import CorrelationSimilarity, KSComplement
from skeval.generators import Bootstrap, GaussianCopula, GeneratorAdapter, IndependentMarginals
from skeval.model_selection import make_generator_scorer, tournament
from skeval.privacy import DCRShare, ExactMatchShare
from tests.snapshots import raises

pytestmark = pytest.mark.slow  # each test fits generators in folds

ROWS = make_mixed(240, random_state=3)
SUITE = MetricSuite(
    [("trends", CorrelationSimilarity()), ("share", DCRShare()), ("matches", ExactMatchShare())],
    check_holdout=False,
)
LIGHT = MetricSuite([("trends", CorrelationSimilarity())])
ALIKE = {"shuffled": IndependentMarginals(), "again": IndependentMarginals()}


class Failing:
    """Learns from the first fold alone."""

    def fit(self, table):
        if not np.array_equal(table["age"], Failing.first):
            raise ValueError(str(table.iloc[0].tolist()))
        return self

    def sample(self, n, random_state=None):
        return ROWS.head(n)

    first = None


class Counting(IndependentMarginals):
    """Writes a line for each fit."""

    def __init__(self, path="", scale=1.0):
        self.path = path
        self.scale = scale

    def fit(self, table):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("fit\n")
        return super().fit(table)


@pytest.fixture(scope="module")
def outcome():
    generators = {
        "copula": GaussianCopula(),
        "shuffled": IndependentMarginals(),
        "copy": Bootstrap(),
        "failing": Failing(),
    }
    return tournament(generators, ROWS, SUITE, cv=2, by="trends")


def test_the_worse_one_ranks_behind(outcome):
    frame = outcome.frame()
    assert frame.loc["copula", "rank"] < frame.loc["shuffled", "rank"] == 3.0
    assert (frame["low"] <= frame["rank"])[:3].all()
    assert (frame["rank"] <= frame["high"])[:3].all()
    assert (frame["score_low"] <= frame["score"])[:3].all()
    assert frame.index[-1] == "failing"


def test_a_failed_fit_is_a_row_with_its_reason_and_without_cells(outcome):
    failed = outcome.frame().loc["failing"]
    assert failed["constraint"] == "failed"
    assert np.isnan(failed["rank"])
    assert "ValueError" in failed["reason"]
    assert not any(str(cell) in failed["reason"] for cell in ROWS["joined"])
    assert failed["reason"] in outcome.sentence


def test_a_copy_is_not_taken(outcome):
    assert outcome.standing("copy") == "breaks"
    assert "copy" not in outcome.choice()
    assert outcome.choice()[0] == "copula"
    assert outcome.frame().loc["copy", "reason"] in outcome.sentence
    assert outcome.frame().loc["copula", "reason"] == ""


def test_none_may_meet_the_constraint():
    policy = Policy(fail_on=(), require=("trends >= 0.999",))
    found = tournament(ALIKE, ROWS, LIGHT, cv=2, by="trends", constraint=policy)
    assert found.choice() == []
    assert set(found.frame()["constraint"]) == {"breaks"}
    assert found.sentence.startswith("No generator is recommended")


def test_equal_generators_are_tied():
    generators = {"one": GaussianCopula(), "other": GaussianCopula()}
    found = tournament(generators, ROWS, LIGHT, cv=3, by="trends")
    assert set(found.choice()) == {"one", "other"}
    assert found.frame()["rank"].tolist() == [1.5, 1.5]


def test_what_cannot_be_judged_is_inconclusive():
    few = ROWS.head(8)  # of which no labels have a small enough p-value
    found = tournament(ALIKE, few, DCRShare(), cv=2, by="dcr_share")
    assert set(found.frame()["constraint"]) == {"inconclusive"}
    assert found.choice() == []


def test_all_may_fail():
    found = tournament({"failing": Failing()}, ROWS, LIGHT, cv=2, by="trends")
    assert found.frame()["rank"].isna().all()
    assert found.choice() == []
    assert "failing" in found.sentence


def test_a_search_is_a_generator():
    search = GridSearchCV(
        GeneratorAdapter(GaussianCopula()),
        {"generator__random_state": [0, 1]},
        scoring=make_generator_scorer(KSComplement()),
        cv=2,
    )
    found = tournament({"search": search}, ROWS, LIGHT, cv=2, by="trends")
    assert found.choice() == ["search"]


@pytest.mark.filterwarnings("ignore:.*joblib")
def test_a_folder_keeps_what_was_measured(tmp_path):
    log = tmp_path / "log"
    generators = {"counting": Counting(str(log))}

    def scores(**settings):
        found = tournament(generators, ROWS, LIGHT, cv=2, by="trends", **settings)
        return found.scores()

    first = scores(memory=tmp_path / "kept")
    again = scores(memory=str(tmp_path / "kept"))
    pd.testing.assert_frame_equal(first, again)
    assert log.read_text(encoding="utf-8").count("fit") == 2
    scores(memory=joblib.Memory(tmp_path / "kept", verbose=0), random_state=1)
    assert log.read_text(encoding="utf-8").count("fit") == 4
    pd.testing.assert_frame_equal(scores(), first)


def test_the_same_bits_for_any_number_of_jobs(outcome):
    generators = {"copula": GaussianCopula(), "copy": Bootstrap()}
    found = tournament(generators, ROWS, SUITE, cv=2, by="trends", n_jobs=2)
    pd.testing.assert_frame_equal(found.scores(), outcome.scores()[["copula", "copy"]])


def test_ranks_are_drawn(outcome):
    assert outcome.plot().frame().index.tolist() == outcome.frame().index.tolist()


@pytest.mark.parametrize(
    "given",
    [
        {"by": "trend"},
        {"suite": 3},
        {"constraint": "leak"},
        {"constraint": Policy(require=("absent > 1",))},
        {"level": 2.0},
        {"generators": {}},
        {"generators": [GaussianCopula()]},
        {"cv": 1},
    ],
)
def test_bad_input_is_named(given):
    settings = {"generators": ALIKE, "table": ROWS, "suite": LIGHT, "by": "trends", **given}
    with raises(InvalidParameterError):
        tournament(**settings)
