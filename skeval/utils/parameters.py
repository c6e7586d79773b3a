"""Declaration of parameters. The annotations of `__init__` are the sets of valid values.

``Literal``, ``bool``, ``X | None`` and unions specify a set by themselves. ``Annotated`` adds an
:class:`Interval` to a number, and a :class:`Legal` to any other type. If an annotation specifies no
set, for example `int` or `Any`, the parameter is not checked. Frequent annotations have a name::

    def __init__(
        self,
        ties: Literal["pool", "half"] = "pool",
        *,
        q: Annotated[float, Interval(0, 1)] = 0.1,
        max_rows: Count | None = None,
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None: ...
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral, Real
from reprlib import Repr
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from skeval.exceptions import InvalidParameterError

_READ: WeakKeyDictionary[Any, Mapping[str, Constraint]] = WeakKeyDictionary()  # cache of legal_sets
_SHORT = Repr()  # a value may be a whole column
_SHORT.maxstring = _SHORT.maxother = 80


class Constraint(Protocol):
    """Common methods of :class:`Interval` and :class:`Legal`."""

    @property
    def description(self) -> str:
        """The set, to end the sentence "must be ..."."""

    @property
    def illegal(self) -> object:
        """A value outside the set, for the common checks."""

    def accepts(self, value: object, /) -> bool:
        """Return whether `value` lies in the set."""


@dataclass(frozen=True)
class Interval:
    """Interval of numbers. In ``Annotated``, the annotated type specifies the kind.

    Parameters
    ----------
    low, high : float, optional
        The bounds. None means no bound.
    closed : {"both", "left", "neither"}, default="both"
        Which of the bounds are part of the interval.
    kind : {int, float}, default=float
        Kind of the numbers. Bools are not accepted.

    Examples
    --------
    >>> from skeval.utils.parameters import Interval
    >>> Interval(0, 1, "neither").accepts(1.0)
    False
    """

    low: float | None = None
    high: float | None = None
    closed: Literal["both", "left", "neither"] = "both"
    kind: type = float

    @property
    def description(self) -> str:
        """The interval in mathematical notation, or "a number" or "an int" without bounds."""
        if self.low is None and self.high is None:
            return "an int" if self.kind is int else "a number"
        left = "(" if self.closed == "neither" or self.low is None else "["
        right = "]" if self.closed == "both" and self.high is not None else ")"
        low = "-inf" if self.low is None else f"{self.low:.10g}"
        high = "inf" if self.high is None else f"{self.high:.10g}"
        return f"{'an int' if self.kind is int else 'a float'} in {left}{low}, {high}{right}"

    @property
    def illegal(self) -> object:
        """A number outside the interval."""
        if self.low is not None:
            return self.kind(self.low - 1)
        return "not a number" if self.high is None else self.kind(self.high + 1)

    def accepts(self, value: object, /) -> bool:
        """Return whether `value` is a number of the kind within the bounds. Bools are not."""
        number = Integral if self.kind is int else Real
        if isinstance(value, bool) or not isinstance(value, number):
            return False
        x = float(value)
        above = self.low is None or (x > self.low if self.closed == "neither" else x >= self.low)
        below = self.high is None or (x <= self.high if self.closed == "both" else x < self.high)
        return above and below and x == x


@dataclass(frozen=True, eq=False)
class Legal:
    """Any set of values. In ``Annotated``, it also decides about None.

    Parameters
    ----------
    description : str
        The set, to end the sentence "must be ...".
    accepts : callable
        A function that returns whether a value lies in the set.
    illegal : object
        A value outside the set, for the common checks.
    names_columns : bool, default=False
        Whether a string or a list of strings names columns to evaluate. If so, `fit` checks that
        the table contains them.

    Examples
    --------
    >>> from typing import Annotated
    >>> from skeval.utils.parameters import Legal
    >>> Even = Annotated[int, Legal("an even int", lambda value: value % 2 == 0, 1)]
    """

    description: str
    accepts: Callable[[object], bool]
    illegal: object
    names_columns: bool = False


def one_of(values: Sequence[object]) -> Legal:
    """Return the set of a few named values, including their types, as in ``Literal``."""
    return Legal(
        " or ".join(map(repr, values)),
        lambda value: any(type(value) is type(known) and value == known for known in values),
        "no such option",
    )


def some_of(description: str, names: Sequence[str], alone: Sequence[str]) -> Legal:
    """Return the set of the non-empty lists of some names, and of a few single names."""

    def is_legal(value: object) -> bool:
        if isinstance(value, list | tuple):
            return len(value) > 0 and all(name in names for name in value)
        return isinstance(value, str) and value in alone

    return Legal(description, is_legal, "no such option")


def has_methods(methods: Sequence[str], values: Sequence[object] = ()) -> Legal:
    """Return the set of objects, not classes, that have all the methods, and of some values."""

    def is_legal(value: object) -> bool:
        if isinstance(value, str) or value is None:
            return value in values
        return not isinstance(value, type) and all(hasattr(value, name) for name in methods)

    named = "".join(f"{value!r} or " for value in values)
    return Legal(f"{named}an object with {' and '.join(methods)}", is_legal, "no such option")


def is_text(value: object) -> bool:
    """Return whether `value` is a string."""
    return isinstance(value, str)


def are_columns(value: object) -> bool:
    """Return whether `value` chooses columns: None all, an int the first n, or their names."""
    if value is None:
        return True
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(isinstance(name, str) for name in value)
    return Interval(1, kind=int).accepts(value)


def legal_sets(declared: Callable[..., Any]) -> Mapping[str, Constraint]:
    """Get the legal set of each parameter of a class or function from its annotations, cached."""
    if declared not in _READ:
        hints = hints_of(declared) if isinstance(declared, type) else _hints(declared)
        sets = {name: _legal_set(hint) for name, hint in hints.items()}
        sets.pop("return", None)
        _READ[declared] = {name: legal for name, legal in sets.items() if legal is not None}
    return _READ[declared]


def _hints(function: Any) -> dict[str, Any]:
    """Return the annotations of a function, as objects."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    return _evaluate_annotations(getattr(function, "__annotations__", {}), names)


def hints_of(kind: type) -> dict[str, Any]:
    """Return the annotations of the parameters of a class, from its `__init__` or its fields."""
    owner = next(base for base in kind.__mro__ if "__init__" in vars(base))
    if "__dataclass_fields__" not in vars(owner):
        return _hints(vars(owner)["__init__"])
    hints: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        fields, own = vars(base).get("__dataclass_fields__", {}), inspect.get_annotations(base)
        own = {name: hint for name, hint in own.items() if name in fields}
        hints |= _evaluate_annotations(own, vars(sys.modules[base.__module__]))
    return hints


def _evaluate_annotations(annotations: Mapping[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return annotations as objects, without those that cannot be looked up."""
    hints: dict[str, Any] = {}
    for name, hint in annotations.items():
        alone = types.SimpleNamespace(__annotations__={name: hint})
        with suppress(Exception):  # an annotation that raises any error specifies no set
            hints |= get_type_hints(alone, globalns=names, include_extras=True)
    return hints


def _legal_set(hint: Any) -> Constraint | None:
    """Return the set that an annotation states, or None."""
    hint = getattr(hint, "__value__", hint)  # a type statement makes an alias
    if hint is bool:
        return one_of((True, False))
    if get_origin(hint) is Literal:
        return one_of(get_args(hint))
    if get_origin(hint) is Annotated:
        return _annotated_set(*get_args(hint))
    if get_origin(hint) in (Union, types.UnionType):
        return _union_set(get_args(hint))
    return None


def _annotated_set(hint: Any, *metadata: object) -> Constraint | None:
    """Return the set that the metadata or the type of ``Annotated`` states."""
    stated = next((one for one in metadata if isinstance(one, Interval | Legal)), None)
    if not isinstance(stated, Interval):
        return stated or _legal_set(hint)
    kinds = get_args(hint) or (hint,)
    numbers = replace(stated, kind=float if float in kinds else int)
    return _add_none(numbers) if types.NoneType in kinds else numbers


def _union_set(hints: Sequence[Any]) -> Constraint | None:
    """Return the union of the sets of all parts, or None if one of them states no set."""
    sets = [_legal_set(hint) for hint in hints if hint is not types.NoneType]
    known = [one for one in sets if one is not None]
    if not known or len(known) < len(sets):
        return None
    union = known[0] if len(known) == 1 else _any_of(known)
    return _add_none(union) if types.NoneType in hints else union


def _any_of(sets: Sequence[Constraint]) -> Legal:
    def is_legal(value: object) -> bool:
        return any(one.accepts(value) for one in sets)

    outside = (one.illegal for one in sets if not is_legal(one.illegal))
    return Legal(" or ".join(one.description for one in sets), is_legal, next(outside, object()))


def _add_none(inner: Constraint) -> Legal:
    return Legal(
        f"{inner.description} or None",
        lambda value: value is None or inner.accepts(value),
        inner.illegal,
        names_columns=isinstance(inner, Legal) and inner.names_columns,
    )


def check_parameters(
    owner: str, parameters: Mapping[str, Any], legal: Mapping[str, Constraint]
) -> None:
    """Raise one error that names every parameter outside its legal set."""
    faults = [
        f"{name} must be {one.description}, got {_SHORT.repr(parameters[name])}"
        for name, one in legal.items()
        if name in parameters and not one.accepts(parameters[name])
    ]
    if faults:
        raise InvalidParameterError(f"{owner}: {'; '.join(faults)}.")


N_SEEDS = 2**32  # scikit-learn accepts seeds below this
Seed = Annotated[int, Interval(0, N_SEEDS - 1)]
Count = Annotated[int, Interval(1)]
BinCount = Annotated[int, Interval(2)]
# rows of a group or category that a result names, because smaller groups may reveal records
GroupSize = Annotated[int, Interval(10)]
# how numbers are cut into bins. With "-plain", frequent values do not get separate bins
Strategy = Literal["uniform", "quantile", "uniform-plain", "quantile-plain"]
# how a metric evaluates tables that may be larger than memory
Scaling = Literal["counts", "sorted runs", "neighbours", "sampled"]
JobCount = Annotated[
    int, Legal("an int other than 0", lambda n: n != 0 and Interval(kind=int).accepts(n), 0)
]
Fraction = Annotated[float, Interval(0, 1)]
OpenFraction = Annotated[float, Interval(0, 1, "neither")]
NonNegative = Annotated[float, Interval(0)]
Positive = Annotated[float, Interval(0, closed="neither")]

_COLUMNS = Legal(
    "None, a positive int (the first n columns) or a non-empty list of names",
    are_columns,
    -1,
    names_columns=True,
)
Columns = Annotated[int | list[str] | None, _COLUMNS]
# text and ID columns too, which other metrics cannot evaluate
AnyColumns = Annotated[int | list[str] | None, replace(_COLUMNS, names_columns=False)]
ColumnName = Annotated[str, Legal("the name of a column", is_text, -1, names_columns=True)]
Label = Annotated[
    Any,
    Legal("a string, a bool or a number", lambda value: isinstance(value, str | bool | Real), [1]),
]

_TRANSFORMER = ("fit", "transform", "get_params")
# rows have distances in the first, and are vectors in the second
Space = Annotated[Any, has_methods(_TRANSFORMER, values=("gower", "euclidean"))]
MatrixSpace = Annotated[Any, has_methods(_TRANSFORMER, values=("euclidean",))]
