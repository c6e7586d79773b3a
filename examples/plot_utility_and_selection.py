"""
Utility of synthetic data for model selection
=============================================

Synthetic data may have high fidelity and low utility, or low fidelity and high utility. The first
part of this example ranks five generators by utility, fidelity and privacy. In the second part, an
analyst who has only the synthetic data selects one of seven models. This choice is compared with
the best choice for real data.
"""

# %%
# The training data are 1,500 rows of a simulated census, and the holdout data are 3,000 other rows
# that no generator uses. The target is whether the income is high.
import matplotlib.pyplot as plt
import pandas as pd

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import ClassifierTwoSampleTest
from skeval.generators import (
    Bootstrap,
    GaussianCopula,
    IndependentMarginals,
    RandomForestImputation,
)
from skeval.privacy import DCROverfittingProtection
from skeval.reporting import theme
from skeval.utility import TSTR, ModelRankAgreement, SelectionRegret

TARGET = "income"
train, holdout = make_census(1_500, random_state=0), make_census(3_000, random_state=1)


def columns_by_class(table):
    """Sample each column independently, within the rows of each label."""
    parts = [rows for _, rows in table.groupby(TARGET, observed=True)]
    drawn = [IndependentMarginals().fit(rows).sample(len(rows), random_state=0) for rows in parts]
    return pd.concat(drawn, ignore_index=True)


n = len(train)
tables = {
    "bootstrap": Bootstrap().fit(train).sample(n, random_state=0),
    "forest imputation": RandomForestImputation(p=1.0, random_state=0).fit(train).sample(n),
    "copula": GaussianCopula().fit(train).sample(n, random_state=0),
    "columns by class": columns_by_class(train),
    "columns": IndependentMarginals().fit(train).sample(n, random_state=0),
}

# %%
# The first three generators are part of :mod:`skeval.generators`: resampled training rows, training
# rows with every cell replaced by the prediction of a forest, and a Gaussian copula. The last
# generator samples each column independently. The fourth does so within each label. It preserves
# only the dependence between each column and the income. One suite computes all metrics and fits
# each model once per table.
suite = MetricSuite(
    [
        ("utility", TSTR(TARGET)),
        ("fidelity", ClassifierTwoSampleTest("auc")),
        ("privacy", DCROverfittingProtection()),
        ("agreement", ModelRankAgreement(TARGET)),
        ("regret", SelectionRegret(TARGET)),
    ],
    check_holdout=False,
).fit(train, holdout)
found = {name: suite.evaluate(synthetic) for name, synthetic in tables.items()}
aspects = ["utility", "fidelity", "privacy"]
values = pd.DataFrame({name: {a: r[a].value for a in aspects} for name, r in found.items()}).T
values.round(3)

# %%
# Utility is the ROC-AUC on the holdout data of boosted trees that are trained on the synthetic
# data (TSTR). The dotted line is the score of the same trees trained on the training data (TRTR).
# Fidelity is the ROC-AUC of a classifier that distinguishes synthetic from training rows. Lower is
# better, and 0.5 means that the classifier is guessing. A value below 0.5 indicates copies, because
# the classifier has learned that a row is synthetic and is then tested with the equal training row.
# Privacy is a distance-based screen, which is 0 for copies and close to 1 for new rows.
TITLES = {
    "utility": "utility: higher is better",
    "fidelity": "fidelity: lower is better",
    "privacy": "privacy screen: higher is better",
}
with theme():
    fig, axes = plt.subplots(1, 3, figsize=(9, 2.6), layout="constrained", sharey=True)
    for ax, aspect in zip(axes, aspects, strict=True):
        results = [result[aspect] for result in found.values()]
        for i, result in enumerate(results):
            ax.plot(result.interval, [i, i], color="#0072b2", linewidth=2, alpha=0.4)
            ax.plot(result.value, i, "o", color="#0072b2")
        ax.axvline(results[0].baseline, color="0.6", linestyle=":")
        ax.set_title(TITLES[aspect])
    axes[0].set_yticks(range(len(found)), found)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("ROC-AUC on real rows (dotted: TRTR)")
    axes[1].set_xlabel("ROC-AUC of the classifier (dotted: baseline)")
    axes[2].set_xlabel("overfitting protection (dotted: baseline)")

# %%
# The three rankings are different. Among the four tables that are not copies, the table with the
# best fidelity does not have the best utility.
ranks = values.drop(index="bootstrap")
ranks["fidelity"] *= -1  # lower is better
ranks.rank(ascending=False).astype(int)

# %%
# The fidelity of the columns sampled by class is nearly as low as the fidelity of the independent
# columns. However, trees that are trained on them are not worse than trees that are trained on the
# training data. The dependence among features is lost, but this task does not need it. The copula
# has a better fidelity and a lower utility. Therefore, neither number replaces the other. The
# utility depends on the task, so the order may differ for another target. The following table shows
# the difference between TSTR and TRTR with its interval.
difference = pd.DataFrame(
    {name: result["utility"].details["difference"] for name, result in found.items()}
).T
difference.round(3)

# %%
# Choosing a model
# ----------------
#
# An analyst who has only the synthetic data splits them, compares seven models, and selects the
# best. Each line in the figure is a model. Its left end is the score on synthetic rows that the
# model was not trained on. Its right end is the score of the model after training on the training
# data, on the holdout data. The thick line is the selected model.
with theme():
    fig, axes = plt.subplots(1, 5, figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, (name, result) in zip(axes, found.items(), strict=True):
        details = result["regret"].details
        for model, scores in details["models"].items():
            is_chosen = model == details["chosen"]
            ax.plot(
                [0, 1],
                [scores["tsts"], scores["trtr"]],
                marker="o",
                markersize=3,
                color="#d55e00" if is_chosen else "0.7",
                linewidth=2.5 if is_chosen else 1.0,
                zorder=3 if is_chosen else 2,
            )
        ax.set_xticks([0, 1], ["synthetic", "real"])
        ax.set_xlim(-0.15, 1.15)
        ax.set_title(f"{name}\nchosen: {details['chosen']}")
    axes[0].set_ylabel("ROC-AUC")

# %%
# The scores on synthetic rows do not predict the scores on real rows. For three tables, the
# selected model has a much higher score than on real rows, and for the last table a much lower one.
# However, only the order of the models matters for the choice. The regret is the real score of the
# best model minus the real score of the selected model. "with train" is the regret of an analyst
# who splits the training data in the same way.
choice = {
    name: {
        "chosen": result["regret"].details["chosen"],
        "regret": round(result["regret"].value, 3),
        "low": round(result["regret"].interval[0], 3),
        "high": round(result["regret"].interval[1], 3),
        "with train": round(result["regret"].baseline, 3),
        "pairs in the same order": round(result["agreement"].value, 2),
        "p-value": round(result["agreement"].p_value, 4),
    }
    for name, result in found.items()
}
pd.DataFrame(choice).transpose()

# %%
# The last two columns describe models that are trained on synthetic rows and tested on the holdout
# data: the fraction of the 21 pairs of models in the same order as for real data, with a p-value.
# The maximum agreement is limited, because the real data do not determine the order of every pair.
agreement, regret = found["columns"]["agreement"].details, found["columns"]["regret"].details
print(f"pairs that real rows decide: {agreement['n_decided']} of {agreement['n_pairs']}")
print(f"best model: {regret['best']}, ROC-AUC {regret['real_score_of_best']:.3f}")
print(f"regret of a choice at random, on average: {regret['random_choice']:.3f}")

# %%
# The generator does not cause all of the regret. With the training data, the analyst selects the
# linear model, which is significantly worse than the best model. With three of the synthetic
# tables, the choice is equally good. The bootstrap is special. Models that are trained on it are in
# the same order as for real data, for all pairs. However, an analyst who splits it has copies of
# the same row in both parts, overestimates the score of each model, and selects a different model.
# Independent columns contain no information for a model, so the regret is close to the regret of a
# random choice.
