"""Train models on synthetic parents and their children, and test them on real ones."""

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

_PUBLIC = (
    "predicts a column of {table}, which is a reference table with the same rows in all roles."
)


@declared
class RelationalTSTR(Lifted):
    """Score on holdout parents of a model trained on synthetic parents and their children.

    A bank predicts which clients will leave from their accounts and payments. It trains the model
    only on the synthetic database and applies it to real clients, that is, the holdout. The
    baseline is the score of the same model trained on the real database (TRTR).

    Parameters
    ----------
    table : str
        The parent table.
    target : str
        The column of the parent table to predict.
    scoring : str, default="auto"
        As in :class:`~skeval.utility.TSTR`: "roc_auc" for labels, "r2" for numbers.
    estimators : None, str, estimator or list of these, default=None
        As in :class:`~skeval.utility.TSTR`.
    stats : list of str, default=all
        How the children are aggregated. See :class:`ParentChildAggregates`.
    task : {"auto", "binary", "multiclass", "regression"}, default="auto"
        As in :class:`~skeval.utility.TSTR`.
    pos_label : str, bool or float, optional
        The positive label of a binary task.
    features : list of str or int, optional
        Columns used for the prediction, such as "orders.amount.mean". If None, all other columns of
        the parent and all aggregates are used.
    n_repeats : int, default=1
        Number of times that each model is fitted.
    n_bootstrap : int, default=1000
        Number of bootstrap samples of the tested parents behind the intervals; 0 for none.
    random_state : int, default=0
        Seed of models and samples.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing, or the table is a reference table.
    InvalidParameterError
        At fit, if the table or a column does not exist.

    Warnings
    --------
    If the columns of the parent are sufficient for the prediction, the score does not depend on the
    links. In this case, pass only aggregates as `features`.

    See Also
    --------
    skeval.utility.TSTR : Evaluates a model on one table.

    Notes
    -----
    The result is the TSTR result for the rows of the parent table, extended by the aggregates of
    all tables that refer to the parent table. ``Result.table`` names the table. If several parent
    rows belong to one subject, for example the orders of a client, these rows are not independent.
    In this case, there is no interval.

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
