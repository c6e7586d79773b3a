"""Aindo's three numbers of privacy, of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skeval.formatting import as_float
from skeval.parameters import NonNegative, OpenFraction, Seed, check_parameters, legal_sets
from skeval.tables.schema import Kind, TableSchema


@dataclass(frozen=True)
class PrivacyStats:
    """What :func:`compute_privacy_stats` returns.

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

    Examples
    --------
    >>> from skeval import PrivacyStats
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
    schema: TableSchema | Mapping[str, Kind] | None = None,
    random_state: Seed = 0,
) -> PrivacyStats:
    """Compute privacy score, its standard error, and risk.

    Parameters
    ----------
    train : table of shape (n_train, n_columns)
        The rows that the generator learned from: pandas, polars or pyarrow.
    synthetic : table of shape (n_synthetic, n_columns)
        With the columns of train.
    holdout : table of shape (n_holdout, n_columns), optional
        Real rows that the generator never saw. Without them random halves of train are compared
        with each other, which is the weaker comparison: the generator has seen both.
    q : float, default=0.1
        The share of train rows that defines "very near", in (0, 1).
    risk_confidence : float, optional
        If given, the risk counts only what exceeds chance by so many standard deviations of a
        Poisson count.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns; those not named are inferred from train.
    random_state : int, default=0
        Seed of samples, splits and resamples.

    Returns
    -------
    PrivacyStats
        All nan, with a warning, where relative distances are not defined, as in a train table of
        duplicates of which the holdout has none. In a table of few categories, where every row has
        its like in all tables, the score is near 100 and says nothing: a warning counts the
        duplicates.

    Raises
    ------
    InvalidParameterError
        If `q`, `risk_confidence` or `random_state` is outside its legal set.
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
    settings = {"q": q, "risk_confidence": risk_confidence, "random_state": random_state}
    check_parameters("compute_privacy_stats", settings, legal_sets(compute_privacy_stats))
    from skeval.privacy import PrivacyScore  # with all metrics of privacy: not wanted at import

    metric = PrivacyScore(q, risk_confidence, random_state=random_state)
    result = metric.fit(train, holdout, schema=schema).evaluate(synthetic)
    details = result.details
    return PrivacyStats(
        result.value, *(as_float(details.get(name, float("nan"))) for name in ("score_std", "risk"))
    )
