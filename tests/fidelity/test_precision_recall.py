from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.preprocessing import FunctionTransformer

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity.alpha_precision import AlphaPrecisionBetaRecall
from skeval.fidelity.precision_recall import (
    ClippedDensityCoverage,
    DensityCoverage,
    ImprovedPrecisionRecall,
    ProbabilisticPrecisionRecall,
)
from tests.snapshots import warns

RAW = FunctionTransformer()
FAMILY = [
    ImprovedPrecisionRecall(),
    DensityCoverage(),
    ClippedDensityCoverage(),
    ProbabilisticPrecisionRecall(),
    AlphaPrecisionBetaRecall(),
]
PARTS = {  # the names of the two numbers
    ImprovedPrecisionRecall: ("precision", "recall"),
    DensityCoverage: ("density", "coverage"),
    ClippedDensityCoverage: ("density", "coverage"),
    ProbabilisticPrecisionRecall: ("precision", "recall"),
    AlphaPrecisionBetaRecall: ("alpha_precision", "beta_recall"),
}
TRAIN, HOLDOUT, FRESH = (make_mixed(150, random_state=seed) for seed in range(3))
by_name = pytest.mark.parametrize("metric", FAMILY, ids=lambda metric: type(metric).__name__)


def frame(rows):
    return pd.DataFrame(np.asarray(rows, dtype=float)).add_prefix("x")


def normal():
    rng = np.random.default_rng(0)
    return frame(rng.normal(size=(200, 3))), frame(rng.normal(0.5, 1, size=(200, 3)))


def line():
    return frame([[0], [1], [2], [3]]), frame([[0.1], [0.2], [2.9], [10]])


def flowers():
    rows = frame(load_iris().data)
    return rows[:100], rows[50:]


def both(metric, tables):
    """Return the two published numbers."""
    details = clone(metric).set_params(space=RAW).fit(tables[0]).evaluate(tables[1]).details
    return [details[side] for side in PARTS[type(metric)]]


@pytest.mark.parametrize(
    ("metric", "tables", "expected"),
    [
        (ImprovedPrecisionRecall(1), line, (0.75, 1.0)),
        (ImprovedPrecisionRecall(2), line, (0.75, 1.0)),
        (ImprovedPrecisionRecall(1, strict=True), line, (0.75, 0.75)),
        (ImprovedPrecisionRecall(5), normal, (0.95, 0.955)),
        (ImprovedPrecisionRecall(), normal, (0.915, 0.915)),
        (ImprovedPrecisionRecall(5), flowers, (0.67, 0.5)),
        (DensityCoverage(1), line, (1.5, 1.0)),
        (DensityCoverage(2), line, (0.75, 1.0)),
        (DensityCoverage(), normal, (0.935, 0.915)),
        (DensityCoverage(), flowers, (0.684, 0.5)),
        (DensityCoverage(strict=True), flowers, (0.542, 0.5)),
        (ClippedDensityCoverage(), normal, (0.933962, 0.736318)),
        (ProbabilisticPrecisionRecall(), normal, (0.732405, 0.685314)),
        (ProbabilisticPrecisionRecall(), flowers, (0.524355, 0.5)),
        (AlphaPrecisionBetaRecall(), line, (0.539444, 0.625)),
        (AlphaPrecisionBetaRecall(), normal, (0.913889, 0.53065)),
    ],
    ids=lambda part: getattr(part, "__name__", str(part)),
)
def test_known_values(metric, tables, expected):
    assert both(metric, tables()) == pytest.approx(expected, abs=1e-6)


def test_raw_clipped_coverage():
    details = ClippedDensityCoverage(space=RAW).fit(normal()[0]).evaluate(normal()[1]).details
    assert details["raw_coverage"] == pytest.approx(0.634)


@by_name
def test_the_value_is_the_harmonic_mean_of_both(metric):
    result = metric.fit(TRAIN, HOLDOUT).evaluate(FRESH)
    first, second = (min(1.0, result.details[side]) for side in PARTS[type(metric)])
    assert result.value == pytest.approx(2 / (1 / first + 1 / second))
    first, second = (min(1.0, result.details["holdout"][side]) for side in PARTS[type(metric)])
    assert result.baseline == pytest.approx(2 / (1 / first + 1 / second))
    assert result.details["n_rows"] == {"train": 150, "synthetic": 150}


@by_name
def test_order_of_rows_and_columns_changes_nothing(metric):
    metric = clone(metric).set_params(space=RAW)
    train, synthetic = normal()
    value = metric.fit(train).score(synthetic)
    mixed = [table.sample(frac=1, random_state=i) for i, table in enumerate((train, synthetic))]
    assert metric.fit(mixed[0]).score(mixed[1]) == pytest.approx(value, abs=1e-12)
    turned = [table[table.columns[::-1]] for table in mixed]
    assert metric.fit(turned[0]).score(turned[1]) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@by_name
def test_more_noise_scores_less(metric, space):
    metric = clone(metric).set_params(space=space).fit(TRAIN)
    far = FRESH.assign(**{name: FRESH[name] + 1e6 for name in ("age", "income", "visits")})
    values = [
        metric.score(pd.concat([FRESH[int(150 * share) :], far[: int(150 * share)]]))
        for share in (0.0, 0.25, 0.5, 1.0)
    ]
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.2


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("metric", FAMILY[:4], ids=lambda metric: type(metric).__name__)
def test_copies_score_one(metric, space):
    metric = clone(metric).set_params(space=space)
    assert metric.fit(TRAIN).score(TRAIN) == pytest.approx(1.0, abs=1e-12)
    doubled = pd.DataFrame({"x": ["a", "b"] * 20})
    assert metric.fit(doubled).score(doubled) == 1.0


def test_copies_by_nested_supports():
    rows = normal()[0]
    assert both(AlphaPrecisionBetaRecall(), (rows, rows)) == pytest.approx(
        [0.9967, 0.8732], abs=5e-5
    )


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("metric", FAMILY[:3], ids=lambda metric: type(metric).__name__)
def test_strict_balls_of_duplicates_hold_nothing(metric, space):
    doubled = pd.DataFrame({"x": ["a", "b"] * 20})
    metric = clone(metric).set_params(space=space, strict=True)
    assert metric.fit(doubled).score(doubled) == 0.0


@pytest.mark.parametrize("strict", [False, True])
def test_gower_as_all_pairs_are(strict):
    """Tables of small whole numbers are full of ties."""
    rng = np.random.default_rng(0)
    train, synthetic = (rng.integers(5, size=(60, 3)).astype(float) for _ in range(2))
    spread = np.ptp(train, axis=0)
    gaps = [
        np.round(cdist(a / spread, b / spread, "cityblock"), 9)
        for a, b in ((train, train), (train, synthetic), (synthetic, synthetic))
    ]
    near = np.less if strict else np.less_equal
    radii = {k: [np.sort(gaps[i], axis=1)[:, k, None] for i in (0, 2)] for k in (3, 5)}
    held = near(gaps[1], radii[5][0])
    expected = {
        ImprovedPrecisionRecall: (
            near(gaps[1], radii[3][0]).any(axis=0).mean(),
            near(gaps[1].T, radii[3][1]).any(axis=0).mean(),
        ),
        DensityCoverage: (held.sum() / 300, held.any(axis=1).mean()),
    }
    for kind, values in expected.items():
        details = kind(strict=strict).fit(frame(train)).evaluate(frame(synthetic)).details
        assert [details[side] for side in PARTS[kind]] == pytest.approx(values)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("k", [1, 9])
def test_beta_recall_looks_at_all_rows_in_a_ball(space, k, monkeypatch):
    rng = np.random.default_rng(1)
    train = pd.DataFrame({"a": rng.integers(4, size=80), "b": rng.choice(list("xyz"), 80)})
    synthetic = pd.DataFrame({"a": rng.integers(4, size=90), "b": rng.choice(list("xyz"), 90)})
    metric = AlphaPrecisionBetaRecall(k, space=space).fit(train)
    listed = metric.score(synthetic)
    module = "skeval.fidelity.alpha_precision."
    for first, second in ((1, 1), (2, 7), (90, 90)):
        monkeypatch.setattr(module + "LISTED", first)
        monkeypatch.setattr(module + "MAX_LENGTH", second)
        assert metric.score(synthetic) == listed


def modes(*centres, seed):
    rng = np.random.default_rng(seed)
    return frame(rng.normal(size=(240, 2)) + 9.0 * np.resize(centres, 240)[:, None])


@by_name
def test_lost_and_invented_modes(metric):
    belongs, found = PARTS[type(metric)]
    train = metric.fit(modes(0, 1, seed=0))
    fresh, lost, invented = (
        train.evaluate(modes(*centres, seed=seed)).details
        for seed, centres in enumerate([(0, 1), (0,), (0, 1, 3)], 1)
    )
    # beta-recall is half of what it could be for fresh rows already
    share = 0.95 if isinstance(metric, AlphaPrecisionBetaRecall) else 0.75
    assert lost[found] < share * fresh[found]
    assert lost[belongs] > 0.85 * fresh[belongs]
    assert invented[belongs] < 0.75 * fresh[belongs]
    if not isinstance(metric, ClippedDensityCoverage):  # relative to the number of rows
        assert invented[found] > 0.85 * fresh[found]


@pytest.mark.slow
def test_expectations_stand_in_the_details():
    details = DensityCoverage().fit(*normal()).evaluate(normal()[0]).details
    assert details["expected_coverage"] == pytest.approx(0.96992, abs=1e-5)
    rng = np.random.default_rng(3)
    found = [
        DensityCoverage(space="euclidean")
        .fit(frame(rng.normal(size=(200, 3))))
        .evaluate(frame(rng.normal(size=(200, 3))))
        .details
        for _ in range(12)
    ]
    assert np.mean([one["coverage"] for one in found]) == pytest.approx(0.96992, abs=0.015)
    assert np.mean([one["density"] for one in found]) == pytest.approx(1.0, abs=0.06)


@by_name
def test_too_few_rows_for_k(metric):
    metric = clone(metric).set_params(k=5, space="euclidean")
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit(TRAIN[:5]).score(FRESH))
    one = metric.fit(TRAIN)
    if isinstance(metric, ImprovedPrecisionRecall | ProbabilisticPrecisionRecall):
        with warns(DegenerateInputWarning):
            assert np.isnan(one.score(FRESH[:1]))
    else:
        assert 0.0 <= one.score(FRESH[:1]) <= 1.0


@pytest.mark.parametrize("kind", [ImprovedPrecisionRecall, ProbabilisticPrecisionRecall])
def test_a_small_holdout_has_no_baseline(kind):
    metric = kind(k=30).fit(TRAIN, HOLDOUT[:20])
    with warns(DegenerateInputWarning):
        result = metric.evaluate(FRESH)
    assert result.baseline is None
    assert "holdout" not in result.details


@by_name
def test_a_sample_of_the_rows(metric):
    metric = clone(metric).set_params(max_rows=60)
    result = metric.fit(TRAIN, HOLDOUT).evaluate(FRESH)
    assert result.details["n_rows"] == {"train": 60, "synthetic": 60}
    assert 0.3 < result.value <= 1.0
    assert metric.score(FRESH) == result.value
    assert metric.set_params(random_state=1).fit(TRAIN).score(FRESH) != result.value
    whole = clone(metric).set_params(max_rows=150, random_state=7).fit(TRAIN).score(FRESH)
    assert whole == clone(metric).set_params(max_rows=None).fit(TRAIN).score(FRESH)


@by_name
def test_columns_of_their_own(metric):
    chosen = clone(metric).set_params(columns=["age", "visits"]).fit(TRAIN).score(FRESH)
    assert chosen == metric.fit(TRAIN[["age", "visits"]]).score(FRESH[["age", "visits"]])


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(
    "change",
    [{"age": np.inf}, {"age": np.nan}, {"age": 1e300}, {"city": "elsewhere"}, {"city": None}],
    ids=str,
)
@by_name
def test_odd_tables(metric, change):
    value = metric.fit(TRAIN.assign(constant=1.0)).score(FRESH.assign(**change, constant=1.0))
    assert 0.0 <= value <= 1.0


@pytest.mark.parametrize("center", ["mean", "median"])
def test_centres(center):
    train, synthetic = normal()
    train.iloc[0] = 1e9  # moves the mean, and hardly the median
    found = AlphaPrecisionBetaRecall(center=center, space=RAW).fit(train).evaluate(synthetic)
    low, high = {"mean": (0.4, 0.7), "median": (0.89, 0.93)}[center]
    assert low < found.details["alpha_precision"] < high
