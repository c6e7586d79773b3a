"""A table without any association: train with every column shuffled on its own."""

from __future__ import annotations

import zlib

import numpy as np

from skeval.context import Context, shared

__all__ = ["permuted_in_place"]


@shared
def permuted_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which rows without association stand in the synthetic place.

    Each column holds the values of train in an order of its own: the marginals are those of train
    (exactly so where `n_rows` is a multiple of its rows), and no column tells of another.
    """
    train = context.train
    columns = {}
    for name in train.columns:
        # by name, not by position: the order of columns means nothing
        rng = np.random.default_rng([seed, zlib.crc32(str(name).encode())])
        n_times = -(-n_rows // len(train))
        order = np.concatenate([rng.permutation(len(train)) for _ in range(n_times)])[:n_rows]
        columns[name] = train[name].take(order).array
    return context.standing_in(type(train)(columns))
