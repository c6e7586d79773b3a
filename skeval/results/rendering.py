"""What results require of skeval.reporting, which draws and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    import pandas as pd

    from skeval.core.tags import MetricTags

Form = Literal["pdf", "html"]
ENDINGS = (".pdf", ".html", ".htm")  # the last two are pages


class Display(Protocol):
    """One drawing of a result, see :class:`skeval.reporting.Display`."""

    figure_: Any
    ax_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw, and return the display with `ax_` and `figure_`."""

    def frame(self) -> pd.DataFrame:
        """Return the numbers that are drawn."""


class Rendering(Protocol):
    """What draws and writes results.

    `results` are a Result, a SuiteResult or a Comparison; `html` shows a Verdict too.
    """

    def display(self, results: Any, property: str | None = None) -> Display:
        """Return the display of results, or of the columns behind a property."""

    def html(self, results: Any) -> str:
        """Return results as a notebook shows them."""

    def suite_html(self, metrics: Iterable[tuple[str, str, str, MetricTags]], diagram: str) -> str:
        """Return a suite as a notebook shows it, from the columns of its table."""

    def table_html(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """Return a table as a notebook shows it."""

    def write(self, results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
        """Write a report of results, and return its path."""

    def finding(self, result: Any, alarm: bool | None = None, shifted: bool = False) -> str:
        """Return the sentence of one result; empty where it has an error."""

    def markdown(self, results: Any, *, title: str, level: int) -> str:
        """Return a section of Markdown."""

    def metrics(self, results: Any, *, prefix: str) -> dict[str, float]:
        """Return finite numbers by names that trackers of experiments take."""


def rendering() -> Rendering:
    """Return what renders results."""
    # reporting is built on results, and matplotlib is not imported before something is drawn
    from skeval.reporting import entry

    return entry
