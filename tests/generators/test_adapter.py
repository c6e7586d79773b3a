"""Any generator as an estimator: kinds, seeds, parameters, rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, NotRememberedError, TableError
from skeval.generators import (
    Bootstrap,
    GaussianCopula,
    GeneratorAdapter,
    RandomForestImputation,
)

TRAIN = make_mixed(120)


class Nameless:
    """A generator of no library, which draws from the global generator."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, table):
        self.mean = table["x"].mean() + np.random.random() + self.shift

    def sample(self, n):
        return pd.DataFrame({"x": self.mean + np.random.random(n)})


def fit_mean(table, seed):
    return table["x"].mean() + np.random.default_rng(seed).random()


def sample_mean(model, n, random_state):
    return pd.DataFrame({"x": model + np.random.default_rng(random_state).random(n)})


NUMBERS = pd.DataFrame({"x": np.arange(10.0)})
KINDS = {
    "an estimator": (GaussianCopula(), TRAIN),
    "a class": (Bootstrap, TRAIN),
    "an object": (Nameless(), NUMBERS),
    "functions": ((fit_mean, sample_mean), NUMBERS),
}


@pytest.mark.parametrize("name", KINDS)
def test_same_seeds_same_rows(name):
    generator, train = KINDS[name]
    before = np.random.get_state()[1].copy()
    first, again, other = (
        GeneratorAdapter(generator, random_state=seed).fit(train).sample(7) for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize("name", KINDS)
def test_clones_and_leaves_the_generator_alone(name):
    generator, train = KINDS[name]
    adapter = GeneratorAdapter(generator, random_state=3)
    copy = clone(adapter)
    assert copy.random_state == 3
    adapter.fit(train)
    assert not hasattr(generator, "mean")
    assert not hasattr(generator, "columns_")
    with pytest.raises(NotFittedError):
        clone(adapter).sample(1)
    pd.testing.assert_frame_equal(copy.fit(train).sample(4), adapter.sample(4))


def test_number_of_rows_and_seed_of_a_sample():
    adapter = GeneratorAdapter(Bootstrap()).fit(TRAIN)
    assert len(adapter.sample()) == len(TRAIN)
    pd.testing.assert_frame_equal(adapter.sample(5, random_state=9), adapter.sample(5, 9))
    assert not adapter.sample(5, 9).equals(adapter.sample(5, 8))
    with pytest.raises(InvalidParameterError, match="n must be at least 1"):
        adapter.sample(0)


def test_parameters_of_the_generator():
    adapter = GeneratorAdapter(RandomForestImputation(p=0.3))
    assert adapter.get_params()["generator__p"] == 0.3
    adapter.set_params(generator__p=0.6, random_state=4)
    assert adapter.generator.p == 0.6
    assert adapter.random_state == 4
    assert clone(adapter).generator.p == 0.6
    of_class = GeneratorAdapter(RandomForestImputation).set_params(generator__p=0.9)
    assert of_class.get_params()["generator__p"] == 0.9
    assert of_class.fit(TRAIN).generator_.p == 0.9
    assert of_class.generator is RandomForestImputation
    with pytest.raises(InvalidParameterError, match="no parameter model__p"):
        adapter.set_params(model__p=1)
    with pytest.raises(InvalidParameterError, match="Nameless has no set_params"):
        GeneratorAdapter(Nameless()).set_params(generator__shift=1.0)
    shifted = GeneratorAdapter(Nameless, parameters={"shift": 100.0}).fit(NUMBERS)
    assert shifted.sample(3)["x"].min() > 100


def test_pickles_hold_no_training_rows():
    adapter = GeneratorAdapter(GaussianCopula()).fit(TRAIN)
    again = pickle.loads(pickle.dumps(adapter))
    pd.testing.assert_frame_equal(again.sample(5), adapter.sample(5))
    with pytest.raises(NotRememberedError, match="were forgotten"):
        again.train_rows()
    adapter.remember_rows_ = True
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(adapter)).train_rows(), TRAIN)
    assert adapter.forget() is adapter
    with pytest.raises(NotRememberedError):
        adapter.sample()  # as many as there were training rows: nobody knows any more
    assert len(adapter.sample(3)) == 3


def test_what_is_no_generator():
    with pytest.raises(InvalidParameterError, match="must be an object with fit and sample"):
        GeneratorAdapter("ctgan").fit(TRAIN)
    with pytest.raises(InvalidParameterError, match="arguments of a class"):
        GeneratorAdapter(GaussianCopula(), parameters={"a": 1}).fit(TRAIN)
    with pytest.raises(TableError, match="was asked for 5 rows and gave 2"):
        GeneratorAdapter((fit_mean, lambda model, n: NUMBERS.iloc[:2])).fit(NUMBERS).sample(5)
    with pytest.raises(TableError, match="synthetic must be"):
        GeneratorAdapter((fit_mean, lambda model, n: [1, 2])).fit(NUMBERS).sample(2)
    with pytest.raises(TableError, match="train must be"):
        GeneratorAdapter(Bootstrap()).fit([1, 2])
