"""The command line: report, evaluate, compare, demo, list."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skeval import __version__
from skeval.exceptions import (
    InvalidParameterError,
    MetricFailedWarning,
    MetricWarning,
    SkevalError,
    TableError,
)
from skeval.files import check_output, replacing
from skeval.result import SuiteResult
from skeval.tables.reading import check_exists, read_table
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.relational_sources import read_json
from skeval.tables.schema import TableSchema

app = typer.Typer(
    help="Evaluate synthetic tabular data: each number with its baseline and interval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".txt": lambda result: f"{result!r}\n",
    ".csv": lambda result: result.frame().to_csv(index=False),
    ".json": lambda result: result.to_json(),
}
_PRESETS = "report, fidelity, utility, privacy, screens, attacks, syneval, quality or diagnostic."

TrainHoldoutSynthetic = tuple[Any, Any, Any]  # frames, or RelationalData; the second may be None
Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRAIN [HOLDOUT] SYNTHETIC",
        help="CSV or Parquet files, or folders of them, a file a table. "
        "Without a holdout there are no baselines.",
    ),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        help="JSON: {column: kind}, or the metadata of SDV; of several tables also a data package. "
        "A folder may hold it."
    ),
]
Target = Annotated[str | None, typer.Option(help="The column that models predict: adds utility.")]
Sensitive = Annotated[str | None, typer.Option(help="The column of the measures of fairness.")]
Header = Annotated[
    bool, typer.Option("--header", help="The first row of CSV files holds names, odd as they look.")
]
Seed = Annotated[
    int, typer.Option(help="Seed of everything that is drawn at random.", min=0, max=2**32 - 1)
]
OUTPUT = ("--output", "-o")
DEBUG = "--debug"


def main() -> None:
    """Run the command line; bad input ends in one sentence and exit code 2.

    So does whatever else goes wrong; ``--debug`` shows where.
    """
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot write is no reason to end
            stream.reconfigure(errors="replace")
    try:
        with printed_warnings():
            app(arguments)
    except Exception as error:
        if DEBUG in sys.argv[1:]:
            raise
        _say(f"skeval: error: {_sentence(error)}")
        sys.exit(2)


def _sentence(error: Exception) -> str:
    if isinstance(error, SkevalError | OSError):
        return str(error)
    # what others say may quote a cell
    return (
        f"{type(error).__name__}, which skeval did not expect. {DEBUG} shows where it was raised; "
        "please report that to its authors, without data."
    )


@app.command()
def report(
    tables: Tables,
    output: Annotated[Path, typer.Option(*OUTPUT, help="A PDF, or an HTML page.")] = Path(
        "report.pdf"
    ),
    n_max_train: Annotated[
        int | None, typer.Option(help="Greatest number of rows of train.", min=1)
    ] = None,
    n_max_test: Annotated[
        int | None, typer.Option(help="Greatest number of rows of the holdout.", min=1)
    ] = None,
    columns: Annotated[
        int | None, typer.Option(help="Look at the first columns, this many.", min=1)
    ] = None,
    target: Target = None,
    sensitive: Sensitive = None,
    schema: SchemaFile = None,
    header: Header = False,
    seed: Seed = 0,
) -> None:
    """Write the report of a synthetic table."""
    from skeval.report import ENDINGS

    _check_output(output, ENDINGS, "report", [*tables, schema])
    read, known = _read_tables(tables, schema, header=header)
    _check_of_one_table(known, target=target, sensitive=sensitive)
    _write_report(
        read,
        output,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=columns,
        target=target,
        sensitive=sensitive,
        schema=known,
        random_state=seed,
    )


@app.command()
def evaluate(
    tables: Tables,
    output: Annotated[
        Path | None,
        typer.Option(
            *OUTPUT, help="Save the table: .txt, .csv or .json (.json keeps all details)."
        ),
    ] = None,
    suite: Annotated[str, typer.Option(help=_PRESETS)] = "report",
    timeout: Annotated[
        float | None, typer.Option(help="Seconds that each metric may take.", min=0.0)
    ] = None,
    target: Target = None,
    sensitive: Sensitive = None,
    schema: SchemaFile = None,
    header: Header = False,
    seed: Seed = 0,
) -> None:
    """Print the scores of a synthetic table, and save them."""
    from skeval.suite import make_suite
    from skeval.verdict import summary

    if output is not None:
        _check_output(output, tuple(_WRITERS), "scores", [*tables, schema])
    (train, holdout, synthetic), known = _read_tables(tables, schema, header=header)
    _check_of_one_table(known, target=target, sensitive=sensitive)
    metrics = make_suite(
        suite,
        target=target,
        sensitive=sensitive,
        random_state=seed,
        n_jobs=-1,
        schema=known if isinstance(known, RelationalSchema) else None,
    )
    metrics.set_params(timeout=timeout)
    result = metrics.fit(train, holdout, schema=known).evaluate(synthetic)
    if output is not None:  # before they are printed: whatever goes wrong there, they are kept
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
    _print_scores(result)
    if sentence := summary(result):
        _say(sentence)
    if output is not None:
        _say(f"Saved: {output}")
    _check_failures(result)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="What `evaluate -o scores.json` saved.")],
    second: Annotated[Path, typer.Argument(help="The same of another synthetic table.")],
) -> None:
    """Set the scores of two synthetic tables side by side."""
    frame = _read_results(first).compare(_read_results(second))
    names = {"this": escape(first.stem), "other": escape(second.stem), "": ""}
    table = Table("metric", names["this"], names["other"], "difference", "better")
    for row in frame.itertuples():
        table.add_row(escape(str(row.Index)), *(f"{x:.4g}" for x in row[1:4]), names[row.better])
    Console().print(table)


@app.command()
def demo(
    output: Annotated[Path, typer.Option(*OUTPUT, help="Where to write.")] = Path(
        "skeval-demo.pdf"
    ),
    rows: Annotated[int, typer.Option(help="Number of flights to use.", min=100)] = 20_000,
    seed: Seed = 0,
) -> None:
    """Write a report of real flights, half of them held out, and a copula fitted on the rest."""
    from sklearn.model_selection import train_test_split

    from skeval.datasets import load_flights
    from skeval.generators import GaussianCopula
    from skeval.report import ENDINGS

    check_output(output, ENDINGS, owner="report")
    flights = load_flights(rows, random_state=seed)
    train, holdout = train_test_split(flights, test_size=0.5, random_state=seed)
    synthetic = GaussianCopula().fit(train).sample(len(train), random_state=seed)
    _say(
        f"{len(train):,} real flights as train, {len(holdout):,} held out, "
        f"{len(synthetic):,} synthetic ones from a Gaussian copula."
    )
    _write_report((train, holdout, synthetic), output, random_state=seed)


@app.command(name="list")
def list_metrics() -> None:
    """List the metrics, one line each."""
    from skeval import diagnostic, fidelity, privacy, utility

    modules = (diagnostic, fidelity, utility, privacy)
    kinds = {name: getattr(module, name) for module in modules for name in module.__all__}
    width = max(map(len, kinds)) + 2
    console = Console(soft_wrap=True, highlight=False)
    for name, kind in kinds.items():
        line = (kind.__doc__ or "").strip().splitlines()[0]
        console.print(f"{name:{width}}{kind.tags.aspect:12}{line}", markup=False)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"skeval {__version__}")
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


def _write_report(tables: TrainHoldoutSynthetic, output: Path, **settings: Any) -> None:
    from skeval.report import report as write_report
    from skeval.verdict import summary

    result = write_report(*tables, output, **settings)
    _say(summary(result))
    _say(f"Report: {output}")
    _check_failures(result)


def _check_failures(result: SuiteResult) -> None:
    """End with exit code 1 where metrics failed: others may stand, what was asked for does not."""
    failed = [
        name
        for name, each in result.items()
        if any(isinstance(warning, MetricFailedWarning) for warning in each.warnings)
    ]
    if failed:
        _say(f"skeval: {len(failed)} of {len(result)} metrics failed: {', '.join(failed)}.")
        raise typer.Exit(1)


def _check_output(
    output: Path, endings: tuple[str, ...], owner: str, inputs: Iterable[Path | None]
) -> None:
    """Refuse an output that cannot be written, or is one of the inputs, before the work."""
    for path in inputs:
        if path is not None and path.exists() and output.exists() and output.samefile(path):
            raise InvalidParameterError(
                f"the output {output} is the input {path}, which it would destroy; name another."
            )
    check_output(output, endings, owner=owner)


def _read_tables(
    paths: list[Path], schema: Path | None, *, header: bool
) -> tuple[TrainHoldoutSynthetic, Any]:
    """Return the tables of two or three files, or folders, and what is known of their schema."""
    if len(paths) not in {2, 3}:
        raise InvalidParameterError(
            f"expected two or three files, TRAIN [HOLDOUT] SYNTHETIC, got {len(paths)}."
        )
    first, *others = paths
    if not any(path.is_dir() for path in paths):
        train, *further = (read_table(path, header=header) for path in paths)
        known = _read_schema(schema)
    elif files := [str(path) for path in paths if not path.is_dir()]:
        raise InvalidParameterError(
            f"expected folders throughout, or files throughout; {', '.join(files)}: no folder."
        )
    else:
        train = RelationalData.from_folder(first, schema, header=header)
        known = train.schema
        further = [RelationalData.from_folder(path, known, header=header) for path in others]
        _say(f"note: {known}.")
    return (train, further[0] if len(further) == 2 else None, further[-1]), known


def _check_of_one_table(known: Any, **columns: str | None) -> None:
    """Refuse what names a column where there are several tables."""
    if isinstance(known, RelationalSchema) and (named := [n for n, c in columns.items() if c]):
        raise InvalidParameterError(
            f"--{' and --'.join(named)} cannot be used with folders: utility is of one table. "
            "Give the files of that table, or use skeval.relational.RelationalTSTR in Python."
        )


def _read_schema(path: Path | None) -> Any:
    if path is None:
        return None
    content = read_json(path)
    described = isinstance(content, dict) and any(
        isinstance(content.get(part), dict | list) for part in ("columns", "tables")
    )
    return TableSchema.from_sdv(content) if described else content


def _read_results(path: Path) -> SuiteResult:
    check_exists(path)
    try:
        return SuiteResult.from_json(path)
    except InvalidParameterError as error:
        raise TableError(
            f"{path} holds no scores; save them with: skeval evaluate ... -o scores.json."
        ) from error


def _print_scores(result: SuiteResult) -> None:
    table = Table("metric", "value", "interval", "baseline", "best", "evidence")
    for row in result.frame().query("error == ''").itertuples():
        interval = "" if pd.isna(row.low) else f"{row.low:.4g} to {row.high:.4g}"
        numbers = f"{row.value:.4g}", interval, _or_empty(row.baseline)
        table.add_row(escape(row.metric), *numbers, row.direction.split()[0], row.evidence)
    Console().print(table)
    if any("/" in name for name in result):
        table = Table("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(escape(name), f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
        Console().print(table)
    for name, each in result.items():
        if each.error:
            Console(soft_wrap=True).print(f"{name} left out: {each.error}", markup=False)


def _or_empty(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.4g}"


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Show our warnings as plain sentences on standard error, each once; give others again."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        ours = [w for w in caught if issubclass(w.category, MetricWarning)]
        for text in dict.fromkeys(str(w.message) for w in ours):
            _say(f"note: {text}")
        for w in caught:
            if w not in ours:
                # the filters of the user decide, as if it had not been caught
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


def _say(text: str) -> None:
    Console(stderr=True, soft_wrap=True).print(text, markup=False, highlight=False)
