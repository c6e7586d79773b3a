"""Difference between phi_k correlations, computed from a curve that is cached for each shape."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, owens_t

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.fidelity.pair_metric import AssociationDifference, calibration_sentence
from skeval.results.result import Result
from skeval.stats.association import SideBySide
from skeval.steps.pairs import Binning, association_matrix, in_name_order, tables_read_once
from skeval.utils.formatting import number
from skeval.utils.parameters import BinCount

# Number of angles t for which the chi-square of a normal with correlation sin(t) is tabulated.
_N_ANGLES = 201
# Number of grid corners per block, which limits memory for large tables.
_BLOCK_CORNERS = 2**17
_SIDES = 2**20  # more than the number of rows of any table, to write a shape as one number
_MAX_SMALL = 16  # of a column, up to which four nodes between two angles are enough


@declared
class PhikMatrixDifference(AssociationDifference):
    """Mean absolute difference between the phi_k correlations of real and synthetic pairs.

    The phi_k coefficient measures the association of two columns of any type. The metric compares
    the phi_k matrices of the real and the synthetic data. The value ranges from 0 (equal
    associations) to 1 (all associations are lost or invented). Lower is better.

    Parameters
    ----------
    n_bins : int, default=10
        Number of equal-width bins of numerical and datetime columns over the training range.
    noise_correction : bool, default=True
        Whether two columns count as not associated if their chi-square statistic is below its mean
        for independent columns.
    backend : {"fast", "phik"}, default="fast"
        Implementation of the coefficient. "fast" looks up the coefficient in a table of its values.
        "phik" calls the slower phik package on the same bins. The results differ by less than 1e-5.
    reduce : {"mean_abs", "max_abs"}, default="mean_abs"
        Mean or maximum absolute difference over the pairs.
    floor : bool, default=False
        Whether :meth:`evaluate` also computes the value for independently shuffled columns (the
        floor), and the position of the value between the floor and the baseline. This doubles the
        computation time.

    Warnings
    --------
    The coefficient has no sign, so a change in the sign of a correlation is not detected.

    See Also
    --------
    CramersVDifference : Association of categories without a normal model.
    MixedAssociationDifference : A suitable measure for each type of pair.

    Notes
    -----
    The value is ``mean_{i<j} |phi_train(i, j) - phi_synthetic(i, j)|``. The phi_k coefficient is
    the correlation of a bivariate normal distribution that has the same chi-square on the same
    bins. Both tables use the bins of the training data, including those that the synthetic data do
    not use. As in the phik package, frequent values do not have a separate bin, because the bins
    are intervals of a normal distribution. A column with at most `n_bins` values has one bin per
    value, even if the values are not evenly spaced, whereas the package divides the range evenly.
    For a column with mostly zeros, :class:`CramersVDifference` detects more. Rows with a missing
    value are ignored for the pair. A pair with a constant column in the training data has no
    coefficient and is skipped with a warning. If a column is constant in the synthetic data only,
    the coefficient is 0.

    References
    ----------
    M. Baak et al., "A new correlation coefficient between categorical, ordinal and interval
    variables with Pearson characteristics", Computational Statistics & Data Analysis 152 (2020),
    doi:10.1016/j.csda.2020.107043.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PhikMatrixDifference
    >>> table = make_mixed()
    >>> PhikMatrixDifference().fit(table).score(table)
    0.0
    """

    tags = replace(AssociationDifference.tags, headline=5)
    report_columns = "phik"

    _warns_of_lost = False

    n_bins: BinCount = 10
    noise_correction: bool = True
    backend: Literal["fast", "phik"] = "fast"
    reduce: Literal["mean_abs", "max_abs"] = "mean_abs"
    _: KW_ONLY
    floor: bool = False

    def _associations(self, context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
        measure = (Binning(self.n_bins, "uniform-plain"), self.noise_correction, self.backend)
        return phik_matrix(context, role, names, *measure)

    def _reduce_gaps(self, gaps: np.ndarray) -> float:
        return float(np.nanmax(gaps)) if self.reduce == "max_abs" else super()._reduce_gaps(gaps)

    def _summary(self, result: Result) -> str:
        reduced = "at most" if self.reduce == "max_abs" else "on average"
        return (
            f"The phi_k association of {result.details['n_used']:,} pairs changes by "
            f"{number(result.value)} {reduced}, on a scale from 0 to 1."
            f"{calibration_sentence(result)}"
        )


@shared
@in_name_order
def phik_matrix(
    context: Context,
    role: str,
    names: tuple[str, ...],
    binning: Binning,
    noise_correction: bool,
    backend: str,
) -> np.ndarray:
    """Return the phi_k coefficients of the rows of a role, or nan for constant columns."""
    measure = _places_on_curves if backend == "fast" else _phik_of_package
    tables, of_train = (tables_read_once(context, r, names, binning) for r in (role, "train"))
    measure = partial(measure, noise_correction=noise_correction)
    matrix = association_matrix(tables, "drop", measure, of_train)
    if backend == "fast":  # the pairs of a shape share a curve, so that all are evaluated together
        above = np.triu_indices(len(names), 1)
        matrix[above] = _phik_at(matrix[above], matrix.T[above])
        matrix.T[above] = matrix[above]
    return matrix


def phik(table: ArrayLike, *, noise_correction: bool = True) -> float:
    """Return the phi_k correlation of a table of counts."""
    # 0 indicates no more dependence than expected by chance, 1 that one variable determines the
    # other. The value is not signed and does not depend on the order of the rows or columns.
    #
    # A bivariate normal is divided into a table of the same shape. phi_k is the correlation for
    # which its chi-square, relative to the maximum, equals the relative chi-square of the counts.
    #
    # With chi2 = sum (O - E)^2 / E (Yates' correction for 2 x 2), chi2_max = N min(r - 1, k -
    # 1) and p = (r - 1)(k - 1), or 0 without the noise correction, the value is the root rho
    # of g(rho) / g(1) = (chi2 - p) / (chi2_max - p), where g(rho) = sum (F(rho) - F(0))^2 /
    # F(0) over the cells of normal_cells. It is 0 if chi2 <= p, and 1 if chi2 = chi2_max.
    #
    # The curve depends on the shape only. It is tabulated for the first table of a shape, which
    # needs 201 evaluations of every grid corner, and cached. Thousands of categories in both
    # columns need minutes, so rare categories should be pooled first.
    #
    # Source: M. Baak, R. Koopman, H. Snoek, S. Klous, "A new correlation coefficient between
    # categorical, ordinal and interval variables with Pearson characteristics", Computational
    # Statistics & Data Analysis 152 (2020), doi:10.1016/j.csda.2020.107043.
    counts = np.asarray(table, dtype=np.float64)
    if counts.size == 0:
        return float("nan")
    places = _places_on_curves(SideBySide(counts), noise_correction=noise_correction)
    return _phik_at(*places).item()


def _places_on_curves(pairs: SideBySide, *, noise_correction: bool) -> np.ndarray:
    """Return the root of the relative chi-square of each table, and a number for its shape."""
    shapes = np.stack([pairs.n_rows, pairs.n_columns])
    greatest = pairs.n * (shapes.min(axis=0) - 1.0)
    pedestal = (shapes - 1.0).prod(axis=0) * noise_correction
    # the published phi_k has Yates' correction from scipy.stats.chi2_contingency
    observed = np.minimum(pairs.chi_square(yates=True), greatest)
    roots = np.where(observed <= pedestal, 0.0, 1.0)
    roots[~pairs.vary] = np.nan
    between = (observed > pedestal) & (observed < greatest)
    roots[between] = np.sqrt((observed - pedestal)[between] / (greatest - pedestal)[between])
    return np.stack([roots, shapes.min(axis=0) * _SIDES + shapes.max(axis=0)])


def _phik_at(roots: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return the coefficients at places on the curves of all shapes."""
    values = roots.copy()
    between = np.flatnonzero((roots > 0.0) & (roots < 1.0))
    alike, shape, counts = np.unique(shapes[between], return_inverse=True, return_counts=True)
    by_shape, ends = between[np.argsort(shape, kind="stable")], np.cumsum(counts)
    for code, start, end in zip(alike, ends - counts, ends, strict=True):
        own = by_shape[start:end]
        values[own] = np.sin(angle_curve(*divmod(int(code), _SIDES))(roots[own]))
    return values


def _phik_of_package(pairs: SideBySide, *, noise_correction: bool) -> np.ndarray:
    """Return the coefficient of each table, with the search for the root of the phik package."""
    # The package integrates every cell in every step of its search. Therefore, the time grows with
    # the number of cells, from 30 times (2 x 2) to 1,000 times (50 x 50) the time of `_phik_at`
    # for a cached shape.
    from phik.bivariate import phik_from_chi2

    shapes = np.stack([pairs.n_rows, pairs.n_columns], axis=1)
    pedestals = (shapes - 1).prod(axis=1) * noise_correction
    values = [
        phik_from_chi2(chi_square, n, *shape, pedestal=pedestal)
        for chi_square, n, shape, pedestal in zip(
            pairs.chi_square(yates=True), pairs.n, shapes.tolist(), pedestals, strict=True
        )
    ]
    return np.where(pairs.vary, values, np.nan)


def normal_cells(correlation: float, n_rows: int, n_columns: int) -> np.ndarray:
    """Return the mass of the bivariate normal in the cells of a grid over [-5, 5] x [-5, 5]."""
    # Computed as second differences of the distribution function, with Owen's T in closed form.
    #
    # Source: D. B. Owen, "Tables for computing bivariate normal probabilities", Annals of
    # Mathematical Statistics 27 (1956), doi:10.1214/aoms/1177728074.
    return np.asarray(_cells(np.array([correlation]), n_rows, n_columns)[0])


@lru_cache(maxsize=4096)
def angle_curve(n_rows: int, n_columns: int) -> PchipInterpolator:
    """Map sqrt(g / g(1)), nearly linear in the angle, to the angle t of the correlation sin(t)."""
    # The derivative of P(X <= h, Y <= k) by the angle is cos(t) times the density at the corner,
    # which Gauss-Legendre nodes integrate from one angle to the next.
    angles = np.linspace(0.0, np.pi / 2.0, _N_ANGLES)
    step = angles[1] / 2.0
    n_rows, n_columns = sorted((n_rows, n_columns))
    independent = np.outer(_masses(n_rows), _masses(n_columns))
    nodes, weights = leggauss(8 if n_columns > _MAX_SMALL else 4)
    h, k = (np.linspace(-5.0, 5.0, n + 1) for n in (n_rows, n_columns))
    n_lower = n_rows // 2 + 1  # the other corners mirror these
    lower = h[:n_lower, None]
    g, excess = np.empty(_N_ANGLES), np.zeros((n_rows + 1, n_columns + 1))
    block = max(1, _BLOCK_CORNERS // (n_lower * k.size * nodes.size))
    for start in range(0, _N_ANGLES - 1, block):
        t = angles[start : min(start + block, _N_ANGLES - 1), None] + step * (nodes + 1.0)
        sines, cosines = np.sin(t)[:, :, None, None], np.cos(t)[:, :, None, None]
        density = np.exp((2.0 * lower * k * sines - lower**2 - k**2) / (2.0 * cosines**2))
        rise = np.tensordot(density, weights * step / (2.0 * np.pi), ([1], [0]))
        upper = rise[:, : n_rows + 1 - n_lower][:, ::-1, ::-1]
        below = excess + np.cumsum(np.concatenate([rise, upper], axis=1), axis=0)
        excess = below[-1]
        cells = np.diff(np.diff(below, axis=1), axis=2)
        g[start + 1 : start + 1 + len(t)] = (cells**2 / independent).sum(axis=(1, 2))
    g[0] = 0.0
    return PchipInterpolator(np.sqrt(g / g[-1]), angles)


def _masses(n_cells: int) -> np.ndarray:
    """Return the mass of the standard normal in equally wide cells of [-5, 5]."""
    masses = np.diff(ndtr(np.linspace(-5.0, 5.0, n_cells + 1)))
    # differences lose digits above the middle, so the upper half mirrors the lower half
    return np.asarray(np.where(np.arange(n_cells) < n_cells / 2, masses, masses[::-1]))


def _cells(correlations: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    below = _distribution(
        correlations[:, None, None],
        np.linspace(-5.0, 5.0, n_rows + 1)[:, None],
        np.linspace(-5.0, 5.0, n_columns + 1),
    )
    return np.asarray(np.diff(np.diff(below, axis=1), axis=2))


def _distribution(rho: np.ndarray, h: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return P(X <= h, Y <= k) of standard normals of correlation `rho` in [0, 1], broadcast."""
    root = np.sqrt((1.0 - rho) * (1.0 + rho))
    opposite = (h * k < 0) | ((h * k == 0) & (h + k < 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # x / 0 is the signed infinity that the formula requires. 0 / 0 is overwritten below.
        wedge_h = owens_t(h, (k - rho * h) / (h * root))
        wedge_k = owens_t(k, (h - rho * k) / (k * root))
    value = 0.5 * (ndtr(h) + ndtr(k)) - wedge_h - wedge_k - 0.5 * opposite
    value = np.where((h == 0) & (k == 0), 0.25 + np.arcsin(rho) / (2.0 * np.pi), value)
    return np.asarray(np.where(rho == 1.0, ndtr(np.minimum(h, k)), value))
