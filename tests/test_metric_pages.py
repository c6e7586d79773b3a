"""The page of every metric has the same form, and each of its parts has content."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from skeval.core.catalogue import metric_classes
from skeval.fidelity import KSComplement

DOCS = Path(__file__).parents[1] / "docs"
FORM = (
    *("What it measures", "Aspect", "Data", "Range", "Direction", "Baseline"),
    *("Large tables", "Other names", "Guide"),
    *("How it works", "When it misleads", "Example", "Formula and details", "Source", "See also"),
)
WRITTEN = """
Summary of the metric.

:class:`X` explains how it works.

:Parameters:

    **columns** : list of str
        Columns to use.

.. warning::

    It ignores the tails.

.. seealso::

    :obj:`TVComplement`
        Categories.

.. rubric:: Notes

The formula.

.. rubric:: Examples

>>> 0.75
"""


def extension() -> ModuleType:
    """Return the extension of Sphinx, which does not need Sphinx to find the parts."""
    spec = importlib.util.spec_from_file_location("metric_pages", DOCS / "_ext/metric_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = extension()


@pytest.mark.parametrize("name", metric_classes())
def test_page_of_a_metric_has_every_part(name):
    parts = PAGES.parts(metric_classes()[name])
    missing = [heading for heading in FORM if not parts.get(heading)]
    assert not missing, f"{name} has no {', '.join(missing)} (docs/_ext/metric_pages.py)"
    assert ">>> " in parts["Example"]
    assert len(parts["How it works"].split()) > 10


def test_terms_of_the_pages_are_in_the_glossary():
    terms = re.findall(r":term:`([\w ]+)`", " ".join(PAGES.EVIDENCE.values()))
    glossary = (DOCS / "glossary.rst").read_text("utf-8")
    assert not [term for term in terms if f"\n   {term}\n" not in glossary]


def test_parts_of_a_metric():
    parts = PAGES.parts(KSComplement)
    assert parts["Range"] == "The value ranges from 0 (no overlap) to 1 (equal distributions)."
    assert parts["Direction"] == "Higher is better."
    assert parts["Data"] == "Training data and synthetic data. Holdout data are optional."
    assert parts["Guide"] == ":doc:`/user_guide/fidelity`"


def test_sections_of_numpydoc_are_in_the_order_of_the_form():
    page = "\n".join(PAGES.rearrange(KSComplement, WRITTEN.splitlines()))
    rubrics = re.findall(r"^\.\. rubric:: (.*)$", page, re.M)
    facts = re.findall(r"^   \* - (.*)$", page, re.M)
    assert [name for name in (*facts, *rubrics) if name != "Parameters"] == list(FORM)
    assert "Summary of the metric." not in page
    assert "\n**columns** : list of str\n    Columns to use.\n" in page
    assert ".. rubric:: How it works\n\n:class:`X` explains" in page
