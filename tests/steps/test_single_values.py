from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite
from skeval.datasets import make_census
from skeval.exceptions import HoldoutUsedWarning
from skeval.generators import GaussianCopula
from skeval.privacy import DCRShare
from skeval.steps.single_values import holdout_use_notices, single_values


def real_rows(seed, n=400):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "pay": np.exp(rng.normal(8, 0.5, n)),
            "size": rng.normal(170, 10, n).round(1),
            "round": np.where(
                rng.random(n) < 0.5, rng.integers(0, 20, n) * 100.0, rng.normal(size=n)
            ),
        }
    )


def shuffled_apart(*tables, seed=0):
    rng, rows = np.random.default_rng(seed), pd.concat(tables, ignore_index=True)
    return pd.DataFrame({name: rng.choice(rows[name], 400) for name in rows})


def evaluated(train, holdout, release):
    suite = MetricSuite([("dcr", DCRShare())]).fit(train, holdout)
    return suite.evaluate(release)


def test_values_of_the_holdout_in_the_release_make_the_verdict_inconclusive():
    train, holdout = real_rows(0), real_rows(1)
    result = evaluated(train, holdout, shuffled_apart(train, holdout))
    assert HoldoutUsedWarning in [type(notice) for notice in result.notices]
    verdict = result.verdict()
    assert verdict.outcome == "inconclusive"
    assert any("pay" in why for why in verdict.void)


@pytest.mark.parametrize("seed", range(4))
def test_releases_that_never_saw_the_holdout_are_not_accused(seed):
    train, holdout, others = (real_rows(3 * seed + i) for i in range(3))
    suite = MetricSuite([("dcr", DCRShare())]).fit(train, holdout)
    common = others["round"].mode().sample(400, replace=True, random_state=0).to_numpy()
    for release in (
        others,
        shuffled_apart(others, seed=seed),
        shuffled_apart(train, seed=seed),
        others.assign(round=common),
        others.assign(pay=others["pay"].mean(), size=others["size"].round(0)),
    ):
        context = suite.context_.with_synthetic(release)
        assert not any(one.beyond_chance for one in single_values(context, "holdout").values())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_copula_of_train_and_holdout_is_said_and_one_of_train_is_not(seed):
    train, holdout = (make_census(500, random_state=2 * seed + i) for i in range(2))
    both = pd.concat([train, holdout], ignore_index=True)
    said = {}
    for name, fitted in {"both": both, "train": train}.items():
        release = GaussianCopula().fit(fitted).sample(500, random_state=seed)
        notices = evaluated(train, holdout, release).notices
        said[name] = HoldoutUsedWarning in [type(notice) for notice in notices]
    assert said == {"both": True, "train": False}


def test_days_that_occur_once_in_each_table_are_no_sign_of_the_holdout():
    days = pd.date_range("2024-01-01", periods=300).to_series(index=range(300))
    tables = [
        real_rows(seed, 300).assign(day=days.sample(frac=1.0, random_state=seed).to_numpy())
        for seed in range(3)
    ]
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    assert not holdout_use_notices(context)
    assert single_values(context, "holdout")["day"].n == 300
