"""Lower bound of epsilon from one release, based on random choices of rows and an attack."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import AUDIT_TAGS, LIGHT
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, TableError
from skeval.privacy.attacks.membership.membership_inference import AttackName
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.epsilon_bounds import (
    against_claim,
    one_run_epsilon,
    one_run_p_value,
    pairs_epsilon,
    pairs_p_value,
)
from skeval.stats.smallest_leaks import excess_of_guesses, smallest_leak
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.member_rows import drawing_order, in_drawing_order, plain_rows
from skeval.steps.members import CALIBRATED, MemberScores, member_scores
from skeval.tables.preprocessing import NOMINAL, numbers
from skeval.utils.formatting import as_float, number
from skeval.utils.parameters import ColumnName, Columns, Interval, Legal, NonNegative, Seed

_NOTHING = {
    "pairs": "no train row can be matched with a holdout row.",
    "bernoulli": "there is no row with a coin to guess.",
}
_ALL_ALIKE = "the attack gives all rows the same score, so there are no guesses."
_TESTS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "pairs": (pairs_epsilon, pairs_p_value),
    "bernoulli": (one_run_epsilon, one_run_p_value),
}
_GUESSES = {
    "pairs": "pairs of a train and a holdout row distinguished correctly",
    "bernoulli": "rows correctly guessed to be in train, or not",
}
_REAL = ("train", "holdout")
_WHOLE = Interval(0, kind=int)
# an audit that is refused with fair coins, one in ten thousand, can still use the pairs. Splits of
# 4 to 1 and 2 to 1 are refused from about 40 and 130 rows on
_HARDLY = 1e-4


@declared
class OneRunDPAudit(Metric):
    r"""Lower bound on epsilon of differential privacy, estimated from one release.

    A generator may claim that its release is differentially private. The claim means that the
    release would have had nearly the same probability without the data of any one individual. If an
    attack distinguishes training rows from holdout rows better than such a release allows, the
    claim is refuted. The metric matches rows of both tables in random pairs. An attack scores both
    rows of each pair with the release and guesses that the row with the higher score is the
    training row. The value is the smallest epsilon for which this number of correct guesses is not
    unlikely. The value is 0 if no claim is refuted. Lower is better. The audit needs only one
    release and does not run the generator.

    Parameters
    ----------
    attack : str, default="distance"
        Attack that scores the rows. "distance" uses the nearest synthetic row. "monte_carlo",
        "knn_density", "eq1" and "levatt" use the release alone. "ratio", "distance_calibrated",
        "domias" and "classifier" also use a reference of the population, for which half of the
        holdout is reserved. Choose the attack before you see results, because the best of several
        attacks does not give a valid bound.
    design : {"pairs", "bernoulli"}, default="pairs"
        "pairs" is valid if training and holdout data are a random split of any sizes. "bernoulli"
        is valid if an independent fair coin decided for each row whether the generator was trained
        on it. A split with chosen sizes does not qualify, not even a split into halves. The
        reference then consists of the holdout rows without a coin. If their number is less than a
        quarter of the number of coins, rows with a coin are added, drawn from both tables
        regardless of the coin, because a reference from the holdout alone would leave more rows
        that were used for training. Reference rows are not guessed.
        of the holdout alone would leave more rows that were in. No reference row is guessed.
    delta : float, default=0.0
        The delta of the (epsilon, delta) that is bounded, in [0, 1).
    confidence : float, default=0.95
        Minimum probability that the bound is correct, in [3/4, 1).
    k_guesses : int, tuple of two ints or None, default=None
        Number of guesses. For pairs, the pairs with the largest differences are guessed. In the
        "bernoulli" design, half of the guesses are that a row with a high score was used for
        training, and half that a row with a low score was not. Two numbers specify the two counts
        separately. Choose the number before you see results. None guesses whenever the scores
        differ.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Relation of the tables for which epsilon is bounded. "add_remove" is one row more or less,
        as most generators claim. "replace" is one row exchanged for another, with an epsilon of at
        most twice the first. The "bernoulli" design bounds "add_remove" only.
    claimed_epsilon : float, optional
        Epsilon that the generator claims, for the same adjacency. ``details["verdict"]`` compares
        the bound with it.
    included : list, array or Series of 0, 1 and nan, optional
        For the "bernoulli" design, one number for each row of the training data, followed by the
        holdout rows, in their order. The number is 1 if the coin selected the row for training, 0
        if it did not, and nan or None for a row without a coin. By default, training rows are 1 and
        holdout rows are 0.
    stratify : str, optional
        Column within whose values rows are matched, if the split was stratified. It must be the
        column that was used for the split. A missing value is a separate value.
    columns : None, int or list of str, default=None
        Columns that the attack uses.
    random_state : int, default=0
        Seed of the matching and of the attack. Choose it before you see results.

    Raises
    ------
    InvalidParameterError
        If the parameters contradict each other, `included` does not fit the tables, or the number
        of selected rows is so extreme that fair coins give it only once in ten thousand times.

    Warnings
    --------
    The value is a lower bound of epsilon, and there is not an upper bound. Therefore, 0 does not
    clear a release, and a stronger attack may find more.

    See Also
    --------
    DPAudit : Runs the generator many times and gives a higher bound.
    MembershipInference : Describes the attacks whose scores are used here.

    Notes
    -----
    With n pairs, r guesses and v correct guesses, the value is the smallest epsilon at which

    .. math::

        P\left[\mathrm{Bin}\left(r, \frac{e^\varepsilon}{1 + e^\varepsilon}\right) \ge v\right]

    reaches one minus the confidence (delta adds a term). Given the pairs, a fair coin decides which
    of the two rows is the training row, and the pairs are drawn before any score is computed.
    Therefore, the value is a lower bound on the epsilon of replacing a row. Half of the value is a
    lower bound on the epsilon of adding or removing a row. The p-value tests epsilon = 0, that is,
    the release does not depend on which rows were training rows.

    The interval is from the value to infinity: **no upper bound exists**. A weak attack gives 0 for
    any release, and the bound is 0 for a table without a leak. Therefore, 0 does not show that
    epsilon is small. ``details["ceiling"]`` is the bound of an attack without errors for these
    rows, which grows only with the logarithm of their number.

    The bound is valid only if the split into training and holdout rows was random. The bound is not
    valid for a split by time, place or individual, or for a holdout that was collected later. If
    the split was stratified, pass its column to `stratify`.

    The confidence refers to random splits and to the random matching. The matching depends on
    `random_state` and on the contents of both tables, so the same tables give the same value, and
    another split has a new matching. Some matchings of one split find more than others. If you try
    several seeds and keep the highest value, the bound is not valid.

    References
    ----------
    T. Steinke, M. Nasr, M. Jagielski, "Privacy auditing with one (1) training run", NeurIPS 2023,
    arXiv:2305.08846. The matching in pairs, which a split of fixed sizes needs, is ours.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import OneRunDPAudit
    >>> train, holdout = make_mixed(100, random_state=0), make_mixed(100, random_state=1)
    >>> audit = OneRunDPAudit(claimed_epsilon=1.0).fit(train, holdout).evaluate(train)
    >>> round(audit.value, 4), audit.details["verdict"]
    (1.7465, 'violation')
    >>> OneRunDPAudit().fit(train, holdout).score(make_mixed(100, random_state=2))
    0.0
    """

    tags = replace(AUDIT_TAGS, headline=6, weight=LIGHT)

    attack: AttackName = "distance"
    design: Literal["pairs", "bernoulli"] = "pairs"
    _: KW_ONLY
    delta: Annotated[float, Interval(0, 1, "left")] = 0.0
    confidence: Annotated[float, Interval(0.75, 1, "left")] = 0.95
    k_guesses: Guesses = None
    adjacency: Literal["add_remove", "replace"] = "add_remove"
    claimed_epsilon: NonNegative | None = None
    included: Bits = None
    stratify: ColumnName | None = None
    columns: Columns = None
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        pairs, two = self.design == "pairs", isinstance(self.k_guesses, list | tuple)
        replaces = self.adjacency == "replace"
        contradictions = {
            "included is for design='bernoulli'": pairs and self.included is not None,
            "two k_guesses are for design='bernoulli'": pairs and two,
            "stratify is for design='pairs'": not pairs and self.stratify is not None,
            "design='bernoulli' bounds adjacency='add_remove' only": not pairs and replaces,
        }
        if faults := [text for text, applies in contradictions.items() if applies]:
            raise InvalidParameterError(f"OneRunDPAudit: {'; '.join(faults)}.")
        if not pairs:
            self._coins(context)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined_result("no column of this table can be measured.")
        try:
            guessed = self._make_guesses(context)
        except TableError as error:
            return undefined_result(str(error))
        if guessed.n_canaries == 0:
            return undefined_result(_NOTHING[self.design])
        adjacency = {"adjacency": self.adjacency} if self.design == "pairs" else {}
        epsilon, p_value = _TESTS[self.design]
        bound = partial(epsilon, delta=self.delta, confidence=self.confidence, **adjacency)
        p_value = partial(p_value, *guessed, delta=self.delta, **adjacency)
        value, most = bound(*guessed), guessed.n_canaries
        details = {
            "attack": self.attack,
            "design": self.design,
            "adjacency": self.adjacency,
            **guessed._asdict(),
            "accuracy": guessed.n_correct / max(guessed.n_guesses, 1),
            "ceiling": bound(most, most, most),
            **against_claim(value, self.claimed_epsilon, p_value),
        }
        if self.design == "pairs":
            both = ("add_remove", "replace")
            details["epsilon"] = {name: bound(*guessed, adjacency=name) for name in both}
        if guessed.n_guesses and self.delta == 0.0:
            excess = partial(excess_of_guesses, n_guesses=guessed.n_guesses)
            details["smallest_leak"] = smallest_leak(excess, 0.5)
        return Result(
            value,
            interval=(value, float("inf")),
            p_value=p_value(0.0) if guessed.n_guesses else None,
            baseline=0.0,
            details=details,
            warnings=() if guessed.n_guesses else (DegenerateInputWarning(_ALL_ALIKE),),
            contrast=guesses_contrast(guessed, self.design),
        )

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context)

    def _summary(self, result: Result) -> str:
        details = result.details
        what = "pairs of a train and a holdout row" if details["design"] == "pairs" else "rows"
        ceiling = number(as_float(details["ceiling"]))
        shown = f"a lower bound of {number(result.value)} on epsilon"
        if result.value == 0.0:
            shown = "no lower bound on epsilon, which does not show that epsilon is small"
        share = "" if result.contrast is None else f" ({result.contrast.numbers_in_words[0]})"
        sentence = (
            f"The attack guessed {details['n_correct']:,} of {details['n_guesses']:,} {what} "
            f"correctly{share}, and 50% is expected by chance. There is {shown}. With this number "
            f"of guesses, no attack could show a lower bound above {ceiling}."
        )
        if details.get("verdict") == "violation":
            claimed = number(as_float(details["claimed_epsilon"]))
            sentence += f" This refutes the claimed {claimed}."
        return sentence

    def _coins(self, context: Context) -> np.ndarray:
        n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
        coins = coins_of_rows(self.included, n_train, n_holdout)
        return coins[np.append(context.places("train"), n_train + context.places("holdout"))]

    def _make_guesses(self, context: Context) -> Guessed:
        seed = seed_of_draw(context, self.random_state)
        if self.design == "bernoulli":
            return self._guessed_rows(context, seed)
        # always in the common space, because a space learned from train would reveal its rows
        scores = member_scores(context, self.attack, columns=self.columns, seed=seed)
        return guess_pairs(pair_gaps(context, scores, self.stratify, seed), self.k_guesses)

    def _guessed_rows(self, context: Context, seed: int) -> Guessed:
        """Guess which rows with a coin were used for training, except the rows that calibrate."""
        coins, reference = self._coins(context), None
        if self.attack in CALIBRATED:
            rows = reference_among(context, coins, seed)
            reference = pd.concat([context.train, context.holdout], ignore_index=True).iloc[rows]
            coins[rows] = np.nan
        settings: dict[str, Any] = {"columns": self.columns, "reference": reference}
        scores = member_scores(context, self.attack, seed=seed, **settings)
        every = np.concatenate([scores.members, scores.others])  # all rows, in the tables' order
        # equal scores are guessed in an order that does not depend on the table
        order = in_random_order(context, seed)
        order = order[~np.isnan(coins[order])]
        return guess_by_rank(every[order], coins[order], self.k_guesses)


class Guessed(NamedTuple):
    """Numbers of coins, guesses and correct guesses of the attack."""

    n_canaries: int
    n_guesses: int
    n_correct: int


def guesses_contrast(guessed: Guessed, design: str) -> Contrast | None:
    """Compare the fraction of correct guesses with a coin, None without guesses."""
    if not guessed.n_guesses:
        return None
    share, least = guessed.n_correct / guessed.n_guesses, 0.5**guessed.n_canaries
    return Contrast(_GUESSES[design], share, 0.5, least_p=least)


# ------------------------------------------------------------------------------ guesses of pairs


def pair_gaps(
    context: Context, scores: MemberScores, stratify: str | None, seed: int
) -> np.ndarray:
    """Return by how much the train row of each pair has the higher score, in random order."""
    # positions in the scores, in an order independent of the tables
    members = in_drawing_order(context, "train", scores.member_rows, seed)
    others = in_drawing_order(context, "holdout", scores.other_rows, seed)
    strata = strata_of(context, stratify)
    first, second = match_rows(
        strata["train"][scores.member_rows[members]], strata["holdout"][scores.other_rows[others]]
    )
    return scores.members[members[first]] - scores.others[others[second]]


def guess_pairs(gaps: np.ndarray, k_guesses: int | Sequence[int] | None) -> Guessed:
    """Guess the training row as the row with the higher score, in pairs with the largest gaps."""
    n_pairs = gaps.size
    if k_guesses is not None:  # the order of the pairs decides among equal gaps
        gaps = gaps[np.argsort(-np.abs(gaps), kind="stable")[: int(np.sum(k_guesses))]]
    return Guessed(n_pairs, int((gaps != 0.0).sum()), int((gaps > 0.0).sum()))


def _are_bits(value: object) -> bool:
    held = all(hasattr(value, name) for name in ("__len__", "__iter__"))
    return value is None or (held and not isinstance(value, str | bytes))


Bits = Annotated[
    Sequence[float] | np.ndarray | None, Legal("None or a sequence of 0, 1 and nan", _are_bits, 2)
]


def _are_guesses(value: object) -> bool:
    counts: list[Any] = [*value] if isinstance(value, list | tuple) else [value]
    n_expected = 2 if isinstance(value, list | tuple) else 1
    whole = len(counts) == n_expected and all(map(_WHOLE.accepts, counts))
    return value is None or (whole and sum(counts) > 0)


Guesses = Annotated[
    int | tuple[int, int] | None,
    Legal("None, a positive int or two ints from 0 on", _are_guesses, 0),
]


def strata_of(context: Context, column: str | None) -> dict[str, np.ndarray]:
    """Return a number for each value of a column (missing is a value), by role.

    Without a column, all rows are in one stratum.
    """
    if column is None:
        return {role: np.zeros(context.n_rows(role), dtype=np.int64) for role in _REAL}
    values = [
        context.column(role, column).cat.codes
        if context.schema.kinds[column] in NOMINAL
        else numbers(context[role][[column]]).ravel()
        for role in _REAL
    ]
    codes = np.unique(np.concatenate(values), return_inverse=True, equal_nan=True)[1].ravel()
    return dict(zip(_REAL, np.split(codes, [len(values[0])]), strict=True))


def match_rows(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of pairs of rows of one stratum, the first of either table first."""
    n_strata = int(max(first.max(initial=-1), second.max(initial=-1))) + 2
    keys = [
        # the number of earlier rows in the stratum of a row, then the stratum
        pd.Series(strata).groupby(strata).cumcount().to_numpy() * n_strata + strata + 1
        for strata in (first, second)
    ]
    _, left, right = np.intersect1d(*keys, return_indices=True)
    return left, right


# ------------------------------------------------------------------------------- guesses of rows


def coins_of_rows(included: Any, n_train: int, n_holdout: int) -> np.ndarray:
    """Return the coin of each row, training rows first: 1 in, 0 out, nan without a coin."""
    coins = np.repeat([1.0, 0.0], [n_train, n_holdout]) if included is None else _bits(included)
    if coins.size != n_train + n_holdout:
        raise InvalidParameterError(
            f"OneRunDPAudit: included must have a number for each of {n_train + n_holdout} rows, "
            f"train first, got {coins.size}."
        )
    n_in, n_coins = int((coins == 1.0).sum()), int((~np.isnan(coins)).sum())
    if n_coins == 0:
        raise InvalidParameterError("OneRunDPAudit: included must give a row a coin.")
    if 2.0 * binom.cdf(min(n_in, n_coins - n_in), n_coins, 0.5) < _HARDLY:
        raise InvalidParameterError(
            f"OneRunDPAudit: {n_in} of {n_coins} rows were in, which is very unlikely for fair "
            "coins. For a split with chosen sizes, use design='pairs'."
        )
    return coins


def _bits(included: Any) -> np.ndarray:
    try:
        bits = np.array([np.nan if pd.isna(bit) else float(bit) for bit in included])
    except (TypeError, ValueError):
        bits = np.array([np.inf])
    if not (np.isnan(bits) | (bits == 0.0) | (bits == 1.0)).all():
        raise InvalidParameterError(
            "OneRunDPAudit: included must be None or a sequence of 0, 1 and nan."
        )
    return bits


@shared
def seed_of_draw(context: Context, seed: int) -> int:
    """Return the seed for two tables, different for each split of the rows."""
    # The seed alone would match the same positions of any two tables of these sizes, and positions
    # depend on the content. Some seeds favor one side, so that a release without a leak is refuted
    # in 15% of splits or more, and with others in none. With a new draw for each split, it is 5%.
    contents = hashlib.sha256(f"{seed}".encode())
    for role in _REAL:
        rows = plain_rows(context, role, "gower", None)
        rows = np.where(np.isnan(rows), np.nan, rows)[np.lexsort(rows.T[::-1])]
        contents.update(f"{rows.shape}".encode() + rows.tobytes())
    return int.from_bytes(contents.digest()[:4], "big")


def in_random_order(context: Context, seed: int) -> np.ndarray:
    """Return the positions in both tables, training rows first, in an unbiased order."""
    train, holdout = (drawing_order(context, role, seed) for role in _REAL)
    return np.random.default_rng(seed).permutation(np.append(train, train.size + holdout))


def reference_among(context: Context, coins: np.ndarray, seed: int) -> np.ndarray:
    """Return positions of the rows that calibrate, in both tables, regardless of membership."""
    # The number is a quarter of the number of coins. All holdout rows without a coin are used
    # first, then rows with a coin from either table. A reference from the holdout alone would leave
    # more training rows than other rows, and its size must not depend on the coins.
    order = in_random_order(context, seed)
    has_coin = ~np.isnan(coins[order])
    free = order[~has_coin & (order >= context.n_rows("train"))]
    n_wanted = max(int(has_coin.sum()) // 4, 1)
    return np.concatenate([free, order[has_coin][: max(0, n_wanted - free.size)]])


def guess_by_rank(
    scores: np.ndarray, bits: np.ndarray, k_guesses: int | Sequence[int] | None
) -> Guessed:
    """Guess that the rows with the highest scores were in, and those with the lowest were not."""
    if k_guesses is None:
        middle = np.median(scores) if scores.size else 0.0
        said_in, said_out = bits[scores > middle], bits[scores < middle]
    else:
        k_in, k_out = _sides(k_guesses, scores.size)
        order = np.argsort(-scores, kind="stable")
        said_in, said_out = bits[order[:k_in]], bits[order[order.size - k_out :]]
    n_correct = int((said_in == 1.0).sum() + (said_out == 0.0).sum())
    return Guessed(scores.size, said_in.size + said_out.size, n_correct)


def _sides(k_guesses: int | Sequence[int], n_rows: int) -> tuple[int, int]:
    """Return the numbers of rows guessed in and out, so that no row is both."""
    if isinstance(k_guesses, Sequence):
        k_in = min(int(k_guesses[0]), n_rows)
        return k_in, min(int(k_guesses[1]), n_rows - k_in)
    total = min(int(k_guesses), n_rows)
    return total - total // 2, total // 2
