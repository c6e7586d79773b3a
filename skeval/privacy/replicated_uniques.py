"""Share of training rows that are unique in the training data and in the release."""

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
    r"""Share of train rows that are unique there and in the release: 0 if none, 1 if all.

    An attacker knows that a person is the only one in train with their quasi-identifiers. A
    synthetic row that is the only one with the same combination looks like that person's record,
    and its other columns are taken to be theirs.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all, and then only rows that the
        generator copied are replicated, up to the bins.

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

    The p-value is one-sided and exact: of the real rows that are unique among train and holdout
    together and have exactly one synthetic row, it asks whether more are train than a random choice
    of the train rows would have. It needs a holdout. Its bins are of train and holdout together.
    Bins of train hold train rows in equal numbers, so that more of them are unique, and would
    accuse up to 12% of releases of generators that have learned nothing; these accuse at most 5%.

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
    """Hold train rows that are alone, and have one synthetic row, against such holdout rows.

    Who is unique among all real rows does not depend on which of them are train.
    """
    replicated = (train + holdout == 1) & (synthetic == 1)
    k, k_other = int(train[replicated].sum()), int(holdout[replicated].sum())
    what = "train rows unique among all real ones with exactly one synthetic row like them"
    return share_contrast(what, k, int(train.sum()), k_other, int(holdout.sum()))


def replicated_uniques(train: np.ndarray, synthetic: np.ndarray) -> tuple[int, int]:
    """Return how many classes have one row in both tables, and how many have one row in train."""
    unique = train == 1
    return int((unique & (synthetic == 1)).sum()), int(unique.sum())
