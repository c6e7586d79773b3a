"""
Precision and recall of synthetic data
======================================

A generator can fail in two ways. It can omit a kind of real rows, which reduces the *recall*, or
generate a kind of rows that does not occur, which reduces the *precision*. A single distance
between two tables does not distinguish the two failures, but precision and recall do.
"""

# %%
# The real distribution has two modes of equal weight. The first generator drops the second mode,
# the second generator invents a third mode, and the third generator is correct.
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
    """Sample rows from some of the modes, with equal numbers of rows."""
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
# :class:`~skeval.fidelity.PRDCurve` clusters training and synthetic rows together and compares how
# both are distributed over the clusters. If one of the two modes is dropped, the precision is 1 and
# the recall is one half. If a third mode is added, the recall is 1 and the precision is two thirds.
# The curve shows the trade-off between precision and recall.
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
# The two dots are the points with the largest F scores. F8 gives more weight to recall and is low
# if a mode is dropped. F1/8 gives more weight to precision and is low if a mode is invented.
#
# Neighbors instead of clusters
# -----------------------------
#
# The other metrics use balls around rows, which are just large enough to contain a few neighbors.
# Each metric has one number for the synthetic rows in regions of real rows, and one number for the
# real rows in regions of synthetic rows. ``details`` contains both numbers, and the value is their
# harmonic mean.
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
# The column of the holdout shows that new real rows do not have a score of 1 for all metrics, in
# particular for beta-recall. Therefore a number must be compared with this baseline. Clipped
# coverage is also low if a mode is invented, because it is relative to the number of synthetic
# rows, and a third of these rows does not cover real rows.
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for ax, side in zip(axes, ("invented?", "dropped?"), strict=True):
    part = pd.DataFrame({**found, "holdout": fresh}).xs(side, level=1).loc[list(SIDES)]
    part.plot.bar(ax=ax, legend=False, rot=30, width=0.8)
    ax.set_title({"invented?": "realistic synthetic rows", "dropped?": "covered real rows"}[side])
_ = fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
