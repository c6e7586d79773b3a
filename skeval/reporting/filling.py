"""How sections of a report are filled: figures and tables made of results, the worst first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skeval.exceptions import InvalidParameterError
from skeval.reporting.decision import titles_of
from skeval.reporting.flaws import worst_columns
from skeval.reporting.layout import BIVARIATE, Grid, Item, Listed, Part, Words
from skeval.reporting.old_displays.attacks import AttacksDisplay
from skeval.reporting.old_displays.base import Display
from skeval.reporting.old_displays.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.old_displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.old_displays.relations import CardinalityDisplay, keys_by_score
from skeval.reporting.old_displays.values import (
    ColumnScoresDisplay,
    ScoresDisplay,
    ValueDisplay,
    display_of,
)
from skeval.reporting.scores import (
    UNREADABLE,
    entries,
    matrix_of,
    names_of,
    number_of,
    numbers_of,
    reason,
    shown_difference,
)
from skeval.reporting.style import finding, judged
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import is_shifted
from skeval.utils.formatting import format_count, number, percent

Filled = tuple[tuple[Item, ...], str]  # figures, and a note on their choice

_MAX_COEFFICIENTS = 20
_MAX_FLAWED = 10  # columns in the list of the worst
_MAX_FLAWS = 7  # lines of each
_MAX_PAIRS = 5  # of columns in a list
_MIN_PAIRS = 9  # drawn, however well all of them agree
_MAX_BARS, _MAX_FEW_BARS = 120, 40  # as those of every pair of columns of two tables
_TIMES = " \N{MULTIPLICATION SIGN} "
_LENGTHS = (
    "Share of texts by their length: filled train, dashed holdout, a line the synthetic table. The "
    "outer bars hold what lies beyond."
)


def each_display(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw each result by its display."""
    items = []
    titles = titles_of(SuiteResult(results))
    for name, result in _drawable(results).items():
        whose = "real rows" if aspect_of(result) == "utility" else "fresh real rows"
        fresh = "" if result.baseline is None else f", {whose} {number(result.baseline)}"
        heading = f"{titles[name]}: {number(result.value)}{fresh}"
        items.append(Item(display_of(result), heading, finding(result)))
    return tuple(items), ""


def bars(
    results: Mapping[str, Result], columns: Any, most: int = _MAX_BARS, few: int = _MAX_FEW_BARS
) -> Filled:
    """Draw the scores of columns; of more than a report can show, those that are worst."""
    items = []
    for item in each_display(results, columns)[0]:
        result = item.display.result
        scores = numbers_of(result.details, "columns")
        if len(scores) > most:
            sign = -1 if result.tags is not None and result.tags.sign < 0 else 1
            defined = {n: s for n, s in scores.items() if not math.isnan(s)}
            worst = sorted(defined, key=lambda name: sign * scores[name])[:few]
            details = {**result.details, "columns": {name: scores[name] for name in worst}}
            shown = replace(result, details=details)
            note = f"{item.caption} Shown are the worst {len(worst)} of {len(scores):,}."
            item = replace(item, display=type(item.display)(shown), caption=note)
        items.append(item)
    return tuple(items), ""


def mended(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw the columns with which most is wrong, and say what is."""
    marginals = _marginals(_with(results, "marginals"))
    worst = worst_columns(SuiteResult(results))
    items: list[Item] = []
    for place, found in worst.items():
        column = found[0].column
        if column in marginals and len(items) < _MAX_FLAWED:
            said = list(dict.fromkeys(flaw.text for flaw in found))
            more = len(said) - _MAX_FLAWS
            lines = [*said[:_MAX_FLAWS], *([f"and {more} more"] if more > 0 else [])]
            display = MarginalDisplay(column, marginals[column])
            items.append(Item(display, place, "\n".join(lines)))
    note = f"Shown are {len(items):,} of {len(worst):,}." if len(worst) > len(items) else ""
    return tuple(items), note


def curves(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw curves of models first, then what has bars."""
    items = bars(results, columns, _MAX_COEFFICIENTS, _MAX_COEFFICIENTS)[0]
    last = [item for item in items if isinstance(item.display, ColumnScoresDisplay)]
    return (*(item for item in items if item not in last), *last), ""


def checked(results: SuiteResult) -> tuple[Part, ...]:
    """Write a row for each check of columns, types and values that falls short, and name others."""
    titles, rows, best_of = titles_of(results), [], list[str]()
    for name, result in results.items():
        if result.error or math.isnan(result.value):
            continue
        scores = numbers_of(result.details, "columns")
        sign = result.tags.sign if result.tags else 1
        best = (max if sign >= 0 else min)(result.tags.bounds) if result.tags else math.inf
        if result.value == best:
            best_of.append(titles[name])
            continue
        short = {n: s for n, s in scores.items() if sign * (best - s) > 0}
        worst = sorted(short, key=lambda n: sign * short[n])
        said = ", ".join(f"{n} {number(short[n])}" for n in worst[:_MAX_FLAWS])
        more = f" and {len(worst) - _MAX_FLAWS} more" if len(worst) > _MAX_FLAWS else ""
        rows.append((titles[name], number(result.value), number(result.baseline), said + more))
    heads = ("Check", "Value", "Fresh real rows", "Columns short of the best value")
    table = Grid(heads, tuple(rows), (0.27, 0.08, 0.16, 0.49), (1, 2))
    fine = Words(f"At their best value: {', '.join(best_of)}.")
    return (*((fine,) if best_of else ()), *((table,) if rows else ()))


def rows_against_real(results: SuiteResult) -> tuple[Part, ...]:
    """Write a row for each metric: value and what real rows get; scores say what it means."""
    titles, rows = titles_of(results), []
    for name, result in results.items():
        if not result.error and not math.isnan(result.value):
            numbers = number(result.value), number(result.baseline), shown_difference(result)
            rows.append((titles[name], *numbers))
    heads = ("Metric", "Value", "Real rows", "Difference (95%)")
    table = Grid(heads, tuple(rows), (0.46, 0.14, 0.14, 0.26), (1, 2, 3))
    targets = dict.fromkeys(
        str(r.details["target"]) for r in results.values() if "target" in r.details
    )
    named = (Words(f"Target: {', '.join(targets)}."),) if targets else ()
    return (*named, table) if rows else ()


def worst_pairs(results: SuiteResult) -> tuple[Part, ...]:
    """Write the pairs of columns of a matrix that agree least, or that change most."""
    parts = []
    for result in _drawable(results).values():
        display = display_of(result)
        if not isinstance(display, SimilarityMatrixDisplay | PhikMatricesDisplay):
            continue
        rows = tuple(
            (_TIMES.join(map(str, row[:2])), *map(number, row[2:]))
            for row in display.worst_pairs(_MAX_PAIRS).itertuples(index=False)
        )
        if rows:
            heads, widths = ("Columns", *display.heads), (0.46, 0.2, 0.17, 0.17)
            parts.append(Grid(heads, rows, widths, (1, 2, 3), (), display.title))
    return tuple(parts)


def cautions(results: SuiteResult, left_out: Mapping[str, str]) -> tuple[Part, ...]:
    """List the metrics and sections left out, and the warnings: those of the tables come first."""
    reasons = [f"{name}: {result.error}" for name, result in results.items() if result.error]
    for why in dict.fromkeys(left_out.values()):
        titles = [repr(title) for title, reason in left_out.items() if reason == why]
        several = "s" if len(titles) > 1 else ""
        reasons.append(f"Section{several} {', '.join(titles)}: {why}")
    warnings = [str(notice) for notice in results.notices]
    for name, result in results.items():
        if not result.error:
            warnings += [f"{name}: {warning}" for warning in result.warnings]
    warnings = list(dict.fromkeys(warnings))
    return Listed("Left out", tuple(reasons)), Listed("Warnings", tuple(warnings))


def disclosed(results: SuiteResult) -> tuple[Part, ...]:
    """Write a row for each measure of how rows stand out by known attributes."""
    verdict, shifted, titles = results.verdict(), is_shifted(results.notices), titles_of(results)
    rows = tuple(
        (
            titles[n],
            number(r.value),
            number(r.baseline),
            judged(r, verdict, n, shifted),
            " ".join(filter(None, (r.summary, reason(r)))),
        )
        for n, r in results.items()
        if not r.error and not math.isnan(r.value)
    )
    heads = ("Metric", "Value", "Fresh real rows", "Verdict", "Finding")
    return (Grid(heads, rows, (0.2, 0.08, 0.13, 0.17, 0.42), (1, 2)),) if rows else ()


def attacked(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw attacks, and say how many are not drawn."""
    items = []
    for item in each_display(results, columns)[0]:
        if isinstance(item.display, AttacksDisplay) and item.display.left_out:
            n = len(item.display.attacks)
            note = f"{item.caption} Shown are the {n} with the largest risks."
            item = replace(item, caption=note)
        items.append(item)
    return tuple(items), ""


def nothing(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw nothing: the section has tables only."""
    return (), ""


def cardinalities(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw the children of each foreign key that has several bars."""
    items = []
    for item in each_display(results, columns)[0]:
        result = item.display.result
        for key in keys_by_score(result):
            if len(result.details["histograms"][key]["starts"]) > 1:
                score = number(numbers_of(result.details, "columns").get(key))
                items.append(Item(CardinalityDisplay(result, key=key), key, f"score {score}"))
        items = items or [item]
    return tuple(items), ""


def _drawable(results: Mapping[str, Result]) -> dict[str, Result]:
    """Return the results that have a figure; an undefined value has none."""
    return {
        name: result
        for name, result in results.items()
        if not math.isnan(result.value) and type(display_of(result)) is not ValueDisplay
    }


def _has(result: Result, key: str) -> bool:
    return bool(_pairs(result.details) if key == "pairs" else _marginals(result.details))


def _readable(make: Callable[[Any], Display], given: Any) -> bool:
    """Return whether a display of this can be drawn: details may have another form."""
    try:
        make(given).check()
    except UNREADABLE:
        return False
    return True


def _marginals(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can be drawn of columns, by name."""
    given = entries(details, "marginals")
    return {n: one for n, one in given.items() if _readable(partial(MarginalDisplay, n), one)}


def _pairs(details: Mapping[str, Any]) -> list[Any]:
    """Return what can be drawn of pairs of columns."""
    given = details.get("pairs")
    return (
        [one for one in given if _readable(PairDisplay, one)]
        if isinstance(given, list | tuple)
        else []
    )


def _with(results: Mapping[str, Result], key: str) -> Mapping[str, Any]:
    """Return the details of the first result that has some entries there."""
    return next((r.details for r in _drawable(results).values() if _has(r, key)), {})


def among(names: Sequence[str], chosen: int | Sequence[str] | None) -> list[str]:
    """Return the first `chosen` names, or those chosen, in the order chosen."""
    if chosen is None:
        return list(names)
    if isinstance(chosen, int):
        return list(names)[:chosen]
    return [name for name in chosen if name in names]


def univariate(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw the chosen columns, each by itself."""
    details = _with(results, "marginals")
    marginals = _marginals(details)
    names = among(list(marginals), getattr(columns, "univ", None))
    notes = [_agreement(details, name) for name in names]
    items = tuple(
        Item(MarginalDisplay(name, marginals[name], note=note), name, note)
        for name, note in zip(names, notes, strict=True)
    )
    note = "" if len(names) == len(marginals) else f"{len(names):,} of {len(marginals):,} columns."
    return items, note


def undrawn(items: Sequence[Item], drawn: Sequence[Item]) -> Filled:
    """Return the figures of columns without those that are drawn already, and say so."""
    known = {one.display.name for one in drawn if isinstance(one.display, MarginalDisplay)}
    left = tuple(
        one
        for one in items
        if not (isinstance(one.display, MarginalDisplay) and one.display.name in known)
    )
    n_gone = len(items) - len(left)
    return left, f"{n_gone:,} more are drawn among the columns to mend." if n_gone else ""


def _agreement(details: Mapping[str, Any], name: str) -> str:
    score, fresh = (
        numbers_of(details, key).get(name, math.nan) for key in ("columns", "baseline_columns")
    )
    if math.isnan(score):
        return ""
    fresh_rows = "" if math.isnan(fresh) else f", fresh {number(fresh)}"
    return f"similarity {number(score)}{fresh_rows}"


def bivariate(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw the pairs of columns that were chosen, or that have something to show."""
    details, asked = _with(results, "pairs"), getattr(columns, "biv", None)
    names = set(among(names_of(details), asked))
    pairs = _among_pairs(details, asked)
    n_given = number_of(details.get("n_pairs", 0))
    n_all = int(min(n_given if n_given >= 0 else 0, len(names) * (len(names) - 1) // 2))
    by_name = getattr(columns, "pairs", None) == "all" or not isinstance(asked, int | None)
    drawn = pairs if by_name else _telling(details, pairs)
    n_left = len(pairs) - len(drawn)
    note = f"{len(drawn):,} of {format_count(n_all, 'pair')}, those that agree least first."
    if len(pairs) < n_all:
        how = "half agree least, half are most associated"
        note = f"{len(pairs):,} of {n_all:,} pairs: {how}."
    if n_left:
        note += f" {n_left:,} are not drawn: they agree as two samples of real rows would."
    return tuple(map(_pair_item, drawn)), note


def every_pair(results: Mapping[str, Result], columns: Any) -> tuple[Item, ...]:
    """Draw all pairs of the chosen columns that the results hold."""
    pairs = _among_pairs(_with(results, "pairs"), getattr(columns, "biv", None))
    return tuple(map(_pair_item, pairs))


def _among_pairs(details: Mapping[str, Any], asked: int | Sequence[str] | None) -> list[Any]:
    names = set(among(names_of(details), asked))
    return [pair for pair in _pairs(details) if set(map(str, pair["columns"])) <= names]


def _telling(details: Mapping[str, Any], pairs: Sequence[Any]) -> list[Any]:
    """Return the pairs that agree less than two samples of the real rows, and a few others.

    The others are the most associated in train: that they are kept is worth a look.
    """
    names = names_of(details)
    ceiling = matrix_of(details, "ceiling", len(names))
    if ceiling is None:
        return list(pairs)

    def gap(pair: Any) -> float:
        i, j = (names.index(str(name)) for name in pair["columns"])
        return float(ceiling[i, j]) - number_of(pair.get("score"))

    short = [pair for pair in pairs if not gap(pair) <= 0.0]
    fine = [pair for pair in pairs if gap(pair) <= 0.0]
    # what is no number would leave the others in no order
    fine.sort(key=lambda pair: -np.nan_to_num(number_of(pair.get("association"))))
    n_fine = max(_MIN_PAIRS - len(short), -len(short) % BIVARIATE.per_row)
    return [*short, *fine[:n_fine]]


def _pair_item(pair: Mapping[str, Any]) -> Item:
    display = PairDisplay(pair)
    first, second = display.columns
    score, share = number(number_of(pair.get("score"))), percent(display.darkest())
    caption = f"similarity {score}; darkest cell: {share} of rows"
    return Item(display, f"{first}{_TIMES}{second}", caption)


def texts(results: Mapping[str, Result], columns: Any) -> Filled:
    """Draw all rates, then the lengths of texts, then what has a figure of its own."""
    measured = {name: result for name, result in results.items() if not math.isnan(result.value)}
    if not measured:
        return (), ""
    items = [Item(ScoresDisplay(SuiteResult(measured)), "Texts in numbers")]
    for name, result in measured.items():
        for column, marginal in _marginals(result.details).items():
            heading = f"{name}: {column}"
            items.append(Item(MarginalDisplay(column, marginal), heading, _LENGTHS))
    drawn = {
        name: result
        for name, result in measured.items()
        if not isinstance(display_of(result), ColumnScoresDisplay)
    }
    return (*items, *each_display(drawn, columns)[0]), ""


def aspect_of(result: Result) -> str:
    """Return the aspect of a metric of one table; those between tables have their own figures."""
    if result.tags is None or "relational" in result.tags.needs:
        return ""
    return result.tags.aspect


def display_name(result: Result) -> str:
    """Return the name of the display of a result."""
    return result.tags.display if result.tags is not None else "ValueDisplay"


def sizes_of(suite_result: SuiteResult) -> str:
    """Say how many rows there are, and how many tables or columns were compared."""
    sizes = [f"{role} {n:,} rows" for role, n in suite_result.sizes.items()]
    for result in suite_result.values():
        if display_name(result) == "SchemaDisplay":
            return ", ".join([*sizes, f"{len(entries(result.details, 'tables')):,} tables"])
    n_columns = max([0, *(len(names_of(r.details)) for r in suite_result.values())])
    if n_columns:
        sizes.append(f"{n_columns:,} columns")
    return ", ".join(sizes)


def chosen(sections: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Return the sections asked for, all if None; raise if one is not known."""
    known = list(known)
    asked = known if sections is None else list(sections)
    if unknown := [name for name in asked if name not in known]:
        raise InvalidParameterError(
            f"sections must be among {', '.join(known)}, got {', '.join(unknown)}."
        )
    return asked


def needs_of(result: Result) -> frozenset[str]:
    """Return what a metric needs."""
    return frozenset(result.tags.needs if result.tags is not None else ())
