"""Releases over time in one report: what became worse, every headline number, every change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from skeval.reporting.displays.releases import HistoryDisplay
from skeval.reporting.filling import chosen
from skeval.reporting.layout import FRONT, Grid, Item, Layout, Number, Part, Words
from skeval.reporting.sections import Plan, Section
from skeval.reporting.style import label_of
from skeval.results.history import History
from skeval.results.result import Result
from skeval.utils.formatting import number, shown_interval, title_of

_A_TABLE = 5  # metrics
_PAIRED = Layout(half=True, grid="grid pairs")
HOW_TO_READ = (
    "Dots are values with their 95% intervals. Green lines are the baselines: what fresh real rows "
    "score in the synthetic rows' place. A triangle that points down is worse than the release "
    "before it, or than the first, by more than noise explains."
)
HOW_TO_TEST = (
    "Each release is compared with the one before it and with the first. The intervals of the "
    "differences hold together: if all releases are alike, the chance that any of them leaves out "
    "0 is at most {level}. A value that is as good as its baseline is not called worse, since what "
    "is nearer to train than fresh real rows are is no better."
)


def history_plan(history: History, sections: Iterable[str] | None = None) -> Plan:
    """Return what a report of several releases shows.

    Parameters
    ----------
    history : History
        From :func:`skeval.history`.
    sections : iterable of str, optional
        Among "conclusion", "numbers", "values" and "changes"; all otherwise.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidParameterError
        If there is no such section.

    Examples
    --------
    >>> from skeval import Result, SuiteResult, history
    >>> from skeval.reporting.releases import history_plan
    >>> releases = {"v1": SuiteResult({"a": Result(0.5)}), "v2": SuiteResult({"a": Result(0.6)})}
    >>> [section.name for section in history_plan(history(releases)).sections]
    ['conclusion', 'numbers', 'values', 'changes']
    """
    shown = (
        Section("conclusion", "What became worse", layout=FRONT, front=True, parts=_said(history)),
        Section("numbers", "Headline numbers", HOW_TO_READ, layout=_PAIRED, items=_drawn(history)),
        Section("values", "Values of each release", parts=_values(history)),
        Section("changes", "Changes and their intervals", parts=_changes(history)),
    )
    asked = chosen(sections, [section.name for section in shown])
    rows = [
        f"{n} {r.sizes['synthetic']:,} rows" for n, r in history.items() if "synthetic" in r.sizes
    ]
    return Plan(tuple(one for one in shown if one.name in asked), ", ".join(rows))


def _said(history: History) -> tuple[Part, ...]:
    """Return the sentence, and what was found on privacy of each release."""
    outcomes = [(name, result.verdict()) for name, result in history.items()]
    rows, labels = [], []
    for i, (name, verdict) in enumerate(outcomes):
        dated = "" if (p := history[name].provenance) is None else p.date[:10]
        worse = history.falls.loc[history.falls["after"] == name, "metric"]
        rows.append((name, dated, verdict.outcome, ", ".join(dict.fromkeys(worse)) or "none"))
        labels.append((i, 2, label_of(verdict.outcome)))
    heads = ("Release", "Date", "Privacy", "Worse beyond noise")
    widths = (0.24, 0.14, 0.22, 0.4)
    return Words(history.sentence, "lead"), Grid(heads, tuple(rows), widths, labels=tuple(labels))


def _drawn(history: History) -> tuple[Item, ...]:
    """Return a figure for each metric."""
    items = []
    for metric in history.metrics:
        kind = next((r[metric].metric for r in history.values() if metric in r), "")
        items.append(
            Item(HistoryDisplay(history, [metric]), metric, title_of(kind) if kind else "")
        )
    return tuple(items)


def _values(history: History) -> tuple[Grid, ...]:
    """Return the values by release, each with its interval, a few metrics to a table."""
    metrics = history.metrics
    return tuple(
        _values_of(history, metrics[i : i + _A_TABLE]) for i in range(0, len(metrics), _A_TABLE)
    )


def _values_of(history: History, metrics: Sequence[str]) -> Grid:
    rows = tuple(
        (name, *(_value(result.get(metric)) for metric in metrics))
        for name, result in history.items()
    )
    widths = (0.2, *[0.8 / len(metrics)] * len(metrics))
    numbers = tuple(range(1, len(metrics) + 1))
    return Grid(("Release", *metrics), rows, widths, numbers=numbers)


def _value(result: Result | None) -> Number:
    if result is None or math.isnan(result.value):
        return Number(number(math.nan), math.nan)
    lines = number(result.value), shown_interval(result.interval)
    return Number("\n".join(filter(None, lines)), result.value)


def _changes(history: History) -> tuple[Part, ...]:
    rows, alarms = [], []
    for i, row in enumerate(history.changes.itertuples()):
        ends = None if math.isnan(row.low) else (row.low, row.high)
        rows.append(
            (
                row.metric,
                f"{row.before} \N{RIGHTWARDS ARROW} {row.after}",
                Number(number(row.difference), float(row.difference)),
                Number(shown_interval(ends), float(row.low)),
                row.said,
            )
        )
        if row.fall:
            alarms.append((i, 4))
    heads = ("Metric", "Releases", "Difference", "Interval", "Told")
    widths = (0.24, 0.24, 0.12, 0.18, 0.22)
    how = HOW_TO_TEST.format(level=f"{100 * history.level:g}%")
    grid = Grid(heads, tuple(rows), widths, numbers=(2, 3), alarms=tuple(alarms))
    return Words(how, "quiet"), grid
