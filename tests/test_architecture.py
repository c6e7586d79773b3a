"""The house keeps its order: arrows point down, no private doors, no circles, one guess finds a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import skeval
from skeval import diagnostic, fidelity, privacy, utility
from skeval.core.catalogue import metrics_of_package

PACKAGE = Path(skeval.__file__).parent
MAX_AT_ROOT, MAX_CODE_LINES = 4, 450
UPPER = (  # what metrics derive from knows steps
    *("core.intervals", "core.subject_halves", "core.undefined_tests", "core.notices"),
    *("core.baseline", "core.base"),
    *("core.relational_base", "core.families", "core.by_group"),
)
FLOORS = (  # from the ground up: a room may import its own files, and rooms of lower floors
    {"exceptions"},
    {"utils"},
    {"parameters"},
    {"tables", "neighbors", "stats"},
    {"core", "datasets"},
    {"generators"},
    {"results"},
    {"steps"},
    {"core.intervals", "core.subject_halves", "core.undefined_tests", "core.notices"},
    {"core.baseline"},
    {"core.base"},
    {"core.relational_base", "core.families"},
    {"core.by_group"},
    {"diagnostic", "fidelity", "utility", "privacy"},
    {"relational", "text"},  # they lift what measures one table, or one column
    {"reporting"},
    {"suites", "plotting"},
    {"model_selection", "checks", "compat"},
    {"scale"},  # overrides steps and contexts
    {"cli"},
    {"__main__"},
)
TOP = "skeval"  # skeval/__init__.py, which imports all lazily; nothing inside imports from it


PUBLIC = {  # modules, not packages
    "skeval.datasets",
    "skeval.exceptions",
    "skeval.parameters",
    "skeval.plotting",
}


class Import(NamedTuple):
    module: str
    target: str
    is_deferred: bool  # inside a function: allowed upwards too


@cache
def modules() -> dict[str, Path]:
    root = PACKAGE.parent
    paths = {p: ".".join(p.relative_to(root).with_suffix("").parts) for p in PACKAGE.rglob("*.py")}
    return {name.removesuffix(".__init__"): path for path, name in paths.items()}


@cache
def imports() -> list[Import]:
    arrows = []
    for module, path in modules().items():
        for node, is_deferred in imports_in(ast.parse(path.read_text(encoding="utf-8"))):
            targets = {target for target in targets_of(node) if target.startswith("skeval")}
            arrows += [Import(module, target, is_deferred) for target in targets]
    return arrows


def imports_in(
    block: ast.AST, is_deferred: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield what is imported at run time, and whether inside a function."""
    is_deferred |= isinstance(block, ast.FunctionDef)
    for node in ast.iter_child_nodes(block):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, is_deferred
        # no expression imports
        elif not isinstance(node, ast.expr) and not is_typing_only(node):
            yield from imports_in(node, is_deferred)


def is_typing_only(block: ast.AST) -> bool:
    return isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)


def targets_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    inner = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in modules() else str(node.module) for name in inner]


def room(module: str) -> str:
    """Return the package of a module, or its own name where it stands on a floor of its own."""
    inside = module.removeprefix("skeval.")
    return inside if inside in UPPER else inside.partition(".")[0]


def floor(module: str) -> int:
    (found,) = (i for i, rooms in enumerate(FLOORS) if room(module) in rooms)
    return found


def test_every_room_has_its_floor():
    rooms = {room(module) for module in modules()}
    assert rooms == set().union(*FLOORS, {TOP})


@pytest.mark.parametrize("name", sorted(set().union(*FLOORS)))
def test_arrows_point_down(name):
    up = [
        i
        for i in imports()
        if not i.is_deferred
        and room(i.module) == name != room(i.target)
        and (i.target == TOP or floor(i.target) >= floor(i.module))
    ]
    assert not up, "\n" + "\n".join(map(cure_of, up))


def cure_of(upward: Import) -> str:
    """Return what to import instead of something above."""
    where = f"{upward.module} imports from {upward.target}"
    if upward.target == TOP:
        return (
            f"{where}, which imports all of the package: inside the package, import Metric from "
            "skeval.core.base, MetricTags from skeval.core.tags, Result from "
            "skeval.results.result, and other names from the file that defines them"
        )
    return (
        f"{where}, which is not below it (FLOORS in tests/test_architecture.py): move what both "
        "need to a lower room, or import it inside the function and say why in a comment"
    )


def test_no_ordinary_module_knows_of_large_tables_and_clusters():
    known_by = {i.module for i in imports() if room(i.target) == "scale" != room(i.module)}
    assert {name for name in known_by if room(name) != "cli"} == {
        "skeval.core.reading",  # reads tables that need not fit in memory
        "skeval.neighbors",  # exports two of its classes
        "skeval.steps.neighbors",  # searches on workers
        "skeval.utils.engines",  # asks whether a cluster is active
    }


def test_renderers_know_results_alone():
    """What is drawn is drawn of results: no renderer computes."""
    below = {room(i.target) for i in imports() if room(i.module) == "reporting"}
    assert below <= {"reporting", "results", "core", "stats", "utils", "exceptions"}


def test_few_modules_stand_at_the_root():
    at_root = [p for p in PACKAGE.glob("*.py") if p.stem not in {"__init__", "__main__"}]
    assert len(at_root) <= MAX_AT_ROOT


@pytest.mark.slow
def test_a_file_can_be_held():
    lines = {name: n_code_lines(path.read_text("utf-8")) for name, path in modules().items()}
    assert not {name: n for name, n in lines.items() if n > MAX_CODE_LINES}


def n_code_lines(source: str) -> int:
    """Return how many lines are neither blank, comment nor docstring."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                documented.update(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    return sum(1 for i, line in lines if i not in documented and line and line[0] != "#")


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


def arrows() -> dict[str, set[str]]:
    """Return the files that each file imports, unless inside functions."""
    found: dict[str, set[str]] = {}
    for i in imports():
        if i.module != i.target and not i.is_deferred:
            found.setdefault(i.module, set()).add(i.target)
    return found


def test_no_circle_of_files():
    below = arrows()
    left = set(modules())
    while ready := {name for name in left if not below.get(name, set()) & left}:
        left -= ready
    assert not left  # these are in circles, or import what is in one


def test_only_packages_list_their_names():
    listing = [
        module
        for module, path in modules().items()
        if path.name != "__init__.py"
        and module not in PUBLIC
        and re.search(r"^__all__", path.read_text("utf-8"), re.M)
    ]
    assert not listing


# what a developer looks for, the file guessed, and what stands there if the guess is right
LOOKED_FOR = (
    ("the sentence of DCRShare", "privacy/distance_screens/dcr.py", "def _summary"),
    ("missing values in Gower distances", "neighbors/encoding.py", "MISSING = "),
    ("what a preset holds", "suites/presets.py", "def _syneval"),
    ("the level of a family of tests", "results/verdict.py", "ALARM_LEVEL = "),
    ("the JSON of results", "results/suite_result.py", "def to_json"),
    ("number of threads", "utils/cores.py", "class Cores"),
    ("TOML of a policy", "results/policy.py", "def from_toml"),
    ("DeLong's error", "stats/roc.py", "def delong"),
    ("toy tables of the checks", "checks/tables.py", "make_mixed"),
    ("pages of the PDF", "reporting/typesetting/templates/main.typ", "decision-page"),
    ("SDV's metadata", "tables/schema.py", "def from_sdv"),
    ("when large tables are sampled", "scale/context.py", "MAX_ROWS = "),
    ("separators of CSV files", "tables/csv_dialect.py", "def _separator"),
    ("options of evaluate", "cli/evaluate.py", "def evaluate("),
    ("Holm's correction", "results/verdict.py", "def holm"),  # in stats, its family here
)


def test_what_is_looked_for_is_found_in_one_guess():
    missed = [
        question
        for question, path, there in LOOKED_FOR
        if there not in (PACKAGE / path).read_text(encoding="utf-8")
    ]
    assert missed == ["Holm's correction"]


def test_a_metric_is_imported_from_the_package_that_its_tag_names():
    packages = {"validity": "diagnostic"}  # as SDMetrics names it
    wrong = [
        name
        for package in (diagnostic, fidelity, utility, privacy)
        for name, metric in metrics_of_package(package.__name__).items()
        if f"skeval.{packages.get(metric.tags.aspect, metric.tags.aspect)}" != package.__name__
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


@pytest.mark.slow
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


@cache
def exported_names(pattern: str = "*") -> set[str]:
    """Return the names that packages and public modules export."""
    names: set[str] = set()
    for path in PACKAGE.rglob(pattern):
        if path.suffix not in (".py", ".pyi"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                named = node.value.elts if isinstance(node.value, ast.List) else []
                names |= {one.value for one in named if isinstance(one, ast.Constant)}
    return names


def documented_definitions(path: Path) -> Iterator[tuple[ast.AST, bool, int]]:
    """Yield classes and functions, whether they are exported, and the lines of their docstrings."""
    tree, names = ast.parse(path.read_text(encoding="utf-8")), exported_names()
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    # parameters that are declared once stand in the docstring of a base class
    shown = [
        c for c in classes if c.name in names or "declared" in map(ast.unparse, c.decorator_list)
    ]
    methods = {id(n) for c in shown if c.name in names for n in c.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            is_shown = node in shown or node.name in names
            is_shown |= id(node) in methods and not node.name.startswith("_")
            yield node, is_shown, len((ast.get_docstring(node) or "").splitlines())


@pytest.mark.slow
def test_docstrings_of_internal_names_are_short():
    long_ones = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node, is_exported, n_lines in documented_definitions(path)
        if not is_exported and n_lines > 3
    ]
    assert not long_ones, f"keep the first line, and say why in comments: {', '.join(long_ones)}"


@pytest.mark.slow
def test_exported_functions_document_their_parameters():
    lacking = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node, *_ in documented_definitions(path)
        if node.name in exported_names("__init__.*") and path.parent.name != "cli"
        if isinstance(node, ast.FunctionDef) and node.col_offset == 0
        if [*node.args.args, *node.args.kwonlyargs]
        and "Parameters\n---" not in (ast.get_docstring(node) or "")
    ]
    assert not lacking, f"write the section Parameters of: {', '.join(lacking)}"
