"""One value of a training row that a release repeats with a little noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.privacy.close_values import values_around_one
from skeval.privacy.equal_rows import columns_to_compare, copies_of_values
from tests.calibrations import Claim, rate_of


def persons(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    seconds = rng.integers(0, 3 * 365 * 86_400, n)
    return pd.DataFrame(
        {
            "income": np.exp(rng.normal(10.3, 0.5, n)).round(2),
            "height": rng.normal(170, 10, n),
            "visit": pd.Timestamp("2021-01-01") + pd.to_timedelta(seconds, "s"),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def found_in(train: pd.DataFrame, holdout: pd.DataFrame | None, released: pd.DataFrame) -> set[str]:
    context = Context.of(train, holdout).with_synthetic(released)
    copies = copies_of_values(context, columns_to_compare(context.schema, None), None)
    return {one.what for one in copies if one.leak_sentence}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("with_holdout", [True, False])
@pytest.mark.parametrize(("column", "noise"), [("income", 0.2), ("height", 0.0003), ("visit", 40)])
def test_a_value_with_noise_in_each_row_is_found(column, noise, with_holdout, seed):
    train, holdout, fresh = (persons(1_000, 10 * seed + i) for i in range(3))
    rng = np.random.default_rng(seed)
    cells = train[column].to_numpy()
    nearest = [np.partition(np.abs(cells - cell), 1)[1] for cell in cells[:200]]
    alone = int(np.argmax(nearest))

    def released(value):
        around = rng.uniform(-noise, noise, 30)
        if column == "visit":
            around = pd.to_timedelta(around.round(), "s")
        copies = fresh.copy()
        copies.loc[:29, column] = [value + one for one in around]
        return copies

    tables = train, holdout if with_holdout else None
    what = f"rows close to one value of {column}"
    assert found_in(*tables, released(train[column][alone])) == {what}
    assert found_in(*tables, fresh) == set()
    value = holdout[column][0] if with_holdout else persons(1, 99)[column][0]
    assert found_in(*tables, released(value)) == set()


@pytest.mark.parametrize("in_lower_case", [True, False])
@pytest.mark.parametrize("sign", ["/", " ", ""])
@pytest.mark.parametrize("n_codes", [20_000, 400_000_000])  # categories, and ids
def test_a_code_of_one_row_is_found_with_other_signs(n_codes, sign, in_lower_case):
    train, holdout, fresh = (
        persons(500, seed).assign(
            code=[
                f"L-{code // 100}-{code % 100:02d}X"
                for code in np.random.default_rng(seed).integers(0, n_codes, 500)
            ]
        )
        for seed in range(3)
    )
    codes = train["code"].value_counts()

    def released(code):
        cells = fresh["code"].where(np.arange(500) >= 15, code).str.replace("-", sign)
        return fresh.assign(code=cells.str.lower() if in_lower_case else cells)

    alone = codes.index[(codes == 1) & ~codes.index.isin([*holdout["code"], *fresh["code"]])][0]
    assert "rows with one value of code" in found_in(train, holdout, released(alone))
    assert "rows with one value of code" not in found_in(train, holdout, released("L-7777777-77X"))


def test_a_text_of_one_row_is_found_with_other_signs():
    words = ["pruned", "west", "side", "ivy", "crew", "old", "near", "wall", "wet", "soil"]

    def remarks(seed):
        chosen = np.random.default_rng(seed).choice(words, (500, 6))
        return [", ".join([" ".join(row[:3]), " ".join(row[3:])]) for row in chosen]

    tables = [persons(500, seed).assign(note=remarks(seed)) for seed in range(3)]

    def released(text):
        signs = [", ", "; ", " - ", " / ", "... ", " (", ": ", "  ", ". ", " | ", ",", ";", "/"]
        forms = [text.replace(", ", sign) for sign in signs]
        return tables[2].assign(note=forms + tables[2]["note"].tolist()[len(forms) :])

    assert "rows with one value of note" in found_in(*tables[:2], released(tables[0]["note"][7]))
    assert found_in(*tables[:2], released(remarks(9)[7])) == set()


def test_groups_by_hand():
    real = np.array([0.0, 1.0, 2.0, 3.0, *np.arange(7.0, 27.0), 7.0, np.nan])
    is_train = np.arange(real.size) != 1
    around = np.array([-2, -1, -1, 1, 1, 1, 2, 2, 3, 3, 3]) / 1_000.0
    others = np.array([1.3, 0.4, 0.3, 2.0, np.nan, 6.9, 7.0])
    found = values_around_one(real, is_train, np.array([*(2.0 + around), *others]))
    assert (found.n, found.most) == (11, 9)
    twice = np.array([*(2.0 + around), *(2.0 + around), *others])
    found = values_around_one(real, is_train, twice)
    assert (found.n, found.most) == (22, 11)  # 29 synthetic rows, 25 real rows
    for middle in (1.0, 2.01, 7.0):  # an unseen row, no row, and two rows
        none = values_around_one(real, is_train, np.array([*(middle + around), *others]))
        assert none.n == 0
    between = np.array([*(2.0 + around), *(1.0 + around[::2]), *others])
    assert values_around_one(real, is_train, between).most == 3 * 7  # and 1.3
    for nothing in (real[:1], real[-1:]):
        assert values_around_one(nothing, np.ones(1, dtype=bool), around).n == 0


def test_whole_numbers_constants_and_missing_cells_have_no_groups():
    tables = [
        pd.DataFrame({"day": np.arange(20) % 7, "one": 1.5, "size": np.arange(20.0), "none": None})
        for _ in range(3)
    ]
    assert found_in(*tables) == set()


@pytest.mark.calibration
def test_groups_around_training_values_are_rare_by_chance():
    def is_found(seed: int) -> bool:
        train, holdout, fresh = (persons(300, 3_000 + 3 * seed + i) for i in range(3))
        rng = np.random.default_rng(seed)
        if seed % 3 == 1:  # a generator that repeats some values of other rows often
            others = persons(300, 9_000 + seed)
            for name in ("income", "height"):
                fresh[name] = (
                    others[name].sample(300, replace=True, weights=rng.pareto(2, 300)).array
                )
        elif seed % 3 == 2:  # a generator with a mode
            for name, noise in (("income", 0.1), ("height", 0.001)):
                mode, rows = persons(1, 9_000 + seed)[name][0], rng.random(300) < 0.2
                fresh.loc[rows, name] = mode + rng.uniform(-noise, noise, rows.sum())
        return bool(found_in(train, holdout if seed % 4 else None, fresh))

    rate = rate_of(map(is_found, range(600)), Claim(0.01, 0.0, 0.03))
    assert rate.holds, rate
