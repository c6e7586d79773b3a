"""Determine which synthetic tables leak, with attacks against many other real rows.

    python benchmarks/generators/judge.py --part choose [--releases DIRECTORY]
    python benchmarks/generators/judge.py --null 20      # false alarms of the oracle itself

Three tests have a level of .01 together, a third each. They are the best of nine membership attacks
on training rows against outsiders (with Holm's procedure), record reconstruction, and copied rows
(an exact test that compares the numbers of distinct training rows and of holdout and outsider rows
in the synthetic table). A table without a leak consists of other rows, or of samples from a copula
of other rows, and does not depend on the training data.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import pandas as pd
from scipy.stats import hypergeom
from tables import CHOOSE, JUDGE, load, null_rows, pack, rows, unpack

from skeval.generators import GaussianCopula
from skeval.privacy import MembershipInference, RecordReconstruction
from skeval.steps.members import ATTACKS

LEVEL = 0.01


def copied(release: pd.DataFrame, part: pd.DataFrame) -> tuple[int, int]:
    """Return the number of distinct rows of a part in the synthetic table, and their total."""
    distinct = part.drop_duplicates()
    return len(distinct.merge(release.drop_duplicates())), len(distinct)


def copying(release: pd.DataFrame, train: pd.DataFrame, others: pd.DataFrame) -> tuple[float, list]:
    """Return the p-value of copied training rows against other rows, and both counts."""
    (k, n), (k_others, n_others) = copied(release, train), copied(release, others)
    return float(hypergeom.sf(k - 1, n + n_others, n, k + k_others)), [k, k_others]


def judged(parts: list[pd.DataFrame], synthetic: pd.DataFrame) -> dict:
    """Return p-values of the tests, the counts of copies, and whether the table leaks."""
    train, holdout, outside = parts
    p = {}
    for attack in ATTACKS:
        metric = MembershipInference(attack=attack, reference=holdout)
        p[attack] = metric.fit(train, outside).evaluate(synthetic).p_value
    reconstruction = RecordReconstruction().fit(train, outside).evaluate(synthetic).p_value
    copies, counts = copying(synthetic, train, pd.concat([holdout, outside]))
    routes = {
        "attacks": min(1.0, min(p.values()) * len(p)),
        "reconstruction": reconstruction,
        "copies": copies,
    }
    leaks = bool(min(routes.values()) * len(routes) < LEVEL)
    return {"p": p, "routes": routes, "copied": counts, "leaks": leaks}


def part_of(public: pd.DataFrame, numbers) -> pd.DataFrame:
    """Return rows of the public table after packing."""
    return unpack(pack(public.iloc[numbers], public), public)


def nulls(repeats: int, n: int) -> None:
    """Print a line of JSON for each table without a leak."""
    for name in CHOOSE:
        public = load(name)
        for repeat in range(repeats):
            numbers = null_rows(name, n, len(public), repeat)
            train, holdout, third, outside = (part_of(public, part) for part in numbers)
            fitted = GaussianCopula().fit(third).sample(len(third), random_state=repeat)
            made = {"fresh": third, "freshcopula": unpack(pack(fitted, public), public)}
            for kind, synthetic in made.items():
                found = judged([train, holdout, outside], synthetic)
                release = f"{name}-{n}-{kind}-{repeat}"
                print(json.dumps({"release": release, **found}), flush=True)


def main() -> None:
    """Print a line of JSON for each synthetic table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--part", choices=("choose", "judge"))
    wanted.add_argument("--null", type=int, metavar="REPEATS")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.null:
        nulls(options.null, 500)
        return
    for path in sorted(options.releases.glob("*.parquet")):
        name, n, *_ = path.stem.split("-")
        if name in (CHOOSE if options.part == "choose" else JUDGE):
            public = load(name)
            parts = [part_of(public, part) for part in rows(name, int(n), len(public))]
            found = judged(parts, unpack(pd.read_parquet(path), public))
            print(json.dumps({"release": path.stem, **found}), flush=True)


if __name__ == "__main__":
    main()
