from __future__ import annotations

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

from skeval import Context, check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy import near_texts as texts_module
from skeval.privacy.near_duplicates import NearDuplicateShare, near_in_words
from skeval.results.verdict import Contrast
from skeval.steps.encoded_rows import encoded_matrix, ranges
from skeval.steps.neighbors import nearest
from tests.calibrations import LEVEL, Claim, rate_of
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))
WORDS = [f"w{i}" for i in range(60)]
NOTE = {"note": "text"}


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic, schema=None):
    context = Context.of(train, holdout, schema=schema)
    metric.fit_context(context)
    return metric.evaluate_context(context.with_synthetic(synthetic))


@pytest.mark.slow
@pytest.mark.parametrize("metric", [NearDuplicateShare(0.1, columns=["age", "city"])], ids=repr)
def test_contract(metric):
    check_metric(metric)


# ---------------------------------------------------------------------------------- the distance


TOY = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)


@pytest.mark.parametrize(
    ("tau", "share", "on_holdout", "baseline"),
    [
        (0.0, 0.25, 0.0, 0.0),
        (0.2 / 12, 0.5, 0.0, 0.0),
        (1 / 12, 0.75, 0.5, 0.25),
        (2 / 12, 0.75, 0.75, 0.75),
        (1.0, 1.0, 1.0, 1.0),
    ],
)
def test_toy_table(tau, share, on_holdout, baseline):
    # nn(S, T) = 0, .2, 1, 11; nn(S, H) = 2, .8, 1, 8; nn(H, T) = 1, 2, 2, 3; the range is 12
    result = evaluate(NearDuplicateShare(tau), *TOY)
    assert result.value == share
    assert result.details["to_holdout"] == on_holdout
    assert result.details["difference"] == share - on_holdout
    assert result.baseline == baseline


def test_radius_of_a_small_holdout_is_that_of_train():
    # nn(T, T) = 1, 1, 3, 5
    assert evaluate(NearDuplicateShare(), *TOY).details["tau"] == pytest.approx(1 / 12, abs=1e-9)


@pytest.mark.parametrize("n_holdout", [99, 100, 200, None])
def test_radius_is_an_order_statistic(n_holdout):
    holdout = None if n_holdout is None else HOLDOUT[:n_holdout]
    context = Context.of(TRAIN, holdout)
    query = "holdout" if (n_holdout or 0) >= 100 else "train"
    distances = np.sort(nearest(context, query, "train")[0][:, 0])
    expected = distances[int(np.ceil(0.01 * distances.size)) - 1]
    metric = NearDuplicateShare().fit_context(context)
    result = metric.evaluate_context(context.with_synthetic(SYNTHETIC))
    assert result.details["tau"] == pytest.approx(expected, rel=1e-12)
    if query == "holdout":
        assert result.baseline >= 0.01
    if n_holdout is None:
        assert (result.p_value, result.baseline) == (None, None)
        assert set(result.details) == {"tau", "text_columns", "train_duplicates"}


def test_one_train_row():
    result = NearDuplicateShare(0.1).fit(column(1)).evaluate(column(1, 2))
    assert result.value == 0.5
    with warns(DegenerateInputWarning):
        assert np.isnan(NearDuplicateShare().fit(column(1)).score(column(1, 2)))


@pytest.mark.parametrize(("name", "value"), [("over", 1.0), ("gauss", 0.0), ("train", 1.0)])
def test_wine(wine, name, value):
    result = NearDuplicateShare().fit(wine.train, wine.holdout).evaluate(getattr(wine, name))
    assert result.value == value
    assert result.details["to_holdout"] < 0.05
    assert (result.p_value < 0.01) == (value == 1.0)


@pytest.mark.parametrize("space", ["gower", "euclidean"])
@pytest.mark.parametrize("tau", [0.05, 0.2, 0.6])
def test_brute_force(space, tau):
    context = Context.of(TRAIN, HOLDOUT[:80]).with_synthetic(SYNTHETIC)
    result = NearDuplicateShare(tau, space).fit_context(context).evaluate_context(context)
    shares = [
        np.mean(nearest(context, *pair, space=space)[0][:, 0] <= tau)
        for pair in (("synthetic", "train"), ("synthetic", "holdout"), ("holdout", "train"))
    ]
    assert [result.value, result.details["to_holdout"], result.baseline] == shares
    # the same from all distances, relabelled without lists
    real = np.concatenate([encoded_matrix(context, role, space) for role in ("train", "holdout")])
    if space == "gower":
        near = gower(encoded_matrix(context, "synthetic"), real, ranges(context)) <= tau + 1e-12
    else:
        gaps = encoded_matrix(context, "synthetic", space)[:, None] - real
        near = np.sqrt((gaps**2).sum(axis=2)) <= tau
    draws = relabelled(near, 200)
    p = np.mean(draws >= result.details["difference"] - 1e-12)
    assert result.p_value == pytest.approx(p, abs=0.06)
    assert result.details["expected"] == pytest.approx(np.mean(draws), abs=0.01)
    assert result.details["null_standard_error"] == pytest.approx(np.std(draws), rel=0.15, abs=4e-3)


def relabelled(near, n_train, n_draws=2000):
    """Return the difference of both shares with labels drawn anew, by counting all neighbours."""
    rng = np.random.default_rng(0)
    is_train = np.arange(near.shape[1]) < n_train
    labels = np.stack([rng.permutation(is_train) for _ in range(n_draws)], axis=1)
    shares = [(near.astype(float) @ part > 0).mean(axis=0) for part in (labels, ~labels)]
    return shares[0] - shares[1]


def gower(rows, others, span, n_numbers=4):
    a, b = rows[:, None], others
    numbers = np.minimum(1.0, np.abs(a - b)[..., :n_numbers] / span[:n_numbers])
    missing = np.isnan(a) | np.isnan(b)
    gaps = np.concatenate([numbers, (a != b)[..., n_numbers:]], axis=2)
    return np.where(missing, np.isnan(a) != np.isnan(b), gaps).mean(axis=2)


def test_what_real_tables_repeat_by_themselves():
    train, holdout, synthetic = column(0, 0, 1, 50, 100), column(3, 90), column(7)
    details = evaluate(NearDuplicateShare(0.02), train, holdout, synthetic).details
    assert (details["train_duplicates"], details["holdout_duplicates"]) == (0.6, 0.0)
    alone = NearDuplicateShare(0.02).fit(train).evaluate(synthetic).details
    assert alone["train_duplicates"] == 0.6
    assert "holdout_duplicates" not in alone


def test_unequal_tables_have_an_expectation():
    fresh = evaluate(NearDuplicateShare(0.1), TRAIN, HOLDOUT[:40], SYNTHETIC)
    assert fresh.details["expected"] > 0.3
    assert fresh.details["difference"] == pytest.approx(fresh.details["expected"], abs=0.12)
    assert fresh.p_value > 0.01


def test_p_value_of_a_copy_and_of_the_holdout():
    assert evaluate(NearDuplicateShare(), TRAIN, HOLDOUT, TRAIN).p_value <= 0.001
    assert evaluate(NearDuplicateShare(), TRAIN, HOLDOUT, HOLDOUT).p_value == 1.0


def test_noisy_copies_are_found_and_exact_matches_are_not():
    leak = TRAIN[:60].assign(age=TRAIN["age"][:60] + 1, income=TRAIN["income"][:60] * 1.001)
    result = evaluate(NearDuplicateShare(), TRAIN, HOLDOUT, pd.concat([leak, SYNTHETIC[60:]]))
    assert result.value >= 0.3
    assert result.p_value <= 0.001


def test_the_sentence_names_each_of_its_numbers():
    """The holdout comes into it twice: as rows that are near, and as rows that are near to it."""
    result = NearDuplicateShare().fit(TRAIN, HOLDOUT).evaluate(TRAIN.iloc[:100])
    expected = result.contrast.numbers_in_words[1]
    assert result.summary.startswith("100% of synthetic rows are within ")
    assert f" of a train row; for holdout rows {expected}. " in result.summary
    fresh = f"{100 * result.baseline:.1f}% of holdout rows are as close to a training row."
    assert result.summary.endswith(fresh)


def test_rows_written_out_twice():
    once = evaluate(NearDuplicateShare(0.1), TRAIN, HOLDOUT, SYNTHETIC)
    twice = evaluate(NearDuplicateShare(0.1), TRAIN, HOLDOUT, pd.concat([SYNTHETIC, SYNTHETIC]))
    assert 0.05 < once.value < 0.95
    assert twice.value == once.value
    assert twice.p_value == once.p_value
    for name in ("expected", "null_standard_error"):
        assert twice.details[name] == pytest.approx(once.details[name], abs=1e-12)


def test_names_scales_and_places_do_not_matter():
    tables = TRAIN, HOLDOUT, SYNTHETIC
    there = evaluate(NearDuplicateShare(0.1), *tables)
    shuffled = [t.sample(frac=1.0, random_state=i) for i, t in enumerate(tables)]
    again = evaluate(NearDuplicateShare(0.1), *shuffled)
    assert (again.value, again.p_value) == (there.value, there.p_value)
    changed = [
        t.assign(age=-2.0 * t["age"] + 4, city=t["city"].str.upper())[t.columns[::-1]]
        for t in shuffled
    ]
    back = evaluate(NearDuplicateShare(0.1), *changed)
    assert back.value == there.value
    # other random choices, since real rows are numbered by their values
    assert back.p_value == pytest.approx(there.p_value, abs=0.08)


def test_a_transformer_as_space():
    space = FunctionTransformer(lambda frame: frame[["age"]].to_numpy(float))
    result = evaluate(NearDuplicateShare(0.5, space), TRAIN, HOLDOUT, SYNTHETIC)
    assert result.value == np.isin(SYNTHETIC["age"], TRAIN["age"]).mean()
    with raises(InvalidParameterError):
        evaluate(NearDuplicateShare(0.5, space, columns=["age"]), TRAIN, HOLDOUT, SYNTHETIC)


@pytest.mark.parametrize("tau", ["q01", -0.1, 1.5, True, None])
def test_illegal_radius(tau):
    with raises(InvalidParameterError):
        NearDuplicateShare(tau).fit(TRAIN)


# ---------------------------------------------------------------------------------------- texts


def notes(seed, n, *, share_missing=0.1, common=0.2):
    """Return rows with a coarse number and a text: fresh, near a template, missing or empty."""
    rng = np.random.default_rng(seed)
    templates = [" ".join(np.random.default_rng(i).choice(WORDS, 15)) for i in range(4)]
    texts = []
    for _ in range(n):
        chance = rng.random()
        if chance < share_missing:
            texts.append(None if chance < share_missing / 2 else "")
        elif chance < share_missing + common:
            words = templates[rng.integers(4)].split()
            texts.append(" ".join(words[: rng.integers(12, 16)]) + rng.choice(["", " extra", "!"]))
        else:
            texts.append(" ".join(rng.choice(WORDS, rng.integers(8, 20))))
    return pd.DataFrame({"x": rng.integers(0, 30, n) * 1.0, "note": pd.Series(texts, dtype=object)})


@cache
def words_of(text):
    return frozenset(re.findall(r"\w+", text.lower()))


def jaccard(a, b):
    if not isinstance(a, str) or not isinstance(b, str):
        return float(isinstance(a, str) == isinstance(b, str))
    a, b = words_of(a), words_of(b)
    return len(a & b) / len(a | b) if a | b else 1.0


def edits(a, b):
    """Return Levenshtein's distance, by the table of all beginnings."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        above, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != other))
    return row[-1]


@cache
def alike(a, b, text, edit_length=40):
    if jaccard(a, b) >= text - 1e-12:
        return True
    if not isinstance(a, str) or not isinstance(b, str) or max(len(a), len(b)) > edit_length:
        return False
    return edits(a.lower(), b.lower()) <= (1 - text) * max(len(a), len(b)) + 1e-9


def near_by_pairs(rows, others, span, tau, text, names=("note",)):
    near = np.ones((len(rows), len(others)), dtype=bool)
    if "x" in rows:
        gaps = np.abs(rows["x"].to_numpy()[:, None] - others["x"].to_numpy())
        near &= np.minimum(1.0, gaps / span) <= tau + 1e-12
    for name in names:
        similar = [[alike(a, b, text) for b in others[name]] for a in rows[name]]
        near &= np.array(similar)
    return near


TEXTS = notes(0, 90), notes(1, 60), pd.concat([notes(2, 70), notes(0, 90)[:10]])


@pytest.fixture(params=[64, 2])
def crowd(request, monkeypatch):
    """Go from near rows to their texts, or where there are more than two the other way round."""
    monkeypatch.setattr(texts_module, "CROWD", request.param)
    return request.param


@pytest.mark.parametrize("measured", [True, False])
@pytest.mark.parametrize("text", [0.3, 0.75, 1.0])
def test_texts_are_brute_force(crowd, measured, text):
    tables = TEXTS if measured else [t[["note"]] for t in TEXTS]
    train, holdout, synthetic = tables
    result = evaluate(NearDuplicateShare(0.2, text=text), *tables, NOTE)
    span = np.ptp(pd.concat(TEXTS[:2])["x"])
    near = [
        near_by_pairs(a, b, span, 0.2, text)
        for a, b in ((synthetic, train), (synthetic, holdout), (holdout, train))
    ]
    shares = [pairs.any(axis=1).mean() for pairs in near]
    assert [result.value, result.details["to_holdout"], result.baseline] == shares
    assert 0 < shares[0] < 1
    draws = relabelled(np.column_stack(near[:2]), 90)
    p = np.mean(draws >= shares[0] - shares[1] - 1e-12)
    assert result.p_value == pytest.approx(p, abs=0.06)
    assert result.details["expected"] == pytest.approx(np.mean(draws), abs=0.02)
    for role, table in (("train", train), ("holdout", holdout)):
        again = near_by_pairs(table, table, span, 0.2, text) & ~np.eye(len(table), dtype=bool)
        assert result.details[f"{role}_duplicates"] == again.any(axis=1).mean()
    assert result.details["text_columns"] == 1
    assert np.isfinite(result.details["tau"]) == measured


@pytest.mark.slow
def test_two_columns_of_text(crowd):
    schema = {"note": "text", "more": "text"}
    tables = [
        table.assign(more=notes(seed + 5, len(table), common=0.8)["note"].to_numpy(object))
        for seed, table in enumerate(TEXTS)
    ]
    result = evaluate(NearDuplicateShare(0.5, text=0.4), *tables, schema)
    span = np.ptp(pd.concat(tables[:2])["x"])
    near = near_by_pairs(tables[2], tables[0], span, 0.5, 0.4, ("note", "more"))
    assert result.value == near.any(axis=1).mean()
    assert result.value > 0
    one = evaluate(NearDuplicateShare(0.5, text=0.4, columns=["x", "note"]), *tables, schema)
    assert one.value == near_by_pairs(tables[2], tables[0], span, 0.5, 0.4).any(axis=1).mean()


def test_texts_in_other_spaces(crowd):
    train, _, synthetic = TEXTS
    result = evaluate(NearDuplicateShare(0.4, "euclidean", text=0.5), *TEXTS, NOTE)
    spread = train["x"].std(ddof=0)
    near = near_by_pairs(synthetic, train, spread / 0.4, 0.16 + 1e-9, 0.5)
    assert result.value == near.any(axis=1).mean()


def test_texts_may_be_skipped():
    train, holdout, synthetic = TEXTS
    with_text, without, chosen = (
        evaluate(metric, train, holdout, synthetic, NOTE).value
        for metric in (
            NearDuplicateShare(0.0),
            NearDuplicateShare(0.0, text=0.0),
            NearDuplicateShare(0.0, columns=["x"]),
        )
    )
    assert with_text < without == chosen == np.isin(synthetic["x"], train["x"]).mean()
    texts = train[["note"]]
    with warns(DegenerateInputWarning):
        assert np.isnan(NearDuplicateShare(text=0.0).fit(texts, schema=NOTE).score(texts))


def test_texts_without_a_holdout(crowd):
    train, _, synthetic = TEXTS
    result = evaluate(NearDuplicateShare(0.2, text=0.75), train, None, synthetic, NOTE)
    near = near_by_pairs(synthetic, train, np.ptp(train["x"]), 0.2, 0.75)
    assert result.value == near.any(axis=1).mean()
    assert result.p_value is None


def test_a_word_replaced_is_found():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 30, replace=False)) for _ in range(180)]
    tables = [
        pd.DataFrame({"x": rng.normal(size=60), "note": texts[60 * i : 60 * i + 60]})
        for i in range(3)
    ]
    copied = tables[0].assign(
        note=["other" + text[text.index(" ") :] for text in tables[0]["note"]]
    )
    leak = evaluate(NearDuplicateShare(), *tables[:2], copied, NOTE)
    assert leak.value == 1.0
    assert leak.p_value <= 0.001
    assert evaluate(NearDuplicateShare(), *tables, NOTE).value == 0.0
    assert evaluate(NearDuplicateShare(text=0.95), *tables[:2], copied, NOTE).value == 0.0


def names_of(seed, n):
    rng = np.random.default_rng(seed)
    first, last = (["Anna", "Bernd", "Chloe", "Dmitri"], ["Albrecht", "Bonaparte", "Castellano"])
    return pd.DataFrame(
        {
            "x": rng.integers(0, 30, n) * 1.0,
            "note": [
                f"{rng.choice(first)} {rng.choice(last)} {rng.integers(10**6)}" for _ in range(n)
            ],
        }
    )


def misspelt(table, seed=0):
    """Replace a letter of each text by another."""
    rng = np.random.default_rng(seed)
    texts = []
    for text in table["note"]:
        place = rng.integers(len(text))
        texts.append(text[:place] + "q" + text[place + 1 :])
    return table.assign(note=texts)


@pytest.mark.parametrize("measured", [True, False])
def test_a_letter_replaced_is_found_in_short_texts(crowd, measured):
    tables = [names_of(seed, 80) for seed in range(3)]
    if not measured:
        tables = [table[["note"]] for table in tables]
    copied = misspelt(tables[0])
    tau = 0.0 if measured else "loo-q01"
    leak = evaluate(NearDuplicateShare(tau), *tables[:2], copied, NOTE)
    by_words = evaluate(NearDuplicateShare(tau, edit_length=0), *tables[:2], copied, NOTE)
    assert leak.value == 1.0
    assert leak.p_value <= 0.001
    assert by_words.value < 0.2
    assert evaluate(NearDuplicateShare(tau), *tables, NOTE).value < 0.1


def test_texts_too_long_for_letters_are_compared_by_words():
    train = pd.DataFrame({"note": ["x" * 40, "y" * 41]})
    copied = pd.DataFrame({"note": ["x" * 38 + "ab", "y" * 39 + "ab"]})
    assert evaluate(NearDuplicateShare(), train, None, copied, NOTE).value == 0.5
    assert evaluate(NearDuplicateShare(edit_length=41), train, None, copied, NOTE).value == 1.0
    assert evaluate(NearDuplicateShare(edit_length=0), train, None, copied, NOTE).value == 0.0


@pytest.mark.usefixtures("crowd")
@pytest.mark.slow
def test_row_order_of_texts():
    there = evaluate(NearDuplicateShare(0.3, text=0.5), *TEXTS, NOTE)
    shuffled = [t.sample(frac=1.0, random_state=i) for i, t in enumerate(TEXTS)]
    back = evaluate(NearDuplicateShare(0.3, text=0.5), *shuffled, NOTE)
    assert (there.value, there.baseline) == (back.value, back.baseline)
    doubled = evaluate(
        NearDuplicateShare(0.3, text=0.5), *TEXTS[:2], pd.concat([TEXTS[2]] * 2), NOTE
    )
    assert (there.value, there.p_value) == (doubled.value, doubled.p_value)


def test_nearly_all_texts_are_alike():
    """One word differs in each text, so all pairs are similar, and few must be compared."""
    rng = np.random.default_rng(0)
    numbers = rng.permutation(10**6)[:3000].reshape(3, 1000)
    tables = [
        pd.DataFrame({"note": [f"{' '.join(WORDS[:25])} {number}" for number in part]})
        for part in numbers
    ]
    result = evaluate(NearDuplicateShare(), *tables, NOTE)
    assert (result.value, result.details["to_holdout"], result.baseline) == (1.0, 1.0, 1.0)
    assert result.p_value == 1.0


# ----------------------------------------------------------------------------------- calibration


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("tau", "sizes"),
    [
        # enough rows that some of them are among the nearest 1%
        ("loo-q01", (1000, 1000, 1500)),
        ("loo-q01", (300, 90, 3000)),
        (0.04, (200, 200, 200)),
        (0.04, (200, 60, 300)),
    ],
)
def test_p_value_is_calibrated(tau, sizes):

    def alarms(seed):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame(
                {"x": rng.normal(size=n), "y": rng.normal(size=n), "k": rng.poisson(3, n) * 1.0}
            )
            for n in sizes
        ]
        metric = NearDuplicateShare(tau, n_permutations=199)
        return evaluate(metric, *tables).p_value < 0.05

    found = rate_of(map(alarms, range(200)), LEVEL)
    assert found.holds, found


@pytest.mark.calibration
def test_p_value_is_calibrated_with_texts():

    def alarms(seed):
        tables = [notes(3 * seed + i, n, common=0.6) for i, n in enumerate((120, 80, 500))]
        metric = NearDuplicateShare(0.1, text=0.8, n_permutations=199)
        return evaluate(metric, *tables, NOTE).p_value < 0.05

    found = rate_of(map(alarms, range(200)), LEVEL)
    assert found.holds, found


@pytest.mark.calibration
def test_p_value_is_calibrated_where_many_rows_are_near():
    """More rows lie within the radius than a list holds, many of them equally near."""

    def alarms(seed):
        rng = np.random.default_rng(seed)
        tables = [
            pd.DataFrame({"c": rng.geometric(0.3, n) * 1.0, "d": rng.geometric(0.4, n) * 1.0})
            for n in (200, 200, 200)
        ]
        metric = NearDuplicateShare(0.0, n_permutations=199)
        return evaluate(metric, *tables).p_value < 0.05

    found = rate_of(map(alarms, range(200)), Claim(0.05, 0.01, 0.08))
    assert found.holds, found


@pytest.mark.slow
def test_interval_covers():
    rng = np.random.default_rng(0)
    train, held = column(*rng.normal(size=60)), []

    def result(n):
        drawn = np.r_[rng.normal(size=n)]
        return evaluate(NearDuplicateShare(0.004), train, None, column(*drawn))

    truth = result(100_000).value
    for _ in range(200):
        low, high = result(200).interval
        held.append(low <= truth <= high)
    assert 0.1 < truth < 0.9
    assert 0.92 <= np.mean(held) <= 0.98


# --------------------------------------------------------------------------- what is said of it


def test_near_copies_are_a_fact_where_they_are_more_than_chance():
    copies = SYNTHETIC.copy()
    copies[:30] = TRAIN[:30]
    result = NearDuplicateShare().fit(TRAIN, HOLDOUT).evaluate(copies)
    assert re.fullmatch(
        r"3\d of 200 synthetic rows are exact or near copies of training rows\. "
        r"(None is an exact or near copy of a holdout row|\d+ are .* copies of holdout rows)\.",
        result.fact,
    )
    assert result.contrast.supports_leak
    unequal = NearDuplicateShare().fit(TRAIN, HOLDOUT[:100]).evaluate(copies)
    assert re.search(
        r"23 are expected by chance\. Among the same number of holdout rows, 2 are", unequal.fact
    )
    fewer = NearDuplicateShare().fit(TRAIN, HOLDOUT).evaluate(HOLDOUT)
    assert fewer.value == fewer.baseline
    assert fewer.fact == ""


def test_a_generator_of_common_rows_has_no_fact_of_near_copies():
    """Its rows are near train rows more often than holdout rows are, and as often near others."""
    drawn = np.random.default_rng(0).normal(size=(2800, 3))
    train, holdout, fresh = (pd.DataFrame(part) for part in np.split(drawn, [400, 800]))
    common = fresh.loc[(fresh**2).sum(axis=1).nsmallest(400).index]
    result = NearDuplicateShare().fit(train, holdout).evaluate(common)
    assert result.value > result.baseline
    assert result.p_value > 0.05
    assert result.fact == ""


def test_one_near_copy():
    train, holdout, synthetic = TOY
    result = evaluate(NearDuplicateShare(0.1 / 12, columns=["x"]), train, holdout, synthetic)
    assert result.value == 0.25
    assert result.fact == ""  # one may always be
    shown = Contrast("rows", 0.25, 0.0)
    assert near_in_words(
        Context.of(train, holdout).with_synthetic(synthetic), shown, "column x"
    ) == (
        "1 of 4 synthetic rows is an exact or near copy of a training row in column x. "
        "None is an exact or near copy of a holdout row."
    )


def test_no_distance_leaves_exact_matches():
    train, holdout, synthetic = TOY
    result = evaluate(NearDuplicateShare(0.0), train, holdout, synthetic)
    assert result.contrast.what == "synthetic rows that match a training row"
    assert result.fact == ""  # the metric of exact matches has this fact


@pytest.mark.parametrize("settings", [{"columns": ["age", "visits"]}, {"space": "euclidean"}])
def test_the_order_of_columns_draws_the_same_labels(settings):
    train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in range(3))
    copies = train[:60].assign(income=lambda rows: rows["income"] * 1.0001)
    release = pd.concat([copies, fresh[60:]], ignore_index=True)
    turned = list(train)[::-1]
    metric = NearDuplicateShare(0.05, **settings)
    first = metric.fit(train, holdout).evaluate(release)
    again = metric.fit(train[turned], holdout[turned]).evaluate(release[turned])
    assert first.p_value == again.p_value
    assert first.contrast == again.contrast
