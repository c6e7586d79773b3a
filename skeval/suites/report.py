"""The one-liner: real tables and a synthetic one in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from sklearn.base import clone

from skeval.core.base import Metric
from skeval.core.reading import read_rows
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import InvalidParameterError
from skeval.results.comparison import Comparison
from skeval.results.provenance import Date, Provenance
from skeval.results.rendering import ENDINGS
from skeval.results.suite_result import SuiteResult
from skeval.steps.samples import sample_rows
from skeval.suites.ready import make_suite
from skeval.suites.suite import MetricSuite
from skeval.tables.relational_data import RelationalData, read_folder
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import Accept, TableSchema
from skeval.utils.files import check_output
from skeval.utils.progress import Shown, show_progress
from skeval.utils.signatures import bound_by

if TYPE_CHECKING:
    from skeval.results.release import Stated

MAX_ROWS = 5_000  # rows of each of several tables, by default
Chosen = int | Sequence[str]
Limit = int | Mapping[str, int] | None
T = TypeVar("T")


@dataclass(frozen=True)
class ReportColumns:
    """Which columns each section of a report looks at: the first *n*, or a list of names.

    Parameters
    ----------
    univ : int or list of str, default=100
        Univariate distributions.
    biv : int or list of str, default=20
        Bivariate distributions: the pairs of these columns.
    knn : int or list of str, default=100
        Distances.
    phik : int or list of str, default=20
        Phik matrices.
    pairs : int or "all", default=24
        How many pairs are kept: half those that agree least, half those that are most strongly
        associated in train. Some that agree as well as two samples of real rows would are not
        drawn, unless it is "all" or `biv` is a list.

    See Also
    --------
    report : It takes them.

    Examples
    --------
    >>> from skeval import ReportColumns
    >>> ReportColumns(biv=["age", "income"])
    ReportColumns(univ=100, biv=['age', 'income'], knn=100, phik=20, pairs=24)
    """

    univ: Chosen = 100
    biv: Chosen = 20
    knn: Chosen = 100
    phik: Chosen = 20
    pairs: int | str = 24

    @classmethod
    def of(cls, columns: ReportColumns | int | Sequence[str] | None) -> ReportColumns:
        """Return the choice that an int or a list of names stands for: the same everywhere."""
        if columns is None or isinstance(columns, ReportColumns):
            return columns or cls()
        chosen: Chosen
        if isinstance(columns, int | np.integer):
            chosen = int(columns)
        else:
            chosen = [columns] if isinstance(columns, str) else list(columns)
        return cls(chosen, chosen, chosen, chosen)


Wanted = ReportColumns | int | Sequence[str] | None


_CALLS = "Call it so: report(train, holdout, synthetic, path), or report(train, synthetic, path)."


@bound_by(_CALLS)
def report(
    train: Any,
    holdout: Any,
    synthetic: Any,
    path: str | Path | None = None,
    *,
    n_max_train: int | Mapping[str, int] | None = None,
    n_max_test: int | Mapping[str, int] | None = None,
    columns: Wanted | Mapping[str, Wanted] = None,
    target: str | None = None,
    sensitive: str | None = None,
    groups: str | None = None,
    duration: str | None = None,
    event: str | None = None,
    known: Sequence[str] | None = None,
    suite: MetricSuite | str | None = None,
    schema: TableSchema | RelationalSchema | Mapping[str, Any] | Accept | None = None,
    random_state: int = 0,
    n_jobs: int | None = -1,
    progress: Shown = True,
    date: Date = None,
    files: Mapping[str, str | Path] | None = None,
    hashes: bool = True,
    max_memory: int | None = None,
    release: Stated = None,
    title: str = "",
    short: bool = False,
) -> SuiteResult | Comparison:
    """Evaluate a synthetic table, or several candidates, and write the report.

    Parameters
    ----------
    train : table of shape (n_train, n_columns), or mapping of str to table
        The rows that the generator learned from: pandas, polars or pyarrow, a path or a URL; or
        what need not fit in memory, as :meth:`~skeval.Metric.fit` takes it. Several tables are
        given by name, or as a :class:`~skeval.relational.RelationalData`.
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
    n_max_train, n_max_test : int or mapping of str to int, optional
        Greatest number of rows of train and of the holdout, drawn at random. With several tables it
        is one number for each, or a number by table: metrics of a table by itself then take at most
        as many synthetic rows as train rows, by default 5,000 of each role. Keys, links and
        subjects are those of all rows.
    columns : ReportColumns, int or list of str, or mapping of str to any of them, optional
        Which columns each section looks at; an int or a list holds for every section. With several
        tables it holds for each, or is given by table.
    target : str, optional
        The column that models predict; the report then has utility too.
    sensitive : str, optional
        The column of the measures of fairness.
    groups : str, optional
        The column that says which rows belong together, such as the rows of one person; see
        :class:`~skeval.MetricSuite`, of which it replaces the parameter.
    duration, event : str, optional
        The columns of the time until an event, and whether it happened; the report then has
        survival too.
    known : list of str, optional
        The columns that others may know of a person; the report then has what is disclosed to
        them. The default is what `release` states of a whole population.
    suite : MetricSuite or str, optional
        What to measure, or the name of a preset of :func:`make_suite` such as "quality"; the preset
        "report" otherwise. `columns` then chooses what is drawn.
    schema : TableSchema, RelationalSchema, mapping, SDV's Metadata or "accept", optional
        The kinds of the columns, by name; those not named are inferred from train. With "accept",
        whole numbers of three to twelve values are taken as categories. With several tables it
        states their keys and roles.
    random_state : int, default=0
        Seed of samples and of the default suite.
    n_jobs : int or None, default=-1
        Number of threads of the default suite, as in joblib: -1 is all cores.
    progress : bool or "lines", default=True
        Whether progress is shown in a terminal or notebook; with "lines", elsewhere as lines on
        standard error.
    date : date, datetime or str, optional
        The date of the report; by default now, or what the environment variable
        ``SOURCE_DATE_EPOCH`` says. Equal tables, parameters and dates give the same bytes.
    files : mapping of str to path, optional
        By `train`, `holdout` and `synthetic`, or the name of a candidate, the files of which the
        tables were read: their names and hashes go into the provenance.
    hashes : bool, default=True
        Whether the hashes of the real tables are among the provenance; see
        :class:`~skeval.results.Provenance` on what they show.
    max_memory : int, optional
        Bytes by which the process may grow while a metric of the default suite runs. A metric that
        takes more is left out, and the report says so.
    release : Release, mapping or path to a TOML file, optional
        What is to be released, to whom, for what and by which thresholds. It stands on the first
        page next to the outcome of each threshold, and goes into the provenance.
    title : str, optional
        The title of the report; otherwise that of the release, or a general one.
    short : bool, default=False
        Whether the report has only the decision, the scores, the columns to mend and the provenance
        with the sign-off. A report of several candidates has one form only.

    Returns
    -------
    SuiteResult or Comparison
        The results that the report shows; a :class:`~skeval.Comparison` of candidates.

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
    from skeval.results.release import stated_release

    if path is None:
        holdout, synthetic, path = None, holdout, synthetic
    path = _checked_path(path)
    limits = _positive(n_max_train, "n_max_train"), _positive(n_max_test, "n_max_test")
    train, holdout = _read_once(train, "train"), _read_once(holdout, "holdout")
    wholes = {"train": train, "holdout": holdout}
    asked: dict[str, Any] = {"target": target, "sensitive": sensitive, "release": release}
    asked |= {"duration": duration, "event": event, "known": known}
    is_made_here = suite is None or isinstance(suite, str)
    if isinstance(suite, str):
        suite = _preset(suite, train, schema, **asked, random_state=random_state)
    if schema is None and suite is not None:
        schema = suite.schema
    if isinstance(train, Mapping):
        schema, chosen, suite = _of_tables(train, schema, columns, suite, limits, random_state)
    else:
        chosen = ReportColumns.of(cast("Wanted", columns))
        train, holdout = _sample_tables(train, holdout, limits, random_state)
        if suite is None:
            suite = report_suite(chosen, random_state, **asked)
    if is_made_here:
        suite.n_jobs, suite.max_memory = n_jobs, max_memory
    if groups is not None:
        suite = cast("MetricSuite", clone(suite).set_params(groups=groups))
    stated = stated_release(release, suite.all_metrics)  # before the work
    with show_progress(progress) as tick:
        measure: dict[str, Any] = {"progress": tick("measured"), "date": date, "release": stated}
        suite.fit(train, holdout, schema=schema)
        many = _are_candidates(train, synthetic)
        result: Any = (suite.compare if many else suite.evaluate)(synthetic, **measure)
        _name_inputs(result, files, wholes, hashes=hashes, seed=random_state)
        drawn = {} if many else {"columns": chosen, "progress": tick("drawn"), "short": short}
        _write(result, path, **drawn, **({"title": title} if title else {}))
    return result


def _checked_path(path: Any) -> Path:
    """Return the path of a report that can be written."""
    if not isinstance(path, str | Path):
        raise InvalidParameterError(f"report: no path is given, where to write. {_CALLS}")
    return check_output(path, ENDINGS, owner="report")


def _of_tables(
    train: Any, schema: Any, columns: Any, suite: MetricSuite | None, limits: Any, random_state: int
) -> tuple[RelationalSchema, Any, MetricSuite]:
    """Return the schema of several tables, the columns to look at by table, and the suite."""
    relations = RelationalContext.of(train, schema=schema).relations
    chosen = _by_table(columns, relations, ReportColumns.of)
    if suite is None:
        most = (_by_table(limit, relations, lambda n: n or MAX_ROWS) for limit in limits)
        suite = relational_report_suite(relations, chosen, *most, random_state=random_state)
    return relations, chosen, suite


def _sample_tables(
    train: Any, holdout: Any, limits: tuple[Limit, Limit], random_state: int
) -> tuple[Any, Any]:
    """Draw rows of train, and of the holdout if there is one, up to their limits."""
    of_train, of_test = (cast("int | None", limit) for limit in limits)
    drawn = sampled_table(train, of_train, random_state, "train")
    if holdout is not None:
        holdout = sampled_table(holdout, of_test, random_state, "holdout")
    return drawn, holdout


def _write(result: SuiteResult | Comparison, path: Path, **settings: Any) -> None:
    """Write the report in the form that the ending of its path names."""
    is_page = path.suffix.lower() in ENDINGS[1:]
    (result.to_html if is_page else result.to_pdf)(path, **settings)


def _preset(name: str, train: Any, schema: Any, **settings: Any) -> MetricSuite:
    """Return the suite of a preset, for the tables that are given."""
    relations = (
        RelationalContext.of(train, schema=schema).relations if isinstance(train, Mapping) else None
    )
    return make_suite(name, schema=relations, **settings)


def _name_inputs(
    result: SuiteResult | Comparison,
    files: Mapping[str, str | Path] | None,
    wholes: Mapping[str, Any],
    *,
    seed: int,
    hashes: bool,
) -> None:
    """Let each provenance name the files, and the whole of tables that rows were drawn of."""
    files = files or {}
    results = result if isinstance(result, Comparison) else {"": result}
    for name, one in results.items():
        own = files
        if name:  # of candidates, a file has the name of one
            roles = {"synthetic" if role == name else role: path for role, path in files.items()}
            own = {role: roles[role] for role in roles if role in ("synthetic", *wholes)}
        one.provenance = _of_wholes(one, wholes, seed, own, hashes=hashes)


def _read_once(table: Any, role: str) -> Any:
    """Return what a path or a URL names, which is looked at more than once; all else as it is."""
    if not isinstance(table, str | Path):
        return table
    several = read_folder(table)
    if several is not table:
        return several
    rows = read_rows(table, role)
    return getattr(rows, "source", rows)


def _are_candidates(train: Any, synthetic: Any) -> bool:
    """Return whether the synthetic side maps names to candidates, each of the form of train."""
    if not isinstance(synthetic, Mapping) or isinstance(synthetic, RelationalData):
        return False
    several = isinstance(train, Mapping)
    return not several or all(isinstance(one, Mapping) for one in synthetic.values())


def _of_wholes(
    result: SuiteResult,
    wholes: Mapping[str, Any],
    seed: int,
    files: Mapping[str, str | Path],
    *,
    hashes: bool,
) -> Provenance | None:
    """Return the provenance with the files, and the whole of tables that rows were drawn of."""
    provenance = result.provenance
    if provenance is not None:
        for role, whole in wholes.items():
            table = None if whole is None or isinstance(whole, Mapping) else read_rows(whole, role)
            if table is not None and len(table) != result.sizes[role]:
                provenance = provenance.with_whole(role, table, seed)
        provenance = provenance.with_files(files)
        provenance = provenance if hashes else provenance.without_hashes()
    return provenance


def relational_report_suite(
    relations: RelationalSchema,
    columns: Mapping[str, ReportColumns],
    n_train: Mapping[str, int],
    n_test: Mapping[str, int],
    *,
    random_state: int = 0,
) -> MetricSuite:
    """Return the default suite of several tables, looking at these columns and rows of each."""
    suite = make_suite("report", schema=relations, random_state=random_state)
    settings: dict[str, Any] = {}
    for name, metric in suite.all_metrics:
        table, _, _ = name.rpartition("/")
        if not table:
            continue
        settings[f"{name}__max_rows"] = (n_train[table], n_test[table], n_train[table])
        settings |= {
            f"{name}__metric__{parameter}": value
            for parameter, value in _looking_at(metric.metric, columns[table]).items()
            if parameter in metric.metric.get_params()
        }
    return suite.set_params(**settings)


def report_suite(columns: ReportColumns, random_state: int = 0, **settings: Any) -> MetricSuite:
    """Return the default suite, looking at these columns."""
    suite = make_suite("report", random_state=random_state, **settings)
    return suite.set_params(
        **{
            f"{name}__{parameter}": value
            for name, metric in suite.all_metrics
            for parameter, value in _looking_at(metric, columns).items()
            if parameter in metric.get_params()
        }
    )


def _looking_at(metric: Metric, columns: ReportColumns) -> dict[str, Any]:
    """Return the parameters of a metric of the report that say which columns it looks at."""
    if metric.report_columns == "pairs":
        return {
            "columns": _join_choices(columns.univ, columns.biv),
            "n_pairs": None if columns.pairs == "all" else columns.pairs,
            "pair_columns": columns.biv,
        }
    return {"columns": getattr(columns, metric.report_columns)} if metric.report_columns else {}


def _join_choices(first: Chosen, second: Chosen) -> Chosen | None:
    """Return a choice that holds both; all columns where that is not known before the table is."""
    if isinstance(first, int) and isinstance(second, int):
        return max(first, second)
    if isinstance(first, int) or isinstance(second, int):
        return None
    return list(dict.fromkeys([*first, *second]))


def sampled_table(table: Any, n_drawn: int | None, seed: int, role: str) -> Any:
    """Return a seeded sample of a table's rows; a table larger than memory stays where it is."""
    return sample_rows(read_rows(table, role), n_drawn, seed)


def _positive(limit: Limit, name: str) -> Limit:
    counts = limit.values() if isinstance(limit, Mapping) else [limit]
    if any(n is not None and n < 1 for n in counts):
        raise InvalidParameterError(
            f"report: {name} must be a positive int or None, got {limit!r}."
        )
    return limit


def _by_table(given: Any, relations: RelationalSchema, read: Callable[[Any], T]) -> dict[str, T]:
    """Return a choice for each table: the same for all, or by name."""
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in relations.tables]:
            raise InvalidParameterError(
                f"report: there is no table {', '.join(map(str, unknown))}; there are "
                f"{', '.join(relations.tables)}."
            )
        return {name: read(given.get(name)) for name in relations.tables}
    return {name: read(given) for name in relations.tables}
