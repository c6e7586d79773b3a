"""Results as strict JSON, and results from files that may not be trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from skeval import exceptions
from skeval.exceptions import InvalidParameterError, MetricWarning, SkevalError
from skeval.utils.files import replacing
from skeval.utils.foreign_files import foreign_text
from skeval.utils.formatting import as_float, printable

T = TypeVar("T")
SCHEMA_VERSION = 3  # increase it if the JSON of results changes

# errors that content of another form causes
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
_SCORES = ("columns", "baseline_columns")  # keys of details that may map columns to scores


@contextmanager
def details_of(source: object) -> Iterator[None]:
    """Raise a clear error if details from a file do not have the form that metrics write.

    For results that were computed in this process, `source` is None and errors are not changed.
    """
    try:
        yield
    except FOREIGN as error:
        if source is None or isinstance(error, SkevalError):
            raise
        raise InvalidParameterError(
            f"{source} contains details that no metric writes "
            f"({type(error).__name__}). Evaluate again."
        ) from error


def check_details(details: Mapping[str, Any]) -> None:
    """Refuse scores by column that are neither numbers nor mappings."""
    for name in _SCORES:
        if isinstance(scores := details.get(name), Mapping):
            for score in scores.values():
                if not isinstance(score, Mapping):  # an attack states several numbers for a column
                    as_float(score)


def plain_json(value: Any) -> Any:
    """Convert arrays, numpy numbers and tuples to types of strict JSON."""
    import numpy as np

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
        f"a result contains {type(value).__name__}, which JSON does not support. Use lists, dicts, "
        "numbers, strings and arrays in details."
    )


def replace_controls(content: Any) -> Any:
    """Return content of a JSON file with the control characters in its texts replaced."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, list):
        return [replace_controls(part) for part in content]
    if isinstance(content, dict):
        return {replace_controls(name): replace_controls(part) for name, part in content.items()}
    return content


def named_warnings(warnings: Iterable[MetricWarning]) -> list[list[Any]]:
    """Return class, text and columns of each warning."""
    return [[type(warning).__name__, str(warning), *_columns_of(warning)] for warning in warnings]


def _columns_of(warning: MetricWarning) -> list[list[str]]:
    if isinstance(warning, exceptions.UnexaminedColumnsWarning):
        return [[*warning.columns], [*warning.unique]]
    return [[*warning.columns]] if isinstance(warning, exceptions.UnreadCellsWarning) else []


def rebuild_warnings(named: Iterable[Sequence[Any]]) -> tuple[MetricWarning, ...]:
    """Create the warnings from their classes and texts."""
    return tuple(_rebuild_warning(*one) for one in named)


def _rebuild_warning(
    name: str, text: str, columns: Sequence[str] = (), unique: Sequence[str] = ()
) -> MetricWarning:
    kind = getattr(exceptions, str(name), None)
    if kind is exceptions.UnexaminedColumnsWarning:
        return exceptions.UnexaminedColumnsWarning(str(text), columns, unique)
    if kind is exceptions.UnreadCellsWarning:
        return exceptions.UnreadCellsWarning(str(text), columns)
    if isinstance(kind, type) and issubclass(kind, MetricWarning):
        return kind(str(text))
    return MetricWarning(str(text))


def read_json_of_results(
    path: str | Path, make: Callable[[dict[str, Any]], T], *, what: str, source: object = "The text"
) -> T:
    """Return the object that `make` creates from a JSON file or a text that begins with a brace."""
    is_text = isinstance(path, str) and path.lstrip().startswith("{")
    source = source if is_text else path
    text = str(path) if is_text else foreign_text(path)
    try:
        content = replace_controls(json.loads(text))
        version = content["schema_version"]
        read: Any = make(content) if version == SCHEMA_VERSION else None
    except FOREIGN as error:
        raise InvalidParameterError(f"{source} contains no {what}.") from error
    if read is None:
        raise InvalidParameterError(
            f"{source} has version {version!r} of the format of scores, but this skeval reads "
            f"version {SCHEMA_VERSION}. Use the skeval that wrote it, or evaluate again."
        )
    read.source = source
    return cast("T", read)


def write_json(content: Mapping[str, Any], path: str | Path | None) -> str:
    """Return the text of strict JSON, and write it to `path` if given."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text
