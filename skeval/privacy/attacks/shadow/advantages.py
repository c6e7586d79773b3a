"""The largest of the advantages over several targets, corrected for being the largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binom

from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.shadow.features import feature_names
from skeval.privacy.attacks.shadow.game import Game
from skeval.results.result import Result
from skeval.results.verdict import ALARM_LEVEL, TEST_LEVEL, Contrast
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import share_p_value
from skeval.utils.formatting import as_float

_MIN_TABLES = 50  # tables that a target is tested on
_N_DRAWS = 2000


def most_exposed_target(result: Result) -> Any:
    """Return the details of the target with the largest advantage."""
    return max(result.details["targets"], key=lambda target: as_float(target["advantage"]))


@dataclass(frozen=True)
class Advantage:
    """Rate of hits minus the rate without the target, or minus the rate expected by chance."""

    n_hits: int
    n: int
    n_hits_without: int = 0
    n_without: int = 0
    chance: float = 0.0

    @property
    def by_chance(self) -> float:
        """Rate of hits that is expected without the target."""
        return self.n_hits_without / self.n_without if self.n_without else self.chance

    @property
    def value(self) -> float:
        """Rate of hits in excess of the expected rate."""
        return self.n_hits / self.n - self.by_chance

    @property
    def p_value(self) -> float:
        """One-sided p-value of Fisher's test that both rates are equal, or of the binomial test."""
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
    """Return the confidence of each of several simultaneous intervals (Bonferroni)."""
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
    """Return the largest of the targets' advantages, corrected for being the largest of several."""
    together = simultaneous(confidence, len(advantages))
    lows, highs = zip(*(one.interval(together) for one in advantages), strict=True)
    corrected = holm([one.p_value for one in advantages])
    # ranks only, because a position or a cell would identify the training row
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
        warnings=(MetricWarning(few),) if game.n_eval < _MIN_TABLES else (),
        contrast=replace(shown, n_tests=len(advantages)),
        advice=advice_on_targets(n_exposed, len(targets)) if n_exposed else "",
    )


def advice_on_targets(n_exposed: int, n_targets: int) -> str:
    """Return the advice if some of the target rows are disclosed."""
    are = f"{n_exposed} of {n_targets} targets {'is' if n_exposed == 1 else 'are'} disclosed"
    return (
        f"{are}. Drop or coarsen rows that differ this much from the others, or fit with noise "
        "(differential privacy), which bounds what any one row can change."
    )


def largest_by_chance(shares: Sequence[tuple[float, int, int]], seed: int = 0) -> float:
    """Return the mean of the largest of several differences of rates without a true difference."""
    if len(shares) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    differences = [
        rng.binomial(n, share, _N_DRAWS) / n - rng.binomial(m, share, _N_DRAWS) / m
        for share, n, m in shares
    ]
    return float(np.max(differences, axis=0).mean())
