"""Membership inference on texts: what is most like a release is guessed to be of train."""

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

_FOUND = "pairs of a train and a holdout text in which the train text is more like a synthetic one"
_ADVICE = (
    "Train for fewer steps or with noise: texts of train are too like those that the generator "
    "writes."
)


@declared
class TextMembershipInference(CorpusMetric):
    r"""AUC of telling train from holdout texts by the release: 0.5 by chance, 1 without a mistake.

    An attacker holds the release and a text, perhaps a message that somebody wrote, and wants to
    know whether the generator learned from it. A text that some synthetic one resembles closely is
    guessed to be a member: train texts are the members, holdout texts the others, and the value is
    the share of pairs of the two in which the member is more like its nearest synthetic text.

    Parameters
    ----------
    vectorizer : "tfidf", transformer or object with encode, default="tfidf"
        What makes vectors of texts: their words, rare ones weighing more; a transformer of
        scikit-learn that takes texts, which is fitted on the real ones of both tables; or a
        sentence embedder, which knows a text in other words again.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates at which the share of members called so is reported.
    alert : float, default=0.7
        From which AUC on ``details["alert"]`` is True.
    prior : float, default=0.5
        Share of members among the texts that the attacker looks at, for the precision of a call.
    max_texts : int or None, default=10_000
        Texts of train, and of the holdout, that are scored, a seeded sample; None for all. They are
        compared with all synthetic texts.
    n_permutations : int, default=1999
        Random labellings behind the p-values of rates, and of the value if authors change places or
        texts occur twice.
    random_state : int, default=0
        Seed of samples and labels.

    Warnings
    --------
    This is what one adversary achieves: an AUC of 0.5 does not clear a release. It is an average
    over all texts, in which a few that are exposed hardly show.

    See Also
    --------
    skeval.privacy.MembershipInference : The same of rows, by many attacks.
    NearDuplicateText : The share of synthetic texts that are near one of train.
    TextCanaryExposure : Texts planted in train to be looked for.

    Notes
    -----
    With unit vectors of texts, a real text t scores

    .. math:: \max_{s \\in S} \langle v(t), v(s) \rangle

    over the distinct synthetic texts S. The vectors know both tables and no labels, so that labels
    are exchangeable if nothing was learned of any one text. The p-value is one-sided: that of Mann
    and Whitney. With authors, or if several rows have one text, it is that of random choices of
    which authors, or rows, were train. The interval is DeLong's; with authors it is that of
    Obuchowski, for texts that are alike within authors.

    ``details`` has the AUC of the attack, and as
    :class:`~skeval.privacy.MembershipInference` explains them `tpr_at_fpr`, `advantage`,
    `max_advantage`, and at most 200 points of the ROC `curve`; their own p-values take texts to be
    independent too.

    A release that repeats a few texts has an AUC near 0.5: the rates at few false positives and
    :class:`TextExactMatch` see it. A value of 0.5 says that this attack finds nothing.

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
            "An attacker who has the release and a text guesses whether it was in train by how "
            "like the nearest synthetic text it is: a train text ranks above a holdout text "
            f"{percent(as_float(result.value))} of the time, by chance 50%."
        )


def member_scores(chosen: np.ndarray, scores: np.ndarray, held: Any) -> MemberScores:
    """Return scores of train texts and of holdout texts; a text of both has its score in both."""
    members, others = (held[role][chosen] for role in ("train", "holdout"))
    return MemberScores(scores[members], scores[others], chosen[members], chosen[others])


def first_holders(texts: Corpus) -> np.ndarray:
    """Return a number for who holds each text: a unit, or one of its own if it has none.

    Authors that both tables have are no units: each of their texts is taken by itself.
    """
    holders = texts.holders
    held = np.diff(holders.indptr) > 0
    whose = holders.shape[1] + np.arange(held.size)
    whose[held] = holders.indices[holders.indptr[:-1][held]]
    return np.asarray(whose)


def in_halves(scored: MemberScores, seed: int) -> tuple[MemberScores, MemberScores]:
    """Divide scored texts in two; a text of both tables falls to one half."""
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
    """Return distinct real texts, perhaps a sample of each table, and how like the release each is.

    A text of both tables is there once.
    """
    texts = corpus(context, columns, group)
    numbers = [texts.numbers(role) for role in ("train", "holdout")]
    # the same draw for both: a table's size alone decides which places are drawn
    drawn = [own[sample_positions(own.size, max_texts, seed)] for own in numbers]
    chosen = np.unique(np.concatenate(drawn))
    vectors = text_vectors(context, columns, group, vectorizer)
    return chosen, copied_or_nearest(vectors, chosen, texts.numbers("synthetic"))
