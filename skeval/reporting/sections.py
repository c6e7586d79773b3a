"""What a report shows, in which order: the same for paper, page and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.formatting import number, percent
from skeval.reporting.displays import (
    ColumnScoresDisplay,
    MarginalDisplay,
    PairDisplay,
    ScoresDisplay,
    ValueDisplay,
    display_of,
)
from skeval.reporting.drawing import Drawing
from skeval.reporting.findings import finding
from skeval.reporting.wording import INTROS, TITLES
from skeval.result import Result, SuiteResult

__all__ = ["SECTIONS", "Item", "Plan", "Section", "plan"]

SECTIONS = tuple(TITLES)

_BY_DISPLAY = {
    "similarity": "SimilarityMatrixDisplay",
    "columns": "ColumnScoresDisplay",
    "distances": "DistancesDisplay",
    "proximity": "ProximityDisplay",
    "accumulation": "MDADisplay",
    "membership": "ROCDisplay",
    "phik": "PhikMatricesDisplay",
    "univariate": "SimilarityMatrixDisplay",
    "bivariate": "SimilarityMatrixDisplay",
}
# of metrics that few suites have; not missed without them
_ON_REQUEST = frozenset({"accumulation", "membership"})


@dataclass(frozen=True)
class Item:
    """One figure of a section: what draws it, its heading and what stands below that."""

    display: Drawing
    heading: str
    caption: str = ""
    result: Result | None = None


@dataclass(frozen=True)
class Section:
    """A chapter: its figures, what they show and which of them were left out."""

    key: str
    items: tuple[Item, ...]
    note: str = ""

    @property
    def title(self) -> str:
        """Return the heading."""
        return TITLES[self.key]

    @property
    def intro(self) -> str:
        """Return what it shows."""
        return " ".join(text for text in (INTROS.get(self.key, ""), self.note) if text)


@dataclass(frozen=True)
class Plan:
    """All chapters, and why others are not there, by title."""

    suite_result: SuiteResult
    sections: tuple[Section, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


def plan(
    suite_result: SuiteResult, columns: Any = None, sections: Iterable[str] | None = None
) -> Plan:
    """Return what a report shows.

    Parameters
    ----------
    suite_result : SuiteResult
        Of any suite.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose columns: the first so many or a list of names; all otherwise.
    sections : iterable of str, optional
        Among :data:`SECTIONS`; all that the results allow otherwise.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidParameterError
        If there is no such section.

    Examples
    --------
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting.sections import plan
    >>> [section.key for section in plan(SuiteResult({"a": Result(0.5)})).sections]
    ['scores']
    """
    chosen = SECTIONS if sections is None else tuple(sections)
    if unknown := [key for key in chosen if key not in SECTIONS]:
        raise InvalidParameterError(
            f"sections must be among {', '.join(SECTIONS)}, got {', '.join(unknown)}."
        )
    made, left_out = [], {}
    for key in (key for key in SECTIONS if key in chosen):
        section = _section(key, suite_result, columns)
        if section.items or key == "scores":
            made.append(section)
        elif key not in _ON_REQUEST or key in (sections or ()) or _measures(key, suite_result):
            left_out[section.title] = _reason(key, suite_result)
    return Plan(suite_result, tuple(made), left_out)


def _section(key: str, suite_result: SuiteResult, columns: Any) -> Section:
    if key == "scores":
        return Section(key, (Item(ScoresDisplay(suite_result), "All scores"),))
    found = _of_display(suite_result, _BY_DISPLAY[key])
    if key == "univariate":
        return _univariate(found, getattr(columns, "univ", None))
    if key == "bivariate":
        return _bivariate(found, getattr(columns, "biv", None))
    return Section(key, tuple(_item(name, result) for name, result in found.items()))


def _of_display(suite_result: SuiteResult, display: str) -> dict[str, Result]:
    """Return the results that a kind of display can draw; an undefined value is no result."""
    named = {
        name: r
        for name, r in suite_result.items()
        if r.tags is not None and r.tags.display == display
    }
    return {
        name: r
        for name, r in named.items()
        if not math.isnan(r.value) and not isinstance(display_of(r), ValueDisplay)
    }


def _item(name: str, result: Result) -> Item:
    baseline = "" if result.baseline is None else f", fresh real rows {number(result.baseline)}"
    return Item(
        display_of(result), f"{name}: {number(result.value)}{baseline}", finding(result), result
    )


def _measures(key: str, suite_result: SuiteResult) -> bool:
    named = (r.tags.display for r in suite_result.values() if r.tags is not None)
    return _BY_DISPLAY[key] in named


def _reason(key: str, suite_result: SuiteResult) -> str:
    display = _BY_DISPLAY[key]
    for name, result in suite_result.items():
        if result.tags is not None and result.tags.display == display:
            why = result.error or " ".join(str(w) for w in result.warnings)
            return f"{name}: {why}" if why else f"{name} kept nothing of it to draw"
    return "not measured by this suite"


def _with(found: Mapping[str, Result], key: str) -> Mapping[str, Any]:
    """Return the details of the first result that has some entries there."""
    return next((r.details for r in found.values() if r.details.get(key)), {})


def among(names: Sequence[str], chosen: int | Sequence[str] | None) -> list[str]:
    """Return the first so many of the names, or those that are chosen, in the order chosen."""
    if chosen is None:
        return list(names)
    if isinstance(chosen, int):
        return list(names)[:chosen]
    return [name for name in chosen if name in names]


def _univariate(found: Mapping[str, Result], chosen: int | Sequence[str] | None) -> Section:
    details = _with(found, "marginals")
    marginals = details.get("marginals", {})
    names = among(list(marginals), chosen)
    items = tuple(
        Item(
            MarginalDisplay(name, marginals[name], note=_agreement(details, name)),
            name,
            _agreement(details, name),
        )
        for name in names
    )
    note = "" if len(names) == len(marginals) else f"{len(names):,} of {len(marginals):,} columns."
    return Section("univariate", items, note)


def _agreement(details: Mapping[str, Any], name: str) -> str:
    score, fresh = (
        details.get(key, {}).get(name, math.nan) for key in ("columns", "baseline_columns")
    )
    beside = f", fresh real rows {number(fresh)}" if number(fresh) != number(None) else ""
    return f"similarity {number(score)}{beside}" if number(score) != number(None) else ""


def _bivariate(found: Mapping[str, Result], chosen: int | Sequence[str] | None) -> Section:
    details = _with(found, "pairs")
    names = set(among(list(details.get("names", [])), chosen))
    pairs = [pair for pair in details.get("pairs", []) if set(pair["columns"]) <= names]
    n_all = min(int(details.get("n_pairs", 0)), len(names) * (len(names) - 1) // 2)
    items = tuple(_pair_item(pair) for pair in pairs)
    if len(pairs) >= n_all:
        return Section(
            "bivariate", items, f"All {len(pairs):,} pairs, those that agree least first."
        )
    how = "half that agree least, half most strongly associated in train"
    note = f"{len(pairs):,} of {n_all:,} pairs: {how}."
    return Section("bivariate", items, note)


def _pair_item(pair: Mapping[str, Any]) -> Item:
    display = PairDisplay(pair)
    first, second = display.columns
    score, share = number(pair.get("score")), percent(display.darkest())
    caption = f"similarity {score}; darkest cell: {share} of rows"
    return Item(display, f"{first} \N{MULTIPLICATION SIGN} {second}", caption)


def in_parts(section: Section, rows: int) -> Section:
    """Return the section with the column scores in pieces of at most so many bars."""
    return Section(
        section.key,
        tuple(part for item in section.items for part in _parts(item, rows)),
        section.note,
    )


def _parts(item: Item, rows: int) -> Iterable[Item]:
    display = item.display
    if not isinstance(display, ColumnScoresDisplay) or len(display.frame()) <= rows:
        return [item]
    n = len(display.frame())
    return [
        Item(
            ColumnScoresDisplay(display.result, start=start, stop=start + rows),
            f"{item.heading} (columns {start + 1} to {min(start + rows, n)} of {n})",
            item.caption if start == 0 else "",
            item.result,
        )
        for start in range(0, n, rows)
    ]
