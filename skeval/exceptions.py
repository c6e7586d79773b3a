"""Exceptions and warnings of skeval. Each exception is also a subclass of a builtin exception."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

__all__ = [
    "ConstantColumnWarning",
    "DegenerateInputWarning",
    "DifferentFormWarning",
    "GeneratorFailedError",
    "GivenAwayWarning",
    "GroupedRowsWarning",
    "HoldoutShiftWarning",
    "HoldoutUsedWarning",
    "IgnoredColumnsWarning",
    "InvalidParameterError",
    "InvalidValueWarning",
    "LimitError",
    "MetricFailedWarning",
    "MetricWarning",
    "MissingDependencyError",
    "MissingInputError",
    "MostlySharedRowsWarning",
    "NoTestWarning",
    "NotRememberedError",
    "NothingToMeasureWarning",
    "PooledLevelsWarning",
    "RepeatedRowsWarning",
    "SampledWarning",
    "SchemaMismatchError",
    "SharedRowsWarning",
    "SkevalError",
    "TableError",
    "TextLeftOutWarning",
    "TypesettingError",
    "UnequalSizesWarning",
    "UnexaminedColumnsWarning",
    "UnnoticedShiftWarning",
    "UnreadCellsWarning",
    "VoidAttackWarning",
    "WholePopulationWarning",
]


class _OfPart:
    """Base of errors and warnings that can name the part of the input that they refer to."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)

    def with_prefix(self, name: str) -> Self:
        """Return the same error or warning with the name of a part of the input in front."""
        return type(self)(f"{name}: {self}")


class SkevalError(_OfPart, Exception):
    """Base class of all errors that skeval raises on purpose."""


class LimitError(SkevalError):
    """A metric exceeded the time limit or the memory limit of its suite."""


class InvalidParameterError(SkevalError, ValueError):
    """A constructor parameter has an invalid value."""


class MissingDependencyError(SkevalError, ImportError):
    """An optional package or model is not installed. The message shows how to install it."""


class MissingInputError(SkevalError, ValueError):
    """An input that a metric requires, such as holdout data, is missing.

    Parameters
    ----------
    lack : str
        What is missing, and how to fix it.
    metric : str, default=""
        Name of the metric. It is put in front of the message.
    need : str, default=""
        The missing input, for example "holdout".

    Attributes
    ----------
    lack, need : str
        As passed. A result of a suite shows them without the name of the metric.
    """

    def __init__(self, lack: str, metric: str = "", need: str = "") -> None:
        self.lack = lack
        self.need = need
        super().__init__(f"{metric} {lack}" if metric else lack)

    def with_prefix(self, name: str) -> Self:
        """Return the same error with the name of a part of the input in front."""
        return type(self)(f"{name}: {self}", need=self.need)


class TableError(SkevalError, ValueError):
    """A table is not valid: it is empty, has duplicate column names or contains infinities."""


class SchemaMismatchError(TableError):
    """Columns of the training data are missing from a table, or have another type there."""


class NotRememberedError(SkevalError, AttributeError):
    """The real data are not available, because pickling the fitted object dropped them."""


class TypesettingError(SkevalError, RuntimeError):
    """A PDF could not be created. The message contains the reason and an alternative."""


class GeneratorFailedError(SkevalError, RuntimeError):
    """A generator of another library failed. Its message is omitted, because it may quote data."""


class MetricWarning(_OfPart, UserWarning):
    """Base class of all warnings that skeval issues."""


class ConstantColumnWarning(MetricWarning):
    """A column has only one value, so the measure is not defined for it."""


class DegenerateInputWarning(MetricWarning):
    """There are too few rows or values for the measure. The value is nan or the worst value."""


class DifferentFormWarning(MetricWarning):
    """A column has different formats in the tables. Values are compared in the coarser one."""


class GivenAwayWarning(MetricWarning):
    """One column alone predicts the target, so model scores do not depend on the other columns."""


class HoldoutShiftWarning(MetricWarning):
    """Training and holdout data differ in distribution, so comparisons of the two are not valid."""


class GroupedRowsWarning(HoldoutShiftWarning):
    """Rows that belong together, such as the rows of one subject, are not split at random."""


class HoldoutUsedWarning(MetricWarning):
    """The synthetic data contain holdout values. The generator may have used the holdout data."""


class IgnoredColumnsWarning(MetricWarning):
    """Columns or tables that are not in the training data are ignored."""


class InvalidValueWarning(MetricWarning):
    """Some cells could not be converted to the type of their column. They count as missing."""


class MetricFailedWarning(MetricWarning):
    """A metric of a suite raised an error. The results contain the message."""


class NoTestWarning(MetricWarning):
    """A privacy metric has a value but no test, because an input of the test is missing."""


class NothingToMeasureWarning(DegenerateInputWarning):
    """No column or pair has the type that the metric requires, or a strong enough dependence.

    A suite issues this warning only if it applies to all metrics of a property.
    """


class PooledLevelsWarning(MetricWarning):
    """A column has more categories than a matrix has columns, so rare categories are pooled."""


class RepeatedRowsWarning(MetricWarning):
    """Many training rows are duplicates, so a copy does not identify a single individual."""


class SampledWarning(MetricWarning):
    """The result is based on a sample of the rows or columns, because the tables are large."""


class SharedRowsWarning(MetricWarning):
    """Some rows occur in both training and holdout data, so comparisons understate leakage."""


class MostlySharedRowsWarning(SharedRowsWarning):
    """Most holdout rows also occur in the training data, so a comparison cannot find a leak."""


class TextLeftOutWarning(MetricWarning):
    """Text columns are skipped by all metrics of the suite except the text metrics."""


class UnequalSizesWarning(MetricWarning):
    """Training and holdout data differ so much in size that a comparison of distances is biased."""


class UnnoticedShiftWarning(MetricWarning):
    """No shift of the holdout was detected. The message shows which shifts are detectable."""


class UnreadCellsWarning(InvalidValueWarning):
    """Some cells of a numerical or datetime column contain text. They count as missing.

    Parameters
    ----------
    message : str
        The columns, the cells and the fix.
    columns : sequence of str, default=()
        Names of the columns.
    """

    def __init__(self, message: str, columns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.columns = tuple(map(str, columns))

    def with_prefix(self, name: str) -> Self:
        """Return the same warning with the name of a part of the input in front."""
        return type(self)(f"{name}: {self}", self.columns)


class UnexaminedColumnsWarning(MetricWarning):
    """No privacy test of the suite examined these columns.

    Parameters
    ----------
    message : str
        The columns and the fix.
    columns : sequence of str, default=()
        Names of the columns.
    unique : sequence of str, default=()
        Names of the columns in which most values occur once. Such values may be copies that were
        not examined, so the verdict is inconclusive.
    """

    def __init__(
        self, message: str, columns: Sequence[str] = (), unique: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.columns = tuple(map(str, columns))
        self.unique = tuple(map(str, unique))


class VoidAttackWarning(DegenerateInputWarning):
    """An attack succeeds for any synthetic data, so it is not informative and is skipped."""


class WholePopulationWarning(MetricWarning):
    """The training data are declared to be the whole population, so holdout tests do not apply."""
