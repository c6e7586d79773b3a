"""The figures of curves: of models, of precision and recall, and of survival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skeval.reporting.document.blocks import Figure
from skeval.reporting.document.details import mapping_at, number_at, numbers_at
from skeval.reporting.document.drawings.category_bars import CategoryBars
from skeval.reporting.document.drawings.line_chart import Line, LineChart
from skeval.reporting.document.drawings.svg import GREY, INK, SYNTHETIC
from skeval.reporting.document.sentences import model_figures as say
from skeval.reporting.document.shortening import shorten_name
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import as_float

_TRAINED = {"trtr": INK, "tstr": SYNTHETIC}
_TABLES = {"train": GREY, "holdout": INK, "synthetic": SYNTHETIC}
_MAX_IMPORTANCES = 12


def utility_figures(results: SuiteResult) -> Iterator[Figure]:
    """Yield the curves and importances of models, and the curves of survival."""
    for result in results.values():
        if not result.error:
            for draw in (_model_curves, _calibration, _importances, _survival):
                if figure := draw(result):
                    yield figure


def precision_figures(results: SuiteResult) -> Iterator[Figure]:
    """Yield the curves of precision and recall."""
    for result in results.values():
        if not result.error and (figure := _precision_recall(result)):
            yield figure


def _model_curves(result: Result) -> Figure | None:
    roc = mapping_at(result.details, "roc")
    lines = [
        Line(say.TRAINED_LABELS[kind], x, y, color)
        for kind, color in _TRAINED.items()
        if len(x := numbers_at(roc, kind, "fpr")) == len(y := numbers_at(roc, kind, "tpr")) > 1
    ]
    if not lines:
        return None
    chart = LineChart(lines, *say.ROC_AXES, diagonal=(0.0, 1.0))
    words = say.roc_alternative(result.value, number_at(result.details, "trtr", "value"))
    title, note = "ROC curves of models on unseen rows", say.roc_note()
    return Figure("model-curves", title, note, chart.to_svg(), words, is_wide=False)


def _calibration(result: Result) -> Figure | None:
    models = mapping_at(result.details, "curves")
    name = next(iter(models), "")
    curves = mapping_at(models, name)
    lines = [
        Line(say.TRAINED_LABELS[kind], x, y, color, has_dots=True)
        for kind, color in _TRAINED.items()
        if len(x := numbers_at(curves, kind, "predicted"))
        == len(y := numbers_at(curves, kind, "observed"))
        > 1
    ]
    if not lines:
        return None
    chart = LineChart(lines, *say.CALIBRATION_AXES, diagonal=(0.0, 1.0))
    title, words = "Calibration of models on unseen rows", say.calibration_alternative()
    return Figure(
        "calibration", title, say.calibration_note(), chart.to_svg(), words, is_wide=False
    )


def _importances(result: Result) -> Figure | None:
    known = mapping_at(result.details, "importances")
    real, synthetic = (mapping_at(known, table) for table in ("train", "synthetic"))
    if not real or not synthetic:
        return None
    pairs = {column: _pair(real.get(column), synthetic.get(column)) for column in real}
    order = sorted(pairs, key=lambda column: -max(pairs[column]))[:_MAX_IMPORTANCES]
    first, second = ([max(0.0, pairs[column][i]) for column in order] for i in (0, 1))
    drawing = CategoryBars(
        order, first, second, width=250.0, height=20.0 + 10.0 * len(order), max_left=90.0
    )
    title = "Importance of columns for models"
    words = say.importances_alternative([shorten_name(column, 40) for column in order[:3]])
    return Figure(
        "importances", title, say.importances_note(), drawing.to_svg(), words, is_wide=False
    )


def _pair(first: object, second: object) -> tuple[float, float]:
    try:
        return as_float(first or 0.0), as_float(second or 0.0)
    except (TypeError, ValueError):
        return 0.0, 0.0


def _survival(result: Result) -> Figure | None:
    curves = mapping_at(result.details, "curves")
    lines = [
        Line(
            say.TABLE_LABELS[table],
            x,
            y,
            color,
            table == "train",
            is_stepped=True,
            band=_band(curves, table, len(x)),
        )
        for table, color in _TABLES.items()
        if len(x := numbers_at(curves, table, "time"))
        == len(y := numbers_at(curves, table, "survival"))
        > 1
    ]
    if not lines:
        return None
    end = max(line.x[-1] for line in lines) or 1.0
    chart = LineChart(lines, *say.SURVIVAL_AXES, end, is_share=False)
    words = say.survival_alternative(result.value)
    return Figure("survival", "Survival", say.survival_note(), chart.to_svg(), words, is_wide=False)


def _band(
    curves: Mapping[str, Any], table: str, n: int
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    low, high = numbers_at(curves, table, "low"), numbers_at(curves, table, "high")
    return (low, high) if len(low) == len(high) == n and table != "train" else None


def _precision_recall(result: Result) -> Figure | None:
    known = {"holdout": mapping_at(result.details, "holdout"), "synthetic": result.details}
    lines = [
        Line(say.TABLE_LABELS[table], x, y, _TABLES[table])
        for table, own in known.items()
        if len(x := numbers_at(own, "recall")) == len(y := numbers_at(own, "precision")) > 1
    ]
    if not lines:
        return None
    beta = number_at(result.details, "beta")
    scores = [
        (say.TABLE_LABELS[table], number_at(own, "f_beta"), number_at(own, "f_beta_inv"))
        for table, own in known.items()
    ]
    chart = LineChart(lines, *say.PRECISION_AXES)
    note, words = say.precision_note(beta, scores), say.precision_alternative(scores)
    title = "Precision and recall"
    return Figure("precision-recall", title, note, chart.to_svg(), words, is_wide=False)
