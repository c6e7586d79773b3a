"""What other processes compile while a command reads tables: the search, and attacks.

They are run by :mod:`skeval.utils.ahead` as ``python -m skeval.cli.ahead PART``.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

_LONG = 3 * "1999,2,20.5,-3.25,17,"  # a row of many columns as a text


def compile_search() -> None:
    """Compile the search, as it is called on rows of numbers and codes."""
    from skeval.neighbors.mixed import MixedNearestNeighbors

    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(300, 2)), rng.integers(0, 3, (300, 2))])
    near = MixedNearestNeighbors(categorical=[2, 3], backend="numba").fit(rows)
    near.kneighbors(rows, 2, exclude=np.arange(300))
    near.nearest_labels(rows, np.arange(300) < 150)


def compile_attacks() -> None:
    """Compile what counts edits between rows, and what counts matches of predicates."""
    from skeval.datasets import make_mixed
    from skeval.privacy import AnonymeterRisk
    from skeval.steps.members import nearest_edits

    nearest_edits([_LONG, _LONG[1:]], [_LONG[2:], _LONG])
    tables = [make_mixed(200, random_state=seed) for seed in range(3)]
    AnonymeterRisk(n_attacks=50).fit(*tables[:2]).evaluate(tables[2])


PARTS = {"search": compile_search, "attacks": compile_attacks}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    PARTS[sys.argv[1]]()
