"""Screen for parts of real sequences that occur in the synthetic sequences."""

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

_LENGTHS = (2, 3, 5, 8, 12)  # lengths that are tried if `length` is None
_ENOUGH = 0.5  # fraction of the real subjects that should have a unique part
_MAX_SHARE_MET = 0.1  # maximum fraction of them with a part in the synthetic data


@declared
class SharedSubsequences(SequenceMetric):
    """Fraction of training subjects with a unique part of their history in the synthetic data.

    An attacker knows three consecutive visits of a patient and searches for them in the synthetic
    data. If these visits occur in the synthetic data and no other real patient has the same visits,
    the history has been copied. Comparisons of whole histories or of single rows may not show this
    copy. The score ranges from 0 (no subject) to 1 (all subjects). Lower is better.

    Parameters
    ----------
    length : int, optional
        Number of consecutive rows that must match. If None, the smallest of 2, 3, 5, 8 and 12 is
        used for which at most a tenth of the real subjects is found in the synthetic data, if half
        of the subjects still have a unique part.
    columns : None, int or list of str, default=None
        Columns that must match: all except keys and index (None), the first *n*, or the named ones.
    decimals : int, optional
        Number of decimals to which numbers are rounded first. If None, 12 significant digits are
        kept.

    Warnings
    --------
    This is a distance-based screening metric, which can find a leak but cannot rule one out. One
    changed digit in each part hides a copy. Numbers that rarely repeat because `decimals` is large
    have the same effect.

    See Also
    --------
    NearestSequences : Finds histories that are copied with noise.
    skeval.privacy.ExactMatchShare : Finds copies of single rows.

    Notes
    -----
    A part consists of `length` consecutive rows of a sequence, compared in all columns except key
    and index. A part counts if exactly one real subject of the training data and the holdout has
    it, because a part of several subjects does not identify one of these subjects. If the table
    belongs to subjects, a subject has all its sequences. Otherwise, each sequence is a subject.
    Subjects without a sequence of that length are not counted.

    The baseline is the same fraction for the holdout subjects, which is the fraction expected by
    chance. Whether a part counts does not depend on the labels training and holdout. Therefore the
    p-value of Fisher's exact test on the numbers of subjects is exact for any number of rows per
    subject. The p-value is multiplied by the number of tables. ``details["synthetic_pieces"]``
    contains the fractions of synthetic parts that occur in the training data and in the holdout.

    References
    ----------
    Formula of this project.

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
            f"training {who}s with {of.length} consecutive rows of {worst}, unique to them, that "
            "occur in the synthetic data"
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
        fresh = "" if result.baseline is None else f" (holdout: {percent(result.baseline)})"
        return (
            f"For {percent(result.value)} of the training subjects{fresh}, the synthetic "
            "data contain "
            f"{length} consecutive rows that no other real subject has."
        )


@dataclass(frozen=True)
class Pieces:
    """Which subjects have a unique part, and whose part occurs in the synthetic data."""

    length: int
    n_counted: dict[str, int]
    n_found: dict[str, int]
    n_marked: dict[str, int]
    of_synthetic: dict[str, float]

    def share(self, role: str) -> float:
        """Return the fraction of a role's subjects that are found."""
        n = self.n_counted[role]
        return self.n_found[role] / n if n else float("nan")

    @property
    def p_value(self) -> float:
        """Probability of at least this number of training subjects if the labels are random."""
        pairs = ((self.n_found[role], self.n_counted[role]) for role in ("train", "holdout"))
        (k, n), (k_other, n_other) = pairs
        return share_p_value(k, n, k_other, n_other)

    @property
    def least_p(self) -> float:
        """The smallest possible p-value, if all subjects that are found are training subjects."""
        k, n = sum(self.n_found.values()), self.n_counted["train"]
        return least_p_value_of_lists(k, n, n + self.n_counted["holdout"])

    def in_words(self, who: str) -> str:
        """Return the number of subjects that are found as a fact, or an empty string."""
        k, fresh = self.n_found["train"], self.n_found["holdout"]
        if not k:
            return ""
        train, holdout = (
            format_count(self.n_counted[role], f"{role} {who}") for role in ("train", "holdout")
        )
        return (
            f"{k:,} of {train} and {fresh:,} of {holdout} have {self.length} consecutive "
            "rows in the "
            f"synthetic data that no other real {who} has."
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
        # parts of twice the length, or overlapping parts at the last step
        ahead = min(covered, length - covered)
        codes = joint_classes(np.column_stack([codes[:-ahead], codes[ahead:]]))
        covered += ahead
    return codes


@shared
def pieces(
    context: RelationalContext, table: str, length: int, columns: ColumnChoice, decimals: int | None
) -> Pieces:
    """Return the subjects with a unique part, and whose part occurs in the synthetic data."""
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
    # one row is enough if several rows of one subject have the part
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
    """Return the smallest length at which most subjects have a part and few are found."""
    # The length is based on the pooled real data, so it does not depend on the labels training and
    # holdout. If all training sequences are copied, it is the largest length at which half of the
    # subjects have a unique part.
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
