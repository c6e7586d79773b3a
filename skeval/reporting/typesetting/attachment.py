"""The results inside a report: read them back, and see whether they were changed."""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path

from skeval.exceptions import InvalidParameterError
from skeval.reporting.typesetting.render import ATTACHMENT, HASH_PREFIX

MAX_BYTES = 2**29  # of a report


def read_attached_results(path: str | Path) -> str:
    """Return the JSON of the results that a report contains, after its hash was checked."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    path = Path(path)
    if path.stat().st_size > MAX_BYTES:
        raise InvalidParameterError(f"{path.name} is larger than a report: {MAX_BYTES:,} bytes.")
    try:
        reader = PdfReader(BytesIO(path.read_bytes()))
        attached = dict(reader.attachments).get(ATTACHMENT, [])
        stated = (reader.metadata.subject or "") if reader.metadata is not None else ""
    except (PyPdfError, ValueError, KeyError, OSError) as error:
        raise InvalidParameterError(f"{path.name} cannot be read as a PDF: {error}.") from error
    if len(attached) != 1:
        raise InvalidParameterError(
            f"{path.name} has {len(attached)} attachments named {ATTACHMENT}, expected one. Pass a "
            "report that skeval wrote as a PDF."
        )
    content = bytes(attached[0])
    if stated != describe_hash(content):
        raise InvalidParameterError(
            f"{path.name} was changed after it was written: the hash of its results is not the one "
            "that it states. Write the report again from the original results."
        )
    return content.decode("utf-8")


def describe_hash(content: bytes) -> str:
    """Return the description of a report that contains these results."""
    return f"{HASH_PREFIX}{hashlib.sha256(content).hexdigest()}"
