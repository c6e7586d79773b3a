"""Write a report with one function call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sklearn.base import clone

from skeval.core.reading import read_rows
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import InvalidParameterError
from skeval.results.comparison import Comparison
from skeval.results.provenance import Date, Provenance
from skeval.results.rendering import ENDINGS
from skeval.results.suite_result import SuiteResult
from skeval.steps.samples import sample_rows
from skeval.suites.ready import make_suite
from skeval.suites.report_columns import Choices, ReportColumns, Wanted, choice_by_table
from skeval.suites.suite import MetricSuite
from skeval.tables.door import ReadTable, read
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import Accept, TableSchema
from skeval.utils.files import check_output
from skeval.utils.progress import Shown, show_progress
from skeval.utils.signatures import bound_by

if TYPE_CHECKING:
    from skeval.results.release import Stated

PRESET = "report"
MAX_ROWS = 5_000  # default maximum of rows for each of several tables
Limit = int | Mapping[str, int] | None

_CALLS = "Call report(train, holdout, synthetic, path) or report(train, synthetic, path)."


@dataclass(frozen=True)
class Tables:
    """The tables of a report. Several synthetic tables are candidates with names."""

    train: ReadTable
    holdout: ReadTable | None
    synthetic: ReadTable | Mapping[str, ReadTable]

    @property
    def are_candidates(self) -> bool:
        """Whether there are several synthetic tables to choose from."""
        return isinstance(self.synthetic, Mapping)

    @property
    def real(self) -> dict[str, Any]:
        """The rows of the real tables by role."""
        holdout = {} if self.holdout is None else {"holdout": self.holdout.rows}
        return {"train": self.train.rows, **holdout}

    def files(self, candidate: str) -> dict[str, Any]:
        """Return the files of the tables by role. With several candidates, name one of them."""
        synthetic = self.synthetic
        one = synthetic[candidate] if isinstance(synthetic, Mapping) else synthetic
        read_of = {"train": self.train, "holdout": self.holdout, "synthetic": one}
        return {
            role: table.place
            for role, table in read_of.items()
            if table is not None and table.place is not None
        }


@dataclass(frozen=True)
class Limits:
    """Maximum numbers of training and holdout rows, and the seed of the sample."""

    n_train: Limit = None
    n_test: Limit = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, limit in (("n_max_train", self.n_train), ("n_max_test", self.n_test)):
            counts = limit.values() if isinstance(limit, Mapping) else [limit]
            if any(n is not None and n < 1 for n in counts):
                raise InvalidParameterError(
                    f"report: {name} must be a positive int or None, got {limit!r}."
                )

    @property
    def stated_parameters(self) -> list[str]:
        """The parameters that set a limit."""
        limits = {"n_max_train": self.n_train, "n_max_test": self.n_test}
        return [name for name, limit in limits.items() if limit is not None]

    def sample(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Sample rows of the real tables by role."""
        limits = {"train": self.n_train, "holdout": self.n_test}
        # a table larger than memory is not read
        return {
            role: sample_rows(read_rows(table, role), cast("int | None", limits[role]), self.seed)
            for role, table in tables.items()
        }


@bound_by(_CALLS)
def report(
    train: Any,
    holdout: Any,
    synthetic: Any,
    path: str | Path | None = None,
    *,
    suite: MetricSuite | str = PRESET,
    target: str | None = None,
    sensitive: str | None = None,
    groups: str | None = None,
    columns: Choices = None,
    n_max_train: Limit = None,
    n_max_test: Limit = None,
    schema: TableSchema | RelationalSchema | Mapping[str, Any] | Accept | None = None,
    release: Stated = None,
    random_state: int = 0,
    n_jobs: int | None = -1,
    progress: Shown = True,
) -> SuiteResult | Comparison:
    """Evaluate one or several synthetic tables, and write the report.

    An argument that has no effect raises an error.

    Parameters
    ----------
    train : table of shape (n_train, n_columns), or mapping of str to table
        Rows that the generator was trained on, as a pandas, polars or pyarrow table, a path or a
        URL. Tables larger than memory are accepted as in :meth:`~skeval.Metric.fit`. Pass several
        tables as a mapping of names to tables or as a :class:`~skeval.relational.RelationalData`.
        The name and the hash of a file are included in the provenance.
    holdout : table of shape (n_holdout, n_columns), mapping of str to table, or None
        Real rows of the same population that the generator never saw. If there are several tables,
        these rows must belong to other subjects. Without a holdout, scores have no baseline, and
        metrics that require a holdout are skipped. ``report(train, synthetic, path)`` is equivalent
        to ``report(train, None, synthetic, path)``.
    synthetic : table of shape (n_synthetic, n_columns), or mapping of str to table
        Synthetic data. To compare several synthetic tables (candidates) in one report, pass a
        mapping of two or more names to tables. If `train` consists of several tables, each
        candidate is a mapping of table names to tables, and `synthetic` is a mapping of candidate
        names to candidates.
    path : str or Path
        File to write. The ending is ``.pdf``, or ``.html`` or ``.htm`` for an HTML page. An
        existing file is replaced only when the report is complete.
    suite : MetricSuite or str, default="report"
        Metrics to evaluate, as a suite or as the name of a preset of :func:`make_suite`, such as
        "quality". To set survival columns, quasi-identifiers or a memory limit, pass a suite of
        :func:`make_suite`.
    target : str, optional
        Column to predict. If it is passed, the preset also evaluates utility.
    sensitive : str, optional
        Sensitive column of the fairness metrics.
    groups : str, optional
        Column that identifies rows that belong together, such as the rows of one subject. It
        overrides the parameter `groups` of the suite.
    columns : ReportColumns, int or list of str, or mapping of str to any of them, optional
        Columns that each section uses. An int (the first *n* columns) or a list of names applies to
        every section. With several tables, one choice applies to all tables. To choose by table,
        pass a mapping of table names to choices. With a suite other than the preset "report", the
        parameter selects which columns are plotted.
    n_max_train, n_max_test : int or mapping of str to int, optional
        Maximum numbers of training and holdout rows, which are sampled at random. With several
        tables, one number applies to each table. To set the number by table, pass a mapping of
        table names to numbers. With several tables, the metrics that evaluate each table separately
        also use at most `n_max_train` synthetic rows per table. The default for several tables is
        5,000 training, holdout and synthetic rows. Keys, links and subjects are evaluated on all
        rows.
    schema : TableSchema, RelationalSchema, mapping, SDV's Metadata or "accept", optional
        Types of the columns by name. Other types are inferred from the training data. With
        "accept", integers with three to twelve distinct values are treated as categories. With
        several tables, the schema specifies their keys and roles.
    release : Release, mapping or path to a TOML file, optional
        Description of the release: its recipient, purpose and thresholds. It is shown on the first
        page together with the outcome of each threshold, and is included in the provenance. Its
        `title` and `date` become the title and date of the report.
    random_state : int, default=0
        Seed of the samples and of a preset.
    n_jobs : int or None, default=-1
        Number of threads of a preset, as in joblib. -1 uses all cores.
    progress : bool or "lines", default=True
        Whether to show progress in a terminal or notebook. With "lines", progress is also shown
        without a terminal or notebook, as lines on standard error.

    Returns
    -------
    SuiteResult or Comparison
        Results of the report, or a :class:`~skeval.Comparison` of candidates. Their methods
        ``to_pdf`` and ``to_html`` write the report again with other settings, for example with
        another title, without hashes of the real tables, or in a short form.

    Raises
    ------
    InvalidParameterError, TableError, SchemaMismatchError
        If parameters or tables are not valid, or `path` has another ending.
    OSError
        If `path` cannot be written. This is checked before the evaluation.

    See Also
    --------
    make_suite : Create the suite of the report.
    SuiteResult.to_pdf : Write the report of any suite.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from skeval import report
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, synthetic = (make_mixed(random_state=i) for i in range(3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.pdf"
    ...     result = report(train, holdout, synthetic, path, columns=2)
    >>> result["similarity"].tags.direction
    'higher is better'
    """
    if path is None:
        holdout, synthetic, path = None, holdout, synthetic
    path, limits = _checked_path(path), Limits(n_max_train, n_max_test, random_state)
    if not isinstance(suite, str | MetricSuite):
        raise InvalidParameterError(
            "report: suite must be a MetricSuite or the name of a preset, got "
            f"{type(suite).__name__}. For example, pass make_suite([KSComplement(), TSTR(target)])."
        )
    if schema is None and isinstance(suite, MetricSuite):
        schema = suite.schema
    real = read(train, "train")
    relations = relations_of(real.rows, schema)
    tables = Tables(
        real,
        None if holdout is None else read(holdout, "holdout"),
        _read_synthetic(synthetic, relations),
    )
    check_tables(suite, tables, relations, limits, columns)
    asked = {"target": target, "sensitive": sensitive}
    if isinstance(suite, str):
        settings = {"release": release, "random_state": random_state, "n_jobs": n_jobs}
        chosen = suite_of_report(suite, relations, columns, limits, **asked, **settings)
        _check_columns_are_used(chosen, suite, relations, **asked)
    else:
        own_jobs = None if n_jobs == -1 else n_jobs
        _check_of_presets(suite, relations, limits, **asked, n_jobs=own_jobs)
        chosen = suite
    if groups is not None:
        chosen = clone(chosen).set_params(groups=groups)
    return write_report(
        tables,
        path,
        chosen,
        schema=schema if relations is None else relations,
        columns=columns,
        limits=limits,
        release=release,
        progress=progress,
    )


def relations_of(train: Any, schema: Any) -> RelationalSchema | None:
    """Return the keys and roles of several tables, or None for one table."""
    if not isinstance(train, Mapping):
        return None
    return RelationalContext.of(train, schema=schema).relations


def suite_of_report(
    preset: str, relations: RelationalSchema | None, columns: Choices, limits: Limits, **asked: Any
) -> MetricSuite:
    """Return the suite of a preset, restricted to the chosen columns and rows."""
    if preset.lower() != PRESET:
        return make_suite(preset, schema=relations, **asked)
    chosen = ReportColumns() if columns is None else columns
    suite = make_suite(preset, schema=relations, columns=chosen, **asked)
    if relations is None:
        return suite
    n_train, n_test = (
        choice_by_table(limit, relations, lambda n: n or MAX_ROWS)
        for limit in (limits.n_train, limits.n_test)
    )
    by_table = ((name, name.rpartition("/")[0]) for name, _ in suite.all_metrics)
    rows = {
        f"{name}__max_rows": (n_train[table], n_test[table], n_train[table])
        for name, table in by_table
        if table
    }
    return suite.set_params(**rows)


def write_report(
    tables: Tables,
    path: Path,
    suite: MetricSuite,
    *,
    schema: Any = None,
    columns: Choices = None,
    limits: Limits,
    release: Stated = None,
    date: Date = None,
    progress: Shown = True,
    **drawing: Any,
) -> SuiteResult | Comparison:
    """Evaluate tables with a suite and write the report. Renderers receive `drawing`."""
    from skeval.results.release import stated_release

    chosen: Any
    if isinstance(schema, RelationalSchema):
        drawn, chosen = tables.real, choice_by_table(columns, schema, ReportColumns.of)
    else:
        drawn, chosen = limits.sample(tables.real), ReportColumns.of(cast("Wanted", columns))
    stated = stated_release(release, suite.all_metrics)  # report errors before the evaluation
    with show_progress(progress) as tick:
        suite.fit(**drawn, schema=schema)
        measure: dict[str, Any] = {"progress": tick("evaluated"), "date": date, "release": stated}
        result: Any
        if isinstance(tables.synthetic, Mapping):
            rows = {name: table.rows for name, table in tables.synthetic.items()}
            result = suite.compare(rows, **measure)
        else:
            result = suite.evaluate(tables.synthetic.rows, **measure)
            drawing["columns"] = chosen
        _name_inputs(result, tables, limits.seed)
        is_page = path.suffix.lower() in ENDINGS[1:]
        (result.to_html if is_page else result.to_pdf)(path, **drawing)
    return result


def _checked_path(path: Any) -> Path:
    """Return the path of a report that can be written."""
    if not isinstance(path, str | Path):
        raise InvalidParameterError(f"report: the path of the report is missing. {_CALLS}")
    return check_output(path, ENDINGS, owner="report")


def _read_synthetic(
    synthetic: Any, relations: RelationalSchema | None
) -> ReadTable | dict[str, ReadTable]:
    """Read the synthetic table, or each candidate of a mapping."""
    if isinstance(synthetic, Mapping) and not isinstance(synthetic, RelationalData):
        is_several = relations is not None
        if not is_several or all(isinstance(one, Mapping) for one in synthetic.values()):
            return {str(name): read(one, "synthetic", relations) for name, one in synthetic.items()}
    return read(synthetic, "synthetic", relations)


def check_tables(
    suite: MetricSuite | str,
    tables: Tables,
    relations: RelationalSchema | None,
    limits: Limits,
    columns: Choices,
) -> None:
    """Refuse limits and columns that have no effect for these tables and this suite."""
    is_report = isinstance(suite, str) and suite.lower() == PRESET
    named = limits.stated_parameters
    if relations is not None and named and not is_report:
        raise InvalidParameterError(
            f"report: for several tables, only the preset {PRESET!r} accepts {named[0]}. Set "
            "max_rows of the metrics of the suite instead."
        )
    by_table = {"columns": columns, "n_max_train": limits.n_train, "n_max_test": limits.n_test}
    mapped = [name for name, value in by_table.items() if isinstance(value, Mapping)]
    if mapped and relations is None:
        raise InvalidParameterError(
            f"report: {mapped[0]} maps names of tables, but train is one table. Pass the value for "
            "that table."
        )
    if columns is not None and tables.are_candidates and not is_report:
        raise InvalidParameterError(
            "report: columns selects the columns to plot for one synthetic table, got several. "
            "Set the columns of the metrics instead."
        )


def _check_of_presets(
    suite: MetricSuite, relations: RelationalSchema | None, limits: Limits, **given: Any
) -> None:
    """Refuse arguments of presets if a suite is passed."""
    named = [name for name, value in given.items() if value is not None]
    if limits.seed != 0 and (relations is not None or not limits.stated_parameters):
        named.append("random_state")
    if named:
        raise InvalidParameterError(
            f"report: {' and '.join(named)} would have no effect, because the suite has its own "
            f"settings. Pass them to the suite, for example make_suite('report', "
            f"{named[0]}=...)."
        )


def unused_columns(suite: MetricSuite, asked: Mapping[str, str | None]) -> list[str]:
    """Return the parameters whose column no metric of a suite uses."""
    named = {
        column
        for _, metric in suite.all_metrics
        for columns in metric.named_columns().values()
        for column in columns
    }
    return [name for name, column in asked.items() if column is not None and column not in named]


def _check_columns_are_used(
    suite: MetricSuite, preset: str, relations: RelationalSchema | None, **asked: str | None
) -> None:
    """Refuse a column that no metric of a preset uses."""
    for name in unused_columns(suite, asked):
        if relations is not None:
            cure = "Report on one table, or pass a suite with skeval.relational.RelationalTSTR"
        elif name == "sensitive" and asked.get("target") is None:
            cure = "Pass target as well, or omit it"
        else:
            cure = f"Omit it, or use the preset {PRESET!r}"
        raise InvalidParameterError(
            f"report: no metric of the preset {preset!r} uses {name}, got {asked[name]!r}. {cure}."
        )


def _name_inputs(result: SuiteResult | Comparison, tables: Tables, seed: int) -> None:
    """Add the files to each provenance, and the complete tables of sampled rows."""
    results = result if isinstance(result, Comparison) else {"": result}
    for name, one in results.items():
        one.provenance = _provenance_of_files(one, tables, seed, tables.files(name))


def _provenance_of_files(
    result: SuiteResult, tables: Tables, seed: int, files: Mapping[str, Any]
) -> Provenance | None:
    """Return the provenance with the files, and with the complete tables of sampled rows."""
    provenance = result.provenance
    if provenance is None:
        return None
    for role, whole in tables.real.items():
        table = None if isinstance(whole, Mapping) else read_rows(whole, role)
        if table is not None and len(table) != result.sizes[role]:
            provenance = provenance.with_whole(role, table, seed)
    return provenance.with_files(files)
