"""Guesses of a secret column, from nearest synthetic rows or an estimator, and their success."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL
from skeval.privacy.attacks._guessing import Guesses, Lesson, guess_labels, guess_numbers
from skeval.privacy.attacks._risks import Attack
from skeval.privacy.attacks._targets import (
    n_targets,
    nearest_synthetic,
    places,
    synthetic_rows,
    targets,
)
from skeval.schema import TableSchema
from skeval.stats.risks import attack_rate, residual_risk, scores_p_value
from skeval.steps import column_key, ranges

__all__ = ["Guessing", "inference"]

_K = 8  # nearest rows looked at; those equally near share the guess
_LEAST_MARGIN = 1e-12
_FEWEST = 10  # rows of a label in train and in the holdout below which it is not told of


@dataclass(frozen=True)
class Guessing:
    """How guesses are made, and when they are right, as parameters of a metric say it."""

    regression: bool | None
    tolerance: float
    tolerance_kind: str
    estimator: Any
    n_attacks: int | None
    seed: int

    @classmethod
    def of(cls, metric: Any, regression: bool | None = None) -> Guessing:
        """Return the settings of a metric."""
        return cls(
            regression,
            metric.tolerance,
            metric.tolerance_kind,
            metric.estimator,
            metric.n_attacks,
            metric.random_state,
        )

    def is_near_enough(self, schema: TableSchema, secret: str) -> bool:
        """Tell whether a guess need not be equal."""
        nearly = self.regression is None or self.regression
        return nearly and secret not in schema.columns(*NOMINAL)

    def margins(self, context: Context, secret: str, truth: np.ndarray) -> np.ndarray:
        """Return how far a guess of each secret may be off."""
        if not self.is_near_enough(context.schema, secret):
            return np.zeros(truth.size)
        if self.tolerance_kind == "range" or context.schema.kinds[secret] == "datetime":
            sizes = np.full(truth.size, ranges(context)[places(context.schema)[secret]])
        else:
            sizes = np.abs(truth)
        return np.fmax(self.tolerance * sizes, _LEAST_MARGIN)


def inference(context: Context, secret: str, known: Sequence[str], guessing: Guessing) -> Attack:
    """Return how often the secret is guessed by somebody who knows the other columns."""
    aux = tuple(name for name in known if name != secret)
    j, n_rows = places(context.schema)[secret], (guessing.n_attacks, guessing.seed)
    truth, released = targets(context, None, *n_rows)[:, j], synthetic_rows(context)[:, j]
    margins = guessing.margins(context, secret, truth)
    values, weights = _guesses(
        context, secret, aux, guessing.estimator, guessing.is_near_enough(context.schema, secret),
        *n_rows,
    )  # fmt: skip
    right = _is_right(values, truth[:, None], margins[:, None])
    scores = np.minimum((weights * right).sum(axis=1), 1.0)
    n = n_targets(context, guessing.n_attacks)
    train, holdout = scores[:n], scores[n:]
    by_chance = _random_guess_rates(released, truth[:n], margins[:n])
    usual = _usual(released, is_label=secret in context.schema.columns(*NOMINAL))
    majority = _is_right(usual, truth[:n], margins[:n]).sum()
    return Attack(
        successes=(float(train.sum()),),
        n=n,
        control=(float(holdout.sum()),),
        n_control=n,
        guessed=float(by_chance.sum()),
        n_guessed=n,
        p_value=scores_p_value(train, holdout, seed=guessing.seed),
        details={
            "n_known": len(aux),
            "majority": attack_rate(float(majority), n).to_dict(),
            "by_secret": _by_secret(context, secret, truth, scores, n),
        },
    )


def _by_secret(
    context: Context, secret: str, truth: np.ndarray, scores: np.ndarray, n: int
) -> dict[str, dict[str, Any]]:
    """Return the success on train and holdout rows of each label that enough of both have.

    A risk that is small on average may be that of one group. Each rate is of the attacked rows that
    have the label, in train and in the holdout alike.
    """
    if secret not in context.schema.columns(*NOMINAL):
        return {}
    found = {}
    for code, label in enumerate(context.levels[secret]):
        train, holdout = (part[own == code] for part, own in _halves(scores, truth, n))
        if min(train.size, holdout.size) >= _FEWEST:
            rates = [attack_rate(float(part.sum()), part.size) for part in (train, holdout)]
            risk = residual_risk(*rates)
            found[label] = {
                "attack": rates[0].to_dict(),
                "control": rates[1].to_dict(),
                "residual_risk": risk.value,
                "interval": list(risk.interval),
            }
    return found


def _halves(scores: np.ndarray, truth: np.ndarray, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(scores[:n], truth[:n]), (scores[n:], truth[n:])]


def _is_right(guess: np.ndarray, truth: np.ndarray, margin: np.ndarray) -> np.ndarray:
    right: np.ndarray = (np.abs(guess - truth) <= margin) | (np.isnan(guess) & np.isnan(truth))
    return right


def _random_guess_rates(released: np.ndarray, truth: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """Return the share of the synthetic secrets that are right for each target."""
    present = np.sort(released[~np.isnan(released)])
    near = np.searchsorted(present, truth + margins, side="right")
    near -= np.searchsorted(present, truth - margins, side="left")
    n_right = np.where(np.isnan(truth), released.size - present.size, near)
    rates: np.ndarray = n_right / released.size
    return rates


def _usual(released: np.ndarray, *, is_label: bool) -> np.ndarray:
    """Return the most frequent label, missing being one, or the median number."""
    if not is_label:
        present = released[~np.isnan(released)]
        return np.array(np.median(present) if present.size else np.nan)
    labels, counts = np.unique(released, return_counts=True)
    return np.array(labels[counts.argmax()])


@shared
def _guesses(
    context: Context,
    secret: str,
    aux: tuple[str, ...],
    estimator: Any,
    near_enough: bool,
    n_attacks: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the guesses of each target, of shape (n_targets, n_guesses), and their weights."""
    released = synthetic_rows(context)[:, places(context.schema)[secret]]
    if estimator is None:
        distances, found = nearest_synthetic(
            context, column_key(context.schema, aux), _K, n_attacks, seed
        )
        tied = distances == distances[:, :1]
        return released[found], tied / tied.sum(axis=1, keepdims=True)
    there, nominal = places(context.schema), context.schema.columns(*NOMINAL)
    lines = [there[name] for name in sorted(aux)]
    asked = targets(context, None, n_attacks, seed)[:, lines]
    kinds = tuple(name in nominal for name in sorted(aux))
    known = synthetic_rows(context)[:, lines]
    told = _learnt(estimator, known, kinds, released, asked, near_enough, seed)
    return told[:, None], np.ones((len(asked), 1))


def _learnt(
    estimator: Any,
    known: np.ndarray,
    nominal: tuple[bool, ...],
    secrets: np.ndarray,
    asked: np.ndarray,
    near_enough: bool,
    seed: int,
) -> np.ndarray:
    """Return what an estimator that learnt from synthetic rows guesses."""
    if near_enough:
        there = ~np.isnan(secrets)
        if not there.any():
            return np.full(len(asked), np.nan)
        (found,) = guess_numbers(
            estimator, Lesson(known[there], nominal, secrets[there]), [asked], seed
        )
        return found.values
    values, labels = np.unique(secrets, return_inverse=True)  # nan comes last, once
    (found,) = guess_labels(estimator, Lesson(known, nominal, labels), [asked], seed)
    return _values_of(found, values)


def _values_of(found: Guesses, values: np.ndarray) -> np.ndarray:
    """Return what guessed labels stand for; one that stands for many is never right."""
    known = found.values >= 0
    return np.where(known, values[np.where(known, found.values, 0)], np.inf)
