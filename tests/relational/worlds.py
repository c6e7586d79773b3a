"""Tables of people with rows of their own, for tests of what leaks between tables."""

import numpy as np
import pandas as pd

from skeval.relational import ForeignKey, RelationalContext, RelationalSchema

CLINIC = RelationalSchema(
    ["patients", "visits"], {"patients": "id"}, [ForeignKey("visits", "patient", "patients", "id")]
)
SHOP = RelationalSchema(
    ["users", "items", "purchases"],
    {"users": "id", "items": "id"},
    [
        ForeignKey("purchases", "user", "users", "id"),
        ForeignKey("purchases", "item", "items", "id"),
    ],
    roles={"users": "subject", "items": "reference"},
)
N_ITEMS = 120


def clinic(n, seed, fewest=1, most=50):
    """Return patients with visits: of one patient the visits are alike."""
    rng = np.random.default_rng(seed)
    n_visits = rng.integers(fewest, most + 1, n)
    patient = np.repeat(np.arange(n), n_visits)
    habit = rng.normal(size=(n, 2))[patient]
    noise = rng.normal(size=(patient.size, 2))
    people = {
        "id": np.arange(n) + 10_000 * (seed % 3),
        "age": rng.integers(20, 90, n),
        "weight": rng.normal(75, 12, n).round(1),
        "sex": rng.choice(list("fm"), n),
    }
    visits = {
        "patient": people["id"][patient],
        "pulse": (70 + 9 * habit[:, 0] + 6 * noise[:, 0]).round(),
        "pressure": (120 + 14 * habit[:, 1] + 8 * noise[:, 1]).round(),
        "ward": rng.choice(list("abcdef"), patient.size),
    }
    return {"patients": pd.DataFrame(people), "visits": pd.DataFrame(visits)}


def shop(n, seed, most=30):
    """Return users with purchases of public items: popular ones are bought by many."""
    rng, public = np.random.default_rng(seed), np.random.default_rng(0)
    popular = public.dirichlet(np.full(N_ITEMS, 0.8))
    items = {"id": np.arange(N_ITEMS), "price": public.lognormal(2, 1, N_ITEMS).round(2)}
    user = np.repeat(np.arange(n), rng.integers(3, most + 1, n))
    people = {
        "id": np.arange(n) + 10_000 * (seed % 3),
        "age": rng.normal(40, 10, n).round(1),
        "town": rng.choice(list("abcdef"), n),
    }
    purchases = {
        "user": people["id"][user],
        "item": rng.choice(N_ITEMS, user.size, p=popular),
        "n": rng.poisson(0.3, user.size) + 1,
    }
    return {
        "users": pd.DataFrame(people),
        "items": pd.DataFrame(items),
        "purchases": pd.DataFrame(purchases),
    }


def with_rows_of(fresh, train, share, subject, table, key, seed=0):
    """Give some fresh subjects the rows that train subjects have, in place of their own.

    Return the tables, and which subjects of both are meant.
    """
    rng = np.random.default_rng(seed)
    n, n_train = len(fresh[subject]), len(train[subject])
    takers = rng.choice(n, max(1, round(share * n)), replace=False)
    givers = rng.choice(n_train, takers.size, replace=False)
    ids, known = (tables[subject]["id"].to_numpy() for tables in (fresh, train))
    own, theirs = fresh[table], train[table]
    copied = theirs[theirs[key].isin(known[givers])].copy()
    copied[key] = copied[key].map(dict(zip(known[givers], ids[takers], strict=True)))
    rows = pd.concat([own[~own[key].isin(ids[takers])], copied], ignore_index=True)
    return {**fresh, table: rows}, takers, givers


def copied_links(train, fresh, share, seed=0):
    """Return a shop in which some users have the very purchases of train users."""
    return with_rows_of(fresh, train, share, "users", "purchases", "user", seed)[0]


def jittered_histories(train, fresh, share, seed=0):
    """Return a clinic in which some patients are train patients, with every number changed."""
    tables, takers, givers = with_rows_of(
        fresh, train, share, "patients", "visits", "patient", seed
    )
    rng, patients, visits = np.random.default_rng(seed), tables["patients"].copy(), tables["visits"]
    for name in ("age", "weight", "sex"):
        patients[name] = patients[name].to_numpy().copy()
        patients.loc[takers, name] = train["patients"][name].to_numpy()[givers]
    patients.loc[takers, "weight"] += rng.normal(0, 1, takers.size).round(1)
    patients.loc[takers, "age"] += rng.integers(-1, 2, takers.size)
    copied = visits["patient"].isin(patients["id"].to_numpy()[takers]).to_numpy()
    visits = visits.copy()
    for name in ("pulse", "pressure"):
        visits.loc[copied, name] += rng.normal(0, 2, copied.sum()).round()
    return {"patients": patients, "visits": visits}


def context_of(train, holdout, synthetic, schema):
    """Return the context of tables that are read already."""
    return RelationalContext.of(train, holdout, schema=schema).with_synthetic(synthetic)


def evaluated(metric, context):
    """Return the result of a metric on a context."""
    return metric.fit_context(context.real).evaluate_context(context)
