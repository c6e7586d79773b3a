"""Public tables: what was there is right, and no leak."""

from __future__ import annotations

import numpy as np
import pytest

from skeval import make_suite
from skeval.exceptions import NothingToMeasureWarning
from skeval.relational import ReferenceEquality
from tests.relational.worlds import CLINIC, SHOP, clinic, shop
from tests.snapshots import warns

TRAIN = shop(40, 0)


@pytest.mark.parametrize(
    ("items", "share", "kept"),
    [
        (TRAIN["items"], 1.0, 1.0),
        (TRAIN["items"].sample(frac=1, random_state=0), 1.0, 1.0),
        (TRAIN["items"][:30], 1.0, 0.25),
        (TRAIN["items"].assign(price=lambda t: t["price"].where(t["id"] >= 30, -1)), 0.75, 0.75),
    ],
)
def test_shares_of_rows(items, share, kept):
    result = ReferenceEquality().fit(TRAIN, schema=SHOP).evaluate({**TRAIN, "items": items})
    assert result.value == share
    assert result.details["kept"] == {"items": kept}
    assert result.p_value is None


@pytest.mark.slow
def test_no_alarm_is_raised():
    suite = make_suite("report", schema=SHOP).fit(shop(100, 0), shop(100, 1), schema=SHOP)
    result = suite.evaluate(shop(100, 2))
    assert result["reference_equality"].value == 1.0
    assert not result.verdict().alarm
    assert not any("items" in fact for fact in result.verdict().facts)


def test_without_a_reference_table_there_is_nothing_to_measure():
    tables = clinic(9, 0, most=2)
    with warns(NothingToMeasureWarning):
        assert np.isnan(ReferenceEquality().fit(tables, schema=CLINIC).score(tables))


def test_missing_cells_are_equal():
    items = TRAIN["items"].assign(price=lambda t: t["price"].where(t["id"] > 5))
    tables = {**TRAIN, "items": items.assign(note=["a", None] * 60)}
    assert ReferenceEquality().fit(tables, schema=SHOP).score(tables) == 1.0
