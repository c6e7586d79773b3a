"""Suites that reports are drawn of: narrow, wide and odd."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult, make_suite
from skeval.core.tags import Aspect
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement, SimilarityScore, TVComplement
from skeval.reporting import register_display
from skeval.reporting.displays.base import DISPLAYS
from skeval.reporting.displays.value import ValueDisplay


def evaluated(suite: MetricSuite, tables: list[pd.DataFrame], schema: object = None) -> SuiteResult:
    """Evaluate a suite on train, holdout and synthetic, or on train and synthetic."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return suite.fit(*tables[:-1], schema=schema).evaluate(tables[-1])


@pytest.fixture(scope="session")
def tables() -> list[pd.DataFrame]:
    return [make_mixed(400, random_state=seed) for seed in range(3)]


@pytest.fixture(scope="session")
def suite_result(tables: list[pd.DataFrame]) -> SuiteResult:
    """The preset, and two screens that only the long list has."""
    suite, screens = make_suite("report"), make_suite("screens")
    more = [(name, screens[name]) for name in ("privacy_score", "dcr_baseline")]
    return evaluated(suite.set_params(metrics=[*suite.metrics, *more]), tables)


@pytest.fixture(scope="session")
def without_holdout(tables: list[pd.DataFrame]) -> SuiteResult:
    return evaluated(make_suite("report"), [tables[0], tables[2]])


@pytest.fixture(scope="session")
def narrow(tables: list[pd.DataFrame]) -> SuiteResult:
    """Three columns."""
    return evaluated(make_suite("report"), [table[["age", "city", "joined"]] for table in tables])


@pytest.fixture(scope="session")
def single(tables: list[pd.DataFrame]) -> SuiteResult:
    """One numeric column: no pair, and nothing for the metric of categories."""
    return evaluated(make_suite("report"), [table[["income"]] for table in tables])


@pytest.fixture(scope="session")
def wide(tables: list[pd.DataFrame]) -> SuiteResult:
    """Nineteen columns whose names have thirty characters and more."""
    return evaluated(make_suite("report"), [repeated(table, 19) for table in tables])


def repeated(table: pd.DataFrame, n_columns: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns = {}
    for i in range(n_columns):
        name = table.columns[i % table.shape[1]]
        values = table[name].to_numpy()
        columns[f"{name}_of_the_{i:02d}_household_member_as_declared"] = values[
            rng.permutation(len(values))
        ]
    return pd.DataFrame(columns)


@pytest.fixture(scope="session")
def hundred(tables: list[pd.DataFrame]) -> SuiteResult:
    """A hundred columns, the quick metrics only."""
    suite = MetricSuite(
        [("ks", KSComplement()), ("tv", TVComplement()), ("similarity", SimilarityScore())]
    )
    return evaluated(suite, [repeated(table.head(120), 100) for table in tables])


@pytest.fixture(scope="session")
def odd() -> SuiteResult:
    """Names like markup and formulas, one value only, no value at all, long and rare categories."""
    return evaluated(make_suite("report"), [_odd(seed) for seed in range(3)])


@pytest.fixture(scope="session")
def extreme() -> SuiteResult:
    """Values, ends and baselines of the widest numbers: tiny, huge, negative, without an end."""
    return SuiteResult(
        {f"{name}_of_all_columns": _extreme(x, aspect) for aspect, name, x in _extremes()},
        sizes={"train": 1_000_000, "holdout": 1_000_000, "synthetic": 1_000_000},
    )


def _extremes() -> list[tuple[Aspect, str, float]]:
    tiny = [("small", 2.2e-4), ("tiny", -2.22e-15), ("tiniest", -1.23e-308)]
    huge = [("large", 9.99e6), ("huge", -8.88e17), ("hugest", 1.79e308)]
    actual: list[tuple[Aspect, str, float]] = [("fidelity", name, x) for name, x in tiny + huge]
    return [*actual, ("privacy", "leaking", 2.22e-16), ("privacy", "endless", np.inf)]


def _extreme(x: float, aspect: Aspect) -> Result:
    """Return a result of a number, its interval by a fifth below and a quarter above."""
    tags = MetricTags(
        aspect, greater_is_better=True, evidence="screen" if aspect == "privacy" else None
    )
    low, high = sorted((0.8 * x, x if abs(x) > 1e307 else 1.25 * x))
    p_value = 1e-9 if aspect == "privacy" else None
    return Result(x, (low, high), p_value, 0.9 * x, metric="Extreme", tags=tags)


def _odd(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 300
    long = [
        f"a category with a name that is far too long to be shown, number {i}" for i in range(24)
    ]
    return pd.DataFrame(
        {
            '<b>bold</b> & "quoted"': rng.normal(size=n),
            "price_$_of_$100": rng.lognormal(8.0, 2.0, n),
            "50%_caf\u00e9_\u4e2d\u6587": rng.choice(["$a$", "<i>", "%s", "\u4e2d", "a\nb"], n),
            "constant": np.full(n, 7.0),
            "nothing": np.full(n, np.nan),
            "long": rng.choice(long, n, p=np.r_[0.9, np.full(23, 0.1 / 23)]),
            "tiny": rng.normal(size=n) * 1e-9,
            "huge": rng.normal(size=n) * 1e15,
            "mostly_missing": np.where(rng.random(n) < 0.95, np.nan, rng.normal(size=n)),
            "instant": pd.Timestamp("2024-02-29")
            + pd.to_timedelta(rng.integers(0, 600, n), unit="s"),
        }
    )


class Unprintable(ValueDisplay):
    """A figure that cannot be drawn."""

    def draw(self, axes: Any) -> None:
        raise RuntimeError("no paper")


@pytest.fixture
def unprintable() -> Iterator[SuiteResult]:
    """A result that can be read, and a figure of it that cannot be drawn."""
    register_display(Unprintable)
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1), display="Unprintable")
    yield SuiteResult({"readable": Result(0.5, metric="Own", tags=tags)})
    DISPLAYS.pop("Unprintable")
