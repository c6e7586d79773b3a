"""Membership inference with the generator at hand: the shadow model attack.

What both shadow attacks have in common: parameters, refusals, and the largest of advantages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import binom

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import SHADOW_TAGS
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.generators.adapter import unknown_parameters
from skeval.privacy.attacks.shadow.features import FeatureChoice, feature_names, measure_of
from skeval.privacy.attacks.shadow.game import (
    ALL,
    WORLDS,
    Execution,
    Game,
    GeneratorAttack,
    Ranges,
    World,
    check_cost,
    game_rows,
    plan,
    play,
)
from skeval.privacy.attacks.shadow.targets import TargetChoice
from skeval.results.result import Result, undefined
from skeval.results.verdict import ALARM_LEVEL, TEST_LEVEL, Contrast
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import difference_interval, holm, row_mean, share_p_value
from skeval.stats.risks import two_world_epsilon
from skeval.stats.roc import Rates, advantage_threshold, delong, rates_at, threshold_at
from skeval.steps.classifiers import Classifier, fitted_classifier, positive_scores
from skeval.steps.samples import nothing_to_measure
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Count, Interval, OpenFraction

_MIN_TABLES = 50  # tables that a target is tested on
_N_DRAWS = 2000
# by world, for each target: of each fit the value of the secret, and the features of its tables
Observed = dict[World, list[tuple[list[int], list[np.ndarray]]]]


@declared
class ShadowAttack(GeneratorAttack):
    """Base of the attacks that learn from tables of generators which they ran themselves.

    Subclasses say what cannot be attacked (`_lacking`), and test each target (`_tested`).

    Parameters
    ----------
    n_eval : int, default=50
        Tables that the attack is tested on, for each target.
    n_rows : int, optional
        Rows of each training table that is drawn; half of the smaller pool if None. An attacker
        who is tested on all of train (``game="model_seeded"``) learns more from tables as large.
    n_copies : int, default=1
        Tables sampled of each fit to learn from.
    classifier : classifier, optional
        What learns; 100 random trees if None.
    game : {"average", "model_seeded"}, default="average"
        Whether the other rows are drawn anew for each table, or are those of train in all of them,
        so that only the seed differs. The first averages over what else train might have held, the
        second is about this train.
    knowledge : {"auxiliary", "exact", "exact-with-uncertainty"}, default="auxiliary"
        Which rows the attacker has: those of the holdout; all of train but the target, which is
        what differential privacy defends against; or `known_share` of these, with rows of the
        holdout in the place of the others. The last two go with ``game="model_seeded"``.
    known_share : float, default=0.5
        In (0, 1), for ``knowledge="exact-with-uncertainty"``.
    access : {"black-box", "uncertain-box", "no-box"}, default="black-box"
        What the attacker can run: the generator with its parameters; the generator, with
        parameters that are drawn for each table to learn from, since its own are not known; or
        nothing but the table itself, see Notes.
    shadow_parameters : dict of str to list or distribution, optional
        For ``access="uncertain-box"``: by name the values of the generator's parameters that are
        drawn from, each as likely, or a distribution of :mod:`scipy.stats`.
    n_synthetic : int, optional
        Rows of a table; as many as the synthetic table has that is given to score, if None.
    confidence : float, default=0.95
        Confidence of the intervals, and of the bound of epsilon.
    """

    tags = replace(SHADOW_TAGS, bounds=(-1.0, 1.0))

    _: KW_ONLY
    n_eval: Annotated[int, Interval(2)] = 50
    n_rows: Annotated[int, Interval(2)] | None = None
    n_copies: Count = 1
    classifier: Classifier = None
    game: Literal["average", "model_seeded"] = "average"
    knowledge: Literal["auxiliary", "exact", "exact-with-uncertainty"] = "auxiliary"
    known_share: OpenFraction = 0.5
    access: Literal["black-box", "uncertain-box", "no-box"] = "black-box"
    shadow_parameters: Ranges | None = None
    n_synthetic: Count | None = None
    confidence: OpenFraction = 0.95

    @property
    def _game(self) -> Game:
        values = self.get_params(deep=False)
        if isinstance(values["targets"], np.ndarray):  # shared steps make theirs read-only
            values["targets"] = values["targets"].copy()
        names = [one.name for one in fields(Game) if one.name in values]
        return Game(**{name: values[name] for name in names})

    def _lacking(self, context: Context) -> str:
        """Say why nothing can be attacked in these tables; empty if something can."""
        raise NotImplementedError

    def _tested(self, context: Context, game: Game, n_synthetic: int) -> Result:
        """Test the generator on tables of `n_synthetic` rows."""
        raise NotImplementedError

    def _faults(self) -> list[str]:
        """Return which parameters of the attack contradict those of the game."""
        return []

    def _prepare(self, context: Context) -> None:
        owner, cure = type(self).__name__, "n_targets, n_shadow or n_eval"
        check_cost(owner, self.estimate_cost(), self.max_fits, cure)
        faults = [*game_faults(self._game), *self._faults()]
        if not self._lacking(context):
            faults += game_rows(context, self._game).faults
        if faults:
            raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")

    def _compute(self, context: Context) -> Result:
        if reason := self._lacking(context):
            return undefined(reason)
        game = self._game
        if game_rows(context, game).n_drawn < 2:
            return undefined("train and holdout have too few rows to draw tables from.")
        n_synthetic = self.n_synthetic or context.n_rows("synthetic")
        return self._tested(context, game, n_synthetic)

    @classmethod
    def _light(cls) -> dict[str, Any]:
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(random_state=0)
        few = {"n_targets": 1, "n_shadow": 2, "n_eval": 3}
        return {**few, "features": "closest", "classifier": tree}


def game_faults(game: Game) -> list[str]:
    """Return which parameters of a game contradict each other."""
    faults = list(game.faults)
    if unknown := unknown_parameters(game.generator, game.shadow_parameters or {}):
        faults.append(f"the generator has no parameter {', '.join(unknown)}, of shadow_parameters")
    if not game.learns and not feature_names(game.features, learns=False):
        faults.append("access='no-box' takes 'query' or 'closest' as features: others are learned")
    return faults


def observed(
    context: Context, game: Game, worlds: Sequence[World], n_synthetic: int, execution: Execution
) -> tuple[Observed, int]:
    """Play a game; return what the attacker sees of all tables, and the number of fits.

    Features of the tables of one fit are of shape (n_copies, n_features).
    """
    rows = game_rows(context, game)
    fits = plan(rows, worlds)
    measure = measure_of(context, rows, n_synthetic)
    sizes = {"n_synthetic": n_synthetic, "n_copies": game.n_copies}
    tables = play(game.generator, rows.table, fits, measure, execution=execution, **sizes)
    seen: Observed = {world: [([], []) for _ in range(rows.n_targets)] for world in worlds}
    for fit, vectors in zip(fits, tables, strict=True):
        targets = range(rows.n_targets) if fit.target == ALL else [fit.target]
        for place, i in enumerate(targets):
            values, features = seen[fit.phase, fit.inside][i]
            values.append(fit.value)
            own = [one[place] for one in vectors]
            features.append(np.stack(own) if len(own) > 1 else own[0][None])
    return seen, len(fits)


def most_exposed(result: Result) -> Any:
    """Return the details of the target with the largest advantage."""
    return max(result.details["targets"], key=lambda target: as_float(target["advantage"]))


@dataclass(frozen=True)
class Advantage:
    """A share of hits, less the share without the target or the share that chance gives."""

    n_hits: int
    n: int
    n_hits_without: int = 0
    n_without: int = 0
    chance: float = 0.0

    @property
    def by_chance(self) -> float:
        """Share of hits to expect without the target."""
        return self.n_hits_without / self.n_without if self.n_without else self.chance

    @property
    def value(self) -> float:
        """Share of hits beyond that."""
        return self.n_hits / self.n - self.by_chance

    @property
    def p_value(self) -> float:
        """One-sided: of Fisher's test that both shares are equal, or of the binomial test."""
        if self.n_without:
            return share_p_value(self.n_hits, self.n, self.n_hits_without, self.n_without)
        return float(binom.sf(self.n_hits - 1, self.n, self.chance))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the value: Newcombe's, or Clopper and Pearson's."""
        if self.n_without:
            return newcombe(self.n_hits, self.n, self.n_hits_without, self.n_without, confidence)
        low, high = clopper_pearson(self.n_hits, self.n, confidence)
        return low - self.by_chance, high - self.by_chance


def simultaneous(confidence: float, n_intervals: int) -> float:
    """Return the confidence of each of several intervals that hold at once (Bonferroni)."""
    return 1.0 - (1.0 - confidence) / n_intervals


def largest_advantage(
    advantages: Sequence[Advantage],
    described: Sequence[dict[str, Any]],
    game: Game,
    confidence: float,
    few: str,
    tested: Callable[[float, float], Contrast],
    **details: Any,
) -> Result:
    """Return the largest of the targets' advantages, corrected for being the largest of several."""
    together = simultaneous(confidence, len(advantages))
    lows, highs = zip(*(one.interval(together) for one in advantages), strict=True)
    corrected = holm([one.p_value for one in advantages])
    # ranks alone: neither a position nor a cell says which row of train it is
    targets = [
        {
            "target": f"target {i}",
            **others,
            "advantage": one.value,
            "interval": list(one.interval(confidence)),
            "p_value": one.p_value,
            "holm_p_value": p_value,
        }
        for i, (one, others, p_value) in enumerate(
            zip(advantages, described, corrected, strict=True), start=1
        )
    ]
    surest = min(advantages, key=lambda one: (one.p_value, -one.value))
    shown = tested(surest.n_hits / surest.n, surest.by_chance)
    n_exposed = sum(p_value <= ALARM_LEVEL for p_value in corrected)
    return Result(
        max(one.value for one in advantages),
        interval=(max(lows), max(highs)),
        p_value=min(corrected),
        baseline=0.0,
        details={
            "targets": targets,
            "n_significant": sum(p_value < TEST_LEVEL for p_value in corrected),
            "n_targets": len(targets),
            "game": game.game,
            "knowledge": game.knowledge,
            "access": game.access,
            "features": list(feature_names(game.features, learns=game.learns)),
            **details,
        },
        warnings=(MetricWarning(few),) if game.n_eval < _MIN_TABLES else (),
        contrast=replace(shown, n_tests=len(advantages)),
        advice=advice_on_targets(n_exposed, len(targets)) if n_exposed else "",
    )


def advice_on_targets(n_exposed: int, n_targets: int) -> str:
    """Return what to do if some of the rows that were chosen as targets are given away."""
    are = f"{n_exposed} of {n_targets} targets {'is' if n_exposed == 1 else 'are'} given away"
    return (
        f"{are}: leave out or coarsen rows as unlike the others as these, or fit with noise "
        "(differential privacy), which bounds what any one row can change."
    )


def largest_by_chance(shares: Sequence[tuple[float, int, int]], seed: int = 0) -> float:
    """Get what the largest of several differences of shares is on average without a difference."""
    if len(shares) < 2:
        return 0.0
    rng = np.random.default_rng(seed)
    differences = [
        rng.binomial(n, share, _N_DRAWS) / n - rng.binomial(m, share, _N_DRAWS) / m
        for share, n, m in shares
    ]
    return float(np.max(differences, axis=0).mean())


_MAX_FEW_FITS = (
    "{n} fits with and as many without a target: the advantage of one target is uncertain by "
    "{error:.2f} (standard error); 50 or more show it better."
)
_WHAT = "tables made with one row that are recognised as such"
_N_FOLDS = 5
Tables = Sequence[np.ndarray]


@declared
class ShadowMembershipInference(ShadowAttack):
    """Advantage of guessing whether a row was in train: 0 as by chance, 1 without a mistake.

    An attacker has the synthetic table, rows of the same population, and the generator: not the
    fitted one, but the software, to run it on rows of their own. They run it many times, with the
    row of one person among the rows and without it, and learn what difference the row makes to the
    table. Then they look at a table and say whether the person was in it. A person who is unlike
    the others is detected where the average person is not, so that the attack is on such rows, and
    the value is that of the row which is detected best.

    Parameters
    ----------
    targets : str, sequence of int or table, default="achilles"
        The rows that are attacked: how they are selected (see
        :func:`~skeval.privacy.attacks.shadow.select_targets`), their positions in train, or rows
        that are in no table.
    n_targets : int, default=5
        How many, where they are selected.
    features : str or sequence of str, default=("naive", "hist", "corr", "query", "closest")
        What the attacker sees of a table: "naive", moments of each column; "hist", shares of bins
        and levels; "corr", correlations, among 50 drawn columns if there are more; "query", how
        many rows agree with the target in random sets of columns; "closest", distances to the
        nearest rows and numbers within two radii.
        Several are put together; "ensemble" is all of them.
    n_shadow : int, default=50
        Tables to learn from, with each target, and as many without.
    n_eval : int, default=50
        Tables to be tested on, with each target, and as many without.
    adjacency : {"add", "replace"}, default="add"
        Whether the target comes on top of the other rows, or in the place of one of them.
    threshold : float or {"accuracy", "fpr"}, default=0.5
        The score from which on a table is called one with the target: a fixed one; or the one with
        the largest advantage, or with a false positive rate of at most `fpr`, on tables that were
        left out in learning.
    fpr : float, default=0.1
        The false positive rate for ``threshold="fpr"``.
    attack_release : bool, default=False
        Whether what was learned is applied to the synthetic table given to score, too.

    Raises
    ------
    InvalidParameterError
        At fit, if parameters contradict each other, or `max_fits` would be exceeded.

    Warnings
    --------
    No upper bound exists: an attack that finds nothing does not clear a generator, and a stronger
    one (more fits, ``knowledge="exact"``, other features) may find more.

    See Also
    --------
    ShadowAttributeInference : Guesses a secret value of a row in the same game.
    PrivacyGain : Compares what is left of the attack with an anonymised release.
    LikelihoodRatioMIA : Attacks all rows of one release, by models of random halves.
    DPAudit : Bounds epsilon by many runs with and without one row.
    MembershipInference : Attacks a release without the generator.

    Notes
    -----
    The value is about the generator on tables such as train. Only the number of rows of the
    synthetic table given to score counts, unless `attack_release` is set; games are played once for
    each such number. :meth:`estimate_cost` returns the number of fits beforehand:
    ``(n_targets + 1) (n_shadow + n_eval)``.

    The attacker learns on tables drawn from the holdout, and is tested on fresh ones drawn from
    train, so that nothing is memorised. Neither pool has a target, or a row equal to one.
    With ``game="model_seeded"`` they are tested on all of train, and on train without the target:
    other rows that equal it stay.
    Training rows are shuffled for each fit, and what columns may hold is taken from train and
    holdout together: neither the place of a row nor an encoder gives it away. If the generator
    itself writes what its columns may hold into the table, that is a leak, and is detected.

    The advantage is the true positive rate less the false positive rate. The value is the largest
    of several, which is above 0 by chance; ``details["largest_by_chance"]`` says by how much on
    average if the generator leaks nothing. The interval is simultaneous over the targets
    (Bonferroni), and the p-value the smallest of Fisher's tests after Holm: both account for the
    choice. The baseline is 0.

    For each target, by rank, ``details["targets"]`` has both rates with the intervals of Clopper
    and Pearson, the advantage with Newcombe's, the `privacy_gain` (1 less the advantage), AUC and
    `epsilon`, a lower bound of the epsilon of differential privacy for adding or for replacing one
    row, as `adjacency` has it. ``details["epsilon"]`` is the largest, at a confidence that holds
    for all targets.

    With ``access="no-box"`` there are no tables to learn from. A table is then called one with the
    target if the target is nearer to it than to as many rows that the attacker has, or agrees with
    more of its rows ("closest" and "query" of `features`; their mean is the score). If the table
    has more rows than the attacker, only as many of them are looked at.

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

    targets: TargetChoice = "achilles"
    n_targets: Count = 5
    _: KW_ONLY
    features: FeatureChoice = ("naive", "hist", "corr", "query", "closest")
    n_shadow: Annotated[int, Interval(2)] = 50
    adjacency: Literal["add", "replace"] = "add"
    threshold: OpenFraction | Literal["accuracy", "fpr"] = 0.5
    fpr: OpenFraction = 0.1
    attack_release: bool = False

    def estimate_cost(self) -> int:
        """Return how often the generator is fitted to score one synthetic table."""
        return (self._game.n_asked + 1) * (self._game.n_fits("shadow") + self.n_eval)

    def _faults(self) -> list[str]:
        faults = []
        if not self._game.learns and isinstance(self.threshold, str):
            faults.append("access='no-box' has no tables to choose a threshold by: give a number")
        if self.attack_release and self.n_synthetic is not None:
            faults.append(
                "attack_release takes tables of the size of the release: n_synthetic=None"
            )
        return faults

    def _lacking(self, context: Context) -> str:
        empty = nothing_to_measure(context, "gower")
        return "no column of this table can be measured." if empty else ""

    def _tested(self, context: Context, game: Game, n_synthetic: int) -> Result:
        tests, common, n_fits = membership_tests(
            context, game, self.threshold, self.fpr, n_synthetic, self._execution
        )
        together = simultaneous(self.confidence, len(tests))
        mean, around = mean_advantage(tests, common, self.confidence)
        details = {
            "mean_advantage": {"value": mean, "interval": list(around)},
            "largest_by_chance": largest_by_chance(
                [one.rates_by_chance for one in tests], self.random_state
            ),
            "raw_advantage": 1.0,  # the row stands among the raw rows, or does not
            "epsilon": max(one.epsilon(together) for one in tests),
            "n_fits": n_fits,
            "adjacency": self.adjacency,
            "n_rows": game_rows(context, game).n_tested,
            "n_synthetic": n_synthetic,
        }
        if self.attack_release:
            details["release"] = attacked_release(context, game, tests, n_synthetic)
        return largest_advantage(
            [one.advantage for one in tests],
            [one.details(self.confidence) for one in tests],
            game,
            self.confidence,
            _MAX_FEW_FITS.format(n=self.n_eval, error=np.sqrt(0.5 / self.n_eval)),
            partial(Contrast, _WHAT, reference="of tables made without it"),
            **details,
        )

    def _summary(self, result: Result) -> str:
        details, most = result.details, most_exposed(result)
        called = [percent(as_float(most[name])) for name in ("tpr", "fpr")]
        return (
            "An attacker who can run the generator recognises tables made with the most exposed of "
            f"{details['n_targets']} rows: {called[0]} are called so, against {called[1]} of "
            f"tables made without it; {details['n_significant']} of the rows are detected beyond "
            "chance."
        )


@shared
def membership_tests(
    context: Context,
    game: Game,
    threshold: float | str,
    fpr: float,
    n_synthetic: int,
    execution: Execution,
) -> tuple[list[MembershipTest], dict[bool, bool], int]:
    """Play the game of each target; parameters are those of :class:`ShadowMembershipInference`."""
    seen, n_fits = observed(context, game, WORLDS, n_synthetic, execution)
    rows, tests = game_rows(context, game), []
    for i in range(rows.n_targets):
        if game.learns:
            with_it, without = (seen["shadow", inside][i][1] for inside in (True, False))
            classifier, limit = learned_distinguisher(
                game.classifier, with_it, without, threshold, fpr, game.random_state
            )
        else:
            classifier, limit = None, float(threshold)
        inside, outside = (
            table_scores(classifier, np.concatenate(seen["test", world][i][1]))
            for world in (True, False)
        )
        tests.append(MembershipTest(inside, outside, limit, classifier))
    return tests, {inside: rows.serves_all("test", inside) for inside in (True, False)}, n_fits


def attacked_release(
    context: Context, game: Game, tests: Sequence[MembershipTest], n_synthetic: int
) -> dict[str, Any]:
    """Return the share of the targets that the release is called one with."""
    rows = game_rows(context, game)
    measure = measure_of(context, rows, n_synthetic)
    release = context.given("synthetic")[list(context.schema.kinds)]
    called = []
    for i, test in enumerate(tests):
        scores = table_scores(test.classifier, np.stack(measure(release, i)))
        called.append(bool((scores >= test.threshold).any()))
    return {
        "n_called_in": int(np.sum(called)),
        "share_called_in": float(np.mean(called)),
        "n_in_train": rows.n_in_train,
        "mean_fpr": float(np.mean([test.rates.fpr for test in tests])),
    }


# --------------------------------------------------------------------------------- distinguishers


def table_scores(classifier: Any, features: np.ndarray) -> np.ndarray:
    """Return the scores of tables: of a classifier, or as they are if nothing was learned."""
    return features[:, 0] if classifier is None else positive_scores(classifier, features)


def learned_distinguisher(
    classifier: Any, inside: Tables, outside: Tables, threshold: float | str, fpr: float, seed: int
) -> tuple[Any, float]:
    """Learn to distinguish tables with a target from tables without it."""
    model = _fitted(classifier, inside, outside, seed)
    if not isinstance(threshold, str):
        return model, float(threshold)
    n_folds = min(_N_FOLDS, len(inside), len(outside))
    scores: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(n_folds):
        seen = [
            [tables for i, tables in enumerate(world) if i % n_folds != fold]
            for world in (inside, outside)
        ]
        fold_model = _fitted(classifier, seen[0], seen[1], seed)
        for unseen, world in zip(scores, (inside, outside), strict=True):
            unseen += [positive_scores(fold_model, tables) for tables in world[fold::n_folds]]
    with_it, without = (np.concatenate(unseen) for unseen in scores)
    if threshold == "accuracy":
        best = advantage_threshold(with_it, without)
    else:
        best = threshold_at(with_it, without, fpr)
    best = np.inf if np.isnan(best) else best
    return model, midway(np.concatenate([with_it, without]), best)


def _fitted(classifier: Any, inside: Tables, outside: Tables, seed: int) -> Any:
    features = np.concatenate([*inside, *outside])
    n_inside = sum(len(tables) for tables in inside)
    labels = (np.arange(len(features)) < n_inside).astype(np.int64)
    return fitted_classifier(classifier, features, labels, seed)


def midway(scores: np.ndarray, threshold: float) -> float:
    """Return the middle between a threshold and the next lower score: scores of others differ."""
    below = scores[scores < threshold]
    if below.size == 0 or not np.isfinite(threshold):
        return float(threshold)
    return float((threshold + below.max()) / 2.0)


# ------------------------------------------------------------------------------ rates and bounds


@dataclass(frozen=True)
class MembershipTest:
    """Scores of tables that were made with a target and of tables that were made without it."""

    inside: np.ndarray
    outside: np.ndarray
    threshold: float
    classifier: Any = None

    @property
    def rates(self) -> Rates:
        """How many tables are called in."""
        return rates_at(self.inside, self.outside, self.threshold)

    @property
    def advantage(self) -> Advantage:
        """True less false positive rate."""
        return Advantage(*self.rates)

    @property
    def rates_by_chance(self) -> tuple[float, int, int]:
        """The common rate if the target made no difference, and the numbers of tables."""
        n_true, n_in, n_false, n_out = self.rates
        return (n_true + n_false) / (n_in + n_out), n_in, n_out

    def epsilon(self, confidence: float = 0.95) -> float:
        """Return a lower bound of epsilon, from Clopper and Pearson's bounds of both rates."""
        return two_world_epsilon(*self.rates, confidence=confidence)

    def details(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return rates, area and bound by name."""
        rates, area = self.rates, delong(self.inside, self.outside, confidence)
        of_inside, of_outside = rates.intervals(confidence)
        return {
            "tpr": rates.tpr,
            "tpr_interval": list(of_inside),
            "fpr": rates.fpr,
            "fpr_interval": list(of_outside),
            "privacy_gain": 1.0 - self.advantage.value,
            "auc": area.value,
            "auc_interval": list(area.interval),
            "epsilon": self.epsilon(confidence),
        }


def mean_advantage(
    tests: Sequence[MembershipTest], common: dict[bool, bool], confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the mean of several targets' advantages, and its interval."""
    means = []
    for inside in (True, False):
        calls = [(one.inside if inside else one.outside) >= one.threshold for one in tests]
        if common[inside]:  # one score a table
            totals = np.sum(calls, axis=0).astype(np.float64)
            counts = np.full(totals.size, len(calls))
        else:
            totals = np.concatenate(calls).astype(np.float64)
            counts = np.ones(totals.size, dtype=np.int64)
        means.append(row_mean((totals, counts), confidence=confidence))
    first, second = means
    value = first.value - second.value
    return value, difference_interval(first.value, first.interval, second.value, second.interval)
