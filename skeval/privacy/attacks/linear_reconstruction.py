"""The secret of everyone in train, solved from counts of synthetic rows.

People whose secrets are reconstructed, and counts solved for the secrets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.results.result import Result, undefined
from skeval.results.verdict import Contrast
from skeval.stats.disclosure import joint_classes
from skeval.stats.intervals import newcombe
from skeval.stats.relabelling import share_p_value
from skeval.steps.member_rows import drawing_order, in_drawing_order
from skeval.steps.neighbors import encoded, index_of
from skeval.steps.samples import ColumnChoice, chosen_columns, named_seed
from skeval.tables.preprocessing import NOMINAL, Cells, inner_edges, numbers
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import BinCount, ColumnName, Columns, Count, Seed

_MAX_LEVELS = 8
_ROLES = ("train", "holdout", "synthetic")
_HALF = 0.5 - 1e-9  # what rounding leaves of one half


@shared
def in_own_order(context: Context, seed: int) -> Context:
    """Return a context whose synthetic rows have a random order of their own.

    The first of equally near rows is taken, which must not depend on the order of the table.
    """
    order = drawing_order(context, "synthetic", seed)
    return context.standing_in(context.synthetic.iloc[order].reset_index(drop=True))


@shared
def secrets(context: Context, secret: str) -> tuple[dict[str, np.ndarray], int]:
    """Return a column as levels: numbers and dates in two halves, rare categories as one level."""
    if context.schema.kinds[secret] in NOMINAL:
        codes = {role: context[role][secret].cat.codes.to_numpy(np.int64) for role in _ROLES}
    else:
        codes = _halves({role: numbers(context[role][[secret]]).ravel() for role in _ROLES})
    real = np.concatenate([codes[role] for role in ("train", "holdout")])
    counts = np.bincount(real[real >= 0], minlength=max(int(c.max()) for c in codes.values()) + 1)
    by_frequency = np.argsort(-counts, kind="stable")
    n_present = int((counts > 0).sum())
    n_levels = min(n_present, _MAX_LEVELS)
    level = np.full(counts.size + 1, -1)
    level[by_frequency] = np.minimum(np.arange(counts.size), n_levels - 1)
    level[by_frequency[n_present:]] = n_levels
    return {role: level[own] for role, own in codes.items()}, n_levels


def _halves(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return 1 above, 0 up to what divides the real rows most evenly; -1 if missing."""
    real = np.concatenate([values[role] for role in ("train", "holdout")])
    distinct, counts = np.unique(real[~np.isnan(real)], return_counts=True)
    cut = np.inf
    if distinct.size > 1:
        shares = np.cumsum(counts)[:-1] / counts.sum()
        cut = distinct[np.abs(shares - 0.5).argmin()]
    return {
        role: np.where(np.isnan(own), -1, own > cut).astype(np.int64)
        for role, own in values.items()
    }


@dataclass(frozen=True)
class People:
    """A part of the population in which everyone is attacked: rows of the three tables."""

    rows: Mapping[str, np.ndarray]
    codes: Mapping[str, np.ndarray]
    secrets: Mapping[str, np.ndarray]
    n_levels: int

    @property
    def majority(self) -> int:
        """The most common level of the synthetic rows."""
        counts = np.bincount(self.secrets["synthetic"], minlength=self.n_levels)
        return int(counts[: self.n_levels].argmax())


@shared
def people(
    context: Context, columns: tuple[str, ...], secret: str, n_bins: int, max_rows: int, seed: int
) -> People:
    """Return the rows to attack: all, or those alike in a few columns where there are too many."""
    # Counts identify single people only where everyone who is counted is known. A random
    # sample of a large table would leave most of them out; a part that a range of values
    # marks off leaves none.
    levels, n_levels = secrets(context, secret)
    kept = {role: np.flatnonzero(levels[role] >= 0) for role in _ROLES}
    codes = {role: _codes(context, role, columns, n_bins) for role in _ROLES}
    rng = np.random.default_rng(named_seed("people", seed))
    inside = _part({role: codes[role][kept[role]] for role in _ROLES}, max_rows, rng)
    rows = {role: kept[role][inside[role]] for role in _ROLES}
    n_rows = min(max_rows, *(rows[role].size for role in ("train", "holdout")))
    for role in ("train", "holdout"):  # how well it goes depends on their number
        rows[role] = rows[role][in_drawing_order(context, role, rows[role], seed)[:n_rows]]
    known, hidden = ({role: one[role][rows[role]] for role in _ROLES} for one in (codes, levels))
    return People(rows, known, hidden, n_levels)


def _part(
    codes: Mapping[str, np.ndarray], max_rows: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return which rows lie in a random range of the lexicographic order of the real rows."""
    n_train, n_holdout = (len(codes[role]) for role in ("train", "holdout"))
    fewest = min(n_train, n_holdout)
    if fewest <= max_rows:
        return {role: np.ones(len(part), dtype=np.bool_) for role, part in codes.items()}
    order = rng.permutation(codes["train"].shape[1])
    joint = joint_classes(np.concatenate([codes[role][:, order] for role in _ROLES]))
    keys = dict(zip(_ROLES, np.split(joint, [n_train, n_train + n_holdout]), strict=True))
    real = np.sort(np.concatenate([keys["train"], keys["holdout"]]))
    width = int(max_rows * real.size / fewest)
    start = int(rng.integers(real.size - width + 1))
    low, high = real[start], real[start + width - 1]
    return {role: (key >= low) & (key <= high) for role, key in keys.items()}


def _codes(context: Context, role: str, columns: tuple[str, ...], n_bins: int) -> np.ndarray:
    """Return one code a value: categories as they are, numbers in bins; missing is one of them."""
    coded = np.empty((context.n_rows(role), len(columns)), dtype=np.int64)
    for j, name in enumerate(columns):
        if context.schema.kinds[name] in NOMINAL:
            coded[:, j] = context[role][name].cat.codes
        else:
            coded[:, j] = _bins(context, name, n_bins).codes(numbers(context[role][[name]]).ravel())
    return coded


@shared
def _bins(context: Context, column: str, n_bins: int) -> Cells:
    """Return bins of equal share of train and holdout together: edges must not tell them apart."""
    real = np.concatenate(
        [numbers(context[role][[column]]).ravel() for role in ("train", "holdout")]
    )
    edges = inner_edges(real[np.isfinite(real)], n_bins, "quantile")
    return Cells(0, edges=np.empty(0)) if edges is None else Cells(len(edges) + 1, edges=edges)


@dataclass(frozen=True)
class Queries:
    """Counts of people with given values in a few columns, and what the release says of them."""

    members: csr_array
    matches: np.ndarray
    secrets: np.ndarray

    def answers(self, scaling: str, n_people: int, n_released: int) -> np.ndarray:
        """Return how many of the people counted seem to have each level of the secret."""
        if scaling == "share":
            return self.secrets * (n_people / n_released)
        counted = np.asarray(self.members.sum(axis=1)).ravel()
        return np.asarray(self.secrets * (counted / self.matches)[:, None])


def solve_counts(members: csr_array, answers: np.ndarray, solver: str = "highs-ipm") -> np.ndarray:
    """Return who has a secret, as the shares that explain counts of it best."""
    # Source: C. Dwork, F. McSherry, K. Talwar, "The price of privacy and the limits of LP
    # decoding", STOC 2007, doi:10.1145/1250790.1250804.
    n_queries, n_people = members.shape
    surplus = identity(n_queries, format="csr")
    system = hstack([csr_array(members, dtype=np.float64), surplus, -surplus], format="csc")
    bounds = np.zeros((system.shape[1], 2))
    bounds[:n_people, 1], bounds[n_people:, 1] = 1.0, np.inf
    costs = np.repeat([0.0, 1.0], [n_people, 2 * n_queries])
    program = {"A_eq": system, "b_eq": answers, "bounds": bounds}
    solved = linprog(costs, method=solver, **program)
    if solved.x is None:  # there is a solution always; the simplex method finds it at some length
        solved = linprog(costs, method="highs-ds", **program)
    return np.asarray(np.clip(solved.x[:n_people], 0.0, 1.0))


def guess_levels(
    queries: Queries, answers: np.ndarray, default: int, solver: str = "highs-ipm"
) -> np.ndarray:
    """Return the level of the secret of each kind of people that the answers speak for."""
    # One level against all others, for each level but the first of two; the level with the
    # largest share is guessed, the first of them where several are.
    n_levels = answers.shape[1]
    counted = np.bincount(queries.members.indices, minlength=queries.members.shape[1]) > 0
    if n_levels == 2:
        guesses = (solve_counts(queries.members, answers[:, 1], solver) >= _HALF).astype(np.int64)
    else:
        solved = [solve_counts(queries.members, answer, solver) for answer in answers.T]
        guesses = np.argmax(np.round(solved, 9), axis=0)
    return np.where(counted, guesses, default)


def column_sets(n_columns: int, size: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """Return all sets of `size` columns, or a random choice of them where there are too many."""
    size = min(size, n_columns)
    if comb(n_columns, size) <= most:
        return list(combinations(range(n_columns), size))
    rng = np.random.default_rng(seed)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(n_columns, size, replace=False).tolist())))
    return sorted(drawn)


def count_queries(
    people: np.ndarray,
    weights: np.ndarray,
    released: np.ndarray,
    secrets: np.ndarray,
    *,
    sets: list[tuple[int, ...]],
    n_levels: int,
    n_queries: int,
    n_min: int = 1,
    scaling: str = "conditional",
    seed: int = 0,
) -> Queries:
    """Return counts of people by their values in sets of columns, as many as are asked for."""
    parts = [
        _counts(people[:, columns], weights, released[:, columns], secrets, n_levels)
        for columns in map(list, sets)
    ]
    classes, *counts = zip(*parts, strict=True)
    counted, matches, levels = (np.concatenate(one) for one in counts)
    usable = np.flatnonzero((counted >= n_min) & ((matches > 0) | (scaling == "share")))
    if usable.size > n_queries:
        drawn = np.random.default_rng(seed).choice(usable.size, n_queries, replace=False)
        usable = usable[np.sort(drawn)]
    # which kinds of people the usable queries count, and how many of each
    row_of = np.full(counted.size, -1)
    row_of[usable] = np.arange(usable.size)
    starts = np.cumsum([0, *(part.size for part in counts[0])])[:-1]
    rows = np.concatenate([row_of[start + own] for start, own in zip(starts, classes, strict=True)])
    kinds = np.tile(np.arange(weights.size), len(classes))
    where = rows[rows >= 0], kinds[rows >= 0]
    shape = (usable.size, weights.size)
    members = csr_array((weights[where[1]].astype(np.float64), where), shape=shape)
    return Queries(members, matches[usable], levels[usable])


def _counts(
    people: np.ndarray,
    weights: np.ndarray,
    released: np.ndarray,
    secrets: np.ndarray,
    n_levels: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the class of each kind of people, and by class people, released rows and levels."""
    joint = joint_classes(np.concatenate([people, released]))
    of_people, of_released = joint[: len(people)], joint[len(people) :]
    present, classes = np.unique(of_people, return_inverse=True)
    place = np.full(int(joint.max()) + 1, -1)
    place[present] = np.arange(present.size)
    at, width = place[of_released], n_levels + 1
    shared_class = at >= 0
    cells = at[shared_class] * width + secrets[shared_class]
    table = np.bincount(cells, minlength=present.size * width).reshape(present.size, width)
    sizes = np.bincount(classes.ravel(), weights=weights, minlength=present.size)
    return classes.ravel(), sizes, table.sum(axis=1), table[:, :n_levels]


_REAL = ("train", "holdout")
_MAX_SETS = 200
_NO_COUNT = "no count of synthetic rows is of anyone: the most common secret was guessed."
_PER_LEVEL = 0.4  # share of the counts, where a program is solved for each of several levels


@declared
class LinearReconstructionAttack(Metric):
    r"""How much better secrets of train are solved than others': 0 for no leak, 1 for all of them.

    An attacker knows the quasi-identifiers of everyone in the training table (age, town,
    occupation) and wants a secret of each. They count synthetic rows: how many of those aged 40 to
    45 in Lyon have it. A few thousand such counts are as many equations in the unknown secrets, and
    if the release repeats its table closely enough, their solution is the secrets themselves. The
    same attack is tried on people of the holdout. What it finds of them follows from the
    population, and the value is what it finds of train beyond that.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str
        The columns that are known. None takes all but the secret and the primary key.
    secret : str
        The column that is wanted. Numbers and dates are cut in two halves; of more than eight
        categories the rarest are one. Rows where it is missing are left out.
    k : int, default=3
        How many quasi-identifiers a count looks at.
    n_queries : int, optional
        Number of counts; as many as there are, `max_queries` at most, if not given.
    solver : {"highs-ipm", "highs-ds", "highs"}, default="highs-ipm"
        The method of :func:`scipy.optimize.linprog`. The simplex method ("highs-ds", which "highs"
        chooses) takes ten times as long.
    scaling : {"conditional", "share"}, default="conditional"
        What a count says of its people: their number times the share of the synthetic rows counted
        that have the secret; or the number of all people times the share of all synthetic rows that
        are counted and have the secret.
    n_min : int, default=1
        Counts of fewer people are left out.
    n_bins : int, default=10
        Into how many bins of equal share numbers and dates among the quasi-identifiers are cut.
    max_rows : int, default=2000
        People of each table that are attacked. In larger tables these are all who lie in a random
        range of the quasi-identifiers, and only synthetic rows of that range are counted.
    max_queries : int, default=5000
        Number of counts at most; two fifths of it for each level of a secret of more than two.
    random_state : int, default=0
        Seed of the people and of the counts.

    Raises
    ------
    InvalidParameterError
        If the secret is among the quasi-identifiers, or none is left.

    Warnings
    --------
    It is one attack: a value about 0 does not clear a release.

    See Also
    --------
    RecordReconstruction : All hidden columns of a record at once.
    AttributeInferenceRisk : A model learned from the release guesses the secret.
    DisclosureProtection : Looks up the rows that have a person's known columns.

    Notes
    -----
    With one row of A for each count and one column for each person, and the answers b, the guess is
    who has :math:`y \ge 1/2` in

    .. math:: \min_{0 \le y \le 1} \lVert A y - b \rVert_1

    and of more than two levels, the one with the largest y. People with equal quasi-identifiers get
    one guess. The value is the share of right guesses on train less that on as many rows of the
    holdout; its null value is 0, and the interval is Newcombe's. ``details`` has both shares, those
    of guessing the most common secret of the synthetic rows (`majority`) and that of the nearest
    synthetic row (`nearest`). An attack that does little better than these on both tables has
    found nothing but common knowledge, however large its share of right guesses.

    It is strongest if train and holdout have the same size, and the synthetic table is no smaller:
    only as many rows of the larger table are attacked as the smaller one has, and those left out
    blur the counts.

    References
    ----------
    M. S. M. S. Annamalai, A. Gadotti, L. Rocher, "A linear reconstruction approach for attribute
    inference attacks against synthetic data", USENIX Security 2024, arXiv:2301.10053. The contrast
    with the holdout, and the restriction to a range in large tables, are ours.

    I. Dinur, K. Nissim, "Revealing information while preserving privacy", PODS 2003,
    doi:10.1145/773153.773173.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import LinearReconstructionAttack
    >>> train, holdout, fresh = (make_mixed(random_state=seed) for seed in range(3))
    >>> attack = LinearReconstructionAttack(None, "member", random_state=0).fit(train, holdout)
    >>> leak = attack.evaluate(train)
    >>> leak.value > 0.1, leak.details["accuracy"]["train"] > 0.95
    (True, True)
    >>> attack.evaluate(fresh).p_value > 0.025
    True
    """

    tags = replace(ATTACK_TAGS, bounds=(-1.0, 1.0), risks=frozenset({"inference"}))

    quasi_identifiers: Columns
    secret: ColumnName
    k: Count = 3
    _: KW_ONLY
    n_queries: Count | None = None
    solver: Literal["highs-ipm", "highs-ds", "highs"] = "highs-ipm"
    scaling: Literal["conditional", "share"] = "conditional"
    n_min: Count = 1
    n_bins: BinCount = 10
    max_rows: Count = 2000
    max_queries: Count = 5000
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        named = isinstance(self.quasi_identifiers, list | tuple)
        if named and self.secret in chosen_columns(context.schema, self.quasi_identifiers):
            raise InvalidParameterError(
                f"LinearReconstructionAttack: secret names {self.secret}, which is among "
                "quasi_identifiers too. Take it out of one of them."
            )
        if not _known(context.schema, self.quasi_identifiers, self.secret):
            raise MissingInputError(
                "LinearReconstructionAttack: quasi_identifiers leave no column that is known; the "
                f"table has none to measure but {self.secret}."
            )

    def _compute(self, context: Context) -> Result:
        attacked = self._attacked(context)
        if attacked.n_levels < 2:
            what = "constant" if attacked.n_levels else "missing"
            return undefined(f"the secret {self.secret} is {what} in the real rows.")
        if not attacked.rows["train"].size:
            return undefined(f"one of the real tables has no row with a secret {self.secret}.")
        if not attacked.rows["synthetic"].size:
            return undefined("no synthetic row lies where people are attacked.")
        most = self.max_queries if attacked.n_levels == 2 else int(_PER_LEVEL * self.max_queries)
        most = max(1, most if self.n_queries is None else min(most, self.n_queries))
        seed = named_seed("queries", self.random_state)
        counting = {"n_queries": most, "n_min": self.n_min, "scaling": self.scaling, "seed": seed}
        solved = solved_secrets(attacked, self.k, self.solver, counting)
        return compared(attacked, *solved, self.secret)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        context, attacked = in_own_order(context, self.random_state), self._attacked(context)
        known = _known(context.schema, self.quasi_identifiers, self.secret)
        nearest = {role: _nearest_released(context, attacked, role, known) for role in _REAL}
        added = {
            "majority": shares_of(attacked, dict.fromkeys(_REAL, attacked.majority)),
            "nearest": shares_of(attacked, nearest),
        }
        return replace(result, details={**result.details, **added})

    def _summary(self, result: Result) -> str:
        accuracy = {role: percent(as_float(v)) for role, v in result.details["accuracy"].items()}
        majority = percent(as_float(result.details["majority"]["train"]))
        return (
            f"Solving counts of synthetic rows finds the secret of {accuracy['train']} of train "
            f"people and of {accuracy['holdout']} of others; guessing the most common one finds "
            f"{majority}."
        )

    def _attacked(self, context: Context) -> People:
        context = in_own_order(context, self.random_state)
        known = _known(context.schema, self.quasi_identifiers, self.secret)
        return people(context, known, self.secret, self.n_bins, self.max_rows, self.random_state)


def solved_secrets(
    attacked: People, k: int, solver: str, counting: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Return guesses of the secrets by role, and numbers of counts.

    `counting` are parameters of :func:`count_queries`, whose sets are of `k` columns.
    """
    codes, released = attacked.codes, attacked.secrets["synthetic"]
    sets = column_sets(codes["synthetic"].shape[1], k, _MAX_SETS, counting["seed"])
    settings: dict[str, Any] = {**counting, "sets": sets, "n_levels": attacked.n_levels}
    guesses, n_queries = {}, {}
    for role in _REAL:
        kinds, kind, sizes = np.unique(codes[role], axis=0, return_inverse=True, return_counts=True)
        queries = count_queries(kinds, sizes, codes["synthetic"], released, **settings)
        levels, n_queries[role] = np.full(len(kinds), attacked.majority), queries.matches.size
        if n_queries[role]:
            answers = queries.answers(counting["scaling"], kind.size, released.size)
            levels = guess_levels(queries, answers, attacked.majority, solver)
        guesses[role] = levels[kind.ravel()]
    return guesses, n_queries


def shares_of(attacked: People, guesses: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of guesses that are right, by role."""
    return {role: float((one == attacked.secrets[role]).mean()) for role, one in guesses.items()}


def compared(
    attacked: People, guesses: Mapping[str, np.ndarray], n_queries: Mapping[str, int], secret: str
) -> Result:
    """Return by how much more often the guesses are right on train than on the holdout."""
    accuracy, n_people = shares_of(attacked, guesses), attacked.rows["train"].size
    on_train, on_holdout = (round(share * n_people) for share in accuracy.values())
    shares = on_train / n_people, on_holdout / n_people
    what = f"train people whose {secret} is solved from counts of synthetic rows"
    return Result(
        (on_train - on_holdout) / n_people,
        interval=newcombe(on_train, n_people, on_holdout, n_people),
        p_value=share_p_value(on_train, n_people, on_holdout, n_people),
        baseline=0.0,
        details={
            "accuracy": accuracy,
            "n_people": n_people,
            "n_queries": n_queries,
            "n_synthetic": attacked.rows["synthetic"].size,
            "n_levels": attacked.n_levels,
        },
        warnings=() if all(n_queries.values()) else (DegenerateInputWarning(_NO_COUNT),),
        contrast=Contrast(what, *shares, "of holdout people"),
        advice=(
            f"Coarsen {secret} or the columns that are known of everyone: counts of synthetic rows "
            f"give {secret} away."
        ),
    )


def _known(schema: TableSchema, quasi_identifiers: ColumnChoice, secret: str) -> tuple[str, ...]:
    """Return the quasi-identifiers by name: their order must not matter."""
    left_out = {secret, *(schema.primary_key if quasi_identifiers is None else ())}
    return tuple(sorted(set(chosen_columns(schema, quasi_identifiers)) - left_out))


def _nearest_released(
    context: Context, attacked: People, role: str, known: tuple[str, ...]
) -> np.ndarray:
    """Return the secret of the released row that is nearest to each person in what is known."""
    released, asked = (
        encoded(context, one, "gower", known)[attacked.rows[one]] for one in ("synthetic", role)
    )
    index = index_of(context, released, "gower", known)
    return attacked.secrets["synthetic"][index.kneighbors(asked, 1)[1][:, 0]]
