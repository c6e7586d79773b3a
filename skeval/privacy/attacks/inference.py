"""Inference: the secret of a real person guessed from the synthetic rows most alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skeval._parameters import Anything, ColumnName, Columns, Constraint, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.preprocessing import NOMINAL
from skeval.privacy.attacks._inferring import Guessing, inference
from skeval.privacy.attacks._risks import LEGAL, N_ATTACKS, TAGS, largest_risk, risk_result
from skeval.result import Result
from skeval.steps import chosen_columns

__all__ = ["InferenceRisk", "InferenceRiskAll", "check_enough_columns"]

_SETTINGS: dict[str, Constraint] = {
    "tolerance": Interval(float, 0.0, None),
    "tolerance_kind": Options(("relative", "range")),
    "estimator": Anything(("fit", "predict"), values=(None,)),
    "n_attacks": N_ATTACKS,
    **LEGAL,
}


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
    _legal = {
        "secret": ColumnName(),
        "aux_cols": Columns(),
        "regression": Options((None, True, False)),
        **_SETTINGS,
    }

    def __init__(
        self,
        secret: str,
        aux_cols: int | list[str] | None = None,
        *,
        regression: bool | None = None,
        tolerance: float = 0.05,
        tolerance_kind: str = "relative",
        estimator: Any = None,
        n_attacks: int | None = 500,
        ci_method: str = "anonymeter",
        confidence_level: float = 0.95,
        random_state: int = 0,
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
    _legal = {"columns": Columns(), **_SETTINGS}

    def __init__(
        self,
        *,
        tolerance: float = 0.05,
        tolerance_kind: str = "relative",
        estimator: Any = None,
        n_attacks: int | None = 500,
        columns: int | list[str] | None = None,
        ci_method: str = "anonymeter",
        confidence_level: float = 0.95,
        random_state: int = 0,
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
