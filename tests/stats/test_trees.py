from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from skeval.fidelity.likelihood import DependenceTree

R = np.array(
    [list(map(int, row)) for row in ("000", "000", "001", "011", "111", "111", "110", "100")]
).T
S = np.array([list(map(int, row)) for row in ("000", "111", "010", "101")]).T


def test_published_example():
    tree = DependenceTree(R, (2, 2, 2), smoothing=0.0)
    assert tree.parents == [-1, 0, 1]
    found = np.exp(tree.log_probability(S))
    assert found == pytest.approx([0.28125, 0.28125, 0.03125, 0.03125], abs=1e-12)


def test_many_cells_are_not_counted_in_an_array():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, 500), rng.integers(0, 7, 500)
    few, many = DependenceTree([a, b], (30, 7)), DependenceTree([a * 1_000_000, b], (30_000_000, 7))
    np.testing.assert_array_equal(
        many.log_probability([a * 1_000_000, b]), few.log_probability([a, b])
    )


def test_the_tree_has_the_greatest_information():
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, 400)
    columns = [
        np.where(rng.random(400) < share, base, rng.integers(0, 3, 400))
        for share in (0.3, 0.9, 0.5, 0.0)
    ]
    information = {
        (i, k): mutual_info_score(columns[i], columns[k]) for i, k in product(range(4), repeat=2)
    }
    parents = DependenceTree(columns, (3,) * 4).parents
    ours = sum(information[v, u] for v, u in enumerate(parents) if u >= 0)
    for choice in product(range(4), repeat=3):  # a parent for all but the first column
        if all(_reaches_root(v, choice) for v in range(1, 4)):
            others = sum(information[v, u] for v, u in enumerate(choice, start=1))
            assert others <= ours + 1e-12
    assert parents.count(-1) == 1


def _reaches_root(v, choice):
    seen = set()
    while v and v not in seen:
        seen.add(v)
        v = choice[v - 1]
    return v == 0


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 1.0])
def test_probabilities_sum_to_one(smoothing):
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, k, 50) for k in (2, 3, 4)]
    tree = DependenceTree(columns, (2, 3, 4), smoothing)
    every = np.array(list(product(range(2), range(3), range(4)))).T
    assert np.exp(tree.log_probability(every)).sum() == pytest.approx(1.0, abs=1e-12)


def test_unseen_cells():
    columns = [np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1])]
    rows = [np.array([2, 0]), np.array([0, 2])]
    assert np.isneginf(DependenceTree(columns, (3, 3), 0.0).log_probability(rows)).all()
    found = np.exp(DependenceTree(columns, (3, 3), 1.0).log_probability(rows))
    assert found == pytest.approx([1 / 6 * 1 / 2, 3 / 6 * 1 / 4])


def test_one_column():
    tree = DependenceTree([np.array([0, 0, 1])], (2,), 0.0)
    assert tree.parents == [-1]
    assert np.exp(tree.log_probability([np.array([0, 1])])) == pytest.approx([2 / 3, 1 / 3])
