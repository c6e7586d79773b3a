"""
A map of densities, and no row on it
====================================

Where do the rows of a synthetic table lie, and which kinds are missing? Principal components
lay rows out on a plane. A dot for each row would show rows of real persons, so that the map shows
densities: regions with fewer than ten rows are pooled, and what is left of them is blank.
"""

# %%
import matplotlib.pyplot as plt

from skeval.datasets import make_census
from skeval.fidelity import MapDistance
from skeval.generators import GaussianCopula, GeneratorAdapter, SequentialCART
from skeval.plotting import plot_map

table = make_census(6_000, random_state=0)
train, holdout = table[:3_000], table[3_000:]

# %%
# Three releases of one table: by trees, by a copula, and by trees that never saw the oldest fifth.

releases = {
    "trees": GeneratorAdapter(SequentialCART()).fit(train).sample(),
    "copula": GeneratorAdapter(GaussianCopula()).fit(train).sample(),
    "some lost": GeneratorAdapter(SequentialCART())
    .fit(train[train["age"] < train["age"].quantile(0.8)])
    .sample(3_000),
}

# %%
# Train alone decides the directions and the grid, so that all tables are on one map. The names of
# the axes are the columns that a direction is mostly made of.

display = plot_map(train, releases, holdout=holdout)
display.figure_.set_size_inches(9, 6)
plt.show()

# %%
# The same as numbers. The value is the share of rows in the wrong place. Chance alone does not
# make 0: the baseline is that of the holdout. `thinned` is the share of train rows that lie where
# synthetic rows are rare.

metric = MapDistance().fit(train, holdout)
for name, release in releases.items():
    result = metric.evaluate(release)
    print(
        f"{name:10} {result.value:.3f} (baseline {result.baseline:.3f}, p {result.p_value:.3f}), "
        f"thinned {result.details['thinned']:.1%}, crowded {result.details['crowded']:.1%}"
    )
