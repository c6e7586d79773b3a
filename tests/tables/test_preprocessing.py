from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline

from skeval import TablePreprocessor
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.tables import Discretizer
from skeval.tables.preprocessing import inner_edges

TABLE = pd.DataFrame(
    {
        "x": [0.0, 10.0, np.nan, 5.0],
        "when": pd.to_datetime(["1970-01-01", "1970-01-02", None, "1970-01-03"]),
        "c": ["a", "b", None, "a"],
        "name": ["some words that make a long text here"] * 3
        + ["and quite another text on this row"],
    }
)
KINDS = {"name": "text"}


def test_is_a_column_transformer():
    preprocessor = TablePreprocessor()
    assert isinstance(preprocessor, ColumnTransformer)
    assert clone(TablePreprocessor(space="gower")).get_params() == {
        "schema": None, "space": "gower", "n_jobs": None, "embedder": None,
    }  # fmt: skip


def test_gower_matrix():
    matrix = TablePreprocessor(KINDS, space="gower").fit_transform(TABLE)
    expected = [[0, 0, 0], [10, 86400, 1], [np.nan] * 3, [5, 172800, 0]]
    np.testing.assert_array_equal(matrix, expected)


def test_gower_unseen_levels_stay_apart_from_each_other():
    preprocessor = TablePreprocessor(KINDS, space="gower").fit(TABLE)
    rows = TABLE.assign(c=["z", "y", "z", "b"])
    np.testing.assert_array_equal(preprocessor.transform(rows)[:, 2], [3, 2, 3, 1])


def test_euclidean_mismatch_of_a_category_has_distance_one():
    preprocessor = TablePreprocessor().fit(TABLE[["c"]])
    matrix = preprocessor.transform(pd.DataFrame({"c": ["a", "b", None, "new", "newer"]}))
    distances = pairwise_distances(matrix)
    np.testing.assert_allclose(distances[0, 1:], 1.0)
    np.testing.assert_allclose(distances[2, 3:], 1.0)
    assert distances[3, 4] == 0.0  # one column for all unseen levels


def test_euclidean_numbers_are_standardised_and_missing_is_told():
    matrix = TablePreprocessor().fit_transform(TABLE[["x"]])
    present = np.array([0.0, 10.0, 5.0])
    expected = np.insert((present - 5) / present.std(), 2, 0.0)
    np.testing.assert_allclose(matrix[:, 0], expected)
    np.testing.assert_array_equal(matrix[:, 1], [0, 0, 1, 0])
    assert np.isfinite(
        TablePreprocessor().fit(TABLE[["x"]]).transform(pd.DataFrame({"x": [np.inf]}))
    ).all()


def test_goes_into_a_pipeline():
    table = make_mixed()
    model = make_pipeline(TablePreprocessor(), LogisticRegression(max_iter=1000))
    assert (
        model.fit(table.drop(columns="member"), table["member"]).score(
            table.drop(columns="member"), table["member"]
        )
        > 0.5
    )


def test_columns_may_come_in_any_order_and_must_be_there():
    table = make_mixed()
    preprocessor = TablePreprocessor().fit(table)
    np.testing.assert_array_equal(
        preprocessor.transform(table[table.columns[::-1]]), preprocessor.transform(table)
    )
    with pytest.raises(SchemaMismatchError, match="misses age"):
        preprocessor.transform(table.drop(columns="age"))


def test_unknown_space():
    with pytest.raises(InvalidParameterError, match="space must be 'gower' or 'euclidean'"):
        TablePreprocessor(space="cosine").fit(TABLE)


@pytest.mark.parametrize("space", ["euclidean", "gower"])
def test_one_kind_of_column_only(space):
    for columns in (["x"], ["c"]):
        assert TablePreprocessor(space=space).fit_transform(TABLE[columns]).shape[0] == 4


def codes(train, rows, **params):
    return (
        Discretizer(**params)
        .fit(pd.DataFrame({"x": train}))
        .transform(pd.DataFrame({"x": rows}))
        .ravel()
        .tolist()
    )


def test_uniform_bins_are_closed_on_the_left_and_open_ended():
    assert codes(np.arange(11.0), [-99, 0, 0.99, 1, 9.5, 10, 99, np.inf], n_bins=10) == [
        0,
        0,
        0,
        1,
        9,
        9,
        9,
        9,
    ]


def test_quantile_bins_hold_equal_shares():
    values = np.random.default_rng(0).exponential(size=1000)
    counts = np.bincount(codes(values, values, n_bins=4, strategy="quantile"))
    np.testing.assert_array_equal(counts, [250] * 4)


def test_few_values_have_a_bin_each():
    assert codes([0.0, 1.0, 5.0], [0.4, 0.5, 2.9, 3.0], n_bins=10) == [0, 1, 1, 2]


def test_a_constant_column_tells_below_at_and_above():
    assert codes([3.0, 3.0], [2.9, 3.0, 3.1]) == [0, 1, 2]


def test_missing_and_unseen_have_cells_of_their_own():
    cutter = Discretizer().fit(pd.DataFrame({"x": ["a", "a", "b"]}))
    assert cutter.n_cells_.tolist() == [5]
    rows = pd.DataFrame({"x": ["a", "b", None, "z"]})
    assert cutter.transform(rows).ravel().tolist() == [0, 1, 3, 4]
    dropped = Discretizer(nan="drop").fit(pd.DataFrame({"x": ["a", "a", "b"]}))
    assert dropped.transform(rows).ravel().tolist() == [0, 1, -1, 4]


def test_rare_categories_are_pooled_but_unseen_ones_are_not():
    train = ["a"] * 3 + ["b"] * 2 + ["c", "d"]
    assert codes(train, ["a", "b", "c", "d", "e"], max_categories=2) == [0, 1, 2, 2, 4]


def test_no_value_in_train():
    assert codes([np.nan, np.nan], [1.0, np.nan]) == [2, 1]


ZEROS = np.array([0.0] * 90 + list(range(1, 21)))


def test_edges_of_ties():
    assert inner_edges(ZEROS, 4, "quantile-plain").tolist() == [0.0]
    above = [np.nextafter(x, np.inf) for x in (0.0, 5.75, 10.5, 15.25)]
    assert inner_edges(ZEROS, 4, "quantile").tolist() == [0.0, *above]


def test_a_frequent_value_is_a_cell():
    assert inner_edges(ZEROS, 4, "uniform-plain").tolist() == [5.0, 10.0, 15.0]
    zero = [0.0, np.nextafter(0.0, np.inf)]
    assert inner_edges(ZEROS, 4, "uniform").tolist() == [*zero, 5.75, 10.5, 15.25]
    rows = [-1.0, -1e-300, -0.0, 0.0, 1e-300, 5.0, 5.75, 99.0]
    assert codes(ZEROS, rows, n_bins=4) == [0, 0, 1, 1, 2, 2, 3, 5]


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_how_frequent_a_value_must_be(strategy):
    others = np.linspace(1.0, 2.0, 80)

    def has_a_cell(count):
        values = np.append(others, np.zeros(count))
        return 0.0 in inner_edges(values, 5, strategy)

    assert (has_a_cell(19), has_a_cell(20)) == (False, True)
    # of few rows, a value must come twice
    assert inner_edges(np.array([1.0, 2.0, 4.0]), 5, strategy)[0] >= 1.5
    assert inner_edges(np.array([1.0, 1.0, 2.0, 4.0]), 5, strategy)[0] == 1.0


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_may_lie_on_both_sides_of_a_frequent_value(strategy):
    values = np.array([-10.0] * 5 + [0.0] * 20 + [10.0] * 5 + list(range(11, 17)))
    fitted = codes(values, [-10, -0.1, 0, 0.1, 10], n_bins=3, strategy=strategy)
    assert fitted[1] < fitted[2] < fitted[3]
    assert fitted == sorted(fitted)


def test_all_values_frequent():
    assert codes(np.repeat([1.0, 2.0], 5), [0, 1, 1.5, 2, 3]) == [0, 1, 2, 3, 4]


def test_quantile_bins_are_closed_on_the_right():
    values = np.arange(11.0)
    rows = [0, 2.5, 2.6, 5, 7.5, 99]
    assert codes(values, rows, n_bins=4, strategy="quantile") == [0, 0, 1, 1, 2, 3]
    assert codes(values, rows, n_bins=4, strategy="quantile-plain") == [0, 1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    "params", [{"n_bins": 1}, {"strategy": "kmeans"}, {"max_categories": 0}, {"nan": "keep"}]
)
def test_discretizer_parameters(params):
    with pytest.raises(InvalidParameterError, match=next(iter(params))):
        Discretizer(**params).fit(TABLE)
