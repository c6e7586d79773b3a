"""Needs of a metric that the tables leave unmet, each with its cure."""

from __future__ import annotations

from typing import NamedTuple

# by need, what is missing and the remedy
_UNMET = {
    "holdout": (
        "compares against holdout rows, and none were given.",
        "Pass them: fit(train, holdout=rows).",
    ),
    "keys": (
        "needs a primary key.",
        "Pass a schema that names it: fit(train, schema=TableSchema(...)).",
    ),
    "relational": (
        "compares several tables.",
        "Pass them by name: "
        "fit({{'users': users, 'orders': orders}}, schema=RelationalSchema(...)).",
    ),
    "text": (
        "needs a text column, and the table has none.",
        "Name one: fit(train, schema={{column: 'text'}}).",
    ),
    "target": (
        "needs a target, a column of the table that can be measured.",
        "Name it: {metric}(target=column).",
    ),
    "one table": (
        "measures one table, and several were given.",
        "Lift it: PerTable({metric}(...)), or PerSubject({metric}(...)) for the subjects with all "
        "their rows.",
    ),
}


class Unmet(NamedTuple):
    """What the tables lack for a metric, with the cure, and the need by name if it is one."""

    reason: str
    need: str = ""


def unmet(need: str, metric: str, lack: str = "") -> Unmet:
    """Return what the tables lack of a need of a metric, in words of its own if it has some."""
    known, cure = _UNMET[need]
    return Unmet(f"{lack or known} {cure.format(metric=metric)}", need)
