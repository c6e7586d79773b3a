"""Cross-validated evaluation: the generator learns anew from each training fold."""

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
    """The outcome of cross-validation: the results of the folds, and their means.

    Attributes
    ----------
    results : tuple of SuiteResult
        One a fold.
    test_shares : tuple of float
        Rows tested on for each row learned from, one a fold.
    efficiencies : tuple of Efficiency
        What fit and sample cost, one a fold.

    See Also
    --------
    cross_validate_generator : It is returned there.

    Notes
    -----
    Of fit and sample, `fit_seconds` and `sample_seconds` are by the clock on the wall, and
    `peak_mib` is by how many MiB the resident memory of the process grew at most (see
    ``peak_memory`` of ``skeval.model_selection.efficiency`` for what that misses). Unlike all
    else, they differ from run to run, depend on the machine, and on `n_jobs`, as folds compete.
    Generators are compared by them on one machine, with one fold at a time.

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
        """Return the tables of all folds, as of :meth:`skeval.SuiteResult.frame`, and `fold`."""
        frames = [result.frame().assign(fold=i) for i, result in enumerate(self.results)]
        return pd.concat(frames, ignore_index=True)

    def frame(self, confidence: float = 0.95, *, efficiency: bool = True) -> pd.DataFrame:
        """Return the means over folds.

        Parameters
        ----------
        confidence : float, default=0.95
            In (0, 1).
        efficiency : bool, default=True
            Whether rows `fit_seconds`, `sample_seconds` and `peak_mib` follow those of the metrics:
            what differs from run to run.

        Returns
        -------
        DataFrame
            By metric: `mean`, `standard_error` and the interval `low` to `high`, with the
            correction of Nadeau and Bengio for what training folds share; `baseline` (mean),
            `n_folds` with a value, `direction` and `evidence`. Intervals end where the scale of
            the metric does.
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
        """Return what fit and sample cost: `fit_seconds`, `sample_seconds`, `peak_mib`, by fold."""
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

    In each fold a clone of the generator learns from the training fold, which is `train`, and
    samples; the test fold is the `holdout`. So the numbers are of the generator and not of one
    table that it made, and every real row serves as holdout once.

    Parameters
    ----------
    generator : GeneratorAdapter, or anything that it takes
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
        Rows to sample in each fold; as many as it learned from if None.
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
        Number of processes, a fold each; the numbers do not depend on it. Under a client of Dask
        the folds go to its workers instead, see :func:`skeval.scale.engine`.
    memory : str, path or joblib.Memory, optional
        A folder that keeps the results of each fold, as that of scikit-learn's Pipeline does: a
        call that was stopped goes on there, and equal folds are not evaluated again. The folder
        also holds training rows, and is read as pickles, which can run any code: keep it where the
        table may lie, and never use a folder from somebody else.

    Returns
    -------
    CrossValidated
        `frame()` has means, standard errors and intervals, of the time and memory of fit and
        sample too; `folds()` every fold, `results` all details.

    Raises
    ------
    InvalidParameterError
        If the generator or the evaluator is none, the rows cannot be split so, or a fold is tested
        on rows that it has learned from.

    See Also
    --------
    skeval.evaluate_draws : Several tables of one fit.
    make_generator_scorer : The same in a search.

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
        rows = rows.set_axis(table.columns, axis="columns")  # a generator may name them
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
    """Return the results of one fold, and what fit and sample cost."""
    n_rows = len(train) if n_samples is None else n_samples
    synthetic, cost = fit_and_sample(adapter, train, n_rows, seed)
    result = fitted_on(evaluator, train, holdout, schema).evaluate(synthetic)
    return SuiteResult({result.metric: result}) if isinstance(result, Result) else result, cost


def fitted_on(
    evaluator: Metric | MetricSuite, train: pd.DataFrame, holdout: pd.DataFrame, schema: Any
) -> Metric | MetricSuite:
    """Fit an evaluator to one of several splits, without the warning that each of them repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SharedRowsWarning)
        return evaluator.fit(train, holdout, schema=schema)


def _warn_of_shared_rows(results: Sequence[SuiteResult]) -> None:
    """Warn once of the folds whose train and holdout share rows, with the words of the worst."""
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
    """Return the positions of the rows to learn from and to test on, of each split of a table."""
    y = None if stratify is None else _codes(rows, stratify, "stratify")
    together = None if groups is None else _codes(rows, groups, "groups")
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        splitter = _folds(int(cv), len(rows), y, together, random_state)
        if y is not None and together is not None:
            # shuffled by the splitter, strata are lost in scikit-learn 1.6
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
    """Return the positions of both sides, if rows stand on one side of each split at most."""
    if not pairs:
        raise InvalidParameterError(f"{_OWNER}: cv gives no split.")
    splits = [(_positions(learned), _positions(tested)) for learned, tested in pairs]
    if any(len(learned) == 0 or len(tested) == 0 for learned, tested in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold has no rows to learn from, or none to test on; take fewer folds."
        )
    if any(np.isin(tested, learned).any() for learned, tested in splits):
        raise InvalidParameterError(
            f"{_OWNER}: a fold is tested on its training rows; rows must not stand in both."
        )
    return splits


def _positions(rows: Any) -> np.ndarray:
    positions = np.asarray(rows)
    return np.flatnonzero(positions) if positions.dtype == bool else positions


def _codes(rows: pd.DataFrame, labels: str | Sequence[Any], name: str) -> np.ndarray:
    """Return a number for each row, the same for the same label; a missing one is a label."""
    if isinstance(labels, str):
        if labels not in rows.columns:
            raise InvalidParameterError(f"{_OWNER}: {name} names no column of the table: {labels}.")
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
        raise InvalidParameterError(f"{_OWNER}: {name} must hold labels: {error}.") from error


def bounds_of(results: Iterable[Result]) -> tuple[float, float]:
    """Return the ends of the scale of a metric's results; infinite where none is known."""
    known = [result.tags.bounds for result in results if result.tags is not None]
    return known[0] if known else (-np.inf, np.inf)
