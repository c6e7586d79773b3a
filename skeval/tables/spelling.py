"""Categories of several tables that differ only in case, blanks, Unicode form or leading zeros."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from skeval.exceptions import DifferentFormWarning

MAX_NAMED = 3  # maximum number of column names in a warning
# "K007" is equal to "K7", but "1.05" is not equal to "1.5".
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")


def normal_form(label: str) -> str:
    """Return a label in lower case and NFC, without blanks at its ends and leading zeros."""
    words = " ".join(unicodedata.normalize("NFC", label).casefold().split())
    return _LEADING_ZEROS.sub("", words)


def match_spelling(labels: Iterable[str], real: Iterable[str]) -> dict[str, str]:
    """Return the real category of each label that differs from it only in spelling."""
    # If several real categories have the same normal form, the spelling is meaningful, so labels
    # with this form are not matched.
    levels = set(real)
    unknown = {label: normal_form(label) for label in labels if label not in levels}
    if not unknown:
        return {}
    forms = {level: normal_form(level) for level in levels}
    counts = Counter(forms.values())
    known = {form: level for level, form in forms.items() if counts[form] == 1}
    if known.get("0", "0") != "0" and "" not in counts:  # "000" without leading zeros may be empty
        known[""] = known["0"]
    return {label: known[form] for label, form in unknown.items() if form in known}


def list_columns(columns: Sequence[str]) -> str:
    """Return the names of the first columns, and the number of the others."""
    more = len(columns) - MAX_NAMED
    others = f" and {more} more column{'s' * (more > 1)}" if more > 0 else ""
    return f"{', '.join(columns[:MAX_NAMED])}{others}"


def spelling_warning(role: str, columns: Sequence[str]) -> DifferentFormWarning:
    """Return the warning about columns whose categories have a different spelling."""
    return DifferentFormWarning(
        f"{role} spells categories of {list_columns(columns)} differently from the training data. "
        "Categories that differ only in case, blanks or leading zeros are treated as equal. Write "
        "them in the same way in all tables."
    )
