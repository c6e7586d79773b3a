"""Classifiers that distinguish synthetic rows with parents or children from real rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_base import NO_KEYS, RelationalMetric
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import DegenerateInputWarning, NothingToMeasureWarning
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.stats.multiple_testing import holm
from skeval.stats.roc import auc_interval, auc_p_value, grouped_auc
from skeval.steps.aggregates import STATS, Stats, aggregated_context, private_parents
from skeval.steps.classifiers import (
    LINEAR,
    MIN_ROWS,
    TREE,
    Classifier,
    labelled_rows,
    learn,
    nominal_columns,
)
from skeval.steps.estimators import estimators_of
from skeval.steps.foreign_keys import paths_up
from skeval.steps.joined_tables import drawn_rows, joined_context, roots
from skeval.steps.samples import named_seed
from skeval.steps.subjects import take_rows
from skeval.utils.formatting import number, percent
from skeval.utils.parameters import Interval, OpenFraction, Seed

Rows = Annotated[int, Interval(20)] | None
Part = tuple[Context, Mapping[str, np.ndarray]]  # one table, and the roots of its rows by role
_TAGS = replace(RELATIONAL_TAGS, greater_is_better=False)
_TOO_FEW = "a classifier requires at least {n} entities of each role, so {names} have no value."


_SIDES = ("train", "synthetic")


def mean_interval(intervals: Iterable[tuple[float, float] | None]) -> tuple[float, float] | None:
    """Return an interval of the mean of values from their intervals, which may be dependent."""
    known = [ends for ends in intervals if ends is not None]
    if not known:
        return None
    low, high = np.mean(known, axis=0)
    return float(low), float(high)


class Entities(NamedTuple):
    """Rows with the number of their entity, in random order from 0."""

    rows: np.ndarray
    roots: np.ndarray

    @property
    def n(self) -> int:
        """Number of entities."""
        return int(self.roots.max(initial=-1)) + 1

    def take(self, chosen: np.ndarray) -> Entities:
        """Return a selection of the rows."""
        return Entities(self.rows[chosen], self.roots[chosen])


@declared
class _Detection(RelationalMetric):
    """Base class of two-sample tests with classifiers. Subclasses yield the tables to compare.

    Parameters
    ----------
    estimator : classifier, optional
        A scikit-learn classifier, which receives standardized and one-hot encoded columns. The
        default is gradient boosting of small trees (xgboost) on ranks.
    n_folds : int, default=5
        Number of folds, each of whole entities.
    test_size : float, default=0.5
        Fraction of the synthetic entities that the classifier of the test does not use for
        training.
    max_rows : int or None, default=10_000
        Maximum number of rows per role. Whole entities are sampled at random, each with the same
        number of rows where possible.
    random_state : int, default=0
        Seed of samples, folds and classifiers.
    """

    tags = _TAGS
    estimator: Classifier = None
    _: KW_ONLY
    n_folds: Annotated[int, Interval(2)] = 5
    test_size: OpenFraction = 0.5
    max_rows: Rows = 10_000
    random_state: Seed = 0

    def _tables(self, context: RelationalContext) -> Iterator[tuple[str, Part]]:
        raise NotImplementedError(f"{type(self).__name__} must define _tables(context).")

    def _model(self) -> Any:
        return TREE if self.estimator is None else self.estimator

    def _measure(self, context: RelationalContext) -> Result:
        if not context.relations.foreign_keys:
            return undefined_result(NO_KEYS, NothingToMeasureWarning)
        areas, short = {}, []
        for name, part in self._tables(context):
            real, synthetic = (entities(part, role, self.random_state) for role in _SIDES)
            enough = min(real.n, synthetic.n) >= max(MIN_ROWS, self.n_folds)
            areas[name] = self._area(part, real, synthetic) if enough else (math.nan, None)
            short += [] if enough else [name]
        if not areas:
            return undefined_result(
                "no table has children, apart from reference tables.", NothingToMeasureWarning
            )
        few = _TOO_FEW.format(n=max(MIN_ROWS, self.n_folds), names=", ".join(short))
        scores = {name: value for name, (value, _) in areas.items()}
        result = mean_of_columns(
            scores,
            n_total=len(scores),
            greater_is_better=False,
            warnings=(DegenerateInputWarning(few),) if short else (),
            intervals={name: ends for name, (_, ends) in areas.items() if ends},
            similarity={name: 2.0 - 2.0 * max(value, 0.5) for name, value in scores.items()},
        )
        return replace(result, interval=mean_interval(ends for _, ends in areas.values()))

    def _area(
        self, part: Part, real: Entities, synthetic: Entities
    ) -> tuple[float, tuple[float, float]]:
        """Return the AUC of rows out of fold, and its interval by root."""
        n = min(real.n, synthetic.n)
        both = real.take(real.roots < n), synthetic.take(synthetic.roots < n)
        model, nominal = self._model(), nominal_columns(part[0], None)
        scores = scores_out_of_fold(model, both, nominal, self.n_folds, self.random_state)
        value, error = grouped_auc(scores[1], both[1].roots, scores[0], both[0].roots)
        # out-of-fold scores depend on each other, so the interval uses half of the entities
        return value, auc_interval(value, math.sqrt(2.0) * error, n / 2.0, n / 2.0)

    def _in_relation(self, context: Any, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if math.isnan(result.value):
            return result
        known = {n for n, value in result.details["columns"].items() if not math.isnan(value)}
        tests = {
            name: split_test(part, self._model(), self.test_size, self.random_state)
            for name, part in self._tables(context)
            if name in known
        }
        corrected = holm([test["p_value"] for test in tests.values()])
        baseline = 0.5 if result.baseline is None else result.baseline
        details = {**result.details, "tests": tests}
        return replace(result, baseline=baseline, p_value=min(corrected), details=details)

    def _summary(self, result: Result) -> str:
        worst = result.details["worst"]
        shown = f", most in {worst['column']}: {percent(worst['value'])}"
        more = shown if len(result.details["columns"]) > 1 else ""
        said = "" if result.p_value is None else f" (p {number(result.p_value)})"
        return (
            "A classifier ranks the synthetic row above the real row in "
            f"{percent(result.value)} of "
            f"the pairs{said}{more}. For new real rows, {percent(result.baseline or 0.5)} "
            "are expected."
        )


@declared
class DenormalizedDetection(_Detection):
    """AUC of a classifier that separates synthetic rows, joined with all ancestors, from real rows.

    Each order is joined with its customer and the region of the customer into one wide row. A
    classifier that was trained on other customers predicts whether the row is synthetic. The
    classifier finds errors that no single table shows, such as an order with goods from another
    region. One joined table is made of each table that no other table refers to, and the value is
    the mean over these tables. The score ranges from 0.5 (indistinguishable) to 1. Lower is better.

    Warnings
    --------
    A classifier also finds irrelevant differences, for example another number of decimals. A weak
    classifier does not find all differences.

    See Also
    --------
    ParentChildDetection : Evaluates each foreign key separately.
    AggregationDetection : Classifies parents together with aggregates of their children.
    skeval.fidelity.ClassifierTwoSampleTest : The test for one table.

    Notes
    -----
    Rows of one subject depend on each other. If the schema names no subject, the rows that belong
    to one row of the topmost table are treated in the same way. If the rows of a customer were in
    different folds, the classifier would recognize the customer from other orders, so the AUC would
    be too high and the p-value too small. Therefore folds, samples and the test use whole entities.
    The interval is computed with the method of Obuchowski for clustered data, as if only half of
    the entities had been scored. The p-value uses one split. The classifier is trained on the
    training data and a part of the synthetic entities. The mean scores of the remaining synthetic
    entities are compared with the holdout entities by a Mann-Whitney test, which is exact for any
    classifier. Without a holdout, these mean scores are compared with a part of the training data
    that the classifier did not see. The p-value is then too large. For several tables, the smallest
    p-value after Holm correction is reported. Orphans are kept, and the cells of their parents are
    missing. The baseline is the score of the holdout. ``details["tests"]`` contains the splits, and
    ``details["similarity"]`` the form ``1 - (2 max(AUC, 1/2) - 1)``.

    References
    ----------
    D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skeval.relational import DenormalizedDetection, ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": range(99), "x": np.arange(99) / 9})
    >>> train = {"a": a, "b": pd.DataFrame({"a": range(99), "y": np.arange(99) / 9})}
    >>> synthetic = {"a": a, "b": train["b"].assign(y=train["b"]["y"].to_numpy()[::-1])}
    >>> DenormalizedDetection().fit(train, schema=schema).score(synthetic) > 0.8
    True
    """

    def _tables(self, context: RelationalContext) -> Iterator[tuple[str, Part]]:
        keys, every = context.relations.foreign_keys, list(paths_up(context.relations))
        children = dict.fromkeys(key.child for key in keys)
        parents = {key.parent for key in keys if key.parent != key.child}
        for table in [name for name in children if name not in parents] or list(children):
            paths = tuple(path for path in every if path[0].child == table)
            settings = (paths, self.max_rows, self.random_state)
            yield table, joined_context(context, table, *settings)


@declared
class ParentChildDetection(_Detection):
    """AUC of a classifier that separates synthetic rows, joined with their parent, from real rows.

    Each visit is joined with its patient, and a classifier that was trained on other patients
    predicts whether the pair is synthetic. The value is the mean over the foreign keys. The score
    ranges from 0.5 (indistinguishable) to 1. Lower is better.

    Parameters
    ----------
    estimator : {"logistic", "svc"} or classifier, default="logistic"
        A logistic regression, a support vector machine with a Gaussian kernel (slow for more than a
        few thousand rows), or any scikit-learn classifier. All receive standardized and one-hot
        encoded columns.
    max_rows : int or None, default=2_000
        Maximum number of rows per role. Whole entities are sampled at random, each with the same
        number of rows where possible.

    Warnings
    --------
    A logistic regression compares the marginal distributions only. A score near 0.5 therefore does
    not show that the links are correct.

    See Also
    --------
    DenormalizedDetection : Uses all ancestors at once. Describes the folds and the tests.

    Notes
    -----
    Folds, interval and test are computed as in :class:`DenormalizedDetection`. A logistic
    regression evaluates only the marginal distributions. It does not evaluate the dependence
    between columns of parent and child. Therefore a value near 0.5 does not show that the links are
    correct. Use "svc" or trees to evaluate the links.

    References
    ----------
    SDMetrics has both classifiers under this name; its folds split the rows of a parent, and its
    score is clipped fold by fold.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skeval.relational import ForeignKey, ParentChildDetection, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": range(99), "x": np.arange(99) / 9})
    >>> train = {"a": a, "b": pd.DataFrame({"a": range(99), "y": np.arange(99) / 9})}
    >>> synthetic = {"a": a, "b": train["b"].assign(y=train["b"]["y"] + 20.0)}
    >>> ParentChildDetection().fit(train, schema=schema).score(synthetic)
    1.0
    """

    estimator: Annotated[Any, estimators_of(("logistic", "svc"), several=False)] = "logistic"
    _: KW_ONLY
    max_rows: Rows = 2_000

    def _model(self) -> Any:
        if self.estimator == "svc":
            from sklearn.svm import SVC  # imported here because few calls use it

            return SVC()
        return LINEAR if self.estimator in (None, "logistic") else self.estimator

    def _tables(self, context: RelationalContext) -> Iterator[tuple[str, Part]]:
        for key in context.relations.foreign_keys:
            settings = (self.max_rows, self.random_state)
            yield str(key), joined_context(context, key.child, ((key,),), *settings)


@declared
class AggregationDetection(_Detection):
    """AUC of a classifier that separates synthetic parents, with their children, from real parents.

    A customer is described by the number of orders, their mean, spread and range, and the number of
    different goods. A classifier that was trained on other customers predicts whether the customer
    is synthetic. The value is the mean over the parent tables. The score ranges from 0.5
    (indistinguishable) to 1. Lower is better.

    Parameters
    ----------
    stats : list of str, default=all
        How the children are aggregated. See :class:`ParentChildAggregates`.
    max_rows : int or None, default=10_000
        Maximum number of parents per role. Whole entities are sampled at random, each with the same
        number of rows where possible.

    Warnings
    --------
    A classifier finds only differences in the aggregates. The order of the children and the
    dependence between their columns have no effect.

    See Also
    --------
    ParentChildAggregates : Shows which aggregates differ.
    DenormalizedDetection : Classifies child rows together with their parents.

    Notes
    -----
    Folds, interval and test are computed as in :class:`DenormalizedDetection`. Parents of the same
    subject stay together, for example the orders of a customer. Public tables are skipped, because
    their rows are the same in all roles and cannot be compared as samples.

    References
    ----------
    V. Hudovernik, M. Jurkovic, E. Strumbelj, "Benchmarking the fidelity and utility of synthetic
    relational data", 2024, arXiv:2410.03411, as C2ST-Agg, with folds of rows and a fixed null.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import AggregationDetection, ForeignKey, RelationalSchema
    >>> schema = RelationalSchema(["a", "b"], {"a": "id"}, [ForeignKey("b", "a", "a", "id")])
    >>> a = pd.DataFrame({"id": range(60), "x": [0.5, 1.5] * 30})
    >>> train = {"a": a, "b": pd.DataFrame({"a": list(range(60)) * 2})}
    >>> synthetic = {"a": a, "b": pd.DataFrame({"a": list(range(60)) * 3})}
    >>> AggregationDetection().fit(train, schema=schema).score(synthetic)
    1.0
    """

    stats: Stats = STATS

    def _tables(self, context: RelationalContext) -> Iterator[tuple[str, Part]]:
        roles = [role for role in ("train", "holdout", "synthetic") if role in context]
        for table in private_parents(context.relations):
            own = aggregated_context(context, table, tuple(self.stats))
            settings = (table, self.max_rows, self.random_state)
            drawn = {role: drawn_rows(context, role, *settings) for role in roles}
            kept = {role: roots(context, role, table)[at] for role, at in drawn.items()}
            yield table, (take_rows(own, drawn), kept)


def entities(part: Part, role: str, seed: int) -> Entities:
    """Return the rows of a role with their entities, independent of the order of the tables.

    Entities are sorted by their rows, not by their keys, and equal rows are interchangeable.
    """
    context, whose = part
    rows = labelled_rows(context, role)
    codes, _ = pd.factorize(whose[role])
    content = pd.DataFrame(rows).assign(none=0.0)
    sums = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(sums, codes, pd.util.hash_pandas_object(content, index=False).to_numpy())
    places = np.argsort(np.argsort(sums, kind="stable"))
    order = np.lexsort((*rows.T[::-1], places[codes]))
    rng = np.random.default_rng(named_seed(f"entities of {role}", seed))
    return Entities(rows[order], rng.permutation(sums.size)[places[codes[order]]])


def scores_out_of_fold(
    estimator: Any,
    both: tuple[Entities, Entities],
    nominal: tuple[bool, ...],
    n_folds: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return scores of all rows, each from a classifier that was not trained on its entity."""
    scores = tuple(np.empty(len(side.rows)) for side in both)
    for fold in range(n_folds):
        unseen = [side.roots % n_folds == fold for side in both]
        seen = [side.rows[~out] for side, out in zip(both, unseen, strict=True)]
        labels = np.repeat([0, 1], [len(rows) for rows in seen])
        model = learn(estimator, np.concatenate(seen), labels, nominal, seed)
        for own, side, out in zip(scores, both, unseen, strict=True):
            own[out] = model.scores(side.rows[out])
    return scores[0], scores[1]


def split_test(part: Part, estimator: Any, test_size: float, seed: int) -> dict[str, Any]:
    """Return the test of one split: AUC by row, and the p-value of the entities' mean scores."""
    train, synthetic = (entities(part, role, seed) for role in _SIDES)
    fresh = entities(part, "holdout", seed) if "holdout" in part[0] else None
    if fresh is not None and fresh.n >= MIN_ROWS:
        n_test = min(_share(synthetic.n, test_size), fresh.n)
        tested, learned, against = fresh.take(fresh.roots < n_test), train, "holdout"
    else:
        n_test = _share(min(train.n, synthetic.n), test_size)
        tested, learned = train.take(train.roots < n_test), train.take(train.roots >= n_test)
        against = "train"
    unseen, seen = (
        synthetic.take(synthetic.roots < n_test),
        synthetic.take(synthetic.roots >= n_test),
    )
    rows = np.concatenate([learned.rows, seen.rows])
    labels = np.repeat([0, 1], [len(learned.rows), len(seen.rows)])
    model = learn(estimator, rows, labels, nominal_columns(part[0], None), seed)
    real, made = model.scores(tested.rows), model.scores(unseen.rows)
    made_means, real_means = _by_entity(made, unseen), _by_entity(real, tested)
    value, error = grouped_auc(made, unseen.roots, real, tested.roots)
    return {
        "auc": value,
        "auc_standard_error": error,
        "p_value": auc_p_value(made_means, real_means),
        "real_rows": against,
        "n_entities": {"synthetic": made_means.size, against: real_means.size},
    }


def _by_entity(scores: np.ndarray, side: Entities) -> np.ndarray:
    """Return the mean score of each entity."""
    codes = side.roots - side.roots.min()
    sizes = np.bincount(codes)
    means: np.ndarray = (np.bincount(codes, scores) / np.maximum(sizes, 1))[sizes > 0]
    return means


def _share(n: int, test_size: float) -> int:
    return min(max(1, round(test_size * n)), n - 1)
