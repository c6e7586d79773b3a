"""Splits of rows into folds: by number or by a splitter, by groups, and in strata."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from skeval.exceptions import InvalidParameterError

__all__ = ["Split", "splits_of"]

_OWNER = "cross_validate_generator"


@dataclass(frozen=True)
class Split:
    """Positions of the rows to learn from, and of those to test on."""

    learnt: np.ndarray
    tested: np.ndarray

    @property
    def test_share(self) -> float:
        """Rows tested on for each row learnt from."""
        return len(self.tested) / len(self.learnt)


def splits_of(
    rows: pd.DataFrame,
    cv: Any,
    *,
    groups: str | Sequence[Any] | None,
    stratify: str | Sequence[Any] | None,
    random_state: int,
) -> list[Split]:
    """Return the splits of a table.

    Raises
    ------
    InvalidParameterError
        If the rows cannot be split so, or a split tests on rows that it has learnt from.
    """
    y = None if stratify is None else _codes(rows, stratify, "stratify")
    together = None if groups is None else _codes(rows, groups, "groups")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        splitter = _folds(int(cv), len(rows), y, together, random_state)
        if y is not None and together is not None:
            # shuffled by the splitter, strata are lost in scikit-learn 1.6
            order = np.random.default_rng(random_state).permutation(together.max() + 1)
            together = order[together]
    else:
        splitter = _checked(cv)
    try:
        pairs = list(splitter.split(rows, y, together))
    except (TypeError, ValueError) as error:  # of scikit-learn; it has seen codes, not cells
        labels = {"stratify": stratify, "groups": groups}
        given = [name for name, value in labels.items() if value is not None]
        raise InvalidParameterError(
            f"{_OWNER}: {type(splitter).__name__} cannot split these rows, given "
            f"{' and '.join(given) or 'neither stratify nor groups'}: {error}"
        ) from error
    return _splits(pairs)


def _folds(
    n_folds: int,
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    random_state: int,
) -> Any:
    if not 2 <= n_folds <= n_rows:
        raise InvalidParameterError(
            f"{_OWNER}: cv must be from 2 to the number of rows, {n_rows}, got {n_folds}."
        )
    if groups is not None and strata is not None:
        return StratifiedGroupKFold(n_folds)
    kind = GroupKFold if groups is not None else KFold if strata is None else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=random_state)


def _checked(cv: Any) -> Any:
    """Return a splitter of what is no number of folds."""
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise InvalidParameterError(
            f"{_OWNER}: cv must be an int, a splitter or pairs of positions, got {cv!r}."
        )
    return check_cv(cv)


def _splits(pairs: list[tuple[Any, Any]]) -> list[Split]:
    """Return splits, if rows stand on one side of each at most."""
    if not pairs:
        raise InvalidParameterError(f"{_OWNER}: cv gives no split.")
    splits = [Split(_positions(learnt), _positions(tested)) for learnt, tested in pairs]
    if any(len(split.learnt) == 0 or len(split.tested) == 0 for split in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold has no rows to learn from, or none to test on; take fewer folds."
        )
    if any(np.isin(split.tested, split.learnt).any() for split in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold is tested on its training rows; rows must not stand in both."
        )
    return splits


def _positions(rows: Any) -> np.ndarray:
    found = np.asarray(rows)
    return np.flatnonzero(found) if found.dtype == bool else found


def _codes(rows: pd.DataFrame, labels: str | Sequence[Any], name: str) -> np.ndarray:
    """Return a number for each row, the same for the same label; a missing one is a label."""
    if isinstance(labels, str):
        if labels not in rows.columns:
            raise InvalidParameterError(f"{_OWNER}: {name} names no column of the table: {labels}.")
        labels = rows[labels]
    values = pd.Series(labels).reset_index(drop=True)
    if len(values) != len(rows):
        raise InvalidParameterError(
            f"{_OWNER}: {name} must have a label for each of the {len(rows)} rows, got "
            f"{len(values)}."
        )
    try:
        return np.asarray(pd.factorize(values, use_na_sentinel=False)[0])
    except TypeError as error:  # lists and the like
        raise InvalidParameterError(f"{_OWNER}: {name} must hold labels: {error}.") from error
