"""Chi-squared tests of whether the columns of two tables have the same distribution."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.fidelity.cell_metric import CellMetric
from skeval.results.result import Result, mean_of_columns
from skeval.steps.columns import CONSERVATIVE, ROLES, mean_ignoring_nan
from skeval.utils.formatting import number
from skeval.utils.parameters import NonNegative


@declared
class ChiSquaredTest(CellMetric):
    """Chi-squared test of each column, with Cramer's V as the size of the difference.

    For each column, the metric counts the real and the synthetic values in bins. The value is
    Cramer's V of the two rows of counts, averaged over the columns. It ranges from 0 (equal
    fractions) to 1 (no bin is shared). Lower is better. The p-value indicates whether the
    differences are significant.

    Parameters
    ----------
    min_expected : float, default=5
        Minimum expected number of rows. Cells with fewer expected rows in either table are pooled.

    Warnings
    --------
    With many rows, even irrelevant differences have a small p-value. Judge the size of the
    difference by the value. Joint distributions are not compared.

    See Also
    --------
    TVComplement : Compares the fractions.
    KSComplement : Compares numerical columns without bins.

    Notes
    -----
    For counts x and y in n and m rows, ``chi2 = sum (x m - y n)^2 / (n m (x + y))`` and
    ``V = sqrt(chi2 / (n + m))``, without a continuity correction. Both are computed from counts,
    not from fractions. Missing and unseen values have separate bins. If fewer than two bins remain
    for a column, it has no score.

    The p-value is the smallest p-value of a column, multiplied by the number of columns. The test
    requires synthetic rows that are independent of the real rows. The training rows do not satisfy
    this, because the generator was fitted to them. Therefore the test uses the holdout rows if
    there is a holdout. With the training data it is conservative, so a large p-value is not
    conclusive. ``details["p_values_against"]`` specifies the rows. For many rows, even the smallest
    difference is significant, so use V to judge the size of the difference. ``details`` contains
    the statistic, the degrees of freedom and the p-value of each column. ``details["ceilings"]``
    contains the root mean square of V over all permutations of the pooled rows, and
    ``details["ceiling"]`` is their mean. The result contains no interval, because V is the square
    root of a sum of squares, which is above 0 even without differences.

    References
    ----------
    K. Pearson, "On the probability that two independent distributions of frequency are really
    samples from the same population", Biometrika 8 (1911), doi:10.1093/biomet/8.1-2.250.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ChiSquaredTest
    >>> train = pd.DataFrame({"c": ["a"] * 50 + ["b"] * 30 + ["c"] * 20})
    >>> synthetic = pd.DataFrame({"c": ["a"] * 40 + ["b"] * 40 + ["c"] * 20})
    >>> result = ChiSquaredTest().fit(train).evaluate(synthetic)
    >>> round(result.value, 6), round(result.p_value, 6)
    (0.112687, 0.280876)
    """

    min_expected: NonNegative = 5

    def _compute(self, context: Context) -> Result:
        against = "holdout" if "holdout" in context else "train"
        train, synthetic = (self._counts(context, role) for role in ROLES)
        to_train = _tests(train, synthetic, self.min_expected)
        tested = _tests(self._counts(context, against), synthetic, self.min_expected)
        ceilings = {name: test.expected_v for name, test in to_train.items() if test.n_cells >= 2}
        known = [test.p_value for test in tested.values() if test.n_cells >= 2]
        without = {name: train[name] + synthetic[name] for name in train if name not in ceilings}
        result = mean_of_columns(
            {name: test.cramers_v for name, test in to_train.items()},
            n_total=len(context.schema.kinds),
            greater_is_better=False,
            warnings=_notes(without, self.min_expected),
            statistics={name: test.statistic for name, test in tested.items()},
            degrees_of_freedom={name: test.degrees for name, test in tested.items()},
            p_values={name: test.p_value for name, test in tested.items()},
            p_values_against=against if against == "holdout" else CONSERVATIVE,
            ceilings=ceilings,
            ceiling=mean_ignoring_nan(ceilings),
        )
        return replace(result, p_value=min(1.0, len(known) * min(known)) if known else None)

    def _summary(self, result: Result) -> str:
        strength = (
            f"The mean Cramer's V of table and value is {number(result.value)} "
            f"({number(result.details['ceiling'])} expected by chance)."
        )
        if result.p_value is None:
            return strength
        rows = result.details["p_values_against"].split(",")[0]
        return (
            f"{strength} With {rows} rows, the smallest p-value of all columns is "
            f"{number(result.p_value)} (corrected)."
        )


def _tests(
    real: dict[str, np.ndarray], synthetic: dict[str, np.ndarray], min_expected: float
) -> dict[str, Homogeneity]:
    least = float(min_expected)
    return {name: homogeneity_test(real[name], synthetic[name], least) for name in real}


def _notes(pooled: dict[str, np.ndarray], min_expected: float) -> tuple[MetricWarning, ...]:
    """Return warnings for columns without a score."""
    single = [name for name, counts in pooled.items() if (counts > 0).sum() < 2]
    rare = [name for name in pooled if name not in single]
    notes: list[MetricWarning] = []
    if single:
        text = f"Columns with a single value have no score: {', '.join(single)}."
        notes.append(ConstantColumnWarning(text))
    if rare:
        text = (
            f"Columns with fewer than two bins of {min_expected:g} expected rows have no score: "
            f"{', '.join(rare)}."
        )
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


class Homogeneity(NamedTuple):
    """Result of the chi-squared test of a 2 x K table. If K < 2, all but `n_cells` are nan."""

    statistic: float
    degrees: float
    p_value: float
    cramers_v: float
    expected_v: float
    n_cells: int


def homogeneity_test(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float = 5.0
) -> Homogeneity:
    """Test whether two tables of counts on common cells come from one distribution."""
    # For a cell with counts x and y, chi-square adds (x m - y n)^2 / (n m (x + y)). Its exact
    # mean over all permutations is (K - 1) N / (N - 1). Therefore `expected_v = sqrt((K - 1)
    # / (N - 1))`.
    x, y = pool_rare_cells(counts_x, counts_y, min_expected)
    n, m, k = float(x.sum()), float(y.sum()), x.size
    if k < 2 or n == 0 or m == 0:
        nan = float("nan")
        return Homogeneity(nan, nan, nan, nan, nan, k)
    statistic = float(((x * m - y * n) ** 2 / (n * m * (x + y))).sum())
    return Homogeneity(
        statistic,
        k - 1.0,
        float(chi2.sf(statistic, k - 1)),
        min(1.0, float(np.sqrt(statistic / (n + m)))),
        float(np.sqrt((k - 1.0) / (n + m - 1.0))),
        k,
    )


def pool_rare_cells(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float
) -> tuple[np.ndarray, np.ndarray]:
    """Pool the cells in which less than `min_expected` rows are expected for one of the tables."""
    # The selection depends only on the pooled counts, so it does not favor a table. If the
    # pooled cell is still too rare, the rarest other cell is added to it. Cells that neither
    # table uses are dropped.
    both = np.asarray(counts_x + counts_y)
    order = np.argsort(-both, kind="stable")
    order = order[both[order] > 0]
    x, y, total = counts_x[order], counts_y[order], both[order]
    share = min(int(x.sum()), int(y.sum())) / max(1, int(total.sum()))
    enough = total * share >= min_expected
    n_kept = int(enough.sum())
    if n_kept < total.size and total[n_kept:].sum() * share < min_expected:
        n_kept = max(0, n_kept - 1)
    if n_kept == total.size:
        return x, y
    return tuple(np.append(z[:n_kept], z[n_kept:].sum()) for z in (x, y))  # type: ignore[return-value]
