from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from skeval import Context, MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.privacy.diversity import LDiversity, TCloseness
from skeval.privacy.k_anonymity import KAnonymity
from skeval.privacy.presence import DeltaPresence, KMap
from skeval.privacy.replicated_uniques import ReplicatedUniques
from tests.snapshots import raises, warns

NAMES = ["city", "plan", "member"]
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))
ALL = (KAnonymity, ReplicatedUniques, KMap, DeltaPresence, LDiversity, TCloseness)


def towns(letters, **others):
    return pd.DataFrame({"town": list(letters), **others})


def evaluate(metric, train, holdout, synthetic):
    # tables of few values share rows, which fit would warn of
    return metric.fit_context(Context.of(train, holdout)).evaluate(synthetic)


@pytest.mark.calibration
@pytest.mark.parametrize(
    "metric",
    [
        KAnonymity(NAMES),
        ReplicatedUniques(["age", "city"]),
        KMap(NAMES),
        DeltaPresence(["age", "city"]),
        LDiversity(["age", "city"], "plan"),
        LDiversity(["city"], "income", n_bins={"income": [100.0, 1000.0]}),
        TCloseness(["city"]),
        TCloseness(["city"], "income", distance="emd"),
    ],
    ids=repr,
)
def test_contract(metric):
    check_metric(metric)


@pytest.mark.calibration
@pytest.mark.parametrize("kind", [KAnonymity, LDiversity, KMap, DeltaPresence])
def test_contract_of_clusters(kind):
    upside_down = {"check_direction": "a copy covers train more evenly than noise does"}
    check_metric(
        kind(mode="cluster"),
        expected_failures=upside_down if kind in {KMap, DeltaPresence} else None,
    )


# ------------------------------------------------------------------------------- values by hand


@pytest.fixture
def illnesses():
    return towns("aabbbc", illness=list("xyxxxz"))


def test_a_row_that_stands_alone(illnesses):
    k = KAnonymity(["town"], k0=3).fit(illnesses).evaluate(illnesses)
    assert k.value == 1.0
    assert k.interval is None
    assert k.details == {
        "k": 1,
        "uniques": 1 / 6,
        "below_k0": 0.5,
        "n_classes": 3,
        "train": {"k": 1, "uniques": 1 / 6, "below_k0": 0.5, "n_classes": 3},
    }
    assert LDiversity(["town"], "illness").fit(illnesses).score(illnesses) == 1.0


def test_without_it(illnesses):
    fewer = illnesses[:5]
    k = KAnonymity(["town"]).fit(illnesses).evaluate(fewer)
    assert (k.value, k.details["uniques"], k.details["train"]["k"]) == (2.0, 0.0, 1)
    found = LDiversity(["town"], "illness").fit(illnesses).evaluate(fewer)
    assert found.value == 1.0
    assert found.details["entropy"] == {"illness": pytest.approx(1.0)}
    assert found.details["homogeneous"] == {"illness": 0.6}
    assert found.details["train"] == {"illness": 1.0}


def test_diversity_of_one_class():
    table = towns("a" * 7, illness=list("xxxxyyz"))
    found = LDiversity(["town"], "illness", c=2.0).fit(table).evaluate(table)
    shares = np.array([4, 2, 1]) / 7
    assert found.value == 3.0
    assert found.details["entropy"]["illness"] == pytest.approx(
        np.exp(-(shares * np.log(shares)).sum())
    )
    assert found.details["recursive"] == {"illness": 2}


def test_closeness():
    table = towns("aabb", illness=list("xxyy"), pain=[1.0, 1.0, 2.0, 3.0])
    found = TCloseness(["town"], "illness").fit(table).evaluate(table)
    assert (found.value, found.details["mean"]["illness"]) == (0.5, 0.5)
    assert TCloseness(["town"], "pain").fit(table).score(table) == 0.5
    assert TCloseness(["town"], "pain", distance="emd").fit(table).score(table) == 0.375
    # steps between categories mean nothing
    assert TCloseness(["town"], "illness", distance="emd").fit(table).score(table) == 0.5


def test_population():
    tables = towns("aab"), towns("abbc"), towns("abc")
    presence = evaluate(DeltaPresence(), *tables)
    assert presence.value == pytest.approx(2 / 3)
    assert presence.details["range"] == [0.0, presence.value]
    assert presence.baseline == 1.0
    assert presence.details["prior"] == presence.details["mean"] == pytest.approx(3 / 7)
    assert presence.details["certain"] == 0.0
    k = evaluate(KMap(k0=3), *tables)
    assert k.value == 1.0
    assert k.baseline == 3.0  # of a, b and b, the three rows of the holdout that are drawn
    assert k.details == {
        "uniques": 1 / 3,
        "below_k0": 1 / 3,
        "unmatched": 0,
        "unmatched_rows": 0.0,
        "train": 3,
    }


def test_rows_that_nobody_has_are_skipped_and_counted():
    k = evaluate(KMap(), towns("aab"), towns("abbc"), towns("abddde"))
    assert k.value == 3.0
    assert (k.details["unmatched"], k.details["unmatched_rows"]) == (2, pytest.approx(4 / 6))
    presence = evaluate(DeltaPresence(), towns("aab"), towns("abbc"), towns("bddde"))
    assert (presence.value, presence.baseline) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert presence.details["unmatched_rows"] == 0.8


def test_train_is_the_population_where_there_is_no_holdout():
    assert KMap().fit(towns("aaabb")).score(towns("abc")) == 2.0


@pytest.mark.parametrize(
    ("train", "synthetic", "value", "of_uniques"),
    [("abbc", "aacd", 1 / 4, 1 / 2), ("aabbbc", "acc", 0.0, 0.0), ("aabb", "ab", 0.0, np.nan)],
)
def test_replicated_uniques(train, synthetic, value, of_uniques):
    found = ReplicatedUniques().fit(towns(train)).evaluate(towns(synthetic))
    assert found.value == value
    assert found.details["of_uniques"] == pytest.approx(of_uniques, nan_ok=True)
    assert found.interval[0] <= value <= found.interval[1]


def test_a_table_written_out_twice_hides_its_uniques():
    once, twice = TRAIN, pd.concat([TRAIN, TRAIN])
    metric = ReplicatedUniques(["age", "city"]).fit(TRAIN)
    first, second = metric.evaluate(once), metric.evaluate(twice)
    assert first.value == first.details["uniques"] == first.details["released"] > 0
    assert second.value == 0.0
    assert second.details["released"] == first.value


def test_bins_of_the_test_favour_neither_train_nor_the_holdout():
    """Rows of one population are exchangeable, but not with bins of train alone."""
    metric, others = ReplicatedUniques(["income", "age"], n_bins=15), HOLDOUT[:200]
    one = evaluate(metric, TRAIN, others, SYNTHETIC).contrast
    other = evaluate(metric, others, TRAIN, SYNTHETIC).contrast
    assert one.observed == other.expected > 0.0
    assert one.expected == other.observed > 0.0


# ---------------------------------------------------------------------------- against pandas


EDGES = {"age": [25.0, 40.0, 60.0], "since": ["2015-01-01", "2020-06-30"]}


def binned(table):
    """Cut as EDGES say, with strings for all values, missing included."""
    cut = pd.DataFrame({"city": table["city"]})
    cut["age"] = pd.cut(table["age"], [-np.inf, *EDGES["age"], np.inf], right=False)
    ends = pd.to_datetime(["1700-01-01", *EDGES["since"], "2200-01-01"])
    cut["since"] = pd.cut(table["since"], ends, right=False)
    return cut.astype(object).where(cut.notna(), "missing").astype(str)


@pytest.fixture(scope="module")
def dated():
    rng = np.random.default_rng(0)
    return [
        table.assign(
            since=pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 5_000, 300), "D")
        ).assign(
            since=lambda t, rng=rng: t["since"].mask(rng.random(300) < 0.05),
            city=lambda t, rng=rng: t["city"].mask(rng.random(300) < 0.05),
        )
        for table in (TRAIN, HOLDOUT, SYNTHETIC)
    ]


def test_classes_are_those_of_groupby(dated):
    names = ["age", "city", "since"]
    train, holdout, synthetic = (binned(table).value_counts() for table in dated)
    k = evaluate(KAnonymity(names, n_bins=EDGES), *dated)
    assert k.value == synthetic.min()
    assert k.details["n_classes"] == len(synthetic)
    assert k.details["below_k0"] == pytest.approx(synthetic[synthetic < 5].sum() / 300)
    assert k.details["train"]["k"] == train.min()
    population = train.add(holdout, fill_value=0)
    found = population.index.intersection(synthetic.index)
    assert evaluate(KMap(names, n_bins=EDGES), *dated).value == population[found].min()
    presence = evaluate(DeltaPresence(names, n_bins=EDGES), *dated)
    shares = train.reindex(found, fill_value=0) / population[found]
    assert presence.details["range"] == pytest.approx([shares.min(), shares.max()])
    replicated = (train == 1) & (synthetic.reindex(train.index, fill_value=0) == 1)
    unique = evaluate(ReplicatedUniques(names, n_bins=EDGES), *dated)
    assert unique.value == pytest.approx(replicated.sum() / 300)
    assert replicated.any()


def test_secrets_are_those_of_groupby(dated):
    train, _, synthetic = dated
    rows = binned(synthetic)
    plans = synthetic["plan"].groupby([rows["age"], rows["city"]])
    metric = LDiversity(["age", "city"], "plan", n_bins=EDGES).fit(train)
    assert metric.score(synthetic) == plans.nunique(dropna=False).min()
    overall = synthetic["plan"].value_counts(normalize=True)
    apart = [
        group.value_counts(normalize=True).sub(overall, fill_value=0).abs().sum() / 2
        for _, group in plans
    ]
    assert TCloseness(["age", "city"], "plan", n_bins=EDGES).fit(train).score(
        synthetic
    ) == pytest.approx(max(apart))


def test_numbers_are_cut_at_quantiles_of_train():
    train = pd.DataFrame({"x": np.arange(1000.0)})
    result = KAnonymity().fit(train).evaluate(pd.DataFrame({"x": [-5.0, 50.0, 950.0, 2e6]}))
    assert result.details["train"] == {"k": 100, "uniques": 0.0, "below_k0": 0.0, "n_classes": 10}
    assert (result.value, result.details["n_classes"]) == (2.0, 2)
    assert KAnonymity(n_bins=4).fit(train).score(train) == 250.0


# -------------------------------------------------------------------------------- odd tables


def test_missing_is_a_value_of_its_own():
    table = towns(["a", "a", None, None, None], x=[1.0, 1.0, np.nan, np.nan, 1.0], who="m")
    assert KAnonymity(["town"]).fit(table).score(table) == 2.0
    assert KAnonymity().fit(table).score(table) == 1.0
    assert KAnonymity().fit(table).score(table[:4]) == 2.0
    assert LDiversity(["town"], "x").fit(table).score(table[:4]) == 1.0
    assert LDiversity(["who"], "town").fit(table).score(table) == 2.0
    assert TCloseness(["x"], "town").fit(table).score(table) == pytest.approx(0.4)


def test_new_categories_are_told_apart():
    found = KAnonymity().fit(towns("aabb")).evaluate(towns("aaxyz"))
    assert (found.value, found.details["n_classes"], found.details["uniques"]) == (1.0, 4, 0.6)


def test_one_synthetic_row():
    row = SYNTHETIC.iloc[:1]
    assert KAnonymity(NAMES).fit(TRAIN).score(row) == 1.0
    assert LDiversity(NAMES[:2], "member").fit(TRAIN).score(row) == 1.0
    assert TCloseness(NAMES[:2], "member").fit(TRAIN).score(row) == 0.0


def test_constant_columns():
    table = towns("aaaa", illness=list("xxxx"))
    assert KAnonymity().fit(table).score(table) == 4.0
    assert LDiversity().fit(table).score(table) == 1.0
    assert TCloseness().fit(table).score(table) == 0.0


def test_thousands_of_levels():
    rng = np.random.default_rng(0)
    train, synthetic = (
        pd.DataFrame({"post": [f"p{code}" for code in rng.integers(0, 5_000, 9_000)], "who": "x"})
        for _ in range(2)
    )
    counts = train["post"].value_counts()
    result = ReplicatedUniques(["post"]).fit(train).evaluate(synthetic)
    assert result.details["uniques"] == pytest.approx((counts == 1).sum() / 9_000)
    assert KAnonymity(["post"]).fit(train).evaluate(train).details["n_classes"] == len(counts)
    secret = TCloseness(["who"], "post").fit(train)
    assert secret.score(train) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", [KMap, DeltaPresence])
def test_no_row_is_found(kind):
    metric = kind().fit(towns("aab"), towns("ccd"))
    with warns(DegenerateInputWarning):
        result = metric.evaluate(towns("xyz"))
    assert np.isnan(result.value)
    assert result.details["unmatched_rows"] == 1.0


def test_a_table_without_measured_columns_is_one_class():
    keys = pd.DataFrame({"customer_id": np.arange(30)})
    assert KAnonymity().fit(keys).score(keys) == 30.0


# ----------------------------------------------------------------------------- what may be a secret


def test_every_category_in_turn_is_the_secret():
    table = towns("aabb", illness=list("xyxy"), age=[1.0, 1.0, 2.0, 2.0])
    result = LDiversity().fit(table).evaluate(table)
    alone = {
        name: LDiversity(sensitive=name).fit(table).score(table) for name in ("town", "illness")
    }
    assert result.details["columns"] == alone == {"town": 1.0, "illness": 2.0}
    assert result.details["worst"] == {"column": "town", "value": 1.0}
    apart = TCloseness(["age"]).fit(table).evaluate(table)
    assert apart.details["columns"] == {"town": 0.5, "illness": 0.0}
    assert apart.value == 0.5


def test_both_draw_the_columns():
    for metric in (LDiversity(["age"]), TCloseness(["age"])):
        result = metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
        assert set(result.display().frame()["column"]) == set(NAMES)
        assert result.display().plot() is not None


def test_a_secret_is_needed():
    with raises(MissingInputError):
        TCloseness().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    suite = MetricSuite([("l", LDiversity(NAMES)), ("k", KAnonymity(NAMES))]).fit(TRAIN)
    found = suite.evaluate(SYNTHETIC)
    assert "needs a sensitive column" in found["l"].error
    assert found["k"].error == ""


def test_presence_needs_the_rest_of_the_population():
    with raises(MissingInputError):
        DeltaPresence().fit(TRAIN)
    assert DeltaPresence(mode="cluster").fit(TRAIN).score(SYNTHETIC) > 0


@pytest.mark.parametrize(
    "metric",
    [
        KAnonymity(["nowhere"]),
        KAnonymity(n_bins={"city": [1.0]}),
        KAnonymity(n_bins={"nowhere": [1.0]}),
        KMap(n_bins={"age": [3.0, 2.0]}),
        DeltaPresence(n_bins={"age": ["old"]}),
        ReplicatedUniques(n_bins={"joined": ["some day"]}),
        KAnonymity(n_bins={"age": []}),
        LDiversity(sensitive="nowhere"),
        TCloseness(["age", "city"], "city"),
    ],
)
def test_faults_are_named(metric):
    with raises(InvalidParameterError):
        metric.fit(TRAIN, HOLDOUT)


# ------------------------------------------------------------------ copies, fresh rows and noise


def noise(rng, table):
    return table.apply(lambda column: rng.permutation(column.to_numpy()))


def test_a_copy_scores_what_train_scores():
    names = ["age", "city", "plan"]
    k = KAnonymity(names).fit(TRAIN).evaluate(TRAIN)
    assert k.details["train"] == {key: k.details[key] for key in k.details["train"]}
    for metric in (LDiversity(names, "member"), TCloseness(names, "member")):
        result = metric.fit(TRAIN).evaluate(TRAIN)
        assert result.details["columns"] == result.details["train"]
    population = KMap(names).fit(TRAIN, HOLDOUT).evaluate(TRAIN)
    assert population.value == population.details["train"] == 1.0
    presence = DeltaPresence(names).fit(TRAIN, HOLDOUT).evaluate(TRAIN)
    assert presence.value == 1.0
    assert presence.details["certain"] > 0.1
    assert presence.details["range"][0] > 0.0


def test_uniques_tell_a_copy_from_fresh_rows_and_noise():
    metric = ReplicatedUniques(["age", "income", "city"]).fit(TRAIN, HOLDOUT)
    copy, fresh, noisy = (
        metric.evaluate(rows) for rows in (TRAIN, SYNTHETIC, noise(np.random.default_rng(0), TRAIN))
    )
    assert copy.details["of_uniques"] == 1.0
    assert copy.interval[0] > fresh.interval[1]
    assert fresh.interval[0] <= fresh.baseline <= fresh.interval[1]
    assert copy.value > 2 * noisy.value


def test_replicated_uniques_rise_with_the_leak():
    shares = []
    for leak in (0, 50, 150, 300):
        mixed = pd.concat([TRAIN[:leak], SYNTHETIC[leak:]])
        shares.append(ReplicatedUniques().fit(TRAIN).score(mixed))
    assert shares == sorted(shares)
    unique = ReplicatedUniques().fit(TRAIN).evaluate(TRAIN).details["uniques"]
    expected = [share * unique for share in (0, 50 / 300, 150 / 300, 1)]
    assert shares == pytest.approx(expected, abs=0.02)


def test_presence_is_symmetric_where_the_release_knows_neither():
    metric = DeltaPresence(["age", "city"], n_bins={"age": [30.0, 40.0, 50.0, 60.0]})
    one, other = (
        evaluate(metric, *real, SYNTHETIC) for real in [(TRAIN, HOLDOUT), (HOLDOUT, TRAIN)]
    )
    assert one.details["prior"] == 0.5
    assert 0.4 < one.details["mean"] < 0.6
    assert one.value == pytest.approx(other.baseline)
    assert one.baseline == pytest.approx(other.value)


@pytest.mark.calibration
@pytest.mark.parametrize(("levels", "leak"), [(300, 0.0), (3_000, 0.0), (3_000, 0.3)])
def test_the_interval_of_replicated_uniques_covers(levels, leak):
    weights = 1.0 / np.arange(1, levels + 1) ** 0.8
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        train, synthetic = rng.choice(levels, (2, 500), p=weights / weights.sum())
        copied = rng.random(500) < leak
        synthetic[copied] = train[copied]
        tables = [towns([f"t{code}" for code in codes]) for codes in (train, synthetic)]
        found.append(ReplicatedUniques().fit(tables[0]).evaluate(tables[1]))
    mean = np.mean([result.value for result in found])
    assert np.mean([r.interval[0] <= mean <= r.interval[1] for r in found]) >= 0.91


# --------------------------------------------------------------------------------------- clusters


@pytest.fixture
def blobs():
    """Two heaps of 15 and 25 rows: too few for more than two clusters."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, 15), rng.normal(50, 1, 25)])
    return pd.DataFrame({"x": x, "secret": ["a", "b", "c"] * 5 + ["a", "b"] * 12 + ["a"]})


@pytest.mark.slow
def test_heaps_are_clusters(blobs):
    assert KAnonymity(["x"], mode="cluster").fit(blobs).score(blobs) == 15.0
    assert LDiversity(["x"], "secret", mode="cluster").fit(blobs).score(blobs) == 2.0
    released = pd.concat([blobs[:5], blobs[15:]])
    k = KMap(["x"], mode="cluster").fit(blobs)
    assert k.score(released) == 5.0
    assert k.score(blobs[:4]) == 4.0
    presence = DeltaPresence(["x"], mode="cluster").fit(blobs)
    assert presence.score(released) == pytest.approx(3.0)
    assert presence.score(blobs[:1]) == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (KAnonymity, "The smallest cluster of synthetic rows has 15."),
        (KMap, "The cluster with the fewest synthetic rows has 5."),
        (DeltaPresence, "In some cluster, 3.00 train rows share one synthetic row."),
    ],
)
def test_sentences_of_clusters(kind, sentence, blobs):
    released = blobs if kind is KAnonymity else pd.concat([blobs[:5], blobs[15:]])
    assert kind(["x"], mode="cluster").fit(blobs).evaluate(released).summary == sentence


def test_clusters_of_the_smallest_run_count(blobs):
    rows = pd.concat([blobs.assign(x=blobs["x"] + shift) for shift in (0.0, 0.3, 0.6)])
    result = KAnonymity(["x"], mode="cluster").fit(rows).evaluate(rows)
    assert 1 <= result.value < 45
    assert result.details["train"]["k"] == result.value


def test_no_cluster_exceeds_the_cap():
    table = pd.DataFrame({"x": [0.0, 1.0] * 1_200, "y": list("ab") * 1_200})
    assert KAnonymity(mode="cluster").fit(table).score(table) == 999.0


@pytest.mark.parametrize("kind", [KAnonymity, KMap, DeltaPresence, LDiversity])
def test_too_few_rows_to_cluster(kind, blobs):
    for rows in (blobs[:19], blobs.assign(x=1.0, secret="a")):
        metric = kind(["x"], mode="cluster").fit(rows)
        with warns(DegenerateInputWarning):
            assert np.isnan(metric.score(rows))
    empty = blobs.assign(x=np.nan)
    with warns(DegenerateInputWarning):
        metric = kind(["x"], mode="cluster").fit(empty)
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(blobs))


@pytest.mark.slow
def test_clusters_do_not_depend_on_order(blobs):
    table = make_mixed(200, random_state=5)
    mixed = table.sample(frac=1.0, random_state=0)[table.columns[::-1]]
    for kind in ALL[:1] + ALL[2:5]:
        metric = kind(["age", "city"], mode="cluster")
        if kind is LDiversity:
            metric.set_params(sensitive="plan")
        assert metric.fit(table).score(table) == metric.fit(mixed).score(mixed)


@pytest.mark.parametrize("kind", ALL)
def test_results_hold_no_cells(kind):
    table = TRAIN.assign(city=TRAIN["city"].mask(TRAIN.index == 7, "only-this-person"))
    result = kind(["city", "age"]).fit(table, HOLDOUT).evaluate(table)
    assert "only-this-person" not in result.to_json()


# ------------------------------------------------------------------------- train against holdout


def numbers_of(seed, n, n_levels):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({c: rng.integers(0, n_levels, n).astype(str) for c in "xyz"})


def test_presence_is_tested_on_classes_of_one_table():
    train, holdout, release = towns("aaabcc"), towns("abddee"), towns("abcdz")
    result = evaluate(DeltaPresence(["town"]), train, holdout, release)
    # of the released classes a (3 + 1 rows), b (1 + 1), c (2 + 0) and d (0 + 2)
    assert result.details["class_size"] == 2
    assert (result.contrast.observed, result.contrast.expected) == (0.2, 0.2)
    assert result.summary == (
        "In a released class of 2 real rows, 100% are from train. In another class, 100% are from "
        "the holdout. Of all real rows, 50.0% are from train; real rows of released classes that only train rows "
        "are in: 20.0%, that only holdout rows are in 20.0%."
    )


def test_uniques_are_tested_on_rows_unique_among_all():
    train, holdout, release = towns("aabcde"), towns("bfgghh"), towns("abcffg")
    result = evaluate(ReplicatedUniques(["town"]), train, holdout, release)
    assert result.value == 2 / 6  # b and c
    assert (result.contrast.observed, result.contrast.expected) == (1 / 6, 0.0)  # b is not alone
    assert result.p_value == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [DeltaPresence, ReplicatedUniques])
def test_copies_raise_an_alarm(kind):
    train, holdout, fresh = (numbers_of(seed, 300, 30) for seed in range(3))
    release = pd.concat([train[:60], fresh[60:]])
    leaky, clean = (evaluate(kind(), train, holdout, one) for one in (release, fresh))
    assert leaky.p_value <= 0.001
    assert leaky.contrast.supports_leak
    assert clean.p_value > 0.05
    assert str(leaky.contrast) in leaky.summary


@pytest.mark.parametrize("kind", [KAnonymity, KMap, LDiversity, TCloseness])
def test_what_describes_makes_no_test(kind):
    context = Context.of(TRAIN, HOLDOUT)
    result = kind(NAMES[:2]).fit_context(context).evaluate(SYNTHETIC)
    assert result.p_value is None
    assert result.contrast is None


@pytest.mark.calibration
@pytest.mark.parametrize("kind", [DeltaPresence, ReplicatedUniques])
@pytest.mark.parametrize("sizes", [(200, 200, 200), (200, 80, 300)])
def test_tests_keep_their_level(kind, sizes):
    """This is also true for numbers, whose bins depend on train."""
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng([seed, *sizes])
        tables = [
            numbers_of([seed, i], n, 6).assign(age=rng.normal(size=n)) for i, n in enumerate(sizes)
        ]
        p_values.append(evaluate(kind(), *tables).p_value)
    for level in (0.01, 0.05, 0.2):
        assert np.sum(np.array(p_values) <= level) <= binom.isf(0.001, len(p_values), level)
    assert np.mean(np.array(p_values) <= 0.2) > 0.08
