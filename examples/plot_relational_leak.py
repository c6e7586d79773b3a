"""
What does a leak between tables look like?
==========================================

A release of several tables may hold rows that look fresh in every table, and give a real person
away all the same: by which rows belong together. Two such leaks are planted here, in a growing
share of the people. Metrics of single tables see nothing of them; metrics of subjects with all
their rows do.
"""

# %%
# A clinic has patients with visits. The visits of a patient are alike, as people are.
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
# A shop has users who buy items of a public list: a table that links the two, and says no more.
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
# The leaks. In the shop, some synthetic users get the very items that a train user bought: every
# row of every table is as likely as before, and what is copied is that they belong together. In
# the clinic, some synthetic patients are train patients with every number changed a little.
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
    if jitter:  # these are the same people, a year older or younger
        known = train[subject].set_index("id").loc[givers]
        people.loc[takers, ["age", "sex"]] = known[["age", "sex"]].to_numpy()
        people["age"] = people["age"].astype(int)
        people.loc[takers, "age"] += rng.integers(-1, 2, n)
    return {**fresh, subject: people.reset_index(), table: pd.concat([kept, rows])}


# %%
# Each metric is fitted once. Those of rows look at one table each; in a table of many rows a
# person, one row of each person is drawn for the test, since they are one piece of evidence.
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
# With 2% of the people copied, ten of them, the subjects' tests are below 5%; those of single
# tables do not move.
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
    ax.set_xlabel("share of the synthetic people who are copied")
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.legend(fontsize=8, loc="lower left")
_ = axes[0].set_ylabel("p-value (clipped at 1e-6)")

# %%
# What a report says of it: a count that holds even if no test is significant, the two rates that
# were compared, and where the leak lies.
train, holdout, fresh = (shop(seed) for seed in range(3))
metric = SharedHistoryShare().fit(train, holdout, schema=shop_schema)
result = metric.evaluate(copied(train, fresh, 0.02, "users", "purchases"))
print(result.fact)
print(result.contrast)
print(result.advice)
