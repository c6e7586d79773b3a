"""Quality gate for pipelines: the policy decides the exit code, and JUnit files report it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import typer

from skeval.cli.options import Given
from skeval.cli.terminal import say
from skeval.exceptions import InvalidParameterError
from skeval.results.junit import junit
from skeval.results.policy import FAIL_ON, Policy, combine_policies, failed_metrics
from skeval.results.release import Release, gate_policy
from skeval.results.requirement import RuleOutcome
from skeval.results.suite_result import SuiteResult
from skeval.suites.suite import MetricSuite
from skeval.utils.files import check_output, replacing


def release_of(given: Given) -> Release | None:
    """Return the release that a file describes."""
    return Release.of(given.release)


def policy_of(options: Given, release: Release | None = None) -> Policy | None:
    """Return the combined policy of a file, the options and a release, or None."""
    fail_on, require, file = options.fail_on, options.require, options.policy
    if options.junit is not None:
        check_output(options.junit, (".xml",), owner="--junit")
    if unknown := [name for name in fail_on or () if name not in FAIL_ON]:
        raise InvalidParameterError(
            f"--fail-on must be among {', '.join(FAIL_ON)}, got {', '.join(unknown)}."
        )
    given = Policy.from_toml(file) if file is not None else None
    if fail_on or require:
        of_options = Policy(tuple(fail_on or ()), tuple(require or ()))
        if given is not None:  # options have no level
            of_options = replace(of_options, level=given.level)
        given = combine_policies([given, of_options])
    policy = gate_policy(given, release)
    if policy is None and options.junit is not None:
        raise InvalidParameterError(
            "--junit needs --fail-on, --require, --policy or thresholds of --release."
        )
    return policy


def check_policy(policy: Policy | None, suite: MetricSuite | None) -> None:
    """Refuse a policy on what the suite does not measure, before the work."""
    if policy is not None and suite is not None:
        metrics = dict(suite.all_metrics)
        classes = {name: type(metric).__name__ for name, metric in metrics.items()}
        bounds = {name: metric.tags.bounds for name, metric in metrics.items()}
        policy.check_names(classes, bounds)


def write_junit(
    policy: Policy | None, results: Mapping[str, SuiteResult], path: Path | None
) -> None:
    """Write the outcome of the policy for each synthetic table as a JUnit file."""
    if policy is not None and path is not None:
        with replacing(path) as temporary:
            temporary.write_text(junit(_outcomes(policy, results)), encoding="utf-8")


def enforce(policy: Policy | None, results: Mapping[str, SuiteResult]) -> None:
    """End with exit code 1 if a requirement is violated, or if a metric failed."""
    failures = {name: failed for name, one in results.items() if (failed := failed_metrics(one))}
    for name, failed in failures.items():
        of = f"{name}: " if name else ""
        n_metrics = len(results[name])
        say(f"skeval: {of}{len(failed)} of {n_metrics} metrics failed: {', '.join(failed)}.")
    nothing = [name for name, one in results.items() if all(each.error for each in one.values())]
    for name in nothing:
        of = f"{name}: " if name else ""
        say(f"skeval: {of}no metric was evaluated. The reasons are listed above.")
    outcomes = _outcomes(policy, results) if policy is not None else []
    for outcome in outcomes:
        say(f"policy {outcome}")
    if failures or nothing or not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(1)


def _outcomes(policy: Policy, results: Mapping[str, SuiteResult]) -> list[RuleOutcome]:
    """Return the outcome of each requirement. Names of several tables are put in front."""
    return [
        replace(outcome, rule=f"{name}: {outcome.rule}") if name else outcome
        for name, result in results.items()
        for outcome in policy.judge(result)
    ]
