"""The rows of five published sources: found by name, run, compared with their formulas.

``python -m tests.sources.rows`` prints a line a row.
"""

from __future__ import annotations

import csv
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

from skeval.cli.catalogue import explanation_lines
from skeval.exceptions import InvalidParameterError
from tests.sources.checks import CHECKS


class Row(NamedTuple):
    """A feature of a source."""

    number: int
    source: str
    name: str
    formula: str
    ours: str
    compared: str  # "equal", with what differs by default; "other", why; "output", and its kind

    @property
    def kind(self) -> str:
        """Return the kind of output where nothing is a number."""
        return self.compared.removeprefix("output ") if "output " in self.compared else ""


def read_rows() -> list[Row]:
    """Return the rows, their checks being registered."""
    for source in ("aindo", "lecture", "mda", "sdmetrics", "syneval"):
        import_module(f"tests.sources.checks_{source}")
    with (Path(__file__).parent / "rows.csv").open(encoding="utf-8", newline="") as file:
        return [Row(int(one.pop("row")), *one.values()) for one in csv.DictReader(file)]


def found(name: str) -> str | None:
    """Return what `skeval explain` says first of a name, None if it says that nothing is so called."""
    try:
        return next(explanation_lines(name))
    except InvalidParameterError:
        return None


def check(one: Row) -> None:
    """Run a row; an AssertionError says what differs."""
    result = CHECKS[one.number]()
    if one.kind:
        assert one.kind in [kind.__name__ for kind in type(result).__mro__], type(result)
        return
    ours, own, *tolerance = result
    atol, rtol = (tolerance[0], 0.0) if tolerance else (1e-9, 1e-7)
    ours, own = (np.asarray(values, dtype=float) for values in (ours, own))
    assert np.isfinite(own).all()
    np.testing.assert_allclose(ours, own, rtol=rtol, atol=atol)


def main() -> None:
    """Print of each row what it is called here and whether it is equal."""
    warnings.simplefilter("ignore")
    rows = read_rows()
    for one in rows:
        try:
            check(one)
            said = one.compared
        except AssertionError as error:
            said = f"DIFFERS {' '.join(str(error).split())[:100]}"
        name = "" if found(one.name) else "NOT FOUND "
        sys.stdout.write(f"{one.number:3} {one.source:10} {name}{one.name}: {one.ours}: {said}\n")
    n_found = sum(found(one.name) is not None for one in rows)
    n_numbers = sum(not one.kind for one in rows)
    sys.stdout.write(f"{len(rows)} rows, {n_found} found by name, {n_numbers} of numbers\n")


if __name__ == "__main__":
    main()
