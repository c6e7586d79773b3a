"""Several releases of one table on one page: what is found of all, next to each alone."""

from __future__ import annotations

from collections.abc import Iterator

from skeval.reporting.appendix import provenance_parts
from skeval.reporting.layout import FRONT, Grid, Part, Words
from skeval.reporting.scores import numbers_tested, reason
from skeval.reporting.sections import Plan, Section
from skeval.results.result import Result
from skeval.results.several import SeveralReleases
from skeval.utils.formatting import number, title_of

HOW = (
    "The attacks of the column on the right are made on the rows of all releases. Its verdict is "
    "the one to act on: its tests have the rate of false alarms of one release. The other columns "
    "show what an attacker learns of one release; their alarms are not corrected for how many "
    "there are. The holdout must be unknown to the generators of all releases."
)
UNION = (
    "An attacker who knows which row is of which release may do better than one who has the union. "
    "That one is not simulated."
)


def several_plan(found: SeveralReleases) -> Plan:
    """Return what a page on several releases shows.

    Examples
    --------
    >>> from skeval import Result, SeveralReleases, SuiteResult
    >>> from skeval.reporting.several import several_plan
    >>> one = SuiteResult({"a": Result(0.5)})
    >>> several_plan(SeveralReleases(one, {"first": one, "second": one})).sections[0].name
    'together'
    """
    heading = "All releases together"
    front = Section("together", heading, layout=FRONT, front=True, parts=tuple(_front(found)))
    sections = [front]
    if parts := provenance_parts(found.together):
        sections.append(Section("provenance", "Provenance", parts=parts))
    sizes = {name: one.sizes.get("synthetic", 0) for name, one in found.all_results.items()}
    return Plan(tuple(sections), ", ".join(f"{name} {n:,} rows" for name, n in sizes.items()))


def _front(found: SeveralReleases) -> Iterator[Part]:
    yield Words(found.sentence, "lead")
    yield Words(HOW, "quiet")
    names = list(found.all_results)
    share = 0.75 / len(names)
    yield Grid(
        ("Metric", *names),
        tuple(_row(found, metric) for metric in found.together),
        (0.25, *[share] * len(names)),
        numbers=tuple(range(1, len(names) + 1)),
        alarms=tuple(_alarms(found)),
    )
    yield Words(UNION, "quiet")


def _row(found: SeveralReleases, metric: str) -> tuple[str, ...]:
    result = found.together[metric]
    title = title_of(result.metric) if result.metric else metric
    why = reason(result) or result.error
    cells = (_cell(results.get(metric)) for results in found.all_results.values())
    return ("\n".join(filter(None, [title, metric, why])), *cells)


def _cell(result: Result | None) -> str:
    """Return the p-value of a test and what it compared, or the value."""
    if result is None or result.error:
        return ""
    if result.p_value is None:
        return number(result.value)
    return "\n".join([f"p {number(result.p_value)}", *numbers_tested(result)])


def _alarms(found: SeveralReleases) -> Iterator[tuple[int, int]]:
    for column, results in enumerate(found.all_results.values(), start=1):
        alarms = results.verdict().alarms
        yield from ((i, column) for i, name in enumerate(found.together) if name in alarms)
