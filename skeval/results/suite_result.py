"""Results of a suite, and the conclusions from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning, NotRememberedError
from skeval.results.properties import property_details, property_scores
from skeval.results.provenance import Provenance
from skeval.results.rendering import Display, read_attached_results, rendering, wording
from skeval.results.result import Result
from skeval.results.serialization import (
    SCHEMA_VERSION,
    details_of,
    named_warnings,
    plain_json,
    read_json_of_results,
    rebuild_warnings,
    write_json,
)
from skeval.results.tracked_metrics import tracked_metrics
from skeval.results.verdict import ALARM_LEVEL, Verdict, adjusted_p_values, is_shifted, verdict
from skeval.utils.formatting import did_you_mean
from skeval.utils.spreadsheets import no_formula

_SCORES = "scores that SuiteResult.to_json wrote"


class SuiteResult(Mapping[str, Result]):
    """Results of a suite by the names of its metrics.

    Parameters
    ----------
    results : mapping of str to Result
        Results by name in the suite.
    sizes : mapping of str to int
        Number of rows of the training, holdout and synthetic data, with the keys "train", "holdout"
        and "synthetic".
    notices : tuple of MetricWarning
        Warnings about the tables themselves.
    provenance : Provenance, optional
        Version, parameters, seeds, inputs and column types, if a suite computed the results.

    See Also
    --------
    Result : The result of one metric.
    Verdict : Privacy verdict of a suite.

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
        self.source: object = None  # file from which the results were read
        # available only in the process that evaluated
        self.look_up: Callable[[int], pd.DataFrame] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"look_up": None}

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(f"unknown result {name!r}.{did_you_mean([str(name)], self._results)}")
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        with details_of(self.source):
            return wording().table(self)

    def _repr_html_(self) -> str:
        return rendering().html(self)

    def frame(self, *, findings: bool = False) -> pd.DataFrame:
        """Return a table with one row per metric: value, interval, baseline, direction and more.

        Parameters
        ----------
        findings : bool, default=False
            Whether to add a column `finding` with the sentences of the report.

        Returns
        -------
        DataFrame

        Notes
        -----
        `low` and `high` are the limits of the interval of the value. `diff_low` and `diff_high` are
        the limits of the 95% interval of value minus baseline.

        `observed` and `expected` are the two numbers that a privacy test compared: the number for
        the training data, and the number that is expected without a leak. They differ from `value`
        and `baseline`, which belong to the published score. The score can be better than its
        baseline although the test finds a leak, because the score compares synthetic data with
        holdout data, whereas the test compares training data with holdout data.

        `p_adjusted` is the p-value of a privacy test after Holm's procedure over all privacy tests.
        If there is no leak, the probability of any value below 0.05 is at most 5%.

        If there are several tables, `table` is the evaluated table. It is empty if all tables were
        evaluated together.
        """
        table = next((result.table for result in self.values() if result.table), "")
        rows = [
            {**result.row(), "metric": name, "table": result.table} for name, result in self.items()
        ]
        frame = pd.DataFrame(rows, columns=list(Result(np.nan, table=table).row()))
        adjusted = frame["metric"].map(adjusted_p_values(self)).astype(float)
        frame.insert(frame.columns.get_loc("p_value") + 1, "p_adjusted", adjusted)
        if findings:
            alarms, shifted = self.verdict().alarms, is_shifted(self.notices)
            finding = wording().finding
            frame["finding"] = [finding(one, n in alarms, shifted) for n, one in self.items()]
        return frame

    def verdict(
        self, level: float = ALARM_LEVEL, *, accept_untested: Sequence[str] = ()
    ) -> Verdict:
        """Return the privacy verdict of these results.

        Parameters
        ----------
        level : float, default=0.05
            Maximum probability of any false alarm. Holm's procedure with weights controls it over
            all tests.
        accept_untested : sequence of str, default=()
            Columns that may remain untested. They do not make the verdict inconclusive.

        Returns
        -------
        Verdict
            Verdict with the significant tests, facts such as copies, skipped metrics, and a
            description in words.

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
            found = verdict(self, self.sizes, self.notices, level, accept_untested=accept_untested)
        return replace(found, results=self)

    def summary(self) -> str:
        """Return the headline of the report and the sentences below it.

        Returns
        -------
        str
            The text that the command line prints: the findings, their severity and their location.
            It never states that data are private or safe.

        Examples
        --------
        >>> from skeval import make_suite
        >>> from skeval.datasets import make_mixed
        >>> train, holdout, fresh = (make_mixed(200, random_state=seed) for seed in range(3))
        >>> suite = make_suite("screens").fit(train, holdout)
        >>> print(suite.evaluate(train).summary().split(".")[0])
        A severe leak was found
        """
        with details_of(self.source):
            return wording().summary(self)

    def at_risk(self, n: int = 100) -> pd.DataFrame:
        """Return the training rows that the strongest attacks identify, most exposed first.

        To fix a leak, remove or group these rows, or examine what they have in common, and fit the
        generator again. Results, files and reports do not contain this information. The rows are
        scored when the method is called, in the process that evaluated the suite. The positions are
        useful only for someone who has the training data. The frame reveals who is at risk, so keep
        it confidential.

        Parameters
        ----------
        n : int, default=100
            Maximum number of rows.

        Returns
        -------
        DataFrame
            `position` is the position of the row in the training data, starting at 0. `attack` is
            the attack of :class:`~skeval.privacy.MembershipInference` that identifies the row with
            the highest confidence. `margin` is the difference of its score from the highest score
            of a holdout row, in standard deviations of the holdout scores (positive if no holdout
            row ranks as high). `copied` indicates whether the synthetic data contain the row in all
            measured columns. `p_value` is the fraction of holdout rows that rank as high in any
            attack. `expected_false` is the number of equally exposed rows that is expected without
            a leak.

        Raises
        ------
        NotRememberedError
            If the fitted suite or the synthetic table is no longer in memory, or the results were
            read from a file.
        MissingInputError
            Without a holdout.
        TableError
            If there are several tables, or too few rows.

        Examples
        --------
        >>> import pandas as pd
        >>> from skeval import make_suite
        >>> from skeval.datasets import make_mixed
        >>> train, holdout, fresh = (make_mixed(300, random_state=seed) for seed in range(3))
        >>> release = pd.concat([fresh[:280], train[40:60]], ignore_index=True)
        >>> suite = make_suite("screens").fit(train, holdout)
        >>> found = suite.evaluate(release).at_risk(20)
        >>> bool(found["position"].between(40, 59).mean() > 0.7)
        True
        """
        if self.look_up is None:
            raise NotRememberedError(
                "rows at risk are available only in the process that evaluated the suite, and not "
                "from a file. Evaluate again."
            )
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise InvalidParameterError(f"n must be an integer of at least 1, got {n!r}.")
        return self.look_up(n)

    def compare(self, other: SuiteResult) -> pd.DataFrame:
        """Compare the values of two results. :func:`skeval.compare` accepts any number of results.

        Parameters
        ----------
        other : SuiteResult
            Results of the same suite for another synthetic table.

        Returns
        -------
        DataFrame
            Indexed by metric, with `value`, `other`, `difference` (other minus this) and `better`.
            `better` is "this" or "other" by the direction of the metric, or "" if the values are
            equal, the metric has no direction, or a value is missing. Intervals are not compared.
        """
        if not isinstance(other, SuiteResult):
            raise InvalidParameterError(
                f"compare needs another SuiteResult, got {type(other).__name__}. Pass the result "
                "of MetricSuite.evaluate or of SuiteResult.from_json."
            )
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
        """Return the mean score of each property, and an overall score.

        The property of a metric is the part of its name before a slash. The presets "quality" and
        "diagnostic" have properties. In the overall mean, one property can compensate for another.

        Returns
        -------
        DataFrame
            Indexed by property, with `score`, `baseline` and `n_used` (the number of columns or
            pairs). See :func:`~skeval.results.properties.property_scores`.
        """
        with details_of(self.source):
            return property_scores(self)

    def details(self, property: str | None = None) -> pd.DataFrame:
        """Return the scores of a property, with one row per column or pair.

        Parameters
        ----------
        property : str, optional
            Property such as "column_shapes" of the preset "quality". By default all properties, in
            the column `property`.

        Returns
        -------
        DataFrame
            Columns `table`, `what`, `metric`, `score` and `baseline`, as in
            :func:`~skeval.results.properties.property_details`. ``display(property)`` plots one
            property, and ``PropertyDisplay`` plots all of them.

        Raises
        ------
        InvalidParameterError
            If the property does not exist.
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
        """Return the display of all values, or of the columns of a property."""
        return rendering().display(self, property)

    def plot(self, ax: Any = None) -> Display:
        """Plot each value with its interval and baseline, and return the display with `ax_`."""
        with details_of(self.source):
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
            The headline of the report, a table of all numbers, the skipped metrics, and the numbers
            of rows.

        Examples
        --------
        >>> from skeval import Result, SuiteResult
        >>> "| ks | 0.90 |" in SuiteResult({"ks": Result(0.9, baseline=0.95)}).to_markdown()
        True
        """
        with details_of(self.source):
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
            The value by the name of the result, other available numbers by ``name.baseline``,
            ``.low``, ``.high``, ``.diff_low``, ``.diff_high`` and ``.p_value``, and
            ``verdict.alarm``, ``verdict.copies``, ``verdict.n_tests`` and ``verdict.n_facts``. All
            numbers are finite. Names contain only letters, digits, blanks and ``_.-/``, which all
            trackers accept.

        Examples
        --------
        >>> from skeval import Result, SuiteResult
        >>> metrics = SuiteResult({"ks": Result(0.9, baseline=0.95)}).to_metrics()
        >>> metrics["ks"], metrics["ks.baseline"], metrics["verdict.alarm"]
        (0.9, 0.95, 0.0)

        For example, ``mlflow.log_metrics(result.to_metrics())`` or
        ``wandb.log(result.to_metrics())``.
        """
        with details_of(self.source):
            return tracked_metrics(self, self.verdict(), prefix)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain lists, dicts, strings and numbers.

        Wall times are omitted, so that the same tables, parameters and date give the same content.
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
        """Create results from the output of :meth:`to_dict`."""
        provenance = content["provenance"]
        return cls(
            {name: Result.from_dict(result) for name, result in content["results"].items()},
            sizes={str(role): int(n) for role, n in content["sizes"].items()},
            notices=rebuild_warnings(content["notices"]),
            provenance=Provenance.from_dict(provenance) if provenance else None,
        )

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | Path) -> SuiteResult:
        """Read a file that :meth:`to_json` wrote. It suffices to render a report.

        `path` is the path of the file, or the JSON text itself, which begins with a brace. The file
        may come from someone else. Therefore control characters in texts are replaced, and a metric
        name that a spreadsheet would evaluate as a formula gets an apostrophe in front.

        Raises
        ------
        InvalidParameterError
            If the file contains no results, or has another version of the format.
        """
        return read_json_of_results(path, cls._rebuild, what=_SCORES)

    @classmethod
    def _rebuild(cls, content: dict[str, Any]) -> SuiteResult:
        named = {no_formula(name): one for name, one in content["results"].items()}
        return cls.from_dict({**content, "results": named})

    @classmethod
    def from_pdf(cls, path: str | Path) -> SuiteResult:
        """Read the results that a PDF report contains.

        The results are attached to a PDF report, so that the report can be written again, compared
        or tested without other files.

        Parameters
        ----------
        path : str or Path
            PDF report of one synthetic table that skeval wrote. As for :meth:`from_json`, the file
            may come from someone else.

        Returns
        -------
        SuiteResult
            The same as :meth:`from_json` reads from the JSON of these results.

        Raises
        ------
        InvalidParameterError
            If the file is not such a report, or if the hash of its results is not the hash that
            the report states, because one of the two was changed.

        See Also
        --------
        to_pdf : Write the report.

        Notes
        -----
        The hash is part of the report itself. It detects accidental changes, but not an attacker
        who changed both the hash and the results. ``skeval verify report.pdf`` additionally writes
        the report again and compares the bytes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from skeval import Result, SuiteResult
        >>> results = SuiteResult({"a": Result(0.5)})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = results.to_pdf(pathlib.Path(folder) / "report.pdf")
        ...     SuiteResult.from_pdf(path)["a"].value
        0.5
        """
        text = read_attached_results(path)
        return read_json_of_results(text, cls._rebuild, what=_SCORES, source=path)

    def to_pdf(self, path: str | Path, **settings: Any) -> Path:
        """Write a PDF report. See :class:`skeval.reporting.PDFRenderer` for `settings`."""
        with details_of(self.source):
            return rendering().write(self, path, "pdf", **settings)

    def to_html(self, path: str | Path, **settings: Any) -> Path:
        """Write an HTML page. See :class:`skeval.reporting.HTMLRenderer` for `settings`."""
        with details_of(self.source):
            return rendering().write(self, path, "html", **settings)
