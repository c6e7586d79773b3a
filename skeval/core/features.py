"""The columns of the training data, by the names that scikit-learn gives to such attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from skeval.core.context import Context


class FeatureNames:
    """Attributes of an estimator that keeps the context of one table."""

    context_: Context

    @property
    def feature_names_in_(self) -> Any:
        """The names of the columns of the training data; missing for several tables."""
        if self.context_.is_relational:
            raise AttributeError(f"{type(self).__name__} was fitted on several tables.")
        return np.array(list(self.context_.schema.kinds), dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the training data."""
        return int(self.feature_names_in_.size)
