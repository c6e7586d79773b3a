"""The place of a leak, that is the columns and groups of rows that are most exposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from skeval.core.context import Context, shared
from skeval.exceptions import TableError
from skeval.results.verdict import ALARM_LEVEL, DROP_COPIES, REFIT
from skeval.stats.multiple_testing import holm
from skeval.stats.roc import area_and_error, auc, auc_p_value
from skeval.steps.column_choice import ColumnChoice, chosen_columns, column_key, columns_of
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, ranges
from skeval.steps.members import STRONGEST, MemberScores, blend_scores, member_scores
from skeval.steps.nearest_others import others_nearest_to
from skeval.steps.neighbors import nearest
from skeval.steps.samples import drawn_positions, measured_on
from skeval.steps.single_values import are_near_copies, unchanged_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import format_count, join_names

_MIN_GROUP_ROWS = 10  # minimum of training rows, and of holdout rows, of a group that is named
_MAX_NAMED = 3
_MAX_ATTACKED = 2000  # maximum number of rows per table for attacks without some columns
_MAX_SEARCHED = 100_000  # maximum number of rows per table among which outliers are searched for
_REAL = ("train", "holdout")
NEW_VALUES = (
    "Let the generator draw new values between the training values, or round them or add noise."
)
_POOL = "Pool their rare categories and clip their numbers before the fit."
_OUTLIERS = "in the 10% of the rows that differ most from other rows"


class Excess(NamedTuple):
    """The excess of the AUC of the strongest attack over 0.5, and a p-value."""

    area: float
    p_value: float


@shared
def advice_on_leak(context: Context, columns: ColumnChoice = None) -> str:
    """Return by which columns and in which rows the leak occurs, and what to do about it."""
    if "holdout" not in context or not chosen_columns(context.schema, columns):
        return ""
    names, group = exposed_columns(context, columns), exposed_group(context, columns)
    where = f" Most exposed are the {group}." if group else ""
    where += f" {_POOL}" if group.endswith(_OUTLIERS) else ""
    tried = measured_on(context, "sampled")
    unchanged = unchanged_values(context, columns)
    # rows that agree in a few columns are not copies
    copied = are_near_copies(tried) if columns is None else np.zeros(1, dtype=bool)
    memorised = copied.mean() > 0.5
    if copied.any() and not memorised and _helps_without_rows(tried, copied):
        return f"{DROP_COPIES}{where}"
    if unchanged:
        return f"{NEW_VALUES} Training values occur unchanged in {join_names(unchanged)}.{where}"
    if not names:
        return f"{REFIT} No single column is more exposed than the others.{where}"
    them = "them" if len(names) > 1 else "it"
    found = (
        "Training rows are closer to synthetic rows than holdout rows are, in particular in "
        f"{join_names(names)}"
    )
    if not memorised and _helps_without_columns(tried, columns, names):
        return f"{found}. Drop {them}.{where}"
    return f"{REFIT} {found}. Without {them}, most of the difference would remain.{where}"


def _helps_without_rows(context: Context, rows: np.ndarray) -> bool:
    """Return whether attacks are much weaker without these synthetic rows."""
    left = context.synthetic[~rows].reset_index(drop=True)
    return _is_weaker(_excess(context), context.real.with_rows_as_synthetic(left))


def _helps_without_columns(context: Context, columns: ColumnChoice, names: Sequence[str]) -> bool:
    """Return whether attacks are much weaker without these columns."""
    others = [name for name in chosen_columns(context.schema, columns) if name not in names]
    if not others:
        return True
    whole = _excess(context, columns)
    # if the attack does not find rows, it finds values of these columns
    known = whole.p_value <= ALARM_LEVEL
    return not known or _is_weaker(whole, context, column_key(context.schema, others))


def _is_weaker(before: Excess, context: Context, columns: ColumnChoice = None) -> bool:
    """Return whether no attack, the fastest first, has more than half of the excess."""
    return all(_area(one) <= before.area / 2.0 for one in _attacks(context, columns))


def _excess(context: Context, columns: ColumnChoice = None) -> Excess:
    """Return the result of the strongest attack, as a difference to the expected result."""
    scored = list(_attacks(context, columns))
    if not scored:
        return Excess(0.0, 1.0)
    best = max(scored, key=_area)
    p_value = len(scored) * auc_p_value(best.members, best.others)
    return Excess(_area(best), min(1.0, p_value))


def _attacks(context: Context, columns: ColumnChoice) -> Iterator[MemberScores]:
    """Yield the scores of each possible attack, and then their mean ranks."""
    scored = []
    for attack in STRONGEST:
        with suppress(TableError):  # too few rows for it
            scored.append(member_scores(context, attack, _MAX_ATTACKED, columns=columns))
            yield scored[-1]
    if scored:
        yield blend_scores(scored)


def _area(scored: MemberScores) -> float:
    return auc(scored.members, scored.others) - 0.5


@shared
def exposed_columns(context: Context, columns: ColumnChoice = None) -> list[str]:
    """Return the columns in which training rows are closer to synthetic rows than the holdout."""
    # The distance is to the nearest synthetic row, or in the column alone to the nearest value of
    # any row. Among the columns that are significant after Holm, these are the most significant
    # three.
    looked_at = chosen_columns(context.schema, columns)
    names = [name for name in encoded_columns(context.schema) if name in looked_at]
    train, holdout = (_differences(context, role, columns) for role in ("train", "holdout"))
    p_values = [auc_p_value(-near, -far) for near, far in zip(train, holdout, strict=True)]
    corrected = np.reshape(holm(p_values), (2, -1)).min(axis=0)
    least = np.reshape(p_values, (2, -1)).min(axis=0)
    order = sorted(range(len(names)), key=lambda j: (least[j], names[j]))
    return [names[j] for j in order if corrected[j] <= ALARM_LEVEL][:_MAX_NAMED]


def _differences(context: Context, role: str, columns: ColumnChoice) -> np.ndarray:
    """Return by column each row's difference to the nearest synthetic row, then to the column."""
    _, positions = nearest(context, role, "synthetic", columns=columns)
    rows, released = (encoded_matrix(context, one, "gower", columns) for one in (role, "synthetic"))
    to_column = np.column_stack(
        [_nearest_values(*pair) for pair in zip(rows.T, released.T, strict=True)]
    )
    scale = ranges(context, columns)
    numbers = columns_of(context, columns, NUMERIC)
    apart = []
    for other in (released[positions[:, 0]], to_column):
        differs = (rows != other) & ~(np.isnan(rows) & np.isnan(other))
        with np.errstate(divide="ignore", invalid="ignore"):
            capped = np.minimum(np.abs(rows - other) / scale, 1.0)
        is_number = (np.arange(rows.shape[1]) < len(numbers)) & np.isfinite(capped)
        apart.append(np.where(is_number, capped, differs).T)
    return np.concatenate(apart)


def _nearest_values(values: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the released value that is nearest to each value, and a missing value for missing."""
    known = np.unique(released[~np.isnan(released)])
    if not known.size:
        return np.full(values.shape, np.nan)
    after = np.searchsorted(known, values).clip(1, max(1, known.size - 1))
    low, high = known[after - 1], known[np.minimum(after, known.size - 1)]
    nearer = np.where(values - low <= high - values, low, high)
    return np.where(np.isnan(values) & np.isnan(released).any(), np.nan, nearer)


def exposed_group(context: Context, columns: ColumnChoice = None) -> str:
    """Return the training rows that are most exposed in words, or "" without such a group."""
    # A group is a category, or the 10% of the real rows that are most distant from others. The
    # group and the other rows have at least ten training and ten holdout rows each. The test
    # compares how often a training row is closer to its nearest synthetic row than a holdout row
    # of the same group, which must be significantly more often than among the others, after Holm.
    distances = [
        nearest(context, role, "synthetic", columns=columns)[0][:, 0]
        for role in ("train", "holdout")
    ]
    # ranks are enough, and there are many groups
    _, ranks = np.unique(-np.concatenate(distances), return_inverse=True)
    train, holdout = np.split(ranks, [distances[0].size])
    p_values = {}
    for name, inside, outside in _groups_of_rows(context, columns):
        if min(rows.size for rows in (*inside, *outside)) >= _MIN_GROUP_ROWS:
            areas = (area_and_error(train[t], holdout[h]) for t, h in (inside, outside))
            p_values[name] = _excess_p_value(*areas)
    corrected = holm(list(p_values.values()))
    if min(corrected, default=1.0) > ALARM_LEVEL:
        return ""
    return min(p_values, key=p_values.__getitem__)


def _excess_p_value(own: tuple[float, float], others: tuple[float, float]) -> float:
    """Return the one-sided p-value that the AUC of a group equals the AUC of the other rows.

    The arguments contain the AUC and its standard error.
    """
    spread = float(np.hypot(own[1], others[1]))
    return float(ndtr(-(own[0] - others[0]) / spread)) if spread > 0.0 else 1.0


_Positions = tuple[np.ndarray, ...]  # of training and of holdout rows


def _groups_of_rows(
    context: Context, columns: ColumnChoice
) -> Iterator[tuple[str, _Positions, _Positions]]:
    """Yield groups of training rows by name, with the positions of their rows and of the others."""
    n_train = context.n_rows("train")
    train, holdout = (drawn_positions(context, role, _MAX_SEARCHED, 0) for role in _REAL)
    apart = outlyingness(context, "gower", columns, train, holdout)
    least = np.quantile(np.concatenate(apart), 0.9)
    is_far, other_is_far = (of_role > least for of_role in apart)
    n_far = format_count(round(is_far.sum() * n_train / train.size), "training row")
    about = "about " if train.size < n_train else ""
    outliers = train[is_far], holdout[other_is_far]
    yield f"{about}{n_far} {_OUTLIERS}", outliers, (train[~is_far], holdout[~other_is_far])
    nominal = context.schema.columns(*NOMINAL)
    for name in sorted(set(nominal) & set(chosen_columns(context.schema, columns))):
        j = encoded_columns(context.schema).index(name)
        codes = [encoded_matrix(context, role)[:, j] for role in _REAL]
        for code, label in enumerate(context.levels[name]):
            inside, outside = (
                tuple(np.flatnonzero((of_role == code) == is_in) for of_role in codes)
                for is_in in (True, False)
            )
            counted = format_count(inside[0].size, "training row")
            yield f"{counted} where {name} is {label}", inside, outside


def outlyingness(
    context: Context, space: object, columns: ColumnChoice, train: np.ndarray, holdout: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of some training and some holdout rows to other real rows."""
    # It is the mean distance to the five nearest other rows of both tables together, which does
    # not depend on the rows that were in the training data.
    rows = np.concatenate([train, context.n_rows("train") + holdout])
    means = others_nearest_to(context, space, columns, rows).mean(axis=1)
    return means[: train.size], means[train.size :]
