"""Interfaces to fit, sample, seed and parameterize the generators of different libraries."""

from __future__ import annotations

import copy
import inspect
import secrets
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from skeval.exceptions import GeneratorFailedError, InvalidParameterError, SkevalError
from skeval.tables.set_columns import with_columns
from skeval.utils.parameters import Legal

SEEDS = ("random_state", "seed")  # names of parameters that contain a seed
_TABLE = "table"  # the SDV name of a single table
_OWN_FILES = {__file__, str(Path(__file__).with_name("adapter.py"))}
_TABLES = (pd.DataFrame, pd.Series)  # these classes also have a method `sample`
_GENERATORS = (
    "an object with fit and sample, a class of such objects, an SDV synthesizer or a pair of "
    "functions"
)


def _is_generator(value: object) -> bool:
    """Return whether `value` is a generator. Instances of a class are checked later."""
    known = _is_pair(value) or isinstance(value, type) or _is_of_sdv(type(value))
    return known or _can_sample(value)


Generator = Annotated[Any, Legal(_GENERATORS, _is_generator, "no such option")]


Arguments = Annotated[
    dict[str, Any],
    Legal(
        "a dict of arguments by name",
        lambda value: isinstance(value, Mapping) and all(isinstance(name, str) for name in value),
        "no such option",
    ),
]


@dataclass
class Plain:
    """An object with `fit` and `sample`, or a search of scikit-learn among such objects."""

    generator: Any

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Fit a copy of the generator."""
        made = clone(self.generator, safe=False)
        if seed is not None and _set_seeds(made, seed):
            fitted = made.fit(train)
        else:
            fitted = seeded_call(made.fit, seed, train)
        if _is_search(made):
            return made.best_estimator_
        # The return value may be any object, for example the history of a training.
        other = callable(getattr(fitted, "sample", None)) and not isinstance(fitted, _TABLES)
        return fitted if other else made

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Sample a number of rows, with a seed if the generator accepts one."""
        return seeded_call(fitted.sample, seed, n)


@dataclass
class Functions:
    """A pair of functions."""

    first: Callable[..., Any]
    second: Callable[..., Any]

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Return the model of the first function."""
        return seeded_call(self.first, seed, train)

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Return the rows of the second function."""
        return seeded_call(self.second, seed, fitted, n)


@dataclass
class Synthesizer:
    """A synthesizer of SDV for one table. Version 1.x requires the table, version 2.x a dict."""

    kind: type
    metadata: Any
    parameters: dict[str, Any]
    dtypes: dict[str, Any] = field(default_factory=dict)

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Fit a new synthesizer with string names and without the categorical dtype of pandas."""
        train = train.set_axis([str(name) for name in train.columns], axis="columns")
        categories = train.select_dtypes("category")
        self.dtypes = categories.dtypes.to_dict()
        rows = with_columns(
            train, {str(name): values.astype(object) for name, values in categories.items()}
        )
        metadata = detect_metadata(rows) if self.metadata is None else copy.deepcopy(self.metadata)
        made = self.kind(metadata, **self.parameters)
        with _seed_global_state(seed):
            by_name = _sdv_takes_dicts()
            made.fit({next(iter(metadata.to_dict()["tables"])): rows} if by_name else rows)
        return made

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Sample with a seed. Without one, all synthesizers of a class use the same seed."""
        with _seed_global_state(seed):
            # No version of SDV has a public method to set the seed.
            if hasattr(fitted, "reset_sampling"):
                fitted.reset_sampling()
            if hasattr(fitted, "_set_random_state"):
                fitted._set_random_state(secrets.randbits(32) if seed is None else seed)
            drawn = fitted.sample(num_rows=n)
        rows = next(iter(drawn.values())) if isinstance(drawn, dict) else drawn
        return rows.astype(self.dtypes)


Client = Plain | Functions | Synthesizer


def client_of(generator: Any, metadata: Any, parameters: dict[str, Any] | None) -> Client:
    """Return the client of a generator, or raise an error if its type is not supported."""
    if _is_pair(generator):
        return Functions(*generator)
    if isinstance(generator, type):
        arguments = dict(parameters or {})
        if _is_of_sdv(generator):
            return Synthesizer(generator, metadata, arguments)
        return client_of(generator(**arguments), metadata, None)
    if parameters is not None:
        raise InvalidParameterError(
            "GeneratorAdapter: parameters requires a class as generator, but generator is an "
            "object. Set its parameters as generator__name."
        )
    if _is_of_sdv(type(generator)):
        known = generator.get_metadata() if metadata is None else metadata
        return Synthesizer(type(generator), known, _arguments(generator))
    if _can_sample(generator):
        return Plain(generator)
    raise InvalidParameterError(
        f"GeneratorAdapter: generator must be {_GENERATORS}, got {generator!r}."
    )


def parameters_taken(function: Any) -> Mapping[str, inspect.Parameter] | None:
    """Return the arguments of a function or class, or None if it is compiled and hides them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def parameters_of(generator: Any, parameters: dict[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a generator by name, including parameters of its parts."""
    if isinstance(generator, type):
        taken = (parameters_taken(generator) or {}).values()
        defaults = {one.name: one.default for one in taken if one.default is not one.empty}
        return {**defaults, **(parameters or {})}
    if _is_of_sdv(type(generator)):
        return _arguments(generator)
    return dict(generator.get_params()) if hasattr(generator, "get_params") else {}


def unknown_arguments(kind: type, names: Iterable[str]) -> list[str]:
    """Return the names that a class does not accept. Arguments of compiled classes are unknown."""
    taken = parameters_taken(kind)
    if taken is None or any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return []
    return [name for name in names if name not in taken]


def with_parameters(
    generator: Any, parameters: dict[str, Any] | None, changed: dict[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Return a generator and the parameters of its class after some changes."""
    if isinstance(generator, type):
        if unknown := unknown_arguments(generator, changed):
            raise InvalidParameterError(
                f"GeneratorAdapter: {generator.__name__} has no parameter {', '.join(unknown)}. "
                f"Its parameters are {', '.join(inspect.signature(generator).parameters)}."
            )
        return generator, {**(parameters or {}), **changed}
    if _is_of_sdv(type(generator)):
        arguments = {**_arguments(generator), **changed}
        return type(generator)(generator.get_metadata(), **arguments), parameters
    if not hasattr(generator, "set_params"):
        raise InvalidParameterError(
            f"GeneratorAdapter: {type(generator).__name__} has no set_params. "
            "Pass its class as generator, and use parameters."
        )
    return generator.set_params(**changed), parameters


@contextmanager
def without_cells(owner: Any, verb: str) -> Iterator[None]:
    """Hide messages of foreign errors, which may quote rows, and report the type and place."""
    try:
        yield
    except (SkevalError, ImportError, MemoryError):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        foreign = [frame for frame in frames if frame.filename not in _OWN_FILES] or list(frames)
        last = foreign[-1]
        kind = owner if isinstance(owner, type) else type(owner)
        name = "the function" if inspect.isroutine(owner) else kind.__name__
        more = ""
        if verb == "fit" and _takes_more(owner):
            more = (
                " Its fit has more arguments than the table. If it requires them, for example "
                "the names of discrete columns, pass a pair of functions instead."
            )
        raised = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
        raise GeneratorFailedError(
            f"{verb} of {name} raised {raised} ({last.name}). The message may quote cells, so it "
            f"is not shown here. It is in __context__ of this error.{more}"
        ) from None


def _takes_more(owner: Any) -> bool:
    taken = (parameters_taken(getattr(owner, "fit", None)) or {}).values()
    known = {"self", "y", *SEEDS}
    own = [one for one in taken if one.name not in known and one.kind is not one.VAR_KEYWORD]
    return len(own) > 1


def detect_metadata(train: pd.DataFrame) -> Any:
    """Return the metadata that SDV detects in a table."""
    from sdv.metadata import Metadata

    if hasattr(Metadata, "detect_from_dataframe"):
        return Metadata.detect_from_dataframe(train, table_name=_TABLE)
    return Metadata.detect_from_dataframes({_TABLE: train})


def _can_sample(generator: Any) -> bool:
    """Return whether a generator can be fitted and sampled. A search can if its estimator can."""
    if _is_search(generator):
        return _can_sample(generator.estimator)
    return all(callable(getattr(generator, name, None)) for name in ("fit", "sample"))


def _is_search(generator: Any) -> bool:
    """Return whether a generator is a scikit-learn search, such as GridSearchCV."""
    return hasattr(generator, "estimator") and hasattr(generator, "refit")


def _is_pair(generator: Any) -> bool:
    pair = isinstance(generator, list | tuple) and len(generator) == 2
    return pair and all(callable(part) for part in generator)


def _is_of_sdv(kind: type) -> bool:
    return any(base.__module__.split(".")[0] == "sdv" for base in kind.__mro__)


def _sdv_takes_dicts() -> bool:
    import sdv

    return int(sdv.__version__.split(".")[0]) >= 2


def _arguments(synthesizer: Any) -> dict[str, Any]:
    taken = inspect.signature(type(synthesizer)).parameters
    return {
        name: value
        for name, value in dict(synthesizer.get_parameters()).items()
        if name in taken and name != "metadata"
    }


def _set_seeds(generator: Any, seed: int) -> bool:
    """Set all seeds that are None, and return whether the generator itself had such a seed."""
    if not (hasattr(generator, "get_params") and hasattr(generator, "set_params")):
        return False
    unset = {
        name: seed
        for name, value in generator.get_params().items()
        if value is None and name.split("__")[-1] in SEEDS
    }
    if unset:
        generator.set_params(**unset)
    return any(name in unset for name in SEEDS)


def seeded_call(function: Callable[..., Any], seed: int | None, *arguments: Any) -> Any:
    """Call a function with a seed as argument, or seed the global generators if it has none."""
    taken = parameters_taken(function) or {}
    if by_name := {name: seed for name in SEEDS if name in taken}:
        return function(*arguments, **by_name)
    with _seed_global_state(seed):
        return function(*arguments)


@contextmanager
def _seed_global_state(seed: int | None) -> Iterator[None]:
    """Seed the global random generators, and restore their state afterwards."""
    if seed is None:
        yield
        return
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    torch = sys.modules.get("torch")
    torch_state = None if torch is None else torch.get_rng_state()
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_state)
