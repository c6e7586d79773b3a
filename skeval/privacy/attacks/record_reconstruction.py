"""Attack that completes whole records from some of their columns with the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.privacy.attacks.anonymeter.risks import Levels
from skeval.privacy.attacks.counting_queries import column_sets
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import ALARM_LEVEL, Contrast
from skeval.stats.excess_tests import N_DRAWS, relabelled_sums, scores_p_value
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.risks import RISK_LEVELS, Risk, attack_rate, residual_risk, risk_level
from skeval.stats.smallest_leaks import excess_of_scores, smallest_leak
from skeval.steps.column_choice import chosen_columns
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, kept_features, ranges
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.member_rows import drawing_order, in_own_order
from skeval.steps.neighbors import pool_index, reference_index
from skeval.steps.samples import named_seed
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Columns, Count, NonNegative, OpenFraction, Seed

_MAX_STRATA, _MIN_STRATUM_ROWS = 10, 20  # records of either table in a stratum
_WHAT = "train records that are completed correctly from a part of their columns"
_EXACT = 1e-12
_FAR = 1e30
_REAL = ("train", "holdout")
Split = tuple[tuple[str, ...], tuple[str, ...]]  # known columns and hidden columns


@declared
class RecordReconstruction(Metric):
    r"""Excess risk that an attacker reconstructs the hidden columns of a training record.

    An attacker knows some columns of a record and wants all others. For each record, the attacker
    finds the synthetic row that is nearest in the known columns and copies the other columns from
    it. A record counts only if every hidden column is correct. Holdout records are completed in the
    same way, and their success does not depend on the training data. The value is the additional
    success on training records, as a fraction of the largest possible addition. It ranges from 0
    (no leak) to 1 (all training records are completed). Lower is better.

    Parameters
    ----------
    known : None, int or list of str, default=None
        The columns that the attacker knows. None draws `n_splits` random sets.
    known_fraction : float, default=0.5
        Fraction of the columns that are known in a random set, in (0, 1).
    n_unknown : int, optional
        Number of hidden columns, drawn among the columns that are not known. It replaces
        `known_fraction` if `known` is None.
    tolerance : float, default=0.05
        Maximum error of a correct number, as a fraction of the true value, or of the range of the
        column over training and holdout data. Dates always use the range.
    tolerance_kind : {"relative", "range"}, default="relative"
        Unit of the tolerance for numbers.
    method : {"nearest", "sequential"}, default="nearest"
        "nearest" uses the nearest synthetic rows. "sequential" fits decision trees to the synthetic
        rows, which predict one hidden column after the other from the known columns and the columns
        predicted before.
    n_neighbors : int, default=1
        Number of synthetic rows that complete a record with "nearest". The guess is the most common
        category or the median number among them.
    n_splits : int, default=5
        Number of random sets of columns. The mean over the sets is reported.
    max_rows : int, default=2000
        Maximum number of attacked records of each table, a random sample of larger tables.
    levels : pair of float, default=(0.3, 0.5)
        Smallest medium risk, and the bound above which a risk is high.
    confidence : float, default=0.95
        Confidence of the interval, in (0, 1).
    random_state : int, default=0
        Seed of column sets, samples and trees.

    Raises
    ------
    InvalidParameterError
        If `known` or `n_unknown` leaves no hidden column or no known column.

    Warnings
    --------
    The metric runs one attack, so a value of 0 does not clear a release.

    See Also
    --------
    LinearReconstructionAttack : Infers one binary attribute of all records from counts.
    InferenceRisk : Infers one attribute from the nearest synthetic row.
    LinkabilityRisk : Links two parts of a record to the same synthetic row.

    Notes
    -----
    With the fractions p of training records and c of holdout records that are completed, the value
    is

    .. math:: \max\left(0, \frac{p - c}{1 - c}\right)

    ``details["unshrunk"]`` contains the value without clipping, whose expected value without a leak
    is 0. The baseline is the mean of the clipped value over random choices of the training records,
    which is above 0 because of the clipping. The interval is Katz's interval for the ratio of the
    failure rates. With several sets of columns, the width of the interval depends on the variation
    of the success for single records. If no record of either table is completed, the interval
    extends to Wilson's bound. The p-value is exact, because without a leak, the labels of the real
    records are exchangeable. A missing guess is correct if the true value is missing.

    ``details["strata"]`` contains the risk by distance to the nearest other real record, in up to
    ten groups of equal size, with the most remote records last. ``details["worst_stratum"]`` is the
    group with the largest risk, with a p-value corrected for the number of groups, because an
    average may hide that outliers are reconstructed. If a column varies little, a guess within 5%
    is easy. ``details["rates"]`` contains both fractions.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055, for the residual risk; D. Katz et al., Biometrics 34 (1978)
    469-474, doi:10.2307/2530610, for its interval. That whole records are to be right is ours.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import RecordReconstruction
    >>> train, holdout, fresh = (make_mixed(random_state=seed) for seed in range(3))
    >>> attack = RecordReconstruction().fit(train, holdout)
    >>> attack.score(train) > 0.9
    True
    >>> attack.evaluate(fresh).p_value > 0.025
    True
    """

    tags = replace(ATTACK_TAGS, risks=frozenset({"inference"}))

    known: Columns = None
    known_fraction: OpenFraction = 0.5
    _: KW_ONLY
    n_unknown: Count | None = None
    tolerance: NonNegative = 0.05
    tolerance_kind: Literal["relative", "range"] = "relative"
    method: Literal["nearest", "sequential"] = "nearest"
    n_neighbors: Count = 1
    n_splits: Count = 5
    max_rows: Count = 2000
    levels: Levels = RISK_LEVELS
    confidence: OpenFraction = 0.95
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        names = _columns(context.schema)
        if len(names) < 2:
            return  # the result warns
        known = 1 if self.known is None else len(chosen_columns(context.schema, self.known))
        if known >= len(names) and self.known is not None:
            raise InvalidParameterError(
                "RecordReconstruction: known contains all columns that can be measured, "
                f"{', '.join(names)}, so there is nothing to hide. Remove at least one."
            )
        if self.n_unknown is not None and self.n_unknown > len(names) - known:
            raise InvalidParameterError(
                f"RecordReconstruction: n_unknown must be at most {len(names) - known}, got "
                f"{self.n_unknown}. One column must be known, and so must all columns in `known`."
            )

    def _compute(self, context: Context) -> Result:
        if len(_columns(context.schema)) < 2:
            return undefined_result(
                "a record needs two columns that can be measured, one of which is known."
            )
        splits, scores = self._splits_and_scores(context)
        risk = katz_of_scores(*scores, self.confidence)
        rates = [attack_rate(float(part.sum()), part.size, self.confidence) for part in scores]
        details: dict[str, Any] = {
            "rates": {role: rate.to_dict() for role, rate in zip(_REAL, rates, strict=True)},
            "unshrunk": risk.unshrunk,
            "level": "" if np.isnan(risk.value) else risk_level(risk.value, self.levels),
            "n_splits": len(splits),
            "hidden": [list(hidden) for _, hidden in splits],
        }
        if np.isnan(risk.value):
            text = "every record of the holdout is completed, so an excess cannot be measured."
            return undefined_result(text, **details)
        return Result(risk.value, interval=risk.interval, details=details)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        (_, scores), seed = self._splits_and_scores(context), self.random_state
        strata = risk_by_stratum(scores, remoteness(context, self.max_rows, seed), seed)
        completed, others = (float(part.mean()) for part in scores)
        least = least_p_value(*(part.size for part in scores))
        pooled, n_train = np.concatenate(scores), scores[0].size
        found = smallest_leak(lambda level: excess_of_scores(level, pooled, n_train), others)
        return replace(
            result,
            p_value=scores_p_value(*scores, seed=seed),
            baseline=risk_by_chance(*scores, seed=seed),
            details={**result.details, **strata, "smallest_leak": found},
            contrast=Contrast(_WHAT, completed, others, "of holdout records", least_p=least),
            advice=advice_on(strata),
        )

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context)

    def _summary(self, result: Result) -> str:
        train, holdout = (
            percent(as_float(rate["n_success"]) / as_float(rate["n"]))
            for rate in (result.details["rates"][role] for role in _REAL)
        )
        return (
            f"From a part of their columns, {train} of the train records and {holdout} of the "
            f"holdout records are completed correctly.{shown_worst(result.details)}"
        )

    def _splits_and_scores(
        self, context: Context
    ) -> tuple[tuple[Split, ...], tuple[np.ndarray, np.ndarray]]:
        """Return the known and hidden columns of each split, and the success for each record."""
        splits = self._splits(context.schema)
        guess = (self.method, self.n_neighbors, self.tolerance, self.tolerance_kind)
        return splits, completed_shares(context, splits, *guess, self.max_rows, self.random_state)

    def _splits(self, schema: TableSchema) -> tuple[Split, ...]:
        """Return known and hidden columns by name, independent of the order of the table."""
        fixed = set() if self.known is None else set(chosen_columns(schema, self.known))
        candidates = [name for name in _columns(schema) if name not in fixed]
        n_hidden = len(candidates) if self.n_unknown is None else self.n_unknown
        if self.known is None and self.n_unknown is None:
            n_hidden -= max(1, round(self.known_fraction * len(candidates)))
        seed = named_seed("hidden columns", self.random_state)
        sets = column_sets(len(candidates), max(1, n_hidden), self.n_splits, seed)
        hidden = [tuple(candidates[j] for j in chosen) for chosen in sets]
        rest = set(candidates)
        return tuple((tuple(sorted(fixed or rest - set(names))), names) for names in hidden)


def advice_on(strata: Mapping[str, Any]) -> str:
    """Return the advice if the most remote records are the most exposed, or an empty string."""
    worst = strata.get("worst_stratum")
    if worst is None or worst["p_value"] >= ALARM_LEVEL:
        return ""
    if worst["stratum"] != strata["strata"][-1]["stratum"]:
        return ""
    return "Drop or coarsen the records that are most unlike others, because they are completed."


def risk_by_chance(train: np.ndarray, holdout: np.ndarray, seed: int) -> float:
    """Return the mean risk over random choices of the training records."""
    scores, n = np.append(train, holdout)[:, None], train.size
    sums = relabelled_sums(scores, n, N_DRAWS, np.random.default_rng(seed))[:, 0]
    completed, others = sums / n, (scores.sum() - sums) / holdout.size
    left = np.maximum(1.0 - others, 0.0)
    excess = np.maximum(completed - others, 0.0)
    return float(np.divide(excess, left, out=np.zeros_like(excess), where=left > 0.0).mean())


def shown_worst(details: Mapping[str, Any]) -> str:
    """Return a sentence on the most exposed group of records, or an empty string."""
    worst = details.get("worst_stratum") or {}
    if as_float(worst.get("p_value", 1.0)) >= ALARM_LEVEL:
        return ""
    train, holdout = (percent(as_float(worst[role])) for role in _REAL)
    return (
        f" Most exposed is group {worst['stratum']} of {len(details['strata'])} by remoteness: "
        f"{train} against {holdout}."
    )


@shared
def completed_shares(
    context: Context,
    splits: Sequence[Split],
    method: str,
    n_neighbors: int,
    tolerance: float,
    tolerance_kind: str,
    max_rows: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fraction of correct splits for each training and each holdout record.

    The parameters are described in :class:`RecordReconstruction`.
    """
    context = in_own_order(context, seed)
    rows = [drawing_order(context, role, seed)[:max_rows] for role in _REAL]
    queries = np.concatenate(
        [encoded_matrix(context, role)[own] for role, own in zip(_REAL, rows, strict=True)]
    )
    shares = np.zeros(len(queries))
    for split in splits:
        if method == "sequential":
            guesses = guesses_by_trees(context, queries, split, seed)
        else:
            guesses = guesses_by_neighbors(context, queries, split, n_neighbors)
        _, hidden = split
        truth = queries[:, _places(context.schema, hidden)]
        right = agreement(context, hidden, guesses, truth, tolerance, tolerance_kind)
        shares += right.all(axis=1) / len(splits)
    return shares[: rows[0].size], shares[rows[0].size :]


def katz_of_scores(train: np.ndarray, holdout: np.ndarray, confidence: float = 0.95) -> Risk:
    """Return the residual risk of the success rates of records, with the interval after Katz."""
    rates = [attack_rate(float(part.sum()), part.size, confidence) for part in (train, holdout)]
    if not train.any() and not holdout.any():
        wilson = residual_risk(*rates, confidence=confidence)
        return replace(wilson, value=0.0, interval=(0.0, wilson.interval[1]))
    spread = _spread_ratio(train, holdout)
    return residual_risk(*rates, method="katz", confidence=confidence, spread=spread)


def _spread_ratio(train: np.ndarray, holdout: np.ndarray) -> float:
    """Return the ratio of the standard errors of the mean of several tries and of one try."""
    several, single = 0.0, 0.0
    for scores in (train, holdout):
        share = float(scores.mean())
        if 0.0 < share < 1.0:
            weight = scores.size * (1.0 - share) ** 2
            several += float(scores.var()) / weight
            single += share * (1.0 - share) / weight
    return float(np.sqrt(several / single)) if several > 0.0 else 1.0


def _columns(schema: TableSchema) -> list[str]:
    """Return the columns of a record by name, without keys, which carry no information."""
    return sorted(set(schema.measured) - set(schema.primary_key))


def _places(schema: TableSchema, names: Sequence[str]) -> list[int]:
    """Return the positions of columns among the columns of encoded rows."""
    return [encoded_columns(schema).index(name) for name in names]


def remoteness(context: Context, max_rows: int, seed: int) -> np.ndarray:
    """Return the distance of each record to the nearest other real one, training first."""
    pool, n_train = pool_index(context.real, "gower", None), context.n_rows("train")
    train, holdout = (drawing_order(context, role, seed)[:max_rows] for role in _REAL)
    positions = np.append(train, n_train + holdout)
    distances, _ = pool.others(positions, 1, np.full(positions.size, np.inf))
    return distances[:, 0]


def guesses_by_neighbors(
    context: Context, queries: np.ndarray, split: Split, n_neighbors: int
) -> np.ndarray:
    """Return guesses of hidden columns of encoded records from the nearest synthetic rows."""
    released, (known, hidden) = encoded_matrix(context, "synthetic"), split
    index = reference_index(context, "synthetic", "gower", known, None, 0)
    features = kept_features(context, "gower", known)
    rows = index.kneighbors(queries[:, features], min(n_neighbors, len(released)))[1]
    n_numeric = len(context.schema.columns(*NUMERIC))
    places = _places(context.schema, hidden)
    return np.column_stack([_consensus_values(released[rows, j], j >= n_numeric) for j in places])


def _consensus_values(values: np.ndarray, is_code: bool) -> np.ndarray:
    """Return one value for each row, the most common code (nearest first) or the median."""
    if values.shape[1] == 1:
        return np.asarray(values[:, 0])
    missing = np.isnan(values)
    if not is_code:
        most_missing = missing.sum(axis=1) * 2 > values.shape[1]
        present = np.where(most_missing[:, None], 0.0, values)
        return np.where(most_missing, np.nan, np.nanmedian(present, axis=1))
    codes = np.where(missing, -1.0, values)
    votes = np.stack([(codes == codes[:, [j]]).sum(axis=1) for j in range(codes.shape[1])], axis=1)
    chosen = np.take_along_axis(codes, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return np.where(chosen < 0, np.nan, chosen)


def guesses_by_trees(context: Context, queries: np.ndarray, split: Split, seed: int) -> np.ndarray:
    """Return guesses of one hidden column after the other, with trees fitted to the release."""
    released, n_numeric = (
        encoded_matrix(context, "synthetic"),
        len(context.schema.columns(*NUMERIC)),
    )
    columns, hidden = (_places(context.schema, names) for names in split)
    seen, asked = released[:, columns], queries[:, columns]
    for j in hidden:
        guess = _tree_guess(seen, released[:, j], asked, j >= n_numeric, named_seed("trees", seed))
        seen, asked = np.column_stack([seen, released[:, j]]), np.column_stack([asked, guess])
    return asked[:, len(columns) :]


def _tree_guess(
    seen: np.ndarray, target: np.ndarray, asked: np.ndarray, is_code: bool, seed: int
) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    seen, asked, target = (_clip_values(values) for values in (seen, asked, target))
    if is_code:  # a missing value is a separate class
        labels = np.where(np.isnan(target), -1, target).astype(np.int64)
        tree = DecisionTreeClassifier(random_state=seed % 2**31).fit(seen, labels)
        predicted = np.asarray(tree.predict(asked), dtype=np.float64)
        return np.where(predicted < 0, np.nan, predicted)
    present = ~np.isnan(target)
    if 2 * present.sum() < target.size:
        return np.full(len(asked), np.nan)
    regressor = DecisionTreeRegressor(random_state=seed % 2**31)
    return np.asarray(regressor.fit(seen[present], target[present]).predict(asked))


def _clip_values(values: np.ndarray) -> np.ndarray:
    """Return values that trees accept, because trees compare in single precision."""
    return np.asarray(np.where(np.isinf(values), np.nan, np.clip(values, -_FAR, _FAR)))


def agreement(
    context: Context,
    hidden: tuple[str, ...],
    guesses: np.ndarray,
    truth: np.ndarray,
    tolerance: float,
    kind: str,
) -> np.ndarray:
    """Return the correct guesses, which are equal categories and numbers within the tolerance.

    A missing guess is correct only if the true value is missing.
    """
    scale = ranges(context)[_places(context.schema, hidden)]
    right = np.isnan(guesses) & np.isnan(truth)
    for column, name in enumerate(hidden):
        guess, true = guesses[:, column], truth[:, column]
        if context.schema.kinds[name] in NOMINAL:
            right[:, column] |= guess == true
            continue
        relative = kind == "relative" and context.schema.kinds[name] == "continuous"
        allowed = tolerance * (np.abs(true) if relative else scale[column])
        right[:, column] |= np.abs(guess - true) <= np.maximum(allowed, _EXACT)
    return right


def risk_by_stratum(
    scores: tuple[np.ndarray, np.ndarray], remote: np.ndarray, seed: int
) -> dict[str, Any]:
    """Return the risk in groups of records by their distance to the nearest other real record."""
    # Each group has 20 records of either table on average. With fewer than two such groups, the
    # result is empty.
    n_strata = min(_MAX_STRATA, min(part.size for part in scores) // _MIN_STRATUM_ROWS)
    if n_strata < 2:
        return {"strata": []}
    edges = np.quantile(remote, np.linspace(0.0, 1.0, n_strata + 1)[1:-1])
    groups = np.split(np.searchsorted(edges, remote), [scores[0].size])
    strata = []
    for number in range(n_strata):
        train, holdout = (part[own == number] for part, own in zip(scores, groups, strict=True))
        if min(train.size, holdout.size) < _MIN_STRATUM_ROWS // 2:
            continue  # equal distances fill some groups and leave others empty
        strata.append(_stratum(number, train, holdout, seed))
    if not strata:
        return {"strata": []}
    worst = min(strata, key=lambda stratum: (stratum["p_value"], -stratum["risk"]))
    p_value = min(1.0, worst["p_value"] * len(strata))
    return {"strata": strata, "worst_stratum": {**worst, "p_value": p_value}}


def _stratum(number: int, train: np.ndarray, holdout: np.ndarray, seed: int) -> dict[str, Any]:
    rates = [attack_rate(float(part.sum()), part.size) for part in (train, holdout)]
    return {
        "stratum": number + 1,
        "train": rates[0].share,
        "holdout": rates[1].share,
        "risk": residual_risk(*rates, method="katz").value,
        "p_value": scores_p_value(train, holdout, seed=seed),
    }
