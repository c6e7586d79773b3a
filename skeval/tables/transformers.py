"""Transformers of the user's: fitted ones stay as they are, others learn from the rows."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from skeval.exceptions import InvalidParameterError

Cloned = TypeVar("Cloned", bound=BaseEstimator)


def is_fitted(transformer: Any) -> bool:
    """Return whether a transformer has learned; a pipeline, in all its steps."""
    from sklearn.frozen import FrozenEstimator  # whoever has a transformer has waited for these
    from sklearn.pipeline import Pipeline

    if isinstance(transformer, FrozenEstimator):
        if not transformer.__sklearn_is_fitted__():
            raise InvalidParameterError(
                f"FrozenEstimator({type(transformer.estimator).__name__}()) holds a transformer "
                "that is not fitted, and cannot learn. Fit it first, or pass it without the frame."
            )
        return True
    # scikit-learn asks the last step of a pipeline only, and that may have nothing to learn
    if isinstance(transformer, Pipeline):
        parts = [part for _, part in transformer.steps if part not in (None, "passthrough")]
        return all(map(is_fitted, parts))
    if hasattr(transformer, "__sklearn_is_fitted__"):
        return bool(transformer.__sklearn_is_fitted__())
    names = getattr(transformer, "__dict__", {})
    return any(name.endswith("_") and not name.startswith("__") for name in names)


def fitted_transformer(transformer: Any, rows: Any) -> Any:
    """Return a transformer that is fitted as it is; of another a clone that has seen the rows."""
    return transformer if is_fitted(transformer) else clone(transformer).fit(rows)


def with_fitted_transformers(copy: Cloned, original: BaseEstimator) -> Cloned:
    """Return a clone that has the fitted transformers of the original, which clones would lose.

    They are handed on, not copied: nothing fits them again.
    """
    for name, value in original.get_params(deep=False).items():
        transforms = hasattr(value, "transform") and hasattr(value, "get_params")
        if transforms and not isinstance(value, type) and is_fitted(value):
            setattr(copy, name, value)
    return copy
