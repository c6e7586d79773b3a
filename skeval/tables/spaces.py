"""Conversion of tables to matrices of scaled numbers and encoded categories."""

# This is a separate file because scikit-learn's column transformer is slow to import.

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
from skeval.tables.frames import Levels, canonical, learned_frame
from skeval.tables.one_table import as_frame
from skeval.tables.preprocessing import NOMINAL, NUMERIC, category_codes, numbers
from skeval.tables.schema import TableSchema
from skeval.tables.transformers import with_fitted_transformers
from skeval.utils.parameters import check_parameters, legal_sets

MAX_FEATURES = 4096  # maximum number of features of all categories, without missing and unseen
MAX_LEVELS = 256  # maximum number of features per categorical column
_SHARED = 4  # rare categories of a larger column share one in this number of its features


class TablePreprocessor(ColumnTransformer):
    """Transformer that converts tables of mixed column types to one float matrix.

    It is a :class:`~sklearn.compose.ColumnTransformer` whose transformers depend on the schema. ID
    columns are ignored, and text columns are ignored unless there is an `embedder`. It can be used
    like any scikit-learn transformer. It can also be the `space` of nearest-neighbor metrics, which
    then include texts if there is an `embedder`.

    Parameters
    ----------
    schema : TableSchema or mapping of str to str, optional
        The types of the columns. Other column types are inferred at fit.
    space : {"euclidean", "gower"}, default="euclidean"
        With "euclidean", numbers and dates are standardized. Missing numbers are replaced by the
        mean, and an indicator column is added. Categories are one-hot encoded and divided by the
        square root of two, so a change of category has distance 1. Missing and unseen categories
        have separate columns. A column with more than 256 categories has 256 columns, see the
        notes. With "gower", the matrix contains unchanged numbers, dates in seconds, and codes of
        categories, with nan for missing values. It is the input of
        :class:`~skeval.neighbors.mixed.MixedNearestNeighbors`.
    n_jobs : int, optional
        Number of jobs, as in scikit-learn.
    embedder : transformer or object with `encode`, optional
        Object that converts text columns to vectors for "euclidean". A scikit-learn transformer of
        texts, for example ``make_pipeline(TfidfVectorizer(), TruncatedSVD(100))``, is fitted on
        each column unless it is already fitted. An object with ``encode(texts)`` may be a sentence
        embedder. The vectors are scaled to the same length, so unrelated (orthogonal) texts have
        distance 1, in the same way as two categories. A missing text also has distance 1 from any
        other text. If None, text columns are ignored.

    Attributes
    ----------
    schema_ : TableSchema
        The types of all columns.
    levels_ : dict of str to list of str
        The categories of the categorical columns.
    n_cells_ : dict of str to int
        Number of matrix columns of each categorical column in space "euclidean", including missing
        and unseen categories. If this number is less than the number of categories, rare categories
        share columns.

    Raises
    ------
    InvalidParameterError
        If the space is unknown, if there is an embedder for "gower", or if the embedder does not
        return vectors.
    TableError, SchemaMismatchError
        If a table is not valid, or if columns are missing.

    See Also
    --------
    skeval.tables.Discretizer : Converts tables to codes of bins.

    Notes
    -----
    The matrix of "euclidean" is dense. If each row had a different category, the required memory
    would be proportional to the squared number of rows. Therefore, if a column has more than 256
    categories, only the 192 most frequent categories in the table seen at fit have one column each.
    The others share 64 columns according to a hash of the label, so about one in 64 pairs of rare
    categories is treated as equal. If the categories of a table would require more than 4,096
    columns in total, the limit of 256 is reduced to 128, 64 and so on.

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

    # ColumnTransformer would list the parameters of its transformers, which depend on the schema.
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return BaseEstimator.get_params(self, deep=False)

    def set_params(self, **params: Any) -> Self:
        """Set the parameters."""
        return BaseEstimator.set_params(self, **params)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Learn types, categories, means and scales from a table."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fit on a table and return its matrix."""
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
                    f"{type(self).__name__}: embedder returns vectors, which space='gower' does "
                    "not support. Pass space='euclidean'."
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
    """Return the feature of each category, with a limit for the total number of features."""
    # In columns with many categories, rare categories share features by a hash of their labels.
    most = most_features([len(levels[name]) for name in frame])
    return {
        name: np.arange(len(levels[name]))
        if len(levels[name]) <= most
        else _pool_levels(frame[name], levels[name], most)
        for name in frame
    }


def most_features(n_levels: Sequence[int]) -> int:
    """Return the maximum number of features per column, given the numbers of categories."""
    most, sizes = MAX_LEVELS, np.asarray(n_levels)
    while most > 2 * _SHARED and np.minimum(sizes, most).sum() > MAX_FEATURES:
        most //= 2
    return most


def _pool_levels(column: pd.Series, labels: Sequence[str], most: int) -> np.ndarray:
    """Return the feature of each category if only frequent categories have separate features."""
    codes, n_shared = column.cat.codes.to_numpy(), most // _SHARED
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))[: len(labels)]
    hashes = pd.util.hash_array(np.asarray(labels, dtype=object), categorize=False)
    cells = (most - n_shared) + (hashes % np.uint64(n_shared)).astype(np.int64)
    # Ties between equally frequent categories are resolved by the hash, not by the order.
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
    """Return the feature of each value. Missing and unseen follow after the known features."""
    closed = np.empty((len(frame), len(cells)))
    for j, (values, of_levels) in enumerate(zip(category_codes(frame).T, cells, strict=True)):
        n, n_cells = len(of_levels), int(of_levels.max(initial=-1)) + 1
        cell_of = np.append(of_levels, [n_cells, n_cells + 1])
        at = np.where(np.isnan(values), n, np.where(values >= n, n + 1, values))
        closed[:, j] = cell_of[at.astype(np.int64)]
    return closed


def _halve_mismatch(one_hot: np.ndarray) -> np.ndarray:
    one_hot /= np.sqrt(2.0)  # in place, because the array of the encoder may be very large
    return one_hot
