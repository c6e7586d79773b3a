"""Normal forms of identifiers, such as names, e-mails and numbers in any notation."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Literal
from urllib.parse import unquote

import numpy as np
import pandas as pd

Form = Literal["email", "phone", "name", "code"]
MIN_LENGTH = 6  # shorter codes are not searched for inside cells
_MIN_MATCHING = 0.8  # minimum fraction of the values of a column that have its form
_MAX_READ = 2_000  # values that show the form of a column
_MAX_DIGITS = 9  # country codes and a leading zero do not matter
_MIN_PRINTABLE = 0.95  # fraction of the characters of a decoded text
_EMAIL = re.compile(r"[^\s@<>,;:\"'()]+@[^\s@<>,;:\"'()]+")
# notation of addresses that hides them from programs, such as ann.lee (at) mail [dot] org
_AT, _DOT = (re.compile(rf"\s*[\[({{]\s*{word}\s*[\])}}]\s*") for word in ("at", "dot"))
# the same without brackets, where only a domain with a dot shows that "at" is a sign
_SAID_DOT, _SAID_AT = re.compile(r"(?<=\w)\s+dot\s+(?=\w)"), re.compile(r"\s+at\s+(?=[^\s@]+\.\w)")
_SPACES = re.compile(r"\s+")
_NO_CHARACTER = re.compile(r"&#\d{1000,}")  # Python reads no number of that many digits
_PHONE = re.compile(r"\s*+\+?[\d\s().\-/]{7,}+")  # each part is read once, also in much padding
_PHONE_DIGITS = (7, 13)
_NAME_WORDS = (2, 5)
_NAME = re.compile(r"[^\W\d_]+\.?(?:[\s,'\-]+[^\W\d_]+\.?)+")
_TITLES = frozenset(("dr", "prof", "mr", "mrs", "ms", "miss", "jr", "sr", "herr", "frau"))
_PARTS = re.compile(r"[^\W\d_]+|\d+")  # 12ab and 12-ab have two parts
_WORD, _SQUEEZED = re.compile(r"[^\W\d_]+"), re.compile(r"[\W_]+")
# marks that combine with letters, and characters without width
_UNSEEN = re.compile("[\u00ad\u0300-\u036f\u1ab0-\u1aff\u200b-\u200f\u2060\u20d0-\u20ff\ufeff]")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")  # for example Arabic and Indian digits
_UMLAUT = re.compile("([aou])e")  # Mueller is Müller, and both become muller
_ENCODED = re.compile(r"[A-Za-z0-9+/_\-]{11,}={0,2}")
_MAX_CODE = 40  # letters and signs; longer texts are not codes that contain a date
_DATES = (
    (re.compile(r"(?<!\d)(\d\d)[./ -]?(\d\d)[./ -]?((?:19|20)\d\d)"), (r"\3\2\1", r"\3\1\2")),
    (re.compile(r"(?<!\d)((?:19|20)\d\d)[./ -]?(\d\d)[./ -]?(\d\d)"), (r"\3\2\1", r"\2\3\1")),
)
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})
_FLOAT = (float, np.number)


def cell_text(cell: object) -> str | None:
    """Return a cell as text, where equal integers of different types have the same text."""
    if isinstance(cell, str):
        return cell
    if cell is None or cell is pd.NA or cell != cell:  # nan
        return None
    number = cell if isinstance(cell, int) else float(cell) if isinstance(cell, _FLOAT) else 0.5
    return str(int(number)) if number == int(number) else str(cell)


def strip_marks(text: str) -> str:
    """Return a text in lower case, with the digits 0 to 9, without marks and umlauts."""
    if text.isascii():
        return _UMLAUT.sub(r"\1", text.lower())
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    parts = _OTHER_DIGIT.sub(lambda found: str(int(found[0])), parts)
    return _UMLAUT.sub(r"\1", _UNSEEN.sub("", parts).translate(_LETTERS))


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of a text that has no marks and is in lower case."""
    return _SQUEEZED.sub("", text)


def in_reversed_order(text: str) -> str:
    """Return letters and digits of a code whose parts are in reversed order, as in 12 High St."""
    return "".join(_PARTS.findall(strip_marks(text))[::-1])


def form_of(texts: Iterable[str]) -> Form:
    """Return the form of identifiers that most texts of a column have."""
    seen = [text for text, _ in zip(texts, range(_MAX_READ), strict=False)]
    tests = {"email": _is_email, "phone": _is_phone, "name": _is_name}
    for form, test in tests.items():
        if seen and sum(map(test, seen)) >= _MIN_MATCHING * len(seen):
            return form  # type: ignore[return-value]
    return "code"


def normal_form(text: str, form: Form) -> str:
    """Return the identifying part of a value of this form, or the code of any other value."""
    plain = strip_marks(text)
    if form == "email" and _is_email(address := _with_signs(plain)):
        return email_form(address)
    if form == "phone" and _is_phone(plain):
        return letters_and_digits(plain)[-_MAX_DIGITS:]
    if form == "name" and (words := name_words(plain)):
        return " ".join(sorted(words))
    return letters_and_digits(plain)


def email_form(email: str) -> str:
    """Return the local part without its tag, dots and other signs."""
    local = email.partition("@")[0]
    return letters_and_digits(local.partition("+")[0]) or letters_and_digits(local)


def name_words(plain: str) -> list[str]:
    """Return the words of a name without titles, and without initials if two words remain."""
    words = _words_of_name(plain)
    whole = [word for word in words if len(word) > 1]
    return whole if len(whole) >= _NAME_WORDS[0] else words


def short_name(text: str) -> str:
    """Return the first initial and the surname of a name, or an empty text."""
    # in "Lee, Ann" and "Lee A." the surname comes first
    words = _words_of_name(strip_marks(text))
    if len(words) < _NAME_WORDS[0]:
        return ""
    is_turned = "," in text or len(words[-1]) == 1
    given, surname = (words[1], words[0]) if is_turned else (words[0], words[-1])
    return f"{given[0]} {surname}" if len(surname) > 1 else ""


def is_short_name(text: str) -> bool:
    """Return whether a name consists of a surname and initials."""
    words = _words_of_name(strip_marks(text))
    return len(words) >= _NAME_WORDS[0] and sum(len(word) > 1 for word in words) == 1


def _words_of_name(plain: str) -> list[str]:
    return [word for word in _WORD.findall(plain) if word not in _TITLES]


def emails_in(plain: str) -> list[str]:
    """Return the normal forms of the e-mail addresses in a text."""
    return [*map(email_form, addresses_in(plain))]


def addresses_in(plain: str) -> list[str]:
    """Return the e-mail addresses in a text."""
    plain = _with_signs(plain)
    return _EMAIL.findall(plain) if "@" in plain else []


def _with_signs(plain: str) -> str:
    # otherwise the time would grow with the square of the length of a padded cell
    plain = _SPACES.sub(" ", plain)
    plain = _DOT.sub(".", _AT.sub("@", plain))
    dotted = _SAID_DOT.sub(".", plain)
    return plain if dotted == plain else _SAID_AT.sub("@", dotted)


def decode_parts(text: str) -> Iterator[str]:
    """Yield the texts that a cell encodes in base64, base32, hexadecimal digits, a URL or HTML."""
    in_html = html.unescape(_NO_CHARACTER.sub("", text))
    yield from dict.fromkeys(one for one in (unquote(text), in_html) if one != text)
    for token in _ENCODED.findall(text):
        for decode in (_from_base64, _from_base32, bytes.fromhex):
            try:
                found = decode(token).decode("utf-8")
            except (binascii.Error, ValueError):
                continue
            printable = sum(c.isprintable() or c.isspace() for c in found)
            if found and printable >= _MIN_PRINTABLE * len(found):
                yield found


def _from_base64(token: str) -> bytes:
    bare = token.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _from_base32(token: str) -> bytes:
    bare = token.rstrip("=")
    return base64.b32decode(bare + "=" * (-len(bare) % 8))


def turn_dates(text: str) -> Iterator[str]:
    """Yield a code with each date in it written in the other usual orders."""
    if len(text) > _MAX_CODE:
        return
    for pattern, orders in _DATES:
        if pattern.search(text):
            for order in orders:
                yield pattern.sub(order, text)


def is_mostly_digits(texts: Iterable[str]) -> bool:
    """Return whether most texts of a column have more digits than letters, as accounts have."""
    seen = [text for text, _ in zip(texts, range(_MAX_READ), strict=False)]
    signs = [letters_and_digits(text) for text in seen]
    n_digits = [sum(map(str.isdigit, one)) for one in signs]
    n_mostly = sum(2 * n > len(one) for n, one in zip(n_digits, signs, strict=True))
    return bool(seen) and n_mostly >= _MIN_MATCHING * len(seen)


def _is_email(text: str) -> bool:
    return _EMAIL.fullmatch(text.strip()) is not None


def _is_phone(text: str) -> bool:
    if _PHONE.fullmatch(text) is None:
        return False
    return _PHONE_DIGITS[0] <= sum(map(str.isdigit, text)) <= _PHONE_DIGITS[1]


def _is_name(text: str) -> bool:
    is_long = len(text.split()) > _NAME_WORDS[1]
    return not is_long and _NAME.fullmatch(text.strip()) is not None
