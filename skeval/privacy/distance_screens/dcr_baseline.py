"""Distance to the closest record, compared with that of random rows."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.parameters import Columns, Count, Seed, Space
from skeval.privacy.distance_screens.dcr import check_iterations, iteration_seeds
from skeval.privacy.distance_screens.percentiles import median_test
from skeval.result import Result, undefined
from skeval.stats.percentiles import bootstrap_percentiles
from skeval.steps.neighbors import as_matrix, kept_features, nearest, preprocessor, reference_index
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags

_N_BOOTSTRAP = 500


class DCRBaselineProtection(Metric):
    """Distance to train relative to that of random rows: 1 as far as noise, 0 on the train rows.

    The median distance of synthetic rows to their nearest train row, over that of rows whose
    columns are drawn at random and independently between the extremes of train. Rows of noise are
    no yardstick for privacy, and a faithful table cannot reach 1: compare with the baseline, the
    score of holdout rows.

    Parameters
    ----------
    n_random_repeats : int, default=5
        Number of random tables; the value is the mean over them.
    max_random_rows : int or None, default=5_000
        At most so many rows in a random table, None for as many as there are synthetic ones. The
        median does not depend on their number but for its noise, which the interval holds.
    num_rows_subsample : int or None, default=None
        If given, so many rows of each table are drawn, `num_iterations` times, and the values
        averaged.
    num_iterations : int, default=1
        Number of draws; more than one needs `num_rows_subsample`.
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the random rows, draws, relabellings and resamples.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`.

    Notes
    -----
    ``min(1, median nn(S, T) / median nn(U, T))``, U random rows: whole numbers where
    train has whole numbers only, categories uniform over those of train, missing at the column's
    rate. nan if the random rows' median is 0. The interval resamples both medians. With a holdout,
    the p-value is that of `HoldoutDistanceRatio`: the median distance to the holdout minus that to
    train is held against random choices of which real rows were train. This is a distance screen:
    it can raise an alarm and cannot clear a release.

    References
    ----------
    Published under this name by SDMetrics, with one unseeded random table.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DCRBaselineProtection
    >>> table = make_mixed()
    >>> DCRBaselineProtection().fit(table).score(table)
    0.0
    """

    tags = MetricTags("privacy", greater_is_better=True, bounds=(0.0, 1.0), evidence="screen")

    def __init__(
        self,
        n_random_repeats: Count = 5,
        *,
        max_random_rows: Count | None = 5_000,
        num_rows_subsample: Count | None = None,
        num_iterations: Count = 1,
        n_permutations: Count = 200,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_random_repeats = n_random_repeats
        self.max_random_rows = max_random_rows
        self.num_rows_subsample = num_rows_subsample
        self.num_iterations = num_iterations
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_iterations(self)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        seeds = list(iteration_seeds(self))
        draws = [self._ratios(context, seed) for seed in seeds]
        values = np.array([np.minimum(1.0, ratios).mean() for ratios, *_ in draws])
        if np.isnan(values).any():
            return undefined(
                "half of the random rows lie on train rows: no distance to compare with."
            )
        replicates = np.mean([bootstrap for *_, bootstrap in draws], axis=0)
        low, high = np.quantile(replicates, [0.025, 0.975])
        value = float(values.mean())
        return Result(
            value,
            interval=(min(float(low), value), max(float(high), value)),
            p_value=self._p_value(context) if "holdout" in context else None,
            details={
                "median_synthetic": float(np.mean([medians[0] for _, medians, _ in draws])),
                "median_random": float(np.mean([medians[1] for _, medians, _ in draws])),
                "between_repeats": float(np.mean([ratios.std() for ratios, *_ in draws])),
                "between_iterations": float(values.std(ddof=1)) if len(values) > 1 else 0.0,
            },
        )

    def _p_value(self, context: Context) -> float:
        """Test whether synthetic rows are closer to train than to the holdout."""
        columns = column_key(context.schema, self.columns)
        settings = (self.space, columns, self.n_permutations, self.random_state)
        return median_test(context, *settings).p_value

    def _ratios(
        self, context: Context, seed: int
    ) -> tuple[np.ndarray, tuple[float, float], np.ndarray]:
        """Return the ratio of each repeat, the medians behind them and bootstrapped values."""
        n = self.num_rows_subsample
        found, _ = nearest(
            context,
            "synthetic",
            "train",
            n_query=n,
            n_reference=n,
            space=self.space,
            columns=self.columns,
            seed=seed,
        )
        synthetic = found[:, 0]
        n_random = min(synthetic.size, self.max_random_rows or synthetic.size)
        columns = column_key(context.schema, self.columns)
        random = [
            random_distances(context, n_random, n, self.space, columns, seed, repeat)
            for repeat in range(self.n_random_repeats)
        ]
        medians = np.array([np.median(distances) for distances in random])
        rng = np.random.default_rng([seed, 1])
        above = bootstrap_percentiles(synthetic, 0.5, _N_BOOTSTRAP, rng)
        below = np.array(
            [bootstrap_percentiles(distances, 0.5, _N_BOOTSTRAP, rng) for distances in random]
        )
        with_chance = np.minimum(1.0, _quotient(above, below)).mean(axis=0)
        ratios = _quotient(np.median(synthetic), medians)
        return ratios, (float(np.median(synthetic)), float(medians.mean())), with_chance


def _quotient(above: Any, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


@shared
def random_distances(
    context: Context,
    n_rows: int,
    n_reference: int | None,
    space: Any,
    columns: Any,
    seed: int,
    repeat: int,
) -> np.ndarray:
    """Return the distances of `n_rows` random rows to their nearest train row."""
    n_reference = (
        None if n_reference is None or n_reference >= context.n_rows("train") else n_reference
    )
    frame = random_rows(context.train, n_rows, np.random.default_rng([seed, repeat]))
    rows = as_matrix(preprocessor(context, space).transform(frame), space)
    kept = kept_features(context, space, columns)
    index = reference_index(
        context, "train", space, columns, n_reference, seed if n_reference else 0
    )
    return index.kneighbors(rows[:, kept], 1)[0][:, 0]


def random_rows(train: pd.DataFrame, n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of independent columns, uniform between the extremes of train."""
    key = int(rng.integers(2**32))
    # a stream a column, named by the column: the order of columns must not matter
    streams = {
        name: np.random.default_rng([key, zlib.crc32(str(name).encode())]) for name in train.columns
    }
    return pd.DataFrame(
        {name: _random_column(train[name], n_rows, rng) for name, rng in streams.items()}
    )


def _random_column(values: pd.Series, n_rows: int, rng: np.random.Generator) -> pd.Series:
    present = values.dropna()
    missing = rng.random(n_rows) < values.isna().mean()
    if present.empty:
        return values.iloc[np.zeros(n_rows, dtype=np.int64)].reset_index(drop=True)
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes = rng.choice(np.unique(present.cat.codes), n_rows)
        return pd.Series(
            pd.Categorical.from_codes(np.where(missing, -1, codes), dtype=values.dtype)
        )
    if values.dtype == object:  # text and ids are not looked at
        return pd.Series([None] * n_rows, dtype=object)
    drawn = pd.Series(_between(present, n_rows, rng))
    return drawn.mask(missing)


def _between(present: pd.Series, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    low, high = present.min(), present.max()
    if pd.api.types.is_datetime64_any_dtype(present.dtype):
        ends = np.array([low, high], dtype="datetime64[us]").astype(np.int64)
        return rng.integers(ends[0], ends[1] + 1, n_rows).astype("datetime64[us]")
    if np.all(present == np.round(present)) and abs(low) < 2**53 and abs(high) < 2**53:
        return rng.integers(int(low), int(high) + 1, n_rows).astype(np.float64)
    return rng.uniform(low, high, n_rows)
