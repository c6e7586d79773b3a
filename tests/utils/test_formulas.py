"""Formulas are read on a terminal."""

from __future__ import annotations

import re

import pytest

from skeval.cli.catalogue import explanation_lines
from skeval.core.catalogue import metric_classes
from skeval.utils.formulas import formula_as_text, formulas_as_text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (r"\frac{1}{n} \sum_i \max(0, t - x_i)", "(1 / n) sum_i max(0, t - x_i)"),
        (r"\min\left(1, \frac{1 - p}{1 - \pi}\right)", "min(1, (1 - p) / (1 - π))"),
        (r"\frac{|\{s \in S: s \in T\}|}{|S|}", "|{s ∈ S: s ∈ T}| / |S|"),
        (r"\ln\frac{1 - a}{b}", "ln((1 - a) / b)"),
        (r"x^{-2} \ge F_\text{naive}", "x^(-2) ≥ F_naive"),
        (r"\frac{A_j(S)}{B} \quad \text{or} \quad c", "A_j(S) / B    or    c"),
    ],
)
def test_a_formula(formula, text):
    assert formula_as_text(formula) == text


def test_blocks_stand_by_themselves():
    doc = "It is\n\n.. math::\n\n    \\frac{a}{b},\n    \\qquad c\n\nwhere :math:`a_{i}` is one."
    assert formulas_as_text(doc) == "It is\n\n    a / b,     c\n\nwhere a_i is one."


def test_no_metric_is_explained_in_latex():
    left = {
        name: found
        for name in metric_classes()
        if (found := re.findall(r"math:|\\[A-Za-z]+", "\n".join(explanation_lines(name))))
    }
    assert not left
