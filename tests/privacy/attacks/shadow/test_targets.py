"""Rows that are selected, and rows that are made up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.privacy.attacks.shadow.shadow_membership import ShadowMembershipInference
from skeval.privacy.attacks.shadow.targets import (
    METHODS,
    canaries,
    generalized_cosine,
    isolation,
    neighbor_vulnerability,
    rarity,
    stack_tables,
    target_positions,
)
from skeval.utils.parameters import legal_sets
from tests.exposed_rows import exposed_rows
from tests.snapshots import raises

TRAIN, HOLDOUT = make_mixed(150, random_state=0), make_mixed(150, random_state=1)


def planted() -> pd.DataFrame:
    """Rows of two kinds, and one that is neither."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80) + 20.0})
    table["kind"] = np.where(np.arange(80) % 2, "a", "b")
    table.loc[33] = [12.0, 3.0, "c"]
    return table


@pytest.mark.parametrize("method", ["achilles", "gower-knn", "isolation-forest", "rare-value"])
def test_the_row_that_is_neither_comes_first(method):
    selected = exposed_rows(planted(), method, k=3)
    assert selected.index[0] == 33
    assert len(selected) == 3
    assert selected.iloc[0].to_list() == [12.0, 3.0, "c"]


def test_gower_by_hand():
    table = pd.DataFrame({"x": [0.0, 0.0, 1.0, 5.0], "y": [0.0, 1.0, 0.0, 5.0]})
    selected = exposed_rows(table, "gower-knn", k=4, n_neighbors=2)
    assert selected.index[0] == 3
    assert selected.index[3] == 0  # the other two are equally far, in random order


def test_gower_is_the_mean_distance_to_the_nearest():
    table = planted()[["x", "y"]]
    engine = MixedNearestNeighbors().fit(table)
    distances, _ = engine.kneighbors(table, 6)
    order = np.argsort(-distances[:, 1:].mean(axis=1), kind="stable")
    assert exposed_rows(table, "gower-knn", k=5).index.tolist() == order[:5].tolist()


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_rows_does_not_matter(method):
    selected = exposed_rows(TRAIN, method)
    shuffled = exposed_rows(TRAIN.sample(frac=1.0, random_state=1), method)
    assert selected.reset_index(drop=True).equals(shuffled.reset_index(drop=True))


@pytest.mark.parametrize("method", METHODS)
def test_train_alone_is_looked_at(method):
    selected = exposed_rows(Context.of(TRAIN, HOLDOUT), method)
    assert selected.equals(exposed_rows(TRAIN, method))


def test_the_index_is_the_position():
    selected = exposed_rows(TRAIN.set_axis(range(1000, 1150)), "achilles")
    assert selected.equals(TRAIN.iloc[selected.index])
    assert exposed_rows(TRAIN, "canary", k=2).index.tolist() == [150, 151]


def test_rows_are_distinct():
    table = pd.concat([planted()] * 2, ignore_index=True)
    selected = exposed_rows(table, "random", k=200)
    assert len(selected) == len(selected.drop_duplicates()) == 80
    assert len(exposed_rows(table.iloc[:1], "achilles")) == 1


def test_seeds():
    first, again, other = (
        exposed_rows(TRAIN, "random", seed=seed).index.tolist() for seed in (0, 0, 1)
    )
    assert first == again != other


def test_what_cannot_be_asked():
    with raises(InvalidParameterError):
        target_positions(Context.of(TRAIN), "canary", 2)


def test_choices_of_targets():
    choice = legal_sets(ShadowMembershipInference)["targets"]
    positions = [3, 1], (0,), np.array([2]), range(2), pd.Index([4]), pd.Series([5, 1])
    for legal in ("achilles", "canary", *positions, TRAIN.iloc[:2]):
        assert choice.accepts(legal)
    for wrong in ("nothing", [], [-1], [1, 1], [0.5], [True], 3, None, TRAIN.iloc[:0]):
        assert not choice.accepts(wrong)


# ---------------------------------------------------------------------------------- canaries

ODD = pd.DataFrame(
    {
        "whole": pd.Series([1, 5, 3], dtype="Int64"),
        "constant": [2.0, 2.0, 2.0],
        "object": pd.Series([1.5, None, 3.0], dtype=object),
        "label": pd.Categorical(["a", "b", "a"]),
        "code": pd.Categorical([1, 2, 1]),
        "text": ["a", "b", "b"],
        "truth": [True, False, False],
        "day": pd.to_datetime(["2020-01-01", "2020-01-03", None]),
        "zone": pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-02"]).tz_localize("UTC"),
        "empty": [np.nan] * 3,
    }
)
KINDS = {"object": "continuous", "text": "categorical", "code": "categorical"}


def test_canaries_are_new_in_every_column():
    context = Context.of(ODD, schema=KINDS)
    pool = stack_tables([ODD, canaries(context, 2)])
    assert pool["whole"].tolist() == [1, 5, 3, 9, 13]
    assert pool["whole"].dtype == "Int64"
    assert pool["constant"].tolist() == [2.0, 2.0, 2.0, 3.0, 4.0]
    assert pool["object"].tolist()[3:] == [4.5, 6.0]
    assert pool["label"].tolist()[3:] == ["canary-1", "canary-2"]
    assert isinstance(pool["label"].dtype, pd.CategoricalDtype)
    assert pool["code"].tolist()[3:] == [3, 4]
    assert pool["text"].tolist()[3:] == ["canary-1", "canary-2"]
    assert pool["truth"].tolist()[3:] == [True, True]
    assert pool["day"].tolist()[3:] == [pd.Timestamp("2020-01-05"), pd.Timestamp("2020-01-07")]
    assert pool["zone"].iloc[3] == pd.Timestamp("2020-01-05", tz="UTC")
    assert pool["zone"].dtype == ODD["zone"].dtype
    assert pool["empty"].isna().all()


@pytest.mark.parametrize(
    ("values", "made"),
    [
        (np.array([-100, 100], dtype=np.int8), [109, 118, 127]),
        (np.array([0, 249], dtype=np.uint8), [251, 253, 255]),
        (np.array([100, 127], dtype=np.int8), [73, 46, 19]),
        (np.array([-128, 127], dtype=np.int8), [382, 637, 892]),
        (np.array([-(2**62), 2**62]), [2**62 + (i + 1) * ((2**62 - 1) // 3) for i in range(3)]),
        (pd.array([250, None], dtype="UInt8"), [251, 252, 253]),
    ],
)
def test_canaries_of_narrow_types_are_new_too(values, made):
    table = pd.DataFrame({"x": values, "y": 0.5})
    actual = canaries(Context.of(table, schema={"x": "continuous"}), 3)["x"]
    assert actual.tolist() == made
    pool = stack_tables([table[["x"]], actual.to_frame()])["x"]
    assert pool.dropna().tolist()[-3:] == made


def test_canaries_of_nanoseconds_end_with_them():
    days = pd.Series(pd.to_datetime(["1940-01-01", "2020-01-01"])).astype("datetime64[ns]")
    for values in (days, days.dt.tz_localize("UTC")):
        made = canaries(Context.of(pd.DataFrame({"day": values})), 5)["day"]
        assert made.dtype == values.dtype
        assert made.is_monotonic_increasing
        assert made.is_unique
        assert made.iloc[0] > values.max()


def test_canaries_keep_the_order_of_categories():
    sizes = pd.Categorical(["s", "l"], categories=["s", "m", "l"], ordered=True)
    table = pd.DataFrame({"size": sizes, "x": [0.5, 1.5]})
    made = canaries(Context.of(table), 1)
    actual = stack_tables([table, made])["size"]
    assert actual.cat.ordered
    assert actual.cat.categories.tolist() == ["s", "m", "l", "canary-1"]
    assert actual.tolist() == ["s", "l", "canary-1"]


def test_dates_in_strings_stay_strings():
    table = pd.DataFrame({"day": ["2020-01-01", "2020-01-03", "2020-01-02"]})
    context = Context.of(table, schema={"day": "datetime"})
    assert str(canaries(context, 1)["day"].iloc[0]).startswith("2020-01-05")


def test_categories_are_those_of_all_tables():
    frames = [pd.DataFrame({"x": pd.Categorical(list(labels))}) for labels in ("ab", "cb")]
    whole = stack_tables(frames)
    assert whole["x"].cat.categories.tolist() == ["a", "b", "c"]
    assert whole["x"].tolist() == ["a", "b", "c", "b"]


# ------------------------------------------------------------------------------------- formulas

POINTS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [5.0, 5.0]])


def euclidean(points):
    return lambda rows: cdist(points[rows], points)


def test_mean_distance_by_hand():
    actual = neighbor_vulnerability(euclidean(POINTS), 4, 2)
    assert actual == pytest.approx([1.0, 1.2071, 1.2071, 6.4031], abs=5e-5)


def test_a_row_is_no_neighbour_of_itself_and_a_duplicate_is():
    twice = np.repeat(POINTS, 2, axis=0)
    assert neighbor_vulnerability(euclidean(twice), 8, 1).tolist() == [0.0] * 8
    assert (neighbor_vulnerability(euclidean(POINTS), 4, 1) > 0).all()


def test_there_may_be_fewer_neighbours():
    every = cdist(POINTS, POINTS).sum(axis=1) / 3
    assert neighbor_vulnerability(euclidean(POINTS), 4, 9) == pytest.approx(every)
    assert neighbor_vulnerability(euclidean(POINTS[:1]), 1, 5).tolist() == [0.0]


def test_blocks_do_not_matter():
    points = np.random.default_rng(0).normal(size=(700, 3))  # the distances take two blocks
    nearest = np.sort(cdist(points, points), axis=1)[:, 1:6].mean(axis=1)
    assert neighbor_vulnerability(euclidean(points), 700) == pytest.approx(nearest, abs=1e-9)


@pytest.mark.parametrize(("n_numbers", "n_codes"), [(3, 2), (0, 2), (3, 0)])
def test_generalized_cosine_is_that_of_one_hot_rows(n_numbers, n_codes):
    rng = np.random.default_rng(0)
    numbers, codes = rng.random((12, n_numbers)), rng.integers(3, size=(12, n_codes))
    one_hot = (codes[:, :, None] == np.arange(3)).reshape(12, -1).astype(float)
    expected = np.zeros((12, 12))
    for part, n in ((numbers, n_numbers), (one_hot, n_codes)):
        if n:
            expected += n / (n_numbers + n_codes) * cdist(part, part, "cosine")
    actual = generalized_cosine(numbers, codes)(slice(0, 12))
    assert actual == pytest.approx(expected, abs=1e-12)


def test_a_vector_of_zeros_is_at_right_angles():
    numbers = np.array([[0.0, 0.0], [1.0, 0.0]])
    actual = generalized_cosine(numbers, np.empty((2, 0)))(slice(0, 2))
    assert actual.tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_rarity_is_a_product_of_shares():
    cells = np.array([[0, 0], [0, 1], [0, 1], [1, 1]])
    shares = np.array([0.75 * 0.25, 0.75 * 0.75, 0.75 * 0.75, 0.25 * 0.75])
    assert np.exp(-rarity(cells)) == pytest.approx(shares)


@pytest.mark.slow
def test_isolation_finds_what_is_apart():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    rows[7] = 9.0
    assert isolation(rows).argmax() == 7
    assert np.array_equal(isolation(rows, 1), isolation(rows, 1))
