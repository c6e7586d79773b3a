"""Estimators that users pass: whether they can be fitted and cloned, and their seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Estimators", "is_estimator", "named", "seeded"]


def is_estimator(value: object, methods: tuple[str, ...] = ("fit", "predict")) -> bool:
    """Tell whether `value` is an object that can be cloned and has these methods."""
    wanted = ("get_params", *methods)  # get_params is what clone asks for
    return not isinstance(value, type) and all(hasattr(value, name) for name in wanted)


def seeded(estimator: Any, seed: int) -> Any:
    """Set every `random_state` of an estimator that is None; return the estimator."""
    unset = {
        name: seed
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return estimator.set_params(**unset) if unset else estimator


def named(estimators: list[Any]) -> dict[str, Any]:
    """Return estimators by their class, or by the name of their family, numbered where twice."""
    found: dict[str, Any] = {}
    for estimator in estimators:
        kind = estimator if isinstance(estimator, str) else type(estimator).__name__
        same = sum(name.split(" ")[0] == kind for name in found)
        found[f"{kind} {same + 1}" if same else kind] = estimator
    return found


@dataclass(frozen=True)
class Estimators:
    """None, an estimator that is to be fitted, the name of a family, or, if `several`, a list."""

    families: tuple[str, ...]
    fewest: int = 1
    several: bool = True

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None, an estimator, a family's name or enough of them."""
        if isinstance(value, list | tuple):
            enough = self.several and len(value) >= self.fewest
            return enough and all(self._is_one(part) for part in value)
        return value is None or (self.fewest == 1 and self._is_one(value))

    def _is_one(self, value: object) -> bool:
        return value in self.families if isinstance(value, str) else is_estimator(value)

    def describe(self) -> str:
        """Name the kinds."""
        names = ", ".join(repr(name) for name in self.families)
        one = f"a scikit-learn estimator or one of {names}"
        if not self.several:
            return f"None, {one}"
        many = f"a list of at least {self.fewest} such" if self.fewest > 1 else "a list of such"
        return f"None or {many}, each {one}" if self.fewest > 1 else f"None, {one}, or {many}"

    def invalid_example(self) -> object:
        """Return what is no estimator."""
        return "no such option"
