from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu
from threadpoolctl import threadpool_limits

from skeval import Context, MetricSuite, Result, SuiteResult, make_suite, report
from skeval.datasets import make_mixed
from skeval.exceptions import (
    GroupedRowsWarning,
    HoldoutShiftWarning,
    InvalidParameterError,
    SharedRowsWarning,
    UnnoticedShiftWarning,
)
from skeval.fidelity import KSComplement
from skeval.privacy import DCROverfittingProtection, PrivacyScore
from skeval.relational import ForeignKey, RelationalContext, RelationalSchema
from skeval.steps.holdout_shift import (
    HoldoutShift,
    blind_separation,
    column_p_value,
    holdout_shift,
    shift_notices,
)
from tests.calibrations import LEVEL, Claim, all_hold, rates_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))
SHIFTED = HOLDOUT.assign(age=HOLDOUT["age"] + 15)


def suite_of(**settings):
    return MetricSuite(
        [("ks", KSComplement()), ("dcr", DCROverfittingProtection()), ("score", PrivacyScore())],
        **settings,
    )


def test_exchangeable_tables():
    shift = holdout_shift(Context.of(TRAIN, HOLDOUT))
    assert shift == holdout_shift(Context.of(TRAIN, HOLDOUT))
    assert shift.p_value > 0.01
    assert 0.3 < shift.auc < 0.7
    assert (shift.n_train, shift.n_holdout) == (300, 300)


def test_a_shifted_number():
    shift = holdout_shift(Context.of(TRAIN, SHIFTED))
    assert shift.auc > 0.6
    assert shift.p_value < 0.001


def test_a_category_that_changed_with_time():
    rng = np.random.default_rng(0)
    labels = ["card", "cash", "cheque"]
    earlier, later = (
        pd.DataFrame({"x": rng.normal(size=400), "paid": rng.choice(labels, 400, p=p)})
        for p in ([0.4, 0.4, 0.2], [0.7, 0.25, 0.05])
    )
    assert holdout_shift(Context.of(earlier, later)).p_value < 0.01


def test_dates_of_another_period():
    dates = pd.date_range("2024-01-01", periods=200, freq="D")
    x = np.random.default_rng(0).normal(size=200)
    table = pd.DataFrame({"day": dates, "x": x})
    # with a gap between them, so that rows near the border are told apart as well
    first_half, second_half = table.iloc[:95], table.iloc[105:]
    assert holdout_shift(Context.of(first_half, second_half)).auc == 1.0
    assert holdout_shift(Context.of(table.iloc[::2], table.iloc[1::2])).p_value > 0.01


def test_texts_and_ids_are_not_seen():
    tables = [
        pd.DataFrame({"key": [f"{name}{i:05d}" for i in range(200)], "x": rng.normal(size=200)})
        for name, rng in (("a", np.random.default_rng(0)), ("b", np.random.default_rng(1)))
    ]
    seen = holdout_shift(Context.of(*tables, schema={"key": "id"}))
    assert seen == holdout_shift(Context.of(*(table[["x"]] for table in tables)))


@pytest.mark.parametrize(
    "context",
    [Context.of(TRAIN), Context.of(TRAIN, SHIFTED.iloc[:19]), Context.of(TRAIN.iloc[:19], SHIFTED)],
)
def test_nothing_to_look_at(context):
    assert holdout_shift(context) is None


def test_no_column_to_look_at():
    tables = [pd.DataFrame({"key": [f"{name}{i}" for i in range(50)]}) for name in "ab"]
    assert holdout_shift(Context.of(*tables, schema={"key": "id"})) is None


def test_rows_that_stand_in_both_tables_are_no_shift():
    both = pd.concat([TRAIN, HOLDOUT], ignore_index=True)
    assert holdout_shift(Context.of(TRAIN, both)).p_value > 0.01
    assert holdout_shift(Context.of(TRAIN, TRAIN)).p_value > 0.01


def test_of_large_tables_a_part_is_looked_at():
    x = np.random.default_rng(0).normal(size=(24_000, 2))
    tables = [pd.DataFrame(rows, columns=["x", "y"]) for rows in (x[:12_000], x[12_000:])]
    shift = holdout_shift(Context.of(*tables))
    assert (shift.n_train, shift.n_holdout) == (10_000, 10_000)
    assert shift.p_value > 0.01


@pytest.mark.slow
def test_a_suite_looks_once_for_all_metrics_and_tables():
    suite = suite_of().fit(TRAIN, HOLDOUT)
    for rows in (SYNTHETIC, SYNTHETIC.iloc[::-1]):
        assert [type(one) for one in suite.evaluate(rows).notices] == [UnnoticedShiftWarning]
    assert isinstance(holdout_shift(suite.context_), HoldoutShift)
    assert holdout_shift(suite.context_) is holdout_shift(suite.context_)


@pytest.mark.slow
def test_a_suite_warns_once_and_its_results_say_so(tmp_path):
    suite = suite_of()
    with warns(HoldoutShiftWarning) as caught:
        suite.fit(TRAIN, SHIFTED)
    assert len(caught) == 1
    result = suite.evaluate(SYNTHETIC)  # warnings are errors: it is not said again
    assert [type(notice) for notice in result.notices] == [HoldoutShiftWarning]
    assert "AUC 0." in str(result.notices[0])
    result.to_json(tmp_path / "scores.json")
    again = SuiteResult.from_json(tmp_path / "scores.json")
    assert [type(notice) for notice in again.notices] == [HoldoutShiftWarning]
    assert str(again.notices[0]) == str(result.notices[0])


@pytest.mark.slow
def test_the_check_changes_no_value():
    with pytest.warns(HoldoutShiftWarning):
        checked = suite_of().fit(TRAIN, SHIFTED).evaluate(SYNTHETIC)
    unchecked = suite_of(check_holdout=False).fit(TRAIN, SHIFTED).evaluate(SYNTHETIC)
    assert unchecked.notices == ()
    assert {name: r.value for name, r in checked.items()} == {
        name: r.value for name, r in unchecked.items()
    }


def test_it_can_be_turned_off():
    # a warning would be an error
    make_suite("privacy", check_holdout=False).fit(TRAIN, SHIFTED)
    suite = suite_of().set_params(check_holdout=False).fit(TRAIN, SHIFTED)
    DCROverfittingProtection().fit(TRAIN, SHIFTED)
    assert not suite.get_params()["check_holdout"]
    with raises(InvalidParameterError):
        suite_of(check_holdout=2).fit(TRAIN, HOLDOUT)


def test_a_suite_that_contrasts_nothing_does_not_look():
    # a warning would be an error
    MetricSuite([("ks", KSComplement())]).fit(TRAIN, SHIFTED)
    make_suite("privacy").fit(TRAIN)


def test_a_metric_looks_if_asked():
    metric = DCROverfittingProtection()
    with pytest.warns(HoldoutShiftWarning) as caught:
        metric.fit(TRAIN, SHIFTED, check_holdout=True)
    assert len(caught) == 1
    result = metric.evaluate(SYNTHETIC)  # said once, and kept
    assert [type(warning) for warning in result.warnings] == [HoldoutShiftWarning]
    again = Result.from_dict(json.loads(result.to_json()))
    assert [type(warning) for warning in again.warnings] == [HoldoutShiftWarning]
    assert metric.fit(TRAIN, HOLDOUT, check_holdout=True).evaluate(SYNTHETIC).warnings == ()


def test_a_metric_that_needs_no_holdout_may_be_asked_too():
    result = KSComplement().fit(TRAIN, check_holdout=True).evaluate(SYNTHETIC)
    assert result.warnings == ()


def test_results_keep_what_was_said_of_the_real_tables():
    shared = pd.concat([HOLDOUT, TRAIN.iloc[:30]], ignore_index=True)
    metric = DCROverfittingProtection()
    with pytest.warns(SharedRowsWarning):
        metric.fit(TRAIN, shared)
    result = metric.evaluate(SYNTHETIC)
    assert [type(warning) for warning in result.warnings] == [SharedRowsWarning]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", pytest.param("pdf", marks=pytest.mark.slow)])
def test_the_report_says_so(tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    with pytest.warns(HoldoutShiftWarning):
        report(TRAIN, SHIFTED, SYNTHETIC, path, columns=["age"], suite=suite_of())
    if ending == "html":
        text = path.read_text(encoding="utf-8")
    else:
        from pypdf import PdfReader

        text = " ".join(page.extract_text() for page in PdfReader(path).pages)
    assert "Train and holdout are not samples of one population" in " ".join(text.split())


NUMBERS = np.zeros(3, dtype=bool)


def drawn(seed, *sizes):
    """Samples of one law: two numbers, a count with many ties, a category, some values missing."""
    rng = np.random.default_rng(seed)
    samples = []
    for n in sizes:
        rows = np.column_stack(
            [rng.normal(size=(n, 2)), rng.poisson(1.0, n), rng.integers(0, 6, n)]
        )
        rows[rng.random(rows.shape) < 0.05] = np.nan
        samples.append(rows)
    return samples


CATEGORY = np.array([False, False, False, True])


@pytest.mark.slow
def test_size_under_exchangeability():
    p_values = (
        blind_separation(*drawn(seed, *sizes), categorical=CATEGORY, seed=seed)[1]
        for seed in range(200)
        for sizes in ((120, 120), (200, 60))
    )
    claims = {"5%": LEVEL, "1%": Claim(0.01, high=0.025)}
    found = rates_of(({"5%": p < 0.05, "1%": p < 0.01} for p in p_values), claims)
    assert all_hold(found), found


@pytest.mark.calibration
def test_size_where_the_samples_share_most_rows():
    def p_value(seed):
        (pool,) = drawn(seed, 80)
        rng = np.random.default_rng(seed)
        samples = (pool[rng.integers(0, 80, 120)] for _ in range(2))
        return blind_separation(*samples, categorical=CATEGORY, seed=seed)[1]

    claims = {"5%": Claim(0.05, high=0.08), "1%": Claim(0.01, high=0.03)}
    p_values = map(p_value, range(200))
    found = rates_of(({"5%": p < 0.05, "1%": p < 0.01} for p in p_values), claims)
    assert all_hold(found), found


def test_samples_that_have_nothing_in_common():
    first, second = np.zeros((40, 1)), np.ones((60, 1))
    auc, p = blind_separation(first, second, categorical=np.array([True]))
    assert auc == 1.0
    assert p == mannwhitneyu(np.ones(20), np.zeros(30), alternative="greater").pvalue


def test_a_moved_mean():
    first, second = drawn(0, 300, 200)
    second[:, 0] += 1.0
    auc, p = blind_separation(first, second, categorical=CATEGORY)
    assert 0.6 < auc < 0.9
    assert p < 1e-4


def test_only_the_dependence_differs():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 600, 3))
    second[:, 1] = 0.6 * second[:, 1] + 0.8 * second[:, 0]
    assert blind_separation(first, second, categorical=NUMBERS)[1] < 0.01


def test_missing_values_tell_apart():
    first, second = np.random.default_rng(0).normal(size=(2, 100, 3))
    second[:50, 2] = np.nan
    assert blind_separation(first, second, categorical=NUMBERS)[1] < 0.01


@pytest.mark.parametrize("rows", [np.zeros((50, 3)), np.full((50, 3), np.nan)])
def test_equal_scores_are_no_evidence(rows):
    assert blind_separation(rows, rows[:30], categorical=NUMBERS) == (0.5, 1.0)


def test_too_few_rows_for_a_split_are_no_evidence():
    first, second = np.random.default_rng(0).normal(size=(2, 6, 3))
    assert blind_separation(first, second + 100, categorical=NUMBERS) == (0.5, 1.0)


def test_a_column_without_values_is_as_good_as_none():
    first, second = drawn(1, 100, 100)
    gap = np.full((100, 1), np.nan)
    with_gap = [np.column_stack([gap, rows]) for rows in (first, second)]
    assert blind_separation(*with_gap, categorical=np.append(True, CATEGORY)) == blind_separation(
        first, second, categorical=CATEGORY
    )


def test_a_category_of_more_levels_than_the_classifier_holds():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 1000, (2, 300, 1)).astype(float)
    assert blind_separation(first, second, categorical=np.array([True]))[1] > 0.01
    assert blind_separation(first, second + 700, categorical=np.array([True]))[1] < 0.01
    assert blind_separation(first[:100] % 255, second % 255, categorical=np.array([True]))[1] > 0.01


def test_same_bits_whatever_the_threads():
    first, second = drawn(3, 400, 300)
    found = set()
    for n_threads in (1, 2, 2):
        with threadpool_limits(n_threads):
            found.add(blind_separation(first, second, categorical=CATEGORY, seed=1))
    assert len(found) == 1
    assert blind_separation(first, second, categorical=CATEGORY, seed=2) not in found


def test_samples_are_not_changed():
    first, second = drawn(4, 60, 60)
    before = first.copy(), second.copy()
    blind_separation(first, second, categorical=CATEGORY)
    np.testing.assert_array_equal(before[0], first)
    np.testing.assert_array_equal(before[1], second)


def tables_of_people(n_people, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    habit = rng.normal(shift, 1, n_people).repeat(20)
    rows = pd.DataFrame({"id": np.arange(n_people).repeat(20) + 1000 * seed, "x": habit})
    people = pd.DataFrame({"id": np.arange(n_people) + 1000 * seed})
    return {"people": people, "rows": rows.assign(y=rng.normal(size=len(rows)))}


@pytest.mark.slow
def test_of_several_tables_subjects_are_told_apart_and_not_their_rows():
    """Rows of a person are alike: what has them in train alone looks like another population."""
    schema = RelationalSchema(
        ["people", "rows"], {"people": "id"}, [ForeignKey("rows", "id", "people", "id")]
    )
    context = RelationalContext.of(tables_of_people(60, 1), tables_of_people(60, 2), schema=schema)
    assert holdout_shift(context.table("rows")).p_value < 0.01  # of rows that are not independent
    assert shift_notices(context) == ()
    other = RelationalContext.of(
        tables_of_people(60, 1), tables_of_people(60, 2, shift=2.0), schema=schema
    )
    assert len(shift_notices(other)) == 1
    unknown = RelationalSchema(["people", "rows"])
    apart = tables_of_people(60, 1), tables_of_people(60, 2, shift=2.0)
    assert shift_notices(RelationalContext.of(*apart, schema=unknown)) == ()


def normal_rows(n, seed, shift=0.0):
    table = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 6)), columns=list("abcdef"))
    return table.assign(a=table["a"] + shift, b=table["b"] + shift)


@pytest.mark.slow
def test_a_mild_shift_of_two_columns_is_noticed_and_the_columns_are_named():
    noticed = [
        shift_notices(Context.of(normal_rows(500, seed), normal_rows(500, 100 + seed, 0.3)))
        for seed in range(8)
    ]
    assert sum(map(bool, noticed)) >= 7
    shift = holdout_shift(Context.of(normal_rows(500, 0), normal_rows(500, 100, 0.4)))
    assert set(shift.columns) == {"a", "b"}


@pytest.mark.parametrize("change", [lambda x: 1.5 * x, lambda x: x.mask(x < -0.8)])
def test_spread_and_missing_values_count_as_a_shift(change):
    train, holdout = normal_rows(500, 0), normal_rows(500, 1)
    shift = holdout_shift(Context.of(train, holdout.assign(c=change(holdout["c"]))))
    assert shift.p_value < 0.01
    assert shift.columns == ("c",)


def test_a_result_states_the_shift_that_would_have_been_noticed():
    def noticeable(n):
        suite = MetricSuite([("dcr", DCROverfittingProtection())])
        (notice,) = suite.fit(normal_rows(n, 0), normal_rows(n, 1)).context_.notices
        assert isinstance(notice, UnnoticedShiftWarning)
        size = holdout_shift(suite.context_).noticeable
        assert f"{size:.2g} standard deviations" in str(notice)
        return size

    few, many = noticeable(100), noticeable(400)
    assert few == pytest.approx(2 * many)
    assert 0.2 < many < 0.4


@pytest.mark.slow
def test_the_noticeable_shift_is_noticed_in_four_of_five_cases():
    size = holdout_shift(Context.of(normal_rows(200, 0), normal_rows(200, 1))).noticeable
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        first, second = rng.normal(size=(2, 200))
        found += column_p_value(first, second + size, False) * 2 * 6 < 0.01
    assert 0.72 < found / 400 < 0.88


def rows_of_persons(n_persons, seed, first=0):
    rng = np.random.default_rng(seed)
    person = np.char.add("P", (first + np.arange(n_persons)).repeat(5).astype(str))
    habits = rng.normal(size=(n_persons, 3)).repeat(5, axis=0)
    rows = habits + 0.1 * rng.normal(size=habits.shape)
    return pd.DataFrame(rows, columns=["x", "y", "z"]).assign(person=person)


def test_rows_of_persons_that_are_in_one_table_only_are_noticed_by_their_column():
    train, holdout = rows_of_persons(60, 0), rows_of_persons(60, 1, first=60)
    (notice,) = shift_notices(Context.of(train, holdout))
    assert isinstance(notice, GroupedRowsWarning)
    assert "divided by person. 120 of its values" in str(notice)
    assert "at random" not in str(notice)


def test_rows_of_persons_that_were_divided_at_random_are_not_groups():
    rows = rows_of_persons(120, 0).sample(frac=1.0, random_state=0)
    assert shift_notices(Context.of(rows[:300], rows[300:])) == ()


def test_tables_of_two_periods_are_not_groups():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"week": np.arange(50).repeat(8), "x": rng.normal(size=400)})
    (notice,) = shift_notices(Context.of(rows[:200], rows[200:]))
    assert not isinstance(notice, GroupedRowsWarning)
