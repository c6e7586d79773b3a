"""
Every screen on two dials
=========================

A measure that is to be trusted must move when what it measures moves. Two dials turn that: how many
cells of the training rows are replaced by predictions, and how many synthetic rows are copies of
training rows. Every distance screen is read along both, and compared with what fresh real rows
would score.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import skeval.privacy
from skeval import MetricSuite
from skeval.generators import RandomForestImputation

bunch = load_breast_cancer(as_frame=True)
table = bunch.data.iloc[:, :10].assign(diagnosis=bunch.target_names[bunch.target])
train, rest = train_test_split(table, test_size=2 / 3, random_state=0)
holdout, fresh = train_test_split(rest, test_size=1 / 2, random_state=0)

# %%
# All screens of the package in one suite, which is fitted once: work on the real rows is shared by
# all the synthetic tables.
kinds = [getattr(skeval.privacy, name) for name in skeval.privacy.__all__]
screens = [kind for kind in kinds if kind.tags.evidence == "screen"]
suite = MetricSuite([(kind.__name__, kind()) for kind in screens], check_holdout=False)
suite.fit(train, holdout)


def read(tables):
    """Return the readings of every screen, the tables as rows."""
    found = [suite.evaluate(synthetic) for synthetic in tables]
    values = pd.DataFrame([{name: r.value for name, r in one.items()} for one in found])
    baselines = {name: r.baseline for name, r in found[-1].items()}
    return values, baselines


# %%
# The first dial: each cell of a training row is replaced, with probability p, by what a random
# forest predicts from the other columns of that row. At 0 the table is train itself.
steps = np.linspace(0.0, 1.0, 11)
generator = RandomForestImputation(random_state=0).fit(train)
imputed, baselines = read(
    generator.set_params(p=p).sample(len(train), random_state=0) for p in steps
)

# %%
# The second dial: a share of the rows are copies of train, the others are real rows that nobody
# else has, the best that any generator could do.
n = len(fresh)
copied, _ = read(
    pd.concat([train.iloc[: round(share * n)], fresh.iloc[round(share * n) :]]) for share in steps
)

# %%
# Read against their baselines (dashed), the screens agree. At p = 1 no cell is a copy, and some
# screens still see that predictions were made from the very rows; all of them are back at their
# baselines at the left end of the second dial.
n_rows = -(-len(screens) // 4)
fig, axes = plt.subplots(n_rows, 4, figsize=(12, 2.3 * n_rows), sharex=True, layout="constrained")
for ax, kind in zip(axes.flat, screens, strict=False):
    name = kind.__name__
    ax.plot(steps, imputed[name], marker=".", label="cells imputed")
    ax.plot(steps, copied[name], marker=".", label="rows copied")
    if baselines[name] is not None:
        ax.axhline(baselines[name], color="0.5", linestyle="--", linewidth=1, label="fresh rows")
    ax.set_title(f"{name}\n({kind.tags.direction})", fontsize=8)
    ax.tick_params(labelsize=7)
for ax in axes.flat[len(screens) :]:
    ax.axis("off")
lines, labels = axes.flat[0].get_legend_handles_labels()
fig.legend(lines, labels, loc="outside upper center", ncols=3, fontsize=8)
_ = fig.supxlabel("share of cells imputed, share of rows copied")
