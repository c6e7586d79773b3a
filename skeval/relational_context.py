"""Several tables under their role names: a context for each, and what relates them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pandas as pd

from skeval.context import NOT_REMEMBERED, Context
from skeval.exceptions import (
    MetricWarning,
    NotRememberedError,
    SchemaMismatchError,
    SharedRowsWarning,
)
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import TableSchema

Tables = Mapping[str, pd.DataFrame]


class RelationalContext(Context):
    """The tables of each role, canonical, with a memo of the steps computed of them.

    ``context["train"]`` is a mapping of table names to canonical frames, ``context.given("train")``
    the :class:`RelationalData` as it was given, whose key columns join; ``context.table(name)`` is
    the :class:`~skeval.Context` of one table, that any metric of one table takes.

    Parameters
    ----------
    relations : RelationalSchema
        Complete, with the kinds of all columns.
    contexts : dict of str to Context
        One of each table.
    given : dict of str to RelationalData
        By role, as given.
    notices : tuple of MetricWarning, default=()
        What was to be said of the tables when they were read.
    parent : RelationalContext, optional
        The context of the real tables that this one adds synthetic ones to.
    """

    def __init__(
        self,
        relations: RelationalSchema,
        contexts: dict[str, Context],
        given: dict[str, RelationalData],
        notices: tuple[MetricWarning, ...] = (),
        parent: RelationalContext | None = None,
        remember_rows: bool = False,
    ) -> None:
        # of one table's schema there is nothing to say here
        super().__init__(
            TableSchema({}), None, notices=notices, parent=parent, remember_rows=remember_rows
        )
        self.relations = relations
        self._contexts = contexts
        self._data = given

    def __contains__(self, role: object) -> bool:
        self._roles.add(str(role))
        return role in self._data

    def __getitem__(self, role: str) -> Any:
        self.given(role)
        return {
            name: context[role] if role in context else context["train"]  # public, given once
            for name, context in self._contexts.items()
        }

    def given(self, role: str) -> Any:
        """Return the tables of a role as they were given, whose keys join."""
        if role not in self._data:
            self._refuse(role)
        self._roles.add(role)
        return self._data[role]

    def n_rows(self, role: str) -> int:
        """Return the number of rows of a role, of all tables."""
        return sum(map(len, self.given(role).values()))

    def table(self, name: str) -> Context:
        """Return the context of one table; reference tables have no holdout."""
        self._roles.update(self._data)
        return self._contexts[name]

    @classmethod
    def of(  # type: ignore[override]
        cls,
        train: Mapping[str, Any],
        holdout: Mapping[str, Any] | None = None,
        *,
        schema: RelationalSchema | Mapping[str, Any] | None = None,
    ) -> RelationalContext:
        """Read the real tables.

        Parameters
        ----------
        train : RelationalData or mapping of str to table
            The rows that the generator learned from.
        holdout : RelationalData or mapping of str to table, optional
            Real rows of other subjects of the same population; reference tables may be left out.
        schema : RelationalSchema or mapping of str to kinds, optional
            The relations; those of `train`, if it is a RelationalData; kinds by table, in a
            mapping, otherwise. Kinds that are not named are inferred from train.

        Returns
        -------
        RelationalContext

        Raises
        ------
        TableError, SchemaMismatchError
            If tables lack, or one of them cannot be used.
        """
        data = _data(train)
        relations = schema if isinstance(schema, RelationalSchema) else data.schema
        known = schema if isinstance(schema, Mapping) else None
        relations = relations.infer(data, known)
        given = {"train": RelationalData(data, relations)}
        if holdout is not None:
            public = {name: data[name] for name in relations.references}
            tables = {**public, **_data(holdout)}
            _check_tables(tables, relations, "holdout")
            given["holdout"] = RelationalData(tables, relations)
        contexts = {}
        for name, own in relations.tables.items():
            apart = "holdout" in given and name not in relations.references
            rows = given["holdout"][name] if apart else None
            contexts[name] = Context.of(data[name], rows, schema=own)
        return cls(relations, contexts, given, _notices(contexts))

    def with_synthetic(
        self, synthetic: Mapping[str, Any], *, lenient: bool = False
    ) -> RelationalContext:
        """Return a context with these tables as `synthetic`; see :meth:`Context.with_synthetic`.

        With `lenient`, tables may be missing: they have no synthetic rows.
        """
        real = cast("RelationalContext", self.real)
        if not real._data:
            real._refuse("train")
        data = _data(synthetic)
        if not lenient:
            _check_tables(data, real.relations, "synthetic")
        contexts = {
            name: context.with_synthetic(data[name], lenient=lenient) if name in data else context
            for name, context in real._contexts.items()
        }
        notices = _notices({name: c for name, c in contexts.items() if "synthetic" in c})
        if further := [name for name in data if name not in real.relations.tables]:
            ignored = f"synthetic has tables that train lacks; ignored: {', '.join(further)}."
            notices += (MetricWarning(ignored),)
        return real._beside(contexts, RelationalData(data, real.relations), notices)

    def in_place(self, role: str, positions: Mapping[str, Any] | None = None) -> RelationalContext:
        """Return a context in which the rows of a role, some of them, stand in the synthetic place.

        Parameters
        ----------
        role : {"train", "holdout", "synthetic"}
            Whose rows.
        positions : mapping of str to ndarray, optional
            Which rows, by table; all of a table that is not named.

        Returns
        -------
        RelationalContext
        """
        positions, contexts = positions or {}, {}
        for name, context in self._contexts.items():
            own = role if role in context else "train"  # a public table has no holdout
            rows, given = context[own], context.given(own)
            if name in positions:
                rows, given = (
                    t.iloc[positions[name]].reset_index(drop=True) for t in (rows, given)
                )
            contexts[name] = context.standing_in(rows, given)
        data = self.given(role).taken(positions)
        return cast("RelationalContext", self.real)._beside(contexts, data)

    def _beside(
        self,
        contexts: dict[str, Context],
        synthetic: RelationalData,
        notices: tuple[MetricWarning, ...] = (),
    ) -> RelationalContext:
        data = {**self._data, "synthetic": synthetic}
        beside = RelationalContext(self.relations, contexts, data, notices, parent=self)
        if any(contexts[name].real is not own for name, own in self._contexts.items()):
            beside._parent = None  # real values at a coarser precision: a memo of their own
        return beside

    def _refuse(self, role: str) -> None:
        if not self._data:
            raise NotRememberedError(NOT_REMEMBERED)
        raise KeyError(f"The context has no {role} tables; it has {', '.join(self._data)}.")

    def __deepcopy__(self, memo: dict[int, Any]) -> RelationalContext:
        return _restored(self._parts())

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._parts()
        if not self.remember_rows:
            parts |= {"contexts": {}, "given": {}}
        return _restored, (parts,)

    def _parts(self) -> dict[str, Any]:
        return {
            "relations": self.relations,
            "contexts": self._contexts,
            "given": self._data,
            "notices": self.notices,
            "parent": self._parent,
            "remember_rows": self.remember_rows,
        }


def read_context(train: Any, holdout: Any = None, *, schema: Any = None) -> Context:
    """Read one real table, or, where train maps names to tables, several of them."""
    if isinstance(train, Mapping):
        return RelationalContext.of(train, holdout, schema=schema)
    return Context.of(train, holdout, schema=schema)


def _restored(parts: dict[str, Any]) -> RelationalContext:
    return RelationalContext(**parts)


def _data(tables: Mapping[str, Any]) -> RelationalData:
    return tables if isinstance(tables, RelationalData) else RelationalData(tables)


def _notices(contexts: Mapping[str, Context]) -> tuple[MetricWarning, ...]:
    """Return what was said of the tables, with their names.

    Rows of several tables may well be equal, as orders of one thing: who stands in train and
    holdout is compared by subject.
    """
    return tuple(
        type(notice)(f"{name}: {notice}")
        for name, context in contexts.items()
        for notice in context.notices
        if not isinstance(notice, SharedRowsWarning)
    )


def _check_tables(tables: Tables, relations: RelationalSchema, role: str) -> None:
    if lacking := [name for name in relations.tables if name not in tables]:
        raise SchemaMismatchError(
            f"{role} lacks {', '.join(lacking)}. Train has the tables: "
            f"{', '.join(relations.tables)}."
        )
