"""Two people come from other packages, and walk the path of the documents that they know."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from skeval import make_suite
from skeval.privacy import AnonymeterRisk
from tests.sources import path_sdmetrics, path_syneval
from tests.sources.checks import nearest


@pytest.mark.filterwarnings("ignore:the number of NewRowShare:skeval.exceptions.MetricWarning")
@pytest.mark.slow
def test_the_path_from_sdmetrics():
    given = path_sdmetrics.path()
    real, synthetic = path_sdmetrics.real_data, path_sdmetrics.synthetic_data
    ours = make_suite("quality").fit(real).evaluate(synthetic).properties()["score"]
    # SDMetrics cuts each table on edges of its own, and the path keeps to that
    assert given["score"] == pytest.approx(ours["overall"], abs=0.01)
    assert given["properties"]["Property"].tolist() == ["Column Shapes", "Column Pair Trends"]
    scores = given["properties"]["Score"]
    assert scores.tolist() == pytest.approx(ours.drop("overall").tolist(), abs=0.02)
    assert set(given["details"]["Column"]) == set(real.columns)
    assert isinstance(given["figure"], Figure)
    inside = synthetic["joined"].dropna().between(real["joined"].min(), real["joined"].max())
    assert given["boundary"] == inside.mean()
    assert given["new"] == 1.0
    unseen = path_sdmetrics.unseen_data
    near = [nearest(synthetic, table, table) for table in (real, unseen)]
    share = (near[0] < near[1]).mean()
    breakdown = given["overfitting"]
    assert breakdown["score"] == pytest.approx(min(1.0, 2.0 * (1.0 - share)))
    percentages = breakdown["synthetic_data_percentages"]
    assert percentages["closer_to_training"] == pytest.approx(share)


@pytest.mark.slow
@pytest.mark.parametrize("control", [None, path_syneval.control_data], ids=["as it is", "control"])
def test_the_path_from_syneval(control):
    copied, auc, risk = path_syneval.path(control_data=control)
    assert copied == 25.0
    assert 0.3 < auc < 0.7
    real, synthetic = path_syneval.original_data, path_syneval.synthetic_data
    attack = AnonymeterRisk(reference="baseline").fit(real, path_syneval.control_data)
    assert risk == pytest.approx(attack.score(synthetic), abs=0.03)  # the scale of distances
