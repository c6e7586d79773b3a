"""The largest risk of all attacks is that of the worst of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.privacy import AnonymeterRisk, InferenceRisk, LinkabilityRisk, SinglingOutRisk

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also stand in train")

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
COPIED = pd.concat([TRAIN.iloc[:60], SYNTHETIC.iloc[60:]], ignore_index=True)


def evaluate(synthetic, **named):
    return AnonymeterRisk(**named).fit(TRAIN, HOLDOUT).evaluate(synthetic)


@pytest.mark.slow
@pytest.mark.parametrize("synthetic", [SYNTHETIC, COPIED], ids=["fresh", "copied"])
def test_is_the_largest(synthetic):
    found = evaluate(synthetic)
    alone = {
        "univariate singling out": SinglingOutRisk("univariate"),
        "multivariate singling out": SinglingOutRisk(),
        "linkability": LinkabilityRisk(),
        **{f"inference of {name}": InferenceRisk(name) for name in TRAIN.columns},
    }
    results = {n: m.fit(TRAIN, HOLDOUT).evaluate(synthetic) for n, m in alone.items()}
    told = found.details["attacks"]
    assert list(told) == list(alone)
    assert {n: t["residual_risk"] for n, t in told.items()} == {
        n: r.value for n, r in results.items()
    }
    worst = max(results, key=lambda name: results[name].value)
    assert (found.details["worst_attack"], found.value) == (worst, results[worst].value)
    assert found.p_value == pytest.approx(min(1.0, 10 * min(r.p_value for r in results.values())))
    assert found.details["n_attacks_made"] == 10


def test_intervals_hold_at_once():
    found, one = evaluate(COPIED), LinkabilityRisk(confidence_level=1 - 0.05 / 10)
    told = found.details["attacks"]
    # the point is that of 95%, the interval wider
    alone = one.fit(TRAIN, HOLDOUT).evaluate(COPIED)
    assert told["linkability"]["interval"] == pytest.approx(alone.interval)
    assert found.interval[0] == max(t["interval"][0] for t in told.values())
    assert found.interval[0] <= found.value <= found.interval[1]


def test_levels():
    value = evaluate(COPIED).value
    cases = {"low": (value + 0.01, 1.0), "medium": (value, value), "high": (0.0, value - 0.01)}
    for name, levels in cases.items():
        assert evaluate(COPIED, levels=levels).details["level"] == name


@pytest.mark.parametrize("levels", [(0.5, 0.3), (0.1,), (-0.1, 0.5), (0.5, 1.1), (True, 1), "ab"])
def test_odd_levels_are_refused(levels):
    with pytest.raises(InvalidParameterError, match="levels must be two ascending numbers"):
        AnonymeterRisk(levels=levels).fit(TRAIN, HOLDOUT)


def test_one_column_is_refused():
    with pytest.raises(MissingInputError, match="needs 2 columns"):
        AnonymeterRisk().fit(TRAIN[["age"]], HOLDOUT[["age"]])


def test_attacks_that_cannot_be_made_are_left_out():
    """Categories of which none is rare, and a column that never varies."""
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"x": rng.choice(["a", "b"], 300), "y": rng.choice(["c", "d"], 300), "z": "e"})
        for _ in range(3)
    ]
    found = AnonymeterRisk().fit(*tables[:2]).evaluate(tables[2])
    assert "inference of z" in found.details["left_out"]
    assert "univariate singling out" in found.details["left_out"]
    assert found.details["worst_attack"] not in found.details["left_out"]


def test_fresh_rows_raise_no_alarm():
    found = evaluate(SYNTHETIC)
    assert found.p_value > 0.025
    assert found.baseline == 0.0
    assert found.details["level"] == "low"


def test_columns_are_chosen():
    found = evaluate(TRAIN, columns=["age", "plan", "city"])
    assert list(found.details["attacks"])[3:] == [
        "inference of age",
        "inference of city",
        "inference of plan",
    ]
