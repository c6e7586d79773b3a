"""A release policy: its language, its rules, and what pipelines read of them."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from skeval import MetricTags, Policy, Result, SuiteResult
from skeval.exceptions import InvalidParameterError, MetricFailedWarning, MetricWarning
from skeval.results import assert_release
from skeval.results.junit import junit
from skeval.results.requirement import Requirement
from skeval.results.verdict import Contrast
from skeval.stats.copied_rows import Copied, Copies
from tests.snapshots import raises

PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
TESTED = Contrast("rows that equal a train row", 0.9, 0.0)


def results(p_value=0.5, fact="", **more):
    screen = Result(0.1, p_value=p_value, tags=PRIVACY, contrast=TESTED, fact=fact, metric="Copies")
    tstr = Result(0.71, interval=(0.65, 0.77), baseline=0.8, metric="TSTR")
    nothing = Result(float("nan"), metric="KS", warnings=(MetricWarning("no numbers."),))
    skipped = Result(float("nan"), metric="MIA", error="needs holdout rows.")
    named = {"screen": screen, "tstr": tstr, "shapes/ks": nothing, "mia": skipped, **more}
    return SuiteResult(named, sizes={"holdout": 10})


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("tstr >= 0.95 * baseline", False),
        ("tstr >= 0.85 * baseline", True),
        ("TSTR > .7", True),
        ("0.7 < tstr < 0.72", True),
        ("low >= 0.6 and-1", None),
        ("tstr.low >= 0.6", True),
        ("tstr + low - high / 2 >= -(1 - 2)", False),
        ("value - tstr >= 0", True),
        ("tstr - screen.p_value > 0.2", True),
        ("'tstr' >= +0.1e1", False),
        ("screen.p_adjusted > 0.4", True),
        ("tstr / (baseline - 0.8) > 0", False),
        ("tstr.p_value > 0.05", False),
        ("shapes/ks > 0", False),
        ("mia < 1", False),
    ],
)
def test_requirements(text, passed):
    if passed is None:
        with pytest.raises(InvalidParameterError):
            Requirement(text)
    else:
        assert Requirement(text).judge(results()).passed is passed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tstr >= 0.95 * baseline", "tstr = 0.710, baseline = 0.800"),
        ("tstr.p_value > 0.05", "there is no tstr.p_value"),
        ("shapes/ks > 0", "shapes/ks was not evaluated: no numbers."),
        ("mia < 1", "mia was not evaluated: needs holdout rows."),
    ],
)
def test_reasons_give_the_numbers(text, reason):
    assert Requirement(text).judge(results()).reason == reason


@pytest.mark.parametrize(
    "text",
    [
        *("", "tstr", "tstr >=", "tstr = 1", "tstr == 1", "1 < 2", "value > 1", "tstr ** 9 > 1"),
        *("tstr.__class__ > 1", "__import__('os').system('x') > 1", "tstr[0] > 1", "len(tstr) > 1"),
        *("tstr > 'a' 'b'", "tstr > True", "tstr > 1 if 1 else 2", "(lambda: 1)() < tstr"),
        *("tstr.low.high > 1", "tstr in (1, 2)", "(" * 400 + "tstr", "tstr > 0" + " " * 600),
        *("\x00", "tstr > 1; 2", "tstr > 1j", "a b > 1", "tstr\n> 1\n2"),
        *("tstr > 1" + "0" * 400, "tstr > 1if 1else 2", "'\\d' > 1 is 2", "-" * 300 + "tstr"),
    ],
)
def test_what_is_no_requirement_is_refused_in_a_sentence(text):
    with pytest.raises(InvalidParameterError) as error:
        Policy(require=(text,))
    assert "\n" not in str(error.value).replace(repr(text), "")


def test_numbers_too_large_do_not_pass():
    with raises(InvalidParameterError):
        Requirement("tstr <= 1e999")
    assert not Requirement("tstr > 1e308 * 10 - 1e308 * 10").judge(results()).passed


SIMILARITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 100))


@pytest.mark.parametrize(
    "text",
    [
        "similarity >= 0.9",
        "similarity.baseline < 0.5",
        "screen <= 10",
        "10 >= screen",
        *(f"screen {rest}" for rest in (">= -5", "<= 1", "> 1", "< 0", "<= baseline + 1")),
        "screen.p_value >= 5",
        "0 <= screen <= 0.1",
        "2 * screen > 3",
        "screen.diff_high <= 1",
    ],
)
def test_requirements_that_no_result_decides_are_refused(text):
    known = results(similarity=Result(89.0, baseline=92.0, tags=SIMILARITY))
    with raises(InvalidParameterError):
        Requirement(text).judge(known)


@pytest.mark.parametrize(
    "text",
    [
        *("screen <= 0", "screen >= 1", "screen > 0", "screen < 1", "screen <= 0.01"),
        *("similarity >= 90", "similarity >= 0.9 * baseline", "similarity - baseline >= -0.5"),
        *("screen <= baseline + 0.01", "screen.p_value > 0.05", "screen / baseline <= 2"),
    ],
)
def test_requirements_that_results_decide_are_judged(text):
    known = results(similarity=Result(89.0, baseline=92.0, tags=SIMILARITY))
    Requirement(text).judge(known)


@pytest.mark.parametrize("text", ["tstr > 0.5 # and tstr < 0.6", "tstr > 0.5#"])
def test_text_behind_a_number_sign_is_refused(text):
    with raises(InvalidParameterError):
        Requirement(text)
    assert Requirement("'a#b' > 0.5").judge(results(**{"a#b": Result(0.6)})).passed


def test_nothing_is_a_fact_where_copies_were_not_counted():
    blind = SuiteResult({"tstr": Result(0.71, metric="TSTR")}, sizes={"holdout": 10})
    assert not Policy(fail_on="fact").judge(blind)[0].passed


def test_names_are_checked_before_the_work():
    with raises(InvalidParameterError):
        Policy(require=("trts > 0",)).check_names({"tstr": "TSTR"})
    with raises(InvalidParameterError):
        Policy(require=("TSTR > 0",)).check_names({"a": "TSTR", "b": "TSTR"})
    Policy(require=("TSTR > 0",)).check_names({"tstr": "TSTR"})
    Policy(require=("tstr > 0", "tstr.p_value < 1")).check_names({"TSTR": "TSTR"})


def test_a_leak_fails_and_so_does_that_nobody_looked():
    assert [outcome.passed for outcome in Policy().judge(results())] == [True, True]
    leak, *_ = Policy().judge(results(p_value=1e-4))
    assert (leak.passed, leak.reason) == (False, "alarm of screen, of 1 test")
    blind, *_ = Policy().judge(SuiteResult({"tstr": Result(0.5)}))
    assert not blind.passed
    assert "no privacy test has a result" in blind.reason


def test_copies_are_told_beside_alarms():
    found = results(p_value=1e-4)
    copies = (
        Copies("rows", Copied(30, 2), None, 0, 0),
        Copies("values of key", Copied(1, 2), None, 0, 0),
    )
    leaking = replace(found["screen"], copies=copies)
    leak, *_ = Policy().judge(SuiteResult({**found, "screen": leaking}, sizes={"holdout": 10}))
    assert not leak.passed
    assert "alarm of screen" in leak.reason
    assert copies[0].leak_sentence in leak.reason
    assert copies[1].some not in leak.reason


def test_metrics_that_make_one_test_are_named_and_counted_once():
    leaking = results(p_value=1e-4)["screen"]
    shown = Contrast("rows near train", 0.9, 0.5, tests=("near",))
    one = replace(leaking, contrast=shown)
    leak, *_ = Policy().judge(SuiteResult({"a": one, "b": one}, sizes={"holdout": 10}))
    assert leak.reason.startswith("alarm of a, b, of 1 test, each counted once")


def test_facts_and_failures():
    copied = results(fact="1 of 10 rows is a copy.")
    assert [one.passed for one in Policy(fail_on="fact").judge(copied)] == [False, True]
    failed = Result(float("nan"), error="x", warnings=(MetricFailedWarning("x"),))
    assert [one.passed for one in Policy(()).judge(results(bad=failed))] == [False]


def test_the_level_is_that_of_the_policy():
    assert not Policy().judge(results(p_value=0.03))[0].passed
    assert Policy(level=0.01).judge(results(p_value=0.03))[0].passed


@pytest.mark.parametrize(
    "content",
    [
        "fail_on = ['lek']",
        "fail = true",
        "require = 'tstr'",
        "require = 5",
        "level = 2",
        "level = ",
    ],
)
def test_faults_of_policy_files(tmp_path, content):
    (tmp_path / "policy.toml").write_text(content)
    with raises(InvalidParameterError):
        Policy.from_toml(tmp_path / "policy.toml")
    with raises(InvalidParameterError):
        Policy.from_toml(tmp_path / "none.toml")


def test_assert_release(tmp_path):
    (tmp_path / "policy.toml").write_text('fail_on = ["leak"]\nrequire = ["tstr >= 0.7"]')
    assert_release(results(), tmp_path / "policy.toml")
    assert_release(results())
    with raises(AssertionError):
        assert_release(results(), Policy(require=("tstr >= 0.9",)))
    with raises(AssertionError):
        assert_release(results(p_value=1e-4))


def test_junit_is_xml_whatever_the_names():
    outcomes = Policy(require=("'a<b&\x1b' > 1", "tstr > 0")).judge(
        results(**{"a<b&\x1b": Result(0.5)})
    )
    suite = ElementTree.fromstring(junit(outcomes).encode())
    assert suite.attrib == {"name": "skeval", "tests": "4", "failures": "1", "errors": "0"}
    assert [case.find("failure") is None for case in suite] == [True, True, False, True]


def detailed():
    details = {
        "columns": {"age": 0.9, "hours per week": 0.4, 7: 0.2},
        "curve": [[0.1, 0.2], np.array([0.3])],
        "odd": {"text": "0.5", "yes": True, "endless": "inf", "nothing": None},
    }
    return SuiteResult({"ks": Result(0.6, baseline=0.8, metric="KS", details=details)})


@pytest.mark.parametrize(
    ("text", "passed", "reason"),
    [
        ("ks.details.columns.age >= baseline", True, "ks.details.columns.age = 0.900, baseline"),
        ("ks - details.columns.age < 0", True, "ks = 0.600, details.columns.age = 0.900"),
        ("ks.details.columns.'hours per week' >= .5", False, "ks.details.columns.hours per week"),
        ("ks.details.columns.'7' < ks.details.curve.'1'.'0'", True, "'"),
        ("ks.details.odd.endless > 1e9", True, ""),
        *((f"ks.details.{n} < 9", False, f"no ks.details.{n}") for n in ("columns", "none.at.all")),
        *((f"ks.details.odd.{n} < 9", False, "there is no") for n in ("text", "yes", "nothing")),
        *((f"ks.details.curve.'{n}' < 9", False, "there is no") for n in ("2", "9" * 40, "²")),
    ],
)
def test_details_are_read_by_their_paths(text, passed, reason):
    outcome = Requirement(text).judge(detailed())
    assert outcome.passed is passed
    assert reason.strip("'") in outcome.reason


@pytest.mark.parametrize(
    "text", ["ks.details > 1", "details > ks", "ks.detail.a > 1", "ks.low.a > 1"]
)
def test_a_path_that_leads_to_no_number_is_refused(text):
    with raises(InvalidParameterError):
        Requirement(text)


def test_a_quoted_field_is_the_name_of_a_result():
    both = SuiteResult({"value": Result(0.5), "details": Result(0.6)})
    assert Requirement("'value' < 'details'").judge(both).passed


def test_all_faults_of_a_policy_are_said_at_once():
    with raises(InvalidParameterError):
        Policy(("never",), ("a", "b"), 2.0)
    with raises(InvalidParameterError):
        Policy.from_dict({"requir": []})
