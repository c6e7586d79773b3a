"""Tests over relabellings against full enumeration and scipy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from skeval.stats.relabelling import holm, relabelling_test, share_p_value


def all_labels(n_train, n_rows):
    for chosen in combinations(range(n_rows), n_train):
        labels = np.zeros(n_rows, dtype=bool)
        labels[list(chosen)] = True
        yield labels


@pytest.mark.parametrize(("hits", "n", "others", "m"), [(3, 5, 1, 7), (0, 5, 0, 5), (9, 10, 2, 30)])
def test_share_is_fishers_exact_test(hits, n, others, m):
    table = [[hits, n - hits], [others, m - others]]
    assert share_p_value(hits, n, others, m) == pytest.approx(fisher_exact(table, "greater").pvalue)


def test_relabelling_tends_to_the_enumeration():
    values = np.array([0.3, 2.0, 5.0, 0.1, 1.0, 0.2, 0.9])
    every = np.array([values[labels].sum() for labels in all_labels(3, 7)])
    found = relabelling_test(lambda labels: values @ labels, 3, 4, n_permutations=20_000, seed=1)
    assert found.observed == pytest.approx(values[:3].sum())
    assert found.mean == pytest.approx(every.mean(), abs=0.05)
    assert found.spread == pytest.approx(every.std(), abs=0.05)
    assert found.p_value == pytest.approx((every >= found.observed - 1e-12).mean(), abs=0.02)


def test_relabelling_counts_equal_statistics_as_reached():
    found = relabelling_test(
        lambda labels: np.full(labels.shape[1], 0.5), 5, 5, n_permutations=9, seed=0
    )
    assert (found.p_value, found.spread) == (1.0, 0.0)


def test_relabelling_in_blocks_is_the_same(monkeypatch):
    def test():
        return relabelling_test(
            lambda labels: np.arange(20) @ labels, 8, 12, n_permutations=50, seed=3
        )

    whole = test()
    monkeypatch.setattr("skeval.stats.relabelling._BLOCK", 60)
    assert test() == whole


def test_every_relabelling_has_as_many_train_rows():
    seen = []
    relabelling_test(
        lambda labels: seen.append(labels.sum(axis=0)) or np.zeros(labels.shape[1]), 3, 9,
        n_permutations=10, seed=0,
    )  # fmt: skip
    assert set(np.concatenate(seen)) == {3}


# ----------------------------------------------------------------------------------- several tests


def test_by_hand():
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([0.02, 0.02]) == [0.04, 0.04]
    assert holm([0.3]) == [0.3]
    assert holm([]) == []


def test_rejects_what_the_steps_of_holm_reject():
    rng = np.random.default_rng(0)
    for n in (2, 5, 9):
        for _ in range(50):
            p_values = rng.random(n) ** 3
            adjusted = holm(p_values)
            # each test with as few hypotheses as are left, until the first that is not rejected
            rejected = set()
            for left, i in zip(range(n, 0, -1), np.argsort(p_values), strict=True):
                if p_values[i] > 0.05 / left:
                    break
                rejected.add(int(i))
            assert {i for i, p_value in enumerate(adjusted) if p_value <= 0.05} == rejected
            assert min(adjusted) == pytest.approx(min(1.0, n * p_values.min()))


def test_few_false_alarms():
    rng = np.random.default_rng(1)
    alarms = [min(holm(rng.random(6))) <= 0.05 for _ in range(2_000)]
    assert np.mean(alarms) <= 0.065
