"""Lines over time and transitions: drawn from aggregates, of ten sequences or more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Result
from skeval.relational import RelationalSchema, SequenceKey, StatisticMSAS, TransitionSimilarity
from skeval.reporting import LinesDisplay
from skeval.reporting.displays.choice import display_of
from skeval.reporting.displays.transitions import TransitionsDisplay
from tests.reporting.displays.drawing import words_of

SCHEMA = RelationalSchema(["visits"], sequences={"visits": SequenceKey("key", "day")})


def visits(seed, n=12):
    rng = np.random.default_rng(seed)
    lengths = np.append(np.full(n - 1, 4), 9)  # rows five to nine are of one sequence alone
    owners = np.repeat(np.arange(n), lengths)
    ranks = np.arange(owners.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    days = pd.Timestamp("2024-03-01") + pd.to_timedelta(ranks, unit="D")
    wards = np.where(np.arange(owners.size) < owners.size - 2, "abcabcabc", "secret")
    wards = [
        word[rank] if word != "secret" else word for word, rank in zip(wards, ranks, strict=True)
    ]
    return pd.DataFrame({"key": owners, "day": days, "x": rng.normal(size=owners.size), "w": wards})


@pytest.fixture(scope="module", params=["live", "json"])
def results(request):
    tables = [{"visits": visits(seed)} for seed in range(3)]
    both = [
        metric.fit(*tables[:2], schema=SCHEMA).evaluate(tables[2])
        for metric in (StatisticMSAS(), TransitionSimilarity())
    ]
    return [Result.from_dict(r.to_dict()) if request.param == "json" else r for r in both]


@pytest.mark.slow
@pytest.mark.parametrize("by", ["position", "time"])
def test_lines(results, by):
    display = LinesDisplay(results[0], by)
    assert type(display_of(results[0])) is LinesDisplay
    frame = display.frame()
    assert list(frame["rows"].unique()) == ["train", "holdout", "synthetic"]
    # the one sequence that is longer shows nowhere
    assert (frame.groupby(["column", "rows"]).size() == 4).all()
    assert (frame["low"] <= frame["high"]).all()
    assert len(display.plot().figure_.axes) == 1


def test_transitions(results):
    display = TransitionsDisplay(results[1])
    assert type(display_of(results[1])) is TransitionsDisplay
    frame = display.frame()
    assert "secret" not in str(results[1].to_dict())
    assert set(frame["value"]) <= {"a", "b", "c"}
    assert display.plot() is display
    assert len(display.ax_) == 3


def test_nothing_to_draw():
    for kind in (LinesDisplay, TransitionsDisplay):
        assert "nothing to draw" in words_of(kind(Result(0.5)).plot().figure_)
