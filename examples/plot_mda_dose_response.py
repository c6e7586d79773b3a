"""
How much of the training table is in the synthetic one?
=======================================================

A dial again, of another kind: training rows whose cells are replaced, each with probability p, by
what a random forest predicts for it. At p = 0 the table is a copy, at p = 1 every cell is a
prediction, though one by forests that have seen the very cell. Minimum distance accumulation (MDA)
was tried on this dial when it was proposed: both of its areas fall with p.
"""

# %%
# The table is the diabetes study that comes with scikit-learn: ten measurements and the progress of
# the disease. Half of the 442 patients are trained on. The forests are fitted once, since only
# sampling reads p.
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
# For each row, the distance to the nearest row of the other table is taken. The accumulation curve
# is the share of rows within a distance. A threshold cuts it: to the left is the *privacy area*,
# which should be small, to the right the *resemblance*, which should be large. Distances have no
# natural unit, so the threshold is taken from train: the median distance of neighbours there.
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
# Against p
# ---------
#
# Both areas are full for the copy and fall from there: privacy is bought with resemblance. The
# dashed lines are what the holdout gets in the synthetic rows' place. There, and not at 0, is where
# a table of fresh rows lies. The bands are intervals; that of the resemblance is wide at p = 0,
# where no row at all is beyond the threshold and one cannot know how far the first would be.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, name in zip(axes, ["privacy area", "resemblance"], strict=True):
    found = pd.DataFrame({p: result[name].row() for p, result in results.items()}).T
    values, low, high = (found[key].astype(float) for key in ("value", "low", "high"))
    (line,) = ax.plot(found.index, values, marker="o")
    ax.fill_between(found.index, low, high, color=line.get_color(), alpha=0.15)
    ax.axhline(found["baseline"].iloc[0], color="0.4", ls="--")
    ax.set_xlabel("share p of cells that are replaced")
    ax.set_title(name)

# %%
# At p = 1 the privacy area is smaller than that of the holdout. It leaks all the same: predictions
# lie nearer to the rows that the forests have seen. A number against a baseline cannot tell; the
# p-value can, because it asks whether train rows lie nearer to the synthetic table than holdout
# rows do.
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
# Against the threshold
# ---------------------
#
# All depends on the threshold. A small one sees copies and little else, a large one calls every
# table a leak, the holdout too. A list of thresholds costs no more than one.
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
# The grey line is the threshold of the first figures. What holds at all of them is the order of the
# tables. MDA is a distance screen: it can raise an alarm, and it can never clear a release.
