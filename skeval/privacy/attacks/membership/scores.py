"""How much each real row looks like one that the generator learned from: scores of nine attacks.

A score is a function of the row, the release and, for attacks that calibrate, of a reference table
that is disjoint of the rows that are scored. Nothing else depends on which rows were train, so that
labels of the scored rows are exchangeable if the release does not depend on them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError, TableError
from skeval.privacy.attacks.membership.rows import (
    MOST_CENTRES,
    WIDE,
    Reference,
    density_rows,
    drawing_order,
    log_density,
    n_reference,
    nominal_features,
    plain_rows,
    reference_rows,
    scored_rows,
    to_reference,
    vector_space,
)
from skeval.privacy.attacks.membership.texts import least_edits
from skeval.stats.manifolds import count_balls
from skeval.steps.classifiers import LIGHT, TREE, learn
from skeval.steps.neighbors import encoded, is_gower, nearest, reference_index
from skeval.steps.samples import ColumnChoice, column_key, sample_positions
from skeval.steps.texts import text_numbers, text_source

ATTACKS = (
    "distance",
    "distance_calibrated",
    "ratio",
    "monte_carlo",
    "knn_density",
    "domias",
    "classifier",
    "eq1",
    "levatt",
)
CALIBRATED = frozenset({"distance_calibrated", "ratio", "domias", "classifier"})
MODELLED = frozenset({"domias", "eq1", "classifier"})  # they learn from rows, and take long
SAMPLED = MODELLED | {"levatt"}  # of large tables they score a sample
_MOST_LEARNED = 10_000  # rows of each kind that the classifier learns from
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

    @property
    def fewest(self) -> int:
        """Number of members or of others, whichever are fewer."""
        return min(self.members.size, self.others.size)

    def take(self, members: np.ndarray, others: np.ndarray) -> MemberScores:
        """Return the scores of some of the members and of the others, given as masks."""
        return MemberScores(
            self.members[members],
            self.others[others],
            self.member_rows[members],
            self.other_rows[others],
        )


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
    reference: Reference = None,
    texts: tuple[str, ...] = (),
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
        latter. "classifier": the probability of being synthetic by a classifier that has learned
        synthetic from reference rows. "levatt": minus the number of edits from the row, written as
        text, to the nearest synthetic one.
    n_rows : int, optional
        Rows of each table at most, a seeded sample; all if not given.
    space : "gower", "euclidean" or transformer, default="gower"
        Of the distances; densities and the classifier see standardised and one-hot columns, or the
        matrix of the transformer.
    columns : int, tuple of str or None
        Columns to use (in space "gower").
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
    reference : DataFrame or ndarray of int, optional
        Canonical rows of the population, disjoint of train and holdout; or positions of holdout
        rows.
    texts : tuple of str, default=()
        Text columns that "classifier" reads beside the others, as TF-IDF.

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
    if reason := needs_of(context, attack, reference_fraction, reference):
        raise TableError(reason)
    split = attack in CALIBRATED and reference is None
    n_taken = n_reference(context, reference_fraction, None) if split else 0
    rows = {
        "train": scored_rows(context, "train", n_rows, 0, seed),
        "holdout": scored_rows(context, "holdout", n_rows, n_taken, seed),
    }
    reference_key = (space, columns, reference_fraction, seed, reference)
    attacker = _Attacker(
        context, rows, n_rows, space, columns, seed, density, n_neighbors, reference_key, texts
    )
    members, others = getattr(attacker, attack)()
    return MemberScores(members, others, rows["train"], rows["holdout"])


def needs_of(context: Context, attack: str, reference_fraction: float, reference: Reference) -> str:
    """Return why an attack cannot be run on these tables; empty if it can."""
    n_holdout, n_synthetic = context.n_rows("holdout"), context.n_rows("synthetic")
    if attack in CALIBRATED and reference is None and n_holdout < 2:
        return f"{attack} takes its reference from the holdout, which has one row."
    n_known = n_reference(context, reference_fraction, reference)
    if attack in MODELLED and n_synthetic < _FEWEST:
        return f"{attack} needs {_FEWEST} synthetic rows to learn from; there are {n_synthetic}."
    if attack in MODELLED & CALIBRATED and n_known < _FEWEST:
        return f"{attack} needs {_FEWEST} reference rows to learn from; there are {n_known}."
    return ""


@dataclass(frozen=True)
class _Attacker:
    """The attacks, one method each: the scores of the rows of train, then of the holdout."""

    context: Context
    rows: dict[str, np.ndarray]  # positions of the scored rows
    n_rows: int | None
    space: Any
    columns: ColumnChoice
    seed: int
    density: str
    n_neighbors: int
    reference_key: tuple[Any, ...]
    texts: tuple[str, ...]

    def distance(self) -> list[np.ndarray]:
        return [-distances for distances in self._to_synthetic(1)]

    def distance_calibrated(self) -> list[np.ndarray]:
        pairs = zip(self._to_reference(1), self._to_synthetic(1), strict=True)
        return [to_reference - to_synthetic for to_reference, to_synthetic in pairs]

    def ratio(self, k: int = 1) -> list[np.ndarray]:
        pairs = zip(self._to_reference(k), self._to_synthetic(k), strict=True)
        return [_log(to_reference) - _log(to_synthetic) for to_reference, to_synthetic in pairs]

    def monte_carlo(self) -> list[np.ndarray]:
        radius = float(np.median(np.concatenate(self._to_synthetic(1))))
        index = reference_index(self.context, "synthetic", self.space, self.columns, None, 0)
        n_synthetic = len(index.rows)
        shares = []
        for role, rows in self.rows.items():
            queries = encoded(self.context, role, self.space, self.columns)[rows]
            if is_gower(self.space):
                within = index.search.count_within(queries, radius)
            else:
                within = count_balls(queries, index.rows, np.full(n_synthetic, radius))
            shares.append(within / n_synthetic)
        return shares

    def knn_density(self) -> list[np.ndarray]:
        k = min(self.n_neighbors, self.context.n_rows("synthetic"))
        return [-_log(distances) for distances in self._to_synthetic(k)]

    def eq1(self) -> list[np.ndarray]:
        return self.knn_density() if self.density == "knn" else self._log_p_synthetic()

    def levatt(self) -> list[np.ndarray]:
        edits = least_edits(self.context, self.rows, self.space, self.columns, self.seed)
        return [-least for least in edits]

    def domias(self) -> list[np.ndarray]:
        *_, fraction, _, reference = self.reference_key
        if self.density == "knn":
            n_known = n_reference(self.context, fraction, reference)
            return self.ratio(min(self.n_neighbors, self.context.n_rows("synthetic"), n_known))
        kind = {"prior": "gaussian"}.get(self.density, self.density)
        coordinates = vector_space(self.context, self.space, self.columns)
        known = reference_rows(self.context, True, *self.reference_key)
        sample = coordinates.vectors(known[:MOST_CENTRES])
        return [
            of_synthetic - log_density(kind, coordinates.vectors(rows), sample, self.seed)
            for of_synthetic, rows in zip(self._log_p_synthetic(), self._plain(), strict=True)
        ]

    def classifier(self) -> list[np.ndarray]:
        synthetic = plain_rows(self.context, "synthetic", self.space, self.columns)
        nominal = nominal_features(self.context, self.space, self.columns, synthetic.shape[1])
        synthetic = self._with_texts("synthetic", synthetic)
        synthetic = synthetic[np.lexsort(synthetic.T[::-1])]
        key = (*self.reference_key, self.texts)
        reference = reference_rows(self.context, True, *key)
        n_rows = min(len(synthetic), len(reference), _MOST_LEARNED)
        learned = [
            table[sample_positions(len(table), n_rows, zlib.crc32(f"{name} {self.seed}".encode()))]
            for name, table in (("reference", reference), ("synthetic", synthetic))
        ]
        further = self.reference_key[-1]
        sources = [text_source(self.context, name, "tfidf", further) for name in self.texts]
        rows, labels = np.concatenate(learned), np.repeat([0, 1], n_rows)
        trees = LIGHT if len(nominal) > WIDE else TREE
        model = learn(trees, rows, labels, nominal, self.seed, sources)
        return [
            model.scores(self._with_texts(role, plain, self.rows[role]))
            for role, plain in zip(self.rows, self._plain(), strict=True)
        ]

    def _with_texts(self, role: str, rows: np.ndarray, at: Any = slice(None)) -> np.ndarray:
        return np.column_stack([rows, text_numbers(self.context, role, self.texts)[at]])

    def _plain(self) -> list[np.ndarray]:
        """Return the scored rows as densities and classifiers read them."""
        return [
            plain_rows(self.context, role, self.space, self.columns)[rows]
            for role, rows in self.rows.items()
        ]

    def _to_synthetic(self, k: int) -> list[np.ndarray]:
        """Return the distances of the scored rows to the k-th nearest synthetic row."""
        space = {"space": self.space, "columns": self.columns}
        return [
            nearest(self.context, role, "synthetic", k=k, **space)[0][rows, k - 1]
            for role, rows in self.rows.items()
        ]

    def _to_reference(self, k: int) -> list[np.ndarray]:
        return [
            to_reference(self.context, role, k, *self.reference_key)[rows, k - 1]
            for role, rows in self.rows.items()
        ]

    def _log_p_synthetic(self) -> list[np.ndarray]:
        kind = "gmm" if self.density == "gmm" else "kde"
        # of the holdout "domias" scores the part of the sample beyond its reference: one pass for
        # both attacks
        settings = (kind, self.n_rows, self.space, self.columns, self.seed)
        return [
            _log_density_of_synthetic(self.context, role, *settings)[rows]
            for role, rows in self.rows.items()
        ]


def _log(distances: np.ndarray) -> np.ndarray:
    return np.asarray(np.log(np.maximum(distances, _NEAREST)))


@shared
def _log_density_of_synthetic(
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
    centres = coordinates.vectors(density_rows(context, space, columns))
    logs = np.full(order.size, np.nan)
    logs[drawn] = log_density(kind, points, centres, seed)
    return logs
