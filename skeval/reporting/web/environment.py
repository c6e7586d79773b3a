"""The templates, and the functions that they use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from skeval.reporting.document.blocks import Document
from skeval.reporting.letters import map_texts, show_invisible
from skeval.reporting.web.drawings import inline_svg, size_of


@cache
def environment() -> Environment:
    """Return the templates of this package, which escape each text."""
    made = Environment(
        loader=PackageLoader("skeval.reporting.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "spans": spans,
        "plain": plain,
        "drawn": inline_svg,
        "size": size_of,
        "dashed": lambda text: text.replace(" ", "-"),
    }
    made.globals |= {"place": place, "distance": distance, "style": style}
    return made


def printable(document: Document) -> dict[str, Any]:
    """Return a document as plain data, without letters that cannot be trusted."""
    content: dict[str, Any] = map_texts(document.to_dict(), show_invisible)
    return content


def spans(text: Sequence[Mapping[str, Any]]) -> Markup:
    """Return text with its names isolated, because a name may be of any alphabet."""
    return Markup("").join(map(_span, text))


def _span(span: Mapping[str, Any]) -> Markup:
    shown = escape(span["text"])
    if span["name"]:
        is_empty = not span["text"].strip()
        shown = Markup("<bdi>{}</bdi>").format("(empty name)" if is_empty else span["text"])
    return Markup("<b>{}</b>").format(shown) if span["strong"] else shown


def plain(text: Sequence[Mapping[str, Any]]) -> str:
    """Return text without its kinds."""
    return "".join(span["text"] for span in text)


def place(value: float, block: Mapping[str, Any]) -> str:
    """Return where a value is on the axis of a block, as CSS and SVG state it."""
    return f"{_percent(value, block):.2f}%"


def distance(one: float, other: float, block: Mapping[str, Any]) -> str:
    """Return the distance between two values on the axis of a block."""
    return f"{abs(_percent(one, block) - _percent(other, block)):.2f}%"


def _percent(value: float, block: Mapping[str, Any]) -> float:
    low, high = block["low"], block["high"]
    return 100.0 * float(min(high, max(low, value)) - low) / float(high - low)


@cache
def style(name: str) -> Markup:
    """Return a style sheet of this package."""
    return Markup((files(__package__) / name).read_text(encoding="utf-8"))
