"""Cross-validation of generators, with a new fit on each training fold."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Memory
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils.validation import check_memory

from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError, MostlySharedRowsWarning, SharedRowsWarning
from skeval.generators.adapter import GeneratorAdapter, seeded_copy
from skeval.model_selection.efficiency import Efficiency, fit_and_sample
from skeval.results.rendering import rendering
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats.folds import fold_mean
from skeval.suites.suite import MetricSuite
from skeval.tables.one_table import as_frame
from skeval.utils.engines import current_engine
from skeval.utils.parameters import Count, JobCount, Seed, check_parameters, legal_sets

_OWNER = "cross_validate_generator"
_HEADS = ("Metric", "Mean", "95% interval", "Unseen")


@dataclass(frozen=True, repr=False)
class CrossValidated:
    """Result of a cross-validation of a generator.

    Attributes
    ----------
    results : tuple of SuiteResult
        The result of each fold.
    test_shares : tuple of float
        The number of test rows divided by the number of training rows, for each fold.
    efficiencies : tuple of Efficiency
        The cost of fit and sample in each fold.

    See Also
    --------
    cross_validate_generator : Returns this object.

    Notes
    -----
    The costs of fit and sample are measured as follows. `fit_seconds` and `sample_seconds` are
    wall-clock times. `peak_mib` is the maximum growth of the resident memory of the process in MiB
    (``peak_memory`` in ``skeval.model_selection.efficiency`` documents which memory is missed).
    Unlike all other numbers, the costs differ from run to run and depend on the machine and on
    `n_jobs`, because parallel folds compete. To compare the costs of generators, use one machine
    and evaluate one fold at a time.

    Examples
    --------
    See :func:`cross_validate_generator`.
    """

    results: tuple[SuiteResult, ...]
    test_shares: tuple[float, ...]
    efficiencies: tuple[Efficiency, ...] = ()

    def __repr__(self) -> str:
        metrics, *columns = zip(*self._rows(), strict=True)
        return pd.DataFrame(dict(zip(_HEADS[1:], columns, strict=True)), metrics).to_string()

    def _repr_html_(self) -> str:
        title = f"Means over {len(self.results)} folds"
        return rendering().table_html(title, _HEADS, list(self._rows()))

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the metric, its mean, the interval of the mean, and the mean of its baseline."""
        from skeval.reporting.document.numbers import score  # it imports matplotlib

        for name, row in self.frame().iterrows():
            interval = None if np.isnan(row["low"]) else (row["low"], row["high"])
            between = "" if interval is None else " to ".join(score(x, interval) for x in interval)
            baseline = "" if np.isnan(row["baseline"]) else score(row["baseline"], interval)
            yield str(name), score(row["mean"], interval), between, baseline

    def folds(self) -> pd.DataFrame:
        """Return the results of all folds like `SuiteResult.frame`, with a column `fold`."""
        frames = [result.frame().assign(fold=i) for i, result in enumerate(self.results)]
        return pd.concat(frames, ignore_index=True)

    def frame(self, confidence: float = 0.95, *, efficiency: bool = True) -> pd.DataFrame:
        """Return the means over folds.

        Parameters
        ----------
        confidence : float, default=0.95
            Confidence level of the intervals, between 0 and 1.
        efficiency : bool, default=True
            Whether to append the rows `fit_seconds`, `sample_seconds` and `peak_mib`, whose values
            differ from run to run.

        Returns
        -------
        DataFrame
            One row per metric: `mean`, `standard_error` and the interval from `low` to `high`, with
            the correction of Nadeau and Bengio for overlapping training folds; `baseline` (mean),
            `n_folds` with a value, `direction` and `evidence`. Intervals end at the bounds of the
            metric.
        """
        share = sum(self.test_shares) / len(self.test_shares)
        every, rows = self.folds(), {}
        for name, own in every.groupby("metric", sort=False):
            bounds = bounds_of([result[name] for result in self.results])
            rows[name] = {
                **fold_mean(own["value"].to_numpy(dtype=float), share, confidence, bounds),
                "baseline": own["baseline"].mean(),
                "direction": own["direction"].iloc[0],
                "evidence": own["evidence"].iloc[0],
            }
        if efficiency:
            for name, values in self.efficiency().items():
                cost = values.to_numpy(dtype=float)
                known = fold_mean(cost, share, confidence, (0.0, float("inf")))
                baseline = {
                    "baseline": float("nan"),
                    "direction": "lower is better",
                    "evidence": "",
                }
                rows[str(name)] = {**known, **baseline}
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")

    def efficiency(self) -> pd.DataFrame:
        """Return the costs `fit_seconds`, `sample_seconds` and `peak_mib` of each fold."""
        return pd.DataFrame([asdict(one) for one in self.efficiencies]).rename_axis("fold")


def cross_validate_generator(
    generator: Any,
    table: Any,
    evaluator: Metric | MetricSuite,
    *,
    cv: Any = 5,
    n_samples: Count | None = None,
    schema: Any = None,
    groups: str | Sequence[Any] | None = None,
    stratify: str | Sequence[Any] | None = None,
    random_state: Seed = 0,
    n_jobs: JobCount | None = None,
    memory: str | Path | Memory | None = None,
) -> CrossValidated:
    """Evaluate a generator by cross-validation.

    In each fold, a clone of the generator is fitted to the training fold and sampled. The training
    fold is `train` and the test fold is `holdout`. Therefore the scores describe the generator and
    not one synthetic table, and each real row is used as holdout once.

    Parameters
    ----------
    generator : GeneratorAdapter, or anything that GeneratorAdapter accepts
        Generator to evaluate. Only clones are fitted, and each clone uses new seeds.
    table : table of shape (n_rows, n_columns)
        Real data as a pandas, polars or pyarrow table.
    evaluator : Metric or MetricSuite
        Metric or suite that evaluates each fold.
    cv : int or splitter, default=5
        Number of folds of shuffled rows, from 2 to the number of rows. A splitter of scikit-learn,
        or pairs of arrays with the positions of the training and test rows, is also accepted.
    n_samples : int, optional
        Number of rows to sample in each fold. The default is the number of training rows.
    schema : TableSchema or mapping of str to str, optional
        Column types. Types that are not specified are inferred from each training fold.
    groups : str or sequence of length n_rows, optional
        Name of a column, or labels of the rows. Rows with the same label, for example the rows of
        one individual, are in the same fold.
    stratify : str or sequence of length n_rows, optional
        Name of a column, or labels of the rows. Each fold has about the same fraction of each
        label. Missing values are a label. Splitters of scikit-learn call this argument `y`.
    random_state : int, default=0
        Seed from which the seeds of the folds, of each fit and of each sample are derived. It does
        not affect a splitter that is passed as `cv`.
    n_jobs : int, optional
        Number of processes. Each process evaluates one fold at a time. The scores do not depend on
        it. With a client of Dask, the workers of Dask evaluate the folds instead. See
        :func:`skeval.scale.engine`.
    memory : str, path or joblib.Memory, optional
        Folder that caches the result of each fold, like `memory` of scikit-learn's Pipeline. An
        interrupted call continues from the cache, and equal folds are not evaluated again. The
        folder contains training rows, so protect it like the table. It is read as pickles, which
        can run any code, so never use a folder from someone else.

    Returns
    -------
    CrossValidated
        `frame()` returns means, standard errors and intervals, including the time and memory of fit
        and sample. `folds()` returns the scores of each fold. `results` contains all details.

    Raises
    ------
    InvalidParameterError
        If the generator or the evaluator has the wrong type, if the rows cannot be split as
        requested, or if a fold would be tested on its training rows.

    See Also
    --------
    skeval.evaluate_draws : Evaluates several tables of one fit.
    make_generator_scorer : Evaluates generators in a search.

    Notes
    -----
    The values of the folds depend on each other because the training folds overlap. The standard
    error therefore uses the correction of Nadeau and Bengio, ``sqrt((1/K + n_test/n_train) *
    variance)``, and the interval is based on Student's t distribution. The interval is an
    approximation, because no unbiased estimate of this variance exists. It includes the randomness
    of fitting and sampling. Each fold needs different seeds for this reason. If all folds used the
    same random numbers, their values would agree more than independent samples do.

    Each clone is fitted to ``1 - 1/K`` of the rows. A generator that is fitted to all rows is
    slightly better, and its samples reveal more to an attacker.

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
    >>> scores = cross_validate_generator(GaussianCopula(), make_mixed(400), KSComplement(), cv=4)
    >>> scores.frame()["n_folds"].to_dict()
    {'KSComplement': 4, 'fit_seconds': 4, 'sample_seconds': 4, 'peak_mib': 4}
    >>> len(scores.folds()), scores.efficiency().columns.to_list()
    (4, ['fit_seconds', 'sample_seconds', 'peak_mib'])
    """
    rows = as_frame(table, "train")
    if not isinstance(evaluator, Metric | MetricSuite):
        raise InvalidParameterError(
            "cross_validate_generator: evaluator must be a Metric or a MetricSuite, got "
            f"{type(evaluator).__name__}."
        )
    own = {"n_samples": n_samples, "random_state": random_state, "n_jobs": n_jobs}
    check_parameters("cross_validate_generator", own, legal_sets(cross_validate_generator))
    splits = splits_of(rows, cv, groups=groups, stratify=stratify, random_state=random_state)
    if isinstance(table, pd.DataFrame):
        rows = rows.set_axis(table.columns, axis="columns")  # a generator may refer to these names
    seeds = [
        child.generate_state(2).tolist()
        for child in np.random.SeedSequence(random_state).spawn(len(splits))
    ]
    tasks = (
        (
            seeded_copy(generator, fit_seed),
            clone(evaluator),
            rows.iloc[learned].reset_index(drop=True),
            rows.iloc[tested].reset_index(drop=True),
            n_samples,
            schema,
            sample_seed,
        )
        for (learned, tested), (fit_seed, sample_seed) in zip(splits, seeds, strict=True)
    )
    location = os.fspath(memory) if isinstance(memory, Path) else memory
    kept = check_memory(location).cache(_evaluate_fold)
    evaluated = current_engine(n_jobs).map(kept, tasks)
    shares = (len(tested) / len(learned) for learned, tested in splits)
    results, costs = zip(*evaluated, strict=True)
    _warn_of_shared_rows(results)
    return CrossValidated(results, tuple(shares), costs)


def _evaluate_fold(
    adapter: GeneratorAdapter,
    evaluator: Metric | MetricSuite,
    train: pd.DataFrame,
    holdout: pd.DataFrame,
    n_samples: int | None,
    schema: Any,
    seed: int,
) -> tuple[SuiteResult, Efficiency]:
    """Return the results of one fold, and the costs of fit and sample."""
    n_rows = len(train) if n_samples is None else n_samples
    synthetic, cost = fit_and_sample(adapter, train, n_rows, seed)
    result = fitted_on(evaluator, train, holdout, schema).evaluate(synthetic)
    return SuiteResult({result.metric: result}) if isinstance(result, Result) else result, cost


def fitted_on(
    evaluator: Metric | MetricSuite, train: pd.DataFrame, holdout: pd.DataFrame, schema: Any
) -> Metric | MetricSuite:
    """Fit an evaluator to one of several splits, without the warning that each split repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedRowsWarning)
        return evaluator.fit(train, holdout, schema=schema)


def _warn_of_shared_rows(results: Sequence[SuiteResult]) -> None:
    """Warn once about all folds whose `train` and `holdout` share rows, with the worst message."""
    shared = {
        fold: notice
        for fold, result in enumerate(results)
        for notice in (*result.notices, *(w for one in result.values() for w in one.warnings))
        if isinstance(notice, SharedRowsWarning)
    }
    if shared:
        fold = max(shared, key=lambda fold: isinstance(shared[fold], MostlySharedRowsWarning))
        where = f"{len(shared)} of {len(results)} folds, for example fold {fold}"
        warnings.warn(shared[fold].with_prefix(where), stacklevel=3)


def splits_of(
    rows: pd.DataFrame,
    cv: Any,
    *,
    groups: str | Sequence[Any] | None,
    stratify: str | Sequence[Any] | None,
    random_state: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the positions of the training rows and the test rows of each split."""
    y = None if stratify is None else _codes(rows, stratify, "stratify")
    together = None if groups is None else _codes(rows, groups, "groups")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        splitter = _folds(int(cv), len(rows), y, together, random_state)
        if y is not None and together is not None:
            # if the splitter shuffles, scikit-learn 1.6 loses the strata
            order = np.random.default_rng(random_state).permutation(together.max() + 1)
            together = order[together]
    else:
        if isinstance(cv, bool | str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
            raise InvalidParameterError(
                f"{_OWNER}: cv must be an int, a splitter or pairs of positions, got {cv!r}."
            )
        splitter = check_cv(cv)
    try:
        pairs = list(splitter.split(rows, y, together))
    except (TypeError, ValueError) as error:  # scikit-learn saw codes, so no cell is quoted
        labels = {"stratify": stratify, "groups": groups}
        given = [name for name, value in labels.items() if value is not None]
        raise InvalidParameterError(
            f"{_OWNER}: {type(splitter).__name__} cannot split these rows, given "
            f"{' and '.join(given) or 'neither stratify nor groups'}: {error}"
        ) from error
    return _splits(pairs)


def _folds(
    n_folds: int,
    n_rows: int,
    strata: np.ndarray | None,
    groups: np.ndarray | None,
    random_state: int,
) -> Any:
    if not 2 <= n_folds <= n_rows:
        raise InvalidParameterError(
            f"{_OWNER}: cv must be from 2 to the number of rows, {n_rows}, got {n_folds}."
        )
    if groups is not None and strata is not None:
        return StratifiedGroupKFold(n_folds)
    kind = GroupKFold if groups is not None else KFold if strata is None else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=random_state)


def _splits(pairs: list[tuple[Any, Any]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the positions of both sides, after a check that no row is on both sides."""
    if not pairs:
        raise InvalidParameterError(f"{_OWNER}: expected at least one split from cv, got none.")
    splits = [(_positions(learned), _positions(tested)) for learned, tested in pairs]
    if any(len(learned) == 0 or len(tested) == 0 for learned, tested in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold has no training rows or no test rows. Use fewer folds."
        )
    if any(np.isin(tested, learned).any() for learned, tested in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold contains the same row in its training and test rows. Remove the "
            "row from one of them."
        )
    return splits


def _positions(rows: Any) -> np.ndarray:
    positions = np.asarray(rows)
    return np.flatnonzero(positions) if positions.dtype == bool else positions


def _codes(rows: pd.DataFrame, labels: str | Sequence[Any], name: str) -> np.ndarray:
    """Return a code for each row. Equal labels have equal codes, and a missing value is a label."""
    if isinstance(labels, str):
        if labels not in rows.columns:
            raise InvalidParameterError(
                f"{_OWNER}: {name}={labels!r} is not a column of the table."
            )
        labels = rows[labels]
    values = pd.Series(labels).reset_index(drop=True)
    if len(values) != len(rows):
        raise InvalidParameterError(
            f"{_OWNER}: {name} must have a label for each of the {len(rows)} rows, got "
            f"{len(values)}."
        )
    try:
        return np.asarray(pd.factorize(values, use_na_sentinel=False)[0])
    except TypeError as error:  # lists and the like
        raise InvalidParameterError(f"{_OWNER}: {name} must contain labels: {error}.") from error


def bounds_of(results: Iterable[Result]) -> tuple[float, float]:
    """Return the bounds of a metric's results. Unknown bounds are infinite."""
    known = [result.tags.bounds for result in results if result.tags is not None]
    return known[0] if known else (-np.inf, np.inf)
