"""What MWEM of smartnoise-synth reads off the table without paying for it, an audit finds.

Left to itself, its preprocessor lists the categories of a column that it sees, and the histogram
gets a cell for each. A new category in one row then shows in the release, however small epsilon is.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import skeval
from skeval.privacy.attacks.audit_runs import Level

pytestmark = pytest.mark.peers

PEER = """
sys.path.insert(0, given["root"])
import pandas as pd
from snsynth import Synthesizer
from skeval.datasets import make_mixed
from skeval.generators import DPHistogram
from skeval.privacy import DPAudit

epsilon = given["epsilon"]
train = make_mixed(200)[["city", "plan"]].dropna().astype(str)
domain = {name: sorted(set(train[name])) for name in train}

def fit(table):
    # few iterations: a fit takes some milliseconds
    made = Synthesizer.create("mwem", epsilon=epsilon, iterations=2)
    made.fit(table, preprocessor_eps=0.0)
    return made

mwem = fit, lambda made, n: made.sample(n)
generators = {"mwem": mwem, "counts": DPHistogram(domain, epsilon)}
found = {}
for name, target in given["asked"]:
    audit = DPAudit(
        generators[name], target=target, n_runs=given["n_runs"], n_pilot=10, n_synthetic=300,
        claimed_epsilon=epsilon,
    )
    result = audit.fit(train).evaluate(train)
    found[f"{name} {target}"] = {"value": result.value, **result.details}
"""
EPSILON, N_RUNS = 1.0, 40


@pytest.fixture(scope="module")
def audits(peer):
    asked = [("mwem", "canary"), ("mwem", "repeat"), ("counts", "canary")]
    root = str(Path(skeval.__file__).parents[1])
    given = {"root": root, "asked": asked, "n_runs": N_RUNS, "epsilon": EPSILON}
    return peer("smartnoise", PEER, given)


def test_runs_that_are_needed_to_refute_the_claim():
    """Of a guesser who is never wrong; the audits have more than twice as many for one who is."""
    level = Level(0.0, 0.95, "cp")
    assert level.ceiling(11) < EPSILON < level.ceiling(12)


def test_inferred_categories_break_the_promise(audits):
    found = audits["mwem canary"]
    assert found["verdict"] == "violation"
    assert found["n_false_positives"] == 0  # without the row there is no such category
    assert found["n_true_positives"] > N_RUNS / 2


def test_without_a_new_category_nothing_is_found(audits):
    assert audits["mwem repeat"]["verdict"] != "violation"


def test_a_public_domain_keeps_the_promise(audits):
    assert audits["counts canary"]["verdict"] != "violation"
