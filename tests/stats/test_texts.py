"""Pairs of similar texts against all pairs compared."""

from __future__ import annotations

import re

import numpy as np
import pytest

from skeval.privacy import near_texts as module
from skeval.privacy.near_texts import in_rounds, similar, similar_pairs, token_sets


def column(*texts):
    return np.array(texts, dtype=object)


def jaccard(a, b):
    if a is None or b is None:
        return float(a is b)
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (a, b))
    return len(a & b) / len(a | b) if a | b else 1.0


def brute(left, right, threshold):
    return {
        (i, j)
        for i, x in enumerate(left)
        for j, y in enumerate(right)
        if all(jaccard(a, b) >= threshold - 1e-12 for a, b in zip(x, y, strict=True))
    }


def joined(left, right, threshold, done=None):
    rows = [*left, *right]
    sets = token_sets([column(*texts) for texts in zip(*rows, strict=True)])
    mine, theirs = sets.which[: len(left)], sets.which[len(left) :]
    found = set()
    for i, j in similar_pairs(sets, np.unique(mine), np.unique(theirs), threshold, done):
        for a, b in zip(i, j, strict=True):
            found |= {
                (p, q) for p in np.flatnonzero(mine == a) for q in np.flatnonzero(theirs == b)
            }
    return found


def random_text(rng, n_words):
    chance = rng.random()
    if chance < 0.1:
        return None
    if chance < 0.2:
        return "" if chance < 0.15 else "?!"
    return " ".join(rng.choice([f"w{i}" for i in range(n_words)], rng.integers(1, 25)))


def altered(rng, text):
    if text is None or rng.random() < 0.5:
        return text
    words = text.split()[1:] + [f"z{rng.integers(5)}"] * int(rng.integers(2))
    return ". ".join(words).upper()


def tables(seed, n_columns, n_words):
    rng = np.random.default_rng(seed)
    base = [tuple(random_text(rng, n_words) for _ in range(n_columns)) for _ in range(30)]
    left = [tuple(altered(rng, t) for t in base[i]) for i in rng.integers(0, 30, 50)]
    return left, base + [tuple(altered(rng, t) for t in row) for row in base]


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.6, 0.75, 0.9, 1.0])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("n_words", [4, 30])
def test_join_is_brute_force(threshold, n_columns, n_words):
    for seed in range(2):
        left, right = tables(seed, n_columns, n_words)
        assert joined(left, right, threshold) == brute(left, right, threshold)


@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.8])
def test_longer_signatures_find_the_same(monkeypatch, threshold):
    monkeypatch.setattr(module, "_MANY", 0.01)
    left, right = tables(5, 1, 12)
    assert joined(left, right, threshold) == brute(left, right, threshold)
    sets = token_sets([column(*(t for (t,) in left))])
    join = module._Join(sets.joined, np.unique(sets.which), np.unique(sets.which), threshold)
    assert join.best_level() > 2


def test_small_blocks_find_the_same(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 30)
    monkeypatch.setattr(module, "_ROUND", 3)
    monkeypatch.setattr(module, "_AT_ONCE", 7)
    left, right = tables(7, 1, 6)
    assert joined(left[:15], right, 0.5) == brute(left[:15], right, 0.5)


def test_too_many_signatures_are_not_made(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 0.01)
    monkeypatch.setattr(module, "_MOST_SIGNATURES", 1)
    sets = token_sets([column("a b c", "a b d")])
    assert module._Join(sets.joined, sets.which, sets.which, 0.5).best_level() == 1


def test_bounds_belong_to_the_similar():
    words = [f"w{i}" for i in range(19)]
    left, right = [(" ".join(words),)], [(" ".join([*words, "x", "y"]),), (" ".join(words[:17]),)]
    assert joined(left, right, 19 / 21) == {(0, 0)}
    assert joined(left, right, 17 / 19) == {(0, 0), (0, 1)}
    assert joined(left, right, 0.91) == set()
    # 0.55 * 20 is above 11 in floating point
    left, right = (
        [(" ".join(f"a{i}" for i in range(11)),)],
        [(" ".join(f"a{i}" for i in range(20)),)],
    )
    assert joined(left, right, 0.55) == {(0, 0)}


def test_missing_and_empty_texts():
    left = [(None,), ("",), ("...",), ("a",)]
    assert joined(left, left, 0.9) == {(0, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3)}


def test_no_text_at_all():
    left = [(None,), (None,)]
    assert joined(left, left, 0.9) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_words():
    sets = token_sets([column("Straße, 12!", "STRASSE 12", "12 straße", "a\0b", "b a")])
    first, second, third, fourth, fifth = sets.which
    assert first == third != second
    assert fourth == fifth


def test_every_column_must_be_similar():
    left, right = [("a b", "x")], [("a b", "x"), ("a b", "y"), ("a c", "x"), ("a b", None)]
    assert joined(left, right, 0.9) == {(0, 0)}
    sets = token_sets([column("a b", "a b"), column("x", "y")])
    assert similar(sets, sets.which, sets.which[::-1], 0.9).tolist() == [False, False]


def test_numbers_do_not_depend_on_places():
    texts = column("b a", "c", None, "a", "", "c d")
    there, back = token_sets([texts]).which, token_sets([texts[::-1]]).which
    assert there.tolist() == back[::-1].tolist()


def test_rare_tokens_come_first():
    sets = token_sets([column("a b", "a c", "d a")])
    ranks = sets.joined[sets.which].indices.reshape(3, 2)
    assert (ranks[:, 0] < ranks[:, 1]).all()
    assert np.unique(ranks[:, 1]).size == 1


def test_what_is_done_is_left_out():
    left, right = tables(3, 1, 10)
    rows = [t for (t,) in left + right]
    sets = token_sets([column(*rows)])
    mine, theirs = np.unique(sets.which[:50]), np.unique(sets.which[50:])
    done = np.zeros(sets.columns[0].shape[0], dtype=bool)
    done[mine[::2]] = True
    found = {i for block, _ in similar_pairs(sets, mine, theirs, 0.5, done) for i in block}
    assert found
    assert not found & set(mine[::2])


def test_rounds_stop_where_told(monkeypatch):
    monkeypatch.setattr(module, "_ROUND", 2)
    done, seen = np.zeros(3, dtype=bool), []
    ranges = np.array([0, 10, 20]), np.array([5, 13, 20])
    for which, place in in_rounds(*ranges, np.arange(3), done):
        seen += list(zip(which.tolist(), place.tolist(), strict=True))
        done[0] = True
    assert seen == [(0, 0), (0, 1), (1, 10), (1, 11), (1, 12)]
