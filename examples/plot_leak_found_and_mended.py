"""
How to find and fix a leak
==========================

The real data are flights from New York. The generator is widely used. It fits one decision tree per
column, and samples each value from the real values in a leaf. Small leaves produce faithful
synthetic data, but they reveal which rows were in the training data. This example finds the leak,
locates it, and measures the cost of several fixes.
"""

# %%
# The synthetic data
# ------------------
# 1,000 flights are training data. The other 1,000 flights are set aside as holdout data before
# anything is fitted.
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
# Find the leak
# -------------
# The verdict combines all tests. At most one in twenty tables without a leak has a significant
# test. The verdict also names the columns in which synthetic rows are close to training rows.
screens = make_suite("screens").fit(train, holdout)
print(textwrap.fill(screens.evaluate(release).verdict().sentence, 80))

# %%
# Compare the fixes
# -----------------
# Possible fixes are to drop the copies, to coarsen times and delays before the fit, or to use
# larger leaves. Another option is a different generator, a copula, which preserves correlations but
# not rows. The privacy tests show whether a fix is sufficient. The utility metric shows how well
# the delays can still be predicted from the table.
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
    """Drop the rows that occur in the training data."""
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
# Dropping the copies does not reduce the leak, because most of the leaked information is not in
# complete copies. Coarser times help little, because the rows are still training rows. Larger
# leaves help, but they reduce the utility before the last test is no longer significant. The copula
# has no significant test and is as useful as leaves of 50. This does not prove that there is no
# leak. It only means that four tests found none.
#
# For each fix, the figure shows the success of the membership attack and the quality of the
# predictions.
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
    ax.set_xlabel("AUC of the best membership attack")
    ax.set_ylabel("R2 on real flights")
    ax.set_title("Red if a privacy test is significant, with baselines as dashed lines")
plt.show()
