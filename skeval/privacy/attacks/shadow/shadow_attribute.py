"""Attribute inference by somebody who can run the generator, on a secret that chance decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import binom

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.parameters import ColumnName, Count, Interval, JobCount, OpenFraction, Seed
from skeval.privacy.attacks.shadow.duels import (
    FEW,
    collected,
    fitted_classifier,
    largest_by_chance,
    measure_of,
)
from skeval.privacy.attacks.shadow.features import arena_of, feature_names, secret_sources
from skeval.privacy.attacks.shadow.game import ALL, Execution, Rules, check_cost, plan, play
from skeval.privacy.attacks.shadow.no_box import Unlearnt
from skeval.privacy.attacks.shadow.parameters import (
    Callback,
    FeatureChoice,
    GeneratorLike,
    Ranges,
    execution_of,
    game_faults,
    rules_of,
)
from skeval.privacy.attacks.shadow.targets import TargetChoice
from skeval.result import Result, undefined
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import holm, share_p_value
from skeval.steps.classifiers import Classifier
from skeval.tags import MetricTags

_LEVEL = 0.05
_FEW_FITS = (
    "{n} tables are guessed from for each target: its share of right guesses is uncertain by "
    "{error:.2f} (standard error); 50 or more tell it better."
)


class ShadowAttributeInference(Metric):
    """Advantage of guessing a secret from a release: 0 as by chance, near 1 if always right.

    An attacker knows all of a person but one thing, and can run the generator. A good guess alone
    is no leak: smoking may be guessed from age and income, whether or not the person took part. So
    a game is played in which nothing but the person's own row tells the secret: it is drawn at
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
        the middles of so many equal parts of the numbers in order.
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

    Notes
    -----
    The advantage is the share of right guesses less one over the number of values. The value is the
    largest of all targets, which is above 0 by chance; ``details["largest_by_chance"]`` says by how
    much on average. The interval is simultaneous over the targets (Bonferroni), of Clopper and
    Pearson or Newcombe, and the p-value the smallest of the targets' binomial (or Fisher's) tests
    after Holm. The baseline is 0. With m values no advantage is above ``1 - 1/m``.

    Of the synthetic table given to score only the number of rows counts. A secret that does not fit
    the rest of the row stands out more than a true one would: this is the risk of a person who is
    unlike the others in it. :meth:`estimate_cost` tells the number of fits beforehand.

    This is what one adversary achieves: a low value does not clear a generator.

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

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout", "generator"}),
        greater_is_better=False,
        bounds=(-1.0, 1.0),
        evidence="attack",
    )

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
        n_targets = self.n_targets if isinstance(self.targets, str) else len(self.targets)
        n_without = 0 if self.control == "chance" else self.n_eval
        if self.game == "model_seeded":  # train without each of the targets
            n_without *= n_targets
        n_learnt = rules_of(self, "add").n_fits("shadow")
        return n_targets * (n_learnt + self.n_eval) + n_without

    def _prepare(self, context: Context) -> None:
        owner, rules = type(self).__name__, rules_of(self, "add")
        check_cost(owner, self.estimate_cost(), self.max_fits, "n_targets, n_shadow or n_eval")
        faults = game_faults(self, rules)
        if not self._lacks_values(context):
            faults += arena_of(context, *self._arena).faults(rules)
        if faults:
            raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")

    @property
    def _arena(self) -> tuple[Any, ...]:
        return self.targets, self.n_targets, self.random_state, self.secret, self.n_values

    def _lacks_values(self, context: Context) -> bool:
        return secret_sources(context, self.secret, self.n_values).size < 2

    def _compute(self, context: Context) -> Result:
        if self._lacks_values(context):
            return undefined("the secret has one value, so that there is nothing to guess.")
        rules = rules_of(self, "add")
        if arena_of(context, *self._arena).n_drawn(rules) < 2:
            return undefined("train and holdout have too few rows to draw tables from.")
        n_synthetic = self.n_synthetic or context.n_rows("synthetic")
        tests, n_fits = guessed(
            context,
            self.generator,
            self._arena,
            self.features,
            rules,
            self.control,
            self.classifier,
            n_synthetic,
            self.n_copies,
            execution_of(self),
        )
        return self._told(tests, n_fits, n_synthetic)

    def _told(self, tests: Sequence[Guessing], n_fits: int, n_synthetic: int) -> Result:
        together = 1.0 - (1.0 - self.confidence) / len(tests)  # Bonferroni
        intervals = [one.interval(together) for one in tests]
        corrected = holm([one.p_value for one in tests])
        chances = [(1.0 / one.n_values, one.n, one.n_without or 10**9) for one in tests]
        details = {
            "targets": [
                {"target": f"target {i + 1}", **one.told(self.confidence), "holm_p_value": p_value}
                for i, (one, p_value) in enumerate(zip(tests, corrected, strict=True))
            ],
            "mean_advantage": float(np.mean([one.advantage for one in tests])),
            "largest_by_chance": largest_by_chance(chances, self.random_state),
            "n_significant": int(np.sum(np.array(corrected) < _LEVEL)),
            "n_targets": len(tests),
            "n_values": tests[0].n_values,
            "control": self.control,
            "game": self.game,
            "knowledge": self.knowledge,
            "access": self.access,
            "features": list(feature_names(self.features, learns=self.access != "no-box")),
            "n_synthetic": n_synthetic,
            "n_fits": n_fits,
        }
        text = _FEW_FITS.format(n=self.n_eval, error=np.sqrt(0.25 / self.n_eval))
        return Result(
            max(one.advantage for one in tests),
            interval=(max(low for low, _ in intervals), max(high for _, high in intervals)),
            p_value=min(corrected),
            baseline=0.0,
            details=details,
            warnings=(MetricWarning(text),) if self.n_eval < FEW else (),
        )


@shared
def guessed(
    context: Context,
    generator: Any,
    arena_key: tuple[Any, ...],
    features: str | Sequence[str],
    rules: Rules,
    control: str,
    classifier: Any,
    n_synthetic: int,
    n_copies: int,
    execution: Execution,
) -> tuple[list[Guessing], int]:
    """Play the game of each target's secret; return how it went, and the number of fits."""
    arena = arena_of(context, *arena_key)
    measure = measure_of(context, arena, features, rules, n_synthetic, secret=arena_key[3])
    worlds = [("shadow", True), ("test", True)]
    fits = plan(rules, arena, [*worlds, ("test", False)] if control == "out" else worlds)
    tables = play(
        generator,
        arena.table,
        fits,
        measure,
        n_synthetic=n_synthetic,
        n_copies=n_copies,
        execution=execution,
    )
    found = collected(fits, tables, arena.n_targets)
    tests = []
    for i in range(arena.n_targets):
        secrets = {
            world: np.array(
                [
                    fit.value
                    for fit in fits
                    if (fit.phase, fit.inside) == world and fit.target in (i, ALL)
                ]
            )
            for world in found
        }
        model: Any = Unlearnt()
        if rules.learns:
            learnt = found["shadow", True][i]
            labels = np.repeat(secrets["shadow", True], [len(part) for part in learnt])
            model = fitted_classifier(classifier, np.concatenate(learnt), labels, rules.seed)
        counts: dict[bool, tuple[int, int]] = {False: (0, 0)}
        for phase, inside in found:
            if phase == "test":
                guesses = model.predict(np.concatenate(found[phase, inside][i]))
                right = guesses == secrets[phase, inside]
                counts[inside] = int(right.sum()), right.size
        tests.append(Guessing(*counts[True], arena.n_values, *counts[False]))
    return tests, len(fits)


@dataclass(frozen=True)
class Guessing:
    """Guesses of a secret, each value of which was equally likely.

    Attributes
    ----------
    n_right, n : int
        Right guesses, and all, from tables made with the person.
    n_values : int
        Number of values.
    n_right_without, n_without : int
        From tables made without the person; no such tables if 0.
    """

    n_right: int
    n: int
    n_values: int
    n_right_without: int = 0
    n_without: int = 0

    @property
    def by_chance(self) -> float:
        """Share of right guesses to expect without the person."""
        return self.n_right_without / self.n_without if self.n_without else 1.0 / self.n_values

    @property
    def advantage(self) -> float:
        """Share of right guesses beyond that."""
        return self.n_right / self.n - self.by_chance

    @property
    def p_value(self) -> float:
        """One-sided: of the binomial test, or of Fisher's against tables without the person."""
        if self.n_without:
            return share_p_value(self.n_right, self.n, self.n_right_without, self.n_without)
        return float(binom.sf(self.n_right - 1, self.n, 1.0 / self.n_values))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the advantage: Clopper and Pearson's, or Newcombe's."""
        if self.n_without:
            return newcombe(self.n_right, self.n, self.n_right_without, self.n_without, confidence)
        low, high = clopper_pearson(self.n_right, self.n, confidence)
        return low - self.by_chance, high - self.by_chance

    def told(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return all of it by name.

        Examples
        --------
        >>> from skeval.privacy.attacks.shadow.shadow_attribute import Guessing
        >>> told = Guessing(15, 20, 4).told()
        >>> told["advantage"], round(told["p_value"], 6)
        (0.5, 4e-06)
        """
        return {
            "accuracy": self.n_right / self.n,
            "accuracy_interval": list(clopper_pearson(self.n_right, self.n, confidence)),
            "by_chance": self.by_chance,
            "advantage": self.advantage,
            "interval": list(self.interval(confidence)),
            "p_value": self.p_value,
        }
