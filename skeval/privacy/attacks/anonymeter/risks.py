"""From how often an attack succeeds on train, by guessing and on the holdout, to a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import MissingInputError
from skeval.formatting import as_float, number, percent
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.result import MetricTags, Result, undefined
from skeval.stats.risks import Rate, Risk, attack_rate, is_weak, residual_risk, risk_level
from skeval.steps.neighbors import Index, encoded, encoded_columns, kept_features, ranges, rows_of
from skeval.steps.samples import ColumnChoice
from skeval.tables.preprocessing import NOMINAL
from skeval.tables.schema import TableSchema

_ALL_SUCCEED = "every attack on holdout rows succeeds too, so that it shows no risk of train rows."


@dataclass(frozen=True)
class Attack:
    """How often an attack succeeds.

    Attributes
    ----------
    successes, control : tuple of float
        Number of successes on train and on the holdout, one for each repeat of the attack.
    n : int
        Number of attacks on either table in a repeat.
    guessed : float
        Number of successes on train by guessing.
    n_guessed : int
        Number of guesses.
    p_value : float
        Of the null hypothesis that train rows are attacked no more successfully.
    spread : float
        How many times wider the interval is than that of independent attacks.
    details : dict
        What else is reported.
    """

    successes: tuple[float, ...]
    control: tuple[float, ...]
    n: int
    guessed: float
    n_guessed: int
    p_value: float
    spread: float = 1.0
    details: dict[str, Any] = field(default_factory=dict)

    def rates(self, confidence: float) -> tuple[Rate, Rate, Rate]:
        """Return the rates of the attack, of guessing and on the holdout, over all repeats."""
        return (
            attack_rate(float(np.mean(self.successes)), self.n, confidence),
            attack_rate(self.guessed, self.n_guessed, confidence),
            attack_rate(float(np.mean(self.control)), self.n, confidence),
        )

    def risk(self, method: str, confidence: float) -> Risk:
        """Return the risk: the mean over the repeats, within an interval of the mean counts."""
        attack, _, control = self.rates(confidence)
        settings: dict[str, Any] = {"method": method, "confidence": confidence}
        whole = residual_risk(attack, control, spread=self.spread, **settings)
        if len(self.successes) == 1 or math.isnan(whole.value):
            return whole
        repeats = [
            residual_risk(*(attack_rate(k, self.n, confidence) for k in counts), **settings)
            for counts in zip(self.successes, self.control, strict=True)
        ]
        raw = float(np.nanmean([risk.raw for risk in repeats]))
        unshrunk = float(np.nanmean([risk.unshrunk for risk in repeats]))
        value, (low, high) = min(max(raw, 0.0), 1.0), whole.interval
        return Risk(value, (min(low, value), max(high, value)), raw, unshrunk)

    def report(self, risk: Risk, confidence: float) -> dict[str, Any]:
        """Return what a result says: the rates, the risk, whether guessing does as well."""
        on_train, guessed, on_holdout = self.rates(confidence)
        return {
            "attack": on_train.to_dict(),
            "baseline": guessed.to_dict(),
            "control": on_holdout.to_dict(),
            "residual_risk": risk.value,
            "raw": risk.raw,
            "unshrunk": risk.unshrunk,
            "weak_attack": is_weak(on_train, guessed),
            "spread": self.spread,
        }


class ResidualRiskMetric(Metric):
    """Base of metrics whose value is a residual risk, or the largest of several."""

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout"}),
        greater_is_better=False,
        bounds=(0.0, 1.0),
        evidence="attack",
    )


def risk_of(attack: Attack, method: str, confidence: float) -> Result:
    """Return the result of one attack."""
    risk = attack.risk(method, confidence)
    details = {**attack.report(risk, confidence), **attack.details}
    if math.isnan(risk.value):
        return undefined(_ALL_SUCCEED, **details)
    return Result(
        risk.value, interval=risk.interval, p_value=attack.p_value, baseline=0.0, details=details
    )


def largest_risk(attacks: Mapping[str, Attack | None], method: str, confidence: float) -> Result:
    """Return the largest residual risk of several attacks, None for those not made.

    Intervals are simultaneous and the p-value is that of the most significant attack times
    their number, after Bonferroni. The largest of noisy numbers is too large on average: the
    interval reaches from the largest of the lower bounds to the largest of the upper ones.
    """
    made = {name: attack for name, attack in attacks.items() if attack is not None}
    simultaneous = 1.0 - (1.0 - confidence) / max(1, len(made))
    reports = {}
    for name, attack in made.items():
        report = attack.report(attack.risk(method, confidence), confidence)
        interval = list(attack.risk(method, simultaneous).interval)
        reports[name] = {**report, "interval": interval, "p_value": attack.p_value}
    defined = {n: one for n, one in reports.items() if not math.isnan(one["residual_risk"])}
    details: dict[str, Any] = {
        "attacks": reports,
        "left_out": [name for name in attacks if name not in defined],
        "n_attacks_made": len(made),
    }
    if not defined:
        reason = _ALL_SUCCEED if made else "no attack could be made on this table."
        return undefined(reason, **details)
    worst = max(defined, key=lambda name: defined[name]["residual_risk"])
    value = defined[worst]["residual_risk"]
    low, high = (max(one["interval"][i] for one in defined.values()) for i in (0, 1))
    return Result(
        value,
        interval=(min(low, value), max(high, value)),
        p_value=min(1.0, len(made) * min(one["p_value"] for one in defined.values())),
        baseline=0.0,
        details={**details, "worst_attack": worst},
    )


def check_enough_columns(
    owner: str, columns: Sequence[str], least: int, secret: str | None = None
) -> None:
    """Refuse a table, or a choice of columns, of which too few are left without the secret."""
    if len(set(columns) - {secret}) >= least:
        return
    besides = "" if secret is None else f" besides the secret, {secret},"
    needed = "one column" if least == 1 else f"{least} columns"
    raise MissingInputError(
        f"{owner} needs {needed}{besides} that can be measured, and there "
        f"{'is none' if least == 1 else 'are fewer'}."
    )


def shown_rates(details: Mapping[str, Any]) -> tuple[str, str]:
    """Return the rates of success on train and on the holdout for a sentence."""
    train, control = (percent(as_float(details[who]["rate"])) for who in ("attack", "control"))
    return train, control


def shown_level(risk: float) -> str:
    """Return the sentence that ends the summary of a residual risk."""
    return f"Beyond that, the residual risk is {number(risk)}, {risk_level(risk)}."


def places(schema: TableSchema) -> dict[str, int]:
    """Return where each measured column stands in encoded rows."""
    return {name: j for j, name in enumerate(encoded_columns(schema))}


@shared
def synthetic_rows(context: Context) -> np.ndarray:
    """Return the encoded synthetic rows in an order that their values alone determine.

    Of equally near rows the first ones are returned. Ordered by a hash of the values they are as
    good as random, and do not depend on the order of the table.
    """
    rows = encoded(context, "synthetic")
    by_name = pd.DataFrame(rows[:, [j for _, j in sorted(places(context.schema).items())]])
    return rows[np.argsort(pd.util.hash_pandas_object(by_name, index=False), kind="stable")]


def near_rows(context: Context, columns: ColumnChoice) -> np.ndarray:
    """Return the synthetic rows that :func:`nearest_synthetic` finds, in some columns."""
    return synthetic_rows(context)[:, kept_features(context, "gower", columns)]


@shared
def synthetic_index(context: Context, columns: ColumnChoice) -> Index:
    """Return the search structure over the synthetic rows in some columns."""
    kept, rows = kept_features(context, "gower", columns), near_rows(context, columns)
    nominal = context.schema.columns(*NOMINAL)
    categorical = np.array([name in nominal for name in places(context.schema)])[kept]
    engine = MixedNearestNeighbors(ranges=ranges(context)[kept], categorical=categorical)
    return Index(rows, engine.fit(rows), "gower")


def n_targets(context: Context, n_attacks: int | None) -> int:
    """Return how many rows of each table are attacked: at most all of the smaller one.

    Wilson's centre of fewer attacks is nearer to 1/2: other numbers would make a risk of their own.
    """
    fewest = min(context.n_rows("train"), context.n_rows("holdout"))
    return fewest if n_attacks is None else min(n_attacks, fewest)


def targets(
    context: Context, columns: ColumnChoice, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Return the rows that are attacked, those of train first, in some columns."""
    n, kept = n_targets(context, n_attacks), kept_features(context, "gower", columns)
    drawn = [rows_of(context, role, "gower", None, n, seed) for role in ("train", "holdout")]
    return np.concatenate(drawn)[:, kept]


@shared
def nearest_synthetic(
    context: Context, columns: ColumnChoice, k: int, n_attacks: int | None, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return distances and positions of the k nearest synthetic rows of each target.

    One pass serves the rows of train and of the holdout. `columns` is a column key.
    """
    asked = targets(context, columns, n_attacks, seed)
    return synthetic_index(context, columns).kneighbors(asked, min(k, context.n_rows("synthetic")))
