"""Read the results inside a report, and find out whether they were changed."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from skeval.exceptions import InvalidParameterError
from skeval.reporting.typesetting.render import ATTACHMENT, SETTINGS, describe_hash
from skeval.reporting.typesetting.settings import drawing_versions, read_settings
from skeval.results.rendering import AttachedReport
from skeval.results.serialization import FOREIGN

if TYPE_CHECKING:
    from pypdf.generic import EmbeddedFile

MAX_ATTACHMENTS = 100  # attachments that are read, although a report has only two
MAX_BYTES = 2**26  # largest size of a report, and of an attachment


def read_report(path: str | Path) -> AttachedReport:
    """Return the attachments of a report, and whether the results have the hash that it states."""
    path = Path(path)
    with _as_one_sentence(path), path.open("rb") as file:
        from pypdf import PdfReader

        if path.stat().st_size > MAX_BYTES:
            raise InvalidParameterError(
                f"{path} is larger than {MAX_BYTES:,} bytes, which no report is."
            )
        reader = PdfReader(file, strict=True)
        attached = list(islice(reader.attachment_list, MAX_ATTACHMENTS))
        results, settings = (_only(path, name, attached) for name in (ATTACHMENT, SETTINGS))
        stated = str(reader.metadata.subject or "") if reader.metadata is not None else ""
        known, versions = read_settings(path, settings.decode("utf-8"))
        return AttachedReport(
            results=results.decode("utf-8"),
            settings=known,
            other_versions=tuple(
                f"{name} {then}, here {here}"
                for name, here in drawing_versions().items()
                if (then := versions.get(name, "an unknown version")) != here
            ),
            is_unchanged=stated == describe_hash(results),
        )


@contextmanager
def _as_one_sentence(path: Path) -> Iterator[None]:
    """Describe in one sentence the fault of a file that somebody else may have written."""
    if not path.exists():
        raise InvalidParameterError(f"there is no file {path}.")
    if not path.is_file():
        raise InvalidParameterError(f"{path} is not a regular file.")
    from pypdf.errors import DependencyError, PyPdfError

    logger = logging.getLogger("pypdf")  # would describe each fault in a separate line
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    except InvalidParameterError:
        raise
    except OSError as error:
        raise InvalidParameterError(f"{path} cannot be read: {error.strerror}.") from error
    except (PyPdfError, DependencyError, zlib.error, NotImplementedError, *FOREIGN) as error:
        raise InvalidParameterError(
            f"{path} cannot be read as a PDF report. Pass a report that skeval wrote as a PDF."
        ) from error
    finally:
        logger.setLevel(level)


def _only(path: Path, name: str, attached: Iterable[EmbeddedFile]) -> bytes:
    """Return the content of the one attachment of this name."""
    own = [one for one in attached if one.name == name]
    if len(own) != 1:
        raise InvalidParameterError(
            f"{path} has {len(own) or 'no'} attachments named {name}, expected one. Pass a report "
            "that skeval wrote as a PDF."
        )
    content = own[0].content
    if len(content) > MAX_BYTES:
        raise InvalidParameterError(f"{path} has an attachment of more than {MAX_BYTES:,} bytes.")
    return content
