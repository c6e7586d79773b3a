"""MinHash finds what the exact join finds, as often as it says, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom

from skeval.exceptions import MetricWarning
from skeval.privacy.similar_texts import n_candidates, token_sets
from skeval.text import NearDuplicateText, minhash
from skeval.text.minhash import Banding, MinHashJoin, band_keys, join_texts, minima, runs_in_common
from tests.calibrations import Claim, rate_of
from tests.snapshots import warns

SCHEMA = {"note": "text"}


def sets_of(texts, edit_length=0):
    return token_sets([np.array(texts, dtype=object)], edit_length)


def pairs(left, right, threshold, join, *, edit_length=0, seed=0):
    """Return the pairs of positions with similar texts, how they were joined, and how many came."""
    sets = sets_of([*left, *right], edit_length)
    sides = np.split(sets.which, [len(left)])
    how, blocks = join_texts(sets, *sides, threshold, np.zeros(len(left), dtype=bool), join, seed)
    every = [pair for i, j in blocks for pair in zip(i.tolist(), j.tolist(), strict=True)]
    return set(every), how, len(every)


def edited(texts, seed):
    """Replace up to a fifth of the words of each text."""
    rng = np.random.default_rng(seed)
    changed = []
    for text in texts:
        words = np.array(text.split(), dtype=object)
        at = rng.random(words.size) < rng.uniform(0.0, 0.2)
        words[at] = [f"new{k}" for k in rng.integers(10**6, size=at.sum())]
        changed.append(" ".join(words))
    return changed


def few_words(seed, n, n_words=60, length=40):
    rng = np.random.default_rng(seed)
    return [" ".join(map("w{}".format, row)) for row in rng.integers(0, n_words, (n, length))]


@pytest.mark.parametrize("similarity", [0.02, 0.1, 0.3, 0.5, 0.8, 0.9, 0.99])
def test_bandings_find_99_percent_with_256_hashes(similarity):
    banding = Banding.from_similarity(similarity)
    assert banding.recall(similarity) >= 0.99
    assert banding.n_rows * banding.n_bands <= 256
    stricter = Banding(banding.n_rows + 1, 256 // (banding.n_rows + 1))
    assert banding.n_rows == 64 or stricter.recall(similarity) < 0.99


def test_a_similarity_of_nothing_has_no_recall():
    assert Banding.from_similarity(0.0).recall(0.0) == 0.0


@pytest.mark.parametrize(("n_rows", "n_bands"), [(1, 1), (3, 1), (4, 5)])
def test_bands_agree_as_often_as_their_recall_says(n_rows, n_bands):
    """Pairs of sets of which 12 of 20 tokens are common, in tokens of their own."""
    n, banding = 2000, Banding(n_rows, n_bands)
    tokens = 20 * np.arange(n)[:, None] + np.concatenate([np.arange(16), np.arange(12), [16, 17]])
    tokens = np.column_stack([tokens, 20 * np.arange(n) + 18, 20 * np.arange(n) + 19]).ravel()
    indptr = np.ravel([32 * np.arange(n), 32 * np.arange(n) + 16], order="F")
    sets = csr_array((np.ones(tokens.size), tokens, [*indptr, tokens.size]), shape=(2 * n, 20 * n))
    agree = np.zeros(n, dtype=bool)
    for keys in band_keys(minima(sets, 0), banding):
        agree |= keys[::2] == keys[1::2]
    low, high = binom.interval(0.999, n, banding.recall(12 / 20))
    assert low <= agree.sum() <= high


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
@pytest.mark.slow
def test_real_paragraphs_are_found_within_the_recall(paragraphs, threshold):
    right = paragraphs["text"].tolist()[:600]
    left = edited(right, 0)
    exact, how, _ = pairs(left, right, threshold, "exact")
    assert how["words"] == {"by": "exact", "recall": 1.0, "n_skipped": 0}
    some, how, n_yielded = pairs(left, right, threshold, "minhash")
    assert some <= exact
    assert n_yielded == len(some)
    assert len(exact) > 150
    # pairs above the threshold are found more often than those at it
    assert len(some) >= binom.ppf(0.001, len(exact), how["words"]["recall"])
    assert how["words"]["by"] == "minhash"


def test_short_texts_are_found_within_the_recall():
    rng = np.random.default_rng(0)
    right = ["".join(rng.choice(list("abcdefgh "), 24)).strip() for _ in range(400)]
    left = []
    for text in right:
        letters = list(text)
        for at in rng.choice(len(letters), rng.integers(1, 6), replace=False):
            letters[at] = rng.choice(["", "x", letters[at] + "y"])
        left.append("".join(letters))
    exact, _, _ = pairs(left, right, 0.8, "exact", edit_length=40)
    some, how, n_yielded = pairs(left, right, 0.8, "minhash", edit_length=40)
    assert some <= exact
    assert n_yielded == len(some)
    assert len(exact) > 200
    assert len(some) >= binom.ppf(0.001, len(exact), how["letters"]["recall"])
    assert how["letters"]["recall"] == Banding.from_similarity(3 / 7).recall(runs_in_common(0.8))


@pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9])
def test_few_edits_leave_pairs_of_letters(threshold):
    """The bound holds however the edits fall; one in the middle of a text is the worst case."""
    rng = np.random.default_rng(0)
    for length in (4, 9, 20, 33):
        for _ in range(30):
            text = list(rng.permutation([chr(97 + k) for k in range(length)]))
            other = text.copy()
            for at in rng.choice(length, int((1 - threshold) * length + 1e-9), replace=False):
                other[at] = "#" if rng.random() < 0.7 else ""
            first, second = (
                {(a, b) for a, b in zip(f"^{t}", f"{t}$", strict=True)}
                for t in ("".join(text), "".join(other))
            )
            # what is replaced by the same sign twice is counted once here, and there twice
            common = len(first & second)
            union = length + 1 + len("".join(other)) + 1 - common
            assert common / union >= runs_in_common(threshold) - 1e-12


def test_nothing_short_takes_no_letters():
    texts = few_words(0, 20)
    _, how, _ = pairs(texts, texts, 0.8, "minhash", edit_length=5)
    assert how["letters"]["by"] == "exact"


def test_what_is_done_is_skipped():
    sets = sets_of(few_words(0, 30))
    done = np.arange(30) % 2 == 0
    _, blocks = join_texts(sets, sets.which, sets.which, 0.8, done, "minhash", 0)
    seen = np.concatenate([i for i, _ in blocks])
    assert sorted(seen.tolist()) == list(range(1, 30, 2))


def test_too_many_candidates_take_stricter_bands():
    right = few_words(0, 300)
    sets = sets_of([*edited(right, 1), *right])
    sides = np.split(sets.which, 2)
    loose = MinHashJoin(sets.columns[0], *sides, 0.6, 0, max_candidates=10**8).about
    strict = MinHashJoin(sets.columns[0], *sides, 0.6, 0, max_candidates=2000).about
    assert strict["n_skipped"] == 0
    assert 0.0 < strict["recall"] < loose["recall"]


def test_equal_sets_are_skipped_beyond_the_bound():
    sets = csr_array(np.ones((100, 3)))
    rows = np.arange(100)
    join = MinHashJoin(sets, rows, rows, 0.8, 0, max_candidates=1000)
    assert join.about["n_skipped"] == 4 * 100 * 100 - 4 * 100 * 2  # bands, left, right
    every = list(join.pairs(np.zeros(100, dtype=bool), lambda i, j: np.ones(i.size, dtype=bool)))
    i, j = (np.concatenate(side) for side in zip(*every, strict=True))
    assert i.size == 4 * 100 * 2
    assert np.unique(j).size > 60  # not the same few for all
    assert np.bincount(i).tolist() == [8] * 100


def test_the_bound_is_of_what_the_exact_join_looks_at():
    sets = sets_of(few_words(0, 200))
    n_by_words, n_by_letters = n_candidates(sets, sets.which[:80], sets.which[80:], 0.8)
    assert n_by_words > 80 * 120  # nearly all pairs have a rare token in common
    assert n_by_letters == 0.0
    short = sets_of(["abcd", "abcde", "xyz", "a much longer text"], 5)
    assert n_candidates(short, short.which, short.which, 0.8)[1] == 9.0  # all may differ in one


def metric(**changed):
    return NearDuplicateText(threshold=0.6, join="minhash", **changed)


def tables():
    real = few_words(0, 300, n_words=400)
    synthetic = [*edited(real[:40], 1), *edited(real[150:160], 2), *few_words(2, 50, n_words=400)]
    return [pd.DataFrame({"note": part}) for part in (real[:150], real[150:], synthetic)]


def test_train_and_holdout_are_treated_alike():
    train, holdout, synthetic = tables()
    there = metric().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    back = metric().fit(holdout, train, schema=SCHEMA).evaluate(synthetic)
    assert there.value > there.details["to_holdout"] > 0.0
    assert (there.value, there.details["to_holdout"]) == (back.details["to_holdout"], back.value)
    assert there.p_value < 0.01 < back.p_value


def test_the_seed_and_the_texts_alone_decide():
    given = tables()
    shuffled = [table.sample(frac=1.0, random_state=1) for table in given]
    results = [
        metric().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
        for train, holdout, synthetic in (given, given, shuffled)
    ]
    assert results[0].details == results[1].details
    assert results[0].value == results[2].value
    assert results[0].details["to_holdout"] == results[2].details["to_holdout"]


def test_a_low_recall_is_a_warning(monkeypatch):
    monkeypatch.setattr(minhash, "MAX_CANDIDATES", 100)
    train, holdout, synthetic = tables()
    fitted = NearDuplicateText(threshold=0.6).fit(train, holdout, schema=SCHEMA)
    with warns(MetricWarning):
        result = fitted.evaluate(synthetic)
    assert result.details["join"]["words"]["recall"] < 0.9


@pytest.mark.slow
def test_thousands_of_texts_of_few_words_take_no_time():
    """The exact join would compare most of 75 million pairs, at up to 30 words each."""
    texts = few_words(0, 18_000)
    train, holdout, fresh = (pd.DataFrame({"note": part}) for part in np.split(np.array(texts), 3))
    synthetic = pd.concat([fresh, train[:300]])
    fitted = NearDuplicateText(threshold=0.9).fit(train, holdout, schema=SCHEMA)
    result = fitted.evaluate(synthetic)
    assert result.details["join"]["words"]["by"] == "minhash"
    assert result.details["join"]["words"]["recall"] > 0.98
    assert result.value == pytest.approx(300 / 6300, abs=0.001)
    assert result.p_value < 1e-6


@pytest.mark.calibration
def test_independent_paragraphs_raise_few_alarms(thirds):
    """At a similarity that one in a few paragraphs has with another."""
    shares = []

    def rejects(seed):
        train, holdout, synthetic = thirds(seed, 100)
        loose = NearDuplicateText(
            threshold=0.15, columns=["text"], join="minhash", n_permutations=499
        )
        loose.set_params(random_state=seed)
        result = loose.fit(train, holdout, schema={"text": "text"}).evaluate(synthetic)
        shares.append(result.value)
        return result.p_value <= 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, high=0.09))
    assert found.holds, found
    assert np.mean(shares) > 0.1
