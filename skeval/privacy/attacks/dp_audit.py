"""A lower bound of epsilon from many runs of a generator on two tables that differ in one row.

The runs of an audit: scores and rules chosen on pilot runs, counted on fresh ones.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import count, product
from typing import Annotated, Any, Literal

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import AUDIT_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError
from skeval.privacy.attacks.shadow.game import Execution, Fit, GeneratorAttack, check_cost, play
from skeval.privacy.attacks.worlds import (
    ATTACKS,
    BASES,
    TARGETS,
    Attack,
    is_trained,
    named,
    scorer_of,
    worlds_of,
)
from skeval.results.result import Result, undefined
from skeval.results.verdict import Contrast
from skeval.stats.risks import against_claim, gdp_epsilon, gdp_mu, two_world_epsilon
from skeval.stats.roc import Rates, rates_at, roc_curve
from skeval.steps.classifiers import fitted_classifier, positive_scores
from skeval.steps.samples import nothing_to_measure
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Count, Interval, Legal, NonNegative

_WHAT = "tables made with one row that show it"
_SEED_LIMIT = 2**31
_MIN_LEVEL = 1e-12
_PRUDENT = 0.8  # by simulation: good at 60 and at 400 runs
# of runs of one world: scores of shape (n_runs, n_attacks), and features of classifiers
Runs = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Plan:
    """What an audit tries."""

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
        """How often the generator is fitted."""
        n_pilot = 0 if self.threshold is not None else self.n_pilot * len(self.settings)
        return 2 * (self.n_runs + n_pilot)

    @property
    def faults(self) -> list[str]:
        """Which parameters contradict each other."""
        faults, trains = [], any(map(is_trained, self.attacks))
        single = len(self.settings) == len(self.attacks) == 1 and not trains
        alone = self.adjacency == "add_remove" and set(self.targets) != {"repeat"}
        if alone and "empty" in self.bases:
            faults.append(
                "base='empty' leaves no row to fit on without the target; take base='one_row', "
                "adjacency='replace' or target='repeat'"
            )
        if self.level.method == "gdp" and self.level.delta == 0.0:
            faults.append("method='gdp' bounds epsilon at a delta above 0")
        if self.threshold is not None and not single:
            faults.append(
                "a given threshold goes with one base, one target and one attack without training"
            )
        if trains and self.n_pilot < 4:
            faults.append("a classifier needs n_pilot to be at least 4, half of them to learn from")
        return faults


@dataclass(frozen=True)
class Candidate:
    """A way to audit: base and target of the worlds, and how what is made of them is scored."""

    base: str
    target: str
    name: str
    attack: Attack
    rule: Rule
    model: Any = None

    def scores(self, runs: Runs) -> np.ndarray:
        """Return the scores of runs that this attack alone scored."""
        scores, features = runs
        return scores[:, 0] if self.model is None else positive_scores(self.model, features)


@shared
def audited(
    context: Context, plan: Plan, n_synthetic: int, execution: Execution
) -> tuple[Candidate, Rates, dict[str, float]]:
    """Run an audit; it reads train alone, and is run once for any number of releases."""
    if (progress := execution.progress) is not None:
        n_done = count(1)  # over all calls
        execution = replace(execution, progress=lambda *_: progress(next(n_done), plan.n_fits))
    run = partial(_runs, context, plan, n_synthetic, execution)
    attacks, tried = named(plan.attacks), list[Candidate]()
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
    """Give a candidate for each attack, with the rule that promises most by its pilot runs."""
    plain = [name for name, attack in attacks.items() if not is_trained(attack)]
    half = plan.n_pilot // 2
    for name, attack in attacks.items():
        if is_trained(attack):
            features = np.concatenate([inside[1][:half], outside[1][:half]])
            classifier = None if isinstance(attack, str) else attack
            model = fitted_classifier(classifier, features, np.repeat([1, 0], half), plan.seed)
            # runs that the classifier has not seen
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
    """Return the scores of runs with and of runs without the target."""
    worlds = worlds_of(
        context, base, target, adjacency=plan.adjacency, n_base=plan.n_base, seed=plan.seed
    )
    fits = []
    for inside, rows in ((True, worlds.inside), (False, worlds.outside)):
        # a stream of its own, so that what else is tried changes nothing
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
    """What is bounded, and with which confidence."""

    delta: float
    confidence: float
    method: str

    def bound(self, rates: Rates, confidence: float | None = None) -> float:
        """Return the bound of epsilon that a rule's right and wrong calls give."""
        confidence = self.confidence if confidence is None else confidence
        if self.method == "gdp":
            return gdp_epsilon(self.delta, gdp_mu(*rates, confidence=confidence))
        return two_world_epsilon(*rates, delta=self.delta, confidence=confidence)

    def ceiling(self, n_runs: int) -> float:
        """Return the bound of a rule that is never wrong."""
        return self.bound(Rates(n_runs, n_runs, 0, n_runs))

    def p_value(self, rates: Rates, epsilon: float) -> float:
        """Return the least level at which the bound is above an epsilon; 1 if it is at none."""
        if not self.bound(rates, 0.0) > epsilon:
            return 1.0
        low, high = np.log(_MIN_LEVEL), 0.0
        for _ in range(50):
            middle = (low + high) / 2.0
            above = self.bound(rates, 1.0 - float(np.exp(middle))) > epsilon
            low, high = (low, middle) if above else (middle, high)
        return float(np.exp(high))

    def promised(
        self, false: np.ndarray, true: np.ndarray, n_pilot: int, n_runs: int
    ) -> np.ndarray:
        """Return what to expect of `n_runs` runs a world, by counts of the pilot runs."""
        # Bounds of epsilon with "cp", of mu with "gdp". They are below 0 where nothing is
        # promised, so that the least bad can be chosen. Both error rates are put at their
        # upper bounds at `_PRUDENT`: the best of many thresholds is more often lucky than
        # good.
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
    """Return Clopper and Pearson's upper bounds of shares, of counts that need not be whole."""
    bound = betaincinv(k + 1.0, np.maximum(n - k, 1e-9), confidence)
    return np.minimum(np.where(k < n, bound, 1.0), 1.0 - 1e-9)


@dataclass(frozen=True)
class Rule:
    """Say that a table was made with the target if sign times score reaches a threshold."""

    sign: int
    threshold: float
    promised: float = float("nan")

    def rates(self, inside: np.ndarray, outside: np.ndarray) -> Rates:
        """Count right and wrong calls of scores of both worlds."""
        return rates_at(self.sign * inside, self.sign * outside, self.threshold)


def best_rule(inside: np.ndarray, outside: np.ndarray, level: Level, n_runs: int) -> Rule:
    """Return the rule that promises the highest bound of `n_runs` further runs a world."""
    rules = []
    for sign in (1, -1):
        curve = roc_curve(sign * inside, sign * outside)
        promised = level.promised(curve.false_positives, curve.true_positives, inside.size, n_runs)
        # a rule that calls all tables alike, as the first and the last do, shows nothing
        inner = slice(1, max(2, promised.size - 1))
        best = int(np.argmax(promised[inner])) + 1
        score, below = curve.thresholds[best], curve.thresholds[min(best + 1, promised.size - 1)]
        middle = (score + below) / 2.0
        threshold = float(middle if np.isfinite(middle) else score)
        rules.append(Rule(sign, threshold, float(promised[best])))
    return max(rules, key=lambda rule: rule.promised)


_PILOT_SHARE = 1.0 / 3.0  # pilot runs for each fresh one: a quarter of all runs
_NAMED_ATTACKS = (*ATTACKS, "classifier")


@declared
class DPAudit(GeneratorAttack):
    r"""Lower bound of a generator's epsilon: 0 where nothing is refuted, large where a row shows.

    A generator may claim to be differentially private: that any table it releases would have been
    nearly as likely without any one row. The audit tests the claim: it fits the generator many
    times on a table and many times on the same table without one row, and guesses from each
    synthetic table which of the two it was. No guesser can be right more often than epsilon allows,
    so that one who is right often enough refutes the claim. The generator is tested, not a release.

    Which table, row and guess show most is not known beforehand. Pilot runs try all combinations
    that are asked for. The best one is run again, and the bound comes from these fresh runs alone,
    so that it holds for any number of combinations.

    Parameters
    ----------
    generator : object, class or pair of functions
        What is audited, as :class:`~skeval.generators.GeneratorAdapter` takes it. It is fitted anew
        in each run, and each parameter `random_state` or `seed` that it has is set anew.
    base : str or list of str, default="train"
        The rows around the one that is attacked. "train": those of train. "sample": `n_base` of
        them. "one_row": the row of train that is most unlike it. "duplicates": `n_base` copies of
        that. "empty": none, so that the target stands alone; nothing would be left without it,
        which no generator is fitted on, so that this goes with ``adjacency="replace"`` or
        ``target="repeat"`` only, and "one_row" is taken instead. "worst_case": the row most unlike
        the target, and the target; what is attacked is a third row made of the cells of both in
        turn, so that no new value gives it away. Small tables show most, where the generator can be
        fitted on them.
    target : str or list of str, default="achilles"
        The row that is attacked: "achilles", "gower-knn", "isolation-forest", "rare-value",
        "random" or "canary" (a new label in each category, a number beyond the largest), as
        :func:`~skeval.privacy.attacks.shadow.select_targets` has them; or "repeat", the row that
        "achilles" selects, which stands once in one table and twice in the other.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        How the two tables differ: by one row more, or by another in its place, the most unlike of
        train. The bound is of the epsilon of the same name; the two are never to be compared with
        each other.
    n_runs : int, default=200
        Fresh runs of either table. The bound of a guess that is never wrong grows with the
        logarithm: 2.6 for 50, 4.0 for 200, 5.6 for 1000.
    n_pilot : int or None, default=None
        Pilot runs of either table, for each combination of base and target; a third of `n_runs` if
        None.
    n_base : int, default=100
        Rows of the bases "sample" and "duplicates".
    attack : str, function, classifier or list of such, default="best"
        The score that guesses go by. "presence": how many synthetic rows are equal to the target.
        "cells": how many agree with it, column by column, its rare values counting more.
        "distance": how near the nearest is. "queries": in how many sets of columns they agree with
        it. "classifier": a random forest, or any classifier with `predict_proba`, that learns from
        half of the pilot runs. A function takes the synthetic table and a table of the target, and
        returns a number. "best": the four scores that need no training.
    delta : float, default=0.0
        In [0, 1): of the (epsilon, delta) that is bounded.
    confidence : float, default=0.95
        In [3/4, 1): how often at least the bound holds.
    method : {"cp", "gdp"}, default="cp"
        "cp": valid for any mechanism. "gdp": higher, and valid only for a mechanism whose trade-off
        function is that of two normal distributions, as of the Gaussian mechanism; `delta` must be
        above 0.
    threshold : "split" or float, default="split"
        The score from which the row is guessed to be in: chosen on the pilot runs, or given. A
        given one needs no pilot runs, and goes with one base, target and attack; choose it before
        you see results.
    claimed_epsilon : float, optional
        What the generator claims, for the same adjacency and delta; ``details["verdict"]`` holds
        the bound against it.
    n_synthetic : int or None, default=None
        Rows that are sampled in each run; as many as the release has if None. More rows show more.
    max_fits : int, default=5_000
        More fits than these are refused; see :meth:`estimate_cost`.

    Raises
    ------
    InvalidParameterError
        If the parameters contradict each other, or ask for more fits than `max_fits`.

    Warnings
    --------
    The value is a lower bound of epsilon: a low one does not show that the claim holds, and a
    stronger attack may find more.

    See Also
    --------
    OneRunDPAudit : Needs one release only, and bounds less.
    ShadowMembershipInference : The same game, with a classifier that learns from tables.
    skeval.generators.DPHistogram : A generator that is differentially private.

    Notes
    -----
    Let FPR and FNR be the upper bounds of Clopper and Pearson of both error rates over n runs with
    and n runs without the row, each at half the level. The value is 0 or, if that is greater,

    .. math::

        \max\left(\ln\frac{1 - \mathrm{FNR} - \delta}{\mathrm{FPR}},
        \ln\frac{1 - \mathrm{FPR} - \delta}{\mathrm{FNR}}\right).

    The interval is from the value to infinity: **no upper bound exists**. A guesser who sees
    nothing bounds every generator by 0; 0 does not say that epsilon is small. The p-value is that
    of epsilon = 0, and ``details["ceiling"]`` the bound of a guesser who is never wrong.

    The verdict is "violation" if the bound is above the claimed epsilon, "loose" if it is below
    half of it, which says little, and "consistent" in between. Most violations seen in practice
    stem from what a generator reads off the table without paying for it, such as the categories and
    extremes of a column: "canary" detects these. A category that a pandas type lists is public and
    not detected; "repeat" and "worst_case" detect what else there is.

    A bound for "replace" also bounds the other epsilon, by half of it (delta being 0); a bound for
    "add_remove" says nothing of "replace". The runs have to be independent: a generator that draws
    all its numbers from one seed that cannot be set is not audited by this.

    References
    ----------
    M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine learning: how
    private is private SGD?", NeurIPS 2020, arXiv:2006.07709.

    M. S. M. S. Annamalai, G. Ganev, E. De Cristofaro, "What do you want from theory alone?
    Experimenting with tight auditing of differentially private synthetic data generation", USENIX
    Security 2024, arXiv:2405.10994.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap, DPHistogram
    >>> from skeval.privacy import DPAudit
    >>> train = make_mixed(100)[["city", "plan"]].dropna()
    >>> domain = {name: sorted(train[name].unique()) for name in train}
    >>> for generator in (Bootstrap(), DPHistogram(domain, epsilon=1.0)):
    ...     audit = DPAudit(generator, n_runs=40, n_synthetic=500, claimed_epsilon=1.0)
    ...     print(audit.fit(train).evaluate(train).details["verdict"])
    violation
    loose
    """

    tags = replace(AUDIT_TAGS, needs=frozenset({"generator"}))

    _: KW_ONLY
    base: Annotated[str | list[str], several_of(BASES)] = "train"
    target: Annotated[str | list[str], several_of(TARGETS)] = "achilles"
    adjacency: Literal["add_remove", "replace"] = "add_remove"
    n_runs: Count = 200
    n_pilot: Count | None = None
    n_base: Count = 100
    attack: Attacks = "best"
    delta: Annotated[float, Interval(0, 1, "left")] = 0.0
    confidence: Annotated[float, Interval(0.75, 1, "left")] = 0.95
    method: Literal["cp", "gdp"] = "cp"
    threshold: Literal["split"] | Annotated[float, Interval()] = "split"
    claimed_epsilon: NonNegative | None = None
    n_synthetic: Count | None = None
    max_fits: Count = 5_000

    def estimate_cost(self) -> int:
        """Return how often the generator will be fitted and sampled, before anything runs."""
        self.named_columns()  # raises if a parameter is illegal
        return self._plan().n_fits

    def _prepare(self, context: Context) -> None:
        plan = self._plan()
        if plan.faults:
            raise InvalidParameterError(f"DPAudit: {'; '.join(plan.faults)}.")
        cure = "n_runs, n_pilot or the number of bases and targets"
        check_cost("DPAudit", plan.n_fits, self.max_fits, cure)

    def _plan(self) -> Plan:
        best = isinstance(self.attack, str) and self.attack == "best"
        return Plan(
            self.generator,
            listed(self.base),
            listed(self.target),
            ATTACKS if best else listed(self.attack),
            self.adjacency,
            self.n_runs,
            math.ceil(self.n_runs * _PILOT_SHARE) if self.n_pilot is None else self.n_pilot,
            self.n_base,
            None if isinstance(self.threshold, str) else float(self.threshold),
            Level(float(self.delta), self.confidence, self.method),
            self.random_state,
        )

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined("no column of this table can be measured.")
        if context.n_rows("train") < 2:
            return undefined("train needs two rows, one of which can be left out.")
        plan, n_synthetic = self._plan(), self.n_synthetic or context.n_rows("synthetic")
        chosen, rates, promised = audited(context, plan, n_synthetic, self._execution)
        value = plan.level.bound(rates)
        claim = against_claim(value, self.claimed_epsilon, partial(plan.level.p_value, rates))
        details = {"n_synthetic": n_synthetic, "promised": promised, **claim}
        return Result(
            value,
            interval=(value, float("inf")),
            p_value=plan.level.p_value(rates, 0.0),
            baseline=0.0,
            details={**described(plan, chosen, rates, value), **details},
            warnings=futile(plan, self.claimed_epsilon),
            contrast=Contrast(_WHAT, rates.tpr, rates.fpr, "of tables made without it"),
            advice=(
                "Fit with more noise, or clip what one row can change: the presence of a single "
                "row shows in the tables that the generator makes."
            ),
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        true, false = (
            percent(as_float(details[f"{which}_positive_rate"])) for which in ("true", "false")
        )
        sentence = (
            f"Run {details['n_runs']} times with and {details['n_runs']} times without one row, "
            f"the generator showed that row in {true} against {false} of its tables"
        )
        if result.value == 0.0:
            return f"{sentence}: no bound above 0, which does not show that epsilon is small."
        sentence += f": its epsilon is at least {number(result.value)}"
        if details.get("verdict") == "violation":
            sentence += f"; it claims {number(as_float(details['claimed_epsilon']))}"
        return f"{sentence}."

    @classmethod
    def _light(cls) -> dict[str, Any]:
        return {"n_runs": 1, "n_pilot": 1, "n_synthetic": 20}


def described(plan: Plan, chosen: Candidate, rates: Rates, bound: float) -> dict[str, Any]:
    """Return what was run, what was counted, and what the best of guessers would have shown."""
    details = {
        "adjacency": plan.adjacency,
        "delta": plan.level.delta,
        "method": plan.level.method,
        "base": chosen.base,
        "target": chosen.target,
        "attack": chosen.name,
        "n_runs": plan.n_runs,
        "n_pilot": 0 if plan.threshold is not None else plan.n_pilot,
        "n_fits": plan.n_fits,
        "n_true_positives": rates.true_positives,
        "n_false_positives": rates.false_positives,
        "true_positive_rate": rates.tpr,
        "false_positive_rate": rates.fpr,
        "ceiling": plan.level.ceiling(plan.n_runs),
    }
    if plan.adjacency == "replace" and plan.level.delta == 0.0:
        details["epsilon_add_remove"] = bound / 2.0
    return details


def futile(plan: Plan, claimed: float | None) -> tuple[DegenerateInputWarning, ...]:
    """Return a warning if the runs are too few to refute what is claimed."""
    ceiling = plan.level.ceiling(plan.n_runs)
    if claimed is None or ceiling > claimed:
        return ()
    text = f"n_runs={plan.n_runs} bound no epsilon above {ceiling:.3g}, that claimed neither."
    return (DegenerateInputWarning(text),)


def listed(value: Any) -> tuple[Any, ...]:
    """Return one or several choices as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def several_of(names: Sequence[str]) -> Legal:
    """Return the set of a few names and of lists of distinct ones of them."""

    def is_legal(value: object) -> bool:
        chosen = listed(value)
        known = all(isinstance(name, str) and name in names for name in chosen)
        return known and 0 < len(set(chosen)) == len(chosen)

    text = f"one or several of {', '.join(map(repr, names))}"
    return Legal(text, is_legal, "no such option")


def _are_audit_attacks(value: object) -> bool:
    if isinstance(value, str):
        return value in (*_NAMED_ATTACKS, "best")
    chosen = listed(value)
    return len(chosen) > 0 and all(
        attack in _NAMED_ATTACKS
        if isinstance(attack, str)
        else not isinstance(attack, type) and (callable(attack) or is_trained(attack))
        for attack in chosen
    )


Attacks = Annotated[
    Any,
    Legal(
        f"'best', or one or several of {', '.join(map(repr, _NAMED_ATTACKS))}, a function and a "
        "classifier",
        _are_audit_attacks,
        "no such option",
    ),
]
