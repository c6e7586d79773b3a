"""Write down every number of every metric and preset to the last bit, and compare two such files.

    python benchmarks/frozen.py write before.json               # at one commit
    python benchmarks/frozen.py write after.json                # at another
    python benchmarks/frozen.py compare before.json after.json  # exit 1 if a number moved
    python benchmarks/frozen.py write some.json --only DCR      # names that contain DCR
    python benchmarks/frozen.py compare before.json some.json --only DCR --details

Each exported metric of the four aspects and each preset is fitted and evaluated on three small
tables with a holdout, some with further settings. The file contains the value, the bounds of the
interval, the p-value and the baseline as hexadecimal floats, so that equal text means equal bits.
It also contains the result of `score`, the names of the warnings, the text of the error and a
digest of each entry of `details`. A metric is named by its class.

`compare` counts numbers and errors as differences. Changed details and warnings are listed
separately, and count only with `--details`. `--only` selects names of tables, metrics or presets
that contain a text. Everything runs on one thread in two or three minutes. Numbers from different
machines or versions of dependencies may differ in the last bit.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from skeval import Metric, OverallScore, Result, make_suite
from skeval.datasets import load_flights, make_census, make_mixed
from skeval.generators import Bootstrap, GaussianCopula, IndependentMarginals, SequentialCART
from skeval.privacy import ShadowMembershipInference

PACKAGES = ("diagnostic", "fidelity", "privacy", "utility")
PRESETS = (*PACKAGES, "report", "screens", "attacks", "syneval", "quality")
# parameters with another name in the tables
ROLE = {"quasi_identifiers": "known"}
NUMBERS = ("value", "low", "high", "p_value", "baseline", "score")
Table = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, Any]]


def synthetic_of(generator: Any, train: pd.DataFrame, n_rows: int, n_copied: int) -> pd.DataFrame:
    """Return sampled rows and a few copies of training rows, so that there is a leak to find."""
    rows = generator.fit(train).sample(n_rows - n_copied, random_state=0)
    return pd.concat([rows, train.iloc[:n_copied]], ignore_index=True)


def mixed() -> Table:
    train, holdout = make_mixed(320, random_state=0), make_mixed(240, random_state=1)
    columns = {"target": "member", "secret": "plan", "sensitive": "plan", "number": "income"}
    columns |= {"known": ["age", "city", "visits"], "patterns": {"plan": "basic|fam.*"}}
    columns["generator"] = GaussianCopula()
    return train, holdout, synthetic_of(GaussianCopula(), train, 320, 20), columns


def flights() -> Table:
    real = load_flights(600)
    real["late"] = real["arr_delay"] > 15
    real = real.drop(columns=["arr_delay", "arr_time", "air_time"])
    train, holdout = real.iloc[:300], real.iloc[300:].reset_index(drop=True)
    columns = {"target": "late", "secret": "origin", "sensitive": "origin", "number": "distance"}
    columns |= {"known": ["carrier", "dest", "hour"], "patterns": {"dest": "[A-M]{3}"}}
    columns["generator"] = Bootstrap()
    return train, holdout, synthetic_of(SequentialCART(random_state=0), train, 330, 0), columns


def census() -> Table:
    real = make_census(700)
    train, holdout = real.iloc[:350], real.iloc[350:].reset_index(drop=True)
    columns = {"target": "income", "secret": "sex", "sensitive": "sex", "number": "hours_per_week"}
    columns |= {"known": ["age", "occupation", "ethnicity"], "patterns": {"schooling": "[a-m].*"}}
    columns["generator"] = IndependentMarginals()
    return train, holdout, synthetic_of(IndependentMarginals(), train, 300, 60), columns


TABLES: dict[str, Callable[[], Table]] = {"mixed": mixed, "flights": flights, "census": census}

# settings that make metrics with many models fast
TREE = DecisionTreeClassifier(random_state=0)
SHADOW = {"n_targets": 2, "n_shadow": 6, "n_eval": 6, "n_rows": 100, "classifier": TREE}
LIGHT: dict[str, dict[str, Any]] = {
    "ClassifierTwoSampleTest": {"n_folds": 2, "max_rows": 400},
    "DPAudit": {"n_runs": 8, "n_pilot": 4, "n_synthetic": 50},
    "LikelihoodRatioMIA": {"n_models": 8, "n_targets": 20},
    "ShadowAttributeInference": SHADOW,
    "ShadowMembershipInference": SHADOW,
    "StackedMembershipInference": {"n_models": 8},
}
EUCLIDEAN = {"space": "euclidean"}
# further settings by class, with "$name" for a column of the table
EXTRA: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {**EUCLIDEAN}) for name in ("DCRPercentile", "HoldoutDistanceRatio", "Authenticity")),
    *((name, {**EUCLIDEAN}) for name in ("DensityCoverage", "NNDistanceDistributions")),
    ("AlphaPrecisionBetaRecall", {"center": "median", "strict": True}),
    ("BNLikelihood", {"log": True, "n_bins": 5}),
    ("ChiSquaredTest", {"strategy": "quantile"}),
    ("ClassifierTwoSampleTest", {"scoring": "auc", "test": "permutation", "n_permutations": 19}),
    ("CoefficientOverlap", {"target": "$number", "clip": True}),
    ("ContingencySimilarity", {"min_association": 0.3, "numeric_pairs": False, "nan": "drop"}),
    ("CorrelationSimilarity", {"method": "kendall", "floor": False}),
    ("CramersVDifference", {"bias_correction": False, "nan": "drop"}),
    ("DCRBaselineProtection", {"num_rows_subsample": 100, "num_iterations": 3}),
    ("DCROverfittingProtection", {"ties": "holdout", "scale": "reference"}),
    ("DCRPercentile", {"baseline": "train_loo", "q": 10}),
    ("DCRShare", {"ties": "half", "column_groups": "auto"}),
    ("DisclosureProtection", {"known": "$known", "sensitive": "$secret", "method": "tcap"}),
    ("EpsilonIdentifiability", {"feature_weights": "entropy"}),
    ("ExactMatchShare", {"columns": "$known", "count": "multiset"}),
    ("FairnessGap", {"target": "$target", "sensitive": "$sensitive", "aggregate": "mean"}),
    ("FeatureImportanceAgreement", {"target": "$target", "importance": "native"}),
    ("FormatAdherence", {"patterns": "$patterns"}),
    ("HellingerDistance", {"strategy": "quantile"}),
    ("InferenceRisk", {"secret": "$number", "tolerance_kind": "range"}),
    ("JensenShannonDistance", {"strategy": "quantile", "n_bins": 7}),
    ("KAnonymity", {"quasi_identifiers": "$known", "n_bins": 4}),
    ("KLDivergence", {"strategy": "quantile"}),
    ("KMarginalSimilarity", {"k": 3, "n_subsets": 10}),
    ("KMarginalSimilarity", {"k": 1, "group_by": "$secret"}),
    ("KeyUniqueness", {"keys": "$number"}),
    ("LDiversity", {"quasi_identifiers": "$known", "sensitive": "$secret", "mode": "cluster"}),
    ("LinkabilityRisk", {"n_neighbors": 3}),
    ("MaximumMeanDiscrepancy", {"kernel": "laplacian", "unbiased": False}),
    ("MembershipInference", {"attack": "distance", "scoring": "tpr_at_fpr"}),
    ("MixedAssociationDifference", {"num": "spearman", "cat": "theils_u", "norm": "fro"}),
    ("MutualInformationDifference", {"correction": None, "n_bins": 5}),
    ("NNDR", {"query": "train", "convention": "d2/d1"}),
    ("OneRunDPAudit", {"design": "bernoulli"}),
    ("PhikMatrixDifference", {"noise_correction": False, "reduce": "max_abs"}),
    ("PrivacyScore", {"mode": "split", "se": "delta"}),
    ("PropensityMSE", {"model": "cart", "null": "permutation", "n_permutations": 50}),
    ("RecordReconstruction", {"method": "sequential", "n_unknown": 2}),
    ("SimilarityScore", {"strategy": "quantile", "average": "balanced", "order": 3}),
    ("SinglingOutRisk", {"mode": "univariate", "size_correction": "fit"}),
    ("StatisticSimilarity", {"statistic": "std", "scale": "iqr"}),
    ("TCloseness", {"quasi_identifiers": "$known", "sensitive": "$number", "distance": "emd"}),
    ("TSTR", {"target": "$number"}),
    ("TVComplement", {"nan": "drop", "n_bins": 10}),
    ("WassersteinDistance", {"p": 2, "normalize": "iqr"}),
)


def exported() -> dict[str, type[Metric]]:
    """Return every exported metric by its name, sorted."""
    modules = [importlib.import_module(f"skeval.{name}") for name in PACKAGES]
    kinds = {name: getattr(module, name) for module in modules for name in module.__all__}
    return {
        name: kind
        for name, kind in sorted(kinds.items())
        if isinstance(kind, type) and issubclass(kind, Metric)
    }


def settings(columns: dict[str, Any]) -> Iterator[tuple[str, type[Metric], dict[str, Any]]]:
    """Yield each metric with its default settings, and with further settings under other names."""
    kinds = exported()
    attack = ShadowMembershipInference(columns["generator"], **SHADOW)
    columns = {**columns, "attack": attack}
    for name, given in (*product(kinds, [{}]), *EXTRA):
        parameters = inspect.signature(kinds[name]).parameters
        required = [key for key, one in parameters.items() if one.default is one.empty]
        if {ROLE.get(key, key) for key in required if key not in given} - columns.keys():
            continue  # metrics of times to an event, which no table contains
        filled = {key: columns[ROLE.get(key, key)] for key in required if key not in given}
        for key, value in given.items():
            named = isinstance(value, str) and value.startswith("$")
            filled[key] = columns[value[1:]] if named else value
        text = ", ".join(f"{key}={value!r}" for key, value in given.items())
        yield f"{name}({text})" if text else name, kinds[name], {**LIGHT.get(name, {}), **filled}


def digest(content: Any) -> str:
    """Return a digest of plain content. Equal floats have equal text in JSON."""
    text = json.dumps(content, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def bits(number: float | None) -> str | None:
    return None if number is None else float(number).hex()


def entry(result: Result) -> dict[str, Any]:
    """Return a result to the last bit, with digests of its details."""
    low, high = result.interval or (None, None)
    return {
        **{"value": bits(result.value), "low": bits(low), "high": bits(high)},
        **{"p_value": bits(result.p_value), "baseline": bits(result.baseline)},
        "error": result.error,
        "warnings": [type(warning).__name__ for warning in result.warnings],
        "details": {key: digest(part) for key, part in result.to_dict()["details"].items()},
    }


def measured(kind: type[Metric], parameters: dict[str, Any], tables: Table) -> dict[str, Any]:
    """Return the entry of one metric, with what `score` returns, or the error that it raises."""
    train, holdout, synthetic, _ = tables
    try:
        metric = kind(**parameters).fit(train, holdout)
        return {**entry(metric.evaluate(synthetic)), "score": bits(metric.score(synthetic))}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def of_preset(preset: str, tables: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row of a preset, and the scores over its rows."""
    train, holdout, synthetic, columns = tables
    given = {name: columns[name] for name in ("target", "sensitive")}
    try:
        suite = make_suite(preset, random_state=0, **given).fit(train, holdout)
        results = suite.evaluate(synthetic)
    except Exception as error:
        yield "suite", {"error": f"{type(error).__name__}: {error}"}
        return
    yield "notices", {"warnings": [type(warning).__name__ for warning in results.notices]}
    yield from ((name, entry(result)) for name, result in results.items())
    every = {"properties": results.properties()["score"], "overall": OverallScore().score(results)}
    for kind, scores in every.items():
        for name, score in scores.dropna().items():
            yield f"{kind}: {name}", {"value": bits(score)}


def entries(table: str, only: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the entries of one table by name."""
    tables = TABLES[table]()
    for role, rows in zip(("train", "holdout", "synthetic"), tables, strict=False):
        hashes = pd.util.hash_pandas_object(rows, index=False).tolist()
        yield f"{table}/rows of {role}", {"value": f"sha256 {digest(hashes)}"}
    for name, kind, parameters in settings(tables[-1]):
        if only in f"{table}/{name}":
            yield f"{table}/{name}", measured(kind, parameters, tables)
    for preset in PRESETS:
        if only in f"{table}/{preset}/":
            rows = of_preset(preset, tables)
            yield from ((f"{table}/{preset}/{name}", one) for name, one in rows)


def write(path: Path, only: str) -> int:
    """Write all entries, and return the number of inconsistent entries."""
    written: dict[str, dict[str, Any]] = {}
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    for key, one in chain.from_iterable(entries(table, only) for table in TABLES):
        written[key], seconds[key] = one, time.perf_counter() - start
        start = time.perf_counter()
    path.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    slowest = sorted(seconds, key=seconds.__getitem__)[:-6:-1]
    n_numbers = sum(one.get(field) is not None for one in written.values() for field in NUMBERS)
    print(f"{len(written)} entries, {n_numbers} numbers, {sum(seconds.values()):.0f} s. Slowest:")
    print("".join(f"  {key} {seconds[key]:.1f} s\n" for key in slowest), end="")
    scored = {key: one for key, one in written.items() if "score" in one}
    odd = [key for key, one in scored.items() if one["score"] != one["value"]]
    print("".join(f"{key}: score is not the value of evaluate\n" for key in odd), end="")
    return len(odd)


def differences(before: dict, after: dict) -> Iterator[tuple[str, str, bool]]:
    """Yield each difference with its place, and whether it counts as a number or an error."""
    for key in sorted(before.keys() | after.keys()):
        if key not in before or key not in after:
            yield key, f"only in the {'first' if key in before else 'second'} file", True
            continue
        old, new = before[key], after[key]
        for field in (*NUMBERS, "error"):
            if old.get(field) != new.get(field):
                yield f"{key}/{field}", f"{shown(old.get(field))} -> {shown(new.get(field))}", True
        if old.get("warnings") != new.get("warnings"):
            yield f"{key}/warnings", f"{old.get('warnings')} -> {new.get('warnings')}", False
        details = [one.get("details", {}) for one in (old, new)]
        moved = [k for k in {**details[0], **details[1]} if details[0].get(k) != details[1].get(k)]
        if moved:
            yield f"{key}/details", f"moved: {', '.join(moved)}", False


def shown(value: str | None) -> str:
    """Return a number with sufficient decimals, or other text unchanged."""
    try:
        return repr(float.fromhex(value or ""))
    except ValueError:
        return repr(value)


def compare(paths: list[Path], only: str, details: bool) -> int:
    """Print the differences, and return how many of them count."""
    both = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    both = [{key: one for key, one in file.items() if only in key} for file in both]
    places = list(differences(*both))
    for title, counts in (("numbers and errors", True), ("details and warnings", False)):
        rows = [f"  {place}: {how}" for place, how, number in places if number is counts]
        print("\n".join([f"{title}: {len(rows)} of {len(both[0])} entries differ", *rows]))
    return sum(number or details for _, _, number in places)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, n_files in (("write", 1), ("compare", 2)):
        command = commands.add_parser(name)
        command.add_argument("files", nargs=n_files, type=Path)
        command.add_argument("--only", default="", help="names that contain this text")
    command.add_argument("--details", action="store_true", help="also count details and warnings")
    options = parser.parse_args()
    if options.command == "compare":
        return min(1, compare(options.files, options.only, options.details))
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        return min(1, write(options.files[0], options.only))


if __name__ == "__main__":
    sys.exit(main())
