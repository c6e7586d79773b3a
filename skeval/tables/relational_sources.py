"""Reading of keys between tables from the metadata of other tools and databases.

The functions convert metadata to the arguments of a :class:`~skeval.relational.RelationalSchema`.
They read only names, types, keys and date formats, because detected metadata contain real values.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError, TableError
from skeval.tables.schema import Kind, TableSchema
from skeval.utils.dependencies import import_optional
from skeval.utils.foreign_files import foreign_json

Parts = dict[str, Any]  # arguments of a RelationalSchema, with a tuple for each ForeignKey
Reference = tuple[str, Any, str, Any]  # child, columns, parent, parent columns
_OF_DATAPACKAGE: Mapping[str, Kind] = {
    "number": "continuous",
    "integer": "continuous",
    "boolean": "boolean",
    "date": "datetime",
    "datetime": "datetime",
}
_OF_AINDO: Mapping[str, Kind] = {
    "BOOLEAN": "boolean",
    "CATEGORICAL": "categorical",
    "NUMERIC": "continuous",
    "INTEGER": "continuous",
    "DATE": "datetime",
    "DATETIME": "datetime",
    "COORDINATES": "text",
    "ITAFISCALCODE": "id",
    "TEXT": "text",
}


def read_json(path: str | Path) -> Any:
    """Return the content of a JSON file."""
    return foreign_json(path, error=TableError)


def parts_of(content: Any) -> Parts:
    """Read SDV metadata, a data package or a skeval schema, depending on the content."""
    if isinstance(content, Mapping):
        if "resources" in content:
            return parts_of_datapackage(content)
        if "foreign_keys" in content:
            return parts_of_own(content)
        if "tables" in content or "columns" in content:
            return parts_of_sdv(content)
    raise InvalidParameterError(
        "The form of the metadata is not supported. SDV metadata have `tables` or `columns`, a "
        "data package has `resources`, and a RelationalSchema has `foreign_keys`."
    )


def parts_of_own(content: Any) -> Parts:
    """Read the result of :meth:`RelationalSchema.to_dict`."""
    of = "RelationalSchema.from_dict"
    own = {
        str(name): _mapping(one, of, f"of {name}")
        for name, one in _mapping(_mapping(content, of).get("tables"), of, "as tables").items()
    }
    names = ("child", "columns", "parent", "parent_columns")
    return {
        "tables": {
            name: TableSchema(
                one.get("kinds", {}), datetime_formats=one.get("datetime_formats", {})
            )
            for name, one in own.items()
        },
        "foreign_keys": [tuple(key[name] for name in names) for key in content["foreign_keys"]],
        "primary_keys": {n: one["primary_key"] for n, one in own.items() if one.get("primary_key")},
        "roles": {n: one["role"] for n, one in own.items() if one.get("role")},
        "paths": {n: one["path"] for n, one in own.items() if one.get("path")},
        "sequences": {
            n: (one["sequence"]["key"], one["sequence"].get("index"))
            for n, one in own.items()
            if one.get("sequence")
        },
    }


def parts_of_sdv(metadata: Any) -> Parts:
    """Read SDV metadata of one or several tables, in the form V1, MULTI_TABLE_V1 or V2."""
    of = "RelationalSchema.from_sdv"
    if isinstance(metadata, str | Path):
        metadata = read_json(metadata)
    elif hasattr(metadata, "to_dict"):
        metadata = metadata.to_dict()
    content = _mapping(metadata, of)
    described = content.get("tables") or ({"table": content} if "columns" in content else None)
    tables = _mapping(described, of, "as tables")
    keys: list[Reference] = []
    for one in content.get("relationships") or ():
        child, parent = one["child_table_name"], one["parent_table_name"]
        keys.append((child, one["child_foreign_key"], parent, one["parent_primary_key"]))
    schemas = {}
    for name, own in tables.items():
        try:
            # The check is required because from_sdv treats a text as the path of a file.
            schema = TableSchema.from_sdv(_mapping(own, of, f"as table {name}"))
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{of}: {name}: {error}") from error
        refers = {c for child, columns, *_ in keys if child == name for c in _as_list(columns)}
        kinds = {c: k for c, k in schema.kinds.items() if k != "id" or c not in refers}
        schemas[str(name)] = TableSchema(
            {
                **kinds,
                **{c: "id" for c in schema.primary_key if c not in kinds and c not in refers},
            },
            datetime_formats=schema.datetime_formats,
        )
    return {
        "tables": schemas,
        "primary_keys": {
            n: own["primary_key"] for n, own in tables.items() if own.get("primary_key")
        },
        "foreign_keys": keys,
        "sequences": {
            name: (own["sequence_key"], own.get("sequence_index"))
            for name, own in tables.items()
            if own.get("sequence_key")
        },
    }


def parts_of_datapackage(package: Any) -> Parts:
    """Read a data package from the path of a datapackage.json or from its content."""
    of = "RelationalSchema.from_datapackage"
    folder = None
    if isinstance(package, str | Path):
        folder, package = Path(package).parent, read_json(package)
    resources = _mapping(package, of).get("resources")
    if not isinstance(resources, list) or not resources:
        raise InvalidParameterError(f"{of} expected `resources`, a list with at least one.")
    parts: Parts = {"tables": {}, "primary_keys": {}, "foreign_keys": []}
    for resource in resources:
        name = str(_mapping(resource, of, "as resource").get("name", ""))
        schema = resource.get("schema", {})
        if isinstance(schema, str) and folder is not None:
            schema = read_json(_path_in_package(folder, schema))
        schema = _mapping(schema, of, f"as schema of {name}")
        fields = [_mapping(one, of, f"as field of {name}") for one in schema.get("fields", ())]
        references = []
        for key in schema.get("foreignKeys") or ():
            target = _mapping(_mapping(key, of).get("reference"), of, f"as reference of {name}")
            # An empty name refers to the table itself.
            references.append(
                (name, key["fields"], target.get("resource") or name, target["fields"])
            )
        named = {c for _, columns, *_ in references for c in _as_list(columns)}
        named |= set(_as_list(schema.get("primaryKey") or ()))
        parts["tables"][name] = TableSchema(
            {f["name"]: k for f in fields if f["name"] not in named and (k := _kind_of(f))},
            datetime_formats={
                f["name"]: f["format"] for f in fields if "%" in str(f.get("format", ""))
            },
        )
        if schema.get("primaryKey"):
            parts["primary_keys"][name] = schema["primaryKey"]
        parts["foreign_keys"] += references
    return parts


def _path_in_package(folder: Path, named: str) -> Path:
    """Return the path of a file in a data package, which must be inside of its folder."""
    path = Path(named)
    if path.is_absolute() or ".." in path.parts:
        raise InvalidParameterError(
            f"a data package must refer to files in its own folder, got {named[:200]!r}."
        )
    return folder / path


def _kind_of(field: Mapping[str, Any]) -> Kind | None:
    if "enum" in (field.get("constraints") or {}) or "categories" in field:
        return "categorical"
    return _OF_DATAPACKAGE.get(str(field.get("type")))


def parts_of_sqlalchemy(source: Any) -> Parts:
    """Read the tables of a database from an engine or from a MetaData."""
    sa = import_optional(
        "RelationalSchema.from_sqlalchemy", "sqlalchemy", 'pip install "skeval[sql]"'
    )
    metadata = source
    if not isinstance(source, sa.MetaData):
        metadata = sa.MetaData()
        try:
            metadata.reflect(bind=source)
        except sa.exc.SQLAlchemyError as error:
            raise TableError(
                "RelationalSchema.from_sqlalchemy cannot read the database "
                f"({type(error).__name__}). Pass an engine that connects, or a MetaData."
            ) from error
    parts: Parts = {"tables": {}, "primary_keys": {}, "foreign_keys": []}
    for name, table in metadata.tables.items():
        keys = [
            (name, c.column_keys, c.referred_table.key, [e.column.name for e in c.elements])
            for c in sorted(table.foreign_key_constraints, key=lambda c: c.column_keys)
        ]
        primary = [column.name for column in table.primary_key.columns]
        named = {*primary, *(column for _, columns, *_ in keys for column in columns)}
        kinds = {c.name: _kind_of_type(c.type) for c in table.columns if c.name not in named}
        parts["tables"][name] = TableSchema({c: kind for c, kind in kinds.items() if kind})
        parts["foreign_keys"] += keys
        if primary:
            parts["primary_keys"][name] = primary
    return parts


def _kind_of_type(of: Any) -> Kind | None:
    import sqlalchemy as sa

    kinds: tuple[tuple[Any, Kind], ...] = (
        (sa.Boolean, "boolean"),
        (sa.Enum, "categorical"),
        (sa.Date | sa.DateTime, "datetime"),
        (sa.Numeric | sa.Integer | sa.Interval, "continuous"),
    )
    return next((kind for types, kind in kinds if isinstance(of, types)), None)


def parts_of_aindo(schema: Any) -> Parts:
    """Read an object with the structure of an Aindo schema."""
    # Columns are objects of a class PrimaryKey, objects of a class ForeignKey with a `parent`, or
    # members of an enumeration whose names are types.
    of = "RelationalSchema.from_aindo"
    schema = getattr(schema, "schema", schema)
    tables = {
        str(name): _mapping(getattr(table, "columns", None), of, f"as columns of {name}")
        for name, table in _mapping(getattr(schema, "tables", None), of, "as tables").items()
    }
    primary = {
        name: [str(c) for c, kind in columns.items() if type(kind).__name__ == "PrimaryKey"]
        for name, columns in tables.items()
    }
    keys: list[Reference] = []
    for name, columns in tables.items():
        for column, kind in columns.items():
            if type(kind).__name__ == "ForeignKey":
                parent = str(getattr(kind, "parent", ""))
                if not primary.get(parent):
                    raise InvalidParameterError(
                        f"{of}: {name}.{column} refers to {parent}, which has no primary key."
                    )
                keys.append((name, str(column), parent, primary[parent]))
    named = {
        name: {str(c): _OF_AINDO.get(str(getattr(kind, "name", ""))) for c, kind in own.items()}
        for name, own in tables.items()
    }
    return {
        "tables": {
            name: TableSchema({c: k for c, k in own.items() if k}) for name, own in named.items()
        },
        "primary_keys": {name: columns for name, columns in primary.items() if columns},
        "foreign_keys": keys,
    }


def _mapping(value: Any, of: str, what: str = "") -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidParameterError(
            f"{of} expected a mapping{f' {what}' if what else ''}, got {type(value).__name__}."
        )
    return value


def _as_list(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)
