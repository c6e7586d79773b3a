"""Commands of saved scores: `render` draws them, `verify` checks what they are of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from skeval.cli.inputs import check_paths
from skeval.cli.options import OUTPUT, Given, app, say
from skeval.cli.tables import show, table_of
from skeval.exceptions import InvalidParameterError
from skeval.progress import shown
from skeval.suite_result import SuiteResult
from skeval.tables.reading import check_exists

if TYPE_CHECKING:
    from skeval.comparison import Comparison
    from skeval.suite import MetricSuite

Scores = Annotated[Path, typer.Argument(help="What `evaluate -o scores.json` saved.")]


@app.command()
def render(
    scores: Scores,
    output: Annotated[Path, typer.Option(*OUTPUT, help="A PDF, or an HTML page.")] = Path(
        "report.html"
    ),
    title: Annotated[str, typer.Option(help="Of the report.")] = "",
) -> None:
    """Write the report of saved scores: no table is needed."""
    from skeval.rendering import ENDINGS

    check_paths(output, ENDINGS, "report", [scores])
    check_exists(scores)
    result = _read_comparison(scores) or read_results(scores)
    write = result.to_html if output.suffix.lower() in ENDINGS[1:] else result.to_pdf
    settings: dict[str, Any] = {"title": title} if title else {}
    with shown("lines") as tick:
        if isinstance(result, SuiteResult):
            settings["progress"] = tick("drawn")
        write(output, **settings)
    say(f"Report: {output}")


@app.command()
def verify(
    scores: Scores,
    files: Annotated[list[Path], typer.Argument(help="CSV or Parquet files, in any order.")],
) -> None:
    """Check that scores are of these files; exit code 1 if one of them is none of the inputs."""
    from skeval._versions import installed_versions
    from skeval.provenance import DIFFERENT
    from skeval.provenance import verify as verify_tables

    provenance = read_results(scores).provenance
    if provenance is None:
        raise InvalidParameterError(f"{scores} says nothing of where its scores come from.")
    for path in files:
        check_exists(path)
    frame = verify_tables(provenance, files)
    table = table_of("file", "input", "found", texts=3)
    for row in frame.itertuples(index=False):
        table.add_row(*map(escape, row))
    show(table)
    say(f"{scores.name}: evaluated by skeval {provenance.version} on {provenance.date}.")
    here = installed_versions()
    then = {"skeval": provenance.version, **provenance.packages}
    if changed := [
        f"{n} {v}, here {here.get(n, 'none')}" for n, v in then.items() if v != here.get(n)
    ]:
        say(f"note: evaluated with other versions: {'; '.join(changed)}.")
    if unknown := frame.loc[frame["found"] == DIFFERENT, "given"].tolist():
        say(f"skeval: not among the inputs of {scores}: {', '.join(unknown)}.")
        raise typer.Exit(1)


def _read_comparison(path: Path) -> Comparison | None:
    """Return what `compare -o comparison.json` saved; None where a file holds other scores."""
    from skeval.comparison import Comparison

    try:
        return Comparison.from_json(path)
    except InvalidParameterError:
        return None


def suite_of_file(
    path: Path, tables: list[Path], given: Given, metrics: str | None, *, rows: bool
) -> MetricSuite:
    """Return a suite that was saved, where one synthetic table is given and nothing of train."""
    from skeval.suite import MetricSuite

    options = {
        **{"--target": given.target, "--sensitive": given.sensitive, "--schema": given.schema},
        "--metrics": metrics,
    }
    if foreign := [name for name, value in options.items() if value is not None]:
        raise InvalidParameterError(
            f"{' and '.join(foreign)}: --saved has it from the suite; leave it out."
        )
    if len(tables) != 1 or tables[0].is_dir():
        raise InvalidParameterError("--saved takes one file, SYNTHETIC: it is the real tables.")
    check_exists(path)
    return MetricSuite.load(path, rows=rows)


def read_results(path: Path) -> SuiteResult:
    """Read scores that `evaluate` saved."""
    check_exists(path)
    return SuiteResult.from_json(path)
