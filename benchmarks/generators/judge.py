"""Say which releases leak, by attacks against many outsiders.

    python benchmarks/generators/judge.py --part choose [--releases DIRECTORY]

A release leaks if one of nine membership attacks on train against outsiders has Holm p < .01, or
record reconstruction has, or two rows or more are copied and none of the holdout.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import pandas as pd
from tables import CHOOSE, JUDGE, load, pack, rows, unpack

from skeval.privacy import MembershipInference, RecordReconstruction
from skeval.privacy.attacks.membership.scores import ATTACKS

LEVEL = 0.01


def copied(release: pd.DataFrame, part: pd.DataFrame) -> int:
    """Return how many rows of a part the release has."""
    return len(part.drop_duplicates().merge(release.drop_duplicates()))


def judged(name: str, n: int, release: pd.DataFrame, public: pd.DataFrame) -> dict:
    """Return p-values of the attacks, the counts of copies, and whether the release leaks."""
    packed = [pack(public.iloc[part], public) for part in rows(name, n, len(public))]
    train, holdout, outside = (unpack(part, public) for part in packed)
    synthetic = unpack(release, public)
    p = {}
    for attack in ATTACKS:
        metric = MembershipInference(attack=attack, reference=holdout)
        p[attack] = metric.fit(train, outside).evaluate(synthetic).p_value
    reconstruction = RecordReconstruction().fit(train, outside).evaluate(synthetic).p_value
    rows_copied = [copied(release, part) for part in packed[:2]]
    leaks = min(p.values()) * len(p) < LEVEL or reconstruction < LEVEL
    leaks = bool(leaks or (rows_copied[0] >= 2 and rows_copied[1] == 0))
    return {"p": p, "reconstruction": reconstruction, "copied": rows_copied, "leaks": leaks}


def main() -> None:
    """Print one line of JSON a release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    parser.add_argument("--part", choices=("choose", "judge"), required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for path in sorted(options.releases.glob("*.parquet")):
        name, n, *_ = path.stem.split("-")
        if name in (CHOOSE if options.part == "choose" else JUDGE):
            found = judged(name, int(n), pd.read_parquet(path), load(name))
            print(json.dumps({"release": path.stem, **found}), flush=True)


if __name__ == "__main__":
    main()
