"""Every row of the published sources is found by its name, runs, and equals its formula."""

from __future__ import annotations

import re

import pytest

from skeval.suites.features import FEATURES, feature_of, public_object
from skeval.suites.names import table_of_names
from tests.sources.checks import CHECKS
from tests.sources.rows import check, found, read_rows

ROWS = read_rows()


def test_names_are_found():
    assert len(ROWS) == 200
    assert not [one.name for one in ROWS if not found(one.name)]


def test_names_lead_to_what_is_run():
    """The first line names the class, the short name of a metric in suites, or the call."""
    wrong = []
    for one in ROWS:
        short = table_of_names().get(re.match(r"\w*", one.ours)[0])
        own = {*re.findall(r"\w+", one.ours), *(short.short if short else ())}
        first = found(one.name)
        if not own & set(re.findall(r"\w+", first.removeprefix(f"{one.name} ({one.source}): "))):
            wrong.append(f"{one.number} {first}, not {one.ours}")
    assert not wrong


def test_every_row_has_one_check():
    assert sorted(CHECKS) == [one.number for one in ROWS]
    assert not [
        one for one in ROWS if not re.match(r"equal$|equal but|other: |output \w+$", one.compared)
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("one", ROWS, ids=[f"{one.number} {one.name}" for one in ROWS])
def test_a_row_is_run(one):
    check(one)


def test_what_others_call_features_is_public():
    for names in FEATURES.values():
        for several, ours in names.items():
            for name in several.split(", "):
                assert public_object(feature_of(name).public), ours
