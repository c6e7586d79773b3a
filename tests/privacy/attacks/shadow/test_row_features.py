"""Tables as vectors, against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.privacy.attacks.shadow.row_features import (
    Domain,
    Queries,
    Reader,
    agreement_scores,
    closest_features,
    corr_features,
    hist_features,
    naive_features,
    row_distances,
)
from skeval.tables.frames import canonical
from skeval.tables.preprocessing import category_codes, numbers

NOMINAL = [False, True, False]
RNG = np.random.default_rng(0)
POOL = np.column_stack([RNG.normal(size=60), RNG.integers(3, size=60), RNG.normal(size=60)])
POOL[::7, 0] = np.nan
POOL[::9, 1] = np.nan
DOMAIN = Domain.from_rows(POOL, NOMINAL)
ROWS = POOL[np.r_[5:40, 5]] + np.array([0.01, 0.0, 0.0])


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table,
        lambda table: table.convert_dtypes(),
        lambda table: table.astype(str),
        lambda table: table.astype({"city": object, "age": "float32", "joined": "datetime64[us]"}),
        lambda table: table.assign(city=["Ulm", None] * 50, income=[1e308, -np.inf] * 50),
        lambda table: table.assign(plan=table["plan"].astype(str), member=table["member"] * 1),
    ],
)
def test_what_is_read_at_once_is_what_a_canonical_table_holds(change):
    context = Context.of(make_mixed(200, random_state=0))
    table, reader = change(make_mixed(100, random_state=1)), Reader.from_context(context)
    frame = canonical(table, context.schema, "synthetic", context.levels)
    for name, column in zip(reader.names, reader.rows(table).T, strict=True):
        if name in context.levels:
            wanted = np.minimum(category_codes(frame[[name]]), len(context.levels[name]))[:, 0]
        else:
            wanted = numbers(frame[[name]])[:, 0]
        np.testing.assert_array_equal(column, wanted)


def test_the_domain_is_that_of_the_pool():
    assert DOMAIN.low[0] == np.nanmin(POOL[:, 0])
    assert DOMAIN.span[2] == np.ptp(POOL[:, 2])
    assert DOMAIN.levels[1].tolist() == [0, 1, 2]


def test_rare_levels_share_an_indicator():
    codes = np.r_[np.zeros(12), np.ones(3), 2.0, np.nan][:, None]
    domain = Domain.from_rows(codes, [True])
    assert domain.levels[0].tolist() == [0]
    assert naive_features(codes, domain).tolist() == [12 / 17, 4 / 17, 1 / 17]
    assert domain.indicators(np.array([[9.0]])).tolist() == [[1]]
    assert hist_features(codes, domain).tolist() == naive_features(codes, domain).tolist()
    assert corr_features(codes, domain).shape == (3,)


def test_moments():
    features = naive_features(ROWS, DOMAIN)
    first = (ROWS[:, 0] - DOMAIN.low[0]) / DOMAIN.span[0]
    present = first[~np.isnan(first)]
    missing = np.isnan(first).mean()
    assert features[:4] == pytest.approx(
        [present.mean(), np.median(present), present.var(), missing]
    )
    shares = [(ROWS[:, 1] == level).mean() for level in range(3)]
    assert features[4:9] == pytest.approx([*shares, 0.0, np.isnan(ROWS[:, 1]).mean()])


def test_bins_are_in_order_and_complete():
    features = hist_features(ROWS, DOMAIN)
    assert [part.sum() for part in np.split(features, [13, 18])] == pytest.approx([1.0, 1.0, 1.0])
    edges = DOMAIN.low[2] + DOMAIN.span[2] * np.arange(11) / 10
    expected = np.histogram(ROWS[:, 2], edges)[0] / len(ROWS)
    assert features[19:29] == pytest.approx(expected)
    far = np.array([[1e9, np.nan, -1e9]])
    assert hist_features(far, DOMAIN)[[11, 17, 18]].tolist() == [1.0, 1.0, 1.0]


def test_correlations_are_pearsons():
    features = corr_features(ROWS, DOMAIN)
    frame = pd.DataFrame({"a": ROWS[:, 0], "c": ROWS[:, 2]})
    frame["a"] = frame["a"].fillna(frame["a"].mean())
    levels = pd.DataFrame({f"b{k}": ROWS[:, 1] == k for k in range(3)}).astype(float)
    design = pd.concat(
        [frame[["a"]], levels, pd.Series(0.0, ROWS[:, 1] * 0).reset_index(drop=True)], axis=1
    )
    design["missing"] = np.isnan(ROWS[:, 1])
    design = pd.concat([design, frame[["c"]]], axis=1).to_numpy(dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.nan_to_num(np.corrcoef(design.T))[np.triu_indices(7, k=1)]
    assert features == pytest.approx(expected, abs=1e-9)


def test_distances_are_those_of_the_engine():
    engine = MixedNearestNeighbors(ranges=DOMAIN.span, categorical=[1]).fit(
        np.column_stack([POOL[:, 0], POOL[:, 1], POOL[:, 2]])
    )
    for row in POOL[:15]:
        distances, _ = engine.kneighbors(row[None], 60)
        assert np.sort(row_distances(POOL, row[None], DOMAIN)[0]).tolist() == distances[0].tolist()


def test_infinite_numbers_are_far():
    rows = np.array([[np.inf, 0.0, 0.0], [-np.inf, np.nan, 0.0]])
    for make in (naive_features, hist_features, corr_features):
        assert np.isfinite(make(rows, DOMAIN)).all()
    target = np.array([0.0, 0.0, 0.0])
    assert row_distances(rows, target[None], DOMAIN)[0] == pytest.approx([1 / 3, 2 / 3])
    assert np.isfinite(Queries.draw(NOMINAL, 50, 0).features(rows, target[None], DOMAIN)).all()
    assert np.isfinite(agreement_scores(POOL, rows, DOMAIN)).all()


def test_columns_without_a_value():
    rows = np.full((3, 1), np.nan)
    domain = Domain.from_rows(rows, [False])
    assert naive_features(rows, domain).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert hist_features(rows, domain)[-1] == 1.0
    assert row_distances(rows, rows[:1], domain).tolist() == [[0.0] * 3]


def test_the_nearest_and_those_within_reach():
    distances = np.sort(row_distances(ROWS[:3], POOL[50:51], DOMAIN)[0])
    features = closest_features(distances, [0.0, 1.0])
    assert features[:5].tolist() == [*distances, distances[2], distances[2]]
    assert features[5:] == pytest.approx(np.log1p([0, 3]))


def conditions(rows, target):
    """Near or equal, at most, at least, of each column, written out."""
    met = {}
    for j, nominal in enumerate(NOMINAL):
        x, t = rows[:, j], target[j]
        equal = np.isnan(x) if np.isnan(t) else x == t
        near = equal if nominal else equal | (np.abs(x - t) <= 0.05 * DOMAIN.span[j])
        met[j, 1] = near
        met[j, 2] = equal if np.isnan(t) else x <= t
        met[j, 3] = equal if np.isnan(t) else x >= t
    return met


@pytest.mark.parametrize("target", [POOL[0], POOL[1], POOL[9]])
def test_all_questions_are_asked_and_answered(target):
    queries = Queries.draw(NOMINAL, 100, seed=0)
    met, counts = conditions(ROWS, target), []
    for ways in itertools.product(range(4), range(2), range(4)):
        if any(ways):
            hits = [met[j, way] for j, way in enumerate(ways) if way]
            counts.append(np.logical_and.reduce(hits).sum())
    actual = np.expm1(queries.features(ROWS, target[None], DOMAIN)[0])
    assert sorted(actual.round().tolist()) == sorted(counts)
    assert actual[0] == pytest.approx(np.logical_and.reduce([met[j, 1] for j in range(3)]).sum())


def test_targets_that_are_alike_in_some_columns_are_asked_about_together():
    queries, rows = Queries.draw(NOMINAL, 20, seed=0), np.vstack([ROWS, POOL[:2], POOL[:1]])
    targets = np.vstack([POOL[:2], POOL[0], POOL[0]])
    targets[2:, 1] = [0.0, np.nan]
    for alike in (targets, targets[[0, 2, 3]], targets[:1]):
        alone = [queries.features(rows, target[None], DOMAIN)[0] for target in alike]
        assert queries.features(rows, alike, DOMAIN).tolist() == np.stack(alone).tolist()
        apart = [row_distances(rows, target[None], DOMAIN)[0] for target in alike]
        assert row_distances(rows, alike, DOMAIN).tolist() == np.stack(apart).tolist()


def test_questions_are_drawn_where_there_are_too_many():
    queries = Queries.draw([False] * 12, 200, seed=0)
    assert queries.asked.shape == (36, 200)
    assert len(np.unique(queries.asked, axis=1).T) == 200
    assert queries.asked[:12, 0].all()
    each = queries.asked.reshape(3, 12, 200).sum(axis=0)
    assert each.max() == 1
    assert (each.sum(axis=0) > 0).all()
    again = Queries.draw([False] * 12, 200, seed=0)
    assert np.array_equal(queries.asked, again.asked)


@pytest.mark.parametrize("n_columns", [3, 12])
def test_a_column_that_all_questions_are_about(n_columns):
    queries = Queries.draw([False] * n_columns, 60, seed=0, always=1)
    assert queries.asked[1].all()
    assert not queries.asked[[n_columns + 1, 2 * n_columns + 1]].any()


def test_agreement_sums_over_all_subsets():
    actual = agreement_scores(POOL[:9], ROWS, DOMAIN)
    for value, point in zip(actual, POOL[:9], strict=True):
        met = conditions(ROWS, point)
        total = 0
        for size in range(4):
            for columns in itertools.combinations(range(3), size):
                hits = np.ones(len(ROWS), dtype=bool)
                for j in columns:
                    hits &= met[j, 1]
                total += hits.sum()
        assert np.exp(value) == pytest.approx(total / len(ROWS), rel=1e-6)
