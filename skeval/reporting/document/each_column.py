"""The part of the appendix with the distribution of each column."""

from __future__ import annotations

from skeval.reporting.document.blocks import Block, Headline, Page, Picture, PictureRow, PictureRows
from skeval.reporting.document.chosen_columns import Columns, choose_names, choose_section
from skeval.reporting.document.distributions import Distribution, find_distributions
from skeval.reporting.document.drawings.category_bars import MAX_BARS, CategoryBars
from skeval.reporting.document.drawings.histogram import Histogram
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.shortening import shorten_name
from skeval.reporting.document.spans import Text, name
from skeval.results.suite_result import SuiteResult

_MAX_NAME = 36  # letters, on two lines


def each_column_page(
    tables: dict[str, SuiteResult], facts: tuple[Text, ...], columns: Columns
) -> Page | None:
    """Return the distributions of the chosen columns of each table; None if there are none."""
    blocks: list[Block] = []
    n_shown = n = 0
    for table, results in tables.items():
        known = {one.column: one for one in find_distributions(results)}
        shown = choose_names(list(known), choose_section(columns, table, "univ"))
        rows = tuple(_row(known[column]) for column in shown)
        if rows:
            blocks.append(PictureRows("distributions", table, (), rows))
        n_shown, n = n_shown + len(rows), n + len(known)
    if not blocks:
        return None
    title, deck = say.each_column_title(n_shown, n), say.EACH_COLUMN_DECK
    head = Headline("headline", None, title, deck, facts)
    return Page("each-column", "Appendix: each column", (head, *blocks))


def _row(one: Distribution) -> PictureRow:
    svg = _draw_categories(one) if one.ends is None else _draw_bins(one)
    picture = Picture("", svg, say.distribution_alternative(one))
    return PictureRow(
        (name(shorten_name(one.column, _MAX_NAME)),), say.distribution_note(one), (picture,)
    )


def _draw_bins(one: Distribution) -> str:
    low, high = one.ends or ("", "")
    return Histogram(one.shares, low, high, one.extra).to_svg()


def _draw_categories(one: Distribution) -> str:
    """Return the most frequent categories, or the pooled categories if all are rare."""
    labels, shares = (one.labels, one.shares) if one.labels else (one.extra_labels, one.extra)
    kept = sorted(sorted(range(len(labels)), key=lambda i: -shares.real[i])[:MAX_BARS])
    return CategoryBars([labels[i] for i in kept], shares.pick(kept)).to_svg()
