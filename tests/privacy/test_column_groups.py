"""Groups of columns: legal choices, related and random ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.context import Context
from skeval.datasets import make_census, make_mixed
from skeval.privacy.distance_screens.dcr_share import are_groups, related_and_random, related_groups


@pytest.mark.parametrize("value", ["auto", [["a"]], [["a", "b"], ["a"]], (("a",),)])
def test_legal_groups(value):
    assert are_groups(value)


@pytest.mark.parametrize("value", ["some", [], [[]], ["a"], [["a"], "b"], [[1]], 3, None])
def test_illegal_groups(value):
    assert not are_groups(value)


def test_blocks_are_found_whatever_their_order():
    sizes = (3, 5, 4)
    block = np.repeat(np.arange(3), sizes)
    order = np.random.default_rng(0).permutation(12)
    block = block[order]
    rng = np.random.default_rng(1)
    noise = rng.uniform(0, 0.1, (12, 12))
    associations = np.where(np.equal.outer(block, block), 0.8, 0.1) + (noise + noise.T) / 2
    np.fill_diagonal(associations, 1.0)
    groups = related_groups(associations)
    assert sorted(len(group) for group in groups) == sorted(sizes)
    assert all(len(set(block[group])) == 1 for group in groups)
    assert sorted(np.concatenate(groups).tolist()) == list(range(12))


@pytest.mark.parametrize("n", [6, 11, 15, 40])
def test_no_group_is_tiny(n):
    # one column apart from all others would be a cluster of its own
    associations = np.full((n, n), 0.9)
    associations[0] = associations[:, 0] = 0.0
    np.fill_diagonal(associations, 1.0)
    assert min(len(group) for group in related_groups(associations)) >= max(2, n // 5)


def test_columns_without_association_are_divided():
    assert sorted(np.concatenate(related_groups(np.eye(11))).tolist()) == list(range(11))


@pytest.fixture(scope="module")
def context():
    return Context.of(make_census(400, random_state=0), make_census(300, random_state=1))


def test_both_kinds_divide_the_columns(context):
    names = tuple(context.schema.measured)
    groups = related_and_random(context, names, 0)
    assert list(groups) == [f"{kind} {i}" for kind in ("related", "random") for i in (1, 2, 3)]
    for kind in ("related", "random"):
        parts = [groups[f"{kind} {i}"] for i in (1, 2, 3)]
        assert sorted(name for part in parts for name in part) == sorted(names)
    assert {len(groups[f"random {i}"]) for i in (1, 2, 3)} == {5}
    together = next(group for name, group in groups.items() if "schooling" in group)
    assert "school_years" in together


def test_groups_do_not_depend_on_order_or_labels(context):
    names = tuple(context.schema.measured)
    groups = related_and_random(context, names, 0)
    shuffled = [
        context[role].sample(frac=1.0, random_state=1).iloc[:, ::-1]
        for role in ("holdout", "train")
    ]
    again = related_and_random(Context.of(*shuffled), names[::-1], 0)
    assert again == groups
    assert related_and_random(context, names, 1) != groups


def test_few_columns_have_no_groups(context):
    names = tuple(context.schema.measured)
    assert related_and_random(context, names[:10], 0) == {}
    assert len(related_and_random(context, names[:11], 0)) == 6


def test_odd_columns_are_grouped():
    """Constant, empty, mixed columns and missing cells have an association of 0, or their own."""
    train, holdout = (
        make_mixed(100, random_state=seed).assign(
            constant=1.0,
            empty=np.nan,
            level="a",
            x=np.random.default_rng(seed).normal(size=100),
            y=np.where(np.arange(100) % 3 == 0, np.nan, 5.0),
        )
        for seed in range(2)
    )
    context = Context.of(train, holdout)
    groups = related_and_random(context, tuple(context.schema.measured), 0)
    assert sum(len(group) for group in groups.values()) == 2 * 12


def test_duplicated_columns_stand_together():
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(2):
        base = rng.normal(size=(200, 6))
        tables.append(
            pd.DataFrame({f"c{j}": base[:, j // 2] + 0.01 * base[:, j % 2] for j in range(12)})
        )
    context = Context.of(*tables)
    groups = related_and_random(context, tuple(context.schema.measured), 0)
    for j in range(0, 12, 2):
        assert any({f"c{j}", f"c{j + 1}"} <= set(groups[f"related {i}"]) for i in (1, 2, 3))
