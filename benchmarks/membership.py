"""Compare the membership inference attacks on planted copies and on a generator.

    python benchmarks/membership.py [--rows 500] [--repeats 5] [--write]

The script prints the mean AUC of each attack over synthetic tables of two data sets. Training data,
holdout and synthetic table have the same number of rows. "--write" writes
docs/membership_attacks.json and its table in the page.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict

import numpy as np
import pandas as pd
from results import in_digits, write
from verdicts import leaky, parts_of

from skeval import Context
from skeval.generators import SequentialCART
from skeval.privacy import MembershipInference
from skeval.steps.members import ATTACKS

TABLES = "census", "flights"
COPIES = "verbatim copies", "noisy copies", "copied outliers"
KINDS = "no leak", *COPIES, "digits", "CART"
FRACTION = 0.1


def with_digits(train, third, rng):
    """Replace one digit in every second number of copies, and redraw half of the categories."""
    n = round(FRACTION * len(third))
    copies = train.sample(n, random_state=int(rng.integers(2**31)), ignore_index=True)
    for name in copies:
        others = third[name].sample(n, random_state=int(rng.integers(2**31))).to_numpy()
        values = copies[name].to_numpy().copy()
        if pd.api.types.is_numeric_dtype(copies[name]):
            changed = np.array([other_digit(value, rng) for value in values], dtype=values.dtype)
        else:
            changed = others
        half = rng.random(n) < 0.5
        values[half] = changed[half]
        copies[name] = pd.Series(values).astype(third[name].dtype)
    return pd.concat([copies, third.iloc[n:]], ignore_index=True)


def other_digit(value, rng):
    """Return a number in which one digit is drawn again."""
    text = list(repr(value.item()))
    places = [k for k, letter in enumerate(text) if letter.isdigit()]
    if not places or "e" in text:
        return value
    text[rng.choice(places)] = str(rng.integers(10))
    return float("".join(text))


def synthetic_table(kind, train, third, seed, rng):
    """Return a synthetic table with a leak of some kind."""
    if kind == "CART":
        return SequentialCART(random_state=seed).fit(train).sample(len(third), random_state=seed)
    if kind == "digits":
        return with_digits(train, third, rng)
    return leaky(kind, train, third, FRACTION, rng) if kind in COPIES else third


def mean_values(n_rows, repeats):
    """Return the mean AUC by attack and kind."""
    values = defaultdict(list)
    for seed in range(repeats):
        for table in TABLES:
            rng = np.random.default_rng([seed, 11])
            train, holdout, third = parts_of(table, (n_rows,) * 3, rng)
            for kind in KINDS:
                synthetic = synthetic_table(kind, train, third, seed, rng)
                context = Context.of(train, holdout).with_synthetic(synthetic)
                for attack in ATTACKS:
                    metric = MembershipInference(attack, n_permutations=19)
                    values[attack, kind].append(metric.evaluate_context(context).value)
    return {key: float(np.mean(found)) for key, found in values.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = mean_values(options.rows, options.repeats)
    rows = [
        [f"``{attack}``", *(in_digits(found[attack, kind], 2) for kind in KINDS)]
        for attack in ATTACKS
    ]
    headings = ["attack", *KINDS]
    for row in [headings, *rows]:
        print(" | ".join(map(str, row)))
    if options.write:
        write("membership_attacks", headings, rows)


if __name__ == "__main__":
    main()
