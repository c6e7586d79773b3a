"""Protection of a sensitive attribute against an attacker who knows some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.privacy.attacks.secrets import (
    CodedRows,
    KnownAndSensitive,
    NameOrNames,
    Names,
    SomeNames,
    check_known_and_secret,
    check_to_cut,
    coded_rows,
    names_of,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats import correct_attribution
from skeval.stats.row_scores import Scores, difference_interval, exchange_p_value, row_mean
from skeval.steps.samples import named_seed, sample_positions
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Count, Fraction, Scaling, Seed

_UNFOUND = {
    "cap": "no train row has the known columns of a synthetic row.",
    "tcap": "no train row has known columns to which the synthetic table attributes a secret.",
}
_NO_SECRET = (
    "the sensitive columns have one value in train, so there is nothing to guess.  "
    "Set normalize=False to get the protection."
)

# number of drawn rows, number of draws, and their seed
Draws = tuple[int | None, int, int]


@declared
class DisclosureProtection(Metric):
    r"""Protection of a sensitive attribute, relative to a guess without the known columns.

    An attacker knows some columns of a record and finds the synthetic rows with the same values.
    The fraction of these rows with the sensitive values of the record is the probability of a
    correct attribution (CAP). The metric compares the mean of this probability over the training
    data with the success of a guess. The score ranges from 0 (all values are disclosed) to 1 (no
    more than by a guess). Higher is better.

    Parameters
    ----------
    known : list of str
        Columns that the attacker knows (the key).
    sensitive : str or list of str
        Sensitive attributes. If there are several, all must be correct at once.
    method : {"cap", "zero_cap", "generalized_cap", "tcap", "disco"}, default="cap"
        Rule for a record whose key does not occur in the synthetic data. "cap" skips the record,
        "zero_cap" counts it as protected, and "generalized_cap" uses the synthetic rows that differ
        in the fewest columns. "tcap" and "disco" use only keys for which the release is confident,
        see the Notes of :class:`~skeval.privacy.DisclosureProtection`.
    n_bins : int, default=10
        Bins of equal width into which numbers and dates are cut.
    continuous : list of str, optional
        Numerical and datetime columns that are cut into bins. Each value of the others is a
        category. None for all.
    baseline : {"uniform", "marginal", "mode"}, default="uniform"
        Guess without the key. "uniform" chooses any combination of sensitive values with equal
        probability, as in SDMetrics, which is unrealistic for skewed columns. "marginal" chooses a
        combination with its training frequency. "mode" is the most frequent combination, which is
        the best guess without a key.
    normalize : bool, default=True
        Whether the value is the protection divided by the protection of the guess, at most 1.
        Otherwise, it is the protection, one minus the risk. "disco" is never normalized, because it
        counts rows.
    tau : float, default=1.0
        With "tcap", the fraction of synthetic rows of a key that must agree in the sensitive
        values.
    n_permutations : int, default=1999
        Number of exchanges of training and holdout rows behind the p-value. Fewer are drawn if many
        of them reach the observed value.
    random_state : int, default=0
        Seed of the exchanges.

    Raises
    ------
    InvalidParameterError
        At fit, if a column does not exist or cannot be measured, or is both known and sensitive.

    Warnings
    --------
    The value can raise an alarm but cannot clear a release.

    See Also
    --------
    DisclosureProtectionEstimate : Computes the metric on samples of the tables.
    AttributeInferenceRisk : An attacker who fits a model to the release.
    InferenceRisk : Infers the attribute from the nearest synthetic row, compared with holdout rows.

    Notes
    -----
    Let :math:`\text{CAP}_i` be the fraction of the synthetic rows with the key of record i that
    have its sensitive values, and let g be the success probability of the guess. The value is

    .. math:: \min\left(1, \frac{1 - \frac{1}{n} \sum_i \text{CAP}_i}{1 - g}\right)

    All methods have this direction. ``details["risk"]`` contains the published number. For "tcap",
    the risk is the fraction of training rows for which the most frequent sensitive value of their
    key is correct, over keys for which it has a fraction of at least `tau` (each of m equally
    frequent values counts 1/m). ``over_synthetic`` is the average over synthetic rows instead, and
    `targeted` is the fraction of synthetic rows that reveal their value (WEAP of at least `tau`).
    For "disco", the risk is the fraction of all training rows whose key has exactly one synthetic
    value, the correct one. A missing value is a separate value. The bins lie between the minimum
    and the maximum of training and holdout data together.

    A relation such as that smoking predicts cancer is not a leak. A faithful release allows
    inferences about all people, so a low value alone does not indicate a leak. With a holdout,
    ``details["leak"]`` is the risk of training rows minus the risk of holdout rows, with
    `leak_interval`. This difference is 0 on average if the release does not depend on the training
    records. The p-value tests the difference. The test is one-sided and exact, because training and
    holdout rows are exchangeable given the release and the bins. The baseline of the result is the
    protection of holdout rows. The interval is for a mean over training rows, given the release.

    "cap" evaluates only the records with a match, which may be few (`matched`). "zero_cap" and
    "disco" report good protection for a release of noise, because its keys do not occur in the real
    data. "uniform" overestimates the protection if the sensitive attribute has many values or one
    frequent value. The time of "generalized_cap" grows with the square of the number of distinct
    keys.

    References
    ----------
    M. Elliot, "Final report on the disclosure risk associated with the synthetic data produced by
    the SYLLS team", University of Manchester (2014).
    J. Taub, M. Elliot, M. Pampaka, D. Smith, "Differential correct attribution probability for
    synthetic data: an exploration", Privacy in Statistical Databases (2018),
    doi:10.1007/978-3-319-99771-1_9.
    G. M. Raab, "Privacy risk from synthetic data: practical proposals", arXiv:2409.04257 (2024).

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import DisclosureProtection
    >>> train = pd.DataFrame({"town": list("aabc"), "illness": list("xyxz")})
    >>> release = pd.DataFrame({"town": list("aaab"), "illness": list("xxyy")})
    >>> metric = DisclosureProtection(["town"], "illness", normalize=False).fit(train)
    >>> round(metric.score(release), 4), metric.score(train)
    (0.6667, 0.25)
    """

    tags = replace(
        ATTACK_TAGS,
        needs=frozenset(),
        greater_is_better=True,
        scaling="counts",
        risks=frozenset({"inference"}),
    )

    known: Names
    sensitive: NameOrNames
    method: Literal["cap", "zero_cap", "generalized_cap", "tcap", "disco"] = "cap"
    _: KW_ONLY
    n_bins: Count = 10
    continuous: SomeNames | None = None
    baseline: Literal["uniform", "marginal", "mode"] = "uniform"
    normalize: bool = True
    tau: Fraction = 1.0
    n_permutations: Count = 1999
    random_state: Seed = 0

    @property
    def _draws(self) -> Draws:
        """Number of rows and draws for each table, and the seed. The default is all rows once."""
        return None, 1, self.random_state

    @property
    def _scaling(self) -> Scaling:
        """How it scales: equal keys are counted, the nearest have to be looked for."""
        return "sampled" if self.method == "generalized_cap" else self.tags.scaling

    def _prepare(self, context: Context) -> None:
        owner, schema = type(self).__name__, context.schema
        check_known_and_secret(owner, schema, names_of(self.known), names_of(self.sensitive))
        check_to_cut(owner, schema, self.continuous)

    def _compute(self, context: Context) -> Result:
        risk = row_mean(*self._scores(context, "train"))
        train = coded_rows(context, self._step_arguments[0])["train"]
        guess = correct_attribution.guess_protection(train.sensitive, self.baseline)
        details: dict[str, Any] = {
            "risk": risk.value,
            "protection": 1.0 - risk.value,
            "guess": guess,
            "standard_error": risk.standard_error,
            "n_rows": risk.n_rows,
        }
        if self._divides_by_guess and guess <= 0.0:
            return undefined_result(_NO_SECRET, **details)
        if np.isnan(risk.value):
            return undefined_result(_UNFOUND["tcap" if self.method == "tcap" else "cap"], **details)
        value, high, low = (self._value(one, guess) for one in (risk.value, *risk.interval))
        return Result(value, interval=(low, high), details=details)

    def _in_relation(self, context: Context, result: Result) -> Result:
        # a baseline requires a holdout, because holdout rows replace the release
        real, samples = drawn_tables(context, *self._step_arguments)
        details = {**result.details, "matched": matched_share(real["train"], samples)}
        if self.method == "tcap":
            details |= targeted_shares(real["train"], samples, self.tau)
        if "holdout" not in real:
            return replace(result, details=details)
        scores = [self._scores(context, role) for role in ("train", "holdout")]
        train, holdout = (row_mean(*sums) for sums in scores)
        leak = difference_interval(train.value, train.interval, holdout.value, holdout.interval)
        details |= {
            "matched_holdout": matched_share(real["holdout"], samples),
            "risk_holdout": holdout.value,
            "leak": train.value - holdout.value,
            "leak_interval": list(leak),
        }
        if np.isnan(result.value):
            return replace(result, details=details)
        known, secret = (" and ".join(names_of(one)) for one in (self.known, self.sensitive))
        trials: dict[str, Any] = {"n_permutations": self.n_permutations, "seed": self.random_state}
        p_value = exchange_p_value([(scores[0][0], scores[1][0])], **trials)
        return replace(
            result,
            p_value=None if np.isnan(p_value) else p_value,
            baseline=self._value(holdout.value, as_float(details["guess"])),
            details=details,
            contrast=None if np.isnan(p_value) else self._contrast(train.value, holdout.value),
            advice=f"Coarsen or drop {known}, because the release reveals {secret} through it.",
        )

    def _contrast(self, risk: float, others: float) -> Contrast:
        secret, known = (", ".join(names_of(one)) for one in (self.sensitive, self.known))
        what = f"train rows whose {secret} the release gives for {known}"
        return Contrast(what, risk, others, reference="of holdout rows")

    def _summary(self, result: Result) -> str:
        details = result.details
        risk = percent(as_float(details["risk"]))
        known = (
            "An attacker who knows some columns of a record reads the secret off the release, "
            f"which is right for {risk} of train rows"
        )
        if "risk_holdout" in details:
            return f"{known}, for {percent(as_float(details['risk_holdout']))} of holdout rows."
        return f"{known}, {percent(1.0 - as_float(details['guess']))} by a guess."

    @property
    def _step_arguments(self) -> tuple[KnownAndSensitive, Draws]:
        cut = None if self.continuous is None else tuple(self.continuous)
        columns = names_of(self.known), names_of(self.sensitive), self.n_bins, cut
        return columns, self._draws

    def _scores(self, context: Context, role: str) -> tuple[Scores, float]:
        return summed_scores(context, role, self.method, self.tau, *self._step_arguments)

    @property
    def _divides_by_guess(self) -> bool:
        return self.normalize and self.method != "disco"  # which counts rows that are not guessed

    def _value(self, risk: float, guess: float) -> float:
        """Return the protection at a risk (higher is better), or nan at nan."""
        protection = 1.0 - risk
        return float(np.minimum(1.0, protection / guess)) if self._divides_by_guess else protection


@declared
class DisclosureProtectionEstimate(DisclosureProtection):
    """Protection of a sensitive attribute, estimated on samples of the tables.

    :class:`~skeval.privacy.DisclosureProtection` averaged over samples of the tables. An attacker
    knows some columns of a record and attributes the sensitive values of the matching synthetic
    rows to it. Use this metric for tables on which the search for the nearest key takes too long.

    Parameters
    ----------
    num_rows : int, default=1000
        Number of rows drawn from each table, without replacement. All rows are used if there are
        fewer.
    num_iterations : int, default=10
        Number of draws.
    random_state : int, default=0
        Seed of the draws and the exchanges.

    Raises
    ------
    InvalidParameterError
        At fit, if a column does not exist or cannot be measured, or is both known and sensitive.

    Warnings
    --------
    The value can raise an alarm but cannot clear a release.

    See Also
    --------
    DisclosureProtection : Computes the metric on whole tables.
    AttributeInferenceRisk : An attacker who fits a model to the release.
    InferenceRisk : Infers the attribute from the nearest synthetic row, compared with holdout rows.

    Notes
    -----
    Every sampled real row is compared with every sample of synthetic rows. The estimate of
    SDMetrics compares each sample with one other sample only, so it has the same mean and a larger
    variance. Bins and guess come from the whole tables. The interval covers the variation between
    synthetic samples and between rows. Leak, p-value, baseline and limitations are the same as in
    :class:`~skeval.privacy.DisclosureProtection`. The baseline is the protection of holdout rows.

    The value describes a release of `num_rows` rows and not the whole release, because fewer rows
    have fewer keys. With "cap", this changes the matched records. With "zero_cap" and "disco", it
    changes the value.

    References
    ----------
    J. Taub, M. Elliot, M. Pampaka, D. Smith, "Differential correct attribution probability for
    synthetic data: an exploration", Privacy in Statistical Databases (2018),
    doi:10.1007/978-3-319-99771-1_9.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DisclosureProtectionEstimate
    >>> train = make_mixed(500)
    >>> metric = DisclosureProtectionEstimate(["age", "city"], "plan", num_rows=100).fit(train)
    >>> 0.0 < metric.score(train) < 1.0
    True
    """

    _: KW_ONLY
    num_rows: Count = 1000
    num_iterations: Count = 10

    @property
    def _draws(self) -> Draws:
        return self.num_rows, self.num_iterations, self.random_state


@shared
def drawn_tables(
    context: Context, columns: KnownAndSensitive, draws: Draws
) -> tuple[dict[str, CodedRows], list[CodedRows]]:
    """Return the real rows to attack, and synthetic tables over which scores are averaged.

    If no sampling is needed, there is one draw of all rows.
    """
    n_rows, n_draws, seed = draws
    tables, positions = coded_rows(context, columns), {}
    for role, rows in tables.items():
        n = len(rows.keys)
        repeats = 1 if n_rows is None or n <= n_rows else n_draws
        # tables may be aligned row by row, so each role draws separate positions
        seeds = [named_seed(f"{role} {seed}", i) for i in range(repeats)]
        positions[role] = [sample_positions(n, n_rows, one) for one in seeds]
    samples = [tables["synthetic"].take(part) for part in positions.pop("synthetic")]
    real = {
        role: tables[role].take(np.unique(np.concatenate(parts)))
        for role, parts in positions.items()
    }
    return real, samples


def attribution_scores(
    targets: CodedRows, synthetic: CodedRows, method: str, tau: float
) -> np.ndarray:
    """Return the success of the attack for each target, or nan without an attribution."""
    pairs = targets.pair, synthetic.pair
    if method == "generalized_cap":
        return correct_attribution.generalized_cap(
            targets.known, targets.secrets, synthetic.known, synthetic.secrets
        )
    if method == "tcap":
        return correct_attribution.attribution_scores(*pairs, tau)
    if method == "disco":
        return correct_attribution.disclosure_scores(*pairs)
    scores = correct_attribution.cap(*pairs)
    return np.nan_to_num(scores) if method == "zero_cap" else scores


def matched_share(rows: CodedRows, samples: Sequence[CodedRows]) -> float:
    """Return the share of rows whose key a synthetic row has."""
    return float(np.mean([np.isin(rows.keys, sample.keys).mean() for sample in samples]))


@shared
def summed_scores(
    context: Context, role: str, method: str, tau: float, columns: KnownAndSensitive, draws: Draws
) -> tuple[Scores, float]:
    """Return scores of rows summed over samples, and the variance between the samples."""
    real, samples = drawn_tables(context, columns, draws)
    n_rows, means = len(real[role].keys), []
    totals, counts = np.zeros(n_rows), np.zeros(n_rows, dtype=np.int64)
    for sample in samples:
        scores = attribution_scores(real[role], sample, method, tau)
        counted = ~np.isnan(scores)
        totals[counted] += scores[counted]
        counts += counted
        if counted.any():
            means.append(float(scores[counted].mean()))
    variance = float(np.var(means, ddof=1)) / len(means) if len(means) > 1 else 0.0
    return (totals, counts), variance


def targeted_shares(rows: CodedRows, samples: Sequence[CodedRows], tau: float) -> dict[str, float]:
    """Return the fraction of synthetic rows that reveal their value, and their success."""
    shares = [(correct_attribution.weap(*sample.pair) >= tau - 1e-9).mean() for sample in samples]
    over = [correct_attribution.cap_of_synthetic(rows.pair, sample.pair, tau) for sample in samples]
    defined = [value for value in over if not np.isnan(value)]
    return {
        "targeted": float(np.mean(shares)),
        "over_synthetic": float(np.mean(defined)) if defined else float("nan"),
    }
