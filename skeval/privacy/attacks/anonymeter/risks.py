"""From how often an attack succeeds on train, by guessing and on the holdout, to a result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import MetricWarning
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.result import Result, undefined
from skeval.stats.risks import Rate, Risk, attack_rate, is_weak, residual_risk
from skeval.steps.neighbors import Index, encoded, kept_features, ranges, rows_of
from skeval.steps.samples import ColumnChoice
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema
from skeval.tags import MetricTags

TAGS = MetricTags(
    "privacy",
    needs=frozenset({"holdout"}),
    greater_is_better=False,
    bounds=(0.0, 1.0),
    evidence="attack",
)
_ALL_SUCCEED = (
    "every attack on holdout rows succeeds too, so that no risk of train rows can be told from it."
)


class Measured(Protocol):
    """A metric whose value is a residual risk."""

    ci_method: str
    confidence_level: float


@dataclass(frozen=True)
class Attack:
    """How often an attack succeeds.

    Attributes
    ----------
    successes, control : tuple of float
        Number of successes on train and on the holdout, one for each repeat of the attack.
    n, n_control : int
        Number of attacks in a repeat.
    guessed : float
        Number of successes on train of somebody who guesses.
    n_guessed : int
        Number of guesses.
    p_value : float
        Of the null hypothesis that train rows are attacked no more successfully.
    spread : float
        How many times wider the interval is than that of independent attacks.
    details : dict
        What else is to be said.
    warnings : tuple of MetricWarning
        What the reader must know.
    """

    successes: tuple[float, ...]
    n: int
    control: tuple[float, ...]
    n_control: int
    guessed: float
    n_guessed: int
    p_value: float
    spread: float = 1.0
    details: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[MetricWarning, ...] = ()

    def rates(self, confidence: float) -> tuple[Rate, Rate, Rate]:
        """Return the rates of the attack, of guessing and on the holdout, over all repeats."""
        return (
            attack_rate(float(np.mean(self.successes)), self.n, confidence),
            attack_rate(self.guessed, self.n_guessed, confidence),
            attack_rate(float(np.mean(self.control)), self.n_control, confidence),
        )

    def risk(self, method: str, confidence: float) -> Risk:
        """Return the risk: the mean over the repeats, within an interval of the mean counts."""
        attack, _, control = self.rates(confidence)
        whole = residual_risk(
            attack, control, method=method, confidence=confidence, spread=self.spread
        )
        if len(self.successes) == 1 or math.isnan(whole.value):
            return whole
        return _averaged(
            whole,
            [
                residual_risk(
                    attack_rate(k, self.n, confidence),
                    attack_rate(c, self.n_control, confidence),
                    method=method,
                    confidence=confidence,
                )
                for k, c in zip(self.successes, self.control, strict=True)
            ],
        )


def _averaged(whole: Risk, parts: list[Risk]) -> Risk:
    """Return the mean of the risks that are defined, within the interval of the mean counts."""
    raw, unshrunk = (
        float(np.nanmean([getattr(part, name) for part in parts])) for name in ("raw", "unshrunk")
    )
    value, (low, high) = min(max(raw, 0.0), 1.0), whole.interval
    return Risk(value, (min(low, value), max(high, value)), raw, unshrunk)


def risk_result(attack: Attack, metric: Measured) -> Result:
    """Return the result of one attack."""
    risk = attack.risk(metric.ci_method, metric.confidence_level)
    details = {**_told(attack, risk, metric.confidence_level), **attack.details}
    if math.isnan(risk.value):
        found = undefined(_ALL_SUCCEED, **details)
        return Result(found.value, details=details, warnings=(*attack.warnings, *found.warnings))
    return Result(
        risk.value,
        interval=risk.interval,
        p_value=attack.p_value,
        baseline=0.0,
        details=details,
        warnings=attack.warnings,
    )


def _told(attack: Attack, risk: Risk, confidence: float) -> dict[str, Any]:
    """Return what is said of an attack: its rates, its risk, whether guessing does as well."""
    on_train, guessed, on_holdout = attack.rates(confidence)
    return {
        "attack": on_train.to_dict(),
        "baseline": guessed.to_dict(),
        "control": on_holdout.to_dict(),
        "residual_risk": risk.value,
        "raw": risk.raw,
        "unshrunk": risk.unshrunk,
        "weak_attack": is_weak(on_train, guessed),
        "spread": attack.spread,
    }


def largest_risk(attacks: Mapping[str, Attack | None], metric: Measured) -> Result:
    """Return the largest residual risk of several attacks, and what each of them found.

    Parameters
    ----------
    attacks : mapping of str to Attack or None
        By name; None for one that could not be made.
    metric : Measured
        The metric, for its settings.

    Returns
    -------
    Result
        Intervals are simultaneous and the p-value is that of the most significant attack times
        their number, after Bonferroni. The largest of noisy numbers is too large on average: the
        interval reaches from the largest of the lower bounds to the largest of the upper ones.
    """
    made = {name: attack for name, attack in attacks.items() if attack is not None}
    tail = (1.0 - metric.confidence_level) / max(1, len(made))
    risks = {name: a.risk(metric.ci_method, 1.0 - tail) for name, a in made.items()}
    values = {name: a.risk(metric.ci_method, metric.confidence_level) for name, a in made.items()}
    defined = [name for name in made if not math.isnan(values[name].value)]
    details = {
        "attacks": {
            name: {
                **_told(attack, values[name], metric.confidence_level),
                "interval": list(risks[name].interval),
                "p_value": attack.p_value,
            }
            for name, attack in made.items()
        },
        "left_out": [name for name in attacks if name not in defined],
        "n_attacks_made": len(made),
    }
    warnings = tuple(warning for attack in made.values() for warning in attack.warnings)
    if not defined:
        found = undefined(_ALL_SUCCEED if made else "no attack could be made on this table.")
        return Result(found.value, details=details, warnings=(*warnings, *found.warnings))
    worst = max(defined, key=lambda name: values[name].value)
    value = values[worst].value
    low, high = (max(risks[name].interval[i] for name in defined) for i in (0, 1))
    p_value = min(1.0, len(made) * min(made[name].p_value for name in defined))
    details["worst_attack"] = worst
    return Result(
        value,
        interval=(min(low, value), max(high, value)),
        p_value=p_value,
        baseline=0.0,
        details=details,
        warnings=warnings,
    )


def places(schema: TableSchema) -> dict[str, int]:
    """Return where each measured column stands in encoded rows."""
    names = [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]
    return {name: j for j, name in enumerate(names)}


@shared
def synthetic_rows(context: Context) -> np.ndarray:
    """Return the encoded synthetic rows in an order that their values alone determine.

    Of equally near rows the first are found. By a hash of the values, which these are is as good as
    random, and does not depend on the order of the table.
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
    nominal = set(context.schema.columns(*NOMINAL))
    engine = MixedNearestNeighbors(
        ranges=ranges(context)[kept],
        categorical=np.array([name in nominal for name in places(context.schema)])[kept],
    )
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
