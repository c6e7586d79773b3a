"""The numbers of SynEval's documentation, against their formulas written out in numpy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import cosine_distances

from skeval import make_suite
from skeval.datasets import make_mixed
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.privacy import (
    NNDR,
    AnonymeterRisk,
    DCRPercentile,
    ExactMatchShare,
    IdenticalMatchShare,
    InferenceRisk,
    LinkabilityRisk,
    SinglingOutRisk,
)
from skeval.stats.risks import attack_rate
from skeval.text import CallableRecognizer, EntityLeakage, NominalMentions, StylisticOutliers

NAMES = ["age", "income"]
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=s)[NAMES].dropna() for s in range(3))


def distances(rows, others, real):
    span = np.ptp(real, axis=0)
    return np.sort((np.abs(rows[:, None] - others[None]) / span).mean(axis=2), axis=1)


@pytest.mark.parametrize("holdout", [None, HOLDOUT])
@pytest.mark.parametrize("synthetic", [SYNTHETIC, TRAIN + 1e-4])
def test_percentiles_pass_by_their_rule(holdout, synthetic):
    real, train = pd.concat([TRAIN, holdout]).to_numpy(), TRAIN.to_numpy()
    to_train, among = (distances(rows, train, real) for rows in (synthetic.to_numpy(), train))
    dcr = DCRPercentile(baseline="train_loo").fit(TRAIN, holdout).evaluate(synthetic)
    expected = [np.percentile(of, 5) for of in (to_train[:, 0], among[:, 1])]
    of_dcr = dcr.details["syneval"]
    assert [of_dcr["syn_train_5pct"], of_dcr["train_train_5pct"]] == pytest.approx(
        expected, rel=1e-3
    )
    assert of_dcr["passed"] == (expected[0] >= expected[1])
    nndr = NNDR(baseline="train_loo", convention="d2/d1").fit(TRAIN, holdout).evaluate(synthetic)
    ratios = to_train[:, 1] / to_train[:, 0], among[:, 2] / among[:, 1]
    expected = [np.percentile(of, 5) for of in ratios]
    of_nndr = nndr.details["syneval"]
    assert [of_nndr["syn_train_5pct"], of_nndr["train_train_5pct"]] == pytest.approx(
        expected, rel=1e-3
    )
    assert of_nndr["passed"] == (expected[0] >= expected[1])
    assert nndr.details["baseline_kind"] == "train_loo"
    assert of_nndr["syn_train_5pct"] == nndr.details["d2_d1"]


def test_the_holdout_stays_the_baseline_unless_asked():
    for metric in (NNDR(), DCRPercentile()):
        details = metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC).details
        assert details["baseline_kind"] == "holdout"
        assert "syneval" not in details


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_copies():
    table = pd.DataFrame({"n": [1, 1, 2, 3], "c": ["a", "a", "b", "c"]})
    holdout = pd.DataFrame({"n": [1, 7, 8], "c": ["a", "x", "y"]})
    synthetic = pd.DataFrame({"n": [1, 1, 9, 3], "c": ["a", "a", "z", "c"]})
    exact = ExactMatchShare().fit(table).evaluate(synthetic)
    assert exact.details["syneval"] == {"exact_match_percentage": 75.0, "risk_level": "high"}
    assert (
        ExactMatchShare(alert=0.8).fit(table).evaluate(synthetic).details["syneval"]["risk_level"]
        == "low"
    )
    ims = IdenticalMatchShare().fit(table, holdout).evaluate(synthetic).details["syneval"]
    assert ims == {"ims_syn_train": 2 / 3, "train_test_ims": 1 / 3, "passed": False}
    alone = IdenticalMatchShare().fit(table).evaluate(synthetic).details["syneval"]
    assert alone == {"ims_syn_train": 2 / 3, "train_test_ims": None, "passed": None}


@pytest.mark.slow
def test_distinguishability():
    far = SYNTHETIC.assign(age=SYNTHETIC["age"] + 40)
    for synthetic, level in ((SYNTHETIC, "low"), (far, "high")):
        result = ClassifierTwoSampleTest("auc").fit(TRAIN, HOLDOUT).evaluate(synthetic)
        printed = result.details["syneval"]
        assert printed["distinguishability_auc"] == result.value
        assert printed["fidelity_score"] == max(0.0, 1.0 - result.value)
        assert printed["risk_level"] == level
    lenient = ClassifierTwoSampleTest("auc", alert=1.0).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert lenient.details["syneval"]["risk_level"] == "low"


def words_in_capitals(texts):
    return [
        [(w, "PER", text.index(w), text.index(w) + len(w)) for w in text.split() if w[0].isupper()]
        for text in texts
    ]


@pytest.mark.parametrize(
    ("kind", "total", "density", "most"),
    [
        (EntityLeakage, "total_entities", "avg_entity_density", 0.1),
        (NominalMentions, "total_nominals", "avg_nominal_density", 0.15),
    ],
)
def test_all_detections_and_levels_of_risk(kind, total, density, most):
    def notes(*names):
        return pd.DataFrame(
            {"note": [f"today we met {name} in the old house by the sea" for name in names]}
        )

    train, holdout, synthetic = (
        notes("Ada", "Ben", "Eve"),
        notes("Kim", "Lea"),
        notes("Ada", "Ada", "Ben", "Zoe"),
    )
    metric = kind(CallableRecognizer(words_in_capitals)).fit(
        train, holdout, schema={"note": "text"}
    )
    printed = metric.evaluate(synthetic).details["syneval"]
    assert printed["synthetic"][total] == 4
    assert printed["synthetic"]["total"] == 3  # distinct ones
    assert printed["synthetic"][density] == 4 / 44
    assert printed["synthetic"]["risk_level"] == ("high" if most < 4 / 44 else "low")
    assert printed["overlap_percentage"] == pytest.approx(200 / 3)
    assert printed["risk_level"] == "high"


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_stylistic_outliers_by_two_standard_deviations():
    def notes(n, seed):
        rng = np.random.default_rng(seed)
        plain = [" ".join(rng.choice(["dog", "cat", "sea", "house"], 6)) for _ in range(n)]
        return pd.DataFrame({"note": [*plain, "utterly other words here"]})

    def vectors(texts):  # of lengths and letters, fixed in advance
        return np.array([[text.count(letter) + 0.1 for letter in "acdehorst"] for text in texts])

    class Embedder:
        def encode(self, texts):
            return vectors(texts)

    tables = notes(60, 1), notes(60, 2), notes(40, 3)
    metric = StylisticOutliers(features=Embedder()).fit(*tables[:2], schema={"note": "text"})
    printed = metric.evaluate(tables[2]).details["syneval"]
    expected = {}
    for name, table in (("original", tables[0]), ("synthetic", tables[2])):
        means = cosine_distances(vectors(table["note"])).mean(axis=1)
        expected[name] = int(((means - means.mean()) / means.std() > 2).sum())
        assert printed[name]["num_outliers"] == expected[name] > 0
        assert printed[name]["outlier_percentage"] == pytest.approx(
            100 * expected[name] / len(table)
        )
        assert printed[name]["risk_level"] == "low"
    assert printed["comparison"]["outlier_ratio"] == expected["synthetic"] / expected["original"]
    assert printed["comparison"]["risk_level"] == "low"
    by_style = StylisticOutliers().fit(*tables[:2], schema={"note": "text"}).evaluate(tables[2])
    assert by_style.details["syneval"]["synthetic"]["num_outliers"] >= 1


RISKS = [
    SinglingOutRisk("univariate"),
    SinglingOutRisk("multivariate"),
    LinkabilityRisk(),
    InferenceRisk("income"),
]


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_risks_beyond_guessing(risk):
    mixed = [make_mixed(150, random_state=seed) for seed in range(3)]
    release = pd.concat([mixed[2][:100], mixed[0][:50]])
    results = {
        reference: clone(risk).set_params(reference=reference).fit(*mixed[:2]).evaluate(release)
        for reference in ("holdout", "baseline")
    }
    found = results["baseline"]
    rates = {name: found.details[name] for name in ("attack", "baseline", "control")}
    attack, guessed, control = (attack_rate(r["n_success"], r["n"]).centre for r in rates.values())
    expected = (attack - guessed) / (1 - guessed)
    printed = found.details["syneval"]
    assert printed["risk"] == pytest.approx(max(0.0, expected))
    assert printed == results["holdout"].details["syneval"]
    assert [printed[f"{n}_rate"] for n in rates] == pytest.approx([attack, guessed, control])
    if getattr(risk, "n_repeats", 1) == 1:
        assert found.value == pytest.approx(max(0.0, expected), abs=0.02)
    assert found.baseline == pytest.approx(max(0.0, (control - guessed) / (1 - guessed)))
    assert found.p_value == results["holdout"].p_value


def test_the_overall_risk_is_the_largest_beyond_guessing():
    mixed = [make_mixed(100, random_state=seed)[["age", "income", "plan"]] for seed in range(3)]
    metric = AnonymeterRisk(reference="baseline").fit(*mixed[:2])
    result = metric.evaluate(mixed[2])
    assert result.value == max(one["residual_risk"] for one in result.details["attacks"].values())
    assert "excess over guessing" in result.summary
    assert metric.score(mixed[2]) == result.value


def test_the_preset_of_two_tables():
    result = make_suite("syneval").fit(TRAIN).evaluate(SYNTHETIC)
    printed = {name: one.details["syneval"] for name, one in result.items() if not one.error}
    assert set(printed) == {
        "exact_matches",
        "identical_match_share",
        "dcr",
        "nndr",
        "distinguishability",
    }
    assert isinstance(printed["dcr"]["passed"], bool)
    assert isinstance(printed["nndr"]["passed"], bool)
    assert all("holdout" in one.error for one in result.values() if one.error)
