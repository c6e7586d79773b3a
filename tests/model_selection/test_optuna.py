"""Studies of Optuna with two objectives, and the front that Optuna and skeval find in them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_validate

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap, GeneratorAdapter, IndependentMarginals
from skeval.model_selection import (
    best_subject_to,
    cross_validate_generator,
    hypervolume,
    make_generator_scorer,
    pareto_front,
)
from skeval.privacy import ExactMatchShare
from tests.snapshots import raises

TABLE = make_mixed(150)[["age", "income", "plan"]]
SUITE = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())], check_holdout=False)
DIRECTIONS = ["maximize", "minimize"]


@pytest.fixture(autouse=True)
def _silent():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)  # a failed trial is told of as a warning
    yield
    optuna.logging.set_verbosity(before)


class Mixture(BaseEstimator):
    """Copies of train, a share of the rows, and rows with every column drawn by itself."""

    def __init__(self, share: float = 0.5, n_rows: int | None = None) -> None:
        self.share = share
        self.n_rows = n_rows

    def fit(self, table: pd.DataFrame) -> Mixture:
        rows = table[: self.n_rows]
        self.copies_ = Bootstrap(random_state=0).fit(rows)
        self.others_ = IndependentMarginals(random_state=0).fit(rows)
        return self

    def sample(self, n: int, random_state: int = 0) -> pd.DataFrame:
        m = round(self.share * n)
        parts = [self.copies_.sample(max(m, 1), random_state)[:m], self.others_.sample(n)[m:]]
        return pd.concat(parts, ignore_index=True)


def generator_of(trial: Any) -> Any:
    if trial.suggest_categorical("family", ["mixture", "bootstrap", "independent"]) == "mixture":
        n_rows = trial.suggest_categorical("n_rows", [10, None])  # of so few rows the law is lost
        return Mixture(trial.suggest_float("share", 0.0, 1.0, step=0.25), n_rows)
    return Bootstrap() if trial.params["family"] == "bootstrap" else IndependentMarginals()


def objective(trial: Any) -> tuple[float, float]:
    means = cross_validate_generator(generator_of(trial), TABLE, SUITE, cv=2).frame()["mean"]
    return means["ks"], means["matches"]


def studied(function: Any = objective, n_trials: int = 10, seed: int = 0) -> optuna.Study:
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=6)
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    study.optimize(function, n_trials=n_trials)
    return study


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    return studied()


def scores_of(study: optuna.Study) -> pd.DataFrame:
    """Return the values of all trials so that higher is better, nan for failed trials."""
    signs = [1.0 if d == optuna.study.StudyDirection.MAXIMIZE else -1.0 for d in study.directions]
    rows = [t.values or [np.nan] * len(signs) for t in study.trials]
    return pd.DataFrame(np.array(rows, dtype=float) * signs).add_prefix("f")


def numbers(front: pd.Series) -> list[int]:
    return front.index[front].to_list()


# --------------------------------------------------------------------------------- a real study


@pytest.mark.slow
def test_a_seeded_study_is_reproducible(study):
    again = studied()
    assert [t.params for t in again.trials] == [t.params for t in study.trials]
    assert [t.values for t in again.trials] == [t.values for t in study.trials]
    assert {t.params["family"] for t in study.trials} == {"mixture", "bootstrap", "independent"}


def test_the_objectives_are_those_of_the_generators(study):
    for trial in study.trials:
        fixed = {"bootstrap": 1.0, "independent": 0.0}.get(trial.params["family"])
        share = trial.params["share"] if fixed is None else fixed
        assert trial.values[1] == pytest.approx(share, abs=0.1)  # few match by accident
        assert (trial.values[0] < 0.8) == (trial.params.get("n_rows") == 10)


def test_both_find_the_same_front_in_a_study(study):
    scores = scores_of(study)
    front = pareto_front(scores, list(scores))
    assert numbers(front) == sorted(t.number for t in study.best_trials)
    assert 0 < front.sum() < len(study.trials)
    # what was tried twice is twice there, and both on the front if one is
    equal = scores.groupby(list(scores)).groups
    assert max(len(rows) for rows in equal.values()) > 1
    assert all(len(set(front[rows])) == 1 for rows in equal.values())


def test_intervals_keep_more_than_best_trials(study):
    scores = scores_of(study)
    sharp, names = pareto_front(scores, list(scores)), list(scores)
    blunt = [
        pareto_front(scores, names, low=scores - half, high=scores + half)
        for half in (0.0, 0.01, 0.1, 1.0)
    ]
    assert blunt[0].equals(sharp)
    assert all((wide | ~narrow).all() for narrow, wide in pairwise(blunt))
    assert blunt[-1].all()


def test_the_volume_grows_with_the_trials(study):
    scores = scores_of(study)
    volumes = [
        hypervolume(scores[:n], list(scores), reference=[0.0, -1.0])
        for n in range(1, len(scores) + 1)
    ]
    assert (np.diff(volumes) >= 0.0).all()
    best = scores.loc[[t.number for t in study.best_trials]]
    assert hypervolume(best, list(scores), reference=[0.0, -1.0]) == pytest.approx(volumes[-1])
    assert 0.7 < volumes[-1] <= 1.0


def test_a_choice_among_the_trials(study):
    values = np.array([t.values for t in study.trials])
    rule = best_subject_to("matches", at_most=0.5, maximise="ks", scoring=["ks", "matches"])
    chosen = study.trials[rule({"mean_test_ks": values[:, 0], "mean_test_matches": -values[:, 1]})]
    feasible = values[values[:, 1] <= 0.5]
    assert 0 < len(feasible) < len(values)
    assert chosen.values[1] <= 0.5
    assert chosen.values[0] == feasible[:, 0].max()
    assert chosen.values[0] < values[:, 0].max()
    assert objective(chosen) == tuple(chosen.values)  # a trial makes its generator again


# ------------------------------------------------------------- training rows are never the test


@pytest.mark.slow
def test_training_folds_have_no_scores():
    def trained(trial):
        found = cross_validate(
            GeneratorAdapter(generator_of(trial)),
            TABLE,
            scoring=make_generator_scorer(SUITE),
            cv=2,
            return_train_score=True,
        )
        trial.set_user_attr("train", [*found["train_ks"], *found["train_matches"]])
        return found["test_ks"].mean(), -found["test_matches"].mean()

    study = studied(trained, n_trials=3)
    assert all(np.isnan(t.user_attrs["train"]).all() for t in study.trials)
    assert np.isfinite([t.values for t in study.trials]).all()


def test_an_objective_on_training_rows_is_an_error():
    every = np.arange(len(TABLE))

    class Same:
        def split(self, X, y=None, groups=None):
            yield every, every

        def get_n_splits(self, X=None, y=None, groups=None):
            return 1

    def cheating(trial):
        found = cross_validate_generator(generator_of(trial), TABLE, SUITE, cv=Same())
        return tuple(found.frame()["mean"])

    study = optuna.create_study(directions=DIRECTIONS)
    with raises(InvalidParameterError):
        study.optimize(cheating, n_trials=2)
    assert [t.state.name for t in study.trials] == ["FAIL"]
    assert study.best_trials == []


def test_holdouts_of_all_trials_are_disjoint_from_what_was_learnt():
    seen = []

    class Watched(ExactMatchShare):
        def fit(self, train, holdout=None, **options):
            seen.append((set(train["row"]), set(holdout["row"])))
            return super().fit(train, holdout, **options)

    numbered = TABLE.assign(row=np.arange(len(TABLE), dtype=float))

    def watched(trial):
        found = cross_validate_generator(generator_of(trial), numbered, Watched(), cv=3)
        return found.frame()["mean"].iloc[0], 0.0

    studied(watched, n_trials=2)
    assert len(seen) == 6
    for train, holdout in seen:
        assert not train & holdout
        assert train | holdout == set(range(len(TABLE)))


# --------------------------------------------------------------------------- values and fronts


def test_undefined_values():
    """Optuna fails such a trial; the search goes on, and neither front has it."""

    def holed(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        return (np.nan if x > 0.6 else x), x**2

    study = studied(holed, n_trials=20)
    failed = [t.number for t in study.trials if t.state == optuna.trial.TrialState.FAIL]
    assert len(study.trials) == 20
    assert failed
    scores = scores_of(study)
    assert scores.index[scores.isna().any(axis=1)].to_list() == failed
    front = numbers(pareto_front(scores, list(scores)))
    assert front == sorted(t.number for t in study.best_trials)
    assert not set(front) & set(failed)


def test_the_worst_values_stand_for_undefined_ones():
    """They are told to the sampler, which then asks less often for what has none."""

    def holed(trial, worst):
        x = trial.suggest_float("x", 0.0, 1.0)
        return worst if x > 0.6 else (x, 1.0 - x)

    failing = studied(lambda trial: holed(trial, (np.nan, 0.0)), n_trials=40)
    told = studied(lambda trial: holed(trial, (0.0, 1.0)), n_trials=40)
    assert all(t.state.name == "COMPLETE" for t in told.trials)
    lost = [sum(t.params["x"] > 0.6 for t in study.trials) for study in (failing, told)]
    assert lost[1] < lost[0]
    assert all(t.params["x"] <= 0.6 for t in told.best_trials)


@pytest.mark.parametrize("directions", [["maximize"] * 2, DIRECTIONS, ["minimize"] * 3])
@pytest.mark.parametrize("seed", range(4))
def test_both_find_the_same_front_among_ties(directions, seed):
    values = np.random.default_rng(seed).integers(0, 5, (30, len(directions)))
    study = optuna.create_study(directions=directions)
    study.add_trials([optuna.create_trial(values=row) for row in values.astype(float).tolist()])
    scores = scores_of(study)
    front = numbers(pareto_front(scores, list(scores)))
    assert front == sorted(t.number for t in study.best_trials)
    by_hand = [
        i
        for i, one in enumerate(scores.to_numpy())
        if not any((o >= one).all() and (o > one).any() for o in scores.to_numpy())
    ]
    assert front == by_hand
