"""Membership inference with a classifier that combines the scores of several attacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.privacy.attacks.membership.rates import area_with_test, curve_points
from skeval.privacy.attacks.shadow.likelihood_ratio import (
    HalvesAttack,
    Models,
    moments,
    offline_score,
    tested_rates,
    worlds_of_halves,
)
from skeval.results.result import Result, undefined_result
from skeval.steps.classifiers import LINEAR, Classifier, learn
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.member_rows import drawing_order, n_reference
from skeval.steps.members import ATTACKS, MemberScores, member_scores, needs_of
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Interval, OpenFraction, some_of

_NAME = "stacked"


_ALL_OR = f"'all', or a list of {', '.join(map(repr, ATTACKS))}"
Attacks = Annotated[str | Sequence[str], some_of(_ALL_OR, ATTACKS, ("all",))]


@declared
class StackedMembershipInference(HalvesAttack):
    """AUC of a membership inference attack that combines several attacks.

    Each attack of :class:`~skeval.privacy.MembershipInference` detects a different kind of leak,
    for example copies, digits or dense regions. An attacker who can run the generator can combine
    them. The attacker fits the generator to many random halves of the real rows, and scores all
    rows with each attack for each generated table. A classifier learns from these scores which rows
    a table was generated from. It is then applied to the scores for the synthetic data. The value
    is 0.5 for random guesses and 1 for a perfect attack. Lower is better.

    Parameters
    ----------
    attacks : "all" or list of str, default="all"
        Attacks of :class:`~skeval.privacy.MembershipInference` whose scores are combined.
    n_models : int, default=16
        Number of fits, at least 8. Each fit uses half of the rows that are not reference rows, and
        every second fit uses the complement of the previous one.
    classifier : classifier, optional
        The classifier that combines scores. If None, a logistic regression is used.
    reference_fraction : float, default=0.5
        Fraction of the holdout that attacks with calibration use as reference. No table is
        generated from these rows, and they are not attacked.
    max_rows : int or None, default=2_000
        Maximum number of attacked rows in the training and in the holdout data. If a table has
        more rows, a random sample is used. If None, all rows are used.

    Raises
    ------
    InvalidParameterError
        At fit, if more than `max_fits` fits would be needed.

    Warnings
    --------
    A low value does not clear a release.

    See Also
    --------
    MembershipInference : Runs the attacks individually, without the generator.
    LikelihoodRatioMIA : Compares one score with its distribution with and without each row.
    ShadowMembershipInference : Attacks a few exposed rows with features of complete tables.

    Notes
    -----
    The scores of an attack are converted to ranks of the attacked rows on the scale of the normal
    distribution, because all scores for one table may be higher than for another table. For each
    attack, the classifier uses the score and its excess over the mean score of the row in tables
    that were generated without the row, because some rows are close to any table. The means do not
    include the table that the classifier is trained on, or the table from the other half.

    The value is the AUC for the synthetic data. The interval is DeLong's interval on the logit
    scale, and the p-value is from a one-sided Mann-Whitney test. The halves are sampled without the
    labels of the rows, and reference rows are not attacked. Therefore the labels are exchangeable
    if the synthetic data do not depend on them, and the test is valid for any combination of the
    scores. The baseline is 0.5.

    ``details["attacks"]`` contains the AUC of the combined attack (`stacked`) and the AUC of each
    attack on the same rows. `tpr_at_fpr` and `curve` are defined as in
    :class:`~skeval.privacy.MembershipInference`. Challenges of membership inference are usually
    decided by the true positive rate at 10% false positives.

    The combined attack is useful if the leak is typical of the generator and therefore also occurs
    in other tables that it generates. The combination does not help if the synthetic data were made
    by another generator, or if copies were added to the synthetic data. Individual attacks are then
    stronger. The halves are smaller than the training data, which shifts the scores of all rows in
    the same way.

    References
    ----------
    J. Ward, Y. Lin, C. H. Wang, G. Cheng, "Ensembling membership inference attacks against tabular
    generative models", arXiv:2509.05350.
    Vector Institute, "MIDST: membership inference over diffusion-models-based synthetic tabular
    data", challenge at SaTML 2025, whose winners blend scores of shadow models.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> from skeval.privacy import StackedMembershipInference
    >>> train, holdout = make_mixed(80, random_state=0), make_mixed(80, random_state=1)
    >>> release = Bootstrap().fit(train).sample(80, random_state=2)
    >>> attack = StackedMembershipInference(Bootstrap(), ["distance", "levatt"], n_models=8)
    >>> attack.fit(train, holdout).score(release) > 0.7
    True
    """

    attacks: Attacks = "all"
    _: KW_ONLY
    n_models: Annotated[int, Interval(8)] = 16
    classifier: Classifier = None
    reference_fraction: OpenFraction = 0.5
    max_rows: Annotated[int, Interval(20)] | None = 2_000

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined_result("no column of this table can be measured.")
        chosen, skipped = self._usable(context)
        if not chosen:
            return undefined_result(" ".join(skipped.values()), skipped=skipped)
        pool = self._pool(context)
        if min(pool.members.size, pool.others.size) < 2:
            return undefined_result("fewer than two training or holdout rows can be attacked.")
        members, others = pool.split(self._blend_scores(context, pool))
        result = self._detection(_NAME, "all attacks, blended", members, others)
        return replace(result, details={**result.details, "skipped": skipped})

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        chosen, _ = self._usable(context)
        pool, seed = self._pool(context), self.random_state
        blended, singly = (
            self._blend_scores(context, pool),
            pooled_scores(context, chosen, pool, seed),
        )
        scores = pool.of_members(blended)
        every = [(_NAME, blended), *zip(chosen, singly, strict=True)]
        added = {
            "attacks": {name: area_with_test(*pool.split(one)) for name, one in every},
            "tpr_at_fpr": tested_rates(scores, self._alphas, seed),
            "curve": curve_points(scores),
        }
        return replace(result, details={**result.details, **added})

    def _summary(self, result: Result) -> str:
        singly = {n: a for n, a in result.details.get("attacks", {}).items() if n != _NAME}
        sentence = (
            "A combination of all attacks ranks a training row above a holdout row in "
            f"{percent(result.value)} of the pairs (50% expected by chance)"
        )
        if not singly:
            return f"{sentence}."
        best = max(singly, key=lambda name: as_float(singly[name]["auc"]))
        area = percent(as_float(singly[best]["auc"]))
        return f"{sentence}. The best individual attack, {best}, does so in {area}."

    def _usable(self, context: Context) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the possible attacks, and the reasons for skipping the others."""
        names = ATTACKS if isinstance(self.attacks, str) else tuple(dict.fromkeys(self.attacks))
        reasons = {n: needs_of(context, n, self.reference_fraction, None) for n in names}
        skipped = {name: reason for name, reason in reasons.items() if reason}
        return tuple(name for name in names if name not in skipped), skipped

    def _pool(self, context: Context) -> Pool:
        return attacked_pool(context, self.reference_fraction, self.max_rows, self.random_state)

    def _blend_scores(self, context: Context, pool: Pool) -> np.ndarray:
        chosen, _ = self._usable(context)
        worlds = scores_of_worlds(context, self._models(context), chosen, pool)
        released = pooled_scores(context, chosen, pool, self.random_state)
        return stacked_scores(released, *worlds, self.classifier, self.random_state)


class Pool(NamedTuple):
    """Positions of the attacked rows and of the reference rows."""

    members: np.ndarray
    others: np.ndarray
    reference: np.ndarray
    max_rows: int | None

    def split(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of members and of other rows."""
        return scores[: self.members.size], scores[self.members.size :]

    def of_members(self, scores: np.ndarray) -> MemberScores:
        """Return the scores with the positions of their rows."""
        return MemberScores(*self.split(scores), self.members, self.others)


def attacked_pool(context: Context, fraction: float, max_rows: int | None, seed: int) -> Pool:
    """Return the attacked rows and disjoint reference rows."""
    train, holdout = (drawing_order(context, role, seed) for role in ("train", "holdout"))
    n_known = n_reference(context, fraction, None)
    known, others = holdout[:n_known], holdout[n_known:]
    n_rows = max(train.size, others.size) if max_rows is None else max_rows
    return Pool(train[-n_rows:], others[-n_rows:], known, max_rows)


@shared
def pooled_scores(context: Context, attacks: tuple[str, ...], pool: Pool, seed: int) -> np.ndarray:
    """Return the scores of the attacked rows for the synthetic data, shape (n_attacks, n_rows)."""
    by_attack = []
    for attack in attacks:
        scores = member_scores(context, attack, pool.max_rows, seed=seed, reference=pool.reference)
        members = np.searchsorted(scores.member_rows, pool.members)
        others = np.searchsorted(scores.other_rows, pool.others)
        by_attack.append(np.concatenate([scores.members[members], scores.others[others]]))
    return np.stack(by_attack)


@shared
def scores_of_worlds(
    context: Context, models: Models, attacks: tuple[str, ...], pool: Pool
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a generator to random halves of the rows, and score the attacked rows for each table."""
    worlds, inside = worlds_of_halves(context, models, n_left_out=pool.reference.size)
    scores = [pooled_scores(world, attacks, pool, models.seed) for world in worlds]
    attacked = np.concatenate([pool.members, context.n_rows("train") + pool.others])
    return np.stack(scores), inside[:, attacked]


def normal_scores(scores: np.ndarray) -> np.ndarray:
    """Return the ranks along the last axis on the scale of the normal distribution."""
    ranks = rankdata(scores, axis=-1)
    scaled: np.ndarray = ndtri(ranks / (scores.shape[-1] + 1.0))
    return scaled


def stacked_scores(
    released: np.ndarray, scores: np.ndarray, inside: np.ndarray, classifier: Any, seed: int
) -> np.ndarray:
    """Combine scores with a classifier that is trained on tables with and without each row."""
    seen, asked = normal_scores(scores), normal_scores(released)
    pairs = np.arange(len(seen)) // 2
    learned, unseen = [], []
    for attack, own in enumerate(asked):
        by_model = seen[:, attack]
        apart = moments(by_model, inside, per_record=False, left_out=pairs)
        learned += [by_model, offline_score(by_model, apart)]
        usual = moments(by_model, inside, per_record=False)
        unseen += [own, offline_score(own, usual)]
    features = np.stack(learned, axis=-1).reshape(-1, len(learned))
    numeric = [False] * len(learned)
    estimator = LINEAR if classifier is None else classifier
    model = learn(estimator, features, inside.ravel(), numeric, seed)
    return model.scores(np.stack(unseen, axis=-1))
