"""Measure which kinds of small or disguised leaks a verdict finds.

    python benchmarks/leak_kinds.py [--draws 8] [--sizes 500 1000] [--jobs 2] [--only phone]

The training data, the holdout data and the fresh rows are disjoint draws of a generated census or
of a table of contacts. Each kind builds a release from them. Each line of the output is one kind
and one size: the number of draws, how often a leak or copies were found, how often
`--fail-on leak` did not pass, and the metrics that were significant.
"""

from __future__ import annotations

import argparse
import base64
import time
import warnings
from collections import Counter

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from null_settings import GATE, privacy_suite
from threadpoolctl import threadpool_limits

from skeval import Context
from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.steps.neighbors import nearest

FIRST = [
    start + end
    for start in ("Mar", "Al", "Jo", "Ka", "Li", "So")
    for end in ("ina", "bert", "han", "ros", "sa", "fia", "nas", "dor", "ko", "mir")
]
LAST = [
    start + end
    for start in ("Berg", "Lund", "Stein", "Wald", "Hoff", "Kraus", "Brandt", "Falk")
    for end in ("er", "mann", "sen", "holm", "tal", "ner", "ström", "dahl", "vik", "hus")
]
WORDS = ["the", "order", "came", "late", "and", "we", "called", "about", "it", "twice", "before"]


def draw_census(n, rng):
    """Return census rows with a wage of many values."""
    table = make_census(n, random_state=int(rng.integers(2**31)))
    wage = np.exp(9.5 + 0.08 * table["school_years"] + 0.4 * rng.normal(size=n)).round(2)
    return table.assign(wage=wage)


def draw_wages(n, rng):
    """Return seven columns of which only the wage has many values."""
    names = ["age", "marital_status", "ethnicity", "schooling", "employer", "income", "wage"]
    return draw_census(n, rng)[names]


def draw_contacts(n, rng):
    """Return contacts with an ID, a name, a phone number, an e-mail address and a remark."""
    first, last = rng.choice(FIRST, n), rng.choice(LAST, n)
    phones = [f"+1 ({a}) {b}-{c:04d}" for a, b, c in zip(
        rng.integers(201, 990, n), rng.integers(200, 999, n), rng.integers(0, 10**4, n), strict=True
    )]  # fmt: skip
    numbers = rng.integers(0, 10**6, n)
    table = draw_census(n, rng)[["age", "employer", "weight", "hours_per_week", "income", "wage"]]
    return table.assign(
        pid=[f"P{one:08d}" for one in rng.choice(10**8, n, replace=False)],
        name=[f"{a} {b}" for a, b in zip(first, last, strict=True)],
        phone=phones,
        email=[
            f"{a}.{b}{c}@example.org".lower() for a, b, c in zip(first, last, numbers, strict=True)
        ],
        remark=[" ".join(rng.choice(WORDS, 9)) for _ in range(n)],
    )


def take_income_of_nearest(train, fresh, rng):
    """The income of each row is that of the training row with the nearest numbers."""
    columns = ["age", "weight", "school_years", "hours_per_week"]
    context = Context.of(train[columns]).with_synthetic(fresh[columns])
    _, rows = nearest(context, "synthetic", "train")
    return fresh.assign(income=train["income"].to_numpy()[rows[:, 0]])


def with_answer(table, rng):
    """Return a table with a yes or no, which the age decides on loosely."""
    return table.assign(sick=np.where(rng.normal(40, 20, len(table)) < table["age"], "yes", "no"))


def draw_answers(n, rng):
    """Return census rows with a yes or no, and with another one that few rows have."""
    rare = np.where(rng.random(n) < 0.05, "yes", "no")
    return with_answer(draw_census(n, rng), rng).assign(rare=rare)


def take_nearest(name, fraction=1.0, noise=0.0):
    """Return a leak in which some rows have one value of the most similar training row."""

    def build(train, fresh, rng):
        others = [one for one in train if one != name]
        context = Context.of(train[others]).with_synthetic(fresh[others])
        _, rows = nearest(context, "synthetic", "train")
        values = train[name].iloc[rows[:, 0]].reset_index(drop=True)
        if noise:
            values = (values * (1 + noise * rng.normal(size=len(values)))).round(2)
        return fresh.assign(**{name: values.where(rng.random(len(fresh)) < fraction, fresh[name])})

    return build


def take_triples(train, fresh, rng, fraction=1.0):
    """The values of three columns come together from one training row."""
    release = fresh.copy()
    rows = np.flatnonzero(rng.random(len(fresh)) < fraction)
    for name in ("age", "employer", "income"):
        values = release[name].to_numpy(dtype=object)
        values[rows] = train[name].to_numpy(dtype=object)[rows]
        release[name] = pd.Series(values, index=release.index).astype(fresh[name].dtype)
    return release


def repeat_value(train, fresh, rng):
    """One training row alone has the value that 1% of the rows of the release have."""
    n = len(fresh) // 100
    values = train["weight"].value_counts()
    return fresh.assign(weight=np.r_[np.full(n, values.index[values == 1][3]), fresh["weight"][n:]])


def copy_with_noise(train, fresh, rng):
    """2% of the rows are training rows with noise of .1 sd in all numbers."""
    n = len(fresh) // 50
    copies = train.head(n).copy()
    for name in copies.select_dtypes("number"):
        noise = rng.normal(0, 0.1 * train[name].std(), n)
        moved = copies[name] + noise
        copies[name] = moved.round() if train[name].dtype.kind == "i" else moved.round(2)
    return pd.concat([copies.astype(train.dtypes), fresh.iloc[n:]], ignore_index=True)


def copy_top_earners(train, fresh, rng):
    """The ten highest wages are copied with their rows and multiplied by 1.001."""
    copies = train.nlargest(10, "wage")
    copies = copies.assign(wage=(copies["wage"] * 1.001).round(2))
    return pd.concat([copies, fresh.iloc[10:]], ignore_index=True)


def repeat_person(train, fresh, rng):
    """All rows are one training row with 2% noise in all numbers."""
    release = pd.concat([train.iloc[[3]]] * len(fresh), ignore_index=True)
    for name in release.select_dtypes("number"):
        moved = release[name] * (1 + 0.02 * rng.normal(size=len(fresh)))
        release[name] = moved.round() if train[name].dtype.kind == "i" else moved.round(2)
    return release.astype(train.dtypes)


def repeat_with_noise(n_persons, times):
    """Return a leak in which some persons are repeated with 2% noise among fresh rows."""

    def build(train, fresh, rng):
        persons = [
            repeat_person(train.iloc[row:], fresh.head(times), rng) for row in range(n_persons)
        ]
        return pd.concat([*persons, fresh.iloc[n_persons * times :]], ignore_index=True)

    return build


def phones_in_digits(train, fresh, rng):
    """The phone numbers are training values without punctuation."""
    return fresh.assign(phone=train["phone"].str.replace(r"\D", "", regex=True))


def tagged_emails(train, fresh, rng):
    """The e-mail addresses are training values with a tag behind a plus sign."""
    return fresh.assign(email=train["email"].str.replace("@", "+news@"))


def moved_emails(train, fresh, rng):
    """The e-mail addresses are training values at another domain."""
    return fresh.assign(email=train["email"].str.replace("example.org", "mail.test"))


def turned_emails(train, fresh, rng):
    """The e-mail addresses are training values with the last name first."""
    return fresh.assign(email=train["email"].str.replace(r"^(\w+)\.(\w+)@", r"\2_\1@", regex=True))


def turned_names(train, fresh, rng):
    """The names are training values with the last name first."""
    parts = train["name"].str.split(" ", n=1, expand=True)
    return fresh.assign(name=parts[1] + ", " + parts[0])


def rows_in_ids(train, fresh, rng):
    """Each ID contains a training row."""
    return fresh.assign(pid=train.astype(str).agg("|".join, axis=1))


def rows_in_coded_ids(train, fresh, rng):
    """Each ID contains a training row in base64."""
    rows = train.astype(str).agg("|".join, axis=1)
    return fresh.assign(pid=[base64.b64encode(row.encode()).decode() for row in rows])


def rows_in_texts(train, fresh, rng):
    """2% of the remarks contain a training row."""
    n = len(fresh) // 50
    rows = train.astype(str).agg(" ".join, axis=1)[:n]
    return fresh.assign(remark=[*(fresh["remark"][:n] + " " + rows), *fresh["remark"][n:]])


def emails_in_texts(train, fresh, rng):
    """Each remark contains an e-mail address of the training data."""
    return fresh.assign(remark=fresh["remark"] + " write to " + train["email"])


KINDS = {
    "income of the nearest training row": (draw_census, take_income_of_nearest),
    "yes or no of the nearest training row": (draw_answers, take_nearest("sick")),
    "rare yes of the nearest training row": (draw_answers, take_nearest("rare")),
    "wage of the nearest training row, 5% noise": (draw_census, take_nearest("wage", noise=0.05)),
    "income of the nearest training row in 30%": (draw_census, take_nearest("income", 0.3)),
    "triples in all rows": (draw_census, take_triples),
    "triples in 20% of rows": (draw_census, lambda t, f, r: take_triples(t, f, r, 0.2)),
    "one value in 1% of rows": (draw_census, repeat_value),
    "2% of rows with .1 sd of noise": (draw_census, copy_with_noise),
    "ten top earners times 1.001": (draw_wages, copy_top_earners),
    "one person in all rows": (draw_wages, repeat_person),
    "one person in 40 rows": (draw_census, repeat_with_noise(1, 40)),
    "five persons in 12 rows each": (draw_census, repeat_with_noise(5, 12)),
    "phones in digits": (draw_contacts, phones_in_digits),
    "e-mails with tags": (draw_contacts, tagged_emails),
    "e-mails of another domain": (draw_contacts, moved_emails),
    "e-mails turned round": (draw_contacts, turned_emails),
    "names turned round": (draw_contacts, turned_names),
    "rows in IDs": (draw_contacts, rows_in_ids),
    "rows in base64 in IDs": (draw_contacts, rows_in_coded_ids),
    "rows in 2% of texts": (draw_contacts, rows_in_texts),
    "e-mails in texts": (draw_contacts, emails_in_texts),
    "copula fitted on both tables": (draw_census, None),
    "nothing: fresh census rows": (draw_census, lambda t, f, r: f),
    "nothing: fresh contacts": (draw_contacts, lambda t, f, r: f),
}


def judge(kind, n_rows, seed, preset):
    """Return the verdict of one draw, the gate, and CPU seconds."""
    rng = np.random.default_rng([seed, n_rows])
    draw, build = KINDS[kind]
    train, holdout, fresh = (draw(n_rows, rng) for _ in range(3))
    if build is None:
        both = pd.concat([train, holdout], ignore_index=True)
        release = GaussianCopula().fit(both).sample(n_rows, random_state=seed)
    else:
        release = build(train, fresh, rng)
    begin = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        results = privacy_suite(preset, seed).fit(train, holdout).evaluate(release)
        verdict, gate = results.verdict(), GATE.judge(results)[0]
    return verdict, gate.passed, time.process_time() - begin


def main():
    """Run the kinds and print a line for each kind and size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--only", default="", help="kinds whose name contains this text")
    parser.add_argument("--preset", default="report")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for kind in KINDS:
        if options.only not in kind:
            continue
        for n_rows in options.sizes:
            judged = Parallel(options.jobs)(
                delayed(judge)(kind, n_rows, seed, options.preset) for seed in range(options.draws)
            )
            outcomes = Counter(verdict.outcome for verdict, *_ in judged)
            stopped = sum(not passed for _, passed, _ in judged)
            alarms = Counter(name for verdict, *_ in judged for name in verdict.alarms)
            copies = sum(verdict.copies for verdict, *_ in judged)
            print(
                f"{kind}, {n_rows} rows: {len(judged)} draws, {dict(outcomes)}, copies {copies}, "
                f"not passed {stopped}, {dict(alarms)}, {sum(s for *_, s in judged):.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
