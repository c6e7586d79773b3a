"""Interfaces that results require of `skeval.reporting`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from skeval.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import pandas as pd

    from skeval.core.tags import MetricTags

Form = Literal["pdf", "html"]
ENDINGS = (".pdf", ".html", ".htm")  # the last two are HTML pages


@dataclass(frozen=True)
class AttachedReport:
    """Results in a report, and whether their hash is the hash that the report states."""

    results: str
    settings: Mapping[str, Any]
    other_versions: tuple[str, ...]
    is_unchanged: bool


class Display(Protocol):
    """Plot of a result. See :class:`skeval.reporting.Display`."""

    figure_: Any
    ax_: Any

    def plot(self, ax: Any = None) -> Self:
        """Plot, and return the display with `ax_` and `figure_`."""

    def frame(self) -> pd.DataFrame:
        """Return the plotted numbers."""


class Rendering(Protocol):
    """Plots and writes results.

    `results` are a Result, a SuiteResult or a Comparison. `html` also accepts a Verdict.
    """

    def display(self, results: Any, property: str | None = None) -> Display:
        """Return the display of results, or of the columns of a property."""

    def html(self, results: Any) -> str:
        """Return the HTML of results for a notebook."""

    def suite_html(self, metrics: Iterable[tuple[str, str, str, MetricTags]], diagram: str) -> str:
        """Return the HTML of a suite for a notebook, from the columns of its table."""

    def table_html(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
        """Return the HTML of a table for a notebook."""

    def write(self, results: Any, path: str | Path, form: Form, **settings: Any) -> Path:
        """Write a report of results, and return its path."""

    def read_pdf(self, path: str | Path) -> AttachedReport:
        """Return the results that are attached to a PDF report."""


class Wording(Protocol):
    """Describes results in words."""

    def summary(self, results: Any) -> str:
        """Return a summary of the results of a suite in a few sentences."""

    def table(self, results: Any) -> str:
        """Return the scores of a suite as text that fits a terminal."""

    def finding(self, result: Any, is_alarm: bool | None = None, is_shifted: bool = False) -> str:
        """Return the sentences about one result, or an empty text if it has an error."""

    def markdown(self, results: Any, *, title: str, level: int) -> str:
        """Return a section of Markdown."""


def rendering() -> Rendering:
    """Return the object that renders results."""
    # imported here, because reporting imports results, and matplotlib is imported only for plots
    from skeval.reporting import entry

    return entry


def wording() -> Wording:
    """Return the object that describes results in words."""
    # imported here, because reporting imports results. It does not import matplotlib or Typst.
    from skeval.reporting import wording as words

    return words


def read_attached_results(path: str | Path) -> str:
    """Return the JSON of the results in a report. Refuse a report with a wrong hash."""
    attached = rendering().read_pdf(path)
    if not attached.is_unchanged:
        raise InvalidParameterError(
            f"{path} was changed after it was written, because the hash of its results differs "
            "from the hash that the report states. Request the original report."
        )
    return attached.results
