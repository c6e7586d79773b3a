"""Cross-validated evaluation of generators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap, GaussianCopula, GeneratorAdapter
from skeval.model_selection import cross_validate_generator
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.stats.folds import fold_mean

TABLE = make_mixed(200)
SUITE = MetricSuite([("ks", KSComplement()), ("share", DCRShare())])


def test_each_fold_is_a_fit_of_its_own():
    found = cross_validate_generator(Bootstrap(), TABLE, SUITE, cv=4)
    assert [result.sizes["holdout"] for result in found.results] == [50] * 4
    assert [result.sizes["train"] for result in found.results] == [150] * 4
    assert found.folds()["fold"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    frame = found.frame()
    values = [result["share"].value for result in found.results]
    assert frame.loc["share", "mean"] == pytest.approx(np.mean(values))
    error = np.sqrt((1 / 4 + 1 / 3) * np.var(values, ddof=1))
    assert frame.loc["share", "standard_error"] == pytest.approx(error)
    assert frame.loc["share", "evidence"] == "screen"
    assert frame.loc["share", "mean"] > 0.9  # copies are nearer to train in every fold


@pytest.mark.slow
def test_seeds_processes_and_metrics():
    first, again, other = (
        cross_validate_generator(
            GaussianCopula(), TABLE, KSComplement(), cv=2, random_state=seed, n_jobs=n_jobs
        ).frame()
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    )
    assert first.equals(again)
    assert not first.equals(other)
    assert first.index.tolist() == ["KSComplement"]


def test_groups_stay_together():
    twins = make_mixed(100)
    table = twins.loc[np.repeat(np.arange(100), 2)].reset_index(drop=True)
    groups = np.repeat(np.arange(100), 2)
    found = cross_validate_generator(
        GeneratorAdapter(Bootstrap()), table, ExactMatchShare(), cv=GroupKFold(2), groups=groups
    )
    assert [result["ExactMatchShare"].baseline for result in found.results] == [0.0, 0.0]


def test_refusals():
    with pytest.raises(InvalidParameterError, match="evaluator must be"):
        cross_validate_generator(Bootstrap(), TABLE, "ks")
    every = np.arange(len(TABLE))
    with pytest.raises(InvalidParameterError, match="tested on its training rows"):
        cross_validate_generator(Bootstrap(), TABLE, KSComplement(), cv=[(every, every)])


def test_fold_means_by_hand():
    found = fold_mean(np.array([1.0, 2.0, 3.0, np.nan]), 0.5)
    assert (found.mean, found.n_folds) == (2.0, 3)
    assert found.standard_error == pytest.approx(np.sqrt(1 / 3 + 0.5))
    assert found.high - found.mean == pytest.approx(4.302653 * found.standard_error)
    assert np.isnan(fold_mean(np.array([1.0]), 0.5).low)
    assert np.isnan(fold_mean(np.array([np.nan]), 0.5).mean)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*holdout rows also stand in train")
def test_interval_of_folds_covers_what_the_generator_scores():
    """KS of a bootstrap of n rows against them: truth by fresh draws at the size of a fold."""
    from skeval.datasets import make_census

    columns = ["age", "school_years", "hours_per_week"]
    truth = np.mean(
        [
            KSComplement()
            .fit(train := make_census(160, random_state=9000 + i)[columns])
            .score(Bootstrap().fit(train).sample(160, random_state=i))
            for i in range(300)
        ]
    )
    hits = 0
    for seed in range(200):
        table = make_census(200, random_state=seed)[columns]
        found = cross_validate_generator(Bootstrap(), table, KSComplement(), random_state=seed)
        row = found.frame().iloc[0]
        hits += row["low"] <= truth <= row["high"]
    assert hits / 200 >= 0.92  # the correction is on the safe side where folds share little
