"""The settings and the versions with which a report was written, as JSON beside its results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.results.serialization import FOREIGN
from skeval.utils.versions import version_of

# What decides about the bytes of a PDF besides its results and its settings.
_PACKAGES = (
    *("skeval", "typst", "matplotlib", "seaborn", "numpy"),
    *("fontpkg-source-sans-3", "noto-cjk-sans-otc"),
)
_TEXTS, _SWITCHES, _COLUMNS = ("title",), ("short", "hashes"), "columns"


def drawing_versions() -> dict[str, str]:
    """Return the versions of the packages that draw a report."""
    return {name: version_of(name) for name in _PACKAGES}


def write_settings(settings: Mapping[str, Any]) -> str:
    """Return the settings of a renderer and the versions of what draws, as JSON."""
    plain = {name: _plain(value) for name, value in settings.items()}
    return json.dumps({"settings": plain, "versions": drawing_versions()}, indent=1)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):  # the columns of several tables
        return {"tables": {str(name): _plain(one) for name, one in value.items()}}
    return value


def read_settings(text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of a renderer, and the versions of what drew."""
    try:
        content = json.loads(text)
        settings = {name: _read_setting(name, one) for name, one in content["settings"].items()}
        return settings, {str(name): str(one) for name, one in content["versions"].items()}
    except FOREIGN as error:
        raise InvalidParameterError(
            "The settings of the report are not those that skeval writes."
        ) from error


def _read_setting(name: str, value: Any) -> Any:
    if name == _COLUMNS:
        return _read_columns(value)
    kind = str if name in _TEXTS else bool if name in _SWITCHES else None
    if kind is None or not isinstance(value, kind):
        raise TypeError(name)
    return value


def _read_columns(value: Any) -> Any:
    # ReportColumns belongs to suites, which are built on reporting.
    from skeval.suites.report_columns import ReportColumns

    if value is None:
        return None
    if "tables" in value:
        return {str(table): _read_columns(one) for table, one in value["tables"].items()}
    for one in value.values():
        if not isinstance(one, int | str | list):
            raise TypeError(_COLUMNS)
    return ReportColumns(**value)
