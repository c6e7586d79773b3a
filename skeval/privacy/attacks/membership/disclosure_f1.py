"""Membership disclosure: what an attacker gains who calls rows near a synthetic one members."""

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

_SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of all rows, the nearest of which
_N_DRAWS = 9_999
_DIGITS = 3  # of a distance that rows chose: what is reported must not be one row's own


@declared
class MembershipDisclosureF1(Metric):
    r"""Gain in F1 over calling all rows members: 0 if the release is no help, 1 if it is certain.

    An attacker has a set of real rows, some of which were train rows, and calls a row a member if a
    synthetic row lies within a distance of it. The F1 score of these calls is compared with that of
    calling every row a member, which needs no release.

    Parameters
    ----------
    threshold : float or None, default=None
        The distance, in the unit of `space`. None: the one with the best F1 score on a half of the
        rows; the value is then of the other half.
    population_fraction : float or None, default=None
        Share of members in the attacker's set, as the share of a population that was sampled into
        train. None: n_T / (n_T + n_H).
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, which for categories is Hamming's distance; or
        Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that the attacker knows (in space "gower"): all, the first *n*, or a list of
        names.
    alert : float, default=0.2
        Above which value ``details["alert"]`` is True.
    random_state : int, default=0
        Seed of the halves and of the relabellings.

    Warnings
    --------
    This is what one adversary achieves: a low value does not clear a release.

    See Also
    --------
    MembershipInference : Tries several attacks, at all thresholds.
    ShadowMembershipInference : An attacker who can run the generator.
    NearDuplicateShare : Fraction of synthetic rows within a distance of train.

    Notes
    -----
    For a share t of members the value is

    .. math:: \frac{F_1 - F_\text{naive}}{1 - F_\text{naive}}, \qquad
        F_\text{naive} = \frac{2 t}{1 + t}

    The shares of train and of holdout rows that are called members are weighted by t and 1 - t, so
    that all rows count at any t. Values above 0.2 are commonly held to be too high. The value
    is below 0 where the calls do worse than calling all, as a given distance may make them; of
    distances that are chosen, one is infinite and calls all. The baseline is that: 0.

    The interval takes both shares at the ends of their intervals of Clopper and Pearson, each at
    half the level, and covers at least as often as it says.

    F1 asks that most members are found: where a share f of train is copied and no other row called,
    it is 2f / (1 + f), which is better than calling all only if f is above 1/2. The test therefore
    asks for less. The nearest 0.2%, 0.5%, 1%, ..., 50% of all rows together are called members, and
    those at distance 0. For each of these calls the number of members among them is hypergeometric
    if the release does not depend on which rows were train (Fisher's test), and the least of these
    p-values is compared with the least in 9,999 random choices of who is train.
    ``details["nearest"]`` has the calls that are most significant: their distance, the shares of
    train and of holdout rows, and the share of members among them (`precision`). With a given
    `threshold`, the p-value is Fisher's of its calls.

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
            return undefined_result("train and holdout need two rows each to choose a distance on.")
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
            f"Calling rows near a synthetic one members of train has F1 {f1}; calling all of them "
            f"members has {naive}. {percent(near['tpr'])} of train rows and {percent(near['fpr'])} "
            f"of holdout rows are {near_text(near['threshold'])} a synthetic row."
        )


def near_text(threshold: float) -> str:
    """Return a distance for a sentence."""
    return f"within {number(threshold)} of" if threshold > 0 else "equal to"


def near(called: Rates, threshold: float, p_value: float, n_tests: int = 1) -> dict[str, Any]:
    """Return what calls at a distance are, with the p-value of `n_tests` of them."""
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
    """Test whether more train than holdout rows are among those nearest to synthetic rows.

    Distances are chosen without regard to which rows are train.
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
    """Return by how much calls improve on calling all rows members, with what they were."""
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
    """Return the F1 score of calls with these rates on rows of which a share are positive."""
    # The harmonic mean of precision and recall; 0 if no positive row is found.
    hits = share * tpr
    return 2.0 * hits / (hits + (1.0 - share) * fpr + share)


def relative_f1(f1: float, share: float) -> float:
    """Return by how much an F1 score improves on calling every row positive: 0 not, 1 wholly."""
    # Below 0 where the calls do worse.
    naive = f1_at(1.0, 1.0, share)
    return (f1 - naive) / (1.0 - naive)


def best_threshold(scores: MemberScores, share: float) -> float:
    """Return the distance whose calls have the best F1 score; the smallest of several.

    Distances are rounded up to three digits; infinite if none is better than to call all members.
    """
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
