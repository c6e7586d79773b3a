"""Groups of rows by a sensitive column, and differences between their rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from skeval.core.context import Context, shared
from skeval.stats.bootstrap import bootstrap_values
from skeval.steps.models import HOLDOUT, Training, fit_model, predict_part
from skeval.steps.problem import Question, Rows, problem_of, rows_of_role
from skeval.tables.preprocessing import NOMINAL, numbers

_MIN_GROUP_ROWS = 10  # smaller groups, in the training or the holdout data, are pooled
_MAX_FEW_VALUES = 10  # up to this number of distinct values, each value is a group
_MISSING, _RARE = "(missing)", "(rare groups)"
# which rates must be equal
CRITERIA: dict[str, tuple[str, ...]] = {
    "demographic_parity": ("selection",),
    "equalized_odds": ("tpr", "fpr"),
    "equal_opportunity": ("tpr",),
}
Rates = Mapping[str, np.ndarray]


class Grouping(NamedTuple):
    """A question, and the sensitive column whose values are the groups."""

    question: Question
    sensitive: str
    n_bins: int


@dataclass(frozen=True)
class Groups:
    """The groups that holdout rows fall into."""

    names: tuple[str, ...]
    edges: np.ndarray | None
    places: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Return the group of each value."""
        missing, n_own = np.isnan(values), self.places.size - 2
        if self.edges is not None:
            cells = np.searchsorted(self.edges, values, side="left")
        else:
            cells = np.where(missing | (values >= n_own), n_own + 1, values).astype(np.int64)
        return np.asarray(self.places[np.where(missing, n_own, cells)])


@shared
def groups_of(context: Context, grouping: Grouping) -> Groups:
    """Return the groups by the sensitive column, with small groups pooled."""
    name = grouping.sensitive
    if name in context.schema.columns(*NOMINAL):
        categories = context.levels.get(name, context.column("train", name).cat.categories)
        names, edges = [str(category) for category in categories], None
    else:
        names, edges = _ranges(context, grouping)
    every = Groups((*names, _MISSING, _RARE), edges, np.arange(len(names) + 2))
    counts = [
        np.bincount(every.codes(rows_and_values(context, r, grouping)[1]), minlength=len(every))
        for r in ("train", "holdout")
    ]
    sizes = counts[1]
    kept = np.flatnonzero(np.min(counts, axis=0) >= _MIN_GROUP_ROWS)
    names = [every.names[cell] for cell in kept]
    places = np.full(len(every), -1, dtype=np.int64)
    places[kept] = np.arange(kept.size)
    if sizes[places < 0].sum() > 0:
        places[places < 0] = kept.size
        names.append(_RARE)
    return Groups(tuple(names), edges, places)


def _ranges(context: Context, grouping: Grouping) -> tuple[list[str], np.ndarray]:
    """Return names and edges of ranges of numbers: one per value, or quantiles if there are many.

    The name of a range discloses a value only if the value is frequent in the training data.
    """
    values = numbers(context.train[[grouping.sensitive]])[:, 0]
    values = values[~np.isnan(values)]
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size > _MAX_FEW_VALUES:
        at = np.arange(1, grouping.n_bins) / grouping.n_bins
        edges = np.unique(np.quantile(values, at, method="lower"))
        edges = edges[edges < distinct[-1]]
    else:
        edges = 0.5 * (distinct[:-1] + distinct[1:])
    names = [f"range {k + 1} of {edges.size + 1}" for k in range(edges.size + 1)]
    if distinct.size == len(names) and grouping.sensitive in context.schema.columns("continuous"):
        for k in np.flatnonzero(counts >= _MIN_GROUP_ROWS):
            names[k] = f"{distinct[k]:g}"
    return names, edges


@shared
def rows_and_values(context: Context, role: str, grouping: Grouping) -> tuple[Rows, np.ndarray]:
    """Return the rows of a role as input of models, and their sensitive values."""
    question, name = grouping.question, grouping.sensitive
    features = problem_of(context, question).features
    if name in features:
        rows = rows_of_role(context, role, question)
        return rows, rows.features[:, features.index(name)]
    wide = tuple(sorted((*features, name)))
    rows, at = rows_of_role(context, role, replace(question, features=wide)), wide.index(name)
    levels = (*rows.levels[:at], *rows.levels[at + 1 :])
    narrow = Rows(np.delete(rows.features, at, axis=1), rows.target, levels, rows.n_dropped)
    return narrow, rows.features[:, at]


def base_counts(context: Context, role: str, grouping: Grouping) -> np.ndarray:
    """Count the negative and positive rows of each group, shape (n_groups, 2)."""
    rows, values = rows_and_values(context, role, grouping)
    groups = groups_of(context, grouping)
    codes = groups.codes(values)
    positive = rows.target == problem_of(context, grouping.question).positive
    cells = (2 * codes + positive)[codes >= 0]
    return np.bincount(cells, minlength=2 * len(groups)).reshape(-1, 2)


def too_small(context: Context, grouping: Grouping, min_cell: int) -> str:
    """Return a message that lists groups with too few rows of a class, or an empty string."""
    names = np.array(groups_of(context, grouping).names)
    for role in ("train", "synthetic"):
        fewest = base_counts(context, role, grouping).min(axis=1, initial=2**62)
        if (fewest < min_cell).any():
            return (
                f"these groups of {grouping.sensitive} have fewer than {min_cell} positive or "
                f"negative {role} rows: {', '.join(names[fewest < min_cell])}."
            )
    return ""


@shared
def tested_counts(
    context: Context,
    training: Training,
    estimator: Any,
    grouping: Grouping,
    n_replicates: int,
    seed_of_model: int,
    seed: int,
) -> np.ndarray:
    """Count rows by group, truth and prediction, for the holdout and its bootstrap samples."""
    rows, values = rows_and_values(context, "holdout", grouping)
    groups, problem = groups_of(context, grouping), problem_of(context, grouping.question)
    asked = (estimator, grouping.question, seed_of_model)
    if grouping.sensitive in problem.features:
        predictions = predict_part(context, training, HOLDOUT, *asked)
    else:  # the sensitive column changes the order of the rows
        predictions = fit_model(context, training, *asked).predict(rows)
    called, truth = predictions.values == problem.positive, rows.target == problem.positive
    codes = groups.codes(values)
    counts = partial(group_counts, codes, truth, called, n_groups=len(groups))
    return bootstrap_values(counts, len(rows), n_replicates, seed)


def group_counts(
    groups: np.ndarray, truth: np.ndarray, called: np.ndarray, weights: np.ndarray, n_groups: int
) -> np.ndarray:
    """Count rows by group, truth and prediction."""
    cells = 4 * groups + 2 * truth + called
    members = csr_matrix(
        (np.ones(cells.size), (cells, np.arange(cells.size))), shape=(4 * n_groups, cells.size)
    )
    return np.asarray((members @ weights.T).T).reshape(-1, n_groups, 2, 2)


def group_rates(counts: np.ndarray, min_cell: int = 1) -> dict[str, np.ndarray]:
    """Return the rates of each group that the fairness criteria use."""
    called, actual = counts[..., 1], counts.sum(axis=-1)
    parts = {"selection": called.sum(axis=-1), "tpr": called[..., 1], "fpr": called[..., 0]}
    wholes = {"selection": actual.sum(axis=-1), "tpr": actual[..., 1], "fpr": actual[..., 0]}
    rates = {}
    for name, whole in wholes.items():
        known = (whole > 0) & (whole[:1] >= min_cell)
        rates[name] = np.divide(parts[name], whole, out=np.full(whole.shape, np.nan), where=known)
    return rates


def range_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return the range of the rates, or nan if fewer than two groups have a rate."""
    low, high = _ends(rates)
    return high - low


def _ends(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(rates)
    low = np.where(known, rates, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(known, rates, -np.inf).max(axis=-1, initial=-np.inf)
    enough = known.sum(axis=-1) >= 2
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def gap(rates: Rates, criterion: str, aggregate: str = "max") -> np.ndarray:
    """Return the maximum or mean range of the rates of a criterion."""
    spreads = np.stack([range_of_rates(rates[name]) for name in CRITERIA[criterion]])
    return np.asarray(spreads.max(axis=0) if aggregate == "max" else spreads.mean(axis=0))


def rate_ratio(rates: Rates, criterion: str) -> np.ndarray:
    """Return the smallest rate divided by the largest, the minimum over rates."""
    ratios = []
    for name in CRITERIA[criterion]:
        low, high = _ends(rates[name])
        equal = np.where(np.isnan(high), np.nan, 1.0)
        ratios.append(np.divide(low, high, out=equal, where=high > 0))
    return np.asarray(np.stack(ratios).min(axis=0))


def average_odds_difference(rates: Rates) -> np.ndarray:
    """Return the mean of the differences in TPR and FPR, second group minus first.

    The differences are signed and may cancel. The result is nan unless there are two groups.
    """
    both = np.stack([rates["tpr"], rates["fpr"]])
    if both.shape[-1] != 2:
        return np.full(both.shape[1:-1], np.nan)
    return np.asarray((both[..., 1] - both[..., 0]).mean(axis=0))


def preservation(rates: Rates, others: Rates, criterion: str) -> np.ndarray:
    """Return 1 minus the largest change of a group's rate from `others` to `rates`.

    Unlike the gap, it differs between two models that rank the groups in opposite order.
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
    """Return an interval of the gap, from replicates of the rates."""
    # Noise separates equal rates, so the gap is biased upward, and each bootstrap gap even more.
    # Therefore quantiles of bootstrap gaps never reach 0. However, a gap differs from the true
    # gap by at most the range of the errors of the rates. The interval is the gap plus and minus
    # a quantile of the range of (replicate - rate). It is exact for two groups and conservative
    # for more.
    value = _over_models(gap(rates, criterion, aggregate))[0]
    errors = {name: part[..., 1:, :] - part[..., :1, :] for name, part in rates.items()}
    reach = _over_models(gap(errors, criterion, aggregate))
    known = reach[~np.isnan(reach)]
    if np.isnan(value) or known.size == 0 or 2 * known.size < reach.size:
        return None
    radius = float(np.quantile(known, confidence))
    return max(float(value) - radius, 0.0), min(float(value) + radius, 1.0)


def _over_models(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.mean(axis=tuple(range(values.ndim - 1))))
