"""Check whether the foreign keys of synthetic tables match existing rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.steps.foreign_keys import parents
from skeval.tables.relational_data import NULL, ORPHAN
from skeval.utils.formatting import percent


@declared
class ReferentialIntegrity(RelationalMetric):
    """Fraction of child rows whose foreign key matches a parent row.

    Orders without a customer break every join, and a database rejects them. However, real tables
    may also contain such rows. For example, a sixth of the flights from New York refer to a plane
    that is missing from the register. Therefore the result also contains the fractions of the
    training data and the holdout. The value is the mean over the foreign keys. The score ranges
    from 0 (no key matches) to 1 (all keys match). Higher is better.

    Warnings
    --------
    A key that matches some parent can still match the wrong parent. A database with shuffled links
    scores 1.

    See Also
    --------
    CardinalityShapeSimilarity : Compares the numbers of children of parents.
    ReferenceEquality : Checks whether public parent tables are unchanged.
    PrimaryKeyUniqueness : Checks whether each key occurs once.

    Notes
    -----
    Missing keys are counted separately, in ``details["null"]``. If a foreign key of the training
    data has missing cells, missing keys are ignored. Otherwise they count as invalid.
    ``details["columns"]`` contains the fraction for each foreign key, ``details["train"]`` the
    fractions of the training data, and ``details["null_of_train"]`` the fraction of missing keys in
    the training data.

    References
    ----------
    Published under this name by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, ReferentialIntegrity, RelationalSchema
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> users = pd.DataFrame({"id": [1, 2, 3]})
    >>> train = {"users": users, "orders": pd.DataFrame({"user": [1, 1, 2, 3]})}
    >>> synthetic = {"users": users, "orders": pd.DataFrame({"user": [1, 1, 2, 9]})}
    >>> ReferentialIntegrity().fit(train, schema=schema).score(synthetic)
    0.75
    """

    tags = replace(RELATIONAL_TAGS, aspect="validity")
    _parts = ("null",)

    def _measure(self, context: RelationalContext) -> Result:
        keys = context.relations.foreign_keys
        if not keys:
            return undefined_result(NO_KEYS, NothingToMeasureWarning)
        train, synthetic = (
            {key: parents(context, role, key) for key in keys} for role in ("train", "synthetic")
        )
        shares = {
            str(key): integrity(synthetic[key], null_is_broken=not (train[key] == NULL).any())
            for key in keys
        }
        return mean_of_columns(
            shares,
            n_total=len(keys),
            greater_is_better=True,
            train={str(k): integrity(p, null_is_broken=False) for k, p in train.items()},
            null={str(key): float((p == NULL).mean()) for key, p in synthetic.items()},
            null_of_train={str(key): float((p == NULL).mean()) for key, p in train.items()},
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        worst, share = details["worst"].values()
        return (
            f"On average {percent(result.value)} of the foreign keys match a row. The lowest "
            "key is "
            f"{worst} with {percent(share)} (training data: "
            f"{percent(result.details['train'][worst])})."
            f"{_most_missing(details['null'], details['null_of_train'])}"
        )


def _most_missing(null: dict[str, float], of_train: dict[str, float]) -> str:
    """Return the foreign key with the most missing cells in words, or an empty string."""
    most = max(null, key=lambda key: max(null[key], of_train[key]))
    if not null[most] and not of_train[most]:
        return ""
    return (
        f" Keys are missing most often in {most}, in {percent(null[most])} of its rows "
        f"(training data: {percent(of_train[most])})."
    )


def integrity(positions: np.ndarray, *, null_is_broken: bool) -> float:
    """Return the fraction of keys that match a row, or nan if there are no keys."""
    counted = positions if null_is_broken else positions[positions != NULL]
    return float((counted > ORPHAN).mean()) if counted.size else float("nan")
