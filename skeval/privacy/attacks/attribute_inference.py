"""Attack that trains a model on the release to guess a sensitive attribute of training records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import ConstantColumnWarning, InvalidParameterError, MissingInputError
from skeval.privacy.attacks.secret_guesses import (
    MISSING,
    Guesses,
    Lesson,
    guess_labels,
    guess_numbers,
    marginal_guesses,
    shown_surest,
    surest_contrast,
)
from skeval.privacy.attacks.secrets import Names, check_known_and_secret, known_columns
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.abstention import Abstention
from skeval.stats.correct_attribution import inference_distance
from skeval.stats.excess_tests import abstaining_test
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.roc import delong, placements
from skeval.stats.row_scores import Scores, difference_interval, exchange_p_value, row_mean
from skeval.steps.classifiers import drawn_rows, nominal_columns
from skeval.tables.preprocessing import NOMINAL
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import ColumnName, Count, Fraction, Seed, has_methods

_MODEL = "by a model of the release"
_TESTED = {
    "accuracy": f"train rows whose {{secret}} is guessed correctly {_MODEL}",
    "balanced_accuracy": f"train rows whose {{secret}} is guessed correctly {_MODEL}, by class",
    "roc_auc": f"pairs that {_MODEL[3:]} puts in the order of {{secret}}, for train rows",
    "right": f"train rows whose {{secret}} is guessed right, or within 5% of its range, {_MODEL}",
    "neg_mae": f"mean error of {{secret}} of train rows {_MODEL}, in its range",
}
_NEAR = 0.05  # fraction of the range, the maximum error of a correct guess of a number
Bounds = tuple[float, float]
Asked = tuple[str, Sequence[str] | None, int | None, int]
_UNDEFINED = (float("nan"), (float("nan"), float("nan")))


@declared
class AttributeInferenceRisk(Metric):
    """Excess accuracy with which a model infers a sensitive attribute of training records.

    An attacker fits a model to the release that predicts a sensitive attribute from known columns,
    and applies it to real records. The success on holdout records is knowledge about the
    population. The additional success on training records is a disclosure about these records. The
    value is 0 without a disclosure, and 1 if only the attribute of training records is known. Lower
    is better.

    Parameters
    ----------
    secret : str
        Sensitive attribute to guess.
    known : list of str, optional
        Columns that the attacker knows. None for all others except the primary key.
    estimator : classifier or regressor, optional
        Model that learns from the release with standardized numbers and one-hot categories. If
        None, the mean of ten fully grown extremely randomized trees is used, which predict ranks
        for numbers. They memorize the rows and therefore detect copies, whereas boosted or pruned
        models smooth copies away.
    scoring : {"accuracy", "balanced_accuracy", "roc_auc", "neg_mae"}, optional
        Performance of the guesses. For categories, it is the accuracy (default), the mean recall of
        the classes that occur in both tables, or the AUC if the attribute has two values. For
        numbers and dates, it is the negative mean absolute error, in units of the range of the real
        values, with at most 1 for each row.
    tau : float, default=0.5
        Fraction of the uncertainty about an attribute that the model must remove so that the row
        counts in ``details["confident"]``.
    max_rows : int or None, default=50_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    n_permutations : int, default=1999
        Number of exchanges of training and holdout rows behind the p-value. Fewer are drawn if many
        of them reach the observed value.
    random_state : int, default=0
        Seed of the model, the samples and the exchanges.

    Raises
    ------
    MissingInputError
        At fit, without a holdout.
    InvalidParameterError
        At fit, if columns do not exist, no column is known, the sensitive attribute is among the
        known columns, or `scoring` or `estimator` does not suit the attribute.

    Warnings
    --------
    The value can raise an alarm but cannot clear a release.

    See Also
    --------
    DisclosureProtection : Infers the attribute from the synthetic rows with equal known columns.
    InferenceRisk : Infers the attribute from the nearest synthetic row.
    LinearReconstructionAttack : Infers a binary attribute from counts of synthetic rows.

    Notes
    -----
    The value is ``perf(train) - perf(holdout)`` of one model fitted to the synthetic rows. The
    baseline is 0, the expected value without a leak. For accuracies, the interval is Newcombe's.
    For other scores, the interval is computed in the same way from the intervals of both
    performances.

    The p-value is one-sided and exact, because training and holdout rows are exchangeable given the
    model if nothing was memorized. The test also covers attackers who guess only the records for
    which the model is most confident, measured by the probability of the label or by the spread of
    the trees. Such an attacker may know a few records exactly even if the average does not show a
    leak. For the most confident 1%, 2%, 5%, 10%, 20%, 50% and all of the guesses,
    ``details["abstaining"]`` contains the numbers of correct guesses (or guesses within 5% of the
    range) for training and holdout rows (``by_share``), the anonymity loss coefficient, and the
    p-value for all fractions at once (see ``skeval.stats.excess_tests.abstaining_test``). For
    accuracies, this is the p-value of the result. Otherwise, the p-value is twice the smaller of
    this p-value and the p-value of the performance (`p_average`). For recalls, rows are exchanged
    within classes. For an AUC, rows are also exchanged within classes, and the linear form of the
    AUC is used.

    ``details`` contains the performance on `train` and `holdout`. `marginal` is the performance on
    the training rows of a guess without known columns, that is, the most frequent or the median
    value of the release. `population` is the performance of the same model fitted to the holdout,
    which shows the information that other records provide. `information_gain` is the excess of the
    release over `population`. Because holdout and training data are disjoint, folds are not needed.
    `confident` and `confident_holdout` are the fractions of rows for which the model removes more
    than `tau` of the uncertainty, ``1 - l_i / m_i``. Here l and m are the probability of incorrect
    values (or the error of a number) with and without known columns. `score` is one minus the
    advantage, at most 1. For numbers, `inference_distance` is the mean squared difference in rank
    between guess and truth on the training rows.

    A missing category is a separate value, and rows with a missing number are skipped. A class that
    does not occur in the release is never guessed. Only the 100 most frequent classes of the
    release are learned. If the accuracy is near 1 for all records, there may still be no advantage.
    An advantage near 0 excludes only this attack, and only on average over the training data.

    References
    ----------
    S. Yeom, I. Giacomelli, M. Fredrikson, S. Jha, "Privacy risk in machine learning: analyzing the
    connection to overfitting", IEEE Computer Security Foundations Symposium (2018),
    doi:10.1109/CSF.2018.00027.
    P. Francis, D. Wagner, "Towards better attribute inference vulnerability measures" (2025),
    arXiv:2507.01710.
    T. Stadler, B. Oprisanu, C. Troncoso, "Synthetic data - anonymisation groundhog day", USENIX
    Security Symposium (2022), arXiv:2011.07018.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import AttributeInferenceRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = AttributeInferenceRisk("plan").fit(train, holdout)
    >>> metric.score(train) > 0.3, metric.evaluate(make_mixed(random_state=2)).p_value > 0.05
    (True, True)
    """

    tags = replace(ATTACK_TAGS, bounds=(-1.0, 1.0), risks=frozenset({"inference"}))

    secret: ColumnName
    known: Names | None = None
    estimator: Annotated[Any, has_methods(("fit", "predict", "get_params"), values=(None,))] = None
    scoring: Literal["accuracy", "balanced_accuracy", "roc_auc", "neg_mae"] | None = None
    _: KW_ONLY
    tau: Fraction = 0.5
    max_rows: Count | None = 50_000
    n_permutations: Count = 1999
    random_state: Seed = 0

    @property
    def _step_arguments(self) -> Asked:
        """Return the attribute, the known columns and the seed as the steps require."""
        return self.secret, self.known, self.max_rows, self.random_state

    def _prepare(self, context: Context) -> None:
        owner, known = type(self).__name__, known_columns(context.schema, self.known, self.secret)
        check_known_and_secret(owner, context.schema, known, [self.secret], "secret")
        if not known:
            raise MissingInputError(
                "guesses a secret from other columns, and the table has no other column than "
                f"{self.secret} that can be measured.",
                owner,
            )
        _check_kinds(owner, context, self.secret, self.scoring, self.estimator)

    def _compute(self, context: Context) -> Result:
        tables = lessons(context, self._step_arguments)
        if empty := [role for role, rows in tables.items() if rows.secret.size == 0]:
            return undefined_result(
                f"{self.secret} has no value in the rows of {' and '.join(empty)}."
            )
        if np.ptp(np.append(tables["train"].secret, tables["holdout"].secret)) == 0:
            reason = f"{self.secret} has one value in the real tables."
            return undefined_result(reason, ConstantColumnWarning)
        scoring = Scoring.from_tables(tables, self.scoring)
        train, holdout = (
            scoring.performance(rows)[0]
            for rows in guessed_rows(context, self.estimator, self._step_arguments)
        )
        details: dict[str, Any] = {"scoring": scoring.name, "train": train, "holdout": holdout}
        if np.isnan(train - holdout):
            reason = f"{scoring.name} needs rows of each class in both train and holdout."
            return undefined_result(reason, **details)
        return Result(train - holdout, details=details)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if not result.details:  # nothing was guessed
            return result
        tables, seed = lessons(context, self._step_arguments), self.random_state
        scoring = Scoring.from_tables(tables, self.scoring)
        on_train, on_holdout = guessed_rows(context, self.estimator, self._step_arguments)
        (on_others,) = fit_and_guess(self.estimator, tables["holdout"], [tables["train"]], seed)
        population = scoring.performance(on_others)[0]
        details = {
            **result.details,
            "population": population,
            "information_gain": result.details["train"] - population,
            "score": 1.0 - max(0.0, result.value),
            **beyond_marginal(scoring, tables["synthetic"].secret, on_train, on_holdout, self.tau),
        }
        if np.isnan(result.value):
            return replace(result, details=details)
        at_train, around_train = scoring.performance(on_train)
        at_holdout, around_holdout = scoring.performance(on_holdout)
        found = abstention(scoring, on_train, on_holdout, seed)
        p_value = scoring.p_value(on_train, on_holdout, self.n_permutations, seed)
        contrast = scoring.contrast(on_train, on_holdout, self.secret)
        sizes = on_train.secrets.size, on_holdout.secrets.size
        both = of_both_tests(p_value, contrast, found, self.secret, sizes, scoring.name)
        return replace(
            result,
            interval=difference_interval(at_train, around_train, at_holdout, around_holdout),
            **both,
            baseline=0.0,
            details={**details, "p_average": p_value, "abstaining": found.to_dict()},
            advice=(
                f"Drop or coarsen {self.secret}, or fit a generator that memorizes fewer single "
                f"rows, because models of the release know {self.secret} of train rows."
            ),
        )

    def _summary(self, result: Result) -> str:
        train, holdout = (as_float(result.details[role]) for role in ("train", "holdout"))
        model = "A model learned from the release"
        if train < 0.0 or holdout < 0.0:
            return (
                f"{model} misses the secret by {percent(-train)} of its range for train rows, by "
                f"{percent(-holdout)} for holdout rows.{shown_surest(result)}"
            )
        return (
            f"{model} guesses the secret of train rows with {percent(train)} and of holdout rows "
            f"with {percent(holdout)}.{shown_surest(result)}"
        )


def abstention(scoring: Scoring, train: GuessedRows, holdout: GuessedRows, seed: int) -> Abstention:
    """Return the success of the most confident guesses (numbers within 5% of the range)."""
    right = np.concatenate([scoring.is_right(rows) for rows in (train, holdout)])
    confidence = np.concatenate([rows.guesses.confidence for rows in (train, holdout)])
    return abstaining_test(right, confidence, train.secrets.size, seed=seed)


def of_both_tests(
    p_value: float,
    average: Contrast,
    found: Abstention,
    secret: str,
    sizes: tuple[int, int],
    scoring: str,
) -> dict[str, Any]:
    """Return p-value and contrast of the average and the most confident guesses together."""
    # The test of the accuracy is one of the fractions, because it uses all guesses. Otherwise, the
    # smaller p-value is corrected after Bonferroni and reported with its contrast.
    if scoring == "accuracy":
        contrast = surest_contrast(average, found, secret, *sizes)
        return {"p_value": found.p_value, "contrast": contrast}
    contrast, n_tests = average, 2
    if found.p_value < p_value:
        train, holdout = (float(rate) for rate in found.pooled[:, -1] / sizes)
        what = _TESTED["right"].format(secret=secret)
        contrast = replace(average, what=what, observed=train, expected=holdout, high_leaks=True)
        contrast = surest_contrast(contrast, found, secret, *sizes)
        n_tests = 1 + contrast.n_tests
    least_p = min(1.0, 2.0 * average.least_p)
    return {
        "p_value": min(1.0, 2.0 * min(p_value, found.p_value)),
        "contrast": replace(contrast, n_tests=n_tests, least_p=least_p),
    }


def _check_kinds(
    owner: str, context: Context, secret: str, scoring: str | None, estimator: Any
) -> None:
    """Refuse a scoring or an estimator that does not suit the secret."""
    is_label = context.schema.kinds[secret] in NOMINAL
    what = "categories" if is_label else "numbers"
    if scoring is not None and (scoring == "neg_mae") == is_label:
        legal = "'accuracy', 'balanced_accuracy' or 'roc_auc'" if is_label else "'neg_mae'"
        raise InvalidParameterError(
            f"{owner}: {secret} contains {what}, so scoring must be {legal}, got {scoring!r}."
        )
    if scoring == "roc_auc":
        codes = [context.column(role, secret).cat.codes for role in ("train", "holdout")]
        if (n_labels := np.unique(np.concatenate(codes)).size) > 2:
            raise InvalidParameterError(
                f"{owner}: scoring='roc_auc' needs a secret of two values, and {secret} has "
                f"{n_labels}, missing included. Use 'accuracy' or 'balanced_accuracy'."
            )
    if estimator is not None and (is_regressor if is_label else is_classifier)(estimator):
        kind = type(estimator).__name__
        raise InvalidParameterError(f"{owner}: {secret} contains {what}, but got {kind}.")


def lessons(context: Context, asked: Asked) -> dict[str, Lesson]:
    """Return the known columns and the sensitive attribute of each table, with sorted rows."""
    secret, known, max_rows, seed = asked
    columns = tuple(sorted([*known_columns(context.schema, known, secret), secret]))
    nominal, at = nominal_columns(context, columns), columns.index(secret)
    tables = {}
    for role in ("train", "holdout", "synthetic"):
        rows = drawn_rows(context, role, columns, max_rows, seed)
        values = rows[:, at]
        if nominal[at]:
            values = np.where(np.isnan(values), MISSING, values).astype(np.int64)
        else:
            rows, values = rows[np.isfinite(values)], values[np.isfinite(values)]
        others = np.delete(rows, at, axis=1)
        tables[role] = Lesson(others, (*nominal[:at], *nominal[at + 1 :]), values)
    return tables


@dataclass(frozen=True)
class GuessedRows:
    """Guesses of the sensitive attribute of some rows, and the true values, shape (n_rows,)."""

    guesses: Guesses
    secrets: np.ndarray


@shared
def guessed_rows(context: Context, estimator: Any, asked: Asked) -> tuple[GuessedRows, ...]:
    """Return the guesses for training and holdout rows of a model fitted to the release."""
    (train, holdout, synthetic), (*_, seed) = lessons(context, asked).values(), asked
    return fit_and_guess(estimator, synthetic, [train, holdout], seed)


def fit_and_guess(
    estimator: Any, lesson: Lesson, tables: Sequence[Lesson], seed: int
) -> tuple[GuessedRows, ...]:
    """Return the guesses for several tables of a model fitted to some rows."""
    learn = guess_labels if lesson.secret.dtype == np.int64 else guess_numbers
    guesses = learn(estimator, lesson, [rows.known for rows in tables], seed)
    return tuple(GuessedRows(one, rows.secret) for one, rows in zip(guesses, tables, strict=True))


def beyond_marginal(
    scoring: Scoring, released: np.ndarray, train: GuessedRows, holdout: GuessedRows, tau: float
) -> dict[str, float]:
    """Return the success of guesses from released values alone, and the rows guessed better."""
    is_label, both = scoring.name != "neg_mae", (train, holdout)
    guesses = marginal_guesses(released, [rows.secrets.size for rows in both], is_label)
    blind = [GuessedRows(one, rows.secrets) for one, rows in zip(guesses, both, strict=True)]
    details = {
        "marginal": scoring.performance(blind[0])[0],
        "confident": share_above(gains(train, blind[0]), tau),
        "confident_holdout": share_above(gains(holdout, blind[1]), tau),
    }
    if not is_label:
        guessed = train.guesses.values
        details["inference_distance"] = inference_distance(guessed, train.secrets, train.secrets)
    return details


@dataclass(frozen=True)
class Scoring:
    """Performance measure of the guesses."""

    name: str
    scale: float
    classes: np.ndarray

    @classmethod
    def from_tables(cls, tables: Mapping[str, Lesson], name: str | None) -> Scoring:
        """Return the scoring with this name, or the default scoring for the attribute."""
        train, holdout = tables["train"].secret, tables["holdout"].secret
        if train.dtype == np.int64:
            return cls(name or "accuracy", 1.0, np.intersect1d(train, holdout))
        return cls(name or "neg_mae", float(np.ptp(np.append(train, holdout))), np.empty(0))

    def performance(self, rows: GuessedRows) -> tuple[float, Bounds]:
        """Return the performance of the guesses and its interval, or nan if it is not defined."""
        if self.name == "roc_auc":
            positives, negatives = self._by_class(rows)
            area = delong(positives, negatives) if positives.size and negatives.size else None
            return (area.value, area.interval) if area else _UNDEFINED
        if self.name == "balanced_accuracy":
            return self._mean_recall(rows)
        mean = row_mean(self._row_scores(rows))
        lost = 1.0 if self.name == "neg_mae" else 0.0  # scores are one minus the error
        return mean.value - lost, (mean.interval[0] - lost, mean.interval[1] - lost)

    def p_value(
        self, train: GuessedRows, holdout: GuessedRows, n_permutations: int, seed: int
    ) -> float:
        """Return the fraction of exchanges of real rows with at least this advantage."""
        strata = self.strata(train, holdout)
        n_means = max(1, len(strata)) if self.name == "balanced_accuracy" else 1
        weights = [1.0 / n_means] * len(strata)
        return exchange_p_value(strata, weights=weights, n_permutations=n_permutations, seed=seed)

    def contrast(self, train: GuessedRows, holdout: GuessedRows, secret: str) -> Contrast:
        """Return the two means whose difference is tested."""
        of_train, of_holdout = (
            float(np.mean([scores.sum() / counts.sum() for scores, counts in strata]))
            for strata in zip(*self.strata(train, holdout), strict=True)
        )
        high = self.name != "neg_mae"  # scores are one minus the error
        if not high:
            of_train, of_holdout = 1.0 - of_train, 1.0 - of_holdout
        shown = (_TESTED[self.name].format(secret=secret), of_train, of_holdout, "for holdout rows")
        least = least_p_value(train.secrets.size, holdout.secrets.size)
        return Contrast(*shown, high_leaks=high, least_p=least)

    def _row_scores(self, rows: GuessedRows) -> Scores:
        if self.name == "neg_mae":
            errors = np.abs(rows.guesses.values - rows.secrets) / self.scale
            scores = 1.0 - np.minimum(errors, 1.0)
        else:
            scores = (rows.guesses.values == rows.secrets).astype(np.float64)
        return _scored_once(scores)

    def is_right(self, rows: GuessedRows) -> np.ndarray:
        """Return 1 for each correct guess (or close number) and 0 for other guesses."""
        if rows.guesses.labels.size:
            return (rows.guesses.values == rows.secrets).astype(np.float64)
        near = np.abs(rows.guesses.values - rows.secrets) <= _NEAR * self.scale
        return near.astype(np.float64)

    def _recalls(self, rows: GuessedRows) -> list[Scores]:
        """Return the scores of the rows of each class."""
        totals, counts = self._row_scores(rows)
        chosen = [rows.secrets == label for label in self.classes]
        return [(totals[mask], counts[mask]) for mask in chosen]

    def _mean_recall(self, rows: GuessedRows) -> tuple[float, Bounds]:
        means = [row_mean(scores) for scores in self._recalls(rows)]
        if not means:
            return _UNDEFINED
        value = float(np.mean([mean.value for mean in means]))
        below, above = (
            float(np.linalg.norm([mean.value - mean.interval[i] for mean in means])) / len(means)
            for i in (0, 1)
        )
        return value, (value - below, value + above)

    def _by_class(self, rows: GuessedRows) -> tuple[np.ndarray, np.ndarray]:
        """Return scores for the positive class, for rows of this class and for the other rows."""
        if self.classes.size < 2:
            return np.empty(0), np.empty(0)
        positive = self.classes[-1]
        chances = rows.guesses.chance_of(np.full(rows.secrets.size, positive))
        if chances is None:
            chances = (rows.guesses.values == positive).astype(np.float64)
        return chances[rows.secrets == positive], chances[rows.secrets != positive]

    def strata(self, train: GuessedRows, holdout: GuessedRows) -> list[tuple[Scores, Scores]]:
        """Return row scores in groups whose mean difference is the performance."""
        # The row scores of an AUC are the fraction of pooled rows of the other class that the row
        # is on the correct side of. The AUC is linear in these scores.
        if self.name == "balanced_accuracy":
            return list(zip(self._recalls(train), self._recalls(holdout), strict=True))
        if self.name == "roc_auc":
            own, others = zip(*(self._by_class(rows) for rows in (train, holdout)), strict=True)
            above, above_holdout = (placements(part, np.concatenate(others)) for part in own)
            below, below_holdout = (placements(-part, -np.concatenate(own)) for part in others)
            return [
                (_scored_once(above), _scored_once(above_holdout)),
                (_scored_once(below), _scored_once(below_holdout)),
            ]
        return [(self._row_scores(train), self._row_scores(holdout))]


def _scored_once(scores: np.ndarray) -> Scores:
    return scores, np.ones(scores.size, dtype=np.int64)


def gains(rows: GuessedRows, marginal: GuessedRows) -> np.ndarray | None:
    """Return the fraction of uncertainty that a model removes for each row, or None."""
    # One minus the loss of the model divided by the loss of a guess without known columns. The loss
    # is the probability of incorrect labels, or the distance to the true number. The result is 0 if
    # the second loss is 0, and it is negative if the model is worse.
    if rows.guesses.labels.size:
        chances, before = (part.guesses.chance_of(part.secrets) for part in (rows, marginal))
        if chances is None or before is None:
            return None
        losses = 1.0 - chances, 1.0 - before
    else:
        losses = tuple(np.abs(part.guesses.values - part.secrets) for part in (rows, marginal))
    left = np.ones(rows.secrets.size)
    return 1.0 - np.divide(losses[0], losses[1], out=left, where=losses[1] > 0)


def share_above(gained: np.ndarray | None, tau: float) -> float:
    """Return the fraction of rows with more than `tau` of the uncertainty removed."""
    return float("nan") if gained is None else float((gained > tau).mean())
