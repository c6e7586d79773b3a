"""Formulas are made of few words: what formulaic would evaluate as Python beyond them is refused."""

from __future__ import annotations

import pytest

from skeval.utility.formulas import is_formula


@pytest.mark.parametrize(
    "formula",
    [
        "income ~ log(age) + city * plan",
        "y ~ 0 + a:b - 1",
        "y ~ (a + b + c)**2 + d^3",
        "y ~ poly(age, 2) + bs(x, df=4) + `odd name (m)`",
        "y ~ I(x**0.5) + C(city) + 1.5",
        "y ~ a | b",
        "y ~ bs(x, df=3, include_intercept=True)",
        "",
    ],
)
def test_what_formulas_say(formula):
    assert is_formula(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a.to_csv('x')",
        "y ~ __import__('os')",
        "y ~ eval('1')",
        "y ~ {a.b}",
        "y ~ a[0]",
        "y ~ I(lambda: 1)",
        "y ~ log (open ('x'))",
        "y ~ np.log(a)",
        "y ~ I(9**9**9)",
        "y ~ I(9**(9**9))",
        "y ~ I((((a**9)**9)**9)**9)",
        "y ~ I(" + "9" * 40 + ")",
        "y ~ a @ b",
        "y ~ a; b",
        "y ~ log((eval)('1'))",
        "y ~ log((eval) ('1'))",
        "y ~ I(`eval`('1'))",
        "y ~ I((log := eval), log('1'))",
        "y ~ I(log: = 2)",
        "y ~ log(f'{open}')",
        "y ~ log(f '{open}')",
        "y ~ log((eval)`a`)",
        "y ~ a ** 2 ('1')",
        "y ~ a:log('b) + {open} + a:log(c')",
        "y ~ center(a, '\") or open or (\"')",
        "y ~ I(`a'` + 'b' + 'c' + `open` + 'd' + `e'` + 'f')",
        "y ~ a % ` % {open} % ` % b",
        "y ~ a b",
        "y ~ 'a\\'",
        "y ~ a" + " + a" * 1000,
        3,
    ],
)
def test_what_formulas_do_not_say(formula):
    assert not is_formula(formula)
