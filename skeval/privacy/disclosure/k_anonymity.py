"""Groups of equal rows: how large, and whom of train they single out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from skeval.context import Context
from skeval.formatting import percent
from skeval.privacy.disclosure.equivalence_classes import (
    CAP,
    ClassMetric,
    SmallestClassMetric,
    clusters,
    too_few_to_cluster,
)
from skeval.result import Result
from skeval.stats.relabelling import least_p_value, share_p_value
from skeval.steps.exposure import advice_on_leak
from skeval.steps.samples import column_key
from skeval.tags import DISCLOSURE_TAGS
from skeval.verdict import Contrast


class KAnonymity(SmallestClassMetric):
    r"""Size of the smallest group of alike rows: 1 if a row stands alone, n if all are alike.

    An attacker who knows the quasi-identifiers of a person (age, postcode, occupation) looks for
    them in the synthetic table. Rows that agree in all of them cannot be told apart; the value is
    the number of rows in the smallest such class.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then nearly every row
        stands alone and the value is 1 whatever the table; name those that matter.
    n_bins : int or mapping of str to list, default=10
        Into how many bins of equal share of train numbers and dates are cut, besides cells for
        frequent values (see :class:`~skeval.Discretizer`), or the inner edges of the bins by
        column, in the column's unit or as date strings; ten bins for columns not named. A column
        with no more distinct values than bins has one bin a value.
    k0 : int, default=5
        The class size that counts as large enough in ``details["below_k0"]``.
    mode : {"equivalence", "cluster"}, default="equivalence"
        Classes of equal rows; or the clusters of k-means that synthcity counts, for comparison
        with its values only.

    Attributes
    ----------
    context_ : Context
        The real tables.

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

    tags = replace(SmallestClassMetric.tags, risks=frozenset({"singling out"}))

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


class ReplicatedUniques(ClassMetric):
    r"""Share of train rows that are unique there and in the release: 0 if none, 1 if all.

    An attacker knows that a person is the only one in train with their quasi-identifiers. A
    synthetic row that is the only one with the same combination looks like that person's record,
    and its other columns are taken to be theirs.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then only rows that the
        generator copied are replicated, up to the bins.
    n_bins : int or mapping of str to list, default=10
        Bins of equal share of train for numbers and dates, besides cells for frequent values (see
        :class:`~skeval.Discretizer`), or the inner edges by column.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Warnings
    --------
    Rows that share their quasi-identifiers with another row of train do not count. An attacker who
    knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KAnonymity : Size of the smallest class of synthetic rows.
    KMap : Fewest people of the population behind a synthetic row.
    SinglingOutRisk : An attack on persons that one predicate describes.

    Notes
    -----
    With T the rows of train and S the synthetic rows that have a combination c, the value is

    .. math:: \frac{1}{n_T} \sum_c [|T \cap c| = 1] \, [|S \cap c| = 1]

    Missing is a value of its own. ``details`` has the same count as a share of the rows unique in
    train (`of_uniques`, nan if there are none), the shares of unique rows in train (`uniques`) and
    in the synthetic table (`uniques_synthetic`), and the share of train rows that are unique and
    whose combination was released at all, however often (`released`).

    A copy scores `uniques`, the greatest value possible. Fresh rows replicate rare combinations by
    chance, and so does noise. Hence the baseline, the value of holdout rows: only the excess is the
    generator's. A table written out twice scores 0, since nothing is unique in it; `released` does
    not fall for that. The value depends on the number of synthetic rows: few hit few combinations,
    and many hit the same one twice.

    The p-value is one-sided and, up to the bins, which are cut from train, exact: of the real rows
    that are unique among train and holdout together and have exactly one synthetic row, it asks
    whether more are train than a random choice of the train rows would have. It needs a holdout.

    The interval is Wilson's for a share over train rows, of the mean over tables like these. Rows
    are not independent, since one takes another's uniqueness; but rare combinations are hit nearly
    independently of each other, and in simulations the count varied as a binomial one does, or
    less.

    References
    ----------
    G. M. Raab, "Privacy risk from synthetic data: practical proposals", arXiv:2409.04257 (2024);
    known as repU in the R package synthpop.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ReplicatedUniques
    >>> train = pd.DataFrame({"town": list("abbc")})
    >>> ReplicatedUniques().fit(train).score(pd.DataFrame({"town": list("aacd")}))
    0.25
    """

    tags = replace(DISCLOSURE_TAGS, risks=frozenset({"singling out"}))

    def _compute(self, context: Context) -> Result:
        train, synthetic = self._counts(context, "train", "synthetic")
        n_replicated, n_unique = replicated_uniques(train, synthetic)
        n = int(train.sum())
        interval = binomtest(n_replicated, n).proportion_ci(method="wilson")
        return Result(
            n_replicated / n,
            interval=(float(interval.low), float(interval.high)),
            details={
                "of_uniques": n_replicated / n_unique if n_unique else float("nan"),
                "uniques": n_unique / n,
                "uniques_synthetic": share_in_small(synthetic, 2),
                "released": float(((train == 1) & (synthetic > 0)).sum() / n),
            },
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if "holdout" not in context:
            return result
        tables = self._counts(context, "train", "holdout", "synthetic")
        return replace(result, **replicated_evidence(*tables))

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.quasi_identifiers))

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of train rows are alone with their quasi-identifiers and "
            "have exactly one synthetic row with the same"
        )
        return f"{lead}." if result.contrast is None else f"{lead}; {result.contrast}."


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


def share_in_small(counts: np.ndarray, k: int) -> float:
    """Return the share of rows in classes of fewer than `k` rows: 0 if none, 1 if all.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        Rows in each class; not all 0.
    k : int
        The size that is large enough.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.disclosure.k_anonymity import share_in_small
    >>> share_in_small(np.array([1, 1, 6]), 2)
    0.25
    """
    return float(counts[counts < k].sum() / counts.sum())


def replicated_evidence(
    train: np.ndarray, holdout: np.ndarray, synthetic: np.ndarray
) -> dict[str, Any]:
    """Return the fields of a result that come of train and holdout rows in the same place.

    Who is unique among all real rows does not depend on which of them are train.
    """
    replicated = (train + holdout == 1) & (synthetic == 1)
    k, k_other = int(train[replicated].sum()), int(holdout[replicated].sum())
    n, n_other = int(train.sum()), int(holdout.sum())
    what = "train rows unique among all real ones with exactly one synthetic row like them"
    return {
        "p_value": share_p_value(k, n, k_other, n_other),
        "contrast": Contrast(
            what, k / n, k_other / n_other, "of holdout rows", least_p=least_p_value(n, n_other)
        ),
    }


def replicated_uniques(train: np.ndarray, synthetic: np.ndarray) -> tuple[int, int]:
    """Return how many classes have one row in both tables, and how many have one row in train.

    Parameters
    ----------
    train, synthetic : ndarray of shape (n_classes,)
        Rows of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.disclosure.k_anonymity import replicated_uniques
    >>> replicated_uniques(np.array([1, 2, 1, 0]), np.array([2, 0, 1, 1]))
    (1, 2)
    """
    unique = train == 1
    return int((unique & (synthetic == 1)).sum()), int(unique.sum())
