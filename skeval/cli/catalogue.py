"""Commands about the metrics themselves: `list` and `explain`; and suites by names.

Commands that write a file to edit: `schema`, of the kinds of columns, and `init-release`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape

from skeval.cli.inputs import check_paths, dialect_of, kinds_of, read_schema
from skeval.cli.options import (
    OUTPUT,
    Decimal,
    Encoding,
    Header,
    SchemaFile,
    Sep,
    app,
    plain_table,
    say,
    show,
)
from skeval.core.declared import completed
from skeval.core.tags import Aspect
from skeval.exceptions import InvalidParameterError
from skeval.suites.features import Feature, feature_of, features_of, public_object
from skeval.suites.names import (
    QUESTIONS,
    Names,
    metric_classes,
    nearest_names,
    preset_metrics,
    proper_name,
    table_of_names,
)
from skeval.tables.places import Place
from skeval.tables.reading import read_table
from skeval.tables.relational_data import RelationalData
from skeval.utils.files import check_output, replacing
from skeval.utils.formatting import number
from skeval.utils.formulas import formulas_as_text

if TYPE_CHECKING:
    from skeval.core.base import Metric
    from skeval.suites.suite import MetricSuite


_ROLE = re.compile(r":\w+:`(?:[^`<]*<)?~?([\w.]+)>?`")
_UNDERLINE = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
_ATTACKERS = {
    "screen": "none: it looks at distances. It can raise an alarm and never clear a release.",
    "attack": "one adversary, who does what is described above; others may do more.",
    "audit": "an adversary who knows which rows could have been in train.",
    "disclosure": "somebody who knows other columns of a person.",
}


@app.command(name="list")
def list_metrics(
    facet: Annotated[
        str | None, typer.Option(help="Those of diagnostic, fidelity, utility or privacy.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(help="Those with this word in a name or in what they measure.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All metrics, by package.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With all their names, as JSON.")] = False,
) -> None:
    """List twenty questions and what answers them; or metrics, with their names in scores."""
    rows = [row for row in table_of_names().values() if _matches(row, facet, find)]
    if as_json:
        typer.echo(json.dumps([_row(row) for row in rows], indent=1))
    elif every or facet is not None or find is not None:
        _print_metrics(rows)
    else:
        _print_questions()


def _matches(row: Names, facet: str | None, find: str | None) -> bool:
    kind = metric_classes()[row.kind]
    if facet is not None and facet.lower() not in get_args(Aspect):
        known = ", ".join(get_args(Aspect))
        raise InvalidParameterError(f"--facet must be among {known}, got {facet!r}.")
    said = " ".join(
        [*row.all(), *features_of(row.kind), documentation(kind).splitlines()[0]]
    ).lower()
    return (facet is None or kind.tags.aspect == facet.lower()) and (
        find is None or find.lower() in said
    )


def _row(row: Names) -> dict[str, object]:
    kind = metric_classes()[row.kind]
    return {
        "class": row.kind,
        "names": list(row.short),
        "title": row.title,
        "module": row.module,
        "facet": kind.tags.aspect,
        "measures": documentation(kind).splitlines()[0],
        "elsewhere": {source: list(names) for source, names in row.elsewhere.items()},
    }


def _print_metrics(rows: list[Names]) -> None:
    console = Console(soft_wrap=True, highlight=False)
    if not rows:
        say("note: nothing is called so. skeval list --all names all metrics.")
    wide = max((len(row.kind) for row in rows), default=0) + 2
    for module in dict.fromkeys(row.module for row in rows):
        console.print(f"from {module}", markup=False)
        for row in rows:
            if row.module == module:
                kind = metric_classes()[row.kind]
                short = f"[{', '.join(row.short)}] " if row.short else ""
                line = f"{short}{documentation(kind).splitlines()[0]}"
                console.print(f"  {row.kind:{wide}}{kind.tags.aspect:12}{line}", markup=False)


def _print_questions() -> None:
    console = Console(soft_wrap=True, highlight=False)
    table = table_of_names()
    wide, name = max(len(q) for q, _ in QUESTIONS) + 2, max(len(k) for _, k in QUESTIONS) + 2
    for question, kind in QUESTIONS:
        short = next(iter(table[kind].short), "")
        console.print(f"{question:{wide}}{kind:{name}}{short}".rstrip(), markup=False)
    console.print("", f"skeval list --all names all {len(table)}, --find WORD some.", sep="\n")


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="A class, as in `list`, or a name in scores.")],
) -> None:
    """Say what a metric measures, on which scale, against whom, and where it comes from."""
    console = Console(soft_wrap=True, highlight=False)
    for line in explained(name):
        console.print(line, markup=False)


def documentation(kind: type) -> str:
    """Return the docstring of a class; where ``python -OO`` drops docstrings, from its source.

    Raises
    ------
    InvalidParameterError
        If it has neither docstring nor source.
    """
    if kind.__doc__:
        return inspect.cleandoc(kind.__doc__)
    text = in_source(kind)
    if not text:
        raise InvalidParameterError(
            f"what {kind.__name__} measures is said in its docstring, which it has none of; "
            "run python without -OO."
        )
    return completed(kind, in_source) if "__dataclass_fields__" in vars(kind) else text


def in_source(kind: type) -> str | None:
    """Return the docstring that the source of a class has, None where there is none."""
    return _docstrings_of(kind.__module__).get(kind.__name__)


@cache
def _docstrings_of(module: str) -> dict[str, str | None]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):
        return {}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {node.name: ast.get_docstring(node) for node in found}


def explained(name: str) -> Iterator[str]:
    """Yield what there is to say of a metric, or of what others have that is none, line by line."""
    proper, feature = proper_name(name), feature_of(name)
    called = name
    if feature is not None and feature.source:
        yield f"{feature.name} ({feature.source}): {feature.ours}"
        yield ""
    if feature is not None and (proper is None or _is_own_object(feature)):
        called = proper = feature.public
    if proper is None:
        raise InvalidParameterError(_unknown(name))
    if proper in metric_classes() or proper in preset_metrics("target", "sensitive"):
        yield from _explained_metric(called, proper)
    else:
        yield from _explained_object(proper)


def _is_own_object(feature: Feature) -> bool:
    """Return whether a name is ours, and no metric's: it goes before what others call a metric."""
    return not feature.source and feature.public not in metric_classes()


def _explained_object(name: str) -> Iterator[str]:
    """Yield what there is to say of a public function or class that is no metric."""
    found = public_object(name)
    parameters = inspect.signature(found).parameters if inspect.isfunction(found) else None
    yield name if parameters is None else f"{name}({', '.join(parameters)})"
    yield ""
    head, *rest = _UNDERLINE.split(_without_roles(documentation(found)))
    yield head.strip()
    for section, text in zip(rest[::2], rest[1::2], strict=True):
        if section in ("Parameters", "Attributes", "Returns", "Notes"):
            yield ""
            yield "\n".join((section, text.strip("\n")))


def _explained_metric(name: str, proper: str) -> Iterator[str]:
    of_presets, kinds = preset_metrics("target", "sensitive"), metric_classes()
    instance = of_presets.get(proper)
    kind = type(instance) if instance is not None else kinds[proper]
    names = table_of_names()[kind.__name__]
    doc = _without_roles(formulas_as_text(documentation(kind)))
    head, *rest = _UNDERLINE.split(doc)
    parts = dict(zip(rest[::2], (part.strip("\n") for part in rest[1::2]), strict=True))
    tags, (low, high) = kind.tags, kind.tags.bounds
    called = name if "/" in name else proper
    title = kind.__name__ if instance is None else f"{called}: {kind.__name__}"
    yield f"{title} ({tags.aspect})"
    yield ""
    yield head.strip()
    yield ""
    yield f"Scale       {number(low)} to {number(high)}; {tags.direction}."
    if tags.evidence:
        yield f"Evidence    {tags.evidence}."
        yield f"Attacker    {_ATTACKERS[tags.evidence]}"
    if tags.needs:
        yield f"Needs       {', '.join(sorted(tags.needs))}."
    if names.short:
        yield f"In scores   {', '.join(names.short)}."
    for source, others in names.elsewhere.items():
        yield f"{source:11} {', '.join(others)}."
    if instance is not None:
        own, plain = instance.get_params(deep=False), _defaults(kind)
        changed = {n: v for n, v in own.items() if n not in plain or plain[n] != v}
        if said := ", ".join(
            f"{n}={v!r}" for n, v in changed.items() if n not in ("target", "sensitive")
        ):
            yield f"In suites   {said}."
    for section in ("Parameters", "Warnings", "Notes", "References"):
        if section in parts:
            yield ""
            yield f"{section}\n{parts[section]}"


def _defaults(kind: type[Metric]) -> dict[str, object]:
    parameters = inspect.signature(kind).parameters
    return {n: p.default for n, p in parameters.items() if p.default is not p.empty}


def _without_roles(text: str) -> str:
    return _ROLE.sub(lambda match: match[1].removeprefix("skeval."), text).replace("``", "`")


def _unknown(name: str) -> str:
    if feature := feature_of(name):
        return f"there is no metric {name}. It is {feature.ours}; skeval explain says more."
    near = nearest_names(name)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"there is no metric {name}.{meant} skeval list --all names them all."


def suite_of_names(names: str, given: dict[str, Any], *, seed: int) -> MetricSuite:
    """Return the suite of metrics by any of their names: "tstr,KSComplement,IMS".

    Raises
    ------
    InvalidParameterError
        If there is no such metric, or it needs columns that the options do not name.
    """
    from skeval.suites.suite import MetricSuite

    of_presets = preset_metrics(given["target"] or "", given["sensitive"] or "")
    chosen: dict[str, Metric] = {}
    for name in dict.fromkeys(part.strip() for part in names.split(",") if part.strip()):
        proper = proper_name(name)
        if proper is None:
            raise InvalidParameterError(f"--metrics: {_unknown(name)}")
        kind = type(of_presets[proper]) if proper in of_presets else metric_classes()[proper]
        _check_required(kind, name, given)
        metric = _made(kind, given)
        if proper in of_presets:  # as it is there, of these columns
            metric = of_presets[proper].set_params(**_named_by(kind, given))
        seeds = [p for p in metric.get_params() if p.split("__")[-1] == "random_state"]
        chosen[proper] = metric.set_params(**dict.fromkeys(seeds, seed))
    if not chosen:
        raise InvalidParameterError("--metrics names none; separate names by commas.")
    return MetricSuite(list(chosen.items()), n_jobs=-1)


_OPTIONS = {"quasi_identifiers": "known"}  # by the name of a parameter that another option gives


def _required(kind: type[Metric]) -> list[str]:
    parameters = inspect.signature(kind).parameters
    return [name for name, one in parameters.items() if one.default is one.empty]


def _check_required(kind: type[Metric], name: str, given: dict[str, Any]) -> None:
    """Refuse a metric that needs more than the command can give, or was given."""
    required = _required(kind)
    if foreign := [one for one in required if one not in given]:
        raise InvalidParameterError(
            f"--metrics: {kind.__name__} needs {', '.join(foreign)}, which only Python can give."
        )
    if lacking := [one for one in required if not given[one]]:
        options = " and ".join(f"--{_OPTIONS.get(one, one)} COLUMN" for one in lacking)
        raise InvalidParameterError(f"--metrics: {name} needs {options}.")


def _named_by(kind: type[Metric], given: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that options name of those that a metric takes."""
    own = inspect.signature(kind).parameters
    return {n: value for n, value in given.items() if n in own and value}


def _made(kind: type[Metric], given: dict[str, Any]) -> Metric:
    return kind(**_named_by(kind, given))


@app.command(name="schema")
def write_schema(
    train: Annotated[
        Place, typer.Argument(parser=Place.of, help="A file as `evaluate` reads it, or a folder.")
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="JSON to edit, and to pass as --schema.")
    ] = None,
    schema: SchemaFile = None,
    accept_doubts: Annotated[
        bool,
        typer.Option(
            "--accept-doubts",
            help="Take whole numbers of 2 to 12 values as categories, save those of --schema.",
        ),
    ] = False,
    header: Header = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Print the kind of each column, why it is, and where another one may be meant."""
    if output is not None:
        check_paths(output, (".json",), "schema", [train, schema])
    dialect = dialect_of(sep, encoding, decimal)
    if accept_doubts and train.is_folder:
        raise InvalidParameterError(
            "--accept-doubts is of one table, got a folder; name the file of a table."
        )
    if train.path is not None and train.is_folder:
        data = RelationalData.from_folder(train.path, schema, header=header, dialect=dialect)
        known, kinds = data.schema, kinds_of(data, data.schema)
        content = known.to_dict()
        say(f"note: {known}.")
    else:
        kinds = kinds_of(read_table(train, header=header, dialect=dialect), read_schema(schema))
        if accept_doubts:
            kinds = {name: reason._replace(kind=reason.accepted) for name, reason in kinds.items()}
        content = {name: reason.kind for name, reason in kinds.items()}
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")
    table = plain_table("column", "why", "doubt", "kind", "proposed", texts=3)
    for name, reason in kinds.items():
        proposed = reason.proposed or ""
        table.add_row(escape(name), reason.why, reason.doubt, reason.kind, proposed)
    show(table)
    if output is not None:
        say(f"Saved: {output}. Edit it, and pass it: --schema {output}")


@app.command(name="init-release")
def init_release(
    output: Annotated[Path, typer.Option(*OUTPUT, help="TOML to edit, for --release.")] = Path(
        "release.toml"
    ),
) -> None:
    """Write a file of what is released, to whom, for what and by which thresholds, to be edited."""
    check_output(output, (".toml",), owner="release")
    if output.exists():
        raise InvalidParameterError(
            f"{output} is there already, and may have been edited; name another, or remove it."
        )
    template = files("skeval.cli").joinpath("release.toml").read_text(encoding="utf-8")
    with replacing(output) as temporary:
        temporary.write_text(template, encoding="utf-8")
    say(f"Saved: {output}. Edit it, and pass it: --release {output}")
