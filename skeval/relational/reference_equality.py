"""Check whether reference tables are unchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from skeval.core.declared import declared
from skeval.core.relational_base import RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.joint_classes import class_counts, joint_classes
from skeval.stats.matches import digits_kept, matches
from skeval.tables.preprocessing import NUMERIC, numbers
from skeval.utils.formatting import percent

_NONE = (
    "no table is a reference table. Specify the public tables: "
    "RelationalSchema(..., roles={table: 'reference'})."
)


@declared
class ReferenceEquality(RelationalMetric):
    """Fraction of the rows of reference tables that match a training row.

    A list of airports is public and contains no sensitive data. The synthetic data should contain
    this list unchanged, because invented airports break every join. Matching rows would be a leak
    in a table of individuals, but they are correct in a reference table. Therefore the metric has
    no privacy test and computes no distances. The score ranges from 0 (no row matches) to 1 (all
    rows match). Higher is better.

    Warnings
    --------
    The metric assumes that the reference tables are public. If a table contains data about
    individuals, matching rows are a leak.

    See Also
    --------
    ReferentialIntegrity : Checks whether foreign keys refer to existing rows.
    OfTable : Rejects privacy metrics on reference tables.

    Notes
    -----
    Rows are compared in all columns, including keys, and numbers are compared to 12 digits. The
    value is the mean over the reference tables. ``details["columns"]`` contains the fraction for
    each table, and ``details["kept"]`` the fraction of training rows that still occur.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ReferenceEquality, RelationalSchema
    >>> schema = RelationalSchema(["flights", "airports"], roles={"airports": "reference"})
    >>> flights = pd.DataFrame({"n": [1, 2]})
    >>> train = {"flights": flights, "airports": pd.DataFrame({"name": ["JFK", "LGA"]})}
    >>> synthetic = {"flights": flights, "airports": pd.DataFrame({"name": ["JFK", "XXX"]})}
    >>> ReferenceEquality().fit(train, schema=schema).score(synthetic)
    0.5
    """

    tags = replace(RELATIONAL_TAGS, aspect="validity")

    def _measure(self, context: RelationalContext) -> Result:
        counts = {name: row_counts(context, name) for name in context.relations.references}
        if not counts:
            return undefined_result(_NONE, NothingToMeasureWarning)
        shares, kept = {}, {}
        for name, (train, synthetic) in counts.items():
            (k, n), (k_train, n_train) = matches(synthetic, train), matches(train, synthetic)
            shares[name], kept[name] = k / n, k_train / n_train
        return Result(
            float(np.mean(list(shares.values()))), details={"columns": shares, "kept": kept}
        )

    def _summary(self, result: Result) -> str:
        worst, share = min(result.details["columns"].items(), key=lambda item: item[1])
        return (
            f"{percent(result.value)} of the rows of reference tables match a training row. "
            "The lowest "
            f"table is {worst} with {percent(share)}."
        )


def row_counts(context: RelationalContext, table: str) -> np.ndarray:
    """Return how often each distinct row occurs in train and synthetic, (2, n_distinct)."""
    frames = [context[role][table] for role in ("train", "synthetic")]
    kinds = context.relations.tables[table].kinds
    codes = []
    for name, kind in kinds.items():
        if kind in NUMERIC:
            values = np.concatenate([numbers(frame[[name]]).ravel() for frame in frames])
            codes.append(pd.factorize(digits_kept(values))[0])
        else:
            texts = [frame[name].map(str, na_action="ignore").astype(object) for frame in frames]
            codes.append(pd.factorize(pd.concat(texts, ignore_index=True))[0])
    classes = joint_classes(np.column_stack(codes))
    return class_counts(*np.split(classes, [len(frames[0])]))
