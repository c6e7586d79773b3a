"""Run Typst in a child process, with a time limit."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from skeval.exceptions import MissingDependencyError, TypesettingError
from skeval.reporting.typesetting.fonts import copy_fonts

STANDARDS = ("a-3a", "ua-1")  # archival with attachments, and accessible
MAX_SECONDS = 120.0
_CHILD = Path(__file__).with_name("child.py")
_INSTEAD = "Write the report to a file that ends in .html, which does not need Typst."


def compile_pdf(files: Mapping[str, str], timestamp: int, limit: float = MAX_SECONDS) -> bytes:
    """Set the files of a document, of which `main.typ` is the first, as an accessible PDF/A-3."""
    return _compile(files, timestamp, limit, "pdf", standards=STANDARDS)[0]


def compile_png(
    files: Mapping[str, str], timestamp: int, ppi: float, limit: float = MAX_SECONDS
) -> list[bytes]:
    """Set the files of a document as one picture per page."""
    return _compile(files, timestamp, limit, "png", ppi=ppi)


# Typst runs in a separate process for four reasons. After a compilation, a forked child hangs
# at its first one, because Typst's threads do not survive the fork. Typst keeps the memory of
# about ten documents. A compilation cannot be interrupted. And a panic of Rust is not an Exception.
# `-P` keeps Python from importing a `json.py` of the user's folder.
def _compile(
    files: Mapping[str, str],
    timestamp: int,
    limit: float,
    kind: Literal["pdf", "png"],
    **options: Any,
) -> list[bytes]:
    try:
        with tempfile.TemporaryDirectory(prefix="skeval-fonts-") as folder:
            copy_fonts(Path(folder))
            job = {"files": dict(files), "fonts": folder, "timestamp": timestamp, "format": kind}
            done = subprocess.run(
                [sys.executable, "-P", str(_CHILD)],
                input=json.dumps({**job, **options}, allow_nan=False).encode(),
                capture_output=True,
                timeout=limit,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        raise TypesettingError(
            f"Typst did not finish the PDF within {limit:g} seconds. {_INSTEAD}"
        ) from error
    except OSError as error:
        raise TypesettingError(f"The PDF cannot be typeset: {error}. {_INSTEAD}") from error
    if done.returncode:
        raise _describe_failure(done.stderr.decode(errors="replace"))
    return [base64.b64decode(page) for page in json.loads(done.stdout)]


def _describe_failure(message: str) -> Exception:
    lines = message.strip().splitlines() or ["Typst ended without a message"]
    reason = next((line for line in lines if "TypstError:" in line), lines[-1])
    reason = reason.rpartition("TypstError: ")[2].rstrip(".")
    if "ModuleNotFoundError" in reason or "ImportError" in reason:
        return MissingDependencyError(
            f"A PDF needs the package typst, which cannot be imported ({reason}). Run: "
            f"pip install 'typst>=0.15.0,<0.16'. {_INSTEAD}"
        )
    return TypesettingError(f"Typst could not typeset the PDF: {reason}. {_INSTEAD}")
