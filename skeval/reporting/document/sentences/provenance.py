"""The sentences on the origin of results."""

from __future__ import annotations

from skeval.reporting.document.numbers import count

_LIMITS = {"train": "n_max_train", "holdout": "n_max_test"}
_ROWS = {"train": "training", "holdout": "unseen", "synthetic": "synthetic"}


def sampled_sentence(role: str, n_measured: int, n_rows: int) -> str:
    """Return how many rows of a table were drawn for the evaluation, and by which limit."""
    role, _, table = role.partition("/")
    limit = f" ({_LIMITS[role]})" if role in _LIMITS else ""
    where = f" of {table}" if table else ""
    return (
        f"{count(n_measured)} of {count(n_rows)} {_ROWS.get(role, role)} rows{where} were drawn at "
        f"random and evaluated{limit}."
    )
