"""Legal sets of the parameters of attacks that fit a generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from skeval.parameters import Legal
from skeval.privacy.attacks.shadow.features import FEATURES
from skeval.privacy.attacks.shadow.targets import are_positions


def _fits_and_samples(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) == 2 and all(callable(part) for part in value)
    return all(callable(getattr(value, name, None)) for name in ("fit", "sample"))


GeneratorLike = Annotated[
    Any,
    Legal(
        "an object or class with fit and sample, or a pair of functions",
        _fits_and_samples,
        "no generator",
    ),
]


def _are_features(value: object) -> bool:
    known = (*FEATURES, "ensemble")
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(name in known for name in value)
    return isinstance(value, str) and value in known


FeatureChoice = Annotated[
    str | Sequence[str],
    Legal(
        f"'ensemble', or one or several of {', '.join(map(repr, FEATURES))}",
        _are_features,
        "no such features",
    ),
]
Callback = Annotated[Callable[[int, int], object], Legal("a function", callable, "no function")]


def rows_or(names: Sequence[str]) -> Legal:
    """Return the set of some names and of lists of positions of rows."""

    def is_legal(value: object) -> bool:
        return value in names if isinstance(value, str) else are_positions(value)

    text = f"one of {', '.join(map(repr, names))}, or distinct positions of train rows"
    return Legal(text, is_legal, "no such method")


def _are_ranges(value: object) -> bool:
    """Tell whether values can be drawn of each parameter."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and all(isinstance(name, str) for name in value)
        and all(
            hasattr(one, "rvs") or (isinstance(one, list | tuple) and len(one) > 0)
            for one in value.values()
        )
    )


Ranges = Annotated[
    dict[str, Any],
    Legal(
        "a dict of names to lists of values, or to distributions with rvs",
        _are_ranges,
        {"epochs": 5},
    ),
]
