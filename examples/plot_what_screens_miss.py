"""
What screens and averages miss
==============================

Releases that leak. The first is the training table, moved: whoever knows by how much has all of it
back, and no distance shows it. The second holds copies of three people, the most unusual ones:
an average over all rows shows next to nothing.
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
# The first release: 3 is added to one column of train, nothing else. A distance screen asks whether
# synthetic rows are closer to train than to the holdout, an attack whether train rows can be told
# from holdout rows by what is near them. Both read one half if all is well, and both do here. An
# attack that reads rows as text is never wrong: most digits are still those of train. Where every
# column is moved, by an odd amount, it is blind too, as is the foremost of several. An attacker
# who knows, or guesses, how the table was moved takes the amounts off again.
shift, odd = np.array([3.0, 0.0, 0.0, 0.0]), np.array([3.1416, -2.7183, 1.4142, 0.5772])
moved = frame(train + shift)
moved_oddly = frame(train + odd)
moved_back = frame(train + odd - odd)
distance = MembershipInference("distance").fit(*real)
readings = {
    "share closer to train": DCRShare().fit(*real).evaluate(moved),
    "attack by distance": distance.evaluate(moved),
    "attack by edits of text": MembershipInference("levatt").fit(*real).evaluate(moved),
    "foremost of several, all columns moved": MembershipInference()
    .fit(*real)
    .evaluate(moved_oddly),
    "attack that knows the amounts": distance.evaluate(moved_back),
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
    left.set_title("Train, and the same rows moved")
    for i, result in enumerate(readings.values()):
        low, high = result.interval
        right.plot([low, high], [-i, -i], color=ORANGE, lw=1.4)
        right.plot(result.value, -i, "o", color=ORANGE, ms=5)
    right.axvline(0.5, color="0.5", ls="--", lw=1.0)
    right.set_yticks(-np.arange(len(readings)), list(readings))
    right.set_xlim(0.0, 1.03)
    right.set_ylim(0.6 - len(readings), 0.4)
    right.set_xlabel("0.5: nothing is found; 1: all is")
    right.set_title("What is read")

# %%
# The second release is fresh, but for three rows: copies of those of train that are farthest from
# all others. Three of 300 rows move an average by one part in a hundred. The attack therefore also
# tells its AUC in tenths of the rows, ordered by how far they lie from others, and for the
# outermost 5% and 2%. All is done 40 times, with new tables each, and with none and with twelve
# copies too.
attack = MembershipInference("distance", fpr=0.1, n_permutations=19)
screen = DCRShare()
warnings.simplefilter("ignore", MetricWarning)  # they tell what the figure shows
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
# On the left the mean AUC in each group: copies of unusual people are not lost among rows that
# nobody copied. On the right, in how many of the 40 releases a test raises an alarm (p < 0.025, for
# the groups after Bonferroni). Without a copy this is to happen in one of forty. Twelve copies are
# found by their group, and seldom by an average. Three copies raise the AUC of theirs to 0.8, but
# are too few to be sure: that three rows, wherever they come from, were all train rows happens in
# one of eight cases by chance.
names = [f"{i}0%" for i in range(1, 10)] + ["100%", "last 5%", "last 2%"]
tests = ["share closer\nto train", "AUC of\nthe attack", "AUC by\ngroups"]
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
    left.set_xlabel("rows by their distance to others, up to")
    left.set_ylabel("AUC of the attack by distance")
    left.set_title("The attack by groups of rows")
    left.axhline(0.5, color="0.5", ls="--", lw=1.0)
    left.legend(loc="upper left")
    right.axhline(0.025, color="0.5", ls="--", lw=1.0)
    right.set_xticks(range(3), tests)
    right.set_ylim(0.0, 1.0)
    right.set_title("Share of releases with an alarm")

# %%
# A screen that passes, and an attack that fails, are no proof. They say what was not found, by whom
# and on the average of which rows.
