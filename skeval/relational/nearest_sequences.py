"""Synthetic sequences that lie nearer to a sequence of train than real ones do."""

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
from skeval.relational.sequence_metric import SequenceMetric
from skeval.relational.sequence_screen import DROP_SEQUENCES, ROLES, TAGS
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.intervals import wilson
from skeval.stats.permutation_tests import Relabelled, least_of_several, relabelling_test
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.neighbors import nearest, pool_index, reference_index
from skeval.steps.samples import named_seed, sample_positions
from skeval.steps.sequences import (
    context_of_features,
    sequence_columns,
    sequence_features,
    sequences,
    unit_name,
    units,
)
from skeval.utils.formatting import format_count, percent
from skeval.utils.parameters import Columns, Count, Fraction, Interval, Seed

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

    tags = TAGS

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
            f"{k:,} of {format_count(train.size, f'train {who}')} {'has' if k == 1 else 'have'} a "
            f"synthetic sequence at {percent(self.near)} or less of the distance to the nearest "
            f"other real one; of {format_count(holdout.size, f'holdout {who}')} "
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
    for role in ROLES:
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
    return context_of_features(frames) if all(map(len, frames.values())) else None


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
