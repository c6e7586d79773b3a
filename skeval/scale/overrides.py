"""Overrides of steps for tables that need not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from skeval.core.context import ByContext

F = TypeVar("F", bound=Callable[..., Any])


class Overrides(list[tuple[ByContext[..., Any], Callable[..., Any]]]):
    """Replacements of steps for tables that may not fit in memory."""

    # Calling an instance with a step returns a decorator for its override. Contexts of large
    # tables register these overrides. If a table of such a context is in memory, the override
    # calls the ordinary step.

    def __call__(self, step: ByContext[..., Any]) -> Callable[[F], F]:
        """Return a decorator that registers a replacement of a step."""

        def register(override: F) -> F:
            self.append((step, override))
            return override

        return register
