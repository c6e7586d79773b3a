"""What a metric is about, and what it found: the value beside its baseline and its interval."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    NothingToMeasureWarning,
    Sentence,
)
from skeval.files import foreign_text
from skeval.formatting import as_float
from skeval.json_content import (
    FOREIGN,
    check_details,
    details_of,
    named_warnings,
    no_formula,
    plain_json,
    rebuilt_warnings,
    without_controls,
    write_json,
)
from skeval.properties import property_details, property_scores
from skeval.provenance import Provenance
from skeval.stats.distributions import exact_mean
from skeval.stats.repeats import Copies
from skeval.tags import MetricTags
from skeval.verdict import ALARM_LEVEL, Contrast, Verdict, adjusted_p_values, is_shifted, verdict

if TYPE_CHECKING:
    from skeval.reporting import Display


SCHEMA_VERSION = 2  # of the JSON of a suite's results
_TEXTS = ("metric", "error", "unmet", "summary", "fact", "advice", "table")
_NUMBERS = ("p_value", "baseline", "seconds")  # that may be missing


def _no_scores(source: object) -> Sentence:
    return Sentence(
        f"{source} holds no scores that SuiteResult.to_json wrote.",
        f"{source} holds no scores; save them with: skeval evaluate ... -o scores.json.",
    )


@dataclass(frozen=True, eq=False)
class Result:
    """One metric's answer: a number in relation, and the aggregates behind it.

    Parameters
    ----------
    value : float
        The natural, published value; nan where it is not defined (`warnings` or `error` say why).
    interval : tuple of (float, float), optional
        Where the value of the population lies, at 95% unless the metric says otherwise.
    p_value : float, optional
        Of the null hypothesis that the metric names.
    baseline : float, optional
        What a fresh real sample would get in the synthetic rows' place.
    difference : tuple of (float, float), optional
        Where value minus baseline lies, both of as many rows, at 95%, given train: the noise of the
        synthetic rows and of the holdout is in it, so that it holds 0 where the synthetic rows are
        as good as fresh real rows. `interval` is of another quantity, the population's value.
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
        Of a test of privacy, the two numbers that it compared; verdicts quote them.
    fact : str
        A count that stands whatever a test says of it, such as of copies of train rows; a sentence.
    advice : str
        Where a leak lies and what to do about it; a sentence, printed beside an alarm only. Where
        it takes searches of its own, suites look for it, and `evaluate` of a metric if asked to.
    table : str
        Of several tables, the one that was measured; empty where there is one only, or all were.
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
        return frame.assign(finding=[self._finding()]) if findings else frame

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
            "warnings": rebuilt_warnings(content["warnings"]),
            "tags": MetricTags.from_dict(tags) if tags else None,
            "contrast": Contrast.from_dict(contrast) if contrast else None,
            "copies": tuple(map(Copies.from_dict, content.get("copies", ()))),
        }
        return cls(**{**content, **rebuilt})

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    def display(self) -> Display:
        """Return the display that draws this result: `plot(ax=None)` and `frame()`."""
        from skeval.reporting import display_of

        return display_of(self)

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
            Of the heading.

        Returns
        -------
        str
            As of a suite of this metric alone, see :meth:`SuiteResult.to_markdown`.

        Examples
        --------
        >>> from skeval import Result
        >>> print(Result(0.9, baseline=0.95, metric="KSComplement").to_markdown().splitlines()[4])
        | KSComplement | 0.900 |  | 0.950 |  |  |  |  |
        """
        return self._alone().to_markdown(title=title, level=level)

    def to_metrics(self, *, prefix: str = "") -> dict[str, float]:
        """Return flat numbers for trackers of experiments, such as MLflow and Weights & Biases.

        Parameters
        ----------
        prefix : str, default=""
            Of all names, such as "synthetic/".

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
        return self._alone().to_metrics(prefix=prefix)

    def _alone(self) -> SuiteResult:
        return SuiteResult({self.metric or "value": self})

    def _finding(self, alarm: bool | None = None, shifted: bool = False) -> str:
        from skeval.reporting.text import finding

        return "" if self.error else finding(self, alarm, shifted)

    def _repr_html_(self) -> str:
        from skeval.reporting.notebook import result_html

        return result_html(self)

    def emit_warnings(self) -> None:
        """Give the collected warnings to Python's warning system."""
        for warning in self.warnings:
            warnings.warn(warning, stacklevel=3)


class SuiteResult(Mapping[str, Result]):
    """The results of a suite, by the names of its metrics.

    Parameters
    ----------
    results : mapping of str to Result
        By the names in the suite.
    sizes : mapping of str to int
        Number of rows by role.
    notices : tuple of MetricWarning
        Warnings about the tables themselves.
    provenance : Provenance, optional
        Version, parameters, seeds, inputs and kinds of columns, of results that a suite made.

    See Also
    --------
    Result : Of one metric.
    Verdict : What may be concluded of privacy.

    Examples
    --------
    >>> from skeval import Result, SuiteResult
    >>> SuiteResult({"a": Result(0.5)}).frame()["value"].tolist()
    [0.5]
    """

    def __init__(
        self,
        results: Mapping[str, Result],
        *,
        sizes: Mapping[str, int] | None = None,
        notices: tuple[MetricWarning, ...] = (),
        provenance: Provenance | None = None,
    ) -> None:
        self._results = dict(results)
        self.sizes = dict(sizes or {})
        self.notices = notices
        self.provenance = provenance
        self.source: object = None  # the file that they were read of

    def __getitem__(self, name: str) -> Result:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return self.frame().to_string(index=False, float_format="{:.4g}".format, na_rep="")

    def _repr_html_(self) -> str:
        from skeval.reporting.notebook import suite_result_html

        return suite_result_html(self)

    def frame(self, *, findings: bool = False) -> pd.DataFrame:
        """Return one row a metric: value, interval, baseline, direction, evidence and more.

        Parameters
        ----------
        findings : bool, default=False
            Whether there is a column `finding` with the sentences that reports print.

        Returns
        -------
        DataFrame

        Notes
        -----
        `low` and `high` are the ends of the value's interval, the one that every output prints;
        between `diff_low` and `diff_high` lies value minus baseline, at 95%.

        `observed` and `expected` are the two numbers that a test of privacy compared: on the side
        of train, and what it was held against. `value` and `baseline` are those of the published
        score, which may be better than its baseline where the test finds a leak: it compares the
        synthetic rows with fresh real rows, the test compares train with the holdout.

        `p_adjusted` is the p-value of a test of privacy by Holm's procedure over all of them: the
        chance that clean tables have any below 0.05 is at most 5%.

        Of several tables, `table` is the one that was measured; empty where all were.
        """
        table = next((result.table for result in self.values() if result.table), "")
        rows = [
            {**result.row(), "metric": name, "table": result.table} for name, result in self.items()
        ]
        frame = pd.DataFrame(rows, columns=list(Result(np.nan, table=table).row()))
        adjusted = frame["metric"].map(adjusted_p_values(self)).astype(float)
        frame.insert(frame.columns.get_loc("p_value") + 1, "p_adjusted", adjusted)
        if findings:
            alarms, shifted = self.verdict().alarms, is_shifted(self)
            frame["finding"] = [one._finding(n in alarms, shifted) for n, one in self.items()]
        return frame

    def verdict(self, level: float = ALARM_LEVEL) -> Verdict:
        """Return what these results may conclude about privacy.

        Parameters
        ----------
        level : float, default=0.05
            Chance of any alarm, at most, where nothing leaks: Holm's procedure over all tests.

        Returns
        -------
        Verdict
            Whether there is an alarm and which tests raised it, facts such as copies, what was not
            looked at, and all this in words.

        Examples
        --------
        >>> from skeval import make_suite
        >>> from skeval.datasets import make_mixed
        >>> train, holdout, fresh = (make_mixed(200, random_state=seed) for seed in range(3))
        >>> suite = make_suite("screens").fit(train, holdout)
        >>> suite.evaluate(train).verdict().alarm, suite.evaluate(fresh).verdict().alarm
        (True, False)
        """
        with details_of(self.source):
            return verdict(self, level)

    def compare(self, other: SuiteResult) -> pd.DataFrame:
        """Set the values of two evaluations side by side; :func:`skeval.compare` takes any number.

        Parameters
        ----------
        other : SuiteResult
            Of the same suite on another synthetic table.

        Returns
        -------
        DataFrame
            By metric: `value`, `other`, `difference` (other minus this), and `better`: which of the
            two is better by the metric's direction, "this", "other" or "" where they are equal, the
            metric has no direction or a value is missing, as that of a metric which one of the two
            has not. It goes by the values alone, whatever their intervals.
        """
        names = dict.fromkeys([*self, *other])
        nothing = Result(float("nan"))
        shared = {name: (self.get(name, nothing), other.get(name, nothing)) for name in names}
        frame = pd.DataFrame(
            [(this.value, that.value) for this, that in shared.values()],
            index=pd.Index(list(shared), name="metric"),
            columns=["value", "other"],
            dtype=float,
        )
        frame["difference"] = frame["other"] - frame["value"]
        signs = [this.tags.sign if this.tags else 0 for this, _ in shared.values()]
        gain = np.sign(frame["difference"].fillna(0.0).to_numpy()) * np.array(signs, dtype=float)
        frame["better"] = np.select([gain > 0, gain < 0], ["other", "this"], default="")
        return frame

    def properties(self) -> pd.DataFrame:
        """Return the mean score of each property, the part of names before a slash, and overall.

        Presets "quality" and "diagnostic" have properties; the overall mean lets one of them buy
        back another.

        Returns
        -------
        DataFrame
            By property: `score`, `baseline` and `n_used`, the number of columns or pairs; see
            :func:`~skeval.properties.property_scores`.
        """
        with details_of(self.source):
            return property_scores(self)

    def details(self, property: str | None = None) -> pd.DataFrame:
        """Return the scores behind a property, one row a column or pair, with their tables.

        Parameters
        ----------
        property : str, optional
            Such as "column_shapes" of the preset "quality"; all of them if None, in a column
            `property`.

        Returns
        -------
        DataFrame
            `table`, `what`, `metric`, `score`, `baseline`; see
            :func:`~skeval.properties.property_details`. ``display(property)`` draws one of them,
            :class:`~skeval.reporting.PropertyDisplay` all.

        Raises
        ------
        InvalidParameterError
            If there is no such property.
        """
        if property is not None:
            with details_of(self.source):
                return property_details(self, property)
        names = [str(name) for name in self.properties().index if name != "overall"]
        with details_of(self.source):
            frames = [property_details(self, name).assign(property=name) for name in names]
        columns = ["property", "table", "what", "metric", "score", "baseline"]
        return (
            pd.concat(frames, ignore_index=True)[columns]
            if frames
            else pd.DataFrame([], columns=columns)
        )

    def display(self, property: str | None = None) -> Display:
        """Return the display of all values, or of the columns behind a property."""
        from skeval.reporting import PropertyDisplay, ScoresDisplay

        return ScoresDisplay(self) if property is None else PropertyDisplay(self, property)

    def plot(self, ax: Any = None) -> Display:
        """Draw each value with its interval and baseline; return the display, with `ax_`."""
        with details_of(self.source):
            return self.display().plot(ax)

    def to_markdown(self, *, title: str = "Evaluation", level: int = 2) -> str:
        """Return a section of Markdown, as model cards have them.

        Parameters
        ----------
        title : str, default="Evaluation"
            Its heading.
        level : int, default=2
            Of the heading.

        Returns
        -------
        str
            What the results conclude, the table of scores with their findings, what was left out,
            how to read it, and the numbers of rows.

        Examples
        --------
        >>> from skeval import Result, SuiteResult
        >>> print(SuiteResult({"ks": Result(0.9, baseline=0.95)}).to_markdown().splitlines()[4])
        | ks | 0.900 |  | 0.950 |  |  |  |  |
        """
        from skeval.reporting.exports import markdown

        with details_of(self.source):
            return markdown(self, title=title, level=level)

    def to_metrics(self, *, prefix: str = "") -> dict[str, float]:
        """Return flat numbers for trackers of experiments, such as MLflow and Weights & Biases.

        Parameters
        ----------
        prefix : str, default=""
            Of all names, such as "synthetic/".

        Returns
        -------
        dict of str to float
            By the name of the result its value, by ``name.baseline``, ``.low``, ``.high``,
            ``.diff_low``, ``.diff_high`` and ``.p_value`` what there is of these; and
            ``verdict.alarm``, ``verdict.copies``, ``verdict.n_tests`` and ``verdict.n_facts``. All
            are finite, and names are of letters, digits and ``_.-/`` and blanks, which all trackers
            take.

        Examples
        --------
        >>> from skeval import Result, SuiteResult
        >>> metrics = SuiteResult({"ks": Result(0.9, baseline=0.95)}).to_metrics()
        >>> metrics["ks"], metrics["ks.baseline"], metrics["verdict.alarm"]
        (0.9, 0.95, 0.0)

        ``mlflow.log_metrics(result.to_metrics())``, ``wandb.log(result.to_metrics())``.
        """
        from skeval.reporting.exports import flat_metrics

        with details_of(self.source):
            return flat_metrics(self, prefix=prefix)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers.

        Seconds are left out: the same tables, parameters and date give the same.
        """
        return {
            "schema_version": SCHEMA_VERSION,
            "provenance": self.provenance.to_dict() if self.provenance else None,
            "results": {name: {**r.to_dict(), "seconds": None} for name, r in self.items()},
            "sizes": self.sizes,
            "notices": named_warnings(self.notices),
            "verdict": plain_json(self.verdict().to_dict()),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> SuiteResult:
        """Rebuild the results from what :meth:`to_dict` gave."""
        provenance = content["provenance"]
        return cls(
            {name: Result.from_dict(result) for name, result in content["results"].items()},
            sizes={str(role): int(n) for role, n in content["sizes"].items()},
            notices=rebuilt_warnings(content["notices"]),
            provenance=Provenance.from_dict(provenance) if provenance else None,
        )

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | Path) -> SuiteResult:
        """Read what :meth:`to_json` wrote; a report can be rendered from it.

        `path` is that of the file; the text itself, which begins with a brace, will do as well.
        Control characters in texts, which terminals obey, are replaced, and a name of a metric that
        spreadsheets take for a formula gets an apostrophe in front: the file may be another's.

        Raises
        ------
        InvalidParameterError
            If the file holds no such results, or those of another version of the schema.
        """
        is_text = isinstance(path, str) and path.lstrip().startswith("{")
        source = "The text" if is_text else path
        try:
            text = str(path) if is_text else foreign_text(path)
            content = without_controls(json.loads(text))
            version = content["schema_version"]
        except FOREIGN as error:
            if isinstance(error, InvalidParameterError):  # there is no such file, or no text
                raise
            raise InvalidParameterError(_no_scores(source)) from error
        if version != SCHEMA_VERSION:
            raise InvalidParameterError(
                f"{source} has scores in version {version!r} of their schema, and this skeval "
                f"reads version {SCHEMA_VERSION}. Take the skeval that wrote it, or evaluate again."
            )
        try:
            named = {no_formula(name): one for name, one in content["results"].items()}
            read = cls.from_dict({**content, "results": named})
            read.source = source
            return read
        except FOREIGN as error:
            raise InvalidParameterError(_no_scores(source)) from error

    def to_pdf(self, path: str | Path, **settings: Any) -> Path:
        """Write a PDF report; `settings` as :class:`skeval.reporting.PDFRenderer` takes them."""
        from skeval.reporting import PDFRenderer

        with details_of(self.source):
            return PDFRenderer(**settings).render(self, path)

    def to_html(self, path: str | Path, **settings: Any) -> Path:
        """Write one HTML page; `settings` as :class:`skeval.reporting.HTMLRenderer` takes them."""
        from skeval.reporting import HTMLRenderer

        with details_of(self.source):
            return HTMLRenderer(**settings).render(self, path)


def undefined(
    reason: str, kind: type[MetricWarning] = DegenerateInputWarning, **details: Any
) -> Result:
    """Return the result of a measure that is not defined here: nan, and a warning that says why."""
    return Result(float("nan"), details=details, warnings=(kind(reason),))


def mean_of_columns(
    scores: Mapping[str, float],
    *,
    n_total: int,
    greater_is_better: bool = True,
    warnings: tuple[MetricWarning, ...] = (),
    **details: Any,
) -> Result:
    """Return the mean over the columns that have a score, and the worst column.

    Parameters
    ----------
    scores : mapping of str to float
        By column; nan where it is not defined.
    n_total : int
        Number of columns of the table, measured or not.
    greater_is_better : bool, default=True
        Which column is the worst.
    warnings : tuple of MetricWarning
        Go into the result.
    **details
        Go into the result's details.

    Returns
    -------
    Result
        nan if no column has a score.
    """
    defined = {name: score for name, score in scores.items() if not np.isnan(score)}
    if not defined:
        # without any column of its kind there is nothing wrong with the table
        kind = DegenerateInputWarning if scores else NothingToMeasureWarning
        reason = kind("no column of this table can be measured.")
        details = {"columns": dict(scores), **details}
        return Result(float("nan"), details=details, warnings=(*warnings, reason))
    # of equal ones the first by name: the order of columns means nothing
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
