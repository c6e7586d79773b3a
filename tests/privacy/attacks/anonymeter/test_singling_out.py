"""Singling out: the hand example, unequal sizes, odd tables, and what chance does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.privacy.attacks.anonymeter.risks import Measure
from skeval.privacy.attacks.anonymeter.singling_out import SinglingOutRisk, singling_out
from skeval.utils.formatting import percent
from tests.snapshots import warns

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
MODES = ["univariate", "multivariate"]

HAND_TRAIN = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "c": list("xxyzz")})
HAND_HOLDOUT = pd.DataFrame({"a": [1.5, 2.5, 7, 8, 12], "c": list("zzxxy")})
HAND_SYNTHETIC = pd.DataFrame({"a": [1.0, 2, 2, 3, 9], "c": list("xywwx")})


def evaluate(tables, *settings, **named):
    train, holdout, synthetic = tables
    return SinglingOutRisk(*settings, **named).fit(train, holdout).evaluate(synthetic)


def counts(result, rate="attack"):
    return result.details[rate]["n_success"], result.details[rate]["n"]


def test_hand_example():
    """Among a==1, a==3, a==9, a<=1, a>=9, c==y, four isolate a training row (a==1, a==3, a<=1,
    c==y) and two a holdout row (a>=9, c==y)."""
    tables = HAND_TRAIN, HAND_HOLDOUT, HAND_SYNTHETIC
    found = evaluate(tables, "univariate", distinct_rows=False)
    assert counts(found) == (4.0, 6.0)
    assert counts(found, "control") == (2.0, 6.0)
    assert found.details["unshrunk"] == pytest.approx((4 / 6 - 2 / 6) / (1 - 2 / 6))
    assert 0.0 < found.baseline < 0.5  # chance alone, of a risk that is not negative
    assert found.contrast.observed == pytest.approx(4 / 6)
    assert found.contrast.expected == pytest.approx(2 / 6)
    assert set(found.details["columns"]) == {"a", "c"}
    assert found.details["columns"]["c"]["n"] == 1
    distinct = evaluate(tables, "univariate")
    assert counts(distinct) == (3.0, 4.0)


def test_denominator_is_what_was_tried():
    """Six predicates exist, however many are asked for."""
    tables = HAND_TRAIN, HAND_HOLDOUT, HAND_SYNTHETIC
    found = evaluate(tables, "univariate", distinct_rows=False, n_attacks=100)
    assert counts(found)[1] == 6.0
    assert counts(found, "baseline")[1] == 100.0


def test_duplicates_are_dropped():
    twice = [pd.concat([t, t]) for t in (HAND_TRAIN, HAND_HOLDOUT, HAND_SYNTHETIC)]
    found = evaluate(twice, "univariate", distinct_rows=False)
    assert counts(found) == (4.0, 6.0)


@pytest.mark.parametrize("mode", MODES)
def test_copies_of_train_are_singled_out(mode):
    found = evaluate((TRAIN, HOLDOUT, TRAIN), mode)
    assert found.details["attack"]["n_success"] == found.details["attack"]["n"]
    assert found.details["unshrunk"] == 1.0
    assert found.value > 0.9
    assert found.p_value == 0.0001
    assert found.contrast.supports_leak
    assert found.advice.startswith("Drop, pool or coarsen ")
    assert not found.details["weak_attack"]


@pytest.mark.parametrize("mode", MODES)
def test_fresh_rows_are_at_the_null(mode):
    found = evaluate((TRAIN, HOLDOUT, SYNTHETIC), mode)
    assert found.interval[0] == 0.0
    assert found.advice == ""
    assert found.p_value > 0.025


@pytest.mark.parametrize("mode", MODES)
def test_copies_of_the_holdout_are_no_risk(mode):
    found = evaluate((TRAIN, HOLDOUT, HOLDOUT.iloc[:150]), mode)
    assert found.value == 0.0
    assert found.p_value > 0.99
    assert found.details["raw"] < 0 if mode == "univariate" else True


@pytest.mark.slow
def test_every_control_succeeds():
    with warns(DegenerateInputWarning):
        found = evaluate((TRAIN, HOLDOUT, HOLDOUT))
    assert np.isnan(found.value)
    # The number of tests must depend on the sizes of the tables and not on their values. Without a
    # p-value here, the family of tests would depend on the values and lose its level.
    assert found.p_value == 1.0
    assert found.contrast is None


def test_unequal_sizes_make_no_risk():
    """Predicates of 200 synthetic rows isolate more in 100 holdout than in 800 training rows."""
    real = make_mixed(1100, random_state=5)
    tables = real.iloc[:800], real.iloc[800:900], real.iloc[900:]
    uncorrected = evaluate(tables, size_correction="none", n_cols=2)
    corrected = evaluate(tables, n_cols=2)
    fitted = evaluate(tables, size_correction="fit", n_cols=2)
    shares = {
        name: (found.details["attack"]["n_success"], found.details["control"]["n_success"])
        for name, found in (("none", uncorrected), ("subsample", corrected), ("fit", fitted))
    }
    assert abs(np.subtract(*shares["none"])) > 3 * abs(np.subtract(*shares["subsample"]))
    assert shares["fit"][0] == shares["none"][0]
    assert fitted.details["size_factor"] != 1.0
    assert uncorrected.details["size_factor"] == corrected.details["size_factor"] == 1.0
    assert corrected.details["n_rows_compared"] == 100
    assert corrected.p_value > 0.025


@pytest.mark.slow
def test_samples_of_the_larger_table_are_averaged():
    """Exactly: the mean over random samples of train comes to the same count."""
    real = make_mixed(260, random_state=7)
    train, holdout, synthetic = real.iloc[:120], real.iloc[120:160], real.iloc[160:]
    expected = evaluate((train, holdout, synthetic), "univariate").details["attack"]["n_success"]
    drawn = [
        evaluate((train.sample(40, random_state=seed), holdout, synthetic), "univariate").details[
            "attack"
        ]["n_success"]
        for seed in range(24)
    ]
    assert np.mean(drawn) == pytest.approx(expected, abs=4 * np.std(drawn) / 24**0.5)


def test_names_dates_and_missing_values():
    def made(seed):
        table = make_mixed(150, random_state=seed)
        table["joined"] = table["joined"].where(np.arange(150) % 7 > 0)
        return table.set_axis(['a "b"', "c'd", "x + y", "datetime", "class", "é", "  "], axis=1)

    for mode in MODES:
        found = evaluate([made(seed) for seed in range(3)], mode)
        assert 0 <= found.value <= 1


def test_a_missing_value_can_be_claimed():
    """One synthetic row and one train row lack their age."""
    numbers = np.repeat(np.arange(20.0), 2)
    train = pd.DataFrame({"x": np.append(numbers, np.nan)})
    holdout = pd.DataFrame({"x": np.append(numbers, 3.0)})
    found = evaluate((train, holdout, train), "univariate")
    assert counts(found)[0] >= 1


def test_one_column_and_one_row():
    one = [table[["income"]] for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    assert 0 <= evaluate(one, "univariate", n_cols=3).value <= 1
    single = evaluate((TRAIN, HOLDOUT, SYNTHETIC.iloc[:1]), "univariate")
    assert counts(single)[1] == 1.0


def test_the_columns_that_leak_are_named():
    """One column has the training values, the other columns have new values."""
    released = SYNTHETIC.assign(income=TRAIN["income"].to_numpy())
    found = evaluate((TRAIN, HOLDOUT, released), "univariate")
    assert found.advice == "Drop, pool or coarsen income: its values single out train rows."
    first = next(iter(found.details["columns"]))
    assert (first, found.details["columns"][first]["p_value"]) == ("income", 0.001)
    assert found.details["columns"]["age"]["p_value"] > 0.05
    assert not any(f" {level}" in found.summary for level in ("low", "medium", "high"))


def test_rates_in_sentences_are_counts_over_trials():
    found = evaluate((TRAIN, HOLDOUT, SYNTHETIC), "univariate")
    n_success, n = counts(found)
    assert f"{percent(n_success / n)} single out a train row" in found.summary
    assert found.details["attack"]["rate"] != n_success / n  # Wilson's centre, for the risk


def test_nothing_is_rare():
    flat = pd.DataFrame({"x": np.repeat(["a", "b"], 20), "y": ["c"] * 40})
    doubled = pd.DataFrame({"x": ["a", "b"] * 2, "y": ["c", "c", "d", "d"]})
    with warns(DegenerateInputWarning):
        found = evaluate((flat.assign(y=list("cd") * 20), flat, doubled), "univariate")
    assert np.isnan(found.value)


def test_only_texts():
    words = [f"a long text without any number {i} " * 3 for i in range(60)]
    table = pd.DataFrame({"note": words})
    with warns(DegenerateInputWarning):
        found = SinglingOutRisk().fit(table, table[::-1], schema={"note": "text"}).evaluate(table)
    assert np.isnan(found.value)


def test_columns_are_chosen():
    few = evaluate((TRAIN, HOLDOUT, TRAIN), columns=["age", "city"])
    alone = evaluate([table[["age", "city"]] for table in (TRAIN, HOLDOUT, TRAIN)])
    assert few.value == alone.value


@pytest.mark.slow
def test_seeds_and_labels():
    tables = TRAIN, HOLDOUT, SYNTHETIC
    assert evaluate(tables).details == evaluate(tables).details
    other = evaluate(tables, random_state=1, n_attacks=50)
    assert other.details != evaluate(tables, n_attacks=50).details


def test_katz():
    found = evaluate((TRAIN, HOLDOUT, TRAIN), ci_method="katz")
    assert found.value == 1.0 == found.interval[1]
    assert found.interval[0] < 1.0


def null_attacks(n_seeds, mode, distinct):
    """Attacks on tables of one distribution that know nothing of each other."""
    for seed in range(n_seeds):
        rng = np.random.default_rng(1000 + seed)
        real = pd.DataFrame(rng.normal(size=(800, 5)).round(1), columns=list("abcde"))
        context = Context.of(real.iloc[:300], real.iloc[300:600])
        context = context.with_synthetic(real.iloc[600:])
        yield singling_out(context, mode, 500, 3, distinct=distinct, seed=seed)


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("mode", "distinct"), [(MODES[0], True), (MODES[1], True), (MODES[1], False)]
)
def test_interval_covers_the_null(mode, distinct):
    """Predicates share rows: without the spread, the last setting covers 0 in 85%."""
    attacks = list(null_attacks(200, mode, distinct))
    risks = [attack.risk(Measure()) for attack in attacks]
    halves = [
        (attack.risk(Measure()).interval[1] - max(risk.raw, 0.0))
        for attack, risk in zip(attacks, risks, strict=True)
    ]
    assert np.mean([risk.interval[0] == 0.0 for risk in risks]) >= 0.93
    assert np.mean([attack.evidence.p_value < 0.05 for attack in attacks]) <= 0.09
    assert np.mean([attack.evidence.spread for attack in attacks]) > (1.2 if not distinct else 1.0)
    assert min(halves) >= 0.0
