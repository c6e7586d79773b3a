"""Precision, recall, density and coverage are those of prdc, but for its rows on a boundary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval.datasets import make_mixed
from skeval.fidelity import DensityCoverage, ImprovedPrecisionRecall

pytestmark = pytest.mark.peers

PEER = """
import numpy as np
from prdc import compute_prdc

found = []
for train, synthetic, k in given:
    scores = compute_prdc(np.array(train), np.array(synthetic), nearest_k=k)
    found.append({name: float(score) for name, score in scores.items()})
"""
NEIGHBOURS = [1, 3, 5]
METRICS = ImprovedPrecisionRecall, DensityCoverage
SIDES = ["precision", "recall", "density", "coverage"]


def fresh():
    rng = np.random.default_rng(0)
    train, synthetic = rng.normal(size=(200, 3)), rng.normal(0.5, 1.0, (150, 3))
    return tuple(pd.DataFrame(rows, columns=list("xyz")) for rows in (train, synthetic))


def numbers():
    """Years, incomes and counts, each on a scale of its own."""
    return tuple(
        make_mixed(300, random_state=seed)[["age", "income", "visits"]].dropna()
        for seed in range(2)
    )


def duplicates():
    levels = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20)})
    return levels, levels


TABLES = {make.__name__: make() for make in (fresh, numbers, duplicates)}


@pytest.fixture(scope="module")
def theirs(peer):
    asked = [(name, k) for name in TABLES for k in NEIGHBOURS]
    given = [[*(table.to_numpy().tolist() for table in TABLES[name]), k] for name, k in asked]
    return dict(zip(asked, peer("prdc", PEER, given), strict=True))


def ours(name, k, **settings):
    """Return the four scores in the space of the numbers as they are."""
    train, synthetic = TABLES[name]
    metrics = (metric(k, space=FunctionTransformer(), **settings) for metric in METRICS)
    found = [metric.fit(train).evaluate(synthetic).details for metric in metrics]
    return {side: details[side] for details in found for side in SIDES if side in details}


@pytest.mark.parametrize("k", NEIGHBOURS)
@pytest.mark.parametrize("name", ["fresh", "numbers"])
def test_agrees_where_the_boundary_is_outside(name, k, theirs):
    assert ours(name, k, strict=True) == pytest.approx(theirs[name, k], abs=1e-12)


@pytest.mark.parametrize("k", NEIGHBOURS)
def test_copies_of_duplicates_score_nothing_there(k, theirs):
    """Balls of radius 0 do not hold their own centre there: copies of train are as bad as noise."""
    assert theirs["duplicates", k] == dict.fromkeys(SIDES, 0.0)
    assert ours("duplicates", k, strict=True) == dict.fromkeys(SIDES, 0.0)
    found = ours("duplicates", k)
    assert [found[side] for side in ("precision", "recall", "coverage")] == [1.0, 1.0, 1.0]
    assert found["density"] == pytest.approx(20 / k)  # each row is in 20 balls
