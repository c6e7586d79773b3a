"""Categories with a level a row in spaces of vectors: few features, said in the result."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import OneHotEncoder

from skeval import Context
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import AlphaPrecisionBetaRecall, PRDCurve
from skeval.steps.encoded_rows import as_matrix, encoded_matrix
from skeval.steps.vectors import vectors
from skeval.tables.spaces import TablePreprocessor


def films(n_rows, n_titles, seed):
    rng = np.random.default_rng(seed)
    titles = [f"film {i}" for i in rng.permutation(n_titles)[:n_rows]]
    return pd.DataFrame({"title": titles, "length": rng.normal(90.0, 20.0, len(titles))})


KINDS = {"title": "categorical", "length": "continuous"}


def test_a_level_a_row_does_not_make_a_feature_a_row():
    from skeval.tables.spaces import MAX_LEVELS

    train, fresh = films(3_000, 9_000, 0), films(3_000, 9_000, 1)
    context = Context.of(train, fresh, schema=KINDS).with_synthetic(train)
    for role in ("train", "holdout", "synthetic"):
        assert encoded_matrix(context, role, "euclidean").shape[1] <= MAX_LEVELS + 4
        assert vectors(context, role, "euclidean", ("title",)).shape[1] == MAX_LEVELS + 2


def test_train_has_no_more_features_of_its_own_than_the_holdout():
    from skeval.tables.spaces import MAX_LEVELS

    train, fresh = films(3_000, 9_000, 0), films(3_000, 9_000, 1)
    context = Context.of(train, fresh, schema=KINDS).with_synthetic(train)
    own = [
        encoded_matrix(context, role, "euclidean")[:, 2 : 2 + MAX_LEVELS * 3 // 4].any(axis=1).sum()
        for role in ("train", "holdout")
    ]
    assert min(own) > 0.6 * max(own)


def test_frequent_levels_keep_their_distance_and_most_rare_ones_too():
    from skeval.tables.spaces import MAX_LEVELS

    frequent = ["drama"] * 5 + ["comedy"] * 5
    rows = pd.DataFrame({"title": [*frequent, *(f"film {i}" for i in range(1_000))]})
    space = TablePreprocessor({"title": "categorical"})
    matrix = space.fit_transform(rows)
    assert np.linalg.norm(matrix[0] - matrix[5]) == pytest.approx(1.0)
    assert space.n_cells_ == {"title": MAX_LEVELS + 2}
    rare = np.linalg.norm(matrix[10:509] - matrix[510:1009], axis=1)
    assert 0.95 < (rare > 0.5).mean() < 1.0
    assert (np.linalg.norm(matrix[:10, None] - matrix[None, 10:], axis=2) > 0.99).all()


def test_features_do_not_depend_on_the_order_of_rows():
    rows = films(2_000, 2_000, 0)
    first, second = (
        TablePreprocessor(KINDS).fit(table).transform(rows.head(50))
        for table in (rows, rows.iloc[::-1])
    )
    np.testing.assert_allclose(first, second)


def test_as_many_levels_as_there_are_features_are_as_they_were():
    from skeval.tables.spaces import MAX_LEVELS, level_cells

    labels = [f"{i:03}" for i in range(MAX_LEVELS)]
    frame = pd.DataFrame({"title": pd.Categorical(labels, labels)})
    np.testing.assert_array_equal(
        level_cells(frame, {"title": labels})["title"], np.arange(MAX_LEVELS)
    )


def test_all_categories_together_have_few_features():
    from skeval.tables.spaces import MAX_FEATURES, level_cells

    labels = [f"{i:03}" for i in range(200)]
    frame = pd.DataFrame({f"c{j}": pd.Categorical(labels, labels) for j in range(100)})
    cells = level_cells(frame, dict.fromkeys(frame, labels))
    assert sum(of_levels.max() + 1 for of_levels in cells.values()) <= MAX_FEATURES


def test_missing_and_unseen_levels_have_features_of_their_own():
    from skeval.tables.spaces import MAX_LEVELS

    rows = films(1_000, 1_000, 0)
    space = TablePreprocessor(KINDS).fit(rows)
    odd = pd.DataFrame({"title": [None, "never seen", "film 1"], "length": [90.0] * 3})
    titles = space.transform(odd)[:, -(MAX_LEVELS + 2) :]
    assert (titles[0].argmax(), titles[1].argmax()) == (MAX_LEVELS, MAX_LEVELS + 1)
    assert titles[2].argmax() < MAX_LEVELS


@pytest.mark.parametrize("metric", [PRDCurve(n_runs=1), AlphaPrecisionBetaRecall()])
def test_the_result_names_the_column(metric):
    from skeval.exceptions import PooledLevelsWarning

    train, fresh = films(400, 400, 0), films(400, 900, 1)
    with pytest.warns(PooledLevelsWarning, match=r"title \(400 levels, 256 features\)"):
        result = metric.fit(train, schema=KINDS).evaluate(fresh)
    assert any(isinstance(one, PooledLevelsWarning) for one in result.warnings)


def test_nothing_is_said_of_few_levels():
    from skeval.exceptions import PooledLevelsWarning

    rows = pd.DataFrame({"title": ["a", "b"] * 50, "length": np.arange(100.0)})
    result = PRDCurve(n_runs=1).fit(rows).evaluate(rows)
    assert not any(isinstance(one, PooledLevelsWarning) for one in result.warnings)


def test_a_sparse_matrix_that_would_fill_memory_is_refused():
    space = OneHotEncoder(handle_unknown="ignore")
    with pytest.raises(InvalidParameterError, match=r"10,000 features of 100,000 rows.*max_cat"):
        as_matrix(csr_matrix((100_000, 10_000)), space)
    assert as_matrix(csr_matrix((10, 10)), space).shape == (10, 10)
