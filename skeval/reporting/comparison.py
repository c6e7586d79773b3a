"""Several synthetic tables in one report: which to take, why, and what each metric says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skeval.reporting.appendix import provenance_parts
from skeval.reporting.decision import FACETS
from skeval.reporting.filling import chosen
from skeval.reporting.layout import FRONT, Grid, Item, Number, Part, Words
from skeval.reporting.old_displays.curves import ParetoDisplay
from skeval.reporting.old_displays.maps import DensityMapDisplay, has_map
from skeval.reporting.scores import numbers_tested, reason
from skeval.reporting.sections import Plan, Section
from skeval.reporting.stated import release_of, stated_parts
from skeval.results.comparison import Comparison
from skeval.results.result import Result
from skeval.utils.formatting import number, shown_interval, title_of

if TYPE_CHECKING:
    import pandas as pd

RULE = (
    "How the table is chosen: results of other real tables are not compared. A table in which a "
    "leak was found is never taken; then one that violates a threshold that was agreed before; "
    "then one of which a headline is less than half the way from a useless table to fresh real "
    "rows. The headline of utility is TSTR. Fidelity has two: "
    "RelationScore looks at all columns together, SimilarityScore at columns and pairs. Of those "
    "that remain, the one ahead by the headline of utility is taken, then by those of fidelity; "
    "where the two disagree, the one in which the table behind falls farther short of fresh rows "
    "decides. Where no headline was measured, the metrics that can be told apart decide, unless "
    "another facet speaks against them. Each table is tested for leaks by itself: the more are "
    "tried, the more often one without a leak is accused, and the less it says that one was not."
)
HOW_TO_COMPARE = (
    "All tables were measured by one suite against the same real rows. A table is ahead of another "
    "by a metric where the interval of their difference, at 95% over all pairs of tables and all "
    "metrics of a facet together, does not hold 0, and the other is worse than the baseline by "
    "more than chance explains: what is nearer to train than fresh real rows are is no better. "
    "Paired: the real rows are the same for both, and their noise is counted once; independent: "
    "only the intervals of the two values are known, so that a difference may be missed; none: "
    "there is no interval, and nothing is said."
)
PARETO = (
    "Tables by the mean score of two facets, 1 as of fresh real rows. The points have no interval: "
    "what can be told apart stands above."
)
MAPS = (
    "Shares of rows by place, on two directions that train alone decides. Places with too few rows "
    "are pooled or left grey; no row is drawn."
)
_NAMES = {facet: name for name, facet in FACETS.items()}
_GOOD = {1: "high", -1: "low", 0: "between"}


_Content = Iterable[Part | Item]
_Writer = Callable[[Comparison], _Content]


def comparison_plan(comparison: Comparison, sections: Iterable[str] | None = None) -> Plan:
    """Return what a report of several synthetic tables shows."""
    asked = chosen(sections, [*(section.name for section, _ in _SECTIONS), "provenance"])
    shown = [_filled(*one, comparison) for one in _SECTIONS if one[0].name in asked]
    if "provenance" in asked:
        shown += _provenance(comparison)
    return Plan(tuple(one for one in shown if one.parts), _sizes(comparison))


def _filled(section: Section, write: _Writer, comparison: Comparison) -> Section:
    parts, items = list[Part](), list[Item]()
    for one in write(comparison):
        if isinstance(one, Item):
            items.append(one)
        else:
            parts.append(one)
    return replace(section, parts=tuple(parts), items=tuple(items))


def _sizes(comparison: Comparison) -> str:
    """Say how many rows each table has."""
    held = next(iter(comparison.values())).sizes
    rows: dict[str, int] = {role: held[role] for role in ("train", "holdout") if role in held}
    rows |= {name: result.sizes.get("synthetic", 0) for name, result in comparison.items()}
    return ", ".join(f"{name} {n:,} rows" for name, n in rows.items())


def _choice(comparison: Comparison) -> _Content:
    """Yield what answers the question: a sentence, the standing by facet, the front."""
    yield Words(comparison.sentence, "lead")
    if release_of(comparison) is not None:
        yield from stated_parts(comparison)
    standing, scores = comparison.standing(), comparison.scores()
    rows, alarms = [], []
    for i, facet in enumerate(standing.index):
        cells = []
        for k, name in enumerate(comparison, start=1):
            score = scores.loc[name, facet] if facet in scores else math.nan
            mean = "" if math.isnan(score) else f"\nmean score {number(score)}"
            cells.append(f"{standing.loc[facet, name]}{mean}")
            if facet == "privacy" and name in comparison.leaking:
                alarms.append((i, k))
        rows.append((_NAMES[facet], *cells))
    heads, widths = ("Facet", *comparison), _widths(comparison, (0.16,))
    yield Grid(heads, tuple(rows), widths, alarms=tuple(alarms))
    display = pareto_of(comparison)
    if display is not None:
        yield Item(display, "Tables that no other beats in both", PARETO)


def _widths(
    comparison: Comparison, before: Sequence[float], after: Sequence[float] = ()
) -> tuple[float, ...]:
    """Return the widths of columns: those of the tables share what others leave on both sides."""
    share = (1.0 - sum(before) - sum(after)) / len(comparison)
    return (*before, *[share] * len(comparison), *after)


def pareto_of(comparison: Comparison) -> ParetoDisplay | None:
    """Return the tables by two facets: privacy, and utility or else fidelity; None of one facet."""
    scores = comparison.scores()
    others = [facet for facet in ("utility", "fidelity", "diagnostic") if facet in scores]
    axes = [*others[:1], "privacy"] if "privacy" in scores else others[:2]
    return ParetoDisplay(scores, axes[0], axes[1], named="all") if len(axes) > 1 else None


def _maps(comparison: Comparison) -> _Content:
    """Yield all tables on one map, if the suite measured it."""
    for name in comparison.metrics:
        results = {table: one[name] for table, one in comparison.items() if name in one}
        drawn = {table: DensityMapDisplay(one) for table, one in results.items() if has_map(one)}
        first = next(iter(drawn.values()), None)
        if first is not None and all(map(first.same_map, drawn.values())):
            several = {table: results[table] for table in drawn}
            yield Words(MAPS, "quiet")
            yield Item(DensityMapDisplay.from_results(several), "All tables on one map")


def _metrics(comparison: Comparison) -> _Content:
    """Yield how tables are chosen and compared, then what each metric says of them."""
    yield Words(RULE, "quiet")
    yield Words(HOW_TO_COMPARE, "quiet")
    alarmed = {name: result.verdict().alarms for name, result in comparison.items()}
    rows, alarms = [], []
    for i, (metric, row) in enumerate(comparison.frame().iterrows()):
        rows.append(_metric(comparison, str(metric), row))
        leaking = (k for k, name in enumerate(comparison, start=2) if metric in alarmed[name])
        alarms += [(i, k) for k in leaking]
    yield Grid(
        ("Metric", "Good", *comparison, "Baseline", "Ahead", "Behind"),
        tuple(rows),
        _widths(comparison, (0.2, 0.055), (0.08, 0.145, 0.095)),
        numbers=tuple(range(2, len(comparison) + 3)),
        alarms=tuple(alarms),
    )


def _metric(comparison: Comparison, name: str, row: pd.Series[Any]) -> tuple[str, ...]:
    measured = [result[name] for result in comparison.values() if name in result]
    kinds = [title_of(one.metric) for one in measured if one.metric]
    signs = [one.tags.sign for one in measured if one.tags is not None]
    why = [text for one in measured if (text := reason(one))]
    tie = "" if row["ahead"] or row["behind"] else comparison.describe_tie(name)
    return (
        "\n".join([*kinds[:1], name, *why[:1]]),
        _GOOD[signs[0] if signs else 0],
        *(_measured(result.get(name)) for result in comparison.values()),
        Number(number(row["baseline"]), float(row["baseline"])),
        row["ahead"] or tie,
        row["behind"],
    )


def _measured(result: Result | None) -> Number:
    """Return the value of a table with its interval; of a test first what it compared."""
    if result is None:
        return Number(number(math.nan), math.nan)
    lines = [number(result.value), shown_interval(result.interval)]
    if result.contrast is not None:
        lines = [*numbers_tested(result), f"score {lines[0]}", lines[1]]
    return Number("\n".join(filter(None, lines)), result.value)


def _lacking(comparison: Comparison) -> _Content:
    """Yield which metrics some table lacks, and why."""
    lacking = comparison.lacking()
    rows = [(name, *(why.get(t, "measured") for t in comparison)) for name, why in lacking.items()]
    if rows:
        yield Grid(("Metric", *comparison), tuple(rows), _widths(comparison, (0.25,)))


def _differences(comparison: Comparison) -> _Content:
    """Yield the differences of each two tables."""
    rows = []
    for row in comparison.differences.itertuples(index=False):
        ends = "" if math.isnan(row.low) else shown_interval((row.low, row.high))
        rows.append(
            (
                row.metric,
                f"{row.first} \N{MINUS SIGN} {row.second}",
                Number(number(row.difference), float(row.difference)),
                Number(ends, float(row.low)),
                row.interval,
                row.ahead or row.said,
            )
        )
    heads = ("Metric", "Tables", "Difference", "95% interval", "Noise", "Ahead")
    yield Grid(heads, tuple(rows), (0.2, 0.22, 0.11, 0.17, 0.12, 0.18), numbers=(2, 3))


def _privacy(comparison: Comparison) -> _Content:
    """Yield what was found of each table."""
    for name, result in comparison.items():
        if sentence := result.verdict().sentence:
            yield Words(f"{name}: {sentence}")


def _provenance(comparison: Comparison) -> Iterator[Section]:
    """Yield the provenance of each table; what was done is the same for all, and written once."""
    for i, (name, result) in enumerate(comparison.items()):
        if parts := provenance_parts(result):
            own = parts if i == 0 else parts[1:2]
            yield Section("provenance", "Provenance", parts=own, table=name)


_SECTIONS: tuple[tuple[Section, _Writer], ...] = (
    (Section("choice", "Which table to take", layout=FRONT, front=True), _choice),
    (Section("metrics", "Metric by metric"), _metrics),
    (Section("maps", "Where the rows lie"), _maps),
    (Section("lacking", "Not measured in all tables"), _lacking),
    (Section("differences", "Differences and their intervals"), _differences),
    (Section("privacy", "What was found on privacy"), _privacy),
)
