"""Recognizer of identifiers and capitalized words by their form, without a model."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from sklearn.base import BaseEstimator

from skeval.core.declared import declared
from skeval.steps.entities import Entity
from skeval.text.recognizers import package_version
from skeval.utils.parameters import Legal, check_parameters, legal_sets

KINDS = ("EMAIL", "URL", "IBAN", "CARD", "IP", "PHONE", "SPAN")
_UPPER = "".join(char for char in map(chr, range(0x2C00)) if char.isalpha() and char.isupper())
_CAPITALISED = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\.|[{_UPPER}][\w'\u2019-]{{0,60}})"
_ADDRESS = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_LINK = re.compile(r"(?<!\w)(?:https?://|www\.)[^\s<>\"']{2,2000}", re.IGNORECASE)
_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![a-z])")
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_HOST = re.compile(
    r"(?<![\w.:])(?:(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4})(?![\w:]|\.\d)"
)
_PHONE = re.compile(
    r"(?<![\w+.-])(?:"
    r"(?:\+|00)[1-9](?:[ .()/-]{0,2}\d){6,14}"  # with a country code
    r"|\(?0\d{1,4}\)?(?:[ ./-]{1,2}\d{2,8}){1,4}|0\d{8,11}"  # with a trunk prefix 0
    r"|(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}"  # North America
    r")(?![\w-])"
)
_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_NAMES = re.compile(rf"(?<!\w){_CAPITALISED}(?:[ \t]{_CAPITALISED}){{0,7}}")
_FIRST = re.compile(r"\S+\s*")
_OPENING = re.compile(  # words at the start of a sentence that are not names
    r"(?:a|about|above|according|across|after|again|against|ago|all|almost|along|already|also|"
    r"although|always|am|among|an|and|another|any|anyone|apart|are|around|as|aside|at|away|"
    r"back|be|because|been|before|behind|below|beneath|beside|besides|between|beyond|both|but|"
    r"by|called|can|compared|could|currently|dear|despite|did|do|does|down|due|during|each|"
    r"earlier|early|either|else|especially|even|eventually|every|everyone|everything|except|"
    r"few|finally|first|following|for|former|formerly|from|further|furthermore|generally|"
    r"given|had|has|have|having|he|hello|hence|her|here|hers|hi|him|his|how|however|i|i'd|"
    r"i'll|i'm|i've|if|in|including|indeed|initially|inside|instead|into|is|it|it's|its|just|"
    r"last|late|later|latest|like|likewise|many|maybe|me|meanwhile|more|moreover|most|mostly|"
    r"much|my|near|nearby|nearly|neither|never|nevertheless|next|no|nobody|none|nonetheless|"
    r"nor|not|nothing|now|of|off|often|on|once|one|only|onto|opposite|or|originally|other|"
    r"others|otherwise|our|out|outside|over|own|part|per|perhaps|please|possibly|previously|"
    r"probably|rather|recently|regarding|said|second|several|shall|she|should|similarly|since|"
    r"so|some|somebody|someone|something|sometimes|soon|still|such|suddenly|than|thank|thanks|"
    r"that|the|their|them|then|there|thereafter|therefore|these|they|third|this|those|though|"
    r"three|through|throughout|thus|till|to|today|together|tomorrow|too|toward|towards|"
    r"traditionally|two|typically|ultimately|under|underneath|unfortunately|unless|unlike|"
    r"until|up|upon|us|usually|various|very|via|was|we|well|were|what|whatever|when|whenever|"
    r"where|whereas|wherever|whether|which|while|who|whoever|whom|whose|why|will|with|within|"
    r"without|would|yes|yesterday|yet|you|your)\s*",
    re.IGNORECASE,
)
_ENDS = '.!?:;\n\r"\u201c\u201d\u00ab\u00bb(\u2022*-'

_PatternKinds = Annotated[
    Any,
    Legal(
        f"a non-empty list of {', '.join(KINDS)}",
        lambda value: (
            isinstance(value, list | tuple) and len(value) > 0 and set(value) <= set(KINDS)
        ),
        [],
    ),
]


@declared
class PatternRecognizer(BaseEstimator):
    """Find entities with a fixed form without a model, such as addresses and numbers.

    Finds mail addresses, web links, IBANs and card numbers with valid check digits, IP addresses,
    telephone numbers, and sequences of capitalized words inside a sentence (SPAN). Spans have no
    specific type. They may be people, places, companies or any other capitalized expression.

    Parameters
    ----------
    kinds : list of str, default=("EMAIL", "URL", "IBAN", "CARD", "IP", "PHONE", "SPAN")
        Types to find. If two entities overlap, the first type in this order counts.

    See Also
    --------
    SpacyRecognizer : Finds people, places and organizations with a model.

    Notes
    -----
    Spans are intended for languages that capitalize names but not nouns, such as English. In
    German, spans include all nouns, and in scripts without case there are no spans. A single
    capitalized word at the start of a sentence is ignored. Telephone numbers must have a country
    code, a trunk prefix 0 or the North American form.

    Examples
    --------
    >>> from skeval.text import PatternRecognizer
    >>> [[call]] = PatternRecognizer(kinds=["PHONE"]).recognize(["Call +49 30 901820 today."])
    >>> call.text, call.label, call.start
    ('+49 30 901820', 'PHONE', 5)
    """

    kinds: _PatternKinds = KINDS

    @property
    def about(self) -> dict[str, str]:
        """Backend, model and version."""
        return {
            "backend": "patterns",
            "model": ", ".join(self.kinds),
            "version": package_version("skeval"),
        }

    def recognize(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Return the entities of each text, in their order."""
        name = type(self).__name__
        check_parameters(name, self.get_params(deep=False), legal_sets(type(self)))
        finders = [(kind, _FINDERS[kind]) for kind in KINDS if kind in self.kinds]
        return [_entities(text, finders) for text in texts]


Finder = Callable[[str], Iterator[tuple[int, int]]]


def _entities(text: str, finders: Sequence[tuple[str, Finder]]) -> list[Entity]:
    taken: list[tuple[int, int, str]] = []
    for kind, finder in finders:
        free = []
        for start, end in finder(text):
            place = bisect_left(taken, (start, -1, ""))
            before = place == 0 or taken[place - 1][1] <= start
            if before and (place == len(taken) or taken[place][0] >= end):
                free.append((start, end, kind))
        taken = sorted(taken + free)
    return [Entity(text[start:end], kind, start, end) for start, end, kind in taken]


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    return (m.span() for m in _ADDRESS.finditer(text)) if "@" in text else iter(())


def _links(text: str) -> Iterator[tuple[int, int]]:
    for match in _LINK.finditer(text):
        yield match.start(), match.start() + len(match[0].rstrip(".,;:!?)]}\u2019'"))


def _accounts(text: str) -> Iterator[tuple[int, int]]:
    for match in _ACCOUNT.finditer(text):
        # capitalized words may follow, so the longest part with valid check digits is used
        for end in range(match.end(), match.start() + 14, -1):
            inside = end < len(text) and text[end].isalnum() and text[end - 1].isalnum()
            if not inside and is_iban(text[match.start() : end].replace(" ", "")):
                yield match.start(), match.start() + len(text[match.start() : end].rstrip())
                break


def _cards(text: str) -> Iterator[tuple[int, int]]:
    return (m.span() for m in _CARD.finditer(text) if passes_luhn(re.sub(r"\D", "", m[0])))


def _hosts(text: str) -> Iterator[tuple[int, int]]:
    for match in _HOST.finditer(text):
        try:
            ipaddress.ip_address(match[0])
        except ValueError:
            continue
        if len(match[0]) > 2:  # "::" is a valid address, but usually punctuation
            yield match.span()


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for match in _PHONE.finditer(text):
        n_digits = sum(char.isdigit() for char in match[0])
        if 7 <= n_digits <= 15 and not _DATE.fullmatch(match[0]):
            yield match.span()


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _NAMES.finditer(text):
        start, end = match.span()
        opens = _opens_sentence(text, start)
        while start < end:  # the first word does not make "In The Hague" a name
            word = _FIRST.match(text, start, end)
            if word is None or not _OPENING.fullmatch(word[0]):
                break
            start, opens = word.end(), False
        while text.endswith((" I", "\tI"), start, end):
            end -= 2
        name = text[start:end]
        if len(name) > 1 and not (opens and " " not in name and "\t" not in name):
            yield start, end


def _opens_sentence(text: str, start: int) -> bool:
    before = start - 1
    while before >= 0 and text[before] in " \t":
        before -= 1
    return before < 0 or text[before] in _ENDS


_FINDERS: dict[str, Finder] = {
    "EMAIL": _addresses,
    "URL": _links,
    "IBAN": _accounts,
    "CARD": _cards,
    "IP": _hosts,
    "PHONE": _phones,
    "SPAN": _spans,
}


def passes_luhn(digits: str) -> bool:
    """Return whether the last of some digits is the check digit of a card number."""
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(n - 9 * (n > 9) for n in doubled)) % 10 == 0


def is_iban(account: str) -> bool:
    """Return whether an account number without spaces has the check digits of an IBAN."""
    if not 15 <= len(account) <= 34 or not account.isascii():
        return False
    return int("".join(str(int(char, 36)) for char in account[4:] + account[:4])) % 97 == 1
