"""Several releases of one table: what they give away together, which none may alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.results.provenance import Date
from skeval.results.release import Stated
from skeval.results.several import TOGETHER, SeveralReleases
from skeval.suites.suite import MetricSuite


def several_releases(
    suite: MetricSuite,
    releases: Mapping[str, pd.DataFrame],
    *,
    epsilons: Mapping[str, float] | None = None,
    date: Date = None,
    release: Stated = None,
) -> SeveralReleases:
    """Evaluate releases of one table one by one, and as an attacker sees them who has all.

    The attacks of the suite are made on the union of the rows. Its tests ask whether train rows are
    told from holdout rows, given the synthetic ones, so that they keep their error for a union.

    Parameters
    ----------
    suite : MetricSuite
        Fitted to train and holdout: attacks on membership and attributes, and what else is asked.
    releases : mapping of str to DataFrame
        Two or more synthetic tables, by name.
    epsilons : mapping of str to float, optional
        The claim of differential privacy of each release, for the same unit and kind of neighbours.
    date, release
        As of :meth:`MetricSuite.evaluate`, for each and for all.

    Returns
    -------
    SeveralReleases
        The results of each release, of all together, and the sum of the claims.

    Warnings
    --------
    An attacker who knows which row is of which release may do better than one who has the union.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import ExactMatchShare
    >>> from skeval.suites.releases import several_releases
    >>> train, holdout, a, b = (make_mixed(50, random_state=seed) for seed in range(4))
    >>> suite = MetricSuite([("copies", ExactMatchShare())]).fit(train, holdout)
    >>> found = several_releases(suite, {"a": a, "b": b}, epsilons={"a": 1.0, "b": 0.5})
    >>> found.together["copies"].value, found.epsilon
    (0.0, 1.5)
    """
    if len(releases) < 2 or TOGETHER in releases:
        raise InvalidParameterError(
            "several_releases: releases must be two or more tables, none named 'together', got "
            f"{', '.join(releases) or 'none'}. A single one is evaluated by suite.evaluate."
        )
    epsilon = _sum_of_claims(list(releases), epsilons)
    measure = partial(suite.evaluate, date=date, release=release)
    each = {name: measure(table) for name, table in releases.items()}
    together = measure(pd.concat(list(releases.values()), ignore_index=True))
    return SeveralReleases(together, each, epsilon)


def _sum_of_claims(names: Sequence[str], epsilons: Mapping[str, float] | None) -> float | None:
    claims = epsilons or {}
    unknown = [name for name in claims if name not in names]
    if unknown or not all(claim >= 0 for claim in claims.values()):
        raise InvalidParameterError(
            "several_releases: epsilons must be numbers of at least 0 by the name of a release, "
            f"got {dict(claims)}. Releases are {', '.join(names)}."
        )
    return math.fsum(claims.values()) if set(claims) == set(names) else None
