"""Copies of generators with seeds and parameters of their own."""

from __future__ import annotations

import joblib
import pandas as pd
import pytest

from skeval.datasets import make_mixed
from skeval.generators import GeneratorAdapter, RandomForestImputation
from skeval.generators.adapter import seeded_copy, unknown_parameters

TRAIN = make_mixed(40, random_state=0)


class Fixed:
    """A generator with a seed of its own."""

    fitted = 0

    def __init__(self, random_state=0):
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"random_state": self.random_state}

    def set_params(self, **params):
        self.random_state = params["random_state"]
        return self

    def fit(self, table):
        self.fitted += 1

    def sample(self, n):
        return pd.DataFrame({"x": [float(self.random_state)] * n})


def fit_nothing(table):
    return None


def sample_nothing(model, n, seed):
    return pd.DataFrame({"x": [float(seed)] * n})


KINDS = {
    "object": Fixed(3),
    "class": Fixed,
    "adapter": GeneratorAdapter(Fixed(3)),
    "adapter of a class": GeneratorAdapter(Fixed, parameters={"random_state": 5}),
    "functions": (fit_nothing, sample_nothing),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_generator_gets_the_seed_of_the_fit(name):
    before = joblib.hash(KINDS[name])
    samples = {
        float(seeded_copy(KINDS[name], seed).fit(TRAIN).sample(2, random_state=seed)["x"].iloc[0])
        for seed in (11, 12)
    }
    assert samples == {11.0, 12.0}
    assert joblib.hash(KINDS[name]) == before  # what was given is not fitted, or seeded


@pytest.mark.parametrize(
    "generator",
    [
        RandomForestImputation(p=0.5),
        GeneratorAdapter(RandomForestImputation()),
        RandomForestImputation,
        GeneratorAdapter(RandomForestImputation, parameters={"n_estimators": 2}),
    ],
)
def test_parameters_are_set_by_the_names_of_the_generator(generator):
    assert unknown_parameters(generator, ["p", "epochs"]) == ["epochs"]
    adapter = seeded_copy(generator, 5, {"p": 0.25})
    assert adapter.get_params()["generator__p"] == 0.25
    assert adapter.fit(TRAIN).generator_.get_params()["random_state"] == 5


def test_generators_without_parameters():
    assert unknown_parameters((fit_nothing, sample_nothing), ["p"]) == ["p"]

    class Anything:
        def __init__(self, **settings):
            self.settings = settings

        fit = sample = __init__

    assert unknown_parameters(Anything, ["p"]) == []
