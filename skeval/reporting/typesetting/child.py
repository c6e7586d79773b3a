"""A process that sets one document: JSON on the standard input, pages on the standard output.

It is run as a file, so that it imports nothing but Typst. Warnings are errors, because a missing
font is only a warning.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any


def main() -> None:
    """Set the document that the standard input describes."""
    import typst

    job: dict[str, Any] = json.load(sys.stdin)
    fonts = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[job["fonts"]]
    )
    options = {"ppi": job["ppi"]} if job["format"] == "png" else {"pdf_standards": job["standards"]}
    pages, warnings = typst.compile_with_warnings(
        {name: text.encode() for name, text in job["files"].items()},
        format=job["format"],
        font_paths=fonts,
        timestamp=job["timestamp"],
        **options,
    )
    if warnings:
        sys.exit("; ".join(warning.message for warning in warnings))
    pages = pages if isinstance(pages, list) else [pages]
    json.dump([base64.b64encode(page).decode("ascii") for page in pages], sys.stdout)


if __name__ == "__main__":
    main()
