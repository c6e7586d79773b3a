"""The end of a report: what each metric is, whom it assumes, what it misses; the form to sign.

Also the provenance of results, as tables of text for page and paper.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skeval.core.catalogue import metric_classes
from skeval.core.tags import Risk
from skeval.reporting.decision import titles_of
from skeval.reporting.layout import Form, Grid, Part, Words
from skeval.reporting.scores import entries, numbers_of, numbers_tested
from skeval.reporting.style import judged
from skeval.results.calls import call_of, defaults_of, text_of
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import is_shifted
from skeval.utils.formatting import number, title_of

if TYPE_CHECKING:
    from skeval.results.provenance import InputRecord, Provenance
    from skeval.results.suite_result import SuiteResult


# of the opinion of the Article 29 working party; tags say which metrics bear on them
RISKS: dict[Risk, str] = {
    "singling out": "Can rows that single out one person be found?",
    "linkability": "Can two records of one person be linked?",
    "inference": "Can a value of a person be inferred from others?",
}
_NONE = object()  # a parameter without a default
_NOT_THERE = "No metric of skeval: see its own documentation."
_ROLE = re.compile(r":\w+:`[~!]?(?:[\w.]*\.)?(\w+)`|``([^`]*)``|`([^`]*)`")
_TITLE = re.compile(r', "[^"]*"(?=[^"]*?(?:doi:|arXiv:))')
_NAME = r"(?:[A-Z]\. ?)+(?:\w{2,3} ){0,2}[\w'-]+"
_SEVERAL = re.compile(rf"({_NAME})(?:, {_NAME}){{2,}}")
_FORM = (("Name", "Role", "Date"), ("Decision", "Conditions", "Signature"))


def definitions(results: SuiteResult) -> tuple[Part, ...]:
    """Return what each metric of the results is: from the documentation of its class."""
    first = sorted(results.values(), key=lambda r: r.tags is None or r.tags.aspect != "privacy")
    kinds = dict.fromkeys(r.metric for r in first if r.metric)
    rows = tuple((title_of(kind), " ".join(definition_of(kind))) for kind in kinds)
    heads = ("Metric", "What it is, and what it cannot see")
    return (Grid(heads, rows, (0.24, 0.76), flows=True),) if rows else ()


def definition_of(metric: str) -> list[str]:
    """Return what the documentation of a class of metrics says of it."""
    kind = metric_classes().get(metric)
    if kind is None:
        return [_NOT_THERE]
    summary, scenario, sections = _read(inspect.getdoc(kind) or "")
    texts = [summary]
    if kind.tags.evidence in ("attack", "audit") and scenario:
        texts.append(f"Assumed: {scenario}")
    if limits := sections.get("Warnings"):
        texts.append(f"Limits: {limits}")
    if references := sections.get("References"):
        texts.append(f"References: {shorten_references(references)}")
    return texts


def shorten_references(references: str) -> str:
    """Return references in short: those that can be looked up need no title, nor all authors."""
    return _SEVERAL.sub(r"\1 et al.", _TITLE.sub("", references))


def _read(doc: str) -> tuple[str, str, dict[str, str]]:
    """Return the summary of a docstring, the paragraph below it and the sections, as plain text."""
    parts = re.split(r"\n\n?(\w[\w ]*)\n-{3,}\n", doc)
    summary, _, rest = parts[0].partition("\n\n")
    scenario = rest.partition("\n\n")[0]
    sections = {title: _plain(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    return _plain(summary), _plain(scenario), sections


def _plain(text: str) -> str:
    """Return text without markup; formulas and lists of marks are left out."""
    paragraphs = [
        p for p in text.split("\n\n") if not p.lstrip().startswith((".. math", ">>>", "\\"))
    ]
    words = " ".join(" ".join(paragraphs).split())
    words = re.sub(r"(\.\. )?\[\d+\]_? ?", "", words)
    return _ROLE.sub(lambda m: next(filter(None, m.groups())), words)


def three_risks(results: SuiteResult) -> tuple[Part, ...]:
    """Return what the results say of singling out, linkability and inference, one row each."""
    rows, alarms = [], []
    verdict = results.verdict()
    for i, (risk, question) in enumerate(RISKS.items()):
        said = list(_said(risk, results))
        alarms += [(i, 2)] if any(name in verdict.alarms for name, _ in said) else []
        rows.append(
            (risk.capitalize(), question, " ".join(text for _, text in said) or "Not looked at.")
        )
    heads = ("Risk", "Question", "What this suite found")
    return (Grid(heads, tuple(rows), (0.15, 0.25, 0.6), alarms=tuple(alarms)),)


def _said(risk: Risk, results: SuiteResult) -> Iterator[tuple[str, str]]:
    """Yield the metrics that bear on a risk, and what each found of it."""
    verdict, shifted, titles = results.verdict(), is_shifted(results.notices), titles_of(results)
    for name, result in results.items():
        if result.tags is None or risk not in result.tags.risks:
            continue
        if result.error or result.value != result.value:
            yield "", f"{titles[name]}: not looked at."
            continue
        attacks = entries(result.details, "attacks")
        of_risks = {n: one for n in attacks if (one := _risk_of(attacks, n))}
        own = _of_attacks([n for n, one in of_risks.items() if one == risk], result)
        word = judged(result, verdict, name, shifted)
        if not of_risks:
            observed, against = numbers_tested(result)
            shown = f"{observed} ({against})" if observed else number(result.value)
            yield name, f"{titles[name]} {shown}: {word}."
        elif own:
            leak = name in verdict.alarms and own[1] <= verdict.level
            yield name if leak else "", f"{own[0]}: {word if leak else 'no leak found by it'}."


def _risk_of(attacks: Mapping[str, Any], name: str) -> str:
    """Return the risk that one of several attacks is about; empty where it does not say."""
    risk = entries(attacks, name).get("risk")
    return risk if isinstance(risk, str) else ""


def _of_attacks(names: list[str], result: Result) -> tuple[str, float] | None:
    """Return the attack of these that succeeds most significantly, in words, and its p-value."""
    attacks = {n: numbers_of(result.details, "attacks", n) for n in names}
    own = {
        n: a
        for n, a in attacks.items()
        if {"residual_risk", "p_adjusted"} <= set(a) and not math.isnan(a["residual_risk"])
    }
    if not own:
        return None
    name = min(own, key=lambda n: (own[n]["p_adjusted"], -own[n]["residual_risk"]))
    text = (
        f"{len(own)} attack{'s' if len(own) > 1 else ''}, most significant {name}, residual risk "
    )
    return text + number(own[name]["residual_risk"]), float(own[name]["p_adjusted"])


def sign_off(results: SuiteResult) -> tuple[Part, ...]:
    """Return the form in which a person signs a decision, for any results."""
    return (Form("", _FORM),)


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
    heads, (calls, plain) = ("Kind", "Columns", "Doubt"), _calls(provenance)
    made = Grid(("Name", "Made by"), calls, (0.25, 0.75), title="Metrics", flows=True)
    by_default = f"Metrics by the defaults of this version: {', '.join(plain)}."
    return (
        Grid((), tuple(_facts(provenance)), (0.25, 0.75), title="Evaluation", flows=True),
        Grid(("Table", "Rows", "SHA-256"), _inputs(provenance), (0.18, 0.1, 0.72), title="Inputs"),
        Grid(heads, _kinds(provenance), (0.25, 0.5, 0.25), title="Kinds of columns", flows=True),
        *((made,) if calls else ()),
        *((Words(by_default, "quiet"),) if plain else ()),
    )


def _kinds(provenance: Provenance) -> tuple[tuple[str, str, str], ...]:
    """Return columns of one kind for one reason together."""
    several = any(one.table for one in provenance.columns)
    together: dict[tuple[str, str], list[str]] = {}
    for one in provenance.columns:
        name = f"{one.table}: {one.column}" if several else one.column
        kind = ": ".join(filter(None, (one.kind, one.why)))
        together.setdefault((kind, one.doubt), []).append(name)
    return tuple((kind, ", ".join(names), doubt) for (kind, doubt), names in together.items())


def _calls(provenance: Provenance) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return what makes metrics again with parameters that are no defaults, and all others."""
    made, plain = list[tuple[str, str]](), list[str]()
    for name, content in provenance.metrics.items():
        own = content["class"].rpartition(".")[2]
        kind, given = metric_classes().get(own), content["parameters"]
        if kind is not None:
            standard = {n: text_of(default) for n, default in defaults_of(kind).items()}
            given = {n: value for n, value in given.items() if standard.get(n, _NONE) != value}
        if given:
            made.append((name, call_of({**content, "parameters": given}).removeprefix("skeval.")))
        else:
            same = own.lower() == name.replace("_", "").lower()
            plain.append(name if same else f"{name} ({own})")
    return tuple(made), plain


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
