from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from skeval.checks import check_metric
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    GeneratorFailedError,
    InvalidParameterError,
    SchemaMismatchError,
)
from skeval.generators import Bootstrap, DPHistogram, IndependentMarginals, SequentialCART
from skeval.privacy.attacks.audit_runs import Level, best_rule
from skeval.privacy.attacks.dp_audit import DPAudit
from skeval.privacy.attacks.worlds import BASES, TARGETS, attacks_by_name, scorer_of, worlds_of
from skeval.stats.epsilon_bounds import gdp_epsilon
from skeval.stats.roc import Rates
from tests.calibrations import Claim, rate_of
from tests.snapshots import raises, warns

MIXED = make_mixed(60)
BITS = pd.DataFrame({"x": [0.0] * 5 + [1.0]})
PLANS = pd.DataFrame({"plan": ["a"] * 30 + ["b"] * 29 + ["c"]})
PURE = Level(0.0, 0.95, "cp")


class Mechanism(BaseEstimator):
    """Releases one number: a function of the number of ones, with noise."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon = epsilon
        self.random_state = random_state

    def fit(self, table):
        self.count_ = float((table["x"] == 1.0).sum())
        self.rng_ = np.random.default_rng(self.random_state)
        self.released_ = self.release()
        return self

    def sample(self, n):
        return pd.DataFrame({"x": np.full(n, self.released_)})


class RandomisedResponse(Mechanism):
    def release(self):
        honest = self.rng_.random() < 1.0 / (1.0 + math.exp(-self.epsilon))
        return float((self.count_ > 0) == honest)


class Laplace(Mechanism):
    def release(self):
        return self.count_ + self.rng_.laplace(scale=1.0 / self.epsilon)


class Gaussian(Mechanism):
    """1-GDP."""

    def release(self):
        return self.count_ + self.rng_.normal()


class Constant(Mechanism):
    def release(self):
        return self.rng_.normal()


class Honest(Mechanism):
    """No protection at all."""

    def release(self):
        return self.count_


def released(synthetic, target):
    return synthetic["x"].iloc[0]


def audit(generator, train=BITS, release=None, **settings):
    settings = {"n_runs": 60, "n_synthetic": 1, "target": "rare-value"} | settings
    return DPAudit(generator, **settings).fit(train).evaluate(train if release is None else release)


def most(n_runs, level=0.05):
    """Return the bound of a guesser who is never wrong, in closed form."""
    return math.log((level / 2) ** (1 / n_runs) / (1 - (level / 2) ** (1 / n_runs)))


# ------------------------------------------------------------------------------------ the bound


@pytest.mark.parametrize(
    ("counts", "delta", "epsilon"),
    [
        ((1000, 1000, 0, 1000), 0.0, 5.6005875),
        ((500, 500, 0, 500), 0.0, 4.9055942),
        ((300, 1000, 100, 1000), 0.0, 0.8148879),
        ((300, 1000, 100, 1000), 0.01, 0.7773911),
        ((680, 1000, 304, 1000), 0.0, 0.6672981),
    ],
)
def test_published_bounds(counts, delta, epsilon):
    assert Level(delta, 0.95, "cp").bound(Rates(*counts)) == pytest.approx(epsilon, abs=1e-6)
    assert Level(0.0, 0.95, "cp").ceiling(1000) == pytest.approx(most(1000))


def test_p_values_agree_with_the_bounds():
    rates = Rates(300, 1000, 100, 1000)
    for level in (0.5, 0.05, 1e-3, 1e-6):
        bound = PURE.bound(rates, 1.0 - level)
        assert PURE.p_value(rates, bound) == pytest.approx(level, rel=1e-3)
    assert PURE.p_value(Rates(10, 20, 10, 20), 0.0) == 1.0
    assert PURE.p_value(rates, 50.0) == 1.0
    assert PURE.p_value(Rates(10**4, 10**4, 0, 10**4), 0.0) == pytest.approx(0.0, abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_randomised_response_enumerated(epsilon):
    """All outcomes of 80 runs of either world, by the rule that a pilot run finds or its opposite."""
    n, p = 80, 1.0 / (1.0 + math.exp(-epsilon))
    chance = binom.pmf(np.arange(n + 1), n, p)
    for right in (True, False):
        said = np.arange(n + 1) if right else np.arange(n, -1, -1)
        beyond = sum(
            chance[i] * chance[n - j]
            for i in range(n + 1)
            for j in range(n + 1)
            if chance[i] * chance[n - j] > 1e-9
            and PURE.bound(Rates(int(said[i]), n, int(said[j]), n)) > epsilon
        )
        assert beyond <= 0.05


@pytest.mark.slow
def test_a_mechanism_without_protection_reaches_the_ceiling():
    result = audit(Honest(), attack=released, claimed_epsilon=1.0)
    assert result.value == pytest.approx(most(60))
    assert result.value == result.details["ceiling"]
    assert (result.details["n_true_positives"], result.details["n_false_positives"]) == (60, 0)
    assert result.interval == (result.value, math.inf)
    assert result.baseline == 0.0
    assert result.details["verdict"] == "violation"
    assert result.details["p_value_of_claim"] < 1e-3
    assert result.p_value < 1e-9


@pytest.mark.slow
def test_a_score_that_falls_is_turned_round():
    result = audit(Honest(), attack=lambda synthetic, target: -released(synthetic, target))
    assert result.value == pytest.approx(most(60))


@pytest.mark.slow
def test_a_given_threshold_needs_no_pilot_runs():
    result = audit(Honest(), attack=released, threshold=0.5, n_runs=40)
    assert result.value == pytest.approx(most(40))
    assert (result.details["n_fits"], result.details["n_pilot"]) == (80, 0)
    assert result.details["promised"] == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generator", "claimed", "verdict"),
    [
        (RandomisedResponse(4.0), 3.0, "consistent"),
        (RandomisedResponse(4.0), 1.0, "violation"),
        (RandomisedResponse(0.1), 2.0, "loose"),
    ],
)
def test_verdicts(generator, claimed, verdict):
    settings = {"attack": released, "threshold": 0.5, "n_runs": 100}
    result = audit(generator, claimed_epsilon=claimed, **settings)
    assert result.details["verdict"] == verdict
    assert (result.details["p_value_of_claim"] < 0.05) == (verdict == "violation")
    assert "verdict" not in audit(generator, **settings | {"n_runs": 2}).details


def test_few_runs_cannot_refute_a_large_claim():
    with warns(DegenerateInputWarning):
        audit(Honest(), attack=released, n_runs=10, claimed_epsilon=3.0)


@pytest.mark.slow
def test_gaussian_bound():
    level = Level(1e-5, 0.95, "gdp")
    result = audit(Gaussian(), attack=released, threshold=0.5, n_runs=60, method="gdp", delta=1e-5)
    details = result.details
    rates = Rates(details["n_true_positives"], 60, details["n_false_positives"], 60)
    assert result.value == level.bound(rates) <= gdp_epsilon(1e-5, 1.0)
    assert Level(1e-5, 0.95, "cp").bound(rates) < result.value


# ------------------------------------------------------------------------- rules, by themselves


def bounds_of(draw, level, n_pilot, n_runs, n_repeats=300):
    """Return the bounds of repeated audits: pilot runs choose the rule, fresh runs count."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(n_repeats):
        rule = best_rule(draw(rng, 1.0, n_pilot), draw(rng, 0.0, n_pilot), level, n_runs)
        values.append(level.bound(rule.rates(draw(rng, 1.0, n_runs), draw(rng, 0.0, n_runs))))
    return np.array(values)


@pytest.mark.slow
def test_laplace_mechanism_by_a_quarter_of_its_runs():
    bounds = bounds_of(lambda rng, mean, n: rng.laplace(mean, 1.0, n), PURE, 125, 375)
    assert bounds.mean() == pytest.approx(0.634, abs=0.03)
    assert (bounds > 1.0).mean() <= 0.05


def test_noise_of_half_the_scale_is_flagged():
    bounds = bounds_of(lambda rng, mean, n: rng.laplace(mean, 0.5, n), PURE, 125, 375, 50)
    assert (bounds > 1.0).mean() > 0.9


@pytest.mark.slow
def test_gaussian_mechanism():
    level = Level(1e-5, 0.95, "gdp")
    bounds = bounds_of(lambda rng, mean, n: rng.normal(mean, 1.0, n), level, 60, 180)
    assert (bounds > gdp_epsilon(1e-5, 1.0)).mean() <= 0.05
    assert bounds.mean() > 2.0


@pytest.mark.slow
def test_independent_scores_bound_nothing():
    bounds = bounds_of(lambda rng, mean, n: rng.normal(size=n), PURE, 60, 180)
    assert (bounds > 0.0).mean() <= 0.05


def test_rule_of_scores_that_are_all_alike():
    rule = best_rule(np.zeros(5), np.zeros(5), PURE, 10)
    assert PURE.bound(rule.rates(np.zeros(10), np.zeros(10))) == 0.0


def test_threshold_is_in_the_middle_and_infinite_scores_are_no_harm():
    rule = best_rule(np.array([3.0, 4.0]), np.array([1.0, 0.0]), PURE, 10)
    assert (rule.sign, rule.threshold) == (1, 2.0)
    rule = best_rule(np.array([np.inf, 4.0]), np.array([-np.inf, -np.inf]), PURE, 10)
    assert rule.rates(np.array([4.0]), np.array([-np.inf])).true_positives == 1


# ------------------------------------------------------------------------------------- worlds


@pytest.mark.parametrize(
    ("base", "target", "adjacency"),
    # each pair of two of the three is there, not each triple
    [
        (base, target, ("add_remove", "replace")[(i + j) % 2])
        for i, base in enumerate(BASES)
        for j, target in enumerate(TARGETS)
    ],
)
def test_worlds_differ_in_one_row(base, target, adjacency):
    context = Context.of(MIXED)
    worlds = worlds_of(context, base, target, adjacency=adjacency, n_base=7, seed=0)
    inside, outside = worlds.inside.tolist(), worlds.outside.tolist()
    assert inside[-1] == worlds.target
    assert inside[:-1] == (outside[:-1] if adjacency == "replace" else outside)
    assert worlds.target not in outside[-1:] or (target, adjacency) == ("repeat", "add_remove")
    n_rows = {"train": 60 - (target != "canary"), "sample": 7, "duplicates": 7, "empty": 0}
    n_rows = n_rows.get(base, 1)
    n_rows += target == "repeat" or base == "worst_case"
    assert len(inside) - 1 == n_rows
    assert inside.count(worlds.target) == 1 + (target == "repeat")
    assert list(worlds.table.columns) == list(MIXED.columns)


def test_worst_case_has_no_value_of_its_own():
    worlds = worlds_of(
        Context.of(MIXED), "worst_case", "achilles", adjacency="replace", n_base=1, seed=0
    )
    x, t, y, z = (worlds.rows[i] for i in range(4))
    known = (x == t) | (np.isnan(x) & np.isnan(t))
    assert known.sum() <= 1
    for mixed in (y, z):
        assert all(
            any(np.array_equal(mixed[j], other[j], equal_nan=True) for other in (x, t))
            for j in range(x.size)
        )
    assert not np.array_equal(y, z, equal_nan=True)
    assert worlds.outside.tolist() == [0, 1, 3]


def test_canary_has_values_that_no_row_has_and_types_that_both_worlds_have():
    worlds = worlds_of(
        Context.of(MIXED), "train", "canary", adjacency="add_remove", n_base=1, seed=0
    )
    inside, outside = (worlds.table.iloc[rows] for rows in (worlds.inside, worlds.outside))
    assert inside.dtypes.equals(outside.dtypes)
    new = worlds.table.iloc[worlds.target]
    assert all(new[name] not in set(MIXED[name]) for name in ("age", "income", "city", "plan"))
    assert new["plan"] in worlds.table["plan"].cat.categories


def test_target_is_the_most_exposed_row():
    train = pd.DataFrame({"x": [1.0, 2.0, 3.0, 50.0], "y": [1.0, 2.0, 3.0, 0.0]})
    worlds = worlds_of(
        Context.of(train), "train", "gower-knn", adjacency="add_remove", n_base=1, seed=0
    )
    assert worlds.table.iloc[worlds.target].tolist() == [50.0, 0.0]


@pytest.mark.parametrize(
    "settings", [{"adjacency": "replace"}, {"target": "repeat", "adjacency": "add_remove"}]
)
def test_a_target_that_stands_alone(settings):
    sizes = []

    def fit(table):
        sizes.append(len(table))
        return float((table["x"] == 1.0).sum())

    def sample(count, n):
        return pd.DataFrame({"x": np.full(n, count)})

    result = audit((fit, sample), base="empty", attack=released, n_runs=20, **settings)
    assert result.details["base"] == "empty"
    if settings["adjacency"] == "replace":
        assert result.value == pytest.approx(most(20))
        assert set(sizes) == {1}
    else:
        assert set(sizes) == {1, 2}


# ------------------------------------------------------------------------------------- scores


def scored(synthetic, attacks, train=None):
    train = (
        pd.DataFrame({"x": [0.0, 1.0, 2.0, 100.0], "k": list("aaab")}) if train is None else train
    )
    worlds = worlds_of(
        Context.of(train), "train", "gower-knn", adjacency="add_remove", n_base=1, seed=0
    )
    return scorer_of(worlds, attacks_by_name(attacks), 0)(synthetic, worlds.target)


def test_scores_by_hand():
    synthetic = pd.DataFrame({"x": [100.0, 98.0, 0.0, 50.0], "k": ["b", "b", "a", "new"]})
    scores, features = scored(synthetic, ("presence", "cells", "distance", "queries"))
    # x agrees with none of three rows, k with none: shares 1/5 both
    cells = (2 + 2) / 4 * math.log(5)
    # both agree in three subsets of columns, neither in none
    assert scores == pytest.approx([1.0, cells, 0.0, math.log((4 + 4 + 1 + 1) / 4)], abs=1e-6)
    assert features.size == 0
    far, _ = scored(synthetic.iloc[[2]], ("presence", "distance"))
    assert far.tolist() == [0.0, -1.0]


def test_a_function_gets_the_table_and_the_target():
    seen = []

    def function(synthetic, target):
        seen.append((synthetic, target))
        return 7

    synthetic = pd.DataFrame({"x": [1.0], "k": ["a"]})
    assert scored(synthetic, (function,))[0].tolist() == [7.0]
    assert seen[0][1].to_dict("records") == [{"x": 100.0, "k": "b"}]


@pytest.mark.parametrize(
    "returned", [None, math.nan, [1.0], BITS], ids=["none", "nan", "list", "table"]
)
def test_a_function_that_returns_no_number_is_named(returned):
    def clever(synthetic, target):
        return returned

    with raises(InvalidParameterError):
        audit(Honest(), attack=["presence", clever])


def test_attacks_of_one_name_are_told_apart():
    attacks = [lambda synthetic, target: 1.0, lambda synthetic, target: 2.0, released]
    promised = audit(Honest(), attack=attacks, n_runs=3).details["promised"]
    names = ["<lambda>", "<lambda> 2", "released"]
    assert list(promised) == [f"train, rare-value, {name}" for name in names]
    models = [LogisticRegression(), LogisticRegression(C=2.0), "classifier"]
    assert list(attacks_by_name(models)) == [
        "LogisticRegression",
        "LogisticRegression 2",
        "classifier",
    ]


@pytest.mark.slow
def test_the_second_of_one_name_can_be_chosen():
    attacks = [lambda synthetic, target: 1.0, lambda *tables: released(*tables)]
    result = audit(Honest(), attack=attacks)
    assert result.details["attack"] == "<lambda> 2"
    assert result.value == pytest.approx(most(60))


def test_missing_values_of_the_target():
    train = pd.DataFrame({"x": [0.0, 1.0, 2.0, None], "y": [0.0, 0.1, 0.2, 9.0]})
    scores, _ = scored(pd.DataFrame({"x": [None, 1.0], "y": [9.0, 9.0]}), ("presence",), train)
    assert scores.tolist() == [1.0]


@pytest.mark.parametrize("attack", ["classifier", LogisticRegression()])
@pytest.mark.slow
def test_classifiers_learn_from_runs_of_their_own(attack):
    result = audit(Bootstrap(), PLANS, attack=attack, n_runs=20, n_pilot=12, n_synthetic=300)
    assert result.value > 1.0
    assert result.details["attack"] in {"classifier", "LogisticRegression"}


# ------------------------------------------------------------------------- generators of tables


@pytest.mark.slow
def test_a_copy_with_a_claim_is_a_violation():
    result = audit(Bootstrap(), PLANS, claimed_epsilon=1.0, n_synthetic=600, n_runs=30)
    assert result.details["verdict"] == "violation"
    assert result.value == pytest.approx(most(30))


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add_remove", "replace"])
def test_noisy_counts_keep_their_promise(adjacency):
    generator = DPHistogram({"plan": ["a", "b", "c"]}, 1.0, adjacency=adjacency)
    result = audit(
        generator,
        PLANS,
        base=["train", "one_row"],
        adjacency=adjacency,
        claimed_epsilon=1.0,
        n_runs=30,
        n_synthetic=600,
    )
    assert result.details["verdict"] != "violation"


# a noisy count of at least 1, where the target is the only row of its kind
PRESENT = {"attack": "presence", "threshold": 0.5, "n_synthetic": 600, "n_runs": 220}


@pytest.mark.slow
def test_noisy_counts_with_half_the_noise_are_flagged():
    generator = DPHistogram({"plan": ["a", "b", "c"]}, 2.0)
    result = audit(generator, PLANS, claimed_epsilon=1.0, **PRESENT)
    assert result.details["verdict"] == "violation"
    assert result.value <= 2.0
    assert "epsilon_add_remove" not in result.details


@pytest.mark.slow
def test_a_bound_for_another_row_bounds_half_as_much_for_one_row_more():
    settings = {"attack": released, "threshold": 0.5, "n_runs": 20, "adjacency": "replace"}
    result = audit(Honest(), **settings)
    assert result.details["adjacency"] == "replace"
    assert result.details["epsilon_add_remove"] == result.value / 2
    assert result.value == pytest.approx(most(20))
    # with delta above 0 the two do not translate so simply
    assert "epsilon_add_remove" not in audit(Honest(), delta=1e-3, **settings).details


@pytest.mark.slow
def test_categories_read_off_the_table_are_found_by_a_canary():
    class Inferring(DPHistogram):
        """Exact noise on a domain that the table itself decides."""

        def fit(self, table):
            self.domain = {name: sorted(table[name].unique()) for name in table}
            return super().fit(table)

    settings = {"n_synthetic": 200, "n_runs": 40, "n_pilot": 12, "claimed_epsilon": 0.1}
    result = audit(Inferring({}, 0.1), PLANS, target="canary", **settings)
    assert result.details["verdict"] == "violation"
    # the same noise on the same categories, which this time both worlds have
    repeated = audit(Inferring({}, 0.1), PLANS, target="repeat", **settings)
    assert repeated.details["verdict"] != "violation"
    public = audit(DPHistogram({"plan": list("abc")}, 0.1), PLANS, target="canary", **settings)
    assert public.details["verdict"] != "violation"


@pytest.mark.slow
def test_the_best_of_several_is_run_again():
    result = audit(
        IndependentMarginals(),
        MIXED,
        base=["train", "duplicates"],
        target=["random", "achilles"],
        n_runs=10,
        n_pilot=4,
        n_synthetic=60,
    )
    promised = result.details["promised"]
    assert len(promised) == 2 * 2 * 4
    chosen = ", ".join(result.details[name] for name in ("base", "target", "attack"))
    assert promised[chosen] == max(promised.values())
    assert result.details["n_fits"] == 2 * (10 + 4 * 4)


@pytest.mark.slow
def test_sequential_trees_are_caught_on_a_row_of_its_own():
    train = make_mixed(40)[["age", "income", "plan"]]
    settings = {"target": "canary", "n_runs": 20, "n_synthetic": 100, "claimed_epsilon": 1.0}
    assert audit(SequentialCART(), train, **settings).details["verdict"] == "violation"


# --------------------------------------------------------------------------------- how it runs


@pytest.mark.slow
def test_a_fixed_seed_of_the_generator_is_set_anew():
    """Otherwise all runs would have the same noise, and any mechanism be broken."""
    fixed, free = (
        audit(
            DPHistogram({"plan": list("abc")}, 0.5, random_state=seed),
            PLANS,
            n_synthetic=100,
            n_runs=30,
        )
        for seed in (0, None)
    )
    assert fixed.details == free.details
    assert fixed.value < 0.5


@pytest.mark.slow
def test_jobs_change_nothing():
    settings = {"n_runs": 2, "n_pilot": 1, "n_synthetic": 30}
    one, two = (audit(Bootstrap(), MIXED, n_jobs=n_jobs, **settings) for n_jobs in (1, 2))
    assert one.to_dict() | {"seconds": 0} == two.to_dict() | {"seconds": 0}


def test_progress_counts_all_fits():
    calls = []
    metric = DPAudit(
        Honest(),
        attack=released,
        target=["achilles", "random"],
        n_runs=5,
        n_pilot=2,
        progress=lambda *numbers: calls.append(numbers),
    )
    assert metric.estimate_cost() == 18
    metric.fit(BITS).score(BITS)
    assert calls == [(i + 1, 18) for i in range(18)]


def test_one_audit_serves_all_releases():
    calls = []
    settings = {"attack": released, "n_runs": 3, "n_pilot": 1}
    metric = DPAudit(Honest(), progress=lambda *numbers: calls.append(numbers), **settings).fit(
        BITS
    )
    assert metric.evaluate(BITS).value == metric.score(BITS[::-1])
    assert len(calls) == 8
    metric.score(BITS[:3])  # of another size
    assert len(calls) == 16


@pytest.mark.slow
def test_seeds_differ():
    settings = {"attack": released, "threshold": 0.5, "n_runs": 30}
    actual = {
        audit(Laplace(), random_state=seed, **settings).details["true_positive_rate"]
        for seed in range(3)
    }
    assert len(actual) > 1


def test_cost_is_refused_in_one_sentence():
    metric = DPAudit(Honest(), n_runs=100, n_pilot=50, base=["train", "sample"], max_fits=399)
    assert metric.estimate_cost() == 400
    with raises(InvalidParameterError):
        metric.fit(BITS)


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "gdp"},
        {"threshold": 0.5},
        {"threshold": 0.5, "attack": "classifier"},
        {"attack": "classifier", "n_pilot": 3},
        {"base": ["train", "train"]},
        {"base": []},
        {"attack": ["presence", "no such"]},
        {"attack": LogisticRegression},
        {"target": "repeated"},
        {"threshold": "best"},
        {"adjacency": "add"},
        {"generator": None},
        {"generator": int},
        {"base": ["train", "empty"]},
        {"base": "empty", "target": ["repeat", "random"]},
    ],
)
def test_contradictions_are_told(settings):
    with raises(InvalidParameterError):
        DPAudit(**{"generator": Honest()} | settings).fit(BITS)


def test_too_little_to_audit():
    with warns(DegenerateInputWarning):
        assert math.isnan(audit(Honest(), BITS[:1]).value)
    texts = pd.DataFrame({"id": [f"row-{i}" for i in range(30)]})
    with warns(DegenerateInputWarning):
        assert math.isnan(audit(Bootstrap(), texts).value)


def test_what_a_generator_makes_is_not_called_the_release():
    few = lambda table: table, lambda table, n: table[["age", "city"]].sample(n, replace=True)
    with raises(SchemaMismatchError):
        audit(few, MIXED, n_runs=2)
    texts = pd.Series("old", range(len(MIXED)), dtype=object)
    words = lambda table: table, lambda table, n: MIXED.assign(age=texts).head(n)
    with raises(SchemaMismatchError):
        audit(words, MIXED, n_runs=2)


def test_a_generator_that_cannot_be_fitted_is_told_on_which_tables():
    def fit(table):
        if len(table) < 2:
            raise ZeroDivisionError("no variance")
        return table

    pair = fit, lambda table, n: table.sample(n, replace=True)
    with raises(GeneratorFailedError) as caught:
        audit(pair, PLANS, base=["train", "one_row"], target="random", n_runs=2)
    told = "DPAudit ran the generator with base='one_row' and target='random', on tables of 2 and 1"
    assert caught.value.__notes__ == [f"{told} rows."]


@pytest.mark.slow
def test_pairs_of_functions_and_classes():
    pair = lambda table: Honest().fit(table), lambda fitted, n: fitted.sample(n)
    for generator in (pair, Honest):
        assert audit(generator, attack=released, n_runs=20).value == pytest.approx(most(20))


@pytest.mark.slow
def test_the_contract():
    records = check_metric(
        DPAudit(Bootstrap(), n_runs=1, n_pilot=1, n_synthetic=20),
        expected_failures={
            "check_repr_names_the_parameters": "the generator is not of this module"
        },
    )
    assert {record["status"] for record in records} <= {"passed", "expected"}


# ------------------------------------------------------------------------------- false alarms


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("generator", "settings", "epsilon"),
    [
        (RandomisedResponse(1.0), {}, 1.0),
        (Laplace(1.0), {}, 1.0),
        (Gaussian(), {"method": "gdp", "delta": 1e-3}, gdp_epsilon(1e-3, 1.0)),
        (Constant(), {}, 0.0),
    ],
    ids=["randomised response", "laplace", "gaussian", "independent"],
)
def test_mechanisms_that_keep_their_promise_are_seldom_called_broken(generator, settings, epsilon):
    broken = (
        audit(generator, attack=released, n_runs=30, random_state=seed, **settings).value > epsilon
        for seed in range(100)
    )
    found = rate_of(broken, Claim(0.05, high=binom.ppf(0.99, 100, 0.05) / 100))
    assert found.holds, found


@pytest.mark.calibration
def test_noisy_counts_are_seldom_called_broken():
    generator = DPHistogram({"plan": ["a", "b", "c"]}, 1.0)
    values = (
        audit(generator, PLANS, n_runs=30, n_synthetic=600, random_state=seed, claimed_epsilon=1.0)
        for seed in range(100)
    )
    claim = Claim(0.05, high=binom.ppf(0.99, 100, 0.05) / 100)
    found = rate_of((r.details["verdict"] == "violation" for r in values), claim)
    assert found.holds, found
