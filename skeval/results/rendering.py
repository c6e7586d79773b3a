"""What results require of skeval.reporting, which draws, writes and describes them."""

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
ENDINGS = (".pdf", ".html", ".htm")  # the last two are pages


@dataclass(frozen=True)
class AttachedReport:
    """What is attached to a report, and whether its hash is the one that the report states."""

    results: str
    settings: Mapping[str, Any]
    other_versions: tuple[str, ...]
    is_unchanged: bool


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

    def read_pdf(self, path: str | Path) -> AttachedReport:
        """Return what is attached to a report that was written as a PDF."""


class Wording(Protocol):
    """What puts results into words, without a figure."""

    def summary(self, results: Any) -> str:
        """Return what the results of a suite show, in a few sentences."""

    def table(self, results: Any) -> str:
        """Return the scores of a suite in lines that fit a terminal."""

    def finding(self, result: Any, is_alarm: bool | None = None, is_shifted: bool = False) -> str:
        """Return the sentences on one result; empty if it has an error."""

    def markdown(self, results: Any, *, title: str, level: int) -> str:
        """Return a section of Markdown."""


def rendering() -> Rendering:
    """Return what renders results."""
    # reporting is built on results, and matplotlib is not imported before something is drawn
    from skeval.reporting import entry

    return entry


def wording() -> Wording:
    """Return what puts results into words."""
    # reporting is built on results; this part of it imports neither matplotlib nor Typst
    from skeval.reporting import wording as words

    return words


def read_attached_results(path: str | Path) -> str:
    """Return the JSON of the results in a report; refuse a report whose hash is another one."""
    attached = rendering().read_pdf(path)
    if not attached.is_unchanged:
        raise InvalidParameterError(
            f"{path} was changed after it was written: the hash of its results is not the hash "
            "that the report states. Ask for the original report."
        )
    return attached.results
