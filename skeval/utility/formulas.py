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
# neither dots, brackets nor braces: they lead from a column to everything that Python can do
_TOKEN = re.compile(
    r"(?P<odd>`[^`]+`)|(?P<number>(?:[0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15})(?![\w.]))"
    r"|(?P<call>[^\W\d]\w*)\s*\(|(?P<name>[^\W\d]\w*)"
    r"|(?P<text>'[^'\\\n]*'|\"[^\"\\\n]*\")|(?P<sign>[-+/:~|%(),=]|\*(?!\*))"
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
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["call"] is not None and token["call"] not in FUNCTIONS):
            return False
        if token["name"] is not None and keyword.iskeyword(token["name"]):  # lambda, for
            return False
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
