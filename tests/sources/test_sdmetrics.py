"""What SDMetrics' documentation shows: breakdowns under its own keys, and its plots as one call each."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import MissingInputError
from skeval.plotting import plot_cardinality, plot_column, plot_lines, plot_pair
from skeval.privacy import DCRBaselineProtection, DCROverfittingProtection, DCRShare
from skeval.relational import RelationalSchema, SequenceKey

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def test_the_breakdown_of_overfitting():
    metric = DCROverfittingProtection(ties="holdout", scale="reference", chance="half")
    result = metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    breakdown = result.details["sdmetrics"]
    shares = breakdown["synthetic_data_percentages"]
    assert breakdown["score"] == result.value == min(1, 2 * (1 - shares["closer_to_training"]))
    assert shares["closer_to_holdout"] == pytest.approx(1 - shares["closer_to_training"])


def test_the_breakdown_of_the_baseline():
    result = DCRBaselineProtection().fit(TRAIN).evaluate(SYNTHETIC)
    breakdown = result.details["sdmetrics"]
    medians = breakdown["median_DCR_to_real_data"]
    assert breakdown["score"] == result.value
    expected = medians["synthetic_data"] / medians["random_data_baseline"]
    assert min(1, expected) == pytest.approx(result.value, rel=0.02)  # a mean of quotients


def test_without_a_holdout_the_error_names_the_other_metric():
    with pytest.raises(
        MissingInputError, match="Without one, DCRBaselineProtection compares"
    ) as raised:
        DCROverfittingProtection().fit(TRAIN)
    assert "DCRBaselineProtection" in str(raised.value)
    with pytest.raises(MissingInputError) as raised:
        DCRShare().fit(TRAIN)
    assert "DCRBaselineProtection" not in str(raised.value)


def test_a_plot_is_one_call():
    shares = plot_column(TRAIN, SYNTHETIC, "city", holdout=HOLDOUT)
    assert isinstance(shares.figure_, Figure)
    assert {"train", "holdout", "synthetic"} < set(shares.frame().columns)
    real = shares.frame().set_index("bar")["train"]
    counts = TRAIN["city"].value_counts(normalize=True)
    common = counts[counts * len(TRAIN) >= 10].index.intersection(real.index)
    assert len(common) >= 2
    assert real[common].to_numpy() == pytest.approx(counts[common], abs=0.05)
    pair = plot_pair(TRAIN, SYNTHETIC, ("age", "plan"))
    assert isinstance(pair.figure_, Figure)
    assert 0.8 < pair.frame()["synthetic"].sum() <= 1.0  # rare cells are blank


def test_a_plot_of_several_tables_is_one_call():
    real, synthetic = (make_relational(random_state=seed) for seed in range(2))
    bars = plot_cardinality(real, synthetic, real.schema)
    assert isinstance(bars.figure_, Figure)
    per_key = bars.frame().groupby(["key", "role"])["share"].sum()
    assert per_key.to_numpy() == pytest.approx(1.0)
    visits = pd.DataFrame({"patient": np.repeat(range(20), 3), "x": [1.0, 2.0, 3.0] * 20})
    schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    lines = plot_lines({"visits": visits}, {"visits": visits}, schema)
    assert isinstance(lines.figure_, Figure)
    assert lines.frame()["mean"].tolist()[:3] == [1.0, 2.0, 3.0]
