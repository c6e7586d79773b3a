"""Legal sets of the parameters of an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skeval._parameters import Interval
from skeval.privacy.attacks._audit_scores import ATTACKS, is_trained

__all__ = ["Attacks", "Several", "Threshold", "listed"]


def listed(value: Any) -> tuple[Any, ...]:
    """Return one or several choices as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


@dataclass(frozen=True)
class Several:
    """One of a few names, or several of them."""

    names: tuple[str, ...]

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is a name, or names that are all distinct."""
        chosen = listed(value)
        known = all(isinstance(name, str) and name in self.names for name in chosen)
        return known and 0 < len(set(chosen)) == len(chosen)

    def describe(self) -> str:
        """List them."""
        return f"one or several of {', '.join(map(repr, self.names))}"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such option"


@dataclass(frozen=True)
class Attacks:
    """Names of attacks, functions and classifiers: one, or several."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is an attack or a list of such."""
        chosen = listed(value)
        if isinstance(value, str):
            return value in (*ATTACKS, "classifier", "best")
        return len(chosen) > 0 and all(self._is_one(attack) for attack in chosen)

    def _is_one(self, attack: object) -> bool:
        if isinstance(attack, str):
            return attack in (*ATTACKS, "classifier")
        return not isinstance(attack, type) and (callable(attack) or is_trained(attack))

    def describe(self) -> str:
        """Name the choices."""
        names = ", ".join(map(repr, (*ATTACKS, "classifier")))
        return f"'best', or one or several of {names}, a function and a classifier"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such option"


@dataclass(frozen=True)
class Threshold:
    """The name "split", or a number."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is one of these."""
        return value == "split" if isinstance(value, str) else _NUMBER.accepts(value)

    def describe(self) -> str:
        """Name the choices."""
        return "'split' or a number"

    def invalid_example(self) -> object:
        """Return what is neither."""
        return "no such option"


_NUMBER = Interval(float, None, None)
