"""What several releases of one table give away, one by one and together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.results.rendering import rendering
from skeval.results.suite_result import SCHEMA_VERSION, SuiteResult
from skeval.utils.files import read_versioned, write_json
from skeval.utils.formatting import number

TOGETHER = "together"


@dataclass(frozen=True)
class SeveralReleases:
    """What releases of one table give away, one by one and together.

    Parameters
    ----------
    together : SuiteResult
        The results of the rows of all releases. Its verdict is the one to act on, at one level of
        error.
    each : mapping of str to SuiteResult
        The results of each release alone, to compare with; not corrected for their number.
    epsilon : float, optional
        The sum of the claims, which holds for all releases together by basic composition; None if a
        release has no claim.
    """

    together: SuiteResult
    each: Mapping[str, SuiteResult]
    epsilon: float | None = None

    @property
    def all_results(self) -> dict[str, SuiteResult]:
        """The results of each release, then those of all together."""
        return {**self.each, TOGETHER: self.together}

    @property
    def sentence(self) -> str:
        """What was found of all together, which releases leak alone, and the sum of the claims."""
        leaking = [name for name, one in self.each.items() if one.verdict().outcome in _LEAKS]
        alone = f"Alone, {', '.join(leaking) or 'none of them'} would raise an alarm."
        claims = "" if self.epsilon is None else f" Their claims add up to {self._claim}."
        found = self.together.verdict().sentence
        return f"{len(self.each)} releases together: {found} {alone}{claims}"

    @property
    def _claim(self) -> str:
        return f"epsilon {number(self.epsilon or 0.0)}"

    def frame(self) -> pd.DataFrame:
        """Return the values and p-values of each metric, a row a release and one for all."""
        rows = [
            {"release": release, "metric": name, "value": one.value, "p_value": one.p_value}
            for release, results in self.all_results.items()
            for name, one in results.items()
        ]
        return pd.DataFrame(rows).set_index(["metric", "release"]).sort_index(kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers."""
        return {
            "schema_version": SCHEMA_VERSION,
            "together": self.together.to_dict(),
            "each": {name: results.to_dict() for name, results in self.each.items()},
            "epsilon": self.epsilon,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SeveralReleases:
        """Rebuild the results from what :meth:`to_dict` gave."""
        each = {str(n): SuiteResult.from_dict(one) for n, one in content["each"].items()}
        epsilon = None if content["epsilon"] is None else float(content["epsilon"])
        return cls(SuiteResult.from_dict(content["together"]), each, epsilon)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | Path) -> SeveralReleases:
        """Read what :meth:`to_json` wrote; its page can be rendered from it.

        Raises
        ------
        InvalidParameterError
            If the file holds none.
        """
        what = "results that SeveralReleases.to_json wrote"
        return read_versioned(path, SCHEMA_VERSION, cls.from_dict, what=what)

    def to_pdf(self, path: str | Path, *, title: str = "Several releases of one table") -> Path:
        """Write a PDF."""
        return rendering().write(self, path, "pdf", title=title)

    def to_html(self, path: str | Path, *, title: str = "Several releases of one table") -> Path:
        """Write one HTML page that needs nothing else."""
        return rendering().write(self, path, "html", title=title)


_LEAKS = ("leak found", "copies found")
