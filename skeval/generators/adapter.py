"""Any generator as a scikit-learn estimator: fit on a table, then sample tables like it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Self

import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import InvalidParameterError, NotRememberedError, TableError
from skeval.generators.base import note_features
from skeval.generators.clients import (
    SEEDS,
    Arguments,
    Client,
    Generator,
    client_of,
    parameters_of,
    parameters_taken,
    unknown_arguments,
    with_parameters,
    without_cells,
)
from skeval.tables.frames import as_frame
from skeval.utils.parameters import Count, Seed, check_parameters, legal_sets
from skeval.utils.signatures import with_known_names

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
        pair = isinstance(self.generator, list | tuple)
        with without_cells(self.generator[0] if pair else self.generator, "fit"):
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
        return self._restore_labels(rows)

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

    def _restore_labels(self, rows: pd.DataFrame) -> pd.DataFrame:
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
        return self._copy_with_state(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> GeneratorAdapter:
        return self._copy_with_state(copy.deepcopy(self.__dict__, memo))

    def _copy_with_state(self, state: dict[str, Any]) -> GeneratorAdapter:
        """Return an adapter with this state: within the process copies keep the rows."""
        copied = object.__new__(type(self))
        copied.__dict__.update(state)
        return copied

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if not getattr(self, "remember_rows_", False):
            state.pop("train_", None)
        return state


def _seed_of(random_state: int | None) -> int | None:
    return None if random_state is None else int(random_state) % _SEED_LIMIT


def seeded_copy(
    generator: Any, seed: int, parameters: Mapping[str, Any] | None = None
) -> GeneratorAdapter:
    """Return an unfitted copy of a generator with this seed and these parameters, not its own."""
    adapter = _copy_adapter(generator)
    own = {f"generator__{name}": value for name, value in (parameters or {}).items()}
    adapter.set_params(**own)
    if isinstance(adapter.generator, type):
        taken = parameters_taken(adapter.generator) or {}
        seeds = {name: seed for name in SEEDS if name in taken}
        adapter.set_params(parameters={**(adapter.parameters or {}), **seeds} or None)
    seeds = {name: seed for name in adapter.get_params() if name.rsplit("__", 1)[-1] in SEEDS}
    return adapter.set_params(**seeds)


def unknown_parameters(generator: Any, names: Iterable[str]) -> list[str]:
    """Return which of some names are no parameters of a generator."""
    adapter = _copy_adapter(generator)
    if isinstance(adapter.generator, type):
        return unknown_arguments(adapter.generator, names)
    known = {name.removeprefix("generator__") for name in adapter.get_params()}
    known -= {"generator", "metadata", "parameters"}
    return [name for name in names if name not in known]


def _copy_adapter(generator: Any) -> GeneratorAdapter:
    """Return an unfitted copy of a generator, with an adapter around it."""
    adapter = generator if isinstance(generator, GeneratorAdapter) else GeneratorAdapter(generator)
    return clone(adapter)
