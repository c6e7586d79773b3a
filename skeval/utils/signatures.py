"""Calls that do not fit a signature end in a sentence that names the parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from skeval.exceptions import InvalidParameterError
from skeval.utils.formatting import did_you_mean

P = ParamSpec("P")
R = TypeVar("R")


def with_known_names(init: Callable[P, R]) -> Callable[P, R]:
    """Raise an error with the valid parameters if a constructor gets an unknown parameter."""

    @functools.wraps(init)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return init(*args, **kwargs)
        except TypeError:
            known = list(inspect.signature(init).parameters)[1:]
            if unknown := [name for name in kwargs if name not in known]:
                raise InvalidParameterError(
                    f"{type(args[0]).__name__} has no parameter {', '.join(unknown)}."
                    f"{did_you_mean(unknown, known)} Its parameters are "
                    f"{', '.join(known) or 'none'}."
                ) from None
            raise

    return wrapper


def bound_by(cure: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Raise an error with a remedy if a call does not fit the signature."""

    def decorator(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                known = list(signature.parameters)
                near = did_you_mean([name for name in kwargs if name not in known], known)
                raise InvalidParameterError(f"{function.__name__}: {error}.{near} {cure}") from None
            return function(*args, **kwargs)

        return wrapper

    return decorator
