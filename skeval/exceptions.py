"""What can go wrong, one class a failure; each is also the builtin a caller would catch."""

from __future__ import annotations

__all__ = [
    "ConstantColumnWarning",
    "DegenerateInputWarning",
    "GeneratorFailedError",
    "GivenAwayWarning",
    "HoldoutShiftWarning",
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
    "SampledWarning",
    "SchemaMismatchError",
    "SharedRowsWarning",
    "SkevalError",
    "TableError",
    "TextLeftOutWarning",
    "UnequalSizesWarning",
    "VoidAttackWarning",
]


class SkevalError(Exception):
    """Base of every error that skeval raises on purpose."""


class LimitError(SkevalError):
    """A metric went beyond the time or the memory that its suite allows."""


class InvalidParameterError(SkevalError, ValueError):
    """A constructor parameter has a value outside its legal set."""


class MissingDependencyError(SkevalError, ImportError):
    """A package or a model that few need is not installed; the message says what installs it."""


class MissingInputError(SkevalError, ValueError):
    """A metric needs something, such as holdout rows, that was not given."""


class TableError(SkevalError, ValueError):
    """A table cannot be used as it is: empty, duplicate column names, infinities."""


class SchemaMismatchError(TableError):
    """A table's columns do not fit the training table's: missing, or of another type."""


class NotRememberedError(SkevalError, AttributeError):
    """The real rows were dropped when the fitted object was pickled."""


class GeneratorFailedError(SkevalError, RuntimeError):
    """A generator of another library raised an error; its text may quote cells and is left out."""


class MetricWarning(UserWarning):
    """Base of every warning that skeval gives."""


class ConstantColumnWarning(MetricWarning):
    """A column has one value only, so that the measure is not defined on it."""


class DegenerateInputWarning(MetricWarning):
    """Too few rows or values for the measure; the value is nan or the worst one."""


class GivenAwayWarning(MetricWarning):
    """One column alone predicts the target: scores of models say nothing of the other columns."""


class HoldoutShiftWarning(MetricWarning):
    """Train and holdout are not samples of one population; contrasts of the two are void."""


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


class SampledWarning(MetricWarning):
    """Measured on a sample: of the rows of tables larger than memory, or of many columns."""


class SharedRowsWarning(MetricWarning):
    """Train and holdout hold the same rows, so that contrasts of the two are too mild."""


class MostlySharedRowsWarning(SharedRowsWarning):
    """Most holdout rows also stand in train, so that contrasts of the two cannot find a leak."""


class TextLeftOutWarning(MetricWarning):
    """Text columns that the metrics of a suite leave out, but those of texts."""


class UnequalSizesWarning(MetricWarning):
    """Train is much larger than the holdout, or smaller: most nearest rows are there by chance."""


class VoidAttackWarning(DegenerateInputWarning):
    """An attack that succeeds whatever the release is: it shows nothing, and is left out."""
