"""Runs of an audit. Scores and rules are chosen on pilot runs and evaluated on new runs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, product
from typing import Any

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.privacy.attacks.shadow.game import Execution, Fit, play
from skeval.privacy.attacks.worlds import (
    Attack,
    attacks_by_name,
    learns_from_runs,
    scorer_of,
    worlds_of,
)
from skeval.stats.epsilon_bounds import gdp_epsilon, gdp_mu, two_world_epsilon
from skeval.stats.roc import Rates, rates_at, roc_curve
from skeval.steps.classifiers import fitted_classifier, positive_scores

_SEED_LIMIT = 2**31
_MIN_LEVEL = 1e-12
_PRUDENT = 0.8  # good for 60 and for 400 runs in simulations
# scores of runs in one world, shape (n_runs, n_attacks), and features for classifiers
Runs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """Settings of an audit."""

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
    def n_fits(self) -> int:
        """Number of fits of the generator."""
        n_pilot = 0 if self.threshold is not None else self.n_pilot * len(self.settings)
        return 2 * (self.n_runs + n_pilot)

    @property
    def faults(self) -> list[str]:
        """Descriptions of contradictory parameters."""
        faults, trains = [], any(map(learns_from_runs, self.attacks))
        single = len(self.settings) == len(self.attacks) == 1 and not trains
        alone = self.adjacency == "add_remove" and set(self.targets) != {"repeat"}
        if alone and "empty" in self.bases:
            faults.append(
                "base='empty' contains no row without the target, so use base='one_row', "
                "adjacency='replace' or target='repeat'"
            )
        if self.level.method == "gdp" and self.level.delta == 0.0:
            faults.append("method='gdp' requires a positive delta")
        if self.threshold is not None and not single:
            faults.append(
                "a threshold requires exactly one base, one target and one attack without training"
            )
        if trains and self.n_pilot < 4:
            faults.append("a classifier requires n_pilot >= 4, because it trains on half of them")
        return faults


@dataclass(frozen=True)
class Candidate:
    """One way to audit: the base and target of the worlds, and an attack with its rule."""

    base: str
    target: str
    name: str
    attack: Attack
    rule: Rule
    model: Any = None

    def scores(self, runs: Runs) -> np.ndarray:
        """Return the scores of runs that were scored only by this attack."""
        scores, features = runs
        return scores[:, 0] if self.model is None else positive_scores(self.model, features)


@shared
def run_audit(
    context: Context, plan: Plan, n_synthetic: int, execution: Execution
) -> tuple[Candidate, Rates, dict[str, float]]:
    """Run an audit. It uses only the training data, so it runs once for all synthetic tables."""
    if (progress := execution.progress) is not None:
        n_done = count(1)  # continues over all calls
        execution = replace(execution, progress=lambda *_: progress(next(n_done), plan.n_fits))
    run = partial(_runs, context, plan, n_synthetic, execution)
    attacks, tried = attacks_by_name(plan.attacks), list[Candidate]()
    if plan.threshold is None:
        for setting in plan.settings:
            pilot_runs = run(*setting, "pilot", plan.n_pilot, attacks)
            tried += _candidates(plan, *setting, attacks, *pilot_runs)
        chosen = max(tried, key=lambda candidate: candidate.rule.promised)
    else:
        (setting,), (attack,) = plan.settings, attacks.items()
        chosen = Candidate(*setting, *attack, Rule(1, plan.threshold))
    promised = {
        ", ".join([one.base, one.target, one.name]): max(0.0, one.rule.promised) for one in tried
    }
    attacks = {chosen.name: chosen.attack}
    runs = run(chosen.base, chosen.target, "fresh", plan.n_runs, attacks)
    return chosen, chosen.rule.rates(*map(chosen.scores, runs)), promised


def _candidates(
    plan: Plan, base: str, target: str, attacks: Mapping[str, Attack], inside: Runs, outside: Runs
) -> Iterator[Candidate]:
    """Yield a candidate for each attack, with the best rule on its pilot runs."""
    plain = [name for name, attack in attacks.items() if not learns_from_runs(attack)]
    half = plan.n_pilot // 2
    for name, attack in attacks.items():
        if learns_from_runs(attack):
            features = np.concatenate([inside[1][:half], outside[1][:half]])
            classifier = None if isinstance(attack, str) else attack
            model = fitted_classifier(classifier, features, np.repeat([1, 0], half), plan.seed)
            # the other half of the runs, which the classifier has not seen
            scores = [positive_scores(model, world[1][half:]) for world in (inside, outside)]
        else:
            model, j = None, plain.index(name)
            scores = [world[0][:, j] for world in (inside, outside)]
        rule = best_rule(scores[0], scores[1], plan.level, plan.n_runs)
        yield Candidate(base, target, name, attack, rule, model)


def _runs(
    context: Context,
    plan: Plan,
    n_synthetic: int,
    execution: Execution,
    base: str,
    target: str,
    phase: str,
    n_runs: int,
    attacks: Mapping[str, Attack],
) -> tuple[Runs, Runs]:
    """Return the scores of runs with the target and of runs without it."""
    worlds = worlds_of(
        context, base, target, adjacency=plan.adjacency, n_base=plan.n_base, seed=plan.seed
    )
    fits = []
    for inside, rows in ((True, worlds.inside), (False, worlds.outside)):
        # a separate random stream, so that the results do not depend on other settings
        stream = zlib.crc32(f"{phase} {(base, target)} {inside}".encode())
        seeds = np.random.default_rng([plan.seed, stream]).integers(_SEED_LIMIT, size=n_runs)
        fits += [Fit(rows, int(seed), inside=inside, target=worlds.target) for seed in seeds]
    measure = scorer_of(worlds, attacks, plan.seed)
    results = play(
        plan.generator, worlds.table, fits, measure, n_synthetic=n_synthetic, execution=execution
    )
    try:
        scores, features = map(np.stack, zip(*(run for (run,) in results), strict=True))
    except Exception as error:
        error.add_note(
            f"DPAudit ran the generator with base={base!r} and target={target!r}, on tables of "
            f"{worlds.inside.size} and {worlds.outside.size} rows."
        )
        raise
    return (scores[:n_runs], features[:n_runs]), (scores[n_runs:], features[n_runs:])


@dataclass(frozen=True)
class Level:
    """Privacy parameter that an audit bounds, and the confidence level."""

    delta: float
    confidence: float
    method: str

    def bound(self, rates: Rates, confidence: float | None = None) -> float:
        """Return the lower bound of epsilon from the rates of a rule."""
        confidence = self.confidence if confidence is None else confidence
        if self.method == "gdp":
            return gdp_epsilon(self.delta, gdp_mu(*rates, confidence=confidence))
        return two_world_epsilon(*rates, delta=self.delta, confidence=confidence)

    def ceiling(self, n_runs: int) -> float:
        """Return the bound for a rule without errors."""
        return self.bound(Rates(n_runs, n_runs, 0, n_runs))

    def p_value(self, rates: Rates, epsilon: float) -> float:
        """Return the smallest level at which the bound is above an epsilon, or 1."""
        if not self.bound(rates, 0.0) > epsilon:
            return 1.0
        low, high = np.log(_MIN_LEVEL), 0.0
        for _ in range(50):
            middle = (low + high) / 2.0
            above = self.bound(rates, 1.0 - float(np.exp(middle))) > epsilon
            low, high = (low, middle) if above else (middle, high)
        return float(np.exp(high))

    def expected_bounds(
        self, false: np.ndarray, true: np.ndarray, n_pilot: int, n_runs: int
    ) -> np.ndarray:
        """Return the bounds expected for `n_runs` runs per world, from counts of pilot runs."""
        # These are bounds of epsilon for "cp" and of mu for "gdp". They may be negative, so that
        # the best rule can be chosen even if no rule is good. Both error rates are replaced by
        # upper bounds with confidence `_PRUDENT`, because the best of many thresholds is often
        # selected by luck.
        rates = [
            _upper(_upper(wrong, n_pilot, _PRUDENT) * n_runs, n_runs, (1.0 + self.confidence) / 2.0)
            for wrong in (false, n_pilot - true)
        ]
        if self.method == "gdp":
            return np.asarray(norm.isf(rates[0]) - norm.ppf(rates[1]))
        logs = [
            np.log(np.maximum(1.0 - rate - self.delta, 1e-300) / other)
            for rate, other in (rates, rates[::-1])
        ]
        return np.asarray(np.maximum(*logs))


def _upper(k: np.ndarray, n: int, confidence: float) -> np.ndarray:
    """Return Clopper-Pearson upper bounds of fractions, also for counts that are not integers."""
    bound = betaincinv(k + 1.0, np.maximum(n - k, 1e-9), confidence)
    return np.minimum(np.where(k < n, bound, 1.0), 1.0 - 1e-9)


@dataclass(frozen=True)
class Rule:
    """Decision that a table was made with the target if sign times score reaches a threshold."""

    sign: int
    threshold: float
    promised: float = float("nan")

    def rates(self, inside: np.ndarray, outside: np.ndarray) -> Rates:
        """Count correct and incorrect decisions in both worlds."""
        return rates_at(self.sign * inside, self.sign * outside, self.threshold)


def best_rule(inside: np.ndarray, outside: np.ndarray, level: Level, n_runs: int) -> Rule:
    """Return the rule with the highest expected bound for `n_runs` further runs per world."""
    rules = []
    for sign in (1, -1):
        curve = roc_curve(sign * inside, sign * outside)
        promised = level.expected_bounds(
            curve.false_positives, curve.true_positives, inside.size, n_runs
        )
        # the first and the last rule give the same decision for all tables and are useless
        inner = slice(1, max(2, promised.size - 1))
        best = int(np.argmax(promised[inner])) + 1
        score, below = curve.thresholds[best], curve.thresholds[min(best + 1, promised.size - 1)]
        middle = (score + below) / 2.0
        threshold = float(middle if np.isfinite(middle) else score)
        rules.append(Rule(sign, threshold, float(promised[best])))
    return max(rules, key=lambda rule: rule.promised)
