"""Parameters of a metric as fields of its class; a family declares what its members share, once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T", bound=type)
_SECTIONS = ("Parameters", "Attributes")
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_ENTRY = re.compile(r"^(\w+) :.*\n(?:(?:[ ]{4}.*)?\n)*", re.M)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def declared(kind: T) -> T:
    """Make `__init__` of the annotated fields of a class, and complete its docstring.

    The fields of its bases come first, in their order; those below ``_: KW_ONLY`` are given by name
    only. They are stored untouched, so that ``clone``, ``get_params`` and ``repr`` are those of
    scikit-learn. What a base says of its parameters and attributes is added to what the class says
    of its own. Attributes that are no parameters are declared as `ClassVar`, those that `fit` sets
    as ``field(init=False)``.

    Parameters
    ----------
    kind : type
        A metric, or the base of a family of metrics.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> from dataclasses import KW_ONLY
    >>> from skeval import Metric
    >>> class Quantile(Metric):
    ...     '''A family.
    ...
    ...     Parameters
    ...     ----------
    ...     q : float, default=0.5
    ...         The quantile.
    ...     '''
    ...     _: KW_ONLY
    ...     q: float = 0.5
    >>> class Gap(Quantile):
    ...     '''A member.
    ...
    ...     Parameters
    ...     ----------
    ...     column : str
    ...         The column.
    ...     '''
    ...     column: str
    >>> Quantile, Gap = declared(Quantile), declared(Gap)
    >>> Gap("age")
    Gap(column='age')
    >>> print(Gap.__doc__.partition("----------")[2])
    <BLANKLINE>
    column : str
        The column.
    q : float, default=0.5
        The quantile.
    """
    made: Any = dataclass(eq=False, repr=False)(kind)
    made.__doc__ = _completed(made)
    return made


def _completed(kind: type) -> str:
    """Return the docstring of a class with what its bases say, in the order of the signature."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    order = list(inspect.signature(kind).parameters)
    for title in _SECTIONS:
        entries: dict[str, str] = {}
        for base in reversed(kind.__mro__):
            entries |= _entries(vars(base).get("__doc__"), title)
        if title == "Parameters":
            entries = {name: entries[name] for name in order if name in entries}
        if entries:
            doc = _with_section(doc, title, "".join(entries.values()))
    return doc


def _entries(doc: str | None, title: str) -> dict[str, str]:
    """Return what a section of a docstring says of each name."""
    _, found, text = _parted(inspect.cleandoc(doc or "") + "\n", title)
    return {entry[1]: entry[0].rstrip() + "\n" for entry in _ENTRY.finditer(text)} if found else {}


def _parted(doc: str, title: str) -> tuple[str, bool, str]:
    """Return what is above a section, whether there is one, and its text without the heading."""
    headings = list(_HEADING.finditer(doc))
    for heading, after in zip(headings, [*headings[1:], None], strict=False):
        if heading[1] == title:
            return doc[: heading.start()], True, doc[heading.end() : after and after.start()]
    return doc, False, ""


def _with_section(doc: str, title: str, text: str) -> str:
    """Return a docstring whose section has another text; a new one stands where numpydoc has it."""
    above, found, old = _parted(doc, title)
    heading = f"{title}\n{'-' * len(title)}\n"
    if found:
        rest = doc[len(above) + len(heading) + len(old) :]
    else:
        first = next((h for h in _HEADING.finditer(doc) if h[1] not in _SECTIONS), None)
        above, rest = (doc[: first.start()], doc[first.start() :]) if first else (f"{doc}\n\n", "")
    return f"{above}{heading}{text}" + (f"\n{rest}" if rest else "")
