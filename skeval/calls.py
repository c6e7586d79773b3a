"""Metrics as calls, and made again of them: of a file that holds calls, nothing else is run."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from skeval.exceptions import InvalidParameterError
from skeval.parameters import Legal, legal_sets

LONGEST = 200_000  # characters of a call
_DEEPEST = 30  # levels of one
_OF_FILES = ("memory", "input")  # of scikit-learn: a folder of caches, whether rows name files


def constructor(value: Any) -> str:
    """Return the call that makes a metric again, with all its parameters.

    Names are those under which they are public, so that Python makes it of the text once their
    packages are imported. What has no such text, as a lambda, stands in angle brackets: a
    parameter is never shown by what it holds unless that is numbers, texts and lists of them.

    Examples
    --------
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.calls import constructor
    >>> constructor(KSComplement(columns=["age"]))
    "skeval.fidelity.KSComplement(columns=['age'])"
    """
    if isinstance(value, BaseEstimator):
        parameters = value.get_params(deep=False)
        if not type(value).__module__.startswith("skeval"):
            standard = _defaults(type(value))
            parameters = {n: v for n, v in parameters.items() if not _equal(v, standard.get(n))}
        called = ", ".join(f"{name}={constructor(part)}" for name, part in parameters.items())
        return f"{public_name(type(value))}({called})"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        text = repr(value)
        return f"float({text!r})" if text.lstrip("-") in {"inf", "nan"} else text
    if isinstance(value, dict):
        parts = ", ".join(f"{constructor(k)}: {constructor(v)}" for k, v in value.items())
        return f"{{{parts}}}"
    if type(value) in (list, tuple):
        parts = ", ".join(map(constructor, value))
        return f"[{parts}]" if type(value) is list else f"({parts}{',' if len(value) == 1 else ''})"
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        name = public_name(value)
        return name if "<" not in name else f"<{name.replace('<', '').replace('>', '')}>"
    return f"<{type(value).__name__}>"


def rebuilt(text: str) -> Any:
    """Make an object of the call that :func:`constructor` wrote.

    Nothing else is run: names must be those of public estimators of skeval or scikit-learn,
    arguments their texts, numbers, lists and calls of such estimators. Parameters that name files
    or folders must have their defaults, since the text may be a stranger's.

    Raises
    ------
    InvalidParameterError
        If the text is anything else.

    Examples
    --------
    >>> from skeval.calls import rebuilt
    >>> rebuilt("skeval.fidelity.KSComplement(columns=['age'])")
    KSComplement(columns=['age'])
    """
    shown = str(text)[:200]
    try:
        if len(text) > LONGEST:
            raise ValueError("too long")
        return _made(ast.parse(text, mode="eval").body, 0)
    except Exception as why:  # of a stranger's text
        if isinstance(why, InvalidParameterError):
            raise
        raise InvalidParameterError(f"cannot be made again: {shown}") from why


def _made(node: ast.expr, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    if isinstance(node, ast.List | ast.Tuple):
        parts = [_made(part, depth + 1) for part in node.elts]
        return parts if isinstance(node, ast.List) else tuple(parts)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_made(k, depth + 1): _made(v, depth + 1) for k, v in pairs if k}
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    name = ast.unparse(node.func)
    if name == "float" and len(node.args) == 1:
        return float(ast.literal_eval(node.args[0]))
    if node.args:
        raise ValueError(name)
    kind = _estimator(name)
    parameters = {str(part.arg): _made(part.value, depth + 1) for part in node.keywords}
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
