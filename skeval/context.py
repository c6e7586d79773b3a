"""The tables under their role names, and what was already computed of them.

A *step* is a plain function of a context, decorated with :func:`shared`. Calling it twice on one
context with equal arguments computes once. There is no registry and no declared graph, and data are
never hashed: the context is the data's identity.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import joblib
import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning, NotRememberedError, SharedRowsWarning
from skeval.schema import Kind, TableSchema, complete_schema
from skeval.tables import as_frame, check_columns, conform, learn_levels, shared_share, with_levels

__all__ = ["Context", "shared"]

_SHARED_ROWS = (
    "{share:.2%} of the holdout rows also stand in train, so that whatever contrasts the two looks "
    "milder than it is. Remove them from one of the tables, unless such rows are natural here."
)

P = ParamSpec("P")
T = TypeVar("T")

# the roles that the running step has read so far; None outside of steps
_reads: ContextVar[set[str] | None] = ContextVar("skeval_reads", default=None)


class Context:
    """Tables under their role names, with a memo of the steps computed of them.

    Reading ``context.train``, ``context.holdout`` or ``context.synthetic`` gives a canonical frame:
    float64 numbers, ``datetime64`` dates, pandas categoricals with string levels, the real levels
    first. While a step runs, the context notes which roles it reads. A step that did not read
    `synthetic` is remembered by the parent context, so that work on the real rows is done once for
    any number of synthetic tables.

    Parameters
    ----------
    schema : TableSchema
        The kinds of the columns.
    tables : dict of str to DataFrame
        Canonical frames by role; of `train`, `holdout`, `synthetic`.
    levels : dict of str to list of str, optional
        The real levels of each categorical column.
    notices : tuple of MetricWarning, default=()
        What was to be said of the tables when they were read.
    parent : Context, optional
        The context of the real tables that this one adds synthetic rows to.

    Attributes
    ----------
    remember_rows : bool
        Whether pickling keeps the rows; False. A pickle with rows holds training data.
    """

    def __init__(
        self,
        schema: TableSchema,
        tables: dict[str, pd.DataFrame],
        *,
        levels: dict[str, list[str]] | None = None,
        notices: tuple[MetricWarning, ...] = (),
        parent: Context | None = None,
    ) -> None:
        self.schema = schema
        self.levels = levels or {}
        self.notices = notices
        self.remember_rows = False
        self._tables: dict[str, pd.DataFrame] | None = tables
        self._parent = parent
        self._start()

    def _start(self) -> None:
        self._memo: dict[str, Future[tuple[Any, frozenset[str]]]] = {}
        self._lock: AbstractContextManager[Any] = self._parent._lock if self._parent else RLock()

    @property
    def train(self) -> pd.DataFrame:
        """The rows that the generator learnt from."""
        return self["train"]

    @property
    def holdout(self) -> pd.DataFrame:
        """Real rows of the same population that the generator never saw."""
        return self["holdout"]

    @property
    def synthetic(self) -> pd.DataFrame:
        """The rows under evaluation."""
        return self["synthetic"]

    def __contains__(self, role: object) -> bool:
        return self._tables is not None and role in self._tables

    def __getitem__(self, role: str) -> pd.DataFrame:
        tables = self._remembered()
        if role not in tables:
            raise KeyError(f"The context has no {role} rows; it has {', '.join(tables)}.")
        if (reads := _reads.get()) is not None:
            reads.add(role)
        return tables[role]

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a role."""
        return len(self[role])

    @classmethod
    def of(
        cls,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | Mapping[str, Kind] | None = None,
    ) -> Context:
        """Read the real tables.

        Parameters
        ----------
        train : table of shape (n_train, n_columns)
            The rows that the generator learnt from: pandas, polars or pyarrow.
        holdout : table of shape (n_holdout, n_columns), optional
            Real rows of the same population that the generator never saw.
        schema : TableSchema or mapping of str to str, optional
            The kinds of the columns; those not named are inferred from train.

        Returns
        -------
        Context

        Raises
        ------
        TableError, SchemaMismatchError
            If a table is empty, has infinities or doubled column names, or the columns differ.
        """
        frame = as_frame(train, "train")
        schema = complete_schema(frame, schema)
        frames = {"train": frame}
        if holdout is not None:
            frames["holdout"] = as_frame(holdout, "holdout")
            check_columns(frames["holdout"], list(schema.kinds), "holdout", exact=True)
        read = {role: conform(rows, schema, role) for role, rows in frames.items()}
        levels = learn_levels([table.frame for table in read.values()], schema)
        tables = {role: with_levels(table.frame, levels) for role, table in read.items()}
        notices = [notice for table in read.values() for notice in table.notices]
        if holdout is not None and (share := shared_share(tables["train"], tables["holdout"])):
            notices.append(SharedRowsWarning(_SHARED_ROWS.format(share=share)))
        return cls(schema, tables, levels=levels, notices=tuple(notices))

    @property
    def real(self) -> Context:
        """The context of the real tables alone."""
        return self._parent or self

    def with_synthetic(self, synthetic: Any) -> Context:
        """Return a context with these rows as `synthetic`; it shares this one's memo of real rows.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            It has the columns of train; further ones are ignored, with a warning.

        Returns
        -------
        Context

        Raises
        ------
        TableError, SchemaMismatchError
            If the table is empty, or columns are missing or of another type.
        """
        frame = as_frame(synthetic, "synthetic")
        check_columns(frame, list(self.schema.kinds), "synthetic", exact=False)
        read = conform(frame, self.schema, "synthetic", self.levels)
        return self.standing_in(read.frame, read.notices)

    def standing_in(self, rows: pd.DataFrame, notices: tuple[MetricWarning, ...] = ()) -> Context:
        """Return a context in which canonical `rows` stand in the synthetic place."""
        tables = {**self.real._remembered(), "synthetic": rows}
        return Context(self.schema, tables, levels=self.levels, notices=notices, parent=self.real)

    def _remembered(self) -> dict[str, pd.DataFrame]:
        if self._tables is None:
            raise NotRememberedError(
                "The real rows were left out when this fitted object was pickled. Fit it again, or "
                "set context_.remember_rows = True before pickling (the file then holds them)."
            )
        return self._tables

    def recall(self, key: str, compute: Callable[[], T]) -> T:
        """Return what is known under `key`; it is computed at most once, whatever the threads."""
        with self._lock:
            known = (self._parent._memo.get(key) if self._parent else None) or self._memo.get(key)
            if mine := known is None:
                known = self._memo[key] = Future()
        if mine:
            self._run(key, compute, known)
        value, roles = known.result()
        if (outer := _reads.get()) is not None:
            outer |= roles  # a step depends on what its own steps depend on
        return cast("T", value)

    def _run(
        self, key: str, compute: Callable[[], T], future: Future[tuple[Any, frozenset[str]]]
    ) -> None:
        try:
            with _noting() as roles:
                value = _frozen(compute())
        except BaseException as error:
            with self._lock:
                self._memo.pop(key, None)  # an error is no result: the next caller tries again
            future.set_exception(error)
            return
        future.set_result((value, frozenset(roles)))
        if self._parent is not None and "synthetic" not in roles:
            with self._lock:
                self._parent._memo.setdefault(key, future)

    def __getstate__(self) -> dict[str, Any]:
        state = {
            name: value for name, value in vars(self).items() if name not in {"_memo", "_lock"}
        }
        if not self.remember_rows:
            state["_tables"] = None
            state["levels"] = {}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()


@contextmanager
def _noting() -> Iterator[set[str]]:
    roles: set[str] = set()
    token = _reads.set(roles)
    try:
        yield roles
    finally:
        _reads.reset(token)


def _frozen(value: T) -> T:
    """Make remembered arrays read-only: what is shared must not change under a reader."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple | list):
        for part in value:
            _frozen(part)
    elif isinstance(value, dict):
        for part in value.values():
            _frozen(part)
    return value


def _hash(arguments: tuple[tuple[str, Any], ...]) -> str:
    try:
        return str(joblib.hash(arguments))
    except (
        pickle.PicklingError
    ):  # a transformer made of a lambda or of a class of the running script
        try:
            import cloudpickle  # comes with joblib: beside it since 1.6, within it before
        except ImportError:
            from joblib.externals import cloudpickle
        return hashlib.sha1(cloudpickle.dumps(arguments), usedforsecurity=False).hexdigest()


def shared(
    step: Callable[Concatenate[Context, P], T],
) -> Callable[Concatenate[Context, P], T]:
    """Make a function of a context compute once for equal arguments.

    Parameters
    ----------
    step : callable
        A function whose first parameter is the context. The others must be hashable by joblib:
        numbers, strings, tuples, estimators. Randomness enters as an int seed. It must read the
        tables through the context, return what nobody changes afterwards, and have no side effect.

    Returns
    -------
    callable
        The same function with a memory on the context; arrays it returns are read-only.

    Notes
    -----
    Arguments are normalised by the signature, so that a default, given or left out, is one call.

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
    signature = inspect.signature(step)

    @functools.wraps(step)
    def recalled(context: Context, *args: P.args, **kwargs: P.kwargs) -> T:
        bound = signature.bind(context, *args, **kwargs)
        bound.apply_defaults()
        key = f"{step.__module__}.{step.__qualname__}:{_hash(tuple(bound.arguments.items())[1:])}"
        return context.recall(key, lambda: step(context, *args, **kwargs))

    return cast("Callable[Concatenate[Context, P], T]", recalled)
