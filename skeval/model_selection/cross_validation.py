"""Cross-validated evaluation: the generator learns anew from each training fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from skeval._parameters import Constraint, Interval, Nullable, check_parameters
from skeval.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.generators._copies import reseeded
from skeval.generators.adapter import GeneratorAdapter
from skeval.model_selection._splits import splits_of
from skeval.result import Result, SuiteResult
from skeval.stats.folds import fold_mean
from skeval.suite import MetricSuite
from skeval.tables import as_frame

__all__ = ["CrossValidated", "cross_validate_generator"]

_LEGAL: dict[str, Constraint] = {
    "n_samples": Nullable(Interval(int, 1, None)),
    "random_state": Interval(int, 0, None),
}


@dataclass(frozen=True)
class CrossValidated:
    """What cross-validation found: the results of the folds, and their means.

    Attributes
    ----------
    results : tuple of SuiteResult
        One a fold.
    test_shares : tuple of float
        Rows tested on for each row learnt from, one a fold.

    Examples
    --------
    See :func:`cross_validate_generator`.
    """

    results: tuple[SuiteResult, ...]
    test_shares: tuple[float, ...]

    def folds(self) -> pd.DataFrame:
        """Return the tables of all folds, as of :meth:`SuiteResult.frame`, with a column `fold`."""
        frames = [result.frame().assign(fold=i) for i, result in enumerate(self.results)]
        return pd.concat(frames, ignore_index=True)

    def frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """Return the means over folds.

        Parameters
        ----------
        confidence : float, default=0.95
            In (0, 1).

        Returns
        -------
        DataFrame
            By metric: `mean`, `standard_error` and the interval `low` to `high`, with the
            correction of Nadeau and Bengio for what training folds share; `baseline` (mean),
            `n_folds` with a value, `direction` and `evidence`.
        """
        share = sum(self.test_shares) / len(self.test_shares)
        every, rows = self.folds(), {}
        for name, own in every.groupby("metric", sort=False):
            found = fold_mean(own["value"].to_numpy(dtype=float), share, confidence)
            rows[name] = {
                **asdict(found),
                "baseline": own["baseline"].mean(),
                "direction": own["direction"].iloc[0],
                "evidence": own["evidence"].iloc[0],
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")


def cross_validate_generator(
    generator: Any,
    table: Any,
    evaluator: Metric | MetricSuite,
    *,
    cv: Any = 5,
    n_samples: int | None = None,
    schema: Any = None,
    groups: str | Sequence[Any] | None = None,
    stratify: str | Sequence[Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CrossValidated:
    """Evaluate a generator by cross-validation.

    In each fold a clone of the generator learns from the training fold, which is `train`, and
    samples; the test fold is the `holdout`. So the numbers are of the generator and not of one
    table that it made, and every real row serves as holdout once.

    Parameters
    ----------
    generator : GeneratorAdapter, or whatever it takes
        It is cloned, never fitted itself. Each clone gets seeds of its own, in place of those that
        the generator has.
    table : table of shape (n_rows, n_columns)
        Real rows: pandas, polars or pyarrow.
    evaluator : Metric or MetricSuite
        What to measure.
    cv : int or splitter, default=5
        Number of folds of shuffled rows, from 2 to the number of rows; or a splitter of
        scikit-learn, or pairs of positions to learn from and to test on.
    n_samples : int, optional
        Rows to sample in each fold; as many as it learnt from if None.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns; those not named are inferred from each training fold.
    groups : str or sequence of length n_rows, optional
        A column, or labels of the rows: rows of one label, such as those of one person, are in one
        fold.
    stratify : str or sequence of length n_rows, optional
        A column, or labels of the rows: each fold has about the same share of each label. Missing
        values are a label. What splitters call `y`.
    random_state : int, default=0
        Seed of folds, fits and samples; each fit and each sample has its own from it. Splitters
        have theirs.
    n_jobs : int, optional
        Number of processes, a fold each; the numbers do not depend on it.

    Returns
    -------
    CrossValidated
        `frame()` has means, standard errors and intervals, `folds()` every fold, `results` all
        details.

    Raises
    ------
    InvalidParameterError
        If the generator or the evaluator is none, the rows cannot be split so, or a fold is tested
        on rows that it has learnt from.

    Notes
    -----
    Training folds overlap, so that their values vary together. The standard error is that of Nadeau
    and Bengio, ``sqrt((1/K + n_test/n_train) * variance)``, and the interval Student's, which
    is an approximation: no unbiased estimate of this variance exists. It counts the chance in
    fitting and sampling too, which is why no two folds may share a seed: with one sample's random
    numbers in all folds, their values agree where fresh samples would not.

    The generator learns from ``1 - 1/K`` of the rows: one that learns from all is somewhat better,
    and its attackers have more to find.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
    doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.generators import GaussianCopula
    >>> from skeval.model_selection import cross_validate_generator
    >>> found = cross_validate_generator(GaussianCopula(), make_mixed(400), KSComplement(), cv=4)
    >>> found.frame()["n_folds"].to_dict(), len(found.folds())
    ({'KSComplement': 4}, 4)
    """
    rows = as_frame(table, "train")
    if not isinstance(evaluator, Metric | MetricSuite):
        raise InvalidParameterError(
            "cross_validate_generator: evaluator must be a Metric or a MetricSuite, got "
            f"{type(evaluator).__name__}."
        )
    own = {"n_samples": n_samples, "random_state": random_state}
    check_parameters("cross_validate_generator", own, _LEGAL)
    splits = splits_of(rows, cv, groups=groups, stratify=stratify, random_state=random_state)
    if isinstance(table, pd.DataFrame):
        rows = rows.set_axis(table.columns, axis="columns")  # a generator may name them
    seeds = [
        child.generate_state(2).tolist()
        for child in np.random.SeedSequence(random_state).spawn(len(splits))
    ]
    found = Parallel(n_jobs=n_jobs)(
        delayed(_evaluated)(
            reseeded(generator, fit_seed),
            clone(evaluator),
            rows.iloc[split.learnt].reset_index(drop=True),
            rows.iloc[split.tested].reset_index(drop=True),
            n_samples=n_samples,
            schema=schema,
            seed=sample_seed,
        )
        for split, (fit_seed, sample_seed) in zip(splits, seeds, strict=True)
    )
    return CrossValidated(tuple(found), tuple(split.test_share for split in splits))


def _evaluated(
    adapter: GeneratorAdapter,
    evaluator: Metric | MetricSuite,
    train: pd.DataFrame,
    holdout: pd.DataFrame,
    *,
    n_samples: int | None,
    schema: Any,
    seed: int,
) -> SuiteResult:
    """Return the results of one fold."""
    n_rows = len(train) if n_samples is None else n_samples
    synthetic = adapter.fit(train).sample(n_rows, random_state=seed)
    found = evaluator.fit(train, holdout, schema=schema).evaluate(synthetic)
    return SuiteResult({found.metric: found}) if isinstance(found, Result) else found
