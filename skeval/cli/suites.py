"""Create the suite of a command from a preset or from names of metrics."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from skeval.cli.options import Given
from skeval.exceptions import InvalidParameterError
from skeval.suites.named_metrics import metric_of_name
from skeval.suites.names import proper_name, unknown_name
from skeval.suites.ready import make_suite
from skeval.suites.report import unused_columns
from skeval.suites.suite import MetricSuite
from skeval.tables.relational_schema import RelationalSchema

if TYPE_CHECKING:
    from skeval.core.base import Metric
    from skeval.results.release import Release


def suite_of_options(
    metrics: str | None,
    preset: str,
    given: Given,
    relations: RelationalSchema | None = None,
    release: Release | None = None,
) -> MetricSuite:
    """Return the suite of these metrics, or of a preset."""
    if metrics is not None:
        suite = suite_of_names(metrics, asked_columns(given, release), seed=given.seed)
        return suite.set_params(groups=given.groups)
    suite = make_suite(
        preset,
        **preset_settings(given, release),
        random_state=given.seed,
        n_jobs=-1,
        schema=relations,
    )
    check_columns_are_used(suite, preset, given)
    return suite


def check_columns_are_used(suite: MetricSuite, preset: str, given: Given) -> None:
    """Refuse a column of an option that no metric of a preset names."""
    asked = {"target": given.target, "sensitive": given.sensitive}
    for name in unused_columns(suite, asked):
        needs_target = name == "sensitive" and not given.target
        cure = "Give --target as well, or leave it out" if needs_target else "Leave it out"
        raise InvalidParameterError(
            f"--{name}: no metric of the preset {preset!r} takes it, got {asked[name]!r}. {cure}."
        )


def preset_settings(given: Given, release: Release | None) -> dict[str, Any]:
    """Return the settings of a preset from the options and the release."""
    return {
        "target": given.target,
        "sensitive": given.sensitive,
        "duration": given.duration,
        "event": given.event,
        "quasi_identifiers": given.known_columns,
        "groups": given.groups,
        "release": release,
    }


def asked_columns(given: Given, release: Release | None) -> dict[str, Any]:
    """Return the columns from the options by parameter name. Missing ones are None."""
    stated = list(release.indirect_identifiers) if release is not None else []
    known = given.known_columns or stated or None
    own = {name: getattr(given, name) for name in ("target", "sensitive", "duration", "event")}
    return {**own, "quasi_identifiers": known, "known": known}


def suite_of_names(names: str, given: dict[str, Any], *, seed: int) -> MetricSuite:
    """Return the suite of metrics by any of their names: "tstr,KSComplement,IMS"."""
    chosen: dict[str, Metric] = {}
    for name in dict.fromkeys(part.strip() for part in names.split(",") if part.strip()):
        proper = proper_name(name)
        if proper is None:
            raise InvalidParameterError(f"--metrics: {unknown_name(name)}")
        kind, ready = metric_of_name(proper, given["target"] or "", given["sensitive"] or "")
        _check_parameters(kind, name, given)
        own = _named_columns(kind, given)
        metric = kind(**own) if ready is None else ready.set_params(**own)
        seeds = [p for p in metric.get_params() if p.split("__")[-1] == "random_state"]
        chosen[proper] = metric.set_params(**dict.fromkeys(seeds, seed))
    if not chosen:
        raise InvalidParameterError("--metrics is empty. Pass names that are separated by commas.")
    return MetricSuite(list(chosen.items()), n_jobs=-1)


_OPTIONS = {"quasi_identifiers": "known"}  # parameter: the option that sets it


def _required_parameters(kind: type[Metric]) -> list[str]:
    parameters = inspect.signature(kind).parameters
    return [name for name, one in parameters.items() if one.default is one.empty]


def _check_parameters(kind: type[Metric], name: str, given: dict[str, Any]) -> None:
    """Refuse a metric that requires a parameter that is missing or has no option."""
    required = _required_parameters(kind)
    if foreign := [one for one in required if one not in given]:
        raise InvalidParameterError(
            f"--metrics: {kind.__name__} needs {', '.join(foreign)}, which has no option. Use "
            "Python."
        )
    if lacking := [one for one in required if not given[one]]:
        options = " and ".join(f"--{_OPTIONS.get(one, one)} COLUMN" for one in lacking)
        raise InvalidParameterError(f"--metrics: {name} needs {options}.")


def _named_columns(kind: type[Metric], given: dict[str, Any]) -> dict[str, Any]:
    """Return the columns from the options that the metric has a parameter for."""
    own = inspect.signature(kind).parameters
    return {n: value for n, value in given.items() if n in own and value}
