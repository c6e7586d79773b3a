"""Results as flat numbers, with names that experiment trackers accept."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from skeval.results.result import Result
from skeval.results.verdict import Verdict
from skeval.utils.formatting import as_float

_MAX_LENGTH = 240  # maximum length of a name. The limit of MLflow is 250.
_ILLEGAL = re.compile(r"[^A-Za-z0-9_.\- /]")
_FIELDS = ("baseline", "low", "high", "diff_low", "diff_high", "observed", "expected", "p_value")


def tracked_metrics(results: Mapping[str, Result], found: Verdict, prefix: str) -> dict[str, float]:
    """Return finite numbers by valid names, for :meth:`skeval.SuiteResult.to_metrics`."""
    flat = {
        "verdict.alarm": float(found.alarm),
        "verdict.copies": float(found.copies),
        "verdict.n_tests": float(found.n_tests),
        "verdict.n_facts": float(len(found.facts)),
    }
    for name, result in results.items():
        row = result.row()
        flat |= {name: result.value, **{f"{name}.{field}": row[field] for field in _FIELDS}}
    metrics: dict[str, float] = {}
    for name, value in flat.items():
        if math.isfinite(as_float(value)):
            metrics[_make_unique(_make_legal(prefix + name), metrics)] = float(value)
    return metrics


def _make_legal(name: str) -> str:
    """Return a name of ASCII letters that trackers accept, as a normalized path."""
    parts = (part.strip() for part in _ILLEGAL.sub("_", name).split("/"))
    return "/".join(part for part in parts if part.strip("."))[:_MAX_LENGTH].rstrip("/ ") or "_"


def _make_unique(name: str, taken: Mapping[str, float]) -> str:
    """Return a unique name. Some trackers do not distinguish between upper and lower case."""
    lower, number, unique = {one.lower() for one in taken}, 1, name
    while unique.lower() in lower:
        number += 1
        unique = f"{name}_{number}"
    return unique
