"""Versions of Python and of the packages that matter, as a bug report states them."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = (
    "skeval",
    "scikit-learn",
    "numpy",
    "pandas",
    "scipy",
    "numba",
    "xgboost",
    "phik",
    "matplotlib",
    "seaborn",
    "pypdf",
    "rapidfuzz",
    "joblib",
    "narwhals",
    "polars",
    "pyarrow",
)
_ABSENT = "not installed"


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and of those packages that are there, by name."""
    versions = {"Python": platform.python_version()}
    return versions | {name: held for name in _PACKAGES if (held := version_of(name)) != _ABSENT}


def show_versions() -> None:
    """Write the versions of Python, the system and the packages that matter, for a bug report.

    Examples
    --------
    >>> from skeval import show_versions
    >>> show_versions()
    Python ...
    """
    lines = [f"Python {platform.python_version()}, {platform.platform()}"]
    lines += [f"{name} {version_of(name)}" for name in _PACKAGES]
    sys.stdout.write("\n".join(lines) + "\n")


@cache
def version_of(name: str) -> str:
    """Return the version of a package, or that it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT
