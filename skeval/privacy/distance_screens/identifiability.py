"""Identifiability: training rows that are closer to a synthetic row than to other real rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
_MAX_WEIGHT = 10.0  # times the median, because a nearly constant column would outweigh all others


@declared
class EpsilonIdentifiability(NeighborMetric, RelabelledTest):
    """Fraction of training rows that are closer to a synthetic row than to other training rows.

    A training row is called identifiable if some synthetic row is closer to it than its nearest
    other training row. A table is published as "epsilon-identifiable" if the fraction of
    identifiable rows is below epsilon. Lower is better.

    Parameters
    ----------
    feature_weights : {"uniform", "entropy"}, default="uniform"
        Weights of the columns. "uniform" gives all columns the same weight. "entropy" uses a
        Euclidean distance with weights inverse to the entropies of the columns, so that rare values
        count more.

    Raises
    ------
    InvalidParameterError
        At fit, if ``feature_weights="entropy"``, which has its own space, is requested in another
        space than "gower".

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    Authenticity : Fraction of synthetic rows that are not noisy copies.
    NNAAPrivacyLoss : Difference of adversarial accuracy between holdout and training data.
    HittingRate : Fraction of training rows with a similar synthetic row in every column.

    Notes
    -----
    The value is the fraction of training rows t with ``d(t, nearest synthetic) < d(t, nearest other
    train row)``. Even without a leak, the value is not 0. A real table of the same size as the
    training data scores about 1/2, and a larger table scores more.

    ``details["excess"]`` measures the leak. The excess is the fraction for training rows minus the
    fraction for holdout rows (``details["on_holdout"]``), minus the mean of this difference over
    random relabelings (0 for tables of equal sizes). The baseline is the value without the excess.
    The p-value is one-sided. If the generator memorized nothing, all choices of the training rows
    are equally likely given the synthetic rows. The excess and the p-value require a holdout.

    The interval describes new samples of training and synthetic rows. Two training rows that are
    nearest neighbors of each other count as one piece of evidence.

    With ``feature_weights="entropy"``, squared differences relative to the range are multiplied by
    weights proportional to :math:`1 / H_j`. The entropies come from ten quantile bins or from the
    categories of the real rows. A weight is at most ten times the median, and 0 for a constant
    column. The distance of a missing value from other values is at least the whole range.

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
                "EpsilonIdentifiability: feature_weights='entropy' has its own space. Use "
                "space='gower' or feature_weights='uniform'."
            )

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if context.n_rows("train") < 2:
            return undefined_result("train needs two rows to have neighbours.")
        asked = self._space(context, columns)
        if asked[0] is None:
            return undefined_result("every column is constant, so no column has a weight.")
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
        what = "train rows with a synthetic row closer than any other train row"
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
            f"{share} of train rows have a synthetic row closer than any other train row", result
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
    """Hold the excess on train over holdout against random relabelings of the real rows."""
    shares = relabelled_shares(context, space, columns)
    return packed_test(context, shares, n_permutations, seed)


def relabelled_shares(
    context: Context, space: Any, columns: Any
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that computes both fractions from packed labels of the real rows."""
    _, rows, _ = rivals(context, space, columns)
    sizes = context.n_rows("train"), context.n_rows("holdout")

    def shares(labels: np.ndarray) -> np.ndarray:
        has_train, all_train = adversarial_accuracy.labels_in_lists(rows, labels)
        holds = labels & ~has_train, ~labels & all_train
        on_train, on_holdout = map(adversarial_accuracy.bit_counts, holds)
        return np.stack([on_train / sizes[0], on_holdout / sizes[1]])

    return shares


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
        Positive weight of each column. It is the squared distance between the ends of the range, or
        between two categories, and the minimum squared distance between a missing value and others.
    numeric : dict of str to (float, float)
        The number that missing values of a number or date column get, and the column's range.
    n_levels : dict of str to int
        Number of real categories of each categorical column. All other values are one more
        category.
    """

    weights: Mapping[str, float]
    numeric: Mapping[str, tuple[float, float]]
    n_levels: Mapping[str, int]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing, because the real tables provide all parameters."""
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
        # a column of one value and missing values varies, but its numbers do not
        span = float(np.nanmax(values) - np.nanmin(values)) or 1.0
        numeric[name] = float(np.nanmean(values)), span
    n_levels = {name: len(context.levels[name]) for name in kept if name in nominal}
    return EntropySpace(kept, numeric, n_levels) if kept else None
