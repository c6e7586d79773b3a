"""Description of a release: its recipient, purpose and other facts that are not measured."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from skeval.exceptions import InvalidParameterError
from skeval.results.policy import OF_LEAKS, Policy, combine_policies
from skeval.results.requirement import RuleOutcome, is_finite_number
from skeval.utils.foreign_files import foreign_toml
from skeval.utils.formatting import did_you_mean, printable

if TYPE_CHECKING:
    from skeval.results.suite_result import SuiteResult

RELEASE_MODELS = ("public", "contract", "enclave")
UNITS = ("row", "subject")
POPULATIONS = ("whole", "sample")
NOT_STATED = "not stated"
_MAX_LENGTH = 500  # maximum length of a text
_MAX_NAMES = 100  # maximum length of a list of names
_MAX_PARAMETERS = 50
_SHOWN = 60  # characters of an invalid value in a message
Reader = Callable[[Any], Any]
T = TypeVar("T", bound="_Record")


class _Record:
    """Part of a release file. Each field has a reader, and one error lists all invalid fields."""

    def __post_init__(self) -> None:
        if faults := list(_faults(type(self), vars(self))):
            raise InvalidParameterError(f"{type(self).__name__}: {' '.join(faults)}")
        for one in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, one.name, one.metadata["read"](getattr(self, one.name)))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Create the object from a mapping, in which all names are optional."""
        known = [one.name for one in fields(cls)]  # type: ignore[arg-type]
        faults = list(_faults(cls, content))
        if unknown := [str(name)[:_SHOWN] for name in content if name not in known]:
            named = ", ".join(map(_format_value, unknown[:_MAX_PARAMETERS]))
            meant = did_you_mean(unknown[:_MAX_PARAMETERS], known)
            faults.append(f"unknown name {named}. Valid names are {', '.join(known)}.{meant}")
        if faults:
            raise InvalidParameterError(" ".join(faults))
        return cls(**content)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not empty, as plain values."""
        return dict(self._nonempty_fields())

    def _nonempty_fields(self) -> Iterator[tuple[str, Any]]:
        for one in fields(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if isinstance(value, _Record):
                value = value.to_dict()
            elif isinstance(value, Policy):
                rules = {"fail_on": list(value.fail_on), "require": list(value.require)}
                value = {**rules, "level": value.level}
            elif isinstance(value, tuple):
                value = list(value)
            if value not in ("", [], {}, None):
                yield one.name, dict(value) if isinstance(value, Mapping) else value


def _faults(kind: type, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield for each invalid field what was expected and received."""
    for one in fields(kind):
        try:
            if one.name in content:
                one.metadata["read"](content[one.name])
        except InvalidParameterError as error:
            yield f"{one.name} {error}"


def _text(value: Any) -> str:
    """Return a text on one line."""
    if not isinstance(value, str) or len(value) > _MAX_LENGTH:
        raise InvalidParameterError(
            f"must be a text of at most {_MAX_LENGTH} characters, got {_format_value(value)}."
        )
    plain = " ".join(value.split())
    if printable(plain) != plain:
        raise InvalidParameterError(
            f"must not have control characters, got {_format_value(value)}."
        )
    return plain


def _choice(value: Any, legal: Sequence[str]) -> str:
    if value in ("", *legal):
        return str(value)
    meant = did_you_mean([value[:_SHOWN]], legal) if isinstance(value, str) else ""
    raise InvalidParameterError(
        f"must be among {', '.join(legal)}, got {_format_value(value)}.{meant}"
    )


def _names(value: Any) -> tuple[str, ...]:
    """Return names of columns."""
    given = () if value is None or value == "" else (value,) if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or len(given) > _MAX_NAMES:
        raise InvalidParameterError(
            f"must be a list of at most {_MAX_NAMES} names, got {_format_value(value)}."
        )
    return tuple(map(_text, given))


def _date(value: Any) -> str:
    """Return a date in ISO 8601 format. TOML has a separate type for dates."""
    if isinstance(value, dt.date):
        return value.isoformat()[:10]
    try:
        return dt.date.fromisoformat(_text(value)).isoformat() if value != "" else ""
    except ValueError as error:
        raise InvalidParameterError(
            f"must be a date such as 2027-01-31, got {_format_value(value)}."
        ) from error


def _number(value: Any, legal: Callable[[float], bool], expected: str) -> float | None:
    if value is None:
        return None
    if not is_finite_number(value) or not legal(value):
        raise InvalidParameterError(f"must be a number {expected}, got {_format_value(value)}.")
    return float(value)


def _parameters(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or len(value) > _MAX_PARAMETERS:
        raise InvalidParameterError(
            f"must be a table of at most {_MAX_PARAMETERS} parameters, got {_format_value(value)}."
        )
    return {_text(name): _parameter(part) for name, part in value.items()}


def _parameter(value: Any) -> Any:
    if isinstance(value, list | tuple) and len(value) <= _MAX_NAMES:
        return [_scalar(part) for part in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or is_finite_number(value):
        return value
    raise InvalidParameterError(
        f"must contain only texts, finite numbers and lists, got {_format_value(value)}."
    )


def _part(value: Any, kind: type[T]) -> T | None:
    """Return a table of the file, or None if it is empty."""
    if value is None:
        return None
    if not isinstance(value, Mapping | kind):
        raise InvalidParameterError(f"must be a table, got {_format_value(value)}.")
    try:
        part = kind.from_dict(value) if isinstance(value, Mapping) else value
        return part if part.to_dict() else None
    except InvalidParameterError as error:
        raise InvalidParameterError(f"(a table): {error}") from error


def _policy(value: Any) -> Policy | None:
    if isinstance(value, Policy):
        return replace(value, accept_untested=())
    if value is None:
        return value
    if not isinstance(value, Mapping):
        raise InvalidParameterError(f"must be a table, got {_format_value(value)}.")
    try:
        policy = Policy.from_dict(value)
        if policy.accept_untested:
            raise InvalidParameterError(
                "accept_untested belongs to the policy of the quality gate, because a release "
                "cannot accept untested columns. Move it to the file of --policy."
            )
        _names(policy.fail_on + policy.require)
    except InvalidParameterError as error:
        raise InvalidParameterError(f"(a table): {error}") from error
    return policy


def _format_value(value: Any) -> str:
    """Return a shortened description of an invalid value."""
    if isinstance(value, str):
        return repr(printable(value[:_SHOWN]))
    if isinstance(value, bool) or is_finite_number(value) or type(value) is float:
        return repr(value)
    return f"a value of type {type(value).__name__}"


# readers of fields
_TEXT, _NAMES = {"read": _text}, {"read": _names}
_GENERATOR = {"read": lambda value: _part(value, GeneratorRecord)}
_CLAIM = {"read": lambda value: _part(value, PrivacyClaim)}
_EPSILON = {"read": partial(_number, legal=lambda x: x > 0, expected="above 0")}
_DELTA = {"read": partial(_number, legal=lambda x: 0 <= x < 1, expected="in [0, 1)")}


def _among(*legal: str) -> dict[str, Reader]:
    return {"read": partial(_choice, legal=legal)}


@dataclass(frozen=True)
class GeneratorRecord(_Record):
    """Name, version and parameters of the generator of a release."""

    name: str = field(default="", metadata=_TEXT)
    version: str = field(default="", metadata=_TEXT)
    parameters: Mapping[str, Any] = field(default_factory=dict, metadata={"read": _parameters})

    def __str__(self) -> str:
        own = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return " ".join(filter(None, (self.name, self.version, own and f"({own})")))


@dataclass(frozen=True)
class PrivacyClaim(_Record):
    """Claim of differential privacy of a generator. The claim is not verified."""

    epsilon: float | None = field(default=None, metadata=_EPSILON)
    delta: float | None = field(default=None, metadata=_DELTA)
    adjacency: str = field(default="", metadata=_among("add_remove", "replace"))

    def __str__(self) -> str:
        epsilon, delta = (
            f"{name} {NOT_STATED}" if value is None else f"{name} {value:g}"
            for name, value in (("epsilon", self.epsilon), ("delta", self.delta))
        )
        by = self.adjacency.replace("_", " or ") or f"adjacency {NOT_STATED}"
        return f"{epsilon}, {delta}, {by}"


@dataclass(frozen=True)
class Release(_Record):
    """Facts about a release that skeval cannot measure: recipient, purpose, thresholds.

    A report shows these facts on its first page. All fields are optional. A missing fact is printed
    as "not stated".

    Parameters
    ----------
    title : str
        Title of the report.
    date : str or date
        Date of the evaluation (ISO 8601). The default is the environment variable
        ``SOURCE_DATE_EPOCH`` or now. Equal tables, parameters and dates give reports with the same
        bytes.
    dataset, purpose, recipient : str
        Title of the data, purpose of the release, and its recipient.
    release_model : {"public", "contract", "enclave"}, optional
        How the release is made available.
    intruder : str
        Assumed attacker and the attacker's knowledge.
    unit : {"row", "subject"}, optional
        Unit of protection: each row, or all rows of a subject.
    noun : str
        Noun for a row in reports, for example "flight". Add an irregular plural, for example
        "person, people".
    population : {"whole", "sample"}, optional
        Whether the training data are the whole population or a sample.
    direct_identifiers, indirect_identifiers : tuple of str
        Columns that identify an individual directly, or in combination with other columns.
    generator : GeneratorRecord or mapping, optional
        Generator with its `name`, `version` and `parameters`.
    dp : PrivacyClaim or mapping, optional
        Claim of differential privacy with `epsilon`, `delta` and `adjacency`.
    thresholds : Policy or mapping, optional
        Thresholds that were agreed before the evaluation: `fail_on`, `require` and `level`.
    decided_by : str
        Person or body that decides on the release.
    review_date : str or date
        Date of the next review (ISO 8601).

    Raises
    ------
    InvalidParameterError
        If values are invalid. The message lists all of them.

    See Also
    --------
    skeval.Policy : Define thresholds.
    skeval.report : Write a report with the description of a release.

    Examples
    --------
    >>> from skeval.results import Release
    >>> release = Release(title="Adult for the Ministry", generator={"name": "CTGAN"})
    >>> release.to_dict()
    {'title': 'Adult for the Ministry', 'generator': {'name': 'CTGAN'}}
    >>> release.missing[:3]
    ('data set', 'purpose', 'recipient')
    """

    title: str = field(default="", metadata=_TEXT)
    date: str = field(default="", metadata={"read": _date})
    dataset: str = field(default="", metadata=_TEXT)
    purpose: str = field(default="", metadata=_TEXT)
    recipient: str = field(default="", metadata=_TEXT)
    release_model: str = field(default="", metadata=_among(*RELEASE_MODELS))
    intruder: str = field(default="", metadata=_TEXT)
    unit: str = field(default="", metadata=_among(*UNITS))
    noun: str = field(default="", metadata=_TEXT)
    population: str = field(default="", metadata=_among(*POPULATIONS))
    direct_identifiers: tuple[str, ...] = field(default=(), metadata=_NAMES)
    indirect_identifiers: tuple[str, ...] = field(default=(), metadata=_NAMES)
    generator: GeneratorRecord | Mapping[str, Any] | None = field(default=None, metadata=_GENERATOR)
    dp: PrivacyClaim | Mapping[str, Any] | None = field(default=None, metadata=_CLAIM)
    thresholds: Policy | None = field(default=None, metadata={"read": _policy})
    decided_by: str = field(default="", metadata=_TEXT)
    review_date: str = field(default="", metadata={"read": _date})

    @classmethod
    def from_toml(cls, path: str | Path) -> Release:
        """Read a release from a TOML file such as the output of ``skeval init-release``.

        Raises
        ------
        InvalidParameterError
            If the file does not exist, is not TOML, or has other content.
        """
        return foreign_toml(path, cls.from_dict)

    @classmethod
    def of(cls, given: Release | Mapping[str, Any] | str | Path | None) -> Release | None:
        """Return a release from a Release, a mapping or a TOML file, or None for None."""
        if given is None or isinstance(given, Release):
            return given
        return cls.from_dict(given) if isinstance(given, Mapping) else cls.from_toml(given)

    def facts(self) -> dict[str, str]:
        """Return the facts for readers by label. Missing facts are "not stated"."""
        return {
            label: (", ".join(held) if isinstance(held, tuple) else str(held or "")) or NOT_STATED
            for label, held in (
                (label, getattr(self, name)) for name, label in _LABELS.items() if name != "title"
            )
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """The labels of missing facts."""
        named = {_LABELS[name]: getattr(self, name) for name in _LABELS}
        named["thresholds"] = self.thresholds
        lowered = {label: label if label[:2].isupper() else label.lower() for label in named}
        return tuple(lowered[label] for label, held in named.items() if not held)


Stated = Release | Mapping[str, Any] | str | Path | None


def gate_policy(policy: Policy | None, release: Release | None) -> Policy | None:
    """Return the combination of a policy and the thresholds of a release, or None."""
    # The quality gate checks the authors of the release file. Therefore their thresholds can add
    # rules, but cannot weaken a rule. The significance level is the level of the policy, or the
    # default, unless the level of the release is stricter.
    agreed = release.thresholds if release is not None else None
    return combine_policies([policy or (None if agreed is None else Policy(fail_on=())), agreed])


def stated_release(given: Stated, metrics: Iterable[tuple[str, Any]]) -> Release | None:
    """Return the release, after checking its thresholds against these named metrics."""
    release = Release.of(given)
    if release is not None and release.thresholds is not None:
        named = dict(metrics)
        classes = {name: type(one).__name__ for name, one in named.items()}
        bounds = {name: one.tags.bounds for name, one in named.items()}
        release.thresholds.check_names(classes, bounds)
    return release


def assert_release(
    results: SuiteResult, policy: Policy | str | Path | None = None, *, release: Stated = None
) -> None:
    """Raise an error if results do not meet a policy.

    Parameters
    ----------
    results : SuiteResult
        Results of the synthetic table.
    policy : Policy or path, optional
        Policy, or the TOML file that contains it. The default ``Policy()`` requires that no leak
        was found and no metric failed.
    release : Release, mapping or path to a TOML file, optional
        Description of the release. Its thresholds are added to the policy and cannot weaken it. The
        default is the release in the provenance of the results.

    Raises
    ------
    AssertionError
        If a requirement is violated. The message contains each violated requirement with its
        numbers.
    InvalidParameterError
        If the policy or the release cannot be read, or names a result that does not exist.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.results import assert_release
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in (3, 4, 5))
    >>> def test_release():
    ...     results = make_suite("screens").fit(train, holdout).evaluate(fresh)
    ...     assert_release(results)
    >>> test_release()
    """
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.from_toml(policy)
    stated = Release.of(release)
    if stated is None and results.provenance is not None:
        stated = results.provenance.release
    policy = gate_policy(policy or Policy(), stated)
    assert policy is not None
    violated = [outcome for outcome in policy.judge(results) if not outcome.passed]
    if violated:
        leak = any(outcome.rule in OF_LEAKS for outcome in violated)
        said = [*map(str, violated), *([results.verdict(policy.level).sentence] if leak else [])]
        raise AssertionError("\n".join(["the release does not meet its policy", *said]))


def outcomes_of(policy: Policy, results: SuiteResult) -> list[RuleOutcome]:
    """Return the outcome of each requirement. It is violated if it cannot be evaluated."""
    try:
        return policy.judge(results)
    except InvalidParameterError as error:  # a metric of the policy is missing from the results
        rules = (*policy.fail_on, *policy.require)
        return [RuleOutcome(rule, False, f"It cannot be evaluated: {error}") for rule in rules]


_LABELS = {
    "title": "Title",
    "dataset": "Data set",
    "purpose": "Purpose",
    "recipient": "Recipient",
    "release_model": "Release model",
    "intruder": "Intruder",
    "unit": "Unit protected",
    "population": "Population",
    "direct_identifiers": "Direct identifiers",
    "indirect_identifiers": "Indirect identifiers",
    "generator": "Generator",
    "dp": "DP claim",
    "decided_by": "Decided by",
    "review_date": "Review date",
}
