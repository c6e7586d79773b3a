"""Adversarial accuracy and its loss: published values, relabelings by brute force, odd tables."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, MissingInputError, SharedRowsWarning
from skeval.fidelity.adversarial_accuracy import NearestNeighborAdversarialAccuracy
from skeval.privacy.distance_screens.nnaa import NNAAPrivacyLoss, relabelled_accuracies
from tests.counting import CountingContext
from tests.snapshots import raises, warns


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


TOY = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)


def normal(n, seed, p=3):
    values = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(p)])


def test_toy():
    train, holdout, synthetic = TOY
    accuracy = NearestNeighborAdversarialAccuracy().fit(train, holdout).evaluate(synthetic)
    assert (accuracy.value, accuracy.baseline) == (0.0, 0.375)
    loss = NNAAPrivacyLoss().fit(train, holdout).evaluate(synthetic)
    assert loss.value == 0.375
    assert (loss.details["on_train"], loss.details["on_holdout"]) == (0.0, 0.375)


@pytest.mark.parametrize(
    ("name", "on_train", "on_holdout"),
    [
        ("over", 0.0, 0.432584),
        ("gauss", 0.691011, 0.691011),
        ("holdout", 0.471910, 0.0),
        ("train", 0.0, 0.471910),
    ],
)
def test_wine(wine, name, on_train, on_holdout):
    synthetic = getattr(wine, name)
    metric = NearestNeighborAdversarialAccuracy().fit(wine.train, wine.holdout)
    assert metric.score(synthetic) == pytest.approx(on_train, abs=1e-6)
    result = NNAAPrivacyLoss().fit(wine.train, wine.holdout).evaluate(synthetic)
    assert result.value == pytest.approx(on_holdout - on_train, abs=1e-6)
    assert result.details["on_holdout"] == pytest.approx(on_holdout, abs=1e-6)


def brute_accuracies(pool, synthetic, labels, ties):
    """The accuracies on train and holdout of one relabeling, from whole distance matrices."""
    within, across = cdist(pool, pool), cdist(pool, synthetic)
    np.fill_diagonal(within, np.inf)
    own = cdist(synthetic, synthetic)
    np.fill_diagonal(own, np.inf)

    def right(to_other, to_own):
        return (to_other > to_own) + (0.5 * (to_other == to_own) if ties == "half" else 0.0)

    accuracy = []
    for mine in (labels, ~labels):
        real = right(across[mine].min(axis=1), within[np.ix_(mine, mine)].min(axis=1))
        false = right(across[mine].min(axis=0), own.min(axis=1))
        accuracy.append((real.mean() + false.mean()) / 2)
    return accuracy


@pytest.mark.parametrize("ties", ["strict", "half"])
@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
@pytest.mark.parametrize("decimals", [0, 6])
def test_relabelled_loss_is_brute_force(ties, decimals):
    train, holdout, synthetic = (normal(n, n, p=2).round(decimals) for n in (7, 5, 9))
    metric = NNAAPrivacyLoss(1, ties, space=Halved())
    result = metric.fit(train, holdout).evaluate(synthetic)
    real = pd.concat([metric.context_.train, metric.context_.holdout])  # as rows are read
    every = [c for i, c in enumerate(combinations(range(12), 7)) if i % 20 == 0]
    labels = np.zeros((12, len(every)), dtype=bool)
    for at, chosen in enumerate(every):
        labels[list(chosen), at] = True
    on_train, on_holdout = np.transpose(
        [brute_accuracies(real, synthetic, mine, ties) for mine in labels.T]
    )
    context = metric.context_.with_synthetic(synthetic)
    accuracies = relabelled_accuracies(context, metric.space, metric.columns, ties)
    losses = np.diff(accuracies(np.packbits(labels, axis=1)), axis=0)[0, : len(every)]
    np.testing.assert_allclose(losses, on_holdout - on_train, atol=1e-12)
    # the sentence prints the accuracy that was tested, on all rows
    tested, _ = brute_accuracies(real, synthetic, np.arange(12) < 7, ties)
    assert result.contrast.observed == pytest.approx(tested)
    assert f"from train rows {100 * tested:.1f}" in result.summary


@pytest.mark.parametrize("ties", ["strict", "half"])
@pytest.mark.parametrize("decimals", [0, 6])
def test_loss_of_tables_of_equal_size_is_brute_force(ties, decimals):
    """Of copies of train, too, in whose lists the holdout comes last, if it comes at all."""
    train, holdout, other = (normal(60, n, p=2).round(decimals) for n in (1, 2, 3))
    near = train + 1e-3 * normal(60, 4, p=2)
    huddled = pd.concat([train[:30], 1e-3 * normal(30, 5, p=2)])  # more than 16 in one place
    for synthetic in (other, near, huddled):
        real = pd.concat([train, holdout]).to_numpy()
        metric = NNAAPrivacyLoss(1, ties, space=Halved(), n_permutations=9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SharedRowsWarning)
            result = metric.fit(train, holdout).evaluate(synthetic)
        expected = brute_accuracies(real, synthetic.to_numpy(), np.arange(120) < 60, ties)
        on = result.details["on_train"], result.details["on_holdout"]
        assert on == pytest.approx(expected, abs=1e-12)


class Halved:
    """A space of plain Euclidean distance."""

    def get_params(self, deep=False):
        return {}

    def fit(self, X):
        return self

    def transform(self, X):
        return X.to_numpy() / 2


def test_tables_of_unequal_size_are_matched():
    train, holdout, synthetic = normal(60, 0), normal(30, 1), normal(90, 2)
    result = NNAAPrivacyLoss(n_resample=8).fit(train, holdout).evaluate(synthetic)
    assert result.details["n_samples"] == 8
    again = NNAAPrivacyLoss(n_resample=8).fit(train, holdout).evaluate(synthetic)
    assert again.to_dict() | {"seconds": 0} == result.to_dict() | {"seconds": 0}
    accuracy = NearestNeighborAdversarialAccuracy(n_resample=8).fit(train, holdout)
    found = accuracy.evaluate(synthetic)
    assert 0.3 < found.value < 0.7
    assert found.details["between_samples"] > 0


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_copies_are_the_worst():
    train, holdout = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    loss = NNAAPrivacyLoss().fit(train, holdout).evaluate(train)
    truth = NearestNeighborAdversarialAccuracy().fit(train, holdout).evaluate(holdout)
    assert loss.value == pytest.approx(truth.value)
    assert loss.p_value == 1 / 2000
    assert loss.interval[0] > 0


def test_the_loss_grows_with_the_share_of_copies():
    train, holdout, fresh = (normal(150, seed) for seed in range(3))
    metric = NNAAPrivacyLoss().fit(train, holdout)
    losses = [metric.score(pd.concat([train[:n], fresh[n:]])) for n in (0, 30, 60, 90, 120, 150)]
    assert losses == sorted(losses)
    assert losses[0] < 0.1 < 0.4 < losses[-1]


def test_units_and_labels_do_not_matter():
    train, holdout, synthetic = (make_mixed(60, random_state=seed) for seed in range(3))
    value = NNAAPrivacyLoss().fit(train, holdout).evaluate(synthetic)

    def changed(table):
        scaled = {name: 8.0 * table[name] - 16.0 for name in table.select_dtypes("float").columns}
        return table.assign(**scaled)

    other = NNAAPrivacyLoss().fit(changed(train), changed(holdout)).evaluate(changed(synthetic))
    assert other.value == pytest.approx(value.value)
    # relabelings are drawn by what rows hold: in other units, others are drawn
    assert other.p_value == pytest.approx(value.p_value, abs=0.1)


def test_without_holdout():
    train = normal(20, 0)
    with raises(MissingInputError):
        NNAAPrivacyLoss().fit(train)
    assert NearestNeighborAdversarialAccuracy().fit(train).evaluate(train + 1).baseline is None


def test_one_row_has_no_neighbours():
    train, holdout = normal(20, 0), normal(20, 1)
    for metric in (NNAAPrivacyLoss(), NearestNeighborAdversarialAccuracy()):
        with warns(DegenerateInputWarning):
            assert np.isnan(metric.fit(train, holdout).score(train[:1] + 1))


def test_both_metrics_share_their_passes():
    tables = [normal(50, seed) for seed in range(3)]
    context = CountingContext.of(*tables[:2]).with_synthetic(tables[2])
    CountingContext.runs.clear()
    for metric in (NearestNeighborAdversarialAccuracy(), NNAAPrivacyLoss()):
        metric.fit_context(context.real).evaluate_context(context)
    # train in the synthetic table and the reverse, likewise the holdout; train in the holdout and
    # the reverse; and each real table in itself
    searches = [key for key in CountingContext.runs if key[0].__name__ == "_nearest"]
    assert len(searches) == CountingContext.names().count("_nearest") == 8


def test_a_context_of_unequal_tables_needs_no_baseline_pass():
    context = Context.of(normal(30, 0), normal(20, 1)).with_synthetic(normal(25, 2))
    metric = NNAAPrivacyLoss(n_resample=2)
    metric.fit_context(context.real)
    assert metric.evaluate_context(context).baseline == 0.0


def test_shared_rows_are_told():
    train = normal(30, 0)
    with pytest.warns(SharedRowsWarning):
        NNAAPrivacyLoss().fit(train, train)
