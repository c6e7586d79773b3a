"""Optional packages. The error for a missing package contains the command to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from skeval.exceptions import MissingDependencyError


def import_optional(owner: str, package: str, command: str) -> Any:
    """Import a package that `owner` needs and that `command` installs."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.split(".")[0]
        if error.name is None or error.name.split(".")[0] != top:
            raise  # the package is installed, but a package that it imports is not
        raise MissingDependencyError(f"{owner} needs the package {top}. Run: {command}") from error


def needed_pyarrow(owner: str) -> Any:
    """Import pyarrow, or raise an error with the command to install it."""
    return import_optional(owner, "pyarrow", "pip install pyarrow")


def needed_xgboost() -> Any:
    """Import xgboost, or raise an error with the alternatives."""
    try:
        return import_optional("the default model", "xgboost", "pip install xgboost")
    except AttributeError as error:  # xgboost joins docstrings, which -OO removes
        raise MissingDependencyError(
            "the default model requires xgboost, which cannot be imported without docstrings. "
            "Run python without -OO, or pass a model of scikit-learn."
        ) from error
