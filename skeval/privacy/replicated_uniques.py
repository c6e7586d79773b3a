"""Fraction of training rows that are unique in the training data and in the release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.privacy.equivalence_classes import ClassMetric, share_in_small
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.steps.contrasts import share_contrast, with_contrast
from skeval.utils.formatting import percent


@declared
class ReplicatedUniques(ClassMetric):
    r"""Fraction of training rows that are unique in the training data and in the release.

    An attacker knows that an individual has unique quasi-identifiers in the training data. If one
    synthetic row has the same combination, it looks like the record of this individual, and its
    other columns are used as the values of the individual. The value is 0 if no row is replicated
    and 1 if all rows are replicated. Lower is better.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from elsewhere. If None, all columns are used. Then only
        copied rows are replicated, up to the bins.

    Warnings
    --------
    Rows that share their quasi-identifiers with another training row do not count. An attacker who
    knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KAnonymity : Size of the smallest class of synthetic rows.
    KMap : Smallest number of population rows that match a synthetic row.
    SinglingOutRisk : An attack on records that a single predicate describes.

    Notes
    -----
    Let T be the training rows and S the synthetic rows. Over the combinations c, the value is

    .. math:: \frac{1}{n_T} \sum_c [|T \cap c| = 1] \, [|S \cap c| = 1]

    A missing value is a separate value. ``details`` contains the same count as a fraction of the
    unique training rows (`of_uniques`, nan without such rows), the fractions of unique rows in the
    training data (`uniques`) and in the synthetic table (`uniques_synthetic`), and the fraction of
    training rows that are unique and whose combination was released at least once (`released`).

    A copy scores `uniques`, the largest possible value. Holdout rows and noise also replicate some
    rare combinations. Therefore, the baseline is the value of holdout rows, and only the excess is
    due to the generator. A table that is copied twice scores 0, because it has no unique rows, but
    `released` does not decrease. The value depends on the number of synthetic rows, because few
    rows hit few combinations, and many rows hit the same combination twice.

    The p-value is one-sided and exact. It uses the real rows that are unique in training and
    holdout data together and have exactly one synthetic row. The test compares the number of
    training rows among them with random choices of the training rows. The test needs a holdout. Its
    bins are computed on training and holdout data together. Bins that are computed on the training
    data alone contain equal numbers of training rows, so that more training rows are unique. Such
    bins would give false alarms for up to 12% of releases without a leak, compared with at most 5%
    for the bins used.

    The interval is Wilson's interval for a fraction of training rows, for the mean over tables of
    this kind. Rows are not independent, because one row may make another row not unique. However,
    rare combinations are hit nearly independently, and in simulations the variance of the count was
    at most the variance of a binomial.

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
        tables = self._counts(context, "train", "holdout", "synthetic", neutral=True)
        p_value, contrast = replicated_evidence(*tables)
        return replace(result, p_value=p_value, contrast=contrast)

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of train rows are alone with their quasi-identifiers and "
            "have exactly one synthetic row with the same"
        )
        return with_contrast(lead, result)


def replicated_evidence(
    train: np.ndarray, holdout: np.ndarray, synthetic: np.ndarray
) -> tuple[float, Contrast]:
    """Compare unique training rows with exactly one synthetic row with unique holdout rows.

    Uniqueness among all real rows does not depend on which of them are training rows.
    """
    replicated = (train + holdout == 1) & (synthetic == 1)
    k, k_other = int(train[replicated].sum()), int(holdout[replicated].sum())
    what = "train rows unique among all real ones with exactly one synthetic row like them"
    return share_contrast(what, k, int(train.sum()), k_other, int(holdout.sum()))


def replicated_uniques(train: np.ndarray, synthetic: np.ndarray) -> tuple[int, int]:
    """Return the numbers of classes with one row in both tables, and with one training row."""
    unique = train == 1
    return int((unique & (synthetic == 1)).sum()), int(unique.sum())
