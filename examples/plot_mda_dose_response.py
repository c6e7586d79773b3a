"""
Privacy and resemblance by minimum distance accumulation
========================================================

In this example, the cells of training rows are replaced with probability p by predictions of a
random forest. At p = 0, the synthetic data are a copy of the training data. At p = 1, every cell is
a prediction, but the forests were fitted to these cells. The authors of minimum distance
accumulation (MDA) used the same experiment. Both areas of MDA decrease with p.
"""

# %%
# The table is the diabetes data set of scikit-learn, with ten measurements and the progression of
# the disease. Half of the 442 patients are training data. The forests are fitted once, because only
# sampling depends on p.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from skeval import MetricSuite
from skeval.fidelity import MDAResemblance
from skeval.generators import RandomForestImputation
from skeval.privacy import MinimumDistanceAccumulation

table = load_diabetes(as_frame=True).frame
train, holdout = train_test_split(table, test_size=0.5, random_state=0)
dial = RandomForestImputation(random_state=0).fit(train)
tables = {p: dial.set_params(p=p).sample(len(train), random_state=0) for p in np.arange(11) / 10}

# %%
# For each row, MDA computes the distance to the nearest row of the other table. The accumulation
# curve is the fraction of rows within a distance. A threshold divides the curve. The area to the
# left is the *privacy area*, which should be small. The area to the right is the *resemblance*,
# which should be large. Distances have no natural unit, so the threshold is the median distance
# between nearest training rows.
suite = MetricSuite(
    [
        ("privacy area", MinimumDistanceAccumulation("loo-median")),
        ("resemblance", MDAResemblance("loo-median")),
    ]
).fit(train, holdout)
results = {p: suite.evaluate(synthetic) for p, synthetic in tables.items()}
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
_ = results[0.5]["privacy area"].display().plot(ax=ax)

# %%
# Effect of p
# -----------
#
# Both areas are maximal for the copy and decrease with p, so better privacy costs resemblance. The
# dashed lines are the baselines, that is, the values for the holdout data. New real rows have this
# value, and not 0. The bands are intervals. The interval of the resemblance is wide at p = 0,
# because no distance is above the threshold.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, name in zip(axes, ["privacy area", "resemblance"], strict=True):
    found = pd.DataFrame({p: result[name].row() for p, result in results.items()}).T
    values, low, high = (found[key].astype(float) for key in ("value", "low", "high"))
    (line,) = ax.plot(found.index, values, marker="o")
    ax.fill_between(found.index, low, high, color=line.get_color(), alpha=0.15)
    ax.axhline(found["baseline"].iloc[0], color="0.4", ls="--")
    ax.set_xlabel("fraction p of replaced cells")
    ax.set_title(name)

# %%
# At p = 1, the privacy area is smaller than the baseline. However, there is still a leak, because
# the predictions are closer to the rows that the forests were fitted to. The comparison with the
# baseline does not show the leak. The p-value shows it, because the test compares the distances of
# training and holdout rows to the synthetic data.
pd.DataFrame(
    {
        p: {
            "privacy area": result["privacy area"].value,
            "relative privacy": result["privacy area"].details["relative_privacy"],
            "p-value": result["privacy area"].p_value,
            "resemblance": result["resemblance"].value,
        }
        for p, result in results.items()
    }
).T.round(3)

# %%
# Effect of the threshold
# -----------------------
#
# The values depend on the threshold. With a small threshold, MDA detects only copies. With a large
# threshold, every table has a large privacy area, including the holdout. A list of thresholds
# requires no more time than one threshold.
many = MinimumDistanceAccumulation((np.arange(1, 31) / 100).tolist()).fit(train, holdout)
fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained", sharex=True)
names = {"privacy_area": "privacy area", "resemblance": "resemblance"}
for p in (0.1, 0.4, 0.7, 1.0):
    details = many.evaluate(tables[p]).details
    for ax, area in zip(axes, names, strict=True):
        ax.plot(details["thresholds"], details[area], label=f"p = {p:g}")
for ax, (area, name) in zip(axes, names.items(), strict=True):
    ax.plot(details["thresholds"], details["holdout"][area], "--", color="0.4", label="holdout")
    ax.axvline(results[0.5]["privacy area"].details["threshold"], color="0.8", zorder=0)
    ax.set_xlabel("threshold")
    ax.set_title(name)
_ = axes[0].legend()

# %%
# The gray line is the threshold of the first figures. The order of the tables is the same for all
# thresholds. MDA is a distance-based screen. It can find a leak, but it can never clear a release.
