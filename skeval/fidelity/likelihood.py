"""How likely synthetic rows are under a mixture or a tree of dependence fitted to train."""

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
_BLOCK = 2**14  # rows whose densities are computed at a time
_DENSE = 2**22  # joint cells that are counted in an array
_NO_PROBABILITY = np.log(1e-8)  # what SDMetrics takes for the logarithm of 0


def _are_components(value: object) -> bool:
    count = Interval(1, kind=int)
    if isinstance(value, tuple | list):
        return len(value) == 2 and all(map(count.accepts, value)) and value[0] <= value[1]
    return count.accepts(value)


Tree = tuple[tuple[str, ...], float, int]  # its columns, its smoothing, bins of numeric columns
ComponentRange = Annotated[
    int | tuple[int, int], Legal("a positive int or a pair (low, high) of them", _are_components, 0)
]


@declared
class GMLikelihood(Metric):
    """Mean log-density under a Gaussian mixture fitted to train: as that of fresh rows at best.

    An analyst describes the numeric and date columns of train as a mixture of Gaussian components
    and asks how dense it is where the synthetic rows lie. Rows where train has none make the value
    very small.

    Parameters
    ----------
    n_components : int or (int, int), default=(1, 30)
        Number of components. Within a range, eight numbers that grow by equal factors are tried,
        and the best one by `criterion` is taken.
    covariance_type : {"diag", "full", "tied", "spherical"}, default="diag"
        Shape of the components.
    n_init : int, default=3
        Number of starts of the fit. If the number of components is chosen, each candidate has one
        start and the chosen one has all.
    criterion : {"bic", "aic"}, default="bic"
        Criterion by which the number of components is chosen; the lower, the better.
    max_rows : int or None, default=5000
        The mixture is fitted to at most this many rows of train, drawn at random; None is all. The
        search for the number of components on 5,000 rows of 10 columns takes a few seconds.
    columns : None, int or list of str, default=None
        The columns to model: all, the first *n*, or these; only numeric and date ones count.
    random_state : int, default=0
        Seed of the sample and of the starts.

    See Also
    --------
    BNLogLikelihood : Categories, by a tree of dependence.
    EnergyDistance : Without a model of train.

    Notes
    -----
    The value is the mean of ``ln f(x)`` over synthetic rows, f being the density in the columns'
    units: in other units it is another number. It has no natural best: more is not always better,
    since rows that all lie in the densest place have the highest density. It should be that of
    fresh rows, which is the baseline; ``details["gap"]`` is how far it is off, and that is free of
    units. Fresh rows are a little less dense than train itself.

    The columns are standardised before the fit. Rows with a missing or infinite value are left out,
    rather than filled in with values that nobody had: the mean of a column lies in the middle of
    the components. Columns that are constant in train are left out, with a warning. The interval is
    that of a mean of independent rows, the mixture being given; single rows far from all components
    make it too narrow.

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
                "no numeric or date column varies over the complete rows of train."
            )
        model = mixture(context, varying, self._settings)
        logs = log_densities(context, "synthetic", varying, self._settings)
        warnings = _left_out(constant, logs.size, context.n_rows("synthetic"))
        if not logs.size:
            lost = undefined_result(
                "synthetic has no row in which all modelled columns have a value."
            )
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
            f"Under a mixture of {details['n_components']} Gaussian components fitted to train, "
            f"the mean log-density of synthetic rows is {number(result.value)}, that of train "
            f"{number(details['train'])}; more than fresh rows have is no merit."
        )


class Settings(NamedTuple):
    """How a mixture is fitted; see the metric's parameters."""

    n_components: int | tuple[int, int]
    covariance_type: str
    n_init: int
    criterion: str
    max_rows: int | None
    random_state: int


class Mixture(NamedTuple):
    """A fitted mixture of standardised columns."""

    gaussians: GaussianMixture
    mean: np.ndarray
    scale: np.ndarray
    criteria: dict[int, float]
    train: float
    n_rows: int


def mean_interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float] | None:
    """Return where the mean of independent values lies; None where no more than one is finite."""
    if values.size < 2 or not np.isfinite(values).all():
        return None
    half = float(-ndtri((1.0 - level) / 2.0) * values.std(ddof=1) / np.sqrt(values.size))
    return float(values.mean()) - half, float(values.mean()) + half


def complete_rows(context: Context, role: str, names: Sequence[str]) -> np.ndarray:
    """Return the rows of a role without missing or infinite value in some columns."""
    matrix = numbers(context[role][list(names)])
    return matrix[np.isfinite(matrix).all(axis=1)]


def _split(context: Context, names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the columns that vary over the complete rows of train, and the constant ones."""
    present = [name for name in names if context.train[name].notna().any()]
    constant: list[str] = []
    while present:
        rows = complete_rows(context, "train", tuple(present))
        # the spread that the columns are divided by: of denormal numbers it is 0
        varies = dict(zip(present, rows.std(axis=0) > 0.0, strict=True)) if len(rows) else {}
        still = [name for name in present if not varies.get(name, True)]
        if not still:
            break
        constant += still
        present = [name for name in present if name not in still]
    return tuple(present), constant


@shared
def mixture(context: Context, names: tuple[str, ...], settings: Settings) -> Mixture:
    """Fit a mixture to train; its number of components is chosen by a criterion."""
    rows = complete_rows(context, "train", names)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    rows = rows[np.lexsort(rows.T)]  # neither draws nor starts must depend on the order of rows
    at = sample_positions(len(rows), settings.max_rows, settings.random_state)
    drawn = (rows[at] - mean) / scale
    candidates = _candidates(settings.n_components, n_most=len(np.unique(drawn, axis=0)))
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
    from sklearn.mixture import GaussianMixture  # a fifth of a second

    return GaussianMixture(
        k,
        covariance_type=settings.covariance_type,
        n_init=n_init,
        init_params="k-means++",
        max_iter=1000,  # so that no fit ends early: a reader could not change what a warning says
        random_state=settings.random_state,
    )


def _candidates(n_components: int | Sequence[int], n_most: int) -> list[int]:
    ends = n_components if isinstance(n_components, Sequence) else (n_components, n_components)
    low, high = (min(k, n_most) for k in ends)
    return sorted({int(k) for k in np.rint(np.geomspace(low, high, _N_CANDIDATES))})


@shared
def log_densities(
    context: Context, role: str, names: tuple[str, ...], settings: Settings
) -> np.ndarray:
    """Return the log-density of each complete row of a role, in the columns' units."""
    model = mixture(context, names, settings)
    rows = complete_rows(context, role, names)
    logs = np.empty(len(rows))
    with np.errstate(over="ignore"):  # beyond all components: a density of 0
        for start in range(0, len(rows), _BLOCK):
            block = (rows[start : start + _BLOCK] - model.mean) / model.scale
            logs[start : start + _BLOCK] = model.gaussians.score_samples(block)
    return logs - np.log(model.scale).sum()


def _left_out(constant: list[str], n_used: int, n_rows: int) -> tuple[MetricWarning, ...]:
    """Say which columns, and how many synthetic rows, the mixture leaves out."""
    notes: list[MetricWarning] = []
    if constant:
        text = f"train has one value only in {', '.join(constant)}: left out of the mixture."
        notes.append(ConstantColumnWarning(text))
    if 0 < n_used < n_rows / 2:
        text = f"{n_rows - n_used} of {n_rows} synthetic rows lack a value and are left out."
        notes.append(DegenerateInputWarning(text))
    return tuple(notes)


def _off_fresh_rows(result: Result, fresh: np.ndarray) -> Result:
    """Compare a mean likelihood with that of fresh real rows, which is what it should be."""
    baseline = float(fresh.mean())
    details = {**result.details, "gap": abs(result.value - baseline)}
    return replace(result, baseline=baseline, details=details)


@declared
class TreeLikelihood(Metric):
    """Base of the mean likelihoods of rows under a tree of dependence fitted to train.

    Authors say by `_of_logs` whether logarithms are averaged.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. With 0, rows with a combination that train
        never had have probability 0.
    n_bins : int or None, default=None
        If given, numeric and date columns are modelled too, on this many bins of equal width over
        train; frequent values have cells of their own, see :class:`~skeval.tables.Discretizer`.
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
        """Return what the tree is fitted to, columns by name: their order means nothing."""
        kinds = NOMINAL if self.n_bins is None else (*NOMINAL, *NUMERIC)
        names = tuple(sorted(columns_of(context, self.columns, kinds)))
        return names, float(self.smoothing), self.n_bins or 10

    def _summary(self, result: Result) -> str:
        return (
            "Under a tree of dependence fitted to train, synthetic rows have a mean "
            f"log-probability of {number(result.details['mean_log'])}; more than fresh rows have "
            "is no merit."
        )


@declared
class BNLikelihood(TreeLikelihood):
    """Mean probability of rows under a tree fitted to train: as that of fresh rows at best.

    An analyst describes the categories of train by a Bayesian network in which every column depends
    on one other, and asks how probable the synthetic rows are in it. Combinations that train does
    not have are improbable.

    Parameters
    ----------
    log : bool, default=False
        Whether to average logarithms of probabilities, as :class:`BNLogLikelihood` does.

    See Also
    --------
    BNLogLikelihood : The mean of logarithms.
    GMLikelihood : Numbers, by a mixture.

    Notes
    -----
    The tree is the one of Chow and Liu: the spanning tree whose edges have the most mutual
    information in train. A row has the probability ``prod_v (count(u, v) + s) / (count(u) + s
    K_v)``, u being the value of v's parent, s the smoothing and K_v the number of values of v in
    train; its root is the first column by name. Missing is a value. One that train never had has
    count 0, which with smoothing makes the probabilities of all values sum to a little over 1.

    The value has no natural best: rows that all hold the most frequent combination have the highest
    probability. It should be that of fresh rows, which is the baseline; ``details["gap"]`` is how
    far it is off. The mean is driven by few probable rows, that of logarithms by improbable ones.
    The interval is that of a mean of independent rows, the tree being given.

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
    """Mean log-probability of rows under a tree fitted to train: as that of fresh rows at best.

    As :class:`BNLikelihood`, of logarithms: every improbable row counts, however small its
    probability is.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. With 0, rows with a combination that train
        never had count as rows of probability 1e-8.

    See Also
    --------
    BNLikelihood : The mean of the probabilities.
    GMLikelihood : Numbers, by a mixture.

    Notes
    -----
    See :class:`BNLikelihood`. Under the tree, minus the value is the cross entropy of the synthetic
    rows, in nats.

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
    """Return what is averaged over a role's rows."""
    logs = log_probabilities(context, role, *tree)
    return _clip_logs(logs) if log else np.exp(logs)


def _within_range(interval: tuple[float, float] | None, log: bool) -> tuple[float, float] | None:
    """Return an interval cut to what can be: a normal distribution does not know its ends."""
    if interval is None:
        return None
    low, high = interval
    return low if log else max(0.0, low), min(0.0 if log else 1.0, high)


def _clip_logs(logs: np.ndarray) -> np.ndarray:
    """Return logarithms of probabilities with a number for that of 0."""
    return np.where(np.isneginf(logs), _NO_PROBABILITY, logs)


@shared
def dependence_tree(
    context: Context, names: tuple[str, ...], smoothing: float, n_bins: int
) -> DependenceTree:
    """Return the tree learned from train."""
    cut = cells(context, n_bins, "uniform", None).cells_
    n_cells = [cut[name].n_cells for name in names]
    return DependenceTree(_columns(context, "train", names, n_bins), n_cells, smoothing)


@shared
def log_probabilities(
    context: Context, role: str, names: tuple[str, ...], smoothing: float, n_bins: int
) -> np.ndarray:
    """Return the logarithm of each row's probability under the tree."""
    tree = dependence_tree(context, names, smoothing, n_bins)
    return tree.log_probability(_columns(context, role, names, n_bins))


def _columns(context: Context, role: str, names: tuple[str, ...], n_bins: int) -> list[np.ndarray]:
    all_codes = codes(context, role, n_bins, "uniform", None)
    return [all_codes[:, context.schema.measured.index(name)] for name in names]


class DependenceTree:
    """The tree of pairwise dependence that is nearest to the rows' distribution (Chow and Liu)."""

    # The edges are those of the spanning tree with the most mutual information in sum;
    # probabilities are those of BNLikelihood. A cell that does not occur has count 0: it is
    # one cell beyond those that do, however many values fall into it.

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
        """Return the logarithm of each row's probability; minus infinity where it is 0."""
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
    """Return how often each pair of cells of two columns occurs."""
    if shape[0] * shape[1] > max(_DENSE, first.size):
        once = np.ones(first.size, dtype=np.int64)
        return coo_matrix((once, (first, second)), shape=shape).tocsr()  # which adds them up
    cell = first.astype(np.int64) * shape[1] + second  # ten times faster
    return csr_matrix(np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape))


def _parents(columns: Sequence[np.ndarray]) -> list[int]:
    """Return the position of each column's parent in the tree that starts at the first."""
    d = len(columns)
    if d == 1:
        return [-1]
    from sklearn.metrics import mutual_info_score

    information = np.zeros((d, d))
    n_cells = [int(column.max()) + 1 for column in columns]
    for i, j in combinations(range(d), 2):
        counts = _joint_counts(columns[i], columns[j], (n_cells[i], n_cells[j]))
        information[i, j] = mutual_info_score(None, None, contingency=counts)
    # an edge of weight 0 would count as absent
    weights = np.triu(1.0 + information.max() - information, 1)
    _, parents = breadth_first_order(minimum_spanning_tree(weights), 0, directed=False)
    return [max(-1, int(parent)) for parent in parents]
