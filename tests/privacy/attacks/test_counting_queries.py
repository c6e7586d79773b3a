from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from skeval.privacy.attacks.counting_queries import (
    Queries,
    column_sets,
    count_queries,
    guess_levels,
    solve_counts,
)


@pytest.mark.parametrize("solver", ["highs-ipm", "highs-ds", "highs"])
def test_four_people_exactly(solver):
    members = csr_array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    shares = solve_counts(members, np.array([1.0, 1.0, 2.0, 2.0]), solver)
    np.testing.assert_allclose(shares, [1, 0, 1, 1], atol=1e-6)


def test_random_counts():
    rs = np.random.RandomState(0)
    members = (rs.rand(300, 100) < 0.5).astype(float)
    secret = rs.rand(100) < 0.5
    for sd in (0, 1):
        answers = members @ secret + rs.normal(0, sd, 300)
        assert ((solve_counts(csr_array(members), answers) >= 0.5) == secret).all()


def test_solution_minimises_the_errors():
    rng = np.random.default_rng(0)
    members = rng.integers(0, 2, (12, 4)).astype(float)
    answers = rng.normal(2.0, 1.0, 12)
    shares = solve_counts(csr_array(members), answers)
    error = np.abs(members @ shares - answers).sum()
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 11)] * 4), axis=-1).reshape(-1, 4)
    assert error <= np.abs(grid @ members.T - answers).sum(axis=1).min() + 1e-9
    assert ((shares >= 0) & (shares <= 1)).all()


def test_column_sets():
    assert column_sets(2, 3, 10, 0) == [(0, 1)]
    assert column_sets(4, 1, 10, 0) == [(0,), (1,), (2,), (3,)]
    drawn = column_sets(40, 5, 30, 0)
    assert len(set(drawn)) == 30
    assert drawn == column_sets(40, 5, 30, 0) == sorted(drawn)
    assert all(len(set(columns)) == 5 for columns in drawn)


PEOPLE = np.array([[0, 0], [0, 1], [1, 1]])
RELEASED = np.array([[0, 0], [0, 0], [0, 1], [2, 1], [0, 0]])
SECRETS = np.array([1, 0, 1, 1, 2])


def counts(**settings):
    queries = count_queries(
        PEOPLE,
        np.array([2, 1, 1]),
        RELEASED,
        SECRETS,
        **{"sets": [(0,), (1,)], "n_levels": 2, "n_queries": 10, **settings},
    )
    return queries, queries.members.toarray().tolist()


def test_counts_by_hand():
    actual, members = counts()
    # nobody released has the first column 1: the count says nothing of the last
    assert members == [[2, 1, 0], [2, 0, 0], [0, 1, 1]]
    assert actual.matches.tolist() == [4, 3, 2]
    assert actual.secrets.tolist() == [[1, 2], [1, 1], [0, 2]]
    conditional = actual.answers("conditional", 4, 5)
    np.testing.assert_allclose(conditional, [[3 / 4, 6 / 4], [2 / 3, 2 / 3], [0, 2]])


def test_counts_of_shares():
    actual, members = counts(scaling="share")
    assert members == [[2, 1, 0], [0, 0, 1], [2, 0, 0], [0, 1, 1]]
    np.testing.assert_allclose(actual.answers("share", 4, 5)[:, 1], np.array([2, 0, 1, 2]) * 4 / 5)


def test_counts_of_few_people_are_skipped():
    assert counts(n_min=3)[1] == [[2, 1, 0]]
    assert counts(n_min=9)[1] == []
    actual, members = counts(n_queries=2, seed=1)
    assert len(members) == actual.matches.size == 2
    assert all(row in counts()[1] for row in members)


def test_guesses_of_several_levels():
    members = csr_array(np.eye(4)[:3])
    queries = Queries(members, np.ones(3), np.empty((3, 3)))
    answers = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.4]])
    assert guess_levels(queries, answers, default=2).tolist() == [0, 2, 1, 2]
    assert guess_levels(queries, answers[:, 1:], default=1).tolist() == [0, 1, 0, 1]
