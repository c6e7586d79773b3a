"""The figures of distances: within one table, proximity ratios, and accumulated distances."""

from __future__ import annotations

import math
from collections.abc import Iterator

from skeval.reporting.document.blocks import Figure
from skeval.reporting.document.details import mapping_at, number_at, numbers_at
from skeval.reporting.document.drawings.histogram import Bars, Histogram
from skeval.reporting.document.drawings.line_chart import Line, LineChart
from skeval.reporting.document.drawings.svg import INK, SYNTHETIC
from skeval.reporting.document.sentences import privacy_figures as say
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

_WITHIN = {"train to train": INK, "synthetic to synthetic": SYNTHETIC}
_TO_TRAIN = ("synthetic to train", "holdout to train")
_RATIOS = ("synthetic", "real")
_ACCUMULATED = {"holdout": INK, "synthetic": SYNTHETIC}


def privacy_figures(results: SuiteResult) -> Iterator[Figure]:
    """Yield a figure for each result that has what it shows."""
    has_within = has_areas = False
    for result in results.values():
        if result.error:
            continue
        if not has_within and (figure := _within_tables(result)):
            has_within = True
            yield figure
        for draw in (_proximity, _distances_to_train):
            if figure := draw(result):
                yield figure
        if not has_areas and (figure := _accumulation(result)):
            has_areas = True
            yield figure


def _within_tables(result: Result) -> Figure | None:
    quantiles = mapping_at(result.details, "quantiles")
    levels = numbers_at(quantiles, "levels")
    known = {kind: numbers_at(quantiles, kind) for kind in _WITHIN}
    if not levels or any(len(distances) != len(levels) for distances in known.values()):
        return None
    lines = [
        Line(say.WITHIN_LABELS[kind], (0.0, *distances), (0.0, *levels), _WITHIN[kind])
        for kind, distances in known.items()
    ]
    end = max(distances[-1] for distances in known.values()) or 1.0
    chart = LineChart(lines, say.DISTANCE, say.WITHIN, end, is_share=False)
    medians = [distances[len(distances) // 2] for distances in known.values()]
    return Figure(
        "within-tables",
        "Distance to the closest row of the same table",
        say.within_note(),
        chart.to_svg(),
        say.within_alternative(*medians),
        is_wide=False,
    )


def _proximity(result: Result) -> Figure | None:
    edges = numbers_at(result.details, "histogram", "edges")
    shares = {which: numbers_at(result.details, "histogram", "shares", which) for which in _RATIOS}
    threshold = number_at(result.details, "threshold")
    if len(edges) < 2 or any(len(own) != len(edges) - 1 for own in shares.values()):
        return None
    mark = threshold / edges[-1] if 0.0 <= threshold <= edges[-1] else None
    drawing = Histogram(
        Bars(shares["real"], shares["synthetic"]),
        "0",
        say.last_ratio(edges[-2]),
        mark=mark,
        width=250.0,
        height=140.0,
    )
    tails = [number_at(result.details, f"p_{which}") for which in _RATIOS]
    has_holdout = str(result.details.get("mode", "holdout")) == "holdout"
    return Figure(
        "proximity",
        "Proximity ratios",
        say.proximity_note(result.value, threshold, *tails, has_holdout=has_holdout),
        drawing.to_svg(),
        say.proximity_alternative(threshold, *tails),
        is_wide=False,
    )


def _distances_to_train(result: Result) -> Figure | None:
    edges = numbers_at(result.details, "histogram", "edges")
    shares = [numbers_at(result.details, "histogram", "shares", kind) for kind in _TO_TRAIN]
    has_curves = bool(mapping_at(result.details, "quantiles"))  # which show the same
    if has_curves or len(edges) < 2 or any(len(own) != len(edges) - 1 for own in shares):
        return None
    bars, last = Bars(shares[1], shares[0]), say.last_ratio(edges[-2])
    drawing = Histogram(bars, "0", last, width=250.0, height=140.0)
    title, note = "Distance to the closest training row", say.to_train_note()
    return Figure("to-train", title, note, drawing.to_svg(), f"Histograms. {title}.", is_wide=False)


def _end_of_rise(distances: tuple[float, ...], shares: tuple[float, ...]) -> float:
    known = zip(distances, shares, strict=True)
    return next((u for u, share in known if share > 0.999), distances[-1])


def _accumulation(result: Result) -> Figure | None:
    curves = mapping_at(result.details, "curve")
    thresholds = numbers_at(result.details, "thresholds")
    lines, areas, end = [], [], 0.0
    for table, color in _ACCUMULATED.items():
        distances, shares = numbers_at(curves, table, "u"), numbers_at(curves, table, "share")
        if not distances or len(distances) != len(shares):
            continue
        own = result.details if table == "synthetic" else mapping_at(result.details, "holdout")
        left, right = (
            next(iter(numbers_at(own, area)), math.nan) for area in ("privacy_area", "resemblance")
        )
        areas.append((table, left, right))
        lines.append(Line(say.ACCUMULATED_LABELS[table], distances, shares, color))
        end = max(end, _end_of_rise(distances, shares))
    if not lines or not thresholds:
        return None
    end = min(1.0, max(1.05 * end, 1.25 * thresholds[0]))
    chart = LineChart(lines, say.DISTANCE, say.WITHIN, end, is_share=False, mark=thresholds[0])
    return Figure(
        "accumulation",
        "Accumulated distances",
        say.accumulation_note(thresholds[0], areas),
        chart.to_svg(),
        say.accumulation_alternative(thresholds[0], areas),
        is_wide=False,
    )
