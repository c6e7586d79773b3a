"""Epsilon-identifiability: hand and published values, weights, relabelings by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import entropy

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy.distance_screens.identifiability import (
    EpsilonIdentifiability,
    entropy_space,
    inverse_entropy_weights,
    relabelled_shares,
)
from tests.snapshots import raises, warns


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def normal(n, seed, p=3):
    values = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(p)])


def test_toy():
    result = (
        EpsilonIdentifiability()
        .fit(column(0, 1, 4, 9), column(2, 6, 7, 12))
        .evaluate(column(0, 1.2, 5, 20))
    )
    assert (result.value, result.details["on_holdout"]) == (1.0, 0.25)
    assert result.details["excess"] == 0.75
    assert result.baseline == 0.25


@pytest.mark.parametrize(
    ("name", "on_train", "on_holdout"),
    [
        ("over", 1.0, 0.561798),
        ("gauss", 0.179775, 0.213483),
        ("holdout", 0.494382, 1.0),
        ("train", 1.0, 0.561798),
    ],
)
def test_wine(wine, name, on_train, on_holdout):
    result = EpsilonIdentifiability().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.value == pytest.approx(on_train, abs=1e-6)
    assert result.details["on_holdout"] == pytest.approx(on_holdout, abs=1e-6)


def test_relabelled_excess_is_brute_force():
    train, holdout, synthetic = (column(*np.random.default_rng(n).random(n)) for n in (6, 5, 7))
    metric = EpsilonIdentifiability()
    context = Context.of(train, holdout).with_synthetic(synthetic)
    by_labels = relabelled_shares(context, metric.space, metric.columns)
    pool = pd.concat([train, holdout]).to_numpy()
    within, across = cdist(pool, pool), cdist(pool, synthetic.to_numpy()).min(axis=1)
    np.fill_diagonal(within, np.inf)
    every = list(combinations(range(11), 6))
    labels = np.zeros((11, len(every)), dtype=bool)
    for at, chosen in enumerate(every):
        labels[list(chosen), at] = True
    expected = []
    for mine in labels.T:
        shares = [
            np.mean(across[rows] < within[np.ix_(rows, rows)].min(axis=1)) for rows in (mine, ~mine)
        ]
        expected.append(shares[0] - shares[1])
    excesses = -np.diff(by_labels(np.packbits(labels, axis=1)), axis=0)[0, : len(every)]
    np.testing.assert_allclose(excesses, expected, atol=1e-12)


@pytest.mark.slow
def test_unequal_tables_have_an_excess_around_zero():
    found = []
    for seed in range(30):
        metric = EpsilonIdentifiability().fit(normal(120, seed), normal(30, 100 + seed))
        result = metric.evaluate(normal(120, 200 + seed))
        found.append((result.details["excess"], result.value - result.details["on_holdout"]))
    excess, difference = np.mean(found, axis=0)
    assert abs(excess) < 0.04
    assert difference < -0.1  # a smaller table is sparser: its rows are identified more easily


def test_grows_with_the_share_of_copies():
    train, holdout, fresh = (normal(100, seed) for seed in range(3))
    metric = EpsilonIdentifiability().fit(train, holdout)
    results = [metric.evaluate(pd.concat([train[:n], fresh[n:]])) for n in range(0, 101, 20)]
    values = [result.value for result in results]
    assert values == sorted(values)
    assert results[-1].p_value == 1 / 2000
    assert results[-1].value == 1.0


def test_doubling_the_synthetic_rows_changes_nothing():
    train, holdout, synthetic = (make_mixed(60, random_state=seed) for seed in range(3))
    metric = EpsilonIdentifiability().fit(train, holdout)
    once, twice = (
        metric.evaluate(table).to_dict() | {"seconds": 0}
        for table in (synthetic, pd.concat([synthetic, synthetic]))
    )
    assert once == twice


class TestEntropy:
    def test_weights(self):
        np.testing.assert_allclose(inverse_entropy_weights(np.array([1.0, 3.0])), [0.75, 0.25])
        assert not inverse_entropy_weights(np.zeros(3)).any()
        capped = inverse_entropy_weights(np.array([1e-9, 1.0, 1.0, 1.0]))
        assert capped[0] == pytest.approx(10 * capped[1])

    def test_distance_by_hand(self):
        table = pd.DataFrame(
            {
                "n": [0.0, 1.0, 2.0, 4.0, np.nan, 3.0, 1.0, 2.0],
                "c": ["a", "b", "a", "a", "b", None, "a", "a"],
                "constant": [7.0] * 8,
            }
        )
        context = Context.of(table)
        space = entropy_space(context, None)
        counts = {"n": [1, 2, 2, 1, 1, 1], "c": [5, 2, 1]}
        inverse = {name: 1 / entropy(n) for name, n in counts.items()}
        weights = {name: w / sum(inverse.values()) for name, w in inverse.items()}
        assert space.weights == pytest.approx(weights)
        rows = space.transform(context.train)
        squared = cdist(rows, rows) ** 2
        by_hand = weights["n"] * (1 / 4) ** 2 + weights["c"]
        assert squared[0, 1] == pytest.approx(by_hand)
        assert squared[0, 5] == pytest.approx(weights["n"] * (3 / 4) ** 2 + weights["c"])
        assert squared[1, 4] >= weights["n"]  # one is missing, the categories are equal
        assert squared[4, 4] == 0.0

    def test_unseen_levels_differ_from_all_real_ones(self):
        context = Context.of(pd.DataFrame({"c": ["a", "b", "a"] * 5}))
        other = context.with_synthetic(pd.DataFrame({"c": ["z", "a"]}))
        space = entropy_space(other, None)
        rows = [space.transform(other[role]) for role in ("synthetic", "train")]
        np.testing.assert_allclose(cdist(*rows)[0] ** 2, space.weights["c"])

    def test_copies_and_constants(self):
        train = make_mixed(60, random_state=0)
        metric = EpsilonIdentifiability("entropy").fit(train)
        assert metric.score(train) == 1.0
        constant = EpsilonIdentifiability("entropy").fit(column(1, 1, 1))
        with warns(DegenerateInputWarning):
            assert np.isnan(constant.score(column(1, 2)))

    def test_rare_values_count_more(self):
        # row 0 alone has the rare flag; a synthetic row with the flag is far in x
        x = np.linspace(0, 1, 40)
        train = pd.DataFrame({"x": x, "flag": ["y"] + ["n"] * 39})
        synthetic = pd.DataFrame({"x": [0.6], "flag": ["y"]})
        shares = [
            EpsilonIdentifiability(weights).fit(train).score(synthetic)
            for weights in ("uniform", "entropy")
        ]
        assert shares == [1 / 40, 1 / 40]
        synthetic["x"] = 5.0
        assert EpsilonIdentifiability("entropy").fit(train).score(synthetic) == 0.0

    def test_has_a_space_of_its_own(self):
        with raises(InvalidParameterError):
            EpsilonIdentifiability("entropy", space="euclidean").fit(normal(9, 0))

    def test_chosen_columns(self):
        train, synthetic = make_mixed(60, random_state=0), make_mixed(60, random_state=1)
        name = train.columns[0]
        chosen = EpsilonIdentifiability("entropy", columns=[name]).fit(train).score(synthetic)
        alone = EpsilonIdentifiability("entropy").fit(train[[name]]).score(synthetic[[name]])
        assert chosen == alone


def test_without_holdout_there_is_no_baseline():
    result = EpsilonIdentifiability().fit(normal(30, 0)).evaluate(normal(30, 1))
    assert (result.baseline, result.p_value) == (None, None)


def test_one_train_row():
    with warns(DegenerateInputWarning):
        assert np.isnan(EpsilonIdentifiability().fit(normal(1, 0)).score(normal(5, 1)))
