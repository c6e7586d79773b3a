"""Sentences that depend on what was found; that each metric has one is part of its contract."""

from __future__ import annotations

import math

import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.datasets import make_mixed
from skeval.privacy import AnonymeterRisk
from skeval.reporting.result_sentence import finding, judged
from skeval.utility import CoefficientOverlap


def anonymeter(p_value, attacks):
    """Make a result of attacks, each a residual risk and a p-value."""
    printed = {n: {"residual_risk": r, "p_value": p} for n, (r, p) in attacks.items()}
    worst = max(attacks, key=lambda name: attacks[name][0])
    return Result(
        attacks[worst][0],
        p_value=p_value,
        baseline=0.05,
        details={
            "attacks": {**printed, "inference of b": {"residual_risk": math.nan, "p_value": 0.0}},
            "left_out": ["inference of b"],
            "n_attacks_made": len(attacks) + 1,
            "worst_attack": worst,
            "surest_attack": min(attacks, key=lambda name: attacks[name][1]),
            "level": "low",
        },
        metric="AnonymeterRisk",
        tags=AnonymeterRisk.tags,
    )


LARGEST = (
    "Of 3 attacks, linkability has the largest residual risk, 0.200, where chance alone gives "
    "0.0500 on average"
)


@pytest.mark.parametrize(
    ("p_value", "other", "said"),
    [
        (0.003, (0.1, 0.001), f"{LARGEST}. The most significant is inference of a, 0.100."),
        (0.003, (0.1, 0.3), f"{LARGEST}."),  # the largest is the most significant
        (0.003, (0.1, 0.2), f"{LARGEST}."),  # no other is more significant
        (0.051, (0.1, 0.001), f"{LARGEST}: low."),  # no alarm
    ],
)
def test_the_most_significant_attack_is_named_beside_the_largest(p_value, other, said):
    result = anonymeter(p_value, {"linkability": (0.2, 0.2), "inference of a": other})
    assert AnonymeterRisk()._summary(result) == said


def test_coefficients_are_called_so():
    train, holdout = (make_mixed(300, random_state=seed) for seed in range(2))
    result = CoefficientOverlap("member", features=["age", "plan"]).fit(train).evaluate(holdout)
    said = finding(result)
    assert f"Worst coefficient: {result.details['worst']['column']} (" in said
    assert "Worst column" not in said


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.7, 0.95), "real rows lie in its interval"),
        ((0.7, 0.85), "short of real rows, not tested"),
    ],
)
def test_no_row_is_short_of_what_its_interval_holds(interval, said):
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    result = Result(0.8, interval=interval, baseline=0.9, tags=tags)
    assert judged(result, SuiteResult({"a": result}).verdict(), "a") == said
