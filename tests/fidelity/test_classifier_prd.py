from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning
from skeval.fidelity import ClassifierPRD
from skeval.fidelity.prd import max_f_beta

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))


def test_two_normal_laws():
    rng = np.random.default_rng(0)
    train, holdout, made = (pd.DataFrame({"x": rng.normal(m, 1, 10_000)}) for m in (0, 0, 1))
    found = ClassifierPRD(n_angles=201).fit(train, holdout).evaluate(made)
    precision, recall = found.details["precision"], found.details["recall"]
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 201))
    theory = slopes * norm.sf(0.5 + np.log(slopes)) + norm.cdf(np.log(slopes) - 0.5)
    assert precision == pytest.approx(theory, abs=0.03)
    assert precision[100] == pytest.approx(0.6171, abs=0.02)
    assert recall[100] == pytest.approx(precision[100])
    assert found.details["real_rows"] == "holdout"


def test_what_is_missing_and_what_is_made_up():
    old = TRAIN["age"] > TRAIN["age"].median()
    missing, made_up = TRAIN[~old], SYNTHETIC.assign(age=SYNTHETIC["age"] + 600)
    fewer = ClassifierPRD().fit(make_mixed(300, random_state=5), None).evaluate(missing)
    assert fewer.details["f_beta_inv"] > fewer.details["f_beta"] + 0.1  # precise, little recall
    wrong = ClassifierPRD().fit(TRAIN, HOLDOUT).evaluate(made_up)
    assert wrong.value < 0.2


def test_scores_are_those_of_the_curve():
    found = ClassifierPRD(n_angles=101, beta=4).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    curve = found.details["precision"], found.details["recall"]
    scores = [max_f_beta(*curve, beta) for beta in (4, 0.25)]
    assert [found.details[name] for name in ("f_beta", "f_beta_inv")] == pytest.approx(scores)
    assert found.value == pytest.approx(np.mean(scores))
    assert found.value > 0.95
    assert found.baseline == 1.0


def test_one_unseen_row_is_not_enough():
    metric = ClassifierPRD(test_size=0.01).fit(TRAIN.iloc[:20])
    with pytest.warns(DegenerateInputWarning, match="thresholds are chosen"):
        assert np.isnan(metric.score(SYNTHETIC.iloc[:20]))
