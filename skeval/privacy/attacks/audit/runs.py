"""The runs of an audit: scores and rules chosen on pilot runs, counted on fresh ones."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betaincinv
from scipy.stats import norm

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.privacy.attacks.audit.worlds import Reader, Worlds, worlds_of
from skeval.privacy.attacks.shadow.game import Execution, Fit, play
from skeval.privacy.attacks.shadow.row_features import (
    Domain,
    Queries,
    agreement_scores,
    closest_features,
    naive_features,
    row_distances,
)
from skeval.stats.dp_audit import gdp_epsilon, gdp_mu, two_world_epsilon
from skeval.stats.roc import Rates, rates_at, roc_curve
from skeval.steps.classifiers import seeded

_SEED_LIMIT = 2**31
_WORLDS = (True, False)
ATTACKS = ("presence", "cells", "distance", "queries")
_N_QUERIES = 200
_RADII = (0.02, 0.1, 0.3)
_NEAR = 0.05  # of the range: numbers that agree
Attack = str | Callable[[pd.DataFrame, pd.DataFrame], float] | Any
Scores = tuple[np.ndarray, np.ndarray]
_LEAST_LEVEL = 1e-12
_PRUDENT = 0.8  # by simulation: good at 60 and at 400 runs


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


def is_trained(attack: Attack) -> bool:
    """Tell whether an attack is a classifier, which learns from runs of its own."""
    return attack == "classifier" or hasattr(attack, "predict_proba")


def named(attacks: Iterable[Attack]) -> dict[str, Attack]:
    """Return attacks under the names that details call them; of equal names all but one count."""
    found: dict[str, Attack] = {}
    for attack in attacks:
        name, number = _name_of(attack), 1
        while _numbered(name, number) in found:
            number += 1
        found[_numbered(name, number)] = attack
    return found


def _name_of(attack: Attack) -> str:
    if isinstance(attack, str):
        return attack
    return type(attack).__name__ if is_trained(attack) else getattr(attack, "__name__", "callable")


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"


@dataclass(frozen=True)
class Scorer:
    """Scores tables by several attacks, for one target.

    Attributes
    ----------
    reader : Reader
        Reads tables.
    domain : Domain
        What their columns hold.
    row : ndarray of shape (1, n_columns)
        The target.
    weights : ndarray of shape (n_columns,)
        How rare its values are among the other rows.
    target : DataFrame of one row
        The target as it was given.
    attacks : dict of str to str or function
        Those that are not trained, by name.
    queries : Queries or None
        What classifiers learn from; None if there is none.
    """

    reader: Reader
    domain: Domain
    row: np.ndarray
    weights: np.ndarray
    target: pd.DataFrame
    attacks: dict[str, Attack]
    queries: Queries | None

    def __call__(self, table: pd.DataFrame, target: int) -> Scores:
        """Return a score for each attack, and the features of classifiers."""
        rows = self.reader.rows(table)
        scores = [
            getattr(self, f"_{attack}")(rows)
            if isinstance(attack, str)
            else _number(attack(table, self.target), name)
            for name, attack in self.attacks.items()
        ]
        return np.array(scores), self._features(rows)

    def _presence(self, rows: np.ndarray) -> float:
        return float(_equal(rows, self.row).all(axis=1).sum())

    def _cells(self, rows: np.ndarray) -> float:
        return float(_agree(rows, self.row, self.domain).mean(axis=0) @ self.weights)

    def _distance(self, rows: np.ndarray) -> float:
        return -float(row_distances(rows, self.row[0], self.domain).min())

    def _queries(self, rows: np.ndarray) -> float:
        return float(agreement_scores(self.row, rows, self.domain)[0])

    def _features(self, rows: np.ndarray) -> np.ndarray:
        if self.queries is None:
            return np.empty(0)
        parts = [
            naive_features(rows, self.domain),
            closest_features(rows, self.row[0], _RADII, self.domain),
            self.queries.features(rows, self.row[0], self.domain),
        ]
        return np.concatenate(parts)


def _number(score: Any, name: str) -> float:
    """Return the score of an attack of the user's."""
    try:
        number = float(score)
    except (TypeError, ValueError):
        number, told = math.nan, f"an object of type {type(score).__name__}"
    else:
        told = "nan"
    if math.isnan(number):
        told = "None" if score is None else told
        raise InvalidParameterError(
            f"DPAudit: the attack {name} must return a number, and returned {told}."
        )
    return number


def _equal(rows: np.ndarray, row: np.ndarray) -> np.ndarray:
    same: np.ndarray = (rows == row) | (np.isnan(rows) & np.isnan(row))
    return same


def _agree(rows: np.ndarray, row: np.ndarray, domain: Domain) -> np.ndarray:
    """Tell which cells are equal, or near where they are numbers."""
    with np.errstate(invalid="ignore"):  # of infinite values
        near = np.abs(rows - row) <= _NEAR * domain.span
    return _equal(rows, row) | (near & ~domain.nominal)


def scorer_of(worlds: Worlds, attacks: Mapping[str, Attack], seed: int) -> Scorer:
    """Return what scores tables of two worlds; trained attacks get features."""
    row = worlds.rows[[worlds.target]]
    plain = {name: attack for name, attack in attacks.items() if not is_trained(attack)}
    learns = len(plain) < len(attacks)
    n_agreeing = _agree(worlds.rows[worlds.outside], row, worlds.domain).sum(axis=0)
    return Scorer(
        worlds.reader,
        worlds.domain,
        row,
        -np.log((n_agreeing + 1.0) / (worlds.outside.size + 2.0)),
        worlds.table.iloc[[worlds.target]].reset_index(drop=True),
        plain,
        Queries.draw(worlds.reader.nominal, _N_QUERIES, seed) if learns else None,
    )


def trained(attack: Attack, inside: list[Scores], outside: list[Scores], seed: int) -> Any:
    """Return a classifier that tells the features of both worlds apart."""
    from sklearn.base import clone
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, random_state=seed) if attack == "classifier" else attack
    labels = np.repeat([True, False], [len(inside), len(outside)])
    return seeded(clone(model), seed).fit(
        np.array([found for _, found in [*inside, *outside]]), labels
    )


def probability(model: Any, runs: list[Scores]) -> np.ndarray:
    """Return how likely a classifier takes runs for such with the target."""
    found: np.ndarray = model.predict_proba(np.array([found for _, found in runs]))[:, 1]
    return found


@dataclass(frozen=True)
class Level:
    """Of what a bound is a bound, and how sure.

    Attributes
    ----------
    delta : float
        Of the (epsilon, delta).
    confidence : float
        How often the bound holds.
    method : {"cp", "gdp"}
        Whether it holds for any mechanism, or one whose trade-off function is Gaussian.
    """

    delta: float
    confidence: float
    method: str

    def bound(self, rates: Rates, confidence: float | None = None) -> float:
        """Return the bound of epsilon that a rule's right and wrong calls give."""
        confidence = self.confidence if confidence is None else confidence
        counts = (
            rates.true_positives,
            rates.n_positives,
            rates.false_positives,
            rates.n_negatives,
        )
        if self.method == "gdp":
            return gdp_epsilon(self.delta, gdp_mu(*counts, confidence=confidence))
        return two_world_epsilon(*counts, delta=self.delta, confidence=confidence)

    def ceiling(self, n_runs: int) -> float:
        """Return the bound of a rule that is never wrong."""
        return self.bound(Rates(n_runs, n_runs, 0, n_runs))

    def p_value(self, rates: Rates, epsilon: float) -> float:
        """Return the least level at which the bound is above an epsilon; 1 if it is at none."""
        if not self.bound(rates, 0.0) > epsilon:
            return 1.0
        low, high = np.log(_LEAST_LEVEL), 0.0
        for _ in range(50):
            middle = (low + high) / 2.0
            above = self.bound(rates, 1.0 - float(np.exp(middle))) > epsilon
            low, high = (low, middle) if above else (middle, high)
        return float(np.exp(high))

    def promised(
        self, false: np.ndarray, true: np.ndarray, n_pilot: int, n_runs: int
    ) -> np.ndarray:
        """Return what to expect of `n_runs` runs a world, by counts of the pilot runs.

        Of "cp" bounds of epsilon, of "gdp" of mu; below 0 where nothing is promised, so that the
        least bad can be told. Both error rates are put at their upper bounds at `_PRUDENT`: the
        best of many thresholds is more often lucky than good.
        """
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
        found: np.ndarray = np.maximum(*logs)
        return found


def _upper(k: np.ndarray, n: int, confidence: float) -> np.ndarray:
    """Return Clopper and Pearson's upper bounds of shares, of counts that need not be whole."""
    bound: np.ndarray = betaincinv(k + 1.0, np.maximum(n - k, 1e-9), confidence)
    return np.minimum(np.where(k < n, bound, 1.0), 1.0 - 1e-9)


@dataclass(frozen=True)
class Rule:
    """Take a table for one that was made with the target if sign times score reaches a threshold.

    Attributes
    ----------
    sign : int
        1 or -1.
    threshold : float
        The least such score.
    promised : float
        What :meth:`Level.promised` expects, on its scale; nan if the rule was given.
    """

    sign: int
    threshold: float
    promised: float = float("nan")

    def rates(self, inside: np.ndarray, outside: np.ndarray) -> Rates:
        """Count right and wrong calls of scores of both worlds."""
        return rates_at(self.sign * inside, self.sign * outside, self.threshold)


def best_rule(inside: np.ndarray, outside: np.ndarray, level: Level, n_runs: int) -> Rule:
    """Return the rule that promises the highest bound of `n_runs` further runs a world.

    Parameters
    ----------
    inside, outside : ndarray of shape (n_pilot,)
        Scores of pilot runs with and without the target, equally many.
    level : Level
        What is bounded.
    n_runs : int
        How many runs a world the bound will be taken of.
    """
    rules = []
    for sign in (1, -1):
        curve = roc_curve(sign * inside, sign * outside)
        promised = level.promised(curve.false_positives, curve.true_positives, inside.size, n_runs)
        # a rule that calls all tables alike, as the first and the last do, tells nothing
        inner = slice(1, max(2, promised.size - 1))
        best = int(np.argmax(promised[inner])) + 1
        found, below = curve.thresholds[best], curve.thresholds[min(best + 1, promised.size - 1)]
        middle = (found + below) / 2.0
        threshold = float(middle if np.isfinite(middle) else found)
        rules.append(Rule(sign, threshold, float(promised[best])))
    return max(rules, key=lambda rule: rule.promised)
