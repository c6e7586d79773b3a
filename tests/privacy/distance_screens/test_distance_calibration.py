"""Do p-values and intervals of the distance screens hold what they promise: 200 tables each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.privacy import NNDR, DCRPercentile, DCRShare, HoldoutDistanceRatio
from skeval.stats.percentiles import neighbor_ratios, percentile, percentile_ratio
from skeval.steps.neighbors import nearest

N_SEEDS = 200
SIZES = [(200, 200, 200), (200, 80, 300), (80, 200, 120)]


def tables(draw, sizes, p):
    """Yield a generator of numbers, train, holdout and synthetic rows of one law, seed by seed."""
    for seed in range(N_SEEDS):
        rng = np.random.default_rng([seed, *sizes, p])
        yield rng, *(draw(n, p, rng) for n in sizes)


def is_level(p_values, level=0.05):
    """Return whether the fraction of small p-values is correct or lower."""
    return 0.01 <= np.mean(np.array(p_values) < level) <= 0.085


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
    """Values for the distributions of the generator and the population, given train."""

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


@pytest.mark.calibration
@pytest.mark.parametrize(("sizes", "p", "leak"), [
    (SIZES[0], 3, 0.0), (SIZES[1], 5, 0.0), (SIZES[2], 4, 0.0), (SIZES[0], 3, 0.3),
])  # fmt: skip
def test_distances_to_train(sizes, p, leak):
    kinds = (DCRPercentile, NNDR, HoldoutDistanceRatio)
    held, ratio_held, by_labels, by_holdout = ({kind: [] for kind in kinds} for _ in range(4))
    for rng, train, holdout, _ in tables(normal, sizes, p):
        real = Context.of(train, holdout)
        context = real.with_synthetic(leaky(train, sizes[2], leak, rng))
        truths = Truths(real, leaky(train, 5000, leak, rng), normal(5000, p, rng))
        for kind in kinds:
            result = kind(n_permutations=99).evaluate_context(context)
            value, ratio = truths.of(kind)
            low, high = result.interval
            held[kind].append(low <= value <= high)
            low, high = result.details.get("ratio_interval", result.interval)
            ratio_held[kind].append(low <= ratio <= high)
            by_labels[kind].append(result.p_value)
            by_holdout[kind].append(result.details["p_value_against_holdout"])
    for kind in kinds:
        assert 0.92 <= np.mean(held[kind]) <= 0.99, kind
        assert 0.92 <= np.mean(ratio_held[kind]) <= 0.995, kind  # percentiles of few rows: too wide
        for p_values in (by_labels[kind], by_holdout[kind]):
            if leak:
                assert np.mean(np.array(p_values) < 0.05) > 0.8, kind
            else:
                assert is_level(p_values), (kind, np.mean(np.array(p_values) < 0.05))


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", SIZES)
def test_ratios_of_train_rows(sizes):
    """The truth given the synthetic rows: the percentile of 5,000 further real rows."""
    held, p_values = [], []
    for rng, train, holdout, synthetic in tables(normal, sizes, 4):
        context = Context.of(train, holdout).with_synthetic(synthetic)
        result = NNDR(query="train").evaluate_context(context)
        many = Context.of(train, normal(5000, 4, rng)).with_synthetic(synthetic)
        found, _ = nearest(many, "holdout", "synthetic", k=2)
        truth = percentile(neighbor_ratios(found), 0.05)
        held.append(result.interval[0] <= truth <= result.interval[1])
        p_values.append(result.p_value)
    assert 0.92 <= np.mean(held) <= 0.99
    assert is_level(p_values)


@pytest.mark.calibration
@pytest.mark.parametrize(("draw", "sizes"), [
    (normal, SIZES[0]), (normal, SIZES[1]), (normal, SIZES[2]), (discrete, SIZES[1]),
])  # fmt: skip
def test_shares_closer_to_train(draw, sizes):
    """The truth is the share of real rows that are train; the largest of several is tested too."""
    groups = [["a", "b"], ["b", "c"], ["d"]]
    metrics = (DCRShare(), DCRShare(column_groups=groups, n_permutations=199))
    found = np.empty((2, 4, N_SEEDS))
    for seed, (_, train, holdout, synthetic) in enumerate(tables(draw, sizes, 4)):
        # discrete tables share rows, which fit would warn of
        context = Context.of(train, holdout).with_synthetic(synthetic)
        for i, metric in enumerate(metrics):
            result = metric.evaluate_context(context)
            low, high = result.interval
            covers = low <= result.details["expected"] <= high
            found[i, :, seed] = covers, result.p_value, result.value, result.baseline
    for covered, p_values, values, baselines in found:
        assert np.mean(covered) >= 0.92
        assert is_level(p_values)
        assert np.mean(values) == pytest.approx(np.mean(baselines), abs=0.01)
    assert np.mean(found[0, 0]) <= 0.98  # that of several shares is simultaneous, and wider


@pytest.mark.calibration
def test_shares_of_automatic_groups():
    def draw(n, p, rng):
        common = rng.normal(size=(n, 4))
        rows = common[:, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3]] + rng.normal(size=(n, p))
        return pd.DataFrame(rows, columns=list("abcdefghijkl"))

    covered, p_values = [], []
    metric = DCRShare(column_groups="auto", n_permutations=199)
    for _, train, holdout, synthetic in tables(draw, (150, 150, 150), 12):
        context = Context.of(train, holdout).with_synthetic(synthetic)
        result = metric.evaluate_context(context)
        covered.append(result.interval[0] <= 0.5 <= result.interval[1])
        p_values.append(result.p_value)
    assert np.mean(covered) >= 0.93
    assert is_level(p_values)


@pytest.mark.calibration
@pytest.mark.parametrize("metric", [DCRPercentile(n_permutations=99), NNDR(n_permutations=99)])
def test_p_values_of_discrete_tables_are_valid(metric):
    """Many rows of such tables tie, and many have a duplicate."""
    p_values = []
    for _, train, holdout, synthetic in tables(discrete, (200, 120, 200), 4):
        context = Context.of(train, holdout).with_synthetic(synthetic)
        result = metric.evaluate_context(context)
        p_values.append([result.p_value, result.details["p_value_against_holdout"]])
    assert (np.mean(np.array(p_values) < 0.05, axis=0) <= 0.085).all()
