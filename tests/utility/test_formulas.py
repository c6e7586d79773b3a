"""Formulas accept only a few names, and refuse other Python code that formulaic evaluates."""

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
        "y ~ bs(x, knots=(1000, 2000), degree=3, lower_bound=-500) + cc(x, df=3, constraints='center')",
        "y ~ (a + b + c + d + e)**3 + f*g*h/i - 1",
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "formula",
    [
        "y ~ (a + b + c + d + e)**9",
        "y ~ " + "*".join("abcdefghijklmnopqrst"),
        "y ~ " + "*".join(["a", "b"] * 15),
        "y ~ (a + b)*(c + d)*(e + f)*(g + h)*(i + j)*(k + l)*(m + n)",
        "y ~ bs(x, df=100000)",
        "y ~ bs(x, 1000000)",
        "y ~ bs(x, degree=100000)",
        "y ~ cr(x, df=(5000))",
        "y ~ bs(x, df=99*99*99)",
        "y ~ bs(x, I(99*99*99))",
        "y ~ poly(x, 5000)",
        "y ~ " + "-" * 1900 + "a",
        "y ~ a + 01",
    ],
)
def test_formulas_that_nobody_waits_for(formula):
    assert not is_formula(formula)
