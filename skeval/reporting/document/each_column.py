"""The part of the appendix with the distribution of each column."""

from __future__ import annotations

import numpy as np

from skeval.reporting.document.blocks import Block, Headline, Page, Picture, PictureRow, PictureRows
from skeval.reporting.document.chosen_columns import choice_of_table, choose_names
from skeval.reporting.document.columns import Shares
from skeval.reporting.document.distributions import Distribution, find_distributions
from skeval.reporting.document.drawings.category_bars import MAX_BARS, CategoryBars
from skeval.reporting.document.drawings.histogram import Bars, Histogram
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.spans import Text, name
from skeval.results.suite_result import SuiteResult


def each_column_page(
    tables: dict[str, SuiteResult], facts: tuple[Text, ...], columns: object
) -> Page | None:
    """Return the distributions of the chosen columns of each table; None if there are none."""
    blocks: list[Block] = []
    n_shown = n = 0
    for table, results in tables.items():
        known = {one.column: one for one in find_distributions(results)}
        choice = choice_of_table(columns, table)
        shown = choose_names(list(known), choice.univ if choice is not None else None)
        rows = tuple(_row(known[column]) for column in shown)
        if rows:
            blocks.append(PictureRows("distributions", table, (), rows))
        n_shown, n = n_shown + len(rows), n + len(known)
    if not blocks:
        return None
    title, deck = say.each_column_title(n_shown, n), say.each_column_deck()
    head = Headline("headline", None, title, deck, facts)
    return Page("each-column", "Appendix: each column", (head, *blocks))


def _row(one: Distribution) -> PictureRow:
    svg = _draw_categories(one) if one.ends is None else _draw_bins(one)
    picture = Picture("", svg, say.distribution_alternative(one))
    return PictureRow((name(one.column),), say.distribution_note(one), (picture,))


def _draw_bins(one: Distribution) -> str:
    low, high = one.ends or ("", "")
    return Histogram(_bars(one.shares), low, high, _bars(one.beside)).to_svg()


def _bars(shares: Shares) -> Bars:
    return Bars(shares.real, shares.synthetic, shares.unseen)


def _draw_categories(one: Distribution) -> str:
    """Return the most frequent categories as bars, and all others as one bar."""
    labels = [*one.labels, *one.beside_labels]
    tables = [np.array([*one.shares.real, *one.beside.real])]
    tables.append(np.array([*one.shares.synthetic, *one.beside.synthetic]))
    if one.shares.unseen:
        tables.append(np.array([*one.shares.unseen, *one.beside.unseen]))
    if len(labels) > MAX_BARS:
        # the last label of a column with many categories already is "12 others"
        order = np.argsort(-tables[0], kind="stable").tolist()
        order = [i for i in order if not labels[i].endswith(" others")]
        kept = sorted(order[: MAX_BARS - 1])
        labels = [*(labels[i] for i in kept), "others"]
        tables = [np.append(own[kept], own.sum() - own[kept].sum()) for own in tables]
    real, synthetic, *unseen = (own.tolist() for own in tables)
    return CategoryBars(labels, real, synthetic, *unseen).to_svg()
