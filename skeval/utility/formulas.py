"""What a formula may say: formulaic evaluates its terms as Python, so that few words are let in."""

from __future__ import annotations

import keyword
import re
from typing import Annotated

from skeval.parameters import Legal

FUNCTIONS = (
    *("log", "log2", "log10", "exp", "exp2", "exp10", "I", "C", "Q"),
    *("center", "scale", "standardize", "poly", "bs", "cr", "cs", "cc", "lag"),
)
_LONGEST = 2_000  # characters of a formula
_MOST_POWERS = 3
_OPERANDS = ("odd", "number", "name", "text")
# neither dots, brackets nor braces: they lead from a column to everything that Python can do
_TOKEN = re.compile(
    r"(?P<odd>`[^`'\"\\\n{}]+`)|(?P<number>(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?![\w.]))"
    r"|(?P<call>[^\W\d]\w*)\s*\(|(?P<name>[^\W\d]\w*)"
    # formulaic looks for brackets and quotes within texts, too, and % begins a text of its own
    r"|(?P<text>'[^'\"`\\\n%(){}\[\]]*'|\"[^'\"`\\\n%(){}\[\]]*\")"
    r"|(?P<sign>[-+/~|(),=]|:(?!\s*=)|\*(?!\*))"
    # a power of powers takes longer than anybody waits
    r"|(?P<power>(?:\*\*|\^)\s*[0-9](?:\.[0-9]{1,15})?(?![\w.])(?!\s*(?:\*\*|\^)))|\s+"
)


def is_formula(text: object) -> bool:
    """Tell whether a formula is made of names, numbers, signs and the functions above alone.

    Examples
    --------
    >>> from skeval.utility.formulas import is_formula
    >>> is_formula("income ~ log(age) + city * plan"), is_formula("y ~ a.to_csv('x')")
    (True, False)
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    at = n_powers = 0
    was_operand = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["call"] is not None and token["call"] not in FUNCTIONS):
            return False
        if keyword.iskeyword(token["name"] or "") and token["name"] not in ("True", "False"):
            return False  # lambda, for
        is_operand = token.lastgroup in _OPERANDS
        # two in a row are a call, as of (eval)('x'), or a text that Python runs, as f'{x}'
        if was_operand and (is_operand or token.lastgroup == "call" or token["sign"] == "("):
            return False
        if token.lastgroup is not None:  # no space
            was_operand = is_operand or token.lastgroup == "power" or token["sign"] == ")"
        n_powers += token["power"] is not None
        at = token.end()
    return n_powers <= _MOST_POWERS


FormulaText = Annotated[
    str,
    Legal(
        "a formula such as 'income ~ log(age) + city * plan', of names of columns (`odd names` in "
        f"backticks), numbers, + - * / : ^ ~ and {', '.join(FUNCTIONS)}",
        is_formula,
        -1,
    ),
]
