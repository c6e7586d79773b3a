"""Privacy score, standard error and risk as Aindo reports them, for one or several tables."""

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
    """Result of :func:`~skeval.compute_privacy_stats`.

    Attributes
    ----------
    privacy_score : float
        Score from 0 to 100. It is 100 if the number of training rows with a very close synthetic
        row is no larger than the number with a very close real row.
    privacy_score_std : float
        Standard error of the score before it is clipped at 100. It is nan if no synthetic row is
        very close, or if there are too few rows to estimate the variation.
    risk : float
        Fraction of training rows with a very close synthetic row, in excess of the fraction with
        another very close real row.

    See Also
    --------
    skeval.compute_privacy_stats : Function that returns this object.
    skeval.privacy.PrivacyScore : Metric that computes the score.

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
    """Compute the privacy score, its standard error and the risk of synthetic data.

    Parameters
    ----------
    train : table of shape (n_train, n_columns), or mapping of str to table
        Rows that the generator learned from, as a pandas, polars or pyarrow table. Pass several
        tables by name or as a :class:`~skeval.relational.RelationalData`.
    synthetic : table of shape (n_synthetic, n_columns)
        Synthetic table with the columns of the training data.
    holdout : table of shape (n_holdout, n_columns), optional
        Real rows that the generator never saw. Without a holdout, random halves of the training
        data are compared with each other. This comparison is weaker, because the generator has seen
        both halves.
    q : float, default=0.1
        Fraction of training rows that defines "very near", in (0, 1).
    risk_confidence : float, optional
        If given, the risk counts only the excess over the expected count that is larger than this
        number of standard deviations of a Poisson count.
    schema : TableSchema, RelationalSchema or mapping of str to str, optional
        Types of the columns. Types that the schema does not contain are inferred from the training
        data. The schema of several tables also contains keys and roles.
    entity : {"row", "parent"}, default="row"
        Unit of protection for several tables. "row" compares rows as they are. "parent" compares
        rows together with a summary of the rows that refer to them (their number, means, most
        frequent categories), because the data about one individual are a row and all rows that
        refer to it.
    random_state : int, default=0
        Seed of samples, splits and resamples.

    Returns
    -------
    PrivacyStats, or dict of str to PrivacyStats
        Result by table if there are several tables, without reference tables, which are public. All
        values are nan, with a warning, if relative distances are not defined, for example because
        the training data contain duplicates that the holdout does not contain. In a table of few
        categories, every row has an equal row in all tables. The score is then near 100 and carries
        no information; a warning reports the number of duplicates.

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
    The names are the names of Aindo's ``compute_privacy_stats``. Because its documentation does not
    specify all details, the definitions of :class:`~skeval.privacy.PrivacyScore` are used. A real
    table without a leak scores somewhat below 100, and a high score does not clear a release.

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
