"""The curves of distances to the closest row, and of precision against recall."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.document.blocks import Figure
from skeval.reporting.document.details import mapping_at, number_at, numbers_at
from skeval.reporting.document.distances import DistanceCurve, find_distance_curves
from skeval.reporting.document.drawings.curves import Curve, Curves
from skeval.reporting.document.drawings.svg import GREY, INK, SYNTHETIC
from skeval.reporting.document.sentences import curves as say
from skeval.results.suite_result import SuiteResult

_TO_REAL = {"synthetic to train": SYNTHETIC, "synthetic to holdout": INK, "holdout to train": GREY}
_WITHIN = {"train to train": INK, "synthetic to synthetic": SYNTHETIC}
_DASHED = ("holdout to train",)
_TABLES = {"holdout": INK, "synthetic": SYNTHETIC}


def distance_figures(results: SuiteResult) -> Iterator[Figure]:
    """Yield the distances to real rows, and the distances within tables."""
    known = {one.kind: one for one in find_distance_curves(results)}
    if to_real := [known[kind] for kind in _TO_REAL if kind in known]:
        svg = _draw_distances(to_real, 500.0)
        words = say.distances_alternative(to_real)
        yield Figure(
            "curves",
            say.TO_REAL_TITLE,
            say.to_real_note(has_unseen="synthetic to holdout" in known),
            svg,
            words,
        )
    if within := [known[kind] for kind in _WITHIN if kind in known]:
        svg, words = _draw_distances(within, 250.0), say.distances_alternative(within)
        title, note = say.WITHIN_TITLE, say.WITHIN_NOTE
        yield Figure("within-tables", title, note, svg, words, is_wide=False)


def _draw_distances(curves: list[DistanceCurve], width: float) -> str:
    drawn = [
        Curve(
            say.DISTANCES[one.kind],
            (0.0, *one.distances),
            (0.0, *one.levels),
            {**_TO_REAL, **_WITHIN}[one.kind],
            one.kind in _DASHED,
        )
        for one in curves
    ]
    end = max(one.distances[-1] for one in curves) or 1.0
    return Curves(drawn, *say.DISTANCE_AXES, end, width, 190.0).to_svg()


def precision_figures(results: SuiteResult) -> Iterator[Figure]:
    """Yield the curves of precision and recall."""
    for result in results.values():
        tables = {"holdout": mapping_at(result.details, "holdout"), "synthetic": result.details}
        curves, scores = [], []
        for table, own in tables.items():
            recall, precision = numbers_at(own, "recall"), numbers_at(own, "precision")
            if len(recall) == len(precision) > 1:
                curves.append(Curve(say.TABLES[table], recall, precision, _TABLES[table]))
                both = number_at(own, "f_beta"), number_at(own, "f_beta_inv")
                scores.append((say.TABLES[table], *both))
        if curves and not result.error:
            svg = Curves(curves, *say.PRECISION_AXES, 1.0).to_svg()
            note = say.precision_note(number_at(result.details, "beta"), scores)
            words = say.precision_alternative(scores)
            title = say.PRECISION_TITLE
            yield Figure("precision-recall", title, note, svg, words, is_wide=False)
