"""Every exported metric has a sentence, which reads and never clears a release."""

from __future__ import annotations

import importlib
import math
import re

import pytest

from skeval import Metric
from skeval._check_tables import example_of
from skeval.datasets import make_mixed
from skeval.reporting._sentences import SENTENCES
from skeval.reporting.findings import finding

PACKAGES = ("diagnostic", "fidelity", "privacy", "utility")


def exported() -> list[type[Metric]]:
    modules = [importlib.import_module(f"skeval.{name}") for name in PACKAGES]
    kinds = [getattr(module, name) for module in modules for name in module.__all__]
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Metric)]


@pytest.mark.parametrize("kind", exported(), ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_what_was_found_is_said(kind):
    assert kind.__name__ in SENTENCES
    train, holdout, synthetic = (make_mixed(150, random_state=seed) for seed in range(3))
    result = example_of(kind).fit(train, holdout).evaluate(synthetic)
    said = finding(result)
    if math.isnan(result.value):
        assert said.startswith("Not defined here: ")
        return
    assert re.fullmatch(r"[A-Z0-9<-].*\.", said)
    assert not re.search(r"\b(nan|private|safe)\b", said)
