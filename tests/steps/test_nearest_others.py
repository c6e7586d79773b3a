from __future__ import annotations

import numpy as np
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.nearest_others import distances_to_part, distances_within, others_nearest_to
from skeval.steps.neighbors import gower_engine, nearest
from skeval.steps.samples import holdout_in_place, synthetic_sample


@pytest.fixture(scope="module")
def context():
    train, holdout, synthetic = (make_mixed(n, random_state=n) for n in (300, 200, 240))
    train.iloc[1], holdout.iloc[3] = train.iloc[0], train.iloc[5]  # copies
    return Context.of(train, holdout).with_synthetic(synthetic)


def by_search(context, rows, part):
    """Search among the rows of the part alone, without the row itself."""
    real = np.concatenate([encoded_matrix(context, role) for role in ("train", "holdout")])
    own = np.full(len(real), -1)
    own[part] = np.arange(part.sum())
    near = gower_engine(context).fit(real[part])
    return near.kneighbors(real[rows], 1, exclude=own[rows])[0][:, 0]


@pytest.mark.parametrize("n_part", [499, 250, 60, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_row_of_a_part_is_found(context, n_part, seed):
    part = np.zeros(500, dtype=bool)
    part[np.random.default_rng(seed).choice(500, n_part, replace=False)] = True
    for rows in (np.arange(500), np.flatnonzero(part), np.flatnonzero(~part)):
        found = distances_to_part(context, None, rows, part)
        np.testing.assert_array_equal(found, by_search(context, rows, part))


@pytest.mark.parametrize("n_rows", [300, 200, 150, 40])
@pytest.mark.parametrize("role", ["train", "synthetic"])
def test_distances_of_a_sample_are_those_of_a_search_in_the_sample(context, role, n_rows):
    for tables in (context, holdout_in_place(context, 150), synthetic_sample(context, 150)):
        found = distances_within(tables, role, None, n_rows, 3)
        direct, _ = nearest(tables, role, role, n_reference=n_rows, seed=3)
        np.testing.assert_array_equal(found, direct[:, 0])


@pytest.mark.parametrize("role", ["train", "synthetic"])
def test_distances_without_a_holdout(context, role):
    alone = Context.of(make_mixed(80, random_state=0)).with_synthetic(make_mixed(90))
    np.testing.assert_array_equal(
        distances_within(alone, role, None, 80, 0),
        nearest(alone, role, role, n_reference=80)[0][:, 0],
    )


@pytest.mark.parametrize("space", ["gower", "euclidean"])
def test_few_rows_have_the_same_neighbors_as_all_rows(context, space):
    every = others_nearest_to(context, space, None, np.arange(500))
    few = np.array([3, 499, 0, 301])  # fewer rows are searched for alone
    np.testing.assert_array_equal(others_nearest_to(context, space, None, few), every[few])
