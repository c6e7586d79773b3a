"""Monitors within the loops of others: what they are called with, what stops, what is kept."""

from __future__ import annotations

import contextlib
import sys
import warnings
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import GeneratorFailedError, InvalidParameterError, MissingDependencyError
from skeval.fidelity import ContingencySimilarity
from skeval.generators import GeneratorAdapter
from skeval.model_selection import (
    TrainingMonitor,
    fit_by_epochs,
    keras_callback,
    lightning_callback,
    report_trial,
)
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


# ----------------------------------------------------------- loops, with what they take from others


class Callback:
    """What the callbacks of Keras and Lightning have in common: a base to derive from."""


class Model(Overfitting):
    """The toy as a model of Keras: its weights are its epoch."""

    stop_training = False

    def get_weights(self) -> int:
        return self.epochs

    def set_weights(self, weights: int) -> None:
        self.epochs = weights


def sample(model: Overfitting, n: int, random_state: int) -> pd.DataFrame:
    return model.sample(n, random_state)


@pytest.fixture
def keras(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = ModuleType("keras")
    stub.callbacks = SimpleNamespace(Callback=Callback)
    monkeypatch.setitem(sys.modules, "keras", stub)


def run_keras(callback: Any) -> tuple[Model, list[dict[str, float]]]:
    callback.model = model = Model().fit(TRAIN)
    logs: list[dict[str, float]] = []
    for epoch in range(12):
        model.epochs = epoch + 1
        logs.append({"loss": 1.0})
        callback.on_epoch_end(epoch, logs[-1])
        if model.stop_training:
            break
    callback.on_train_end()
    return model, logs


@pytest.mark.slow
@pytest.mark.usefixtures("keras")
def test_a_loop_of_keras_stops_with_the_best_weights():
    monitor = new()
    model, logs = run_keras(keras_callback(monitor, sample))
    assert monitor.reason == "leak found"
    assert len(logs) == monitor.history.index[-1]
    assert model.epochs == monitor.best_epoch < len(logs)
    assert [log["skeval_utility"] for log in logs] == monitor.history["utility"].tolist()
    assert logs[-1]["skeval_p_value"] <= 0.05


@pytest.mark.slow
@pytest.mark.usefixtures("keras")
def test_the_last_weights_of_keras_can_be_kept():
    monitor = new(every=2)
    model, logs = run_keras(keras_callback(monitor, sample, restore_best=False))
    assert model.epochs == len(logs)
    assert ["skeval_utility" in log for log in logs][:2] == [False, True]


class Module(Overfitting):
    """The toy as a module of Lightning."""

    training = True

    def eval(self) -> None:
        self.training = False

    def train_mode(self, mode: bool) -> None:
        self.training = mode

    def state_dict(self) -> dict[str, int]:
        return {"epochs": self.epochs}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epochs = state["epochs"]

    def log_dict(self, values: dict[str, float]) -> None:
        self.logged = values


@pytest.fixture
def lightning(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = ModuleType("torch")
    torch.no_grad = contextlib.nullcontext
    torch.get_rng_state = torch.set_rng_state = torch.manual_seed = lambda *_: None
    package, inner = ModuleType("lightning"), ModuleType("lightning.pytorch")
    inner.Callback = Callback
    modules = {"torch": torch, "lightning": package, "lightning.pytorch": inner}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.slow
@pytest.mark.usefixtures("lightning")
def test_a_loop_of_lightning_stops_with_the_best_state():
    monitor, trainer = new(), SimpleNamespace(current_epoch=0, should_stop=False)
    module = Module()
    module.train = TRAIN

    def seen(module: Module, n: int, random_state: int) -> pd.DataFrame:
        assert not module.training
        toy = Overfitting(module.epochs).fit(TRAIN)
        return toy.sample(n, random_state)

    module.train = module.train_mode
    callback = lightning_callback(monitor, seen)
    while not trainer.should_stop:
        module.epochs = trainer.current_epoch + 1
        callback.on_train_epoch_end(trainer, module)
        assert module.training
        trainer.current_epoch += 1
    callback.on_train_end(trainer, module)
    assert monitor.reason == "leak found"
    assert module.epochs == monitor.best_epoch
    assert set(module.logged) == {"skeval_utility", "skeval_p_value"}


@pytest.mark.usefixtures("lightning")
def test_the_older_package_of_lightning_has_callbacks_of_its_own(monkeypatch):
    old = ModuleType("pytorch_lightning")
    old.Callback = type("OldCallback", (), {})
    monkeypatch.setitem(sys.modules, "pytorch_lightning", old)
    assert not isinstance(lightning_callback(new(), sample), old.Callback)
    monkeypatch.delitem(sys.modules, "lightning")
    assert isinstance(lightning_callback(new(), sample), old.Callback)


def test_what_is_not_installed_is_named(monkeypatch):
    for name in ("keras", "lightning", "lightning.pytorch", "pytorch_lightning", "optuna"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "pytorch_lightning")
    monkeypatch.delitem(sys.modules, "lightning")
    with pytest.raises(MissingDependencyError, match="pip install keras"):
        keras_callback(new(), sample)
    with pytest.raises(MissingDependencyError, match="pip install lightning"):
        lightning_callback(new(), sample)
    with pytest.raises(MissingDependencyError, match="skeval\\[optuna\\]"):
        report_trial(None, new())


# -------------------------------------------------------------------------------- fits in steps


@pytest.mark.slow
def test_fits_of_more_and_more_epochs_end_at_the_knee():
    monitor = new()
    best = fit_by_epochs(Overfitting(), TRAIN, monitor, [1, 2, 4, 8, 16])
    assert list(monitor.history.index) == [1, 2, 4, 8]
    assert monitor.reason == "leak found"
    assert isinstance(best, GeneratorAdapter)
    assert best.generator_.epochs == monitor.best_epoch == 4
    assert best.sample(5).shape == (5, TRAIN.shape[1])


def test_no_eligible_fit_is_none():
    assert fit_by_epochs(Overfitting(), TRAIN, new(), [20, 40]) is None


@pytest.mark.parametrize("epochs", [[], [2, 1], [1, 1]])
def test_epochs_ascend(epochs):
    with pytest.raises(InvalidParameterError, match="ascend"):
        fit_by_epochs(Overfitting(), TRAIN, new(), epochs)


def test_the_parameter_of_epochs_is_named():
    with pytest.raises(InvalidParameterError, match="no parameter 'n_estimators'"):
        fit_by_epochs(Overfitting(), TRAIN, new(), [1], parameter="n_estimators")


def test_other_rows_than_those_of_the_monitor_are_refused():
    with pytest.raises(InvalidParameterError, match="same table to both"):
        fit_by_epochs(Overfitting(), HOLDOUT, new(), [1])
    shuffled = TRAIN.sample(frac=1.0, random_state=0)  # the order does not matter
    assert fit_by_epochs(Overfitting(), shuffled, new(), [4]) is not None


def test_a_failing_generator_is_named():
    class Failing(Overfitting):
        def fit(self, train):
            raise RuntimeError(str(train.iloc[0, 0]))

    with pytest.raises(GeneratorFailedError):
        fit_by_epochs(Failing(), TRAIN, new(), [1])


# --------------------------------------------------------------------------------------- Optuna


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


# ------------------------------------------------------------------------------ the real packages


@pytest.mark.peers
def test_keras_itself(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = import_module("keras")
    keras.utils.set_random_seed(0)
    numbers = ["age", "income"]
    rows = TRAIN[numbers].fillna(TRAIN[numbers].mean()).to_numpy("float32")
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    layers = [keras.layers.Dense(8, "relu"), keras.layers.Dense(len(numbers))]
    model = keras.Sequential([keras.Input((len(numbers),)), *layers])
    model.compile("adam", "mse")

    def generated(model: Any, n: int, random_state: int) -> pd.DataFrame:
        noise = np.random.default_rng(random_state).normal(size=(n, len(numbers)))
        made = model.predict(noise.astype("float32"), verbose=0)
        return pd.DataFrame(made * scale + centre, columns=numbers)

    suite = MetricSuite([("pairs", ContingencySimilarity()), ("dcr", DCRShare())])
    monitor = TrainingMonitor(suite, TRAIN[numbers], HOLDOUT[numbers], n_looks=4, patience=9)
    fitted = (rows - centre) / scale
    callback = keras_callback(monitor, generated)
    history = model.fit(fitted, fitted, epochs=9, callbacks=[callback], verbose=0)
    assert list(monitor.history.index) == [1, 2, 3, 4]
    assert len(history.history["loss"]) == 4
    assert len(history.history["skeval_utility"]) == 4
    for mine, best in zip(model.get_weights(), callback.best_weights, strict=True):
        assert np.array_equal(mine, best)


@pytest.mark.peers
@pytest.mark.parametrize("package", ["lightning.pytorch", "pytorch_lightning"])
def test_lightning_itself(package, tmp_path):
    torch = import_module("torch")
    pl = import_module(package)
    rows = torch.tensor(TRAIN[["age", "income"]].fillna(0.0).to_numpy("float32"))
    centre, scale = rows.mean(dim=0), rows.std(dim=0)

    class Net(pl.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(2, 2)
            self.draws: list[float] = []

        def training_step(self, batch: Any, _: int) -> Any:
            self.draws.append(float(torch.rand(1)))
            return ((self.layer(batch[0]) - batch[0]) ** 2).mean()

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.05)

    def generated(module: Any, n: int) -> pd.DataFrame:
        assert not module.training
        made = module.layer(torch.randn(n, 2)) * scale + centre
        return pd.DataFrame(made.numpy().astype(float), columns=["age", "income"])

    def trained(callbacks: list[Any], n_epochs: int) -> Any:
        torch.manual_seed(0)
        net = Net()
        data = torch.utils.data.TensorDataset((rows - centre) / scale)
        trainer = pl.Trainer(
            max_epochs=n_epochs,
            callbacks=callbacks,
            accelerator="cpu",
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=tmp_path,
        )
        trainer.fit(net, torch.utils.data.DataLoader(data, batch_size=100))
        return net

    real = TRAIN[["age", "income"]], HOLDOUT[["age", "income"]]
    suite = MetricSuite([("pairs", ContingencySimilarity()), ("dcr", DCRShare())])
    monitor = TrainingMonitor(suite, *real, n_looks=3, patience=9)
    if package == "pytorch_lightning":
        sys.modules.pop("lightning", None)
    callback = lightning_callback(monitor, generated)
    net = trained([callback], 8)
    assert list(monitor.history.index) == [1, 2, 3]
    assert torch.equal(net.layer.weight, callback.best_state["layer.weight"])
    assert net.draws == trained([], 3).draws  # looks draw nothing of the training's numbers


@pytest.mark.peers
def test_ctgan_itself():
    """Fits of one seed are starts of each other, which is why doubling epochs makes sense."""
    ctgan = import_module("ctgan")
    rows = TRAIN[["age", "city"]].dropna()

    class CTGAN(ctgan.CTGAN):
        def fit(self, train: pd.DataFrame) -> Any:
            super().fit(train, ["city"])
            return self

    settings = {"batch_size": 100, "enable_gpu": False}
    adapter = GeneratorAdapter(CTGAN, parameters=settings)
    suite = MetricSuite([("pairs", ContingencySimilarity()), ("dcr", DCRShare())])
    monitor = TrainingMonitor(suite, rows, HOLDOUT[["age", "city"]].dropna(), patience=9)
    losses = []
    for n_epochs in (2, 4):
        best = fit_by_epochs(adapter, rows, monitor, [n_epochs])
        if best is not None:
            losses.append(best.generator_.loss_values["Generator Loss"].tolist())
    assert list(monitor.history.index) == [2, 4]
    if len(losses) == 2:
        assert losses[1][:2] == losses[0]
