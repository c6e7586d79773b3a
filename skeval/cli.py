"""The command line: report, evaluate, compare, demo, list."""

from __future__ import annotations

import json
import lzma
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from skeval import __version__
from skeval.exceptions import InvalidParameterError, MetricWarning, SkevalError, TableError
from skeval.result import SuiteResult, replacing
from skeval.tables.schema import TableSchema

app = typer.Typer(
    help="Evaluate synthetic tabular data: each number with its baseline and interval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

# what reading a file raises that is none: broken text, and broken packing of it
_UNREADABLE = (ValueError, OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError, zlib.error)

_WRITERS: dict[str, Callable[[SuiteResult], str]] = {
    ".json": lambda result: result.to_json(),
    ".csv": lambda result: result.frame().to_csv(index=False),
    ".txt": lambda result: f"{result!r}\n",
}
_PRESETS = "report, fidelity, utility, privacy, screens, attacks, syneval, quality or diagnostic."

TrainHoldoutSynthetic = tuple[pd.DataFrame, pd.DataFrame | None, pd.DataFrame]
Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="TRAIN [HOLDOUT] SYNTHETIC",
        help="CSV or Parquet files. Without a holdout there are no baselines.",
    ),
]
SchemaFile = Annotated[
    Path | None, typer.Option(help="JSON: {column: kind}, or the metadata of SDV.")
]
Target = Annotated[str | None, typer.Option(help="The column that models predict: adds utility.")]
Sensitive = Annotated[str | None, typer.Option(help="The column of the measures of fairness.")]
Seed = Annotated[int, typer.Option(help="Seed of everything that is drawn at random.", min=0)]
OUTPUT = ("--output", "-o")


def main() -> None:
    """Run the command line; bad input ends in one sentence and exit code 2."""
    try:
        with printed_warnings():
            app()
    except (SkevalError, OSError) as error:
        _say(f"skeval: error: {error}")
        sys.exit(2)


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
    seed: Seed = 0,
) -> None:
    """Write the report of a synthetic table."""
    _write_report(
        _read_tables(tables),
        output,
        n_max_train=n_max_train,
        n_max_test=n_max_test,
        columns=columns,
        target=target,
        sensitive=sensitive,
        schema=_read_schema(schema),
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
    target: Target = None,
    sensitive: Sensitive = None,
    schema: SchemaFile = None,
    seed: Seed = 0,
) -> None:
    """Print the scores of a synthetic table, and save them."""
    from skeval.suite import make_suite
    from skeval.verdict import summary

    if output is not None and output.suffix.lower() not in _WRITERS:
        raise InvalidParameterError(f"{output} must end in .txt, .csv or .json.")
    train, holdout, synthetic = _read_tables(tables)
    metrics = make_suite(suite, target=target, sensitive=sensitive, random_state=seed, n_jobs=-1)
    result = metrics.fit(train, holdout, schema=_read_schema(schema)).evaluate(synthetic)
    _print_scores(result)
    if sentence := summary(result):
        _say(sentence)
    if output is not None:
        with replacing(output) as temporary:
            temporary.write_text(_WRITERS[output.suffix.lower()](result), encoding="utf-8")
        _say(f"Saved: {output}")


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="What `evaluate -o scores.json` saved.")],
    second: Annotated[Path, typer.Argument(help="The same of another synthetic table.")],
) -> None:
    """Set the scores of two synthetic tables side by side."""
    frame = _read_results(first).compare(_read_results(second))
    table = Table("metric", first.stem, second.stem, "difference", "better")
    names = {"this": first.stem, "other": second.stem, "": ""}
    for row in frame.itertuples():
        table.add_row(str(row.Index), *(f"{x:.4g}" for x in row[1:4]), names[row.better])
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
) -> None:
    """Hold the options that stand before a command."""


def _write_report(tables: TrainHoldoutSynthetic, output: Path, **settings: Any) -> None:
    from skeval.report import report as write_report
    from skeval.verdict import summary

    _say(summary(write_report(*tables, output, **settings)))
    _say(f"Report: {output}")


def _read_tables(paths: list[Path]) -> TrainHoldoutSynthetic:
    if len(paths) not in {2, 3}:
        raise InvalidParameterError(
            f"expected two or three files, TRAIN [HOLDOUT] SYNTHETIC, got {len(paths)}."
        )
    train, *holdout, synthetic = (read_table(path) for path in paths)
    return train, holdout[0] if holdout else None, synthetic


def _check_exists(path: Path) -> None:
    if not path.is_file():
        raise TableError(f"there is no file {path}.")


def read_table(path: Path) -> pd.DataFrame:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : Path
        Ending in .csv, .tsv (also .gz, .bz2, .xz, .zip of them), .parquet or .pq.

    Returns
    -------
    DataFrame

    Raises
    ------
    TableError
        If there is no such file, it cannot be read, or has a column name twice.
    """
    _check_exists(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((s for s in reversed(suffixes) if s not in {".gz", ".bz2", ".xz", ".zip"}), "")
    try:
        if kind in {".parquet", ".pq"}:
            return pd.read_parquet(path)
        if kind in {".csv", ".tsv"}:
            return _read_csv(path, "\t" if kind == ".tsv" else ",")
    except _UNREADABLE as error:
        raise TableError(f"{path} cannot be read as {kind[1:]}: {error}") from error
    except ImportError as error:
        raise TableError(
            f"{path} needs a Parquet reader. Install one: pip install pyarrow."
        ) from error
    raise TableError(
        f"{path} is neither CSV nor Parquet; its name must end in .csv, .tsv or .parquet."
    )


def _read_csv(path: Path, separator: str) -> pd.DataFrame:
    # pandas would quietly rename the second of two equal names
    header = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str).iloc[0].tolist()
    if twice := sorted({str(name) for name in header if header.count(name) > 1}):
        raise ValueError(
            f"columns of the same name: {', '.join(twice)}; rename or drop one of each."
        )
    table = pd.read_csv(path, sep=separator, low_memory=False)
    if not _starts_with_index(header[0], table):
        return table
    _say(f"note: {path} was saved with its row index; its first column, without a name, left out.")
    return table.iloc[:, 1:]


def _starts_with_index(name: Any, table: pd.DataFrame) -> bool:
    """Tell whether the first column is unnamed and numbers the rows, in whatever order."""
    if not pd.isna(name) or table.shape[1] < 2:
        return False
    first = table.iloc[:, 0]
    return bool(pd.api.types.is_integer_dtype(first.dtype) and first.is_unique)


def _read_schema(path: Path | None) -> Any:
    if path is None:
        return None
    _check_exists(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableError(f"{path} is no JSON: {error}") from error
    described = isinstance(content, dict) and any(
        isinstance(content.get(part), dict | list) for part in ("columns", "tables")
    )
    return TableSchema.from_sdv(content) if described else content


def _read_results(path: Path) -> SuiteResult:
    _check_exists(path)
    try:
        return SuiteResult.from_json(path)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableError(
            f"{path} holds no scores; save them with: skeval evaluate ... -o {path}."
        ) from error


def _print_scores(result: SuiteResult) -> None:
    table = Table("metric", "value", "interval", "baseline", "best", "evidence")
    for row in result.frame().query("error == ''").itertuples():
        interval = "" if pd.isna(row.low) else f"{row.low:.4g} to {row.high:.4g}"
        numbers = f"{row.value:.4g}", interval, _or_empty(row.baseline)
        table.add_row(row.metric, *numbers, row.direction.split()[0], row.evidence)
    Console().print(table)
    if any("/" in name for name in result):
        table = Table("property", "score", "baseline", "columns or pairs")
        for name, *scores, n_used in result.properties().itertuples():
            table.add_row(name, f"{scores[0]:.4g}", _or_empty(scores[1]), str(n_used))
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
