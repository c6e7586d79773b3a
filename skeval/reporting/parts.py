"""What a section says in words: parts that a page of paper and a web page show alike."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """A paragraph; `style` is "" or "quiet", "lead" or "alarm"."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Listed:
    """Texts in a list, below a title."""

    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Parameters
    ----------
    heads : tuple of str
        Of the columns.
    rows : tuple of tuple of str
        As many texts each as there are columns.
    widths : tuple of float
        Of the columns, as shares of the page's.
    numbers : tuple of int
        Which columns end at their right side.
    bold : tuple of int
        Which columns are bold.
    title : str
        Above the table.
    alarms : tuple of int
        Which rows tell of an alarm.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]
    numbers: tuple[int, ...] = ()
    bold: tuple[int, ...] = (0,)
    title: str = ""
    alarms: tuple[int, ...] = ()


@dataclass(frozen=True)
class Form:
    """Boxes to be filled in by hand, named by what goes into them."""

    title: str
    fields: tuple[tuple[str, ...], ...]


Part = Words | Listed | Grid | Form
