"""Inference: the secret of a real person guessed from the synthetic rows most alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import InvalidParameterError, VoidAttackWarning
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    Evidence,
    LargestRiskMetric,
    ResidualRiskMetric,
    check_enough_columns,
    n_targets,
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
from skeval.tables.preprocessing import NOMINAL
from skeval.utils.parameters import ColumnName, Columns, NonNegative, has_methods

_K = 8  # nearest rows looked at; those equally near share the guess
_MIN_MARGIN = 1e-12
_MIN_LABEL_ROWS = 10  # rows of a label in train and in the holdout below which it is not reported


@declared
class InferenceMetric(ResidualRiskMetric):
    """Base of the attacks that guess a secret of a person from other columns.

    Parameters
    ----------
    tolerance : float, default=0.05
        How near the guess of a number or date must be.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is a share of the secret itself, or of the column's range over train
        and holdout; dates always take the latter.
    estimator : None, classifier or regressor, default=None
        What is fitted to the synthetic rows instead of looking for the nearest one. It has to suit
        all known columns: choose some of one kind.
    random_state : int, default=0
        Seed of the draw of the rows that are attacked, and of an estimator without one.
    """

    tags = replace(ResidualRiskMetric.tags, risks=frozenset({"inference"}))

    _: KW_ONLY
    tolerance: NonNegative = 0.05
    tolerance_kind: Literal["relative", "range"] = "relative"
    estimator: Annotated[Any, has_methods(("fit", "predict"), values=(None,))] = None

    def _void(self, context: Context, secret: str, regression: bool | None = None) -> str:
        """Say that every guess is right where it is, by the real rows alone; else nothing."""
        if secret in context.schema.columns(*NOMINAL) or regression is False:
            return ""
        truth = self._truth(context, secret)
        spread, margins = np.ptp(truth), self._margins(context, secret, truth)
        if not 0.0 < spread <= margins.min():  # nan where one is missing: that is guessed or not
            return ""
        cure = "Lower it" if self.tolerance_kind == "range" else 'Set tolerance_kind="range"'
        return (
            f"{secret} is not attacked: within tolerance={self.tolerance:g} every value of a real "
            f"row is a right guess for all others. {cure}."
        )

    def _truth(self, context: Context, secret: str) -> np.ndarray:
        """Return the secrets of the rows that are attacked, those of train first."""
        j = places(context.schema)[secret]
        return targets(context, None, self.n_attacks, self.random_state)[:, j]

    def _attack(
        self, context: Context, secret: str, known: Sequence[str], regression: bool | None = None
    ) -> Attack:
        """Return how often the secret is guessed by an attacker who knows the other columns."""
        aux, n_rows = tuple(name for name in known if name != secret), self.n_attacks
        j, is_label = places(context.schema)[secret], secret in context.schema.columns(*NOMINAL)
        nearly = not is_label and regression is not False
        truth = self._truth(context, secret)
        released = synthetic_rows(context)[:, j]
        margins = self._margins(context, secret, truth) if nearly else np.zeros(truth.size)
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
        what = f"train rows whose {secret} is rightly {by}"
        shown = (what, float(train.mean()), float(holdout.mean()), "of holdout rows")
        contrast = Contrast(*shown, tests=tests, least_p=least_p_value(n, n))
        advice = f"Drop or coarsen {secret}: it is inferred better of train rows than of others."

        def evidence() -> Evidence:
            """Test all guesses and the surest ones at once, by relabelling."""
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

    def _margins(self, context: Context, secret: str, truth: np.ndarray) -> np.ndarray:
        """Return how far a guess of each number or date may be off."""
        sizes = np.abs(truth)
        if self.tolerance_kind == "range" or context.schema.kinds[secret] == "datetime":
            sizes = np.full(truth.size, ranges(context)[places(context.schema)[secret]])
        return np.fmax(self.tolerance * sizes, _MIN_MARGIN)


@declared
class InferenceRisk(InferenceMetric):
    r"""Risk that a secret is inferred: 0 where train is as the holdout, 1 if all are guessed.

    An attacker knows some columns of a real person, looks for the synthetic row that is most alike
    in them, and takes its secret for the person's. What holds for the population, such as that
    smoking causes cancer, lets the attacker guess the secret of anyone, and is no leak. The value
    is the success on train beyond that on the holdout, which the generator never saw.

    Parameters
    ----------
    secret : str
        The column to guess.
    aux_cols : None, int or list of str, default=None
        The columns that the attacker knows; None for all but the secret.
    regression : bool or None, default=None
        Whether a near guess counts as right; otherwise it must be equal. None: near for numbers
        and dates.

    Raises
    ------
    InvalidParameterError
        At fit, if nothing but the secret is known, the secret is known, or categories are to be
        guessed nearly.

    Warnings
    --------
    This is what one adversary achieves: a low value does not clear a release.

    See Also
    --------
    InferenceRiskAll : Every column in turn is the secret.
    LinkabilityRisk : Two parts of a record lead to the same synthetic row.
    AnonymeterRisk : The largest risk of singling out, linkability and inference.
    AttributeInferenceRisk : A model learned from the release guesses the secret.

    Notes
    -----
    With p and c the rates of right guesses on train and on the holdout, the residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Its null value is 0; the baseline is its mean over random choices of which
    real rows are train, which clipping puts above 0. A guess g of a number s is right if
    ``|g - s| <= max(tolerance |s|, 1e-12)``. A missing secret is guessed by a missing one. If any
    value of a real row would be a right guess for all of them, as within 5% of a year, nothing is
    attacked (:class:`~skeval.exceptions.VoidAttackWarning`). Rows are compared in Gower's distance
    over the known columns. The attacker takes one of several nearest rows at random: the share of
    them, 8 at most, that have the secret is counted.

    ``details`` has the rates of the attack, of guessing (`baseline`) and on the holdout (`control`)
    with Wilson's intervals, the risk unclipped (`raw`) and from plain shares (`unshrunk`), its
    `level`, and `weak_attack`: whether guessing does as well, in which case a low value says
    nothing. Guessing takes the secret of a random synthetic row; its rate is computed, not drawn.
    `majority` is the rate of always guessing the most frequent category, or the median. `by_secret`
    has the rates and the risk of rows by their secret, for categories that ten attacked rows of
    train and of the holdout have: a small average may be the risk of one group.

    An attacker may abstain, and name the secret of those people only whose nearest synthetic row
    is near (or of whose label the estimator is sure). ``details["abstaining"]`` has, for the surest
    1%, 2%, 5%, 10%, 20%, 50% and all of the guesses (``by_share``), how many are given and right of
    train and of the holdout, and the anonymity loss coefficient. Next to an alarm the summary says
    how the ``clearest`` share differs. See ``skeval.stats.excess_tests.abstaining_test``.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. It holds for all shares at once, all
    guesses being one of them: the surest 1% may be right where the average is as on the holdout.

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
                f"InferenceRisk: aux_cols names the secret, {self.secret}; leave it out."
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
            "An attacker who knows other columns of a person reads the secret off the nearest "
            f"synthetic row: rightly for {train} of train rows and {control} of holdout rows; a "
            f"random guess is right for {guess}. {shown_level(result)}{shown_surest(result)}"
        )


@declared
class InferenceRiskAll(InferenceMetric, LargestRiskMetric):
    """Largest risk that a column is inferred from all others: 0 where none is, 1 if one always is.

    Every column in turn is the secret that an attacker guesses who knows all others, as in
    :class:`InferenceRisk`.

    Raises
    ------
    InvalidParameterError
        At fit, if there is one column only.

    Warnings
    --------
    This is what one adversary achieves on each column: a low value does not clear a release.

    See Also
    --------
    InferenceRisk : One column is the secret.
    LinkabilityRisk : Two parts of a record lead to the same synthetic row.
    AnonymeterRisk : The largest risk of singling out, linkability and inference.
    AttributeInferenceRisk : A model learned from the release guesses the secret.

    Notes
    -----
    ``details["secrets"]`` has for each column what :class:`InferenceRisk` reports.
    ``details["worst"]`` is the column of the value, ``details["surest"]`` the most significant one.
    The largest of many noisy numbers is above 0 even where nothing leaks: the baseline is the mean
    of the largest over random choices of which real rows are train. The intervals of all columns
    hold at once (Bonferroni). The value's interval reaches from the largest of the lower bounds to
    the largest of the upper ones.

    The p-values (`p_adjusted`) hold at once after Westfall and Young: the excess of train over the
    holdout, in standard deviations, is compared with the largest of all columns, and of all shares
    of the surest guesses (``abstaining``), over random choices. The least p-value is that of the
    result. A column whose every secret is guessed on the holdout, as that of a constant, has no
    risk and is left out. A column for which any guess is right within the tolerance is not
    attacked, and a warning says so.

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
        """Return the attack on each column, None where it would succeed in any case."""
        names = chosen_columns(context.schema, self.columns)
        return {
            name: None if self._void(context, name) else self._attack(context, name, names)
            for name in names
        }

    def _voids(self, context: Context) -> list[VoidAttackWarning]:
        """Return why columns are not attacked, for each that is not."""
        names = chosen_columns(context.schema, self.columns)
        return [VoidAttackWarning(void) for n in names if (void := self._void(context, n))]

    def _summary(self, result: Result) -> str:
        worst = result.details["worst"]["column"]
        train, control = shown_rates(result.details["secrets"][worst])
        is_other = result.contrast is not None and result.details.get("surest", worst) != worst
        tested = f" The test compared {result.contrast}." if is_other else ""
        return (
            "An attacker who knows all columns of a person but one reads it off the nearest "
            f"synthetic row. The most exposed is {worst}: rightly for {train} of train rows and "
            f"{control} of holdout rows. {shown_level(result)}{tested}"
        )


def _by_secret(
    context: Context, secret: str, truth: np.ndarray, scores: np.ndarray, n: int
) -> dict[str, dict[str, Any]]:
    """Return the success on train and holdout rows of each label that enough of both have."""
    # A risk that is small on average may be that of one group. Each rate is of the attacked
    # rows that have the label, in train and in the holdout alike.
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
    """Return the share of the synthetic secrets that are right for each target."""
    present = np.sort(released[~np.isnan(released)])
    near = np.searchsorted(present, truth + margins, side="right")
    near -= np.searchsorted(present, truth - margins, side="left")
    n_right = np.where(np.isnan(truth), released.size - present.size, near)
    return np.asarray(n_right / released.size)


def _usual(released: np.ndarray, is_label: bool) -> np.ndarray:
    """Return the most frequent label, missing being one, or the median number."""
    if not is_label:
        present = released[~np.isnan(released)]
        return np.array(np.median(present) if present.size else np.nan)
    labels, counts = np.unique(released, return_counts=True)
    return np.array(labels[counts.argmax()])


def _nearest_rows(
    context: Context, columns: ColumnChoice, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest synthetic rows of each target, and their distance.

    That is one row, or several equally near ones, followed by -1.
    """
    index, asked = synthetic_index(context, columns), targets(context, columns, n_attacks, seed)
    k = min(_K, len(index.rows))
    distances, nearest = index.kneighbors(asked, min(2, k))
    rows = np.full((len(asked), k), -1)
    rows[:, 0] = nearest[:, 0]
    # few targets have several: to look for as many of all takes twice as long
    tied = np.flatnonzero(distances[:, 0] == distances[:, -1])
    if tied.size:
        rows[tied] = index.kneighbors(asked[tied], k, distances[tied, 0])[1]
    return rows, distances[:, 0]


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
    """Return the guesses of each target, of shape (n_targets, n_guesses), and their weights."""
    # And how sure the attacker is of each target: by how near the synthetic row is, or by
    # what the estimator says of its label; equally sure of all if it does not say.
    there, nominal = places(context.schema), context.schema.columns(*NOMINAL)
    released = synthetic_rows(context)[:, there[secret]]
    if estimator is None:
        key = column_key(context.schema, aux)
        rows, distances = _nearest_rows(context, key, n_attacks, seed)
        weights = (rows >= 0) / (rows >= 0).sum(axis=1, keepdims=True)
        return released[rows], weights, -distances.round(12)
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
    # a guessed label that stands for many is never right
    values = np.where(guesses.values >= 0, secrets[np.maximum(guesses.values, 0)], np.inf)
    chances = guesses.chance_of(guesses.values)
    return values[:, None], certain, alike if chances is None else chances
