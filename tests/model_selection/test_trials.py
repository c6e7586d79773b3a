"""Studies of Optuna in which the trials are trainings: what is reported, and what is pruned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import optuna
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import ContingencySimilarity
from skeval.model_selection import TrainingMonitor, report_trial
from skeval.privacy import DCRShare, ExactMatchShare
from tests.model_selection.overfitting import Overfitting

optuna.logging.set_verbosity(optuna.logging.WARNING)
TRAIN, HOLDOUT = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
SUITE = MetricSuite(
    [("pairs", ContingencySimilarity()), ("dcr", DCRShare()), ("exact", ExactMatchShare())],
    check_holdout=False,
)


def new(**settings: Any) -> TrainingMonitor:
    return TrainingMonitor(SUITE, TRAIN, HOLDOUT, **{"n_looks": 10, "patience": 10, **settings})


def study_of(pruner: Any = None, direction: str = "maximize") -> optuna.Study:
    sampler = optuna.samplers.GridSampler({"learnt": [5, 40], "knee": [0, 6]}, seed=0)
    return optuna.create_study(direction=direction, sampler=sampler, pruner=pruner)


def objective(trial: optuna.Trial) -> float:
    generator = Overfitting(
        learnt=trial.suggest_categorical("learnt", [5, 40]),
        knee=trial.suggest_categorical("knee", [0, 6]),
        slope=0.3,
    ).fit(TRAIN)
    monitor = new(patience=4)
    for epoch in range(1, 9):
        generator.set_params(epochs=epoch)
        stopped = monitor.on_epoch_end(epoch, generator.sample)
        report_trial(trial, monitor)
        if stopped:
            break
    return monitor.best_score


@pytest.fixture(scope="module")
def study() -> optuna.Study:
    made = study_of(optuna.pruners.NopPruner())
    made.optimize(objective, n_trials=4)
    return made


@pytest.mark.slow
def test_a_study_keeps_what_does_not_leak(study):
    states = {(t.params["learnt"], t.params["knee"]): t.state.name for t in study.trials}
    assert states == {
        (5, 6): "COMPLETE",
        (40, 6): "COMPLETE",
        (5, 0): "PRUNED",  # which copies from the first epoch on
        (40, 0): "PRUNED",
    }
    assert study.best_params == {"learnt": 5, "knee": 6}
    assert study.best_trial.user_attrs["best_epoch"] in (4, 5, 6)
    assert study.best_trial.user_attrs["reason"] == "leak found"


def test_steps_are_epochs_and_values_never_fall(study):
    values = study.best_trial.intermediate_values
    assert all(isinstance(step, int) for step in values)
    assert (np.diff([values[step] for step in sorted(values)]) >= 0.0).all()
    assert values[max(values)] == study.best_value


@pytest.mark.slow
def test_a_pruner_of_optuna_ends_hopeless_trials():
    pruner = optuna.pruners.ThresholdPruner(lower=0.999, n_warmup_steps=2)
    made = study_of(pruner)
    made.optimize(objective, n_trials=4)
    assert {t.state.name for t in made.trials} == {"PRUNED"}
    assert all(max(t.intermediate_values, default=0) <= 3 for t in made.trials)


def test_a_study_that_minimizes_is_refused():
    made = study_of(direction="minimize")
    with pytest.raises(InvalidParameterError, match='direction="maximize"'):
        made.optimize(objective, n_trials=1)


def test_an_epoch_without_a_look_reports_nothing():
    def of_few_looks(trial: optuna.Trial) -> float:
        monitor = new(every=2)
        for epoch in range(1, 6):
            monitor.on_epoch_end(epoch, lambda n, e=epoch: make_mixed(n, random_state=e + 5))
            report_trial(trial, monitor)
        return monitor.best_score

    made = optuna.create_study(direction="maximize")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as Optuna's, of a step that is reported again
        made.optimize(of_few_looks, n_trials=1)
    assert list(made.best_trial.intermediate_values) == [2, 4]


def test_nothing_is_reported_before_a_look():
    trial = optuna.trial.FixedTrial({})
    report_trial(trial, new())
    assert trial.user_attrs == {}
