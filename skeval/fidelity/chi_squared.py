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
    """Association of values with the table they are in: 0 where shares agree, 1 if none is shared.

    An analyst puts the counts of the real and of the synthetic values into a table of two rows,
    one column a cell, and asks whether the rows differ by more than chance. The value, Cramer's V
    of that table, says by how much; the p-value, whether chance explains it. The value is the mean
    over the columns of the table.

    Parameters
    ----------
    min_expected : float, default=5
        Cells of which either table would have fewer rows than this by chance are pooled in one.

    See Also
    --------
    TVComplement : The difference of the shares themselves.
    KSComplement : Numbers without cells.

    Notes
    -----
    For counts x and y in n and m rows, ``chi2 = sum (x m - y n)^2 / (n m (x + y))`` and
    ``V = sqrt(chi2 / (n + m))``, without a continuity correction, on counts and not on shares.
    Missing and unseen values have cells of their own. A column with fewer than two cells left has
    no score.

    The p-value is that of the worst column times the number of columns. Synthetic rows must be
    independent of the rows they are tested against. Those of train are not, since the generator
    was fitted to them: where there is a holdout, the test is against its rows, and against train
    it is conservative, so that a large p-value means nothing; ``details["p_values_against"]`` says
    which. With many rows the least difference is significant: read V for its size. ``details``
    have statistic, degrees of freedom and p-value by column; ``details["ceilings"]`` the root mean
    square of V over all relabellings of the pooled rows, and ``details["ceiling"]`` their mean. No
    interval is given: V is the root of a sum of squares, which chance keeps above 0.

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
            f"Table and value of a column are associated as strongly as {number(result.value)} "
            f"(Cramer's V) on average; chance alone gives {number(result.details['ceiling'])}."
        )
        if result.p_value is None:
            return strength
        rows = result.details["p_values_against"].split(",")[0]
        return (
            f"{strength} Against {rows}, the worst of all columns has a p-value of "
            f"{number(result.p_value)}."
        )


def _tests(
    real: dict[str, np.ndarray], synthetic: dict[str, np.ndarray], min_expected: float
) -> dict[str, Homogeneity]:
    least = float(min_expected)
    return {name: homogeneity_test(real[name], synthetic[name], least) for name in real}


def _notes(pooled: dict[str, np.ndarray], min_expected: float) -> tuple[MetricWarning, ...]:
    """Say why columns have no score, given the counts of their cells in both tables."""
    single = [name for name, counts in pooled.items() if (counts > 0).sum() < 2]
    rare = [name for name in pooled if name not in single]
    notes: list[MetricWarning] = []
    if single:
        text = f"train and synthetic have one cell only in {', '.join(single)}: no score."
        notes.append(ConstantColumnWarning(text))
    if rare:
        text = f"too few rows for two cells of {min_expected:g} in {', '.join(rare)}: no score."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


class Homogeneity(NamedTuple):
    """What the chi-square test of a 2 x K table says; all but `n_cells` are nan if K < 2."""

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
    # For a cell with counts x and y, chi-square adds (x m - y n)^2 / (n m (x + y)). Its mean
    # over all relabellings is (K - 1) N / (N - 1), exactly; hence `expected_v = sqrt((K - 1)
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
    """Return both tables with all cells in one of which less than `min_expected` is expected."""
    # Which cells are pooled follows from the pooled counts alone, so that no table is
    # favoured. If that one cell is still too rare, the rarest other one joins it. Cells that
    # neither table uses are dropped.
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
