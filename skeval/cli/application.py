"""The typer application, in which commands register, and its global options."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

app = typer.Typer(
    help="Evaluate synthetic tabular data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
DEBUG = "--debug"


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
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, metavar="", help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            DEBUG,
            metavar="",
            help="Show the traceback of an error. The traceback may contain real data.",
        ),
    ] = False,
) -> None:
    """Define the global options."""


def debugging() -> bool:
    """Return whether tracebacks are wanted."""
    return DEBUG in sys.argv[1:]
