"""Pieces of real sequences that the synthetic ones repeat."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, cast

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.relational.sequence_metric import SequenceMetric
from skeval.relational.sequence_screen import DROP_SEQUENCES, ROLES, TAGS
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import wilson
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import digits_kept
from skeval.stats.permutation_tests import least_of_several, least_p_value_of_lists, share_p_value
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.sequences import sequence_columns, sequence_values, sequences, unit_name, units
from skeval.utils.formatting import format_count, percent
from skeval.utils.parameters import Columns, Interval

_LENGTHS = (2, 3, 5, 8, 12)  # tried where none is given
_ENOUGH = 0.5  # share of the real subjects that should have a piece of their own
_MAX_SHARE_MET = 0.1  # share of these that may be met


@declared
class SharedSubsequences(SequenceMetric):
    """Share of train's subjects a piece of whose history the synthetic table repeats: 0 if none.

    An attacker knows three of a patient's visits in a row and looks them up in the release. If the
    release has them, and no other real patient has had the like, it has copied that history, though
    no whole history and perhaps no single row shows it. The value is 1 if everybody is found in
    this way.

    Parameters
    ----------
    length : int, optional
        How many rows in a row must agree. None takes the least of 2, 3, 5, 8 and 12 at which at
        most a tenth of the real subjects, of train and holdout together, is met, as long as half of
        them have a piece of their own.
    columns : None, int or list of str, default=None
        The columns that must agree: all but keys and index, the first *n* of these, or names.
    decimals : int, optional
        To how many decimals numbers are rounded first; None keeps 12 significant digits.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release. A digit changed in
    each piece hides it, as do numbers that hardly ever repeat if `decimals` are many.

    See Also
    --------
    NearestSequences : Histories that are copied with jitter.
    skeval.privacy.ExactMatchShare : Rows on their own.

    Notes
    -----
    A piece is `length` rows that follow each other in a sequence, compared in all columns but key
    and index. A piece counts if one real subject alone has it, in train and holdout together: what
    several have is no trace of one. A subject is a sequence, or where the table belongs to
    subjects, one of these with all its sequences. Subjects without a sequence of that length are
    not counted.

    The baseline is the same share of the holdout's subjects, which is chance. Which pieces count
    does not depend on who was in train. So the p-value, of Fisher's test on the numbers of subjects
    of both tables, is exact, however many rows a subject has. It is multiplied by the number of
    tables. ``details["synthetic_pieces"]`` has the shares of synthetic pieces that train has and
    that the holdout has.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, SharedSubsequences
    >>> rng = np.random.default_rng(0)
    >>> def visits():
    ...     keys = {"patient": np.repeat(np.arange(100), 8), "day": np.tile(np.arange(8), 100)}
    ...     return pd.DataFrame(keys | {"code": rng.integers(0, 300, 800)})
    >>> train, holdout, synthetic = visits(), visits(), visits()
    >>> synthetic.loc[:79, "code"] = train.loc[80:159, "code"].to_numpy()  # ten patients
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient", "day")})
    >>> metric = SharedSubsequences().fit({"visits": train}, {"visits": holdout}, schema=schema)
    >>> result = metric.evaluate({"visits": synthetic})
    >>> result.value > 0.1, result.p_value < 0.05
    (True, True)
    """

    tags = TAGS

    length: Annotated[int, Interval(1)] | None = None
    columns: Columns = None
    decimals: Annotated[int, Interval(-15, 15)] | None = None

    def _pieces(self, context: RelationalContext, table: str) -> Pieces:
        length = self.length or telling_length(context, table, self.columns, self.decimals)
        return pieces(context, table, length, self.columns, self.decimals)

    def _measures(self, context: RelationalContext, table: str) -> bool:
        return bool(sequence_columns(context, table, self.columns))

    def _score_of(self, context: RelationalContext, table: str) -> float:
        return self._pieces(context, table).share("train")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        relational = cast("RelationalContext", context)
        found = {name: self._pieces(relational, name) for name in result.details["columns"]}
        p_values = {name: of.p_value for name, of in found.items()}
        worst = min(p_values, key=lambda name: p_values[name])
        of, who = found[worst], unit_name(relational, worst)
        observed, expected, alone = of.share("train"), of.share("holdout"), len(found) == 1
        baselines = {name: one.share("holdout") for name, one in found.items()}
        details = {
            **result.details,
            "baseline_columns": baselines,
            "length": {name: one.length for name, one in found.items()},
            "p_values": p_values,
            "n_found": {name: dict(one.n_found) for name, one in found.items()},
            "n_counted": {name: dict(one.n_counted) for name, one in found.items()},
            "synthetic_pieces": {name: dict(one.of_synthetic) for name, one in found.items()},
        }
        facts = (one.in_words(unit_name(relational, name)) for name, one in found.items())
        what = (
            f"train {who}s with {of.length} rows of {worst} in a row, theirs alone, that stand in "
            "the synthetic table"
        )
        result = replace(result, details=details, fact=" ".join(filter(None, facts)))
        if math.isnan(observed) or math.isnan(expected):
            return result
        return replace(
            result,
            p_value=min(1.0, len(found) * p_values[worst]),
            baseline=float(np.nanmean(list(baselines.values()))),
            interval=wilson(of.n_found["train"], of.n_counted["train"]) if alone else None,
            contrast=Contrast(
                what,
                observed,
                expected,
                "of the holdout",
                n_tests=len(found),
                least_p=least_of_several(
                    (one.n_counted["train"], one.n_counted["holdout"]) for one in found.values()
                ),
                least_here=min(1.0, len(found) * min(one.least_p for one in found.values())),
            ),
            advice=DROP_SEQUENCES,
            refit=True,
        )

    def _summary(self, result: Result) -> str:
        length = result.details["length"][result.details["worst"]["column"]]
        fresh = "" if result.baseline is None else f"; of the holdout {percent(result.baseline)}"
        return (
            f"Of {percent(result.value)} of those in train, {length} rows in a row that nobody "
            f"else has stand in the synthetic table{fresh}."
        )


@dataclass(frozen=True)
class Pieces:
    """Who has a piece of their own, and whose piece the synthetic table has."""

    length: int
    n_counted: dict[str, int]
    n_found: dict[str, int]
    n_marked: dict[str, int]
    of_synthetic: dict[str, float]

    def share(self, role: str) -> float:
        """Return the share of a role's subjects who are found."""
        n = self.n_counted[role]
        return self.n_found[role] / n if n else float("nan")

    @property
    def p_value(self) -> float:
        """Chance of this many found in train, or more, if it did not matter who was there."""
        pairs = ((self.n_found[role], self.n_counted[role]) for role in ("train", "holdout"))
        (k, n), (k_other, n_other) = pairs
        return share_p_value(k, n, k_other, n_other)

    @property
    def least_p(self) -> float:
        """The least p-value for as many found: of all of them in train."""
        k, n = sum(self.n_found.values()), self.n_counted["train"]
        return least_p_value_of_lists(k, n, n + self.n_counted["holdout"])

    def in_words(self, who: str) -> str:
        """Return how many are found, as a fact; empty if nobody is."""
        k, fresh = self.n_found["train"], self.n_found["holdout"]
        if not k:
            return ""
        train, holdout = (
            format_count(self.n_counted[role], f"{role} {who}") for role in ("train", "holdout")
        )
        return (
            f"{k:,} of {train} {'has' if k == 1 else 'have'} {self.length} rows in a row that no "
            f"other real {who} has and that stand in the synthetic table; of {holdout} "
            f"{f'{fresh:,}' if fresh else 'none'} {'has' if fresh == 1 else 'have'}."
        )


@shared
def row_codes(
    context: RelationalContext, table: str, columns: ColumnChoice, decimals: int | None
) -> dict[str, np.ndarray]:
    """Return a number for each row in the order of its sequences, equal for equal rows."""
    kinds = context.relations.tables[table].kinds
    sizes = [sequences(context, role, table).order.size for role in ROLES]
    codes = []
    for name in sequence_columns(context, table, columns):
        values = np.concatenate([sequence_values(context, r, table, name) for r in ROLES])
        if kinds[name] == "continuous":
            values = digits_kept(values, decimals=decimals)
        codes.append(pd.factorize(values)[0])
    classes = joint_classes(np.column_stack(codes)) if codes else np.zeros(sum(sizes), np.int64)
    return dict(zip(ROLES, np.split(classes, np.cumsum(sizes)[:-1]), strict=True))


def windows(codes: np.ndarray, length: int) -> np.ndarray:
    """Return a number for each `length` codes in a row, equal for equal ones."""
    covered = 1
    while covered < length and codes.size:
        # pieces of twice the length, or overlapping ones at the last step
        ahead = min(covered, length - covered)
        codes = joint_classes(np.column_stack([codes[:-ahead], codes[ahead:]]))
        covered += ahead
    return codes


@shared
def pieces(
    context: RelationalContext, table: str, length: int, columns: ColumnChoice, decimals: int | None
) -> Pieces:
    """Return who has a piece of their own, and whose piece the synthetic table has."""
    rows = row_codes(context, table, columns, decimals)
    codes = windows(np.concatenate([rows[role] for role in ROLES]), length)
    of: dict[str, np.ndarray] = {}
    owners: dict[str, np.ndarray] = {}
    start = n_units = 0
    for role in ROLES:
        own = sequences(context, role, table)
        firsts = own.pairs(length - 1)
        of[role] = codes[start + firsts]
        owners[role] = n_units + units(context, role, table)[own.owners[firsts]]
        start += own.order.size
        n_units += int(units(context, role, table).max(initial=-1)) + 1
    real = np.concatenate([of["train"], of["holdout"]])
    holders = np.concatenate([owners["train"], owners["holdout"]])
    n_codes = int(max(codes.max(initial=0), 0)) + 1
    # of a piece that several rows of one subject have, one is enough
    pairs = np.unique(holders * n_codes + real)
    alone = np.bincount(pairs % n_codes, minlength=n_codes) == 1
    released = np.zeros(n_codes, dtype=bool)
    released[of["synthetic"]] = True
    n_counted, n_found, n_marked, shares = {}, {}, {}, {}
    for role in ("train", "holdout"):
        own_codes, own_owners = of[role], owners[role]
        n_counted[role] = np.unique(own_owners).size
        n_marked[role] = np.unique(own_owners[alone[own_codes]]).size
        n_found[role] = np.unique(own_owners[(alone & released)[own_codes]]).size
        known = np.isin(of["synthetic"], own_codes)
        shares[role] = float(known.mean()) if known.size else float("nan")
    return Pieces(length, n_counted, n_found, n_marked, shares)


def telling_length(
    context: RelationalContext, table: str, columns: ColumnChoice, decimals: int | None
) -> int:
    """Get the least length at which most real subjects have a piece and few are met by chance."""
    # It goes by train and holdout together, so that it does not depend on who was in train:
    # where all of train is copied, it is the longest at which half of the subjects have a
    # piece of their own.
    n_real = sum(np.unique(units(context, role, table)).size for role in ("train", "holdout"))
    marked, telling = {}, None
    for length in _LENGTHS:
        of = pieces(context, table, length, columns, decimals)
        marked[length] = sum(of.n_marked.values())
        if marked[length] >= _ENOUGH * n_real:
            telling = length
            if sum(of.n_found.values()) <= _MAX_SHARE_MET * marked[length]:
                break
        elif telling is not None:
            break
    return telling or max(marked, key=lambda length: marked[length])
