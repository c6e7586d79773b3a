"""Write the pages of the API reference from the names that packages list in `__all__`.

Every public package gets a page, and so does each module named in the configuration value
`api_modules`. A new metric therefore documents itself by being exported. A name that several
packages export is described once, in the outermost.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx
from sphinx.config import Config

LEFT_OUT = {"skeval.cli"}  # for the shell: `skeval --help`

INDEX = """\
API reference
=============

Names that are not listed here may change without notice. To find the metric that answers a
question, see :doc:`/user_guide/choosing`. All pages of metrics have the same form, and
:doc:`/glossary` explains the terms.

.. list-table::
   :widths: 30 70

{rows}

.. toctree::
   :hidden:

{pages}
"""


def public_modules(package: ModuleType, extra: list[str]) -> Iterator[ModuleType]:
    """Yield the package, its public subpackages and the `extra` modules, outermost first."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [name for _, name, is_package in found if is_package]
    names += [f"{package.__name__}.{name}" for name in extra]
    public = [
        name
        for name in names
        if not any(part[0] == "_" for part in name.split(".")) and name not in LEFT_OUT
    ]
    yield package
    for name in sorted(public, key=lambda name: (name.count("."), name)):
        yield importlib.import_module(name)


def exported(module: ModuleType, described: set[int]) -> dict[str, list[str]]:
    """Sort what a module exports and no earlier one did into headings."""
    sections: dict[str, list[str]] = {"Classes": [], "Functions": [], "Exceptions": [], "Other": []}
    for name in sorted(getattr(module, "__all__", ()), key=str.lower):
        value = getattr(module, name)
        if name.startswith("_") or inspect.ismodule(value) or id(value) in described:
            continue
        if inspect.isclass(value):
            heading = "Exceptions" if issubclass(value, BaseException) else "Classes"
        else:
            heading = "Functions" if inspect.isroutine(value) else "Other"
        if heading != "Other":
            described.add(id(value))
        sections[heading].append(name)
    return {heading: names for heading, names in sections.items() if names}


def page(module: ModuleType, sections: dict[str, list[str]]) -> str:
    """Return the page of one module, with a table of names under each heading."""
    title = f"``{module.__name__}``"
    lines = [title, "=" * len(title), "", f".. module:: {module.__name__}", ""]
    if module.__doc__:
        lines += [module.__doc__.strip().partition("\n")[0], ""]
    for heading, names in sections.items():
        lines += [heading, "-" * len(heading), ""]
        lines += [".. autosummary::", "   :toctree: generated", ""]
        lines += [*(f"   {name}" for name in names), ""]
    return "\n".join(lines)


def write(path: Path, text: str) -> None:
    """Write a page unless it is there already: Sphinx reads again what is newer."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def remove_others(folder: Path, names: set[str]) -> None:
    """Delete the pages of names that are no longer public."""
    for path in folder.glob("*.rst"):
        if path.stem not in names:
            path.unlink()


def write_pages(app: Sphinx, config: Config) -> None:
    """Write api/index.rst and a page for each public module with something to describe."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    described: set[int] = set()
    pages, rows, objects = [], [], []
    for module in public_modules(importlib.import_module(config.api_package), config.api_modules):
        if sections := exported(module, described):
            write(folder / f"{module.__name__}.rst", page(module, sections))
            pages.append(module.__name__)
            about = (module.__doc__ or "").strip().partition("\n")[0]
            rows.append(f"   * - :doc:`{module.__name__}`\n     - {about}")
            objects += [
                f"{module.__name__}.{name}" for names in sections.values() for name in names
            ]
    names = "\n".join(f"   {name}" for name in pages)
    write(folder / "index.rst", INDEX.format(pages=names, rows="\n".join(rows)))
    # named, since Sphinx looks for sources of a known tree only after autosummary ran
    config.autosummary_generate = [f"api/{name}.rst" for name in pages]
    remove_others(folder, {"index", *pages})
    remove_others(folder / "generated", set(objects))


def skip_foreign(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Leave out of a class what it inherits from other packages, such as scikit-learn's routing."""
    function = inspect.unwrap(getattr(obj, "fget", None) or getattr(obj, "__func__", obj))
    owner = getattr(function, "__module__", None)
    foreign = (
        what == "class" and callable(function) and not str(owner).startswith(app.config.api_package)
    )
    return True if foreign else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension. The pages must exist before Sphinx searches for sources."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_config_value("api_package", "", "env", [str])
    app.add_config_value("api_modules", [], "env", [list])
    app.connect("config-inited", write_pages)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
