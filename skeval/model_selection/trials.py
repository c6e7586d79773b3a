"""Scores of a training that a trial of Optuna gets while a generator learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skeval.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from skeval.model_selection.training import TrainingMonitor

_EPOCH = "reported_epoch"


def report_trial(trial: Any, monitor: TrainingMonitor) -> None:
    """Report to a trial of Optuna what a monitor has seen, and prune the trial if it is hopeless.

    Call it after each :meth:`TrainingMonitor.on_epoch_end`, and return ``monitor.best_score`` from
    the objective. What is reported at an epoch is the utility of the best eligible epoch so far, so
    that no pruner and no sampler favours a generator that leaks.

    Parameters
    ----------
    trial : optuna.Trial
        One of a study of one objective with ``direction="maximize"``.
    monitor : TrainingMonitor
        The one of this trial. Epochs without a look report nothing.

    Raises
    ------
    optuna.TrialPruned
        If the pruner of the study asks for it, or the monitor has stopped and no epoch is eligible.
    InvalidParameterError
        If the study minimizes.

    See Also
    --------
    TrainingMonitor : When it stops.

    Notes
    -----
    The user attributes `best_epoch`, `reason`, `p_value` and `reported_epoch` of the trial are set.
    The level of a monitor is that of one training: among *m* trials without a leak, up to *m* times
    as many are stopped by a false alarm.

    Examples
    --------
    >>> import optuna
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.model_selection import TrainingMonitor, report_trial
    >>> from skeval.privacy import DCRShare
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement()), ("dcr", DCRShare())])
    >>> def objective(trial):
    ...     seed = trial.suggest_int("seed", 2, 9)
    ...     monitor = TrainingMonitor(suite, train, holdout, n_looks=2)
    ...     for epoch in (1, 2):
    ...         monitor.on_epoch_end(epoch, lambda n: make_mixed(n, random_state=seed))
    ...         report_trial(trial, monitor)
    ...     return monitor.best_score
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(direction="maximize")
    >>> study.optimize(objective, n_trials=1)
    >>> study.best_trial.user_attrs["best_epoch"] in (1, 2)
    True
    """
    import optuna  # whoever has a trial has the package

    study = getattr(trial, "study", None)
    if study is not None and study.direction != optuna.study.StudyDirection.MAXIMIZE:
        raise InvalidParameterError(
            "report_trial: utility is reported such that higher is better. Make the study with "
            'direction="maximize".'
        )
    if not monitor.results:
        return
    epoch = next(reversed(monitor.results))
    if monitor.best_epoch is not None and trial.user_attrs.get(_EPOCH) != epoch:
        trial.report(monitor.best_score, step=int(epoch))  # a step once: Optuna warns of a second
        trial.set_user_attr(_EPOCH, int(epoch))
    seen = {"best_epoch": monitor.best_epoch, "reason": monitor.reason}
    for name, value in {**seen, "p_value": float(monitor.history["p_value"].iloc[-1])}.items():
        trial.set_user_attr(name, value)
    if trial.should_prune() or (monitor.stopped and monitor.best_epoch is None):
        raise optuna.TrialPruned(monitor.sentence)
