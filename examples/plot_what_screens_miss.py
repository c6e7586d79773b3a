"""
Leaks that screens and averages miss
====================================

This example shows two synthetic tables with a leak. The first is the training data with shifted
values. An attacker who knows the shift can recover all training rows, but distances do not reveal
the leak. The second table contains copies of the three most unusual training rows. An average over
all rows shows almost nothing.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval.exceptions import MetricWarning
from skeval.privacy import DCRShare, MembershipInference
from skeval.reporting import theme

BLUE, ORANGE = "#0072b2", "#d55e00"  # train, synthetic


def frame(rows):
    return pd.DataFrame(rows, columns=list("abcd"))


rs = np.random.RandomState(0)
train, holdout = rs.normal(size=(300, 4)), rs.normal(size=(300, 4))
real = frame(train), frame(holdout)

# %%
# In the first table, 3 is added to one column of the training data. A distance-based screen tests
# whether synthetic rows are closer to the training data than to the holdout data. A membership
# attack by distance tries to distinguish training rows from holdout rows by their distance to
# synthetic rows. Both values are close to one half, as for data without a leak. An attack that
# compares rows as text is always correct, because most digits are still training digits. If every
# column is shifted by an irregular number, this attack also fails, and so does the best of several
# attacks. However, an attacker who knows or guesses the shift can subtract it.
shift, odd = np.array([3.0, 0.0, 0.0, 0.0]), np.array([3.1416, -2.7183, 1.4142, 0.5772])
moved = frame(train + shift)
moved_oddly = frame(train + odd)
moved_back = frame(train + odd - odd)
distance = MembershipInference("distance").fit(*real)
readings = {
    "fraction closer to train": DCRShare().fit(*real).evaluate(moved),
    "attack by distance": distance.evaluate(moved),
    "attack by edit distance": MembershipInference("levatt").fit(*real).evaluate(moved),
    "best of several attacks, all columns shifted": MembershipInference()
    .fit(*real)
    .evaluate(moved_oddly),
    "attack that knows the shift": distance.evaluate(moved_back),
}
for name, result in readings.items():
    print(f"{name}: {result.value:.3f} ({result.interval[0]:.3f} to {result.interval[1]:.3f})")

# %%
with theme():
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
    left.plot(*(train + shift)[:, :2].T, ".", color=ORANGE, ms=3, label="synthetic")
    left.plot(*train[:, :2].T, ".", color=BLUE, ms=3, label="train")
    left.set_xlabel("a")
    left.set_ylabel("b")
    left.set_ylim(top=3.4)
    left.legend(loc="upper center", ncols=2, markerscale=2.0)
    left.set_title("Training rows and shifted training rows")
    for i, result in enumerate(readings.values()):
        low, high = result.interval
        right.plot([low, high], [-i, -i], color=ORANGE, lw=1.4)
        right.plot(result.value, -i, "o", color=ORANGE, ms=5)
    right.axvline(0.5, color="0.5", ls="--", lw=1.0)
    right.set_yticks(-np.arange(len(readings)), list(readings))
    right.set_xlim(0.0, 1.03)
    right.set_ylim(0.6 - len(readings), 0.4)
    right.set_xlabel("0.5: no leak is found, 1: complete leak")
    right.set_title("Values of the metrics")

# %%
# The second table contains new rows, except for three copies of the most unusual training rows.
# Three of 300 rows change an average by only one percent. The attack therefore also reports its AUC
# for tenths of the rows, ordered by their distance to other rows, and for the most unusual 5% and
# 2%. The experiment is repeated 40 times with new tables, and also with zero and twelve copies.
attack = MembershipInference("distance", fpr=0.1, n_permutations=19)
screen = DCRShare()
warnings.simplefilter("ignore", MetricWarning)  # the figure shows the same
rows = []
for seed in range(40):
    rs = np.random.RandomState(seed)
    train, holdout, fresh = (rs.normal(size=(300, 4)) for _ in range(3))
    outermost = np.argsort(-(train**2).sum(axis=1))
    for metric in (screen, attack):
        metric.fit(frame(train), frame(holdout))
    for n in (0, 3, 12):
        release = fresh.copy()
        release[:n] = train[outermost[:n]]
        share, attacked = screen.evaluate(frame(release)), attack.evaluate(frame(release))
        outliers = attacked.details["outliers"]
        alarms = [share.p_value, attacked.p_value, outliers["p_value"]]
        areas = {group["above"]: group["auc"] for group in outliers["groups"]}
        rows.append((n, share.value, attacked.value, alarms, areas))
found = pd.DataFrame(rows, columns=["copied", "share", "auc", "alarms", "groups"])
print(found.groupby("copied")[["share", "auc"]].mean().round(3))

# %%
# The left panel shows the mean AUC in each group. Copies of unusual rows have a visible effect on
# their group. The right panel shows the fraction of the 40 tables with a significant test
# (p < 0.025, with a Bonferroni correction for the groups). Without copies, one in forty is
# expected. Twelve copies are usually found by the test of groups, but rarely by an average. Three
# copies raise the AUC of their group to 0.8, but three rows are not enough for a significant test.
# Even without a leak, three random rows are all training rows in one of eight cases.
names = [f"{i}0%" for i in range(1, 10)] + ["100%", "last 5%", "last 2%"]
tests = ["fraction closer\nto train", "AUC of\nthe attack", "AUC by\ngroups"]
looks = {0: ("0.6", "none copied"), 3: (BLUE, "3"), 12: (ORANGE, "12")}
with theme():
    fig, (left, right) = plt.subplots(
        1, 2, figsize=(8.0, 3.4), width_ratios=(3, 2), layout="constrained"
    )
    for k, (n, (colour, label)) in enumerate(looks.items()):
        of_n = found[found["copied"] == n]
        areas = pd.DataFrame(of_n["groups"].to_list()).mean().sort_index()
        left.plot(areas.to_numpy(), "o-", color=colour, ms=4, label=label)
        alarms = (np.array(of_n["alarms"].to_list()) < 0.025).mean(axis=0)
        right.bar(np.arange(3) + 0.27 * (k - 1), alarms, 0.24, color=colour)
    left.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    left.set_xlabel("rows by their distance to other rows, up to")
    left.set_ylabel("AUC of the attack by distance")
    left.set_title("The attack by groups of rows")
    left.axhline(0.5, color="0.5", ls="--", lw=1.0)
    left.legend(loc="upper left")
    right.axhline(0.025, color="0.5", ls="--", lw=1.0)
    right.set_xticks(range(3), tests)
    right.set_ylim(0.0, 1.0)
    right.set_title("Fraction of significant tests")

# %%
# A screen without a finding and a failed attack do not prove that there is no leak. They only mean
# that a specific attacker did not find a leak on the average of specific rows.
