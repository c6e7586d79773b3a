"""Commands about the metrics themselves: `list` and `explain`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, get_args

import typer
from rich.console import Console

from skeval.cli.application import app
from skeval.cli.terminal import say
from skeval.core.catalogue import metric_classes
from skeval.core.tags import Aspect
from skeval.exceptions import InvalidParameterError
from skeval.suites.features import Feature, feature_of, features_of, public_object
from skeval.suites.names import QUESTIONS, Names, proper_name, table_of_names, unknown_name
from skeval.utils.formatting import number
from skeval.utils.formulas import formulas_as_text

if TYPE_CHECKING:
    from skeval.core.base import Metric

_ROLE = re.compile(r":\w+:`(?:[^`<]*<)?~?([\w.]+)>?`")
_UNDERLINE = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_ATTACKERS = {
    "screen": "none. The screen compares distances: it can find a leak but cannot rule one out.",
    "attack": "an attacker who proceeds as described above. Other attackers may be more "
    "successful.",
    "audit": "an attacker who knows which rows could be in the training data.",
    "disclosure": "an attacker who knows other columns of a record.",
}


@app.command(name="list")
def list_metrics(
    aspect: Annotated[
        str | None, typer.Option(help="Aspect: fidelity, utility, privacy or validity.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(help="Show metrics that contain this word in name or description.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all metrics by package.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
) -> None:
    """List common questions with the metrics that answer them, or list available metrics."""
    rows = [row for row in table_of_names().values() if _matches(row, aspect, find)]
    if as_json:
        typer.echo(json.dumps([_row(row) for row in rows], indent=1))
    elif every or aspect is not None or find is not None:
        _print_metrics(rows)
    else:
        _print_questions()


def _matches(row: Names, aspect: str | None, find: str | None) -> bool:
    if aspect is not None and aspect.lower() not in get_args(Aspect):
        known = ", ".join(get_args(Aspect))
        raise InvalidParameterError(f"--aspect must be among {known}, got {aspect!r}.")
    said = " ".join([*row.all(), *features_of(row.kind), _first_line(row)]).lower()
    return (aspect is None or _aspect(row) == aspect.lower()) and (
        find is None or find.lower() in said
    )


def _aspect(row: Names) -> Aspect:
    return metric_classes()[row.kind].tags.aspect


def _first_line(row: Names) -> str:
    """Return the first line of the docstring; `python -OO` drops it."""
    return (metric_classes()[row.kind].__doc__ or "").partition("\n")[0]


def _row(row: Names) -> dict[str, object]:
    return {
        "class": row.kind,
        "names": list(row.short),
        "title": row.title,
        "module": row.module,
        "aspect": _aspect(row),
        "measures": _first_line(row),
        "elsewhere": {source: list(names) for source, names in row.elsewhere.items()},
    }


def _print_metrics(rows: list[Names]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    if not rows:
        say("note: no metric matches. Run skeval list --all to see all metrics.")
    wide = max((len(row.kind) for row in rows), default=0) + 2
    for module in dict.fromkeys(row.module for row in rows):
        console.print(f"from {module}", markup=False)
        for row in rows:
            if row.module == module:
                short = f"[{', '.join(row.short)}] " if row.short else ""
                line = f"{short}{_first_line(row)}"
                console.print(f"  {row.kind:{wide}}{_aspect(row):12}{line}", markup=False)


def _print_questions() -> None:
    console = Console(soft_wrap=True, highlight=False)
    table = table_of_names()
    wide, name = max(len(q) for q, _ in QUESTIONS) + 2, max(len(k) for _, k in QUESTIONS) + 2
    for question, kind in QUESTIONS:
        short = next(iter(table[kind].short), "")
        console.print(f"{question:{wide}}{kind:{name}}{short}".rstrip(), markup=False)
    console.print(
        "",
        f"Run skeval list --all to see all {len(table)} metrics, or search with --find WORD.",
        sep="\n",
    )


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="Name of a class, or of a metric in scores.")],
) -> None:
    """Explain a metric: what it measures, its scale, attacker and references."""
    console = Console(soft_wrap=True, highlight=False)
    for line in explanation_lines(name):
        console.print(line, markup=False)


def explanation_lines(name: str) -> Iterator[str]:
    """Yield the lines that explain a metric, or the counterpart of a feature of another library."""
    proper, feature = proper_name(name), feature_of(name)
    called = name
    if feature is not None and feature.source:
        yield f"{feature.name} ({feature.source}): {feature.ours}"
        yield ""
    if feature is not None and (proper is None or _is_own_object(feature)):
        called = proper = feature.public
    if proper is None:
        raise InvalidParameterError(unknown_name(name))
    table = table_of_names().values()
    names = next((one for one in table if proper in (one.kind, *one.short)), None)
    if names is None:
        yield from _explained_object(proper)
    else:
        yield from _explained_metric(called, proper, names)


def _is_own_object(feature: Feature) -> bool:
    """Return whether the name is a public object of skeval that is not a metric."""
    return not feature.source and feature.public not in metric_classes()


def _explained_object(name: str) -> Iterator[str]:
    """Yield the lines that explain a public function or class that is not a metric."""
    found = public_object(name)
    parameters = inspect.signature(found).parameters if inspect.isfunction(found) else None
    yield name if parameters is None else f"{name}({', '.join(parameters)})"
    yield ""
    head, *rest = _UNDERLINE.split(_without_roles(inspect.getdoc(found) or ""))
    yield head.strip()
    for section, text in zip(rest[::2], rest[1::2], strict=True):
        if section in ("Parameters", "Attributes", "Returns", "Notes"):
            yield ""
            yield "\n".join((section, text.strip("\n")))


def _explained_metric(name: str, proper: str, names: Names) -> Iterator[str]:
    from skeval.suites.named_metrics import parameters_in_preset  # imports metrics

    kind = metric_classes()[names.kind]
    doc = _without_roles(formulas_as_text(_documentation(kind)))
    head, *rest = _UNDERLINE.split(doc)
    parts = dict(zip(rest[::2], (part.strip("\n") for part in rest[1::2]), strict=True))
    tags = kind.tags
    low, high = tags.bounds
    called = name if "/" in name else proper
    title = f"{called}: {names.kind}" if proper in names.short else names.kind
    yield f"{title} ({tags.aspect})"
    yield ""
    yield head.strip()
    yield ""
    facts = {"Scale": f"{_bound(low)} to {_bound(high)}; {tags.direction}."}
    if tags.evidence:
        facts |= {"Evidence": f"{tags.evidence}.", "Attacker": _ATTACKERS[tags.evidence]}
    if tags.needs:
        facts["Needs"] = f"{', '.join(sorted(tags.needs))}."
    if names.short:
        facts["Name in results"] = f"{', '.join(names.short)}."
    for source, others in names.elsewhere.items():
        facts["Short names" if source == "in short" else f"Name in {source}"] = (
            f"{', '.join(others)}."
        )
    if proper in names.short and (changed := parameters_in_preset(proper)):
        facts["In suites"] = f"{changed}."
    wide = max(map(len, facts)) + 2
    yield from (f"{label:{wide}}{fact}" for label, fact in facts.items())
    for section in ("Parameters", "Warnings", "Notes", "References"):
        if section in parts:
            yield ""
            yield f"{section}\n{parts[section]}"


def _bound(end: float) -> str:
    return f"{end:,.0f}" if float(end).is_integer() else number(end)


def _documentation(kind: type[Metric]) -> str:
    if not kind.__doc__:
        raise InvalidParameterError(
            f"{kind.__name__} has no docstring, so skeval explain cannot describe it. Run Python "
            "without -OO, which removes docstrings."
        )
    return inspect.cleandoc(kind.__doc__)


def _without_roles(text: str) -> str:
    return _ROLE.sub(lambda match: match[1].removeprefix("skeval."), text).replace("``", "`")
