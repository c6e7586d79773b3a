"""Checks that every metric must pass, including custom metrics."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
from sklearn.base import clone

from skeval.checks.contract import CHECKS, Check
from skeval.checks.demands import CheckFailedError, StyleError
from skeval.checks.evaluations import Evaluations
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
    """Check that a metric satisfies the contract, for example determinism and bounds.

    Parameters
    ----------
    metric : Metric
        Unfitted instance.
    tables : tuple of (train, holdout, synthetic), optional
        Tables for the checks, if the metric requires certain columns. The default is tables of
        :func:`skeval.datasets.make_mixed`, with a text column if the metric requires text. For
        metrics of several tables, the tables are RelationalData, by default from
        :func:`skeval.datasets.make_relational`.
    on_fail : {"raise", "warn", "record"}, default="raise"
        Action if checks fail, after all checks have run. The records contain the failures in any
        case. If there are only style failures, "raise" issues a warning instead.
    expected_failures : mapping of str to str, optional
        Names of checks that are known to fail, with the reasons.

    Returns
    -------
    list of dict
        Records with `check`, `status` ("passed", "failed", "expected"), `message` and `kind`, one
        for each check. The kind of a failure is "style" if the metric is correct but violates a
        rule of form, for example if the docstring does not describe a parameter. Otherwise it is
        "contract".

    Raises
    ------
    CheckFailedError
        If `on_fail` is "raise" and there is an unexpected failure of the contract. The error lists
        all failures.
    InvalidParameterError
        If `metric` is a class, if `on_fail` or the name of an expected failure is unknown, or if
        the tables do not have a column that the metric names.

    See Also
    --------
    parametrize_with_metric_checks : Run the checks as tests of pytest.

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
    _check_columns(metric, tables, shared)
    records = []
    for check in CHECKS:
        name, kind = check.__name__, "contract"
        message = ""
        try:
            check(clone(metric), tables, shared)
        except Exception as error:  # the check reports any error of a faulty metric
            message = f"{type(error).__name__}: {error}"
            kind = "style" if isinstance(error, StyleError) else "contract"
        status = "passed" if not message else "expected" if name in expected else "failed"
        records.append({"check": name, "status": status, "message": message, "kind": kind})
    failed = [record for record in records if record["status"] == "failed"]
    if failed:
        _fail(type(metric).__name__, failed, on_fail)
    return records


def _check_arguments(metric: Metric, on_fail: str, expected: Mapping[str, str]) -> None:
    if inspect.isclass(metric) or not isinstance(metric, Metric):
        raise InvalidParameterError(f"check_metric expected a Metric instance, got {metric!r}.")
    if on_fail not in {"raise", "warn", "record"}:
        raise InvalidParameterError(
            f"on_fail must be 'raise', 'warn' or 'record', got {on_fail!r}."
        )
    if unknown := sorted(set(expected) - {check.__name__ for check in CHECKS}):
        raise InvalidParameterError(f"expected_failures has unknown checks: {', '.join(unknown)}.")


def _check_columns(metric: Metric, tables: Tables, shared: Evaluations) -> None:
    """Refuse tables without a column that the metric names, because every check would fail."""
    if not isinstance(tables[0], pd.DataFrame):
        return
    columns, named = list(map(str, tables[0].columns)), []
    with suppress(Exception):  # the checks find other faults of the metric
        named = [name for names in metric.named_columns().values() for name in names]
        try:
            assert shared.first
        except KeyError as error:
            named += [name for name in error.args if isinstance(name, str)]
    if lacking := [name for name in dict.fromkeys(named) if name not in columns]:
        raise InvalidParameterError(
            f"check_metric: {type(metric).__name__} names {', '.join(lacking)}, but the tables for "
            f"the checks have the columns {', '.join(columns)}. Pass tables=(train, holdout, "
            "synthetic) with these columns, or name other columns."
        )


def _fail(metric: str, failed: Sequence[Mapping[str, str]], on_fail: str) -> None:
    ordered = sorted(failed, key=lambda record: record["kind"] == "style")
    style = {"style": "style, "}
    text = "\n".join(
        f"{metric}, {style.get(one['kind'], '')}{one['check']}: {one['message']}" for one in ordered
    )
    if on_fail == "raise" and ordered[0]["kind"] == "contract":
        raise CheckFailedError(text)
    if on_fail != "record":
        warnings.warn(text, UserWarning, stacklevel=3)


def parametrize_with_metric_checks(
    metrics: Sequence[Metric], *, tables: Tables | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a pytest decorator that runs every check for every metric as a separate test.

    Parameters
    ----------
    metrics : sequence of Metric
        Unfitted instances.
    tables : tuple of (train, holdout, synthetic), optional
        Tables for the checks.

    Returns
    -------
    decorator
        Decorator for a test function of `metric` and `check` that calls ``check(metric)``.

    See Also
    --------
    check_metric : Run all checks at once.

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
