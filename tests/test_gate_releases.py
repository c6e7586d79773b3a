"""The gate against bad releases and good ones: what `fail_on="leak"` lets pass."""

from __future__ import annotations

import re
from functools import cache

import pytest
from scipy.stats import binom

from skeval import MetricSuite, Policy, make_suite
from skeval.exceptions import TableError
from skeval.privacy import DCROverfittingProtection, ExactMatchShare, NearDuplicateShare
from skeval.results.verdict import ALARM_LEVEL
from tests.releases import (
    BAD,
    CLINIC,
    FEW,
    FOUND,
    GOOD,
    KEYS,
    SINGLE,
    good,
    parts_of,
    population,
    quoted,
    visits_copied,
)

GATE = Policy(fail_on=("leak",))
# good releases that tests at their level may stop, but for once in fifty
MAX_STOPPED = binom.ppf(0.98, len(GOOD), ALARM_LEVEL)


def few_screens():
    """The least suite that decides all these releases."""
    return MetricSuite([
        ("exact_matches", ExactMatchShare()),
        ("near_duplicates", NearDuplicateShare()),
        ("dcr_overfitting", DCROverfittingProtection()),
    ])  # fmt: skip


def headlines():
    """All of the report that looks at privacy: the verdict reads nothing else."""
    suite = make_suite("report")
    kept = [(name, m) for name, m in suite.metrics if m.tags.aspect == "privacy"]
    return suite.set_params(metrics=kept)


@cache
def fitted(make, name, seed):
    """Return a suite that knows train and holdout, for the many releases beside the same two."""
    train, holdout, _ = population(name, seed)
    return make().fit(train, holdout)


def judged(make, release, name, seed=0):
    """Return the verdict, whether the gate lets pass, and a sentence; of refused input that alone."""
    train, holdout, _ = population(name, seed)
    same = release.train is train and release.holdout is holdout
    try:
        suite = fitted(make, name, seed) if same else make().fit(release.train, release.holdout)
        results = suite.evaluate(release.synthetic)
    except TableError as error:
        return None, False, str(error)
    return verdict_of(results)


def verdict_of(results):
    verdict, leak = results.verdict(), GATE.judge(results)[0]
    return verdict, leak.passed, verdict.sentence


def assert_stopped(make, name, kind):
    bad = SINGLE[kind]
    verdict, passed, sentence = judged(make, bad.build(parts_of(name)), name)
    assert "No leak found" not in sentence
    assert not passed or bad.outcomes == FEW, sentence
    if bad.outcomes == FEW:
        assert re.search(r"\b[123] (of 400 synthetic rows|copy|copies)\b", sentence), sentence
    if verdict is None:
        assert bad.refused, sentence
    else:
        assert verdict.outcome in bad.outcomes, sentence
        assert passed == (verdict.outcome == "no leak found"), sentence


def assert_stopped_as_a_leak(release, **settings):
    suite = make_suite("screens", **settings).fit(release.train, release.holdout, **settings)
    verdict, passed, sentence = verdict_of(suite.evaluate(release.synthetic))
    assert not passed, sentence
    assert verdict.outcome in FOUND, sentence


def assert_good_ones_pass(make):
    """Hold the number of good releases that are stopped to the level; copies are in none."""
    found = [judged(make, good(*which), *which[1:]) for which in GOOD]
    stopped = [(verdict, sentence) for verdict, passed, sentence in found if not passed]
    assert len(stopped) <= MAX_STOPPED, stopped
    assert {verdict.outcome for verdict, _ in stopped} <= {"leak found"}, stopped
    assert {verdict.outcome for verdict, passed, _ in found if passed} == {"no leak found"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), BAD)
def test_bad_releases_are_stopped(name, kind):
    assert_stopped(few_screens, name, kind)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_good_releases_pass():
    assert_good_ones_pass(few_screens)


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), BAD)
def test_the_report_stops_bad_releases(name, kind):
    assert_stopped(headlines, name, kind)


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore")
def test_the_report_lets_good_releases_pass():
    assert_good_ones_pass(headlines)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", KEYS)
def test_rows_of_a_subject_are_found_whosever_they_are_said_to_be(key):
    assert_stopped_as_a_leak(visits_copied(key), schema=CLINIC)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_words", [12, 20])
def test_quoted_sentences_are_found(n_words):
    assert_stopped_as_a_leak(quoted(n_words))
