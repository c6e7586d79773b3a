"""The rows of SDMetrics' documentation."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, gaussian_kde, ks_2samp, norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from skeval import Metric, MetricTags, Result, TableSchema, check_metric, make_suite
from skeval.datasets import make_relational
from skeval.diagnostic import (
    BoundaryAdherence,
    CategoryAdherence,
    CategoryCoverage,
    KeyUniqueness,
    MissingValueSimilarity,
    OutlierCoverage,
    RangeCoverage,
    SmoothnessSimilarity,
    TableStructure,
)
from skeval.exceptions import MissingInputError
from skeval.fidelity import (
    BNLikelihood,
    BNLogLikelihood,
    ChiSquaredTest,
    ClassifierTwoSampleTest,
    ContingencySimilarity,
    CorrelationSimilarity,
    GMLikelihood,
    KSComplement,
    StatisticSimilarity,
    TVComplement,
)
from skeval.plotting import plot_cardinality
from skeval.privacy import (
    AttributeInferenceRisk,
    DCRBaselineProtection,
    DCROverfittingProtection,
    DisclosureProtection,
    DisclosureProtectionEstimate,
    NewRowShare,
)
from skeval.relational import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    ForeignKey,
    InterRowMSAS,
    ReferentialIntegrity,
    RelationalSchema,
    SequenceDetection,
    SequenceKey,
    SequenceLengthSimilarity,
    SequenceTSTR,
    StatisticMSAS,
)
from skeval.utility import TSTR, PrecisionEfficacy, RecallEfficacy
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
    row,
    shares,
    text,
    total_variation,
)

CATEGORIES = ["city", "plan"]
SCALED = [*NUMBERS, "joined"]


def protection(columns: list[str], n_holdout: int = 120, **options: Any) -> tuple[float, float]:
    """Return ours and theirs: ranges of each reference table, ties closer to the holdout."""
    train, holdout, synthetic = (
        table[columns] for table in (TRAIN, HOLDOUT[:n_holdout], SYNTHETIC)
    )
    settings = {"ties": "holdout", "scale": "reference", "chance": "half"} | options
    result = DCROverfittingProtection(**settings).fit(train, holdout).evaluate(synthetic)
    near = [nearest(synthetic, real, real) for real in (train, holdout)]
    return result.value, min(1.0, 2.0 * (1.0 - (near[0] < near[1]).mean()))


@row(28, 29, 30, 31, 32, 33, 34, 36, 37, 38, 39)
def overfitting_protection(number: int) -> Any:
    columns = {
        29: ["age"],
        30: ["city", "plan"],
        32: ["income", "city"],
        33: ["member", "visits"],
        34: ["joined"],
        36: ["plan", "member"],
    }
    return protection(columns.get(number, list(TRAIN)), 40 if number == 39 else 120)


@row(35)
def ids_are_ignored() -> Any:
    tables = [
        table.assign(key=np.arange(len(table)) + 1000 * i)
        for i, table in enumerate((TRAIN, HOLDOUT, SYNTHETIC))
    ]
    metric = DCROverfittingProtection(ties="holdout", scale="reference", chance="half")
    value = metric.fit(*tables[:2], schema={"key": "id"}).score(tables[2])
    return value, protection(list(TRAIN))[1]


@cache
def breakdown() -> Any:
    metric = DCROverfittingProtection(ties="holdout", scale="reference", chance="half")
    return metric.fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC).details["sdmetrics"]


@row(40, 41)
def closer_to(number: int) -> Any:
    near = [nearest(SYNTHETIC, real, real) for real in (TRAIN, HOLDOUT)]
    share = (near[0] < near[1]).mean()
    percentages = breakdown()["synthetic_data_percentages"]
    if number == 40:
        return percentages["closer_to_training"], share
    return percentages["closer_to_holdout"], 1.0 - share


@row(42)
def compute_breakdown() -> Any:
    return breakdown()


@row(43, 44)
def subsamples(number: int) -> Any:
    settings = {"num_rows_subsample": 60, "num_iterations": 1 if number == 43 else 20}
    metric = DCROverfittingProtection(scale="reference", ties="holdout", chance="half", **settings)
    value = metric.fit(TRAIN, HOLDOUT).score(SYNTHETIC)
    rng, own = np.random.default_rng(0), []
    for _ in range(200):
        parts = [t.iloc[rng.permutation(120)[:60]] for t in (TRAIN, HOLDOUT, SYNTHETIC)]
        near = [nearest(parts[2], real, real) for real in parts[:2]]
        own.append(min(1.0, 2.0 * (1.0 - (near[0] < near[1]).mean())))
    return value, np.mean(own), 4.0 * np.std(own) / np.sqrt(settings["num_iterations"])


@row(45)
def unequal_sizes() -> Any:
    result = DCROverfittingProtection().fit(TRAIN, HOLDOUT[:40]).evaluate(SYNTHETIC)
    return result.details["expected"], 120 / 160


@row(46)
def without_validation() -> Any:
    try:
        DCROverfittingProtection().fit(TRAIN)
    except MissingInputError as error:
        return error if "DCRBaselineProtection" in str(error) else None
    return None


PEOPLE = {
    "columns": {
        "id": {"sdtype": "id"},
        "age": {"sdtype": "numerical"},
        "born": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
        "member": {"sdtype": "boolean"},
    },
    "primary_key": "id",
}
VISITS = {
    "columns": {"user": {"sdtype": "id"}, "day": {"sdtype": "numerical"}},
    "sequence_key": "user",
    "sequence_index": "day",
}
LINK = {
    "parent_table_name": "people",
    "child_table_name": "visits",
    "parent_primary_key": "id",
    "child_foreign_key": "user",
}


@row(47, 48, 49)
def metadata(number: int) -> Any:
    if number == 47:
        return TableSchema.from_sdv(PEOPLE)
    tables = {"people": PEOPLE, "visits": VISITS}
    several = RelationalSchema.from_sdv({"tables": tables, "relationships": [LINK]})
    return several if number == 48 else several.sequences["visits"]


def column_shapes(train: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    """Return the mean of the complements: KS of numbers, dates and booleans, TV of categories."""
    scores = [
        1.0 - total_variation(train[name].dropna(), synthetic[name].dropna())
        if name in (*CATEGORIES, "member")
        else 1.0 - ks_2samp(train[name].dropna(), synthetic[name].dropna()).statistic
        for name in train
    ]
    return float(np.mean(scores))


@row(50)
def quality() -> Any:
    columns = ["age", "income", "visits", "city", "plan", "member"]
    result = make_suite("quality").fit(TRAIN[columns]).evaluate(SYNTHETIC[columns])
    scores = result.properties()["score"]
    shapes, trends, overall = (
        scores[name] for name in ("column_shapes", "column_pair_trends", "overall")
    )
    own = column_shapes(TRAIN[columns], SYNTHETIC[columns])
    return [shapes, overall], [own, (own + trends) / 2.0]


@row(51, 53)
def several_tables(number: int) -> Any:
    data = [make_relational(30, seed) for seed in range(2)]
    suite = make_suite("quality" if number == 51 else "diagnostic", schema=data[0].schema)
    return suite.fit(data[0]).evaluate(data[1])


@row(52)
def diagnostic() -> Any:
    return make_suite("diagnostic").fit(TRAIN).evaluate(SYNTHETIC)


USERS = pd.DataFrame({"id": [1, 2, 3, 4], "level": ["a", "a", "b", "b"]})
SCHEMA = RelationalSchema(
    ["users", "orders"],
    primary_keys={"users": "id"},
    foreign_keys=[ForeignKey("orders", "uid", "users", "id")],
)


def orders(*of: float) -> dict[str, pd.DataFrame]:
    amounts = np.arange(len(of), dtype=float)
    return {"users": USERS, "orders": pd.DataFrame({"uid": of, "amount": amounts})}


REAL, MADE = orders(1, 1, 1, 2, 2, 3), orders(1, 2, 2, 3, 3, 3, 3, 4)


@row(54)
def visualization() -> Any:
    return plot_cardinality(REAL, MADE, SCHEMA)


@row(55, 67)
def ranges(number: int) -> Any:
    names = SCALED
    metric = BoundaryAdherence() if number == 55 else RangeCoverage(digits=None)
    own = []
    for name in names:
        r, s = TRAIN[name], SYNTHETIC[name]
        low, high = r.min(), r.max()
        if number == 55:
            s = s.dropna() if r.isna().any() else s
            own.append(((s >= low) & (s <= high)).mean())
        else:
            least, most = (
                max(s.min() - low, 0 * (high - low)),
                max(high - s.max(), 0 * (high - low)),
            )
            own.append(max(0.0, 1.0 - (least + most) / (high - low)))
    return metric.fit(TRAIN[names]).score(SYNTHETIC[names]), np.mean(own)


COUNTS = np.array([3, 2, 1, 0]), np.array([1, 2, 4, 1])


@row(56)
def cardinality_boundary() -> Any:
    low, high = COUNTS[0].min(), COUNTS[0].max()
    own = ((COUNTS[1] >= low) & (COUNTS[1] <= high)).mean()
    return CardinalityBoundaryAdherence().fit(REAL, schema=SCHEMA).score(MADE), own


@row(57, 62)
def categories(number: int) -> Any:
    synthetic = SYNTHETIC.assign(city=SYNTHETIC["city"].replace({"Lyon": "Oslo", "Porto": "Rome"}))
    metric = CategoryAdherence() if number == 57 else CategoryCoverage()
    own = []
    for name in CATEGORIES:
        if number == 57:  # missing is legal where train has it
            own.append(text(synthetic[name]).isin(set(text(TRAIN[name]))).mean())
        else:
            known = set(TRAIN[name].dropna())
            own.append(len(known & set(synthetic[name].dropna())) / len(known))
    return metric.fit(TRAIN[CATEGORIES]).score(synthetic[CATEGORIES]), np.mean(own)


@row(58)
def key_uniqueness() -> Any:
    real, made = pd.DataFrame({"k": range(6)}), pd.DataFrame({"k": [1, 1, 2, None, 3, 3]})
    own = (~made["k"].duplicated() & made["k"].notna()).mean()
    return KeyUniqueness("k").fit(real).score(made), own


@row(59)
def referential_integrity() -> Any:
    made = orders(1, 1, 2, 9, 3, None)
    keys = made["orders"]["uid"]
    return ReferentialIntegrity().fit(REAL, schema=SCHEMA).score(made), keys.isin(
        USERS["id"]
    ).mean()


@row(60)
def table_structure() -> Any:
    real = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"]})
    made = pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": ["x", "y"]})
    pairs_of = [set(zip(t, map(str, t.dtypes), strict=True)) for t in (real, made)]
    own = len(pairs_of[0] & pairs_of[1]) / len(pairs_of[0] | pairs_of[1])
    return TableStructure().fit(real).score(made), own


@row(61)
def cardinality_shape() -> Any:
    own = 1.0 - ks_2samp(*COUNTS).statistic
    return CardinalityShapeSimilarity().fit(REAL, schema=SCHEMA).score(MADE), own


@row(63)
def contingency() -> Any:
    metric = ContingencySimilarity(strategy="uniform-plain", nan="own")
    names = ["age", "city", "plan", "member"]
    both = [{n: cells(t[n], TRAIN[n]) for n in names} for t in (TRAIN, SYNTHETIC)]
    own = [
        1.0 - total_variation(*(pairs(of[a], of[b]) for of in both))
        for i, a in enumerate(names)
        for b in names[:i]
    ]
    return metric.fit(TRAIN[names]).score(SYNTHETIC[names]), np.mean(own)


@row(64)
def correlations() -> Any:
    result = CorrelationSimilarity().fit(TRAIN[NUMBERS]).score(SYNTHETIC[NUMBERS])
    apart = (TRAIN[NUMBERS].corr() - SYNTHETIC[NUMBERS].corr()).abs().to_numpy() / 2
    return result, 1.0 - apart[np.triu_indices(3, 1)].mean()


@row(65)
def ks_complement() -> Any:
    own = [1.0 - ks_2samp(TRAIN[n].dropna(), SYNTHETIC[n].dropna()).statistic for n in SCALED]
    return KSComplement().fit(TRAIN[SCALED]).score(SYNTHETIC[SCALED]), np.mean(own)


@row(66)
def missing_values() -> Any:
    own = 1.0 - (TRAIN.isna().mean() - SYNTHETIC.isna().mean()).abs()
    return MissingValueSimilarity().fit(TRAIN).score(SYNTHETIC), own.mean()


@row(70)
def statistics() -> Any:
    ours, own = [], []
    for statistic in ("mean", "median", "std"):
        ours.append(StatisticSimilarity(statistic).fit(TRAIN[NUMBERS]).score(SYNTHETIC[NUMBERS]))
        of = [getattr(table[NUMBERS], statistic)() for table in (TRAIN, SYNTHETIC)]
        span = TRAIN[NUMBERS].max() - TRAIN[NUMBERS].min()
        own.append((1.0 - (of[0] - of[1]).abs() / span).clip(0).mean())
    return ours, own


@row(71)
def tv_complement() -> Any:
    own = [1.0 - total_variation(TRAIN[n].dropna(), SYNTHETIC[n].dropna()) for n in CATEGORIES]
    metric = TVComplement(nan="drop").fit(TRAIN[CATEGORIES])
    return metric.score(SYNTHETIC[CATEGORIES]), np.mean(own)


VISITED = RelationalSchema(["visits"], sequences={"visits": SequenceKey("user", "day")})


def visits(lengths: list[int], seed: int) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(len(lengths)), lengths)
    days = np.concatenate([np.arange(n) for n in lengths])
    values = rng.normal(loc=users % 3, size=len(users))
    return {"visits": pd.DataFrame({"user": users, "day": days, "x": values})}


LENGTHS = [3, 5, 2, 6, 4, 3, 7, 2], [4, 4, 6, 2, 8, 3, 5, 5]
SEQUENCES = visits(LENGTHS[0], 0), visits(LENGTHS[1], 1)


def by_user(part: int) -> Any:
    return SEQUENCES[part]["visits"].groupby("user")["x"]


@row(68, 69, 84)
def sequences(number: int) -> Any:
    if number == 68:
        metrics, own = [SequenceLengthSimilarity()], [LENGTHS]
    elif number == 69:
        names = ["mean", "std", "median", "min", "max"]
        metrics = [StatisticMSAS(name) for name in names]
        own = [tuple(getattr(by_user(i), name)() for i in (0, 1)) for name in names]
    else:
        metrics = [InterRowMSAS()]
        own = [tuple(by_user(i).diff().dropna() for i in (0, 1))]
    ours = [one.fit(SEQUENCES[0], schema=VISITED).score(SEQUENCES[1]) for one in metrics]
    return ours, [1.0 - ks_2samp(*both).statistic for both in own]


@row(72)
def baseline_protection() -> Any:
    table, made = DENSE_TRAIN, DENSE_SYNTHETIC
    rng, own = np.random.default_rng(0), []
    near = np.median(nearest(made, table, table))
    for _ in range(200):
        noise = pd.DataFrame(
            {n: rng.uniform(table[n].min(), table[n].max(), len(made)) for n in table}
        )
        for name in ("age", "visits"):
            noise[name] = rng.integers(table[name].min(), table[name].max() + 1, len(made))
        own.append(min(1.0, near / np.median(nearest(noise, table, table))))
    value = DCRBaselineProtection(n_random_repeats=20).fit(table).score(made)
    return value, np.mean(own), 4.0 * np.std(own) / np.sqrt(20)


def cap(table: pd.DataFrame, method: str) -> float:
    """Return the mean share of synthetic rows of a row's key that have its secret."""
    known = ["city", "member"]
    real, made = (t.assign(city=t["city"].fillna("none")) for t in (table, SYNTHETIC))
    found = []
    for _, one in real.iterrows():
        same = (made[known] == one[known].to_numpy()).sum(axis=1)
        chosen = made[same == (same.max() if method == "generalized_cap" else len(known))]
        if len(chosen):
            found.append((chosen["plan"] == one["plan"]).mean())
        elif method == "zero_cap":
            found.append(0.0)
    return float(np.mean(found))


@row(73, 75)
def disclosure(number: int) -> Any:
    ours, own = [], []
    for method in ("cap", "zero_cap", "generalized_cap"):
        metric = DisclosureProtection(
            ["city", "member"], "plan", method=method, normalize=number == 73
        )
        ours.append(metric.fit(TRAIN).score(SYNTHETIC))
        protected = 1.0 - cap(TRAIN, method)
        own.append(min(1.0, protected / (1.0 - 1.0 / 3.0)) if number == 73 else protected)
    return ours, own


@row(74)
def disclosure_estimate() -> Any:
    ours = DisclosureProtectionEstimate(["city", "member"], "plan").fit(TRAIN).score(SYNTHETIC)
    return ours, min(1.0, (1.0 - cap(TRAIN, "cap")) / (1.0 - 1.0 / 3.0)), 1e-9


@row(76, 77)
def efficacy(number: int) -> Any:
    """Check the form (gain + 1) / 2, of the precisions or recalls that are listed."""
    metric, name = (PrecisionEfficacy, "precision") if number == 76 else (RecallEfficacy, "recall")
    result = metric("member").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    models = result.details["models"]
    return result.value, (models["augmented"][name] - models["train"][name] + 1.0) / 2.0


@row(78)
def chi_squared() -> Any:
    counts = pd.DataFrame({i: t["plan"].value_counts() for i, t in enumerate((TRAIN, SYNTHETIC))})
    found = chi2_contingency(counts.to_numpy(), correction=False)
    ours = ChiSquaredTest().fit(TRAIN[["plan"]]).evaluate(SYNTHETIC[["plan"]])
    return (
        [ours.value, ours.details["p_values"]["plan"]],
        [np.sqrt(found.statistic / counts.to_numpy().sum()), found.pvalue],
    )


@row(79, 80)
def bayesian_network(number: int) -> Any:
    """Check a tree of two columns, whose likelihood is the joint share of the cells of a row."""
    names = ["plan", "member"]
    table, made = (pairs(*(t[name].astype(str) for name in names)) for t in (TRAIN, SYNTHETIC))
    likely = made.map(shares(table)).fillna(0.0)
    metric = BNLikelihood(smoothing=0.0) if number == 79 else BNLogLikelihood(smoothing=0.0)
    ours = metric.fit(TRAIN[names]).score(SYNTHETIC[names])
    return ours, likely.mean() if number == 79 else np.log(likely).mean()


@row(81)
def gaussian_mixture() -> Any:
    metric = GMLikelihood(n_components=(1, 1)).fit(DENSE_TRAIN)
    mean, std = DENSE_TRAIN.mean(), DENSE_TRAIN.std(ddof=0)
    own = norm.logpdf(DENSE_SYNTHETIC, mean, std).sum(axis=1).mean()
    return metric.score(DENSE_SYNTHETIC), own, 1e-4


def many_visits(seed: int) -> dict[str, pd.DataFrame]:
    return visits(list(np.random.default_rng(seed).integers(2, 6, 40)), seed)


@row(82)
def sequence_detection() -> Any:
    return SequenceDetection().fit(many_visits(0), schema=VISITED).evaluate(many_visits(1))


@row(83)
def detection() -> Any:
    """Check their score from our AUC: one minus what the AUC exceeds a half by, doubled."""
    metric = ClassifierTwoSampleTest("auc", LogisticRegression())
    result = metric.fit(DENSE_TRAIN).evaluate(DENSE_SYNTHETIC.add([20, 0, 0]))
    return result.details["similarity"], 1.0 - (2.0 * max(result.value, 0.5) - 1.0)


@row(85)
def sequence_efficacy() -> Any:
    metric = SequenceTSTR("x", estimator=None)
    tables = [many_visits(seed) for seed in range(3)]
    return metric.fit(*tables[:2], schema=VISITED).evaluate(tables[2])


def bayes(train: pd.DataFrame, labels: pd.Series) -> GaussianNB:
    return GaussianNB(var_smoothing=0.0).fit(train, labels)


@row(86)
def ml_efficacy() -> Any:
    names = [*NUMBERS, "member"]
    tables = [
        dense.assign(member=table["member"])
        for dense, table in (
            (DENSE_TRAIN, TRAIN),
            (DENSE_HOLDOUT, HOLDOUT),
            (DENSE_SYNTHETIC, SYNTHETIC),
        )
    ]
    metric = TSTR("member", estimators=GaussianNB(var_smoothing=0.0))
    model = bayes(tables[2][NUMBERS], tables[2]["member"])
    own = roc_auc_score(tables[1]["member"], model.predict_proba(tables[1][NUMBERS])[:, 1])
    return metric.fit(*(t[names] for t in tables[:2])).score(tables[2][names]), own


def new_share(columns: list[str]) -> float:
    """Count rows without a match: numbers to a hundredth of their own, dates to one of the range."""
    new = []
    for _, made in SYNTHETIC[columns].iterrows():
        same = np.ones(len(TRAIN), dtype=bool)
        for name, cell in made.items():
            column = TRAIN[name]
            if pd.isna(cell):
                found = column.isna()
            elif name in NUMBERS:
                found = (column - cell).abs() <= 0.01 * abs(cell)
            elif name == "joined":
                found = (column - cell).abs() <= 0.01 * (column.max() - column.min())
            else:
                found = (column == cell).fillna(False)
            same &= found.to_numpy(bool)
        new.append(not same.any())
    return float(np.mean(new))


@row(87)
def new_rows() -> Any:
    without_dates = [name for name in TRAIN if name != "joined"]
    ours = [
        NewRowShare().fit(TRAIN[names]).score(SYNTHETIC[names])
        for names in (without_dates, list(TRAIN))
    ]
    return ours, [new_share(without_dates), new_share(list(TRAIN))]


@row(88)
def outlier_coverage() -> Any:
    own = []
    for name in ("income", "visits"):
        low, high = TRAIN[name].quantile([0.25, 0.75])
        outside = [
            ((t[name] < low - 1.5 * (high - low)) | (t[name] > high + 1.5 * (high - low)))[
                t[name].notna()
            ].mean()
            for t in (TRAIN, SYNTHETIC)
        ]
        own.append(min(outside[1] / outside[0], 1.0))
    names = ["income", "visits"]
    return OutlierCoverage().fit(TRAIN[names]).score(SYNTHETIC[names]), np.mean(own)


@row(89)
def privacy_against_inference() -> Any:
    tables = [
        dense.assign(plan=table["plan"])
        for dense, table in (
            (DENSE_TRAIN, TRAIN),
            (DENSE_HOLDOUT, HOLDOUT),
            (DENSE_SYNTHETIC, SYNTHETIC),
        )
    ]
    metric = AttributeInferenceRisk("plan", estimator=GaussianNB(var_smoothing=0.0))
    result = metric.fit(*tables[:2]).evaluate(tables[2])
    model = bayes(tables[2][NUMBERS], tables[2]["plan"].astype(str))
    right = [(model.predict(t[NUMBERS]) == t["plan"].astype(str)).mean() for t in tables[:2]]
    details = result.details
    return [details["train"], details["holdout"], result.value], [*right, right[0] - right[1]]


def width(values: pd.Series) -> float:
    """Return the full width at half of the maximum of a density."""
    density = gaussian_kde(values)
    h = density.factor * values.std()
    grid = np.linspace(values.min() - 3 * h, values.max() + 3 * h, 2048)
    above = grid[density(grid) >= density(grid).max() / 2]
    return float(above[-1] - above[0])


@row(90)
def smoothness() -> Any:
    made = SYNTHETIC[["age"]] * 0.7
    a, b = width(TRAIN["age"].astype(float)), width(made["age"])
    return (
        SmoothnessSimilarity().fit(TRAIN[["age"]]).score(made),
        1.0 - abs(a - b) / max(a, b),
        2e-3,
    )


class MeanGap(Metric):
    """Absolute difference of the means of one column.

    Parameters
    ----------
    column : str
        The column.
    """

    tags = MetricTags(aspect="fidelity", greater_is_better=False, bounds=(0.0, float("inf")))

    def __init__(self, column: str = "age") -> None:
        self.column = column

    def _compute(self, context: Any) -> Result:
        a, b = (context[role][self.column].mean() for role in ("train", "synthetic"))
        return Result(value=abs(a - b))


@row(91)
def own_metric() -> Any:
    check_metric(MeanGap())
    return MeanGap("age").fit(TRAIN).score(SYNTHETIC), abs(
        TRAIN["age"].mean() - SYNTHETIC["age"].mean()
    )
