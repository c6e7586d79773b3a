"""SynthEval's numbers, where its definition is kept, by the parameters that its page of the guide names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.fidelity import (
    KSComplement,
    NearestNeighborAdversarialAccuracy,
    QuantileMSE,
    StatisticSimilarity,
    TVComplement,
)
from skeval.privacy import NNDR, DCRPercentile, HittingRate, NNAAPrivacyLoss
from skeval.utility import MeanCIOverlap

pytestmark = pytest.mark.peers

PEER = """
import pandas as pd
from syntheval import SynthEval

tables = [pd.DataFrame(table) for table in given["tables"]]
found = {}
for metric, (names, settings) in given["metrics"].items():
    own = [table[names] for table in tables]
    evaluation = SynthEval(
        *own[:2],
        cat_cols=[name for name in names if name in given["nominal"]],
        verbose=False,
        console="off",
        enable_plots=False,
    )
    evaluation.evaluate(own[2], **{metric: settings})
    results = evaluation._raw_results[metric]
    numbers = {name: value for name, value in results.items() if isinstance(value, (int, float))}
    found[metric] = {name: float(value) for name, value in numbers.items()}
"""
NUMERIC, NOMINAL = ["x", "y"], ["c", "d"]
ALL = [*NUMERIC, *NOMINAL]
METRICS = {
    **{
        metric: (ALL, {}) for metric in ("dcr", "nndr", "nnaa", "hit_rate", "cio", "ks_test", "dwm")
    },
    "q_mse": (NUMERIC, {}),
}


def drawn(seed, ends=None):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=300)
    y = 0.7 * x + rng.normal(size=300)
    c = np.where(x + rng.normal(size=300) > 0, "a", rng.choice(["b", "z"], 300))
    table = pd.DataFrame({"x": x, "y": y, "c": c, "d": np.where(y > 0, "p", "q")})
    if ends is not None:  # theirs scales by all three tables, ours by the real ones
        table[NUMERIC] = (1.2 * table[NUMERIC] + 0.2).clip(*ends, axis=1)
    return table


@pytest.fixture(scope="module")
def tables():
    train = drawn(0)
    ends = train[NUMERIC].min(), train[NUMERIC].max()
    holdout = drawn(1)
    holdout[NUMERIC] = holdout[NUMERIC].clip(*ends, axis=1)
    return train, holdout, drawn(2, ends)


@pytest.fixture(scope="module")
def theirs(tables, peer):
    frames = [table.to_dict("list") for table in tables]
    return peer("syntheval", PEER, {"tables": frames, "metrics": METRICS, "nominal": NOMINAL})


def ours(metric, tables, holdout=True):
    return metric.fit(tables[0], tables[1] if holdout else None).evaluate(tables[2])


def test_distances_agree(tables, theirs):
    """Up to theirs' single precision."""
    found = {
        "mDCR": ours(DCRPercentile(50, "train_loo"), tables).details["ratio"],
        "avg": ours(NNDR(query="train"), tables).details["mean"],
        "hit rate": ours(HittingRate(), tables, holdout=False).value,
    }
    expected = {"avg": theirs["nndr"]["avg"], **theirs["dcr"], **theirs["hit_rate"]}
    assert found == pytest.approx(expected, abs=1e-7)


def test_adversarial_accuracy_agrees(tables, theirs):
    found = ours(NearestNeighborAdversarialAccuracy(), tables), ours(NNAAPrivacyLoss(), tables)
    expected = theirs["nnaa"]["avg"], theirs["nnaa"]["priv_loss"]
    assert tuple(result.value for result in found) == pytest.approx(expected, abs=1e-12)


def test_its_intervals_are_of_deviations(tables, theirs):
    """1.96 there, the quantile here; intervals of means overlap far less."""
    found = ours(MeanCIOverlap(spread="std"), tables).value
    assert found == pytest.approx(theirs["cio"]["avg overlap"], abs=1e-6)
    assert ours(MeanCIOverlap(), tables).value < found - 0.2


def test_columns_agree(tables, theirs):
    """One minus theirs; its total variation is rounded to four decimals."""
    found = {
        "avg ks": 1.0 - ours(KSComplement(), tables).value,
        "avg tvd": 1.0 - ours(TVComplement(), tables).value,
    }
    assert found == pytest.approx({name: theirs["ks_test"][name] for name in found}, abs=5e-5)
    assert 1.0 - ours(StatisticSimilarity("mean"), tables).value == pytest.approx(
        theirs["dwm"]["avg"], abs=1e-12
    )
    assert ours(QuantileMSE(), tables).value == pytest.approx(
        theirs["q_mse"]["avg qMSE"], abs=1e-12
    )
