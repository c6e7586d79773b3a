"""Planted cells: none of them stands in whatever is written, shown, logged, warned of or pickled."""

from __future__ import annotations

import copy
import itertools
import json
import logging
import os
import pickle
import struct
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import SkevalError
from skeval.generators import Bootstrap
from skeval.model_selection import cross_validate_generator
from skeval.result import Result
from tests.test_common import METRICS

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
N_CELLS = 40  # that are planted
N_OUTPUTS = 2000  # that are looked through, at least
DIGITS = 7  # to which a number is known


def planted(table, seed):
    """Return the table with cells that nobody else has, extremes among them, and these cells."""
    rng, table = np.random.default_rng(seed), table.copy()
    # of as many digits as nothing else has, and the last ones beyond all others
    numbers = np.round(rng.uniform(3e4, 9e4, N_CELLS) + rng.integers(1, 999, N_CELLS) / 997.0, 6)
    numbers[-2:] = 98_765_432.125 + 1e4 * seed, -87_654_321.375 - 1e4 * seed
    words = [f"person-{seed}-{k:04d}-{rng.integers(10**9):09d}" for k in range(N_CELLS)]
    rows = rng.permutation(len(table))[:N_CELLS]
    table["income"] = table["income"].astype("float64")
    table["city"] = table["city"].astype(object)
    for row, number, word in zip(rows, numbers, words, strict=True):
        table.loc[row, "income"] = number
        table.loc[row, "city"] = word
    return table, numbers, words


TRAIN, NUMBERS, WORDS = planted(make_mixed(150, random_state=0), 0)
HOLDOUT, OTHER_NUMBERS, OTHER_WORDS = planted(make_mixed(150, random_state=1), 1)
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


def numbers_in(content):
    """Yield the numbers of a JSON document."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for part in content:
            yield from numbers_in(part)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield float(content)


def by_arithmetic(document):
    """Return the planted numbers that follow from a document and what is public.

    Public are the synthetic table, and the numbers of rows. Tried are the numbers themselves, times
    the width of a synthetic column, over it, and shifted by its ends, its mean and its spread.
    """
    values = np.array([v for v in set(numbers_in(document)) if np.isfinite(v) and v != 0.0])
    column = SYNTHETIC["income"].dropna().to_numpy()
    public = np.array([1.0, np.ptp(column), column.std(ddof=1), column.mean(), len(TRAIN)])
    shifts = np.array([0.0, column.min(), column.max(), column.mean(), np.median(column)])
    factors = np.concatenate([public, 1.0 / public])
    with np.errstate(all="ignore"):
        scaled = np.concatenate([values[:, None] * factors, factors / values[:, None]], axis=1)
    reached = np.concatenate([scaled[..., None] + shifts, scaled[..., None] - shifts], axis=-1)
    reached = np.sort(np.abs(reached[np.isfinite(reached)]))
    cells = np.abs(CELLS)
    at = np.clip(np.searchsorted(reached, cells), 1, max(1, reached.size - 1))
    if reached.size < 2:
        return []
    near = np.minimum(np.abs(reached[at] - cells), np.abs(reached[at - 1] - cells)) / cells
    # how many would be as near by chance, of so many numbers about there
    density = np.array([((reached > c / 2) & (reached < 2 * c)).sum() / c for c in cells])
    return cells[(near < 10.0**-DIGITS) & (density * cells * 10.0**-DIGITS < 1e-3)].tolist()


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
            keep("suite html", suite._repr_html_() if hasattr(suite, "_repr_html_") else "")
            keep("json", result.to_json())
            keep("repr", repr(result))
            keep("html", result._repr_html_())
            keep("csv", result.frame().to_csv())
            keep("verdict", repr(result.verdict()))
            keep("pickled results", pickle.dumps(result))
            keep("pickled suite", pickle.dumps(suite))
            for name, each in result.items():
                keep(f"{name} json", each.to_json())
                keep(f"{name} repr", repr(each))
                keep(f"{name} html", each._repr_html_())
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


def test_no_cell_follows_by_arithmetic(outputs):
    documents = {n: json.loads(one) for n, one in outputs.items() if n.endswith("json")}
    assert len(documents) > 100
    assert {name: cells for name, one in documents.items() if (cells := by_arithmetic(one))} == {}


def test_arithmetic_would_find_a_cell():
    """A range over a public one, and an extreme in another unit."""
    column, extreme = SYNTHETIC["income"].dropna(), CELLS[-1]
    assert by_arithmetic({"coverage": np.ptp(column) / extreme}) == [extreme]
    assert by_arithmetic({"gap": extreme - column.max()}) == [extreme]
    assert by_arithmetic(Result(0.5, metric="A").to_dict()) == []


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
