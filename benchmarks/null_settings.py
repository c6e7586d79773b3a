"""Measure how often a verdict accuses releases that learned nothing of the training data.

    python benchmarks/null_settings.py usual [--draws 25] [--jobs 2]   # 16 kinds of tables
    python benchmarks/null_settings.py forms [--draws 100]             # tables stored differently

In the settings of `usual`, the release contains fresh rows in one draw and rows of a copula in the
next. The copula is fitted on other fresh rows. In the settings of `forms`, the training data, the
holdout data and the release are draws of one population, but one of the three tables is stored with
other decimals, another unit of time, other letters or other padding. Each line of the output is one
setting: the number of draws, leaks found, copies found, inconclusive outcomes and draws that
`--fail-on leak` does not pass. Only the privacy metrics of the suite are evaluated.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections import Counter

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from skeval import Policy, make_suite
from skeval.datasets import make_census, make_mixed
from skeval.generators import GaussianCopula

N_ROWS = 400
GATE = Policy(fail_on=("leak",))


def draw_ties(n, rng):
    """Return whole numbers and categories of few values, so that many rows occur twice."""
    columns = {f"x{i}": rng.integers(0, 10, n) for i in range(3)}
    return pd.DataFrame(columns | {"g": rng.choice(["a", "b", "c"], n)})


def draw_correlated(n, rng, n_columns=2):
    """Return numbers that depend on one hidden number, and every third column as a category."""
    hidden = rng.normal(size=n)
    columns = {}
    for i in range(n_columns):
        values = hidden + rng.normal(size=n)
        columns[f"x{i}"] = np.where(values > 0, "high", "low") if i % 3 == 2 else values
    return pd.DataFrame(columns)


def draw_ids(n, rng):
    """Return mixed columns beside a unique number, a unique code and an e-mail address."""
    table = make_mixed(n, random_state=int(rng.integers(2**31)))
    numbers = rng.choice(10**9, n, replace=False)
    table["number"] = numbers
    table["code"] = [f"C-{one:09d}" for one in rng.choice(10**9, n, replace=False)]
    table["email"] = [f"user{one}@example.org" for one in rng.choice(10**9, n, replace=False)]
    return table


def draw_codes(n, rng, n_levels):
    """Return six columns of codes."""
    return pd.DataFrame(
        {f"k{i}": [f"K{code}" for code in rng.integers(0, n_levels, n)] for i in range(6)}
    )


def draw_missing(n, rng, fraction):
    """Return mixed columns in which this fraction of the cells is missing."""
    table = make_mixed(n, random_state=int(rng.integers(2**31)))
    return table.mask(rng.random(table.shape) < fraction)


def draw_given_target(n, rng):
    """Return a table with a target that is a function of one column."""
    table = draw_correlated(n, rng, 5)
    return table.assign(target=np.where(table["x0"] > 0.5, "yes", "no"))


def draw_mixture(n, rng):
    """Return rows of three distant groups, the smallest with 2% of the rows."""
    group = rng.choice(3, n, p=[0.7, 0.28, 0.02])
    centers = np.array([[0, 0, 0, 0], [6, 6, 0, 0], [40, -40, 20, 9]])
    values = centers[group] + rng.normal(size=(n, 4))
    return pd.DataFrame(values, columns=list("abcd")).assign(g=np.array(["u", "v", "w"])[group])


def draw_heavy_tails(n, rng):
    """Return numbers without a variance."""
    values = rng.standard_t(1.5, (n, 4))
    return pd.DataFrame(values, columns=list("abcd")).assign(e=np.exp(2 * rng.normal(size=n)))


def draw_census(n, rng):
    """Return generated census rows."""
    return make_census(n, random_state=int(rng.integers(2**31)))


def draw_parts(draw, sizes, rng):
    """Return independent tables of these sizes."""
    return [draw(n, rng) for n in sizes]


def draw_strata(sizes, rng):
    """Return tables that contain each category in exactly the same proportions."""
    tables = draw_parts(lambda n, r: draw_correlated(n, r, 6), [4 * n for n in sizes], rng)
    return [
        pd.concat([part.head(n // 2) for _, part in table.groupby("x2")], ignore_index=True)
        for n, table in zip(sizes, tables, strict=True)
    ]


def at_sizes(draw, n_train=N_ROWS, n_holdout=N_ROWS, n_synthetic=N_ROWS):
    """Return a function that draws train, holdout and fresh rows."""
    return lambda rng: draw_parts(draw, (n_train, n_holdout, n_synthetic), rng)


def draw_mixed(n, rng):
    """Return numbers, categories and dates."""
    return make_mixed(n, random_state=int(rng.integers(2**31)))


USUAL = {
    "ties": at_sizes(draw_ties),
    "two columns": at_sizes(draw_correlated),
    "60 columns": at_sizes(functools.partial(draw_correlated, n_columns=60)),
    "10 times as many synthetic rows": at_sizes(draw_mixed, n_synthetic=10 * N_ROWS),
    "a tenth of the synthetic rows": at_sizes(draw_mixed, n_synthetic=N_ROWS // 10),
    "a tenth of the holdout rows": at_sizes(draw_mixed, n_holdout=N_ROWS // 10),
    "4 times as many holdout rows": at_sizes(draw_mixed, n_holdout=4 * N_ROWS),
    "unique IDs and codes": at_sizes(draw_ids),
    "codes of 100 levels": at_sizes(functools.partial(draw_codes, n_levels=100)),
    "codes of 5,000 levels": at_sizes(functools.partial(draw_codes, n_levels=5_000)),
    "codes of 100,000 levels": at_sizes(functools.partial(draw_codes, n_levels=100_000)),
    "30% missing": at_sizes(functools.partial(draw_missing, fraction=0.3)),
    "60% missing": at_sizes(functools.partial(draw_missing, fraction=0.6)),
    "a target given by a column": at_sizes(draw_given_target),
    "mixture": at_sizes(draw_mixture),
    "heavy tails": at_sizes(draw_heavy_tails),
    "strata": lambda rng: draw_strata((N_ROWS,) * 3, rng),
    "census": at_sizes(draw_census),
}


def draw_forms(n, rng):
    """Return numbers, a date, a padded code and categories in one form."""
    hidden = rng.normal(size=n)
    return pd.DataFrame({
        "amount": (100 + 20 * hidden + 10 * rng.normal(size=n)).round(3),
        "height": (170 + 5 * hidden + 5 * rng.normal(size=n)).round(3),
        "pay": np.exp(7 + hidden / 2 + rng.normal(size=n) / 2).round(3),
        "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**8, n), unit="s"),
        "code": [f"{one:05d}" for one in rng.integers(0, 60, n)],
        "city": rng.choice(["Oslo", "Bergen", "Trondheim", "Stavanger"], n),
        "state": rng.choice(["new", "open", "closed"], n),
    })  # fmt: skip


def with_changed(table, **changes):
    """Return the table with some columns changed by functions."""
    return table.assign(**{name: change(table[name]) for name, change in changes.items()})


CHANGES = {
    "one decimal": {"amount": lambda x: x.round(1)},
    "whole amounts": {name: lambda x: x.round(0) for name in ("amount", "height", "pay")},
    "days": {"when": lambda x: x.dt.floor("D")},
    "upper case": {"city": lambda x: x.str.upper(), "state": lambda x: x.str.upper()},
    "padding": {"code": lambda x: x.str.lstrip("0"), "city": lambda x: x + "  "},
}


def draw_changed(rng, change, role):
    """Return three tables, with a different storage format for one role."""
    tables = [draw_forms(N_ROWS, rng) for _ in range(3)]
    tables[role] = with_changed(tables[role], **CHANGES[change])
    return tables


FORMS = {
    f"{change} in {name}": functools.partial(draw_changed, change=change, role=role)
    for change in CHANGES
    for role, name in enumerate(("train", "holdout", "synthetic"))
}


def privacy_suite(preset, seed):
    """Return the privacy metrics of a preset."""
    suite = make_suite(preset, random_state=seed)
    kept = [(name, metric) for name, metric in suite.metrics if metric.tags.aspect == "privacy"]
    return suite.set_params(metrics=kept, n_jobs=1)


def judge(draw, seed, preset, with_copula):
    """Return the outcome of one draw, whether copies were found, the gate, and CPU seconds."""
    rng = np.random.default_rng(seed)
    train, holdout, synthetic = draw(rng)
    if with_copula and seed % 2:
        other = draw(np.random.default_rng([seed, 1]))[2]
        synthetic = GaussianCopula().fit(other).sample(len(synthetic), random_state=seed)
    begin = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        results = privacy_suite(preset, seed).fit(train, holdout).evaluate(synthetic)
        verdict, gate = results.verdict(), GATE.judge(results)[0]
    return verdict.outcome, verdict.copies, gate.passed, verdict.alarms, time.process_time() - begin


def main():
    """Run the settings and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", choices=["usual", "forms"])
    parser.add_argument("--draws", type=int, default=25)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", default="", help="settings whose name contains this text")
    parser.add_argument("--preset", default="report")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    chosen = USUAL if options.settings == "usual" else FORMS
    totals = Counter()
    for name, draw in chosen.items():
        if options.only not in name:
            continue
        seeds = range(options.first_seed, options.first_seed + options.draws)
        judged = Parallel(options.jobs)(
            delayed(judge)(draw, seed, options.preset, chosen is USUAL) for seed in seeds
        )
        counts = Counter(outcome for outcome, *_ in judged)
        counts["copies"] = sum(copies for _, copies, *_ in judged)
        counts["not passed"] = sum(not passed for _, _, passed, *_ in judged)
        alarms = Counter(one for *_, alarms, _ in judged for one in alarms)
        totals += counts
        seconds = sum(one for *_, one in judged)
        print(
            f"{name}: {len(judged)} draws, {dict(counts)}, {dict(alarms)}, {seconds:.0f} s",
            flush=True,
        )
    print("together:", dict(totals), flush=True)


if __name__ == "__main__":
    main()
