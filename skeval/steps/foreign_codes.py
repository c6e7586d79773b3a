"""Codes of a release in a notation that no real code has, so that comparisons show nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.copied_rows import Repeats
from skeval.steps.cell_search import column_texts
from skeval.steps.identifiers import are_consecutive, identifier_columns
from skeval.steps.normal_forms import Form, form_of

_CHANCE = 0.001  # the probability that fresh codes have more new patterns than the bound
_CLASSES = ((re.compile(r"[0-9]+"), "9"), (re.compile(r"[^\W\d_]+"), "a"))
_UUID = re.compile(r"(?i)[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}")
_WORDS = re.compile(r"\w+")


@shared
def columns_of_foreign_codes(context: Context) -> tuple[str, ...]:
    """Return the columns of codes in which the release has patterns that real codes do not have."""
    # A pattern is the order of digits, letters and other signs, or the length and the kinds of the
    # letters. A record number may contain the cells of a training row in any notation, and then its
    # pattern usually differs. The number of fresh codes with a new pattern is estimated from the
    # holdout rows. Counters and UUIDs are ignored, because a release often numbers its rows in
    # this way. A name may contain cells as well. New names differ in their number of words and in
    # their signs, but not in having digits.
    if "holdout" not in context:
        return ()
    # Texts are examined in any notation by the tests of texts.
    texts = context.schema.columns("text")
    names = [name for name in identifier_columns(context) if name not in texts]
    return tuple(name for name in names if _is_foreign(context, name))


def _is_foreign(context: Context, name: str) -> bool:
    train, holdout, release = (
        column_texts(context, role, name)[1] for role in ("train", "holdout", "synthetic")
    )
    patterns = _PATTERNS.get(form_of(train), ())
    if not patterns or not train.size or not holdout.size:
        return False
    release = release[~are_consecutive(release)]
    release = release[[_UUID.fullmatch(code) is None for code in release]]
    return any(_has_new_patterns(pattern, train, holdout, release) for pattern in patterns)


def _has_new_patterns(
    pattern: Callable[[str], object], train: np.ndarray, holdout: np.ndarray, release: np.ndarray
) -> bool:
    of_train, of_holdout = {*map(pattern, train)}, [*map(pattern, holdout)]
    n_fresh = sum(one not in of_train for one in of_holdout)
    known = of_train.union(of_holdout)
    n_new = sum(pattern(code) not in known for code in release)
    fresh = Repeats(float(n_fresh), holdout.size / max(1, release.size))
    return n_new > fresh.bound(_CHANCE)


def _order_of_signs(code: str) -> str:
    """Return a code with one 9 for each number and one a for each word."""
    for found, sign in _CLASSES:
        code = found.sub(sign, code)
    return code


def _size_and_letters(code: str) -> tuple[str, int, bool, bool]:
    return _WORDS.sub("x", code), len(code), code.upper() == code, code.lower() == code


def _has_digits(name: str) -> bool:
    return any(map(str.isdigit, name))


_PATTERNS: dict[Form, tuple[Callable[[str], object], ...]] = {
    "code": (_order_of_signs, _size_and_letters),
    "name": (_has_digits,),
}
