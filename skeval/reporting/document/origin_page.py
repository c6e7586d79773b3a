"""The page with the provenance of the results, the definitions and the sign-off."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence

from skeval.core.catalogue import find_metric
from skeval.reporting.document.blocks import (
    Block,
    Cell,
    Entries,
    Entry,
    Headline,
    Page,
    Paragraphs,
    SignOff,
    Table,
)
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.numbers import count
from skeval.reporting.document.sentences.provenance import sampled_sentence
from skeval.reporting.document.spans import Span, Text, compose, name, names
from skeval.reporting.document.stated_release import stated_facts, stated_thresholds
from skeval.results.provenance import InputRecord, Provenance
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import title_of

_ROLE = re.compile(r":\w+:`[~!]?(?:[\w.]*\.)?(\w+)`|``([^`]*)``|`([^`]*)`")
TITLE = "Provenance and sign-off"
FIELDS = ("Name", "Role", "Date", "Decision", "Conditions", "Signature")


def origin_page(found: Findings, facts: tuple[Text, ...], footer: Text) -> Page:
    """Return the page of provenance, definitions and sign-off of one result."""
    inputs = found.provenance.inputs if found.provenance is not None else ()
    doubts = tuple(_doubts(found))
    return make_origin_page({"": found.results}, inputs, facts, footer, doubts)


def make_origin_page(
    tables: Mapping[str, SuiteResult],
    inputs: Sequence[InputRecord],
    facts: tuple[Text, ...],
    footer: Text,
    doubts: tuple[Text, ...] = (),
) -> Page:
    """Return the page of provenance, definitions and sign-off of one or several results."""
    first = next(iter(tables.values()))
    blocks: list[Block] = [Headline("headline", None, compose(TITLE), (), facts)]
    if stated := stated_facts(first):
        entries = tuple(Entry(compose(label), text) for label, text in stated)
        blocks.append(Entries("stated", "What was stated about the release", (), entries))
    if thresholds := _threshold_table(tables):
        blocks.append(thresholds)
    if inputs:
        blocks.append(_input_table(inputs))
    if first.provenance is not None:
        blocks.append(Paragraphs("settings", "Settings", _settings(first.provenance)))
    if doubts:
        blocks.append(Paragraphs("doubts", "Please check", doubts))
    blocks.append(SignOff("sign-off", "Sign-off", FIELDS, footer))
    union = {name: one for results in tables.values() for name, one in results.items()}
    if defined := tuple(_definitions(union)):
        blocks.append(Entries("definitions", "Metrics in one line each", (), defined))
    return Page("origin", TITLE, tuple(blocks))


def _threshold_table(tables: Mapping[str, SuiteResult]) -> Table | None:
    """Return all agreed thresholds with the measured values, by table if there are several."""
    rows = tuple(
        (
            *([Cell((name(table),))] if table else []),
            *(Cell(compose("{t}", t=text)) for text in (one.rule, one.measured, one.answer)),
        )
        for table, results in tables.items()
        for one in stated_thresholds(results)
    )
    if not rows:
        return None
    heads = ("Table", "Agreed before the evaluation", "Measured", "Outcome")[-len(rows[0]) :]
    return Table("thresholds", "Thresholds", (), heads, ("left",) * len(heads), (("", rows),))


def _input_table(inputs: Sequence[InputRecord]) -> Table:
    """Return the tables with their sizes and hashes."""
    rows = tuple(
        (
            Cell(compose("{role}", role=one.role)),
            Cell((name(one.file),) if one.file else compose("no file")),
            Cell(compose(count(one.n_rows))),
            Cell(compose(count(one.n_measured))),
            Cell((name(one.cells),) if one.cells else compose("not stated")),
        )
        for one in inputs
    )
    heads = ("Table", "File", "Rows", "Evaluated", "SHA-256 of the cells")
    aligned = ("left", "left", "right", "right", "left")
    return Table("inputs", "Tables", (), heads, aligned, (("", rows),))


def _settings(provenance: Provenance) -> tuple[Text, ...]:
    """Return the settings that are needed to repeat the evaluation."""
    seeds = sorted(set(provenance.seeds.values()))
    packages = ", ".join(f"{package} {version}" for package, version in provenance.packages.items())
    lines = [f"skeval {provenance.version}, evaluated on {provenance.date}."]
    sampled = [one for one in provenance.inputs if one.n_measured < one.n_rows]
    lines += [sampled_sentence(one.role, one.n_measured, one.n_rows) for one in sampled]
    if seeds:
        lines.append(f"Seeds: {', '.join(map(str, seeds))}.")
    if provenance.target:
        lines.append(f"Target: {provenance.target}.")
    if packages:
        lines.append(f"Packages: {packages}.")
    files = (one for one in provenance.inputs if one.file_bytes)
    return (
        *((Span(line),) for line in lines),
        *(
            compose("SHA-256 of the file {file}: {hash}", file=name(one.file), hash=one.file_bytes)
            for one in files
        ),
    )


def _doubts(found: Findings) -> Iterator[Text]:
    if found.privacy.unexamined:
        columns = names(found.privacy.unexamined, len(found.privacy.unexamined))
        yield compose("No test examined {columns}.", columns=columns)
    if found.provenance is not None:
        for column, doubt in found.provenance.doubts.items():
            yield compose("{column}: {doubt}", column=name(column), doubt=doubt)


def _definitions(results: Mapping[str, Result]) -> Iterator[Entry]:
    """Yield the first line of the documentation of each metric."""
    kinds = dict.fromkeys(result.metric for result in results.values() if result.metric)
    for kind in kinds:
        if (metric := find_metric(kind)) is not None:
            summary = (inspect.getdoc(metric) or "").partition("\n\n")[0]
            plain = _ROLE.sub(lambda hit: next(filter(None, hit.groups()), ""), summary)
            yield Entry(compose(title_of(kind)), compose("{text}", text=" ".join(plain.split())))
