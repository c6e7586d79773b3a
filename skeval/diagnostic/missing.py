"""Compare the frequency and the patterns of missing cells with the training data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import missing_cells, n_missing
from skeval.core.declared import declared
from skeval.core.tags import VALIDITY_TAGS
from skeval.diagnostic.columns import any_columns, lacks, within_bands
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import expected_total_variation, total_variation
from skeval.stats.intervals import newcombe
from skeval.stats.joint_classes import distinct_codes
from skeval.steps.columns import ROLES, mean_ignoring_nan
from skeval.steps.distinct_rows import Groups, count_codes
from skeval.utils.formatting import percent
from skeval.utils.parameters import AnyColumns

_WORD = 62  # columns for each integer


@declared
class MissingMetric(Metric):
    """Base class of metrics of missing cells, which can occur in columns of any type.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Text and ID columns are
        included.
    """

    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        any_columns(context.schema, self.columns)


@declared
class MissingValueSimilarity(MissingMetric):
    """Similarity of the fractions of missing cells in each column.

    If incomes are missing in a third of the real rows but in no synthetic row, an analyst prepares
    for data that do not exist. The metric compares the fractions of missing cells column by column
    and reports the mean over the columns. The score ranges from 0 (all cells are missing in one
    table and present in the other) to 1 (equal fractions). Higher is better.

    Warnings
    --------
    The score does not show which rows have missing cells. A generator that deletes cells at random
    can score 1.

    See Also
    --------
    MissingPatternSimilarity : Compares which cells are missing together.

    Notes
    -----
    ``1 - |share_train - share_synthetic|``. A cell counts as missing only if it is missing in the
    given table. A cell that cannot be read as its column's type counts as present, because the
    adherence metrics count such cells. If a column is missing from the synthetic data, its score is
    0. The interval of a column is Newcombe's interval for the difference of two proportions. The
    interval of the mean is computed from simultaneous intervals. ``details["ceilings"]`` contains
    the mean score after the pooled rows are assigned to the two tables at random, and
    ``details["ceiling"]`` contains its mean. Use :class:`MissingPatternSimilarity` to compare which
    cells are missing together.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import MissingValueSimilarity
    >>> train, synthetic = pd.DataFrame({"x": [1, None, 3, 4]}), pd.DataFrame({"x": [1, 2]})
    >>> MissingValueSimilarity().fit(train).score(synthetic)
    0.75
    """

    tags = VALIDITY_TAGS

    def _compute(self, context: Context) -> Result:
        names = any_columns(context.schema, self.columns)
        n, m = (context.n_rows(role) for role in ROLES)
        missing = {name: [n_missing(context, role, name) for role in ROLES] for name in names}
        present = {name: both for name, both in missing.items() if not lacks(context, name)}
        scores = {name: 1.0 - abs(k / n - j / m) for name, (k, j) in present.items()}
        ceilings = {
            name: 1.0 - expected_total_variation(np.array([k, n - k]), np.array([j, m - j]))
            for name, (k, j) in missing.items()
        }
        level = 1.0 - 0.05 / len(names)
        bands = {name: _band(k, n, j, m, level) for name, (k, j) in present.items()}
        result = mean_of_columns(
            dict.fromkeys(names, 0.0) | scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            shares={name: {"train": k / n, "synthetic": j / m} for name, (k, j) in missing.items()},
            intervals={name: _band(k, n, j, m, 0.95) for name, (k, j) in present.items()},
            ceilings=ceilings,
            ceiling=mean_ignoring_nan(ceilings),
        )
        return within_bands(result, [bands.get(name, (0.0, 0.0)) for name in names])

    def _summary(self, result: Result) -> str:
        return (
            f"The fractions of missing cells in {result.details['n_used']} columns differ by "
            f"{percent(1.0 - result.value)} on average."
        )


def _band(k: int, n: int, j: int, m: int, confidence: float) -> tuple[float, float]:
    low, high = difference_interval(k, n, j, m, confidence)
    return 1.0 - high, 1.0 - low


@declared
class MissingPatternSimilarity(MissingMetric):
    """Similarity of the patterns of cells that are missing together.

    If a flight is cancelled, its departure, arrival and air time are all missing. A generator that
    deletes cells at random keeps the fraction of each column, but makes flights that departed and
    never flew. The pattern of a row is the set of its missing cells. The metric compares how
    frequent each pattern is. The score ranges from 0 (no common pattern) to 1 (equal frequencies).
    Higher is better.

    Warnings
    --------
    If few cells are missing, the score is close to 1 for any synthetic data, because complete rows
    are a pattern, too. Then use ``details["among_incomplete"]``.

    See Also
    --------
    MissingValueSimilarity : Compares the fraction of missing values of each column.

    Notes
    -----
    ``1 - sum_p |share_train(p) - share_synthetic(p)| / 2`` over the patterns p, that is, one minus
    the total variation distance. Complete rows are a pattern. If few cells are missing, the score
    is therefore always near 1, and ``details["among_incomplete"]`` contains the score of the rows
    with a missing cell. A cell counts as missing only if it is missing in the given table. In a
    column that is missing from the synthetic data, all cells are missing. Even new real data have a
    score below 1, and the difference grows with the number of patterns. ``details["ceiling"]`` is
    the mean score after the pooled rows are assigned to the two tables at random.

    ``details["largest_difference"]`` names the columns that are missing in the pattern
    whose share differs most.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import MissingPatternSimilarity
    >>> train = pd.DataFrame({"x": [1, None, 3, None], "y": [1, None, 3, None]})
    >>> synthetic = pd.DataFrame({"x": [1, None, 3, None], "y": [None, 2, None, 4]})
    >>> MissingPatternSimilarity().fit(train).score(synthetic)
    0.0
    """

    tags = replace(VALIDITY_TAGS, display="ValueDisplay")
    _halved = True  # intervals: skeval/core/intervals.py

    def _compute(self, context: Context) -> Result:
        names = any_columns(context.schema, self.columns)
        # columns without a missing cell in either table are the same in all patterns
        used = [name for name in names if any(n_missing(context, role, name) for role in ROLES)]
        words, p, q = pooled_patterns(*(_patterns(context, role, tuple(used)) for role in ROLES))
        incomplete = np.any([word != 0 for word in words], axis=0)
        value = 1.0 - total_variation(p, q)
        return Result(
            value,
            details={
                "ceiling": 1.0 - expected_total_variation(p, q),
                "incomplete_rows": {
                    "train": float(p[incomplete].sum() / p.sum()),
                    "synthetic": float(q[incomplete].sum() / q.sum()),
                },
                **_among_incomplete(used, words, p, q, incomplete),
                "n_used": len(used),
                "n_total": len(context.schema.kinds),
            },
        )

    def _summary(self, result: Result) -> str:
        agreement = (
            f"{percent(result.value)} of the rows agree in the cells that are missing together "
            f"({percent(result.details['ceiling'])} expected by chance)."
        )
        return agreement + _worst_sentence(**result.details["largest_difference"])


def _worst_sentence(columns: list[str], train: float, synthetic: float) -> str:
    if not columns:
        return ""
    return (
        f" The largest difference is for rows in which {', '.join(columns)} are missing: "
        f"{percent(train)} of the training rows and {percent(synthetic)} of the synthetic rows."
    )


@shared
def _patterns(context: Context, role: str, names: tuple[str, ...]) -> Groups:
    """Return which cells are missing together, packed, and in how many rows of a role."""
    there = [name for name in names if name in context.original_names(role)]
    counted = count_codes(context, role, there, partial(_packed_of, names=names), given=True)
    if counted is not None:
        return counted
    missing = (missing_cells(context, role, name) for name in names)
    return distinct_codes(pack_missing(missing, context.n_rows(role)))


def _packed_of(frame: pd.DataFrame, names: Sequence[str]) -> list[np.ndarray]:
    absent = np.ones(len(frame), dtype=bool)
    missing = (frame[n].isna().to_numpy(bool) if n in frame.columns else absent for n in names)
    return pack_missing(missing, len(frame))


def _among_incomplete(
    names: Sequence[str],
    words: Sequence[np.ndarray],
    p: np.ndarray,
    q: np.ndarray,
    incomplete: np.ndarray,
) -> dict[str, Any]:
    """Return the agreement of incomplete rows, and the columns of the worst pattern."""
    # the fraction of complete rows differs by the sum of all other differences
    train, synthetic = (np.where(incomplete, of / of.sum(), 0.0) for of in (p, q))
    at = int(np.argmax(np.abs(train - synthetic)))
    bits = [(int(words[j // _WORD][at]) >> j % _WORD) & 1 for j in range(len(names))]
    return {
        "among_incomplete": 1.0 - total_variation(p[incomplete], q[incomplete]),
        "n_patterns": {
            "train": int((p > 0).sum()),
            "synthetic": int((q > 0).sum()),
            "shared": int(((p > 0) & (q > 0)).sum()),
        },
        "largest_difference": {
            "columns": [name for name, bit in zip(names, bits, strict=True) if bit],
            "train": float(train[at]),
            "synthetic": float(synthetic[at]),
        },
    }


def pack_missing(missing: Iterable[np.ndarray], n_rows: int) -> list[np.ndarray]:
    """Return the missing cells of each row as bits of integers."""
    words = [np.zeros(n_rows, dtype=np.int64)]
    for j, is_missing in enumerate(missing):
        if j and j % _WORD == 0:
            words.append(np.zeros(n_rows, dtype=np.int64))
        words[-1] |= is_missing.astype(np.int64) << j % _WORD
    return words


def pooled_patterns(
    first: Groups, second: Groups
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return the distinct patterns of two tables, and how often each occurs in either."""
    words = [np.concatenate(of) for of in zip(first[0], second[0], strict=True)]
    (n, m), nothing = (first[1], second[1]), np.zeros_like
    distinct, p = distinct_codes(words, np.concatenate([n, nothing(m)]))
    _, q = distinct_codes(words, np.concatenate([nothing(n), m]))
    return distinct, p, q


def difference_interval(
    k: int, n: int, k_other: int, n_other: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the absolute difference of two independent proportions."""
    # It contains the true difference if Newcombe's interval contains the signed difference.
    low, high = newcombe(k, n, k_other, n_other, confidence)
    if low <= 0.0 <= high:
        return 0.0, max(-low, high)
    return min(abs(low), abs(high)), max(abs(low), abs(high))
