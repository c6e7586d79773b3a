"""The sentences of the page on keys, linked rows and sequences."""

from __future__ import annotations

from collections.abc import Mapping

from skeval.reporting.document.details import mapping_at
from skeval.reporting.document.numbers import rate, score
from skeval.reporting.document.spans import Text, compose, name, paragraph
from skeval.results.result import Result
from skeval.results.verdict import aspect_of

_ROLES = {"subject": "subjects", "dependent": "rows of subjects", "reference": "public"}


def role_words(role: str) -> str:
    """Return the subject of the rows of a table."""
    return _ROLES.get(role, role)


def relations_title(results: Mapping[str, Result]) -> Text:
    """Return whether the keys of the tables are valid."""
    checks = [one for one in results.values() if aspect_of(one) != "fidelity"]
    if not checks:
        return compose("Linked rows and sequences")
    n_short = sum(one.value < (1.0 if one.baseline is None else one.baseline) for one in checks)
    if n_short:
        return compose(f"{n_short} of {len(checks)} checks of tables and keys fall short")
    return compose("All keys are as valid as in unseen rows")


def relations_deck(results: Mapping[str, Result], titles: Mapping[str, str]) -> Text:
    """Return how many references lead to a row, and the largest difference to unseen rows."""
    return paragraph(_finding_words(results), _least_similar(results, titles))


def _finding_words(results: Mapping[str, Result]) -> Text:
    for one in results.values():
        if one.metric == "ReferentialIntegrity":
            return compose(f"{rate(one.value)} of the references lead to a row of their table.")
    return ()


def _least_similar(results: Mapping[str, Result], titles: Mapping[str, str]) -> Text:
    gaps = {
        name: one.tags.sign * (one.baseline - one.value)
        for name, one in results.items()
        if one.tags is not None and one.baseline is not None and aspect_of(one) == "fidelity"
    }
    largest = max(gaps, key=lambda name: gaps[name], default="")
    if not largest or not gaps[largest] > 0.0:
        return (
            compose("No measure of linked rows is below its value of unseen rows.") if gaps else ()
        )
    one = results[largest]
    worst = str(mapping_at(one.details, "worst").get("column") or "")
    where = compose(", worst for {worst}", worst=name(worst)) if worst else ()
    return (
        *compose(
            f"The measure that differs most from unseen rows is {titles[largest]}: "
            f"{score(one.value)}, unseen rows {score(one.baseline)}"
        ),
        *where,
        *compose("."),
    )
