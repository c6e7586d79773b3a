"""Where results come from, as tables of text for page and paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skeval.reporting.parts import Grid, Part

if TYPE_CHECKING:
    from skeval.provenance import InputRecord, Provenance
    from skeval.suite_result import SuiteResult

TITLE = "Provenance"
INTRO = (
    "What these results were made of and by. The files can be checked against it: skeval verify "
    "scores.json FILE ... A hash shows no row, but whoever has a whole table, or all of it but "
    "little, can see whether it is this one."
)


def provenance_parts(suite_result: SuiteResult) -> tuple[Part, ...]:
    """Return what a reader sees of the provenance of results; nothing where they have none."""
    provenance = suite_result.provenance
    if provenance is None:
        return ()
    several = any(one.table for one in provenance.columns)
    columns = [
        (f"{one.table}: {one.column}" if several else one.column, one.kind, one.why, one.doubt)
        for one in provenance.columns
    ]
    heads = ("Column", "Kind", "Why", "Doubt")
    return (
        Grid((), tuple(_facts(provenance)), (0.25, 0.75), title="Evaluation"),
        Grid(("Table", "Rows", "SHA-256"), _inputs(provenance), (0.2, 0.1, 0.7), title="Inputs"),
        Grid(heads, tuple(columns), (0.25, 0.15, 0.3, 0.3), title="Kinds of columns"),
        Grid(("Name", "Made by"), tuple(provenance.calls.items()), (0.25, 0.75), title="Metrics"),
    )


def _facts(provenance: Provenance) -> Iterator[tuple[str, str]]:
    yield "Date", provenance.date
    yield "skeval", provenance.version
    yield "Target", provenance.target or "none"
    yield "Sensitive column", provenance.sensitive or "none"
    seeds = sorted(set(provenance.seeds.values()))
    if len(seeds) == 1:
        yield "Seed", f"{seeds[0]} of all that draws at random"
    elif seeds:
        yield "Seeds", ", ".join(f"{name} {seed}" for name, seed in provenance.seeds.items())
    yield "Packages", ", ".join(f"{name} {held}" for name, held in provenance.packages.items())


def _inputs(provenance: Provenance) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            f"{one.role}: {one.file}" if one.file else one.role,
            f"{one.n_rows:,}"
            + (f", {one.n_measured:,} drawn" if one.n_measured < one.n_rows else ""),
            "\n".join(_hashes(one)) or "left out",
        )
        for one in provenance.inputs
    )


def _hashes(record: InputRecord) -> Iterator[str]:
    if record.file_bytes:
        yield f"of the file {record.file_bytes}"
    if record.cells:
        yield f"of the cells {record.cells}"
