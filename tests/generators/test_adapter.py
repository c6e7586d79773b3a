"""Any generator as an estimator: kinds, seeds, parameters, rows."""

from __future__ import annotations

import copy
import pickle
import traceback

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from skeval.datasets import make_mixed
from skeval.exceptions import (
    GeneratorFailedError,
    InvalidParameterError,
    NotRememberedError,
    TableError,
)
from skeval.fidelity import KSComplement
from skeval.generators import (
    Bootstrap,
    DPHistogram,
    GaussianCopula,
    GeneratorAdapter,
    RandomForestImputation,
    SequentialCART,
)
from skeval.model_selection import make_generator_scorer
from tests.snapshots import raises

TRAIN = make_mixed(120)


class Nameless:
    """A generator of no library, which draws from the global generator."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, table):
        self.mean = table["x"].mean() + np.random.random() + self.shift

    def sample(self, n):
        return pd.DataFrame({"x": self.mean + np.random.random(n)})


class Spoiler:
    """A generator that works in its table."""

    def fit(self, table):
        self.fit_rows(table)

    @staticmethod
    def fit_rows(table):
        table.iloc[0, 0] = 99
        table.loc[1, "plan"] = None
        table["new"] = 1
        table.pop("income")

    def sample(self, n):
        return TRAIN[:n]


class Seeded(BaseEstimator):
    """A generator whose seeds have other names than scikit-learn's."""

    def __init__(self, seed=None, model=None):
        self.seed = seed
        self.model = model

    def fit(self, table):
        self.own = np.random.default_rng(self.seed).random()
        self.public = np.random.random()
        return self

    def sample(self, n):
        return pd.DataFrame({"x": np.full(n, self.own)})


class Unseeded(BaseEstimator):
    """A generator with parameters, none of which is a seed."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, table):
        self.public = np.random.random()

    def sample(self, n):
        return pd.DataFrame({"x": np.full(n, self.public)})


class Returning:
    """A generator whose fit returns something."""

    def __init__(self, returned):
        self.returned = returned

    def fit(self, table):
        self.fitted = True
        return self.returned

    def sample(self, n):
        return pd.DataFrame({"x": np.zeros(n)})


def fit_nothing(table):
    return None


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
    unfitted = clone(adapter)
    assert unfitted.random_state == 3
    adapter.fit(train)
    assert not hasattr(generator, "mean")
    assert not hasattr(generator, "columns_")
    with pytest.raises(NotFittedError):
        clone(adapter).sample(1)
    pd.testing.assert_frame_equal(unfitted.fit(train).sample(4), adapter.sample(4))


def test_number_of_rows_and_seed_of_a_sample():
    adapter = GeneratorAdapter(Bootstrap()).fit(TRAIN)
    assert len(adapter.sample()) == len(TRAIN)
    pd.testing.assert_frame_equal(adapter.sample(5, random_state=9), adapter.sample(5, 9))
    assert not adapter.sample(5, 9).equals(adapter.sample(5, 8))
    assert len(adapter.sample(np.int64(3))) == 3
    for n in (0, -1, "10", 10.0, True, [3]):
        with raises(InvalidParameterError):
            adapter.sample(n)
    with raises(InvalidParameterError):
        adapter.sample("10", random_state=0.5)


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
    with raises(InvalidParameterError):
        adapter.set_params(model__p=1)
    with raises(InvalidParameterError):
        GeneratorAdapter(Nameless()).set_params(generator__shift=1.0)
    shifted = GeneratorAdapter(Nameless, parameters={"shift": 100.0}).fit(NUMBERS)
    assert shifted.sample(3)["x"].min() > 100


def test_pickles_hold_no_training_rows():
    adapter = GeneratorAdapter(GaussianCopula()).fit(TRAIN)
    again = pickle.loads(pickle.dumps(adapter))
    pd.testing.assert_frame_equal(again.sample(5), adapter.sample(5))
    with raises(NotRememberedError):
        again.train_rows()
    adapter.remember_rows_ = True
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(adapter)).train_rows(), TRAIN)
    assert adapter.forget() is adapter
    with pytest.raises(NotRememberedError):
        adapter.train_rows()
    # how many rows there were is no row
    assert len(adapter.sample()) == len(again.sample()) == adapter.n_rows_ == len(TRAIN)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_hold_the_training_rows(copied):
    adapter = GeneratorAdapter(GaussianCopula()).fit(TRAIN)
    again = copied(adapter)
    pd.testing.assert_frame_equal(again.train_rows(), TRAIN)
    pd.testing.assert_frame_equal(again.sample(5), adapter.sample(5))
    assert not again.remember_rows_
    again.forget()
    pd.testing.assert_frame_equal(adapter.train_rows(), TRAIN)
    assert not hasattr(copied(again), "train_")
    assert copied(GeneratorAdapter(Bootstrap(), random_state=5)).random_state == 5
    deep = copied is copy.deepcopy
    assert (copied(adapter).train_ is not adapter.train_) is deep


def test_estimators_that_come_back_from_other_processes():
    """They sample, as many rows as they learnt from, and cannot be scored."""
    scorer = make_generator_scorer(KSComplement())
    adapter = GeneratorAdapter(Bootstrap()).fit(TRAIN[:100])
    assert np.isfinite(scorer(adapter, TRAIN[100:]))
    again = pickle.loads(pickle.dumps(adapter))
    assert len(again.sample()) == 100
    with pytest.raises(NotRememberedError):
        scorer(again, TRAIN[100:])


@pytest.mark.parametrize("generator", [Spoiler(), (Spoiler.fit_rows, lambda model, n: TRAIN[:n])])
def test_generators_cannot_change_what_is_measured(generator):
    given = TRAIN.copy()
    adapter = GeneratorAdapter(generator).fit(given)
    pd.testing.assert_frame_equal(adapter.train_rows(), TRAIN)
    pd.testing.assert_frame_equal(given, TRAIN)


def test_a_parameter_named_seed_is_set():
    first, again, other = (
        GeneratorAdapter(Seeded(model=Seeded()), random_state=seed).fit(NUMBERS).generator_
        for seed in (1, 1, 2)
    )
    assert first.seed == first.model.seed == 1
    assert first.own == again.own != other.own
    fixed = GeneratorAdapter(Seeded(seed=7), random_state=1).fit(NUMBERS).generator_
    assert fixed.seed == 7


@pytest.mark.parametrize("generator", [Unseeded(), Seeded(seed=7), Seeded(7, Seeded())])
def test_the_global_generator_is_seeded_where_no_seed_was_set(generator):
    """A generator may have a seed of its own, and yet draw from elsewhere."""
    before = np.random.get_state()[1].copy()
    first, again, other = (
        GeneratorAdapter(generator, random_state=seed).fit(NUMBERS).generator_ for seed in (1, 1, 2)
    )
    assert first.public == again.public != other.public
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize("name", KINDS)
def test_no_seed_no_equal_rows(name):
    generator, train = KINDS[name]
    adapter = GeneratorAdapter(generator, random_state=None)
    first, again = (clone(adapter).fit(train) for _ in range(2))
    assert not first.sample(7).equals(again.sample(7))
    assert not first.sample(7).equals(first.sample(7))
    pd.testing.assert_frame_equal(first.sample(7, 5), first.sample(7, 5))


def test_no_seed_leaves_those_of_the_generator():
    adapter = GeneratorAdapter(GaussianCopula(random_state=3), random_state=None).fit(TRAIN)
    assert adapter.generator_.random_state == 3
    pd.testing.assert_frame_equal(adapter.sample(7), adapter.sample(7))
    place = np.random.get_state()[2]
    GeneratorAdapter(Nameless(), random_state=None).fit(NUMBERS)
    assert np.random.get_state()[2] != place  # neither seeded nor put back


@pytest.mark.parametrize(
    "seed", [np.random.RandomState(0), np.random.default_rng(0), "0", 0.5, -1, True, 2**32]
)
def test_seeds_are_whole_numbers_or_none(seed):
    with raises(InvalidParameterError):
        GeneratorAdapter(Bootstrap(), random_state=seed).fit(TRAIN)
    with raises(InvalidParameterError):
        GeneratorAdapter(Bootstrap()).fit(TRAIN).sample(3, random_state=seed)


def test_the_largest_seed_is_taken():
    first, again = (
        GeneratorAdapter(Nameless(), random_state=seed).fit(NUMBERS).sample(3)
        for seed in (2**32 - 1, np.int64(2**32 - 1))
    )
    pd.testing.assert_frame_equal(first, again)


def test_all_faults_at_once():
    with raises(InvalidParameterError):
        GeneratorAdapter(3, parameters=[1], random_state="x").fit(TRAIN)


@pytest.mark.parametrize("returned", [{"loss": [1]}, pd.DataFrame({"loss": [1]}), 3, [1], "done"])
def test_what_fit_returns_may_be_no_generator(returned):
    rows = GeneratorAdapter(Returning(returned)).fit(NUMBERS).sample(4)
    assert rows["x"].tolist() == [0.0] * 4


def test_what_fit_returns_may_be_the_fitted_generator():
    rows = GeneratorAdapter(Returning(Nameless())).fit(NUMBERS)
    assert isinstance(rows.generator_, Nameless)


class TestLabels:
    WHOLE = pd.DataFrame(np.random.default_rng(0).random((30, 3)))
    PAIRS = WHOLE.set_axis(
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), axis="columns"
    )

    @pytest.mark.parametrize("train", [WHOLE, PAIRS], ids=["whole", "pairs"])
    def test_are_those_of_the_table(self, train):
        adapter = GeneratorAdapter(Bootstrap()).fit(train)
        pd.testing.assert_index_equal(adapter.train_.columns, train.columns)
        pd.testing.assert_index_equal(adapter.sample(4).columns, train.columns, exact="equiv")
        pd.testing.assert_index_equal(adapter.columns_, train.columns)

    def test_name_columns_to_the_generator(self):
        adapter = GeneratorAdapter(SequentialCART(order=[1])).fit(self.WHOLE)
        assert adapter.sample(4).columns.tolist() == [0, 1, 2]

    def test_come_back_where_the_generator_lost_them(self):
        domain = {name: [0.0, 0.5, 1.0] for name in (2, 0, 1)}
        adapter = GeneratorAdapter(DPHistogram(domain)).fit(self.WHOLE)
        assert adapter.sample(4).columns.tolist() == [2, 0, 1]
        other = GeneratorAdapter((fit_nothing, lambda model, n: NUMBERS[:n])).fit(self.WHOLE)
        assert other.sample(4).columns.tolist() == ["x"]

    def test_do_not_matter_to_what_is_measured(self):
        adapter = GeneratorAdapter(SequentialCART())
        named = self.WHOLE.set_axis(["0", "1", "2"], axis="columns")
        scores = [
            make_generator_scorer(KSComplement())(adapter.fit(train[:20]), holdout[20:])
            for train in (self.WHOLE, named)
            for holdout in (self.WHOLE, named)
        ]
        assert len(set(scores)) == 1

    def test_that_are_one_as_strings(self):
        with raises(TableError):
            GeneratorAdapter(Bootstrap()).fit(self.WHOLE.set_axis([1, "1", 2], axis="columns"))


class TestDifferentialPrivacy:
    """The noise of a generator is drawn anew only where nothing seeds it."""

    ROWS = pd.DataFrame({"x": ["a", "b"] * 50})
    GENERATOR = DPHistogram({"x": ["a", "b"]}, epsilon=0.1)

    def counts(self, rows, **settings):
        return GeneratorAdapter(self.GENERATOR, **settings).fit(rows).generator_.counts_

    def test_a_known_seed_takes_off_the_noise(self):
        change = self.counts(self.ROWS) - self.counts(self.ROWS[1:])
        assert change.tolist() == [1, 0]

    def test_no_seed_keeps_the_noise(self):
        found = {tuple(self.counts(self.ROWS, random_state=None)) for _ in range(20)}
        assert len(found) > 15
        assert (
            GeneratorAdapter(self.GENERATOR, random_state=None)
            .fit(self.ROWS)
            .generator_.random_state
            is None
        )


def test_what_is_no_generator():
    with raises(InvalidParameterError):
        GeneratorAdapter("ctgan").fit(TRAIN)
    with raises(InvalidParameterError):
        GeneratorAdapter(GaussianCopula(), parameters={"a": 1}).fit(TRAIN)
    with raises(TableError):
        GeneratorAdapter((fit_mean, lambda model, n: NUMBERS.iloc[:2])).fit(NUMBERS).sample(5)
    with raises(TableError):
        GeneratorAdapter((fit_mean, lambda model, n: [1, 2])).fit(NUMBERS).sample(2)
    with raises(TableError):
        GeneratorAdapter(Bootstrap()).fit([1, 2])


class Epochs:
    """Counts its epochs, and raises what quotes a cell; its class is what users of SDV pass."""

    def __init__(self, epochs=2, *, fault="", **more):
        self.epochs, self.fault = epochs, fault

    def fit(self, train, discrete_columns=()):
        self.rows = train
        if self.fault == "fit":
            raise TypeError(f"cannot convert {train.iloc[0, 0]} of Zedekiah")

    def sample(self, n):
        if self.fault == "sample":
            raise KeyError("Zedekiah")
        return self.rows.sample(n, replace=True)


def test_a_class_lists_its_own_parameters():
    adapter = GeneratorAdapter(Epochs)
    assert adapter.get_params()["generator__epochs"] == 2
    adapter.set_params(generator__epochs=5)
    assert adapter.parameters == {"epochs": 5}
    assert clone(adapter).fit(make_mixed(20)).generator_.epochs == 5


def test_a_name_that_the_class_does_not_take_fails_at_once():
    adapter = GeneratorAdapter(Nameless)
    with raises(InvalidParameterError):
        adapter.set_params(generator__epoch=1)
    assert GeneratorAdapter(Epochs).set_params(generator__more=1).parameters == {"more": 1}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:One or more of the train scores are non-finite")
def test_successive_halving_over_a_parameter_of_a_class():
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    search = HalvingGridSearchCV(
        GeneratorAdapter(Epochs),
        {"generator__fault": ["", "none"]},
        resource="generator__epochs",
        factor=2,
        max_resources=8,
        min_resources=2,
        scoring=make_generator_scorer(KSComplement()),
        cv=2,
    ).fit(make_mixed(60))
    assert search.cv_results_["param_generator__epochs"].tolist() == [2, 2, 4]


@pytest.mark.parametrize("fault", ["fit", "sample"])
@pytest.mark.parametrize("of_class", [True, False])
def test_errors_of_generators_carry_no_cells(fault, of_class):
    generator = Epochs if of_class else Epochs(fault=fault)
    adapter = GeneratorAdapter(generator, parameters={"fault": fault} if of_class else None)
    with pytest.raises(GeneratorFailedError) as raised:
        adapter.fit(make_mixed(20)).sample(5)
    shown = "".join(traceback.format_exception(raised.value))
    assert f"{fault} of Epochs raised" in shown
    assert f"({fault})" in shown
    assert ("pair of functions" in shown) == (fault == "fit")
    assert "Zedekiah" not in shown
    assert "Zedekiah" in str(raised.value.__context__)


def test_functions_that_fail_carry_no_cells():
    def fit(train):
        raise ValueError("Zedekiah")

    with raises(GeneratorFailedError) as raised:
        GeneratorAdapter((fit, lambda model, n: model)).fit(make_mixed(20))
    assert "Zedekiah" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_logs_of_searches_carry_no_cells():
    search = GridSearchCV(
        GeneratorAdapter(Epochs),
        {"generator__fault": ["", "fit"]},
        scoring=make_generator_scorer(KSComplement()),
        cv=2,
    )
    with pytest.warns(FitFailedWarning, match="GeneratorFailedError") as told:
        search.fit(make_mixed(60))
    assert search.best_params_ == {"generator__fault": ""}
    assert not any("Zedekiah" in str(warning.message) for warning in told)
