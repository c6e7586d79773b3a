"""Metrics as JSON, and made again of it: of a file that holds them, nothing else is run."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from skeval.exceptions import InvalidParameterError
from skeval.parameters import Legal, legal_sets

LONGEST = 200_000  # characters of a metric
_DEEPEST = 30  # levels of one
_OF_FILES = ("memory", "input")  # of scikit-learn: a folder of caches, whether rows name files


def described(value: Any) -> Any:
    """Return what makes a metric again, as plain JSON: its class and all its parameters.

    Names are those under which classes are public. Lists, texts, numbers, True, False and None are
    themselves; tuples, mappings and numbers that JSON lacks are mappings of one name. What is
    anything else, as a lambda, is known by its name alone: a parameter is never shown by what it
    holds.

    Examples
    --------
    >>> from skeval.calls import described
    >>> from skeval.fidelity import KSComplement
    >>> described(KSComplement(columns=["age"]))
    {'class': 'skeval.fidelity.KSComplement', 'parameters': {'columns': ['age']}}
    """
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        if not type(value).__module__.startswith("skeval"):
            standard = _defaults(type(value))
            parameters = {n: v for n, v in parameters.items() if not _equal(v, standard.get(n))}
        own = {name: described(part) for name, part in parameters.items()}
        return {"class": public_name(type(value)), "parameters": own}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {"dict": [[described(k), described(v)] for k, v in value.items()]}
    if type(value) in (list, tuple):
        parts = list(map(described, value))
        return parts if type(value) is list else {"tuple": parts}
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return {"name": public_name(value)}
    return {"name": f"<{type(value).__name__}>"}


def constructor(value: Any) -> str:
    """Return the call that makes a metric again, to be read by people.

    Examples
    --------
    >>> from skeval.calls import constructor
    >>> from skeval.fidelity import KSComplement
    >>> constructor(KSComplement(columns=["age"]))
    "skeval.fidelity.KSComplement(columns=['age'])"
    """
    return call_of(described(value))


def call_of(content: Any) -> str:
    """Return what :func:`described` gave as Python's text, which is printed and never parsed.

    Raises
    ------
    ValueError
        If it is of another form.
    """
    if content is None or isinstance(content, str | bool | int | float):
        if isinstance(content, float) and not math.isfinite(content):
            raise ValueError("no JSON")
        return repr(content)
    if isinstance(content, list):
        return f"[{', '.join(map(call_of, content))}]"
    kind, held = _one_of(content)
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


def _one_of(content: Any) -> tuple[str, Any]:
    """Return the form of a mapping that :func:`described` wrote, and what it holds.

    Raises
    ------
    ValueError
        If it is of no such form.
    """
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


def rebuilt(content: Any) -> Any:
    """Make an object of what :func:`described` gave.

    Nothing else is run: classes must be public estimators of skeval or scikit-learn, parameters
    texts, numbers, lists and such estimators. Parameters that name files or folders must have their
    defaults, since the content may be a stranger's.

    Raises
    ------
    InvalidParameterError
        If the content is anything else.

    Examples
    --------
    >>> from skeval.calls import rebuilt
    >>> rebuilt({"class": "skeval.fidelity.KSComplement", "parameters": {"columns": ["age"]}})
    KSComplement(columns=['age'])
    """
    shown = repr(content)[:200]
    try:
        if len(json.dumps(content)) > LONGEST:
            raise ValueError("too long")
        return _made(content, 0)
    except Exception as why:  # of a stranger's content
        if isinstance(why, InvalidParameterError):
            raise
        raise InvalidParameterError(f"cannot be made again: {shown}") from why


def _made(content: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if content is None or isinstance(content, str | bool | int | float):
        return content
    if isinstance(content, list):
        return [_made(part, depth + 1) for part in content]
    form, held = _one_of(content)
    if form == "float":
        return float(held)
    if form == "tuple":
        return tuple(_made(part, depth + 1) for part in held)
    if form == "dict":
        return {_made(k, depth + 1): _made(v, depth + 1) for k, v in held}
    if form == "name":  # of what is known by its name alone
        raise ValueError(held)
    kind = _estimator(held)
    parameters = {n: _made(part, depth + 1) for n, part in content["parameters"].items()}
    if named := _of_files(kind, parameters):
        raise InvalidParameterError(
            f"{', '.join(named)} of {kind.__name__} names a file or a folder, which no file "
            "without rows does; set it once the suite is loaded"
        )
    return kind(**parameters)


def _estimator(name: str) -> type[BaseEstimator]:
    """Return a class by the public name of an estimator."""
    module, _, kind = name.rpartition(".")
    package, *within = module.split(".")
    # importing a module runs it: none but those that hold public estimators
    hidden = {part for part in within if part.startswith("_") or part in ("tests", "conftest")}
    if package not in ("skeval", "sklearn") or hidden or len(within) > 2:
        raise ValueError(name)
    found = getattr(import_module(module), kind)
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise TypeError(name)
    if public_name(found) != name:
        raise ValueError(name)
    return found


def without_files(metric: Any) -> Any:
    """Return a clone whose parameters that name files or folders have their defaults.

    Examples
    --------
    >>> from skeval.calls import without_files
    >>> from skeval.text import EntityLeakage
    >>> without_files(EntityLeakage(memory="folder"))
    EntityLeakage()
    """
    again = clone(metric)
    _forget_files(again)
    return again


def _forget_files(estimator: Any) -> None:
    parameters = estimator.get_params(deep=False)
    standard = _defaults(type(estimator))
    for name in _of_files(type(estimator), parameters):
        setattr(estimator, name, standard.get(name))
    for value in parameters.values():
        if isinstance(value, BaseEstimator):
            _forget_files(value)


def _of_files(kind: type, parameters: Mapping[str, Any]) -> list[str]:
    """Return which parameters name what a file from somebody else must not name."""
    standard = _defaults(kind)
    if kind.__module__.partition(".")[0] == "sklearn":
        return [n for n in _OF_FILES if n in parameters and parameters[n] != standard.get(n)]
    return [
        name
        for name, legal in legal_sets(kind).items()
        if isinstance(legal, Legal)
        and legal.in_files is not None
        and name in parameters
        and parameters[name] != standard.get(name)
        and not legal.in_files(parameters[name])
    ]


def public_name(value: Any) -> str:
    """Return the shortest dotted name under which a class or function can be imported."""
    name, parts = value.__qualname__, str(value.__module__).split(".")
    for depth in range(1, len(parts)):
        module = ".".join(parts[:depth])
        if getattr(import_module(module), name, None) is value:
            return f"{module}.{name}"
    return f"{value.__module__}.{name}"


def _defaults(kind: type) -> dict[str, Any]:
    return {n: p.default for n, p in inspect.signature(kind).parameters.items()}


def _equal(value: Any, default: Any) -> bool:
    return type(value) is type(default) and repr(value) == repr(default)
