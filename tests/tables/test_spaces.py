"""What every metric takes as a space: a name, or a transformer that scikit-learn can clone."""

from __future__ import annotations

import importlib
from typing import Any

import pandas as pd
import pytest

from skeval import Metric
from skeval.exceptions import InvalidParameterError
from tests.metric_examples import example_of

TRAIN = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [3.0, 1.0, 2.0]})


class Uncloneable:
    """Fits and transforms, but has no parameters to build another of its kind from."""

    def fit(self, rows: Any) -> Uncloneable:
        return self

    def transform(self, rows: Any) -> Any:
        return rows


def with_space() -> list[type[Metric]]:
    """Return the exported metrics that take a space."""
    modules = [importlib.import_module(f"skeval.{name}") for name in ("fidelity", "privacy")]
    kinds = [getattr(module, name) for module in modules for name in module.__all__]
    metrics = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Metric)]
    return [kind for kind in metrics if "space" in example_of(kind).get_params()]


@pytest.mark.parametrize("kind", with_space(), ids=lambda kind: kind.__name__)
def test_a_space_that_cannot_be_cloned_is_refused_at_fit(kind):
    metric = example_of(kind).set_params(space=Uncloneable())
    with pytest.raises(
        InvalidParameterError, match=r"space must be .* fit and transform and get_p"
    ):
        metric.fit(TRAIN, TRAIN + 0.5)


def test_there_are_such_metrics():
    names = {kind.__name__ for kind in with_space()}
    assert {"DCRShare", "MinimumDistanceAccumulation", "EnergyDistance", "PRDCurve"} <= names
