"""Similar texts against all pairs compared."""

from __future__ import annotations

import re

import numpy as np
import pytest
from rapidfuzz.distance.Levenshtein import distance

from skeval.privacy.similar_texts import by_letters, rare_tokens, similar, similar_pairs, token_sets


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


def joined(left, right, threshold):
    rows = [*left, *right]
    sets = token_sets([column(*texts) for texts in zip(*rows, strict=True)])
    mine, theirs = sets.which[: len(left)], sets.which[len(left) :]
    done = np.zeros(len(left), dtype=bool)
    pairs = [
        pair
        for block in similar_pairs(sets, mine, theirs, threshold, done)
        for pair in zip(*block, strict=True)
    ]
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


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


@pytest.mark.slow
def test_many_rows_find_the_same():
    """Rows that are looked at in rounds, and pairs that are compared in blocks."""
    left, right = tables(7, 1, 6)
    n, m = len(left), len(right)
    alike = brute(left, right, 0.5)
    every = {(i + n * a, j + m * b) for i, j in alike for a in range(24) for b in range(20)}
    assert joined(left * 24, right * 20, 0.5) == every


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


def test_rare_tokens_are_those_that_few_have():
    sets = token_sets([column("a b", "a c", "d a")])
    few = rare_tokens(sets.columns[0], 0.6)[sets.which]
    assert few.sum(axis=1).tolist() == [1, 1, 1]
    assert few.sum(axis=0).max() == 1
    assert (rare_tokens(sets.columns[0], 0.5).sum(axis=1) == 2).all()


def test_what_is_done_is_skipped():
    left, right = tables(3, 1, 10)
    sets = token_sets([column(*(t for (t,) in left + right))])
    mine, theirs = sets.which[:50], sets.which[50:]
    done = np.arange(50) % 2 == 0
    skipped = np.where(np.arange(50) < 10, -1, mine)
    pairs = list(similar_pairs(sets, skipped, theirs, 0.5, done))
    seen = {i for block, _ in pairs for i in block}
    assert seen
    assert all(i % 2 == 1 and i >= 10 for i in seen)


def test_what_is_done_between_rounds_is_skipped():
    sets = token_sets([column("a", "b", "c")])
    left, done, seen = sets.which[:2], np.zeros(2, dtype=bool), []
    for i, j in similar_pairs(sets, left, sets.which[[0, 1] * 50], 0.9, done):
        seen += list(zip(i.tolist(), j.tolist(), strict=True))
        done[0] = True
    of_first = [j for i, j in seen if i == 0]
    assert 0 < len(of_first) < 50
    assert sorted(set(seen) - {(0, j) for j in of_first}) == [(1, j) for j in range(1, 100, 2)]


class TestLetters:
    TEXTS = column("kitten", "sitting", "Kitten!", "mitten", None, "", "kitten", "tin ki")

    def test_short_texts_of_one_set_stay_apart(self):
        words, letters = token_sets([self.TEXTS]), token_sets([self.TEXTS], 10)
        assert words.which[0] == words.which[2] == words.which[6]
        assert letters.which[0] == letters.which[6] != letters.which[2]
        assert np.unique(letters.which).size == 7

    @pytest.mark.parametrize(("text", "edits"), [(0.8, 1), (0.5, 3), (0.0, 7)])
    def test_by_hand(self, text, edits):
        sets = token_sets([column("kitten", "sitting", "mitten")], 10)
        kitten, sitting, mitten = sets.which[:, None]
        # three edits in seven letters (k -> s, e -> i, and g), one in six letters (k -> m)
        assert similar(sets, kitten, sitting, text).tolist() == [edits >= 3]
        assert similar(sets, kitten, mitten, text).tolist() == [edits >= 1]

    def test_missing_and_empty_texts_are_like_themselves_alone(self):
        sets = token_sets([self.TEXTS], 10)
        missing, empty, word = sets.which[[4]], sets.which[[5]], sets.which[[0]]
        assert not similar(sets, missing, empty, 0.1)
        assert not similar(sets, empty, word, 0.1)
        assert similar(sets, missing, missing, 1.0)

    @pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9, 1.0])
    def test_pairs_are_all_of_them_and_each_once(self, threshold):
        rng = np.random.default_rng(0)
        columns = [
            column(*("".join(rng.choice(list("ab c"), rng.integers(0, 9))) for _ in range(70)))
            for _ in range(2)
        ]
        sets = token_sets(columns, 7)
        left, right = sets.which[:30], sets.which[30:]
        done = np.zeros(30, dtype=bool)
        pairs = [
            pair
            for block_ in similar_pairs(sets, left, right, threshold, done)
            for pair in zip(*(part.tolist() for part in block_), strict=True)
        ]
        i, j = (part.ravel() for part in np.indices((30, 40)))
        alike = similar(sets, left[i], right[j], threshold)
        assert sorted(pairs) == list(zip(i[alike].tolist(), j[alike].tolist(), strict=True))

    @pytest.mark.parametrize("threshold", np.arange(0.0, 1.01, 0.05).tolist())
    def test_pairs_at_the_threshold_are_similar(self, threshold):
        rng = np.random.default_rng(0)
        texts = column(*("".join(rng.choice(list("ab"), n)) for n in range(41)))
        first, second = (part.ravel() for part in np.meshgrid(texts, texts))
        expected = [
            distance(a, b) <= np.floor((1.0 - threshold) * max(len(a), len(b)) + 1e-9)
            for a, b in zip(first, second, strict=True)
        ]
        assert by_letters(first, second, threshold).tolist() == expected
