"""Releases that a gate must stop, and releases that it must let pass.

A builder gets the parts of one population (train, holdout, a third part, all disjoint) and a random
generator, and returns train, holdout and the synthetic table that is to be released.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from skeval.datasets import load_flights, make_mixed
from skeval.generators import GaussianCopula, SequentialCART
from skeval.relational import ForeignKey, RelationalSchema

N = 400
FOUND = ("leak found", "copies found")
UNTOLD = ("inconclusive",)
STOPPED = (*FOUND, *UNTOLD)
FEW = (*STOPPED, "no leak found")  # 1 to 3 copies may pass, where the verdict states them


class Parts(NamedTuple):
    train: pd.DataFrame
    holdout: pd.DataFrame
    third: pd.DataFrame
    rng: np.random.Generator


class Release(NamedTuple):
    train: object
    holdout: object
    synthetic: object


class Bad(NamedTuple):
    """What the gate must not let pass, and the outcomes that say so."""

    build: Callable[[Parts], Release]
    outcomes: tuple[str, ...]
    refused: bool = False  # whether a sentence that refuses the input is an answer as well


@cache
def population(name: str, seed: int) -> tuple[pd.DataFrame, ...]:
    if name == "mixed":
        return tuple(make_mixed(N, 3 * seed + i) for i in range(3))
    drawn = load_flights(3 * N, seed)
    return tuple(drawn.iloc[i * N : (i + 1) * N].reset_index(drop=True) for i in range(3))


def parts_of(name: str, seed: int = 0) -> Parts:
    return Parts(*population(name, seed), np.random.default_rng(seed))


def among(copies: pd.DataFrame, third: pd.DataFrame) -> pd.DataFrame:
    """Put rows in the place of as many others."""
    return pd.concat([copies, third.iloc[len(copies) :]], ignore_index=True)


def released(change: Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame], n: int = N):
    """Release that many train rows, changed, among rows of the third part."""
    return lambda p: Release(
        p.train,
        p.holdout,
        among(change(p.train[:n].copy(), p.rng), p.third.astype(object))
        if n < N
        else change(p.train.copy(), p.rng),
    )


def copied(n: int):
    return lambda p: Release(p.train, p.holdout, among(p.train[:n], p.third))


def numbers(table: pd.DataFrame) -> list[str]:
    return list(table.select_dtypes("number"))


def words(table: pd.DataFrame) -> list[str]:
    return [name for name, column in table.items() if column.dtype.kind in "O" or is_words(column)]


def is_words(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype)


def dates(table: pd.DataFrame) -> list[str]:
    return list(table.select_dtypes("datetime"))


def jittered(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    for name in numbers(table):
        moved = table[name] + rng.normal(0.0, 0.01 * float(table[name].std()), len(table))
        table[name] = moved.round() if table[name].dtype.kind == "i" else moved
    return table


def rounded(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Keep two digits of each number."""
    for name in numbers(table):
        size = np.floor(np.log10(table[name].abs().clip(1).astype(float))) - 1
        table[name] = (table[name] / 10.0**size).round() * 10.0**size
    return table


def spelled(how: Callable[[str], str], n_columns: int | None):
    """Spell the words of some columns another way."""

    def change(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        for name in words(table)[:n_columns]:
            cells = table[name].astype(object)
            table[name] = cells.map(how, na_action="ignore")
        return table

    return change


def upper(text: str) -> str:
    return text.upper() if text != text.upper() else text.lower()


def spaced(text: str) -> str:
    return f"{text} "


def a_day_later(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return table.assign(**{name: table[name] + pd.Timedelta(days=1) for name in dates(table)})


def one_shuffled(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    name = numbers(table)[0]
    table[name] = rng.permutation(table[name].to_numpy())
    return table


def as_text(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    for name in numbers(table):
        table[name] = table[name].map(str, na_action="ignore").astype(object)
    return table


def reordered(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    return table.iloc[rng.permutation(len(table)), ::-1].reset_index(drop=True)


def renamed(table: pd.DataFrame) -> pd.DataFrame:
    """Rename all columns but two."""
    return table.rename(columns={name: f"{name}_" for name in table.columns[2:]})


def all_missing(table: pd.DataFrame) -> pd.DataFrame:
    return table.astype(object).where(np.zeros(table.shape, dtype=bool), None)


def constant(table: pd.DataFrame) -> pd.DataFrame:
    """Repeat the most frequent value of each column."""
    return pd.DataFrame({name: [column.mode()[0]] * N for name, column in table.items()})


def ids_only(p: Parts) -> Release:
    ids = [pd.DataFrame({"id": [f"p{i + 1000 * k:06d}" for i in range(N)]}) for k in range(2)]
    return Release(*ids, ids[0].copy())


def poisoned(share: float):
    """Let the holdout hold train rows, which then hide the copies of them."""
    return lambda p: Release(p.train, among(p.train[: round(share * N)], p.holdout), p.train)


def with_holdout(n: int | None):
    """Release train beside a holdout of so many rows; None for no holdout."""
    return lambda p: Release(p.train, None if n is None else p.holdout[:n], p.train)


def both(n_train: int, n_holdout: int):
    """Release as many rows of both, so that they balance each other."""
    return lambda p: Release(
        p.train, p.holdout, among(pd.concat([p.train[:n_train], p.holdout[:n_holdout]]), p.third)
    )


def balanced(change: Callable[[pd.DataFrame], pd.DataFrame]):
    """Release 20 rows of both among others, with one column changed."""
    return lambda p: Release(
        p.train,
        p.holdout,
        among(change(pd.concat([p.train[:20], p.holdout[:20]], ignore_index=True)), p.third),
    )


def moved(table: pd.DataFrame) -> pd.DataFrame:
    """Add a hundredth to a column of numbers with decimals."""
    name = table.select_dtypes("float").columns[0]
    return table.assign(**{name: table[name] + 0.01})


def punctuated(table: pd.DataFrame) -> pd.DataFrame:
    """Put a full stop after the words of a column."""
    name = words(table)[0]
    return table.assign(**{name: table[name].astype(object).map("{}.".format)})


def without_one(table: pd.DataFrame) -> pd.DataFrame:
    name = numbers(table)[0]
    return table.assign(**{name: np.nan})


def cells(table: pd.DataFrame, rng: np.random.Generator, k: int) -> np.ndarray:
    """Mark `k` cells of each row."""
    return rng.random(table.shape).argsort(axis=1) < k


def blanked(k: int):
    """Blank other cells of each row."""
    return lambda table, rng: table.astype(object).mask(cells(table, rng, k))


def exchanged(k: int):
    """Give each row cells of another one, in other columns than the next row."""

    def change(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        others = table.astype(object).iloc[np.roll(np.arange(len(table)), 1)]
        return table.astype(object).mask(cells(table, rng, k), others.reset_index(drop=True))

    return change


def in_thousands(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Write numbers in another unit."""
    return table.assign(**{name: table[name] * 1000 for name in numbers(table)})


def columns_exchanged(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    one, other = numbers(table)[:2]
    return table.assign(**{one: table[other], other: table[one]})


def coded(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Write words as codes."""
    codes = {name: pd.factorize(table[name])[0].astype(object) for name in words(table)}
    return table.assign(**codes)


def look_alike(text: str) -> str:
    """Write a word in part with the letters of another alphabet."""
    return text.translate(str.maketrans("aeo", "\u0430\u0435\u043e"))


def quoted_cell(text: str) -> str:
    return f'"{text}"'


def hidden(p: Parts) -> Release:
    """Hide train rows in the cells of a category, as text."""
    name = words(p.third)[0]
    rows = p.train[:40].apply(lambda row: "; ".join(map(str, row)), axis=1)
    cells = [*rows, *p.third[name].astype(object)[40:]]
    return Release(p.train, p.holdout, p.third.assign(**{name: cells}))


def beside(change: Callable[[pd.DataFrame], pd.DataFrame]):
    """Release train in columns of its own beside rows of the third part."""
    return lambda p: Release(p.train, p.holdout, pd.concat([p.third, change(p.train)], axis=1))


def as_notes(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"note": table.apply(lambda row: "; ".join(map(str, row)), axis=1)})


def renamed_copy(table: pd.DataFrame) -> pd.DataFrame:
    return table.add_prefix("was_")


def named(n: int):
    """Give all persons an e-mail, and the first of the release those of train."""

    def build(p: Parts) -> Release:
        mails = [f"{p.rng.bytes(5).hex()}@mail.org" for _ in range(3 * N)]
        tables = [
            table.assign(mail=mails[i * N : (i + 1) * N])
            for i, table in enumerate((p.train, p.holdout, p.third))
        ]
        tables[2].loc[: n - 1, "mail"] = tables[0]["mail"][:n]
        return Release(*tables)

    return build


SINGLE: dict[str, Bad] = {
    **{f"{n} copied": Bad(copied(n), FEW if n < 4 else FOUND) for n in (1, 2, 3, 5, 8, 20, N)},
    "reordered": Bad(released(reordered), FOUND),
    "jittered": Bad(released(jittered), FOUND),
    "rounded": Bad(released(rounded), FOUND),
    **{
        f"20 {how.__name__} in {k or 'all'} columns": Bad(released(spelled(how, k), 20), FOUND)
        for how in (upper, spaced)
        for k in (1, 2, None)
    },
    "dates shifted": Bad(released(a_day_later), FOUND),
    "one column shuffled": Bad(released(one_shuffled), FOUND),
    "numbers as text": Bad(released(as_text), FOUND, refused=True),
    "the holdout": Bad(lambda p: Release(p.train, p.holdout, p.holdout.copy()), UNTOLD),
    "half train and half holdout": Bad(both(200, 200), STOPPED),
    "20 of train and 20 of the holdout": Bad(both(20, 20), STOPPED),
    **{
        f"20 of both, {change.__name__}": Bad(balanced(change), STOPPED)
        for change in (moved, punctuated, without_one)
    },
    "swapped": Bad(lambda p: Release(p.holdout, p.train, p.train.copy()), UNTOLD),
    "a holdout with 40% of train": Bad(poisoned(0.4), STOPPED),
    "a holdout that is train": Bad(poisoned(1.0), STOPPED, refused=True),
    **{f"a holdout of {n} rows": Bad(with_holdout(n), STOPPED, refused=True) for n in (0, 1, 5)},
    "no holdout": Bad(with_holdout(None), STOPPED),
    **{
        f"a release of {n} rows": Bad(
            lambda p, n=n: Release(p.train, p.holdout, p.train[:n]), STOPPED, refused=True
        )
        for n in (0, 1, 2, 3, 5)
    },
    "one row repeated": Bad(
        lambda p: Release(p.train, p.holdout, p.train.iloc[[0] * N].reset_index(drop=True)), STOPPED
    ),
    **{f"20 with {k} blanked": Bad(released(blanked(k), 20), FOUND) for k in (1, 2)},
    "20 with one exchanged": Bad(released(exchanged(1), 20), FOUND),
    **{
        f"20, {how.__name__}": Bad(released(spelled(how, None), 20), FOUND)
        for how in (look_alike, quoted_cell)
    },
    **{
        f"20, {how.__name__}": Bad(released(how, 20), FOUND)
        for how in (in_thousands, columns_exchanged, coded)
    },
    "hidden in a category": Bad(hidden, STOPPED),
    "beside others": Bad(beside(renamed_copy), UNTOLD),
    "in notes": Bad(beside(as_notes), UNTOLD),
    "20 e-mails": Bad(named(20), FOUND),
    "5 copied, a holdout of 20": Bad(
        lambda p: Release(p.train, p.holdout[:20], among(p.train[:5], p.third)), STOPPED
    ),
    "ids only": Bad(ids_only, UNTOLD, refused=True),
    "all missing": Bad(
        lambda p: Release(p.train, p.holdout, all_missing(p.third)), UNTOLD, refused=True
    ),
    "most columns renamed": Bad(
        lambda p: Release(p.train, p.holdout, renamed(p.train)), UNTOLD, refused=True
    ),
    "constants": Bad(
        lambda p: Release(p.train, p.holdout, constant(p.train)), STOPPED, refused=True
    ),
}
POPULATIONS = ("mixed", "flights")
BAD = [(population, name) for population in POPULATIONS for name in SINGLE]


def good(kind: str, name: str, seed: int) -> Release:
    """Return a release that knows nothing of train: a third part, or what was fitted to it."""
    parts = parts_of(name, seed)
    models = {"copula": GaussianCopula(), "trees": SequentialCART(random_state=seed)}
    synthetic = parts.third
    if kind in models:
        synthetic = models[kind].fit(parts.third).sample(N, random_state=seed)
    return Release(parts.train, parts.holdout, synthetic)


KINDS = ("third part", "copula", "trees")
# The first seeds, whatever they give: tests at 5% stop some of many good releases.
GOOD = [
    (kind, name, seed)
    for kind, n in zip(KINDS, (4, 3, 3), strict=True)
    for name in POPULATIONS
    for seed in range(n)
]

CLINIC = RelationalSchema(
    ["patients", "visits"], {"patients": "id"}, [ForeignKey("visits", "patient", "patients", "id")]
)
N_PATIENTS, N_COPIED = 100, 4


def clinic(seed: int) -> dict[str, pd.DataFrame]:
    """Return patients and visits, both with a column of every type."""
    rng = np.random.default_rng(seed)
    patients = make_mixed(N_PATIENTS, 100 + seed)[["age", "income", "city"]]
    patients.insert(0, "id", np.arange(N_PATIENTS) + 1000 * seed)
    owner = np.repeat(patients["id"].to_numpy(), rng.integers(2, 8, N_PATIENTS))
    visits = make_mixed(len(owner), 200 + seed).drop(columns="age")
    visits.insert(0, "patient", owner)
    return {"patients": patients, "visits": visits}


def visits_copied(key: str) -> Release:
    """Copy the visits of some patients of train, and hide whose they are."""
    train, holdout, third = (clinic(seed) for seed in range(3))
    rng, own = np.random.default_rng(0), third["visits"]
    rows = train["visits"][train["visits"]["patient"] < N_COPIED]
    keys = {
        "null": np.full(len(rows), np.nan),
        "orphaned": 10**6 + np.arange(len(rows)),
        "shuffled": rng.choice(third["patients"]["id"], len(rows)),
        "under one parent": np.full(len(rows), third["patients"]["id"].iloc[0]),
    }
    visits = among(rows.assign(patient=keys[key]), own)
    if key == "null":
        visits["patient"] = visits["patient"].astype("Int64")
    return Release(train, holdout, {**third, "visits": visits})


KEYS = ("null", "orphaned", "shuffled", "under one parent")


def notes(n: int, seed: int) -> pd.DataFrame:
    """Return a table of notes of words drawn at random."""
    rng = np.random.default_rng(seed)
    lexicon = np.array([f"{a}{b}{c}" for a in "bdfglmnprst" for b in "aeiou" for c in "klmnrst"])
    lengths = rng.integers(12, 40, n)
    lines = [" ".join(lexicon[rng.integers(0, len(lexicon), k)]) for k in lengths]
    return make_mixed(n, seed)[["age", "plan"]].assign(note=lines)


def quoted(n_words: int) -> Release:
    """Quote a sentence of a train note in 2% of the notes, each of another one."""
    train, holdout, third = (notes(N, seed) for seed in range(3))
    n = N // 50
    quotes = [" ".join(note.split()[:n_words]) for note in train["note"] if note.count(" ") > 20]
    lines = third["note"].to_list()
    lines[:n] = [f"{quote} {line}" for quote, line in zip(quotes[:n], lines[:n], strict=True)]
    return Release(train, holdout, third.assign(note=lines))
