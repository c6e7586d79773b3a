"""Every metric is in all its places: package, guide, tests and docstring; a failure names what is missing."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from skeval import Metric, MetricTags
from skeval.core.catalogue import METRIC_PACKAGES, metric_classes

TESTS = Path(__file__).parent
GUIDE = TESTS.parent / "docs" / "user_guide"
ALL_METRICS = GUIDE / "metrics.rst"
SECTIONS = {
    "Warnings": "when the value misleads",
    "Notes": "the formula",
    "References": "where the formula is from, which may be your own,",
    "Examples": "a few lines that run",
    "See Also": "metrics that answer a similar question",
}
WITHOUT_A_ROW = {"ByGroup"}  # measures any other metric, group by group


def test_every_metric_has_its_places():
    missing = [
        f"{name}: {cure}" for name, kind in metrics().items() for cure in missing_places(kind)
    ]
    assert not missing, "\n" + "\n".join(missing)


def missing_places(kind: type[Metric]) -> Iterator[str]:
    """Yield what is missing of a metric, as what to do and the step of CONTRIBUTING.md."""
    name = kind.__name__
    _, room, *folders = kind.__module__.split(".")
    if not isinstance(getattr(kind, "tags", None), MetricTags):
        yield f"set tags = MetricTags(...) in the class {step(1)}"
    yield from missing_sections(kind)
    words = {word for family in families().get(name, ()) for word in re.findall(r"\w+", family)}
    file = folders[-1]
    if name not in WITHOUT_A_ROW and not (
        file in snake(name) or snake(name) in file or words & (set(folders) - {"attacks"})
    ):
        path = kind.__module__.replace(".", "/")
        yield (
            f"name its file {snake(name)}.py instead of {path}.py, or begin its row in "
            f"docs/user_guide/metrics.rst with {file} {step(1)}"
        )
    if name not in importlib.import_module(f"skeval.{room}").__all__:
        yield f"add it to the imports and to __all__ of skeval/{room}/__init__.py {step(2)}"
    if name not in WITHOUT_A_ROW:
        yield from missing_in_guide(kind)
    if not re.search(rf"\b{name}\b", texts_of_tests(room)):
        path = "/".join(["tests", room, f"test_{snake(name)}.py"])
        yield f"test it, for example in {path} {step(4)}"


def missing_sections(kind: type[Metric]) -> Iterator[str]:
    page = kind.__doc__ or ""
    if not page.strip():
        yield f"write the docstring of the class {step(1)}"
        return
    for section, content in SECTIONS.items():
        if not re.search(rf"^\s*{section}\n\s*-+$", page, re.M):
            yield f"write the section {section} of the docstring, {content} {step(1)}"


def missing_in_guide(kind: type[Metric]) -> Iterator[str]:
    name = kind.__name__
    pages = [pages for names, pages in tables_of_metrics() if name in names]
    if not pages:
        _, room, *_ = kind.__module__.split(".")
        yield (
            f"add :class:`~skeval.{room}.{name}` to a row of docs/user_guide/metrics.rst, and describe "
            f"it as :class:`{name}` on the page named above that table {step(3)}"
        )
    elif not any(name in linked(GUIDE / f"{page}.rst") for page in pages[0]):
        named = " or ".join(f"docs/user_guide/{page}.rst" for page in sorted(pages[0]))
        yield f"describe it in {named}, as :class:`{name}` {step(3)}"


def step(number: int) -> str:
    return f"(CONTRIBUTING.md, step {number})"


@cache
def metrics() -> dict[str, type[Metric]]:
    """Return the metrics by name: those that packages export, and classes that no other derives from."""
    for package in METRIC_PACKAGES:
        folders = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folders, f"{package}."):
            importlib.import_module(module.name)
    leaves = {kind.__name__: kind for kind in derived_from(Metric) if not list(derived_from(kind))}
    return dict(sorted({**leaves, **metric_classes()}.items()))


def derived_from(kind: type[Metric]) -> Iterator[type[Metric]]:
    """Yield the classes of the package below a class; tests define others."""
    for one in kind.__subclasses__():
        if one.__module__.startswith(METRIC_PACKAGES):
            yield one
        yield from derived_from(one)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@cache
def families() -> dict[str, list[str]]:
    """Return the first cell of the row of each metric in the guide."""
    rows = re.findall(r"^   \* - (.+)\n     - (:class:.*)$", ALL_METRICS.read_text("utf-8"), re.M)
    found: dict[str, list[str]] = {}
    for family, cell in rows:
        for metric in re.findall(r"\.(\w+)`", cell):
            found.setdefault(metric, []).append(family)
    return found


@cache
def tables_of_metrics() -> list[tuple[set[str], set[str]]]:
    """Return of each table of metrics its names and the pages that the words above it link to."""
    parts = re.split(r"^\.\. list-table::\n", ALL_METRICS.read_text("utf-8"), flags=re.M)
    tables = []
    for above, table in pairwise(parts):
        words = above.rstrip().rpartition("\n\n")[2]
        rows = table.partition("\n\n")[2].partition("\n\n")[0]
        names = set(re.findall(r":class:`~[\w.]+?\.(\w+)`", rows))
        tables.append((names, set(re.findall(r":doc:`(\w+)`", words))))
    return tables


@cache
def linked(page: Path) -> set[str]:
    """Return the last parts of the names of classes that a page links to the reference."""
    targets = re.findall(r":class:`[^`<]*?<?~?([\w.]+)>?`", page.read_text("utf-8"))
    return {target.rpartition(".")[2] for target in targets}


@cache
def texts_of_tests(room: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in (TESTS / room).rglob("test_*.py"))


def test_the_guide_lists_metrics_alone():
    strangers = sorted(set(families()) - set(metrics()))
    assert not strangers, (
        f"docs/user_guide/metrics.rst has rows of {', '.join(strangers)}, which no package "
        "exports: correct the name, or take the row away"
    )
