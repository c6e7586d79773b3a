"""Give the page of each metric the same form, made from the tags and the docstring of its class.

A page begins with a table of facts. The sections of the docstring follow in a fixed order, with
headings that are questions of users. `numpydoc` writes the sections, and :func:`rearrange` sorts
them.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skeval import Metric
from skeval.core.catalogue import metric_classes
from skeval.suites.names import table_of_names

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GUIDE = Path(__file__).parents[1] / "user_guide"
OVERVIEWS = {"index", "metrics", "choosing"}  # pages that list metrics without a description
HEADINGS = {  # heading and section of the docstring, in the order of a page
    "How it works": "",
    "When it misleads": "Warnings",
    "Example": "Examples",
    "Parameters": "Parameters",
    "Attributes": "Attributes",
    "Formula and details": "Notes",
    "Source": "References",
    "See also": "See Also",
}
OPTIONAL = {"Parameters", "Attributes"}
NEEDS = {
    "holdout": "holdout data",
    "target": "a target column",
    "generator": "the generator",
    "relational": "a schema of related tables or sequences",
    "text": "text columns",
}
EVIDENCE = {
    "screen": "It is a :term:`screen`, which compares distances or matches.",
    "attack": "It is an :term:`attack`, which estimates the success of one attacker.",
    "audit": "It is an :term:`audit`, which estimates a lower bound on epsilon.",
    "disclosure": "It is a metric of :term:`disclosure control`.",
}
APPLIED = "As for the metric that it is applied to."
SCORING = "As for ``scoring``."
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.:])\s+(?=[A-Z`])")
_MARK = re.compile(r":(\w[\w ]*):|\.\. (warning|seealso)::|\.\. rubric:: (\w[\w ]*)")
_BASELINE = re.compile(
    r"(?:(?:.*, |)and t|Therefore, t|T)he baseline (?:of the result )?is (?:its )?(.*)"
)
_NUMPYDOC = {"warning": "Warnings", "seealso": "See Also"}  # directives of sections


def parts(kind: type[Metric]) -> dict[str, str]:
    """Return all parts of the page of a metric by heading, as reStructuredText."""
    sections = sections_of(kind)
    found = facts(kind) | {heading: sections.get(name, "") for heading, name in HEADINGS.items()}
    found["Source"] = found["Source"] or "The formula was developed for skeval."
    return {heading: text.strip() for heading, text in found.items()}


def facts(kind: type[Metric]) -> dict[str, str]:
    """Return the rows of the table at the top of a page."""
    tags, names = kind.tags, table_of_names()[kind.__name__]
    sections = sections_of(kind)
    wraps = applies_another(kind)
    is_scored = tags.greater_is_better is None and "scoring" in inspect.signature(kind).parameters
    varies = APPLIED if wraps else SCORING if is_scored else ""
    needs = [NEEDS[need] for need in NEEDS if need in tags.needs]
    optional = "" if "holdout" in tags.needs else " Holdout data are optional."
    elsewhere = [f"{', '.join(found)} ({source})" for source, found in names.elsewhere.items()]
    short = [f"``{name}``" for name in names.short]
    sampled = "A random sample" if tags.scaling == "sampled" else "All rows"
    return {
        "What it measures": sections["Summary"],
        "Aspect": APPLIED
        if wraps
        else f"{tags.aspect.capitalize()}. {EVIDENCE.get(tags.evidence, '')}",
        "Data": f"{in_words(['Training data', 'synthetic data', *needs])}.{optional}",
        "Range": varies or range_of(sections[""], tags.bounds),
        "Direction": varies or f"{tags.direction.capitalize()}.",
        "Baseline": baseline_of(kind),
        "Large tables": f"{sampled} of tables larger than memory (:doc:`/scaling`).",
        "Other names": "; ".join([*short, *elsewhere]) or "None.",
        "Guide": ", ".join(f":doc:`/user_guide/{page}`" for page in pages_about(kind.__name__)),
    }


def applies_another(kind: type[Metric]) -> bool:
    """Return whether the metric applies another one, for example to each group of rows."""
    return "metric" in inspect.signature(kind).parameters


def sections_of(kind: type[Metric]) -> dict[str, str]:
    """Return the sections of a docstring by name, with the summary and the text below it ("")."""
    head, *rest = _SECTION.split(inspect.getdoc(kind) or "")
    summary, _, extended = head.partition("\n\n")
    return {"Summary": summary, "": extended} | dict(zip(rest[::2], rest[1::2], strict=True))


def range_of(text: str, bounds: tuple[float, float]) -> str:
    """Return the sentence about the smallest and largest value, or the bounds and their meaning."""
    found = [re.sub(r"^It\b", "The value", sentence) for sentence in sentences(text)]
    for sentence in found:
        if " ranges from " in sentence:
            return sentence
    low, high = (f"{bound:g}" for bound in bounds)
    start = "Any number." if math.isinf(bounds[0]) else f"From {low}, without an upper bound."
    if not math.isinf(bounds[1]):
        start = f"At most {high}." if math.isinf(bounds[0]) else f"{low} to {high}."
    meaning = re.compile(r"(?!If\b).*\b(?:is (?:0|0\.5|1) (?:if|for)|approaches)\b")
    return " ".join([start, *filter(meaning.match, found)][:2])


def baseline_of(kind: type[Metric]) -> str:
    """Return the sentence of the docstring about the baseline, or the rule for similar metrics."""
    doc = "\n\n".join(sections_of(kind).get(name, "") for name in ("", "Notes", "Warnings"))
    for sentence in sentences(doc):
        if match := _BASELINE.match(sentence):
            return match[1][0].upper() + match[1][1:]
        if re.search(r", the baseline is\b|\bis the baseline\b", sentence):
            return sentence
    if applies_another(kind):
        return APPLIED
    if kind.tags.aspect == "utility" and "holdout" in kind.tags.needs:
        return "The score of the same model trained on real data (:ref:`baseline`)."
    if "holdout" in kind.tags.needs or kind.tags.evidence == "audit":
        return "The value expected by chance, that is, without a leak (:ref:`baseline`)."
    return "The value of holdout data in place of the synthetic data (:ref:`baseline`)."


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without formulas."""
    for paragraph in text.split("\n\n"):
        if not paragraph.lstrip().startswith(".. "):
            yield from _SENTENCE.split(re.sub(r"\s+", " ", paragraph.strip()))


def in_words(items: list[str]) -> str:
    """Join items with commas and "and"."""
    return f"{', '.join(items[:-1])} and {items[-1]}"


@cache
def pages_about(name: str) -> list[str]:
    """Return the pages of the user guide that describe a metric."""
    link = re.compile(rf":class:`~?(?:[\w.]+\.)?{name}`")
    pages = sorted(path for path in GUIDE.glob("*.rst") if path.stem not in OVERVIEWS)
    found = [path.stem for path in pages if link.search(path.read_text("utf-8"))]
    return found or ["metrics"]


def rearrange(kind: type[Metric], lines: list[str]) -> list[str]:
    """Return the lines that numpydoc wrote for a metric in the order of a page."""
    page = [".. list-table::", "   :class: metric-facts", "   :widths: 22 78", ""]
    for heading, text in facts(kind).items():
        page += [f"   * - {heading}", f"     - {' '.join(text.split())}"]
    written = split(lines)
    written.setdefault("References", [parts(kind)["Source"]])
    headings = HEADINGS | {name: name for name in written if name not in HEADINGS.values()}
    for heading, section in headings.items():
        if section in written:
            page += ["", f".. rubric:: {heading}", "", *written[section]]
    return [*page, ""]


def split(lines: list[str]) -> dict[str, list[str]]:
    """Return the lines of each section that numpydoc wrote, and the text below the summary ("")."""
    found: dict[str, list[str]] = {"": []}
    section, margin = "", ""
    for line in lines:
        if mark := _MARK.fullmatch(line.rstrip()):
            section = next(group for group in mark.groups() if group)
            section, margin = _NUMPYDOC.get(section, section), "" if mark[3] else "    "
            found[section] = []
        else:
            found[section].append(line.removeprefix(margin))
    found[""] = "\n".join(found[""]).strip().partition("\n\n")[2].splitlines()
    return found


def write_metric(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Replace the docstring of an exported metric by its page."""
    if what == "class" and obj in metric_classes().values():
        lines[:] = rearrange(obj, lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension, which runs after numpydoc (priority 500)."""
    app.setup_extension("numpydoc")
    app.connect("autodoc-process-docstring", write_metric, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
