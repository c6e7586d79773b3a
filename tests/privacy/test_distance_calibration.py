"""Do p-values and intervals of the distance screens hold what they promise: 400 tables each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.privacy.dcr_share import DCRShare
from skeval.privacy.holdout_ratio import HoldoutDistanceRatio
from skeval.privacy.percentiles import NNDR, DCRPercentile
from skeval.stats.percentiles import neighbor_ratios, percentile, percentile_ratio
from skeval.steps import nearest

pytestmark = pytest.mark.slow
N_SEEDS = 400
SIZES = [(200, 200, 200), (200, 80, 300), (80, 200, 120)]


def is_share(hits, nominal):
    """Tell whether a share of seeds is what it should be, up to three standard errors."""
    return abs(np.mean(hits) - nominal) <= 3.0 * np.sqrt(nominal * (1.0 - nominal) / len(hits))


def normal(n, p, rng):
    return pd.DataFrame(rng.normal(size=(n, p)), columns=list("abcdefghijkl")[:p])


def discrete(n, p, rng):
    return pd.DataFrame(rng.integers(0, 4, (n, p)).astype(float), columns=list("abcd")[:p])


def leaky(train, n, leak, rng):
    """Draw from a generator that repeats train rows, with little noise, in a share of its rows."""
    rows = normal(n, train.shape[1], rng)
    copied = rng.random(n) < leak
    near = train.to_numpy()[rng.integers(0, len(train), copied.sum())]
    rows[copied] = near + 0.05 * rng.normal(size=near.shape)
    return rows


class Truths:
    """What holds of the generator's law and of the population's, train being given."""

    def __init__(self, real, drawn, fresh):
        self.near = [
            nearest(real.with_synthetic(rows), "synthetic", "train", k=2)[0]
            for rows in (drawn, fresh)
        ]

    def of(self, kind):
        """Return the value and its ratio to that of fresh rows."""
        if kind is NNDR:
            drawn, fresh = (neighbor_ratios(near) for near in self.near)
        else:
            drawn, fresh = (near[:, 0] for near in self.near)
        level = 0.5 if kind is HoldoutDistanceRatio else 0.05
        ratio = percentile_ratio(drawn, fresh, level)
        return (ratio if kind is HoldoutDistanceRatio else percentile(drawn, level)), ratio


@pytest.mark.parametrize(("sizes", "p", "leak"), [
    (SIZES[0], 3, 0.0), (SIZES[1], 5, 0.0), (SIZES[2], 4, 0.0), (SIZES[0], 3, 0.3),
])  # fmt: skip
def test_distances_to_train(sizes, p, leak):
    kinds = (DCRPercentile, NNDR, HoldoutDistanceRatio)
    held, ratio_held, small = ({kind: [] for kind in kinds} for _ in range(3))
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        train, holdout = (normal(n, p, rng) for n in sizes[:2])
        real = Context.of(train, holdout)
        context = real.with_synthetic(leaky(train, sizes[2], leak, rng))
        truths = Truths(real, leaky(train, 5000, leak, rng), normal(5000, p, rng))
        for kind in kinds:
            result, (value, ratio) = kind().evaluate_context(context), truths.of(kind)
            low, high = result.interval
            held[kind].append(low <= value <= high)
            low, high = result.details.get("ratio_interval", result.interval)
            ratio_held[kind].append(low <= ratio <= high)
            small[kind].append(result.p_value < 0.05)
    for kind in kinds:
        assert is_share(held[kind], 0.95) or np.mean(held[kind]) > 0.95
        assert np.mean(held[kind]) <= 0.985
        assert is_share(ratio_held[kind], 0.95) or np.mean(ratio_held[kind]) > 0.95
        assert np.mean(ratio_held[kind]) <= 0.995  # percentiles of few rows: too wide
        assert np.mean(small[kind]) > 0.8 if leak else is_share(small[kind], 0.05)


@pytest.mark.parametrize("sizes", SIZES)
def test_ratios_of_train_rows(sizes):
    """The truth given the synthetic rows: the percentile of 5,000 further real rows."""
    held, small = [], []
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        train, holdout, synthetic = (normal(n, 4, rng) for n in sizes)
        context = Context.of(train, holdout).with_synthetic(synthetic)
        result = NNDR(query="train").evaluate_context(context)
        many = Context.of(train, normal(5000, 4, rng)).with_synthetic(synthetic)
        found, _ = nearest(many, "holdout", "synthetic", k=2)
        truth = percentile(neighbor_ratios(found), 0.05)
        held.append(result.interval[0] <= truth <= result.interval[1])
        small.append(result.p_value < 0.05)
    assert 0.92 <= np.mean(held) <= 0.985
    assert is_share(small, 0.05)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("draw", [normal, discrete])
def test_shares_closer_to_train(draw, sizes):
    """The truth is the share of real rows that are train; the largest of several is tested too."""
    groups = [["a", "b"], ["b", "c"], ["d"]]
    metrics = (DCRShare(), DCRShare(column_groups=groups, n_permutations=199))
    found = np.empty((N_SEEDS, 2, 4))
    for seed in range(N_SEEDS):
        rng = np.random.default_rng(seed)
        # discrete tables share rows, which fit would warn of
        train, holdout, synthetic = (draw(n, 4, rng) for n in sizes)
        context = Context.of(train, holdout).with_synthetic(synthetic)
        for i, metric in enumerate(metrics):
            result = metric.evaluate_context(context)
            low, high = result.interval
            covers = low <= result.details["expected"] <= high
            found[seed, i] = covers, result.p_value < 0.05, result.value, result.baseline
    (held, small, value, baseline), several = found.mean(axis=0)
    assert is_share(found[:, 0, 0], 0.95), held
    assert is_share(found[:, 0, 1], 0.05), small
    assert value == pytest.approx(baseline, abs=0.01)
    # simultaneous, and a test of so few relabellings: on the careful side
    assert several[0] >= 0.93
    assert 0.01 <= several[1] <= 0.08
    assert several[2] == pytest.approx(several[3], abs=0.01)


def test_shares_of_automatic_groups():
    found = np.empty((200, 2))
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables = []
        for _ in range(3):
            common = rng.normal(size=(150, 4))
            rows = common[:, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]] + rng.normal(size=(150, 12))
            tables.append(pd.DataFrame(rows, columns=list("abcdefghijkl")))
        context = Context.of(*tables[:2]).with_synthetic(tables[2])
        metric = DCRShare(column_groups="auto", n_permutations=199)
        result = metric.evaluate_context(context)
        found[seed] = result.interval[0] <= 0.5 <= result.interval[1], result.p_value < 0.05
    held, small = found.mean(axis=0)
    assert held >= 0.93
    assert 0.01 <= small <= 0.08


@pytest.mark.parametrize("metric", [DCRPercentile(), NNDR()])
def test_p_values_of_discrete_tables_are_valid(metric):
    """Many rows of such tables tie, and many have a duplicate."""
    small = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        train, holdout, synthetic = (discrete(n, 4, rng) for n in (200, 120, 200))
        context = Context.of(train, holdout).with_synthetic(synthetic)
        small.append(metric.evaluate_context(context).p_value)
    assert np.mean(np.array(small) < 0.05) <= 0.08
