"""
A map of the density of rows
============================

A map shows which kinds of rows are missing from the synthetic data. Principal components project
the rows onto a plane. Dots would show individual real rows. Therefore the map shows densities.
Regions with fewer than ten rows are pooled, and remaining small regions are blank.
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
# The first synthetic table is from trees, the second from a copula, and the third from trees that
# were fitted without the oldest fifth of the training rows.

releases = {
    "trees": GeneratorAdapter(SequentialCART()).fit(train).sample(),
    "copula": GeneratorAdapter(GaussianCopula()).fit(train).sample(),
    "some lost": GeneratorAdapter(SequentialCART())
    .fit(train[train["age"] < train["age"].quantile(0.8)])
    .sample(3_000),
}

# %%
# Only the training data determine the directions and the grid, so all tables are on the same map.
# The axis labels are the columns with the largest weights in a direction.

display = plot_map(train, releases, holdout=holdout)
display.figure_.set_size_inches(9, 6)
plt.show()

# %%
# ``MapDistance`` computes the difference between the densities. The value is the fraction of rows
# that are in the wrong place. It is not 0 even for new real rows, as the baseline shows. `thinned`
# is the fraction of training rows in regions with few synthetic rows.

metric = MapDistance().fit(train, holdout)
for name, release in releases.items():
    result = metric.evaluate(release)
    print(
        f"{name:10} {result.value:.3f} (baseline {result.baseline:.3f}, p {result.p_value:.3f}), "
        f"thinned {result.details['thinned']:.1%}, crowded {result.details['crowded']:.1%}"
    )
