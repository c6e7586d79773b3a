"""The command that says which generator to take for a table: `tournament`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from skeval.cli.options import (
    OUTPUT,
    Decimal,
    Encoding,
    Given,
    Header,
    SchemaFile,
    Sep,
    app,
    plain_table,
    say,
    show,
)
from skeval.exceptions import InvalidParameterError
from skeval.tables.places import Place
from skeval.utils.execution import shown
from skeval.utils.formatting import number, shown_interval

if TYPE_CHECKING:
    from skeval.model_selection.entrants import Config
    from skeval.model_selection.standings import Tournament
    from skeval.suites.suite import MetricSuite

COLUMNS = ("target", "sensitive", "duration", "event")
_ENDINGS = (".html", ".htm", ".pdf", ".json")


@app.command()
def tournament(
    table: Annotated[
        Place, typer.Argument(parser=Place.of, metavar="TABLE", help="The real rows: one file.")
    ],
    config: Annotated[
        Path, typer.Option(help="TOML with a table generators.NAME each, and what to measure.")
    ],
    output: Annotated[
        Path | None, typer.Option(*OUTPUT, help="Write a page, a PDF or JSON of it.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Keep results here, no rows; the same command goes on after a kill."),
    ] = None,
    trust: Annotated[
        list[str] | None,
        typer.Option(
            help="A package besides skeval, sdv and ctgan whose classes the file may name: "
            "importing one runs its module. May be repeated."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Number of processes, -1 for all cores; scores do not depend on it.")
    ] = 1,
    schema: SchemaFile = None,
    header: Header = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Say which generator to take for a table, by cross-validation.

    The exit code is 0 where none is recommended: that is an answer.
    """
    from skeval.cli.inputs import check_paths, dialect_of, read_schema
    from skeval.model_selection.entrants import read_config
    from skeval.model_selection.tournaments import tournament as play
    from skeval.tables.reading import read_table

    if output is not None:
        check_paths(output, _ENDINGS, "tournament", [table, config, schema])
    read = read_config(config, trust or ())
    rows = read_table(table, header=header, dialect=dialect_of(sep, encoding, decimal))
    with shown("lines") as tick:
        outcome = play(
            read.entrants,
            rows,
            _suite(read, rows),
            schema=read_schema(schema),
            folder=folder,
            n_jobs=jobs,
            progress=tick("done"),
            **read.options,
        )
    if output is not None:
        _write(outcome, output)
    _print(outcome)
    say(outcome.sentence)
    if output is not None:
        say(f"Saved: {output}")


def _suite(read: Config, rows: Any) -> MetricSuite:
    """Return the suite that the file names: metrics by their names, or a preset."""
    from skeval.cli.inputs import check_named
    from skeval.cli.suites import made_suite

    known: dict[str, Any] = {name: read.suite[name] for name in COLUMNS if name in read.suite}
    check_named(rows, **known)
    if "metrics" in read.suite and "suite" in read.suite:
        raise InvalidParameterError("metrics chooses what suite would; give one of them.")
    given = Given(**known, seed=read.options.get("random_state", 0))
    suite = made_suite(read.suite.get("metrics"), read.suite.get("suite", "report"), given)
    return suite.set_params(n_jobs=None)  # the processes share the cores


def _write(outcome: Tournament, output: Path) -> None:
    ending = output.suffix.lower()
    if ending == ".json":
        outcome.to_json(output)
    else:
        (outcome.to_pdf if ending == ".pdf" else outcome.to_html)(output)


def _print(outcome: Tournament) -> None:
    """Print the table of ranks."""
    heads = ("generator", "rank", "of ranks", outcome.by, "interval", "tied with")
    table = plain_table(*heads)
    for name, row in outcome.ranks().iterrows():
        ranked = row["rank"] == row["rank"]
        table.add_row(
            escape(str(name)),
            number(row["rank"]),
            f"{row['low']:.0f} to {row['high']:.0f}" if ranked else "",
            number(row["score"]),
            shown_interval((row["score_low"], row["score_high"])) if ranked else "",
            escape(outcome.ties_in_words(str(name)) or row["failures"].partition(":")[0]),
        )
    show(table)
