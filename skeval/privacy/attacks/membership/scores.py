"""How much each real row looks like one that the generator learnt from: scores of eight attacks.

A score is a function of the row, the release and, for attacks that calibrate, of a reference table
that is disjoint of the rows that are scored. Nothing else depends on which rows were train, so that
labels of the scored rows are exchangeable if the release does not depend on them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError, TableError
from skeval.privacy.attacks.membership.rows import (
    MOST_CENTRES,
    drawing_order,
    learnt_rows,
    log_density,
    n_reference,
    nominal_features,
    plain_rows,
    reference_rows,
    scored_rows,
    to_reference,
    vector_space,
)
from skeval.stats.manifolds import count_balls
from skeval.steps.classifiers import TREE, learn
from skeval.steps.neighbors import encoded, is_gower, nearest, reference_index
from skeval.steps.samples import ColumnChoice, column_key, sample_positions

ATTACKS = (
    "distance",
    "distance_calibrated",
    "ratio",
    "monte_carlo",
    "knn_density",
    "domias",
    "classifier",
    "eq1",
)
CALIBRATED = frozenset({"distance_calibrated", "ratio", "domias", "classifier"})
_WITH_DENSITIES = frozenset({"domias", "eq1"})
_MOST_LEARNT = 10_000  # rows of each kind that the classifier learns from
_FEWEST = 10  # rows that these learn from at least
_NEAREST = 2.0**-32  # distances below count as this: a copy is as near as rounding lets rows be


@dataclass(frozen=True)
class MemberScores:
    """Scores of rows of train and of the holdout: the higher, the more likely a member.

    Attributes
    ----------
    members, others : ndarray of shape (n_members,), (n_others,)
        Scores of train rows and of holdout rows; finite.
    member_rows : ndarray of shape (n_members,), int
        Positions of the members in ``context.train``, ascending.
    other_rows : ndarray of shape (n_others,), int
        Positions of the others in ``context.holdout``, ascending.
    """

    members: np.ndarray
    others: np.ndarray
    member_rows: np.ndarray
    other_rows: np.ndarray


@dataclass(frozen=True)
class _Setting:
    """Everything that a score depends on besides the context."""

    attack: str
    n_rows: int | None
    space: Any
    columns: ColumnChoice
    fraction: float
    seed: int
    density: str
    n_neighbors: int
    reference: pd.DataFrame | None

    def reference_key(self) -> tuple[Any, ...]:
        return self.space, self.columns, self.fraction, self.seed, self.reference


@shared
def member_scores(
    context: Context,
    attack: str,
    n_rows: int | None = None,
    space: Any = "gower",
    columns: ColumnChoice = None,
    reference_fraction: float = 0.5,
    seed: int = 0,
    density: str = "kde",
    n_neighbors: int = 5,
    reference: pd.DataFrame | None = None,
) -> MemberScores:
    """Score rows of train and of the holdout by one attack.

    Parameters
    ----------
    context : Context
        With train, holdout and synthetic rows.
    attack : str
        "distance": minus the distance to the nearest synthetic row. "distance_calibrated": the
        distance to the nearest reference row less that. "ratio": the log of their ratio.
        "monte_carlo": share of the synthetic rows within the median distance of the scored rows to
        their nearest. "knn_density": minus the log of the distance to the k-th nearest synthetic
        row. "domias": log density of synthetic rows less that of reference rows. "eq1": without the
        latter. "classifier": the probability of being synthetic by a classifier that has learnt
        synthetic from reference rows.
    n_rows : int, optional
        Rows of each table at most, a seeded sample; all if not given.
    space : "gower", "euclidean" or transformer, default="gower"
        Of the distances; densities and the classifier see standardised and one-hot columns, or the
        matrix of the transformer.
    columns : int, tuple of str or None
        The columns looked at (in space "gower").
    reference_fraction : float, default=0.5
        Share of the holdout that attacks which calibrate take as reference; it is not scored by
        them. Without meaning if `reference` is given.
    seed : int, default=0
        Of samples and the reference.
    density : {"kde", "knn", "gmm", "prior"}, default="kde"
        Of "domias" and "eq1": Gaussian kernels; radii of the k nearest rows; a mixture of
        Gaussians; or kernels for synthetic rows and one Gaussian for the reference.
    n_neighbors : int, default=5
        The k above.
    reference : DataFrame, optional
        Canonical rows of the population, disjoint of train and holdout.

    Returns
    -------
    MemberScores

    Raises
    ------
    InvalidParameterError
        If there is no such attack.
    TableError
        If a table has too few rows for it.
    """
    if attack not in ATTACKS:
        raise InvalidParameterError(f"attack must be among {ATTACKS}, got {attack!r}.")
    columns = column_key(context.schema, columns)
    asked = _Setting(
        attack, n_rows, space, columns, reference_fraction, seed, density, n_neighbors, reference
    )
    if reason := needs_of(context, attack, reference_fraction, reference):
        raise TableError(reason)
    split = attack in CALIBRATED and reference is None
    taken = {"holdout": n_reference(context, reference_fraction, None) if split else 0}
    rows = {
        role: scored_rows(context, role, n_rows, taken.get(role, 0), seed)
        for role in ("train", "holdout")
    }
    members, others = _SCORES[attack](context, asked, rows)
    return MemberScores(members, others, rows["train"], rows["holdout"])


def needs_of(
    context: Context, attack: str, reference_fraction: float, reference: pd.DataFrame | None
) -> str:
    """Return why an attack cannot be run on these tables; empty if it can."""
    n_holdout, n_synthetic = context.n_rows("holdout"), context.n_rows("synthetic")
    if attack in CALIBRATED and reference is None and n_holdout < 2:
        return f"{attack} takes its reference from the holdout, which has one row."
    n_known = n_reference(context, reference_fraction, reference)
    learns = attack in _WITH_DENSITIES or attack == "classifier"
    if learns and n_synthetic < _FEWEST:
        return f"{attack} needs {_FEWEST} synthetic rows to learn from; there are {n_synthetic}."
    if learns and attack in CALIBRATED and n_known < _FEWEST:
        return f"{attack} needs {_FEWEST} reference rows to learn from; there are {n_known}."
    return ""


def _to_synthetic(context: Context, role: str, asked: _Setting, k: int) -> np.ndarray:
    """Return the distances of a role's rows to the k-th nearest synthetic row."""
    found, _ = nearest(context, role, "synthetic", k=k, space=asked.space, columns=asked.columns)
    return found[:, k - 1]


def _n_found(context: Context, asked: _Setting, *, calibrated: bool = False) -> int:
    """Return the number of neighbours that there are, `n_neighbors` at most."""
    available = [asked.n_neighbors, context.n_rows("synthetic")]
    if calibrated:
        available.append(n_reference(context, asked.fraction, asked.reference))
    return min(available)


Rows = dict[str, np.ndarray]
Scored = tuple[np.ndarray, np.ndarray]


def _distance(context: Context, asked: _Setting, rows: Rows) -> Scored:
    members, others = (-_to_synthetic(context, role, asked, 1)[rows[role]] for role in rows)
    return members, others


def _distance_calibrated(context: Context, asked: _Setting, rows: Rows) -> Scored:
    members, others = (
        (
            to_reference(context, role, 1, *asked.reference_key())[:, 0]
            - _to_synthetic(context, role, asked, 1)
        )[rows[role]]
        for role in rows
    )
    return members, others


def _ratio(context: Context, asked: _Setting, rows: Rows) -> Scored:
    return _log_ratio(context, asked, rows, 1)


def _log_ratio(context: Context, asked: _Setting, rows: Rows, k: int) -> Scored:
    members, others = (
        (
            _log(to_reference(context, role, k, *asked.reference_key())[:, k - 1])
            - _log(_to_synthetic(context, role, asked, k))
        )[rows[role]]
        for role in rows
    )
    return members, others


def _log(distances: np.ndarray) -> np.ndarray:
    logs: np.ndarray = np.log(np.maximum(distances, _NEAREST))
    return logs


def _knn_density(context: Context, asked: _Setting, rows: Rows) -> Scored:
    k = _n_found(context, asked)
    members, others = (-_log(_to_synthetic(context, role, asked, k)[rows[role]]) for role in rows)
    return members, others


def _monte_carlo(context: Context, asked: _Setting, rows: Rows) -> Scored:
    nearby = [_to_synthetic(context, role, asked, 1)[rows[role]] for role in rows]
    radius = float(np.median(np.concatenate(nearby)))
    index = reference_index(context, "synthetic", asked.space, asked.columns, None, 0)
    counts = []
    for role in rows:
        queries = encoded(context, role, asked.space, asked.columns)[rows[role]]
        if is_gower(asked.space):
            within = index.search.count_within(queries, radius)
        else:
            within = count_balls(queries, index.rows, np.full(len(index.rows), radius))
        counts.append(within / len(index.rows))
    return counts[0], counts[1]


@shared
def _of_synthetic(
    context: Context,
    role: str,
    kind: str,
    n_rows: int | None,
    space: Any,
    columns: ColumnChoice,
    seed: int,
) -> np.ndarray:
    """Return the log density of synthetic rows at a role's rows, nan for those beyond a sample."""
    order = drawing_order(context, role, seed)
    drawn = order if n_rows is None else order[max(0, order.size - n_rows) :]
    coordinates = vector_space(context, space, columns)
    points = coordinates.vectors(plain_rows(context, role, space, columns)[drawn])
    found = np.full(order.size, np.nan)
    centres = coordinates.vectors(learnt_rows(context, space, columns))
    found[drawn] = log_density(kind, points, centres, seed)
    return found


def _log_p_synthetic(context: Context, asked: _Setting, rows: Rows) -> list[np.ndarray]:
    kind = "gmm" if asked.density == "gmm" else "kde"
    # of the holdout "domias" scores the part of the sample beyond its reference: one pass for both
    settings = (kind, asked.n_rows, asked.space, asked.columns, asked.seed)
    return [_of_synthetic(context, role, *settings)[rows[role]] for role in rows]


def _eq1(context: Context, asked: _Setting, rows: Rows) -> Scored:
    if asked.density == "knn":
        return _knn_density(context, asked, rows)
    members, others = _log_p_synthetic(context, asked, rows)
    return members, others


def _domias(context: Context, asked: _Setting, rows: Rows) -> Scored:
    if asked.density == "knn":
        return _log_ratio(context, asked, rows, _n_found(context, asked, calibrated=True))
    kind = {"prior": "gaussian"}.get(asked.density, asked.density)
    coordinates = vector_space(context, asked.space, asked.columns)
    reference = reference_rows(context, True, *asked.reference_key())
    sample = coordinates.vectors(reference[:MOST_CENTRES])
    scores = []
    for role, of_synthetic in zip(rows, _log_p_synthetic(context, asked, rows), strict=True):
        points = coordinates.vectors(
            plain_rows(context, role, asked.space, asked.columns)[rows[role]]
        )
        scores.append(of_synthetic - log_density(kind, points, sample, asked.seed))
    return scores[0], scores[1]


def _classifier(context: Context, asked: _Setting, rows: Rows) -> Scored:
    synthetic = plain_rows(context, "synthetic", asked.space, asked.columns)
    synthetic = synthetic[np.lexsort(synthetic.T[::-1])]
    reference = reference_rows(context, True, *asked.reference_key())
    n_rows = min(len(synthetic), len(reference), _MOST_LEARNT)
    learnt = [
        table[sample_positions(len(table), n_rows, zlib.crc32(f"{name} {asked.seed}".encode()))]
        for name, table in (("reference", reference), ("synthetic", synthetic))
    ]
    model = learn(
        TREE,
        np.concatenate(learnt),
        np.repeat([0, 1], n_rows),
        nominal_features(context, asked.space, asked.columns, synthetic.shape[1]),
        asked.seed,
    )
    members, others = (
        model.scores(plain_rows(context, role, asked.space, asked.columns)[rows[role]])
        for role in rows
    )
    return members, others


_SCORES = {
    "distance": _distance,
    "distance_calibrated": _distance_calibrated,
    "ratio": _ratio,
    "monte_carlo": _monte_carlo,
    "knn_density": _knn_density,
    "domias": _domias,
    "classifier": _classifier,
    "eq1": _eq1,
}
