"""Results that are attached to a PDF report, and the check whether the report was changed."""

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
    """Result of checking a report. If it was not rendered again, `is_same` is None."""

    is_hash_right: bool
    is_same: bool | None = None
    other_versions: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the report differs from the original."""
        return not self.is_hash_right or self.is_same is False


def check_report(path: Path) -> ReportCheck:
    """Compare the results with the stated hash, and the bytes with a new rendering."""
    attached = rendering().read_pdf(path)
    if not attached.is_unchanged:
        return ReportCheck(is_hash_right=False)
    if attached.other_versions:
        return ReportCheck(is_hash_right=True, other_versions=attached.other_versions)
    results = _rebuild(path, attached.results)
    with tempfile.TemporaryDirectory(prefix="skeval-verify-") as folder:
        again = Path(folder) / "report.pdf"
        rendering().write(results, again, "pdf", **restore_settings(path, attached.settings))
        is_same = again.read_bytes() == path.read_bytes()
    return ReportCheck(is_hash_right=True, is_same=is_same)


_TEXTS, _SWITCHES, _COLUMNS = ("title",), ("short", "hashes"), "columns"


def restore_settings(path: Path, plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a report for the renderers. The file may be from someone else."""
    try:
        return {name: _restore(name, value) for name, value in plain.items()}
    except FOREIGN as error:
        raise InvalidParameterError(
            f"{path} has settings that this version of skeval does not know. Use the version that "
            "wrote the report."
        ) from error


def _restore(name: str, value: Any) -> Any:
    if name == _COLUMNS:
        return _restore_columns(value)
    kind = str if name in _TEXTS else bool if name in _SWITCHES else None
    if kind is None or not isinstance(value, kind):
        raise TypeError(name)
    return value


def _restore_columns(value: Any) -> Any:
    # imported here, because suites import results
    from skeval.suites.report_columns import ReportColumns

    if value is None:
        return None
    if "tables" in value:
        return {str(table): _restore_columns(one) for table, one in value["tables"].items()}
    if not all(isinstance(one, int | str | list) for one in value.values()):
        raise TypeError(_COLUMNS)
    return ReportColumns(**value)


# Do not use `from_json`, which replaces control characters in names and thus changes the bytes.
def _rebuild(path: Path, text: str) -> SuiteResult | Comparison:
    try:
        content: Mapping[str, Any] = json.loads(text)
        kind = Comparison if "tables" in content else SuiteResult
        return kind.from_dict(content)
    except FOREIGN as error:
        raise InvalidParameterError(
            f"{path} contains no results that this version of skeval reads."
        ) from error
