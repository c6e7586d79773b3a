"""Packages that few need: what lacks one says in a sentence how to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from skeval.exceptions import MissingDependencyError


def needed(owner: str, package: str, command: str) -> Any:
    """Import a package, or say how to install it.

    Parameters
    ----------
    owner : str
        Who needs it: the subject of the sentence.
    package : str
        Its name in an import, that of a module within it included.
    command : str
        What installs it.

    Raises
    ------
    MissingDependencyError
        If it is not installed. If it lacks something itself, its own error is raised.

    Examples
    --------
    >>> from skeval.utils.dependencies import needed
    >>> needed("this line", "no_such_package", "pip install no-such-package")
    Traceback (most recent call last):
        ...
    skeval.exceptions.MissingDependencyError: this line needs the package no_such_package. ...
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        top = package.split(".")[0]
        if error.name is None or error.name.split(".")[0] != top:
            raise  # it is there, and lacks something itself
        raise MissingDependencyError(f"{owner} needs the package {top}. Run: {command}") from error


def needed_pyarrow(owner: str) -> Any:
    """Import pyarrow, or say how to install it."""
    return needed(owner, "pyarrow", "pip install pyarrow")


def needed_xgboost() -> Any:
    """Import xgboost, or say what to do without it."""
    try:
        return needed("the default model", "xgboost", "pip install xgboost")
    except AttributeError as error:  # it puts docstrings together, which -OO drops
        raise MissingDependencyError(
            "the default model is that of xgboost, which cannot be imported without docstrings. "
            "Run python without -OO, or pass a model of scikit-learn."
        ) from error
