"""Configuration of the documentation site (`sphinx-build -W -b html docs docs/_build/html`)."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import skeval

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

with (HERE.parent / "pyproject.toml").open("rb") as file:
    pyproject = tomllib.load(file)

project = "skeval"
author = "The skeval developers"
project_copyright = f"2026, {author}"
release = version = skeval.__version__

extensions = [
    "api_reference",
    "metric_pages",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(joblib|pandas|scipy|sklearn)\..*"),  # no inventories are fetched
    # inside, and named for those who read the source
    (
        r"py:.*",
        r"skeval\.(core\.context|model_selection\.cross_validation|results|stats|steps|utils|verdict)\b.*",
    ),
    (r"py:.*", r"lambda|by_context|Requirement|skeval\.parameters\.has_methods\..*"),
]

# The reference: pages from __all__ (docs/_ext), one page a name (autosummary).
api_package = "skeval"
api_modules = ["datasets", "exceptions", "parameters", "plotting"]
autodoc_typehints = "none"  # the Parameters sections name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates list them
numpydoc_validation_checks = set(pyproject["tool"]["numpydoc_validation"]["checks"])
# fields of named tuples have the docstrings that Python gives them
numpydoc_validation_exclude = {r"skeval\.text\.(Entity|Canaries)\.\w+$"}

# The site runs all examples. .ci/run runs a seventh, another one each day.
examples = sorted(path.stem for path in (HERE.parent / "examples").glob("plot_*.py"))
day = os.environ.get("SKEVAL_CI", "all")
chosen = examples if day == "all" else examples[int(day) :: 7]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": rf"[/\\]({'|'.join(chosen)})\.py$",
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("skeval",),
    "reference_url": {"skeval": None},
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["skeval.css"]
html_title = f"skeval {version}"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 7,  # all top-level pages are visible
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
