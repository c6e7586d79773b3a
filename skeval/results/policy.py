"""Policy for releases: requirements for results, and their outcomes."""

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
    """Requirements that the results of a release must meet.

    Parameters
    ----------
    fail_on : tuple of str, default=("leak",)
        Conditions that violate the policy. "leak": the verdict is a leak or copies were found, or
        the verdict is inconclusive, because a quality gate must not pass untested data. "alarm":
        the same for the privacy tests only, without copies. "fact": any counted privacy fact, such
        as a single copy of a training row, or no metric that counts copies.
    require : tuple of str, default=()
        Comparisons in the syntax of :class:`Requirement`.
    level : float, default=0.05
        Probability of at least one false alarm in all privacy tests.
    accept_untested : tuple of str, default=()
        Columns that may remain untested. By default, "leak" and "alarm" fail if no test examined a
        column in which most values occur once.

    Raises
    ------
    InvalidParameterError
        If a parameter is invalid, or a requirement is not a comparison.

    See Also
    --------
    skeval.results.assert_release : Check a policy in a test.
    SuiteResult.verdict : Compute the privacy verdict.

    Notes
    -----
    A metric that failed violates every policy. A requirement for a skipped metric is violated as
    well. Results that meet a policy meet only its requirements. Privacy tests never prove that
    there is no leak.

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
        """Read a policy from a TOML file with `fail_on`, `require`, `level` and `accept_untested`.

        Raises
        ------
        InvalidParameterError
            If the file does not exist, is not TOML, or has other content.
        """
        return foreign_toml(path, cls.from_dict)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Policy:
        """Create a policy from a mapping of parameters, all of which are optional.

        Raises
        ------
        InvalidParameterError
            If there is another name, or a value is invalid.
        """
        known = ("fail_on", "require", "level", "accept_untested")
        if unknown := [name for name in content if name not in known]:
            meant = did_you_mean(unknown, known)
            raise InvalidParameterError(
                f"a policy has no parameter {', '.join(unknown)}. Its parameters are "
                f"{', '.join(known)}.{meant}"
            )
        return cls(**content)

    def check_names(
        self, metrics: Mapping[str, str], bounds: Mapping[str, tuple[float, float]] | None = None
    ) -> None:
        """Refuse requirements that cannot be evaluated, before the suite is fitted.

        Parameters
        ----------
        metrics : mapping of str to str
            Class of each metric, by name in the suite.
        bounds : mapping of str to (float, float), optional
            Minimum and maximum value of each metric, by name in the suite.

        Raises
        ------
        InvalidParameterError
            If a requirement names a metric that the suite does not contain, or is true or false for
            all values within the bounds.
        """
        for requirement in self.requirements:
            requirement.check_names(metrics)
            requirement.check_ranges(metrics, bounds or {})

    def judge(self, results: SuiteResult) -> list[RuleOutcome]:
        """Return the outcome of each requirement.

        Parameters
        ----------
        results : SuiteResult
            Results of a suite with all required metrics.

        Returns
        -------
        list of RuleOutcome
            One outcome for each condition of `fail_on`, one for failed metrics, and one for each
            comparison of `require`.

        Raises
        ------
        InvalidParameterError
            If a requirement names a result that does not exist.
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
        """Return the verdict without doubts about columns that the policy accepts."""
        return results.verdict(self.level, accept_untested=self.accept_untested)

    def _leak(self, results: SuiteResult) -> RuleOutcome:
        found, alarm = self._verdict(results), self._alarm(results)
        copied = [
            one.leak_sentence for r in results.values() for one in r.copies if one.leak_sentence
        ]
        if found.outcome == "copies found":
            return RuleOutcome(_NO_LEAK, False, " ".join(dict.fromkeys(copied)))
        some = [one.some for r in results.values() for one in r.copies if one.some]
        if not any(r.copies for r in results.values()):
            some = [UNCOUNTED]
        reasons = dict.fromkeys((alarm.reason, *(some if alarm.passed else copied)))
        return replace(alarm, rule=_NO_LEAK, reason="; ".join(reasons).replace(".; ", ". "))

    def _alarm(self, results: SuiteResult) -> RuleOutcome:
        found = self._verdict(results)
        tests = format_count(found.n_tests, "test")
        if found.alarm:
            # several metrics of one test are all named, but the test counts once
            once = ", each counted once" if len(found.alarms) > found.n_tests else ""
            reason = f"alarm of {', '.join(found.alarms)}, of {tests}{once}"
            return RuleOutcome(_NO_ALARM, False, reason)
        if found.void or not found.n_tests:
            why = " ".join(found.void) or "no privacy test has a result"
            reason = f"inconclusive: {why}"
            return RuleOutcome(_NO_ALARM, False, reason, is_decided=False)
        return RuleOutcome(_NO_ALARM, True, f"{tests} raised no alarm")


def combine_policies(policies: Iterable[Policy | None]) -> Policy | None:
    """Return a policy with all rules of several policies and the strictest level, or None."""
    given = [policy for policy in policies if policy is not None]
    if not given:
        return None
    fail_on, require, accepted = (
        tuple(dict.fromkeys(rule for one in given for rule in getattr(one, name)))
        for name in ("fail_on", "require", "accept_untested")
    )
    return Policy(fail_on, require, max(one.level for one in given), accepted)


def failed_metrics(results: SuiteResult) -> list[str]:
    """Return the names of metrics that raised an error, without skipped metrics."""
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
        return RuleOutcome(rule, False, f"inconclusive: {UNCOUNTED}")
    return RuleOutcome(rule, not facts, " ".join(facts) or "no fact")
