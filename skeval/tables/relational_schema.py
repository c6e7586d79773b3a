"""Schema of several related tables, with keys, roles of tables and sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from skeval.exceptions import InvalidParameterError, SchemaMismatchError, SkevalError
from skeval.tables.detected_keys import detected_parts
from skeval.tables.keys import ForeignKey, SequenceKey, names_in_words, names_of
from skeval.tables.relational_sources import (
    Parts,
    parts_of,
    parts_of_aindo,
    parts_of_datapackage,
    parts_of_sdv,
    parts_of_sqlalchemy,
    read_json,
)
from skeval.tables.schema import Kind, TableSchema

Role = Literal["subject", "dependent", "reference"]
# Metadata in an unexpected form raise these errors.
_OTHER_FORM = (TypeError, KeyError, AttributeError, ValueError, IndexError, RecursionError)


@dataclass(frozen=True)
class RelationalSchema:
    """Schema of several tables with their keys, roles and sequences.

    Every table has one of three roles. The rows of a *subject* table are individuals to protect,
    for example people, companies or patients. The rows of a *dependent* table belong to a subject
    through a path of foreign keys. A *reference* table contains public data such as a list of
    airports. Roles that are not specified are inferred if there is only one possibility. A single
    table is a subject. If one table has no foreign keys and exactly one path of foreign keys leads
    to it from every other table, this table is the subject and the others are dependent. If
    subjects are specified, all tables from which foreign keys lead to a subject are dependent.
    Other tables have no role, and metrics that require their role cannot be evaluated.

    Parameters
    ----------
    tables : sequence of str, or mapping of str to TableSchema or mapping of str to str
        The names of the tables, and the types of their columns if known. Other types are inferred
        from the training data (:meth:`infer`).
    primary_keys : mapping of str to str or tuple of str, default={}
        Primary key of each table, in addition to the keys in a TableSchema.
    foreign_keys : sequence of ForeignKey, default=()
        Foreign keys. Two tables may have several keys, a table may refer to itself, and keys may
        form circles.
    roles : mapping of str to {"subject", "dependent", "reference"}, default={}
        Role of each table.
    paths : mapping of str to str or tuple of str, default={}
        For dependent tables that lead to a subject in several ways (`sender`, `receiver`), the
        columns of the foreign key that links rows to their subject.
    sequences : mapping of str to SequenceKey, default={}
        Sequence key of each table.

    Raises
    ------
    InvalidParameterError
        If a specified table or column does not exist, or if a role is not valid. The error reports
        all problems together.

    See Also
    --------
    ForeignKey : A link between two tables.
    SequenceKey : The key and the order of the sequences of a table.

    Examples
    --------
    >>> from skeval.relational import ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> schema.role("orders"), [str(key) for key in schema.path("orders", "users")]
    ('dependent', ['orders.user -> users.id'])
    """

    tables: Any  # converted to a mapping of str to TableSchema
    primary_keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    foreign_keys: Sequence[ForeignKey] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    paths: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sequences: Mapping[str, SequenceKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.tables, Mapping):
            object.__setattr__(self, "tables", dict.fromkeys(self.tables, TableSchema({})))
        tables = {
            str(name): own if isinstance(own, TableSchema) else TableSchema(own)
            for name, own in self.tables.items()
        }
        keys = {name: own.primary_key for name, own in tables.items() if own.primary_key}
        keys |= {name: names_of(columns) for name, columns in self.primary_keys.items()}
        tables = {name: _with_key(own, keys.get(name, ())) for name, own in tables.items()}
        paths = {table: names_of(columns) for table, columns in self.paths.items()}
        for name, value in (
            ("tables", tables),
            ("primary_keys", keys),
            ("roles", self.roles),
            ("paths", paths),
            ("sequences", self.sequences),
        ):
            object.__setattr__(self, name, MappingProxyType(dict(value)))
        object.__setattr__(self, "foreign_keys", tuple(dict.fromkeys(self.foreign_keys)))
        if faults := list(self._unlike() or self._faults()):
            raise InvalidParameterError(f"RelationalSchema: {'; '.join(faults)}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # A mappingproxy can be neither pickled nor deep-copied.
        parts = (getattr(self, item.name) for item in fields(self))
        return RelationalSchema, tuple(p if isinstance(p, tuple) else dict(p) for p in parts)

    def __str__(self) -> str:
        primary = [
            f"{name}.{names_in_words(columns)}" for name, columns in self.primary_keys.items()
        ]
        return (
            f"primary keys {', '.join(primary) or 'none'}; "
            f"foreign keys {', '.join(map(str, self.foreign_keys)) or 'none'}"
        )

    @classmethod
    def _from_metadata(cls, read: Callable[[Any], Parts], source: Any) -> RelationalSchema:
        try:
            parts = read(source)
            keys = [ForeignKey(*key) for key in parts["foreign_keys"]]
            sequences = {n: SequenceKey(*key) for n, key in parts.get("sequences", {}).items()}
            return cls(**{**parts, "foreign_keys": keys, "sequences": sequences})
        except _OTHER_FORM as error:
            if isinstance(error, SkevalError):
                raise
            raise InvalidParameterError(
                "RelationalSchema: the metadata does not have the expected form "
                f"({type(error).__name__}: {error})."
            ) from error

    @classmethod
    def from_sdv(cls, metadata: Mapping[str, Any] | str | Path | Any) -> RelationalSchema:
        """Read SDV metadata of one or several tables, in the form V1, MULTI_TABLE_V1 or V2.

        Parameters
        ----------
        metadata : mapping, path or object with `to_dict`
            SDV metadata, or the mapping that SDMetrics uses. Metadata that SDV detected contains
            real values (categories, extremes), but only names, types, keys and date formats are
            read.

        Returns
        -------
        RelationalSchema

        Raises
        ------
        InvalidParameterError
            If the metadata has another form, or if it refers to tables that it does not describe.

        Examples
        --------
        >>> from skeval.relational import RelationalSchema
        >>> users = {"primary_key": "id", "columns": {"id": {"sdtype": "id"}}}
        >>> print(RelationalSchema.from_sdv({"tables": {"users": users}}))
        primary keys users.id; foreign keys none
        """
        return cls._from_metadata(parts_of_sdv, metadata)

    @classmethod
    def from_sqlalchemy(cls, source: Any) -> RelationalSchema:
        """Read primary keys, foreign keys and column types from a database.

        Parameters
        ----------
        source : Engine, Connection or MetaData
            SQLAlchemy object. For an engine, all tables of the default schema are read.

        Raises
        ------
        TableError
            If the database cannot be read.
        """
        return cls._from_metadata(parts_of_sqlalchemy, source)

    @classmethod
    def from_datapackage(cls, package: Mapping[str, Any] | str | Path) -> RelationalSchema:
        """Read the resources, fields and keys of a Frictionless data package.

        Parameters
        ----------
        package : path or mapping
            A datapackage.json, or its content.

        Returns
        -------
        RelationalSchema

        Raises
        ------
        InvalidParameterError
            If the content is not a data package.
        """
        return cls._from_metadata(parts_of_datapackage, package)

    @classmethod
    def from_aindo(cls, schema: Any) -> RelationalSchema:
        """Read a schema of Aindo, or an object with such a schema as attribute `schema`.

        The `tables` of the schema map names to objects. Their `columns` map names to objects of a
        class PrimaryKey, to objects of a class ForeignKey with a `parent`, or to members of an
        enumeration (BOOLEAN, CATEGORICAL, NUMERIC, INTEGER, DATE, TIME, DATETIME, COORDINATES,
        ITAFISCALCODE, TEXT). The package of Aindo is not required.

        Raises
        ------
        InvalidParameterError
            If the object has another structure.
        """
        return cls._from_metadata(parts_of_aindo, schema)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RelationalSchema:
        """Read a result of :meth:`to_dict`, SDV metadata or a data package."""
        return cls._from_metadata(parts_of, content)

    @classmethod
    def from_json(cls, path: str | Path) -> RelationalSchema:
        """Read a JSON file in any form that :meth:`from_dict` accepts."""
        return cls._from_metadata(parts_of, read_json(path))

    @classmethod
    def detect(cls, tables: Mapping[str, pd.DataFrame]) -> RelationalSchema:
        """Detect keys that both the names and the values of columns indicate.

        Parameters
        ----------
        tables : mapping of str to DataFrame
            Training rows.

        Returns
        -------
        RelationalSchema
            Print the schema to see the detected keys.

        Notes
        -----
        A primary key is a column without missing or repeated values that meets one of the following
        conditions. Its name is a key (id, user_id) or the name of the table, it has the name and
        contains the values of a column in another table, or it has one word per row. A foreign key
        is a column with the name of another table or of its key (user_id for users, home_team for
        teams, carrier for a table with the key carrier). In addition, 80% of its values must occur
        in that key. The limit is not 100% because real tables have orphans. Values are never
        sufficient without a name, because columns of small numbers often include each other.
        Composite keys are detected only for tables that link other tables.

        Examples
        --------
        >>> import pandas as pd
        >>> from skeval.relational import RelationalSchema
        >>> users = pd.DataFrame({"id": [1, 2, 3], "age": [31, 45, 27]})
        >>> orders = pd.DataFrame({"order_id": [1, 2], "user_id": [3, 3], "n": [1, 2]})
        >>> print(RelationalSchema.detect({"users": users, "orders": orders}))
        primary keys users.id, orders.order_id; foreign keys orders.user_id -> users.id
        """
        return cls._from_metadata(detected_parts, tables)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as lists and texts that can be stored in a JSON file."""
        tables: dict[str, dict[str, Any]] = {}
        for name, own in self.tables.items():
            about: dict[str, Any] = {
                "kinds": dict(own.kinds),
                "datetime_formats": dict(own.datetime_formats),
                "primary_key": list(self.primary_keys.get(name, ())),
                "role": self.roles.get(name),
                "path": list(self.paths.get(name, ())),
            }
            if sequence := self.sequences.get(name):
                about["sequence"] = {"key": list(sequence.key), "index": sequence.index}
            tables[name] = {part: value for part, value in about.items() if value}
        keys = [
            {n: v if isinstance(v, str) else list(v) for n, v in vars(key).items()}
            for key in self.foreign_keys
        ]
        return {"tables": tables, "foreign_keys": keys}

    def _unlike(self) -> list[str]:
        keys = [key for key in self.foreign_keys if not isinstance(key, ForeignKey)]
        sequences = [key for key in self.sequences.values() if not isinstance(key, SequenceKey)]
        return [
            f"{what}, got {key!r}"
            for what, wrong in (
                ("foreign_keys must be ForeignKey(child, columns, parent, parent_columns)", keys),
                ("sequences must be SequenceKey(key, index)", sequences),
            )
            for key in wrong
        ]

    def _faults(self) -> Iterator[str]:
        if not self.tables:
            yield "there are no tables"
        for what in ("primary_keys", "roles", "paths", "sequences"):
            if unknown := [name for name in getattr(self, what) if name not in self.tables]:
                yield f"{what} contains tables that are not in the schema ({', '.join(unknown)})"
        if wrong := [f"{n} is {r!r}" for n, r in self.roles.items() if r not in get_args(Role)]:
            yield f"roles must be {', '.join(get_args(Role))}, but {', '.join(wrong)}"
        for key in self.foreign_keys:
            if unknown := [name for name in (key.child, key.parent) if name not in self.tables]:
                yield f"the foreign key {key} refers to unknown tables ({', '.join(unknown)})"
        for table, columns in self.paths.items():
            if not any(key.child == table and key.columns == columns for key in self.foreign_keys):
                yield f"{table}.{names_in_words(columns)} in paths is not a foreign key"

    def infer(
        self, tables: Mapping[str, pd.DataFrame], kinds: Mapping[str, Any] | None = None
    ) -> RelationalSchema:
        """Infer the missing column types from the rows.

        Keys have the type `id`, which distances ignore. However, a foreign key to a reference
        table, for example an airline, is categorical. Columns of a composite key have the type of
        their values, unless a column is also a key by itself.

        Parameters
        ----------
        tables : mapping of str to DataFrame
            Training rows, by table.
        kinds : mapping of str to TableSchema or mapping, optional
            Known types in addition to the types of the schema, by table.

        Returns
        -------
        RelationalSchema

        Raises
        ------
        SchemaMismatchError
            If tables or columns of the schema or of `kinds` are missing. The error reports all
            problems together.
        """
        faults = [f"the table {name} is missing" for name in self.tables if name not in tables]
        faults += [f"{n} is not in the schema" for n in kinds or () if n not in self.tables]
        for name in self.tables:
            if name not in tables:
                continue
            absent = [c for c in self.columns_named(name) if c not in tables[name].columns]
            if absent:
                faults.append(f"{name} does not have {', '.join(absent)}")
        if faults:
            raise SchemaMismatchError(f"The schema does not fit train: {'; '.join(faults)}.")
        complete = {}
        for name, schema in self.tables.items():
            own: dict[str, Kind] = {**self._kinds_of_keys(name), **schema.kinds}
            known = (kinds or {}).get(name, {})
            own |= known.kinds if isinstance(known, TableSchema) else known
            start = TableSchema(own, datetime_formats=schema.datetime_formats)
            complete[name] = replace(
                TableSchema.infer(tables[name], start),
                primary_key=tuple(self.primary_keys.get(name, ())),
            )
        return replace(self, tables=complete)

    def columns_named(self, table: str) -> list[str]:
        """Return the columns of a table that belong to keys or sequences."""
        sequence = self.sequences.get(table)
        named = [
            *self.primary_keys.get(table, ()),
            *(c for key in self.foreign_keys if key.child == table for c in key.columns),
            *(c for key in self.foreign_keys if key.parent == table for c in key.parent_columns),
            *((*sequence.key, *filter(None, [sequence.index])) if sequence else ()),
        ]
        return list(dict.fromkeys(named))

    def _kinds_of_keys(self, table: str) -> dict[str, Kind]:
        kinds = {column: self._kind_of_key(table, column) for column in self.columns_named(table)}
        return {column: kind for column, kind in kinds.items() if kind is not None}

    def _kind_of_key(
        self, table: str, column: str, seen: frozenset[tuple[str, str]] = frozenset()
    ) -> Kind | None:
        """Return the type of a key column, or None if the type depends on its values."""
        own = [key for key in self.foreign_keys if key.child == table and column in key.columns]
        single = [key for key in own if len(key.columns) == 1]
        if single:
            public = all(self.role(key.parent) == "reference" for key in single)
            return "categorical" if public else "id"
        sequence = self.sequences.get(table)
        named = any(k.parent == table and k.parent_columns == (column,) for k in self.foreign_keys)
        if (
            named
            or self.primary_keys.get(table) == (column,)
            or (sequence and column in sequence.key)
        ):
            return "id"
        for key in own:  # a part of a composite key has the type of the parent column
            above = key.parent, key.parent_columns[key.columns.index(column)]
            if above not in seen and (kind := self._kind_of_key(*above, seen | {above})):
                return kind
        return None

    def role(self, table: str) -> Role | None:
        """Return the role of a table, or None if it is not specified and cannot be inferred."""
        return self._roles.get(table)

    @property
    def subjects(self) -> list[str]:
        """Names of the tables whose rows must be protected."""
        return [name for name in self.tables if self.role(name) == "subject"]

    @property
    def references(self) -> list[str]:
        """Names of the public tables."""
        return [name for name in self.tables if self.role(name) == "reference"]

    def dependents(self, subject: str) -> list[str]:
        """Return the names of the tables whose rows belong to this subject."""
        others = [name for name in self.tables if self.role(name) == "dependent"]
        return [name for name in others if self.paths_to(name, subject)]

    def path(self, table: str, subject: str) -> tuple[ForeignKey, ...]:
        """Return the foreign keys that lead from a dependent table to its subject.

        Raises
        ------
        InvalidParameterError
            If there is no path, or if there are several paths.
        """
        paths = self.paths_to(table, subject)
        if len(paths) != 1:
            ways = [names_in_words(path[0].columns) for path in paths]
            raise InvalidParameterError(
                f"{table} leads to {subject} in {len(ways) or 'no'} ways"
                f"{': ' + ', '.join(ways) if ways else ''}. Specify one foreign key: "
                f"RelationalSchema(..., paths={{{table!r}: columns}})."
            )
        return paths[0]

    @property
    def undetermined(self) -> str:
        """Sentence on roles or paths that subject-level metrics require but that are not known."""
        unknown = [name for name in self.tables if self.role(name) is None]
        if unknown or not self.subjects:
            of = ", ".join(unknown or self.tables)
            return (
                f"requires the role of each table, but roles of {of} cannot be inferred. Specify "
                "RelationalSchema(..., roles={table: 'subject', 'dependent' or 'reference'})."
            )
        several = {
            f"{name} ({', '.join(names_in_words(path[0].columns) for path in ways)})"
            for subject in self.subjects
            for name in self.dependents(subject)
            if len(ways := self.paths_to(name, subject)) > 1
        }
        lost = [
            name
            for name in self.tables
            if self.role(name) == "dependent"
            and not any(self.paths_to(name, subject) for subject in self.subjects)
        ]
        if several:
            return (
                f"requires one path to the subject, but {', '.join(several)} has several paths. "
                "Specify a foreign key: RelationalSchema(..., paths={table: columns})."
            )
        if lost:
            return (
                f"requires a path from dependent tables to a subject, but there is none for "
                f"{', '.join(lost)}. Specify the foreign key or another role."
            )
        return ""

    def paths_to(self, table: str, subject: str) -> list[tuple[ForeignKey, ...]]:
        """Return the paths of foreign keys between two tables without repeated tables.

        Only the first hundred are returned, because the number of paths can be very large.
        """
        leading = {subject}
        while more := {key.child for key in self.foreign_keys if key.parent in leading} - leading:
            leading |= more
        others = frozenset(self.tables) - leading
        return list(islice(self._walk(table, subject, others | {table}), 100))

    def _walk(
        self, table: str, subject: str, seen: frozenset[str]
    ) -> Iterator[tuple[ForeignKey, ...]]:
        for key in self.foreign_keys:
            if key.child != table or self.paths.get(table, key.columns) != key.columns:
                continue
            if key.parent == subject and subject not in seen:
                yield (key,)
            elif key.parent not in seen and self.roles.get(key.parent) != "reference":
                further = self._walk(key.parent, subject, seen | {key.parent})
                yield from ((key, *rest) for rest in further)

    def circles(self) -> list[tuple[ForeignKey, ...]]:
        """Return the shortest circle of foreign keys for each key that is in a circle."""
        rings: dict[frozenset[ForeignKey], tuple[ForeignKey, ...]] = {}
        for key in self.foreign_keys:
            reached: dict[str, tuple[ForeignKey, ...]] = {key.parent: (key,)}
            todo = [key.parent]
            for table in todo:  # a breadth-first search, which extends the list
                for further in self.foreign_keys:
                    if further.child == table and further.parent not in reached:
                        reached[further.parent] = (*reached[table], further)
                        todo.append(further.parent)
            if key.child in reached:
                rings.setdefault(frozenset(reached[key.child]), reached[key.child])
        return list(rings.values())

    @cached_property
    def _roles(self) -> dict[str, Role]:
        roles = dict(self.roles)
        subjects = [name for name, role in roles.items() if role == "subject"]
        if not subjects:
            private = [name for name in self.tables if roles.get(name) != "reference"]
            refers = {
                key.child
                for key in self.foreign_keys
                if key.child != key.parent and key.parent in private
            }
            roots = [name for name in private if name not in refers]
            others = [name for name in private if name in refers]
            if (
                len(roots) != 1
                or roots[0] in roles
                or any(len(self.paths_to(name, roots[0])) != 1 for name in others)
            ):
                return roles
            subjects, roles[roots[0]] = roots, "subject"
        for name in self.tables:
            if name not in roles and any(self.paths_to(name, subject) for subject in subjects):
                roles[name] = "dependent"
        return roles


def _with_key(schema: TableSchema, key: tuple[str, ...]) -> TableSchema:
    """Return a table's schema with its primary key if the types of the key columns are known."""
    return replace(schema, primary_key=key if set(key) <= set(schema.kinds) else ())
