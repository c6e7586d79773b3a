"""What both shadow attacks have in common: parameters, refusals, and the largest of advantages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.stats import binom

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.formatting import as_float
from skeval.generators.adapter import unknown_parameters
from skeval.privacy.attacks.shadow.features import feature_names, measure_of
from skeval.privacy.attacks.shadow.game import (
    ALL,
    Execution,
    Game,
    World,
    check_cost,
    game_rows,
    plan,
    play,
)
from skeval.result import Result, undefined
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import holm, share_p_value
from skeval.tags import SHADOW_TAGS
from skeval.verdict import ALARM_LEVEL, TEST_LEVEL, Contrast

_FEW = 50  # tables that a target is tested on
_N_DRAWS = 2000
# by world, for each target: of each fit the value of the secret, and the features of its tables
Observed = dict[World, list[tuple[list[int], list[np.ndarray]]]]


class ShadowAttack(Metric):
    """Base of the attacks that learn from tables of generators which they ran themselves.

    Subclasses say what cannot be attacked (`_lacking`), and test each target (`_tested`).
    """

    tags = replace(SHADOW_TAGS, bounds=(-1.0, 1.0))

    n_synthetic: int | None
    confidence: float
    max_fits: int
    n_jobs: int | None
    progress: Any

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table."""
        raise NotImplementedError

    @property
    def _game(self) -> Game:
        values = self.get_params(deep=False)
        if isinstance(values["targets"], np.ndarray):  # shared steps make theirs read-only
            values["targets"] = values["targets"].copy()
        names = [one.name for one in fields(Game) if one.name in values]
        return Game(**{name: values[name] for name in names})

    def _lacking(self, context: Context) -> str:
        """Say why nothing can be attacked in these tables; empty if something can."""
        raise NotImplementedError

    def _tested(
        self, context: Context, game: Game, n_synthetic: int, execution: Execution
    ) -> Result:
        """Test the generator on tables of `n_synthetic` rows."""
        raise NotImplementedError

    def _faults(self) -> list[str]:
        """Return which parameters of the attack contradict those of the game."""
        return []

    def _prepare(self, context: Context) -> None:
        owner, cure = type(self).__name__, "n_targets, n_shadow or n_eval"
        check_cost(owner, self.estimate_cost(), self.max_fits, cure)
        faults = [*game_faults(self._game), *self._faults()]
        if not self._lacking(context):
            faults += game_rows(context, self._game).faults
        if faults:
            raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")

    def _compute(self, context: Context) -> Result:
        if reason := self._lacking(context):
            return undefined(reason)
        game = self._game
        if game_rows(context, game).n_drawn < 2:
            return undefined("train and holdout have too few rows to draw tables from.")
        n_synthetic = self.n_synthetic or context.n_rows("synthetic")
        return self._tested(context, game, n_synthetic, Execution(self.n_jobs, self.progress))


def game_faults(game: Game) -> list[str]:
    """Return which parameters of a game contradict each other."""
    faults = list(game.faults)
    if unknown := unknown_parameters(game.generator, game.shadow_parameters or {}):
        faults.append(f"the generator has no parameter {', '.join(unknown)}, of shadow_parameters")
    if not game.learns and not feature_names(game.features, learns=False):
        faults.append("access='no-box' takes 'query' or 'closest' as features: others are learned")
    return faults


def observed(
    context: Context, game: Game, worlds: Sequence[World], n_synthetic: int, execution: Execution
) -> tuple[Observed, int]:
    """Play a game; return what the attacker sees of all tables, and the number of fits.

    Features of the tables of one fit are of shape (n_copies, n_features).
    """
    rows = game_rows(context, game)
    fits = plan(rows, worlds)
    tables = play(
        game.generator,
        rows.table,
        fits,
        measure_of(context, rows, n_synthetic),
        n_synthetic=n_synthetic,
        n_copies=game.n_copies,
        execution=execution,
    )
    seen: Observed = {world: [([], []) for _ in range(rows.n_targets)] for world in worlds}
    for fit, vectors in zip(fits, tables, strict=True):
        targets = range(rows.n_targets) if fit.target == ALL else [fit.target]
        for place, i in enumerate(targets):
            values, features = seen[fit.phase, fit.inside][i]
            values.append(fit.value)
            own = [one[place] for one in vectors]
            features.append(np.stack(own) if len(own) > 1 else own[0][None])
    return seen, len(fits)


def most_exposed(result: Result) -> Any:
    """Return what is said of the target with the largest advantage."""
    return max(result.details["targets"], key=lambda target: as_float(target["advantage"]))


@dataclass(frozen=True)
class Advantage:
    """A share of hits, less the share without the target or the share that chance gives.

    Attributes
    ----------
    n_hits, n : int
        Hits, and all tables, of those made with the target.
    n_hits_without, n_without : int
        Of those made without it; no such tables if 0.
    chance : float
        What to expect where there are none.

    Examples
    --------
    >>> from skeval.privacy.attacks.shadow.base import Advantage
    >>> advantage = Advantage(15, 20, chance=0.25)
    >>> advantage.value, round(advantage.p_value, 6)
    (0.5, 4e-06)
    """

    n_hits: int
    n: int
    n_hits_without: int = 0
    n_without: int = 0
    chance: float = 0.0

    @property
    def by_chance(self) -> float:
        """Share of hits to expect without the target."""
        return self.n_hits_without / self.n_without if self.n_without else self.chance

    @property
    def value(self) -> float:
        """Share of hits beyond that."""
        return self.n_hits / self.n - self.by_chance

    @property
    def p_value(self) -> float:
        """One-sided: of Fisher's test that both shares are equal, or of the binomial test."""
        if self.n_without:
            return share_p_value(self.n_hits, self.n, self.n_hits_without, self.n_without)
        return float(binom.sf(self.n_hits - 1, self.n, self.chance))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the value: Newcombe's, or Clopper and Pearson's."""
        if self.n_without:
            return newcombe(self.n_hits, self.n, self.n_hits_without, self.n_without, confidence)
        low, high = clopper_pearson(self.n_hits, self.n, confidence)
        return low - self.by_chance, high - self.by_chance


def simultaneous(confidence: float, n_intervals: int) -> float:
    """Return the confidence of each of several intervals that hold at once (Bonferroni)."""
    return 1.0 - (1.0 - confidence) / n_intervals


def largest_advantage(
    advantages: Sequence[Advantage],
    described: Sequence[dict[str, Any]],
    game: Game,
    confidence: float,
    few: str,
    tested: Callable[[float, float], Contrast],
    **details: Any,
) -> Result:
    """Return the largest of the targets' advantages, corrected for being the largest of several.

    Parameters
    ----------
    advantages : sequence of Advantage
        Of each target.
    described : sequence of dict
        What else is said of each.
    game : Game
        That was played.
    confidence : float
        Of the intervals.
    few : str
        What is said where each target is tested on few tables.
    tested : callable
        Returns the contrast of a share of hits and the share to expect.
    **details
        What else is said of all.
    """
    together = simultaneous(confidence, len(advantages))
    lows, highs = zip(*(one.interval(together) for one in advantages), strict=True)
    corrected = holm([one.p_value for one in advantages])
    # ranks alone: neither a position nor a cell says which row of train it is
    targets = [
        {
            "target": f"target {i}",
            **others,
            "advantage": one.value,
            "interval": list(one.interval(confidence)),
            "p_value": one.p_value,
            "holm_p_value": p_value,
        }
        for i, (one, others, p_value) in enumerate(
            zip(advantages, described, corrected, strict=True), start=1
        )
    ]
    surest = min(advantages, key=lambda one: (one.p_value, -one.value))
    shown = tested(surest.n_hits / surest.n, surest.by_chance)
    n_exposed = sum(p_value <= ALARM_LEVEL for p_value in corrected)
    return Result(
        max(one.value for one in advantages),
        interval=(max(lows), max(highs)),
        p_value=min(corrected),
        baseline=0.0,
        details={
            "targets": targets,
            "n_significant": sum(p_value < TEST_LEVEL for p_value in corrected),
            "n_targets": len(targets),
            "game": game.game,
            "knowledge": game.knowledge,
            "access": game.access,
            "features": list(feature_names(game.features, learns=game.learns)),
            **details,
        },
        warnings=(MetricWarning(few),) if game.n_eval < _FEW else (),
        contrast=replace(shown, n_tests=len(advantages)),
        advice=advice_on_targets(n_exposed, len(targets)) if n_exposed else "",
    )


def advice_on_targets(n_exposed: int, n_targets: int) -> str:
    """Return what to do if some of the rows that were chosen as targets are given away.

    Examples
    --------
    >>> from skeval.privacy.attacks.shadow.base import advice_on_targets
    >>> advice_on_targets(2, 5).split(":")[0]
    '2 of 5 targets are given away'
    """
    are = f"{n_exposed} of {n_targets} targets {'is' if n_exposed == 1 else 'are'} given away"
    return (
        f"{are}: leave out or coarsen rows as unlike the others as these, or fit with noise "
        "(differential privacy), which bounds what any one row can change."
    )


def largest_by_chance(shares: Sequence[tuple[float, int, int]], seed: int = 0) -> float:
    """Return what the largest of several differences of shares is on average without a difference.

    Parameters
    ----------
    shares : sequence of (float, int, int)
        For each pair the common share, and the numbers of trials of both.
    seed : int, default=0
        Of 2,000 draws of all counts, as if they were independent.

    Returns
    -------
    float
        0 for one pair.

    Examples
    --------
    >>> from skeval.privacy.attacks.shadow.base import largest_by_chance
    >>> round(largest_by_chance([(0.5, 50, 50)] * 5), 2), largest_by_chance([(0.5, 50, 50)])
    (0.12, 0.0)
    """
    if len(shares) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    differences = [
        rng.binomial(n, share, _N_DRAWS) / n - rng.binomial(m, share, _N_DRAWS) / m
        for share, n, m in shares
    ]
    return float(np.max(differences, axis=0).mean())
