"""Correct attribution of a secret from the synthetic rows with the key of a record.

Keys and secrets are whole numbers. The same number means the same key or secret in all tables.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from skeval.stats.joint_classes import joint_classes, pair_counts

_BLOCK = 2**20  # maximum number of pairs of keys in memory, one byte each
_ROUNDING = 1e-9  # tolerance for a fraction that equals tau except for rounding errors
Rows = tuple[np.ndarray, np.ndarray]


def cap(targets: Rows, synthetic: Rows) -> np.ndarray:
    """Return for each target the fraction of synthetic rows of its key that have its secret."""
    n_key, n_pair = _counts(targets, synthetic)
    return np.divide(n_pair, n_key, out=np.full(n_key.size, np.nan), where=n_key > 0)


def _counts(targets: Rows, synthetic: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return how many synthetic rows have the key of each target, and how many also its secret."""
    n = targets[0].size
    keys = np.concatenate([targets[0], synthetic[0]])
    secrets = np.concatenate([targets[1], synthetic[1]])
    joint = joint_classes(np.column_stack([keys, secrets]))
    keys = joint_classes(keys[:, None])
    n_key, n_pair = (
        np.bincount(numbers[n:], minlength=int(numbers.max()) + 1)[numbers[:n]]
        for numbers in (keys, joint)
    )
    return n_key, n_pair


def weap(keys: np.ndarray, secrets: np.ndarray) -> np.ndarray:
    """Return for each row the fraction of the rows of its key that have its secret."""
    # This is the attribution probability within equivalence classes. It is 1 if the key determines
    # the secret.
    return cap((keys, secrets), (keys, secrets))


def attribution_scores(targets: Rows, synthetic: Rows, tau: float = 1.0) -> np.ndarray:
    """Return for each target whether the secret most frequent under its key is its own."""
    own, pairs = cap(targets, synthetic), pair_counts(*synthetic)
    shares = pairs.counts / pairs.sizes[pairs.classes]
    greatest = np.maximum.reduceat(shares, pairs.starts)
    is_mode = shares >= greatest[pairs.classes] - _ROUNDING
    n_modes = np.bincount(pairs.classes, weights=is_mode)
    place = np.searchsorted(np.unique(synthetic[0]), targets[0])
    place = np.where(np.isnan(own), 0, place)
    right = np.where(own >= greatest[place] - _ROUNDING, 1.0 / n_modes[place], 0.0)
    is_attributed = ~np.isnan(own) & (greatest[place] >= tau - _ROUNDING)
    return np.where(is_attributed, right, np.nan)


def disclosure_scores(targets: Rows, synthetic: Rows) -> np.ndarray:
    """Return 1 for each target whose key has only its secret in the synthetic table, or 0."""
    # The mean is the DiSCO of synthpop (disclosive in the synthetic data and correct in the
    # original data).
    n_key, n_pair = _counts(targets, synthetic)
    return ((n_key > 0) & (n_pair == n_key)).astype(np.float64)


def cap_of_synthetic(real: Rows, synthetic: Rows, tau: float = 1.0) -> float:
    """Get the mean CAP of the synthetic rows whose key determines their secret."""
    # This is the published form of TCAP. It compares each synthetic row that has a WEAP of at least
    # `tau` with the real rows of its key. The result is nan if no such row has the key of a real
    # row.
    shares = cap(synthetic, real)[weap(*synthetic) >= tau - _ROUNDING]
    shares = shares[~np.isnan(shares)]
    return float(shares.mean()) if shares.size else float("nan")


def generalized_cap(
    codes: np.ndarray,
    secrets: np.ndarray,
    synthetic_codes: np.ndarray,
    synthetic_secrets: np.ndarray,
) -> np.ndarray:
    """Get for each target the fraction of nearest synthetic rows by key that have its secret."""
    # The result is exact. Only distinct keys that no synthetic row has are compared with the
    # distinct synthetic keys, column by column, in blocks of pairs.
    n = len(codes)
    keys = joint_classes(np.concatenate([codes, synthetic_codes]))
    shares = cap((keys[:n], secrets), (keys[n:], synthetic_secrets))
    lost = np.flatnonzero(np.isnan(shares))
    if lost.size:
        first, key = np.unique(keys[lost], return_index=True, return_inverse=True)[1:]
        answers, secret_of = _answers(keys[n:], synthetic_secrets, secrets[lost])
        queries = codes[lost[first]]
        _, own = np.unique(keys[n:], return_index=True)
        shares[lost] = _nearest_share(
            queries, synthetic_codes[own], answers, key.reshape(-1), secret_of
        )
    return shares


def _answers(
    keys: np.ndarray, secrets: np.ndarray, asked: np.ndarray
) -> tuple[csr_array, np.ndarray]:
    """Return counts of secrets by distinct key, and the column of each requested secret.

    The last column contains all other secrets.
    """
    known, column = np.unique(asked, return_inverse=True)
    place = np.minimum(np.searchsorted(known, secrets), known.size - 1)
    place = np.where(known[place] == secrets, place, known.size)
    rows = joint_classes(keys[:, None])
    shape = (int(rows.max()) + 1, known.size + 1)
    return csr_array((np.ones(keys.size), (rows, place)), shape=shape), column.reshape(-1)


def _nearest_share(
    queries: np.ndarray,
    references: np.ndarray,
    answers: csr_array,
    key: np.ndarray,
    secret: np.ndarray,
) -> np.ndarray:
    """Return the fraction of each secret among the answers of the references nearest its key.

    `key` is the position of the key of a target among the distinct queries.
    """
    shares = np.empty(key.size)
    order = np.argsort(key, kind="stable")
    width = max(1, _BLOCK // len(references))
    columns = [_narrow(queries[:, j], references[:, j]) for j in range(queries.shape[1])]
    totals = np.asarray(answers.sum(axis=1)).reshape(-1)
    for start in range(0, len(queries), width):
        block = slice(start, min(start + width, len(queries)))
        tied = _sparse(_is_nearest(columns, block))
        low, high = np.searchsorted(key[order], [block.start, block.stop])
        members = order[low:high]
        at = key[members] - start
        right = np.asarray((tied @ answers)[at, secret[members]]).reshape(-1)
        shares[members] = right / (tied @ totals)[at]
    return shares


def _narrow(queries: np.ndarray, references: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of one column in the smallest type, because reading takes most time."""
    known, codes = np.unique(references, return_inverse=True)
    place = np.minimum(np.searchsorted(known, queries), known.size - 1)
    kind = np.min_scalar_type(known.size)
    asked = np.where(known[place] == queries, place, known.size)  # no row has the last code
    return asked.astype(kind), codes.reshape(-1).astype(kind)


def _is_nearest(columns: list[tuple[np.ndarray, np.ndarray]], block: slice) -> np.ndarray:
    """Return which references are at the minimum Hamming distance from each query of a block."""
    shape = (block.stop - block.start, columns[0][1].size)
    differs, apart = (
        np.empty(shape, dtype=np.bool_),
        np.zeros(shape, np.min_scalar_type(len(columns))),
    )
    for asked, codes in columns:
        np.not_equal(asked[block, None], codes, out=differs)
        np.add(apart, differs.view(np.uint8), out=apart)
    return np.equal(apart, apart.min(axis=1, keepdims=True), out=differs)


def _sparse(mask: np.ndarray) -> csr_array:
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])  # three times as fast as nonzero
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(mask)))])
    return csr_array((np.ones(columns.size), columns, starts), shape=mask.shape)


def guess_protection(secrets: np.ndarray, guess: str = "uniform") -> float:
    """Return the fraction of secrets that a guess without a key misses."""
    if guess == "uniform":
        return 1.0 - 1.0 / float(np.prod([float(np.unique(column).size) for column in secrets.T]))
    shares = np.bincount(joint_classes(secrets)) / len(secrets)
    return float(1.0 - (shares.max() if guess == "mode" else (shares**2).sum()))


def inference_distance(
    predicted: np.ndarray, true: np.ndarray, reference: np.ndarray, p: float = 2.0
) -> float:
    """Return the mean distance in rank of predicted secrets from true secrets."""
    # It is `mean_i sum_j |F_j(predicted_ij) - F_j(true_ij)|^p`, which is SDMetrics' numeric privacy
    # against inference. F_j is the empirical distribution of the training data instead of a
    # parametric distribution. Higher values mean more privacy.
    columns = (np.reshape(table, (len(table), -1)).T for table in (predicted, true, reference))
    total = 0.0
    for guessed, actual, known in zip(*columns, strict=True):
        ordered = np.sort(known[~np.isnan(known)])
        ranks = [
            np.searchsorted(ordered, x, side="right") / ordered.size for x in (guessed, actual)
        ]
        total += float((np.abs(ranks[0] - ranks[1]) ** p).mean())
    return total
