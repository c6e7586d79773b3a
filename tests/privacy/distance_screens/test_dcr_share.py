from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import FunctionTransformer

import skeval
from skeval import Context, SuiteResult
from skeval.datasets import make_census, make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy import DCROverfittingProtection
from skeval.privacy.distance_screens.column_groups import (
    are_groups,
    related_and_random,
    related_groups,
)
from skeval.privacy.distance_screens.dcr import DCRShare
from skeval.stats import permutation_tests
from skeval.steps.samples import pooled_order
from tests.snapshots import raises

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


def column(*values):
    return pd.DataFrame({"x": np.array(values, dtype=float)})


def evaluate(metric, train, holdout, synthetic):
    return metric.fit(train, holdout).evaluate(synthetic)


def normal(n, p, rng):
    return pd.DataFrame(rng.normal(size=(n, p)), columns=list("abcdefghijkl")[:p])


TOY = column(0, 1, 4, 9), column(2, 6, 7, 12), column(0, 1.2, 5, 20)


# the row at 20 is capped: 11/12 from train, 8/12 from the holdout
@pytest.mark.parametrize(("ties", "share"), [("pool", 0.625), ("half", 0.625), ("holdout", 0.5)])
def test_toy_table(ties, share):
    result = evaluate(DCRShare(ties=ties), *TOY)
    assert result.value == share
    assert result.details["ties"] == 0.25
    assert result.baseline == 0.5


def test_second_toy_table():
    result = evaluate(DCRShare(), column(0, 10), column(5, 20), column(1, 2, 6, 11))
    assert result.value == 0.75
    assert result.baseline == result.details["expected"] == 0.5
    assert result.details["null_standard_error"] == pytest.approx(0.0416667**0.5, abs=1e-6)
    assert result.details["z"] == pytest.approx(1.22, abs=0.01)
    assert result.p_value == pytest.approx(1 / 3, abs=0.04)  # two of six choices
    assert result.interval[0] <= 0.75 <= result.interval[1]


@pytest.mark.parametrize(
    ("name", "share"), [("over", 1.0), ("gauss", 0.528090), ("holdout", 0.0), ("train", 1.0)]
)
@pytest.mark.slow
def test_wine(wine, name, share):
    result = evaluate(DCRShare(), wine.train, wine.holdout, getattr(wine, name))
    assert result.value == pytest.approx(share, abs=1e-6)
    half = evaluate(DCRShare(ties="half"), wine.train, wine.holdout, getattr(wine, name))
    assert half.value == pytest.approx(share, abs=1e-6)


def test_breakdown_of_sdmetrics(wine):
    result = evaluate(DCRShare("holdout", "reference"), wine.train, wine.holdout, wine.gauss)
    assert result.value == pytest.approx(0.7528089887640449, abs=1e-12)
    assert result.interval is result.p_value is result.baseline is None
    assert "z" not in result.details


def test_copies_and_holdout_are_the_extremes():
    copy = evaluate(DCRShare(), TRAIN, HOLDOUT, TRAIN)
    assert copy.value == 1.0 == copy.interval[1]
    assert copy.p_value < 1e-12
    held = evaluate(DCRShare(), TRAIN, HOLDOUT, HOLDOUT)
    assert held.value == 0.0 == held.interval[0]
    assert held.p_value > 1 - 1e-12


def test_fresh_rows_are_within_chance():
    result = evaluate(DCRShare(), TRAIN, HOLDOUT, SYNTHETIC)
    assert result.interval[0] < result.baseline < result.interval[1]
    assert result.p_value > 0.025


def test_shares_rise_with_the_leak():
    shares = []
    for leak in (0.0, 0.3, 0.7, 1.0):
        n = int(200 * leak)
        synthetic = pd.concat([TRAIN.iloc[:n], SYNTHETIC.iloc[n:]])
        shares.append(evaluate(DCRShare(), TRAIN, HOLDOUT, synthetic).value)
        assert shares[-1] == pytest.approx(0.5 + 0.5 * leak, abs=0.08)
    assert shares == sorted(shares)


def test_unequal_tables_have_another_null():
    rng = np.random.default_rng(0)
    result = evaluate(DCRShare(), *(normal(n, 3, rng) for n in (300, 100, 300)))
    assert result.baseline == 0.75
    assert result.value == pytest.approx(0.75, abs=0.08)
    assert result.p_value > 0.025


def test_it_is_the_share_behind_the_protection():
    for ties in ("pool", "half", "holdout"):
        share = evaluate(DCRShare(ties), TRAIN, HOLDOUT, SYNTHETIC)
        protection = evaluate(DCROverfittingProtection(ties), TRAIN, HOLDOUT, SYNTHETIC)
        assert share.value == protection.details["closer_to_training"]
        assert share.p_value == protection.p_value
        of_protection = {k: v for k, v in protection.details.items() if k != "sdmetrics"}
        assert {key: share.details[key] for key in of_protection} == of_protection


def test_doubled_rows_are_no_more_evidence():
    doubled = pd.concat([SYNTHETIC, SYNTHETIC], ignore_index=True)
    for groups in (None, [["age", "city"], ["plan"]]):
        metric = DCRShare(column_groups=groups)
        once, twice = (evaluate(metric, TRAIN, HOLDOUT, rows) for rows in (SYNTHETIC, doubled))
        assert once.value == pytest.approx(twice.value, abs=1e-12)
        assert once.interval == pytest.approx(twice.interval)
        assert once.p_value == pytest.approx(twice.p_value)
        errors = [r.details["null_standard_error"] for r in (once, twice)]
        assert errors[0] == pytest.approx(errors[1])
        assert errors[0] > np.sqrt(0.25 / 200)
        assert errors[1] > 1.4 * np.sqrt(0.25 / 400)  # what a binomial count would have


def test_labels_exchanged_give_the_complement():
    there = evaluate(DCRShare(), TRAIN, HOLDOUT, SYNTHETIC).value
    assert there + evaluate(DCRShare(), HOLDOUT, TRAIN, SYNTHETIC).value == pytest.approx(1.0)


def test_scale_and_names_do_not_matter():
    rescaled = [
        t.assign(age=3.0 * t["age"] - 7, city=t["city"].str.upper())
        for t in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    metric = DCRShare(column_groups=[["age", "city"]])
    assert evaluate(metric, *rescaled).value == evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC).value


GROUPS = [["age", "income", "city"], ["plan", "member", "joined"]]


def brute_masses(columns, train, holdout, synthetic):
    """Shares of synthetic rows by the nearest pooled real row, ties divided evenly."""
    real = pd.concat([train, holdout], ignore_index=True)
    gaps = np.zeros((len(synthetic), len(real)))
    for name in columns:
        mine, theirs = (t[name].to_numpy()[:, None] for t in (synthetic, real))
        if pd.api.types.is_bool_dtype(real[name]) or not (
            pd.api.types.is_numeric_dtype(real[name])
            or pd.api.types.is_datetime64_any_dtype(real[name])
        ):
            mine, theirs = (np.asarray(t[name].astype(object)) for t in (synthetic, real))
            away = (mine[:, None] != theirs[None, :]).astype(float)
        else:
            span = real[name].max() - real[name].min()
            away = np.minimum(1.0, np.abs((mine - theirs.T) / span).astype(float))
        absent = synthetic[name].isna().to_numpy()[:, None], real[name].isna().to_numpy()[None, :]
        gaps += np.where(absent[0] & absent[1], 0.0, np.where(absent[0] | absent[1], 1.0, away))
    gaps = gaps.round(8)
    nearest = gaps == gaps.min(axis=1, keepdims=True)
    return (nearest / nearest.sum(axis=1, keepdims=True)).mean(axis=0)


def test_groups_are_brute_force():
    result = evaluate(DCRShare(column_groups=GROUPS), TRAIN, HOLDOUT, SYNTHETIC)
    masses = [brute_masses(c, TRAIN, HOLDOUT, SYNTHETIC) for c in (list(TRAIN.columns), *GROUPS)]
    shares = [a[:200].sum() for a in masses]
    told = result.details["groups"]
    assert [group["share"] for group in told] == pytest.approx(shares, abs=1e-9)
    assert [group["name"] for group in told] == ["all columns", "group 1", "group 2"]
    assert [group["columns"] for group in told] == [list(TRAIN.columns), *GROUPS]
    assert result.value == pytest.approx(max(shares), abs=1e-9)
    assert result.details["worst_group"] == told[int(np.argmax(shares))]["name"]
    assert result.details["closer_to_training"] == pytest.approx(shares[0], abs=1e-9)
    # the same relabelings for all groups, and the largest share of each
    rng = np.random.default_rng(0)
    labels = np.arange(400) < 200
    masses = np.array(masses)[
        :, pooled_order(Context.of(TRAIN, HOLDOUT))
    ]  # drawn by what rows hold
    draws = (masses @ permutation_tests.shuffle_labels(labels, 1000, rng)).max(axis=0)
    reached = (draws >= max(shares) - 1e-9).sum()
    assert result.p_value == pytest.approx((1 + reached) / 1001)
    assert result.baseline == pytest.approx(draws.mean(), abs=1e-9)
    assert result.baseline > result.details["expected"] == 0.5


def test_columns_of_the_worst_group_are_named():
    columns = GROUPS[0]
    release = SYNTHETIC.copy()
    release[columns] = TRAIN[columns]
    result = evaluate(DCRShare(column_groups=GROUPS), TRAIN, HOLDOUT, release)
    assert result.details["worst_group"] == "group 1"
    assert result.contrast.observed == result.value
    assert result.contrast.expected == result.baseline
    assert result.contrast.what == (
        "synthetic rows closer to train than to the holdout, in the worst of 3 groups of columns"
    )
    verdict = SuiteResult({"share": result}, sizes={"holdout": 200}).verdict()
    assert verdict.sentence.endswith(
        "Rows follow train most in age, income and city: pool or drop the rarest values of these "
        "columns."
    )
    assert evaluate(DCRShare(), TRAIN, HOLDOUT, release).advice == ""


@pytest.mark.parametrize("ties", ["half", "holdout"])
def test_the_share_that_is_tested_divides_ties_evenly(ties):
    tables = [table[["age", "city"]].round({"age": -1}) for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    context = Context.of(*tables[:2]).with_synthetic(tables[2])  # fit would warn of shared rows
    of_half, pooled = (DCRShare(choice).evaluate_context(context) for choice in (ties, "pool"))
    assert of_half.contrast == pooled.contrast
    assert of_half.p_value == pooled.p_value


@pytest.mark.slow
def test_p_value_tends_to_the_enumeration():
    tables = [
        pd.DataFrame({"x": x, "y": y}, dtype=float)
        for x, y in (
            ((0, 10, 3), (4, 0, 9)),
            ((5, 20, 13), (1, 10, 2)),
            ((1, 2, 6, 11), (4, 1, 9, 8)),
        )
    ]
    groups = [["x"], ["y"]]
    results = [
        evaluate(DCRShare(column_groups=groups, random_state=seed), *tables) for seed in range(10)
    ]
    masses = np.array([brute_masses(c, *tables) for c in (["x", "y"], *groups)])
    every = [masses[:, list(chosen)].sum(axis=1).max() for chosen in combinations(range(6), 3)]
    baselines, p_values = zip(*((one.baseline, one.p_value) for one in results), strict=True)
    assert np.mean(baselines) == pytest.approx(np.mean(every), abs=0.01)
    assert np.mean(p_values) == pytest.approx(
        np.mean(np.array(every) >= masses[:, :3].sum(axis=1).max() - 1e-9), abs=0.02
    )


def test_a_copy_of_some_columns_hides_among_all():
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (normal(300, 8, rng) for _ in range(3))
    copied = rng.random(300) < 0.35
    synthetic.loc[copied, ["a", "b"]] = train.loc[copied, ["a", "b"]] + 1e-3
    whole = evaluate(DCRShare(), train, holdout, synthetic)
    parts = evaluate(DCRShare(column_groups=[["a", "b"], ["c", "d"]]), train, holdout, synthetic)
    assert parts.details["worst_group"] == "group 1"
    assert parts.value > 0.6 > whole.value
    assert parts.p_value < 0.005
    assert parts.interval[0] > parts.details["expected"]


def test_interval_of_several_groups_is_simultaneous():
    one = evaluate(DCRShare(), TRAIN, HOLDOUT, SYNTHETIC)
    several = evaluate(DCRShare(column_groups=GROUPS), TRAIN, HOLDOUT, SYNTHETIC)
    low, high = several.interval
    assert low <= several.value <= high
    assert high - several.value > 1.1 * (one.interval[1] - one.value) or high == 1.0


def test_groups_named_twice_are_measured_once():
    names = list(TRAIN.columns)
    metric = DCRShare(column_groups=[names[::-1], ["age", "city"], ["city", "age"]])
    told = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC).details["groups"]
    assert [group["name"] for group in told] == ["all columns", "group 2"]
    alone = DCRShare(column_groups=[names])
    plain = evaluate(DCRShare(), TRAIN, HOLDOUT, SYNTHETIC)
    assert evaluate(alone, TRAIN, HOLDOUT, SYNTHETIC).p_value == plain.p_value


def test_groups_lie_within_the_chosen_columns():
    metric = DCRShare(columns=["age", "income", "city"], column_groups=[["age", "city"]])
    told = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC).details["groups"]
    assert told[0]["columns"] == ["age", "income", "city"]
    some = [t[["age", "income", "city"]] for t in (TRAIN, HOLDOUT, SYNTHETIC)]
    again = evaluate(DCRShare(column_groups=[["age", "city"]]), *some).details["groups"]
    assert [g["share"] for g in told] == [g["share"] for g in again]


def test_unknown_columns_are_named_at_once():
    train = TRAIN.assign(note=[f"a remark of more than five words, {i}" for i in range(200)])
    metric = DCRShare(columns=["age", "city"], column_groups=[["age", "plan"], ["note", "wage"]])
    with raises(InvalidParameterError):
        metric.fit(train, train.iloc[:0:-1].reset_index(drop=True).assign(age=-1))


def test_groups_are_of_the_default_space():
    with raises(InvalidParameterError):
        DCRShare(column_groups="auto", space="euclidean").fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        DCRShare(scale="reference", space="euclidean").fit(TRAIN, HOLDOUT)


@pytest.mark.slow
def test_auto_groups():
    train, holdout, synthetic = (make_census(300, random_state=seed) for seed in range(3))
    metric = DCRShare(column_groups="auto", n_permutations=99)
    result = evaluate(metric, train, holdout, synthetic)
    assert [group["name"] for group in result.details["groups"]] == [
        "all columns", "related 1", "related 2", "related 3", "random 1", "random 2", "random 3",
    ]  # fmt: skip
    assert result.value == max(group["share"] for group in result.details["groups"])
    reverse = [table[table.columns[::-1]] for table in (train, holdout, synthetic)]
    assert evaluate(metric, *reverse).value == result.value
    few = evaluate(DCRShare(column_groups="auto"), TRAIN, HOLDOUT, SYNTHETIC)
    assert len(few.details["groups"]) == 1
    assert few.value == evaluate(DCRShare(), TRAIN, HOLDOUT, SYNTHETIC).value


@pytest.mark.parametrize("ties", ["half", "holdout"])
def test_groups_with_other_ties(ties):
    result = evaluate(DCRShare(ties, column_groups=[["plan"]]), TRAIN, HOLDOUT, SYNTHETIC)
    whole, plan = result.details["groups"]
    # three levels: every row has its like in both tables
    assert plan["share"] == {"half": 0.5, "holdout": 0.0}[ties]
    assert result.value == max(whole["share"], plan["share"])
    pooled = evaluate(DCRShare(column_groups=[["plan"]]), TRAIN, HOLDOUT, SYNTHETIC)
    assert result.p_value == pooled.p_value


def test_groups_on_own_scales():
    result = evaluate(DCRShare(scale="reference", column_groups=GROUPS), TRAIN, HOLDOUT, SYNTHETIC)
    assert len(result.details["groups"]) == 3
    assert result.value == max(group["share"] for group in result.details["groups"])
    assert result.p_value is result.interval is result.baseline is None


@pytest.mark.slow
def test_draws_with_groups():
    common = {"column_groups": GROUPS, "num_rows_subsample": 80, "n_permutations": 99}
    metric = DCRShare(num_iterations=3, **common)
    result = evaluate(metric, TRAIN, HOLDOUT, SYNTHETIC)
    singles = [
        evaluate(DCRShare(random_state=seed, **common), TRAIN, HOLDOUT, SYNTHETIC)
        for seed in range(3)
    ]
    shares = np.array([[g["share"] for g in single.details["groups"]] for single in singles])
    assert result.value == pytest.approx(shares.mean(axis=0).max())
    p_values = [single.p_value for single in singles]
    assert result.p_value == pytest.approx(min(1.0, 2 * np.mean(p_values)))
    assert result.baseline == pytest.approx(np.mean([single.baseline for single in singles]))
    assert result.details["between_iterations"] > 0


def test_iterations_need_a_subsample():
    with raises(InvalidParameterError):
        DCRShare(num_iterations=3).fit(TRAIN, HOLDOUT)


@pytest.mark.parametrize(
    "space",
    ["euclidean", FunctionTransformer(lambda f: f[["age", "visits"]].to_numpy(dtype=float))],
)
def test_other_spaces(space):
    fresh = evaluate(DCRShare(space=space), TRAIN, HOLDOUT, SYNTHETIC)
    assert fresh.baseline == 0.5
    assert fresh.p_value > 0.025
    assert len(fresh.details["groups"]) == 1
    copy = evaluate(DCRShare(space=space), TRAIN, HOLDOUT, TRAIN)
    assert copy.p_value < 1e-6
    assert copy.value > 0.7  # whole numbers tie
    with raises(InvalidParameterError):
        evaluate(DCRShare(space=space, columns=["age"]), TRAIN, HOLDOUT, SYNTHETIC)


def test_rows_that_are_all_alike_tell_nothing():
    table = pd.DataFrame({"c": ["a"] * 10})
    context = Context.of(table, table.iloc[:5]).with_synthetic(table)
    result = DCRShare().evaluate_context(context)
    assert result.value == pytest.approx(result.baseline) == pytest.approx(2 / 3)
    assert result.p_value == 1.0
    assert np.isnan(result.details["z"])
    text = pd.DataFrame({"note": [f"a remark of more than five words, {i}" for i in range(20)]})
    context = Context.of(text, text, schema={"note": "text"}).with_synthetic(text)
    found = DCRShare().evaluate_context(context)
    assert np.isnan(found.value)
    assert isinstance(found.warnings[0], DegenerateInputWarning)


def test_missing_cells_and_one_row():
    train = pd.DataFrame({"n": [0.0, 10.0, np.nan], "c": ["a", "b", None]})
    holdout = pd.DataFrame({"n": [4.0, 6.0], "c": ["a", None]})
    context = Context.of(train, holdout)
    # (5, a) is .25 from train, .05 from the holdout; the missing row is in train; (20, b): .5, 1
    synthetic = pd.DataFrame({"n": [5.0, np.nan, 20.0], "c": ["a", None, "b"]})
    result = DCRShare().evaluate_context(context.with_synthetic(synthetic))
    assert result.value == pytest.approx(2 / 3)
    one = DCRShare().evaluate_context(context.with_synthetic(synthetic.iloc[:1]))
    assert one.value == 0.0
    assert one.interval == (0.0, 1.0)


@pytest.mark.slow
def test_contract_with_groups():
    skeval.check_metric(DCRShare(column_groups=[["age"], ["city", "plan"]], n_permutations=49))


# ------------------------------------------------------------------------------- groups of columns


@pytest.mark.parametrize("value", ["auto", [["a"]], [["a", "b"], ["a"]], (("a",),)])
def test_legal_groups(value):
    assert are_groups(value)


@pytest.mark.parametrize("value", ["some", [], [[]], ["a"], [["a"], "b"], [[1]], 3, None])
def test_illegal_groups(value):
    assert not are_groups(value)


def test_blocks_are_found_whatever_their_order():
    sizes = (3, 5, 4)
    block = np.repeat(np.arange(3), sizes)
    order = np.random.default_rng(0).permutation(12)
    block = block[order]
    rng = np.random.default_rng(1)
    noise = rng.uniform(0, 0.1, (12, 12))
    associations = np.where(np.equal.outer(block, block), 0.8, 0.1) + (noise + noise.T) / 2
    np.fill_diagonal(associations, 1.0)
    groups = related_groups(associations)
    assert sorted(len(group) for group in groups) == sorted(sizes)
    assert all(len(set(block[group])) == 1 for group in groups)
    assert sorted(np.concatenate(groups).tolist()) == list(range(12))


@pytest.mark.parametrize("n", [6, 11, 15, 40])
def test_no_group_is_tiny(n):
    # a column that differs from all others would be a separate cluster
    associations = np.full((n, n), 0.9)
    associations[0] = associations[:, 0] = 0.0
    np.fill_diagonal(associations, 1.0)
    assert min(len(group) for group in related_groups(associations)) >= max(2, n // 5)


def test_columns_without_association_are_divided():
    assert sorted(np.concatenate(related_groups(np.eye(11))).tolist()) == list(range(11))


@pytest.fixture(scope="module")
def context():
    return Context.of(make_census(400, random_state=0), make_census(300, random_state=1))


def test_both_kinds_divide_the_columns(context):
    names = tuple(context.schema.measured)
    groups = related_and_random(context, names, 0)
    assert list(groups) == [f"{kind} {i}" for kind in ("related", "random") for i in (1, 2, 3)]
    for kind in ("related", "random"):
        parts = [groups[f"{kind} {i}"] for i in (1, 2, 3)]
        assert sorted(name for part in parts for name in part) == sorted(names)
    assert {len(groups[f"random {i}"]) for i in (1, 2, 3)} == {5}
    together = next(group for name, group in groups.items() if "schooling" in group)
    assert "school_years" in together


def test_groups_do_not_depend_on_order_or_labels(context):
    names = tuple(context.schema.measured)
    groups = related_and_random(context, names, 0)
    shuffled = [
        context[role].sample(frac=1.0, random_state=1).iloc[:, ::-1]
        for role in ("holdout", "train")
    ]
    again = related_and_random(Context.of(*shuffled), names[::-1], 0)
    assert again == groups
    assert related_and_random(context, names, 1) != groups


def test_few_columns_have_no_groups(context):
    names = tuple(context.schema.measured)
    assert related_and_random(context, names[:10], 0) == {}
    assert len(related_and_random(context, names[:11], 0)) == 6


def test_odd_columns_are_grouped():
    """Constant, empty, mixed columns and missing cells have an association of 0, or their own."""
    train, holdout = (
        make_mixed(100, random_state=seed).assign(
            constant=1.0,
            empty=np.nan,
            level="a",
            x=np.random.default_rng(seed).normal(size=100),
            y=np.where(np.arange(100) % 3 == 0, np.nan, 5.0),
        )
        for seed in range(2)
    )
    context = Context.of(train, holdout)
    groups = related_and_random(context, tuple(context.schema.measured), 0)
    assert sum(len(group) for group in groups.values()) == 2 * 12


def test_duplicated_columns_stand_together():
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(2):
        base = rng.normal(size=(200, 6))
        tables.append(
            pd.DataFrame({f"c{j}": base[:, j // 2] + 0.01 * base[:, j % 2] for j in range(12)})
        )
    context = Context.of(*tables)
    groups = related_and_random(context, tuple(context.schema.measured), 0)
    for j in range(0, 12, 2):
        assert any({f"c{j}", f"c{j + 1}"} <= set(groups[f"related {i}"]) for i in (1, 2, 3))
