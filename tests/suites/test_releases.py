from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.privacy import AttributeInferenceRisk, ExactMatchShare, MembershipInference
from skeval.results.several import SeveralReleases
from skeval.suites.releases import several_releases


def leaky(train, seed, n_copied):
    """Return fresh rows of which some are copies of train."""
    fresh = make_mixed(len(train), random_state=1000 + seed)
    copied = train.sample(n_copied, random_state=seed)
    return pd.concat([fresh[n_copied:], copied], ignore_index=True)


def fitted(seed=0, n_rows=200, *more):
    train, holdout = (make_mixed(n_rows, random_state=2 * seed + i) for i in range(2))
    return train, MetricSuite([("copies", ExactMatchShare()), *more]).fit(train, holdout)


def test_faint_leaks_are_found_together():
    train, suite = fitted()
    found = several_releases(suite, {str(i): leaky(train, i, 3) for i in range(4)})
    assert all(one["copies"].p_value > 0.05 for one in found.each.values())
    assert found.together["copies"].p_value < 0.005
    assert found.frame().loc[("copies", "together"), "p_value"] == found.together["copies"].p_value


@pytest.mark.parametrize(
    ("claims", "total"), [({"a": 1.0, "b": 0.5}, 1.5), ({"a": 1.0}, None), (None, None)]
)
def test_claims_add_up_if_each_release_has_one(claims, total):
    train, suite = fitted(n_rows=30)
    assert several_releases(suite, {"a": train, "b": train}, epsilons=claims).epsilon == total


def test_they_are_rebuilt_from_their_json(tmp_path):
    train, suite = fitted(n_rows=30)
    found = several_releases(suite, {"a": train, "b": train}, epsilons={"a": 1.0, "b": 0.5})
    text = found.to_json(tmp_path / "several.json")
    read = SeveralReleases.from_json(tmp_path / "several.json")
    assert read.to_json() == text
    assert read.sentence == found.sentence
    pd.testing.assert_frame_equal(read.frame(), found.frame())
    assert read.to_html(tmp_path / "page.html").stat().st_size > 1000


def test_a_file_of_something_else_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "scores.json").write_text(fitted(n_rows=30)[1].evaluate(make_mixed(30)).to_json())
    with pytest.raises(InvalidParameterError, match=r"scores\.json holds no results that Several"):
        SeveralReleases.from_json(tmp_path / "scores.json")


@pytest.mark.parametrize(
    ("names", "claims", "said"),
    [
        (["a"], None, "two or more"),
        (["a", "together"], None, "none named"),
        (["a", "b"], {"c": 1.0}, "name of a release"),
        (["a", "b"], {"a": -1.0}, "at least 0"),
    ],
)
def test_one_sentence_for_bad_input(names, claims, said):
    with pytest.raises(InvalidParameterError, match=said):
        several_releases(MetricSuite([]), dict.fromkeys(names), epsilons=claims)


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_false_alarms_of_unions():
    p_values = []
    for seed in range(100, 160):
        more = ("mia", MembershipInference()), ("aia", AttributeInferenceRisk("plan"))
        _, suite = fitted(seed, 150, *more)
        fresh = {str(i): make_mixed(150, random_state=10_000 + 10 * seed + i) for i in range(3)}
        found = several_releases(suite, fresh).together
        p_values.append([found[name].p_value for name in ("copies", "mia", "aia")])
    assert np.all(np.mean(np.array(p_values, dtype=float) <= 0.05, axis=0) <= 0.13)
