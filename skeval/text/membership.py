"""Membership inference for texts by their similarity to the synthetic texts."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np
from scipy.stats import rankdata

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.privacy.attacks.membership.rates import (
    FalsePositiveRates,
    area_with_test,
    curve_points,
    rates,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.roc import auc, clustered_delong
from skeval.steps.members import MemberScores
from skeval.steps.samples import sample_positions
from skeval.tables.embedding import Vectorizer
from skeval.text.corpus import (
    Corpus,
    CorpusMetric,
    corpus,
    lacking_texts,
    sizes,
    text_exchange_p_value,
)
from skeval.text.vectors import copied_or_nearest, text_vectors
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Fraction, Interval, OpenFraction

_FOUND = "pairs of a training and a holdout text with the training text closer to a synthetic one"
_ADVICE = (
    "Train for fewer steps or with noise, because training texts are too similar to the generated "
    "texts."
)


@declared
class TextMembershipInference(CorpusMetric):
    r"""AUC of an attack that separates training from holdout texts by their synthetic neighbors.

    An attacker has the synthetic data and a text, for example a message, and wants to find out
    whether the generator was trained on it. The attacker infers membership if a synthetic text is
    very similar to it. Training texts are the members, and holdout texts are the others. The value
    is the fraction of pairs in which the member is more similar to its nearest synthetic text. The
    AUC is 0.5 if the attacker guesses and 1 for a perfect attack. Lower is better.

    Parameters
    ----------
    vectorizer : "tfidf", transformer or object with encode, default="tfidf"
        Method that converts texts to vectors. "tfidf" uses words with a higher weight for rare
        words. A scikit-learn transformer is fitted on the real texts of both tables. A sentence
        embedder also recognizes paraphrased texts.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates for which the true positive rate is reported.
    alert : float, default=0.7
        AUC from which ``details["alert"]`` is True.
    prior : float, default=0.5
        Fraction of members among the texts of the attacker, which is used for the precision.
    max_texts : int or None, default=10_000
        Maximum number of training texts and of holdout texts, sampled at random. If None, all texts
        are used. They are compared with all synthetic texts.
    n_permutations : int, default=1999
        Number of permutations for the p-values of rates, and of the value if authors are permuted
        or texts are repeated.
    random_state : int, default=0
        Seed of samples and labels.

    Warnings
    --------
    This is the result of one attacker. An AUC of 0.5 does not rule out a leak. The AUC is an
    average over all texts, in which a few exposed texts have little influence.

    See Also
    --------
    skeval.privacy.MembershipInference : Attacks complete rows, with many attacks.
    NearDuplicateText : Fraction of synthetic texts that are similar to a training text.
    TextCanaryExposure : Searches for texts that were planted in the training data.

    Notes
    -----
    With unit vectors of texts, a real text t scores

    .. math:: \max_{s \\in S} \langle v(t), v(s) \rangle

    over the distinct synthetic texts S. The vectors use both tables without labels. Therefore the
    labels are exchangeable if nothing was learned about any text. The one-sided p-value is computed
    by a Mann-Whitney test. With authors, or if several rows have the same text, it is computed by
    permutation of authors or rows. The interval is computed with DeLong's method, or with the
    method of Obuchowski for clustered data if there are authors.

    ``details`` contains the AUC of the attack, and `tpr_at_fpr`, `advantage`, `max_advantage` and
    at most 200 points of the ROC `curve` as in :class:`~skeval.privacy.MembershipInference`. Their
    p-values treat texts as independent.

    If the synthetic data repeat only a few texts, the AUC is close to 0.5. The true positive rates
    at low false positive rates and :class:`TextExactMatch` find such copies. A value of 0.5 only
    shows that this attack was not successful.

    References
    ----------
    M. Meeus et al., "The canary's echo: auditing privacy risks of LLM-generated synthetic text",
    ICML 2025, arXiv:2502.14921.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextMembershipInference
    >>> train = pd.DataFrame({"note": ["Has a bad cough", "Fell on the ice", "Sleeps badly"]})
    >>> holdout = pd.DataFrame({"note": ["Cut a finger", "Lost his hearing", "Burns an arm"]})
    >>> synthetic = pd.DataFrame({"note": ["A bad cough", "Fell on ice", "He sleeps badly"]})
    >>> schema = {"note": "text"}
    >>> TextMembershipInference().fit(train, holdout, schema=schema).score(synthetic)
    1.0
    """

    tags = replace(ATTACK_TAGS, needs=frozenset({"holdout", "text"}), display="ROCDisplay")

    vectorizer: Vectorizer = "tfidf"
    _: KW_ONLY
    fpr: FalsePositiveRates = (0.1, 0.01, 0.001)
    alert: Fraction = 0.7
    prior: OpenFraction = 0.5
    max_texts: Annotated[int, Interval(20)] | None = 10_000
    n_permutations: Annotated[int, Interval(19)] = 1999

    def _score_texts(self, context: Context) -> tuple[np.ndarray, np.ndarray]:
        sampling = (self.max_texts, self.random_state)
        return nearest_synthetic(context, *self._key(context), self.vectorizer, *sampling)

    def _compute(self, context: Context) -> Result:
        texts = corpus(context, *self._key(context))
        if lacking := lacking_texts(texts, "train", "holdout", "synthetic"):
            return undefined_result(lacking)
        chosen, scores = self._score_texts(context)
        scored = member_scores(chosen, scores, texts.held)
        return Result(auc(scored.members, scored.others))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        texts, (chosen, scores) = corpus(context, *self._key(context)), self._score_texts(context)
        scored = member_scores(chosen, scores, texts.held)
        trials: dict[str, Any] = {"n_permutations": self.n_permutations, "seed": self.random_state}
        area = area_with_test(scored.members, scored.others)
        if self.group is not None or area["n_members"] + area["n_others"] > chosen.size:
            ranks = (rankdata(scores) - 0.5) / scores.size
            area["p_value"] = text_exchange_p_value(texts, chosen, ranks, **trials)
        if self.group is not None:
            whose = first_holders(texts)
            rows = scored.member_rows, scored.other_rows
            by_author = clustered_delong(
                scored.members, scored.others, *(whose[own] for own in rows)
            )
            area["interval"] = list(by_author.interval)
            area["standard_error"] = by_author.standard_error
        halves = in_halves(scored, self.random_state)
        details: dict[str, Any] = {
            **sizes(texts),
            "attack": "nearest_synthetic_text",
            "attacks": {"nearest_synthetic_text": area},
            "alert": bool(area["auc"] >= self.alert),
            "curve": curve_points(scored),
        }
        if min(half.fewest for half in halves):
            alphas = np.atleast_1d(self.fpr).tolist()
            details |= rates(scored, *halves, alphas, prior=self.prior, **trials)
        return replace(
            result,
            interval=area["interval"],
            p_value=area["p_value"],
            baseline=0.5,
            contrast=Contrast(
                _FOUND, result.value, 0.5, least_p=least_p_value(texts.n_train, texts.n_holdout)
            ),
            advice=_ADVICE,
            details=details,
        )

    def _summary(self, result: Result) -> str:
        return (
            "An attacker with the synthetic data infers whether a text was in the training "
            "data from "
            "its similarity to the nearest synthetic text. The attack ranks a training text "
            "above a "
            f"holdout text in {percent(as_float(result.value))} of the pairs (50% expected "
            "by chance)."
        )


def member_scores(chosen: np.ndarray, scores: np.ndarray, held: Any) -> MemberScores:
    """Return scores of training and holdout texts. A text in both has its score in both."""
    members, others = (held[role][chosen] for role in ("train", "holdout"))
    return MemberScores(scores[members], scores[others], chosen[members], chosen[others])


def first_holders(texts: Corpus) -> np.ndarray:
    """Return a number for the owner of each text, either a unit or a unique number.

    Authors in both tables are not units, so each of their texts is treated separately.
    """
    holders = texts.holders
    held = np.diff(holders.indptr) > 0
    whose = holders.shape[1] + np.arange(held.size)
    whose[held] = holders.indices[holders.indptr[:-1][held]]
    return np.asarray(whose)


def in_halves(scored: MemberScores, seed: int) -> tuple[MemberScores, MemberScores]:
    """Split scored texts into two halves. Texts of both tables are assigned to one half."""
    numbers = np.union1d(scored.member_rows, scored.other_rows)
    first = np.random.default_rng(seed).random(numbers.size) < 0.5
    members, others = (
        first[np.searchsorted(numbers, rows)] for rows in (scored.member_rows, scored.other_rows)
    )
    return scored.take(members, others), scored.take(~members, ~others)


@shared
def nearest_synthetic(
    context: Context,
    columns: tuple[str, ...],
    group: str | None,
    vectorizer: Any,
    max_texts: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct real texts, possibly a sample, with their similarity to the synthetic texts.

    A text of both tables is included once.
    """
    texts = corpus(context, columns, group)
    numbers = [texts.numbers(role) for role in ("train", "holdout")]
    # the sample depends only on the size of the table, not on its role
    drawn = [own[sample_positions(own.size, max_texts, seed)] for own in numbers]
    chosen = np.unique(np.concatenate(drawn))
    vectors = text_vectors(context, columns, group, vectorizer)
    return chosen, copied_or_nearest(vectors, chosen, texts.numbers("synthetic"))
