"""Columns that no test of privacy examines are named, and are not passed."""

from __future__ import annotations

import uuid

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, Policy, SuiteResult
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, UnexaminedColumnsWarning
from skeval.fidelity import KSComplement
from skeval.privacy import ExactMatchShare
from skeval.results import Release
from skeval.text import TextExactMatch
from tests.report_text import report_text
from tests.snapshots import raises

N = 60
WORDS = ["all", "is", "well", "here", "and", "there", "or", "so", "it", "seems", "today"]


def table(seed):
    rng = np.random.default_rng(seed)
    remarks = [" ".join(rng.choice(WORDS, 9)) for _ in range(N)]
    keys = [f"K{number:09d}Z" for number in rng.integers(0, 10**9, N)]
    weights = rng.normal(70, 9, N)
    return make_mixed(N, random_state=seed).assign(key=keys, remark=remarks, weight=weights)


def evaluated(*metrics, schema=None):
    train, holdout, synthetic = (table(seed) for seed in range(3))
    named = [(type(one).__name__, one) for one in metrics]
    suite = MetricSuite(named, check_holdout=False).fit(train, holdout, schema=schema)
    return suite.evaluate(synthetic)


def untested(results):
    notices = [one for one in results.notices if isinstance(one, UnexaminedColumnsWarning)]
    return [name for one in notices for name in one.columns]


def test_new_keys_and_texts_that_were_compared_are_examined():
    results = evaluated(ExactMatchShare(), TextExactMatch())
    assert untested(results) == []
    assert results.verdict().outcome == "no leak found"


@pytest.mark.parametrize(
    ("metrics", "schema", "left"),
    [
        ((ExactMatchShare(),), None, ["remark"]),
        ((TextExactMatch(), ExactMatchShare(columns=2)), None, ["key", "weight"]),
        ((ExactMatchShare(), TextExactMatch()), {"weight": "id"}, ["weight"]),
    ],
)
def test_columns_that_nothing_examined_are_named_and_not_passed(metrics, schema, left):
    results = evaluated(*metrics, schema=schema)
    assert set(left) <= set(untested(results))
    verdict = results.verdict()
    assert verdict.outcome == "inconclusive"
    assert all(name in verdict.sentence for name in left)
    page = report_text(results, "decision")
    assert "No test examined" in page
    assert all(name in page for name in left)
    assert not Policy().judge(results)[0].passed
    accepted = Policy(accept_untested=tuple(untested(results)))
    assert accepted.judge(results)[0].passed
    assert not Policy(accept_untested=("other",)).judge(results)[0].passed


def test_a_column_whose_copies_were_found_in_another_notation_is_examined():
    train, holdout, synthetic = (table(seed) for seed in range(3))
    metrics = [("exact_matches", ExactMatchShare()), ("texts", TextExactMatch())]
    suite = MetricSuite(metrics, check_holdout=False).fit(train, holdout)

    def found(n_copied):
        keys = pd.concat([train.key[:n_copied], synthetic.key[n_copied:]])
        results = suite.evaluate(synthetic.assign(key=[f"{key[:4]}-{key[4:]}" for key in keys]))
        return results.verdict().outcome, untested(results)

    assert found(30) == ("copies found", [])
    assert found(0) == ("inconclusive", ["key"])


def test_a_column_of_codes_in_which_rows_were_found_is_examined():
    train, holdout, synthetic = (table(seed) for seed in range(3))
    suite = MetricSuite([("exact_matches", ExactMatchShare()), ("texts", TextExactMatch())])
    suite.set_params(check_holdout=False).fit(train, holdout)

    def found(told):
        rows = told[["income", "joined", "city", "age"]].itertuples(index=False)
        keys = [f"x {'/'.join(map(str, row))} {i}" for i, row in enumerate(rows)]
        results = suite.evaluate(synthetic.assign(key=keys))
        return results.verdict().outcome, untested(results)

    assert found(train) == ("copies found", [])
    assert found(synthetic) == ("inconclusive", ["key"])


def test_untested_columns_survive_json(tmp_path):
    results = evaluated(ExactMatchShare())
    results.to_json(tmp_path / "r.json")
    kept = SuiteResult.from_json(tmp_path / "r.json")
    assert untested(kept) == untested(results)
    assert kept.verdict() == results.verdict()


def test_suites_without_tests_of_privacy_name_no_columns():
    assert untested(evaluated(KSComplement())) == []


def test_a_release_accepts_no_untested_column():
    with raises(InvalidParameterError):
        Release(thresholds={"accept_untested": ["remark"]})
    own = Release(thresholds=Policy(accept_untested=("remark",)))
    assert own.thresholds.accept_untested == ()


def test_schema_command_names_what_no_test_examines(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": [1.5, 2.5] * 20, "b": range(40)}).to_csv("t.csv", index=False)
    (tmp_path / "s.json").write_text('{"a": "id"}')
    assert "no test examines a" in run("schema", "t.csv", "--schema", "s.json")[2]


@pytest.mark.parametrize(
    ("spell", "is_left"),
    [
        (lambda key, row: key, False),
        (lambda key, row: f"{key[:5]}/{key[5:]}", True),
        (
            lambda key, row: f"{row.age:.0f}{row.plan}{row.city}" if row.Index % 3 == 0 else key,
            True,
        ),
        (lambda key, row: f"N{row.Index:09d}", False),
        (lambda key, row: str(uuid.uuid5(uuid.NAMESPACE_OID, key)), False),
    ],
    ids=["fresh", "other signs", "cells inside", "numbered anew", "UUIDs"],
)
def test_codes_that_are_written_as_no_real_code_is_are_not_passed(spell, is_left):
    train, holdout, synthetic = (table(seed) for seed in range(3))
    rows = synthetic.itertuples()
    synthetic["key"] = [spell(key, row) for key, row in zip(synthetic["key"], rows, strict=True)]
    metrics = [("copies", ExactMatchShare()), ("texts", TextExactMatch())]
    suite = MetricSuite(metrics, check_holdout=False).fit(train, holdout)
    results = suite.evaluate(synthetic)
    assert untested(results) == (["key"] if is_left else [])
    assert (results.verdict().outcome == "inconclusive") is is_left


SYLLABLES = ["ba", "do", "fe", "gi", "ka", "lu", "mo", "na", "pe", "ri", "so", "tu"]


def named(seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(SYLLABLES, 4)).title() for _ in range(2 * N)]
    names = [f"{first} {last}" for first, last in zip(words[:N], words[N:], strict=True)]
    return make_mixed(N, random_state=seed).assign(name=names)


@pytest.mark.parametrize(
    ("spell", "is_left"),
    [
        (lambda name, row: name, False),
        (lambda name, row: f"{name.split()[0]} X. {name.split()[1]} Jr.", False),
        (lambda name, row: f"Person {row.Index}", False),
        (lambda name, row: f"{name[0]}. {row.age} {row.city} {row.joined:%Y%m%d}", True),
    ],
    ids=["fresh", "other words", "numbered anew", "cells inside"],
)
def test_names_with_digits_that_no_real_name_has_are_not_passed(spell, is_left):
    train, holdout, synthetic = (named(seed) for seed in range(3))
    synthetic = synthetic.dropna(ignore_index=True)
    rows = synthetic.itertuples()
    synthetic["name"] = [
        spell(name, row) for name, row in zip(synthetic["name"], rows, strict=True)
    ]
    suite = MetricSuite([("copies", ExactMatchShare())], check_holdout=False).fit(train, holdout)
    results = suite.evaluate(synthetic)
    assert untested(results) == (["name"] if is_left else [])
    assert (results.verdict().outcome == "inconclusive") is is_left
