"""An instance of each class of metrics that the default tables suit, cheap to evaluate."""

from __future__ import annotations

import inspect
from typing import Any, get_args

from sklearn.tree import DecisionTreeClassifier

from skeval import Metric
from skeval.checks.tables import notes
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import KSComplement
from skeval.generators import Bootstrap
from skeval.privacy import ShadowMembershipInference
from skeval.text import PatternRecognizer
from skeval.utils.parameters import ColumnName, legal_sets

# required parameters that no default can stand for, as columns of the default tables
_REQUIRED: dict[str, Any] = {
    "duration": "age",
    "event": "member",
    "known": ["age", "city", "member"],
    "quasi_identifiers": ["age", "city", "member"],
    "secret": "plan",
    "sensitive": "plan",
    "table": "visits",
    "target": "member",
    "generator": Bootstrap(),
    "metric": KSComplement(),
    "planted": notes(120, 0)[:1],  # canaries, one of the notes of train
    "references": notes(120, 9)[:4],
}
# parameters that make metrics of many models quick, by the class or a base class
_LIGHT: dict[str, dict[str, Any]] = {
    "_GroupMetric": {"estimators": "linear"},
    "DPAudit": {"n_runs": 1, "n_pilot": 1, "n_synthetic": 20},
    "FeatureImportanceAgreement": {"estimator": "linear"},
    "GlobalUtility": {"estimator": "linear", "n_bootstrap": 50},
    "HalvesAttack": {"n_models": 8},
    "NominalMentions": {"recognizer": PatternRecognizer()},  # the default requires a model
    "ParentChildAggregates": {"detection": False},
    "RelationalTSTR": {"target": "reason", "estimators": "linear"},
    "SequenceTSTR": {"target": "reason", "estimator": "linear", "n_bootstrap": 50},
    "ShadowAttack": {
        "n_targets": 1,
        "n_shadow": 2,
        "n_eval": 3,
        "features": "closest",
        "classifier": DecisionTreeClassifier(random_state=0),
    },
    "_Efficacy": {"estimator": "linear", "n_folds": 2},
    "_ModelComparison": {"estimators": ["linear", "tree", "bayes"]},
}


def example_of(kind: type[Metric]) -> Metric:
    """Return an instance that the default tables suit."""
    parameters = inspect.signature(kind).parameters.values()
    required = [one.name for one in parameters if one.default is one.empty]
    arguments = {name: _argument(kind, name) for name in required}
    light = (_LIGHT.get(base.__name__, {}) for base in reversed(kind.__mro__))
    return kind(**{name: value for own in (arguments, *light) for name, value in own.items()})


def _argument(kind: type[Metric], name: str) -> Any:
    if name not in _REQUIRED and legal_sets(kind).get(name) is get_args(ColumnName)[1]:
        return "age"
    if name == "attack":
        return example_of(ShadowMembershipInference)
    if name not in _REQUIRED:
        raise InvalidParameterError(
            f"the parameter {name} has no default, and no example of it is known. Give it a "
            "default, or add an example to _REQUIRED of tests/metric_examples.py."
        )
    return _REQUIRED[name]
