"""What a notebook shows of an object, by the protocol of IPython."""

from __future__ import annotations

from operator import methodcaller
from typing import Any


def cell_of(shown: Any) -> str:
    """Return the HTML of a cell that ends with this object."""
    if hasattr(shown, "_repr_mimebundle_"):  # IPython asks for it first
        return methodcaller("_repr_mimebundle_")(shown)["text/html"]
    return methodcaller("_repr_html_")(shown)
