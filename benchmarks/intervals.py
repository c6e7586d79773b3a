"""Coverage and width of the intervals of fidelity metrics, by simulation.

Each draw generates new tables of every role. The target of an interval is the mean of the values of
all draws. The width is compared with 2 x 1.96 standard deviations of these values.

    python benchmarks/intervals.py 200 100 mixed same
"""

from __future__ import annotations

import sys
import warnings
from functools import cache

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.datasets import make_census, make_mixed
from skeval.fidelity import (
    ClassifierTwoSampleTest,
    ContingencySimilarity,
    CorrelationSimilarity,
    KSComplement,
    MutualInformationDifference,
    PhikMatrixDifference,
    RelationScore,
    SimilarityScore,
    TVComplement,
    WassersteinDistance,
)
from skeval.tables.schema import TableSchema

METRICS = (
    KSComplement,
    TVComplement,
    SimilarityScore,
    RelationScore,
    PhikMatrixDifference,
    CorrelationSimilarity,
    ContingencySimilarity,
    MutualInformationDifference,
    WassersteinDistance,
    ClassifierTwoSampleTest,
)
CENSUS_COLUMNS = 9


def table(kind: str, n_rows: int, seed: int) -> pd.DataFrame:
    """Return a mixed table or the first columns of a census."""
    if kind == "mixed":
        return make_mixed(n_rows, random_state=seed)
    census = make_census(n_rows, random_state=seed)
    return census[[name for name in census if name != "id"][:CENSUS_COLUMNS]]


def synthetic_table(kind: str, setting: str, n_rows: int, seed: int) -> pd.DataFrame:
    """Return fresh rows, fresh rows with shifted numbers, or fresh rows with shuffled columns."""
    rows, rng = table(kind, n_rows, seed), np.random.default_rng(seed)
    if setting == "shuffled":
        return rows.apply(
            lambda column: column.iloc[rng.permutation(n_rows)].reset_index(drop=True)
        )
    if setting == "shifted":
        for name, shift in shifts(kind).items():
            rows[name] += shift
    return rows


@cache
def shifts(kind: str) -> dict[str, int]:
    """Return 0.4 standard deviations of each number, equal for all draws."""
    # Shifts by the standard deviations of each draw would differ between draws. Values would vary
    # more than by sampling, for example if an age is shifted by 7 years in one draw and by 8 in
    # another, and the intervals do not contain this variation.
    numbers = table(kind, 5_000, 0).select_dtypes("number")
    return {name: round(0.4 * numbers[name].std()) for name in numbers}


def main(n_rows: int, n_draws: int, kind: str, setting: str) -> None:
    """Print coverage and relative width of each metric."""
    schema = TableSchema.infer(table(kind, 5_000, 0)).kinds
    metrics = [metric() for metric in METRICS]
    results: list[list[tuple[float, float, float]]] = [[] for _ in metrics]
    for draw in range(n_draws):
        context = Context.of(table(kind, n_rows, 2 * draw), schema=schema, ordered=True)
        rows = synthetic_table(kind, setting, n_rows, 2 * draw + 1)
        context = context.with_synthetic(rows)
        for metric, found in zip(metrics, results, strict=True):
            result = metric.evaluate_context(context)
            found.append((result.value, *(result.interval or (np.nan, np.nan))))
    print(f"{kind}, {setting}, {n_rows:,} rows, {n_draws:,} draws: mean, sd, coverage, width")
    for metric, found in zip(metrics, results, strict=True):
        value, low, high = np.array(found).T
        mean, sd = value.mean(), value.std(ddof=1)
        covered = np.mean((low <= mean) & (mean <= high))
        width = np.mean(high - low) / (2.0 * 1.96 * sd)
        name = type(metric).__name__
        print(f"{name:28s} {mean:9.4f} {sd:8.4f} {covered:6.3f} {width:5.2f}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5])
