"""Inference: the secret of a real person guessed from the synthetic rows most alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.parameters import (
    ColumnName,
    Columns,
    Count,
    NonNegative,
    OpenFraction,
    Seed,
    has_methods,
)
from skeval.privacy.attacks.anonymeter.risks import (
    TAGS,
    Attack,
    largest_risk,
    n_targets,
    nearest_synthetic,
    places,
    risk_result,
    synthetic_rows,
    targets,
)
from skeval.privacy.attacks.secrets import Guesses, Lesson, guess_labels, guess_numbers
from skeval.result import Result
from skeval.stats.risks import attack_rate, residual_risk, scores_p_value
from skeval.steps.neighbors import ranges
from skeval.steps.samples import chosen_columns, column_key
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.schema import TableSchema

_K = 8  # nearest rows looked at; those equally near share the guess
_LEAST_MARGIN = 1e-12
_FEWEST = 10  # rows of a label in train and in the holdout below which it is not told of


class InferenceRisk(Metric):
    """Risk that a secret is inferred: 0 where train rows are as holdout rows, 1 if all are guessed.

    An attacker knows some columns of a real person, looks for the synthetic row that is most alike
    in them, and takes its secret for the person's. What holds of the population, smoking and
    cancer, lets the attacker guess the secret of anybody, and is no leak. The value is what is left
    of the success on train beyond that on the holdout, whom the generator never saw.

    Parameters
    ----------
    secret : str
        The column to guess.
    aux_cols : None, int or list of str, default=None
        The columns that the attacker knows; None for all but the secret.
    regression : bool or None, default=None
        Whether a guess is right that is near; otherwise it must be equal. None: for numbers and
        dates.
    tolerance : float, default=0.05
        How near.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is a share of the secret itself, or of the column's range over train
        and holdout; of dates always the latter.
    estimator : None, classifier or regressor, default=None
        What is fitted to the synthetic rows instead of looking for the nearest one.
    n_attacks : int or None, default=500
        Number of rows of train, and of the holdout, that are attacked, at most all of
        the smaller table; None for so many.
    ci_method : {"anonymeter", "katz"}, default="anonymeter"
        Value and interval from the centres of Wilson's intervals; or from plain shares, with the
        interval of Katz for a ratio of failures.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of the draw of the rows that are attacked, and of an estimator without one.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if nothing but the secret is known, the secret is known, or categories are to be
        guessed nearly.

    Notes
    -----
    With p and c the rates of right guesses on train and on the holdout, the residual risk is
    ``(p - c) / (1 - c)``, clipped to [0, 1]; its null value, and the baseline, is 0. A guess g of a
    number s is right if ``|g - s| <= max(tolerance |s|, 1e-12)``. A missing secret is guessed by a
    missing one. Rows are compared in Gower's distance over the known columns. Of several nearest
    rows the attacker takes one at random: what is counted is the share of them, of 8 at most, that
    have the secret.

    ``details`` has the rates of the attack, of guessing (`baseline`) and on the holdout (`control`)
    with Wilson's intervals, the risk unclipped (`raw`) and from plain shares (`unshrunk`), and
    `weak_attack`: whether guessing does as well, in which case a low value says nothing. Guessing
    takes the secret of a random synthetic row; its rate is computed, not drawn. `majority` is the
    rate of always guessing the most frequent category, or the median. `by_secret` has the rates and
    the risk of rows by their secret, for categories that ten attacked rows of train and of the
    holdout have: a small average may be the risk of one group.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. It is that of Fisher's exact test, or,
    where guesses are shared, of 9,999 random choices.

    This is what one adversary achieves: a low value does not clear a release.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import InferenceRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> InferenceRisk("plan").fit(train, holdout).score(train) > 0.9
    True
    """

    tags = TAGS

    def __init__(
        self,
        secret: ColumnName,
        aux_cols: Columns = None,
        *,
        regression: bool | None = None,
        tolerance: NonNegative = 0.05,
        tolerance_kind: Literal["relative", "range"] = "relative",
        estimator: Annotated[Any, has_methods(("fit", "predict"), values=(None,))] = None,
        n_attacks: Count | None = 500,
        ci_method: Literal["anonymeter", "katz"] = "anonymeter",
        confidence_level: OpenFraction = 0.95,
        random_state: Seed = 0,
    ) -> None:
        self.secret = secret
        self.aux_cols = aux_cols
        self.regression = regression
        self.tolerance = tolerance
        self.tolerance_kind = tolerance_kind
        self.estimator = estimator
        self.n_attacks = n_attacks
        self.ci_method = ci_method
        self.confidence_level = confidence_level
        self.random_state = random_state

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

    def _compute(self, context: Context) -> Result:
        guessing = Guessing.of(self, self.regression)
        known = chosen_columns(context.schema, self.aux_cols)
        return risk_result(inference(context, self.secret, known, guessing), self)


class InferenceRiskAll(Metric):
    """Largest risk that a column is inferred from all others: 0 where none is, 1 if one always is.

    Every column in turn is the secret that an attacker guesses who knows all others, as in
    :class:`InferenceRisk`.

    Parameters
    ----------
    tolerance : float, default=0.05
        How near the guess of a number or date must be.
    tolerance_kind : {"relative", "range"}, default="relative"
        Whether the tolerance is a share of the secret itself, or of the column's range over train
        and holdout; of dates always the latter.
    estimator : None, classifier or regressor, default=None
        What is fitted to the synthetic rows instead of looking for the nearest one. It has to suit
        all columns: choose columns of one kind with `columns`.
    n_attacks : int or None, default=500
        Number of rows of train, and of the holdout, that are attacked, at most all of
        the smaller table; None for so many.
    columns : None, int or list of str, default=None
        The columns that there are.
    ci_method : {"anonymeter", "katz"}, default="anonymeter"
        As in :class:`InferenceRisk`.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of the draw of the rows that are attacked, and of an estimator without one.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if there is one column only.

    Notes
    -----
    ``details["secrets"]`` has for each column what :class:`InferenceRisk` says of it, and
    ``details["worst"]`` the column of the value. The largest of many noisy numbers is above 0 even
    where nothing leaks: the intervals of all columns hold at once, after Bonferroni, and the
    p-value is the least of all columns times their number. The value's interval reaches from the
    largest of their lower bounds to the largest of the upper ones. A column of which every secret
    is guessed on the holdout, as a constant is, has no risk and is left out.

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

    tags = TAGS

    def __init__(
        self,
        *,
        tolerance: NonNegative = 0.05,
        tolerance_kind: Literal["relative", "range"] = "relative",
        estimator: Annotated[Any, has_methods(("fit", "predict"), values=(None,))] = None,
        n_attacks: Count | None = 500,
        columns: Columns = None,
        ci_method: Literal["anonymeter", "katz"] = "anonymeter",
        confidence_level: OpenFraction = 0.95,
        random_state: Seed = 0,
    ) -> None:
        self.tolerance = tolerance
        self.tolerance_kind = tolerance_kind
        self.estimator = estimator
        self.n_attacks = n_attacks
        self.columns = columns
        self.ci_method = ci_method
        self.confidence_level = confidence_level
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_enough_columns("InferenceRiskAll", chosen_columns(context.schema, self.columns), 2)

    def _compute(self, context: Context) -> Result:
        names, guessing = chosen_columns(context.schema, self.columns), Guessing.of(self)
        attacks = {name: inference(context, name, names, guessing) for name in names}
        found = largest_risk(attacks, self)
        details = dict(found.details)
        details["secrets"] = details.pop("attacks")
        if "worst_attack" in details:
            details["worst"] = {"column": details.pop("worst_attack"), "value": found.value}
        return replace(found, details=details)


def check_enough_columns(
    owner: str, columns: Sequence[str], least: int, secret: str | None = None
) -> None:
    """Refuse a table, or a choice of columns, of which too few are left without the secret."""
    if len(set(columns) - {secret}) >= least:
        return
    beside = "" if secret is None else f" beside the secret, {secret},"
    needed = "one column" if least == 1 else f"{least} columns"
    raise MissingInputError(
        f"{owner} needs {needed}{beside} that can be measured, and there "
        f"{'is none' if least == 1 else 'are fewer'}."
    )


@dataclass(frozen=True)
class Guessing:
    """How guesses are made, and when they are right, as parameters of a metric say it."""

    regression: bool | None
    tolerance: float
    tolerance_kind: str
    estimator: Any
    n_attacks: int | None
    seed: int

    @classmethod
    def of(cls, metric: Any, regression: bool | None = None) -> Guessing:
        """Return the settings of a metric."""
        return cls(
            regression,
            metric.tolerance,
            metric.tolerance_kind,
            metric.estimator,
            metric.n_attacks,
            metric.random_state,
        )

    def is_near_enough(self, schema: TableSchema, secret: str) -> bool:
        """Tell whether a guess need not be equal."""
        nearly = self.regression is None or self.regression
        return nearly and secret not in schema.columns(*NOMINAL)

    def margins(self, context: Context, secret: str, truth: np.ndarray) -> np.ndarray:
        """Return how far a guess of each secret may be off."""
        if not self.is_near_enough(context.schema, secret):
            return np.zeros(truth.size)
        if self.tolerance_kind == "range" or context.schema.kinds[secret] == "datetime":
            sizes = np.full(truth.size, ranges(context)[places(context.schema)[secret]])
        else:
            sizes = np.abs(truth)
        return np.fmax(self.tolerance * sizes, _LEAST_MARGIN)


def inference(context: Context, secret: str, known: Sequence[str], guessing: Guessing) -> Attack:
    """Return how often the secret is guessed by somebody who knows the other columns."""
    aux = tuple(name for name in known if name != secret)
    j, n_rows = places(context.schema)[secret], (guessing.n_attacks, guessing.seed)
    truth, released = targets(context, None, *n_rows)[:, j], synthetic_rows(context)[:, j]
    margins = guessing.margins(context, secret, truth)
    values, weights = _guesses(
        context, secret, aux, guessing.estimator, guessing.is_near_enough(context.schema, secret),
        *n_rows,
    )  # fmt: skip
    right = _is_right(values, truth[:, None], margins[:, None])
    scores = np.minimum((weights * right).sum(axis=1), 1.0)
    n = n_targets(context, guessing.n_attacks)
    train, holdout = scores[:n], scores[n:]
    by_chance = _random_guess_rates(released, truth[:n], margins[:n])
    usual = _usual(released, is_label=secret in context.schema.columns(*NOMINAL))
    majority = _is_right(usual, truth[:n], margins[:n]).sum()
    return Attack(
        successes=(float(train.sum()),),
        n=n,
        control=(float(holdout.sum()),),
        n_control=n,
        guessed=float(by_chance.sum()),
        n_guessed=n,
        p_value=scores_p_value(train, holdout, seed=guessing.seed),
        details={
            "n_known": len(aux),
            "majority": attack_rate(float(majority), n).to_dict(),
            "by_secret": _by_secret(context, secret, truth, scores, n),
        },
    )


def _by_secret(
    context: Context, secret: str, truth: np.ndarray, scores: np.ndarray, n: int
) -> dict[str, dict[str, Any]]:
    """Return the success on train and holdout rows of each label that enough of both have.

    A risk that is small on average may be that of one group. Each rate is of the attacked rows that
    have the label, in train and in the holdout alike.
    """
    if secret not in context.schema.columns(*NOMINAL):
        return {}
    found = {}
    for code, label in enumerate(context.levels[secret]):
        train, holdout = (part[own == code] for part, own in _halves(scores, truth, n))
        if min(train.size, holdout.size) >= _FEWEST:
            rates = [attack_rate(float(part.sum()), part.size) for part in (train, holdout)]
            risk = residual_risk(*rates)
            found[label] = {
                "attack": rates[0].to_dict(),
                "control": rates[1].to_dict(),
                "residual_risk": risk.value,
                "interval": list(risk.interval),
            }
    return found


def _halves(scores: np.ndarray, truth: np.ndarray, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(scores[:n], truth[:n]), (scores[n:], truth[n:])]


def _is_right(guess: np.ndarray, truth: np.ndarray, margin: np.ndarray) -> np.ndarray:
    right: np.ndarray = (np.abs(guess - truth) <= margin) | (np.isnan(guess) & np.isnan(truth))
    return right


def _random_guess_rates(released: np.ndarray, truth: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Return the share of the synthetic secrets that are right for each target."""
    present = np.sort(released[~np.isnan(released)])
    near = np.searchsorted(present, truth + margins, side="right")
    near -= np.searchsorted(present, truth - margins, side="left")
    n_right = np.where(np.isnan(truth), released.size - present.size, near)
    rates: np.ndarray = n_right / released.size
    return rates


def _usual(released: np.ndarray, *, is_label: bool) -> np.ndarray:
    """Return the most frequent label, missing being one, or the median number."""
    if not is_label:
        present = released[~np.isnan(released)]
        return np.array(np.median(present) if present.size else np.nan)
    labels, counts = np.unique(released, return_counts=True)
    return np.array(labels[counts.argmax()])


@shared
def _guesses(
    context: Context,
    secret: str,
    aux: tuple[str, ...],
    estimator: Any,
    near_enough: bool,
    n_attacks: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the guesses of each target, of shape (n_targets, n_guesses), and their weights."""
    released = synthetic_rows(context)[:, places(context.schema)[secret]]
    if estimator is None:
        distances, found = nearest_synthetic(
            context, column_key(context.schema, aux), _K, n_attacks, seed
        )
        tied = distances == distances[:, :1]
        return released[found], tied / tied.sum(axis=1, keepdims=True)
    there, nominal = places(context.schema), context.schema.columns(*NOMINAL)
    lines = [there[name] for name in sorted(aux)]
    asked = targets(context, None, n_attacks, seed)[:, lines]
    kinds = tuple(name in nominal for name in sorted(aux))
    known = synthetic_rows(context)[:, lines]
    told = _learnt(estimator, known, kinds, released, asked, near_enough, seed)
    return told[:, None], np.ones((len(asked), 1))


def _learnt(
    estimator: Any,
    known: np.ndarray,
    nominal: tuple[bool, ...],
    secrets: np.ndarray,
    asked: np.ndarray,
    near_enough: bool,
    seed: int,
) -> np.ndarray:
    """Return what an estimator that learnt from synthetic rows guesses."""
    if near_enough:
        there = ~np.isnan(secrets)
        if not there.any():
            return np.full(len(asked), np.nan)
        (found,) = guess_numbers(
            estimator, Lesson(known[there], nominal, secrets[there]), [asked], seed
        )
        return found.values
    values, labels = np.unique(secrets, return_inverse=True)  # nan comes last, once
    (found,) = guess_labels(estimator, Lesson(known, nominal, labels), [asked], seed)
    return _values_of(found, values)


def _values_of(found: Guesses, values: np.ndarray) -> np.ndarray:
    """Return what guessed labels stand for; one that stands for many is never right."""
    known = found.values >= 0
    return np.where(known, values[np.where(known, found.values, 0)], np.inf)
