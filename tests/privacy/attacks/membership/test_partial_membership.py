from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import make_suite
from skeval.core.context import Context
from skeval.datasets import make_census, make_mixed
from skeval.privacy import PartialMembershipInference
from skeval.privacy.attacks.membership.partial_membership import combinations, copied_cells
from skeval.steps.neighbors import nearest
from tests.calibrations import LEVEL, rate_of

PARTS = ["age", "employer", "income"]


def tables(n: int, seed: int) -> list[pd.DataFrame]:
    rows = make_census(3 * n, random_state=100 + seed)
    return [rows.iloc[i * n : (i + 1) * n].reset_index(drop=True) for i in range(3)]


def taken_from_nearest(train: pd.DataFrame, fresh: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return fresh rows with the value of the training row that is nearest in other columns."""
    context = Context.of(train.drop(columns=name), fresh.drop(columns=name))
    _, places = nearest(context, "holdout", "train")
    values = train[name].iloc[places[:, 0]].reset_index(drop=True)
    return fresh.assign(**{name: values})


def with_parts_of(train: pd.DataFrame, fresh: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return fresh rows, each with the values that some training row has in three columns."""
    parts = train[PARTS].sample(frac=1.0, random_state=seed).reset_index(drop=True)
    return fresh.assign(**{name: parts[name] for name in PARTS})


@pytest.mark.slow
def test_report_finds_combinations_of_train_in_rows_that_are_fresh_otherwise():
    train, holdout, fresh = tables(300, 0)
    verdict = make_suite("report").fit(train, holdout).evaluate(with_parts_of(train, fresh, 0))
    assert verdict.verdict().outcome == "leak found"


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["report", "privacy"])
def test_presets_find_one_attribute_that_is_taken_from_the_nearest_training_row(preset):
    train, holdout, fresh = tables(1000, 1)
    suite = make_suite(preset)
    names = ("membership", "partial_membership", "reconstruction")
    suite.set_params(metrics=[(name, one) for name, one in suite.metrics if name in names])
    released = taken_from_nearest(train, fresh, "income")
    assert suite.fit(train, holdout).evaluate(released).verdict().outcome == "leak found"


@pytest.mark.slow
def test_strongest_clue_names_the_columns_that_were_copied():
    train, holdout, fresh = tables(300, 2)
    metric = PartialMembershipInference().fit(train, holdout)
    result = metric.evaluate(with_parts_of(train, fresh, 2))
    assert result.details["kind"] == "combination"
    assert result.details["columns"] == sorted(PARTS)
    assert result.details["train"] == pytest.approx(1.0)  # each combination of train occurs
    assert result.value == pytest.approx(result.details["train"] - result.details["holdout"])
    copied = metric.evaluate(taken_from_nearest(train, fresh, "hours_per_week"))
    assert copied.details["by_kind"]["copied cell"]["columns"] == ["hours_per_week"]
    assert copied.p_value < 0.01


def copied_answers(
    train: pd.DataFrame, fresh: pd.DataFrame, share: float
) -> tuple[pd.DataFrame, ...]:
    """Return tables with a yes or no, which follows the other columns loosely, and a release."""
    rng = np.random.default_rng(len(train))
    answered = [
        one.assign(sick=np.where(rng.normal(40, 20, len(one)) < one["age"], "yes", "no"))
        for one in (train, fresh)
    ]
    copied = taken_from_nearest(answered[0], answered[1], "sick")["sick"]
    is_copied = rng.random(len(fresh)) < share
    return answered[0], answered[1].assign(sick=copied.where(is_copied, answered[1]["sick"]))


@pytest.mark.slow
def test_a_yes_or_no_of_the_nearest_training_row_is_found():
    train, holdout, fresh = tables(400, 5)
    released = copied_answers(train, fresh, 1.0)
    held = copied_answers(holdout, fresh, 0.0)[0]
    result = PartialMembershipInference().fit(released[0], held).evaluate(released[1])
    assert result.details["columns"] == ["sick"]
    assert result.p_value < 0.01
    fresh_rows = copied_answers(train, fresh, 0.0)[1]
    assert PartialMembershipInference().fit(released[0], held).evaluate(fresh_rows).p_value > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_is_found_although_one_number_was_sampled_anew(seed):
    rng = np.random.default_rng(seed)
    train, holdout, fresh = (
        pd.DataFrame(rng.normal(size=(150, 3)), columns=["age", "height", "weight"]).assign(
            new=rng.random(150), answer=rng.choice(["no", "yes"], 150)
        )
        for _ in range(3)
    )
    copied = taken_from_nearest(train.drop(columns="new"), fresh.drop(columns="new"), "answer")
    metric = PartialMembershipInference().fit(train, holdout)
    result = metric.evaluate(fresh.assign(answer=copied["answer"]))
    assert result.details["columns"] == ["answer"]
    assert result.p_value < 0.01
    assert metric.evaluate(fresh).p_value > 0.01


def test_shares_by_hand_of_one_column():
    # values 0 to 9 once each: every value reveals the same number of bits
    train, holdout = pd.DataFrame({"x": np.arange(5.0)}), pd.DataFrame({"x": np.arange(5.0, 10.0)})
    synthetic = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 9.0]})
    combined = PartialMembershipInference().fit(train, holdout).evaluate(synthetic)
    found = combined.details["by_kind"]["combination"]
    assert (found["train"], found["holdout"]) == pytest.approx((0.8, 0.2))
    # 26 of the 252 choices of five rows have at least four of the five rows that occur
    assert found["p_value"] == pytest.approx(26 / 252, abs=0.03)


@pytest.mark.filterwarnings("ignore")  # both real tables are equal, and constant
def test_nothing_differs_if_every_real_row_is_revealed_alike():
    train, holdout, _ = tables(50, 3)
    everything = pd.concat([train, holdout], ignore_index=True)
    result = PartialMembershipInference().fit(train, holdout).evaluate(everything)
    assert result.p_value > 0.05
    constant = pd.DataFrame({"x": np.ones(20)})
    result = PartialMembershipInference().fit(constant, constant).evaluate(constant)
    assert (result.value, result.p_value) == (0.0, 1.0)


def test_columns_rows_and_their_order_do_not_matter():
    train, holdout, synthetic = (make_mixed(80, random_state=seed) for seed in range(3))
    result = PartialMembershipInference().fit(train, holdout).evaluate(synthetic)
    turned = [
        frame.iloc[::-1, ::-1].reset_index(drop=True) for frame in (train, holdout, synthetic)
    ]
    other = PartialMembershipInference().fit(*turned[:2]).evaluate(turned[2])
    assert other.value == result.value
    assert other.p_value == result.p_value


@pytest.mark.slow
def test_sample_of_rows_and_of_combinations_is_used_for_large_tables():
    train, holdout, fresh = tables(120, 4)
    wide = [pd.concat([one, one.add_suffix("_2")], axis=1) for one in (train, holdout, fresh)]
    metric = PartialMembershipInference(max_rows=60).fit(*wide[:2])
    assert metric.evaluate(wide[2]).p_value > 0.01
    assert metric.evaluate(wide[0]).p_value < 0.01


def null_tables(kind: str, rng: np.random.Generator) -> list[pd.DataFrame]:
    """Return exchangeable tables: ties, wide, of unequal size, with missing cells, of codes."""
    sizes = {"unequal": (300, 30, 100), "small holdout": (60, 600, 100)}.get(kind, (80, 80, 80))
    n, width = sum(sizes), {"two columns": 2, "wide": 60}.get(kind, 8)
    values = rng.normal(size=(n, width)) + rng.normal(size=(n, 1))
    if kind == "ties":
        values = np.round(values)
    table = pd.DataFrame(values.round(2), columns=[f"x{j}" for j in range(width)])
    for j in range(0, width, 2):
        levels = 400 if kind == "codes" else 4
        table[f"x{j}"] = np.char.add("k", rng.integers(0, levels, n).astype(str))
    if kind == "missing":
        table = table.mask(rng.random((n, width)) < 0.45)
    if kind == "constant":
        table = table.assign(x0="a", x1=1.0)
    parts = np.split(np.arange(n), np.cumsum(sizes)[:-1])
    return [table.iloc[part].reset_index(drop=True) for part in parts]


KINDS = ("ties", "two columns", "wide", "unequal", "small holdout", "missing", "codes", "constant")


def is_significant(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    parts = null_tables(KINDS[seed % len(KINDS)], rng)
    metric = PartialMembershipInference(random_state=seed).fit(*parts[:2])
    return metric.evaluate(parts[2]).p_value <= 0.05


@pytest.mark.parametrize("kind", ["ties", "missing", "codes", "unequal"])
def test_clues_do_not_depend_on_which_rows_are_training_rows(kind):
    *real, synthetic = null_tables(kind, np.random.default_rng(5))
    rows = pd.concat(real, ignore_index=True)
    order = np.random.default_rng(6).permutation(len(rows))
    other = [rows.iloc[part] for part in np.split(order, [len(real[0])])]
    found = []
    for train, holdout in (real, [part.reset_index(drop=True) for part in other]):
        context = Context.of(train, holdout).with_synthetic(synthetic)
        places = {"train": np.arange(len(train)), "holdout": np.arange(len(holdout))}
        found.append(
            (combinations(context, places, 5000, 0), copied_cells(context, places, 5000, 0))
        )
    for actual, relabeled in zip(*found, strict=True):
        np.testing.assert_allclose(relabeled.scores, actual.scores[:, order], atol=1e-12)


def test_shares_that_are_printed_differ_as_the_scores_that_are_tested():
    """Also where train has mostly categories that are often copied by chance, and holdout others."""
    rng = np.random.default_rng(9)
    synthetic = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("aaaab"), 300)})
    train, holdout = (
        pd.DataFrame({"x": rng.normal(size=200), "c": rng.choice(list(levels), 200)})
        for levels in ("aaaaaaab", "abbbbbbb")
    )
    context = Context.of(train, holdout).with_synthetic(synthetic)
    places, is_train = {role: np.arange(200) for role in ("train", "holdout")}, np.arange(400) < 200
    for clues in (combinations(context, places, 5000, 0), copied_cells(context, places, 5000, 0)):
        np.testing.assert_allclose(clues.scores.sum(axis=1), 0.0, atol=1e-9)
        for i, scores in enumerate(clues.scores):
            of_train, of_holdout = clues.shares(i, is_train)
            beyond = scores[is_train].sum() / clues.possible[i, 0]
            assert of_train - clues.share[i] == pytest.approx(beyond)
            assert (of_train > of_holdout) == (beyond > 0) or abs(beyond) < 1e-12


@pytest.mark.filterwarnings("ignore", "error::RuntimeWarning")
@pytest.mark.parametrize("extreme", [1e150, 1e200, 1e300])
@pytest.mark.slow
def test_huge_numbers_hide_nothing_and_raise_no_error(extreme):
    train, holdout, fresh = tables(120, 6)
    one = [table.assign(weight=[extreme, *table["weight"][1:]]) for table in (train, holdout)]
    metric = PartialMembershipInference().fit(*one)
    assert metric.evaluate(taken_from_nearest(train, fresh, "hours_per_week")).p_value < 0.01


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore")
def test_level_holds_where_train_was_not_learned():
    rate = rate_of(map(is_significant, range(1000, 1400)), LEVEL)  # 5.1% of 1,200 from here on
    assert rate.holds, rate
