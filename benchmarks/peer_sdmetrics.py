"""Results of sdmetrics for three tables. peers.py runs this file in an environment with sdmetrics.

python benchmarks/peer_sdmetrics.py train.csv holdout.csv synthetic.csv '["number", ...]' [METRIC]
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd
import sdmetrics
from sdmetrics.single_table import DCRBaselineProtection, DCROverfittingProtection, NewRowSynthesis


def run(train, holdout, synthetic, numeric):
    """Yield the name of each metric and a call that computes it."""
    kinds = {c: {"sdtype": "numerical" if c in numeric else "categorical"} for c in train}
    common = {
        "synthetic_data": synthetic,
        "metadata": {"tables": {"table": {"columns": kinds}}, "relationships": []},
        "table_name": "table",
    }
    yield (
        "DCROverfittingProtection",
        lambda: DCROverfittingProtection.compute(
            real_training_data=train, real_validation_data=holdout, **common
        ),
    )
    DCRBaselineProtection._seed = 0  # otherwise each call uses other random rows
    np.random.seed(0)  # noqa: NPY002
    yield "DCRBaselineProtection", lambda: DCRBaselineProtection.compute(real_data=train, **common)
    yield "NewRowSynthesis", lambda: NewRowSynthesis.compute(real_data=train, **common)


def main():
    warnings.simplefilter("ignore")
    tables = [pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:4]]
    numeric = set(json.loads(sys.argv[4]))
    wanted = sys.argv[5:]
    values = {
        name: {"value": compute()}
        for name, compute in run(*tables, numeric)
        if name in wanted or not wanted
    }
    print(json.dumps({"version": sdmetrics.__version__, "values": values}))


if __name__ == "__main__":
    main()
