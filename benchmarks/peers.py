"""Values side by side with sdmetrics' and syntheval's on the same tables, and why they differ.

    python benchmarks/peers.py [--rows 5000] [--copied 0.1] [--only syntheval] [--metric nnaa]
        [--sdmetrics-python PYTHON] [--syntheval-python PYTHON]

PYTHON is the interpreter of an environment that has the peer. sdmetrics holds pandas below 3, so
each peer has an environment of its own; where none is named, one is made in a temporary folder,
with the versions below. A share of the synthetic rows, `--copied`, are train rows, so that there is
something to find. What they take is measured by `speed.py`.
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
    "sdmetrics": "Distances: the mean over columns of capped differences, as ours.",
    "syntheval": "Distances: the mean over columns of differences, as ours; but the ranges of "
    "numbers are those of all three tables, ours those of train and holdout, so that values part "
    "where synthetic rows leave the real range. Where the synthetic table equals train row by row, "
    "theirs takes it for train and leaves each row's own copy out: mDCR is 1 then, eps_risk 0.",
}


def detail(name: str) -> Callable[[Result], float]:
    """Return what reads one of a result's details."""
    return lambda result: result.details[name]


@dataclass(frozen=True)
class Ours:
    """A number of ours: a metric, what is read of its result, and which tables it is fitted on."""

    metric: Metric
    read: Callable[[Result], float] = attrgetter("value")
    holdout: bool = True

    def of(self, train, holdout, synthetic):
        """Return the number."""
        self.metric.fit(train, holdout if self.holdout else None)
        return self.read(self.metric.evaluate(synthetic))


@dataclass(frozen=True)
class Pair:
    """A number of a peer's beside ours, ours in the setting that gives theirs, and the reason."""

    peer: str
    metric: str
    number: str
    ours: Ours
    alike: Ours | None
    reason: str


def nndr_contrast(train, holdout, synthetic):
    """Return the mean ratio of holdout rows less that of train rows, among synthetic rows."""
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
        "Theirs takes the ranges of numbers from train for distances to train and from the holdout "
        "for distances to the holdout, two scales, and counts ties as closer to the holdout. Ours "
        "has one scale and divides ties over all nearest rows.",
    ),
    Pair(
        "sdmetrics",
        "DCRBaselineProtection",
        "value",
        Ours(DCRBaselineProtection()),
        Ours(DCRBaselineProtection(n_random_repeats=1), holdout=False),
        "Theirs draws random rows once, without a seed unless a private attribute is set; ours is "
        "the mean over five seeded draws. The two agree up to the draw.",
    ),
    Pair(
        "sdmetrics",
        "NewRowSynthesis",
        "value",
        Ours(NewRowShare()),
        Ours(NewRowShare()),
        "The same definition. Ours leaves a slack of a billionth at the bound of the tolerance.",
    ),
    Pair(
        "syntheval",
        "dcr",
        "mDCR",
        Ours(HoldoutDistanceRatio()),
        Ours(DCRPercentile(50, "train_loo"), detail("ratio")),
        "Both divide the median distance from synthetic rows to train: theirs by the median "
        "distance within train, ours by that from holdout rows to train.",
    ),
    Pair(
        "syntheval",
        "nndr",
        "avg",
        Ours(NNDR()),
        Ours(NNDR(query="train"), detail("mean")),
        "Theirs is the mean over train rows, whose neighbours are synthetic; ours the 5th "
        "percentile over synthetic rows, whose neighbours are train rows: the mean hides a few "
        "copies. Where both distances are 0, theirs counts 0 and ours 1.",
    ),
    Pair(
        "syntheval",
        "nndr",
        "priv_loss",
        Ours(NNDR(query="train"), lambda result: result.baseline - result.value),
        None,
        "Holdout less train: theirs of the means, ours of the 5th percentiles. The means are in "
        "ours too, as details of a fit on train and one on the holdout: {nndr_contrast:.6f}.",
    ),
    Pair(
        "syntheval",
        "nnaa",
        "avg",
        Ours(NearestNeighborAdversarialAccuracy()),
        Ours(NearestNeighborAdversarialAccuracy()),
        "The same definition at equal sizes. Theirs draws samples, without a seed, only where a "
        "table has twice the rows of the other; ours wherever sizes differ.",
    ),
    Pair(
        "syntheval",
        "nnaa",
        "priv_loss",
        Ours(NNAAPrivacyLoss()),
        Ours(NNAAPrivacyLoss()),
        "The same at equal sizes; ours comes with a p-value.",
    ),
    Pair(
        "syntheval",
        "hit_rate",
        "hit rate",
        Ours(HittingRate()),
        Ours(HittingRate(), holdout=False),
        "Theirs takes the ranges of train alone, as ours does without a holdout. Numbers exactly "
        "at the bound of the tolerance are in for ours; for theirs it depends on rounding.",
    ),
    Pair(
        "syntheval",
        "eps_risk",
        "eps_risk",
        Ours(EpsilonIdentifiability()),
        None,
        "Theirs weighs columns by 1 / entropy, that of a number after rounding to 0 or 1 of its "
        "range: skewed columns get weights without bound, while those of categories are brought to "
        "a mean of 1. Ours weighs columns alike; with feature_weights='entropy', whose entropies "
        "are of ten quantile bins, it is {entropy:.6f}.",
    ),
    Pair(
        "syntheval",
        "eps_risk",
        "priv_loss",
        Ours(EpsilonIdentifiability(), detail("excess")),
        None,
        "Weights as above. Theirs divides the holdout's count by the number of train rows, which "
        "is right at equal sizes only.",
    ),
)


def written(tables, folder):
    """Write the tables and return the arguments of a peer's script."""
    paths = [folder / f"{name}.csv" for name in ("train", "holdout", "synthetic")]
    for table, path in zip(tables, paths, strict=True):
        table.to_csv(path, index=False)
    return [*map(str, paths), json.dumps(list(tables[0].select_dtypes("number").columns))]


def asked(peer, python, arguments):
    """Return what a peer says of the tables."""
    script = Path(__file__).with_name(f"peer_{peer}.py")
    done = subprocess.run([python, script, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def environment(peer, folder):
    """Make an environment with a peer and return its interpreter."""
    venv.create(folder / peer, with_pip=True)
    programs = folder / peer / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
    return python


def made_tables(n_rows, copied):
    """Return train, holdout, and synthetic rows of which a share is copied from train."""
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
        f"synthetic ones copied from train, Python {sys.version.split()[0]}"
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
