"""Several synthetic tables in one report: which to take, why, and what each metric says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.reporting.appendix import provenance_parts
from skeval.reporting.decision import FACETS
from skeval.reporting.displays.curves import ParetoDisplay
from skeval.reporting.html import Cell, drawn, page, parts_in_html, table, text_cell
from skeval.reporting.layout import Grid, Item, Part, Words
from skeval.reporting.pdf import draw_paper, write_paper
from skeval.reporting.scores import numbers_tested, reason
from skeval.utils.files import replacing
from skeval.utils.formatting import number, shown_interval, title_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from skeval.results.comparison import Comparison
    from skeval.results.result import Result

RULE = (
    "How the table is chosen: results of other real tables are not compared. A table in which a "
    "leak was found is never taken; then one of which a headline is less than half the way from a "
    "useless table to fresh real rows. The headline of utility is TSTR. Fidelity has two: "
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
_NAMES = {facet: name for name, facet in FACETS.items()}
_GOOD = {1: "high", -1: "low", 0: "between"}


def write_comparison_html(comparison: Comparison, path: Path, title: str) -> Path:
    """Write the page; an existing file is replaced only when it is complete."""
    with replacing(path) as temporary:
        text = page(title, sizes(comparison), comparison_body(comparison))
        temporary.write_text(text, encoding="utf-8")
    return path


def write_comparison_pdf(comparison: Comparison, path: Path, title: str) -> Path:
    """Write the same as a PDF; the first page says which table to take."""
    content: list[Part | Item] = [
        *_first(comparison),
        Words(RULE, "quiet"),
        Words(HOW_TO_COMPARE, "quiet"),
    ]
    content += [_metrics_grid(comparison), *_lacking(comparison), *_privacy(comparison)]
    for name, parts in _provenance(comparison):
        content += [Words(f"Provenance of {name}", "lead"), *parts]
    return write_paper(path, title, sizes(comparison), content)


def draw_comparison_page(
    comparison: Comparison, title: str = "Which table", *, figure: Figure | None = None
) -> Figure:
    """Draw the first page of a report of several synthetic tables: which one to take, and why.

    Parameters
    ----------
    comparison : Comparison
        As :meth:`skeval.MetricSuite.compare` returns it.
    title : str, default="Which table"
        Above it.
    figure : Figure, optional
        To draw on, as ``plt.figure()``; a new one otherwise.

    Returns
    -------
    Figure
        A figure of the size of the paper.

    See Also
    --------
    draw_decision_page : That of one table.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.reporting import draw_comparison_page
    >>> train, holdout, a, b = (make_mixed(100, random_state=seed) for seed in range(4))
    >>> suite = MetricSuite([("ks", KSComplement())]).fit(train, holdout)
    >>> draw_comparison_page(suite.compare({"a": a, "b": b})).get_size_inches().round(1).tolist()
    [8.3, 11.7]
    """
    return draw_paper(title, sizes(comparison), _first(comparison), figure)


def sizes(comparison: Comparison) -> str:
    """Say how many rows each table has."""
    held = next(iter(comparison.values())).sizes
    rows: dict[str, int] = {role: held[role] for role in ("train", "holdout") if role in held}
    rows |= {name: result.sizes.get("synthetic", 0) for name, result in comparison.items()}
    return ", ".join(f"{name} {n:,} rows" for name, n in rows.items())


def comparison_body(comparison: Comparison) -> str:
    """Return what stands on the page below its title."""
    how = parts_in_html([Words(RULE, "quiet"), Words(HOW_TO_COMPARE, "quiet")])
    sections = {
        "Metric by metric": f"{how}\n{_metrics(comparison)}",
        "Not measured in all tables": parts_in_html(_lacking(comparison)),
        "Differences and their intervals": _differences(comparison),
        "What was found on privacy": parts_in_html(_privacy(comparison)),
        **{
            f"Provenance of {name}": parts_in_html(parts) for name, parts in _provenance(comparison)
        },
    }
    shown = [_section(*pair) for pair in sections.items() if pair[1]]
    return "\n".join([comparison_lead(comparison), *shown])


def comparison_lead(comparison: Comparison) -> str:
    """Return what answers the question of which table to take, alone."""
    first = _first(comparison)
    return "\n".join(drawn(one) if isinstance(one, Item) else parts_in_html([one]) for one in first)


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}\n</section>"


def _first(comparison: Comparison) -> Iterator[Part | Item]:
    """Yield what answers the question: a sentence, the standing by facet, the front."""
    yield Words(comparison.sentence, "lead")
    standing, scores = comparison.standing(), comparison.scores()
    rows, alarms = [], []
    for i, facet in enumerate(standing.index):
        cells = []
        for name in comparison:
            score = scores.loc[name, facet] if facet in scores else math.nan
            mean = "" if math.isnan(score) else f"\nmean score {number(score)}"
            cells.append(f"{standing.loc[facet, name]}{mean}")
        if "leak found" in set(standing.loc[facet]):
            alarms.append(i)
        rows.append((_NAMES[facet], *cells))
    share = 0.84 / len(comparison)
    yield Grid(("Facet", *comparison), tuple(rows), (0.16, *[share] * len(comparison)))
    display = pareto_of(comparison)
    if display is not None:
        yield Item(display, "Tables that no other beats in both", PARETO)


def pareto_of(comparison: Comparison) -> ParetoDisplay | None:
    """Return the tables by two facets: privacy, and utility or else fidelity; None of one facet."""
    scores = comparison.scores()
    others = [facet for facet in ("utility", "fidelity", "diagnostic") if facet in scores]
    axes = [*others[:1], "privacy"] if "privacy" in scores else others[:2]
    return ParetoDisplay(scores, axes[0], axes[1], named="all") if len(axes) > 1 else None


def _titles(comparison: Comparison) -> dict[str, str]:
    """Return what each metric is called, with its name in the suite below."""
    kinds = {name: r.metric for result in comparison.values() for name, r in result.items()}
    return {
        name: f"{title_of(kind)}\n{name}" if (kind := kinds[name]) else name
        for name in comparison.metrics
    }


def _metrics_grid(comparison: Comparison) -> Grid:
    titles, rows = _titles(comparison), []
    for name, row in comparison.frame().iterrows():
        values = [number(row[one]) for one in comparison]
        ahead = f"{row['ahead']} ahead" if row["ahead"] else ""
        told = "; ".join(filter(None, [ahead, comparison.told(str(name))]))
        rows.append((titles[str(name)], *values, number(row["baseline"]), told))
    n = len(comparison)
    widths = (0.3, *[0.4 / (n + 1)] * (n + 1), 0.3)
    heads = ("Metric", *comparison, "Baseline", "Told apart")
    return Grid(
        heads, tuple(rows), widths, numbers=tuple(range(1, n + 2)), title="Metric by metric"
    )


def _lacking(comparison: Comparison) -> list[Part]:
    """Return which metrics some table lacks, and why."""
    if not (lacking := comparison.lacking()):
        return []
    rows = [(name, *(why.get(t, "measured") for t in comparison)) for name, why in lacking.items()]
    share = 0.75 / len(comparison)
    return [Grid(("Metric", *comparison), tuple(rows), (0.25, *[share] * len(comparison)))]


def _privacy(comparison: Comparison) -> list[Part]:
    said = {name: result.verdict().sentence for name, result in comparison.items()}
    return [Words(f"{name}: {sentence}") for name, sentence in said.items() if sentence]


def _provenance(comparison: Comparison) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield the provenance of each table; what was done is the same for all, and written once."""
    for i, (name, result) in enumerate(comparison.items()):
        parts = provenance_parts(result)
        if parts:
            yield name, parts if i == 0 else parts[1:2]


def _metrics(comparison: Comparison) -> str:
    heads = ("Metric", "Good", *comparison, "Baseline", "Ahead", "Behind")
    frame, titles = comparison.frame(), _titles(comparison)
    rows = [_metric(comparison, str(n), titles[str(n)], row) for n, row in frame.iterrows()]
    return table(heads, rows)


def _metric(comparison: Comparison, name: str, title: str, row: pd.Series[Any]) -> list[Cell]:
    tags = next((r[name].tags for r in comparison.values() if name in r), None)
    first, *others = map(escape, title.split("\n"))
    cells = [Cell(first + "".join(f"<small>{text}</small>" for text in others), title)]
    cells.append(text_cell(_GOOD[tags.sign if tags is not None else 0]))
    alarms = {label: one.verdict().alarms for label, one in comparison.items()}
    cells += [_measured(one.get(name), name in alarms[label]) for label, one in comparison.items()]
    tie = "" if row["ahead"] or row["behind"] else comparison.told(name)
    return [
        *cells,
        Cell(number(row["baseline"]), float(row["baseline"]), "n"),
        text_cell(row["ahead"] or tie, "said"),
        text_cell(row["behind"], "said"),
    ]


def _measured(result: Result | None, alarm: bool) -> Cell:
    """Return the value of a table with its interval; of a test first what it compared."""
    if result is None:
        return Cell(f"{number(math.nan)}<small></small>", math.nan, "n")
    lines = [number(result.value), shown_interval(result.interval)]
    if result.contrast is not None:
        lines = [*numbers_tested(result), f"score {lines[0]}", lines[1], reason(result)]
    first, *others = map(escape, lines)
    markup = first + "".join(f"<small>{line}</small>" for line in others if line)
    return Cell(markup, result.value, "n alarm" if alarm else "n")


def _differences(comparison: Comparison) -> str:
    heads = ("Metric", "Tables", "Difference", "95% interval", "Noise", "Ahead")
    rows = []
    for row in comparison.differences.itertuples(index=False):
        known = not math.isnan(row.low)
        ends = shown_interval((row.low, row.high)) if known else ""
        rows.append(
            [
                text_cell(row.metric),
                text_cell(f"{row.first} \N{MINUS SIGN} {row.second}"),
                Cell(number(row.difference), float(row.difference), "n"),
                Cell(ends, float(row.low), "n"),
                text_cell(row.interval),
                text_cell(row.ahead or row.said),
            ]
        )
    return table(heads, rows, "text")
