"""Groups of rows by a sensitive column, and what models call of each group of the holdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.stats.intervals import replicated
from skeval.steps.models import Training, chosen_models, fitted, predicted
from skeval.steps.problem import Question, Rows, problem_of, rows_of_role
from skeval.tables.preprocessing import NOMINAL, numbers

_FEWEST = 10  # holdout rows of a group with a name of its own
_FEW_VALUES = 10  # numbers of no more values have a group a value
_MISSING, _RARE = "(missing)", "(rare groups)"
# which rates must be equal
CRITERIA = {
    "demographic_parity": ("selection",),
    "equalized_odds": ("tpr", "fpr"),
    "equal_opportunity": ("tpr",),
}
Rates = Mapping[str, np.ndarray]


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


def group_counts(
    groups: np.ndarray, truth: np.ndarray, called: np.ndarray, weights: np.ndarray, n_groups: int
) -> np.ndarray:
    """Count rows by group, truth and call.

    Parameters
    ----------
    groups : ndarray of int of shape (n_rows,)
        Codes below `n_groups`.
    truth, called : ndarray of bool of shape (n_rows,)
        Whether a row is positive, and whether it is called so.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (n_replicates, n_groups, 2, 2)
    """
    cells = 4 * groups + 2 * truth + called
    members = csr_matrix(
        (np.ones(cells.size), (cells, np.arange(cells.size))), shape=(4 * n_groups, cells.size)
    )
    return np.asarray((members @ weights.T).T).reshape(-1, n_groups, 2, 2)


def group_rates(counts: np.ndarray, min_cell: int = 1) -> dict[str, np.ndarray]:
    """Return the rates by which fairness is judged.

    Parameters
    ----------
    counts : ndarray of shape (n_replicates, n_groups, 2, 2)
        As of :func:`group_counts`.
    min_cell : int, default=1
        A rate of fewer rows than that, in the first replicate, is nan in all.

    Returns
    -------
    dict of str to ndarray of shape (n_replicates, n_groups)
        "selection", the share called positive; "tpr" and "fpr", that share of the positive and of
        the negative rows.
    """
    called, actual = counts[..., 1], counts.sum(axis=-1)
    parts = {"selection": called.sum(axis=-1), "tpr": called[..., 1], "fpr": called[..., 0]}
    wholes = {"selection": actual.sum(axis=-1), "tpr": actual[..., 1], "fpr": actual[..., 0]}
    rates = {}
    for name, whole in wholes.items():
        known = (whole > 0) & (whole[:1] >= min_cell)
        rates[name] = np.divide(parts[name], whole, out=np.full(whole.shape, np.nan), where=known)
    return rates


def spread(rates: np.ndarray) -> np.ndarray:
    """Return largest minus smallest rate of the groups that have one; nan if fewer than two do."""
    low, high = _ends(rates)
    found: np.ndarray = high - low
    return found


def _ends(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(rates)
    low = np.where(known, rates, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(known, rates, -np.inf).max(axis=-1, initial=-np.inf)
    enough = known.sum(axis=-1) >= 2
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def gap(rates: Rates, criterion: str, aggregate: str = "max") -> np.ndarray:
    """Return how far the groups are from equal rates.

    Parameters
    ----------
    rates : mapping of str to ndarray of shape (..., n_groups)
        As of :func:`group_rates`.
    criterion : {"demographic_parity", "equalized_odds", "equal_opportunity"}
        Equal "selection", equal "tpr" and "fpr", or equal "tpr".
    aggregate : {"max", "mean"}, default="max"
        Of the spreads of the two rates of equalized odds.

    Returns
    -------
    ndarray of shape (...)
        In [0, 1]; nan where a rate is known of fewer than two groups.
    """
    spreads = np.stack([spread(rates[name]) for name in CRITERIA[criterion]])
    found: np.ndarray = spreads.max(axis=0) if aggregate == "max" else spreads.mean(axis=0)
    return found


def rate_ratio(rates: Rates, criterion: str) -> np.ndarray:
    """Return smallest over largest rate, of two rates the lower ratio; 1 where all are equal."""
    ratios = []
    for name in CRITERIA[criterion]:
        low, high = _ends(rates[name])
        equal = np.where(np.isnan(high), np.nan, 1.0)
        ratios.append(np.divide(low, high, out=equal, where=high > 0))
    found: np.ndarray = np.stack(ratios).min(axis=0)
    return found


def average_odds_difference(rates: Rates) -> np.ndarray:
    """Return the mean of the differences in TPR and in FPR, second group minus first.

    It is signed: 0 can be two differences that cancel. nan unless there are two groups.
    """
    both = np.stack([rates["tpr"], rates["fpr"]])
    if both.shape[-1] != 2:
        return np.full(both.shape[1:-1], np.nan)
    found: np.ndarray = (both[..., 1] - both[..., 0]).mean(axis=0)
    return found


def preservation(rates: Rates, others: Rates, criterion: str) -> np.ndarray:
    """Return 1 minus the largest change of a group's rate from `others` to `rates`.

    Two models may have the same gap with the groups in opposite order; this sees it.
    """
    changes = np.concatenate(
        [np.abs(rates[name] - others[name]) for name in CRITERIA[criterion]], axis=-1
    )
    known = ~np.isnan(changes)
    worst = np.where(known, changes, 0.0).max(axis=-1, initial=0.0)
    return np.where(known.any(axis=-1), 1.0 - worst, np.nan)


def gap_interval(
    rates: Rates, criterion: str, aggregate: str = "max", confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the gap, from replicates of the rates.

    Parameters
    ----------
    rates : mapping of str to ndarray of shape (..., 1 + n_replicates, n_groups)
        The rates, then their bootstrap replicates. Leading axes are models, whose mean gap it is.
    criterion, aggregate : str
        As of :func:`gap`.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of float or None
        None where the gap, or too many replicates, are not defined.

    Notes
    -----
    Noise spreads equal rates apart, so that a gap, and each bootstrap gap still more, is too large:
    quantiles of bootstrap gaps never reach 0. But no gap differs from the true one by more than
    the errors of the rates are spread. The interval is the gap plus and minus a quantile of the
    spread of (replicate - rate): exact for two groups, conservative for more.
    """
    value = _over_models(gap(rates, criterion, aggregate))[0]
    errors = {name: part[..., 1:, :] - part[..., :1, :] for name, part in rates.items()}
    reach = _over_models(gap(errors, criterion, aggregate))
    known = reach[~np.isnan(reach)]
    if np.isnan(value) or known.size == 0 or 2 * known.size < reach.size:
        return None
    radius = float(np.quantile(known, confidence))
    return max(float(value) - radius, 0.0), min(float(value) + radius, 1.0)


def _over_models(values: np.ndarray) -> np.ndarray:
    mean: np.ndarray = values.mean(axis=tuple(range(values.ndim - 1)))
    return mean
