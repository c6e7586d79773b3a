"""Who shares a combination of quasi-identifiers with whom: classes and clusters of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.parameters import BinCount, Columns, Count, Legal, Scaling, is_text
from skeval.result import Result, undefined
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.steps.groups import grouped
from skeval.steps.samples import cells, chosen_columns
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Cells, numbers
from skeval.tables.schema import TableSchema
from skeval.tables.spaces import TablePreprocessor
from skeval.tags import DISCLOSURE_TAGS

CAP = 999  # what no cluster is said to exceed
_N_CLUSTERS = (2, 5, 10, 15)
_DEFAULT_BINS = 10


def _are_edges(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(edges, list | tuple) and len(edges) > 0
        for name, edges in value.items()
    )


BinChoice = (
    BinCount
    | Annotated[
        Mapping[str, Sequence[float | str]],
        Legal("a mapping of column names to non-empty lists of edges", _are_edges, "no mapping"),
    ]
)
SensitiveColumn = Annotated[str, Legal("the name of a column", is_text, -1)]


class ClassMetric(Metric):
    """Base of measures of classes: groups of rows that agree in the quasi-identifiers.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that define the classes: all, the first *n*, or a list of names.
    n_bins : int or mapping of str to list, default=10
        Bins of equal share of train for numbers and dates, besides cells for frequent values (see
        :class:`~skeval.Discretizer`), or the inner edges by column.
    """

    def __init__(self, quasi_identifiers: Columns = None, *, n_bins: BinChoice = 10) -> None:
        self.quasi_identifiers = quasi_identifiers
        self.n_bins = n_bins

    @property
    def _scaling(self) -> Scaling:
        """How it scales: classes are counted, clusters have to be found."""
        return "sampled" if getattr(self, "mode", "") == "cluster" else self.tags.scaling

    def _prepare(self, context: Context) -> None:
        """Raise one error that names every column whose edges cannot be used."""
        if not isinstance(self.n_bins, Mapping):
            return
        schema, numeric = context.schema, context.schema.columns(*NUMERIC)
        faults = [
            f"{name} is no column of numbers or dates"
            if name not in numeric
            else f"the edges of {name} must be finite and ascending, got {list(edges)!r}"
            for name, edges in self.n_bins.items()
            if name not in numeric or not _ascending(_edges(schema, name, edges))
        ]
        if faults:
            raise InvalidParameterError(f"{type(self).__name__}: n_bins: {'; '.join(faults)}.")

    def _columns(self, schema: TableSchema, without: str | None = None) -> tuple[str, ...]:
        """Return the names of the quasi-identifiers, a sensitive column left out."""
        chosen = chosen_columns(schema, self.quasi_identifiers)
        return tuple(name for name in chosen if name != without)

    def _counts(self, context: Context, *roles: str) -> np.ndarray:
        """Return the number of rows in each class, shape (n_roles, n_classes)."""
        columns = self._columns(context.schema)
        numbered, counts = classes(context, roles, columns, self.n_bins)
        return class_counts(*numbered, weights=counts)

    def _population(self, context: Context) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how many rows of train, of all real tables and of the release each class has."""
        rest = ("holdout",) if "holdout" in context else ()
        table = self._counts(context, "train", *rest, "synthetic")
        return table[0], table[:-1].sum(axis=0), table[-1]

    def _clusters(self, context: Context) -> list[np.ndarray]:
        """Return the rows of train and of the release in each cluster of train, run by run."""
        columns = self._columns(context.schema)
        runs = [clusters(context, "train", columns, role) for role in ("train", "synthetic")]
        return [class_counts(train, synthetic) for train, synthetic in zip(*runs, strict=True)]


class SmallestClassMetric(ClassMetric):
    """Base of the measures of the smallest class, or of the smallest cluster as synthcity has it.

    Parameters
    ----------
    quasi_identifiers, n_bins
        As of :class:`ClassMetric`.
    k0 : int, default=5
        The class size that counts as large enough.
    mode : {"equivalence", "cluster"}, default="equivalence"
        Classes of equal rows, or clusters of k-means.
    """

    tags = replace(DISCLOSURE_TAGS, greater_is_better=True, bounds=(1.0, float("inf")))

    def __init__(
        self,
        quasi_identifiers: Columns = None,
        *,
        n_bins: BinChoice = 10,
        k0: Count = 5,
        mode: Literal["equivalence", "cluster"] = "equivalence",
    ) -> None:
        super().__init__(quasi_identifiers, n_bins=n_bins)
        self.k0 = k0
        self.mode = mode


def _ascending(edges: np.ndarray) -> bool:
    return bool(np.isfinite(edges).all() and (np.diff(edges) > 0).all())


def _edges(schema: TableSchema, column: str, edges: Sequence[float | str]) -> np.ndarray:
    """Return edges on the scale of the column's numbers; nan where they cannot be read."""
    if schema.kinds[column] == "datetime":
        dates = pd.to_datetime(pd.Series(list(edges)), errors="coerce", format="ISO8601", utc=True)
        return numbers(pd.DataFrame({column: dates.dt.tz_localize(None)})).ravel()
    read = pd.to_numeric(pd.Series(list(edges)), errors="coerce")
    return read.to_numpy(dtype=np.float64)


def _cut(context: Context, column: str, n_bins: BinChoice) -> Cells | None:
    if context.schema.kinds[column] in NOMINAL:
        return None
    if isinstance(n_bins, Mapping) and column in n_bins:
        edges = _edges(context.schema, column, n_bins[column])
        return Cells(n_own=len(edges) + 1, edges=edges)
    count = _DEFAULT_BINS if isinstance(n_bins, Mapping) else n_bins
    return cells(context, count, "quantile", None).cells_[column]


@shared
def column_codes(context: Context, role: str, column: str, n_bins: BinChoice) -> np.ndarray:
    """Return one code a value: bins of numbers and dates, categories as they are.

    Missing is a code of its own: below all categories, above all bins. A category that train never
    had keeps its own code, since two rows that differ in it are not one class.
    """
    return _codes_of(context[role], {column: _cut(context, column, n_bins)})[0]


def _codes_of(frame: Any, cuts: Mapping[str, Cells | None]) -> list[np.ndarray]:
    """Return the codes of columns that are cut, None for those whose categories are codes."""
    return [
        frame[name].cat.codes.to_numpy(dtype=np.int32)
        if cut is None
        else cut.codes(column_values(frame[name]))
        for name, cut in cuts.items()
    ]


@shared
def distinct_rows(
    context: Context, role: str, columns: tuple[str, ...], n_bins: BinChoice
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return the codes of distinct rows by column, and how many rows have each.

    None where each row has its code, see :func:`~skeval.steps.groups.grouped`.
    """
    cuts = {name: _cut(context, name, n_bins) for name in columns}
    found = grouped(context, role, columns, partial(_codes_of, cuts=cuts))
    return None if found is None else (dict(zip(columns, found[0], strict=True)), found[1])


@shared
def classes(
    context: Context, roles: tuple[str, ...], columns: tuple[str, ...], n_bins: BinChoice
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray | None, ...]]:
    """Return the class of each row, numbered over all `roles` together; one array a role.

    Where workers count, it is the class of each distinct row, and besides how many rows have it.
    """
    found = [distinct_rows(context, role, columns, n_bins) for role in roles]
    sizes = [
        context.n_rows(role) if distinct is None else distinct[1].size
        for role, distinct in zip(roles, found, strict=True)
    ]
    codes = (
        np.concatenate(
            [
                column_codes(context, role, name, n_bins) if distinct is None else distinct[0][name]
                for role, distinct in zip(roles, found, strict=True)
            ]
        )
        for name in columns
    )
    joint = joint_classes(codes, sum(sizes))
    counts = tuple(None if distinct is None else distinct[1] for distinct in found)
    return tuple(np.split(joint, np.cumsum(sizes)[:-1])), counts


def _matrix(context: Context, role: str, columns: tuple[str, ...]) -> np.ndarray:
    # in the order of their names: the start of k-means must not depend on the table's order
    names = sorted(name for name in columns if context.train[name].notna().any())
    if not names:
        return np.empty((context.n_rows(role), 0))
    schema = TableSchema({name: context.schema.kinds[name] for name in names})
    fitted = TablePreprocessor(schema).fit(context.train[names])
    return np.asarray(fitted.transform(context[role][names]), dtype=np.float64)


@shared
def clusters(
    context: Context, fitted_to: str, columns: tuple[str, ...], role: str
) -> tuple[np.ndarray, ...]:
    """Return the cluster of each row of `role`, one array for each number of clusters.

    k-means of the rows of `fitted_to`, standardised and one-hot as train has them. A number of
    clusters is left out if there are not ten rows a cluster, or fewer distinct rows than clusters.
    """
    from sklearn.cluster import KMeans

    rows = _matrix(context, fitted_to, columns)
    if rows.shape[1] == 0:
        return ()
    distinct = np.unique(rows.round(9), axis=0).shape[0]
    rows = rows[np.lexsort(rows.T)]
    queries = _matrix(context, role, columns)
    return tuple(
        KMeans(n, init="k-means++", n_init=1, random_state=0).fit(rows).predict(queries)
        for n in _N_CLUSTERS
        if len(rows) >= 10 * n and distinct >= n
    )


def too_few_to_cluster(role: str) -> Result:
    """Return the result where no number of clusters is small enough."""
    return undefined(
        f"mode='cluster' needs 20 {role} rows, two of them distinct in the quasi-identifiers."
    )
