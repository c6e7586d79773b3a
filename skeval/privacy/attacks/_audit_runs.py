"""The runs of an audit: pilot runs to choose what is tried, fresh ones to count."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.privacy.attacks._audit_rules import Level, Rule, best_rule
from skeval.privacy.attacks._audit_scores import (
    Attack,
    Scores,
    is_trained,
    named,
    probability,
    scorer_of,
    trained,
)
from skeval.privacy.attacks._audit_worlds import Worlds, worlds_of
from skeval.privacy.attacks._shadow_game import Fit
from skeval.privacy.attacks._shadow_runs import Execution, play
from skeval.stats.roc import Rates

__all__ = ["Outcome", "Plan", "audited"]

_SEED_LIMIT = 2**31
_WORLDS = (True, False)


@dataclass(frozen=True)
class Plan:
    """What an audit tries.

    Attributes
    ----------
    generator : object
        What is audited.
    bases, targets, attacks : tuple
        Of all combinations the one is taken that promises most in the pilot runs.
    adjacency : {"add_remove", "replace"}
        How the two worlds differ.
    n_runs, n_pilot : int
        Fresh runs a world, and pilot runs a world and combination of base and target.
    n_base : int
        Rows of bases that have no size of their own.
    threshold : float or None
        Given beforehand; no pilot runs are needed then.
    level : Level
        What is bounded.
    seed : int
        Of everything.
    """

    generator: Any
    bases: tuple[str, ...]
    targets: tuple[str, ...]
    attacks: tuple[Attack, ...]
    adjacency: str
    n_runs: int
    n_pilot: int
    n_base: int
    threshold: float | None
    level: Level
    seed: int

    @property
    def settings(self) -> list[tuple[str, str]]:
        """All combinations of base and target."""
        return list(product(self.bases, self.targets))

    @property
    def named(self) -> dict[str, Attack]:
        """The attacks by the names that details call them."""
        return named(self.attacks)

    @property
    def n_fits(self) -> int:
        """How often the generator is fitted."""
        n_pilot = 0 if self.threshold is not None else self.n_pilot * len(self.settings)
        return 2 * (self.n_runs + n_pilot)


@dataclass(frozen=True)
class Outcome:
    """What was chosen, and how often it was right in fresh runs.

    Attributes
    ----------
    rates : Rates
        Right and wrong calls of the fresh runs.
    base, target, attack : str
        What was chosen.
    rule : Rule
        How the score is read.
    promised : dict of str to float
        What each combination promised in the pilot runs.
    """

    rates: Rates
    base: str
    target: str
    attack: str
    rule: Rule
    promised: dict[str, float]


@dataclass(frozen=True)
class _Candidate:
    """A way to audit: worlds, and a score of what is made of them."""

    setting: tuple[str, str]
    name: str
    attack: Attack
    rule: Rule
    model: Any = None

    def scores(self, runs: list[Scores]) -> np.ndarray:
        """Return the score of each run of one world, of runs that this attack alone scored."""
        return _column(runs, 0) if self.model is None else probability(self.model, runs)


@shared
def audited(context: Context, plan: Plan, n_synthetic: int, execution: Execution) -> Outcome:
    """Run an audit; it reads train alone, and is run once for any number of releases."""
    runner = _Runner(context, plan, n_synthetic, execution)
    if plan.threshold is not None:
        (setting,), (attack,) = plan.settings, plan.named.items()
        chosen, tried = _Candidate(setting, *attack, Rule(1, plan.threshold)), []
    else:
        tried = [found for setting in plan.settings for found in runner.pilot(*setting)]
        chosen = max(tried, key=lambda candidate: candidate.rule.promised)
    rates = runner.estimate(chosen)
    promised = {
        ", ".join([*found.setting, found.name]): max(0.0, found.rule.promised) for found in tried
    }
    return Outcome(rates, *chosen.setting, chosen.name, chosen.rule, promised)


class _Runner:
    """Runs the generator in two worlds and scores what it makes."""

    def __init__(
        self, context: Context, plan: Plan, n_synthetic: int, execution: Execution
    ) -> None:
        self.plan, self.n_synthetic, self.execution = plan, n_synthetic, execution
        self.context = context
        self.n_done = 0

    def pilot(self, base: str, target: str) -> Iterator[_Candidate]:
        """Give a candidate for each attack, with the rule that promises most."""
        plan = self.plan
        attacks = plan.named
        inside, outside = self._runs((base, target), "pilot", plan.n_pilot, attacks)
        plain = [name for name, attack in attacks.items() if not is_trained(attack)]
        half = plan.n_pilot // 2
        for name, attack in attacks.items():
            if is_trained(attack):
                model = trained(attack, inside[:half], outside[:half], plan.seed)
                # runs that the classifier has not seen
                found = probability(model, inside[half:]), probability(model, outside[half:])
            else:
                model, j = None, plain.index(name)
                found = _column(inside, j), _column(outside, j)
            rule = best_rule(found[0], found[1], plan.level, plan.n_runs)
            yield _Candidate((base, target), name, attack, rule, model)

    def estimate(self, chosen: _Candidate) -> Rates:
        """Return right and wrong calls of fresh runs."""
        attacks = {chosen.name: chosen.attack}
        runs = self._runs(chosen.setting, "fresh", self.plan.n_runs, attacks)
        inside, outside = (chosen.scores(world) for world in runs)
        return chosen.rule.rates(inside, outside)

    def _runs(
        self, setting: tuple[str, str], phase: str, n_runs: int, attacks: dict[str, Attack]
    ) -> tuple[list[Scores], list[Scores]]:
        """Return the scores of runs with and of runs without the target."""
        plan = self.plan
        base, target = setting
        worlds = worlds_of(
            self.context,
            base,
            target,
            adjacency=plan.adjacency,
            n_base=plan.n_base,
            seed=plan.seed,
        )
        fits = [
            fit for inside in _WORLDS for fit in self._fits(worlds, setting, phase, inside, n_runs)
        ]
        found = play(
            plan.generator,
            worlds.table,
            fits,
            scorer_of(worlds, attacks, plan.seed),
            n_synthetic=self.n_synthetic,
            execution=self._execution(),
        )
        try:
            scores = [scores for (scores,) in found]
        except Exception as error:
            error.add_note(
                f"DPAudit ran the generator with base={base!r} and target={target!r}, on tables of "
                f"{worlds.inside.size} and {worlds.outside.size} rows."
            )
            raise
        self.n_done += len(fits)
        return scores[:n_runs], scores[n_runs:]

    def _fits(
        self, worlds: Worlds, setting: tuple[str, str], phase: str, inside: bool, n_runs: int
    ) -> list[Fit]:
        # a stream of its own, so that what else is tried changes nothing
        name = zlib.crc32(f"{phase} {setting} {inside}".encode())
        seeds = np.random.default_rng([self.plan.seed, name]).integers(_SEED_LIMIT, size=n_runs)
        rows = worlds.inside if inside else worlds.outside
        return [Fit("test", inside, worlds.target, 0, rows, int(seed)) for seed in seeds]

    def _execution(self) -> Execution:
        progress, start = self.execution.progress, self.n_done
        if progress is None:
            return self.execution
        return replace(
            self.execution, progress=lambda done, _: progress(start + done, self.plan.n_fits)
        )


def _column(runs: list[Scores], j: int) -> np.ndarray:
    return np.array([scores[j] for scores, _ in runs])
