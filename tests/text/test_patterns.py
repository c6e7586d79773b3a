"""What has a form of its own is found, what only looks like it is not, in time that grows as the text."""

from __future__ import annotations

import time

import pytest

from skeval.exceptions import InvalidParameterError
from skeval.text import PatternRecognizer
from skeval.text.patterns import is_iban, passes_luhn
from tests.snapshots import raises


def seen(text, **parameters):
    return [(e.label, e.text) for e in PatternRecognizer(**parameters).recognize([text])[0]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "label", "entity"),
    [
        ("write to j.smith+x@mail.example.co.uk.", "EMAIL", "j.smith+x@mail.example.co.uk"),
        ("see https://acme.test/a?b=1).", "URL", "https://acme.test/a?b=1"),
        ("see www.example.org, or not", "URL", "www.example.org"),
        ("paid from DE89 3704 0044 0532 0130 00 AND more", "IBAN", "DE89 3704 0044 0532 0130 00"),
        ("paid from GB82WEST12345698765432, late", "IBAN", "GB82WEST12345698765432"),
        ("card 4111 1111 1111 1111 was used", "CARD", "4111 1111 1111 1111"),
        ("card 378282246310005 was used", "CARD", "378282246310005"),
        ("came from 10.0.0.1, twice", "IP", "10.0.0.1"),
        ("came from 2001:db8::1 twice", "IP", "2001:db8::1"),
        ("call +49 (30) 901-820 now", "PHONE", "+49 (30) 901-820"),
        ("call 030 901820 now", "PHONE", "030 901820"),
        ("call (555) 123-4567 now", "PHONE", "(555) 123-4567"),
        ("today I met Ada Lovelace and her", "SPAN", "Ada Lovelace"),
        ("today I met Dr. Grace B. Hopper there", "SPAN", "Dr. Grace B. Hopper"),
        ("In The Hague it rained", "SPAN", "Hague"),
        ("das war Żółć und", "SPAN", "Żółć"),
        ("это Москва и", "SPAN", "Москва"),
    ],
)
def test_seen(text, label, entity):
    assert seen(text) == [(label, entity)]
    [one] = PatternRecognizer().recognize([text])[0]
    assert text[one.start : one.end] == entity


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "card 4111 1111 1111 1112 has a wrong digit",
        "account de88370400440532013000 too",
        "at 12:30:45, or 11::22::33",
        "version 1.2.3.4.5 of 300.1.1.1",
        "on 12.05.2013, 2013-05-04 and in 1990-1995",
        "about 1.000.000 of 123456789",
        "Yesterday it rained. Tomorrow too",
        "so am I, and so was he",
        "foo@bar, @bar and foo@",
        "שלום עולם 😀 مرحبا",
    ],
)
def test_not_seen(text):
    assert seen(text) == []


def test_the_first_kind_counts_where_two_overlap():
    text = "mail ada@www.example.org or DE89370400440532013000"
    assert [label for label, _ in seen(text)] == ["EMAIL", "IBAN"]
    assert seen("account DE88370400440532013000 too") == [("SPAN", "DE88370400440532013000")]


def test_parameters():
    with raises(InvalidParameterError):
        PatternRecognizer(kinds=["NAME"]).recognize(["a"])
    assert PatternRecognizer().about["backend"] == "patterns"
    assert repr(PatternRecognizer(kinds=["IP"])) == "PatternRecognizer(kinds=['IP'])"


def test_check_digits():
    assert passes_luhn("5555555555554444")
    assert not any(passes_luhn(f"555555555555444{d}") for d in "012356789")
    assert is_iban("FR1420041010050500013M02606")
    assert not is_iban("DE89")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["a", "1", "A ", "@", "a.b@", "+1 ", "1.1.", "DE89", ":", "http://", "(0", "4 1", "e\u0301"],
)
def test_a_megabyte_takes_no_square_of_its_length(part):
    start = time.process_time()
    PatternRecognizer().recognize([part * (10**6 // len(part))])
    assert time.process_time() - start < 10
