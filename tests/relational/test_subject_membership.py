"""Membership of a person by all their rows."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.exceptions import MissingInputError
from skeval.relational import SubjectMembership
from skeval.relational.subject_membership import TOGETHER, aggregate_by_owner
from tests.calibrations import Claim, rate_of
from tests.relational.worlds import CLINIC, clinic, context_of, evaluated, jittered_histories
from tests.snapshots import raises

TRAIN, HOLDOUT, FRESH = (clinic(150, seed, most=15) for seed in range(3))


@pytest.mark.parametrize("attack", ["ratio", "distance", "distance_calibrated", "knn_density"])
@pytest.mark.slow
def test_members_are_told_by_a_copy_with_every_number_changed(attack):
    leaky = jittered_histories(TRAIN, FRESH, 0.6)
    result = evaluated(SubjectMembership(attack=attack), context_of(TRAIN, HOLDOUT, leaky, CLINIC))
    assert result.value > (0.5 if attack == "knn_density" else 0.65)
    assert attack == "knn_density" or result.p_value < 0.001
    assert set(result.details["attacks"]) == {
        "its own row and the aggregates of its rows",
        "the mean over its visits",
        "the highest of its visits",
        TOGETHER,
    }
    assert result.table == "patients with all their rows"
    assert attack == "knn_density" or "visits." in result.advice
    assert result.contrast.n_tests == 4
    result.display().plot()


def test_fresh_people_are_not_told():
    result = evaluated(SubjectMembership(), context_of(TRAIN, HOLDOUT, FRESH, CLINIC))
    assert result.p_value > 0.05
    assert result.baseline == 0.5
    assert result.interval[0] < 0.5 < result.interval[1]
    assert result.details["n_others"] == 75  # the others are the attacker's reference


def test_a_holdout_is_needed():
    with raises(MissingInputError):
        SubjectMembership().fit(TRAIN, schema=CLINIC)


def test_scores_are_grouped_by_owner():
    scores, owners = np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 2, -1])
    np.testing.assert_array_equal(aggregate_by_owner(scores, owners, 3, "mean"), [2.0, np.nan, 5.0])
    np.testing.assert_array_equal(aggregate_by_owner(scores, owners, 3, "max"), [3.0, np.nan, 5.0])


@pytest.mark.calibration
def test_the_level_holds():
    """200 null seeds, 1 to 50 children a subject."""

    def rejects(seed):
        context = context_of(*(clinic(40, 3 * seed + i) for i in range(3)), CLINIC)
        return evaluated(SubjectMembership(), context).p_value <= 0.05

    found = rate_of(map(rejects, range(200)), Claim(0.05, high=0.085))
    assert found.holds, found
