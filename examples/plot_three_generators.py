"""
Which of my three generators?
=============================

A copula, a chain of decision trees and a shuffle of the columns were fitted on the same flights.
One report compares them: it is fitted once, says by which metrics two tables differ significantly
at all, and sets aside what leaks. Its first page holds the answer.
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
# Any suite can compare; a few metrics of the report will do here. ``report(train, holdout, tables,
# "which.html")`` writes all of it to a file, and so does ``skeval report train.csv holdout.csv
# copula.csv trees.csv shuffled.csv``.
names = {"similarity", "relations", "phik_difference", "tstr", "near_duplicates", "dcr_overfitting"}
metrics = make_suite("report", target="arr_delay").metrics
suite = MetricSuite([(name, metric) for name, metric in metrics if name in names])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)  # flights that are in train and holdout
    comparison = suite.fit(train, holdout).compare(tables)
comparison

# %%
# Its first sentence alone, for a log.
print(comparison.sentence)

# %%
# The trees are the most faithful and the most useful, and they have learned rows by heart. Among
# those that are left, the copula keeps more of what relates the columns: the similarity of the
# shuffled table is hardly lower, its relations are all lost. Whether the copula keeps enough is
# another question: its baseline says what fresh flights score.
comparison.frame()

# %%
# How sure is that? Each difference has an interval, at 95% over the three pairs. The noise of train
# and holdout is shared by all tables, and counts once where a metric can tell it: "paired".
comparison.differences[["metric", "first", "second", "difference", "low", "high", "interval"]]

# %%
# The tables that no other beats in both facets stand on the steps.
comparison.plot()

# %%
# Two tables of one generator differ by chance alone, which the comparison says.
again = {"copula": tables["copula"]}
again["copula, again"] = generators["copula"].sample(len(train), random_state=1)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)
    print(suite.compare(again).sentence)
