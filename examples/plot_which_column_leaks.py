"""
How to find the column that leaks
=================================

The synthetic flights in this example do not contain copied rows, and no distance-based screen is
significant. However, they contain tail numbers of the training data. The first page of a report
names the columns and recommends a fix. The example applies the fix and evaluates the result again.
"""

# %%
# Half of the flights are holdout data. The generator learns from the other half. In nearly unique
# columns, its synthetic values are training values.
from sklearn.model_selection import train_test_split

from skeval import MetricSuite
from skeval.datasets import load_flights
from skeval.generators import GaussianCopula
from skeval.privacy import AnonymeterRisk, DCRShare, ExactMatchShare

COLUMNS = ["tailnum", "carrier", "origin", "dep_delay", "arr_delay", "air_time", "distance"]
flights = load_flights(16_000, random_state=0)[COLUMNS]
train, holdout = train_test_split(flights, test_size=0.5, random_state=0)
synthetic = GaussianCopula().fit(train).sample(len(train), random_state=0)

suite = MetricSuite(
    [
        ("exact_matches", ExactMatchShare()),
        ("dcr_share", DCRShare()),
        ("anonymeter", AnonymeterRisk(n_attacks=2_000)),
    ]
)
result = suite.fit(train, holdout).evaluate(synthetic)

# %%
# A notebook shows a result like the first page of a report, with a headline, four tiles and the
# privacy chart. ``result.to_pdf("report.pdf")`` writes the complete report.
result

# %%
# The sentence of the verdict is suitable for a log.
print(result.verdict().sentence)


# %%
# The recommended fix is applied before the generator is fitted. The tail number is dropped. Extreme
# delays belong to single flights, so delays are clipped and rounded to five minutes. The suite is
# fitted again to the remaining columns. If no test finds a leak now, this does not prove that there
# is none. The page therefore states how many tests found nothing, and that such tests never clear a
# release.
def coarsened(table):
    delays = table[["dep_delay", "arr_delay"]].clip(-30, 120).div(5).round().mul(5)
    return table.drop(columns="tailnum").assign(**delays)


coarse = coarsened(train)
mended = GaussianCopula().fit(coarse).sample(len(coarse), random_state=0)
again = suite.fit(coarse, coarsened(holdout)).evaluate(mended)
again
