"""The specification's worked example of three tables, F3."""

import pandas as pd
import pytest

from skeval.relational import ForeignKey, RelationalSchema


def shop(owners, things, of, kinds):
    return {
        "users": pd.DataFrame({"id": [1, 2, 3], "g": list("aab")}),
        "orders": pd.DataFrame({"oid": [10, 11, 12, 13], "uid": owners, "t": list(things)}),
        "items": pd.DataFrame({"oid": of, "k": list(kinds)}),
    }


@pytest.fixture
def f3():
    """Train, synthetic and schema."""
    kinds = {
        "users": {"g": "categorical"},
        "orders": {"t": "categorical"},
        "items": {"k": "categorical"},
    }
    keys = [ForeignKey("orders", "uid", "users", "id"), ForeignKey("items", "oid", "orders", "oid")]
    return (
        shop([1, 1, 2, 3], "xyxy", [10, 10, 11, 12, 13, 13], "pqqpqq"),
        shop([1, 2, 2, 3], "xxyy", [10, 11, 11, 12, 13, 13], "ppqqpq"),
        RelationalSchema(kinds, {"users": "id", "orders": "oid"}, keys),
    )
