"""The part of the appendix with the joint distributions of pairs of columns."""

from __future__ import annotations

from dataclasses import replace

from skeval.reporting.document.blocks import Block, Headline, Page, PictureRow, PictureRows
from skeval.reporting.document.chosen_columns import Columns, choose_pairs, choose_section
from skeval.reporting.document.pairs import PairMap, find_pairs, names_of_pairs
from skeval.reporting.document.pairs_page import pair_row
from skeval.reporting.document.sentences import appendix as say
from skeval.reporting.document.sentences.pairs import PAIRS_NOTE
from skeval.reporting.document.spans import Text
from skeval.results.suite_result import SuiteResult


def each_pair_page(
    tables: dict[str, SuiteResult], facts: tuple[Text, ...], columns: Columns
) -> Page | None:
    """Return the pairs of the chosen columns of each table; None if there are none."""
    blocks: list[Block] = []
    n_shown = n_kept = n = 0
    for table, results in tables.items():
        known, names = find_pairs(results), names_of_pairs(results)
        chosen = choose_section(columns, table, "biv")
        is_all = choose_section(columns, table, "pairs") == "all"
        shown = choose_pairs(known, names, chosen, is_all=is_all)
        if shown:
            note = () if blocks else PAIRS_NOTE
            blocks.append(PictureRows("each-pair", table, note, tuple(map(_row, shown))))
        n_shown, n_kept = n_shown + len(shown), n_kept + len(known)
        n += len(names) * (len(names) - 1) // 2
    if not blocks:
        return None
    title, deck = say.each_pair_title(n_shown, n), say.each_pair_deck(n_kept, n_shown, n)
    head = Headline("headline", None, title, deck, facts)
    return Page("each-pair", "Appendix: pairs of columns", (head, *blocks))


def _row(pair: PairMap) -> PictureRow:
    return replace(pair_row(pair), note=say.pair_note(pair))
