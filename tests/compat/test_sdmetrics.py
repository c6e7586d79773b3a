"""SDMetrics' calls give the numbers of ours, by its names."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import skeval.compat
from skeval.compat import DiagnosticReport, QualityReport, computed
from skeval.compat.sdmetrics import NAMES, ComputedMetric
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError, MetricWarning, TableError
from skeval.privacy import DCRBaselineProtection
from skeval.suites.names import proper_name
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(60, random_state=seed) for seed in range(3))


def unequal(n_rows=(300, 120), seed=7):
    """Two tables of unequal sizes with missing values; a number depends on a category."""
    rng = np.random.default_rng(seed)
    tables = []
    for n, shift in zip(n_rows, (0.0, 5.0), strict=True):
        city = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2])
        pay = (20.0 + 15.0 * (city == "a") + shift + rng.normal(0.0, 4.0, n)).round(1)
        hours = (pay / 2.0 + rng.normal(0.0, 2.0, n)).round(1)
        plan = np.where(rng.random(n) < 0.8, city, rng.choice(list("abc"), n))
        table = pd.DataFrame({"city": city, "pay": pay, "plan": plan, "hours": hours})
        table.loc[rng.random(n) < 0.1, "city"] = None
        table.loc[rng.random(n) < 0.08, "pay"] = np.nan
        tables.append(table)
    return tables


KINDS = {"city": "categorical", "pay": "numerical", "plan": "categorical", "hours": "numerical"}
METADATA = {"columns": {name: {"sdtype": kind} for name, kind in KINDS.items()}}
# of SDMetrics 0.32.0, of these two tables
SHAPES = [0.9233672464719396, 0.5979030144167758, 0.98, 0.7433333333333334]
TRENDS = [0.82, 0.8816666666666667, 0.66, 0.77, 0.9952043647082031, 0.6766666666666667]
ASSOCIATIONS = [0.546784455154677, 0.7174841808893208, 0.5042623203269294, 0.5349803274131625,
                math.nan, 0.4891292198122343]  # fmt: skip
BREAKDOWNS = [
    ("CorrelationSimilarity", ["pay", "hours"], {}, {
        "score": 0.9952043647082031, "real": 0.906109256198257, "synthetic": 0.8965179856146631,
    }),
    ("ContingencySimilarity", ["city", "pay"], {
        "continuous_column_names": ["pay"], "num_discrete_bins": 8,
    }, {"score": 0.415, "real_association": math.nan}),
    ("MissingValueSimilarity", ["pay"], {}, {
        "score": 0.975, "real": 0.06666666666666667, "synthetic": 0.09166666666666666,
    }),
    ("StatisticSimilarity", ["pay"], {"statistic": "median"}, {
        "score": 0.7266483516483516, "real": 24.25, "synthetic": 34.2,
    }),
    ("CategoryCoverage", ["city"], {}, {"score": 1.0, "real": 3, "synthetic": 3}),
    ("NewRowSynthesis", ["city", "pay", "plan", "hours"], {"metadata": METADATA}, {
        "score": 0.9333333333333333, "num_new_rows": 112, "num_matched_rows": 8,
    }),
    ("DisclosureProtection", ["city", "plan"], {
        "known_column_names": ["city"], "sensitive_column_names": ["plan"],
    }, {
        "score": 0.4568901515151508, "cap_protection": 0.3045934343434339,
        "baseline_protection": 0.6666666666666667,
    }),
]  # fmt: skip


def test_the_quality_report_is_that_of_sdmetrics(tmp_path):
    real, synthetic = unequal()
    report = QualityReport()
    report.generate(real, synthetic, METADATA)
    assert report.get_score() == pytest.approx(0.8058702574478842, abs=1e-7)
    expected = [0.8111508985555123, 0.800589616340256]
    assert report.get_properties()["Score"].to_list() == pytest.approx(expected, abs=1e-7)
    shapes = report.get_details("Column Shapes")
    assert shapes["Column"].to_list() == list(KINDS)
    assert list(shapes.columns) == ["Column", "Metric", "Score"]
    assert shapes["Score"].to_list() == pytest.approx(SHAPES, abs=1e-7)
    trends = report.get_details("Column Pair Trends")
    assert list(trends["Column 1"] + "-" + trends["Column 2"]) == [
        "city-pay", "city-plan", "city-hours", "pay-plan", "pay-hours", "plan-hours",
    ]  # fmt: skip
    assert trends["Score"].to_list() == pytest.approx(TRENDS, abs=1e-9)
    assert trends["Real Association"].to_list() == pytest.approx(ASSOCIATIONS, nan_ok=True)
    assert trends["Real Correlation"][4] == pytest.approx(0.906109256198257)
    report.save(tmp_path / "q.json")
    again = QualityReport.load(tmp_path / "q.json")
    pd.testing.assert_frame_equal(again.get_details("Column Pair Trends"), trends)
    assert report.get_visualization("Column Pair Trends") is not None


def test_pairs_that_do_not_count_have_rows_without_scores():
    rng = np.random.default_rng(0)
    real = pd.DataFrame(
        {"x": rng.normal(size=900), "y": rng.normal(size=900), "c": ["a", "b", "c"] * 300}
    )
    report = QualityReport()
    with warns(MetricWarning):
        report.generate(real, real)
    trends = report.get_details("Column Pair Trends")
    assert trends["Score"].isna().all()
    assert not trends["Meets Threshold?"].any()
    assert len(trends) == 3


@pytest.mark.filterwarnings("ignore:no key is known")
def test_the_diagnostic_report_is_that_of_sdmetrics():
    report = DiagnosticReport()
    report.generate(*unequal(), METADATA)
    assert report.get_score() == pytest.approx(0.9879109327217126)
    validity = report.get_details("Data Validity")
    assert validity["Score"].to_list() == pytest.approx(
        [1.0, 0.944954128440367, 1.0, 0.9583333333333334]
    )
    assert report.get_details("Data Structure").to_dict("list") == {
        "Metric": ["TableStructure"],
        "Score": [1.0],
    }


@pytest.mark.parametrize(("name", "columns", "options", "expected"), BREAKDOWNS)
def test_breakdowns_are_those_of_sdmetrics(name, columns, options, expected):
    real, synthetic = (table[columns] for table in unequal())
    found = computed(name).compute_breakdown(real, synthetic, **options)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_cap_is_called_by_key_fields():
    real, synthetic = (table.dropna() for table in unequal())
    for name in ("CategoricalCAP", "CategoricalZeroCAP"):
        found = computed(name).compute(
            real, synthetic, METADATA, key_fields=["city"], sensitive_fields=["plan"]
        )
        assert found == pytest.approx(0.28381579509984156)


def test_a_number_that_is_not_that_of_sdmetrics_is_said():
    real, synthetic = unequal()
    for name, columns, options in [
        ("CSTest", ["city"], {}),
        (
            "CategoricalCAP",
            ["city", "plan"],
            {"key_fields": ["city"], "sensitive_fields": ["plan"]},
        ),
        ("CorrelationSimilarity", ["pay", "hours"], {"coefficient": "Spearman"}),
    ]:
        with warns(MetricWarning):
            computed(name).compute(real[columns], synthetic[columns], **options)


def test_names_that_can_be_imported_are_listed():
    listed = dir(skeval.compat)
    assert {*NAMES, "QualityReport", "PrivacyEvaluator"} <= set(listed)
    assert all(getattr(skeval.compat, name) is not None for name in listed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_each_name_computes(name):
    metric = computed(name)
    assert metric.kind.__name__ == proper_name(name) or metric.kind.__name__ == name
    tables = [TRAIN, SYNTHETIC]
    if "holdout" in metric.kind.tags.needs:
        tables.append(HOLDOUT)
    options = {}
    if "CAP" in name or "Disclosure" in name:
        options = {"known_column_names": ["city"], "sensitive_column_names": ["plan"]}
    settings = {"known": ["city"], "sensitive": ["plan"]} if options else {}
    own = metric.kind(**settings, **metric.settings).fit(TRAIN, *tables[2:]).score(SYNTHETIC)
    assert getattr(skeval.compat, name).compute(*tables, **options) == own
    breakdown = metric.compute_breakdown(*tables, **options)
    assert breakdown["score"] == own


def test_columns_and_pairs():
    ks = computed("KSComplement").compute(TRAIN["age"], SYNTHETIC["age"].to_numpy())
    assert ks == computed("KSComplement").compute(TRAIN[["age"]], SYNTHETIC[["age"]])
    kinds = {"columns": {"city": {"sdtype": "categorical"}, "plan": {"sdtype": "categorical"}}}
    pair = ["city", "plan"]
    metric = computed("ContingencySimilarity")
    assert 0.5 < metric.compute(TRAIN[pair], SYNTHETIC[pair], kinds) < 1.0


@pytest.mark.parametrize("values", [[0, 1, 1, 1], [0.0, 10.0, 10.0, 10.0]])
def test_a_metric_of_numbers_takes_two_values_as_numbers(values):
    """By itself a schema takes them as categories, from 20 rows on."""
    real, synthetic = values * 10, sorted(values) * 5 + values[:1] * 20
    for name, expected in [
        ("KSComplement", 0.625),
        ("RangeCoverage", 1.0),
        ("BoundaryAdherence", 1.0),
        ("StatisticSimilarity", 0.625),
    ]:
        assert computed(name).compute(real, synthetic) == pytest.approx(expected)
    first, second = (pd.DataFrame({"a": x, "b": x, "c": "x"}) for x in (real, synthetic))
    assert computed("CorrelationSimilarity").compute(first, second) == 1.0
    kinds = {"columns": {"a": {"sdtype": "categorical"}}}  # what is said stays so
    with warns(MetricWarning):
        assert math.isnan(computed("KSComplement").compute(first[["a"]], second[["a"]], kinds))


@pytest.mark.parametrize("name", ["TVComplement", "CategoryCoverage", "CategoryAdherence"])
def test_a_metric_of_categories_takes_numbers_of_a_column_as_categories(name):
    codes = [1, 2, 3, 2]
    texts = [str(code) for code in codes]
    assert computed(name).compute(codes, codes[1:]) == computed(name).compute(texts, texts[1:])


def test_columns_of_other_libraries_and_shapes():
    values = [0, 1, 1, 2]
    for convert in (pl.Series, pa.array, np.array, tuple):
        assert computed("KSComplement").compute(convert(values), convert(values)) == 1.0
    with raises(TableError):
        computed("KSComplement").compute(np.ones((3, 2)), np.ones((3, 2)))


@pytest.mark.slow
def test_a_report_reads_its_own_scores(tmp_path):
    report = QualityReport()
    report.generate(TRAIN, SYNTHETIC)
    report.save(tmp_path / "q.json")
    assert QualityReport.load(tmp_path / "q.json").get_score() == report.get_score()
    with raises(InvalidParameterError):
        DiagnosticReport.load(tmp_path / "q.json")
    with raises(InvalidParameterError):
        report.get_details(5)


@pytest.mark.filterwarnings("ignore:the number of CorrelationSimilarity may differ")
def test_options_that_are_not_there_are_named():
    spearman = computed("CorrelationSimilarity").compute(TRAIN, SYNTHETIC, method="spearman")
    metric = computed("CorrelationSimilarity")
    assert metric.compute(TRAIN, SYNTHETIC, coefficient="Spearman") == spearman
    with raises(InvalidParameterError):
        computed("KSComplement").compute([1, 2], [1, 2], foo=1)


def test_it_has_a_copy_and_shares_no_settings():
    for metric in (ComputedMetric(DCRBaselineProtection), computed("TVComplement")):
        assert pickle.loads(pickle.dumps(metric)).kind is copy.deepcopy(metric).kind is metric.kind
    computed("TVComplement").settings["nan"] = "own"
    assert computed("TVComplement").settings == {"nan": "drop"}


def test_what_is_not_there_is_said():
    with raises(AttributeError):
        skeval.compat.Nothing  # noqa: B018
    with raises(LookupError):
        computed("Nothing")
    with raises(InvalidParameterError):
        computed("DCROverfittingProtection").compute(TRAIN, SYNTHETIC)
    with raises(InvalidParameterError):
        QualityReport().get_score()


def test_options_have_their_names_or_ours():
    metric = ComputedMetric(DCRBaselineProtection)
    seeds = [metric.compute(TRAIN, SYNTHETIC, random_state=seed) for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    draws = {"num_rows_subsample": 30, "num_iterations": 2}
    assert 0.0 <= computed("DCRBaselineProtection").compute(TRAIN, SYNTHETIC, **draws) <= 1.0


@pytest.mark.parametrize(
    ("kind", "titles"),
    [
        (
            QualityReport,
            ["Column Shapes", "Column Pair Trends", "Cardinality", "Intertable Trends"],
        ),
        (DiagnosticReport, ["Data Validity", "Data Structure", "Relationship Validity"]),
    ],
)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_reports_of_several_tables(kind, titles, tmp_path):
    real, synthetic = (make_relational(20, seed) for seed in range(2))
    report = kind()
    report.generate(real, synthetic, verbose=True)
    properties = report.get_properties()
    assert set(properties["Property"]) <= set(titles)
    of_mappings = kind()
    with warns(MetricWarning):
        of_mappings.generate(dict(real.items()), dict(synthetic.items()))
    assert of_mappings.get_properties()["Property"].to_list() == titles
    report.save(tmp_path / "scores.pkl")
    again = kind.load(tmp_path / "scores.pkl")
    assert again.get_score() == report.get_score()
    pd.testing.assert_frame_equal(again.get_properties(), properties)
