"""Score of models for every column, trained on synthetic data instead of real data."""

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
_WIDE = 40  # number of predictors from which smaller trees are used


@declared
class GlobalUtility(Metric):
    r"""Scores of models for every column, relative to models trained on real data.

    The future use of a published table is not known. Therefore each column is predicted from all
    other columns, by a model trained on synthetic rows and by the same model trained on real rows.
    Both models are tested on holdout rows. A generator that was tuned for one target, or that
    learned only pairs of columns, scores low for other columns. The score is 1 if models trained on
    synthetic rows are as good. The score is close to 0 if these models are useless although models
    trained on real rows are nearly perfect. It can exceed 1 because of noise, or if a generator
    smooths patterns for which there are few real rows. Higher is better.

    Parameters
    ----------
    targets : None, int or list of str, default=None
        Columns to predict. If None, all measurable columns except the primary key are used, or a
        sample of `max_targets` columns. An int selects the first columns.
    estimator : None, str or estimator, default=None
        The model, as in :class:`TSTR`. If None, "xgboost" is used with 30 trees of depth 4 and 32
        bins for more than 40 predictors. The metric fits two models per column. The models of real
        rows are reused for further synthetic tables.
    max_targets : int or None, default=40
        Maximum number of predicted columns if `targets` is None, sampled at random by name. If
        None, all columns are used.
    max_labels : int, default=50
        Maximum number of labels of a categorical target. Columns with more labels are listed in
        ``details["skipped"]``. Each label requires a separate model.
    tolerance : float, default=0.01
        Minimum error, as a fraction of the column's training standard deviation. Smaller errors are
        increased to this value, because the ratio of errors near 0 is not informative if other
        columns determine a column. If 0, the published definition is used.
    max_rows : int or None, default=10_000
        Maximum number of training rows of a model, sampled at random. If None, all rows are used.
    n_bootstrap : int, default=200
        Number of bootstrap samples of the holdout rows for the intervals. If 0, there are no
        intervals.
    random_state : int, default=0
        Seed of models, drawn columns and rows, and bootstrap.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing.
    InvalidParameterError
        At fit, if a column does not exist.

    Warnings
    --------
    The score misleads if columns cannot be predicted from each other. Guesses are then equally good
    with either table, all ratios are close to 1, and ratios of categorical targets cannot fall
    below 1 divided by the number of labels. Copies of the training data score 1, so the score gives
    no information about privacy.

    See Also
    --------
    TSTR : Evaluates one target with any score.
    skeval.fidelity.ContingencySimilarity : Compares pairs of columns, without a model.

    Notes
    -----
    Let A be the balanced accuracy for a categorical column and E the root mean squared error for a
    numerical or datetime column. Both are computed on holdout rows, for models trained on synthetic
    rows (S) and on training rows (T). The value is

    .. math:: \mathrm{GU} = \frac{1}{p} \sum_{j=1}^p u_j, \qquad
        u_j = \frac{A_j(S)}{A_j(T)} \quad \text{or} \quad \frac{E_j(T)}{E_j(S)}

    A column with two values is treated as categorical, even if it is numerical. The baseline is 1,
    the value of the training data in place of the synthetic data. ``details["columns"]`` contains
    the ratios, and `worst` the lowest ratio. ``details["by_column"]`` contains both scores for each
    column. ``details["intervals"]`` contains the interval of each ratio over bootstrap samples of
    holdout rows. Both models use the same samples. The interval of the value is the mean of these
    intervals, as if all columns had the same errors. If the errors of the columns differ, the
    interval is too wide.

    If targets are sampled, a warning and ``details["sampled"]`` report the number of columns, and
    the value estimates the mean over all columns. The squared standard error of a mean of a sample
    without replacement is added to the squared half-widths of the interval. The smaller trees for
    wide tables were compared with the larger trees in four tables of 56 to 150 columns, including
    digits, with 24 targets and two generators. They changed values by at most 0.014 and single
    ratios by 0.02 to 0.05 (root mean square), and they needed a quarter to a fifteenth of the time.
    Trees that use half of the columns at each level changed ratios by up to 0.07.

    Also check the scores of models trained on real rows.

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
        pairs, skipped = {}, []
        every, drawn = self._questions(context), self._draw_questions(context)
        for question in drawn:
            if n_labels(context, question) > self.max_labels:
                skipped.append(question.target)
            elif not unanswerable(context, question):
                pairs[question.target] = self._pair(context, question)
        names = f"skipped, because the number of labels exceeds max_labels: {', '.join(skipped)}."
        said: list[MetricWarning] = [DegenerateInputWarning(names)] if skipped else []
        sampled: dict[str, Any] = {}
        if len(drawn) < len(every):
            text = (
                f"{len(drawn):,} of {len(every):,} columns were sampled as targets (max_targets)."
            )
            said.append(SampledWarning(text))
            sampled["sampled"] = {"targets": (len(drawn), len(every))}
        return mean_of_columns(
            {name: float(preserved_fraction(pair)[0]) for name, pair in pairs.items()},
            n_total=len(every),
            greater_is_better=True,
            warnings=tuple(said),
            skipped=skipped,
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
            f"Models trained on synthetic rows reach {percent(result.value)} of the score of "
            "models "
            f"trained on real rows on average over {n_used} {drawn}columns. The worst column is "
            f"{worst['column']} with a {named} of {number(scores['tstr'])}, compared with "
            f"{number(scores['trtr'])}."
        )

    def _questions(self, context: Context) -> list[Question]:
        schema = context.schema
        names = chosen_columns(schema, self.targets)
        keys = schema.primary_key if self.targets is None else ()
        measured = schema.columns(*NUMERIC, *NOMINAL)
        return [Question(name) for name in sorted(names) if name in measured and name not in keys]

    def _draw_questions(self, context: Context) -> list[Question]:
        """Return all questions, or a sample of `max_targets` questions for a wide table."""
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
    """Return the number of training labels of a target, or 0 if it is numerical."""
    if not problem_of(context, question).has_labels:
        return 0
    return int(np.unique(rows_of_role(context, "train", question).target).size)


def margin_of_sample(values: np.ndarray, n_drawn: int, n_all: int) -> float:
    """Return the 95% margin of a mean of sampled values as an estimate of the mean of all."""
    # Uses Student's t and the variance of a sample without replacement. Infinite for one value.
    if values.size < 2:
        return np.inf
    error = values.std(ddof=1) * np.sqrt((1.0 - n_drawn / n_all) / values.size)
    return float(student.ppf(0.975, values.size - 1) * error)


def preserved_fraction(pair: Mapping[str, Any]) -> np.ndarray:
    """Return the fraction of a score that synthetic rows reach, inverted for losses."""
    part, whole = pair["tstr"], pair["trtr"]
    if pair["scoring"] == _NUMBERS:
        part, whole = whole, part
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where((part == 0.0) & (whole == 0.0), 1.0, part / whole)
    return np.where(np.isfinite(ratios), ratios, np.nan)
