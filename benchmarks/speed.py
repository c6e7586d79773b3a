"""Compare the time and memory of skeval and its peers on real flights and a census.

    python benchmarks/speed.py                                 # all races, on both tables
    python benchmarks/speed.py --table census --only sdmetrics anonymeter
    python benchmarks/speed.py --python sdmetrics=PYTHON --python prdc=PYTHON
    python benchmarks/speed.py --write                         # docs/speed.json and its page

PYTHON is the interpreter of an environment with the peer. If none is specified, the script creates
one in a temporary folder, with the versions below, because the requirements of peers conflict. Each
side of a race is one process on one core, if the system supports it, first the peer and then
skeval. The first call uses 200 rows, which imports, compiles and loads the code. Then all rows are
used, five times or for ten seconds, and for at least one second. Seconds are the median of the CPU
time, without reading files and including fit. Memory is the peak of the process, including
libraries. Ratios are peer divided by skeval.

Training, holdout and synthetic data have equal numbers of rows. Flights are complete rows, without
the number of the plane and the combined hour. The synthetic rows are from a copula, and a tenth of
them are copies of training rows. Additional columns are columns of other rows. prdc encodes
categories as columns of 0 and 1, and skeval uses Gower's distance. For numbers, both use the same
distance. Where both sides define a value in the same way, the last column shows whether the values
are equal.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import combinations, product
from math import isclose
from pathlib import Path
from statistics import mean, median
from typing import Any

import pandas as pd
import results

PEERS = {
    "sdmetrics": ["sdmetrics==0.32.0"],
    "syntheval": ["syntheval==1.7.3"],
    "prdc": ["prdc==0.2", "pandas"],
    "anonymeter": ["anonymeter==1.1.0", "numpy<1.27"],
    "phik": ["phik==0.12.5"],
    "mostlyai-qa": ["mostlyai-qa==1.10.11"],
}
TABLES = "census", "flights"
ROLES = "train", "holdout", "synthetic"
ATTACKS = 500
CALLS, FEWEST, ENOUGH = 5, 1.0, 10.0  # number of calls, and minimum and maximum of all seconds
THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
Frames = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


@dataclass(frozen=True)
class Race:
    """A computation of a peer and the same computation of skeval."""

    peer: str
    title: str
    theirs: Callable[..., Any]
    ours: Callable[..., Any]
    n_rows: int = 20_000
    n_columns: int | None = None


def labelled(table: pd.DataFrame) -> list[str]:
    """Return the columns that are not numerical."""
    return list(table.columns.difference(table.select_dtypes("number").columns, sort=False))


def described(table: pd.DataFrame) -> dict[str, Any]:
    """Return the metadata of sdmetrics."""
    labels = labelled(table)
    kinds = {x: {"sdtype": "categorical" if x in labels else "numerical"} for x in table}
    return {"columns": kinds}


def sdmetrics_dcr(train, holdout, synthetic):
    from sdmetrics.single_table import DCROverfittingProtection

    DCROverfittingProtection.compute(
        real_training_data=train,
        synthetic_data=synthetic,
        real_validation_data=holdout,
        metadata={"tables": {"table": described(train)}, "relationships": []},
        table_name="table",
    )


def our_dcr(train, holdout, synthetic):
    from skeval.privacy import DCROverfittingProtection

    DCROverfittingProtection().fit(train, holdout).evaluate(synthetic)


def known_and_secret(train: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return the known columns and the secret of an attack on categories."""
    *known, secret = labelled(train)
    return known[:4], [secret]


def sdmetrics_disclosure(train, holdout, synthetic):
    from sdmetrics.single_table import DisclosureProtection

    known, secret = known_and_secret(train)
    named = {"known_column_names": known, "sensitive_column_names": secret}
    return DisclosureProtection.compute(train, synthetic, **named)


def our_disclosure(train, holdout, synthetic):
    from skeval.privacy import DisclosureProtection

    return DisclosureProtection(*known_and_secret(train)).fit(train).evaluate(synthetic).value


def sdmetrics_quality(train, holdout, synthetic):
    from sdmetrics.reports.single_table import QualityReport

    QualityReport().generate(train, synthetic, described(train), verbose=False)


def sdmetrics_diagnostic(train, holdout, synthetic):
    from sdmetrics.reports.single_table import DiagnosticReport

    DiagnosticReport().generate(train, synthetic, described(train), verbose=False)


def of_suite(name: str) -> Callable[..., None]:
    """Return a call of a suite."""

    def call(train, holdout, synthetic):
        from skeval import make_suite

        make_suite(name).fit(train).evaluate(synthetic)

    return call


our_quality, our_diagnostic = of_suite("quality"), of_suite("diagnostic")


def of_sdmetrics_columns(name: str) -> Callable[..., float]:
    """Return a call of a metric for each numerical column, which returns the mean."""

    def call(train, holdout, synthetic):
        import sdmetrics.single_column

        compute = getattr(sdmetrics.single_column, name).compute
        numbers = train.select_dtypes("number").columns
        return mean(compute(train[x], synthetic[x]) for x in numbers)

    return call


def of_sdmetrics_pairs(name: str, numerical: bool) -> Callable[..., float]:
    """Return a call of a metric for each pair of columns of a kind, which returns the mean."""

    def call(train, holdout, synthetic):
        import sdmetrics.column_pairs

        compute = getattr(sdmetrics.column_pairs, name).compute
        columns = train.select_dtypes("number").columns if numerical else labelled(train)
        pairs = map(list, combinations(columns, 2))
        return mean(compute(train[pair], synthetic[pair]) for pair in pairs)

    return call


def of_fidelity(name: str, *, labels: bool = False, **settings: Any) -> Callable[..., float]:
    """Return a call of one of our metrics, which returns its value."""

    def call(train, holdout, synthetic):
        import skeval.fidelity

        metric = getattr(skeval.fidelity, name)(**settings)
        if labels:
            metric.set_params(columns=labelled(train))
        return metric.fit(train, holdout).evaluate(synthetic).value

    return call


sdmetrics_ks, our_ks = of_sdmetrics_columns("KSComplement"), of_fidelity("KSComplement")
sdmetrics_correlation = of_sdmetrics_pairs("CorrelationSimilarity", numerical=True)
our_correlation = of_fidelity("CorrelationSimilarity")
sdmetrics_contingency = of_sdmetrics_pairs("ContingencySimilarity", numerical=False)
our_contingency = of_fidelity("ContingencySimilarity", labels=True)


def of_syntheval(metric: str) -> Callable[..., None]:
    """Return a call of one of syntheval's metrics."""

    def call(train, holdout, synthetic):
        from syntheval import SynthEval

        given = {"cat_cols": labelled(train), "verbose": False, "enable_plots": False}
        SynthEval(train, holdout, console="off", **given).evaluate(synthetic, **{metric: {}})

    return call


syntheval_hits, syntheval_nnaa = of_syntheval("hit_rate"), of_syntheval("nnaa")
syntheval_dcr, syntheval_nndr = of_syntheval("dcr"), of_syntheval("nndr")
syntheval_mia = of_syntheval("mia")


def our_percentile(train, holdout, synthetic):
    from skeval.privacy import DCRPercentile

    DCRPercentile(50, "train_loo").fit(train, holdout).evaluate(synthetic)


def our_nndr(train, holdout, synthetic):
    from skeval.privacy import NNDR

    NNDR(query="train").fit(train, holdout).evaluate(synthetic)


def our_mia(train, holdout, synthetic):
    from skeval.privacy import MembershipInference

    MembershipInference("classifier").fit(train, holdout).evaluate(synthetic)


def our_hits(train, holdout, synthetic):
    from skeval.privacy import HittingRate

    HittingRate().fit(train, holdout).evaluate(synthetic)


def our_nnaa(train, holdout, synthetic):
    from skeval.privacy import NNAAPrivacyLoss

    NNAAPrivacyLoss().fit(train, holdout).score(synthetic)


def our_nnaa_tested(train, holdout, synthetic):
    from skeval.privacy import NNAAPrivacyLoss

    NNAAPrivacyLoss().fit(train, holdout).evaluate(synthetic)


def prdc_of_numbers(train, holdout, synthetic):
    from prdc import compute_prdc

    rows = (table.select_dtypes("number").to_numpy(float) for table in (train, synthetic))
    compute_prdc(*rows, nearest_k=5)


def our_balls_of_numbers(train, holdout, synthetic):
    from sklearn.preprocessing import FunctionTransformer

    tables = (table.select_dtypes("number") for table in (train, synthetic))
    our_balls(*tables, space=FunctionTransformer())


def prdc_of_all(train, holdout, synthetic):
    rows = pd.get_dummies(pd.concat([train, synthetic]), dtype=float)
    rows = (rows - rows.mean()) / rows.std()
    prdc_of_numbers(rows[: len(train)], None, rows[len(train) :])


def our_balls_of_all(train, holdout, synthetic):
    our_balls(train, synthetic)


def our_balls(train, synthetic, **space):
    from skeval import MetricSuite
    from skeval.fidelity import DensityCoverage, ImprovedPrecisionRecall

    metrics = ImprovedPrecisionRecall(5, **space), DensityCoverage(5, **space)
    MetricSuite(list(zip("ab", metrics, strict=True))).fit(train).evaluate(synthetic)


def anonymeter_singling(train, holdout, synthetic):
    from anonymeter.evaluators import SinglingOutEvaluator

    of = SinglingOutEvaluator(train, synthetic, n_attacks=ATTACKS, control=holdout, seed=0)
    of.evaluate(mode="multivariate").risk()


def anonymeter_one_column(train, holdout, synthetic):
    from anonymeter.evaluators import SinglingOutEvaluator

    of = SinglingOutEvaluator(train, synthetic, n_attacks=ATTACKS, control=holdout, seed=0)
    of.evaluate(mode="univariate").risk()


def of_singling(mode: str) -> Callable[..., None]:
    """Return a call of the singling out attack."""

    def call(train, holdout, synthetic):
        from skeval.privacy import SinglingOutRisk

        SinglingOutRisk(mode, n_attacks=ATTACKS).fit(train, holdout).evaluate(synthetic)

    return call


our_singling, our_one_column = of_singling("multivariate"), of_singling("univariate")


def split(table: pd.DataFrame) -> list[list[str]]:
    """Return every other column, and the rest."""
    return [list(table.columns[::2]), list(table.columns[1::2])]


def anonymeter_linkability(train, holdout, synthetic):
    from anonymeter.evaluators import LinkabilityEvaluator

    n_attacks = min(ATTACKS, len(holdout))  # anonymeter samples without replacement
    given = {"aux_cols": split(train), "n_attacks": n_attacks, "control": holdout}
    LinkabilityEvaluator(train, synthetic, **given).evaluate(n_jobs=1).risk()


def our_linkability(train, holdout, synthetic):
    from skeval.privacy import LinkabilityRisk

    LinkabilityRisk(split(train), n_attacks=ATTACKS).fit(train, holdout).evaluate(synthetic)


def anonymeter_inference(train, holdout, synthetic):
    from anonymeter.evaluators import InferenceEvaluator

    *known, secret = train.columns
    n_attacks = min(ATTACKS, len(holdout))
    given = {"aux_cols": known, "secret": secret, "n_attacks": n_attacks, "control": holdout}
    InferenceEvaluator(train, synthetic, **given).evaluate(n_jobs=1).risk()


def our_inference(train, holdout, synthetic):
    from skeval.privacy import InferenceRisk

    InferenceRisk(train.columns[-1], n_attacks=ATTACKS).fit(train, holdout).evaluate(synthetic)


def phik(train, holdout, synthetic):
    from phik import phik_matrix

    numbers = list(train.select_dtypes("number").columns)
    real, ours = (phik_matrix(table, numbers, verbose=False) for table in (train, synthetic))
    (real - ours).abs().mean(axis=None)


def our_phik(train, holdout, synthetic):
    from skeval.fidelity import PhikMatrixDifference

    PhikMatrixDifference().fit(train).evaluate(synthetic)


def mostlyai_report(train, holdout, synthetic):
    from mostlyai import qa

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        qa.report(
            syn_tgt_data=synthetic, trn_tgt_data=train, hol_tgt_data=holdout, report_path=path
        )


def our_report(train, holdout, synthetic):
    from skeval import report

    with tempfile.TemporaryDirectory() as folder:
        report(train, holdout, synthetic, Path(folder) / "report.html", progress=False)


def at(sizes: tuple[int, ...], *race: Any) -> list[Race]:
    """Return the same race with several numbers of rows."""
    return [Race(*race, n_rows) for n_rows in sizes]


SMALL = 1000, 10_000
RACES = (
    *at(SMALL, "sdmetrics", "DiagnosticReport, preset", sdmetrics_diagnostic, our_diagnostic),
    *at(SMALL, "sdmetrics", "QualityReport, preset", sdmetrics_quality, our_quality),
    *at(SMALL, "sdmetrics", "KSComplement, with interval", sdmetrics_ks, our_ks),
    *at(SMALL, "sdmetrics", "CorrelationSimilarity", sdmetrics_correlation, our_correlation),
    *at(SMALL, "sdmetrics", "ContingencySimilarity", sdmetrics_contingency, our_contingency),
    Race("sdmetrics", "DisclosureProtection", sdmetrics_disclosure, our_disclosure, 1000),
    Race("sdmetrics", "DCROverfittingProtection", sdmetrics_dcr, our_dcr, 1000),
    Race("sdmetrics", "DCROverfittingProtection", sdmetrics_dcr, our_dcr, 2000),
    Race("sdmetrics", "DCROverfittingProtection", sdmetrics_dcr, our_dcr, 5000),
    Race("syntheval", "dcr, DCRPercentile", syntheval_dcr, our_percentile, 4000),
    Race("syntheval", "nndr, NNDR", syntheval_nndr, our_nndr, 4000),
    Race("syntheval", "hit rate, HittingRate", syntheval_hits, our_hits, 4000),
    Race("syntheval", "nnaa, NNAAPrivacyLoss alone", syntheval_nnaa, our_nnaa, 4000),
    Race("syntheval", "nnaa, with its p-value", syntheval_nnaa, our_nnaa_tested, 4000),
    Race("syntheval", "mia, MembershipInference of a classifier", syntheval_mia, our_mia, 4000),
    Race("prdc", "its scores for numerical columns", prdc_of_numbers, our_balls_of_numbers, 10_000),
    Race("prdc", "its scores for all columns", prdc_of_all, our_balls_of_all, 10_000),
    Race("anonymeter", "univariate singling out", anonymeter_one_column, our_one_column, 10_000),
    Race("anonymeter", "multivariate singling out", anonymeter_singling, our_singling, 39_000),
    Race("anonymeter", "linkability, one split", anonymeter_linkability, our_linkability, 39_000),
    Race("anonymeter", "inference of one column", anonymeter_inference, our_inference, 39_000),
    Race("phik", "two matrices, PhikMatrixDifference", phik, our_phik, 10_000),
    Race("mostlyai-qa", "the whole report", mostlyai_report, our_report, 10_000),
    Race("mostlyai-qa", "the whole report", mostlyai_report, our_report, 5000, 45),
)  # fmt: skip


def real_rows(table: str, n_rows: int, n_columns: int | None) -> pd.DataFrame:
    """Return real rows. Additional columns are columns of other rows."""
    from skeval.datasets import load_flights, make_census

    def block(k: int) -> pd.DataFrame:
        if table == "census":
            return make_census(n_rows, random_state=k)
        rows = load_flights(None, random_state=k).drop(columns=["tailnum", "time_hour"]).dropna()
        return rows.sample(n_rows, random_state=k).reset_index(drop=True)

    blocks = [block(0)]
    while n_columns is not None and sum(one.shape[1] for one in blocks) < n_columns:
        blocks.append(block(len(blocks)).add_suffix(f"_{len(blocks)}"))
    return pd.concat(blocks, axis=1).iloc[:, :n_columns]


def write(table: str, race: Race, folder: Path) -> None:
    """Write the three tables of a race."""
    from skeval.generators import GaussianCopula

    n = race.n_rows
    real = real_rows(table, 2 * n, race.n_columns)
    train, holdout = real.iloc[:n], real.iloc[n:]
    sampled = GaussianCopula().fit(train).sample(n, random_state=0)
    synthetic = pd.concat([train.iloc[: n // 10], sampled.iloc[n // 10 :]])
    for role, rows in zip(ROLES, (train, holdout, synthetic), strict=True):
        rows.to_csv(folder / f"{role}.csv", index=False)


def run(call: Callable[..., Any], package: str, folder: Path) -> None:
    """Measure one side in this process, and print time and memory."""
    warnings.simplefilter("ignore")
    tables = [pd.read_csv(folder / f"{role}.csv", float_precision="round_trip") for role in ROLES]
    call(*(table.head(200) for table in tables))
    seconds: list[float] = []
    while sum(seconds) < FEWEST or (len(seconds) < CALLS and sum(seconds) < ENOUGH):
        started = time.process_time()
        value = call(*tables)
        seconds.append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([version(package), median(seconds), peak, value]))


def environment(peer: str, folder: Path) -> str:
    """Create an environment with a peer and return its interpreter."""
    venv.create(folder / peer, with_pip=True)
    programs = folder / peer / ("Scripts" if sys.platform == "win32" else "bin")
    python = str(programs / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
    return python


Measured = tuple[str, float, float, float | None]


def asked(python: str, race: Race, side: str, folder: Path) -> Measured:
    """Return version, seconds, GiB and value, if it is comparable, of one side of a race."""
    done = subprocess.run(
        [python, __file__, "--run", str(RACES.index(race)), side, str(folder)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **THREADS},
    )
    version_, seconds, peak, value = json.loads(done.stdout.splitlines()[-1])
    return version_, seconds, peak, value


HEADINGS = ["computation of the other package", "table, rows"]
HEADINGS += ["its CPU s", "CPU s of skeval", "times", "its GiB", "GiB of skeval", "times", "values"]


def raced(races: list[Race], tables: list[str], pythons: dict[str, str]) -> Iterator[list[Any]]:
    """Yield the lines of the table for each race. Repeated calls of a peer are measured once."""
    known: dict[Any, Measured] = {}
    for race, table in product(races, tables):
        same = table, race.theirs, race.n_rows, race.n_columns
        with tempfile.TemporaryDirectory() as name:
            write(table, race, Path(name))
            if same not in known:
                known[same] = asked(pythons[race.peer], race, "theirs", Path(name))
            _, ours, our_peak, our_value = asked(sys.executable, race, "ours", Path(name))
        release, theirs, their_peak, their_value = known[same]
        n_columns = "" if race.n_columns is None else f" x {race.n_columns}"
        yield [
            f"{race.peer} {release}: {race.title}",
            f"{table}, {race.n_rows:,}{n_columns}",
            *map(results.in_digits, (theirs, ours, theirs / ours)),
            *(results.in_digits(peak, 2) for peak in (their_peak, our_peak, their_peak / our_peak)),
            compared(their_value, our_value),
        ]


def compared(theirs: float | None, ours: float | None) -> str:
    """Return whether two values are equal, or an empty text if their definitions differ."""
    if theirs is None or ours is None:
        return ""
    return "equal" if isclose(theirs, ours, abs_tol=1e-9) else f"{theirs:.4f}, {ours:.4f}"


def show(races: list[Race], tables: list[str], pythons: dict[str, str]) -> list[list[Any]]:
    """Print each line of the table as soon as it is available, and return the lines."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(*HEADINGS[:2], title=f"Python {sys.version.split()[0]}, one core")
    for heading in HEADINGS[2:]:
        shown.add_column(heading, justify="right")
    lines = []
    for line in raced(races, tables, pythons):
        print(*line, sep=" | ", file=sys.stderr, flush=True)
        shown.add_row(*map(results.printed, line))
        lines.append(line)
    Console(width=130).print(shown)
    return lines


def race_all(options: argparse.Namespace) -> None:
    """Create missing environments, and run the races on one core."""
    if hasattr(os, "sched_setaffinity"):  # child processes inherit it
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        pythons = dict(given.split("=", 1) for given in options.python)
        for peer in options.only:
            if peer not in pythons:
                pythons[peer] = environment(peer, Path(name))
        races = [race for race in RACES if race.peer in options.only]
        lines = show(races, options.table or list(TABLES), pythons)
    if options.write:
        results.write("speed", HEADINGS, lines)


def main() -> None:
    """Parse the arguments and run the races."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=TABLES, action="append")
    parser.add_argument("--only", choices=PEERS, nargs="+", default=list(PEERS))
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PYTHON")
    parser.add_argument("--write", action="store_true", help="write docs/speed.json and its page")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is None:
        race_all(options)
    else:
        number, side, folder = options.run
        race = RACES[int(number)]
        package = race.peer if side == "theirs" else "skeval"
        run(getattr(race, side), package, Path(folder))


if __name__ == "__main__":
    main()
