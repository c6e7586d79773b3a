"""Hostile tables: a value or one sentence, never another library's error, a silent nan or a crash.

Each table of the corpus meets a part of the metrics and a preset, and each metric 30 tables or
more. A third of the tables are always met where slow tests run, the others in turn, as calibrations
are. With SKEVAL_HOSTILE=all in the environment, all tables meet all metrics and presets.
"""

from __future__ import annotations

import math
import os
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval import MetricSuite, make_suite
from skeval.core.reading import read_context
from skeval.datasets import make_relational
from skeval.exceptions import SkevalError, TableError
from skeval.results.suite_result import SuiteResult
from skeval.suites.presets import PRESETS
from skeval.suites.relational_presets import PRESETS as RELATIONAL_PRESETS
from skeval.tables.one_table import as_frame
from skeval.tables.relational_data import RelationalData
from skeval.tables.schema import TableSchema
from tests.hostile import PANDAS, TABLES
from tests.notebook import cell_of
from tests.test_common import METRICS

EVERY = os.environ.get("SKEVAL_HOSTILE") == "all"
N_METRICS = 20  # that a table meets
N_SEVERAL = 21  # of several tables
FEWER = list(PANDAS)[::6]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ONE = [m for m in METRICS if "relational" not in m.tags.needs]
SEVERAL = [m for m in METRICS if "relational" in m.tags.needs]
SMALL = {"n_bootstrap": 50, "n_permutations": 99, "n_attacks": 20, "n_runs": 2}


def turn(items, n, i):
    """Return n of the items, others for each i, so that all are met equally often."""
    if EVERY:
        return list(items)
    return [items[(i * n + k) % len(items)] for k in range(n)]


def small(metric):
    """Return a clone that costs little."""
    given = metric.get_params(deep=False)
    fewer = {k: n for k, n in SMALL.items() if isinstance(given.get(k), int) and given[k] > n}
    return clone(metric).set_params(**fewer)


def aimed(metric, names):
    """Return the metric with the columns of a table for those of the usual one."""
    wanted = {
        "known": names[1:],
        "quasi_identifiers": names[1:],
        "secret": names[0],
        "sensitive": names[0],
        "target": names[0],
    }
    given = metric.get_params(deep=False)
    if "target" not in metric.tags.needs:
        del wanted["target"]  # what an audit plants
    return small(metric).set_params(**{k: v for k, v in wanted.items() if k in given})


def names_of(table):
    """Return the columns that can be measured, as far as they can be known."""
    try:
        return list(TableSchema.infer(as_frame(table, "train")).measured) or ["x"]
    except SkevalError:
        return ["x"]


def check(result, name):
    assert "shows where" not in result.error, (name, result.error)  # another library's error
    low, high = result.tags.bounds
    if math.isnan(result.value):
        assert result.error or result.warnings, f"{name}: a silent nan"
    else:
        assert low <= result.value <= high, (name, result.value)
    if result.interval is not None:
        assert not result.interval[0] > result.interval[1], (name, result.interval)
    if result.p_value is not None:
        assert math.isnan(result.p_value) or 0.0 <= result.p_value <= 1.0, (name, result.p_value)


def check_suite(suite, tables, path, **given):
    """Evaluate, save and read back; one sentence is as good as a value."""
    try:
        context = read_context(*tables[:2], schema=given.get("schema"))
    except SkevalError:
        return 0
    metrics = [(name, one) for name, one in suite.metrics if can_be_fitted(one, context)]
    try:
        results = suite.set_params(metrics=metrics).fit(*tables[:2], **given).evaluate(tables[2])
    except SkevalError:
        return 0
    for name, result in results.items():
        check(result, name)
    results.to_json(path)
    again = SuiteResult.from_json(path)
    # control characters of names are replaced where a file is read
    saved, frame = (one.frame().drop(columns=["seconds", "error"]) for one in (again, results))
    pd.testing.assert_frame_equal(saved, frame)
    repr(results)
    cell_of(results)
    return len(results)


def can_be_fitted(metric, context):
    """One that refuses a table in a sentence must not keep the others from it."""
    try:
        clone(metric).fit_context(context)
    except SkevalError:
        return False
    return True


def suite_of(metrics):
    return MetricSuite([(type(m).__name__, m) for m in metrics], check_holdout=False)


def of_corpus(tables, n=None):
    chosen = list(enumerate(tables))
    chosen = chosen[:: max(1, len(chosen) // n)] if n and not EVERY else chosen
    marks = [() if k % 6 == 0 else pytest.mark.calibration for k in range(len(chosen))]
    return pytest.mark.parametrize(
        ("i", "name"),
        [pytest.param(*one, marks=mark) for one, mark in zip(chosen, marks, strict=True)],
        ids=[name for _, name in chosen],
    )


@of_corpus(TABLES)
def test_metrics(i, name, tmp_path):
    tables = [TABLES[name](k) for k in range(3)]
    names = names_of(tables[0])
    metrics = [aimed(metric, names) for metric in turn(ONE, N_METRICS, i)]
    path = tmp_path / "results.json"
    check_suite(suite_of([m for m in metrics if "text" not in m.tags.needs]), tables, path)
    of_texts = [m for m in metrics if "text" in m.tags.needs]
    if of_texts and names:
        check_suite(suite_of(of_texts), tables, path, schema={names[0]: "text"})


@of_corpus(TABLES, len(TABLES) // 3)
def test_presets(i, name, tmp_path):
    tables = [TABLES[name](k) for k in range(3)]
    for preset in turn(sorted(PRESETS), 1, i):
        columns = {"target": names_of(tables[0])[0]}
        if preset in {"report", "privacy", "attacks", "utility"}:
            columns["sensitive"] = names_of(tables[0])[-1]
        suite = make_suite(preset, **columns)
        for one, metric in suite.metrics:
            suite.set_params(**{one: small(metric)})
        check_suite(suite.set_params(check_holdout=False), tables, tmp_path / "results.json")


def hung_on_keys(name):
    """Return people and their visits with the columns of a table, twelve people each."""
    roles = []
    for k in range(3):
        data, odd = make_relational(12, random_state=k, n_children=(1, 3)), TABLES[name](k)
        tables = dict(data.items())
        for table, prefix in (("people", "a "), ("visits", "b ")):
            if len(odd):
                at = np.arange(len(tables[table])) % len(odd)
                added = odd.iloc[at].add_prefix(prefix).set_axis(tables[table].index)
                tables[table] = pd.concat([tables[table], added], axis=1)
        roles.append(RelationalData(tables, data.schema))
    return roles


@of_corpus(PANDAS if EVERY else FEWER)
def test_several_tables(i, name, tmp_path):
    try:
        tables = hung_on_keys(name)
    except TableError:  # of columns that cannot be measured
        return
    odd = {"RelationalTSTR": "a x", "SequenceTSTR": "b x"}
    metrics = [small(m) for m in turn(SEVERAL, N_SEVERAL, i)]
    for metric in metrics:
        target = odd.get(type(metric).__name__)
        if target and target in {**tables[0]["people"], **tables[0]["visits"]}:
            metric.set_params(target=target)
    check_suite(suite_of(metrics), tables, tmp_path / "results.json")
    for preset in turn(sorted(RELATIONAL_PRESETS), 1, i) if EVERY or i % 6 == 0 else []:
        suite = make_suite(preset, schema=tables[0].schema).set_params(check_holdout=False)
        check_suite(suite, tables, tmp_path / "results.json")


@pytest.mark.parametrize("name", ["float64", "category", "a name that is an emoji", "polars"])
def test_what_is_not_odd_is_measured(name, tmp_path):
    tables = [TABLES[name](k) for k in range(3)]
    metrics = [aimed(m, names_of(tables[0])) for m in ONE if "text" not in m.tags.needs]
    n_measured = check_suite(suite_of(metrics), tables, tmp_path / "results.json")
    assert n_measured > 0.9 * len(metrics)


def test_each_metric_meets_many_tables():
    n_met = Counter(type(m).__name__ for i in range(len(TABLES)) for m in turn(ONE, N_METRICS, i))
    n_met.update(type(m).__name__ for i in range(len(FEWER)) for m in turn(SEVERAL, N_SEVERAL, i))
    assert len(TABLES) >= 250
    assert set(n_met) == {type(m).__name__ for m in METRICS}
    assert min(n_met.values()) >= 30
