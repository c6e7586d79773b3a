"""Scores that a trial of Optuna gets while a generator learns."""

from __future__ import annotations

import math
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.model_selection.scorers import signed_value
from skeval.results.suite_result import SuiteResult


def report_trial(trial: Any, epoch: int, result: SuiteResult, metric: str) -> float:
    """Report to an Optuna trial the best score of its epochs without a leak.

    Call the function in the objective of a study each time that the rows of a generator were
    evaluated during its training, and return its last value from the objective. An epoch counts if
    the verdict on its rows is neither a leak nor copies, so that no pruner and no sampler favors a
    generator that leaks.

    Parameters
    ----------
    trial : optuna.Trial
        A trial of a study with one objective and ``direction="maximize"``.
    epoch : int
        The number of the epoch. Optuna records the score at this step.
    result : SuiteResult
        The result of the rows that the generator samples at this epoch.
    metric : str
        The name of the metric in `result` to maximize. If lower values are better, the score is the
        negated value.

    Returns
    -------
    float
        The best score so far, or ``-inf`` if no epoch counts.

    Raises
    ------
    optuna.TrialPruned
        If the pruner of the study ends the trial.
    InvalidParameterError
        If the study minimizes, or the metric has no direction.

    See Also
    --------
    skeval.SuiteResult.verdict : The verdict on one table.
    make_generator_scorer : Scores of generators in a search of scikit-learn.

    Notes
    -----
    The user attributes `best_epoch` and `best_score` of the trial are set. Nothing is reported
    before the first epoch that counts.

    Examples
    --------
    >>> import optuna
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.model_selection import report_trial
    >>> from skeval.privacy import DCRShare
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> suite = MetricSuite([("ks", KSComplement()), ("dcr", DCRShare())]).fit(train, holdout)
    >>> def objective(trial):
    ...     seed = trial.suggest_int("seed", 2, 9)
    ...     for epoch in (1, 2):
    ...         rows = make_mixed(100 * epoch, random_state=seed)
    ...         best = report_trial(trial, epoch, suite.evaluate(rows), "ks")
    ...     return best
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(direction="maximize")
    >>> study.optimize(objective, n_trials=1)
    >>> study.best_trial.user_attrs["best_epoch"] in (1, 2)
    True
    """
    import optuna  # a trial comes from this package, so it is installed

    study = getattr(trial, "study", None)  # a FixedTrial has none
    if study is not None and study.direction != optuna.study.StudyDirection.MAXIMIZE:
        raise InvalidParameterError(
            "report_trial: expected a study that maximizes, because higher scores are better, got "
            'one that minimizes. Create the study with direction="maximize".'
        )
    tags = result[metric].tags
    if tags is None or not tags.sign:
        raise InvalidParameterError(
            f"report_trial: expected a metric with a direction, got {metric!r}, whose best value "
            "lies in between. Name another metric of the suite."
        )
    best, score = trial.user_attrs.get("best_score", -math.inf), signed_value(result[metric])
    verdict = result.verdict()
    if score > best and not (verdict.alarm or verdict.copies):
        best = score
        trial.set_user_attr("best_epoch", epoch)
        trial.set_user_attr("best_score", best)
    if best > -math.inf:
        trial.report(best, step=epoch)
    if trial.should_prune():
        raise optuna.TrialPruned
    return float(best)
