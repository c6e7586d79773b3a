"""Text of the Python call that creates a metric. The text is printed and never parsed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def parts_of_call(metric: BaseEstimator) -> dict[str, Any]:
    """Return the public name of the class, and the text of each parameter."""
    # For estimators of other packages, only parameters that differ from their defaults.
    parameters = metric.get_params(deep=False)
    if not type(metric).__module__.startswith("skeval"):
        standard = defaults_of(type(metric))
        parameters = {n: v for n, v in parameters.items() if not _equal(v, standard.get(n))}
    texts = {name: text_of(value) for name, value in parameters.items()}
    return {"class": public_name(type(metric)), "parameters": texts}


def call_of(parts: Mapping[str, Any]) -> str:
    """Return the call as text. Invalid parts raise an error."""
    kind, parameters = parts["class"], parts["parameters"]
    if not all(isinstance(text, str) for text in (kind, *parameters.values())):
        raise ValueError("no call")
    return f"{kind}({', '.join(f'{name}={text}' for name, text in parameters.items())})"


def text_of(value: Any) -> str:
    """Return the text of a parameter, or the class name for other objects such as tables."""
    if isinstance(value, BaseEstimator):
        return call_of(parts_of_call(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, str | bool | int | float):
        return repr(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{text_of(k)}: {text_of(v)}' for k, v in value.items())}}}"
    if type(value) is list:
        return f"[{', '.join(map(text_of, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(text_of, value))}{',' if len(value) == 1 else ''})"
    named = isinstance(value, type) or hasattr(value, "__qualname__")
    name = public_name(value) if named else f"<{type(value).__name__}>"
    return name if "<" not in name else f"<{''.join(c for c in name if c not in '<>')}>"


def public_name(value: Any) -> str:
    """Return the shortest dotted name under which a class or function can be imported."""
    name, parts = value.__qualname__, str(value.__module__).split(".")
    for depth in range(1, len(parts)):
        module = ".".join(parts[:depth])
        if getattr(import_module(module), name, None) is value:
            return f"{module}.{name}"
    return f"{value.__module__}.{name}"


def defaults_of(kind: type) -> dict[str, Any]:
    """Return the defaults of the parameters of a class, by their names."""
    return {n: p.default for n, p in inspect.signature(kind).parameters.items()}


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)
