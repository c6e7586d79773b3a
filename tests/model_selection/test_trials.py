"""Studies of Optuna whose trials train a generator, with reports and pruning."""

from __future__ import annotations

from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import (
    ContingencySimilarity,
    NearestNeighborAdversarialAccuracy,
    WassersteinDistance,
)
from skeval.model_selection import report_trial
from skeval.privacy import DCRShare, ExactMatchShare
from tests.snapshots import raises

optuna.logging.set_verbosity(optuna.logging.WARNING)
TRAIN, HOLDOUT = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
SUITE = MetricSuite(
    [
        ("pairs", ContingencySimilarity()),
        ("dcr", DCRShare()),
        ("exact", ExactMatchShare()),
        ("wasserstein", WassersteinDistance()),
        ("neighbors", NearestNeighborAdversarialAccuracy()),
    ],
    check_holdout=False,
).fit(TRAIN, HOLDOUT)


def sample(epoch: int, learned: int, knee: int) -> pd.DataFrame:
    """Return rows of a training: relations are right from `learned`, rows copied from `knee` on."""
    rng = np.random.default_rng(epoch)
    rows = make_mixed(len(TRAIN), random_state=epoch + 10)
    loose = rng.random(len(rows)) >= epoch / learned
    copied = rng.random(len(rows)) < 0.3 * (epoch - knee)
    for name in rows:
        values = rows[name].to_numpy(copy=True)
        values[loose] = rng.permutation(values[loose])
        values[copied] = TRAIN[name].to_numpy()[copied]
        rows[name] = values
    return rows


def objective(trial: optuna.Trial) -> float:
    learned = trial.suggest_categorical("learned", [5, 40])
    knee = trial.suggest_categorical("knee", [0, 6])
    for epoch in range(1, 9):
        best = report_trial(trial, epoch, SUITE.evaluate(sample(epoch, learned, knee)), "pairs")
    return best


def study_of(pruner: Any, n_trials: int = 4) -> optuna.Study:
    sampler = optuna.samplers.GridSampler({"learned": [5, 40], "knee": [0, 6]}, seed=0)
    made = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    made.optimize(objective, n_trials=n_trials)
    return made


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    return study_of(optuna.pruners.NopPruner())


@pytest.mark.slow
def test_a_study_keeps_what_does_not_leak(study):
    values = {(t.params["learned"], t.params["knee"]): t.value for t in study.trials}
    assert values[5, 0] == values[40, 0] == -np.inf  # these copy from the first epoch on
    assert study.best_params == {"learned": 5, "knee": 6}
    assert study.best_trial.user_attrs["best_epoch"] in (4, 5, 6)
    assert study.best_trial.user_attrs["best_score"] == study.best_value


@pytest.mark.slow
def test_steps_are_epochs_and_values_never_fall(study):
    values = study.best_trial.intermediate_values
    assert list(values) == list(range(1, 9))
    assert (np.diff(list(values.values())) >= 0.0).all()
    assert values[8] == study.best_value


@pytest.mark.slow
def test_a_pruner_of_optuna_ends_hopeless_trials():
    made = study_of(optuna.pruners.ThresholdPruner(lower=0.999, n_warmup_steps=2))
    assert {t.state.name for t in made.trials if t.params["knee"]} == {"PRUNED"}
    assert all(max(t.intermediate_values, default=0) <= 3 for t in made.trials)


@pytest.mark.slow
def test_samplers_go_on_after_a_trial_that_always_leaks():
    def copying(trial: optuna.Trial) -> float:
        n_copied = trial.suggest_int("n_copied", 0, 300)
        rows = pd.concat([TRAIN[:n_copied], make_mixed(300 - n_copied, random_state=5)])
        return report_trial(trial, 1, SUITE.evaluate(rows), "pairs")

    sampler = optuna.samplers.TPESampler(seed=0, n_startup_trials=3)
    made = optuna.create_study(direction="maximize", sampler=sampler)
    made.optimize(copying, n_trials=10)
    assert {t.state.name for t in made.trials} == {"COMPLETE"}
    assert -np.inf in [t.value for t in made.trials]


def test_scores_are_such_that_higher_is_better():
    result, trial = SUITE.evaluate(make_mixed(300, random_state=3)), optuna.trial.FixedTrial({})
    score = -result["wasserstein"].value
    assert report_trial(trial, 1, result, "wasserstein") == score
    assert report_trial(trial, 2, result, "wasserstein") == score
    assert trial.user_attrs == {"best_epoch": 1, "best_score": score}


def test_a_table_of_copies_does_not_count():
    trial = optuna.trial.FixedTrial({})
    assert report_trial(trial, 1, SUITE.evaluate(TRAIN), "pairs") == -np.inf
    assert trial.user_attrs == {}


@pytest.mark.slow
def test_a_study_that_minimizes_is_refused():
    made, result = optuna.create_study(direction="minimize"), SUITE.evaluate(HOLDOUT[:200])
    with raises(InvalidParameterError):
        made.optimize(lambda trial: report_trial(trial, 1, result, "pairs"), n_trials=1)


@pytest.mark.slow
def test_a_metric_without_a_direction_is_refused():
    with raises(InvalidParameterError):
        report_trial(optuna.trial.FixedTrial({}), 1, SUITE.evaluate(HOLDOUT[:200]), "neighbors")
