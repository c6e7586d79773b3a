"""Singling out: predicates that fit one synthetic row, and how many fit one row of train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.parameters import Columns, Count, OpenFraction, Seed
from skeval.privacy.attacks.anonymeter.isolation import (
    isolation_chances,
    isolation_test,
    size_factor,
)
from skeval.privacy.attacks.anonymeter.predicates import (
    Distinct,
    Predicates,
    distinct_rows,
    multivariate_predicates,
    random_predicates,
    univariate_predicates,
)
from skeval.privacy.attacks.anonymeter.risks import (
    Attack,
    Evidence,
    Levels,
    Measure,
    ResidualRiskMetric,
    places,
    risk_of,
    shown_level,
    shown_rates,
)
from skeval.result import Result, undefined
from skeval.stats.relabelling import least_p_value
from skeval.stats.risks import RISK_LEVELS
from skeval.steps.contrasts import name_of_test
from skeval.steps.neighbors import encoded
from skeval.steps.samples import ColumnChoice, chosen_columns, column_key, nothing_to_measure
from skeval.tables.preprocessing import NUMERIC
from skeval.verdict import TEST_LEVEL, Contrast

MODES: tuple[Literal["univariate"], Literal["multivariate"]] = ("univariate", "multivariate")
_ROLES = ("train", "holdout", "synthetic")
_N_PERMUTATIONS = 9_999
_NO_PREDICATE = (
    "no predicate singles out a synthetic row, so that there is nothing to try on train."
)
_WHAT = {
    "univariate": "values of one synthetic row that single out a train row",
    "multivariate": "sets of values of one synthetic row that single out a train row",
}
_MOST_NAMED = 3  # columns that an alarm says what to do about


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
    levels : pair of float, default=(0.3, 0.5)
        From where on a risk is called medium, and beyond which high.
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

    Warnings
    --------
    This is what one adversary achieves: a low value does not clear a release.

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

    clipped to [0, 1]. Its null value is 0; the baseline is its mean over random choices of which
    real rows are train, which clipping puts above 0. Duplicates are dropped from each table first.
    In mode "multivariate" a category is as the row has it, a number at least as large if it is
    above the median and at most as large otherwise.

    ``details`` has the rates of the attack, of random predicates (`baseline`) and on the holdout
    (`control`) with Wilson's intervals, the risk unclipped (`raw`) and from plain shares
    (`unshrunk`), its `level`, and `weak_attack`: whether random predicates do as well, in which
    case a low value says nothing. `columns` has by column the number of predicates about it, how
    many of them single out a row of train and of the holdout, and a p-value that holds for all
    columns at once, after Westfall and Young: what leaks by single columns can be dropped, pooled
    or coarsened.

    The p-value is one-sided: if the synthetic table does not depend on which of the pooled real
    rows were train, all choices of them are equally likely. The excess of train over the holdout is
    held against 999 random choices, or up to 9,999 where few of them reach it. Predicates that
    share rows do not succeed independently of each other, while rows are drawn independently; where
    the excess varies more over these choices than that of independent predicates would, the
    interval is wider by the ratio, ``details["spread"]``. Where it varies less, as averages over
    samples of a larger table do, the interval is wider than need be.

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

    tags = replace(ResidualRiskMetric.tags, risks=frozenset({"singling out"}))

    def __init__(
        self,
        mode: Literal["univariate", "multivariate"] = "multivariate",
        *,
        n_attacks: Count = 500,
        n_cols: Count = 3,
        max_attempts: Count = 2_000_000,
        distinct_rows: bool = True,
        size_correction: Literal["subsample", "fit", "none"] = "subsample",
        levels: Levels = RISK_LEVELS,
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
        self.levels = levels
        self.columns = columns
        self.ci_method = ci_method
        self.confidence_level = confidence_level
        self.random_state = random_state

    def _risk(self, context: Context, tested: bool) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined("no column of this table can be measured.")
        attack = self._attack(context)
        if attack is None:
            return undefined(_NO_PREDICATE)
        measure = Measure(self.ci_method, self.confidence_level, self.levels)
        return risk_of(attack, measure, tested)

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
            f"row and {control} a holdout row, which the generator never saw."
        )
        if details["weak_attack"]:
            return f"{sentence} Random predicates do as well: a low risk then says nothing."
        return f"{sentence} {shown_level(result)}"


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
    codes, _ = pd.factorize(values, sort=True)  # sorts the distinct values alone
    return codes.astype(np.int32)


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
    names, settings = sorted(chosen), (n_attacks, n_cols, max_attempts, distinct, columns, seed)
    test = partial(
        evidence_of_isolation,
        real,
        predicates,
        names,
        mode,
        seed,
        name_of_test(f"{mode} singling out", *settings),
    )
    return _tried(real, predicates, random, size_correction, test)


def _tried(
    real: Distinct,
    predicates: Predicates,
    random: Predicates,
    size_correction: str,
    test: Callable[[], Evidence],
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
    return Attack(
        successes=(min(on_train, n),),
        control=(min(on_holdout * factor, n),),
        n=n,
        guessed=min(guessed, len(random)),
        n_guessed=len(random),
        test=test,
        details={"n_rows_compared": kept[0], "size_factor": factor},
    )


def evidence_of_isolation(
    real: Distinct, predicates: Predicates, names: Sequence[str], mode: str, seed: int, name: str
) -> Evidence:
    """Return what relabelling says of predicates that single out, together and by column."""
    sizes = [int(n_rows) for n_rows in real.counts.sum(axis=1)]
    n, n_kept = len(predicates), min(sizes)
    tested = isolation_test(real, predicates, n_kept, n_permutations=_N_PERMUTATIONS, seed=seed)
    by_column = tested.by_column(names, predicates)
    rate, (of_train, of_holdout) = tested.rate / n, (tested.observed[:, 0] / n).tolist()
    independent = math.sqrt(2.0 * n * rate * (1.0 - rate))  # were all predicates independent
    return Evidence(
        Contrast(
            _WHAT[mode],
            of_train,
            of_holdout,
            reference="a holdout row",
            tests=(name,),
            least_p=least_p_value(sizes[0], sizes[1], _N_PERMUTATIONS),
        ),
        tested.test.p_value,
        advice_on(by_column, mode),
        drawn=tested.drawn[:, 0],
        spread=max(1.0, tested.test.spread / independent) if independent > 0 else 1.0,
        details={"columns": by_column},
    )


def advice_on(by_column: dict[str, dict[str, Any]], mode: str) -> str:
    """Return what to do about the columns that single out train rows; empty if none stands out."""
    significant = [name for name, one in by_column.items() if one["p_value"] <= TEST_LEVEL]
    if not significant:
        return ""
    *others, last = significant[:_MOST_NAMED]
    listed = f"{', '.join(others)} and {last}" if others else last
    owner, whose = ("their", "them") if others else ("its", "it")
    what = f"{owner} values" if mode == "univariate" else f"sets of values with {whose}"
    return f"Drop, pool or coarsen {listed}: {what} single out train rows."
