"""Membership inference with access to the generator (shadow model attack)."""

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
    "{n} fits with and {n} without a target are made, so the standard error of its advantage is "
    "{error:.2f}. Use 50 or more fits for a smaller error."
)
_WHAT = "tables made with one row that are recognised as such"
_N_FOLDS = 5
Tables = Sequence[np.ndarray]


@declared
class ShadowMembershipInference(ShadowAttack):
    """Advantage of an attacker who can run the generator and guesses membership of a row.

    An attacker has the synthetic table, rows of the same population, and the software of the
    generator, but not the fitted generator. The attacker runs it many times with and without one
    target row, and learns the effect of the row on the table. Then the attacker guesses for other
    tables whether the row was used. A row that is unlike the others may be detected although an
    average row is not. Therefore, the attack uses such rows, and the value is the advantage for the
    row that is detected best. The value is 0 for random guesses and 1 without errors. Lower is
    better.

    Parameters
    ----------
    targets : str, sequence of int or table, default="achilles"
        Attacked rows: a selection method, positions in the training data, or rows that are not in
        any table. "achilles" selects rows with the largest mean distance to the five nearest other
        rows, by a weighted mean of the cosine distances of numbers and of categories. "gower-knn"
        uses Gower's distance instead. Cosines compare proportions and not sizes, so a row with
        several times the mean in all columns is found by Gower's distance only. "isolation-forest"
        selects rows that the fewest random cuts separate from the others. "rare-value" selects rows
        with the smallest product of the frequencies of their values (numbers are cut into ten
        bins). "random" is a random sample. "canary" creates rows with a new category in each
        categorical column and a number above the maximum in each other column.
    n_targets : int, default=5
        Number of targets, if they are selected by a method.
    features : str or sequence of str, default=("naive", "hist", "corr", "query", "closest")
        Features of a table that the attacker uses. "naive" uses moments of each column, "hist" the
        fractions of bins and categories, "corr" correlations (among 50 drawn columns if there are
        more), "query" the number of rows that agree with the target in random sets of columns, and
        "closest" the distances to the nearest rows and the numbers of rows within two radii.
        Several kinds are combined, and "ensemble" uses all of them.
    n_shadow : int, default=50
        Number of tables to learn from with each target, and the same number without it.
    n_eval : int, default=50
        Number of tables to test on with each target, and the same number without it.
    adjacency : {"add", "replace"}, default="add"
        Whether the target is added to the other rows, or replaces one of them.
    threshold : float or {"accuracy", "fpr"}, default=0.5
        Score above which a table is classified as one with the target. A number is used as it is.
        "accuracy" selects the score with the largest advantage, and "fpr" the score with a false
        positive rate of at most `fpr`, on tables that were not used for learning.
    fpr : float, default=0.1
        False positive rate for ``threshold="fpr"``.
    attack_release : bool, default=False
        Whether the attack is also applied to the synthetic table that is scored.

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
    ShadowAttributeInference : Infers a sensitive attribute of a row with the same procedure.
    PrivacyGain : Compares the success of the attack with an anonymized release.
    LikelihoodRatioMIA : Attacks all rows of one release, with models fitted to random halves.
    DPAudit : Computes a lower bound on epsilon from many runs with and without one row.
    MembershipInference : Attacks a release without the generator.

    Notes
    -----
    The value describes the generator on tables like the training data. Only the number of rows of
    the scored synthetic table is used, unless `attack_release` is set. Games are played once for
    each such number. :meth:`estimate_cost` returns the number of fits in advance, which is
    ``(n_targets + 1) (n_shadow + n_eval)``.

    The attacker learns on tables drawn from the holdout, and is tested on new tables drawn from the
    training data, so that memorized rows do not help. Neither pool contains a target, or a row
    equal to a target. With ``game="model_seeded"``, the attacker is tested on the whole training
    data, with and without the target. Other rows that equal the target stay. Training rows are
    shuffled for each fit, and the possible values of columns come from training and holdout data
    together, so neither the position of a row nor an encoder reveals it. If the generator itself
    writes the possible values of its columns into the table, this is a leak and is detected.

    The advantage is the true positive rate minus the false positive rate. The value is the largest
    of several advantages, which is expected to be above 0. ``details["largest_by_chance"]`` is the
    mean of this largest advantage without a leak. The interval is simultaneous over the targets
    (Bonferroni), and the p-value is the smallest p-value of Fisher's tests after Holm, so both
    account for the selection. The baseline is 0.

    For each target, by rank, ``details["targets"]`` contains both rates with intervals after
    Clopper and Pearson, the advantage with Newcombe's interval, the `privacy_gain` (1 minus the
    advantage), AUC and `epsilon`. `epsilon` is a lower bound on the epsilon of differential privacy
    for adding or replacing one row, as specified by `adjacency`. ``details["epsilon"]`` is the
    largest bound, at a confidence that is valid for all targets.

    With ``access="no-box"``, the attacker has no tables to learn from. A table is then classified
    as one with the target if the target is closer to it than to the same number of rows that the
    attacker has, or agrees with more of its rows ("closest" and "query" of `features`, whose mean
    is the score). If the table has more rows than the attacker, only the same number of its rows is
    used.

    By default, the drawn tables are half as large as the smaller pool. Because one row has more
    weight in a small table than in a large one, the value is too pessimistic if the training data
    are larger.

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
            faults.append("access='no-box' has no tables to choose a threshold, so pass a number")
        if self.attack_release and self.n_synthetic is not None:
            faults.append(
                "attack_release requires the number of rows of the release, n_synthetic=None"
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
            "An attacker who can run the generator recognizes tables made with the most exposed of "
            f"{details['n_targets']} rows: the rate is {called[0]}, compared with {called[1]} for "
            f"tables made without it. {details['n_significant']} of the rows are detected "
            "significantly."
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
    """Play the game of each target with the parameters of :class:`ShadowMembershipInference`."""
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
    """Return the fraction of the targets that are detected in the release."""
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
    """Return the scores of tables from a classifier, or the features if nothing was learned."""
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
    """Return the middle between a threshold and the next lower score, as other scores differ."""
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
