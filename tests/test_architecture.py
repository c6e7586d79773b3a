"""The house keeps its order: arrows point down, no private doors, no circles, one guess finds a metric."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import skeval
from skeval import Metric, diagnostic, fidelity, privacy, relational, text, utility

PACKAGE = Path(skeval.__file__).parent
README = Path(__file__).parent.parent / "README.md"
METRICS = {"diagnostic", "fidelity", "utility", "privacy"}
GROUND = {
    "cores",
    "engines",
    "sources",
    "exceptions",
    "parameters",
    "formatting",
    "files",
    "dependencies",
}
ROOMS = {"tables", "neighbors", "stats"}
CORE = {
    "context",
    "large_context",
    "reading_context",
    "relational_context",
    "rendering",
    "result",
    "tags",
    "verdict",
    "properties",
    "base",
    "neighbor_metric",
}
RESULTS = {"comparison", "rendering", "result", "suite_result", "verdict"}
BELOW = {  # what each room may know beside itself and the ground
    "tables": set(),
    "neighbors": {"scale"},  # public names, imported where they are asked for
    "stats": set(),
    "steps": ROOMS | CORE - {"base"},
    **{metrics: ROOMS | CORE | {"steps"} for metrics in METRICS - {"privacy"}},
    "privacy": ROOMS | CORE | {"steps", "generators"},
    # they lift what measures one table, or one column
    "relational": ROOMS | CORE | METRICS | {"steps", "by_group", "presets"},
    "text": ROOMS | CORE | METRICS | {"steps"},
    "generators": {"tables", "stats"},
    "reporting": {"stats", "tags"} | RESULTS,
}


PUBLIC = {
    "skeval.datasets",
    "skeval.exceptions",
    "skeval.parameters",
    "skeval.provenance",
}  # modules, not packages


class Import(NamedTuple):
    module: str
    target: str


@cache
def modules() -> dict[str, Path]:
    root = PACKAGE.parent
    paths = {p: ".".join(p.relative_to(root).with_suffix("").parts) for p in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in paths.items()}


@cache
def imports() -> list[Import]:
    arrows = []
    for module, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        typing_only = {
            id(node)
            for block in ast.walk(tree)
            if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
            for node in ast.walk(block)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in typing_only:
                targets = {target for target in targets_of(node) if target.startswith("skeval")}
                arrows += [Import(module, target) for target in targets]
    return arrows


def targets_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    inner = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in modules() else str(node.module) for name in inner]


def room(module: str) -> str:
    """Return the package of a module; where work runs and what is read have rooms of their own."""
    _, package, name, *_ = [*module.split("."), "", ""]
    return name if package == "scale" and name in {"engines", "sources"} else package


@pytest.mark.parametrize("name", sorted(BELOW))
def test_arrows_point_down(name):
    allowed = BELOW[name] | GROUND | {name}
    up = [i for i in imports() if room(i.module) == name and room(i.target) not in allowed]
    assert not up


def test_nothing_knows_the_command_line():
    known_by = {i.module for i in imports() if room(i.target) == "cli" != room(i.module)}
    assert known_by == {"skeval.__main__"}


def test_no_package_takes_another_ones_private_module():
    doors = []
    for i in imports():
        parts = i.target.split(".")
        for depth, part in enumerate(parts[2:], 2):
            owner = ".".join(parts[:depth])
            if part.startswith("_") and not f"{i.module}.".startswith(f"{owner}."):
                doors.append(i)
    assert not doors


def test_results_name_no_renderer():
    below = RESULTS | {"policy", "overall", "recommendation", "properties", "suite"}
    assert not [i for i in imports() if room(i.module) in below and room(i.target) == "reporting"]


def test_no_circle_of_files():
    """Imports inside functions are counted."""
    arrows: dict[str, set[str]] = {}
    for i in imports():
        if i.module != i.target:
            arrows.setdefault(i.module, set()).add(i.target)

    def reached(start):
        seen, todo = set(), list(arrows.get(start, ()))
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += arrows.get(name, ())
        return seen

    assert not [name for name in arrows if name in reached(name)]


def test_only_packages_list_their_names():
    listing = [
        module
        for module, path in modules().items()
        if path.name != "__init__.py"
        and module not in PUBLIC
        and re.search(r"^__all__", path.read_text("utf-8"), re.M)
    ]
    assert not listing


def families() -> dict[str, set[str]]:
    """Return of each metric of the README the family, as the words of its row's first cell."""
    content = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w, ()]+) \| (`\w+`(?:, `\w+`)*) \|", content, re.M)
    return {
        metric: set(re.findall(r"\w+", family))
        for family, metrics in rows
        for metric in re.findall(r"`(\w+)`", metrics)
    }


def exported() -> dict[str, type[Metric]]:
    packages = (diagnostic, fidelity, utility, privacy, relational, text)
    kinds = {name: getattr(package, name) for package in packages for name in package.__all__}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type) and issubclass(kind, Metric)
    }


def test_the_readme_lists_every_metric():
    assert set(families()) == set(exported())


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def test_a_metric_is_found_in_one_guess():
    """The file bears the name of the metric, in part, or the family that the README lists it under."""
    missed = []
    for name, metric in exported().items():
        folder = metric.__module__.split(".")[2:]
        in_name = folder[-1] in snake(name) or snake(name) in folder[-1]
        if not in_name and not families()[name] & (set(folder) - {"attacks"}):
            missed.append(f"{name}: {metric.__module__}")
    assert len(missed) <= 0.05 * len(exported()), missed


def test_a_metric_is_imported_from_the_package_that_its_tag_names():
    wrong = [
        name
        for package in (diagnostic, fidelity, utility, privacy)
        for name in package.__all__
        if f"skeval.{getattr(package, name).tags.aspect}" != package.__name__
    ]
    assert not wrong


def test_rare_cases_have_rooms_of_their_own():
    """No ordinary file asks whether a table is larger than memory, saved, or seen by workers."""
    rare = re.compile(
        r"counted_by_workers|isinstance\([^)]*(Large|Canonical|Spilled|Saved)\w*"
        r"|is_saved|is_in_file|needs_no_rows|n_workers"
    )
    lines = [
        f"{name}: {line.strip()}"
        for name, path in modules().items()
        if not {"scale", "saved"} & set(re.split(r"[._]", name))
        for line in path.read_text("utf-8").splitlines()
        if rare.search(line)
    ]
    assert not lines


def test_no_process_gets_rows_as_files():
    # joblib would keep tables of more than 1 MB in a folder that all users may list
    calls = [
        (name, ast.unparse(node))
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Parallel"
    ]
    assert calls
    assert not [
        call
        for call in calls
        if "max_nbytes=None" not in call[1] and "backend='threading'" not in call[1]
    ]
