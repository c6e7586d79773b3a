"""Text as plain data: pieces that may be strong, and pieces that are names of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PART = re.compile(r"\*\*(.+?)\*\*|([^*]+|\*)", re.DOTALL)
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Span:
    """A piece of text. Names are printed in isolation, because they may use any alphabet."""

    text: str
    strong: bool = False
    name: bool = False


Text = tuple[Span, ...]
Value = str | int | Span | Text


def compose(template: str, **values: Value) -> Text:
    """Fill the fields of a sentence. Two asterisks around a part of the template make it strong.

    Only the template is read as markup. The text of a value is printed as it is.
    """
    spans: list[Span] = []
    for strong, plain in _PART.findall(template):
        spans += _fill(strong or plain, bool(strong), values)
    return join(spans)


def _fill(part: str, strong: bool, values: dict[str, Value]) -> Iterator[Span]:
    for i, piece in enumerate(_FIELD.split(part)):
        if i % 2 == 0:
            if piece:
                yield Span(piece, strong)
            continue
        value = values[piece]
        inner = value if isinstance(value, tuple) else (value,)
        for one in inner:
            if isinstance(one, Span):
                yield Span(one.text, strong or one.strong, one.name)
            else:
                yield Span(str(one), strong)


def join(spans: Sequence[Span]) -> Text:
    """Return spans in which neighbors of one kind are joined, except names."""
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and not last.name and not span.name and last.strong == span.strong:
            joined[-1] = Span(last.text + span.text, span.strong)
        elif span.text or span.name:
            joined.append(span)
    return tuple(joined)


def paragraph(*sentences: Text) -> Text:
    """Return sentences with spaces between them, without empty sentences."""
    spans: list[Span] = []
    for sentence in filter(None, sentences):
        spans += [Span(" ")] * bool(spans)
        spans += sentence
    return join(spans)


def name(text: str) -> Span:
    """Return a name of the user, such as a column."""
    return Span(text, name=True)


def names(texts: Sequence[str], most: int = 3) -> Text:
    """Return names as a sentence lists them, followed by the number of other names."""
    shown = [name(text) for text in texts[:most]]
    more = len(texts) - len(shown)
    last: Span | None = Span(f"{more:,} more") if more else None
    listed = [*shown, *([last] if last else [])]
    spans: list[Span] = []
    for i, one in enumerate(listed):
        if i:
            spans.append(Span(" and " if i == len(listed) - 1 else ", "))
        spans.append(one)
    return tuple(spans)


def plain(text: Text) -> str:
    """Return the text without its kinds."""
    return "".join(span.text for span in text)
