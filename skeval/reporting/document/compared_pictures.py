"""The drawings of a comparison, which are tables by two mean scores and maps of all tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skeval.reporting.document.blocks import Block, Figure, Picture, PictureRow, PictureRows
from skeval.reporting.document.compared import ComparedFindings
from skeval.reporting.document.details import mapping_at
from skeval.reporting.document.drawings.heat_map import AMOUNT, HeatMap
from skeval.reporting.document.figures import WIDE, draw_display
from skeval.reporting.document.sentences import compared as say
from skeval.reporting.document.shortening import shorten_name

_MAX_NAME = 28
_ROLES = {"train": "Training", "holdout": "Unseen"}
_SAME = 0.01  # fraction of a cell by which the edges of equal maps may differ


def compared_pictures(compared: ComparedFindings) -> Iterator[Block]:
    """Yield the drawings that the results allow."""
    if front := _front(compared):
        yield front
    if maps := _maps(compared):
        yield maps


def _front(compared: ComparedFindings) -> Figure | None:
    """Return the tables by privacy, and by utility or else fidelity."""
    from skeval.reporting.displays.pareto import pareto_of

    display = pareto_of(compared.comparison)
    if display is None or not display.front.any():
        return None
    words = say.front_alternative([str(table) for table in display.front.index[display.front]])
    svg = draw_display(display, WIDE)
    return Figure("front", say.FRONT_TITLE, say.FRONT_NOTE, svg, words)


def _maps(compared: ComparedFindings) -> PictureRows | None:
    """Return the densities of the real tables and of all synthetic ones on one map."""
    for metric in compared.comparison.metrics:
        cells: dict[str, np.ndarray] = {}
        edges: list[np.ndarray] = []
        for table, result in compared.results_of(metric).items():
            maps = mapping_at(result.details, "maps")
            try:
                own = [np.asarray(result.details["edges"][axis], dtype=float) for axis in "xy"]
                real = {_ROLES[one]: maps[one] for one in _ROLES if one in maps}
                named = {**real, shorten_name(table, _MAX_NAME): maps["synthetic"]}
                found = {name: np.asarray(shares, dtype=float) for name, shares in named.items()}
            except (KeyError, TypeError, ValueError):
                continue
            if edges and not _are_same(edges, own):
                continue
            edges = edges or own
            cells = {**found, **cells} if not cells else {**cells, **found}
        if cells:
            return _draw(cells)
    return None


def _are_same(first: list[np.ndarray], second: list[np.ndarray]) -> bool:
    return all(
        a.shape == b.shape and np.allclose(a, b, rtol=0.0, atol=_SAME * abs(a[1] - a[0]))
        for a, b in zip(first, second, strict=True)
    )


def _draw(cells: dict[str, np.ndarray]) -> PictureRows:
    top = max(float(np.nanmax(shares, initial=0.0)) for shares in cells.values()) or 1.0
    pictures = tuple(
        Picture(
            name,
            # small densities would all look empty
            HeatMap(np.sqrt(shares[::-1] / top).tolist(), 1.0, AMOUNT).to_svg(),
            say.map_alternative(name),
        )
        for name, shares in cells.items()
    )
    row = PictureRow((), (), pictures)
    return PictureRows("maps", say.MAPS_TITLE, say.MAPS_NOTE, (row,))
