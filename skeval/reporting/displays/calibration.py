"""How often an event occurs, by the probability that a model predicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skeval.reporting.displays.model_curves import ModelCurvesDisplay
from skeval.reporting.document.details import mapping_at


class CalibrationDisplay(ModelCurvesDisplay):
    """The observed frequency of an event, by the probability that a model predicts."""

    reads = ("curves",)
    _x, _y = "predicted", "observed"
    _axis_names = ("predicted probability", "observed frequency")
    _diagonal = ("perfect", 0.25)
    _marker = "o"

    def _curves(self) -> Mapping[str, Any]:
        curves = mapping_at(self.result.details, "curves")
        return mapping_at(next(iter(curves.values()), {}))
