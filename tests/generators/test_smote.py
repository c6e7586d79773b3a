"""A generator that memorises: SMOTE of imbalanced-learn, and what tells of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTENC
from scipy.stats import binom
from sklearn.base import BaseEstimator, clone

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.generators import GeneratorAdapter, IndependentMarginals
from skeval.privacy import (
    DCROverfittingProtection,
    DPAudit,
    MembershipInference,
    OneRunDPAudit,
    ShadowMembershipInference,
)
from skeval.results.suite_result import SuiteResult
from tests.exposed_rows import exposed_rows

COLUMNS = ["age", "schooling", "occupation", "hours_per_week", "marital_status", "weight", "income"]


class Smote(BaseEstimator):
    """Rows between a real row and one of its nearest neighbours of the same label."""

    def __init__(self, label: str = "income", k_neighbors: int = 5) -> None:
        self.label = label
        self.k_neighbors = k_neighbors

    def fit(self, table: pd.DataFrame) -> Smote:
        self.table_ = table.reset_index(drop=True)
        return self

    def sample(self, n: int, random_state: int | None = None) -> pd.DataFrame:
        # imbalanced-learn takes the number of rows of each label that there shall be in the end
        table, labels = self.table_, self.table_[self.label].astype(object)
        counts = labels.value_counts()
        more = np.random.default_rng(random_state).multinomial(n, counts / len(table))
        smote = SMOTENC(
            "auto",
            sampling_strategy=(counts + more).to_dict(),
            k_neighbors=self.k_neighbors,
            random_state=random_state,
        )
        made, made_labels = smote.fit_resample(table.drop(columns=self.label), labels)
        made[self.label] = made_labels
        return made[len(table) :][table.columns].astype(table.dtypes).reset_index(drop=True)


class Fresh(BaseEstimator):
    """Rows of the law that train is of, whatever train is: nothing is learnt."""

    def fit(self, table: pd.DataFrame) -> Fresh:
        return self

    def sample(self, n: int, random_state: int = 0) -> pd.DataFrame:
        return census(n, 1_000 + random_state)


def census(n_rows: int, seed: int) -> pd.DataFrame:
    return make_census(n_rows, random_state=seed)[COLUMNS]


def evaluated(generator: Any, n_rows: int, seed: int = 0) -> SuiteResult:
    """Return what a release of a generator tells, with as many other rows as holdout."""
    train, holdout = census(n_rows, seed), census(n_rows, seed + 1)
    suite = MetricSuite(
        [
            ("screen", DCROverfittingProtection()),
            ("attack", MembershipInference("distance", n_permutations=19)),
            ("audit", OneRunDPAudit(claimed_epsilon=1.0)),
        ],
        check_holdout=False,
    ).fit(train, holdout)
    return suite.evaluate(GeneratorAdapter(generator).fit(train).sample(n_rows))


# ------------------------------------------------------------------------------------ the adapter


def test_it_makes_a_table_like_train():
    train = census(200, 0)
    smote = GeneratorAdapter(Smote()).fit(train)
    for n in (1, 7, 500):
        rows = smote.sample(n, random_state=3)
        assert len(rows) == n
        pd.testing.assert_series_equal(rows.dtypes, train.dtypes)
        assert rows.equals(smote.sample(n, random_state=3))
    assert not rows.equals(smote.sample(500, random_state=4))
    assert rows["weight"].between(train["weight"].min(), train["weight"].max()).all()
    assert (rows["income"] == "high").mean() == pytest.approx(
        (train["income"] == "high").mean(), abs=0.06
    )


def test_with_one_neighbour_categories_are_those_of_a_row_of_train():
    train, names = census(200, 0), ["schooling", "occupation", "marital_status", "income"]
    known = set(train[names].itertuples(index=False, name=None))
    share = {}
    for generator in (Smote(k_neighbors=1), IndependentMarginals()):
        made = GeneratorAdapter(generator).fit(train).sample(200)[names]
        share[type(generator)] = np.mean([row in known for row in made.itertuples(index=False)])
    assert share[Smote] == 1.0
    assert share[IndependentMarginals] < 0.5


def test_parameters_are_set_through_the_adapter():
    adapter = clone(GeneratorAdapter(Smote())).set_params(generator__k_neighbors=1)
    assert adapter.get_params()["generator__k_neighbors"] == 1
    assert adapter.fit(census(100, 0)).generator_.k_neighbors == 1


# ------------------------------------------------------------------------- attacks on the release


@pytest.mark.slow
def test_one_neighbour_is_caught():
    found = evaluated(Smote(k_neighbors=1), 400)
    assert found["attack"].p_value < 1e-10
    assert found["attack"].interval[0] > 0.6
    assert found["screen"].p_value < 1e-10
    assert found["screen"].interval[1] < 0.5
    assert found["audit"].value > 0.1
    assert found["audit"].p_value < 1e-6


@pytest.mark.slow
def test_so_are_the_defaults_on_more_rows():
    found = evaluated(Smote(), 3_000)
    assert found["attack"].p_value < 1e-6
    assert found["attack"].interval[0] > 0.5
    assert found["screen"].p_value < 0.025
    assert found["audit"].value > 0.0
    assert found["audit"].details["verdict"] == "loose"  # one release refutes no epsilon of 1


@pytest.mark.slow
def test_the_leak_falls_with_the_number_of_neighbours():
    found = {k: evaluated(Smote(k_neighbors=k), 800) for k in (1, 5, 50)}
    attacks = [result["attack"].value for result in found.values()]
    screens = [result["screen"].value for result in found.values()]
    assert attacks == sorted(attacks, reverse=True)
    assert screens == sorted(screens)
    assert attacks[0] - attacks[-1] > 0.1


@pytest.mark.parametrize("generator", [IndependentMarginals(), Fresh()])
@pytest.mark.slow
def test_who_does_not_memorise_is_not_accused(generator):
    found = evaluated(generator, 3_000)
    assert found["attack"].interval[0] < 0.5
    assert all(result.p_value > 0.025 for result in found.values())
    assert found["audit"].value == 0.0


@pytest.mark.calibration
@pytest.mark.filterwarnings(
    "ignore:The average over all rows may hide a leak"
)  # of 60, some by chance
def test_nothing_learnt_is_accused_no_more_often_than_chance_has_it():
    """Independent columns would be: each of their cells is one of train."""
    found = [evaluated(Fresh(), 400, seed) for seed in range(0, 120, 2)]
    for name in found[0]:
        alarms = sum(result[name].p_value < 0.025 for result in found)
        assert alarms <= binom.ppf(0.99, len(found), 0.025)
    bounds = sum(result["audit"].value > 0.0 for result in found)
    assert bounds <= binom.ppf(0.99, len(found), 0.05)


# ------------------------------------------------------------------------ attacks on the generator


def shadow(generator: Any) -> Any:
    train, holdout = census(200, 0), census(200, 1)
    metric = ShadowMembershipInference(
        generator, targets="gower-knn", n_targets=1, n_shadow=30, n_eval=50, n_rows=100
    )
    return metric.fit(train, holdout).evaluate(train)


@pytest.mark.calibration
def test_an_outlying_row_is_told_by_who_can_run_the_generator():
    found = shadow(Smote(k_neighbors=1))
    assert found.interval[0] > 0.3
    assert found.p_value < 1e-6
    assert found.details["epsilon"] > 1.0


@pytest.mark.slow
def test_no_row_is_told_where_nothing_is_learnt():
    found = shadow(Fresh())
    assert found.interval[0] < 0.0 < found.interval[1]
    assert found.p_value > 0.025
    assert found.details["epsilon"] == 0.0


def audit(generator: Any) -> Any:
    train = census(100, 0)
    metric = DPAudit(generator, target="gower-knn", claimed_epsilon=1.0, n_runs=60)
    return metric.fit(train).evaluate(train)


@pytest.mark.calibration
def test_smote_is_not_differentially_private():
    found = audit(Smote(k_neighbors=1))
    assert found.details["verdict"] == "violation"
    assert found.value > 1.0
    assert found.details["p_value_of_claim"] < 0.025


@pytest.mark.slow
def test_what_learns_nothing_violates_no_epsilon():
    found = audit(Fresh())
    assert found.details["verdict"] == "loose"
    assert found.value == 0.0
    assert found.p_value > 0.025


def test_the_row_that_is_attacked_leaves_two_labels_with_neighbours():
    """SMOTE needs more rows of a label than neighbours, in all tables that attacks make."""
    train = census(100, 0)
    for method in ("achilles", "gower-knn"):
        row = exposed_rows(train, method, k=1)
        rest = train.drop(index=row.index)
        assert rest["income"].value_counts().min() > 5
