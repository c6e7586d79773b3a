"""
How to compare three generators
===============================

A copula, a sequence of decision trees and a shuffle of the columns are fitted to the same flights.
One report compares the three synthetic tables. It shows which metrics differ significantly between
two tables, and excludes tables with a leak. Its first page contains the recommendation.
"""

# %%
import warnings

from sklearn.model_selection import train_test_split

from skeval import MetricSuite, make_suite
from skeval.datasets import load_flights
from skeval.exceptions import MetricWarning
from skeval.generators import GaussianCopula, IndependentMarginals, SequentialCART

COLUMNS = ["month", "sched_dep_time", "dep_delay", "arr_delay", "carrier", "origin", "distance"]

flights = load_flights(2_000, random_state=0)[COLUMNS]
train, holdout = train_test_split(flights, test_size=0.5, random_state=0)
generators = {
    "copula": GaussianCopula(),
    "trees": SequentialCART(),
    "shuffled": IndependentMarginals(),
}
tables = {
    name: generator.fit(train).sample(len(train), random_state=0)
    for name, generator in generators.items()
}

# %%
# Any suite can compare tables. This example uses a few metrics of the report. ``report(train,
# holdout, tables, "which.html")`` writes the complete comparison to a file. On the command line,
# use ``skeval report train.csv holdout.csv copula.csv trees.csv shuffled.csv``.
names = {"similarity", "relations", "phik_difference", "tstr", "near_duplicates", "dcr_overfitting"}
metrics = make_suite("report", target="arr_delay").metrics
suite = MetricSuite([(name, metric) for name, metric in metrics if name in names])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)  # some flights occur in both real tables
    comparison = suite.fit(train, holdout).compare(tables)
comparison

# %%
# The first sentence is suitable for a log.
print(comparison.sentence)

# %%
# The trees have the best fidelity and utility, but they memorized training rows. Among the other
# two, the copula preserves more of the dependence between columns. The shuffled table has a similar
# similarity score, but all dependence is lost. The baseline, which is the score of the holdout
# data, shows whether the copula is good enough.
comparison.frame()

# %%
# Each difference has a confidence interval, with a joint confidence level of 95% for the three
# pairs. All comparisons use the same training and holdout data. If a metric can use this to make
# the interval narrower, its type is "paired".
comparison.differences[["metric", "first", "second", "difference", "low", "high", "interval"]]

# %%
# The steps in the figure connect the tables that no other table exceeds in both aspects.
comparison.plot()

# %%
# Two tables from the same generator differ only by chance, and the comparison reports this.
again = {"copula": tables["copula"]}
again["copula, again"] = generators["copula"].sample(len(train), random_state=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)
    print(suite.compare(again).sentence)
