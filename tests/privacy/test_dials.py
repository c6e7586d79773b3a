"""Every screen changes in the right direction with imputed cells and with copied rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import skeval.privacy
from skeval import MetricSuite
from skeval.core.catalogue import metrics_of_package
from skeval.generators import RandomForestImputation

pytestmark = pytest.mark.slow
STEPS = np.linspace(0.0, 1.0, 6)
SCREENS = [
    name
    for name, metric in metrics_of_package("skeval.privacy").items()
    if metric.tags.evidence == "screen"
]
# what these count is 0 for all tables without rows that match a train row exactly or nearly
OF_MATCHES = {
    "ExactMatchShare",
    "HittingRate",
    "IdenticalMatchShare",
    "NearDuplicateShare",
    "NewRowShare",
}


@pytest.fixture(scope="module")
def tables():
    bunch = load_breast_cancer(as_frame=True)
    table = bunch.data.iloc[:, :6].assign(diagnosis=bunch.target_names[bunch.target])
    train, rest = train_test_split(table, test_size=2 / 3, random_state=0)
    holdout, fresh = train_test_split(rest, test_size=1 / 2, random_state=0)
    return train.reset_index(drop=True), holdout, fresh


@pytest.fixture(scope="module")
def suite(tables):
    metrics = [(name, getattr(skeval.privacy, name)()) for name in SCREENS]
    return MetricSuite(metrics, check_holdout=False).fit(*tables[:2])


def readings(suite, tables):
    """Return each screen's values along a dial, larger for a worse leak, and its p-values."""
    found = [suite.evaluate(table) for table in tables]
    return {
        name: (
            np.array([-result[name].value * result[name].tags.sign for result in found]),
            [result[name].p_value for result in found],
        )
        for name in SCREENS
    }


@pytest.fixture(scope="module")
def copied(suite, tables):
    train, _, fresh = tables
    n = len(fresh)
    counts = [round(share * n) for share in STEPS]
    return readings(suite, [pd.concat([train.iloc[:k], fresh.iloc[k:]]) for k in counts])


@pytest.fixture(scope="module")
def imputed(suite, tables):
    generator = RandomForestImputation(random_state=0).fit(tables[0])
    return readings(
        suite, [generator.set_params(p=p).sample(len(tables[0]), random_state=0) for p in STEPS]
    )


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("name", SCREENS)
def test_more_copies_read_worse(copied, name):
    values, p_values = copied[name]
    # a percentile is at its worst with the first few copies, and stays there
    assert np.diff(values).min() >= -0.05 * (values[-1] - values[0])
    assert values[-1] > values[0]
    if p_values[0] is not None:
        assert p_values[-1] < 0.025
        assert p_values[0] > 0.005


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize("name", SCREENS)
def test_more_imputation_reads_better(imputed, name):
    values, _ = imputed[name]
    assert values[0] == values.max() or name == "NNAAPrivacyLoss"
    assert values[-1] < values[0]
    # against copies the accuracy on train is 0 already, and that on holdout moves a little first
    enough = 0.7 if name == "NNAAPrivacyLoss" or name in OF_MATCHES else 0.9
    assert spearmanr(STEPS, values).statistic <= -enough
