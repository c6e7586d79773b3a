"""Direct identifiers of train persons in a release: names, e-mails, numbers of accounts, keys."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.repeats import CHANCE, Copied, Copies, Repeats, copied
from skeval.steps.exposure import names_listed
from skeval.steps.texts import folded

_ROLES = ("train", "holdout", "synthetic")
_FEWEST = 20  # train rows, of which a column of categories counts as identifiers
_UNIQUE = 0.95  # of their values, at the least, that stand once in train
_DENSE = 0.01  # share of the possible values that real ones take up, from which any can be guessed
_NEAR = 100  # between numbers of a counter with gaps, at the most
_MOST_READ = 10_000  # values that show of which characters they are
_LONGEST = 64  # characters of a value that are looked at for it
_FLOAT = (float, np.number)
_DIGITS = re.compile(r"[0-9]+")


@shared
def identifier_copies(context: Context) -> tuple[Copies, ...]:
    """Return for each column of identifiers how many of train are in the release, and may be.

    Columns are those of kind id, and categories of which nearly all stand once in train. Counters
    are left out, with any text around their digits: a release that numbers its rows anew has the
    same. So are columns of which no such value is in the release.
    """
    counted = ((name, _counted(context, name)) for name in _columns(context))
    return tuple(
        Copies(f"values of {name}", *both, n_distinct=0, n_expected=0)
        for name, both in counted
        if both is not None
    )


def identifiers_in_words(found: Iterable[Copies]) -> str:
    """Return how many identifiers of train are in the release, in one sentence a column."""
    return " ".join(
        f"{n:,} {one.what} stand{'s' * (n == 1)} in the release and once in train."
        for one in found
        if (n := one.train.n)
    )


def advice_on_identifiers(found: Iterable[Copies]) -> str:
    """Return what to do about identifiers beyond chance; empty if there are none."""
    names = [one.what for one in found if one.found]
    return f"Replace {names_listed(names)} by new ones." if names else ""


def _columns(context: Context) -> Iterator[str]:
    for name, kind in sorted(context.schema.kinds.items()):
        if kind == "id":
            yield name
        elif kind == "categorical":
            codes = context.train[name].cat.codes.to_numpy()
            n_rows = np.bincount(codes[codes >= 0], minlength=1)
            if n_rows.sum() >= _FEWEST and (n_rows == 1).sum() >= _UNIQUE * n_rows.sum():
                yield name


def _counted(context: Context, name: str) -> tuple[Copied, Copied | None] | None:
    """Return the counts of train and of the holdout; None where no value says anything."""
    roles = [role for role in _ROLES if role in context]
    codes, distinct = pd.factorize(np.concatenate([_spelled(context[r][name]) for r in roles]))
    parts = np.split(codes, np.cumsum([context.n_rows(role) for role in roles])[:-1])
    counts = {
        role: np.bincount(part[part >= 0], minlength=len(distinct))
        for role, part in zip(roles, parts, strict=True)
    }
    release = counts.pop("synthetic")
    pool = np.sum(list(counts.values()), axis=0)
    met = (counts["train"] == 1) & (release > 0)
    if not met.any():
        return None
    real = np.asarray(distinct, dtype=object)[pool > 0]
    space = possible_values(real)
    telling = np.zeros(len(distinct), dtype=bool)
    if real.size < _DENSE * space:
        telling[pool > 0] = ~numbered(real)
    if not (met & telling).any():
        return None
    # a value that can be guessed says nothing of those who have it
    release = np.where(telling | (pool == 0), release, 0)
    train, held = (
        None if (of := counts.get(role)) is None else _beside_guesses(release, of, pool, space)
        for role in ("train", "holdout")
    )
    assert train is not None
    return train, held


def _beside_guesses(
    release: np.ndarray, table: np.ndarray, pool: np.ndarray, space: float
) -> Copied:
    """Count unique values that a release repeats, and add to its chance what guesses meet."""
    found = copied(release, table, pool)
    assert found.repeats is not None
    met = float((release > 0).sum()) * float((table == 1).sum()) / space
    seen = found.repeats + Repeats(met * found.repeats.exposure, 0.0)
    return Copied(found.n, seen.bound(CHANCE), repeats=seen)


def _spelled(values: pd.Series) -> np.ndarray:
    cells = values.astype(object).to_numpy(dtype=object)
    return np.array([*map(_text, cells), None], dtype=object)[:-1]


def _text(cell: object) -> str | None:
    if isinstance(cell, str):
        return folded(cell).replace("-", "").replace(" ", "") or None
    if cell is None or cell is pd.NA or cell != cell:  # nan
        return None
    number = cell if isinstance(cell, int) else float(cell) if isinstance(cell, _FLOAT) else 0.5
    return str(int(number)) if number == int(number) else folded(str(cell))


def possible_values(texts: np.ndarray) -> float:
    """Return how many values could be made of the characters that stand at each place.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.identifiers import possible_values
    >>> possible_values(np.array(["a1", "a2", "b7"], dtype=object))
    6.0
    """
    some = texts[:: -(-texts.size // _MOST_READ)]
    places = np.array([text[:_LONGEST] for text in some], dtype=f"U{_LONGEST}")
    of_each = places.view("U1").reshape(len(some), -1)
    return math.prod((float(len(np.unique(of))) for of in of_each.T), start=1.0)


def numbered(texts: np.ndarray) -> np.ndarray:
    """Return which values another one follows: the same but for a number that is hardly larger.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.identifiers import numbered
    >>> numbered(np.array(["u17", "u18", "u9000", "ann"], dtype=object)).tolist()
    [True, True, False, False]
    """
    frames = pd.Series([_DIGITS.sub("#", text) for text in texts], dtype=object)
    digits = ["".join(_DIGITS.findall(text)) for text in texts]
    numbers = np.array([int(found[:18] or -1) for found in digits], dtype=np.int64)
    exact = np.array([0 < len(found) <= 18 for found in digits])
    groups = pd.factorize(frames)[0]
    order = np.lexsort((numbers, groups))
    near = (np.diff(groups[order]) == 0) & (np.diff(numbers[order]) <= _NEAR)
    found = np.zeros(texts.size, dtype=bool)
    found[order[1:]] |= near
    found[order[:-1]] |= near
    return found & exact
