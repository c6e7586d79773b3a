"""The one-liner: real tables and a synthetic one in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skeval.exceptions import InvalidParameterError
from skeval.files import check_output
from skeval.result import SuiteResult
from skeval.steps.samples import sampled
from skeval.suite import MetricSuite, make_suite
from skeval.tables.frames import as_frame
from skeval.tables.schema import Kind, TableSchema

ENDINGS = (".pdf", ".html", ".htm")
Chosen = int | Sequence[str]
Progress = Callable[[str, int, int], None]


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
        How many pairs are drawn: half those that agree least, half those that are most strongly
        associated in train.

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


def report(
    train: Any,
    holdout: Any,
    synthetic: Any,
    path: str | Path,
    *,
    n_max_train: int | None = None,
    n_max_test: int | None = None,
    columns: ReportColumns | int | Sequence[str] | None = None,
    target: str | None = None,
    sensitive: str | None = None,
    suite: MetricSuite | None = None,
    schema: TableSchema | Mapping[str, Kind] | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> SuiteResult:
    """Evaluate a synthetic table and write the report.

    Parameters
    ----------
    train : table of shape (n_train, n_columns)
        The rows that the generator learned from: pandas, polars or pyarrow.
    holdout : table of shape (n_holdout, n_columns) or None
        Real rows of the same population that the generator never saw. Without them there are no
        baselines, and metrics that need them are listed as left out.
    synthetic : table of shape (n_synthetic, n_columns)
        The rows under evaluation.
    path : str or Path
        Where to write: ending in ``.pdf``, or in ``.html`` or ``.htm`` for an HTML page. An
        existing file is replaced only when the report is complete.
    n_max_train, n_max_test : int, optional
        Greatest number of rows of train and of the holdout, drawn at random.
    columns : ReportColumns, int or list of str, optional
        Which columns each section looks at; an int or a list holds for every section.
    target : str, optional
        The column that models predict; the report then has utility too.
    sensitive : str, optional
        The column of the measures of fairness.
    suite : MetricSuite, optional
        What to measure; ``make_suite("report")`` otherwise. `columns` then chooses what is drawn.
    schema : TableSchema or mapping of str to str, optional
        The kinds of the columns; those not named are inferred from train.
    random_state : int, default=0
        Seed of samples and of the default suite.
    progress : bool, default=True
        Whether progress is shown in a terminal or notebook.

    Returns
    -------
    SuiteResult
        The results that the report shows.

    Raises
    ------
    InvalidParameterError, TableError, SchemaMismatchError
        If parameters or tables cannot be used, or `path` has another ending.
    OSError
        If `path` cannot be written; this is found before the work.

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
    from skeval.reporting import HTMLRenderer, PDFRenderer

    chosen = ReportColumns.of(columns)
    path = check_output(path, ENDINGS, owner="report")
    train = sampled(as_frame(train, "train"), _positive(n_max_train, "n_max_train"), random_state)
    if holdout is not None:
        holdout = as_frame(holdout, "holdout")
        holdout = sampled(holdout, _positive(n_max_test, "n_max_test"), random_state)
    if suite is None:
        suite = report_suite(chosen, random_state, target=target, sensitive=sensitive)
    renderer = HTMLRenderer if path.suffix.lower() in ENDINGS[1:] else PDFRenderer
    with _shown(progress) as tick:
        suite.fit(train, holdout, schema=schema)
        result = suite.evaluate(synthetic, progress=tick("measured"))
        renderer(columns=chosen, progress=tick("drawn")).render(result, path)
    return result


def report_suite(
    columns: ReportColumns,
    random_state: int = 0,
    *,
    target: str | None = None,
    sensitive: str | None = None,
) -> MetricSuite:
    """Return the default suite, looking at these columns."""
    every = None if columns.pairs == "all" else columns.pairs
    knn = ("nn_distances", "privacy_score", "dcr_overfitting", "dcr_baseline")
    suite = make_suite(
        "report", target=target, sensitive=sensitive, random_state=random_state, n_jobs=-1
    )
    return suite.set_params(
        similarity__columns=_joined(columns.univ, columns.biv),
        similarity__n_pairs=every,
        similarity__pair_columns=columns.biv,
        phik_difference__columns=columns.phik,
        **{f"{name}__columns": columns.knn for name in knn},
    )


def _joined(first: Chosen, second: Chosen) -> Chosen | None:
    """Return a choice that holds both; all columns where that is not known before the table is."""
    if isinstance(first, int) and isinstance(second, int):
        return max(first, second)
    if isinstance(first, int) or isinstance(second, int):
        return None
    return list(dict.fromkeys([*first, *second]))


def _positive(n: int | None, name: str) -> int | None:
    if n is not None and n < 1:
        raise InvalidParameterError(f"report: {name} must be a positive int or None, got {n!r}.")
    return n


@contextmanager
def _shown(progress: bool) -> Iterator[Callable[[str], Progress | None]]:
    """Give what makes a callback of a verb: of a display in a terminal or notebook, else None."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    if not progress or not (console.is_terminal or console.is_jupyter):
        yield lambda verb: None
        return
    with Bars(console=console, transient=True) as bars:

        def tick(verb: str) -> Progress:
            task = bars.add_task(verb, total=None)

            def advance(name: str, done: int, total: int) -> None:
                bars.update(task, description=f"{name} {verb}", completed=done, total=total)

            return advance

        yield tick
