"""An adapter that turns any generator into a scikit-learn estimator."""

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
from skeval.tables.one_table import as_frame
from skeval.utils.parameters import Count, Seed, check_parameters, legal_sets
from skeval.utils.signatures import with_known_names

_SEED_LIMIT = 2**32


class GeneratorAdapter(BaseEstimator):
    """Adapter that gives any generator the interface of a scikit-learn estimator.

    Searches such as `GridSearchCV` and cross-validation require this interface. The adapter can be
    cloned, accepts nested parameters, and samples a given number of rows with a given seed. It also
    stores its training rows, because privacy scores require them and scikit-learn passes only the
    test fold to a scorer. See :func:`~skeval.model_selection.make_generator_scorer`.

    Parameters
    ----------
    generator : object, class or pair of callables
        - An object with ``fit(table)`` and ``sample(n)``, such as the generators of
          `skeval.generators`. A scikit-learn search over such objects, for example
          ``GridSearchCV``, samples with its best estimator. Parameters `random_state` and `seed`
          that are None are set. If `sample` has one of these parameters, the seed is passed.
        - A synthesizer of SDV (1.x or 2.x), or its class. The metadata come from `metadata`, or are
          detected in the training rows at each fit.
        - A pair of functions ``(fit, sample)``, called as ``model = fit(table)`` and
          ``table = sample(model, n)``. Either may accept `random_state` or `seed`.
    metadata : object, optional
        SDV metadata for an SDV class. If None, the metadata are detected in the training rows.
        Detected metadata contain all categories and the extreme values of these rows.
    parameters : dict, optional
        Arguments of the class, if `generator` is a class.
    random_state : int or None, default=0
        Seed of the fit, and of samples that do not specify a seed. If None, no seed is set, so each
        fit and each sample differ unless the generator has its own seed. **A generator with a
        differential privacy guarantee requires None**, see the notes.

    Attributes
    ----------
    generator_ : object
        The fitted generator. The object in `generator` itself is never fitted.
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows. The generator gets a copy of them. Copies of the adapter within the
        process keep the rows. Pickling drops them unless `remember_rows_` is set, and
        :meth:`forget` drops them immediately.
    n_rows_ : int
        Number of training rows. Pickling and :meth:`forget` keep it.
    columns_ : Index of length n_columns
        Columns of the training table with their original labels.
    remember_rows_ : bool
        Whether pickling keeps `train_`. False after fit. The adapter does not control whether the
        generator itself stores training rows.

    See Also
    --------
    skeval.model_selection.cross_validate_generator : Evaluates a generator on several splits.
    skeval.model_selection.make_generator_scorer : Creates a scorer from a metric suite.

    Notes
    -----
    **Differential privacy.** If `random_state` or `seed` of the generator is None, the adapter
    replaces it with its own seed, which is 0 by default. For `DPHistogram`, None is the only
    setting with a guarantee against every attacker. With a known seed, an attacker can subtract the
    noise, so epsilon is not valid. Attacks and audits need known seeds and use a new seed for each
    fit. A search does not need secret noise, unless a table of its `best_estimator_` is released.
    For a table that is released, use ``random_state=None``. Also specify the number of rows to
    sample, because ``sample()`` returns the number of training rows, which "add_remove" protects.
    The pickled attribute `n_rows_` contains this number as well.

    Fitted adapters that return from other processes were pickled, so they do not have their rows.
    This applies to the estimators of ``cross_validate(..., return_estimator=True, n_jobs=2)``. They
    can still sample, but they cannot be scored. The `best_estimator_` of a
    ``GridSearchCV(n_jobs=2)`` is fitted in the process of the search and keeps its rows.

    The generator receives the column labels of the training table, for example integers, and
    :meth:`sample` returns the same labels. Columns of polars and pyarrow tables, and columns that
    are passed to SDV, have string labels, as in metrics.

    Parameters of the generator are set as ``generator__name``. SDV synthesizers do not have
    `set_params`, so the adapter creates a new synthesizer instead. The parameters of a class are
    the arguments of its constructor that have a default.

    The global random generators of NumPy and PyTorch are seeded while a library that uses them is
    running. Their state is restored afterwards.

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
        """Return the parameters, including generator parameters as ``generator__name``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            inner = parameters_of(self.generator, self.parameters)
            params |= {f"generator__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the adapter, and parameters of the generator as ``generator__name``."""
        own = {name: value for name, value in params.items() if "__" not in name}
        nested = {name: value for name, value in params.items() if name not in own}
        super().set_params(**own)
        if wrong := [name for name in nested if not name.startswith("generator__")]:
            raise InvalidParameterError(
                f"GeneratorAdapter has no parameter {', '.join(wrong)}. "
                "Set parameters of the generator as generator__name."
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
            Training rows, as a pandas, polars or pyarrow table.
        y : ignored
            Accepted because searches of scikit-learn pass it.

        Returns
        -------
        self

        Raises
        ------
        TableError
            If `X` is not a table or has no rows.
        InvalidParameterError
            If a parameter is not valid, for example if `generator` has no methods to fit and
            sample, or if `random_state` is not an int.
        GeneratorFailedError
            If the generator raises an error. The error message may quote cells, so it is not
            repeated. The location of the error is reported.
        """
        check_parameters("GeneratorAdapter", self.get_params(deep=False), legal_sets(type(self)))
        train = as_frame(X, "train")
        if isinstance(X, pd.DataFrame):
            train.columns = X.columns
        client = client_of(self.generator, self.metadata, self.parameters)
        # The generator gets a copy, because it must not change the rows that metrics compare with.
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
            Number of rows. If None, the number of training rows is used.
        random_state : int, optional
            Seed of the sample. If None, the seed of the adapter is used, if it has one. If the
            generator accepts a seed, equal seeds return equal rows.

        Returns
        -------
        DataFrame of shape (n, n_columns)

        Raises
        ------
        InvalidParameterError
            If `n` is not an int or is less than 1, or if `random_state` is not an int.
        TableError
            If the generator returns a different number of rows or does not return a table.
        GeneratorFailedError
            If the generator raises an error.
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
                f"{type(self.generator_).__name__} returned {len(rows)} rows, but n={n} rows were "
                "requested."
            )
        return self._restore_labels(rows)

    def train_rows(self) -> pd.DataFrame:
        """Return the training rows.

        Raises
        ------
        NotRememberedError
            If the rows were dropped by :meth:`forget` or when the adapter was pickled.
        """
        check_is_fitted(self, "generator_")
        if not hasattr(self, "train_"):
            raise NotRememberedError(
                "The training rows were dropped by forget() or when this adapter was pickled. "
                "Fit it again, or set remember_rows_ = True before pickling."
            )
        return self.train_

    def forget(self) -> Self:
        """Drop the training rows. The fitted generator is kept."""
        check_is_fitted(self, "generator_")
        if hasattr(self, "train_"):
            del self.train_
        return self

    def _restore_labels(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return rows with the labels of the training columns, which a generator may change."""
        places = {str(label): j for j, label in enumerate(self.columns_)}
        if not places.keys() >= set(rows.columns):
            return rows
        rows.columns = self.columns_.take([places[name] for name in rows.columns])
        return rows

    def __sklearn_clone__(self) -> GeneratorAdapter:
        # A pair of functions, a class or a synthesizer is not an estimator, so clone it as a value.
        params = {name: clone(v, safe=False) for name, v in super().get_params(deep=False).items()}
        return type(self)(**params)

    def __copy__(self) -> GeneratorAdapter:
        return self._copy_with_state(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> GeneratorAdapter:
        return self._copy_with_state(copy.deepcopy(self.__dict__, memo))

    def _copy_with_state(self, state: dict[str, Any]) -> GeneratorAdapter:
        """Return an adapter with this state. Copies within the process keep the rows."""
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
    """Return an unfitted copy of a generator with a new seed and changed parameters."""
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
    """Return the names that are not parameters of a generator."""
    adapter = _copy_adapter(generator)
    if isinstance(adapter.generator, type):
        return unknown_arguments(adapter.generator, names)
    known = {name.removeprefix("generator__") for name in adapter.get_params()}
    known -= {"generator", "metadata", "parameters"}
    return [name for name in names if name not in known]


def _copy_adapter(generator: Any) -> GeneratorAdapter:
    """Return an unfitted copy of a generator in an adapter."""
    adapter = generator if isinstance(generator, GeneratorAdapter) else GeneratorAdapter(generator)
    return clone(adapter)
