"""Displays of curves and candidates: distances, precision and recall, ROC, Pareto fronts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import (
    CURVE,
    ROOM,
    Display,
    Margins,
    numbers,
    register_display,
    say_empty,
    stacked,
)
from skeval.reporting.old_displays.ticks import label_axis, number_ticks
from skeval.reporting.scores import entries
from skeval.reporting.style import COLOURS, FAINT, GREY, INK, SMALL, drawable
from skeval.results.result import Result
from skeval.stats.pareto import dominated_points, ends_of, points_of
from skeval.utils.formatting import as_float, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AREAS = {"privacy_area": "privacy area", "resemblance": "resemblance"}
_LINES: dict[str, Any] = {"privacy_area": "-", "resemblance": (0, (4, 2))}
_STYLES: dict[str, dict[str, Any]] = {
    "holdout": {"color": COLOURS["holdout"], "lw": 1.4},
    "synthetic at baseline size": {"color": COLOURS["synthetic"], "lw": 1.0, "ls": (0, (3, 2))},
    "synthetic": {"color": COLOURS["synthetic"], "lw": 1.6},
}
_CUT: dict[str, Any] = {"color": INK, "lw": 0.9, "ls": (0, (4, 2))}
_RATES = ["point", "fpr", "tpr", "low", "high"]
_DOTTED: dict[str, Any] = {"color": GREY, "ls": (0, (1, 2))}
_LETTER, _LINE = 0.6, 1.2  # width and height of a name, in font sizes


def _number_axes(ax: Axes, end: float, *, past: tuple[float, float] = (0.0, 0.04)) -> None:
    """Label both axes with round numbers, from 0 to `end` and from 0 to 1; they end `past` it."""
    ax.set(xlim=(0.0, end + past[0]), ylim=(0.0, 1.0 + past[1]))
    label_axis(ax.xaxis, *number_ticks(0.0, end, most=6))
    label_axis(ax.yaxis, *number_ticks(0.0, 1.0, most=6))


def _dress(ax: Axes, title: str, place: Any = "lower right") -> None:
    """Write the title and the legend, if something has a label."""
    ax.set_title(title)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc=place, borderaxespad=0.4)


@register_display
class MDADisplay(Display):
    """The accumulation curve of synthetic rows over that of the holdout, cut at the threshold.

    The areas under the synthetic curve are shaded: darker left of the threshold, the privacy area,
    and lighter right of it, the resemblance. If several thresholds were asked for, a second panel
    shows both areas against the threshold.

    Parameters
    ----------
    result : Result
        With ``details["curve"]``: `u` and `share` by name; and ``details["thresholds"]``.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MinimumDistanceAccumulation
    >>> from skeval.reporting import MDADisplay
    >>> table = make_mixed()
    >>> display = MDADisplay(MinimumDistanceAccumulation().fit(table).evaluate(table))
    >>> display.frame()["share"].tolist()[:3]
    [0.0, 1.0, 1.0]
    """

    reads = ("curve", "thresholds")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        given: Mapping[str, Any] = entries(result.details, "curve")
        self.curves = {
            name: (numbers(given[name]["u"]), numbers(given[name]["share"]))
            for name in _STYLES
            if given.get(name)
        }
        self.thresholds = numbers(result.details.get("thresholds", []))
        tables = {"synthetic": result.details, "holdout": entries(result.details, "holdout")}
        self.areas = {
            name: {area: numbers(table[area]) for area in _AREAS}
            for name, table in tables.items()
            if all(area in table for area in _AREAS)
        }
        self.n_panels = 2 if self.thresholds.size > 1 and self.curves else 1
        self.figsize = (7.0 if self.n_panels == 2 else 5.0), 3.0

    def frame(self) -> pd.DataFrame:
        """Return `what`, the curve or one of the areas, `rows` of which table, `u` and `share`."""
        lines: list[tuple[Any, ...]] = [
            ("curve", name, *curve) for name, curve in self.curves.items()
        ]
        for name, areas in self.areas.items():
            lines += [(area, name, self.thresholds, values) for area, values in areas.items()]
        return stacked(lines, ["what", "rows", "u", "share"])

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curves, and next to them the areas if there are several thresholds."""
        if not self.curves:
            say_empty(axes[0], "no curve")
            return
        self._curves(axes[0])
        if self.n_panels == 2:
            self._against_threshold(axes[1])

    def _curves(self, ax: Axes) -> None:
        first, *others = self.thresholds if self.thresholds.size else [math.nan]
        self._shade(ax, first)
        for name, style in _STYLES.items():
            if name in self.curves:
                ax.plot(*self.curves[name], label=self._label(name), **style)
        for threshold in others:
            ax.axvline(threshold, lw=0.6, **_DOTTED)
        ax.axvline(first, **_CUT)
        end = self._end()
        _number_axes(ax, end)
        beyond = " (beyond the axis, all curves are at 1)" if end < 1 else ""
        ax.set_xlabel(f"distance to the nearest row{beyond}")
        _dress(ax, f"Share of rows within a distance, cut at {first:.3g}")

    def _shade(self, ax: Axes, threshold: float) -> None:
        if "synthetic" not in self.curves or math.isnan(threshold):
            return
        u, share = self.curves["synthetic"]
        at = float(np.interp(threshold, u, share))
        style: dict[str, Any] = {"color": COLOURS["synthetic"], "lw": 0}
        left, right = u < threshold, u > threshold
        ax.fill_between([*u[left], threshold], [*share[left], at], alpha=0.28, **style)
        ax.fill_between([threshold, *u[right]], [at, *share[right]], alpha=0.08, **style)

    def _label(self, name: str) -> str:
        if name == "synthetic at baseline size":
            n_rows = entries(self.result.details, "at_baseline_size").get("n_rows", 0)
            return f"synthetic, {n_rows:,} rows"
        if name not in self.areas:
            return name
        left, right = (number(float(area[0])) for area in self.areas[name].values())
        return f"{name}: {left} left, {right} right"

    def _end(self) -> float:
        """Return where all curves have reached 1 and no threshold is at the edge."""
        all_in = max(float(u[share >= 1.0 - 1e-12][0]) for u, share in self.curves.values())
        thresholds = self.thresholds[np.isfinite(self.thresholds)]
        return min(1.0, max(1.05 * all_in, 1.25 * float(thresholds.max(initial=0.0))))

    def _against_threshold(self, ax: Axes) -> None:
        order = np.argsort(self.thresholds, kind="stable")
        for name, areas in self.areas.items():
            for area, values in areas.items():
                style = {"color": COLOURS[name], "ls": _LINES[area], "marker": "o"}
                label = f"{name}: {_AREAS[area]}"
                ax.plot(self.thresholds[order], values[order], ms=2.5, lw=1.2, label=label, **style)
        ax.axvline(self.thresholds[0], **_CUT)
        _number_axes(ax, float(self.thresholds.max()) * 1.05)
        ax.set_xlabel("threshold")
        _dress(ax, "Areas against the threshold", "best")


@register_display
class PRDDisplay(Display):
    """Precision against recall of synthetic rows over that of the holdout, if there is one.

    The grey line is where both are equal; the curve meets it at 1 less the total variation
    distance. The dots are where the F scores are greatest: the one on the right gives weight to
    recall, the one on the left to precision.

    Parameters
    ----------
    result : Result
        With ``details["precision"]``, ``details["recall"]`` and `beta`; and the same of the holdout
        in ``details["holdout"]``, if known.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PRDCurve
    >>> from skeval.reporting import PRDDisplay
    >>> table = make_mixed()
    >>> display = PRDDisplay(PRDCurve(n_angles=3).fit(table).evaluate(table))
    >>> display.frame().round(2)["precision"].tolist()
    [0.0, 1.0, 1.0]
    """

    reads = ("precision", "recall")
    figsize = (4.0, 4.0)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        fresh: Mapping[str, Any] = entries(result.details, "holdout")
        tables = {"holdout": fresh, "synthetic": result.details}
        self.curves = {
            name: (numbers(table["recall"]), numbers(table["precision"]))
            for name, table in tables.items()
            if np.size(table.get("recall", [])) and np.size(table.get("precision", []))
        }
        self.scores = {
            name: (float(table["f_beta"]), float(table["f_beta_inv"]))
            for name, table in tables.items()
            if "f_beta" in table and "f_beta_inv" in table
        }
        self.beta = float(result.details.get("beta", 8.0))

    def margins(self, wide: float) -> Margins:
        """Return what numbers, title and names of the axes take."""
        return CURVE

    def frame(self) -> pd.DataFrame:
        """Return `precision` and `recall` along the curve of the `rows` of which table."""
        curves = [(name, *curve) for name, curve in self.curves.items()]
        return stacked(curves, ["rows", "recall", "precision"])

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curves with the points of the F scores."""
        ax = axes[0]
        if not self.curves:
            say_empty(ax, "no curve")
            return
        ax.plot([0.0, 1.0], [0.0, 1.0], lw=0.6, **_DOTTED)
        for name, (recall, precision) in self.curves.items():
            # from axis to axis: the ends are where the slope is 0 or infinite
            width = 1.6 if name == "synthetic" else 1.4
            ax.plot(recall, precision, color=COLOURS[name], lw=width, label=self._label(name))
        if "synthetic" in self.curves:
            self._mark_scores(ax, *self.curves["synthetic"], COLOURS["synthetic"])
        _number_axes(ax, 1.0, past=(0.03, 0.03))
        ax.set(xlabel="recall", ylabel="precision")
        ax.set_aspect("equal")
        _dress(ax, "Precision against recall", "lower left")

    def _mark_scores(
        self, ax: Axes, recall: np.ndarray, precision: np.ndarray, colour: str
    ) -> None:
        """Shade what lies below the curve, and mark where the F scores are greatest."""
        ax.fill_between(recall, precision, color=colour, alpha=0.1, lw=0)
        for beta in (self.beta, 1.0 / self.beta):
            at = _best(precision, recall, beta)
            ax.plot(recall[at], precision[at], "o", color=colour, ms=4.0, clip_on=False)

    def _label(self, name: str) -> str:
        if name not in self.scores:
            return name
        recall, precision = (number(score) for score in self.scores[name])
        beta = f"{self.beta:g}"
        return f"{name}: F{beta} {recall}, F1/{beta} {precision}"


def _best(precision: np.ndarray, recall: np.ndarray, beta: float) -> int:
    """Return where the F score is greatest; a beta above 1 gives weight to recall."""
    below = beta**2 * precision + recall
    products = (1.0 + beta**2) * precision * recall
    scores = np.divide(products, below, out=np.zeros_like(below), where=below > 0)
    return int(scores.argmax())


@register_display
class ROCDisplay(Display):
    """True over false positive rate of an attack; one that knows nothing is on the dotted line.

    Both axes are logarithmic: an attack that finds few rows and is never wrong about them has a
    curve well above the line on the left, though its AUC is near 0.5. The band is the interval of
    each true positive rate by itself. The dots are the greatest true positive rates at round false
    positive rates.

    Parameters
    ----------
    result : Result
        With ``details["curve"]``, of which `fpr`, `tpr`, `low`, `high` and `n_others` are read;
        `tpr_at_fpr`, `attack` and `attacks`, if known.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipInference
    >>> from skeval.reporting import ROCDisplay
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> result = MembershipInference("distance").fit(train, holdout).evaluate(train)
    >>> ROCDisplay(result).frame().query("point != 'curve'")["tpr"].tolist()
    [1.0, 1.0]
    """

    reads = ("curve",)
    figsize = (4.2, 4.0)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        details = result.details
        curve: Mapping[str, Any] = entries(details, "curve")
        self.curve = {name: numbers(curve.get(name, [])) for name in _RATES[1:]}
        self.least = 1.0 / max(int(curve.get("n_others", 1)), 1)
        given = details.get("tpr_at_fpr")
        marks = given if isinstance(given, list | tuple) else []
        self.marks = [mark for mark in marks if not math.isnan(as_float(mark["tpr"]))]
        name = str(details.get("attack", ""))
        self.attack: Mapping[str, Any] = entries(details, "attacks", name)
        # of several attacks, the result has the interval that holds for all of them
        is_value = result.interval is not None and self.attack.get("auc") == result.value
        self.interval = (is_value and result.interval) or self.attack.get("interval", ())
        self.name = name.replace("_", " ")

    def margins(self, wide: float) -> Margins:
        """Return what percentages, title and names of the axes take."""
        return CURVE

    def frame(self) -> pd.DataFrame:
        """Return the points of the curve, then those marked, with the intervals of `tpr`."""
        curve = pd.DataFrame({"point": "curve", **self.curve}, columns=_RATES)
        marked = [
            (f"at most {mark['fpr']:g}", mark["fpr"], mark["tpr"], *mark["interval"])
            for mark in self.marks
        ]
        return pd.concat([curve, pd.DataFrame(marked, columns=_RATES)]) if marked else curve

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curve with its band and the marked rates."""
        ax = axes[0]
        if not self.curve["fpr"].size:
            say_empty(ax, "no curve")
            return
        ax.set_xscale("log")
        ax.set_yscale("log")
        floor = self._floor()
        ax.plot([floor, 1.0], [floor, 1.0], lw=0.8, label="by chance", **_DOTTED)
        # what has no false positive stands where one row would be half of one
        x = np.append(np.maximum(self.curve["fpr"], self.least / 2.0), 1.0)
        tpr, low, high = (
            np.maximum(np.append(rates, rates[-1]), floor)
            for rates in (self.curve[name] for name in ("tpr", "low", "high"))
        )
        colour = COLOURS["synthetic"]
        ax.fill_between(x, low, high, step="post", color=colour, alpha=0.14, lw=0)
        ax.step(x, tpr, where="post", color=colour, lw=1.4, label=self._label())
        self._write_marks(ax, floor, colour)
        self._label_axes(ax, floor)
        _dress(ax, "Membership inference")

    def _write_marks(self, ax: Axes, floor: float, colour: str) -> None:
        for mark in self.marks:
            y = max(float(mark["tpr"]), floor)
            ax.plot(mark["fpr"], y, "o", color=colour, ms=4.0, clip_on=False)
            top = y > 0.5  # at the top there is no room above
            ax.annotate(
                f"{100.0 * mark['tpr']:.3g}%",
                (mark["fpr"], y),
                xytext=(4.0, -7.0) if top else (-4.0, 5.0),
                textcoords="offset points",
                ha="left" if top else "right",
                va="center",
                fontsize=6.5,
            )

    def check(self) -> None:
        """Raise where the curve, marks or attack have another form than what is drawn."""
        self.frame()
        self._label()

    def _floor(self) -> float:
        """Return where both axes start: below the smallest rate that is drawn."""
        rates = np.concatenate([self.curve["tpr"], [mark["tpr"] for mark in self.marks]])
        least = rates[rates > 0].min(initial=1.0)
        return float(10.0 ** np.floor(np.log10(min(self.least / 2.0, least))))

    def _label(self) -> str:
        if not self.attack:
            return self.name or "attack"
        low, high = (number(bound) for bound in self.interval)
        return f"{self.name}: AUC {number(self.attack['auc'])} ({low} to {high})"

    def _label_axes(self, ax: Axes, floor: float) -> None:
        from matplotlib.ticker import NullLocator

        powers = 10.0 ** np.arange(round(np.log10(floor)), 1)
        left = self.least / 2.0
        for axis, least in ((ax.xaxis, left), (ax.yaxis, floor)):
            shown = powers[powers >= 0.99 * least]
            label_axis(axis, shown, [f"{100.0 * power:.6g}%" for power in shown])
            axis.set_minor_locator(NullLocator())
        ax.set(xlim=(left, 1.0), ylim=(floor, 1.12))
        ax.set_xlabel("false positive rate: holdout rows called members")
        ax.set_ylabel("true positive rate: train rows called members")


class ParetoDisplay(Display):
    """Candidates by two scores, the front of those that no other beats in both as steps.

    Left of and below the steps lies what some candidate dominates. Candidates that are not on the
    front are grey.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_facets)
        The higher, the better, by candidate; as of :func:`~skeval.model_selection.facet_table`, or
        columns of `cv_results_`.
    x, y : str, default="utility", "privacy"
        The columns to draw.
    low, high : DataFrame, optional
        Intervals in the form of `scores`, drawn as crosses; with them the front keeps all that
        chance may have set behind, see :func:`~skeval.model_selection.pareto_front`.
    named : {"front", "all"}, default="front"
        Which candidates are labelled with their names.

    Raises
    ------
    InvalidParameterError
        If a column is not there or holds no numbers, `x` and `y` are one, or an interval lacks an
        end or a candidate.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.reporting import ParetoDisplay
    >>> scores = pd.DataFrame({"utility": [0.9, 0.7, 0.6], "privacy": [0.3, 0.8, 0.7]})
    >>> ParetoDisplay(scores).frame()["on_front"].tolist()
    [True, True, False]
    """

    figsize = (5.0, 4.0)

    def __init__(
        self,
        scores: pd.DataFrame,
        x: str = "utility",
        y: str = "privacy",
        *,
        low: pd.DataFrame | None = None,
        high: pd.DataFrame | None = None,
        named: Literal["front", "all"] = "front",
    ) -> None:
        self.named = named
        self.x = x
        self.y = y
        points = points_of(scores, [x, y], "ParetoDisplay")
        ends = ends_of(scores, low, high, [x, y], "ParetoDisplay")
        labels: dict[str, Any] = {"index": scores.index, "columns": [x, y]}
        self.scores = pd.DataFrame(points, **labels)
        self.low, self.high = (
            None if end is None else pd.DataFrame(end, **labels) for end in ends or (None, None)
        )
        known = ~np.isnan(points).any(axis=1)
        beaten = dominated_points(points, *(ends or ()))
        self.front = pd.Series(known & ~beaten, index=scores.index, name="on_front")

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take, and names of candidates at the right."""
        return Margins(38.0, 10.0, 120.0, 34.0)

    def frame(self) -> pd.DataFrame:
        """Return the two scores and `on_front`, by candidate."""
        return self.scores.assign(on_front=self.front)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the candidates, the steps of the front and its names."""
        ax = axes[0]
        # by position: labels may stand twice; what is infinite has no place
        drawn = np.isfinite(self.scores.to_numpy()).all(axis=1)
        known, front = self.scores[drawn], self.front.to_numpy()[drawn]
        if known.empty:
            say_empty(ax, "no candidate has both scores")
            return
        self._crosses(ax)
        # the edge of what is dominated: by those that are behind no other at all
        best = known[~dominated_points(known.to_numpy())].sort_values(self.x)
        ax.step(best[self.x], best[self.y], where="pre", color=COLOURS["synthetic"], lw=1.0)
        for on_front, colour, size in ((False, GREY, 4.0), (True, COLOURS["synthetic"], 6.0)):
            rows = known[front == on_front]
            ax.plot(rows[self.x], rows[self.y], "o", color=colour, ms=size, lw=0, zorder=3)
        ax.margins(0.12)
        self._names(ax, known if self.named == "all" else known[front])
        ax.set_xlabel(f"{self.x}, more is better")
        ax.set_ylabel(f"{self.y}, more is better")

    def head(self, axes: Sequence[Axes]) -> None:
        """Write a title on a figure of its own."""
        axes[0].set_title("Candidates that no other beats")

    def _names(self, ax: Axes, best: pd.DataFrame) -> None:
        """Write names next to points, but where one would lie on another name."""
        ax.autoscale_view()  # or else places are those of an empty drawing
        dots = ax.figure.dpi / 72.0  # a point of print
        taken: list[tuple[float, float, float]] = []
        for name, row in best.iterrows():
            text, point = drawable(str(name)), (row[self.x], row[self.y])
            left, bottom = ax.transData.transform(point) / dots
            right = left + _LETTER * SMALL * len(text)
            if not any(
                left < other_right and other_left < right and abs(bottom - base) < _LINE * SMALL
                for other_left, other_right, base in taken
            ):
                taken.append((left, right, bottom))
                ax.annotate(text, point, xytext=(4, 4), textcoords="offset points", size=SMALL)

    def _crosses(self, ax: Axes) -> None:
        if self.low is None or self.high is None:
            return
        for draw, along, across in ((ax.hlines, self.x, self.y), (ax.vlines, self.y, self.x)):
            lines = np.column_stack([self.scores[across], self.low[along], self.high[along]])
            drawn = lines[np.isfinite(lines).all(axis=1)]
            draw(*drawn.T, color=FAINT, lw=0.8, zorder=1)
