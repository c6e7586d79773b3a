"""Linkability: two parts of a real row that lead to the same synthetic row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated

import numpy as np
from scipy.special import gammaln

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    Evidence,
    ResidualRiskMetric,
    check_enough_columns,
    index_over,
    n_targets,
    near_rows,
    nearest_synthetic,
    risk_of,
    shown_level,
    shown_rates,
    shown_share,
    targets,
)
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.excess_tests import scores_p_value
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.risks import random_link_rate
from skeval.steps.column_choice import ColumnChoice, chosen_columns, column_key
from skeval.steps.contrasts import name_of_test
from skeval.utils.parameters import Columns, Count, Legal, are_columns

_SHARED = (
    "aux_cols has {columns} in both parts. An attacker who knows it in both parts links rows "
    "without a synthetic table."
)
_WHAT = "train rows of which two parts lead to the same synthetic row"
PartRows = tuple[tuple[str, ...], tuple[str, ...]]
_LISTED = 32  # synthetic rows of each part; if more rows tie, a random choice of them is listed
_DRAWS = 20  # of halves, for each that is wanted


def _are_parts(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(part, list | tuple) and are_columns(part) for part in value)
    )


Parts = Annotated[
    Sequence[Sequence[str]] | None,
    Legal("None or a pair of non-empty lists of column names", _are_parts, ("age", "city")),
]


@declared
class LinkabilityRisk(ResidualRiskMetric):
    r"""Excess risk that an attacker links two parts of a training record.

    An attacker has two tables without names, for example from a hospital and from an insurer, with
    different columns of the same individuals, and wants to know which rows belong together. For
    each part of a record, the attacker finds the most similar synthetic row. If both parts lead to
    the same synthetic row, they are linked. The value is the success on training rows in excess of
    the success on holdout rows, which the generator never saw. It ranges from 0 (no excess) to 1
    (all training records are linked). Lower is better.

    Parameters
    ----------
    aux_cols : None or pair of lists of str, default=None
        Columns of the first and of the second table. None uses random halves of all columns,
        `n_splits` times.
    n_neighbors : int, default=1
        Number of most similar synthetic rows of each part. One common row is a link.
    n_splits : int, default=5
        Number of random halves, or fewer if the columns do not allow more. Risks are averaged.
    columns : None, int or list of str, default=None
        Columns that are divided into halves.

    Raises
    ------
    InvalidParameterError
        At fit, if there is only one column, or `aux_cols` contains a column that cannot be
        measured.

    Warnings
    --------
    The value describes one attacker, so a low value does not clear a release.

    See Also
    --------
    InferenceRisk : Infers a sensitive attribute of a record.
    SinglingOutRisk : Describes a record by a unique combination of values.
    AnonymeterRisk : The largest of all three risks.

    Notes
    -----
    With the rates p and c of links for training and holdout rows, the residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Without a leak, its expected value is about 0 before clipping. The baseline
    is the mean of the clipped risk if the training rows are chosen at random among all real rows.
    This mean is above 0 because of the clipping. For several halves, the value is the mean risk,
    and the interval is the interval of the mean counts. The interval is wider than necessary
    because of random differences between halves. Rows are compared in Gower's distance over the
    columns of the part.

    ``details`` contains the rates of the attack, of guessing (`baseline`) and of the attack on the
    holdout (`control`), with Wilson's intervals. It also contains the risk without clipping
    (`raw`), the risk from plain fractions (`unshrunk`), and the `level` of the risk ("low",
    "medium" or "high"). `weak_attack` is True if guessing is as successful as the attack, so that a
    low value is not informative. Guessing uses two random sets of k of the n synthetic rows, which
    have a common row with probability ``1 - C(n - k, k) / C(n, k)``.

    If a part has few different values, many synthetic rows are equally close. The attacker then
    chooses among these rows at random, independently for each part, and a target counts with the
    probability of a link. This probability is c / (a b) if the parts have a and b nearest rows, of
    which c are common. The number of links is therefore the expected number of linked records,
    which need not be an integer. Guessing chooses at random among all rows, by the same rule.
    Anonymeter makes one such choice, so its counts vary around the expected number.

    The p-value is one-sided. If the synthetic table does not depend on which real rows were
    training rows, all choices of the training rows are equally likely. The p-value comes from
    Fisher's exact test if each target is linked or not, and otherwise from 9,999 random choices.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import LinkabilityRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> LinkabilityRisk().fit(train, holdout).score(train) > 0.7
    True
    """

    tags = replace(ResidualRiskMetric.tags, risks=frozenset({"linkability"}))

    aux_cols: Parts = None
    _: KW_ONLY
    n_neighbors: Count = 1
    n_splits: Count = 5
    columns: Columns = None

    def _prepare(self, context: Context) -> None:
        if self.aux_cols is None:
            chosen = chosen_columns(context.schema, self.columns)
            check_enough_columns("LinkabilityRisk", chosen, 2)
            return
        for part in self.aux_cols:
            chosen_columns(context.schema, part)

    def _risk(self, context: Context, tested: bool) -> Result:
        result = risk_of(self._attack(context), self._measure, tested)
        first, second = self.aux_cols or ((), ())
        if both := [name for name in first if name in second]:
            warning = MetricWarning(_SHARED.format(columns=", ".join(both)))
            return replace(result, warnings=(warning, *result.warnings))
        return result

    def _attack(self, context: Context) -> Attack:
        """Return how often both parts of a row lead to the same synthetic row, for each split."""
        if self.aux_cols is None:
            names = chosen_columns(context.schema, self.columns)
            splits = random_halves(names, self.n_splits, self.random_state)
        else:
            first, second = (chosen_columns(context.schema, part) for part in self.aux_cols)
            splits = [(first, second)]
        return linkability(
            context, splits, self.n_neighbors, n_attacks=self.n_attacks, seed=self.random_state
        )

    def _summary(self, result: Result) -> str:
        train, control = shown_rates(result.details)
        chance = shown_share(result.details["baseline"])
        return (
            "An attacker who has two parts of a record in two tables links them if both lead to "
            f"the same synthetic row: {train} of train rows and {control} of holdout rows "
            f"({chance} by guessing). {shown_level(result)}"
        )


def random_halves(names: Sequence[str], n_splits: int, seed: int) -> list[PartRows]:
    """Return distinct random halves of the columns, independent of the order of the columns."""
    ordered, rng = sorted(names), np.random.default_rng(seed)
    halves: dict[frozenset[tuple[str, ...]], PartRows] = {}
    for _ in range(_DRAWS * n_splits):
        mixed = rng.permutation(len(ordered))
        middle = len(ordered) // 2
        first, second = (
            tuple(ordered[j] for j in sorted(part)) for part in (mixed[:middle], mixed[middle:])
        )
        halves.setdefault(frozenset((first, second)), (first, second))
        if len(halves) == n_splits:
            break
    return list(halves.values())


def linkability(
    context: Context,
    splits: Sequence[PartRows],
    n_neighbors: int,
    *,
    n_attacks: int | None,
    seed: int,
) -> Attack:
    """Return the expected number of rows whose parts lead to the same synthetic row, per split."""
    n, n_synthetic = n_targets(context, n_attacks), context.n_rows("synthetic")
    k = min(n_neighbors, n_synthetic)
    links = np.stack([_links(context, parts, k, n_attacks, seed) for parts in splits])
    train, holdout = links[:, :n], links[:, n:]
    by_row = train.mean(axis=0), holdout.mean(axis=0)
    shares = float(train.mean()), float(holdout.mean())
    tests = (name_of_test("linkability", splits, k, n_attacks, seed),)
    shown = (_WHAT, *shares, "of holdout rows")
    contrast = Contrast(*shown, tests=tests, least_p=least_p_value(n, n))
    return Attack(
        successes=tuple(float(count) for count in train.sum(axis=1)),
        control=tuple(float(count) for count in holdout.sum(axis=1)),
        n=n,
        guessed=n * random_link_rate(n_synthetic, k),
        n_guessed=n,
        test=lambda: Evidence(contrast, scores_p_value(*by_row, seed=seed)),
        scores=links.mean(axis=0),
        details={"n_splits": len(splits)},
    )


@shared
def _links(
    context: Context, parts: PartRows, k: int, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Return for each target the probability that both parts lead to the same synthetic row."""
    first, second = (column_key(context.schema, part) for part in parts)
    listed = max(k, _LISTED)
    return link_rates(
        nearest_synthetic(context, first, listed, n_attacks, seed),
        _nearest_in_another_order(context, second, listed, n_attacks, seed),
        k,
    )


@shared
def _nearest_in_another_order(
    context: Context, columns: ColumnChoice, k: int, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest synthetic rows, with ties in an order that no other part has."""
    # If more rows tie than are listed, the rows that are listed are a random choice. The
    # choices of the two parts must be independent, because the probability of a link is
    # otherwise too high.
    order = np.random.default_rng(seed).permutation(context.n_rows("synthetic"))
    index = index_over(context, columns, near_rows(context, columns)[order])
    asked = targets(context, columns, n_attacks, seed)
    distances, rows = index.kneighbors(asked, min(k, order.size))
    return distances, order[rows]


def link_rates(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], k: int
) -> np.ndarray:
    """Get the probability that k nearest rows of one list and k of another have one in common."""
    # Each list has distances and rows, nearest first. If several rows are as near as row
    # number k, the ones that are needed are drawn at random among them, independently in each
    # list.
    sides = []
    for distances, _ in (first, second):
        radius = distances[:, k - 1, None]
        sides.append((distances < radius).astype(np.int8) + 2 * (distances == radius))
    rows = np.concatenate([first[1], second[1]], axis=1)
    kinds = np.concatenate(sides, axis=1)
    order = np.argsort(rows, axis=1, kind="stable")  # a row of both lists is next to itself
    rows, kinds = (np.take_along_axis(one, order, axis=1) for one in (rows, kinds))
    same, one, other = rows[:, 1:] == rows[:, :-1], kinds[:, :-1], kinds[:, 1:]
    certain, sure_tied, tied_sure, tied = (
        (same & (one == a) & (other == b)).sum(axis=1) for a, b in ((1, 1), (1, 2), (2, 1), (2, 2))
    )
    (needed, n_tied), (other_needed, n_other) = (
        (k - (side == 1).sum(axis=1), (side == 2).sum(axis=1)) for side in sides
    )
    apart = np.zeros(len(rows))
    for drawn in range(k + 1):  # tied rows of both lists that the first list's draw has
        left = n_other - sure_tied - drawn
        apart += np.exp(
            _log_choices(tied, drawn)
            + _log_choices(n_tied - tied_sure - tied, needed - drawn)
            - _log_choices(n_tied, needed)
            + _log_choices(left, other_needed)
            - _log_choices(n_other, other_needed)
        )
    return np.where(certain > 0, 1.0, np.clip(1.0 - apart, 0.0, 1.0))


def _log_choices(n: np.ndarray, k: np.ndarray | int) -> np.ndarray:
    """Return the logarithm of n over k, or of 0 if k rows cannot be drawn from n."""
    possible = (np.asarray(k) >= 0) & (np.asarray(k) <= n)
    n, k = np.where(possible, n, 0), np.where(possible, k, 0)
    logs = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return np.where(possible, logs, -np.inf)
