"""Several tables by role, with one context for each table and the relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, cast

import numpy as np

from skeval.core.context import NOT_REMEMBERED, Context
from skeval.core.shared_subjects import shared_subjects
from skeval.exceptions import (
    IgnoredColumnsWarning,
    InvalidParameterError,
    InvalidValueWarning,
    MetricWarning,
    NotRememberedError,
    SchemaMismatchError,
    SharedRowsWarning,
    SkevalError,
    TableError,
)
from skeval.tables.door import read
from skeval.tables.relational_data import NULL, RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.row_hashes import order_of_content, row_hashes
from skeval.tables.schema import TableSchema, is_metadata

_DETECTED = (
    "The keys were detected from names and values: {keys}. Confirm or change them with "
    "schema=RelationalSchema(...)."
)
_MAX_EXACT = 2**53  # larger integers are not always exact as floats
_UNJOINED = (
    "{child} joins no row of {parent}: none of the {n:,} keys in {columns} is a key of {parent} in "
    "train, so scores of this relation have no meaning. The formats of the keys may differ, "
    "for example by leading zeros. Use the same format in both columns."
)
_ROUNDED = (
    "{table}.{column} has keys of {digits} digits that are stored as floating-point numbers. These "
    "have about 16 digits, so different keys became equal, and rows may join a wrong parent. "
    "Store the keys as integers or as text."
)
_FURTHER = "Ignoring tables of train that are not in the schema: {tables}."


class RelationalContext(Context):
    """Tables of each role in canonical form, with a cache of the steps that were computed.

    ``context["train"]`` maps names of tables to canonical frames. ``context.given("train")`` is the
    original :class:`RelationalData`, whose key columns can be joined. ``context.table(name)`` is
    the :class:`~skeval.Context` of one table, which any single-table metric accepts.

    Parameters
    ----------
    relations : RelationalSchema
        Complete schema with the types of all columns.
    contexts : dict of str to Context
        Context of each table.
    given : dict of str to RelationalData
        Original tables by role.
    notices : tuple of MetricWarning, default=()
        Warnings about the tables from reading them.
    parent : RelationalContext, optional
        Context of the real tables, to which this context adds synthetic tables.
    remember_rows, ordered : bool, default=False
        As in :class:`~skeval.Context`. The rows of sequences keep their original order.
    """

    is_relational = True

    def __init__(
        self,
        relations: RelationalSchema,
        contexts: dict[str, Context],
        given: dict[str, RelationalData],
        notices: tuple[MetricWarning, ...] = (),
        parent: RelationalContext | None = None,
        remember_rows: bool = False,
        ordered: bool = False,
    ) -> None:
        # the schema of a single table does not apply
        super().__init__(
            TableSchema({}),
            None,
            notices=notices,
            parent=parent,
            remember_rows=remember_rows,
            ordered=ordered,
        )
        self.relations = relations
        self._contexts = contexts
        self._data = given

    def __contains__(self, role: object) -> bool:
        self._roles.add(str(role))
        return role in self._data

    def __getitem__(self, role: str) -> Any:
        self.original_frame(role)
        own = {name: self._own_role(name, role) for name in self._contexts}
        return {n: self._contexts[n][place] for n, place in own.items() if place is not None}

    def _own_role(self, name: str, role: str) -> str | None:
        """Return the role of the rows in the context of a single table, or None."""
        if role in self._contexts[name]:
            return role
        return "train" if role == "holdout" else None  # reference rows are given only once

    def original_frame(self, role: str) -> Any:
        """Return the original tables of a role, whose keys can be joined."""
        if role not in self._data:
            self._refuse(role)
        self._roles.add(role)
        return self._data[role]

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a role over all tables."""
        return sum(map(len, self.original_frame(role).values()))

    def table(self, name: str) -> Context:
        """Return the context of one table. Reference tables have no holdout."""
        self._roles.update(self._data)
        return self._contexts[name]

    def single_tables(self) -> Iterator[tuple[str, Context]]:
        """Yield the contexts of single tables by name."""
        for name in self._contexts:
            yield name, self.table(name)

    @classmethod
    def of(  # type: ignore[override]
        cls,
        train: Mapping[str, Any],
        holdout: Mapping[str, Any] | None = None,
        *,
        schema: RelationalSchema | Mapping[str, Any] | None = None,
        ordered: bool = False,
    ) -> RelationalContext:
        """Read the real tables.

        Parameters
        ----------
        train : RelationalData or mapping of str to table
            Rows that the generator was trained on.
        holdout : RelationalData or mapping of str to table, optional
            Real rows of other subjects of the same population. Reference tables may be omitted.
        schema : RelationalSchema, mapping of str to kinds, or SDV's Metadata, optional
            Relations between the tables. The default is the relations of `train` if it is a
            RelationalData. Otherwise, keys are detected from names and values
            (:meth:`RelationalSchema.detect`), and a mapping specifies column types by table. Other
            types are inferred from the training data.
        ordered : bool, default=False
            Whether to sort the rows by content, except for rows of sequences.

        Returns
        -------
        RelationalContext

        Raises
        ------
        TableError, SchemaMismatchError
            If tables are missing or not valid.
        """
        if not isinstance(schema, RelationalSchema) and is_metadata(schema):
            schema = RelationalSchema.from_sdv(schema)
        if not isinstance(schema, RelationalSchema | Mapping | None):
            raise InvalidParameterError(
                "schema of several tables must be a RelationalSchema, or map names of tables to "
                f"types of their columns, got {type(schema).__name__}."
            )
        data, notices = _data(train, "train"), []
        if isinstance(schema, RelationalSchema):
            relations = schema
        else:
            relations = data.schema
            if relations.foreign_keys and not isinstance(train, RelationalData):
                notices.append(MetricWarning(_DETECTED.format(keys=relations)))
        known = None if schema is None or isinstance(schema, RelationalSchema) else schema
        relations = relations.infer(data, known)
        given = {"train": RelationalData({n: data[n] for n in relations.tables}, relations)}
        if further := [name for name in data if name not in relations.tables]:
            notices.append(MetricWarning(_FURTHER.format(tables=", ".join(further))))
        if holdout is not None:
            given["holdout"] = _complete(_data(holdout, "holdout"), given["train"], "holdout")
        orders = {r: _orders(tables, relations) if ordered else {} for r, tables in given.items()}
        given = {role: tables.taken(orders[role]) for role, tables in given.items()}
        contexts = {}
        for name, own in relations.tables.items():
            apart = "holdout" in given and name not in relations.references
            rows = given["holdout"][name] if apart else None
            with _naming(name):
                contexts[name] = Context.of(given["train"][name], rows, schema=own)
            for role in [role for role in given if role in contexts[name] and name in orders[role]]:
                contexts[name].note_places(role, orders[role][name])
        said = (
            *notices,
            *_unjoined_key_warnings(given["train"]),
            *_rounded_key_warnings(given["train"]),
            *_notices(contexts),
        )
        context = cls(relations, contexts, given, said, ordered=ordered)
        if holdout is not None:
            context.notices += shared_subjects(context)
        return context

    def with_synthetic(
        self, synthetic: Mapping[str, Any], *, lenient: bool = False
    ) -> RelationalContext:
        """Return a context with `synthetic` tables, as :meth:`skeval.Context.with_synthetic`.

        If `lenient` is set, a missing table counts as a table without rows.
        """
        real = cast("RelationalContext", self.real)
        if not real._data:
            real._refuse("train")
        data = _data(synthetic, "synthetic", real.relations)
        if not lenient:
            data = _complete(data, real._data["train"], "synthetic")
        orders = _orders(data, real.relations) if self.ordered else {}
        data = data.taken(orders)
        contexts = dict(real._contexts)
        for name in contexts:
            if name in data:
                with _naming(name):
                    contexts[name] = contexts[name].with_synthetic(data[name], lenient=lenient)
                if name in orders:
                    contexts[name].note_places("synthetic", orders[name])
        notices = _notices({name: c for name, c in contexts.items() if "synthetic" in c})
        if further := [name for name in data if name not in real.relations.tables]:
            ignored = f"Ignoring synthetic tables that are not in train: {', '.join(further)}."
            notices += (IgnoredColumnsWarning(ignored),)
        private = [name for name in real.relations.tables if name not in real.relations.references]
        if lacking := [name for name in private if name not in data]:
            empty = f"Missing synthetic tables: {', '.join(lacking)}."
            notices += (InvalidValueWarning(empty),)
        return real._with_synthetic(contexts, data, notices)

    def replace_role(
        self, role: str, positions: Mapping[str, Any] | None = None
    ) -> RelationalContext:
        """Return a context in which rows of a role replace the synthetic rows.

        Parameters
        ----------
        role : {"train", "holdout", "synthetic"}
            Role of the rows.
        positions : mapping of str to ndarray, optional
            Positions of the rows by table. By default, all rows of a table.

        Returns
        -------
        RelationalContext
        """
        positions, contexts = positions or {}, {}
        for name, context in self._contexts.items():
            own = self._own_role(name, role)
            if own is None:
                contexts[name] = context.real
                continue
            rows, given = context[own], context.original_frame(own)
            if name in positions:
                rows, given = (
                    t.iloc[positions[name]].reset_index(drop=True) for t in (rows, given)
                )
            contexts[name] = context.with_rows_as_synthetic(rows, given)
        data = self.original_frame(role).taken(positions)
        return cast("RelationalContext", self.real)._with_synthetic(contexts, data)

    def _with_synthetic(
        self,
        contexts: dict[str, Context],
        synthetic: RelationalData,
        notices: tuple[MetricWarning, ...] = (),
    ) -> RelationalContext:
        data = {**self._data, "synthetic": synthetic}
        beside = RelationalContext(
            self.relations, contexts, data, notices, parent=self, ordered=self.ordered
        )
        if any(contexts[name].real is not own for name, own in self._contexts.items()):
            beside._parent = None  # rounded real values need a separate cache
        return beside

    def _refuse(self, role: str) -> None:
        if not self._data:
            raise NotRememberedError(NOT_REMEMBERED)
        raise KeyError(f"The context has no {role} tables. It has {', '.join(self._data)}.")

    def __deepcopy__(self, memo: dict[int, Any]) -> RelationalContext:
        return _restore_context(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._parts()
        if self.remember_rows:
            parts["contexts"] = {name: deepcopy(c) for name, c in self._contexts.items()}
            for context in parts["contexts"].values():
                context.remember_rows = True
        else:
            parts |= {"contexts": {}, "given": {}}
        return _restore_context, (parts,)

    def _parts(self) -> dict[str, Any]:
        return {
            "relations": self.relations,
            "contexts": self._contexts,
            "given": self._data,
            "notices": self.notices,
            "parent": self._parent,
            "remember_rows": self.remember_rows,
            "ordered": self.ordered,
        }


def _restore_context(parts: dict[str, Any]) -> RelationalContext:
    return RelationalContext(**parts)


def _data(
    tables: Mapping[str, Any], role: str, relations: RelationalSchema | None = None
) -> RelationalData:
    """Return tables as RelationalData, with these relations, their own, or detected ones."""
    tables = read(tables, role, relations).rows
    if isinstance(tables, RelationalData):
        return tables
    if not isinstance(tables, Mapping):
        raise TableError(
            f"{role} must consist of several tables, like train. Pass {{name: table}}, got "
            f"{type(tables).__name__}."
        )
    try:
        return RelationalData(tables, relations)
    except TableError as error:
        raise type(error)(f"{role}: {error}") from error


def _complete(data: RelationalData, train: RelationalData, role: str) -> RelationalData:
    """Add reference tables of train that are missing from the tables of a role."""
    relations = train.schema
    lacking = [name for name in relations.tables if name not in data]
    public = [name for name in lacking if name in relations.references]
    if len(public) < len(lacking):
        raise SchemaMismatchError(
            f"Missing tables of {role}: {', '.join(n for n in lacking if n not in public)}. Train "
            f"has the tables {', '.join(relations.tables)}."
        )
    return RelationalData({**data, **{name: train[name] for name in public}}, relations)


def _orders(data: RelationalData, relations: RelationalSchema) -> dict[str, np.ndarray]:
    """Return the positions of the rows of tables in an order of content."""
    # Rows of a sequence with equal or missing index keep their original order, which may have a
    # meaning.
    positions = {}
    for name in [name for name in data if name in relations.tables]:
        rows, sequence = data[name], relations.sequences.get(name)
        if sequence is None:
            ids = [key for key in relations.tables[name].columns("id") if key in rows]
            positions[name] = order_of_content(rows, ids)
        else:
            placed = [key for key in (*sequence.key, sequence.index) if key and key in rows]
            positions[name] = np.argsort(row_hashes(rows, placed), kind="stable")
    return positions


@contextmanager
def _naming(table: str) -> Iterator[None]:
    """Put the name of a table in front of errors."""
    try:
        yield
    except SkevalError as error:
        raise error.with_prefix(table) from error


def _unjoined_key_warnings(train: RelationalData) -> Iterator[MetricWarning]:
    """Warn of each foreign key without any value in the key of the parent table."""
    for key in train.schema.foreign_keys:
        positions = train.parent_positions(key)
        n_keys = int((positions != NULL).sum())
        if n_keys and not (positions >= 0).any():
            yield MetricWarning(
                _UNJOINED.format(
                    child=key.child, columns=", ".join(key.columns), parent=key.parent, n=n_keys
                )
            )


def _rounded_key_warnings(train: RelationalData) -> Iterator[MetricWarning]:
    """Warn of each key column with numbers that floats cannot distinguish."""
    keys = train.schema.foreign_keys
    sides = [(key.child, name) for key in keys for name in key.columns]
    sides += [(key.parent, name) for key in keys for name in key.parent_columns]
    for table, column in dict.fromkeys(sides):
        values = train[table][column]
        if values.dtype.kind == "f" and (most := values.abs().max()) >= _MAX_EXACT:
            digits = len(f"{most:.0f}")
            yield MetricWarning(_ROUNDED.format(table=table, column=column, digits=digits))


def _notices(contexts: Mapping[str, Context]) -> tuple[MetricWarning, ...]:
    """Return the warnings about the tables, with their names."""
    # Equal rows are common in several tables, for example two orders of the same item. Therefore
    # subjects are compared, and not rows.
    return tuple(
        notice.with_prefix(name)
        for name, context in contexts.items()
        for notice in context.notices
        if not isinstance(notice, SharedRowsWarning)
    )
