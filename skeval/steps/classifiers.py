"""Classifiers of synthetic and real rows, with the rows that they read and out-of-fold scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone

from skeval.core.context import Context, shared
from skeval.stats.roc import auc
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.columns import ROLES
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.estimators import is_estimator, name_estimators, set_random_states
from skeval.steps.samples import named_seed, sample_positions
from skeval.steps.text_features import (
    Features,
    TextSource,
    WithTexts,
    hstack_features,
    reads_sparse,
)
from skeval.steps.texts import text_numbers, text_source
from skeval.tables.columns_by_kind import sorted_labels
from skeval.tables.preprocessing import NOMINAL, NUMERIC, OneHot, Ranks
from skeval.utils.dependencies import needed_xgboost
from skeval.utils.parameters import Legal

TREE, LINEAR, CART = "xgboost", "logistic", "cart"
BROAD = "tree"  # a "cart" whose leaves have at least the square root of the number of rows
BINNED = "binned xgboost"  # trees with few bins, which need a quarter of the time for few rows
LIGHT = "light xgboost"  # half of these trees, for wide tables
_EXACT_TREES = 2000  # up to this number of rows, exact splits are faster than histograms
_MAX_FEW_BINS = 32  # histograms of a thousand words cost more than the rows
_WIDE = 100  # with more columns, Newton's method is slower
MAX_ROWS = 10_000
MIN_ROWS = 10
_MAX_TOGETHER = 10  # maximum number of equal rows that are kept in one fold
_IMPORTANCE_ROWS = 1000


def _classifiers(several: bool, methods: tuple[str, ...] = ("fit", "predict")) -> Legal:
    """Return the set of None, a classifier that can be fitted and, if `several`, lists of such."""

    def is_legal(value: object) -> bool:
        if isinstance(value, list | tuple):
            return several and len(value) > 0 and all(is_estimator(one, methods) for one in value)
        return value is None or is_estimator(value, methods)

    one = f"None or a scikit-learn classifier with {' and '.join(methods)}"
    return Legal(f"{one}, or a list of such" if several else one, is_legal, "no such option")


Classifier = Annotated[Any, _classifiers(several=False)]
Classifiers = Annotated[Any, _classifiers(several=True)]
ProbabilisticClassifiers = Annotated[Any, _classifiers(True, methods=("fit", "predict_proba"))]


@dataclass(frozen=True)
class Scores:
    """Scores of rows that the classifier has not seen. Synthetic rows have higher scores."""

    real: np.ndarray
    synthetic: np.ndarray


@dataclass(frozen=True)
class Chosen:
    """Columns that classifiers read if there are texts, which are read as features of words."""

    measured: tuple[str, ...]
    texts: tuple[str, ...]
    vectorizer: Any = "tfidf"


Read = ColumnChoice | Chosen  # columns that classifiers read


@dataclass(frozen=True)
class FittedClassifier:
    """A fitted classifier with its encoder. It is constant if no column varies."""

    encoder: Ranks | OneHot | WithTexts
    classifier: Any

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return a score in [0, 1] for each row."""
        return self.scores_of(self.encoder.transform(rows))

    def scores_of(self, features: Features) -> np.ndarray:
        """Return a score in [0, 1] for each row that the encoder has transformed."""
        if self.classifier is None:
            return np.full(features.shape[0], 0.5)
        return positive_scores(self.classifier, features)


def positive_scores(classifier: Any, features: Features) -> np.ndarray:
    """Return scores in [0, 1], which are above 1/2 if a fitted classifier predicts the label 1."""
    if hasattr(classifier, "predict_proba"):
        column = list(classifier.classes_).index(1)
        return np.asarray(classifier.predict_proba(features)[:, column], dtype=np.float64)
    if hasattr(classifier, "decision_function"):
        margin = np.asarray(classifier.decision_function(features), dtype=np.float64)
        # keeps the order of large margins, as a logistic curve in floating point does not
        return 0.5 + 0.5 * margin / (1.0 + np.abs(margin))
    return np.asarray(classifier.predict(features), dtype=np.float64)


def fitted_classifier(classifier: Any, features: np.ndarray, labels: np.ndarray, seed: int) -> Any:
    """Return a fitted clone of a classifier, which is a forest of 100 trees by default."""
    # imported here, because most metrics do not fit a forest
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100) if classifier is None else clone(classifier)
    return set_random_states(model, seed).fit(features, labels)


def learn(
    estimator: Any,
    rows: np.ndarray,
    labels: np.ndarray,
    nominal: Sequence[bool],
    seed: int,
    texts: Sequence[TextSource] = (),
) -> FittedClassifier:
    """Fit an encoder and a classifier on labeled rows."""
    # sparse features that are missing are for xgboost alone
    boosted = {TREE, BINNED, LIGHT}
    of_ranks = boosted if texts else {*boosted, CART, BROAD}
    by_ranks = isinstance(estimator, str) and estimator in of_ranks
    n_plain = rows.shape[1] - len(texts)
    plain = (Ranks if by_ranks else OneHot).from_rows(rows[:, :n_plain], nominal)
    encoder: Ranks | OneHot | WithTexts = plain
    if texts:
        numbers = rows[:, n_plain:].T
        encoders = [one.encoder(own) for one, own in zip(texts, numbers, strict=True)]
        dense_for = "" if reads_sparse(estimator) else type(estimator).__name__
        encoder = WithTexts(plain, encoders, 1.0 if by_ranks else 0.0, dense_for)
    features = encoder.transform(rows)
    if features.shape[1] == 0:
        return FittedClassifier(encoder, None)
    classifier = _classifier(estimator, features, seed)
    classifier.fit(features, labels.astype(np.int64))
    return FittedClassifier(encoder, classifier)


def _classifier(estimator: Any, features: Features, seed: int) -> Any:
    # imported here, because these imports are slow and not always needed
    if not isinstance(estimator, str):
        return set_random_states(clone(estimator), seed)
    if estimator == LINEAR:
        from sklearn.linear_model import LogisticRegression

        is_narrow = features.shape[1] <= _WIDE and not issparse(features)
        solver = "newton-cholesky" if is_narrow else "lbfgs"
        return LogisticRegression(C=1.0, solver=solver, max_iter=1000)
    if estimator in {CART, BROAD}:
        from sklearn.tree import DecisionTreeClassifier

        fewest = 5 if estimator == CART else max(5, math.isqrt(features.shape[0]))
        return DecisionTreeClassifier(min_samples_leaf=fewest, random_state=seed)
    n_trees = 50 if estimator == LIGHT else 100
    has_few_bins = estimator in {BINNED, LIGHT} or issparse(features)
    is_small = features.shape[0] <= _EXACT_TREES and not has_few_bins
    method = "exact" if is_small else "hist"
    bins = {"max_bin": _MAX_FEW_BINS} if has_few_bins else {}
    # one thread, because sums of floats, and therefore trees, depend on the number of threads
    return needed_xgboost().XGBClassifier(
        n_estimators=n_trees, max_depth=3, tree_method=method, n_jobs=1, random_state=seed, **bins
    )


def out_of_fold(
    estimator: Any,
    real: np.ndarray,
    synthetic: np.ndarray,
    nominal: Sequence[bool],
    *,
    n_folds: int = 5,
    seed: int = 0,
    texts: Sequence[TextSource] = (),
) -> Scores:
    """Return scores of all rows, each by a classifier that learned from the other folds."""
    # Up to ten equal rows are kept in one fold. Otherwise, a classifier that has learned the label
    # of a row would be wrong about its copy in the other table. If there are more equal rows, they
    # are divided like other rows, because a classifier can learn in which table such a cell is
    # frequent.
    rows = np.concatenate([real, synthetic])
    labels = np.repeat([0, 1], [len(real), len(synthetic)])
    scores, fold = np.empty(len(rows)), _folds(rows, labels, n_folds, seed)
    for k in np.unique(fold):
        seen, unseen = fold != k, fold == k
        model = learn(estimator, rows[seen], labels[seen], nominal, seed, texts)
        scores[unseen] = model.scores(rows[unseen])
    return Scores(scores[: len(real)], scores[len(real) :])


def _folds(rows: np.ndarray, labels: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row. Each has equal parts of both tables, and few equal rows."""
    from sklearn.model_selection import StratifiedKFold

    fold = np.empty(labels.size, dtype=np.int64)
    drawn = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels)
    for k, (_, unseen) in enumerate(drawn):
        fold[unseen] = k
    group = equal_rows(rows)
    _, first, counts = np.unique(group, return_index=True, return_counts=True)
    together = np.where(counts[group] <= _MAX_TOGETHER, fold[first][group], fold)
    seen_of_both = all(len(np.unique(labels[together != k])) == 2 for k in range(n_folds))
    return together if seen_of_both else fold


def equal_rows(rows: np.ndarray) -> np.ndarray:
    """Return a number for each row, which is the same for equal rows. Missing equals missing."""
    order = np.lexsort(rows.T[::-1])
    before, after = rows[order[:-1]], rows[order[1:]]
    differs = ~((before == after) | (np.isnan(before) & np.isnan(after))).all(axis=1)
    numbers = np.empty(len(rows), dtype=np.int64)
    numbers[order] = np.concatenate([[0], np.cumsum(differs)])
    return numbers


@dataclass(frozen=True)
class Split:
    """A classifier that learned on some rows and scored others."""

    scores: Scores
    real_rows: str
    n_learned: int
    model: FittedClassifier
    real: np.ndarray
    synthetic: np.ndarray


def with_defaults(estimator: Any) -> dict[str, Any]:
    """Return the classifiers by name. The first is the headline, followed by a tree and a line."""
    given = {} if estimator is None else name_estimators([estimator])
    return {**given, TREE: TREE, LINEAR: LINEAR}


def candidates(estimator: Any) -> dict[str, Any]:
    """Return the classifiers to choose from by name, which are a tree and a line by default."""
    if estimator is None:
        return {TREE: TREE, LINEAR: LINEAR}
    return name_estimators(list(estimator) if isinstance(estimator, list | tuple) else [estimator])


def too_few(context: Context, columns: Read, n_folds: int = 0) -> str:
    """Return why no classifier can be fitted to these tables, or an empty text if it can."""
    if not measured_names(context, columns) and not _texts(columns):
        return "no column of this table can be evaluated."
    fewest = max(MIN_ROWS, n_folds)
    short = [role for role in ROLES if context.n_rows(role) < fewest]
    if not short:
        return ""
    counts = " and ".join(f"{role} has {context.n_rows(role)}" for role in short)
    return f"a classifier requires {fewest} rows of each table to learn and to score, but {counts}."


def read_columns(context: Context, columns: ColumnChoice, text: str | None) -> Read:
    """Return the choice of columns with all text columns, unless columns were chosen."""
    texts = context.schema.columns("text")
    if text is None or columns is not None or not texts:
        return columns
    return Chosen(tuple(measured_names(context, None)), tuple(sorted(texts)), text)


def _texts(columns: Read) -> tuple[str, ...]:
    return columns.texts if isinstance(columns, Chosen) else ()


def text_sources(context: Context, columns: Read) -> list[TextSource]:
    """Return the source of each text column that classifiers read."""
    if not isinstance(columns, Chosen):
        return []
    return [text_source(context, name, columns.vectorizer) for name in columns.texts]


def measured_names(context: Context, columns: Read) -> list[str]:
    """Return the measured columns that classifiers see, sorted so that order does not matter."""
    if isinstance(columns, Chosen):
        return sorted(columns.measured)
    keys = set(context.schema.primary_key) if columns is None else set()
    return sorted(set(chosen_columns(context.schema, columns)) - keys)


def nominal_columns(context: Context, columns: Read) -> tuple[bool, ...]:
    """Return which of the columns that classifiers see are codes of categories."""
    nominal = set(context.schema.columns(*NOMINAL))
    return tuple(name in nominal for name in measured_names(context, columns))


@shared
def labelled_rows(context: Context, role: str, columns: Read = None) -> np.ndarray:
    """Return a role's rows as numbers and codes, columns by name."""
    # Texts are the last columns, as numbers that are equal for equal texts.
    #
    # The codes are in the order of the labels, also for labels without a real row. In the codes
    # of the context, levels without a real row come last, which would reveal synthetic rows if
    # each row has a unique level.
    every = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    names = measured_names(context, columns)
    rows: np.ndarray = (
        encoded_matrix(context, role, "gower")[:, [every.index(n) for n in names]] + 0.0
    )
    for j, is_code in enumerate(nominal_columns(context, columns)):
        if is_code:
            levels = list(context.synthetic[names[j]].cat.categories)
            place = {level: i for i, level in enumerate(sorted_labels(set(levels)))}
            recoded = np.array([place[level] for level in levels] or [0], dtype=np.float64)
            present = ~np.isnan(rows[:, j])
            rows[present, j] = recoded[rows[present, j].astype(np.int64)]
    return np.column_stack([rows, text_numbers(context, role, _texts(columns))])


@shared
def ordered_rows(context: Context, role: str, columns: Read = None) -> np.ndarray:
    """Return a role's labeled rows in lexicographic order."""
    rows = labelled_rows(context, role, columns)
    ordered: np.ndarray = rows[np.lexsort(rows.T[::-1])]
    return ordered


def drawn_rows(
    context: Context, role: str, columns: Read, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return a seeded sample of the ordered rows of a role, or all rows if there are no more."""
    rows = ordered_rows(context, role, columns)
    return rows[sample_positions(len(rows), n_drawn, named_seed(role, seed))]


@shared
def copied_share(context: Context, columns: Read = None) -> float:
    """Return the fraction of synthetic rows that classifiers see as equal to a training row."""
    train, synthetic = (
        pd.util.hash_pandas_object(pd.DataFrame(ordered_rows(context, role, columns)), index=False)
        for role in ROLES
    )
    return float(synthetic.isin(set(train)).mean())


@shared
def fold_scores(
    context: Context,
    estimator: Any,
    columns: Read,
    n_folds: int,
    max_rows: int | None,
    seed: int,
    real: str = "train",
) -> Scores:
    """Return out-of-fold scores of equal numbers of real and synthetic rows."""
    rows = balanced_rows(context, real, columns, max_rows, seed)
    nominal = nominal_columns(context, columns)
    texts = text_sources(context, columns)
    return out_of_fold(estimator, *rows, nominal, n_folds=n_folds, seed=seed, texts=texts)


def balanced_rows(
    context: Context, real: str, columns: Read, max_rows: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return equal numbers of real and synthetic rows, with a seeded sample of the larger table."""
    n_rows = min(context.n_rows(real), context.n_rows("synthetic"))
    n_rows = n_rows if max_rows is None else min(n_rows, max_rows)
    real_rows, synthetic = (
        drawn_rows(context, role, columns, n_rows, seed) for role in (real, "synthetic")
    )
    return real_rows, synthetic


def permute_tables(
    tables: Sequence[np.ndarray], n_permutations: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield two tables of the same sizes with randomly exchanged rows, again and again."""
    rows = np.concatenate(tables)
    rows = rows[np.lexsort(rows.T[::-1])]  # only the labels may distinguish the tables
    is_synthetic = np.repeat([False, True], [len(part) for part in tables])
    rng = np.random.default_rng(seed)
    for _ in range(n_permutations):
        dealt = rng.permutation(is_synthetic)
        yield rows[~dealt], rows[dealt]


@shared
def split(
    context: Context,
    estimator: Any,
    columns: Read,
    test_size: float,
    max_rows: int | None,
    seed: int,
) -> Split:
    """Return scores of rows that a classifier has not seen, after learning from other rows."""
    # It learns from training rows and a part of the synthetic rows, and is tested on the other
    # synthetic rows and the same number of holdout rows. The tested rows are independent of
    # everything that the classifier and the generator learned. Without a holdout, the training
    # data are divided like the synthetic table.
    synthetic = _shuffle_rows(context, "synthetic", columns, max_rows, seed)
    train = _shuffle_rows(context, "train", columns, max_rows, seed)
    fresh = "holdout" in context and context.n_rows("holdout") >= MIN_ROWS
    if fresh:
        tested = _shuffle_rows(context, "holdout", columns, max_rows, seed)
        n_test = min(_test_rows(len(synthetic), test_size), len(tested))
        learned = train
    else:
        n_test = _test_rows(min(len(train), len(synthetic)), test_size)
        tested, learned = train[:n_test], train[n_test:]
    unseen, seen = synthetic[:n_test], synthetic[n_test:]
    n_learned = min(len(seen), len(learned))
    rows = np.concatenate([learned[:n_learned], seen[:n_learned]])
    labels = np.repeat([0, 1], n_learned)
    texts = text_sources(context, columns)
    model = learn(estimator, rows, labels, nominal_columns(context, columns), seed, texts)
    tested = tested[:n_test]
    scores = Scores(model.scores(tested), model.scores(unseen))
    return Split(scores, "holdout" if fresh else "train", n_learned, model, tested, unseen)


def _shuffle_rows(
    context: Context, role: str, columns: Read, max_rows: int | None, seed: int
) -> np.ndarray:
    rows = drawn_rows(context, role, columns, max_rows, seed)
    return rows[np.random.default_rng(named_seed(f"halves of {role}", seed)).permutation(len(rows))]


def _test_rows(n_rows: int, test_size: float) -> int:
    return min(max(1, round(test_size * n_rows)), n_rows - 2)


@shared
def importances(
    context: Context,
    estimator: Any,
    columns: Read,
    test_size: float,
    max_rows: int | None,
    seed: int,
) -> Mapping[str, float]:
    """Return by how much the AUC on unseen rows falls if a column is shuffled, largest first."""
    tested = split(context, estimator, columns, test_size, max_rows, seed)
    real, synthetic = tested.real[:_IMPORTANCE_ROWS], tested.synthetic[:_IMPORTANCE_ROWS]
    encoder = tested.model.encoder
    features, owners = encoder.transform(np.concatenate([real, synthetic])), encoder.owners
    rng = np.random.default_rng(seed)
    whole = _auc(tested.model, features, len(real))
    falls = {}
    for j, name in enumerate([*measured_names(context, columns), *_texts(columns)]):
        own, order = owners == j, rng.permutation(features.shape[0])
        mixed = hstack_features([features[:, ~own], features[order][:, own]])
        mixed = mixed[:, np.argsort(np.argsort(own, kind="stable"))]
        falls[name] = whole - _auc(tested.model, mixed, len(real)) if own.any() else 0.0
    return dict(sorted(falls.items(), key=lambda pair: -pair[1]))


def _auc(model: FittedClassifier, features: np.ndarray, n_real: int) -> float:
    scores = model.scores_of(features)
    return auc(scores[n_real:], scores[:n_real])
