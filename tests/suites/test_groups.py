from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, SuiteResult, report
from skeval.exceptions import GroupedRowsWarning, InvalidParameterError, UnnoticedShiftWarning
from skeval.privacy import DCROverfittingProtection, MembershipInference, NearDuplicateShare
from skeval.relational import RelationalSchema
from tests.snapshots import raises, warns


def rows_of_persons(seed, n_persons=60):
    rng = np.random.default_rng(seed)
    habits = rng.normal(size=(n_persons, 4)).repeat(5, axis=0)
    rows = 0.95 * habits + 0.3 * rng.normal(size=habits.shape)
    person = [f"P{seed}-{i}" for i in range(n_persons) for _ in range(5)]
    return pd.DataFrame(rows, columns=list("abcd")).assign(person=person)


def suite_of(**settings):
    metrics = {
        "dcr": DCROverfittingProtection(),
        "membership": MembershipInference("distance"),
        "near": NearDuplicateShare(),
    }
    return MetricSuite(metrics, **settings)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_tests_use_one_row_of_each_group_and_values_use_all():
    train, holdout, release = map(rows_of_persons, range(3))
    by_rows = suite_of(schema={"person": "id"}, check_holdout=False).fit(train, holdout)
    by_group = suite_of(groups="person").fit(train, holdout)
    firsts = [table.drop_duplicates("person") for table in (train, holdout)]
    n_rows = len(firsts[0]), len(firsts[1])
    assert n_rows == (60, 60)
    assert [type(one) for one in by_group.context_.notices] == [UnnoticedShiftWarning]
    results = by_rows.evaluate(release), by_group.evaluate(release)
    for name in by_rows.metrics_:
        one, other = (result[name] for result in results)
        assert one.value == other.value
        assert one.contrast.least_p < other.contrast.least_p  # of fewer units
        assert 0.0 < other.p_value <= 1.0
    leak = pd.concat([train[:150], release[150:]], ignore_index=True)
    assert by_group.evaluate(leak).verdict().outcome == "leak found"


def test_rows_of_persons_are_noticed_unless_they_are_named():
    train, holdout = map(rows_of_persons, range(2))
    with warns(GroupedRowsWarning):
        suite_of().fit(train, holdout)


def test_groups_that_are_in_both_tables_are_refused():
    rows = rows_of_persons(0).sample(frac=1.0, random_state=0)
    with raises(InvalidParameterError):
        suite_of(groups="person", check_holdout=False).fit(rows[:150], rows[150:])


def test_a_misspelt_column_of_groups_is_told_by_its_parameter():
    with raises(InvalidParameterError):
        suite_of(groups="persn").fit(rows_of_persons(0), rows_of_persons(1))


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_persons_that_are_in_one_table_each_are_no_leak():
    alarms = 0
    for seed in range(0, 120, 3):
        train, holdout, release = (rows_of_persons(seed + i) for i in range(3))
        suite = suite_of(groups="person", check_holdout=False).fit(train, holdout)
        alarms += suite.evaluate(release).verdict().alarm
    assert alarms <= 5  # of 40 at a level of 5%: exceeded with a chance of 1.4%


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_a_report_and_the_shell_take_groups(tmp_path, monkeypatch, run):
    train, holdout, release = map(rows_of_persons, range(3))
    expected = MetricSuite({"dcr_overfitting": DCROverfittingProtection()}, groups="person")
    expected = expected.fit(train, holdout).evaluate(release)["dcr_overfitting"].p_value
    shown = report(train, holdout, release, tmp_path / "r.html", groups="person")
    assert shown["dcr_overfitting"].p_value == expected
    monkeypatch.chdir(tmp_path)
    for name, table in (("train", train), ("holdout", holdout), ("synthetic", release)):
        table.to_csv(f"{name}.csv", index=False)
    arguments = ["evaluate", "train.csv", "holdout.csv", "synthetic.csv", "-o", "s.json"]
    chosen = ["--metrics", "dcr_overfitting", "--groups", "person"]
    assert run(*arguments, *chosen)[0] == 0
    assert SuiteResult.from_json("s.json")["dcr_overfitting"].p_value == expected
    tables = [{"rows": table} for table in (train, holdout, release)]
    asked = {"groups": "person", "schema": RelationalSchema(["rows"])}
    with raises(InvalidParameterError):
        report(*tables, tmp_path / "r.html", **asked)
