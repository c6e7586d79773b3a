"""SDMetrics' calls give the numbers of ours, by its names."""

from __future__ import annotations

import pandas as pd
import pytest

import skeval.compat
from skeval.compat import ComputedMetric, DiagnosticReport, QualityReport, computed
from skeval.compat.sdmetrics import _METRICS
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError
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
    report.save(tmp_path / "scores.pkl")
    again = kind.load(tmp_path / "scores.pkl")
    assert again.get_score() == report.get_score()
    pd.testing.assert_frame_equal(again.get_properties(), properties)
