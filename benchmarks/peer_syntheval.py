"""Results of syntheval for three tables. peers.py runs this file in an environment with syntheval.

python benchmarks/peer_syntheval.py train.csv holdout.csv synthetic.csv '["number", ...]' [METRIC]
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version

import pandas as pd
from syntheval import SynthEval

METRICS = ("dcr", "nndr", "nnaa", "hit_rate", "eps_risk")


def evaluated(train, holdout, synthetic, numeric, metric):
    """Return all numbers of one metric."""
    categories = [name for name in train if name not in numeric]
    evaluation = SynthEval(
        train, holdout, cat_cols=categories, verbose=False, console="off", enable_plots=False
    )
    evaluation.evaluate(synthetic, **{metric: {}})
    return evaluation._raw_results[metric]


def main():
    warnings.simplefilter("ignore")
    tables = [pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:4]]
    numeric = set(json.loads(sys.argv[4]))
    asked = sys.argv[5:] or METRICS
    values = {metric: evaluated(*tables, numeric, metric) for metric in asked}
    print(json.dumps({"version": version("syntheval"), "values": values}))


if __name__ == "__main__":
    main()
