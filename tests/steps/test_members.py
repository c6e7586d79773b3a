from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, TableError
from skeval.stats.roc import auc
from skeval.steps.densities import kernel_log_density, vector_space
from skeval.steps.member_rows import (
    drawing_order,
    half_of_real,
    n_reference,
    plain_rows,
    reference_rows,
    validation_half,
)
from skeval.steps.members import (
    ATTACKS,
    CALIBRATED,
    MemberScores,
    blend_scores,
    member_scores,
    needs_of,
    pooled_scores,
)
from skeval.steps.neighbors import nearest
from tests.counting import CountingContext
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


@pytest.fixture(scope="module")
def context() -> Context:
    return Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)


def column(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def area(scores) -> float:
    return auc(scores.members, scores.others)


@pytest.mark.parametrize("attack", ATTACKS)
def test_members_are_train_rows_and_others_those_not_in_the_reference(context, attack):
    every = member_scores(context, attack)
    assert every.member_rows.tolist() == every.other_rows.tolist() == list(range(150))
    scores = member_scores(context, attack, reference_fraction=0.5)
    assert scores.member_rows.tolist() == list(range(150))
    assert scores.members.shape == scores.member_rows.shape
    assert scores.others.shape == scores.other_rows.shape
    assert np.isfinite(scores.members).all()
    assert np.isfinite(scores.others).all()
    n_taken = n_reference(context, 0.5, None) if attack in CALIBRATED else 0
    taken = drawing_order(context, "holdout")[:n_taken]
    assert set(scores.other_rows) == set(range(150)) - set(taken)
    assert not np.isin(taken, scores.other_rows).any()


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_copy_is_found_and_the_holdout_is_not(attack):
    real = Context.of(TRAIN, HOLDOUT)
    copy, other = (
        area(member_scores(real.with_synthetic(rows), attack)) for rows in (TRAIN, HOLDOUT)
    )
    assert copy > 0.5 > other
    if attack in {"distance", "ratio", "monte_carlo"}:
        assert copy == 1.0


@pytest.mark.parametrize("attack", ATTACKS)
def test_scores_belong_to_rows_not_to_places(context, attack):
    shuffled = [
        t.sample(frac=1.0, random_state=i) for i, t in enumerate((TRAIN, HOLDOUT, SYNTHETIC))
    ]
    back = Context.of(*(t[t.columns[::-1]] for t in shuffled[:2])).with_synthetic(shuffled[2])
    for n_rows in (None, 40):
        there, here = member_scores(context, attack, n_rows), member_scores(back, attack, n_rows)
        assert set(shuffled[0].index[here.member_rows]) == set(there.member_rows)
        assert set(shuffled[1].index[here.other_rows]) == set(there.other_rows)
        by_row = dict(zip(there.member_rows, there.members, strict=True))
        expected = [by_row[row] for row in shuffled[0].index[here.member_rows]]
        np.testing.assert_allclose(here.members, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("attack", ATTACKS)
def test_equal_rows_have_equal_scores(attack):
    train = pd.concat([TRAIN, TRAIN.iloc[:50]], ignore_index=True)
    holdout = pd.concat([HOLDOUT, TRAIN.iloc[:50]], ignore_index=True)
    context = Context.of(train, holdout)
    scores = member_scores(context.with_synthetic(SYNTHETIC), attack, reference_fraction=0.5)
    assert (scores.members[:50] == scores.members[150:]).all()
    shared = dict(zip(scores.other_rows, scores.others, strict=True))
    for i in range(50):
        if 150 + i in shared:
            assert shared[150 + i] == scores.members[i]


@pytest.mark.parametrize("attack", [*sorted(CALIBRATED), "eq1"])
def test_no_score_depends_on_which_rows_were_train(attack):
    rows = pd.concat([TRAIN, HOLDOUT], ignore_index=True)
    is_train = np.random.default_rng(0).permutation(len(rows)) < 130
    given, other = (
        member_scores(Context.of(rows[chosen], rows[~chosen]).with_synthetic(SYNTHETIC), attack)
        for chosen in (np.arange(300) < 150, is_train)
    )
    by_row = np.concatenate([given.members, given.others])
    np.testing.assert_allclose(other.members, by_row[is_train], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.others, by_row[~is_train], rtol=1e-9, atol=1e-9)


def test_each_half_of_the_real_rows_is_the_reference_of_the_other():
    context = Context.of(column(0, 4, 8), column(2, 10, 5)).with_synthetic(column(0, 3))
    found = member_scores(context, "distance_calibrated")
    values, in_half = np.array([0, 4, 8, 2, 10, 5]), np.concatenate(half_of_real(context))
    assert in_half.sum() == 3
    apart = np.abs(values[:, None] - values) / 10
    to_reference = np.where(in_half[:, None] != in_half, apart, np.inf).min(axis=1)
    to_synthetic = np.abs(values[:, None] - [0, 3]).min(axis=1) / 10
    scores = np.concatenate([found.members, found.others])
    np.testing.assert_allclose(scores, to_reference - to_synthetic)


def test_a_blend_is_of_the_rows_that_all_attacks_score():
    first = MemberScores(*map(np.array, ([3.0, 1.0], [2.0, 0.0], [0, 4], [1, 2])))
    second = MemberScores(*map(np.array, ([9.0], [7.0, 8.0], [4], [2, 3])))
    both = blend_scores([first, second])
    assert (both.member_rows.tolist(), both.other_rows.tolist()) == ([4], [2])
    np.testing.assert_allclose([both.members[0], both.others[0]], [4.0, 2.0])  # ranks over 1/2
    context = Context.of(column(*range(5)), column(*range(4)))
    table = pooled_scores(context, [first, both])
    assert np.isnan(table).sum(axis=0).tolist() == [5, 7]
    assert table[4].tolist() == [1.0, both.members[0]]


def test_samples_are_nested_and_halves_even(context):
    small, large = (member_scores(context, "distance", n) for n in (40, 90))
    assert len(small.members) == len(small.others) == 40
    assert set(small.member_rows) < set(large.member_rows)
    half = validation_half(context, "train")
    assert half.sum() == 75
    assert half[small.member_rows].sum() == 20
    assert not (drawing_order(context, "train", 0) == drawing_order(context, "train", 1)).all()
    assert not (drawing_order(context, "train") == drawing_order(context, "holdout")).all()


def test_distances_by_hand():
    context = Context.of(column(0, 4, 8), column(2, 10)).with_synthetic(column(0, 3))
    scores = member_scores(context, "distance")
    np.testing.assert_allclose(scores.members, [0.0, -0.1, -0.5])
    np.testing.assert_allclose(scores.others, [-0.1, -0.7])
    order = drawing_order(context, "holdout")
    known, left = (column(2, 10)["x"].to_numpy()[row] for row in order)
    calibrated = member_scores(context, "distance_calibrated", reference_fraction=0.5)
    assert calibrated.other_rows.tolist() == [order[1]]
    to_reference = np.abs(np.array([0, 4, 8]) - known) / 10
    np.testing.assert_allclose(calibrated.members, to_reference + scores.members)
    np.testing.assert_allclose(
        calibrated.others, np.abs(left - known) / 10 + scores.others[order[1]]
    )
    ratio = member_scores(context, "ratio", reference_fraction=0.5)
    np.testing.assert_allclose(ratio.members[1:], np.log(to_reference[1:] / [0.1, 0.5]))


def test_a_ball_of_median_radius_by_hand():
    context = Context.of(column(0, 4, 8), column(2, 10)).with_synthetic(column(0, 1, 3, 4))
    scores = member_scores(context, "monte_carlo")  # distances 0, 0, .4, .1, .6: the median is .1
    assert scores.members.tolist() == [0.5, 0.5, 0.0]
    assert scores.others.tolist() == [0.5, 0.0]


def test_neighbours_are_as_many_as_there_are():
    context = Context.of(column(0, 4, 8), column(2, 10)).with_synthetic(column(0, 3))
    scores = member_scores(context, "knn_density", n_neighbors=5)  # the second nearest is the last
    np.testing.assert_allclose(scores.members, -np.log([0.3, 0.4, 0.8]))
    one = member_scores(context, "knn_density", n_neighbors=1)
    np.testing.assert_allclose(one.members[1:], -np.log([0.1, 0.5]))
    assert one.members[0] == pytest.approx(-np.log(2.0**-32))


def test_density_ratios_by_hand(context):
    coordinates = vector_space(context, "gower", None)
    points, synthetic = (
        coordinates.vectors(plain_rows(context, role, "gower", None))
        for role in ("train", "synthetic")
    )
    reference = coordinates.vectors(reference_rows(context, True, "gower", None, 0.5, 0, None))
    of_synthetic = kernel_log_density(points, synthetic)
    found = member_scores(context, "eq1").members
    np.testing.assert_allclose(found, of_synthetic, rtol=1e-6)
    ratio = of_synthetic - kernel_log_density(points, reference)
    found = member_scores(context, "domias", reference_fraction=0.5).members
    np.testing.assert_allclose(found, ratio, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("density", ["kde", "knn", "gmm", "prior"])
def test_every_density_sees_a_release_that_clings_to_train(density):
    rng = np.random.default_rng(0)
    train, holdout = (pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")) for _ in "ab")
    near = pd.concat([train[:40] + 0.01 * rng.normal(size=(40, 3)) for _ in range(5)])
    context = Context.of(train, holdout).with_synthetic(near)
    for attack in ("domias", "eq1"):
        scores = member_scores(context, attack, density=density)
        known = np.isin(scores.member_rows, np.arange(40))
        assert auc(scores.members[known], scores.others) > 0.6


@pytest.mark.slow
def test_a_reference_of_ones_own(context):
    own = Context.of(TRAIN, make_mixed(80, random_state=9)).holdout
    for attack in ATTACKS:
        scores = member_scores(context, attack, reference=own)
        assert len(scores.others) == 150
        again = own.sample(frac=1.0, random_state=0).reset_index(drop=True)
        shuffled = member_scores(context, attack, reference=again)
        np.testing.assert_allclose(scores.members, shuffled.members, rtol=1e-9)
    distances = nearest(context, "train", "synthetic")[0][:, 0]
    calibrated = member_scores(context, "distance_calibrated", reference=own).members
    back = Context.of(TRAIN, HOLDOUT).with_synthetic(own)
    to_own = nearest(back, "train", "synthetic")[0][:, 0]
    np.testing.assert_allclose(calibrated, to_own - distances)


def test_spaces_of_the_users(context):
    numeric = [t[["age", "visits"]] for t in (TRAIN, HOLDOUT, SYNTHETIC)]
    plain = Context.of(*numeric[:2]).with_synthetic(numeric[2])
    for space in ("euclidean", make_pipeline(StandardScaler())):
        for attack in ATTACKS:
            scores = member_scores(plain, attack, space=space)
            assert np.isfinite(scores.members).all()
    chosen = member_scores(context, "distance", columns=["age", "visits"])
    np.testing.assert_allclose(chosen.members, member_scores(plain, "distance").members)


@pytest.mark.slow
def test_texts_alone_by_a_transformer():
    words = np.random.default_rng(0).choice(["dark", "light", "old", "new", "bright"], (90, 6))
    notes = [pd.DataFrame({"note": [" ".join(w) for w in words[i::3]]}) for i in range(3)]
    reader = make_pipeline(FunctionTransformer(lambda frame: frame["note"]), TfidfVectorizer())
    context = Context.of(*notes[:2], schema={"note": "text"}).with_synthetic(notes[2])
    for attack in ATTACKS:
        scores = member_scores(context, attack, space=reader)
        assert len(scores.members) == 30
    order = drawing_order(context, "train")
    again = Context.of(notes[0][::-1], notes[1], schema={"note": "text"})
    flipped = drawing_order(again, "train")
    assert notes[0]["note"].iloc[order].tolist() == notes[0]["note"][::-1].iloc[flipped].tolist()


def test_levels_that_no_real_row_has_are_one():
    strange = SYNTHETIC.assign(city=[f"new {i}" for i in range(150)])
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(strange)
    city = sorted(context.schema.measured).index("city")
    rows = plain_rows(context, "synthetic", "gower", None)
    assert len(np.unique(rows[:, city])) == 1
    for attack in ATTACKS:
        assert np.isfinite(member_scores(context, attack).members).all()


def test_what_an_attack_needs():
    few = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC[:5])
    for attack in ("domias", "eq1", "classifier"):
        assert "requires at least 10 synthetic rows" in needs_of(few, attack, 0.5, None)
    with raises(TableError):
        member_scores(few, "domias")
    small = Context.of(TRAIN, HOLDOUT[:12]).with_synthetic(SYNTHETIC)
    assert "requires at least 10 reference rows" in needs_of(small, "classifier", 0.5, None)
    assert needs_of(small, "eq1", 0.5, None) == ""
    one = Context.of(TRAIN, HOLDOUT[:1]).with_synthetic(SYNTHETIC)
    assert "at least 2 rows" in needs_of(one, "ratio", 0.5, None)
    assert area(member_scores(one, "distance")) <= 1.0
    with raises(InvalidParameterError):
        member_scores(one, "guess")


def test_work_is_shared():
    fresh = CountingContext.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    nearest(fresh, "train", "synthetic")
    nearest(fresh, "holdout", "synthetic")
    CountingContext.runs.clear()
    found = member_scores(fresh, "distance")
    assert found.members.size == len(TRAIN)
    assert not {"_nearest", "reference_index"} & set(CountingContext.names())
