"""Singling out: predicates that fit one synthetic row, and how many fit one row of train."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skeval.context import Context, shared
from skeval.parameters import Columns, Count, OpenFraction, Seed
from skeval.privacy.attacks.anonymeter.predicates import (
    Codes,
    Distinct,
    Predicates,
    distinct_rows,
    multivariate_predicates,
    random_predicates,
    univariate_predicates,
)
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    ResidualRiskMetric,
    places,
    risk_of,
    shown_level,
    shown_rates,
)
from skeval.result import Result, undefined
from skeval.stats.relabelling import Relabelled, compared
from skeval.steps.neighbors import encoded
from skeval.steps.samples import ColumnChoice, chosen_columns, column_key, nothing_to_measure
from skeval.tables.preprocessing import NUMERIC

MODES: tuple[Literal["univariate"], Literal["multivariate"]] = ("univariate", "multivariate")
_ROLES = ("train", "holdout", "synthetic")
_N_PERMUTATIONS = 1999
_NO_PREDICATE = (
    "no predicate singles out a synthetic row, so that there is nothing to try on train."
)
_NEVER = 1e-15  # a chance below is none
_LONGEST = 64  # pooled values that a predicate may match to be part of the test
_CELLS = 2**21  # held at once


class SinglingOutRisk(ResidualRiskMetric):
    r"""Risk to be singled out: 0 if train rows are as holdout rows, 1 if every predicate hits one.

    An attacker who has the synthetic table looks for what is rare in it: "a widow aged 93 who works
    60 hours a week". If one synthetic row matches this predicate, the attacker says that one real
    person does, and is right if exactly one row of train matches. Rare things are rare in any data,
    so that some predicates also single out a row of the holdout, whom the generator never saw; the
    value is what is left of the success on train beyond that.

    Parameters
    ----------
    mode : {"multivariate", "univariate"}, default="multivariate"
        Whether a predicate is about `n_cols` columns, as a random synthetic row has them; or about
        one: a value that occurs once, the least or the greatest of a number, a missing value.
    n_attacks : int, default=500
        Number of predicates. There are fewer where fewer synthetic rows can be singled out.
    n_cols : int, default=3
        Number of columns of a predicate in mode "multivariate", at most all.
    max_attempts : int, default=2_000_000
        Number of predicates to try on the synthetic rows, in mode "multivariate", before there are
        fewer than `n_attacks`.
    distinct_rows : bool, default=True
        Whether there is one predicate a synthetic row at most. Otherwise "the least age" and "aged
        17" count twice although they say the same.
    size_correction : {"subsample", "fit", "none"}, default="subsample"
        What is done where train and holdout have different sizes, since other predicates single
        out in a larger table. "subsample" takes samples of the smaller size, and counts what is
        expected over all of them; "fit" corrects the count on the holdout by a model that is fitted
        to samples of it, and leaves a risk of nothing where the model does not hold; "none" does
        nothing.
    columns : None, int or list of str, default=None
        The columns that predicates may be about.
    ci_method : {"anonymeter", "katz"}, default="anonymeter"
        Value and interval from the centres of Wilson's intervals; or from plain shares, with the
        interval of Katz for a ratio of failures.
    confidence_level : float, default=0.95
        Of the intervals.
    random_state : int, default=0
        Seed of the predicates.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    LinkabilityRisk : Two parts of a record lead to the same synthetic row.
    InferenceRisk : A secret of a person is guessed.
    AnonymeterRisk : The largest of all three risks.
    ReplicatedUniques : Rows that are unique in train and in the release.

    Notes
    -----
    With p and c the shares of the predicates that single out a row of train and of the holdout, the
    residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Its null value, and the baseline, is 0. Duplicates are dropped from each
    table first. In mode "multivariate" a category is as the row
    has it, a number at least as large if it is above the median and at most as large otherwise.

    ``details`` has the rates of the attack, of random predicates (`baseline`) and on the holdout
    (`control`) with Wilson's intervals, the risk unclipped (`raw`) and from plain shares
    (`unshrunk`), and `weak_attack`: whether random predicates do as well, in which case a low value
    says nothing.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. The excess of train over the holdout is
    held against 1,999 random choices. Predicates that share rows do not succeed independently of
    each other, while rows are drawn independently; where the excess varies more over these choices
    than that of independent predicates would, the interval is wider by the ratio,
    ``details["spread"]``. Where it varies less, as averages over samples of a larger table do, the
    interval is wider than need be.

    This is what one adversary achieves: a low value does not clear a release.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion
    of singling out", PNAS 117 (2020), doi:10.1073/pnas.1914598117.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import SinglingOutRisk
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> SinglingOutRisk().fit(train, holdout).score(train) > 0.9
    True
    """

    def __init__(
        self,
        mode: Literal["univariate", "multivariate"] = "multivariate",
        *,
        n_attacks: Count = 500,
        n_cols: Count = 3,
        max_attempts: Count = 2_000_000,
        distinct_rows: bool = True,
        size_correction: Literal["subsample", "fit", "none"] = "subsample",
        columns: Columns = None,
        ci_method: Literal["anonymeter", "katz"] = "anonymeter",
        confidence_level: OpenFraction = 0.95,
        random_state: Seed = 0,
    ) -> None:
        self.mode = mode
        self.n_attacks = n_attacks
        self.n_cols = n_cols
        self.max_attempts = max_attempts
        self.distinct_rows = distinct_rows
        self.size_correction = size_correction
        self.columns = columns
        self.ci_method = ci_method
        self.confidence_level = confidence_level
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined("no column of this table can be measured.")
        attack = self._attack(context)
        if attack is None:
            return undefined(_NO_PREDICATE)
        return risk_of(attack, self.ci_method, self.confidence_level)

    def _attack(self, context: Context) -> Attack | None:
        """Return how often predicates single out; None if there are none to try."""
        return singling_out(
            context,
            self.mode,
            self.n_attacks,
            self.n_cols,
            max_attempts=self.max_attempts,
            distinct=self.distinct_rows,
            size_correction=self.size_correction,
            columns=column_key(context.schema, self.columns),
            seed=self.random_state,
        )

    def _summary(self, result: Result) -> str:
        details, (train, control) = result.details, shown_rates(result.details)
        sentence = (
            "An attacker who has the release alone describes persons by predicates that one "
            f"synthetic row meets. Of {details['attack']['n']:,.0f}, {train} single out a train "
            f"row and {control} a holdout row, which the release cannot betray."
        )
        if details["weak_attack"]:
            return f"{sentence} Random predicates do as well: a low risk then says nothing."
        return f"{sentence} {shown_level(result.value)}"


@shared
def coded_tables(context: Context, columns: ColumnChoice) -> tuple[Distinct, np.ndarray]:
    """Return the distinct rows of train and holdout, and those of the release, as codes.

    Codes say which value is equal, smaller or larger; one line a column, in the order of names.
    """
    there = places(context.schema)
    lines = [there[name] for name in sorted(chosen_columns(context.schema, columns))]
    pooled = np.concatenate([encoded(context, role) for role in _ROLES])
    codes = np.stack([_codes(pooled[:, j]) for j in lines])
    ends = np.cumsum([context.n_rows(role) for role in _ROLES])[:-1]
    train, holdout, synthetic = np.split(codes, ends, axis=1)
    return distinct_rows(train, holdout), distinct_rows(synthetic).codes


def _codes(values: np.ndarray) -> np.ndarray:
    missing = np.isnan(values)
    _, codes = np.unique(np.where(missing, np.inf, values), return_inverse=True)
    return np.where(missing, -1, codes).astype(np.int32)


@shared
def singling_out(
    context: Context,
    mode: str,
    n_attacks: int,
    n_cols: int,
    *,
    max_attempts: int = 2_000_000,
    distinct: bool = True,
    size_correction: str = "subsample",
    columns: ColumnChoice = None,
    seed: int = 0,
) -> Attack | None:
    """Return how often predicates single out; None if there are none to try."""
    (real, synthetic), rng = coded_tables(context, columns), np.random.default_rng(seed)
    chosen, numeric = chosen_columns(context.schema, columns), context.schema.columns(*NUMERIC)
    is_number = np.array([name in numeric for name in sorted(chosen)])
    table = (synthetic, is_number, n_attacks)
    if mode == "univariate":
        n_cols, predicates = 1, univariate_predicates(*table, rng, distinct=distinct)
    else:
        predicates = multivariate_predicates(
            *table, n_cols, rng, max_attempts=max_attempts, distinct=distinct
        )
    if not len(predicates):
        return None
    random = random_predicates(*table, n_cols, rng)
    return _tried(real, predicates, random, size_correction, seed)


def _tried(
    real: Distinct, predicates: Predicates, random: Predicates, size_correction: str, seed: int
) -> Attack:
    """Count what singles out in train and holdout, at equal sizes, and what guessing achieves."""
    n, sizes = len(predicates), [int(n_rows) for n_rows in real.counts.sum(axis=1)]
    kept = [min(sizes)] * 2 if size_correction == "subsample" else sizes
    on_train, on_holdout = (
        float(isolation_chances(*real.table(i), predicates, n_kept).sum())
        for i, n_kept in enumerate(kept)
    )
    guessed = float(isolation_chances(*real.table(0), random, kept[0]).sum())
    factor = 1.0
    if size_correction == "fit" and sizes[0] != sizes[1]:
        factor = size_factor(*real.table(1), predicates, sizes[0])
    test, n_isolated = isolation_test(
        real, predicates, min(sizes), n_permutations=_N_PERMUTATIONS, seed=seed
    )
    rate = n_isolated / n
    independent = math.sqrt(2.0 * n * rate * (1.0 - rate))  # were all predicates independent
    return Attack(
        successes=(min(on_train, n),),
        control=(min(on_holdout * factor, n),),
        n=n,
        guessed=min(guessed, len(random)),
        n_guessed=len(random),
        p_value=test.p_value,
        spread=max(1.0, test.spread / independent) if independent > 0 else 1.0,
        details={"n_rows_compared": kept[0], "size_factor": factor},
    )


def _absence(n: int, n_kept: int) -> np.ndarray:
    """Return the chance that a random `n_kept` of n rows has none of c, by c; the last one is 0."""
    most = 0 if n_kept == n else int(np.ceil(-np.log(_NEVER) * n / n_kept))
    c = np.arange(min(n - n_kept, most) + 1)
    logs = gammaln(n - c + 1) - gammaln(n - c - n_kept + 1) - gammaln(n + 1)
    return np.append(np.exp(logs + gammaln(n - n_kept + 1)), 0.0)


def isolation_chances(
    codes: Codes, counts: np.ndarray, predicates: Predicates, n_kept: int
) -> np.ndarray:
    """Return for each predicate the chance that it singles out one value of a sample of a table.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_values), int32
        Distinct rows.
    counts : ndarray of shape (n_values,)
        How many rows of the table have each, at least 1.
    predicates : Predicates
        What is asked.
    n_kept : int
        Size of a sample without replacement; where it is that of the table, chances are 0 or 1.

    Returns
    -------
    ndarray of shape (n_predicates,)

    Examples
    --------
    Of the values 0, 1, 2, those up to 1 are asked for. The whole table has two of them; of its
    samples of two rows, two in three have one.

    >>> import numpy as np
    >>> from skeval.privacy.attacks.anonymeter.predicates import Predicates
    >>> from skeval.privacy.attacks.anonymeter.singling_out import isolation_chances
    >>> table, asked = np.array([[0, 1, 2]], dtype=np.int32), [np.array([x]) for x in (0, 0, 1)]
    >>> [isolation_chances(table, np.ones(3, int), Predicates.of(*asked), n) for n in (3, 2)]
    [array([0.]), array([0.66666667])]
    """
    from skeval.privacy.attacks.anonymeter.compiled import chances

    absence = _absence(int(counts.sum()), n_kept)
    cut = absence.size - 1
    return chances(codes, counts.astype(np.int64), absence, cut, *predicates.parts)


def size_factor(codes: Codes, counts: np.ndarray, predicates: Predicates, n_wanted: int) -> float:
    r"""Return how many times more predicates would single out a value in a table of another size.

    Parameters
    ----------
    codes, counts, predicates
        As in :func:`isolation_chances`.
    n_wanted : int
        Number of rows of the other table.

    Returns
    -------
    float

    Notes
    -----
    A predicate that a share v of the population matches singles out in n rows with the chance
    ``n v (1 - v)^(n - 1)``. With v spread evenly up to w, their number is proportional to

    .. math:: I(n, w) = \int_0^w n v (1 - v)^{n - 1} dv = \frac{1 - (n w + 1) (1 - w)^n}{n + 1}

    w is fitted by least squares to the numbers expected in samples of ten sizes.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", PoPETs
    2023, doi:10.56553/popets-2023-0055.
    """
    n = int(counts.sum())
    sizes = np.unique(np.linspace(max(1, min(1000, n // 2)), n, 10).astype(np.int64))
    expected = np.array(
        [isolation_chances(codes, counts, predicates, int(size)).sum() for size in sizes]
    )
    if not expected.any():
        return 1.0
    grid = np.exp(np.linspace(np.log(0.01 / n), 0.0, 2001))
    shapes = isolation_integral(sizes[:, None], grid)
    norms = (shapes * expected[:, None]).sum(axis=0) / (shapes**2).sum(axis=0)
    best = grid[((norms * shapes - expected[:, None]) ** 2).sum(axis=0).argmin()]
    return float(isolation_integral(n_wanted, best) / isolation_integral(n, best))


def isolation_integral(n: int | np.ndarray, w: float | np.ndarray) -> np.ndarray:
    """Return the integral of the chance to single out in n rows over weights up to w.

    Examples
    --------
    >>> from skeval.privacy.attacks.anonymeter.singling_out import isolation_integral
    >>> [round(float(isolation_integral(n, 0.01)), 9) for n in (100, 1000)]
    [0.002652825, 0.000998527]
    """
    n, w = np.asarray(n, dtype=np.float64), np.asarray(w, dtype=np.float64)
    log_none = n * np.log1p(-np.minimum(w, 1.0 - 1e-16))
    return -np.expm1(log_none + np.log1p(n * w)) / (n + 1.0)


def isolation_test(
    rows: Distinct, predicates: Predicates, n_kept: int, *, n_permutations: int, seed: int
) -> tuple[Relabelled, float]:
    """Hold the excess of train over holdout against random choices of who is train.

    Parameters
    ----------
    rows : Distinct
        Of train and of the holdout, in this order.
    predicates : Predicates
        What is asked.
    n_kept : int
        Size of the samples of both tables in which values are singled out.
    n_permutations : int
        Number of random relabellings.
    seed : int
        Of the relabellings.

    Returns
    -------
    test : Relabelled
        Of the number of predicates that single out in train less those that do in the holdout.
        Predicates share rows, so that they do not succeed independently; rows do. Predicates that
        match more than 64 pooled values are left out, whoever is train.
    rate : float
        Mean number that single out in either table, over the relabellings.
    """
    from skeval.privacy.attacks.anonymeter.compiled import first_matches

    lists, lengths = first_matches(rows.codes, _LONGEST, *predicates.parts)
    lengths = lengths[lengths > 0]
    values, entries = np.unique(lists, return_inverse=True)
    counts = rows.counts[:, values]
    absence = [_absence(int(size), n_kept) for size in rows.counts.sum(axis=1)]

    def isolated(*tables: np.ndarray) -> np.ndarray:
        both = zip(tables, absence, strict=True)
        return np.stack([_n_isolated(table, entries, lengths, chance) for table, chance in both])

    draws = [isolated(counts[0][:, None], counts[1][:, None])]
    rng = np.random.default_rng(seed)
    width = max(1, _CELLS // max(1, lists.size))
    for start in range(0, n_permutations, width):
        of_train = _dealt(counts.sum(axis=0), rows, min(width, n_permutations - start), rng)
        draws.append(isolated(of_train, counts.sum(axis=0)[:, None] - of_train))
    both = np.concatenate(draws, axis=1)
    differences = both[0] - both[1]
    test = compared(float(differences[0]), differences[1:])
    return test, float(both.mean())


def _dealt(
    sizes: np.ndarray, rows: Distinct, n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how many rows of each value are train's in random relabellings, (n_values, n)."""
    n_train, n_holdout = rows.counts.sum(axis=1)
    owners = np.repeat(np.arange(sizes.size), sizes)
    dealt = np.empty((sizes.size, n), dtype=np.int64)
    for i, n_chosen in enumerate(rng.hypergeometric(n_train, n_holdout, owners.size, size=n)):
        chosen = rng.permutation(owners)[:n_chosen]
        dealt[:, i] = np.bincount(chosen, minlength=sizes.size)
    return dealt


def _n_isolated(
    counts: np.ndarray, entries: np.ndarray, lengths: np.ndarray, absence: np.ndarray
) -> np.ndarray:
    """Return the expected number of predicates that single out, for each column of counts.

    Parameters
    ----------
    counts : ndarray of shape (n_values, n)
        Rows that have each value.
    entries : ndarray of shape (n_entries,)
        The values that the predicates match, one predicate after the other.
    lengths : ndarray of shape (n_predicates,)
        How many values each matches, at least 1.
    absence : ndarray
        The chance that none of c rows is in the sample, by c.
    """
    if not entries.size:
        return np.zeros(counts.shape[1])
    mine, last = counts[entries], absence.size - 1
    predicate = np.repeat(np.arange(lengths.size), lengths)
    totals = np.add.reduceat(mine, np.cumsum(lengths) - lengths, axis=0)[predicate]
    others = absence[np.minimum(totals - mine, last)]
    return np.asarray((others - absence[np.minimum(totals, last)]).sum(axis=0))
