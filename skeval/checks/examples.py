"""An instance of each class of metrics that the default tables suit."""

from __future__ import annotations

import inspect
from typing import Any

from skeval.checks.tables import notes
from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError

# what metrics ask for that no default can stand for, as columns of the default tables
_ARGUMENTS: dict[str, Any] = {
    "duration": "age",
    "event": "member",
    "known": ["age", "city", "member"],
    "quasi_identifiers": ["age", "city", "member"],
    "secret": "plan",
    "sensitive": "plan",
    "table": "visits",
    "target": "member",
}


def example_of(kind: type[Metric]) -> Metric:
    """Return an instance that the default tables suit, cheap to evaluate."""
    parameters = inspect.signature(kind).parameters
    required = [
        name for name, parameter in parameters.items() if parameter.default is parameter.empty
    ]
    arguments = {name: _argument(name) for name in required}
    return kind(**{**arguments, **kind._light()})


def _argument(name: str) -> Any:
    if name == "attack":
        from skeval.privacy import ShadowMembershipInference

        return example_of(ShadowMembershipInference)
    if name == "generator":
        from skeval.generators import Bootstrap

        return Bootstrap()
    if name in {"planted", "references"}:  # canaries: some of train's notes, and others
        return notes(120, 0)[:1] if name == "planted" else notes(120, 9)[:4]
    if name == "metric":
        from skeval.fidelity import KSComplement

        return KSComplement()
    if name not in _ARGUMENTS:
        raise InvalidParameterError(
            f"the parameter {name} has no default, and no example of it is known. Give it a "
            "default, or add an example to _ARGUMENTS of skeval/checks/examples.py."
        )
    return _ARGUMENTS[name]
