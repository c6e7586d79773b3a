"""Categories of several tables that differ only in case, blanks, Unicode form or leading zeros."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from skeval.exceptions import DifferentFormWarning

MAX_NAMED = 3  # columns in a notice
# "K007" is "K7", and "1.05" is not "1.5"
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")


def normal_form(label: str) -> str:
    """Return a label in lower case and NFC, without blanks at its ends and leading zeros."""
    words = " ".join(unicodedata.normalize("NFC", label).casefold().split())
    return _LEADING_ZEROS.sub("", words)


def match_spelling(labels: Iterable[str], real: Iterable[str]) -> dict[str, str]:
    """Return the real level of each label that is not a level, but has the normal form of one.

    A normal form that several real levels have decides nothing: there, the spelling has a meaning.
    """
    levels = set(real)
    unknown = {label: normal_form(label) for label in labels if label not in levels}
    if not unknown:
        return {}
    forms = {level: normal_form(level) for level in levels}
    counts = Counter(forms.values())
    known = {form: level for level, form in forms.items() if counts[form] == 1}
    return {label: known[form] for label, form in unknown.items() if form in known}


def list_columns(columns: Sequence[str]) -> str:
    """Return the first columns by name, and the number of the others."""
    more = len(columns) - MAX_NAMED
    others = f" and {more} more column{'s' * (more > 1)}" if more > 0 else ""
    return f"{', '.join(columns[:MAX_NAMED])}{others}"


def spelling_warning(role: str, columns: Sequence[str]) -> DifferentFormWarning:
    """Return the warning about columns whose categories a table spells differently from train."""
    return DifferentFormWarning(
        f"{role} spells categories of {list_columns(columns)} differently from train. Categories "
        "that differ only in case, blanks or leading zeros are treated as equal. Write them in "
        "the same way in all tables."
    )
