"""Membership inference with the generator at hand: the shadow model attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.privacy.attacks.shadow.advantages import (
    Advantage,
    largest_advantage,
    largest_by_chance,
    most_exposed_target,
    simultaneous,
)
from skeval.privacy.attacks.shadow.features import FeatureChoice, measure_of
from skeval.privacy.attacks.shadow.game import WORLDS, Execution, Game, game_rows
from skeval.privacy.attacks.shadow.shadow_attack import ShadowAttack, observe_tables
from skeval.privacy.attacks.shadow.targets import TargetChoice
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.epsilon_bounds import two_world_epsilon
from skeval.stats.roc import Rates, advantage_threshold, delong, rates_at, threshold_at
from skeval.stats.row_scores import difference_interval, row_mean
from skeval.steps.classifiers import fitted_classifier, positive_scores
from skeval.steps.column_choice import nothing_to_measure
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Count, Interval, OpenFraction

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
        The rows that are attacked: how they are selected, their positions in train, or rows that
        are in no table. "achilles" selects rows with the largest mean distance to the five nearest
        other rows, by a weighted mean of the cosine distances of numbers and of categories;
        "gower-knn" does the same by Gower's distance. Cosines compare proportions and not sizes: a
        row with several times the mean in all columns stands out by Gower's distance only.
        "isolation-forest" selects rows that the fewest random cuts separate from the others;
        "rare-value", rows with the smallest product of the frequencies of their values (numbers are
        cut into ten bins); "random", a random sample. "canary" makes rows with a new label in each
        category and a number beyond the largest in each other column.
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
        return (self._game.n_wanted_targets + 1) * (self._game.n_fits("shadow") + self.n_eval)

    def _faults(self) -> list[str]:
        faults = []
        if not self._game.learns and isinstance(self.threshold, str):
            faults.append("access='no-box' has no tables to choose a threshold by: give a number")
        if self.attack_release and self.n_synthetic is not None:
            faults.append(
                "attack_release takes tables of the size of the release: n_synthetic=None"
            )
        return faults

    def _obstacle(self, context: Context) -> str:
        empty = nothing_to_measure(context, "gower")
        return "no column of this table can be measured." if empty else ""

    def _test_generator(self, context: Context, game: Game, n_synthetic: int) -> Result:
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
            "n_rows": game_rows(context, game).n_test_rows,
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
        details, most = result.details, most_exposed_target(result)
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
    seen, n_fits = observe_tables(context, game, WORLDS, n_synthetic, execution)
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
    release = context.original_frame("synthetic")[list(context.schema.kinds)]
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


def table_scores(classifier: Any, features: np.ndarray) -> np.ndarray:
    """Return the scores of tables: of a classifier, or as they are if nothing was learned."""
    return features[:, 0] if classifier is None else positive_scores(classifier, features)


def learned_distinguisher(
    classifier: Any, inside: Tables, outside: Tables, threshold: float | str, fpr: float, seed: int
) -> tuple[Any, float]:
    """Learn to distinguish tables with a target from tables without it."""
    model = _fit_classifier(classifier, inside, outside, seed)
    if not isinstance(threshold, str):
        return model, float(threshold)
    n_folds = min(_N_FOLDS, len(inside), len(outside))
    scores: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(n_folds):
        seen = [
            [tables for i, tables in enumerate(world) if i % n_folds != fold]
            for world in (inside, outside)
        ]
        fold_model = _fit_classifier(classifier, seen[0], seen[1], seed)
        for unseen, world in zip(scores, (inside, outside), strict=True):
            unseen += [positive_scores(fold_model, tables) for tables in world[fold::n_folds]]
    with_it, without = (np.concatenate(unseen) for unseen in scores)
    if threshold == "accuracy":
        best = advantage_threshold(with_it, without)
    else:
        best = threshold_at(with_it, without, fpr)
    best = np.inf if np.isnan(best) else best
    return model, midway(np.concatenate([with_it, without]), best)


def _fit_classifier(classifier: Any, inside: Tables, outside: Tables, seed: int) -> Any:
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
