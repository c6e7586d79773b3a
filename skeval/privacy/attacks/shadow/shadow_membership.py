"""Membership inference by somebody who can run the generator: the shadow model attack."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import InvalidParameterError
from skeval.parameters import Count, Interval, JobCount, OpenFraction, Seed
from skeval.privacy.attacks.shadow.duels import Played, duels, told
from skeval.privacy.attacks.shadow.features import arena_of, feature_names
from skeval.privacy.attacks.shadow.game import Rules, check_cost
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
from skeval.steps.classifiers import Classifier
from skeval.steps.samples import nothing_to_measure
from skeval.tags import MetricTags


class ShadowMembershipInference(Metric):
    """Advantage of telling whether a row was learnt from: 0 as by chance, 1 without a mistake.

    An attacker has the synthetic table, rows of the same population, and the generator: not the
    fitted one, but the software, to run it on rows of their own. They run it many times, with the
    row of one person among the rows and without it, and learn what difference the row makes to the
    table. Then they look at a table and say whether the person was in it. A person who is unlike
    the others is found where the average person is not, so that the attack is on such rows, and the
    value is that of the row which is found best.

    Parameters
    ----------
    generator : object, class or pair of callables
        Anything that :class:`~skeval.generators.GeneratorAdapter` takes. It is cloned for each fit,
        with a seed of its own; what you give is never fitted.
    targets : str, sequence of int or table, default="achilles"
        The rows that are attacked: how they are selected (see
        :func:`~skeval.privacy.attacks.shadow.select_targets`), their positions in train, or rows
        that are
        in no table.
    n_targets : int, default=5
        How many, where they are selected.
    features : str or sequence of str, default=("naive", "hist", "corr", "query", "closest")
        What the attacker sees of a table: "naive", moments of each column; "hist", shares of bins
        and levels; "corr", correlations; "query", how many rows agree with the target in random
        sets of columns; "closest", distances to the nearest rows and numbers within two radii.
        Several are put side by side; "ensemble" is all of them.
    n_shadow : int, default=50
        Tables to learn from, with each target, and as many without.
    n_eval : int, default=50
        Tables to be tested on, with each target, and as many without.
    n_synthetic : int, optional
        Rows of a table; as many as the synthetic table has that is given to score, if None.
    n_rows : int, optional
        Rows of each training table that is drawn; half of the smaller pool if None. An attacker
        who is tested on all of train (``game="model_seeded"``) learns more from tables as large.
    n_copies : int, default=1
        Tables sampled of each fit to learn from.
    classifier : classifier, optional
        What learns; 100 random trees if None.
    adjacency : {"add", "replace"}, default="add"
        Whether the target comes on top of the other rows, or in the place of one of them.
    game : {"average", "model_seeded"}, default="average"
        Whether the other rows are drawn anew for each table, or are those of train in all of them,
        so that only the seed differs. The first averages over what else train might have held, the
        second is about this train.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}, default="auxiliary"
        Which rows the attacker has: those of the holdout; all of train but the target, which is
        what differential privacy defends against; or `known_share` of these, with rows of the
        holdout in the place of the others. The last two go with ``game="model_seeded"``.
    known_share : float, default=0.5
        In (0, 1): of ``knowledge="exact-with-uncertainty"``.
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        What the attacker can run: the generator with its parameters; the generator, with
        parameters that are drawn for each table to learn from, since its own are not known; or
        nothing. A table without fits to learn from is called one with the target if the target
        is nearer to it than to as many rows that the attacker has, or agrees with more of its rows
        ("closest" and "query" of `features`; their mean is the score). Of a table with more rows
        than the attacker's, as many are looked at.
    shadow_parameters : dict of str to list or distribution, optional
        Of ``access="uncertain-box"``: by name the values of the generator's parameters that are
        drawn from, each as likely, or a distribution of :mod:`scipy.stats`.
    threshold : float or {"accuracy", "fpr"}, default=0.5
        The score from which on a table is called one with the target: a fixed one; or the one with
        the largest advantage, or with a false positive rate of at most `fpr`, on tables that were
        left out in learning.
    fpr : float, default=0.1
        Of ``threshold="fpr"``.
    attack_release : bool, default=False
        Whether what was learnt is applied to the synthetic table given to score, too.
    confidence : float, default=0.95
        Of the intervals and of the bound of epsilon.
    max_fits : int, default=1000
        A metric that would fit the generator more often is refused at fit.
    progress : callable, optional
        Called as ``progress(n_done, n_total)`` after each fit.
    n_jobs : int, optional
        Processes that fit; the result has the same bits whatever their number.
    random_state : int, default=0
        Seed of all tables, fits and classifiers.

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
    The value is about the generator on tables such as train. Of the synthetic table given to score
    only the number of rows counts, unless `attack_release` is set; games are played once for each
    such number. :meth:`estimate_cost` tells the number of fits beforehand:
    ``(n_targets + 1) (n_shadow + n_eval)``.

    The attacker learns on tables drawn from the holdout, and is tested on fresh ones drawn from
    train, so that nothing is learnt by heart. Neither pool has a target, or a row equal to one.
    With ``game="model_seeded"`` they are tested on all of train, and on train without the target:
    other rows that equal it stay.
    Training rows are shuffled for each fit, and what columns may hold is taken from train and
    holdout together: neither the place of a row nor an encoder tells it apart. Where the generator
    itself writes what its columns may hold into the table, that is a leak, and is found.

    The advantage is the true positive rate less the false positive rate. The value is the largest
    of several, which is above 0 by chance; ``details["largest_by_chance"]`` says by how much on
    average if the generator tells nothing. The interval is simultaneous over the targets
    (Bonferroni), and the p-value the smallest of Fisher's tests after Holm: both account for the
    choice. The baseline is 0.

    For each target, by rank, ``details["targets"]`` has both rates with the intervals of Clopper
    and Pearson, the advantage with Newcombe's, the `privacy_gain` (1 less the advantage), AUC and
    `epsilon`, a lower bound of the epsilon of differential privacy for adding or for replacing one
    row, as `adjacency` has it. ``details["epsilon"]`` is the largest, at a confidence that holds
    for all targets. No upper bound exists: an attack that finds nothing does not clear a generator,
    and a stronger one (more fits, ``knowledge="exact"``, other features) may find more.

    By default the tables drawn are half as large as the smaller pool. One row weighs more in a
    small table than in a large one: where train is larger, the value is too pessimistic in this.

    References
    ----------
    T. Stadler, B. Oprisanu, C. Troncoso, "Synthetic data: anonymisation groundhog day", USENIX
    Security 2022, arXiv:2011.07018.
    F. Houssiau et al., "TAPAS: a toolbox for adversarial privacy auditing of synthetic data",
    arXiv:2211.06550.
    M. Meeus, F. Guépin, A. M. Creţu, Y. A. de Montjoye, "Achilles' heels: vulnerable record
    identification in synthetic data publishing", ESORICS 2023, arXiv:2306.10308.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> from skeval.privacy import ShadowMembershipInference
    >>> train, holdout = make_mixed(60, random_state=0), make_mixed(60, random_state=1)
    >>> attack = ShadowMembershipInference(Bootstrap(), n_targets=1, n_shadow=20, features="query")
    >>> attack.estimate_cost()
    140
    >>> result = attack.fit(train, holdout).evaluate(make_mixed(120, random_state=2))
    >>> result.value, result.details["targets"][0]["fpr"]
    (1.0, 0.0)
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
        targets: TargetChoice = "achilles",
        n_targets: Count = 5,
        *,
        features: FeatureChoice = ("naive", "hist", "corr", "query", "closest"),
        n_shadow: Annotated[int, Interval(2)] = 50,
        n_eval: Annotated[int, Interval(2)] = 50,
        n_synthetic: Count | None = None,
        n_rows: Annotated[int, Interval(2)] | None = None,
        n_copies: Count = 1,
        classifier: Classifier = None,
        adjacency: Literal["add", "replace"] = "add",
        game: Literal["average", "model_seeded"] = "average",
        knowledge: Literal["auxiliary", "exact", "exact-with-uncertainty"] = "auxiliary",
        known_share: OpenFraction = 0.5,
        access: Literal["black-box", "uncertain-box", "no-box"] = "black-box",
        shadow_parameters: Ranges | None = None,
        threshold: OpenFraction | Literal["accuracy", "fpr"] = 0.5,
        fpr: OpenFraction = 0.1,
        attack_release: bool = False,
        confidence: OpenFraction = 0.95,
        max_fits: Count = 1000,
        progress: Callback | None = None,
        n_jobs: JobCount | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.generator = generator
        self.targets = targets
        self.n_targets = n_targets
        self.features = features
        self.n_shadow = n_shadow
        self.n_eval = n_eval
        self.n_synthetic = n_synthetic
        self.n_rows = n_rows
        self.n_copies = n_copies
        self.classifier = classifier
        self.adjacency = adjacency
        self.game = game
        self.knowledge = knowledge
        self.known_share = known_share
        self.access = access
        self.shadow_parameters = shadow_parameters
        self.threshold = threshold
        self.fpr = fpr
        self.attack_release = attack_release
        self.confidence = confidence
        self.max_fits = max_fits
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table."""
        n_targets = self.n_targets if isinstance(self.targets, str) else len(self.targets)
        return (n_targets + 1) * (self._rules.n_fits("shadow") + self.n_eval)

    def _prepare(self, context: Context) -> None:
        owner, rules = type(self).__name__, self._rules
        check_cost(owner, self.estimate_cost(), self.max_fits, "n_targets, n_shadow or n_eval")
        faults = game_faults(self, rules)
        if self.attack_release and self.n_synthetic is not None:
            faults.append(
                "attack_release takes tables of the size of the release: n_synthetic=None"
            )
        if not nothing_to_measure(context, "gower"):
            arena = arena_of(context, self.targets, self.n_targets, self.random_state)
            faults += arena.faults(rules)
        if faults:
            raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")

    @property
    def _rules(self) -> Rules:
        return rules_of(self, self.adjacency)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined("no column of this table can be measured.")
        arena = arena_of(context, self.targets, self.n_targets, self.random_state)
        if arena.n_drawn(self._rules) < 2:
            return undefined("train and holdout have too few rows to draw tables from.")
        n_released = context.n_rows("synthetic")
        rules = self._rules
        played = duels(
            context,
            self.generator,
            self.targets,
            self.n_targets,
            self.features,
            rules,
            self.classifier,
            self.threshold,
            self.fpr,
            self.n_synthetic or n_released,
            self.n_copies,
            execution_of(self),
        )
        result = told(played, self.confidence, self.random_state)
        details = {
            **result.details,
            "game": self.game,
            "knowledge": self.knowledge,
            "access": self.access,
            "adjacency": self.adjacency,
            "features": list(feature_names(self.features, learns=rules.learns)),
            "n_rows": arena.n_tested(rules),
            "n_synthetic": self.n_synthetic or n_released,
        }
        if self.attack_release:
            details["release"] = _released(context, played)
        return replace(result, details=details)


def _released(context: Context, played: Played) -> dict[str, Any]:
    """Return the share of the targets that the release is called one with."""
    called = []
    names = list(context.schema.kinds)
    tables = [
        played.measure(context.given("synthetic")[names], i) for i in range(len(played.duels))
    ]
    for one, vectors in zip(played.distinguishers, tables, strict=True):
        called.append(bool((one.scores(np.stack(vectors)) >= one.threshold).any()))
    return {
        "n_called_in": int(np.sum(called)),
        "share_called_in": float(np.mean(called)),
        "n_in_train": played.n_in_train,
        "mean_fpr": float(np.mean([duel.rates.fpr for duel in played.duels])),
    }
