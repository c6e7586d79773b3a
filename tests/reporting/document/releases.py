"""Results of made-up releases, one for each outcome of the first page, without any rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from skeval import MetricTags, Result, SuiteResult
from skeval.results.provenance import ColumnRecord, InputRecord, Provenance
from skeval.results.release import Release
from skeval.results.result import Contrast
from skeval.stats.copied_rows import Copied, Copies

State = Literal["small", "leak", "severe", "copies", "none", "inconclusive"]
STATES: tuple[State, ...] = ("small", "leak", "severe", "copies", "none", "inconclusive")
COLUMNS = ("age", "city", "income")
EXCESS = {"small": 0.03, "leak": 0.12, "severe": 0.4}
N = 500


def release(
    state: State,
    columns: Sequence[str] = COLUMNS,
    *,
    file: str = "visits.csv",
    stated: Release | None = None,
    n_copies: int | None = None,
) -> SuiteResult:
    """Return the results of a release with this outcome of privacy."""
    has_holdout = state not in ("copies", "inconclusive")
    roles = ("train", "holdout", "synthetic") if has_holdout else ("train", "synthetic")
    copied = n_copies if n_copies is not None else 22 if state == "copies" else 0
    provenance = Provenance(
        "2026-11-29T04:25:18Z",
        "0.1.0",
        tuple(InputRecord(role, N, N, "33dbac0a" * 8, file) for role in roles),
        tuple(ColumnRecord(name, "continuous") for name in columns),
        packages={"Python": "3.11.7"},
        release=stated,
    )
    results = {
        **privacy_results(EXCESS.get(state, 0.0), columns, copied, has_holdout=has_holdout),
        **fidelity_results(columns, has_holdout=has_holdout),
        "range_coverage": Result(
            0.8,
            baseline=1.0 if has_holdout else None,
            details={"worst": {"column": columns[0], "value": 0.67}},
            metric="RangeCoverage",
            tags=MetricTags("validity", greater_is_better=True, bounds=(0.0, 1.0)),
        ),
    }
    sizes = dict.fromkeys(roles, N)
    return SuiteResult(results, sizes=sizes, provenance=provenance)


def privacy_results(
    excess: float, columns: Sequence[str], n_copied: int, *, has_holdout: bool
) -> dict[str, Result]:
    copied = Copied(n_copied, 18, 3)
    exact = Result(
        n_copied / N,
        interval=(0.0, 0.1),
        p_value=1.0 if has_holdout else None,
        baseline=0.0 if has_holdout else None,
        metric="ExactMatchShare",
        tags=of_privacy("screen", "singling out", quoted="copies"),
        contrast=Contrast("equal rows", n_copied / N, 0.0) if has_holdout else None,
        copies=(Copies("rows", copied, None, N, N),),
    )
    if not has_holdout:
        lacking = Result(
            np.nan,
            metric="MembershipInference",
            tags=of_privacy("attack"),
            error="compares against holdout rows, and none were given.",
            unmet="holdout",
        )
        return {"exact_matches": exact, "membership": lacking}
    return {
        "exact_matches": exact,
        "closer": Result(
            0.97,
            interval=(0.9, 1.0),
            p_value=0.3,
            metric="DCROverfittingProtection",
            tags=of_privacy("screen"),
            contrast=Contrast("rows closer to train", 0.515, 0.5),
            details={"closer_to_training": 0.515},
        ),
        "membership": membership_result(),
        "anonymeter": anonymeter_result(excess, columns),
        "audit": Result(
            0.0,
            p_value=0.4,
            metric="OneRunDPAudit",
            tags=of_privacy("audit"),
            contrast=Contrast("pairs", 0.507, 0.5),
            details={"n_guesses": 5000, "n_correct": 2535, "ceiling": 3.7},
        ),
    }


def of_privacy(evidence: Any, *risks: Any, quoted: Any = "") -> MetricTags:
    return MetricTags(
        "privacy",
        greater_is_better=False,
        bounds=(0.0, 1.0),
        evidence=evidence,
        risks=frozenset(risks),
        quoted=quoted,
    )


def membership_result() -> Result:
    rates = np.round(np.linspace(0.0, 1.0, 41), 3).tolist()
    found = {"fpr": 0.01, "tpr": 0.015, "interval": [0.01, 0.02], "by_chance": 0.01}
    return Result(
        0.507,
        interval=(0.49, 0.53),
        p_value=0.3,
        metric="MembershipInference",
        tags=of_privacy("attack"),
        contrast=Contrast("pairs", 0.507, 0.5),
        details={"curve": {"fpr": rates, "tpr": rates}, "tpr_at_fpr": [found]},
    )


def anonymeter_result(excess: float, columns: Sequence[str]) -> Result:
    """Return the attacks of which picking out one record works by an excess."""
    p_value = 1e-6 if excess else 0.6
    picked = attack("singling out", 0.2 + excess, 0.2, p_value)
    place = {"n": 100.0, "train": 60.0, "holdout": 20.0, "p_value": p_value}
    picked["columns"] = {columns[0]: place}
    attacks = {"univariate singling out": picked, "linkability": attack("linkability", 0.0, 0.0)}
    for column in columns:
        attacks[f"inference of {column}"] = attack("inference", 0.1, 0.1) | {"secret": column}
    return Result(
        excess,
        interval=(0.0, 0.5),
        p_value=p_value,
        baseline=0.0,
        metric="AnonymeterRisk",
        tags=of_privacy("attack", "singling out", "linkability", "inference"),
        contrast=Contrast("values", 0.2 + excess, 0.2, reference="for holdout rows"),
        details={"attacks": attacks, "surest_attack": "univariate singling out"},
    )


def attack(risk: str, own: float, other: float, p_value: float = 0.8) -> dict[str, Any]:
    rates = {
        role: {"n": N, "n_success": rate * N, "interval": [max(0.0, rate - 0.03), rate + 0.03]}
        for role, rate in (("attack", own), ("control", other))
    }
    tested = {"observed": own, "expected": other}
    return {**rates, "risk": risk, "p_value": p_value, "p_adjusted": p_value, "tested": tested}


def fidelity_results(columns: Sequence[str], *, has_holdout: bool) -> dict[str, Result]:
    names = list(columns)
    n = len(names)
    ceiling, kept, lost = np.full((n, n), 0.95), np.full((n, n), 0.9), np.zeros((n, n))
    lost[:2, :2] = 0.6
    outside = [[0.0] * 4] * 2
    shares = [[0.2, 0.1, 0.0, 0.0], [0.1, 0.2, 0.0, 0.0], [0.2, 0.0, 0.0, 0.0], *outside]
    synthetic = [[0.2, 0.2, 0.0, 0.0], [0.1, 0.2, 0.0, 0.0], [0.2, 0.1, 0.0, 0.0], *outside]
    pair = {
        "columns": names[:2],
        "axes": [
            {"kind": "continuous", "labels": [], "edges": [0.5, 10.5, 20.5, 30.5]},
            {"kind": "categorical", "labels": ["Lyon", "Porto"], "edges": None},
        ],
        "shares": {"train": shares, "synthetic": synthetic},
        "invented": {"cells": [[2, 1]], "share": 0.2},
    }
    metrics = (
        ("ks", "KSComplement", 0.99, 0.984, (-0.01, 0.02), {}),
        ("tv", "TVComplement", 0.92, 0.874, (0.03, 0.06), {}),
        (
            *("similarity", "SimilarityScore", 89.0, 92.2, (-4.0, -2.5)),
            {"names": names, "ceiling": ceiling, "matrix": kept, "pairs": [pair]},
        ),
        (
            *("phik", "PhikMatrixDifference", 0.146, 0.028, (0.1, 0.14)),
            {"names": names, "train": lost, "synthetic": np.zeros((n, n))},
        ),
        ("relations", "RelationScore", 0.879, 1.0, (-0.15, -0.1), {}),
    )
    return {
        name: Result(
            value,
            baseline=baseline if has_holdout else None,
            difference=difference if has_holdout else None,
            details=details,
            metric=metric,
            tags=MetricTags("fidelity", greater_is_better=metric != "PhikMatrixDifference"),
        )
        for name, metric, value, baseline, difference, details in metrics
    }
