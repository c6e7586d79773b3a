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
from skeval.compat import ComputedMetric, DiagnosticReport, QualityReport, computed
from skeval.compat.sdmetrics import _METRICS
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError, MetricWarning, TableError
from skeval.privacy import DCRBaselineProtection
from skeval.suites.names import proper_name

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(60, random_state=seed) for seed in range(3))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", _METRICS)
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
    with pytest.warns(MetricWarning, match="no column of this table can be measured"):
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
    with pytest.raises(TableError, match="train must be a pandas, polars or pyarrow table"):
        computed("KSComplement").compute(np.ones((3, 2)), np.ones((3, 2)))


def test_a_report_reads_its_own_scores(tmp_path):
    report = QualityReport()
    report.generate(TRAIN, SYNTHETIC)
    report.save(tmp_path / "q.json")
    assert QualityReport.load(tmp_path / "q.json").get_score() == report.get_score()
    with pytest.raises(InvalidParameterError, match="has no scores of data_validity; the other"):
        DiagnosticReport.load(tmp_path / "q.json")
    with pytest.raises(InvalidParameterError, match="There is no property '5'"):
        report.get_details(5)


def test_options_that_are_not_there_are_named():
    spearman = computed("CorrelationSimilarity").compute(TRAIN, SYNTHETIC, method="spearman")
    metric = computed("CorrelationSimilarity")
    assert metric.compute(TRAIN, SYNTHETIC, coefficient="Spearman") == spearman
    with pytest.raises(InvalidParameterError, match="compute has no option foo; there are col"):
        computed("KSComplement").compute([1, 2], [1, 2], foo=1)


def test_it_has_a_copy_and_shares_no_settings():
    for metric in (ComputedMetric(DCRBaselineProtection), computed("TVComplement")):
        assert pickle.loads(pickle.dumps(metric)).kind is copy.deepcopy(metric).kind is metric.kind
    computed("TVComplement").settings["nan"] = "own"
    assert computed("TVComplement").settings == {"nan": "drop"}


def test_what_is_not_there_is_said():
    with pytest.raises(AttributeError, match="skeval explain Nothing says what it is here"):
        skeval.compat.Nothing  # noqa: B018
    with pytest.raises(LookupError, match="Nothing is not among BNLikelihood"):
        computed("Nothing")
    with pytest.raises(
        InvalidParameterError, match="compute takes real_training_data, synthetic_data, real_val"
    ):
        computed("DCROverfittingProtection").compute(TRAIN, SYNTHETIC)
    with pytest.raises(InvalidParameterError, match="QualityReport has no scores yet"):
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
def test_reports_of_several_tables(kind, titles, tmp_path):
    real, synthetic = (make_relational(20, seed) for seed in range(2))
    report = kind()
    report.generate(real, synthetic, verbose=True)
    properties = report.get_properties()
    assert set(properties["Property"]) <= set(titles)
    of_mappings = kind()
    with pytest.warns(MetricWarning, match="The keys were detected from names and values"):
        of_mappings.generate(dict(real.items()), dict(synthetic.items()))
    assert of_mappings.get_properties()["Property"].to_list() == titles
    report.save(tmp_path / "scores.pkl")
    again = kind.load(tmp_path / "scores.pkl")
    assert again.get_score() == report.get_score()
    pd.testing.assert_frame_equal(again.get_properties(), properties)
