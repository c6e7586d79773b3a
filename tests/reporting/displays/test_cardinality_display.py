"""Bars of children per parent, and of the scores behind a property."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import SuiteResult, make_suite
from skeval.exceptions import InvalidParameterError
from skeval.relational import CardinalityShapeSimilarity, ForeignKey, RelationalSchema
from skeval.reporting.displays.cardinality import CardinalityDisplay
from skeval.reporting.displays.property_scores import PropertyDisplay
from tests.snapshots import raises

SCHEMA = RelationalSchema(
    ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
)


def shop(seed: int, mean: float = 3.0) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(mean, 300)
    orders = pd.DataFrame({"user": np.repeat(np.arange(300), counts)})
    users = pd.DataFrame({"id": range(300), "age": rng.normal(40, 10, 300)})
    return {"users": users, "orders": orders.assign(x=rng.normal(size=len(orders)))}


@pytest.fixture(scope="module")
def quality() -> SuiteResult:
    suite = make_suite("quality", schema=SCHEMA).fit(shop(0), shop(1), schema=SCHEMA)
    return suite.evaluate(shop(2))


def test_shares_of_parents_by_role() -> None:
    metric = CardinalityShapeSimilarity().fit(shop(0), shop(1), schema=SCHEMA)
    result = metric.evaluate(shop(2, mean=6.0))
    display = result.display()
    assert isinstance(display, CardinalityDisplay)
    frame = display.frame()
    assert set(frame["role"]) == {"train", "holdout", "synthetic"}
    assert frame.groupby("role")["share"].sum().tolist() == pytest.approx([1.0] * 3)
    axes = display.plot().figure_.axes[0]
    assert len(axes.patches) == len(frame)
    assert axes.get_xticklabels()[-1].get_text().endswith("or more")
    assert display.title().startswith("orders.user -> users.id ")
    assert display.title().endswith("of training parents")


@pytest.mark.filterwarnings("ignore:column_pair_trends has no score", "ignore:intertable_trends")
def test_a_property_is_one_frame_and_one_figure(quality: SuiteResult) -> None:
    frame = quality.details("column_shapes")
    assert frame[["table", "what"]].to_numpy().tolist() == [["users", "age"], ["orders", "x"]]
    assert frame["baseline"].notna().all()
    mean = quality.properties().loc["column_shapes", "score"]
    assert frame["score"].mean() == pytest.approx(mean)
    display = PropertyDisplay(quality, "column_shapes")
    assert sorted(display.frame()["column"]) == ["orders: x", "users: age"]
    assert len(display.plot().figure_.axes[0].get_yticks()) == 2
    with raises(InvalidParameterError):
        quality.details("shapes")
