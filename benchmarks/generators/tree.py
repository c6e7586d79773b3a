"""A Chow-Liu tree of differentially private counts (epsilon 1 for the replacement of one row)."""

from __future__ import annotations

import numpy as np
import pandas as pd

BINS, EPSILON = 16, 1.0


def edges(public: pd.Series) -> np.ndarray:
    """Return the first values of equal parts of a public domain, without the training data."""
    levels = np.sort(public.dropna().unique())
    if public.dtype.kind in "iuf" and len(levels) > BINS:
        return np.linspace(levels[0], levels[-1], BINS + 1)[:-1]
    return levels[:: -(-len(levels) // BINS)]


def codes(column: pd.Series, starts: np.ndarray) -> np.ndarray:
    """Return the part of each value, with a separate part for missing values."""
    missing = column.isna().to_numpy()
    found = np.full(len(column), len(starts))
    values = column.to_numpy()[~missing]
    found[~missing] = np.clip(np.searchsorted(starts, values, side="right") - 1, 0, None)
    return found


def information(a: np.ndarray, b: np.ndarray) -> float:
    """Return the mutual information of two columns of codes, in nats."""
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1 / len(a))
    expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    held = joint > 0
    return float((joint[held] * np.log(joint[held] / expected[held])).sum())


def links(x: np.ndarray, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return parent and child of each link, sampled by the exponential mechanism (epsilon / 2)."""
    n, d = x.shape
    moved = 2 / n * np.log((n + 1) / 2) + (n - 1) / n * np.log((n + 1) / (n - 1))
    scale = EPSILON / 2 / max(d - 1, 1) / (2 * moved)
    gain = {(i, j): information(x[:, i], x[:, j]) for i in range(d) for j in range(i)}
    inside, tree = {int(rng.integers(d))}, []
    while len(inside) < d:
        open_links = [(i, j) for i in inside for j in range(d) if j not in inside]
        score = np.array([gain[max(p), min(p)] for p in open_links]) * scale
        weight = np.exp(score - score.max())
        tree.append(open_links[rng.choice(len(open_links), p=weight / weight.sum())])
        inside.add(tree[-1][1])
    return tree


def private_tree(train: pd.DataFrame, public: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return rows of a tree whose links and pairwise counts are private."""
    rng = np.random.default_rng(seed)
    starts = [edges(public[name]) for name in public]
    columns = zip(public, starts, strict=True)
    x = np.column_stack([codes(train[name], part) for name, part in columns])
    tree, n = links(x, rng), len(train)
    scale = 2 * len(tree) / (EPSILON / 2)  # replacing a row changes two counts of each link
    made = np.zeros_like(x)
    for step, (i, j) in enumerate(tree):
        counts = np.zeros((len(starts[i]) + 1, len(starts[j]) + 1))
        np.add.at(counts, (x[:, i], x[:, j]), 1)
        counts = np.clip(counts + rng.laplace(0, scale, counts.shape), 0.1, None)
        if step == 0:
            made[:, i] = rng.choice(len(counts), n, p=counts.sum(1) / counts.sum())
        rates = np.cumsum(counts / counts.sum(1, keepdims=True), axis=1)[made[:, i]]
        made[:, j] = np.minimum((rates < rng.random((n, 1))).sum(1), counts.shape[1] - 1)
    return pd.DataFrame(
        {name: spread(made[:, j], starts[j], public[name], rng) for j, name in enumerate(public)}
    )


def spread(code, starts, public, rng):
    """Return public values that are sampled uniformly from the part of each code."""
    levels = np.sort(public.dropna().unique())
    begin = np.append(np.searchsorted(levels, starts), len(levels))
    has = code < len(starts)
    low, high = begin[code[has]], begin[code[has] + 1]
    values = np.full(len(code), np.nan, dtype=object)
    values[has] = levels[np.clip(rng.integers(low, np.maximum(high, low + 1)), 0, len(levels) - 1)]
    return pd.Series(values).astype(float) if public.dtype.kind in "iuf" else pd.Series(values)
