"""The rows of SynEval's privacy metrics."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_distances
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from typer.testing import CliRunner

from skeval import make_suite
from skeval.cli import app
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.privacy import (
    NNDR,
    AnonymeterRisk,
    DCRPercentile,
    ExactMatchShare,
    IdenticalMatchShare,
    InferenceRiskAll,
    LinkabilityRisk,
    MembershipInference,
    SinglingOutRisk,
)
from skeval.text import (
    CallableRecognizer,
    Entity,
    EntityFilter,
    EntityLeakage,
    FlairRecognizer,
    NearDuplicateText,
    NominalMentions,
    SpacyRecognizer,
    StylisticOutliers,
    TextTwoSampleTest,
)
from tests.sources.checks import (
    DENSE_SYNTHETIC,
    DENSE_TRAIN,
    HOLDOUT,
    SYNTHETIC,
    TRAIN,
    copied,
    gower,
    nearest,
    nearest_other,
    real,
    row,
)

FEW = TRAIN[["age", "income", "plan"]], HOLDOUT[["age", "income", "plan"]]
RELEASE = SYNTHETIC[["age", "income", "plan"]]


def notes(names: list[str], seed: int = 0) -> pd.DataFrame:
    """Return texts that name people, with words of their own."""
    rng = np.random.default_rng(seed)
    words = ["garden", "river", "bread", "letter", "window", "winter", "coffee", "street"]
    texts = [f"today {name} saw a {' '.join(rng.choice(words, 5))}" for name in names]
    return pd.DataFrame({"note": texts})


NAMES = ["Ada", "Ben", "Eve", "Kim", "Lea", "Zoe", "Tom", "Ida"]
NOTES = [notes(NAMES * 5, 0), notes(["Max", "Ute", "Jan", "Pia"] * 10, 1), notes(NAMES[:4] * 10, 2)]
TEXT = {"note": "text"}
DISTINCT = (NOTES[0], NOTES[2].assign(note=[*NOTES[0]["note"][:5], *NOTES[2]["note"][5:]]))


def capitals(texts: list[str]) -> list[Any]:
    found = []
    for text in texts:
        words = [word for word in text.split() if word[0].isupper()]
        found.append([(w, "PER", text.index(w), text.index(w) + len(w)) for w in words])
    return found


@cache
def exact() -> Any:
    return ExactMatchShare().fit(TRAIN).evaluate(SYNTHETIC)


@row(133, 134, 135)
def exact_matches(number: int) -> Any:
    own = copied(SYNTHETIC, TRAIN).mean()
    if number == 133:
        return exact().details["syneval"]["exact_match_percentage"], 100.0 * own
    if number == 134:
        lenient = ExactMatchShare(alert=0.5).fit(TRAIN).evaluate(SYNTHETIC)
        return [exact().details["above_alert"], lenient.details["above_alert"]], [own > 0.05, False]
    return exact().details["duplicates"]["synthetic"], SYNTHETIC.duplicated().mean()


@row(136)
def approximate_matching() -> Any:
    """Count texts that share four fifths of their runs of letters with a train text."""
    return NearDuplicateText().fit(DISTINCT[0], NOTES[1], schema=TEXT).evaluate(DISTINCT[1])


def forest_auc(train: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    """Return the AUC of a forest whose rows are called by trees of the other folds."""
    pooled = pd.concat([train, synthetic], ignore_index=True)
    label = np.repeat([0, 1], [len(train), len(synthetic)])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    forest = RandomForestClassifier(100, random_state=0)
    p = cross_val_predict(forest, pooled, label, cv=folds, method="predict_proba")[:, 1]
    return float(roc_auc_score(label, p))


SHIFTED = DENSE_SYNTHETIC.add([12.0, 0.0, 0.0])


@cache
def distinguishable(**options: Any) -> Any:
    metric = ClassifierTwoSampleTest("auc", RandomForestClassifier(100, random_state=0), **options)
    return metric.fit(DENSE_TRAIN).evaluate(SHIFTED)


@row(137, 138)
def distinguishability(number: int) -> Any:
    auc = forest_auc(DENSE_TRAIN, SHIFTED)
    printed = distinguishable().details["syneval"]["distinguishability_auc"]
    return printed if number == 137 else distinguishable().value, auc, 0.06


@row(139, 140)
def forest_of_texts(number: int) -> Any:
    forest = RandomForestClassifier(100, random_state=0)
    if number == 140:
        metric = TextTwoSampleTest("auc", "tfidf", forest)
        return metric.fit(NOTES[0], schema=TEXT).evaluate(NOTES[2])
    train, synthetic = (
        table.assign(note=note["note"])
        for table, note in zip((DENSE_TRAIN[:40], SHIFTED[:40]), (NOTES[0], NOTES[2]), strict=True)
    )
    metric = ClassifierTwoSampleTest("auc", forest)
    return metric.fit(train, schema=TEXT).evaluate(synthetic)


@row(141, 142, 143, 144, 145)
def levels_and_confidence(number: int) -> Any:
    result = distinguishable()
    printed = result.details["syneval"]
    if number == 141:
        given = [distinguishable(alert=alert).details["syneval"] for alert in (0.5, 1.0)]
        return [one["risk_level"] == "high" for one in given], [result.value >= 0.5, False]
    if number == 144:
        return printed["fidelity_score"], max(0.0, 1.0 - result.value)
    if number == 145:
        return result.summary
    # a classifier that calls rows at the rate that they have is as sure of one table as not of the other
    name = "synthetic_confidence" if number == 142 else "original_confidence"
    pooled = pd.concat([DENSE_TRAIN, SHIFTED], ignore_index=True)
    label = np.repeat([0, 1], [len(DENSE_TRAIN), len(SHIFTED)])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    forest = RandomForestClassifier(100, random_state=0)
    p = cross_val_predict(forest, pooled, label, cv=folds, method="predict_proba")[:, 1]
    return result.details[name], p[label == (number == 142)].mean(), 0.06


@row(146, 147)
def membership(number: int) -> Any:
    result = MembershipInference("distance").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    if number == 146:
        return result.plot()
    near = np.concatenate([nearest(table, SYNTHETIC, real()) for table in (TRAIN, HOLDOUT)])
    member = np.repeat([1.0, 0.0], [len(TRAIN), len(HOLDOUT)])
    ranked = member[np.argsort(near, kind="stable")]
    found = result.details["precision_at"]
    return [one["precision"] for one in found], [ranked[: one["k"]].mean() for one in found], 0.02


@row(148, 149)
def baselines_and_intervals(number: int) -> Any:
    if number == 148:
        metric = ClassifierTwoSampleTest("auc", test="permutation")
        return metric.set_params(n_permutations=19).fit(DENSE_TRAIN).evaluate(SHIFTED)
    k, n = int(copied(SYNTHETIC, TRAIN).sum()), len(SYNTHETIC)
    return exact().interval, tuple(binomtest(k, n).proportion_ci(method="wilson"))


@cache
def identical() -> Any:
    return IdenticalMatchShare().fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC).details["syneval"]


@row(150, 151, 152)
def identical_match_share(number: int) -> Any:
    """Compare the sets of rows, each as a tuple of texts."""
    sets = [set(map(tuple, table.astype(str).to_numpy())) for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    train, holdout, synthetic = sets
    ims, base = len(synthetic & train) / len(synthetic), len(holdout & train) / len(holdout)
    own = {150: ims, 151: base, 152: ims <= base}
    name = {150: "ims_syn_train", 151: "train_test_ims", 152: "passed"}[number]
    return identical()[name], own[number]


def sorted_distances(rows: pd.DataFrame, *, own: bool) -> np.ndarray:
    apart = np.sort(gower(rows, DENSE_TRAIN, DENSE_TRAIN), axis=1)
    return apart[:, 1:] if own else apart


@row(153, 154, 155)
def dcr(number: int) -> Any:
    release = DENSE_SYNTHETIC[:90]
    result = DCRPercentile(baseline="train_loo").fit(DENSE_TRAIN).evaluate(release)
    printed = result.details["syneval"]
    own = [
        np.percentile(nearest(release, DENSE_TRAIN, DENSE_TRAIN), 5),
        np.percentile(nearest_other(DENSE_TRAIN, DENSE_TRAIN), 5),
    ]
    if number == 155:
        return printed["passed"], own[0] >= own[1]
    return printed[("syn_train_5pct", "train_train_5pct")[number - 153]], own[number - 153], 1e-5


@row(156, 157, 158)
def nndr(number: int) -> Any:
    release = DENSE_SYNTHETIC[:90]
    metric = NNDR(convention="d2/d1", baseline="train_loo")
    printed = metric.fit(DENSE_TRAIN).evaluate(release).details["syneval"]
    own = []
    for rows, among in ((release, False), (DENSE_TRAIN, True)):
        apart = sorted_distances(rows, own=among)
        with np.errstate(divide="ignore", invalid="ignore"):
            own.append(np.percentile(apart[:, 1] / apart[:, 0], 5))
    if number == 158:
        return printed["passed"], own[0] >= own[1]
    return printed[("syn_train_5pct", "train_train_5pct")[number - 156]], own[number - 156], 1e-3


@cache
def entities(kind: Any) -> Any:
    metric = kind(CallableRecognizer(capitals)).fit(NOTES[0], NOTES[1], schema=TEXT)
    return metric.evaluate(NOTES[2]).details["syneval"]


def of_texts(number: int) -> Any:
    """Return all detections, those a word, and the percentage of train's that are in it."""
    texts = NOTES[2]["note"]
    found = [word for text in texts for word in text.split() if word[0].isupper()]
    of_train = {word for text in NOTES[0]["note"] for word in text.split() if word[0].isupper()}
    return {
        "total": len(found),
        "density": len(found) / texts.str.split().str.len().sum(),
        "overlap": 100.0 * len(set(found) & of_train) / len(of_train),
    }[("total", "density", "overlap")[number]]


@row(159, 160, 161)
def named_entities(number: int) -> Any:
    printed = entities(EntityLeakage)
    ours = (
        printed["synthetic"]["total_entities"],
        printed["synthetic"]["avg_entity_density"],
        printed["overlap_percentage"],
    )
    return ours[number - 159], of_texts(number - 159)


@row(162)
def filters() -> Any:
    kept = EntityFilter.syneval()
    names = ["A", "Ada Lovelace", "1234", "www.example.org", "x" * 60, "Ada-", "NASA"]
    ours = [kept.keeps(Entity(name, "PER", 0, len(name))) for name in names]
    return ours, [False, True, False, False, False, False, False]


@row(163, 166)
def entity_levels(number: int) -> Any:
    printed = entities(EntityLeakage if number == 163 else NominalMentions)
    most = 0.1 if number == 163 else 0.15
    ours = [printed["synthetic"]["risk_level"] == "high", printed["risk_level"] == "high"]
    return ours, [of_texts(1) > most, of_texts(2) > 50]


@row(164, 181, 182)
def recognizers(number: int) -> Any:
    if number == 164:
        return FlairRecognizer()
    return SpacyRecognizer(device="cpu", batch_size=64)


@row(165)
def nominal_mentions() -> Any:
    printed = entities(NominalMentions)
    synthetic = printed["synthetic"]
    ours = synthetic["total_nominals"], synthetic["avg_nominal_density"]
    return [*ours, printed["overlap_percentage"]], [of_texts(i) for i in range(3)]


class Letters:
    """Vectors that count letters."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.array([[text.count(one) + 0.1 for one in "abcdeghiorstuw"] for text in texts])


STYLES = [
    pd.concat([table, pd.DataFrame({"note": ["zzz zzz zzz", "qqq qqq qqq"]})], ignore_index=True)
    for table in NOTES
]


@row(167)
def stylistic_outliers() -> Any:
    metric = StylisticOutliers(Letters()).fit(STYLES[0], STYLES[1], schema=TEXT)
    printed = metric.evaluate(STYLES[2]).details["syneval"]
    counts = []
    for table in (STYLES[2], STYLES[0]):
        means = cosine_distances(Letters().encode(list(table["note"]))).mean(axis=1)
        counts.append(int(((means - means.mean()) / means.std() > 2.0).sum()))
    synthetic, original = printed["synthetic"], printed["original"]
    ours = [
        *(synthetic["num_outliers"], original["num_outliers"], synthetic["outlier_percentage"]),
        printed["comparison"]["outlier_ratio"],
    ]
    return ours, [*counts, 100.0 * counts[0] / len(STYLES[2]), counts[0] / counts[1]]


@row(168)
def word2vec() -> Any:
    metric = StylisticOutliers("word2vec").fit(*STYLES[:2], schema=TEXT)
    return metric.evaluate(STYLES[2]).details["syneval"]


def wilson(rate: Any) -> float:
    """Return the centre of Wilson's interval, the rate of Anonymeter."""
    z2 = 1.959963984540054**2
    return (rate["n_success"] + z2 / 2.0) / (rate["n"] + z2)


@cache
def risk(name: str, reference: str = "holdout") -> Any:
    metric = {
        "univariate": SinglingOutRisk("univariate", n_attacks=60),
        "multivariate": SinglingOutRisk("multivariate", n_attacks=60, n_cols=4),
        "linkability": LinkabilityRisk(n_splits=1),
    }[name]
    return metric.set_params(reference=reference).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)


@row(169, 170, 171)
def residual_risk(number: int) -> Any:
    """Check what attacks gain on train, of what they do not already get right of strangers."""
    details = risk(("univariate", "multivariate", "linkability")[number - 169]).details
    attack, control = wilson(details["attack"]), wilson(details["control"])
    return details["residual_risk"], max(0.0, (attack - control) / (1.0 - control))


@cache
def everything(**options: Any) -> Any:
    return AnonymeterRisk(**options).fit(*FEW).evaluate(RELEASE)


@row(172)
def inference_of_all() -> Any:
    result = InferenceRiskAll().fit(*FEW).evaluate(RELEASE)
    return result.value, max(one["residual_risk"] for one in result.details["secrets"].values())


@row(173, 174, 175)
def rates(number: int) -> Any:
    details = risk("linkability", "baseline").details
    printed, names = details["syneval"], ("attack", "baseline", "control")
    attack, guessed, control = (wilson(details[name]) for name in names)
    if number == 173:
        return [printed[f"{name}_rate"] for name in names], [attack, guessed, control]
    if number == 174:
        return printed["risk"], max(0.0, (attack - guessed) / (1.0 - guessed))
    low, high = details["attack"]["interval"]
    return (high + low) / 2.0, attack


@row(176)
def levels() -> Any:
    value = risk("linkability").value
    own = "high" if value > 0.5 else "medium" if value > 0.3 else "low"
    lenient = LinkabilityRisk(levels=(0.01, 0.02)).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    ours = [risk("linkability").details["level"], lenient.details["level"]]
    return [ours == [own, "high" if lenient.value > 0.02 else "low"]], [True]


@row(177, 178)
def overall_risk(number: int) -> Any:
    result = everything()
    if number == 178:
        return result.summary
    return result.value, max(one["residual_risk"] for one in result.details["attacks"].values())


@row(179)
def two_tables() -> Any:
    return make_suite("syneval").fit(DENSE_TRAIN).evaluate(DENSE_SYNTHETIC)


@row(180)
def selected_metrics() -> Any:
    """Choose on the shell by their names."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("original", "synthetic")]
        for path, table in zip(paths, (DENSE_TRAIN, DENSE_SYNTHETIC), strict=True):
            table.to_csv(path, index=False)
        scores = Path(folder) / "scores.json"
        call = ["evaluate", *map(str, paths), "--metrics", "exact_matches,ims", "-o", str(scores)]
        done = CliRunner().invoke(app, call)
        assert done.exit_code == 0, done.output
        return json.loads(scores.read_text())


@row(183)
def caching() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        metric = EntityLeakage("patterns", memory=folder).fit(NOTES[0], NOTES[1], schema=TEXT)
        return metric.evaluate(NOTES[2])
