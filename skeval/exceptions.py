"""What can go wrong, one class a failure; each is also the builtin a caller would catch."""

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
    """What errors and warnings have in common: they may be those of a part of the input."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)

    def with_prefix(self, name: str) -> Self:
        """Return the same of a part of the input, whose name is put in front."""
        return type(self)(f"{name}: {self}")


class SkevalError(_OfPart, Exception):
    """Base of every error that skeval raises on purpose."""


class LimitError(SkevalError):
    """A metric went beyond the time or the memory that its suite allows."""


class InvalidParameterError(SkevalError, ValueError):
    """A constructor parameter has a value outside its legal set."""


class MissingDependencyError(SkevalError, ImportError):
    """A package or a model that few need is not installed; the message says what installs it."""


class MissingInputError(SkevalError, ValueError):
    """A metric needs something, such as holdout rows, that was not given.

    Parameters
    ----------
    lack : str
        What it lacks, and the cure.
    metric : str, default=""
        Whose name is put in front.
    need : str, default=""
        Which input is lacking, such as "holdout".

    Attributes
    ----------
    lack, need : str
        As given: results know which metric they are of.
    """

    def __init__(self, lack: str, metric: str = "", need: str = "") -> None:
        self.lack = lack
        self.need = need
        super().__init__(f"{metric} {lack}" if metric else lack)

    def with_prefix(self, name: str) -> Self:
        """Return the same of a part of the input, whose name is put in front."""
        return type(self)(f"{name}: {self}", need=self.need)


class TableError(SkevalError, ValueError):
    """A table cannot be used as it is: empty, duplicate column names, infinities."""


class SchemaMismatchError(TableError):
    """A table's columns do not fit the training table's: missing, or of another type."""


class NotRememberedError(SkevalError, AttributeError):
    """The real rows were dropped when the fitted object was pickled."""


class TypesettingError(SkevalError, RuntimeError):
    """A PDF could not be typeset; the message says why, and what works instead."""


class GeneratorFailedError(SkevalError, RuntimeError):
    """A generator of another library raised an error; its text may quote cells and is left out."""


class MetricWarning(_OfPart, UserWarning):
    """Base of every warning that skeval gives."""


class ConstantColumnWarning(MetricWarning):
    """A column has one value only, so that the measure is not defined on it."""


class DegenerateInputWarning(MetricWarning):
    """Too few rows or values for the measure; the value is nan or the worst one."""


class DifferentFormWarning(MetricWarning):
    """Tables contain a column in different forms; its values are compared in the coarser form."""


class GivenAwayWarning(MetricWarning):
    """One column alone predicts the target: scores of models say nothing of the other columns."""


class HoldoutShiftWarning(MetricWarning):
    """Train and holdout are not samples of one population; contrasts of the two are void."""


class GroupedRowsWarning(HoldoutShiftWarning):
    """Rows that belong together, as those of a person, are all in train or all in the holdout."""


class HoldoutUsedWarning(MetricWarning):
    """The release has values of the holdout: its generator may have used it, and tests are void."""


class IgnoredColumnsWarning(MetricWarning):
    """A release has columns or tables that train lacks: nothing looks at what stands there."""


class InvalidValueWarning(MetricWarning):
    """Some cells could not be read as their column's kind and count as missing."""


class MetricFailedWarning(MetricWarning):
    """A metric of a suite raised an error; its row of the table says which."""


class NoTestWarning(MetricWarning):
    """A metric of privacy has a value and made no test: what the test needs was not given."""


class NothingToMeasureWarning(DegenerateInputWarning):
    """No column or pair is of the kind that the metric measures, or as strong as it asks for.

    In a suite it is given only where all metrics of a property say so.
    """


class PooledLevelsWarning(MetricWarning):
    """A category has more levels than a matrix has columns for: rare ones share some."""


class RepeatedRowsWarning(MetricWarning):
    """Train holds many equal rows, so that a copy of one of them points at no single person."""


class SampledWarning(MetricWarning):
    """Measured on a sample: of the rows of tables larger than memory, or of many columns."""


class SharedRowsWarning(MetricWarning):
    """Train and holdout hold the same rows, so that contrasts of the two are too mild."""


class MostlySharedRowsWarning(SharedRowsWarning):
    """Most holdout rows are also in train, so that contrasts of the two cannot find a leak."""


class TextLeftOutWarning(MetricWarning):
    """Text columns that the metrics of a suite leave out, but those of texts."""


class UnequalSizesWarning(MetricWarning):
    """Train is much larger than the holdout, or smaller: most nearest rows are there by chance."""


class UnnoticedShiftWarning(MetricWarning):
    """How large a difference of train and holdout must be to be noticed: no difference was."""


class UnreadCellsWarning(InvalidValueWarning):
    """Some cells contain text in a column of numbers or dates and count as missing.

    Parameters
    ----------
    message : str
        The columns, the cells and what to do about them.
    columns : sequence of str, default=()
        The names of the columns.
    """

    def __init__(self, message: str, columns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.columns = tuple(map(str, columns))

    def with_prefix(self, name: str) -> Self:
        """Return the same of a part of the input, whose name is put in front."""
        return type(self)(f"{name}: {self}", self.columns)


class UnexaminedColumnsWarning(MetricWarning):
    """No test of privacy in the suite examined these columns.

    Parameters
    ----------
    message : str
        The columns and what to do about them.
    columns : sequence of str, default=()
        The names of the columns.
    unique : sequence of str, default=()
        Those whose values mostly occur once. Such values may be copies that nobody looked for, so
        that the verdict is inconclusive.
    """

    def __init__(
        self, message: str, columns: Sequence[str] = (), unique: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.columns = tuple(map(str, columns))
        self.unique = tuple(map(str, unique))


class VoidAttackWarning(DegenerateInputWarning):
    """An attack that succeeds for any release: it shows nothing, and is left out."""


class WholePopulationWarning(MetricWarning):
    """Train is stated to be the whole population: tests that need a holdout mean nothing."""
