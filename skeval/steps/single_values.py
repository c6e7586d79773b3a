"""Values of single real rows that a release repeats as they are.

They show which columns a generator copied from train. They also show that it used the holdout: a
release that learned from both tables is as near to one as to the other, so that no contrast of the
two finds what it copies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import HoldoutUsedWarning
from skeval.stats.copied_rows import CHANCE, Copied, count_copies
from skeval.stats.runs import alternation_p_value
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.neighbors import nearest
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NUMERIC

_ROLES = ("train", "holdout", "synthetic")
_MAX_NAMED = 5
_MAX_UNCHANGED = 3
_CHANCE = CHANCE / 2  # two signs show that the holdout was used
_COPIED = 0.01  # fraction of holdout rows that are as near to train as rows that count as copied
_USED = (
    "The generator may have used the holdout: values that occur once in the holdout occur in the "
    "synthetic data more often than chance explains ({found}). Tests that compare train and "
    "holdout cannot find a leak then. Fit the generator without the holdout, or set aside other "
    "rows."
)
_MIXED = (
    "The generator may have used the holdout: in the sorted values of {found}, synthetic and "
    "holdout values alternate more often than independent values do. Tests that compare train and "
    "holdout cannot find a leak then. Fit the generator without the holdout, or set aside other "
    "rows."
)


def holdout_use_notices(context: Context) -> tuple[HoldoutUsedWarning, ...]:
    """Return a warning that names the columns whose holdout values are in the release, if any."""
    if type(context) is not Context or "holdout" not in context:
        return ()
    found = [
        f"{name}: {one.n:,}, by chance at most {one.most:,}"
        for name, one in single_values(context, "holdout").items()
        if one.beyond_chance
    ]
    if found:
        return (HoldoutUsedWarning(_USED.format(found=_join_names(found, "; "))),)
    if found := evenly_mixed_columns(context):
        return (HoldoutUsedWarning(_MIXED.format(found=_join_names(found, ", "))),)
    return ()


def _join_names(found: list[str], separator: str) -> str:
    more = len(found) - _MAX_NAMED
    return separator.join([*found[:_MAX_NAMED], *([f"{more} more columns"] if more > 0 else [])])


@shared
def evenly_mixed_columns(context: Context) -> list[str]:
    """Get the columns in which synthetic and holdout values alternate more than chance explains."""
    # A generator that draws between the sorted values of train and holdout draws one value
    # for each gap, on average. Between the values of rows that it never saw, it leaves more
    # gaps empty. If train and holdout alternate in this way, they were drawn systematically,
    # and nothing is told.
    present = {name: _present_values(context, name) for name in context.schema.columns(*NUMERIC)}
    ordered = {name: values for name, values in present.items() if _is_mostly_distinct(values)}
    return [
        name
        for name, (train, holdout, release) in ordered.items()
        if alternation_p_value(holdout, release) <= _CHANCE / len(ordered)
        and alternation_p_value(holdout, train) > CHANCE
    ]


def _is_mostly_distinct(present: list[np.ndarray]) -> bool:
    values = np.concatenate(present)
    return 2 * np.unique(values).size > values.size


def _present_values(context: Context, name: str) -> list[np.ndarray]:
    tables = [column_values(context.column(role, name)) for role in _ROLES]
    return [values[np.isfinite(values)] for values in tables]


@shared
def single_values(context: Context, role: str) -> dict[str, Copied]:
    """Return by column of numbers or dates how many values of single rows a release repeats."""
    # Categories are left out, because their levels may be known from elsewhere. How often
    # real values recur by chance is learned from pairs of real rows, and from pairs of
    # synthetic rows, so that a release of rounded or frequent values is not accused. Nor is
    # one if the other real table repeats as many, as tables do in which each day of a year
    # occurs once. The bounds hold for all columns together.
    names = context.schema.columns(*NUMERIC)
    return {name: _values_of_column(context, role, name, _CHANCE / len(names)) for name in names}


def _values_of_column(context: Context, role: str, name: str, chance: float) -> Copied:
    present = _present_values(context, name)
    _, codes = np.unique(np.concatenate(present), return_inverse=True)
    ends = np.cumsum([values.size for values in present])[:-1]
    n_values = int(codes.max(initial=-1)) + 1
    parts = np.split(codes, ends)
    counts = {
        one: np.bincount(part, minlength=n_values) for one, part in zip(_ROLES, parts, strict=True)
    }
    release, table = counts["synthetic"], counts[role]
    if not release.any() or not table.any():
        return Copied(0, 0)
    pool = counts["train"] + counts["holdout"]
    found = count_copies(release, table, pool, chance)
    other = counts["holdout" if role == "train" else "train"]
    if other.any() and count_copies(other, table, pool, chance).beyond_chance:
        return replace(found, most=max(found.n, found.most))  # values of a list that all share
    return found


def unchanged_values(context: Context, columns: ColumnChoice = None) -> list[str]:
    """Return the columns in which values of train occur as they are, if that is the cause."""
    # It is if far more rows have such a value than are nearly copied: a copied row brings its
    # values along. The columns with the most values come first.
    looked_at = chosen_columns(context.schema, columns)
    if type(context) is not Context or "holdout" not in context or not looked_at:
        return []
    n_copied = 2.0 * are_near_copies(context).sum()
    met = {
        name: one.n
        for name, one in single_values(context, "train").items()
        if name in looked_at and one.beyond_chance and one.n > n_copied
    }
    return sorted(met, key=lambda name: (-met[name], name))[:_MAX_UNCHANGED]


def are_near_copies(context: Context) -> np.ndarray:
    """Return which synthetic rows are as near to train as only one in a hundred holdout rows is."""
    released, fresh = (nearest(context, role, "train")[0] for role in ("synthetic", "holdout"))
    return released[:, 0] <= np.quantile(fresh[:, 0], _COPIED, method="inverted_cdf")
