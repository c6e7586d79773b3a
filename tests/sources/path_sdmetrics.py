"""The path of the section "Usage" of SDMetrics' README, step by step.

Its calls are made in its order, of ``skeval.compat`` in place of ``sdmetrics``; the tables are ours,
since its demo is a part of its package. The last step is that of its page on
``DCROverfittingProtection``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from skeval.compat import (
    BoundaryAdherence,
    DCROverfittingProtection,
    NewRowSynthesis,
    QualityReport,
)
from skeval.datasets import make_mixed

real_data, synthetic_data, unseen_data = (make_mixed(120, random_state=s) for s in range(3))
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


def path() -> dict[str, Any]:
    """Walk it, and return what each step gives."""
    my_report = QualityReport()
    my_report.generate(real_data, synthetic_data, metadata)
    figure = my_report.get_visualization(property_name="Column Pair Trends")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "quality_report.pkl"
        my_report.save(filepath=str(file))
        my_report = QualityReport.load(filepath=str(file))
    return {
        "score": my_report.get_score(),
        "properties": my_report.get_properties(),
        "details": my_report.get_details(property_name="Column Shapes"),
        "figure": figure,
        "boundary": BoundaryAdherence.compute(real_data["joined"], synthetic_data["joined"]),
        "new": NewRowSynthesis.compute(real_data, synthetic_data, metadata),
        "overfitting": DCROverfittingProtection.compute_breakdown(
            real_training_data=real_data,
            synthetic_data=synthetic_data,
            real_validation_data=unseen_data,
            metadata=metadata,
        ),
    }
