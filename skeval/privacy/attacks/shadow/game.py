"""The game: tables made by a generator that saw one row, and tables made by one that did not."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.model_selection import ParameterSampler
from threadpoolctl import ThreadpoolController

from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import GeneratorAdapter, reseeded

ALL = -1  # a fit that says something of every target
WORLDS = (("shadow", True), ("shadow", False), ("test", True), ("test", False))
_SEED_LIMIT = 2**31
Progress = Callable[[int, int], object]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Rules:
    """How tables are drawn.

    Attributes
    ----------
    game : {"average", "model_seeded"}
        Whether each test table has other rows beside the target, or those of train in all.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}
        Whether the attacker learns from rows of the holdout, or from train without the target, or
        from a part of it with rows of the holdout in the place of the others.
    adjacency : {"add", "replace"}
        Whether the target comes on top of the other rows, or in the place of one.
    n_shadow, n_test : int
        Fits with a target, and as many without: to learn from, and to be tested on.
    n_rows : int or None
        Rows of a table that is drawn; half of the smaller pool if None.
    seed : int
        Of everything.
    known_share : float, default=0.5
        How much of train is known, with uncertainty.
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        Whether the attacker runs the generator with its parameters, with others, or not at all.
    shadow_parameters : mapping of str to list or distribution, optional
        What the attacker takes for the parameters of the generator, in an uncertain box.
    """

    game: str
    knowledge: str
    adjacency: str
    n_shadow: int
    n_test: int
    n_rows: int | None
    seed: int
    known_share: float = 0.5
    access: str = "black-box"
    shadow_parameters: Mapping[str, Any] | None = None

    @property
    def learns(self) -> bool:
        """Whether the attacker makes tables to learn from."""
        return self.access != "no-box"

    @property
    def faults(self) -> list[str]:
        """What contradicts itself."""
        told = {
            f"knowledge={self.knowledge!r} goes with game='model_seeded': of rows that are drawn "
            "anew each time nobody knows which they are": self.knowledge != "auxiliary"
            and self.game != "model_seeded",
            "access='uncertain-box' goes with shadow_parameters, and they with it": (
                (self.access == "uncertain-box") != (self.shadow_parameters is not None)
            ),
        }
        return [fault for fault, present in told.items() if present]

    def n_fits(self, phase: str) -> int:
        """Return how many tables of one kind are made; who has no generator learns from none."""
        if phase == "test":
            return self.n_test
        return self.n_shadow if self.learns else 0


@dataclass(frozen=True)
class Arena:
    """The rows that tables are drawn from, by position in one table of them all.

    Attributes
    ----------
    table : DataFrame
        Rows of train, of the holdout, then those that are in neither.
    train : ndarray of int
        All rows of train, in an order that does not depend on how the table is ordered; without
        those that equal a target that was given as a row of one's own.
    test_pool, shadow_pool : ndarray of int
        Rows of train, of the holdout, that no target is equal to.
    targets : ndarray of shape (n_targets, n_values)
        Each target, or each with one of several values of a secret column.
    originals : ndarray of shape (n_targets,) or empty
        Which rows of train the targets are; empty if they are rows of one's own.
    n_in_train : int
        How many targets train has a row equal to.
    """

    table: pd.DataFrame
    train: np.ndarray
    test_pool: np.ndarray
    shadow_pool: np.ndarray
    targets: np.ndarray
    originals: np.ndarray
    n_in_train: int

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.targets)

    @property
    def n_values(self) -> int:
        """Number of values of the secret; 1 if there is no secret."""
        return int(self.targets.shape[1])

    @property
    def are_of_train(self) -> bool:
        """Whether the targets are rows of train."""
        return self.originals.size > 0

    def n_drawn(self, rules: Rules) -> int:
        """Return the number of rows of a table that is drawn."""
        half = min(self.test_pool.size, self.shadow_pool.size) // 2
        return half if rules.n_rows is None else rules.n_rows

    def n_tested(self, rules: Rules) -> int:
        """Return the number of rows beside the target, of a table that is tested on."""
        if rules.game == "model_seeded":
            return self.train.size - int(self.are_of_train)
        return self.n_drawn(rules)

    def known(self, target: int) -> np.ndarray:
        """Return train, without the target if it is there."""
        if target == ALL or not self.are_of_train:
            return self.train
        return self.train[self.train != self.originals[target]]

    def half_known(self, share: float) -> tuple[np.ndarray, int]:
        """Return the rows of train that somebody knows of a share, and how many are missing.

        No target is among them.
        """
        n_rows = self.train.size - int(self.are_of_train)
        known = self.test_pool[: round(share * n_rows)]
        return known, n_rows - known.size

    def faults(self, rules: Rules) -> list[str]:
        """Return which rules these rows are too few for."""
        fewest, told = min(self.test_pool.size, self.shadow_pool.size), []
        if rules.n_rows is not None and rules.n_rows > fewest:
            told.append(f"n_rows must be at most {fewest}, the rows of the smaller pool")
        _, n_missing = self.half_known(rules.known_share)
        if rules.knowledge == "exact-with-uncertainty" and n_missing > self.shadow_pool.size:
            told.append(
                f"known_share={rules.known_share:g} leaves {n_missing} rows to be drawn from the "
                f"holdout, which has {self.shadow_pool.size} for it; raise it"
            )
        return told


@dataclass(frozen=True)
class Fit:
    """One fit of the generator.

    Attributes
    ----------
    phase : {"shadow", "test"}
        Whether the attack learns from it or is tested on it.
    inside : bool
        Whether the target is in.
    target : int
        Which; `ALL` where the fit serves all of them.
    value : int
        Which value of the secret column the target has.
    rows : ndarray of int
        The rows of the arena that it learns from, in random order.
    seed : int
        Of the generator.
    parameters : dict
        That it is run with in the place of its own.
    """

    phase: str
    inside: bool
    target: int
    value: int
    rows: np.ndarray
    seed: int
    parameters: dict[str, Any] = field(default_factory=dict)


class _World:
    """Tables of one kind; no other kind's number of fits changes what is drawn for it."""

    def __init__(self, rules: Rules, arena: Arena, phase: str, inside: bool, target: int) -> None:
        self.rules, self.arena = rules, arena
        self.phase, self.inside, self.target = phase, inside, target
        name = f"{phase} {inside} {target}"
        self.rng = np.random.default_rng([rules.seed, zlib.crc32(name.encode())])

    def fits(self) -> list[Fit]:
        """Return the fits of this world."""
        n_fits = self.rules.n_fits(self.phase)
        values = np.arange(n_fits) % self.arena.n_values  # as many of each to learn from
        if self.phase == "test":
            values = self.rng.integers(self.arena.n_values, size=n_fits)
        return [self._fit(int(value)) for value in values]

    def _fit(self, value: int) -> Fit:
        rows = self._fixed() if _is_fixed(self.rules, self.phase) else self._drawn()
        if self.inside and self.target != ALL:
            rows = np.append(rows, self.arena.targets[self.target, value])
        seed = int(self.rng.integers(_SEED_LIMIT))
        rows = self.rng.permutation(rows)
        return Fit(self.phase, self.inside, self.target, value, rows, seed, self._parameters())

    def _parameters(self) -> dict[str, Any]:
        ranges = self.rules.shadow_parameters
        if self.phase == "test" or ranges is None:
            return {}
        seed = int(self.rng.integers(_SEED_LIMIT))
        (drawn,) = ParameterSampler(dict(ranges), 1, random_state=seed)
        return dict(drawn)

    def _drawn(self) -> np.ndarray:
        """Return rows that differ from fit to fit; one fewer where a target replaces one."""
        pool, known = self.arena.shadow_pool, np.empty(0, dtype=np.int64)
        n_drawn = self.arena.n_drawn(self.rules)
        if self.phase == "test":
            pool = self.arena.test_pool
        elif self.rules.knowledge == "exact-with-uncertainty":
            known, n_drawn = self.arena.half_known(self.rules.known_share)
        drawn = np.append(self.rng.choice(pool, n_drawn, replace=False), known)
        return drawn[1:] if self._replaces and self.inside else drawn

    def _fixed(self) -> np.ndarray:
        """Return train; without the target, or with another row in its place."""
        rows = self.arena.known(self.target)
        if not self._replaces:
            return rows
        if self.arena.are_of_train:  # the world without the target has another row
            other = self.rng.choice(self.arena.shadow_pool, 1)
            return rows if self.inside else np.append(rows, other)
        gone = self.rng.integers(rows.size)
        return np.delete(rows, gone) if self.inside else rows

    @property
    def _replaces(self) -> bool:
        return self.rules.adjacency == "replace"


def _is_fixed(rules: Rules, phase: str) -> bool:
    return rules.game == "model_seeded" and (phase == "test" or rules.knowledge == "exact")


def plan(rules: Rules, arena: Arena, worlds: Sequence[tuple[str, bool]] = WORLDS) -> list[Fit]:
    """Return all fits of a game.

    Parameters
    ----------
    rules : Rules
        How tables are drawn.
    arena : Arena
        What from. Where targets have one of several values of a secret, there are as many of each
        to learn from, and random ones to be tested on.
    worlds : sequence of (str, bool)
        Phases, and whether the target is in.

    Returns
    -------
    list of Fit
        Those that do not depend on which target is asked about serve all.
    """
    fits: list[Fit] = []
    for phase, inside in worlds:
        # train is the world with each of its rows; else it is the one without any of the targets
        of_train = _is_fixed(rules, phase) and arena.are_of_train
        serves_all = inside and arena.n_values == 1 if of_train else not inside
        for target in [ALL] if serves_all else range(arena.n_targets):
            fits += _World(rules, arena, phase, inside, target).fits()
    return fits


class Measure(Protocol[T_co]):
    """What is kept of a table that a fit gave."""

    def __call__(self, table: pd.DataFrame, target: int) -> T_co:
        """Return what is kept of `table` in the game about `target`."""


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
