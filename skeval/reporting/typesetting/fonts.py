"""The font files of a PDF, which are always the same, and the letters that they have."""

from __future__ import annotations

import shutil
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import NamedTuple

from skeval.exceptions import MissingDependencyError

_FALLBACK = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
OPTIONAL = ("noto-cjk-sans-otc", "fontpkg-noto-sans-thai", "fontpkg-noto-sans-devanagari")
TEXT = "fontpkg-source-sans-3"


class Family(NamedTuple):
    """A font family, and the code points that all its files have."""

    name: str
    letters: frozenset[int]


# The whole folder of matplotlib's fonts is not used, because one font has a box for every letter,
# and a box satisfies both standards. Each family has one file per style, because otherwise the
# order of the folder decides which of two files Typst uses.
@cache
def font_files() -> tuple[Path, ...]:
    """Return the paths of all font files that a PDF may embed."""
    files = _files_of_package(TEXT)
    import matplotlib

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    files += [folder / name for name in _FALLBACK]
    for package in OPTIONAL:
        if util.find_spec(_module_of(package)):
            files += _files_of_package(package)
    return tuple(files)


def _files_of_package(package: str) -> list[Path]:
    try:
        folder = Path(str(import_module(_module_of(package)).__file__)).parent
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"A PDF needs the font in the package {package}. Run: pip install {package}. Or write "
            "the report to a file that ends in .html."
        ) from error
    files = folder.rglob("*")
    return sorted(path for path in files if path.suffix.lower() in (".ttf", ".otf", ".ttc"))


def _module_of(package: str) -> str:
    return package.replace("-", "_")


def copy_fonts(folder: Path) -> None:
    """Copy the font files into a folder, because Typst accepts only folders."""
    for path in font_files():
        shutil.copyfile(path, folder / path.name)


@cache
def font_families() -> tuple[Family, ...]:
    """Return the families in the order in which a letter is looked up."""
    from fontTools.ttLib import TTFont

    letters: dict[str, list[set[int]]] = {}
    for path in font_files():
        with TTFont(path, lazy=True, fontNumber=0) as font:
            letters.setdefault(font["name"].getBestFamilyName(), []).append(set(font.getBestCmap()))
    return tuple(
        Family(name, frozenset(set.intersection(*every))) for name, every in letters.items()
    )
