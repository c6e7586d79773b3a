"""The game of both shadow attacks, with tables of generators that saw a row and of others."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, TypeVar

import numpy as np
import pandas as pd
from sklearn.model_selection import ParameterSampler

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import SHADOW_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import GeneratorAdapter, seeded_copy
from skeval.privacy.attacks.shadow.row_features import Reader
from skeval.privacy.attacks.shadow.targets import canaries, stack_tables, target_positions
from skeval.steps.member_rows import drawing_order
from skeval.tables.oddities import check_columns
from skeval.tables.one_table import as_frame
from skeval.tables.set_columns import with_columns
from skeval.utils.engines import current_engine
from skeval.utils.one_thread import one_thread
from skeval.utils.parameters import Count, JobCount, Legal, Seed

ALL = -1  # a fit that serves every target
WORLDS = (("shadow", True), ("shadow", False), ("test", True), ("test", False))
_SEED_LIMIT = 2**31
World = tuple[str, bool]
T = TypeVar("T")


Callback = Annotated[Callable[[int, int], object], Legal("a function", callable, "no function")]


def _fits_and_samples(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) == 2 and all(callable(part) for part in value)
    return all(callable(getattr(value, name, None)) for name in ("fit", "sample"))


GeneratorLike = Annotated[
    Any,
    Legal(
        "an object or class with fit and sample, or a pair of functions",
        _fits_and_samples,
        "no generator",
    ),
]


def _are_ranges(value: object) -> bool:
    """Return whether values can be drawn of each parameter."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(name, str) for name in value)
        and all(
            hasattr(one, "rvs") or (isinstance(one, list | tuple) and len(one) > 0)
            for one in value.values()
        )
    )


Ranges = Annotated[
    dict[str, Any],
    Legal(
        "a dict of names to lists of values, or to distributions with rvs",
        _are_ranges,
        {"epochs": 5},
    ),
]


@dataclass(frozen=True)
class Game:
    """Parameters that both attacks have in common, by their names."""

    generator: Any
    targets: Any
    n_targets: int
    features: str | Sequence[str]
    n_shadow: int
    n_eval: int
    n_rows: int | None
    n_copies: int
    classifier: Any
    game: str
    knowledge: str
    known_share: float
    access: str
    shadow_parameters: Mapping[str, Any] | None
    random_state: int
    adjacency: str = "add"
    secret: str | None = None
    n_values: int = 1

    @property
    def learns(self) -> bool:
        """Whether the attacker makes tables to learn from."""
        return self.access != "no-box"

    @property
    def n_wanted_targets(self) -> int:
        """Number of requested targets."""
        return self.n_targets if isinstance(self.targets, str) else len(self.targets)

    @property
    def faults(self) -> list[str]:
        """Errors for parameters that contradict each other."""
        faults = []
        if self.knowledge != "auxiliary" and self.game != "model_seeded":
            faults.append(
                f"knowledge={self.knowledge!r} requires game='model_seeded', because an attacker "
                "cannot know rows that are drawn again each time"
            )
        if (self.access == "uncertain-box") != (self.shadow_parameters is not None):
            faults.append("access='uncertain-box' and shadow_parameters require each other")
        return faults

    def n_fits(self, phase: str) -> int:
        """Return the number of tables of one kind, which is 0 for learning without a generator."""
        if phase == "test":
            return self.n_eval
        return self.n_shadow if self.learns else 0

    def uses_train(self, phase: str) -> bool:
        """Return whether the rows around the target are the training rows, and not drawn."""
        return self.game == "model_seeded" and (phase == "test" or self.knowledge == "exact")


# ------------------------------------------------------------------------- the rows of a game


@dataclass(frozen=True)
class GameRows:
    """The rows that the tables of a game are drawn from, by position in one table of them all."""

    game: Game
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
        """Number of values of the sensitive attribute, or 1 without such an attribute."""
        return int(self.targets.shape[1])

    @property
    def are_of_train(self) -> bool:
        """Whether the targets are training rows."""
        return self.originals.size > 0

    @property
    def n_drawn(self) -> int:
        """Number of rows of a table that is drawn."""
        half = min(self.test_pool.size, self.shadow_pool.size) // 2
        return half if self.game.n_rows is None else self.game.n_rows

    @property
    def n_test_rows(self) -> int:
        """Number of rows around the target in a table that is tested."""
        if self.game.game == "model_seeded":
            return self.train.size - int(self.are_of_train)
        return self.n_drawn

    def serves_all(self, phase: str, inside: bool) -> bool:
        """Return whether the tables of a world serve all targets."""
        # train is the world with each of its rows. Otherwise, it is the world without any of the
        # targets
        if self.game.uses_train(phase) and self.are_of_train:
            return inside and self.n_values == 1
        return not inside

    def without(self, target: int) -> np.ndarray:
        """Return train, without the target if it is there."""
        if target == ALL or not self.are_of_train:
            return self.train
        return self.train[self.train != self.originals[target]]

    @property
    def known_part(self) -> tuple[np.ndarray, int]:
        """Training rows known with uncertainty, and the number of unknown rows."""
        n_rows = self.train.size - int(self.are_of_train)
        known = self.test_pool[: round(self.game.known_share * n_rows)]
        return known, n_rows - known.size

    @property
    def faults(self) -> list[str]:
        """Errors for parameters that require more rows."""
        fewest, faults = min(self.test_pool.size, self.shadow_pool.size), []
        if self.game.n_rows is not None and self.game.n_rows > fewest:
            faults.append(f"n_rows must be at most {fewest}, the rows of the smaller pool")
        _, n_missing = self.known_part
        uncertain = self.game.knowledge == "exact-with-uncertainty"
        if uncertain and n_missing > self.shadow_pool.size:
            faults.append(
                f"known_share={self.game.known_share:g} requires {n_missing} rows from "
                f"the holdout, which has {self.shadow_pool.size} for this purpose. Increase it"
            )
        return faults


@shared
def given_rows(context: Context) -> pd.DataFrame:
    """Return the training rows, then the holdout rows, as passed by the user."""
    names = list(context.schema.kinds)
    return stack_tables([context.original_frame(role)[names] for role in ("train", "holdout")])


@shared
def game_rows(context: Context, game: Game) -> GameRows:
    """Return the rows of a game."""
    positions, own = _choose_targets(context, game)
    table, chosen = given_rows(context), positions
    if own is not None:
        chosen = len(table) + np.arange(len(own))
        table = stack_tables([table, own])
    every = chosen[:, None]
    if game.secret is not None:
        table, every = _with_secrets(context, table, chosen, game.secret, game.n_values)
    seed = game.random_state
    train = drawing_order(context, "train", seed)
    holdout = context.n_rows("train") + drawing_order(context, "holdout", seed)
    # equal numbers for rows equal in all columns that are measured
    cells = np.nan_to_num(Reader.from_context(context).rows(table), nan=np.inf)
    classes = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    equal = np.isin(classes, classes[np.append(chosen, every.ravel())])
    n_in_train = int(np.isin(classes[chosen], classes[train]).sum())
    test_pool, shadow_pool = train[~equal[train]], holdout[~equal[holdout]]
    if own is not None:  # the two worlds are train without them, and with one of them
        train = train[~np.isin(classes[train], classes[chosen])]
    return GameRows(game, table, train, test_pool, shadow_pool, every, positions, n_in_train)


def _choose_targets(context: Context, game: Game) -> tuple[np.ndarray, pd.DataFrame | None]:
    """Return positions in the training data, or no positions and rows that are not in any table."""
    none, targets = np.empty(0, dtype=np.int64), game.targets
    if isinstance(targets, str):
        if targets == "canary":
            return none, canaries(context, game.n_targets)
        positions = target_positions(context, targets, game.n_targets, seed=game.random_state)
        return positions, None
    if not hasattr(targets, "columns"):
        check_positions(targets, context.n_rows("train"))
        return np.argsort(context.places("train"))[list(targets)], None
    names, own = list(context.schema.kinds), as_frame(targets, "targets")
    check_columns(list(own.columns), names, "targets", exact=False)
    return none, own[names]


def check_positions(targets: Any, n_train: int) -> None:
    """Raise if positions exceed the number of training rows."""
    if not isinstance(targets, str) and max(targets) >= n_train:
        raise InvalidParameterError(
            f"targets must be positions of train rows, below {n_train}, got {max(targets)}."
        )


def _with_secrets(
    context: Context, table: pd.DataFrame, chosen: np.ndarray, secret: str, n_values: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Append rows that are the targets with each of several values of a secret column."""
    sources = secret_sources(context, secret, n_values)
    rows = table.iloc[np.repeat(chosen, sources.size)].reset_index(drop=True)
    cells = table[secret].iloc[np.tile(sources, chosen.size)].reset_index(drop=True)
    places = len(table) + np.arange(len(rows)).reshape(chosen.size, sources.size)
    return stack_tables([table, with_columns(rows, {secret: cells})]), places


def secret_sources(context: Context, secret: str, n_values: int) -> np.ndarray:
    """Return real rows with the sensitive values from which an attacker chooses."""
    reader = Reader.from_context(context)
    values = reader.rows(given_rows(context))[:, reader.names.index(secret)]
    levels, first, counts = np.unique(values, return_index=True, return_counts=True)
    known = ~np.isnan(levels)
    levels, first, counts = levels[known], first[known], counts[known]
    if secret in context.levels:
        kept = np.sort(np.argsort(-counts, kind="stable")[:n_values])
        return first[kept]
    reached = np.cumsum(counts) / max(1, counts.sum())
    quantiles = (np.arange(n_values) + 0.5) / n_values
    places = np.minimum(np.searchsorted(reached, quantiles - 1e-12), max(0, levels.size - 1))
    return first[np.unique(places)] if levels.size else first


# --------------------------------------------------------------------------- the fits of a game


@dataclass(frozen=True)
class Fit:
    """One fit of the generator."""

    rows: np.ndarray
    seed: int
    phase: str = "test"
    inside: bool = True
    target: int = ALL
    value: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)


def plan(rows: GameRows, worlds: Sequence[World] = WORLDS) -> list[Fit]:
    """Return all fits of a game."""
    fits: list[Fit] = []
    for phase, inside in worlds:
        for target in [ALL] if rows.serves_all(phase, inside) else range(rows.n_targets):
            fits += _fits(rows, phase, inside, target)
    return fits


def _fits(rows: GameRows, phase: str, inside: bool, target: int) -> list[Fit]:
    """Return the fits of one kind, with random numbers independent of the other kinds."""
    game = rows.game
    stream = zlib.crc32(f"{phase} {inside} {target}".encode())
    rng = np.random.default_rng([game.random_state, stream])
    n_fits = game.n_fits(phase)
    values = np.arange(n_fits) % rows.n_values  # equal numbers of each value to learn from
    if phase == "test":
        values = rng.integers(rows.n_values, size=n_fits)
    fits = []
    for value in values:
        drawn = _rows_of_fit(rows, phase, inside, target, rng)
        if inside and target != ALL:
            drawn = np.append(drawn, rows.targets[target, value])
        seed = int(rng.integers(_SEED_LIMIT))
        drawn, parameters = rng.permutation(drawn), {}
        if phase == "shadow" and game.shadow_parameters is not None:
            sampler_seed = int(rng.integers(_SEED_LIMIT))
            ranges = dict(game.shadow_parameters)
            (parameters,) = ParameterSampler(ranges, 1, random_state=sampler_seed)
        fits.append(Fit(drawn, seed, phase, inside, target, int(value), dict(parameters)))
    return fits


def _rows_of_fit(
    rows: GameRows, phase: str, inside: bool, target: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the rows around the target, from the training data or a new draw.

    If a target replaces another row, there is one fewer with the target, or one more without.
    """
    game, replaces = rows.game, rows.game.adjacency == "replace"
    if game.uses_train(phase):
        train = rows.without(target)
        if not replaces:
            return train
        if rows.are_of_train:  # the world without the target has another row
            other = rng.choice(rows.shadow_pool, 1)
            return train if inside else np.append(train, other)
        left_out = rng.integers(train.size)
        return np.delete(train, left_out) if inside else train
    pool, n_drawn, known = rows.shadow_pool, rows.n_drawn, np.empty(0, dtype=np.int64)
    if phase == "test":
        pool = rows.test_pool
    elif game.knowledge == "exact-with-uncertainty":
        known, n_drawn = rows.known_part
    drawn = np.append(rng.choice(pool, n_drawn, replace=False), known)
    return drawn[1:] if replaces and inside else drawn


# -------------------------------------------------------------------------------- running fits


@dataclass(frozen=True)
class Execution:
    """Settings of the execution of fits. They do not affect results, so all have the same hash."""

    n_jobs: int | None = None
    progress: Callable[[int, int], object] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {}  # shared steps use this as the key


def play(
    generator: Any,
    table: pd.DataFrame,
    fits: list[Fit],
    measure: Callable[[pd.DataFrame, int], T],
    *,
    n_synthetic: int,
    n_copies: int = 1,
    execution: Execution | None = None,
) -> Iterator[list[T]]:
    """Run fits, and give what is measured of their tables, in the order of the fits."""
    execution = execution or Execution()
    table = table.copy()  # with contiguous columns, from which rows are taken faster
    tasks = (
        (
            seeded_copy(generator, fit.seed, fit.parameters),
            _take_rows(table, fit.rows),
            fit,
            measure,
            n_synthetic,
            n_copies if fit.phase == "shadow" else 1,
        )
        for fit in fits
    )
    for i, measured in enumerate(current_engine(execution.n_jobs).map(_fit_and_measure, tasks)):
        if execution.progress is not None:
            execution.progress(i + 1, len(fits))
        yield measured


def _take_rows(table: pd.DataFrame, rows: np.ndarray) -> pd.DataFrame:
    """Return some rows under a plain index."""
    taken = table.take(rows)
    taken.index = pd.RangeIndex(len(rows))  # in place: wide tables are copied for long
    return taken


def _fit_and_measure(
    adapter: GeneratorAdapter,
    rows: pd.DataFrame,
    fit: Fit,
    measure: Callable[[pd.DataFrame, int], T],
    n_synthetic: int,
    n_copies: int,
) -> list[T]:
    # sums of floats, and hence rows, would depend on the number of threads
    with one_thread():
        fitted = adapter.fit(rows)
        seeds = np.random.SeedSequence(fit.seed).generate_state(n_copies)
        return [
            measure(fitted.sample(n_synthetic, random_state=int(seed)), fit.target)
            for seed in seeds
        ]


def check_cost(owner: str, n_fits: int, max_fits: int, cure: str) -> None:
    """Raise if more fits are needed than allowed."""
    if n_fits > max_fits:
        raise InvalidParameterError(
            f"{owner} would fit the generator {n_fits} times, more than max_fits={max_fits}. "
            f"Reduce {cure}, or increase max_fits."
        )


@declared
class GeneratorAttack(Metric):
    """Base class of the attacks that fit the generator themselves.

    Parameters
    ----------
    generator : object, class or pair of callables
        Any generator that :class:`~skeval.generators.GeneratorAdapter` accepts. It is cloned for
        each fit with a different seed, and the original object is never fitted.
    max_fits : int, default=1000
        Maximum number of fits. If the metric requires more, fit raises an error.
    progress : callable, optional
        Called as ``progress(n_done, n_total)`` after each fit.
    n_jobs : int, optional
        Number of processes. None uses one process, and -1 uses all cores. The result does not
        depend on the number.
    random_state : int, default=0
        Seed of all random numbers, the fits and the models that learn from their tables.
    """

    tags = SHADOW_TAGS

    generator: GeneratorLike
    _: KW_ONLY
    max_fits: Count = 1000
    progress: Callback | None = None
    n_jobs: JobCount | None = None
    random_state: Seed = 0

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table."""
        raise NotImplementedError(f"{type(self).__name__} must define estimate_cost.")

    @property
    def _execution(self) -> Execution:
        """Settings of the execution of the fits."""
        return Execution(self.n_jobs, self.progress)
