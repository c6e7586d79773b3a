"""Result of a metric: its value, baseline, interval and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.tags import MetricTags
from skeval.exceptions import DegenerateInputWarning, MetricWarning, NothingToMeasureWarning
from skeval.results.rendering import Display, rendering, wording
from skeval.results.serialization import (
    check_details,
    named_warnings,
    plain_json,
    rebuild_warnings,
    write_json,
)
from skeval.stats.copied_rows import Copies
from skeval.stats.distributions import exact_mean
from skeval.utils.formatting import as_float, pair

_TEXTS = ("metric", "error", "unmet", "summary", "fact", "advice", "table")
_NUMBERS = ("p_value", "baseline", "seconds")  # each of them may be None


@dataclass(frozen=True)
class Contrast:
    """The two numbers that a privacy test compares, so that sentences can quote them.

    Results with the same `tests` belong to one test, which counts once in a suite even if the
    numbers differ. If the numbers of several results are equal, a sentence quotes only one of them.

    Parameters
    ----------
    what : str
        Noun phrase for the quantity, such as "synthetic rows closer to train than to the holdout".
    observed : float
        Number for the training data.
    expected : float
        Number that is expected if nothing was learned about any single row.
    reference : str, default="by chance"
        Basis of `expected`, such as "for holdout rows".
    high_leaks : bool, default=True
        Whether it is a leak if `observed` is larger than `expected`. Otherwise, smaller is a leak.
    share : bool, default=True
        Whether the numbers are fractions, which are printed as percentages.
    n_tests : int, default=1
        Number of tests from which this test was selected. Its p-value is corrected for them.
    tests : tuple of str, default=()
        Names of these tests (:func:`skeval.steps.contrasts.name_of_test`). They must not depend on
        the results. Empty for a test that belongs to no other metric.
    least_p : float, default=0
        Smallest possible p-value for tables of these sizes, for any synthetic rows.
    least_here : float, default=0
        Smallest possible p-value for these rows, for any assignment of the real rows to train and
        holdout. For example, it is 1 for a test of copies if no synthetic row matches a real row. 0
        if unknown.
    unseen : float, optional
        The same number for real rows that the generator never saw, in addition to the number that
        is expected by chance.

    Examples
    --------
    >>> from skeval.results.result import Contrast
    >>> shown = Contrast("synthetic rows closer to train than to the holdout", 0.64, 0.5)
    >>> str(shown), shown.supports_leak
    ('synthetic rows closer to train than to the holdout: 64.0%, by chance 50.0%', True)
    """

    what: str
    observed: float
    expected: float
    reference: str = "by chance"
    high_leaks: bool = True
    share: bool = True
    n_tests: int = 1
    tests: tuple[str, ...] = ()
    least_p: float = 0.0
    least_here: float = 0.0
    unseen: float | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.numbers_in_words[0]}, {self.against}"

    @property
    def against(self) -> str:
        """Expected number in words, and the number for unseen rows if it is known."""
        said = f"{self.reference} {self.numbers_in_words[1]}"
        if self.unseen is None:
            return said
        unseen = pair(self.unseen, self.expected, share=self.share)[0]
        return f"{said}, for unseen rows {unseen}"

    @property
    def numbers_in_words(self) -> tuple[str, str]:
        """Both numbers in words, with enough digits to distinguish them."""
        return pair(self.observed, self.expected, share=self.share)

    @property
    def supports_leak(self) -> bool:
        """Whether the order of the two numbers indicates a leak."""
        above = self.observed - self.expected
        return above > 0 if self.high_leaks else above < 0

    @property
    def comparison_key(self) -> tuple[str, float, float]:
        """Key of results of which a sentence quotes only one."""
        return self.what, self.observed, self.expected

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {**asdict(self), "tests": list(self.tests)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Contrast:
        """Create a contrast from the result of :meth:`to_dict`."""
        kinds = {"what": str, "reference": str, "high_leaks": bool, "share": bool, "n_tests": int}
        if wrong := [name for name, kind in kinds.items() if not isinstance(content[name], kind)]:
            raise TypeError(f"a contrast has another type of {', '.join(wrong)}.")
        names = ("observed", "expected", "least_p", "least_here")
        numbers = {name: as_float(content[name]) for name in names}
        unseen = None if content["unseen"] is None else as_float(content["unseen"])
        tests = tuple(map(str, content["tests"]))
        return cls(**{**content, **numbers, "unseen": unseen, "tests": tests})


@dataclass(frozen=True, eq=False)
class Result:
    """Result of one metric: its value, baseline, interval and aggregated details.

    Parameters
    ----------
    value : float
        Value on the published scale of the metric, or nan if it is not defined. `warnings` or
        `error` contain the reason.
    interval : tuple of (float, float), optional
        95% confidence interval of the expected value. The expected value is the mean of the value
        over many independent draws of all tables, including the training data, with the same
        numbers of rows. If a value depends on the number of rows, ``details["large_sample_value"]``
        estimates the value for very large tables. If the largest number of a column determines bins
        of equal width, the interval includes the noise of this number. Metrics of privacy and
        utility document what their interval covers.
    p_value : float, optional
        P-value of the null hypothesis that the metric documents.
    baseline : float, optional
        Score to compare the value with. It is the score of holdout data in place of the synthetic
        data, the score of a model that is trained on real data (for utility metrics), or the value
        expected by chance (for metrics that compare training with holdout data).
    difference : tuple of (float, float), optional
        95% interval of value minus baseline, both at the same number of rows. The interval accounts
        for the random variation of all tables. Therefore, if the synthetic data are as good as
        holdout data, the interval contains 0 with a probability of about 95%. The random variation
        of the training data affects both values and mostly cancels.
    details : dict
        Further numbers, strings, lists, arrays and dicts. They contain only aggregates and never a
        row of real data.
    warnings : tuple of MetricWarning
        Information that is necessary to interpret the value.
    metric : str
        Name of the class, set by :class:`Metric`.
    tags : MetricTags, optional
        Direction, bounds and evidence, set by :class:`Metric`.
    seconds : float, optional
        Wall time, set by :class:`Metric`.
    error : str
        Reason why a suite skipped the metric, or why it failed. Empty otherwise.
    unmet : str
        Missing input of a skipped metric, such as "holdout". Empty for other errors.
    summary : str
        The finding in a sentence for readers who do not know the metric. Reports print it. The
        metric creates it in `_compute`, or in `_summary` if it needs the baseline.
    contrast : Contrast, optional
        The two numbers that a privacy test compared. Verdicts quote them.
    fact : str
        Sentence about a count that is relevant even if no test is significant, for example the
        number of copies of training rows.
    advice : str
        Sentence about the columns in which a leak occurs and about the fix. It is printed only if
        the test is significant. Some advice requires additional searches. Suites always perform
        these searches, and a single metric performs them if ``evaluate`` is called with
        ``advise=True``.
    refit : bool
        Whether it also helps to fit the generator again with less capacity to memorize. If this is
        True for any result, the verdict recommends this fix once, after all other advice.
    table : str
        Evaluated table if there are several. Empty if all tables were evaluated together.
    copies : tuple of Copies
        Number of unique training rows, texts or subjects that the synthetic data repeat, and the
        number that is expected by chance. Verdicts use both numbers.

    See Also
    --------
    SuiteResult : The results of many metrics.

    Examples
    --------
    >>> from skeval import Result
    >>> Result(0.5, interval=(0.4, 0.6), baseline=0.9, metric="Example")
    Example 0.5 (0.4 to 0.6), baseline 0.9
    """

    value: float
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    baseline: float | None = None
    difference: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[MetricWarning, ...] = ()
    metric: str = ""
    tags: MetricTags | None = None
    seconds: float | None = None
    error: str = ""
    unmet: str = ""
    summary: str = ""
    contrast: Contrast | None = None
    fact: str = ""
    advice: str = ""
    refit: bool = False
    table: str = ""
    copies: tuple[Copies, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if self.baseline is not None:
            baseline = as_float(self.baseline)
            object.__setattr__(self, "baseline", None if np.isnan(baseline) else baseline)
        for name in ("interval", "difference"):
            if (ends := getattr(self, name)) is not None:
                object.__setattr__(self, name, (float(ends[0]), float(ends[1])))

    def __repr__(self) -> str:
        if self.error:
            return f"{self.metric} skipped: {self.error}"
        interval = "" if self.interval is None else " ({:.4g} to {:.4g})".format(*self.interval)
        baseline = "" if self.baseline is None else f", baseline {self.baseline:.4g}"
        return f"{self.metric} {self.value:.4g}{interval}{baseline}".strip()

    def row(self) -> dict[str, Any]:
        """Return the headline numbers as one row of a table."""
        low, high = self.interval or (np.nan, np.nan)
        diff_low, diff_high = self.difference or (np.nan, np.nan)
        tags, shown = self.tags, self.contrast
        return {
            "metric": self.metric,
            **({"table": self.table} if self.table else {}),
            "aspect": tags.aspect if tags else "",
            "value": self.value,
            "low": low,
            "high": high,
            "baseline": np.nan if self.baseline is None else self.baseline,
            "diff_low": diff_low,
            "diff_high": diff_high,
            "direction": tags.direction if tags else "",
            "evidence": (tags.evidence or "") if tags else "",
            "observed": np.nan if shown is None else shown.observed,
            "expected": np.nan if shown is None else shown.expected,
            "p_value": np.nan if self.p_value is None else self.p_value,
            "seconds": np.nan if self.seconds is None else self.seconds,
            "error": self.error,
        }

    def frame(self, *, findings: bool = False) -> pd.DataFrame:
        """Return the headline numbers as a one-row table, optionally with the sentence."""
        frame = pd.DataFrame([self.row()])
        return frame.assign(finding=[wording().finding(self)]) if findings else frame

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain lists, dicts, strings and numbers, with None for nan."""
        content = {item.name: getattr(self, item.name) for item in fields(self)}
        content["warnings"] = named_warnings(self.warnings)
        content["tags"] = self.tags.to_dict() if self.tags else None
        content["contrast"] = self.contrast.to_dict() if self.contrast else None
        content["copies"] = [one.to_dict() for one in self.copies]
        plain: dict[str, Any] = plain_json(content)
        return plain

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Result:
        """Create a result from the result of :meth:`to_dict`."""
        tags, contrast = content["tags"], content["contrast"]
        ends = {name: content[name] for name in ("interval", "difference")}
        if wrong := [
            name
            for names, kind in ((_TEXTS, str), (("details",), Mapping))
            for name in names
            if not isinstance(content[name], kind)
        ]:
            raise TypeError(f"a result has another type of {', '.join(wrong)}.")
        check_details(content["details"])
        rebuilt = {
            **{name: None if e is None else tuple(map(as_float, e)) for name, e in ends.items()},
            **{
                name: None if content[name] is None else as_float(content[name])
                for name in _NUMBERS
            },
            "value": as_float(content["value"]),
            "warnings": rebuild_warnings(content["warnings"]),
            "tags": MetricTags.from_dict(tags) if tags else None,
            "contrast": Contrast.from_dict(contrast) if contrast else None,
            "copies": tuple(map(Copies.from_dict, content["copies"])),
            "refit": content["refit"] is True,
        }
        return cls(**{**content, **rebuilt})

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    def display(self) -> Display:
        """Return the display that plots this result, with `plot(ax=None)` and `frame()`."""
        return rendering().display(self)

    def plot(self, ax: Any = None) -> Display:
        """Plot this result, and return the display with `ax_` and `figure_`."""
        return self.display().plot(ax)

    def to_markdown(self, *, title: str = "Evaluation", level: int = 2) -> str:
        """Return a Markdown section, for example for a model card.

        Parameters
        ----------
        title : str, default="Evaluation"
            Heading of the section.
        level : int, default=2
            Level of the heading.

        Returns
        -------
        str
            The section of a suite with only this metric. See :meth:`SuiteResult.to_markdown`.

        Examples
        --------
        >>> from skeval import Result
        >>> result = Result(0.9, baseline=0.95, metric="KSComplement")
        >>> "| Kolmogorov-Smirnov complement | 0.90 |" in result.to_markdown()
        True
        """
        return wording().markdown(self, title=title, level=level)

    def to_metrics(self, *, prefix: str = "") -> dict[str, float]:
        """Return flat numbers for experiment trackers such as MLflow and Weights & Biases.

        Parameters
        ----------
        prefix : str, default=""
            Prefix of all names, such as "synthetic/".

        Returns
        -------
        dict of str to float
            The numbers of a suite with only this metric, by the name of its class. See
            :meth:`SuiteResult.to_metrics`.

        Examples
        --------
        >>> from skeval import Result
        >>> metrics = Result(0.9, baseline=0.95, metric="KSComplement").to_metrics()
        >>> metrics["KSComplement"], metrics["KSComplement.baseline"]
        (0.9, 0.95)
        """
        # imported here, because suite_result imports this module
        from skeval.results.suite_result import SuiteResult

        return SuiteResult({self.metric or "value": self}).to_metrics(prefix=prefix)

    def _repr_html_(self) -> str:
        return rendering().html(self)


def undefined_result(
    reason: str, kind: type[MetricWarning] = DegenerateInputWarning, **details: Any
) -> Result:
    """Return the nan result of a measure that is not defined, with a warning about the reason."""
    return Result(float("nan"), details=details, warnings=(kind(reason),))


def mean_of_columns(
    scores: Mapping[str, float],
    *,
    n_total: int,
    greater_is_better: bool,
    warnings: tuple[MetricWarning, ...] = (),
    **details: Any,
) -> Result:
    """Return the mean over the columns that have a score, and the worst column."""
    defined = {name: score for name, score in scores.items() if not np.isnan(score)}
    if not defined:
        # no column of the required type is not a problem of the table
        kind = DegenerateInputWarning if scores else NothingToMeasureWarning
        reason = kind("no column of this table can be evaluated.")
        details = {"columns": dict(scores), **details}
        return Result(float("nan"), details=details, warnings=(*warnings, reason))
    # among ties the first by name, because the order of columns has no meaning
    worst = (min if greater_is_better else max)(sorted(defined), key=defined.__getitem__)
    return Result(
        exact_mean(defined.values()),
        details={
            "columns": dict(scores),
            "worst": {"column": worst, "value": defined[worst]},
            "n_used": len(defined),
            "n_total": n_total,
            **details,
        },
        warnings=warnings,
    )
