"""Rows by subject: drawn one each, taken, and as histories."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.relational import ForeignKey, RelationalContext, RelationalSchema
from skeval.steps.subjects import histories, one_of_each, one_row_each, owners, row_codes

KEYS = [ForeignKey("orders", "user", "users", "id"), ForeignKey("items", "order", "orders", "id")]
SCHEMA = RelationalSchema(["users", "orders", "items"], {"users": "id", "orders": "id"}, KEYS)


def data(**columns):
    orders = {"id": [1, 2, 3, 4], "user": [1, 1, 2, None], "t": list("xyxz")}
    items = {"order": [1, 2, 3, 3, 9], "k": [1.5, 2.5, 2.5, 1.5, 7.5]}
    users = {"id": [1, 2], "g": list("ab")}
    given = {"users": users, "orders": orders, "items": items}
    return {name: pd.DataFrame({**own, **columns.get(name, {})}) for name, own in given.items()}


def test_owners_are_the_subjects_by_one_path():
    assert owners(SCHEMA, "items") == ["users"]
    two = [ForeignKey("mail", side, "users", "id") for side in ("sender", "receiver")]
    known = {"users": "subject", "mail": "dependent"}
    assert owners(RelationalSchema(["users", "mail"], {}, two, known), "mail") == []
    by_sender = RelationalSchema(["users", "mail"], {}, two, known, {"mail": "sender"})
    assert owners(by_sender, "mail") == ["users"]


def test_one_row_of_each_is_drawn_alike():
    groups = np.array([0, 1, 1, 1, -1, 2, 2])
    drawn = np.array(
        [
            one_of_each(groups, np.random.default_rng(seed).permutation(groups.size))
            for seed in range(600)
        ]
    )
    assert (groups[drawn] == [0, 1, 2]).all()
    counts = np.bincount(drawn[:, 1], minlength=4)[1:4]
    assert (np.abs(counts - 200) < 60).all()


def test_the_draw_is_of_subjects_with_rows():
    context = RelationalContext.of(data(), data(), schema=SCHEMA).with_synthetic(data())
    drawn = one_row_each(context, "items", "users", None, 0)
    assert {role: drawn.n_rows(role) for role in ("train", "holdout", "synthetic")} == {
        "train": 2,
        "holdout": 2,
        "synthetic": 5,
    }
    assert 7.5 not in set(drawn.train["k"])  # an orphan


def test_histories_are_equal_where_their_rows_are():
    other = {"items": {"k": [2.5, 1.5, 1.5, 2.5, 7.5]}}
    context = RelationalContext.of(data(), data(**other), schema=SCHEMA)
    of_items = histories(context, "users", "items", ("train", "holdout"))
    assert of_items.n_rows.tolist() == [2, 2, 2, 2]
    assert np.unique(of_items.classes).size == 1  # whatever order they belong to
    of_orders = histories(context, "users", "orders", ("train", "holdout"))
    assert of_orders.classes.tolist() == [*of_orders.classes[:2]] * 2
    assert of_orders.classes[0] != of_orders.classes[1]


def test_a_row_twice_is_more_than_once():
    other = {"items": {"k": [1.5, 1.5, 2.5, 1.5, 7.5]}}
    context = RelationalContext.of(data(**other), schema=SCHEMA)
    own = histories(context, "users", "items", ("train",))
    assert own.tokens.sum(axis=1).tolist() == [2, 2]
    assert own.classes[0] != own.classes[1]


def test_codes_are_of_cells_if_so_asked():
    other = {"items": {"k": [1.4, 2.4, 2.4, 1.4, 7.6]}}
    context = RelationalContext.of(data(), schema=SCHEMA).with_synthetic(data(**other))
    exact = row_codes(context, "items", ("train", "synthetic"))
    assert not set(exact[0]) & set(exact[1])
    coarse = row_codes(context, "items", ("train", "synthetic"), 2)
    assert (coarse[0] == coarse[1]).all()
