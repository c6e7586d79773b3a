"""Schema files that declare column types, ranges, categories, formats, keys and rules of a table.

There are two file formats. One maps columns to their types and constraints, as in the files that
`skeval schema` creates. The other is a Table Schema of Frictionless Data. Both use the same names
of constraints.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, get_args

from skeval.exceptions import InvalidParameterError
from skeval.tables.schema import Kind, TableSchema

RULES, KEY = "rules", "primaryKey"
_FIELDS = "fields"
_CONSTRAINTS = ("minimum", "maximum", "enum", "pattern", "required", "unique")
_SAID = ("kind", "proposed", "doubt", "format")  # further keys of a column in a skeval schema
_ENDS = ("minimum", "maximum")
MAX_VALUE = 1e200  # larger numbers are replaced by this value
_TRUE_OR_FALSE = ("required", "unique")
_MADE_FOR: dict[str, tuple[Kind, ...]] = {  # other constraints apply to any column type
    **dict.fromkeys(_ENDS, ("continuous", "datetime")),
    "enum": ("categorical", "boolean"),
}
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("number", "integer", "year", "duration"), "continuous"),
    "boolean": "boolean",
    **dict.fromkeys(("date", "datetime", "yearmonth"), "datetime"),
    "string": "categorical",
    "any": "categorical",
}


@dataclass(frozen=True)
class StatedTable:
    """A table as declared by a schema."""

    schema: TableSchema
    constraints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    not_held: tuple[str, ...] = ()

    @classmethod
    def from_schema(cls, content: Any) -> StatedTable:
        """Read the declarations of a schema."""
        if isinstance(content, StatedTable):
            return content
        if isinstance(content, TableSchema):
            return cls(content)
        if not isinstance(content, Mapping) or not content:
            raise InvalidParameterError(
                "a schema of a table must be a mapping of columns to their types, or a Table "
                f"Schema with fields, got {type(content).__name__}."
            )
        rules, key = _texts(content, RULES), _texts(content, KEY)
        not_held: list[str] = []
        if isinstance(content.get(_FIELDS), list):
            columns = _of_fields(content, not_held)
        else:
            own = {n: one for n, one in content.items() if not _is_of_table(n, one)}
            columns = {str(name): _of_column(str(name), one) for name, one in own.items()}
        kinds = {name: kind for name, (kind, _) in columns.items()}
        constraints = {name: stated for name, (_, stated) in columns.items()}
        formats = {n: s["format"] for n, s in constraints.items() if kinds[n] == "datetime"
                   and "format" in s}  # fmt: skip
        schema = TableSchema(kinds, tuple(key), formats)
        return cls(schema, constraints, tuple(rules), tuple(not_held))

    def of_all(self, constraint: str) -> dict[str, Any]:
        """Return the value of a constraint for each column that has it."""
        return {n: one[constraint] for n, one in self.constraints.items() if constraint in one}

    def columns_that_are(self, constraint: str) -> list[str]:
        """Return the columns for which a constraint is declared as true."""
        return [name for name, value in self.of_all(constraint).items() if value is True]


def _is_of_table(name: Any, said: Any) -> bool:
    """Return whether an entry describes the table, and not a column of the same name."""
    return name in (RULES, KEY) and isinstance(said, list | str) and said not in _KINDS.values()


def _texts(content: Mapping[str, Any], name: str) -> Sequence[str]:
    said = content.get(name, [])
    if not _is_of_table(name, said):
        return []
    texts = [said] if isinstance(said, str) else said
    if not all(isinstance(text, str) for text in texts):
        raise InvalidParameterError(f"{name} of a schema must be a list of texts.")
    return texts


def _of_fields(
    content: Mapping[str, Any], not_held: list[str]
) -> dict[str, tuple[Kind, dict[str, Any]]]:
    """Return the columns of a Table Schema, and add ignored constraints to `not_held`."""
    columns: dict[str, tuple[Kind, dict[str, Any]]] = {}
    for said in content[_FIELDS]:
        name, kind, stated = _of_field(said)
        if name in columns:
            raise InvalidParameterError(f"the Table Schema has two fields with the name {name}.")
        held = {key: value for key, value in stated.items() if _is_held(key, kind)}
        not_held += [f"{key} of {name}" for key in stated if key not in held]
        columns[name] = kind, held
    for name in (KEY, RULES):
        if not isinstance(content.get(name, []), str | list):
            raise InvalidParameterError(f"{name} of a schema must be a list of texts.")
    return columns


def _of_field(said: Any) -> tuple[str, Kind, dict[str, Any]]:
    """Return the name, the type and the constraints of a field of a Table Schema."""
    if not isinstance(said, Mapping) or not isinstance(said.get("name"), str):
        raise InvalidParameterError("each of the fields of a Table Schema must have a name.")
    name, constraints = said["name"], said.get("constraints") or {}
    _check_known(name, constraints, _IGNORED)
    kind = _KINDS.get(str(said.get("type", "any")), "text")
    if "enum" in constraints and kind != "boolean":  # numbers with an enum are codes
        kind = "categorical"
    stated, form = dict(constraints), said.get("format", "")
    if isinstance(form, str) and "%" in form:
        stated["format"] = form
    return name, kind, stated


def _is_held(constraint: str, kind: Any) -> bool:
    """Return whether a constraint is checked for columns of this type."""
    is_open = kind not in get_args(Kind)  # an unknown type raises an error later
    return constraint not in _IGNORED and (is_open or kind in _MADE_FOR.get(constraint, (kind,)))


_IGNORED = ("minLength", "maxLength", "jsonSchema", "exclusiveMinimum", "exclusiveMaximum")


def _of_column(name: str, said: Any) -> tuple[Kind, dict[str, Any]]:
    """Return the type and the constraints of a column in a skeval schema."""
    if not isinstance(said, Mapping):
        return said, {}
    _check_known(name, said, _SAID)
    if "kind" not in said:
        raise InvalidParameterError(f"the schema does not specify the kind of {name}.")
    for constraint in said:
        if not _is_held(constraint, said["kind"]):
            kinds = " and ".join(_MADE_FOR[constraint])
            raise InvalidParameterError(
                f"the schema specifies {constraint} for {name}, which is {said['kind']}. This "
                f"constraint is only valid for {kinds} columns."
            )
    return said["kind"], {k: v for k, v in said.items() if k in (*_CONSTRAINTS, "format")}


def _check_known(name: str, said: Any, further: tuple[str, ...]) -> None:
    """Raise an error for misspelled constraints, which would otherwise be ignored."""
    if not isinstance(said, Mapping):
        raise InvalidParameterError(f"the constraints of {name} must be a mapping.")
    if unknown := [key for key in said if key not in (*_CONSTRAINTS, *further)]:
        raise InvalidParameterError(
            f"the schema specifies unknown constraints for {name}: {', '.join(map(str, unknown))}. "
            f"Valid constraints are {', '.join(_CONSTRAINTS)}."
        )
    if "enum" in said and (not isinstance(said["enum"], list) or not said["enum"]):
        raise InvalidParameterError(f"enum of {name} must be a list of values.")
    for constraint in _ENDS:
        if constraint in said and not _is_end(said[constraint]):
            raise InvalidParameterError(
                f"{constraint} of {name} must be a date or a number within 1e200 of 0, got "
                f"{str(said[constraint])[:60]}."
            )
    for constraint in _TRUE_OR_FALSE:
        if not isinstance(said.get(constraint, True), bool):
            raise InvalidParameterError(
                f"{constraint} of {name} must be true or false, got {said[constraint]!r}."
            )


def _is_end(value: Any) -> bool:
    """Return whether a value can be a minimum or a maximum."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return isinstance(value, str | dt.date) or (is_number and -MAX_VALUE <= value <= MAX_VALUE)
