from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.fidelity.prd import PRDCurve, area_under, max_f_beta
from skeval.steps.manifolds import cluster_histograms

TRAIN, HOLDOUT, FRESH = (make_mixed(200, random_state=seed) for seed in range(3))
QUICK = {"n_runs": 3, "n_angles": 101}


def modes(*centres, n=300, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2)) + 30.0 * np.repeat(centres, n // len(centres))[:, None]
    return pd.DataFrame(rows, columns=["a", "b"])


def test_the_value_and_its_parts():
    result = PRDCurve(**QUICK).fit(TRAIN, HOLDOUT).evaluate(FRESH)
    details = result.details
    precision, recall = details["precision"], details["recall"]
    assert precision.shape == recall.shape == (101,)
    assert precision[50] == pytest.approx(recall[50])
    assert details["f_beta"] == max_f_beta(precision, recall, 8)
    assert details["f_beta_inv"] == max_f_beta(precision, recall, 1 / 8)
    assert result.value == (details["f_beta"] + details["f_beta_inv"]) / 2
    of_holdout = details["holdout"]
    assert result.baseline == (of_holdout["f_beta"] + of_holdout["f_beta_inv"]) / 2
    assert result.value == pytest.approx(result.baseline, abs=0.05)
    area = PRDCurve(**QUICK, headline="auc").fit(TRAIN).score(FRESH)
    assert area == details["auc"] == area_under(precision, recall)


def test_lost_and_invented_modes():
    lost = PRDCurve(**QUICK).fit(modes(0, 1)).evaluate(modes(0, seed=1)).details
    invented = PRDCurve(**QUICK).fit(modes(0)).evaluate(modes(0, 1, seed=1)).details
    assert lost["recall"].max() == pytest.approx(0.5, abs=0.02)
    assert lost["precision"].max() == 1.0
    assert invented["precision"].max() == pytest.approx(0.5, abs=0.02)
    assert invented["recall"].max() == pytest.approx(1.0, abs=0.02)
    assert lost["f_beta"] < 0.6 < 0.9 < lost["f_beta_inv"]
    assert invented["f_beta_inv"] < 0.6 < 0.9 < invented["f_beta"]
    apart = PRDCurve(**QUICK).fit(modes(0)).evaluate(modes(1, seed=1))
    assert apart.value == 0.0


def test_copies_score_one():
    assert PRDCurve(**QUICK).fit(TRAIN).score(TRAIN) == pytest.approx(1.0, abs=1e-9)


def test_few_distinct_rows_are_their_own_clusters():
    train, synthetic = (pd.DataFrame({"x": list(letters)}) for letters in ("aabb" * 6, "abbb" * 6))
    details = PRDCurve(n_clusters=5).fit(train).evaluate(synthetic).details
    assert details["n_clusters"] == 2
    assert details["precision"][500] == pytest.approx(0.75)


def test_histograms_are_shares_of_equal_samples():
    context = Context.of(TRAIN).with_synthetic(FRESH[:70])
    found = cluster_histograms(context, 6, 4, True)
    assert found.shape == (4, 2, 6)
    assert found.sum(axis=2) == pytest.approx(np.ones((4, 2)))
    assert np.round(found * 70, 9).tolist() == np.round(found * 70).tolist()
    assert cluster_histograms(context, 6, 4, True) is found
    assert not np.array_equal(cluster_histograms(context, 6, 4, True, seed=1), found)


def test_unequal_sizes():
    metric = PRDCurve(**QUICK).fit(TRAIN)
    assert metric.evaluate(FRESH[:70]).details["n_rows"] == {"train": 70, "synthetic": 70}
    with pytest.warns(MetricWarning, match="200 train and 70 synthetic rows are clustered"):
        PRDCurve(**QUICK, balance=False).fit(TRAIN).score(FRESH[:70])
    sampled = PRDCurve(**QUICK, max_rows=50).fit(TRAIN).evaluate(FRESH)
    assert sampled.details["n_rows"] == {"train": 50, "synthetic": 50}


def test_order_changes_nothing():
    metric = PRDCurve(**QUICK)
    value = metric.fit(TRAIN).score(FRESH)
    mixed = [table.sample(frac=1, random_state=i) for i, table in enumerate((TRAIN, FRESH))]
    assert metric.fit(mixed[0]).score(mixed[1]) == pytest.approx(value, abs=1e-9)
    turned = [table[table.columns[::-1]] for table in mixed]
    assert metric.fit(turned[0]).score(turned[1]) == pytest.approx(value, abs=1e-9)


def test_columns_and_spaces():
    names = ["age", "visits"]
    chosen = PRDCurve(**QUICK, columns=names).fit(TRAIN).score(FRESH)
    assert chosen == PRDCurve(**QUICK).fit(TRAIN[names]).score(FRESH[names])
    raw = PRDCurve(**QUICK, space=FunctionTransformer()).fit(modes(0, 1))
    assert raw.score(modes(0, 1, seed=1)) > 0.9
    with pytest.raises(InvalidParameterError, match="space must be 'euclidean'"):
        PRDCurve(space="gower").fit(TRAIN)


def test_too_few_rows():
    metric = PRDCurve().fit(TRAIN)
    with pytest.warns(DegenerateInputWarning, match="20 clusters need as many rows.* are 19"):
        assert np.isnan(metric.score(FRESH[:19]))


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(
    "change",
    [{"age": np.inf}, {"age": np.nan}, {"age": 1e300}, {"city": "elsewhere"}, {"city": None}],
    ids=str,
)
def test_odd_tables(change):
    train = TRAIN.assign(constant=1.0, empty=np.nan)
    synthetic = FRESH.assign(constant=1.0, empty=np.nan, **change)
    assert 0.0 <= PRDCurve(**QUICK).fit(train).score(synthetic) <= 1.0
