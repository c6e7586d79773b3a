"""Membership disclosure by classifying rows that are close to a synthetic row as members."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS, LIGHT
from skeval.privacy.attacks.membership.rates import in_halves
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import least_p_value, share_p_value
from skeval.stats.roc import Rates, rates_at
from skeval.steps.column_choice import column_key, nothing_to_measure
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.members import MemberScores, member_scores
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Columns, Fraction, NonNegative, OpenFraction, Seed, Space

_SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # fractions of the nearest rows
_N_DRAWS = 9_999
_DIGITS = 3  # distances are rounded, so that a result does not reveal the distance of one row


@declared
class MembershipDisclosureF1(Metric):
    r"""Relative F1 gain of membership guesses based on the distance to synthetic rows.

    An attacker has a set of real rows, some of which are training rows, and classifies a row as a
    member if a synthetic row is within a given distance. The F1 score of these guesses is compared
    with the F1 score of classifying every row as a member, which requires no synthetic data. The
    value is 0 if the synthetic data do not help, 1 if all guesses are correct, and negative if the
    guesses are worse than classifying every row as a member. Lower is better.

    Parameters
    ----------
    threshold : float or None, default=None
        The distance in the unit of `space`. If None, the distance with the best F1 score on one
        half of the rows is used, and the value is computed on the other half.
    population_fraction : float or None, default=None
        Fraction of members in the attacker's set, that is, the fraction of the population that was
        sampled into the training data. If None, it is n_T / (n_T + n_H).
    space : "gower", "euclidean" or transformer, default="gower"
        "gower" is the mean over columns of differences between 0 and 1, which is the Hamming
        distance for categories. In the other spaces, each row is encoded as a vector of numbers,
        and the distance is Euclidean.
    columns : None, int or list of str, default=None
        The columns that the attacker knows (in space "gower"): None for all, *n* for the first *n*,
        or a list of names.
    alert : float, default=0.2
        ``details["alert"]`` is True if the value is above this number.
    random_state : int, default=0
        Seed of the halves and of the permutations.

    Warnings
    --------
    This is only one of many possible attackers, so a low value does not clear a release.

    See Also
    --------
    MembershipInference : Runs several attacks at all thresholds.
    ShadowMembershipInference : Uses an attacker who can run the generator.
    NearDuplicateShare : Fraction of synthetic rows within a distance of a training row.

    Notes
    -----
    For a fraction t of members, the value is

    .. math:: \frac{F_1 - F_\text{naive}}{1 - F_\text{naive}}, \qquad
        F_\text{naive} = \frac{2 t}{1 + t}

    The fractions of training and holdout rows that are classified as members have the weights t and
    1 - t. Therefore all rows are used for any t. Values above 0.2 are commonly considered too high.
    A negative value is possible for a given distance. If the metric chooses the distance, one of
    the candidates is infinity, for which every row is classified as a member. The value of this
    candidate is 0, which is the baseline.

    The interval uses the ends of the Clopper-Pearson intervals of both fractions, each at half the
    level. The coverage of the interval is at least the nominal level.

    A high F1 score requires that most members are found. For example, if a fraction f of the
    training data is copied and only these rows are classified as members, F1 is 2f / (1 + f). This
    F1 score is better than the score of classifying every row as a member only if f is above 1/2.
    Therefore, the test does not use the F1 score. The nearest 0.2%, 0.5%, 1%, ..., 50% of all rows
    together are classified as members, and also the rows at distance 0. For each classification,
    the number of members has a hypergeometric distribution if the synthetic data do not depend on
    which rows are training rows (Fisher's test). The smallest of these p-values is compared with
    the smallest p-value for each of 9,999 random choices of the training rows.
    ``details["nearest"]`` contains the most significant classification: its distance, the fractions
    of training and holdout rows, and the fraction of members (`precision`). If `threshold` is
    given, the p-value is the result of Fisher's test for this threshold.

    References
    ----------
    K. El Emam, L. Mosquera, X. Fang, "Validating a membership disclosure metric for synthetic
    health data", JAMIA Open 5 (2022) ooac083, doi:10.1093/jamiaopen/ooac083.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipDisclosureF1
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> MembershipDisclosureF1().fit(train, holdout).score(train)
    1.0
    """

    tags = replace(ATTACK_TAGS, bounds=(float("-inf"), 1.0), weight=LIGHT)

    threshold: NonNegative | None = None
    _: KW_ONLY
    population_fraction: OpenFraction | None = None
    space: Space = "gower"
    columns: Columns = None
    alert: Fraction = 0.2
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        columns, seed = column_key(context.schema, self.columns), self.random_state
        scores = member_scores(context, "distance", None, self.space, columns, seed=seed)
        share, threshold = self.population_fraction, self.threshold
        if share is None:
            share = context.n_rows("train") / (context.n_rows("train") + context.n_rows("holdout"))
        if threshold is not None:
            called = rates_at(scores.members, scores.others, -threshold)
            tested = near(called, threshold, share_p_value(*called))
            return improvement(called, share, threshold, tested, alert=self.alert)
        chosen_on, reported = in_halves(context, scores, seed)
        if min(chosen_on.fewest, reported.fewest) < 1:
            return undefined_result(
                "choosing a distance requires at least two training and two holdout rows."
            )
        threshold = best_threshold(chosen_on, share)
        called = rates_at(reported.members, reported.others, -threshold)
        tested = nearest_test(scores, seed)
        return improvement(called, share, threshold, tested, alert=self.alert)

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.columns))

    def _summary(self, result: Result) -> str:
        f1, naive = (number(as_float(result.details[name])) for name in ("f1", "naive_f1"))
        near = result.details["nearest"]
        return (
            f"Classifying rows close to a synthetic row as members has an F1 score of {f1}, "
            f"compared with {naive} for classifying all rows as members. {percent(near['tpr'])} of "
            f"training rows and {percent(near['fpr'])} of holdout rows are "
            f"{near_text(near['threshold'])} a synthetic row."
        )


def near_text(threshold: float) -> str:
    """Return a distance for a sentence."""
    return f"within {number(threshold)} of" if threshold > 0 else "equal to"


def near(called: Rates, threshold: float, p_value: float, n_tests: int = 1) -> dict[str, Any]:
    """Return the rates and precision at a distance, with a p-value from `n_tests` tests."""
    n_called = called.true_positives + called.false_positives
    return {
        "threshold": threshold,
        "tpr": called.tpr,
        "fpr": called.fpr,
        "precision": called.true_positives / n_called if n_called else float("nan"),
        "p_value": p_value,
        "n_tests": n_tests,
    }


def nearest_test(scores: MemberScores, seed: int) -> dict[str, Any]:
    """Test whether more training than holdout rows are close to synthetic rows.

    The distances are chosen without the labels of the rows.
    """
    distances = np.concatenate([-scores.members, -scores.others])
    at = np.quantile(distances, _SHARES, method="inverted_cdf")
    thresholds = np.unique([0.0, *map(_round_up, at)])
    n, m = scores.members.size, scores.others.size
    calls = [rates_at(scores.members, scores.others, -threshold) for threshold in thresholds]
    n_called = np.array([one.true_positives + one.false_positives for one in calls])
    cells = np.diff(n_called, prepend=0, append=n + m)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(
        cells, n, size=_N_DRAWS, method="marginals"
    )
    hits = np.vstack([[one.true_positives for one in calls], drawn[:, :-1].cumsum(axis=1)])
    p_values = np.empty(hits.shape)
    for i, size in enumerate(n_called):
        counts, where = np.unique(hits[:, i], return_inverse=True)
        p_values[:, i] = hypergeom.sf(counts - 1, n + m, size, n)[where]
    least = p_values.min(axis=1)
    best = int(p_values[0].argmin())
    p_value = float((least <= least[0] * (1.0 + 1e-9)).mean())
    return near(calls[best], float(thresholds[best]), p_value, len(thresholds))


def improvement(
    called: Rates, share: float, threshold: float, tested: dict[str, Any], *, alert: float
) -> Result:
    """Return the result for membership guesses with these rates."""
    (low, high), (low_other, high_other) = called.intervals(0.975)  # each at half the level
    f1 = f1_at(called.tpr, called.fpr, share)
    worst, best = f1_at(low, high_other, share), f1_at(high, low_other, share)
    value = relative_f1(f1, share)
    what = f"train rows {near_text(tested['threshold'])} a synthetic row"
    shown = (what, tested["tpr"], tested["fpr"], "of holdout rows")
    least = least_p_value(called.n_positives, called.n_negatives)
    return Result(
        value,
        interval=(relative_f1(worst, share), relative_f1(best, share)),
        p_value=tested["p_value"],
        baseline=0.0,
        contrast=Contrast(*shown, n_tests=tested["n_tests"], least_p=least),
        details={
            "f1": f1,
            "naive_f1": f1_at(1.0, 1.0, share),
            "threshold": threshold,
            "threshold_chosen": tested["n_tests"] > 1,
            "population_fraction": float(share),
            "tpr": called.tpr,
            "fpr": called.fpr,
            "n_members": called.n_positives,
            "n_others": called.n_negatives,
            "nearest": tested,
            "alert": bool(value > alert),
        },
    )


def f1_at(tpr: float, fpr: float, share: float) -> float:
    """Return the F1 score for these rates and a fraction of positive rows."""
    # The score is the harmonic mean of precision and recall, or 0 if no positive row is found.
    hits = share * tpr
    return 2.0 * hits / (hits + (1.0 - share) * fpr + share)


def relative_f1(f1: float, share: float) -> float:
    """Return the relative gain of an F1 score over classifying every row as positive."""
    naive = f1_at(1.0, 1.0, share)
    return (f1 - naive) / (1.0 - naive)


def best_threshold(scores: MemberScores, share: float) -> float:
    """Return the smallest distance with the best F1 score."""
    # Distances are rounded up to three digits. The result is infinite if no distance is better than
    # classifying every row as a member.
    near, other = -scores.members, -scores.others
    candidates = np.unique([_round_up(distance) for distance in (*near, *other)])
    tpr, fpr = (
        np.searchsorted(np.sort(distances), candidates, side="right") / distances.size
        for distances in (near, other)
    )
    f1 = 2.0 * share * tpr / (share * tpr + (1.0 - share) * fpr + share)
    best = int(np.argmax(f1))
    return float(candidates[best]) if f1[best] > f1_at(1.0, 1.0, share) else float("inf")


def _round_up(distance: float) -> float:
    if distance <= 0.0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(distance)) + 1 - _DIGITS)
    return float(f"{np.ceil(distance / unit - 1e-9) * unit:.{_DIGITS}g}")
