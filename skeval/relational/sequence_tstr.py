"""Train models on synthetic sequences, and test them on real sequences."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import MODEL_TAGS
from skeval.exceptions import InvalidParameterError
from skeval.relational.sequence_metric import SequenceMetric
from skeval.results.result import Result, undefined_result
from skeval.stats.bootstrap import bootstrap_values, percentile_interval
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.models import (
    DEFAULT,
    HOLDOUT,
    SYNTHETIC,
    TRAIN,
    Estimator,
    Training,
    predict_part,
)
from skeval.steps.problem import Question, positions_of_role, problem_of, rows_of_role, unanswerable
from skeval.steps.samples import named_seed, sample_positions
from skeval.steps.scoring import Scoring, get_score, scoring_for
from skeval.steps.sequences import (
    context_of_features,
    sequence_columns,
    sequence_features,
    sequences,
    units,
)
from skeval.tables.set_columns import with_columns
from skeval.utils.formatting import number, scoring_in_words
from skeval.utils.parameters import ColumnName, Columns, Count, Interval, Seed

_TARGET = "target"  # does not collide with other columns, whose names have two words
_ROLES = ("train", "holdout", "synthetic")


@declared
class SequenceTSTR(SequenceMetric):
    """Score on holdout sequences of a model trained on synthetic sequences.

    A team receives synthetic histories, trains a forecast on them, and applies the forecast to real
    patients. For example, the forecast is the next measurement, or whether a patient will be
    readmitted. The baseline is the score of the same model trained on the real sequences (TRTR).

    Parameters
    ----------
    target : str
        The column to predict.
    task : {"next", "label"}, default="next"
        "next" predicts the value of the next row from the current and the previous row. "label"
        predicts the value in the first row of a sequence from the features of its other columns.
    scoring : str, default="auto"
        As in :class:`~skeval.utility.TSTR`: "roc_auc" for categories, "r2" for numbers.
    estimator : None, str or estimator, default=None
        The model. If None, "xgboost" is used. Other names are "linear", "tree", "forest",
        "neighbors", "bayes" and "mlp".
    columns : None, int or list of str, default=None
        Columns used for the prediction: all (None), the first *n*, or the named ones.
    max_rows : int or None, default=20_000
        Maximum number of rows per table for training and testing. Larger tables are sampled at
        random. For labels, a sequence is one row.
    n_bootstrap : int, default=200
        Number of bootstrap samples of the test subjects for the intervals. If 0, there are no
        intervals.
    table : str, optional
        Table whose sequences are evaluated. If None, the only table with a sequence key is used.
    random_state : int, default=0
        Seed of samples, models and bootstrap.

    Raises
    ------
    MissingInputError
        At fit, if the holdout is missing.
    InvalidParameterError
        At fit, if the column is not found, or is found in several tables and no table is specified.

    Warnings
    --------
    The value evaluates one task and one model. The synthetic data can be poor for other tasks.
    Compare the value with the baseline.

    See Also
    --------
    skeval.utility.TSTR : Evaluates a model on rows without an order.

    Notes
    -----
    The rows of a sequence are not independent. Therefore the bootstrap draws whole sequences, or
    all sequences of a subject if the table belongs to subjects. ``details["difference"]`` is TSTR -
    TRTR with its interval from the same bootstrap samples. SDMetrics uses an LSTM network for this
    comparison ("efficacy"), and TSGBench calls it the predictive score.

    References
    ----------
    C. Esteban, S. L. Hyland, G. Raetsch, "Real-valued (medical) time series generation with
    recurrent conditional GANs", 2017, arXiv:1706.02633.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, SequenceTSTR
    >>> rng = np.random.default_rng(0)
    >>> keys = {"share": np.repeat(np.arange(100), 20), "day": np.tile(np.arange(20), 100)}
    >>> def prices():
    ...     return rng.normal(size=(100, 20)).cumsum(axis=1).ravel()
    >>> train, holdout = (pd.DataFrame(keys | {"price": prices()}) for _ in range(2))
    >>> synthetic = train.assign(price=rng.permutation(train["price"]))
    >>> schema = RelationalSchema(["prices"], sequences={"prices": SequenceKey("share", "day")})
    >>> metric = SequenceTSTR("price", estimator="linear")
    >>> result = metric.fit({"prices": train}, {"prices": holdout}, schema=schema).evaluate(
    ...     {"prices": synthetic}
    ... )
    >>> result.value < 0.2, result.baseline > 0.8
    (True, True)
    """

    tags = replace(MODEL_TAGS, needs=frozenset({"holdout", "relational", "target"}))

    target: ColumnName
    task: Literal["next", "label"] = "next"
    scoring: Scoring = "auto"
    estimator: Estimator = None
    _: KW_ONLY
    columns: Columns = None
    max_rows: Count | None = 20_000
    n_bootstrap: Annotated[int, Interval(0)] = 200
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        self._tables(cast("RelationalContext", context))

    def _tables(self, context: RelationalContext) -> tuple[str, ...]:
        having = tuple(
            table
            for table in super()._tables(context)
            if self.target in sequence_columns(context, table)
        )
        if len(having) != 1:
            known = ", ".join(having) or "none"
            raise InvalidParameterError(
                f"SequenceTSTR: target names {self.target}, which must be a column of one "
                "table with a "
                f"sequence key. Tables that have the column: {known}. Pass table=..."
            )
        return having

    def _question(self) -> Question:
        return Question(_TARGET, "auto", None, None)

    def _settings(self) -> tuple[str, str, ColumnChoice, int | None, int]:
        return self.target, self.task, self.columns, self.max_rows, self.random_state

    def _cases(self, context: RelationalContext, table: str) -> Context | None:
        return cases(context, table, *self._settings())

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        one = self._cases(context, tables[0])
        if one is None:
            return undefined_result("the sequences of a table have no row to predict.")
        if reason := unanswerable(one, self._question()):
            return undefined_result(reason)
        scoring = scoring_for(self.scoring, problem_of(one, self._question()))
        of = get_score(scoring)
        score = float(self._replicates(context, tables[0], SYNTHETIC, scoring, 0)[0])
        if math.isnan(score):
            return undefined_result(f"{scoring} is not defined on the tested rows.")
        tags = replace(self.tags, greater_is_better=of.greater_is_better, bounds=of.bounds)
        return Result(score, tags=tags, details={"target": self.target, "scoring": scoring})

    def _replicates(
        self, context: RelationalContext, table: str, training: Training, scoring: str, n: int
    ) -> np.ndarray:
        """Return the score of a model, then on bootstrap samples of the tested subjects."""
        one, question = cast("Context", self._cases(context, table)), self._question()
        model = DEFAULT if self.estimator is None else self.estimator
        problem, of = problem_of(one, question), get_score(scoring)
        truth = rows_of_role(one, "holdout", question).target
        predictions = predict_part(one, training, HOLDOUT, model, question, self.random_state)
        owners = case_frame(context, "holdout", table, *self._settings())[1]
        owners = owners[positions_of_role(one, "holdout", question)]
        return bootstrap_values(
            lambda weights: of.of(truth, predictions, weights[:, owners], problem.positive),
            int(owners.max()) + 1,
            n,
            self.random_state,
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        relational = cast("RelationalContext", context)
        (table,), scoring = self._tables(relational), result.details["scoring"]
        score, on_real = (
            self._replicates(relational, table, training, scoring, self.n_bootstrap)
            for training in (SYNTHETIC, TRAIN)
        )
        low, high = percentile_interval(score - on_real) or (None, None)
        difference = {"value": float(score[0] - on_real[0]), "low": low, "high": high}
        one = cast("Context", self._cases(relational, table))
        details = {
            **result.details,
            "task": self.task,
            "trtr": float(on_real[0]),
            "difference": difference,
            "n_rows": {role: one.n_rows(role) for role in _ROLES},
        }
        interval, baseline = percentile_interval(score), float(on_real[0])
        return replace(result, interval=interval, baseline=baseline, details=details)

    def _summary(self, result: Result) -> str:
        what = "the next value" if self.task == "next" else "the label of a sequence"
        return (
            f"A model trained on synthetic sequences predicts {what} of {self.target} with "
            f"{scoring_in_words(result.details['scoring'])} {number(result.value)} on holdout "
            f"sequences (trained on real sequences: {number(result.baseline)})."
        )


@shared
def cases(
    context: RelationalContext,
    table: str,
    target: str,
    task: str,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> Context | None:
    """Return predictors and target as a table with one row per case, or None if a role is empty."""
    frames = {
        role: case_frame(context, role, table, target, task, columns, max_rows, seed)[0]
        for role in _ROLES
    }
    return context_of_features(frames) if all(map(len, frames.values())) else None


@shared
def case_frame(
    context: RelationalContext,
    role: str,
    table: str,
    target: str,
    task: str,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the cases of a role that have a target, and the subject of each case."""
    make = _labels if task == "label" else _next_rows
    frame, owners = make(context, role, table, target, columns)
    owners = units(context, role, table)[owners]
    present = np.flatnonzero(frame[_TARGET].notna())
    kept = present[sample_positions(present.size, max_rows, named_seed(role, seed))]
    owners = np.unique(owners[kept], return_inverse=True)[1]
    return frame.iloc[kept].reset_index(drop=True), owners


def _labels(
    context: RelationalContext, role: str, table: str, target: str, columns: ColumnChoice
) -> tuple[pd.DataFrame, np.ndarray]:
    own = sequences(context, role, table)
    names = tuple(name for name in sequence_columns(context, table, columns) if name != target)
    features = sequence_features(context, role, table, names)
    values = context[role][table][target].iloc[own.order[own.offsets[:-1]]]
    return with_columns(features, {_TARGET: values.array}), np.arange(len(own))


def _next_rows(
    context: RelationalContext, role: str, table: str, target: str, columns: ColumnChoice
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return all rows but the last of each sequence, their previous rows, and next targets."""
    own, rows = sequences(context, role, table), context[role][table]
    firsts = own.pairs()
    columns_of: dict[str, Any] = {"row number": own.ranks[firsts].astype(np.float64)}
    if own.times is not None:
        columns_of["time step"] = own.steps
    before = np.where(own.ranks[firsts] > 0, firsts - 1, 0)
    for name in sequence_columns(context, table, columns):
        values = rows[name]
        columns_of[f"{name} now"] = values.iloc[own.order[firsts]].array
        earlier = values.iloc[own.order[before]].reset_index(drop=True)
        columns_of[f"{name} before"] = earlier.where(own.ranks[firsts] > 0).array
    columns_of[_TARGET] = rows[target].iloc[own.order[firsts + 1]].array
    return pd.DataFrame(columns_of), own.owners[firsts]
