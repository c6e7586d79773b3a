"""Fits of a game, run: one after another or several at once, with the same bits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from skeval.exceptions import InvalidParameterError
from skeval.generators._copies import reseeded
from skeval.generators.adapter import GeneratorAdapter
from skeval.privacy.attacks._shadow_game import Fit

__all__ = [
    "Execution",
    "Measure",
    "check_cost",
    "play",
]

Progress = Callable[[int, int], object]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Measure(Protocol[T_co]):
    """What is kept of a table that a fit gave."""

    def __call__(self, table: pd.DataFrame, target: int) -> T_co: ...


@dataclass(frozen=True)
class Execution:
    """How fits are run, which no result depends on: it is the same whatever its hash is taken of.

    Attributes
    ----------
    n_jobs : int or None
        Processes.
    progress : callable or None
        Called with the number of fits that are done, and of all.
    """

    n_jobs: int | None = None
    progress: Progress | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {}  # shared steps go by this


def play(
    generator: Any,
    table: pd.DataFrame,
    fits: list[Fit],
    measure: Measure[T],
    *,
    n_synthetic: int,
    n_copies: int = 1,
    execution: Execution | None = None,
) -> Iterator[list[T]]:
    """Run fits, and give what is measured of their tables, in the order of the fits.

    Parameters
    ----------
    generator : object
        What :class:`~skeval.generators.GeneratorAdapter` takes; it is cloned for each fit.
    table : DataFrame
        That the fits take rows of.
    fits : list of Fit
        As :func:`plan` gives them.
    measure : callable
        Of a synthetic table and the target of the fit.
    n_synthetic : int
        Rows of a synthetic table.
    n_copies : int, default=1
        Tables that are sampled of each fit to learn from; of one to be tested on it is one.
    execution : Execution, optional
        Processes and progress.

    Yields
    ------
    list
        What was measured of each table of a fit.
    """
    execution = execution or Execution()
    calls = (
        delayed(_played)(
            reseeded(generator, fit.seed, fit.parameters),
            table.iloc[fit.rows].reset_index(drop=True),
            fit,
            measure,
            n_synthetic,
            n_copies if fit.phase == "shadow" else 1,
        )
        for fit in fits
    )
    found = Parallel(n_jobs=execution.n_jobs, return_as="generator")(calls)
    for i, measured in enumerate(found):
        if execution.progress is not None:
            execution.progress(i + 1, len(fits))
        yield measured


def _played(
    adapter: GeneratorAdapter,
    rows: pd.DataFrame,
    fit: Fit,
    measure: Measure[T],
    n_synthetic: int,
    n_copies: int,
) -> list[T]:
    # sums of floats, and hence rows, would depend on the number of threads
    with _threads(len(sys.modules)).limit(limits=1):
        fitted = adapter.fit(rows)
        seeds = np.random.SeedSequence(fit.seed).generate_state(n_copies)
        return [
            measure(fitted.sample(n_synthetic, random_state=int(seed)), fit.target)
            for seed in seeds
        ]


@lru_cache(maxsize=1)
def _threads(n_modules: int) -> ThreadpoolController:
    """Return what holds down threads; looked for anew once more modules are loaded."""
    return ThreadpoolController()


def check_cost(owner: str, n_fits: int, max_fits: int, cure: str) -> None:
    """Refuse to run more fits than are allowed.

    Raises
    ------
    InvalidParameterError
        In one sentence with the number.
    """
    if n_fits > max_fits:
        raise InvalidParameterError(
            f"{owner} would fit the generator {n_fits} times, more than max_fits={max_fits}; lower "
            f"{cure}, or raise max_fits."
        )
