"""A release policy: what results must show, written as sentences, and whether they do."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skeval.exceptions import InvalidParameterError, MetricFailedWarning
from skeval.results.ranges import ARITHMETIC, COMPARISONS, Range, fault_of
from skeval.results.verdict import Verdict, counts_copies
from skeval.stats.relabelling import ALARM_LEVEL
from skeval.stats.repeats import UNCOUNTED
from skeval.utils.foreign_files import foreign_toml
from skeval.utils.formatting import as_float, counted, did_you_mean, number

if TYPE_CHECKING:
    from skeval.results.result import Result
    from skeval.results.suite_result import SuiteResult

FAIL_ON = ("leak", "alarm", "fact")
FIELDS = ("value", "baseline", "low", "high", "diff_low", "diff_high", "p_value", "p_adjusted")
_NO_LEAK = "no leak found"
_NO_ALARM = "no test raised an alarm"
OF_LEAKS = {_NO_LEAK, _NO_ALARM}
DETAILS = "details"
LARGEST = 2**20  # bytes of a policy
_MAX_LENGTH = 500  # characters of a requirement
_INDEX = 10  # digits of a place in a list
_ENDLESS = ("inf", "-inf")  # as JSON has them
_MAX_BITS = 1000  # of whole numbers, more than which no float holds
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|`([^`]+)`")
# "column_shapes/ks_complement" is a name; "low / high" a quotient
_SLASHED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:/[A-Za-z_]\w*)+")
_HOW = (
    'Write a comparison of a result, such as "tstr >= 0.95 * baseline": names of results, '
    f"{', '.join(FIELDS)}, details.PATH.TO.A.NUMBER, numbers, + - * / and < <= > >="
)


@dataclass(frozen=True)
class RuleOutcome:
    """Whether one rule of a policy holds, and the numbers it was judged by."""

    rule: str
    passed: bool
    reason: str
    is_decided: bool = True

    def __str__(self) -> str:
        return f"{'holds' if self.passed else 'violated'}: {self.rule} ({self.reason})"


class Requirement:
    """One comparison that results must meet."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._names: dict[str, str] = {}
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            raise InvalidParameterError(
                f"a requirement is a text of at most {_MAX_LENGTH} letters."
            )
        try:
            spelled = _SLASHED.sub(self._placed, _QUOTED.sub(self._placed, text))
            if "#" in spelled:
                raise InvalidParameterError(
                    f"{text!r} has text after '#', which would be ignored. Remove the text, or "
                    "write a second requirement."
                )
            with warnings.catch_warnings():  # such as of "1if", which is no requirement either
                warnings.simplefilter("error", SyntaxWarning)
                tree = ast.parse(spelled.strip(), mode="eval").body
        except InvalidParameterError:
            raise
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InvalidParameterError(f"{text!r} is no requirement. {_HOW}.") from error
        self._tree = tree
        self.names = self._checked(tree)

    def _placed(self, match: re.Match[str]) -> str:
        name = next((part for part in match.groups() if part), match[0])
        self._names[placed := f"_name{len(self._names)}_"] = name
        return placed

    def _checked(self, tree: ast.AST) -> tuple[str, ...]:
        """Return the names of results, in the order of the text; refuse what is no comparison."""
        if not isinstance(tree, ast.Compare) or any(type(o) not in COMPARISONS for o in tree.ops):
            raise InvalidParameterError(f"{self.text!r} compares nothing. {_HOW}.")
        names: list[str] = []
        for part in (tree.left, *tree.comparators):
            self._walk(part, names)
        if not names:
            raise InvalidParameterError(f"{self.text!r} names no result. {_HOW}.")
        return tuple(dict.fromkeys(names))

    def _walk(self, node: ast.AST, names: list[str]) -> None:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            self._walk(node.left, names)
            self._walk(node.right, names)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            self._walk(node.operand, names)
        elif isinstance(node, ast.Name | ast.Attribute):
            name, _ = self._reference(node)
            names.extend([name] if name else [])
        elif isinstance(node, ast.Constant) and node.value in (math.inf, math.nan):
            raise InvalidParameterError(
                f"{self.text!r} compares with an infinite number. Write a finite number."
            )
        elif not (isinstance(node, ast.Constant) and _is_number(node.value)):
            raise InvalidParameterError(f"{self.text!r} is no requirement. {_HOW}.")

    def _reference(self, node: ast.Name | ast.Attribute) -> tuple[str, tuple[str, ...]]:
        """Return the result that is named, if one is, and what of it: a field, or a path."""
        spelled: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            spelled.insert(0, inner.attr)
            inner = inner.value
        if not isinstance(inner, ast.Name):
            raise InvalidParameterError(f"{self.text!r} is no requirement. {_HOW}.")
        named = inner.id not in (
            *FIELDS,
            DETAILS,
        )  # what is quoted is a name, be it that of a field
        path = tuple(spelled if named else (inner.id, *spelled)) or ("value",)
        if path[0] == DETAILS and len(path) == 1:
            raise InvalidParameterError(
                f"{self.text!r}: details are many numbers; give the path to one, such as "
                "ks.details.columns.age."
            )
        if path[0] not in (*FIELDS, DETAILS):
            known = f"{', '.join(FIELDS)} and {DETAILS}"
            raise InvalidParameterError(
                f"{self.text!r}: a result has no {path[0]}; it has {known}."
            )
        if path[0] != DETAILS and len(path) > 1:
            raise InvalidParameterError(f"{self.text!r} is no requirement. {_HOW}.")
        name = self._names.get(inner.id, inner.id) if named else ""
        return name, (path[0], *(self._names.get(part, part) for part in path[1:]))

    def judge(self, results: SuiteResult) -> RuleOutcome:
        """Return whether results meet it; what was not measured does not."""
        read: dict[str, float] = {}
        known = {name: one.tags.bounds for name, one in results.items() if one.tags is not None}
        self.check_ranges(results, known)
        failed = [f"{n} was not measured: {e}" for n in self.names if (e := _error(results, n))]
        if failed:
            return RuleOutcome(self.text, False, "; ".join(failed))
        assert isinstance(self._tree, ast.Compare)
        sides = [self._number(s, results, read) for s in (self._tree.left, *self._tree.comparators)]
        shown = ", ".join(f"{name} = {number(value)}" for name, value in read.items())
        if lacking := [name for name, value in read.items() if math.isnan(value)]:
            return RuleOutcome(self.text, False, f"there is no {' and no '.join(lacking)}")
        pairs = zip(self._tree.ops, sides[:-1], sides[1:], strict=True)
        passed = all(COMPARISONS[type(o)](left, right) for o, left, right in pairs)
        return RuleOutcome(self.text, passed, shown)

    def check_ranges(
        self, metrics: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]]
    ) -> None:
        """Refuse a comparison that any values within these bounds meet, or none."""

        def known(node: ast.Name | ast.Attribute) -> Range:
            name, path = self._reference(node)
            of_metric = Range(*bounds.get(_key(metrics, name or self.names[0]), Range()))
            width = of_metric.high - of_metric.low
            of_field = {
                **dict.fromkeys(("value", "baseline", "low", "high"), of_metric),
                **dict.fromkeys(("diff_low", "diff_high"), Range(-width, width)),
                **dict.fromkeys(("p_value", "p_adjusted"), Range(0.0, 1.0)),
            }
            return of_field.get(path[0], Range())

        assert isinstance(self._tree, ast.Compare)
        if fault := fault_of(self._tree, known):
            raise InvalidParameterError(f"{self.text!r}: {fault}")

    def limit(self, results: SuiteResult) -> tuple[str, float] | None:
        """Return whose value is compared with what number; None if it is another comparison."""
        assert isinstance(self._tree, ast.Compare)
        left, (right, *others) = self._tree.left, self._tree.comparators
        if others or not isinstance(left, ast.Name | ast.Attribute):
            return None
        name, path = self._reference(left)
        if not name or path != ("value",) or any(_error(results, n) for n in self.names):
            return None
        return _key(results, name), self._number(right, results, {})

    def _number(self, node: ast.AST, results: SuiteResult, read: dict[str, float]) -> float:
        if isinstance(node, ast.BinOp):
            left, right = (self._number(s, results, read) for s in (node.left, node.right))
            try:
                return ARITHMETIC[type(node.op)](left, right)
            except ZeroDivisionError:
                return math.nan
        if isinstance(node, ast.UnaryOp):
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return sign * self._number(node.operand, results, read)
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        assert isinstance(node, ast.Name | ast.Attribute)
        name, path = self._reference(node)
        shown = ".".join((name, *path) if name else path)
        if isinstance(node, ast.Name):
            shown = name or path[0]
        read[shown] = value = _field(results, name or self.names[0], path)
        return value


@dataclass(frozen=True)
class Policy:
    """What a release must meet: no leak found, no metric failed, and requirements of one's own.

    Parameters
    ----------
    fail_on : tuple of str, default=("leak",)
        "leak": an alarm of the verdict or copies beyond chance, and also that nothing could be
        told, since a gate must not open because nobody looked. "alarm": the same without copies: it
        goes by the tests alone. "fact": anything that was counted of privacy, such as a single copy
        of a train row, and also that no metric counted copies.
    require : tuple of str, default=()
        Comparisons, see :class:`Requirement`.
    level : float, default=0.05
        Chance of a false alarm of all tests of privacy together.
    accept_untested : tuple of str, default=()
        Columns that may remain untested. By default "leak" and "alarm" fail if no test examined a
        column most of whose values occur once.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its legal set, or a requirement is no comparison.

    See Also
    --------
    assert_release : The same in a test.
    SuiteResult.verdict : The alarms.

    Notes
    -----
    A metric that failed violates every policy. So does a requirement on a metric that was left out.
    What passes has met these rules; tests of privacy never clear a release.

    Examples
    --------
    >>> from skeval import Policy, make_suite
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in (3, 4, 5))
    >>> suite = make_suite("screens").fit(train, holdout)
    >>> policy = Policy(fail_on=("leak",), require=("exact_matches <= baseline + 0.01",))
    >>> [outcome.passed for outcome in policy.judge(suite.evaluate(fresh))]
    [True, True, True]
    >>> [outcome.passed for outcome in policy.judge(suite.evaluate(train))]
    [False, True, False]
    """

    fail_on: tuple[str, ...] = ("leak",)
    require: tuple[str, ...] = ()
    level: float = ALARM_LEVEL
    accept_untested: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        faults = []
        for name in ("fail_on", "require", "accept_untested"):
            given = getattr(self, name)
            texts = (given,) if isinstance(given, str) else given
            if not isinstance(texts, Sequence) or not all(isinstance(t, str) for t in texts):
                faults.append(f"Policy: {name} must be a list of texts.")
                texts = ()
            object.__setattr__(self, name, tuple(texts))
        if unknown := [name for name in self.fail_on if name not in FAIL_ON]:
            among = f"{', '.join(FAIL_ON)}, got {', '.join(unknown)}"
            faults.append(f"Policy: fail_on must be among {among}.")
        if not isinstance(self.level, int | float) or not 0 < self.level < 1:
            faults.append(f"Policy: level must be in (0, 1), got {self.level!r}.")
        requirements = []
        for text in self.require:
            try:
                requirements.append(Requirement(text))
            except InvalidParameterError as error:
                faults.append(str(error))
        if faults:
            raise InvalidParameterError(" ".join(faults))
        object.__setattr__(self, "requirements", tuple(requirements))

    @classmethod
    def from_toml(cls, path: str | Path) -> Policy:
        """Read a policy from a TOML file: `fail_on`, `require`, `level` and `accept_untested`.

        Raises
        ------
        InvalidParameterError
            If there is no such file, it is no TOML, or holds something else.
        """
        return foreign_toml(path, cls.from_dict, most=LARGEST)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Policy:
        """Make a policy from a mapping with the names of the parameters, all of them optional.

        Raises
        ------
        InvalidParameterError
            If there is another name, or a value is outside its legal set.
        """
        known = ("fail_on", "require", "level", "accept_untested")
        if unknown := [name for name in content if name not in known]:
            meant = did_you_mean(unknown, known)
            raise InvalidParameterError(
                f"a policy has {', '.join(known)}, and no {', '.join(unknown)}.{meant}"
            )
        return cls(**content)

    def check_names(
        self, metrics: Mapping[str, str], bounds: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        """Refuse requirements that a suite cannot decide, before the suite is fitted.

        Parameters
        ----------
        metrics : mapping of str to str
            Classes of the metrics, by their names in the suite.
        bounds : mapping of str to (float, float), optional
            Smallest and largest value of the metrics, by the same names.

        Raises
        ------
        InvalidParameterError
            If a requirement names what the suite does not measure, or is true of any value within
            the bounds or of none.
        """
        for requirement in self.requirements:
            for name in requirement.names:
                _key(metrics, name)
            requirement.check_ranges(metrics, bounds or {})

    def judge(self, results: SuiteResult) -> list[RuleOutcome]:
        """Return of each rule whether the results meet it.

        Parameters
        ----------
        results : SuiteResult
            The results of any suite that has what is required.

        Returns
        -------
        list of RuleOutcome
            One for each of `fail_on`, one on failed metrics, one for each of `require`.

        Raises
        ------
        InvalidParameterError
            If a requirement names no result.
        """
        rules: dict[str, Callable[[SuiteResult], RuleOutcome]] = {
            "leak": self._leak,
            "alarm": self._alarm,
            "fact": _facts,
        }
        return [
            *(rules[name](results) for name in self.fail_on),
            _failures(results),
            *(requirement.judge(results) for requirement in self.requirements),
        ]

    def _verdict(self, results: SuiteResult) -> Verdict:
        """Return the verdict, without the doubts about columns that the policy accepts."""
        return results.verdict(self.level, accept_untested=self.accept_untested)

    def _leak(self, results: SuiteResult) -> RuleOutcome:
        found, alarm = self._verdict(results), self._alarm(results)
        if found.outcome == "copies found":
            copied = [one.found for r in results.values() for one in r.copies if one.found]
            return RuleOutcome(_NO_LEAK, False, " ".join(dict.fromkeys(copied)))
        some = [one.some for r in results.values() for one in r.copies if one.some]
        if not any(r.copies for r in results.values()):
            some = [UNCOUNTED]
        reasons = dict.fromkeys((alarm.reason, *(some if alarm.passed else [])))
        return replace(alarm, rule=_NO_LEAK, reason="; ".join(reasons))

    def _alarm(self, results: SuiteResult) -> RuleOutcome:
        found = self._verdict(results)
        tests = counted(found.n_tests, "test")
        if found.alarm:
            # metrics that make one test are all named, and their test counts once
            once = ", each counted once" if len(found.alarms) > found.n_tests else ""
            reason = f"alarm of {', '.join(found.alarms)}, of {tests}{once}"
            return RuleOutcome(_NO_ALARM, False, reason)
        if found.void or not found.n_tests:
            why = " ".join(found.void) or "no test of privacy could be judged"
            reason = f"nothing can be told: {why}"
            return RuleOutcome(_NO_ALARM, False, reason, is_decided=False)
        return RuleOutcome(_NO_ALARM, True, f"{tests} raised no alarm")


def together(policies: Iterable[Policy | None]) -> Policy | None:
    """Return the policy with all rules of several and the strictest level; None of none."""
    given = [policy for policy in policies if policy is not None]
    if not given:
        return None
    fail_on, require, accepted = (
        tuple(dict.fromkeys(rule for one in given for rule in getattr(one, name)))
        for name in ("fail_on", "require", "accept_untested")
    )
    return Policy(fail_on, require, max(one.level for one in given), accepted)


def failed_metrics(results: SuiteResult) -> list[str]:
    """Return the names of the metrics that raised an error, other than those left out."""
    return [
        name
        for name, result in results.items()
        if any(isinstance(warning, MetricFailedWarning) for warning in result.warnings)
    ]


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and value.bit_length() < _MAX_BITS)


def _failures(results: SuiteResult) -> RuleOutcome:
    failed = failed_metrics(results)
    reason = f"failed: {', '.join(failed)}" if failed else counted(len(results), "metric")
    return RuleOutcome("no metric failed", not failed, reason)


def _facts(results: SuiteResult) -> RuleOutcome:
    rule, facts = "nothing counted against privacy", results.verdict().facts
    if not facts and not any(map(counts_copies, results.values())):
        return RuleOutcome(rule, False, f"nothing can be told: {UNCOUNTED}")
    return RuleOutcome(rule, not facts, " ".join(facts) or "no fact")


def _key(metrics: Mapping[str, Any], name: str) -> str:
    """Return the name of the result that a policy means: its own, or that of its class.

    A class goes by its name in presets too: `TSTR` and `tstr`, `KSComplement` and `ks_complement`.
    """
    if name in metrics:
        return name
    kinds = {key: getattr(one, "metric", one) for key, one in metrics.items()}
    matching = [key for key, kind in kinds.items() if _plain(kind) == _plain(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InvalidParameterError(f"{name} is measured as {', '.join(matching)}; name one.")
    raise InvalidParameterError(
        f"the policy names {name}, which is not measured; there are {', '.join(metrics)}."
    )


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _error(results: SuiteResult, name: str) -> str:
    result = results[_key(results, name)]
    return result.error or " ".join(map(str, result.warnings)) * math.isnan(result.value)


def _field(results: SuiteResult, name: str, path: Sequence[str]) -> float:
    key, what = _key(results, name), path[0]
    if what == "p_adjusted":
        return float(results.verdict().adjusted.get(key, math.nan))
    result: Result = results[key]
    if what == DETAILS:
        return _detail(result.details, path[1:])
    value = result.value if what == "value" else result.row()[what]
    return float(value)


def _detail(held: Any, path: Sequence[str]) -> float:
    """Return the number at the end of a path into details; nan where there is none."""
    for part in path:
        if isinstance(held, Mapping):
            held = {str(name): inner for name, inner in held.items()}.get(part)
        elif isinstance(held, list | tuple | np.ndarray) and part.isdecimal():
            held = held[int(part)] if len(part) < _INDEX and int(part) < len(held) else None
        else:
            return math.nan
    is_number = isinstance(held, int | float | np.number) or held in _ENDLESS
    return as_float(held) if is_number and not isinstance(held, bool) else math.nan
