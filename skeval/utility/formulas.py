"""Restrict formulas to a few words, because formulaic evaluates their terms as Python."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Sequence
from typing import Annotated

from skeval.utils.parameters import Legal

FUNCTIONS = (
    *("log", "log2", "log10", "exp", "exp2", "exp10", "I", "C", "Q"),
    *("center", "scale", "standardize", "poly", "bs", "cr", "cs", "cc", "lag"),
)
_MAX_LENGTH = 2_000  # characters of a formula
_MAX_POWERS = 3
_MAX_TERMS = 2_000
_MAX_COUNTED = 100  # maximum of degrees, knots and lagged rows
_COUNTING = ("poly", "bs", "cr", "cs", "cc", "lag")
_PLACES = ("knots", "lower_bound", "upper_bound")  # arguments that are values of the column
_OPERANDS = ("odd", "number", "name", "text")
# dots, brackets and braces are rejected, because they give access to all of Python
_TOKEN = re.compile(
    r"(?P<odd>`[^`'\"\\\n{}]+`)|(?P<number>(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?![\w.]))"
    r"|(?P<call>[^\W\d]\w*)\s*\(|(?P<name>[^\W\d]\w*)"
    # formulaic also finds brackets and quotes within texts, and % begins a text
    r"|(?P<text>'[^'\"`\\\n%(){}\[\]]*'|\"[^'\"`\\\n%(){}\[\]]*\")"
    r"|(?P<sign>[-+/~|(),=]|:(?!\s*=)|\*(?!\*))"
    # a power of a power can run for a very long time
    r"|(?P<power>(?:\*\*|\^)\s*[0-9](?:\.[0-9]{1,15})?(?![\w.])(?!\s*(?:\*\*|\^)))|\s+"
)


def is_formula(text: object) -> bool:
    """Return whether a formula has only names, numbers, signs and the functions above."""
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        return False
    at = n_powers = 0
    tokens = list[re.Match[str]]()
    was_operand = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["call"] is not None and token["call"] not in FUNCTIONS):
            return False
        if keyword.iskeyword(token["name"] or "") and token["name"] not in ("True", "False"):
            return False  # lambda, for
        is_operand = token.lastgroup in _OPERANDS
        # two tokens in a row are a call, as in (eval)('x'), or a text that Python runs, as f'{x}'
        if was_operand and (is_operand or token.lastgroup == "call" or token["sign"] == "("):
            return False
        if token.lastgroup is not None:  # not a space
            was_operand = is_operand or token.lastgroup == "power" or token["sign"] == ")"
        n_powers += token["power"] is not None
        tokens += [token] if token.lastgroup is not None else []
        at = token.end()
    return n_powers <= _MAX_POWERS and _is_small(tokens)


def _is_small(tokens: Sequence[re.Match[str]]) -> bool:
    """Return whether a formula has few terms, and functions with small numbers only."""
    sides, depth = [""], 0
    for token in tokens:
        sign = token["sign"] or ""
        depth += (sign == "(" or token["call"] is not None) - (sign == ")")
        if sign in ("~", "|") and not depth:
            sides.append("")
        else:
            sides[-1] += _PLAIN.get(sign) or _PLAIN.get(token.lastgroup or "") or token[0]
    try:
        trees = [ast.parse(side.strip(), mode="eval").body for side in sides if side.strip()]
        calls = [one for tree in trees for one in ast.walk(tree) if isinstance(one, ast.Call)]
        few = all(_n_terms(tree) <= _MAX_TERMS for tree in trees)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return few and not any(map(_counts_far, calls))


_PLAIN = {":": "@", "odd": " v ", "text": " '' "}  # as Python reads them


def _n_terms(node: ast.AST) -> float:
    """Return the maximum number of terms of a formula, or infinity if it is too large."""
    if isinstance(node, ast.UnaryOp):
        return _n_terms(node.operand)
    if not isinstance(node, ast.BinOp):
        return 1.0
    left, right = _n_terms(node.left), _n_terms(node.right)
    if isinstance(node.op, ast.Pow | ast.BitXor):
        power = node.right.value if isinstance(node.right, ast.Constant) else math.inf
        return min(left, _MAX_TERMS + 1.0) ** float(power)  # type: ignore[arg-type]
    both = left * right
    if isinstance(node.op, ast.MatMult):
        return both
    return left + right + (both if isinstance(node.op, ast.Mult | ast.Div) else 0.0)


def _counts_far(call: ast.Call) -> bool:
    """Return whether a function receives large numbers, or sums, as counts."""
    if not isinstance(call.func, ast.Name) or call.func.id not in _COUNTING:
        return False
    given = [*call.args[1:], *(one.value for one in call.keywords if one.arg not in _PLACES)]
    return any(
        isinstance(part, ast.BinOp | ast.Call)
        or (isinstance(part, ast.Constant) and _is_large(part.value))
        for one in given
        for part in ast.walk(one)
    )


def _is_large(value: object) -> bool:
    return isinstance(value, int | float) and value > _MAX_COUNTED


FormulaText = Annotated[
    str,
    Legal(
        "a formula such as 'income ~ log(age) + city * plan' with names of columns (`odd names` in "
        f"backticks), numbers, + - * / : ^ ~ and {', '.join(FUNCTIONS)}, with at most "
        f"{_MAX_TERMS:,} terms and at most {_MAX_COUNTED} knots or powers each",
        is_formula,
        -1,
    ),
]
