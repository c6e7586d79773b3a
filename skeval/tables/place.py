"""Location of a table in a file, in a part of a file after a ``#``, or in a database at a URL."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from skeval.tables.file_endings import DATABASES, WORKBOOKS

_URL = re.compile(r"([A-Za-z][\w+.-]*)://")
_OF_FILES = ("sqlite", "duckdb")  # databases that are stored in a file
_ENDINGS = "|".join(ending[1:] for ending in (*WORKBOOKS, *DATABASES))
_PART = re.compile(rf"(.+?\.(?:{_ENDINGS}))#(.*)", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(r"\s*(select|with)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Location of a table in a file, in a part of a file or in a database."""

    path: Path | None
    part: str = ""
    url: str = field(default="", repr=False)

    @classmethod
    def from_path(cls, given: str | Path | Place) -> Place:
        """Parse a path or a URL, including the part after a ``#``."""
        if isinstance(given, Place):
            return given
        text = str(given)
        if scheme := _URL.match(text):
            url, _, part = text.partition("#")
            if scheme[1].lower().partition("+")[0] not in _OF_FILES:
                return cls(None, part, url)
            return cls(Path(url[scheme.end() :].removeprefix("/").partition("?")[0]), part)
        found = _PART.fullmatch(text)
        if found is None or Path(text).exists():
            return cls(Path(text))
        return cls(Path(found[1]), found[2])

    @property
    def is_query(self) -> bool:
        """Whether the part is a query instead of the name of a sheet or table."""
        return _QUERY.match(self.part) is not None

    @property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path is not None and self.path.is_dir()

    @property
    def name(self) -> str:
        """Name of the file, followed by the name of the sheet or table, but without a query."""
        named = f"#{self.part}" if self.part and not self.is_query else ""
        return f"{self.path.name}{named}" if self.path is not None else str(self)

    @property
    def stem(self) -> str:
        """Name of the sheet or table, or the file name without its endings."""
        if self.part and not self.is_query:
            return self.part
        return self.path.name.split(".")[0] if self.path is not None else str(self)

    def __str__(self) -> str:
        if self.path is None:  # any part of a URL may be a part of a password
            return f"the {self.url.partition('+')[0].partition(':')[0]} database"
        return f"{self.path}#{self.part}" if self.part and not self.is_query else str(self.path)
