"""What was not tested, and what a reader should check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Span, Text, compose, name, names, paragraph


@dataclass(frozen=True)
class Untested:
    """What no test examined."""

    utility: bool = False
    known_columns: bool = False
    generator: bool = False
    several_records: bool = False
    texts: bool = False
    risks: tuple[str, ...] = ()


def untested_sentence(untested: Untested, noun: Noun) -> Text:
    """Return what was not tested; it ends with the sentence that every report needs."""
    attackers = [
        phrase
        for is_missing, phrase in (
            ("singling out" in untested.risks, f"who pick out single {noun.many}"),
            ("linkability" in untested.risks, f"who link parts of a {noun.one}"),
            ("inference" in untested.risks, "who guess hidden values"),
            (untested.known_columns, f"who know some columns of a {noun.one}"),
            (untested.generator, "who can run the generator"),
            (untested.several_records, f"who know several {noun.many} of one subject"),
            (untested.texts, "who search texts for passages and names"),
        )
        if is_missing
    ]
    listed = " or ".join(filter(None, (", ".join(attackers[:-1]), *attackers[-1:])))
    return paragraph(
        compose("Utility.") if untested.utility else (),
        compose("Attackers {listed}.", listed=listed) if attackers else (),
        compose("**No test can show that nothing leaks.**"),
    )


def check_columns(columns: Sequence[str]) -> Text:
    """Return which columns no test examined."""
    return compose("No test examined {columns}.", columns=_some(columns))


def check_types(columns: Sequence[str]) -> Text:
    """Return which columns may have another type than inferred."""
    return compose("The type of {columns} is in doubt.", columns=_some(columns))


def check_missing(columns: Sequence[str]) -> Text:
    """Return in which columns cells that cannot be read count as missing."""
    return compose(
        "Cells of {columns} that cannot be read count as missing.", columns=_some(columns)
    )


def _some(columns: Sequence[str], most: int = 3) -> Text:
    shown = names(columns[:most], most)
    more = len(columns) - most
    if more <= 0:
        return shown
    listed = (span for one in columns[:most] for span in (name(one), Span(", ")))
    return (*listed, Span(f"and {more:,} more, see the last page"))
