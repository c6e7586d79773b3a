"""Headline numbers over releases: the order, what is followed, and which falls are told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from skeval import History, MetricTags, Result, SuiteResult, history, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.results.history import FIRST, PREVIOUS
from skeval.verdict import Contrast

HIGH = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1), quoted="relations")
LOW = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="attack", headline=1)


def releases(values: Sequence[float], error: float = 0.01, tags: MetricTags = HIGH, **more):
    half = 1.96 * error
    return {
        f"v{i}": SuiteResult({"one": Result(x, (x - half, x + half), tags=tags, **more)})
        for i, x in enumerate(values, start=1)
    }


def test_a_fall_is_told_and_where_it_happened():
    followed = history(releases([0.9, 0.91, 0.7, 0.71]))
    told = followed.falls[["before", "after", "against"]].to_numpy().tolist()
    assert told == [["v2", "v3", PREVIOUS], ["v1", "v3", FIRST], ["v1", "v4", FIRST]]
    assert "one 0.910 in v2, 0.700 in v3 (difference" in followed.sentence
    assert "v4" not in followed.sentence.split("(")[1]
    assert followed.frame()["fall"].tolist() == ["", "", f"{PREVIOUS} and {FIRST}", FIRST]


def test_a_slow_fall_is_told_against_the_first():
    followed = history(releases([0.9, 0.88, 0.86, 0.84]))
    assert set(followed.falls["against"]) == {FIRST}
    assert "one 0.900 in v1, 0.840 in v4" in followed.sentence


def test_a_rise_is_no_fall_and_of_risks_it_is_one():
    risen = history(releases([0.5, 0.8]))
    assert risen.falls.empty
    assert risen.changes["said"].tolist() == ["better, beyond noise"]
    assert "no fall can be told from noise, by 1 comparison at 5% together" in risen.sentence
    assert len(history(releases([0.5, 0.8], tags=LOW)).falls) == 1


def test_what_comes_nearer_to_fresh_rows_has_not_fallen():
    """0.95 was closer to train than fresh rows, 0.8 is as good as they are."""
    followed = history(releases([0.95, 0.8], baseline=0.8))
    assert followed.falls.empty
    assert followed.changes["said"].tolist() == ["both as good as the baseline"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["normal", "shares"])
def test_a_fall_is_told_in_at_most_a_twentieth_of_series_of_noise(shape):
    """Four metrics over five releases that are alike, 400 times."""
    rng, n_series, told = np.random.default_rng(0), 400, 0
    for _ in range(n_series):
        followed = history(noise(rng, shape))
        assert followed.n_tested == 4 * 7
        told += not followed.falls.empty
    # 2.5% are expected at most, as half of the changes that are told are rises
    assert told / n_series <= 0.05


def noise(rng, shape):
    if shape == "normal":
        values = 0.6 + 0.03 * rng.normal(size=(5, 4))
        half = np.full((5, 4), 1.96 * 0.03)
    else:
        values = rng.binomial(300, 0.3, size=(5, 4)) / 300
        half = 1.96 * np.sqrt(values * (1 - values) / 300)
    return {
        f"v{i}": SuiteResult(
            {
                f"m{j}": Result(values[i, j], (values[i, j] - h, values[i, j] + h), tags=HIGH)
                for j, h in enumerate(half[i])
            }
        )
        for i in range(5)
    }


def test_a_fall_of_six_standard_errors_is_told():
    """Of a difference: 6 times the square root of 2 of a value."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(50):
        fell = noise(rng, "normal")
        last = fell["v4"]["m0"]
        ends = tuple(end - 6 * np.sqrt(2) * 0.03 for end in last.interval)
        lower = replace(last, value=last.value - 6 * np.sqrt(2) * 0.03, interval=ends)
        told += not history({**fell, "v4": SuiteResult({**fell["v4"], "m0": lower})}).falls.empty
    assert told == 50


@pytest.mark.slow
def test_releases_of_one_source_are_alike():
    """Real metrics: fresh rows of one source in five releases fall in none."""
    train, holdout, *fresh = (make_mixed(250, random_state=seed) for seed in range(7))
    suite = make_suite("fidelity").fit(train, holdout)
    followed = history({f"v{i}": suite.evaluate(one) for i, one in enumerate(fresh)})
    assert followed.metrics == ["similarity", "relations"]
    assert followed.falls.empty
    assert followed.sentence.startswith("5 releases, v0 to v4: no fall can be told from noise")


@pytest.mark.slow
def test_the_order_is_given_or_that_of_the_dates():
    train, holdout, one, two = (make_mixed(100, random_state=seed) for seed in range(4))
    suite = make_suite("fidelity").fit(train, holdout)
    later, sooner = (
        suite.evaluate(t, date=d) for t, d in ((one, "2026-02-01"), (two, "2025-12-01"))
    )
    results = {"later": later, "sooner": sooner}
    assert list(history(results)) == ["later", "sooner"]
    assert list(history(results, by_date=True)) == ["sooner", "later"]
    with pytest.raises(InvalidParameterError, match="no date is known of v1, v2; give"):
        history(releases([0.1, 0.2]), by_date=True)


def test_what_is_followed():
    other = MetricTags("fidelity", greater_is_better=True)
    suite = SuiteResult(
        {"a": Result(0.5, tags=other), "b": Result(0.5, tags=HIGH), "c": Result(1.0)}
    )
    again = SuiteResult({"b": Result(0.5, tags=HIGH)})
    assert history({"v1": suite, "v2": again}).metrics == ["b"]
    assert history({"v1": suite, "v2": again}, metrics=["a"]).metrics == ["a"]
    without = {"v1": SuiteResult({"a": suite["a"]}), "v2": SuiteResult({"a": suite["a"]})}
    assert history(without).metrics == ["a"]
    assert history(without, metrics="a").metrics == ["a"]
    twice, once = (history(releases([0.1, 0.2]), metrics=["one"] * n) for n in (2, 1))
    assert twice.n_tested == once.n_tested
    followed = history({"v1": suite, "v2": again}, metrics=["c"])
    assert "no number has an interval in two of them" in followed.sentence
    assert "Drawn but not tested, without two intervals: c." in followed.sentence


def test_releases_without_a_metric_in_common_are_drawn(tmp_path):
    one, other = (SuiteResult({name: Result(0.5, (0.4, 0.6), tags=HIGH)}) for name in "ab")
    followed = history({"v1": one, "v2": other})
    assert followed.changes.empty
    assert followed.falls.empty
    assert "no change can be tested" in followed.sentence
    assert followed.to_html(tmp_path / "a.html").stat().st_size > 1000
    assert json.loads(followed.to_json())["changes"] == []


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"metrics": ["tw"]}, "no release has tw"),
        ({"metrics": ["ones"]}, "Did you mean"),
        ({"level": 0.0}, "level must be between 0 and 1, got 0.0"),
        ({"level": "0.1"}, "level must be between 0 and 1, got 0.1"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(settings, match):
    with pytest.raises(InvalidParameterError, match=match):
        history(releases([0.1, 0.2]), **settings)
    with pytest.raises(InvalidParameterError, match="two releases or more are needed, got 1"):
        history(releases([0.1]))
    for results in (list(releases([0.1, 0.2]).values()), {"v1": 1, "v2": 2}, SuiteResult({})):
        with pytest.raises(InvalidParameterError, match="history: "):
            history(results)


@pytest.mark.slow
def test_a_leak_and_other_real_tables_are_named():
    contrast = Contrast("rows that match", 0.4, 0.1, "of holdout rows")
    calm = Result(0.2, (0.1, 0.3), p_value=0.5, contrast=contrast, tags=LOW)
    leak = replace(calm, p_value=1e-6)
    followed = history({"v1": SuiteResult({"a": calm}), "v2": SuiteResult({"a": leak})})
    assert "A leak was found in v2." in followed.sentence
    train, *others = (make_mixed(100, random_state=seed) for seed in range(4))
    results = {
        f"v{i}": make_suite("fidelity").fit(train[i:], others[0]).evaluate(others[1])
        for i in range(2)
    }
    assert "train was not the same table." in history(results).sentence


@pytest.mark.slow
def test_it_is_written_in_four_forms(tmp_path):
    followed = history(releases([0.9, 0.91, 0.7]))
    content = json.loads(followed.to_json(tmp_path / "a.json"))
    assert content["sentence"] == followed.sentence
    assert [row["fall"] for row in content["changes"]] == [False, True, True]
    for kind in ("pdf", "html", "png"):
        path = getattr(followed, f"to_{kind}")(tmp_path / f"a.{kind}")
        first = path.read_bytes()
        assert getattr(followed, f"to_{kind}")(path).read_bytes() == first
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Releases over time" in page
    assert "worse, beyond noise" in page
    assert "<svg" in page
    assert "v3" in followed._repr_html_()
    assert "v3" in repr(followed)


def test_a_panel_a_metric_and_a_mark_where_it_fell():
    display = history(releases([0.9, 0.91, 0.7])).plot()
    marks = {line.get_marker(): line.get_xdata().tolist() for line in display.ax_.lines}
    assert marks["v"] == [2]
    assert marks["o"] == [0, 1]
    assert [text.get_text() for text in display.ax_.texts] == ["worse: 0.700"]
    assert isinstance(display.history, History)


def test_many_releases_and_long_names_fit():
    display = history(
        {f"{i}: a long name of a release": r for i, r in enumerate(releases([0.9] * 30).values())}
    ).plot()
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert len(labels) == 10
    assert all("…" in label for label in labels)
