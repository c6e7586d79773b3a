"""Which of several synthetic tables to take: the rule, and the reasons as values."""

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

ORDER = ("utility", "fidelity", "privacy", "diagnostic")
"""The facets in the order in which they count, once tables that leak are out."""
HEADLINES: dict[str, tuple[Quoted, ...]] = {
    "utility": ("learning",),
    "fidelity": ("relations", "similarity"),
}
"""The tags `quoted` of the metrics that decide a facet, if they were measured.

If two disagree, the weaker side of a table counts: the one decides in which the table that is
behind falls farther short of fresh real rows.
"""
GOOD_ENOUGH = 0.5
"""The least share of the way from a useless table to fresh real rows, of each headline."""
_CHANCE = {"roc_auc": 0.5, "roc_auc_ovr": 0.5, "roc_auc_ovo": 0.5, "r2": 0.0}
_NOT_COMPARED = ("no interval", "no value", "no direction")


class Conclusion(Enum):
    """What a comparison comes to."""

    TAKE = "take one"
    TIED = "cannot be told apart"
    OPEN = "each is ahead in something"
    NOT_GOOD_ENOUGH = "none is good enough"
    VIOLATED = "all violate a threshold that was agreed"
    LEAKS = "a leak was found in all"
    INCOMPARABLE = "nothing can be compared"


class Difference(Enum):
    """How inputs of results differ that should be the same."""

    CONTENT = "other cells"
    KINDS = "the same file, read with other kinds of columns"
    UNKNOWN = "other kinds of columns, so that the cells cannot be held against each other"


@dataclass(frozen=True)
class Mismatch:
    """A role whose table was not the same for all results, and the columns of other kinds."""

    role: str
    difference: Difference
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lead:
    """One table ahead of another in a facet: by a headline, or by more metrics than it is not.

    `kind` is what the headline is about, and `against` names a headline that is overruled.
    """

    facet: str
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
    """A table that is not good enough: a headline that is nearer to a useless table's."""

    table: str
    facet: str
    metric: str
    value: float
    fresh: float


@dataclass(frozen=True)
class Violation:
    """A table that does not meet a threshold which its release file states."""

    table: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Recommendation:
    """The tables that remain by the rule, and why others do not."""

    outcome: Conclusion
    tables: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    leaking: tuple[str, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    mismatches: tuple[Mismatch, ...] = ()
    violations: tuple[Violation, ...] = ()


def recommendation(results: Mapping[str, SuiteResult], differences: pd.DataFrame) -> Recommendation:
    """Return what the rule says."""
    # Inputs must be the same. Tables in which a leak was found are out, then those that
    # violate a threshold of their release file, then those whose headline is nearer to that
    # of a useless table than to that of fresh real rows. If two remain, the one ahead by the
    # headline of utility is taken, then by those of fidelity. A lead by other metrics counts
    # if no other facet speaks against it.
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
    """Return whether a verdict keeps a table from being taken."""
    return verdict.alarm or verdict.copies


def leads(
    results: Mapping[str, SuiteResult], differences: pd.DataFrame, first: str, second: str
) -> Iterator[Lead]:
    """Yield which of two tables is ahead in each facet where one is, in the order of facets."""
    own = differences[differences["first"].isin([first, second])]
    own = own[own["second"].isin([first, second])]
    for facet in ORDER:
        names = [n for n, one in _metrics(results).items() if aspect_of(one) == facet]
        rows = own[own["metric"].isin(names)]
        wins, losses = (int((rows["ahead"] == table).sum()) for table in (first, second))
        counts = wins, losses, len(rows) - wins - losses
        deciding = [n for n, one in _metrics(results).items() if _decides(one, facet)]
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
        yield Lead(facet, *sides, by, *won, counts[2], kind, against)


def _deciding_rows(
    results: Mapping[str, SuiteResult], decided: pd.DataFrame
) -> list[dict[str, Any]]:
    """Return the headlines that put a table ahead, the one that decides first.

    None does where headlines of one kind disagree, as those of several tables may.
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
    """Return how far the table that is behind is on the way to fresh rows, or to the best value."""
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
    """Return the table that the other one is taken before; empty where that is left open."""
    if found and (found[0].headline or len({one.better for one in found}) == 1):
        return found[0].worse
    return ""


def shortfalls(table: str, results: Mapping[str, Result]) -> Iterator[Shortfall]:
    """Yield the headlines of a table that are nearer to a useless table's than to fresh rows'.

    They differ from those of fresh rows by more than chance explains.
    """
    for facet in HEADLINES:
        for name, result in results.items():
            if not _decides(result, facet) or result.error or _is_within_chance(result):
                continue
            if _progress_to_baseline(result) < GOOD_ENOUGH:
                yield Shortfall(table, facet, name, result.value, as_float(result.baseline))


def weaknesses(table: str, results: Mapping[str, Result]) -> list[Shortfall]:
    """Return the metrics that are nearer to a useless table's than to fresh rows', worst first.

    They do not decide, but a reader who takes the table must know of them.
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
    """Yield the thresholds of the release file of a table that it does not meet."""
    stated = results.provenance.release if results.provenance is not None else None
    if stated is not None and stated.thresholds is not None:
        from skeval.results.release import outcomes_of

        for one in outcomes_of(stated.thresholds, results):
            if not one.passed:
                yield Violation(table, one.rule, one.reason)


def _decides(result: Result, facet: str) -> bool:
    return any(is_quoted(result, quoted) for quoted in HEADLINES.get(facet, ()))


def _is_within_chance(result: Result) -> bool:
    """Return whether chance explains what lies between a value and its baseline."""
    ends, stated = result.difference, result.details.get("difference")
    if ends is None and isinstance(stated, Mapping):
        ends = as_float(stated.get("low")), as_float(stated.get("high"))
    return ends is not None and ends[0] <= 0.0 <= ends[1]


def _progress_to_baseline(result: Result) -> float:
    """Return how far a value is on the way from a useless table's to fresh rows'; nan if unknown.

    A useless model guesses, if the score of guessing is known; otherwise it has the worst value.
    """
    tags, fresh = result.tags, as_float(result.baseline)
    if tags is None or not tags.sign or math.isnan(fresh) or math.isnan(result.value):
        return math.nan
    chance = _CHANCE.get(str(result.details.get("scoring", "")))
    if chance is not None and fresh > chance:
        return (result.value - chance) / (fresh - chance)
    if chance is not None:
        return math.nan  # real rows teach nothing either
    return calibrated_score(result.value, fresh, tags.bounds, greater_is_better=tags.sign > 0)[0]


def mismatches(results: Mapping[str, SuiteResult]) -> tuple[Mismatch, ...]:
    """Return the real tables that were not the same for all results, and how they differ."""
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
    """Return what is known of the cells of tables whose columns had other kinds."""
    files = {record.file_bytes for record in records}
    if "" in files:
        return Difference.UNKNOWN
    return Difference.KINDS if len(files) == 1 else Difference.CONTENT


def _columns_of_other_kinds(records: Sequence[Sequence[ColumnRecord]]) -> tuple[str, ...]:
    """Return the columns whose kinds are not the same in all."""
    kinds: dict[str, set[tuple[str, str]]] = {}
    for own in records:
        for column in own:
            kinds.setdefault(column.column, set()).add((column.kind, column.form))
    counts = {name: sum(c.column == name for own in records for c in own) for name in kinds}
    return tuple(n for n, held in kinds.items() if len(held) > 1 or counts[n] < len(records))


def _metrics(results: Mapping[str, SuiteResult]) -> dict[str, Result]:
    return {name: one for result in results.values() for name, one in result.items()}
