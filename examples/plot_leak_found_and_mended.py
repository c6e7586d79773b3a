"""
A leak, found and mended
========================

Flights that left New York, and a generator in wide use: one decision tree a column, which draws
each value from the real values in a leaf. Small leaves make a faithful table, and give away who was
in it. Which test sees that, what does it say about where the leak is, and what does mending cost?
"""

# %%
# The release
# -----------
# 1,000 flights are train, 1,000 are held out before anything is fitted.
import textwrap
import warnings

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import RandomForestRegressor

from skeval import MetricSuite, make_suite
from skeval.datasets import load_flights
from skeval.exceptions import MetricWarning
from skeval.generators import GaussianCopula, SequentialCART
from skeval.privacy import DCRShare, ExactMatchShare, MembershipInference, NearDuplicateShare
from skeval.reporting import theme
from skeval.utility import TSTR

warnings.simplefilter("ignore", MetricWarning)
columns = ["dep_time", "dep_delay", "arr_delay", "carrier", "origin", "air_time", "distance"]
flights = load_flights(2_000)[columns].dropna().reset_index(drop=True)
train, holdout = flights.iloc[::2], flights.iloc[1::2]
release = SequentialCART(min_samples_leaf=2, random_state=0).fit(train).sample(len(train))

# %%
# Found
# -----
# The verdict is of all tests at once: at most one clean table in twenty has any alarm. It says
# which columns bring synthetic rows near to train rows.
screens = make_suite("screens").fit(train, holdout)
print(textwrap.fill(screens.evaluate(release).verdict().sentence, 80))

# %%
# Mended, or not
# --------------
# Copies can be thrown away. The generator can be given coarser times and delays. Leaves can be
# larger. Or it may be another generator, a copula, which keeps correlations and no row. What each
# is worth is a question to tests of privacy, and to somebody who wants to predict delays from the
# table.
forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0)
suite = MetricSuite(
    [
        ("copies", ExactMatchShare()),
        ("near copies", NearDuplicateShare()),
        ("closer to train", DCRShare()),
        ("membership", MembershipInference()),
        ("utility", TSTR("arr_delay", estimators=[forest])),
    ]
).fit(train, holdout)


def without_copies(table):
    """Drop the rows that are in train."""
    both = table.merge(train.drop_duplicates(), how="left", indicator=True)
    return table[(both["_merge"] == "left_only").to_numpy()]


def coarse(table):
    """Round times of day, delays and durations."""
    units = {"dep_time": 100, "dep_delay": 15, "arr_delay": 15, "air_time": 15}
    return table.assign(
        **{name: (table[name] / unit).round() * unit for name, unit in units.items()}
    )


def made(generator, rows=train):
    return generator.fit(rows).sample(len(train))


ways = {
    "as it was": release,
    "copies dropped": without_copies(release),
    "coarser times": made(SequentialCART(min_samples_leaf=2, random_state=0), coarse(train)),
    "leaves of 50": made(SequentialCART(min_samples_leaf=50, random_state=0)),
    "leaves of 200": made(SequentialCART(min_samples_leaf=200, random_state=0)),
    "copula": made(GaussianCopula(random_state=0)),
}
results = {name: suite.evaluate(table) for name, table in ways.items()}
shown = pd.DataFrame(
    {
        name: {metric: result[metric].value for metric in result}
        | {"alarms": len(result.verdict().alarms)}
        for name, result in results.items()
    }
).T
print(shown.round(3).to_string())
print(f"utility of real rows: {results['as it was']['utility'].baseline:.3f}")

# %%
# Without its copies the table is as exposed as before: most of what gives rows away was never a
# copy. Coarser times hide little more, since the rows are still those of train. Larger leaves do,
# and cost utility before the last test falls silent; the copula has no alarm, and is as useful as
# leaves of 50. That is no clearance: four tests found nothing.
#
# Each way in two numbers: how well its flights say who was in train, and how well they predict.
with theme():
    fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for name, result in results.items():
        x, y = result["membership"], result["utility"]
        colour = "#b3261e" if result.verdict().alarm else "#009e73"
        ax.plot(x.interval, [y.value] * 2, color=colour, lw=1.2)
        ax.plot([x.value] * 2, y.interval, color=colour, lw=1.2)
        ax.plot(x.value, y.value, "o", color=colour, ms=5)
        ax.annotate(name, (x.value, y.value), xytext=(5, 5), textcoords="offset points")
    ax.axvline(0.5, color="0.5", ls="--", lw=1.0)
    ax.axhline(results["as it was"]["utility"].baseline, color="0.5", ls="--", lw=1.0)
    ax.set_xlabel("AUC of the best attack on membership; 0.5 is guessing")
    ax.set_ylabel("R2 on real flights; dashed: of real rows")
    ax.set_title("Red: the verdict has an alarm")
plt.show()
