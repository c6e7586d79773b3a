from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from skeval.checks import check_metric
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy import OneRunDPAudit
from skeval.privacy.attacks.one_run_audit import (
    coins_of_rows,
    guess_by_rank,
    match_rows,
    reference_among,
    seed_of_draw,
)
from skeval.steps.members import ATTACKS, CALIBRATED
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


def numbers(seed, *sizes, columns=3):
    rng = np.random.default_rng(seed)
    return [
        pd.DataFrame(rng.normal(size=(n, columns)), columns=list("abcdef")[:columns]) for n in sizes
    ]


@pytest.mark.parametrize(
    ("adjacency", "epsilon"), [("replace", 3.3745705), ("add_remove", 1.6872853)]
)
def test_copies_of_wine(wine, adjacency, epsilon):
    metric = OneRunDPAudit(adjacency=adjacency).fit(wine.train, wine.holdout)
    for copies in (wine.train, wine.over):
        result = metric.evaluate(copies)
        assert result.value == pytest.approx(epsilon, abs=1e-7)
        assert result.interval == (result.value, np.inf)
        assert result.p_value == pytest.approx(0.5**89)
        assert (result.details["n_guesses"], result.details["n_correct"]) == (89, 89)
        assert result.details["ceiling"] == pytest.approx(epsilon, abs=1e-7)
    assert metric.score(wine.gauss) == 0.0
    result = metric.evaluate(wine.holdout)
    assert (result.value, result.p_value, result.baseline) == (0.0, 1.0, 0.0)


def test_both_adjacencies_stand_in_the_details(wine):
    actual = OneRunDPAudit().fit(wine.train, wine.holdout).evaluate(wine.train).details["epsilon"]
    assert actual == pytest.approx({"add_remove": 1.6872853, "replace": 3.3745705}, abs=1e-7)
    # delta is that of one row more or less, or that of another row
    strict = OneRunDPAudit(delta=1e-3).fit(wine.train, wine.holdout).evaluate(wine.train).details
    assert all(strict["epsilon"][name] < actual[name] for name in actual)


def test_bernoulli_design_counts_all_rows(wine):
    metric = OneRunDPAudit(design="bernoulli").fit(wine.train, wine.holdout)
    result = metric.evaluate(wine.over)
    assert result.value == pytest.approx(4.0761681, abs=1e-7)
    assert result.details["n_canaries"] == result.details["n_correct"] == 178
    few = OneRunDPAudit("distance", "bernoulli", k_guesses=(20, 0)).fit(wine.train, wine.holdout)
    q = 0.05 ** (1 / 20)
    assert few.score(wine.over) == pytest.approx(math.log(q / (1 - q)))


def test_included_bits_say_who_was_in(wine):
    """The release is half of train and half of the holdout, which only the bits reveal."""
    bits = np.zeros(178)
    bits[:44] = bits[89:133] = 1.0
    release = pd.concat([wine.train[:44], wine.holdout[:44]])
    told = OneRunDPAudit(design="bernoulli", included=bits).fit(wine.train, wine.holdout)
    # two rows fewer in than out: with the median between the two halves, one guess is wrong or none
    assert told.score(release) > 3.0
    order = np.random.default_rng(0).permutation(89)  # bits go with the rows as they are given
    shuffled = OneRunDPAudit(design="bernoulli", included=np.append(bits[:89][order], bits[89:]))
    again = shuffled.fit(wine.train.iloc[order], wine.holdout).score(release)
    assert again == told.score(release)
    assert OneRunDPAudit(design="bernoulli").fit(wine.train, wine.holdout).score(release) == 0.0
    bits[10:60] = np.nan
    told = OneRunDPAudit(design="bernoulli", included=bits).fit(wine.train, wine.holdout)
    assert told.evaluate(release).details["n_canaries"] == 128


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, pd.Series, pd.array, lambda bits: pd.Series(bits, dtype="Int8")]
)
def test_bits_of_any_kind(kind):
    bits = kind([1] * 150 + [0] * 148 + [None] * 2)
    metric = OneRunDPAudit(design="bernoulli", included=bits).fit(TRAIN, HOLDOUT)
    assert metric.evaluate(TRAIN).details["n_canaries"] == 298
    truths = pd.Series([True] * 150 + [False] * 150)
    assert OneRunDPAudit(design="bernoulli", included=truths).fit(TRAIN, HOLDOUT).score(TRAIN) > 3.0


@pytest.mark.parametrize("included", [pd.Series([0.5] * 300), [7.25] * 300, TRAIN])
def test_wrong_bits_are_not_printed(included):
    with pytest.raises(InvalidParameterError) as caught:
        OneRunDPAudit(design="bernoulli", included=included).fit(TRAIN, HOLDOUT)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize(("n_in", "n_out"), [(400, 100), (80, 200), (30, 0), (70, 30), (34, 8)])
def test_splits_that_no_fair_coins_make_are_refused(n_in, n_out):
    with raises(InvalidParameterError):
        coins_of_rows(None, n_in, n_out)
    with raises(InvalidParameterError):
        coins_of_rows([1] * n_in + [0] * n_out + [np.nan] * 500, n_in + n_out, 500)


def test_fair_coins_are_hardly_ever_refused():
    for n in (1, 2, 13, 100, 1000):
        chance = binom.pmf(np.arange(n + 1), n, 0.5)
        refused = 0.0
        for n_in in range(n + 1):
            try:
                coins_of_rows(None, n_in, n - n_in)
            except InvalidParameterError:
                refused += chance[n_in]
        assert refused < 1e-4


def test_reference_does_not_look_at_the_coins():
    """Return half of the rows that were in and half of the others, independently of the coins."""
    context = Context.of(TRAIN, HOLDOUT)
    fair = np.repeat([1.0, 0.0], 150)
    rows = reference_among(context, fair, 0)
    assert len(rows) == len(set(rows)) == 300 // 4
    assert 25 <= fair[rows].sum() <= 50
    assert (reference_among(context, 1.0 - fair, 0) == rows).all()
    # rows of the holdout without a coin come first, those of train never
    fair[100:150] = fair[240:] = np.nan
    rows = reference_among(context, fair, 0)
    assert sorted(rows) == list(range(240, 300))
    fair[240:290] = 0.0
    rows = reference_among(context, fair, 0)
    assert len(rows) == 240 // 4
    assert set(range(290, 300)) < set(rows)
    assert not set(range(100, 150)) & set(rows)


@pytest.mark.parametrize("attack", sorted(CALIBRATED))
def test_attacks_that_calibrate_leave_coins_that_are_fair(attack):
    metric = OneRunDPAudit(attack, "bernoulli", k_guesses=(100, 0)).fit(TRAIN, HOLDOUT)
    result = metric.evaluate(SYNTHETIC)
    assert result.details["n_canaries"] == 225
    assert result.p_value > 0.025
    noisy = TRAIN.assign(income=TRAIN["income"] + 1.0)
    outcome = OneRunDPAudit(attack, "bernoulli").fit(TRAIN, HOLDOUT).evaluate(noisy)
    assert outcome.p_value < 0.025


def test_no_row_with_a_coin_is_left():
    """The only one calibrates."""
    metric = OneRunDPAudit("ratio", "bernoulli", included=[np.nan] * 150 + [0])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit(TRAIN, HOLDOUT[:1]).score(SYNTHETIC))


@pytest.mark.slow
def test_each_split_is_matched_anew():
    """With one seed for all splits, the same places of the tables would always meet."""
    seeds = {seed_of_draw(Context.of(*numbers(seed, 40, 40)), 0) for seed in range(20)}
    assert len(seeds) == 20
    train, holdout = numbers(0, 40, 40)
    shuffled = train.sample(frac=1.0, random_state=0), holdout[::-1][list("cab")]
    assert seed_of_draw(Context.of(*shuffled), 0) == seed_of_draw(Context.of(train, holdout), 0)
    assert seed_of_draw(Context.of(train, holdout), 1) != seed_of_draw(
        Context.of(train, holdout), 0
    )
    missing = train.mask(train > 1.0)
    assert seed_of_draw(Context.of(missing, holdout), 0) == seed_of_draw(
        Context.of(missing[::-1], holdout), 0
    )


def test_fewer_guesses():
    metric = OneRunDPAudit(k_guesses=30).fit(TRAIN, HOLDOUT)
    details = metric.evaluate(TRAIN).details
    assert (details["n_canaries"], details["n_guesses"]) == (150, 30)
    assert metric.score(TRAIN) < OneRunDPAudit().fit(TRAIN, HOLDOUT).score(TRAIN)
    q = 0.05 ** (1 / 30)
    assert metric.score(TRAIN) == pytest.approx(math.log(q / (1 - q)) / 2)


def test_pairs_with_equal_scores_are_not_guessed():
    train, holdout = (pd.DataFrame({"x": values}) for values in ([0.0, 1.0], [5.0, 6.0]))
    metric = OneRunDPAudit().fit(train, holdout)
    assert metric.evaluate(train).details["n_guesses"] == 2
    context = Context.of(train, train).with_synthetic(pd.DataFrame({"x": [0.5]}))
    same = metric.evaluate_context(context)
    assert "gives all rows the same score" in str(same.warnings[0])
    assert (same.value, same.p_value, same.details["n_guesses"]) == (0.0, None, 0)


@pytest.mark.parametrize(
    ("claimed", "verdict"), [(1.0, "violation"), (2.0, "consistent"), (9.0, "loose")]
)
def test_verdicts(wine, claimed, verdict):
    result = (
        OneRunDPAudit(claimed_epsilon=claimed).fit(wine.train, wine.holdout).evaluate(wine.train)
    )
    assert result.details["verdict"] == verdict
    assert (result.details["p_value_of_claim"] < 0.05) == (verdict == "violation")
    assert "verdict" not in OneRunDPAudit().fit(TRAIN, HOLDOUT).evaluate(TRAIN).details


@pytest.mark.slow
def test_order_of_rows_does_not_matter():
    release = pd.concat([TRAIN[:60], SYNTHETIC])
    for metric in (OneRunDPAudit(), OneRunDPAudit(stratify="city"), OneRunDPAudit("ratio")):
        there = metric.fit(TRAIN, HOLDOUT).evaluate(release).details
        shuffled = [t.sample(frac=1.0, random_state=3) for t in (TRAIN, HOLDOUT, release)]
        back = metric.fit(*shuffled[:2]).evaluate(shuffled[2]).details
        assert there == back


def test_matching_is_another_with_another_seed():
    release = pd.concat([TRAIN[:60], SYNTHETIC])
    actual = {
        OneRunDPAudit(random_state=seed)
        .fit(TRAIN, HOLDOUT[:70])
        .evaluate(release)
        .details["n_correct"]
        for seed in range(5)
    }
    assert len(actual) > 1


def test_strata_are_matched_within():
    first, second = np.array([0, 1, 0, -1, 2]), np.array([1, 0, -1, 1, 0, 0])
    left, right = match_rows(first, second)
    assert (first[left] == second[right]).all()
    assert left.size == 4  # one of stratum -1 and 1, two of 0
    assert len(set(left)) == len(set(right)) == 4
    details = OneRunDPAudit(stratify="city").fit(TRAIN, HOLDOUT).evaluate(TRAIN).details
    counts = [t["city"].fillna("missing").value_counts() for t in (TRAIN, HOLDOUT)]
    assert details["n_canaries"] == np.minimum(*counts[0].align(counts[1], fill_value=0)).sum()


def test_numbers_and_missing_values_are_strata():
    train = TRAIN.assign(year=[2001.0, 2002.0, np.nan] * 50)
    holdout = HOLDOUT.assign(year=[2001.0, 2003.0, np.nan] * 50)
    result = OneRunDPAudit(stratify="year").fit(train, holdout).evaluate(train)
    assert result.details["n_canaries"] == 100
    unique = [t.assign(year=np.arange(150.0) + 500 * i) for i, t in enumerate((TRAIN, HOLDOUT))]
    with warns(DegenerateInputWarning):
        assert np.isnan(OneRunDPAudit(stratify="year").fit(*unique).score(unique[0]))


def test_ranked_guesses():
    scores, bits = np.array([4.0, 3.0, 2.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0])
    assert (
        guess_by_rank(scores, bits, None).n_guesses,
        guess_by_rank(scores, bits, 2).n_correct,
    ) == (4, 2)
    assert guess_by_rank(scores, bits, (1, 2)).n_correct == 2
    assert guess_by_rank(scores, bits, 99).n_guesses == 4
    assert guess_by_rank(np.ones(4), bits, None).n_guesses == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"included": [1] * 300},
        {"k_guesses": (3, 3)},
        {"design": "bernoulli", "stratify": "city"},
        {"design": "bernoulli", "adjacency": "replace"},
        {"design": "bernoulli", "included": [1, 0]},
        {"design": "bernoulli", "included": [0.5]},
        {"design": "bernoulli", "included": TRAIN},
        {"design": "bernoulli", "included": np.ones((300, 2))},
        {"design": "bernoulli", "included": [None] * 300},
        {"design": "bernoulli", "included": [1] * 300},
        {"included": 2},
        {"k_guesses": (0, 0)},
        {"attack": "best"},
        {"stratify": "town"},
        {"delta": 1.0},
        {"confidence": 0.5},
    ],
)
def test_what_contradicts_itself_is_refused(wrong):
    with raises(InvalidParameterError):
        OneRunDPAudit(**wrong).fit(TRAIN, HOLDOUT)


# the fifth neighbour of a row says nothing of one copy
@pytest.mark.parametrize("attack", [name for name in ATTACKS if name != "knn_density"])
def test_every_attack_finds_copies(attack):
    noisy = TRAIN.assign(income=TRAIN["income"] + 1.0)
    metric = OneRunDPAudit(attack).fit(TRAIN, HOLDOUT)
    assert metric.evaluate(noisy).p_value < 0.025
    assert metric.evaluate(SYNTHETIC).p_value > 0.01


def test_tables_of_few_rows_and_odd_names():
    frames = [t.rename(columns={"age": "a, b", "plan": "class"}) for t in (TRAIN, HOLDOUT)]
    assert OneRunDPAudit(stratify="class").fit(*frames).score(frames[0]) > 1.0
    one = OneRunDPAudit().fit(TRAIN[:1], HOLDOUT[:1]).evaluate(TRAIN[:1])
    assert (one.value, one.p_value) == (0.0, 0.5)
    with warns(DegenerateInputWarning):
        assert np.isnan(OneRunDPAudit("domias").fit(TRAIN[:5], HOLDOUT[:5]).score(SYNTHETIC))


@pytest.mark.slow
def test_common_checks_of_the_other_design():
    check_metric(OneRunDPAudit(design="bernoulli"))


def exceeding(metric, splits):
    """Return how many of some releases that know nothing have a bound above 0, or alarm."""
    results = [
        metric.evaluate_context(Context.of(train, holdout).with_synthetic(synthetic))
        for train, holdout, synthetic in splits
    ]
    return sum(r.value > 0.0 for r in results), sum(r.p_value < 0.025 for r in results)


def by_coins(seed, n_rows):
    rows, synthetic = numbers(seed, n_rows, 50)
    inside = np.random.default_rng(seed).random(n_rows) < 0.5
    return rows[inside], rows[~inside], synthetic


@pytest.mark.calibration
def test_release_that_knows_nothing_is_hardly_ever_refuted():
    """The bound is exceeded in at most 5% of releases, so in at most 7% of 500."""
    splits = (numbers(seed, 60, 60 if seed % 2 else 45, 50) for seed in range(500))
    exceeded, alarms = exceeding(OneRunDPAudit(), splits)
    assert exceeded / 500 <= 0.07
    assert alarms / 500 <= 0.04


@pytest.mark.calibration
@pytest.mark.parametrize("k_guesses", [None, (30, 0), (0, 30)])
@pytest.mark.parametrize("attack", ["distance", "ratio", "distance_calibrated"])
def test_coins_of_a_release_that_knows_nothing(attack, k_guesses):
    metric = OneRunDPAudit(attack, "bernoulli", k_guesses=k_guesses)
    exceeded, alarms = exceeding(metric, (by_coins(seed, 100) for seed in range(200)))
    assert exceeded <= binom.ppf(0.99, 200, 0.05)
    assert alarms <= binom.ppf(0.99, 200, 0.025)


@pytest.mark.calibration
@pytest.mark.parametrize("size", [45, 80])
def test_no_size_of_tables_is_matched_to_their_favour(size):
    """If one order of rows is used for all splits, 11% to 16% of them exceed the bound."""

    def split(seed):
        *tables, synthetic = numbers(seed, size, size, size, columns=1)
        return *tables, synthetic / 100.0

    exceeded, _ = exceeding(OneRunDPAudit(), map(split, range(300)))
    assert exceeded <= binom.ppf(0.99, 300, 0.05)


@pytest.mark.slow
def test_randomised_response_of_rows():
    """The release states for each row whether it was in, correctly with e / (1 + e): 1-DP."""
    rng = np.random.default_rng(0)
    p, bounds = math.e / (1 + math.e), []
    rows = pd.DataFrame({"row": [f"r{i}" for i in range(400)]})
    for _ in range(150):
        inside = np.zeros(400, dtype=bool)
        inside[rng.permutation(400)[:200]] = True
        told = np.where(rng.random(400) < p, inside, ~inside)
        metric = OneRunDPAudit(random_state=int(rng.integers(2**31)))
        context = Context.of(rows[inside], rows[~inside], schema={"row": "categorical"})
        context = context.with_synthetic(rows[told])
        bounds.append(metric.evaluate_context(context).value)
    # rows that were not told are as far as each other: the scores are the bits
    assert np.mean(bounds) == pytest.approx(0.7719, abs=0.04)
    assert (np.array(bounds) > 1.0).sum() <= binom.ppf(0.999, 150, 0.05)


def test_the_sentence_states_the_fraction_right_and_what_chance_gets_right():
    tables = numbers(0, 200, 200, 200)
    result = OneRunDPAudit().fit(*tables[:2]).evaluate(tables[2])
    share = result.details["n_correct"] / result.details["n_guesses"]
    assert f"({100 * share:.1f}%)" in result.summary
    assert "50% is expected by chance" in result.summary
