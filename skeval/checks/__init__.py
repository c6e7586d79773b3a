"""Checks that every metric passes, ours and yours."""

from skeval.checks.runner import check_metric, parametrize_with_metric_checks

__all__ = ["check_metric", "parametrize_with_metric_checks"]
