"""Columns that no privacy test of a suite examines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.exceptions import UnexaminedColumnsWarning
from skeval.results.result import Result
from skeval.steps.cell_search import IN_CELL
from skeval.steps.foreign_codes import columns_of_foreign_codes
from skeval.steps.identifiers import identifier_columns
from skeval.utils.formatting import names_in_words

_MAX_NAMED = 4  # columns in a sentence: three names and the number of the other columns
_MOSTLY = 0.5  # a larger fraction of values that occur once makes a column unique
_FOREIGN = (
    "Synthetic values of {names} have another format than the real values, so they are not "
    "compared. "
)
_CURE = (
    "To test them, use the report suite or specify their types in a schema. Otherwise, drop them, "
    "or accept them in the policy with accept_untested."
)


def unexamined_columns(
    context: Context, metrics: Mapping[str, Metric], results: Mapping[str, Result]
) -> tuple[UnexaminedColumnsWarning, ...]:
    """Return a warning that names the columns that no privacy metric examined."""
    measured = {
        name: metric
        for name, metric in metrics.items()
        if metric.tags.aspect == "privacy" and not np.isnan(results[name].value)
    }
    in_memory = not context.is_relational and isinstance(context.train, pd.DataFrame)
    if not measured or not in_memory:
        return ()
    examined = {
        name for metric in measured.values() for name in _columns_of_metric(context, metric)
    }
    # if values of such a column were found, another format did not prevent the comparison
    copied = [one for r in results.values() for one in r.copies if one.train.beyond_chance]
    described = [one.what for one in copied]
    foreign = [
        name
        for name in columns_of_foreign_codes(context)
        if not any(what.endswith((f"values of {name}", f"value of {name}")) for what in described)
    ]
    if any(one.form == IN_CELL for one in copied):
        foreign = []  # rows of the training data were found in cells, so these were read
    examined.difference_update(foreign)
    left = [name for name in context.schema.kinds if name not in examined]
    if not left:
        return ()
    tables = context.train, context.synthetic
    unique = [name for name in left if all(_occur_once(table[name]) for table in tables)]
    left.sort(key=lambda name: name not in unique)  # the sentence names only the first columns
    said = f"Not tested: {names_in_words(left, _MAX_NAMED)}. "
    if foreign:
        said += _FOREIGN.format(names=names_in_words(foreign, _MAX_NAMED))
    said += _CURE
    return (UnexaminedColumnsWarning(said, left, unique),)


def _columns_of_metric(context: Context, metric: Metric) -> Iterator[str]:
    """Yield the columns that a privacy metric examines, by its parameters."""
    from skeval.privacy.copies import ExactMatchShare  # slow import

    chosen = metric.get_params(deep=False).get("columns")
    reads_texts = "text" in metric.tags.needs
    possible = context.schema.columns("text") if reads_texts else context.schema.measured
    if chosen is None:
        yield from possible
        if isinstance(metric, ExactMatchShare):
            yield from identifier_columns(context)
    elif isinstance(chosen, int | np.integer):
        yield from possible[: int(chosen)]
    elif isinstance(chosen, list | tuple):
        yield from chosen


def _occur_once(values: pd.Series) -> bool:
    """Return whether most values of a column occur once."""
    present = values.dropna()
    counts = present.astype(object).map(repr).value_counts()
    return bool(len(present)) and bool((counts == 1).sum() > _MOSTLY * len(present))
