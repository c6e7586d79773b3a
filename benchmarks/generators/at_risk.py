"""Remove the rows with the largest risk, refit the generator, and repeat the attack.

    python benchmarks/generators/at_risk.py --releases DIRECTORY > at_risk.jsonl

Releases of the choosing tables at n = 500 by generators that are fitted in seconds. The
attack is on all train rows each time, those left out among them.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import pandas as pd
from judge import part_of
from make import GENERATORS
from tables import CHOOSE, load, pack, rows, unpack

from skeval import MetricSuite
from skeval.privacy import MembershipInference
from skeval.results.verdict import ALARM_LEVEL

FITTED_AGAIN = ("arf", "cart", "smote")
N_LEFT_OUT = 100  # number of removed rows among 500


def main() -> None:
    """Print a line of JSON for each release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    folder = parser.parse_args().releases
    warnings.simplefilter("ignore")
    for name in CHOOSE:
        public = load(name)
        train, holdout = (part_of(public, p) for p in rows(name, 500, len(public))[:2])
        suite = MetricSuite([("membership", MembershipInference())]).fit(train, holdout)
        for path in sorted(folder.glob(f"{name}-500-*.parquet")):
            _, _, generator, fitting = path.stem.split("-")
            if generator not in FITTED_AGAIN:
                continue
            release = unpack(pd.read_parquet(path), public)
            before = suite.evaluate(release)
            if before["membership"].p_value > ALARM_LEVEL:
                continue
            exposed = train.index[before.at_risk(N_LEFT_OUT)["position"]]
            anybody = train.sample(N_LEFT_OUT, random_state=0).index
            results = [before]
            for left_out in (exposed, anybody):
                kept = train.drop(index=left_out)
                again = unpack(pack(GENERATORS[generator](kept, fitting, 1), public), public)
                results.append(suite.evaluate(again))
            found = [one["membership"] for one in results]
            said = {
                "release": path.stem,
                "excess": [one.value - one.baseline for one in found],
                "p": [one.p_value for one in found],
            }
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
