"""Values of single real rows that a release repeats without change.

Such values show which columns a generator copied from the training data. They also show whether the
generator used the holdout. A release that learned from both tables is equally close to both, so
that tests that compare the two tables cannot find copies.
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
from skeval.tables.preprocessing import NUMERIC

_ROLES = ("train", "holdout", "synthetic")
_MAX_NAMED = 5
_MAX_UNCHANGED = 3
_CHANCE = CHANCE / 2  # two tests show that the holdout was used
_COPIED = 0.01  # near copies are closer to the training data than this quantile of holdout rows
_USED = (
    "The generator may have used the holdout. The synthetic data repeat more of the values that "
    "occur once in the holdout than expected by chance ({found}). In this case, tests that compare "
    "training and holdout data cannot find a leak. Fit the generator without the holdout, or set "
    "aside other rows."
)
_MIXED = (
    "The generator may have used the holdout. In the sorted values of {found}, synthetic and "
    "holdout values alternate more often than independent values do. In this case, tests that "
    "compare training and holdout data cannot find a leak. Fit the generator without the holdout, "
    "or set aside other rows."
)


def holdout_use_notices(context: Context) -> tuple[HoldoutUsedWarning, ...]:
    """Return a warning that names the columns whose holdout values are in the release, if any."""
    if type(context) is not Context or "holdout" not in context:
        return ()
    found = [
        f"{name}: {one.n:,}, at most {one.most:,} expected by chance"
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
    """Get the columns in which synthetic and holdout values alternate more than expected."""
    # A generator that draws values between the sorted values of both real tables draws one value
    # per gap on average. Between the values of rows that the generator never saw, it leaves more
    # gaps empty. If training and holdout values alternate in this way, the two tables were sampled
    # systematically, and such columns are not reported.
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
    tables = [context.numbers(role, name) for role in _ROLES]
    return [values[np.isfinite(values)] for values in tables]


@shared
def single_values(context: Context, role: str) -> dict[str, Copied]:
    """Return by column of numbers or dates how many values of single rows a release repeats."""
    # Categorical columns are ignored, because their categories may be public. The expected number
    # of repeats is estimated from pairs of real rows and from pairs of synthetic rows, so that
    # rounded or frequent values do not count as copies. Values also do not count if the other real
    # table repeats too many of them, for example if each day of a year occurs once. The bounds are
    # valid for all columns together.
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
        return replace(found, most=max(found.n, found.most))  # all tables share a list of values
    return found


def unchanged_values(context: Context, columns: ColumnChoice = None) -> list[str]:
    """Return the columns with unchanged training values, unless copied rows explain them."""
    # Copied rows explain the values unless far more rows have such a value than are nearly copied.
    # The columns with the most values come first.
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
    """Return which synthetic rows are closer to training rows than 99% of the holdout rows are."""
    released, fresh = (nearest(context, role, "train")[0] for role in ("synthetic", "holdout"))
    return released[:, 0] <= np.quantile(fresh[:, 0], _COPIED, method="inverted_cdf")
