"""Follow the first advice of membership inference, and check whether the leak is fixed.

    python benchmarks/generators/advice.py --releases DIRECTORY > advice.jsonl

The script uses each leaking table of the choosing or the judging tables at n = 500. If the advice
is to drop copied rows, they are removed. If it is to drop columns, the generator is fitted without
them. If it is to refit the generator with less capacity, its light fit is used. The advice helps if
no test is significant, or if the excess of the AUC over its expected value is at least halved.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import pandas as pd
from judge import part_of
from make import GENERATORS
from tables import CHOOSE, JUDGE, load, pack, rows, unpack

from skeval import Context
from skeval.privacy import MembershipInference
from skeval.results.verdict import ALARM_LEVEL, DROP_COPIES, REFIT
from skeval.steps.leak_advice import exposed_columns
from skeval.steps.single_values import are_near_copies

SLOW = {"gpt", "ctgan", "argn"}  # not refitted without columns


def attacked(train: pd.DataFrame, holdout: pd.DataFrame, release: pd.DataFrame):
    """Return the result of membership inference for a synthetic table, and its context."""
    context = Context.of(train, holdout).with_synthetic(release)
    return MembershipInference().fit_context(context.real).evaluate_context(context), context


def helps(before, after) -> bool:
    """Return whether no test is significant or the excess was halved."""
    ended = after.p_value > ALARM_LEVEL
    return ended or after.value - after.baseline <= (before.value - before.baseline) / 2.0


def main() -> None:
    """Print a line of JSON for each table whose advice was followed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    parser.add_argument("--part", choices=("choose", "judge"), default="choose")
    given = parser.parse_args()
    folder = given.releases
    warnings.simplefilter("ignore")
    for name in CHOOSE if given.part == "choose" else JUDGE:
        public = load(name)
        train, holdout = (part_of(public, p) for p in rows(name, 500, len(public))[:2])
        for path in sorted(folder.glob(f"{name}-500-*.parquet")):
            _, _, generator, fitting = path.stem.split("-")
            before, context = attacked(train, holdout, unpack(pd.read_parquet(path), public))
            if before.p_value > ALARM_LEVEL:
                continue
            if before.advice.startswith(DROP_COPIES):
                kind = "copies"
                left = context.synthetic[~are_near_copies(context)].reset_index(drop=True)
                after, _ = attacked(train, holdout, left)
            elif before.advice.startswith(REFIT):
                kind = "refit"
                if fitting == "light":
                    continue
                light = folder / f"{name}-500-{generator}-light.parquet"
                after, _ = attacked(train, holdout, unpack(pd.read_parquet(light), public))
            elif generator in SLOW or GENERATORS[generator] is None:
                continue
            else:
                kind, names = "columns", exposed_columns(context)
                own, kept = train.drop(columns=names), public.drop(columns=names)
                made = unpack(pack(GENERATORS[generator](own, fitting, 1), kept), kept)
                after, _ = attacked(own, holdout.drop(columns=names), made)
            said = {
                "release": path.stem,
                "advice": kind,
                "excess": [one.value - one.baseline for one in (before, after)],
                "p": [before.p_value, after.p_value],
                "helps": helps(before, after),
            }
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
