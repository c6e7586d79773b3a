"""Text is data: only templates have marks, and names are kept apart."""

from __future__ import annotations

from skeval.reporting.document.shortening import shorten_end, shorten_name, shorten_names
from skeval.reporting.document.spans import Span, compose, name, names, paragraph, plain


def test_asterisks_of_a_template_are_strong() -> None:
    text = compose("**36 of 100** attempts")
    assert text == (Span("36 of 100", strong=True), Span(" attempts"))


def test_values_are_not_read_as_marks() -> None:
    text = compose("in {column}: {rule}", column=name("**a** {b}"), rule="x ** 2 {y}")
    assert text == (Span("in "), Span("**a** {b}", name=True), Span(": x ** 2 {y}"))


def test_names_are_strong_within_a_strong_part() -> None:
    assert compose("**{column}**", column=name("age")) == (Span("age", strong=True, name=True),)


def test_names_in_a_sentence() -> None:
    assert plain(names(["a"])) == "a"
    assert plain(names(["a", "b", "c"])) == "a, b and c"
    assert plain(names(["a", "b", "c", "d", "e"])) == "a, b, c and 2 more"


def test_paragraph_leaves_out_empty_sentences() -> None:
    assert plain(paragraph(compose("One."), (), compose("Two."))) == "One. Two."


def test_names_are_cut_in_the_middle_and_texts_at_the_end() -> None:
    assert shorten_name("abcdefghij", 7) == "abc\N{HORIZONTAL ELLIPSIS}hij"
    assert shorten_name("abcdefg", 7) == "abcdefg"
    assert shorten_end("abcdefghij", 7) == "abcdef\N{HORIZONTAL ELLIPSIS}"
    cut = shorten_names((Span("abcdefghij", name=True), Span("abcdefghij")), 7)
    assert [one.text for one in cut] == ["abc\N{HORIZONTAL ELLIPSIS}hij", "abcdefghij"]
