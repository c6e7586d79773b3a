from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import BNLikelihood, BNLogLikelihood


def codes(*rows):
    return pd.DataFrame([list(row) for row in rows], columns=["a", "b", "c"])


R = codes("000", "000", "001", "011", "111", "111", "110", "100")
S = codes("000", "111", "010", "101")
SCHEMA = dict.fromkeys("abc", "categorical")


@pytest.mark.parametrize(
    ("smoothing", "mean", "mean_log"), [(0.0, 0.15625, -2.367124), (1.0, 0.138889, -2.197225)]
)
def test_published_values(smoothing, mean, mean_log):
    result = BNLikelihood(smoothing).fit(R, schema=SCHEMA).evaluate(S)
    assert result.value == pytest.approx(mean, abs=1e-6)
    assert result.details["edges"] == [["a", "b"], ["b", "c"]]
    assert result.details["mean_log"] == pytest.approx(mean_log, abs=1e-6)
    for metric in (BNLogLikelihood(smoothing), BNLikelihood(smoothing, log=True)):
        assert metric.fit(R, schema=SCHEMA).score(S) == pytest.approx(mean_log, abs=1e-6)


def test_impossible_rows():
    train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq")})
    result = BNLikelihood(smoothing=0.0).fit(train).evaluate(synthetic)
    assert result.value == 0.25
    assert result.details["impossible_share"] == 0.5
    assert BNLogLikelihood(smoothing=0.0).fit(train).score(synthetic) == pytest.approx(
        -9.556914, abs=1e-6
    )


def test_unseen_and_missing_values():
    train = pd.DataFrame({"a": [*"xxxx", None, None]})
    metric = BNLikelihood(smoothing=1.0).fit(train)
    assert metric.score(pd.DataFrame({"a": [None, "x"]})) == pytest.approx((3 + 5) / 16)
    # two levels that train never had share one cell
    assert metric.score(pd.DataFrame({"a": ["z", "w"]})) == pytest.approx(1 / 8)
    assert BNLikelihood(smoothing=0.0).fit(train).score(pd.DataFrame({"a": ["z"]})) == 0.0


def test_the_baseline_is_the_probability_of_the_holdout():
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    for metric in (BNLikelihood(), BNLogLikelihood(n_bins=5)):
        result = metric.fit(train, holdout).evaluate(synthetic)
        assert result.baseline == pytest.approx(metric.fit(train).score(holdout))
        assert result.details["gap"] == pytest.approx(abs(result.value - result.baseline))
        assert result.interval[0] < result.value < result.interval[1]


def test_broken_associations_are_improbable():
    train = make_mixed(500, 0)
    rng = np.random.default_rng(0)
    shuffled = train.apply(lambda column: column.to_numpy()[rng.permutation(len(column))])
    for metric in (BNLikelihood(), BNLogLikelihood(), BNLogLikelihood(n_bins=5)):
        metric.fit(train)
        assert metric.score(make_mixed(500, 1)) > metric.score(shuffled)


def test_bins_bring_in_numbers():
    train = make_mixed(100, 0)
    edges = BNLikelihood(n_bins=4).fit(train).evaluate(train).details["edges"]
    assert len(edges) == 6
    assert len(BNLikelihood().fit(train).evaluate(train).details["edges"]) == 2
    with pytest.warns(DegenerateInputWarning, match="no categorical or boolean column"):
        assert np.isnan(BNLikelihood().fit(train[["age"]]).score(train[["age"]]))


def test_many_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{i}": rng.integers(0, 30, 40).astype(str) for i in range(60)})
    schema = dict.fromkeys(table.columns, "categorical")
    result = BNLogLikelihood().fit(table, schema=schema).evaluate(table[::-1])
    assert -60 * np.log(100) < result.value < -60


def test_one_row():
    result = BNLikelihood().fit(R, schema=SCHEMA).evaluate(S[:1])
    assert result.interval is None
    assert 0.0 < result.value < 1.0
