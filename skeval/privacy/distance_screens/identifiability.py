"""Identifiability: train rows that are nearer to a synthetic row than to all other real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from scipy.stats import entropy
from sklearn.base import BaseEstimator, TransformerMixin

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric, RelabelledTest
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.results.result import Result, undefined_result
from skeval.stats import adversarial_accuracy
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.encoded_rows import is_gower
from skeval.steps.neighbors import nearest
from skeval.steps.relabellings import packed_test, rivals
from skeval.tables.preprocessing import NOMINAL, Discretizer, category_codes, numbers
from skeval.utils.formatting import percent

_N_BINS = 10
_MAX_WEIGHT = 10.0  # times the median: a nearly constant column would outweigh all others


@declared
class EpsilonIdentifiability(NeighborMetric, RelabelledTest):
    """Share of train rows with a synthetic row nearer than any other train row: 1 is all of them.

    A train row is called identifiable if some synthetic row comes nearer to it than the nearest
    other train row does. A table is published as "epsilon-identifiable" if their share is below
    epsilon.

    Parameters
    ----------
    feature_weights : {"uniform", "entropy"}, default="uniform"
        Whether all columns count alike, or Euclidean distance weighs each by the inverse of its
        entropy, so that rare values count more.

    Raises
    ------
    InvalidParameterError
        At fit, if ``feature_weights="entropy"``, which has a space of its own, is asked for in
        another than "gower".

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    Authenticity : The same comparison, seen from the synthetic rows.
    NNAAPrivacyLoss : Adversarial accuracy lost on train.
    HittingRate : Train rows that are hit in every column.

    Notes
    -----
    The value is the share of train rows t with ``d(t, nearest synthetic) < d(t, nearest other train
    row)``. It is not 0 without a leak: a fresh real table of the size of train scores about 1/2,
    more rows score more.

    What a leak adds is ``details["excess"]``, the share on train minus that on holdout rows
    (``details["on_holdout"]``), relative to its mean over relabellings, which is 0 at equal sizes;
    the baseline is the value without the excess. The p-value is one-sided: given the synthetic
    rows, all choices of which real rows were train are equally likely if none was learned. Without
    a holdout there is neither.

    The interval is over fresh draws of train and synthetic rows; two train rows that are each
    other's nearest count as one piece of evidence.

    With ``feature_weights="entropy"``, squared differences relative to the range are multiplied by
    weights proportional to :math:`1 / H_j`, the entropies being those of ten quantile bins or of
    the categories of the real rows. A weight is at most ten times the median, and 0 for a constant
    column; a missing value is at least a whole range away from all others.

    References
    ----------
    J. Yoon, L. N. Drumright, M. van der Schaar, "Anonymization through data synthesis using
    generative adversarial networks (ADS-GAN)", IEEE JBHI 24 (2020) 2378-2388,
    doi:10.1109/JBHI.2020.2980262.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import EpsilonIdentifiability
    >>> train = make_mixed(random_state=0)
    >>> EpsilonIdentifiability().fit(train).score(train)
    1.0
    """

    tags = NEIGHBOR_TAGS

    feature_weights: Literal["uniform", "entropy"] = "uniform"

    def _prepare(self, context: Context) -> None:
        if self.feature_weights == "entropy" and not is_gower(self.space):
            raise InvalidParameterError(
                "EpsilonIdentifiability: feature_weights='entropy' has a space of its own; leave "
                "space at 'gower', or weights at 'uniform'."
            )

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if context.n_rows("train") < 2:
            return undefined_result("train needs two rows to have neighbours.")
        asked = self._space(context, columns)
        if asked[0] is None:
            return undefined_result("every column is constant: no column has a weight.")
        return identifiable_fraction(context, "train", *asked)[0]

    def _space(self, context: Context, columns: Any) -> tuple[Any, Any]:
        if self.feature_weights == "entropy":
            return entropy_space(context, columns), None
        return self.space, columns

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        asked, n_train = self._space(context, columns), context.n_rows("train")
        value, variance = identifiable_fraction(context, "train", *asked)
        result = replace(
            result, interval=adversarial_accuracy.paired_interval(value, variance, n_train)
        )
        if "holdout" not in context or context.n_rows("holdout") < 2:
            return result
        test = excess_test(context, *asked, self.n_permutations, self.random_state)
        what = "train rows with a synthetic row nearer than any other train row"
        shown: dict[str, Any] = {"reference": "for the holdout"}
        shown["n_permutations"] = self.n_permutations
        contrast = contrast_of(context, what, value, test, **shown)
        assert contrast is not None  # shares are finite
        baseline = contrast.expected
        details = {
            "on_holdout": identifiable_fraction(context, "holdout", *asked)[0],
            "excess": value - baseline,
            "standard_error": float(np.sqrt(variance)),
            "null_standard_error": test.spread,
        }
        return replace(
            result, p_value=test.p_value, baseline=baseline, contrast=contrast, details=details
        )

    def _summary(self, result: Result) -> str:
        share = percent(result.value)
        return set_against(
            f"{share} of train rows have a synthetic row nearer than any other train row", result
        )


def identifiable_fraction(
    context: Context, role: str, space: Any, columns: Any
) -> tuple[float, float]:
    """Return the share of a role's rows that have a synthetic row nearest, and its variance."""
    common: dict[str, Any] = {"space": space, "columns": columns}
    to_synthetic, _ = nearest(context, role, "synthetic", **common)
    within, at = nearest(context, role, role, **common)
    holds = to_synthetic[:, 0] < within[:, 0]
    return adversarial_accuracy.share_with_pairs(holds, np.where(holds, -1, at[:, 0]))


@shared
def excess_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the excess on train over holdout against random relabellings of the real rows."""
    _, rows, _ = rivals(context, space, columns)
    sizes = context.n_rows("train"), context.n_rows("holdout")

    def excess(labels: np.ndarray) -> np.ndarray:
        has_train, all_train = adversarial_accuracy.labels_in_lists(rows, labels)
        holds = labels & ~has_train, ~labels & all_train
        on_train, on_holdout = map(adversarial_accuracy.bit_counts, holds)
        return np.stack([on_train / sizes[0], on_holdout / sizes[1]])

    return packed_test(context, excess, n_permutations, seed)


def inverse_entropy_weights(entropies: np.ndarray) -> np.ndarray:
    """Return weights proportional to inverse entropies, summing to 1 before they are capped."""
    varies = entropies > 0
    inverse = np.zeros(entropies.shape)
    inverse[varies] = 1.0 / entropies[varies]
    if not varies.any():
        return inverse
    weights = inverse / inverse.sum()
    capped: np.ndarray = np.minimum(weights, _MAX_WEIGHT * np.median(weights[varies]))
    return capped


@declared
class EntropySpace(TransformerMixin, BaseEstimator):
    """Turn canonical rows into a matrix in which squared distances are weighted by column.

    Parameters
    ----------
    weights : dict of str to float
        By column, above 0: the squared distance of two values a whole range apart, of two
        categories, and at least that of a missing value from any other.
    numeric : dict of str to (float, float)
        The number that missing values of a number or date column get, and the column's range.
    n_levels : dict of str to int
        Number of real levels of each categorical column; all others are one further level.
    """

    weights: Mapping[str, float]
    numeric: Mapping[str, tuple[float, float]]
    n_levels: Mapping[str, int]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: all is known from the real tables."""
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the matrix of canonical rows."""
        parts = []
        for name, weight in self.weights.items():
            if name in self.numeric:
                (centre, span), values = self.numeric[name], numbers(X[[name]])
                missing = np.isnan(values)
                part = np.hstack([(np.where(missing, centre, values) - centre) / span, missing])
            else:
                n, codes = self.n_levels[name], category_codes(X[[name]]).ravel()
                levels = np.where(np.isnan(codes), n + 1, np.minimum(codes, n)).astype(np.int64)
                part = np.eye(n + 2)[levels] / np.sqrt(2.0)
            parts.append(np.sqrt(weight) * part)
        return np.hstack(parts)


@shared
def entropy_space(context: Context, columns: ColumnChoice) -> EntropySpace | None:
    """Return the space weighted by the entropies of the real rows; None if no column varies."""
    roles = [role for role in ("train", "holdout") if role in context]
    real = pd.concat([context[role] for role in roles], ignore_index=True)
    names = list(chosen_columns(context.schema, columns))
    cutter = Discretizer(_N_BINS, strategy="quantile", max_categories=None)
    codes = cutter.fit(real[names]).transform(real[names])
    entropies = np.array([entropy(np.unique(c, return_counts=True)[1]) for c in codes.T])
    weights = dict(zip(cutter.schema_.measured, inverse_entropy_weights(entropies), strict=True))
    nominal = set(context.schema.columns(*NOMINAL))
    kept = {name: float(weights[name]) for name in names if weights[name] > 0}
    numeric = {}
    for values, name in ((numbers(real[[name]]), name) for name in kept if name not in nominal):
        # one value and missing ones: the column varies, its numbers do not
        span = float(np.nanmax(values) - np.nanmin(values)) or 1.0
        numeric[name] = float(np.nanmean(values)), span
    n_levels = {name: len(context.levels[name]) for name in kept if name in nominal}
    return EntropySpace(kept, numeric, n_levels) if kept else None
