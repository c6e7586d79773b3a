"""Properties of every screen: null and worst values, rows that are doubled, swapped tables."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest

import skeval.privacy
from skeval import MetricSuite, SuiteResult
from skeval.core.catalogue import metrics_of_package

SCREENS = [
    name
    for name, metric in metrics_of_package("skeval.privacy").items()
    if metric.tags.evidence == "screen"
]
# what equal rows among the synthetic ones, or as many more of them, change by definition
OF_SYNTHETIC_SIZE = {"NNAAPrivacyLoss", "PrivacyScore", "MinimumDistanceAccumulation"}
# a percentile of twice the rows may be a neighbouring order statistic
OF_ORDER = {"DCRPercentile", "NNDR"}
# train and holdout rows trade places in them
CONTRASTS = {"DCRShare", "NNAAPrivacyLoss"}


def table(seed, n=250):
    """Correlated numbers, one of them with gaps, and a category."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 1))
    numbers = pd.DataFrame(hidden + 0.6 * rng.normal(size=(n, 4)), columns=list("abcd"))
    numbers.loc[rng.random(n) < 0.05, "a"] = np.nan
    return numbers.assign(kind=np.where(hidden[:, 0] + rng.normal(size=n) > 0, "x", "y"))


TRAIN, HOLDOUT, FRESH = (table(seed) for seed in range(3))


@pytest.fixture(scope="module")
def suite():
    metrics = [(name, getattr(skeval.privacy, name)()) for name in SCREENS]
    return MetricSuite(metrics, check_holdout=False).fit(TRAIN, HOLDOUT)


@pytest.fixture(scope="module")
def results(suite):
    tables = {"fresh": FRESH, "copy": TRAIN, "holdout": HOLDOUT, "doubled": pd.concat([FRESH] * 2)}
    return {name: suite.evaluate(rows) for name, rows in tables.items()}


NULL_AND_WORST = {
    "Authenticity": (None, 0.0),
    "DCRBaselineProtection": (None, 0.0),
    "DCROverfittingProtection": (0.97, 0.0),
    "DCRPercentile": (None, 0.0),
    "DCRShare": (0.5, 1.0),
    "EpsilonIdentifiability": (0.5, 1.0),
    "ExactMatchShare": (0.0, 1.0),
    "HittingRate": (None, 1.0),
    "HoldoutDistanceRatio": (1.0, 0.0),
    "IdenticalMatchShare": (0.0, 1.0),
    "MinimumDistanceAccumulation": (None, 1.0),
    "NNAAPrivacyLoss": (0.0, None),
    "NNDR": (None, 0.0),
    "NearDuplicateShare": (0.01, 1.0),
    "NewRowShare": (1.0, 0.0),
    "PrivacyScore": (95.0, None),
}


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("name", SCREENS)
def test_null_and_worst_values(results, name):
    fresh, copy = results["fresh"][name], results["copy"][name]
    null, worst = NULL_AND_WORST[name]
    if null is not None:
        scale = 100.0 if name == "PrivacyScore" else 1.0
        assert fresh.value == pytest.approx(null, abs=0.12 * scale)
    assert fresh.value == pytest.approx(fresh.baseline, rel=0.35, abs=0.1)
    if worst is not None:
        assert copy.value == worst
    assert -copy.value * copy.tags.sign > -copy.baseline * copy.tags.sign
    for result, leaks in ((fresh, False), (copy, True)):
        if result.p_value is not None:
            assert (result.p_value < 0.025) == leaks


def test_worst_values_that_follow_from_others(results):
    score = results["copy"]["PrivacyScore"]
    assert score.value == pytest.approx(100.0 * score.details["p_real"])
    loss = results["copy"]["NNAAPrivacyLoss"]
    assert loss.details["on_train"] == 0.0
    assert loss.value == loss.details["on_holdout"]


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("name", sorted(set(SCREENS) - OF_SYNTHETIC_SIZE))
def test_doubled_rows_are_no_more_evidence(results, name):
    once, twice = results["fresh"][name], results["doubled"][name]
    loose = 0.1 if name in OF_ORDER or name == "DCRBaselineProtection" else 1e-9
    assert twice.value == pytest.approx(once.value, rel=loose)
    for key in ("null_standard_error", "standard_error"):
        # that of a ratio of medians is over fresh rows of the generator, train being given
        if (
            key in once.details and name != "DCRBaselineProtection"
        ):  # a binomial one would fall by the root of two
            assert twice.details[key] == pytest.approx(once.details[key])
    if once.p_value is not None and name not in OF_ORDER:
        assert twice.p_value == pytest.approx(once.p_value)


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("name", SCREENS)
def test_the_holdout_itself_is_the_mildest_of_tables(results, name):
    result = results["holdout"][name]
    assert result.p_value is None or result.p_value > 0.2


@pytest.mark.parametrize("name", sorted(CONTRASTS))
def test_swapped_tables_swap_the_contrast(results, name):
    metric = getattr(skeval.privacy, name)()
    swapped = metric.fit(HOLDOUT, TRAIN).evaluate(FRESH)
    assert swapped.value - swapped.baseline == pytest.approx(
        results["fresh"][name].baseline - results["fresh"][name].value
    )


# ------------------------------------------------------------------------- sentences of a test

# metrics for which a low value indicates a leak
LOW = {"DCRBaselineProtection", "DCRPercentile", "HoldoutDistanceRatio", "NNAAPrivacyLoss", "NNDR"}
# each made the test of the other, and counts once
ONE_TEST = [
    ("DCRShare", "DCROverfittingProtection"),
    ("HoldoutDistanceRatio", "DCRBaselineProtection"),
    ("ExactMatchShare", "NewRowShare"),
]
PAIR = re.compile(r": ([\d.,]+)%?, [^,;]*? ([\d.,]+)%? \(\w+\)")


def alone(results, name):
    return SuiteResult({name: results[name]}, sizes=results.sizes).verdict()


@pytest.fixture(scope="module")
def leaky(suite):
    """Two rows in five are copies of train rows."""
    return suite.evaluate(pd.concat([TRAIN[:100], FRESH[100:]], ignore_index=True))


@pytest.mark.parametrize("name", SCREENS)
def test_an_alarm_quotes_two_numbers_that_lie_as_it_says(leaky, name):
    result, verdict = leaky[name], alone(leaky, name)
    assert verdict.alarm
    assert result.contrast.supports_leak
    assert f"Leak found by the only test: {result.contrast} ({name})" in verdict.sentence
    observed, expected = (float(x.replace(",", "")) for x in PAIR.search(verdict.sentence).groups())
    assert (observed < expected) == (name in LOW)
    assert observed != expected
    assert result.contrast.high_leaks == (name not in LOW)


@pytest.mark.parametrize("name", SCREENS)
def test_without_a_leak_both_numbers_are_alike(results, name):
    shown = results["fresh"][name].contrast
    assert not alone(results["fresh"], name).alarm
    if shown.share:
        assert shown.observed == pytest.approx(shown.expected, abs=0.1)
    else:
        assert shown.observed == pytest.approx(shown.expected, rel=0.3)


@pytest.mark.parametrize(("first", "second"), ONE_TEST)
def test_what_is_one_test_counts_once(results, leaky, first, second):
    for evaluated in (leaky, results["fresh"], results["copy"]):
        pair = SuiteResult({n: evaluated[n] for n in (first, second)}, sizes=evaluated.sizes)
        assert pair.verdict().n_tests == 1
        assert evaluated[first].contrast.comparison_key == evaluated[second].contrast.comparison_key


def test_what_is_one_test_counts_once_in_tables_of_unequal_size():
    unequal = MetricSuite(
        [(name, getattr(skeval.privacy, name)()) for pair in ONE_TEST for name in pair],
        check_holdout=False,
    ).fit(TRAIN, HOLDOUT[:150])
    verdict = unequal.evaluate(pd.concat([TRAIN[:9], TRAIN[:9], FRESH])).verdict()
    assert verdict.n_tests == 3


def test_copies_are_a_fact_and_are_to_be_dropped(leaky):
    verdict = leaky.verdict()
    assert verdict.facts[0] == (
        "100 of 250 synthetic rows are complete copies of training rows, and all of them copy a "
        "row that is unique in the training data. No synthetic row matches a holdout row."
    )
    assert verdict.advice[0] == "Drop the copied rows."  # without them nothing stands out
    assert verdict.sentence.count("larger leaves, or stronger regularization or noise.") == 1
    assert "Most exposed" not in verdict.sentence  # they are copied from everywhere
    assert not re.search(r"\b(low|medium)\b", verdict.sentence)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_says_what_it_tested(leaky, name):
    shown = leaky[name].contrast
    assert f"{shown.reference} {shown.numbers_in_words[1]}." in leaky[name].summary


@pytest.mark.parametrize(
    ("name", "by_position"),
    [
        ("DCRPercentile", ["q", "baseline"]),
        ("NNDR", ["q", "convention", "query"]),
        ("PrivacyScore", ["q", "risk_confidence"]),
        ("MinimumDistanceAccumulation", ["threshold", "direction", "scale"]),
        ("ExactMatchShare", ["columns", "decimals", "count"]),
        ("IdenticalMatchShare", ["columns", "decimals", "count"]),
        ("NearDuplicateShare", ["tau", "space"]),
        ("HittingRate", ["tau"]),
        ("NewRowShare", ["numerical_match_tolerance", "tolerance_kind"]),
        ("KAnonymity", ["quasi_identifiers"]),
        ("LDiversity", ["quasi_identifiers", "sensitive"]),
        ("TCloseness", ["quasi_identifiers", "sensitive"]),
        ("KMap", ["quasi_identifiers"]),
        ("DeltaPresence", ["quasi_identifiers"]),
        ("ReplicatedUniques", ["quasi_identifiers"]),
    ],
)
def test_a_base_moves_no_parameter_to_another_position(name, by_position):
    parameters = inspect.signature(getattr(skeval.privacy, name)).parameters.values()
    assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == by_position
