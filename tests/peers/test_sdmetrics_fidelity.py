"""Fidelity agrees with SDMetrics where its definition is kept, and differs where it is at fault."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skeval import fidelity, make_suite
from skeval.compat import QualityReport
from skeval.datasets import make_census, make_mixed
from skeval.privacy import NewRowShare

pytestmark = pytest.mark.peers
no_pair_is_fine = pytest.mark.filterwarnings("ignore:no two numeric or date columns")

METRICS = """
from sdmetrics import column_pairs, single_column, single_table

def of(metric, names, **settings):
    names = names if isinstance(names, str) else list(names)
    return float(metric.compute(train[names], synthetic[names], **settings))

numeric, nominal = given["numeric"], given["nominal"]
pairs = given["pairs"]
found = {
    "KSComplement": {name: of(single_column.KSComplement, name) for name in numeric},
    "TVComplement": {name: of(single_column.TVComplement, name) for name in nominal},
    "statistics": {
        kind: {name: of(single_column.StatisticSimilarity, name, statistic=kind) for name in numeric}
        for kind in ("mean", "median", "std")
    },
    "correlations": {
        kind: [
            [*pair, of(column_pairs.CorrelationSimilarity, pair, coefficient=kind.title())]
            for pair in pairs if set(pair) <= set(numeric)
        ]
        for kind in ("pearson", "spearman")
    },
    "contingencies": [
        [*pair, of(column_pairs.ContingencySimilarity, pair,
                   continuous_column_names=[name for name in pair if name in numeric])]
        for pair in pairs if "datetime" not in [kinds[name] for name in pair]
    ],
}
rows = given["rows"]
found["NewRowSynthesis"] = single_table.NewRowSynthesis.compute(
    train[rows], synthetic[rows], {"columns": {name: metadata["columns"][name] for name in rows}}
)
"""
REPORT = """
from sdmetrics.reports.single_table import QualityReport

report = QualityReport()
report.generate(train, synthetic, metadata, verbose=False)
shapes, trends = (report.get_details(name) for name in ("Column Shapes", "Column Pair Trends"))
found = {
    "properties": dict(report.get_properties()[["Property", "Score"]].to_numpy()),
    "shapes": dict(shapes[["Column", "Score"]].to_numpy()),
    "trends": trends.loc[
        trends["Meets Threshold?"].fillna(False), ["Column 1", "Column 2", "Score"]
    ].to_numpy().tolist(),
}
"""
CHI_SQUARED = """
from sdmetrics.single_column import CSTest
found = [float(CSTest.compute(train, synthetic)) for train, synthetic in given]
"""
KINDS = {
    "mixed": {
        "age": "numerical",
        "income": "numerical",
        "visits": "numerical",
        "city": "categorical",
        "plan": "categorical",
        "member": "boolean",
        "joined": "datetime",
    },
    "census": {
        name: "numerical" if pd.api.types.is_numeric_dtype(kind) else "categorical"
        for name, kind in make_census(2).dtypes.items()
    },
}
ROWS = {
    "mixed": ["visits", "city", "plan", "member"],
    "census": ["age", "hours_per_week", "sex", "income"],
}


def of_kind(name, *kinds):
    return [column for column, kind in KINDS[name].items() if kind in kinds]


@pytest.fixture(scope="module", params=KINDS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def tables(name):
    """Two tables that differ in every way; values are missing in the mixed ones."""
    rng = np.random.default_rng(0)
    make = {"mixed": make_mixed, "census": make_census}[name]
    train, synthetic = (make(n, random_state=n) for n in (300, 240))
    synthetic["age"] = synthetic["age"] + rng.integers(-3, 9, len(synthetic))
    if name == "mixed":
        synthetic["joined"] = synthetic["joined"] - pd.Timedelta("200D")
        synthetic["income"] = 1.2 * synthetic["income"]
        synthetic.loc[:20, "city"] = "Atlantis"
        synthetic.loc[20:40, "plan"] = np.nan
        return train, synthetic
    synthetic["occupation"] = rng.permutation(synthetic["occupation"])
    return train, synthetic


@pytest.fixture(scope="module")
def theirs(name, tables, sdmetrics):
    return sdmetrics(
        METRICS,
        tables,
        KINDS[name],
        numeric=of_kind(name, "numerical", "datetime"),
        nominal=of_kind(name, "categorical", "boolean"),
        pairs=list(combinations(KINDS[name], 2)),
        rows=ROWS[name],
    )


@pytest.fixture(scope="module")
def report(name, tables, sdmetrics):
    return sdmetrics(REPORT, tables, KINDS[name])


def ours(metric, tables):
    return metric.fit(tables[0]).evaluate(tables[1])


def by_pair(rows):
    return {frozenset(pair): score for *pair, score in rows}


def of_matrix(result):
    names, matrix = result.details["names"], result.details["matrix"]
    at = zip(*np.nonzero(np.triu(~np.isnan(matrix), 1)), strict=True)
    return {frozenset((names[i], names[j])): matrix[i, j] for i, j in at}


def test_kolmogorov_smirnov_agrees(tables, theirs):
    found = ours(fidelity.KSComplement(), tables).details["columns"]
    found.pop("member", None)  # a boolean is a number for ours too
    assert found == pytest.approx(theirs["KSComplement"], abs=1e-12)


def test_total_variation_agrees(tables, theirs):
    """Up to the millionth of a row that a category unseen in train is given there."""
    found = ours(fidelity.TVComplement(nan="drop"), tables).details["columns"]
    assert found == pytest.approx(theirs["TVComplement"], abs=1e-7)


@pytest.mark.parametrize("statistic", ["mean", "median", "std"])
def test_statistics_agree(statistic, tables, theirs):
    found = ours(fidelity.StatisticSimilarity(statistic), tables).details["columns"]
    assert found == pytest.approx(theirs["statistics"][statistic], abs=1e-12)


def test_pearson_agrees(tables, theirs):
    found = of_matrix(ours(fidelity.CorrelationSimilarity("pearson"), tables))
    assert found == pytest.approx(by_pair(theirs["correlations"]["pearson"]), abs=1e-9)


def test_spearman_agrees(name, tables, theirs):
    """Where values are missing, ours ranks all of a column, theirs the rows that have both."""
    found = of_matrix(ours(fidelity.CorrelationSimilarity("spearman"), tables))
    expected = by_pair(theirs["correlations"]["spearman"])
    assert found == pytest.approx(expected, abs=1e-12 if name == "census" else 0.005)
    whole = frozenset(("age", "visits" if name == "mixed" else "weight"))
    assert found[whole] == pytest.approx(expected[whole], abs=1e-12)


def test_contingency_agrees(tables, theirs):
    """But for whole numbers of few values: in ours each value has a cell, theirs merge some."""
    metric = fidelity.ContingencySimilarity(strategy="uniform-plain")
    found = of_matrix(ours(metric, tables))
    expected = by_pair(theirs["contingencies"])
    found = {pair: score for pair, score in found.items() if pair in expected}  # not of dates
    finer = {pair for pair in found if "school_years" in pair}
    change = {pair: found.pop(pair) - expected.pop(pair) for pair in finer}
    assert found == pytest.approx(expected, abs=1e-12)
    assert all(-0.1 < gap < 1e-12 for gap in change.values())


def test_new_rows_agree(name, tables, theirs):
    found = ours(NewRowShare(columns=ROWS[name]), tables).value
    assert found == pytest.approx(theirs["NewRowSynthesis"], abs=1e-12)
    assert 0.1 < found < 0.9


@no_pair_is_fine
def test_column_shapes_of_the_report_agree(tables, report):
    found = make_suite("quality").fit(tables[0]).evaluate(tables[1]).properties()
    expected = report["properties"]["Column Shapes"]
    assert found.loc["column_shapes", "score"] == pytest.approx(expected, abs=1e-7)
    assert found.loc["column_shapes", "n_used"] == len(report["shapes"])


@no_pair_is_fine
def test_the_report_of_compat_agrees_in_every_pair(name, tables, report):
    metadata = {"columns": {column: {"sdtype": kind} for column, kind in KINDS[name].items()}}
    own = QualityReport()
    own.generate(*tables, metadata)
    properties = dict(own.get_properties().to_numpy())
    assert properties == pytest.approx(report["properties"], abs=1e-7)
    trends = own.get_details("Column Pair Trends")
    counted = trends[trends["Meets Threshold?"]][["Column 1", "Column 2", "Score"]]
    assert by_pair(counted.to_numpy()) == pytest.approx(by_pair(report["trends"]), abs=1e-9)


@no_pair_is_fine
def test_pair_trends_of_the_report_agree_where_nothing_is_binned(name, tables, report):
    """Pairs of two numbers, pairs of two categories; and the same pairs are skipped as weak."""
    found = make_suite("quality").fit(tables[0]).evaluate(tables[1])
    correlation, contingency = (
        of_matrix(found[f"column_pair_trends/{part}"]) for part in ("correlation", "contingency")
    )
    theirs = by_pair(report["trends"])
    nominal = set(of_kind(name, "categorical", "boolean"))
    numeric = set(KINDS[name]) - nominal
    unbinned = {pair: score for pair, score in theirs.items() if pair <= nominal or pair <= numeric}
    expected = correlation | {pair: s for pair, s in contingency.items() if pair <= nominal}
    assert unbinned
    assert unbinned == pytest.approx(expected, abs=1e-9)


@no_pair_is_fine
def test_pair_trends_of_the_report_are_blind_to_a_shift_and_a_scale(sdmetrics):
    """There each table is cut on edges of its own: a column in other units scores 1."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 300)
    train = pd.DataFrame({"x": rng.normal(2.0 * c), "c": np.where(c, "a", "b")})
    synthetic = train.assign(x=1000.0 * train["x"] + 5e6)
    kinds = {"x": "numerical", "c": "categorical"}
    theirs = sdmetrics(REPORT, (train, synthetic), kinds)["properties"]["Column Pair Trends"]
    found = make_suite("quality").fit(train).evaluate(synthetic).properties()
    assert theirs == pytest.approx(1.0)
    assert found.loc["column_pair_trends", "score"] < 0.05


def test_chi_squared_there_is_not_of_counts(peer):
    """Their p-value does not know how many rows there are, and is 0 for one unseen value."""
    halves, other = ["a", "b"] * 50, ["a"] * 40 + ["b"] * 60
    unseen = [*(["a", "b"] * 49), "a", "z"]
    given = [(10 * halves, 10 * other), (halves, other), (halves, unseen)]
    many, few, strange = peer("sdmetrics", CHI_SQUARED, given)
    assert many == pytest.approx(few) == pytest.approx(0.841481, abs=1e-6)
    assert strange < 1e-9
    found = [
        ours(fidelity.ChiSquaredTest(), [pd.DataFrame({"c": values}) for values in tables]).p_value
        for tables in given
    ]
    assert found[0] < 1e-4
    assert 0.1 < found[1] < 0.2
    assert found[2] == pytest.approx(1.0)  # the odd row is pooled with the rarer cell
