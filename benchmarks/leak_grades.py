"""Evaluate the three grades of a leak for tables without a leak and with copied training rows.

    python benchmarks/leak_grades.py [--null 60] [--repeats 10] [--write]

The script prints how often page 1 of a report shows no leak or one of the grades, and the median
excess over unseen records in points. --write also writes docs/leak_grades.json and its page. The
tables and leaks are defined in `verdicts.py`. A fraction of 100% is a bootstrap of the training
rows, with possible repeats.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import defaultdict
from statistics import median

import numpy as np
from results import write
from verdicts import clean, leaky, noisy, parts_of

from skeval import make_suite
from skeval.reporting.document.outcomes import Strength
from skeval.reporting.document.privacy import find_privacy

TABLES, SIZES = ("flights", "census"), (200, 1000)
FRACTIONS = (0.02, 0.05, 0.1, 0.25, 1.0)
KINDS = ("verbatim copies", "noisy copies")
HEADINGS = [
    "leaked rows",
    "rows",
    "tables",
    "no leak found",
    "no grade",
    *(strength.value for strength in Strength),
    "median excess",
]


def release(table, n_rows, kind, share, seed):
    """Return train, holdout and synthetic rows."""
    rng = np.random.default_rng([seed, 7])
    train, holdout, third = parts_of(table, (n_rows,) * 3, rng)
    if not share:
        return train, holdout, clean(kind, third, seed)
    if share < 1.0:
        return train, holdout, leaky(kind, train, third, share, rng)
    copies = train.sample(n_rows, replace=True, random_state=seed, ignore_index=True)
    return train, holdout, noisy(copies, train, rng) if kind == KINDS[1] else copies


def grade(table, n_rows, kind, share, seed):
    """Return the grade of a synthetic table and its excess in points, or None without an alarm."""
    train, holdout, synthetic = release(table, n_rows, kind, share, seed)
    suite = make_suite("report")
    names = ("exact", "near", "dcr", "member", "anonymeter", "reconstruction", "one_run", "partial")
    suite.set_params(metrics=[one for one in suite.metrics if one[0].startswith(names)])
    results = suite.fit(train, holdout).evaluate(synthetic)
    found = find_privacy(results, results.verdict())
    known = [t.excess_of_records for t in found.trials if t.is_significant and t.is_rate_of_records]
    return (found.strength, 100 * max(known, default=0.0)) if found.is_alarm else None


def row_of(share, n_rows, grades):
    """Return a row of the table of the page."""
    alarms = [one for one in grades if one]
    counts = [sum(strength is one for one, _ in alarms) for strength in (None, *Strength)]
    excess = f"{median(points for _, points in alarms):.1f}" if alarms else ""
    kinds = f"copies of {share:.0%}" if share else "none"
    return [kinds, f"{n_rows:,}", len(grades), len(grades) - len(alarms), *counts, excess]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--null", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--write", action="store_true", help="write docs/leak_grades.json")
    options = parser.parse_args()
    null = [
        (TABLES[i % 2], SIZES[i % 3 == 0], ("real rows", "copula")[i // 2 % 2], 0.0, i)
        for i in range(options.null)
    ]
    planted = [
        (TABLES[(i + j) % 2], n_rows, KINDS[(i + j // 2) % 2], share, 1000 + i)
        for i in range(options.repeats)
        for j, (share, n_rows) in enumerate(itertools.product(FRACTIONS, SIZES))
    ]
    grades = defaultdict(list)
    for task in [*null, *planted]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            grades[task[3], task[1]].append(grade(*task))
    rows = [row_of(*key, grades[key]) for key in sorted(grades)]
    for row in [HEADINGS, *rows]:
        print(*row, sep="\t")
    if options.write:
        write("leak_grades", HEADINGS, rows)


if __name__ == "__main__":
    main()
