from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite, Policy, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.privacy import IdentityDisclosure
from skeval.privacy.identity import bits_of_match, clusters_of, is_near, mean_inverse_size
from skeval.results import Release
from tests.snapshots import raises

TOY = pd.DataFrame({"town": list("abbc"), "ill": ["flu", "no", "cold", "gout"]})
RELEASE = pd.DataFrame({"town": list("abcc"), "ill": ["flu", "cold", "no", "no"]})


@pytest.mark.slow
def test_contract():
    check_metric(IdentityDisclosure(["city", "age"]))


def test_closed_toy():
    # the only a and one of two b have a correct rare value, and the value of c is wrong
    result = IdentityDisclosure(["town"]).fit(TOY).evaluate(RELEASE)
    assert result.value == (1 + 1 / 2) / 4
    assert result.details["matched"] == 1.0
    assert result.details["learned"] == 0.5
    halved = IdentityDisclosure(["town"], verified=0.0).fit(TOY).score(RELEASE)
    assert halved == result.value / 2


def test_common_values_are_no_news():
    train = TOY.assign(ill=["no", "no", "no", "flu"])
    assert IdentityDisclosure(["town"]).fit(train).score(train) == 1 / 4  # c alone learns flu


def test_strangers_are_attacked_as_one_more_row():
    holdout = pd.DataFrame({"town": list("ad"), "ill": ["flu", "flu"]})
    metric = IdentityDisclosure(["town"]).fit_context(Context.of(TOY, holdout))
    assert metric.evaluate(RELEASE).baseline == (1 / 2 + 0) / 2


def test_a_sample_of_a_population():
    whole = IdentityDisclosure(["town"]).fit(TOY).score(RELEASE)
    metric = IdentityDisclosure(["town"], population=8).fit(TOY)
    found = metric.evaluate(RELEASE).details
    assert found["population_to_sample"] == whole / 2
    # by integration: log 2 for a lone row of a half sample, 1 - log 2 for one of two
    assert found["sample_to_population"] == pytest.approx((np.log(2) + 1 - np.log(2)) / 4)
    with raises(InvalidParameterError):
        IdentityDisclosure(["town"], population=3).fit(TOY)


@pytest.mark.parametrize("fraction", [0.02, 0.3])
def test_mean_inverse_size_agrees_with_simulation(fraction):
    # rates of classes from the model's prior, uniform on the scale of logarithms
    rng = np.random.default_rng(0)
    sizes = rng.poisson(np.exp(rng.uniform(np.log(1e-3), np.log(2000), 400_000)))
    sampled = rng.binomial(sizes, fraction)
    for f in (1, 2, 4):
        truth = 1 / sizes[sampled == f]
        error = truth.std() / np.sqrt(truth.size)
        assert abs(mean_inverse_size(np.array([f]), fraction)[0] - truth.mean()) < 4 * error


def test_numbers_are_learned_within_the_spread():
    train = np.array([0.0, 1.0, 2.0, 3.0, 4.0])  # five clusters, each a fifth; 1.48 MAD is 1.48
    assert is_near(np.array([7.3, 7.5]), np.array([0.0, 2.0]), train).tolist() == [True, False]
    assert clusters_of(train)[1].tolist() == [0.2] * 5


def test_copies_are_found_and_strangers_are_not():
    train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in range(3))
    metric = IdentityDisclosure(["age", "income", "city"]).fit(train, holdout)
    copied, other = metric.evaluate(train), metric.evaluate(fresh)
    assert copied.p_value < 0.001 < 0.05 < other.p_value
    assert copied.value > 2 * copied.baseline
    assert other.interval[0] < other.baseline < other.interval[1]


def test_bits_of_a_match():
    values = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    gap = np.array([0.0, 1.0, np.inf, 0.0, np.inf])
    # 1, 3, 0, 1 and 0 of five rows are as close, and one of two other rows is enough
    bits = bits_of_match(gap, values, np.array([1, 1, 1, 2, 1]))
    assert bits == pytest.approx(-np.log2([1 / 5, 3 / 5, 1, 1 - (4 / 5) ** 2, 1]))


def planted(seed, n_rows, n_copied):
    """Return train, holdout, and fresh rows of which some are copies of train."""
    train, holdout, fresh = (make_mixed(n_rows, random_state=3 * seed + i) for i in range(3))
    copied = train.sample(n_copied, random_state=seed)
    return train, holdout, pd.concat([fresh[n_copied:], copied], ignore_index=True)


@pytest.mark.slow
def test_few_copies_are_found():
    """A seventh of the rows, which a count of hits found in 27% of releases."""
    found = 0
    for seed in range(6):
        train, holdout, release = planted(seed, 300, 40)
        metric = IdentityDisclosure(["age", "city"]).fit(train, holdout)
        found += metric.evaluate(release).p_value <= 0.05
    assert found >= 5


@pytest.mark.calibration
def test_size_of_the_test_of_bits():
    """Bins of train alone would find a leak in a tenth of these."""
    p_values = []
    for seed in range(300):
        sizes = enumerate((100, 250, 100))
        train, holdout, release = (make_mixed(n, random_state=7 * seed + i) for i, n in sizes)
        metric = IdentityDisclosure(["age"]).fit_context(Context.of(train, holdout))
        p_values.append(metric.evaluate(release).p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.08  # three errors of 300


@pytest.mark.calibration
@pytest.mark.parametrize("known", [["age", "city"], ["age", "income", "city"]])
@pytest.mark.parametrize("n_copied", [0, 200])
def test_intervals_hold_the_mean_of_draws(known, n_copied):
    results = []
    for seed in range(60):
        train, _, release = planted(seed, 200, n_copied)
        results.append(IdentityDisclosure(known).fit(train).evaluate(release))
    mean = np.mean([result.value for result in results])
    held = np.mean([result.interval[0] <= mean <= result.interval[1] for result in results])
    assert held >= 0.9


@pytest.mark.parametrize("by_release", [False, True])
def test_threshold_of_agencies_can_be_agreed(by_release):
    rule = "identity_disclosure <= 0.09"
    suite = MetricSuite([("identity_disclosure", IdentityDisclosure(["town"]))])
    results = suite.fit(TOY).evaluate(RELEASE)
    agreed = (
        Release(thresholds={"require": [rule]}).thresholds if by_release else Policy((), [rule])
    )
    judged = {outcome.rule: outcome.passed for outcome in agreed.judge(results)}
    assert judged[rule] is False
