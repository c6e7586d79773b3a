from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from skeval import Context, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy import DisclosureProtection, DisclosureProtectionEstimate
from skeval.stats.intervals import newcombe, wilson
from skeval.stats.permutation_tests import share_p_value
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

METHODS = ("cap", "zero_cap", "generalized_cap", "tcap", "disco")
TRAIN = pd.DataFrame({"k": list("aabc"), "s": list("xyxz")})
RELEASE = pd.DataFrame({"k": list("aaab"), "s": list("xxyy")})
PAIRS = pd.DataFrame({"k1": list("aabc"), "k2": list("pqpq"), "s": list("xyxz")})
PAIRS_RELEASE = pd.DataFrame({"k1": list("aab"), "k2": list("pqq"), "s": list("xxy")})
KNOWN = ["age", "city", "member"]


def evaluate(train, synthetic, known=("k",), sensitive="s", method="cap", **settings):
    holdout = settings.pop("holdout", None)
    metric = DisclosureProtection(list(known), sensitive, method, **settings)
    # tables of few values share rows, which fit would warn of
    return metric.fit_context(Context.of(train, holdout)).evaluate(synthetic)


@pytest.mark.slow
def test_contract():
    check_metric(DisclosureProtection(KNOWN, ["plan", "visits"], "tcap", tau=0.6))


@pytest.mark.calibration
@pytest.mark.parametrize("kind", [DisclosureProtection, DisclosureProtectionEstimate])
@pytest.mark.parametrize("method", METHODS)
def test_contract_of_methods(kind, method):
    fewer = {"check_half_the_rows": "half the synthetic rows have far fewer of the keys"}
    check_metric(
        kind(KNOWN, "plan", method), expected_failures=fewer if method == "zero_cap" else None
    )


# ------------------------------------------------------------------------------- values by hand


@pytest.mark.parametrize(
    ("method", "protection"),
    [("cap", 2 / 3), ("zero_cap", 3 / 4), ("generalized_cap", 3 / 4), ("tcap", 1.0)],
)
def test_one_column(method, protection):
    result = evaluate(TRAIN, RELEASE, method=method)
    assert result.details["protection"] == pytest.approx(protection)
    assert result.details["guess"] == pytest.approx(2 / 3)
    assert result.value == 1.0
    assert evaluate(TRAIN, RELEASE, method=method, normalize=False).value == pytest.approx(
        protection
    )


@pytest.mark.parametrize(
    ("method", "protection", "value"),
    [("cap", 0.5, 0.75), ("zero_cap", 0.75, 1.0), ("generalized_cap", 0.625, 0.9375)],
)
def test_two_columns(method, protection, value):
    result = evaluate(PAIRS, PAIRS_RELEASE, ("k1", "k2"), method=method)
    assert result.details["protection"] == pytest.approx(protection)
    assert result.value == pytest.approx(value)


def test_tcap():
    sure = evaluate(TRAIN, RELEASE, method="tcap")
    assert (sure.details["risk"], sure.details["n_rows"]) == (0.0, 1)
    assert sure.details["targeted"] == 0.25
    likely = evaluate(TRAIN, RELEASE, method="tcap", tau=0.6)
    assert likely.details["risk"] == pytest.approx(1 / 3)
    assert likely.details["over_synthetic"] == pytest.approx(1 / 3)
    assert likely.value == 1.0
    assert likely.details["n_rows"] == 3


def test_disco():
    assert evaluate(TRAIN, RELEASE, method="disco").details["risk"] == 0.0
    told = evaluate(TRAIN, RELEASE.assign(s=list("xxyx")), method="disco")
    assert told.details["risk"] == 0.25
    assert told.value == 0.75  # a share of rows is held against no guess


def test_guesses():
    skewed = pd.DataFrame({"k": list("abcd"), "s": list("xxxy")})
    release = pd.DataFrame({"k": list("abcd"), "s": list("xyyx")})  # right of one in four
    actual = {
        guess: evaluate(skewed, release, baseline=guess).details["guess"]
        for guess in ("uniform", "marginal", "mode")
    }
    assert actual == {"uniform": 0.5, "marginal": pytest.approx(0.375), "mode": 0.25}
    copy = {guess: evaluate(skewed, skewed, baseline=guess).value for guess in actual}
    assert copy == dict.fromkeys(actual, 0.0)


def test_interval_is_that_of_a_mean_over_train_rows():
    result = evaluate(TRAIN, RELEASE.assign(s=list("xxyx")), method="disco")
    low, high = wilson(1, 4)
    assert result.interval == pytest.approx((1 - high, 1 - low))
    assert result.p_value is None
    assert result.baseline is None


def test_several_secrets_must_all_be_right():
    both = evaluate(
        TRAIN.assign(t=list("uuvv")), RELEASE.assign(t=list("uvuv")), sensitive=["s", "t"]
    )
    # a, x, u: one row of three; a, y, u: one; b, x, v: none
    assert both.details["risk"] == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)
    assert both.details["guess"] == pytest.approx(1 - 1 / 6)


# ------------------------------------------------------------------------------ with a holdout


def test_leak_of_shares():
    """Scores of 0 and 1 have Newcombe's interval and Fisher's test."""
    train = pd.DataFrame({"k": list("aaaabbbb"), "s": list("xxxxyyyx")})
    holdout = pd.DataFrame({"k": list("aabb"), "s": list("xyxx")})
    release = pd.DataFrame({"k": list("ab"), "s": list("xy")})
    for method in ("cap", "tcap", "disco"):
        result = evaluate(train, release, method=method, holdout=holdout, normalize=False)
        assert result.details["risk"] == 7 / 8
        assert result.details["risk_holdout"] == 1 / 4
        assert result.details["leak"] == 5 / 8
        assert result.details["leak_interval"] == pytest.approx(newcombe(7, 8, 1, 4))
        assert result.p_value == pytest.approx(share_p_value(7, 8, 1, 4))
        assert result.baseline == 0.75


@pytest.mark.slow
def test_a_copy_leaks_and_fresh_rows_do_not():
    tables = [make_mixed(400, random_state=seed) for seed in range(3)]
    for method in METHODS:
        copy = evaluate(
            tables[0], tables[0], ["age", "income", "joined"], "city", method, holdout=tables[1]
        )
        fresh = evaluate(
            tables[0], tables[2], ["age", "income", "joined"], "city", method, holdout=tables[1]
        )
        assert copy.p_value < 0.01, method
        assert copy.details["leak_interval"][0] > 0, method
        assert copy.value < copy.baseline
        assert fresh.p_value > 0.05, method
        low, high = fresh.details["leak_interval"]
        assert low < 0 < high, method


def test_the_bins_are_those_of_all_real_rows():
    train = pd.DataFrame({"k": [0.0, 1.0, 2.0, 3.0], "s": list("xxyy")})
    holdout = pd.DataFrame({"k": [40.0, 20.0], "s": list("xy")})
    result = evaluate(train, train, n_bins=2, holdout=holdout, normalize=False)
    assert result.details["risk"] == 0.5  # one bin up to 20
    assert result.details["matched_holdout"] == 0.5
    swapped = evaluate(holdout, train, n_bins=2, holdout=train, normalize=False)
    assert swapped.details["risk_holdout"] == 0.5
    assert evaluate(train, train, n_bins=2, normalize=False).details["risk"] == 1.0


def test_no_baseline_where_no_holdout_row_is_found():
    holdout = pd.DataFrame({"k": list("de"), "s": list("xy")})
    result = evaluate(TRAIN, RELEASE, holdout=holdout)
    assert result.baseline is None
    assert result.p_value is None
    assert result.value == 1.0
    assert np.isnan(result.details["leak"])


# ---------------------------------------------------------------------------------- odd tables


def test_missing_is_a_value():
    train = pd.DataFrame({"k": ["a", None, "b", None], "s": [None, "x", "x", None]})
    release = pd.DataFrame({"k": [None, None, "a", "b"], "s": ["x", None, None, "y"]})
    result = evaluate(train, release, normalize=False)
    assert result.details["risk"] == pytest.approx((1 + 0.5 + 0 + 0.5) / 4)
    numbers = train.assign(k=[1.0, np.nan, 2.0, np.nan])
    told = release.assign(k=[np.nan, np.nan, 1.0, 2.0])
    assert evaluate(numbers, told, normalize=False).value == pytest.approx(result.value)


def test_names_are_only_names():
    names = {"k": "date of 'birth' \"(day)\", [%]", "s": "a\nb; ü$"}
    renamed = [table.rename(columns=names) for table in (TRAIN, RELEASE)]
    result = evaluate(*renamed, [names["k"]], names["s"], normalize=False)
    assert result.value == pytest.approx(2 / 3)


def test_dates_are_cut():
    days = pd.date_range("2020-01-01", periods=100, freq="D")
    train = pd.DataFrame({"k": days, "s": np.repeat(list("vwxyz"), 20)})
    result = evaluate(train, train, n_bins=5, normalize=False)
    assert result.details["risk"] == pytest.approx(1.0, abs=0.02)
    each = evaluate(train, train, continuous=[], normalize=False)
    assert each.value == 0.0
    later = evaluate(train, train.assign(k=days + pd.Timedelta("900D")), n_bins=5)
    assert later.details["matched"] == pytest.approx(0.2)  # the last bin has no end


def test_edges_are_closed_on_the_right():
    train = pd.DataFrame({"k": [0.0, 5.0, 10.0], "s": list("xyz")})
    release = pd.DataFrame({"k": [5.0, 5.1, -99.0], "s": list("yzx")})
    result = evaluate(train, release, n_bins=2, normalize=False)
    assert result.details["risk"] == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_a_constant_number_has_three_bins():
    train = pd.DataFrame({"k": [3.0, 3.0], "s": list("xy")})
    release = pd.DataFrame({"k": [3.0, 2.9, 3.1], "s": list("xyy")})
    assert evaluate(train, release, normalize=False).details["risk"] == 0.5


def test_numbers_that_are_not_cut_are_categories():
    train = pd.DataFrame({"k": [0.1 + 0.2, 1.0], "s": list("xy")})
    release = pd.DataFrame({"k": [0.3, 2.0], "s": list("xy")})
    result = evaluate(train, release, method="zero_cap", continuous=[], normalize=False)
    assert result.details["matched"] == 0.5
    assert result.value == 0.5


def test_a_secret_that_the_release_lacks():
    result = evaluate(TRAIN, RELEASE.assign(s="new"))
    assert result.value == 1.0
    assert result.details["risk"] == 0.0


def test_nobody_is_found():
    with warns(DegenerateInputWarning):
        result = evaluate(TRAIN, RELEASE.assign(k="new"))
    assert np.isnan(result.value)
    assert evaluate(TRAIN, RELEASE.assign(k="new"), method="zero_cap").value == 1.0
    with warns(DegenerateInputWarning):
        evaluate(TRAIN, pd.concat([RELEASE, RELEASE.assign(s="z")]), method="tcap")


def test_one_secret_value():
    constant = TRAIN.assign(s="x")
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluate(constant, constant).value)
    assert evaluate(constant, constant, normalize=False).value == 0.0
    assert evaluate(constant, constant, method="disco").value == 0.0


@pytest.mark.parametrize("kind", [DisclosureProtection, DisclosureProtectionEstimate])
def test_refusals(kind):
    with raises(InvalidParameterError):
        kind(["k", "s"], "s").fit(TRAIN)
    with raises(InvalidParameterError):
        kind(["zip", "k", "street"], ["s"]).fit(TRAIN)
    with raises(InvalidParameterError):
        kind(["k"], "s").fit(TRAIN[["k"]])
    with raises(InvalidParameterError):
        kind(["k"], "k").fit(TRAIN[["k"]])
    with raises(InvalidParameterError):
        kind(["k"], "s", continuous=["k"]).fit(TRAIN)
    with raises(InvalidParameterError):
        kind("k", "s").fit(TRAIN)


# ------------------------------------------------------------------------------------ estimate


def test_only_samples_are_drawn_by_number():
    whole = DisclosureProtection(["key"], "secret")
    assert not hasattr(whole, "num_rows")
    assert not hasattr(whole, "num_iterations")
    estimated = DisclosureProtectionEstimate(["key"], "secret")
    added = set(estimated.get_params()) - set(whole.get_params())
    assert added == {"num_rows", "num_iterations"}


def estimate(train, synthetic, holdout=None, method="cap", **settings):
    metric = DisclosureProtectionEstimate(["age", "city"], "plan", method, **settings)
    return metric.fit(train, holdout).evaluate(synthetic)


@pytest.mark.parametrize("method", METHODS)
def test_all_rows_drawn(method):
    train, holdout, synthetic = (make_mixed(150, random_state=seed) for seed in range(3))
    whole = evaluate(train, synthetic, ["age", "city"], "plan", method, holdout=holdout)
    assert estimate(train, synthetic, holdout, method).to_dict() == {
        **whole.to_dict(),
        "metric": "DisclosureProtectionEstimate",
        "seconds": pytest.approx(0, abs=60),
    }


def test_estimate_of_samples():
    train, synthetic = (make_mixed(3000, random_state=seed) for seed in range(2))
    whole = evaluate(train, synthetic, ["age", "city"], "plan", "generalized_cap")
    result = estimate(train, synthetic, None, "generalized_cap", num_rows=500)
    assert result.value == pytest.approx(whole.value, abs=0.03)
    assert result.interval[0] < whole.value < result.interval[1]
    assert whole.details["standard_error"] < result.details["standard_error"] < 0.02
    assert result.value == estimate(train, synthetic, None, "generalized_cap", num_rows=500).value
    others = {"num_rows": 500, "random_state": 1}
    assert result.value != estimate(train, synthetic, None, "generalized_cap", **others).value
    one = estimate(train, synthetic, None, "generalized_cap", num_rows=500, num_iterations=1)
    assert one.details["n_rows"] == 500


def test_estimate_finds_a_copy():
    train, holdout = (make_mixed(1000, random_state=seed) for seed in range(2))
    result = estimate(train, train, holdout, "zero_cap", num_rows=300, n_bins=200)
    assert result.p_value < 0.025
    assert result.value < result.baseline


# ------------------------------------------------------------------------------------ honesty


@cache
def fresh_tables(seed):
    sizes = enumerate((200, 150, 300))
    return [make_mixed(size, random_state=3 * seed + i) for i, size in sizes]


HONEST = {"covered": Claim(0.95, 0.92, 0.985), "alarm": Claim(0.05, high=0.05 + 0.046)}


@pytest.mark.calibration
@pytest.mark.parametrize("method", METHODS)
def test_releases_that_owe_nothing_to_train(method):
    def outcome(seed):
        tables = fresh_tables(seed)
        result = evaluate(
            tables[0],
            tables[2],
            ["age", "income", "city"],
            "plan",
            method,
            holdout=tables[1],
            tau=0.6,
        )
        low, high = result.details["leak_interval"]
        return {"covered": low <= 0 <= high, "alarm": result.p_value < 0.05}

    found = rates_of(map(outcome, range(200)), HONEST)
    assert all_hold(found), found


@pytest.mark.slow
def test_estimates_are_honest_too():
    def outcome(seed):
        tables = [make_mixed(300, random_state=3 * seed + i) for i in range(3)]
        result = estimate(tables[0], tables[2], tables[1], num_rows=100, n_permutations=199)
        low, high = result.details["leak_interval"]
        return {"covered": low <= 0 <= high, "alarm": result.p_value < 0.05}

    found = rates_of(map(outcome, range(200)), HONEST)
    assert all_hold(found), found
