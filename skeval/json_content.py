"""Results as strict JSON, and what of a foreign file may not reach a terminal or a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skeval import exceptions
from skeval.exceptions import MetricWarning
from skeval.files import replacing
from skeval.formatting import printable


def plain_json(value: Any) -> Any:
    """Reduce arrays, numpy numbers and tuples to what strict JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain_json(value.tolist())
    if isinstance(value, list | tuple):
        return [plain_json(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(
        f"a result holds {type(value).__name__}, which JSON does not know; put lists, dicts, "
        "numbers, strings and arrays into details."
    )


def without_controls(content: Any) -> Any:
    """Return content of a JSON file with the control characters in its texts replaced."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, list):
        return [without_controls(part) for part in content]
    if isinstance(content, dict):
        return {without_controls(name): without_controls(part) for name, part in content.items()}
    return content


def no_formula(name: str) -> str:
    """Return a name that spreadsheets do not take for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def named_warnings(warnings: Iterable[MetricWarning]) -> list[list[str]]:
    """Return the class and the text of each warning."""
    return [[type(warning).__name__, str(warning)] for warning in warnings]


def rebuilt_warnings(named: Iterable[Sequence[str]]) -> tuple[MetricWarning, ...]:
    """Return the warnings of these classes and texts."""
    return tuple(getattr(exceptions, name, MetricWarning)(text) for name, text in named)


def write_json(content: Mapping[str, Any], path: str | Path | None) -> str:
    """Return the text of strict JSON, and write it to `path` if given."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text
