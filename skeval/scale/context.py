"""Contexts of tables larger than memory, with access to columns, samples and neighbors."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from skeval.core.context import NOT_REMEMBERED, Context, shared
from skeval.core.shared_rows import shared_rows
from skeval.exceptions import NotRememberedError
from skeval.scale import column_steps, distinct_row_steps, pair_steps, row_steps
from skeval.scale.tables import (
    CanonicalTable,
    LargeTable,
    Learned,
    Spill,
    Spilled,
    as_in_train,
    look_at,
)
from skeval.steps.encoded_rows import room
from skeval.steps.samples import (
    drawn_positions,
    measured_on,
    named_seed,
    positions_by_content,
    sample_rows,
)
from skeval.tables.door import read
from skeval.tables.levels import Words, levels_together
from skeval.tables.one_table import as_frame
from skeval.tables.precision import coarser_forms, coarsest, form_notices
from skeval.tables.row_hashes import order_of_content, rows_at
from skeval.tables.schema import Accept, Kind, TableSchema
from skeval.tables.sources import FrameSource, TableSource
from skeval.utils.parameters import Scaling

T = TypeVar("T")
MAX_ROWS = 50_000  # rows per role for metrics that require a sample in memory
MAX_BYTES = 2**31  # maximum size of rows that a neighbor search reads at once
_COPIES = 4  # each number is in memory as original, parsed, encoded and in the index
SPILLED = 2**20  # results of steps that are larger than this number of bytes are kept in a file


class LargeContext(Context):
    """A context of tables that may not fit in memory."""

    # `context.train` and the other roles return a tables.CanonicalTable instead of a frame. Its
    # columns are read one at a time. Rows that replace the synthetic rows, for example halves,
    # may be a frame. Results of steps with many rows are kept in a temporary file while the
    # context exists. Metrics that require all columns at once use another context, see
    # samples.measured_on.
    #
    # Rows are read in storage order. Sums of non-integers may therefore differ in the last bits
    # from the sums of tables in memory, whose rows are sorted by content.

    def __init__(
        self,
        *args: Any,
        max_rows: int = MAX_ROWS,
        words: Mapping[str, Words] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.max_rows = max_rows
        # Words such as "NA" in train, which missing cells of other tables may mean.
        self.words = words or {}
        self._spill = Spill()

    @classmethod
    def of(  # type: ignore[override]
        cls,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | Mapping[str, Kind] | Accept | None = None,
        max_rows: int | None = None,
    ) -> LargeContext:
        """Read the real tables once, one column at a time. See :meth:`Context.of`."""
        sources = {"train": _source(train, "train")}
        if holdout is not None:
            sources["holdout"] = _source(holdout, "holdout")
        looks: dict[str, Learned] = {}
        for role, source in sources.items():
            looks[role] = look_at(source, looks["train"].schema if looks else schema, role)
        complete, words = looks["train"].schema, looks["train"].words
        notices = [notice for look in looks.values() for notice in look.notices]
        labels = [looks["train"].labels]
        meanings: dict[str, str | None] = {}
        if holdout is not None:
            of_holdout, meanings, said = as_in_train(looks["holdout"], words, "holdout")
            labels.append(of_holdout)
            notices += said
        levels, respelled = levels_together(*labels)
        precision = coarsest(look.precision for look in looks.values())
        if holdout is not None:
            coarser = coarser_forms(*(look.forms for look in looks.values()))
            precision = coarsest([precision, coarser])
            notices += form_notices(coarser, respelled)
        meant = {"train": {}, "holdout": meanings}
        tables: dict[str, Any] = {
            role: CanonicalTable(source, complete, levels, precision, meant[role])
            for role, source in sources.items()
        }
        given: dict[str, Any] = {
            role: LargeTable(source, meanings=meant[role]) for role, source in sources.items()
        }
        context = cls(
            complete,
            tables,
            levels=levels,
            notices=tuple(notices),
            given=given,
            precision=precision,
            max_rows=max_rows or MAX_ROWS,
            words=words,
        )
        if holdout is not None:
            context.notices += shared_rows(context)
        return context

    def with_synthetic(self, synthetic: Any, *, lenient: bool = False) -> Context:
        """Return a context with these synthetic rows. Any supported table type is accepted."""
        real = self.real
        if real._tables is None:
            raise NotRememberedError(NOT_REMEMBERED)
        source = _source(synthetic, "synthetic")
        look = look_at(source, self.schema, "synthetic", self.levels, lenient=lenient)
        precision = coarsest([real.precision, look.precision])
        labels, meanings, said = as_in_train(look, cast("LargeContext", real).words, "synthetic")
        levels = {**self.levels, **labels}
        rows: Any = CanonicalTable(source, self.schema, levels, precision, meanings)
        given: Any = LargeTable(source, meanings=meanings)
        notices = (*look.notices, *said)
        context = real._at(precision).with_rows_as_synthetic(rows, given, notices)
        context.precision = precision
        return context

    def recall(self, key: Hashable, compute: Callable[[Context], T]) -> T:
        """Return the cached result for `key`. Large arrays are stored in a file and read there."""

        def compute_and_spill(view: Context) -> Any:
            return _spill_arrays(compute(view), self._spill)

        return cast("T", _open_arrays(super().recall(key, compute_and_spill)))

    @property
    def most_rows(self) -> int:
        """Maximum number of rows per role in a sample."""
        return cast("LargeContext", self.real).max_rows

    def _state(self) -> dict[str, Any]:
        words = cast("LargeContext", self.real).words
        return {**super()._state(), "max_rows": self.most_rows, "words": words}


for _steps in (row_steps, column_steps, distinct_row_steps, pair_steps):
    for _step, _override in _steps.overrides:
        _step.register(LargeContext)(_override)


@room.register(LargeContext)
def _(context: LargeContext, shape: tuple[int, int]) -> np.ndarray:
    """Return an array that a step fills. Large arrays are in a file."""
    if 8 * np.prod(shape) > SPILLED:
        return context._spill.room(shape)
    return np.asarray(room.ordinary(context, shape))


@measured_on.register(LargeContext)
def _(context: LargeContext, scaling: Scaling) -> Context:
    """Return the context for a metric with this scaling, which is this context or one in memory.

    All metrics share one sample. The sampled rows do not depend on how the tables are stored.
    """
    if scaling in {"counts", "sorted runs"}:
        return context
    n_rows: int | None = context.most_rows
    if scaling == "neighbours":
        if not _fits(context):
            return context
        n_rows = None
    step = _with_drawn if "synthetic" in context else _draw_context
    return step(context, n_rows)


class DrawnContext(Context):
    """A context in memory with rows that were sampled from tables larger than memory."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.drawn_of: dict[str, int] = {}


@sample_rows.register
def _(table: LargeTable, n_drawn: int | None, seed: int) -> TableSource:
    """Return a seeded sample as a separate source, or the source itself if it is small enough."""
    if n_drawn is None or n_drawn >= len(table):
        return table.source
    drawn = positions_by_content(table, n_drawn, seed)
    return FrameSource(table.in_memory(drawn), table.source.role)


def _source(table: Any, role: str) -> TableSource:
    rows = read(table, role).rows
    return rows if isinstance(rows, TableSource) else FrameSource(as_frame(rows, role), role)


def _fits(context: Context) -> bool:
    """Return whether the rows of all roles fit in memory, including the data of a search."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    n_rows = sum(context.n_rows(role) for role in roles)
    return n_rows * len(context.schema.kinds) * 8 * _COPIES <= MAX_BYTES


@shared
def _draw_context(context: Context, n_rows: int | None) -> DrawnContext:
    """Return a context in memory with `n_rows` of each real table, or with all rows if None."""
    roles = [role for role in ("train", "holdout") if role in context]
    read = {role: _rows(context, role, n_rows) for role in roles}
    drawn = DrawnContext(
        context.schema,
        {role: rows for role, (rows, _, _) in read.items()},
        levels=context.levels,
        given={role: given for role, (_, given, _) in read.items()},
        precision=context.precision,
        places={role: places for role, (_, _, places) in read.items()},
    )
    drawn.drawn_of = {role: context.n_rows(role) for role in roles}
    return drawn


@shared
def _with_drawn(context: Context, n_rows: int | None) -> Context:
    """Return the context of samples of the real tables and of the synthetic rows."""
    rows, given, places = _rows(context, "synthetic", n_rows)
    real = _draw_context(context.real, n_rows)
    drawn = cast("DrawnContext", real.with_rows_as_synthetic(rows, given, places=places))
    drawn.drawn_of = {**real.drawn_of, "synthetic": context.n_rows("synthetic")}
    return drawn


def _rows(
    context: Context, role: str, n_rows: int | None
) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Return a seeded sample of a role, as canonical and original rows, with row positions."""
    if n_rows is None or n_rows >= context.n_rows(role):
        positions = np.arange(context.n_rows(role))
    else:
        positions = np.sort(drawn_positions(context, role, n_rows, named_seed(role, 0)))
    canonical, given = context[role], context.original_frame(role)
    if isinstance(canonical, LargeTable):
        rows, cells = canonical.in_memory(positions), cast("Any", given).in_memory(positions)
    else:
        rows, cells = canonical.iloc[positions], given.iloc[positions]
    order = order_of_content(rows, context.schema.columns("id"))
    return rows_at(rows, order), rows_at(cells, order), order


def _spill_arrays(value: Any, spill: Spill) -> Any:
    """Return the result of a step with its large arrays moved to files."""
    if isinstance(value, np.memmap):
        return value
    if isinstance(value, np.ndarray):
        return spill.keep(value) if value.nbytes > SPILLED and value.dtype != object else value
    if type(value) in {tuple, list}:
        return type(value)(_spill_arrays(part, spill) for part in value)
    if type(value) is dict:
        return {key: _spill_arrays(part, spill) for key, part in value.items()}
    return value


def _open_arrays(value: Any) -> Any:
    if isinstance(value, Spilled):
        return value.open()
    if type(value) in {tuple, list}:
        return type(value)(_open_arrays(part) for part in value)
    if type(value) is dict:
        return {key: _open_arrays(part) for key, part in value.items()}
    return value
