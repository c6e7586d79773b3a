"""Measure how often a verdict is "copies found" with and without copied rows.

    python benchmarks/copies.py [--repeats 20] [--sizes 100 500 2000]

The training data, the holdout data and a third part are disjoint random rows of one table. The
table is wide (all columns) or narrow (2 to 4 columns with categories or a few integers, so that
most rows occur several times). There are no copies if the synthetic data are the third part, are
sampled from a model of it, or repeat a few rows of either, like a generator with mode collapse.
Copies that are found there are false. In other runs, training rows replace some rows of the third
part, unchanged or with words in capitals.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
from verdicts import CLEAN, TABLES, clean, counted, parts_of, percent_of, population

from skeval import MetricSuite
from skeval.generators import SequentialCART
from skeval.privacy import ExactMatchShare

WIDE, NARROW = "all columns", "2 to 4 columns"
COLLAPSED = ("few real rows", "few real rows, some of them often", "few rows of a copula", "modes")
SYNTHETIC = (*CLEAN, "trees", *COLLAPSED)
SHAPES = {"equal": (1.0, 1.0, 1.0), "small holdout": (1.0, 0.4, 1.5), "large": (0.5, 0.5, 1.0)}
COPIED = range(1, 9)
CAPITALS, SHUFFLED = ", two columns in capitals", " and 20 of holdout, a column shuffled"
MAX_LEVELS = 60  # maximum number of values in the columns of a narrow table
WIDEST = 15  # number of columns of a table with copies


def narrow(table, rng):
    """Return 2 to 4 columns with few values."""
    whole = population(table)
    few = [name for name in whole if 1 < whole[name].nunique() <= MAX_LEVELS]
    return list(rng.choice(few, rng.integers(2, 5), replace=False))


def collapsed(kind, third, seed, rng):
    """Return a table that repeats a few rows and is independent of the training data."""
    n = len(third)
    if kind == "modes":  # frequent values become more frequent
        often = third.groupby(list(third.columns), dropna=False, observed=True)
        size = often[third.columns[0]].transform("size").to_numpy(dtype=float)
        size = np.nan_to_num(size, nan=1.0)
        return third.take(rng.choice(n, n, p=size / size.sum()))
    few = max(5, n // 20)
    rows = clean("copula", third, seed) if kind == "few rows of a copula" else third
    weights = rng.dirichlet(np.full(few, 0.3)) if "often" in kind else None
    return rows.take(rng.choice(few, n, p=weights))


def released(kind, third, seed, rng):
    """Return a synthetic table that is independent of the training data."""
    if kind == "trees":
        return SequentialCART().fit(third).sample(len(third), random_state=seed)
    if kind in COLLAPSED:
        return collapsed(kind, third, seed, rng).reset_index(drop=True)
    return clean(kind, third, seed)


def planted(n_copied, how, parts, rng):
    """Return the third part with some training rows, in one of three forms.

    The rows are unchanged, have words of two columns in capitals, or are accompanied by the same
    number of holdout rows and have a shuffled column.
    """
    train, holdout, third = parts
    copies = train.take(rng.choice(len(train), n_copied, replace=False))
    if how == SHUFFLED:
        copies = pd.concat([copies, holdout[:n_copied]], ignore_index=True)
        name = str(rng.choice(copies.columns))
        copies = copies.assign(**{name: rng.permutation(copies[name].astype(object))})
        return pd.concat([copies, third.iloc[len(copies) :].astype(object)], ignore_index=True)
    if how == CAPITALS:
        words = [c for c in copies if not pd.api.types.is_numeric_dtype(copies[c])]
        words = [c for c in words if copies[c].dtype.kind == "O" or copies[c].dtype == "category"]
        for name in words[:2]:
            copies = copies.assign(**{name: copies[name].astype(str).str.swapcase()})
        third = third.astype(dict.fromkeys(words, object))
    return pd.concat([copies, third.iloc[n_copied:]], ignore_index=True)


def copies_found(train, holdout, synthetic):
    """Return whether the verdict of exact matches finds copies."""
    suite = MetricSuite([("exact_matches", ExactMatchShare(n_permutations=99))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return suite.fit(train, holdout).evaluate(synthetic).verdict().copies


def clean_release(table, width, shape, n, kind, seed):
    """Return training data, holdout data and an independent synthetic table."""
    rng = np.random.default_rng([seed, 2])
    sizes = tuple(round(n * share) for share in SHAPES[shape])
    parts = parts_of(table, sizes, rng)
    if width == NARROW:
        chosen = narrow(table, rng)
        parts = [part[chosen] for part in parts]
    return *parts[:2], released(kind, parts[2], seed, rng)


def false_findings(repeats, sizes):
    """Return how often copies are found although there are none, by group."""
    found = defaultdict(list)
    for seed in range(repeats):
        for i, kind in enumerate(SYNTHETIC):
            for width in (WIDE, NARROW):
                for n in sizes:
                    table = TABLES[(seed + i) % len(TABLES)]
                    shape = list(SHAPES)[(seed // 3 + i) % len(SHAPES)]
                    said = copies_found(*clean_release(table, width, shape, n, kind, seed))
                    for group in ("all", width, f"{n} rows", shape, table, kind):
                        found[group].append(said)
    return found


def findings(repeats):
    """Return how often copies among 500 wide rows, and 20 of 400 rows in capitals, are found."""
    found = defaultdict(list)
    cases = [*((500, k, "") for k in COPIED), (400, 20, CAPITALS), (400, 20, SHUFFLED)]
    for seed in range(repeats):
        table = ("flights", "census")[seed % 2]
        for n, k, how in cases:
            rng = np.random.default_rng([seed, 3])
            parts = [part.iloc[:, -WIDEST:] for part in parts_of(table, (n,) * 3, rng)]
            said = copies_found(*parts[:2], planted(k, how, parts, rng))
            found[f"{k} of {n}{how}"].append(said)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 500, 2000])
    options = parser.parse_args()
    start = time.process_time()
    for title, found in (
        ("copies found without copied rows", false_findings(options.repeats, options.sizes)),
        ("copies found with copied training rows", findings(options.repeats)),
    ):
        print(title)
        for group, said in found.items():
            one = counted(said)
            share = percent_of(one["alarms"], one["suites"])
            print(f"  {group:48} {one['alarms']:4} of {one['suites']:4}  {share}")
    print(f"{time.process_time() - start:.0f} seconds of a core")


if __name__ == "__main__":
    main()
