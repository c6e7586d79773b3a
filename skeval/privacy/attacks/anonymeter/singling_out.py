"""Singling out: predicates that match one synthetic row and exactly one training row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import Need
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
    ResidualRiskMetric,
    places,
    risk_of,
    shown_level,
    shown_rates,
    shown_share,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.risks import attack_rate, is_weak, risk_level
from skeval.steps.column_choice import ColumnChoice, chosen_columns, column_key, nothing_to_measure
from skeval.steps.contrasts import name_of_test
from skeval.steps.encoded_rows import encoded_matrix
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import join_names
from skeval.utils.parameters import Columns, Count

MODES: tuple[Literal["univariate"], Literal["multivariate"]] = ("univariate", "multivariate")
_ROLES = ("train", "holdout", "synthetic")
_N_PERMUTATIONS = 9_999
_NO_PREDICATE = "no predicate singles out a synthetic row, so there is nothing to test on train."
_WHAT = {
    "univariate": "values of one synthetic row that single out a train row",
    "multivariate": "sets of values of one synthetic row that single out a train row",
}
_MAX_NAMED = 3  # maximum number of columns in an advice


@declared
class SinglingOutRisk(ResidualRiskMetric):
    r"""Excess risk that an attacker singles out a training record.

    An attacker who has the synthetic table searches for rare combinations, for example "a widow
    aged 93 who works 60 hours a week". If one synthetic row matches this predicate, the attacker
    guesses that exactly one real record matches, and is correct if exactly one training row
    matches. Because rare combinations occur in any data, some predicates also single out a holdout
    row, which the generator never saw. The value is the success on training rows in excess of the
    success on holdout rows. It ranges from 0 (no excess) to 1 (every predicate singles out a
    training row). Lower is better.

    Parameters
    ----------
    mode : {"multivariate", "univariate"}, default="multivariate"
        "multivariate" uses predicates about `n_cols` columns of a random synthetic row.
        "univariate" uses predicates about one column: a value that occurs once, the minimum or
        maximum of a number, or a missing value.
    n_attacks : int, default=500
        Number of predicates. There are fewer if fewer synthetic rows can be singled out.
    n_cols : int, default=3
        Number of columns of a predicate in mode "multivariate" (all columns if there are fewer).
    max_attempts : int, default=2_000_000
        Maximum number of predicates to try on the synthetic rows in mode "multivariate". If this
        number is reached, there are fewer than `n_attacks` predicates.
    distinct_rows : bool, default=True
        Whether each synthetic row has at most one predicate. Otherwise, "the lowest age" and "aged
        17" count twice although they are equivalent.
    size_correction : {"subsample", "fit", "none"}, default="subsample"
        Correction for different sizes of training and holdout data, because a predicate that
        matches one row of a small table may match several rows of a larger table. "subsample" uses
        the expected count over all samples of the smaller size. "fit" corrects the count on the
        holdout by a model that is fitted to samples. If the model does not fit, a risk may be
        reported without a leak. "none" applies no correction. Anonymeter also corrects the count by
        a model, so if the sizes differ, the risk in Anonymeter differs from the default of this
        metric.
    columns : None, int or list of str, default=None
        The columns that predicates may use.

    Warnings
    --------
    The value describes one attacker, so a low value does not clear a release.

    See Also
    --------
    LinkabilityRisk : Links two parts of a record to the same synthetic row.
    InferenceRisk : A sensitive attribute of a record is guessed.
    AnonymeterRisk : The largest of all three risks.
    ReplicatedUniques : Rows that are unique in the training and in the synthetic data.

    Notes
    -----
    Let p and c be the fractions of the predicates that single out a training row and a holdout row.
    The residual risk is

    .. math:: \frac{p - c}{1 - c}

    clipped to [0, 1]. Without a leak, its expected value is about 0 before clipping. The baseline
    is the mean of the clipped risk if the training rows are chosen at random among all real rows.
    This mean is above 0 because of the clipping. Duplicates are first dropped from each table. In
    mode "multivariate", a predicate requires the same category as the synthetic row. For a number
    of the row above the median, the predicate requires at least this number, and otherwise at most
    this number.

    ``details`` contains

    - `baseline` and `control`: the success of random predicates, and of the predicates on the
      holdout, with Wilson's intervals.
    - `raw` and `unshrunk`: the risk without clipping, and the risk from plain fractions.
    - `level`: "low", "medium" or "high".
    - `weak_attack`: True if random predicates are as successful, so that a low value is not
      informative.
    - `columns`: for each column, the number of predicates about this column, how many of them
      single out a training and a holdout row, and a p-value that is simultaneous over all columns,
      after Westfall and Young. Columns that leak by themselves can be dropped, pooled or coarsened.

    The p-value is one-sided. If the synthetic table does not depend on which real rows were
    training rows, all choices of the training rows are equally likely. The excess of training over
    holdout rows is compared with 999 random choices, or up to 9,999 if few of them reach it.
    Predicates about the same rows are not independent, so the excess may vary more over these
    choices than for independent predicates. In this case, the interval is widened by the ratio of
    the two standard deviations, ``details["spread"]``. If the excess varies less (for example with
    "subsample"), the interval is wider than necessary.

    With ``reference="baseline"``, a holdout is not needed. The value is then the success in excess
    of guessing, without a test. Use this option if the training data are a whole population, so
    that a row that is singled out is the only such record.

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

    mode: Literal["univariate", "multivariate"] = "multivariate"
    _: KW_ONLY
    n_attacks: Count = 500
    n_cols: Count = 3
    max_attempts: Count = 2_000_000
    distinct_rows: bool = True
    size_correction: Literal["subsample", "fit", "none"] = "subsample"
    columns: Columns = None

    def missing_inputs(self, context: Context) -> list[Need]:
        """Return the unmet requirements. A comparison with guessing does not require a holdout."""
        lacking = super().missing_inputs(context)
        return [need for need in lacking if need != "holdout" or self.reference == "holdout"]

    def _risk(self, context: Context, tested: bool) -> Result:
        if nothing_to_measure(context, "gower"):
            return undefined_result("no column of this table can be measured.")
        if "holdout" not in context:
            return self._beyond_guessing(context)
        attack = self._attack(context)
        if attack is None:
            return undefined_result(_NO_PREDICATE)
        return risk_of(attack, self._measure, tested)

    def _attack(self, context: Context) -> Attack | None:
        """Return how often predicates single out a row, or None without predicates."""
        return singling_out(
            context,
            self.mode,
            self.n_attacks,
            self.n_cols,
            size_correction=self.size_correction,
            **self._step_arguments(context),
        )

    def _step_arguments(self, context: Context) -> dict[str, Any]:
        return {
            "max_attempts": self.max_attempts,
            "distinct": self.distinct_rows,
            "columns": column_key(context.schema, self.columns),
            "seed": self.random_state,
        }

    def _beyond_guessing(self, context: Context) -> Result:
        """Return the success of predicates on training rows in excess of random predicates."""
        counts = isolation_counts(
            context, self.mode, self.n_attacks, self.n_cols, **self._step_arguments(context)
        )
        if counts is None:
            return undefined_result(_NO_PREDICATE)
        attack, guessed = (attack_rate(*one, self.confidence_level) for one in counts)
        risk = self._measure.of_rates(attack, guessed, guessed)
        if math.isnan(risk.value):
            return undefined_result(self._measure.undefined_reason)
        details = {
            "attack": attack.to_dict(),
            "baseline": guessed.to_dict(),
            "raw": risk.raw,
            "unshrunk": risk.unshrunk,
            "level": risk_level(risk.value, self.levels),
            "weak_attack": is_weak(attack, guessed),
        }
        return Result(risk.value, interval=risk.interval, details=details)

    def _summary(self, result: Result) -> str:
        details = result.details
        if "control" not in details:
            train, guessed = (shown_share(details[one]) for one in ("attack", "baseline"))
            what = "single values" if self.mode == "univariate" else "sets of values"
            return (
                f"An attacker who has only the release describes records by {what} that one "
                f"synthetic row has. Among {details['attack']['n']:,.0f}, {train} single out a "
                f"train row, compared with {guessed} for random {what}."
            )
        train, control = shown_rates(details)
        sentence = (
            "An attacker who has only the release describes records by predicates that one "
            f"synthetic row meets. Among {details['attack']['n']:,.0f}, {train} single out a train "
            f"row and {control} a holdout row, which the generator never saw."
        )
        if details["weak_attack"]:
            return (
                f"{sentence} Random predicates are as successful, so a low risk is not informative."
            )
        return f"{sentence} {shown_level(result)}"


@shared
def coded_tables(context: Context, columns: ColumnChoice) -> tuple[Distinct, np.ndarray]:
    """Return the distinct rows of the real tables, and the rows of the release, as codes.

    The codes have the order of the values. Each column is a line, in the order of names.
    """
    there, roles = places(context.schema), [role for role in _ROLES if role in context]
    lines = [there[name] for name in sorted(chosen_columns(context.schema, columns))]
    pooled = np.concatenate([encoded_matrix(context, role) for role in roles])
    codes = np.stack([_codes(pooled[:, j]) for j in lines])
    ends = np.cumsum([context.n_rows(role) for role in roles])[:-1]
    *real, synthetic = np.split(codes, ends, axis=1)
    return distinct_rows(*real), distinct_rows(synthetic).codes


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
    """Return how often predicates single out a row, or None without predicates."""
    asked = asked_predicates(
        context,
        mode,
        n_attacks,
        n_cols,
        max_attempts,
        distinct=distinct,
        columns=columns,
        seed=seed,
    )
    if asked is None:
        return None
    (predicates, random), (real, _) = asked, coded_tables(context, columns)
    chosen, n_cols = chosen_columns(context.schema, columns), 1 if mode == "univariate" else n_cols
    settings = (n_attacks, n_cols, max_attempts, distinct, columns, seed)
    name = name_of_test(f"{mode} singling out", *settings)
    test = partial(evidence_of_isolation, real, predicates, sorted(chosen), mode, seed, name)
    return _attack_of_predicates(real, predicates, random, size_correction, test)


@shared
def asked_predicates(
    context: Context,
    mode: str,
    n_attacks: int,
    n_cols: int,
    max_attempts: int,
    *,
    distinct: bool,
    columns: ColumnChoice,
    seed: int,
) -> tuple[Predicates, Predicates] | None:
    """Return predicates that one synthetic row meets, and random predicates, or None."""
    (_, synthetic), rng = coded_tables(context, columns), np.random.default_rng(seed)
    chosen, numeric = chosen_columns(context.schema, columns), context.schema.columns(*NUMERIC)
    is_number = np.array([name in numeric for name in sorted(chosen)])
    table = (synthetic, is_number, n_attacks)
    if mode == "univariate":
        n_cols, predicates = 1, univariate_predicates(*table, rng, distinct=distinct)
    else:
        predicates = multivariate_predicates(
            *table, n_cols, rng, max_attempts=max_attempts, distinct=distinct
        )
    return (predicates, random_predicates(*table, n_cols, rng)) if len(predicates) else None


def isolation_counts(
    context: Context, mode: str, n_attacks: int, n_cols: int, *, max_attempts: int, **asked: Any
) -> tuple[tuple[float, int], tuple[float, int]] | None:
    """Return the numbers of predicates and random predicates that single out, and totals."""
    both = asked_predicates(context, mode, n_attacks, n_cols, max_attempts, **asked)
    if both is None:
        return None
    table = coded_tables(context, asked["columns"])[0].table(0)
    n_rows = int(table[1].sum())
    counted = [
        (min(float(isolation_chances(*table, one, n_rows).sum()), len(one)), len(one))
        for one in both
    ]
    return counted[0], counted[1]


def _attack_of_predicates(
    real: Distinct,
    predicates: Predicates,
    random: Predicates,
    size_correction: str,
    test: Callable[[], Evidence],
) -> Attack:
    """Count the successes for training and holdout rows at equal sizes, and of guessing."""
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
    """Return the tests of predicates that single out, for all together and by column."""
    sizes = [int(n_rows) for n_rows in real.counts.sum(axis=1)]
    n, n_kept = len(predicates), min(sizes)
    tested = isolation_test(real, predicates, n_kept, n_permutations=_N_PERMUTATIONS, seed=seed)
    by_column = tested.by_column(names, predicates)
    rate, (of_train, of_holdout) = tested.rate / n, (tested.observed[:, 0] / n).tolist()
    independent = math.sqrt(2.0 * n * rate * (1.0 - rate))  # were all predicates independent
    shown = (_WHAT[mode], of_train, of_holdout, "for holdout rows")
    least = least_p_value(sizes[0], sizes[1], _N_PERMUTATIONS)
    return Evidence(
        Contrast(*shown, tests=(name,), least_p=least),
        tested.test.p_value,
        advice_on(by_column, mode),
        drawn=tested.drawn[:, 0],
        spread=max(1.0, tested.test.spread / independent) if independent > 0 else 1.0,
        details={"columns": by_column},
        test=tested.test,
    )


def advice_on(by_column: dict[str, dict[str, Any]], mode: str) -> str:
    """Return the advice about columns that single out training rows, or an empty string."""
    significant = [name for name, one in by_column.items() if one["p_value"] <= TEST_LEVEL]
    if not significant:
        return ""
    named = significant[:_MAX_NAMED]
    owner, whose = ("their", "them") if len(named) > 1 else ("its", "it")
    what = f"{owner} values" if mode == "univariate" else f"sets of values with {whose}"
    return f"Drop, pool or coarsen {join_names(named)}: {what} single out train rows."
