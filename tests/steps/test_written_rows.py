"""Rows of a table that single cells contain, in any notation of numbers and dates."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.steps.written_rows import WrittenRows, may_have_row

N = 200
RNG = np.random.default_rng(0)
COLUMNS = {
    "amount": [f"{amount:.2f}" for amount in RNG.uniform(-9_000, 90_000, N)],
    "day": [f"20{y}-{m:02d}-{d:02d}" for y, m, d in RNG.integers((10, 1, 1), (24, 13, 29), (N, 3))],
    "code": [f"K{code}" for code in RNG.choice(10_000, N, replace=False)],
    "place": [f"Ort{place}" for place in RNG.integers(0, 40, N)],
    "kind": RNG.choice(["old", "new"], N).tolist(),
    "size": [None if i % 7 == 0 else str(size) for i, size in enumerate(RNG.integers(0, 9, N))],
}
ROWS = WrittenRows(COLUMNS)


def cells(row, *names):
    return [COLUMNS[name][row] for name in names]


@pytest.mark.parametrize(
    "spell",
    [
        lambda amount, day, place: f"paid {amount} on {day} in {place}",
        lambda amount, day, place: f"{place.upper()}: {day.replace('-', '/')}, {amount}0 EUR",
        lambda amount, day, place: (
            f"{amount.replace('.', ',')};{'.'.join(day.split('-')[::-1])};{place}"
        ),
        lambda amount, day, place: f"{float(amount):,.2f} at {place}, {day[2:].replace('-', '.')}",
        lambda amount, day, place: f"1,{amount.removeprefix('-')},{place},{day}",
    ],
    ids=["as given", "capitals", "commas", "groups of digits", "list"],
)
@pytest.mark.parametrize("row", [3, 50])
def test_some_cells_of_a_row_are_found(spell, row):
    text = spell(*cells(row, "amount", "day", "place"))
    listed, some = ROWS.found_in([text, "nothing else was said"])
    assert np.flatnonzero(some).tolist() == [row]
    assert not listed.any()


@pytest.mark.parametrize("row", [3, 50, 90])
@pytest.mark.parametrize("years", [slice(0, 4), slice(2, 4)])
def test_some_cells_are_found_in_codes_without_their_signs(row, years):
    amount, day, code, place = cells(row, "amount", "day", "code", "place")
    year, month, date = day.split("-")
    digits = amount.removeprefix("-").replace(".", "").zfill(8)
    for when in (f"{date}{month}{year[years]}", f"{year[years]}{month}{date}"):
        _, some = ROWS.found_in([f"R{when}-{digits}/{code[1:]}", "R310190-00123456/99999"])
        assert np.flatnonzero(some).tolist() == [row]
        assert not ROWS.found_in([f"R {when} {digits} {place}"])[1].any()  # no code


@pytest.mark.parametrize("row", [3, 50, 90])
@pytest.mark.parametrize(
    "glue",
    [
        lambda year, month, date, amount: f"{year[2:]}{month}{date}{amount}",
        lambda year, month, date, amount: f"{date}{month}{year}{amount.zfill(9)}",
        lambda year, month, date, amount: f"48{amount}{year}{month}{date}7",
        lambda year, month, date, amount: f"R{date}{month}{year[2:]}-{amount}",
    ],
    ids=["glued", "zeros", "amount first", "hyphen"],
)
def test_two_cells_are_found_in_the_digits_of_a_code(row, glue):
    amount, day = cells(row, "amount", "day")
    digits = amount.removeprefix("-").replace(".", "")
    code = glue(*day.split("-"), digits)
    assert may_have_row(code)
    assert np.flatnonzero(ROWS.found_in([code])[1]).tolist() == [row]
    for other in (f"{code[:4]} {code[4:]}", glue(*day.split("-"), "7415283")):
        assert not np.any(ROWS.found_in([other]))


@pytest.mark.parametrize("form", ["%y%m%d%H%M", "%Y%m%d%H%M%S", "%d%m%Y", "%d%m%y%H%M"])
def test_a_time_and_a_distance_are_found_in_a_code(form):
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(RNG.integers(0, 10**7, N), "s")
    distances = RNG.integers(1_000, 99_999, N).astype(str)
    rows = WrittenRows({"time": times.astype(str).tolist(), "distance": distances.tolist()})
    code = f"{times[8].strftime(form)}{distances[8]}07"
    assert np.flatnonzero(rows.found_in([code])[1]).tolist() == [8]
    assert not np.any(rows.found_in([f"{times[8].strftime(form)}{distances[9]}07"]))


def test_lists_of_numbers_are_not_read_as_codes():
    amount, day = cells(3, "amount", "day")
    code = day.replace("-", "") + amount.removeprefix("-").replace(".", "")
    assert ROWS.found_in([code])[1].sum() == 1
    assert not np.any(ROWS.found_in([code + "7" * 10**6]))  # and needs no time


def test_random_codes_have_no_rows():
    codes = ["".join(digits) for digits in RNG.integers(0, 10, (5_000, 15)).astype(str)]
    assert all(map(may_have_row, codes))
    assert not np.any(ROWS.found_in(codes))


def test_frequent_cells_and_cells_of_several_rows_are_not_a_row():
    mixed = f"{COLUMNS['amount'][3]} {COLUMNS['day'][4]} {COLUMNS['place'][5]}"
    few = "{} {} {}".format(*cells(3, "place", "kind", "size"))
    pair = "{} {}".format(*cells(3, "amount", "day"))
    found = ROWS.found_in([mixed, few, pair, ""])
    assert not np.any(found)
    everything = " ".join(cell for column in COLUMNS.values() for cell in column if cell)
    assert not ROWS.found_in([everything])[1].any()


def test_a_row_is_listed_if_nearly_all_its_cells_are():
    row = "|".join(cell for cell in cells(7, *COLUMNS) if cell)  # its size is missing
    listed, some = ROWS.found_in([row])
    assert np.flatnonzero(listed).tolist() == np.flatnonzero(some).tolist() == [7]
    assert may_have_row(row)
    assert not may_have_row("a b")
    assert not may_have_row("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
    assert not may_have_row("d41d8cd98f00b204e9800998ecf8427e")


def test_no_rows_and_no_texts():
    assert not np.any(ROWS.found_in([]))
    assert [found.size for found in WrittenRows({}).found_in(["a b c"])] == [0, 0]
    assert not np.any(WrittenRows({"a": [None, None]}).found_in(["a b c"]))
