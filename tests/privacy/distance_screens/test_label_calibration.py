"""Do p-values and intervals of the neighbour statistics hold what they promise: 200 tables each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.fidelity import NearestNeighborAdversarialAccuracy
from skeval.privacy import Authenticity, EpsilonIdentifiability, NNAAPrivacyLoss

N_SEEDS = 200
NOISE = 3 * (0.05 * 0.95 / N_SEEDS) ** 0.5  # of a share of the seeds
METRICS = {
    "accuracy": NearestNeighborAdversarialAccuracy(n_resample=8),
    "loss": NNAAPrivacyLoss(n_resample=8),
    "epsilon": EpsilonIdentifiability(),
    "entropy": EpsilonIdentifiability("entropy"),
    "authenticity": Authenticity(),
}


def readings(sizes, p, leak):
    """Return value, interval and p-value of each metric, seed by seed."""
    found = {name: [] for name in METRICS}
    for seed in range(N_SEEDS):
        rng = np.random.default_rng([seed, *sizes, p])
        train, holdout, synthetic = (rng.normal(size=(n, p)) for n in sizes)
        copied = rng.random(sizes[2]) < leak
        synthetic[copied] = train[rng.integers(0, sizes[0], copied.sum())]
        tables = [
            pd.DataFrame(rows, columns=[f"x{j}" for j in range(p)])
            for rows in (train, holdout, synthetic)
        ]
        suite = MetricSuite(list(METRICS.items()), check_holdout=False).fit(*tables[:2])
        for name, result in suite.evaluate(tables[2]).items():
            p_value = np.nan if result.p_value is None else result.p_value
            found[name].append((result.value, *result.interval, p_value))
    return {name: np.array(rows).T for name, rows in found.items()}


@pytest.mark.calibration
@pytest.mark.parametrize(("sizes", "p"), [((200, 200, 200), 3), ((200, 80, 160), 5)])
def test_without_a_leak(sizes, p):
    for name, (values, low, high, p_values) in readings(sizes, p, 0.0).items():
        truth = values.mean()  # over fresh draws of all tables
        covered = np.mean((low <= truth) & (truth <= high))
        assert 0.95 - NOISE <= covered <= 0.995, (name, covered)
        if name == "accuracy":
            assert truth == pytest.approx(0.5, abs=0.01)
        else:
            small = np.mean(p_values < 0.05)
            assert 0.05 - NOISE <= small <= 0.05 + NOISE, (name, small)


@pytest.mark.calibration
def test_with_a_leak():
    found = readings((200, 200, 200), 3, 0.3)
    for name, (values, low, high, p_values) in found.items():
        covered = np.mean((low <= values.mean()) & (values.mean() <= high))
        assert covered >= 0.95 - NOISE, (name, covered)
        if name != "accuracy":
            assert np.mean(p_values < 0.05) > 0.25, name
