"""The facts of a release: read from a file that anyone may have written, and kept in results."""

from __future__ import annotations

import dataclasses
import datetime as dt
from functools import partial

import pytest

from skeval import MetricSuite, Policy, SuiteResult, report
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.results import Release, assert_release
from skeval.results.release import NOT_STATED, GeneratorRecord, PrivacyClaim
from tests.snapshots import raises

TOML = """
title = "Adult for the Ministry"
purpose = "teaching"
recipient = "Ministry of Labour"
release_model = "public"
direct_identifiers = ["name"]
indirect_identifiers = ["age", "sex"]
review_date = 2027-01-31
[generator]
name = "CTGAN"
version = "0.12"
parameters = {epochs = 300, dims = [128, 128]}
[dp]
epsilon = 1
adjacency = "add_remove"
[thresholds]
require = ["exact_matches <= 0.001"]
"""


@pytest.fixture
def release(tmp_path):
    (path := tmp_path / "release.toml").write_text(TOML, encoding="utf-8")
    return Release.from_toml(path)


def test_what_a_file_states(release):
    assert (release.title, release.recipient) == ("Adult for the Ministry", "Ministry of Labour")
    assert release.generator == GeneratorRecord(
        "CTGAN", "0.12", {"epochs": 300, "dims": [128, 128]}
    )
    assert release.dp == PrivacyClaim(1.0, None, "add_remove")
    assert release.thresholds == Policy(require=("exact_matches <= 0.001",))
    assert release.review_date == "2027-01-31"
    assert release.indirect_identifiers == ("age", "sex")


def test_it_is_made_again_of_what_it_states(release):
    assert Release.from_dict(release.to_dict()) == release
    assert Release().to_dict() == {}
    assert Release.from_dict({}) == Release()


def test_what_is_missing_is_named(release):
    facts = release.facts()
    assert facts["Intruder"] == NOT_STATED
    assert facts["Generator"] == "CTGAN 0.12 (epochs=300, dims=[128, 128])"
    claim = f"epsilon 1, delta {NOT_STATED}, add or remove"
    assert facts["DP claim"] == claim
    unstated = ("data set", "intruder", "unit protected", "population", "decided by")
    assert release.missing == unstated
    assert len(Release().missing) == len(facts) + 2  # title and thresholds are shown elsewhere


def test_all_faults_at_once(tmp_path):
    (path := tmp_path / "release.toml").write_text(
        'recipent = "x"\ntitle = 3\nrelease_model = "publik"\nreview_date = "soon"\n'
        '[dp]\nepsilon = nan\n[generator]\nnam = "y"\n[thresholds]\nrequire = ["tstr"]\n',
        encoding="utf-8",
    )
    with raises(InvalidParameterError):
        Release.from_toml(path)


@pytest.mark.parametrize(
    "content",
    [
        {"title": "a" * 501},
        {"title": "a\x1b[2J"},
        {"direct_identifiers": ["a"] * 101},
        {"direct_identifiers": [3]},
        {"direct_identifiers": 0},
        {"generator": "CTGAN"},
        {"generator": {"parameters": {str(i): i for i in range(51)}}},
        {"generator": {"parameters": {"a": float("inf")}}},
        {"generator": {"parameters": {"a": 10**400}}},
        {"generator": {"parameters": {"a": {"b": 1}}}},
        {"generator": {"parameters": {"a": [[1]]}}},
        {"dp": {"delta": 1.0}},
        {"dp": {"epsilon": True}},
        {"thresholds": ["leak"]},
        {"thresholds": {"fail_on": ["leak"] * 101}},
        {"thresholds": {"fail_on": ["leek"]}},
    ],
)
def test_what_is_refused(content):
    with raises(InvalidParameterError):
        Release.from_dict(content)


def test_the_class_refuses_the_same():
    with raises(InvalidParameterError):
        Release(unit="person")


def test_texts_are_on_one_line():
    assert Release(purpose="to teach\n  and to test\t").purpose == "to teach and to test"


@pytest.mark.parametrize("date", [dt.date(2027, 1, 31), dt.datetime(2027, 1, 31, 9), "2027-01-31"])
def test_dates(date):
    assert Release(review_date=date).review_date == "2027-01-31"


def test_what_is_taken_for_a_release(tmp_path, release):
    assert Release.of(None) is None
    assert Release.of(release) is release
    assert Release.of({"title": "a"}) == Release(title="a")
    with raises(InvalidParameterError):
        Release.of(tmp_path / "absent.toml")


# ------------------------------------------------------------------------------- in results


@pytest.fixture(scope="module")
def results():
    suite = MetricSuite([("ks", KSComplement())]).fit(make_mixed(100, random_state=0))
    return suite.evaluate(make_mixed(100, random_state=1), date="2026-11-22")


def test_json_keeps_it(results, release):
    stated = SuiteResult.from_json(results.to_json())
    assert stated.provenance.release is None
    stated.provenance = dataclasses.replace(stated.provenance, release=release)
    again = SuiteResult.from_json(stated.to_json())
    assert again.provenance.release == release
    assert again.to_json() == stated.to_json()


def test_json_without_a_release_is_as_it_was(results):
    assert "release" not in results.to_dict()["provenance"]


def test_a_suite_takes_it_in_any_form(tmp_path):
    suite = MetricSuite([("ks", KSComplement())]).fit(make_mixed(100, random_state=0))
    table = make_mixed(100, random_state=1)
    (path := tmp_path / "release.toml").write_text('title = "T"', encoding="utf-8")
    for given in (path, {"title": "T"}, Release(title="T")):
        assert suite.evaluate(table, release=given).provenance.release == Release(title="T")
    compared = suite.compare({"a": table, "b": table}, release=path)
    assert {one.provenance.release.title for one in compared.values()} == {"T"}
    agreed = {"thresholds": {"require": ["tstr >= 0.9"]}}
    for call in (suite.evaluate, suite.compare):
        with raises(InvalidParameterError):
            call({"a": table, "b": table}, release=agreed)


@pytest.mark.slow
def test_a_report_takes_it(tmp_path):
    train, synthetic = (make_mixed(100, random_state=seed) for seed in range(2))
    suite, path = MetricSuite([("ks", KSComplement())]), tmp_path / "r.html"
    written = partial(report, train, None, path=path, suite=suite, release={"title": "T"})
    assert written(synthetic).provenance.release == Release(title="T")
    assert "<title>T" in path.read_text(encoding="utf-8")
    compared = written({"a": synthetic, "b": synthetic[::-1]})
    assert {one.provenance.release.title for one in compared.values()} == {"T"}


def test_its_thresholds_are_held(results):
    agreed = Policy(fail_on=(), require=("ks >= 0.999",))
    assert_release(results, Policy(fail_on=()))
    with raises(AssertionError):
        assert_release(results, Policy(fail_on=()), release=Release(thresholds=agreed))
    stated = dataclasses.replace(results.provenance, release=Release(thresholds=agreed))
    kept = SuiteResult(dict(results), sizes=results.sizes, provenance=stated)
    with raises(AssertionError):
        assert_release(kept, Policy(fail_on=()))
    agreed = {"fail_on": [], "require": ["ks > 0.1"]}
    assert_release(kept, Policy(fail_on=()), release=Release(thresholds=agreed))


def test_release_cannot_weaken_the_default_policy(results):
    """No metric of privacy is in these results, whatever their release asks for."""
    agreed = Policy(fail_on=(), require=("ks > 0.1",), level=1e-3)
    with raises(AssertionError):
        assert_release(results, release=Release(thresholds=agreed))
