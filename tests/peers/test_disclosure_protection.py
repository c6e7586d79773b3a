"""Disclosure protection agrees with SDMetrics where its definition is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.privacy import AttributeInferenceRisk
from skeval.privacy.attacks.disclosure_protection import (
    DisclosureProtection,
    DisclosureProtectionEstimate,
)
from skeval.stats.correct_attribution import inference_distance

pytestmark = pytest.mark.peers

PEER = """
from sdmetrics.single_table import privacy

found = []
for case in given["cases"]:
    arguments = dict(
        known_column_names=case["known"],
        sensitive_column_names=case["sensitive"],
        computation_method=case["method"],
        continuous_column_names=case["continuous"],
        num_discrete_bins=case["n_bins"],
    )
    told = privacy.DisclosureProtection.compute_breakdown(train, synthetic, **arguments)
    told["estimate"] = privacy.DisclosureProtectionEstimate.compute_breakdown(
        train, synthetic, **arguments, num_rows_subsample=500, num_iterations=2, verbose=False
    )["cap_protection"]
    told["sampled"] = [
        privacy.DisclosureProtectionEstimate.compute_breakdown(
            train, synthetic, **arguments, num_rows_subsample=60, num_iterations=40, verbose=False
        )["cap_protection"]
    ]
    found.append(told)
"""
RANKS = """
import numpy as np
from copulas.univariate import GaussianUnivariate
from sdmetrics.single_table.privacy.loss import InverseCDFDistance

loss = InverseCDFDistance()
fitted = GaussianUnivariate()
fitted.fit(np.array(given["train"]))
loss.cdfs = [fitted]
pairs = zip(given["predicted"], given["true"])
found = float(np.mean([loss.measure((guess,), (value,)) for guess, value in pairs]))
"""
KINDS = {
    "age": "numerical",
    "income": "numerical",
    "visits": "numerical",
    "city": "categorical",
    "plan": "categorical",
    "joined": "datetime",
}
METHODS = ("cap", "zero_cap", "generalized_cap")
COLUMNS = {
    "categories": (["city", "visits"], ["plan"], []),
    "bins": (["age", "city"], ["income"], ["age", "income"]),
    "two secrets": (["age", "visits"], ["plan", "city"], ["age"]),
    "many": (["age", "income", "visits", "city"], ["plan"], ["age", "income", "visits"]),
}
CASES = [
    {"known": known, "sensitive": sensitive, "method": method, "continuous": cut, "n_bins": n_bins}
    for (known, sensitive, cut), n_bins in zip(COLUMNS.values(), (10, 4, 7, 10), strict=True)
    for method in METHODS
]


@pytest.fixture(scope="module")
def tables():
    train, synthetic = (make_mixed(300, random_state=seed) for seed in range(2))
    synthetic.loc[:20, "city"] = "Atlantis"
    synthetic.loc[20:40, "plan"] = np.nan
    train.loc[30:60, "plan"] = np.nan
    synthetic["income"] = synthetic["income"] * 1.5 - 9000  # beyond the real range
    synthetic = pd.concat([synthetic, train[:60]], ignore_index=True)
    return train, synthetic


@pytest.fixture(scope="module")
def theirs(tables, sdmetrics):
    return sdmetrics(PEER, tables, KINDS, cases=CASES)


def ours(kind, case, tables, **settings):
    arguments = {**case, **settings}
    metric = kind(arguments.pop("known"), arguments.pop("sensitive"), **arguments)
    return metric.fit(tables[0]).evaluate(tables[1])


@pytest.mark.parametrize("i", range(len(CASES)))
def test_breakdown_agrees(i, tables, theirs):
    found = ours(DisclosureProtection, CASES[i], tables)
    assert found.value == pytest.approx(theirs[i]["score"], abs=1e-12)
    assert found.details["protection"] == pytest.approx(theirs[i]["cap_protection"], abs=1e-12)
    assert found.details["guess"] == pytest.approx(theirs[i]["baseline_protection"], abs=1e-12)


@pytest.mark.parametrize("i", range(len(CASES)))
def test_estimate_agrees(i, tables, theirs):
    """Exactly where all rows are drawn; else up to what two samples differ by."""
    whole = ours(DisclosureProtectionEstimate, CASES[i], tables, num_rows=500, num_iterations=2)
    assert whole.details["protection"] == pytest.approx(theirs[i]["estimate"], abs=1e-12)
    sampled = ours(DisclosureProtectionEstimate, CASES[i], tables, num_rows=60, num_iterations=40)
    error = max(0.01, sampled.details["standard_error"])
    assert sampled.details["protection"] == pytest.approx(theirs[i]["sampled"][0], abs=4 * error)


def test_plain_cap_is_not_normalized(tables, theirs):
    """What CategoricalCAP and its kin return."""
    found = ours(DisclosureProtection, CASES[0], tables, normalize=False)
    assert found.value == pytest.approx(theirs[0]["cap_protection"], abs=1e-12)


def test_distance_in_rank_differs_by_the_distribution(tables, peer):
    """Theirs takes a parametric distribution of train, which fits normal values only."""
    train = np.random.default_rng(0).normal(size=4000)
    true, predicted = train[:200], train[:200] + 0.3
    given = {"train": train.tolist(), "true": true.tolist(), "predicted": predicted.tolist()}
    theirs = peer("sdmetrics", RANKS, given)
    assert inference_distance(predicted, true, train) == pytest.approx(theirs, rel=0.05)
    skewed = np.exp(3 * train)
    given = {
        "train": skewed.tolist(),
        "true": skewed[:200].tolist(),
        "predicted": (2 * skewed[:200]).tolist(),
    }
    assert inference_distance(2 * skewed[:200], skewed[:200], skewed) > 3 * peer(
        "sdmetrics", RANKS, given
    )


def test_inference_of_numbers_reports_it(tables):
    train, synthetic = tables
    metric = AttributeInferenceRisk("age").fit(train, make_mixed(100, random_state=9))
    assert 0 < metric.evaluate(synthetic).details["inference_distance"] < 1
