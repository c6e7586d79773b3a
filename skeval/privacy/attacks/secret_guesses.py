"""Guesses of a sensitive attribute by models that are trained on some rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from skeval.results.result import Contrast, Result
from skeval.results.verdict import raises_alarm
from skeval.stats.abstention import SHARES, Abstention
from skeval.steps.estimators import set_random_states
from skeval.tables.preprocessing import OneHot, Ranks

MISSING = -1  # the code of a missing label
_RARE = -2  # pools all labels that are too rare for a model, and never matches a row
_MAX_LABELS = 100
_N_TREES = 10


@dataclass(frozen=True)
class Lesson:
    """Training data of a model."""

    known: np.ndarray
    nominal: tuple[bool, ...]
    secret: np.ndarray


@dataclass(frozen=True)
class Guesses:
    """Predictions of a model for some rows."""

    values: np.ndarray
    labels: np.ndarray
    chances: np.ndarray | None
    spread: np.ndarray | None = None

    @property
    def confidence(self) -> np.ndarray:
        """Confidence of each guess: the probability of the label, or the agreement of models.

        It is constant if the model does not provide either.
        """
        chances = self.chance_of(self.values) if self.labels.size else None
        if chances is not None:
            return np.asarray(chances).round(9)
        return np.zeros(self.values.size) if self.spread is None else -self.spread.round(9)

    def chance_of(self, secrets: np.ndarray) -> np.ndarray | None:
        """Return the probability of the label of each row, 0 for unknown labels."""
        if self.chances is None:
            return None
        order = np.argsort(self.labels, kind="stable")
        place = np.minimum(np.searchsorted(self.labels[order], secrets), order.size - 1)
        chances = self.chances[np.arange(secrets.size), order[place]]
        return np.where(self.labels[order][place] == secrets, chances, 0.0)


def guess_labels(
    estimator: Any, lesson: Lesson, asked: Sequence[np.ndarray], seed: int
) -> list[Guesses]:
    """Return guesses of labels for several tables of quasi-identifiers."""
    labels, counts = np.unique(lesson.secret, return_counts=True)
    places = np.searchsorted(labels, lesson.secret)
    if labels.size > _MAX_LABELS:
        kept = np.sort(np.argsort(-counts, kind="stable")[:_MAX_LABELS])
        place_of = np.full(labels.size, _MAX_LABELS)
        place_of[kept] = np.arange(_MAX_LABELS)
        labels, places = np.append(labels[kept], _RARE), place_of[places]
    features, *shown = _features(estimator, lesson, asked)
    if labels.size == 1 or features.shape[1] == 0:
        return marginal_guesses(lesson.secret, [len(table) for table in asked], True)
    if estimator is None:
        totals: list[Any] = [0.0] * len(shown)
        for answers in _over_trees(True, features, places, shown, seed):
            totals = [total + one for total, one in zip(totals, answers, strict=True)]
        means = [total / _N_TREES for total in totals]
        return [Guesses(labels[chances.argmax(axis=1)], labels, chances) for chances in means]
    model = set_random_states(clone(estimator), seed).fit(features, places)
    guesses = []
    for table in shown:
        chances = None
        if hasattr(model, "predict_proba"):
            chances = np.asarray(model.predict_proba(table), dtype=np.float64)
        values = labels[np.asarray(model.predict(table)).astype(np.int64)]
        guesses.append(Guesses(values, labels, chances))
    return guesses


def guess_numbers(
    estimator: Any, lesson: Lesson, asked: Sequence[np.ndarray], seed: int
) -> list[Guesses]:
    """Return guesses of numbers for several tables of quasi-identifiers."""
    features, *shown = _features(estimator, lesson, asked)
    if features.shape[1] == 0 or np.ptp(lesson.secret) == 0:
        return marginal_guesses(lesson.secret, [len(table) for table in asked], False)
    if estimator is None:
        answers = zip(*_over_trees(False, features, lesson.secret, shown, seed), strict=True)
        return [_mean_number(one, float(np.ptp(lesson.secret))) for one in answers]
    model = set_random_states(clone(estimator), seed).fit(features, lesson.secret)
    return [_number(model.predict(table)) for table in shown]


def _features(estimator: Any, lesson: Lesson, asked: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the features of a model: ranks, or one-hot columns for a custom estimator.

    Missing values are smaller than all other values.
    """
    encoder = (Ranks if estimator is None else OneHot).from_rows(lesson.known, lesson.nominal)
    return [np.nan_to_num(encoder.transform(table), nan=-1.0) for table in (lesson.known, *asked)]


def _over_trees(
    are_labels: bool,
    features: np.ndarray,
    target: np.ndarray,
    shown: Sequence[np.ndarray],
    seed: int,
) -> Iterator[list[Any]]:
    """Yield the probabilities or numbers that each random tree predicts for some tables."""
    from sklearn.tree import ExtraTreeClassifier, ExtraTreeRegressor

    for tree_seed in np.random.default_rng(seed).integers(2**31, size=_N_TREES):
        if are_labels:
            tree = ExtraTreeClassifier(random_state=int(tree_seed)).fit(features, target)
            answer = tree.predict_proba
        else:
            tree = ExtraTreeRegressor(max_features="sqrt", random_state=int(tree_seed))
            answer = tree.fit(features, target).predict
        yield [answer(table) for table in shown]


def _mean_number(answers: Sequence[np.ndarray], scale: float) -> Guesses:
    """Return the mean prediction of trees, with their standard deviation divided by a scale."""
    spread = np.std(answers, axis=0) / scale
    return replace(_number(sum(answers) / _N_TREES), spread=np.asarray(spread))


def _number(values: Any) -> Guesses:
    return Guesses(np.asarray(values, dtype=np.float64).reshape(-1), np.empty(0), None)


def marginal_guesses(secrets: np.ndarray, n_rows: Sequence[int], are_labels: bool) -> list[Guesses]:
    """Return guesses without quasi-identifiers: the most frequent label, or the median."""
    if not are_labels:
        return [_number(np.full(n, np.median(secrets))) for n in n_rows]
    labels, counts = np.unique(secrets, return_counts=True)
    shares = counts / secrets.size
    best = labels[shares.argmax()]
    return [
        Guesses(np.full(n, best), labels, np.broadcast_to(shares, (n, labels.size))) for n in n_rows
    ]


def surest_contrast(
    contrast: Contrast, test: Abstention, secret: str, n_train: int, n_holdout: int
) -> Contrast:
    """Return the contrast of a test of the most confident guesses, at the clearest fraction."""
    # The given contrast is for all guesses. The number for the holdout is scaled to the number of
    # training rows.
    share = SHARES[test.clearest]
    if share < 1.0:
        n_given = max(1.0, np.round(share * (n_train + n_holdout)))
        train, holdout = test.pooled[:, test.clearest] / n_given
        contrast = replace(
            contrast,
            what=(
                f"most confident {share:.0%} of guesses of {secret} that are correct and about "
                "train rows"
            ),
            observed=float(train),
            expected=float(holdout) * n_train / n_holdout,
            reference="about holdout rows",
            high_leaks=True,
        )
    return replace(contrast, n_tests=len(SHARES))


def shown_surest(result: Result) -> str:
    """Return a sentence about the most confident guesses for the summary of a significant test."""
    # It describes the most significant fraction of guesses. It is empty if this is all guesses,
    # which other sentences describe.
    found = cast("dict[str, Any]", result.details.get("abstaining", {}))
    if not found or not raises_alarm(result):
        return ""
    tested = f" The test compared {result.contrast}."
    if found["clearest"] == 1.0:
        return "" if result.details.get("scoring", "accuracy") == "accuracy" else tested
    (at,) = (one for one in found["by_share"] if one["share"] == found["clearest"])
    n, right, n_strangers, strangers = (
        f"{at[who][what]:,.0f}" for who in ("train", "holdout") for what in ("n", "n_right")
    )
    return (
        f" Among the most confident {at['share']:.0%} of guesses, {right} of {n} are correct for "
        f"training records, and {strangers} of {n_strangers} for holdout records.{tested}"
    )
