"""Are as many cells missing as in train, and together in the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.diagnostic.columns import any_columns, lacks, missing_cells, within_bands
from skeval.formatting import percent
from skeval.parameters import AnyColumns
from skeval.result import Result, mean_of_columns
from skeval.stats.distributions import expected_total_variation, total_variation, tv_interval
from skeval.stats.intervals import newcombe
from skeval.steps.samples import ROLES, mean_of_defined, summed
from skeval.tables.large import counted_by_workers
from skeval.tags import DIAGNOSTIC_TAGS

_WORD = 62  # columns in one whole number


class MissingValueSimilarity(Metric):
    """Agreement of the shares of missing cells: 1 if they are equal, 0 if all against none.

    Where incomes are missing in a third of the real rows and in none of the synthetic ones, an
    analyst learns to clean data that nobody has. The shares are compared column by column; the
    value is the mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; those of text and ids too.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    MissingPatternSimilarity : Which cells are missing together.

    Notes
    -----
    ``1 - |share_train - share_synthetic|``. Missing is what is missing in the tables as given: a
    cell that cannot be read as its column's kind is there, and is for the adherence metrics. A
    column that synthetic lacks scores 0. The interval of a column is Newcombe's for the difference
    of two shares; that of the mean is made of simultaneous ones. ``details["ceilings"]`` has what
    a relabelling of the pooled rows would score on average, ``details["ceiling"]`` its mean.
    Which cells are missing together is left to :class:`MissingPatternSimilarity`.

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

    tags = DIAGNOSTIC_TAGS
    needs_no_rows = True

    def __init__(self, columns: AnyColumns = None) -> None:
        self.columns = columns

    def _prepare(self, context: Context) -> None:
        any_columns(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        names = any_columns(context.schema, self.columns)
        n, m = (context.n_rows(role) for role in ROLES)
        missing = {name: [_n_missing(context, role, name) for role in ROLES] for name in names}
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
            shares={name: {"train": k / n, "synthetic": j / m} for name, (k, j) in missing.items()},
            intervals={name: _band(k, n, j, m, 0.95) for name, (k, j) in present.items()},
            ceilings=ceilings,
            ceiling=mean_of_defined(ceilings),
        )
        return within_bands(result, [bands.get(name, (0.0, 0.0)) for name in names])

    def _summary(self, result: Result) -> str:
        return (
            f"The shares of missing cells of {result.details['n_used']} columns differ by "
            f"{percent(1.0 - result.value)} on average."
        )


@shared
def _n_missing(context: Context, role: str, column: str) -> int:
    """Return the number of missing cells of a column, as given."""
    given = context.given(role)
    if counted_by_workers(given) and column in given.columns:
        return _missing_counts(context, role)[column]
    return int(missing_cells(context, role, column).sum())


@shared
def _missing_counts(context: Context, role: str) -> dict[str, int]:
    """Return the numbers of missing cells of all columns, in one pass over a large table."""
    given: Any = context.given(role)
    names = [name for name in context.schema.kinds if name in given.columns]
    (counts,) = given.added_up(names, _missing_of, summed)
    return dict(zip(names, counts.tolist(), strict=True))


def _missing_of(frame: pd.DataFrame) -> list[np.ndarray]:
    return [frame.isna().to_numpy().sum(axis=0)]


def _band(k: int, n: int, j: int, m: int, confidence: float) -> tuple[float, float]:
    low, high = difference_interval(k, n, j, m, confidence)
    return 1.0 - high, 1.0 - low


class MissingPatternSimilarity(Metric):
    """Agreement of which cells are missing together: 1 if patterns are as frequent, 0 if disjoint.

    In a cancelled flight departure, arrival and air time are missing at once; a generator that
    drops cells at random keeps each column's share and makes flights that left and never flew.
    Each row has a pattern, the set of its missing cells; compared is how frequent each is.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to look at: all, the first *n*, or these; those of text and ids too.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    MissingValueSimilarity : Column by column.

    Notes
    -----
    ``1 - sum_p |share_train(p) - share_synthetic(p)| / 2`` over the patterns p, the complement of
    their total variation. Complete rows are a pattern: where few cells are missing, the value is
    near 1 whatever the others do, and ``details["among_incomplete"]`` has it for the rows with a
    missing cell. Missing is what is missing in the tables as given; in a column that synthetic
    lacks, all cells are. Chance alone keeps a perfect table below 1, the more so the more patterns
    there are: ``details["ceiling"]`` is what a relabelling of the pooled rows would score in the
    mean. The interval rests on bounded differences and is conservative.

    ``details["largest_difference"]`` names the columns that are missing in the pattern
    whose share differs most.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import MissingPatternSimilarity
    >>> train = pd.DataFrame({"x": [1, None, 3, None], "y": [1, None, 3, None]})
    >>> synthetic = pd.DataFrame({"x": [1, None, 3, None], "y": [None, 2, None, 4]})
    >>> MissingPatternSimilarity().fit(train).score(synthetic)
    0.0
    """

    tags = replace(DIAGNOSTIC_TAGS, display="ValueDisplay")

    def __init__(self, columns: AnyColumns = None) -> None:
        self.columns = columns

    def _prepare(self, context: Context) -> None:
        any_columns(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        names = any_columns(context.schema, self.columns)
        # columns without a missing cell on either side are the same in all patterns
        used = [name for name in names if any(_n_missing(context, role, name) for role in ROLES)]
        n, m = (context.n_rows(role) for role in ROLES)
        incomplete = np.zeros(n + m, dtype=bool)
        codes = pattern_codes(_cells(context, used, incomplete), n + m)
        p, q = pattern_counts(codes, n)
        value = 1.0 - total_variation(p, q)
        return Result(
            value,
            interval=tv_interval(value, [(p, q)]),
            details={
                "ceiling": 1.0 - expected_total_variation(p, q),
                "incomplete_rows": {
                    "train": float(incomplete[:n].mean()),
                    "synthetic": float(incomplete[n:].mean()),
                },
                **_among_incomplete(context, used, codes, incomplete),
                "n_used": len(used),
                "n_total": len(context.schema.kinds),
            },
        )

    def _summary(self, result: Result) -> str:
        agreement = (
            f"{percent(result.value)} of the rows agree in which cells are missing together; "
            f"chance alone would give {percent(result.details['ceiling'])}."
        )
        return agreement + _worst_sentence(**result.details["largest_difference"])


def _worst_sentence(columns: list[str], train: float, synthetic: float) -> str:
    if not columns:
        return ""
    return (
        f" The largest difference: rows that lack {', '.join(columns)}, {percent(train)} of train "
        f"and {percent(synthetic)} of synthetic."
    )


def _cells(context: Context, names: list[str], incomplete: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the missing cells of each column, train's rows first; note rows that have any."""
    for name in names:
        pooled = np.concatenate([missing_cells(context, role, name) for role in ROLES])
        incomplete |= pooled
        yield pooled


def _among_incomplete(
    context: Context, names: list[str], codes: np.ndarray, incomplete: np.ndarray
) -> dict[str, Any]:
    """Return the agreement of incomplete rows, and the columns missing where it is worst."""
    n = context.n_rows("train")
    p, q = pattern_counts(codes, n)
    partly = np.isin(np.arange(p.size), codes[incomplete])
    # complete rows differ by what all others do together
    train, synthetic = (np.where(partly, of / of.sum(), 0.0) for of in (p, q))
    at = int(np.argmax(np.abs(train - synthetic)))
    row = int(np.argmax(codes == at))
    role, row = ("train", row) if row < n else ("synthetic", row - n)
    missing = [name for name in names if missing_cells(context, role, name)[row]]
    return {
        "among_incomplete": 1.0 - total_variation(p[partly], q[partly]),
        "n_patterns": {
            "train": int((p > 0).sum()),
            "synthetic": int((q > 0).sum()),
            "shared": int(((p > 0) & (q > 0)).sum()),
        },
        "largest_difference": {
            "columns": missing,
            "train": float(train[at]),
            "synthetic": float(synthetic[at]),
        },
    }


def pattern_codes(missing: Iterable[np.ndarray], n_rows: int) -> np.ndarray:
    """Return a code for each row, the same for rows in which the same cells are missing.

    Parameters
    ----------
    missing : iterable of ndarray of shape (n_rows,), bool
        Whether each row's cell is missing, column by column; they are read one by one.
    n_rows : int
        Number of rows, for tables without a column.

    Returns
    -------
    ndarray of shape (n_rows,), int64
        0, 1, 2, ... in the order of first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.diagnostic.missing import pattern_codes
    >>> pattern_codes([np.array([True, False, True]), np.array([True, True, True])], 3)
    array([0, 1, 0])
    """
    codes, word, n_bits = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64), 0
    for is_missing in missing:
        if n_bits == _WORD:
            codes, word, n_bits = _joined(codes, word), np.zeros(n_rows, dtype=np.int64), 0
        word |= is_missing.astype(np.int64) << n_bits
        n_bits += 1
    return _joined(codes, word)


def _joined(codes: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return a code for each pair of values; neither has more than there are rows."""
    word_codes = np.asarray(pd.factorize(word)[0], dtype=np.int64)
    pairs = codes * (int(word_codes.max(initial=0)) + 1) + word_codes
    return np.asarray(pd.factorize(pairs)[0], dtype=np.int64)


def pattern_counts(codes: np.ndarray, n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each pattern occurs in the first table and in the second.

    Parameters
    ----------
    codes : ndarray of shape (n_first + n_second,)
        As :func:`pattern_codes` gives them for the rows of both tables, one below the other.
    n_first : int
        Number of rows of the first table.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.diagnostic.missing import pattern_counts
    >>> pattern_counts(np.array([0, 0, 1, 0]), 2)
    (array([2, 0]), array([1, 1]))
    """
    first, second = np.split(codes, [n_first])
    n_patterns = int(codes.max(initial=-1)) + 1
    return np.bincount(first, minlength=n_patterns), np.bincount(second, minlength=n_patterns)


def difference_interval(
    k: int, n: int, k_other: int, n_other: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the absolute difference of two independent shares.

    It holds the true difference whenever Newcombe's interval of the signed one does.

    Examples
    --------
    >>> from skeval.diagnostic.missing import difference_interval
    >>> [round(bound, 4) for bound in difference_interval(48, 80, 56, 70)]
    [0.0524, 0.3339]
    """
    low, high = newcombe(k, n, k_other, n_other, confidence)
    if low <= 0.0 <= high:
        return 0.0, max(-low, high)
    return min(abs(low), abs(high)), max(abs(low), abs(high))
