"""Attribute inference with access to the generator, for a sensitive value drawn at random."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.privacy.attacks.shadow.advantages import (
    Advantage,
    largest_advantage,
    largest_by_chance,
    most_exposed_target,
)
from skeval.privacy.attacks.shadow.features import FeatureChoice
from skeval.privacy.attacks.shadow.game import Execution, Game, game_rows, secret_sources
from skeval.privacy.attacks.shadow.shadow_attack import ShadowAttack, observe_tables
from skeval.privacy.attacks.shadow.targets import TargetChoice
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import clopper_pearson
from skeval.steps.classifiers import fitted_classifier
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import ColumnName, Count, Interval

_MAX_FEW_FITS = (
    "{n} tables are guessed from for each target, so the standard error of its rate of correct "
    "guesses is {error:.2f}. Use 50 or more tables for a smaller error."
)
_EXACT = 10**9  # number of trials that represents a known rate


@declared
class ShadowAttributeInference(ShadowAttack):
    """Advantage of an attacker who guesses a sensitive attribute from a synthetic table.

    An attacker knows all values of a record except one, and can run the generator. A good guess
    alone is not a leak. For example, smoking may be guessed from age and income, regardless of
    whether the record was used. Therefore, the metric plays a game in which only the target record
    contains the sensitive value. The value is drawn uniformly at random and written into the record
    before the generator learns from it. If the attacker then guesses better than random, the
    information comes from the record. The advantage is 0 for random guesses and near 1 if guesses
    are always correct. Lower is better.

    Parameters
    ----------
    secret : str
        Sensitive attribute to guess.
    targets : str, sequence of int or table, default="achilles"
        Attacked rows: a selection method as in :class:`~skeval.privacy.ShadowMembershipInference`,
        positions in the training data, or rows that are not in any table.
    n_targets : int, default=5
        Number of targets, if they are selected by a method.
    n_values : int, default=5
        Maximum number of values of the sensitive attribute: the most frequent categories of the
        real data, or the medians of equally frequent intervals of numbers.
    features : str or sequence of str, default=("query", "closest")
        Features of a table that the attacker uses, as in
        :class:`~skeval.privacy.ShadowMembershipInference`. "query" and "closest" refer to the
        target with each value in turn.
    n_shadow : int, default=100
        Number of tables to learn from, for each target.
    control : {"chance", "out"}, default="chance"
        Comparison for correct guesses. "chance" is the exact rate of random guesses, one over the
        number of values. "out" is the rate of guesses from tables made without the target, which
        requires more fits and shows the same.

    Raises
    ------
    InvalidParameterError
        At fit, if parameters contradict each other, or `max_fits` would be exceeded.

    Warnings
    --------
    The value describes one attacker, so a low value does not clear a generator.

    See Also
    --------
    ShadowMembershipInference : Guesses whether the row was in the training data.
    PrivacyGain : Compares the success of the attack with an anonymized release.
    AttributeInferenceRisk : Infers an attribute from one release, without the generator.
    DisclosureProtection : Infers an attribute from the synthetic rows with equal known columns.

    Notes
    -----
    The advantage is the rate of correct guesses minus one over the number of values. The value is
    the largest advantage over the targets, which is expected to be above 0.
    ``details["largest_by_chance"]`` is the mean of this largest advantage without a leak. The
    interval is simultaneous over the targets (Bonferroni), after Clopper and Pearson or Newcombe.
    The p-value is the smallest p-value of the targets' binomial (or Fisher's) tests after Holm. The
    baseline is 0. With m values, the largest possible advantage is ``1 - 1/m``, the advantage of an
    attacker with the raw rows (`raw_advantage`). The `privacy_gain` of a target is the reduction of
    this advantage by the release.

    With ``access="no-box"``, the attacker has no tables to learn from. The guess is then the value
    for which the target is closest to the table, or agrees with most of its rows, compared with the
    same number of rows that the attacker has ("closest" and "query" of `features`).

    Only the number of rows of the scored synthetic table is used. A random value that does not fit
    the rest of the row is more conspicuous than a true value. Therefore, the result is the risk of
    a record that is unlike the others in this attribute. :meth:`estimate_cost` returns the number
    of fits in advance.

    References
    ----------
    F. Houssiau et al., "TAPAS: a toolbox for adversarial privacy auditing of synthetic data",
    arXiv:2211.06550.
    T. Stadler, B. Oprisanu, C. Troncoso, "Synthetic data: anonymisation groundhog day", USENIX
    Security 2022, arXiv:2011.07018.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> from skeval.privacy import ShadowAttributeInference
    >>> train, holdout = make_mixed(60, random_state=0), make_mixed(60, random_state=1)
    >>> attack = ShadowAttributeInference(Bootstrap(), "plan", n_targets=1, n_shadow=30)
    >>> attack.estimate_cost()
    80
    >>> attack.fit(train, holdout).score(make_mixed(120, random_state=2)) > 0.4
    True
    """

    tags = replace(ShadowAttack.tags, risks=frozenset({"inference"}))

    secret: ColumnName
    targets: TargetChoice = "achilles"
    n_targets: Count = 5
    _: KW_ONLY
    n_values: Annotated[int, Interval(2)] = 5
    features: FeatureChoice = ("query", "closest")
    n_shadow: Annotated[int, Interval(2)] = 100
    control: Literal["chance", "out"] = "chance"

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table, at most."""
        n_without = 0 if self.control == "chance" else self.n_eval
        if self.game == "model_seeded":  # train without each of the targets
            n_without *= self._game.n_wanted_targets
        return self._game.n_wanted_targets * (self._game.n_fits("shadow") + self.n_eval) + n_without

    def _obstacle(self, context: Context) -> str:
        if secret_sources(context, self.secret, self.n_values).size < 2:
            return "the secret has one value, so there is nothing to guess."
        return ""

    def _test_generator(self, context: Context, game: Game, n_synthetic: int) -> Result:
        run = (n_synthetic, self._execution)
        advantages, n_fits = secret_guesses(context, game, self.control, *run)
        chances = [(one.chance, one.n, one.n_without or _EXACT) for one in advantages]
        described = [
            {
                "accuracy": one.n_hits / one.n,
                "accuracy_interval": list(clopper_pearson(one.n_hits, one.n, self.confidence)),
                "by_chance": one.by_chance,
                "privacy_gain": 1.0 - one.chance - one.value,
            }
            for one in advantages
        ]
        return largest_advantage(
            advantages,
            described,
            game,
            self.confidence,
            _MAX_FEW_FITS.format(n=self.n_eval, error=np.sqrt(0.25 / self.n_eval)),
            partial(Contrast, f"tables that give away the {self.secret} of a row of theirs"),
            mean_advantage=float(np.mean([one.value for one in advantages])),
            largest_by_chance=largest_by_chance(chances, self.random_state),
            raw_advantage=1.0 - advantages[0].chance,  # the secret is in the raw rows
            n_values=game_rows(context, game).n_values,
            control=self.control,
            n_synthetic=n_synthetic,
            n_fits=n_fits,
        )

    def _summary(self, result: Result) -> str:
        most = most_exposed_target(result)
        right, chance = (percent(as_float(most[name])) for name in ("accuracy", "by_chance"))
        return (
            "A secret drawn at random is guessed correctly for the most exposed of "
            f"{result.details['n_targets']} rows in {right} of the tables ({chance} is expected by "
            "chance)."
        )


@shared
def secret_guesses(
    context: Context, game: Game, control: str, n_synthetic: int, execution: Execution
) -> tuple[list[Advantage], int]:
    """Play the game of each target's value, and return the results and the number of fits."""
    worlds = [("shadow", True), ("test", True)]
    if control == "out":
        worlds.append(("test", False))
    seen, n_fits = observe_tables(context, game, worlds, n_synthetic, execution)
    rows = game_rows(context, game)
    advantages = []
    for i in range(rows.n_targets):
        model = None
        if game.learns:
            values, features = seen["shadow", True][i]
            labels = np.repeat(values, [len(part) for part in features])
            model = fitted_classifier(
                game.classifier, np.concatenate(features), labels, game.random_state
            )
        counts: dict[bool, tuple[int, int]] = {False: (0, 0)}
        for phase, inside in worlds[1:]:
            values, features = seen[phase, inside][i]
            vectors = np.concatenate(features)
            # without a model, vectors are the scores of the values
            guesses = vectors.argmax(axis=1) if model is None else model.predict(vectors)
            right = guesses == np.array(values)
            counts[inside] = int(right.sum()), right.size
        advantages.append(Advantage(*counts[True], *counts[False], chance=1.0 / rows.n_values))
    return advantages, n_fits
