"""Copies of generators, each with a seed of its own: for fits that are repeated."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.base import clone

from skeval.generators._clients import SEEDS
from skeval.generators.adapter import GeneratorAdapter

__all__ = ["reseeded", "unknown_parameters"]


def reseeded(
    generator: Any, seed: int, parameters: Mapping[str, Any] | None = None
) -> GeneratorAdapter:
    """Return an unfitted copy of a generator with this seed and these parameters, not its own.

    Parameters
    ----------
    generator : object, class, pair of functions or GeneratorAdapter
        It stays as it is.
    seed : int
        Of the copy's adapter, and of each parameter `random_state` or `seed` that it has.
    parameters : mapping of str to object, optional
        By the names that the generator has for them.
    """
    adapter = _adapted(generator)
    own = {f"generator__{name}": value for name, value in (parameters or {}).items()}
    adapter.set_params(**own)
    if isinstance(adapter.generator, type):
        taken = inspect.signature(adapter.generator).parameters
        seeds = {name: seed for name in SEEDS if name in taken}
        adapter.set_params(parameters={**(adapter.parameters or {}), **seeds} or None)
    seeds = {name: seed for name in adapter.get_params() if name.rsplit("__", 1)[-1] in SEEDS}
    return adapter.set_params(**seeds)


def unknown_parameters(generator: Any, names: Iterable[str]) -> list[str]:
    """Return which of some names are no parameters of a generator."""
    adapter = _adapted(generator)
    if isinstance(adapter.generator, type):
        taken = inspect.signature(adapter.generator).parameters.values()
        if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken):
            return []
        known = {one.name for one in taken}
    else:
        known = {name.removeprefix("generator__") for name in adapter.get_params()}
        known -= {"generator", "metadata", "parameters"}
    return [name for name in names if name not in known]


def _adapted(generator: Any) -> GeneratorAdapter:
    """Return an unfitted copy of a generator, with an adapter around it."""
    adapter = generator if isinstance(generator, GeneratorAdapter) else GeneratorAdapter(generator)
    return clone(adapter)
