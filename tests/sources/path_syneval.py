"""The path of the section "Usage Example" of SynEval's evaluation/descriptions/privacy.md.

Its calls are made in its order, of ``skeval.compat`` in place of ``evaluation``; the tables are ours.
One argument may be added, ``control_data``: rows that the generator has not seen.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from skeval.compat import PrivacyEvaluator
from skeval.datasets import make_mixed

original_data, control_data, made = (make_mixed(120, random_state=seed) for seed in range(3))
synthetic_data = pd.concat([made[:90], original_data[:30]], ignore_index=True)
metadata = {
    "columns": {
        "age": {"sdtype": "numerical"},
        "income": {"sdtype": "numerical"},
        "visits": {"sdtype": "numerical"},
        "city": {"sdtype": "categorical"},
        "plan": {"sdtype": "categorical"},
        "member": {"sdtype": "boolean"},
        "joined": {"sdtype": "datetime"},
    }
}


def path(**more: Any) -> tuple[float, float, float]:
    """Walk it, and return the three numbers that it reads."""
    evaluator = PrivacyEvaluator(
        synthetic_data=synthetic_data,
        original_data=original_data,
        metadata=metadata,
        selected_metrics=[
            "exact_matches",
            "membership_inference",
            "tabular_privacy",
            "text_privacy",
            "anonymeter",
        ],
        device="auto",
        **more,
    )
    results = evaluator.evaluate()
    exact_match_pct = results["exact_matches"]["exact_match_percentage"]
    mia_auc = results["membership_inference"]["distinguishability_auc"]
    overall_risk = results["anonymeter"]["overall_risk"]["risk_score"]
    return exact_match_pct, mia_auc, overall_risk
