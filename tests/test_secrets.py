"""Planted cells: none of them stands in whatever is written, shown, logged, warned of or pickled."""

from __future__ import annotations

import contextlib
import copy
import itertools
import logging
import os
import pickle
import struct
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Literal, get_args, get_origin

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval import MetricSuite, make_suite
from skeval.checks.tables import default_tables
from skeval.datasets import make_mixed
from skeval.exceptions import SkevalError
from skeval.generators import Bootstrap
from skeval.model_selection import cross_validate_generator
from skeval.utils.parameters import hints_of
from tests.notebook import cell_of
from tests.test_common import METRICS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
N_CELLS = 40  # that are planted
N_OUTPUTS = 2000  # that are looked through, at least
MAX_NUMBERS = 400  # of a document that are combined with each other


def planted(table, seed, moved=0):
    """Return the table with cells that nobody else has, extremes among them, and these cells.

    Where they are moved, the same cells are a little different.
    """
    rng, table = np.random.default_rng(seed), table.copy()
    # of as many digits as nothing else has, and the last ones beyond all others
    numbers = np.round(rng.uniform(3e4, 9e4, N_CELLS) + rng.integers(1, 999, N_CELLS) / 997.0, 6)
    numbers[-2:] = 98_765_432.125 + 1e4 * seed, -87_654_321.375 - 1e4 * seed
    words = [f"person-{seed}-{k:04d}-{rng.integers(10**9):09d}" for k in range(N_CELLS)]
    rows = rng.permutation(len(table))[:N_CELLS]
    numbers *= 1.0 + moved * np.random.default_rng(9).uniform(1e-4, 1e-3, N_CELLS)
    table["income"] = table["income"].astype("float64")
    table["city"] = table["city"].astype(object)
    for row, number, word in zip(rows, numbers, words, strict=True):
        table.loc[row, "income"] = number
        table.loc[row, "city"] = word
    return table, numbers, words


ONCE, AGAIN = (
    [planted(make_mixed(150, random_state=seed), seed, moved) for seed in (0, 1)]
    for moved in (0, 1)
)
(TRAIN, NUMBERS, WORDS), (HOLDOUT, OTHER_NUMBERS, OTHER_WORDS) = ONCE
SYNTHETIC = make_mixed(150, random_state=2)
CELLS = np.unique(np.concatenate([NUMBERS, OTHER_NUMBERS]))
TEXTS = [*WORDS, *OTHER_WORDS]
PATTERNS = [
    *(text.encode() for text in TEXTS),
    *(repr(float(number)).encode() for number in CELLS),
    *(struct.pack("<d", number) for number in CELLS),
    *(np.float32(number).tobytes() for number in CELLS if abs(number) > 1e7),
]


def verbatim(content):
    """Return the planted cells that stand in some bytes."""
    content = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return [pattern for pattern in PATTERNS if pattern in content]


def numbers_in(content, path=""):
    """Return the numbers of a JSON document by their places."""
    if isinstance(content, str | bool | None):
        return {}
    if isinstance(content, int | float):
        return {path: float(content)} if np.isfinite(content) and content != 0.0 else {}
    items = content.items() if isinstance(content, dict) else enumerate(content)
    of_parts = [numbers_in(part, f"{path}.{k}") for k, part in items]
    return {place: number for of_part in of_parts for place, number in of_part.items()}


# What is public: the synthetic table, and the numbers of rows.
COLUMN = SYNTHETIC["income"].dropna().to_numpy()
N, N_PRESENT = len(TRAIN), TRAIN["income"].count()
COUNTS = np.array([1.0, N, N - 1, N_PRESENT, N_PRESENT - 1, 1.0 / N])
WIDTHS = np.array([np.ptp(COLUMN), COLUMN.std(ddof=1), COLUMN.mean()])
FACTORS = np.unique([*COUNTS, *1.0 / COUNTS, *WIDTHS, *1.0 / WIDTHS])
SHIFTS = np.array([0.0, COLUMN.mean(), COLUMN.min(), COLUMN.max(), np.median(COLUMN)])
SHIFTS = np.unique([*SHIFTS, *-SHIFTS])


def statistics(table):
    """Return what gives a cell away to whoever has all other rows: sums, squares, quantiles."""
    column = table["income"].dropna()
    quantiles = column.quantile([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]).to_numpy()
    ends = [column.min(), column.max(), np.ptp(column), quantiles[4] - quantiles[2]]
    moments = [
        column.mean(),
        column.sem(),
        *(f(ddof=k) for f in (column.std, column.var) for k in (0, 1)),
    ]
    by_level = [table.groupby(name)["income"].mean() for name in ("plan", "member")]
    return np.concatenate([moments, *by_level, quantiles, ends])


def secrets_of(pairs):
    """Return cells of two tables, with their extremes, and statistics of both."""
    of_each = [[*cells[::4], *cells[-2:], *statistics(table)] for table, cells, _ in pairs]
    return np.concatenate(of_each)


def both_times(once, again, most=MAX_NUMBERS):
    """Return the numbers that stand at the same places of two documents, each number once."""
    first, second = numbers_in(once), numbers_in(again)
    pairs = np.array([(first[place], second[place]) for place in first if place in second])
    pairs = pairs[np.unique(np.abs(pairs[:, 0]), return_index=True)[1]]
    return pairs[:: len(pairs) // most + 1].T  # curves have thousands


def by_arithmetic(numbers, secrets, shifts=SHIFTS):
    """Return the secrets that follow from one or two numbers and from what is public.

    The numbers, and the secrets, are those of two plantings of the same places. Tried are, of each
    number, its products and quotients with what is public; of each of these and any other number
    the sum, difference, product and quotient; all that shifted by what is public. What is met by
    chance in one planting is not met in the other.
    """
    # else it says nothing of what was moved; a last bit is that of another order of sums
    moved = np.abs(numbers[0] - numbers[1]) > 1e-12 * np.abs(numbers[0])
    inner = numbers[:, moved, None]
    scaled = np.concatenate([inner * FACTORS, FACTORS / inner], axis=2).reshape(2, -1)
    scaled = np.concatenate([scaled, -scaled], axis=1)
    others = (numbers[:, :, None] * COUNTS).reshape(2, -1)
    others = np.concatenate([np.zeros((2, 1)), others, -others], axis=1)
    factors = np.concatenate([np.ones((2, 1)), np.abs(numbers), 1.0 / np.abs(numbers)], axis=1)
    others, factors = (each[:, np.argsort(each[0])] for each in (others, factors))
    found = set()
    for (secret, again), shift in itertools.product(secrets.T, shifts):
        for combine, wanted, known, reach in (
            (np.add, secret - shift - scaled[0], others, 1e-9 * abs(secret)),
            (np.multiply, (secret - shift) / scaled[0], factors, 1e-9 * abs(secret / scaled[0])),
        ):
            at, place = near(wanted, known[0], reach)
            gaps = np.abs(combine(scaled[1, at], known[1, place]) + shift - again)
            if (gaps < 1e-9 * abs(again)).any():
                found.add(float(secret))
    return sorted(found)


def near(wanted, known, tolerance):
    """Return which of the wanted numbers has a known one nearby, and its place."""
    place = np.clip(np.searchsorted(known, wanted), 1, known.size - 1)
    place -= np.abs(known[place - 1] - wanted) < np.abs(known[place] - wanted)
    at = np.flatnonzero(np.abs(known[place] - wanted) < tolerance)
    return at, place[at]


def measured():
    """Return results of all metrics of one table, and of presets."""
    metrics = [m for m in METRICS if not {"relational", "text"} & set(m.tags.needs)]
    suites = [MetricSuite([(type(m).__name__, m) for m in metrics])]
    suites += [
        make_suite(name)
        for name in ("report", "privacy", "syneval", "quality", "fidelity", "diagnostic")
    ]
    return [suite.fit(TRAIN, HOLDOUT) for suite in suites]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Return all outputs of several suites, by name: texts and bytes."""
    folder, written, count = tmp_path_factory.mktemp("outputs"), {}, itertools.count()

    def keep(name, content):
        written[f"{next(count)} {name}"] = content

    handler = logging.Handler()
    handler.emit = lambda record: keep("log", record.getMessage())
    logging.getLogger().addHandler(handler)
    logging.captureWarnings(True)
    try:
        for suite in measured():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                result = suite.evaluate(SYNTHETIC)
            for one in caught:
                keep("warning", str(one.message))
            keep("suite", repr(suite))
            keep("suite html", cell_of(suite))
            keep("json", result.to_json())
            keep("repr", repr(result))
            keep("html", cell_of(result))
            keep("csv", result.frame().to_csv())
            keep("verdict", repr(result.verdict()))
            keep("pickled results", pickle.dumps(result))
            keep("pickled suite", pickle.dumps(suite))
            for name, each in result.items():
                keep(f"{name} json", each.to_json())
                keep(f"{name} repr", repr(each))
                keep(f"{name} html", cell_of(each))
                keep(f"{name} pickle", pickle.dumps(each))
                keep(f"{name} warnings", "\n".join(map(str, each.warnings)))
                keep(f"{name} details", repr(each.details))
                keep(f"{name} words", f"{each.summary} {each.fact} {each.advice}")
                keep(f"{name} contrast", repr(each.contrast))
            for name, metric in suite.metrics_.items():
                keep(f"{name} metric", repr(metric))
                keep(f"{name} pickled metric", pickle.dumps(metric))
                keep(f"{name} context", repr(metric.context_))
        keep("page", result.to_html(folder / "page.html").read_bytes())
        keep("pdf", result.to_pdf(folder / "report.pdf").read_bytes())
        for name, each in result.items():
            if each.error or np.isnan(each.value):
                continue
            keep(f"{name} display", each.display().frame().to_csv())
    finally:
        logging.captureWarnings(False)
        logging.getLogger().removeHandler(handler)
    for change in (
        {"age": ["x"] * len(TRAIN)},
        {"income": [10**400] * len(TRAIN)},
        {"city": [[1]] * len(TRAIN)},
    ):
        for metric in METRICS[::3]:
            try:
                copy.deepcopy(metric).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC.assign(**change))
            except SkevalError as error:
                keep("error", "".join(traceback.format_exception_only(error)))
    return written


def test_there_are_many_outputs(outputs):
    assert len(outputs) >= N_OUTPUTS


def test_no_cell_stands_in_an_output(outputs):
    assert {name: found for name, one in outputs.items() if (found := verbatim(one))} == {}


def at_other_settings(metric):
    """Return clones with another choice of one parameter each."""
    hints, clones = hints_of(type(metric)), []
    for name, given in metric.get_params(deep=False).items():
        choices = get_args(hints[name]) if get_origin(hints.get(name)) is Literal else ()
        for other in [choice for choice in choices if choice != given][:1]:
            with contextlib.suppress(SkevalError):  # not every choice goes with all others
                few = {"n_permutations": 19} if "n_permutations" in hints else {}
                clones.append(clone(metric).set_params(**{name: other}, **few).fit(TRAIN, HOLDOUT))
    return clones


@pytest.fixture(scope="module")
def documents():
    """Return for each planting the documents of all metrics, by name.

    Those of a metric are its results, at other settings too, and without a planted row.
    """
    others = np.flatnonzero(TRAIN["income"] != NUMBERS[0])
    metrics = [m for m in METRICS if not {"relational", "text"} & set(m.tags.needs)]
    plain = {type(m).__name__: [m] for m in metrics}
    varied = {name: [m, *at_other_settings(m)] for name, [m] in plain.items()}
    written = []
    for (train, *_), (holdout, *_) in (ONCE, AGAIN):
        documents = {name: [] for name in plain}
        for table, several in ((train, varied), (train.iloc[others], plain)):
            steps = {f"{n} {k}": one for n, of in several.items() for k, one in enumerate(of)}
            results = MetricSuite(list(steps.items())).fit(table, holdout).evaluate(SYNTHETIC)
            for name, one in results.items():
                documents[name.split()[0]].append({**one.to_dict(), "seconds": 0.0})
        written.append(documents)
    return written


SECRETS = np.array([secrets_of(ONCE), secrets_of(AGAIN)])


def test_no_cell_follows_by_arithmetic(documents):
    once, again = documents
    assert sum(map(len, once.values())) > 200
    found = {n: by_arithmetic(both_times(once[n], again[n]), SECRETS) for n in once}
    assert {name: secrets for name, secrets in found.items() if secrets} == {}


def test_no_cell_follows_from_two_metrics(documents):
    pairs = [both_times(*(one[name][0] for one in documents), most=60) for name in documents[0]]
    numbers = np.concatenate(pairs, axis=1)
    assert numbers.shape[1] > 2000
    assert by_arithmetic(numbers, SECRETS, shifts=[0.0]) == []


def test_no_cell_of_several_tables_is_published():
    """Amounts and incomes of many digits, of people, their visits and items."""
    rng, shown = np.random.default_rng(0), {}
    for metric in (m for m in METRICS if "relational" in m.tags.needs):
        tables, cells = copy.deepcopy(default_tables(metric)), []
        for data in tables[:2]:
            for table in data.values():
                for name in table.columns[table.dtypes == "float64"]:
                    table[name] *= rng.uniform(0.9999, 1.0001, len(table))
                    cells.append(np.sort(table[name].dropna().abs()))
        result = clone(metric).fit(*tables[:2]).evaluate(tables[2])
        numbers = np.abs(list(numbers_in(result.to_dict()).values()))
        cells = np.sort(np.concatenate(cells))
        shown[type(metric).__name__] = numbers[near(numbers, cells, 1e-9 * numbers)[0]].tolist()
    assert {name: numbers for name, numbers in shown.items() if numbers} == {}


def test_arithmetic_would_find_a_cell():
    """An end in another unit; a mean, its root, a gap over a spread; a mean with and without it."""

    def published(tables):
        column, number, other = tables[0][0]["income"], tables[0][1][0], tables[1][0]["income"]
        mean, n = column.mean(), column.count()
        return {
            "coverage": [np.ptp(COLUMN) / column.max()],
            "distance": [column.min() - COLUMN.mean()],
            "gap": [(mean - COLUMN.mean()) / column.std(), column.std()],
            "squared": [mean / column.sem(), column.sem()],
            "less": [mean, (n * mean - number) / (n - 1)],
            "sum": [column.quantile(0.9) + other.mean(), other.mean()],
            "of rows": [column.mean() * 7.5, 0.125],
            "nothing": [np.log(column.mean()), column.std() ** 1.5, np.hypot(number, mean)],
        }

    once, again = published(ONCE), published(AGAIN)
    found = {n: by_arithmetic(both_times(once[n], again[n]), SECRETS) for n in once}
    column = TRAIN["income"]
    for name, number in (
        ("coverage", column.max()),
        ("distance", column.min()),
        ("gap", column.mean()),
        ("squared", column.mean()),
        ("less", NUMBERS[0]),
        ("sum", column.quantile(0.9)),
    ):
        assert np.isclose(found[name], number, rtol=1e-9, atol=0.0).any(), name
    assert found["of rows"] == found["nothing"] == []


def test_processes_leave_no_row(monkeypatch, tmp_path):
    """Nothing lies in shared memory or temporary folders, while workers run and afterwards."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    shared = Path("/dev/shm")
    before = set(shared.rglob("*")) if shared.is_dir() else set()
    table = pd.concat([TRAIN] * 60, ignore_index=True)
    suite = MetricSuite([("x", METRICS[0])], check_holdout=False)
    cross_validate_generator(Bootstrap(), table, suite, cv=2, n_jobs=2)
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    if shared.is_dir():
        left += [
            p for p in set(shared.rglob("*")) - before if p.is_file() and os.access(p, os.R_OK)
        ]
    assert {str(path): found for path in left if (found := verbatim(path.read_bytes()))} == {}
