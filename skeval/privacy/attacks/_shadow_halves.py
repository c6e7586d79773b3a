"""Generators that learnt from random halves of the real rows, and what each says of every row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.privacy.attacks._membership_scores import member_scores
from skeval.privacy.attacks._shadow_features import Reader, given_rows
from skeval.privacy.attacks._shadow_game import ALL, Fit
from skeval.privacy.attacks._shadow_runs import Execution, play
from skeval.privacy.attacks.membership_rows import drawing_order
from skeval.privacy.targets import target_positions
from skeval.stats.shadow_features import Domain, agreement_scores

__all__ = ["SCORES", "Halved", "halved", "pooled_targets", "record_scores"]


@dataclass(frozen=True)
class Halved:
    """Scores of the real rows, train first, by generators that learnt from half of them.

    Attributes
    ----------
    scores : ndarray of shape (n_models, n_rows)
        The higher, the more likely learnt from.
    inside : ndarray of shape (n_models, n_rows), bool
        Whether it was.
    """

    scores: np.ndarray
    inside: np.ndarray


@shared
def halved(
    context: Context,
    generator: Any,
    n_models: int,
    score: str,
    n_synthetic: int,
    seed: int,
    execution: Execution,
) -> Halved:
    """Fit a generator to random halves of train and holdout, and score all rows by each.

    Halves come in pairs that have no row in common, so that each row is in as many as it is not.
    """
    orders = drawing_order(context, "train", seed), drawing_order(context, "holdout", seed)
    rows = np.concatenate([orders[0], context.n_rows("train") + orders[1]])
    rng = np.random.default_rng(seed)
    fits: list[Fit] = []
    inside = np.zeros((n_models, rows.size), dtype=np.bool_)
    for model in range(n_models):
        if model % 2 == 0:
            halves = np.split(rng.permutation(rows), [rows.size // 2])
        learnt = halves[model % 2]
        inside[model, learnt] = True
        fits.append(Fit("test", True, ALL, 0, learnt, int(rng.integers(2**31))))
    tables = play(
        generator,
        given_rows(context),
        fits,
        _table,
        n_synthetic=n_synthetic,
        execution=execution,
    )
    scores = [record_scores(context.with_synthetic(one), score) for (one,) in tables]
    return Halved(np.stack(scores), inside)


def _table(table: pd.DataFrame, target: int) -> pd.DataFrame:
    return table


# ------------------------------------------------------------------------------- scores of rows


def record_scores(context: Context, score: str) -> np.ndarray:
    """Return the scores of all rows of train, then of the holdout, by the synthetic table.

    Raises
    ------
    TableError
        If there are too few synthetic rows.
    """
    return SCORES[score](context)


def _by_attack(context: Context, attack: str) -> np.ndarray:
    found = member_scores(context, attack)
    return np.concatenate([found.members, found.others])


def _by_queries(context: Context) -> np.ndarray:
    reader = Reader(context.schema, context.levels)
    real, domain = _pool(context)
    return agreement_scores(real, reader.rows(context.synthetic), domain)


@shared
def _pool(context: Context) -> tuple[np.ndarray, Domain]:
    reader = Reader(context.schema, context.levels)
    rows = np.concatenate([reader.rows(context[role]) for role in ("train", "holdout")])
    return rows, Domain.of(rows, reader.nominal)


SCORES: dict[str, Callable[[Context], np.ndarray]] = {
    "neg_distance": lambda context: _by_attack(context, "distance"),
    "query": _by_queries,
    "log_density": lambda context: _by_attack(context, "eq1"),
}


@shared
def pooled_targets(context: Context, method: str, n_targets: int, seed: int) -> np.ndarray:
    """Return the most exposed rows of train and holdout together, whichever table they are of.

    Returns
    -------
    ndarray of int
        Positions in both tables, train first, ascending.
    """
    rows = pd.concat([context.train, context.holdout], ignore_index=True)
    pool = Context(context.schema, {"train": rows}, levels=context.levels)
    return np.sort(target_positions(pool, method, n_targets, seed=seed))
