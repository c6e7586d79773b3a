"""How many of the relations between columns a synthetic table keeps, all columns at once."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated, Any

import numpy as np
from scipy.stats import norm

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.halves import Sizes
from skeval.core.tags import MetricTags
from skeval.exceptions import NothingToMeasureWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.halves import N_HALVINGS, halved_share
from skeval.steps.classifiers import BINNED, MAX_ROWS, Classifier, measured_names, too_few
from skeval.steps.relations import (
    Relations,
    apart_scores,
    areas_of_halves,
    learned_relations,
    mean_area,
)
from skeval.steps.samples import holdout_in_place
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Interval, Seed

_LEVEL = 0.95
_UNRELATED = (
    "a classifier that learned from train finds no relation between its columns, so that there is "
    "none to keep."
)


@declared
class RelationScore(Metric):
    """Share of train's relations that are kept: 0 as of columns shuffled apart, 1 as of fresh rows.

    A table may have every column right and no relation between them. A reader is shown rows of
    train, and rows of which each cell was drawn from its column by itself, until they can tell
    them apart. Then they are shown synthetic rows, and synthetic rows whose columns were shuffled
    apart. Here the reader is a classifier. What it tells apart is a relation of train that the
    synthetic table has too.

    Parameters
    ----------
    estimator : classifier, optional
        Classifier of scikit-learn; it sees standardised and one-hot columns. The default is
        gradient boosting of small trees (xgboost), on ranks, of which it sees 32 bins.
    n_folds : int, default=2
        Number of folds of train. Each classifier learns from the others, and rows of its own fold
        say how much it can know.
    max_rows : int or None, default=10_000
        Rows of each table that are looked at, a seeded sample.
    columns : None, int or list of str, default=None
        The columns to look at; None for all but text, ids and the primary key.
    random_state : int, default=0
        Seed of samples, folds, draws and classifiers.

    Warnings
    --------
    Columns themselves are not judged: read it together with :class:`SimilarityScore`. A relation
    that is stronger than that of train counts as kept, and one that only the synthetic table has
    is not seen; :class:`ClassifierTwoSampleTest` sees both. Copies of train keep all relations,
    which is no merit of a generator.

    See Also
    --------
    SimilarityScore : Columns and pairs.
    ClassifierTwoSampleTest : All differences at once, those of columns too.
    ClippedDensityCoverage : The share of rows that lie where train rows do.

    Notes
    -----
    With A the area under the ROC curve (AUC) by which classifiers tell synthetic rows from the same
    rows shuffled apart, and T that of train rows that they have not seen, the value is ``(A - 1/2)
    / (T - 1/2)``, cut off at 0 and 1. A and T are means over classifiers, one a fold. ``details``
    have both as `auc` and `auc_train`, and the value before it is cut off as `unclipped`. A table
    of independent columns has A = 1/2, also if the columns are wrong, and so has one that repeats a
    single row. Fresh rows score 1 on average. Copies of train are rows that some of the classifiers
    have learned from, so that their value before the cut may be above 1.

    The interval has the noise of A and of T (DeLong), as large as for one classifier. There is no
    value if the interval of T reaches down to 1/2: train has no relations then that the classifier
    finds.

    References
    ----------
    The test by a classifier is that of D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample
    tests", ICLR 2017, arXiv:1610.06545. Learning a distribution by the contrast with independent
    columns is from T. Hastie, R. Tibshirani, J. Friedman, "The elements of statistical learning",
    2nd ed., section 14.2.4. The scale is ours.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import RelationScore
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> rng = np.random.default_rng(0)
    >>> apart = fresh.apply(lambda column: rng.permutation(column.to_numpy()))
    >>> metric = RelationScore().fit(train)
    >>> metric.score(fresh) > 0.8, metric.score(apart) < 0.2
    (True, True)
    """

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), headline=4, quoted="relations"
    )
    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    estimator: Classifier = None
    _: KW_ONLY
    n_folds: Annotated[int, Interval(2)] = 2
    max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns, self.n_folds):
            return undefined_result(reason)
        if len(measured_names(context, self.columns)) < 2:
            reason = "a relation needs two columns that can be measured."
            return undefined_result(reason, NothingToMeasureWarning)
        how = self._how()
        relations = learned_relations(context, *how)
        if relations.area - _half_width(relations.error) <= 0.5:
            return undefined_result(_UNRELATED, NothingToMeasureWarning)
        return _score_relations(relations, apart_scores(context, *how))

    def _how(self) -> tuple[Any, ...]:
        model = BINNED if self.estimator is None else self.estimator
        return model, self.n_folds, self.columns, self.max_rows, self.random_state

    def _values_of_halves(self, context: Context, role: str, sizes: Sizes) -> np.ndarray:
        """Return the values of halves before they are cut off: chance moves them to both sides."""
        how = self._how()
        if role == "holdout":  # the context of the baseline, whose scores are there already
            n_fresh = min(context.n_rows(each) for each in ("holdout", "synthetic"))
            context = holdout_in_place(context, n_fresh)
        relations = learned_relations(context, *how)
        n_drawn = int(sizes[1] * halved_share(*sizes))
        scores = apart_scores(context, *how)[:, :, :n_drawn]
        return (areas_of_halves(scores, N_HALVINGS) - 0.5) / (relations.area - 0.5)

    def _summary(self, result: Result) -> str:
        return (
            f"{percent(result.value)} of the relations between the columns of train are kept: all "
            "columns at once, as a classifier sees them. Columns shuffled apart keep 0%."
        )


def _score_relations(relations: Relations, scores: np.ndarray) -> Result:
    """Return which share of what classifiers know of train they find in other rows."""
    area, error_of_area = mean_area(scores)
    known = relations.area - 0.5
    unclipped = (area - 0.5) / known
    error = float(np.hypot(error_of_area, unclipped * relations.error)) / known
    half = _half_width(error)
    value, low, high = (float(np.clip(unclipped + x, 0.0, 1.0)) for x in (0.0, -half, half))
    details: dict[str, Any] = {
        "unclipped": unclipped,
        "auc": area,
        "auc_train": relations.area,
        "n_rows": scores.shape[2],
    }
    return Result(value, interval=(low, high), details=details)


def _half_width(error: float) -> float:
    return float(norm.isf((1.0 - _LEVEL) / 2.0)) * error
