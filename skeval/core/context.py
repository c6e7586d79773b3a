"""Tables by role, with the intermediate results that were computed from them.

A *step* is a function of a context with the decorator :func:`shared`. If it is called twice with
the same context and equal arguments, it is computed only once. Steps are not registered anywhere,
and data are never hashed, because the context identifies the data.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import is_dataclass
from threading import RLock
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import joblib
import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning, NotRememberedError, UnreadCellsWarning
from skeval.tables.frames import conform, levels_of, with_levels, without_unread
from skeval.tables.levels import have_words_for_missing, levels_together, with_missing_as_in_train
from skeval.tables.one_table import as_frame
from skeval.tables.precision import (
    Precision,
    at_precision,
    coarser_of_two,
    coarsest,
    form_notices,
    stored_precision,
)
from skeval.tables.schema import Accept, Kind, TableSchema
from skeval.tables.taken_rows import TakenRows, column_numbers, in_content_order
from skeval.utils.cores import waiting
from skeval.utils.limits import Stopped

NOT_REMEMBERED = (
    "The real rows were dropped when this fitted object was pickled. Fit it again, or set "
    "context_.remember_rows = True before pickling (the file then contains them)."
)
Computed = tuple[Any, frozenset[str]]  # the result of a step, and the roles that it depends on
_PLAIN = (str, int, float, type(None))
P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R", covariant=True)
C = TypeVar("C", bound="Context")
F = TypeVar("F", bound=Callable[..., Any])


class Context:
    """Tables by role, with a cache of the steps that were computed from them.

    ``context.train``, ``context.holdout`` and ``context.synthetic`` are canonical frames: numbers
    are float64, dates are ``datetime64``, and categories are pandas categoricals with string levels
    in which real levels come first. If a column is stored with fewer digits in one table, for
    example as float32, its values are rounded in all tables. Metrics receive the rows in an order
    that depends on their content, so that the order of the input does not affect a result. While a
    step runs, the context records which roles it reads. The parent context caches steps that do not
    read `synthetic`, so that they are computed once for any number of synthetic tables.

    Parameters
    ----------
    schema : TableSchema
        Types of the columns.
    tables : dict of str to DataFrame
        Canonical frames of `train`, `holdout` and `synthetic`.
    levels : dict of str to list of str, optional
        Real categories of each categorical column.
    notices : tuple of MetricWarning, default=()
        Warnings about the tables from reading them.
    given : dict of str to DataFrame, optional
        Original tables by role. The default is the canonical frames.
    parent : Context, optional
        Context of the real tables, to which this context adds synthetic rows.
    remember_rows : bool, default=False
        Whether pickling keeps the rows. Such a pickle contains training data.
    precision : mapping of str to dtype, optional
        Storage type or number of decimals to which the values of columns were rounded. The default
        is float64.
    ordered : bool, default=False
        Whether to sort the rows of synthetic tables by content when they are read.
    places : mapping of str to ndarray, optional
        Position of each row of a role in the original table, if rows were sorted.

    Attributes
    ----------
    remember_rows : bool
        As passed. It may be changed later.
    taken : mapping of str to tuple of (Context, str, ndarray)
        Source of the rows of a role if they are part of another table, as context, role and
        positions in it. Slow steps, for example reading texts, are then computed once for the whole
        table.
    hashes : mapping of str to ndarray or None
        Hash of the content of each row of a role, if the rows were sorted when they were read.
    """

    is_relational = False  # whether there are several tables
    drawn_of: Mapping[str, int] = MappingProxyType({})  # sizes of the tables before sampling

    def __init__(
        self,
        schema: TableSchema,
        tables: dict[str, pd.DataFrame] | None,
        *,
        levels: dict[str, list[str]] | None = None,
        notices: tuple[MetricWarning, ...] = (),
        given: dict[str, pd.DataFrame] | None = None,
        parent: Context | None = None,
        remember_rows: bool = False,
        precision: Precision | None = None,
        ordered: bool = False,
        places: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.schema = schema
        self.levels = levels or {}
        self.notices = notices
        self.remember_rows = remember_rows
        self.precision = dict(precision or {})
        self.ordered = ordered
        self._places = dict(places or {})
        self._viewed: Context | None = None  # context of which this one is a view for a step
        self.taken: Mapping[str, tuple[Context, str, np.ndarray]] = {}
        self.hashes: Mapping[str, np.ndarray | None] = {}
        self._tables = tables  # None if a pickle omitted them
        self._given = {**(tables or {}), **(given or {})}
        self._parent = parent
        self._memo: dict[Hashable, Computed | Future[Computed]] = {}  # futures while computed
        self._lock: AbstractContextManager[Any] = parent._lock if parent else RLock()
        self._coarser: dict[Hashable, Context | None] = {}
        self._roles: set[str] = set()  # roles that were read
        self._running: frozenset[Hashable] = frozenset()

    @property
    def real(self) -> Context:
        """The context of the real tables without synthetic rows."""
        # not stored, because a reference cycle would keep the rows until garbage collection
        return self._parent or self._viewed or self

    @property
    def train(self) -> pd.DataFrame:
        """The rows that the generator was trained on."""
        return self["train"]

    @property
    def holdout(self) -> pd.DataFrame:
        """Real rows of the same population that the generator never saw."""
        return self["holdout"]

    @property
    def synthetic(self) -> pd.DataFrame:
        """The synthetic rows."""
        return self["synthetic"]

    def __contains__(self, role: object) -> bool:
        self._roles.add(str(role))
        return self._tables is not None and role in self._tables

    def __getitem__(self, role: str) -> pd.DataFrame:
        return self.stored(role).copy(deep=False)  # hides changes from other metrics

    def column(self, role: str, name: str) -> pd.Series:
        """Return a column of a role, whose cells must not be modified, without the others."""
        column: pd.Series = self.stored(role)[name].copy(deep=False)  # as for frames
        return column

    def numbers(self, role: str, name: str) -> np.ndarray:
        """Return a column of a role as float64, whose cells must not be modified."""
        # Numbers, seconds since 1970 or codes of categories, or nan. No column is copied as pandas.
        return column_numbers(self.stored(role), name)

    def original_frame(self, role: str) -> pd.DataFrame:
        """Return the original rows of a role, with original types and cells that cannot be read."""
        return self.stored_original(role).copy(deep=False)

    def stored_original(self, role: str) -> Any:
        """Return the original table of a role as it is stored, which must not be modified."""
        self.stored(role)  # raises an error if the role is missing, and records that it was read
        return self._given[role]

    def unsorted_original(self, role: str) -> pd.DataFrame:
        """Return the original table of a role with its rows in their original order."""
        given, places = self.stored_original(role), self._places.get(role)
        if isinstance(given, TakenRows) and given.positions is places:
            return given.table.copy(deep=False)
        return self.original_frame(role).iloc[np.argsort(self.places(role))]

    def original_names(self, role: str) -> pd.Index:
        """Return the names of the columns of the original table of a role."""
        return self.stored_original(role).columns

    def original_column(self, role: str, name: str) -> pd.Series:
        """Return a column of the original table of a role, whose cells must not be modified."""
        column: pd.Series = self.stored_original(role)[name].copy(deep=False)
        return column

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a role."""
        return len(self.stored(role))

    def stored(self, role: str) -> Any:
        """Return the table of a role as it is stored, which must not be modified."""
        if self._tables is None:
            raise NotRememberedError(NOT_REMEMBERED)
        if role not in self._tables:
            raise KeyError(f"The context has no {role} rows. It has {', '.join(self._tables)}.")
        self._roles.add(role)
        return self._tables[role]

    def single_tables(self) -> Iterator[tuple[str, Context]]:
        """Yield the context of each table by its name, which is empty for the only one."""
        yield "", self

    def note_places(self, role: str, places: np.ndarray) -> None:
        """Record the position of each row of a role in the original table."""
        self._places = {**self._places, role: places}

    def places(self, role: str) -> np.ndarray:
        """Return the position of each row of a role in the original table."""
        places = self._places.get(role)
        return np.arange(self.n_rows(role)) if places is None else places

    @classmethod
    def of(
        cls,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | Mapping[str, Kind] | Accept | None = None,
        ordered: bool = False,
    ) -> Context:
        """Read the real tables.

        Parameters
        ----------
        train : table of shape (n_train, n_columns)
            Rows that the generator was trained on, as a pandas, polars or pyarrow table.
        holdout : table of shape (n_holdout, n_columns), optional
            Real rows of the same population that the generator never saw.
        schema : TableSchema or mapping of str to str, optional
            Types of the columns. Other types are inferred from the training data.
        ordered : bool, default=False
            Whether to sort the rows by content, as for metrics. The order of the input then does
            not affect a result.

        Returns
        -------
        Context

        Raises
        ------
        TableError, SchemaMismatchError
            If a table is empty, contains infinities or duplicate column names, or the columns
            differ.
        """
        frame = as_frame(train, "train")
        schema = TableSchema.infer(frame, schema)
        frames = {"train": frame}
        if holdout is not None:
            frames["holdout"] = as_frame(holdout, "holdout")
        read = {role: conform(rows, schema, role) for role, rows in frames.items()}
        notices = [notice for _, said in read.values() for notice in said]
        if any(isinstance(notice, UnreadCellsWarning) for notice in notices):
            frames = {role: without_unread(frames[role], rows) for role, (rows, _) in read.items()}
        known = {role: levels_of(rows, schema) for role, (rows, _) in read.items()}
        if holdout is not None and have_words_for_missing(*known.values()):
            rows, frames["holdout"], said = with_missing_as_in_train(
                read["train"][0], read["holdout"][0], frames["holdout"],
                schema.columns("categorical"), "holdout",
            )  # fmt: skip
            read["holdout"], notices = (rows, ()), [*notices, *said]
            known["holdout"] = levels_of(rows, schema)
        levels, respelled = levels_together(*known.values())
        stored = [
            stored_precision(frames[role], rows, decimals=role == "train")
            for role, (rows, _) in read.items()
        ]
        if holdout is not None:
            coarser = coarser_of_two(*(rows for rows, _ in read.values()))
            stored.append(coarser)
            notices += form_notices(coarser, respelled) if coarser or respelled else ()
        precision = coarsest(stored)
        tables, places, hashes = {}, {}, {}
        for role, (rows, _) in read.items():
            rows = rows if known[role] == levels else with_levels(rows, levels)
            tables[role] = at_precision(rows, precision) if precision else rows
            if ordered:
                tables[role], frames[role], places[role], hashes[role] = in_content_order(
                    tables[role], frames[role], schema.columns("id")
                )
        parts: dict[str, Any] = {"levels": levels, "given": frames, "precision": precision}
        context = cls(schema, tables, ordered=ordered, places=places, **parts)
        context.notices, context.hashes = tuple(notices), hashes
        if holdout is not None:
            # imported here, because the module of this step imports this one
            from skeval.core.shared_rows import shared_rows

            context.notices += shared_rows(context)
        return context

    def with_synthetic(self, synthetic: Any, *, lenient: bool = False) -> Context:
        """Return a context with these rows as `synthetic`. It shares the cache of real rows.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            Synthetic data with the columns of the training data. Additional columns are ignored
            with a warning.
        lenient : bool, default=False
            Whether columns that are missing or have another type count as empty with a warning.
            Metrics of the structure use this.

        Returns
        -------
        Context

        Raises
        ------
        TableError, SchemaMismatchError
            If the table is empty, or, unless `lenient` is set, columns are missing or have another
            type.
        """
        given = as_frame(synthetic, "synthetic")
        rows, notices = conform(given, self.schema, "synthetic", self.levels, lenient=lenient)
        real = self.real
        words = have_words_for_missing(levels_of(rows, self.schema))  # of the real tables too
        if words and real._tables is not None:
            rows, given, said = with_missing_as_in_train(
                real._tables["train"], rows, given, self.schema.columns("categorical"), "synthetic"
            )
            notices += said
        precision, at_it = real.precision, real
        if stored := stored_precision(given, rows):
            precision = coarsest([precision, stored])
            at_it = real if precision == real.precision else real._at(precision)
        rows = at_precision(rows, precision) if precision else rows
        order = None
        if self.ordered:
            ids = self.schema.columns("id")
            rows, given, order, hashes = in_content_order(rows, given, ids)
        context = at_it.with_rows_as_synthetic(rows, given, notices, places=order)
        if self.ordered:
            context.hashes = {**context.hashes, "synthetic": hashes}
        context.precision = precision
        return context

    def with_rows_as_synthetic(
        self,
        rows: pd.DataFrame,
        given: pd.DataFrame | None = None,
        notices: tuple[MetricWarning, ...] = (),
        taken: Mapping[str, tuple[Context, str, np.ndarray]] | None = None,
        places: np.ndarray | None = None,
    ) -> Context:
        """Return a context in which the canonical frame `rows` is the synthetic table.

        `given` contains the same rows in original form. The default is the canonical rows. `taken`
        contains the context, role and positions from which rows are copied, by role. `places`
        contains their positions in the original table if they were sorted.
        """
        real = self.real
        if real._tables is None:
            raise NotRememberedError(NOT_REMEMBERED)
        context = type(self)(
            self.schema,
            {**real._tables, "synthetic": rows},
            levels=self.levels,
            notices=notices,
            given={**real._given, "synthetic": rows if given is None else given},
            parent=real,
            precision=real.precision,
            ordered=self.ordered,
            places=real._places if places is None else real._places | {"synthetic": places},
        )
        context.taken, context.hashes = {**real.taken, **(taken or {})}, real.hashes
        return context

    def _at(self, precision: Precision) -> Context:
        """Return the context of the real rows rounded to a coarser precision, created only once."""
        if self._tables is None:
            return self
        key = frozenset(precision.items())
        with self._lock:
            if key not in self._coarser:
                tables = {
                    role: at_precision(rows, precision) for role, rows in self._tables.items()
                }
                same = all(tables[role] is rows for role, rows in self._tables.items())
                state = {**self._state(), "tables": tables, "precision": dict(precision)}
                self._coarser[key] = None if same else _restore_context(type(self), state)
            return self._coarser[key] or self

    def recall(self, key: Hashable, compute: Callable[[Context], T]) -> T:
        """Return the cached result for `key`, or compute it with a view of this context.

        The view records which roles are read, in any thread.
        """
        known = self._memo.get(key) or (self._parent._memo.get(key) if self._parent else None)
        if not isinstance(known, tuple):
            known = self._compute_once(key, compute)
        value, roles = known
        self._roles.update(roles)  # a step depends on the roles that its own steps read
        return cast("T", value)

    def _compute_once(self, key: Hashable, compute: Callable[[Context], Any]) -> Computed:
        """Compute and cache a result, or wait for the thread that already computes it."""
        if key in self._running:
            raise RuntimeError(f"The shared step {key!r} calls itself with equal arguments.")
        known: Computed | Future[Computed] | None = None
        future: Future[Computed] | None = None
        try:
            with self._lock:
                above = self._parent._memo.get(key) if self._parent else None
                known = above or self._memo.get(key)
                if known is None:
                    known = future = self._memo[key] = Future()
            if future is not None:
                view = object.__new__(type(self))
                whole, running = self._viewed or self, self._running | {key}
                vars(view).update(vars(self), _roles=set(), _running=running, _viewed=whole)
                computed = _frozen(compute(view)), frozenset(view._roles)
                future.set_result(computed)
                with self._lock:
                    self._memo[key] = computed  # is read faster than a future
                    if self._parent is not None and "synthetic" not in view._roles:
                        self._parent._memo.setdefault(key, computed)
        except BaseException as error:
            if future is not None and not future.done():
                with self._lock:
                    self._memo.pop(key, None)  # do not cache errors, so the next caller tries again
                future.set_exception(error)
            if future is None or known is None:
                raise
        if isinstance(known, tuple):
            return known
        if not known.done():
            with waiting():  # lets the computing thread use this core
                known.exception()
        # If the other metric was stopped, this one computes the step. If this one is stopped while
        # it waits, the error is raised here and is not the outcome of the step.
        if future is None and isinstance(known.exception(), Stopped):
            return self._compute_once(key, compute)
        return known.result()

    def __deepcopy__(self, memo: dict[int, Any]) -> Context:
        return _restore_context(
            type(self), self._state()
        )  # frames are never modified, so copies share them

    def __reduce__(self) -> tuple[Any, ...]:
        state = self._state()
        if not self.remember_rows:
            state |= {"tables": None, "given": {}, "levels": {}, "places": {}}
        return _restore_context, (type(self), state)

    def _state(self) -> dict[str, Any]:
        """Return the content of copies and pickles. Everything else is computed again."""
        return {
            "schema": self.schema,
            "tables": self._tables,
            "levels": self.levels,
            "notices": self.notices,
            "given": self._given,
            "parent": self._parent,
            "remember_rows": self.remember_rows,
            "precision": self.precision,
            "ordered": self.ordered,
            "places": self._places,
        }


def _restore_context(kind: type[Context], state: dict[str, Any]) -> Context:
    return kind(**state)


def _frozen(value: T) -> T:
    """Make cached arrays read-only, because several metrics use them."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple | list):
        for part in value:
            _frozen(part)
    elif isinstance(value, dict):
        for part in value.values():
            _frozen(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for part in vars(value).values():
            _frozen(part)
    return value


def argument_key(argument: Any) -> Hashable:
    """Return a key for an argument, which is different for 1, 1.0 and True."""
    if isinstance(argument, _PLAIN):
        return type(argument), argument
    if isinstance(argument, tuple | list):
        return tuple(argument_key(part) for part in argument)
    if isinstance(argument, Context) or hasattr(argument, "context_"):
        raise TypeError(
            "A shared step accepts no context or fitted metric as an additional argument. "
            "Call it with that context instead."
        )
    return content_hash(argument)


def content_hash(argument: Any) -> str:
    """Return a hash of the content of an argument, including estimators of script classes."""
    try:
        return str(joblib.hash(argument))
    except pickle.PicklingError:  # for example a transformer with a lambda or a class of a script
        try:
            import cloudpickle  # installed with joblib: a dependency since 1.6, bundled before
        except ImportError:
            from joblib.externals import cloudpickle
        return hashlib.sha1(cloudpickle.dumps(argument), usedforsecurity=False).hexdigest()


class ByContext(Protocol[P, R]):
    """Function of a context with different implementations for kinds of contexts."""

    ordinary: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the implementation for the kind of the context."""

    def register(self, kind: type[Context]) -> Callable[[F], F]:
        """Return a decorator that registers an implementation for a kind of context."""


def by_context(function: Callable[P, T]) -> ByContext[P, T]:
    """Let kinds of contexts override a function whose first argument is the context."""
    chosen: Any = functools.singledispatch(function)
    chosen.ordinary = function
    return cast("ByContext[P, T]", chosen)


def shared(step: Callable[Concatenate[C, P], T]) -> ByContext[Concatenate[C, P], T]:
    """Decorate a function of a context so that it is computed once for equal arguments.

    Parameters
    ----------
    step : callable
        Function whose first parameter is the context. joblib must be able to hash the other
        arguments, for example numbers, strings, tuples or estimators. Randomness must come from an
        integer seed. The function must read tables through the context, must return objects that
        are not modified afterwards, and must not have side effects.

    Returns
    -------
    callable
        The same function with a cache in the context. Arrays that it returns are read-only. Kinds
        of contexts may override it, see :func:`by_context`.

    Notes
    -----
    Arguments are normalized by the signature. Therefore a call with an explicit default is the same
    as a call without it.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import Context, TableSchema, shared
    >>> calls = []
    >>> @shared
    ... def n_missing(context, role):
    ...     calls.append(role)
    ...     return int(context[role].isna().sum().sum())
    >>> table = pd.DataFrame({"x": [1.0, None]})
    >>> context = Context(TableSchema.infer(table), {"train": table})
    >>> n_missing(context, "train"), n_missing(context, role="train"), calls
    (1, 1, ['train'])
    """
    signature, chosen = inspect.signature(step), by_context(step)
    _, *parameters = signature.parameters.values()
    defaults = [parameter.default for parameter in parameters]
    has_variable = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)

    @functools.wraps(step)
    def wrapper(context: C, *args: P.args, **kwargs: P.kwargs) -> T:
        values = [*args, *defaults[len(args) :]]
        if kwargs or has_variable:  # slower
            bound = signature.bind(context, *args, **kwargs)
            bound.apply_defaults()
            values = list(bound.arguments.values())[1:]
        key = (wrapper, *map(argument_key, values))
        return context.recall(key, lambda view: chosen(cast("C", view), *args, **kwargs))

    vars(wrapper).update(register=chosen.register, ordinary=step)
    return cast("ByContext[Concatenate[C, P], T]", wrapper)
