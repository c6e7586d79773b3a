"""The settings and the versions with which a report was written, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.reporting.typesetting.fonts import OPTIONAL, TEXT
from skeval.results.serialization import FOREIGN
from skeval.utils.versions import version_of

# The bytes of a PDF depend on these packages, on the results and on the settings.
_PACKAGES = ("skeval", "typst", "matplotlib", "seaborn", "numpy", TEXT, *OPTIONAL)


def drawing_versions() -> dict[str, str]:
    """Return the versions of the packages that draw a report."""
    return {name: version_of(name) for name in _PACKAGES}


def write_settings(settings: Mapping[str, Any]) -> str:
    """Return the settings of a renderer and the versions of the packages that draw, as JSON."""
    plain = {name: _plain(value) for name, value in settings.items()}
    return json.dumps({"settings": plain, "versions": drawing_versions()}, indent=1)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):  # the columns of several tables
        return {"tables": {str(name): _plain(one) for name, one in value.items()}}
    return value


def read_settings(path: Path, text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of a renderer as plain values, and the versions of the packages."""
    try:
        content = json.loads(text)
        return dict(content["settings"]), {
            str(name): str(one) for name, one in content["versions"].items()
        }
    except FOREIGN as error:
        raise InvalidParameterError(
            f"{path} has settings that skeval does not write. Pass a report that skeval wrote as a "
            "PDF."
        ) from error
