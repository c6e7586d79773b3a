"""
Which rows are lost, and which are invented?
============================================

A generator can fail in two ways. It can leave out a kind of rows, which costs *recall*, and it can
make a kind that does not occur, which costs *precision*. A single distance between two tables mixes
both up; precision and recall tell them apart.
"""

# %%
# The truth has two modes of equal weight. One generator has dropped the second mode, one has
# invented a third, and one has both right.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval import MetricSuite
from skeval.fidelity import (
    AlphaPrecisionBetaRecall,
    ClippedDensityCoverage,
    DensityCoverage,
    ImprovedPrecisionRecall,
    PRDCurve,
    ProbabilisticPrecisionRecall,
)

MODES = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])


def draw(*modes, seed, n_rows=900):
    """Draw rows of some of the modes, in equal parts."""
    rng = np.random.default_rng(seed)
    centres = MODES[np.resize(modes, n_rows)]
    return pd.DataFrame(centres + rng.normal(size=(n_rows, 2)), columns=["x", "y"])


train, holdout = draw(0, 1, seed=0), draw(0, 1, seed=1)
tables = {
    "a mode dropped": draw(0, seed=2),
    "a mode invented": draw(0, 1, 2, seed=3),
    "equal": draw(0, 1, seed=4),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharex=True, sharey=True)
for ax, (name, synthetic) in zip(axes, tables.items(), strict=True):
    ax.scatter(train["x"], train["y"], s=4, color="0.7", label="train")
    ax.scatter(synthetic["x"], synthetic["y"], s=4, alpha=0.5, label="synthetic")
    ax.set_title(name)
_ = axes[0].legend(loc="upper left")

# %%
# The curve
# ---------
#
# :class:`~skeval.fidelity.PRDCurve` clusters train and synthetic rows together and looks at how
# both fill the clusters. Against two equal halves, one half of the truth has full precision and a
# recall of one half; the truth with a third mode added has full recall and a precision of two
# thirds. The curve tells what of the one can be had for the other.
suite = MetricSuite(
    [
        ("clusters", PRDCurve()),
        ("improved", ImprovedPrecisionRecall()),
        ("density, coverage", DensityCoverage()),
        ("clipped", ClippedDensityCoverage()),
        ("probabilistic", ProbabilisticPrecisionRecall()),
        ("alpha, beta", AlphaPrecisionBetaRecall()),
    ]
).fit(train, holdout)
results = {name: suite.evaluate(synthetic) for name, synthetic in tables.items()}
fig, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="constrained")
for ax, (name, result) in zip(axes, results.items(), strict=True):
    result["clusters"].display().plot(ax=ax)
    ax.set_title(name, loc="left")

# %%
# The two dots are where the F scores are greatest. F8, which weighs recall, falls where a mode is
# dropped; F1/8, which weighs precision, where one is invented.
#
# Neighbours instead of clusters
# ------------------------------
#
# The others draw balls around rows, each as large as it takes to hold a few neighbours. All have
# one number for the synthetic rows that lie where they should, and one for the real rows that are
# accounted for. Both are in ``details``; the value is their harmonic mean.
SIDES = {
    "clusters": ("f_beta_inv", "f_beta"),
    "improved": ("precision", "recall"),
    "density, coverage": ("density", "coverage"),
    "clipped": ("density", "coverage"),
    "probabilistic": ("precision", "recall"),
    "alpha, beta": ("alpha_precision", "beta_recall"),
}


def sides(details):
    """Return both numbers of each metric."""
    return pd.Series(
        {
            (metric, side): details(metric)[key]
            for metric, keys in SIDES.items()
            for side, key in zip(("invented?", "dropped?"), keys, strict=True)
        }
    )


found = {name: sides(lambda key, r=result: r[key].details) for name, result in results.items()}
fresh = sides(lambda key: results["equal"][key].details["holdout"])
pd.DataFrame({**found, "holdout": fresh}).round(2)

# %%
# Fresh rows of the truth do not score 1 everywhere, as the column of the holdout shows, and
# beta-recall least of all: a number means something only when compared with it. Clipped coverage is
# the one that falls where a mode is invented too: it is relative to the number of synthetic rows,
# of which a third is of no use.
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for ax, side in zip(axes, ("invented?", "dropped?"), strict=True):
    part = pd.DataFrame({**found, "holdout": fresh}).xs(side, level=1).loc[list(SIDES)]
    part.plot.bar(ax=ax, legend=False, rot=30, width=0.8)
    ax.set_title({"invented?": "synthetic rows that belong", "dropped?": "real rows found"}[side])
_ = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
