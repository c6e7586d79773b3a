"""Synthetic sequences that lie nearer to a sequence of train than real ones do.

Pieces of real sequences that the synthetic ones repeat.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, cast

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import SCREEN_TAGS
from skeval.relational.sequences import SequenceMetric
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import wilson
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import digits_kept
from skeval.stats.permutation_tests import (
    Relabelled,
    least_of_listed,
    least_of_several,
    relabelling_test,
    share_p_value,
)
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.neighbors import nearest, pool_index, reference_index
from skeval.steps.samples import named_seed, sample_positions
from skeval.steps.sequences import (
    of_one_table,
    sequence_columns,
    sequence_features,
    sequence_values,
    sequences,
    unit_name,
    units,
)
from skeval.utils.formatting import counted, percent
from skeval.utils.parameters import Columns, Count, Fraction, Interval, Seed

_TAGS = replace(SCREEN_TAGS, needs=frozenset({"holdout", "relational"}))
_ROLES = ("train", "holdout", "synthetic")
_LENGTHS = (2, 3, 5, 8, 12)  # tried where none is given
_ENOUGH = 0.5  # share of the real subjects that should have a piece of their own
_MAX_SHARE_MET = 0.1  # share of these that may be met
DROP_SEQUENCES = (
    "Drop the sequences concerned, and limit how many rows of one subject the generator sees."
)


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

    tags = _TAGS

    length: Annotated[int, Interval(1)] | None = None
    columns: Columns = None
    decimals: Annotated[int, Interval(-15, 15)] | None = None

    def _pieces(self, context: RelationalContext, table: str) -> Pieces:
        length = self.length or telling_length(context, table, self.columns, self.decimals)
        return pieces(context, table, length, self.columns, self.decimals)

    def _is_measured(self, context: RelationalContext, table: str) -> bool:
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
        return least_of_listed(k, n, n + self.n_counted["holdout"])

    def in_words(self, who: str) -> str:
        """Return how many are found, as a fact; empty if nobody is."""
        k, fresh = self.n_found["train"], self.n_found["holdout"]
        if not k:
            return ""
        train, holdout = (
            counted(self.n_counted[role], f"{role} {who}") for role in ("train", "holdout")
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
    sizes = [sequences(context, role, table).order.size for role in _ROLES]
    codes = []
    for name in sequence_columns(context, table, columns):
        values = np.concatenate([sequence_values(context, r, table, name) for r in _ROLES])
        if kinds[name] == "continuous":
            values = digits_kept(values, decimals=decimals)
        codes.append(pd.factorize(values)[0])
    classes = joint_classes(np.column_stack(codes)) if codes else np.zeros(sum(sizes), np.int64)
    return dict(zip(_ROLES, np.split(classes, np.cumsum(sizes)[:-1]), strict=True))


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
    codes = windows(np.concatenate([rows[role] for role in _ROLES]), length)
    of: dict[str, np.ndarray] = {}
    owners: dict[str, np.ndarray] = {}
    start = n_units = 0
    for role in _ROLES:
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


_FIRST_CUT, _WIDER = 4, 1.25  # subjects at the first of the cuts, and by how much the next is wider


@declared
class NearestSequences(SequenceMetric):
    r"""Share of train's subjects to whom a synthetic sequence is nearer than any other real one is.

    An attacker looks in the release for the history that is most like a patient's. Among fresh
    patients somebody is always most like; where a synthetic history is much more like it than that
    of any other real patient, it has been copied, digits changed or not. 1 if everybody is met in
    this way.

    Parameters
    ----------
    n_points : int, default=8
        At how many evenly spaced places of a sequence values are compared, the first row and the
        last among them, in addition to the features of the whole sequence.
    near : float, default=0.1
        A synthetic sequence is very near if its distance is at most this share of that to the
        nearest other real one; such subjects are counted as a fact.
    max_sequences : int or None, default=5_000
        About how many sequences of train, and of the holdout, are looked at: all those of a seeded
        sample of subjects. They are compared with all others.
    n_permutations : int, default=1999
        Number of relabellings behind the p-value, at most.
    columns : None, int or list of str, default=None
        The columns to compare: all but keys, the first *n* of these, or names.
    random_state : int, default=0
        Seed of samples and relabellings.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    SharedSubsequences : Pieces that are copied as they are.
    skeval.privacy.DCRShare : Rows on their own.

    Notes
    -----
    A sequence is a row of features (length, times; of numbers first, last, mean, standard
    deviation, mean difference, autocorrelation; of categories first, last, how many, share of the
    most frequent pair) and of values at `n_points` places; the distance is the mean over these of
    capped differences, as in the space "gower". With :math:`d_S(x)` the distance of a real sequence
    x to the nearest synthetic one and :math:`d_R(x)` to the nearest other real one, of train or
    holdout, the ratio of a subject is the least :math:`d_S(x) / d_R(x)` over its sequences; the
    value is the share of train's subjects with a ratio below 1, the baseline that of the holdout's.

    The test looks at the 4, 5, 6, 8, 10, ... subjects of the least ratios, up to half of all: are
    more of them from train than chance explains? Its statistic is the least of the hypergeometric
    probabilities, compared with that of random choices of which subjects were train. Ratios do not
    depend on that choice, so that the p-value is exact, however many rows or sequences a subject
    has. It is multiplied by the number of tables. If both tables are of one size, four copies among
    thousands are no evidence beyond 1 in 16; the fact counts them.

    ``details["closer_to_train"]`` is the share of synthetic sequences that are nearer to train than
    to the holdout (DCR share; one half on average only where both are of equal size), and
    ``details["median_distance"]`` from the synthetic sequences to those of both.

    Train and holdout must have whole sequences: where rows were divided at random, the longer parts
    in the larger table are more like synthetic sequences, which looks like a leak.

    It misses a piece of a history within a new one.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import NearestSequences, RelationalSchema, SequenceKey
    >>> rng = np.random.default_rng(0)
    >>> def prices():
    ...     keys = {"share": np.repeat(np.arange(100), 8), "day": np.tile(np.arange(8), 100)}
    ...     return pd.DataFrame(keys | {"price": rng.normal(size=(100, 8)).cumsum(axis=1).ravel()})
    >>> train, holdout, synthetic = prices(), prices(), prices()
    >>> jitter = rng.normal(scale=0.01, size=80)
    >>> synthetic.loc[:79, "price"] = train.loc[80:159, "price"].to_numpy() + jitter  # ten shares
    >>> schema = RelationalSchema(["prices"], sequences={"prices": SequenceKey("share", "day")})
    >>> metric = NearestSequences().fit({"prices": train}, {"prices": holdout}, schema=schema)
    >>> metric.evaluate({"prices": synthetic}).p_value < 0.05
    True
    """

    tags = _TAGS

    n_points: Annotated[int, Interval(2, 100)] = 8
    near: Fraction = 0.1
    _: KW_ONLY
    max_sequences: Count | None = 5_000
    n_permutations: Count = 1999
    columns: Columns = None
    random_state: Seed = 0

    def _ratios(self, context: RelationalContext, table: str) -> dict[str, np.ndarray]:
        settings = (self.n_points, self.columns, self.max_sequences, self.random_state)
        return ratios(context, table, *settings)

    def _score_of(self, context: RelationalContext, table: str) -> float:
        return _share_below(self._ratios(context, table)["train"], 1.0)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        relational = cast("RelationalContext", context)
        of = {name: self._ratios(relational, name) for name in result.details["columns"]}
        of = {name: both for name, both in of.items() if all(r.size for r in both.values())}
        if not of:
            return result
        tests = {
            name: extremes_test(
                both["train"], both["holdout"], self.n_permutations, self.random_state
            )
            for name, both in of.items()
        }
        worst = min(tests, key=lambda name: tests[name].test.p_value)
        found, n_train = tests[worst], of[worst]["train"].size
        fresh = {name: _share_below(both["holdout"], 1.0) for name, both in of.items()}
        n_below = int((of[worst]["train"] < 1.0).sum())
        facts = (self._fact(unit_name(relational, name), **both) for name, both in of.items())
        details = {
            **result.details,
            "baseline_columns": fresh,
            "p_values": {name: one.test.p_value for name, one in tests.items()},
            "n_subjects": {n: {r: x.size for r, x in both.items()} for n, both in of.items()},
            **self._distances(relational, worst),
        }
        what = (
            f"train {unit_name(relational, worst)}s among the {found.n_nearest:,} real ones of "
            f"{worst} that a synthetic one is nearest to, compared with other real ones"
        )
        return replace(
            result,
            p_value=min(1.0, len(tests) * found.test.p_value),
            baseline=float(np.mean(list(fresh.values()))),
            interval=wilson(n_below, n_train) if len(of) == 1 else None,
            contrast=Contrast(
                what,
                found.observed,
                found.expected,
                n_tests=len(tests),
                least_p=least_of_several(
                    (both["train"].size, both["holdout"].size) for both in of.values()
                ),
            ),
            details=details,
            fact=" ".join(filter(None, facts)),
            advice=DROP_SEQUENCES,
            refit=True,
        )

    def _fact(self, who: str, train: np.ndarray, holdout: np.ndarray) -> str:
        """Say how many subjects have a synthetic sequence very near; nothing if none has."""
        k, k_fresh = (int((of <= self.near).sum()) for of in (train, holdout))
        if not k:
            return ""
        return (
            f"{k:,} of {counted(train.size, f'train {who}')} {'has' if k == 1 else 'have'} a "
            f"synthetic sequence at {percent(self.near)} or less of the distance to the nearest "
            f"other real one; of {counted(holdout.size, f'holdout {who}')} "
            f"{f'{k_fresh:,}' if k_fresh else 'none'} {'has' if k_fresh == 1 else 'have'}."
        )

    def _distances(self, context: RelationalContext, table: str) -> dict[str, Any]:
        """Return distances of the synthetic sequences to those of train and of the holdout."""
        one = cast("Context", aligned_context(context, table, self.n_points, self.columns))
        sample = {"n_query": self.max_sequences, "seed": self.random_state}
        to_train, to_holdout = (
            nearest(one, "synthetic", role, **sample)[0][:, 0]  # type: ignore[arg-type]
            for role in ("train", "holdout")
        )
        closer = (to_train < to_holdout).mean() + (to_train == to_holdout).mean() / 2.0
        medians = {"train": float(np.median(to_train)), "holdout": float(np.median(to_holdout))}
        return {"closer_to_train": float(closer), "median_distance": medians}

    def _summary(self, result: Result) -> str:
        fresh = "" if result.baseline is None else f"; to {percent(result.baseline)} of the holdout"
        tested = "" if result.contrast is None else f"; {result.contrast}"
        return (
            f"To {percent(result.value)} of those in train, a synthetic sequence is nearer than "
            f"any other real one is{fresh}{tested}."
        )


def _share_below(values: np.ndarray, limit: float) -> float:
    return float((values < limit).mean()) if values.size else float("nan")


@shared
def aligned_context(
    context: RelationalContext, table: str, n_points: int, columns: ColumnChoice
) -> Context | None:
    """Return sequences as rows of features and of values at evenly spaced places.

    None if a role has no sequence.
    """
    frames = {}
    for role in _ROLES:
        own, rows = sequences(context, role, table), context[role][table]
        features = sequence_features(context, role, table, columns)
        aligned: dict[str, Any] = {}
        for i in range(n_points):
            ranks = np.rint((own.lengths - 1) * (i / (n_points - 1))).astype(np.int64)
            places = own.order[own.offsets[:-1] + ranks]
            for name in sequence_columns(context, table, columns):
                values = rows[name].iloc[places]
                aligned[f"{name} at {i + 1} of {n_points}"] = values.array
        frames[role] = pd.concat([features, pd.DataFrame(aligned)], axis=1)
    return of_one_table(frames) if all(map(len, frames.values())) else None


@shared
def ratios(
    context: RelationalContext,
    table: str,
    n_points: int,
    columns: ColumnChoice,
    max_sequences: int | None,
    seed: int,
) -> dict[str, np.ndarray]:
    """Return the least ratio of two distances for each subject of train and of the holdout."""
    # The first is from one of its sequences to the nearest synthetic one, the second to the
    # nearest other real one.
    one = aligned_context(context, table, n_points, columns)
    if one is None or one.n_rows("train") + one.n_rows("holdout") < 2:
        return {"train": np.empty(0), "holdout": np.empty(0)}
    pool = pool_index(one, "gower")
    synthetic = reference_index(one, "synthetic", "gower", None, None, 0)
    owners = {role: units(context, role, table) for role in ("train", "holdout")}
    n_units = _n_drawn([*owners.values()], max_sequences)
    found, start = {}, 0
    for role in owners:
        of_each = owners[role]
        drawn = sample_positions(of_each.max() + 1, n_units, named_seed(role, seed))
        kept = np.flatnonzero(np.isin(of_each, drawn))
        to_synthetic = synthetic.kneighbors(pool.rows[start + kept], 1)[0][:, 0]
        nobody_is_too_far = np.full(kept.size, np.inf)
        to_real = pool.others(start + kept, 1, nobody_is_too_far)[0][:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(to_synthetic == to_real, 1.0, to_synthetic / to_real)
        found[role] = pd.Series(ratio).groupby(of_each[kept]).min().to_numpy()
        start += of_each.size
    return found


def _n_drawn(owners: list[np.ndarray], max_sequences: int | None) -> int | None:
    """Return how many subjects have `max_sequences` sequences on average; None for all."""
    # A subject is drawn with all its sequences: the least of some is larger than the least of
    # all, and which part is drawn depends on the table.
    if max_sequences is None or max(of.size for of in owners) <= max_sequences:
        return None
    n_units = sum(int(of.max()) + 1 for of in owners)
    return max(1, int(max_sequences * n_units / sum(of.size for of in owners)))


@dataclass(frozen=True)
class Extremes:
    """Whether train has more than its share of the least values."""

    test: Relabelled
    n_nearest: int
    observed: float
    expected: float


def extremes_test(
    train: np.ndarray, holdout: np.ndarray, n_permutations: int, seed: int
) -> Extremes:
    """Compare train's share of the least values with that of random choices of who was train."""
    # Cuts are made after the 4, 5, 6, 8, 10, ... least values; equal values stay together.
    # The statistic is the largest -log of the chance that as many of the values below a cut,
    # or more, are from train.
    values = np.concatenate([train, holdout])
    order, n = np.argsort(values, kind="stable"), values.size
    ascending = values[order]
    n_cuts = 1 + int(math.log(max(1.0, n / 2 / _FIRST_CUT), _WIDER))
    wanted = np.unique(np.rint(_FIRST_CUT * _WIDER ** np.arange(n_cuts)).astype(np.int64))
    ends = ascending[np.minimum(wanted, n) - 1]
    cuts = np.unique([int(np.searchsorted(ascending, end, side="right")) for end in ends])
    tails = [-hypergeom.logsf(np.arange(cut + 1) - 1, n, train.size, cut) for cut in cuts]

    def surprises(labels: np.ndarray) -> np.ndarray:
        counts = np.cumsum(labels[order[: cuts[-1]]], axis=0)[cuts - 1]
        return np.stack([tail[count] for tail, count in zip(tails, counts, strict=True)])

    test = relabelling_test(
        lambda labels: surprises(labels).max(axis=0),
        train.size,
        holdout.size,
        n_permutations=n_permutations,
        seed=seed,
    )
    actual = np.arange(n) < train.size
    cut = int(cuts[surprises(actual[:, None])[:, 0].argmax()])
    return Extremes(test, cut, float(actual[order[:cut]].mean()), train.size / n)
