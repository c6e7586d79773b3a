"""The metrics as a file lists them, so that naming them imports none of them.

A test compares the file with the classes, see :mod:`skeval.suites.registry`, which writes it.
"""

from __future__ import annotations

import ast
import inspect
import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from skeval.core.declared import merged
from skeval.core.tags import MetricTags
from skeval.exceptions import InvalidParameterError

FILE = Path(__file__).with_suffix(".json")
_PACKAGE = Path(__file__).parents[1]


class Entry(NamedTuple):
    """One metric of the catalogue."""

    kind: str  # the class
    module: str  # that it is imported from
    title: str
    first: str  # line of its docstring
    short: dict[str, str]  # names in ready suites, with the parameters that it has there
    presets: dict[str, str]  # by these names, a suite that has it
    stated: dict[str, Any]  # its tags, as far as a reader is shown them
    sources: tuple[str, ...]  # "module:class" of itself and of its bases, in their order
    parameters: tuple[str, ...] | None  # in their order, where the bases' are documented with them

    @property
    def tags(self) -> MetricTags:
        """The tags of the metric, as far as a reader is shown them."""
        stated = dict(self.stated)
        return MetricTags(**(stated | {"bounds": tuple(map(float, stated["bounds"]))}))


@cache
def catalogue() -> dict[str, Entry]:
    """Return the metrics that the file lists, by class.

    Examples
    --------
    >>> from skeval.suites.catalogue import catalogue
    >>> catalogue()["DCRShare"].module
    'skeval.privacy'
    """
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {kind: _entry(kind, row) for kind, row in rows.items()}


def _entry(kind: str, row: dict[str, Any]) -> Entry:
    parameters = row["parameters"]
    return Entry(
        **(row | {"kind": kind, "sources": tuple(row["sources"])})
        | {"parameters": None if parameters is None else tuple(parameters)}
    )


def documentation(entry: Entry) -> str:
    """Return the docstring of a metric from its source; ``python -OO`` drops it elsewhere.

    Raises
    ------
    InvalidParameterError
        If it has neither source nor docstring.
    """
    docs = [_in_source(*source.split(":")) for source in entry.sources]
    if docs[0] is None:
        kept = getattr(import_module(entry.module), entry.kind).__doc__
        if not kept:
            raise InvalidParameterError(
                f"what {entry.kind} measures is said in its docstring, which it has none of; "
                "run python without -OO."
            )
        return inspect.cleandoc(kept)
    if entry.parameters is None:
        return docs[0]
    return merged(docs, entry.parameters)


def _in_source(module: str, kind: str) -> str | None:
    """Return the docstring that the source of a class has, None where there is none."""
    return _docstrings_of(module).get(kind)


@cache
def _docstrings_of(module: str) -> dict[str, str | None]:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except OSError:
            continue
        found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        return {node.name: ast.get_docstring(node) for node in found}
    return {}


def written(entries: dict[str, Entry]) -> str:
    """Return the text of the file: a line an item, so that changes of two metrics do not meet."""
    rows = {kind: entry._asdict() for kind, entry in entries.items()}
    for row in rows.values():
        del row["kind"]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
