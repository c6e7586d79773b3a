"""The adapter takes SDV's synthesizers, of 1.x and of 2.x, and `schema=` its metadata.

Each runs in an interpreter of its own, SKEVAL_PEER_SDV and SKEVAL_PEER_SDV1, with this skeval.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skeval

pytestmark = pytest.mark.peers

ROOT = str(Path(skeval.__file__).parents[1])
START = """
sys.path.insert(0, given["root"])
import pickle
import sdv
from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from skeval import MetricSuite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.generators import GeneratorAdapter
from skeval.generators.clients import detect_metadata
from skeval.model_selection import cross_validate_generator, make_generator_scorer
from skeval.privacy import DCRShare

train = make_mixed(300)
found = {"version": int(sdv.__version__.split(".")[0])}
"""
COPULA = (
    START
    + """
adapter = GeneratorAdapter(GaussianCopulaSynthesizer).fit(train)
rows = adapter.sample(50)
again = clone(adapter).fit(train)
found["dtypes"] = [str(a) == str(b) for a, b in zip(train.dtypes, rows.dtypes)]
found["same fit"] = again.sample(50).equals(rows)
found["same seed"] = adapter.sample(9, 1).equals(adapter.sample(9, 1))
found["other seed"] = adapter.sample(9, 1).equals(adapter.sample(9, 2))
found["pickled"] = len(pickle.loads(pickle.dumps(adapter)).sample(3))
suite = MetricSuite([("ks", KSComplement()), ("share", DCRShare())])
frame = cross_validate_generator(adapter, train, suite, cv=2).frame()
found["ks"] = float(frame.loc["ks", "mean"])
"""
)
CTGAN = (
    START
    + """
metadata = detect_metadata(train)
metadata.validate()
adapter = GeneratorAdapter(CTGANSynthesizer(metadata, epochs=1))
adapter.set_params(generator__epochs=2)
found["epochs"] = [adapter.get_params()["generator__epochs"], adapter.generator.get_parameters()["epochs"]]
first, again = (clone(adapter).fit(train).sample(20) for _ in range(2))
found["same fit"] = first.equals(again)
search = GridSearchCV(
    GeneratorAdapter(CTGANSynthesizer, parameters={"enable_gpu": False} if found["version"] > 1 else None),
    {"generator__epochs": [1, 2]},
    scoring=make_generator_scorer(KSComplement()),
    cv=2,
).fit(train)
found["scores"] = [float(score) for score in search.cv_results_["mean_test_score"]]
found["untouched"] = search.best_estimator_.generator is CTGANSynthesizer
"""
)


@pytest.fixture(params=["sdv", "sdv1"])
def sdv(request, peer):
    """Return what runs a script beside SDV; that of 1.x only where an interpreter has it."""
    name = request.param
    if name == "sdv1" and "SKEVAL_PEER_SDV1" not in os.environ:
        name = "sdv"

    def asked(script):
        found = peer(name, script, {"root": ROOT})
        assert found["version"] == (1 if name == "sdv1" else 2)
        return found

    return asked


def test_gaussian_copula(sdv):
    found = sdv(COPULA)
    assert all(found["dtypes"])
    assert found["same fit"]
    assert found["same seed"]
    assert not found["other seed"]
    assert found["pickled"] == 3
    assert found["ks"] > 0.8


def test_ctgan(sdv):
    found = sdv(CTGAN)
    assert found["epochs"] == [2, 2]
    assert found["same fit"]
    assert len(found["scores"]) == 2
    assert all(0.4 < score < 1 for score in found["scores"])
    assert found["untouched"]


METADATA = """
sys.path.insert(0, given["root"])
import sdv
from sdv.metadata import Metadata
from skeval import make_suite
from skeval.datasets import make_mixed

train, fresh = (
    make_mixed(150, random_state=seed).assign(person=[f"P{i:04d}" for i in range(150)])
    for seed in (0, 1)
)
metadata = Metadata.detect_from_dataframes({"people": train})
suite = make_suite("fidelity").fit(train, schema=metadata)
found = {
    "version": int(sdv.__version__.split(".")[0]),
    "kinds": dict(suite.context_.schema.kinds),
    "key": list(suite.context_.schema.primary_key),
    "measured": [name for name, one in suite.evaluate(fresh).items() if one.value > 0.5],
}
"""


def test_detected_metadata_are_a_schema(sdv):
    found = sdv(METADATA)
    kinds = dict.fromkeys(["age", "income"], "continuous") | {"plan": "categorical"}
    assert kinds.items() <= found["kinds"].items()
    assert found["kinds"]["joined"] == "datetime"
    assert found["kinds"]["person"] == "id"
    assert found["kinds"]["city"] == "text"  # SDV takes names of cities for personal data
    assert found["key"] == ["person"]
    assert "ks_complement" in found["measured"]
