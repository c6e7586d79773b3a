"""Legal sets of the parameters of attacks that fit a generator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skeval._parameters import Constraint, Interval, Nullable, Options
from skeval.privacy.attacks.shadow.features import FEATURES
from skeval.privacy.attacks.shadow.targets import TargetChoice, are_positions
from skeval.steps.classifiers import Classifiers


@dataclass(frozen=True)
class GeneratorLike:
    """What a generator adapter takes: an object or a class that fits and samples, or functions."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` can be fitted and sampled."""
        if isinstance(value, list | tuple):
            return len(value) == 2 and all(callable(part) for part in value)
        return all(callable(getattr(value, name, None)) for name in ("fit", "sample"))

    def describe(self) -> str:
        """Name the kinds."""
        return "an object or class with fit and sample, or a pair of functions"

    def invalid_example(self) -> object:
        """Return what cannot be fitted."""
        return "no generator"


@dataclass(frozen=True)
class FeatureChoice:
    """One kind of features, several, or "ensemble"."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` names features."""
        known = (*FEATURES, "ensemble")
        if isinstance(value, list | tuple):
            return len(value) > 0 and all(name in known for name in value)
        return isinstance(value, str) and value in known

    def describe(self) -> str:
        """Name the kinds."""
        return f"'ensemble', or one or several of {', '.join(map(repr, FEATURES))}"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such features"


@dataclass(frozen=True)
class Threshold:
    """A score between 0 and 1, or how one is chosen."""

    names: tuple[str, ...] = ("accuracy", "fpr")

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is a score or a name."""
        if isinstance(value, str):
            return value in self.names
        return Interval(float, 0.0, 1.0, "neither").accepts(value)

    def describe(self) -> str:
        """Name the choices."""
        return f"a float in (0, 1) or {' or '.join(map(repr, self.names))}"

    def invalid_example(self) -> object:
        """Return what is no score."""
        return 2.0


@dataclass(frozen=True)
class Callback:
    """A function."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` can be called."""
        return callable(value)

    def describe(self) -> str:
        """Name the kind."""
        return "a function"

    def invalid_example(self) -> object:
        """Return what cannot be called."""
        return "no function"


@dataclass(frozen=True)
class RowChoice:
    """All rows, a method that selects some, or positions."""

    names: tuple[str, ...]

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses rows."""
        return value in self.names if isinstance(value, str) else are_positions(value)

    def describe(self) -> str:
        """Name the choices."""
        return f"one of {', '.join(map(repr, self.names))}, or distinct positions of train rows"

    def invalid_example(self) -> object:
        """Return a name that is none of them."""
        return "no such method"


@dataclass(frozen=True)
class Ranges:
    """What parameters of a generator may be: a list of values each, or a distribution."""

    def accepts(self, value: object) -> bool:
        """Tell whether values can be drawn of each."""
        return (
            isinstance(value, dict)
            and len(value) > 0
            and all(isinstance(name, str) for name in value)
            and all(
                hasattr(one, "rvs") or (isinstance(one, list | tuple) and len(one) > 0)
                for one in value.values()
            )
        )

    def describe(self) -> str:
        """Name the kind."""
        return "a dict of names to lists of values, or to distributions with rvs"

    def invalid_example(self) -> object:
        """Return what nothing can be drawn of."""
        return {"epochs": 5}


LEGAL: Mapping[str, Constraint] = {
    "generator": GeneratorLike(),
    "targets": TargetChoice(),
    "n_targets": Interval(int, 1, None),
    "features": FeatureChoice(),
    "n_shadow": Interval(int, 2, None),
    "n_eval": Interval(int, 2, None),
    "n_synthetic": Nullable(Interval(int, 1, None)),
    "n_copies": Interval(int, 1, None),
    "n_rows": Nullable(Interval(int, 2, None)),
    "classifier": Classifiers(),
    "game": Options(("average", "model_seeded")),
    "knowledge": Options(("auxiliary", "exact", "exact-with-uncertainty")),
    "known_share": Interval(float, 0.0, 1.0, "neither"),
    "access": Options(("black-box", "uncertain-box", "no-box")),
    "shadow_parameters": Nullable(Ranges()),
    "confidence": Interval(float, 0.0, 1.0, "neither"),
    "max_fits": Interval(int, 1, None),
    "progress": Nullable(Callback()),
    "n_jobs": Nullable(Interval(int, None, None)),
    "random_state": Interval(int, 0, None),
}
