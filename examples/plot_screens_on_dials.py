"""
Distance-based screens for two kinds of leaks
=============================================

A useful privacy metric must change if the leak becomes larger. This example varies the fraction of
cells in training rows that are replaced by predictions, and the fraction of synthetic rows that are
copies of training rows. All distance-based screens are evaluated in both experiments, and compared
with the baseline.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import skeval.privacy
from skeval import Metric, MetricSuite
from skeval.generators import RandomForestImputation

bunch = load_breast_cancer(as_frame=True)
table = bunch.data.iloc[:, :10].assign(diagnosis=bunch.target_names[bunch.target])
train, rest = train_test_split(table, test_size=2 / 3, random_state=0)
holdout, fresh = train_test_split(rest, test_size=1 / 2, random_state=0)

# %%
# One suite contains all screens of the package. It is fitted once, because all synthetic tables use
# the same real rows.
exported = [getattr(skeval.privacy, name) for name in skeval.privacy.__all__]
kinds = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, Metric)]
screens = [kind for kind in kinds if kind.tags.evidence == "screen"]
suite = MetricSuite([(kind.__name__, kind()) for kind in screens], check_holdout=False)
suite.fit(train, holdout)


def read(tables):
    """Return the value of every screen for each table, and the baselines."""
    found = [suite.evaluate(synthetic) for synthetic in tables]
    values = pd.DataFrame([{name: r.value for name, r in one.items()} for one in found])
    baselines = {name: r.baseline for name, r in found[-1].items()}
    return values, baselines


# %%
# In the first experiment, each cell of a training row is replaced with probability p by the
# prediction of a random forest from the other columns. At p = 0, the synthetic data are equal to
# the training data.
steps = np.linspace(0.0, 1.0, 11)
generator = RandomForestImputation(random_state=0).fit(train)
imputed, baselines = read(
    generator.set_params(p=p).sample(len(train), random_state=0) for p in steps
)

# %%
# In the second experiment, a fraction of the rows are copies of training rows. The other rows are
# new real rows, which represent a perfect generator.
n = len(fresh)
copied, _ = read(
    pd.concat([train.iloc[: round(share * n)], fresh.iloc[round(share * n) :]]) for share in steps
)

# %%
# Relative to their baselines (dashed), the screens agree. At p = 1, no cell is a copy, but some
# screens still detect that the predictions were made from training rows. Without copies, at the
# left end of the second experiment, all screens are close to their baselines.
n_rows = -(-len(screens) // 4)
fig, axes = plt.subplots(n_rows, 4, figsize=(12, 2.3 * n_rows), sharex=True, layout="constrained")
for ax, kind in zip(axes.flat, screens, strict=False):
    name = kind.__name__
    ax.plot(steps, imputed[name], marker=".", label="cells imputed")
    ax.plot(steps, copied[name], marker=".", label="rows copied")
    if baselines[name] is not None:
        ax.axhline(baselines[name], color="0.5", linestyle="--", linewidth=1, label="baseline")
    ax.set_title(f"{name}\n({kind.tags.direction})", fontsize=8)
    ax.tick_params(labelsize=7)
for ax in axes.flat[len(screens) :]:
    ax.axis("off")
lines, labels = axes.flat[0].get_legend_handles_labels()
fig.legend(lines, labels, loc="outside upper center", ncols=3, fontsize=8)
_ = fig.supxlabel("fraction of imputed cells, fraction of copied rows")
