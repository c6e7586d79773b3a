"""Options that several commands share, and the Python parameters that they set."""

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
        help="Files: CSV, Parquet, Excel, JSON lines, Arrow, book.xlsx#SHEET, base.sqlite#TABLE, "
        "base.duckdb#QUERY or URL#QUERY. Folders with one file per table contain several "
        "tables. Large tables can be folders of Parquet files. Without a holdout, scores "
        "have no baseline. SYNTHETIC alone requires --schema.",
    ),
]
Scores = Annotated[
    Path, typer.Argument(help="Scores saved by `evaluate -o scores.json`, or a PDF report.")
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        help="Column types: JSON such as {column: type}, the metadata of SDV or, for several "
        "tables, a data package. A folder of tables may contain it."
    ),
]
AcceptDoubts = Annotated[
    bool,
    typer.Option(
        "--accept-doubts",
        help="Treat integers with 3 to 12 distinct values as categories, unless options differ.",
    ),
]
Categorical = Annotated[str | None, typer.Option(help="Categorical columns: A,B.")]
Numeric = Annotated[str | None, typer.Option(help="Numerical columns: A,B.")]
Target = Annotated[str | None, typer.Option(help="Column to predict. Adds utility metrics.")]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive column for the fairness metrics.")]
Groups = Annotated[
    str | None,
    typer.Option(help="Column that identifies rows that belong together, such as a patient ID."),
]
Duration = Annotated[
    str | None,
    typer.Option(help="Column with the time until an event. Adds survival metrics with --event."),
]
Event = Annotated[
    str | None, typer.Option(help="Column with two values that shows if the event occurred.")
]
Known = Annotated[
    str | None,
    typer.Option(help="Columns that an attacker may know: A,B. Adds identity disclosure."),
]
Header = Annotated[
    bool, typer.Option("--header", help="Treat the first row of CSV files as column names.")
]
Sep = Annotated[
    str | None,
    typer.Option(help="Column separator of CSV files, such as ';' or tab. Detected by default."),
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of CSV files, such as latin-1. Detected by default.")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of CSV files, '.' or ','. Detected by default.")
]
Seed = Annotated[
    int, typer.Option(help="Seed of the random number generator.", min=0, max=2**32 - 1)
]
Jobs = Annotated[
    int, typer.Option(help="Number of threads, -1 for all cores. Results do not depend on it.")
]
DateOption = Annotated[
    str | None,
    typer.Option("--date", help="Date of the evaluation. Default: now, or SOURCE_DATE_EPOCH."),
]
Hashes = Annotated[
    bool,
    typer.Option(
        "--hashes/--no-hashes", help="Record SHA-256 hashes of the training and holdout data."
    ),
]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        help="End with exit code 1 on: leak (a leak or copies were found, or the verdict is "
        "inconclusive), alarm (a test is significant), fact (for example a single copy). May "
        "be repeated."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        help='End with exit code 1 if this requirement is violated: "tstr >= 0.95 * baseline". '
        "low, high and p_value can also be compared. May be repeated."
    ),
]
PolicyFile = Annotated[
    Path | None, typer.Option("--policy", help="TOML file with fail_on, require and level.")
]
ReleaseFile = Annotated[
    Path | None,
    typer.Option(
        "--release",
        help="TOML file with title, recipient, purpose, thresholds and more, for page 1. A "
        "violated threshold ends with exit code 1. `skeval init-release` writes such a file.",
    ),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Save the outcome of each requirement as JUnit XML.")
]
MaxMemory = Annotated[
    float | None,
    typer.Option(
        help="Memory limit for each metric in GiB. A metric that exceeds it is skipped. Default: "
        "four fifths of the free memory.",
        min=0.1,
    ),
]
OUTPUT = ("--output", "-o")
PRESETS = (
    "report, fidelity, utility, privacy, screens, attacks, syneval, quality, diagnostic, survival."
)
SCORES = (".txt", ".csv", ".json")  # endings of files with scores


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
        """Return the memory limit of a metric in bytes, by default a fraction of free memory."""
        if self.max_memory is not None:
            return int(self.max_memory * 2**30)
        free = free_memory()
        return None if free is None else max(1, int(SHARE * free))


def with_given(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Given` to a command, which receives them as its first argument."""

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


# Python parameters and the options that set them
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


# a parameter that is missing or invalid
_NAMED = r"\b{name}(=| names | must )|\({name}\b|needs {name}\b"


def with_options(text: str) -> str:
    """Return a sentence with the options for the parameters that it names."""
    named = [name for name in _OPTIONS if re.search(_NAMED.format(name=name), text)]
    options = dict.fromkeys(_OPTIONS[name] for name in named)
    if not options:
        return text
    return f"{text.removesuffix('.')}. On the command line: {', '.join(options)}."
