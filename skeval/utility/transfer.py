"""Scores of models trained on synthetic or augmented data and tested on real data."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import GivenAwayWarning, MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import percentile_interval
from skeval.stats.roc import roc_curve
from skeval.stats.table_differences import Sampled
from skeval.steps import models
from skeval.steps.problem import Question, problem_of, rows_of_role
from skeval.steps.scoring import get_score, reported_scores
from skeval.utility.giveaway import SURE, giveaway
from skeval.utility.model_metric import (
    TRAININGS,
    ScoredModels,
    score_name,
    shown_difference,
    stated_replicates,
)
from skeval.utils.formatting import number
from skeval.utils.parameters import OpenFraction, Positive


def unknown_labels(context: Context, question: Question) -> tuple[MetricWarning, ...]:
    """Return a warning about synthetic rows whose label no training row has."""
    if not problem_of(context, question).has_labels:
        return ()
    train, synthetic = (
        rows_of_role(context, role, question).target for role in ("train", "synthetic")
    )
    unknown = synthetic[~np.isin(synthetic, train)]
    said = _UNKNOWN_LABELS.format(
        n=unknown.size,
        n_rows=synthetic.size,
        target=question.target,
        n_labels=np.unique(unknown).size,
    )
    return (MetricWarning(said),) if unknown.size else ()


# minimum number of rows of a label, and number of points of a drawn curve
_MIN_DRAWN, _N_DRAWN = 10, 41


_UNKNOWN_LABELS = (
    "{n} of {n_rows} synthetic rows have a category of {target} that the training data do not "
    "contain (number of such categories: {n_labels}). A prediction of such a category is always "
    "wrong. Check how the categories of {target} are written in the synthetic data."
)
_GIVEN_AWAY = (
    "{column} alone predicts {target} almost perfectly, so a model of real rows needs no "
    "other column, and "
    "its score is not informative. Remove {column} from the features, or from all tables."
)


@declared
class _Transfer(ScoredModels):
    """Base class of scores of models with separate training and test data, and of TRTR.

    Parameters
    ----------
    n_bootstrap : int, default=1000
        Number of bootstrap samples of the test rows for the intervals. If 0, there are no
        intervals.
    """

    def _transfer(self) -> tuple[str, models.Training, models.Part]:
        """Return the name of the transfer in the details, its training data and its test data."""
        raise NotImplementedError

    def _measure(self, context: Context) -> Result:
        _, training, tested = self._transfer()
        scoring = self._scoring(context)
        score = self._replicates(context, training, tested, scoring).mean(axis=0)[0]
        if np.isnan(score):
            return undefined_result(
                f"{scoring} is not defined on the test rows, for example for a single label."
            )
        of = get_score(scoring)
        tags = replace(self.tags, greater_is_better=of.greater_is_better, bounds=of.bounds)
        return Result(score, tags=tags)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        (name, training, tested), scoring = self._transfer(), self._scoring(context)
        trials = {name: (training, tested), "trtr": (models.TRAIN, models.HOLDOUT)}
        by_model = {
            key: self._replicates(context, *trial, scoring, self.n_bootstrap)
            for key, trial in trials.items()
        }
        score, on_real = (scores.mean(axis=0) for scores in by_model.values())
        problem = problem_of(context, self._question(context))
        details = {
            "target": problem.target,
            "scoring": scoring,
            "task": problem.task,
            "trtr": stated_replicates(on_real),
            "difference": stated_replicates(score - on_real),
            "ratio": ratio(float(score[0]), float(on_real[0]), scoring),
            "models": self._by_model(by_model),
            "scores": {
                other: {
                    key: float(self._replicates(context, *trial, other).mean(axis=0)[0])
                    for key, trial in trials.items()
                }
                for other in reported_scores(problem)
            },
            **self._counts(context, {"train": models.TRAIN, name: training}, tested),
        }
        interval, baseline = percentile_interval(score), float(on_real[0])
        return {"interval": interval, "baseline": baseline, "details": details}

    def variation(self, context: Context, n_rows: int) -> Sampled | None:
        """Return the score and its replicates over the tested rows, the same for all tables."""
        _, training, tested = self._transfer()
        if tested != models.HOLDOUT or not self.n_bootstrap:
            return None
        scoring = self._scoring(context)
        scores = self._replicates(context, training, tested, scoring, self.n_bootstrap)
        value, *replicates = scores.mean(axis=0)
        return Sampled(float(value), np.array(replicates), "rows")


@declared
class TSTR(_Transfer):
    """Score on holdout data of a model trained on synthetic data (train synthetic, test real).

    A team that receives only the synthetic data trains its model on them and applies it to real
    cases. The holdout represents these cases, because neither the model nor the generator has seen
    its rows. The baseline is the score of the same model trained on the real rows (TRTR, train on
    real, test on real). The baseline shows how difficult the task is, and the difference from it
    shows the loss due to the synthetic data.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing.
    InvalidParameterError
        At fit, if a column does not exist, or if the scoring, task or label does not fit the
        target column.

    Warnings
    --------
    The score misleads if the task is so easy that any table is sufficient, or so hard that all
    tables fail. The baseline (TRTR) is then very high or very low. If the features reveal the
    target, models trained on either table are equally good.

    See Also
    --------
    TRTS : The reverse, trained on real rows and tested on synthetic rows.
    TSTS : Trained and tested on synthetic rows, as by an analyst without real rows.
    AugmentationGain : Improvement of a model if synthetic rows are added to the real rows.
    ModelRankAgreement : Whether synthetic data rank several models like real data.

    Notes
    -----
    ``details["difference"]`` is TSTR - TRTR with its interval, from bootstrap samples of holdout
    rows that are the same for both models. The interval does not include the variation between
    synthetic tables. ``details["ratio"]`` is TSTR / TRTR, or TRTR / TSTR for losses. The ratio is
    nan if R2 is not positive. ``details["scores"]`` contains the other scores of the task for both
    models.

    Rows without a target are ignored. A label that occurs only in synthetic rows is learned as a
    separate label, and predictions of this label are always wrong. A warning reports the number of
    such rows. A label that does not occur in the synthetic rows is never predicted. A synthetic
    table with one label gives a constant model. The encoder of each model is fitted on the rows on
    which this model is trained (for TSTR, the synthetic rows).

    If the model trained on real rows is almost perfect, each column is tested alone. If one column
    reveals the target, a :class:`~skeval.exceptions.GivenAwayWarning` names it.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TSTR
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TSTR("member").fit(train, holdout).evaluate(synthetic)
    >>> bool(abs(result.value - result.baseline) < 0.05), result.details["task"]
    (True, 'binary')
    """

    tags = replace(MODEL_TAGS, display="ModelCurvesDisplay", headline=1, quoted="learning")

    def _transfer(self) -> tuple[str, models.Training, models.Part]:
        return "tstr", models.SYNTHETIC, models.HOLDOUT

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        fields = super()._relation(context, result)
        model, question = next(iter(self._models().values())), self._question(context)
        curves = roc_on_holdout(context, model, question, self.random_state)
        said = unknown_labels(context, question)
        if fields["baseline"] >= SURE and (column := giveaway(context, question)):
            said += (GivenAwayWarning(_GIVEN_AWAY.format(column=column, target=self.target)),)
        if said:
            fields["warnings"] = (*result.warnings, *said)
        return {**fields, "details": {**fields["details"], **({"roc": curves} if curves else {})}}

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"A model trained on synthetic rows has {score_name(result)} {number(result.value)} on "
            f"holdout rows, compared with {number(details['trtr']['value'])} if trained on "
            "real rows "
            f"(difference {shown_difference(details['difference'])})."
        )


@declared
class _OnSynthetic(_Transfer):
    """Base class of scores on synthetic rows that no model was trained on.

    Parameters
    ----------
    test_size : float, default=0.4
        Fraction of the synthetic rows used as test data, in (0, 1). :class:`TRTS` and :class:`TSTS`
        use the same rows. The model of :class:`TSTS` is trained on the other rows.
    """

    _: KW_ONLY
    test_size: OpenFraction = 0.4


@declared
class TRTS(_OnSynthetic):
    """Score on synthetic data of a model trained on real data (train real, test synthetic).

    The score is high if the patterns of real rows are also valid for synthetic rows. TRTS is the
    counterpart of :class:`TSTR`. A generator that draws only typical rows of each class makes rows
    that are easier than real rows. TRTS may then be near 1 although TSTR is low. Always report both
    scores together.

    Warnings
    --------
    A high value alone is not a merit. A generator that draws only typical rows of each class makes
    rows that are easier than real rows. A value above the baseline is a defect.

    See Also
    --------
    TSTR : The reverse, trained on synthetic rows and tested on holdout rows.
    TSTS : The same tested rows, with a model trained on the other synthetic rows.

    Notes
    -----
    The baseline is TRTR, the score of the same model on holdout rows. A value above the baseline
    indicates that synthetic rows are easier than real rows, which is a defect.
    ``details["difference"]`` is TRTS - TRTR. Its interval treats the two test tables as
    independent.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TRTS
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TRTS("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_tested"]
    200
    """

    tags = MODEL_TAGS

    def _transfer(self) -> tuple[str, models.Training, models.Part]:
        return "trts", models.TRAIN, models.synthetic_split(self.test_size)[1]

    def _summary(self, result: Result) -> str:
        return (
            f"The model of real rows has {score_name(result)} {number(result.value)} on synthetic "
            f"rows and {number(result.details['trtr']['value'])} on holdout rows. A higher "
            "score on "
            "synthetic rows is a defect, too."
        )


@declared
class TSTS(_OnSynthetic):
    """Score on synthetic data of a model trained on other synthetic data.

    An analyst who has only the synthetic data splits them and reports the score of a model.
    Compared with TRTR, the score shows whether this report is realistic. Compared with
    :class:`TSTR`, it shows which part of the score remains on real rows.

    Warnings
    --------
    No real row is used for the test, so the value can be high although the model fails on real
    rows. Compare it with :class:`TSTR`.

    See Also
    --------
    TSTR : The model trained on synthetic rows, tested on real rows.
    TRTS : The same tested rows, with a model trained on the training data.
    SelectionRegret : Loss from choosing a model by such scores.

    Notes
    -----
    The baseline is TRTR, the score of a model trained on real rows on the holdout. A value above
    the baseline is too optimistic for real rows. The parts are stratified by label.

    References
    ----------
    J. Jordon, J. Yoon, M. van der Schaar, "Measuring the quality of synthetic data for use in
    competitions", 2018, arXiv:1806.11345.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import TSTS
    >>> train, holdout, synthetic = (make_mixed(500, random_state=seed) for seed in range(3))
    >>> result = TSTS("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_learned"]["tsts"], result.details["n_tested"]
    (300, 200)
    """

    tags = MODEL_TAGS

    def _transfer(self) -> tuple[str, models.Training, models.Part]:
        return "tsts", *models.synthetic_split(self.test_size)

    def _summary(self, result: Result) -> str:
        return (
            f"Evaluated on synthetic rows only, the model has {score_name(result)} "
            f"{number(result.value)}, compared with "
            f"{number(result.details['trtr']['value'])} on real rows."
        )


@declared
class AugmentationGain(_Transfer):
    r"""Gain in the score on holdout data when synthetic rows are added to the training data.

    A team keeps its real rows and adds synthetic rows to get a better model. The score is 0 if the
    added rows change nothing. This is typical, because a generator adds only its assumptions to the
    information of its training rows. Below 0, the synthetic rows make the model worse. Higher is
    better.

    Parameters
    ----------
    ratio : float, default=1.0
        Number of synthetic rows to add per training row. If there are too few, all are added.

    Warnings
    --------
    A gain can have a simple cause, such as more balanced classes, that does not require synthetic
    rows. Check whether the interval contains 0.

    See Also
    --------
    TSTR : Trains on synthetic rows instead of real rows.
    PrecisionEfficacy : Improvement of the precision at a fixed recall.
    RecallEfficacy : Improvement of the recall at a fixed precision.

    Notes
    -----
    The value is the difference of scores on the holdout

    .. math:: s(T \cup S) - s(T),

    with the opposite sign for losses, so that higher values are better. The baseline is 0.
    ``details["scaled"]`` is half of the value plus 1/2, which is in [0, 1] for scores in [0, 1].
    The interval is computed from bootstrap samples of holdout rows. Both models use the same
    samples.

    References
    ----------
    SDMetrics, "ML augmentation" metrics, https://docs.sdv.dev/sdmetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import AugmentationGain
    >>> train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    >>> result = AugmentationGain("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_learned"]
    {'train': 300, 'augmented': 600}
    """

    tags = replace(MODEL_TAGS, bounds=(-np.inf, np.inf))

    _: KW_ONLY
    ratio: Positive = 1.0

    def _transfer(self) -> tuple[str, models.Training, models.Part]:
        return "augmented", models.augmented_training(self.ratio), models.HOLDOUT

    def _measure(self, context: Context) -> Result:
        result = super()._measure(context)
        if np.isnan(result.value):
            return result
        scoring = self._scoring(context)
        alone = self._replicates(context, models.TRAIN, models.HOLDOUT, scoring).mean(axis=0)[0]
        if np.isnan(alone):
            return undefined_result(f"{scoring} is not defined for the model of the training data.")
        return Result(get_score(scoring).sign * (result.value - alone))

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        details = super()._relation(context, result)["details"]
        low, high = (details["difference"][end] for end in ("low", "high"))
        sign = get_score(details["scoring"]).sign
        interval = None if low is None else tuple(sorted((sign * low, sign * high)))
        details["scaled"] = result.value / 2.0 + 0.5
        return {"interval": interval, "baseline": 0.0, "details": details}

    def _summary(self, result: Result) -> str:
        rows = result.details["n_learned"]
        added = (
            f"With {rows['augmented'] - rows['train']:,} synthetic rows in addition to the "
            "training rows"
        )
        if result.value == 0.0:
            return f"{added}, the model is as good as before."
        change = "better" if result.value > 0.0 else "worse"
        gain = number(abs(result.value))
        return f"{added}, {score_name(result)} on holdout rows gets {change} by {gain}."


def ratio(on_synthetic: float, on_real: float, scoring: str) -> float:
    """Return the fraction of the real score that synthetic rows reach, inverse for losses."""
    if get_score(scoring).greater_is_better:
        part, whole = on_synthetic, on_real
    else:
        part, whole = on_real, on_synthetic
    defined = part >= 0.0 and whole > 0.0 and (on_synthetic > 0.0 or scoring != "r2")
    return part / whole if defined else float("nan")


def roc_on_holdout(
    context: Context, model: Any, question: Question, seed: int
) -> dict[str, dict[str, np.ndarray]]:
    """Return ROC curves on holdout rows of models trained on synthetic and on real rows."""
    # The grid of false positive rates ensures that no step belongs to one record. The result is
    # empty without two labels, or with fewer than ten rows of a label.
    problem = problem_of(context, question)
    truth = rows_of_role(context, "holdout", question).target
    if problem.positive is None:
        return {}
    is_positive = truth == problem.positive
    if min(is_positive.sum(), (~is_positive).sum()) < _MIN_DRAWN:
        return {}
    grid, curves = np.linspace(0.0, 1.0, _N_DRAWN), {}
    for kind, training in TRAININGS.items():
        scores = models.predict_part(
            context, training, models.HOLDOUT, model, question, seed
        ).scores
        if scores is None:
            return {}
        curve = roc_curve(*(scores[of, problem.positive] for of in (is_positive, ~is_positive)))
        curves[kind] = {"fpr": grid, "tpr": np.interp(grid, curve.fpr, curve.tpr)}
    return curves
