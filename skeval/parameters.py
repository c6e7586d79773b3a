"""Annotations of the parameters of a metric: which values each may take."""

from skeval.utils.parameters import *  # noqa: F403
from skeval.utils.parameters import __all__ as __all__
