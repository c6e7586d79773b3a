"""Estimators as parameters: the accepted ones, their names and their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skeval.utils.parameters import Legal


def is_estimator(value: object, methods: tuple[str, ...] = ("fit", "predict")) -> bool:
    """Return whether `value` is an object that can be cloned and has these methods."""
    wanted = ("get_params", *methods)  # get_params is what clone asks for
    return not isinstance(value, type) and all(hasattr(value, name) for name in wanted)


def set_random_states(estimator: Any, seed: int) -> Any:
    """Set every `random_state` of an estimator that is None, and return the estimator."""
    unset = {
        name: seed
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return estimator.set_params(**unset) if unset else estimator


def name_estimators(estimators: list[Any]) -> dict[str, Any]:
    """Return estimators by class or name of their family, with numbers for repeated names."""
    by_name: dict[str, Any] = {}
    for estimator in estimators:
        kind = estimator if isinstance(estimator, str) else type(estimator).__name__
        same = sum(name.split(" ")[0] == kind for name in by_name)
        by_name[f"{kind} {same + 1}" if same else kind] = estimator
    return by_name


def estimators_of(families: Sequence[str], fewest: int = 1, several: bool = True) -> Legal:
    """Return the set of None, an estimator, a family's name and, if `several`, lists of these."""

    def is_one(value: object) -> bool:
        return value in families if isinstance(value, str) else is_estimator(value)

    def is_legal(value: object) -> bool:
        if isinstance(value, list | tuple):
            return several and len(value) >= fewest and all(map(is_one, value))
        return value is None or (fewest == 1 and is_one(value))

    one = f"a scikit-learn estimator or one of {', '.join(map(repr, families))}"
    if not several:
        text = f"None, {one}"
    elif fewest > 1:
        text = f"None or a list of at least {fewest} such, each {one}"
    else:
        text = f"None, {one}, or a list of such"
    return Legal(text, is_legal, "no such option")
