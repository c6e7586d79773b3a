"""Where a leak lies: columns and groups of rows that were copied, and none where nothing was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite, make_suite
from skeval.datasets import make_mixed
from skeval.privacy import MembershipInference
from skeval.results.verdict import DROP_COPIES, REFIT
from skeval.steps.leak_advice import (
    NEW_VALUES,
    advice_on_leak,
    exposed_columns,
    exposed_group,
    outlyingness,
)
from skeval.steps.single_values import unchanged_values

TRAIN, HOLDOUT, FRESH = (make_mixed(300, random_state=seed) for seed in range(3))


def context_of(released):
    return Context.of(TRAIN, HOLDOUT).with_synthetic(released)


def test_the_columns_that_were_copied_are_named():
    """Each in an order of its own: no row is nearer, only values are."""
    order = np.random.default_rng(0).permutation(300)
    released = FRESH.assign(income=TRAIN["income"].to_numpy()[order])
    assert exposed_columns(context_of(released)) == ["income"]
    assert exposed_columns(context_of(released), ("age", "visits", "city")) == []


def test_the_columns_are_in_the_details_if_a_test_is_significant():
    released = FRESH.assign(income=TRAIN["income"].to_numpy())
    metric = MembershipInference(attack="distance", columns=["income"]).fit(TRAIN, HOLDOUT)
    assert metric.evaluate(released, advise=True).details["exposed_columns"] == ["income"]
    assert "exposed_columns" not in metric.evaluate(FRESH, advise=True).details


@pytest.mark.slow
def test_rows_that_were_copied_are_named_by_their_group():
    copied = TRAIN[TRAIN["plan"] == "premium"]
    released = pd.concat([copied, FRESH[len(copied) :]], ignore_index=True)
    assert (
        exposed_group(context_of(released)) == f"{len(copied)} training rows where plan is premium"
    )
    assert f"Most exposed are the {len(copied)} training rows" in advice_on_leak(
        context_of(released)
    )


def test_outliers_that_were_copied_are_named():
    rows = (np.arange(len(table)) for table in (TRAIN, HOLDOUT))
    of_train, of_holdout = outlyingness(Context.of(TRAIN, HOLDOUT), "gower", None, *rows)
    least = np.quantile(np.concatenate([of_train, of_holdout]), 0.9)
    copied = TRAIN[of_train > least]
    released = pd.concat([copied, FRESH[len(copied) :]], ignore_index=True)
    group = exposed_group(context_of(released))
    assert (
        group
        == f"{len(copied)} training rows in the 10% of the rows that differ most from other rows"
    )


@pytest.mark.slow
def test_outliers_of_large_tables_are_found_in_a_sample():
    train, holdout, fresh = np.random.default_rng(0).normal(size=(3, 110_000, 2))
    far = np.abs(train).max(axis=1) > 1.95  # about a tenth of the rows
    released = np.concatenate([train[far], fresh[far.sum() :]])
    tables = [pd.DataFrame(rows, columns=["x", "y"]) for rows in (train, holdout, released)]
    said = exposed_group(Context.of(*tables[:2]).with_synthetic(tables[2]))
    assert said.startswith("about 1")
    assert said.endswith(" training rows in the 10% of the rows that differ most from other rows")


def test_groups_have_ten_rows_of_both_tables_at_least():
    few = TRAIN.assign(plan=["rare"] * 9 + ["usual"] * 291)
    fresh = FRESH.assign(plan="usual")
    released = pd.concat([few[:9], fresh[9:]], ignore_index=True)
    context = Context.of(few, HOLDOUT.assign(plan=["rare"] * 9 + ["usual"] * 291))
    assert "rare" not in exposed_group(context.with_synthetic(released))


@pytest.mark.slow
def test_to_drop_columns_is_advised_only_where_it_would_end_the_leak():
    """Values of one column, two noisy columns by row, and whole rows, which any column shows."""
    order = np.random.default_rng(0).permutation(300)
    values = FRESH.assign(income=TRAIN["income"].to_numpy()[order])
    noise = 1 + 0.001 * np.random.default_rng(0).normal(size=300)
    by_row = FRESH.assign(income=TRAIN["income"] * noise, age=TRAIN["age"], joined=TRAIN["joined"])
    assert advice_on_leak(context_of(values)).startswith(NEW_VALUES)
    said = advice_on_leak(context_of(by_row))
    assert ". Drop " in said or said.startswith(NEW_VALUES)
    assert REFIT not in said
    train, holdout, fresh = np.random.default_rng(1).normal(size=(3, 200, 8))
    copied = np.concatenate([train[:100], fresh[100:]])
    tables = [pd.DataFrame(rows, columns=list("abcdefgh")) for rows in (train, holdout, copied)]
    said = advice_on_leak(Context.of(*tables[:2]).with_synthetic(tables[2]))
    assert said.startswith(REFIT)
    assert ". Without them, most of the difference would remain." in said
    assert "Drop" not in said


@pytest.mark.slow
def test_copied_rows_among_fresh_ones_are_to_be_dropped_and_a_memory_to_be_fitted_again():
    """Exact, then noisy copies of a fifth of the rows; then a release that is nothing else."""
    noise = 1 + 0.001 * np.random.default_rng(0).normal(size=300)
    noisy = TRAIN.assign(income=TRAIN["income"] * noise)
    for copies in (TRAIN, noisy):
        released = pd.concat([copies[:60], FRESH[60:]], ignore_index=True)
        said = make_suite("report").fit(TRAIN, HOLDOUT).evaluate(released).verdict()
        assert "membership" in said.alarms
        assert said.advice[0].startswith(DROP_COPIES)
    assert advice_on_leak(context_of(TRAIN)).startswith(REFIT)


@pytest.mark.parametrize("seed", [2, 3, 4])
@pytest.mark.slow
def test_fresh_rows_expose_nothing(seed):
    context = context_of(make_mixed(300, random_state=seed))
    assert exposed_columns(context) == []
    assert exposed_group(context) == ""
    assert advice_on_leak(context) == f"{REFIT} No single column is more exposed than the others."


def test_constant_and_missing_columns_are_no_obstacle():
    tables = [t.assign(one=1.0, none=np.nan) for t in (TRAIN, HOLDOUT, TRAIN)]
    assert exposed_columns(Context.of(*tables[:2]).with_synthetic(tables[2]))
    assert advice_on_leak(Context.of(TRAIN).with_synthetic(FRESH)) == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_every_alarm_says_what_to_do():
    released = pd.concat([TRAIN[:150], FRESH[150:]], ignore_index=True)
    results = make_suite("privacy", check_holdout=False).fit(TRAIN, HOLDOUT).evaluate(released)
    verdict = results.verdict()
    assert len(verdict.alarms) > 15
    for name in verdict.alarms:
        assert results[name].advice, name
        assert results[name].advice in verdict.sentence


@pytest.mark.slow
def test_values_that_occur_as_they_are_are_to_be_drawn_anew():
    """And not rows: no row of columns in orders of their own is copied."""
    rng = np.random.default_rng(0)
    shuffled = TRAIN.apply(lambda column: column.to_numpy()[rng.permutation(300)])
    said = advice_on_leak(context_of(shuffled))
    assert said.startswith(NEW_VALUES)
    assert REFIT not in said
    assert unchanged_values(context_of(shuffled)) == ["income", "joined"]
    for copied in (TRAIN, pd.concat([TRAIN[:60], FRESH[60:]], ignore_index=True), FRESH):
        assert unchanged_values(context_of(copied)) == []
        assert NEW_VALUES not in advice_on_leak(context_of(copied))


@pytest.mark.slow
def test_a_report_of_values_as_they_are_advises_no_other_training():
    rng = np.random.default_rng(0)
    shuffled = TRAIN.apply(lambda column: column.to_numpy()[rng.permutation(300)])
    suite = MetricSuite([("membership", MembershipInference())]).fit(TRAIN, HOLDOUT)
    advice = " ".join(suite.evaluate(shuffled).verdict().advice)
    assert NEW_VALUES in advice
    assert "less room to memorise" not in advice
