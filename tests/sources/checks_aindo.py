"""The rows of Aindo's report."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from phik import phik_matrix
from scipy.stats import ks_2samp

from skeval import MetricSuite, ReportColumns, compute_privacy_stats, report
from skeval.datasets import make_relational
from skeval.fidelity import (
    KSComplement,
    NNDistanceDistributions,
    PhikMatrixDifference,
    SimilarityMatrix,
    SimilarityScore,
)
from skeval.privacy import PrivacyScore
from skeval.relational import RelationalData, RelationalSchema
from tests.sources.checks import (
    HOLDOUT,
    NUMBERS,
    SYNTHETIC,
    TRAIN,
    cells,
    nearest,
    nearest_other,
    pairs,
    real,
    row,
    total_variation,
)


@cache
def written() -> tuple[Any, str]:
    """Return the results of a small report, and how its file begins."""
    suite = MetricSuite([("ks", KSComplement()), ("similarity", SimilarityMatrix())])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.pdf"
        columns = ReportColumns(univ=2, biv=1, knn=2, phik=2)
        sizes = {"n_max_train": 80, "n_max_test": 60}
        result = report(
            TRAIN, HOLDOUT, SYNTHETIC, path, suite=suite, columns=columns, progress=False, **sizes
        )
        return result, path.read_bytes()[:4].decode()


@row(1, 4)
def the_report(number: int) -> Any:
    result, begins = written()
    return result if number == 1 else begins


@row(2)
def relational_data() -> Any:
    tables = {"users": pd.DataFrame({"id": [1, 2]}), "visits": pd.DataFrame({"user": [1, 1]})}
    schema = RelationalSchema(["users", "visits"], primary_keys={"users": "id"})
    return RelationalData(tables, schema)


@row(3)
def schema_of_theirs() -> Any:
    class PrimaryKey:
        pass

    users = SimpleNamespace(columns={"id": PrimaryKey()})
    return RelationalSchema.from_aindo(SimpleNamespace(tables={"users": users}))


@row(5, 6)
def sizes(number: int) -> Any:
    rows = {one.role: one.n_measured for one in written()[0].provenance.inputs}
    return (rows["train"], 80) if number == 5 else (rows["holdout"], 60)


@row(7)
def columns_by_section() -> Any:
    return ReportColumns(univ=2, biv=1, knn=2, phik=2)


@row(8)
def columns_by_table() -> Any:
    tables = [make_relational(20, seed) for seed in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        suite = MetricSuite([("people/ks", KSComplement())])
        path = Path(folder) / "report.html"
        columns = {"people": ReportColumns(univ=1)}
        return report(*tables, path, suite=suite, columns=columns, progress=False)


@cache
def similarity() -> tuple[np.ndarray, list[str]]:
    names = list(TRAIN)
    both = [{n: cells(table[n], TRAIN[n]) for n in names} for table in (TRAIN, SYNTHETIC)]
    matrix = [
        [
            1.0 - total_variation(*(pairs(of[a], of[b]) if a != b else of[a] for of in both))
            for b in names
        ]
        for a in names
    ]
    return np.array(matrix), names


@row(9)
def similarity_matrix() -> Any:
    result = SimilarityMatrix(strategy="uniform-plain").fit(TRAIN).evaluate(SYNTHETIC)
    matrix, names = similarity()
    place = [list(result.details["names"]).index(name) for name in names]
    return result.details["matrix"][np.ix_(place, place)], matrix


@row(10)
def similarity_score() -> Any:
    ours = [
        SimilarityScore(strategy="uniform-plain", scale=scale).fit(TRAIN).score(SYNTHETIC)
        for scale in (100.0, 1.0)
    ]
    return ours, [100.0 * similarity()[0].mean(), similarity()[0].mean()]


@cache
def neighbour_distances() -> Any:
    return NNDistanceDistributions().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)


@row(11, 12)
def distances_within(number: int) -> Any:
    result, quantiles = neighbour_distances(), neighbour_distances().details["quantiles"]
    own = {
        "train to train": nearest_other(TRAIN, real()),
        "synthetic to synthetic": nearest_other(SYNTHETIC, real()),
    }
    name = list(own)[number - 11]
    ks = ks_2samp(*own.values()).statistic
    ours = [result.value, *quantiles[name]]
    return ours, [ks, *np.quantile(own[name], quantiles["levels"])], 5e-3


@cache
def ratios() -> tuple[np.ndarray, np.ndarray]:
    base = nearest_other(TRAIN, real())
    return nearest(TRAIN, SYNTHETIC, real()) / base, nearest(TRAIN, HOLDOUT, real()) / base


def proximity(q: float) -> tuple[float, float, float]:
    """Return the threshold and the shares of train rows below it, by TSPR and TTPR."""
    tspr, ttpr = ratios()
    threshold = np.quantile(ttpr, q, method="inverted_cdf")
    return threshold, (tspr <= threshold).mean(), (ttpr <= threshold).mean()


@cache
def privacy_score(**options: Any) -> Any:
    return PrivacyScore(**options).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)


@row(13, 14)
def proximity_ratios(number: int) -> Any:
    threshold, p_synthetic, p_real = proximity(0.1)
    details = privacy_score().details
    if number == 13:
        return details["p_synthetic"], p_synthetic
    return [details["threshold"], details["p_real"]], [threshold, p_real]


@row(15)
def by_splitting() -> Any:
    return PrivacyScore(mode="split").fit(TRAIN).evaluate(SYNTHETIC)


@row(16)
def histograms_of_ratios() -> Any:
    return privacy_score().plot()


@row(17)
def phik() -> Any:
    names = ["age", "city", "plan", "visits"]
    result = PhikMatrixDifference(columns=names).fit(TRAIN[names]).evaluate(SYNTHETIC[names])
    table = TRAIN[names].astype({"age": float, "visits": float, "plan": object})
    theirs = phik_matrix(table, ["age", "visits"], verbose=False)
    order = list(result.details["names"])
    return result.details["train"], theirs.loc[order, order].to_numpy(), 1e-4


@row(18, 19)
def distributions(number: int) -> Any:
    from skeval.plotting import plot_column, plot_pair

    if number == 18:
        return plot_column(TRAIN, SYNTHETIC, "age")
    return plot_pair(TRAIN, SYNTHETIC, ("age", "plan"))


@row(20, 21)
def score(number: int) -> Any:
    options = {} if number == 20 else {"q": 0.2}
    _, p_synthetic, p_real = proximity(options.get("q", 0.1))
    return privacy_score(**options).value, 100.0 * min(1.0, p_real / p_synthetic)


@cache
def stats(**options: Any) -> Any:
    return compute_privacy_stats(TRAIN, SYNTHETIC, HOLDOUT, **options)


@row(22)
def privacy_stats() -> Any:
    return stats()


@row(23)
def stats_by_table() -> Any:
    tables = ({"people": one} for one in (TRAIN, SYNTHETIC, HOLDOUT))
    return compute_privacy_stats(*tables, schema=RelationalSchema(["people"]))


@row(24)
def standard_error() -> Any:
    """Check the score times the spread of its logarithm over resampled rows."""
    tspr, ttpr = ratios()
    rng, logs = np.random.default_rng(0), []
    for _ in range(2000):
        drawn = rng.integers(0, len(tspr), len(tspr))
        threshold = np.quantile(ttpr[drawn], 0.1, method="inverted_cdf")
        of = [(ratio[drawn] <= threshold).mean() for ratio in (ttpr, tspr)]
        logs.append(np.log(of[0] / of[1]))
    _, p_synthetic, p_real = proximity(0.1)
    own = 100.0 * p_real / p_synthetic * np.std(logs)
    return stats().privacy_score_std, own, 0.08 * own


@row(25, 26, 27)
def risk(number: int) -> Any:
    _, p_synthetic, p_real = proximity(0.1)
    if number == 25:
        return stats().risk, max(0.0, p_synthetic - p_real)
    if number == 26:  # a release far from everybody
        far = TRAIN[NUMBERS].fillna(0.0) * 3 + 50
        tables = TRAIN[NUMBERS].fillna(0.0), far, HOLDOUT[NUMBERS].fillna(0.0)
        return compute_privacy_stats(*tables).risk, 0.0
    n_risk = p_synthetic * len(TRAIN)
    return stats(risk_confidence=1.0).risk, (n_risk - np.sqrt(n_risk)) / len(TRAIN) - p_real
