"""Tags are a closed set of facts, and survive JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skeval import MetricTags
from skeval.exceptions import InvalidParameterError


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"aspect": "beauty"}, "aspect must be among"),
        ({"aspect": "fidelity", "needs": {"luck"}}, "needs must be among"),
        ({"aspect": "fidelity", "risks": {"ruin"}}, "risks must be among"),
        ({"aspect": "fidelity", "quoted": "luck"}, "quoted must be among"),
        *(
            ({"aspect": "fidelity", "weight": weight}, r"weight must be a float in \(0, 100\)")
            for weight in (0, -1.0, 101, float("nan"), True, "4", None)
        ),
        ({"aspect": "privacy"}, "evidence must be among"),
        ({"aspect": "fidelity", "evidence": "screen"}, "None for others"),
    ],
)
def test_tags_are_a_closed_set(tags, message):
    with pytest.raises(InvalidParameterError, match=message):
        MetricTags(**tags)


def test_tags_round_trip():
    tags = MetricTags("privacy", needs={"holdout"}, greater_is_better=False, evidence="attack")
    tags = replace(tags, risks={"inference", "linkability"}, headline=2)
    assert (
        MetricTags.from_dict(json.loads(json.dumps(tags.to_dict() | {"bounds": ["-inf", "inf"]})))
        == tags
    )
    assert tags.direction == "lower is better"
    assert MetricTags("diagnostic").direction == "in between is best"
