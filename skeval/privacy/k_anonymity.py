"""k-anonymity, the size of the smallest group of rows with equal quasi-identifiers."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.privacy.equivalence_classes import share_in_small
from skeval.privacy.kmeans_clusters import CAP, ClusterableMetric, clusters, too_few_to_cluster
from skeval.results.result import Result
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count


@declared
class SmallestClassMetric(ClusterableMetric):
    """Base class of metrics of the smallest class, or of the smallest cluster as in synthcity.

    Parameters
    ----------
    k0 : int, default=5
        Class size that is large enough in ``details["below_k0"]``.
    """

    tags = replace(
        DISCLOSURE_TAGS,
        greater_is_better=True,
        bounds=(1.0, float("inf")),
        risks=frozenset({"singling out"}),
    )

    _: KW_ONLY
    k0: Count = 5


@declared
class KAnonymity(SmallestClassMetric):
    r"""Size of the smallest class of rows with equal quasi-identifiers (k-anonymity).

    An attacker who knows the quasi-identifiers of an individual (age, postcode, occupation)
    searches for them in the synthetic table. Rows that agree in all of them cannot be
    distinguished. The value is the number of rows in the smallest such class, from 1 (a row is
    unique) to the number of rows. Higher is better.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from elsewhere. If None, all columns are used. Then nearly
        every row is unique and the value of any table is 1, so it is better to name the relevant
        columns.

    Warnings
    --------
    Large classes do not protect the sensitive values in them. If all rows of a class have the same
    sensitive value, it is disclosed. An attacker who knows other columns than the quasi-identifiers
    may find more.

    See Also
    --------
    KMap : Counts rows of the population instead of synthetic rows.
    ReplicatedUniques : Rows that are unique in the training and in the synthetic data.
    LDiversity, TCloseness : Measure the sensitive values within the classes.

    Notes
    -----
    For the classes c of the synthetic table S, the value is

    .. math:: \min_c |S \cap c|

    A missing value is a separate value. ``details`` contains the fraction of unique rows
    (`uniques`), the fraction of rows in classes of fewer than `k0` rows (`below_k0`), the number of
    classes, and the same numbers for the training data (`train`).

    In mode "cluster", the value is the size of the smallest cluster over k-means with 2, 5, 10 and
    15 clusters of the synthetic rows, at most 999. Numbers of clusters with fewer than ten rows per
    cluster are skipped.

    Synthetic rows do not describe individuals, so k-anonymity of a synthetic table is neither
    necessary nor sufficient for privacy. A unique synthetic row may not match a record, and
    training data that are copied twice have k of at least 2. A copy scores the value of the
    training data, and holdout rows score nearly the same. Noise scores more for few combinations
    and 1 for many. Compare with `train` and with the baseline, the value of holdout rows, and
    prefer :class:`~skeval.privacy.ReplicatedUniques`, which uses the training data.

    The metric describes the release and does not test it. The value increases with the number of
    rows. The metric has no interval, because the smallest class of a sample is not informative
    about the smallest class of the population.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
    Fuzziness and Knowledge-Based Systems 10 (2002), doi:10.1142/S0218488502001648.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import KAnonymity
    >>> table = pd.DataFrame({"town": list("aabbbc")})
    >>> KAnonymity().fit(table).score(table), KAnonymity().fit(table).score(table[:5])
    (1.0, 2.0)
    """

    def _compute(self, context: Context) -> Result:
        roles, columns = ("synthetic", "train"), self._columns(context.schema)
        if self.mode == "cluster":
            k, of_train = (smallest_cluster(clusters(context, r, columns, r)) for r in roles)
            if k is None:
                return too_few_to_cluster("synthetic")
            return Result(k, details={"train": {"k": of_train}})
        released, train = (profile(self._counts(context, role)[0], self.k0) for role in roles)
        return Result(float(released["k"]), details={**released, "train": train})

    def _summary(self, result: Result) -> str:
        if self.mode == "cluster":
            return f"The smallest cluster of synthetic rows has {result.value:.0f}."
        smallest = f"The smallest class of rows with equal quasi-identifiers has {result.value:.0f}"
        uniques = percent(result.details["uniques"])
        return f"{smallest}, and {uniques} of the rows are unique."


def profile(sizes: np.ndarray, k0: int) -> dict[str, Any]:
    """Return the size of the smallest class, and the shares of rows in small ones."""
    return {
        "k": int(sizes.min()),
        "uniques": share_in_small(sizes, 2),
        "below_k0": share_in_small(sizes, k0),
        "n_classes": sizes.size,
    }


def smallest_cluster(runs: tuple[np.ndarray, ...]) -> float | None:
    """Return the size of the smallest cluster over several runs, or None without clusters."""
    return float(min(CAP, *(np.bincount(labels).min() for labels in runs))) if runs else None
