"""Number of real rows that match a release, and the fraction of them in the training data."""

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
_NO_POPULATION = "compares train with the population, which needs the rest of it as the holdout."
_NO_MATCH = "no synthetic row has a combination of quasi-identifiers that the real tables have."


@declared
class KMap(SmallestClassMetric):
    r"""Smallest number of real records that match a synthetic row (k-map).

    An attacker has a register of the population and uses the quasi-identifiers to find the records
    that match each synthetic row. The value is the smallest number of matching records, over the
    synthetic rows with a match. The value is 1 if a synthetic row matches only one record. Higher
    is better.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from elsewhere. If None, all columns are used. Then a
        synthetic row rarely matches, and the value is 1 or not defined, so it is better to name the
        relevant columns.
    k0 : int, default=5
        Number of records that is large enough in ``details["below_k0"]``.

    Warnings
    --------
    People who are neither in the training nor in the holdout data do not count. An attacker who
    knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KAnonymity : Size of the smallest class of synthetic rows.
    DeltaPresence : Fraction of training rows among the population rows of a class.
    ReplicatedUniques : Rows that are unique in the training and in the synthetic data.

    Notes
    -----
    Let S be the synthetic rows and P the population, that is, training and holdout data together,
    or the training data alone if no holdout is given. The value is

    .. math:: \min_{c: S \cap c, P \cap c \ne \emptyset} |P \cap c|

    over classes c. Pass the rest of a population register as the holdout. The value is nan if no
    synthetic row matches. A missing value is a separate value.

    ``details`` contains the number of synthetic combinations without a match (`unmatched`), the
    fraction of synthetic rows with these combinations (`unmatched_rows`), the fraction of matched
    rows with exactly one real record (`uniques`) or with fewer than `k0` (`below_k0`), and the
    value of the training data in place of the synthetic data (`train`).

    In mode "cluster", k-means is fitted to the training data with 2, 5, 10 and 15 clusters. The
    value is the smallest number of synthetic rows in a cluster with synthetic rows. This mode
    evaluates whether the release covers the training data evenly, so a copy scores more than noise.

    A synthetic row that matches one record need not be true for that individual, and the individual
    need not be in the training data. Therefore, the value is neither necessary nor sufficient for
    privacy, and holdout rows have k-map 1 if they match a rare combination. A copy scores `train`,
    which is 1 if a training record is unique in the population. Holdout rows are part of the
    population, so each of them has a match in the baseline. The metric describes the release and
    does not test it. The metric has no interval, because a sample cannot estimate the smallest of
    many counts.

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
    r"""Largest fraction of training records among real records of a class (delta-presence).

    An attacker knows the quasi-identifiers of an individual of the population, and asks whether the
    individual was in the training data, for example as a patient of a clinic. For each released
    combination, the metric computes the fraction of matching real records that are training
    records. The value is the largest fraction. The value is 1 if the presence is certain for one
    class. It is 0 if the presence is excluded for all classes. Lower is better.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from elsewhere. If None, all columns are used. Then
        combinations are rarely shared, and the value is 1 or not defined, so it is better to name
        the relevant columns.

    Raises
    ------
    MissingInputError
        At fit, in mode "equivalence" without a holdout, because all records of the population would
        be training records.

    Warnings
    --------
    People who are neither in the training nor in the holdout data do not count. An attacker who
    knows other columns than the quasi-identifiers may find more.

    See Also
    --------
    KMap : Smallest number of population rows that match a synthetic row.
    MembershipInference : Attacks that use all columns.

    Notes
    -----
    Let T be the training rows in the population P, training and holdout data together. The value is

    .. math:: \max_c \frac{|T \cap c|}{|P \cap c|}

    over the classes c that have synthetic rows and rows of the population, or nan without such
    classes. A missing value is a separate value. ``details["range"]`` contains the smallest and the
    largest fraction. `class_size` is the number of real rows in the largest class with the largest
    fraction. `prior` is the fraction of training rows in the population, which an attacker knows
    without a release. `mean` is the fraction over all released classes. `certain` is the fraction
    of training rows in released classes that contain training rows only. `unmatched` and
    `unmatched_rows` are the combinations and synthetic rows without a real record.

    The baseline is the same value for holdout rows, that is, one minus the smallest fraction. If
    training and holdout data have equal sizes and the release does not depend more on one of them,
    value and baseline have the same distribution.

    The p-value is one-sided. Among the real rows in released classes, the statistic is the fraction
    in classes of training rows only, minus the fraction in classes of holdout rows only. The
    statistic is compared with its value for random choices of the training rows. If the generator
    memorized nothing, all choices are equally likely, except for the bins, which are computed on
    the training data. Mode "cluster" has no test.

    In mode "cluster", k-means is fitted to the training data with 2, 5, 10 and 15 clusters. The
    value is the largest ``|train in c| / (|synthetic in c| + 1e-8)``, which has no upper bound. The
    baseline uses holdout rows in place of the synthetic rows. This mode evaluates whether the
    release covers the training data evenly, so a copy scores less than noise.

    In small classes, the fraction is often 0 or 1 for random reasons. Both holdout rows and a copy
    score 1 if they match a record that is unique in the training data. Compare `certain` and `mean`
    with `prior`. Synthetic rows do not describe individuals, and the value is neither necessary nor
    sufficient for privacy. The metric has no interval, because a sample cannot estimate the largest
    of many fractions.

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

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the requirement that the real tables do not meet and how to meet it, or None."""
        if self.mode == "equivalence" and "holdout" not in context:
            return unmet("holdout", type(self).__name__, _NO_POPULATION)
        return super().missing_input(context)

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
            f"In a released class of {rows}, {share} are from train. In another class, {other} are "
            f"from the holdout. Of all real rows, {prior} are from train"
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
    """Return the largest fraction of training rows in a released class."""
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
    """Return the number of released classes and fraction of rows without a real row."""
    missed = (population == 0) & (released > 0)
    return {
        "unmatched": int(missed.sum()),
        "unmatched_rows": float(released[missed].sum() / released.sum()),
    }


def presence(train: np.ndarray, population: np.ndarray, released: np.ndarray) -> np.ndarray:
    """Return the fraction of training rows in each released class that occurs in the population."""
    present = (released > 0) & (population > 0)
    return train[present] / population[present]
