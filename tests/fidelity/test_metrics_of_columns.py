"""All metrics of columns agree on what is best, on order, noise, odd tables and cost."""

from __future__ import annotations

import math
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning
from skeval.fidelity import (
    BNLikelihood,
    BNLogLikelihood,
    ChiSquaredTest,
    GMLikelihood,
    HellingerDistance,
    JensenShannonDistance,
    KLDivergence,
    KMarginalSimilarity,
    KSComplement,
    QuantileMSE,
    RangeQueryError,
    StatisticSimilarity,
    TVComplement,
    WassersteinDistance,
)
from tests.counting import CountingContext

OF_COLUMNS = [
    KSComplement(),
    TVComplement(n_bins=10),
    WassersteinDistance(),
    WassersteinDistance(p=2, normalize="iqr"),
    JensenShannonDistance(),
    HellingerDistance(strategy="quantile"),
    KLDivergence(),
    ChiSquaredTest(),
    StatisticSimilarity(),
    StatisticSimilarity("std"),
    QuantileMSE(),
]
JOINT = [
    KMarginalSimilarity(),
    KMarginalSimilarity(k=3, n_subsets=20),
    RangeQueryError(n_queries=300),
]
LIKELIHOODS = [GMLikelihood(n_components=(1, 4)), BNLikelihood(), BNLogLikelihood(n_bins=5)]
EVERY = [*OF_COLUMNS, *JOINT, *LIKELIHOODS]
of_every = pytest.mark.parametrize("metric", EVERY, ids=repr)
of_all_but_likelihoods = pytest.mark.parametrize("metric", [*OF_COLUMNS, *JOINT], ids=repr)


def losses(metric, tables, train):
    """Return the values, higher being worse."""
    metric = clone(metric).fit(train)
    return [-metric.tags.sign * metric.score(table) for table in tables]


@of_all_but_likelihoods
def test_the_same_rows_are_the_best(metric):
    table = make_mixed(150)
    value = clone(metric).fit(table).score(table)
    assert value == (1.0 if metric.tags.greater_is_better else 0.0)


@of_every
def test_the_order_of_rows_and_columns_means_nothing(metric):
    train, synthetic = make_mixed(150, 0), make_mixed(90, 1)
    value = clone(metric).fit(train).score(synthetic)
    mixed = train.sample(frac=1.0, random_state=0)[train.columns[::-1]]
    again = clone(metric).fit(mixed).score(synthetic.sample(frac=1.0, random_state=1))
    assert again == pytest.approx(value, rel=1e-9)


# the spread of a mixture is not that of its parts
@pytest.mark.parametrize("metric", [m for m in EVERY if "'std'" not in repr(m)], ids=repr)
def test_monotone_in_the_share_of_noise_of_all(metric):
    train, fresh = make_mixed(400, 0), make_mixed(400, 1)
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({
        "age": rng.integers(0, 300, 400), "income": rng.uniform(0, 1e6, 400),
        "visits": rng.integers(0, 50, 400), "city": "nowhere",
        "plan": rng.choice(["basic", "plus"], 400), "member": rng.random(400) < 0.05,
        "joined": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 9000, 400), "D"),
    })  # fmt: skip
    mixtures = []
    for share in (0.0, 0.25, 0.5, 1.0):
        n = int(400 * share)
        mixtures.append(pd.concat([noise.iloc[:n], fresh.iloc[n:]], ignore_index=True))
    found = losses(metric, mixtures, train)
    assert found == sorted(found)
    assert found[-1] > found[0]


@pytest.mark.parametrize("metric", [*JOINT, *LIKELIHOODS], ids=repr)
def test_shuffled_columns_are_worse(metric):
    """Associations break, marginals stay."""
    train, rng = make_mixed(600, 0), np.random.default_rng(0)
    shuffled = train.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])
    kept, broken = losses(metric, [train, shuffled], train)
    assert broken > kept
    for marginal in (KSComplement(), HellingerDistance()):
        assert losses(marginal, [shuffled], train) == losses(marginal, [train], train)


def _odd():
    rng = np.random.default_rng(0)
    base = make_mixed(80, 0)
    yield "unseen categories", base, base.assign(city="new", plan="other")
    yield "all missing", base, base.assign(income=np.nan, city=None)
    yield "all missing in train", base.assign(income=np.nan, city=None), base
    yield "constant", base.assign(income=1.0, city="x"), base
    yield (
        "constant everywhere",
        base.assign(income=1.0, city="x"),
        base.assign(income=1.0, city="x"),
    )
    yield "one synthetic row", base, base.iloc[:1]
    yield "one row each", base.iloc[:1], base.iloc[1:2]
    yield "infinities", base, base.assign(income=np.where(np.arange(80) % 4, np.inf, -np.inf))
    yield "dates as strings", *(t.assign(joined=t["joined"].astype(str)) for t in (base, base[::2]))
    yield (
        "booleans only",
        *(pd.DataFrame({"b": [True, False, None], "c": [True] * 3}) for _ in "xy"),
    )
    labels = np.array([f"level {i}" for i in range(5_000)])
    yield "5,000 levels", *(
        pd.DataFrame({"c": rng.permutation(np.tile(labels, 2)), "d": rng.choice(labels, 10_000), "x": 1.0 * np.arange(10_000)})
        for _ in "xy"
    )  # fmt: skip


ODD = {name: (train, synthetic) for name, train, synthetic in _odd()}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.slow
def test_odd_tables_give_a_number_or_nan_with_a_warning(name):
    train, synthetic = ODD[name]
    kinds = dict.fromkeys(["city", *("cd" if name == "5,000 levels" else "")], "categorical")
    schema = {column: kind for column, kind in kinds.items() if column in train}
    suite = MetricSuite([(repr(metric), clone(metric)) for metric in EVERY], on_error="raise")
    for result in suite.fit(train, schema=schema).evaluate(synthetic).values():
        low, high = result.tags.bounds
        if math.isnan(result.value):
            assert any(isinstance(warning, MetricWarning) for warning in result.warnings)
        else:
            assert low <= result.value <= high
            if result.interval is not None:
                assert result.interval[0] <= result.value <= result.interval[1]
        result.to_json()


@pytest.mark.calibration
@pytest.mark.parametrize(
    "metrics", [OF_COLUMNS, pytest.param(EVERY, marks=pytest.mark.calibration)]
)
def test_two_hundred_columns(metrics):
    rng = np.random.default_rng(0)
    train, synthetic = (
        pd.DataFrame({f"x{i}": rng.normal(size=60) for i in range(150)}).assign(
            **{f"c{i}": rng.choice(list("abc"), 60) for i in range(50)}
        )
        for _ in range(2)
    )
    suite = MetricSuite([(repr(metric), clone(metric)) for metric in metrics], on_error="raise")
    start = time.process_time()
    results = suite.fit(train).evaluate(synthetic)
    assert time.process_time() - start < 60.0
    assert all(np.isfinite(result.value) for result in results.values())


def test_a_suite_sorts_and_cuts_each_column_once():
    train, synthetic = make_mixed(100, 0), make_mixed(80, 1)
    context = CountingContext.of(train, ordered=True).with_synthetic(synthetic)
    CountingContext.runs.clear()
    for metric in OF_COLUMNS:
        clone(metric).fit_context(context.real).evaluate_context(context)
    # four numbers and dates, one boolean
    assert CountingContext.names().count("sorted_values") == 2 * (4 + 1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**5, pytest.param(10**6, marks=pytest.mark.calibration)])
def test_a_million_rows(n):
    """All metrics of columns together, on twelve columns of a million rows, or a tenth of them."""
    tables = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        tables.append(
            pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(8)}).assign(
                **{f"c{i}": pd.Categorical.from_codes(rng.integers(0, 4, n), list("abcd")) for i in range(4)}
            )
        )  # fmt: skip
    suite = MetricSuite([(repr(metric), clone(metric)) for metric in OF_COLUMNS])
    suite.fit(tables[0])
    start = time.process_time()
    results = suite.evaluate(tables[1])
    assert time.process_time() - start < 5.0 + 25.0 * n / 10**6
    assert all(np.isfinite(result.value) for result in results.values())


def test_columns_come_first_where_nothing_else_does():
    assert KSComplement(["x"]).columns == ["x"]
    with pytest.raises(TypeError, match="positional"):
        ChiSquaredTest(5, 10)
