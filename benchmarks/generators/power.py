"""Evaluate the tables of the corpus and tables without a leak with presets.

    python benchmarks/generators/power.py leaks --part judge --releases DIRECTORY >> power.jsonl
    python benchmarks/generators/power.py null --part judge --repeats 100 >> null.jsonl
    python benchmarks/generators/power.py count --oracle oracle.jsonl --judged *.jsonl

Tables in a file of `--known` are not evaluated again. The file of the oracle is the output of
`judge.py`. `count` writes docs/generators.json, from which benchmarks/verdicts.py writes a page.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from judge import part_of
from tables import CHOOSE, JUDGE, load, null_rows, pack, rows, unpack

from skeval.generators import GaussianCopula

sys.path.insert(0, str(Path(__file__).parents[1]))
from verdicts import DOCS, POWER_PRESETS, counted, judged

PARTS = {"choose": CHOOSE, "judge": JUDGE}
SIZES = (500, 1000)  # numbers of rows of tables without a leak
FITS = ("light", "normal", "heavy")
Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


def releases(options: argparse.Namespace, known: set[str]) -> Iterator[tuple[str, Tables]]:
    """Yield the synthetic tables of a part, each with training and holdout data."""
    for path in sorted(options.releases.glob("*.parquet")):
        name, n, *_ = path.stem.split("-")
        if name not in PARTS[options.part] or path.stem in known or int(n) > options.most_rows:
            continue
        public = load(name)
        train, holdout, _ = (part_of(public, p) for p in rows(name, int(n), len(public)))
        yield path.stem, (train, holdout, unpack(pd.read_parquet(path), public))


def nulls(options: argparse.Namespace, known: set[str]) -> Iterator[tuple[str, Tables]]:
    """Yield alternately new rows and samples from copulas of new rows."""
    for repeat in range(options.repeats):
        for name in PARTS[options.part]:
            for n in SIZES:
                kind = ("freshcopula", "fresh")[repeat % 2]
                stem = f"{name}-{n}-{kind}-{repeat}"
                if stem not in known:
                    yield stem, null_tables(name, n, kind, repeat)


def null_tables(name: str, n: int, kind: str, repeat: int) -> Tables:
    """Return training data, holdout data and a synthetic table that depends only on other rows."""
    public = load(name)
    parts = null_rows(name, n, len(public), 1000 + repeat)  # not the rows of the oracle
    train, holdout, third = (part_of(public, part) for part in parts[:3])
    if kind == "freshcopula":
        drawn = GaussianCopula().fit(third).sample(len(third), random_state=repeat)
        third = unpack(pack(drawn, public), public)
    return train, holdout, third


def read(paths: list[Path]) -> dict[str, dict]:
    """Return the entries of JSON files by table."""
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return {line["release"]: line for line in lines}


def counts(oracle: dict[str, dict], found: dict[str, dict], before: dict[str, dict]) -> dict:
    """Return alarms of presets and significant tests, by part, size, generator and fit.

    The result also contains the alarms of earlier presets for leaking tables, if available.
    """
    earlier = [one for name, one in before.items() if oracle[name]["leaks"]]
    groups: dict[tuple, list] = {}
    for release, one in found.items():
        name, n, generator, fit = release.split("-")
        part = next(part for part, names in PARTS.items() if name in names)
        null = generator.startswith("fresh")
        if null or (release in oracle and oracle[release]["leaks"]):
            key = ("null" if null else "leaks", part, int(n), generator, "" if null else fit)
            groups.setdefault(key, []).append(one)
    tests = sorted({name for one in found.values() for name in one["p"]})
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "cells": [
            {
                **dict(zip(("kind", "part", "rows", "generator", "fit"), key, strict=True)),
                "presets": {p: counted([bool(o["alarms"][p]) for o in of]) for p in POWER_PRESETS},
                "tests": {t: sum(o["p"].get(t, 1.0) <= 0.05 for o in of) for t in tests},
            }
            for key, of in sorted(groups.items())
        ],
        "before": {p: sum(bool(o["alarms"][p]) for o in earlier) for p in POWER_PRESETS},
        "not_leaking": sum(not one["leaks"] for name, one in oracle.items() if name in found),
    }


def main() -> None:
    """Print a line of JSON for each table, or write the counts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("leaks", "null", "count"))
    parser.add_argument("--part", choices=PARTS, default="judge")
    parser.add_argument("--releases", type=Path, default=Path("releases"))
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--most-rows", type=int, default=3000)
    parser.add_argument("--known", type=Path, nargs="*", default=[])
    parser.add_argument("--oracle", type=Path, nargs="*", default=[])
    parser.add_argument("--judged", type=Path, nargs="*", default=[])
    parser.add_argument("--before", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "count":
        said = counts(read(options.oracle), read(options.judged), read(options.before))
        (DOCS / "generators.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
        return
    source = releases if options.what == "leaks" else nulls
    for release, tables in source(options, set(read(options.known))):
        said = judged(tables, POWER_PRESETS, 0)
        print(json.dumps({"release": release, **said}), flush=True)


if __name__ == "__main__":
    main()
