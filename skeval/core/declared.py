"""Parameters of a metric as fields of its class, inherited from base classes."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from typing import Any, TypeVar, dataclass_transform

from skeval.utils.signatures import with_known_names

T = TypeVar("T", bound=type)
_SECTIONS = ("Parameters", "Attributes")
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)( :.*\n(?:(?:[ ]{4}.*)?\n)*)", re.M)


def own_doc(kind: type) -> str | None:
    """Return the docstring of a class, without inherited docstrings."""
    doc = vars(kind).get("__doc__")
    return doc if isinstance(doc, str) else None


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def declared(kind: T) -> T:
    """Create `__init__` from the annotated fields of a class, and complete its docstring."""
    # Fields of the base classes come first, in their order. Fields below `_: KW_ONLY` are
    # keyword-only. Values are stored unchanged, so that `clone`, `get_params` and `repr` of
    # scikit-learn work. The paragraphs of inherited parameters and attributes are added to the
    # docstring, unless the class documents them itself. An attribute that is not a parameter is a
    # `ClassVar`, and an attribute that `fit` sets is a `field(init=False)`. A class that defines
    # its own `__init__` keeps it.
    doc = kind.__doc__  # None with python -OO, when a dataclass would use its signature instead
    writes_its_own = "__init__" in vars(kind)
    made: Any = dataclass(eq=False, repr=False)(kind)
    if not writes_its_own:
        made.__init__ = with_known_names(made.__init__)
    stated = vars(kind).get("__annotations__", {})
    given = [f.name for f in fields(made) if f.init and f.name in vars(kind)]
    if lost := [name for name in given if name not in stated]:
        raise TypeError(
            f"{kind.__name__}: {', '.join(lost)} must be annotated, as a parameter or a ClassVar."
        )
    made.__doc__ = doc
    made.__doc__ = None if doc is None else complete_docstring(made)
    return made


def complete_docstring(kind: type) -> str:
    """Return the docstring with the parameters of the base classes, ordered by signature."""
    docs, order = [own_doc(base) for base in kind.__mro__], inspect.signature(kind).parameters
    doc = inspect.cleandoc(docs[0] or "")
    for title in _SECTIONS:
        entries: dict[str, str] = {}
        for of_base in reversed(docs):
            entries |= _entries(of_base, title)
        if title == "Parameters":
            entries = {name: entries[name] for name in order if name in entries}
        if entries:
            of_one_text = groupby(entries, key=entries.__getitem__)
            text = "".join(f"{', '.join(names)}{said}" for said, names in of_one_text)
            doc = _with_section(doc, title, text)
    return doc


@cache
def _entries(doc: str | None, title: str) -> dict[str, str]:
    """Return the text after each name in a section of a docstring."""
    _, _, text = _split_at_section(inspect.cleandoc(doc or "") + "\n", title)
    found = [(entry[1].split(", "), entry[2].rstrip() + "\n") for entry in _ENTRY.finditer(text)]
    return {name: said for names, said in found for name in names}


def _split_at_section(doc: str, title: str) -> tuple[str, bool, str]:
    """Return the text above a section, whether it exists, and its text without the heading."""
    headings = list(_HEADING.finditer(doc))
    for heading, after in zip(headings, [*headings[1:], None], strict=False):
        if heading[1] == title:
            return doc[: heading.start()], True, doc[heading.end() : after and after.start()]
    return doc, False, ""


def _with_section(doc: str, title: str, text: str) -> str:
    """Return a docstring with a new text for a section, which is inserted in numpydoc's order."""
    above, found, old = _split_at_section(doc, title)
    heading = f"{title}\n{'-' * len(title)}\n"
    if found:
        rest = doc[len(above) + len(heading) + len(old) :]
    else:
        before = _SECTIONS[: _SECTIONS.index(title)]
        first = next((h for h in _HEADING.finditer(doc) if h[1] not in before), None)
        above, rest = (doc[: first.start()], doc[first.start() :]) if first else (f"{doc}\n\n", "")
    return f"{above}{heading}{text}" + (f"\n{rest}" if rest else "")
