"""The curve of precision against recall of distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.diagonal import draw_diagonal
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.sentences import join_facts, state_f_scores, state_sizes
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import LETTERS, LINES, SQUARE
from skeval.reporting.displays.ticks import label_percentages
from skeval.reporting.document.details import mapping_at, number_at
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PRDDisplay(Display):
    """Precision against recall of synthetic rows and of the holdout, if there is one.

    On the dotted line, precision and recall are equal. The curve meets the line at 1 minus the
    total variation distance. The dots are the points with the largest F scores. The dot on the
    right gives weight to recall, and the dot on the left to precision.

    Parameters
    ----------
    result : Result
        A result with ``details["precision"]``, ``details["recall"]`` and `beta`. The same entries
        of the holdout are read from ``details["holdout"]`` if they exist.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PRDCurve
    >>> from skeval.reporting import PRDDisplay
    >>> table = make_mixed()
    >>> display = PRDDisplay(PRDCurve(n_angles=3).fit(table).evaluate(table))
    >>> display.frame().round(2)["precision"].tolist()
    [0.0, 1.0, 1.0]
    """

    reads = ("precision", "recall")
    figsize = SQUARE

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        unseen: Mapping[str, Any] = mapping_at(result.details, "holdout")
        self._tables = {"holdout": unseen, "synthetic": result.details}
        self.curves = {
            role: (to_numbers(table["recall"]), to_numbers(table["precision"]))
            for role, table in self._tables.items()
            if np.size(table.get("recall", [])) and np.size(table.get("precision", []))
        }
        self.beta = float(result.details.get("beta", 8.0))

    def frame(self) -> pd.DataFrame:
        """Return `precision` and `recall` along the curve of each table: `rows`."""
        curves = [(role, *curve) for role, curve in self.curves.items()]
        return stack(curves, ["rows", "recall", "precision"])

    def title(self) -> str:
        """Return the two scores of the synthetic rows."""
        return self._scores("synthetic") or super().title()

    def subtitle(self) -> str:
        """Return the number of rows, and the two scores of unseen data."""
        n = number_at(self.result.details, "n_rows", "synthetic")
        sizes, unseen = state_sizes([(n, "synthetic rows")]), self._scores("holdout")
        return join_facts((sizes, unseen and f"unseen data: {unseen}"))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the curves with the points of the F scores."""
        (ax,) = axes
        if not self.curves:
            return
        draw_diagonal(ax, "equal", 0.15)
        for role, curve in self.curves.items():
            ax.plot(*curve, clip_on=False, **LINES[role])
        if "synthetic" in self.curves:
            self._draw_scores(ax, *self.curves["synthetic"])
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), xlabel="recall", ylabel="precision")
        for axis in (ax.xaxis, ax.yaxis):
            label_percentages(axis, 1.0, most=5)
        name_series(ax, [table_series(role) for role in self.curves])

    def _draw_scores(self, ax: Axes, recall: np.ndarray, precision: np.ndarray) -> None:
        color = LETTERS["synthetic"]
        ax.fill_between(recall, precision, color=color, alpha=0.08, lw=0)
        for beta in (self.beta, 1.0 / self.beta):
            at = _best_point(precision, recall, beta)
            ax.plot(recall[at], precision[at], "o", color=color, ms=4.5, clip_on=False)

    def _scores(self, role: str) -> str:
        high, low = (number_at(self._tables[role], key) for key in ("f_beta", "f_beta_inv"))
        if math.isnan(high + low):
            return ""
        return state_f_scores(self.beta, high, low)


def _best_point(precision: np.ndarray, recall: np.ndarray, beta: float) -> int:
    """Return the point with the largest F score. A beta above 1 gives weight to recall."""
    below = beta**2 * precision + recall
    products = (1.0 + beta**2) * precision * recall
    scores = np.divide(products, below, out=np.zeros_like(below), where=below > 0)
    return int(scores.argmax())
