"""Targets of an attack, which are unusual training rows or canaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Annotated, Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.steps.member_rows import drawing_order, nominal_features, plain_rows
from skeval.steps.neighbors import nearest
from skeval.tables.preprocessing import Discretizer, OneHot
from skeval.tables.schema import Kind
from skeval.tables.set_columns import with_columns
from skeval.utils.parameters import Legal

METHODS = ("achilles", "gower-knn", "isolation-forest", "rare-value", "random", "canary")
_LAST = pd.Timestamp.max.floor("us").as_unit("us")
_BLOCK = 2**18  # number of distances in memory
_DECIMALS = 9  # further digits depend on the order of summation
Block = Callable[[slice], np.ndarray]


def _are_positions(value: object) -> bool:
    """Return whether `value` lists distinct positions of rows."""
    if not isinstance(value, list | tuple | range | np.ndarray | pd.Index | pd.Series):
        return False
    whole = all(isinstance(i, Integral) and not isinstance(i, bool) for i in value)
    return whole and len(value) > 0 and min(value) >= 0 and len(set(value)) == len(value)


def rows_or(names: Sequence[str], *, tables: bool = False) -> Legal:
    """Return the valid values: names, lists of row positions and, if `tables`, tables of rows."""

    def is_legal(value: object) -> bool:
        if isinstance(value, str):
            return value in names
        if tables and hasattr(value, "columns"):
            return len(value) > 0  # type: ignore[arg-type]
        return _are_positions(value)

    others = ", distinct positions of train rows or a table of rows"
    others = others if tables else ", or distinct positions of train rows"
    return Legal(f"one of {', '.join(map(repr, names))}{others}", is_legal, "no such method")


TargetChoice = Annotated[Any, rows_or(METHODS, tables=True)]


@shared
def target_positions(
    context: Context, method: str, k: int, n_neighbors: int = 5, seed: int = 0
) -> np.ndarray:
    """Return the positions of the most exposed train rows, the most exposed first."""
    order = drawing_order(context, "train", seed)  # breaks ties independently of the row order
    ranked = order[
        np.argsort(-vulnerability(context, method, n_neighbors, seed)[order], kind="stable")
    ]
    rows = np.nan_to_num(plain_rows(context, "train", "gower", None)[ranked], nan=np.inf)
    _, first = np.unique(rows, axis=0, return_index=True)
    return ranked[np.sort(first)[:k]]


@shared
def vulnerability(context: Context, method: str, n_neighbors: int = 5, seed: int = 0) -> np.ndarray:
    """Return the exposure of each training row by one method; "random" returns equal values."""
    train = Context(context.schema, {"train": context.train}, levels=context.levels)
    n_rows = train.n_rows("train")
    if method == "random" or n_rows == 1 or not train.schema.measured:
        return np.zeros(n_rows)
    if method == "gower-knn":
        distances, _ = nearest(train, "train", "train", k=min(n_neighbors, n_rows - 1))
        return distances.mean(axis=1).round(_DECIMALS)
    if method == "rare-value":
        cutter = Discretizer(10, max_categories=None)
        return rarity(cutter.fit_transform(train.train[train.schema.measured]))
    rows = plain_rows(train, "train", "gower", None)
    nominal = np.array(nominal_features(train, "gower", None, rows.shape[1]))
    if method == "isolation-forest":
        order = drawing_order(train, "train", seed)
        scores = np.empty(n_rows)
        scores[order] = isolation(
            OneHot.from_rows(rows, nominal.tolist()).transform(rows[order]), seed
        )
        return scores
    if method != "achilles":
        raise InvalidParameterError(f"method must be among {METHODS[:-1]}, got {method!r}.")
    codes = np.where(np.isnan(rows[:, nominal]), -1.0, rows[:, nominal])
    block = generalized_cosine(_min_max(rows[:, ~nominal]), codes)
    return neighbor_vulnerability(block, n_rows, n_neighbors)


def _min_max(numbers: np.ndarray) -> np.ndarray:
    """Scale columns to [0, 1], with the mean for missing numbers (0 if all are missing)."""
    missing = np.isnan(numbers)
    low = np.where(missing, np.inf, numbers).min(axis=0)
    span = np.where(missing, -np.inf, numbers).max(axis=0) - low
    scaled = np.zeros_like(numbers)
    np.divide(numbers - low, span, out=scaled, where=~missing & (span > 0))
    means = scaled.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, scaled)


def canaries(context: Context, k: int) -> pd.DataFrame:
    """Return rows with new categories, and with numbers larger than all training numbers."""
    given = context.original_frame("train")
    made = {
        name: _cells(given[name], context.column("train", name), kind, k)
        for name, kind in context.schema.kinds.items()
    }
    return pd.DataFrame(made)


def _cells(given: pd.Series, read: pd.Series, kind: Kind, k: int) -> pd.Series:
    present = given[read.notna().to_numpy()]
    if present.empty:
        return pd.Series([None] * k, dtype=given.dtype)
    if kind == "boolean":
        rarest = read.value_counts().loc[lambda counts: counts > 0].idxmin()
        place = int(np.argmax(read.to_numpy() == rarest))
        return pd.Series([given.iloc[place]] * k, dtype=given.dtype)
    if kind == "datetime":
        # timestamps in nanoseconds end in 2262, which some columns exceed
        last = read.max().as_unit("us")
        step = (last - read.min().as_unit("us")) or pd.Timedelta(days=1)
        if pd.api.types.is_datetime64_any_dtype(present) and present.dt.unit == "ns":
            step = min(step, (_LAST - last.tz_localize(None)) / k)
        return _as_given([last + (i + 1) * step for i in range(k)], present)
    if pd.api.types.is_integer_dtype(given.dtype):
        return _integers_beyond(given, present, k)
    is_numeric = pd.api.types.is_numeric_dtype(given.dtype)
    if is_numeric or kind == "continuous":
        values = present if is_numeric else read
        last, step = float(values.max()), float(values.max()) - float(values.min())
        return _as_given([last + (i + 1) * (step or 1.0) for i in range(k)], present)
    labels: list[Any] = [f"canary-{i + 1}" for i in range(k)]
    if not isinstance(given.dtype, pd.CategoricalDtype):
        return pd.Series(labels, dtype=given.dtype)
    known = given.cat.categories
    if pd.api.types.is_numeric_dtype(known.dtype):
        labels = [known.max() + i + 1 for i in range(k)]
    ordered = bool(given.cat.ordered)
    return pd.Series(pd.Categorical(labels, categories=[*known, *labels], ordered=ordered))


def _integers_beyond(given: pd.Series, present: pd.Series, k: int) -> pd.Series:
    """Return integers above the maximum, or below the minimum if the type has no larger ones."""
    kind = getattr(given.dtype, "numpy_dtype", given.dtype)
    limits, low, high = np.iinfo(kind), int(present.min()), int(present.max())
    step = max(1, high - low)
    if limits.max - high >= k:
        step = min(step, (limits.max - high) // k)
        return pd.Series([high + (i + 1) * step for i in range(k)], dtype=given.dtype)
    if low - limits.min >= k:
        step = min(step, (low - limits.min) // k)
        return pd.Series([low - (i + 1) * step for i in range(k)], dtype=given.dtype)
    return pd.Series([float(high + (i + 1) * step) for i in range(k)])  # the type is exhausted


def _as_given(values: Sequence[Any], present: pd.Series) -> pd.Series:
    """Convert dates and numbers to the type of a column, or to strings."""
    if isinstance(present.iloc[0], str):
        return pd.Series([str(value) for value in values], dtype=present.dtype)
    if present.dtype == object:
        return pd.Series(list(values), dtype=object)
    column = pd.Series(list(values))
    zone = getattr(present.dtype, "tz", None)
    return (column if zone is None else column.dt.tz_localize("UTC")).astype(present.dtype)


def stack_tables(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables, so that each column has one type for any selection of rows.

    The categories include those in any of the tables, because the set of possible values is public.
    """
    first, *others = frames
    for name in first.columns:
        kinds = [frame[name].dtype for frame in frames]
        if len(set(kinds)) > 1 and all(isinstance(kind, pd.CategoricalDtype) for kind in kinds):
            every = pd.unique(pd.Series([c for kind in kinds for c in kind.categories]))
            whole = pd.CategoricalDtype(every, ordered=all(kind.ordered for kind in kinds))
            first = with_columns(first, {name: first[name].astype(whole)})
            others = [with_columns(frame, {name: frame[name].astype(whole)}) for frame in others]
    return pd.concat([first, *others], ignore_index=True)


def neighbor_vulnerability(distances: Block, n_rows: int, n_neighbors: int = 5) -> np.ndarray:
    """Return the mean distance of each row to its nearest other rows."""
    # Source: M. Meeus, F. Guépin, A. M. Creţu, Y. A. de Montjoye, "Achilles' heels:
    # vulnerable record identification in synthetic data publishing", ESORICS 2023,
    # arXiv:2306.10308.
    means = np.zeros(n_rows)
    k = min(n_neighbors, n_rows - 1)
    if k < 1:
        return means
    width = max(1, _BLOCK // n_rows)
    for start in range(0, n_rows, width):
        rows = slice(start, min(start + width, n_rows))
        block = distances(rows)
        own = np.arange(len(block))
        block[own, start + own] = np.inf
        means[rows] = np.partition(block, k - 1, axis=1)[:, :k].mean(axis=1)
    return means.round(_DECIMALS)


def generalized_cosine(numbers: np.ndarray, codes: np.ndarray) -> Block:
    """Return a function that computes blocks of mixed distances, a mean of two cosine distances."""
    # The weights are the fractions of numerical and categorical columns. The distances are one
    # minus the cosine similarity of the numbers, and one minus the cosine similarity of the
    # one-hot categories, which is the fraction of categories that differ. The cosine similarity
    # with a vector of zeros is 0.
    n_columns = numbers.shape[1] + codes.shape[1]
    norms = np.linalg.norm(numbers, axis=1, keepdims=True)
    units = np.divide(numbers, norms, out=np.zeros_like(numbers), where=norms > 0)
    share = numbers.shape[1] / n_columns

    def distances(rows: slice) -> np.ndarray:
        block = share * (1.0 - units[rows] @ units.T)
        for column in codes.T:
            block += (column[rows, None] != column) / n_columns
        return block

    return distances


def rarity(cells: np.ndarray) -> np.ndarray:
    """Return the rarity of each row, that is, minus the sum of the log frequencies of its cells."""
    rarities = np.zeros(len(cells))
    for column in cells.T:
        _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        rarities -= np.log(counts[places.ravel()] / len(cells))
    return rarities.round(_DECIMALS)


def isolation(features: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the anomaly score of an isolation forest, which is higher for more isolated rows."""
    # Source: F. T. Liu, K. M. Ting, Z. H. Zhou, "Isolation forest", ICDM 2008,
    # doi:10.1109/ICDM.2008.17.
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(n_estimators=100, random_state=seed).fit(features)
    return -forest.score_samples(features).round(_DECIMALS)
