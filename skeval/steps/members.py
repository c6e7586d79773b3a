"""How much each real row looks like one that the generator learned from: scores of nine attacks.

A score is a function of the row, the release and, for attacks that calibrate, of a reference table
that is disjoint of the rows that are scored. Nothing else depends on which rows were train, so that
labels of the scored rows are exchangeable if the release does not depend on them.

Rows written as text, and how few edits lead from a row to a synthetic one.
"""

from __future__ import annotations

import math
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
from skeval.neighbors.encoding import run_chunks
from skeval.stats.manifolds import count_balls
from skeval.steps.classifiers import LIGHT, TREE, learn
from skeval.steps.member_rows import (
    MAX_CENTRES,
    WIDE,
    Reference,
    density_rows,
    drawing_order,
    half_of_real,
    log_density,
    n_reference,
    nominal_features,
    plain_rows,
    reference_rows,
    scored_rows,
    to_reference,
    vector_space,
)
from skeval.steps.neighbors import encoded, is_gower, nearest, reference_index
from skeval.steps.samples import ColumnChoice, column_key, named_seed, sample_positions
from skeval.steps.texts import text_numbers, text_source

_MAX_DIGITS = 6  # of a column's largest number
_EXACT = 1e15  # beyond, a number has no digits left for its unit
_FIRST_SIGN = 0xF0000  # of the characters that no text has: one for each level
_MAX_SIGNS = 0x20000
_END, _MISSING = ",", "?"
_MARKS = b"0123456789.-+einf?"  # all characters of numbers
_WORD = 64  # characters that are compared at once
_MAX_STEPS = 2**34  # comparisons of a character with a word
_AT_A_TIME = 128  # queries, of about the same length
_NO_CHARACTER = 2**32 - 1
MAX_TEXTS = 10_000


def least_edits(
    context: Context, rows: dict[str, np.ndarray], space: Any, columns: ColumnChoice, seed: int
) -> list[np.ndarray]:
    """Return for rows of each role the fewest edits that lead from a synthetic row to them."""
    # With many columns cells are compared one by one: edits that lead from one row to
    # another, but not always the fewest.
    decimals = _decimals_of_real(context, space, columns)
    if len(decimals) > WIDE:
        return _least_edits_of_cells(context, rows, space, columns, seed)
    queries = [
        written(plain_rows(context, role, space, columns)[places], decimals)
        for role, places in rows.items()
    ]
    texts = sorted(set(written(plain_rows(context, "synthetic", space, columns), decimals)))
    n_compared = affordable(sum(map(len, queries)), max(map(len, texts)))
    kept = sample_positions(len(texts), n_compared, named_seed("texts", seed))
    return [nearest_edits(own, [texts[i] for i in kept]) for own in queries]


@shared
def _decimals_of_real(context: Context, space: Any, columns: ColumnChoice) -> list[int | None]:
    real = [plain_rows(context, role, space, columns) for role in ("train", "holdout")]
    nominal = nominal_features(context, space, columns, real[0].shape[1])
    return decimals_of(np.concatenate(real), nominal)


def _least_edits_of_cells(
    context: Context, rows: dict[str, np.ndarray], space: Any, columns: ColumnChoice, seed: int
) -> list[np.ndarray]:
    """Return the least sum of edits of cells, as `least_edits` does of whole rows."""
    queries = [_cells(context, role, space, columns).take(places) for role, places in rows.items()]
    cells = _cells(context, "synthetic", space, columns)
    n_compared = affordable(sum(map(len, rows.values())), cells.longest, n_words=1)
    distinct = _distinct(plain_rows(context, "synthetic", space, columns))
    kept = sample_positions(distinct.size, n_compared, named_seed("texts", seed))
    return [nearest_edits_of_cells(own, cells.take(distinct[kept])) for own in queries]


def _distinct(rows: np.ndarray) -> np.ndarray:
    """Return positions of rows that differ, in an order that goes by what they hold."""
    whole = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    return np.unique(whole, return_index=True)[1]


@shared
def _cells(context: Context, role: str, space: Any, columns: ColumnChoice) -> Cells:
    decimals = _decimals_of_real(context, space, columns)
    return cells_of(plain_rows(context, role, space, columns), decimals)


def affordable(n_queries: int, length: int, n_words: int | None = None) -> int:
    """Return how many texts of a length can be compared with as many as there are queries."""
    n_words = n_words or math.ceil(max(1, length) / _WORD)
    steps = max(1, n_queries) * max(1, length) * n_words
    return min(MAX_TEXTS, max(1, _MAX_STEPS // steps))


def decimals_of(rows: np.ndarray, nominal: Sequence[bool]) -> list[int | None]:
    """Return with how many decimals each number is written; None for codes."""
    # As many as the column needs, and no more than leave its largest number six digits: what
    # a generator repeats is seldom longer, and what it adds behind is noise.
    return [
        None if code else _decimals(column[np.isfinite(column)])
        for column, code in zip(rows.T, nominal, strict=True)
    ]


def _decimals(values: np.ndarray) -> int:
    largest = float(np.abs(values).max(initial=1.0))
    most = max(0, _MAX_DIGITS - 1 - math.floor(math.log10(largest)))
    for decimals in range(most):
        if np.abs(np.round(values, decimals) - values).max(initial=0.0) < 1e-9:
            return decimals
    return most


def written(rows: np.ndarray, decimals: Sequence[int | None]) -> list[str]:
    """Write each row as a text."""
    # Numbers are written in digits and end with a comma. A level is one character, however
    # long its name is, and so is a missing number.
    cells = [
        _signs(column) if places is None else _digits(column, places)
        for column, places in zip(rows.T, decimals, strict=True)
    ]
    return ["".join(row) for row in zip(*cells, strict=True)] if cells else [""] * len(rows)


def _signs(codes: np.ndarray) -> list[str]:
    return [
        _MISSING if np.isnan(code) else chr(_FIRST_SIGN + int(code) % _MAX_SIGNS) for code in codes
    ]


def _digits(values: np.ndarray, decimals: int) -> list[str]:
    whole = f".{decimals}f"
    with np.errstate(over="ignore"):  # of synthetic values near the largest float
        rounded = (np.round(values, decimals) + 0.0).tolist()  # no negative zero
    return [
        _MISSING + _END
        if value != value
        else format(value, whole if abs(value) < _EXACT else ".15g") + _END
        for value in rounded
    ]


def nearest_edits(queries: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return for each query the fewest edits that make one of the texts of it."""
    # An edit inserts, deletes or replaces one character: Levenshtein's distance.
    if not queries:
        return np.empty(0)
    from skeval.neighbors.text_kernels import fewest_edits

    own, ends = _characters(queries)
    others, their_ends = _characters(texts)
    known = np.append(np.unique(own), np.uint32(_NO_CHARACTER))
    place = np.searchsorted(known, others)
    place[known[place] != others] = known.size - 1
    signs, starts = np.searchsorted(known, own), np.append(0, ends)
    by_length = np.argsort(np.diff(starts), kind="stable")
    least = np.empty(len(queries))
    compare = partial(fewest_edits, signs, starts, known.size - 1, place, their_ends)
    least[by_length] = _in_turn(compare, by_length)
    return least


def _in_turn(compare: Callable[..., np.ndarray], queries: np.ndarray) -> np.ndarray:
    """Return what a kernel finds for each query, some of them at a time."""
    n_chunks = -(-queries.size // _AT_A_TIME)
    parts = run_chunks(compare, queries, n_jobs=None, tile=_AT_A_TIME, n_chunks=n_chunks)
    return np.concatenate(parts)


def _characters(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the characters of all texts, as numbers, and where each text ends."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4"), np.cumsum([len(text) for text in texts])


@dataclass(frozen=True)
class Cells:
    """The cells of rows, each written as a text by itself; codes are one character."""

    marks: np.ndarray
    lengths: np.ndarray
    codes: np.ndarray

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Marks, lengths and codes."""
        return self.marks, self.lengths, self.codes

    @property
    def longest(self) -> int:
        """Characters of the longest row."""
        return int(self.lengths.sum(axis=1).max(initial=0)) + self.codes.shape[1]

    def take(self, places: np.ndarray) -> Cells:
        """Return the cells of some rows."""
        return Cells(*(part[places] for part in self.parts))


def cells_of(rows: np.ndarray, decimals: Sequence[int | None]) -> Cells:
    """Write each cell as a text."""
    from skeval.neighbors.text_kernels import MAX_MARKS

    codes = [column for column, places in zip(rows.T, decimals, strict=True) if places is None]
    texts = [
        np.array(_digits(column, places), dtype=f"S{MAX_MARKS}")
        for column, places in zip(rows.T, decimals, strict=True)
        if places is not None
    ]
    number = np.zeros(256, dtype=np.uint8)
    number[np.frombuffer(_MARKS, dtype=np.uint8)] = np.arange(len(_MARKS))
    written_cells = np.array(texts, dtype=f"S{MAX_MARKS}").reshape(-1, len(rows)).T
    lengths = np.char.str_len(written_cells) - len(_END)
    marks = np.ascontiguousarray(written_cells).view(np.uint8).reshape(*lengths.shape, MAX_MARKS)
    own = np.nan_to_num(np.array(codes).reshape(-1, len(rows)).T, nan=-1.0).astype(np.int32)
    return Cells(number[marks[:, :, : lengths.max(initial=1)]], lengths, own)


def nearest_edits_of_cells(queries: Cells, others: Cells) -> np.ndarray:
    """Get for each query the fewest edits, summed over cells, that make one of the others of it."""
    if not len(queries.codes):
        return np.empty(0)
    from skeval.neighbors.text_kernels import fewest_edits_of_cells

    compare = partial(fewest_edits_of_cells, *queries.parts, *others.parts, len(_MARKS))
    return _in_turn(compare, np.arange(len(queries.codes))).astype(np.float64)


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
# what each leaks to, no other does: see docs/null_and_power.rst
STRONGEST = ("distance_calibrated", "domias", "classifier", "levatt")
BLEND = "blend"  # of several attacks
MODELLED = frozenset({"domias", "eq1", "classifier"})  # they learn from rows, and take long
SAMPLED = MODELLED | {"levatt"}  # of large tables they score a sample
_MAX_LEARNED = 10_000  # rows of each kind that the classifier learns from
_MIN_LEARNED = 10  # rows that these learn from at least
_MIN_SPREAD = 1e-12  # of ranks
_NEAREST = 2.0**-32  # distances below count as this: a copy is as near as rounding lets rows be


@dataclass(frozen=True)
class MemberScores:
    """Scores of rows of train and of the holdout: the higher, the more likely a member."""

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
        scores = self.members[members], self.others[others]
        return MemberScores(*scores, self.member_rows[members], self.other_rows[others])


def blended(scored: Sequence[MemberScores]) -> MemberScores:
    """Return the mean rank of each row that all attacks score; ranks of each have variance 1."""
    members, others = (
        reduce(np.intersect1d, [getattr(one, rows) for one in scored])
        for rows in ("member_rows", "other_rows")
    )
    total = np.zeros(members.size + others.size)
    for one in scored:
        kept = one.take(np.isin(one.member_rows, members), np.isin(one.other_rows, others))
        ranks = rankdata(np.concatenate([kept.members, kept.others]))
        total += ranks / max(float(ranks.std()), _MIN_SPREAD) / len(scored)
    # sums of equal ranks in another order are equal
    total = np.round(total, 9)
    return MemberScores(total[: members.size], total[members.size :], members, others)


def pooled_scores(context: Context, scored: Sequence[MemberScores]) -> np.ndarray:
    """Return the scores of all real rows, shape (n_rows, n_attacks), nan of rows not scored."""
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
    """Score rows of train and of the holdout by one attack."""
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
        return _cross_fitted(context, attack, rows, of_rows, (space, columns, None, seed))
    attacker = of_rows(rows, (space, columns, reference_fraction, seed, reference))
    members, others = getattr(attacker, attack)()
    return MemberScores(members, others, rows["train"], rows["holdout"])


def scores_by_attack(
    context: Context, names: Iterable[str], max_rows: int | None, *settings: Any
) -> tuple[dict[str, MemberScores], dict[str, str]]:
    """Return the scores of each attack, by further arguments of `member_scores`."""
    # And why those are left out that cannot be made. At most `max_rows` are scored by models,
    # and a fifth of these by edits, which take longest.
    scored, left_out = {}, {}
    for name in names:
        n_rows = max_rows if name in SAMPLED else None
        if n_rows and name == "levatt":
            n_rows = max(n_rows // 5, 2)
        try:
            scored[name] = member_scores(context, name, n_rows, *settings)
        except TableError as error:
            left_out[name] = str(error)
    return scored, left_out


def _cross_fitted(
    context: Context,
    attack: str,
    rows: dict[str, np.ndarray],
    of_rows: Callable[..., _Attacker],
    key: tuple[Any, ...],
) -> MemberScores:
    """Score each half of the real rows, the other half being the reference.

    No score depends on which rows were train, and all rows are scored.
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
    """Return why an attack cannot be run on these tables; empty if it can."""
    n_holdout, n_synthetic = context.n_rows("holdout"), context.n_rows("synthetic")
    if attack in CALIBRATED and reference is None and n_holdout < 2:
        return f"{attack} takes its reference from the holdout, which has one row."
    if reference is None and reference_fraction is None:
        n_known = (context.n_rows("train") + n_holdout) // 2
    else:
        n_known = n_reference(context, reference_fraction or 0.0, reference)
    if attack in MODELLED and n_synthetic < _MIN_LEARNED:
        return (
            f"{attack} needs {_MIN_LEARNED} synthetic rows to learn from; there are {n_synthetic}."
        )
    if attack in MODELLED & CALIBRATED and n_known < _MIN_LEARNED:
        return f"{attack} needs {_MIN_LEARNED} reference rows to learn from; there are {n_known}."
    return ""


@dataclass(frozen=True)
class _Attacker:
    """The attacks, one method each: the scores of the rows of train, then of the holdout."""

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
