"""Tables that the common checks try a metric on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context
from skeval.datasets import make_mixed

Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


def default_tables() -> Tables:
    """Return small mixed tables: train, holdout, synthetic."""
    train, holdout, synthetic = (make_mixed(120, random_state=seed) for seed in range(3))
    return train, holdout, synthetic


# what metrics ask for that no default can stand for, as columns of the default tables
_ARGUMENTS: dict[str, Any] = {
    "known": ["age", "city", "member"],
    "quasi_identifiers": ["age", "city", "member"],
    "secret": "plan",
    "sensitive": "plan",
    "target": "member",
}
# and settings under which some hundred evaluations of those that fit many models take seconds
_SHADOW = {"n_targets": 1, "n_shadow": 2, "n_eval": 3, "features": "closest"}
_LIGHT: dict[str, dict[str, Any]] = {
    "DPAudit": {"n_runs": 1, "n_pilot": 1, "n_synthetic": 20},
    "EqualizedOddsImprovement": {"estimators": "linear"},
    "FairnessGap": {"estimators": "linear"},
    "FeatureImportanceAgreement": {"estimator": "linear"},
    "LikelihoodRatioMIA": {"n_models": 8},
    "ModelRankAgreement": {"estimators": ["linear", "tree", "bayes"]},
    "PrecisionEfficacy": {"estimator": "linear", "n_folds": 2},
    "RecallEfficacy": {"estimator": "linear", "n_folds": 2},
    "SelectionRegret": {"estimators": ["linear", "tree", "bayes"]},
    "ShadowAttributeInference": _SHADOW,
    "ShadowMembershipInference": _SHADOW,
}


def example_of(kind: type[Metric]) -> Metric:
    """Return an instance that the default tables suit, cheap to evaluate."""
    parameters = inspect.signature(kind).parameters
    required = [
        name for name, parameter in parameters.items() if parameter.default is parameter.empty
    ]
    arguments = {name: _argument(name) for name in required}
    light = _LIGHT.get(kind.__name__, {})
    if light is _SHADOW:
        from sklearn.tree import DecisionTreeClassifier

        light = {**light, "classifier": DecisionTreeClassifier(random_state=0)}
    return kind(**{**arguments, **light})


def _argument(name: str) -> Any:
    if name == "generator":
        from skeval.generators import Bootstrap

        return Bootstrap()
    return _ARGUMENTS[name]


def noise(train: pd.DataFrame) -> pd.DataFrame:
    """Return rows of independent uniform columns, as the canonical table has them."""
    from skeval.privacy.distance_screens.dcr_baseline import random_rows

    return random_rows(Context.of(train).train, len(train), np.random.default_rng(0))


def _all_missing(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(**{str(table.columns[0]): np.full(len(table), np.nan)})


def _constant(table: pd.DataFrame) -> pd.DataFrame:
    first = table.iloc[:, 0].dropna().iloc[0]
    return table.assign(**{str(table.columns[0]): [first] * len(table)})


def _new_category(table: pd.DataFrame) -> pd.DataFrame:
    changed = table.copy()
    for column in changed.columns:
        if changed[column].dtype == object or isinstance(changed[column].dtype, pd.StringDtype):
            changed[column] = [f"new-{i % 3}" for i in range(len(changed))]
    return changed


def _infinite(table: pd.DataFrame) -> pd.DataFrame:
    changed = table.copy()
    for column in changed.columns:
        if pd.api.types.is_float_dtype(changed[column].dtype):
            changed[column] = np.where(np.arange(len(changed)) % 5 == 0, np.inf, changed[column])
    return changed


ODD_TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "an all-missing column": _all_missing,
    "a constant column": _constant,
    "new categories": _new_category,
    "infinities": _infinite,
    "nullable dtypes": lambda table: table.convert_dtypes(),
    "one row": lambda table: table.iloc[:1],
    "a third of the rows": lambda table: table.iloc[::3],
    "one column": lambda table: table.iloc[:, :1],
    "duplicated rows": lambda table: pd.concat([table, table], ignore_index=True),
}
