"""Inference: an attacker guesses a sensitive attribute from the most similar synthetic rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError, VoidAttackWarning
from skeval.neighbors.left_out import LeftOut, leave_each_out
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    Evidence,
    LargestRiskMetric,
    ResidualRiskMetric,
    check_enough_columns,
    index_over,
    n_targets,
    near_rows,
    places,
    risk_of,
    shown_level,
    shown_rates,
    shown_share,
    synthetic_index,
    synthetic_rows,
    targets,
)
from skeval.privacy.attacks.secret_guesses import (
    Lesson,
    guess_labels,
    guess_numbers,
    shown_surest,
    surest_contrast,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.excess_tests import abstaining_test
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.risks import attack_rate, residual_risk
from skeval.steps.column_choice import ColumnChoice, chosen_columns, column_key
from skeval.steps.contrasts import name_of_test
from skeval.steps.encoded_rows import ranges
from skeval.steps.neighbors import Index
from skeval.tables.preprocessing import NOMINAL
from skeval.utils.parameters import ColumnName, Columns, NonNegative, has_methods

_K = 8  # nearest rows used, where equally close rows share the guess
_MIN_MARGIN = 1e-12
_MIN_SHARED = 10  # from this number of known columns on, one search is faster than one per column
_MIN_LABEL_ROWS = 10  # training and holdout rows that a reported label needs


@declared
class InferenceMetric(ResidualRiskMetric):
    """Base class of the attacks that guess a sensitive attribute from other columns.

    Parameters
    ----------
    tolerance : float, default=0.05
        Maximum error of a correct guess of a number or date.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is a fraction of the true value, or of the range of the column over
        training and holdout data. Dates always use the range.
    estimator : None, classifier or regressor, default=None
        Model that is fitted to the synthetic rows and replaces the search for the nearest row. It
        must support all known columns, so choose columns of one type.
    random_state : int, default=0
        Seed of the sample of attacked rows, and of an estimator without a seed.
    """

    tags = replace(ResidualRiskMetric.tags, risks=frozenset({"inference"}))

    _: KW_ONLY
    tolerance: NonNegative = 0.05
    tolerance_kind: Literal["relative", "range"] = "relative"
    estimator: Annotated[Any, has_methods(("fit", "predict"), values=(None,))] = None

    def _void(self, context: Context, secret: str, regression: bool | None = None) -> str:
        """Return the reason if the real rows alone make every guess correct, or an empty string."""
        if secret in context.schema.columns(*NOMINAL) or regression is False:
            return ""
        truth = self._truth(context, secret)
        spread, margins = np.ptp(truth), self._margins(context, secret, truth)
        if not 0.0 < spread <= margins.min():  # a missing value gives nan, and it is guessed or not
            return ""
        cure = "Lower it" if self.tolerance_kind == "range" else 'Set tolerance_kind="range"'
        return (
            f"{secret} is not attacked, because with tolerance={self.tolerance:g} every value of a "
            f"real row is a correct guess for all other rows. {cure}."
        )

    def _truth(self, context: Context, secret: str) -> np.ndarray:
        """Return the sensitive attribute of the attacked rows, training rows first."""
        j = places(context.schema)[secret]
        return targets(context, None, self.n_attacks, self.random_state)[:, j]

    def _attack(
        self, context: Context, secret: str, known: Sequence[str], regression: bool | None = None
    ) -> Attack:
        """Return the success of an attacker who knows the other columns."""
        aux, n_rows = tuple(name for name in known if name != secret), self.n_attacks
        j, is_label = places(context.schema)[secret], secret in context.schema.columns(*NOMINAL)
        nearly = not is_label and regression is not False
        truth = self._truth(context, secret)
        released = synthetic_rows(context)[:, j]
        margins = self._margins(context, secret, truth) if nearly else np.zeros(truth.size)
        if self.estimator is None:
            values, weights, confidence = _read_off(released, *self._nearest(context, secret, aux))
        else:
            values, weights, confidence = _guesses(
                context, secret, aux, self.estimator, nearly, n_rows, self.random_state
            )
        right = _is_right(values, truth[:, None], margins[:, None])
        scores = np.minimum((weights * right).sum(axis=1), 1.0)
        n = n_targets(context, n_rows)
        train, holdout = scores[:n], scores[n:]
        by_chance = _random_guess_rates(released, truth[:n], margins[:n])
        majority = _is_right(_usual(released, is_label), truth[:n], margins[:n]).sum()
        by = "read off the nearest synthetic row" if self.estimator is None else "guessed"
        guess = (self.tolerance, self.tolerance_kind, self.estimator, n_rows, self.random_state)
        tests = (name_of_test(f"inference of {secret}", sorted(aux), nearly, *guess),)
        what = f"train rows whose {secret} is correctly {by}"
        shown = (what, float(train.mean()), float(holdout.mean()), "of holdout rows")
        contrast = Contrast(*shown, tests=tests, least_p=least_p_value(n, n))
        advice = f"Drop or coarsen {secret}: it is inferred better for train than for holdout rows."

        def evidence() -> Evidence:
            """Test all guesses and the most confident guesses at once, by relabeling."""
            test = abstaining_test(scores, confidence, n, seed=self.random_state)
            shown = surest_contrast(contrast, test, secret, n, n)
            return Evidence(shown, test.p_value, advice, details={"abstaining": test.to_dict()})

        return Attack(
            successes=(float(train.sum()),),
            control=(float(holdout.sum()),),
            n=n,
            guessed=float(by_chance.sum()),
            n_guessed=n,
            test=evidence,
            scores=scores,
            confidence=confidence,
            details={
                "n_known": len(aux),
                "majority": attack_rate(float(majority), n).to_dict(),
                "by_secret": _by_secret(context, secret, truth, scores, n),
            },
        )

    def _nearest(
        self, context: Context, secret: str, known: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest synthetic rows of each target in the known columns."""
        key = column_key(context.schema, known)
        index = synthetic_index(context, key)
        return _nearest_rows(index, targets(context, key, self.n_attacks, self.random_state))

    def _margins(self, context: Context, secret: str, truth: np.ndarray) -> np.ndarray:
        """Return the maximum error of a correct guess for each number or date."""
        sizes = np.abs(truth)
        if self.tolerance_kind == "range" or context.schema.kinds[secret] == "datetime":
            sizes = np.full(truth.size, ranges(context)[places(context.schema)[secret]])
        return np.fmax(self.tolerance * sizes, _MIN_MARGIN)


@declared
class InferenceRisk(InferenceMetric):
    r"""Excess risk that an attacker infers a sensitive attribute of a training record.

    An attacker knows some columns of a real record, finds the most similar synthetic row, and
    guesses the attribute of this row. A relation of the whole population, for example that smoking
    causes cancer, lets the attacker guess the attribute of anyone and is not a leak. Therefore, the
    value is the success on training records in excess of the success on holdout records, which the
    generator never saw. It ranges from 0 (no excess) to 1 (all guesses for training records are
    correct). Lower is better.

    Parameters
    ----------
    secret : str
        The column to guess.
    aux_cols : None, int or list of str, default=None
        The columns that the attacker knows. None for all but the sensitive attribute.
    regression : bool or None, default=None
        Whether a close guess is correct. Otherwise, a guess must be equal. If None, close guesses
        are correct for numbers and dates.

    Raises
    ------
    InvalidParameterError
        At fit, if only the sensitive attribute is known, if it is among the known columns, or if
        close guesses are requested for categories.

    Warnings
    --------
    The value describes one attacker, so a low value does not clear a release.

    See Also
    --------
    InferenceRiskAll : Infers each column in turn.
    LinkabilityRisk : Links two parts of a record to the same synthetic row.
    AnonymeterRisk : The largest risk of singling out, linkability and inference.
    AttributeInferenceRisk : Infers the attribute with a model fitted to the release.

    Notes
    -----
    With the rates p and c of correct guesses on training and holdout rows, the residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Without a leak, its expected value is about 0 before clipping. The baseline
    is the mean of the clipped risk if the training rows are chosen at random among all real rows.
    This mean is above 0 because of the clipping. A guess g of a number s is correct if ``|g - s| <=
    max(tolerance |s|, 1e-12)``. A missing value is guessed by a missing value. If any value of a
    real row is a correct guess for all rows, for example within 5% of a year, the attribute is not
    attacked (:class:`~skeval.exceptions.VoidAttackWarning`). Rows are compared in Gower's distance
    over the known columns. If several rows are equally close, the attacker chooses one at random,
    so the success is the fraction of these rows (at most 8) with the true value.

    ``details`` contains the rates of the attack, of guessing (`baseline`) and of the attack on the
    holdout (`control`), with Wilson's intervals. It also contains the risk without clipping
    (`raw`), the risk from plain fractions (`unshrunk`), and the `level` of the risk ("low",
    "medium" or "high"). `weak_attack` is True if guessing is as successful as the attack, so that a
    low value is not informative. Guessing uses the attribute of a random synthetic row, and its
    rate is computed exactly. `majority` is the rate if the most frequent category or the median is
    always guessed. `by_secret` contains the rates and the risk by category, for categories with at
    least ten attacked training rows and ten attacked holdout rows, because a small average may hide
    the risk of one group.

    An attacker may abstain and guess only for records whose nearest synthetic row is close (or
    whose label the estimator is confident about). For the most confident 1%, 2%, 5%, 10%, 20%, 50%
    and all of the guesses, ``details["abstaining"]`` contains the numbers of guesses and of correct
    guesses for training and holdout rows (``by_share``), and the anonymity loss coefficient. If the
    test is significant, the summary reports the difference for the ``clearest`` fraction. See
    ``skeval.stats.excess_tests.abstaining_test``.

    The p-value is one-sided. If the synthetic table does not depend on which real rows were
    training rows, all choices of the training rows are equally likely. The p-value is valid for all
    fractions at once, including all guesses, because the most confident 1% may be correct even if
    the average equals the average of the holdout.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055; P. Francis, D. Wagner, "Towards better attribute inference
    vulnerability measures" (2025), arXiv:2507.01710.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import InferenceRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> InferenceRisk("plan").fit(train, holdout).score(train) > 0.9
    True
    """

    secret: ColumnName
    aux_cols: Columns = None
    _: KW_ONLY
    regression: bool | None = None

    def _prepare(self, context: Context) -> None:
        named = () if self.aux_cols is None or isinstance(self.aux_cols, int) else self.aux_cols
        if self.secret in named:
            raise InvalidParameterError(
                f"InferenceRisk: aux_cols contains the secret, {self.secret}. Remove it."
            )
        check_enough_columns(
            "InferenceRisk", chosen_columns(context.schema, self.aux_cols), 1, self.secret
        )
        if self.regression and self.secret in context.schema.columns(*NOMINAL):
            raise InvalidParameterError(
                f"InferenceRisk: regression=True needs a secret of numbers or dates, and "
                f"{self.secret} has categories."
            )

    def _risk(self, context: Context, tested: bool) -> Result:
        if void := self._void(context, self.secret, self.regression):
            return undefined_result(void, VoidAttackWarning)
        known = chosen_columns(context.schema, self.aux_cols)
        attack = self._attack(context, self.secret, known, self.regression)
        return risk_of(attack, self._measure, tested)

    def _summary(self, result: Result) -> str:
        train, control = shown_rates(result.details)
        guess = shown_share(result.details["baseline"])
        return (
            "An attacker who knows the other columns of a record reads the secret off the nearest "
            f"synthetic row. The guess is correct for {train} of train rows and {control} of "
            f"holdout rows, and a random guess for {guess}. "
            f"{shown_level(result)}{shown_surest(result)}"
        )


@declared
class InferenceRiskAll(InferenceMetric, LargestRiskMetric):
    """Largest excess risk that an attacker infers a column from all other columns.

    Each column in turn is the sensitive attribute. The attacker knows all other columns and guesses
    as in :class:`InferenceRisk`. The value ranges from 0 (no column has an excess risk) to 1 (one
    column is always inferred). Lower is better.

    Raises
    ------
    InvalidParameterError
        At fit, if the table has only one column.

    Warnings
    --------
    The value describes one attacker for each column, so a low value does not clear a release.

    See Also
    --------
    InferenceRisk : Infers one column.
    LinkabilityRisk : Links two parts of a record to the same synthetic row.
    AnonymeterRisk : The largest risk of singling out, linkability and inference.
    AttributeInferenceRisk : Infers the attribute with a model fitted to the release.

    Notes
    -----
    For each column, ``details["secrets"]`` contains the results of :class:`InferenceRisk`.
    ``details["worst"]`` is the column with the largest risk, and ``details["surest"]`` is the most
    significant column. The largest of many noisy numbers is above 0 even without a leak. Therefore,
    the baseline is the mean of the largest risk if the training rows are chosen at random among all
    real rows. The intervals of the columns are simultaneous (Bonferroni). The interval of the value
    ranges from the largest lower bound to the largest upper bound.

    The p-values (`p_adjusted`) are simultaneous after Westfall and Young. The excess of the
    training over the holdout rows, in standard deviations, is compared with the largest excess over
    random choices, among all columns and all fractions of the most confident guesses
    (``abstaining``). The result reports the smallest p-value. If every holdout value of a column is
    guessed, as for a constant, the column has no risk and is skipped. If any guess for a column is
    correct within the tolerance, the column is not attacked, and a warning is given.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import InferenceRiskAll
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> InferenceRiskAll().fit(train, holdout).score(train) > 0.9
    True
    """

    tags = replace(LargestRiskMetric.tags, risks=frozenset({"inference"}))

    def _risk(self, context: Context, tested: bool) -> Result:
        result = super()._risk(context, tested)
        if not tested:
            return result
        details = dict(result.details)
        details["secrets"] = details.pop("attacks")
        if "worst_attack" in details:
            details["worst"] = {"column": details.pop("worst_attack"), "value": result.value}
            details["surest"] = details.pop("surest_attack")
        return replace(result, details=details)

    def _attacks(self, context: Context) -> dict[str, Attack | None]:
        """Return the attack on each column, or None if it would succeed in any case."""
        names = chosen_columns(context.schema, self.columns)
        return {
            name: None if self._void(context, name) else self._attack(context, name, names)
            for name in names
        }

    def _nearest(
        self, context: Context, secret: str, known: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        if len(known) < _MIN_SHARED:
            return super()._nearest(context, secret, known)
        every = column_key(context.schema, (*known, secret))
        return _nearest_without(context, every, secret, self.n_attacks, self.random_state)

    def _voids(self, context: Context) -> list[VoidAttackWarning]:
        """Return a warning with the reason for each column that is not attacked."""
        names = chosen_columns(context.schema, self.columns)
        return [VoidAttackWarning(void) for n in names if (void := self._void(context, n))]

    def _summary(self, result: Result) -> str:
        worst = result.details["worst"]["column"]
        train, control = shown_rates(result.details["secrets"][worst])
        is_other = result.contrast is not None and result.details.get("surest", worst) != worst
        tested = f" The test compared {result.contrast}." if is_other else ""
        return (
            "An attacker who knows all columns of a record but one reads it off the nearest "
            f"synthetic row. The most exposed is {worst}, which is correct for {train} of train "
            f"rows and {control} of holdout rows. {shown_level(result)}{tested}"
        )


def _by_secret(
    context: Context, secret: str, truth: np.ndarray, scores: np.ndarray, n: int
) -> dict[str, dict[str, Any]]:
    """Return the success on training and holdout rows for each label that is frequent in both."""
    # A risk that is small on average may be large for one group. Each rate is computed on the
    # attacked training or holdout rows that have the label.
    if secret not in context.schema.columns(*NOMINAL):
        return {}
    by_label = {}
    for code, label in enumerate(context.levels[secret]):
        train, holdout = scores[:n][truth[:n] == code], scores[n:][truth[n:] == code]
        if min(train.size, holdout.size) >= _MIN_LABEL_ROWS:
            rates = [attack_rate(float(part.sum()), part.size) for part in (train, holdout)]
            risk = residual_risk(*rates)
            by_label[label] = {
                "attack": rates[0].to_dict(),
                "control": rates[1].to_dict(),
                "residual_risk": risk.value,
                "interval": list(risk.interval),
            }
    return by_label


def _is_right(guess: np.ndarray, truth: np.ndarray, margin: np.ndarray) -> np.ndarray:
    return np.asarray((np.abs(guess - truth) <= margin) | (np.isnan(guess) & np.isnan(truth)))


def _random_guess_rates(released: np.ndarray, truth: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Return the fraction of the synthetic values that are correct for each target."""
    present = np.sort(released[~np.isnan(released)])
    near = np.searchsorted(present, truth + margins, side="right")
    near -= np.searchsorted(present, truth - margins, side="left")
    n_right = np.where(np.isnan(truth), released.size - present.size, near)
    return np.asarray(n_right / released.size)


def _usual(released: np.ndarray, is_label: bool) -> np.ndarray:
    """Return the most frequent label (missing is a label) or the median number."""
    if not is_label:
        present = released[~np.isnan(released)]
        return np.array(np.median(present) if present.size else np.nan)
    labels, counts = np.unique(released, return_counts=True)
    return np.array(labels[counts.argmax()])


def _nearest_rows(index: Index, asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest synthetic rows of each target, and their distance.

    The result contains one row or several equally close rows, followed by -1.
    """
    k = min(_K, len(index.rows))
    distances, nearest = index.kneighbors(asked, min(2, k))
    rows = np.full((len(asked), k), -1)
    rows[:, 0] = nearest[:, 0]
    # few targets have ties, and a search for ties of all targets would need twice the time
    tied = np.flatnonzero(distances[:, 0] == distances[:, -1])
    if tied.size:
        rows[tied] = index.kneighbors(asked[tied], k, distances[tied, 0])[1]
    return rows, distances[:, 0]


def _nearest_without(
    context: Context, every: ColumnChoice, secret: str, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same rows and distances in all columns but one, from one search in all columns."""
    found = _left_out(context, every, n_attacks, seed)
    names = chosen_columns(context.schema, every)
    j = [name for name in places(context.schema) if name in names].index(secret)
    rows = found.rows_without(j, min(_K, context.n_rows("synthetic")))
    distances, unsure = found.distances[j].copy(), np.flatnonzero(~found.complete[j])
    if unsure.size:
        known = column_key(context.schema, [name for name in names if name != secret])
        index = index_over(context, known, near_rows(context, known))
        asked = targets(context, known, n_attacks, seed)[unsure]
        rows[unsure], distances[unsure] = _nearest_rows(index, asked)
    return rows, distances


@shared
def _left_out(context: Context, every: ColumnChoice, n_attacks: int | None, seed: int) -> LeftOut:
    index, asked = synthetic_index(context, every), targets(context, every, n_attacks, seed)
    return leave_each_out(index.search, index.rows, asked)


def _read_off(
    released: np.ndarray, rows: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the guesses, their weights and the confidence of an attacker without a model."""
    weights = (rows >= 0) / (rows >= 0).sum(axis=1, keepdims=True)
    return released[rows], weights, -distances.round(12)


@shared
def _guesses(
    context: Context,
    secret: str,
    aux: tuple[str, ...],
    estimator: Any,
    near_enough: bool,
    n_attacks: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the guesses of a model, their weights and the confidence for each target."""
    # The confidence for each target is the probability of the label if the estimator provides it.
    # Otherwise, it is equal for all targets.
    there, nominal = places(context.schema), context.schema.columns(*NOMINAL)
    released = synthetic_rows(context)[:, there[secret]]
    lines = [there[name] for name in sorted(aux)]
    kinds = tuple(name in nominal for name in sorted(aux))
    known = synthetic_rows(context)[:, lines]
    asked = targets(context, None, n_attacks, seed)[:, lines]
    certain, alike = np.ones((len(asked), 1)), np.zeros(len(asked))
    if near_enough:
        present = ~np.isnan(released)
        if not present.any():
            return np.full_like(certain, np.nan), certain, alike
        lesson = Lesson(known[present], kinds, released[present])
        (guesses,) = guess_numbers(estimator, lesson, [asked], seed)
        return guesses.values[:, None], certain, alike
    secrets, labels = np.unique(released, return_inverse=True)  # nan comes last, once
    (guesses,) = guess_labels(estimator, Lesson(known, kinds, labels), [asked], seed)
    # a guessed label that pools many values is never correct
    values = np.where(guesses.values >= 0, secrets[np.maximum(guesses.values, 0)], np.inf)
    chances = guesses.chance_of(guesses.values)
    return values[:, None], certain, alike if chances is None else chances
