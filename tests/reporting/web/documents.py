"""A document with one block of each kind, and names that would break a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skeval.reporting.document import blocks as b
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text, compose, name

HOSTILE = (
    *("<script>document.title = 'run'</script>", '"><img src=x onerror=alert(1)>', "</style>"),
    *("</script>", "<!--", "&lt;", "{{ 7 * 7 }}", "{% raw %}", "'", "`", "--", "x" * 200),
    *("\u202egnitrever", "\u2066open", "a\x00b\x1b[31m", "\ud800half", "a\u2028b", "", " "),
    *("\u540d\u524d", "\u0e0a\u0e37\u0e48\u0e2d", "\u05e9\u05dd", "\U0001f600", "e\u0301\u0301"),
)


def every_kind(word: str = "age") -> b.Document:
    """Return a document in which each text of a user is this word."""
    text = compose("{column} is **short**", column=name(word))
    first = (
        b.Headline("headline", Outcome.LEAK, text, text, (text, compose("facts"))),
        b.Release("release", (("Title", text),), (_threshold(word, True), _threshold(word, False))),
        b.Tiles("tiles", tuple(b.Tile("Aspect", one, "Word", text) for one in Outcome)),
        _comparison("privacy", text, ("", "in data", "unseen")),
        _comparison("fidelity", text, ("", "synth.", "unseen")),
        _heat_tables(word, text),
        b.Steps("steps", "What to do", (text, text)),
        b.Paragraphs("untested", "Not tested", (text, text)),
        b.Paragraphs("checks", "Please check", (text,)),
        b.SignOff("sign-off", "Sign-off", ("Decision", "Date"), text),
    )
    row = _row(text, Outcome.BELOW)
    second = (
        b.Headline("headline", None, text, (), (text,)),
        _comparison("attacks", text, ("An attacker", "in data", "unseen", "points")),
        b.Figure("membership", "A figure", text, _svg(word), f"Drawing of {word}"),
        b.Entries("risks", "Risks", text, (b.Entry(text, text, Outcome.LEAK, "leak", "#other"),)),
        b.ColumnRows(
            *("columns", ("Column", "Drawing", "", "synth.", "unseen")),
            (b.ColumnRow(row, text, _svg(word), word), b.ColumnRow(row, text, "", word)),
            *(0.0, 100.0, ((0.0, "0"), (100.0, "100"))),
        ),
        b.PictureRows("pairs", "Pairs", text, (_pictures(word, text), _pictures(word, text))),
        b.PictureRows("matrices", "Matrices", text, (_pictures(word, text),), (word, word)),
        _dot_rows(text),
        _table(text),
    )
    pages = (b.Page("decision", "Decision", first), b.Page("other", "Other", second))
    return b.Document("Report", (text,), pages, text, keywords=(word,))


def _dot_rows(text: Text) -> b.DotRows:
    dots = (
        b.Dot(Outcome.LEAK, 12.0, (8.0, 16.0)),
        b.Dot(Outcome.COPIES, 3.0),
        b.Dot(Outcome.NO_TEST),
    )
    row = b.DotRow(text, text, Outcome.LEAK, text, dots, 0.0)
    ticks = ((0.0, "0"), (20.0, "+20"))
    return b.DotRows(
        "dots", "Dots", text, (text,) * 3, "unseen rows", (row,), 0.0, 20.0, ticks, "Dots"
    )


def _threshold(word: str, is_met: bool) -> b.Threshold:
    return b.Threshold(f"{word} >= 0.9", is_met, "met" if is_met else "violated", f"{word} is 0.8")


def _row(text: Text, outcome: Outcome) -> b.ComparisonRow:
    numbers: Any = (40.0, 30.0, (35.0, 45.0), (25.0, 35.0), 50.0)
    return b.ComparisonRow(text, text, outcome, "a word", "40.0%", "30.0%", *numbers)


def _comparison(block: str, text: Text, heads: tuple[str, ...]) -> b.Comparison:
    empty = b.ComparisonRow(text, (), Outcome.NO_TEST, "no test", "\N{EN DASH}", "\N{EN DASH}")
    rows = (*(_row(text, one) for one in Outcome), empty)
    return b.Comparison(
        *(block, "A comparison", heads),
        (("value", "value"), ("reference", "unseen"), ("gap", "gap"), ("interval", "interval")),
        (b.RowGroup("First group", rows), b.RowGroup("Second group", rows[:1])),
        *(0.0, 100.0, ((0.0, "0%"), (50.0, ""), (100.0, "100%")), "Rates", text),
    )


def _heat_tables(word: str, text: Text) -> b.HeatTables:
    cells = tuple(
        tuple(b.HeatCell(f"{10 * (i + j)}", (i + j) / 10, i == 3) for j in range(4))
        for i in range(6)
    )
    few = (*cells[:5], tuple(b.HeatCell("", None) for _ in range(4)))
    labels = (word,) * 6
    return b.HeatTables(
        "loss", text, text, labels, labels[:4], (("Real", few), ("Synthetic", cells))
    )


def _svg(word: str) -> str:
    from skeval.reporting.document.drawings import svg

    parts = (svg.rectangle(0, 0, 9, 9, svg.REAL), svg.label(5, 5, word), svg.dot(1, 1, 1, svg.INK))
    return svg.drawing(200, 100, parts)


def _pictures(word: str, text: Text) -> b.PictureRow:
    return b.PictureRow(text, text, tuple(b.Picture(one, _svg(word), word) for one in "abc"))


def _table(text: Text) -> b.Table:
    cells = (b.Cell(text), b.Cell(compose("0.5")), b.Cell(text, Outcome.BELOW))
    groups = (("One", (cells, cells)), ("", (cells,)))
    return b.Table(
        "numbers", "A table", text, ("Name", "Value", "Verdict"), ("left", "right", "left"), groups
    )


def texts_of(content: Any, key: str = "") -> Iterator[str]:
    """Yield the texts of plain data that a reader sees; names of parts and drawings are not."""
    if isinstance(content, str):
        if key not in ("name", "kind", "outcome", "svg", "aligned", "language", "link"):
            yield content
    elif isinstance(content, dict):
        for own, part in content.items():
            if own == "legend":
                yield from (words for _, words in part)
            else:
                yield from texts_of(part, own)
    elif isinstance(content, list | tuple):
        for part in content:
            yield from texts_of(part, key)
