"""The rows of the lecture on the evaluation of synthetic data."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta, binom, chi2_contingency, norm
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    mean_squared_error,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from skeval import MetricSuite, OverallScore, evaluate_draws, make_suite
from skeval.fidelity import (
    CorrelationSimilarity,
    CramersVDifference,
    KMarginalSimilarity,
    KSComplement,
    PRDCurve,
    PropensityMSE,
    TotalVariationLowerBound,
    TVComplement,
)
from skeval.generators import Bootstrap, MondrianAnonymization
from skeval.model_selection import efficiency_curve
from skeval.plotting import plot_column, plot_f_beta, plot_pair
from skeval.privacy import (
    AttributeInferenceRisk,
    DPAudit,
    HoldoutDistanceRatio,
    MembershipInference,
    OneRunDPAudit,
    PrivacyGain,
    RecordReconstruction,
    ShadowAttributeInference,
    ShadowMembershipInference,
)
from skeval.utility import (
    TSTR,
    CoefficientOverlap,
    FairnessGap,
    ModelRankAgreement,
    SelectionRegret,
)
from tests.sources.checks import (
    DENSE_HOLDOUT,
    DENSE_SYNTHETIC,
    DENSE_TRAIN,
    HOLDOUT,
    NUMBERS,
    SYNTHETIC,
    TRAIN,
    cells,
    nearest,
    pairs,
    real,
    row,
    shares,
    total_variation,
)

NOMINAL = ["city", "plan", "member"]


@row(92)
def syntactical_accuracy() -> Any:
    return make_suite("diagnostic").fit(TRAIN).evaluate(SYNTHETIC)


@row(93)
def efficiency() -> Any:
    return efficiency_curve(Bootstrap(), TRAIN, n_rows=[60], n_columns=[3])


@row(94)
def total_variation_of_marginals() -> Any:
    own = [total_variation(TRAIN[name], SYNTHETIC[name]) for name in NOMINAL]
    return 1.0 - TVComplement().fit(TRAIN).score(SYNTHETIC), np.mean(own)


@row(95)
def correlations() -> Any:
    result = CorrelationSimilarity().fit(TRAIN[NUMBERS]).evaluate(SYNTHETIC[NUMBERS])
    order = list(result.details["names"])
    ours = [result.details[role] for role in ("train", "synthetic")]
    return ours, [table[order].corr().to_numpy() for table in (TRAIN, SYNTHETIC)]


@row(96)
def cramers_v() -> Any:
    names = ["plan", "member", "visits"]
    result = CramersVDifference(bias_correction=False).fit(TRAIN[names]).evaluate(SYNTHETIC[names])
    order = list(result.details["names"])
    own = np.eye(3)
    for i, j in combinations(range(3), 2):
        columns = [cells(TRAIN[order[k]], TRAIN[order[k]]) for k in (i, j)]
        counts = pd.crosstab(*columns).to_numpy()
        found = chi2_contingency(counts, correction=False).statistic
        own[i, j] = own[j, i] = np.sqrt(found / counts.sum() / (min(counts.shape) - 1))
    return result.details["train"], own


@row(97, 98)
def pictures(number: int) -> Any:
    if number == 97:
        return plot_column(TRAIN, SYNTHETIC, "city")
    return plot_pair(TRAIN, SYNTHETIC, ("city", "plan"))


@row(99)
def random_subsets() -> Any:
    ours, own = [], []
    for k in (2, 3):
        ours.append(KMarginalSimilarity(k).fit(TRAIN[NOMINAL]).score(SYNTHETIC[NOMINAL]))
        alike = []
        for names in combinations(NOMINAL, k):
            both = [cells(t[names[0]], TRAIN[names[0]]) for t in (TRAIN, SYNTHETIC)]
            for name in names[1:]:
                more = (cells(t[name], TRAIN[name]) for t in (TRAIN, SYNTHETIC))
                both = [pairs(a, b) for a, b in zip(both, more, strict=True)]
            alike.append(1.0 - total_variation(*both))
        own.append(np.mean(alike))
    return ours, own


@row(100)
def propensity() -> Any:
    pooled = pd.concat([DENSE_TRAIN, DENSE_SYNTHETIC])
    label = np.repeat([0, 1], [len(DENSE_TRAIN), len(DENSE_SYNTHETIC)])
    fitted = LogisticRegression(C=np.inf, max_iter=10_000, tol=1e-8)
    scaled = (pooled - pooled.mean()) / pooled.std()
    p = fitted.fit(scaled, label).predict_proba(scaled)[:, 1]
    ours = PropensityMSE("logistic").fit(DENSE_TRAIN).score(DENSE_SYNTHETIC)
    return ours, ((p - label.mean()) ** 2).mean(), 1e-6


@cache
def prd() -> Any:
    """Return the curve over the states of one column, each a cluster."""
    metric = PRDCurve(n_clusters=3, n_runs=1, balance=False)
    train, synthetic = TRAIN[["plan"]], SYNTHETIC[["plan"]]
    return metric.fit(train).evaluate(synthetic), shares(train["plan"]), shares(synthetic["plan"])


@row(101, 102, 103)
def precision_and_recall(number: int) -> Any:
    result, p, q = prd()
    q = q.reindex(p.index, fill_value=0.0).to_numpy()
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    alpha = np.minimum(slopes[:, None] * p.to_numpy(), q).sum(axis=1)
    recall = alpha / slopes
    f8, f18 = (
        ((1 + b**2) * alpha * recall / (b**2 * alpha + recall)).max() for b in (8.0, 1.0 / 8.0)
    )
    details = result.details
    if number == 103:
        return [details["f_beta"], details["f_beta_inv"]], [f8, f18], 1e-9
    curve = [details["precision"], details["recall"]]
    if number == 102:
        return curve, [alpha, recall], 1e-9
    return result.value, (f8 + f18) / 2.0, 1e-9


@row(104)
def prd_figure() -> Any:
    return prd()[0].plot()


@row(105)
def map_of_models() -> Any:
    return plot_f_beta({"one": prd()[0], "two": prd()[0]})


@cache
def gaussians(shift: float, n: int = 400) -> tuple[pd.DataFrame, ...]:
    rng = np.random.default_rng(0)
    means = (0.0, 0.0, shift)
    return tuple(pd.DataFrame(rng.normal(m, 1.0, (n, 2)), columns=["x", "y"]) for m in means)


@row(106, 107, 108)
def fidelity_auditor(number: int) -> Any:
    """Check the bound from its own count of errors, and the estimate against the true distance."""
    shift = 1.0
    train, holdout, synthetic = gaussians(shift)
    estimator = {106: LogisticRegression(), 107: GaussianNB(), 108: LogisticRegression()}
    metric = TotalVariationLowerBound(estimator[number])
    result = metric.fit(train, holdout).evaluate(synthetic)
    estimate, n = result.details["estimate"], 2 * result.details["n_tested"]
    if number == 108:
        true = 2.0 * norm.cdf(shift / np.sqrt(2.0)) - 1.0
        return estimate, true, 0.1
    wrong = round((1.0 - estimate) / 2.0 * n)
    return result.value, max(0.0, 1.0 - 2.0 * beta.ppf(0.95, wrong + 1, n - wrong)), 1e-6


MEMBERS = [
    dense.assign(member=table["member"], plan=table["plan"].astype(str))
    for dense, table in (
        (DENSE_TRAIN, TRAIN),
        (DENSE_HOLDOUT, HOLDOUT),
        (DENSE_SYNTHETIC, SYNTHETIC),
    )
]
MODEL = GaussianNB(var_smoothing=0.0)


def called(table: pd.DataFrame, target: str = "member") -> np.ndarray:
    return (
        GaussianNB(var_smoothing=0.0)
        .fit(table[NUMBERS], table[target])
        .predict(MEMBERS[1][NUMBERS])
    )


SCORES = {
    110: ("accuracy", accuracy_score),
    111: ("precision", precision_score),
    112: ("recall", recall_score),
    113: ("f1", f1_score),
}


@row(109, 110, 111, 112, 113)
def transfer(number: int) -> Any:
    names = [*NUMBERS, "member"]
    tables = [table[names] for table in MEMBERS]
    truth = MEMBERS[1]["member"]
    if number == 109:
        model = MODEL.fit(MEMBERS[2][NUMBERS], MEMBERS[2]["member"])
        own = roc_auc_score(truth, model.predict_proba(MEMBERS[1][NUMBERS])[:, 1])
        metric = TSTR("member", estimators=GaussianNB(var_smoothing=0.0))
        return metric.fit(*tables[:2]).score(tables[2]), own
    scoring, formula = SCORES[number]
    metric = TSTR("member", scoring=scoring, estimators=GaussianNB(var_smoothing=0.0))
    result = metric.fit(*tables[:2]).evaluate(tables[2])
    own = [formula(truth, called(table)) for table in (MEMBERS[2], MEMBERS[0])]
    return [result.value, result.baseline], own


@row(114)
def squared_error() -> Any:
    model = DecisionTreeRegressor(max_depth=2, random_state=0)
    tables = [table[["age", "visits"]] for table in MEMBERS]
    metric = TSTR("visits", scoring="neg_mean_squared_error", estimators=model)
    value = metric.fit(*tables[:2]).score(tables[2])
    fitted = DecisionTreeRegressor(max_depth=2, random_state=0).fit(
        tables[2][["age"]], tables[2]["visits"]
    )
    own = mean_squared_error(tables[1]["visits"], fitted.predict(tables[1][["age"]]))
    return abs(value), own


@row(115)
def fairness() -> Any:
    names = [*NUMBERS, "member", "plan"]
    metric = FairnessGap("member", "plan", estimators=MODEL, features=NUMBERS)
    value = metric.fit(*(t[names] for t in MEMBERS[:2])).score(MEMBERS[2][names])
    rates = pd.Series(called(MEMBERS[2])).groupby(MEMBERS[1]["plan"].to_numpy()).mean()
    return value, rates.max() - rates.min()


@row(116, 117)
def rank_of_models(number: int) -> Any:
    models = [
        GaussianNB(var_smoothing=0.0),
        DecisionTreeClassifier(max_depth=1, random_state=0),
        DecisionTreeClassifier(max_depth=4, random_state=0),
    ]
    names = [*NUMBERS, "member"]
    tables = [table[names] for table in MEMBERS]
    truth = tables[1]["member"]

    def scores(table: pd.DataFrame) -> np.ndarray:
        fitted = [m.fit(table[NUMBERS], table["member"]) for m in models]
        return np.array([accuracy_score(truth, m.predict(tables[1][NUMBERS])) for m in fitted])

    on_real, on_synthetic = scores(tables[0]), scores(tables[2])
    kind = ModelRankAgreement if number == 116 else SelectionRegret
    metric = kind("member", "accuracy", models, mode="tstr")
    value = metric.fit(*tables[:2]).score(tables[2])
    if number == 117:
        return value, on_real.max() - on_real[on_synthetic.argmax()]
    signs = [
        (np.sign(on_real[i] - on_real[j]) * np.sign(on_synthetic[i] - on_synthetic[j]) + 1) / 2
        for i, j in combinations(range(3), 2)
    ]  # a pair that ties on one side counts a half
    return value, np.mean(signs)


def line(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return estimates and half widths of 95% intervals of a line fitted by least squares."""
    design = np.column_stack([np.ones(len(table)), table["age"], table["visits"]])
    target = table["income"].to_numpy()
    inverse = np.linalg.inv(design.T @ design)
    estimate = inverse @ design.T @ target
    free = len(table) - design.shape[1]
    spread = ((target - design @ estimate) ** 2).sum() / free
    return estimate, student.ppf(0.975, free) * np.sqrt(spread * np.diag(inverse))


@row(118)
def same_conclusions() -> Any:
    (a, wide_a), (b, wide_b) = line(DENSE_TRAIN), line(DENSE_SYNTHETIC)
    both = np.minimum(a + wide_a, b + wide_b) - np.maximum(a - wide_a, b - wide_b)
    own = (both / (2 * wide_a) + both / (2 * wide_b)) / 2
    metric = CoefficientOverlap("income", features=["age", "visits"])
    return metric.fit(DENSE_TRAIN).score(DENSE_SYNTHETIC), own.mean()


@row(119)
def boosted_trees() -> Any:
    result = TSTR("member").fit(*MEMBERS[:2]).evaluate(MEMBERS[2])
    return next(iter(result.details["models"]))


@row(120)
def membership() -> Any:
    metric = MembershipInference("distance")
    near = np.concatenate([nearest(table, SYNTHETIC, real()) for table in (TRAIN, HOLDOUT)])
    label = np.repeat([1, 0], [len(TRAIN), len(HOLDOUT)])
    return metric.fit(TRAIN, HOLDOUT).score(SYNTHETIC), roc_auc_score(label, -near), 2e-3


@row(121)
def attribute_inference() -> Any:
    names = [*NUMBERS, "plan"]
    tables = [table[names] for table in MEMBERS]
    metric = AttributeInferenceRisk("plan", estimator=GaussianNB(var_smoothing=0.0))
    model = GaussianNB(var_smoothing=0.0).fit(tables[2][NUMBERS], tables[2]["plan"])
    right = [(model.predict(t[NUMBERS]) == t["plan"]).mean() for t in tables[:2]]
    return metric.fit(*tables[:2]).score(tables[2]), right[0] - right[1]


@row(122)
def reconstruction() -> Any:
    return RecordReconstruction(["age", "city"]).fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)


@cache
def audit(**options: Any) -> Any:
    settings = {"n_runs": 20, "n_pilot": 6, "attack": "presence"} | options
    few = TRAIN[["age", "city", "plan"]][:30]
    return DPAudit(Bootstrap(), **settings).fit(few).evaluate(few)


@row(123, 124, 125, 126)
def audits(number: int) -> Any:
    """Check the bound from the counts of wrong guesses, each bounded by Clopper and Pearson."""
    options = {
        124: {"delta": 0.01},
        125: {"adjacency": "replace"},
        126: {"base": "one_row", "target": "canary"},
    }
    result = audit(**options.get(number, {}))
    details, n = result.details, 20
    delta = 0.01 if number == 124 else 0.0
    wrong = details["n_false_positives"], n - details["n_true_positives"]
    fpr, fnr = (1.0 if k == n else beta.ppf(0.975, k + 1, n - k) for k in wrong)
    odds = [max(1.0 - b - delta, 1e-300) / a for a, b in ((fpr, fnr), (fnr, fpr))]
    return result.value, max(0.0, *np.log(odds)), 1e-6


@row(127)
def one_release() -> Any:
    result = OneRunDPAudit(adjacency="replace").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    guesses, right = result.details["n_guesses"], result.details["n_correct"]
    share = 1.0 / (1.0 + np.exp(-result.value))
    return binom.sf(right - 1, guesses, share), 0.05, 1e-3


@row(128)
def ratio_of_distances() -> Any:
    of = [np.median(nearest(table, TRAIN, real())) for table in (SYNTHETIC, HOLDOUT)]
    return HoldoutDistanceRatio().fit(TRAIN, HOLDOUT).score(SYNTHETIC), of[0] / of[1], 5e-3


SMALL = {"n_targets": 1, "n_eval": 4}


@row(129)
def retraining() -> Any:
    few = TRAIN[["age", "city", "plan"]][:40], HOLDOUT[["age", "city", "plan"]][:40]
    attack = ShadowAttributeInference(Bootstrap(), "plan", **SMALL)
    return attack.fit(*few).evaluate(SYNTHETIC[["age", "city", "plan"]][:40])


@row(130)
def against_anonymisation() -> Any:
    few = TRAIN[["age", "city", "plan"]][:40], HOLDOUT[["age", "city", "plan"]][:40]
    attack = ShadowMembershipInference(Bootstrap(), **SMALL)
    return PrivacyGain(attack, MondrianAnonymization()).fit(*few).evaluate(few[0])


@row(131)
def several_tables() -> Any:
    draws = [SYNTHETIC, SYNTHETIC[::-1]]
    return evaluate_draws(MetricSuite([("ks", KSComplement())]).fit(TRAIN), draws)


@row(132)
def many_aspects() -> Any:
    suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    result = suite.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    return OverallScore().score(result)
