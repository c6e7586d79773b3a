"""Parallel block of metrics in the scikit-learn diagram of a suite."""

from __future__ import annotations

from typing import Any


class BlockOfMetrics:
    """Block of metrics in the format of scikit-learn's diagram, whose own class is private."""

    kind = "parallel"
    name_caption = None
    doc_link_label = None
    dash_wrapped = True

    def __init__(self, metrics: list[tuple[str, Any]]) -> None:
        self.names = [name for name, _ in metrics]
        self.estimators = [metric for _, metric in metrics]
        self.name_details = [str(metric) for metric in self.estimators]

    def _sk_visual_block_(self) -> BlockOfMetrics:
        return self
