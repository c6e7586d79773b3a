"""What a metric found: its value, with its baseline and its interval."""

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
_NUMBERS = ("p_value", "baseline", "seconds")  # each of these may be None


@dataclass(frozen=True)
class Contrast:
    """The two numbers that a test of privacy compared, so that sentences quote what was tested.

    Results that name the same `tests` made one test, which counts once in a suite, even if the
    numbers differ. If results have equal numbers, a sentence quotes one of them.

    Parameters
    ----------
    what : str
        What was measured, as a noun phrase: "synthetic rows closer to train than to the holdout".
    observed : float
        On the side of train.
    expected : float
        The number to expect if nothing was learned of any one row.
    reference : str, default="by chance"
        What `expected` is based on, such as "for holdout rows".
    high_leaks : bool, default=True
        Whether it is a leak if `observed` is above `expected`; if False, below.
    share : bool, default=True
        Whether the numbers are shares, to be printed as percentages.
    n_tests : int, default=1
        Number of tests that this one was picked from, its p-value corrected for them.
    tests : tuple of str, default=()
        Names of these tests by what they look at (:func:`skeval.steps.contrasts.name_of_test`), so
        that it is known before any number is. Empty for a test that no other metric makes.
    least_p : float, default=0
        The least p-value possible for tables of these sizes, for any synthetic rows.
    least_here : float, default=0
        The least p-value possible for these rows, whichever of the real ones were train: 1 for a
        test of copies where no synthetic row equals a real one. 0 where it is not known.
    unseen : float, optional
        The number of real rows that the generator did not see, in addition to the number that is
        expected by chance.

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
        """The expected number in words, and the number of unseen rows if it is known."""
        said = f"{self.reference} {self.numbers_in_words[1]}"
        if self.unseen is None:
            return said
        unseen = pair(self.unseen, self.expected, share=self.share)[0]
        return f"{said}, of unseen rows {unseen}"

    @property
    def numbers_in_words(self) -> tuple[str, str]:
        """Both numbers in words, with as many digits as show which is the larger."""
        return pair(self.observed, self.expected, share=self.share)

    @property
    def supports_leak(self) -> bool:
        """Whether the two numbers lie as they do where there is a leak."""
        above = self.observed - self.expected
        return above > 0 if self.high_leaks else above < 0

    @property
    def comparison_key(self) -> tuple[str, float, float]:
        """What two results have in common of which a sentence quotes one."""
        return self.what, self.observed, self.expected

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return {**asdict(self), "tests": list(self.tests)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Contrast:
        """Rebuild a contrast from what :meth:`to_dict` gave."""
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
    """One metric's answer: a number in relation, and the aggregates behind it.

    Parameters
    ----------
    value : float
        The natural, published value; nan where it is not defined (`warnings` or `error` say why).
    interval : tuple of (float, float), optional
        The interval of the expected value at these sizes, at 95%: the mean of the values that
        independent draws of all tables, train included, would have with the same numbers of rows.
        If a value depends on the number of rows, ``details["large_sample_value"]`` estimates
        what it tends to. Metrics of privacy and of utility describe what their interval covers.
    p_value : float, optional
        The p-value of the null hypothesis that the metric names.
    baseline : float, optional
        What a fresh real sample would get in the synthetic rows' place.
    difference : tuple of (float, float), optional
        The interval of value minus baseline, both of the same number of rows, at 95%. It contains
        the noise of all tables, so that it includes 0 if the synthetic rows are as good as fresh
        real rows. The noise of the training data, which both values share, mostly cancels.
    details : dict
        Aggregates only, never a row of real data: numbers, strings, lists, arrays, dicts of them.
    warnings : tuple of MetricWarning
        What the reader must know before using the value.
    metric : str
        The class that measured; filled in by :class:`Metric`.
    tags : MetricTags, optional
        Direction, bounds and evidence; filled in by :class:`Metric`.
    seconds : float, optional
        Wall time; filled in by :class:`Metric`.
    error : str
        Why a suite left the metric out, or how it failed; empty where it did not.
    unmet : str
        Which input a metric that was left out needs, such as "holdout"; empty where `error` is of
        another kind.
    summary : str
        The finding, in a sentence that needs no knowledge of the metric; reports print it. It is
        written by the metric, in `_compute` or in `_summary`, which knows the baseline too.
    contrast : Contrast, optional
        The two numbers that a test of privacy compared; verdicts quote them.
    fact : str
        A count that holds even if no test is significant, such as of copies of train rows; a
        sentence.
    advice : str
        The place of a leak and what to do about it; a sentence, printed only with an alarm. If it
        takes searches of its own, suites make them; `evaluate` of a metric makes them on request.
    refit : bool
        Whether it also helps to fit the generator again with less room to memorise. A verdict says
        so once, after all advice.
    table : str
        The table that was measured, if there are several; empty if all were.
    copies : tuple of Copies
        How many unique rows, texts or subjects of train the release repeats, and how many may be by
        chance; verdicts judge it.

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
            return f"{self.metric} left out: {self.error}"
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
        """Return the headline numbers as a table of one row; with `findings`, the sentence too."""
        frame = pd.DataFrame([self.row()])
        return frame.assign(finding=[wording().finding(self)]) if findings else frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers; nan is None."""
        content = {item.name: getattr(self, item.name) for item in fields(self)}
        content["warnings"] = named_warnings(self.warnings)
        content["tags"] = self.tags.to_dict() if self.tags else None
        content["contrast"] = self.contrast.to_dict() if self.contrast else None
        content["copies"] = [one.to_dict() for one in self.copies]
        plain: dict[str, Any] = plain_json(content)
        return plain

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Result:
        """Rebuild a result from what :meth:`to_dict` gave."""
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
        """Return the display that draws this result: `plot(ax=None)` and `frame()`."""
        return rendering().display(self)

    def plot(self, ax: Any = None) -> Display:
        """Draw this result; return the display, with `ax_` and `figure_`."""
        return self.display().plot(ax)

    def to_markdown(self, *, title: str = "Evaluation", level: int = 2) -> str:
        """Return a section of Markdown, as model cards have them.

        Parameters
        ----------
        title : str, default="Evaluation"
            Its heading.
        level : int, default=2
            The level of the heading.

        Returns
        -------
        str
            As of a suite of this metric alone, see :meth:`SuiteResult.to_markdown`.

        Examples
        --------
        >>> from skeval import Result
        >>> result = Result(0.9, baseline=0.95, metric="KSComplement")
        >>> "| Kolmogorov-Smirnov complement | 0.90 |" in result.to_markdown()
        True
        """
        return wording().markdown(self, title=title, level=level)

    def to_metrics(self, *, prefix: str = "") -> dict[str, float]:
        """Return flat numbers for trackers of experiments, such as MLflow and Weights & Biases.

        Parameters
        ----------
        prefix : str, default=""
            The start of all names, such as "synthetic/".

        Returns
        -------
        dict of str to float
            As of a suite of this metric alone, by the name of its class; see
            :meth:`SuiteResult.to_metrics`.

        Examples
        --------
        >>> from skeval import Result
        >>> metrics = Result(0.9, baseline=0.95, metric="KSComplement").to_metrics()
        >>> metrics["KSComplement"], metrics["KSComplement.baseline"]
        (0.9, 0.95)
        """
        # a suite contains results, so that it is above this module
        from skeval.results.suite_result import SuiteResult

        return SuiteResult({self.metric or "value": self}).to_metrics(prefix=prefix)

    def _repr_html_(self) -> str:
        return rendering().html(self)


def undefined_result(
    reason: str, kind: type[MetricWarning] = DegenerateInputWarning, **details: Any
) -> Result:
    """Return the result of a measure that is not defined here: nan, and a warning that says why."""
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
        # without any column of its kind there is nothing wrong with the table
        kind = DegenerateInputWarning if scores else NothingToMeasureWarning
        reason = kind("no column of this table can be measured.")
        details = {"columns": dict(scores), **details}
        return Result(float("nan"), details=details, warnings=(*warnings, reason))
    # the first by name among equals, because the order of columns means nothing
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
