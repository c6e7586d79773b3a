"""False alarms and power of the verdict of whole suites; the page of the docs on both."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from skeval import SuiteResult, make_suite

ROOT = Path(__file__).parents[2]
TABLES = ("flights", "census")
N_SUITES = 40


@pytest.fixture(scope="module")
def benchmark():
    """The module that measures the same on more and larger tables."""
    spec = importlib.util.spec_from_file_location("verdicts", ROOT / "benchmarks" / "verdicts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_says_what_was_counted(benchmark):
    counts = json.loads((ROOT / "docs" / "null_and_power.json").read_text(encoding="utf-8"))
    written = (ROOT / "docs" / "null_and_power.rst").read_text(encoding="utf-8")
    assert written == benchmark.page(counts)
    assert "null_and_power" in (ROOT / "docs" / "evidence.rst").read_text(encoding="utf-8")


def test_the_page_names_tests_that_were_added_after_the_counts(benchmark, tmp_path):
    counts = json.loads((ROOT / "docs" / "generators.json").read_text(encoding="utf-8"))
    assert "partial_membership" in benchmark.sentence_on_later_tests({})
    assert not benchmark.sentence_on_later_tests(
        [name for preset in benchmark.POWER_PRESETS for name, _ in make_suite(preset).metrics]
    )
    # The figure shows the tests that were counted.
    benchmark.draw_generators(counts, tmp_path / "generators.png")
    assert (tmp_path / "generators.png").stat().st_size


def test_no_false_alarm_rate_is_above_the_level(benchmark):
    """Of the counts that the page shows: less than 2.5% likely, were the rate the level."""
    counts = json.loads((ROOT / "docs" / "null_and_power.json").read_text(encoding="utf-8"))
    for preset, found in counts["null"]["all"].items():
        assert found["low"] <= counts["level"], preset


def test_interval_of_counts(benchmark):
    assert benchmark.counted([True] + [False] * 9) == {
        "alarms": 1, "suites": 10, "low": 0.0025, "high": 0.445,
    }  # fmt: skip
    assert benchmark.counted([False] * 20)["high"] == pytest.approx(0.1684, abs=1e-4)


def test_leaks_are_as_many_copies_as_said(benchmark):
    rng = np.random.default_rng(0)
    train, _, third = benchmark.parts_of("census", (300, 100, 200), rng)
    for kind in benchmark.LEAKS:
        table = benchmark.leaky(kind, train, third, 0.05, rng)
        assert table.dtypes.equals(train.dtypes)
        exact = len(table.merge(train.drop_duplicates(), how="inner"))
        assert exact == (0 if kind == "noisy copies" else 10)
        pd.testing.assert_frame_equal(table[10:], third[10:])


def test_noisy_copies_have_one_other_category(benchmark):
    rng = np.random.default_rng(1)
    train, *_ = benchmark.parts_of("census", (300, 1, 1), rng)
    copies = benchmark.noisy(train, train, rng)
    categories = train.select_dtypes("category").columns
    changed = copies[categories].astype(str) != train[categories].astype(str)
    assert (changed.sum(axis=1) == 1).all()
    moved = (copies["weight"] - train["weight"]) / train["weight"].std()
    assert moved.std() == pytest.approx(0.01, rel=0.2)
    assert (copies["age"] % 1 == 0).all()


@pytest.mark.calibration
def test_no_more_false_alarms_than_the_level(benchmark):
    said = [
        benchmark.null_suite(
            TABLES[i % 2],
            [(400, 400, 400), (400, 300, 500)][i // 2 % 2],
            benchmark.CLEAN[i % 3],
            i,
            ("screens", "attacks"),
        )
        for i in range(N_SUITES)
    ]
    most = int(binom.isf(0.005, N_SUITES, 0.05))
    for preset in ("screens", "attacks"):
        assert sum(bool(one["alarms"][preset]) for one in said) <= most, preset


@pytest.mark.calibration
def test_one_copy_in_a_hundred_is_found(benchmark):
    """The report says so for at least 95% of tables of 1,000 rows with 10 of train in them."""
    said = [
        benchmark.power_suite(TABLES[i % 2], 1000, "verbatim copies", 0.01, i, ("report",))
        for i in range(20)
    ]
    assert sum(bool(one["alarms"]["report"]) for one in said) >= 19


def pairs_of(sentence):
    """Return the two numbers of each contrast that a sentence quotes, by metric."""
    quoted = re.findall(r": ([\d.,e\u2212+-]+)%?, [^;:]*? ([\d.,e\u2212+-]+)%? \((\w+)\)", sentence)
    return {
        name: tuple(float(x.replace(",", "").replace("\u2212", "-")) for x in pair)
        for *pair, name in quoted
    }


# of these less is a leak: distances, and rows told apart
LOW = {"dcr_percentile", "nndr", "holdout_distance_ratio", "dcr_baseline", "nnaa_privacy_loss"}


@pytest.mark.calibration
def test_a_hundred_alarms_quote_numbers_that_support_them(benchmark):
    """Leaks of all kinds in rows of real tables, and in tables that are nothing like them."""
    n_alarms, kinds = 0, itertools.product(benchmark.LEAKS, (0.05, 0.25), benchmark.CLEAN)
    for i, (leak, share, base) in enumerate(kinds):
        rng = np.random.default_rng([i, 2])
        sizes = [n // 2 for n in benchmark.SIZES[i % 3]]
        train, holdout, third = benchmark.parts_of(benchmark.TABLES[i % 3], sizes, rng)
        release = benchmark.leaky(leak, train, benchmark.clean(base, third, i), share, rng)
        suite = make_suite("screens", check_holdout=False, random_state=i)
        results = suite.fit(train, holdout).evaluate(release)
        for name in results.verdict().alarms:
            alone = SuiteResult({name: results[name]}, sizes=results.sizes).verdict()
            observed, expected = pairs_of(alone.sentence)[name]
            assert (observed < expected) if name in LOW else (observed > expected), alone.sentence
            n_alarms += 1
    assert n_alarms >= 100
