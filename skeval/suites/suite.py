"""Several metrics over the same tables, and ready suites by name.

The metrics of a suite: cloned into one space, and drawn side by side.

What an exception says, without what may be a cell of the real tables.
"""

from __future__ import annotations

import difflib
import inspect
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast, get_args, overload

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import Bunch, estimator_html_repr
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from skeval.core.base import Metric
from skeval.core.context import Context, read_context
from skeval.core.tags import Need
from skeval.exceptions import (
    InvalidParameterError,
    MetricFailedWarning,
    MissingInputError,
    Sentence,
    SkevalError,
)
from skeval.results.comparison import Comparison, comparison_of
from skeval.results.provenance import Date, describe, stamp
from skeval.results.rendering import rendering
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult, property_warnings
from skeval.steps.relabelled import shift_notices
from skeval.steps.samples import check_measured, table_notices
from skeval.steps.texts import unread_texts
from skeval.tables.schema import TableSchema
from skeval.tables.transformers import with_fitted
from skeval.utils.engines import carried
from skeval.utils.execution import Cores, Progress, sharing, using, waiting, within_limits
from skeval.utils.formatting import printable
from skeval.utils.parameters import (
    Count,
    JobCount,
    Legal,
    NonNegative,
    Space,
    check_parameters,
    legal_sets,
)

if TYPE_CHECKING:
    from skeval.results.release import Release, Stated
    from skeval.tables.relational_schema import RelationalSchema


HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
_FEWEST = 10  # rows that have a number, if it is shown
_LONGEST = 300  # characters of a message
_READ = 5000
_RUN = 3  # words in a row that give a text away
_MOST_WORDS = 30  # of a cell that is looked for whole
_PYTHON, _SHELL = "on_error='raise'", "--debug"  # that show where an error was raised
_QUOTED = re.compile(r"(?<!\w)[bfru]{0,2}(['\"`])(?:(.*?)\1(?!\w)|.*$)")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d(?:[\w.:/+-]|,(?=\d))*")
_SHORT = re.compile(r"[+-]?\d{1,4}|\d{1,2}-?[A-Za-z]+")  # counts, and "2D"
_MIXED = re.compile(r"\b[A-Za-z_]\w*\d\w*")
_NAME = re.compile(r"[A-Za-z_]+\d{0,2}")  # "float64"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class RealCells:
    """What the real tables hold, as messages may quote it.

    Attributes
    ----------
    names : set of str
        The names of columns and tables, which are no secret.
    numbers : set of float
        That fewer than ten rows of a column have.
    whole : set of str
        Cells of words, in lower case.
    texts : str
        All these, one after the other.
    words : set of str
        Their words.
    """

    names: set[str]
    numbers: set[float]
    whole: set[str]
    texts: str
    words: set[str]


def told(error: Exception, context: Context) -> Sentence:
    """Return the class of an exception and what it says, without what may be a real cell.

    Messages of skeval quote no cell. In those of others, text in quotes is hidden, but for
    names of columns and words that no cell has; and so are cells that fewer than ten rows have,
    three words of such a cell in a row, and numbers with a fraction or of more than four digits.
    For tables larger than memory, only the class is reported.

    Parameters
    ----------
    error : Exception
        An exception of anyone's code.
    context : Context
        The tables that it was raised over.

    Returns
    -------
    Sentence
    """
    kind, text = type(error).__name__, " ".join(str(error).split())
    if isinstance(error, SkevalError):
        return error.sentence.after(f"{kind}: ")
    frames = dict(_real_frames(context))
    in_memory = [isinstance(frame, pd.DataFrame) for frame in frames.values()]
    if not text or not frames or not all(in_memory):
        return Sentence(*(f"{kind}: {option} shows where" for option in (_PYTHON, _SHELL)))
    shown = masked(text[:_READ], _cells(frames))
    cut = shown if len(shown) <= _LONGEST else shown[:_LONGEST].rsplit(" ", 1)[0] + HIDDEN
    said = f"{kind}: {printable(cut)}"
    more = (f"{said} ({option} shows all)" for option in (_PYTHON, _SHELL))
    return Sentence(said) if cut == text else Sentence(*more)


def masked(text: str, cells: RealCells) -> str:
    """Return a message with what may be a cell hidden.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.suites.suite import _cells, masked
    >>> cells = _cells({"train": pd.DataFrame({"name": ["Ann Lee"], "age": [7]})})
    >>> masked("column 'name': bad value 'Ann', 3 features, 7 or 1.25 years, ask ann lee", cells)
    "column 'name': bad value '…', 3 features, … or … years, ask …"
    """
    text = _QUOTED.sub(lambda found: _quoted(found, cells), text)
    text = _without_cells(text, cells)
    text = _NUMBER.sub(lambda found: _number(found[0], cells), text)
    return _MIXED.sub(lambda found: found[0] if _NAME.fullmatch(found[0]) else HIDDEN, text)


def _quoted(found: re.Match[str], cells: RealCells) -> str:
    mark, inner = found[1], found[2]
    if inner in cells.names:
        return f"{mark}{inner}{mark}"
    parts = inner.split(".") if inner else [""]
    is_name = all(_NAME.fullmatch(part) and part.casefold() not in cells.words for part in parts)
    return f"{mark}{inner if is_name else HIDDEN}{mark}"


def _number(text: str, cells: RealCells) -> str:
    bare = text.rstrip(".:,/+-")
    if not _SHORT.fullmatch(bare):
        return HIDDEN + text[len(bare) :]
    is_cell = bare.lstrip("+-").isdigit() and float(bare) in cells.numbers
    return HIDDEN + text[len(bare) :] if is_cell else text


def _without_cells(text: str, cells: RealCells) -> str:
    """Hide runs of words that are a cell, or three words of one."""
    places = [found.span() for found in _WORD.finditer(text)]
    hidden: list[tuple[int, int]] = []
    for i, (start, _) in enumerate(places):
        for n, (_, end) in enumerate(places[i : i + _MOST_WORDS], start=1):
            run = _plain(text[start:end])
            if run in cells.whole or (n == _RUN and f" {run} " in cells.texts):
                hidden.append((start, end))
    for start, end in _joined(hidden)[::-1]:
        text = text[:start] + HIDDEN + text[end:]
    return text


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans with those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _real_frames(context: Context) -> Iterator[tuple[str, Any]]:
    """Yield the real tables as they were given, by role and name."""
    for role in ("train", "holdout"):
        if role in context:
            given = context.given(role)
            for name, frame in given.items() if isinstance(given, Mapping) else [("", given)]:
                yield f"{role} {name}", frame


def _cells(frames: Mapping[str, pd.DataFrame]) -> RealCells:
    numbers: set[float] = set()
    whole: set[str] = set()
    for frame in frames.values():
        for column in (frame[name] for name in frame):
            if pd.api.types.is_bool_dtype(column):
                continue
            is_number = pd.api.types.is_numeric_dtype(column)
            counts = (column if is_number else column.dropna().map(str)).value_counts()
            rare = counts.index[(counts < _FEWEST).to_numpy()]
            if is_number:
                numbers.update(rare.to_numpy(dtype=float, na_value=np.nan))
            else:
                whole.update(_plain(cell) for cell in rare)
    names = {name.partition(" ")[2] for name in frames}
    names |= {str(column) for frame in frames.values() for column in frame}
    texts = "\n".join(f" {cell} " for cell in whole)
    return RealCells(names - {""}, numbers, whole - {""}, texts, set(texts.split()))


def in_space(metric: Metric, space: Any) -> Metric:
    """Return a clone of a metric that measures in a space, as do the metrics that it holds.

    None leaves each metric its own; a metric that knows no space stays as it is.

    Examples
    --------
    >>> from skeval.suites.suite import in_space
    >>> from skeval.privacy import DCRShare
    >>> in_space(DCRShare(), "euclidean").space
    'euclidean'
    """
    own: Metric = clone(metric)
    if space is None:
        return own
    _put(own, space)
    return own


def _put(metric: Metric, space: Any) -> None:
    parameters = metric.get_params(deep=False)
    if "space" in parameters:
        is_default = isinstance(space, str) and space == "gower"
        metric.set_params(space=space, **({} if is_default else metric.in_other_spaces))
    for held in parameters.values():
        if isinstance(held, Metric):
            _put(held, space)


class BlockOfMetrics:
    """Metrics side by side, as scikit-learn's diagram reads them: its own class is private."""

    kind = "parallel"
    name_caption = None
    doc_link_label = None
    dash_wrapped = True

    def __init__(self, metrics: list[tuple[str, Metric]]) -> None:
        self.names = [name for name, _ in metrics]
        self.estimators = [metric for _, metric in metrics]
        self.name_details = [str(metric) for metric in self.estimators]

    def _sk_visual_block_(self) -> BlockOfMetrics:
        return self


Needs = Annotated[
    tuple[Need, ...],
    Legal(
        f"a tuple of {', '.join(get_args(Need))}",
        lambda value: isinstance(value, tuple | list) and set(value) <= set(get_args(Need)),
        "no need",
    ),
]


class MetricSuite(_BaseComposition):
    """Metrics that are fitted on the same real tables and evaluated on the same synthetic one.

    The suite fits clones, never the metrics that it was given. Whatever steps they share, such as
    the neighbour searches, is computed once, and each metric has the value that it has alone.

    Parameters
    ----------
    metrics : list of (str, Metric)
        Names and metrics. Names are unique and hold no double underscore.
    n_jobs : int, optional
        Number of threads, as in joblib: None is one unless a :class:`joblib.parallel_config` says
        otherwise, -1 all cores. So many metrics run at a time, and a core that is idle, as where
        others wait for a search of neighbours or one metric is left, helps in the search that
        runs. The values are the same to the last bit.
    on_error : {"warn", "raise"}, default="warn"
        Whether a metric that raises is reported as failed in its row, with a warning and what the
        exception says, cells of the real tables hidden, or ends the evaluation.
    check_holdout : bool, default=True
        Whether fit checks, once for all metrics, if train and holdout can be distinguished. It does
        so if a metric contrasts the two. If they differ, such contrasts are void and
        :class:`~skeval.exceptions.HoldoutShiftWarning` is given. It costs a fraction of a second a
        fit: turn it off where many suites are fitted on the same tables, as in a search over
        generators.
    timeout : float, optional
        Seconds that each metric may take; one that takes longer is stopped, and listed as failed.
        A call of compiled code runs on to its end, unheard. There is no limit by default.
    max_memory : int, optional
        Bytes by which the process may grow while a metric runs, with `n_jobs` that of all that run
        at a time; a metric that takes more is stopped, and listed as failed.
    max_rows : int, optional
        Rows of each role, drawn once, on which metrics are measured that cannot be counted up over
        tables larger than memory; 50,000 by default. Tables in memory are measured whole.
    schema : TableSchema, RelationalSchema or mapping, optional
        The schema that fit goes by where it is given none.
    space : "gower", "euclidean" or transformer, optional
        The space of all metrics that have a parameter `space`, in place of their own. A transformer
        learns from train and holdout together; one that is fitted is used as it is. Areas of
        accumulated distances have ``scale="observed"`` in spaces other than "gower".

    Attributes
    ----------
    metrics_ : dict of str to Metric
        The fitted clones.
    skipped_ : dict of str to str
        Metrics that were left out, and why, the optional ones included.
    context_ : Context
        The real tables.

    See Also
    --------
    make_suite : Ready suites.
    SuiteResult : What a suite returns.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement, TVComplement
    >>> suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    >>> result = suite.fit(make_mixed(random_state=0)).evaluate(make_mixed(random_state=1))
    >>> sorted(result)
    ['ks', 'tv']
    """

    __metadata_request__fit = {"holdout": UNUSED, "schema": UNUSED}
    __metadata_request__evaluate = {"progress": UNUSED, "date": UNUSED, "release": UNUSED}

    def __init__(
        self,
        metrics: list[tuple[str, Metric]],
        *,
        n_jobs: JobCount | None = None,
        on_error: Literal["warn", "raise"] = "warn",
        check_holdout: bool = True,
        timeout: NonNegative | None = None,
        max_memory: Count | None = None,
        max_rows: Count | None = None,
        space: Space | None = None,
        optional: Needs = (),
        schema: Any = None,
    ) -> None:
        self.metrics = metrics
        self.n_jobs = n_jobs
        self.on_error = on_error
        self.check_holdout = check_holdout
        self.timeout = timeout
        self.max_memory = max_memory
        self.max_rows = max_rows
        self.space = space
        self.optional = optional
        self.schema = schema

    def __sklearn_clone__(self) -> Self:
        return with_fitted(super().__sklearn_clone__(), self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the metrics as `name__parameter`."""
        params: dict[str, Any] = self._get_params("metrics", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the metrics as `name__parameter`, or whole metrics by name.

        Raises
        ------
        InvalidParameterError
            If there is no such parameter, or what is to replace a metric is none.
        """
        known = set() if "metrics" in params else set(self.get_params())
        names = [name for name, _ in self.metrics]
        for name, value in params.items() if known else ():
            whole = name.partition("__")[0]
            if name not in known and (whole == name or whole not in params):
                near = difflib.get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise InvalidParameterError(f"MetricSuite has no parameter {name}.{meant}")
            if name in names and not isinstance(value, Metric):
                raise InvalidParameterError(
                    f"MetricSuite: {name} must be a Metric, got {value!r}. To do without it, take "
                    "the others: MetricSuite([...])."
                )
        self._set_params("metrics", **params)
        return self

    @overload
    def __getitem__(self, name: str | int) -> Metric: ...

    @overload
    def __getitem__(self, name: slice) -> Self: ...

    def __getitem__(self, name: str | int | slice) -> Metric | Self:
        """Return a metric by name or place, the fitted one where there is; of a slice a suite."""
        if isinstance(name, slice):
            own = {**self.get_params(deep=False), "metrics": self.metrics[name]}
            return type(self)(**own)
        if not isinstance(name, str):
            name = self.metrics[name][0]
        fitted: dict[str, Metric] = getattr(self, "metrics_", {})
        return fitted[name] if name in fitted else dict(self.metrics)[name]

    @property
    def named_metrics(self) -> Bunch:
        """The metrics by name, also as attributes: ``suite.named_metrics.tstr``."""
        return Bunch(**{name: self[name] for name, _ in self.metrics})

    def __len__(self) -> int:
        return len(self.metrics)

    def fit(
        self,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | RelationalSchema | Mapping[str, Any] | None = None,
    ) -> Self:
        """Fit a clone of each metric on the real tables; see :meth:`Metric.fit`.

        A metric that needs what is not given is left out, and so is one whose package or model is
        not installed: its row says how to get it. Names of columns that train does not have
        are an error: one for those of all metrics.
        """
        self._check()
        schema = self.schema if schema is None else schema
        context = read_context(train, holdout, schema=schema, max_rows=self.max_rows)
        if not context.is_relational:
            check_measured(context.schema, self._named_columns(), type(self).__name__)
        fitted: dict[str, Metric] = {}
        skipped: dict[str, str] = {}
        left_out: dict[str, Result] = {}
        with sharing(self.n_jobs):
            for name, metric in self.metrics:
                try:
                    fitted[name] = in_space(metric, self.space).fit_context(context)
                except (MissingInputError, ImportError) as unmet:  # of a metric's own needs
                    reason = _lack(unmet)
                    skipped[name] = reason
                    if not self._is_optional(metric, context):
                        left_out[name] = _left_out(metric, reason)
            if self.check_holdout and any(_contrasts(metric) for metric in fitted.values()):
                context.notices += shift_notices(context)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        # it is in results and reports: nothing is wrong that a warning at fit could cure
        kinds = [metric for metric in fitted.values() if "text" not in metric.tags.needs]
        context.notices += table_notices(context)
        context.notices += unread_texts(context, [getattr(one, "space", None) for one in kinds])
        self._names = [name for name, _ in self.metrics if name in fitted or name in left_out]
        self._left_out = left_out
        self.skipped_ = skipped
        self.metrics_, self.context_ = fitted, context
        return self

    def evaluate(
        self,
        synthetic: Any,
        *,
        progress: Progress | None = None,
        date: Date = None,
        release: Stated = None,
    ) -> SuiteResult:
        """Measure a synthetic table by every metric.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            With the columns of train.
        progress : callable, optional
            Called as ``progress(name, n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            The date of the evaluation, for its provenance; by default now, or
            ``SOURCE_DATE_EPOCH``.
        release : Release, mapping or path to a TOML file, optional
            What is to be released, to whom and by which thresholds, for its provenance.

        Returns
        -------
        SuiteResult
            In the order of the suite; metrics that were left out or failed say why in `error`.

        Raises
        ------
        InvalidParameterError
            If the release cannot be read, or has a threshold on what the suite does not measure.
        """
        from skeval.results.release import stated_release

        check_is_fitted(self, "context_")
        stamp(date)  # an illegal one is found before the work
        stated = stated_release(release, self.metrics)
        return self._evaluated(self._with(synthetic), progress, date, stated)

    def compare(
        self,
        tables: Mapping[str, Any],
        *,
        progress: Progress | None = None,
        date: Date = None,
        release: Stated = None,
    ) -> Comparison:
        """Measure several synthetic tables, and how far they are apart.

        Parameters
        ----------
        tables : mapping of str to table
            Synthetic tables, two or more, by the names that they shall have.
        progress : callable, optional
            Called as ``progress("table: metric", n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            The date of the evaluation, for its provenance.
        release : Release, mapping or path to a TOML file, optional
            As of :meth:`evaluate`, for that of each table.

        Returns
        -------
        Comparison
            The results by table, the intervals of their differences, and which table is ahead.

        Raises
        ------
        InvalidParameterError
            If there are fewer than two tables, or the release is refused.
        """
        from skeval.results.release import stated_release

        check_is_fitted(self, "context_")
        stamp(date)
        stated = stated_release(release, self.metrics)
        contexts = {str(name): self._with(table) for name, table in tables.items()}
        n_rows = min((c.n_rows("synthetic") for c in contexts.values()), default=0)
        n_metrics, results, variations = len(self.metrics_), {}, {}
        for i, (table, context) in enumerate(contexts.items()):

            def tick(name: str, n_done: int, n_total: int, i: int = i, table: str = table) -> None:
                if progress is not None:
                    done = i * n_metrics + n_done
                    progress(f"{table}: {name}", done, len(contexts) * n_metrics)

            results[table] = self._evaluated(context, tick, date, stated)
            variations[table] = {
                name: variation
                for name, metric in self.metrics_.items()
                if np.isfinite(results[table][name].value)
                and (variation := metric.variation(context, n_rows)) is not None
            }
        return comparison_of(results, variations)

    def save(self, path: str | Path, *, rows: bool = False) -> Path:
        """Write the fitted suite to a file, for releases that come later.

        Parameters
        ----------
        path : str or Path
            The file; an existing one is replaced when it is complete.
        rows : bool, default=False
            False keeps aggregates of columns and pairs of columns, each of at least ten rows, as
            readable JSON: metrics whose tags say ``reads="columns"`` can be evaluated with them,
            and :class:`~skeval.exceptions.MetricWarning` names those that are left out. True keeps
            everything, the real rows too, and the file says so.

        Returns
        -------
        Path

        Raises
        ------
        InvalidParameterError
            If the suite is of several tables and `rows` is False, or cannot be pickled.

        Notes
        -----
        Of numbers and dates, a file without rows holds values that ten rows have, and a hundred
        intervals at most between quantiles, whose ends are means of ten neighbours (the outermost
        the median of ten values) and rounded; of categories the levels that ten rows have; of texts
        and keys nothing. For pairs of columns it holds what metrics of the suite ask for: joint
        counts of ten rows or more, in multiples of five where a table has rarer ones, and
        correlations to three digits. Two files of tables that differ in one row differ in counts:
        whoever has both, and knows the rest, may tell what that row adds.

        Values are those of the rows where no cell is rare and ends are values that ten rows have.
        Elsewhere the file says how far they are off, to a hundredth of the metric's range, for the
        holdout (else half of train) as it is and with shuffled columns, and so do results. Rare
        cells are pooled in the synthetic table too, so that a rare combination is not told from an
        invented one. The baseline of pairs is that of all holdout rows, for releases of no fewer;
        intervals of the difference to it and joint histograms are left out.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from skeval import MetricSuite
        >>> from skeval.datasets import make_mixed
        >>> from skeval.fidelity import KSComplement
        >>> train, release = make_mixed(500, random_state=0), make_mixed(500, random_state=1)
        >>> suite = MetricSuite([("ks", KSComplement())]).fit(train)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = suite.save(pathlib.Path(folder) / "suite.json")
        ...     saved = MetricSuite.load(path)
        >>> gap = saved.evaluate(release)["ks"].value - suite.evaluate(release)["ks"].value
        >>> abs(gap) < 0.02
        True
        """
        from skeval.suites.saved import save_suite

        check_is_fitted(self, "context_")
        return save_suite(self, path, rows=rows)

    @classmethod
    def load(cls, path: str | Path, *, rows: bool = False) -> Self:
        """Read a fitted suite that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file. One without rows runs no code, whoever wrote it.
        rows : bool, default=False
            Whether the file holds rows. It is a pickle then, which can run any code: load only
            files that you wrote.

        Returns
        -------
        MetricSuite
            Fitted. Metrics that need rows which the file does not hold are in `skipped_`, and their
            rows of results say so.

        Raises
        ------
        InvalidParameterError
            If the file holds no such suite, or holds rows and `rows` is False.
        """
        from skeval.suites.saved import load_suite

        return cast("Self", load_suite(cls, path, rows=rows))

    def _loaded(self, context: Context, left_out: Mapping[str, str]) -> Self:
        """Take a context that was saved; `left_out` says why metrics cannot be evaluated by it."""
        self.metrics_ = {
            name: in_space(metric, self.space).fit_context(context)
            for name, metric in self.metrics
            if name not in left_out
        }
        self._left_out = {
            name: _left_out(metric, Sentence(why, need=next(iter(metric.unmet_needs(context)), "")))
            for name, metric in self.metrics
            if (why := left_out.get(name))
        }
        self._names = [name for name, _ in self.metrics]
        self.skipped_, self.context_ = dict(left_out), context
        return self

    def _with(self, synthetic: Any) -> Context:
        lenient = all(metric.tags.lenient for metric in self.metrics_.values())
        return self.context_.with_synthetic(synthetic, lenient=lenient)

    def _evaluated(
        self, context: Context, progress: Progress | None, date: Date, release: Release | None
    ) -> SuiteResult:
        done: list[str] = []
        failures: list[MetricFailedWarning] = []

        def measure(name: str, metric: Metric, cores: Cores) -> Result:
            with using(cores) if cores.n > 1 else nullcontext():
                result = self._measure(name, metric, context, failures)
            done.append(name)
            if progress is not None:
                progress(name, len(done), len(self.metrics_))
            return result

        here = carried(measure)  # threads do not know what engine was chosen in this one
        # this thread waits for those of the metrics
        with sharing(self.n_jobs) as cores, waiting():
            parallel = Parallel(n_jobs=cores.n, backend="threading")
            calls = (delayed(here)(*pair, cores) for pair in self.metrics_.items())
            measured = dict(zip(self.metrics_, parallel(calls), strict=True))
        results = {name: measured.get(name) or self._left_out[name] for name in self._names}
        for notice in [*failures, *context.notices, *property_warnings(results)]:
            warnings.warn(notice, stacklevel=3)
        sizes = {
            role: context.n_rows(role)
            for role in ("train", "holdout", "synthetic")
            if role in context
        }
        of_tables = (*self.context_.notices, *context.notices)
        named = {n: self.metrics_.get(n, metric) for n, metric in self.metrics if n in results}
        provenance = describe(named, context, date, release)
        return SuiteResult(results, sizes=sizes, notices=of_tables, provenance=provenance)

    def _measure(
        self, name: str, metric: Metric, context: Context, failures: list[MetricFailedWarning]
    ) -> Result:
        try:
            return within_limits(
                lambda: metric.evaluate_context(context), self.timeout, self.max_memory
            )
        except Exception as error:  # of anyone's metric; the others must not be lost
            if self.on_error == "raise":
                raise
            text = told(error, context)  # warnings are logged, results saved
            warning = MetricFailedWarning(text.after(f"{name} failed: "))
            failures.append(warning)
            kind = type(metric).__name__
            return Result(
                float("nan"), metric=kind, tags=metric.tags, error=text, warnings=(warning,)
            )

    def absent(self, schema: TableSchema) -> set[str]:
        """Return the names of the metrics of texts that no table of this schema gets a row of."""
        texts = "text" not in self.optional or schema.columns("text")
        return set() if texts else {n for n, one in self.metrics if "text" in one.tags.needs}

    def _is_optional(self, metric: Metric, context: Context) -> bool:
        return not set(self.optional).isdisjoint(metric.unmet_needs(context))

    def check_parameters(self) -> None:
        """Refuse illegal parameters of the suite and of its metrics, before any table is read.

        Raises
        ------
        InvalidParameterError
            If one is outside its legal set.
        """
        self._check()
        self._named_columns()

    def _check(self) -> None:
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in self.metrics):
            raise InvalidParameterError("MetricSuite: metrics must be (name, Metric) pairs.")
        names = [name for name, _ in self.metrics]
        self._validate_names(names)
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if wrong := [name for name, metric in self.metrics if not isinstance(metric, Metric)]:
            raise InvalidParameterError(
                f"MetricSuite: metrics must be (name, Metric) pairs; no Metric: {', '.join(wrong)}."
            )

    def _named_columns(self) -> dict[str, list[str]]:
        """Return the columns that metrics name, each once for a parameter that several have."""
        named: dict[str, dict[str, None]] = {}
        for _, metric in self.metrics:
            for parameter, columns in metric.named_columns().items():
                named.setdefault(parameter, {}).update(dict.fromkeys(columns))
        return {parameter: list(columns) for parameter, columns in named.items()}

    def _sk_visual_block_(self) -> Any:
        return BlockOfMetrics(self.metrics)

    def _repr_html_(self) -> str:
        """Return what each metric measures, and scikit-learn's diagram below."""
        rows = (
            (name, type(one).__name__, (inspect.getdoc(one) or "").partition("\n")[0], one.tags)
            for name, one in self.metrics
        )
        return rendering().suite_html(rows, estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _lack(error: Exception) -> Sentence:
    """Return what a metric lacks, without its name, which results know."""
    return error.lack if isinstance(error, MissingInputError) else Sentence(str(error))


def _left_out(metric: Metric, why: Sentence) -> Result:
    """Return the result of a metric that is not measured, and which need of it is unmet."""
    kind = type(metric).__name__
    return Result(float("nan"), metric=kind, tags=metric.tags, error=why, unmet=why.need)


def _contrasts(metric: Metric) -> bool:
    """Return whether a metric's value or test rests on train and holdout being exchangeable."""
    return metric.tags.aspect == "privacy" or "holdout" in metric.tags.needs


Named = list[tuple[str, Metric]]
