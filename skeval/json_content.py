"""Results as strict JSON, and what of a foreign file may not reach a terminal or a spreadsheet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skeval import exceptions
from skeval.exceptions import InvalidParameterError, MetricWarning, SkevalError
from skeval.files import replacing
from skeval.formatting import as_float, printable

# what content raises that is not of the form it should have
FOREIGN = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_SCORES = ("columns", "baseline_columns")  # of details, where they are mappings


@contextmanager
def details_of(source: object) -> Iterator[None]:
    """Say of results from a file that their details are none of a metric, where that shows.

    Of results that were made here, `source` is None and errors are left as they are.
    """
    try:
        yield
    except FOREIGN as error:
        if source is None or isinstance(error, SkevalError):
            raise
        raise InvalidParameterError(
            f"{source} holds details of another form than metrics write "
            f"({type(error).__name__}); evaluate again."
        ) from error


def check_details(details: Mapping[str, Any]) -> None:
    """Refuse scores by column that are neither numbers nor mappings.

    Raises
    ------
    TypeError, ValueError
        If one is none.
    """
    for name in _SCORES:
        if isinstance(scores := details.get(name), Mapping):
            for score in scores.values():
                if not isinstance(score, Mapping):  # of a column, what an attack on it gave
                    as_float(score)


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
    kinds = [(getattr(exceptions, str(name), None), text) for name, text in named]
    return tuple(
        (kind if isinstance(kind, type) and issubclass(kind, MetricWarning) else MetricWarning)(
            str(text)
        )
        for kind, text in kinds
    )


def write_json(content: Mapping[str, Any], path: str | Path | None) -> str:
    """Return the text of strict JSON, and write it to `path` if given."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text
