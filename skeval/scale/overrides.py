"""Overrides of steps for tables that need not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from skeval.core.context import ByContext

F = TypeVar("F", bound=Callable[..., Any])


class Overrides(list[tuple[ByContext[..., Any], Callable[..., Any]]]):
    """What is done in place of steps where tables need not fit in memory."""

    # Called with a step, it decorates the override, which contexts of large tables then
    # register. A table of such a context may be in memory too: there the ordinary step is
    # called.

    def __call__(self, step: ByContext[..., Any]) -> Callable[[F], F]:
        """Decorate what is done in place of a step."""

        def register(override: F) -> F:
            self.append((step, override))
            return override

        return register
