"""How blocks are placed on pages: below each other, or in two columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, permutations

from skeval.reporting.layout import TOP, Block, Page, Placed

_MAX_ORDERED = 6  # sections in two columns whose orders are tried
_STEP = 15.0  # millimetres that are worth another order


def paged(blocks: Iterable[Block]) -> list[list[Placed]]:
    """Place blocks on pages, on a new one where those that keep together do not fit."""
    # Blocks of half the width fill two columns. A block that begins something, as a section
    # or an entry, goes into the column that ends higher; the others follow the block before
    # them. Sections that follow each other in columns change places where that takes less
    # room.
    sheets = _Sheets()
    for narrow, group in groupby(_runs(blocks), key=lambda run: run[0].half):
        if narrow:
            sheets.fill([list(runs) for _, runs in groupby(group, key=lambda run: run[0].section)])
            continue
        for run in group:
            n_wide = next((i for i, block in enumerate(run) if block.half), len(run))
            sheets.place(run[:n_wide], below=_least(run[n_wide:]))
            if n_wide < len(run):
                sheets.place_half(run[n_wide:])
    return sheets.pages


def _runs(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield blocks that stay on one page together."""
    run: list[Block] = []
    for block in blocks:
        run.append(block)
        if not block.keeps:
            yield run
            run = []
    if run:
        yield run


def _least(run: Sequence[Block]) -> float:
    return sum(block.height if block.least is None else block.least for block in run)


def _orders(n: int) -> Iterator[Sequence[int]]:
    """Yield the orders of n sections in which none moves by more than two places."""
    if n > _MAX_ORDERED:
        yield range(n)
        return
    for order in permutations(range(n)):
        if all(abs(i - place) <= 2 for place, i in enumerate(order)):
            yield order


class _Sheets:
    """Pages that are being filled: where both columns of the last one end."""

    def __init__(self) -> None:
        self.pages: list[list[Placed]] = [[]]
        self.ends = [TOP, TOP]
        self.column = 0

    def place(self, run: Sequence[Block], below: float = 0.0) -> None:
        """Place blocks of the whole width below both columns, with so much room below them."""
        if max(self.ends) + _least(run) + below > Page.floor and self.pages[-1]:
            self._turn(run[0].head)
        self.ends = [max(self.ends)] * 2
        self._put(run, 0)
        self.ends = [self.ends[0]] * 2

    def fill(self, sections: Sequence[Sequence[Sequence[Block]]]) -> None:
        """Place sections in two columns, in the order that takes least room."""
        # No section moves by more than two places, and only where that saves a page or
        # much of one. What goes on with the section above has no heading of its own, and
        # stays below it.
        above = self.pages[-1][-1][2].section if self.pages[-1] else None
        n_fixed = int(sections[0][0][0].section == above)
        ways = []
        for order in _orders(len(sections) - n_fixed):
            way = self._copy()
            for section in (*sections[:n_fixed], *(sections[n_fixed + i] for i in order)):
                for run in section:
                    way.place_half(run)
            ways.append(way)
        vars(self).update(vars(min(ways, key=_Sheets._taken)))

    def _taken(self) -> tuple[int, float, float]:
        """Return pages, where the last one ends, to a step, and the room left on those before."""
        ends = [max(y + height for y, height, _ in page) for page in self.pages[:-1]]
        left = sum(Page.floor - end for end in ends)
        return len(self.pages), round(max(self.ends) / _STEP), round(left / _STEP)

    def _copy(self) -> _Sheets:
        made = _Sheets()
        made.pages = [list(page) for page in self.pages]
        made.ends, made.column = list(self.ends), self.column
        return made

    def place_half(self, run: Sequence[Block]) -> None:
        """Place blocks in a column: in the other one, then on a new page, if there is no room."""
        first = run[0]
        column = self.ends.index(min(self.ends)) if first.begins else self.column
        other = 1 - column
        again = [first.head] if first.head is not None and first.head.half else []
        if self._fits(run, column):
            self._put(run, column)
        elif self._fits([*again, *run], other):
            self._put([*again, *run], other)
        else:
            if self.pages[-1]:
                self._turn(first.head)
            self._put(run, 0)

    def _fits(self, run: Sequence[Block], column: int) -> bool:
        return self.ends[column] + _least(run) <= Page.floor

    def _turn(self, head: Block | None) -> None:
        """Begin a page, with the heading of what is continued on it."""
        self.pages.append([])
        self.ends = [TOP, TOP]
        if head is not None:
            self._put([head], 0)
            if not head.half:
                self.ends = [self.ends[0]] * 2

    def _put(self, run: Sequence[Block], column: int) -> None:
        """Draw blocks in a column, those that can shrink as high as the page allows."""
        y, self.column = self.ends[column], column
        excess = max(0.0, y + sum(block.height for block in run) - Page.floor)
        for block in run:
            given = 0.0 if block.least is None else min(excess, block.height - block.least)
            excess -= given
            shown = replace(block, column=column) if column else block
            self.pages[-1].append((y, block.height - given, shown))
            y += block.height - given
        self.ends[column] = y
