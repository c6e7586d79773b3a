from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, SuiteResult, make_suite
from skeval.core.context import Context
from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.privacy import NearDuplicateShare
from skeval.privacy.near_copies import near_copies
from skeval.stats.copied_rows import Copies
from tests.calibrations import Claim, rate_of

pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = ["age", "weight", "school_years", "capital_gain", "capital_loss", "hours_per_week"]


def tables(n: int, seed: int) -> list[pd.DataFrame]:
    rows = make_census(3 * n, random_state=500 + seed)
    return [rows.iloc[i * n : (i + 1) * n].reset_index(drop=True) for i in range(3)]


def among(copies: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([copies, fresh.iloc[len(copies) :]], ignore_index=True)


def top_earners(train: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Return fresh rows, and the ten training rows of most gain with a gain that differs by .1%."""
    top = train.nlargest(10, "capital_gain")
    return among(top.assign(capital_gain=top["capital_gain"] * 1.001), fresh)


def noisy(train: pd.DataFrame, fresh: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return fresh rows, and 2% training rows with noise of .1 standard deviations."""
    rows = train.iloc[: len(train) // 50].copy()
    for name in NUMBERS:
        noise = rng.normal(size=len(rows)) * 0.1 * train[name].std()
        rows[name] = (rows[name] + noise).round(0 if name != "weight" else 2)
    return among(rows, fresh)


def repeated(
    train: pd.DataFrame, fresh: pd.DataFrame, n: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return fresh rows, and one training row n times with 2% noise."""
    rows = pd.concat([train.iloc[[0]]] * n, ignore_index=True)
    rows[NUMBERS] = rows[NUMBERS] * (1.0 + 0.02 * rng.normal(size=(n, len(NUMBERS))))
    return among(rows, fresh)


def outcome(train: pd.DataFrame, holdout: pd.DataFrame | None, released: pd.DataFrame) -> str:
    suite = MetricSuite([("near_duplicates", NearDuplicateShare())])
    return suite.fit(train, holdout).evaluate(released).verdict().outcome


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_few_training_rows_with_small_changes_are_found(seed):
    train, holdout, fresh = tables(500, seed)
    rng = np.random.default_rng(seed)
    released = top_earners(train, fresh), noisy(train, fresh, rng)
    for synthetic in (*released, repeated(train, fresh, 50, rng)):
        assert near_copies(Context.of(train, holdout).with_synthetic(synthetic)).leak_sentence
        assert outcome(train, holdout, synthetic) in {"copies found", "leak found"}
    alone = near_copies(Context.of(train).with_synthetic(released[0]))
    assert alone.train.n >= 10  # there are fewer pairs of real rows, so that more may be expected
    assert outcome(train, holdout, fresh) == "no leak found"


@pytest.mark.parametrize("seed", range(3, 6))
def test_ten_top_earners_are_found_in_a_table_of_few_columns(seed):
    # in such a table, about as many fresh rows are 16 times closer than any other real row
    rng = np.random.default_rng(seed)
    columns = ["age", "marital_status", "ethnicity", "schooling", "employer", "income"]
    train, holdout, fresh = (
        rows.assign(wage=np.exp(9.5 + 0.08 * rows["school_years"] + 0.4 * rng.normal(size=1000)))
        for rows in tables(1000, 10 + seed)
    )
    train, holdout, fresh = (rows[[*columns, "wage"]].round(2) for rows in (train, holdout, fresh))
    top = train.nlargest(10, "wage")
    released = among(top.assign(wage=(top["wage"] * 1.001).round(2)), fresh)
    context = Context.of(train, holdout)
    assert near_copies(context.with_synthetic(released)).leak_sentence
    assert not near_copies(context.with_synthetic(fresh)).leak_sentence


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["report", "privacy"])
def test_presets_pass_no_release_of_near_copies_of_one_row(preset):
    train, holdout, fresh = tables(200, 5)
    released = repeated(train, fresh, 200, np.random.default_rng(5))
    names = ("exact_matches", "near_duplicates", "dcr_overfitting", "membership")
    suite = make_suite(preset)
    suite.set_params(metrics=[(name, one) for name, one in suite.metrics if name in names])
    verdict = suite.fit(train, holdout).evaluate(released).verdict()
    assert verdict.outcome != "no leak found"


@pytest.mark.slow
def test_release_of_one_row_with_small_changes_has_one_different_row():
    train, holdout, fresh = tables(200, 6)
    released = repeated(holdout, fresh, 200, np.random.default_rng(6))
    counted = near_copies(Context.of(train, holdout).with_synthetic(released))
    assert counted.n_distinct == 1
    assert counted.n_expected > 50
    assert not counted.leak_sentence  # they are near copies of a holdout row
    assert outcome(train, holdout, released) == "inconclusive"


def test_counts_by_hand():
    # real rows at 0, 1, 2, ..., of which none is 16 times closer to another than to a third one
    train, holdout = (pd.DataFrame({"x": np.arange(20.0) + start}) for start in (0.0, 20.0))
    synthetic = pd.DataFrame({"x": [*(np.arange(12) + 0.01), 3.5, 25.01, *np.arange(30, 36.0)]})
    counted = near_copies(Context.of(train, holdout).with_synthetic(synthetic))
    assert counted.train.n == 12  # an exact copy is counted elsewhere
    assert counted.form == "near copies"
    one = pd.DataFrame({"x": [*(4.0 + np.arange(1, 16) / 1000.0), *np.arange(30, 36.0) + 0.4]})
    counted = near_copies(Context.of(train, holdout).with_synthetic(one))
    assert (counted.train.n, counted.form) == (15, "near copies of one")
    assert near_copies(Context.of(train.head(2)).with_synthetic(one)) is None


def test_results_keep_what_was_counted():
    train, holdout, fresh = tables(200, 7)
    suite = MetricSuite([("near_duplicates", NearDuplicateShare())]).fit(train, holdout)
    results = suite.evaluate(top_earners(train, fresh))
    again = SuiteResult.from_dict(results.to_dict())
    assert again["near_duplicates"].copies == results["near_duplicates"].copies
    assert again.verdict().sentence == results.verdict().sentence
    (counted,) = results["near_duplicates"].copies
    with pytest.raises(TypeError):
        Copies.from_dict({**counted.to_dict(), "form": "far"})


def is_found_by_chance(seed: int) -> bool:
    train, holdout, third = tables(200, 100 + seed)
    synthetic = third
    if seed % 2:
        synthetic = GaussianCopula().fit(third).sample(200, random_state=seed)
    context = Context.of(train, None if seed % 3 == 0 else holdout)
    return bool(near_copies(context.with_synthetic(synthetic)).leak_sentence)


@pytest.mark.calibration
def test_fresh_rows_are_seldom_near_copies():
    rate = rate_of(map(is_found_by_chance, range(600)), Claim(0.01, 0.0, 0.03))
    assert rate.holds, rate
