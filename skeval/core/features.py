"""Names of the columns of the training data in the attributes that scikit-learn defines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from skeval.core.context import Context


class FeatureNames:
    """Feature attributes of an estimator that was fitted on one table."""

    context_: Context

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns of the training data. Not available for several tables."""
        if self.context_.is_relational:
            raise AttributeError(f"{type(self).__name__} was fitted on several tables.")
        return np.array(list(self.context_.schema.kinds), dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training data."""
        return int(self.feature_names_in_.size)
