"""Rule that recommends one of several synthetic tables, with its reasons as values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import Any

import pandas as pd

from skeval.core.tags import Quoted
from skeval.results.overall import bounded_score, calibrated_score
from skeval.results.provenance import ColumnRecord, InputRecord, Provenance
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict, aspect_of, is_quoted
from skeval.utils.formatting import as_float

ORDER = ("utility", "fidelity", "privacy", "validity")
"""Order in which aspects count after tables with a leak are excluded."""
HEADLINES: dict[str, tuple[Quoted, ...]] = {
    "utility": ("learning",),
    "fidelity": ("relations", "similarity"),
}
"""Tags `quoted` of the metrics that decide an aspect, if they were evaluated.

If two metrics disagree, the weaker side of a table counts. Therefore the metric decides in which
the table that is behind has the smaller score relative to its baseline.
"""
GOOD_ENOUGH = 0.5
"""Minimum of each headline, as a fraction of the way from a useless table to the baseline."""
_CHANCE = {"roc_auc": 0.5, "roc_auc_ovr": 0.5, "roc_auc_ovo": 0.5, "r2": 0.0}
_NOT_COMPARED = ("no interval", "no value", "no direction")


class Conclusion(Enum):
    """Conclusion of a comparison."""

    TAKE = "take one"
    TIED = "cannot be distinguished"
    OPEN = "each is ahead in something"
    NOT_GOOD_ENOUGH = "none is good enough"
    VIOLATED = "all violate a threshold that was agreed"
    LEAKS = "a leak was found in all"
    INCOMPARABLE = "nothing can be compared"


class Difference(Enum):
    """How the inputs of results differ although they should be equal."""

    CONTENT = "other cells"
    KINDS = "the same file, read with other column types"
    UNKNOWN = "other column types, so that the cells cannot be compared"


@dataclass(frozen=True)
class Mismatch:
    """A role whose table differs between results, and the columns with other types."""

    role: str
    difference: Difference
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lead:
    """One table is ahead of another in an aspect, by a headline or by the majority of metrics.

    `kind` is the subject of the headline, and `against` names a headline that is overruled.
    """

    aspect: str
    better: str
    worse: str
    headline: str
    wins: int
    losses: int
    untold: int
    kind: Quoted = ""
    against: str = ""


@dataclass(frozen=True)
class Shortfall:
    """A table with a headline that is closer to a useless table than to the baseline."""

    table: str
    aspect: str
    metric: str
    value: float
    fresh: float


@dataclass(frozen=True)
class Violation:
    """A table that violates a threshold of its release file."""

    table: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Recommendation:
    """The recommended tables, and why the others are not recommended."""

    outcome: Conclusion
    tables: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    leaking: tuple[str, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    violations: tuple[Violation, ...] = ()


def recommendation(results: Mapping[str, SuiteResult], differences: pd.DataFrame) -> Recommendation:
    """Apply the rule and return the recommendation."""
    # The inputs must be equal. The rule first excludes tables with a leak, then tables that violate
    # a threshold of their release file, and then tables whose headline is closer to a useless table
    # than to the baseline. If two tables remain, the headline of utility decides, and then the
    # headlines of fidelity. A lead by other metrics counts if no other aspect contradicts it.
    leaking = tuple(table for table, one in results.items() if leaks(one.verdict()))
    if different := mismatches(results):
        return Recommendation(Conclusion.INCOMPARABLE, leaking=leaking, mismatches=different)
    clean = [table for table in results if table not in leaking]
    if not clean:
        return Recommendation(Conclusion.LEAKS, leaking=leaking)
    broken = tuple(one for table in clean for one in violations(table, results[table]))
    meeting = [table for table in clean if table not in {one.table for one in broken}]
    short = tuple(one for table in meeting for one in shortfalls(table, results[table]))
    good = [table for table in meeting if table not in {one.table for one in short}]
    compared = combinations(good or meeting or clean, 2)
    found = tuple(one for pair in compared for one in leads(results, differences, *pair))
    if not good:
        outcome = Conclusion.NOT_GOOD_ENOUGH if meeting else Conclusion.VIOLATED
        return Recommendation(outcome, (), found, leaking, short, violations=broken)
    beaten = {w for pair in combinations(good, 2) if (w := _loser(_leads_between(found, pair)))}
    kept = tuple(table for table in good if table not in beaten) or tuple(good)
    among = [one for one in found if {one.better, one.worse} <= set(kept)]
    outcome = Conclusion.TAKE if len(kept) == 1 else Conclusion.OPEN if among else Conclusion.TIED
    return Recommendation(outcome, kept, found, leaking, short, violations=broken)


def leaks(verdict: Verdict) -> bool:
    """Return whether a verdict excludes a table."""
    return verdict.alarm or verdict.copies


def leads(
    results: Mapping[str, SuiteResult], differences: pd.DataFrame, first: str, second: str
) -> Iterator[Lead]:
    """Yield which of two tables is ahead in an aspect, in the order of aspects."""
    own = differences[differences["first"].isin([first, second])]
    own = own[own["second"].isin([first, second])]
    for aspect in ORDER:
        names = [n for n, one in _metrics(results).items() if aspect_of(one) == aspect]
        rows = own[own["metric"].isin(names)]
        wins, losses = (int((rows["ahead"] == table).sum()) for table in (first, second))
        counts = wins, losses, len(rows) - wins - losses
        deciding = [n for n, one in _metrics(results).items() if _decides(one, aspect)]
        named = rows["metric"].isin(deciding)
        headline = rows[named & ~rows["said"].isin(_NOT_COMPARED)]
        if len(headline):
            decided = _deciding_rows(results, headline[headline["ahead"] != ""])
            if not decided:
                continue
            better, by = decided[0]["ahead"], str(decided[0]["metric"])
            against = next((str(r["metric"]) for r in decided if r["ahead"] != better), "")
            kind = _quoted_sentence(results, by)
        elif wins != losses:
            better, by, against, kind = first if wins > losses else second, "", "", ""
        else:
            continue
        sides = (first, second) if better == first else (second, first)
        won = (wins, losses) if better == first else (losses, wins)
        yield Lead(aspect, *sides, by, *won, counts[2], kind, against)


def _deciding_rows(
    results: Mapping[str, SuiteResult], decided: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the headlines that put a table ahead, the deciding one first.

    The list is empty if headlines of one kind disagree, which can happen with several tables.
    """
    rows = decided.to_dict("records")
    kinds = [_quoted_sentence(results, str(row["metric"])) for row in rows]
    if len({(kind, row["ahead"]) for kind, row in zip(kinds, rows, strict=True)}) > len({*kinds}):
        return []
    order = [quoted for kinds in HEADLINES.values() for quoted in kinds]
    keys = [
        (_progress_of_table_behind(results, row), order.index(kind))
        for kind, row in zip(kinds, rows, strict=True)
    ]
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: keys[i])]


def _progress_of_table_behind(results: Mapping[str, SuiteResult], row: Mapping[str, Any]) -> float:
    """Return the score of the table that is behind, relative to the baseline or the best value."""
    behind = row["second"] if row["ahead"] == row["first"] else row["first"]
    result = results[behind][str(row["metric"])]
    reached = _progress_to_baseline(result)
    if math.isnan(reached) and result.tags is not None:
        bounds, better = result.tags.bounds, result.tags.sign > 0
        reached, _ = bounded_score(result.value, bounds, greater_is_better=better)
    return 1.0 if math.isnan(reached) else reached


def _quoted_sentence(results: Mapping[str, SuiteResult], name: str) -> Quoted:
    tags = _metrics(results)[name].tags
    return tags.quoted if tags is not None else ""


def _leads_between(found: Iterable[Lead], pair: Sequence[str]) -> list[Lead]:
    return [one for one in found if {one.better, one.worse} == set(pair)]


def _loser(found: Sequence[Lead]) -> str:
    """Return the table that is behind, or an empty text if this is undecided."""
    if found and (found[0].headline or len({one.better for one in found}) == 1):
        return found[0].worse
    return ""


def shortfalls(table: str, results: Mapping[str, Result]) -> Iterator[Shortfall]:
    """Yield the headlines of a table that are closer to a useless table than to the baseline.

    Their difference from the baseline is significant.
    """
    for aspect in HEADLINES:
        for name, result in results.items():
            if not _decides(result, aspect) or result.error or _is_within_chance(result):
                continue
            if _progress_to_baseline(result) < GOOD_ENOUGH:
                yield Shortfall(table, aspect, name, result.value, as_float(result.baseline))


def weaknesses(table: str, results: Mapping[str, Result]) -> list[Shortfall]:
    """Return metrics that are closer to a useless table than to the baseline, worst first.

    They do not affect the recommendation, but readers of the recommended table should know them.
    """
    found = [
        (
            _progress_to_baseline(one),
            Shortfall(table, aspect_of(one), name, one.value, as_float(one.baseline)),
        )
        for name, one in results.items()
        if aspect_of(one) in ORDER
        and aspect_of(one) != "privacy"
        and not one.error
        and not _is_within_chance(one)
    ]
    return [short for reached, short in sorted(found, key=_worst_first) if reached < GOOD_ENOUGH]


def _worst_first(one: tuple[float, Shortfall]) -> tuple[float, str]:
    reached, short = one
    return (math.inf if math.isnan(reached) else reached, short.metric)


def violations(table: str, results: SuiteResult) -> Iterator[Violation]:
    """Yield the thresholds of its release file that a table violates."""
    stated = results.provenance.release if results.provenance is not None else None
    if stated is not None and stated.thresholds is not None:
        from skeval.results.release import outcomes_of

        for one in outcomes_of(stated.thresholds, results):
            if not one.passed:
                yield Violation(table, one.rule, one.reason)


def _decides(result: Result, aspect: str) -> bool:
    return any(is_quoted(result, quoted) for quoted in HEADLINES.get(aspect, ()))


def _is_within_chance(result: Result) -> bool:
    """Return whether the difference between a value and its baseline is not significant."""
    ends, stated = result.difference, result.details.get("difference")
    if ends is None and isinstance(stated, Mapping):
        ends = as_float(stated.get("low")), as_float(stated.get("high"))
    return ends is not None and ends[0] <= 0.0 <= ends[1]


def _progress_to_baseline(result: Result) -> float:
    """Return the score of a value from useless table (0) to baseline (1), or nan.

    A useless model guesses if the score of guessing is known. Otherwise, it has the worst value.
    """
    tags, fresh = result.tags, as_float(result.baseline)
    if tags is None or not tags.sign or math.isnan(fresh) or math.isnan(result.value):
        return math.nan
    chance = _CHANCE.get(str(result.details.get("scoring", "")))
    if chance is not None and fresh > chance:
        return (result.value - chance) / (fresh - chance)
    if chance is not None:
        return math.nan  # a model of real rows is useless as well
    return calibrated_score(result.value, fresh, tags.bounds, greater_is_better=tags.sign > 0)[0]


def mismatches(results: Mapping[str, SuiteResult]) -> tuple[Mismatch, ...]:
    """Return the real tables that differ between results, and how they differ."""
    known = [one.provenance for one in results.values() if one.provenance is not None]
    roles = dict.fromkeys(
        record.role
        for one in known
        for record in one.inputs
        if record.role.partition("/")[0] != "synthetic"
    )
    return tuple(one for role in roles for one in _mismatch(role, known))


def _mismatch(role: str, known: Sequence[Provenance]) -> Iterator[Mismatch]:
    records = [next((r for r in one.inputs if r.role == role), None) for one in known]
    there = [record for record in records if record is not None]
    if len(there) < len(records) or len({record.n_rows for record in there}) > 1:
        yield Mismatch(role, Difference.CONTENT)
        return
    if len({record.cells for record in there if record.cells}) < 2:
        return
    table = role.partition("/")[2]
    columns = _columns_of_other_kinds(
        [[c for c in one.columns if c.table == table] for one in known]
    )
    if not columns:
        yield Mismatch(role, Difference.CONTENT)
    else:
        yield Mismatch(role, _difference_of_kinds(there), columns)


def _difference_of_kinds(records: Sequence[InputRecord]) -> Difference:
    """Return how the cells of tables compare if their columns had different types."""
    files = {record.file_bytes for record in records}
    if "" in files:
        return Difference.UNKNOWN
    return Difference.KINDS if len(files) == 1 else Difference.CONTENT


def _columns_of_other_kinds(records: Sequence[Sequence[ColumnRecord]]) -> tuple[str, ...]:
    """Return the columns whose types differ."""
    kinds: dict[str, set[tuple[str, str]]] = {}
    for own in records:
        for column in own:
            kinds.setdefault(column.column, set()).add((column.kind, column.form))
    counts = {name: sum(c.column == name for own in records for c in own) for name in kinds}
    return tuple(n for n, held in kinds.items() if len(held) > 1 or counts[n] < len(records))


def _metrics(results: Mapping[str, SuiteResult]) -> dict[str, Result]:
    return {name: one for result in results.values() for name, one in result.items()}
