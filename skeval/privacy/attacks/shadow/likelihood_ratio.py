"""Membership inference by likelihood ratios: each row is compared with its own usual score."""

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
_MANY = 64  # models from which on a record has a standard deviation of its own
_MAX_FEW_MODELS = (
    "with {n} models a row has about {half} scores with it and as many without: too few for a "
    "standard deviation of its own. Give 64 models or more, or variance='global'."
)
_MIN_SPREAD = 1e-6  # of the spread of all scores: what counts as none


# how a synthetic table scores rows: by an attack of membership inference, or by queries
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
    """Base of the attacks that learn how rows score from fits to random halves of the real rows.

    Parameters
    ----------
    n_models : int, default=64
        Fits, each to half of train and holdout together; at least 8. Every second one has the rows
        that the one before has not.
    alert : float, default=0.7
        From which AUC on ``details["alert"]`` is True.
    fpr : float or list of float, default=(0.1, 0.01, 0.001)
        False positive rates at which the share of detected members is reported.
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
        """Return how well scores of rows tell members from others."""
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
    """AUC of telling train from holdout rows by likelihood ratios: 0.5 by chance, 1 without errors.

    Some rows are close to any synthetic table, because many people are like that, and some are far
    from it. An attacker who can run the generator takes that into account: they fit it to many
    random halves of the real rows, and so know how each row scores where it was in the training
    rows, and where it was not. Then they look at the release, and ask which of the two the score of
    each row is more like.

    Parameters
    ----------
    targets : str or sequence of int, default="all"
        Which rows of train and holdout are attacked: all, or the `n_targets` most exposed of both
        together, by a method of :class:`~skeval.privacy.ShadowMembershipInference`; or positions
        of rows of train, which are compared with all rows of the holdout.
    n_targets : int, default=100
        How many, unless all.
    record_score : {"neg_distance", "query", "log_density"}, default="neg_distance"
        What a table says of a row: minus Gower's distance to the nearest synthetic row; in how many
        sets of columns synthetic rows agree with it, on a log scale; or the log density of the
        synthetic rows there.
    variance : {"global", "per_record"}, default="global"
        Whether the scores of all rows vary alike, or each row has a standard deviation of its own,
        which takes many models.
    mode : {"online", "offline"}, default="online"
        Whether scores are compared with those with the row and without it, or only with those
        without it, which is all that an attacker has who learns of the row after fitting.

    Raises
    ------
    InvalidParameterError
        At fit, if `max_fits` would be exceeded.

    Warnings
    --------
    An average over all rows hides a few that are detected: give a method in `targets`, too. This is
    what one adversary achieves: a low value does not clear a release.

    See Also
    --------
    MembershipInference : The same scores, without models to calibrate them.
    StackedMembershipInference : Several scores together, blended by a classifier.
    ShadowMembershipInference : Attacks a few exposed rows, by many tables of each.
    OneRunDPAudit : Bounds epsilon by the guesses of such an attack.

    Notes
    -----
    With means and standard deviations of a row's scores with it and without it, online is the
    log ratio of the normal densities of its score by the release, and offline by how many standard
    deviations that is above the mean without it. The tables made have as many rows as the release.

    The value is the AUC on the release; the interval is DeLong's on the logit scale, the p-value
    that of Mann and Whitney, one-sided. Halves are drawn without regard to which rows are train, so
    that the labels are exchangeable if the release does not depend on them. The baseline is 0.5.
    ``details["uncalibrated_auc"]`` is that of the plain scores. `tpr_at_fpr` and `curve` are as of
    :class:`~skeval.privacy.MembershipInference`.

    In ``details["models"]``, each of the models takes the place of the release in turn, with
    moments from the others, that of the other half left out too: that is about the generator, not
    about this release, and has more rows to estimate small false positive rates. `auc` is the mean
    over the models, its interval Student's t over the pairs of halves; online it is wider by the
    root of 2, since any two pairs are compared both ways.

    The halves are of train and holdout; where train is larger than half of both, the release was
    made of more rows than the halves have, which shifts the scores of all rows alike.

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
            return undefined_result("fewer than two rows of train or of the holdout are attacked.")
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
        # what the other half scores depends on this one: it must not say which rows are in it
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
            "Held against its usual score with and without it, a train row looks more learned from "
            f"than a holdout row in {percent(result.value)} of pairs; 50% would be by chance."
        )

    def _ratios(self, rows: np.ndarray, *known: Any, left_out: Any = None) -> np.ndarray:
        """Return how much more scores are like those with the record; others as of `moments`."""
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
    """Return the greatest true positive rate at each false positive rate, and its test."""
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
    """Return how well the other models detect which rows each model learned from."""
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
    # online, what one pair says of another is in the AUC of both
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
    """Fit a generator to random halves of train and holdout, and score all rows by each."""
    # Halves come in pairs that have no row in common, so that each row is in as many as it is
    # not.
    worlds, inside = worlds_of_halves(context, models)
    return np.stack([record_scores(world, score) for world in worlds]), inside


def worlds_of_halves(
    context: Context, models: Models, n_left_out: int = 0
) -> tuple[Iterator[Context], np.ndarray]:
    """Fit a generator to random halves of train and holdout, less some rows of the holdout."""
    train, holdout = (drawing_order(context, r, models.seed) for r in ("train", "holdout"))
    rows = np.append(train, context.n_rows("train") + holdout[n_left_out:])
    fits, inside = fits_of_halves(rows, models.n_models, models.seed)
    how: dict[str, Any] = {"n_synthetic": models.n_synthetic, "execution": models.execution}
    tables = play(models.generator, given_rows(context), fits, whole_table, **how)
    return (context.with_synthetic(one) for (one,) in tables), inside


def fits_of_halves(rows: np.ndarray, n_models: int, seed: int) -> tuple[list[Fit], np.ndarray]:
    """Get fits to random halves of rows, every second one to those that the one before has not."""
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
    """Return the table as it is: what is measured of it, all rows take part in."""
    return table


def record_scores(context: Context, score: str) -> np.ndarray:
    """Return the scores of all rows of train, then of the holdout, by the synthetic table."""
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
    """Return the most exposed rows of train and holdout together, whichever table they are of."""
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
    # Its normal distribution function is the published score, in the same order; that one has
    # no digits left far above.
    return (scores - known.mean_out) / known.sd_out


def moments(
    scores: np.ndarray, inside: np.ndarray, *, per_record: bool, left_out: np.ndarray | None = None
) -> Moments:
    """Return the moments of records over models."""
    # of one layout: sums over models depend on how these lie in memory
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
    """Return sums over models; for each model over those that are not of its group."""
    total = parts.sum(axis=0)
    if left_out is None:
        return total
    same = (left_out[:, None] == left_out).astype(np.float64)
    return total - same @ parts
