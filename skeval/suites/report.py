"""The one-liner: real tables and a synthetic one in, a report out."""

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
MAX_ROWS = 5_000  # rows of each of several tables, by default
Limit = int | Mapping[str, int] | None

_CALLS = "Call it so: report(train, holdout, synthetic, path), or report(train, synthetic, path)."


@dataclass(frozen=True)
class Tables:
    """The tables of a report, each as it was read; or several synthetic ones, by their names."""

    train: ReadTable
    holdout: ReadTable | None
    synthetic: ReadTable | Mapping[str, ReadTable]

    @property
    def are_candidates(self) -> bool:
        """Whether there are several synthetic tables to choose from."""
        return isinstance(self.synthetic, Mapping)

    @property
    def real(self) -> dict[str, Any]:
        """The rows of the real tables, by their roles."""
        holdout = {} if self.holdout is None else {"holdout": self.holdout.rows}
        return {"train": self.train.rows, **holdout}

    def files(self, candidate: str) -> dict[str, Any]:
        """Return the files of the tables, by role; those of one candidate if it is named."""
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
    """The greatest numbers of rows of train and of the holdout, and the seed of the draw."""

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
        """The parameters that state a limit."""
        limits = {"n_max_train": self.n_train, "n_max_test": self.n_test}
        return [name for name, limit in limits.items() if limit is not None]

    def sample(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """Draw rows of the real tables, by their roles."""
        limits = {"train": self.n_train, "holdout": self.n_test}
        # a table larger than memory stays where it is
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
    """Evaluate a synthetic table, or several candidates, and write the report.

    An argument that the suite would ignore is an error.

    Parameters
    ----------
    train : table of shape (n_train, n_columns), or mapping of str to table
        The rows that the generator learned from: pandas, polars or pyarrow, a path or a URL; or
        what need not fit in memory, as :meth:`~skeval.Metric.fit` takes it. Several tables are
        given by name, or as a :class:`~skeval.relational.RelationalData`. The name and
        the hash of a file go into the provenance.
    holdout : table of shape (n_holdout, n_columns), mapping of str to table, or None
        Real rows of the same population that the generator never saw; of several tables, of other
        subjects. Without them there are no baselines, and metrics that need them are listed as left
        out: ``report(train, synthetic, path)`` is ``report(train, None, synthetic, path)``.
    synthetic : table of shape (n_synthetic, n_columns), or mapping of str to table
        The rows under evaluation. If train is one table, a mapping names two or more candidates,
        and the report says which is ahead. If train is several tables, a mapping of names to such
        mappings does the same.
    path : str or Path
        The file to write: ending in ``.pdf``, or in ``.html`` or ``.htm`` for an HTML page. An
        existing file is replaced only when the report is complete.
    suite : MetricSuite or str, default="report"
        What to measure: a suite, or the name of a preset of :func:`make_suite` such as "quality".
        The columns of survival, quasi-identifiers and a limit of memory are given to
        :func:`make_suite`.
    target : str, optional
        The column that models predict; the preset then has utility too.
    sensitive : str, optional
        The column of the measures of fairness.
    groups : str, optional
        The column that says which rows belong together, such as the rows of one person; see
        :class:`~skeval.MetricSuite`, of which it replaces the parameter.
    columns : ReportColumns, int or list of str, or mapping of str to any of them, optional
        Which columns each section looks at; an int or a list holds for every section. With several
        tables it holds for each, or is given by table. With a suite other than the preset
        "report", it chooses what is drawn.
    n_max_train, n_max_test : int or mapping of str to int, optional
        Greatest number of rows of train and of the holdout, drawn at random. With several tables it
        is one number for each, or a number by table: metrics of a table by itself then take at most
        as many synthetic rows as train rows, by default 5,000 of each role. Keys, links and
        subjects are those of all rows.
    schema : TableSchema, RelationalSchema, mapping, SDV's Metadata or "accept", optional
        The kinds of the columns, by name; those not named are inferred from train. With "accept",
        whole numbers of three to twelve values are taken as categories. With several tables it
        states their keys and roles.
    release : Release, mapping or path to a TOML file, optional
        What is to be released, to whom, for what and by which thresholds. It stands on the first
        page next to the outcome of each threshold, and goes into the provenance. Its `title` and
        `date` are those of the report.
    random_state : int, default=0
        Seed of samples and of a preset.
    n_jobs : int or None, default=-1
        Number of threads of a preset, as in joblib: -1 is all cores.
    progress : bool or "lines", default=True
        Whether progress is shown in a terminal or notebook; with "lines", elsewhere as lines on
        standard error.

    Returns
    -------
    SuiteResult or Comparison
        The results that the report shows; a :class:`~skeval.Comparison` of candidates. Its
        ``to_pdf`` and ``to_html`` write it again: with another title, without hashes of the real
        tables, or in a short form.

    Raises
    ------
    InvalidParameterError, TableError, SchemaMismatchError
        If parameters or tables cannot be used, or `path` has another ending.
    OSError
        If `path` cannot be written; this is found before the work.

    See Also
    --------
    make_suite : The same numbers, as a result.
    SuiteResult.to_pdf : The report of any suite.

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
            f"{type(suite).__name__}. Make one: make_suite([KSComplement(), TSTR(target)])."
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
    """Return the keys and roles of several tables; None if train is one table."""
    if not isinstance(train, Mapping):
        return None
    return RelationalContext.of(train, schema=schema).relations


def suite_of_report(
    preset: str, relations: RelationalSchema | None, columns: Choices, limits: Limits, **asked: Any
) -> MetricSuite:
    """Return the suite of a preset: the metrics of a report look at the chosen columns and rows."""
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
    """Evaluate tables by a suite and write the report; `drawing` is what renderers take."""
    from skeval.results.release import stated_release

    chosen: Any
    if isinstance(schema, RelationalSchema):
        drawn, chosen = tables.real, choice_by_table(columns, schema, ReportColumns.of)
    else:
        drawn, chosen = limits.sample(tables.real), ReportColumns.of(cast("Wanted", columns))
    stated = stated_release(release, suite.all_metrics)  # an error now saves the work
    with show_progress(progress) as tick:
        suite.fit(**drawn, schema=schema)
        measure: dict[str, Any] = {"progress": tick("measured"), "date": date, "release": stated}
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
        raise InvalidParameterError(f"report: no path is given, where to write. {_CALLS}")
    return check_output(path, ENDINGS, owner="report")


def _read_synthetic(
    synthetic: Any, relations: RelationalSchema | None
) -> ReadTable | dict[str, ReadTable]:
    """Read the synthetic table; or each of the candidates that a mapping names."""
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
    """Refuse limits and columns that would change nothing, for these tables and this suite."""
    is_report = isinstance(suite, str) and suite.lower() == PRESET
    named = limits.stated_parameters
    if relations is not None and named and not is_report:
        raise InvalidParameterError(
            f"report: of several tables, only the preset {PRESET!r} takes {named[0]}. Give "
            "max_rows to the metrics of the suite."
        )
    by_table = {"columns": columns, "n_max_train": limits.n_train, "n_max_test": limits.n_test}
    mapped = [name for name, value in by_table.items() if isinstance(value, Mapping)]
    if mapped and relations is None:
        raise InvalidParameterError(
            f"report: {mapped[0]} maps names of tables, and train is one table. Give the value for "
            "that table."
        )
    if columns is not None and tables.are_candidates and not is_report:
        raise InvalidParameterError(
            "report: columns choose what is drawn of one synthetic table, got several. Give "
            "columns to the metrics of the suite."
        )


def _check_of_presets(
    suite: MetricSuite, relations: RelationalSchema | None, limits: Limits, **given: Any
) -> None:
    """Refuse arguments of presets, since the suite is given."""
    named = [name for name, value in given.items() if value is not None]
    if limits.seed != 0 and (relations is not None or not limits.stated_parameters):
        named.append("random_state")
    if named:
        raise InvalidParameterError(
            f"report: {' and '.join(named)} would change nothing, because the suite that is given "
            f"has its own. Give them to the suite, for example make_suite('report', "
            f"{named[0]}=...)."
        )


def unused_columns(suite: MetricSuite, asked: Mapping[str, str | None]) -> list[str]:
    """Return the parameters whose column no metric of a suite names."""
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
    """Refuse a column that no metric of a preset names."""
    for name in unused_columns(suite, asked):
        if relations is not None:
            cure = "Report on one table, or give a suite with skeval.relational.RelationalTSTR"
        elif name == "sensitive" and asked.get("target") is None:
            cure = "Give target as well, or leave it out"
        else:
            cure = f"Leave it out, or take the preset {PRESET!r}"
        raise InvalidParameterError(
            f"report: no metric of the preset {preset!r} takes {name}, got {asked[name]!r}. {cure}."
        )


def _name_inputs(result: SuiteResult | Comparison, tables: Tables, seed: int) -> None:
    """Let each provenance name the files, and the whole of tables that rows were drawn of."""
    results = result if isinstance(result, Comparison) else {"": result}
    for name, one in results.items():
        one.provenance = _provenance_of_files(one, tables, seed, tables.files(name))


def _provenance_of_files(
    result: SuiteResult, tables: Tables, seed: int, files: Mapping[str, Any]
) -> Provenance | None:
    """Return the provenance with the files, and the whole of tables that rows were drawn of."""
    provenance = result.provenance
    if provenance is None:
        return None
    for role, whole in tables.real.items():
        table = None if isinstance(whole, Mapping) else read_rows(whole, role)
        if table is not None and len(table) != result.sizes[role]:
            provenance = provenance.with_whole(role, table, seed)
    return provenance.with_files(files)
