"""Results of anonymeter for three tables, run by attacks.py in an environment with anonymeter.

python benchmarks/peer_anonymeter.py train.csv holdout.csv synthetic.csv settings

Settings are JSON: `n_attacks`, `parts` (two lists of columns) and `secrets` (a list of columns).
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from importlib.metadata import version

import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def run(train, holdout, synthetic, n_attacks, parts, secrets):
    """Yield the name of each attack and a call that makes it."""
    common = {"ori": train, "syn": synthetic, "control": holdout, "n_attacks": n_attacks}
    for mode in ("univariate", "multivariate"):
        yield (
            f"{mode} singling out",
            lambda mode=mode: SinglingOutEvaluator(**common, seed=0).evaluate(mode=mode),
        )
    yield "linkability", lambda: LinkabilityEvaluator(**common, aux_cols=parts).evaluate()
    for secret in secrets:
        aux = [name for name in train if name != secret]
        yield (
            f"inference of {secret}",
            lambda secret=secret, aux=aux: InferenceEvaluator(
                **common, secret=secret, aux_cols=aux
            ).evaluate(),
        )


def main():
    warnings.simplefilter("ignore")
    tables = [pd.read_csv(path, float_precision="round_trip") for path in sys.argv[1:4]]
    settings = json.loads(sys.argv[4])
    few = {**settings, "n_attacks": 20}
    for name, attack in run(*(table.head(100) for table in tables), **few):
        if "singling" not in name:  # warm up compiled code
            attack()
    values, seconds = {}, {}
    for name, attack in run(*tables, **settings):
        start = time.process_time()
        evaluator = attack()
        seconds[name] = time.process_time() - start
        results = evaluator.results()
        values[name] = {
            "risk": float(evaluator.risk().value),
            "attack": float(results.attack_rate.value),
            "control": float(results.control_rate.value),
        }
    print(json.dumps({"version": version("anonymeter"), "values": values, "seconds": seconds}))


if __name__ == "__main__":
    main()
