"""Attribute inference with the generator at hand, of a secret that chance decided."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from skeval.context import Context, shared
from skeval.formatting import as_float, percent
from skeval.parameters import ColumnName, Count, Interval, JobCount, OpenFraction, Seed
from skeval.privacy.attacks.shadow.base import (
    Advantage,
    ShadowAttack,
    largest_advantage,
    largest_by_chance,
    most_exposed,
    observed,
)
from skeval.privacy.attacks.shadow.features import FeatureChoice
from skeval.privacy.attacks.shadow.game import (
    Callback,
    Execution,
    Game,
    GeneratorLike,
    Ranges,
    game_rows,
    secret_sources,
)
from skeval.privacy.attacks.shadow.targets import TargetChoice
from skeval.result import Result
from skeval.stats.intervals import clopper_pearson
from skeval.steps.classifiers import Classifier, fitted_classifier
from skeval.verdict import Contrast

_FEW_FITS = (
    "{n} tables are guessed from for each target: its share of right guesses is uncertain by "
    "{error:.2f} (standard error); 50 or more show it better."
)
_EXACT = 10**9  # trials that stand for a share which is known


class ShadowAttributeInference(ShadowAttack):
    """Advantage of guessing a secret from a release: 0 as by chance, near 1 if always right.

    An attacker knows all of a person but one thing, and can run the generator. A good guess alone
    is no leak: smoking may be guessed from age and income, whether or not the person took part. So
    a game is played in which nothing but the person's own row holds the secret: it is drawn at
    random, every value being equally likely, and written into the row before the generator learns
    from it. Whoever then guesses better than chance has it from the row.

    Parameters
    ----------
    generator : object, class or pair of callables
        Anything that :class:`~skeval.generators.GeneratorAdapter` takes. It is cloned for each fit,
        with a seed of its own; what you give is never fitted.
    secret : str
        The column that is guessed.
    targets : str, sequence of int or table, default="achilles"
        The rows that are attacked: how they are selected (see
        :func:`~skeval.privacy.attacks.shadow.select_targets`), their positions in train, or rows
        that are
        in no table.
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
    n_eval : int, default=50
        Tables to guess from, for each target.
    control : {"chance", "out"}, default="chance"
        What right guesses are held against: one in as many as there are values, which is exact; or
        guesses from tables made without the target, which costs fits and shows the same.
    n_synthetic : int, optional
        Rows of a table; as many as the synthetic table has that is given to score, if None.
    n_rows : int, optional
        Rows of each training table that is drawn; half of the smaller pool if None.
    n_copies : int, default=1
        Tables sampled of each fit to learn from.
    classifier : classifier, optional
        What guesses; 100 random trees if None.
    game : {"average", "model_seeded"}, default="average"
        Whether the other rows are drawn anew for each table, or are those of train in all of them.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}, default="auxiliary"
        Which rows the attacker has: those of the holdout; all of train but the target, which is
        what differential privacy defends against; or `known_share` of these, with rows of the
        holdout in the place of the others. The last two go with ``game="model_seeded"``.
    known_share : float, default=0.5
        In (0, 1): of ``knowledge="exact-with-uncertainty"``.
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        What the attacker can run: the generator with its parameters; the generator, with
        parameters that are drawn for each table to learn from, since its own are not known; or
        nothing. Without fits to learn from, the value is guessed that makes the target
        nearest to the table, or agree with most of its rows, each against as many rows that the
        attacker has ("closest" and "query" of `features`).
    shadow_parameters : dict of str to list or distribution, optional
        Of ``access="uncertain-box"``: by name the values of the generator's parameters that are
        drawn from, each as likely, or a distribution of :mod:`scipy.stats`.
    confidence : float, default=0.95
        Of the intervals.
    max_fits : int, default=1000
        A metric that would fit the generator more often is refused at fit.
    progress : callable, optional
        Called as ``progress(n_done, n_total)`` after each fit.
    n_jobs : int, optional
        Processes that fit; the result has the same bits whatever their number.
    random_state : int, default=0
        Seed of all tables, secrets, fits and classifiers.

    Attributes
    ----------
    context_ : Context
        The real tables.

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

    Of the synthetic table given to score only the number of rows counts. A secret that does not fit
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

    def __init__(
        self,
        generator: GeneratorLike,
        secret: ColumnName,
        targets: TargetChoice = "achilles",
        n_targets: Count = 5,
        *,
        n_values: Annotated[int, Interval(2)] = 5,
        features: FeatureChoice = ("query", "closest"),
        n_shadow: Annotated[int, Interval(2)] = 100,
        n_eval: Annotated[int, Interval(2)] = 50,
        control: Literal["chance", "out"] = "chance",
        n_synthetic: Count | None = None,
        n_rows: Annotated[int, Interval(2)] | None = None,
        n_copies: Count = 1,
        classifier: Classifier = None,
        game: Literal["average", "model_seeded"] = "average",
        knowledge: Literal["auxiliary", "exact", "exact-with-uncertainty"] = "auxiliary",
        known_share: OpenFraction = 0.5,
        access: Literal["black-box", "uncertain-box", "no-box"] = "black-box",
        shadow_parameters: Ranges | None = None,
        confidence: OpenFraction = 0.95,
        max_fits: Count = 1000,
        progress: Callback | None = None,
        n_jobs: JobCount | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.generator = generator
        self.secret = secret
        self.targets = targets
        self.n_targets = n_targets
        self.n_values = n_values
        self.features = features
        self.n_shadow = n_shadow
        self.n_eval = n_eval
        self.control = control
        self.n_synthetic = n_synthetic
        self.n_rows = n_rows
        self.n_copies = n_copies
        self.classifier = classifier
        self.game = game
        self.knowledge = knowledge
        self.known_share = known_share
        self.access = access
        self.shadow_parameters = shadow_parameters
        self.confidence = confidence
        self.max_fits = max_fits
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table, at most."""
        n_without = 0 if self.control == "chance" else self.n_eval
        if self.game == "model_seeded":  # train without each of the targets
            n_without *= self._game.n_asked
        return self._game.n_asked * (self._game.n_fits("shadow") + self.n_eval) + n_without

    def _lacking(self, context: Context) -> str:
        if secret_sources(context, self.secret, self.n_values).size < 2:
            return "the secret has one value, so that there is nothing to guess."
        return ""

    def _tested(
        self, context: Context, game: Game, n_synthetic: int, execution: Execution
    ) -> Result:
        advantages, n_fits = secret_guesses(context, game, self.control, n_synthetic, execution)
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
            _FEW_FITS.format(n=self.n_eval, error=np.sqrt(0.25 / self.n_eval)),
            partial(Contrast, f"tables that give away the {self.secret} of a row of theirs"),
            mean_advantage=float(np.mean([one.value for one in advantages])),
            largest_by_chance=largest_by_chance(chances, self.random_state),
            raw_advantage=1.0 - advantages[0].chance,  # the secret stands in the raw rows
            n_values=game_rows(context, game).n_values,
            control=self.control,
            n_synthetic=n_synthetic,
            n_fits=n_fits,
        )

    def _summary(self, result: Result) -> str:
        most = most_exposed(result)
        right, chance = (percent(as_float(most[name])) for name in ("accuracy", "by_chance"))
        return (
            "A secret drawn at random is guessed rightly for the most exposed of "
            f"{result.details['n_targets']} rows in {right} of the tables; {chance} would be by "
            "chance."
        )

    @classmethod
    def _light(cls) -> dict[str, Any]:
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(random_state=0)
        few = {"n_targets": 1, "n_shadow": 2, "n_eval": 3}
        return {**few, "features": "closest", "classifier": tree}


@shared
def secret_guesses(
    context: Context, game: Game, control: str, n_synthetic: int, execution: Execution
) -> tuple[list[Advantage], int]:
    """Play the game of each target's secret; return how it went, and the number of fits."""
    worlds = [("shadow", True), ("test", True)]
    if control == "out":
        worlds.append(("test", False))
    seen, n_fits = observed(context, game, worlds, n_synthetic, execution)
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
