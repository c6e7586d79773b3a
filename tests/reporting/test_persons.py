"""Page 1 in persons: sentences hold the numbers that the tests made, and name who was not tried."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult
from skeval.datasets import make_mixed
from skeval.exceptions import HoldoutShiftWarning
from skeval.privacy import AnonymeterRisk, MembershipInference
from skeval.reporting import DecisionPage
from skeval.reporting.persons import PRIOR, not_tried, persons
from skeval.results.provenance import ColumnRecord, Provenance
from skeval.utils.formatting import format_mean_count, percent

ATTACK = MetricTags(
    "privacy", greater_is_better=False, bounds=(0, 1), evidence="attack", needs={"holdout"}
)
SIZES = {"train": 200, "holdout": 200, "synthetic": 200}


def counts(n: float, n_success: float) -> dict[str, float]:
    return {"n": n, "n_success": n_success}


def attack(
    risk: str, found: float, strangers: float, p: float, **more: object
) -> dict[str, object]:
    rates = {"attack": counts(200, found), "control": counts(200, strangers)}
    return {**rates, "risk": risk, "p_adjusted": p, "interval": [0.01, 0.07], **more}


def attacked(**attacks: dict[str, object]) -> SuiteResult:
    result = Result(0.1, metric="AnonymeterRisk", tags=ATTACK, details={"attacks": attacks})
    return SuiteResult({"risk": result}, sizes=SIZES)


def test_the_strongest_attack_of_each_risk_in_persons():
    results = attacked(
        a=attack("singling out", 12, 5, 0.01),
        b=attack("singling out", 40, 39, 0.4),
        c=attack("linkability", 7, 2.5, 0.03),
        d=attack("inference", 120, 90, 0.02, secret="income"),
        e=attack("inference", 110, 90, 0.02, secret="age"),
    )
    assert list(persons(results)) == [
        "12 of 200 attacks through this release singled out a person, 5 of 200 a stranger "
        "(excess 1.0% to 6.8%, 95%).",
        "7 of 200 attacked persons were linked, about 2 of 200 strangers, on average "
        "(excess 1.0% to 6.9%, 95%).",
        "120 of 200 attacked persons had income inferred rightly, 90 of 200 "
        "strangers (excess 0.6% to 3.9%, 95%).",
    ]


@pytest.mark.slow
def test_numbers_are_those_of_the_tests():
    """A release half of copies: each sentence quotes the details of the result it is of."""
    train, holdout = make_mixed(300, random_state=0), make_mixed(300, random_state=1)
    suite = MetricSuite([("anonymeter", AnonymeterRisk()), ("membership", MembershipInference())])
    results = suite.fit(train, holdout).evaluate(train)
    said = DecisionPage.of(results).persons
    linked = results["anonymeter"].details["attacks"]["linkability"]
    text = next(text for text in said if "were linked" in text)
    (found, n), (strangers, n_strangers) = (
        (linked[role]["n_success"], linked[role]["n"]) for role in ("attack", "control")
    )
    of_strangers = f"{format_mean_count(strangers)} of {format_mean_count(n_strangers)} strangers"
    done = f"{format_mean_count(found)} of {format_mean_count(n)} attacked persons were linked"
    assert text.lower().startswith(f"{done}, {of_strangers}")
    left = 1.0 - strangers / n_strangers  # of the persons whom luck does not find
    low, high = (percent(left * end) for end in linked["interval"])
    assert text.endswith(f"(excess {low} to {high}, 95%).")
    surest = results["membership"].details["precision_at"][0]
    reach = next(text for text in said if text.startswith("Within reach"))
    named = round(surest["k"] * surest["precision"], 1)
    assert f" {named:.0f} of the {surest['k']} persons" in reach
    called = surest["precision"] * PRIOR
    called /= called + (1.0 - surest["precision"]) * (1.0 - PRIOR)
    assert reach.endswith(f"{percent(called)} of them would be.")


def test_counts_of_records_that_were_completed():
    rates = {"train": counts(600, 31), "holdout": counts(600, 1.6)}
    result = Result(
        0.05, interval=(0.03, 0.07), p_value=0.01, tags=ATTACK, details={"rates": rates}
    )
    (text,) = persons(SuiteResult({"r": result}, sizes=SIZES))
    assert text.startswith(
        "31 of 600 attacked persons were completed rightly, about 2 of 600 strangers, on"
    )


@pytest.mark.parametrize(
    ("found", "strangers", "said"),
    [
        (
            1.2,
            0.4,
            "About 1 of 200 attacked persons were linked, fewer than 1 of 200 strangers, on",
        ),
        (0.2, 0, "Fewer than 1 of 200 attacked persons were linked, 0 of 200 strangers, on aver"),
        (1, 0, "1 of 200 attacked persons were linked, 0 of 200 strangers ("),
    ],
)
def test_a_count_of_persons_is_a_whole_number(found, strangers, said):
    (text,) = persons(attacked(a=attack("linkability", found, strangers, 0.03)))
    assert text.startswith(said)
    assert not re.search(r"\d\.\d+ of", text)


@pytest.mark.parametrize(
    "details",
    [
        {"attacks": {"a": {"attack": counts(200, 3), "risk": "singling out"}}},
        {"attacks": {"a": attack("another", 3, 2, 0.1)}},
        {"attacks": {"a": attack("linkability", float("nan"), 2, 0.1)}},
        {"attacks": 3, "rates": [1], "precision_at": [], "outliers": None},
        {"precision_at": [{"k": 12}]},
        {"precision_at": 3, "worst": 3, "by": "sex"},
        {"precision_at": "surest", "outliers": {"p_value": 0.001, "worst": [1]}},
        {"attacks": {"a": {**attack("linkability", 3, 2, 0.1), "risk": ["linkability"]}}},
        {"outliers": {"p_value": 0.5, "worst": {"above": 0.9, "up_to": 1.0, "auc": 0.7}}},
    ],
)
def test_nothing_is_made_up(details):
    result = Result(0.1, metric="Own", tags=ATTACK, details=details)
    assert list(persons(SuiteResult({"own": result}, sizes=SIZES))) == []


@pytest.mark.parametrize("interval", [3, "ab", [0.1], [None, 0.2], np.ones((2, 2))])
def test_an_interval_that_is_none_is_left_out(interval):
    results = attacked(a={**attack("linkability", 7, 2, 0.03), "interval": interval})
    assert list(persons(results)) == ["7 of 200 attacked persons were linked, 2 of 200 strangers."]


def test_arrays_are_intervals_too():
    results = attacked(a={**attack("linkability", 7, 0, 0.03), "interval": np.array([0.01, 0.05])})
    assert next(persons(results)).endswith("(excess 1.0% to 5.0%, 95%).")


def test_of_a_metric_of_several_risks_an_attack_must_name_its_own():
    own = attack("", 7, 2, 0.03)
    for risks, n in ((("linkability",), 1), (("linkability", "inference"), 0)):
        tags = replace(ATTACK, risks=frozenset(risks))
        result = Result(0.1, tags=tags, details={"attacks": {"a": own}})
        assert len(list(persons(SuiteResult({"r": result}, sizes=SIZES)))) == n


def test_of_two_populations_nobody_is_counted():
    results = attacked(a=attack("linkability", 7, 2, 0.03))
    shifted = SuiteResult(dict(results), sizes=SIZES, notices=[HoldoutShiftWarning("differ")])
    assert list(persons(shifted)) == []


def exposed(above, up_to, interval):
    group = {"above": above, "up_to": up_to, "auc": 0.8, "interval": list(interval)}
    return {"p_value": 0.001, "worst": group}


def test_who_is_worst_off():
    details = {
        "outliers": exposed(0.9, 1.0, (0.7, 0.9)),
        "by": "sex",
        "worst": {"column": "male", "value": 0.3},
        "mean": 0.2,
    }
    rows, group = persons(
        SuiteResult({"m": Result(0.55, tags=ATTACK, details=details)}, sizes=SIZES)
    )
    assert "the 10% of records most distant from other records" in rows
    assert "0.800 (95% interval 0.700 to 0.900" in rows
    assert "all records: 0.550" in rows
    assert group == "Worst off by sex: male with 0.300, where the mean of groups is 0.200."


@pytest.mark.parametrize(
    ("above", "up_to", "typical"), [(0.0, 0.1, True), (0.1, 0.2, True), (0.8, 0.9, False)]
)
def test_records_close_to_others_are_called_typical(above, up_to, typical):
    details = {"outliers": exposed(above, up_to, (0.7, 0.9))}
    result = Result(0.55, tags=ATTACK, details=details)
    (text,) = persons(SuiteResult({"m": result}, sizes=SIZES))
    assert ("typical" in text) == typical
    assert f"{up_to:.0%}"[:-1] in text


@pytest.mark.parametrize("interval", [(0.5, 0.9), (0.55, 0.9), None])
def test_no_group_is_singled_out_that_is_the_largest_by_chance(interval):
    details = {"outliers": exposed(0.9, 1.0, interval or ())}
    result = Result(0.55, tags=ATTACK, details=details)
    assert list(persons(SuiteResult({"m": result}, sizes=SIZES))) == []


def test_attackers_who_were_not_tried():
    tags = replace(ATTACK, risks=frozenset({"singling out"}))
    tried = SuiteResult({"a": Result(0.1, tags=tags)}, sizes=SIZES)
    text = not_tried(tried)
    assert "who single persons out" not in text
    for who in ("who link", "who infer", "k-anonymity", "run the generator", "one subject", "text"):
        assert who in text
    known = Provenance("2026-11-22", "1", columns=(ColumnRecord("age", "continuous"),))
    assert "text" not in not_tried(SuiteResult(dict(tried), sizes=SIZES, provenance=known))
    every = {
        need: Result(0.1, tags=replace(tags, needs=frozenset({need})))
        for need in ("generator", "relational", "text")
    }
    every |= {
        r: Result(0.1, tags=replace(tags, risks=frozenset({r})))
        for r in ("linkability", "inference")
    }
    every["singling out"] = tried["a"]
    every["known"] = Result(0.1, tags=replace(tags, evidence="disclosure"))
    assert not_tried(SuiteResult(every, sizes=SIZES)) == ""
    failed = Result(float("nan"), tags=tags, error="it needs rows.")
    assert not_tried(SuiteResult({"a": failed}, sizes=SIZES)) == ""
    assert not_tried(tried) in DecisionPage.of(tried).facets[-1].not_looked_at
