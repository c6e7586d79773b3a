"""What the fidelity metrics of whole rows found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import as_float, number, percent
from skeval.result import Result


def _detail(result: Result, name: str) -> str:
    return percent(as_float(result.details[name]))


def _classified(result: Result) -> str:
    half = "50%" if result.baseline is None else percent(result.baseline)
    return (
        f"A classifier puts unseen rows on the right side at {percent(result.value)}; {half} is "
        "guessing."
    )


def _propensity(result: Result) -> str:
    ratio = number(as_float(result.details["ratio"]))
    return (
        f"Propensities of being synthetic vary around their mean by {number(result.value)} "
        f"squared, {ratio} times what chance gives."
    )


def _variation(result: Result) -> str:
    return (
        f"At least {percent(result.value)} of the rows would have to be others for the two laws to "
        f"be one; the best classifier puts it at {_detail(result, 'estimate')}."
    )


def _divergence(result: Result) -> str:
    return f"The Jensen-Shannon divergence of the two laws is at least {number(result.value)} bits."


def _traded(result: Result) -> str:
    lost, invented = (_detail(result, name) for name in ("f_beta", "f_beta_inv"))
    return (
        f"F8 is {lost}, low where kinds of rows are lost, and F1/8 {invented}, low where kinds are "
        "invented."
    )


def _supported(result: Result) -> str:
    return (
        f"{_detail(result, 'precision')} of the synthetic rows lie where train rows do, and "
        f"{_detail(result, 'recall')} of the train rows where synthetic rows do."
    )


def _dense(result: Result) -> str:
    covered, expected = (_detail(result, name) for name in ("coverage", "expected_coverage"))
    density = number(as_float(result.details["density"]))
    return (
        f"{covered} of the train rows have a synthetic row among their nearest, where {expected} "
        f"are expected of fresh rows; the density there is {density}, 1 being expected."
    )


def _clipped(result: Result) -> str:
    return (
        f"By density the synthetic table is worth {_detail(result, 'density')} of a good one, by "
        f"coverage {_detail(result, 'coverage')}."
    )


def _probable(result: Result) -> str:
    return (
        "By the nearness of train rows, synthetic rows have a mean probability of "
        f"{_detail(result, 'precision')}; the other way round it is {_detail(result, 'recall')}."
    )


def _typical(result: Result) -> str:
    return (
        "From the centre outwards, synthetic rows fill the typical parts of train at "
        f"{_detail(result, 'alpha_precision')}, and stand for train rows at "
        f"{_detail(result, 'beta_recall')}."
    )


def _energy(result: Result) -> str:
    share = _detail(result, "normalized")
    return f"Distances between the tables exceed those within by {share} of what they can at most."


def _mmd(result: Result) -> str:
    gamma, clipped = (number(as_float(result.details[name])) for name in ("gamma", "clipped"))
    return (
        f"To a kernel of scale gamma = {gamma}, rows resemble their own table more than the other "
        f"by {clipped}; 0 would be not at all, 2 completely."
    )


def _sliced(result: Result) -> str:
    return (
        f"Seen from random directions, rows have to be moved by {number(result.value)}; from the "
        f"worst of them by {number(as_float(result.details['max']))}."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "AlphaPrecisionBetaRecall": _typical,
    "ClassifierPRD": _traded,
    "ClassifierTwoSampleTest": _classified,
    "ClippedDensityCoverage": _clipped,
    "DensityCoverage": _dense,
    "EnergyDistance": _energy,
    "ImprovedPrecisionRecall": _supported,
    "JensenShannonLowerBound": _divergence,
    "MaximumMeanDiscrepancy": _mmd,
    "PRDCurve": _traded,
    "ProbabilisticPrecisionRecall": _probable,
    "PropensityMSE": _propensity,
    "SlicedWassersteinDistance": _sliced,
    "TotalVariationLowerBound": _variation,
}
