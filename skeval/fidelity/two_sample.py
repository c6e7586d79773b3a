"""The classifier two-sample test: can a classifier tell synthetic from real rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.fidelity.classifier_metric import ClassifierMetric
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import WARNING_LEVEL
from skeval.stats.distance_bounds import Confusion
from skeval.stats.intervals import clopper_pearson, wilson
from skeval.stats.permutation_tests import share_p_value
from skeval.stats.roc import auc, auc_interval, auc_p_value, delong
from skeval.steps.classifiers import (
    MIN_ROWS,
    Classifier,
    Read,
    Scores,
    Split,
    balanced_rows,
    copied_share,
    fold_scores,
    importances,
    nominal_columns,
    out_of_fold,
    permute_tables,
    read_columns,
    split,
    text_sources,
    too_few,
    with_defaults,
)
from skeval.utils.formatting import percent
from skeval.utils.parameters import Fraction, Interval, OpenFraction

_N_TOP = 5
_NOISE = 1e-12
_COPIES = (
    "The synthetic rows read as copies: unseen ones are taken for real ones more often than real "
    "ones are (AUC {auc:.2f}, p {p:.1g}), as where the synthetic table repeats rows of train that "
    "the classifier has seen. The value is no sign of fidelity; look at the metrics of privacy."
)
_READ_AS_COPIES = (
    "Rows of train that it has seen are repeated: this is a sign of copies, not of fidelity."
)


@declared
class TwoSampleTest(ClassifierMetric):
    """Base of the tests by a classifier of whether synthetic and real rows have one distribution.

    Authors write `_read`, what the classifier sees, and `_models`, the classifiers.

    Parameters
    ----------
    scoring : {"accuracy", "auc"}, default="accuracy"
        Share of rows that are called rightly, or share of pairs of a synthetic and a real row in
        which the synthetic one has the higher score.
    test : {"holdout", "permutation"}, default="holdout"
        The p-value is of unseen rows after one split, or of permuted labels, for which the
        classifier is fitted `n_folds` times a permutation.
    n_folds : int, default=5
        Number of folds behind the value.
    test_size : float, default=0.5
        Share of the synthetic rows that the classifier of the test does not see.
    n_permutations : int, default=199
        Number of permutations.
    alert : float, default=0.7
        AUC from which the `risk_level` in ``details["syneval"]`` is high.
    random_state : int, default=0
        Seed of samples, folds, permutations and classifiers.
    """

    _rows_are: ClassVar[str] = "row"

    scoring: Literal["accuracy", "auc"] = "accuracy"
    _: KW_ONLY
    test: Literal["holdout", "permutation"] = "holdout"
    n_folds: Annotated[int, Interval(2)] = 5
    test_size: OpenFraction = 0.5
    n_permutations: Annotated[int, Interval(19)] = 199
    alert: Fraction = 0.7

    def _compute(self, context: Context) -> Result:
        columns = self._read(context)
        if reason := too_few(context, columns, self.n_folds):
            return undefined_result(reason)
        name, estimator = next(iter(self._models().items()))
        scores = fold_scores(context, estimator, columns, *self._rows)
        value, area = _statistic(scores, self.scoring), auc(scores.synthetic, scores.real)
        similarity = 2.0 - 2.0 * max(area, 0.5)
        low, high = _interval(scores, value, self.scoring)
        return Result(
            value,
            interval=(low, high),
            baseline=0.5,
            difference=(low - 0.5, high - 0.5),  # what two samples of one population have is known
            details={
                "model": name,
                "similarity": similarity,
                "fidelity_score": _nearness(area),
                "synthetic_confidence": float(scores.synthetic.mean()),
                "original_confidence": float(scores.real.mean()),
                "n_rows": scores.real.size,
                "syneval": {
                    "distinguishability_auc": area,
                    "fidelity_score": max(0.0, 1.0 - area),
                    "risk_level": "high" if area >= self.alert else "low",
                },
            },
        )

    def _read(self, context: Context) -> Read:
        """Return the columns that the classifier reads."""
        raise NotImplementedError(f"{type(self).__name__} must define _read(context).")

    def _models(self) -> dict[str, Any]:
        """Return the classifiers to run by name, the first being the headline."""
        raise NotImplementedError(f"{type(self).__name__} must define _models().")

    @property
    def _rows(self) -> tuple[int, int | None, int]:
        return self.n_folds, self.max_rows, self.random_state

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        models, chosen = self._models(), result.details["model"]
        columns = self._read(context)
        rows, halves = (
            (columns, *self._rows),
            (columns, self.test_size, self.max_rows, self.random_state),
        )
        tested = {
            name: _test_classifier(context, model, self.scoring, rows, halves)
            for name, model in models.items()
        }
        headline = tested[chosen][1]
        p_value, real = headline["p_value"], headline["real_rows"]
        if self.test == "permutation":
            fresh = "holdout" in context and context.n_rows("holdout") >= max(
                MIN_ROWS, self.n_folds
            )
            real = "holdout" if fresh else "train"
            settings = (self.scoring, real, self.n_permutations, *rows)
            p_value = permutation_p_value(context, models[chosen], *settings)
        every = importances(context, models[chosen], *halves)
        details = {
            **result.details,
            "models": {name: rates for name, (rates, _) in tested.items()},
            "split": headline,
            "test": {"kind": self.test, "real_rows": real},
            "top_features": dict(list(every.items())[:_N_TOP]),
            "copied_share": copied_share(context, columns),
        }
        if _reads_as_copies(headline):
            details["fidelity_score"] = _nearness(headline["auc"])
        return replace(result, p_value=p_value, details=details, warnings=_notices(headline))

    def _summary(self, result: Result) -> str:
        what = f"{self._rows_are}s on the right side"
        if self.scoring == "auc":
            what = f"pairs of {self._rows_are}s in order"
        said = f"A classifier puts {percent(result.value)} of unseen {what}; 50% is guessing."
        copies = _reads_as_copies(result.details.get("split", {}))
        return f"{said} {_READ_AS_COPIES}" if copies else said


@declared
class ClassifierTwoSampleTest(TwoSampleTest):
    """Accuracy of telling synthetic from real rows: 0.5 if no classifier can, 1 if one always does.

    A reader is shown one row at a time and says whether it is synthetic. Here the reader is a
    classifier that has learned from other rows of both tables. It sees all columns at once, so that
    it finds what marginals and pairs do not show; it also finds what hardly matters, such as ages
    written with a decimal. ``details["top_features"]`` says what it went by.

    Parameters
    ----------
    estimator : classifier, optional
        Classifier of scikit-learn; it sees standardised and one-hot columns, as a sparse matrix if
        there are texts. The default is gradient boosting of small trees (xgboost), on ranks. A tree
        and a logistic regression are run in any case, and reported in ``details["models"]``: a tree
        may see what a linear model cannot.
    columns : None, int or list of str, default=None
        The columns to look at; None for all but ids and the primary key.
    text : "tfidf" or None, default="tfidf"
        Whether, where no columns are chosen, text columns are read too: as the 1,000 most frequent
        words of those that two texts have, weighted by their rarity (TF-IDF). None leaves texts
        out.

    See Also
    --------
    PropensityMSE : Fitted probabilities and their null.
    TotalVariationLowerBound : What the accuracy proves.
    ClassifierPRD : Precision and recall from the same scores.

    Notes
    -----
    The value is taken over all rows of train and as many synthetic ones, each scored by a
    classifier that learned from the other folds; further rows of the larger table are left out at
    random. Such scores depend on each other: a binomial test on them rejects true hypotheses twice
    as often as it says. The p-value is therefore of one split. The classifier learns from train and
    a part of the synthetic rows and is tested on the others and on holdout rows, which are
    independent of what was learned; without a holdout, on the other half of train, and then the
    test is a conservative one, since the generator has seen that half. The test is Fisher's on the
    numbers of rows called synthetic, or that of Mann and Whitney. Given the numbers of labels, both
    are exact for any classifier. `split` in ``details`` has its accuracy, with the interval of
    Clopper and Pearson, and its AUC, with DeLong's.

    The interval of the value is as wide as if half the rows had been scored, which makes up for
    their dependence.

    Equal rows are in one fold, up to ten of them, so that no classifier has learned from a row and
    scores its copy: a copy of train has 0.5, as it has the same distribution. A value clearly under
    0.5, as of rows near to rows of train or of a table of few different rows, is no better than
    0.5. The split has no such folds. If its classifier takes synthetic rows for rows of train that
    it has learned from (p < 0.01), there is a warning, the summary says so, and
    ``details["split"]["p_value_below"]`` is the p-value. ``details["copied_share"]`` is the share
    of synthetic rows that train has too, in the columns looked at.

    ``details["similarity"]`` is ``1 - (2 max(AUC, 1/2) - 1)``, the form of SDMetrics, clipped after
    averaging, not before; ``details["fidelity_score"]`` is ``1 - 2 |AUC - 1/2|``, which is low on
    both sides, of the split where that reads as copies: in SynEval it is ``max(0, 1 - AUC)``, at
    most about a half for good tables and 1 for copies. ``details["syneval"]`` has that, the AUC as
    `distinguishability_auc`, and a `risk_level`. ``synthetic_confidence`` and
    ``original_confidence`` are the mean scores of synthetic and of real rows, the probability of
    being synthetic as the classifier has it: both 1/2 where it cannot tell, 1 and 0 where it always
    can. Unlike SynEval's, they are of rows that the classifier has not seen.

    The baseline is 0.5: no classifier separates two samples of one distribution. The classifier
    bounds the distance of the distributions from below, see
    :class:`~skeval.fidelity.TotalVariationLowerBound`; a poor one finds nothing.

    References
    ----------
    D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ClassifierTwoSampleTest
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> shifted = fresh.assign(visits=fresh["visits"] + 9)
    >>> result = ClassifierTwoSampleTest().fit(train).evaluate(shifted)
    >>> result.value > 0.9, result.p_value < 0.001, next(iter(result.details["top_features"]))
    (True, True, 'visits')
    """

    estimator: Classifier = None
    _: KW_ONLY
    text: Literal["tfidf"] | None = "tfidf"

    def _read(self, context: Context) -> Read:
        return read_columns(context, self.columns, self.text)

    def _models(self) -> dict[str, Any]:
        return with_defaults(self.estimator)


def _statistic(scores: Scores, scoring: str) -> float:
    if scoring == "auc":
        return auc(scores.synthetic, scores.real)
    return Confusion.from_scores(scores.real, scores.synthetic).accuracy


def _test_classifier(
    context: Context, estimator: Any, scoring: str, rows: tuple[Any, ...], halves: tuple[Any, ...]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return what a classifier reaches out of fold, with its p-value, and the test of one split."""
    scores = fold_scores(context, estimator, *rows)
    test = _split_test(split(context, estimator, *halves), scoring)
    rates = {each: _statistic(scores, each) for each in ("accuracy", "auc")}
    return {**rates, "p_value": test["p_value"]}, test


def _notices(tested: Mapping[str, Any]) -> tuple[MetricWarning, ...]:
    """Say that synthetic rows read as copies, where they do."""
    if _reads_as_copies(tested):
        return (MetricWarning(_COPIES.format(auc=tested["auc"], p=tested["p_value_below"])),)
    return ()


def _reads_as_copies(tested: Mapping[str, Any]) -> bool:
    return bool(tested.get("p_value_below", 1.0) < WARNING_LEVEL)


def _nearness(area: float) -> float:
    """Return how near to guessing an AUC is, from either side."""
    return 1.0 - 2.0 * abs(area - 0.5)


def _interval(scores: Scores, value: float, scoring: str) -> tuple[float, float]:
    """Return the interval of half as many rows: out-of-fold scores depend on each other."""
    if scoring == "accuracy":
        return wilson(value * scores.real.size, scores.real.size)
    half = scores.real.size / 2.0
    error = np.sqrt(2.0) * delong(scores.synthetic, scores.real).standard_error
    return auc_interval(value, error, half, half)


def _split_test(tested: Split, scoring: str) -> dict[str, Any]:
    """Return what one split says, by both scorings, and its p-values by one."""
    real, synthetic = tested.scores.real, tested.scores.synthetic
    called, area = Confusion.from_scores(real, synthetic), delong(synthetic, real)
    n = real.size + synthetic.size
    if scoring == "auc":
        above, below = auc_p_value(synthetic, real), auc_p_value(synthetic, real, "less")
    else:
        counts = (called.n_synthetic_as_synthetic, synthetic.size)
        others = (called.n_real_as_synthetic, real.size)
        above, below = share_p_value(*counts, *others), share_p_value(*others, *counts)
    return {
        "accuracy": called.accuracy,
        "accuracy_interval": clopper_pearson(n - called.n_errors, n),
        "auc": area.value,
        "auc_interval": area.interval,
        "auc_standard_error": area.standard_error,
        "p_value": above,
        "p_value_below": below,
        "real_rows": tested.real_rows,
        "n_tested": real.size,
        "n_learned": tested.n_learned,
    }


@shared
def permutation_p_value(
    context: Context,
    estimator: Any,
    scoring: str,
    real: str,
    n_permutations: int,
    columns: Read,
    n_folds: int,
    max_rows: int | None,
    seed: int,
) -> float:
    """Return the share of label permutations, the actual one among them, that reach the score."""
    tables = balanced_rows(context, real, columns, max_rows, seed)
    nominal, texts = nominal_columns(context, columns), text_sources(context, columns)
    out_of_folds = partial(out_of_fold, n_folds=n_folds, seed=seed, texts=texts)

    def score(first: np.ndarray, second: np.ndarray) -> float:
        scores = out_of_folds(estimator, first, second, nominal)
        return _statistic(scores, scoring)

    least = score(*tables) - _NOISE
    n_reached = sum(
        score(*dealt) >= least for dealt in permute_tables(tables, n_permutations, seed)
    )
    return (1.0 + n_reached) / (n_permutations + 1.0)
