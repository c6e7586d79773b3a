"""Attack that solves equations to find a sensitive attribute of all training records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.privacy.attacks.attacked_people import People, people
from skeval.privacy.attacks.counting_queries import column_sets, count_queries, guess_levels
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import newcombe
from skeval.stats.permutation_tests import share_p_value
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.member_rows import in_own_order
from skeval.steps.neighbors import index_of
from skeval.steps.samples import named_seed
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import BinCount, ColumnName, Columns, Count, Seed

_REAL = ("train", "holdout")
_MAX_SETS = 200
_NO_COUNT = "no count covers an attacked record, so the most common secret was guessed."
_PER_LEVEL = 0.4  # fraction of the counts if a program is solved for each of several categories


@declared
class LinearReconstructionAttack(Metric):
    r"""Excess accuracy with which an attacker solves for a sensitive attribute of training records.

    An attacker knows the quasi-identifiers of all training records (age, town, occupation) and
    wants the sensitive attribute of each. The attacker counts synthetic rows, for example the
    number of rows aged 40 to 45 in Lyon that have the attribute. A few thousand counts give the
    same number of equations in the unknown values. If the release repeats its training data closely
    enough, the solution of the equations is the true values. The same attack on holdout records
    shows the success that follows from the population. The value is the additional success on
    training records, from 0 (no leak) to 1 (all values). Lower is better.

    Parameters
    ----------
    quasi_identifiers : None, int or list of str
        The columns that the attacker knows. None uses all except the secret and the primary key.
    secret : str
        Sensitive attribute. Numbers and dates are cut into two halves. If there are more than eight
        categories, the rarest ones are pooled. Rows with a missing value are skipped.
    k : int, default=3
        Number of quasi-identifiers in a count.
    n_queries : int, optional
        Number of counts. None uses all possible counts, at most `max_queries`.
    solver : {"highs-ipm", "highs-ds", "highs"}, default="highs-ipm"
        Method of :func:`scipy.optimize.linprog`. The simplex method ("highs-ds", which "highs"
        chooses) needs ten times as long.
    scaling : {"conditional", "share"}, default="conditional"
        Equation from a count. "conditional" multiplies the number of matching records by the
        fraction of the counted synthetic rows that have the attribute. "share" multiplies the
        number of all records by the fraction of all synthetic rows that are counted and have the
        attribute.
    n_min : int, default=1
        Minimum number of records of a count. Smaller counts are skipped.
    n_bins : int, default=10
        Number of bins with equal frequencies for numbers and dates among the quasi-identifiers.
    max_rows : int, default=2000
        Maximum number of attacked records of each table. In larger tables, all records in a random
        range of the quasi-identifiers are attacked, and only synthetic rows of this range are
        counted.
    max_queries : int, default=5000
        Maximum number of counts, or two fifths of it for each category if there are more than two.
    random_state : int, default=0
        Seed of the attacked records and of the counts.

    Raises
    ------
    InvalidParameterError
        If the secret is among the quasi-identifiers, or if no quasi-identifier is left.

    Warnings
    --------
    The metric runs one attack, so a value near 0 does not clear a release.

    See Also
    --------
    RecordReconstruction : Infers all hidden columns of a record at once.
    AttributeInferenceRisk : Infers the attribute with a model fitted to the release.
    DisclosureProtection : Infers the attribute from the synthetic rows with equal known columns.

    Notes
    -----
    Let A have one row for each count and one column for each record, and let b be the answers. The
    guess is the records with :math:`y \ge 1/2` in

    .. math:: \min_{0 \le y \le 1} \lVert A y - b \rVert_1

    and for more than two categories, the category with the largest y. Records with equal
    quasi-identifiers have the same guess. The value is the fraction of correct guesses for training
    records minus the fraction for the same number of holdout records. Without a leak, the expected
    value is 0. The interval is Newcombe's. ``details`` contains both fractions, and the fractions
    for guessing the most common value of the synthetic rows (`majority`) and the value of the
    nearest synthetic row (`nearest`). If the attack is only slightly better than these guesses on
    both tables, the attack found only common knowledge, even if the fraction of correct guesses is
    high.

    The attack is strongest if training and holdout data have the same size, and the synthetic table
    is at least as large. The same number of rows is attacked in both tables, which is the size of
    the smaller table. The other rows add noise to the counts.

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
                "quasi_identifiers too. Remove it from one of them."
            )
        if not _known_columns(context.schema, self.quasi_identifiers, self.secret):
            raise MissingInputError(
                "LinearReconstructionAttack: quasi_identifiers leave no known column, because the "
                f"table has no other column to measure than {self.secret}."
            )

    def _compute(self, context: Context) -> Result:
        attacked = self._attacked_people(context)
        if attacked.n_levels < 2:
            what = "constant" if attacked.n_levels else "missing"
            return undefined_result(f"the secret {self.secret} is {what} in the real rows.")
        if not attacked.rows["train"].size:
            return undefined_result(
                f"one of the real tables has no row with a secret {self.secret}."
            )
        if not attacked.rows["synthetic"].size:
            return undefined_result("no synthetic row lies where people are attacked.")
        most = self.max_queries if attacked.n_levels == 2 else int(_PER_LEVEL * self.max_queries)
        most = max(1, most if self.n_queries is None else min(most, self.n_queries))
        seed = named_seed("queries", self.random_state)
        counting = {"n_queries": most, "n_min": self.n_min, "scaling": self.scaling, "seed": seed}
        solved = solved_secrets(attacked, self.k, self.solver, counting)
        return compare_accuracies(attacked, *solved, self.secret)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        context, attacked = in_own_order(context, self.random_state), self._attacked_people(context)
        known = _known_columns(context.schema, self.quasi_identifiers, self.secret)
        nearest = {role: _nearest_secrets(context, attacked, role, known) for role in _REAL}
        added = {
            "majority": shares_of(attacked, dict.fromkeys(_REAL, attacked.majority)),
            "nearest": shares_of(attacked, nearest),
        }
        return replace(result, details={**result.details, **added})

    def _summary(self, result: Result) -> str:
        accuracy = {role: percent(as_float(v)) for role, v in result.details["accuracy"].items()}
        majority = percent(as_float(result.details["majority"]["train"]))
        return (
            f"Solving counts of synthetic rows finds the secret of {accuracy['train']} of the "
            f"train records and of {accuracy['holdout']} of the holdout records. Guessing the most "
            f"common value finds {majority}."
        )

    def _attacked_people(self, context: Context) -> People:
        context = in_own_order(context, self.random_state)
        known = _known_columns(context.schema, self.quasi_identifiers, self.secret)
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


def compare_accuracies(
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
            f"Coarsen {secret} or the known columns, because counts of synthetic rows reveal "
            f"{secret}."
        ),
    )


def _known_columns(
    schema: TableSchema, quasi_identifiers: ColumnChoice, secret: str
) -> tuple[str, ...]:
    """Return the quasi-identifiers by name: their order must not matter."""
    skipped = {secret, *(schema.primary_key if quasi_identifiers is None else ())}
    return tuple(sorted(set(chosen_columns(schema, quasi_identifiers)) - skipped))


def _nearest_secrets(
    context: Context, attacked: People, role: str, known: tuple[str, ...]
) -> np.ndarray:
    """Return the secret of the released row that is nearest to each person in what is known."""
    released, asked = (
        encoded_matrix(context, one, "gower", known)[attacked.rows[one]]
        for one in ("synthetic", role)
    )
    index = index_of(context, released, "gower", known)
    return attacked.secrets["synthetic"][index.kneighbors(asked, 1)[1][:, 0]]
