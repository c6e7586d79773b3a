"""What relates columns, in a file without rows: joint counts and associations of real rows.

The value of a shared step is kept by the step's arguments. It takes the step's place when the file
is loaded. Cells of fewer than ten rows are not kept: what they hold together is spread as the sums
of rows and columns ask, and what the synthetic table has in them is spread alike.

What a file without rows may hold: looked at before anything is made of it, whoever wrote it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skeval.core.context import Context, argument_key
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.stats.association import Correlations
from skeval.steps.pairs import (
    Binning,
    Drawn,
    JointTables,
    cell_numbers,
    correlation_ratio_matrix,
    correlations,
    joint_tables,
)
from skeval.steps.samples import cells

MIN_COUNT = 10  # rows behind each number of a file without rows
_STEP = 5  # to which counts are rounded if a table has rarer ones
_DIGITS = 3  # of an association
_MOST_BINS = 100_000  # that a file may ask for
_ROUNDS = 10  # in which rests are fitted to the sums of rows and columns
_REST = "rest"
_NOT_KEPT = "the file that the suite came from does not hold what the metric asks of two columns."


def protected(counts: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the counts of at least ten rows, and whether there were rarer ones.

    Beside rarer ones, counts are rounded to multiples of five: else they could be had by
    subtraction from the sums of rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.suites.saved_steps import protected
    >>> protected(np.array([40, 12, 0]))
    (array([40, 12,  0]), False)
    >>> protected(np.array([41, 12, 3]))
    (array([40, 10,  0]), True)
    """
    kept = np.where(counts >= MIN_COUNT, counts, 0)
    if not ((counts > 0) & (counts < MIN_COUNT)).any():
        return kept, False
    return (kept + _STEP // 2) // _STEP * _STEP, True


@dataclass(frozen=True)
class PooledTables:
    """Joint counts under disclosure control.

    Parameters
    ----------
    single : list of (ndarray, bool)
        By column its counts, and whether rarer ones were left out.
    pairs : dict of (int, int) to (ndarray, bool)
        The same by pair of columns.
    """

    single: list[tuple[np.ndarray, bool]]
    pairs: dict[tuple[int, int], tuple[np.ndarray, bool]]

    @classmethod
    def of(cls, tables: JointTables) -> PooledTables:
        """Return what may be kept of joint counts."""
        return cls(
            [protected(counts) for counts in tables.single],
            {(i, j): protected(table) for i, j, table in tables.pairs()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return one text for each table: its cells that are not empty, and their counts."""
        return {
            "single": [_text_of(*kept) for kept in self.single],
            "pairs": [_text_of(*kept) for kept in self.pairs.values()],
        }

    @classmethod
    def read(cls, texts: Mapping[str, Any], n_cells: tuple[int, ...]) -> PooledTables:
        """Return what :meth:`to_dict` wrote of columns with this number of cells."""
        at = [(i, j) for i in range(len(n_cells)) for j in range(i + 1, len(n_cells))]
        return cls(
            [_read(text, (n,)) for text, n in zip(texts["single"], n_cells, strict=True)],
            {
                (i, j): _read(text, (n_cells[i], n_cells[j]))
                for (i, j), text in zip(at, texts["pairs"], strict=True)
            },
        )

    def filled(
        self, n_rows: int, n_cells: tuple[int, ...], missing: tuple[int, ...]
    ) -> JointTables:
        """Return the tables of the real rows: what is not kept is spread over the other cells."""
        single = []
        for kept, rarer in self.single:
            single.append(kept.copy())
            single[-1][-3] += max(0, n_rows - int(kept.sum())) if rarer else 0
        pairs = {}
        for (i, j), (kept, rarer) in self.pairs.items():
            rest = np.maximum(single[i] - kept.sum(axis=1), 0)
            pairs[i, j] = kept + _spread(rest, self._weights(i, j)) if rarer else kept
        return _joint(single, pairs, n_cells, missing)

    def pooled(self, tables: JointTables) -> JointTables:
        """Return the tables of other rows, with what is not kept of the real spread as there."""
        single, pairs = [], {}
        for counts, (kept, rarer) in zip(tables.single, self.single, strict=True):
            single.append(np.where(kept > 0, counts, 0) if rarer else counts)
            single[-1][-3] += counts.sum() - single[-1].sum()
        for i, j, table in tables.pairs():
            kept, rarer = self.pairs[i, j]
            if rarer:
                common = np.where(kept > 0, table, 0)
                rest = np.maximum(single[i] - common.sum(axis=1), 0)
                table = common + _spread(rest, self._weights(i, j))
            pairs[i, j] = table
        return _joint(single, pairs, tables.n_cells, tables.missing)

    def _weights(self, i: int, j: int) -> np.ndarray:
        """Return how what is not kept of each row is spread over its cells, as sums of columns ask.

        What is kept of no column goes to the cell of pooled categories.
        """
        kept, _ = self.pairs[i, j]
        of_rows, of_columns = (
            counts.astype(float) for counts in (self.single[i][0], self.single[j][0])
        )
        total = of_rows.sum()
        rows, columns = of_rows - kept.sum(axis=1), of_columns - kept.sum(axis=0)
        columns[-3] += max(0.0, total - of_columns.sum())
        rows, columns = np.maximum(rows, 1e-9), np.maximum(columns, 0.0)
        columns[-3] = max(columns[-3], 1e-9)
        weights = (kept == 0) * columns
        weights[:, -3] = np.maximum(weights[:, -3], 1e-9)
        for _ in range(_ROUNDS):
            weights *= (rows / weights.sum(axis=1))[:, None]
            weights *= columns / np.maximum(weights.sum(axis=0), 1e-300)
        return weights / weights.sum(axis=1)[:, None]


def _spread(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return each row's count in whole numbers over its cells."""
    whole = np.rint(np.cumsum(weights, axis=1) * counts[:, None])
    return np.diff(whole, axis=1, prepend=0.0).astype(np.int64)


def _joint(
    single: list[np.ndarray],
    pairs: Mapping[tuple[int, int], np.ndarray],
    n_cells: tuple[int, ...],
    missing: tuple[int, ...],
) -> JointTables:
    width = len(n_cells)
    blocks = tuple(
        np.hstack([np.empty((n, 0), dtype=np.int64), *(pairs[i, j] for j in range(i + 1, width))])
        for i, n in enumerate(n_cells)
    )
    return JointTables(n_cells, missing, tuple(single), blocks, np.empty((0, width), dtype=int))


def _text_of(counts: np.ndarray, rarer: bool) -> str:
    cells_and_counts = [f"{at}:{counts.flat[at]}" for at in np.flatnonzero(counts)]
    return " ".join([*cells_and_counts, *([_REST] if rarer else [])])


def _read(text: str, shape: tuple[int, ...]) -> tuple[np.ndarray, bool]:
    counts, words = np.zeros(shape, dtype=np.int64), text.split()
    for word in words:
        if word != _REST:
            at, _, count = word.partition(":")
            counts.flat[int(at)] = int(count)
    return counts, _REST in words


def _matrix_text(matrix: np.ndarray) -> list[str]:
    return [" ".join(f"{value:.{_DIGITS}f}" for value in row) for row in matrix]


def _matrix(texts: list[str]) -> np.ndarray:
    rows = [[float(word) for word in text.split()] for text in texts]
    return np.array(rows).reshape(len(rows), len(rows))


def _of_joint(value: JointTables) -> dict[str, Any] | None:
    return PooledTables.of(value).to_dict() if value.blocks else None


def _of_correlations(value: Correlations) -> dict[str, Any]:
    """Return coefficients of at least ten rows, and numbers of rows in tens where it is not all."""
    n = value.n_rows
    coefficients = np.where(n >= MIN_COUNT, value.coefficients, np.nan)
    whole = int(n.max(initial=0))
    rounded = np.where(whole - n < MIN_COUNT, whole, n // MIN_COUNT * MIN_COUNT)
    return {
        "coefficients": _matrix_text(coefficients),
        "n_rows": [" ".join(map(str, row)) for row in rounded.astype(int).tolist()],
    }


def _of_ratios(value: np.ndarray) -> dict[str, Any]:
    return {"ratios": _matrix_text(value)}


# by name the steps that are kept, and what is written of their values
STEPS: dict[str, tuple[Callable[..., Any], Callable[[Any], dict[str, Any] | None]]] = {
    "joint_tables": (joint_tables, _of_joint),
    "correlations": (correlations, _of_correlations),
    "correlation_ratio_matrix": (correlation_ratio_matrix, _of_ratios),
}
_NAMES = {step: name for name, (step, _) in STEPS.items()}


@dataclass
class KeptSteps:
    """The values of steps on real rows that a file holds, by their keys in a context's memo.

    Parameters
    ----------
    values : dict
        By key; joint counts as they are before what is not kept is filled in.
    is_open : bool, default=False
        Whether missing values are computed from the substitute tables, to see which are asked for.

    Attributes
    ----------
    asked : set
        The keys of what was asked.
    """

    values: dict[Hashable, Any] = field(default_factory=dict)
    is_open: bool = False
    asked: set[Hashable] = field(default_factory=set)

    def instead(self, key: Any, compute: Callable[[Context], Any]) -> Callable[[Context], Any]:
        """Return what is to be computed under a key of a memo."""
        if key[0] not in _NAMES:
            return compute
        role = key[1][1]
        if role == "synthetic":
            real = self.values.get(of_role(key, "train"))
            if not isinstance(real, PooledTables):
                return compute
            return lambda view: real.pooled(compute(view))
        self.asked.add(key)
        if self.is_open:
            return compute
        if key not in self.values:
            raise MissingInputError(_NOT_KEPT)
        return lambda view: _opened(view, role, key, self.values[key])


def of_role(key: Any, role: str) -> Any:
    """Return the key of the same step of another role's rows."""
    return (key[0], argument_key(role), *key[2:])


def _opened(view: Context, role: str, key: Any, value: Any) -> Any:
    if not isinstance(value, PooledTables):
        view.n_rows(role)  # noted as read
        return value
    names, binning = (_plain(part) for part in key[2:4])
    n_cells, missing = cell_numbers(cells(view, *binning), names)
    return value.filled(view.n_rows(role), n_cells, missing)


def _plain(part: Any) -> Any:
    """Return the argument that a part of a key stands for."""
    if len(part) == 2 and isinstance(part[0], type):
        return part[1]
    return tuple(_plain(one) for one in part)


def kept_of_step(key: Any, release: Context) -> dict[str, Any] | None:
    """Return what is kept of a step, computed from real rows in the synthetic place.

    None where too many cells are to be counted, or an argument has no text.
    """
    step, role, *others = key
    if any(isinstance(part, str) for part in others):  # a hash
        return None
    arguments = [_plain(part) for part in others]
    names, how, *drawn = arguments
    computed = step(release, "synthetic", names, how, *(Drawn(*one) for one in drawn))
    value = STEPS[_NAMES[step]][1](computed)
    if value is None:
        return None
    return {"step": _NAMES[step], "arguments": [role[1], *arguments], "value": value}


def read_step(part: Mapping[str, Any], context: Context) -> tuple[Hashable, Any]:
    """Return the key of a step that :func:`written` wrote, and its value."""
    step = STEPS[part["step"]][0]
    key = (step, *(argument_key(argument) for argument in part["arguments"]))
    value = part["value"]
    if step is joint_tables:
        names, binning = (_plain(one) for one in key[2:4])
        cut = Binning(*binning)
        if not all(type(n) is int and 1 <= n <= _MOST_BINS for n in (cut.n_bins, cut[2])):
            raise InvalidParameterError(f"a step has more than {_MOST_BINS:,} bins or categories")
        n_cells = cell_numbers(cells(context, *cut), names)[0]
        if JointTables.too_many(n_cells):
            raise InvalidParameterError("a step has more cells than are counted")
        return key, PooledTables.read(value, n_cells)
    if step is correlations:
        n_rows = _matrix(value["n_rows"]).astype(int)
        return key, Correlations(_matrix(value["coefficients"]), n_rows)
    return key, _matrix(value["ratios"])


MOST_CELLS = 2 * 10**7  # rows times columns that are drawn of a file
_TIME = 4 * 10**17  # microseconds from 1970 to dates beyond those of calendars
_ROLES = ("train", "holdout")
_MAPPINGS = ("metrics", "kinds", "datetime_formats", "dtypes", "tables", "left_out")
_NUMBERS = ("baselines", "differences")


def check_size(n_rows: int, n_columns: int) -> None:
    """Refuse tables of more cells than are drawn of a file.

    Raises
    ------
    InvalidParameterError
        If there are more.
    """
    if n_rows * max(1, n_columns) > MOST_CELLS:
        raise InvalidParameterError(
            f"a suite without rows is of tables of at most {MOST_CELLS:,} cells, got {n_rows:,} "
            f"rows of {n_columns:,} columns; take a sample, or save with rows=True."
        )


def check_content(content: Mapping[str, Any]) -> None:
    """Refuse content that no suite has, or that would take more memory than one has.

    Parameters
    ----------
    content : mapping
        The JSON text.

    Raises
    ------
    InvalidParameterError
        It names the first fault.
    """
    if fault := next(_faults(content), None):
        raise InvalidParameterError(fault)
    for table in content["tables"].values():
        check_size(table["n_rows"], len(content["kinds"]))


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    for name in (*_MAPPINGS, *_NUMBERS):
        if not isinstance(content.get(name), Mapping):
            yield f"{name} must be a mapping"
            return
    for name in ("left_out", "dtypes", "datetime_formats", "kinds"):
        if not all(isinstance(value, str) for value in content[name].values()):
            yield f"{name} must be texts"
    for name in _NUMBERS:
        if not all(value is None or _is_number(value) for value in content[name].values()):
            yield f"{name} must be numbers"
    if not isinstance(content.get("steps"), Sequence):
        yield "steps must be a list"
    tables = content["tables"]
    if "train" not in tables or not set(tables) <= set(_ROLES):
        yield "tables must be train and, if there is one, holdout"
    for role, table in tables.items():
        yield from (f"{role}: {fault}" for fault in _faults_of_table(table, content["kinds"]))


def _faults_of_table(table: Any, kinds: Mapping[str, str]) -> Iterator[str]:
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, Mapping):
        yield "columns must be a mapping"
        return
    n_rows = table.get("n_rows")
    if not _is_count(n_rows) or n_rows < 1:
        yield f"n_rows must be a whole number of at least 1, got {n_rows!r:.20}"
        return
    for name, kept in columns.items():
        nominal = kinds.get(name) in ("categorical", "boolean")
        if not isinstance(kept, Mapping):
            yield f"{name} must be a mapping"
            continue
        faults = _faults_of_levels(kept) if nominal else _faults_of_numbers(kept, kinds.get(name))
        fault = next(faults, None)
        if fault is None and _n_counted(kept) > n_rows:
            fault = f"counts must not be more than {n_rows:,} rows"
        if fault:
            yield f"{name}: {fault}"


def _faults_of_levels(kept: Mapping[str, Any]) -> Iterator[str]:
    levels = kept.get("levels")
    counts = levels.values() if isinstance(levels, Mapping) else [None]
    if not all(map(_is_count, [*counts, kept.get("other"), kept.get("n_missing")])):
        yield "levels, other and n_missing must be counts"


def _faults_of_numbers(kept: Mapping[str, Any], kind: str | None) -> Iterator[str]:
    most = _TIME if kind == "datetime" else math.inf
    parts = [kept.get("frequent"), kept.get("bins")]
    for rows, width in zip(parts, (2, 3), strict=True):
        if not isinstance(rows, list):
            yield "frequent and bins must be lists"
            return
        for row in rows:
            if not isinstance(row, list) or len(row) != width or not _is_count(row[-1]):
                yield "frequent and bins must be of numbers and counts"
            elif not all(_is_number(end) and abs(end) < most for end in row[:-1]):
                yield "frequent and bins must be of numbers within reach"
    if not isinstance(kept.get("whole"), bool) or not _is_count(kept.get("n_missing")):
        yield "whole must be true or false, and n_missing a count"


def _n_counted(kept: Mapping[str, Any]) -> int:
    if "levels" in kept:
        return int(sum(kept["levels"].values()) + kept["other"] + kept["n_missing"])
    return int(sum(row[-1] for part in ("frequent", "bins") for row in kept[part])) + int(
        kept["n_missing"]
    )


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_number(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < 2**1000
    return type(value) is float and math.isfinite(value)
