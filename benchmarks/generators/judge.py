"""Say which releases leak, by attacks against many outsiders.

    python benchmarks/generators/judge.py --part choose [--releases DIRECTORY]
    python benchmarks/generators/judge.py --null 20      # false alarms of the oracle itself

Three routes share one level of .01, a third each: the best of nine membership attacks on train
against outsiders (by Holm), record reconstruction, and rows copied (an exact test of how many
distinct rows of train the release has, against those of holdout and outsiders).
A null release is a third part of fresh rows, or a copula of it: nothing of it is of train.
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
    """Return how many distinct rows of a part the release has, and how many there are."""
    distinct = part.drop_duplicates()
    return len(distinct.merge(release.drop_duplicates())), len(distinct)


def copying(release: pd.DataFrame, train: pd.DataFrame, others: pd.DataFrame) -> tuple[float, list]:
    """Return the p-value of copies of train against other rows, and the counts of both."""
    (k, n), (k_others, n_others) = copied(release, train), copied(release, others)
    return float(hypergeom.sf(k - 1, n + n_others, n, k + k_others)), [k, k_others]


def judged(parts: list[pd.DataFrame], synthetic: pd.DataFrame) -> dict:
    """Return p-values of the routes, the counts of copies, and whether the release leaks."""
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
    """Return rows of the public table as they are after packing."""
    return unpack(pack(public.iloc[numbers], public), public)


def nulls(repeats: int, n: int) -> None:
    """Print one line of JSON a null release of a choosing table."""
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
    """Print one line of JSON a release."""
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
