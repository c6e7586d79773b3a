"""
The effect of copies on scores
==============================

In this example, an increasing fraction of the synthetic rows are copies of training rows. The other
rows are new. The scores of the privacy screens decrease with the fraction of copies, but the
fidelity score does not. A screen can find a leak, but it can never clear a release, because there
are leaks that none of these screens detects.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd

from skeval import MetricSuite
from skeval.datasets import make_census
from skeval.fidelity import SimilarityScore
from skeval.privacy import DCROverfittingProtection, PrivacyScore

train, holdout, fresh = (make_census(2_000, random_state=seed) for seed in range(3))
suite = MetricSuite(
    [
        ("similarity / 100", SimilarityScore(scale=1.0)),
        ("privacy score / 100", PrivacyScore()),
        ("overfitting protection", DCROverfittingProtection()),
    ]
).fit(train, holdout)

# %%
# The suite is fitted once, because all synthetic tables use the same real rows.
rows = []
for percent in range(0, 101, 10):
    n_copies = 2_000 * percent // 100
    table = pd.concat([train.iloc[:n_copies], fresh.iloc[n_copies:]])
    for name, found in suite.evaluate(table).items():
        scale = 100.0 if name.startswith("privacy") else 1.0
        low, high = found.interval
        rows.append((percent / 100, name, found.value / scale, low / scale, high / scale))
dial = pd.DataFrame(rows, columns=["copies", "metric", "value", "low", "high"])

# %%
fig, ax = plt.subplots(figsize=(8, 4.5))
for name, curve in dial.groupby("metric"):
    (line,) = ax.plot(curve["copies"], curve["value"], marker="o", label=name)
    ax.fill_between(
        curve["copies"], curve["low"], curve["high"], color=line.get_color(), alpha=0.15
    )
ax.set_xlabel("fraction of synthetic rows that are copies of training rows")
ax.set_ylabel("score")
ax.set_ylim(0, 1.05)
_ = ax.legend()
