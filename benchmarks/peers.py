"""Compare values with sdmetrics and syntheval on the same tables, and explain the differences.

    python benchmarks/peers.py [--rows 5000] [--copied 0.1] [--only syntheval] [--metric nnaa]
        [--sdmetrics-python PYTHON] [--syntheval-python PYTHON]

PYTHON is the interpreter of an environment with the peer. sdmetrics requires pandas below 3, so
each peer has a separate environment. If none is specified, the script creates one in a temporary
folder, with the versions below. `--copied` is the fraction of synthetic rows that are copies of
training rows, so that there is a leak to find. `speed.py` measures the time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from skeval import Metric, Result
from skeval.datasets import make_census
from skeval.fidelity import NearestNeighborAdversarialAccuracy
from skeval.generators import GaussianCopula
from skeval.privacy import (
    NNDR,
    DCRBaselineProtection,
    DCROverfittingProtection,
    DCRPercentile,
    EpsilonIdentifiability,
    HittingRate,
    HoldoutDistanceRatio,
    NewRowShare,
    NNAAPrivacyLoss,
)

PEERS = {"sdmetrics": ["sdmetrics==0.32.0"], "syntheval": ["syntheval==1.7.3"]}
NOTES = {
    "sdmetrics": "Distances: the mean over columns of capped differences, like skeval.",
    "syntheval": "Distances: the mean over columns of differences, like skeval. However, syntheval "
    "computes the ranges of numbers from all three tables, and skeval from the real tables, so the "
    "values differ if synthetic rows exceed the real range. If the synthetic table is "
    "equal to the training data row by row, syntheval treats it as the training data and skips the "
    "copy of each row. Then mDCR is 1 and eps_risk is 0.",
}


def detail(name: str) -> Callable[[Result], float]:
    """Return a function that reads one entry of the details of a result."""
    return lambda result: result.details[name]


@dataclass(frozen=True)
class Ours:
    """A number of skeval: a metric, the part of its result, and the tables that it is fitted on."""

    metric: Metric
    read: Callable[[Result], float] = attrgetter("value")
    holdout: bool = True

    def of(self, train, holdout, synthetic):
        """Return the number."""
        self.metric.fit(train, holdout if self.holdout else None)
        return self.read(self.metric.evaluate(synthetic))


@dataclass(frozen=True)
class Pair:
    """A number of a peer, the number of skeval, and the reason for a difference."""

    peer: str
    metric: str
    number: str
    ours: Ours
    alike: Ours | None
    reason: str


def nndr_contrast(train, holdout, synthetic):
    """Return the mean ratio for holdout rows minus the mean ratio for training rows."""
    metric = NNDR(query="train")
    means = [
        metric.fit(*real).evaluate(synthetic).details["mean"]
        for real in ((holdout, train), (train, holdout))
    ]
    return means[0] - means[1]


PAIRS = (
    Pair(
        "sdmetrics",
        "DCROverfittingProtection",
        "value",
        Ours(DCROverfittingProtection()),
        Ours(DCROverfittingProtection("holdout", "reference")),
        "sdmetrics computes the ranges of numbers from the training data for distances to training "
        "rows and from the holdout for distances to holdout rows, and counts ties as closer to the "
        "holdout. skeval uses one scale and divides ties over all nearest rows.",
    ),
    Pair(
        "sdmetrics",
        "DCRBaselineProtection",
        "value",
        Ours(DCRBaselineProtection()),
        Ours(DCRBaselineProtection(n_random_repeats=1), holdout=False),
        "sdmetrics samples random rows once, without a seed unless a private attribute is set. "
        "skeval computes the mean over five seeded samples. The two agree up to the sample.",
    ),
    Pair(
        "sdmetrics",
        "NewRowSynthesis",
        "value",
        Ours(NewRowShare()),
        Ours(NewRowShare()),
        "The same definition. skeval adds a slack of a billionth to the tolerance.",
    ),
    Pair(
        "syntheval",
        "dcr",
        "mDCR",
        Ours(HoldoutDistanceRatio()),
        Ours(DCRPercentile(50, "train_loo"), detail("ratio")),
        "Both divide the median distance from synthetic to training rows. syntheval divides it by "
        "the median distance between training rows, skeval by the median distance from holdout to "
        "training rows.",
    ),
    Pair(
        "syntheval",
        "nndr",
        "avg",
        Ours(NNDR()),
        Ours(NNDR(query="train"), detail("mean")),
        "syntheval computes the mean over training rows, whose neighbors are synthetic. skeval "
        "computes the 5th percentile over synthetic rows, whose neighbors are training rows, "
        "because the mean hides a few copies. If both distances are 0, syntheval counts 0 and "
        "skeval 1.",
    ),
    Pair(
        "syntheval",
        "nndr",
        "priv_loss",
        Ours(NNDR(query="train"), lambda result: result.baseline - result.value),
        None,
        "Holdout minus train. syntheval subtracts means, and skeval 5th percentiles. The details "
        "of skeval also contain the means of a fit to the training data and of a fit to the "
        "holdout, whose difference is {nndr_contrast:.6f}.",
    ),
    Pair(
        "syntheval",
        "nnaa",
        "avg",
        Ours(NearestNeighborAdversarialAccuracy()),
        Ours(NearestNeighborAdversarialAccuracy()),
        "The same definition at equal sizes. syntheval uses samples, without a seed, only if a "
        "table has twice the rows of the other. skeval uses samples for all unequal sizes.",
    ),
    Pair(
        "syntheval",
        "nnaa",
        "priv_loss",
        Ours(NNAAPrivacyLoss()),
        Ours(NNAAPrivacyLoss()),
        "The same at equal sizes. skeval adds a p-value.",
    ),
    Pair(
        "syntheval",
        "hit_rate",
        "hit rate",
        Ours(HittingRate()),
        Ours(HittingRate(), holdout=False),
        "syntheval uses the ranges of the training data, like skeval without a holdout. skeval "
        "includes numbers exactly at the tolerance. For syntheval, this depends on rounding.",
    ),
    Pair(
        "syntheval",
        "eps_risk",
        "eps_risk",
        Ours(EpsilonIdentifiability()),
        None,
        "syntheval weights columns by 1 / entropy, and rounds numbers to 0 or 1 of their range "
        "before computing the entropy. Therefore skewed columns have unbounded weights, but the "
        "weights of categorical columns have a mean of 1. skeval uses equal weights. With "
        "feature_weights='entropy', which uses ten quantile bins, its value is {entropy:.6f}.",
    ),
    Pair(
        "syntheval",
        "eps_risk",
        "priv_loss",
        Ours(EpsilonIdentifiability(), detail("excess")),
        None,
        "Weights as in the previous row. syntheval divides the count of the holdout by the number "
        "of training rows, which is correct only at equal sizes.",
    ),
)


def written(tables, folder):
    """Write the tables and return the arguments of a peer's script."""
    paths = [folder / f"{name}.csv" for name in ("train", "holdout", "synthetic")]
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False)
    return [*map(str, paths), json.dumps(list(tables[0].select_dtypes("number").columns))]


def asked(peer, python, arguments):
    """Return the numbers of a peer for the tables."""
    script = Path(__file__).with_name(f"peer_{peer}.py")
    done = subprocess.run([python, script, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def environment(peer, folder):
    """Create an environment with a peer and return its interpreter."""
    venv.create(folder / peer, with_pip=True)
    programs = folder / peer / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
    return python


def made_tables(n_rows, copied):
    """Return training, holdout and synthetic rows, with a fraction of copies of training rows."""
    real = make_census(2 * n_rows, random_state=0)
    train, holdout = real.iloc[:n_rows], real.iloc[n_rows:]
    synthetic = GaussianCopula().fit(train).sample(n_rows, random_state=0)
    n_copied = round(copied * n_rows)
    tables = train, holdout, pd.concat([train.iloc[:n_copied], synthetic.iloc[n_copied:]])
    return tuple(table.reset_index(drop=True) for table in tables)


def compared(pairs, answer, tables):
    """Yield the lines of the table, and the reasons below it."""
    figures = {
        "nndr_contrast": nndr_contrast(*tables),
        "entropy": Ours(EpsilonIdentifiability("entropy")).of(*tables),
    }
    for pair in pairs:
        number = "" if pair.number == "value" else f" {pair.number}"
        line = (
            f"{pair.metric}{number}",
            f"{answer['values'][pair.metric][pair.number]:.6f}",
            type(pair.ours.metric).__name__,
            f"{pair.ours.of(*tables):.6f}",
            "" if pair.alike is None else f"{pair.alike.of(*tables):.6f}",
        )
        yield line, pair.reason.format(**figures)


def show(peer, pairs, answer, tables):
    """Print a peer's table, and the reasons below it."""
    table = Table(peer, "theirs", "skeval", "ours", "ours as theirs")
    for heading in table.columns[1:2] + table.columns[3:]:
        heading.justify = "right"
    console, reasons = Console(width=126), []
    for line, reason in compared(pairs, answer, tables):
        table.add_row(*line)
        reasons.append(f"{line[0]}: {reason}")
    console.print(f"\n{peer} {answer['version']}", table)
    for reason in (NOTES[peer], *reasons):
        console.print(f"- {reason}", highlight=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--copied", type=float, default=0.1)
    parser.add_argument("--only", choices=PEERS, action="append")
    parser.add_argument("--metric", choices=sorted({p.metric for p in PAIRS}), action="append")
    for peer in PEERS:
        parser.add_argument(f"--{peer}-python", dest=peer)
    options = parser.parse_args()
    tables = made_tables(options.rows, options.copied)
    print(
        f"{options.rows:,} rows of 15 mixed columns in each table, {options.copied:.0%} of the "
        f"synthetic rows copied from training rows, Python {sys.version.split()[0]}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wanted = options.metric or [pair.metric for pair in PAIRS]
        arguments = written(tables, folder)
        for peer in options.only or PEERS:
            python = getattr(options, peer) or environment(peer, folder)
            pairs = [pair for pair in PAIRS if pair.peer == peer and pair.metric in wanted]
            if pairs:
                answer = asked(peer, python, [*arguments, *{pair.metric for pair in pairs}])
                show(peer, pairs, answer, tables)


if __name__ == "__main__":
    main()
