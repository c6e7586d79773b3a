"""Inputs that a metric requires but that are missing, each with a fix."""

from __future__ import annotations

from typing import NamedTuple

# by need, what is missing and how to fix it
_UNMET = {
    "holdout": (
        "requires holdout data, but none were passed.",
        "Pass real rows that the generator did not see: fit(train, holdout=rows).",
    ),
    "keys": (
        "needs a primary key.",
        "Pass a schema with the key: fit(train, schema=TableSchema(...)).",
    ),
    "relational": (
        "compares several tables.",
        "Pass them by name: "
        "fit({{'users': users, 'orders': orders}}, schema=RelationalSchema(...)).",
    ),
    "text": (
        "needs a text column, and the table has none.",
        "Specify one: fit(train, schema={{column: 'text'}}).",
    ),
    "target": (
        "needs a target, which must be a column of the table that can be evaluated.",
        "Specify it: {metric}(target=column).",
    ),
    "one table": (
        "evaluates one table, and several were given.",
        "Wrap it: PerTable({metric}(...)), or PerSubject({metric}(...)) for the subjects with all "
        "their rows.",
    ),
}


class Unmet(NamedTuple):
    """Missing input of a metric with the fix, and the name of the need if it has one."""

    reason: str
    need: str = ""


def unmet(need: str, metric: str, lack: str = "") -> Unmet:
    """Return the missing input of a metric, with the metric's own words if they are given."""
    known, cure = _UNMET[need]
    return Unmet(f"{lack or known} {cure.format(metric=metric)}", need)
