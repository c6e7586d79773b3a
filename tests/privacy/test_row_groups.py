"""Training rows that a release repeats with so much noise that no copy is near."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.generators import GaussianCopula
from skeval.privacy.near_copies import near_copies
from tests.calibrations import Claim, rate_of

NUMBERS = ["age", "height", "weight", "pulse", "income", "rent"]


def people(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of persons, with a column of codes that few of them share."""
    z = rng.normal(size=(n, 6)) @ (0.6 * np.eye(6) + 0.1)
    means, spreads = [45, 170, 75, 70, 10, 7], [15, 10, 15, 12, 0.6, 0.5]
    rows = pd.DataFrame(means + spreads * z, columns=NUMBERS)
    rows[["income", "rent"]] = np.exp(rows[["income", "rent"]])
    return rows.assign(
        sex=rng.choice(["f", "m"], n),
        region=rng.choice(list("abcdefgh"), n),
        code=rng.choice([f"K{i}" for i in range(200)], n),
    )


def repeated(rows: pd.DataFrame, times: int, noise: float, rng: np.random.Generator):
    """Return each row several times, with noise in all numbers and new codes."""
    again = rows.loc[rows.index.repeat(times)].reset_index(drop=True)
    again[NUMBERS] *= 1.0 + noise * rng.normal(size=(len(again), len(NUMBERS)))
    return again.assign(code=people(len(again), rng)["code"])


def among(copies: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([copies, fresh.iloc[len(copies) :]], ignore_index=True)


def tables(seed: int, n: int = 600) -> tuple[np.random.Generator, list[pd.DataFrame]]:
    rng = np.random.default_rng(seed)
    return rng, [people(n, rng) for _ in range(3)]


@pytest.mark.parametrize("seed", range(3))
def test_a_person_with_noise_in_each_copy_is_found(seed):
    rng, (train, holdout, fresh) = tables(seed)
    released = among(repeated(train.iloc[[7]], 60, 0.02, rng), fresh)
    context = Context.of(train, holdout)
    counted = near_copies(context.with_synthetic(released))
    assert counted.form == "near copies of one"
    assert 40 <= counted.train.n <= 60
    assert counted.leak_sentence
    assert near_copies(Context.of(train).with_synthetic(released)).leak_sentence
    nobody = among(repeated(people(1, rng), 60, 0.02, rng), fresh)
    assert not near_copies(context.with_synthetic(nobody)).leak_sentence
    exchanged = Context.of(holdout, train).with_synthetic(released)
    assert not near_copies(exchanged).leak_sentence  # it is a holdout row


@pytest.mark.parametrize("seed", range(3))
def test_a_person_mixed_with_another_one_in_each_copy_is_found(seed):
    """The noise does not cancel out, because the middle of all other persons is elsewhere."""
    rng, (train, holdout, fresh) = tables(30 + seed)

    def mixed(person):
        copies = fresh.iloc[:100].copy()
        copies[NUMBERS] = 0.06 * copies[NUMBERS] + 0.94 * person[NUMBERS].astype(float)
        kept = rng.random(len(copies)) < 0.75
        copies.loc[kept, ["sex", "region"]] = person[["sex", "region"]].tolist()
        return among(copies, fresh)

    context = Context.of(train, holdout)
    counted = near_copies(context.with_synthetic(mixed(train.iloc[7])))
    assert counted.form == "near copies of one"
    assert counted.leak_sentence
    nobody = people(1, rng).iloc[0]
    assert not near_copies(context.with_synthetic(mixed(nobody))).leak_sentence


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_persons", "times"), [(1, 90), (8, 20)])
def test_persons_with_other_categories_in_each_copy_are_found(seed, n_persons, times):
    rng, (train, holdout, fresh) = tables(40 + seed)

    def released(persons):
        copies = repeated(persons, times, 0.02, rng)
        return among(copies.assign(**people(len(copies), rng)[["sex", "region"]]), fresh)

    context = Context.of(train, holdout)
    assert near_copies(context.with_synthetic(released(train.iloc[:n_persons]))).leak_sentence
    others = released(people(n_persons, rng))
    assert not near_copies(context.with_synthetic(others)).leak_sentence


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("replaced", ["height", "rent", "region"])
def test_persons_with_another_value_of_one_column_in_each_copy_are_found(seed, replaced):
    rng, (train, holdout, fresh) = tables(50 + seed)

    def released(persons):
        copies = repeated(persons, 50, 0.002, rng)
        return among(copies.assign(**{replaced: people(len(copies), rng)[replaced]}), fresh)

    context = Context.of(train, holdout)
    synthetic = released(train.iloc[:3])
    counted = near_copies(context.with_synthetic(synthetic))
    assert counted.leak_sentence
    turned = [table[table.columns[::-1]] for table in (train, holdout, synthetic)]
    assert near_copies(Context.of(*turned[:2]).with_synthetic(turned[2])) == counted
    assert not near_copies(context.with_synthetic(released(people(3, rng)))).leak_sentence


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("has_holdout", [True, False])
@pytest.mark.parametrize(
    ("replaced", "noise"), [(["rent", "age", "sex", "region"], 0.0), (["weight", "region"], 0.002)]
)
def test_persons_with_other_values_of_several_columns_in_each_copy_are_found(
    replaced, noise, has_holdout, seed
):
    """In these columns, the copies are as distant from the row as any other row."""
    rng, (train, holdout, fresh) = tables(60 + seed, 1000)

    def released(persons):
        copies = repeated(persons, 60, noise, rng)
        return among(copies.assign(**people(len(copies), rng)[replaced]), fresh)

    context = Context.of(train, holdout) if has_holdout else Context.of(train)
    synthetic = released(train.iloc[:2])
    counted = near_copies(context.with_synthetic(synthetic))
    assert counted.form == "near copies of one"
    assert 10 <= counted.train.n <= 60
    assert counted.leak_sentence
    for persons in (people(2, rng), holdout.iloc[:2]):
        others = context.with_synthetic(released(persons))
        assert not near_copies(others).leak_sentence
    moved = [table.sample(frac=1.0, random_state=seed) for table in (train, holdout, synthetic)]
    moved = [table[table.columns[::-1]].reset_index(drop=True) for table in moved]
    again = Context.of(*moved[: 1 + has_holdout]).with_synthetic(moved[2])
    assert near_copies(again) == counted


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_persons", "times"), [(25, 8), (40, 3), (80, 1)])
def test_many_persons_with_other_values_of_several_columns_are_found(n_persons, times, seed):
    rng, (train, holdout, fresh) = tables(70 + seed, 1000)

    def released(persons):
        copies, replaced = repeated(persons, times, 0.0, rng), ["rent", "sex", "region"]
        return among(copies.assign(**people(len(copies), rng)[replaced]), fresh)

    context = Context.of(train, holdout)
    counted = near_copies(context.with_synthetic(released(train.iloc[:n_persons])))
    assert counted.form == ("near copies" if times == 8 else "near copies in part")
    assert counted.leak_sentence
    others = released(people(n_persons, rng))
    assert not near_copies(context.with_synthetic(others)).leak_sentence


@pytest.mark.parametrize("seed", range(3))
def test_a_family_with_noise_in_each_copy_is_found(seed):
    rng, (train, holdout, fresh) = tables(10 + seed)
    released = among(repeated(train.iloc[5:10], 15, 0.02, rng), fresh)
    counted = near_copies(Context.of(train, holdout).with_synthetic(released))
    assert counted.form == "near copies"
    assert 4 <= counted.train.n <= 6
    assert counted.leak_sentence
    shuffled = (rows.sample(frac=1.0, random_state=seed) for rows in (train, holdout, released))
    again_train, again_holdout, again = (rows.reset_index(drop=True) for rows in shuffled)
    assert near_copies(Context.of(again_train, again_holdout).with_synthetic(again)) == counted


def test_groups_by_hand():
    # the rows around 4 are closer to it than half of the distance to 5, but for 4.6
    train, holdout = (pd.DataFrame({"x": np.arange(20.0) + start}) for start in (0.0, 20.0))
    around = [*(4.0 + np.arange(-6, 8) / 100.0), 4.6]
    released = pd.DataFrame({"x": [*around, *np.arange(30, 36.0)]})
    counted = near_copies(Context.of(train, holdout).with_synthetic(released))
    assert (counted.train.n, counted.train.most) == (13, 9)  # one of the 14 is an exact copy
    assert counted.form == "near copies of one"
    farther = pd.DataFrame({"x": [*(np.array(around) + 0.1), *np.arange(30, 36.0)]})
    assert not near_copies(Context.of(train, holdout).with_synthetic(farther)).leak_sentence


def test_copies_of_one_person_do_not_make_other_rows_equal():
    rng, (train, holdout, fresh) = tables(20)
    released = among(repeated(people(1, rng), 300, 0.02, rng), fresh)
    counted = near_copies(Context.of(train, holdout).with_synthetic(released))
    assert 150 < counted.n_distinct <= 301


def heavy(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of which a few are far from all others."""
    numbers = {"a": rng.pareto(1.0, n), "b": np.exp(3.0 * rng.normal(size=n))}
    return pd.DataFrame(numbers).assign(c=rng.choice(["u", "v"], n))


def is_found_by_chance(seed: int) -> bool:
    """Judge new rows, rows of a copula, and rows that repeat a few other persons."""
    rng = np.random.default_rng(1000 + seed)
    draw = (people, heavy)[seed % 2]
    train, holdout, n = draw(200, rng), draw(200, rng), (200, 1000)[seed // 2 % 2]
    synthetic = draw(n, rng)
    if seed % 3 == 1:
        synthetic = GaussianCopula().fit(synthetic).sample(n, random_state=seed)
    elif seed % 6 == 2:
        synthetic = repeated(people(20, rng), n // 20, 0.03, rng)
    context = Context.of(train, None if seed % 5 == 0 else holdout)
    return bool(near_copies(context.with_synthetic(synthetic)).leak_sentence)


@pytest.mark.calibration
def test_groups_around_training_rows_are_rare_by_chance():
    rate = rate_of(map(is_found_by_chance, range(600)), Claim(0.01, 0.0, 0.03))
    assert rate.holds, rate
