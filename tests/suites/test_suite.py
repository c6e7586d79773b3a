from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from skeval import (
    Context,
    Metric,
    MetricSuite,
    MetricTags,
    SuiteResult,
    compare,
    evaluate_draws,
    make_suite,
    report,
)
from skeval.core.catalogue import metrics_of_package
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import (
    InvalidParameterError,
    MetricFailedWarning,
    MissingInputError,
    NotRememberedError,
)
from skeval.fidelity import KSComplement, SimilarityScore, TVComplement
from skeval.privacy import DCRBaselineProtection, DCROverfittingProtection, DCRShare, PrivacyScore
from skeval.relational import RelationalContext
from skeval.suites.presets import PRESETS
from skeval.text import VocabularySimilarity
from tests.notebook import cell_of
from tests.snapshots import raises, warns

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*with fewer than 50 of either"
)  # few rows are quick
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))
EVERYTHING = [name for name, metric in make_suite().metrics if "text" not in metric.tags.needs]


class Broken(Metric):
    """Raises."""

    tags = MetricTags("validity")

    def _compute(self, context):
        raise ZeroDivisionError(f"of course, not {context.train['income'].max()}")


@pytest.fixture
def counted(monkeypatch):
    """Count how often each shared step runs on each context."""
    runs = Counter()
    recall = Context.recall
    alive = []  # an identity is one context's as long as it lives

    def counting(self, key, compute):
        memo = self._memo  # of the context, and of each view that a step gets of it

        def counted_once(view):
            alive.append((self.real, memo))
            runs[id(self.real), id(memo), key] += 1
            return compute(view)

        return recall(self, key, counted_once)

    monkeypatch.setattr(Context, "recall", counting)
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_shared_step_runs_once(counted, n_jobs):
    suite = make_suite(n_jobs=n_jobs).fit(TRAIN, HOLDOUT)
    first = suite.evaluate(SYNTHETIC)
    assert set(counted.values()) == {1}
    steps = Counter(key[0].__name__ for _, _, key in counted)
    assert {"_nearest", "encoded_matrix", "codes", "pooled_masses", "reference_index"} <= set(steps)
    assert len(first) == len(EVERYTHING)


@pytest.mark.slow
def test_real_rows_are_searched_once_for_all_synthetic_tables(counted):
    suite = make_suite().fit(TRAIN, HOLDOUT)
    suite.evaluate(SYNTHETIC)
    on_real = Counter(key for _, _, key in counted)
    suite.evaluate(SYNTHETIC.iloc[::-1])
    again = Counter(key for _, _, key in counted)
    kept = {"reference_index", "cells", "ranges", "holdout_in_place"}
    of_real = [key for key in on_real if key[0].__name__ in kept and (str, "synthetic") not in key]
    assert {key[0].__name__ for key in of_real} == kept
    for key in of_real:
        assert again[key] == on_real[key]


@pytest.mark.slow
def test_values_are_those_of_each_metric_alone():
    result = make_suite(n_jobs=2).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    for name in result:
        metric = dict(make_suite().metrics)[name]
        alone = metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
        assert {**alone.to_dict(), "seconds": 0} == {**result[name].to_dict(), "seconds": 0}


def test_parameters_are_reached_by_name():
    suite = MetricSuite([("a", SimilarityScore(n_bins=5)), ("b", TVComplement())])
    assert suite.get_params()["a__n_bins"] == 5
    suite.set_params(a__n_bins=7, b=KSComplement())
    assert suite["a"].n_bins == 7
    assert isinstance(suite["b"], KSComplement)
    assert clone(suite).get_params()["a__n_bins"] == 7
    assert len(suite) == 2


def test_fits_clones():
    metric = KSComplement()
    suite = MetricSuite([("ks", metric)]).fit(TRAIN)
    assert not hasattr(metric, "context_")
    assert suite["ks"] is suite.metrics_["ks"] is not metric


@pytest.mark.slow
def test_metrics_without_their_needs_are_skipped_with_the_reason():
    result = make_suite().fit(TRAIN).evaluate(SYNTHETIC)
    assert np.isnan(result["dcr_overfitting"].value)
    assert "requires holdout data" in result["dcr_overfitting"].error
    assert result["ks_complement"].baseline is None
    assert result.sizes == {"train": 150, "synthetic": 150}
    with raises(MissingInputError):
        DCROverfittingProtection().fit(TRAIN)
    with raises(MissingInputError):
        PrivacyScore(mode="holdout").fit(TRAIN)


def test_a_failing_metric_does_not_lose_the_others():
    suite = MetricSuite([("bad", Broken()), ("ks", KSComplement())]).fit(TRAIN)
    with warns(MetricFailedWarning) as given:
        result = suite.evaluate(SYNTHETIC)
    # a foreign message may quote a cell of the data: that is neither logged nor saved
    cell = str(TRAIN["income"].max())
    assert cell not in str(given[0].message)
    assert cell not in result.to_json()
    assert str(given[0].message) == f"bad failed: {result['bad'].error}"
    assert 0 < result["ks"].value <= 1
    with pytest.raises(ZeroDivisionError):
        suite.set_params(on_error="raise").evaluate(SYNTHETIC)


def test_progress_is_told():
    seen = []
    suite = MetricSuite([("a", PrivacyScore()), ("b", DCRBaselineProtection())])
    suite.fit(TRAIN, HOLDOUT)
    suite.evaluate(SYNTHETIC, progress=lambda *told: seen.append(told))
    assert seen == [("a", 1, 2), ("b", 2, 2)]


@pytest.mark.parametrize(
    "metrics",
    [
        [("a", KSComplement()), ("a", TVComplement())],
        [("a__b", KSComplement())],
        [("a", "ks")],
        [KSComplement()],
    ],
)
def test_faulty_suites(metrics):
    with raises(ValueError):
        MetricSuite(metrics).fit(TRAIN)


def test_unfitted():
    with pytest.raises(NotFittedError):
        MetricSuite([("ks", KSComplement())]).evaluate(SYNTHETIC)


def test_unknown_preset():
    with raises(InvalidParameterError):
        make_suite("everything")


def test_random_state_reaches_the_metrics():
    assert make_suite(random_state=7)["membership"].random_state == 7


@pytest.mark.slow
def test_pickle_holds_no_rows():
    suite = make_suite("fidelity").fit(TRAIN, HOLDOUT)
    suite.evaluate(SYNTHETIC)
    with pytest.raises(NotRememberedError):
        pickle.loads(pickle.dumps(suite)).evaluate(SYNTHETIC)


def test_html_diagram():
    html = cell_of(make_suite())
    assert "KSComplement" in html
    assert "RecordReconstruction" in html


def test_baseline_is_the_holdout_in_the_synthetic_place():
    train, holdout = TRAIN, HOLDOUT.iloc[:60]
    result = KSComplement().fit(train, holdout).evaluate(SYNTHETIC)
    assert result.baseline == KSComplement().fit(train).score(holdout)
    at = result.details["at_baseline_size"]
    assert at["n_rows"] == 60
    assert abs(at["value"] - result.value) < 0.1
    assert set(result.details["baseline_columns"]) == set(result.details["columns"])


def test_baseline_has_no_more_rows_than_the_synthetic_table():
    result = KSComplement().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC.iloc[:50])
    assert "at_baseline_size" not in result.details
    assert result.baseline < KSComplement().fit(TRAIN).score(HOLDOUT) + 0.1


def test_a_holdout_that_copies_train_warns_at_fit():
    with warns(UserWarning):
        KSComplement().fit(TRAIN, TRAIN)


def test_columns_that_are_not_in_the_table():
    with raises(InvalidParameterError):
        KSComplement(columns=["nope"]).fit(TRAIN).score(SYNTHETIC)


def test_names_of_no_column_are_one_error_of_the_whole_suite():
    with raises(InvalidParameterError):
        make_suite("utility", target="salary", sensitive="sex").fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        MetricSuite(
            [
                ("ks", KSComplement(columns=["age", "no"])),
                ("tv", TVComplement(columns=["nope", "no"])),
                ("overfitting", DCROverfittingProtection()),
            ]
        ).fit(TRAIN)
    # what is skipped for want of a holdout is no excuse of a wrong name
    with raises(InvalidParameterError):
        MetricSuite([("dcr", DCROverfittingProtection(columns=["nope"]))]).fit(TRAIN)


def test_a_suite_still_leaves_out_what_the_table_does_not_suit():
    suite = make_suite("utility", target="plan").fit(TRAIN, HOLDOUT)
    assert {"precision_efficacy", "recall_efficacy", "coefficients"} <= set(suite.skipped_)
    assert "tstr" in suite.metrics_


@pytest.mark.parametrize(
    "suite",
    [make_suite("utility", target="incme"), make_suite("report", quasi_identifiers=["citi"])],
    ids=["target", "known"],
)
def test_a_misspelt_column_is_not_a_column_and_the_near_one_is_offered(suite):
    with raises(InvalidParameterError):
        suite.fit(TRAIN, HOLDOUT)


def test_a_column_of_text_is_a_column_that_cannot_be_measured():
    tables = [
        table.assign(note=[f"{name} wrote note number {i}" for i in range(len(table))])
        for name, table in (("Ann", TRAIN), ("Bob", HOLDOUT))
    ]
    with raises(InvalidParameterError):
        KSComplement(columns=["note"]).fit(*tables, schema={"note": "text"})


@pytest.mark.parametrize("tables", [3, [1, 2], {"a": 1, "b": 2}])
def test_what_is_no_mapping_of_results_is_not_compared(tables):
    with raises(InvalidParameterError):
        compare(tables)
    with raises(InvalidParameterError):
        SuiteResult({}).compare(tables)


def test_an_error_lists_some_of_many_columns():
    table = pd.DataFrame({f"c{i}": [1.0, 2.0] for i in range(30)})
    with raises(InvalidParameterError):
        KSComplement(columns=["nope"]).fit(table)


class Aimed(Metric):
    """Needs a target, and says nothing of its parameters."""

    tags = MetricTags("utility", needs=frozenset({"target"}))

    def __init__(self, target=None):
        self.target = target

    def _compute(self, context):
        return float(context.train[self.target].isna().mean())


def test_a_target_that_is_wrong_and_one_that_is_lacking():
    assert Aimed("age").fit(TRAIN).score(SYNTHETIC) >= 0.0
    with raises(InvalidParameterError):
        Aimed("salary").fit(TRAIN)
    with raises(MissingInputError):
        Aimed().fit(TRAIN)
    assert "needs a target" in MetricSuite([("aimed", Aimed())]).fit(TRAIN).skipped_["aimed"]


def test_columns_by_number_and_name():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0], "c": [1.0, 2.0]})
    first_two = KSComplement(columns=2).fit(table).evaluate(table).details["columns"]
    named = KSComplement(columns=["c", "a"]).fit(table).evaluate(table).details["columns"]
    assert (list(first_two), list(named)) == (["a", "b"], ["a", "c"])


def test_a_suite_may_be_changed_after_fit():
    suite = MetricSuite([("ks", KSComplement())]).fit(TRAIN)
    suite.metrics.append(("tv", TVComplement()))
    assert list(suite.evaluate(SYNTHETIC)) == ["ks"]
    assert isinstance(suite["tv"], TVComplement)
    assert make_suite().fit(TRAIN)["dcr_overfitting"].get_params()["ties"] == "pool"


@pytest.mark.filterwarnings("ignore::skeval.exceptions.DegenerateInputWarning")
@pytest.mark.slow
def test_a_table_of_texts_only():
    texts = [f"a remark of more than five words, number {i}" for i in range(60)]
    tables = [pd.DataFrame({"note": texts[i : i + 20]}) for i in (0, 20, 40)]
    suite = make_suite().fit(*tables[:2], schema={"note": "text"})
    with warns(UserWarning):
        result = suite.evaluate(tables[2])
    measured = {name: one.value for name, one in result.items() if not np.isnan(one.value)}
    assert measured["exact_matches"] == measured["near_duplicates"] == 0.0  # compared whole
    others = {name for name in measured if "text" not in result[name].tags.needs}
    assert others == {"exact_matches", "near_duplicates", "table_structure", "missing_values"}
    assert any("ignore the text columns: note" in str(notice) for notice in result.notices)
    assert [name for name, found in result.items() if found.error] == ["anonymeter"]


@pytest.mark.slow
def test_optional_needs_are_left_away_without_a_word():
    metrics = [("words", VocabularySimilarity()), ("shares", DCRShare()), ("ks", KSComplement())]
    for optional, names in (((), ["words", "shares", "ks"]), (("text",), ["shares", "ks"])):
        suite = MetricSuite(metrics, optional=optional).fit(TRAIN)
        result = suite.evaluate(SYNTHETIC)
        assert list(result) == names
        assert set(suite.skipped_) == {"words", "shares"}
        assert result["shares"].error  # of a holdout, which is not optional
    noted = [table.assign(note="a b c") for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    suite = MetricSuite(metrics, optional=("text",)).fit(*noted[:2], schema={"note": "text"})
    assert list(suite.evaluate(noted[2])) == ["words", "shares", "ks"]
    with raises(InvalidParameterError):
        MetricSuite(metrics, optional=("texts",)).fit(TRAIN)


class Nothing(Metric):
    """Forgets to return."""

    tags = MetricTags("validity")

    def _compute(self, context):
        pass


class NoTags(Metric):
    """Has no tags."""

    def _compute(self, context):
        return 1.0


def test_faulty_metrics_are_told_so():
    with raises(TypeError):
        Nothing().fit(TRAIN).score(SYNTHETIC)
    with raises(InvalidParameterError):
        NoTags().fit(TRAIN)


@pytest.mark.slow
def test_equal_choices_of_columns_are_searched_once(counted):
    names = list(TRAIN.columns)
    metrics = [
        (f"m{i}", PrivacyScore(columns=c)) for i, c in enumerate((None, 100, names, tuple(names)))
    ]

    def n_searches():
        return sum(key[0].__name__ == "_nearest" for _, _, key in counted)

    MetricSuite(metrics[:1]).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    alone = n_searches()
    MetricSuite(metrics).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert n_searches() == 2 * alone > 0


def test_a_fitted_metric_can_be_copied():
    import copy

    fitted = KSComplement().fit(TRAIN, HOLDOUT)
    assert copy.deepcopy(fitted).score(SYNTHETIC) == fitted.score(SYNTHETIC)


def test_a_suite_draws_its_metrics_beside_each_other():
    suite = make_suite("privacy")
    page = cell_of(suite)
    for name, _ in suite.metrics:
        assert name in page


def test_a_suite_is_a_block_in_the_diagram_of_what_holds_it():
    assert "privacy_score" in estimator_html_repr(make_pipeline(make_suite("privacy")))


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_every_preset_runs(preset):
    suite = make_suite(preset, target="member", sensitive="plan")
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert not any(found.error for found in result.values())
    undefined = {name for name, found in result.items() if np.isnan(found.value)}
    # the table has no key, and groups too few rows
    assert undefined <= {"data_validity/key_uniqueness", "equalized_odds"}


def test_utility_needs_a_target():
    with raises(InvalidParameterError):
        make_suite("utility")
    several = make_suite("utility", target="plan").fit(TRAIN, HOLDOUT)
    assert set(several.skipped_) == {"precision_efficacy", "recall_efficacy", "coefficients"}
    names = [name for name, _ in make_suite("report", target="age").metrics]
    assert names.index("tstr") < names.index("membership")
    assert "tstr" not in [name for name, _ in make_suite("report").metrics]


def test_privacy_holds_screens_attacks_and_an_audit():
    names = {p: [n for n, _ in make_suite(p).metrics] for p in ("privacy", "screens", "attacks")}
    assert names["privacy"] == [*names["screens"], *names["attacks"], "one_run_audit"]
    with_secret = [n for n, _ in make_suite("attacks", sensitive="plan").metrics]
    assert set(with_secret) - set(names["attacks"]) == {"attribute_inference"}


def test_screens_hold_every_distance_screen():
    screens = {type(metric) for _, metric in make_suite("screens").metrics}
    kinds = {kind.__name__ for kind in screens if "text" not in kind.tags.needs}
    exported = {
        name
        for name, metric in metrics_of_package("skeval.privacy").items()
        if metric.tags.evidence == "screen"
    }
    assert kinds == exported - {"IdenticalMatchShare"}  # that of exact matches, counted otherwise
    assert {kind.__name__ for kind in screens} - kinds == {
        "EntityLeakage",
        "LongestCommonSubstring",
        "NGramNovelty",
        "NearDuplicateText",
        "StylisticOutliers",
        "TextExactMatch",
    }


def test_seed_goes_to_all():
    suite = make_suite("screens", random_state=7)
    seeds = [m.random_state for _, m in suite.metrics if "random_state" in m.get_params()]
    assert set(seeds) == {7}


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_properties_of_the_diagnostic_suite():
    keyed = TRAIN.assign(key=np.arange(len(TRAIN)))
    broken = SYNTHETIC.assign(key=np.arange(len(SYNTHETIC)) // 2).drop(columns="city")
    suite = make_suite("diagnostic").fit(keyed, schema={"key": "id"})
    result = suite.evaluate(broken)
    properties = result.properties()
    assert list(properties.index) == ["data_validity", "data_structure", "overall"]
    validity = [
        score
        for name, found in result.items()
        if name.startswith("data_validity")
        for score in found.details["columns"].values()
    ]
    assert properties.loc["data_validity", "score"] == pytest.approx(np.nanmean(validity))
    structure = result["data_structure/table_structure"].value
    assert properties.loc["data_structure", "score"] == pytest.approx(structure)
    assert structure < 1.0
    again = SuiteResult.from_dict(result.to_dict()).properties()
    pd.testing.assert_frame_equal(again, properties)


class Mean(Metric):
    """Mean of x."""

    tags = MetricTags("fidelity", greater_is_better=None)

    def _compute(self, context):
        return float(context.synthetic["x"].mean())


COUNTED = pd.DataFrame({"x": np.arange(50.0)})


def drawn(seed: int, n_rows: int = 40) -> pd.DataFrame:
    return pd.DataFrame({"x": np.random.default_rng(seed).normal(7.0, 1.0, n_rows)})


def test_the_interval_is_students():
    draws = [drawn(seed) for seed in range(6)]
    table = evaluate_draws(Mean().fit(COUNTED), draws).loc["Mean"]
    values = [draw["x"].mean() for draw in draws]
    theirs = ttest_1samp(values, 0).confidence_interval()
    assert table["mean"] == pytest.approx(np.mean(values))
    assert table["sd"] == pytest.approx(np.std(values, ddof=1))
    assert (table["low"], table["high"]) == pytest.approx((theirs.low, theirs.high))
    assert table["n_draws"] == 6


@pytest.mark.slow
def test_a_suite_has_a_row_a_metric():
    suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    suite.fit(make_mixed(random_state=0), make_mixed(random_state=1))
    table = evaluate_draws(suite, (make_mixed(random_state=seed) for seed in (2, 3, 4)))
    assert table.index.to_list() == ["ks", "tv"]
    assert (table["baseline"] > 0.8).all()
    assert (table["low"] <= table["mean"]).all()


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_draws_without_a_value_are_skipped():
    train = make_mixed(random_state=0)[["age"]]
    table = evaluate_draws(TVComplement().fit(train), [train, train])
    assert table["n_draws"].to_list() == [0]
    assert np.isnan(table["mean"].iloc[0])


def test_one_draw_tells_nothing():
    with raises(InvalidParameterError):
        evaluate_draws(Mean().fit(COUNTED), [drawn(0)])


@pytest.mark.calibration
def test_coverage_over_draws():
    metric = Mean().fit(COUNTED)
    hits = 0
    for i in range(200):
        table = evaluate_draws(metric, [drawn(100 + 5 * i + j, 20) for j in range(5)]).iloc[0]
        hits += table["low"] <= 7.0 <= table["high"]
    assert 0.91 <= hits / 200 <= 0.985


def test_places_slices_and_names():
    suite = make_suite("fidelity", n_jobs=2)
    assert suite[0] is suite["ks_complement"]
    assert suite[-1] is suite[suite.metrics[-1][0]]
    part = suite[:2]
    assert type(part) is MetricSuite
    assert [name for name, _ in part.metrics] == ["ks_complement", "tv_complement"]
    assert (part.n_jobs, part.optional) == (2, ("text",))
    assert suite.named_metrics.ks_complement is suite[0]
    fitted = MetricSuite([("ks", KSComplement())]).fit(TRAIN)
    assert fitted[0] is fitted.metrics_["ks"]
    with pytest.raises(IndexError):
        suite[99]


def test_unknown_parameters_fail_at_once():
    suite = make_suite("fidelity")
    for params in (
        {"n_job": 2},
        {"ks_complment": KSComplement()},
        {"ks_complement__space": 1},
        {"ks_complement": "drop"},
    ):
        with raises(InvalidParameterError):
            suite.set_params(**params)
    replaced = TVComplement(nan="drop")
    suite.set_params(ks_complement=replaced, n_jobs=2)
    assert suite["ks_complement"] is replaced
    suite.set_params(tv_complement=TVComplement(), tv_complement__nan="drop")
    assert suite["tv_complement"].nan == "drop"


def test_a_suite_keeps_the_schema_that_it_was_made_with():
    """Plain tables under other names: nothing but the schema tells of their keys."""
    made = make_relational(20, random_state=0)
    tables, schema = dict(made), made.schema
    suite = make_suite("quality", schema=schema)
    assert RelationalContext.of(tables).relations.foreign_keys != schema.foreign_keys
    assert suite.fit(tables).context_.relations.foreign_keys == schema.foreign_keys
    assert clone(suite).schema.to_dict() == schema.to_dict()
    assert suite[:1].schema is schema
    kinds = {"age": "categorical"}
    alone = MetricSuite([("tv", TVComplement())], schema=kinds).fit(make_mixed(50))
    assert alone.context_.schema.kinds["age"] == "categorical"
    assert alone.fit(make_mixed(50), schema={}).context_.schema.kinds["age"] == "continuous"


@pytest.mark.parametrize(
    "call",
    [
        lambda t: report(t, t),
        lambda t: report(t, t, t),
        lambda t: report(t, t, t, "r.pdf", targets="a"),
        lambda t: make_suite("report", "age"),
        lambda t: make_suite(sensitives="age"),
    ],
)
def test_calls_that_do_not_fit(call):
    with raises(InvalidParameterError):
        call(make_mixed(20))
