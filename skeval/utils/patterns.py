"""Patterns from files of other people, which are refused if the search may be long."""

from __future__ import annotations

import math
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
_MAX_LENGTH, _MAX_REPEATS, _MAX_WAYS = 500, 3, 1_000
_ROOM = (100_000, 10_000, 1_000, 128)  # characters of a cell, by the number of repeats
_MIN_ROOM = 50
_MAX_STEPS, _OF_A_PLACE = 4e7, 25  # about a tenth of a second


def bounded_pattern(pattern: str, column: str) -> str:
    """Return a pattern that matches the same cells, and that ends soon on all others."""
    ways, alternatives, n_repeats, at = 1, [1], 0, 0
    while isinstance(pattern, str) and at < len(pattern) <= _MAX_LENGTH:
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
    fits = whole and n_repeats <= _MAX_REPEATS and ways <= _MAX_WAYS
    if not fits or (room := _room(ways, n_repeats, len(pattern))) < _MIN_ROOM:
        raise InvalidParameterError(
            f"the pattern of {column} may contain characters, classes and groups that are not "
            f"repeated, with at most {_MAX_REPEATS} of * + ? {{m,n}} and few alternatives, so that "
            f"the search ends soon in any cell. Received {str(pattern)[:60]!r}."
        )
    try:
        re.compile(pattern)
    except re.error as error:  # here, because the error counts from the beginning
        fault = f"the pattern of {column} cannot be read: {error}."
        raise InvalidParameterError(fault) from error
    return rf"(?=[\s\S]{{0,{room}}}\Z)(?:{pattern})"


def _room(ways: int, n_repeats: int, length: int) -> int:
    """Return how long a cell may be, so that all places of the repeats are tried in time."""
    if not n_repeats:
        return _ROOM[0]
    places = _MAX_STEPS / (ways * (length + _OF_A_PLACE))  # length ** n / n! places are tried
    return min(_ROOM[n_repeats], int((places * math.factorial(n_repeats)) ** (1 / n_repeats)))
