"""What the diagnostic metrics found."""

from __future__ import annotations

from collections.abc import Callable

from skeval.formatting import as_float, percent
from skeval.result import Result


def _within(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"{percent(result.value)} of the cells of {n} number and date columns lie within train's "
        "ranges, in the mean."
    )


def _known(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"{percent(result.value)} of the cells of {n} categorical and boolean columns hold a "
        "category that train has, in the mean."
    )


def _unique(result: Result) -> str:
    return f"{percent(result.value)} of the rows have a key that no earlier row has."


def _structure(result: Result) -> str:
    missing, extra, retyped = (
        len(result.details[name]) for name in ("missing", "extra", "retyped")
    )
    return (
        f"{percent(result.value)} of all columns and types are common to both tables: {missing} "
        f"columns are missing, {extra} are extra, {retyped} have another type."
    )


def _formatted(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"{percent(result.value)} of the cells of {n} columns are written in the format asked for, "
        "in the mean."
    )


def _spanned(result: Result) -> str:
    n, ceiling = result.details["n_used"], percent(as_float(result.details["ceiling"]))
    return (
        f"{percent(result.value)} of train's ranges are spanned, in the mean of {n} columns; as "
        f"many fresh real rows would span about {ceiling}."
    )


def _occurring(result: Result) -> str:
    covered, known = (sum(result.details[name].values()) for name in ("n_covered", "n_categories"))
    n, ceiling = result.details["n_used"], percent(as_float(result.details["ceiling"]))
    return (
        f"{covered:,} of {known:,} categories of train occur; the mean over {n} columns is "
        f"{percent(result.value)}, and as many fresh real rows would reach about {ceiling}."
    )


def _missing_cells(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"The shares of missing cells of {n} columns differ by {percent(1.0 - result.value)}, in "
        "the mean."
    )


def _missing_together(result: Result) -> str:
    ceiling = percent(as_float(result.details["ceiling"]))
    said = (
        f"{percent(result.value)} of the rows agree in which cells are missing together; chance "
        f"alone would give {ceiling}."
    )
    off = result.details.get("largest_difference", {})
    if not off.get("columns"):
        return said
    train, synthetic = (percent(as_float(off[role])) for role in ("train", "synthetic"))
    names = ", ".join(off["columns"])
    return (
        f"{said} Most off: rows that lack {names}, {train} of train and {synthetic} of synthetic."
    )


def _outliers(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"Of the outliers that train has in {n} columns, {percent(result.value)} as many are "
        "there, in the mean; more than train has count as all."
    )


def _smooth(result: Result) -> str:
    n = result.details["n_used"]
    return (
        f"The widths of the bulk of {n} columns differ by {percent(1.0 - result.value)} of the "
        "wider one, in the mean."
    )


SENTENCES: dict[str, Callable[[Result], str]] = {
    "BoundaryAdherence": _within,
    "CategoryAdherence": _known,
    "CategoryCoverage": _occurring,
    "FormatAdherence": _formatted,
    "KeyUniqueness": _unique,
    "MissingPatternSimilarity": _missing_together,
    "MissingValueSimilarity": _missing_cells,
    "OutlierCoverage": _outliers,
    "RangeCoverage": _spanned,
    "SmoothnessSimilarity": _smooth,
    "TableStructure": _structure,
}
