"""A block of metrics side by side in scikit-learn's diagram of a suite."""

from __future__ import annotations

from typing import Any


class BlockOfMetrics:
    """Metrics side by side, as scikit-learn's diagram reads them: its own class is private."""

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
