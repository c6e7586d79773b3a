"""The sentences on missing tests and on columns that a reader should check."""

from __future__ import annotations

from collections.abc import Sequence

from skeval.reporting.document.numbers import list_words
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Text, compose, names, paragraph
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import aspect_of

_MAX_NAMED = 3


def untested_sentence(results: SuiteResult, noun: Noun) -> Text:
    """Return the missing tests, and a closing sentence that every report needs."""
    of_privacy = [
        result.tags
        for result in results.values()
        if result.tags is not None and result.tags.aspect == "privacy" and not result.error
    ]
    needs = {need for tags in of_privacy for need in tags.needs}
    risks = {risk for tags in of_privacy for risk in tags.risks}
    is_looked_up = any(tags.evidence == "disclosure" for tags in of_privacy)
    columns = results.provenance.columns if results.provenance is not None else None
    has_texts = columns is None or any(one.kind == "text" for one in columns)
    phrases = {
        f"who pick out single {noun.many}": "singling out" in risks,
        f"who link parts of a {noun.one}": "linkability" in risks,
        "who guess hidden values": "inference" in risks,
        f"who look up a {noun.one} by quasi-identifiers": is_looked_up,
        "who run the generator": "generator" in needs,
        f"who know several {noun.many} of one subject": "relational" in needs,
        "who search texts for passages and names": "text" in needs or not has_texts,
    }
    attackers = [phrase for phrase, is_tested in phrases.items() if not is_tested]
    no_utility = not any(aspect_of(result) == "utility" for result in results.values())
    return paragraph(
        compose(_untested_sentence(list_words(attackers, "or"), no_utility=no_utility)),
        compose("**No test can show that nothing leaks.**"),
    )


def _untested_sentence(attackers: str, *, no_utility: bool) -> str:
    if not attackers:
        return "Utility was not tested." if no_utility else ""
    lead = "Utility was not tested. " if no_utility else ""
    return f"{lead}No test simulated attackers {attackers}."


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
    sentence = compose(template, columns=names(columns, _MAX_NAMED))
    where = compose("See the page on provenance.") if len(columns) > _MAX_NAMED else ()
    return paragraph(sentence, where)
