"""Linkability: the hand example, wine, ties against brute force, odd tables."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    MissingInputError,
)
from skeval.privacy import LinkabilityRisk
from skeval.privacy.attacks.anonymeter.linkability import link_rates, linkability, random_halves
from skeval.privacy.attacks.anonymeter.risks import Measure, places, synthetic_rows, targets
from skeval.stats.risks import random_link_rate
from skeval.steps.neighbors import gower_engine
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises, warns

# tables of few columns have rows in common by nature
pytestmark = pytest.mark.filterwarnings("ignore:.*holdout rows also occur in the training data")

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def evaluate(tables, *settings, **named):
    train, holdout, synthetic = tables
    return LinkabilityRisk(*settings, **named).fit(train, holdout).evaluate(synthetic)


def test_hand_example():
    """The nearest on a are synthetic rows 0, 1, 2, on b 0, 2, 1: the first row is linked."""
    train = pd.DataFrame({"a": [0.0, 5, 10], "b": [0.0, 5, 10]})
    holdout = pd.DataFrame({"a": [10.0, 0, 5], "b": [5.0, 10, 0]})
    synthetic = pd.DataFrame({"a": [1.0, 6, 8], "b": [0.5, 9, 4]})
    found = evaluate((train, holdout, synthetic), (["a"], ["b"]))
    rate = found.details["attack"]
    assert (rate["n_success"], rate["n"]) == (1.0, 3.0)
    assert rate["rate"] == pytest.approx(0.4269162, abs=5e-8)
    assert rate["interval"] == pytest.approx((0.0614919, 0.7923404), abs=5e-8)
    assert found.details["baseline"]["n_success"] == pytest.approx(1.0)
    assert found.details["weak_attack"]


@pytest.mark.parametrize(("k", "train", "control"), [(1, 89, 3), (3, 89, 35), (5, 89, 68)])
def test_wine(wine, k, train, control):
    names = list(wine.train.columns)
    found = evaluate((wine.train, wine.holdout, wine.over), (names[:6], names[6:]), n_neighbors=k)
    counts = [found.details[rate]["n_success"] for rate in ("attack", "control")]
    assert counts == [train, control]
    if k == 1:
        assert found.value == pytest.approx(0.9781539, abs=5e-8)


PARTS = [
    (("age", "city"), ("income", "plan", "member", "visits", "joined")),
    (("city", "plan"), ("member", "visits")),
    (("city",), ("age", "income")),
    (("city", "age"), ("age", "plan")),  # in common
]


def nearest_of_all(context, part):
    """Return which synthetic rows are nearest to each target, by comparing each with each."""
    order = [n for n in places(context.schema) if n in part]
    engine = gower_engine(context, order).set_params(backend="numpy")
    rows = synthetic_rows(context)[:, [places(context.schema)[n] for n in order]]
    distances, found = engine.fit(rows).kneighbors(targets(context, tuple(order), None, 0), 200)
    ordered = np.empty_like(distances)
    np.put_along_axis(ordered, found, distances, axis=1)
    return ordered <= distances[:, :1]


@pytest.mark.parametrize("parts", PARTS)
def test_links_of_the_nearest_are_their_expected_number(parts):
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    near = [nearest_of_all(context, part) for part in parts]
    expected = (near[0] & near[1]).sum(axis=1) / (near[0].sum(axis=1) * near[1].sum(axis=1))
    found = linkability(context, [parts], 1, n_attacks=None, seed=0)
    # a random choice represents more than 32 tied rows
    assert found.successes[0] == pytest.approx(expected[:200].sum(), rel=0.15)
    assert found.control[0] == pytest.approx(expected[200:].sum(), rel=0.15)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_links_of_tied_lists_by_enumeration(k):
    """All choices of k rows are counted, of which the nearer ones are certain."""
    rng = np.random.default_rng(k)

    def choices(distances, rows):
        certain = [row for row, d in zip(rows, distances, strict=True) if d < distances[k - 1]]
        tied = [row for row, d in zip(rows, distances, strict=True) if d == distances[k - 1]]
        return [{*certain, *drawn} for drawn in combinations(tied, k - len(certain))]

    lists = []
    for _ in range(2):
        rows = np.stack([rng.permutation(12)[:6] for _ in range(30)])
        lists.append((np.sort(rng.integers(0, 3, size=rows.shape), axis=1).astype(float), rows))
    expected = []
    for i in range(30):
        pairs = list(product(*(choices(distances[i], rows[i]) for distances, rows in lists)))
        expected.append(np.mean([bool(first & second) for first, second in pairs]))
    assert link_rates(*lists, k) == pytest.approx(expected)


def test_attack_on_coarse_columns_links_no_more_than_guessing():
    """No part says anything: every synthetic row is as near as any other, as in a guess."""
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"a": ["x"] * 99 + ["y"], "b": ["u"] * 99 + ["v"]}) for _ in range(3)]
    for table in tables:
        table["b"] = rng.permutation(table["b"])
    for k in (1, 3):
        details = evaluate(tables, (["a"], ["b"]), n_neighbors=k).details
        guessed = details["baseline"]["n_success"]
        for rate in ("attack", "control"):
            assert details[rate]["n_success"] == pytest.approx(guessed, rel=0.5)


def test_links_do_not_depend_on_the_order_of_rows():
    parts, mixed = (["city", "plan"], ["member", "visits"]), SYNTHETIC.sample(frac=1.0)
    results = [evaluate((TRAIN, HOLDOUT, one), parts).details for one in (SYNTHETIC, mixed)]
    assert results[0] == results[1]


def test_copies_are_linked():
    found = evaluate((TRAIN, HOLDOUT, TRAIN))
    counts = [found.details[rate]["n_success"] for rate in ("attack", "control", "baseline")]
    assert counts == pytest.approx([155, 1, 1], abs=4)  # coarse halves leave several rows as near
    assert found.value > 0.7
    assert found.p_value == 1e-4
    assert found.details["n_splits"] == 5


def test_fresh_rows_are_at_the_null():
    found = evaluate((TRAIN, HOLDOUT, SYNTHETIC))
    assert found.interval[0] == 0.0
    assert found.p_value > 0.025


def test_risk_is_the_mean_over_halves():
    halves = random_halves(list(TRAIN.columns), 3, 0)
    singles = [
        evaluate((TRAIN, HOLDOUT, TRAIN.iloc[:100]), tuple(map(list, half))).details["raw"]
        for half in halves
    ]
    found = evaluate((TRAIN, HOLDOUT, TRAIN.iloc[:100]), n_splits=3)
    assert found.value == pytest.approx(np.mean(singles))
    assert found.interval[0] <= found.value <= found.interval[1]


def test_random_halves():
    names = ["d", "a", "c", "b"]
    halves = random_halves(names, 5, 0)
    assert len(halves) == 3  # there are no more
    assert halves == random_halves(sorted(names), 5, 0)
    assert all(len(a) == 2 and sorted(a + b) == sorted(names) for a, b in halves)
    assert len(random_halves(["x", "y"], 5, 0)) == 1


def test_guessing_is_computed():
    found = evaluate((TRAIN, HOLDOUT, SYNTHETIC), n_neighbors=4)
    assert found.details["baseline"]["n_success"] == pytest.approx(200 * random_link_rate(200, 4))


def test_more_attacks_and_neighbours_than_rows():
    tables = TRAIN.iloc[:50], HOLDOUT.iloc[:30], SYNTHETIC.iloc[:20]
    found = evaluate(tables, n_attacks=10_000)
    assert found.details["attack"]["n"] == found.details["control"]["n"] == 30.0
    assert evaluate(tables, n_attacks=None).value == found.value
    with warns(DegenerateInputWarning):
        assert np.isnan(evaluate(tables, n_neighbors=50).value)


def test_one_column_is_refused():
    one = [table[["age"]] for table in (TRAIN, HOLDOUT)]
    with raises(MissingInputError):
        LinkabilityRisk().fit(*one)


@pytest.mark.parametrize(
    "aux_cols", [("age", "city"), (["age"],), (["age"], []), [["age"], [3]], "age", (1, 2)]
)
def test_odd_parts_are_refused(aux_cols):
    with raises(InvalidParameterError):
        LinkabilityRisk(aux_cols).fit(TRAIN, HOLDOUT)


def test_unknown_columns_are_refused():
    with raises(InvalidParameterError):
        LinkabilityRisk((["age"], ["wage"])).fit(TRAIN, HOLDOUT)


def test_columns_in_both_parts_are_told():
    metric = LinkabilityRisk((["age", "city"], ["city", "plan"])).fit(TRAIN, HOLDOUT)
    with warns(MetricWarning):
        metric.evaluate(SYNTHETIC)


def test_names_dates_and_missing_values():
    def made(seed):
        table = make_mixed(150, random_state=seed)
        table["joined"] = table["joined"].where(np.arange(150) % 7 > 0)
        return table.set_axis(['a "b"', "c'd", "x + y", "datetime", "class", "é", "  "], axis=1)

    tables = [made(seed) for seed in range(3)]
    assert 0 <= evaluate(tables).value <= 1
    assert 0 <= evaluate(tables, (['a "b"', "datetime"], ["  ", "é"]), n_neighbors=3).value <= 1


@pytest.mark.calibration
@pytest.mark.parametrize("sizes", [(200, 200), (400, 100), (100, 400)])
def test_interval_covers_the_null(sizes):
    """One split: nearly as often as promised. The mean of five is surer than its interval says."""
    n_train, n_holdout = sizes

    def outcome(seed):
        rng = np.random.default_rng(seed)
        real = pd.DataFrame(rng.integers(8, size=(700, 6)).astype(str), columns=list("abcdef"))
        context = Context.of(real.iloc[:n_train], real.iloc[n_train : n_train + n_holdout])
        context = context.with_synthetic(real.iloc[500:])
        halves = random_halves(list(real.columns), 1, seed)
        attack = linkability(context, halves, 1, n_attacks=None, seed=seed)
        return {
            "covered": attack.risk(Measure()).interval[0] == 0.0,
            "alarm": attack.evidence.p_value < 0.05,
        }

    claims = {"covered": Claim(0.95, low=0.93), "alarm": Claim(0.05, high=0.09)}
    found = rates_of(map(outcome, range(200)), claims)
    assert all_hold(found), found
