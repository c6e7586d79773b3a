"""What was not tested, and what a reader should check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Text, compose, names, paragraph

_MAX_NAMED = 3


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
            (untested.known_columns, f"who look up a {noun.one} by quasi-identifiers"),
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
    return _check("No test examined {columns}.", columns)


def check_types(columns: Sequence[str]) -> Text:
    """Return which columns may have another type than inferred."""
    return _check("The type of {columns} is in doubt.", columns)


def check_cells(columns: Sequence[str]) -> Text:
    """Return which columns have cells of another type, which count as missing."""
    return _check("Some cells of {columns} could not be read and count as missing.", columns)


def _check(template: str, columns: Sequence[str]) -> Text:
    """Return a sentence that names three columns, and where the others are listed."""
    listed = compose(template, columns=names(columns, _MAX_NAMED))
    where = compose("See the page on provenance.") if len(columns) > _MAX_NAMED else ()
    return paragraph(listed, where)
