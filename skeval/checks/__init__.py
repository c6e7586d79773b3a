"""Common checks that every metric passes, ours and yours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sklearn.base import clone

from skeval.checks.contract import CHECKS, Check, CheckFailedError, Evaluations
from skeval.checks.tables import Tables, default_tables
from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError

__all__ = ["check_metric", "parametrize_with_metric_checks"]


def check_metric(
    metric: Metric,
    *,
    tables: Tables | None = None,
    on_fail: str = "raise",
    expected_failures: Mapping[str, str] | None = None,
) -> list[dict[str, str]]:
    """Check that a metric keeps the contract: clone, determinism, bounds, direction, bad input.

    Parameters
    ----------
    metric : Metric
        An instance, not fitted.
    tables : tuple of (train, holdout, synthetic), optional
        Tables to check on, where the metric needs certain columns; those of
        :func:`skeval.datasets.make_mixed` otherwise, with a column of notes where it needs text;
        of metrics of several tables, RelationalData, by default from
        :func:`skeval.datasets.make_relational`.
    on_fail : {"raise", "warn", "record"}, default="raise"
        What a failure does; it is in the records in any case.
    expected_failures : mapping of str to str, optional
        Names of checks that are known to fail, and why.

    Returns
    -------
    list of dict
        `check`, `status` ("passed", "failed", "expected") and `message`, one a check.

    Raises
    ------
    CheckFailedError
        At the first unexpected failure, if `on_fail` is "raise".
    InvalidParameterError
        If `metric` is a class, or `on_fail` or an expected failure names nothing known.

    See Also
    --------
    parametrize_with_metric_checks : The same as tests of pytest.

    Examples
    --------
    >>> from skeval import check_metric
    >>> from skeval.fidelity import KSComplement
    >>> {record["status"] for record in check_metric(KSComplement())}
    {'passed'}
    """
    expected = dict(expected_failures or {})
    _check_arguments(metric, on_fail, expected)
    tables = tables or default_tables(metric)
    shared = Evaluations(metric, tables)
    records = []
    for check in CHECKS:
        name = check.__name__
        message = _run(check, metric, tables, shared)
        status = "passed" if message is None else "expected" if name in expected else "failed"
        records.append({"check": name, "status": status, "message": message or ""})
        if status == "failed":
            _fail(f"{type(metric).__name__}, {name}: {message}", on_fail)
    return records


def _check_arguments(metric: Metric, on_fail: str, expected: Mapping[str, str]) -> None:
    if inspect.isclass(metric) or not isinstance(metric, Metric):
        raise InvalidParameterError(f"check_metric expected a Metric instance, got {metric!r}.")
    if on_fail not in {"raise", "warn", "record"}:
        raise InvalidParameterError(
            f"on_fail must be 'raise', 'warn' or 'record', got {on_fail!r}."
        )
    if unknown := sorted(set(expected) - {check.__name__ for check in CHECKS}):
        raise InvalidParameterError(f"expected_failures names no check: {', '.join(unknown)}.")


def _run(check: Check, metric: Metric, tables: Tables, shared: Evaluations) -> str | None:
    try:
        check(clone(metric), tables, shared)
    except Exception as error:  # what a faulty metric raises is what the check reports
        return f"{type(error).__name__}: {error}"
    return None


def _fail(text: str, on_fail: str) -> None:
    if on_fail == "raise":
        raise CheckFailedError(text)
    if on_fail == "warn":
        import warnings

        warnings.warn(text, UserWarning, stacklevel=3)


def parametrize_with_metric_checks(
    metrics: Sequence[Metric], *, tables: Tables | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a pytest decorator that runs every check on every metric as a test of its own.

    Parameters
    ----------
    metrics : sequence of Metric
        Instances, not fitted.
    tables : tuple of (train, holdout, synthetic), optional
        Tables to check on.

    Returns
    -------
    decorator
        For a test function of `metric` and `check`, which calls ``check(metric)``.

    See Also
    --------
    check_metric : The same at once.

    Examples
    --------
    >>> from skeval import parametrize_with_metric_checks
    >>> from skeval.fidelity import KSComplement
    >>> @parametrize_with_metric_checks([KSComplement()])
    ... def test_contract(metric, check):
    ...     check(metric)
    """
    import pytest

    def bound(check: Check, shared: Evaluations) -> Callable[[Metric], None]:
        return lambda metric: check(clone(metric), tables or default_tables(metric), shared)

    cases = []
    for metric in metrics:
        shared = Evaluations(metric, tables)
        name = type(metric).__name__
        cases += [
            pytest.param(metric, bound(check, shared), id=f"{name}-{check.__name__}")
            for check in CHECKS
        ]
    return pytest.mark.parametrize(("metric", "check"), cases)
