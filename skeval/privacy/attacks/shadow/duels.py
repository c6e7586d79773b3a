"""The membership game of several targets: distinguishers, rates and bounds of epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skeval.context import Context, shared
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.shadow.features import arena_of, extractor_of, feature_names
from skeval.privacy.attacks.shadow.game import (
    ALL,
    Arena,
    Execution,
    Fit,
    Measure,
    Rules,
    plan,
    play,
)
from skeval.privacy.attacks.shadow.no_box import Unlearnt, onlooker_of
from skeval.result import Result
from skeval.stats.dp_audit import two_world_epsilon
from skeval.stats.intervals import newcombe
from skeval.stats.relabelling import holm, share_p_value
from skeval.stats.roc import Rates, advantage_threshold, delong, rates_at, threshold_at
from skeval.stats.row_scores import difference_interval, row_mean
from skeval.steps.classifiers import seeded

FEW = 50
_LEVEL = 0.05
_FEW_FITS = (
    "{n} fits with and as many without a target: the advantage of one target is uncertain by "
    "{error:.2f} (standard error); 50 or more tell it better."
)
World = tuple[str, bool]
Features = dict[World, list[list[np.ndarray]]]
_N_FOLDS = 5
Tables = Sequence[np.ndarray]
_N_DRAWS = 2000


@dataclass(frozen=True)
class Played:
    """A game that was played.

    Attributes
    ----------
    duels : list of Duel
        The test of each target.
    distinguishers : list of Distinguisher
        What was learnt of each.
    measure : callable
        Gives what they look at, of a table and a target.
    shared_inside, shared_outside : bool
        Whether all targets were tested on the same tables.
    n_fits : int
        How often the generator was fitted.
    n_in_train : int
        How many targets are rows of train.
    """

    duels: list[Duel]
    distinguishers: list[Distinguisher | Unlearnt]
    measure: Measure[list[np.ndarray]]
    shared_inside: bool
    shared_outside: bool
    n_fits: int
    n_in_train: int


@shared
def duels(
    context: Context,
    generator: Any,
    targets: Any,
    n_targets: int,
    features: str | Sequence[str],
    rules: Rules,
    classifier: Any,
    threshold: float | str,
    fpr: float,
    n_synthetic: int,
    n_copies: int,
    execution: Execution,
) -> Played:
    """Play the membership game of each target.

    Parameters
    ----------
    context : Context
        Of the real tables.
    generator : object
        To be fitted.
    targets, n_targets : object, int
        As :class:`~skeval.privacy.ShadowMembershipInference` takes them.
    features : str or sequence of str
        Kinds of features.
    rules : Rules
        How tables are drawn.
    classifier, threshold, fpr : object, float or str, float
        As :func:`learn_distinguisher` takes them.
    n_synthetic, n_copies : int
        Rows of a synthetic table, tables of a fit to learn from.
    execution : Execution
        No result depends on it.

    Returns
    -------
    Played
    """
    arena = arena_of(context, targets, n_targets, rules.seed)
    measure = measure_of(context, arena, features, rules, n_synthetic)
    fits = plan(rules, arena)
    found = collected(
        fits,
        play(
            generator,
            arena.table,
            fits,
            measure,
            n_synthetic=n_synthetic,
            n_copies=n_copies,
            execution=execution,
        ),
        arena.n_targets,
    )
    learnt: list[Distinguisher | Unlearnt] = []
    tests = []
    for i in range(arena.n_targets):
        one: Distinguisher | Unlearnt
        if rules.learns:
            with_it, without = (found["shadow", inside][i] for inside in (True, False))
            one = learn_distinguisher(classifier, with_it, without, threshold, fpr, rules.seed)
        else:
            one = Unlearnt(float(threshold))
        scores = [one.scores(np.concatenate(found["test", inside][i])) for inside in (True, False)]
        learnt.append(one)
        tests.append(Duel(scores[0], scores[1], one.threshold))
    common = {fit.inside for fit in fits if fit.phase == "test" and fit.target == ALL}
    return Played(
        tests, learnt, measure, True in common, False in common, len(fits), arena.n_in_train
    )


def measure_of(
    context: Context,
    arena: Arena,
    features: str | Sequence[str],
    rules: Rules,
    n_synthetic: int,
    secret: str | None = None,
) -> Measure[list[np.ndarray]]:
    """Return what an attacker keeps of a table: features to learn from, or scores as they are."""
    names = feature_names(features, learns=rules.learns)
    extractor = extractor_of(context, arena, names, rules.seed, secret)
    if rules.learns:
        return extractor
    return onlooker_of(extractor, arena, rules, n_synthetic)


def collected(fits: Sequence[Fit], measured: Any, n_targets: int) -> Features:
    """Return by world, for each target, the features of the tables of each fit.

    Returns
    -------
    dict
        Of (phase, inside) to lists of arrays of shape (n_copies, n_features).
    """
    found: Features = {}
    for fit, tables in zip(fits, measured, strict=True):
        world = found.setdefault((fit.phase, fit.inside), [[] for _ in range(n_targets)])
        targets = range(n_targets) if fit.target == ALL else [fit.target]
        for place, i in enumerate(targets):
            world[i].append(np.stack([vectors[place] for vectors in tables]))
    return found


def told(played: Played, confidence: float, seed: int) -> Result:
    """Return the largest advantage, corrected for being the largest, and what is behind it."""
    tests = played.duels
    n_targets, rates = len(tests), [duel.rates for duel in tests]
    together = 1.0 - (1.0 - confidence) / n_targets  # Bonferroni
    intervals = [duel.interval(together) for duel in tests]
    corrected = holm([duel.p_value for duel in tests])
    by_chance = largest_by_chance(
        [
            (
                (r.true_positives + r.false_positives) / (r.n_positives + r.n_negatives),
                r.n_positives,
                r.n_negatives,
            )
            for r in rates
        ],
        seed,
    )
    mean, around = mean_advantage(
        [duel.inside >= duel.threshold for duel in tests],
        [duel.outside >= duel.threshold for duel in tests],
        shared_inside=played.shared_inside,
        shared_outside=played.shared_outside,
        confidence=confidence,
    )
    details: dict[str, Any] = {
        # ranks alone: neither a position nor a cell says which row of train it is
        "targets": [
            {"target": f"target {i + 1}", **duel.told(confidence), "holm_p_value": p_value}
            for i, (duel, p_value) in enumerate(zip(tests, corrected, strict=True))
        ],
        "mean_advantage": {"value": mean, "interval": list(around)},
        "largest_by_chance": by_chance,
        "n_significant": int(np.sum(np.array(corrected) < _LEVEL)),
        "n_targets": n_targets,
        "epsilon": max(duel.epsilon(together) for duel in tests),
        "n_fits": played.n_fits,
    }
    return Result(
        max(duel.advantage for duel in tests),
        interval=(max(low for low, _ in intervals), max(high for _, high in intervals)),
        p_value=min(corrected),
        baseline=0.0,
        details=details,
        warnings=_few_fits(rates[0].n_positives),
    )


def _few_fits(n_test: int) -> tuple[MetricWarning, ...]:
    if n_test >= FEW:
        return ()
    return (MetricWarning(_FEW_FITS.format(n=n_test, error=np.sqrt(0.5 / n_test))),)


@dataclass(frozen=True)
class Distinguisher:
    """A classifier and the score from which on a table is called one with the target.

    Attributes
    ----------
    classifier : estimator
        It has learnt 1 for tables with the target.
    threshold : float
        Of its scores.
    """

    classifier: Any
    threshold: float

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return the scores of tables."""
        return _scores(self.classifier, features)


def fitted_classifier(classifier: Any, features: np.ndarray, labels: np.ndarray, seed: int) -> Any:
    """Fit a clone of a classifier; a random forest if it is None."""
    if classifier is None:
        # not at the top: who never asks for a classifier need not wait for it
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(100, random_state=seed).fit(features, labels)
    return seeded(clone(classifier), seed).fit(features, labels)


def _scores(classifier: Any, features: np.ndarray) -> np.ndarray:
    """Return scores in [0, 1], above 1/2 for the label 1."""
    if hasattr(classifier, "predict_proba"):
        column = list(classifier.classes_).index(1)
        return np.asarray(classifier.predict_proba(features)[:, column], dtype=np.float64)
    if hasattr(classifier, "decision_function"):
        margin = np.asarray(classifier.decision_function(features), dtype=np.float64)
        return 0.5 + 0.5 * margin / (1.0 + np.abs(margin))
    return np.asarray(classifier.predict(features), dtype=np.float64)


def learn_distinguisher(
    classifier: Any,
    inside: Tables,
    outside: Tables,
    threshold: float | str,
    fpr: float,
    seed: int,
) -> Distinguisher:
    """Learn to tell tables with a target from tables without it.

    Parameters
    ----------
    classifier : classifier or None
        A random forest if None.
    inside, outside : sequence of ndarray of shape (n_copies, n_features)
        For each fit the features of its tables.
    threshold : float or {"accuracy", "fpr"}
        A fixed score; or that of the largest advantage, or of the largest true positive rate at a
        false positive rate of at most `fpr`, over scores of fits that were not learnt from.
    fpr : float
        As said.
    seed : int
        Of classifiers without a seed.

    Returns
    -------
    Distinguisher
    """
    model = _learnt(classifier, inside, outside, seed)
    if not isinstance(threshold, str):
        return Distinguisher(model, float(threshold))
    n_folds = min(_N_FOLDS, len(inside), len(outside))
    scores: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(n_folds):
        seen = [
            [tables for i, tables in enumerate(world) if i % n_folds != fold]
            for world in (inside, outside)
        ]
        judge = _learnt(classifier, seen[0], seen[1], seed)
        for found, world in zip(scores, (inside, outside), strict=True):
            found += [_scores(judge, tables) for tables in world[fold::n_folds]]
    with_it, without = (np.concatenate(found) for found in scores)
    if threshold == "accuracy":
        at = advantage_threshold(with_it, without)
    else:
        at = threshold_at(with_it, without, fpr)
    at = np.inf if np.isnan(at) else at
    return Distinguisher(model, midway(np.concatenate([with_it, without]), at))


def _learnt(classifier: Any, inside: Tables, outside: Tables, seed: int) -> Any:
    features = np.concatenate([*inside, *outside])
    n_inside = sum(len(tables) for tables in inside)
    labels = (np.arange(len(features)) < n_inside).astype(np.int64)
    return fitted_classifier(classifier, features, labels, seed)


@dataclass(frozen=True)
class Duel:
    """Scores of tables that were made with a target and of tables that were made without it.

    Attributes
    ----------
    inside, outside : ndarray of shape (n_in,), (n_out,)
        The higher, the more likely with it; of independent fits.
    threshold : float
        At or above, a table is called one with the target. Chosen without these tables.
    """

    inside: np.ndarray
    outside: np.ndarray
    threshold: float

    @property
    def rates(self) -> Rates:
        """How many tables are called in."""
        return rates_at(self.inside, self.outside, self.threshold)

    @property
    def advantage(self) -> float:
        """True less false positive rate."""
        return self.rates.tpr - self.rates.fpr

    @property
    def p_value(self) -> float:
        """Of Fisher's test that both rates are equal, one-sided."""
        r = self.rates
        return share_p_value(r.true_positives, r.n_positives, r.false_positives, r.n_negatives)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Newcombe's interval of the advantage."""
        r = self.rates
        return newcombe(
            r.true_positives, r.n_positives, r.false_positives, r.n_negatives, confidence
        )

    def epsilon(self, confidence: float = 0.95) -> float:
        """Return a lower bound of epsilon, from Clopper and Pearson's bounds of both rates."""
        r = self.rates
        return two_world_epsilon(
            r.true_positives,
            r.n_positives,
            r.false_positives,
            r.n_negatives,
            confidence=confidence,
        )

    def told(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return all of it by name.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.privacy.attacks.shadow.duels import Duel
        >>> told = Duel(np.array([0.9, 0.8, 0.2]), np.array([0.3, 0.1]), 0.5).told()
        >>> round(told["advantage"], 4), round(told["privacy_gain"], 4), told["fpr"]
        (0.6667, 0.3333, 0.0)
        """
        rates, area = self.rates, delong(self.inside, self.outside, confidence)
        of_inside, of_outside = rates.intervals(confidence)
        return {
            "tpr": rates.tpr,
            "tpr_interval": list(of_inside),
            "fpr": rates.fpr,
            "fpr_interval": list(of_outside),
            "advantage": self.advantage,
            "interval": list(self.interval(confidence)),
            "p_value": self.p_value,
            "privacy_gain": 1.0 - self.advantage,
            "auc": area.value,
            "auc_interval": list(area.interval),
            "epsilon": self.epsilon(confidence),
        }


def largest_by_chance(rates: Sequence[tuple[float, int, int]], seed: int = 0) -> float:
    """Return what the largest of several differences of shares is on average without a difference.

    Parameters
    ----------
    rates : sequence of (float, int, int)
        For each pair the common share, and the numbers of trials of both.
    seed : int, default=0
        Of 2,000 draws of all counts, as if they were independent.

    Returns
    -------
    float
        0 for one pair.

    Examples
    --------
    >>> from skeval.privacy.attacks.shadow.duels import largest_by_chance
    >>> round(largest_by_chance([(0.5, 50, 50)] * 5), 2), largest_by_chance([(0.5, 50, 50)])
    (0.12, 0.0)
    """
    if len(rates) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    differences = [
        rng.binomial(n, share, _N_DRAWS) / n - rng.binomial(m, share, _N_DRAWS) / m
        for share, n, m in rates
    ]
    return float(np.max(differences, axis=0).mean())


def mean_advantage(
    inside: Sequence[np.ndarray],
    outside: Sequence[np.ndarray],
    *,
    shared_inside: bool = False,
    shared_outside: bool = False,
    confidence: float = 0.95,
) -> tuple[float, tuple[float, float]]:
    """Return the mean of several targets' advantages, and its interval.

    Parameters
    ----------
    inside, outside : sequence of ndarray
        For each target which tables with it, and which without it, are called in.
    shared_inside, shared_outside : bool, default=False
        Whether these are the same tables for all targets: they count once then.
    confidence : float, default=0.95
        In (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.duels import mean_advantage
    >>> yes, no = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)
    >>> value, (low, high) = mean_advantage([yes, no], [no, no], shared_outside=True)
    >>> value, round(low, 2), round(high, 2)
    (0.5, 0.36, 0.61)
    """
    means = []
    for calls, common in ((inside, shared_inside), (outside, shared_outside)):
        if common:  # one score a table
            totals = np.sum(calls, axis=0).astype(np.float64)
            counts = np.full(totals.size, len(calls))
        else:
            totals = np.concatenate(calls).astype(np.float64)
            counts = np.ones(totals.size, dtype=np.int64)
        means.append(row_mean((totals, counts), confidence=confidence))
    first, second = means
    value = first.value - second.value
    return value, difference_interval(first.value, first.interval, second.value, second.interval)


def midway(scores: np.ndarray, threshold: float) -> float:
    """Return the middle between a threshold and the next lower score: scores of others differ.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.duels import midway
    >>> midway(np.array([0.1, 0.3, 0.7, 0.9]), 0.7), midway(np.array([0.1]), 0.1)
    (0.5, 0.1)
    """
    below = scores[scores < threshold]
    if below.size == 0 or not np.isfinite(threshold):
        return float(threshold)
    return float((threshold + below.max()) / 2.0)
