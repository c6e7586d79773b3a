"""Several synthetic tables of one generator: the mean, and how much it varies between draws."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from skeval.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.suite import MetricSuite


def evaluate_draws(
    evaluator: Metric | MetricSuite, draws: Iterable[Any], *, confidence: float = 0.95
) -> pd.DataFrame:
    """Evaluate several synthetic tables that one fitted generator drew.

    The interval of one result is about one table, and mostly about the rows that were tested. What
    another draw would score is seen by drawing again. Work on the real rows is done once.

    Parameters
    ----------
    evaluator : Metric or MetricSuite
        Fitted.
    draws : iterable of tables
        At least two; generators that make one table after another will do, no two of them are held
        at a time.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    DataFrame
        By metric: `mean`, `sd` between draws, `low` and `high` (the interval of Student's t for the
        mean over all draws of this generator), `baseline` (mean), and `n_draws`, the number of
        draws with a value. Draws without one are left out.

    Raises
    ------
    InvalidParameterError
        If there are fewer than two draws.

    Notes
    -----
    The generator was fitted once: how much another fit would change is not in the interval.

    Examples
    --------
    >>> from skeval import evaluate_draws
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> metric = KSComplement().fit(make_mixed(300, random_state=0))
    >>> draws = (make_mixed(300, random_state=seed) for seed in range(1, 6))
    >>> scores = evaluate_draws(metric, draws)
    >>> scores.index.to_list(), scores["n_draws"].to_list(), bool(scores["sd"].iloc[0] < 0.03)
    (['KSComplement'], [5], True)
    """
    frames = []
    for table in draws:
        result = evaluator.evaluate(table)
        frames.append(result.frame().set_index("metric")[["value", "baseline"]])
    if len(frames) < 2:
        raise InvalidParameterError(
            "evaluate_draws: at least two draws are needed to tell how they vary, "
            f"got {len(frames)}."
        )
    values, baselines = (
        pd.concat([frame[name] for frame in frames], axis=1).astype(float)
        for name in ("value", "baseline")
    )
    n_draws, sd = values.notna().sum(axis=1), values.std(axis=1)
    # of one draw there is no spread, and no interval
    reach = t.ppf(0.5 + confidence / 2, (n_draws - 1).where(n_draws > 1)) * sd / np.sqrt(n_draws)
    mean = values.mean(axis=1)
    return pd.DataFrame(
        {
            "mean": mean,
            "sd": sd,
            "low": mean - reach,
            "high": mean + reach,
            "baseline": baselines.mean(axis=1),
            "n_draws": n_draws,
        }
    )
