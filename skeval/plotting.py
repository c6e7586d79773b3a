"""Functions that draw one figure each, for example for a column or a pair of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError
from skeval.reporting.displays.base import Display
from skeval.reporting.displays.cardinality import CardinalityDisplay
from skeval.reporting.displays.density_map import DensityMapDisplay
from skeval.reporting.displays.lines import LinesDisplay
from skeval.reporting.displays.marginal import MarginalDisplay
from skeval.reporting.displays.pair import PairDisplay
from skeval.reporting.displays.pareto import ParetoDisplay
from skeval.reporting.displays.sentences import state_sizes
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.steps.column_choice import check_measurable

__all__ = ["plot_cardinality", "plot_column", "plot_f_beta", "plot_lines", "plot_map", "plot_pair"]


def plot_column(
    train: Any, synthetic: Any, column: str, *, holdout: Any = None, schema: Any = None
) -> Display:
    """Draw the distribution of a column in the real and in the synthetic data.

    Parameters
    ----------
    train, synthetic : table
        Training and synthetic data, as in ``fit`` and ``evaluate`` of a metric.
    column : str
        Name of a numerical, datetime or categorical column.
    holdout : table, optional
        Holdout data, which are also drawn if specified.
    schema : TableSchema or mapping of str to str, optional
        Column types.

    Returns
    -------
    MarginalDisplay
        The drawn display. ``figure_`` is the figure, and ``frame()`` returns the numbers. Bars with
        fewer than ten real rows are blank.

    See Also
    --------
    plot_pair : Draws two columns.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.plotting import plot_column
    >>> display = plot_column(make_mixed(random_state=0), make_mixed(random_state=1), "city")
    >>> list(display.frame().columns)[:2]
    ['bar', 'low']
    """
    tables = train, synthetic, holdout, schema
    details, note = _similarity("plot_column", [column], *tables)
    return _plot_display(MarginalDisplay(column, details["marginals"][column], note=note))


def plot_pair(
    train: Any, synthetic: Any, columns: tuple[str, str], *, holdout: Any = None, schema: Any = None
) -> Display:
    """Draw the joint distribution of two columns in the real and in the synthetic data.

    Parameters
    ----------
    train, synthetic : table
        Training and synthetic data, as in ``fit`` and ``evaluate`` of a metric.
    columns : pair of str
        Names of two columns.
    holdout : table, optional
        Holdout data, which are also drawn if specified.
    schema : TableSchema or mapping of str to str, optional
        Column types.

    Returns
    -------
    PairDisplay
        The drawn display.

    See Also
    --------
    plot_column : Draws one column.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.plotting import plot_pair
    >>> tables = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> plot_pair(*tables, ("age", "plan")).frame().shape[0] > 0
    True
    """
    details, note = _similarity("plot_pair", list(columns), train, synthetic, holdout, schema)
    (pair,) = details["pairs"]
    return _plot_display(PairDisplay(pair, note=note))


def plot_cardinality(
    train: Any, synthetic: Any, schema: Any = None, *, key: str | None = None
) -> Display:
    """Draw the number of children per parent in the real and in the synthetic tables.

    Parameters
    ----------
    train, synthetic : mapping of str to table
        Several tables by name.
    schema : RelationalSchema, optional
        Keys of the tables. By default, they are detected.
    key : str, optional
        The foreign key, such as ``"orders.user_id -> users.id"``. The default is the first key.

    Returns
    -------
    CardinalityDisplay
        The drawn display.

    See Also
    --------
    plot_lines : Draws sequences.

    Examples
    --------
    >>> from skeval.datasets import make_relational
    >>> from skeval.plotting import plot_cardinality
    >>> real, synthetic = make_relational(random_state=0), make_relational(random_state=1)
    >>> plot_cardinality(real, synthetic, real.schema).frame().shape[0] > 0
    True
    """
    from skeval.relational import CardinalityShapeSimilarity

    result = CardinalityShapeSimilarity().fit(train, schema=schema).evaluate(synthetic)
    return _plot_display(CardinalityDisplay(result, key=key))


def plot_lines(
    train: Any, synthetic: Any, schema: Any, *, by: Literal["position", "time"] = "position"
) -> Display:
    """Draw the mean of the columns of sequences by position or time, in both tables.

    Parameters
    ----------
    train, synthetic : mapping of str to table
        Several tables by name.
    schema : RelationalSchema
        Schema with the keys of the sequences.
    by : {"position", "time"}, default="position"
        Quantity on the horizontal axis.

    Returns
    -------
    LinesDisplay
        The drawn display.

    See Also
    --------
    plot_cardinality : Draws the number of children per parent.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey
    >>> from skeval.plotting import plot_lines
    >>> visits = pd.DataFrame({"patient": np.repeat(range(10), 3), "x": [1, 2, 3] * 10})
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> plot_lines({"visits": visits}, {"visits": visits}, schema).frame().shape[0] > 0
    True
    """
    from skeval.relational import StatisticMSAS

    result = StatisticMSAS().fit(train, schema=schema).evaluate(synthetic)
    return _plot_display(LinesDisplay(result, by=by))


def plot_map(
    train: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    schema: Any = None,
    columns: Any = None,
    random_state: int = 0,
) -> Display:
    """Draw the density of real and synthetic rows on a two-dimensional map.

    Parameters
    ----------
    train : table
        Training data, as in ``fit`` of a metric. Only the training data determine the directions
        and the grid.
    synthetic : table, or mapping of str to table
        One synthetic table, or several by name, which are drawn on the same map.
    holdout : table, optional
        Holdout data, which are also drawn if specified.
    schema : TableSchema or mapping of str to str, optional
        Column types.
    columns : None, int or list of str, default=None
        Columns to use. None uses all columns except text and ID columns, and *n* the first *n*.
    random_state : int, default=0
        Seed of samples.

    Returns
    -------
    DensityMapDisplay
        The drawn display. It does not show single rows, because grid bins with fewer than ten rows
        of a table are pooled or gray.

    See Also
    --------
    plot_pair : Draws two columns.
    skeval.fidelity.MapDistance : Computes the distance of the densities, with a test.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.plotting import plot_map
    >>> tables = {"a": make_mixed(random_state=1), "b": make_mixed(random_state=2)}
    >>> display = plot_map(make_mixed(random_state=0), tables)
    >>> list(display.frame().columns)
    ['x', 'y', 'train', 'a', 'b']
    """
    from skeval.fidelity import MapDistance

    several = isinstance(synthetic, Mapping) and not isinstance(synthetic, pd.DataFrame)
    tables = dict(synthetic) if several else {"synthetic": synthetic}
    metric = MapDistance(columns=columns, n_permutations=0, random_state=random_state)
    metric.fit(train, holdout, schema=schema)
    results = {name: metric.evaluate(table) for name, table in tables.items()}
    return _plot_display(DensityMapDisplay.from_results(results))


def plot_f_beta(results: Mapping[str, Result | SuiteResult]) -> Display:
    """Draw generators by their F8 and F1/8 scores.

    F8 is low if kinds of real rows are missing, and F1/8 is low if the generator invents rows.

    Parameters
    ----------
    results : mapping of str to Result or SuiteResult
        The results of :class:`~skeval.fidelity.PRDCurve` by generator, alone or in a suite.

    Returns
    -------
    ParetoDisplay
        The drawn display, with the name of each generator.

    Raises
    ------
    InvalidParameterError
        If a result does not contain the scores of PRDCurve.

    See Also
    --------
    skeval.fidelity.PRDCurve : Computes the two scores.

    Examples
    --------
    >>> from skeval.plotting import plot_f_beta
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PRDCurve
    >>> metric = PRDCurve().fit(make_mixed(random_state=0))
    >>> results = {str(n): metric.evaluate(make_mixed(n, random_state=1)) for n in (100, 300)}
    >>> list(plot_f_beta(results).frame().index)
    ['100', '300']
    """
    points = {}
    for name, result in results.items():
        parts = [result] if isinstance(result, Result) else list(result.values())
        found = [part.details for part in parts if "f_beta_inv" in part.details]
        if not found:
            raise InvalidParameterError(
                f"plot_f_beta: {name} has no scores of PRDCurve. Evaluate it with that metric."
            )
        beta = f"{found[0]['beta']:g}"
        points[name] = {f"F{beta}": found[0]["f_beta"], f"F1/{beta}": found[0]["f_beta_inv"]}
    scores = pd.DataFrame.from_dict(points, orient="index")
    return _plot_display(ParetoDisplay(scores, *scores.columns, named="all"))


def _similarity(
    owner: str, columns: list[str], train: Any, synthetic: Any, holdout: Any, schema: Any
) -> tuple[dict[str, Any], str]:
    """Return the distributions of columns, and a phrase with the numbers of rows."""
    from skeval.fidelity import SimilarityMatrix

    context = Context.of(train, holdout, schema=schema)
    check_measurable(context.schema, {"column" if len(columns) == 1 else "columns": columns}, owner)
    context = context.with_synthetic(synthetic)
    roles = ("train", "holdout", "synthetic") if holdout is not None else ("train", "synthetic")
    note = state_sizes([(context.n_rows(role), f"{role} rows") for role in roles])
    return dict(SimilarityMatrix(columns=columns).evaluate_context(context).details), note


def _plot_display(display: Display) -> Display:
    display.plot()
    return display
