"""Which table nearest rows are of: adversarial accuracies, and random choices of who was train.

The two numbers that a test of train against holdout compared, for sentences to quote.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.core.context import Context, content_hash, shared
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats import permutation_tests
from skeval.stats.adversarial_accuracy import Adversarial, Nearest, adversarial
from skeval.stats.permutation_tests import (
    BLOCK,
    Relabelled,
    block_sizes,
    labels_test,
    least_p_value,
    shuffled,
)
from skeval.steps.neighbors import MAX_LENGTH, index_of, nearest, pool_index, rows_of
from skeval.steps.samples import ColumnChoice, pooled_order
from skeval.utils.formatting import as_float, number

TOO_FEW_ROWS = "each table needs two rows to have neighbours."
_MAX_QUERIES = 2000  # a sample serves: how sure a contrast is depends on the real rows


@dataclass(frozen=True)
class RelabelledNearest:
    """Nearest rows of either label, under several choices of which real rows are train."""

    distances: np.ndarray
    rows: np.ndarray
    labels: np.ndarray


def actual_labels(context: Context) -> np.ndarray:
    """Return which of the pooled real rows are train: the first ones."""
    n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
    return np.arange(n_train + n_holdout) < n_train


def relabellings(context: Context, n_permutations: int, seed: int) -> Iterator[np.ndarray]:
    """Yield random choices of which pooled real rows are train, in blocks of shape (n_pool, n).

    All tests of one suite exchange the same labels, for any number of tests.
    """
    for block, n in enumerate(block_sizes(n_permutations)):
        packed = _packed_labels(context, block, seed)
        yield np.unpackbits(packed, axis=1, count=n).view(np.bool_)


def relabellings_within(
    context: Context, strata: np.ndarray, n_permutations: int, seed: int
) -> Iterator[np.ndarray]:
    """Yield random choices as `relabellings` does, which leave the number of train in each stratum.

    Strata are numbers, one for each pooled real row.
    """
    if (strata == strata[0]).all():
        yield from relabellings(context, n_permutations, seed)
        return
    rng = np.random.default_rng([seed, zlib.crc32(b"strata")])
    order, actual = pooled_order(context), actual_labels(context)
    groups = [order[strata[order] == stratum] for stratum in np.unique(strata)]
    for n in block_sizes(n_permutations):
        labels = np.empty((actual.size, n), dtype=np.bool_)
        for rows in groups:
            labels[rows] = shuffled(actual[rows], n, rng)
        yield labels


@shared
def _packed_labels(context: Context, block: int, seed: int) -> np.ndarray:
    """Return a block of random labels, eight of a row in a byte, since they are remembered."""
    rng = np.random.default_rng([seed, block])
    labels = np.empty((actual_labels(context).size, BLOCK), dtype=np.bool_)
    # a row has the same labels at any place in its table
    labels[pooled_order(context)] = shuffled(actual_labels(context), BLOCK, rng)
    return np.packbits(labels, axis=1)


def label_test(
    context: Context, statistic: Callable[[np.ndarray], np.ndarray], n_permutations: int, seed: int
) -> Relabelled:
    """Hold a statistic of the labels of the pooled real rows against random choices of them."""
    drawn = relabellings(context, n_permutations, seed)
    return labels_test(statistic, actual_labels(context), drawn)


def packed_test(
    context: Context,
    sides: Callable[[np.ndarray], np.ndarray],
    n_permutations: int,
    seed: int,
    *,
    high_leaks: bool = True,
) -> Relabelled:
    """Test numbers of the training and the holdout data that are computed from packed labels.

    `sides` returns both for each bit, shape (2, n), including the bits that fill the last byte.
    """

    def blocks() -> Iterator[np.ndarray]:
        yield sides(np.packbits(actual_labels(context)[:, None], axis=1)).T
        for block, n in enumerate(block_sizes(n_permutations)):
            yield sides(_packed_labels(context, block, seed)).T[:n]

    return permutation_tests.sides_test(blocks(), high_leaks=high_leaks)


def relabelled_nearest(
    context: Context, space: Any, columns: ColumnChoice, n_permutations: int, seed: int
) -> Iterator[RelabelledNearest]:
    """Yield the nearest rows of either label among the 16 nearest real rows of synthetic rows."""
    # First under the actual labels, then under blocks of random ones. A table of more than
    # 2,000 synthetic rows is sampled.
    settings = (context, space, columns, seed)
    yield _of_places(settings, actual_labels(context)[:, None], _places(*settings, None))
    for block, labels in enumerate(relabellings(context, n_permutations, seed)):
        yield _of_places(settings, labels, _places(*settings, block))


@shared
def nearest_real(
    context: Context, space: Any, columns: ColumnChoice, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and positions of the 16 nearest real rows of a sample of synthetic rows."""
    queries = rows_of(context, "synthetic", space, columns, _MAX_QUERIES, seed)
    pool = pool_index(context, space, columns)
    return pool.kneighbors(queries, min(MAX_LENGTH, len(pool.rows)))


@shared
def _places(
    context: Context, space: Any, columns: ColumnChoice, seed: int, block: int | None
) -> np.ndarray:
    """Return where in each list the first and second row of either label are."""
    # Shape (2, 2, n_queries, n_labelings): label, first or second. Places are remembered, and
    # not the distances there, which take eight times the memory.
    _, rows = nearest_real(context, space, columns, seed)
    labels = actual_labels(context)[:, None]
    if block is not None:
        labels = np.unpackbits(_packed_labels(context, block, seed), axis=1).view(np.bool_)
    of_train = listed_bits(rows, labels)
    whole = np.uint16((1 << rows.shape[1]) - 1)
    first_two = first_and_second()
    return np.stack([first_two[:, of_train], first_two[:, of_train ^ whole]])


def _of_places(settings: Any, labels: np.ndarray, places: np.ndarray) -> RelabelledNearest:
    distances, rows = nearest_real(*settings)
    at = np.minimum(places[..., : labels.shape[1]], rows.shape[1]).transpose(3, 0, 2, 1)
    lists = np.arange(len(rows))
    ended = np.pad(distances, ((0, 0), (0, 1)), constant_values=np.inf)
    first = np.pad(rows, ((0, 0), (0, 1)), constant_values=-1)
    return RelabelledNearest(ended[lists[:, None], at], first[lists, at[..., 0]], labels)


def listed_bits(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which rows of each list are labelled True, a bit for each place in the list."""
    bits = np.zeros((len(rows), labels.shape[1]), dtype=np.uint16)
    for place, row in enumerate(rows.T):
        exists = np.where(row >= 0, np.uint16(1 << place), np.uint16(0))
        bits |= labels[row] * exists[:, None]
    return bits


@functools.cache
def first_and_second() -> np.ndarray:
    """Return the places of the first and the second bit that is set, by number; 16 for none.

    Shape (2, 65536).
    """
    numbers = np.arange(2**MAX_LENGTH, dtype=np.uint16)
    places = np.full((2, numbers.size), MAX_LENGTH, dtype=np.uint8)
    for nth in (0, 1):
        left = numbers if nth == 0 else numbers & (numbers - (numbers > 0))  # without its first
        for place in reversed(range(MAX_LENGTH)):
            places[nth][left >> place & 1 == 1] = place
    return places


def resampled_accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    settings: tuple[Any, Any, str],
    n_resample: int,
    seed: int,
) -> list[list[Adversarial]]:
    """Get the accuracies of each role with `other`: of the tables if of equal size, or samples."""
    # The samples are as large as the smallest of the tables; `settings` are the space, the
    # key of the columns and the rule for ties.
    sizes = {context.n_rows(role) for role in (*roles, other)}
    if len(sizes) == 1:
        return [accuracies(context, roles, other, None, 0, *settings)]
    seeds = range(seed, seed + n_resample)
    return [accuracies(context, roles, other, min(sizes), seed, *settings) for seed in seeds]


@shared
def accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    n_rows: int | None,
    seed: int,
    space: Any,
    columns: Any,
    ties: str,
) -> list[Adversarial]:
    """Return the adversarial accuracy of each role with `other`, on samples of `n_rows`."""
    search = _whole_tables(context, space, columns)
    if n_rows is not None:
        search = _samples(context, (*roles, other), n_rows, seed, space, columns)
    return [
        adversarial(
            search(role, other), search(other, role), search(role, role), search(other, other), ties
        )
        for role in roles
    ]


def _whole_tables(context: Context, space: Any, columns: Any) -> Any:
    def search(query: str, reference: str) -> Nearest:
        distances, rows = nearest(context, query, reference, space=space, columns=columns)
        return distances[:, 0], rows[:, 0]

    return search


def _samples(
    context: Context, roles: tuple[str, ...], n_rows: int, seed: int, space: Any, columns: Any
) -> Any:
    """Return a search in seeded samples, each of which is used once and not remembered."""
    drawn = {role: rows_of(context, role, space, columns, n_rows, seed) for role in roles}
    indices = {role: index_of(context, rows, space, columns) for role, rows in drawn.items()}
    within = {role: index.itself(1) for role, index in indices.items()}

    def search(query: str, reference: str) -> Nearest:
        if query == reference:
            distances, rows = within[query]
        else:
            distances, rows = indices[reference].kneighbors(drawn[query], 1)
        return distances[:, 0], rows[:, 0]

    return search


@shared
def rivals(context: Context, space: Any, columns: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the real rows nearer to each real row than its nearest synthetic row, or as near."""
    # Distances and positions of the nearest few, -1 for none, and the distances to the
    # nearest synthetic rows; rows of train come first.
    settings = {"space": space, "columns": columns}
    searches = [nearest(context, role, "synthetic", **settings) for role in ("train", "holdout")]
    to_synthetic = np.concatenate([distances[:, 0] for distances, _ in searches])
    pool = pool_index(context, space, columns)
    distances, rows = pool.others(np.arange(len(pool.rows)), MAX_LENGTH, to_synthetic)
    return distances, rows, to_synthetic


# metrics that count the same matches made one test: they must say the same of it
MATCHES = "synthetic rows that match a train row"


def contrast_of(
    context: Context,
    what: str,
    on_train: float,
    test: Relabelled,
    *,
    reference: str,
    high_leaks: bool = True,
    share: bool = True,
    name: str = "",
    n_permutations: int | None = None,
    sizes: tuple[int, int] | None = None,
    unseen: float | None = None,
) -> Contrast | None:
    """Return what a test over relabellings compared."""
    sizes = sizes or (context.n_rows("train"), context.n_rows("holdout"))
    equal = sizes[0] == sizes[1]
    # of equal sizes the number of the holdout is what the test compares
    of_holdout = max(0.0, on_train - test.observed if high_leaks else on_train + test.observed)
    expected = of_holdout if equal else test.on_train
    if not math.isfinite(on_train) or not math.isfinite(expected):
        return None
    if share:
        on_train, expected = round(on_train, 12), round(min(1.0, expected), 12)
    said = reference if equal else "by chance"
    return Contrast(
        what,
        on_train,
        expected,
        said,
        high_leaks=high_leaks,
        share=share,
        tests=(name,) if name else (),
        least_p=least_p_value(*sizes, n_permutations),
        least_here=test.least,
        unseen=None if equal else unseen,
    )


def share_contrast(what: str, k: int, n: int, k_other: int, n_other: int) -> tuple[float, Contrast]:
    """Test the share of train rows that are hit against that of holdout rows; return the two."""
    # Too.
    #
    # Whether a row is hit must not depend on which real rows are train.
    shares, least = (k / n, k_other / n_other), least_p_value(n, n_other)
    contrast = Contrast(what, *shares, "of holdout rows", least_p=least)
    return permutation_tests.share_p_value(k, n, k_other, n_other), contrast


def name_of_test(what: str, *settings: Any) -> str:
    """Name a test by what it looks at: of the same tables, equal names are equal tests."""
    return f"{what} {content_hash(settings)}"


def set_against(lead: str, result: Result) -> str:
    """Return a sentence that ends with the contrast that was tested; as it is where none was."""
    if result.contrast is None:
        return f"{lead}."
    return f"{lead}; {result.contrast.against}."


def with_contrast(lead: str, result: Result) -> str:
    """Return a sentence that ends with the whole contrast that was tested, if one was."""
    return f"{lead}." if result.contrast is None else f"{lead}; {result.contrast}."


def with_claim(sentence: str, result: Result) -> str:
    """Get a sentence, and whether the matches contradict the epsilon that is claimed, if one is."""
    details = result.details
    if "claimed_epsilon" not in details:
        return sentence
    claim, bounds = f"{details['claimed_epsilon']:g}", details["epsilon"]
    claim += f" at delta = {bounds['delta']:g}" if bounds["delta"] else ""
    least = number(as_float(bounds["add_remove"]))
    if details["verdict"] == "violation":
        return f"{sentence} A claim of epsilon = {claim} is contradicted: it is at least {least}."
    return (
        f"{sentence} A claim of epsilon = {claim} is not contradicted, which does not confirm it: "
        f"the matches show at least {least}."
    )
