"""What a PDF report contains besides its pages, and whether a report was changed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.results.comparison import Comparison
from skeval.results.rendering import rendering
from skeval.results.serialization import FOREIGN
from skeval.results.suite_result import SuiteResult


@dataclass(frozen=True)
class ReportCheck:
    """What was found of a report; `is_same` is None if the report was not rendered again."""

    is_hash_right: bool
    is_same: bool | None = None
    other_versions: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the report is not the one that was written."""
        return not self.is_hash_right or self.is_same is False


def check_report(path: Path) -> ReportCheck:
    """Compare the results of a report with the stated hash, then its bytes with a new rendering."""
    attached = rendering().read_pdf(path)
    if not attached.is_unchanged:
        return ReportCheck(is_hash_right=False)
    if attached.other_versions:
        return ReportCheck(is_hash_right=True, other_versions=attached.other_versions)
    results = _rebuild(path, attached.results)
    with tempfile.TemporaryDirectory(prefix="skeval-verify-") as folder:
        again = Path(folder) / "report.pdf"
        rendering().write(results, again, "pdf", **attached.settings)
        is_same = again.read_bytes() == path.read_bytes()
    return ReportCheck(is_hash_right=True, is_same=is_same)


# Not by `from_json`, which replaces control characters in names: the bytes would be different.
def _rebuild(path: Path, text: str) -> SuiteResult | Comparison:
    try:
        content: Mapping[str, Any] = json.loads(text)
        kind = Comparison if "tables" in content else SuiteResult
        return kind.from_dict(content)
    except FOREIGN as error:
        raise InvalidParameterError(
            f"{path} contains no results that this version of skeval reads."
        ) from error
