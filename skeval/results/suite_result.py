"""The results of a suite: all of them together, what they conclude, and what is made of them."""

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
    Result : The result of one metric.
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
        # only in the process that evaluated
        self.look_up: Callable[[int], pd.DataFrame] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"look_up": None}

    def __getitem__(self, name: str) -> Result:
        if name not in self._results:
            raise KeyError(
                f"There is no result {name!r}.{did_you_mean([str(name)], self._results)}"
            )
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

        If there are several tables, `table` is the one that was measured; empty if all were.
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
        """Return what these results may conclude about privacy.

        Parameters
        ----------
        level : float, default=0.05
            Chance of any alarm, at most, where nothing leaks: Holm's procedure over all tests, with
            their weights.
        accept_untested : sequence of str, default=()
            Columns that no test needs to examine: they do not make the verdict inconclusive.

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
            found = verdict(self, self.sizes, self.notices, level, accept_untested=accept_untested)
        return replace(found, results=self)

    def summary(self) -> str:
        """Return the headline of the report and the sentences below it.

        Returns
        -------
        str
            What the command line prints: what was found, how strong it is, and where. It never
            says that data are private or safe.

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
        """Return the train rows that the strongest attacks point to, most exposed first.

        Who makes a generator can leave these rows out, pool them, or look at what they have in
        common, and fit again. Nothing of this is in the results themselves, in files or in reports:
        the rows are scored now, in the process that evaluated the suite, and positions are of no
        use to anybody else. Whoever holds the frame knows who is at risk.

        Parameters
        ----------
        n : int, default=100
            How many rows at most.

        Returns
        -------
        DataFrame
            `position` of the row in train as it was given, from 0; the `attack` of
            :class:`~skeval.privacy.MembershipInference` that is surest of it; by what `margin` it
            ranks above the highest holdout row, in standard deviations of the holdout's scores
            (above 0 where no stranger ranks as high); whether the release has it word for word in
            all measured columns (`copied`); `p_value`, the share of strangers that rank as high
            in any attack; and `expected_false`, how many rows as conspicuous would be expected if
            none had leaked.

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
                "which rows are at risk is known only to the process that evaluated the suite, and "
                "stands in no file. Evaluate again."
            )
        if not isinstance(n, int) or isinstance(n, bool) or n < 1:
            raise InvalidParameterError(f"n must be a whole number of at least 1, got {n!r}.")
        return self.look_up(n)

    def compare(self, other: SuiteResult) -> pd.DataFrame:
        """Set the values of two evaluations side by side; :func:`skeval.compare` takes any number.

        Parameters
        ----------
        other : SuiteResult
            The results of the same suite on another synthetic table.

        Returns
        -------
        DataFrame
            By metric: `value`, `other`, `difference` (other minus this), and `better`: which of the
            two is better by the metric's direction, "this", "other" or "" where they are equal, the
            metric has no direction or a value is missing, as that of a metric which one of the two
            has not. It compares values only, not intervals.
        """
        if not isinstance(other, SuiteResult):
            raise InvalidParameterError(
                f"compare needs another SuiteResult, got {type(other).__name__}. It is what "
                "MetricSuite.evaluate returns, and SuiteResult.from_json reads."
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
        """Return the mean score of each property, the part of names before a slash, and overall.

        Presets "quality" and "diagnostic" have properties; the overall mean lets one of them buy
        back another.

        Returns
        -------
        DataFrame
            By property: `score`, `baseline` and `n_used`, the number of columns or pairs; see
            :func:`~skeval.results.properties.property_scores`.
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
            :func:`~skeval.results.properties.property_details`. ``display(property)`` draws one
            of them, ``PropertyDisplay`` all.

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
        return rendering().display(self, property)

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
            The level of the heading.

        Returns
        -------
        str
            The headline of the report, a table of all numbers, what was not evaluated, and the
            numbers of rows.

        Examples
        --------
        >>> from skeval import Result, SuiteResult
        >>> "| ks | 0.90 |" in SuiteResult({"ks": Result(0.9, baseline=0.95)}).to_markdown()
        True
        """
        with details_of(self.source):
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
        with details_of(self.source):
            return tracked_metrics(self, self.verdict(), prefix)

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
            notices=rebuild_warnings(content["notices"]),
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
        return read_json_of_results(path, cls._rebuild, what=_SCORES)

    @classmethod
    def _rebuild(cls, content: dict[str, Any]) -> SuiteResult:
        named = {no_formula(name): one for name, one in content["results"].items()}
        return cls.from_dict({**content, "results": named})

    @classmethod
    def from_pdf(cls, path: str | Path) -> SuiteResult:
        """Read the results that a PDF report contains.

        A PDF report has the results attached, so that the report can be written again, compared
        or tested without any other file.

        Parameters
        ----------
        path : str or Path
            A report of one synthetic table that skeval wrote as a PDF. The file may be another's,
            as the file of :meth:`from_json`.

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
        The hash is in the report itself. It finds an accident, and it does not find a person who
        changed both. ``skeval verify report.pdf`` also writes the report again and compares the
        bytes.

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
        """Write a PDF report; `settings` as :class:`skeval.reporting.PDFRenderer` takes them."""
        with details_of(self.source):
            return rendering().write(self, path, "pdf", **settings)

    def to_html(self, path: str | Path, **settings: Any) -> Path:
        """Write one HTML page; `settings` as :class:`skeval.reporting.HTMLRenderer` takes them."""
        with details_of(self.source):
            return rendering().write(self, path, "html", **settings)
