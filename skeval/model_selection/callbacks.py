"""Monitors in the training loops of others: Keras, Lightning, Optuna, and fits in steps."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError, needed
from skeval.generators.adapter import GeneratorAdapter, reseeded, unknown_parameters
from skeval.generators.clients import seeded_call
from skeval.model_selection.selection import same_rows

if TYPE_CHECKING:
    from skeval.model_selection.training import TrainingMonitor

ModelSampler = Callable[..., Any]
_EPOCH = "reported_epoch"
_UTILITY, _P_VALUE = "skeval_utility", "skeval_p_value"


def keras_callback(
    monitor: TrainingMonitor, sample: ModelSampler, *, restore_best: bool = True
) -> Any:
    """Return a callback of Keras that looks at a model after epochs, and stops its training.

    Parameters
    ----------
    monitor : TrainingMonitor
        A new one.
    sample : callable
        Takes the model and a number of rows, and returns a table. It may take `random_state` or
        `seed`.
    restore_best : bool, default=True
        Whether the model has the weights of the best epoch at the end, if there is one.

    Returns
    -------
    keras.callbacks.Callback
        For ``model.fit(..., callbacks=[callback])``. The logs of epochs that were looked at have
        `skeval_utility` and `skeval_p_value`.

    Raises
    ------
    MissingDependencyError
        If Keras is not installed.

    See Also
    --------
    TrainingMonitor : When it stops.
    lightning_callback : The same for Lightning.

    Examples
    --------
    ``sample`` draws rows of the model, and the callback goes with the others::

        def sample(model, n, random_state):
            noise = np.random.default_rng(random_state).normal(size=(n, 8))
            return pd.DataFrame(model.decoder.predict(noise), columns=columns)

        model.fit(rows, epochs=300, callbacks=[keras_callback(monitor, sample)])
    """
    keras = needed("keras_callback", "keras", "pip install keras")

    class MonitorCallback(keras.callbacks.Callback):  # type: ignore[name-defined]
        """Looks after each epoch, which Keras counts from 0."""

        best_weights: Any = None

        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            n_looks = len(monitor.results)
            stopped = monitor.on_epoch_end(epoch + 1, partial(sample, self.model))
            if logs is not None and len(monitor.results) > n_looks:
                logs.update(_last(monitor))
            if restore_best and monitor.best_epoch == epoch + 1:
                self.best_weights = self.model.get_weights()
            if stopped:
                self.model.stop_training = True

        def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
            if self.best_weights is not None:
                self.model.set_weights(self.best_weights)

    return MonitorCallback()


def lightning_callback(
    monitor: TrainingMonitor, sample: ModelSampler, *, restore_best: bool = True
) -> Any:
    """Return a callback of Lightning that looks at a module after epochs, and stops its training.

    Parameters
    ----------
    monitor : TrainingMonitor
        A new one.
    sample : callable
        Takes the module, in evaluation mode and without gradients, and a number of rows, and
        returns a table. It may take `random_state` or `seed`.
    restore_best : bool, default=True
        Whether the module has the state of the best epoch at the end, if there is one.

    Returns
    -------
    Callback
        For ``Trainer(callbacks=[callback])``, of `lightning` or `pytorch_lightning`, whichever is
        in use. The values `skeval_utility` and `skeval_p_value` are logged.

    Raises
    ------
    MissingDependencyError
        If neither is installed.

    See Also
    --------
    TrainingMonitor : When it stops.
    keras_callback : The same for Keras.

    Examples
    --------
    ``sample`` draws rows of the module, and PyTorch is seeded while it runs::

        def sample(module, n):
            return to_table(module.decode(torch.randn(n, 8)))

        callback = lightning_callback(monitor, sample)
        Trainer(max_epochs=300, callbacks=[callback]).fit(module, loader)
    """

    class MonitorCallback(_lightning().Callback):  # type: ignore[misc]
        """Looks after each epoch, which Lightning counts from 0."""

        best_state: Any = None

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            epoch, n_looks = trainer.current_epoch + 1, len(monitor.results)
            stopped = monitor.on_epoch_end(epoch, partial(_evaluating, sample, pl_module))
            if len(monitor.results) > n_looks:
                pl_module.log_dict(_last(monitor))
            if restore_best and monitor.best_epoch == epoch:
                self.best_state = copy.deepcopy(pl_module.state_dict())
            if stopped:
                trainer.should_stop = True

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            if self.best_state is not None:
                pl_module.load_state_dict(self.best_state)

    return MonitorCallback()


def _lightning() -> Any:
    """Return the package whose trainer is in use: it takes callbacks of its own kind."""
    if "lightning" not in sys.modules and "pytorch_lightning" in sys.modules:
        return sys.modules["pytorch_lightning"]
    return needed("lightning_callback", "lightning.pytorch", "pip install lightning")


def _evaluating(sample: ModelSampler, module: Any, n: int, random_state: int) -> Any:
    """Sample a module of PyTorch as it is when it is used, and leave it as it was."""
    torch = needed("lightning_callback", "torch", "pip install torch")
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            return seeded_call(partial(sample, module), random_state, n)
    finally:
        module.train(was_training)


def _last(monitor: TrainingMonitor) -> dict[str, float]:
    """Return what was seen at the last look, as numbers for a log."""
    last = monitor.history.iloc[-1]
    return {_UTILITY: float(last["utility"]), _P_VALUE: float(last["p_value"])}


def fit_by_epochs(
    generator: Any,
    train: Any,
    monitor: TrainingMonitor,
    epochs: Sequence[int] = (10, 20, 40, 80, 160, 320),
    *,
    parameter: str = "epochs",
    random_state: int = 0,
) -> GeneratorAdapter | None:
    """Fit a generator anew for more and more epochs until a monitor stops, and return the best one.

    Synthesizers of SDV and ctgan have no hook within `fit`. Each look is therefore a fit of its own
    from the same seed, so that each is the start of the next. If the numbers of epochs double,
    all fits together cost at most twice the last one.

    Parameters
    ----------
    generator : object, class or GeneratorAdapter
        What :class:`~skeval.generators.GeneratorAdapter` takes; it stays as it is.
    train : table
        The rows to learn from: those of the monitor.
    monitor : TrainingMonitor
        A new one, with ``every=1``.
    epochs : sequence of int, default=(10, 20, 40, 80, 160, 320)
        Ascending.
    parameter : str, default="epochs"
        The parameter of the generator that counts them; such as "n_estimators" of a boosted one.
    random_state : int, default=0
        Seed of each fit.

    Returns
    -------
    GeneratorAdapter or None
        The fitted generator of the best epoch; None if no epoch is eligible.

    Raises
    ------
    InvalidParameterError
        If the generator has no such parameter, the epochs do not ascend, or the rows are not those
        of the monitor.

    See Also
    --------
    TrainingMonitor : When it stops.

    Examples
    --------
    With SDV, ``fit_by_epochs(CTGANSynthesizer(metadata), train, monitor, [25, 50, 100])``. Here
    leaves of trees stand for epochs:

    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.generators import SequentialCART
    >>> from skeval.model_selection import TrainingMonitor, fit_by_epochs
    >>> from skeval.privacy import DCRShare
    >>> train, holdout = make_mixed(200, random_state=2), make_mixed(200, random_state=3)
    >>> suite = MetricSuite([("ks", KSComplement()), ("dcr", DCRShare())])
    >>> monitor = TrainingMonitor(suite, train, holdout, every=1, n_looks=2)
    >>> leaves = "min_samples_leaf"
    >>> best = fit_by_epochs(SequentialCART(), train, monitor, [40, 50], parameter=leaves)
    >>> len(best.sample(10)), monitor.history.index.tolist()
    (10, [40, 50])
    """
    if unknown_parameters(generator, [parameter]):
        raise InvalidParameterError(
            f"fit_by_epochs: the generator has no parameter {parameter!r}. Name the one that "
            "counts its epochs: parameter=..."
        )
    if list(epochs) != sorted(set(epochs)) or not len(epochs):
        raise InvalidParameterError(
            f"fit_by_epochs: epochs must be whole numbers that ascend, got {list(epochs)!r}."
        )
    known = monitor.suite.context_
    if not same_rows(Context.of(train, schema=known.schema).given("train"), known.given("train")):
        raise InvalidParameterError(
            "fit_by_epochs: train must hold the rows that the monitor compares with, got others. "
            "Pass the same table to both."
        )
    best = None
    for n_epochs in epochs:
        adapter = reseeded(generator, random_state, {parameter: n_epochs}).fit(train)
        stopped = monitor.on_epoch_end(n_epochs, adapter.sample)
        best = adapter if monitor.best_epoch == n_epochs else best
        if stopped:
            break
    return best


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
    MissingDependencyError
        If Optuna is not installed.

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
    optuna = needed("report_trial", "optuna", 'pip install "skeval[optuna]"')
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
    for name, value in {**seen, "p_value": _last(monitor)[_P_VALUE]}.items():
        trial.set_user_attr(name, value)
    if trial.should_prune() or (monitor.stopped and monitor.best_epoch is None):
        raise optuna.TrialPruned(monitor.sentence)
