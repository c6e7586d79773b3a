"""The options that several commands share, and the parameters of Python that they stand for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from skeval.tables.place import Place
from skeval.utils.memory import SHARE, free_memory

Tables = Annotated[
    list[Place],
    typer.Argument(
        parser=Place.from_path,
        metavar="TRAIN [HOLDOUT] SYNTHETIC",
        help="Files of CSV, Parquet, Excel, JSON lines or Arrow, or folders of them, a file a "
        "table; book.xlsx#SHEET; base.sqlite#TABLE, base.duckdb#QUERY or URL#QUERY; or folders of "
        "Parquet files that are parts of one table, which are not read whole. Without a holdout "
        "there are no baselines. SYNTHETIC alone goes with --schema.",
    ),
]
Scores = Annotated[
    Path, typer.Argument(help="What `evaluate -o scores.json` saved, or a PDF report.")
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


# the options that stand for parameters of Python
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
