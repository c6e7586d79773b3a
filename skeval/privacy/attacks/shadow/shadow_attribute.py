"""Attribute inference with the generator at hand, of a secret that chance decided."""

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
    "{n} tables are guessed from for each target: its share of right guesses is uncertain by "
    "{error:.2f} (standard error); 50 or more show it better."
)
_EXACT = 10**9  # trials that stand for a share which is known


@declared
class ShadowAttributeInference(ShadowAttack):
    """Advantage of guessing a secret from a release: 0 as by chance, near 1 if always right.

    An attacker knows all of a person but one thing, and can run the generator. A good guess alone
    is no leak: smoking may be guessed from age and income, whether or not the person took part. So
    a game is played in which nothing but the person's own row holds the secret: it is drawn at
    random, every value being equally likely, and written into the row before the generator learns
    from it. An attacker who then guesses better than chance has it from the row.

    Parameters
    ----------
    secret : str
        The column that is guessed.
    targets : str, sequence of int or table, default="achilles"
        The rows that are attacked: how they are selected, as in
        :class:`~skeval.privacy.ShadowMembershipInference`; their positions in train; or rows that
        are in no table.
    n_targets : int, default=5
        How many, where they are selected.
    n_values : int, default=5
        Values that the secret may have, at most: the most frequent labels of train and holdout, or
        the middles of as many equal parts of the numbers in order.
    features : str or sequence of str, default=("query", "closest")
        What the attacker sees of a table, as in
        :class:`~skeval.privacy.ShadowMembershipInference`; "query" and "closest" are
        about the target with each value in turn.
    n_shadow : int, default=100
        Tables to learn from, for each target.
    control : {"chance", "out"}, default="chance"
        What right guesses are compared with. "chance": one in as many as there are values, which is
        exact. "out": guesses from tables made without the target, which costs fits and shows the
        same.

    Raises
    ------
    InvalidParameterError
        At fit, if parameters contradict each other, or `max_fits` would be exceeded.

    Warnings
    --------
    This is what one adversary achieves: a low value does not clear a generator.

    See Also
    --------
    ShadowMembershipInference : Guesses whether the row was there at all.
    PrivacyGain : Compares what is left of the attack with an anonymised release.
    AttributeInferenceRisk : Guesses a secret from one release, without the generator.
    DisclosureProtection : How often a secret can be read off a release.

    Notes
    -----
    The advantage is the share of right guesses less one over the number of values. The value is the
    largest of all targets, which is above 0 by chance; ``details["largest_by_chance"]`` says by how
    much on average. The interval is simultaneous over the targets (Bonferroni), of Clopper and
    Pearson or Newcombe, and the p-value the smallest of the targets' binomial (or Fisher's) tests
    after Holm. The baseline is 0. With m values no advantage is above ``1 - 1/m``, that of an
    attacker who has the raw rows (`raw_advantage`); what the release takes from it is the target's
    `privacy_gain`.

    With ``access="no-box"`` there are no tables to learn from. The value is then guessed that makes
    the target nearest to the table, or agree with most of its rows, each compared with as many rows
    that the attacker has ("closest" and "query" of `features`).

    Only the number of rows of the synthetic table given to score counts. A secret that does not fit
    the rest of the row stands out more than a true one would: this is the risk of a person who is
    unlike the others in it. :meth:`estimate_cost` returns the number of fits beforehand.

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
            return "the secret has one value, so that there is nothing to guess."
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
            "A secret drawn at random is guessed rightly for the most exposed of "
            f"{result.details['n_targets']} rows in {right} of the tables; {chance} would be by "
            "chance."
        )


@shared
def secret_guesses(
    context: Context, game: Game, control: str, n_synthetic: int, execution: Execution
) -> tuple[list[Advantage], int]:
    """Play the game of each target's secret; return how it went, and the number of fits."""
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
