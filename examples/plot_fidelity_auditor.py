"""
How far from the truth is a synthetic table at least?
=====================================================

A classifier that tells synthetic from real rows proves that the two distributions differ, and by
how much at least: the total variation distance is at least 1 less twice its errors. Here the truth
is known. Rows of two normal distributions, `mu` apart, have the distance 2 Phi(mu / 2) - 1, for any
number of columns.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skeval.fidelity import TotalVariationLowerBound

SHIFTS = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0])


def normal_table(n_rows, n_columns, shift, rng):
    """Draw rows whose distribution is `shift` away from the standard one, along the diagonal."""
    rows = rng.normal(size=(n_rows, n_columns)) + shift / np.sqrt(n_columns)
    return pd.DataFrame(rows).add_prefix("x")


# %%
# The auditor runs boosted trees and a logistic regression, and the better one counts. The estimate
# is what it finds on rows that it has not seen; the bound is below the truth in 95 of 100 audits,
# and it is the bound that the metric reports.
rng = np.random.default_rng(0)
audits = []
for n_rows in (1_000, 10_000):
    for n_columns in (5, 10):
        train, holdout = (normal_table(n_rows, n_columns, 0.0, rng) for _ in range(2))
        metric = TotalVariationLowerBound().fit(train, holdout)
        for shift in SHIFTS:
            found = metric.evaluate(normal_table(n_rows, n_columns, shift, rng))
            audits.append((n_rows, n_columns, shift, found.details["estimate"], found.value))
audits = pd.DataFrame(audits, columns=["rows", "columns", "shift", "estimate", "bound"])
audits["truth"] = 2 * norm.cdf(audits["shift"] / 2) - 1
print(audits.round(3).to_string(index=False))
n_above = (audits["bound"] > audits["truth"]).sum()
print(f"{n_above} of {len(audits)} bounds exceed the truth")

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharex=True, sharey=True)
for ax, (n_rows, part) in zip(axes, audits.groupby("rows"), strict=True):
    ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", label="the truth")
    for n_columns, curve in part.groupby("columns"):
        label = f"bound, {n_columns} columns"
        (line,) = ax.plot(curve["truth"], curve["bound"], marker="o", label=label)
        ax.plot(curve["truth"], curve["estimate"], "x--", color=line.get_color(), alpha=0.5)
    ax.set_title(f"{n_rows:,} rows of each table")
    ax.set_xlabel("total variation distance")
axes[0].set_ylabel("estimate (dashed) and lower bound")
_ = axes[0].legend()
fig.tight_layout()

# %%
# Does the bound keep its promise? In 200 audits of small tables, with a classifier that is as fast
# as it is right for these distributions, it exceeds the truth in about 5 of 100 at most.
for shift in (0.0, 1.0):
    n_above = 0
    for _ in range(200):
        train, holdout, made = (normal_table(200, 5, mu, rng) for mu in (0.0, 0.0, shift))
        metric = TotalVariationLowerBound(LinearDiscriminantAnalysis()).fit(train, holdout)
        n_above += metric.score(made) > 2 * norm.cdf(shift / 2) - 1
    print(f"shift {shift}: above the truth in {n_above} of 200 audits")

# %%
# One minus the bound is no estimate of fidelity but a ceiling of it. A classifier that cannot see a
# difference, or a table too small to show it, gives a bound of 0 to any table: that proves nothing.
