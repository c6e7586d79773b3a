"""The application and the options that several commands share.

Tables in a terminal, of which nothing is cut.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skeval.tables.place import Place
from skeval.utils.execution import SHARE, free_memory
from skeval.utils.formatting import printable

app = typer.Typer(
    help="Evaluate synthetic tabular data: each number with its baseline and interval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Tables = Annotated[
    list[Place],
    typer.Argument(
        parser=Place.of,
        metavar="TRAIN [HOLDOUT] SYNTHETIC",
        help="Files of CSV, Parquet, Excel, JSON lines or Arrow, or folders of them, a file a "
        "table; book.xlsx#SHEET; base.sqlite#TABLE, base.duckdb#QUERY or URL#QUERY; or folders of "
        "Parquet files that are parts of one table, which are not read whole. Without a holdout "
        "there are no baselines. SYNTHETIC alone goes with --schema.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        help="JSON: {column: kind}, or the metadata of SDV; of several tables also a data package. "
        "A folder may hold it."
    ),
]
AcceptDoubts = Annotated[
    bool,
    typer.Option(
        "--accept-doubts",
        help="Take whole numbers of 3 to 12 values as categories, save those of other options.",
    ),
]
Categorical = Annotated[str | None, typer.Option(help="These columns are categories: A,B.")]
Numeric = Annotated[str | None, typer.Option(help="These columns are numbers: A,B.")]
Target = Annotated[str | None, typer.Option(help="The column that models predict: adds utility.")]
Sensitive = Annotated[str | None, typer.Option(help="The column of the measures of fairness.")]
Groups = Annotated[
    str | None,
    typer.Option(help="The column that says which rows belong together, such as a person's id."),
]
Duration = Annotated[
    str | None,
    typer.Option(help="The column of the time until an event: with --event, adds survival."),
]
Event = Annotated[
    str | None, typer.Option(help="The column that says whether the event happened: two values.")
]
Known = Annotated[
    str | None,
    typer.Option(help="Columns that others may know of a person: A,B. Adds identity disclosure."),
]
Header = Annotated[
    bool, typer.Option("--header", help="The first row of CSV files holds names, odd as they look.")
]
Sep = Annotated[
    str | None,
    typer.Option(help="Between the cells of CSV files, such as ';' or tab; else as they look."),
]
Encoding = Annotated[
    str | None, typer.Option(help="Of CSV files, such as latin-1; else as they look.")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of CSV files, '.' or ','; else as they look.")
]
Seed = Annotated[
    int, typer.Option(help="Seed of everything that is drawn at random.", min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int, typer.Option(help="Number of threads, -1 for all cores; the numbers do not depend on it.")
]
DateOption = Annotated[
    str | None,
    typer.Option("--date", help="Of the evaluation; now, or SOURCE_DATE_EPOCH, if not said."),
]
Hashes = Annotated[
    bool,
    typer.Option(
        "--hashes/--no-hashes",
        help="Name train and holdout by their SHA-256, which whoever has them can check.",
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        help="End with exit code 1: leak, on a leak, on copies beyond chance and where nothing can "
        "be told; alarm, by the tests alone; fact, on any fact, such as one copy. May be repeated."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        help='End with exit code 1 unless this holds: "tstr >= 0.95 * baseline". Also low, high '
        "and p_value. May be repeated."
    ),
]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="TOML with fail_on, require and level.")
]
ReleaseFile = Annotated[
    Path | None,
    typer.Option(
        "--release",
        help="TOML with title, recipient, purpose, thresholds and more, for page 1; a violated "
        "threshold ends with exit code 1. `skeval init-release` writes one.",
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Write the rules and whether they hold: JUnit's XML.")
]
MaxMemory = Annotated[
    float | None,
    typer.Option(
        help="GiB that each metric may take; one that takes more is left out. Four fifths of what "
        "is free, if not said.",
        min=0.1,
    ),
]
OUTPUT = ("--output", "-o")
PRESETS = (
    "report, fidelity, utility, privacy, screens, attacks, syneval, quality, diagnostic, survival."
)
DEBUG = "--debug"
SCORES = (".txt", ".csv", ".json")  # files of them


@dataclass(frozen=True)
class Given:
    """The options of all commands that evaluate tables."""

    target: Target = None
    sensitive: Sensitive = None
    groups: Groups = None
    duration: Duration = None
    event: Event = None
    known: Known = None
    schema: SchemaFile = None
    accept_doubts: AcceptDoubts = False
    categorical: Categorical = None
    numeric: Numeric = None
    header: Header = False
    sep: Sep = None
    encoding: Encoding = None
    decimal: Decimal = None
    fail_on: FailOn = None
    require: Require = None
    policy: PolicyFile = None
    release: ReleaseFile = None
    junit: JUnit = None
    seed: Seed = 0
    jobs: Jobs = -1
    date: DateOption = None
    hashes: Hashes = True
    max_memory: MaxMemory = None

    @property
    def known_columns(self) -> list[str] | None:
        """Return the columns of --known; None without the option."""
        return None if self.known is None else [name.strip() for name in self.known.split(",")]

    @property
    def max_bytes(self) -> int | None:
        """Return how many bytes a metric may take: by default a share of what is free."""
        if self.max_memory is not None:
            return int(self.max_memory * 2**30)
        free = free_memory()
        return None if free is None else max(1, int(SHARE * free))


def with_given(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of `Given` besides its own, as its first argument."""

    def run(**options: Any) -> None:
        given = {field.name: options.pop(field.name) for field in fields(Given)}
        command(Given(**given), **options)

    hints = get_type_hints(Given, include_extras=True)
    _, *own = inspect.signature(command, eval_str=True).parameters.values()
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(Given)
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    return run


def _version(shown: bool) -> None:
    if shown:
        try:
            typer.echo(f"skeval {version('skeval')}")
        except PackageNotFoundError:
            typer.echo("skeval, from sources that are not installed")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Show the traceback of an error; it may quote cells.")
    ] = False,
) -> None:
    """Hold the options that stand before a command."""


def debugging() -> bool:
    """Return whether tracebacks are wanted."""
    return DEBUG in sys.argv[1:]


def say(text: str) -> None:
    """Print a sentence on standard error, with the options that it speaks of."""
    words = printable(with_options(text))
    Console(stderr=True, soft_wrap=True).print(words, markup=False, highlight=False)


# what parameters of Python are called on the command line
_OPTIONS = {
    "target": "--target COLUMN",
    "sensitive": "--sensitive COLUMN",
    "quasi_identifiers": "--known COLUMNS",
    "known": "--known COLUMNS",
    "duration": "--duration COLUMN",
    "event": "--event COLUMN",
    "groups": "--groups COLUMN",
    "schema": "--schema FILE",
    "holdout": "TRAIN HOLDOUT SYNTHETIC",
    "timeout": "--timeout SECONDS",
    "sep": "--sep",
    "decimal": "--decimal",
    "encoding": "--encoding",
    "on_error": "--debug",
}


# a parameter that is to be given, or is at fault
_NAMED = r"\b{name}(=|\)? names | must )|needs {name}\b"


def with_options(text: str) -> str:
    """Return a sentence with the options that stand for the parameters that it names."""
    named = [name for name in _OPTIONS if re.search(_NAMED.format(name=name), text)]
    options = dict.fromkeys(_OPTIONS[name] for name in named)
    return f"{text} On the command line: {', '.join(options)}." if options else text


_WIDE = 200  # columns of a log
_NARROWEST = 12  # of names


class _Printable(Table):
    """A table whose cells, that hold names of others, give terminals no orders."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        super().add_row(*map(printable, cells), **settings)


def plain_table(*names: str, texts: int = 1) -> Table:
    """Return an empty table that cuts nothing: cut names would read the same.

    The first `texts` columns are broken where there is no room, the others never.
    """
    table = _Printable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(names):
        if place < texts:
            table.add_column(name, overflow="fold", min_width=_NARROWEST)
        else:
            table.add_column(name, no_wrap=True)
    return table


def _length(markup: Any) -> int:
    return cell_len(Text.from_markup(markup).plain)


def show(table: Table) -> None:
    """Print a table, wider than a narrow terminal if need be."""
    console = Console()
    wide = not console.is_terminal and "COLUMNS" not in os.environ
    least = sum(
        _NARROWEST if column.min_width else max(map(_length, (column.header, *column.cells)))
        for column in table.columns
    )
    most = max(console.width, least + 3 * len(table.columns))
    Console(width=_WIDE if wide else most, highlight=False).print(table)
