"""Whether a model of parents, from what their children are like, carries over to real ones."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.relational.lifted import Lifted
from skeval.relational.per_table import TableName, check_tables
from skeval.results.result import Result
from skeval.steps import models
from skeval.steps.aggregates import STATS, Stats, aggregated_context
from skeval.steps.joined_tables import root_path
from skeval.steps.scoring import Scoring
from skeval.utility import TSTR
from skeval.utils.parameters import ColumnName, Columns, Count, Interval, Label, Seed

_PUBLIC = "predicts a column of {table}, which is a reference table: its rows are the same in all."


@declared
class RelationalTSTR(Lifted):
    """Score on real parents of a model of synthetic ones and their children: TRTR or worse.

    A bank predicts which clients will leave from what their accounts and payments are like. It
    builds the model on the synthetic database only, and then meets real clients, those of the
    holdout. The same model of the real database (TRTR) is the baseline.

    Parameters
    ----------
    table : str
        The parent table.
    target : str
        The column of it to predict.
    scoring : str, default="auto"
        As in :class:`~skeval.utility.TSTR`: "roc_auc" for labels, "r2" for numbers.
    estimators : None, str, estimator or list of these, default=None
        As in :class:`~skeval.utility.TSTR`.
    stats : list of str, default=all
        How the children are summed up: see :class:`ParentChildAggregates`.
    task : {"auto", "binary", "multiclass", "regression"}, default="auto"
        As in :class:`~skeval.utility.TSTR`.
    pos_label : str, bool or float, optional
        The positive label of a binary task.
    features : list of str or int, optional
        The columns to predict from, such as "orders.amount.mean"; all others of the parent and all
        aggregates if None.
    n_repeats : int, default=1
        Number of times that each model is fitted.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of the tested parents behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models and samples.

    Raises
    ------
    MissingInputError
        At fit, if there is no holdout, or the table is public.
    InvalidParameterError
        At fit, if there is no such table or column.

    Warnings
    --------
    A model that the parent's own columns suffice for says nothing of the links: name the aggregates
    as `features`.

    See Also
    --------
    skeval.utility.TSTR : One table.

    Notes
    -----
    The result is that of TSTR on the parent's rows with the aggregates of all tables that refer to
    them; ``Result.table`` names the table. If parents belong to subjects of their own, as the
    orders of a client do, they are not independent and no interval is given.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skeval.relational import ForeignKey, RelationalSchema, RelationalTSTR
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> def tables(seed):
    ...     rng, ids = np.random.default_rng(seed), np.arange(80) + 80 * seed
    ...     kind, age = rng.integers(0, 2, 80), rng.normal(40, 9, 80)
    ...     a = pd.DataFrame({"id": ids, "age": age, "kind": np.where(kind, "rich", "poor")})
    ...     return {"a": a, "b": pd.DataFrame({"a": np.repeat(ids, 1 + 2 * kind)})}
    >>> metric = RelationalTSTR("a", "kind").fit(tables(0), tables(1), schema=schema)
    >>> metric.score(tables(2))
    1.0
    """

    table: TableName
    target: ColumnName
    scoring: Scoring = "auto"
    estimators: models.Estimators = None
    _: KW_ONLY
    stats: Stats = STATS
    task: Literal["auto", "binary", "multiclass", "regression"] = "auto"
    pos_label: Label | None = None
    features: Columns = None
    n_repeats: Count = 1
    n_bootstrap: Annotated[int, Interval(0)] = 1000
    random_state: Seed = 0

    @property
    def metric(self) -> TSTR:  # type: ignore[override]
        """TSTR with these parameters."""
        own = {name: getattr(self, name) for name in TSTR._get_param_names()}
        return TSTR(**own)

    def _refusal(self, context: RelationalContext) -> str:
        check_tables(context, [self.table], type(self).__name__, "table")
        public = context.relations.role(self.table) == "reference"
        return _PUBLIC.format(table=self.table) if public else ""

    def _table_context(self, context: RelationalContext) -> Context:
        return aggregated_context(context, self.table, tuple(self.stats))

    def _place(self, context: RelationalContext) -> str:
        return self.table

    def _with_valid_test(self, context: RelationalContext, result: Result) -> Result:
        return (
            replace(result, interval=None) if root_path(context.relations, self.table) else result
        )
