"""Handling of transformers from the user, which are fitted only if they are not fitted yet."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from skeval.exceptions import InvalidParameterError

Cloned = TypeVar("Cloned", bound=BaseEstimator)


def is_fitted(transformer: Any) -> bool:
    """Return whether a transformer is fitted, including all steps of a pipeline."""
    from sklearn.frozen import FrozenEstimator  # fast, as scikit-learn has been imported before
    from sklearn.pipeline import Pipeline

    if isinstance(transformer, FrozenEstimator):
        if not transformer.__sklearn_is_fitted__():
            raise InvalidParameterError(
                f"FrozenEstimator({type(transformer.estimator).__name__}()) contains a transformer "
                "that is not fitted and cannot be fitted. Fit it first, or pass it directly."
            )
        return True
    # scikit-learn checks only the last step of a pipeline, which may be a stateless transformer.
    if isinstance(transformer, Pipeline):
        parts = [part for _, part in transformer.steps if part not in (None, "passthrough")]
        return all(map(is_fitted, parts))
    if hasattr(transformer, "__sklearn_is_fitted__"):
        return bool(transformer.__sklearn_is_fitted__())
    names = getattr(transformer, "__dict__", {})
    return any(name.endswith("_") and not name.startswith("__") for name in names)


def fitted_transformer(transformer: Any, rows: Any) -> Any:
    """Return a fitted transformer unchanged, or a clone of the transformer fitted on the rows."""
    return transformer if is_fitted(transformer) else clone(transformer).fit(rows)


def with_fitted_transformers(copy: Cloned, original: BaseEstimator) -> Cloned:
    """Return a clone with the fitted transformers of the original.

    The transformers are shared instead of copied, because they are never fitted again.
    """
    for name, value in original.get_params(deep=False).items():
        transforms = hasattr(value, "transform") and hasattr(value, "get_params")
        if transforms and not isinstance(value, type) and is_fitted(value):
            setattr(copy, name, value)
    return copy
