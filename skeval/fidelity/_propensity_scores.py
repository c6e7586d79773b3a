"""Fitted probabilities of being synthetic, and what they are under permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from skeval._encoders import OneHot
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.fidelity._classifiers import learn, out_of_fold
from skeval.fidelity.discriminator import drawn_rows, nominal_columns
from skeval.stats.propensity import (
    PropensityNull,
    analytic_null,
    fit_logistic,
    propensity_mse,
    table_measures,
)
from skeval.steps import chosen_columns, histogram
from skeval.steps.samples import ColumnChoice

__all__ = ["How", "Propensity", "permuted_values", "propensity", "tables"]

_MOST_TERMS = 1000
_N_FOLDS = 5


@dataclass(frozen=True)
class How:
    """How probabilities are found.

    Attributes
    ----------
    model : {"logistic", "cart"} or classifier
        Which model.
    interactions : bool
        Whether the logistic regression has products of columns.
    out_of_fold : bool
        Whether rows are scored by models that have not seen them.
    columns : int, tuple of str or None
        The columns looked at.
    seed : int
        Of samples, folds and models.
    """

    model: Any
    interactions: bool
    out_of_fold: bool
    columns: ColumnChoice
    seed: int

    @property
    def is_regression(self) -> bool:
        """Whether it is the unpenalised regression fitted to all rows, whose null is known."""
        is_logistic = isinstance(self.model, str) and self.model == "logistic"
        return is_logistic and not self.out_of_fold


@dataclass(frozen=True)
class Propensity:
    """Probabilities of being synthetic.

    Attributes
    ----------
    real, synthetic : ndarray
        Of the rows of each table.
    n_parameters : int or None
        Of the logistic regression fitted to all rows; None for others.
    separated : bool
        Whether it tells some rows apart for sure.
    """

    real: np.ndarray
    synthetic: np.ndarray
    n_parameters: int | None = None
    separated: bool = False

    @property
    def value(self) -> float:
        """The mean squared distance from the share of synthetic rows."""
        return propensity_mse(self.real, self.synthetic)

    def null(self, n_estimated: int | None = None) -> PropensityNull:
        """Return the law of the value of the regression; that of 0 for others."""
        sizes = self.real.size, self.synthetic.size
        return analytic_null(*sizes, self.n_parameters or 1, n_estimated)


@shared
def propensity(
    context: Context, how: How, real: str, synthetic: str, n_real: int, n_synthetic: int
) -> Propensity:
    """Return the probabilities of samples of two tables, of which `synthetic` has the label 1."""
    rows, others = (
        drawn_rows(context, role, how.columns, n, how.seed)
        for role, n in ((real, n_real), (synthetic, n_synthetic))
    )
    return _fitted(how, rows, others, nominal_columns(context, how.columns))


@shared
def permuted_values(
    context: Context, how: How, real: str, n_real: int, n_synthetic: int, n_permutations: int
) -> np.ndarray:
    """Return the values of tables whose rows were dealt out anew, as large as they are."""
    tables = [
        drawn_rows(context, role, how.columns, n, how.seed)
        for role, n in ((real, n_real), ("synthetic", n_synthetic))
    ]
    rows = np.concatenate(tables)
    rows = rows[np.lexsort(rows.T[::-1])]  # nothing must tell the tables apart but the labels
    nominal, rng = nominal_columns(context, how.columns), np.random.default_rng(how.seed)
    is_synthetic = np.repeat([False, True], [len(part) for part in tables])
    values = np.empty(n_permutations)
    for i in range(n_permutations):
        dealt = rng.permutation(is_synthetic)
        values[i] = _fitted(how, rows[~dealt], rows[dealt], nominal).value
    return values


def _fitted(
    how: How, real: np.ndarray, synthetic: np.ndarray, nominal: Sequence[bool]
) -> Propensity:
    if how.out_of_fold:
        found = out_of_fold(how.model, real, synthetic, nominal, n_folds=_N_FOLDS, seed=how.seed)
        return Propensity(found.real, found.synthetic)
    rows, n_real = np.concatenate([real, synthetic]), len(real)
    labels = np.arange(len(rows)) >= n_real
    if not how.is_regression:
        scores = learn(how.model, rows, labels, nominal, how.seed).scores(rows)
        return Propensity(scores[:n_real], scores[n_real:])
    encoder = OneHot.of(rows, nominal)
    design = encoder.transform(rows)
    if how.interactions:
        design = with_products(design, encoder.owners)
    fit = fit_logistic(design, labels)
    scores = fit.probabilities
    return Propensity(scores[:n_real], scores[n_real:], fit.n_parameters, fit.separated)


def with_products(design: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """Return a design with the products of all features that stem from different columns.

    Raises
    ------
    InvalidParameterError
        If there are too many of them to fit.
    """
    pairs = [(a, b) for a, b in combinations(range(len(owners)), 2) if owners[a] != owners[b]]
    if len(owners) + len(pairs) > _MOST_TERMS:
        raise InvalidParameterError(
            f"PropensityMSE: interactions of these columns are {len(owners) + len(pairs):,} terms, "
            f"and {_MOST_TERMS:,} at most are fitted. Choose columns=[...], or model='cart'."
        )
    if not pairs:
        return design
    first, second = (list(side) for side in zip(*pairs, strict=True))
    return np.hstack([design, design[:, first] * design[:, second]])


def tables(context: Context, columns: ColumnChoice) -> dict[str, Any]:
    """Return the measures of tables by column, and their means."""
    by_column = {
        name: table_measures(*(histogram(context, role, name) for role in ("train", "synthetic")))
        for name in chosen_columns(context.schema, columns)
    }
    names = next(iter(by_column.values()))
    means = {name: float(np.mean([found[name] for found in by_column.values()])) for name in names}
    return {"tables": {"mean": means, "by_column": by_column}}
