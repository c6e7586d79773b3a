"""Is every column predicted from the others as well as by a model of real rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np
from scipy.stats import t as student

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import DegenerateInputWarning, MetricWarning, SampledWarning
from skeval.results.result import Result, mean_of_columns
from skeval.stats.bootstrap import percentile_interval
from skeval.steps.column_choice import chosen_columns
from skeval.steps.models import DEFAULT, HOLDOUT, LIGHT, Estimator, Part, Training, replicates
from skeval.steps.problem import Question, problem_of, rows_of_role, unanswerable
from skeval.steps.samples import named_seed, sample_positions
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Columns, Count, Fraction, Interval, Seed

_LABELS, _NUMBERS = "balanced_accuracy", "rmse"
_WIDE = 40  # columns to predict from, beyond which smaller trees do


@declared
class GlobalUtility(Metric):
    r"""Fraction of a model's score that synthetic rows keep, every column being the target once.

    Nobody knows what a published table will be used for. So each column is predicted in turn from
    all others, by a model trained on synthetic rows and by the same model trained on real ones, and
    both are tested on holdout rows. A generator that was tuned to one target, or that learned pairs
    of columns and no more, loses where nobody looked. 1 if models of synthetic rows are as good,
    near 0 if they are of no use where those of real rows are nearly perfect; above 1 by chance, or
    where a generator smooths what real rows are too few to show.

    Parameters
    ----------
    targets : None, int or list of str, default=None
        The columns that are predicted; if None, all that can be measured but the primary key, or
        `max_targets` of them. An int takes the first.
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`; None is "xgboost", with 30 trees of depth 4 and 32 bins
        where there are more than 40 columns to predict from. The cost is that of two models a
        column, those of real rows being kept for further synthetic tables.
    max_targets : int or None, default=40
        The most columns that are predicted where `targets` is None, drawn at random by name; None
        for all.
    max_labels : int, default=50
        Categories with more labels in train are no targets; ``details["left_out"]`` has their
        names. Each label costs a model of its own.
    tolerance : float, default=0.01
        Errors below this fraction of a column's standard deviation in train count as if they were
        as large: where the other columns determine one, a ratio of errors near 0 says nothing. 0 is
        the published definition.
    max_rows : int or None, default=10_000
        The most rows that a model learns from, drawn at random; None for all.
    n_bootstrap : int, default=200
        Number of bootstrap samples of the holdout rows behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models, drawn columns and rows, and bootstrap.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout.
    InvalidParameterError
        At fit, if there are no such columns.

    Warnings
    --------
    It misleads where columns cannot be predicted from each other: guessing is as good with either
    table, all ratios are near 1, and those of labels cannot fall below 1 over their number. Copies
    of train score 1, so that it says nothing of privacy.

    See Also
    --------
    TSTR : One target, any score.
    skeval.fidelity.ContingencySimilarity : Pairs of columns, without a model.

    Notes
    -----
    With the balanced accuracy A of categories and the root mean squared error E of numbers and
    dates, both on holdout rows, for models of synthetic (S) and of train rows (T),

    .. math:: \mathrm{GU} = \frac{1}{p} \sum_{j=1}^p u_j, \qquad
        u_j = \frac{A_j(S)}{A_j(T)} \quad \text{or} \quad \frac{E_j(T)}{E_j(S)}

    A column of two values is a category, of numbers too. The baseline is 1, train in the place of
    the synthetic rows. ``details["columns"]`` has the ratios, of which `worst` is the lowest,
    ``details["by_column"]`` both scores of each, ``details["intervals"]`` the interval of each
    ratio over bootstrap samples of holdout rows, the same for both models. The ends of the value's
    interval are the means of theirs, as if all columns erred the same way: the columns are tested
    on the same rows, and it is too wide where their errors differ.

    If targets are drawn, a warning and ``details["sampled"]`` say from how many columns, and the
    value estimates that of all columns. The squared error of a mean of a sample without replacement
    is added to the square of the interval's halves. With 24 targets in each of four tables of 56 to
    150 columns, digits among them, and two generators, the smaller trees of wide tables moved
    values by 0.014 at most, single ratios by 0.02 to 0.05 (root mean square), and took a
    quarter to a fifteenth of the time; trees that see half of the columns at each level moved
    them by up to 0.07.

    Look at the scores of real rows.

    References
    ----------
    X. Jiang, N. Simidjievski, M. Jamnik, "TabStruct: measuring structural fidelity of tabular
    data", International Conference on Learning Representations (2026).

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import IndependentMarginals
    >>> from skeval.utility import GlobalUtility
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> metric = GlobalUtility(estimator="linear").fit(train, holdout)
    >>> apart = IndependentMarginals(random_state=0).fit(train).sample(500)
    >>> bool(metric.score(apart) < 0.9 < metric.score(synthetic))
    True
    """

    tags = replace(
        MODEL_TAGS,
        needs=frozenset({"holdout"}),
        bounds=(0.0, np.inf),
        display="ColumnScoresDisplay",
    )

    targets: Columns = None
    estimator: Estimator = None
    _: KW_ONLY
    max_targets: Annotated[int, Interval(2)] | None = 40
    max_labels: Annotated[int, Interval(2)] = 50
    tolerance: Fraction = 0.01
    max_rows: Count | None = 10_000
    n_bootstrap: Annotated[int, Interval(0)] = 200
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        pairs, left_out = {}, []
        every, drawn = self._questions(context), self._draw_questions(context)
        for question in drawn:
            if n_labels(context, question) > self.max_labels:
                left_out.append(question.target)
            elif not unanswerable(context, question):
                pairs[question.target] = self._pair(context, question)
        names = f"no targets, having more labels than max_labels: {', '.join(left_out)}."
        said: list[MetricWarning] = [DegenerateInputWarning(names)] if left_out else []
        sampled: dict[str, Any] = {}
        if len(drawn) < len(every):
            text = f"{len(drawn):,} of {len(every):,} columns were drawn as targets: max_targets."
            said.append(SampledWarning(text))
            sampled["sampled"] = {"targets": (len(drawn), len(every))}
        return mean_of_columns(
            {name: float(preserved_fraction(pair)[0]) for name, pair in pairs.items()},
            n_total=len(every),
            greater_is_better=True,
            warnings=tuple(said),
            left_out=left_out,
            by_column={
                name: {
                    "scoring": pair["scoring"],
                    **{key: float(pair[key][0]) for key in ("tstr", "trtr")},
                }
                for name, pair in pairs.items()
            },
            **sampled,
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return super()._in_relation(context, result)
        intervals = {}
        for question in self._draw_questions(context):
            if not np.isnan(result.details["columns"].get(question.target, np.nan)):
                ratios = preserved_fraction(self._pair(context, question, self.n_bootstrap))
                intervals[question.target] = percentile_interval(ratios)
        ends = [interval for interval in intervals.values() if interval is not None]
        low, high = np.mean(ends, axis=0) if len(ends) == len(intervals) else (np.nan, np.nan)
        if drawn_of := result.details.get("sampled", {}).get("targets"):
            of_columns = np.array(list(result.details["columns"].values()))
            margin = margin_of_sample(of_columns[~np.isnan(of_columns)], *drawn_of)
            low = np.maximum(0.0, result.value - np.hypot(result.value - low, margin))
            high = result.value + np.hypot(high - result.value, margin)
        return replace(
            result,
            interval=None if np.isnan(low) else (float(low), float(high)),
            baseline=1.0,
            details={
                **result.details,
                "intervals": {name: list(one or (None, None)) for name, one in intervals.items()},
            },
        )

    def _summary(self, result: Result) -> str:
        worst, n_used = result.details["worst"], result.details["n_used"]
        scores = result.details["by_column"][worst["column"]]
        named = "balanced accuracy" if scores["scoring"] == _LABELS else "root mean squared error"
        drawn = "drawn " if "sampled" in result.details else ""
        return (
            f"Models of synthetic rows keep {percent(result.value)} of the score of those of real "
            f"rows, on average over {n_used} {drawn}columns; least for {worst['column']}, with a "
            f"{named} of {number(scores['tstr'])} against {number(scores['trtr'])}."
        )

    def _questions(self, context: Context) -> list[Question]:
        schema = context.schema
        names = chosen_columns(schema, self.targets)
        keys = schema.primary_key if self.targets is None else ()
        measured = schema.columns(*NUMERIC, *NOMINAL)
        return [Question(name) for name in sorted(names) if name in measured and name not in keys]

    def _draw_questions(self, context: Context) -> list[Question]:
        """Return the questions that are asked: all, or `max_targets` of a wide table."""
        questions = self._questions(context)
        if self.targets is not None:
            return questions
        seed = named_seed("targets", self.random_state)
        return [questions[i] for i in sample_positions(len(questions), self.max_targets, seed)]

    def _pair(self, context: Context, question: Question, n_bootstrap: int = 0) -> dict[str, Any]:
        """Return the scores of both models on holdout rows, and on bootstrap samples of these."""
        problem = problem_of(context, question)
        scoring = _LABELS if problem.has_labels else _NUMBERS
        least = 0.0 if problem.has_labels else self.tolerance * problem.scale
        usual = LIGHT if len(problem.features) > _WIDE else DEFAULT
        model = usual if self.estimator is None else self.estimator
        asked = (model, question, scoring, n_bootstrap, 1, self.random_state)
        trainings = {
            name: Training(Part(role), max_rows=self.max_rows)
            for name, role in {"tstr": "synthetic", "trtr": "train"}.items()
        }
        scores = {
            name: np.maximum(replicates(context, training, HOLDOUT, *asked), least)
            for name, training in trainings.items()
        }
        return {"scoring": scoring, **scores}


def n_labels(context: Context, question: Question) -> int:
    """Return how many labels train has of a target; 0 if it is one of numbers."""
    if not problem_of(context, question).has_labels:
        return 0
    return int(np.unique(rows_of_role(context, "train", question).target).size)


def margin_of_sample(values: np.ndarray, n_drawn: int, n_all: int) -> float:
    """Return how far a mean of values that were drawn may be from that of all, at 95%."""
    # By Student's t and the variance of a sample without replacement; infinite of one value.
    if values.size < 2:
        return np.inf
    error = values.std(ddof=1) * np.sqrt((1.0 - n_drawn / n_all) / values.size)
    return float(student.ppf(0.975, values.size - 1) * error)


def preserved_fraction(pair: Mapping[str, Any]) -> np.ndarray:
    """Return the fraction of a score that synthetic rows keep: 1 is all, for losses the inverse."""
    part, whole = pair["tstr"], pair["trtr"]
    if pair["scoring"] == _NUMBERS:
        part, whole = whole, part
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where((part == 0.0) & (whole == 0.0), 1.0, part / whole)
    return np.where(np.isfinite(ratios), ratios, np.nan)
