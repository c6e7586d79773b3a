"""Whom a release points at among a population, and whether they were in train."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet, unmet
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.privacy.k_anonymity import SmallestClassMetric
from skeval.privacy.kmeans_clusters import ClusterableMetric, too_few_to_cluster
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.matches import match_contrast, mean_on_train
from skeval.steps.contrasts import contrast_of, with_contrast
from skeval.utils.formatting import number, percent

_N_PERMUTATIONS = 1999
_NO_POPULATION = (
    "compares train with the population, and there are no holdout rows for the rest of it."
)
_NO_MATCH = "no synthetic row has a combination of quasi-identifiers that the real tables have."


@declared
class KMap(SmallestClassMetric):
    r"""Fewest real people behind a synthetic row: 1 if a row points at one person, more is better.

    An attacker has a register of the population, and looks up each synthetic row in it by the
    quasi-identifiers. The value is the least number of people that match, over the rows that match
    anyone.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all; then hardly a synthetic row
        matches, and the value is 1 or not defined. Name those that matter.
    k0 : int, default=5
        The number of people that counts as large enough in ``details["below_k0"]``.

    Warnings
    --------
    People who are in neither train nor holdout do not count. An attacker who knows other columns
    than the quasi-identifiers may find more.

    See Also
    --------
    KAnonymity : Size of the smallest class of synthetic rows.
    DeltaPresence : Share of train among the people of a class.
    ReplicatedUniques : Rows that are unique in train and in the release.

    Notes
    -----
    With the synthetic rows S and the population P, which is train and the holdout together, or
    train alone where there is none, the value is

    .. math:: \min_{c: S \cap c, P \cap c \ne \emptyset} |P \cap c|

    over classes c. Pass the rest of a population register as the holdout. nan if no synthetic row
    matches. Missing is a value of its own.

    ``details`` has the number of synthetic combinations without a match (`unmatched`) and the share
    of synthetic rows that have them (`unmatched_rows`), the shares of matched rows that point at
    one person (`uniques`) or at fewer than `k0` (`below_k0`), and the value of train in the
    synthetic place (`train`).

    In mode "cluster" k-means is fitted to train with 2, 5, 10 and 15 clusters, and the value is the
    least number of synthetic rows in a cluster that has any. It asks whether the release covers
    train evenly: a copy scores more than noise.

    A row that points at one person need not be true of them, nor need that person be in train:
    the value is neither necessary nor sufficient for privacy, and fresh rows have k-map 1 as soon
    as they hit a rare combination. A copy scores `train`, which is 1 as soon as a person in train
    is unique in the population. Holdout rows are part of the population, so that in the baseline
    each matches. It describes the release and makes no test. There is no interval: the least of
    many counts is not estimated by a sample.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
    Fuzziness and Knowledge-Based Systems 10 (2002), doi:10.1142/S0218488502001648.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import KMap
    >>> people = pd.DataFrame({"town": list("aaabbc")})
    >>> KMap().fit(people).score(pd.DataFrame({"town": list("abd")}))
    2.0
    """

    def _compute(self, context: Context) -> Result:
        if self.mode == "equivalence":
            return fewest_real_rows(*self._population(context), self.k0)
        tables = self._clusters(context)
        least = [int(synthetic[synthetic > 0].min()) for _, synthetic in tables]
        return Result(float(min(least))) if least else too_few_to_cluster("train")

    def _summary(self, result: Result) -> str:
        if self.mode == "cluster":
            return f"The cluster with the fewest synthetic rows has {result.value:.0f}."
        rows = "1 real row" if result.value == 1 else f"{result.value:.0f} real rows"
        return f"The rarest released combination of quasi-identifiers fits {rows}."


@declared
class DeltaPresence(ClusterableMetric):
    r"""How sure a release makes that a person is in train: 1 if certain of one, 0 if excluded.

    An attacker knows the quasi-identifiers of a person of the population, and asks whether the
    person was in train: a patient of the clinic, a debtor. Among the people of the population that
    share a released combination, some share was in train; the value is the greatest such share.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere. None takes all; then hardly a combination is
        shared, and the value is 1 or not defined. Name those that matter.

    Raises
    ------
    MissingInputError
        At fit, in mode "equivalence" without a holdout: in a population that is train itself
        everyone is present.

    Warnings
    --------
    People who are in neither train nor holdout do not count. An attacker who knows other columns
    than the quasi-identifiers may find more.

    See Also
    --------
    KMap : Fewest people of the population behind a synthetic row.
    MembershipInference : Attacks that use all columns.

    Notes
    -----
    With the rows T of train in the population P, train and holdout together, the value is

    .. math:: \max_c \frac{|T \cap c|}{|P \cap c|}

    over the classes c that have synthetic rows and rows of the population; nan if there is none.
    Missing is a value of its own. ``details["range"]`` has the least and the greatest share,
    `class_size` the number of real rows in the largest class with the greatest share, `prior` the
    share of train in the population, which is what is known without a release, `mean` the share
    over all released classes, `certain` the share of train rows in released classes that
    are all train, and `unmatched` and `unmatched_rows` the combinations and synthetic rows that
    nobody has.

    The baseline is the same with holdout rows asked for, one minus the least share: where train
    and holdout have equal sizes and the release depends on neither more, both have one
    distribution.

    The p-value is one-sided: of the real rows in released classes, the share in classes of train
    rows alone, less that in classes of holdout rows alone, is held against random choices of which
    real rows were train. All are equally likely if none was learned, up to the bins, which are cut
    from train. Mode "cluster" has no test.

    In mode "cluster" k-means is fitted to train with 2, 5, 10 and 15 clusters, the
    value is the greatest ``|train in c| / (|synthetic in c| + 1e-8)``, which has no upper bound,
    and the baseline has holdout rows in the synthetic place. It asks whether the release covers
    train evenly: a copy scores less than noise.

    Shares of small classes are 0 or 1 by chance: fresh rows score 1 as soon as they hit a person
    who is unique in train, and so does a copy. Compare `certain` and `mean` with `prior`. Rows of
    the release are no persons, and the value is neither necessary nor sufficient for privacy. There
    is no interval: the greatest of many shares is not estimated by a sample.

    References
    ----------
    M. E. Nergiz, M. Atzori, C. Clifton, "Hiding the presence of individuals from shared databases",
    ACM SIGMOD (2007), doi:10.1145/1247480.1247554.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import DeltaPresence
    >>> train = pd.DataFrame({"town": list("aab"), "age": [31, 42, 53]})
    >>> others = pd.DataFrame({"town": list("abbc"), "age": [64, 75, 86, 97]})
    >>> release = pd.DataFrame({"town": list("abc"), "age": [35, 60, 70]})
    >>> round(DeltaPresence(["town"]).fit(train, others).score(release), 4)
    0.6667
    """

    # in mode "cluster" a ratio of counts
    tags = replace(DISCLOSURE_TAGS, bounds=(0.0, float("inf")))

    def unmet_need(self, context: Context) -> Unmet | None:
        """Say which need of the metric the real tables leave unmet, and the cure; None if none."""
        if self.mode == "equivalence" and "holdout" not in context:
            return unmet("holdout", type(self).__name__, _NO_POPULATION)
        return super().unmet_need(context)

    def _compute(self, context: Context) -> Result:
        if self.mode == "equivalence":
            return greatest_presence(*self._population(context))
        most = [
            (train[synthetic > 0] / (synthetic[synthetic > 0] + 1e-8)).max()
            for train, synthetic in self._clusters(context)
        ]
        return Result(float(max(most))) if most else too_few_to_cluster("train")

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if self.mode == "cluster" or np.isnan(result.value):
            return result
        p_value, contrast = presence_evidence(context, *self._population(context))
        return replace(result, p_value=p_value, contrast=contrast)

    def _summary(self, result: Result) -> str:
        if self.mode == "cluster":
            return f"In some cluster, {number(result.value)} train rows share one synthetic row."
        details = result.details
        prior, other = percent(details["prior"]), percent(result.baseline)
        n_rows, share = int(details["class_size"]), percent(result.value)
        rows = f"{n_rows:,} real row{'' if n_rows == 1 else 's'}"
        lead = (
            f"In a released class of {rows} {share} are from train, in another {other} from the "
            f"holdout; of all real rows {prior} are from train"
        )
        return with_contrast(lead, result)


def fewest_real_rows(
    train: np.ndarray, population: np.ndarray, released: np.ndarray, k0: int
) -> Result:
    """Return the fewest real rows that a released class has, from the rows of each class."""
    matched, missed = (population > 0) & (released > 0), unmatched_counts(population, released)
    if not matched.any():
        return undefined_result(_NO_MATCH, **missed)
    rows = np.repeat(population[matched], released[matched])
    details = {"uniques": float(np.mean(rows == 1)), "below_k0": float(np.mean(rows < k0))}
    of_train = int(population[train > 0].min())
    return Result(float(rows.min()), details={**details, **missed, "train": of_train})


def greatest_presence(train: np.ndarray, population: np.ndarray, released: np.ndarray) -> Result:
    """Return the greatest share of train in a released class, from the rows of each class."""
    shares, hit = presence(train, population, released), released > 0
    prior, missed = float(train.sum() / population.sum()), unmatched_counts(population, released)
    if shares.size == 0:
        return undefined_result(_NO_MATCH, prior=prior, **missed)
    least, greatest = float(shares.min()), float(shares.max())
    details = {
        "range": [least, greatest],
        "class_size": int(population[hit & (population > 0)][shares == greatest].max()),
        "prior": prior,
        "mean": float(train[hit].sum() / population[hit].sum()),
        "certain": float(train[hit & (train == population)].sum() / train.sum()),
    }
    return Result(greatest, baseline=1.0 - least, details={**details, **missed})


def presence_evidence(
    context: Context, train: np.ndarray, population: np.ndarray, released: np.ndarray
) -> tuple[float, Contrast | None]:
    """Test whether more of the real rows in released classes are with train rows alone."""
    met = np.where(released > 0, population, 0)
    real = train, population - train
    test = match_contrast(met, *real, n_permutations=_N_PERMUTATIONS, seed=0)
    copies, (n_train, n_holdout) = population[met > 0], (int(of.sum()) for of in real)
    weights = met[met > 0] / met.sum()
    with_holdout = mean_on_train(copies, weights, n_holdout, n_train + n_holdout)
    test = replace(test, on_train=1.0 - with_holdout)
    alone = float(met[train == population].sum() / met.sum())
    what = "real rows of released classes that only train rows are in"
    said = "that only holdout rows are in"
    return test.p_value, contrast_of(context, what, alone, test, reference=said)


def unmatched_counts(population: np.ndarray, released: np.ndarray) -> dict[str, Any]:
    """Return how many released classes, and what share of released rows, no real row has."""
    missed = (population == 0) & (released > 0)
    return {
        "unmatched": int(missed.sum()),
        "unmatched_rows": float(released[missed].sum() / released.sum()),
    }


def presence(train: np.ndarray, population: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the share of train among the population, for each released class of the population."""
    present = (released > 0) & (population > 0)
    return train[present] / population[present]
