"""Several synthetic tables on one page: which to take, why, and every metric beside the others'."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.files import replacing
from skeval.formatting import number, shown_interval
from skeval.reporting.displays.curves import ParetoDisplay
from skeval.reporting.figures import save
from skeval.reporting.page import Cell, embedded, page, table, text_cell
from skeval.reporting.provenance import provenance_html, provenance_tables
from skeval.reporting.sheets import Sheets, TextTable
from skeval.reporting.theme import GREY, theme

if TYPE_CHECKING:
    import pandas as pd

    from skeval.comparison import Comparison

HOW_TO_COMPARE = (
    "All tables were measured by one suite against the same real rows. A table is ahead of another "
    "by a metric where the interval of their difference, at 95% over all pairs of tables, does not "
    "hold 0, and the other is worse than the baseline by more than chance explains: what is nearer "
    "to train than fresh real rows are is no better. Paired: the real rows are the same for both, "
    "and their noise is counted once; independent: only the intervals of the two values are known, "
    "so that a difference may be missed; none: there is no interval, and nothing is said."
)
_NAMES = {
    "diagnostic": "Validity",
    "fidelity": "Fidelity",
    "utility": "Utility",
    "privacy": "Privacy",
}
PARETO = (
    "Tables by the mean score of two facets, 1 as of fresh real rows. The points have no interval: "
    "what can be told apart stands above."
)
_GOOD = {1: "high", -1: "low", 0: "between"}


def write_comparison_html(comparison: Comparison, path: Path, title: str) -> Path:
    """Write the page; an existing file is replaced only when it is complete."""
    with replacing(path) as temporary:
        text = page(title, sizes(comparison), comparison_body(comparison))
        temporary.write_text(text, encoding="utf-8")
    return path


def write_comparison_pdf(comparison: Comparison, path: Path, title: str) -> Path:
    """Write the same as a PDF; the first page says which table to take."""
    with theme():
        sheets = Sheets()
        sheets.heading(title, 20.0)
        sheets.paragraph(sizes(comparison), 9.0, after=3.0, color=GREY)
        sheets.paragraph(comparison.sentence, 9.5, after=4.0)
        _draw_standing(sheets, comparison)
        if (display := pareto_of(comparison)) is not None:
            sheets.paragraph(PARETO, 7.5, color=GREY)
            sheets.figure(display, 110.0, 70.0)
        _draw_metrics(sheets, comparison)
        for name, result in comparison.items():
            if said := result.verdict().sentence:
                sheets.heading(f"Privacy of {name}", 9.5)
                sheets.paragraph(said)
        for i, (name, result) in enumerate(comparison.items()):
            # what was done is the same for all
            for shown in provenance_tables(result) if i == 0 else provenance_tables(result)[1:2]:
                sheets.table(shown._replace(title=f"{name}: {shown.title.lower()}"))
        date = next((r.provenance.date for r in comparison.values() if r.provenance), "")
        about = {"Title": title, "Author": "skeval", "Subject": date, "CreationDate": None}
        return sheets.write(path, title, about)


def _draw_standing(sheets: Sheets, comparison: Comparison) -> None:
    standing, scores = comparison.standing(), comparison.scores()
    rows = []
    for facet in standing.index:
        said = [str(standing.loc[facet, name]) for name in comparison]
        means = [scores.loc[n, facet] if facet in scores else math.nan for n in comparison]
        cells = [
            s if math.isnan(m) else f"{s} ({number(m)})" for s, m in zip(said, means, strict=True)
        ]
        rows.append((_NAMES[facet], *cells))
    share = 0.84 / len(comparison)
    widths = (0.16, *[share] * len(comparison))
    sheets.table(TextTable("", ("Facet", *comparison), widths, rows))


def _draw_metrics(sheets: Sheets, comparison: Comparison) -> None:
    sheets.heading("Metric by metric")
    sheets.paragraph(HOW_TO_COMPARE, 7.5, color=GREY)
    rows = []
    for name, row in comparison.frame().iterrows():
        values = [number(row[one]) for one in comparison]
        ahead = f"{row['ahead']} ahead" if row["ahead"] else ""
        told = "; ".join(filter(None, [ahead, comparison.told(str(name))]))
        rows.append((str(name), *values, number(row["baseline"]), told))
    share = 0.4 / (len(comparison) + 1)
    widths = (0.22, *[share] * (len(comparison) + 1), 0.38)
    sheets.table(TextTable("", ("Metric", *comparison, "Baseline", "Told apart"), widths, rows))


def sizes(comparison: Comparison) -> str:
    """Say how many rows each table has."""
    held = next(iter(comparison.values())).sizes
    rows: dict[str, int] = {role: held[role] for role in ("train", "holdout") if role in held}
    rows |= {name: result.sizes.get("synthetic", 0) for name, result in comparison.items()}
    return ", ".join(f"{name} {n:,} rows" for name, n in rows.items())


def comparison_body(comparison: Comparison) -> str:
    """Return what stands on the page below its title."""
    return "\n".join(filter(None, _parts(comparison)))


def _parts(comparison: Comparison) -> Iterator[str]:
    yield f'<p class="lead">{escape(comparison.sentence)}</p>'
    yield _section("standing", "Which table", _standing(comparison), _pareto(comparison))
    how = f'<p class="quiet">{escape(HOW_TO_COMPARE)}</p>'
    yield _section("metrics", "Metric by metric", how, _metrics(comparison))
    if lacking := comparison.lacking():
        heads = ("Metric", *comparison)
        rows = [
            [text_cell(name), *(text_cell(why.get(t, "measured")) for t in comparison)]
            for name, why in lacking.items()
        ]
        yield _section("lacking", "Not measured in all tables", table(heads, rows, "text"))
    yield _section("differences", "Differences and their intervals", _differences(comparison))
    said = [
        f"<h3>{escape(name)}</h3>\n<p>{escape(result.verdict().sentence)}</p>"
        for name, result in comparison.items()
        if result.verdict().sentence
    ]
    if said:
        yield _section("leaks", "What was found on privacy", *said)
    for i, (name, result) in enumerate(comparison.items()):
        yield provenance_html(result, f"Provenance of {name}", f"provenance-{i + 1}")


def _section(anchor: str, title: str, *parts: str) -> str:
    inner = "\n".join(filter(None, parts))
    return f'<section id="{anchor}">\n<h2>{escape(title)}</h2>\n{inner}\n</section>'


def _standing(comparison: Comparison) -> str:
    standing, scores = comparison.standing(), comparison.scores()
    rows = []
    for facet in standing.index:
        cells = [text_cell(_NAMES[facet])]
        for name in comparison:
            said = str(standing.loc[facet, name])
            score = scores.loc[name, facet] if facet in scores else math.nan
            mean = "" if np.isnan(score) else f"<br><small>mean score {number(score)}</small>"
            kind = "alarm" if said == "leak found" else ""
            cells.append(Cell(escape(said) + mean, None, kind))
        rows.append(cells)
    return table(("Facet", *comparison), rows, sortable=False)


def pareto_of(comparison: Comparison) -> ParetoDisplay | None:
    """Return the tables by two facets: privacy, and utility, or else fidelity."""
    scores = comparison.scores()
    others = [facet for facet in ("utility", "fidelity", "diagnostic") if facet in scores]
    axes = [*others[:1], "privacy"] if "privacy" in scores else others[:2]
    return ParetoDisplay(scores, axes[0], axes[1], named="all") if len(axes) > 1 else None


def _pareto(comparison: Comparison) -> str:
    display = pareto_of(comparison)
    if display is None:
        return ""
    buffer = io.BytesIO()
    save(display.untitled(), buffer, "svg")
    drawn = embedded(buffer.getvalue().decode("utf-8"), "Tables by two facets")
    return f"<figure>\n<figcaption><small>{PARETO}</small></figcaption>\n{drawn}\n</figure>"


def _metrics(comparison: Comparison) -> str:
    heads = ("Metric", "Good", *comparison, "Baseline", "Ahead", "Behind")
    frame = comparison.frame()
    return table(heads, [_metric(comparison, str(name), row) for name, row in frame.iterrows()])


def _metric(comparison: Comparison, name: str, row: pd.Series[Any]) -> list[Cell]:
    tags = next((r[name].tags for r in comparison.values() if name in r), None)
    cells = [text_cell(name), text_cell(_GOOD[tags.sign if tags is not None else 0])]
    for one in comparison:
        result = comparison[one].get(name)
        alarm = name in comparison[one].verdict().alarms
        value = math.nan if result is None else result.value
        interval = shown_interval(result.interval if result else None)
        shown = f"{number(value)}<br><small>{interval}</small>"
        cells.append(Cell(shown, float(value), "n alarm" if alarm else "n"))
    tie = "" if row["ahead"] or row["behind"] else comparison.told(name)
    return [
        *cells,
        Cell(number(row["baseline"]), float(row["baseline"]), "n"),
        text_cell(row["ahead"] or tie),
        text_cell(row["behind"]),
    ]


def _differences(comparison: Comparison) -> str:
    heads = ("Metric", "Tables", "Difference", "95% interval", "Noise", "Ahead")
    rows = [
        [
            text_cell(row.metric),
            text_cell(f"{row.first} \N{MINUS SIGN} {row.second}"),
            Cell(number(row.difference), float(row.difference), "n"),
            Cell(
                "" if math.isnan(row.low) else shown_interval((row.low, row.high)),
                float(row.low),
                "n",
            ),
            text_cell(row.interval),
            text_cell(row.ahead or row.said),
        ]
        for row in comparison.differences.itertuples(index=False)
    ]
    return table(heads, rows, "text")
