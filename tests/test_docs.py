"""The documentation leads where it says: names, pages, links and examples exist, and none is internal."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from sklearn.model_selection import train_test_split

from skeval import make_suite
from skeval.datasets import make_mixed
from skeval.generators import GaussianCopula

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
BUILT = {"api", "auto_examples", "_build", "_templates"}
PAGES = [
    path for path in sorted(DOCS.rglob("*.rst")) if path.relative_to(DOCS).parts[0] not in BUILT
]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def public(module: str, name: str) -> Any:
    """Return what a public module lists under a name."""
    owner = importlib.import_module(module)
    assert name in owner.__all__, f"{module}.{name}"
    return getattr(owner, name)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_names_of_the_pages_are_public(page):
    content = page.read_text(encoding="utf-8")
    module = "skeval"
    for line in content.splitlines():
        if current := re.match(r"\.\. currentmodule:: ([\w.]+)", line):
            module = current[1]
        for target in re.findall(r":(?:class|func|meth):`[^`<]*?<?~?([\w.]+)>?`", line):
            full = target if target.startswith("skeval.") else f"{module}.{target}"
            owner, _, name = full.rpartition(".")
            if owner.rpartition(".")[2][:1].isupper():  # a method
                owner, _, kind = owner.rpartition(".")
                assert hasattr(public(owner, kind), name), full
            elif page.stem == "developer_guide":  # of what is inside
                assert hasattr(importlib.import_module(owner), name), full
            else:
                public(owner, name)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    content = page.read_text(encoding="utf-8")
    targets = re.findall(r":doc:`[^`<]*?<?([\w/]+)>?`", content, re.M)
    for block in re.findall(r"^\.\. toctree::\n(?:   :.*\n)*\n((?:   \S.*\n?)+)", content, re.M):
        targets += block.split()
    for target in targets:
        path = DOCS / target.lstrip("/") if target.startswith("/") else page.parent / target
        relative = path.resolve().relative_to(DOCS)
        if relative.parts[0] == "auto_examples":
            path = ROOT / "examples" / relative.name.replace("index", "README")
            assert path.with_suffix(".py").exists() or path.with_suffix(".rst").exists(), target
        elif relative.parts[0] != "api":
            assert path.with_suffix(".rst").exists(), target


def test_every_page_is_in_the_table_of_contents():
    listed = {"index"}
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        for block in re.findall(
            r"^\.\. toctree::\n(?:   :.*\n)*\n((?:   \S.*\n?)+)", content, re.M
        ):
            listed |= {
                (page.parent / entry).resolve().relative_to(DOCS).as_posix()
                for entry in block.split()
            }
    assert not {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - listed


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md", "CONTRIBUTING.md"])
def test_links_of_the_front_matter_lead_to_files(name):
    content = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", content)
    targets += re.findall(r"`((?:docs|skeval|examples|benchmarks)/[\w./]+\.\w+)`", content)
    assert not [target for target in targets if not (ROOT / target).exists()]


@pytest.mark.parametrize("page", [README, *PAGES], ids=name_of)
def test_examples_of_the_pages_are_python_and_import_what_there_is(page):
    content = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", content, flags=re.S)
    blocks += re.findall(
        r"\.\. code-block:: python\n(?:   :.*\n)*\n((?:(?:   .*)?\n)+)", f"{content}\n"
    )
    for block in blocks:
        for node in ast.walk(ast.parse(textwrap.dedent(block))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("skeval"):
                for alias in node.names:
                    assert hasattr(importlib.import_module(str(node.module)), alias.name)


@pytest.mark.parametrize("script", SCRIPTS, ids=name_of)
def test_the_gallery_uses_public_names_only(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("skeval"):
            for alias in node.names:
                public(str(node.module), alias.name)
        if isinstance(node, ast.Attribute):
            assert not re.match(r"_(?!_)", node.attr), node.attr
            assert not node.attr.endswith("_context"), node.attr  # what suites and steps use


def test_one_screen_of_the_readme_before_the_first_figure():
    before = README.read_text(encoding="utf-8").partition("![")[0].splitlines()
    assert len(before) <= 40


def test_the_readme_is_read_in_three_minutes():
    assert len(README.read_text(encoding="utf-8")) <= 6_500


@pytest.mark.slow
def test_the_readme_states_the_outcome_of_its_example():
    train, holdout = train_test_split(
        make_mixed(400, random_state=1), test_size=0.5, random_state=0
    )
    synthetic = GaussianCopula(random_state=0).fit(train).sample(200)
    outcome = make_suite().fit(train, holdout).evaluate(synthetic).verdict().outcome
    assert f'result.verdict().outcome  # "{outcome}"' in README.read_text(encoding="utf-8")


def test_extras_of_the_documentation_are_those_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    listed = re.findall(r"^   \* - (``.*)$", (DOCS / "dependencies.rst").read_text("utf-8"), re.M)
    assert {name for row in listed for name in re.findall(r"``(\w+)``", row)} == extras
