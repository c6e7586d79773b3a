"""Membership scores of real rows by nine attacks.

A score is a function of the row and the release. For calibrated attacks, it also depends on a
reference table that is disjoint from the scored rows. Nothing else depends on the labels of the
rows. Therefore, the labels of the scored rows are exchangeable if the release does not depend on
them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError, TableError
from skeval.stats.manifolds import count_balls
from skeval.steps.classifiers import LIGHT, TREE, learn
from skeval.steps.column_choice import ColumnChoice, column_key
from skeval.steps.densities import MAX_CENTRES, density_rows, log_density, vector_space
from skeval.steps.encoded_rows import encoded_matrix, is_gower
from skeval.steps.member_rows import (
    WIDE,
    Reference,
    drawing_order,
    half_of_real,
    n_reference,
    nominal_features,
    plain_rows,
    reference_rows,
    scored_rows,
    to_reference,
)
from skeval.steps.nearest_others import distances_to_part, is_large_part
from skeval.steps.neighbors import nearest, reference_index
from skeval.steps.samples import sample_positions
from skeval.steps.text_edits import least_edits
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
# each of these finds leaks that the others do not find, see docs/null_and_power.rst
STRONGEST = ("distance_calibrated", "domias", "classifier", "levatt")
BLEND = "blend"  # the mean rank over several attacks
MODELLED = frozenset({"domias", "eq1", "classifier"})  # slow attacks that learn from rows
SAMPLED = MODELLED | {"levatt"}  # these attacks score a sample of a large table
_MAX_LEARNED = 10_000  # maximum number of rows of each kind that the classifier learns from
_MIN_LEARNED = 10  # minimum number of rows that these attacks learn from
_MIN_SPREAD = 1e-12  # avoids a division by 0 if all ranks are equal
_NEAREST = 2.0**-32  # smaller distances are set to this, because of rounding errors of copies


@dataclass(frozen=True)
class MemberScores:
    """Scores of training and holdout rows, where a higher score indicates a member."""

    members: np.ndarray
    others: np.ndarray
    member_rows: np.ndarray
    other_rows: np.ndarray

    @property
    def fewest(self) -> int:
        """The smaller one of the numbers of members and of others."""
        return min(self.members.size, self.others.size)

    def take(self, members: np.ndarray, others: np.ndarray) -> MemberScores:
        """Return the scores of the members and the others that two masks select."""
        scores = self.members[members], self.others[others]
        return MemberScores(*scores, self.member_rows[members], self.other_rows[others])


def blend_scores(scored: Sequence[MemberScores]) -> MemberScores:
    """Return the mean rank of each row that all attacks score, with ranks of variance 1."""
    members, others = (
        reduce(np.intersect1d, [getattr(one, rows) for one in scored])
        for rows in ("member_rows", "other_rows")
    )
    total = np.zeros(members.size + others.size)
    for one in scored:
        kept = one.take(np.isin(one.member_rows, members), np.isin(one.other_rows, others))
        ranks = rankdata(np.concatenate([kept.members, kept.others]))
        total += ranks / max(float(ranks.std()), _MIN_SPREAD) / len(scored)
    # rounding makes sums of equal ranks in different orders equal
    total = np.round(total, 9)
    return MemberScores(total[: members.size], total[members.size :], members, others)


def pooled_scores(context: Context, scored: Sequence[MemberScores]) -> np.ndarray:
    """Return the scores of all real rows, shape (n_rows, n_attacks), or nan without a score."""
    n_train = context.n_rows("train")
    table = np.full((n_train + context.n_rows("holdout"), len(scored)), np.nan)
    for column, one in zip(table.T, scored, strict=True):
        column[one.member_rows] = one.members
        column[n_train + one.other_rows] = one.others
    return table


@shared
def member_scores(
    context: Context,
    attack: str,
    n_rows: int | None = None,
    space: Any = "gower",
    columns: ColumnChoice = None,
    reference_fraction: float | None = None,
    seed: int = 0,
    density: str = "kde",
    n_neighbors: int = 5,
    reference: Reference = None,
    texts: tuple[str, ...] = (),
) -> MemberScores:
    """Score training and holdout rows with one attack."""
    if attack not in ATTACKS:
        raise InvalidParameterError(f"attack must be among {ATTACKS}, got {attack!r}.")
    columns = column_key(context.schema, columns)
    if reason := needs_of(context, attack, reference_fraction, reference):
        raise TableError(reason)
    split = attack in CALIBRATED and reference is None
    n_taken = n_reference(context, reference_fraction, None) if split and reference_fraction else 0
    rows = {
        "train": scored_rows(context, "train", n_rows, 0, seed),
        "holdout": scored_rows(context, "holdout", n_rows, n_taken, seed),
    }
    of_rows = partial(_Attacker, context, n_rows, space, columns, seed, density, n_neighbors, texts)
    if split and reference_fraction is None:
        return _score_halves(context, attack, rows, of_rows, (space, columns, None, seed))
    attacker = of_rows(rows, (space, columns, reference_fraction, seed, reference))
    members, others = getattr(attacker, attack)()
    return MemberScores(members, others, rows["train"], rows["holdout"])


def scores_by_attack(
    context: Context, names: Iterable[str], max_rows: int | None, *settings: Any
) -> tuple[dict[str, MemberScores], dict[str, str]]:
    """Return the scores of each attack, and the reasons of skipped attacks."""
    # `settings` are further arguments of `member_scores`. Models score at most `max_rows` rows, and
    # the attack by edits, which is the slowest, scores 20% of this number.
    scored, skipped = {}, {}
    for name in names:
        n_rows = max_rows if name in SAMPLED else None
        if n_rows and name == "levatt":
            n_rows = max(n_rows // 5, 2)
        try:
            scored[name] = member_scores(context, name, n_rows, *settings)
        except TableError as error:
            skipped[name] = str(error)
    return scored, skipped


def _score_halves(
    context: Context,
    attack: str,
    rows: dict[str, np.ndarray],
    of_rows: Callable[..., _Attacker],
    key: tuple[Any, ...],
) -> MemberScores:
    """Score each half of the real rows with the other half as the reference.

    Scores do not depend on the labels of the rows, and all rows are scored.
    """
    in_half = dict(zip(rows, half_of_real(context, key[-1]), strict=True))
    scores = {role: np.empty(places.size) for role, places in rows.items()}
    for half in (True, False):
        chosen = {role: in_half[role][places] == half for role, places in rows.items()}
        known = tuple(np.flatnonzero(mine != half) for mine in in_half.values())
        scored = {role: places[chosen[role]] for role, places in rows.items()}
        attacker = of_rows(scored, (*key, known))
        for role, found in zip(rows, getattr(attacker, attack)(), strict=True):
            scores[role][chosen[role]] = found
    return MemberScores(*scores.values(), *rows.values())


def needs_of(
    context: Context, attack: str, reference_fraction: float | None, reference: Reference
) -> str:
    """Return why an attack is not possible on these tables, or an empty text."""
    n_holdout, n_synthetic = context.n_rows("holdout"), context.n_rows("synthetic")
    if attack in CALIBRATED and reference is None and n_holdout < 2:
        return f"{attack} uses a part of the holdout as reference and requires at least 2 rows."
    if reference is None and reference_fraction is None:
        n_known = (context.n_rows("train") + n_holdout) // 2
    else:
        n_known = n_reference(context, reference_fraction or 0.0, reference)
    if attack in MODELLED and n_synthetic < _MIN_LEARNED:
        return f"{attack} requires at least {_MIN_LEARNED} synthetic rows, got {n_synthetic}."
    if attack in MODELLED & CALIBRATED and n_known < _MIN_LEARNED:
        return f"{attack} requires at least {_MIN_LEARNED} reference rows, got {n_known}."
    return ""


@dataclass(frozen=True)
class _Attacker:
    """The attacks, one method each, that return training scores and holdout scores."""

    context: Context
    n_rows: int | None
    space: Any
    columns: ColumnChoice
    seed: int
    density: str
    n_neighbors: int
    texts: tuple[str, ...]
    rows: dict[str, np.ndarray]  # positions of the scored rows
    reference_key: tuple[Any, ...]

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
            queries = encoded_matrix(self.context, role, self.space, self.columns)[rows]
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
        sample = coordinates.vectors(known[:MAX_CENTRES])
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
        n_rows = min(len(synthetic), len(reference), _MAX_LEARNED)
        learned = [
            table[sample_positions(len(table), n_rows, zlib.crc32(f"{name} {self.seed}".encode()))]
            for name, table in (("reference", reference), ("synthetic", synthetic))
        ]
        given = self.reference_key[-1]
        further = given if isinstance(given, pd.DataFrame) else None
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
        """Return the scored rows in the form that densities and classifiers read."""
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
        known, sizes = self.reference_key[-1], [self.context.n_rows(role) for role in self.rows]
        n_scored = sum(rows.size for rows in self.rows.values())
        is_searched = isinstance(known, tuple) and is_large_part(n_scored, sum(sizes))
        if k == 1 and is_searched and is_gower(self.space):
            part = np.zeros(sum(sizes), dtype=np.bool_)
            starts = (0, sizes[0])
            for start, at in zip(starts, known, strict=True):
                part[start + at] = True
            return [
                distances_to_part(self.context, self.columns, start + rows, part)
                for start, rows in zip(starts, self.rows.values(), strict=True)
            ]
        return [
            to_reference(self.context, role, k, *self.reference_key)[rows, k - 1]
            for role, rows in self.rows.items()
        ]

    def _log_p_synthetic(self) -> list[np.ndarray]:
        kind = "gmm" if self.density == "gmm" else "kde"
        # "domias" scores the part of the holdout outside its reference, so that both attacks share
        # one pass
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
    """Return the log density of synthetic rows at a role's rows, or nan outside a sample."""
    order = drawing_order(context, role, seed)
    drawn = order if n_rows is None else order[max(0, order.size - n_rows) :]
    coordinates = vector_space(context, space, columns)
    points = coordinates.vectors(plain_rows(context, role, space, columns)[drawn])
    centres = coordinates.vectors(density_rows(context, space, columns))
    logs = np.full(order.size, np.nan)
    logs[drawn] = log_density(kind, points, centres, seed)
    return logs
