"""Several synthetic tables: who is ahead, who cannot be told apart, and whose rows are lacking."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pypdf
import pytest

from skeval import Comparison, MetricSuite, MetricTags, Result, SuiteResult, compare, report
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement, SimilarityScore, TVComplement
from skeval.privacy import ExactMatchShare
from skeval.results.provenance import Provenance
from skeval.results.recommendation import Conclusion, Difference, leads
from skeval.results.release import Release
from skeval.tables.schema import TableSchema
from skeval.utility import TSTR
from tests.notebook import cell_of
from tests.snapshots import raises

HIGH = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
LOW = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
DATE = "2026-11-22"


@pytest.fixture(scope="module")
def tables():
    return [make_mixed(300, random_state=seed) for seed in range(4)]


@pytest.fixture(scope="module")
def suite(tables):
    metrics = [
        ("ks", KSComplement()),
        ("similarity", SimilarityScore()),
        ("tstr", TSTR("member", n_bootstrap=200)),
        ("matches", ExactMatchShare()),
    ]
    return MetricSuite(metrics).fit(*tables[:2])


@pytest.fixture(scope="module")
def comparison(suite, tables):
    rng = np.random.default_rng(0)
    shuffled = tables[2].apply(lambda c: c.to_numpy()[rng.permutation(len(c))])
    copies = tables[0].sample(300, replace=True, random_state=0)
    candidates = {"fresh": tables[3], "shuffled": shuffled, "copies": copies}
    return suite.compare(candidates, date=DATE)


def made(value, interval=None, tags=HIGH, **more):
    return Result(value, interval, tags=tags, **more)


@pytest.mark.slow
def test_the_copy_is_set_aside_and_the_faithful_table_chosen(comparison):
    assert comparison.leaking == ["copies"]
    assert comparison.choice() == ["fresh"]
    sentence = comparison.sentence
    assert sentence.startswith("Do not choose copies, because a leak was found. Do not choose")
    assert "Choose fresh, because only it" in sentence
    assert "Each of 3 tables is tested for leaks at 5% separately" in sentence
    assert "at least one false alarm is up to 14%" in sentence
    assert "does not prove that there is none" in sentence
    standing = comparison.standing()
    assert standing.loc["privacy", "copies"] == "leak found"
    assert standing.loc["fidelity", "shuffled"] == "behind"
    assert standing.loc["utility", "shuffled"] == "behind"


def test_metrics_say_how_their_intervals_were_found(comparison):
    by_metric = comparison.differences.groupby("metric")["interval"].first().to_dict()
    assert by_metric == {
        **dict.fromkeys(("ks", "similarity", "tstr"), "paired"),
        "matches": "independent",
    }


def test_paired_intervals_are_narrower_than_independent_ones(comparison):
    saved = compare(dict(comparison)).differences
    for metric in ("similarity", "tstr"):
        widths = [
            frame[frame["metric"] == metric].eval("high - low").mean()
            for frame in (comparison.differences, saved)
        ]
        assert widths[0] < widths[1]


@pytest.mark.slow
def test_paired_intervals_of_halves_are_narrower_on_average():
    widths = []
    for seed in range(0, 36, 3):
        train, *others = (make_mixed(300, random_state=seed + i) for i in range(3))
        suite = MetricSuite([("similarity", SimilarityScore())]).fit(train)
        found = suite.compare(dict(zip("ab", others, strict=True)))
        frames = found.differences, compare(dict(found)).differences
        widths.append([frame.eval("high - low").iloc[0] for frame in frames])
    paired, independent = np.mean(widths, axis=0)
    assert paired < independent


@pytest.mark.slow
def test_paired_intervals_are_narrower_in_most_draws_at_the_corrected_level():
    metrics = [("ks", KSComplement()), ("similarity", SimilarityScore())]
    n_narrower = 0
    for seed in range(0, 40, 4):
        train, holdout, *others = (make_mixed(300, random_state=seed + i) for i in range(4))
        suite = MetricSuite(metrics).fit(train, holdout)
        found = suite.compare({"a": others[0], "b": others[1], "copies": train.copy()})
        paired, independent = (
            frame[frame["metric"] == "similarity"].eval("high - low").mean()
            for frame in (found.differences, compare(dict(found)).differences)
        )
        n_narrower += paired < independent
    assert n_narrower >= 7


def test_nearer_to_train_than_fresh_rows_is_not_ahead(comparison):
    row = comparison.differences.query("metric == 'similarity' and first == 'fresh'").iloc[1]
    assert row["second"] == "copies"
    assert row["difference"] < 0
    assert row["ahead"] == ""


def test_values_are_those_of_each_table_alone(comparison, suite, tables):
    alone = suite.evaluate(tables[3], date=DATE)
    assert comparison["fresh"].to_json() == alone.to_json()


@pytest.mark.slow
def test_tables_of_unequal_size_are_compared_at_the_smaller(suite, tables):
    small = tables[3].head(60)
    both = suite.compare({"small": small, "whole": tables[3]}, date=DATE)
    row = both.differences.query("metric == 'similarity'").iloc[0]
    values = both["whole"]["similarity"].value, both["small"]["similarity"].value
    # of few rows the measure is lower, whatever they are like
    assert values[0] > values[1] + 2
    assert row["low"] <= 0.0 <= row["high"]


@pytest.mark.calibration
def test_alike_tables_are_seldom_told_apart():
    suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement()), ("s", SimilarityScore())])
    told, n = 0, 0
    for seed in range(0, 40, 5):
        train, holdout, *others = (make_mixed(120, random_state=seed + i) for i in range(5))
        both = suite.fit(train, holdout).compare(dict(zip("abc", others, strict=True)))
        told += (both.differences["ahead"] != "").sum()
        n += len(both.differences)
    assert told / n <= 0.05


def test_a_aspect_is_one_statement_of_all_its_metrics():
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    a, b = (
        {f"m{k}": Result(x, (x - 0.1, x + 0.1), tags=tags) for k in range(10)} for x in (0.5, 0.7)
    )
    alone = compare({name: SuiteResult({"m0": r["m0"]}) for name, r in (("a", a), ("b", b))})
    among = compare({"a": SuiteResult(a), "b": SuiteResult(b)})
    assert alone.differences["ahead"].tolist() == ["b"]
    assert among.differences["ahead"].tolist() == [""] * 10


def test_what_is_set_aside_is_named_with_the_reason():
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    values = {"a": 0.8, "b": 0.3, "c": 0.7}
    results = {
        n: SuiteResult({"m": Result(x, (x - 0.1, x + 0.1), tags=tags)}) for n, x in values.items()
    }
    said = compare(results).sentence
    assert said.startswith(
        "a and c are not distinguishable. Choose any of them, or evaluate more rows."
    )
    margin = "most clearly by m (0.800 compared with 0.300, difference 0.327 to 0.673)"
    assert f"a is ahead of b in fidelity by 1 of 1 metrics, {margin}." in said


def test_rows_that_one_side_lacks_are_named():
    a = SuiteResult({"m": made(0.5, (0.4, 0.6)), "only": made(0.1)})
    b = SuiteResult({"m": made(0.9, (0.8, 1.0)), "failed": Result(float("nan"), error="no target")})
    both = compare({"a": a, "b": b})
    assert both.lacking() == {
        "only": {"b": "not measured"},
        "failed": {"a": "not measured", "b": "no target"},
    }
    assert both.frame().loc["only", "lacking"] == "b"
    assert both.describe_tie("only") == "not in b"
    assert "Not compared in all tables: only, failed." in both.sentence
    assert both.differences["ahead"].tolist() == ["b"]


def test_directions_and_missing_intervals():
    a = SuiteResult({"low": made(0.5, (0.4, 0.6), LOW), "bare": made(0.1), "nan": made(np.nan)})
    b = SuiteResult({"low": made(0.9, (0.8, 1.0), LOW), "bare": made(0.9), "nan": made(0.9)})
    frame = compare({"a": a, "b": b}).differences.set_index("metric")
    assert frame.loc["low", "ahead"] == "a"
    assert frame.loc["bare", "said"] == "no interval"
    assert frame.loc["nan", "said"] == "no value"


def test_what_is_as_good_as_its_baseline_is_behind_none():
    a = SuiteResult({"m": made(0.80, (0.78, 0.82), baseline=0.79)})
    b = SuiteResult({"m": made(0.90, (0.88, 0.92), baseline=0.79)})
    both = compare({"a": a, "b": b})
    assert both.differences["said"].tolist() == ["both as good as the baseline"]
    assert "not distinguishable. Choose any of them" in both.sentence


def test_a_choice_between_aspects_is_left_to_the_reader():
    utility = MetricTags("utility", greater_is_better=True, bounds=(0, 1))
    a = SuiteResult({"f": made(0.9, (0.89, 0.91)), "u": made(0.2, (0.19, 0.21), utility)})
    b = SuiteResult({"f": made(0.5, (0.49, 0.51)), "u": made(0.8, (0.79, 0.81), utility)})
    both = compare({"a": a, "b": b})
    assert both.choice() == ["a", "b"]
    assert both.recommendation.outcome is Conclusion.OPEN
    clearest = "most clearly by u (0.800 compared with 0.200, difference 0.586 to 0.614)"
    assert f"b is ahead of a in utility by 1 of 1 metrics, {clearest}" in both.sentence


def releases(*values, tags=HIGH, **more):
    """Return results of releases, with the standard error 0.01."""
    return {
        f"v{i}": SuiteResult({"m": made(x, (x - 0.02, x + 0.02), tags, **more)})
        for i, x in enumerate(values, start=1)
    }


def pairs_of(falls):
    return falls[["first", "second"]].to_numpy().tolist()


def test_a_fall_is_told_where_it_happened():
    both = compare(releases(0.9, 0.91, 0.7, 0.71))
    assert list(both) == ["v1", "v2", "v3", "v4"]
    assert pairs_of(both.falls()) == [["v2", "v3"]]


def test_a_slow_fall_is_a_difference_between_tables_farther_apart():
    both = compare(releases(0.9, 0.88, 0.86, 0.84))
    assert both.falls().empty
    assert ["v1", "v4"] in pairs_of(both.differences.query("ahead == 'v1'"))


def test_a_rise_is_not_a_fall_but_of_risks_it_is():
    assert compare(releases(0.5, 0.8)).falls().empty
    assert pairs_of(compare(releases(0.5, 0.8, tags=LOW)).falls()) == [["v1", "v2"]]


def test_a_release_is_compared_with_the_last_one_that_has_the_metric():
    first, last = releases(0.9, 0.5).values()
    between = SuiteResult({"other": made(0.5)})
    assert pairs_of(compare({"v1": first, "v2": between, "v3": last}).falls()) == [["v1", "v3"]]
    assert compare({"v1": first, "v2": between}).falls().empty


def test_a_value_that_comes_nearer_to_its_baseline_has_not_fallen():
    """0.95 was closer to train than fresh rows, 0.8 is as good as they are."""
    assert compare(releases(0.95, 0.8, baseline=0.8)).falls().empty


def noise(rng, shape):
    """Return four metrics of five releases that are alike."""
    if shape == "normal":
        values = 0.6 + 0.03 * rng.normal(size=(5, 4))
        half = np.full((5, 4), 1.96 * 0.03)
    else:
        values = rng.binomial(300, 0.3, size=(5, 4)) / 300
        half = 1.96 * np.sqrt(values * (1 - values) / 300)
    return {
        f"v{i}": SuiteResult(
            {f"m{j}": made(x, (x - h, x + h)) for j, (x, h) in enumerate(zip(*row, strict=True))}
        )
        for i, row in enumerate(zip(values, half, strict=True))
    }


@pytest.mark.calibration
@pytest.mark.parametrize("shape", ["normal", "shares"])
def test_falls_are_told_in_at_most_a_twentieth_of_series_of_noise(shape):
    rng, n_series = np.random.default_rng(0), 400
    told = sum(not compare(noise(rng, shape)).falls().empty for _ in range(n_series))
    assert told / n_series <= 0.05


@pytest.mark.slow
def test_a_fall_of_six_standard_errors_is_told():
    """Of a difference: 6 times the square root of 2 of a value."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        series = noise(rng, "normal")
        x = series["v3"]["m0"].value - 6 * np.sqrt(2) * 0.03
        lower = made(x, (x - 1.96 * 0.03, x + 1.96 * 0.03))
        fallen = compare({**series, "v4": SuiteResult({**series["v4"], "m0": lower})})
        assert pairs_of(fallen.falls().query("metric == 'm0'")) == [["v3", "v4"]]


@pytest.mark.slow
def test_results_that_were_made_otherwise_are_named(suite, tables):
    a = suite.evaluate(tables[3], date=DATE)
    other = MetricSuite([("ks", KSComplement(columns=["age"]))]).fit(tables[2], tables[1])
    both = compare({"a": a, "b": other.evaluate(tables[3], date=DATE)})
    assert any("train is not the same table" in said for said in both.caveats())
    assert both.choice() == []
    assert both.sentence.startswith("The tables cannot be compared")
    assert both.recommendation.outcome is Conclusion.INCOMPARABLE
    assert set(both.differences["said"]) == {"of other real tables"}
    assert set(both.differences["ahead"]) == {""}
    assert both.falls().empty
    assert set(both.standing().to_numpy().ravel()) == {"not compared"}
    assert "Choose" not in both.sentence
    assert both.sentence.count("train is not the same table") == 1
    assert any("ks was evaluated with different parameters" in said for said in both.caveats())


@pytest.mark.slow
def test_results_of_other_kinds_of_columns_say_that(tables, tmp_path):
    path = tmp_path / "train.csv"
    tables[0].to_csv(path, index=False)
    kinds = [None, TableSchema.infer(tables[0]).with_kinds(age="categorical")]
    for files in ({}, {"train": path}):
        results = {}
        for name, schema in zip("ab", kinds, strict=True):
            suite = MetricSuite([("ks", KSComplement())]).fit(tables[0], schema=schema)
            results[name] = suite.evaluate(tables[3], date=DATE)
            results[name].provenance = results[name].provenance.with_files(files)
        both = compare(results)
        assert "read with different column types (age)" in both.sentence
        assert "not the same table" not in both.sentence
        (one,) = both.recommendation.mismatches
        known = Difference.KINDS if files else Difference.UNKNOWN
        assert (one.role, one.difference, one.columns) == ("train", known, ("age",))


UTILITY = MetricTags("utility", greater_is_better=True, bounds=(0, 1))


def released(tstr, recall, similarity, ks):
    """Return scores as a mortgage table had them: half widths of .02, and fresh rows' beside."""

    def one(value, fresh, tags, metric="", width=0.02):
        details = {"scoring": "roc_auc"} if metric == "TSTR" else {}
        ends = value - width, value + width
        return Result(value, ends, baseline=fresh, tags=tags, metric=metric, details=details)

    return SuiteResult(
        {
            "tstr": one(tstr, 0.78, replace(UTILITY, quoted="learning"), "TSTR"),
            "recall": one(recall, 0.6, UTILITY),
            "similarity": one(similarity, 0.92, replace(HIGH, quoted="similarity"), "Similarity"),
            "ks": one(ks, 0.97, HIGH),
        }
    )


def test_one_narrow_win_does_not_make_a_table_the_one_to_take():
    both = compare(
        {"gc": released(0.72, 0.40, 0.846, 0.76), "ct": released(0.71, 0.55, 0.709, 0.63)}
    )
    assert both.differences.set_index("metric")["ahead"].to_dict() == {
        "tstr": "", "recall": "ct", "similarity": "gc", "ks": "gc",
    }  # fmt: skip
    assert both.choice() == ["gc"]
    assert both.sentence.startswith(
        "Choose gc, because gc is ahead of ct in fidelity by similarity (columns and pairs) "
        "(0.846 compared with 0.709, difference 0.105 to 0.169)."
    )


@pytest.mark.parametrize(
    ("kept", "alike", "better", "by", "against"),
    [
        ((0.55, 0.65), (0.95, 0.70), "b", "relations", "similarity"),
        ((0.80, 0.95), (0.90, 0.50), "a", "similarity", "relations"),
        ((0.60, 0.80), (0.70, 0.90), "b", "relations", ""),
    ],
)
@pytest.mark.parametrize("fresh", [1.0, None])
def test_of_two_headlines_the_weaker_side_of_a_table_counts(
    kept, alike, better, by, against, fresh
):
    def scores(i):
        kinds = {"similarity": alike[i], "relations": kept[i]}
        return SuiteResult(
            {
                kind: made(x, (x - 0.02, x + 0.02), tags=replace(HIGH, quoted=kind), baseline=fresh)
                for kind, x in kinds.items()
            }
        )

    both = compare({"a": scores(0), "b": scores(1)})
    worse = "a" if better == "b" else "b"
    assert both.standing().loc["fidelity"].to_dict() == {better: "ahead", worse: "behind"}
    (lead,) = both.recommendation.leads or leads(both, both.differences, "a", "b")
    assert (lead.better, lead.headline, lead.kind, lead.against) == (better, by, by, against)
    about = {"relations": "all columns together", "similarity": "columns and pairs"}
    said = f"by {by} ({about[by]}) ("
    assert f"{better} is ahead of {worse} in fidelity {said}" in both.sentence
    though = f"), although it is behind by {against} ({about.get(against)})"
    assert (though in both.sentence) == bool(against)


def test_headlines_of_one_kind_that_disagree_leave_it_open():
    def scores(users, orders):
        tags = replace(HIGH, quoted="similarity")
        values = {"users/similarity": users, "orders/similarity": orders}
        return SuiteResult(
            {name: made(x, (x - 0.02, x + 0.02), tags=tags) for name, x in values.items()}
        )

    both = compare({"a": scores(0.9, 0.6), "b": scores(0.6, 0.9)})
    assert set(both.standing().loc["fidelity"]) == {"not distinguishable"}


def test_where_none_is_good_enough_none_is_taken():
    gc, ct = released(0.57, 0.48, 0.846, 0.76), released(0.50, 0.54, 0.709, 0.63)
    both = compare({"gc": gc, "ct": ct})
    assert both.choice() == []
    assert both.sentence.startswith("Neither is good enough: tstr of gc is 0.570, closer to")
    assert "Choose" not in both.sentence
    assert both.recommendation.outcome is Conclusion.NOT_GOOD_ENOUGH
    good = compare({"gc": gc, "good": released(0.74, 0.48, 0.709, 0.63)})
    assert good.choice() == ["good"]
    assert good.sentence.startswith("Do not choose gc: tstr of gc is 0.570")


def test_utility_counts_before_fidelity_and_what_is_lost_is_said():
    both = compare({"a": released(0.76, 0.5, 0.70, 0.7), "b": released(0.66, 0.5, 0.90, 0.9)})
    assert both.choice() == ["a"]
    margin = "(0.760 compared with 0.660, difference 0.0677 to 0.132)"
    said = f"Choose a, because a is ahead of b in utility by tstr {margin}, although b is"
    assert said in both.sentence


def agreed(results, *require):
    """Return results with thresholds that were agreed before."""
    release = Release.of({"title": "A", "thresholds": {"fail_on": [], "require": list(require)}})
    provenance = Provenance("2026-11-22", "1", release=release)
    return SuiteResult(dict(results), provenance=provenance)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_margin_is_that_of_the_better_table_in_any_order(order):
    tables = {"a": released(0.76, 0.5, 0.9, 0.9), "b": released(0.66, 0.5, 0.9, 0.9)}
    both = compare({name: tables[name] for name in order})
    assert "(0.760 compared with 0.660, difference 0.0677 to 0.132)" in both.sentence


def test_a_table_that_violates_what_was_agreed_is_not_taken():
    """The rule is judged before the headlines: the better one falls behind the threshold."""
    rule = "recall >= 0.5"
    better = agreed(released(0.76, 0.45, 0.9, 0.9), rule)
    other = agreed(released(0.70, 0.55, 0.9, 0.9), rule)
    both = compare({"better": better, "other": other})
    assert both.choice() == ["other"]
    (one,) = both.recommendation.violations
    assert (one.table, one.rule) == ("better", rule)
    assert both.sentence.startswith(
        "Do not choose better: better violates recall >= 0.5 (recall = 0.450). "
        "Choose other, because only it has no violated threshold."
    )


def test_none_is_taken_where_none_meets_what_was_agreed():
    rule = "tstr >= 0.99 * baseline"
    tables = {n: agreed(released(x, 0.5, 0.9, 0.9), rule) for n, x in {"a": 0.7, "b": 0.6}.items()}
    both = compare(tables)
    assert both.choice() == []
    assert both.recommendation.outcome is Conclusion.VIOLATED
    assert both.sentence.startswith(
        "Choose no table, because all tables violate a threshold: a violates tstr >= 0.99"
    )
    assert "b violates tstr" in both.sentence


def test_a_threshold_on_what_was_not_measured_is_violated():
    rule = "accuracy >= 0.5"
    tables = {n: agreed(released(x, 0.5, 0.9, 0.9), rule) for n, x in {"a": 0.7, "b": 0.6}.items()}
    assert compare(tables).recommendation.outcome is Conclusion.VIOLATED
    assert "It cannot be evaluated" in compare(tables).sentence


@pytest.mark.slow
def test_a_table_with_a_leak_is_never_taken_before_one_without(suite, tables):
    rng = np.random.default_rng(0)
    shuffled = tables[2].apply(lambda c: c.to_numpy()[rng.permutation(len(c))])
    both = suite.compare({"copies": tables[0], "shuffled": shuffled}, date=DATE)
    assert both.leaking == ["copies"]
    assert "copies" not in both.choice()
    assert both.recommendation.outcome is Conclusion.NOT_GOOD_ENOUGH
    twice = suite.compare({"a": tables[0], "b": tables[0]}, date=DATE)
    assert twice.recommendation.outcome is Conclusion.LEAKS
    assert twice.sentence.startswith(
        "Choose no table, because a leak was found in a and b. "
        "In a, synthetic rows that match a training row: 100%, for holdout rows 0%; in b, "
    )


def test_one_table_is_no_comparison(suite, tables):
    with raises(InvalidParameterError):
        suite.compare({"a": tables[2]})


def test_json_keeps_it(comparison):
    again = Comparison.from_dict(json.loads(comparison.to_json()))
    assert again.to_json() == comparison.to_json()
    assert again.sentence == comparison.sentence
    pd.testing.assert_frame_equal(again.differences, comparison.differences)


@pytest.mark.slow
def test_a_report_of_candidates_has_the_answer_on_its_first_page(tables, tmp_path):
    suite = MetricSuite([("ks", KSComplement()), ("matches", ExactMatchShare())])
    candidates = {"<b>fresh</b>": tables[3], "copies": tables[0]}
    train = tmp_path / "train.csv"
    tables[0].to_csv(train, index=False)
    arguments = {"suite": suite, "release": {"date": DATE}, "progress": False}
    result = report(train, tables[1], candidates, tmp_path / "a.pdf", **arguments)
    first = pypdf.PdfReader(tmp_path / "a.pdf").pages[0].extract_text()
    first = " ".join(first.split())
    assert "Only <b>fresh</b> is not ruled out." in first
    assert "copies is ruled out because a leak was found" in first
    assert result["copies"].provenance.inputs[0].file == "train.csv"
    for name in ("a.html", "b.html"):
        report(train, tables[1], candidates, tmp_path / name, **arguments)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page == (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;fresh&lt;/b&gt;" in page
    assert "<b>fresh" not in page
    cell = cell_of(result)
    assert "is not ruled out" in cell
    assert "&lt;b&gt;fresh&lt;/b&gt;" in cell


@pytest.mark.slow
def test_several_tables_are_compared_too(tmp_path):
    train, one, other = (make_relational(30, random_state=seed) for seed in range(3))
    from skeval import make_suite

    suite = make_suite("diagnostic", schema=train.schema)
    both = report(
        train, None, {"a": one, "b": other}, tmp_path / "a.html", suite=suite, progress=False
    )
    assert set(both) == {"a", "b"}


def test_two_aspects_are_drawn(comparison, suite, tables):
    assert comparison.plot().figure_.axes[0].get_xlabel().startswith("utility")
    alone = MetricSuite([("ks", KSComplement())]).fit(tables[0])
    with raises(InvalidParameterError):
        alone.compare({"a": tables[2], "b": tables[3]}).plot()


@pytest.mark.slow
def test_progress_is_told_over_all_tables(tables):
    told = []
    suite = MetricSuite([("ks", KSComplement())]).fit(tables[0])
    suite.compare({"a": tables[2], "b": tables[3]}, progress=lambda *step: told.append(step))
    assert told == [("a: ks", 1, 2), ("b: ks", 2, 2)]


def test_what_is_far_worse_in_the_table_that_is_taken_is_named():
    coefficients = made(0.1, baseline=0.9, difference=(-0.9, -0.7))
    fine = {"ks": made(0.95, baseline=0.95, difference=(-0.1, 0.1)), "coefficients": coefficients}
    leaking = {"ks": made(0.9), "m": made(0.5, tags=LOW, p_value=1e-6)}
    sentence = compare({"fine": SuiteResult(fine), "leaking": SuiteResult(leaking)}).sentence
    assert "Choose fine, because only it has no found leak." in sentence
    assert "worse than the baseline in coefficients (0.100, baseline 0.900)." in sentence


def test_tables_are_out_for_what_they_are_out_for():
    """One is short of fresh rows and leaks nothing: the other is not the only one without a leak."""
    relations = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1), quoted="relations")
    scores = {"good": 0.9, "short": 0.2, "leaking": 0.9}
    results = {
        name: SuiteResult({"relations": made(score, tags=relations, baseline=0.95)})
        for name, score in scores.items()
    }
    leak = made(0.5, tags=LOW, p_value=1e-6)
    results["leaking"] = SuiteResult({**results["leaking"], "m": leak})
    assert "Choose good, because only it" in compare(results).sentence
