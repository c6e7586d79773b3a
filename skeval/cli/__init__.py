"""The command line, whose commands register with its application as they are imported here."""

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
    "there is not enough memory for this. Fewer rows take less: --n-max-train and --n-max-test of "
    "report draw them."
)
# The current folder may be a stranger's: processes that libraries start do not import from it, and
# its .numba_config.yaml does not name the folder from which numba unpickles machine code.
_TRUSTED = {"PYTHONSAFEPATH": "1", "NUMBA_CACHE_DIR": "", "NUMBA_CACHE_LOCATOR_CLASSES": ""}


def main() -> None:
    """Run the command line; bad input ends in one sentence and exit code 2.

    So does anything else that goes wrong; ``--debug`` shows where.
    """
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    for name, value in _TRUSTED.items():
        os.environ.setdefault(name, value)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot write is no reason to end
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
    # the last names a package, ours with what installs it
    if isinstance(error, SkevalError | OSError | ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return _NO_MEMORY
    # the message of another library may quote a cell
    return (
        f"{type(error).__name__}, which skeval did not expect. {DEBUG} shows where it was raised; "
        "please report that to its authors, without data."
    )


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
            say(f"note: {text}")
        for w in caught:
            if w not in ours:
                # the filters of the user decide, as if it had not been caught
                warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
