"""What the metrics of marginals, small joints and likelihoods found."""

from __future__ import annotations

import math
from collections.abc import Callable

from skeval.formatting import as_float, number, percent
from skeval.result import Result


def _wasserstein(result: Result) -> str:
    n, d = result.details["n_used"], result.details
    chance = as_float(d["ceiling"])
    fresh = "" if math.isnan(chance) else f"; those of fresh rows by {number(chance)}"
    return (
        f"The values of {n} numeric and date columns have to be moved by {number(result.value)} of "
        f"train's scale, in the mean, to become train's{fresh}."
    )


def _jensen_shannon(result: Result) -> str:
    return (
        f"The shares of the cells of {result.details['n_used']} columns lie "
        f"{number(result.value)} apart (Jensen-Shannon), in the mean, on a scale from 0 to 1."
    )


def _hellinger(result: Result) -> str:
    return (
        f"The roots of the shares of the cells of {result.details['n_used']} columns lie "
        f"{number(result.value)} apart, in the mean, on a scale from 0 to 1."
    )


def _kl(result: Result) -> str:
    return (
        f"Train's values carry {number(result.value)} nats more surprise for who expects the "
        f"synthetic shares, in the mean of {result.details['n_used']} columns."
    )


def _chi_squared(result: Result) -> str:
    chance = number(as_float(result.details["ceiling"]))
    said = (
        f"Which table a row is in goes with its value in a column as strongly as "
        f"{number(result.value)} (Cramer's V), in the mean; chance alone gives {chance}."
    )
    if result.p_value is None:
        return said
    rows = str(result.details["p_values_against"]).split(",")[0]
    p = number(result.p_value)
    return f"{said} Against {rows}, the worst of all columns has a p-value of {p}."


def _statistic(result: Result) -> str:
    return (
        f"The statistic of {result.details['n_used']} numeric and date columns differs by "
        f"{percent(1.0 - result.value)} of train's scale, in the mean."
    )


def _quantiles(result: Result) -> str:
    chance = number(as_float(result.details["ceiling"]))
    return (
        f"Shares of rows between train's quantiles err by {number(result.value)} squared, in the "
        f"mean; chance alone gives {chance}."
    )


def _k_marginals(result: Result) -> str:
    d = result.details
    worst = d["worst_subset"]
    return (
        f"The joint shares of {d['n_subsets']:,} sets of {d['k']} columns score "
        f"{number(result.value)}; two samples of one population would score "
        f"{number(as_float(d['ceiling']))}, independent columns {number(as_float(d['floor']))}. "
        f"{percent(as_float(d['equivalent_subsample_fraction']))} of train's own rows, drawn at "
        f"random, would score the same. Worst set: {', '.join(worst['columns'])} "
        f"({number(worst['value'])})."
    )


def _range_queries(result: Result) -> str:
    d = result.details
    return (
        f"Counts of rows under conditions on {d['order']} columns err by {percent(result.value)} "
        f"of all rows, in the mean of {d['n_queries']:,} queries whose answer is "
        f"{percent(as_float(d['mean_share']))}; fresh rows would err by "
        f"{percent(as_float(d['ceiling']))}, independent columns by "
        f"{percent(as_float(d['floor']))}."
    )


def _mixture(result: Result) -> str:
    d = result.details
    return (
        f"Under a mixture of {d['n_components']} Gaussian clouds fitted to train, synthetic rows "
        f"have a log-density of {number(result.value)}, in the mean, train's own "
        f"{number(as_float(d['train']))}; more than fresh rows have is no merit."
    )


def _tree(result: Result) -> str:
    return (
        f"Under a tree of dependence fitted to train, synthetic rows have a mean log-probability "
        f"of {number(as_float(result.details['mean_log']))}; more than fresh rows have is no merit."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "BNLikelihood": _tree,
    "BNLogLikelihood": _tree,
    "ChiSquaredTest": _chi_squared,
    "GMLikelihood": _mixture,
    "HellingerDistance": _hellinger,
    "JensenShannonDistance": _jensen_shannon,
    "KLDivergence": _kl,
    "KMarginalSimilarity": _k_marginals,
    "QuantileMSE": _quantiles,
    "RangeQueryError": _range_queries,
    "StatisticSimilarity": _statistic,
    "WassersteinDistance": _wasserstein,
}
