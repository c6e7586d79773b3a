"""Ready suites: the metrics of a preset, with one seed; and suites of metrics without names."""

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


@bound_by("All but the preset is given by name: make_suite('report', target=column).")
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
    """Return a ready suite, or one of metrics that need no names.

    Parameters
    ----------
    preset : str, list of Metric or str, or dict of str to Metric, default="report"
        A list of metrics, or of suites, is named by their classes as ``make_pipeline`` names steps,
        a dict by its keys; they keep their own targets and seeds. A list may also contain names of
        metrics that need no parameter, such as "ks_complement". Otherwise a preset. "report":
        all that the report shows, of privacy the headlines only. "fidelity": the headlines of
        fidelity.
        "utility": all metrics of one `target`. "privacy": every screen and attack, and the audit.
        "screens", "attacks": one kind of them. "syneval": what SynEval's privacy report holds, with
        the overall risk. "quality" and "diagnostic": what SDMetrics' two reports hold, the shapes
        of columns and the trends of pairs, validity and structure, with their properties in the
        names (:meth:`SuiteResult.properties`). "survival": the time until an event, of the columns
        `duration` and `event`. Metrics of texts, which these suites have but
        "utility", "quality" and "diagnostic", show where a table has texts.
        Capitals do not matter.
    schema : RelationalSchema, optional
        The schema of several tables, with their keys and roles. The suite then measures what
        relates them, each table by itself (under the name "table/metric"), and the subjects with
        all their rows. It is that of `fit` too, unless another one is given there. "syneval" and
        "utility" are of one table.
    target : str, optional
        The column that models predict. If it is given, the report has utility too.
    sensitive : str, optional
        The column whose groups models should treat alike, of the measures of fairness; and the
        secret of the attack by models.
    duration, event : str, optional
        The time until an event, and whether it happened, by true or by the larger of two numbers,
        for the preset "survival". The presets "report" and "utility" have these metrics too if both
        are given.
    pos_label : str, bool or float, optional
        The value of `event` that says that it happened; of two categories it has to be named.
    quasi_identifiers : list of str, optional
        The columns that others may know of a person, for what a release discloses to them: the
        presets "report" and "privacy" then have it. The default is what `release` states as
        indirect identifiers, where its population is whole.
    columns : ReportColumns, int or list of str, or mapping of str to any of them, optional
        The columns that the metrics of the preset "report" look at, as :func:`report` takes them;
        with `schema`, for each table or by its name.
    release : Release, mapping or path to a TOML file, optional
        What is stated of the release. If train holds the whole population, the presets "report"
        and "privacy" have what is left without a holdout: :doc:`/user_guide/populations`.
    random_state : int, default=0
        Seed of every metric of a preset that draws at random.
    n_jobs : int, optional
        Number of threads.
    max_memory : int, optional
        Bytes by which the process may grow while a metric runs; see :class:`MetricSuite`.
    check_holdout : bool, default=True
        Whether fit checks if train and holdout can be distinguished; see :class:`MetricSuite`.
    space : "gower", "euclidean" or transformer, optional
        The space of all metrics that have one; see :class:`MetricSuite`.
    groups : str, optional
        A column whose values say which rows belong together; see :class:`MetricSuite`.

    Returns
    -------
    MetricSuite

    Raises
    ------
    InvalidParameterError
        If there is no such preset, or it needs columns that are not named.

    See Also
    --------
    MetricSuite : A suite of one's own metrics.
    report : What the preset "report" measures, as a document.

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
                f"make_suite: only presets take {' and '.join(misplaced)}. In a list of metrics, "
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
            "make_suite: duration, event and quasi_identifiers are for one table, but schema is "
            "for several tables."
        )
    if columns is not None and preset != _REPORT:
        raise InvalidParameterError(
            f"make_suite: columns are of the preset {_REPORT!r}, got the preset {preset!r}. Leave "
            "columns out, or give them to the metrics of a suite of your own."
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
    """Refuse a preset without the columns that it needs, and columns that it has no use for."""
    if preset == "utility" and target is None and duration is None:
        raise InvalidParameterError(
            "make_suite: 'utility' needs a column to predict. "
            "Name it: make_suite('utility', target=column)."
        )
    of_both = duration is not None and event is not None
    if (
        (duration is None) != (event is None)
        or (preset == _SURVIVAL and not of_both)
        or (of_both and preset not in _WITH_SURVIVAL)
    ):
        raise InvalidParameterError(
            "make_suite: duration and event need each other, and are of the presets "
            f"{', '.join(_WITH_SURVIVAL)}. Name both: make_suite('survival', duration=column, "
            "event=column)."
        )


def _add_disclosure(
    metrics: Named, quasi_identifiers: Sequence[str] | None, sensitive: str | None, release: Stated
) -> Named:
    """Add what a release discloses of persons, by what others may know of them."""
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
_WITH_SURVIVAL = (_SURVIVAL, _REPORT, "utility")  # presets that may have metrics of survival
_OF_PERSONS = (_REPORT, "privacy")  # presets to which measures of persons are added


def _name_metrics(metrics: Sequence[Any]) -> list[tuple[str, Any]]:
    """Name metrics by their classes in snake case, those of one class by a number behind it."""
    metrics = [_metric_of_name(one) if isinstance(one, str) else one for one in metrics]
    names = [snake_case(type(metric).__name__) for metric in metrics]
    counts, seen = Counter(names), Counter[str]()
    pairs = []
    for name, metric in zip(names, metrics, strict=True):
        seen[name] += 1
        pairs.append((f"{name}-{seen[name]}" if counts[name] > 1 else name, metric))
    return pairs


def _metric_of_name(name: str) -> Metric:
    """Return the metric that is called so; one that needs parameters is refused."""
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
    """Return the name of a preset as it is written here: capitals do not matter."""
    written = preset.lower() if isinstance(preset, str) else preset
    if isinstance(written, str) and written in (*PRESETS, _SURVIVAL):
        return written
    meant = _suggest_preset(preset) if isinstance(preset, str) else ""
    known = f"must be among {', '.join([*PRESETS, _SURVIVAL])}, got {preset!r}.{meant}"
    raise InvalidParameterError(f"make_suite: preset {known}")


def _suggest_preset(preset: str) -> str:
    """Return what may be meant by a name that is of no preset: one like it, or a metric."""
    if near := difflib.get_close_matches(preset.lower(), [*PRESETS, _SURVIVAL], n=1):
        return f" Did you mean {near[0]}?"
    proper = proper_name(preset)
    return f" {proper} is a metric: make_suite([metric]) takes those." if proper else ""
