"""A metric as the call that makes it again: in JSON, and as text for people."""

from __future__ import annotations

import inspect
import math
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def to_json_value(value: Any) -> Any:
    """Return what makes a metric again, as plain JSON: its class and all its parameters."""
    # Names are those under which classes are public. Lists, texts, numbers, True, False and
    # None are themselves; tuples, mappings and numbers that JSON lacks are mappings of one
    # name. What is anything else, as a lambda, is known by its name alone: a parameter is
    # never shown by what it holds.
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        if not type(value).__module__.startswith("skeval"):
            standard = defaults_of(type(value))
            parameters = {n: v for n, v in parameters.items() if not _equal(v, standard.get(n))}
        own = {name: to_json_value(part) for name, part in parameters.items()}
        return {"class": public_name(type(value)), "parameters": own}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {"dict": [[to_json_value(k), to_json_value(v)] for k, v in value.items()]}
    if type(value) in (list, tuple):
        parts = list(map(to_json_value, value))
        return parts if type(value) is list else {"tuple": parts}
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return {"name": public_name(value)}
    return {"name": f"<{type(value).__name__}>"}


def constructor(value: Any) -> str:
    """Return the call that makes a metric again, to be read by people."""
    return call_of(to_json_value(value))


def call_of(content: Any) -> str:
    """Return what :func:`to_json_value` gave as text of Python, which is printed, never parsed."""
    if content is None or isinstance(content, str | bool | int | float):
        if isinstance(content, float) and not math.isfinite(content):
            raise ValueError("no JSON")
        return repr(content)
    if isinstance(content, list):
        return f"[{', '.join(map(call_of, content))}]"
    kind, held = _form_of_mapping(content)
    if kind == "class":
        own = ", ".join(f"{name}={call_of(part)}" for name, part in content["parameters"].items())
        return f"{held}({own})"
    if kind == "float":
        return f"float({held!r})"
    if kind == "dict":
        return f"{{{', '.join(f'{call_of(k)}: {call_of(v)}' for k, v in held)}}}"
    if kind == "tuple":
        return f"({', '.join(map(call_of, held))}{',' if len(held) == 1 else ''})"
    return str(held) if "<" not in held else f"<{''.join(c for c in held if c not in '<>')}>"


def _form_of_mapping(content: Any) -> tuple[str, Any]:
    """Return the form of a mapping that :func:`to_json_value` wrote, and what it holds."""
    if isinstance(content, dict) and set(content) == {"class", "parameters"}:
        if isinstance(content["class"], str) and isinstance(content["parameters"], dict):
            return "class", content["class"]
    elif isinstance(content, dict) and len(content) == 1:
        ((kind, held),) = content.items()
        is_pairs = isinstance(held, list) and all(
            isinstance(pair, list) and len(pair) == 2 for pair in held
        )
        if {
            "float": held in ("inf", "-inf", "nan"),
            "dict": is_pairs,
            "tuple": isinstance(held, list),
            "name": isinstance(held, str),
        }.get(kind):
            return kind, held
    raise ValueError("no call")


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
