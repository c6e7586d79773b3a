"""Annotations that define the valid values of the parameters of a metric."""

from skeval.utils.parameters import (
    AnyColumns,
    BinCount,
    ColumnName,
    Columns,
    Count,
    Fraction,
    GroupSize,
    Interval,
    JobCount,
    Label,
    Legal,
    NonNegative,
    OpenFraction,
    Positive,
    Seed,
    one_of,
)

__all__ = [
    "AnyColumns",
    "BinCount",
    "ColumnName",
    "Columns",
    "Count",
    "Fraction",
    "GroupSize",
    "Interval",
    "JobCount",
    "Label",
    "Legal",
    "NonNegative",
    "OpenFraction",
    "Positive",
    "Seed",
    "one_of",
]
