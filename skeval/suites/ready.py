"""Create a suite from a preset, or from metrics without names."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

from skeval.exceptions import InvalidParameterError
from skeval.suites.named_metrics import metric_of_name
from skeval.suites.names import proper_name, unknown_name
from skeval.suites.populations import is_whole
from skeval.suites.presets import PRESETS, disclosure, singling_out, survival
from skeval.suites.report_columns import Choices, set_report_columns
from skeval.suites.suite import MetricSuite, Named
from skeval.tables.relational_schema import RelationalSchema
from skeval.utils.formatting import snake_case
from skeval.utils.signatures import bound_by

if TYPE_CHECKING:
    from skeval.core.base import Metric
    from skeval.results.release import Stated


@bound_by("Pass all arguments except the preset by name: make_suite('report', target=column).")
def make_suite(
    preset: str | Sequence[Any] | Mapping[str, Any] = "report",
    *,
    schema: RelationalSchema | None = None,
    target: str | None = None,
    sensitive: str | None = None,
    duration: str | None = None,
    event: str | None = None,
    pos_label: Any = None,
    quasi_identifiers: Sequence[str] | None = None,
    columns: Choices = None,
    release: Stated = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    max_memory: int | None = None,
    check_holdout: bool = True,
    space: Any = None,
    groups: str | None = None,
) -> MetricSuite:
    """Create a metric suite from a preset name or from a list of metrics.

    Parameters
    ----------
    preset : str, list of Metric or str, or dict of str to Metric, default="report"
        Name of a preset, or metrics. Metrics in a list are named after their classes, as in
        ``make_pipeline``. Metrics in a dict are named by its keys. Metrics that you pass keep their
        own parameters, for example targets and seeds. A list may also contain names of metrics
        without required parameters, for example "ks_complement". The case of preset names is
        ignored. The presets are:

        * "report": all metrics of the report, with a selection of privacy metrics.
        * "fidelity": the main fidelity metrics.
        * "utility": all metrics for one `target`.
        * "privacy": all screens and attacks, and the audit.
        * "screens", "attacks": only the screens or the attacks.
        * "syneval": the metrics of the SynEval privacy report, with the overall risk.
        * "quality", "diagnostic": the metrics of the two SDMetrics reports. Each name starts with
          the SDMetrics property, for example "column_shapes/ks_complement" (see
          :meth:`SuiteResult.properties`).
        * "survival": the survival metrics for the columns `duration` and `event`.

        If a table contains text, all presets except "utility", "quality" and "diagnostic" also
        evaluate text metrics.
    schema : RelationalSchema, optional
        Schema of several tables, with their keys and roles. The suite then evaluates the relations
        between the tables, each table separately (with names such as "table/metric"), and each
        subject (for example a person) together with its rows in all dependent tables. `fit` uses
        this schema unless it receives another one. "syneval" and "utility" require a single table.
    target : str, optional
        Column to predict. If it is passed, the preset "report" also evaluates utility.
    sensitive : str, optional
        Sensitive column of the fairness metrics, and the sensitive attribute of the attribute
        inference attack.
    duration, event : str, optional
        Columns with the time until an event and with whether the event occurred, for the preset
        "survival". The event column contains booleans or two numbers, of which the larger one means
        that the event occurred. If both columns are passed, the presets "report" and "utility" also
        evaluate survival metrics.
    pos_label : str, bool or float, optional
        Value of `event` that means that the event occurred. Required if the column is categorical.
    quasi_identifiers : list of str, optional
        Columns that an attacker may know. If they are passed, the presets "report" and "privacy"
        also evaluate disclosure to such an attacker. By default, if `release` declares that the
        training data are the whole population, the indirect identifiers of `release` are used.
    columns : ReportColumns, int or list of str, or mapping of str to any of them, optional
        Columns that the metrics of the preset "report" use, as in :func:`report`. With `schema`,
        the same choice for each table, or a mapping from table names to choices.
    release : Release, mapping or path to a TOML file, optional
        Description of the release. If it declares that the training data are the whole population,
        the presets "report" and "privacy" contain only metrics that do not require a holdout. See
        :doc:`/user_guide/populations`.
    random_state : int, default=0
        Seed of all metrics of a preset that use random numbers.
    n_jobs : int, optional
        Number of threads.
    max_memory : int, optional
        Limit in bytes for the memory that a metric may allocate. See :class:`MetricSuite`.
    check_holdout : bool, default=True
        Whether fit checks if train and holdout can be distinguished. See :class:`MetricSuite`.
    space : "gower", "euclidean" or transformer, optional
        Space in which all metrics with a parameter `space` compute their distances between rows.
        See :class:`MetricSuite`.
    groups : str, optional
        Column that identifies rows that belong together. See :class:`MetricSuite`.

    Returns
    -------
    MetricSuite

    Raises
    ------
    InvalidParameterError
        If the preset does not exist, or requires columns that were not passed.

    See Also
    --------
    MetricSuite : Create a suite from named metrics.
    report : Write the metrics of the preset "report" as a document.

    Examples
    --------
    >>> from skeval import make_suite
    >>> [name for name, _ in make_suite("fidelity").metrics][:5]
    ['ks_complement', 'tv_complement', 'similarity', 'spreads', 'relations']
    >>> from skeval.fidelity import KSComplement, TVComplement
    >>> [name for name, _ in make_suite([KSComplement(), TVComplement()]).metrics]
    ['ks_complement', 'tv_complement']
    """
    settings: dict[str, Any] = {"n_jobs": n_jobs, "max_memory": max_memory, "groups": groups}
    settings |= {"check_holdout": check_holdout, "space": space}
    if isinstance(preset, Sequence | Mapping) and not isinstance(preset, str):
        of_presets = {
            **{"target": target, "sensitive": sensitive, "duration": duration, "event": event},
            **{"quasi_identifiers": quasi_identifiers, "columns": columns},
        }
        if misplaced := [name for name, value in of_presets.items() if value is not None]:
            raise InvalidParameterError(
                f"make_suite: only presets accept {' and '.join(misplaced)}. In a list of metrics, "
                "the metrics have these parameters, for example make_suite([TSTR(target)])."
            )
        named = dict(preset) if isinstance(preset, Mapping) else _name_metrics(preset)
        made = MetricSuite(named, **settings, schema=schema)
        made.check_parameters()
        return made
    preset = _normalize_preset(preset)
    _check_columns(preset, target, duration, event)
    if schema is not None and (duration is not None or quasi_identifiers):
        raise InvalidParameterError(
            "make_suite: duration, event and quasi_identifiers apply to a single table, but "
            "schema describes several tables."
        )
    if columns is not None and preset != _REPORT:
        raise InvalidParameterError(
            f"make_suite: columns applies only to the preset {_REPORT!r}, got the preset "
            f"{preset!r}. Omit columns, or set the columns of each metric in a custom suite."
        )
    if preset == _SURVIVAL:
        metrics = survival(duration or "", event or "", pos_label)
    elif schema is None:
        metrics = PRESETS[preset](target, sensitive)
        if preset in _OF_PERSONS:
            metrics = _add_disclosure(metrics, quasi_identifiers, sensitive, release)
        if duration is not None and event is not None:
            metrics = [*metrics, *survival(duration, event, pos_label)]
    else:
        from skeval.suites.relational_presets import relational_metrics

        metrics = relational_metrics(preset, schema)
    for _, metric in metrics:
        seeds = [p for p in metric.get_params() if p.split("__")[-1] == "random_state"]
        metric.set_params(**dict.fromkeys(seeds, random_state))
    suite = MetricSuite(metrics, **settings, optional=("text",), schema=schema)
    return suite if columns is None else set_report_columns(suite, columns, schema)


def _check_columns(
    preset: str, target: str | None, duration: str | None, event: str | None
) -> None:
    """Refuse a preset without its required columns, and columns that the preset does not use."""
    if preset == "utility" and target is None and duration is None:
        raise InvalidParameterError(
            "make_suite: 'utility' needs a column to predict, for example "
            "make_suite('utility', target=column)."
        )
    of_both = duration is not None and event is not None
    if (
        (duration is None) != (event is None)
        or (preset == _SURVIVAL and not of_both)
        or (of_both and preset not in _WITH_SURVIVAL)
    ):
        raise InvalidParameterError(
            "make_suite: duration and event need each other, and apply only to the presets "
            f"{', '.join(_WITH_SURVIVAL)}. Pass both: make_suite('survival', duration=column, "
            "event=column)."
        )


def _add_disclosure(
    metrics: Named, quasi_identifiers: Sequence[str] | None, sensitive: str | None, release: Stated
) -> Named:
    """Add the disclosure metrics for columns that an attacker may know."""
    from skeval.results.release import Release

    stated = Release.of(release)
    whole = is_whole(stated)
    agreed = stated.indirect_identifiers if stated is not None and whole else None
    known = quasi_identifiers or agreed
    if not (whole or known):
        return metrics
    further = [*(singling_out() if whole else []), *disclosure(known, sensitive)]
    return list({**dict(metrics), **dict(further)}.items())


_REPORT, _SURVIVAL = "report", "survival"
_WITH_SURVIVAL = (_SURVIVAL, _REPORT, "utility")  # presets that may contain survival metrics
_OF_PERSONS = (_REPORT, "privacy")  # presets to which disclosure metrics are added


def _name_metrics(metrics: Sequence[Any]) -> list[tuple[str, Any]]:
    """Name metrics by their classes in snake case, with a number if a class occurs repeatedly."""
    metrics = [_metric_of_name(one) if isinstance(one, str) else one for one in metrics]
    names = [snake_case(type(metric).__name__) for metric in metrics]
    counts, seen = Counter(names), Counter[str]()
    pairs = []
    for name, metric in zip(names, metrics, strict=True):
        seen[name] += 1
        pairs.append((f"{name}-{seen[name]}" if counts[name] > 1 else name, metric))
    return pairs


def _metric_of_name(name: str) -> Metric:
    """Return the metric with this name. Refuse a metric that has required parameters."""
    proper = proper_name(name)
    if proper is None:
        raise InvalidParameterError(f"make_suite: {unknown_name(name)}")
    kind, ready = metric_of_name(proper, "", "")
    parameters = signature(kind).parameters.values()
    if required := [one.name for one in parameters if one.default is one.empty]:
        raise InvalidParameterError(
            f"make_suite: {name} needs {', '.join(required)}. Pass the metric in place of its "
            f"name: {kind.__name__}({', '.join(f'{one}=...' for one in required)})."
        )
    return kind() if ready is None else ready


def _normalize_preset(preset: str) -> str:
    """Return the spelling of a preset in skeval. The case of the given name is ignored."""
    written = preset.lower() if isinstance(preset, str) else preset
    if isinstance(written, str) and written in (*PRESETS, _SURVIVAL):
        return written
    meant = _suggest_preset(preset) if isinstance(preset, str) else ""
    known = f"must be among {', '.join([*PRESETS, _SURVIVAL])}, got {preset!r}.{meant}"
    raise InvalidParameterError(f"make_suite: preset {known}")


def _suggest_preset(preset: str) -> str:
    """Return a hint for an unknown preset: a similar preset, or a metric."""
    if near := difflib.get_close_matches(preset.lower(), [*PRESETS, _SURVIVAL], n=1):
        return f" Did you mean {near[0]}?"
    proper = proper_name(preset)
    return f" {proper} is a metric. Pass it in a list: make_suite([metric])." if proper else ""
