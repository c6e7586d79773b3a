"""The membership game of several targets: played, and told of as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks._shadow_distinguishers import Distinguisher, learn_distinguisher
from skeval.privacy.attacks._shadow_features import arena_of, extractor_of, feature_names
from skeval.privacy.attacks._shadow_game import ALL, Arena, Fit, Rules, plan
from skeval.privacy.attacks._shadow_no_box import Unlearnt, onlooker_of
from skeval.privacy.attacks._shadow_runs import Execution, Measure, play
from skeval.result import Result
from skeval.stats.multiple_tests import holm
from skeval.stats.shadow import Duel, largest_by_chance, mean_advantage

__all__ = ["FEW", "Played", "collected", "duels", "measure_of", "told"]

FEW = 50
_LEVEL = 0.05
_FEW_FITS = (
    "{n} fits with and as many without a target: the advantage of one target is uncertain by "
    "{error:.2f} (standard error); 50 or more tell it better."
)

World = tuple[str, bool]
Features = dict[World, list[list[np.ndarray]]]


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
        As :class:`~skeval.privacy.attacks.shadow.ShadowMembershipInference` takes them.
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


# -------------------------------------------------------------------------------------- results


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
