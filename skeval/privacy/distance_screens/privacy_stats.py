"""Privacy score, standard error and risk as Aindo reports them, of one table or of several."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skeval.core.relational_context import RelationalContext
from skeval.privacy.distance_screens.privacy_score import PrivacyScore
from skeval.results.result import Result
from skeval.steps.aggregates import aggregated_context
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float
from skeval.utils.parameters import NonNegative, OpenFraction, Seed, check_parameters, legal_sets


@dataclass(frozen=True)
class PrivacyStats:
    """What :func:`~skeval.compute_privacy_stats` returns.

    Attributes
    ----------
    privacy_score : float
        From 0 to 100: 100 if synthetic rows come very near to no more train rows than other real
        rows do.
    privacy_score_std : float
        Standard error of the score before it is clipped at 100; nan where no synthetic row comes
        near, or too few rows say how far it would vary.
    risk : float
        Share of train rows that synthetic rows come very near to, beyond what other real rows do.

    See Also
    --------
    skeval.compute_privacy_stats : It is returned there.
    skeval.privacy.PrivacyScore : The metric.

    Examples
    --------
    >>> from skeval.privacy import PrivacyStats
    >>> PrivacyStats(98.5, 3.1, 0.01).risk
    0.01
    """

    privacy_score: float
    privacy_score_std: float
    risk: float


def compute_privacy_stats(
    train: Any,
    synthetic: Any,
    holdout: Any = None,
    q: OpenFraction = 0.1,
    risk_confidence: NonNegative | None = None,
    *,
    schema: TableSchema | RelationalSchema | Mapping[str, Any] | None = None,
    entity: Literal["row", "parent"] = "row",
    random_state: Seed = 0,
) -> Any:
    """Compute privacy score, its standard error, and risk; of several tables, of each.

    Parameters
    ----------
    train : table of shape (n_train, n_columns), or mapping of str to table
        The rows that the generator learned from: pandas, polars or pyarrow. Several tables are
        given by name, or as a :class:`~skeval.relational.RelationalData`.
    synthetic : table of shape (n_synthetic, n_columns)
        With the columns of train.
    holdout : table of shape (n_holdout, n_columns), optional
        Real rows that the generator never saw. Without them random halves of train are compared
        with each other, which is the weaker comparison: the generator has seen both.
    q : float, default=0.1
        The share of train rows that defines "very near", in (0, 1).
    risk_confidence : float, optional
        If given, the risk counts only what exceeds chance by this number of standard deviations of
        a Poisson count.
    schema : TableSchema, RelationalSchema or mapping of str to str, optional
        The kinds of the columns; kinds that it does not name are inferred from train. The schema of
        several tables has keys and roles too.
    entity : {"row", "parent"}, default="row"
        What is protected if there are several tables: rows as they are, or rows together with a
        summary of the rows that refer to them (their number, means, most frequent categories),
        since a person is a row with all that belongs to it.
    random_state : int, default=0
        Seed of samples, splits and resamples.

    Returns
    -------
    PrivacyStats, or dict of str to PrivacyStats
        By table where there are several, without reference tables, which are public. All nan, with
        a warning, where relative distances are not defined, as in a train table of duplicates of
        which the holdout has none. In a table of few categories, where every row has its like in
        all tables, the score is near 100 and says nothing: a warning counts the duplicates.

    Raises
    ------
    InvalidParameterError
        If `q`, `risk_confidence`, `entity` or `random_state` is outside its legal set.
    TableError, SchemaMismatchError
        If the tables cannot be used.

    See Also
    --------
    skeval.privacy.PrivacyScore : The metric, with interval, p-value and baseline.

    Notes
    -----
    The names are those of Aindo's ``compute_privacy_stats``, whose documentation leaves some
    details open: the definitions are those of :class:`~skeval.privacy.PrivacyScore`. A fresh real
    table scores somewhat below 100, and a high score clears no release.

    Examples
    --------
    >>> from skeval import compute_privacy_stats
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, synthetic = (make_mixed(400, random_state=seed) for seed in range(3))
    >>> copied = compute_privacy_stats(train, train, holdout)
    >>> round(copied.privacy_score), round(copied.risk, 1)
    (10, 0.9)
    >>> compute_privacy_stats(train, synthetic, holdout).risk < 0.1
    True
    """
    settings = {
        "q": q,
        "risk_confidence": risk_confidence,
        "entity": entity,
        "random_state": random_state,
    }
    check_parameters("compute_privacy_stats", settings, legal_sets(compute_privacy_stats))

    metric = PrivacyScore(q, risk_confidence, random_state=random_state)
    if not isinstance(train, Mapping):
        return _stats(metric.fit(train, holdout, schema=schema).evaluate(synthetic))
    real = RelationalContext.of(train, holdout, schema=schema)  # type: ignore[arg-type]
    context, stats = real.with_synthetic(synthetic), {}
    for name in context.relations.tables:
        if name not in context.relations.references:
            own = aggregated_context(context, name) if entity == "parent" else context.table(name)
            result = metric.fit_context(own.real).evaluate_context(own)
            for warning in result.warnings:
                warnings.warn(warning.with_prefix(name), stacklevel=2)
            stats[name] = _stats(result)
    return stats


def _stats(result: Result) -> PrivacyStats:
    std, risk = (as_float(result.details.get(name, np.nan)) for name in ("score_std", "risk"))
    return PrivacyStats(result.value, std, risk)
