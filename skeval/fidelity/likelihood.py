"""Likelihood of synthetic rows under a mixture or a tree that models the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.special import ndtri

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import cells, codes
from skeval.steps.samples import sample_positions
from skeval.tables.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.utils.formatting import number
from skeval.utils.parameters import BinCount, Columns, Count, Interval, Legal, NonNegative, Seed

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

_N_CANDIDATES = 8
_BLOCK = 2**14  # number of rows whose densities are computed at once
_DENSE = 2**22  # maximum number of joint cells that are counted in a dense array
_NO_PROBABILITY = np.log(1e-8)  # replaces the logarithm of 0, as in SDMetrics


def _are_components(value: object) -> bool:
    count = Interval(1, kind=int)
    if isinstance(value, tuple | list):
        return len(value) == 2 and all(map(count.accepts, value)) and value[0] <= value[1]
    return count.accepts(value)


Tree = tuple[tuple[str, ...], float, int]  # columns, smoothing, number of bins
ComponentRange = Annotated[
    int | tuple[int, int], Legal("a positive int or a pair (low, high) of them", _are_components, 0)
]


@declared
class GMLikelihood(Metric):
    """Mean log-density of the synthetic rows under a Gaussian mixture of the training data.

    The metric models the numerical and datetime columns of the training data as a mixture of
    Gaussian components and computes the mean log-density of the synthetic rows. Synthetic rows in
    regions without training rows make the value very small. Compare the value with the baseline,
    because the maximum is not the best value.

    Parameters
    ----------
    n_components : int or (int, int), default=(1, 30)
        Number of components. If a range is given, eight numbers in it, spaced by equal factors, are
        tried, and the one with the best `criterion` is used.
    covariance_type : {"diag", "full", "tied", "spherical"}, default="diag"
        Shape of the components.
    n_init : int, default=3
        Number of starts of the fit. If the number of components is selected, each candidate is
        fitted with one start, and the selected candidate is fitted again with all starts.
    criterion : {"bic", "aic"}, default="bic"
        Criterion that selects the number of components. Lower values are better.
    max_rows : int or None, default=5000
        Maximum number of training rows to which the mixture is fitted. If there are more, a random
        sample is used. If None, all rows are used. The selection of the number of components needs
        a few seconds for 5,000 rows of 10 columns.
    columns : None, int or list of str, default=None
        Columns to model: all, the first *n*, or a list of names. Only numerical and datetime
        columns are used.
    random_state : int, default=0
        Seed of the sample and of the starts of the fit.

    Warnings
    --------
    The maximum is not the best value, because rows in the densest region have the highest density.
    The value depends on the units of the columns. Compare it with the baseline.

    See Also
    --------
    BNLogLikelihood : Categorical columns, modeled by a dependence tree.
    EnergyDistance : Does not require a model of the training data.

    Notes
    -----
    The value is the mean of ``ln f(x)`` over the synthetic rows, where f is the density in the
    units of the columns, so the value changes with the units. More is not always better. For
    example, the density is maximal if all rows are in the densest region. The value should match
    the baseline, which is the mean log-density of the holdout rows. ``details["gap"]`` is the
    absolute difference from the baseline, which does not depend on the units. Holdout rows are
    slightly less likely than the training rows.

    The columns are standardized before the fit. Rows with a missing or infinite value are ignored.
    They are not imputed, because the mean of a column may lie between the components, far from real
    values. Columns that are constant in the training data are skipped with a warning. The interval
    is the normal interval of a mean of independent rows for the fitted mixture. It is too narrow if
    a few rows are far from all components.

    References
    ----------
    Published by SDMetrics as GMLogLikelihood. L. Xu et al., "Modeling tabular data using
    conditional GAN", NeurIPS (2019), arXiv:1907.00503.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import GMLikelihood
    >>> train, other = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = GMLikelihood(n_components=1).fit(train)
    >>> metric.score(other) > metric.score(other.assign(age=other["age"] + 50))
    True
    """

    tags = MetricTags("fidelity", greater_is_better=True)

    n_components: ComponentRange = (1, 30)
    covariance_type: Literal["full", "tied", "diag", "spherical"] = "diag"
    n_init: Count = 3
    criterion: Literal["bic", "aic"] = "bic"
    _: KW_ONLY
    max_rows: Annotated[int, Interval(2)] | None = 5000
    columns: Columns = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, NUMERIC)
        varying, constant = _split(context, sorted(names))
        if not varying or len(complete_rows(context, "train", varying)) < 2:
            return undefined_result(
                "no numerical or datetime column varies over the complete training rows."
            )
        model = mixture(context, varying, self._settings)
        logs = log_densities(context, "synthetic", varying, self._settings)
        warnings = _skipped(constant, logs.size, context.n_rows("synthetic"))
        if not logs.size:
            lost = undefined_result("no synthetic row has a value in all modeled columns.")
            return replace(lost, warnings=(*warnings, *lost.warnings))
        value = float(logs.mean())
        details = {
            "n_components": model.gaussians.n_components,
            "criteria": {str(k): score for k, score in model.criteria.items()},
            "train": model.train,
            "standardised": value + float(np.log(model.scale).sum()),
            "names": list(varying),
            "n_rows": {"fitted": model.n_rows, "synthetic": logs.size},
        }
        return Result(value, interval=mean_interval(logs), details=details, warnings=warnings)

    @property
    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in Settings._fields})

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value) or "holdout" not in context:
            return result
        fresh = log_densities(context, "holdout", tuple(result.details["names"]), self._settings)
        if not fresh.size:
            return super()._in_relation(context, result)
        n_rows = {**result.details["n_rows"], "holdout": fresh.size}
        return _off_fresh_rows(replace(result, details={**result.details, "n_rows": n_rows}), fresh)

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"Under a mixture of {details['n_components']} Gaussian components fitted to the "
            f"training data, the mean log-density is {number(result.value)} for synthetic rows and "
            f"{number(details['train'])} for training rows. A value above the baseline is not "
            "better."
        )


class Settings(NamedTuple):
    """Settings for the fit of a mixture, see the parameters of the metric."""

    n_components: int | tuple[int, int]
    covariance_type: str
    n_init: int
    criterion: str
    max_rows: int | None
    random_state: int


class Mixture(NamedTuple):
    """A mixture fitted to standardized columns."""

    gaussians: GaussianMixture
    mean: np.ndarray
    scale: np.ndarray
    criteria: dict[int, float]
    train: float
    n_rows: int


def mean_interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of a mean of independent values, or None if it is not defined."""
    if values.size < 2 or not np.isfinite(values).all():
        return None
    half = float(-ndtri((1.0 - level) / 2.0) * values.std(ddof=1) / np.sqrt(values.size))
    return float(values.mean()) - half, float(values.mean()) + half


def complete_rows(context: Context, role: str, names: Sequence[str]) -> np.ndarray:
    """Return the rows of a role that have finite values in all of the given columns."""
    matrix = numbers(context[role][list(names)])
    return matrix[np.isfinite(matrix).all(axis=1)]


def _split(context: Context, names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that vary over the complete training rows, and the constant columns."""
    present = [name for name in names if context.column("train", name).notna().any()]
    constant: list[str] = []
    while present:
        rows = complete_rows(context, "train", tuple(present))
        # columns are divided by their standard deviation, which is 0 for denormal numbers
        varies = dict(zip(present, rows.std(axis=0) > 0.0, strict=True)) if len(rows) else {}
        still = [name for name in present if not varies.get(name, True)]
        if not still:
            break
        constant += still
        present = [name for name in present if name not in still]
    return tuple(present), constant


@shared
def mixture(context: Context, names: tuple[str, ...], settings: Settings) -> Mixture:
    """Fit a mixture to the training data and select its number of components."""
    rows = complete_rows(context, "train", names)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    rows = rows[np.lexsort(rows.T)]  # the sample and the starts do not depend on the row order
    at = sample_positions(len(rows), settings.max_rows, settings.random_state)
    drawn = (rows[at] - mean) / scale
    candidates = candidate_sizes(settings.n_components, n_most=len(np.unique(drawn, axis=0)))
    criteria: dict[int, float] = {}
    if len(candidates) > 1:
        for k in candidates:
            fitted = _gaussians(k, 1, settings).fit(drawn)
            criteria[k] = float(getattr(fitted, settings.criterion)(drawn))
    chosen = min(candidates, key=lambda k: criteria.get(k, 0.0))
    fitted = _gaussians(chosen, settings.n_init, settings).fit(drawn)
    train = float(fitted.score(drawn)) - float(np.log(scale).sum())
    return Mixture(fitted, mean, scale, criteria, train, len(drawn))


def _gaussians(k: int, n_init: int, settings: Settings) -> GaussianMixture:
    from sklearn.mixture import GaussianMixture  # this import needs a fifth of a second

    return GaussianMixture(
        k,
        covariance_type=settings.covariance_type,
        n_init=n_init,
        init_params="k-means++",
        max_iter=1000,  # the fit converges, because users cannot act on a convergence warning
        random_state=settings.random_state,
    )


def candidate_sizes(n_components: int | Sequence[int], n_most: int) -> list[int]:
    """Return the numbers of components to try."""
    ends = n_components if isinstance(n_components, Sequence) else (n_components, n_components)
    low, high = (min(k, n_most) for k in ends)
    return sorted({int(k) for k in np.rint(np.geomspace(low, high, _N_CANDIDATES))})


@shared
def log_densities(
    context: Context, role: str, names: tuple[str, ...], settings: Settings
) -> np.ndarray:
    """Return the log-density of each complete row of a role, in the units of the columns."""
    model = mixture(context, names, settings)
    rows = complete_rows(context, role, names)
    logs = np.empty(len(rows))
    with np.errstate(over="ignore"):  # far from all components the density is 0
        for start in range(0, len(rows), _BLOCK):
            block = (rows[start : start + _BLOCK] - model.mean) / model.scale
            logs[start : start + _BLOCK] = model.gaussians.score_samples(block)
    return logs - np.log(model.scale).sum()


def _skipped(constant: list[str], n_used: int, n_rows: int) -> tuple[MetricWarning, ...]:
    """Return warnings about the columns and the synthetic rows that the mixture ignores."""
    notes: list[MetricWarning] = []
    if constant:
        text = f"Skipped columns that are constant in the training data: {', '.join(constant)}."
        notes.append(ConstantColumnWarning(text))
    if 0 < n_used < n_rows / 2:
        text = f"Ignored {n_rows - n_used} of {n_rows} synthetic rows that have a missing value."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


def _off_fresh_rows(result: Result, fresh: np.ndarray) -> Result:
    """Add the mean likelihood of the holdout rows as the baseline, and the gap to it."""
    baseline = float(fresh.mean())
    details = {**result.details, "gap": abs(result.value - baseline)}
    return replace(result, baseline=baseline, details=details)


@declared
class TreeLikelihood(Metric):
    """Base of the mean likelihoods of rows under a dependence tree of the training data.

    Subclasses define `_of_logs`, which specifies whether logarithms are averaged.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. If 0, rows with a combination that does not
        occur in the training data have a probability of 0.
    n_bins : int or None, default=None
        If given, numerical and datetime columns are also modeled, with this number of bins of equal
        width over the training range. Frequent values have a separate bin, see
        :class:`~skeval.tables.Discretizer`.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    smoothing: NonNegative = 1.0
    _: KW_ONLY
    n_bins: BinCount | None = None
    columns: Columns = None

    @property
    def _of_logs(self) -> bool:
        raise NotImplementedError(f"{type(self).__name__} must define _of_logs.")

    def _compute(self, context: Context) -> Result:
        tree = names, *_ = self._tree(context)
        if not names:
            return undefined_result(
                "no categorical or boolean column of this table can be measured."
            )
        likely = _likely(context, "synthetic", tree, self._of_logs)
        value, interval = float(likely.mean()), _within_range(mean_interval(likely), self._of_logs)
        return Result(
            value, interval=interval, details=_details_of_tree(context, tree, self._of_logs)
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value) or "holdout" not in context:
            return result
        fresh = _likely(context, "holdout", self._tree(context), self._of_logs)
        return _off_fresh_rows(result, fresh)

    def _tree(self, context: Context) -> Tree:
        """Return the arguments of the tree. Sorting the names ignores the column order."""
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        names = tuple(sorted(columns_of(context, self.columns, kinds)))
        return names, float(self.smoothing), self.n_bins or 10

    def _summary(self, result: Result) -> str:
        return (
            "Under a dependence tree fitted to the training data, the mean log-probability of the "
            f"synthetic rows is {number(result.details['mean_log'])}. A value above the baseline "
            "is not better."
        )


@declared
class BNLikelihood(TreeLikelihood):
    """Mean probability of the synthetic rows under a dependence tree of the training data.

    The metric models the categorical columns as a Bayesian network in which every column depends on
    one other column, and computes the mean probability of the synthetic rows. Combinations that do
    not occur in the training data have a low probability. Compare the value with the baseline,
    because the maximum is not the best value.

    Parameters
    ----------
    log : bool, default=False
        Whether to average the logarithms of the probabilities, as :class:`BNLogLikelihood` does.

    Warnings
    --------
    The maximum is not the best value, because rows that repeat the most frequent combination have
    the highest probability. A few probable rows dominate the mean.

    See Also
    --------
    BNLogLikelihood : Mean of the logarithms of the probabilities.
    GMLikelihood : Numerical columns, modeled by a mixture.

    Notes
    -----
    The tree is the Chow-Liu tree, that is, the spanning tree with the maximum mutual information.
    The probability of a row is ``prod_v (count(u, v) + s) / (count(u) + s K_v)``, where u is the
    value of the parent of v, s is the smoothing and K_v is the number of values of v in the
    training data. The root is the first column by name. A missing entry is treated as a value.
    Values that do not occur in the training data have count 0, so with smoothing the probabilities
    of all values sum to slightly more than 1.

    More is not always better. For example, the probability is maximal if all rows have the most
    frequent combination. The value should match the baseline, which is the value of the holdout
    rows. ``details["gap"]`` is the absolute difference from the baseline. A few probable rows
    dominate the mean probability, whereas improbable rows dominate the mean logarithm. The interval
    is the normal interval of a mean of independent rows for the fitted tree.

    References
    ----------
    Published under this name by SDMetrics, without smoothing. C. K. Chow, C. N. Liu,
    "Approximating discrete probability distributions with dependence trees", IEEE Transactions on
    Information Theory 14 (1968), doi:10.1109/TIT.1968.1054142.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import BNLikelihood
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    >>> synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq")})
    >>> BNLikelihood(smoothing=0.0).fit(train).score(synthetic)
    0.25
    """

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(float("-inf"), 1.0))

    log: bool = False

    @property
    def _of_logs(self) -> bool:
        return self.log


def _details_of_tree(context: Context, tree: Tree, log: bool) -> dict[str, Any]:
    logs, names = log_probabilities(context, "synthetic", *tree), tree[0]
    parents = dependence_tree(context, *tree).parents
    return {
        "mean": float(np.exp(logs).mean()),
        "mean_log": float(_clip_logs(logs).mean()),
        "train": float(_likely(context, "train", tree, log).mean()),
        "impossible_share": float(np.isneginf(logs).mean()),
        "edges": [[names[u], names[v]] for v, u in enumerate(parents) if u >= 0],
    }


@declared
class BNLogLikelihood(TreeLikelihood):
    """Mean log-probability of the synthetic rows under a dependence tree of the training data.

    The metric averages the logarithms of the probabilities of :class:`BNLikelihood`. Therefore
    every improbable row counts, even if its probability is very small.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. If 0, rows with a combination that does not
        occur in the training data count as rows of probability 1e-8.

    Warnings
    --------
    The maximum is not the best value, because rows that repeat the most frequent combination have
    the highest probability. Compare the value with the baseline.

    See Also
    --------
    BNLikelihood : Mean of the probabilities.
    GMLikelihood : Numerical columns, modeled by a mixture.

    Notes
    -----
    See :class:`BNLikelihood`. The negative value is the cross entropy of the synthetic rows with
    respect to the tree, in nats.

    References
    ----------
    Published under this name by SDMetrics, without smoothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import BNLogLikelihood
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    >>> synthetic = pd.DataFrame({"a": list("xxyy"), "b": list("pqpq")})
    >>> round(BNLogLikelihood(smoothing=0.0).fit(train).score(synthetic), 6)
    -9.556914
    """

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(float("-inf"), 0.0))
    _of_logs = True


def _likely(context: Context, role: str, tree: Tree, log: bool) -> np.ndarray:
    """Return the probability of each row of a role, or its logarithm."""
    logs = log_probabilities(context, role, *tree)
    return _clip_logs(logs) if log else np.exp(logs)


def _within_range(interval: tuple[float, float] | None, log: bool) -> tuple[float, float] | None:
    """Clip a normal interval to the possible values of the mean."""
    if interval is None:
        return None
    low, high = interval
    return low if log else max(0.0, low), min(0.0 if log else 1.0, high)


def _clip_logs(logs: np.ndarray) -> np.ndarray:
    """Replace the logarithm of 0 with a finite number."""
    return np.where(np.isneginf(logs), _NO_PROBABILITY, logs)


@shared
def dependence_tree(
    context: Context, names: tuple[str, ...], smoothing: float, n_bins: int
) -> DependenceTree:
    """Return the dependence tree of the training data."""
    cut = cells(context, n_bins, "uniform", None).cells_
    n_cells = [cut[name].n_cells for name in names]
    return DependenceTree(_columns(context, "train", names, n_bins), n_cells, smoothing)


@shared
def log_probabilities(
    context: Context, role: str, names: tuple[str, ...], smoothing: float, n_bins: int
) -> np.ndarray:
    """Return the logarithm of the probability of each row under the tree."""
    tree = dependence_tree(context, names, smoothing, n_bins)
    return tree.log_probability(_columns(context, role, names, n_bins))


def _columns(context: Context, role: str, names: tuple[str, ...], n_bins: int) -> list[np.ndarray]:
    all_codes = codes(context, role, n_bins, "uniform", None)
    return [all_codes[:, context.schema.measured.index(name)] for name in names]


class DependenceTree:
    """Chow-Liu tree, the tree of pairwise dependence closest to the distribution of the rows."""

    # The edges form the spanning tree with the maximum sum of mutual information. The
    # probabilities are defined in BNLikelihood. All cells that do not occur have count 0 and
    # together count as one additional cell.

    def __init__(
        self, columns: Sequence[np.ndarray], n_cells: Sequence[int], smoothing: float = 1.0
    ) -> None:
        self.smoothing = smoothing
        self.parents = _parents(columns)
        self.n_rows = columns[0].size
        self._single = [np.bincount(c, minlength=k) for c, k in zip(columns, n_cells, strict=True)]
        self._pairs = {
            v: _joint_counts(columns[u], columns[v], (n_cells[u], n_cells[v]))
            for v, u in enumerate(self.parents)
            if u >= 0
        }

    def log_probability(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Return the log-probability of each row, which is minus infinity for probability 0."""
        total = np.zeros(columns[0].size)
        for v, u in enumerate(self.parents):
            n_used = np.count_nonzero(self._single[v])
            if u < 0:
                count, given = self._single[v][columns[v]], np.asarray(self.n_rows)
            else:
                count = np.asarray(self._pairs[v][columns[u], columns[v]]).ravel()
                given = self._single[u][columns[u]]
            share = np.zeros(total.size)
            possible = given + self.smoothing * n_used
            np.divide(count + self.smoothing, possible, out=share, where=possible > 0)
            with np.errstate(divide="ignore"):
                total += np.log(share)
        return total


def _joint_counts(first: np.ndarray, second: np.ndarray, shape: tuple[int, int]) -> csr_matrix:
    """Count how often each pair of cells of two columns occurs."""
    if shape[0] * shape[1] > max(_DENSE, first.size):
        once = np.ones(first.size, dtype=np.int64)
        return coo_matrix((once, (first, second)), shape=shape).tocsr()  # sums duplicates
    cell = first.astype(np.int64) * shape[1] + second  # dense counts are ten times faster
    return csr_matrix(np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape))


def _parents(columns: Sequence[np.ndarray]) -> list[int]:
    """Return the position of the parent of each column in the tree rooted at the first column."""
    d = len(columns)
    if d == 1:
        return [-1]
    from sklearn.metrics import mutual_info_score

    information = np.zeros((d, d))
    n_cells = [int(column.max()) + 1 for column in columns]
    for i, j in combinations(range(d), 2):
        counts = _joint_counts(columns[i], columns[j], (n_cells[i], n_cells[j]))
        information[i, j] = mutual_info_score(None, None, contingency=counts)
    # the sparse graph ignores edges of weight 0
    weights = np.triu(1.0 + information.max() - information, 1)
    _, parents = breadth_first_order(minimum_spanning_tree(weights), 0, directed=False)
    return [max(-1, int(parent)) for parent in parents]
