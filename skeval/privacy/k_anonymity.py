"""k-anonymity: the size of the smallest group of rows with equal quasi-identifiers."""

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
    """Base of the measures of the smallest class, or of the smallest cluster as synthcity has it.

    Parameters
    ----------
    k0 : int, default=5
        The class size that counts as large enough in ``details["below_k0"]``.
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
    r"""Size of the smallest group of alike rows: 1 if a row stands alone, n if all are alike.

    An attacker who knows the quasi-identifiers of a person (age, postcode, occupation) looks for
    them in the synthetic table. Rows that agree in all of them cannot be distinguished; the value
    is the number of rows in the smallest such class.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then nearly every row
        stands alone and the value of any table is 1; name those that matter.

    Warnings
    --------
    Large classes say nothing of the secrets in them: if all rows of a class have one secret, it is
    disclosed. An attacker who knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KMap : Counts people of the population instead of synthetic rows.
    ReplicatedUniques : Rows that are unique in train and in the release.
    LDiversity, TCloseness : How sensitive values are distributed within the classes.

    Notes
    -----
    With the classes c of the synthetic table S, the value is

    .. math:: \min_c |S \cap c|

    Missing is a value of its own. ``details`` has the share of rows that stand alone (`uniques`),
    of rows in classes of fewer than `k0` (`below_k0`), the number of classes, and under `train` the
    same of train.

    In mode "cluster" the value is the size of the smallest cluster over k-means with 2, 5, 10 and
    15 clusters of the synthetic rows, at most 999; numbers that leave fewer than ten rows a cluster
    are skipped.

    Synthetic rows are no persons, so that k-anonymity of a synthetic table is neither necessary
    nor sufficient for privacy: a lone synthetic row need not be anyone, and a copy of train
    written out twice has k of at least 2. A copy scores what train scores, fresh rows nearly the
    same; noise scores more over few combinations and 1 over many. Compare with `train` and with the
    baseline, the value of holdout rows; and prefer
    :class:`~skeval.privacy.ReplicatedUniques`, which looks at train.

    It describes the release and makes no test. The value grows with the number of rows. There is
    no interval: the smallest class of a sample says little about the smallest of the population.

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
        return f"{smallest}; {uniques} of rows are alone in theirs."


def profile(sizes: np.ndarray, k0: int) -> dict[str, Any]:
    """Return the size of the smallest class, and the shares of rows in small ones."""
    return {
        "k": int(sizes.min()),
        "uniques": share_in_small(sizes, 2),
        "below_k0": share_in_small(sizes, k0),
        "n_classes": sizes.size,
    }


def smallest_cluster(runs: tuple[np.ndarray, ...]) -> float | None:
    """Return the size of the smallest cluster over several runs; None if there are none."""
    return float(min(CAP, *(np.bincount(labels).min() for labels in runs))) if runs else None
