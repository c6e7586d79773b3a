"""The same bits from tables larger than memory as from frames; samples say that they are."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import warnings

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest

import skeval
import skeval.scale.context
import skeval.scale.pair_steps
import skeval.scale.partitioned
import skeval.stats.correlation
import skeval.tables.sources
from skeval import Metric, MetricSuite, diagnostic, fidelity, privacy, report, utility
from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.exceptions import SampledWarning, SchemaMismatchError, TableError
from skeval.fidelity import EnergyDistance, KSComplement
from skeval.neighbors import PartitionedNearestNeighbors
from skeval.privacy import DCROverfittingProtection, KMap
from skeval.scale.context import LargeContext
from skeval.scale.engines import DaskEngine
from skeval.steps.samples import measured_on
from tests.metric_examples import example_of
from tests.snapshots import raises, warns
from tests.tables.test_sources import write_parts

ALL = [
    metric
    for package in (diagnostic, fidelity, privacy, utility)
    for name in package.__all__
    if isinstance(metric := getattr(package, name), type) and issubclass(metric, Metric)
]
COUNTED = [metric for metric in ALL if metric.tags.scaling in {"counts", "sorted runs"}]
KEYS = {"known": ["city", "few", "gaps"], "sensitive": "plan"}
GIVEN = {
    "DisclosureProtection": KEYS,
    "DisclosureProtectionEstimate": {**KEYS, "num_rows": 50, "method": "tcap"},
    "RuleAdherence": {"rules": ["income > 20000 or age < 60", "few <= visits"], "min_chances": 3},
}
MORE = {"triples": fidelity.KMarginalSimilarity(3, 20, group_by="plan")}
STATES = {  # besides those of fidelity: what workers count
    "coverage": diagnostic.CategoryCoverage(),
    "missing": diagnostic.MissingValueSimilarity(),
    "boundaries": diagnostic.BoundaryAdherence(),
    "patterns": diagnostic.MissingPatternSimilarity(),
    "ranges": diagnostic.RangeCoverage(),
    "classes": privacy.ReplicatedUniques(["city", "few"]),
    "all classes": privacy.KMap(),
    "diversity": privacy.LDiversity(["city", "few", "gaps"], "plan"),
    "closeness": privacy.TCloseness(),
    "attribution": privacy.DisclosureProtection(
        ["city", "few", "gaps"], "plan", continuous=["few"]
    ),
}
TASKS = {
    *("hash_of_cells", "_count_part", "_infer_schema", "_looked_at", "reasons_of", "_take_rows"),
    *("_sums", "_squares", "_products", "_values_in_order", "_checked_column"),
}
QUICK = {"DCROverfittingProtection", "NNDR"}
# of rows that match, or of samples
WITHOUT_INDEX = {
    "HittingRate",
    "NearestNeighborAdversarialAccuracy",
    "NewRowShare",
    "NNDistanceDistributions",
}
# of correlations: sums of products, which round
SUMMED = {"CorrelationRatioDifference", "CorrelationSimilarity", "MixedAssociationDifference"}
RARER = ["1 part", "7 parts", "dataset", "polars", "mixed"]
FORMS = [*(pytest.param(form, marks=pytest.mark.calibration) for form in RARER), "dask", "workers"]


def table(n_rows, seed):
    rng, rows = np.random.default_rng(seed), make_mixed(n_rows, random_state=seed)
    rows["gaps"] = np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows).round(1))
    rows["few"] = rng.integers(0, 4, n_rows)
    return rows


def in_order(rows):
    """Return rows as contexts in memory have them: sums then have the same bits.

    Only sums of numbers that are no whole ones need it: of the metrics that count, those made of
    correlations (``SUMMED``); see the test of rows in another order.
    """
    return rows.iloc[Context.of(rows, ordered=True).places("train")].reset_index(drop=True)


TABLES = tuple(in_order(table(n_rows, seed)) for n_rows, seed in ((240, 0), (120, 1), (200, 2)))


def stored(form, folder):
    if form in {"1 part", "7 parts"}:
        return [write_parts(t, folder / str(i), int(form[0])) for i, t in enumerate(TABLES)]
    if form == "dataset":
        return [ds.dataset(path) for path in stored("1 part", folder)]
    if form == "polars":
        return [pl.scan_parquet(path / "*.parquet") for path in stored("1 part", folder)]
    if form == "dask":
        return [dd.from_pandas(t, npartitions=2) for t in TABLES]
    if form == "workers":  # which read all but the holdout
        return [
            groups_of_rows(TABLES[0], folder / "0"),
            lazy(TABLES[1]),
            groups_of_rows(TABLES[2], folder / "2"),
        ]
    return [stored("7 parts", folder)[0], *TABLES[1:]]


def lazy(rows):
    return pl.from_pandas(rows).lazy()


def groups_of_rows(rows, folder):
    """Write two files of several groups of rows each."""
    folder.mkdir()
    for i, start in enumerate((0, 90)):
        part = rows.iloc[start : (90, None)[i]]
        part.to_parquet(folder / f"part-{i}.parquet", row_group_size=40)
    return folder


class Handle:
    """What a task on no cluster gave."""

    def __init__(self, value):
        self.value = value

    def result(self):
        return self.value

    def add_done_callback(self, call):
        call(self)


class NoCluster:
    """A client whose tasks run at once, as they would be on workers: made of bytes."""

    asynchronous = False

    def __init__(self):
        self.called = []

    def nthreads(self):
        return {"one": 2, "other": 1}

    def submit(self, call, packed, results, **how):
        self.called.append(how["key"].rpartition("-")[0])
        return Handle(pickle.loads(pickle.dumps(call(packed, [one.value for one in results]))))


@pytest.fixture
def no_cluster(monkeypatch):
    monkeypatch.setattr(distributed, "Future", Handle)
    return NoCluster()


def evaluated(train, holdout, synthetic):
    metrics = [(m.__name__, example_of(m).set_params(**GIVEN.get(m.__name__, {}))) for m in COUNTED]
    suite = MetricSuite([*metrics, *MORE.items()], on_error="raise")
    with warnings.catch_warnings(), dask.config.set(scheduler="threads"):
        warnings.simplefilter("ignore")
        return suite.fit(train, holdout).evaluate(synthetic)


@pytest.fixture(scope="module", autouse=True)
def small_blocks():
    with pytest.MonkeyPatch.context() as patch:
        for module in (skeval.stats.correlation, skeval.scale.pair_steps):
            patch.setattr(module, "BLOCK", 64)
        yield


@pytest.fixture(scope="module")
def expected():
    return evaluated(*TABLES)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_same_bits_however_a_table_is_stored(form, expected, tmp_path, monkeypatch, no_cluster):
    monkeypatch.setattr(skeval.scale.context, "SPILLED", 100)  # what steps keep goes to files
    monkeypatch.setattr(skeval.tables.sources, "CELLS", 700)
    with skeval.scale.engine(no_cluster if form == "workers" else "local"):
        result = evaluated(*stored(form, tmp_path))
    assert set(no_cluster.called) >= TASKS if form == "workers" else not no_cluster.called
    assert list(result) == [*(metric.__name__ for metric in COUNTED), *MORE]
    for name, one in result.items():
        assert one.to_dict() | {"seconds": 0} == expected[name].to_dict() | {"seconds": 0}, name


@pytest.mark.slow
def test_rows_stored_in_another_order_change_no_bit_but_of_sums(expected, tmp_path):
    shuffled = [rows.sample(frac=1.0, random_state=0) for rows in TABLES]
    paths = [write_parts(rows, tmp_path / str(i), 7) for i, rows in enumerate(shuffled)]
    result = evaluated(*paths)
    contents = [
        {name: one.to_dict() | {"seconds": 0} for name, one in of.items()}
        for of in (expected, result)
    ]
    moved = {name for name, one in contents[0].items() if contents[1][name] != one}
    assert moved <= SUMMED
    for name in SUMMED:
        assert result[name].value == pytest.approx(expected[name].value, rel=1e-12)
        assert result[name].baseline == pytest.approx(expected[name].baseline, rel=1e-12)


def test_most_of_what_counts_is_counted():
    assert len(COUNTED) > 35
    names = {metric.__name__ for metric in COUNTED}
    assert {"RuleAdherence", "DisclosureProtection", "MeanCIOverlap"} <= names


@pytest.mark.slow
def test_what_cannot_be_counted_is_measured_on_a_sample_and_says_so(tmp_path):
    paths, metrics = (
        stored("7 parts", tmp_path),
        [
            ("e", EnergyDistance()),
            ("ks", KSComplement()),
            ("classes", KMap(["city"])),
            ("clusters", KMap(["city"], mode="cluster")),  # they have to be found
            ("keys", privacy.DisclosureProtection(["city"], "plan")),
            ("nearest keys", privacy.DisclosureProtection(["city"], "plan", "generalized_cap")),
        ],
    )
    suite = MetricSuite(metrics, max_rows=100).fit(*paths[:2])
    with warns(SampledWarning):
        measured = suite.evaluate(paths[2])
    assert measured["e"].details["sampled"] == {
        "train": (100, 240),
        "holdout": (100, 120),
        "synthetic": (100, 200),
    }
    assert "sampled" not in measured["ks"].details
    found = {name for name, one in measured.items() if "sampled" in one.details}
    assert found == {"e", "clusters", "nearest keys"}
    assert measured.sizes == {"train": 240, "holdout": 120, "synthetic": 200}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["1 part", "dask", "mixed"])
def test_a_sample_is_of_the_same_rows_however_a_table_is_stored(form, tmp_path):
    (tmp_path / "7").mkdir()
    (tmp_path / "other").mkdir()
    drawn = []
    for paths in (stored("7 parts", tmp_path / "7"), stored(form, tmp_path / "other")):
        context = LargeContext.of(*paths[:2], max_rows=50).with_synthetic(paths[2])
        drawn.append(measured_on(context, "sampled"))
    assert not isinstance(drawn[0], LargeContext)
    for role in ("train", "holdout", "synthetic"):
        assert len(drawn[0][role]) == 50
        pd.testing.assert_frame_equal(drawn[0][role], drawn[1][role])


@pytest.mark.slow
def test_few_rows_are_no_sample(tmp_path):
    paths = stored("1 part", tmp_path)
    plain = EnergyDistance().fit(*TABLES[:2]).evaluate(TABLES[2])
    large = EnergyDistance().fit(*paths[:2]).evaluate(paths[2])
    assert large.to_dict() | {"seconds": 0} == plain.to_dict() | {"seconds": 0}
    assert EnergyDistance().fit(paths[0]).score(paths[2]) == plain.value


def test_neighbours_are_read_at_once_where_they_fit(tmp_path):
    paths = stored("1 part", tmp_path)
    context = LargeContext.of(*paths[:2], max_rows=50).with_synthetic(paths[2])
    assert len(measured_on(context, "neighbours").train) == 240


@pytest.mark.usefixtures("nothing_fits")
def test_neighbours_that_do_not_fit_are_not_read_at_once(tmp_path):
    paths = stored("1 part", tmp_path)
    context = LargeContext.of(*paths[:2], max_rows=50).with_synthetic(paths[2])
    assert measured_on(context, "neighbours") is context


@pytest.fixture
def nothing_fits(monkeypatch):
    """No rows are read at once, and what steps keep goes to files."""
    monkeypatch.setattr(skeval.scale.context, "MAX_BYTES", 0)
    monkeypatch.setattr(skeval.scale.context, "SPILLED", 100)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize("share", [0.25, 1.0])
@pytest.mark.slow
def test_a_leak_of_tables_that_do_not_fit_is_told_with_the_same_advice(share, tmp_path):
    """Copies of some rows, or of all: what is advised is tried on rows in memory."""
    train, holdout, fresh = TABLES
    n = int(share * len(fresh))
    released = in_order(pd.concat([train[:n], fresh[n:]], ignore_index=True))
    expected = DCROverfittingProtection().fit(train, holdout).evaluate(released, advise=True)
    tables = (train, holdout, released)
    paths = [write_parts(one, tmp_path / str(i), 3) for i, one in enumerate(tables)]
    result = DCROverfittingProtection().fit(*paths[:2]).evaluate(paths[2], advise=True)
    assert expected.p_value < 0.05
    assert result.advice
    assert result.to_dict() | {"seconds": 0} == expected.to_dict() | {"seconds": 0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("nothing_fits")
@pytest.mark.parametrize(
    "metric",
    [
        pytest.param(metric, marks=[] if metric.__name__ in QUICK else pytest.mark.slow)
        for metric in ALL
        if metric.tags.scaling == "neighbours"
    ],
)
def test_neighbours_that_do_not_fit_are_found_in_parts_with_the_same_bits(
    metric, tmp_path, monkeypatch
):
    expected = metric().fit(*TABLES[:2]).evaluate(TABLES[2]).to_dict()
    monkeypatch.setattr(skeval.scale.partitioned, "INDEX_BYTES", 10_000)
    indexes = []
    fit = PartitionedNearestNeighbors.fit

    def noted(self, *tables):
        fit(self, *tables)
        indexes.append(self.n_indexes_)
        return self

    monkeypatch.setattr(PartitionedNearestNeighbors, "fit", noted)
    paths = stored("7 parts", tmp_path)
    result = metric().fit(*paths[:2]).evaluate(paths[2]).to_dict()
    assert result | {"seconds": 0} == expected | {"seconds": 0}
    if metric.__name__ not in WITHOUT_INDEX:
        assert min(indexes) > 1


@pytest.mark.slow
def test_work_on_the_real_rows_is_done_once(tmp_path):
    paths = stored("1 part", tmp_path)
    context = LargeContext.of(*paths[:2])
    first, second = (measured_on(context.with_synthetic(paths[2]), "sampled") for _ in range(2))
    assert first is not second
    assert first.real is second.real


@pytest.mark.slow
def test_the_rows_of_a_pickle_are_skipped_unless_asked_for(tmp_path):
    paths = stored("1 part", tmp_path)
    metric = KSComplement().fit(*paths[:2])
    value = metric.score(paths[2])
    assert "train" not in pickle.loads(pickle.dumps(metric)).context_
    metric.context_.remember_rows = True
    assert pickle.loads(pickle.dumps(metric)).score(paths[2]) == value


@pytest.mark.parametrize("on_workers", [False, True])
@pytest.mark.slow
def test_errors_and_notices_are_those_of_frames(on_workers, tmp_path, no_cluster):
    with skeval.scale.engine(no_cluster if on_workers else "local"):
        compare_what_is_said(tmp_path)
    assert bool(no_cluster.called) == on_workers


def compare_what_is_said(tmp_path):
    train = TABLES[0].assign(odd=1.5)
    bad = TABLES[1].assign(odd="text").drop(columns="few")
    wrong = train.assign(**dict.fromkeys(("odd", "income", "age", "few"), "text"))
    for name, rows in {"train": train, "bad": bad, "wrong": wrong}.items():
        rows.to_parquet(tmp_path / f"{name}.parquet")
    faults = []
    for tables in ((train, wrong), (tmp_path / "train.parquet", tmp_path / "wrong.parquet")):
        with pytest.raises(SchemaMismatchError) as raised:
            KSComplement().fit(*tables)
        faults.append(str(raised.value))
    assert faults[0] == faults[1]
    assert faults[0].count("expected numbers") == 4
    for tables in ((train, bad), (tmp_path / "train.parquet", tmp_path / "bad.parquet")):
        with raises(SchemaMismatchError):
            KSComplement().fit(*tables)
    said = []
    for real, synthetic in ((train, bad), (tmp_path / "train.parquet", tmp_path / "bad.parquet")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            diagnostic.MissingValueSimilarity().fit(real, real).score(synthetic)
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1]
    assert any("also occur in the training data" in text for text in said[0])
    with raises(TableError):
        KSComplement().fit(train).score(tmp_path / "none")


@pytest.mark.slow
def test_a_report_of_parquet_names_what_was_sampled(tmp_path):
    paths = stored("7 parts", tmp_path)
    suite = MetricSuite([("ks", KSComplement()), ("e", EnergyDistance())], max_rows=60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = report(*paths, tmp_path / "report.html", suite=suite, progress=False)
    assert result["ks"].value == KSComplement().fit(TABLES[0]).score(TABLES[2])
    assert "Evaluated on a sample" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "megabytes"), [(24, 96), pytest.param(48, 200, marks=pytest.mark.calibration)]
)
def test_a_table_beyond_the_limit_of_memory_is_measured(tmp_path, columns, megabytes):
    """Both tables as frames take 2 x columns x 400,000 rows x 8 bytes: 154 and 307 MB."""
    for seed, role in enumerate(("train", "synthetic")):
        rng = np.random.default_rng(seed)
        (tmp_path / role).mkdir()
        for part in range(4):
            rows = pd.DataFrame(rng.normal(size=(100_000, columns))).rename(columns="x{}".format)
            rows.to_parquet(tmp_path / role / f"{part}.parquet")
    script = f"""
import os, resource, sys
from pathlib import Path
from skeval.core.context import Context
from skeval.fidelity import ContingencySimilarity, KSComplement, CorrelationSimilarity
from skeval import MetricSuite
from skeval.tables.sources import source_of
folder, names = Path({str(tmp_path)!r}), [f"x{{i}}" for i in range({columns})]
metrics = [("ks", KSComplement()), ("c", ContingencySimilarity(floor=False))]
metrics.append(("r", CorrelationSimilarity(floor=False)))
first = folder / "train" / "0.parquet"
MetricSuite(metrics).fit(first).evaluate(first)  # what is loaded once is not counted
held = int(Path("/proc/self/status").read_text().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + {megabytes} * 2**20,) * 2)
result = MetricSuite(metrics, on_error="raise").fit(folder / "train").evaluate(folder / "synthetic")
print(*(round(one.value, 4) for one in result.values()))
try:
    Context.of(*(source_of(folder / r, r).read(names) for r in ("train", "synthetic")))
except MemoryError:
    print("does not fit")
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    values, told = done.stdout.splitlines()
    assert all(float(value) > 0.99 for value in values.split())
    assert told == "does not fit"


@pytest.mark.cluster
def test_counts_go_out_to_a_cluster_and_come_back_the_same(tmp_path, monkeypatch):
    """Each task opens its own group of rows; a worker that is killed loses nothing."""
    paths = [write_parts(t, tmp_path / str(i), 7) for i, t in enumerate(TABLES)]
    names = ("TVComplement", "ContingencySimilarity", "SimilarityScore", "JensenShannonDistance")
    names = (*names, "RangeQueryError", "CorrelationSimilarity", "KSComplement")
    suite = [*((name, getattr(fidelity, name)()) for name in names), *MORE.items(), *STATES.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = MetricSuite(suite).fit(*TABLES[:2]).evaluate(TABLES[2])
        workers = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB",
            dashboard_address=None,
        )  # fmt: skip
        with workers, distributed.Client(workers):
            fitted, sent, submit = MetricSuite(suite, on_error="raise"), [], DaskEngine.submit
            monkeypatch.setattr(DaskEngine, "submit", lambda *a: sent.append(a) or submit(*a))
            fitted.fit(*paths[:2])
            os.kill(next(iter(workers.workers.values())).pid, signal.SIGKILL)
            result = fitted.evaluate(paths[2])
    assert len(sent) > 3 * 7  # each pass over a table in seven parts
    counting = [given[2] for _, called, *given in sent if called.__name__ == "_count_part"]
    counts = {getattr(of, "func", of).__name__ for of in counting}
    assert {"row_hashes", "count_groups", "extents_of", "missing_of"} <= counts
    assert {called.__name__ for _, called, *_ in sent} >= TASKS
    for name, one in expected.items():
        assert result[name].to_dict() | {"seconds": 0} == one.to_dict() | {"seconds": 0}


@pytest.mark.slow
def test_rows_that_users_name_by_position_are_those_of_files(tmp_path):
    """Who was in is said row by row, in the order of the files; a release of these leaks."""
    rows, bits = make_mixed(300, random_state=3), np.random.default_rng(0).integers(0, 2, 300)
    rows[:200].to_parquet(tmp_path / "train.parquet")
    rows[200:].to_parquet(tmp_path / "holdout.parquet")
    rows[bits == 1].to_parquet(tmp_path / "synthetic.parquet")
    paths = [tmp_path / f"{role}.parquet" for role in ("train", "holdout", "synthetic")]
    audit = privacy.OneRunDPAudit("ratio", "bernoulli", included=bits)
    of_frames = audit.fit(rows[:200], rows[200:]).score(rows[bits == 1])
    assert of_frames > 2.0
    assert audit.fit(*paths[:2]).score(paths[2]) == of_frames


def test_truth_values_for_0_and_1_are_read_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    flags = [
        pd.DataFrame({"flag": rng.integers(0, 2, 60), "x": rng.normal(size=60)}) for _ in range(3)
    ]
    flags[1:] = [table.astype({"flag": bool}) for table in flags[1:]]
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for table, path in zip(flags, paths, strict=True):
        table.to_parquet(path)
    train, holdout, synthetic = map(ds.dataset, paths)
    large = fidelity.TVComplement().fit(train, holdout).evaluate(synthetic)
    small = fidelity.TVComplement().fit(*flags[:2]).evaluate(flags[2])
    assert (large.value, large.baseline) == (small.value, small.baseline)
    assert min(small.value, small.baseline) > 0.8


def test_words_for_missing_cells_have_the_spelling_of_train(tmp_path):
    train = pd.DataFrame({"c": [*"xyxyxyxyxy", "NA", "NA"]})
    path = tmp_path / "synthetic.csv"
    path.write_text("c\n" + "x\ny\n" * 5 + "na\nnan\n")
    for kind in (Context, LargeContext):
        column = kind.of(train).with_synthetic(path).column("synthetic", "c")
        assert (column == "NA").sum() == column.isna().sum() == 1
