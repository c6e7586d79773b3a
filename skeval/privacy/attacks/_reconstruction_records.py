"""Records completed from synthetic rows, and how many are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context
from skeval.preprocessing import NOMINAL, NUMERIC
from skeval.stats.risks import attack_rate, residual_risk, scores_p_value
from skeval.steps import encoded, kept_features, ranges, reference_index

__all__ = ["Completion", "agreement", "completed", "stratified"]

_MOST_STRATA, _FEWEST = 10, 20  # records of either table in a stratum
_EXACT = 1e-12
_FAR = 1e30


@dataclass(frozen=True)
class Completion:
    """How records are completed: from which columns which others, and by what."""

    known: tuple[str, ...]
    hidden: tuple[str, ...]
    method: str
    n_neighbors: int
    seed: int


def completed(
    context: Context, queries: np.ndarray, settings: Completion
) -> tuple[np.ndarray, np.ndarray]:
    """Return guesses of the hidden columns of encoded records, and the truth."""
    places = [_place(context, name) for name in settings.hidden]
    truth = queries[:, places]
    if settings.method == "sequential":
        return _by_trees(context, queries, settings), truth
    features = kept_features(context, "gower", settings.known)
    index = reference_index(context, "synthetic", "gower", settings.known, None, 0)
    k = min(settings.n_neighbors, context.n_rows("synthetic"))
    rows = index.kneighbors(queries[:, features], k)[1]
    released = encoded(context, "synthetic", "gower")
    guesses = [_agreed(released[rows, j], j in _nominal(context)) for j in places]
    return np.column_stack(guesses), truth


def _names(context: Context) -> list[str]:
    return [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]


def _place(context: Context, name: str) -> int:
    return _names(context).index(name)


def _nominal(context: Context) -> range:
    """Return the places of the codes of categories in the matrix of space "gower"."""
    return range(len(context.schema.columns(*NUMERIC)), len(_names(context)))


def _agreed(values: np.ndarray, is_code: bool) -> np.ndarray:
    """Return one value for each row: the most common code, the nearest of them; or the median."""
    if values.shape[1] == 1:
        only: np.ndarray = values[:, 0]
        return only
    missing = np.isnan(values)
    if not is_code:
        most_missing = missing.sum(axis=1) * 2 > values.shape[1]
        present = np.where(most_missing[:, None], 0.0, values)
        return np.where(most_missing, np.nan, np.nanmedian(present, axis=1))
    codes = np.where(missing, -1.0, values)
    votes = np.stack([(codes == codes[:, [j]]).sum(axis=1) for j in range(codes.shape[1])], axis=1)
    chosen = np.take_along_axis(codes, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(chosen < 0, np.nan, chosen)


def _by_trees(context: Context, queries: np.ndarray, settings: Completion) -> np.ndarray:
    """Return guesses of one hidden column after the other, by trees that learn from the release."""
    released = encoded(context, "synthetic", "gower")
    places = [_place(context, name) for name in settings.known]
    seen, asked = released[:, places], queries[:, places]
    guesses = []
    for name in settings.hidden:
        j = _place(context, name)
        guess = _tree_guess(seen, released[:, j], asked, j in _nominal(context), settings.seed)
        guesses.append(guess)
        seen, asked = np.column_stack([seen, released[:, j]]), np.column_stack([asked, guess])
    return np.column_stack(guesses)


def _tree_guess(
    seen: np.ndarray, target: np.ndarray, asked: np.ndarray, is_code: bool, seed: int
) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    seen, asked, target = (_bounded(values) for values in (seen, asked, target))
    if is_code:  # missing is a class of its own
        labels = np.where(np.isnan(target), -1, target).astype(np.int64)
        tree = DecisionTreeClassifier(random_state=seed % 2**31).fit(seen, labels)
        found = np.asarray(tree.predict(asked), dtype=np.float64)
        return np.where(found < 0, np.nan, found)
    present = ~np.isnan(target)
    if 2 * present.sum() < target.size:
        return np.full(len(asked), np.nan)
    regressor = DecisionTreeRegressor(random_state=seed % 2**31)
    guessed: np.ndarray = regressor.fit(seen[present], target[present]).predict(asked)
    return guessed


def _bounded(values: np.ndarray) -> np.ndarray:
    """Return values that trees take: they compare in single precision."""
    bounded: np.ndarray = np.where(np.isinf(values), np.nan, np.clip(values, -_FAR, _FAR))
    return bounded


def agreement(
    context: Context,
    hidden: tuple[str, ...],
    guesses: np.ndarray,
    truth: np.ndarray,
    tolerance: float,
    kind: str,
) -> np.ndarray:
    """Return which guesses are right: equal categories, numbers within the tolerance.

    Missing is right where the truth is missing, and there only.
    """
    scale = ranges(context)[[_place(context, name) for name in hidden]]
    right = np.isnan(guesses) & np.isnan(truth)
    for column, name in enumerate(hidden):
        guess, true = guesses[:, column], truth[:, column]
        if context.schema.kinds[name] in NOMINAL:
            right[:, column] |= guess == true
            continue
        relative = kind == "relative" and context.schema.kinds[name] == "continuous"
        allowed = tolerance * (np.abs(true) if relative else scale[column])
        right[:, column] |= np.abs(guess - true) <= np.maximum(allowed, _EXACT)
    return right


def stratified(
    scores: dict[str, np.ndarray], remote: dict[str, np.ndarray], seed: int
) -> dict[str, Any]:
    """Return the risk in groups of records by their distance to the nearest other real one.

    There are as many groups as leave 20 records of either table in each in the mean; none if that
    is fewer than two.
    """
    fewest = min(found.size for found in scores.values())
    n_strata = min(_MOST_STRATA, fewest // _FEWEST)
    if n_strata < 2:
        return {"strata": []}
    pooled = np.concatenate([remote["train"], remote["holdout"]])
    edges = np.quantile(pooled, np.linspace(0.0, 1.0, n_strata + 1)[1:-1])
    groups = {role: np.searchsorted(edges, found) for role, found in remote.items()}
    strata = []
    for number in range(n_strata):
        train, holdout = (scores[role][groups[role] == number] for role in ("train", "holdout"))
        if min(train.size, holdout.size) < _FEWEST // 2:
            continue  # equal distances fill some groups and leave others empty
        strata.append(_stratum(number, train, holdout, seed))
    told: dict[str, Any] = {"strata": strata}
    if strata:
        worst = min(strata, key=lambda stratum: (stratum["p_value"], -stratum["risk"]))
        p_value = min(1.0, worst["p_value"] * len(strata))
        told["worst_stratum"] = {**worst, "p_value": p_value}
    return told


def _stratum(number: int, train: np.ndarray, holdout: np.ndarray, seed: int) -> dict[str, Any]:
    rates = [attack_rate(float(found.sum()), found.size) for found in (train, holdout)]
    return {
        "stratum": number + 1,
        "train": rates[0].share,
        "holdout": rates[1].share,
        "risk": residual_risk(*rates, method="katz").value,
        "p_value": scores_p_value(train, holdout, seed=seed),
    }
