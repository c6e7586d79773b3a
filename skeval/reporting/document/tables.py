"""The results of each of several tables, with what is known of that table alone."""

from __future__ import annotations

from dataclasses import replace

from skeval.results.provenance import Provenance
from skeval.results.suite_result import SuiteResult


def names_of_tables(results: SuiteResult) -> tuple[str, ...]:
    """Return the names of the tables; none if there is only one, which has no name."""
    return tuple(dict.fromkeys(one.table for one in results.values() if one.table))


def results_of_table(results: SuiteResult, table: str) -> SuiteResult:
    """Return the results of one table; without a name those of metrics of all tables."""
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
