"""Spaces in which rows lie: a table as the matrix of its scaled numbers and coded categories.

A file of its own, since scikit-learn's column transformer takes long to import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import InvalidParameterError
from skeval.tables.embedding import Embedder, TextEmbedder
from skeval.tables.frames import Levels, as_frame, canonical, learned_frame
from skeval.tables.preprocessing import NOMINAL, NUMERIC, category_codes, numbers
from skeval.tables.schema import TableSchema
from skeval.tables.transformers import with_fitted_transformers
from skeval.utils.parameters import check_parameters, legal_sets

MAX_FEATURES = 4096  # that categories have in all, missing and unseen ones aside
MAX_LEVELS = 256  # of a category that are kept apart
_SHARED = 4  # one feature in this number is shared by the rarer levels of a larger category


class TablePreprocessor(ColumnTransformer):
    """Turn tables of mixed kinds into one float matrix.

    A :class:`~sklearn.compose.ColumnTransformer` whose transformers follow from the schema; id
    columns are left out, and so are text columns unless something embeds them. It goes wherever a
    scikit-learn transformer goes, also as the `space` of metrics of neighbours: with an `embedder`
    these look at texts too.

    Parameters
    ----------
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns; those not named are inferred at fit.
    space : {"euclidean", "gower"}, default="euclidean"
        "euclidean": numbers and dates standardised, missing ones set to the mean with an indicator
        column added; categories one-hot, divided by the square root of two so that a change of
        category has distance 1, with columns of their own for missing and for unseen levels. A
        category of more than 256 levels has 256 columns, see the notes.
        "gower": numbers as they are, dates in seconds, then the codes of the categories, missing as
        nan; what :class:`~skeval.neighbors.mixed.MixedNearestNeighbors` takes.
    n_jobs : int, optional
        Number of jobs, as in scikit-learn.
    embedder : transformer or object with `encode`, optional
        What makes vectors of text columns, in "euclidean": a transformer of scikit-learn that takes
        texts, such as ``make_pipeline(TfidfVectorizer(), TruncatedSVD(100))``, fitted on each
        column unless it is fitted already; or an object with ``encode(texts)``, such as a sentence
        embedder. Vectors have one length, so that unrelated texts, at right angles, are at a
        distance of 1, as two levels of a category are, and so is a missing text from any other.
        Without it texts are left out.

    Attributes
    ----------
    schema_ : TableSchema
        The kinds of all columns.
    levels_ : dict of str to list of str
        The levels of the categorical columns.
    n_cells_ : dict of str to int
        In space "euclidean" how many columns the levels of each of them have, missing and unseen
        ones included; where they are fewer than the levels, rare levels share columns.

    Raises
    ------
    InvalidParameterError
        If there is no such space, or an embedder for a space of codes, or it gives no vectors.
    TableError, SchemaMismatchError
        If a table cannot be used, or lacks columns.

    See Also
    --------
    skeval.tables.Discretizer : Cells in place of numbers.

    Notes
    -----
    The matrix of "euclidean" is dense, so that a column with a level a row would take the square of
    the rows in memory. If a category has more than 256 levels, its 192 most frequent ones in the
    table seen at fit have a column each. The others share 64, by a hash of the label: two different
    rare levels are the same to one pair in 64. If the categories of a table would have more than
    4,096 columns in all, the bound is 128, 64 and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import TablePreprocessor
    >>> table = pd.DataFrame({"age": [20.0, 40.0], "sex": ["f", "m"]})
    >>> TablePreprocessor(space="gower").fit_transform(table)
    array([[20.,  0.],
           [40.,  1.]])
    """

    def __init__(
        self,
        schema: Any = None,
        *,
        space: Literal["gower", "euclidean"] = "euclidean",
        n_jobs: int | None = None,
        embedder: Embedder = None,
    ) -> None:
        super().__init__([], sparse_threshold=0, verbose_feature_names_out=True)
        self.schema = schema
        self.space = space
        self.n_jobs = n_jobs
        self.embedder = embedder

    def __sklearn_clone__(self) -> Self:
        return with_fitted_transformers(super().__sklearn_clone__(), self)

    # ColumnTransformer would list the parameters of its transformers, which follow from ours
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return BaseEstimator.get_params(self, deep=False)

    def set_params(self, **params: Any) -> Self:
        """Set the parameters."""
        return BaseEstimator.set_params(self, **params)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Learn kinds, levels, means and scales from a table."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Learn from a table and return its matrix."""
        given = {"space": self.space, "embedder": self.embedder}
        check_parameters(type(self).__name__, given, legal_sets(type(self)))
        frame, self.schema_, self.levels_ = learned_frame(X, self.schema)
        cells: dict[str, np.ndarray] = {}
        if self.space == "euclidean":
            cells = level_cells(frame[self.schema_.columns(*NOMINAL)], self.levels_)
        self.n_cells_ = {name: int(of.max(initial=-1)) + 3 for name, of in cells.items()}
        self.transformers = _transformers(self.schema_, cells, self.space)
        if self.embedder is not None and (texts := self.schema_.columns("text")):
            if self.space == "gower":
                raise InvalidParameterError(
                    f"{type(self).__name__}: embedder makes vectors, which space='gower' has no "
                    "place for. Pass space='euclidean'."
                )
            self.transformers.append(("text", TextEmbedder(self.embedder), texts))
        matrix: np.ndarray = super().fit_transform(frame)
        return matrix

    def transform(self, X: Any, **params: Any) -> np.ndarray:
        """Return the matrix of a table with the columns seen at fit."""
        check_is_fitted(self, "schema_")
        frame = canonical(as_frame(X, "the table"), self.schema_, "the table", self.levels_)
        matrix: np.ndarray = super().transform(frame)
        return matrix


def level_cells(frame: pd.DataFrame, levels: Levels) -> dict[str, np.ndarray]:
    """Return the feature of each level of canonical categories, few enough to be dense."""
    # The least frequent levels of a column with many share features by a hash of their
    # labels.
    most = most_features([len(levels[name]) for name in frame])
    return {
        name: np.arange(len(levels[name]))
        if len(levels[name]) <= most
        else _pool_levels(frame[name], levels[name], most)
        for name in frame
    }


def most_features(n_levels: Sequence[int]) -> int:
    """Return how many features a category may have, by the numbers of levels of all of them."""
    most, sizes = MAX_LEVELS, np.asarray(n_levels)
    while most > 2 * _SHARED and np.minimum(sizes, most).sum() > MAX_FEATURES:
        most //= 2
    return most


def _pool_levels(column: pd.Series, labels: Sequence[str], most: int) -> np.ndarray:
    """Return the feature of each level where the frequent ones alone have their own."""
    codes, n_shared = column.cat.codes.to_numpy(), most // _SHARED
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))[: len(labels)]
    hashes = pd.util.hash_array(np.asarray(labels, dtype=object), categorize=False)
    cells = (most - n_shared) + (hashes % np.uint64(n_shared)).astype(np.int64)
    # of equally frequent levels those with the lowest hash: not those that come first
    own = np.lexsort([hashes, -counts])[: most - n_shared]
    cells[own] = np.arange(own.size)
    return cells


def _transformers(
    schema: TableSchema, cells: dict[str, np.ndarray], space: str
) -> list[tuple[str, Any, list[str]]]:
    numeric, nominal = schema.columns(*NUMERIC), schema.columns(*NOMINAL)
    as_numbers: Any = FunctionTransformer(numbers, feature_names_out="one-to-one")
    as_codes: Any = FunctionTransformer(category_codes, feature_names_out="one-to-one")
    if space == "euclidean":
        as_numbers = make_pipeline(
            as_numbers,
            FunctionTransformer(_finite, feature_names_out="one-to-one"),
            StandardScaler(),
            FunctionTransformer(_mean_and_indicator, feature_names_out=_with_indicators),
        )
        of_levels = [cells[name] for name in nominal]
        closed = {"kw_args": {"cells": of_levels}, "feature_names_out": "one-to-one"}
        features = [np.arange(of.max(initial=-1) + 3, dtype=np.float64) for of in of_levels]
        as_codes = make_pipeline(
            FunctionTransformer(_closed_codes, **closed),
            OneHotEncoder(categories=features, sparse_output=False),
            FunctionTransformer(_halve_mismatch, feature_names_out="one-to-one"),
        )
    parts = [("numeric", as_numbers, numeric), ("nominal", as_codes, nominal)]
    return [part for part in parts if part[2]]


def _finite(matrix: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(matrix), np.nan, matrix)


def _mean_and_indicator(standardised: np.ndarray) -> np.ndarray:
    missing = np.isnan(standardised)
    return np.hstack([np.where(missing, 0.0, standardised), missing.astype(np.float64)])


def _with_indicators(_: Any, names: Sequence[str]) -> list[str]:
    return [*names, *(f"{name}_missing" for name in names)]


def _closed_codes(frame: pd.DataFrame, cells: Sequence[np.ndarray]) -> np.ndarray:
    """Return the feature of each value; missing has one beyond the known ones, unseen the next."""
    closed = np.empty((len(frame), len(cells)))
    for j, (values, of_levels) in enumerate(zip(category_codes(frame).T, cells, strict=True)):
        n, n_cells = len(of_levels), int(of_levels.max(initial=-1)) + 1
        cell_of = np.append(of_levels, [n_cells, n_cells + 1])
        at = np.where(np.isnan(values), n, np.where(values >= n, n + 1, values))
        closed[:, j] = cell_of[at.astype(np.int64)]
    return closed


def _halve_mismatch(one_hot: np.ndarray) -> np.ndarray:
    one_hot /= np.sqrt(2.0)  # the encoder's own array, of thousands of levels at times
    return one_hot
