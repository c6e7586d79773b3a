"""Evaluate the three grades of a leak for tables without a leak and with copied training rows.

    python benchmarks/leak_grades.py [--null 60] [--repeats 3] > grades.jsonl

The script prints a line of JSON for each synthetic table. The line contains the excess over unseen
records in points, the lower end of its 95% interval, and the adjusted p-value, for the clearest
significant test of page 1. If no test is significant, it is the test with the smallest p-value.
Tables and leaks are defined in `verdicts.py`. "bootstrap" replaces all rows by copies of training
rows, with possible repeats.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import warnings

import numpy as np
from threadpoolctl import threadpool_limits
from verdicts import clean, leaky, noisy, parts_of

from skeval import make_suite
from skeval.reporting.document.privacy import find_privacy

TABLES, SIZES = ("flights", "census"), (200, 1000)
SHARES = (0.02, 0.05, 0.1, 0.25, 1.0)
KINDS = ("verbatim copies", "noisy copies")


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
    """Return the numbers that page 1 would show for a synthetic table."""
    train, holdout, synthetic = release(table, n_rows, kind, share, seed)
    suite = make_suite("report")
    names = ("exact", "near", "dcr", "member", "anonymeter", "reconstruction", "one_run", "partial")
    kept = [one for one in suite.metrics if one[0].startswith(names)]
    suite.set_params(metrics=kept)
    results = suite.fit(train, holdout).evaluate(synthetic)
    found = find_privacy(results, results.verdict())
    tested = [one for one in found.trials if one.is_tested and one.is_rate_of_records]
    trial = found.clearest or min(tested, key=lambda one: one.p_value)
    return {
        "table": table,
        "rows": n_rows,
        "kind": kind,
        "share": share,
        "alarm": found.is_alarm,
        "test": trial.name or trial.result,
        "p": trial.p_value,
        "excess": round(100.0 * trial.excess, 2),
        "lowest": round(100.0 * lowest_excess(trial), 2),
        "is_rate": trial.is_rate_of_records,
    }


def lowest_excess(trial):
    """Return the lower end of the 95% interval of the excess; the excess if none is known."""
    # Source: R. G. Newcombe, "Interval estimation for the difference between independent
    # proportions", Statistics in Medicine 17 (1998) 873-890, method 10.
    if trial.interval is None or trial.expected is None:
        return trial.excess
    above = (trial.expected_interval or (0.0, trial.expected))[1] - trial.expected
    return trial.excess - math.hypot(trial.observed - trial.interval[0], above)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--null", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    null = [
        (TABLES[i % 2], SIZES[i % 3 == 0], ("real rows", "copula")[i // 2 % 2], 0.0, i)
        for i in range(options.null)
    ]
    planted = [
        (TABLES[(i + j) % 2], n_rows, KINDS[(i + j // 2) % 2], share, 1000 + i)
        for i in range(options.repeats)
        for j, (share, n_rows) in enumerate(itertools.product(SHARES, SIZES))
    ]
    mixed = [one for both in itertools.zip_longest(null, planted) for one in both if one]
    for task in mixed:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            said = grade(*task)
        plain = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in said.items()}
        print(json.dumps(plain, default=str), flush=True)


if __name__ == "__main__":
    main()
