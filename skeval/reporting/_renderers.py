"""What renderers share: what is drawn, who is told of it, and files that are whole or not there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from skeval._files import replacing
from skeval.reporting.sections import Plan, plan
from skeval.result import SuiteResult

__all__ = ["FileRenderer", "Progress", "Renderer"]

Progress = Callable[[str, int, int], None]


class Renderer:
    """Base of renderers: their settings, so that they can stand in for each other."""

    def __init__(
        self,
        *,
        title: str = "Synthetic data report",
        columns: Any = None,
        sections: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.title = title
        self.columns = columns
        self.sections = sections
        self.progress = progress

    def _plan(self, suite_result: SuiteResult) -> Plan:
        return plan(suite_result, self.columns, self.sections)

    def _tell(self, section: str, n_done: int, content: Plan) -> None:
        if self.progress is not None:
            self.progress(section, n_done, len(content.sections))


class FileRenderer(Renderer, ABC):
    """Base of renderers that write one file; authors define `_write`."""

    def render(self, suite_result: SuiteResult, path: str | Path) -> Path:
        """Write the report; an existing file is replaced only when the new one is complete.

        Parameters
        ----------
        suite_result : SuiteResult
            Of any suite, live or from JSON.
        path : str or Path
            The file.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InvalidParameterError
            If there is no such section.
        """
        path, content = Path(path), self._plan(suite_result)
        with replacing(path) as temporary:
            self._write(content, temporary)
        return path

    @abstractmethod
    def _write(self, content: Plan, file: Path) -> None:
        """Write what is planned to a file."""
