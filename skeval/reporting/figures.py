"""What renderers share, and a report as loose figures: one file each, for slides and papers."""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting.comparison import comparison_plan
from skeval.reporting.layout import Item, Scores
from skeval.reporting.old_displays.values import ScoresDisplay
from skeval.reporting.sections import Plan, Section, plan
from skeval.reporting.style import theme
from skeval.results.comparison import Comparison
from skeval.results.suite_result import SuiteResult
from skeval.utils.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Progress = Callable[[str, int, int], None]

TITLE = "Synthetic data report"
SHORT = ("decision", "scores", "worst", "provenance", "sign_off")  # sections of a short report
_FORMATS = ("png", "svg")


def save(figure: Figure, file: Any, format: str) -> None:
    """Write a figure the same way each time, with no date in it; or add it to a PDF as a page.

    `savefig` would draw it twice, the first time for nothing where its canvas lays it out.
    """
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvases = {"pdf": FigureCanvasPdf, "png": FigureCanvasAgg, "svg": FigureCanvasSVG}
    if format == "svg":  # cells stay as they are, and are enlarged by the browser
        for image in _images(figure.axes):
            image.set_interpolation("none")
    undated = {"metadata": {"Date": None, "Creator": None}} if format == "svg" else {}
    with theme():
        figure.set_dpi(rcParams["savefig.dpi"])
        getattr(canvases[format](figure), f"print_{format}")(file, **undated)


def _images(axes: Iterable[Any]) -> Iterator[AxesImage]:
    """Yield the images in axes; `findobj` would make ticks of all axes to look at."""
    for one in axes:
        yield from one.images
        yield from _images(one.child_axes)


Drawn = SuiteResult | Comparison


class Renderer:
    """Base of renderers: their settings, so that they can replace each other."""

    web = False

    def __init__(
        self,
        *,
        title: str = TITLE,
        columns: Any = None,
        sections: Iterable[str] | None = None,
        progress: Progress | None = None,
        short: bool = False,
        hashes: bool = True,
    ) -> None:
        self.title = title
        self.columns = columns
        self.sections = sections
        self.progress = progress
        self.short = short
        self.hashes = hashes

    def _plan(self, results: Drawn | Plan) -> Plan:
        if isinstance(results, Plan):  # of whoever plans pages of their own
            return replace(results, title=self.title)
        if isinstance(results, Comparison):
            return replace(comparison_plan(results, self.sections), title=self.title)
        if not self.hashes and (known := results.provenance) is not None:
            results = copy(results)
            results.provenance = known.without_hashes()
        is_short = self.short and self.sections is None
        content = plan(results, self.columns, SHORT if is_short else self.sections, web=self.web)
        if is_short:
            content = _brief(content)
        stated = results.provenance.release if results.provenance is not None else None
        named = stated.title if stated is not None and self.title == TITLE else ""
        return replace(content, title=named or self.title)

    def _report(self, section: str, n_done: int, content: Plan) -> None:
        if self.progress is not None:
            self.progress(section, n_done, len(content.sections))


def _brief(content: Plan) -> Plan:
    """Return the plan of a short report: scores are numbers alone, and no list of sections."""
    sections = tuple(
        replace(
            section,
            parts=tuple(
                replace(part, brief=True) if isinstance(part, Scores) else part
                for part in section.parts
            ),
        )
        for section in content.sections
    )
    return replace(content, sections=sections, contents=False)


class FileRenderer(Renderer, ABC):
    """Base of renderers that write one file; authors define `_write`."""

    def render(self, results: Drawn | Plan, path: str | Path) -> Path:
        """Write the report; an existing file is replaced only when the new one is complete."""
        path, content = Path(path), self._plan(results)
        with replacing(path) as temporary:
            self._write(content, temporary)
        return path

    @abstractmethod
    def _write(self, content: Plan, file: Path) -> None:
        """Write what is planned to a file."""


class FigureRenderer(Renderer):
    """Writes each figure of a suite's results to a file of its own in a folder.

    Parameters
    ----------
    title : str, default="Synthetic data report"
        Not drawn; taken so that renderers can replace each other.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose the columns that are drawn; all that the results hold otherwise.
    sections : iterable of str, optional
        As for :class:`PDFRenderer`.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.
    format : {"png", "svg"}, default="png"
        The format of the files.

    See Also
    --------
    PDFRenderer : On paper.
    HTMLRenderer : One page, in a browser.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import FigureRenderer
    >>> result = SuiteResult({"a": Result(0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = FigureRenderer().render(result, pathlib.Path(folder) / "figures")
    ...     [file.name for file in path.iterdir()]
    ['scores-all_scores.png']
    """

    def __init__(
        self,
        *,
        title: str = TITLE,
        columns: Any = None,
        sections: Iterable[str] | None = None,
        progress: Progress | None = None,
        format: str = "png",
    ) -> None:
        super().__init__(title=title, columns=columns, sections=sections, progress=progress)
        self.format = format

    def render(self, results: Drawn, path: str | Path) -> Path:
        """Write the figures; none is written unless all could be drawn.

        Parameters
        ----------
        results : SuiteResult or Comparison
            The results of any suite, or of several tables by one; live or from JSON.
        path : str or Path
            The folder, made if need be. Other files in it are left alone.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InvalidParameterError
            If there is no such section or format.
        """
        if self.format not in _FORMATS:
            raise InvalidParameterError(
                f"FigureRenderer: format must be among {', '.join(_FORMATS)}, got {self.format!r}."
            )
        path, content = Path(path), self._plan(results)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as drafts:
            self._draw(content, Path(drafts))
            path.mkdir(exist_ok=True)
            for draft in sorted(Path(drafts).iterdir()):
                draft.replace(path / draft.name)
        return path

    def _draw(self, content: Plan, folder: Path) -> None:
        for done, section in enumerate(content.sections, start=1):
            items = [*_of_tables(section), *section.items]
            for i, item in enumerate(items):
                name = _file_name(section.key, i, len(items), item)
                save(item.display.plot().figure_, folder / f"{name}.{self.format}", self.format)
            self._report(section.key, done, content)


def _of_tables(section: Section) -> Iterator[Item]:
    """Yield a figure of all scores where the section has a table of them."""
    for part in section.parts:
        if isinstance(part, Scores):
            yield Item(ScoresDisplay(part.results), "All scores")


def _file_name(section: str, i: int, n: int, item: Item) -> str:
    """Return a name that any file system takes; a number in front distinguishes equal ones."""
    words = re.sub(r"[^a-z0-9]+", "_", item.heading.split(":")[0].lower()).strip("_")[:40]
    counter = f"{i + 1:0{len(str(n))}d}-" if n > 1 else ""
    section = re.sub(r"[^\w-]+", "-", section)
    return f"{section}-{counter}{words}".rstrip("-")
