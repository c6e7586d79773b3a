"""Suites compose as pipelines do: nested, added, switched off, named by themselves, searched."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skeval import MetricSuite, OverallScore, Policy, make_suite, report
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import KSComplement, TVComplement
from skeval.generators import Bootstrap, GeneratorAdapter, RandomForestImputation, SequentialCART
from skeval.model_selection import make_generator_scorer
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.utility import TSTR
from tests.notebook import cell_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(120, random_state=seed) for seed in range(3))


def of_columns():
    return MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])


def nested(**settings):
    leaks = MetricSuite({"dcr": DCRShare(), "exact": ExactMatchShare()})
    return MetricSuite([("leaks", leaks), ("ks", KSComplement())], **settings)


def values(suite):
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    return {name: (one.value, one.baseline) for name, one in result.items()}


@pytest.mark.slow
def test_a_nested_suite_has_the_values_of_its_metrics():
    found = values(nested())
    assert list(found) == ["leaks/dcr", "leaks/exact", "ks"]
    alone = DCRShare().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert found["leaks/dcr"] == (alone.value, alone.baseline)
    deep = MetricSuite([("all", nested())])
    assert values(deep) == {f"all/{name}": value for name, value in found.items()}


@pytest.mark.slow
def test_parameters_of_nested_suites_are_reached_by_name():
    suite = nested()
    assert suite.get_params()["leaks__dcr__space"] == "gower"
    suite.set_params(leaks__dcr__space="euclidean", leaks__n_jobs=2)
    copied = clone(suite)
    assert copied.get_params()["leaks__dcr__space"] == "euclidean"
    assert copied["leaks"] is not suite["leaks"]
    assert copied["leaks"]["dcr"] is not suite["leaks"]["dcr"]
    assert copied["leaks"].n_jobs == 2
    with raises(InvalidParameterError):
        suite.set_params(leaks__dc=1)
    euclidean = DCRShare(space="euclidean").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert values(suite)["leaks/dcr"][0] == euclidean.value
    assert suite["leaks/dcr"].context_ is suite.context_
    assert suite.named_metrics["ks"] is suite["ks"]


@pytest.mark.parametrize("outer", [None, "gower"])
@pytest.mark.slow
def test_the_outer_space_holds_and_else_that_of_the_nested_suite(outer):
    suite = nested(space=outer).set_params(leaks__space="euclidean")
    expected = DCRShare(space=outer or "euclidean").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC).value
    assert values(suite)["leaks/dcr"][0] == expected


@pytest.mark.slow
def test_one_preprocessor_for_all():
    of_types = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age", "income"]),
            ("levels", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["plan"]),
        ]
    )
    tables = [table.dropna() for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    suite = nested(space=of_types).fit(*tables[:2])
    alone = DCRShare(space=of_types).fit(*tables[:2])
    assert suite.evaluate(tables[2])["leaks/dcr"].value == alone.score(tables[2])


@pytest.mark.slow
@pytest.mark.parametrize("make", [list, dict])
def test_a_metric_is_switched_off_and_on(make):
    suite = MetricSuite(make([("ks", KSComplement()), ("tv", TVComplement())]))
    suite.set_params(ks="passthrough")
    assert list(values(suite)) == ["tv"]
    assert clone(suite).get_params()["ks"] == "passthrough"
    assert type(suite.metrics) is make
    assert list(values(suite.set_params(ks=KSComplement(), tv="passthrough"))) == ["ks"]
    assert list(values(nested().set_params(leaks__dcr="passthrough"))) == ["leaks/exact", "ks"]
    assert list(values(nested().set_params(leaks="passthrough"))) == ["ks"]
    assert "passthrough" in cell_of(suite)
    for wrong in (None, "drop", 3):
        with raises(InvalidParameterError):
            suite.set_params(ks=wrong)


def test_a_metric_set_anew_keeps_what_is_set_within():
    suite = of_columns().set_params(ks=KSComplement(), ks__columns=["age"])
    assert suite["ks"].columns == ["age"]
    suite.set_params(metrics=[("a", KSComplement())])
    assert len(suite) == 1
    assert suite.set_params(metrics={"b": TVComplement()}, b="passthrough").all_metrics == []


@pytest.mark.slow
def test_suites_add():
    first, second = of_columns(), MetricSuite([("dcr", DCRShare())], n_jobs=2)
    both = first + second
    assert values(both) == values(first) | values(second)
    assert (second + first).n_jobs == 2
    assert (make_suite("screens") + first).optional == ("text",)
    with raises(InvalidParameterError):
        first + of_columns()
    with raises(InvalidParameterError):
        first + second.set_params(space="euclidean")
    with pytest.raises(TypeError):
        first + KSComplement()


@pytest.mark.slow
def test_a_dict_is_taken_and_cloned():
    of_dict = MetricSuite({"ks": KSComplement(), "tv": TVComplement()})
    assert values(of_dict) == values(of_columns())
    copied = clone(of_dict)
    assert copied.metrics["ks"] is not of_dict.metrics["ks"]
    assert of_dict[:1].all_metrics[0][0] == "ks"
    assert of_dict[1] is of_dict.metrics_["tv"]
    assert pickle.loads(pickle.dumps(of_dict)).get_params()["tv"].columns is None


@pytest.mark.slow
def test_metrics_are_named_as_make_pipeline_names_steps():
    suite = make_suite([KSComplement(), TVComplement(), KSComplement(columns=["age"])], n_jobs=2)
    assert [name for name, _ in suite.metrics] == [
        "ks_complement-1",
        "tv_complement",
        "ks_complement-2",
    ]
    assert suite.n_jobs == 2
    assert list(values(make_suite([of_columns(), DCRShare()]))) == [
        "metric_suite/ks",
        "metric_suite/tv",
        "dcr_share",
    ]
    assert list(make_suite({"a": DCRShare()}).metrics) == ["a"]


def test_metrics_by_name_are_those_of_the_shell():
    suite = make_suite(["ks_complement", "DCRShare", "NewRowSynthesis"])
    kinds = [(name, type(one).__name__) for name, one in suite.metrics]
    assert kinds == [
        ("ks_complement", "KSComplement"),
        ("dcr_share", "DCRShare"),
        ("new_row_share", "NewRowShare"),
    ]


def test_an_unknown_metric_of_a_suite_is_a_key_error_that_names_a_near_one():
    suite = make_suite([KSComplement(), DCRShare()])
    with raises(KeyError):
        suite["dcr_shares"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_suite([KSComplement()], target="age"),
        lambda: make_suite(["ks_complemant"]),
        lambda: make_suite(["tstr"]),
        lambda: MetricSuite([KSComplement()]).fit(TRAIN),
        lambda: MetricSuite(3).fit(TRAIN),
        lambda: MetricSuite([("a", MetricSuite([("b", 3)]))]).fit(TRAIN),
        lambda: make_suite("KSComplement"),
    ],
)
def test_what_is_no_suite_is_refused(call):
    with raises(InvalidParameterError):
        call()


@pytest.mark.slow
def test_optional_needs_are_those_of_each_suite():
    suite = MetricSuite([("all", make_suite("screens")), ("ks", KSComplement())], on_error="raise")
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert not [name for name, one in result.items() if one.error]
    assert {"all/" + n for n, _ in make_suite("screens").metrics} > set(result) - {"ks"}


@pytest.mark.slow
def test_a_nested_suite_is_reported_and_gated(tmp_path):
    suite = nested()
    result = report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "r.html", suite=suite, progress=False)
    assert "DCR share" in (tmp_path / "r.html").read_text()
    assert result.verdict().n_tests >= 2
    policy = Policy(fail_on=(), require=("ks >= 0.5", "leaks/dcr < 0.1"))
    assert [outcome.passed for outcome in policy.judge(result)] == [True, True, False]


@pytest.mark.slow
def test_score_is_the_mean_of_a_aspect_or_says_why_not():
    suite = of_columns().fit(TRAIN, HOLDOUT)
    expected = OverallScore().score(suite.evaluate(SYNTHETIC))["fidelity"]
    assert suite.score(SYNTHETIC) == suite.score(SYNTHETIC, "fidelity") == expected
    with raises(InvalidParameterError):
        suite.score(SYNTHETIC, aspect="utility")
    both = nested().fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        both.score(SYNTHETIC)
    assert 0 <= both.score(SYNTHETIC, aspect="privacy") <= 1
    without = MetricSuite([("dcr", DCRShare())]).fit(TRAIN)
    with warns(MetricWarning):
        assert np.isnan(without.score(SYNTHETIC))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generator", "grid"),
    [
        (Bootstrap(random_state=0), {"random_state": [0, 1]}),
        (RandomForestImputation(n_estimators=3, random_state=0), {"p": [0.2, 0.8]}),
    ],
)
def test_own_generators_are_searched_unwrapped(generator, grid):
    settings = {"scoring": make_generator_scorer(KSComplement()), "cv": 2}
    table = make_mixed(90, random_state=5)
    search = GridSearchCV(generator, grid, **settings, error_score="raise").fit(table)
    wrapped = GridSearchCV(
        GeneratorAdapter(generator, random_state=None),
        {f"generator__{name}": steps for name, steps in grid.items()},
        **settings,
    )
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    if "p" in grid:  # the adapter has a seed of its own for others
        assert scores.tolist() == wrapped.fit(table).cv_results_["mean_test_score"].tolist()
    rows = search.best_estimator_.train_rows()
    assert len(rows) == len(table)
    in_pipeline = GridSearchCV(
        Pipeline([("made", generator)]), {"made__random_state": [0]}, **settings
    )
    assert np.isfinite(in_pipeline.fit(table).best_score_)


@pytest.mark.slow
def test_a_suite_searches_an_own_generator():
    suite = MetricSuite([("columns", of_columns()), ("tstr", TSTR("member"))], check_holdout=False)
    scoring = make_generator_scorer(suite)
    assert set(scoring.directions()) == {"columns/ks", "columns/tv", "tstr"}
    search = GridSearchCV(
        SequentialCART(random_state=0),
        {"min_samples_leaf": [3, 30]},
        scoring=scoring,
        cv=2,
        refit="columns/ks",
    )
    assert np.isfinite(search.fit(make_mixed(90, random_state=5)).best_score_)


def test_what_a_generator_learned_from_is_none_of_its_state():
    fitted = Bootstrap().fit(TRAIN)
    assert fitted.train_rows().equals(TRAIN)
    assert all(value is not fitted.train_rows() for value in vars(clone(fitted)).values())
