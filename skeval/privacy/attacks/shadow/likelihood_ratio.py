"""Membership inference by likelihood ratios, which compare each row with its usual score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import t

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import SHADOW_TAGS
from skeval.exceptions import MetricWarning, TableError
from skeval.privacy.attacks.membership.rates import (
    PAIRS,
    FalsePositiveRates,
    curve_points,
    rate_with_test,
)
from skeval.privacy.attacks.shadow.game import (
    Execution,
    Fit,
    GeneratorAttack,
    check_cost,
    check_positions,
    given_rows,
    play,
)
from skeval.privacy.attacks.shadow.row_features import Domain, Reader, agreement_scores
from skeval.privacy.attacks.shadow.targets import METHODS, rows_or, target_positions
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.roc import auc, auc_p_value, delong, label_tests, tpr_at_fpr
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.member_rows import drawing_order
from skeval.steps.members import MemberScores, member_scores
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count, Fraction, Interval

_NAME = "likelihood_ratio"
_N_PERMUTATIONS = 199
_MANY = 64  # smallest number of models for a standard deviation per record
_MAX_FEW_MODELS = (
    "with {n} models, a row has about {half} scores with it and {half} without, too few for a "
    "standard deviation per row. Use 64 models or more, or variance='global'."
)
_MIN_SPREAD = 1e-6  # fraction of the spread of all scores that counts as 0


# function that scores rows with a synthetic table
SCORES = {"neg_distance": "distance", "query": None, "log_density": "eq1"}


@dataclass(frozen=True)
class Models:
    """The fits of a generator to random halves of the real rows, before they are run."""

    generator: Any
    n_models: int
    n_synthetic: int
    seed: int
    execution: Execution


@declared
class HalvesAttack(GeneratorAttack):
    """Base class of the attacks that learn row scores from random halves of the real rows.

    Parameters
    ----------
    n_models : int, default=64
        Number of fits (at least 8), each to half of the training and holdout rows together. The two
        fits of a pair use complementary halves.
    alert : float, default=0.7
        Smallest AUC for which ``details["alert"]`` is True.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates at which the fraction of detected members is reported.
    """

    tags = replace(SHADOW_TAGS, display="ROCDisplay")

    _: KW_ONLY
    n_models: Annotated[int, Interval(8)] = 64
    alert: Fraction = 0.7
    fpr: FalsePositiveRates = (0.1, 0.01, 0.001)

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table."""
        return self.n_models

    def _prepare(self, context: Context) -> None:
        check_cost(type(self).__name__, self.estimate_cost(), self.max_fits, "n_models")

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context)

    @property
    def _alphas(self) -> list[float]:
        """The false positive rates."""
        rates: list[float] = np.atleast_1d(self.fpr).tolist()
        return rates

    def _models(self, context: Context) -> Models:
        n_synthetic, seed = context.n_rows("synthetic"), self.random_state
        return Models(self.generator, self.n_models, n_synthetic, seed, self._execution)

    def _detection(self, name: str, by: str, members: np.ndarray, others: np.ndarray) -> Result:
        """Return the success with which scores of rows separate members from others."""
        area = delong(members, others)
        return Result(
            area.value,
            interval=area.interval,
            p_value=auc_p_value(members, others),
            baseline=0.5,
            contrast=Contrast(PAIRS.format(by=by), area.value, 0.5),
            details={
                "attack": name,
                "alert": bool(area.value >= self.alert),
                "n_members": members.size,
                "n_others": others.size,
                "n_fits": self.n_models,
            },
        )


@declared
class LikelihoodRatioMIA(HalvesAttack):
    """AUC of an attack that separates training from holdout rows with likelihood ratios.

    Some rows are close to any synthetic table, because many records are similar, and other rows are
    far away. An attacker who can run the generator accounts for this difference. The attacker fits
    the generator to many random halves of the real rows and learns the scores of each row with and
    without the row in the training half. Then the attacker compares the score of each row on the
    release with both sets of scores. The AUC is 0.5 by random guessing and 1 without errors. Lower
    is better.

    Parameters
    ----------
    targets : str or sequence of int, default="all"
        Attacked rows. "all" attacks all rows. A method of
        :class:`~skeval.privacy.ShadowMembershipInference` selects the `n_targets` most exposed rows
        of both tables. Positions select training rows, which are compared with all holdout rows.
    n_targets : int, default=100
        Number of targets, unless all rows are attacked.
    record_score : {"neg_distance", "query", "log_density"}, default="neg_distance"
        Score of a row on a table. "neg_distance" is minus Gower's distance to the nearest synthetic
        row, "query" is the number of sets of columns in which synthetic rows match the row, on a
        log scale, and "log_density" is the log density of the synthetic rows.
    variance : {"global", "per_record"}, default="global"
        Whether all rows have the same standard deviation of scores, or each row a separate one,
        which requires many models.
    mode : {"online", "offline"}, default="online"
        "online" compares scores with the scores with and without the row. "offline" uses only the
        scores without the row, for an attacker who learns of the row after fitting.

    Raises
    ------
    InvalidParameterError
        At fit, if `max_fits` would be exceeded.

    Warnings
    --------
    An average over all rows may hide a few detected rows, so also use a method in `targets`. The
    value describes one attacker, and a low value does not clear a release.

    See Also
    --------
    MembershipInference : Uses such scores without fitting further generators.
    StackedMembershipInference : Combines several scores with a classifier.
    ShadowMembershipInference : Attacks a few exposed rows, with many tables for each row.
    OneRunDPAudit : Computes a lower bound on epsilon from the guesses of an attack.

    Notes
    -----
    The scores of a row are summarized by two means and standard deviations, from the models fitted
    with the row and from the models fitted without the row. "online" is the log ratio of the two
    normal densities at the score on the release. "offline" is the number of standard deviations by
    which this score exceeds the mean without the row. The tables of the models have the same number
    of rows as the release.

    The value is the AUC on the release. The interval uses DeLong's method on the logit scale, and
    the p-value is one-sided, after Mann and Whitney. The halves are drawn independently of which
    rows are training rows, so the labels are exchangeable if the release does not depend on them.
    The baseline is 0.5. ``details["uncalibrated_auc"]`` is the AUC of the plain scores.
    `tpr_at_fpr` and `curve` are described in :class:`~skeval.privacy.MembershipInference`.

    In ``details["models"]``, each model replaces the release in turn, with moments from the other
    models except the complementary half. These results describe the generator and not this release.
    They are based on more rows, so that small false positive rates can be estimated. `auc` is the
    mean over the models. The interval of `auc` uses Student's t over the pairs of halves. For
    "online", the interval is wider by the square root of 2, because any two pairs are compared in
    both directions.

    The halves come from training and holdout data. If the training data have more than half of all
    rows, the release was made from more rows than a half has. This shifts the scores of all rows in
    the same way.

    References
    ----------
    N. Carlini et al., "Membership inference attacks from first principles", IEEE S&P 2022,
    arXiv:2112.03570.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> from skeval.privacy import LikelihoodRatioMIA
    >>> train, holdout = make_mixed(80, random_state=0), make_mixed(80, random_state=1)
    >>> release = Bootstrap().fit(train).sample(80, random_state=2)
    >>> attack = LikelihoodRatioMIA(Bootstrap(), n_models=8).fit(train, holdout)
    >>> attack.estimate_cost(), attack.score(release) > 0.7
    (8, True)
    """

    targets: Annotated[str | Sequence[int], rows_or(("all", *METHODS[:-1]))] = "all"
    n_targets: Count = 100
    _: KW_ONLY
    record_score: Literal["neg_distance", "query", "log_density"] = "neg_distance"
    variance: Literal["global", "per_record"] = "global"
    mode: Literal["online", "offline"] = "online"

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        check_positions(self.targets, context.n_rows("train"))

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined_result("no column of this table can be measured.")
        attacked = attacked_rows(context, self.targets, self.n_targets, self.random_state)
        n_members = int((attacked < context.n_rows("train")).sum())
        n_others = attacked.size - n_members
        if min(n_members, n_others) < 2:
            return undefined_result("fewer than two train rows or two holdout rows are attacked.")
        try:
            released = record_scores(context, self.record_score)[attacked]
        except TableError as error:
            return undefined_result(str(error))
        ratios = self._ratios(released, *self._scores(context, attacked))
        members, others = np.split(ratios, [n_members])
        result = self._detection(_NAME, "a likelihood ratio", members, others)
        area = {"auc": result.value, "interval": list(result.interval or ())}
        few = self.variance == "per_record" and self.n_models < _MANY
        text = _MAX_FEW_MODELS.format(n=self.n_models, half=self.n_models // 2)
        return replace(
            result,
            details={**result.details, "attacks": {_NAME: area}},
            warnings=(MetricWarning(text),) if few else (),
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        attacked = attacked_rows(context, self.targets, self.n_targets, self.random_state)
        released = record_scores(context, self.record_score)[attacked]
        scores, inside = self._scores(context, attacked)
        ratios = member_ratios(context, attacked, self._ratios(released, scores, inside))
        # the scores of the other half depend on this half and must not reveal its rows
        pairs = np.arange(len(scores)) // 2
        by_model = self._ratios(scores, scores, inside, left_out=pairs)
        alphas = self._alphas
        added = {
            "uncalibrated_auc": auc(*np.split(released, [ratios.members.size])),
            "tpr_at_fpr": tested_rates(ratios, alphas, self.random_state),
            "curve": curve_points(ratios),
            "models": _over_models(by_model, inside, alphas, online=self.mode == "online"),
        }
        return replace(result, details={**result.details, **added})

    def _summary(self, result: Result) -> str:
        return (
            "Compared with its usual score with and without it, a train row looks more memorized "
            f"than a holdout row in {percent(result.value)} of pairs (50% is expected by chance)."
        )

    def _ratios(self, rows: np.ndarray, *known: Any, left_out: Any = None) -> np.ndarray:
        """Return how similar scores are to scores with the record, with arguments of `moments`."""
        usual = moments(*known, per_record=self.variance == "per_record", left_out=left_out)
        return (likelihood_ratio if self.mode == "online" else offline_score)(rows, usual)

    def _scores(self, context: Context, attacked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of rows by each model, and whether they were in its half."""
        scores, inside = scores_of_halves(context, self._models(context), self.record_score)
        return scores[:, attacked], inside[:, attacked]


def member_ratios(context: Context, attacked: np.ndarray, ratios: np.ndarray) -> MemberScores:
    """Return ratios as scores of members and others."""
    n_train = context.n_rows("train")
    at = [int((attacked < n_train).sum())]
    (members, others), (rows, other_rows) = np.split(ratios, at), np.split(attacked, at)
    return MemberScores(members, others, rows, other_rows - n_train)


def tested_rates(scores: MemberScores, alphas: Sequence[float], seed: int) -> list[dict[str, Any]]:
    """Return the largest true positive rate at each false positive rate, and its test."""
    tests, _ = label_tests(
        scores.members, scores.others, alphas, n_permutations=_N_PERMUTATIONS, seed=seed
    )
    return [
        rate_with_test(scores, alpha, test.p_value)
        for alpha, test in zip(alphas, tests, strict=True)
    ]


def _over_models(
    ratios: np.ndarray, inside: np.ndarray, alphas: Sequence[float], *, online: bool
) -> dict[str, Any]:
    """Return the success of the other models in detecting the rows of each model."""
    areas = np.array(
        [
            auc(row[mask], row[~mask]) if 0 < mask.sum() < mask.size else np.nan
            for row, mask in zip(ratios, inside, strict=True)
        ]
    )
    n_pairs = areas.size // 2
    pairs = areas[: 2 * n_pairs].reshape(n_pairs, 2).mean(axis=1)
    pairs = pairs[~np.isnan(pairs)]
    if pairs.size < 2:
        return {}
    value = float(pairs.mean())
    # online, the comparison of two pairs enters the AUC of both
    n_apart = pairs.size / (2.0 if online else 1.0)
    reach = float(t.ppf(0.975, pairs.size - 1) * pairs.std(ddof=1) / np.sqrt(n_apart))
    return {
        "auc": value,
        "interval": [max(0.0, value - reach), min(1.0, value + reach)],
        "tpr_at_fpr": [
            {"fpr": alpha, "tpr": tpr_at_fpr(ratios[inside], ratios[~inside], alpha)}
            for alpha in alphas
        ],
    }


@shared
def scores_of_halves(context: Context, models: Models, score: str) -> tuple[np.ndarray, np.ndarray]:
    """Fit a generator to random halves of the real rows, and score all rows with each fit."""
    # The two halves of a pair are disjoint, so each row is in exactly half of the fits.
    worlds, inside = worlds_of_halves(context, models)
    return np.stack([record_scores(world, score) for world in worlds]), inside


def worlds_of_halves(
    context: Context, models: Models, n_left_out: int = 0
) -> tuple[Iterator[Context], np.ndarray]:
    """Fit a generator to random halves of the real rows, without some holdout rows."""
    train, holdout = (drawing_order(context, r, models.seed) for r in ("train", "holdout"))
    rows = np.append(train, context.n_rows("train") + holdout[n_left_out:])
    fits, inside = fits_of_halves(rows, models.n_models, models.seed)
    how: dict[str, Any] = {"n_synthetic": models.n_synthetic, "execution": models.execution}
    tables = play(models.generator, given_rows(context), fits, whole_table, **how)
    return (context.with_synthetic(one) for (one,) in tables), inside


def fits_of_halves(rows: np.ndarray, n_models: int, seed: int) -> tuple[list[Fit], np.ndarray]:
    """Return fits to random halves of rows, in pairs of complementary halves."""
    rng = np.random.default_rng(seed)
    fits: list[Fit] = []
    inside = np.zeros((n_models, int(rows.max()) + 1), dtype=np.bool_)
    for model in range(n_models):
        if model % 2 == 0:
            halves = np.split(rng.permutation(rows), [rows.size // 2])
        half = halves[model % 2]
        inside[model, half] = True
        fits.append(Fit(half, int(rng.integers(2**31))))
    return fits, inside


def whole_table(table: pd.DataFrame, target: int) -> pd.DataFrame:
    """Return the table unchanged, because all rows contribute to its score."""
    return table


def record_scores(context: Context, score: str) -> np.ndarray:
    """Return the scores of all training rows, then of all holdout rows, for the synthetic table."""
    if (attack := SCORES[score]) is not None:
        scores = member_scores(context, attack)
        return np.concatenate([scores.members, scores.others])
    real, domain = _pool(context)
    return agreement_scores(real, Reader.from_context(context).rows(context.synthetic), domain)


@shared
def _pool(context: Context) -> tuple[np.ndarray, Domain]:
    reader = Reader.from_context(context)
    rows = np.concatenate([reader.rows(context[role]) for role in ("train", "holdout")])
    return rows, Domain.from_rows(rows, reader.nominal)


def attacked_rows(
    context: Context, targets: str | Sequence[int], n_targets: int, seed: int
) -> np.ndarray:
    """Return the rows that are attacked, by position in both tables, train first, ascending."""
    n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
    if isinstance(targets, str):
        if targets == "all":
            return np.arange(n_train + n_holdout)
        return pooled_targets(context, targets, n_targets, seed)
    chosen = np.sort(np.argsort(context.places("train"))[list(targets)])
    return np.append(chosen, n_train + np.arange(n_holdout))


@shared
def pooled_targets(context: Context, method: str, n_targets: int, seed: int) -> np.ndarray:
    """Return the most exposed rows of training and holdout data together."""
    rows = pd.concat([context.train, context.holdout], ignore_index=True)
    pool = Context(context.schema, {"train": rows}, levels=context.levels)
    return np.sort(target_positions(pool, method, n_targets, seed=seed))


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of each record's scores, with it and without it."""

    mean_in: np.ndarray
    sd_in: np.ndarray
    mean_out: np.ndarray
    sd_out: np.ndarray


def likelihood_ratio(scores: np.ndarray, known: Moments) -> np.ndarray:
    """Return the log ratio of normal densities of scores, with the record to without it."""
    # Source: N. Carlini et al., "Membership inference attacks from first principles", IEEE
    # S&P 2022, arXiv:2112.03570.
    inside = (scores - known.mean_in) / known.sd_in
    outside = (scores - known.mean_out) / known.sd_out
    return (outside**2 - inside**2) / 2.0 + np.log(known.sd_out / known.sd_in)


def offline_score(scores: np.ndarray, known: Moments) -> np.ndarray:
    """Return how many standard deviations scores are above those without the record."""
    # The published score is its normal distribution function, which gives the same order but loses
    # all digits for large values.
    return (scores - known.mean_out) / known.sd_out


def moments(
    scores: np.ndarray, inside: np.ndarray, *, per_record: bool, left_out: np.ndarray | None = None
) -> Moments:
    """Return the moments of records over models."""
    # one memory layout, because sums over models depend on it
    scores, inside = np.ascontiguousarray(scores), np.ascontiguousarray(inside)
    middle = scores.mean(axis=0)
    centred = scores - middle
    # sorted, sums do not depend on the order of the records
    least = max(float(np.sort(scores, axis=None).std()) * _MIN_SPREAD, 1e-12)
    estimates = []
    for mask in (inside, ~inside):
        counts, totals, squares = (
            _sum_over_models(np.where(mask, part, 0.0), left_out)
            for part in (np.ones_like(centred), centred, centred**2)
        )
        means = totals / np.maximum(counts, 1.0)
        within = np.maximum(squares - counts * means**2, 0.0)
        free = counts - 1.0
        if not per_record:
            within = np.sort(within, axis=-1).sum(axis=-1, keepdims=True) + 0.0 * within
            free = free.sum(axis=-1, keepdims=True) + 0.0 * free
        sd = np.maximum(np.sqrt(within / np.maximum(free, 1.0)), least)
        estimates += [means + middle, sd]
    return Moments(*estimates)


def _sum_over_models(parts: np.ndarray, left_out: np.ndarray | None) -> np.ndarray:
    """Return sums over models, or for each model over the models outside of its group."""
    total = parts.sum(axis=0)
    if left_out is None:
        return total
    same = (left_out[:, None] == left_out).astype(np.float64)
    return total - same @ parts
