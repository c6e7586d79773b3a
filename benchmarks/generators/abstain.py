"""Count attacks that only a test of the most confident guesses finds.

    python benchmarks/generators/abstain.py --releases releases > attacks.jsonl
    python benchmarks/generators/abstain.py --null 40      # a third part of fresh rows instead

An attack infers one column from all others, for seven columns of each synthetic table. Each line
contains p-values for the average and for all fractions of the most confident guesses, and the
anonymity loss.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from judge import part_of
from tables import CHOOSE, load, null_rows, rows, unpack

from skeval.privacy import AttributeInferenceRisk, InferenceRisk
from skeval.stats.permutation_tests import share_p_value

N_COLUMNS, MAX_ROWS, COMMON = 7, 1000, 0.95


def secrets(table: pd.DataFrame) -> list[str]:
    """Return columns with no value that nearly all rows have, at equal distances."""
    varied = [name for name in table if table[name].value_counts(normalize=True).max() < COMMON]
    return varied[:: max(1, len(varied) // N_COLUMNS)][:N_COLUMNS]


def attacked(train: pd.DataFrame, holdout: pd.DataFrame, synthetic: pd.DataFrame) -> Iterator[dict]:
    """Yield the results of both attacks on each sensitive attribute."""
    for secret in secrets(train):
        nearest = InferenceRisk(secret, n_attacks=None, tolerance_kind="range")
        for metric in (nearest, AttributeInferenceRisk(secret)):
            result = metric.fit(train, holdout).evaluate(synthetic)
            found = result.details.get("abstaining")
            if found is None:
                continue
            average = result.details.get("p_average")
            if average is None:
                both = [result.details[who] for who in ("attack", "control")]
                hits = [round(rate["n_success"]) for rate in both]
                average = share_p_value(hits[0], int(both[0]["n"]), hits[1], int(both[1]["n"]))
            yield {
                "metric": type(metric).__name__,
                "secret": secret,
                "value": result.value,
                "p_average": average,
                "p_surest": found["p_value"],
                "p": result.p_value,
                "clearest": found["clearest"],
                "anonymity_loss": found["anonymity_loss"],
            }


def releases(folder: Path) -> Iterator[tuple[str, list[pd.DataFrame]]]:
    """Yield training, holdout and synthetic data of the choosing tables."""
    for path in sorted(folder.glob("*.parquet")):
        name, n, *_ = path.stem.split("-")
        if name in CHOOSE and int(n) <= MAX_ROWS:
            public = load(name)
            real = [part_of(public, part) for part in rows(name, int(n), len(public))[:2]]
            yield path.stem, [*real, unpack(pd.read_parquet(path), public)]


def nulls(repeats: int, n: int = 300) -> Iterator[tuple[str, list[pd.DataFrame]]]:
    """Yield training data, holdout data and a third part of the choosing tables."""
    for name in CHOOSE:
        public = load(name)
        for repeat in range(repeats):
            numbers = null_rows(name, n, len(public), repeat)[:3]
            yield f"{name}-{n}-fresh-{repeat}", [part_of(public, part) for part in numbers]


def main() -> None:
    """Print a line of JSON for each attack."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    parser.add_argument("--null", type=int, default=0, metavar="REPEATS")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for stem, tables in nulls(options.null) if options.null else releases(options.releases):
        for line in attacked(*tables):
            print(json.dumps({"release": stem, **line}), flush=True)


if __name__ == "__main__":
    main()
