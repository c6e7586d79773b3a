"""Membership inference from combinations of columns and from single cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import RelabelledTest
from skeval.core.tags import ATTACK_TAGS
from skeval.neighbors import MixedNearestNeighbors
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import (
    Relabelled,
    block_sizes,
    least_p_value,
    sequential_tests,
    shuffle_labels,
)
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, gower_scale
from skeval.steps.samples import drawn_positions, drawn_subsets, named_seed
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import join_names
from skeval.utils.parameters import Interval

Kind = Literal["combination", "copied cell"]
_REAL = ("train", "holdout")
_MAX_PAIRS, _MAX_TRIPLES = 300, 500  # maximum numbers of column combinations
_N_CANDIDATES = 16  # nearest real rows, from which the nearest in the other columns is chosen
_WIDTH = 2.0  # a difference of two standard deviations counts as much as another category
_ALL, _NUMBERS = "all other columns", "all other numerical columns"
_MIN_LEFT_OUT, _MAX_LEFT_OUT = 3, 8  # numbers of numerical columns, of which one is left out
_MAX_TABLE = 2**22  # up to this number of combinations, their presence is stored as a table
_MIN_SPREAD = 1e-12


@dataclass(frozen=True)
class Clues:
    """Information that the synthetic data reveal about each real row, for clues of one kind."""

    kind: Kind
    names: list[tuple[str, ...]]
    known: list[str]  # columns that determine the most similar row, or "" for combinations
    scores: np.ndarray  # excess bits for each clue and real row, with a sum of 0
    possible: np.ndarray  # bits that could be revealed, for each clue and each of both tables
    share: np.ndarray  # fraction of the possible bits that is revealed, over all real rows

    def take(self, clues: np.ndarray) -> Clues:
        """Return some of the clues."""
        if clues.size == len(self.names):
            return self
        names, known = ([of[i] for i in clues] for of in (self.names, self.known))
        bits = (of[clues] for of in (self.scores, self.possible, self.share))
        return Clues(self.kind, names, known, *bits)

    def shares(self, clue: int, is_train: np.ndarray) -> tuple[float, float]:
        """Return the fraction of the possible bits that is revealed, for training and holdout rows.

        Both are computed from the scores, so that the test evaluates their difference.
        """
        sums = [
            (float(self.scores[clue, part].sum()), float(whole))
            for part, whole in zip((is_train, ~is_train), self.possible[clue], strict=True)
        ]
        of_train, of_holdout = (
            min(max(float(self.share[clue]) + beyond / whole, 0.0), 1.0) if whole else 0.0
            for beyond, whole in sums
        )
        return of_train, of_holdout


@dataclass(frozen=True)
class Strongest:
    """The clue that distinguishes training rows most, and its test."""

    kind: Kind
    columns: tuple[str, ...]
    known: str
    of_train: float
    of_holdout: float
    by_chance: float
    test: Relabelled

    @property
    def p_value(self) -> float:
        """The p-value, corrected for the clues of this kind."""
        return self.test.p_value

    @property
    def difference(self) -> float:
        """The fraction for training rows minus the fraction for holdout rows."""
        return self.of_train - self.of_holdout

    @property
    def what(self) -> str:
        """The fraction as a noun phrase."""
        listed = join_names(self.columns)
        if self.kind == "copied cell":
            return (
                f"synthetic rows with the value of {listed} of the training row that is most "
                f"similar in {self.known}, weighted by rarity"
            )
        if len(self.columns) == 1:
            return f"training rows whose value of {listed} occurs, weighted by rarity"
        return f"training rows whose values of {listed} occur together, weighted by rarity"


@declared
class PartialMembershipInference(RelabelledTest):
    r"""Membership inference from parts of rows, by the strongest of many clues.

    A generator can memorize a part of a training row and sample the rest. The synthetic data then
    contain no near copy of a complete row, and attacks that compare complete rows do not find the
    leak. This attack uses two kinds of clues. The first is a rare combination of values of one, two
    or three columns that occurs in the synthetic data. The second is a copied cell. For each
    synthetic row, the most similar real row in all other columns, or in all other numerical
    columns, or in these except one, is found. The clue is that both rows have the same or a close
    value in the remaining column, which happens more often if the real row is a training row.

    The value is the fraction of the information about training rows that the strongest clue
    reveals, minus the fraction for holdout rows. The value is 1 if all information about training
    rows is revealed, and no information about holdout rows. The baseline is the value of the
    strongest clue that is expected by chance. Lower is better.

    Parameters
    ----------
    max_rows : int, default=2000
        Maximum number of attacked rows in the training and in the holdout data. Up to ten times
        this number of synthetic rows are used. If a table has more rows, a random sample is used.

    Warnings
    --------
    This is only one attack, so a result that is not significant does not clear a release. The
    attack does not find combinations of more than three columns. It usually does not find a
    combination or a cell that is copied in only a few rows. If a table has more than 25 columns,
    only a sample of the pairs and triples of columns is used. If it has more than eight numerical
    columns, none of these is left out of the search for similar rows.

    See Also
    --------
    MembershipInference : Compares whole rows.
    AttributeInferenceRisk : Infers one sensitive attribute with models.
    RecordReconstruction : Infers half of the columns, which must all be correct.
    NearDuplicateShare : Measures synthetic rows that are near copies.

    Notes
    -----
    Let :math:`\lambda` be the expected number of synthetic rows with a combination of values, if
    columns were independent and had the frequencies of all real rows. A combination that occurs in
    the synthetic data reveals :math:`\log_2(1 + 1 / \lambda)` bits about each real row that has it.
    For single cells, each synthetic row is compared with the real row that is most similar to it in
    the other columns, and reveals :math:`(1 - g) \log_2(1 + 1 / f)` bits about that row. Here f is
    the fraction of real rows whose value is at least as close to the cell as the synthetic value.
    For a category, f is the frequency of the category if the two categories are equal, otherwise 1.
    The number g rescales f, so that it is 0 for an equal value and 1 if all values are as close.
    The most similar row is chosen among the 16 nearest real rows, by the mean over columns of
    differences, which are at most 1. The unit of the differences between numbers is two standard
    deviations, or the range if only numerical columns are compared. The fraction for some rows is
    the sum of their bits divided by the possible bits.

    No clue depends on which real rows are training rows. Therefore the labels of the real rows are
    exchangeable if the synthetic data do not depend on them. The score of a row is the number of
    revealed bits minus the expected number. For a combination, the same fraction is expected for
    all rows. For a cell, the mean over the synthetic rows is expected. For a category, the mean
    over the synthetic rows that are compared with a row of this category is used, because rare
    categories are copied less often without a leak. The two reported fractions are computed from
    these scores. Each clue is standardized by the exact mean and standard deviation of its scores
    over all labels. The largest score of each kind is compared with the largest score for random
    labels. All clues use the same random labels. The smaller p-value is multiplied by the number of
    kinds.

    ``details`` contains the ``kind`` of the strongest clue, its ``columns`` and the fractions for
    ``train`` and ``holdout``. ``by_kind`` contains these entries for the strongest clue of each
    kind, with the p-value before the multiplication.

    References
    ----------
    S. Golob et al., "Privacy vulnerabilities in marginals-based synthetic data", SaTML 2025,
    arXiv:2410.05506, on attacks by low-order marginals.
    P. H. Westfall, S. S. Young, "Resampling-based multiple testing", Wiley 1993, on the largest of
    several statistics under common relabelings.

    Examples
    --------
    >>> from skeval.datasets import make_census
    >>> from skeval.privacy import PartialMembershipInference
    >>> train, holdout, fresh = (make_census(200, random_state=seed) for seed in range(3))
    >>> attack = PartialMembershipInference().fit(train, holdout)
    >>> attack.evaluate(fresh).p_value > 0.05
    True
    >>> parts = ["age", "employer", "income"]  # copied together, all other cells are fresh
    >>> result = attack.evaluate(fresh.assign(**{name: train[name] for name in parts}))
    >>> result.details["columns"], result.p_value < 0.01
    (['age', 'employer', 'income'], True)
    """

    tags = replace(ATTACK_TAGS, risks=frozenset({"inference"}), bounds=(-1.0, 1.0))

    _: KW_ONLY
    max_rows: Annotated[int, Interval(20)] = 2000

    def _compute(self, context: Context) -> Result:
        if not context.schema.measured:
            return undefined_result("no column of this table can be measured.")
        if min(context.n_rows(role) for role in _REAL) < 2:
            return undefined_result("at least two training and two holdout rows are required.")
        found = self._strongest_clues(context)
        return Result(min(found, key=_by_p_value).difference if found else 0.0)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        found = self._strongest_clues(context)
        if not found:  # the synthetic data reveal nothing, or the same about every real row
            return replace(result, p_value=1.0, baseline=0.0)
        best = min(found, key=_by_p_value)
        n_train, n_holdout = (min(context.n_rows(role), self.max_rows) for role in _REAL)
        least = least_p_value(n_train, n_holdout, self.n_permutations)
        return replace(
            result,
            p_value=min(1.0, len(found) * best.p_value),
            baseline=best.by_chance,
            contrast=Contrast(
                best.what,
                best.of_train,
                max(0.0, best.of_holdout + best.by_chance),
                least_p=min(1.0, len(found) * least),
            ),
            advice=_advice(best),
            refit=True,
            details={
                **_clue_details(best),
                "by_kind": {
                    one.kind: {**_clue_details(one), "p_value": one.p_value} for one in found
                },
            },
        )

    def _summary(self, result: Result) -> str:
        if result.contrast is None:
            return "The synthetic data reveal the same about every real row."
        observed, expected = result.contrast.numbers_in_words
        return f"{_capitalize(result.contrast.what)}: {observed} ({expected} expected by chance)."

    def _strongest_clues(self, context: Context) -> tuple[Strongest, ...]:
        return strongest_clues(context, self.max_rows, self.n_permutations, self.random_state)


def _capitalize(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _by_p_value(one: Strongest) -> tuple[float, float]:
    return one.p_value, -one.test.observed


def _clue_details(one: Strongest) -> dict[str, Any]:
    shares = {"train": one.of_train, "holdout": one.of_holdout}
    return {"kind": one.kind, "columns": list(one.columns), **shares}


def _advice(one: Strongest) -> str:
    listed = join_names(one.columns)
    if one.kind == "copied cell":
        return (
            f"Sample {listed} again or drop the column, because it is copied from single training "
            "rows."
        )
    return (
        f"Sample {listed} again or use coarser values, because the combinations occur in single "
        "training rows."
    )


@shared
def strongest_clues(
    context: Context, max_rows: int, n_permutations: int, seed: int
) -> tuple[Strongest, ...]:
    """Return the strongest clue of each kind in which real rows differ."""
    places = {role: drawn_positions(context, role, max_rows, seed) for role in _REAL}
    is_train = np.repeat([True, False], [places[role].size for role in _REAL])
    kinds = [
        one.take(kept)
        for one in (
            combinations(context, places, max_rows, seed),
            copied_cells(context, places, max_rows, seed),
        )
        if (kept := np.flatnonzero(_deviations(one.scores) > _MIN_SPREAD)).size
    ]
    if not kinds:
        return ()
    tests, best = clues_test([one.scores for one in kinds], is_train, n_permutations, seed)
    strongest = []
    for clues, test, i in zip(kinds, tests, best, strict=True):
        shares = clues.shares(i, is_train)
        unit = (shares[0] - shares[1]) / test.observed if test.observed else 0.0
        strongest.append(
            Strongest(clues.kind, clues.names[i], clues.known[i], *shares, test.mean * unit, test)
        )
    return tuple(strongest)


def clues_test(
    kinds: Sequence[np.ndarray], is_train: np.ndarray, n_permutations: int, seed: int
) -> tuple[list[Relabelled], list[int]]:
    """Compare the largest clue of each kind with the largest under random labels."""
    n, n_train = is_train.size, int(is_train.sum())
    spread = np.sqrt(n_train * (n - n_train) / (n - 1.0))
    scores = [one - one.mean(axis=1, keepdims=True) for one in kinds]
    for centered, one in zip(scores, kinds, strict=True):
        centered /= _deviations(one)[:, None] * spread

    def deviations(labels: np.ndarray) -> Iterator[np.ndarray]:
        # sums of the same rows in another order are equal
        yield from (np.round(one @ labels.astype(np.float64), 9) for one in scores)

    actual = list(deviations(is_train[:, None]))
    rng = np.random.default_rng(named_seed("partial membership", seed))
    blocks = (
        np.column_stack([one.max(axis=0) for one in deviations(shuffle_labels(is_train, m, rng))])
        for m in block_sizes(n_permutations)
    )
    tests = sequential_tests(np.array([one.max() for one in actual]), blocks)
    return tests, [int(one.argmax()) for one in actual]


def _deviations(scores: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each row, computed row by row to save memory."""
    return np.array([row.std() for row in scores])


def combinations(
    context: Context, places: dict[str, np.ndarray], max_rows: int, seed: int
) -> Clues:
    """Return whether combinations of values of up to three columns occur in the synthetic data."""
    released = drawn_positions(context, "synthetic", 10 * max_rows, seed)
    names, order = _sorted_columns(context)
    real = np.concatenate([encoded_matrix(context, role)[places[role]] for role in _REAL])[:, order]
    synthetic = encoded_matrix(context, "synthetic")[released][:, order]
    columns = [_shared_values(*both) for both in zip(real.T, synthetic.T, strict=True)]
    frequencies = [np.log(_frequencies(column)) for column in real.T]
    limits = {1: None, 2: _MAX_PAIRS, 3: _MAX_TRIPLES}
    subsets = [
        subset
        for k, limit in limits.items()
        if k <= len(names)
        for subset in drawn_subsets(range(len(names)), k, limit, seed)
    ]
    n_train = places["train"].size
    scores, share = np.empty((len(subsets), len(real))), np.empty(len(subsets))
    possible = np.empty((len(subsets), 2))
    for clue, one in enumerate(subsets):
        bits = _bits(sum(frequencies[j] for j in one) + np.log(len(synthetic)))
        revealed = bits * _occurs([columns[j] for j in one])
        share[clue] = revealed.sum() / bits.sum()
        scores[clue] = revealed - share[clue] * bits
        possible[clue] = bits[:n_train].sum(), bits[n_train:].sum()
    named = [tuple(names[j] for j in one) for one in subsets]
    return Clues("combination", named, [""] * len(named), scores, possible, share)


def _sorted_columns(context: Context) -> tuple[list[str], np.ndarray]:
    """Return the encoded columns in alphabetical order, and their places."""
    # ties of rows and sums of differences depend on the order of columns
    names = encoded_columns(context.schema)
    order = np.argsort(names, kind="stable")
    return [names[j] for j in order], order


def _bits(log_expected: np.ndarray) -> np.ndarray:
    """Return the information of an event that is expected this many times."""
    return np.asarray(np.logaddexp(0.0, -log_expected) / np.log(2.0))


def _frequencies(values: np.ndarray) -> np.ndarray:
    """Return the frequency of the value of each row, with missing as a value."""
    _, code, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(counts[code] / values.size)


def _shared_values(real: np.ndarray, synthetic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of the values that occur in both tables, and -1 for other values."""
    common = np.intersect1d(np.unique(real), np.unique(synthetic))
    if not common.size:
        return np.full(real.size, -1), np.full(synthetic.size, -1)
    codes = []
    for values in (real, synthetic):
        code = np.minimum(np.searchsorted(common, values), common.size - 1)
        known = common[code]
        codes.append(np.where((known == values) | (np.isnan(known) & np.isnan(values)), code, -1))
    return codes[0], codes[1]


def _occurs(columns: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return whether the combination of each real row occurs among the synthetic rows."""
    joint, n_levels = [np.zeros(part.size, dtype=np.int64) for part in columns[0]], 1
    known = [np.ones(part.size, dtype=np.bool_) for part in columns[0]]
    for column in columns:
        width = int(column[0].max(initial=-1)) + 1
        for part, codes in enumerate(column):
            joint[part] = joint[part] * width + codes
            known[part] &= codes >= 0
        n_levels *= width
    released = joint[1][known[1]]
    if n_levels <= _MAX_TABLE:
        present = np.zeros(n_levels + 1, dtype=np.bool_)
        present[released] = True
        return known[0] & present[np.where(known[0], joint[0], n_levels)]
    return known[0] & np.isin(joint[0], released)


def copied_cells(
    context: Context, places: dict[str, np.ndarray], max_rows: int, seed: int
) -> Clues:
    """Return the bits that synthetic rows reveal about cells of the most similar real rows."""
    released = drawn_positions(context, "synthetic", 2 * max_rows, seed)
    names, order = _sorted_columns(context)
    synthetic = encoded_matrix(context, "synthetic")[released][:, order]
    real = np.concatenate([encoded_matrix(context, role)[places[role]] for role in _REAL])[:, order]
    # revealed bits are divided among equal rows, whose order does not depend on their table
    comparable = np.where(np.isnan(real), np.inf, real)
    _, first, row_of, n_equal = np.unique(
        comparable, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    numeric = sorted(context.schema.columns(*NUMERIC))
    ranges, is_nominal = (of_columns[order] for of_columns in gower_scale(context, None))
    # a range is decided by few extreme values, which would hide differences of all other rows
    choices = {_ALL: (names, _WIDTH * _spreads(real))}
    if 1 < len(numeric) < len(names):
        choices[_NUMBERS] = numeric, ranges
    if _MIN_LEFT_OUT <= len(numeric) <= _MAX_LEFT_OUT:
        # the generator may have chosen the row without a column that was then sampled anew
        for name in numeric:
            others = [other for other in numeric if other != name]
            choices[f"{_NUMBERS} except {name}"] = others, ranges
    parts = [
        (known, j, rows)
        for known, (chosen, scale) in choices.items()
        for j, rows in enumerate(
            _most_similar(
                synthetic,
                real[first],
                np.where(is_nominal, 0.0, scale),
                is_nominal,
                np.array([names.index(name) for name in chosen]),
            )
        )
    ]
    n_train = places["train"].size
    scores, share = np.empty((len(parts), len(real))), np.empty(len(parts))
    possible = np.empty((len(parts), 2))
    for clue, (_, j, rows) in enumerate(parts):
        values, frequencies = real[:, j], _frequencies(real[:, j])
        similar = first[rows]
        exact = frequencies[similar]
        near = _share_as_near(values, similar, synthetic[:, j], exact, bool(is_nominal[j]))
        # 0 if all other values are as close, 1 if the value is equal
        scale = (1.0 - near) / np.maximum(1.0 - exact, _MIN_SPREAD)
        bits, most = _bits(np.log(near)) * scale, _bits(np.log(exact))
        alike = np.unique(most if is_nominal[j] else np.zeros(len(most)), return_inverse=True)[1]
        expected = (np.bincount(alike, bits) / np.bincount(alike))[alike]
        share[clue] = bits.sum() / most.sum()
        scores[clue], could = (
            (np.bincount(rows, each, n_equal.size) / n_equal)[row_of]
            for each in (bits - expected, most)
        )
        possible[clue] = could[:n_train].sum(), could[n_train:].sum()
    columns: list[tuple[str, ...]] = [(names[j],) for _, j, _ in parts]
    return Clues("copied cell", columns, [known for known, *_ in parts], scores, possible, share)


def _spreads(rows: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column, or 0 for a column without values."""
    largest = np.fmax.reduce(np.abs(rows), axis=0, initial=0.0)
    scale = np.where(largest > 0.0, largest, 1.0)  # squares of huge numbers are infinite
    # sums of the same values in another order differ in the last bit
    known = [column[~np.isnan(column)] for column in np.sort(rows / scale, axis=0).T]
    return np.array([values.std() if values.size else 0.0 for values in known]) * scale


def _most_similar(
    synthetic: np.ndarray,
    real: np.ndarray,
    scale: np.ndarray,
    is_nominal: np.ndarray,
    chosen: np.ndarray,
) -> Iterator[np.ndarray]:
    """Yield for each column the real row that is most similar to each synthetic row without it."""
    # The differences between numbers are divided by the scale and capped at 1. If the scale is 0,
    # the difference is 0 or 1.
    search = MixedNearestNeighbors(scale[chosen], is_nominal[chosen]).fit(real[:, chosen])
    _, candidates = search.kneighbors(synthetic[:, chosen], min(_N_CANDIDATES, len(real)))
    differences = {
        j: _differences(synthetic[:, j], real[:, j][candidates], scale[j]) for j in chosen
    }
    total = np.zeros(candidates.shape)
    for apart in differences.values():  # a sum of a list would copy all of them
        total += apart
    for j in range(real.shape[1]):
        # differences of sums in another order are equal
        apart = np.round(total - differences[j], 9) if j in differences else total
        yield candidates[np.arange(len(synthetic)), apart.argmin(axis=1)]


def _differences(values: np.ndarray, others: np.ndarray, scale: float) -> np.ndarray:
    """Return capped differences between values and several others, with scale 0 for categories."""
    own = values[:, None]
    if scale > 0.0:
        apart = np.minimum(np.abs(own - others) / scale, 1.0)
    else:
        apart = (own != others).astype(np.float64)
    missing = np.isnan(own), np.isnan(others)
    apart[missing[0] | missing[1]] = 1.0
    apart[missing[0] & missing[1]] = 0.0
    return apart


def _share_as_near(
    values: np.ndarray, rows: np.ndarray, guesses: np.ndarray, exact: np.ndarray, is_nominal: bool
) -> np.ndarray:
    """Return the fraction of values that are at least as close to each row as its guess."""
    own = values[rows]
    if is_nominal:
        right = (own == guesses) | (np.isnan(own) & np.isnan(guesses))
        return np.where(right, exact, 1.0)
    present = np.sort(values[~np.isnan(values)])
    apart = np.abs(own - guesses)
    with np.errstate(invalid="ignore"):
        upper = np.searchsorted(present, own + apart, side="right")
        lower = np.searchsorted(present, own - apart, side="left")
    near = np.maximum((upper - lower) / values.size, exact)
    both, either = (op(np.isnan(own), np.isnan(guesses)) for op in (np.logical_and, np.logical_or))
    return np.where(both, exact, np.where(either, 1.0, near))
