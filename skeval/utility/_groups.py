"""Groups of rows by a sensitive column, and what models call of each group of the holdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.preprocessing import NOMINAL, numbers
from skeval.stats.fairness import group_counts, group_rates, spread
from skeval.stats.resampling import replicated
from skeval.utility.models import Training, chosen_models, fitted, predicted
from skeval.utility.problem import Question, Rows, problem_of, rows_of_role

__all__ = [
    "Asked",
    "Groups",
    "at_hand",
    "base_counts",
    "described",
    "groups_of",
    "incomparable",
    "insufficient",
    "rates_of",
    "warnings_of",
]

_FEWEST = 10  # holdout rows of a group with a name of its own
_FEW_VALUES = 10  # numbers of no more values have a group a value
_MISSING, _RARE = "(missing)", "(rare groups)"


@dataclass(frozen=True)
class Asked:
    """What is predicted, for which groups.

    Attributes
    ----------
    question : Question
        What is predicted from what.
    sensitive : str
        The column that divides the rows into groups; it need not be among the features.
    n_bins : int
        Number of groups of a column of numbers.
    """

    question: Question
    sensitive: str
    n_bins: int

    @classmethod
    def of(cls, metric: Any, context: Context) -> Asked:
        """Read the parameters of a metric.

        Raises
        ------
        InvalidParameterError
            If the sensitive column is the target.
        """
        if metric.sensitive == metric.target:
            raise InvalidParameterError(
                f"{type(metric).__name__}: sensitive and target are both {metric.target!r}; "
                "groups cannot be compared by what defines them."
            )
        question = Question.of(metric)
        seen = problem_of(context, question).features
        if not metric.include_sensitive and metric.sensitive in seen:
            others = tuple(name for name in seen if name != metric.sensitive)
            question = replace(question, features=others)
        return cls(question, metric.sensitive, int(metric.n_bins))


@dataclass(frozen=True)
class Groups:
    """The groups that holdout rows fall into.

    Attributes
    ----------
    names : tuple of str
        Levels, or ranges of a column of numbers; then missing values, and last those groups
        together that have too few holdout rows for a name of their own.
    edges : ndarray or None
        Where numbers are cut; None for categories.
    places : ndarray of int
        The group of each level or range, of missing values and of levels that no real row has; -1
        for none.
    """

    names: tuple[str, ...]
    edges: np.ndarray | None
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Return the group of each value."""
        found: np.ndarray = self.places[_cells(values, self.edges, self.places.size - 2)]
        return found


def _cells(values: np.ndarray, edges: np.ndarray | None, n_own: int) -> np.ndarray:
    """Return the cell of each value: a level or range, then missing, then unseen."""
    missing = np.isnan(values)
    if edges is not None:
        cells = np.searchsorted(edges, values, side="left")
    else:
        cells = np.where(missing | (values >= n_own), n_own + 1, values).astype(np.int64)
    return np.where(missing, n_own, cells)


@shared
def groups_of(context: Context, asked: Asked) -> Groups:
    """Return the groups by the sensitive column, those with few holdout rows pooled."""
    if asked.sensitive in context.schema.columns(*NOMINAL):
        categories = context.train[asked.sensitive].cat.categories
        names, edges = [str(n) for n in context.levels.get(asked.sensitive, categories)], None
    else:
        names, edges = _ranges(context, asked)
    values = _grouped(context, "holdout", asked)[1]
    n_own = len(names)
    sizes = np.bincount(_cells(values, edges, n_own), minlength=n_own + 2)
    kept = np.flatnonzero(sizes >= _FEWEST)
    every = [*names, _MISSING, _RARE]
    places = np.full(n_own + 2, -1, dtype=np.int64)
    places[kept] = np.arange(kept.size)
    found = [every[cell] for cell in kept]
    if sizes[places < 0].sum() > 0:
        places[places < 0] = kept.size
        found.append(_RARE)
    return Groups(tuple(found), edges, places)


def _ranges(context: Context, asked: Asked) -> tuple[list[str], np.ndarray]:
    """Return names and edges of ranges of numbers: one a value if there are few, else quantiles.

    A range has no name that tells a value, unless train has the value often.
    """
    values = numbers(context.train[[asked.sensitive]])[:, 0]
    values = values[~np.isnan(values)]
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size > _FEW_VALUES:
        at = np.arange(1, asked.n_bins) / asked.n_bins
        edges = np.unique(np.quantile(values, at, method="lower"))
        edges = edges[edges < distinct[-1]]
    else:
        edges = 0.5 * (distinct[:-1] + distinct[1:])
    n_ranges = edges.size + 1
    names = [f"range {k + 1} of {n_ranges}" for k in range(n_ranges)]
    if distinct.size == n_ranges and asked.sensitive in context.schema.columns("continuous"):
        often = counts >= _FEWEST
        names = [
            f"{value:g}" if known else name
            for value, known, name in zip(distinct, often, names, strict=True)
        ]
    return names, edges


@shared
def _grouped(context: Context, role: str, asked: Asked) -> tuple[Rows, np.ndarray]:
    """Return the rows of a role as models take them, and their sensitive values."""
    features = problem_of(context, asked.question).features
    if asked.sensitive in features:
        rows = rows_of_role(context, role, asked.question)
        return rows, rows.features[:, features.index(asked.sensitive)]
    wide = tuple(sorted((*features, asked.sensitive)))
    rows = rows_of_role(context, role, replace(asked.question, features=wide))
    at = wide.index(asked.sensitive)
    narrow = Rows(
        np.delete(rows.features, at, axis=1),
        rows.target,
        (*rows.levels[:at], *rows.levels[at + 1 :]),
        rows.n_dropped,
    )
    return narrow, rows.features[:, at]


def base_counts(context: Context, role: str, asked: Asked) -> np.ndarray:
    """Count the negative and positive rows of each group, shape (n_groups, 2)."""
    rows, values = _grouped(context, role, asked)
    groups = groups_of(context, asked)
    codes = groups.codes(values)
    positive = rows.target == problem_of(context, asked.question).positive
    cells = (2 * codes + positive)[codes >= 0]
    return np.bincount(cells, minlength=2 * len(groups)).reshape(-1, 2)


@shared
def _tested(
    context: Context,
    training: Training,
    estimator: Any,
    asked: Asked,
    n_replicates: int,
    seed_of_model: int,
    seed: int,
) -> np.ndarray:
    """Count the holdout rows by group, truth and call, then those of bootstrap samples."""
    rows, values = _grouped(context, "holdout", asked)
    problem, groups = problem_of(context, asked.question), groups_of(context, asked)
    if asked.sensitive in problem.features:
        found = predicted(context, training, "holdout", estimator, asked.question, seed_of_model)
    else:  # the same rows, but in an order that the sensitive column takes part in
        model = fitted(context, training, estimator, asked.question, seed_of_model)
        found = model.predict(rows)
    truth, called = rows.target == problem.positive, found.values == problem.positive
    codes = groups.codes(values)
    return replicated(
        lambda weights: group_counts(codes, truth, called, weights, len(groups)),
        len(rows),
        n_replicates,
        seed,
    )


def rates_of(
    metric: Any, context: Context, training: Training, asked: Asked
) -> dict[str, np.ndarray]:
    """Return the rates of each model, its rows and their replicates, and group.

    Returns
    -------
    dict of str to ndarray of shape (n_models, 1 + n_replicates, n_groups)
        By "selection", "tpr" and "fpr"; models of several seeds count as several.
    """
    by_model = [
        group_rates(
            _tested(
                context,
                training,
                estimator,
                asked,
                metric.n_bootstrap,
                metric.random_state + i,
                metric.random_state,
            ),
            metric.min_cell,
        )
        for estimator in chosen_models(metric.estimators).values()
        for i in range(metric.n_repeats)
    ]
    return {name: np.stack([rates[name] for rates in by_model]) for name in by_model[0]}


def at_hand(rates: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the rates of the holdout rows as they are, shape (n_models, n_groups)."""
    return {name: found[:, 0] for name, found in rates.items()}


def described(
    metric: Any, context: Context, asked: Asked, rates: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """Return names, sizes and rates of the groups, and how often each is positive in the tables."""
    counts = {role: base_counts(context, role, asked) for role in ("train", "holdout", "synthetic")}
    positive = {
        role: np.divide(
            found[:, 1],
            found.sum(axis=1),
            out=np.full(len(found), np.nan),
            where=found.sum(axis=1) >= metric.min_cell,
        )
        for role, found in counts.items()
    }
    return {
        "groups": list(groups_of(context, asked).names),
        "group_sizes": counts["holdout"].sum(axis=1),
        "rates": {
            kind: {name: part.mean(axis=0) for name, part in at_hand(found).items()}
            for kind, found in rates.items()
        },
        "base_rates": positive,
        "base_rate_gap": {role: float(spread(found)) for role, found in positive.items()},
    }


def insufficient(metric: Any, context: Context, asked: Asked) -> str:
    """Say which table has too few rows of a label in a group; empty if none has."""
    names = groups_of(context, asked).names
    for role in ("train", "synthetic"):
        fewest = base_counts(context, role, asked).min(axis=1, initial=np.iinfo(np.int64).max)
        if (fewest < metric.min_cell).any():
            short = ", ".join(np.array(names)[fewest < metric.min_cell])
            return (
                f"{role} has fewer than {metric.min_cell} positive or negative rows of these "
                f"groups of {metric.sensitive}: {short}."
            )
    return ""


def incomparable(metric: Any, rates: Mapping[str, np.ndarray], names: tuple[str, ...]) -> str:
    """Say that no two groups can be compared; empty if they can."""
    if not any(np.isnan(spread(rates[name][0, 0])) for name in names):
        return ""
    return (
        f"fewer than two groups of {metric.sensitive} have at least {metric.min_cell} holdout rows "
        "of each kind whose rate is to be equal."
    )


def warnings_of(
    metric: Any,
    context: Context,
    asked: Asked,
    rates: Mapping[str, np.ndarray],
    names: tuple[str, ...],
) -> tuple[MetricWarning, ...]:
    """Say which groups are left out, and that a model which calls all alike has no gap."""
    found: list[MetricWarning] = []
    lost = np.any([np.isnan(rates[name][0, 0]) for name in names], axis=0)
    if lost.any():
        left_out = ", ".join(np.array(groups_of(context, asked).names)[lost])
        found.append(
            DegenerateInputWarning(
                f"these groups of {metric.sensitive} have a rate of fewer than {metric.min_cell} "
                f"holdout rows, which is left out: {left_out}."
            )
        )
    called = rates["selection"][:, 0]
    if np.all(np.isnan(called) | (called == 0.0)) or np.all(np.isnan(called) | (called == 1.0)):
        found.append(
            DegenerateInputWarning(
                "the models that learnt synthetic rows call all holdout rows alike, and so have no "
                "gap."
            )
        )
    return tuple(found)
