"""A claimed epsilon against matches of rows, texts, names in texts and subjects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.privacy import ExactMatchShare, IdenticalMatchShare
from skeval.relational import ForeignKey, RelationalSchema, SubjectCopies
from skeval.stats.epsilon_bounds import Matched, matches_epsilon, matches_p_value
from skeval.text import CallableRecognizer, EntityLeakage, TextExactMatch

# what tables have in common is what is counted
pytestmark = pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
USERS = RelationalSchema(
    ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
)


def rows(numbers):
    return pd.DataFrame({"a": np.asarray(numbers, dtype=float), "b": "x"})


def texts(numbers):
    return pd.DataFrame({"note": [f"says n{number} again" for number in numbers]})


def subjects(numbers):
    orders = pd.DataFrame({"user": np.repeat(np.arange(len(numbers)), 2)})
    orders["sum"] = np.repeat(np.asarray(numbers, dtype=float), 2) + np.tile(
        [0.0, 0.5], len(numbers)
    )
    return {"users": pd.DataFrame({"id": np.arange(len(numbers)), "g": "x"}), "orders": orders}


def named(found):
    return [
        [(word, "NAME", t.index(word), t.index(word) + len(word)) for word in [t.split()[1]]]
        for t in found
    ]


NAMES = CallableRecognizer(named, "names")
KINDS = {
    "rows": (ExactMatchShare, rows, None),
    "distinct rows": (IdenticalMatchShare, rows, None),
    "texts": (TextExactMatch, texts, {"note": "text"}),
    "names": (lambda **claim: EntityLeakage(NAMES, **claim), texts, {"note": "text"}),
    "subjects": (SubjectCopies, subjects, USERS),
}


def evaluated(kind, n_train=30, n_holdout=4, **claim):
    """Evaluate a release that has some units of train, and some of the holdout, of 100 each."""
    metric, table, schema = KINDS[kind]
    train, holdout = np.arange(100), np.arange(100, 200)
    release = [*train[:n_train], *holdout[:n_holdout], *range(900, 966)]
    fitted = metric(**claim).fit(table(train), table(holdout), schema=schema)
    return fitted.evaluate(table(release))


@pytest.mark.parametrize("kind", KINDS)
def test_matches_bound_epsilon(kind):
    result = evaluated(kind)
    matched = Matched(30, 100, 4, 100)
    said = result.details["epsilon"]
    assert said["matched"] == {"train": [30, 100], "holdout": [4, 100]}
    assert said["add_remove"] == matches_epsilon(matched)
    assert said["replace"] == matches_epsilon(matched, adjacency="replace")
    assert "verdict" not in result.details
    assert "claim" not in result.summary


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_is_contradicted_or_not(kind):
    result = evaluated(kind, claimed_epsilon=0.25, delta=1e-5)
    assert result.details["verdict"] == "violation"
    p_value = matches_p_value(Matched(30, 100, 4, 100), 0.25, 1e-5)
    assert result.details["p_value_of_claim"] == p_value < 0.05
    said = "A claim of epsilon = 0.25 at delta = 1e-05 is contradicted. It is at least 0.676"
    assert said in result.summary
    allowed = evaluated(kind, claimed_epsilon=3)
    assert allowed.details["verdict"] != "violation"
    assert "A claim of epsilon = 3 is not contradicted" in allowed.summary


@pytest.mark.parametrize("kind", KINDS)
def test_matches_of_strangers_bound_nothing(kind):
    result = evaluated(kind, n_train=10, n_holdout=10, claimed_epsilon=0)
    assert result.details["epsilon"]["add_remove"] == 0.0
    assert result.details["verdict"] == "consistent"


def test_rows_that_real_rows_repeat_do_not_count():
    """Half of train is one row, which anyone may write."""
    numbers = np.where(np.arange(100) < 50, 0, np.arange(100))
    metric = ExactMatchShare().fit(rows(numbers), rows(np.arange(100, 200)))
    matched = metric.evaluate(rows([0] * 50 + [60, 61])).details["epsilon"]["matched"]
    assert matched == {"train": [2, 100], "holdout": [0, 100]}


def test_an_author_counts_once():
    """Three texts of one author are one record of a claim about authors."""
    train = texts(range(12)).assign(author=np.repeat(["a", "b", "c", "d"], 3))
    holdout = texts(range(20, 32)).assign(author=np.repeat(["e", "f", "g", "h"], 3))
    schema = {"note": "text", "author": "id"}
    for metric in (TextExactMatch(group="author"), EntityLeakage(NAMES, group="author")):
        result = metric.fit(train, holdout, schema=schema).evaluate(train[:5])
        assert result.details["epsilon"]["matched"] == {"train": [2, 4], "holdout": [0, 4]}


def test_without_a_holdout_nothing_is_bounded():
    result = ExactMatchShare(claimed_epsilon=1.0).fit(rows(range(9))).evaluate(rows(range(9)))
    assert "epsilon" not in result.details
    assert "claim" not in result.summary
