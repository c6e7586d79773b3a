"""Distance to the closest record, compared with the distance of random rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import RelabelledTest
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.privacy.distance_screens.drawn_screen import DrawnScreen
from skeval.privacy.distance_screens.percentiles import median_evidence
from skeval.results.result import Result, undefined_result
from skeval.stats.percentiles import bootstrap_percentiles
from skeval.steps.contrasts import with_contrast
from skeval.steps.encoded_rows import as_matrix, gower_matrix, is_gower, kept_features, preprocessor
from skeval.steps.neighbors import reference_index
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import Count

_N_BOOTSTRAP = 500
# distances of the synthetic rows, and of each table of random rows, to the training data
Draw = tuple[np.ndarray, list[np.ndarray]]


@declared
class DCRBaselineProtection(DrawnScreen, RelabelledTest):
    r"""Median distance to the training data, relative to random rows.

    The score is the median distance of synthetic rows to their nearest training row, divided by the
    same median for random rows. The columns of the random rows are drawn independently between the
    extremes of the training data. The score is 0 if the synthetic rows equal training rows and 1 if
    they are as far away as noise. Random rows are not a suitable reference for privacy, and a
    faithful table cannot reach 1. Therefore, compare the score with the baseline, the score of
    holdout rows.

    Parameters
    ----------
    n_random_repeats : int, default=5
        Number of random tables. The value is the mean over these tables.
    max_random_rows : int or None, default=5_000
        Maximum number of rows of a random table. If None, a random table has the same number of
        rows as the synthetic data. The number of rows changes only the noise of the median, which
        the interval covers.
    random_state : int, default=0
        Seed of the random rows, draws, relabelings and resamples.

    Raises
    ------
    InvalidParameterError
        At fit, if `num_iterations` is above 1 without `num_rows_subsample`.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    HoldoutDistanceRatio : Divides by the median of holdout rows instead of random rows.
    DCROverfittingProtection : Whether rows are closer to the training or the holdout data.

    Notes
    -----
    Let U be the random rows and d the distance to the nearest training row. The score is

    .. math:: \min\left(1, \frac{\mathrm{median}\, d(S, T)}{\mathrm{median}\, d(U, T)}\right)

    A column of U has integers if the training column has integers only. Categories are drawn
    uniformly from the training categories, and values are missing at the rate of the column. The
    score is nan if the median of the random rows is 0. The interval resamples both medians.

    With a holdout, the p-value is computed as in :class:`~skeval.privacy.HoldoutDistanceRatio`. The
    median distance to the holdout minus the median distance to the training data is compared with
    random choices of which real rows were training rows. If the synthetic rows are of poor
    fidelity, the score rises above the baseline, but the test does not change. Therefore, a leak
    may be found although the score is good.

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

    tags = replace(NEIGHBOR_TAGS, greater_is_better=True)
    report_columns = "knn"

    n_random_repeats: Count = 5
    _: KW_ONLY
    max_random_rows: Count | None = 5_000

    def _measure(self, context: Context, columns: Any) -> Result:
        draws = self._draws(context, columns)
        values = [np.minimum(1.0, median_ratios(*draw)).mean() for draw in draws]
        if np.isnan(values).any():
            return undefined_result(
                "half of the random rows equal train rows, so there is no distance to compare with."
            )
        return Result(float(np.mean(values)))

    def _draws(self, context: Context, columns: Any) -> Iterator[Draw]:
        """Yield, for each draw, the distances of synthetic and random rows to training rows."""
        for sample in self._samples():
            synthetic = self._distances(context, "synthetic", "train", columns, **sample)
            n_random = min(synthetic.size, self.max_random_rows or synthetic.size)
            drawn = (sample["n_reference"], self.space, columns, sample["seed"])
            repeats = range(self.n_random_repeats)
            random = [random_distances(context, n_random, *drawn, repeat) for repeat in repeats]
            yield synthetic, random

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        (low, high), details = over_draws(self._draws(context, columns), self.random_state)
        interval = min(low, result.value), max(high, result.value)
        medians = {
            "synthetic_data": details["median_synthetic"],
            "random_data_baseline": details["median_random"],
        }
        breakdown = {"score": result.value, "median_DCR_to_real_data": medians}
        result = replace(result, interval=interval, details={**details, "sdmetrics": breakdown})
        if "holdout" not in context:
            return result
        settings = (self.space, columns, self.n_permutations, self.random_state)
        p_value, contrast = median_evidence(context, *settings)
        return replace(result, p_value=p_value, contrast=contrast)

    def _summary(self, result: Result) -> str:
        medians = (as_float(result.details[f"median_{rows}"]) for rows in ("synthetic", "random"))
        share = percent(next(medians) / next(medians))
        far = f"Synthetic rows are {share} as far from train as random rows"
        return with_contrast(far, result)


def _quotient(above: Any, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


def median_ratios(synthetic: np.ndarray, random: Sequence[np.ndarray]) -> np.ndarray:
    """Return the median distance of synthetic rows divided by that median for each random table."""
    return _quotient(np.median(synthetic), np.array([np.median(d) for d in random]))


def over_draws(draws: Iterable[Draw], seed: int) -> tuple[tuple[float, float], dict[str, float]]:
    """Return the bootstrap interval of the mean over draws, and the details about the draws."""
    values, medians, spreads, replicates = [], [], [], []
    for i, (synthetic, random) in enumerate(draws):
        ratios = median_ratios(synthetic, random)
        values.append(np.minimum(1.0, ratios).mean())
        medians.append((np.median(synthetic), np.mean([np.median(d) for d in random])))
        spreads.append(ratios.std())
        rng = np.random.default_rng([seed + i, 1])
        tables = (synthetic, *random)
        above, *below = (bootstrap_percentiles(d, 0.5, _N_BOOTSTRAP, rng) for d in tables)
        replicates.append(np.minimum(1.0, _quotient(above, np.array(below))).mean(axis=0))
    low, high = np.quantile(np.mean(replicates, axis=0), [0.025, 0.975])
    return (float(low), float(high)), {
        "median_synthetic": float(np.mean([median for median, _ in medians])),
        "median_random": float(np.mean([median for _, median in medians])),
        "between_repeats": float(np.mean(spreads)),
        "between_iterations": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
    }


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
    """Return the distances of `n_rows` random rows to their nearest training row."""
    if n_reference is not None and n_reference >= context.n_rows("train"):
        n_reference = None
    frame = random_rows(context.train, n_rows, np.random.default_rng([seed, repeat]))
    if is_gower(space):
        rows = gower_matrix(context, frame)
    else:
        rows = as_matrix(preprocessor(context, space).transform(frame), space)
    kept = kept_features(context, space, columns)
    seed = seed if n_reference else 0  # all rows are used, so there is nothing to sample
    index = reference_index(context, "train", space, columns, n_reference, seed)
    return index.kneighbors(rows[:, kept], 1)[0][:, 0]


def random_rows(train: pd.DataFrame, n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return rows of independent columns, uniform between the extremes of the training data."""
    key = int(rng.integers(2**32))
    # each column has a random stream named by the column, so the order of columns does not matter
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
        codes = np.where(missing, -1, codes)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=values.dtype))
    if values.dtype == object:  # text and IDs are not compared
        return pd.Series([None] * n_rows, dtype=object)
    return pd.Series(_between(present, n_rows, rng)).mask(missing)


def _between(present: pd.Series, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    low, high = present.min(), present.max()
    if pd.api.types.is_datetime64_any_dtype(present.dtype):
        ends = np.array([low, high], dtype="datetime64[us]").astype(np.int64)
        return rng.integers(ends[0], ends[1] + 1, n_rows).astype("datetime64[us]")
    if np.all(present == np.round(present)) and abs(low) < 2**53 and abs(high) < 2**53:
        return rng.integers(int(low), int(high) + 1, n_rows).astype(np.float64)
    return rng.uniform(low, high, n_rows)
