"""The page on pairs of columns and on all associations."""

from __future__ import annotations

import numpy as np

from skeval.reporting.document.blocks import (
    Block,
    Headline,
    Page,
    Paragraphs,
    Picture,
    PictureRow,
    PictureRows,
)
from skeval.reporting.document.drawings.heat_map import AMOUNT, STRENGTH, HeatMap
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.pairs import Associations, PairMap, find_associations, find_pairs
from skeval.reporting.document.sentences import pairs as say
from skeval.reporting.document.shortening import shorten_name
from skeval.reporting.document.spans import Text, plain

N_PAIRS, N_REVERSED = 6, 3
MAX_LABELS, MAX_NAME = 24, 14


def pairs_page(found: Findings, facts: tuple[Text, ...]) -> Page | None:
    """Return the page on pairs; None if no pair was compared."""
    pairs = find_pairs(found.results)[:N_PAIRS]
    associations = find_associations(found.results)
    if not pairs and associations is None:
        return None
    worst = pairs[0] if pairs else None
    title, deck = say.pairs_title(found.fidelity), say.pairs_deck(found.fidelity, worst)
    blocks: list[Block] = [Headline("headline", None, title, deck, facts)]
    if pairs:
        rows = tuple(map(pair_row, pairs))
        blocks.append(PictureRows("pairs", "The least similar pairs", say.PAIRS_NOTE, rows))
    if found.reversed_orders:
        shown = found.reversed_orders[:N_REVERSED]
        said = tuple(say.reversed_sentence(one, found.noun) for one in shown)
        blocks.append(Paragraphs("reversed", "Order reversed", said))
    if associations is not None:
        blocks.append(draw_associations(associations))
    return Page("pairs", "Fidelity: pairs", tuple(blocks))


def pair_row(pair: PairMap) -> PictureRow:
    """Return the three maps of a pair, and its similarity in words."""
    words = plain(say.pair_title(pair))
    # rows run across, and columns from the bottom up
    real, synthetic = pair.real.T[::-1], pair.synthetic.T[::-1]
    n = len(real)
    framed = tuple((n - 1 - j, i) for i, j in pair.invented)
    what = f"Joint distribution of {words}"
    pictures = _three(real, synthetic, AMOUNT, None, what, framed)
    return PictureRow(say.pair_title(pair), say.pair_sentence(pair), pictures)


def draw_associations(associations: Associations, title: str = "Associations") -> PictureRows:
    """Return the matrices of real and synthetic rows, and their difference."""
    real, synthetic = associations.real, associations.synthetic
    pictures = _three(real, synthetic, STRENGTH, 1.0, "Associations of all pairs of columns")
    note = say.associations_note(associations)
    labels = tuple(shorten_name(one, MAX_NAME) for one in associations.names)
    row = PictureRow((), (), pictures)
    shown = labels if len(labels) <= MAX_LABELS else ()
    return PictureRows("associations", title, note, (row,), shown)


def _three(
    real: np.ndarray,
    synthetic: np.ndarray,
    color: str,
    top: float | None,
    what: str,
    framed: tuple[tuple[int, int], ...] = (),
) -> tuple[Picture, ...]:
    """Return real rows, synthetic rows and their difference."""
    largest = top or _largest(np.stack([real, synthetic]))
    change = np.nan_to_num(synthetic) - np.nan_to_num(real)
    change[np.isnan(real) & np.isnan(synthetic)] = np.nan
    drawn = HeatMap(synthetic.tolist(), largest, color, framed=framed).to_svg()
    difference = HeatMap(change.tolist(), top or _largest(change), is_difference=True).to_svg()
    return (
        Picture("Real", HeatMap(real.tolist(), largest, color).to_svg(), f"{what}: real rows."),
        Picture("Synthetic", drawn, f"{what}: synthetic rows."),
        Picture("Difference", difference, f"{what}: synthetic minus real rows."),
    )


def _largest(values: np.ndarray) -> float:
    return float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
