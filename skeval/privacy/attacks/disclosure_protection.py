"""How much a release discloses of a secret about people of whom some columns are known."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.formatting import as_float, percent
from skeval.parameters import Count, Fraction, Seed
from skeval.privacy.attacks.secrets import (
    CodedRows,
    NameOrNames,
    Names,
    SomeNames,
    check_known_and_secret,
    check_to_cut,
    coded_rows,
    names_of,
)
from skeval.result import MetricTags, Result, undefined
from skeval.stats import cap
from skeval.stats.relabelling import Scores, difference_interval, exchange_p_value, row_mean
from skeval.steps.samples import sample_positions

_UNFOUND = {
    "cap": "no train row has the known columns of a synthetic row.",
    "tcap": "no train row has known columns to which the synthetic table attributes a secret.",
}
_NO_SECRET = (
    "the sensitive columns have one value in train, so that there is nothing to guess. "
    "Set normalize=False for the protection itself."
)


class DisclosureProtection(Metric):
    r"""How little a release discloses of a secret: 1 as little as a guess, 0 the secret itself.

    An attacker knows some columns of a person and looks up the synthetic rows that have the same.
    Among these, the share that has the person's secret is the probability that the secret is
    attributed correctly (CAP). Its mean over train is held against what a guess achieves.

    Parameters
    ----------
    known : list of str
        The columns that are known, the key.
    sensitive : str or list of str
        The columns that are secret; of several, all must be right at once.
    method : {"cap", "zero_cap", "generalized_cap", "tcap", "disco"}, default="cap"
        What becomes of a person whose key no synthetic row has: "cap" leaves them out, "zero_cap"
        counts them as protected, "generalized_cap" takes the rows that differ in the fewest
        columns. "tcap" and "disco" ask only where the release is sure of itself; see Notes.
    n_bins : int, default=10
        Bins of equal width into which numbers and dates are cut.
    continuous : list of str, optional
        The numbers and dates to be cut; of others each value is a category. None for all.
    baseline : {"uniform", "marginal", "mode"}, default="uniform"
        The guess: any combination of the sensitive columns' values with equal chance, as SDMetrics
        has it, which nobody would make of skewed columns; one with the chance it has in train; or
        the most frequent one, the best without a key.
    normalize : bool, default=True
        Whether the value is the protection over that of the guess, at most 1; else it is the
        protection, one minus the risk. That of "disco" is never normalised: it counts rows.
    tau : float, default=1.0
        With "tcap", the share of synthetic rows of a key that must agree in the secret.
    n_permutations : int, default=999
        Number of exchanges of train and holdout rows behind the p-value.
    random_state : int, default=0
        Seed of the exchanges.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if a column is not there or cannot be measured, or is both known and sensitive.

    See Also
    --------
    DisclosureProtectionEstimate : The same on samples of the tables.
    AttributeInferenceRisk : An attacker who fits a model to the release.
    InferenceRisk : The nearest synthetic row gives the secret; the risk beyond that of a holdout.

    Notes
    -----
    With :math:`\text{CAP}_i` the share of the synthetic rows of person i's key that have the secret
    of that person, and g the chance of the guess, the value is

    .. math:: \min\left(1, \frac{1 - \frac{1}{n} \sum_i \text{CAP}_i}{1 - g}\right)

    All methods have this direction; ``details["risk"]`` has what is published. For "tcap" that is
    the share of train rows for which the most frequent secret of their key is right, over keys in
    which it has a share of at least `tau` (of m equally frequent ones, each counts 1/m);
    ``over_synthetic`` has the form that averages over synthetic rows, and `targeted` the share of
    these that give their secret away (WEAP of at least `tau`). For "disco" it is the share of all
    train rows whose key has one synthetic secret, their own. Missing is a value of its own. Edges
    of bins lie between the least and the greatest value of train and holdout together.

    That smoking predicts cancer is no leak: a faithful release lets secrets be inferred of
    everyone, in train or not, and a low value alone says no more than that. With a holdout,
    ``details["leak"]`` is the risk of train rows less that of holdout rows, with `leak_interval`;
    it is 0 on average for a release that owes nothing to the persons of train. The p-value is for
    this, one-sided, and exact: given the release and the bins, train and holdout rows may be
    exchanged. The baseline of the result is the protection of holdout rows, the interval that of a
    mean over train rows, given the release.

    "cap" judges by the people it finds, who may be few (`matched`), and "zero_cap" and "disco" call
    a release of noise well protected because its keys are nobody's. "uniform" flatters where the
    secret has many values or one frequent one. The value can raise an alarm; it cannot clear a
    release. The time of "generalized_cap" grows with the square of the number of distinct keys.

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

    tags = MetricTags("privacy", greater_is_better=True, bounds=(0.0, 1.0), evidence="attack")

    def __init__(
        self,
        known: Names,
        sensitive: NameOrNames,
        method: Literal["cap", "zero_cap", "generalized_cap", "tcap", "disco"] = "cap",
        *,
        n_bins: Count = 10,
        continuous: SomeNames | None = None,
        baseline: Literal["uniform", "marginal", "mode"] = "uniform",
        normalize: bool = True,
        tau: Fraction = 1.0,
        n_permutations: Count = 999,
        random_state: Seed = 0,
    ) -> None:
        self.known = known
        self.sensitive = sensitive
        self.method = method
        self.n_bins = n_bins
        self.continuous = continuous
        self.baseline = baseline
        self.normalize = normalize
        self.tau = tau
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        owner, schema = type(self).__name__, context.schema
        check_known_and_secret(owner, schema, names_of(self.known), names_of(self.sensitive))
        check_to_cut(owner, schema, self.continuous)

    def _compute(self, context: Context) -> Result:
        rows = self._rows(context)
        drawn, samples = self._drawn(rows)
        guess = cap.guess_protection(rows["train"].sensitive, self.baseline)
        scores = {
            role: summed_scores(real, samples, self.method, self.tau)
            for role, real in drawn.items()
        }
        risk = {role: row_mean(*sums) for role, sums in scores.items()}
        train, holdout = risk["train"], risk.get("holdout")
        details: dict[str, Any] = {
            "risk": train.value,
            "protection": 1.0 - train.value,
            "guess": guess,
            "standard_error": train.standard_error,
            "n_rows": train.n_rows,
            "matched": matched_share(drawn["train"], samples),
        }
        if self.method == "tcap":
            details |= targeted_shares(drawn["train"], samples, self.tau)
        p_value = None
        if holdout is not None:
            leak = difference_interval(train.value, train.interval, holdout.value, holdout.interval)
            details |= {
                "matched_holdout": matched_share(drawn["holdout"], samples),
                "risk_holdout": holdout.value,
                "leak": train.value - holdout.value,
                "leak_interval": list(leak),
            }
            pair = (scores["train"][0], scores["holdout"][0])
            p_value = exchange_p_value(
                [pair], n_permutations=self.n_permutations, seed=self.random_state
            )
        if self._is_normalized and guess <= 0.0:
            return undefined(_NO_SECRET, **details)
        if np.isnan(train.value):
            return undefined(_UNFOUND["tcap" if self.method == "tcap" else "cap"], **details)
        low, high = train.interval
        return Result(
            self._value(train.value, guess),
            interval=(self._value(high, guess), self._value(low, guess)),
            p_value=None if p_value is None or np.isnan(p_value) else p_value,
            baseline=None if holdout is None else self._value(holdout.value, guess),
            details=details,
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        risk = percent(as_float(details["risk"]))
        known = (
            "An attacker who knows some columns of a person reads the secret off the release: "
            f"right for {risk} of train rows"
        )
        if "risk_holdout" in details:
            return f"{known}, for {percent(as_float(details['risk_holdout']))} of holdout rows."
        return f"{known}, {percent(1.0 - as_float(details['guess']))} by a guess."

    def _with_baseline(self, context: Context, result: Result) -> Result:
        return result  # where holdout rows have no baseline, holdout rows as a release are none

    def _rows(self, context: Context) -> dict[str, CodedRows]:
        """Return the coded rows by role, each table in an order of its own."""
        roles = ("train", *(["holdout"] if "holdout" in context else []), "synthetic")
        cut = None if self.continuous is None else tuple(self.continuous)
        coded = coded_rows(
            context, roles, names_of(self.known), names_of(self.sensitive), self.n_bins, cut
        )
        return {role: rows.ordered() for role, rows in zip(roles, coded, strict=True)}

    def _drawn(self, rows: dict[str, CodedRows]) -> tuple[dict[str, CodedRows], list[CodedRows]]:
        """Return the real rows to attack, and synthetic tables over which scores are averaged."""
        real = {role: table for role, table in rows.items() if role != "synthetic"}
        return real, [rows["synthetic"]]

    @property
    def _is_normalized(self) -> bool:
        return self.normalize and self.method != "disco"  # which counts rows that are not guessed

    def _value(self, risk: float, guess: float) -> float:
        """Return the protection at a risk, the larger the better; nan at nan."""
        protection = 1.0 - risk
        return float(np.minimum(1.0, protection / guess)) if self._is_normalized else protection


class DisclosureProtectionEstimate(DisclosureProtection):
    """How little a release discloses of a secret, on samples: 1 as a guess, 0 the secret itself.

    :class:`~skeval.privacy.DisclosureProtection` of samples of the tables, averaged: an attacker
    knows some columns of a person and attributes to them the secret of the synthetic rows that have
    the same. For tables on which the search for the nearest key takes too long.

    Parameters
    ----------
    known : list of str
        The columns that are known, the key.
    sensitive : str or list of str
        The columns that are secret; of several, all must be right at once.
    method : {"cap", "zero_cap", "generalized_cap", "tcap", "disco"}, default="cap"
        As in :class:`~skeval.privacy.DisclosureProtection`.
    num_rows : int, default=1000
        Rows drawn of each table, without replacement; all if there are no more.
    num_iterations : int, default=10
        Number of draws.
    n_bins : int, default=10
        Bins of equal width into which numbers and dates are cut.
    continuous : list of str, optional
        The numbers and dates to be cut; of others each value is a category. None for all.
    baseline : {"uniform", "marginal", "mode"}, default="uniform"
        What a guess would be.
    normalize : bool, default=True
        Whether the value is the protection over that of the guess.
    tau : float, default=1.0
        With "tcap", the share of synthetic rows of a key that must agree in the secret.
    n_permutations : int, default=999
        Number of exchanges of train and holdout rows behind the p-value.
    random_state : int, default=0
        Seed of the draws and the exchanges.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if a column is not there or cannot be measured, or is both known and sensitive.

    See Also
    --------
    DisclosureProtection : The same on whole tables.
    AttributeInferenceRisk : An attacker who fits a model to the release.
    InferenceRisk : The nearest synthetic row gives the secret; the risk beyond that of a holdout.

    Notes
    -----
    Every real row drawn is held against every sample of synthetic rows, which has the mean of
    SDMetrics' estimate and a smaller variance, since that holds each sample against one only. Bins
    and guess are those of the whole tables. The interval counts the spread between synthetic
    samples besides that between rows. What is said of leak, p-value, baseline and blind spots at
    :class:`~skeval.privacy.DisclosureProtection` holds here too.

    The value is that of a release of `num_rows` rows, not of the release: fewer rows have fewer
    keys. With "cap" that changes who is matched, with "zero_cap" and "disco" the value itself.

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

    def __init__(
        self,
        known: Names,
        sensitive: NameOrNames,
        method: Literal["cap", "zero_cap", "generalized_cap", "tcap", "disco"] = "cap",
        *,
        num_rows: Count = 1000,
        num_iterations: Count = 10,
        n_bins: Count = 10,
        continuous: SomeNames | None = None,
        baseline: Literal["uniform", "marginal", "mode"] = "uniform",
        normalize: bool = True,
        tau: Fraction = 1.0,
        n_permutations: Count = 999,
        random_state: Seed = 0,
    ) -> None:
        super().__init__(
            known,
            sensitive,
            method,
            n_bins=n_bins,
            continuous=continuous,
            baseline=baseline,
            normalize=normalize,
            tau=tau,
            n_permutations=n_permutations,
            random_state=random_state,
        )
        self.num_rows = num_rows
        self.num_iterations = num_iterations

    def _drawn(self, rows: dict[str, CodedRows]) -> tuple[dict[str, CodedRows], list[CodedRows]]:
        drawn = {role: self._positions(table, role) for role, table in rows.items()}
        samples = [rows["synthetic"].take(part) for part in drawn.pop("synthetic")]
        real = {
            role: rows[role].take(np.unique(np.concatenate(parts))) for role, parts in drawn.items()
        }
        return real, samples

    def _positions(self, rows: CodedRows, role: str) -> list[np.ndarray]:
        """Return the positions of each draw; one draw of all rows where there are no more."""
        n = len(rows.keys)
        repeats = self.num_iterations if n > self.num_rows else 1
        # tables may be aligned row by row: each role draws positions of its own
        seeds = [zlib.crc32(f"{role} {self.random_state} {i}".encode()) for i in range(repeats)]
        return [sample_positions(n, self.num_rows, seed) for seed in seeds]


def attribution_scores(
    targets: CodedRows, synthetic: CodedRows, method: str, tau: float
) -> np.ndarray:
    """Return for each target how far the attack is right; nan where it says nothing."""
    pairs = targets.pair, synthetic.pair
    if method == "generalized_cap":
        return cap.generalized_cap(
            targets.known, targets.secrets, synthetic.known, synthetic.secrets
        )
    if method == "tcap":
        return cap.attributed(*pairs, tau)
    if method == "disco":
        return cap.disclosed(*pairs)
    scores = cap.cap(*pairs)
    return np.nan_to_num(scores) if method == "zero_cap" else scores


def matched_share(rows: CodedRows, samples: Sequence[CodedRows]) -> float:
    """Return the share of rows whose key a synthetic row has."""
    return float(np.mean([np.isin(rows.keys, sample.keys).mean() for sample in samples]))


def summed_scores(
    rows: CodedRows, samples: Sequence[CodedRows], method: str, tau: float
) -> tuple[Scores, float]:
    """Return scores of rows summed over samples, and the variance between the samples."""
    totals, counts = np.zeros(len(rows.keys)), np.zeros(len(rows.keys), dtype=np.int64)
    means = []
    for sample in samples:
        scores = attribution_scores(rows, sample, method, tau)
        counted = ~np.isnan(scores)
        totals[counted] += scores[counted]
        counts += counted
        if counted.any():
            means.append(float(scores[counted].mean()))
    variance = float(np.var(means, ddof=1)) / len(means) if len(means) > 1 else 0.0
    return (totals, counts), variance


def targeted_shares(rows: CodedRows, samples: Sequence[CodedRows], tau: float) -> dict[str, float]:
    """Return how many synthetic rows give their secret away, and how often they are right."""
    shares = [(cap.weap(*sample.pair) >= tau - 1e-9).mean() for sample in samples]
    over = [cap.cap_of_synthetic(rows.pair, sample.pair, tau) for sample in samples]
    defined = [value for value in over if not np.isnan(value)]
    return {
        "targeted": float(np.mean(shares)),
        "over_synthetic": float(np.mean(defined)) if defined else float("nan"),
    }
