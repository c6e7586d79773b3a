"""Rows as text: what language models repeat, digit by digit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.stats.roc import auc, tpr_at_fpr
from skeval.steps import text_edits
from skeval.steps.members import member_scores
from skeval.steps.text_edits import (
    affordable,
    cells_as_text,
    decimals_of,
    least_edits,
    nearest_edits,
    nearest_edits_of_cells,
    rows_as_text,
)

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


def plain_edits(one: str, other: str) -> int:
    """Levenshtein's distance by its recursion."""
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b)))
        last = row
    return last[-1]


def some_texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("0123,"), rng.integers(0, 9))) for _ in range(n)]


@pytest.fixture(params=[0, 2**20], ids=["compiled", "rapidfuzz"])
def few_pairs(request, monkeypatch):
    """Both ways to compare texts."""
    monkeypatch.setattr("skeval.steps.text_edits._MAX_SMALL", request.param)


@pytest.mark.usefixtures("few_pairs")
def test_edits_are_those_of_the_recursion():
    queries, others = some_texts(300, 0), some_texts(40, 1)  # more than are compared at a time
    expected = [min(plain_edits(one, other) for other in others) for one in queries]
    assert nearest_edits(queries, others).tolist() == expected
    assert nearest_edits([], others).size == 0
    assert nearest_edits(["12", ""], [""]).tolist() == [2.0, 0.0]
    assert nearest_edits([""], ["12", "3"]).tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
def test_texts_longer_than_a_word_of_bits_are_compared_together_with_short_ones():
    rng = np.random.default_rng(0)
    sizes = [0, 1, 63, 64, 65, 127, 128, 129, 200]
    queries, others = (["".join(rng.choice(list("01,"), n)) for n in sizes] for _ in range(2))
    for query, distance in zip(queries, nearest_edits(queries, others), strict=True):
        assert distance == min(plain_edits(query, other) for other in others)
    for other in others:
        assert nearest_edits(queries, [other + "?"]).tolist() == [
            plain_edits(query, other + "?") for query in queries
        ]


def test_numbers_are_written_as_precisely_as_the_real_ones():
    rows = np.array([[1200.5, 3.0, 1e20, -0.0], [np.nan, np.inf, -2.0, 1e6]])
    decimals = decimals_of(rows, [False] * 4)
    assert decimals == [1, 0, 0, 0]
    assert rows_as_text(rows, decimals) == ["1200.5,3,1e+20,0,", "?,inf,-2,1000000,"]
    released = np.array([[1200.4999, 2.6, 0.0, 1e308]])
    assert rows_as_text(released, decimals) == ["1200.5,3,0,1e+308,"]


def test_a_level_is_one_character():
    rows = np.array([[0.0, 5.0], [70_000.0, np.nan]])
    (first, second) = rows_as_text(rows, [None, None])
    assert (len(first), len(second)) == (2, 2)
    assert nearest_edits([first], [second]).tolist() == [2.0]
    assert second[1] == "?"


def test_scores_by_hand():
    train, holdout, synthetic = (
        pd.DataFrame({"x": values}) for values in ([1234.0, 5.0], [9876.0, 41.0], [234.0, 4.0])
    )
    scores = member_scores(Context.of(train, holdout).with_synthetic(synthetic), "levatt")
    assert scores.members.tolist() == [-1.0, -1.0]
    assert scores.others.tolist() == [-4.0, -1.0]


@pytest.mark.slow
def test_long_texts_are_held_against_fewer():
    assert affordable(100, 50) == text_edits.MAX_TEXTS
    assert affordable(20_000, 1000) == 2**34 // (20_000 * 1000 * 16)
    assert affordable(10**9, 10**6) == 1
    assert affordable(0, 0) == text_edits.MAX_TEXTS
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(TRAIN)
    rows = {"train": np.arange(150)}
    assert not least_edits(context, rows, "gower", None, 0)[0].any()
    many = pd.concat([TRAIN, make_mixed(2 * text_edits.MAX_TEXTS, random_state=9)])
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(many)
    (some,) = least_edits(context, rows, "gower", None, 0)
    assert 0 < (some == 0).sum() < 150
    assert (some == least_edits(context, rows, "gower", None, 0)[0]).all()
    (others,) = least_edits(context, rows, "gower", None, 1)
    assert (some != others).any()


@pytest.mark.slow
def test_edits_of_cells_are_summed(monkeypatch):
    rng, decimals = np.random.default_rng(0), [2, None, 5]
    queries, others = (
        rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-2, 19, (n, 3)) for n in (150, 6)
    )
    for rows in (queries, others):
        rows[:, 1] = rng.integers(0, 3, len(rows))
        rows[rng.random(rows.shape) < 0.1] = np.nan
    queries[0, 0], others[:2, 2] = np.inf, 0.0
    cells = [
        [rows_as_text(rows[:, [j]], [decimals[j]]) for j in range(3)] for rows in (queries, others)
    ]
    expected = [
        min(sum(map(plain_edits, query, other)) for other in zip(*cells[1], strict=True))
        for query in zip(*cells[0], strict=True)
    ]
    own, released = (cells_as_text(rows, decimals) for rows in (queries, others))
    assert nearest_edits_of_cells(own, released)[0].tolist() == expected
    assert nearest_edits_of_cells(own[:0], released)[0].size == 0
    assert nearest_edits_of_cells(own[:2, [1]], released[:1, [1]])[0].size == 2
    monkeypatch.setattr(text_edits, "_PAIRS", 100)  # some queries at a time
    assert nearest_edits_of_cells(own, released)[0].tolist() == expected


def test_edits_to_a_part_of_the_synthetic_rows_do_not_depend_on_known_edits_to_all():
    train, holdout = (
        pd.concat([table.add_prefix(f"{i}_") for i in range(9)], axis=1)
        for table in (TRAIN, HOLDOUT)
    )
    context = Context.of(train, holdout).with_synthetic(pd.concat([train, holdout[:50]]))
    rows = {"train": np.arange(150), "holdout": np.arange(100)}
    left = np.flatnonzero(np.arange(context.n_rows("synthetic")) % 3 > 0)
    part = context.synthetic.iloc[left].reset_index(drop=True)
    taken = {"synthetic": (context, "synthetic", left)}
    separate, known = (
        context.real.with_rows_as_synthetic(part, taken=given) for given in ({}, taken)
    )
    found = zip(
        *(least_edits(one, rows, "gower", None, 0) for one in (separate, known)), strict=True
    )
    assert all((one == other).all() for one, other in found)


def test_wide_rows_are_compared_cell_by_cell():
    """Whether columns stand once or nine times in a row, which row is nearest is the same."""
    wide = [
        pd.concat([table.add_prefix(f"{i}_") for i in range(9)], axis=1)
        for table in (TRAIN, HOLDOUT)
    ]
    found = []
    for train, holdout in ((TRAIN, HOLDOUT), wide):
        context = Context.of(train, holdout).with_synthetic(train)
        rows = {"train": np.arange(150), "holdout": np.arange(20)}
        own, others = least_edits(context, rows, "gower", None, 0)
        assert not own.any()
        found.append(others)
    narrow, wider = found
    assert (narrow <= wider / 9).all()  # a text is edited across cells
    assert (wider / 9 - narrow).max() <= 3


def with_repeated_digits(rng: np.random.Generator, train: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose digits are those of train rows, but for one in two numbers."""

    def garbled(value: int) -> int:
        digits = list(str(value))
        digits.insert(int(rng.integers(len(digits) + 1)), str(rng.integers(10)))
        return int("".join(digits))

    return train.map(lambda value: garbled(value) if rng.random() < 0.5 else value)


@pytest.mark.parametrize("seed", range(3))
def test_repeated_digits_are_found_where_distances_find_nothing(seed):
    rng = np.random.default_rng(seed)
    train, holdout, fresh = (
        pd.DataFrame(rng.integers(1000, 9999, (300, 6)), columns=list("abcdef")) for _ in range(3)
    )
    repeated = with_repeated_digits(rng, train[:30])
    context = Context.of(train, holdout).with_synthetic(pd.concat([repeated, fresh[30:]]))
    rates = {}
    for attack in ("levatt", "distance", "ratio", "domias", "classifier"):
        scores = member_scores(context, attack)
        rates[attack] = tpr_at_fpr(scores.members[:30], scores.others, 0.01)
    assert rates.pop("levatt") > 0.6
    assert max(rates.values()) < 0.4


def test_a_release_that_repeats_whole_rows_is_found():
    scores = member_scores(Context.of(TRAIN, HOLDOUT).with_synthetic(TRAIN), "levatt")
    assert not scores.members.any()
    assert auc(scores.members, scores.others) > 0.95
