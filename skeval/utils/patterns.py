"""Patterns from files of strangers: those that end soon on any cell, and no others."""

from __future__ import annotations

import re

from skeval.exceptions import InvalidParameterError

_TOKEN = re.compile(
    r"""(?P<atom>\\[dDwWsS]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[\](){}*+?|])
        (?P<repeat>[*+?]|\{\d{1,3}(?:,\d{0,3})?\})?
      |(?P<open>\((?:\?:)?)
      |(?P<close>\))(?![*+?{])
      |(?P<other>\|)""",
    re.VERBOSE,
)
_FIXED = re.compile(r"\{\d+\}")
_LONGEST, _MOST_REPEATS, _MOST_WAYS = 500, 3, 1_000
_ROOM = (100_000, 10_000, 1_000, 128)  # characters of a cell, by the number of repeats


def bounded(pattern: str, column: str) -> str:
    """Return a pattern that matches the same cells, and that ends soon on all others.

    Parameters
    ----------
    pattern : str
        Characters, classes and groups; groups are not repeated, and at most three others are
        repeated a number of times that varies.
    column : str
        For the message.

    Returns
    -------
    str
        A regular expression. Cells so long that matching would take a second do not match.

    Raises
    ------
    InvalidParameterError
        If it is another one: matching it might take for ever.

    Examples
    --------
    >>> import re
    >>> from skeval.utils.patterns import bounded
    >>> bool(re.fullmatch(bounded("[A-Z]{2}-[0-9]+", "id"), "AB-123"))
    True
    """
    ways, alternatives, n_repeats, at = 1, [1], 0, 0
    while isinstance(pattern, str) and at < len(pattern) <= _LONGEST:
        token = _TOKEN.match(pattern, at)
        if token is None or (token["close"] and len(alternatives) == 1):
            break
        at = token.end()
        if token["open"]:
            alternatives.append(1)
        elif token["other"]:
            alternatives[-1] += 1
        elif token["close"]:
            ways *= alternatives.pop()
        n_repeats += bool(token["repeat"]) and not _FIXED.fullmatch(token["repeat"])
    ways *= alternatives[0]
    whole = isinstance(pattern, str) and at == len(pattern) and len(alternatives) == 1
    if not whole or n_repeats > _MOST_REPEATS or ways > _MOST_WAYS:
        raise InvalidParameterError(
            f"the pattern of {column} must be of characters, classes and groups that are not "
            f"repeated, with at most {_MOST_REPEATS} of * + ? {{m,n}}, so that it ends soon on any "
            f"cell; got {str(pattern)[:60]!r}."
        )
    return rf"(?=[\s\S]{{0,{_ROOM[n_repeats]}}}\Z)(?:{pattern})"
