"""From coded rows to the result of an attribution attack: risk of train, of holdout, their leak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval.privacy.attacks._secrets import CodedRows
from skeval.result import Result
from skeval.stats import cap as stats
from skeval.stats.row_scores import (
    RowMean,
    Scores,
    difference_interval,
    exchange_p_value,
    row_mean,
)

__all__ = ["Attribution", "attribution_result"]

_UNFOUND = {
    "cap": "no train row has the known columns of a synthetic row.",
    "tcap": "no train row has known columns to which the synthetic table attributes a secret.",
}
_NO_SECRET = (
    "the sensitive columns have one value in train, so that there is nothing to guess. "
    "Set normalize=False for the protection itself."
)


@dataclass(frozen=True)
class Attribution:
    """How secrets are attributed, and what a guess of them is worth.

    Attributes
    ----------
    method : str
        As :class:`~skeval.privacy.DisclosureProtection` takes it.
    tau : float
        With method "tcap", the share of a key's synthetic rows that must agree.
    guess : float
        Protection of a guess.
    normalize : bool
        Whether protection is held against that of a guess.
    """

    method: str
    tau: float
    guess: float
    normalize: bool

    @property
    def is_normalized(self) -> bool:
        """Whether the value is relative to a guess; rows that "disco" counts are not guessed."""
        return self.normalize and self.method != "disco"

    def value(self, risk: float) -> float:
        """Return the protection at a risk, the larger the better; nan at nan."""
        protection = 1.0 - risk
        return float(np.minimum(1.0, protection / self.guess)) if self.is_normalized else protection

    def scores(self, targets: CodedRows, synthetic: CodedRows) -> np.ndarray:
        """Return for each target how far the attack is right; nan where it says nothing."""
        pairs = targets.pair, synthetic.pair
        if self.method == "generalized_cap":
            return stats.generalized_cap(
                targets.known, targets.secrets, synthetic.known, synthetic.secrets
            )
        if self.method == "tcap":
            return stats.attributed(*pairs, self.tau)
        if self.method == "disco":
            return stats.disclosed(*pairs)
        found = stats.cap(*pairs)
        return np.nan_to_num(found) if self.method == "zero_cap" else found


def attribution_result(
    attack: Attribution,
    real: Mapping[str, CodedRows],
    samples: Sequence[CodedRows],
    *,
    n_permutations: int,
    seed: int,
) -> Result:
    """Return the protection of train rows, and what it is more or less than that of holdout rows.

    Parameters
    ----------
    attack : Attribution
        The attack.
    real : mapping of str to CodedRows
        The rows of train, and of the holdout if there are any.
    samples : sequence of CodedRows
        Synthetic rows: the table, or samples of it, over which scores are averaged.
    n_permutations, seed : int
        Of the exchanges of train and holdout rows.

    Returns
    -------
    Result
    """
    found = {role: _scored(attack, rows, samples) for role, rows in real.items()}
    risk = {role: row_mean(*scores) for role, scores in found.items()}
    train = risk["train"]
    details: dict[str, Any] = {
        "risk": train.value,
        "protection": 1.0 - train.value,
        "guess": attack.guess,
        "standard_error": train.standard_error,
        "n_rows": train.n_rows,
        "matched": _matched(real["train"], samples),
    }
    if attack.method == "tcap":
        details |= _told(attack, real["train"], samples)
    p_value = None
    if "holdout" in real:
        details["matched_holdout"] = _matched(real["holdout"], samples)
        details |= _leak(train, risk["holdout"])
        pair = (found["train"][0], found["holdout"][0])
        p_value = exchange_p_value([pair], n_permutations=n_permutations, seed=seed)
    if attack.is_normalized and attack.guess <= 0.0:
        return undefined(_NO_SECRET, **details)
    if np.isnan(train.value):
        return undefined(_UNFOUND["tcap" if attack.method == "tcap" else "cap"], **details)
    low, high = train.interval
    return Result(
        attack.value(train.value),
        interval=(attack.value(high), attack.value(low)),
        p_value=None if p_value is None or np.isnan(p_value) else p_value,
        baseline=attack.value(risk["holdout"].value) if "holdout" in real else None,
        details=details,
    )


def _scored(
    attack: Attribution, rows: CodedRows, samples: Sequence[CodedRows]
) -> tuple[Scores, float]:
    """Return scores of rows summed over samples, and the variance that stems from the samples."""
    totals, counts = np.zeros(len(rows.keys)), np.zeros(len(rows.keys), dtype=np.int64)
    means = []
    for sample in samples:
        scores = attack.scores(rows, sample)
        counted = ~np.isnan(scores)
        totals[counted] += scores[counted]
        counts += counted
        if counted.any():
            means.append(float(scores[counted].mean()))
    variance = float(np.var(means, ddof=1)) / len(means) if len(means) > 1 else 0.0
    return (totals, counts), variance


def _leak(train: RowMean, holdout: RowMean) -> dict[str, Any]:
    leak = difference_interval(train.value, train.interval, holdout.value, holdout.interval)
    return {
        "risk_holdout": holdout.value,
        "leak": train.value - holdout.value,
        "leak_interval": list(leak),
    }


def _matched(rows: CodedRows, samples: Sequence[CodedRows]) -> float:
    """Return the share of rows whose key a synthetic row has."""
    return float(np.mean([np.isin(rows.keys, sample.keys).mean() for sample in samples]))


def _told(attack: Attribution, rows: CodedRows, samples: Sequence[CodedRows]) -> dict[str, float]:
    targeted = [(stats.weap(*sample.pair) >= attack.tau - 1e-9).mean() for sample in samples]
    over = [stats.cap_of_synthetic(rows.pair, sample.pair, attack.tau) for sample in samples]
    defined = [value for value in over if not np.isnan(value)]
    return {
        "targeted": float(np.mean(targeted)),
        "over_synthetic": float(np.mean(defined)) if defined else float("nan"),
    }
