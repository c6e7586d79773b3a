"""Membership inference: attacks that use a release to find the rows of the training data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.membership.rates import (
    PAIRS,
    FalsePositiveRates,
    area_with_test,
    curve_points,
    in_halves,
    outlier_risk,
    precisions,
    rates,
    surest,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import ALARM_LEVEL, Contrast
from skeval.stats.intervals import clopper_pearson
from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import Relabelled, least_p_value
from skeval.stats.roc import Areas, auc, delong, label_tests, tpr_at_fpr
from skeval.stats.smallest_leaks import smallest_leak, smallest_shift
from skeval.steps.column_choice import column_key, nothing_to_measure
from skeval.steps.encoded_rows import is_gower
from skeval.steps.leak_advice import advice_on_leak, exposed_columns
from skeval.steps.members import (
    ATTACKS,
    BLEND,
    STRONGEST,
    MemberScores,
    blend_scores,
    pooled_scores,
    scores_by_attack,
)
from skeval.steps.relabellings import actual_labels, relabellings_within
from skeval.tables.frames import conform
from skeval.tables.oddities import check_columns
from skeval.tables.one_table import as_frame
from skeval.tables.row_hashes import shared_share
from skeval.utils.formatting import as_float, format_mean_count, pair, percent
from skeval.utils.parameters import (
    Columns,
    Count,
    Fraction,
    Interval,
    Legal,
    OpenFraction,
    Seed,
    Space,
    one_of,
    some_of,
)

_FOUND = "train rows found where {fpr} of holdout rows may be called so, by {by}"
_MIN_SCORED_ROWS = 50
_LEVEL_OF_HINTS = 0.005
_TOO_SMALL = (
    "a false positive rate of {fpr:g} is not possible with {n_others} holdout rows, because one "
    "row is a larger fraction. Use more rows, or a larger first rate in fpr."
)
_MAX_FEW_ROWS = (
    "{n_members} train rows and {n_others} holdout rows are scored. With fewer than {few} rows of "
    "one table, rates at small false positive rates are not informative."
)
_HIDDEN_OUTLIERS = (
    "The average over all rows may hide a leak: among the rows that lie {place}, members and "
    "others differ (AUC {auc:.2f}, p {p:.1g} after Bonferroni)."
)
_OUTERMOST = "farthest from other rows (the outermost {share:.0%})"
_BETWEEN = (
    "between {above:.0%} and {up_to:.0%} of all in the order from the most common to the farthest "
    "from others"
)
_HIDDEN_RATE = (
    "The average over all rows may hide a leak: {tpr:.1%} of the train rows are found at {fpr:.1%} "
    "false positives at most, which random labels reach with a probability of {p_value:.1%}."
)
_OVERLAP = (
    "{share:.2%} of the {role} rows also occur in the reference, which must not share rows with "
    "train and holdout. Therefore, attacks that calibrate with it are biased."
)
_GUESSED_BY = {
    "distance": "the distance to the nearest synthetic row",
    "distance_calibrated": "how much closer a synthetic row is than another real row",
    "ratio": "the ratio of the distances to synthetic and to real rows",
    "monte_carlo": "the number of synthetic rows nearby",
    "knn_density": "the density of synthetic rows",
    "domias": "the density of synthetic rows over that of real ones",
    "classifier": "a classifier of synthetic against real rows",
    "eq1": "the density of synthetic rows alone",
    "levatt": "the number of edits to the nearest synthetic row, written as text",
    BLEND: "the mean of its ranks by all attacks",
}
AttackName = Annotated[str, one_of(tuple(ATTACKS))]
# the best attack, the scores of all, and who is skipped
Chosen = tuple[str, dict[str, MemberScores], dict[str, str]]


@declared
class MembershipInference(Metric):
    """AUC of attacks that separate training rows from holdout rows, using the release.

    An attacker has the synthetic table and a real row, and wants to know whether the generator
    learned from this row. Membership alone may reveal that an individual had a disease or debts.
    Each attack computes a score for each row from the synthetic rows around it. The value is the
    fraction of pairs of a training and a holdout row in which the training row has the higher
    score. The value is 0.5 by random guessing and 1 without errors. Lower is better. The best
    attack depends on how a generator leaks, so several attacks are tried.

    Parameters
    ----------
    attack : "best", str or list of str, default="best"
        "best" uses four attacks, which find a leak in most releases of real generators that leak.
        They are "distance_calibrated" (distance to the nearest reference row minus the distance to
        the nearest synthetic row), "domias" (density of synthetic rows divided by the density of
        reference rows), "classifier" (of synthetic and reference rows) and "levatt" (edits to the
        nearest synthetic row, both written as text). A list specifies other attacks. If there are
        several attacks, they are also combined into the attack "blend", whose score is the mean
        rank of a row. The most significant attack is reported, and its p-value is corrected for
        this choice. The other attacks are "distance" (distance to the nearest synthetic row),
        "ratio" (of the distances to the nearest reference row and to the nearest synthetic row),
        "monte_carlo" (number of synthetic rows within the median distance), "knn_density" (distance
        to the k-th nearest synthetic row) and "eq1" (density of synthetic rows).
    reference : table, optional
        Population rows of the attacker that are not in the training or holdout data, for
        "distance_calibrated", "ratio", "domias" and "classifier". A fitted metric and its pickle
        contain this table.
    reference_fraction : float, optional
        If `reference` is not passed, this fraction of the holdout rows is the reference of the
        attacker. These rows are not attacked. By default, training and holdout rows are mixed and
        split into halves. Each half is the reference of the other half, so that every row is
        attacked.
    scoring : {"auc", "tpr_at_fpr"}, default="auc"
        Reported value. "tpr_at_fpr" is the largest fraction of members found at a false positive
        rate of at most the first value of `fpr`.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates at which the true positive rate is reported.
    alert : float, default=0.7
        Smallest AUC for which ``details["alert"]`` is True.
    prior : float, default=0.5
        Fraction of members among the rows that the attacker evaluates, for the precision of a
        guess.
    density : {"kde", "knn", "gmm", "prior"}, default="kde"
        Density estimate of "domias" and "eq1", on at most 10 principal axes. "kde" uses Gaussian
        kernels with Scott's bandwidth, "knn" the radii of the nearest rows, and "gmm" mixtures of
        at most five Gaussians. "prior" uses kernels for the synthetic rows and one Gaussian for the
        reference rows.
    n_neighbors : int, default=5
        The k of "knn_density" and of ``density="knn"``.
    n_permutations : int, default=1999
        Number of times that the labels "training" and "holdout" are assigned to the real rows at
        random. These random labelings are used for the p-value if there are several attacks, and
        for the p-values of `tpr_at_fpr` and `max_advantage` in the details. Fewer are drawn if many
        labelings reach the observed value.
    max_rows : int or None, default=10_000
        Maximum number of rows per table that "domias", "eq1" and "classifier" score. A larger table
        is sampled (seeded). "levatt" scores a fifth of this number, and the other attacks score all
        rows. Densities are estimated from at most 5,000 rows. Texts are compared with at most
        10,000 texts, or fewer if they are long.
    space : "gower", "euclidean" or transformer, default="gower"
        Distance between rows. "gower" is the mean over the columns of a difference scaled to
        [0, 1]. In the other spaces, each row is encoded as a vector of numbers, and the distance is
        Euclidean. Densities and the classifier use standardized and one-hot columns, or the matrix
        of the transformer.
    columns : None, int or list of str, default=None
        Columns to use (in space "gower"). None uses all columns, and an int the first *n*.
    text : "tfidf" or None, default="tfidf"
        With "tfidf", the attack "classifier" also uses text columns, as frequent words weighted by
        their rarity (TF-IDF). This requires ``space="gower"`` and ``columns=None``. The other
        attacks ignore texts unless the transformer in `space` converts them to vectors.
    random_state : int, default=0
        Seed of samples, halves, labels and estimators.

    Raises
    ------
    TableError, SchemaMismatchError
        At fit, if the reference cannot be used.

    Warnings
    --------
    These are a few of many possible attacks, so an AUC of 0.5 does not clear a release. The AUC is
    an average over all rows, which may not show a few exposed rows.

    See Also
    --------
    MembershipDisclosureF1 : Classifies rows near a synthetic row as members.
    ShadowMembershipInference : An attacker who can run the generator.
    LikelihoodRatioMIA : Compares scores with generators fitted with and without the row.
    skeval.text.TextMembershipInference : Uses only free texts.
    StackedMembershipInference : Combines all attacks, with weights learned on further tables of the
        generator.
    DCROverfittingProtection : A screen that compares distances to training and holdout data.

    Notes
    -----
    The interval uses DeLong's method on the logit scale. The p-value of one attack is one-sided,
    after Mann and Whitney. If the generator memorized nothing, the labels of the real rows
    (training or holdout) are exchangeable given the release. The scores do not depend on the
    labels, because each half of the real rows is calibrated by the other half, regardless of
    membership. Therefore, the test is valid for any attack. Ties have mid-ranks. With several
    attacks, each AUC is converted to a z-score with its mean and standard deviation under random
    labels. The metric reports the AUC with the largest z-score. The p-value is the fraction of
    random labelings for which the largest z-score of all attacks is at least the observed one. Each
    labeling is applied to all attacks at once. If no random labeling reaches the observed z-score,
    the Bonferroni p-value is used if it is smaller. With several attacks, the interval is
    simultaneous (Bonferroni). Even without a leak, the largest of several z-scores is above 0 on
    average. The baseline is this average, converted back to an AUC of the reported attack. For one
    attack, the baseline is 0.5.

    "levatt" is designed for generators that repeat digits, as language models do. The distance of
    two rows is the number of characters that must be inserted, deleted or replaced between their
    texts. For example, 1234 is close to 12340 and 9234, although the numbers differ. A category
    counts as one character. Numbers are written with the decimals of the real data (at most six
    digits). Because scores are counts, ties are common, so the actual false positive rate may be
    lower than allowed. With more than 50 columns or features of a transformer, "levatt" does not
    compare the texts of complete rows. Instead, it compares each cell with the cell in the same
    column, and sums the edits over the columns. In this case, "classifier" uses half the number of
    trees and 32 bins.

    A value below 0.5 does not indicate extra protection. A value of 0.5 indicates only that these
    attacks find nothing, and an attacker who knows the generator may find more. A release that
    contains a few training rows has an AUC near 0.5 too. If the rates of `fpr` or the outlying rows
    show a leak and the AUC does not, a warning is given. Training rows with a constant added to one
    column are found only by "levatt". If amounts with many digits are added to all columns, no
    attack finds these rows (see the gallery).

    ``details`` contains

    - `attacks`: the AUC of each attack and of "blend". `protection` is
      ``1 - 2 max(0, AUC - 1/2)``.
    - `tpr_at_fpr`: for each rate in `fpr`, the largest fraction of members found with at most this
      rate of false positives, without interpolation. The fraction is nan if there are so few
      holdout rows that a single false positive exceeds the rate. The interval is conditional on the
      threshold. `by_chance` and the p-value come from random labels. `at_fixed_threshold` uses a
      threshold chosen on one half of the rows. It contains the true and false positive rates on the
      other half, and the precision of a guess at `prior`. The actual false positive rate then
      differs from the intended rate.
    - `advantage`: the true minus the false positive rate at a threshold chosen on the other half,
      with Newcombe's interval and the p-value of Fisher's test. `max_advantage` is the largest
      difference on the evaluated rows themselves, which is expected to be above 0.
    - `precision_at`: the fraction of training rows among the rows with the highest scores. The same
      number of training and holdout rows is used, so that one half is expected by chance.
    - `abstaining`: the success of an attacker who guesses only for the most confident 1%, 2%, ...
      of the rows, with p-values that are valid for all fractions at once
      (``skeval.stats.excess_tests.abstaining_test``).
    - `outliers`: the AUC in each tenth of the rows by their distance to other real rows, and in the
      outermost 5%, 2% and 1%, because the average does not show a leak of few rows.
    - `curve`: at most 200 points of the ROC curve.

    With n members and n holdout rows, a p-value over all exchanges of the labels cannot be below
    ``1 / C(2n, n)``. A p-value of drawn labelings cannot be below ``1 / (n_permutations + 1)``. If
    the holdout was collected later than the training data, or in another way, the two differ
    without any leak. ``fit(check_holdout=True)`` tests for such a difference. A row that occurs in
    both tables has one score, or two if its copies are in different halves.

    References
    ----------
    D. Chen, N. Yu, Y. Zhang, M. Fritz, "GAN-Leaks", CCS 2020, doi:10.1145/3372297.3417238.
    B. Hilprecht, M. Haerterich, D. Bernau, "Monte Carlo and reconstruction membership inference
    attacks against generative models", PoPETs 2019(4) 232-249, doi:10.2478/popets-2019-0067.
    B. van Breugel, H. Sun, Z. Qian, M. van der Schaar, "Membership inference attacks against
    synthetic data through overfitting detection", AISTATS 2023, arXiv:2302.12580.
    J. Hayes, L. Melis, G. Danezis, E. De Cristofaro, "LOGAN", PoPETs 2019(1) 133-152,
    doi:10.2478/popets-2019-0008.
    J. Ward et al., "When tables leak: attacking string memorization in LLM-based tabular data
    generation", arXiv:2512.08875 (LevAtt).

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipInference
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> metric = MembershipInference(attack="distance").fit(train, holdout)
    >>> metric.score(train), metric.evaluate(make_mixed(200, random_state=2)).p_value > 0.01
    (1.0, True)
    """

    tags = replace(ATTACK_TAGS, display="ROCDisplay", headline=4, weight=4.0)

    attack: AttackChoice = "best"
    reference: Table | None = None
    _: KW_ONLY
    reference_fraction: OpenFraction | None = None
    scoring: Literal["auc", "tpr_at_fpr"] = "auc"
    fpr: FalsePositiveRates = (0.1, 0.01, 0.001)
    alert: Fraction = 0.7
    prior: OpenFraction = 0.5
    density: Literal["kde", "knn", "gmm", "prior"] = "kde"
    n_neighbors: Count = 5
    n_permutations: Annotated[int, Interval(19)] = 1999
    max_rows: Annotated[int, Interval(20)] | None = 10_000
    space: Space = "gower"
    columns: Columns = None
    text: Literal["tfidf"] | None = "tfidf"
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        read_reference(context, self.reference)

    def _compute(self, context: Context) -> Result:
        chosen = self._choose_attack(context)
        if isinstance(chosen, Result):
            return chosen
        best, scored, _ = chosen
        _, notices = read_reference(context, self.reference)
        return success(scored[best], self._alpha, notices)

    def _in_relation(self, context: Context, result: Result) -> Result:
        chosen = self._choose_attack(context)
        if isinstance(chosen, Result):
            return result
        best, scored, skipped = chosen
        scores, columns = scored[best], column_key(context.schema, self.columns)
        halves = in_halves(context, scores, self.random_state)
        if min(half.fewest for half in halves) < 1:
            return result
        trials: dict[str, Any] = {"n_permutations": self.n_permutations, "seed": self.random_state}
        alphas = np.atleast_1d(self.fpr).tolist()
        details = {
            "skipped": skipped,
            "alert": bool(auc(scores.members, scores.others) >= self.alert),
            **overview(best, scored),
            **rates(scores, *halves, alphas, prior=self.prior, **trials),
            "precision_at": precisions(context, scores, self.random_state),
            "abstaining": surest(scores, self.random_state),
            "outliers": outlier_risk(context, scores, self.space, columns),
        }
        if np.isnan(result.value):
            return replace(result, details=details)
        if self.scoring == "auc":
            compared = against_half(scored, details["attacks"])
            areas, test = areas_of(context, scored), None
            if len(scored) > 1:
                test = largest_area_test(context, areas, **trials)
                compared = against_labels(areas, best, scored, compared, test, self.n_permutations)
            details["smallest_leak"] = smallest_area(areas, list(scored).index(best), test)
        else:
            compared = against_chance(best, scored, details["tpr_at_fpr"][0], **trials)
        warnings = (*result.warnings, *hidden_leaks(details))
        return replace(result, **compared, details=details, warnings=warnings)

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, column_key(context.schema, self.columns))

    def _leak_columns(self, context: Context) -> list[str]:
        return exposed_columns(context, column_key(context.schema, self.columns))

    def _summary(self, result: Result) -> str:
        details = result.details
        name = str(details["attack"])
        # at a false positive rate the contrast is of another number than the AUC
        of_area = result.contrast if self._alpha is None else None
        by_chance = 0.5 if of_area is None else of_area.expected
        area, chance = pair(as_float(details["auc"]), by_chance, share=True)
        sentence = (
            "An attacker who has the release and a real row guesses whether the row was in train "
            f"by {_GUESSED_BY.get(name, name)}: a train row ranks above a holdout row "
            f"{area} of the time ({chance} is expected by chance)."
        )
        found = details.get("abstaining") or {}
        if as_float(found.get("p_value", 1.0)) < ALARM_LEVEL:
            (at,) = (one for one in found["by_share"] if one["share"] == found["clearest"])
            n_right, n = map(format_mean_count, (at["train"], at["train"] + at["holdout"]))
            sentence += (
                f" Among the most confident {percent(at['share'], 0)} of guesses for membership, "
                f"{n_right} of {n} are correct."
            )
        outliers = details.get("outliers") or {}
        if as_float(outliers.get("p_value", 1.0)) < ALARM_LEVEL:
            worst = percent(as_float(outliers["worst"]["auc"]))
            sentence += f" In the worst group of rows by distance from other rows, {worst}."
        return sentence

    @property
    def _alpha(self) -> float | None:
        """False positive rate at which the value is computed, or None for the AUC."""
        return None if self.scoring == "auc" else float(np.atleast_1d(self.fpr)[0])

    def _choose_attack(self, context: Context) -> Chosen | Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        reference, _ = read_reference(context, self.reference)
        seed = self.random_state
        names = STRONGEST if self.attack == "best" else np.atleast_1d(self.attack).tolist()
        columns = column_key(context.schema, self.columns)
        settings = (self.space, columns, self.reference_fraction, seed, self.density)
        read = self.text is not None and self.columns is None and is_gower(self.space)
        texts = tuple(context.schema.columns("text")) if read else ()
        scored, skipped = scores_by_attack(
            context, names, self.max_rows, *settings, self.n_neighbors, reference, texts
        )
        if not scored:
            return undefined_result(" ".join(skipped.values()), skipped=skipped)
        if len(scored) > 1:
            scored[BLEND] = blend_scores(list(scored.values()))
        if min(one.fewest for one in scored.values()) < 2:
            return undefined_result("train and holdout need two rows each that can be scored.")
        alpha = self._alpha
        best = standing_out(context, scored) if alpha is None else strongest(scored, alpha)
        return best, scored, skipped


def success(scores: MemberScores, alpha: float | None, notices: Sequence[MetricWarning]) -> Result:
    """Return the AUC, or the true positive rate at `alpha`, if that is given."""
    sizes = {"n_members": scores.members.size, "n_others": scores.others.size}
    if scores.fewest < _MIN_SCORED_ROWS:
        notices = [*notices, MetricWarning(_MAX_FEW_ROWS.format(**sizes, few=_MIN_SCORED_ROWS))]
    if alpha is None:
        return Result(auc(scores.members, scores.others), warnings=tuple(notices))
    value = tpr_at_fpr(scores.members, scores.others, alpha)
    if np.isnan(value):
        return undefined_result(_TOO_SMALL.format(fpr=alpha, **sizes))
    return Result(value, warnings=tuple(notices))


def strongest(scored: Mapping[str, MemberScores], alpha: float) -> str:
    """Return the attack with the largest true positive rate at `alpha`.

    Ties go to the larger AUC, and an undefined rate ranks last.
    """

    def rank(scores: MemberScores) -> tuple[float, float]:
        tpr = tpr_at_fpr(scores.members, scores.others, alpha)
        return (-1.0 if np.isnan(tpr) else tpr), auc(scores.members, scores.others)

    return max(scored, key=lambda name: rank(scored[name]))


def areas_of(context: Context, scored: Mapping[str, MemberScores]) -> Areas:
    """Return the AUCs of all attacks together."""
    return Areas.from_scores(pooled_scores(context, list(scored.values())), actual_labels(context))


def standing_out(context: Context, scored: Mapping[str, MemberScores]) -> str:
    """Return the attack with the AUC most standard deviations above random labels."""
    deviations = areas_of(context, scored).deviations(actual_labels(context)[:, None])
    return list(scored)[int(np.argmax(deviations))]


def largest_area_test(
    context: Context, areas: Areas, *, n_permutations: int, seed: int
) -> Relabelled:
    """Exchange the labels of all rows for all attacks at once."""
    drawn = relabellings_within(context, areas.strata, n_permutations, seed)
    return areas.test(actual_labels(context), drawn)


def smallest_area(areas: Areas, chosen: int, test: Relabelled | None) -> dict[str, Any]:
    """Return the smallest excess of the AUC of the chosen attack that the test finds."""
    # The test of several attacks uses the largest deviation, whose mean is above 0.
    mean = 0.0 if test is None else test.mean
    by_chance, spread = areas.area(chosen, mean), areas.area(chosen, 1.0) - areas.area(chosen, 0.0)
    upper = None if test is None else test.upper
    excess = partial(smallest_shift, spread=spread, mean=mean, upper=upper)
    return smallest_leak(excess, by_chance)


def against_labels(
    areas: Areas,
    best: str,
    scored: Mapping[str, MemberScores],
    compared: Mapping[str, Any],
    test: Relabelled,
    n_permutations: int,
) -> dict[str, Any]:
    """Return interval, p-value, baseline and contrast of the best of several attacks."""
    # If no random labeling reaches the observed value, the p-value after Bonferroni is used if it
    # is smaller.
    reached = test.p_value * (n_permutations + 1) > 1.5
    p_value = test.p_value if reached else min(test.p_value, compared["p_value"])
    chosen = list(scored).index(best)
    area, by_chance = areas.area(chosen, test.observed), areas.area(chosen, test.mean)
    what = PAIRS.format(by=_GUESSED_BY.get(best, best))
    shown = replace(compared["contrast"], what=what, observed=area, expected=by_chance)
    return {**compared, "p_value": p_value, "baseline": by_chance, "contrast": shown}


def against_half(
    tried: Mapping[str, MemberScores], attacks: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return interval, p-value, baseline and contrast of the largest AUC, for all tried at once."""
    by = min(tried, key=lambda name: (attacks[name]["p_value"], -attacks[name]["auc"]))
    what, area = PAIRS.format(by=_GUESSED_BY.get(by, by)), attacks[by]["auc"]
    shown = Contrast(what, area, 0.5, n_tests=len(tried), least_p=least_of(tried))
    areas = [delong(one.members, one.others, 1.0 - 0.05 / len(tried)) for one in tried.values()]
    low, high = (max(bounds) for bounds in zip(*(one.interval for one in areas), strict=True))
    p_value = min(1.0, len(tried) * attacks[by]["p_value"])
    return {"interval": (low, high), "p_value": p_value, "baseline": 0.5, "contrast": shown}


def against_chance(
    best: str,
    tried: Mapping[str, MemberScores],
    rate: Mapping[str, Any],
    *,
    n_permutations: int,
    seed: int,
) -> dict[str, Any]:
    """Return interval, p-value, baseline and contrast of the best true positive rate.

    All are corrected after Bonferroni.
    """
    tests = {best: (rate["p_value"], rate["tpr"], rate["by_chance"])}
    for name, one in tried.items():
        if name != best:
            (test,), _ = label_tests(
                one.members, one.others, [rate["fpr"]], n_permutations=n_permutations, seed=seed
            )
            tests[name] = (test.p_value, test.observed, test.mean)
    by = min(tests, key=lambda name: tests[name][0])
    p_value, found, by_chance = tests[by]
    what = _FOUND.format(fpr=percent(rate["fpr"]), by=_GUESSED_BY[by])
    n_members = tried[best].members.size
    n_hits = round(rate["tpr"] * n_members)
    return {
        "interval": clopper_pearson(n_hits, n_members, 1.0 - 0.05 / len(tried)),
        "p_value": min(1.0, len(tried) * p_value),
        "baseline": rate["by_chance"],
        "contrast": Contrast(
            what, found, by_chance, n_tests=len(tried), least_p=least_of(tried, n_permutations)
        ),
    }


def least_of(tried: Mapping[str, MemberScores], n_permutations: int | None = None) -> float:
    """Return the smallest possible p-value for all attacks together."""
    least = (
        least_p_value(one.members.size, one.others.size, n_permutations) for one in tried.values()
    )
    return min(1.0, len(tried) * min(least))


def overview(best: str, scored: Mapping[str, MemberScores]) -> dict[str, Any]:
    """Return the AUC of each attack with interval and p-values, and size and curve of the best."""
    areas = {name: area_with_test(one.members, one.others) for name, one in scored.items()}
    adjusted = holm([area["p_value"] for area in areas.values()])
    for area, p_value in zip(areas.values(), adjusted, strict=True):
        area["holm_p_value"] = p_value
    return {
        "attack": best,
        "attacks": areas,
        "auc": areas[best]["auc"],
        "protection": 1.0 - 2.0 * max(0.0, areas[best]["auc"] - 0.5),
        "n_members": scored[best].members.size,
        "n_others": scored[best].others.size,
        "curve": curve_points(scored[best]),
    }


def hidden_leaks(details: Mapping[str, Any]) -> list[MetricWarning]:
    """Return warnings of a leak of some rows that the average hides."""
    # The attack is the best one of several, and two of its properties are tested. At the level of
    # an alarm, every fifth release without a leak would have such a warning.
    if details["attacks"][details["attack"]]["p_value"] < ALARM_LEVEL:
        return []
    texts = []
    tested = [rate for rate in details["tpr_at_fpr"] if not np.isnan(rate["p_value"])]
    best = min(tested, key=lambda rate: (rate["p_value"], rate["fpr"]), default=None)
    if best and len(tested) * best["p_value"] < _LEVEL_OF_HINTS:
        texts.append(_HIDDEN_RATE.format(**best))
    outliers = details["outliers"]
    if outliers and outliers["p_value"] < _LEVEL_OF_HINTS:
        worst = outliers["worst"]
        place = _OUTERMOST if worst["up_to"] >= 1.0 else _BETWEEN
        text = place.format(share=1.0 - worst["above"], **worst)
        texts.append(_HIDDEN_OUTLIERS.format(place=text, auc=worst["auc"], p=outliers["p_value"]))
    return [MetricWarning(text) for text in texts]


_BEST_OR = f"'best', or one or a list of {', '.join(map(repr, ATTACKS))}"
AttackChoice = Annotated[str | list[str], some_of(_BEST_OR, ATTACKS, ("best", *ATTACKS))]


def _is_table(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "__len__")


Table = Annotated[Any, Legal("a table", _is_table, "no table")]


@shared
def read_reference(
    context: Context, reference: Any
) -> tuple[pd.DataFrame | None, Sequence[MetricWarning]]:
    """Read the attacker's reference rows as the context reads its tables, or return None."""
    if reference is None:
        return None, ()
    frame = as_frame(reference, "reference")
    check_columns(list(frame.columns), list(context.schema.kinds), "reference", exact=False)
    rows, notices = conform(frame, context.schema, "reference", context.levels)
    texts = context.schema.columns("text")
    shares = {role: shared_share(rows, context[role], texts) for role in ("train", "holdout")}
    overlaps = [
        MetricWarning(_OVERLAP.format(share=share, role=role))
        for role, share in shares.items()
        if share > 0
    ]
    return rows, [*notices, *overlaps]
