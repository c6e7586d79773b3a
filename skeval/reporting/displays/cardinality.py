"""How many children parents have, as bars; and the scores behind a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.details import numbers_of
from skeval.reporting.displays.base import (
    ROOM,
    Display,
    Margins,
    numbers,
    register_display,
    stacked,
)
from skeval.reporting.displays.ticks import label_line
from skeval.reporting.displays.values import ColumnScoresDisplay
from skeval.reporting.theme import COLOURS, SMALL
from skeval.result import Result
from skeval.suite_result import SuiteResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@register_display
class CardinalityDisplay(Display):
    """Shares of parents by the number of their children: train, holdout and synthetic.

    Parameters
    ----------
    result : Result
        With ``details["histograms"]``: by foreign key `starts`, the least number of each bar, and
        the number of parents of each role.
    key : str, optional
        The foreign key that is drawn; if not said, of those with several bars the one with the
        worst score.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import CardinalityDisplay
    >>> bars = {"starts": [0.0, 1.0], "train": [10, 30], "synthetic": [20, 20]}
    >>> display = CardinalityDisplay(Result(0.75, details={"histograms": {"b.a -> a.id": bars}}))
    >>> display.frame()["share"].tolist()
    [0.25, 0.75, 0.5, 0.5]
    """

    reads = ("histograms",)
    figsize = (5.5, 2.4)

    def __init__(self, result: Result, *, key: str | None = None) -> None:
        super().__init__(result)
        self.key = key or keys_by_score(result)[0]

    def frame(self) -> pd.DataFrame:
        """Return `key`, `role`, `from`, `to` (nan where open), `share` of every bar."""
        parts = []
        for key, bars in self.result.details["histograms"].items():
            starts = numbers(bars["starts"])
            ends = np.append(starts[1:] - 1.0, np.nan)
            for role, counts in bars.items():
                if role != "starts":
                    shares = numbers(counts) / max(1.0, numbers(counts).sum())
                    parts.append((key, role, starts, ends, shares))
        return stacked(parts, ["key", "role", "from", "to", "share"])

    def head(self, axes: Sequence[Axes]) -> None:
        """Write the foreign key above."""
        axes[0].set_title(self.key)

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take."""
        return Margins(38.0, 8.0, 10.0, 30.0)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the bars of one key, the roles side by side."""
        (ax,), frame = axes, self.frame()
        own = frame[frame["key"] == self.key]
        roles = list(dict.fromkeys(own["role"]))
        width = 0.8 / max(1, len(roles))
        for i, role in enumerate(roles):
            shares = own.loc[own["role"] == role, "share"].to_numpy(dtype=float)
            places = np.arange(shares.size) + (i - (len(roles) - 1) / 2.0) * width
            ax.bar(places, shares, 0.92 * width, color=COLOURS[role], alpha=0.85, label=role)
        bars = own[own["role"] == roles[0]]
        whole = [_range(low, high) for low, high in zip(bars["from"], bars["to"], strict=True)]
        least = [*map(number, bars["from"][:-1]), whole[-1]]
        at: list[float] = np.arange(len(whole), dtype=float).tolist()
        ax.set_xlim(-0.6, len(whole) - 0.4)
        candidates = [(at, names, [len(whole) - 1]) for names in (whole, least)]
        label_line(ax, SMALL, candidates, ticks=0.0)
        ax.set(xlabel="children of a parent", ylabel="share of parents")
        ax.legend(loc="upper right")


def keys_by_score(result: Result) -> list[str]:
    """Return the foreign keys that have histograms, the worst first, those of one bar last."""
    histograms, scores = result.details["histograms"], numbers_of(result.details, "columns")

    def rank(key: str) -> tuple[bool, float]:
        score = scores.get(key, np.nan)
        return len(histograms[key]["starts"]) < 2, np.inf if np.isnan(score) else score

    return sorted(histograms, key=rank)


class PropertyDisplay(ColumnScoresDisplay):
    """The scores behind a property of a quality report as bars, the worst first.

    Parameters
    ----------
    suite_result : SuiteResult
        Of the preset "quality" or "diagnostic", or of any suite with properties in its names.
    property : str, optional
        The property, such as "column_shapes"; all of them if None.
    start, stop : int, optional
        Which ranks are drawn, the worst being 0.

    Raises
    ------
    InvalidParameterError
        If there is no such property.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import TVComplement
    >>> from skeval.reporting import PropertyDisplay
    >>> suite = MetricSuite([("shapes/tv", TVComplement())]).fit(make_mixed())
    >>> PropertyDisplay(suite.evaluate(make_mixed()), "shapes").frame()["column"].tolist()
    ['city', 'plan', 'member']
    """

    def __init__(
        self,
        suite_result: SuiteResult,
        property: str | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        details = suite_result.details(property)
        places = details[["table", "what"] if property else ["property", "table", "what"]]
        names = [": ".join(filter(None, map(str, place))) for place in places.to_numpy()]
        columns: dict[str, Any] = {
            to: dict(zip(names, details[of], strict=True))
            for to, of in (("columns", "score"), ("baseline_columns", "baseline"))
        }
        grouped = (
            result
            for name, result in suite_result.items()
            if name.startswith(f"{property or name.partition('/')[0]}/")
        )
        first = next(grouped, Result(float("nan")))
        tags = None if first.tags is None else replace(first.tags, bounds=(0.0, 1.0))
        super().__init__(
            Result(float(details["score"].mean()), tags=tags, details=columns),
            start=start,
            stop=stop,
        )


def _range(low: float, high: float) -> str:
    """Return a range of whole numbers in short; open where `high` is nan."""
    if np.isnan(high):
        return f"{number(low)} or more"
    return number(low) if low == high else f"{number(low)} to {number(high)}"
