"""A fitted suite in a file: aggregates under disclosure control, or all rows.

For each column, a file without rows holds its levels, its frequent values and intervals between
quantiles, each of at least ten rows. A table drawn from these, column by column, takes the place of
the real one for the metrics that look at columns one by one; what relates two columns is kept as
the shared steps gave it, see :mod:`skeval.suites.saved_steps`.
"""

from __future__ import annotations

import json
import math
import pickle
import re
import warnings
import zipfile
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np
import pandas as pd
from sklearn.base import clone

from skeval.core.base import Metric, in_relation
from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError, MetricWarning, Sentence, SkevalError
from skeval.fidelity.similarity import joint_bars
from skeval.results.provenance import (
    call_of,
    constructor,
    described,
    hash_of_role,
    rebuilt,
    without_files,
)
from skeval.results.result import Result
from skeval.steps.halves import train_halves
from skeval.steps.pairs import correlations
from skeval.suites.saved_steps import (
    MIN_COUNT,
    KeptSteps,
    check_content,
    check_size,
    kept_of_step,
    of_role,
    read_step,
)
from skeval.tables.schema import TableSchema
from skeval.utils.files import foreign_json, replacing

T = TypeVar("T")
OTHER = "(rare levels)"
VERSION = 2
_PARTS = 100  # of a column of numbers, at most
_EACH = MIN_COUNT // 2  # rows on each side of an edge, of which it is the mean
_LOOKED_AT = 200  # rows that show which steps a metric asks for
_NEEDS_ROWS = "it needs rows of the real tables, and the file that the suite came from holds none."
_TOO_MUCH = (
    "the file that the suite came from does not hold its counts of two columns: there are too many "
    "cells, or the tables were larger than memory."
)
_README = (
    "This file holds rows of real data: whoever has it has them. It is a Python pickle, which can "
    "run any code when it is loaded: load only files that you wrote.\n"
)
_MEMBERS = ("READ_ME_holds_rows.txt", "suite.pickle")
_ZIP = b"PK"  # how a file with rows begins
_PICKLE = (
    "{} holds rows of real data: it is a Python pickle, which can run any code when it is loaded. "
    "If you wrote it, or trust who did, load it with"
)
_HOLDS_ROWS = f"{_PICKLE} rows=True.", f"{_PICKLE} --rows."
_NO_ROWS = "{} holds no rows: load it without rows=True.", "{} holds no rows: leave --rows out."
_NO_SUITE = "{} holds no suite that was saved{}"
_MICROSECOND = np.dtype("datetime64[us]")
_STORAGE = re.compile(
    r"bool|boolean|category|object|str|string|u?int(8|16|32|64)|U?Int(8|16|32|64)"
    r"|[fF]loat(16|32|64)|datetime64\[(s|ms|us|ns)(, [A-Za-z0-9_+:/-]{1,40})?\]"
)


class Suite(Protocol):
    """A suite as far as files hold it: a :class:`~skeval.MetricSuite`."""

    metrics_: dict[str, Any]
    skipped_: dict[str, str]
    context_: Context
    _left_out: dict[str, Any]

    def __init__(self, metrics: list[tuple[str, Any]]) -> None: ...

    @property
    def all_metrics(self) -> list[tuple[str, Any]]:
        """The metrics by the names of their results."""

    def check_parameters(self) -> None:
        """Refuse illegal parameters."""

    def _loaded(self, context: Context, left_out: Mapping[str, str]) -> Self: ...


class SavedContext(Context):
    """A context of tables that were drawn from saved statistics, column by column.

    No row of it is anybody's, and nothing in its rows relates two columns: steps that do are those
    that the file holds. Levels of the synthetic table that the file does not name count as rare.

    Parameters
    ----------
    kept : KeptSteps, optional
        The steps of two columns that the file holds.
    baselines : mapping of str to (float or None), optional
        By the call that makes a metric of such steps, the value of the holdout rows.
    **parts
        As of :class:`~skeval.Context`.
    """

    def __init__(
        self,
        schema: TableSchema,
        tables: dict[str, pd.DataFrame] | None,
        *,
        kept: KeptSteps | None = None,
        baselines: Mapping[str, float | None] | None = None,
        **parts: Any,
    ) -> None:
        super().__init__(schema, tables, **parts)
        self.kept = kept or KeptSteps()
        self.baselines = dict(baselines or {})

    def recall(self, key: Hashable, compute: Callable[[Context], T]) -> T:
        """Return what is known under `key`; of two columns only what the file holds."""
        kept = cast("SavedContext", self.real).kept
        return super().recall(key, kept.instead(key, compute))

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "kept": self.kept, "baselines": self.baselines}

    def with_synthetic(self, synthetic: Any, *, lenient: bool = False) -> Context:
        """Return a context with these rows as `synthetic`; see :class:`~skeval.Context`."""
        context = super().with_synthetic(synthetic, lenient=lenient)
        rows = context["synthetic"]
        for name, levels in self.levels.items():
            if OTHER in levels and name in rows:
                values = rows[name]
                known = values.isin(levels) | values.isna()
                labels = values.astype(object).where(known, OTHER)
                rows[name] = pd.Categorical(labels, categories=levels)
        real = context.real
        return real.standing_in(rows, context.given("synthetic"), context.notices)


@in_relation.register(SavedContext)
def _(context: SavedContext, metric: Metric, result: Result) -> Result:
    """Return a result of two columns with the kept baseline, one of single columns as ever."""
    real = cast("SavedContext", context.real)
    name = constructor(metric)
    if real.kept.is_open:
        return result
    if name not in real.baselines:
        related: Result = in_relation.ordinary(context, metric, result)
        # without the noise of the training data, which halves of substitutes do not show
        return replace(related, interval=result.interval)
    enough = "holdout" in context and context.n_rows("synthetic") >= context.n_rows("holdout")
    return replace(result, baseline=real.baselines[name]) if enough else result


@train_halves.register(SavedContext)
def _(context: SavedContext, n_rows: int, seed: int) -> tuple[Context, Context]:
    """Return all real rows twice: what relates their columns is known of the whole table only."""
    return context.real, context.real


@hash_of_role.register(SavedContext)
def _(context: SavedContext, role: str) -> str:
    """Return no hash of real tables that were drawn from statistics: they are nobody's."""
    return str(hash_of_role.ordinary(context, role)) if role == "synthetic" else ""


@joint_bars.register(SavedContext)
def _(context: SavedContext, *_: Any) -> list[dict[str, Any]]:
    """Return nothing to be drawn: in the substitute rows, no column goes with another."""
    return []


def does_without_rows(metric: Metric) -> bool:
    """Return whether what a file without rows holds will do for a metric.

    Its tags say so. Metrics of before the tag may have an attribute `needs_no_rows` instead.
    """
    return bool(getattr(metric, "needs_no_rows", metric._reads == "columns"))


def column_statistics(values: pd.Series, *, min_count: int = MIN_COUNT) -> dict[str, Any]:
    """Return what may be kept of a canonical column: counts of at least this number of rows.

    Parameters
    ----------
    values : Series
        Canonical: numbers, dates or categories.
    min_count : int, default=10
        Rows behind each number.

    Returns
    -------
    dict
        `n_missing`; of categories `levels` with their counts, and `other`, the rows of rarer ones
        together; of numbers and dates `frequent`, the values that this number of rows have, `bins`,
        the ends and counts of intervals between quantiles, and `whole`. What fewer rows have is not
        kept: neither their values nor their number.

    Notes
    -----
    An edge between two intervals is the mean of ten neighbouring values, the outermost is the
    median of the ten outermost values, and all are rounded to a hundredth of the range between the
    first and the last tenth: no value of one row is in the file, and none moves an edge but its
    neighbours.
    """
    n_missing = int(values.isna().sum())
    kept: dict[str, Any] = {"n_missing": n_missing if n_missing >= min_count else 0}
    present = values.dropna()
    if isinstance(values.dtype, pd.CategoricalDtype):
        counts = present.value_counts()
        rare = counts[counts < min_count]
        levels = {str(level): int(n) for level, n in counts[counts >= min_count].items()}
        other = int(rare.sum())
        return {**kept, "levels": levels, "other": other if other >= min_count else 0}
    numbers = _as_numbers(present)
    distinct, counts = np.unique(numbers, return_counts=True)
    frequent = counts >= min_count
    others = np.repeat(distinct[~frequent], counts[~frequent])
    pairs = zip(distinct[frequent].tolist(), counts[frequent].tolist(), strict=True)
    return {
        **kept,
        "frequent": [list(pair) for pair in pairs],
        "bins": _bins(others, min_count),
        "whole": bool((numbers % 1 == 0).all()),
    }


def _as_numbers(values: pd.Series) -> np.ndarray:
    if values.dtype.kind == "M":
        return values.to_numpy(_MICROSECOND).astype(np.int64).astype(np.float64)
    return values.to_numpy(dtype=np.float64)


def _bins(ordered: np.ndarray, min_count: int) -> list[list[float]]:
    """Return the ends and counts of intervals of about equal count; none of too few values."""
    if ordered.size < 2 * min_count:
        return []
    n_bins = min(_PARTS, ordered.size // min_count)
    cuts = np.linspace(0, ordered.size, n_bins + 1).round().astype(int)
    inner = [float(ordered[cut - _EACH : cut + _EACH].mean()) for cut in cuts[1:-1]]
    ends = [float(np.median(ordered[:min_count])), float(np.median(ordered[-min_count:]))]
    low, high = np.quantile(ordered, [0.1, 0.9])
    unit = 10.0 ** np.floor(np.log10(max((high - low) / 100.0, np.finfo(float).tiny)))
    edges = [round(edge / unit) * unit for edge in [ends[0], *inner, ends[1]]]
    return [
        [edges[i], edges[i + 1], int(cuts[i + 1] - cuts[i])] for i in range(n_bins) if unit > 0.0
    ]


def drawn_column(kept: Mapping[str, Any], kind: str, n_rows: int, seed: int) -> pd.Series:
    """Return a canonical column of this number of rows with these statistics, in random order."""
    if "levels" in kept:
        is_boolean = kind == "boolean"  # which has no third level
        pooled = {OTHER: kept["other"]} if kept["other"] and not is_boolean else {}
        counts = {**kept["levels"], **pooled}
        levels = ["False", "True"] if is_boolean else list(counts)
        place = {level: i for i, level in enumerate(levels)}
        codes = [place[level] for level in counts]
        order = _positions([*counts.values()], kept["n_missing"], n_rows, seed)
        picked = np.append(codes, -1)[order] if codes else np.full(n_rows, -1)
        return pd.Series(
            pd.Categorical.from_codes(picked, categories=pd.Index(levels, dtype=object))
        )
    parts = [np.full(n, value) for value, n in kept["frequent"]]
    parts += [low + (np.arange(n) + 0.5) / n * (high - low) for low, high, n in kept["bins"]]
    if kept["bins"]:  # the range reaches from end to end
        parts[len(kept["frequent"])][0], parts[-1][-1] = kept["bins"][0][0], kept["bins"][-1][1]
    numbers = np.concatenate(parts) if parts else np.empty(0)
    numbers = np.rint(numbers) if kept["whole"] else numbers
    order = _positions([1] * numbers.size, kept["n_missing"], n_rows, seed)
    values = np.append(numbers, np.nan)[order]
    if kind == "datetime":
        missing = np.isnan(values)
        dates = np.where(missing, 0.0, values).astype(np.int64).astype(_MICROSECOND)
        dates[missing] = np.datetime64("NaT")
        return pd.Series(dates)
    return pd.Series(values)


def _positions(counts: list[int], n_missing: int, n_rows: int, seed: int) -> np.ndarray:
    """Return for each row which of the counted things it is, -1 for missing, in random order.

    What was not kept is made up for in proportion, so that there are as many rows as there were.
    """
    whole = np.repeat([*range(len(counts)), -1], [*counts, n_missing])
    if whole.size == 0:
        return np.full(n_rows, -1)
    places = np.floor((np.arange(n_rows) + 0.5) * whole.size / n_rows).astype(int)
    return np.random.default_rng(seed).permutation(whole[places])


def save_suite(suite: Suite, path: str | Path, *, rows: bool) -> Path:
    """Write a fitted suite; see :meth:`MetricSuite.save`."""
    path, context = Path(path), suite.context_
    if rows:
        return _save_rows(suite, path)
    if context.is_relational:
        raise InvalidParameterError("save: several tables are saved with rows=True only.")
    # what was left out at fit stays so, for its own reason; what has no row of results is not kept
    needs_rows = [n for n, metric in suite.metrics_.items() if not does_without_rows(metric)]
    names = [n for n, _ in suite.all_metrics if n in suite.metrics_ or n in suite._left_out]
    reasons = {**suite.skipped_, **dict.fromkeys(needs_rows, _NEEDS_ROWS)}
    left_out = {n: reasons[n] for n in names if n in reasons}
    schema = context.schema
    tables: dict[str, dict[str, Any]] = {
        role: {
            "n_rows": context.n_rows(role),
            "columns": {name: column_statistics(context[role][name]) for name in schema.measured},
        }
        for role in ("train", "holdout")
        if role in context
    }
    for table in tables.values():
        check_size(table["n_rows"], len(schema.kinds))
    content: dict[str, Any] = {
        "skeval_suite": VERSION,
        "holds_rows": False,
        "min_count": MIN_COUNT,
        "left_out": left_out,
        "metrics": {n: described(without_files(one)) for n, one in suite.all_metrics if n in names},
        "kinds": dict(schema.kinds),
        "datetime_formats": dict(schema.datetime_formats),
        "dtypes": {n: str(kind) for n, kind in context.given("train").dtypes.items()},
        "tables": tables,
        "steps": [],
        "baselines": {},
        "differences": {},
    }
    _add_steps(suite, content)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False), encoding="utf-8")
    if gone := [name for name in suite.metrics_ if name in content["left_out"]]:
        text = f"{path.name} holds no rows; metrics that need them are left out: "
        warnings.warn(MetricWarning(f"{text}{', '.join(gone)}."), stacklevel=3)
    return path


def _add_steps(suite: Suite, content: dict[str, Any]) -> None:
    """Add what relates columns, the baselines that rest on it, and how far values are off."""
    left_out: dict[str, str] = content["left_out"]
    asked: dict[str, set[Any]] = {}
    for name, metric in content["metrics"].items():
        if name not in left_out:
            try:
                asked[name] = _steps_asked(rebuilt(metric), content)
            except Exception as error:  # of anyone's metric, on a table that no one gave
                left_out[name] = f"{type(error).__name__}: it cannot do with a table without rows."
    context, drawn = suite.context_, _context(content)
    given = {role: context.given(role) for role in content["tables"]}
    in_memory = all(isinstance(table, pd.DataFrame) for table in given.values())
    steps: dict[Hashable, dict[str, Any] | None] = {}
    for key in set().union(*asked.values()):
        release = drawn.with_synthetic(given[key[1][1]]) if in_memory else None
        steps[key] = None if release is None else kept_of_step(key, release)
    for name, keys in asked.items():
        if any(steps[key] is None for key in keys):
            left_out[name] = _TOO_MUCH
    measured = [name for name in asked if name not in left_out]
    used = {key for name in measured for key in asked[name]}
    content["steps"] = sorted((steps[key] for key in used), key=json.dumps)
    values = _compared(suite, measured, given, _context(content)) if in_memory else {}
    for name in measured:
        value, difference = values.get(name, (None, None))
        content["differences"][name] = difference
        if asked[name]:
            content["baselines"][name] = value


def _steps_asked(metric: Any, content: Mapping[str, Any]) -> set[Any]:
    """Return the keys of the steps of two columns that a metric asks of the real rows."""
    tables = content["tables"].items()
    few = {role: {**t, "n_rows": min(t["n_rows"], _LOOKED_AT)} for role, t in tables}
    context = _context({**content, "tables": few})
    context.kept.is_open = True
    release = context.with_synthetic(context.given("train"))
    metric.fit_context(context).evaluate_context(release, advise=False)
    asked: set[Any] = context.kept.asked
    if "holdout" in context:  # p-values are against it, where there is a value
        asked |= {of_role(key, "holdout") for key in asked if key[0] is correlations}
    return asked


def _compared(
    suite: Suite, names: list[str], given: Mapping[str, pd.DataFrame], loaded: SavedContext
) -> dict[str, tuple[float | None, float | None]]:
    """Return the value of the holdout by each metric, and how far values of the file are off.

    Looked at are all rows of the holdout, else half of train's, as they are and with every column
    shuffled. The difference is rounded up to a hundredth of the metric's range; None where that
    has no end, for it would tell of extreme values, and where one of the values is not defined.
    """
    train = given["train"]
    half = train.sample(-(-len(train) // 2), random_state=0).reset_index(drop=True)
    real = given.get("holdout", half)
    shuffled = {n: real[n].sample(frac=1.0, random_state=i).array for i, n in enumerate(real)}
    looks = [
        (on, on.with_synthetic(release, lenient=True))
        for release in (real, pd.DataFrame(shuffled))
        for on in (suite.context_, loaded)
    ]
    compared: dict[str, tuple[float | None, float | None]] = {}
    for name in names:
        metric = suite.metrics_[name]
        try:
            results = [clone(metric).fit_context(on).value_in(look) for on, look in looks]
        except Exception:  # of anyone's metric; its own evaluation will say it
            compared[name] = None, None
            continue
        first, from_first, second, from_second = (result.value for result in results)
        low, high = (results[0].tags or metric.tags).bounds
        gaps = [abs(a - b) for a, b in ((first, from_first), (second, from_second)) if a == a]
        known = "holdout" in given and not math.isnan(first)
        gap, hundredth = max(gaps, default=0.0), (high - low) / 100.0
        said = not math.isnan(gap) and hundredth < np.inf
        off = math.ceil(gap / hundredth - 1e-6) * hundredth if said else None
        compared[name] = round(first, 4) if known else None, off
    return compared


def _save_rows(suite: Suite, path: Path) -> Path:
    context = suite.context_
    before, context.remember_rows = context.remember_rows, True
    try:
        held = pickle.dumps(suite)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidParameterError(
            "save: the suite cannot be pickled; name functions and classes at the top of a module."
        ) from error
    finally:
        context.remember_rows = before
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        file.writestr(_MEMBERS[0], _README)
        file.writestr(_MEMBERS[1], held)
    return path


def load_suite(kind: type[Suite], path: str | Path, *, rows: bool) -> Suite:
    """Read a suite that :meth:`MetricSuite.save` wrote; see :meth:`MetricSuite.load`.

    What a file is shows in how it begins: one that begins as JSON is never unpickled.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            is_pickled = file.read(len(_ZIP)) == _ZIP
    except FileNotFoundError as error:
        raise InvalidParameterError(f"there is no file {path}.") from error
    except OSError as error:
        raise InvalidParameterError(f"{path} cannot be read: {error.strerror}.") from error
    if is_pickled != rows:
        python, shell = _HOLDS_ROWS if is_pickled else _NO_ROWS
        raise InvalidParameterError(Sentence(python.format(path), shell.format(path)))
    try:
        if is_pickled:
            return _with_rows(kind, path)
        return _of_content(kind, foreign_json(path))
    except Exception as error:  # of a stranger's file
        why = f": {error}" if isinstance(error, SkevalError) else "."
        raise InvalidParameterError(_NO_SUITE.format(path, why)) from error


def _with_rows(kind: type[Suite], path: Path) -> Suite:
    with zipfile.ZipFile(path) as file:
        suite = pickle.loads(file.read(_MEMBERS[1]))
    if not isinstance(suite, kind):
        raise TypeError("no suite")
    return suite


def _of_content(kind: type[Suite], content: Any) -> Suite:
    """Make a suite of what a file holds, once all of it is found to be what a suite has."""
    if content["skeval_suite"] != VERSION:
        raise InvalidParameterError(
            f"it is of version {content['skeval_suite']!r:.40}, only {VERSION} is read"
        )
    check_content(content)
    suite = kind([(name, rebuilt(metric)) for name, metric in content["metrics"].items()])
    suite.check_parameters()
    # ignores what the file says: it measures only what needs no rows
    needs_rows = (n for n, metric in suite.all_metrics if not does_without_rows(metric))
    left_out = {**dict.fromkeys(needs_rows, _NEEDS_ROWS), **content["left_out"]}
    return suite._loaded(_context(content), left_out)


def _context(content: Mapping[str, Any]) -> SavedContext:
    schema = TableSchema(content["kinds"], datetime_formats=content["datetime_formats"])
    tables, levels = {}, {}
    for r, (role, table) in enumerate(content["tables"].items()):
        n_rows = int(table["n_rows"])
        columns = {}
        for i, name in enumerate(schema.kinds):
            kept = table["columns"].get(name)
            if kept is None:  # text and keys: nothing is kept of them
                columns[name] = pd.Series([None] * n_rows, dtype=object)
                continue
            columns[name] = drawn_column(kept, schema.kinds[name], n_rows, 1000 * r + i)
        tables[role] = pd.DataFrame(columns)
    for name in schema.columns("categorical", "boolean"):
        found = [list(rows[name].cat.categories) for rows in tables.values()]
        levels[name] = list(dict.fromkeys(level for each in found for level in each))
        for rows in tables.values():
            rows[name] = rows[name].cat.set_categories(levels[name])
    given = {
        role: pd.DataFrame({n: _stored(rows[n], content["dtypes"].get(n, "object")) for n in rows})
        for role, rows in tables.items()
    }
    calls = content["metrics"]
    baselines = {
        call_of(calls[n]): value for n, value in content["baselines"].items() if n in calls
    }
    context = SavedContext(schema, tables, levels=levels, given=given, baselines=baselines)
    context.kept.values.update(read_step(step, context) for step in content["steps"])
    context.notices = _said(content)
    return context


def _said(content: Mapping[str, Any]) -> tuple[MetricWarning, ...]:
    """Say that values are of aggregates, how far they are off, and what is left out."""
    off = [f"{n} {gap:.2g}" for n, gap in content["differences"].items() if gap]
    unknown = [n for n, gap in content["differences"].items() if gap is None]
    said = [
        "The real tables are aggregates from a file without rows.",
        f"Values may be off by about: {', '.join(off)}." if off else "",
        f"By how much is not said of {', '.join(unknown)}." if unknown else "",
        f"Of {', '.join(content['baselines'])} the baseline is that of all holdout rows, and "
        "intervals of the difference to it and pictures of pairs are left out."
        if content["baselines"]
        else "",
    ]
    return (MetricWarning(" ".join(sentence for sentence in said if sentence)),)


def _stored(values: pd.Series, dtype: str) -> pd.Series:
    """Return a column in the storage that it had, which is a part of a table's structure."""
    try:
        if dtype == "bool":
            return values.eq("True")
        if not _STORAGE.fullmatch(dtype):  # of other packages, or of no table
            return values
        return values.astype(object).astype(dtype) if dtype == "category" else values.astype(dtype)
    except (TypeError, ValueError, KeyError, OverflowError):
        return values  # such as whole numbers among which some are missing
