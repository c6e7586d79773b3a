"""Results as loose figures: one file each, for slides and papers."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from skeval.exceptions import InvalidParameterError
from skeval.reporting.displays.base import Display
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.marginal import MarginalDisplay
from skeval.reporting.displays.pair import PairDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from skeval.reporting.displays.value import ValueDisplay
from skeval.reporting.document.chosen_columns import choose_names, choose_section
from skeval.reporting.figure_files import save_figure
from skeval.results.comparison import Comparison
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from skeval.suites.report_columns import ReportColumns

_FORMATS = ("png", "svg")
_MAX_NAME = 60  # letters of a file's name


class FigureRenderer:
    """Writes each figure of a suite's results to a separate file in a folder.

    These are the figures of ``plot()``: all scores, each result that has a figure, each column and
    each pair of columns.

    Parameters
    ----------
    columns : ReportColumns or mapping of str to ReportColumns, optional
        Columns and pairs that are drawn (`univ` and `biv`), by table if there are several tables.
        By default, everything that the results contain is drawn.
    format : {"png", "svg"}, default="png"
        The format of the files.

    See Also
    --------
    PDFRenderer : Pages to print and to sign.
    HTMLRenderer : One page for a browser.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import FigureRenderer
    >>> result = SuiteResult({"a": Result(0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = FigureRenderer().render(result, pathlib.Path(folder) / "figures")
    ...     [file.name for file in path.iterdir()]
    ['scores.png']
    """

    def __init__(
        self,
        *,
        columns: ReportColumns | Mapping[str, ReportColumns] | None = None,
        format: Literal["png", "svg"] = "png",
    ) -> None:
        self.columns = columns
        self.format = format

    def render(self, results: SuiteResult | Comparison, path: str | Path) -> Path:
        """Write all figures, or no figure if one of them cannot be drawn.

        Parameters
        ----------
        results : SuiteResult or Comparison
            The results of a suite on one or several synthetic tables, also if read from JSON.
        path : str or Path
            The folder, which is made if it does not exist. Other files in it are left alone.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InvalidParameterError
            If `format` is not among the options.
        """
        if self.format not in _FORMATS:
            raise InvalidParameterError(
                f"FigureRenderer: format must be among {', '.join(_FORMATS)}, got {self.format!r}."
            )
        path = Path(path)
        tables = results if isinstance(results, Comparison) else {"": results}
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as drafts:
            names = set[str]()
            for table, own in tables.items():
                for name, display in self._displays(own):
                    file = _file_name(f"{table} {name}", names)
                    save_figure(
                        display.plot().figure_, Path(drafts) / f"{file}.{self.format}", self.format
                    )
            path.mkdir(exist_ok=True)
            for draft in sorted(Path(drafts).iterdir()):
                draft.replace(path / draft.name)
        return path

    def _displays(self, results: SuiteResult) -> Iterator[tuple[str, Display]]:
        """Yield the displays of scores, results, columns and pairs with their names."""
        yield "scores", ScoresDisplay(results)
        for name, result in results.items():
            if math.isnan(result.value):
                continue
            display = display_of(result)
            if type(display) is not ValueDisplay:
                yield name, display
            for what, one in self._columns_and_pairs(result):
                yield f"{name} {what}", one

    def _columns_and_pairs(self, result: Result) -> Iterator[tuple[str, Display]]:
        """Yield the chosen distributions that a result contains."""
        marginals: dict[str, Any] = result.details.get("marginals") or {}
        chosen = choose_section(self.columns, result.table, "univ")
        for column in choose_names(list(marginals), chosen):
            yield column, MarginalDisplay(column, marginals[column])
        chosen = choose_section(self.columns, result.table, "biv")
        names = choose_names(list(result.details.get("names") or ()), chosen)
        for pair in result.details.get("pairs") or ():
            if set(pair["columns"]) <= set(names):
                yield " ".join(pair["columns"]), PairDisplay(pair)


def _file_name(text: str, taken: set[str]) -> str:
    """Return a unique name that is valid in any file system."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_MAX_NAME] or "figure"
    name, n = words, 1
    while name in taken:
        n += 1
        name = f"{words}_{n}"
    taken.add(name)
    return name
