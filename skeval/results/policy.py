"""A release policy: the rules that results must meet, and whether they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skeval.exceptions import InvalidParameterError, MetricFailedWarning
from skeval.results.requirement import Requirement, RuleOutcome
from skeval.results.verdict import ALARM_LEVEL, Verdict, counts_copies
from skeval.stats.copied_rows import UNCOUNTED
from skeval.utils.foreign_files import foreign_toml
from skeval.utils.formatting import did_you_mean, format_count

if TYPE_CHECKING:
    from skeval.results.suite_result import SuiteResult

FAIL_ON = ("leak", "alarm", "fact")
_NO_LEAK = "no leak found"
_NO_ALARM = "no test raised an alarm"
OF_LEAKS = {_NO_LEAK, _NO_ALARM}


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
    skeval.results.assert_release : The same in a test.
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
        return foreign_toml(path, cls.from_dict)

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
            requirement.check_names(metrics)
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
            copied = [
                one.leak_sentence for r in results.values() for one in r.copies if one.leak_sentence
            ]
            return RuleOutcome(_NO_LEAK, False, " ".join(dict.fromkeys(copied)))
        some = [one.some for r in results.values() for one in r.copies if one.some]
        if not any(r.copies for r in results.values()):
            some = [UNCOUNTED]
        reasons = dict.fromkeys((alarm.reason, *(some if alarm.passed else [])))
        return replace(alarm, rule=_NO_LEAK, reason="; ".join(reasons))

    def _alarm(self, results: SuiteResult) -> RuleOutcome:
        found = self._verdict(results)
        tests = format_count(found.n_tests, "test")
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


def combine_policies(policies: Iterable[Policy | None]) -> Policy | None:
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


def _failures(results: SuiteResult) -> RuleOutcome:
    failed = failed_metrics(results)
    reason = f"failed: {', '.join(failed)}" if failed else format_count(len(results), "metric")
    return RuleOutcome("no metric failed", not failed, reason)


def _facts(results: SuiteResult) -> RuleOutcome:
    rule, facts = "nothing counted against privacy", results.verdict().facts
    if not facts and not any(map(counts_copies, results.values())):
        return RuleOutcome(rule, False, f"nothing can be told: {UNCOUNTED}")
    return RuleOutcome(rule, not facts, " ".join(facts) or "no fact")
