"""How generators of different libraries are fitted, sampled, seeded and given parameters."""

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
from skeval.tables.frames import with_columns
from skeval.utils.parameters import Legal

SEEDS = ("random_state", "seed")  # what parameters are called that hold one
_TABLE = "table"  # what SDV calls the one table
_OWN_FILES = {__file__, str(Path(__file__).with_name("adapter.py"))}
_TABLES = (pd.DataFrame, pd.Series)  # which have a method `sample` too
_GENERATORS = (
    "an object with fit and sample, a class of such, a synthesizer of SDV or a pair of functions"
)


def _is_generator(value: object) -> bool:
    """Return whether `value` is a generator; what a class makes is checked later."""
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
        # what is returned may be anything, such as the history of a training
        other = callable(getattr(fitted, "sample", None)) and not isinstance(fitted, _TABLES)
        return fitted if other else made

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Sample by number, and by seed where the generator takes one."""
        return seeded_call(fitted.sample, seed, n)


@dataclass
class Functions:
    """A pair of functions."""

    first: Callable[..., Any]
    second: Callable[..., Any]

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Return the model of the first."""
        return seeded_call(self.first, seed, train)

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Return the rows of the second."""
        return seeded_call(self.second, seed, fitted, n)


@dataclass
class Synthesizer:
    """A synthesizer of SDV for one table: that of 1.x takes the table, that of 2.x dicts."""

    kind: type
    metadata: Any
    parameters: dict[str, Any]
    dtypes: dict[str, Any] = field(default_factory=dict)

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Fit a new synthesizer; some of them take no categories of pandas, and no whole names."""
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
        """Sample by seed; left alone, all of a kind would start from the same one."""
        with _seed_global_state(seed):
            # there is no public way to seed in any version so far
            if hasattr(fitted, "reset_sampling"):
                fitted.reset_sampling()
            if hasattr(fitted, "_set_random_state"):
                fitted._set_random_state(secrets.randbits(32) if seed is None else seed)
            drawn = fitted.sample(num_rows=n)
        rows = next(iter(drawn.values())) if isinstance(drawn, dict) else drawn
        return rows.astype(self.dtypes)


Client = Plain | Functions | Synthesizer


def client_of(generator: Any, metadata: Any, parameters: dict[str, Any] | None) -> Client:
    """Return the client of a generator, or raise an error if it is of an unknown kind."""
    if _is_pair(generator):
        return Functions(*generator)
    if isinstance(generator, type):
        arguments = dict(parameters or {})
        if _is_of_sdv(generator):
            return Synthesizer(generator, metadata, arguments)
        return client_of(generator(**arguments), metadata, None)
    if parameters is not None:
        raise InvalidParameterError(
            "GeneratorAdapter: parameters are the arguments of a class, and generator is an "
            "object; set them as generator__name."
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
    """Return what a function or class can be called with; None if it is compiled and hides that."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None


def parameters_of(generator: Any, parameters: dict[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a generator by name, those of its parts included."""
    if isinstance(generator, type):
        taken = (parameters_taken(generator) or {}).values()
        defaults = {one.name: one.default for one in taken if one.default is not one.empty}
        return {**defaults, **(parameters or {})}
    if _is_of_sdv(type(generator)):
        return _arguments(generator)
    return dict(generator.get_params()) if hasattr(generator, "get_params") else {}


def unknown_arguments(kind: type, names: Iterable[str]) -> list[str]:
    """Return which of some names a class does not take; of compiled classes nothing is known."""
    taken = parameters_taken(kind)
    if taken is None or any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return []
    return [name for name in names if name not in taken]


def with_parameters(
    generator: Any, parameters: dict[str, Any] | None, changed: dict[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Return a generator and the parameters of its class, some of them changed."""
    if isinstance(generator, type):
        if unknown := unknown_arguments(generator, changed):
            raise InvalidParameterError(
                f"GeneratorAdapter: {generator.__name__} has no parameter {', '.join(unknown)}; "
                f"there are {', '.join(inspect.signature(generator).parameters)}."
            )
        return generator, {**(parameters or {}), **changed}
    if _is_of_sdv(type(generator)):
        arguments = {**_arguments(generator), **changed}
        return type(generator)(generator.get_metadata(), **arguments), parameters
    if not hasattr(generator, "set_params"):
        raise InvalidParameterError(
            f"GeneratorAdapter: {type(generator).__name__} has no set_params; "
            "give its class as generator, and parameters."
        )
    return generator.set_params(**changed), parameters


@contextmanager
def without_cells(owner: Any, verb: str) -> Iterator[None]:
    """Keep what a foreign error says of rows out of logs: say what was raised and where."""
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
                " Its fit takes more than the table: where it needs that, such as the names of "
                "discrete columns, give a pair of functions instead."
            )
        raised = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
        raise GeneratorFailedError(
            f"{verb} of {name} raised {raised} ({last.name}). What it says may quote cells, and is "
            f"left out; it is in __context__ of this error.{more}"
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
    """Return whether it can be fitted and sampled; a search can if its estimator can."""
    if _is_search(generator):
        return _can_sample(generator.estimator)
    return all(callable(getattr(generator, name, None)) for name in ("fit", "sample"))


def _is_search(generator: Any) -> bool:
    """Return whether it is a search of scikit-learn, such as GridSearchCV."""
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
    """Set the seeds of a generator that are None; tell whether one of them is its own."""
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
    """Call a function with a seed, by argument if it takes one, else through global generators."""
    taken = parameters_taken(function) or {}
    if by_name := {name: seed for name in SEEDS if name in taken}:
        return function(*arguments, **by_name)
    with _seed_global_state(seed):
        return function(*arguments)


@contextmanager
def _seed_global_state(seed: int | None) -> Iterator[None]:
    """Seed what libraries draw from if they take no seed, and put its state back."""
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
