"""Screen for synthetic sequences that are closer to a training sequence than real ones are."""

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

_FIRST_CUT, _WIDER = 4, 1.25  # subjects at the first cut, and the growth factor of the cuts


@declared
class NearestSequences(SequenceMetric):
    r"""Fraction of training subjects with a synthetic sequence closer than any other real one.

    An attacker searches the synthetic data for the history that is most similar to a patient's
    history. New patients also have a most similar synthetic history. However, if a synthetic
    history is much more similar than the history of any other real patient, it has been copied,
    even if digits were changed. The score ranges from 0 (no subject) to 1 (all subjects). Lower is
    better.

    Parameters
    ----------
    n_points : int, default=8
        Number of evenly spaced positions of a sequence, including the first and last row, at which
        values are compared. They are used in addition to the features of the whole sequence.
    near : float, default=0.1
        A synthetic sequence is very close if its distance is at most this fraction of the distance
        to the nearest other real sequence. Such subjects are counted as a fact.
    max_sequences : int or None, default=5_000
        Approximate number of sequences from the training data and from the holdout that are
        evaluated. All sequences of a random sample of subjects are used. They are compared with all
        other sequences.
    n_permutations : int, default=1999
        Maximum number of permutations for the p-value.
    columns : None, int or list of str, default=None
        Columns to compare: all except keys (None), the first *n*, or the named ones.
    random_state : int, default=0
        Seed of samples and relabelings.

    Warnings
    --------
    This is a distance-based screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    SharedSubsequences : Finds parts of histories that are copied without changes.
    skeval.privacy.DCRShare : A screen for single rows.

    Notes
    -----
    A sequence is represented by a row of features and values. The features are the length and the
    times, the first, last and mean value, standard deviation, mean difference and autocorrelation
    of numerical columns, and the first and last category, number of categories and fraction of the
    most frequent pair of categorical columns. The values are those at `n_points` positions. The
    distance is the mean of the differences (between 0 and 1) of the features, as in the space
    "gower". Let :math:`d_S(x)` be the distance of a real sequence x to the nearest synthetic
    sequence and :math:`d_R(x)` the distance to the nearest other real sequence, from the training
    data or the holdout. The ratio of a subject is the minimum of :math:`d_S(x) / d_R(x)` over the
    sequences of the subject. The value is the fraction of training subjects with a ratio below 1,
    and the baseline is the same fraction of the holdout subjects.

    The test uses the 4, 5, 6, 8, 10, ... subjects with the smallest ratios, up to half of all
    subjects, and checks whether they include more training subjects than expected by chance. Its
    statistic is the minimum of the hypergeometric probabilities, which is compared with its values
    after random permutations of the labels training and holdout. Ratios do not depend on the
    labels, so the p-value is exact for any number of rows or sequences per subject. The p-value is
    multiplied by the number of tables. If training data and holdout have the same size, four copies
    among thousands cannot give a p-value below 1/16, but the fact counts them.

    ``details["closer_to_train"]`` is the fraction of synthetic sequences that are closer to the
    training data than to the holdout (DCR share). This fraction is one half on average only if the
    training data and the holdout have the same size. ``details["median_distance"]`` contains the
    median distances from the synthetic sequences to both.

    Training data and holdout must contain whole sequences. If rows were split at random, the longer
    parts in the larger table are more similar to synthetic sequences, which looks like a leak.

    The metric does not find a copied part of a history within a new history.

    References
    ----------
    Formula of this project.

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
            f"training {unit_name(relational, worst)}s among the {found.n_nearest:,} real ones in "
            f"{worst} that are closest to a synthetic one, compared with other real ones"
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
        """Return how many subjects have a very close synthetic sequence, or nothing for none."""
        k, k_fresh = (int((of <= self.near).sum()) for of in (train, holdout))
        if not k:
            return ""
        return (
            f"{k:,} of {format_count(train.size, f'training {who}')} and {k_fresh:,} of "
            f"{format_count(holdout.size, f'holdout {who}')} have a synthetic sequence at "
            f"{percent(self.near)} or less of the distance to the nearest other real one."
        )

    def _distances(self, context: RelationalContext, table: str) -> dict[str, Any]:
        """Return distances of the synthetic sequences to the training and the holdout sequences."""
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
        fresh = "" if result.baseline is None else f" (holdout: {percent(result.baseline)})"
        tested = "" if result.contrast is None else f"; {result.contrast}"
        return (
            f"For {percent(result.value)} of the training subjects{fresh}, a synthetic sequence is "
            f"closer than any other real one{tested}."
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
    """Return the minimum ratio of two distances for each training and holdout subject."""
    # The first distance is from a sequence of the subject to the nearest synthetic sequence, the
    # second to the nearest other real sequence.
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
    # A subject is drawn with all its sequences, because the minimum of a part is larger than the
    # minimum of all, and the size of the part depends on the table.
    if max_sequences is None or max(of.size for of in owners) <= max_sequences:
        return None
    n_units = sum(int(of.max()) + 1 for of in owners)
    return max(1, int(max_sequences * n_units / sum(of.size for of in owners)))


@dataclass(frozen=True)
class Extremes:
    """Whether the training data have more of the smallest values than expected."""

    test: Relabelled
    n_nearest: int
    observed: float
    expected: float


def extremes_test(
    train: np.ndarray, holdout: np.ndarray, n_permutations: int, seed: int
) -> Extremes:
    """Compare the training fraction of the smallest values with random permutations of labels."""
    # Cuts are made after the 4, 5, 6, 8, 10, ... smallest values, and equal values stay together.
    # The statistic is the maximum of -log of the probability that at least the observed number of
    # values below a cut belong to the training data.
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
