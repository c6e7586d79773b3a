"""Any generator as a scikit-learn estimator: fit on a table, then sample tables like it.

The ways in which generators of different libraries are fitted and sampled.
"""

from __future__ import annotations

import copy
import inspect
import secrets
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Protocol, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import (
    GeneratorFailedError,
    InvalidParameterError,
    NotRememberedError,
    SkevalError,
    TableError,
)
from skeval.generators.columns import note_features
from skeval.tables.frames import as_frame, with_columns
from skeval.utils.parameters import (
    Count,
    Legal,
    Seed,
    check_parameters,
    legal_sets,
    with_known_names,
)

SEEDS = ("random_state", "seed")  # what parameters are called that hold one
_TABLE = "table"  # what SDV calls the one table
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


class Client(Protocol):
    """Fits a generator of one kind, and samples the fitted one.

    Nothing is seeded where the seed is None; what takes a seed gets None then.
    """

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Return a fitted generator; what it is made of stays as it was."""

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Return `n` rows."""


class Plain:
    """An object with `fit` and `sample`, or a search of scikit-learn among such objects."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Fit a copy of the generator."""
        made = clone(self.generator, safe=False)
        if seed is not None and _took_seed(made, seed):
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


class Functions:
    """A pair of functions."""

    def __init__(self, fit: Callable[..., Any], sample: Callable[..., Any]) -> None:
        self.functions = fit, sample

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Return the model of the first."""
        return seeded_call(self.functions[0], seed, train)

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Return the rows of the second."""
        return seeded_call(self.functions[1], seed, fitted, n)


class Synthesizer:
    """A synthesizer of SDV for one table: that of 1.x takes the table, that of 2.x dicts."""

    def __init__(self, kind: type, metadata: Any, parameters: dict[str, Any]) -> None:
        self.kind = kind
        self.metadata = metadata
        self.parameters = parameters
        self.dtypes: dict[str, Any] = {}

    def fit(self, train: pd.DataFrame, seed: int | None) -> Any:
        """Fit a new synthesizer; some of them take no categories of pandas, and no whole names."""
        train = train.set_axis([str(name) for name in train.columns], axis="columns")
        categories = train.select_dtypes("category")
        self.dtypes = categories.dtypes.to_dict()
        rows = with_columns(
            train, {str(name): values.astype(object) for name, values in categories.items()}
        )
        metadata = detected(rows) if self.metadata is None else copy.deepcopy(self.metadata)
        made = self.kind(metadata, **self.parameters)
        with _global_seed(seed):
            by_name = _sdv_takes_dicts()
            made.fit({next(iter(metadata.to_dict()["tables"])): rows} if by_name else rows)
        return made

    def sample(self, fitted: Any, n: int, seed: int | None) -> Any:
        """Sample by seed; left alone, all of a kind would start from the same one."""
        with _global_seed(seed):
            # there is no public way to seed in any version so far
            if hasattr(fitted, "reset_sampling"):
                fitted.reset_sampling()
            if hasattr(fitted, "_set_random_state"):
                fitted._set_random_state(secrets.randbits(32) if seed is None else seed)
            drawn = fitted.sample(num_rows=n)
        rows = next(iter(drawn.values())) if isinstance(drawn, dict) else drawn
        return rows.astype(self.dtypes)


def client_of(generator: Any, metadata: Any, parameters: dict[str, Any] | None) -> Client:
    """Return the client of a generator.

    Raises
    ------
    InvalidParameterError
        If it is none of the kinds that are known.
    """
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


def parameters_of(generator: Any, parameters: dict[str, Any] | None) -> dict[str, Any]:
    """Return the parameters of a generator by name, those of its parts included."""
    if isinstance(generator, type):
        return {**_defaults(generator), **(parameters or {})}
    if _is_of_sdv(type(generator)):
        return _arguments(generator)
    return dict(generator.get_params()) if hasattr(generator, "get_params") else {}


def _defaults(kind: type) -> dict[str, Any]:
    """Return the arguments of a class that have a default; of compiled classes none is known."""
    try:
        taken = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {one.name: one.default for one in taken if one.default is not one.empty}


def unknown_arguments(kind: type, names: Iterable[str]) -> list[str]:
    """Return which of some names a class does not take; of compiled classes nothing is known."""
    try:
        taken = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return []
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken):
        return []
    known = {one.name for one in taken}
    return [name for name in names if name not in known]


def with_parameters(
    generator: Any, parameters: dict[str, Any] | None, changed: dict[str, Any]
) -> tuple[Any, dict[str, Any] | None]:
    """Return a generator and the parameters of its class, some of them changed.

    Raises
    ------
    InvalidParameterError
        If the generator has no parameters that can be set, or its class none of such a name.
    """
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
    """Keep what a foreign error says of rows out of logs: say what was raised and where.

    Raises
    ------
    GeneratorFailedError
        For all exceptions but those of skeval and of Python's own resources.
    """
    try:
        yield
    except (SkevalError, ImportError, MemoryError):
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        foreign = [frame for frame in frames if frame.filename != __file__] or list(frames)
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
    try:
        taken = list(inspect.signature(owner.fit).parameters.values())
    except (AttributeError, TypeError, ValueError):
        return False
    known = {"self", "y", *SEEDS}
    own = [one.name for one in taken if one.name not in known and one.kind is not one.VAR_KEYWORD]
    return len(own) > 1


def detected(train: pd.DataFrame) -> Any:
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
    arguments = dict(synthesizer.get_parameters())
    taken = inspect.signature(type(synthesizer).__init__).parameters
    return {
        name: value for name, value in arguments.items() if name in taken and name != "metadata"
    }


def _took_seed(generator: Any, seed: int) -> bool:
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
    try:
        taken = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # of compiled functions nothing is known
        taken = set()
    if by_name := {name: seed for name in SEEDS if name in taken}:
        return function(*arguments, **by_name)
    with _global_seed(seed):
        return function(*arguments)


@contextmanager
def _global_seed(seed: int | None) -> Iterator[None]:
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


_SEED_LIMIT = 2**32


class GeneratorAdapter(BaseEstimator):
    """One way to fit and sample any generator: what searches and cross-validation need.

    It stands between a generator of any library and scikit-learn's `GridSearchCV` and the like. It
    clones, takes nested parameters, samples by number and seed, and remembers the rows that it was
    fitted on: a score of privacy needs to know them, and scikit-learn hands a scorer only the test
    fold. See :func:`~skeval.model_selection.make_generator_scorer`.

    Parameters
    ----------
    generator : object, class or pair of callables
        - An object with ``fit(table)`` and ``sample(n)``, such as those of `skeval.generators`.
          A search of scikit-learn among such objects, for example ``GridSearchCV``, samples by its
          best estimator. Parameters `random_state` and `seed` that are None are set; if `sample`
          takes one of these names, it gets it.
        - A synthesizer of SDV (1.x or 2.x), or its class; the metadata are then detected in the
          training rows at each fit, or taken from `metadata`.
        - A pair of functions ``(fit, sample)``: ``model = fit(table)`` and
          ``table = sample(model, n)``. Either may take `random_state` or `seed`.
    metadata : object, optional
        Metadata of SDV, for a class of SDV. Detected in the training rows if None; such metadata
        hold all categories of these rows and their extremes.
    parameters : dict, optional
        Arguments of a class given as `generator`.
    random_state : int or None, default=0
        Seed of fit, and of samples that get none. None seeds nothing: each fit and each draw is a
        new one, unless the generator has a seed of its own. **A generator that promises
        differential privacy needs None**, see the notes.

    Attributes
    ----------
    generator_ : object
        The fitted generator; what `generator` holds is never fitted.
    train_ : DataFrame of shape (n_rows, n_columns)
        The rows that it was fitted on; the generator gets a copy of them. Copies within the process
        keep them, pickling drops them unless `remember_rows_` is set, and :meth:`forget` does at
        once.
    n_rows_ : int
        How many they were, which is kept in any case.
    columns_ : Index of length n_columns
        Their columns, with the labels that they were given.
    remember_rows_ : bool
        Whether pickling keeps `train_`; False. The generator itself may hold training rows too:
        that is its own affair.

    See Also
    --------
    skeval.model_selection.cross_validate_generator : Measures a generator on fresh splits.
    skeval.model_selection.make_generator_scorer : A suite as the scorer of a search.

    Notes
    -----
    **Differential privacy.** Where the generator's `random_state` or `seed` is None, which for
    `DPHistogram` is the only setting with a guarantee against everybody, the adapter sets it to its
    own, 0 by default. The noise is then known, and whoever knows it can take it off: epsilon is
    void. Attacks and audits need that, and seed each fit anew; a search has no need of noise that
    is secret, unless a table of its `best_estimator_` is released. For a table that is released,
    take ``random_state=None``. And say how many rows to sample: ``sample()`` gives as many as there
    were training rows, a number that "add_remove" protects. It is `n_rows_` too, which is pickled.

    Fitted adapters that come back from other processes were pickled, and have forgotten their rows:
    such are the estimators of ``cross_validate(..., return_estimator=True, n_jobs=2)``. They still
    sample, but cannot be scored. The `best_estimator_` of a ``GridSearchCV(n_jobs=2)`` is fitted in
    the process of the search, and remembers them.

    Columns have the labels that the training table had, whole numbers for one, in what the
    generator learns from and in what :meth:`sample` returns. Those of polars and pyarrow, and those
    that SDV gets, are strings, as metrics read all.

    Parameters of the generator are set as ``generator__name``, also where it is a synthesizer of
    SDV, which has no `set_params`: it is made anew then. Those of a class are the arguments of its
    constructor that have a default.

    Libraries that draw from the global generators of NumPy or PyTorch are seeded for the time of
    their work; the state of NumPy's is put back afterwards.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import GaussianCopula, GeneratorAdapter
    >>> adapter = GeneratorAdapter(GaussianCopula()).fit(make_mixed(300))
    >>> adapter.sample(5).shape, adapter.train_.shape
    ((5, 7), (300, 7))
    """

    @with_known_names
    def __init__(
        self,
        generator: Generator,
        *,
        metadata: Any = None,
        parameters: Arguments | None = None,
        random_state: Seed | None = 0,
    ) -> None:
        self.generator = generator
        self.metadata = metadata
        self.parameters = parameters
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the generator as ``generator__name``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            inner = parameters_of(self.generator, self.parameters)
            params |= {f"generator__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``generator__name`` are those of the generator."""
        own = {name: value for name, value in params.items() if "__" not in name}
        nested = {name: value for name, value in params.items() if name not in own}
        super().set_params(**own)
        if wrong := [name for name in nested if not name.startswith("generator__")]:
            raise InvalidParameterError(
                f"GeneratorAdapter has no parameter {', '.join(wrong)}. "
                "Those of the generator are set as generator__name."
            )
        if nested:
            inner = {name.removeprefix("generator__"): value for name, value in nested.items()}
            self.generator, self.parameters = with_parameters(
                self.generator, self.parameters, inner
            )
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the generator.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
            Training rows: pandas, polars or pyarrow.
        y : ignored
            Searches of scikit-learn pass it.

        Returns
        -------
        self

        Raises
        ------
        TableError
            If it is no table, or has no rows.
        InvalidParameterError
            If a parameter is outside its legal set: a `generator` that can neither be fitted nor
            sampled, a `random_state` that is no int.
        GeneratorFailedError
            If the generator raises an error of its own. Its message, which may quote cells, is left
            out; the place where it was raised is reported.
        """
        check_parameters("GeneratorAdapter", self.get_params(deep=False), legal_sets(type(self)))
        train = as_frame(X, "train")
        if isinstance(X, pd.DataFrame):
            train.columns = X.columns
        client = client_of(self.generator, self.metadata, self.parameters)
        # a copy: what a generator does to its table must not change what it is measured against
        with without_cells(_named(self.generator), "fit"):
            self.generator_ = client.fit(train.copy(), _seed_of(self.random_state))
        self._client: Client = client
        self.train_ = train
        self.n_rows_, self.columns_ = len(train), train.columns
        note_features(self, train)
        self.remember_rows_ = False
        return self

    def sample(self, n: Count | None = None, random_state: Seed | None = None) -> pd.DataFrame:
        """Draw synthetic rows.

        Parameters
        ----------
        n : int, optional
            How many; as many as there were training rows if None.
        random_state : int, optional
            Seed of the draw; that of the adapter if None, and none if that is None too. If the
            generator takes a seed, equal seeds give equal rows.

        Returns
        -------
        DataFrame of shape (n, n_columns)

        Raises
        ------
        InvalidParameterError
            If `n` is no int or below 1, or `random_state` no int.
        TableError
            If the generator gives another number of rows, or no table.
        GeneratorFailedError
            If the generator raises an error of its own.
        """
        check_is_fitted(self, "generator_")
        given = {"n": n, "random_state": random_state}
        check_parameters("GeneratorAdapter.sample", given, legal_sets(GeneratorAdapter.sample))
        n = self.n_rows_ if n is None else int(n)
        seed = _seed_of(self.random_state if random_state is None else random_state)
        with without_cells(self.generator_, "sample"):
            drawn = self._client.sample(self.generator_, n, seed)
        rows = as_frame(drawn, "synthetic")
        if len(rows) != n:
            raise TableError(
                f"{type(self.generator_).__name__} was asked for {n} rows and gave {len(rows)}."
            )
        return self._labelled(rows)

    def train_rows(self) -> pd.DataFrame:
        """Return the rows that the generator was fitted on.

        Raises
        ------
        NotRememberedError
            If they were forgotten, or left out when the adapter was pickled.
        """
        check_is_fitted(self, "generator_")
        if not hasattr(self, "train_"):
            raise NotRememberedError(
                "The training rows were forgotten, by forget() or when this adapter was pickled. "
                "Fit it again, or set remember_rows_ = True before pickling."
            )
        return self.train_

    def forget(self) -> Self:
        """Drop the training rows; the fitted generator stays."""
        check_is_fitted(self, "generator_")
        if hasattr(self, "train_"):
            del self.train_
        return self

    def _labelled(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the labels of the training columns, which a generator may have lost."""
        places = {str(label): j for j, label in enumerate(self.columns_)}
        if not places.keys() >= set(rows.columns):
            return rows
        rows.columns = self.columns_.take([places[name] for name in rows.columns])
        return rows

    def __sklearn_clone__(self) -> GeneratorAdapter:
        # a pair of functions, a class or a synthesizer is no estimator: clone it as a value
        params = {name: clone(v, safe=False) for name, v in super().get_params(deep=False).items()}
        return type(self)(**params)

    def __copy__(self) -> GeneratorAdapter:
        return self._copied(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> GeneratorAdapter:
        return self._copied(copy.deepcopy(self.__dict__, memo))

    def _copied(self, state: dict[str, Any]) -> GeneratorAdapter:
        """Return an adapter with this state: within the process copies keep the rows."""
        copied = object.__new__(type(self))
        copied.__dict__.update(state)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if not getattr(self, "remember_rows_", False):
            state.pop("train_", None)
        return state


def _named(generator: Any) -> Any:
    """Return what a message is about: of a pair of functions the first."""
    return generator[0] if isinstance(generator, list | tuple) else generator


def _seed_of(random_state: int | None) -> int | None:
    return None if random_state is None else int(random_state) % _SEED_LIMIT


def reseeded(
    generator: Any, seed: int, parameters: Mapping[str, Any] | None = None
) -> GeneratorAdapter:
    """Return an unfitted copy of a generator with this seed and these parameters, not its own.

    Parameters
    ----------
    generator : object, class, pair of functions or GeneratorAdapter
        It stays as it is.
    seed : int
        The seed of the copy's adapter, and of each parameter `random_state` or `seed` that it has.
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
        return unknown_arguments(adapter.generator, names)
    known = {name.removeprefix("generator__") for name in adapter.get_params()}
    known -= {"generator", "metadata", "parameters"}
    return [name for name in names if name not in known]


def _adapted(generator: Any) -> GeneratorAdapter:
    """Return an unfitted copy of a generator, with an adapter around it."""
    adapter = generator if isinstance(generator, GeneratorAdapter) else GeneratorAdapter(generator)
    return clone(adapter)
