"""Numbers and dates of training rows in texts of a release."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.steps.identifiers import identifier_copies
from skeval.steps.written_values import numbers_in_texts, of_same_form
from tests.calibrations import Claim, rate_of

N = 500
WORDS = ["calm", "late", "kind", "tired", "often", "alone", "early", "fine"]
PAID = "owes {0.fee:.2f}"
SINCE = "since {0.since:%d.%m.%Y}"


def pupils(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    days = pd.to_timedelta(rng.integers(0, 20_000, N), "D")
    return pd.DataFrame(
        {
            "fee": rng.uniform(100, 2_000, N).round(2),
            "since": pd.Timestamp("1960-01-01") + days,
            "level": rng.choice(list("abc"), N),
            "email": [f"{word}{k}@mail.org" for word, k in _words(rng, rng.integers(0, 9_999, N))],
            "remark": [f"{word} in {k} lessons" for word, k in _words(rng, rng.integers(1, 99, N))],
        }
    )


def _words(rng: np.random.Generator, numbers: np.ndarray) -> list[tuple[str, int]]:
    return [(" ".join(rng.choice(WORDS, 3)), int(number)) for number in numbers]


def telling(synthetic: pd.DataFrame, told: pd.DataFrame, sentence: str) -> pd.DataFrame:
    """Return a table whose first remarks tell a value of other rows."""
    said = [sentence.format(row) for row in told.itertuples()]
    remarks = synthetic["remark"].tolist()
    remarks[: len(said)] = [f"{a}; {b}" for a, b in zip(remarks, said, strict=False)]
    return synthetic.assign(remark=remarks)


def found_in(train: pd.DataFrame, holdout: pd.DataFrame | None, released: pd.DataFrame) -> set[str]:
    copies = identifier_copies(Context.of(train, holdout).with_synthetic(released))
    return {one.what for one in copies if one.leak_sentence}


@pytest.mark.parametrize("with_holdout", [True, False])
@pytest.mark.parametrize(("sentence", "column"), [(PAID, "fee"), (SINCE, "since")])
def test_values_of_several_rows_are_found(sentence, column, with_holdout):
    train, holdout, synthetic, others = map(pupils, range(4))
    real = train, holdout if with_holdout else None
    found = found_in(*real, telling(synthetic, train[50:110], sentence))
    assert found == {f"values of {column}"}
    for told in (others, synthetic):
        assert found_in(*real, telling(synthetic, told, sentence)) == set()
    told = [one.pipe(telling, one, sentence) if one is not None else None for one in real]
    assert found_in(*told, telling(synthetic, synthetic, sentence)) == set()


@pytest.mark.parametrize("with_holdout", [True, False])
def test_a_value_of_one_row_in_many_texts_is_found(with_holdout):
    train, holdout, synthetic, others = map(pupils, range(4))
    real = train, holdout if with_holdout else None

    def often(one):
        return pd.concat([one.loc[[0] * 30], others[:100]])

    found = found_in(*real, telling(synthetic, often(train[7:].reset_index()), PAID))
    assert found == {"texts with one value of fee"}
    assert found_in(*real, telling(synthetic, often(pupils(5)), PAID)) == set()
    standard = [telling(one, often(train[7:].reset_index()), PAID) for one in (train, holdout)]
    told = standard[0], standard[1] if with_holdout else None
    assert found_in(*told, telling(synthetic, often(train[7:].reset_index()), PAID)) == set()


def test_numbers_of_texts_by_hand():
    rows = {"paid 1,234.50 on 3.12.1985": 2, "room 12": 9, "1234.5 again, 99999 times": 1}
    found = numbers_in_texts(rows)
    assert (found["1234.5"], found["3/12/85"], found["99999"], found["12"]) == (3, 2, 1, 0)
    column = Counter({"12.34": 20, "1.5": 1, "7777.7": 1, "55.12": 80})
    numbers = Counter({"98.76": 3, "1.2": 1, "98.7": 1, "12/3/85": 5})
    assert of_same_form(numbers, column) == {"98.76": 3, "1.2": 1}


@pytest.mark.parametrize(
    "text",
    [
        "seen on 3 May 2024 again",
        "3. Mai 2024",
        "May 3, 2024: ill",
        "on May 3rd 2024",
        "the 3rd may, 2024",
        "cust. b. 03 May 24, paid",
        "2024/05/03",
        "03.05.24",
    ],
)
def test_dates_in_any_notation(text):
    assert numbers_in_texts({text: 1})["3/5/24"] == 1


def test_months_in_words():
    said = "on {0:%d} {0:%B} {0:%Y}, or {0:%b}. {0:%d}, {0:%Y}"
    for day in pd.date_range("2031-01-29", periods=12, freq="31D"):
        parts = sorted([day.day, day.month, day.year % 100])
        token = "/".join(map(str, parts))
        assert numbers_in_texts({said.format(day): 1})[token] == 1


@pytest.mark.calibration
def test_texts_rarely_contain_values_of_training_rows_by_chance():
    def is_found(seed: int) -> bool:
        train, holdout, synthetic, others = (pupils(4 * seed + i) for i in range(4))
        sentence = (PAID, SINCE)[seed % 2]
        real = [telling(one, one, sentence) if seed % 3 == 1 else one for one in (train, holdout)]
        released = telling(synthetic, (synthetic, others)[seed % 2], sentence)
        return bool(found_in(real[0], real[1] if seed % 4 else None, released))

    rate = rate_of(map(is_found, range(300)), Claim(0.01, 0.0, 0.03))
    assert rate.holds, rate
