"""How likely synthetic rows are under a model that was fitted to train."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.mixture import GaussianMixture

from skeval._aggregate import undefined
from skeval._parameters import Columns, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.preprocessing import numbers
from skeval.result import Result
from skeval.steps import chosen_columns, sample_positions
from skeval.tags import MetricTags

__all__ = ["GMLikelihood", "mean_interval"]

_N_CANDIDATES = 8
_BLOCK = 2**14  # rows whose densities are computed at a time


class ComponentRange:
    """A positive number, or two of them in ascending order."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` names numbers of components."""
        count = Interval(int, 1, None)
        if isinstance(value, tuple | list):
            return len(value) == 2 and all(map(count.accepts, value)) and value[0] <= value[1]
        return count.accepts(value)

    def describe(self) -> str:
        """Name the choices."""
        return "a positive int or a pair (low, high) of them"

    def invalid_example(self) -> object:
        """Return a number of components that cannot be."""
        return 0


class GMLikelihood(Metric):
    """Mean log-density under a Gaussian mixture fitted to train: as that of fresh rows at best.

    An analyst describes the numeric and date columns of train as a mixture of Gaussian clouds and
    asks how dense it is where the synthetic rows lie. Rows where train has none make the value very
    small.

    Parameters
    ----------
    n_components : int or (int, int), default=(1, 30)
        The number of clouds. Of a range, eight numbers that grow by equal factors are tried, and
        the best one by `criterion` is taken.
    covariance_type : {"diag", "full", "tied", "spherical"}, default="diag"
        The shapes of the clouds.
    n_init : int, default=3
        Number of starts of the fit; where the number of clouds is searched for, candidates have one
        start and the chosen one has all.
    criterion : {"bic", "aic"}, default="bic"
        By which the number of clouds is chosen; the lower, the better.
    max_rows : int or None, default=5000
        The mixture is fitted to at most so many rows of train, drawn at random; None is all. The
        search for the number of clouds on 5,000 rows of 10 columns takes a few seconds.
    columns : None, int or list of str, default=None
        The columns to model: all, the first so many, or these; only numeric and date ones count.
    random_state : int, default=0
        Seed of the sample and of the starts.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is the mean of ``ln f(x)`` over synthetic rows, f being the density in the columns'
    units: of columns in other units it is another number. It has no natural best: more is not
    always better, since rows that all lie in the densest place have the highest density. It should
    be that of fresh rows, which is the baseline; ``details["gap"]`` is how far it is off, and that
    is free of units. Against train itself, whose rows the mixture was fitted to, fresh rows are a
    little less dense.

    The columns are standardised before the fit. Rows with a missing or infinite value are left out,
    rather than filled in with values that nobody had: the mean of a column lies in the middle of
    the clouds. Columns that are constant in train are left out, with a warning. The interval is
    that of a mean of independent rows, the mixture being given; single rows far from all clouds
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
    _legal = {
        "n_components": ComponentRange(),
        "covariance_type": Options(("full", "tied", "diag", "spherical")),
        "n_init": Interval(int, 1, None),
        "criterion": Options(("bic", "aic")),
        "max_rows": Nullable(Interval(int, 2, None)),
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        n_components: int | tuple[int, int] = (1, 30),
        covariance_type: str = "diag",
        n_init: int = 3,
        criterion: str = "bic",
        *,
        max_rows: int | None = 5000,
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_init = n_init
        self.criterion = criterion
        self.max_rows = max_rows
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        numeric = context.schema.columns("continuous", "datetime")
        names = [name for name in chosen_columns(context.schema, self.columns) if name in numeric]
        varying, constant = _split(context, sorted(names))
        if not varying or len(complete_rows(context, "train", varying)) < 2:
            return undefined("no numeric or date column varies over the complete rows of train.")
        settings = Settings(**{name: getattr(self, name) for name in Settings._fields})
        model = mixture(context, varying, settings)
        found = {
            role: log_densities(context, role, varying, settings)
            for role in ("synthetic", "holdout")
            if role in context
        }
        warnings = (*_constant(constant), *_incomplete(context, found))
        if not found["synthetic"].size:
            lost = undefined("synthetic has no row in which all modelled columns have a value.")
            return Result(lost.value, warnings=(*warnings, *lost.warnings))
        value = float(found["synthetic"].mean())
        baseline = (
            float(found["holdout"].mean()) if found.get("holdout", np.empty(0)).size else None
        )
        details: dict[str, Any] = {
            "n_components": model.gaussians.n_components,
            "criteria": {str(k): score for k, score in model.criteria.items()},
            "train": model.train,
            "standardised": value + float(np.log(model.scale).sum()),
            "names": list(varying),
            "n_rows": {"fitted": model.n_rows, **{role: len(x) for role, x in found.items()}},
        }
        if baseline is not None:
            details["gap"] = abs(value - baseline)
        return Result(
            value,
            interval=mean_interval(found["synthetic"]),
            baseline=baseline,
            details=details,
            warnings=warnings,
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
        varies = dict(zip(present, np.ptp(rows, axis=0) > 0.0, strict=True)) if len(rows) else {}
        still = [name for name in present if not varies.get(name, True)]
        if not still:
            break
        constant += still
        present = [name for name in present if name not in still]
    return tuple(present), constant


@shared
def mixture(context: Context, names: tuple[str, ...], settings: Settings) -> Mixture:
    """Fit a mixture to train; its number of clouds is chosen by a criterion."""
    rows = complete_rows(context, "train", names)
    mean, scale = rows.mean(axis=0), rows.std(axis=0)
    at = sample_positions(len(rows), settings.max_rows, settings.random_state)
    drawn = (rows[at] - mean) / scale
    drawn = drawn[np.lexsort(drawn.T)]  # the starts must not depend on the order of rows
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
    found = np.empty(len(rows))
    with np.errstate(over="ignore"):  # beyond all clouds: a density of 0
        for start in range(0, len(rows), _BLOCK):
            block = (rows[start : start + _BLOCK] - model.mean) / model.scale
            found[start : start + _BLOCK] = model.gaussians.score_samples(block)
    return found - np.log(model.scale).sum()


def _constant(names: list[str]) -> tuple[MetricWarning, ...]:
    text = f"train has one value only in {', '.join(names)}: left out of the mixture."
    return (ConstantColumnWarning(text),) if names else ()


def _incomplete(context: Context, found: dict[str, np.ndarray]) -> tuple[MetricWarning, ...]:
    n_rows, n_used = context.n_rows("synthetic"), found["synthetic"].size
    text = f"{n_rows - n_used} of {n_rows} synthetic rows lack a value and are left out."
    return (DegenerateInputWarning(text),) if 0 < n_used < n_rows / 2 else ()
