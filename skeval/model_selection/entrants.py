"""Who takes part in a tournament: generators, their settings and limits; in Python or in a file."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.model_selection import ParameterGrid

from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import GeneratorAdapter, unknown_parameters
from skeval.model_selection.isolation import Limits
from skeval.results.policy import Policy
from skeval.utils.files import foreign_toml
from skeval.utils.formatting import did_you_mean
from skeval.utils.parameters import Seed, check_parameters, legal_sets

TRUSTED = ("skeval", "sdv", "ctgan")  # packages whose classes a file may name
LARGEST = 2**20  # bytes of such a file
_PATH = re.compile(r"[A-Za-z]\w*(\.[A-Za-z_]\w*)+")
_MOST_SETTINGS = 1000
_OF_CLASS = ("class", "settings", "grid", "seed", "seconds", "mib")
_MOST = {"n_draws": 1000, "cv": 100, "n_samples": 10**7}  # that a file may ask for
_LEAST = {"n_draws": 1, "cv": 2, "n_samples": 1}
_MOST_TABLES = 100_000
INNER = 3  # folds that choose a setting
_COLUMNS = ("target", "sensitive", "duration", "event")
_OF_FILE = (
    *("suite", "metrics", *_COLUMNS, "cv", "n_draws", "by", "seed", "n_samples"),
    *("seconds", "mib", "efficiency", "constraint", "generators"),
)


@dataclass(frozen=True)
class Entrant:
    """A generator that takes part in a tournament, with settings to search and limits.

    Parameters
    ----------
    generator : GeneratorAdapter, or anything that it takes
        It is cloned, never fitted itself.
    grid : mapping of str to sequence, optional
        Values to try by the names of its parameters, as of
        :class:`sklearn.model_selection.ParameterGrid`. The setting is chosen in each fold anew, by
        folds of its training rows, so that the scores are of the generator with its search.
    seed : int, optional
        Seed of its fits and samples; that of the tournament if None.
    seconds : float, optional
        What one fit with its samples and their evaluation may take; that of the tournament if None.
    mib : float, optional
        The same of memory.

    Raises
    ------
    InvalidParameterError
        If it is no generator, has no such parameters, or a limit is not above 0.

    See Also
    --------
    tournament : It takes them.

    Examples
    --------
    >>> from skeval.generators import SequentialCART
    >>> from skeval.model_selection import Entrant
    >>> len(Entrant(SequentialCART(), grid={"min_samples_leaf": [5, 50]}).settings())
    2
    """

    generator: Any
    grid: Mapping[str, Sequence[Any]] | None = None
    seed: Seed | None = None
    seconds: float | None = None
    mib: float | None = None

    def __post_init__(self) -> None:
        check_parameters(
            "GeneratorAdapter", {"generator": self.generator}, legal_sets(GeneratorAdapter)
        )
        for name in ("seconds", "mib"):
            check_limit("Entrant", name, getattr(self, name))
        check_parameters("Entrant", {"seed": self.seed}, legal_sets(Entrant))
        self._check_grid()

    def _check_grid(self) -> None:
        if self.grid is None:
            return
        try:
            n = len(ParameterGrid(dict(self.grid)))
        except (TypeError, ValueError) as error:
            raise InvalidParameterError(f"Entrant: grid must hold lists by name: {error}") from None
        if n > _MOST_SETTINGS:
            raise InvalidParameterError(
                f"Entrant: grid has {n:,} settings; at most {_MOST_SETTINGS:,} are tried."
            )
        if unknown := unknown_parameters(self.generator, self.grid):
            raise InvalidParameterError(
                f"Entrant: {_class_of(self.generator).__name__} has no parameter "
                f"{', '.join(unknown)}, which grid names."
            )

    def settings(self) -> list[dict[str, Any]]:
        """Return the settings to try: one without any, if there is no grid."""
        return [{}] if self.grid is None else list(ParameterGrid(dict(self.grid)))

    def limits(self, otherwise: Limits) -> Limits:
        """Return its limits, and those of the tournament where it has none."""
        return Limits(
            otherwise.seconds if self.seconds is None else self.seconds,
            otherwise.mib if self.mib is None else self.mib,
        )


def check_limit(owner: str, name: str, value: Any) -> None:
    """Refuse a limit that is no number above 0."""
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (known and 0 < value < float("inf")):
        raise InvalidParameterError(
            f"{owner}: {name} must be a finite number above 0, got {value!r}."
        )


def entrants_of(generators: Any) -> dict[str, Entrant]:
    """Return entrants by name; generators of a list are named by their classes.

    Raises
    ------
    InvalidParameterError
        If there is none, or one is no generator.
    """
    if isinstance(generators, Mapping):
        named = {str(name): one for name, one in generators.items()}
    elif isinstance(generators, list | tuple):
        named = _named(generators)
    else:
        raise InvalidParameterError(
            "tournament: generators must be a dict of generators by name, or a list of them, got "
            f"{type(generators).__name__}."
        )
    if not named:
        raise InvalidParameterError("tournament: generators holds none.")
    return {n: one if isinstance(one, Entrant) else Entrant(one) for n, one in named.items()}


def _named(generators: Sequence[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for one in generators:
        name = _class_of(one.generator if isinstance(one, Entrant) else one).__name__
        same = sum(known.partition(" ")[0] == name for known in named)
        named[f"{name} {same + 1}" if same else name] = one
    return named


def _class_of(generator: Any) -> Any:
    """Return the class of a generator, or the first function of a pair."""
    if isinstance(generator, GeneratorAdapter):
        generator = generator.generator
    if isinstance(generator, list | tuple):
        return generator[0]
    return generator if isinstance(generator, type) else type(generator)


def module_of(generator: Any) -> str:
    """Return the module of a generator's class or function."""
    return str(_class_of(generator).__module__)


@dataclass(frozen=True)
class Config:
    """What a file says of a tournament.

    Attributes
    ----------
    entrants : dict of str to Entrant
        By name.
    suite : dict of str to object
        `suite` or `metrics`, and the columns `target`, `sensitive`, `duration` and `event`.
    options : dict of str to object
        Other arguments of :func:`tournament`.
    """

    entrants: dict[str, Entrant]
    suite: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def read_config(path: str | Path, trusted: Collection[str] = ()) -> Config:
    """Read a tournament from a TOML file.

    Parameters
    ----------
    path : str or Path
        The file. It may be another's: nothing in it is run, and no class is imported but those of
        packages that are trusted. What would run for ever is refused: it may ask for at most 1,000
        draws, 100 folds, 10,000,000 rows a draw, and 100,000 tables in all.
    trusted : collection of str, optional
        Packages whose classes it may name, besides skeval, sdv and ctgan. Importing a class runs
        the module that it is in.

    Returns
    -------
    Config

    Raises
    ------
    InvalidParameterError
        If it is no TOML, has entries that are not known, asks for more than a file may, or names a
        class that is not trusted, not there, or no generator.
    """

    def made(content: dict[str, Any]) -> Config:
        _check_names(content, _OF_FILE, "the file")
        named = content.pop("generators", None)
        if not isinstance(named, dict) or not named:
            raise InvalidParameterError("expected a table [generators.NAME] for each generator.")
        if not all(name.strip() for name in named):
            raise InvalidParameterError("a generator has no name: [generators.NAME] needs one.")
        entrants = {name: _entrant(name, one, (*TRUSTED, *trusted)) for name, one in named.items()}
        known = ("suite", "metrics", *_COLUMNS)
        suite: dict[str, Any] = {str(n): content.pop(n) for n in known if n in content}
        if wrong := [name for name, value in suite.items() if not isinstance(value, str)]:
            raise InvalidParameterError(f"{', '.join(wrong)} must be a text.")
        _check_work(entrants, content)
        if "seed" in content:
            content["random_state"] = content.pop("seed")
        if "constraint" in content:
            content["constraint"] = _constraint(content["constraint"])
        return Config(entrants, suite, content)

    return foreign_toml(path, made, most=LARGEST)


def _check_work(entrants: Mapping[str, Entrant], content: Mapping[str, Any]) -> None:
    """Refuse numbers that are none, and more work than anyone would wait for."""
    for name, most in _MOST.items():
        value = content.get(name, _LEAST[name])
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not _LEAST[name] <= value <= most:
            raise InvalidParameterError(
                f"{name} of a file must be an int from {_LEAST[name]} to {most:,}, got {value!r}. "
                "In Python it may be any that tournament takes."
            )
    folds = content.get("cv", 5)
    fits = (1 if one.grid is None else 1 + INNER * len(one.settings()) for one in entrants.values())
    if (tables := folds * content.get("n_draws", 1) * sum(fits)) > _MOST_TABLES:
        raise InvalidParameterError(
            f"the file asks for {tables:,} tables to be drawn and measured; at most "
            f"{_MOST_TABLES:,} are. Lower n_draws, cv, or the number of settings in grids."
        )


def _constraint(content: Any) -> Policy:
    known = ("fail_on", "require", "level")
    if not isinstance(content, dict):
        raise InvalidParameterError("constraint must be a table with fail_on, require or level.")
    _check_names(content, known, "constraint")
    return Policy(**content)


def _check_names(content: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    if unknown := [name for name in content if name not in known]:
        raise InvalidParameterError(
            f"{where} has no entry {', '.join(unknown)}; there are {', '.join(known)}."
            f"{did_you_mean(unknown, known)}"
        )


def _entrant(name: str, content: Any, trusted: Collection[str]) -> Entrant:
    """Return what a table of the file makes."""
    if not isinstance(content, dict) or not isinstance(content.get("class"), str):
        raise InvalidParameterError(
            f'generators.{name} must be a table with class = "package.module.Class".'
        )
    _check_names(content, _OF_CLASS, f"generators.{name}")
    for part in ("settings", "grid"):
        if not isinstance(content.get(part, {}), dict):
            raise InvalidParameterError(f"generators.{name}.{part} must be a table.")
    kind, settings = generator_class(content["class"], trusted), content.get("settings", {})
    if unknown := unknown_parameters(kind, settings):
        raise InvalidParameterError(
            f"generators.{name}: {kind.__name__} has no parameter {', '.join(unknown)}."
        )
    try:
        generator = GeneratorAdapter(kind, parameters=settings or None)
        limits = {n: content.get(n) for n in ("grid", "seed", "seconds", "mib")}
        return Entrant(generator, **limits)
    except InvalidParameterError as error:
        raise InvalidParameterError(f"generators.{name}: {error}") from error


def generator_class(path: str, trusted: Collection[str] = TRUSTED) -> type:
    """Return the class that an import path names, if it is that of a generator.

    Parameters
    ----------
    path : str
        Such as ``"skeval.generators.GaussianCopula"``.
    trusted : collection of str, default=("skeval", "sdv", "ctgan")
        Packages whose modules may be imported: an import runs the module.

    Returns
    -------
    type
        With `fit` and `sample`.

    Raises
    ------
    InvalidParameterError
        If the path is none, the package is not trusted or not there, or the path names something
        else than a class with `fit` and `sample`.

    Examples
    --------
    >>> from skeval.model_selection.entrants import generator_class
    >>> generator_class("skeval.generators.GaussianCopula").__name__
    'GaussianCopula'
    """
    if not _PATH.fullmatch(path):
        raise InvalidParameterError(
            f"class must be an import path such as skeval.generators.GaussianCopula, got {path!r}."
        )
    package = path.partition(".")[0]
    if package not in trusted:
        raise InvalidParameterError(
            f"class = {path!r} would import the package {package}, and importing runs it. If you "
            f"trust it, say so: --trust {package}, or trusted=[{package!r}]."
        )
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        raise InvalidParameterError(
            f"class = {path!r} cannot be imported: there is no {error.name or module} here. "
            "Install its package, or leave the generator out."
        ) from error
    methods = (callable(getattr(found, method, None)) for method in ("fit", "sample"))
    if not isinstance(found, type) or not all(methods):
        raise InvalidParameterError(
            f"class = {path!r} names no generator: expected a class with fit and sample."
        )
    return found
