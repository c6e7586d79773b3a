"""Parts of results, that is, results with a value and results of one of several tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from skeval.results.provenance import Provenance
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import aspect_of


def results_with_value(results: Mapping[str, Result], aspect: str = "") -> dict[str, Result]:
    """Return the results with a value, optionally for one aspect."""
    return {
        name: one
        for name, one in results.items()
        if not one.error and not math.isnan(one.value) and aspect in ("", aspect_of(one))
    }


def names_of_tables(results: SuiteResult) -> tuple[str, ...]:
    """Return the names of the tables. A single table has no name."""
    return tuple(dict.fromkeys(one.table for one in results.values() if one.table))


def results_of_table(results: SuiteResult, table: str) -> SuiteResult:
    """Return the results of one table, or of metrics on all tables if the name is empty."""
    provenance = results.provenance
    own = {name: one for name, one in results.items() if one.table == table}
    if not table:
        return SuiteResult(own, sizes=results.sizes, provenance=provenance)
    sizes = _sizes(provenance, table) or results.sizes
    if provenance is not None:
        columns = tuple(replace(c, table="") for c in provenance.columns if c.table == table)
        provenance = replace(provenance, columns=columns)
    return SuiteResult(own, sizes=sizes, provenance=provenance)


def _sizes(provenance: Provenance | None, table: str) -> dict[str, int]:
    if provenance is None:
        return {}
    roles = {one.role: one.n_measured for one in provenance.inputs}
    return {
        role: n
        for whole, n in roles.items()
        for role, _, name in [whole.partition("/")]
        if name == table
    }
