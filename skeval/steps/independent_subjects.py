"""Subjects that are independent of each other, and parts of tables that divide no subject."""

from __future__ import annotations

import numpy as np

from skeval.core.context import shared
from skeval.core.relational_context import RelationalContext
from skeval.steps.foreign_keys import subject_positions
from skeval.steps.samples import named_seed
from skeval.tables.keys import key_codes


@shared
def independent_rows(context: RelationalContext, role: str) -> dict[str, np.ndarray] | None:
    """Return for each private table the number of the subject that each of its rows belongs to."""
    # Subjects of several tables are numbered on, so that each number is unique. A row without a
    # subject has its own number. The result is None if a row belongs to several subjects, or if the
    # subject of some rows is unknown, because no two parts of such tables are independent.
    relations, data = context.relations, context.original_frame(role)
    paths = {
        (name, subject): relations.paths_to(name, subject)
        for subject in relations.subjects
        for name in relations.dependents(subject)
    }
    along = {key for ways in paths.values() for path in ways for key in path}
    private = {key for key in relations.foreign_keys if relations.role(key.parent) != "reference"}
    owned = [name for name, _ in paths]
    if relations.undetermined or private - along or len(owned) > len(set(owned)):
        return None
    numbers, n = {}, 0
    for subject in relations.subjects:
        whose = np.arange(len(data[subject]))
        if sequence := relations.sequences.get(subject):
            whose = _number_rows_alone(key_codes(*[data[subject][list(sequence.key)]] * 2)[0])
        numbers[subject], found = n + whose, int(whose.max(initial=-1)) + 1
        for name in relations.dependents(subject):
            at = subject_positions(context, role, name, subject)
            at = np.where(at >= 0, np.append(whose, -1)[np.maximum(at, -1)], -1)
            own = _number_rows_alone(at, found)
            numbers[name], found = n + own, max(found, int(own.max(initial=-1)) + 1)
        n += found
    return numbers


def _number_rows_alone(numbers: np.ndarray, first: int = 0) -> np.ndarray:
    """Give each row without a number a new number, after all others and from `first` on."""
    alone = np.flatnonzero(numbers < 0)
    numbers = numbers.copy()
    numbers[alone] = max(first, int(numbers.max(initial=-1)) + 1) + np.arange(alone.size)
    return numbers


def n_subjects(context: RelationalContext, role: str) -> int:
    """Return the number of independent subjects of a role, or 0 if it is unknown."""
    numbers = independent_rows(context, role)
    return 1 + max(int(own.max(initial=-1)) for own in numbers.values()) if numbers else 0


def subjects_in_place(
    context: RelationalContext, role: str, n: int, seed: int, n_parts: int = 1
) -> list[RelationalContext]:
    """Return contexts in which disjoint random parts of a role replace the synthetic rows."""
    numbers = independent_rows(context, role) or {}
    rng = np.random.default_rng(named_seed(role, seed))
    part = np.full(n_subjects(context, role), n_parts)
    order = rng.permutation(part.size)
    part[order[: n * n_parts]] = np.repeat(np.arange(n_parts), n)
    return [
        context.replace_role(
            role, {name: np.flatnonzero(part[own] == k) for name, own in numbers.items()}
        )
        for k in range(n_parts)
    ]
