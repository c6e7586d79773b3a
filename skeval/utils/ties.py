"""What packages ask of those above them, whom they do not name: loaders by the name of a role.

The package fills them in skeval/__init__.py. A loader imports what it gives where it is first asked
for, so that importing skeval imports none of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LOADERS: dict[str, Callable[[], Any]] = {}


def tied(role: str) -> Any:
    """Return what fills a role; None where nothing does.

    Examples
    --------
    >>> from skeval.utils.ties import tied
    >>> tied("rendering").__name__, tied("cooking")
    ('skeval.reporting.entry', None)
    """
    load = LOADERS.get(role)
    return None if load is None else load()
