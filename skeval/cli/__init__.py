"""Command line. Importing the modules of the commands registers the commands."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from skeval.cli.application import DEBUG, app, debugging
from skeval.cli.terminal import say
from skeval.exceptions import MetricWarning, SkevalError
from skeval.utils.memory import limit_memory

# isort: off
# --help lists the commands in this order
from skeval.cli import catalogue as catalogue
from skeval.cli import render as render
from skeval.cli import verify as verify
from skeval.cli import evaluate as evaluate
from skeval.cli import report as report
from skeval.cli import compare as compare
from skeval.cli import schemas as schemas
# isort: on

_NO_MEMORY = (
    "there is not enough memory. Use fewer rows: the options --n-max-train and --n-max-test of "
    "report limit the number of rows."
)
# The current folder may belong to someone else. Therefore processes that libraries start do not
# import from it, and a .numba_config.yaml there cannot name the folder of the machine code that
# numba unpickles.
_TRUSTED = {"PYTHONSAFEPATH": "1", "NUMBA_CACHE_DIR": "", "NUMBA_CACHE_LOCATOR_CLASSES": ""}


def main() -> None:
    """Run the command line. Any error is reported in one sentence, and the exit code is 2.

    The option ``--debug`` shows the traceback instead.
    """
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    for name, value in _TRUSTED.items():
        os.environ.setdefault(name, value)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # replace letters that a terminal cannot write
            stream.reconfigure(errors="replace")
    try:
        with printed_warnings(), limit_memory():
            app(arguments)
    except Exception as error:
        if debugging():
            raise
        try:
            say(f"skeval: error: {_message(error)}")
        except MemoryError:
            os.write(2, f"skeval: error: {_NO_MEMORY}\n".encode())
        sys.exit(2)


def _message(error: Exception) -> str:
    # the message of an ImportError names the package
    if isinstance(error, SkevalError | OSError | ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return _NO_MEMORY
    # the message of another library may quote data
    return (
        f"unexpected {type(error).__name__}. Run the command with {DEBUG} to see the traceback, "
        "and report the error to the developers of skeval without any data."
    )


@contextmanager
def printed_warnings() -> Iterator[None]:
    """Print each warning of skeval once on standard error, and issue other warnings again."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
    finally:
        ours = [w for w in caught if issubclass(w.category, MetricWarning)]
        for text in dict.fromkeys(str(w.message) for w in ours):
            say(f"note: {text}")
        for w in caught:
            if w not in ours:
                # the filters of the user decide, as if it had not been caught
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
