"""Identity disclosure: training records that an attacker matches and learns from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, field, replace

import numpy as np
from scipy.special import hyp2f1

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.tags import DISCLOSURE_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.privacy.equivalence_classes import ClassMetric, classes
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import wilson
from skeval.stats.joint_classes import class_counts
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.row_scores import exchange_p_value
from skeval.steps.contrasts import with_contrast
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, Fraction, Seed

_MAX_CLUSTERS = 20
_EXPLAINED = 0.99
_N_STEPS = 100
_TESTED = "bits of information that the synthetic data disclose about a train row"
_UNNAMED = (
    "needs the columns that an attacker may know of a record, but none is specified. Name them, "
    "for example IdentityDisclosure(['age', 'postcode'])."
)
_ALL_KNOWN = "every column is a quasi-identifier, so that there is nothing left to learn."


@declared
class IdentityDisclosure(ClassMetric):
    r"""Probability that an attacker matches a training record and learns something new.

    An attacker knows the quasi-identifiers of individuals (age, postcode, occupation), finds a
    synthetic row with the same values, and uses its other columns as the values of the individual.
    A match counts only if these values are correct and informative (a common value is not
    informative). The value is 0 if no record is matched and 1 if all training records are matched.
    Lower is better.

    Parameters
    ----------
    quasi_identifiers : int or list of str
        Columns that an attacker may know from elsewhere. The other columns can be learned. The
        values do not show which columns are quasi-identifiers, so they must be specified. They are
        the indirect identifiers of a release file. Its direct identifiers should not be in the
        table.
    population : int, optional
        Number of people from which the training data are a sample. None treats the training data as
        the whole population, which is conservative for a sample.
    learned : float, default=0.05
        Smallest fraction of the other columns that must be learned.
    verified : float, default=1
        Probability that the attacker verifies a correct match, given errors in the data. El Emam et
        al. use 0.23 times 0.9574 to the power of the number of quasi-identifiers.
    n_permutations : int, default=1999
        Maximum number of random choices of the training rows in the test.
    random_state : int, default=0
        Seed of these choices.

    Warnings
    --------
    An attacker who knows other columns than the quasi-identifiers, or approximate values, may find
    more. A column that follows from the quasi-identifiers is also learned for holdout records, so
    compare with the baseline.

    See Also
    --------
    ReplicatedUniques : Counts only unique rows that match a unique row.
    KMap : Smallest number of population rows that match a synthetic row.
    AttributeInferenceRisk : Infers one sensitive attribute with a model.

    Notes
    -----
    For a training row s, let f be the size of its class among the n training rows, and F the size
    of its class among the N rows of the population. I is 1 if a synthetic row is in the class, R is
    1 if something is learned, and v is `verified`. The value is the larger of

    .. math:: \frac{1}{N} \sum_s \frac{1}{f_s} \frac{1 + v}{2} I_s R_s, \qquad
              \frac{1}{n} \sum_s \frac{1}{F_s} \frac{1 + v}{2} I_s R_s

    The first sum describes an attacker who goes from the population to the sample, and the second
    the opposite direction. ``details`` contains both. If the training data are a sample, 1/F is
    replaced by its mean given f in the model of mu-Argus. In this model, the rows of the population
    that are not in the sample are negative binomial.

    A category is learned if a synthetic row of the class has it and less than half of the training
    rows do. A number x is learned if a synthetic row of the class has a y with :math:`p |x - y| \le
    1.48` MAD. Here p is the fraction of training rows in the cluster of x, by k-means in one
    dimension with the smallest number of clusters, at most 20, that explain 99% of the variance.
    Missing values are never learned. Each column is compared with the most favorable synthetic row
    of the class, so the value is overestimated rather than underestimated in large classes.

    The full text of the paper was not available. The two sums, the adjustment and the rules for
    categories and numbers were confirmed from other programs. The number of clusters follows one of
    these programs, and the choice among several synthetic rows was made for this package.
    Therefore, the metric does not reproduce the values of the paper. Its authors use 0.09, the
    threshold of the European Medicines Agency and Health Canada, for the risk.

    The baseline is the value for holdout rows that are attacked through the same synthetic table,
    each as if it were one more training row.

    The p-value does not count hits, because a release with many copies has only a few more hits
    than a release without copies. The test uses the probability that the release is this close to
    the other columns of a record without a leak. Let q be the fraction of all real rows that are at
    least as close to the value of the record as the nearest of the m synthetic rows of the class.
    Such a match has a probability of 1
    - (1 - q)^m and counts minus its binary logarithm in bits. A missing match counts 0. The bits of
    all columns are summed. The test compares the bits of the training rows with the bits of the
    same number of random real rows. For the test, classes use bins of all real rows, so that
    nothing depends on which rows are training rows. If a seventh of 300 rows in four settings are
    copies, the test finds them in 97% to 100% of releases, whereas a count of hits finds them in 0%
    to 30%.

    The interval is Wilson's interval for the number of rows that gives the variance of sums over
    classes, including the variance of the number of classes, because rows of a class are hit
    together. In 3,000 simulations of training data and release for each of 15 settings, the
    interval contained the mean in at least 96% of the simulations. Wilson's interval for all rows
    is up to 20 times as wide.

    References
    ----------
    K. El Emam, L. Mosquera, J. Bass, "Evaluating identity disclosure risk in fully synthetic health
    data", Journal of Medical Internet Research 22 (2020) e23139, doi:10.2196/23139.

    R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data
    dissemination", New Techniques and Technologies for Statistics (1998).

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import IdentityDisclosure
    >>> train = pd.DataFrame({"town": list("abbc"), "ill": ["flu", "no", "cold", "gout"]})
    >>> release = pd.DataFrame({"town": list("abcc"), "ill": ["flu", "cold", "no", "no"]})
    >>> IdentityDisclosure(["town"]).fit(train).score(release)
    0.375
    """

    tags = replace(DISCLOSURE_TAGS, risks=frozenset({"singling out"}), scaling="sampled")

    quasi_identifiers: Columns = field()  # the field of the base class has a default
    _: KW_ONLY
    population: Count | None = None
    learned: Fraction = 0.05
    verified: Fraction = 1.0
    n_permutations: Count = 1999
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        n_rows = context.n_rows("train")
        if self.population is not None and self.population < n_rows:
            raise InvalidParameterError(
                f"{type(self).__name__}: population must be at least {n_rows}, the rows of train, "
                f"got {self.population}. Omit it if train is the whole population."
            )

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet requirement that quasi-identifiers must be specified."""
        return super().missing_input(context) or (
            Unmet(_UNNAMED) if self.quasi_identifiers is None else None
        )

    def _compute(self, context: Context) -> Result:
        if not self._secrets(context):
            return undefined_result(_ALL_KNOWN)
        ((own, hit),), counts = self._classes_and_hits(context, "train")
        n, (size, released) = own.size, counts
        each = self._risks(hit, size[own], n)
        value = {name: float(term.mean()) for name, term in each.items()}
        worst = max(value, key=lambda name: value[name])
        low, high = interval_of_classes(own, each[worst])
        details = {"matched": float((released[own] > 0).mean()), "learned": float(hit.mean())}
        return Result(max(value.values()), interval=(low, high), details={**value, **details})

    def _in_relation(self, context: Context, result: Result) -> Result:
        if "holdout" not in context or np.isnan(result.value):
            return super()._in_relation(context, result)
        (_, (others, hit)), counts = self._classes_and_hits(context, "train", "holdout")
        each = self._risks(hit, counts[0][others] + 1, context.n_rows("train"))
        baseline = max(float(term.mean()) for term in each.values())
        p_value, contrast = self._test_bits(self._bits(context))
        return replace(result, baseline=baseline, p_value=p_value, contrast=contrast)

    def _test_bits(self, bits: tuple[np.ndarray, np.ndarray]) -> tuple[float, Contrast]:
        """Compare the bits of training rows with the bits of holdout rows."""
        sides = [(side, np.ones(side.size, dtype=np.int64)) for side in bits]
        trials = self.n_permutations
        p = exchange_p_value([(sides[0], sides[1])], n_permutations=trials, seed=self.random_state)
        train, holdout = (float(side.mean()) for side in bits)
        least = least_p_value(bits[0].size, bits[1].size, trials)
        return p, Contrast(_TESTED, train, holdout, "of holdout rows", share=False, least_p=least)

    def _bits(self, context: Context) -> tuple[np.ndarray, np.ndarray]:
        """Return how unlikely, in bits, values as close to each real row are without a leak."""
        columns, numeric = self._columns(context.schema), context.schema.columns(*NUMERIC)
        roles = ("train", "holdout", "synthetic")
        numbered, _ = classes(context, roles, columns, self.n_bins, neutral=True)
        own, released = np.concatenate(numbered[:2]), numbered[2]
        tries = np.bincount(released, minlength=own.max() + 1)[own]
        bits = np.zeros(own.size)
        for name in sorted(self._secrets(context)):  # sums of bits do not depend on the order
            *real, synthetic = (context.numbers(role, name) for role in roles)
            values = np.concatenate(real)
            gap = nearest_in_class(own, values, released, synthetic)
            if name not in numeric:
                gap[gap > 0] = np.inf
            bits += bits_of_match(gap, values, tries)
        return bits[: numbered[0].size], bits[numbered[0].size :]

    def _secrets(self, context: Context) -> list[str]:
        known = self._columns(context.schema)
        return [name for name in context.schema.measured if name not in known]

    def _classes_and_hits(
        self, context: Context, *roles: str
    ) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        """Return the class of each row and whether it is matched, by role, and the class sizes."""
        columns = self._columns(context.schema)
        numbered, weights = classes(context, (*roles, "synthetic"), columns, self.n_bins)
        secrets = self._secrets(context)
        hits = [
            news(self._learned_rows(context, role, own, numbered[-1]), len(secrets), self.learned)
            for role, own in zip(roles, numbered[:-1], strict=True)
        ]
        counts = class_counts(*numbered, weights=weights)
        return list(zip(numbered[:-1], hits, strict=True)), counts

    def _learned_rows(
        self, context: Context, role: str, own: np.ndarray, released: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield for each secret column which rows of a role it is learned of."""
        numeric = context.schema.columns(*NUMERIC)
        for name in self._secrets(context):
            train, rows, synthetic = (
                context.numbers(one, name) for one in ("train", role, "synthetic")
            )
            gap = nearest_in_class(own, rows, released, synthetic)
            if name in numeric:
                yield is_near(gap, rows, train)
            else:
                yield (gap == 0) & is_rare(rows, train)

    def _risks(self, hit: np.ndarray, size: np.ndarray, n: int) -> dict[str, np.ndarray]:
        """Return the terms of both directions, whose means are the risks."""
        n_people = self.population or n
        hits = hit * (1 + self.verified) / 2
        return {
            "population_to_sample": hits / size * (n / n_people),
            "sample_to_population": hits * mean_inverse_size(size, n / n_people),
        }

    def _summary(self, result: Result) -> str:
        share = percent(result.value)
        lead = (
            "The probability of matching a training record and learning something new about it is "
            f"{share}"
        )
        if result.baseline is not None:
            lead += f" ({percent(result.baseline)} for holdout records)"
        return with_contrast(lead, result)


def interval_of_classes(own: np.ndarray, terms: np.ndarray) -> tuple[float, float]:
    """Return the 95% interval of the mean of terms that the rows of a class have in common."""
    n, sizes = own.size, np.bincount(own)
    sums = np.bincount(own, terms)[sizes > 0] / n
    n_classes, value = sums.size, float(sums.sum())
    spread = sums.var() * n_classes**2 / max(1, n_classes - 1)
    variance = spread + sums.mean() ** 2 * np.count_nonzero(sizes == 1)
    independent = value * (1.0 - value) / n
    share = min(1.0, max(1.0 / n, variance / independent)) if independent > 0.0 else 1.0
    low, high = wilson(value * n / share, n / share)
    return min(low, value), max(high, value)


def bits_of_match(gap: np.ndarray, values: np.ndarray, tries: np.ndarray) -> np.ndarray:
    """Return how unlikely, in bits, it is that one of some other rows is as close to each value."""
    bits, near = np.zeros(values.size), np.isfinite(gap)
    known, (own, reach) = np.sort(values[~np.isnan(values)]), (values[near], gap[near])
    n_near = np.searchsorted(known, own + reach, "right") - np.searchsorted(known, own - reach)
    share = np.minimum(n_near / values.size, 1.0)
    with np.errstate(divide="ignore"):  # all are as near
        bits[near] = np.abs(np.log2(-np.expm1(tries[near] * np.log1p(-share))))
    return bits


def mean_inverse_size(size: np.ndarray, fraction: float) -> np.ndarray:
    """Return the mean of 1 / F for classes with f rows in a sample."""
    # F - f is negative binomial with f successes of chance `fraction` each, the model of
    # mu-Argus.
    sizes, back = np.unique(size, return_inverse=True)
    return np.asarray(hyp2f1(1.0, sizes, sizes + 1.0, 1.0 - 1.0 / fraction) / sizes)[back]


def news(learned: Iterator[np.ndarray], n_columns: int, least: float) -> np.ndarray:
    """Return which rows have this share of columns learned, one of them at least."""
    total = sum(learned)
    return np.asarray((total > 0) & (total >= least * n_columns))


def is_rare(rows: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return the categories that less than half of the training rows have."""
    known, counts = np.unique(train[~np.isnan(train)], return_counts=True)
    common = known[counts >= train.size / 2]
    return ~np.isin(rows, common)


def is_near(gap: np.ndarray, rows: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return the numbers that a release is close to, by the spread and the training clusters."""
    values = np.sort(train[~np.isnan(train)])
    if values.size == 0:
        return np.zeros(rows.size, dtype=bool)
    spread = 1.48 * np.median(np.abs(values - np.median(values)))
    centers, shares = clusters_of(values)
    cluster = np.searchsorted((centers[1:] + centers[:-1]) / 2, rows)
    return np.asarray(gap * shares[np.minimum(cluster, shares.size - 1)] <= spread)


def clusters_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centers and shares of the fewest clusters that explain 99% of sorted values."""
    total, n_distinct = values.var(), np.unique(values).size
    for k in range(1, min(_MAX_CLUSTERS, n_distinct) + 1):
        centers, labels = _lloyd(values, k)
        within = np.mean((values - centers[labels]) ** 2)
        if within <= (1 - _EXPLAINED) * total:
            break
    return centers, np.bincount(labels, minlength=centers.size) / values.size


def _lloyd(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return centers and labels of k-means in one dimension, begun at even places of the range."""
    centers = np.linspace(values[0], values[-1], 2 * k + 1)[1::2]
    for _ in range(_N_STEPS):
        labels = np.searchsorted((centers[1:] + centers[:-1]) / 2, values)
        counts = np.bincount(labels, minlength=centers.size)
        moved = np.bincount(labels, values, centers.size)[counts > 0] / counts[counts > 0]
        if np.array_equal(moved, centers):
            break
        centers = moved
    return centers, np.searchsorted((centers[1:] + centers[:-1]) / 2, values)


def nearest_in_class(
    own: np.ndarray, rows: np.ndarray, released: np.ndarray, synthetic: np.ndarray
) -> np.ndarray:
    """Return the distance of each row to the nearest synthetic value of its class, or inf."""
    there = ~np.isnan(synthetic)
    order = np.lexsort((synthetic[there], released[there]))
    groups, values = released[there][order], synthetic[there][order]
    every, rank = np.unique(np.concatenate([values, rows]), return_inverse=True)
    places = groups * every.size + rank[: values.size]
    at = np.searchsorted(places, own * every.size + rank[values.size :])
    gap = np.full(rows.size, np.inf)
    for place in (at - 1, at):
        near = np.clip(place, 0, max(values.size - 1, 0))
        if values.size:
            found = (place == near) & (groups[near] == own) & ~np.isnan(rows)
            gap[found] = np.minimum(gap[found], np.abs(values[near] - rows)[found])
    return gap
