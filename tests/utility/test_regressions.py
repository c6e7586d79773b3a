"""Regressions against closed forms, other packages' fits and linear programmes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import linregress, norm, t
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression

from skeval.utility.regressions import least_squares, logistic, n_rows_behind


def with_ones(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns])


def drawn(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    design = with_ones(*rng.normal(size=(n_columns, n_rows)))
    truth = rng.normal(size=n_columns + 1)
    labels = (rng.random(n_rows) < expit(design @ truth)).astype(float)
    return design, design @ truth + rng.normal(size=n_rows), labels


def test_least_squares_of_one_column():
    rng = np.random.default_rng(0)
    x = rng.normal(5, 2, 40)
    y = 3 - x + rng.normal(size=40)
    regression, known = least_squares(with_ones(x), y, 0.9), linregress(x, y)
    assert regression.estimates == pytest.approx([known.intercept, known.slope])
    assert regression.errors == pytest.approx([known.intercept_stderr, known.stderr])
    half = t.ppf(0.95, 38) * regression.errors
    assert regression.low == pytest.approx(regression.estimates - half)
    assert regression.high == pytest.approx(regression.estimates + half)
    assert regression.n_rows == 40


def test_least_squares_by_the_normal_equations():
    bunch = load_diabetes()
    design = with_ones(*bunch.data.T)
    regression = least_squares(design, bunch.target)
    inverse = np.linalg.inv(design.T @ design)
    estimates = inverse @ design.T @ bunch.target
    residuals = bunch.target - design @ estimates
    errors = np.sqrt(np.diag(inverse) * (residuals @ residuals) / (442 - 11))
    assert regression.estimates == pytest.approx(estimates)
    assert regression.errors == pytest.approx(errors)


def test_scales_do_not_matter():
    design, y, labels = drawn(80, 3)
    units = np.array([1.0, 1e9, 1e-7, 30.0])
    for fit, target in ((least_squares, y), (logistic, labels)):
        plain, scaled = fit(design, target), fit(design * units, target)
        assert scaled.estimates * units == pytest.approx(plain.estimates)
        assert scaled.errors * units == pytest.approx(plain.errors)


@pytest.mark.parametrize("fit", [least_squares, logistic])
def test_what_rows_do_not_determine(fit):
    design, y, labels = drawn(60, 3)
    target = y if fit is least_squares else labels
    plain = fit(design, target)
    twice = fit(np.column_stack([design, 2 * design[:, 3], np.zeros(60)]), target)
    assert np.isnan(twice.estimates).tolist() == [False, False, False, True, True, True]
    assert twice.estimates[:3] == pytest.approx(plain.estimates[:3])
    assert twice.errors[:3] == pytest.approx(plain.errors[:3])
    turned = fit(np.column_stack([np.zeros(60), 2 * design[:, 3], design]), target)
    assert turned.estimates[2:] == pytest.approx(twice.estimates[:4], nan_ok=True)
    # all dummies beside an intercept determine none of them
    dummies = np.eye(3)[np.arange(60) % 3]
    regression = fit(np.column_stack([design, dummies]), target)
    assert np.isnan(regression.estimates).tolist() == [True, *[False] * 3, *[True] * 3]


def test_few_rows():
    design, y, labels = drawn(4, 3)
    exact = least_squares(design, y)
    assert np.isfinite(exact.estimates).all()
    assert np.isnan(exact.errors).all()
    assert np.isnan(exact.low).all()
    assert np.isnan(least_squares(design[:2], y[:2]).estimates).all()
    assert np.isnan(least_squares(design[:0], y[:0]).estimates).all()
    one = logistic(design[:1], labels[:1])
    assert np.isnan(one.estimates).all()
    assert np.isnan(logistic(design[:0], labels[:0]).estimates).all()


def test_a_target_that_is_met_exactly():
    x = np.arange(10.0)
    regression = least_squares(with_ones(x), 3 + 2 * x)
    assert regression.estimates == pytest.approx([3, 2])
    assert (regression.errors == 0).all()
    assert (least_squares(with_ones(x), np.full(10, 5.0)).errors == 0).all()


def test_logistic_of_a_table_of_four():
    """The coefficients are log odds, the variances sums of inverse counts."""
    x = np.repeat([0.0, 0.0, 1.0, 1.0], [12, 5, 7, 9])
    y = np.repeat([0.0, 1.0, 0.0, 1.0], [12, 5, 7, 9])
    regression = logistic(with_ones(x), y)
    assert regression.estimates == pytest.approx([np.log(5 / 12), np.log(9 * 12 / (7 * 5))])
    assert regression.errors**2 == pytest.approx([1 / 12 + 1 / 5, 1 / 12 + 1 / 5 + 1 / 7 + 1 / 9])
    assert regression.low == pytest.approx(
        regression.estimates - norm.ppf(0.975) * regression.errors
    )
    assert not regression.separated


@pytest.mark.parametrize("seed", range(4))
def test_logistic_beside_scikit_learn(seed):
    design, _, labels = drawn(150, 4, seed)
    regression = logistic(design, labels)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(design[:, 1:], labels)
    assert regression.estimates == pytest.approx([*model.intercept_, *model.coef_[0]], abs=1e-4)
    p = expit(design @ regression.estimates)
    information = design.T @ (design * (p * (1 - p))[:, None])
    assert regression.errors == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))))
    assert design.T @ (labels - p) == pytest.approx(np.zeros(5), abs=1e-8)


def test_logistic_with_an_outlier():
    design, _, labels = drawn(100, 2)
    design[0, 1] = 1e6 if labels[0] == (logistic(design, labels).estimates[1] > 0) else -1e6
    regression = logistic(design, labels)
    without = logistic(design[1:], labels[1:])
    assert not regression.separated
    assert regression.estimates == pytest.approx(without.estimates, rel=1e-6)


def test_complete_separation():
    x = np.array([-3.0, -2.0, -0.1, 0.1, 1.0, 5.0])
    regression = logistic(with_ones(x), (x > 0) * 1.0)
    assert regression.separated
    assert np.isnan(regression.estimates).all()
    assert logistic(with_ones(x), np.ones(6)).separated


def test_separation_by_one_level_leaves_the_others():
    design, _, labels = drawn(200, 2)
    level = (np.arange(200) < 15) * 1.0
    labels[level == 1] = 1.0
    regression, without = (
        logistic(np.column_stack([design, level]), labels),
        logistic(design[level == 0], labels[level == 0]),
    )
    assert regression.separated
    assert np.isnan(regression.estimates).tolist() == [False, False, False, True]
    assert regression.estimates[:3] == pytest.approx(without.estimates, rel=1e-6)
    assert regression.errors[:3] == pytest.approx(without.errors, rel=1e-6)


def is_separated(design, labels):
    """Tell whether a combination of columns is nowhere on the wrong side, and somewhere right."""
    sides = design * (2 * labels - 1)[:, None]
    best = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(len(sides)), bounds=(-1, 1))
    return -best.fun > 1e-9


@pytest.mark.slow
def test_separation_beside_linear_programmes():
    separated = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n_rows, n_columns = int(rng.integers(6, 30)), int(rng.integers(1, 5))
        design = with_ones(*rng.integers(-2, 3, (n_columns, n_rows)).astype(float))
        labels = (rng.random(n_rows) < expit(design[:, 1])) * 1.0
        separated.append(is_separated(design, labels))
        assert logistic(design, labels).separated == separated[-1], seed
    assert 20 < sum(separated) < 130


@pytest.mark.parametrize("fit", [least_squares, logistic])
def test_intervals_cover(fit):
    truth, hits = np.array([0.3, -0.5, 0.8]), []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        design = with_ones(*rng.normal(size=(2, 120)))
        mean = design @ truth
        if fit is least_squares:
            target = mean + rng.normal(size=120)
        else:
            target = (rng.random(120) < expit(mean)) * 1.0
        regression = fit(design, target)
        hits.append((regression.low <= truth) & (truth <= regression.high))
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)


def test_rows_behind_a_coefficient():
    group = np.repeat([0.0, 1.0], [50, 4])
    actual = n_rows_behind(with_ones(group))
    assert actual[0] == pytest.approx(50)
    by_hand = (1 / 50 + 1 / 4) ** 2 / (1 / 50**3 + 1 / 4**3)
    assert actual[1] == pytest.approx(by_hand)
    x = np.random.default_rng(0).normal(size=200)
    squares = (x - x.mean()) ** 2
    assert n_rows_behind(with_ones(x))[1] == pytest.approx(squares.sum() ** 2 / (squares**2).sum())
    x[0] = 1e7
    assert n_rows_behind(with_ones(x))[1] == pytest.approx(1, abs=0.05)
    assert n_rows_behind(np.empty((0, 2))).tolist() == [0, 0]
