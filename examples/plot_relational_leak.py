"""
Leaks in the relations between tables
=====================================

Synthetic data with several tables may contain only new rows in each table and still reveal a real
individual, because the combination of related rows is copied. This example simulates two such leaks
for an increasing fraction of the individuals. Metrics of single tables do not find the leaks.
Metrics of subjects with all their rows find them.
"""

# %%
# A clinic has patients with visits. The visits of one patient are similar to each other.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skeval.privacy import DCROverfittingProtection, ExactMatchShare, MembershipDisclosureF1
from skeval.relational import (
    ForeignKey,
    OfTable,
    PerSubject,
    RelationalSchema,
    SharedHistoryShare,
    SubjectCopies,
)

N = 500
clinic_schema = RelationalSchema(
    ["patients", "visits"], {"patients": "id"}, [ForeignKey("visits", "id", "patients", "id")]
)


def clinic(seed):
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(N), rng.integers(5, 20, N))
    habit, n = rng.normal(size=(N, 2))[whose], whose.size
    visits = {
        "pulse": (70 + 9 * habit[:, 0] + 6 * rng.normal(size=n)).round(),
        "pressure": (120 + 14 * habit[:, 1] + 8 * rng.normal(size=n)).round(),
        "ward": rng.choice(list("abcdef"), n),
    }
    ids = np.arange(N) + N * seed
    patients = {"id": ids, "age": rng.integers(20, 90, N), "sex": rng.choice(["f", "m"], N)}
    return {
        "patients": pd.DataFrame(patients),
        "visits": pd.DataFrame({"id": ids[whose], **visits}),
    }


# %%
# A shop has users who buy items from a public list. The table of purchases contains only the keys
# of users and items.
shop_schema = RelationalSchema(
    ["users", "items", "purchases"],
    {"users": "id", "items": "item"},
    [
        ForeignKey("purchases", "id", "users", "id"),
        ForeignKey("purchases", "item", "items", "item"),
    ],
    roles={"users": "subject", "items": "reference"},
)


def shop(seed):
    rng = np.random.default_rng(seed)
    popular = np.random.default_rng(0).dirichlet(np.full(120, 0.8))
    whose = np.repeat(np.arange(N), rng.integers(5, 25, N))
    ids = np.arange(N) + N * seed
    users = {
        "id": ids,
        "age": rng.normal(40, 10, N).round(1),
        "town": rng.choice(list("abcdef"), N),
    }
    purchases = {"id": ids[whose], "item": rng.choice(120, whose.size, p=popular)}
    tables = {"users": users, "items": {"item": np.arange(120)}, "purchases": purchases}
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


# %%
# In the shop, some synthetic users buy exactly the items of a training user. Every row of every
# table is still plausible, but the combination of rows is copied. In the clinic, some synthetic
# patients are training patients with small changes in every number.
def copied(train, fresh, share, subject, table, jitter=()):
    rng = np.random.default_rng(0)
    n = round(share * N)
    takers, givers = (
        rng.choice(tables[subject]["id"], n, replace=False) for tables in (fresh, train)
    )
    rows = train[table][train[table]["id"].isin(givers)].copy()
    rows["id"] = rows["id"].map(dict(zip(givers, takers, strict=True)))
    for column in jitter:
        rows[column] += rng.normal(0, 2, len(rows)).round()
    kept = fresh[table][~fresh[table]["id"].isin(takers)]
    people = fresh[subject].set_index("id")
    if jitter:  # the same patients, with an age that differs by at most one year
        known = train[subject].set_index("id").loc[givers]
        people.loc[takers, ["age", "sex"]] = known[["age", "sex"]].to_numpy()
        people["age"] = people["age"].astype(int)
        people.loc[takers, "age"] += rng.integers(-1, 2, n)
    return {**fresh, subject: people.reset_index(), table: pd.concat([kept, rows])}


# %%
# Each metric is fitted once. Metrics of rows evaluate a single table. If a table has many rows per
# subject, the test samples one row of each subject, because the rows of a subject are not
# independent.
def p_values(world, schema, subject, table, metrics, shares, jitter=()):
    train, holdout, fresh = (world(seed) for seed in range(3))
    fitted = {name: metric.fit(train, holdout, schema=schema) for name, metric in metrics.items()}
    return pd.DataFrame(
        {
            name: [
                metric.evaluate(copied(train, fresh, s, subject, table, jitter)).p_value
                for s in shares
            ]
            for name, metric in fitted.items()
        },
        index=shares,
    )


shares = [0.0, 0.01, 0.02, 0.03, 0.05]
of_shop = p_values(
    shop,
    shop_schema,
    "users",
    "purchases",
    {
        "copies in users": OfTable(ExactMatchShare(), "users"),
        "copies in purchases": OfTable(ExactMatchShare(), "purchases", n_draws=2),
        "copied histories of users": SubjectCopies(own_row=False),
        "shared histories of users": SharedHistoryShare(),
    },
    shares,
)
of_clinic = p_values(
    clinic,
    clinic_schema,
    "patients",
    "visits",
    {
        "copies in patients": OfTable(ExactMatchShare(), "patients"),
        "copies in visits": OfTable(ExactMatchShare(), "visits", n_draws=2),
        "distances in visits": OfTable(DCROverfittingProtection(), "visits", n_draws=2),
        "distances of patients with all their visits": PerSubject(MembershipDisclosureF1()),
    },
    shares,
    jitter=("pulse", "pressure"),
)

# %%
# If ten subjects (2%) are copied, the p-values of the subject tests are below 5%. The p-values of
# single tables do not change.
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
titles = ("copied links (shop)", "histories with changed numbers (clinic)")
for ax, tests, title in zip(axes, (of_shop, of_clinic), titles, strict=True):
    for name, values in tests.items():
        of_rows = " in " in name
        ax.plot(
            values.index,
            values.clip(lower=1e-6),
            marker="o" if of_rows else "s",
            color="0.6" if of_rows else None,
            linestyle="--" if of_rows else "-",
            label=name,
        )
    ax.axhline(0.05, color="black", linewidth=0.8)
    ax.set_yscale("log")
    ax.set_title(title)
    ax.set_xlabel("fraction of the synthetic subjects that are copied")
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.legend(fontsize=8, loc="lower left")
_ = axes[0].set_ylabel("p-value (clipped at 1e-6)")

# %%
# A report contains the number of copies, which is a fact even without a significant test, the two
# compared rates, and the location of the leak.
train, holdout, fresh = (shop(seed) for seed in range(3))
metric = SharedHistoryShare().fit(train, holdout, schema=shop_schema)
result = metric.evaluate(copied(train, fresh, 0.02, "users", "purchases"))
print(result.fact)
print(result.contrast)
print(result.advice)
