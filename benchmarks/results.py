"""Write the results of a benchmark to docs/, as a JSON file and as the table of a page."""

from __future__ import annotations

import json
import platform
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(
    r"(?<=^\.\. begin of the results\n\n).*?(?=^\.\. end of the results$)", re.M | re.S
)


def in_digits(number: float, digits: int = 3) -> float:
    """Return a number with the digits that the page shows."""
    return float(f"{number:.{digits}g}")


def printed(cell: str | float) -> str:
    """Return a cell of the table."""
    return cell if isinstance(cell, str) else f"{cell:,}" if isinstance(cell, int) else f"{cell:,g}"


def block(results: dict[str, Any]) -> str:
    """Return the part of a page that shows the results."""
    lines = [
        f"Measured on {results['date']} with the code of commit ``{results['commit']}`` and Python "
        f"{results['python']}.", "", ".. list-table::", "   :header-rows: 1", "",
    ]  # fmt: skip
    for row in [results["headings"], *results["rows"]]:
        cells = map(printed, row)
        lines += [f"   {' ' if i else '*'} - {cell}".rstrip() for i, cell in enumerate(cells)]
    if results.get("fitted"):
        lines += ["", *results["fitted"]]
    return "\n".join(lines) + "\n\n"


def write(
    name: str, headings: list[str], rows: list[list[str | float]], fitted: Sequence[str] = ()
) -> None:
    """Write the JSON file, and replace the results in the page of the same name.

    `fitted` contains sentences below the table.
    """
    git = ["git", "-C", str(DOCS), "rev-parse", "--short=8", "HEAD"]
    results = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip(),
        "python": platform.python_version(),
        "headings": headings,
        "rows": rows,
        **({"fitted": list(fitted)} if fitted else {}),
    }
    (DOCS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    page = DOCS / f"{name}.rst"
    text = BLOCK.sub(lambda _: block(results), page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
