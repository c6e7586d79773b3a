"""How likely synthetic rows are under a tree of dependence between the categories of train."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import Columns, Constraint, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.fidelity.likelihood import mean_interval
from skeval.result import Result
from skeval.stats.trees import DependenceTree
from skeval.steps import cells, chosen_columns, codes
from skeval.steps.samples import ColumnChoice
from skeval.tags import MetricTags

__all__ = ["BNLikelihood", "BNLogLikelihood"]

_NO_PROBABILITY = np.log(1e-8)  # what SDMetrics takes for the logarithm of 0
_LEGAL: dict[str, Constraint] = {
    "smoothing": Interval(float, 0.0, None),
    "n_bins": Nullable(Interval(int, 2, None)),
    "columns": Columns(),
}


class BNLikelihood(Metric):
    """Mean probability of rows under a tree fitted to train: as that of fresh rows at best.

    An analyst describes the categories of train by a Bayesian network in which every column depends
    on one other, and asks how probable the synthetic rows are in it. Combinations that train does
    not have are improbable.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. With 0, rows with a combination that train
        never had have probability 0.
    log : bool, default=False
        Whether to average logarithms of probabilities, as :class:`BNLogLikelihood` does.
    n_bins : int or None, default=None
        If given, numeric and date columns are modelled too, on so many bins of equal width over
        train.
    columns : None, int or list of str, default=None
        The columns to model: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

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
    _legal = {**_LEGAL, "log": Options((True, False))}

    def __init__(
        self,
        smoothing: float = 1.0,
        log: bool = False,
        n_bins: int | None = None,
        columns: int | list[str] | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.log = log
        self.n_bins = n_bins
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        return _likelihood(context, self.smoothing, self.log, self.n_bins, self.columns)


class BNLogLikelihood(Metric):
    """Mean log-probability of rows under a tree fitted to train: as that of fresh rows at best.

    As :class:`BNLikelihood`, of logarithms: every improbable row counts, however small its
    probability is.

    Parameters
    ----------
    smoothing : float, default=1.0
        Added to the count of every value of a column. With 0, rows with a combination that train
        never had count as rows of probability 1e-8.
    n_bins : int or None, default=None
        If given, numeric and date columns are modelled too, on so many bins of equal width over
        train.
    columns : None, int or list of str, default=None
        The columns to model: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

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
    _legal = _LEGAL

    def __init__(
        self,
        smoothing: float = 1.0,
        n_bins: int | None = None,
        columns: int | list[str] | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.n_bins = n_bins
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        return _likelihood(context, self.smoothing, True, self.n_bins, self.columns)


def _likelihood(
    context: Context, smoothing: float, log: bool, n_bins: int | None, columns: ColumnChoice
) -> Result:
    names = _modelled(context, n_bins, columns)
    if not names:
        return undefined("no categorical or boolean column of this table can be measured.")
    logs = {
        role: log_probabilities(context, role, names, float(smoothing), n_bins or 10)
        for role in ("train", "synthetic", "holdout")
        if role in context
    }
    likely = {role: _terms(found, log) for role, found in logs.items()}
    value = float(likely["synthetic"].mean())
    baseline = float(likely["holdout"].mean()) if "holdout" in likely else None
    tree = dependence_tree(context, names, float(smoothing), n_bins or 10)
    details: dict[str, Any] = {
        "mean": float(_terms(logs["synthetic"], False).mean()),
        "mean_log": float(_terms(logs["synthetic"], True).mean()),
        "train": float(likely["train"].mean()),
        "impossible_share": float(np.isneginf(logs["synthetic"]).mean()),
        "edges": [[names[u], names[v]] for v, u in enumerate(tree.parents) if u >= 0],
    }
    if baseline is not None:
        details["gap"] = abs(value - baseline)
    interval = mean_interval(likely["synthetic"])
    if interval is not None:  # the normal law does not know where probabilities end
        most = 0.0 if log else 1.0
        interval = (interval[0] if log else max(0.0, interval[0]), min(most, interval[1]))
    return Result(value, interval=interval, baseline=baseline, details=details)


def _modelled(context: Context, n_bins: int | None, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the columns of the tree by name: the order of a table's columns means nothing."""
    nominal = context.schema.columns("categorical", "boolean")
    names = chosen_columns(context.schema, columns)
    return tuple(sorted(name for name in names if n_bins is not None or name in nominal))


def _terms(logs: np.ndarray, log: bool) -> np.ndarray:
    """Return what is averaged over the rows."""
    return np.where(np.isneginf(logs), _NO_PROBABILITY, logs) if log else np.exp(logs)


@shared
def dependence_tree(
    context: Context, names: tuple[str, ...], smoothing: float, n_bins: int
) -> DependenceTree:
    """Return the tree learnt from train."""
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
    found = codes(context, role, n_bins, "uniform", None)
    return [found[:, context.schema.measured.index(name)] for name in names]
