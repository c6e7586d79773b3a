"""The rows that an attack goes for: those of train that stand out, or rows made up to stand out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from skeval._encoders import OneHot
from skeval._parameters import Constraint, Interval, Options, check_parameters
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.preprocessing import Discretizer
from skeval.privacy.attacks._densities import nominal_features, plain_rows
from skeval.privacy.attacks._shadow_canaries import canaries
from skeval.privacy.attacks.membership_rows import drawing_order
from skeval.schema import Kind, TableSchema
from skeval.stats.vulnerability import (
    generalized_cosine,
    isolation,
    neighbor_vulnerability,
    rarity,
)
from skeval.steps import nearest

__all__ = ["METHODS", "TargetChoice", "select_targets", "target_positions", "vulnerability"]

METHODS = ("achilles", "gower-knn", "isolation-forest", "rare-value", "random", "canary")
_DIGITS = 9


@dataclass(frozen=True)
class TargetChoice:
    """A method of selection, positions of train rows, or a table of rows of one's own."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses targets."""
        if isinstance(value, str):
            return value in METHODS
        if hasattr(value, "columns"):
            return len(value) > 0  # type: ignore[arg-type]
        return are_positions(value)

    def describe(self) -> str:
        """Name the choices."""
        names = ", ".join(map(repr, METHODS))
        return f"one of {names}, distinct positions of train rows or a table of rows"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such method"


def are_positions(value: object) -> bool:
    """Tell whether `value` lists distinct positions of rows."""
    if not isinstance(value, list | tuple | range | np.ndarray | pd.Index | pd.Series):
        return False
    whole = all(isinstance(i, Integral) and not isinstance(i, bool) for i in value)
    return whole and len(value) > 0 and min(value) >= 0 and len(set(value)) == len(value)


def select_targets(
    table: Any,
    method: str = "achilles",
    k: int = 5,
    *,
    n_neighbors: int = 5,
    schema: TableSchema | Mapping[str, Kind] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Select the rows of a table that are most exposed to an attack.

    The average over all rows hides what a release tells of those that are unlike the others. Select
    before you see the synthetic table, and on train alone.

    Parameters
    ----------
    table : table or Context
        Rows that a generator learns from; of a context, train.
    method : str, default="achilles"
        "achilles": the largest mean distance to the `n_neighbors` nearest other rows, by a weighted
        mean of the cosine distances of numbers and of categories. "gower-knn": the same by Gower's
        distance. "isolation-forest": the fewest random cuts that part a row from the others.
        "rare-value": the smallest product of the shares of its values, numbers cut into ten bins.
        "random": drawn at random. "canary": rows that are made up, each with a new label in every
        category and a number beyond the largest in every other column.
    k : int, default=5
        Number of rows; there are fewer if the table has fewer distinct ones.
    n_neighbors : int, default=5
        Of "achilles" and "gower-knn".
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns; those not named are inferred.
    random_state : int, default=0
        Of "random" and "isolation-forest", and of the choice among equals.

    Returns
    -------
    DataFrame
        The rows as they were given, the most exposed first. The index is their position in the
        table; canaries come after its end. **These are real rows: do not publish them.**

    Raises
    ------
    InvalidParameterError
        If there is no such method.
    TableError
        If the table cannot be used.

    Notes
    -----
    Cosines see proportions, not sizes: in a table of numbers, a row that has several times the mean
    in all columns may look like any other to "achilles". "gower-knn" sees it.

    References
    ----------
    M. Meeus, F. Guépin, A. M. Creţu, Y. A. de Montjoye, "Achilles' heels: vulnerable record
    identification in synthetic data publishing", ESORICS 2023, arXiv:2306.10308.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy.targets import select_targets
    >>> table = pd.DataFrame({"x": [0.0, 0.0, 1.0, 5.0], "y": [0.0, 1.0, 0.0, 5.0]})
    >>> select_targets(table, "gower-knn", k=1, n_neighbors=2).index.tolist()
    [3]
    """
    given = {"method": method, "k": k, "n_neighbors": n_neighbors, "random_state": random_state}
    legal: dict[str, Constraint] = {
        "method": Options(METHODS),
        "k": Interval(int, 1, None),
        "n_neighbors": Interval(int, 1, None),
        "random_state": Interval(int, 0, None),
    }
    check_parameters("select_targets", given, legal)
    context = table if isinstance(table, Context) else Context.of(table, schema=schema)
    rows = context.given("train")[list(context.schema.kinds)].reset_index(drop=True)
    if method == "canary":
        return canaries(context, k).set_axis(range(len(rows), len(rows) + k))
    return rows.iloc[target_positions(context, method, k, n_neighbors, random_state)]


@shared
def target_positions(
    context: Context, method: str, k: int, n_neighbors: int = 5, seed: int = 0
) -> np.ndarray:
    """Return the positions of the most exposed train rows, the most exposed first.

    Parameters
    ----------
    context : Context
        Of which train is looked at, nothing else.
    method : str
        As in :func:`select_targets`, "canary" excepted.
    k, n_neighbors, seed : int
        As there.

    Returns
    -------
    ndarray of shape (k,) or shorter, int
        No two of these rows have equal values.
    """
    order = drawing_order(context, "train", seed)  # decides among equals, not the table's order
    ranked = order[
        np.argsort(-vulnerability(context, method, n_neighbors, seed)[order], kind="stable")
    ]
    rows = np.nan_to_num(plain_rows(context, "train", "gower", None)[ranked], nan=np.inf)
    _, first = np.unique(rows, axis=0, return_index=True)
    found: np.ndarray = ranked[np.sort(first)[:k]]
    return found


@shared
def vulnerability(context: Context, method: str, n_neighbors: int = 5, seed: int = 0) -> np.ndarray:
    """Return how exposed each train row is by one method; all are equal to "random".

    Raises
    ------
    InvalidParameterError
        If the method does not rank rows.
    """
    train = Context(context.schema, {"train": context.train}, levels=context.levels)
    n_rows = train.n_rows("train")
    if method == "random" or n_rows == 1 or not train.schema.measured:
        return np.zeros(n_rows)
    if method == "gower-knn":
        distances, _ = nearest(train, "train", "train", k=min(n_neighbors, n_rows - 1))
        return distances.mean(axis=1).round(_DIGITS)
    if method == "rare-value":
        cutter = Discretizer(10, max_categories=None)
        return rarity(cutter.fit_transform(train.train[train.schema.measured]))
    rows = plain_rows(train, "train", "gower", None)
    nominal = np.array(nominal_features(train, "gower", None, rows.shape[1]))
    if method == "isolation-forest":
        order = drawing_order(train, "train", seed)
        scores = np.empty(n_rows)
        scores[order] = isolation(OneHot.of(rows, nominal.tolist()).transform(rows[order]), seed)
        return scores
    if method != "achilles":
        raise InvalidParameterError(f"method must be among {METHODS[:-1]}, got {method!r}.")
    codes = np.where(np.isnan(rows[:, nominal]), -1.0, rows[:, nominal])
    block = generalized_cosine(_min_max(rows[:, ~nominal]), codes)
    return neighbor_vulnerability(block, n_rows, n_neighbors)


def _min_max(numbers: np.ndarray) -> np.ndarray:
    """Scale columns to [0, 1]; missing numbers stand at the mean, of a column without any at 0."""
    missing = np.isnan(numbers)
    low = np.where(missing, np.inf, numbers).min(axis=0)
    span = np.where(missing, -np.inf, numbers).max(axis=0) - low
    scaled = np.zeros_like(numbers)
    np.divide(numbers - low, span, out=scaled, where=~missing & (span > 0))
    means = scaled.sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, scaled)
