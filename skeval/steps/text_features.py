"""Features of texts beside those of the other columns, as the classifier behind them reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from skeval.exceptions import InvalidParameterError
from skeval.steps.texts import Features, TextEncoder, beside
from skeval.tables.preprocessing import OneHot, Ranks

_DENSE_BYTES = 2**30  # that features of texts may take, where a classifier reads no sparse ones


@dataclass(frozen=True)
class WithTexts:
    """The encoder of rows whose last columns are numbers of texts.

    Attributes
    ----------
    plain : Ranks or OneHot
        Of the other columns.
    texts : list of TextEncoder
        One a column of texts.
    shift : float
        What is added to the features of the other columns: where trees read sparse features, 0 is
        a missing one.
    dense_for : str, default=""
        The classifier that reads no sparse features, if it is such a one.
    """

    plain: Ranks | OneHot
    texts: list[TextEncoder]
    shift: float
    dense_for: str = ""

    def transform(self, rows: np.ndarray) -> Features:
        """Return the features, sparse where those of texts are and the classifier reads such.

        Raises
        ------
        InvalidParameterError
            If it reads dense ones only, and they would take more than a gibibyte.
        """
        features = beside(self._parts(rows))
        if not (self.dense_for and issparse(features)):
            return features
        if (n_bytes := 8 * np.prod(features.shape, dtype=float)) > _DENSE_BYTES:
            raise InvalidParameterError(
                f"{self.dense_for} reads dense features only, and those of the texts, "
                f"{features.shape[0]:,} rows of {features.shape[1]:,}, would take "
                f"{n_bytes / 2**30:,.1f} GiB, of 1 that they may. Pass a classifier that reads "
                "sparse ones, or a vectorizer of fewer features, such as "
                "make_pipeline(TfidfVectorizer(), TruncatedSVD(100))."
            )
        return features.toarray()

    @property
    def owners(self) -> np.ndarray:
        """For each feature the column of the rows that it stems from."""
        none = np.full((1, len(self.plain.nominal) + len(self.texts)), np.nan)
        n_first, *n_texts = [part.shape[1] for part in self._parts(none)]
        places = len(self.plain.nominal) + np.arange(len(n_texts))
        return np.concatenate([self.plain.owners[:n_first], np.repeat(places, n_texts)])

    def _parts(self, rows: np.ndarray) -> list[Features]:
        n_plain = len(self.plain.nominal)
        numbers = rows[:, n_plain:].T
        texts = [one.transform(own) for one, own in zip(self.texts, numbers, strict=True)]
        return [self.plain.transform(rows[:, :n_plain]) + self.shift, *texts]


def reads_sparse(estimator: Any) -> bool:
    """Tell whether a classifier takes sparse features; one that does not say so is taken to."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.sparse)
