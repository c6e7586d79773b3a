"""Tags are a closed set of facts, and survive JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skeval import MetricTags
from skeval.exceptions import InvalidParameterError
from tests.snapshots import raises


@pytest.mark.parametrize(
    "tags",
    [
        {"aspect": "beauty"},
        {"aspect": "fidelity", "needs": {"luck"}},
        {"aspect": "fidelity", "risks": {"ruin"}},
        {"aspect": "fidelity", "quoted": "luck"},
        *(
            {"aspect": "fidelity", "weight": weight}
            for weight in (0, -1.0, 101, float("nan"), True, "4", None)
        ),
        {"aspect": "privacy"},
        {"aspect": "fidelity", "evidence": "screen"},
    ],
    ids=str,
)
def test_tags_are_a_closed_set(tags):
    with raises(InvalidParameterError):
        MetricTags(**tags)


def test_tags_round_trip():
    tags = MetricTags("privacy", needs={"holdout"}, greater_is_better=False, evidence="attack")
    tags = replace(tags, risks={"inference", "linkability"}, headline=2)
    assert (
        MetricTags.from_dict(json.loads(json.dumps(tags.to_dict() | {"bounds": ["-inf", "inf"]})))
        == tags
    )
    assert tags.direction == "lower is better"
    assert MetricTags("validity").direction == "in between is best"
